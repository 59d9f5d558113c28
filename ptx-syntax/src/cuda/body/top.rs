//! What stands outside functions.

use super::conditions::asked_for;
use super::tokens::Kind;
use super::types::Specifiers;
use super::{
    DEEPEST, Expression, ExpressionKind, Function, Parameter, Parser, Statement, StatementKind,
    TemplateArgument, TemplateParameter, TypeName,
};

impl<'s> Parser<'s> {
    /// Reads a file.
    pub(super) fn file(&mut self) {
        self.constants_of_functions();
        let mut template: Option<Vec<TemplateParameter<'s>>> = None;
        let mut types = None;
        while self.at < self.tokens.len() {
            let before = self.at;
            match self.text() {
                "template" => {
                    types = types.or(Some(self.types.len()));
                    // A method that is defined outside its structure has the parameters of both.
                    self.headers += 1;
                    self.outer_template = template.take().unwrap_or_default();
                    template = Some(self.template());
                    continue;
                }
                "inline" if self.ahead(1) == "namespace" => self.at += 1,
                "namespace" => {
                    while !matches!(self.text(), "{" | ";" | "=") && self.at < self.tokens.len() {
                        self.at += 1;
                    }
                    self.at += 1;
                }
                "extern" if self.tokens.get(self.at + 1).is_some_and(|next| next.kind == Kind::Text) => {
                    self.at += 2;
                    self.accept("{");
                }
                "}" | ";" => self.at += 1,
                "concept" if template.is_some() => self.concept(template.take().unwrap_or_default()),
                "typedef" if self.is_typedef_of_body() => self.typedef_of_body(),
                "using" | "typedef" => self.alias_of(template.take()),
                "struct" | "class" | "union" if self.is_definition() => {
                    self.structure(template.take().unwrap_or_default());
                }
                "struct" | "class" if template.is_some() && self.is_name(1) && self.ahead(2) == ";" => {
                    self.declared_structure(template.take().unwrap_or_default());
                }
                "enum" => {
                    self.enumeration();
                }
                "static_assert" => self.at = self.after_group(self.at + 1),
                _ => self.function_or_variable(template.take()),
            }
            // The parameters of a template are no types any more.
            if let Some(parameters) = types.take() {
                self.types.truncate(parameters);
                template = None;
                self.headers = 0;
                self.outer_template.clear();
            }
            self.types.append(&mut self.declared);
            self.at = self.at.max(before + 1);
        }
        self.launches();
    }

    /// The names after `__global__ … void`.
    pub(super) fn kernels(&self) -> Vec<&'s str> {
        let mut names = Vec::new();
        for at in 0..self.tokens.len() {
            if self.tokens[at].text != "__global__" {
                continue;
            }
            let mut near = at + 1;
            while near < self.tokens.len() && near < at + MAX_HEAD {
                let token = self.tokens[near];
                if token.is_plain() && token.text == "(" {
                    let before = self.tokens[near - 1];
                    if before.kind == Kind::Identifier && !is_attribute(before.text) {
                        names.push(before.text);
                        break;
                    }
                    near = self.after_group(near);
                    continue;
                }
                near += 1;
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Constants in functions of the host, which arguments of templates are made of.
    fn constants_of_functions(&mut self) {
        for at in 0..self.tokens.len() {
            if self.tokens[at].text != "constexpr" || self.tokens[at].kind != Kind::Identifier {
                continue;
            }
            self.at = at;
            if self.ahead(1) == "(" {
                continue;
            }
            let StatementKind::Declare(variables) = self.declaration() else { continue };
            for variable in variables.into_iter().filter(|variable| variable.value.is_some()) {
                let known = self.program.constants_of_functions.entry(variable.name);
                known.and_modify(|known| *known = None).or_insert(variable.value);
            }
        }
        self.at = 0;
    }

    /// `using A = B;`, which may be a template.
    fn alias_of(&mut self, template: Option<Vec<TemplateParameter<'s>>>) {
        let name = self.ahead(1);
        let (types, before) = (self.types.len(), self.program.aliases.len());
        self.alias();
        if let Some(template) = template {
            // The name is a type further on, and the parameters are none.
            if self.types.len() > types {
                self.declared.push(name);
            }
            let is_new = self.program.aliases.len() > before;
            let known = self.program.templates_of_aliases.insert(name, template);
            // Of two with one name nobody knows which is meant.
            if !is_new || known.is_some() {
                self.program.aliases.insert(name, TypeName::Unknown);
            }
        }
    }

    /// `using A = B;` and `typedef B A;`. Others are passed.
    pub(super) fn alias(&mut self) {
        let is_using = self.text() == "using";
        self.at += 1;
        let mut end = self.at;
        while end < self.tokens.len() && self.tokens[end].text != ";" {
            // The body of a structure without a name.
            end = if self.tokens[end].text == "{" { self.after_group(end) } else { end + 1 };
        }
        if is_using && self.is_name(0) && self.ahead(1) == "=" {
            let name = self.text();
            self.at += 2;
            if let Some(ty) = self.whole_type(end) {
                self.types.push(name);
                self.program.aliases.insert(name, ty);
            }
        } else if is_using && self.text() == "typename" {
            // `using typename Base::Name;`
            if let Some(ty @ TypeName::Scoped(_, name, _)) = self.whole_type(end) {
                self.types.push(name);
                self.program.aliases.insert(name, ty);
            }
        } else if !is_using {
            let base = self.base_type(&mut Specifiers::default());
            let (name, ty) = self.declarator(base);
            if !name.is_empty() && self.at == end {
                self.types.push(name);
                self.program.aliases.insert(name, ty);
            }
        }
        self.at = end + 1;
    }

    /// Whether a structure's body follows, and no variable or function of its type.
    pub(super) fn is_definition(&self) -> bool {
        let near = self.tokens.iter().skip(self.at).take(40);
        let first = near.map(|token| token.text).find(|text| matches!(*text, "{" | ";" | "(" | "="));
        // `alignas(128)` may stand before the name.
        first == Some("{") || (first == Some("(") && is_attribute(self.ahead(1)))
    }

    /// The names of an enumeration are constants where all have values; it is a type in any case.
    pub(super) fn enumeration(&mut self) -> Vec<(&'s str, Expression<'s>)> {
        let mut all = Vec::new();
        self.at += 1;
        while matches!(self.text(), "class" | "struct") {
            self.at += 1;
        }
        if self.is_name(0) {
            let name = self.text();
            self.types.push(name);
            self.at += 1;
            let mut of = TypeName::Integer { bits: 32, signed: true };
            // `enum A : uint8_t {…}`
            if self.accept(":")
                && let ty @ (TypeName::Integer { .. } | TypeName::Bool) =
                    self.base_type(&mut Specifiers::default())
            {
                of = ty;
            }
            self.program.aliases.insert(name, of);
        }
        while !matches!(self.text(), "{" | ";") && self.at < self.tokens.len() {
            self.at += 1;
        }
        if self.text() != "{" {
            return all;
        }
        let end = self.after_group(self.at);
        self.at += 1;
        let mut next = Some(0_u64);
        // A constant without a value counts on from the last value, here from one that is no plain number.
        let mut last: Option<(Expression<'s>, u64)> = None;
        while self.at + 1 < end && self.is_name(0) {
            let (name, span) = (self.text(), self.span());
            self.at += 1;
            let value = if self.accept("=") {
                let value = self.assignment();
                (next, last) = match value.kind {
                    ExpressionKind::Number { value, .. } => (value.checked_add(1), None),
                    _ => (None, Some((value.clone(), 0))),
                };
                Some(value)
            } else {
                let number = next;
                next = next.and_then(|number| number.checked_add(1));
                match &mut last {
                    Some((first, after)) if first.depth < DEEPEST => {
                        *after += 1;
                        let by = Box::new(self.small_number(*after, span));
                        let depth = first.depth + 1;
                        let kind = ExpressionKind::Binary("+", Box::new(first.clone()), by);
                        Some(Expression { kind, span, depth })
                    }
                    _ => number.map(|value| self.small_number(value, span)),
                }
            };
            all.extend(value.clone().map(|value| (name, value)));
            self.program.constants.entry(name).and_modify(|known| *known = None).or_insert(value);
            if !self.accept(",") {
                break;
            }
        }
        self.at = end;
        all
    }

    const fn small_number(&self, value: u64, span: crate::Span) -> Expression<'s> {
        Expression { kind: ExpressionKind::Number { value, bits: 32, signed: true }, span, depth: 1 }
    }

    fn function_or_variable(&mut self, template: Option<Vec<TemplateParameter<'s>>>) {
        let start = self.at;
        let mut template = template;
        if self.free_operator(start, &mut template)
            || self.function_of_array(None, start, template.as_deref().unwrap_or_default()).is_some()
        {
            return;
        }
        let (end, open) = self.end_of_head(start);
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        match open {
            Some(open) if is_body => self.function(start, open, end, template.unwrap_or_default()),
            Some(_) => self.at = end + 1,
            None if template.is_none() => {
                self.at = start;
                self.variable();
            }
            None if is_body && template.as_ref().is_some_and(Vec::is_empty) => {
                match self.end_of_specialized(start, end) {
                    Some(open) => self.function(start, open, end, Vec::new()),
                    None => self.at = self.after_group(end),
                }
            }
            None if !is_body && template.as_ref().is_some_and(|template| !template.is_empty()) => {
                self.at = start;
                self.constant_of_template(template.unwrap_or_default());
                if self.at <= end {
                    self.pass(end);
                }
            }
            None if is_body => self.at = self.after_group(end),
            None => self.pass(end),
        }
    }

    /// `T operator+(…) {…}` outside structures, as a function whose name is the operator's spelling. Says whether one is here.
    pub(super) fn free_operator(
        &mut self,
        start: usize,
        template: &mut Option<Vec<TemplateParameter<'s>>>,
    ) -> bool {
        let head = start..(start + MAX_HEAD).min(self.tokens.len());
        let is_end = |token: &super::tokens::Token<'_>| matches!(token.text, ";" | "{" | "(" | "=" | "}");
        // The arguments of a template may have parentheses: `Int<(a + b)> operator+(…)`.
        let mut passed = start;
        let mut head = head.filter(|&at| {
            let is_outside = at >= passed;
            if is_outside && self.tokens[at].is_plain() && self.tokens[at].text == "<" {
                passed = self.after_angles(at).unwrap_or(at + 1);
            }
            is_outside
        });
        let found = head.find(|&at| {
            let is_ended = is_end(&self.tokens[at]) && self.tokens[at].is_plain();
            is_ended || self.tokens[at].text == "operator"
        });
        let Some(keyword) = found.filter(|&at| self.tokens[at].text == "operator") else { return false };
        let is_text = |name: &&super::tokens::Token<'_>| name.kind == Kind::Text;
        let of_literals = self.tokens.get(keyword + 1).filter(is_text).is_some();
        let name = self.tokens.get(keyword + 1).filter(|name| of_literals || name.is_plain());
        let Some(name) = name else { return false };
        let (name, mut open) = (name.text, keyword + 2);
        let is_shift = name == ">" && self.tokens.get(open).is_some_and(|token| token.text == ">");
        open += usize::from(is_shift);
        let name = if is_shift { ">>" } else { name };
        // `operator""_KiB` is a function by the name of the suffix.
        let suffix = self.tokens.get(open).filter(|suffix| of_literals && suffix.kind == Kind::Identifier);
        let (name, is_suffix) = suffix.map_or((name, false), |suffix| (suffix.text, true));
        open += usize::from(is_suffix);
        let is_known = self.tokens.get(open).is_some_and(|token| token.text == "(")
            && (is_suffix || self.tokens[keyword + 1].kind == Kind::Punctuator);
        if !is_known {
            return false;
        }
        let body = self.after_group(open);
        if self.tokens.get(body).is_none_or(|token| token.text != "{") {
            return false;
        }
        self.at = start;
        let mut specifiers = Specifiers::default();
        let base = self.base_type(&mut specifiers);
        let returns = self.pointers(base);
        if self.at != keyword {
            self.at = start;
            return false;
        }
        self.program.has_operators = true;
        let place = self.tokens[keyword].place();
        let template = template.take().unwrap_or_default();
        self.named_function((name, place), (returns, specifiers), (open, body), template);
        true
    }

    /// The parenthesis after the name of a function and the arguments of its template, as in `template <> T f<T>(…)`.
    fn end_of_specialized(&self, start: usize, end: usize) -> Option<usize> {
        let is_name = |at: &usize| {
            self.tokens[*at].kind == Kind::Identifier
                && self.tokens.get(at + 1).is_some_and(|next| next.is_plain() && next.text == "<")
        };
        let opens = |at: usize| {
            let open = self.after_angles(at + 1).filter(|open| *open < end)?;
            (self.tokens[open].is_plain() && self.tokens[open].text == "(").then_some(open)
        };
        (start..end).filter(is_name).find_map(opens)
    }

    /// Where a declaration ends, at its `;` or with the body of a function, and the parenthesis before its parameters.
    pub(super) fn end_of_head(&self, start: usize) -> (usize, Option<usize>) {
        let mut end = start;
        let mut open = None;
        let mut initializes = false;
        while let Some(token) = self.tokens.get(end) {
            match token.text {
                _ if !token.is_plain() => end += 1,
                ":" if open.is_some() => {
                    initializes = true;
                    end += 1;
                }
                // `a{x}` before the body of a constructor.
                "{" if initializes && self.tokens[end - 1].kind == Kind::Identifier => {
                    let next = self.after_group(end);
                    if !self.tokens.get(next).is_some_and(|next| matches!(next.text, "," | "{")) {
                        break;
                    }
                    end = next;
                }
                ";" | "{" | "}" => break,
                "(" => {
                    let is_attribute = end > start && is_attribute(self.tokens[end - 1].text);
                    let is_name = end > start && self.tokens[end - 1].kind == Kind::Identifier;
                    if open.is_none() && is_name && !is_attribute {
                        open = Some(end);
                    }
                    end = self.after_group(end);
                }
                "[" => end = self.after_group(end),
                "=" if open.is_none() => break,
                _ => end += 1,
            }
        }
        (end, open)
    }

    /// Passes a declaration that is not read, with its initializer.
    fn pass(&mut self, from: usize) {
        self.at = from;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text {
                _ if !token.is_plain() => self.at += 1,
                ";" | "}" => break,
                "(" | "[" | "{" => self.at = self.after_group(self.at),
                _ => self.at += 1,
            }
        }
    }

    /// `template <…> constexpr int name = …;`; nobody knows which of two with one name is meant.
    fn constant_of_template(&mut self, template: Vec<TemplateParameter<'s>>) {
        let StatementKind::Declare(variables) = self.declaration() else { return };
        for variable in variables.into_iter().filter(|variable| variable.is_constant) {
            let Some(value) = variable.value else { continue };
            let all = &mut self.program.templates_of_constants;
            if all.remove(variable.name).is_none() {
                all.insert(variable.name, (template.clone(), value));
            }
        }
    }

    fn variable(&mut self) {
        let start = self.at;
        let StatementKind::Declare(variables) = self.declaration() else {
            let at = self.at;
            if at == start {
                self.pass(start);
            }
            return;
        };
        for variable in variables {
            if variable.is_constant && variable.value.is_some() {
                let value = with_type(&variable.ty, variable.value);
                let constants = &mut self.program.constants;
                constants.entry(variable.name).and_modify(|known| *known = None).or_insert(value);
            } else {
                self.program.variables.push(variable);
            }
        }
    }

    pub(super) fn function(
        &mut self,
        start: usize,
        open: usize,
        body: usize,
        template: Vec<TemplateParameter<'s>>,
    ) {
        let at = self.name_before(open);
        let name = self.tokens[at];
        if self.owner.is_none() && self.method_outside(start, (at, open), body, &template) {
            return;
        }
        // `template <> void f<2>()`
        let specialized = match (template.is_empty() && self.headers > 0, at + 1 < open) {
            (true, true) => {
                self.at = at + 1;
                Some(
                    self.template_arguments()
                        .unwrap_or_else(|| vec![TemplateArgument::Type(TypeName::Unknown)]),
                )
            }
            (true, false) if self.owner.is_none() => Some(vec![TemplateArgument::Type(TypeName::Unknown)]),
            _ => None,
        };
        self.at = start;
        let mut specifiers = Specifiers::default();
        while self.at < at && self.specifier(&mut specifiers) {}
        let is_constructor = self.at == at && self.is_constructor(name.text);
        let mut returns = TypeName::Void;
        if !is_constructor {
            let base = self.base_type(&mut specifiers);
            returns = self.pointers(base);
            while self.at < at && self.specifier(&mut specifiers) {}
        }
        // What is before the name is not understood: a method that is defined outside its structure.
        if self.at != at {
            self.at = self.after_group(body);
            return;
        }
        let functions = self.program.functions.len();
        self.named_function((name.text, name.place()), (returns, specifiers), (open, body), template);
        if let Some(function) = self.program.functions.get_mut(functions) {
            function.specialized = specialized;
        }
    }

    /// A method that is defined outside its structure, `template <int N> void Ring<N>::push(…) {…}`. Says whether one is here:
    /// it is passed where it is not understood.
    fn method_outside(
        &mut self,
        start: usize,
        (at, open): (usize, usize),
        body: usize,
        template: &[TemplateParameter<'s>],
    ) -> bool {
        let is_destructor = at > start + 1 && self.tokens[at - 1].text == "~";
        let Some(colons) = at.checked_sub(1 + usize::from(is_destructor)).filter(|colons| *colons > start)
        else {
            return false;
        };
        if self.tokens[colons].text != "::" || !self.tokens[colons].is_plain() {
            return false;
        }
        let near = colons.saturating_sub(MAX_HEAD).max(start)..colons;
        let is_owner = |owner: &usize| {
            let after = self.after_angles(owner + 1);
            self.tokens[*owner].kind == Kind::Identifier && (owner + 1 == colons || after == Some(colons))
        };
        let Some(owner) = near.rev().find(is_owner) else { return false };
        let name = self.tokens[owner].text;
        let program = &self.program;
        let Some(id) = program.structure_in(None, name).or_else(|| program.nested(name)) else {
            return false;
        };
        // What its parameters are called in the structure they are called here.
        let own = &program.structure(id).template;
        let outer: &[TemplateParameter<'s>] = if self.headers > 1 { &self.outer_template } else { template };
        let is_same = own.iter().map(|each| each.name).eq(outer.iter().map(|each| each.name));
        let is_template = !own.is_empty();
        let own_template = match (is_template, self.headers > 1) {
            (true, true) => template.to_vec(),
            (true, false) => Vec::new(),
            (false, _) => template.to_vec(),
        };
        if is_template && !is_same {
            self.at = self.after_group(body);
            return true;
        }
        self.at = start;
        let mut specifiers = Specifiers::default();
        while self.at < owner && self.specifier(&mut specifiers) {}
        let method = self.tokens[at];
        let mut returns = TypeName::Void;
        if self.at != owner {
            // The type may be one of those in the structure.
            let types = self.types.len();
            let nested: Vec<&'s str> = program_types(&self.program, id);
            self.types.extend(nested);
            let base = self.base_type(&mut specifiers);
            returns = self.pointers(base);
            self.types.truncate(types);
        }
        if self.at != owner {
            self.at = self.after_group(body);
            return true;
        }
        self.owner = Some(id);
        let types = self.types.len();
        self.types.extend(program_types(&self.program, id));
        let functions = self.program.functions.len();
        let method_name = if is_destructor { "~" } else { method.text };
        self.named_function((method_name, method.place()), (returns, specifiers), (open, body), own_template);
        self.types.truncate(types);
        self.owner = None;
        if let Some(function) = self.program.functions.get_mut(functions) {
            function.owner = Some(id);
        }
        true
    }

    /// The name of a function whose parameters begin at `open`: arguments of its template may stand between.
    pub(super) fn name_before(&self, open: usize) -> usize {
        if self.tokens[open - 1].kind == Kind::Identifier {
            return open - 1;
        }
        let near = open.saturating_sub(MAX_HEAD)..open;
        let is_name =
            |at: &usize| self.tokens[*at].kind == Kind::Identifier && self.after_angles(at + 1) == Some(open);
        near.rev().find(is_name).unwrap_or(open - 1)
    }

    /// The parameters and the body of a function.
    pub(super) fn named_function(
        &mut self,
        (name, place): (&'s str, crate::Span),
        (mut returns, specifiers): (TypeName<'s>, Specifiers<'s>),
        (open, body): (usize, usize),
        template: Vec<TemplateParameter<'s>>,
    ) {
        let is_constructor = self.is_constructor(name) && returns == TypeName::Void;
        self.at = open;
        let end = self.after_group(open);
        let (parameters, are_known) = self.parameters();
        let mut is_known = are_known;
        self.at = end;
        if self.accept("->") {
            let base = self.base_type(&mut Specifiers::default());
            returns = self.declarator(base).1;
            if self.at != body {
                returns = TypeName::Unknown;
            }
            self.at = end;
        }
        let mut statements =
            if self.accept(":") && is_constructor { self.initializers(body) } else { Vec::new() };
        is_known &= self.at == end || self.at == body;
        self.at = body;
        let owner = self.owner.take();
        let first = self.span();
        statements.extend(self.block());
        self.owner = owner;
        let last = self.tokens.get(self.at.saturating_sub(1)).map_or(first, super::tokens::Token::place);
        if !is_known && !specifiers.is_kernel {
            return;
        }
        let mut conditions: Vec<_> = template.iter().flat_map(|each| each.conditions.clone()).collect();
        asked_for(&returns, place, &mut conditions);
        parameters.iter().for_each(|each| asked_for(&each.ty, place, &mut conditions));
        // Of a kernel it is known at least that it is not understood.
        let (parameters, statements) = match is_known {
            true => (parameters, statements),
            false => (Vec::new(), vec![Statement { kind: StatementKind::Unknown, span: place }]),
        };
        self.program.functions.push(Function {
            name,
            owner: None,
            span: place,
            is_kernel: specifiers.is_kernel,
            is_device: specifiers.is_device,
            template,
            specialized: None,
            conditions,
            captures: Vec::new(),
            is_mutable: false,
            copies: Vec::new(),
            mentions: Vec::new(),
            returns,
            parameters,
            launch_bounds: specifiers.launch_bounds,
            max_registers: specifiers.max_registers,
            cluster: specifiers.cluster,
            extent: if last.end >= first.start { first.to(last) } else { first },
            body: statements,
        });
    }
}

impl<'s> Parser<'s> {
    /// The parameters of a function, parentheses included, and whether all are understood.
    pub(super) fn parameters(&mut self) -> (Vec<Parameter<'s>>, bool) {
        let end = self.after_group(self.at);
        self.at += 1;
        let mut parameters = Vec::new();
        while self.at + 1 < end {
            let start = self.at;
            let base = self.base_type(&mut Specifiers::default());
            let base = self.pointers(base);
            let is_pack = self.accept("...");
            let (name, ty) = self.declarator(base);
            let (is_read_only, is_constant) = (self.is_read_only(start), self.is_constant(start));
            let default = self.accept("=").then(|| match self.text() {
                "{" => self.list(None),
                _ => self.assignment(),
            });
            parameters.push(Parameter { name, ty: decayed(ty), default, is_pack, is_read_only, is_constant });
            if !self.accept(",") {
                break;
            }
        }
        let is_empty = parameters.len() == 1 && parameters[0].ty == TypeName::Void;
        let are_known = self.at + 1 == end || is_empty;
        if is_empty {
            parameters.clear();
        }
        self.at = end;
        (parameters, are_known)
    }

    /// Whether the declaration from a token up to here is of a pointer to a constant: one star, and `const` before it.
    fn is_constant(&self, start: usize) -> bool {
        let words =
            || self.tokens[start..self.at].iter().filter(|token| token.is_plain()).map(|token| token.text);
        words().take_while(|word| *word != "*").any(|word| word == "const")
            && words().filter(|word| *word == "*").count() == 1
    }

    /// Whether the declaration from a token up to here is of a pointer to what nobody writes: one star, `const` before it, and
    /// `__restrict__` after it.
    fn is_read_only(&self, start: usize) -> bool {
        let words =
            || self.tokens[start..self.at].iter().filter(|token| token.is_plain()).map(|token| token.text);
        let mut after = words().skip_while(|word| *word != "*").skip(1);
        self.is_constant(start)
            && after.any(|word| matches!(word, "__restrict__" | "__restrict" | "restrict"))
    }

    /// `a(x), b{y}` before the body of a constructor, as assignments.
    fn initializers(&mut self, body: usize) -> Vec<Statement<'s>> {
        let mut all = Vec::new();
        while self.at < body && self.is_name(0) {
            let (name, span) = (self.text(), self.span());
            self.at += 1;
            // Of a base the arguments of its template are known.
            if self.text() == "<" {
                match self.after_angles(self.at) {
                    Some(end) => self.at = end,
                    None => break,
                }
            }
            if !matches!(self.text(), "(" | "{") {
                break;
            }
            let mut given = if self.text() == "{" { vec![self.list(None)] } else { self.arguments() };
            let to = Expression { kind: ExpressionKind::Name(name, Vec::new()), span, depth: 1 };
            // Several values are what a constructor gets.
            let from = match (given.pop(), given.is_empty()) {
                (Some(only), true) => only,
                (Some(last), false) => {
                    given.push(last);
                    Self::list_of(given, span)
                }
                (None, _) => Self::list_of(given, span),
            };
            let depth = from.depth + 1;
            let kind = ExpressionKind::Assign("()", Box::new(to), Box::new(from));
            let kind = StatementKind::Expression(Expression { kind, span, depth });
            all.push(Statement { kind, span });
            if !self.accept(",") {
                break;
            }
        }
        all
    }
}

/// What a constant begins with; a list of what is no number has the type of the constant.
pub(super) fn with_type<'s>(ty: &TypeName<'s>, value: Option<Expression<'s>>) -> Option<Expression<'s>> {
    fn is_object(ty: &TypeName<'_>, is_element: bool) -> bool {
        match ty {
            TypeName::Named(..) | TypeName::Scoped(..) => true,
            TypeName::Array(of, _) => is_element || is_object(of, true),
            _ => false,
        }
    }
    let value = value?;
    match &value.kind {
        ExpressionKind::List(None, parts) if is_object(ty, false) => {
            let kind = ExpressionKind::List(Some(ty.clone()), parts.clone());
            Some(value.with(kind))
        }
        _ => Some(value),
    }
}

/// The names of the types in a structure.
fn program_types<'s>(program: &super::Program<'s>, id: super::StructureId) -> Vec<&'s str> {
    let mut all: Vec<&'s str> = program.structure(id).aliases.iter().map(|(name, _)| *name).collect();
    all.extend(program.structures.iter().filter(|each| each.outer == Some(id)).map(|each| each.name));
    all.extend(program.structure(id).template.iter().filter(|each| each.is_type).map(|each| each.name));
    all.push(program.structure(id).name);
    all
}

/// A kernel's name is not farther from its `__global__`.
pub(super) const MAX_HEAD: usize = 100;

/// In the configuration of a launch `>>` ends.
pub(super) const ABOVE_SHIFT: u8 = 8;

/// An array as a parameter is a pointer.
fn decayed(ty: TypeName<'_>) -> TypeName<'_> {
    match ty {
        TypeName::Array(of, _) => TypeName::Pointer(of),
        other => other,
    }
}

fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "__launch_bounds__"
            | "__cluster_dims__"
            | "__attribute__"
            | "__attribute"
            | "__declspec"
            | "__maxnreg__"
            | "__block_size__"
            | "alignas"
            | "__align__"
            | "noexcept"
            | "decltype"
    )
}
