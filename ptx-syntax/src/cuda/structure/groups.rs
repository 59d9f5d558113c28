//! Groups inside statements and declarations: parentheses, braces, lambdas.

use super::{Builder, MAX_DEPTH, Until};
use crate::cuda::model::RegionKind;
use crate::cuda::scan::{Kind, Token};

/// How far before its body the parameters of a lambda are looked for, in tokens.
const MAX_LAMBDA_HEAD: usize = 1000;

impl<'s> Builder<'s> {
    /// A group in parentheses or brackets, its contents passed token by token.
    pub(super) fn group(&mut self) {
        self.depth += 1;
        self.at += 1;
        let mut open = 1u32;
        while let Some(token) = self.token() {
            match self.text() {
                "(" | "[" => {
                    open += 1;
                    self.at += 1;
                }
                ")" | "]" => {
                    open -= 1;
                    self.at += 1;
                    if open == 0 {
                        break;
                    }
                }
                "}" => break,
                "{" => self.brace(self.at),
                _ if self.asm(true) => {}
                word if token.kind == Kind::Identifier && self.text_ahead(1) == "(" => {
                    self.call(word, token.span);
                }
                _ => self.at += 1,
            }
        }
        self.depth -= 1;
    }

    /// A brace inside an expression or a declaration that begins at `start`.
    pub(super) fn brace(&mut self, start: usize) {
        if self.depth > MAX_DEPTH {
            self.at += 1;
            return;
        }
        self.depth += 1;
        let word = |at: usize| self.tokens.get(at).map_or("", |token| token.span.text(self.source));
        let is_class = |at: usize| matches!(word(at), "struct" | "class" | "union");
        let local_class = (start..self.at.min(start + 2)).any(is_class);
        let before = self.text_before(0);
        if self.in_code() && local_class {
            self.class(None, true);
        } else if self.in_code() && before == "(" {
            // A statement expression: `({ … })`.
            self.block(RegionKind::Block);
        } else if self.in_code()
            && (matches!(before, ")" | "]" | "mutable" | "noexcept") || self.after_arrow())
        {
            let lambda = self.open_region(RegionKind::Lambda);
            self.lambda_parameters();
            self.at += 1;
            self.items(Until::Brace);
            self.accept("}");
            self.close_region(lambda);
        } else {
            self.flat_braces();
        }
        self.depth -= 1;
    }

    /// Whether the brace follows the return type of a lambda.
    pub(super) fn after_arrow(&self) -> bool {
        (1..6).any(|back| self.text_before(back) == "->" && self.text_before(back + 1) == ")")
    }

    /// Declares the parameters of the lambda whose body begins here.
    pub(super) fn lambda_parameters(&mut self) {
        let source = self.source;
        let mut depth = 0i32;
        let mut close = None;
        for at in (0..self.at).rev().take(MAX_LAMBDA_HEAD) {
            match self.tokens[at].span.text(source) {
                ")" => {
                    close = close.or(Some(at));
                    depth += 1;
                }
                "(" => {
                    depth -= 1;
                    if depth == 0 {
                        let tokens: Vec<Token> = self.tokens[at + 1..close.unwrap_or(at + 1)].to_vec();
                        self.declare_parameters(&tokens);
                        return;
                    }
                    if depth < 0 {
                        return;
                    }
                }
                "{" | "}" | ";" if depth == 0 => return,
                _ => {}
            }
        }
    }

    pub(super) fn flat_braces(&mut self) {
        self.at += 1;
        let mut open = 1u32;
        while let Some(token) = self.token() {
            match self.text() {
                "{" => {
                    open += 1;
                    self.at += 1;
                }
                "}" => {
                    open -= 1;
                    self.at += 1;
                    if open == 0 {
                        return;
                    }
                }
                "(" | "[" => self.group(),
                _ if self.asm(true) => {}
                word if token.kind == Kind::Identifier && self.text_ahead(1) == "(" => {
                    self.call(word, token.span);
                }
                _ => self.at += 1,
            }
        }
    }
}
