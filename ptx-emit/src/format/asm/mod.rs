//! The asm templates of CUDA C++, within their string literals.
//!
//! Each template is read as the body of a function, and the white space between two tokens of it changes where it is all
//! within one literal: to what a statement has there, and to the columns of the aligned layout where statements have
//! lines of their own. Nothing else changes: no line ends where it did not, no escape comes or goes but blanks, and what
//! is outside of literals stays byte for byte.
//!
//! A template is left alone where a part of it is a macro's, where `#if` lines choose its parts, and where it has syntax
//! errors. What was made is read again: where the tokens of a template would not be the same, or formatting it again
//! would change it, it stays as it was.

mod edits;
mod line_ends;
mod mask;
mod statement;
#[cfg(test)]
mod tests;

pub use edits::Edit;
use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmStatement, CudaFile, OddityKind, extract};
use ptx_syntax::lexer::{TokenKind, tokenize};

/// A source whose templates were laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormattedAsm {
    /// The new source.
    pub text: String,
    /// Whether it differs from the old one.
    pub changed: bool,
    /// What changes in the old source, in the order of the places, which do not overlap.
    pub edits: Vec<Edit>,
    /// How many asm statements were looked at.
    pub statements: usize,
    /// Those that were left alone, in order.
    pub left_alone: Vec<LeftAlone>,
}

/// An asm statement that was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftAlone {
    /// Its keyword, in the old source.
    pub at: Span,
    /// Why.
    pub reason: Reason,
}

/// Why an asm statement was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A part of its template is a macro or made by one.
    Macro,
    /// `#if` lines choose parts of it.
    Branches,
    /// Its template has syntax errors, or the statement has no end.
    Syntax,
    /// Its template would not have had the same tokens. This is a mistake of the formatter.
    TokenChanged,
    /// Formatting it again would have changed it. This is a mistake of the formatter.
    NotIdempotent,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Macro => "a part of its template comes from a macro",
            Self::Branches => "`#if` lines choose parts of its template",
            Self::Syntax => "its template has a syntax error",
            Self::TokenChanged => "formatting would have changed a token",
            Self::NotIdempotent => "formatting twice would have given another text",
        })
    }
}

/// Lays out the asm templates of a CUDA C++ source.
///
/// ```
/// let source = "asm(\"add.u32   %0,%1 , %2 ;\\n\" : \"=r\"(a) : \"r\"(b), \"r\"(c));";
/// let formatted = ptx_emit::format::format_asm(source);
/// assert_eq!(formatted.text, source.replace("add.u32   %0,%1 , %2 ;", "add.u32 %0, %1, %2;"));
/// ```
#[must_use]
pub fn format_asm(source: &str) -> FormattedAsm {
    let file = extract(source);
    let mut made = laid_out(source, &file);
    let edits = all_edits(&made);
    let text = edits::apply(source, &edits);
    if text == source {
        return finished(source, text, edits, &made);
    }
    let again = extract(&text);
    let second = laid_out(&text, &again);
    let mut wrong = false;
    for (index, made) in made.iter_mut().enumerate() {
        let reason = match (again.statements.get(made.index), second.get(index)) {
            (Some(after), Some(second)) if second.index == made.index => {
                let same = tokens(&file.statements[made.index]) == tokens(after);
                if same {
                    second.is_changed().then_some(Reason::NotIdempotent)
                } else {
                    Some(Reason::TokenChanged)
                }
            }
            _ => Some(Reason::TokenChanged),
        };
        if let Some(reason) = reason {
            (made.outcome, wrong) = (Err(reason), true);
        }
    }
    if !wrong {
        return finished(source, text, edits, &made);
    }
    let edits = all_edits(&made);
    finished(source, edits::apply(source, &edits), edits, &made)
}

fn all_edits(made: &[Made]) -> Vec<Edit> {
    edits::in_order(made.iter().flat_map(Made::edits))
}

/// What became of a statement.
struct Made {
    /// Its index in the file.
    index: usize,
    keyword: Span,
    outcome: Result<Vec<Edit>, Reason>,
}

impl Made {
    fn edits(&self) -> &[Edit] {
        self.outcome.as_deref().unwrap_or(&[])
    }

    fn is_changed(&self) -> bool {
        !self.edits().is_empty()
    }
}

fn laid_out(source: &str, file: &CudaFile) -> Vec<Made> {
    let written = file.statements.iter().enumerate().filter(|(_, statement)| {
        // What macros stand for is written elsewhere, and each choice of branches is the same statement.
        statement.used_at.is_none() && statement.variant == 0
    });
    let made = |(index, statement): (usize, &AsmStatement)| {
        let outcome = match statement.choices {
            _ if is_open(statement) => Err(Reason::Syntax),
            1 => statement::edits(source, statement),
            _ => Err(Reason::Branches),
        };
        Made { index, keyword: statement.keyword, outcome }
    };
    written.map(made).collect()
}

/// Whether a statement has no end. It may then have the literals of the next one, too.
fn is_open(statement: &AsmStatement) -> bool {
    statement.oddities.iter().any(|oddity| oddity.kind == OddityKind::Unterminated)
}

fn finished(source: &str, text: String, edits: Vec<Edit>, made: &[Made]) -> FormattedAsm {
    let left_alone = made
        .iter()
        .filter_map(|made| Some(LeftAlone { at: made.keyword, reason: *made.outcome.as_ref().err()? }));
    let (statements, left_alone) = (made.len(), left_alone.collect());
    FormattedAsm { changed: text != source, text, edits, statements, left_alone }
}

/// The tokens of a template, comments included, and how its lines end.
fn tokens(statement: &AsmStatement) -> Vec<(TokenKind, &str)> {
    let text = &*statement.template.text;
    let all = tokenize(text).into_iter().filter(|token| token.kind != TokenKind::Whitespace);
    all.map(|token| (token.kind, token.text(text))).collect()
}
