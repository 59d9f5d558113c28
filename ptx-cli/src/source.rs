//! Where inputs come from: files, standard input, and modules in containers.

use std::io;
use std::path::{Path, PathBuf};

use ptx_project::{MAX_STREAM_BYTES, read_limited};

use crate::container::{self, Member};
use crate::foreign::Name;

pub use ptx_project::{Kind, Source, check_regular, plain, read_file, read_text};

/// Where a source comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// A module in a container.
    Member(Member),
}

/// A file to be worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where to read it.
    pub origin: Origin,
    /// The name to show: the path as the user gave it, or what `--stdin-filename` says.
    pub name: Name,
    /// The language.
    pub kind: Kind,
}

impl Input {
    /// The file whose folder says what holds for the input: itself, its container, or what standard input is said to be.
    pub fn path(&self) -> &Path {
        match &self.origin {
            Origin::File(path) => path,
            Origin::Member(member) => member.container.path().unwrap_or(self.name.path()),
            Origin::Stdin => self.name.path(),
        }
    }

    /// Reads the file or standard input.
    pub fn read(&self) -> anyhow::Result<Source> {
        let bytes = match &self.origin {
            Origin::File(path) => read_file(path),
            Origin::Stdin => container::stdin().map(|bytes| bytes.to_vec()),
            Origin::Member(member) => member.read(),
        };
        let bytes =
            bytes.map_err(|error| anyhow::anyhow!("cannot read `{}`: {}", self.name, plain(&error)))?;
        Ok(Source::new(self.name.clone(), self.kind, bytes))
    }
}

/// The bytes of standard input.
pub fn read_stdin() -> io::Result<Vec<u8>> {
    read_limited(io::stdin().lock(), 0, MAX_STREAM_BYTES)
}
