//! What stands outside functions.

use super::tokens::Kind;
use super::types::Specifiers;
use super::{
    ExpressionKind, Function, Launch, Parameter, Parser, StatementKind, Structure, TemplateArgument,
    TemplateParameter, TypeName,
};

impl<'s> Parser<'s> {
    /// Reads a file.
    pub(super) fn file(&mut self) {
        self.constants_of_functions();
        self.launches();
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
    }

    /// Finds launches, `name<…><<<…, threads…>>>`, and other uses of templates of kernels, `name<…>`.
    fn launches(&mut self) {
        let kernels: Vec<&'s str> = self.kernels();
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.kind != Kind::Identifier || !kernels.contains(&token.text) {
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
            self.program.launches.push(Launch { name: token.text, template, threads });
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
        let Some(end) = self.after_angles(self.at).filter(|_| self.text() == "<") else { return Vec::new() };
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
        let is_plain = self.text() == "{";
        while !matches!(self.text(), "{" | ";") && self.at < self.tokens.len() {
            self.at += 1;
        }
        if self.text() != "{" {
            return;
        }
        let end = self.after_group(self.at);
        self.at += 1;
        let mut members = Vec::new();
        let mut is_known = is_plain;
        while is_known && self.at + 1 < end {
            let StatementKind::Declare(variables) = self.declaration() else {
                is_known = false;
                break;
            };
            for variable in variables {
                is_known &= !variable.is_static && variable.value.is_none();
                members.push((variable.name, variable.ty, variable.align));
            }
        }
        self.at = end;
        if !name.is_empty() {
            self.declared.push(name);
        }
        if is_known && !name.is_empty() {
            self.program.structures.insert(name, Structure { template, members, align: specifiers.align });
        }
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

    const fn small_number(&self, value: u64, span: crate::Span) -> super::Expression<'s> {
        super::Expression { kind: ExpressionKind::Number { value, bits: 32, signed: true }, span, depth: 1 }
    }

    fn function_or_variable(&mut self, template: Option<Vec<TemplateParameter<'s>>>) {
        let start = self.at;
        // A declaration ends at its `;` or with the body of a function.
        let mut end = start;
        let mut open = None;
        while let Some(token) = self.tokens.get(end) {
            match token.text {
                _ if !token.is_plain() => end += 1,
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
        let base = self.base_type(&mut specifiers);
        let mut returns = self.pointers(base);
        while self.at + 1 < open && self.specifier(&mut specifiers) {}
        // What stands before the name is not understood: a method, an operator.
        let is_plain = self.at + 1 == open;
        self.at = open;
        let end = self.after_group(open);
        self.at += 1;
        let mut parameters = Vec::new();
        let mut is_known = is_plain;
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
        is_known &= self.at + 1 == end || (parameters.len() == 1 && parameters[0].ty == TypeName::Void);
        if parameters.len() == 1 && parameters[0].ty == TypeName::Void {
            parameters.clear();
        }
        if self.tokens.get(end).is_some_and(|token| token.text == "->") {
            returns = TypeName::Unknown;
        }
        self.at = body;
        let statements = self.block();
        if !is_known {
            return;
        }
        self.program.functions.push(Function {
            name: name.text,
            span: name.place(),
            is_kernel: specifiers.is_kernel,
            is_device: specifiers.is_device,
            template,
            returns,
            parameters,
            launch_bounds: specifiers.launch_bounds,
            cluster: specifiers.cluster,
            body: statements,
        });
    }
}

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
