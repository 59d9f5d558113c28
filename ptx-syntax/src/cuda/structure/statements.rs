//! Statements of function bodies: branches, loops, blocks, expressions.

use super::{Builder, Until};
use crate::Span;
use crate::cuda::model::{EventKind, RegionKind};
use crate::cuda::scan::{Kind, Token};

impl<'s> Builder<'s> {
    pub(super) fn statement(&mut self) {
        let Some(first) = self.token() else { return };
        match self.text() {
            ";" => self.at += 1,
            "{" => self.block(RegionKind::Block),
            "if" => self.if_statement(),
            "else" => {
                self.at += 1;
                self.branch(RegionKind::Else);
            }
            "for" => {
                let unrolled = self.is_unrolled(first);
                self.loop_statement(RegionKind::For { unrolled });
            }
            "while" => self.loop_statement(RegionKind::While),
            "switch" => self.loop_statement(RegionKind::Switch),
            "do" => {
                self.at += 1;
                self.branch(RegionKind::DoWhile);
                if self.accept("while") {
                    self.group();
                }
            }
            "try" => {
                self.at += 1;
                self.branch(RegionKind::Try);
            }
            "catch" => self.loop_statement(RegionKind::Try),
            "case" | "default" => {
                self.event(EventKind::Label, first.span);
                while !matches!(self.text(), ":" | ";" | "{" | "}") && self.at < self.tokens.len() {
                    self.at += 1;
                }
                self.accept(":");
            }
            "return" | "goto" | "break" | "continue" | "co_return" => {
                self.event(EventKind::Jump, first.span);
                self.at += 1;
                self.simple();
            }
            _ if first.kind == Kind::Identifier && self.text_ahead(1) == ":" => {
                self.event(EventKind::Label, first.span);
                self.at += 2;
            }
            _ => self.simple(),
        }
    }

    /// Whether `#pragma unroll`, or a macro that says so, is before the loop at `first`.
    pub(super) fn is_unrolled(&mut self, first: Token) -> bool {
        let previous = self.at.checked_sub(1).map(|at| self.tokens[at].span);
        let since = previous.map_or(0, |span| span.end);
        let unrolls = &self.prepared.unrolls;
        while unrolls.get(self.next_unroll).is_some_and(|end| *end < since) {
            self.next_unroll += 1;
        }
        let pragma = unrolls.get(self.next_unroll).is_some_and(|end| *end <= first.span.start);
        let named = previous.is_some_and(|span| {
            let text = span.text(self.source);
            text.contains("UNROLL") && !text.contains("NO")
        });
        pragma || named || (self.text_before(1) == "\"unroll\"" && self.text_before(0) == ")")
    }

    pub(super) fn text_before(&self, back: usize) -> &'s str {
        let token = self.at.checked_sub(1 + back).and_then(|at| self.tokens.get(at));
        token.map_or("", |token| token.span.text(self.source))
    }

    pub(super) fn block(&mut self, kind: RegionKind) {
        let before = self.open_region(kind);
        self.at += 1;
        self.items(Until::Brace);
        self.accept("}");
        self.close_region(before);
    }

    /// A statement of a region of its own.
    pub(super) fn branch(&mut self, kind: RegionKind) {
        if self.text() == "{" {
            self.block(kind);
            return;
        }
        let before = self.open_region(kind);
        self.nested();
        self.close_region(before);
    }

    pub(super) fn nested(&mut self) {
        if self.text() != "}" {
            self.item();
        }
    }

    pub(super) fn if_statement(&mut self) {
        self.at += 1;
        let constexpr = self.accept("constexpr") || self.accept("consteval");
        // `if CUTE_CONSTEXPR (…)` and the like.
        let mut kind = if constexpr { RegionKind::Constexpr } else { RegionKind::Then };
        while self.token().is_some_and(|token| token.kind == Kind::Identifier) {
            if self.text().to_ascii_uppercase().contains("CONSTEXPR") {
                kind = RegionKind::Constexpr;
            }
            self.at += 1;
        }
        let outer = self.scope;
        self.scope = self.scopes.open(Some(outer), false);
        self.header_group();
        self.branch(kind);
        if self.accept("else") {
            let kind = if kind == RegionKind::Constexpr { kind } else { RegionKind::Else };
            self.branch(kind);
        }
        self.scope = outer;
    }

    /// A keyword, its parentheses and its body, all one region.
    pub(super) fn loop_statement(&mut self, kind: RegionKind) {
        let before = self.open_region(kind);
        self.at += 1;
        self.header_group();
        if self.text() == "{" {
            self.at += 1;
            self.items(Until::Brace);
            self.accept("}");
        } else {
            self.nested();
        }
        self.close_region(before);
    }

    /// The parentheses after `if`, `for` and the like, which may declare a variable.
    pub(super) fn header_group(&mut self) {
        if self.text() != "(" {
            return;
        }
        let start = self.at + 1;
        self.group();
        let end = self.at.saturating_sub(1).max(start);
        self.declare(start, end);
    }

    /// An expression or a declaration, up to its semicolon.
    pub(super) fn simple(&mut self) {
        let start = self.at;
        let mut after_macro = None;
        while let Some(token) = self.token() {
            match self.text() {
                ";" => {
                    self.at += 1;
                    break;
                }
                "}" | ")" | "]" => break,
                "(" | "[" => {
                    self.group();
                    after_macro = after_macro.or(Some(self.at));
                }
                "{" => self.brace(start),
                "if" | "for" | "while" | "do" | "switch" | "return" | "goto" if self.at > start => return,
                _ if self.asm(self.at == start || self.follows_macros(start, after_macro)) => {}
                word if token.kind == Kind::Identifier && self.text_ahead(1) == "(" => {
                    self.call(word, token.span);
                }
                _ => self.at += 1,
            }
        }
        self.declare(start, self.at);
    }

    /// Whether only one name, with or without parentheses, is before the current token: a macro that leaves
    /// nothing, or a pragma. `first_group` is where the first group of the statement ends.
    pub(super) fn follows_macros(&self, start: usize, first_group: Option<usize>) -> bool {
        let before = &self.tokens[start..self.at];
        let first = before.first().is_some_and(|token| token.kind == Kind::Identifier);
        let called = before.get(1).is_some_and(|token| token.is(self.source, "("));
        first && (before.len() == 1 || (called && first_group == Some(self.at)))
    }

    pub(super) fn call(&mut self, word: &'s str, name: Span) {
        self.event(EventKind::Call, name);
        self.at += 1;
        if self.in_code() && (word.starts_with("NV_IF_") || word == "NV_DISPATCH_TARGET") {
            self.targets();
        }
    }
}
