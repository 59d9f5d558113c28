//! PTX modules of which a program makes parts, as f-strings do: verified around these parts.
//!
//! A statement that has an unknown part is blanked, and what is outside of functions gets a name for it. Findings that
//! depend on nothing but their own statement are kept; hazards are not, nor is what depends on names.

use ptx_syntax::cuda::WILDCARD;
use ptx_syntax::lexer::{Lexer, Token, TokenKind};
use ptx_syntax::{Diagnostic, Span};

/// Rules that look at one statement, and at the declarations of what it names.
const LOCAL: [&str; 14] = [
    "constant-expression",
    "guard-not-a-predicate",
    "immediate-value",
    "missing-modifier",
    "modifier-conflict",
    "modifier-order",
    "operand-count",
    "operand-form",
    "operand-kind",
    "operand-type",
    "syntax",
    "unknown-modifier",
    "unknown-opcode",
    "vector-length",
];

/// Those that look at the head of the module besides.
const OF_HEAD: [&str; 2] = ["target-too-low", "version-too-low"];

/// The version, the target and the size of addresses have a line each.
const HEAD_LINES: usize = 3;

/// A module without its unknown parts.
pub(super) struct Around {
    /// Of the same length, so that places stay.
    pub text: String,
    /// The statements that had unknown parts.
    unknown: Vec<Span>,
    head_is_known: bool,
}

impl Around {
    pub fn new(text: &str) -> Self {
        let is_filled = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        let mut head = text.lines().filter(is_filled).take(HEAD_LINES);
        let mut this = Self {
            text: named(text),
            unknown: Vec::new(),
            head_is_known: !head.any(|line| line.contains(WILDCARD)),
        };
        let (unknown, blank) = statements(text, &this.text);
        let mut bytes = this.text.into_bytes();
        for span in blank {
            // Lines stay, for comments that end with theirs.
            let part = &mut bytes[span.start as usize..span.end as usize];
            part.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        // Only whole statements were blanked, so every character still is one.
        this.text = String::from_utf8_lossy(&bytes).into_owned();
        this.unknown = unknown;
        this
    }

    /// Whether a finding in the text holds whatever the unknown parts are.
    pub fn holds(&self, found: &Diagnostic) -> bool {
        let is_local = LOCAL.contains(&found.rule) || (self.head_is_known && OF_HEAD.contains(&found.rule));
        let meets = |span: &Span| span.start <= found.span.end && found.span.start <= span.end;
        is_local && !self.unknown.iter().any(meets)
    }
}

/// The text with a name for each unknown part, or a number where only one can be; the wildcard has as many bytes.
fn named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(WILDCARD) {
        out.push_str(before);
        out.push_str(if before.ends_with('<') { "999" } else { "___" });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The statements of `named` in which `text` has unknown parts, and those that are blanked: not the heads of functions, nor
/// declarations of numbered registers.
fn statements(text: &str, named: &str) -> (Vec<Span>, Vec<Span>) {
    let (mut unknown, mut blank) = (Vec::new(), Vec::new());
    // Since the end of the last statement: its first token, whether it has an unknown part, and open braces of lists.
    let mut first: Option<Token> = None;
    let (mut is_unknown, mut only_numbers, mut lists, mut blocks) = (false, true, 0_u32, 0_u32);
    let mut last = TokenKind::Semicolon;
    let tokens = Lexer::new(named).filter(|token| !token.kind.is_trivia());
    for token in tokens {
        let begins = *first.get_or_insert(token);
        if token.span.text(text).contains(WILDCARD) {
            is_unknown = true;
            only_numbers &= token.kind == TokenKind::Integer;
        }
        let is_list = match token.kind {
            // The braces of a block come first in their statement, or after the head of a function.
            TokenKind::OpenBrace => lists > 0 || last == TokenKind::Equals || (blocks > 0 && begins != token),
            TokenKind::CloseBrace => lists > 0,
            _ => true,
        };
        match token.kind {
            TokenKind::OpenBrace if is_list => lists += 1,
            TokenKind::CloseBrace if is_list => lists -= 1,
            _ => {}
        }
        // What has a line of its own is statements, and not a part of the next.
        let rest = text[token.span.end as usize..].lines().next().unwrap_or("");
        let is_line = blocks > 0 && begins == token && token.span.text(text).chars().eq([WILDCARD]);
        let ends = token.kind == TokenKind::Semicolon || !is_list || (is_line && rest.trim().is_empty());
        last = token.kind;
        if !ends {
            continue;
        }
        if is_unknown {
            let span = Span::new(begins.span.start, token.span.end);
            unknown.push(span);
            if blocks > 0 && !only_numbers {
                // A brace of a block is none of the statement's.
                blank.push(Span::new(span.start, if is_list { span.end } else { token.span.start }));
            }
        }
        match token.kind {
            TokenKind::OpenBrace => blocks += 1,
            TokenKind::CloseBrace => blocks = blocks.saturating_sub(1),
            _ => {}
        }
        (first, is_unknown, only_numbers) = (None, false, true);
    }
    (unknown, blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_with_unknown_parts_are_blanked() {
        let text = ".version \u{FFFC}\n.entry k\u{FFFC}() {\n.reg .b32 %r<\u{FFFC}>;\nL: mov.b32 {%r1, %r\u{FFFC}}, %r2; // \u{FFFC}\n\
            \u{FFFC}\nmov.u32 %r1, 1; add.u32 %r1, %r1, 1;\n}\n";
        let around = Around::new(text);
        assert_eq!(around.text.len(), text.len());
        let lines: Vec<&str> = around.text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                ".version ___",
                ".entry k___() {",
                ".reg .b32 %r<999>;",
                "// ___",
                "",
                "mov.u32 %r1, 1; add.u32 %r1, %r1, 1;",
                "}"
            ]
        );
        assert!(!around.head_is_known);
    }
}
