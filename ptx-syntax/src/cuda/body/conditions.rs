//! What has to hold so that a template is meant: `std::enable_if`, `requires` and concepts.

use super::{Expression, ExpressionKind, Parser, TemplateArgument, TemplateParameter, TypeName};

/// Concepts of the standard library.
pub(super) const OF_STANDARD: [&str; 13] = [
    "integral",
    "signed_integral",
    "unsigned_integral",
    "floating_point",
    "same_as",
    "convertible_to",
    "derived_from",
    "constructible_from",
    "default_initializable",
    "copyable",
    "invocable",
    "regular_invocable",
    "predicate",
];

impl<'s> Parser<'s> {
    /// Passes `requires …` after the parameters of a template, and gives what it asks for.
    pub(super) fn requirement(&mut self) -> Option<Expression<'s>> {
        if self.text() != "requires" {
            return None;
        }
        let (start, span) = (self.at, self.span());
        self.at += 1;
        let mut is_known = true;
        loop {
            match self.text() {
                // What an expression has to be is not looked into.
                "requires" => {
                    self.at += 1;
                    if self.text() == "(" {
                        self.at = self.after_group(self.at);
                    }
                    self.at = self.after_group(self.at);
                    is_known = false;
                }
                "(" => self.at = self.after_group(self.at),
                _ => {
                    while self.is_name(0) && self.ahead(1) == "::" {
                        self.at += 2;
                    }
                    self.at += 1;
                    if self.text() == "<"
                        && let Some(end) = self.after_angles(self.at)
                    {
                        self.at = end;
                    }
                    // `std::is_same<A, B>::value`
                    if self.text() == "::" {
                        self.at += 2;
                    }
                }
            }
            if !matches!(self.text(), "&&" | "||" | "and" | "or") {
                break;
            }
            self.at += 1;
        }
        let unknown = Expression::made(ExpressionKind::Unknown, span, 0);
        if !is_known {
            return Some(unknown);
        }
        let end = std::mem::replace(&mut self.at, start + 1);
        let ends = std::mem::replace(&mut self.ends, end);
        let found = self.binary(0);
        self.ends = ends;
        let is_whole = std::mem::replace(&mut self.at, end) == end;
        Some(if is_whole { found } else { unknown })
    }

    /// `concept name = …;`, which is a constant of its template.
    pub(super) fn concept(&mut self, template: Vec<TemplateParameter<'s>>) {
        self.at += 1;
        let name = self.text();
        self.at += 1;
        let span = self.span();
        let mut end = self.at;
        while self.tokens.get(end).is_some_and(|token| !(token.is_plain() && token.text == ";")) {
            end = self.after_group(end).max(end + 1);
        }
        let mut value = Expression::made(ExpressionKind::Unknown, span, 0);
        if self.accept("=") && self.text() != "requires" {
            let found = self.binary(0);
            if self.at == end {
                value = found;
            }
        }
        self.concepts.push(name);
        let all = &mut self.program.templates_of_constants;
        if all.remove(name).is_none() {
            all.insert(name, (template, value));
        }
        self.at = end;
    }

    /// The concept that a parameter of a template names instead of `typename`, with what it is given besides.
    pub(super) fn concept_of_parameter(&mut self) -> Option<(&'s str, Vec<TemplateArgument<'s>>)> {
        let start = self.at;
        while self.is_name(0) && self.ahead(1) == "::" {
            self.at += 2;
        }
        let name = self.text();
        if !self.concepts.contains(&name) {
            self.at = start;
            return None;
        }
        self.at += 1;
        let given = if self.text() == "<" { self.template_arguments() } else { None };
        Some((name, given.unwrap_or_default()))
    }

    /// `Concept<T, …>`
    pub(super) fn asked(
        concept: (&'s str, Vec<TemplateArgument<'s>>),
        parameter: &'s str,
        span: crate::Span,
    ) -> Expression<'s> {
        let (name, others) = concept;
        let mut given = vec![TemplateArgument::Type(TypeName::Named(parameter, Vec::new()))];
        given.extend(others);
        Expression::made(ExpressionKind::Name(name, given), span, 0)
    }
}

/// What the uses of `std::enable_if` in a type ask for.
pub(super) fn asked_for<'s>(ty: &TypeName<'s>, span: crate::Span, all: &mut Vec<Expression<'s>>) {
    match ty {
        TypeName::Named("enable_if_t" | "enable_if", given) => match given.first() {
            Some(TemplateArgument::Value(condition)) => all.push(condition.clone()),
            Some(TemplateArgument::Type(TypeName::Scoped(owner, name, template))) => {
                all.push(Expression::scoped((**owner).clone(), name, template.clone(), span));
            }
            _ => all.push(Expression::made(ExpressionKind::Unknown, span, 0)),
        },
        TypeName::Scoped(of, "type", _) | TypeName::Pointer(of) | TypeName::Reference(of) => {
            asked_for(of, span, all);
        }
        _ => {}
    }
}
