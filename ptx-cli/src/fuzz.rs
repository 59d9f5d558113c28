//! Entrances for what the project's own tests hold for any input: see `ptx_tests::properties`. They are no
//! interface for anybody else.

use std::io::{self, Cursor, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use ptx_hosts::Language;
use ptx_project::config::Config;
use ptx_project::{Kind, Options, Source};
use ptx_syntax::Diagnostic;

use crate::foreign::Name;
use crate::lsp;
use crate::options::{OptionArgs, options};

/// CUDA C++ with its certain fixes applied, as `verify --fix` writes it.
#[must_use]
pub fn fixed_cuda(text: &str) -> String {
    let source = Source::new(Name::from("fuzz.cu"), Kind::Cuda, text.as_bytes().to_vec());
    ptx_project::fix(source, &Options::default(), false)
        .map_or_else(|_| text.to_owned(), |fixed| fixed.source.text)
}

/// What `verify` finds in a text of another language that has inline PTX.
#[must_use]
pub fn found_in(language: Language, text: &str) -> Vec<Diagnostic> {
    let source = Source::new(Name::from("fuzz"), Kind::Host(language), text.as_bytes().to_vec());
    ptx_project::verify(&source, &Options::default(), 1)
}

/// Reads `text` as a `ptx.toml`.
///
/// # Errors
/// The sentence for the user.
pub fn configuration(text: &str) -> Result<(), String> {
    let read = || {
        let (config, _) = Config::of_text(Path::new("ptx.toml"), text)?;
        options(&OptionArgs::default(), Some(&config)).map(drop)
    };
    read().map_err(|error| format!("{error:#}"))
}

/// What the language server writes to an editor that sends these bytes and is gone. What it had to verify is not
/// waited for.
#[must_use]
pub fn session(bytes: Vec<u8>) -> Vec<u8> {
    let written = Written::default();
    // An editor that reads no more is an end like others.
    if let Ok((_, checking)) = lsp::serve(Cursor::new(bytes), written.clone()) {
        checking.join().expect("the thread that verifies does not panic");
    }
    // The thread that writes has the other handle until it has written everything.
    while Arc::strong_count(&written.0) > 1 {
        thread::yield_now();
    }
    written.0.lock().expect("nobody panics while writing").clone()
}

/// A stream whose bytes are kept.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics while writing").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
