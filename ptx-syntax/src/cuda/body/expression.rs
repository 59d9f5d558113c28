//! Expressions.

use super::tokens::Kind;
use super::types::named_in;
use super::{DEEPEST, Expression, ExpressionKind, Parser, TypeName};
use crate::Span;

/// How tightly an operator binds; 0 is none.
fn precedence(operator: &str) -> u8 {
    match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => 0,
    }
}

fn assigns(operator: &str) -> Option<&str> {
    match operator {
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => {
            operator.strip_suffix('=')
        }
        _ => None,
    }
}

impl<'s> Expression<'s> {
    /// The number 0, for what a source leaves out.
    #[must_use]
    pub const fn zero(span: Span) -> Self {
        Self { kind: ExpressionKind::Number { value: 0, bits: 32, signed: true }, span, depth: 1 }
    }

    /// The deepest part, from 0.
    pub(super) fn made(kind: ExpressionKind<'s>, span: Span, deepest: u32) -> Self {
        // Deeper than that nobody follows it.
        let kind = if deepest >= DEEPEST { ExpressionKind::Unknown } else { kind };
        Self { kind, span, depth: if deepest >= DEEPEST { 0 } else { deepest + 1 } }
    }
}

impl<'s> Parser<'s> {
    /// An expression with commas.
    pub(super) fn comma(&mut self) -> Expression<'s> {
        let mut left = self.assignment();
        while self.accept(",") {
            let right = self.assignment();
            left = both(left, right, |left, right| ExpressionKind::Binary(",", left, right));
        }
        left
    }

    /// An expression without commas outside brackets.
    pub(super) fn assignment(&mut self) -> Expression<'s> {
        self.depth += 1;
        let found = match self.depth > DEEPEST {
            true => self.unknown(),
            false => self.assignment_within(),
        };
        self.depth -= 1;
        found
    }

    fn assignment_within(&mut self) -> Expression<'s> {
        let left = self.binary(0);
        if self.accept("?") {
            let then = self.assignment();
            if !self.accept(":") {
                return self.unknown();
            }
            let otherwise = self.assignment();
            let deepest = left.depth.max(then.depth).max(otherwise.depth);
            let span = left.span.to(otherwise.span);
            let kind = ExpressionKind::Choice(Box::new(left), Box::new(then), Box::new(otherwise));
            return Expression::made(kind, span, deepest);
        }
        let Some(operator) = assigns(self.text()) else { return left };
        self.at += 1;
        let right = if self.text() == "{" { self.list(None) } else { self.assignment() };
        both(left, right, |left, right| ExpressionKind::Assign(operator, left, right))
    }

    /// What is not known: everything up to the end of the expression.
    pub(super) fn unknown(&mut self) -> Expression<'s> {
        let span = self.span();
        while let Some(token) = self.tokens.get(self.at) {
            match token.text {
                ";" | ")" | "]" | "}" if token.is_plain() => break,
                "(" | "[" | "{" if token.is_plain() => self.at = self.after_group(self.at),
                _ => self.at += 1,
            }
        }
        Expression::made(ExpressionKind::Unknown, span, 0)
    }

    /// Operators of two operands that bind more tightly than `above`.
    pub(super) fn binary(&mut self, above: u8) -> Expression<'s> {
        let mut left = self.unary();
        loop {
            let operator = match self.text() {
                "and" => "&&",
                "or" => "||",
                ">" if self.ahead(1) == ">" => ">>",
                other => other,
            };
            let own = precedence(operator);
            if own <= above {
                return left;
            }
            self.at += if operator == ">>" { 2 } else { 1 };
            self.depth += 1;
            let right = if self.depth > DEEPEST { self.unknown() } else { self.binary(own) };
            self.depth -= 1;
            left = both(left, right, |left, right| ExpressionKind::Binary(operator, left, right));
        }
    }

    fn unary(&mut self) -> Expression<'s> {
        self.depth += 1;
        self.work = self.work.saturating_sub(1);
        let found = match self.depth > DEEPEST || self.work == 0 {
            true => self.unknown(),
            false => self.unary_within(),
        };
        self.depth -= 1;
        found
    }

    fn unary_within(&mut self) -> Expression<'s> {
        let span = self.span();
        let operator = if self.text() == "not" { "!" } else { self.text() };
        match operator {
            "-" | "+" | "!" | "~" | "*" | "&" | "++" | "--" => {
                self.at += 1;
                let of = self.unary();
                let (whole, depth) = (span.to(of.span), of.depth);
                return Expression::made(ExpressionKind::Unary(operator, Box::new(of)), whole, depth);
            }
            "sizeof" => return self.size_of(),
            "alignof" | "__alignof__" if self.ahead(1) == "(" => {
                let end = self.after_group(self.at + 1);
                self.at += 2;
                let Some(ty) = self.whole_type(end - 1) else { return self.unknown() };
                self.at = end;
                return Expression::made(ExpressionKind::AlignOfType(ty), span, 0);
            }
            "(" => {
                if let Some(cast) = self.cast() {
                    return cast;
                }
            }
            _ => {}
        }
        let first = self.primary();
        self.postfix(first)
    }

    fn size_of(&mut self) -> Expression<'s> {
        let span = self.span();
        self.at += 1;
        if self.text() == "..." && self.ahead(1) == "(" && self.is_name(2) && self.ahead(3) == ")" {
            let name = self.ahead(2);
            self.at += 4;
            return Expression::made(ExpressionKind::SizeOfPack(name), span, 0);
        }
        if self.text() == "(" {
            let end = self.after_group(self.at);
            self.at += 1;
            let is_type = self.begins_type() || self.is_type_of_namespace();
            if let Some(ty) = is_type.then(|| self.whole_type(end - 1)).flatten() {
                self.at = end;
                return Expression::made(ExpressionKind::SizeOfType(ty), span, 0);
            }
            self.at -= 1;
        }
        let of = self.unary();
        let depth = of.depth;
        Expression::made(ExpressionKind::SizeOf(Box::new(of)), span, depth)
    }

    /// `(T)a`, if the parentheses hold a type.
    fn cast(&mut self) -> Option<Expression<'s>> {
        let (start, span) = (self.at, self.span());
        let end = self.after_group(start);
        self.at += 1;
        let is_told = self.text() == "typename";
        let is_type = self.begins_type() || self.is_operand(end);
        let found = if is_type { self.whole_type(end - 1) } else { None };
        // `(T::N) - 1` subtracts, where nothing says that `T::N` is a type.
        let next = self.tokens.get(end).filter(|next| next.is_plain()).map_or("", |next| next.text);
        let is_number = |ty: &TypeName<'s>| {
            matches!(ty, TypeName::Scoped(_, name, _) if !is_told && !self.types.contains(name))
                && (next.is_empty() || !matches!(next, "(" | "~" | "!" | "{") && !is_word(next))
        };
        let Some(ty) = found.filter(|ty| !is_number(ty)) else {
            self.at = start;
            return None;
        };
        self.at = end;
        let of = self.unary();
        let (whole, depth) = (span.to(of.span), of.depth);
        Some(Expression::made(ExpressionKind::Cast(ty, Box::new(of)), whole, depth))
    }

    fn primary(&mut self) -> Expression<'s> {
        let span = self.span();
        let Some(token) = self.tokens.get(self.at).copied() else { return self.unknown() };
        let plain = |kind| Expression::made(kind, span, 0);
        match token.kind {
            Kind::Number => {
                self.at += 1;
                return match token.text.find('_') {
                    // `1_KiB` calls the operator of the suffix.
                    Some(at) => {
                        let (digits, suffix) = token.text.split_at(at);
                        let named = Box::new(plain(ExpressionKind::Name(suffix, Vec::new())));
                        let kind = ExpressionKind::Call(named, vec![plain(number(digits))]);
                        Expression::made(kind, span, 1)
                    }
                    None => plain(number(token.text)),
                };
            }
            Kind::Text | Kind::RawText | Kind::Character => {
                self.at += 1;
                return plain(ExpressionKind::Text);
            }
            Kind::Identifier => {}
            Kind::Punctuator | Kind::Directive => {
                return match token.text {
                    "[" => self.lambda(),
                    "(" => self.parenthesis(),
                    "{" => self.list(None),
                    "::" => {
                        self.at += 1;
                        if self.text() == "new" { self.placed() } else { self.primary_name() }
                    }
                    _ => self.unknown(),
                };
            }
        }
        match token.text {
            "true" | "false" => {
                self.at += 1;
                plain(ExpressionKind::Bool(token.text == "true"))
            }
            "nullptr" => {
                self.at += 1;
                plain(ExpressionKind::Number { value: 0, bits: 64, signed: false })
            }
            "static_cast" | "reinterpret_cast" | "const_cast" => self.named_cast(),
            "new" => self.placed(),
            "offsetof" | "__builtin_offsetof" if self.ahead(1) == "(" => self.offset_of(),
            "__builtin_bit_cast" if self.ahead(1) == "(" => self.bit_cast(),
            "delete" | "throw" | "co_await" | "typeid" | "operator" => self.unknown(),
            _ => self.primary_name(),
        }
    }

    /// `[…](…) {…}`: what it captures by reference is not read, for it sees what is around it.
    fn lambda(&mut self) -> Expression<'s> {
        let (span, from) = (self.span(), self.at);
        let are_copied = self.text() == "[" && self.ahead(1) == "=" && matches!(self.ahead(2), "]" | ",");
        let Some(captures) = self.captures() else { return self.unknown() };
        let types = self.types.len();
        let template = if self.text() == "<" { self.template_parameters() } else { Vec::new() };
        // nvcc lets these stand here, and attributes.
        while self.text() != "mutable" && self.specifier(&mut super::types::Specifiers::default()) {}
        let (parameters, are_known) = match self.text() {
            "(" => self.parameters(),
            _ => (Vec::new(), true),
        };
        let found =
            if are_known { self.lambda_after(span, template, captures, parameters) } else { self.unknown() };
        self.types.truncate(types);
        if let ExpressionKind::Lambda(number) = found.kind
            && let Some(lambda) = self.program.lambdas.get_mut(number)
        {
            // What a macro is given stands elsewhere than the macro.
            let own = &self.tokens[from..self.at.min(self.tokens.len())];
            let places = || own.iter().map(super::tokens::Token::place);
            let (first, last) =
                (places().map(|place| place.start).min(), places().map(|place| place.end).max());
            lambda.extent = Span::new(first.unwrap_or(span.start), last.unwrap_or(span.end));
            let named = own.iter().filter(|token| token.kind == Kind::Identifier).map(|token| token.text);
            lambda.mentions.extend(named);
            lambda.mentions.sort_unstable();
            lambda.mentions.dedup();
            if are_copied {
                lambda.copies.clone_from(&lambda.mentions);
            }
        }
        found
    }

    /// `[&, a, b = c]`: the copies that a lambda keeps; none where that is not understood.
    fn captures(&mut self) -> Option<Vec<super::Capture<'s>>> {
        let end = self.after_group(self.at);
        self.at += 1;
        let mut all = Vec::new();
        while self.at + 1 < end {
            let is_reference = self.text() == "&";
            if matches!(self.text(), "&" | "=") {
                self.at += 1;
            }
            if self.accept("*") || self.text() == "this" {
                self.at += 1;
            } else if self.is_name(0) {
                let (name, span) = (self.text(), self.span());
                self.at += 1;
                if self.accept("...") {
                    return None;
                }
                if self.accept("=") {
                    let value = self.assignment();
                    all.push(super::Capture { name, value, is_reference });
                } else if !is_reference {
                    let value = Expression::made(ExpressionKind::Name(name, Vec::new()), span, 0);
                    all.push(super::Capture { name, value, is_reference });
                }
            }
            if !self.accept(",") {
                break;
            }
        }
        let is_whole = self.at + 1 == end;
        self.at = end;
        is_whole.then_some(all)
    }

    fn lambda_after(
        &mut self,
        span: Span,
        template: Vec<super::TemplateParameter<'s>>,
        captures: Vec<super::Capture<'s>>,
        parameters: Vec<super::Parameter<'s>>,
    ) -> Expression<'s> {
        let mut returns = TypeName::Auto;
        let mut is_mutable = false;
        let mut others = super::types::Specifiers::default();
        loop {
            match self.text() {
                "mutable" => is_mutable = true,
                "noexcept" if self.ahead(1) == "(" => {
                    self.at = self.after_group(self.at + 1);
                    continue;
                }
                _ if self.specifier(&mut others) => continue,
                _ => break,
            }
            self.at += 1;
        }
        if self.accept("->") {
            let base = self.base_type(&mut super::types::Specifiers::default());
            returns = self.declarator(base).1;
        }
        if self.text() != "{" {
            return self.unknown();
        }
        let body = self.block();
        let made = super::Function::lambda(span, body);
        self.program.lambdas.push(super::Function {
            template,
            captures,
            is_mutable,
            returns,
            parameters,
            ..made
        });
        Expression::made(ExpressionKind::Lambda(self.program.lambdas.len() - 1), span, 0)
    }

    /// `a...`
    pub(super) fn expanded(of: Expression<'s>) -> Expression<'s> {
        let (span, depth) = (of.span, of.depth);
        Expression::made(ExpressionKind::Expand(Box::new(of)), span, depth)
    }

    /// `(... + a)`, `(a + ...)`, `(a + ... + b)` in its parentheses, the first of which is passed.
    fn fold(&mut self, end: usize) -> Option<Expression<'s>> {
        let span = self.span();
        let is_dots = |this: &Self, at: usize| this.tokens.get(at).is_some_and(|token| token.text == "...");
        let is_first = is_dots(self, self.at);
        let from = if is_first { self.at + 1 } else { self.at };
        // The dots lie in no brackets of their own.
        let mut dots = from;
        while !is_first && dots + 1 < end && !is_dots(self, dots) {
            dots = match self.tokens[dots].text {
                "(" | "[" | "{" if self.tokens[dots].is_plain() => self.after_group(dots),
                _ => dots + 1,
            };
        }
        if is_first {
            let operator = self.fold_operator(from)?;
            self.at = from + operator.len_of_tokens();
            let of = self.unary();
            return self.folded((span, end), operator.text, (of, None), true);
        }
        if dots + 1 >= end {
            return None;
        }
        let operator = self.fold_operator_before(dots)?;
        let last = dots - operator.len_of_tokens();
        let left = self.unary();
        if self.at != last {
            return None;
        }
        if dots + 2 == end {
            self.at = dots + 1;
            return self.folded((span, end), operator.text, (left, None), false);
        }
        if self.fold_operator(dots + 1)?.text != operator.text {
            return None;
        }
        self.at = dots + 1 + operator.len_of_tokens();
        let right = self.unary();
        // Which of the two stands for several is known to those who know the packs.
        self.folded((span, end), operator.text, (left, Some(right)), false)
    }

    fn folded(
        &mut self,
        (span, end): (Span, usize),
        operator: &'s str,
        (of, other): (Expression<'s>, Option<Expression<'s>>),
        is_left: bool,
    ) -> Option<Expression<'s>> {
        if self.at + 1 != end {
            return None;
        }
        self.at = end;
        let depth = of.depth.max(other.as_ref().map_or(0, |other| other.depth));
        let kind = ExpressionKind::Fold(operator, Box::new(of), other.map(Box::new), is_left);
        Some(Expression::made(kind, span, depth))
    }

    fn fold_operator(&self, at: usize) -> Option<FoldOperator<'s>> {
        let token = self.tokens.get(at).filter(|token| token.is_plain())?;
        let is_double = token.text == ">" && self.tokens.get(at + 1).is_some_and(|next| next.text == ">");
        if is_double {
            return Some(FoldOperator { text: ">>", is_double });
        }
        (token.text == "," || precedence(token.text) > 0)
            .then_some(FoldOperator { text: token.text, is_double })
    }

    fn fold_operator_before(&self, dots: usize) -> Option<FoldOperator<'s>> {
        self.fold_operator(dots.checked_sub(1)?)
    }

    fn parenthesis(&mut self) -> Expression<'s> {
        let (open, end) = (self.at, self.after_group(self.at));
        self.at += 1;
        if self.text() == "{" {
            return self.statements_as_value(end);
        }
        if self.tokens[open + 1..end.min(self.tokens.len())]
            .iter()
            .take(MAX_FOLD)
            .any(|token| token.text == "...")
        {
            let (errors, depth) = (self.work, self.depth);
            if let Some(found) = self.fold(end) {
                return found;
            }
            (self.work, self.depth) = (errors, depth);
            self.at = open + 1;
        }
        let inner = self.comma();
        if self.at + 1 != end {
            return self.unknown();
        }
        self.at = end;
        inner
    }

    fn named_cast(&mut self) -> Expression<'s> {
        let span = self.span();
        self.at += 1;
        let Some(end) = self.after_angles(self.at).filter(|_| self.text() == "<") else {
            return self.unknown();
        };
        self.at += 1;
        let Some(ty) = self.whole_type(end - 1) else { return self.unknown() };
        self.at = end;
        if self.text() != "(" {
            return self.unknown();
        }
        let of = self.parenthesis();
        let (whole, depth) = (span.to(of.span), of.depth);
        Expression::made(ExpressionKind::Cast(ty, Box::new(of)), whole, depth)
    }

    /// A name, with the names of what it is in and with arguments of a template; or `T(a)` and `T{a}`.
    fn primary_name(&mut self) -> Expression<'s> {
        let span = self.span();
        if !self.is_name(0) {
            return self.unknown();
        }
        if let Some(scoped) = self.scoped() {
            return scoped;
        }
        if self.begins_type() {
            let start = self.at;
            let ty = self.base_type(&mut super::types::Specifiers::default());
            match self.text() {
                "(" if self.at > start && ty != TypeName::Unknown => {
                    let given = self.arguments();
                    let depth = deepest(&given);
                    let mut given = given.into_iter();
                    return match (given.next(), given.next()) {
                        (Some(of), None) => {
                            Expression::made(ExpressionKind::Cast(ty, Box::new(of)), span, depth)
                        }
                        // `T()` and `T(a, b)` make an object.
                        (first, second) => {
                            let given = first.into_iter().chain(second).chain(given).collect();
                            Expression::made(ExpressionKind::List(Some(ty), given), span, depth)
                        }
                    };
                }
                "{" if self.at > start && ty != TypeName::Unknown => return self.list(Some(ty)),
                _ => self.at = start,
            }
        }
        let mut name = self.text();
        self.at += 1;
        loop {
            if self.text() == "::" && self.is_name(1) {
                name = self.ahead(1);
                self.at += 2;
                continue;
            }
            if self.text() == "<"
                && let Some(end) = self.after_angles(self.at)
                && matches!(
                    self.tokens.get(end).map(|token| token.text),
                    Some("(" | "::" | "{" | ")" | "," | ";")
                ) | name.ends_with("_v")
                    | self.program.templates_of_constants.contains_key(name)
                    | (self.angles > 0 && self.tokens.get(end).is_some_and(|token| token.text == ">"))
            {
                let start = self.at;
                match self.template_arguments() {
                    Some(_) if self.text() == "::" && self.is_name(1) => continue,
                    // Of a function's name no object is made.
                    Some(given) if self.text() == "{" => {
                        return self.list(Some(TypeName::Named(name, given)));
                    }
                    Some(given) => {
                        return Expression::made(ExpressionKind::Name(name, given), span, 0);
                    }
                    None => self.at = start,
                }
            }
            break;
        }
        // `detail::Type{}`
        if self.text() == "{" && self.types.contains(&name) {
            return self.list(Some(TypeName::Named(name, Vec::new())));
        }
        // `detail::Type(a)`, where no function has the name, and `std::size_t(a)`.
        let known = if matches!(self.text(), "(" | "{") { super::types::of_word(name) } else { None };
        if let Some(ty) = known.clone().filter(|_| self.text() == "{") {
            return self.list(Some(ty));
        }
        if self.text() == "("
            && (self.types.contains(&name) || known.is_some())
            && self.program.functions.iter().all(|each| each.name != name || each.owner.is_some())
        {
            let ty = known.unwrap_or_else(|| TypeName::Named(name, Vec::new()));
            let mut given = self.arguments();
            let depth = deepest(&given);
            let kind = match given.len() {
                1 => ExpressionKind::Cast(ty, Box::new(given.remove(0))),
                _ => ExpressionKind::List(Some(ty), given),
            };
            return Expression::made(kind, span, depth);
        }
        Expression::made(ExpressionKind::Name(name, Vec::new()), span, 0)
    }

    /// `T::name`, where `T` is known as a type or has arguments of a template, and `T::name` is not known as one.
    fn scoped(&mut self) -> Option<Expression<'s>> {
        let (start, span) = (self.at, self.span());
        let found = self.scoped_within(span);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn scoped_within(&mut self, span: Span) -> Option<Expression<'s>> {
        let mut owner = self.type_of();
        if owner.is_some() && !self.accept("::") {
            return None;
        }
        let mut name = self.text();
        self.accept("typename");
        self.at += 1;
        loop {
            let mut given = Vec::new();
            // `T::kCount < n` compares.
            let end = if self.text() == "<" { self.after_angles(self.at) } else { None };
            let is_template = end.is_some();
            if let Some(end) = end {
                let start = self.at;
                let follows = self.tokens.get(end).map(|token| token.text);
                match self.template_arguments() {
                    Some(all) if matches!(follows, Some("(" | "::")) => given = all,
                    _ => self.at = start,
                }
            }
            if self.text() == "::" && (self.is_name(1) || self.ahead(1) == "template") {
                let is_type = is_template || owner.is_some() || self.types.contains(&name);
                owner = is_type.then(|| named_in(owner.take(), name, given));
                self.at += 1;
                self.accept("template");
                name = self.text();
                self.at += 1;
                continue;
            }
            // `T::U{x}` and `T::U(x)` make an object.
            let owner = owner.filter(|_| self.text() != "{")?;
            if self.types.contains(&name) && self.text() == "(" && given.is_empty() {
                return None;
            }
            let kind = ExpressionKind::Scoped { owner, name, template: given };
            return Some(Expression::made(kind, span, 0));
        }
    }

    pub(super) fn postfix(&mut self, first: Expression<'s>) -> Expression<'s> {
        let mut of = first;
        loop {
            let (span, depth) = (of.span, of.depth);
            match self.text() {
                "(" => {
                    let given = self.arguments();
                    let depth = deepest(&given).max(depth);
                    let span = self.up_to_here(span);
                    of = Expression::made(ExpressionKind::Call(Box::new(of), given), span, depth);
                }
                "[" => {
                    let end = self.after_group(self.at);
                    self.at += 1;
                    let index = self.comma();
                    if self.at + 1 != end {
                        return self.unknown();
                    }
                    self.at = end;
                    let depth = depth.max(index.depth);
                    let span = self.up_to_here(span);
                    of = Expression::made(ExpressionKind::Index(Box::new(of), Box::new(index)), span, depth);
                }
                // `a.*p` and `a->*p`: the pointer says which member.
                word @ (".*" | "->*") => {
                    self.at += 1;
                    let object = match word {
                        "->*" => Expression::made(ExpressionKind::Unary("*", Box::new(of)), span, depth),
                        _ => of,
                    };
                    let pointer = self.unary();
                    of = both(object, pointer, |object, pointer| {
                        ExpressionKind::Binary(super::MEMBER_POINTER, object, pointer)
                    });
                }
                word @ ("." | "->") => {
                    self.at += 1;
                    self.accept("template");
                    // `a.~T()`
                    if self.text() == "~" && self.is_name(1) && self.ahead(2) == "(" {
                        self.at += 2;
                        let span = self.up_to_here(span);
                        let (object, arrow) = (Box::new(of), word == "->");
                        let kind = ExpressionKind::Member { object, name: "~", arrow, template: Vec::new() };
                        of = Expression::made(kind, span, depth);
                        continue;
                    }
                    // `a.operator()<N>()`
                    if self.text() == "operator" && self.ahead(1) == "(" && self.ahead(2) == ")" {
                        self.at += 3;
                        let template = match self.text() {
                            "<" => self.template_arguments(),
                            _ => Some(Vec::new()),
                        };
                        let Some(template) = template else { return self.unknown() };
                        let span = self.up_to_here(span);
                        let (object, arrow) = (Box::new(of), word == "->");
                        let kind = ExpressionKind::Member { object, name: super::CALL, arrow, template };
                        of = Expression::made(kind, span, depth);
                        continue;
                    }
                    if !self.is_name(0) {
                        return self.unknown();
                    }
                    let name = self.text();
                    self.at += 1;
                    let mut template = Vec::new();
                    let is_call = |this: &Self| {
                        let end = this.after_angles(this.at);
                        end.and_then(|end| this.tokens.get(end)).is_some_and(|token| token.text == "(")
                    };
                    if self.text() == "<" && is_call(self) {
                        let start = self.at;
                        match self.template_arguments() {
                            Some(given) => template = given,
                            None => self.at = start,
                        }
                    }
                    let span = self.up_to_here(span);
                    let kind =
                        ExpressionKind::Member { object: Box::new(of), name, arrow: word == "->", template };
                    of = Expression::made(kind, span, depth);
                }
                word @ ("++" | "--") => {
                    self.at += 1;
                    let span = self.up_to_here(span);
                    of = Expression::made(ExpressionKind::Postfix(word, Box::new(of)), span, depth);
                }
                _ => return of,
            }
        }
    }

    fn up_to_here(&self, from: Span) -> Span {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let last = last.map_or(from, super::tokens::Token::place);
        if last.end >= from.end { from.to(last) } else { from }
    }
}

pub(super) fn deepest(given: &[Expression<'_>]) -> u32 {
    given.iter().map(|each| each.depth).max().unwrap_or(0)
}

fn both<'s>(
    left: Expression<'s>,
    right: Expression<'s>,
    kind: impl FnOnce(Box<Expression<'s>>, Box<Expression<'s>>) -> ExpressionKind<'s>,
) -> Expression<'s> {
    let (span, depth) = (left.span.to(right.span), left.depth.max(right.depth));
    Expression::made(kind(Box::new(left), Box::new(right)), span, depth)
}

/// An operator of a fold.
#[derive(Clone, Copy)]
struct FoldOperator<'s> {
    text: &'s str,
    is_double: bool,
}

impl FoldOperator<'_> {
    /// How many tokens it is.
    const fn len_of_tokens(self) -> usize {
        if self.is_double { 2 } else { 1 }
    }
}

/// The tokens of a fold.
const MAX_FOLD: usize = 200;

/// A number as C++ reads it.
fn number<'s>(text: &str) -> ExpressionKind<'s> {
    let lower = text.to_ascii_lowercase().replace('\'', "");
    let is_hexadecimal = lower.starts_with("0x");
    let is_integer = !lower.contains('.') && (is_hexadecimal || !lower.contains('e')) && !lower.contains('p');
    if !is_integer || (!is_hexadecimal && lower.ends_with('f')) {
        return ExpressionKind::Float(if lower.ends_with('f') { 32 } else { 64 });
    }
    let digits = lower.trim_end_matches(['u', 'l', 'z']);
    let suffix = &lower[digits.len()..];
    let parsed = if let Some(digits) = digits.strip_prefix("0x") {
        u64::from_str_radix(digits, 16)
    } else if let Some(digits) = digits.strip_prefix("0b") {
        u64::from_str_radix(digits, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    let Ok(value) = parsed else { return ExpressionKind::Unknown };
    let unsigned =
        suffix.contains('u') || (is_hexadecimal && value > i32::MAX as u64 && value <= u64::from(u32::MAX));
    let limit = if unsigned { u64::from(u32::MAX) } else { i32::MAX as u64 };
    let bits = if suffix.contains(['l', 'z']) || value > limit { 64 } else { 32 };
    ExpressionKind::Number { value, bits, signed: !unsigned }
}

/// Whether a token is a name or a keyword.
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}
