//! The engine of lathe.nvim: a chat in which an LLM calls tools on the user's machine, under the user's control.
//!
//! Everything but [`bridge`] is plain Rust without Lua and without Neovim; `bridge` makes it a Lua module.

pub mod adapter;
pub mod command;
pub mod message;
pub mod tool;
