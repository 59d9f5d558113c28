//! The formatter: lays the tokens of a PTX text out anew and changes nothing else.
//!
//! # The layout
//!
//! There are two. [`Layout::Compiler`] has no options but its width. It is what NVIDIA's and LLVM's compilers print (in the corpus of this
//! project 99.9 % of their instructions are indented by one tab and have a tab before the operands),
//! made regular:
//!
//! ```text
//! .visible .entry scale(
//!         .param .u64 data,
//!         .param .u32 count
//! )
//! .maxntid 128
//! {
//!         .reg .pred      %p<2>;
//!         .reg .b32       %r<4>;
//!
//!         mov.u32 %r1, %tid.x;            // a comment at the end of a line
//!         setp.ge.u32     %p1, %r1, %r2;
//!         @%p1 bra        DONE;
//!         { // a block
//!                 mul.lo.u32      %r3, %r1, 3;
//!         }
//! DONE:
//!         ret;
//! }
//! ```
//!
//! * A statement, label, parameter, section line and `.loc` has a line of its own. Bodies are indented by
//!   a tab, blocks by one more, labels by one less. A label stays before its `.callprototype`,
//!   `.branchtargets` or `.calltargets`.
//! * A tab is between an opcode and its operands, between a directive of a body and its operands,
//!   and between the type and the names of a register declaration; else one space. Operators have spaces
//!   around them, except in addresses, `.loc` and sections, and but for `p|q`.
//! * At most one blank line is kept, none after `{` and before `}`; a function with a body and a section
//!   have one before and after them.
//! * A statement that is longer than the width (a tab ends at a multiple of eight) is broken after
//!   commas where that makes it fit. An initialiser list that has no room on one line, or was not on one
//!   line, gets lines of its own; the author's rows are kept.
//! * A comment after a statement begins at column 41 or, where that is taken, one space after it; after
//!   a brace, one space after it. A
//!   comment on its own line is indented like what follows it, unless it begins in the first column:
//!   there it stays, as compilers and people set off basic blocks (`// %bb.0:`) and dead code.
//! * Trailing white space goes, a line end comes to the end. Lines end with `\r\n` if every line of the
//!   text did, and with `\n` else.
//!
//! [`Layout::Aligned`] differs in white space within lines: there are no tabs, but spaces, and columns of guards,
//! operands, names of declarations and comments in neighbouring lines; `align.rs` tells how they come about. Statements
//! with one opcode may share a line where the author has them so, and a vector that fits on no line gets lines of its
//! own.
//!
//! [`format_asm`] lays out the templates of asm statements in CUDA C++, in the same columns.
//!
//! No token is ever spelt anew: numbers, names and modifiers keep their form and their order.
//!
//! # Keeping a text as it is
//!
//! From `// ptx-format off` to `// ptx-format on`, or to the end of the text, nothing is changed.
//! `// ptx-format skip` on its own line keeps the statement, block, parameter, declaration, function or
//! section that follows it; at the end of a line, the statement before it.
//!
//! # The contract
//!
//! Each call checks, before it returns a text, that the text has the same tokens and the same comments,
//! and that formatting it again would not change it. Comments are compared without white space at the
//! ends of their lines and, within `/* … */`, at the beginnings. Should the check fail, the caller gets
//! [`Unformatted`] and no text. A text with syntax errors is not formatted either.
//!
//! What is not checked: the meaning. It follows from the tokens, since PTX gives white space and comments
//! none (PTX ISA manual, section "Source Format").

mod align;
mod asm;
mod check;
mod comment;
mod fill;
mod metrics;
mod plan;
mod region;
mod render;
mod sink;
mod spacing;
#[cfg(test)]
mod tests;

use ptx_syntax::lexer::{Lexer, Token, TokenKind};
use ptx_syntax::{Span, SyntaxError};

pub use asm::{Edit, FormattedAsm, LeftAlone, Reason, format_asm};
use metrics::Metrics;
pub use metrics::{Layout, Options};

/// A text that kept the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formatted {
    /// The text laid out anew.
    pub text: String,
    /// Whether it differs from the source.
    pub changed: bool,
}

/// Why a text was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unformatted {
    /// It has syntax errors; the list is not empty.
    Syntax(Vec<SyntaxError>),
    /// The new text would not have had the same tokens. This is a mistake of the formatter.
    TokenChanged {
        /// The first token that would have changed, in the source.
        at: Span,
    },
    /// The new text would not have had the same comments. This is a mistake of the formatter.
    CommentChanged {
        /// The first comment that would have changed, in the source.
        at: Span,
    },
    /// Formatting the new text would have changed it again. This is a mistake of the formatter.
    NotIdempotent,
}

impl std::fmt::Display for Unformatted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Syntax(errors) => match errors.len() {
                1 => f.write_str("the text has a syntax error"),
                count => write!(f, "the text has {count} syntax errors"),
            },
            Self::TokenChanged { .. } => f.write_str("formatting would have changed a token"),
            Self::CommentChanged { .. } => f.write_str("formatting would have changed a comment"),
            Self::NotIdempotent => f.write_str("formatting twice would have given another text"),
        }
    }
}

impl std::error::Error for Unformatted {}

/// Lays `source` out anew.
///
/// ```
/// let formatted = ptx_emit::format(".version 8.0 .target sm_90\n.entry k() { ret ; }").unwrap();
/// assert_eq!(formatted.text, ".version 8.0\n.target sm_90\n\n.entry k()\n{\n\tret;\n}\n");
/// assert!(formatted.changed);
/// ```
///
/// # Errors
///
/// Where the text has syntax errors, and where the new text would break the contract of this module.
pub fn format(source: &str) -> Result<Formatted, Unformatted> {
    format_with(source, &Options::default())
}

/// Lays `source` out anew as `options` say.
///
/// ```
/// use ptx_emit::format::{Layout, Options, format_with};
///
/// let options = Options { layout: Layout::Aligned, ..Options::default() };
/// let source = ".entry k()\n{\n    setp.ne.u32 p, a, 0;\n    @p bra L; // again\n    ret; // done\n}\n";
/// let aligned = ".entry k()\n{\n    setp.ne.u32 p, a, 0;\n @p bra         L; // again\n    ret;           // done\n}\n";
/// assert_eq!(format_with(source, &options).unwrap().text, aligned);
/// ```
///
/// # Errors
///
/// Where the text has syntax errors, and where the new text would break the contract of this module.
pub fn format_with(source: &str, options: &Options) -> Result<Formatted, Unformatted> {
    let tokens = tokens(source);
    let parse = ptx_syntax::parse(source);
    if !parse.errors.is_empty() {
        return Err(Unformatted::Syntax(parse.errors));
    }
    let metrics = Metrics::new(options, source, &parse.tree);
    let plan = plan::Plan::new(source, &tokens, &parse.tree, metrics);
    let text = render::to_string(source, &tokens, &plan);
    check::check(source, &tokens, &plan, &text)?;
    let changed = text != source;
    Ok(Formatted { text, changed })
}

/// The tokens of a text, comments included. White space is what is between them.
fn tokens(source: &str) -> Vec<Token> {
    // Compilers' output has one in about nine bytes; pages that stay unused cost no memory.
    let mut tokens = Vec::with_capacity(source.len() / 7 + 16);
    tokens.extend(Lexer::new(source).filter(|token| token.kind != TokenKind::Whitespace));
    tokens
}
