//! Statements.

use super::tokens::Kind;
use super::types::Specifiers;
use super::{DEEPEST, ExpressionKind, Parser, Statement, StatementKind, TypeName, Variable};
use crate::Span;

impl<'s> Parser<'s> {
    /// The statements up to the brace that closes the block, which is passed. The one that opens it is passed.
    pub(super) fn block(&mut self) -> Vec<Statement<'s>> {
        let end = self.after_group(self.at);
        self.at += 1;
        let types = self.types.len();
        let mut all = Vec::new();
        while self.at + 1 < end {
            let before = self.at;
            all.push(self.statement());
            // Nothing stands still.
            self.at = self.at.max(before + 1);
        }
        self.types.truncate(types);
        self.at = end;
        all
    }

    pub(super) fn statement(&mut self) -> Statement<'s> {
        let span = self.span();
        self.depth += 1;
        let kind = match self.depth > DEEPEST {
            true => self.unknown_statement(),
            false => self.statement_within(),
        };
        self.depth -= 1;
        let last = self.at.checked_sub(1).and_then(|last| self.tokens.get(last));
        let end = last.filter(|_| matches!(kind, StatementKind::Block(_))).map_or(span, |last| last.span);
        Statement { kind, span: Span::new(span.start, span.end.max(end.end)) }
    }

    /// Passes what is not known, up to its `;` or the end of its block.
    fn unknown_statement(&mut self) -> StatementKind<'s> {
        while let Some(token) = self.tokens.get(self.at) {
            match token.text {
                _ if !token.is_plain() => self.at += 1,
                ";" => {
                    self.at += 1;
                    break;
                }
                "}" => break,
                "{" => {
                    self.at = self.after_group(self.at);
                    if !matches!(self.text(), ";" | "," | ")" | "(") {
                        break;
                    }
                }
                "(" | "[" => self.at = self.after_group(self.at),
                _ => self.at += 1,
            }
        }
        StatementKind::Unknown
    }

    fn statement_within(&mut self) -> StatementKind<'s> {
        // `[[likely]]` and its kin.
        while self.text() == "[" && self.ahead(1) == "[" {
            self.at = self.after_group(self.at);
        }
        match self.text() {
            "{" => return StatementKind::Block(self.block()),
            ";" => {
                self.at += 1;
                return StatementKind::Nothing;
            }
            "if" => return self.choice(),
            "for" => return self.for_loop(),
            "while" => return self.while_loop(),
            "do" => return self.do_loop(),
            "return" => {
                self.at += 1;
                let value = match self.text() {
                    ";" => None,
                    "{" => Some(self.list(None)),
                    _ => Some(self.comma()),
                };
                return self.ended(StatementKind::Return(value));
            }
            "break" | "continue" => {
                let is_break = self.text() == "break";
                self.at += 1;
                return self.ended(if is_break { StatementKind::Break } else { StatementKind::Continue });
            }
            "static_assert" => {
                self.at = self.after_group(self.at + 1);
                return self.ended(StatementKind::Nothing);
            }
            "typedef" if self.is_typedef_of_body() => {
                let (depth, owner) = (self.depth, self.owner.take());
                self.depth += 1;
                self.typedef_of_body();
                (self.depth, self.owner) = (depth, owner);
                return StatementKind::Nothing;
            }
            "using" | "typedef" => {
                let types = self.types.len();
                self.alias();
                // Another function may have another type by this name.
                let name = self.types.get(types).copied();
                let known = name.and_then(|name| Some((name, self.program.aliases.get(name)?.clone())));
                return known.map_or(StatementKind::Nothing, |(name, ty)| StatementKind::Alias(name, ty));
            }
            "switch" => return self.switch(),
            "goto" if self.is_name(1) => {
                let label = self.ahead(1);
                self.at += 2;
                return self.ended(StatementKind::Goto(label));
            }
            "struct" | "class" | "union" if self.is_name(1) && self.is_definition() => {
                let end = self.tokens.iter().skip(self.at).position(|token| token.text == "{");
                let after = self.after_group(self.at + end.unwrap_or(0));
                // `struct A { … } a;`
                let is_type = self.tokens.get(after).is_some_and(|next| next.text == ";");
                return if is_type { self.local_structure() } else { self.declaration() };
            }
            "struct" | "class" | "union" if self.ahead(1) == "{" => return self.declaration(),
            "enum" => {
                self.enumeration();
                self.types.append(&mut self.declared);
                return self.ended(StatementKind::Nothing);
            }
            "struct" | "class" | "union" if self.is_name(1) && self.is_name(2) => return self.declaration(),
            // The last name counts: `namespace a = b::c;`
            "namespace" if self.is_name(1) && self.ahead(2) == "=" => {
                while !matches!(self.text(), ";" | "}") && self.at < self.tokens.len() {
                    self.at += 1;
                }
                return self.ended(StatementKind::Nothing);
            }
            "goto" | "try" | "case" | "default" | "struct" | "class" | "union" | "namespace" => {
                return self.unknown_statement();
            }
            "_Pragma" => {
                self.at = self.after_group(self.at + 1);
                return StatementKind::Nothing;
            }
            _ => {}
        }
        if let Some(kind) = self.asm() {
            return kind;
        }
        if self.is_name(0) && self.ahead(1) == ":" {
            let label = self.text();
            self.at += 2;
            return StatementKind::Label(label);
        }
        if let Some(kind) = self.structured() {
            return kind;
        }
        if self.is_declaration() {
            return self.declaration();
        }
        let start = self.at;
        let value = self.comma();
        if self.text() != ";" {
            self.at = start;
            return self.unknown_statement();
        }
        self.ended(StatementKind::Expression(value))
    }

    fn ended(&mut self, kind: StatementKind<'s>) -> StatementKind<'s> {
        if self.accept(";") { kind } else { self.unknown_statement() }
    }

    fn condition(&mut self) -> Option<super::Expression<'s>> {
        if self.text() != "(" {
            return None;
        }
        let end = self.after_group(self.at);
        self.at += 1;
        let condition = self.comma();
        let is_whole = self.at + 1 == end;
        self.at = end;
        is_whole.then_some(condition)
    }

    /// A structure that a function declares.
    fn local_structure(&mut self) -> StatementKind<'s> {
        let (depth, declared) = (self.depth, std::mem::take(&mut self.declared));
        self.depth += 1;
        let owner = self.owner.take();
        self.structure(Vec::new());
        self.owner = owner;
        self.depth = depth;
        self.types.append(&mut self.declared);
        self.declared = declared;
        self.ended(StatementKind::Nothing)
    }

    /// What comes before the condition of `if` and `switch`: `(T a = b; c)` and `(T a = b)`. The second declares what is the
    /// condition itself.
    fn first_of_condition(&mut self) -> Option<(Statement<'s>, Option<super::Expression<'s>>)> {
        if self.text() != "(" {
            return None;
        }
        let (start, end) = (self.at, self.after_group(self.at));
        let has_first = (start..end).any(|at| self.tokens[at].is_plain() && self.tokens[at].text == ";");
        self.at += 1;
        if has_first {
            let first = self.statement();
            // What follows is read as if it stood in parentheses of its own.
            let condition = self.comma();
            let is_whole = self.at + 1 == end;
            self.at = end;
            let unknown = super::Expression { kind: ExpressionKind::Unknown, span: first.span, depth: 1 };
            return Some((first, Some(if is_whole { condition } else { unknown })));
        }
        if self.is_declaration() {
            let span = self.span();
            let mut specifiers = Specifiers::default();
            let base = self.base_type(&mut specifiers);
            let (name, ty) = self.declarator(base);
            if !name.is_empty() && self.accept("=") {
                let value = self.assignment();
                if self.at + 1 == end {
                    self.at = end;
                    let variable = Variable {
                        name,
                        ty,
                        is_shared: false,
                        is_device: false,
                        is_in_constant_memory: false,
                        is_constant: specifiers.is_constant,
                        is_static: false,
                        align: None,
                        value: Some(value),
                    };
                    let kind = StatementKind::Declare(vec![variable]);
                    let named = ExpressionKind::Name(name, Vec::new());
                    let condition = super::Expression { kind: named, span, depth: 1 };
                    return Some((Statement { kind, span }, Some(condition)));
                }
            }
        }
        self.at = start;
        None
    }

    /// A statement after one that declares what it sees.
    fn after_first(first: Option<Statement<'s>>, kind: StatementKind<'s>) -> StatementKind<'s> {
        match first {
            None => kind,
            Some(first) => {
                let span = first.span;
                StatementKind::Block(vec![first, Statement { kind, span }])
            }
        }
    }

    fn choice(&mut self) -> StatementKind<'s> {
        self.at += 1;
        self.accept("constexpr");
        let (first, condition) = match self.first_of_condition() {
            Some((first, condition)) => (Some(first), condition),
            None => (None, self.condition()),
        };
        let then = Box::new(self.statement());
        let otherwise = self.accept("else").then(|| Box::new(self.statement()));
        match condition {
            Some(condition) => Self::after_first(first, StatementKind::If { condition, then, otherwise }),
            None => StatementKind::Unknown,
        }
    }

    fn switch(&mut self) -> StatementKind<'s> {
        self.at += 1;
        let (first, value) = match self.first_of_condition() {
            Some((first, value)) => (Some(first), value),
            None => (None, self.condition()),
        };
        let (Some(value), "{") = (value, self.text()) else { return self.unknown_statement() };
        let end = self.after_group(self.at);
        self.at += 1;
        let mut parts: Vec<(Vec<Option<super::Expression<'s>>>, Vec<Statement<'s>>)> = Vec::new();
        let mut is_known = true;
        while self.at + 1 < end {
            let before = self.at;
            let label = match self.text() {
                "default" => {
                    self.at += 1;
                    Some(None)
                }
                "case" => {
                    self.at += 1;
                    // The `:` after it belongs to no choice.
                    Some(Some(self.binary(0)))
                }
                _ => None,
            };
            match label {
                Some(label) => {
                    is_known &= self.accept(":");
                    match parts.last_mut().filter(|(_, statements)| statements.is_empty()) {
                        Some((labels, _)) => labels.push(label),
                        None => parts.push((vec![label], Vec::new())),
                    }
                }
                None => {
                    let statement = self.statement();
                    match parts.last_mut() {
                        Some((_, statements)) => statements.push(statement),
                        None => is_known = false,
                    }
                }
            }
            self.at = self.at.max(before + 1);
        }
        self.at = end;
        match is_known {
            true => Self::after_first(first, StatementKind::Switch(value, parts)),
            false => StatementKind::Unknown,
        }
    }

    fn for_loop(&mut self) -> StatementKind<'s> {
        self.at += 1;
        if self.text() != "(" {
            return self.unknown_statement();
        }
        let end = self.after_group(self.at);
        self.at += 1;
        if let Some(variable) = self.each_variable() {
            let of = self.comma();
            let is_known = self.at + 1 == end;
            self.at = end;
            let body = Box::new(self.statement());
            return if is_known { StatementKind::Each(variable, of, body) } else { StatementKind::Unknown };
        }
        let first = if self.accept(";") { None } else { Some(Box::new(self.statement())) };
        let condition = if self.text() == ";" { None } else { Some(self.comma()) };
        let mut is_known = self.accept(";");
        let step = if self.at + 1 == end { None } else { Some(self.comma()) };
        is_known &= self.at + 1 == end;
        self.at = end;
        let body = Box::new(self.statement());
        match is_known {
            true => StatementKind::Loop { first, condition, step, body },
            false => StatementKind::Unknown,
        }
    }

    /// The variable of a loop over all elements of something, with the `:` after it, if that is what begins here.
    fn each_variable(&mut self) -> Option<Variable<'s>> {
        if !self.is_name(0) {
            return None;
        }
        let start = self.at;
        let mut specifiers = Specifiers::default();
        let base = self.base_type(&mut specifiers);
        let (name, ty) = self.declarator(base);
        if name.is_empty() || !self.accept(":") {
            self.at = start;
            return None;
        }
        let (is_constant, align) = (specifiers.is_constant, None);
        Some(Variable {
            name,
            ty,
            is_shared: false,
            is_device: false,
            is_in_constant_memory: false,
            is_constant,
            is_static: false,
            align,
            value: None,
        })
    }

    fn while_loop(&mut self) -> StatementKind<'s> {
        self.at += 1;
        if let Some((first, Some(condition))) = self.first_of_condition() {
            // `while (T a = b)` declares it in each turn.
            let span = first.span;
            let then = Box::new(self.statement());
            let otherwise = Some(Box::new(Statement { kind: StatementKind::Break, span }));
            let whole = then.span;
            let asked = Statement { kind: StatementKind::If { condition, then, otherwise }, span };
            let body = Box::new(Statement { kind: StatementKind::Block(vec![first, asked]), span: whole });
            return StatementKind::Loop { first: None, condition: None, step: None, body };
        }
        let condition = self.condition();
        let body = Box::new(self.statement());
        match condition {
            Some(condition) => {
                StatementKind::Loop { first: None, condition: Some(condition), step: None, body }
            }
            None => StatementKind::Unknown,
        }
    }

    fn do_loop(&mut self) -> StatementKind<'s> {
        self.at += 1;
        let body = Box::new(self.statement());
        if !self.accept("while") {
            return self.unknown_statement();
        }
        match self.condition() {
            Some(condition) => self.ended(StatementKind::DoWhile(body, condition)),
            None => self.unknown_statement(),
        }
    }

    /// `auto [a, b] = c;`
    fn structured(&mut self) -> Option<StatementKind<'s>> {
        let start = self.at;
        self.accept("const");
        if !self.accept("auto") {
            self.at = start;
            return None;
        }
        while matches!(self.text(), "const" | "&" | "&&") {
            self.at += 1;
        }
        if self.text() != "[" {
            self.at = start;
            return None;
        }
        let end = self.after_group(self.at);
        self.at += 1;
        let mut names = Vec::new();
        while self.is_name(0) {
            names.push(self.text());
            self.at += 1;
            if !self.accept(",") {
                break;
            }
        }
        let is_whole = self.at + 1 == end;
        self.at = end;
        if !is_whole || !self.accept("=") {
            return Some(self.unknown_statement());
        }
        let value = self.assignment();
        Some(self.ended(StatementKind::Bind(names, value)))
    }

    /// Whether a declaration begins here: a type, and then a name.
    fn is_declaration(&mut self) -> bool {
        if !self.is_name(0) || matches!(self.text(), "not" | "delete" | "new" | "throw") {
            return false;
        }
        let start = self.at;
        let is_type = self.begins_type();
        let ty = self.base_type(&mut Specifiers::default());
        let past = self.at;
        // `f(&x);` calls a function where nothing says that `f` is a type.
        let is_call = !is_type && self.text() == "(";
        let (name, _) = self.declarator(TypeName::Void);
        let follows = self.text();
        let is_declared = !name.is_empty() && past > start && matches!(follows, "=" | ";" | "," | "{" | "(");
        self.at = start;
        // `a * b;` and `a & b;` are no declarations where nothing says that `a` is a type.
        let is_product = matches!(self.ahead(1), "*" | "&" | "&&") && !self.begins_type();
        // `f(x)` with a name before it: `T name(value)`.
        is_declared && !is_call && !(is_product && ty != TypeName::Auto)
    }

    pub(super) fn declaration(&mut self) -> StatementKind<'s> {
        let mut specifiers = Specifiers::default();
        let base = self.base_type(&mut specifiers);
        let mut all = Vec::new();
        loop {
            let (name, mut ty) = self.declarator(base.clone());
            // A bit field without a name leaves bits free.
            if name.is_empty() && !(self.text() == ":" && self.owner.is_some()) {
                return self.unknown_statement();
            }
            if self.text() == ":"
                && let Some(Ok(bits)) = self.tokens.get(self.at + 1).map(|bits| bits.text.parse())
            {
                ty = TypeName::Bits(Box::new(ty), bits);
                self.at += 2;
            }
            let value = match self.text() {
                "=" => {
                    self.at += 1;
                    Some(if self.text() == "{" { self.list(None) } else { self.assignment() })
                }
                "{" => Some(self.list(None)),
                // One value, or what a constructor gets.
                "(" => {
                    let span = self.span();
                    let mut given = self.arguments();
                    match (given.pop(), given.is_empty()) {
                        (Some(value), true) => Some(value),
                        (Some(last), false) => {
                            given.push(last);
                            Some(Self::list_of(given, span))
                        }
                        (None, _) => {
                            ty = TypeName::Unknown;
                            None
                        }
                    }
                }
                _ => None,
            };
            all.push(Variable {
                name,
                ty,
                is_shared: specifiers.is_shared,
                is_device: specifiers.is_device && !specifiers.is_shared && !specifiers.is_in_constant_memory,
                is_in_constant_memory: specifiers.is_in_constant_memory,
                is_constant: specifiers.is_constant,
                is_static: specifiers.is_static,
                align: specifiers.align.clone(),
                value,
            });
            if !self.accept(",") {
                break;
            }
        }
        self.ended(StatementKind::Declare(all))
    }

    /// An asm statement, if one begins here. One that is not known is passed as unknown.
    fn asm(&mut self) -> Option<StatementKind<'s>> {
        let keyword = self.tokens.get(self.at).filter(|token| token.kind == Kind::Identifier)?;
        let used_at = keyword.used_at.map(|call| call.start);
        let is_keyword = matches!(keyword.text, "asm" | "__asm__" | "__asm");
        // The name of a macro that stands for the keyword is that of the statement.
        let by_name = || used_at.filter(|_| is_keyword).and_then(|at| self.asm.get(&(at, None)));
        let id = self.asm.get(&(keyword.span.start, used_at)).or_else(by_name).copied();
        if id.is_none() && !is_keyword {
            return None;
        }
        let Some(id) = id else { return Some(self.unknown_statement()) };
        self.at += 1;
        while matches!(self.text(), "volatile" | "__volatile__" | "inline" | "goto" | "__inline__") {
            self.at += 1;
        }
        if self.text() != "(" {
            return Some(self.unknown_statement());
        }
        let end = self.after_group(self.at);
        let mut operands = Vec::new();
        // Templates hold no parentheses outside strings; each parenthesis is an operand, up to the clobbers.
        let (mut sections, mut is_known) = (0, true);
        self.at += 1;
        while self.at + 1 < end {
            let colons = match self.text() {
                ":" => 1,
                "::" => 2,
                "(" if sections == 1 || sections == 2 => {
                    let close = self.after_group(self.at);
                    self.at += 1;
                    let value = self.comma();
                    is_known &= self.at + 1 == close && !matches!(value.kind, ExpressionKind::Unknown);
                    self.at = close;
                    operands.push(value);
                    continue;
                }
                "(" => {
                    self.at = self.after_group(self.at);
                    continue;
                }
                _ => 0,
            };
            sections += colons;
            self.at += 1;
        }
        self.at = end;
        let kind = if is_known { StatementKind::Asm(id, operands) } else { StatementKind::Unknown };
        Some(self.ended(kind))
    }
}
