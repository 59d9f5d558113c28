//! Inline assembly in CUDA C++: finding every `asm` statement, its template, its operands and what surrounds it.
//!
//! [`extract`] reads one source file and returns a [`CudaFile`]. It works on tokens of its own scanner, without
//! the preprocessor, without includes and without a grammar of C++, for one reason: no statement may be lost.
//! A compiler sees one branch of each `#if` and only the templates that are instantiated; here statements count
//! wherever they are: in `#define` bodies, in inactive branches, in templates that nobody uses, between tokens
//! that no grammar accepts.
//!
//! # Invariants
//! * Nothing fails and nothing panics, whatever the bytes; what is odd is recorded as an [`Oddity`].
//! * Statements come in the order of their keywords in the file, and after them those that macros stand for, read
//!   with the arguments of each use. A statement whose parts are in different
//!   branches of an `#if` inside it comes once for each choice, with [`AsmStatement::variant`] counting.
//! * Every byte of a decoded template leads back to the file through [`Template::map`].
//! * A file without the letters `asm` costs one search.
//!
//! # What is not done
//! * Includes are not read: a macro or a type of another file is unknown ([`CType::Unknown`], a wildcard piece) unless
//!   [`extract_among`] is told its [`Declarations`]. Only the halves of `cuda_fp16.h` and `cuda_bf16.h` are known where the
//!   file includes these.
//! * Macros that the file does not define, or defines in several ways, become wildcards
//!   ([`PieceKind::Wildcard`]) in a template. Those that it defines are expanded in asm statements, and where they
//!   hold asm statements themselves ([`AsmStatement::used_at`]); everywhere else they stay as they are written.
//! * C++ is understood by the shape of its tokens. A name whose declaration has an unusual shape is unknown;
//!   it is never given the type of an outer name that it hides, as far as it looks like a declaration at all.

mod asm;
pub mod body;
mod by_name;
mod condition;
mod ctype;
mod declare;
mod expand;
mod expression;
mod function;
mod headers;
pub mod host;
mod included;
mod kernels;
mod literal;
mod model;
mod preprocess;
mod scan;
mod scope;
mod spelling;
mod structure;
mod template;

use std::borrow::Cow;

use memchr::memmem;

pub use asm::MAX_VARIANTS;
pub use condition::{Condition, ConditionKind, Conditions, Feature, MacroValues, Truth, Truths};
pub use ctype::CType;
pub use expand::MAX_EXPANSION_DEPTH;
pub use host::Host;
pub use included::{Declarations, Header, macros_with_asm};
pub use model::{
    AsmId, AsmStatement, Clobber, ConditionId, Constraint, CudaFile, Event, EventKind, ExpansionLimit,
    Function, FunctionId, Instance, Macro, MacroId, NonStatement, NonStatementKind, Oddity, OddityKind,
    Operand, OtherMacro, OtherMacroId, Parameter, Qualifiers, Region, RegionId, RegionKind, Unexpanded,
};
use preprocess::Prepared;
pub use template::{Piece, PieceKind, SourceMap, Template, WILDCARD};

/// Whether a file can hold an asm statement at all: one search for the letters `asm`.
#[must_use]
pub fn may_contain_asm(source: &[u8]) -> bool {
    memmem::find(source, b"asm").is_some()
}

/// Makes text of the bytes of a source file without moving a byte: each byte that is not part of valid UTF-8, as
/// comments in old headers have them, becomes `?`.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}

/// Finds every asm statement of a CUDA C++ source file.
#[must_use]
pub fn extract(source: &str) -> CudaFile {
    if !may_contain_asm(source.as_bytes()) || u32::try_from(source.len()).is_err() {
        return CudaFile::default();
    }
    let spelled = spelling::usual(source);
    read(&spelled, preprocess::prepare(&spelled))
}

/// The macros and conditions of a source, which [`extract`] does not look for where no asm statement can be.
#[must_use]
pub fn extract_without_asm(source: &str) -> CudaFile {
    if u32::try_from(source.len()).is_err() {
        return CudaFile::default();
    }
    let spelled = spelling::usual(source);
    read(&spelled, preprocess::prepare(&spelled))
}

/// [`extract`] with the macros and types of the files that the source includes. Statements of these files are found where
/// the source uses a macro that holds one, and every place is one of the source: what a macro of another file gives stands
/// where its name does.
#[must_use]
pub fn extract_among(source: &str, declarations: &Declarations) -> CudaFile {
    if declarations.is_empty() || !(may_contain_asm(source.as_bytes()) || declarations.have_asm()) {
        return extract(source);
    }
    let spelled = spelling::usual(source);
    let text = format!("{spelled}\n{}", declarations.text());
    let own = spelled.len() as u32;
    if u32::try_from(text.len()).is_err() {
        return extract(source);
    }
    let mut file = read(&text, preprocess::prepare_among(&text, own));
    file.other_macros.iter_mut().for_each(|found| declarations.locate(found));
    let is_own = |span: crate::Span| span.end <= own;
    let statements = file.statements.iter().map(|found| found.span);
    let functions = file.functions.iter().map(|found| found.body);
    let others = file.non_statements.iter().map(|found| found.span);
    match statements.chain(functions).chain(others).all(is_own) {
        true => file,
        false => extract(source),
    }
}

fn read(source: &str, mut prepared: Prepared<'_>) -> CudaFile {
    match expand::expand(source, &mut prepared) {
        Some((text, origins)) => {
            let mut file = structure::build(&text, prepared);
            origins.relocate(&mut file);
            file
        }
        None => structure::build(source, prepared),
    }
}

/// A kernel of a C++ source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: crate::Span,
    /// From its `__global__` to the end of its body.
    pub span: crate::Span,
}

/// The kernels that a C++ source defines, in order, whatever the conditions around them.
#[must_use]
pub fn kernels(source: &str) -> Vec<Kernel> {
    kernels::find(source)
}

/// The comments of a C++ source, in order; those of preprocessor lines are not among them.
#[must_use]
pub fn comments(source: &str) -> Vec<crate::Span> {
    scan::comments(source)
}

/// All comments of a C++ source, in order, also those of preprocessor lines.
#[must_use]
pub fn all_comments(source: &str) -> Vec<crate::Span> {
    scan::all_comments(source)
}

#[cfg(test)]
mod scaling;
#[cfg(test)]
mod tests;
