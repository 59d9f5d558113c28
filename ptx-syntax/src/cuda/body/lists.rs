//! Several expressions in braces and parentheses.

use super::expression::deepest;
use super::{DEEPEST, Expression, ExpressionKind, Parser, TypeName};
use crate::Span;

/// Longer lists of arguments are not read.
const MAX_ARGUMENTS: usize = 1000;

impl<'s> Parser<'s> {
    /// `{…}`.
    pub(super) fn list(&mut self, ty: Option<TypeName<'s>>) -> Expression<'s> {
        let span = self.span();
        let end = self.after_group(self.at);
        self.at += 1;
        let mut parts = Vec::new();
        while self.at + 1 < end && parts.len() < MAX_ARGUMENTS {
            let part = match self.text() {
                "{" => self.nested_list(),
                "." if self.is_name(1) && matches!(self.ahead(2), "=" | "{") => self.designated(),
                _ => self.assignment(),
            };
            parts.push(if self.accept("...") { Self::expanded(part) } else { part });
            if !self.accept(",") {
                break;
            }
        }
        let is_whole = self.at + 1 == end;
        self.at = end;
        let depth = deepest(&parts);
        let kind = if is_whole { ExpressionKind::List(ty, parts) } else { ExpressionKind::Unknown };
        Expression::made(kind, span, depth)
    }

    /// `.name = value`
    fn designated(&mut self) -> Expression<'s> {
        self.at += 1;
        let name = Expression::named(self.text(), self.span());
        self.at += 1;
        self.accept("=");
        let value = if self.text() == "{" { self.nested_list() } else { self.assignment() };
        let (span, depth) = (name.span.to(value.span), value.depth);
        Expression::made(ExpressionKind::Assign(".", Box::new(name), Box::new(value)), span, depth)
    }

    /// Several values as if they stood in braces.
    pub(super) fn list_of(given: Vec<Expression<'s>>, span: Span) -> Expression<'s> {
        let depth = deepest(&given);
        Expression::made(ExpressionKind::List(None, given), span, depth)
    }

    fn nested_list(&mut self) -> Expression<'s> {
        self.depth += 1;
        let found = if self.depth > DEEPEST { self.unknown() } else { self.list(None) };
        self.depth -= 1;
        found
    }

    /// What stands in the parentheses of a call.
    pub(super) fn arguments(&mut self) -> Vec<Expression<'s>> {
        let end = self.after_group(self.at);
        self.at += 1;
        let mut given = Vec::new();
        while self.at + 1 < end && given.len() < MAX_ARGUMENTS {
            let argument = if self.text() == "{" { self.nested_list() } else { self.assignment() };
            given.push(if self.accept("...") { Self::expanded(argument) } else { argument });
            if !self.accept(",") {
                break;
            }
        }
        if self.at + 1 != end {
            given.push(Expression::made(ExpressionKind::Unknown, self.span(), 0));
        }
        self.at = end;
        given
    }
}
