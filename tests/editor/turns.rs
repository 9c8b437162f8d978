//! Whole turns in a real Neovim: typed messages, tools that behave and misbehave, answers, stops. The provider is scripted.

mod answers;
mod arguments;
mod cmds;
mod faults;
mod queue;
