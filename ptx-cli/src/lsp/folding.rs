//! What can be folded away: bodies, blocks, comments and runs of declarations.

use lsp_types::{FoldingRange, FoldingRangeKind};
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::names::NameKind;

use super::document::Document;
use crate::source::Kind;

/// No more ranges are told than this.
const MAX_RANGES: usize = 5000;

/// Declarations of so many lines are folded.
const MIN_RUN: u32 = 3;

/// The ranges of lines that can be folded, in order; no more than the editor wants.
pub fn ranges(document: &Document, wanted: Option<u32>) -> Vec<FoldingRange> {
    let mut found = match document.source.kind {
        Kind::Ptx => of_ptx(document),
        Kind::Cuda | Kind::Host(_) => of_asm(document),
    };
    found.retain(|range| range.start_line < range.end_line);
    found.sort_by_key(|range| (range.start_line, std::cmp::Reverse(range.end_line)));
    found.dedup_by_key(|range| (range.start_line, range.end_line));
    found.truncate(wanted.map_or(MAX_RANGES, |wanted| MAX_RANGES.min(wanted as usize)));
    found
}

fn range(start_line: u32, end_line: u32, kind: Option<FoldingRangeKind>) -> FoldingRange {
    FoldingRange { start_line, end_line, kind, ..FoldingRange::default() }
}

fn of_ptx(document: &Document) -> Vec<FoldingRange> {
    let line = |offset: u32| document.lines.line(offset);
    let mut found = comments(document);
    for scope in document.names().scopes() {
        if let Some(brace) = scope.brace {
            // The closing brace stays in sight, unless something follows the opening one in its line.
            found.push(range(line(brace), line(scope.span.end.max(1) - 1).saturating_sub(1), None));
        }
    }
    let mut run: Option<(u32, u32)> = None;
    let registers = document.names().declared().iter().filter(|each| each.kind == NameKind::Register);
    for each in registers {
        let (first, last) = (line(each.span.start), line(each.span.end));
        match &mut run {
            Some((_, end)) if first <= *end + 1 => *end = last.max(*end),
            _ => {
                found.extend(run.and_then(declarations));
                run = Some((first, last));
            }
        }
    }
    found.extend(run.and_then(declarations));
    found
}

fn declarations((first, last): (u32, u32)) -> Option<FoldingRange> {
    (last + 1 - first >= MIN_RUN).then(|| range(first, last, Some(FoldingRangeKind::Region)))
}

/// Comments of several lines, and runs of comments that have lines of their own.
fn comments(document: &Document) -> Vec<FoldingRange> {
    let text = &*document.source.text;
    let line = |offset: u32| document.lines.line(offset);
    let comment = |first, last| range(first, last, Some(FoldingRangeKind::Comment));
    let mut found = Vec::new();
    let mut run: Option<(u32, u32)> = None;
    for token in Lexer::new(text).filter(|token| token.kind.is_comment()) {
        let (first, last) = (line(token.span.start), line(token.span.end));
        if token.kind == TokenKind::BlockComment {
            found.push(comment(first, last));
            continue;
        }
        let start = document.lines.start(first) as usize;
        if !text[start..token.span.start as usize].trim().is_empty() {
            continue;
        }
        match &mut run {
            Some((_, end)) if first == *end + 1 => *end = first,
            _ => {
                found.extend(run.map(|(first, last)| comment(first, last)));
                run = Some((first, first));
            }
        }
    }
    found.extend(run.map(|(first, last)| comment(first, last)));
    found
}

/// The asm statements of CUDA C++.
fn of_asm(document: &Document) -> Vec<FoldingRange> {
    let line = |offset: u32| document.lines.line(offset);
    let parts = document.parts();
    let statements = parts.iter().filter_map(|part| part.statement);
    statements.map(|statement| range(line(statement.span.start), line(statement.span.end), None)).collect()
}
