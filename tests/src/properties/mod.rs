//! What holds for every input, as plain functions: run for a moment by `tests/tests/properties.rs`, without
//! limit and guided by coverage by the targets of `tests/fuzz` (`tests/fuzz.sh`).

mod cuda;
mod files;
pub mod generate;
mod hosts;
mod session;

pub use cuda::{comments as cuda_comments, cuda};
pub use files::{baseline, configuration, container, cubin, log};
pub use hosts::hosts;
pub use session::session;

use ptx_emit::format::{Layout, Options, Unformatted, format_with};
use ptx_syntax::ast::{StatementKind, Tree};
use ptx_syntax::lexer::{Token, TokenKind, tokenize};
use ptx_syntax::{Class, Diagnostic, Parse, Span};
use ptx_verify::Config;

use crate::same_code::canonical;

/// All properties, of any bytes; those that are no UTF-8 are replaced.
///
/// # Panics
/// Where one does not hold.
pub fn bytes(bytes: &[u8]) {
    text(&String::from_utf8_lossy(bytes));
}

/// All properties of a text.
///
/// # Panics
/// Where one does not hold.
pub fn text(text: &str) {
    let tokens = tokenize(text);
    tokens_cover(text, &tokens);
    let parse = parses(text);
    formats(text, &parse);
    let findings = ptx_verify::check(text, &Config::default());
    points_into(text, &findings);
    let syntax = findings.iter().any(|finding| finding.rule == "syntax");
    assert_eq!(syntax, !parse.errors.is_empty(), "the verifier repeats the parser's findings");
    prints(text, &parse, &findings);
}

/// Tokens follow each other without gaps from the first byte to the last, and none is empty.
///
/// # Panics
/// Where that does not hold.
pub fn tokens_cover(text: &str, tokens: &[Token]) {
    let mut at = 0;
    for token in tokens {
        assert_eq!(token.span.start, at, "a gap or an overlap");
        assert!(token.span.end > at, "an empty token");
        assert!(text.is_char_boundary(token.span.end as usize), "a token ends within a character");
        at = token.span.end;
    }
    assert_eq!(at as usize, text.len(), "the last token ends before the text does");
}

fn parses(text: &str) -> Parse {
    let parse = ptx_syntax::parse(text);
    points_into(text, &ptx_verify::syntax_findings(&parse));
    assert!(parse.errors.is_sorted_by_key(|found| found.span.start), "findings are in order");
    tree_fits(text, &parse.tree);
    parse
}

fn is_in(text: &str, span: Span) -> bool {
    span.start <= span.end && text.get(span.range()).is_some()
}

fn points_into(text: &str, findings: &[Diagnostic]) {
    for found in findings {
        assert!(is_in(text, found.span), "{found:?}");
        assert!(found.labels.iter().all(|label| is_in(text, label.span)), "{found:?}");
        let mut edits = found.fix.iter().flat_map(|fix| &fix.edits);
        assert!(edits.all(|edit| is_in(text, edit.span)), "{found:?}");
        assert!(!found.message.is_empty(), "{found:?}");
    }
}

/// Spans lie in the text, runs in their arrays, children before their parents, and blocks are balanced.
fn tree_fits(text: &str, tree: &Tree) {
    for (index, operand) in tree.operands.iter().enumerate() {
        assert!(is_in(text, operand.span), "{operand:?}");
        assert!(operand.count == 0 || (operand.first + operand.count) as usize <= index, "{operand:?}");
    }
    for statement in &tree.statements {
        assert!(is_in(text, statement.span) && is_in(text, statement.word), "{statement:?}");
        let limit = match statement.kind {
            StatementKind::Declaration => tree.declarations.len(),
            StatementKind::CallPrototype => tree.functions.len(),
            _ => tree.operands.len(),
        };
        assert!(statement.operands.range().end <= limit, "{statement:?}");
    }
    for function in &tree.functions {
        assert!(is_in(text, function.span) && is_in(text, function.name), "{function:?}");
        let Some(body) = function.body else { continue };
        let mut depth = 0_u32;
        for statement in tree.statements(body.statements) {
            match statement.kind {
                StatementKind::OpenBlock => depth += 1,
                StatementKind::CloseBlock => depth = depth.checked_sub(1).expect("a block was opened"),
                _ => {}
            }
        }
        assert_eq!(depth, 0, "blocks are balanced");
    }
}

/// A text without syntax errors is formatted in each layout, and seen from outside the contract holds.
fn formats(text: &str, parse: &Parse) {
    formats_as(text, parse, &Options::default());
    let aligned = Options { layout: Layout::Aligned, ..Options::default() };
    formats_as(text, parse, &aligned);
    formats_as(text, parse, &Options { indent: Some(2), width: 60, ..aligned });
}

fn formats_as(text: &str, parse: &Parse, options: &Options) {
    let formatted = match format_with(text, options) {
        Ok(formatted) => formatted,
        Err(Unformatted::Syntax(found)) => {
            assert_eq!(found, parse.errors);
            assert!(!found.is_empty());
            return;
        }
        Err(reason) => panic!("{reason}: {reason:?}"),
    };
    assert!(parse.errors.is_empty(), "what has errors is left alone");
    assert_eq!(formatted.changed, formatted.text != text);
    assert_eq!(significant(text), significant(&formatted.text), "same tokens");
    assert_eq!(comments(text), comments(&formatted.text), "same comments");
    let again = format_with(&formatted.text, options).expect("formatted once, formatted twice");
    assert!(!again.changed, "formatted twice is formatted once");
}

/// Every module is printed; one in which nothing is invalid comes out as the same program.
fn prints(text: &str, parse: &Parse, findings: &[Diagnostic]) {
    let printed = ptx_emit::canonical(&ptx_ir::lower::lower(&parse.tree, text).module);
    if findings.iter().all(|finding| finding.class != Class::Invalid) {
        assert_eq!(canonical(text), Ok(printed), "the canonical text is the same program");
    }
}

fn significant(text: &str) -> Vec<(TokenKind, &str)> {
    let tokens = tokenize(text).into_iter().filter(|token| !token.kind.is_trivia());
    tokens.map(|token| (token.kind, token.text(text))).collect()
}

fn comments(text: &str) -> Vec<String> {
    let tokens = tokenize(text).into_iter().filter(|token| token.kind.is_comment());
    tokens.map(|token| token.text(text).split_ascii_whitespace().collect()).collect()
}
