//! What stands outside functions.

use super::tokens::Kind;
use super::types::Specifiers;
use super::{
    Expression, ExpressionKind, Function, Launch, Member, Parameter, Parser, Statement, StatementKind,
    Structure, TemplateArgument, TemplateParameter, TypeName, Variable,
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
                    types = Some(self.types.len());
                    template = Some(self.template());
                    continue;
                }
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
                "using" | "typedef" => self.alias(),
                "struct" | "class" | "union" if self.is_definition() => {
                    self.structure(template.take().unwrap_or_default());
                }
                "enum" => self.enumeration(),
                "static_assert" => self.at = self.after_group(self.at + 1),
                _ => self.function_or_variable(template.take()),
            }
            // The parameters of a template are no types any more.
            if let Some(parameters) = types.take() {
                self.types.truncate(parameters);
                template = None;
            }
            self.types.append(&mut self.declared);
            self.at = self.at.max(before + 1);
        }
        self.launches();
    }

    /// Finds launches, `name<…><<<…, threads…>>>`, and other uses of templates of functions, `name<…>`.
    fn launches(&mut self) {
        let of_template = self.program.functions.iter().filter(|function| !function.template.is_empty());
        let mut names: Vec<&'s str> = of_template.map(|function| function.name).collect();
        names.extend(self.kernels());
        names.sort_unstable();
        names.dedup();
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.kind != Kind::Identifier || names.binary_search(&token.text).is_err() {
                continue;
            }
            self.at = at + 1;
            let is_launch = |this: &Self| this.text() == "<<" && this.ahead(1) == "<";
            let template = if is_launch(self) { Some(Vec::new()) } else { self.template_arguments() };
            let Some(template) = template else { continue };
            let mut threads = None;
            if is_launch(self) {
                self.at += 2;
                // The grid.
                self.binary(ABOVE_SHIFT);
                threads = self.accept(",").then(|| self.binary(ABOVE_SHIFT));
            } else if template.is_empty() {
                continue;
            }
            self.program.launches.push(Launch { name: token.text, span: token.place(), template, threads });
        }
        self.at = 0;
    }

    /// The names after `__global__ … void`.
    fn kernels(&self) -> Vec<&'s str> {
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

    fn template(&mut self) -> Vec<TemplateParameter<'s>> {
        self.at += 1;
        let Some(end) = self.after_parameters(self.at).filter(|_| self.text() == "<") else {
            return Vec::new();
        };
        self.at += 1;
        let mut parameters = Vec::new();
        while self.at + 1 < end {
            let is_type = matches!(self.text(), "typename" | "class");
            if is_type {
                self.at += 1;
            } else {
                self.base_type(&mut Specifiers::default());
            }
            self.accept("...");
            let mut name = "";
            if self.is_name(0) {
                name = self.text();
                self.at += 1;
            }
            if is_type && !name.is_empty() {
                self.types.push(name);
            }
            let mut default = None;
            if self.accept("=") {
                let to = self.end_of_argument(end);
                default = match self.whole_type(to) {
                    Some(ty) if is_type => Some(TemplateArgument::Type(ty)),
                    _ => Some(TemplateArgument::Value(self.binary(ABOVE_SHIFT))),
                };
                self.at = to;
            }
            parameters.push(TemplateParameter { name, is_type, default });
            if !self.accept(",") {
                break;
            }
        }
        self.at = end;
        parameters
    }

    fn end_of_argument(&self, end: usize) -> usize {
        let mut at = self.at;
        while at + 1 < end && !(self.tokens[at].is_plain() && self.tokens[at].text == ",") {
            at = match self.tokens[at].text {
                "(" | "[" | "{" if self.tokens[at].is_plain() => self.after_group(at),
                _ => at + 1,
            };
        }
        at.min(end.saturating_sub(1))
    }

    /// `using A = B;` and `typedef B A;`. Others are passed.
    pub(super) fn alias(&mut self) {
        let is_using = self.text() == "using";
        self.at += 1;
        let mut end = self.at;
        while end < self.tokens.len() && self.tokens[end].text != ";" {
            end += 1;
        }
        if is_using && self.is_name(0) && self.ahead(1) == "=" {
            let name = self.text();
            self.at += 2;
            if let Some(ty) = self.whole_type(end) {
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
    fn is_definition(&self) -> bool {
        let near = self.tokens.iter().skip(self.at).take(40);
        let first = near.map(|token| token.text).find(|text| matches!(*text, "{" | ";" | "("));
        // `alignas(128)` may stand before the name.
        first == Some("{") || (first == Some("(") && matches!(self.ahead(1), "alignas" | "__align__"))
    }

    fn structure(&mut self, template: Vec<TemplateParameter<'s>>) {
        self.at += 1;
        let mut specifiers = Specifiers::default();
        while self.specifier(&mut specifiers) {}
        let name = if self.is_name(0) { self.text() } else { "" };
        self.at += usize::from(!name.is_empty());
        self.accept("final");
        if self.text() == "<" {
            // Who asks for the template may mean this.
            self.program.specialized.push(name);
        }
        let bases = if self.accept(":") { self.bases() } else { Some(Vec::new()) };
        let is_plain = self.text() == "{" && bases.is_some();
        while !matches!(self.text(), "{" | ";") && self.at < self.tokens.len() {
            self.at += 1;
        }
        if self.text() != "{" {
            return;
        }
        let end = self.after_group(self.at);
        self.at += 1;
        let mut is_known = is_plain && !name.is_empty();
        let mut parts = Parts::default();
        let owner = self.owner.replace(name);
        let types = self.types.len();
        self.types.push(name);
        while is_known && self.at + 1 < end {
            let before = self.at;
            is_known = self.member(name, &mut parts);
            self.at = self.at.max(before + 1);
        }
        self.types.truncate(types);
        self.declared.append(&mut parts.types);
        self.owner = owner;
        is_known &= self.at < end;
        self.at = end;
        if !name.is_empty() {
            self.declared.push(name);
        }
        if is_known && !name.is_empty() {
            let Parts { members, constants, aliases, .. } = parts;
            let bases = bases.unwrap_or_default();
            let align = specifiers.align;
            let made = Structure { bases, constants, aliases, template, members, align };
            // Of two with one name nobody knows which is meant.
            if self.program.structures.insert(name, made).is_some() {
                self.program.specialized.push(name);
            }
        }
    }

    /// What a structure is derived of, up to its `{`; none where that is not understood.
    fn bases(&mut self) -> Option<Vec<TypeName<'s>>> {
        let mut all = Vec::new();
        loop {
            while matches!(self.text(), "public" | "private" | "protected") {
                self.at += 1;
            }
            if self.text() == "virtual" || !self.is_name(0) {
                return None;
            }
            all.push(self.base_type(&mut Specifiers::default()));
            if !self.accept(",") {
                return (self.text() == "{").then_some(all);
            }
        }
    }

    /// A member of a structure: variables or a method. Says whether it is understood.
    fn member(&mut self, owner: &'s str, parts: &mut Parts<'s>) -> bool {
        match self.text() {
            "public" | "private" | "protected" => {
                self.at += 1;
                return self.accept(":");
            }
            ";" => {
                self.at += 1;
                return true;
            }
            "using" | "typedef" => {
                let name = self.ahead(1);
                self.alias();
                if let Some(ty) = self.program.aliases.get(name) {
                    parts.aliases.push((name, ty.clone()));
                    parts.types.push(name);
                }
                return true;
            }
            "static_assert" => {
                self.at = self.after_group(self.at + 1);
                return true;
            }
            "template" => {
                let types = self.types.len();
                let template = self.template();
                let is_known = self.text() != "template" && self.member_of_template(owner, template);
                self.types.truncate(types);
                return is_known;
            }
            "struct" | "class" if self.is_definition() => {
                let depth = self.depth;
                self.depth += 1;
                if self.depth > MAX_NESTED {
                    return false;
                }
                let mut outer = std::mem::take(&mut self.declared);
                self.structure(Vec::new());
                self.types.extend(&self.declared);
                parts.types.append(&mut self.declared);
                self.declared = std::mem::take(&mut outer);
                self.depth = depth;
                return self.text() == ";";
            }
            "enum" => {
                self.enumeration();
                return true;
            }
            "friend" => {
                let (end, _) = self.end_of_head(self.at);
                self.at = end + 1;
                return self.tokens.get(end).is_some_and(|token| token.text == ";");
            }
            "struct" | "class" | "union" | "virtual" | "~" => return false,
            _ => {}
        }
        let start = self.at;
        if let Some(known) = self.operator(owner, start) {
            return known;
        }
        let (end, open) = self.end_of_head(start);
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        if let Some(open) = open {
            if !is_body && self.tokens.get(end).is_some_and(|token| token.text == ";") {
                // It is defined elsewhere, or does what nobody sees, or is not called.
                let is_destructor = (start..open).any(|at| self.tokens[at].text == "~");
                self.at = end + 1;
                return !is_destructor;
            }
            return is_body && self.method(owner, start, open, end, Vec::new());
        }
        let StatementKind::Declare(variables) = self.declaration() else { return false };
        for Variable { name, ty, align, value, is_static, is_constant, .. } in variables {
            match (is_static, value) {
                (true, Some(value)) if is_constant => {
                    parts.constants.push((name, value.clone()));
                    let known = self.program.constants_of_functions.entry(name);
                    known.and_modify(|known| *known = None).or_insert(Some(value));
                }
                (true, _) => return false,
                (false, value) => parts.members.push(Member { name, ty, align, value }),
            }
        }
        true
    }

    /// A method or a constructor with its body.
    fn method(
        &mut self,
        owner: &'s str,
        start: usize,
        open: usize,
        end: usize,
        template: Vec<TemplateParameter<'s>>,
    ) -> bool {
        if (start..open).any(|at| self.tokens[at].text == "~") {
            return false;
        }
        let functions = self.program.functions.len();
        self.function(start, open, end, template);
        let Some(function) = self.program.functions.get_mut(functions) else { return false };
        function.owner = Some(owner);
        true
    }

    /// A method that is a template.
    fn member_of_template(&mut self, owner: &'s str, template: Vec<TemplateParameter<'s>>) -> bool {
        let start = self.at;
        if matches!(self.text(), "struct" | "class" | "using" | "friend") {
            return false;
        }
        if let Some(known) = self.operator(owner, start) {
            return known;
        }
        let (end, open) = self.end_of_head(start);
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        match open {
            Some(open) if is_body => self.method(owner, start, open, end, template),
            Some(_) if self.tokens.get(end).is_some_and(|token| token.text == ";") => {
                self.at = end + 1;
                true
            }
            _ => false,
        }
    }

    /// An operator that is a method, as one with its spelling as a name; none where a member is no operator. Those that are
    /// not followed have no body: who needs one is not understood.
    fn operator(&mut self, owner: &'s str, start: usize) -> Option<bool> {
        let near = (start..(start + MAX_HEAD).min(self.tokens.len()))
            .take_while(|&at| !matches!(self.tokens[at].text, ";" | "{" | "(" | "="));
        let word = near.last().filter(|&at| self.tokens[at].is_plain())?;
        let keyword = (start..=word).find(|&at| self.tokens[at].text == "operator")?;
        let mut open = keyword + 1;
        let mut name = self.tokens.get(open)?.text;
        if name == "(" && self.tokens.get(open + 1)?.text == ")" {
            (open, name) = (open + 2, CALL);
        } else {
            while self.tokens.get(open).is_some_and(|token| token.text != "(") {
                open += 1;
            }
        }
        let body = self.after_group(open);
        let mut end = body;
        while self.tokens.get(end).is_some_and(|token| !matches!(token.text, "{" | ";")) {
            end += 1;
        }
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        if !is_body {
            self.at = end + 1;
            return Some(true);
        }
        self.at = start;
        let mut specifiers = Specifiers::default();
        let base = self.base_type(&mut specifiers);
        let returns = self.pointers(base);
        if self.at != keyword || !matches!(name, "++" | "--" | "[" | CALL | "+=" | "-=") {
            self.at = self.after_group(end);
            return Some(true);
        }
        let functions = self.program.functions.len();
        self.named_function(
            (name, self.tokens[keyword].place()),
            (returns, specifiers),
            (open, end),
            Vec::new(),
        );
        if let Some(function) = self.program.functions.get_mut(functions) {
            function.owner = Some(owner);
        }
        Some(true)
    }

    /// The names of an enumeration are constants where all have values; it is a type in any case.
    fn enumeration(&mut self) {
        self.at += 1;
        while matches!(self.text(), "class" | "struct") {
            self.at += 1;
        }
        if self.is_name(0) {
            let name = self.text();
            self.types.push(name);
            self.program.aliases.insert(name, TypeName::Integer { bits: 32, signed: true });
        }
        while !matches!(self.text(), "{" | ";") && self.at < self.tokens.len() {
            self.at += 1;
        }
        if self.text() != "{" {
            return;
        }
        let end = self.after_group(self.at);
        self.at += 1;
        let mut next = Some(0_u64);
        while self.at + 1 < end && self.is_name(0) {
            let (name, span) = (self.text(), self.span());
            self.at += 1;
            let value = if self.accept("=") {
                let value = self.assignment();
                next = match value.kind {
                    ExpressionKind::Number { value, .. } => Some(value + 1),
                    _ => None,
                };
                Some(value)
            } else {
                let number = next;
                next = next.map(|number| number + 1);
                number.map(|value| self.small_number(value, span))
            };
            self.program.constants.entry(name).and_modify(|known| *known = None).or_insert(value);
            if !self.accept(",") {
                break;
            }
        }
        self.at = end;
    }

    const fn small_number(&self, value: u64, span: crate::Span) -> Expression<'s> {
        Expression { kind: ExpressionKind::Number { value, bits: 32, signed: true }, span, depth: 1 }
    }

    fn function_or_variable(&mut self, template: Option<Vec<TemplateParameter<'s>>>) {
        let start = self.at;
        let (end, open) = self.end_of_head(start);
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        match open {
            Some(open) if is_body => self.function(start, open, end, template.unwrap_or_default()),
            Some(_) => self.at = end + 1,
            None if template.is_none() => {
                self.at = start;
                self.variable();
            }
            None => self.pass(end),
        }
    }

    /// Where a declaration ends, at its `;` or with the body of a function, and the parenthesis before its parameters.
    fn end_of_head(&self, start: usize) -> (usize, Option<usize>) {
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
                let constants = &mut self.program.constants;
                constants.entry(variable.name).and_modify(|known| *known = None).or_insert(variable.value);
            } else {
                self.program.variables.push(variable);
            }
        }
    }

    fn function(&mut self, start: usize, open: usize, body: usize, template: Vec<TemplateParameter<'s>>) {
        let name = self.tokens[open - 1];
        self.at = start;
        let mut specifiers = Specifiers::default();
        while self.at + 1 < open && self.specifier(&mut specifiers) {}
        let is_constructor = self.at + 1 == open && self.owner == Some(name.text);
        let mut returns = TypeName::Void;
        if !is_constructor {
            let base = self.base_type(&mut specifiers);
            returns = self.pointers(base);
            while self.at + 1 < open && self.specifier(&mut specifiers) {}
        }
        // What is before the name is not understood: a method that is defined outside its structure.
        if self.at + 1 != open {
            self.at = self.after_group(body);
            return;
        }
        self.named_function((name.text, name.place()), (returns, specifiers), (open, body), template);
    }

    /// The parameters and the body of a function.
    fn named_function(
        &mut self,
        (name, place): (&'s str, crate::Span),
        (mut returns, specifiers): (TypeName<'s>, Specifiers<'s>),
        (open, body): (usize, usize),
        template: Vec<TemplateParameter<'s>>,
    ) {
        let is_constructor = self.owner == Some(name) && returns == TypeName::Void;
        self.at = open;
        let end = self.after_group(open);
        let (parameters, are_known) = self.parameters();
        let mut is_known = are_known;
        self.at = end;
        if self.accept("->") {
            let base = self.base_type(&mut Specifiers::default());
            returns = self.pointers(base);
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
        if !is_known {
            return;
        }
        self.program.functions.push(Function {
            name,
            owner: None,
            span: place,
            is_kernel: specifiers.is_kernel,
            is_device: specifiers.is_device,
            template,
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
            let base = self.base_type(&mut Specifiers::default());
            let base = self.pointers(base);
            let (name, ty) = self.declarator(base);
            let default = self.accept("=").then(|| self.assignment());
            parameters.push(Parameter { name, ty: decayed(ty), default });
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

    /// `a(x), b{y}` before the body of a constructor, as assignments.
    fn initializers(&mut self, body: usize) -> Vec<Statement<'s>> {
        let mut all = Vec::new();
        while self.at < body && self.is_name(0) && matches!(self.ahead(1), "(" | "{") {
            let (name, span) = (self.text(), self.span());
            self.at += 1;
            let given = if self.text() == "{" { vec![self.list(None)] } else { self.arguments() };
            let mut given = given.into_iter();
            let to = Expression { kind: ExpressionKind::Name(name, Vec::new()), span, depth: 1 };
            let (Some(from), None) = (given.next(), given.next()) else { break };
            let depth = from.depth + 1;
            let kind = ExpressionKind::Assign("", Box::new(to), Box::new(from));
            let kind = StatementKind::Expression(Expression { kind, span, depth });
            all.push(Statement { kind, span });
            if !self.accept(",") {
                break;
            }
        }
        all
    }
}

/// What a structure is made of.
#[derive(Default)]
struct Parts<'s> {
    members: Vec<Member<'s>>,
    constants: Vec<(&'s str, Expression<'s>)>,
    aliases: Vec<(&'s str, TypeName<'s>)>,
    /// The names of types in it.
    types: Vec<&'s str>,
}

/// The name of the operator that calls an object.
const CALL: &str = "()";

/// Structures do not lie deeper in each other.
const MAX_NESTED: u32 = 8;

/// A kernel's name is not farther from its `__global__`.
const MAX_HEAD: usize = 100;

/// In the configuration of a launch `>>` ends.
const ABOVE_SHIFT: u8 = 8;

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
            | "__declspec"
            | "__maxnreg__"
            | "__block_size__"
            | "alignas"
            | "__align__"
            | "noexcept"
            | "decltype"
    )
}
