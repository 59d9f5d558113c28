//! Formatting as the fewest edits that do it, so that the editor keeps its cursors, folds and marks.

use std::time::Duration;

use lsp_types::{Range, TextEdit};
use ptx_emit::format::Options;
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, Token, TokenKind};

use similar::{DiffTag, TextDiff};

use super::configuration;
use super::convert::ranges;
use super::document::Document;
use crate::source::Kind;

/// More edits than this are one edit of the whole document: editors apply edits one by one.
const MAX_EDITS: usize = 20_000;

/// So long the fewest lines are searched for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The edits that format a document, or those of the lines in a range: none where it is as it should be, and nothing where
/// nothing can be formatted: in a CUDA source without asm statements, in a text with syntax errors, which are told as
/// findings, and in what the configuration excludes.
pub fn format(document: &Document, range: Option<Range>) -> Result<Option<Vec<TextEdit>>, String> {
    if document.is_configuration || document.too_large.is_some() {
        return Ok(None);
    }
    let Some(how) = configuration::formatting(document) else { return Ok(None) };
    let range = range.map(|range| Span::new(document.offset(range.start), document.offset(range.end)));
    match document.source.kind {
        Kind::Ptx => of_ptx(document, range, &how.options),
        Kind::Cuda if how.asm => of_asm(document, range),
        Kind::Cuda | Kind::Host(_) => Ok(None),
    }
}

fn of_ptx(
    document: &Document,
    range: Option<Span>,
    options: &Options,
) -> Result<Option<Vec<TextEdit>>, String> {
    let text = &*document.source.text;
    if !ptx_syntax::parse(text).errors.is_empty() {
        return Ok(None);
    }
    let formatted = ptx_project::format(&document.source, options).map_err(|error| error.to_string())?;
    let mut edits = between(text, &formatted);
    if let Some(range) = range {
        edits.retain(|(span, _)| touch(*span, range));
    } else if edits.len() > MAX_EDITS {
        edits = vec![(Span::new(0, text.len() as u32), &formatted)];
    }
    Ok(Some(told(document, edits.into_iter().map(|(span, new_text)| (span, new_text.to_owned())).collect())))
}

/// The edits of the asm templates, or of all templates that a range touches: their statements are in columns together.
fn of_asm(document: &Document, range: Option<Span>) -> Result<Option<Vec<TextEdit>>, String> {
    let (formatted, _) = ptx_project::format_asm(&document.source).map_err(|error| error.to_string())?;
    if formatted.statements == 0 {
        return Ok(None);
    }
    let mut edits = formatted.edits;
    if let Some(range) = range {
        let statements = document.cuda().file.statements.iter().filter(|each| each.used_at.is_none());
        let touched = statements.map(|each| each.span).filter(|span| touch(*span, range));
        // Statements are in order and beside each other.
        let all = touched.reduce(|all, span| Span::new(all.start.min(span.start), all.end.max(span.end)));
        edits.retain(|edit| all.is_some_and(|all| all.start <= edit.span.start && edit.span.end <= all.end));
    }
    Ok(Some(if edits.len() > MAX_EDITS {
        of_lines(document, &formatted.text)
    } else {
        told(document, edits.into_iter().map(|edit| (edit.span, " ".repeat(edit.spaces))).collect())
    }))
}

fn touch(span: Span, range: Span) -> bool {
    span.start <= range.end && range.start <= span.end
}

fn told(document: &Document, edits: Vec<(Span, String)>) -> Vec<TextEdit> {
    let ranges = ranges(document, edits.iter().map(|(span, _)| *span));
    let both = ranges.into_iter().zip(edits);
    both.map(|(range, (_, new_text))| TextEdit { range, new_text }).collect()
}

/// The edits that make another text of a document, as few lines as there are to change.
pub fn of_lines(document: &Document, after: &str) -> Vec<TextEdit> {
    let before = &*document.source.text;
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    let starts = |lines: &[&str]| -> Vec<u32> {
        let ends = lines.iter().scan(0, |at, line| {
            *at += line.len() as u32;
            Some(*at)
        });
        std::iter::once(0).chain(ends).collect()
    };
    let (old, new) = (starts(diff.old_slices()), starts(diff.new_slices()));
    let at = |starts: &[u32], line: usize| starts[line.min(starts.len() - 1)];
    let changes = diff.ops().iter().filter(|each| each.tag() != DiffTag::Equal);
    let changes: Vec<(Span, Span)> = changes
        .map(|each| {
            let (from, to) = (each.old_range(), each.new_range());
            (
                Span::new(at(&old, from.start), at(&old, from.end)),
                Span::new(at(&new, to.start), at(&new, to.end)),
            )
        })
        .collect();
    let ranges = ranges(document, changes.iter().map(|(from, _)| *from));
    let both = ranges.into_iter().zip(&changes);
    both.map(|(range, (_, to))| TextEdit { range, new_text: to.text(after).to_owned() }).collect()
}

/// What stands between two tokens that mean something, and the token behind it.
struct Gaps<'s> {
    tokens: Lexer<'s>,
    start: u32,
}

impl Iterator for Gaps<'_> {
    type Item = (Span, Option<Token>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.start;
        let mut end = start;
        for token in self.tokens.by_ref() {
            if token.kind != TokenKind::Whitespace {
                self.start = token.span.end;
                return Some((Span::new(start, token.span.start), Some(token)));
            }
            end = token.span.end;
        }
        self.start = u32::MAX;
        (start != u32::MAX).then_some((Span::new(start, end), None))
    }
}

/// The edits that make `after` of `before`. Where both have the same tokens, white space is all that they change.
fn between<'a>(before: &str, after: &'a str) -> Vec<(Span, &'a str)> {
    let whole = || {
        let all = Span::new(0, before.len() as u32);
        if before == after { Vec::new() } else { vec![(all, after)] }
    };
    let gaps = |text| Gaps { tokens: Lexer::new(text), start: 0 };
    let (mut old, mut new) = (gaps(before), gaps(after));
    let mut edits = Vec::new();
    loop {
        match (old.next(), new.next()) {
            (Some((from, mut old_token)), Some((to, mut new_token))) => {
                if from.text(before) != to.text(after) {
                    edits.push((from, to.text(after)));
                }
                let same =
                    |old: Token, new: Token| old.kind == new.kind && old.text(before) == new.text(after);
                match (old_token.take(), new_token.take()) {
                    (Some(old), Some(new)) if same(old, new) => {}
                    // White space at the end of a comment, and in its lines, is layout too.
                    (Some(old), Some(new)) if old.kind.is_comment() && old.kind == new.kind => {
                        edits.push((old.span, new.text(after)));
                    }
                    (None, None) => return edits,
                    _ => return whole(),
                }
            }
            (None, None) => return edits,
            _ => return whole(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::between;

    fn applied(before: &str, after: &str) -> (String, usize) {
        let edits = between(before, after);
        let mut text = before.to_owned();
        for (span, new) in edits.iter().rev() {
            text.replace_range(span.range(), new);
        }
        (text, edits.len())
    }

    #[test]
    fn edits_change_white_space_only_and_as_little_as_there_is_to_change() {
        for (before, after, count) in [
            ("", "", 0),
            ("a;", "a;", 0),
            ("  a ,b;\n", "a, b;\n", 3),
            ("a;", "\ta;\n", 2),
            ("/* a */  b;   ", "/* a */ b;\n", 2),
            ("a; // b  \nc;", "a; // b\nc;", 1),
            ("a b", "b a", 1),
            ("a", "a b", 1),
            ("a b", "a", 1),
            ("\n\n", "", 1),
        ] {
            assert_eq!(applied(before, after), (after.to_owned(), count), "{before:?}");
        }
    }
}
