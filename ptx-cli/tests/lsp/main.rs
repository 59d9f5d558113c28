//! The language server as an editor talks to it.

#[path = "../common/mod.rs"]
mod common;
mod complete;
mod decorate;
mod editor;
mod findings;
mod malformed;
mod navigate;
mod session;
