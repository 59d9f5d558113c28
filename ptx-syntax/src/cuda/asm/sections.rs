//! What is in the parentheses of a statement: template, operands, clobbers, labels.

use super::Reader;
use crate::Span;
use crate::cuda::ctype::CType;
use crate::cuda::literal;
use crate::cuda::model::{AsmStatement, Clobber, Constraint, Oddity, OddityKind, Operand};
use crate::cuda::scan::{Kind, Token};
use crate::cuda::template::{Piece, PieceKind, Template, WILDCARD};

impl Reader<'_, '_> {
    /// Splits at the colons outside parentheses; `::` is two of them.
    pub(super) fn sections(&self, inside: &[Token], statement: &mut AsmStatement) {
        let mut depth = 0i32;
        let mut start = 0;
        for (index, token) in inside.iter().enumerate() {
            if token.kind != Kind::Punctuator {
                continue;
            }
            let colons = match self.text(*token) {
                "(" | "[" | "{" => {
                    depth += 1;
                    0
                }
                ")" | "]" | "}" => {
                    depth -= 1;
                    0
                }
                ":" if depth == 0 => 1,
                "::" if depth == 0 => 2,
                _ => 0,
            };
            for _ in 0..colons {
                self.section(&inside[start..index.max(start)], statement);
                start = index + 1;
                statement.colons += 1;
                if statement.colons > 4 {
                    statement.oddities.push(Oddity { kind: OddityKind::ExtraColon, span: token.span });
                }
            }
        }
        self.section(&inside[start..], statement);
    }

    fn section(&self, tokens: &[Token], statement: &mut AsmStatement) {
        match statement.colons {
            0 => self.template(tokens, statement),
            1 => statement.outputs = self.operands(tokens, statement),
            2 => statement.inputs = self.operands(tokens, statement),
            3 => self.clobbers(tokens, statement),
            4 => {
                let labels = tokens.iter().filter(|token| token.kind == Kind::Identifier);
                statement.labels = labels.map(|token| token.span).collect();
            }
            _ => {}
        }
    }

    fn template(&self, tokens: &[Token], statement: &mut AsmStatement) {
        let mut template = Template::default();
        if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
            template.span = self.cover(first.span, last.span);
        }
        let mut at = 0;
        while let Some(token) = tokens.get(at).copied() {
            let name = self.text(token);
            match token.kind {
                Kind::Text | Kind::RawText => {
                    self.literal(&mut template, token);
                    at += 1;
                }
                Kind::Identifier => {
                    if let Some(parts) = self.prepared.pointer_macro(self.source, name) {
                        parts.into_iter().for_each(|part| self.literal(&mut template, part));
                        at += 1;
                        continue;
                    }
                    let next = self.after_group(tokens, at + 1);
                    let span = self.cover(token.span, tokens[next - 1].span);
                    push_wildcard(&mut template, PieceKind::Wildcard, span);
                    // What a macro stands for may hold colons and operands too.
                    if name == "__VA_ARGS__" || (tokens.len() == next - at && statement.colons == 0) {
                        statement.complete = false;
                    }
                    at = next;
                }
                Kind::Punctuator if name == "#" && tokens.get(at + 1).is_some() => {
                    let span = self.cover(token.span, tokens[at + 1].span);
                    push_wildcard(&mut template, PieceKind::Stringified, span);
                    at += 2;
                }
                Kind::Punctuator if name == "(" => {
                    let next = self.after_group(tokens, at);
                    let span = self.cover(token.span, tokens[next - 1].span);
                    push_wildcard(&mut template, PieceKind::Wildcard, span);
                    at = next;
                }
                Kind::Punctuator | Kind::Number | Kind::Character | Kind::Directive => {
                    statement.oddities.push(Oddity { kind: OddityKind::Unexpected, span: token.span });
                    at += 1;
                }
            }
        }
        template.map.set_home(statement.span);
        statement.template = template;
    }

    fn literal(&self, template: &mut Template, token: Token) {
        let start = template.text.len() as u32;
        literal::decode(self.source, token, &mut template.text, &mut template.map);
        let decoded = Span::new(start, template.text.len() as u32);
        template.pieces.push(Piece { kind: PieceKind::Literal, decoded, source: token.span });
    }

    /// The index after the parenthesised group at `at`; `at` itself where none begins.
    fn after_group(&self, tokens: &[Token], at: usize) -> usize {
        let mut depth = 0;
        for (index, token) in tokens.iter().enumerate().skip(at) {
            match self.text(*token) {
                "(" if token.kind == Kind::Punctuator => depth += 1,
                ")" if token.kind == Kind::Punctuator => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return if index == at { at } else { index + 1 };
            }
        }
        if depth > 0 { tokens.len() } else { at }
    }

    fn operands(&self, tokens: &[Token], statement: &mut AsmStatement) -> Vec<Operand> {
        let mut operands: Vec<Operand> = Vec::new();
        let mut at = 0;
        // Where the last operand ended, unless a comma came since.
        let mut since_operand: Option<u32> = None;
        let mut comma = None;
        let mut after_macro = false;
        while let Some(token) = tokens.get(at).copied() {
            if token.is(self.source, ",") {
                if since_operand.is_none() && !after_macro {
                    statement.oddities.push(Oddity { kind: OddityKind::Unexpected, span: token.span });
                }
                since_operand = None;
                after_macro = false;
                comma = Some(token.span);
                at += 1;
                continue;
            }
            let is_macro = self.may_bring_colon(tokens, at);
            if let Some(end) = since_operand.filter(|_| !is_macro) {
                let span = Span::new(end, token.span.start.max(end));
                statement.oddities.push(Oddity { kind: OddityKind::MissingComma, span });
            }
            comma = None;
            let odd = statement.oddities.len();
            let next = self.operand(tokens, at, statement, &mut operands).max(at + 1);
            // After what is no operand, a comma is not what lacks.
            let stray = statement.oddities.get(odd).is_some_and(|found| found.kind == OddityKind::Unexpected);
            since_operand = (!stray && !is_macro).then_some(tokens[next - 1].span.end);
            after_macro = is_macro;
            at = next;
        }
        if let Some(span) = comma {
            statement.oddities.push(Oddity { kind: OddityKind::TrailingComma, span });
        }
        operands
    }

    /// Whether a name is where an operand may begin, and is no string: a macro, or a macro's parameter, which may
    /// bring a comma or a colon of its own.
    fn may_bring_colon(&self, tokens: &[Token], at: usize) -> bool {
        tokens[at].kind == Kind::Identifier
            && self.prepared.pointer_macro(self.source, self.text(tokens[at])).is_none()
    }

    /// Reads one operand at `at` and returns the index after it.
    fn operand(
        &self,
        tokens: &[Token],
        start: usize,
        statement: &mut AsmStatement,
        operands: &mut Vec<Operand>,
    ) -> usize {
        let mut at = start;
        let mut name = None;
        if tokens[at].is(self.source, "[") {
            let close = (at..tokens.len()).find(|index| tokens[*index].is(self.source, "]"));
            let Some(close) = close else { return tokens.len() };
            name = tokens.get(at + 1).filter(|_| close > at + 1).map(|token| token.span);
            at = close + 1;
        }
        let constraint_start = at;
        let Some(constraint) = self.constraint(tokens, &mut at) else {
            let token = tokens.get(at).or(tokens.last()).copied();
            let kind = match token {
                Some(token) if token.is(self.source, "(") => OddityKind::MissingConstraint,
                Some(_) | None => OddityKind::Unexpected,
            };
            let span = token.map_or(statement.span, |token| token.span);
            statement.oddities.push(Oddity { kind, span });
            return self.after_group(tokens, at).max(at + 1).min(tokens.len().max(1));
        };
        if !tokens.get(at).is_some_and(|token| token.is(self.source, "(")) {
            if constraint.known {
                statement
                    .oddities
                    .push(Oddity { kind: OddityKind::MissingExpression, span: constraint.span });
            } else {
                // A macro that stands for operands.
                statement.complete = false;
            }
            return at;
        }
        let open = tokens[at];
        let next = self.after_group(tokens, at);
        let is_list = !constraint.known && at == constraint_start + 1 && {
            self.prepared.called.contains(self.text(tokens[constraint_start]))
        };
        if is_list {
            statement.complete = false;
            return next;
        }
        let close = tokens[next - 1];
        let inner = self.expression(&tokens[at + 1..next.max(at + 2) - 1], open.span, close.span);
        if next == at + 2 {
            statement
                .oddities
                .push(Oddity { kind: OddityKind::EmptyExpression, span: open.span.to(close.span) });
        }
        operands.push(Operand {
            span: self.cover(tokens[start].span, close.span),
            name,
            constraint,
            expression: trimmed(self.source, inner),
            tokens: tokens[at + 1..next.max(at + 2) - 1].to_vec(),
            ctype: CType::Unknown,
            changes: false,
            constant: false,
            instances: Vec::new(),
            is_no_output: false,
            unused: false,
            unset: false,
        });
        next
    }

    /// The place of an expression: between its parentheses, or where a macro's argument is.
    fn expression(&self, tokens: &[Token], open: Span, close: Span) -> Span {
        let between = Span::new(open.end, close.start.max(open.end));
        let whole = match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) if first.span.start <= last.span.start => first.span.to(last.span),
            (Some(_), Some(_)) | (None, _) | (_, None) => return between,
        };
        let inside = open.end <= whole.start && whole.end <= close.start;
        let together = tokens.windows(2).all(|pair| pair[1].span.start >= pair[0].span.end);
        let outside = tokens.iter().all(|token| !self.is_home(token.span));
        if inside || !(together && outside) { between } else { whole }
    }

    /// Reads strings, and macros that stand for strings, up to the parenthesis of the expression.
    fn constraint(&self, tokens: &[Token], at: &mut usize) -> Option<Constraint> {
        let mut constraint: Option<Constraint> = None;
        while let Some(token) = tokens.get(*at).copied() {
            let mut part = Constraint {
                text: String::new(),
                span: token.span,
                from_macro: !self.is_home(token.span),
                known: true,
            };
            match token.kind {
                Kind::Text | Kind::RawText => part.text = literal::decoded(self.source, token),
                Kind::Identifier => {
                    part.from_macro = true;
                    match self.prepared.pointer_macro(self.source, self.text(token)) {
                        Some(parts) => {
                            part.text =
                                parts.into_iter().map(|part| literal::decoded(self.source, part)).collect();
                        }
                        None => part.known = false,
                    }
                }
                Kind::Punctuator if matches!(self.text(token), "#" | "##") => part.known = false,
                Kind::Punctuator | Kind::Number | Kind::Character | Kind::Directive => break,
            }
            *at += 1;
            constraint = Some(match constraint {
                None => part,
                Some(before) => Constraint {
                    text: before.text + &part.text,
                    span: self.cover(before.span, part.span),
                    from_macro: true,
                    known: before.known && part.known,
                },
            });
        }
        let mut constraint = constraint?;
        if !constraint.known {
            constraint.text.clear();
        }
        Some(constraint)
    }

    /// Clobbers are between commas; strings side by side are one.
    fn clobbers(&self, tokens: &[Token], statement: &mut AsmStatement) {
        let mut continues = false;
        for token in tokens {
            let text = match token.kind {
                Kind::Text | Kind::RawText => literal::decoded(self.source, *token),
                Kind::Identifier => {
                    let parts =
                        self.prepared.pointer_macro(self.source, self.text(*token)).unwrap_or_default();
                    parts.into_iter().map(|part| literal::decoded(self.source, part)).collect()
                }
                Kind::Punctuator if self.text(*token) == "," => {
                    continues = false;
                    continue;
                }
                Kind::Punctuator | Kind::Number | Kind::Character | Kind::Directive => {
                    statement.oddities.push(Oddity { kind: OddityKind::Unexpected, span: token.span });
                    continue;
                }
            };
            match statement.clobbers.last_mut().filter(|_| continues) {
                Some(clobber) => {
                    clobber.text.push_str(&text);
                    clobber.span = self.cover(clobber.span, token.span);
                }
                None => statement.clobbers.push(Clobber { text, span: token.span }),
            }
            continues = true;
        }
    }
}

fn push_wildcard(template: &mut Template, kind: PieceKind, source: Span) {
    let start = template.text.len() as u32;
    template.text.push(WILDCARD);
    template.map.push_opaque(WILDCARD.len_utf8() as u32, source);
    template.pieces.push(Piece { kind, decoded: Span::new(start, template.text.len() as u32), source });
}

fn trimmed(source: &str, span: Span) -> Span {
    let text = span.text(source);
    let start = span.start + (text.len() - text.trim_start().len()) as u32;
    Span::new(start, (start + text.trim().len() as u32).min(span.end.max(start)))
}
