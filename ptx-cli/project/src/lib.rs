//! PTX in the files of a project: what `ptx-cli` is made of, but for its arguments, its threads and what it writes.
//!
//! * [`Source`] is a file in memory, whatever its bytes: PTX, CUDA C++, or another language with inline PTX.
//! * [`config`] finds and reads `ptx.toml`; [`Options`] are what it asks for.
//! * [`verify`](verify()) finds what is wrong with a source, for all of its targets; [`fix`](fix()) applies fixes.
//! * [`render`] makes text, JSON Lines, SARIF and annotations of findings; [`foreign`] makes text of strangers safe to show.
//!
//! Nothing here prints, and nothing writes a file. Read are the sources and configurations that are named, and the files of the
//! same project that a CUDA source includes.
//!
//! ```
//! use ptx_project::render::{Format, Style, to_string};
//! use ptx_project::{Kind, Options, Source};
//!
//! let text = ".version 8.6\n.target sm_90\n.entry k() {\n\tadd.u32 %r1, %r2, %r3;\n\tret;\n}\n";
//! let source = Source::new("k.ptx".into(), Kind::Ptx, text.into());
//! let found = ptx_project::verify(&source, &Options::default(), 1);
//! let log = to_string(Style::plain(Format::Concise), &[(&source, &found)]);
//! assert!(log.starts_with("k.ptx:4:10: error["), "{log}");
//! ```

pub mod compile_commands;
pub mod config;
mod error;
mod fix;
pub mod foreign;
mod include;
mod options;
mod pipeline;
pub mod render;
mod source;
mod words;

pub use error::{ConfigError, Error, Unformatted};
pub use fix::{Fixed, fix};
pub use include::files_stay;
pub use options::{BOOK, Options, layout, levels, page, page_address, target, targets, version};
pub use pipeline::{Sessions, canonical, format, format_asm, verify, verify_again, verify_and_cover};
pub use source::{
    Kind, MAX_BYTES, MAX_STREAM_BYTES, NOT_TEXT, PLACEHOLDER, Source, check_regular, plain, read_file,
    read_limited, read_text,
};
pub use words::counted;
