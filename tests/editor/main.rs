//! All tests that need a real Neovim, one module for each area: one binary, since each more costs a link.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod again;
mod api;
mod approvals;
mod auto;
mod bridge;
mod build_lua;
mod chat;
mod commands;
mod config;
mod contract;
mod corpus;
mod demo;
mod docs;
mod fast_events;
mod hand_made_chats;
mod handlers_once;
mod harness;
mod held;
mod hostile;
mod hostile_provider;
mod inert;
mod input;
mod interleave;
mod keys;
mod keys_stay_home;
mod leaving;
mod library;
mod listeners;
mod looks;
mod memory_edits;
mod native;
mod outlive;
mod own_errors;
mod permissions;
mod provider;
mod providers;
mod questions;
mod random_keys;
mod resume;
mod screens;
mod shared_files;
mod sources;
mod text;
mod turns;
mod windows;
mod words;
