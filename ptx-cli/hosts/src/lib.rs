//! Front ends for PTX in files of other languages than CUDA C++: Python, Rust, LLVM IR and MLIR.
//!
//! A front end (`FrontEnd`) finds the statements of a file, with the template's way back to the source, the operands
//! with constraints and types as far as they are written there, and the effects that the host declares. What it finds has
//! the form of CUDA C++'s asm statements ([`Hosted`]), so that the verifier of these reads all hosts.
//!
//! # Invariants
//! * Nothing fails and nothing panics, whatever the bytes. What is not understood is left out, or is a wildcard.
//! * Nothing recurses over what the input nests, and time is in proportion to the text.
//! * A statement whose template is not in sight is left out. One whose operands are not is marked as incomplete.
//! * A file without the words that every statement of its language has costs one search for each.
//!
//! # Python without its grammar
//! A call, its arguments and an assignment have shapes that tokens show. The parsers at hand build trees by recursion,
//! which a file of brackets would overflow; the one of RustPython knows no f-string of Python 3.12 and brings thirty
//! packages, and the newer one of ruff does not give out its tokens. So a name's value is looked for in the function and
//! then in the file, and a name with several values has none.

mod constraints;
mod header;
mod llvm;
mod mlir;
mod python;
mod rust;
mod scan;

use ptx_syntax::cuda::Template;
use ptx_syntax::cuda::host::{Document, DocumentKind, Hosted};

/// A language with a front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// LLVM's intermediate representation as text.
    LlvmIr,
    /// MLIR as text.
    Mlir,
}

/// What a front end does.
trait FrontEnd {
    /// Whether a file may hold a statement: a search or two.
    fn may_hold(&self, source: &str) -> bool;

    /// The statements and texts of a file.
    fn find(&self, source: &str) -> Hosted;
}

/// A text in a string as a PTX module: one that begins with `.version` and has its end. One with placeholders of the
/// program's own is none, nor one that a program goes on with; what an f-string puts in is not known.
fn module(template: Template) -> Option<Document> {
    header::is_whole(&template.text).then_some(Document { kind: DocumentKind::Ptx, template })
}

impl Language {
    /// The languages.
    pub const ALL: [Self; 4] = [Self::Python, Self::Rust, Self::LlvmIr, Self::Mlir];

    /// The language that an extension names.
    #[must_use]
    pub fn by_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.extension().eq_ignore_ascii_case(extension))
    }

    /// The extension of its files.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::Rust => "rs",
            Self::LlvmIr => "ll",
            Self::Mlir => "mlir",
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Rust => "Rust",
            Self::LlvmIr => "LLVM IR",
            Self::Mlir => "MLIR",
        }
    }

    fn front_end(self) -> &'static dyn FrontEnd {
        match self {
            Self::Python => &python::Python,
            Self::Rust => &rust::Rust,
            Self::LlvmIr => &llvm::LlvmIr,
            Self::Mlir => &mlir::Mlir,
        }
    }
}

/// Finds the statements and texts of a file.
#[must_use]
pub fn find(language: Language, source: &str) -> Hosted {
    let front_end = language.front_end();
    if u32::try_from(source.len()).is_err() || !front_end.may_hold(source) {
        return Hosted::default();
    }
    front_end.find(source)
}
