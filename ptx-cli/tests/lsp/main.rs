//! The language server as an editor talks to it.

#[path = "../common/mod.rs"]
mod common;
mod complete;
mod editor;
mod malformed;
mod navigate;
mod session;
