//! The engine of lathe.nvim: a chat in which an LLM calls tools on the user's machine, under the user's control.
//!
//! Everything but `bridge` is plain Rust without Lua and without Neovim; `bridge` makes it a Lua module.

pub mod adapter;
#[cfg(feature = "nvim")]
mod bridge;
pub mod chat;
pub mod command;
pub mod engine;
pub mod error;
pub mod gate;
pub mod message;
pub mod native;
pub mod output;
pub mod runtime;
pub mod saved;
pub mod schema;
pub mod tool;
pub mod turn;
