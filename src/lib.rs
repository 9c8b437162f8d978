//! The engine of lathe.nvim: a chat in which an LLM calls tools on the user's machine, under the user's control.
//!
//! A map; arrows run down, and nothing knows what stands above it:
//!
//! - `bridge` joins: the Lua module, its exports, and the Lua functions that perform effects. All that knows of Lua and Neovim.
//! - [`runtime`] performs what may block (requests, processes, files) on threads, and answers with events.
//! - [`engine`] decides: events in, effects out. Inside, [`engine::chat`] has [`engine::turn`]s, a turn has
//!   [`engine::call`]s, and all of them speak in [`engine::event`] and [`engine::effect`].
//! - Pure, and unaware of the engine: [`gate`] gives the verdict on a call, [`adapter`] speaks with providers, [`command`]
//!   builds shell text, [`schema`] checks arguments, [`output`] cleans and cuts what was printed.
//! - What all of them speak of: [`tool`], [`message`], [`media`], [`change`], [`uri`], [`error`].

pub mod adapter;
#[cfg(feature = "nvim")]
mod bridge;
pub mod change;
pub mod command;
pub mod engine;
pub mod error;
pub mod gate;
pub mod media;
pub mod message;
pub mod output;
pub mod runtime;
pub mod schema;
pub mod tool;
pub mod uri;
