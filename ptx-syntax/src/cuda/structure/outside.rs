//! Declarations outside function bodies: namespaces, classes, functions.

use super::{Builder, MAX_DEPTH, Until};
use crate::Span;
use crate::cuda::ctype::CType;
use crate::cuda::declare::{self, Reader};
use crate::cuda::expression;
use crate::cuda::function::{self, Head};
use crate::cuda::model::{ConditionId, Function, FunctionId, MacroId, Region, RegionId, RegionKind};
use crate::cuda::scan::{Kind, Token};
use crate::cuda::scope::{Meaning, Value};

/// How many braces of one declaration are looked at for what they are.
const MAX_BRACES: u32 = 100;

impl Builder<'_> {
    /// A declaration outside functions.
    pub(super) fn declaration(&mut self) {
        let (outer, outer_template) = (self.scope, self.template);
        if self.text() == "template" {
            self.scope = self.scopes.open(Some(self.scope), false);
        }
        self.template_parameters = None;
        let mut headers = 0;
        while self.text() == "template" {
            self.template = true;
            headers += 1;
            self.template_header();
        }
        if headers != 1 {
            self.template_parameters = None;
        }
        let start = self.at;
        let mut braces = 0;
        while self.at < self.tokens.len() {
            let at_start = self.at == start;
            match self.text() {
                ";" => {
                    self.at += 1;
                    break;
                }
                "}" | ")" | "]" => break,
                "(" | "[" => self.group(),
                "{" if braces >= MAX_BRACES => self.flat_braces(),
                "{" => {
                    braces += 1;
                    if self.declaration_body(start, outer) {
                        (self.scope, self.template) = (outer, outer_template);
                        return;
                    }
                }
                "public" | "private" | "protected" if at_start => {
                    self.at += 1;
                    self.accept(":");
                    break;
                }
                "<" => {
                    let end = self.reader(&self.tokens[self.at..]).after_angles(0);
                    self.at += end.filter(|end| !self.has_keyword(*end)).unwrap_or(1);
                }
                _ if self.asm(at_start) => {}
                _ => self.at += 1,
            }
        }
        (self.scope, self.template) = (outer, outer_template);
        self.declare(start, self.at);
    }

    /// `template <…>` and a `requires` after it: declares the parameters.
    pub(super) fn template_header(&mut self) {
        self.at += 1;
        self.skip_ignored();
        if self.text() != "<" {
            return;
        }
        let rest = &self.tokens[self.at..];
        let Some(end) = self.reader(rest).after_angles(0) else { return };
        if self.has_keyword(end) {
            return;
        }
        let tokens: Vec<Token> = rest[1..end - 1].to_vec();
        let reader = self.reader(&tokens);
        let mut names = Vec::new();
        let mut plain = true;
        for part in reader.split() {
            plain &= match part {
                [word, name] => {
                    declare::is_specifier(word.span.text(self.source)) && name.kind == Kind::Identifier
                }
                _ => false,
            };
            let before_default =
                part.iter().position(|token| token.is(self.source, "=")).unwrap_or(part.len());
            let name = part[..before_default].iter().rev().find(|token| token.kind == Kind::Identifier);
            let is_type =
                part.iter().any(|token| matches!(token.span.text(self.source), "typename" | "class"));
            if let Some(name) = name {
                let value = Reader { tokens: part, ..reader }
                    .specifiers(0)
                    .map_or(CType::Unknown, |(ctype, _)| ctype);
                names.push((
                    name.span,
                    if is_type {
                        Meaning::Type(CType::Parameter(name.span.start))
                    } else {
                        Meaning::Value(value)
                    },
                ));
            }
        }
        self.template_parameters = plain.then(|| names.iter().map(|(name, _)| name.start).collect());
        for (name, meaning) in names {
            self.scopes.declare_value(
                self.scope,
                name.text(self.source),
                name.start,
                meaning,
                Value::Constant,
            );
        }
        self.at += end;
    }

    /// Whether a keyword is among the next `count` tokens, which are not to be passed as a whole then.
    fn has_keyword(&self, count: usize) -> bool {
        let next = &self.tokens[self.at..self.at + count];
        next.iter().any(|token| self.prepared.keyword(self.source, *token).is_some())
    }

    /// The scope of a namespace, or of another block outside functions. All parts of a namespace are one scope, and what
    /// one without a name declares, or `extern "C"`, is declared around it.
    fn namespace(&mut self, head: &[Token], classified: Head, outer: u32) -> u32 {
        let source = self.source;
        let words = ["namespace", "inline", "extern"];
        let names = head
            .iter()
            .filter(|token| token.kind == Kind::Identifier)
            .map(|token| token.span.text(source))
            .filter(|name| !words.contains(name));
        let mut scope = outer;
        for name in names {
            scope = self.scopes.namespace(scope, name);
        }
        let is_block = !head.iter().any(|token| words.iter().any(|word| token.is(source, word)));
        if scope == outer && is_block && matches!(classified, Head::Block) {
            scope = self.scopes.open(Some(outer), false);
        }
        scope
    }

    /// The brace of a declaration outside functions. Says whether the declaration ends with the body.
    pub(super) fn declaration_body(&mut self, start: usize, outer: u32) -> bool {
        if self.depth > MAX_DEPTH {
            self.at += 1;
            return false;
        }
        let head: Vec<Token> =
            self.tokens[start..self.at].iter().filter(|token| !token.ignored).copied().collect();
        let classified = function::classify(&self.reader(&head));
        match classified {
            Head::Namespace | Head::Block => {
                let namespace = self.namespace(&head, classified, outer);
                let before = std::mem::replace(&mut self.scope, namespace);
                self.at += 1;
                self.items(Until::Brace);
                self.accept("}");
                self.scope = before;
                true
            }
            Head::Class(name) => {
                let name = name.and_then(|at| head.get(at)).map(|token| token.span);
                let inherits = head.iter().any(|token| token.is(self.source, ":"));
                self.class(name.map(|name| (name, outer)), inherits);
                false
            }
            Head::Enum(name) => {
                let name = name.and_then(|at| head.get(at)).map(|token| token.span);
                self.enumeration(&head, name, outer);
                self.flat_braces();
                false
            }
            Head::Function(name, open) => {
                self.function(&head, name, open, outer);
                true
            }
            Head::Initializer | Head::MemberInitializer => {
                self.flat_braces();
                false
            }
        }
    }

    /// Declares an enumeration whose brace is next, and the enumerators of one without `class`.
    fn enumeration(&mut self, head: &[Token], name: Option<Span>, outer: u32) {
        let reader = self.reader(head);
        let scoped = (0..head.len()).any(|at| matches!(reader.text(at), "class" | "struct"));
        let colon = (0..head.len()).find(|at| reader.text(*at) == ":");
        let rest = &self.tokens[self.at..];
        let end = self.reader(rest).after_group(0).saturating_sub(1).max(1);
        let body: Vec<Token> =
            rest[1..end.min(rest.len())].iter().filter(|token| !token.ignored).copied().collect();
        let inside = self.reader(&body);
        let enumerators: Vec<&[Token]> = inside.split().into_iter().filter(|part| !part.is_empty()).collect();
        let bytes = match colon {
            Some(colon) => {
                Reader { tokens: &head[colon + 1..], ..reader }.whole_type().and_then(|base| base.size())
            }
            None if scoped => Some(4),
            None => {
                // The values of `int` and `unsigned` make it as large as these.
                let small = |part: &&[Token]| match part {
                    [name] => name.kind == Kind::Identifier,
                    [_, assign, value @ ..] => {
                        assign.is(self.source, "=")
                            && value.iter().all(|token| token.kind != Kind::Identifier)
                            && expression::type_of(self.source, &self.scopes, self.scope, value).size()
                                == Some(4)
                    }
                    [] => true,
                };
                enumerators.iter().all(small).then_some(4)
            }
        };
        let ctype = CType::Enum { bytes };
        let first = |part: &&[Token]| {
            part.first().filter(|token| token.kind == Kind::Identifier).map(|token| token.span)
        };
        let names: Vec<Span> = enumerators.iter().filter_map(first).collect();
        if let Some(name) = name {
            let meaning = Meaning::Type(ctype.clone());
            self.scopes.declare(outer, name.text(self.source), name.start, meaning);
        }
        if !scoped {
            for name in names {
                let meaning = Meaning::Value(ctype.clone());
                self.scopes.declare_value(
                    outer,
                    name.text(self.source),
                    name.start,
                    meaning,
                    Value::Constant,
                );
            }
        }
    }

    pub(super) fn class(&mut self, name: Option<(Span, u32)>, inherits: bool) {
        let scope = self.scopes.open(Some(self.scope), true);
        if inherits {
            self.scopes.share(scope);
        }
        if let Some((name, outer)) = name {
            let text = name.text(self.source);
            let ctype = if self.template { CType::Unknown } else { CType::Record(text.into()) };
            self.scopes.declare(outer, text, name.start, Meaning::Type(ctype));
            self.scopes.declare_record(text, scope);
        }
        let before = (std::mem::replace(&mut self.scope, scope), self.function.take(), self.region.take());
        let in_macro = self.in_macro;
        self.at += 1;
        self.class_items(in_macro);
        self.accept("}");
        (self.scope, self.function, self.region) = before;
    }

    /// The members of a class; a class of a macro's body is read as declarations too.
    pub(super) fn class_items(&mut self, in_macro: Option<MacroId>) {
        loop {
            let text = self.text();
            if self.at >= self.tokens.len() || text == "}" {
                return;
            }
            let before = self.at;
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                self.single();
            } else {
                self.declaration();
            }
            self.depth -= 1;
            self.in_macro = in_macro;
            if self.at == before {
                self.at += 1;
            }
        }
    }

    pub(super) fn function(&mut self, head: &[Token], name: usize, open: Option<usize>, outer: u32) {
        let body_start = self.offset();
        let reader = self.reader(head);
        let mut qualifiers = function::qualifiers(&reader, name, &self.prepared.specifiers);
        qualifiers.template = self.template;
        let returns = self.return_type(head, name);
        let parameters: Vec<Token> = open.map_or_else(Vec::new, |open| {
            let end = reader.after_group(open).saturating_sub(1);
            head.get(open + 1..end).unwrap_or(&[]).to_vec()
        });
        let name_token = head[name];
        let text = name_token.span.text(self.source);
        self.scopes.declare(outer, text, name_token.span.start, Meaning::Function(returns.clone()));
        let before = (self.scope, self.function, self.region);
        self.scope = self.scopes.open(Some(self.scope), false);
        if name > 0 && head[name - 1].is(self.source, "::") {
            self.scopes.share(self.scope);
        }
        let parameters = self.declare_parameters(&parameters);
        let id = FunctionId(self.file.functions.len() as u32);
        self.file.functions.push(Function {
            name: name_token.span,
            header: Span::new(head[0].span.start, body_start),
            body: Span::at(body_start),
            qualifiers,
            parameters,
            returns,
            condition: ConditionId(name_token.condition),
            events: Vec::new(),
        });
        if outer == 0 {
            self.note_template(id, head, name);
        }
        self.function = Some(id);
        self.region = None;
        let body = RegionId(self.file.regions.len() as u32);
        self.file.regions.push(Region { kind: RegionKind::Body, parent: None, span: Span::at(body_start) });
        self.region = Some(body);
        self.at += 1;
        self.items(Until::Brace);
        self.accept("}");
        let span = Span::new(body_start, self.last_end().max(body_start));
        self.file.functions[id.index()].body = span;
        self.file.regions[body.index()].span = span;
        (self.scope, self.function, self.region) = before;
    }

    pub(super) fn return_type(&self, head: &[Token], name: usize) -> CType {
        // The qualifiers of the name do not belong to the type.
        let mut end = name;
        let source = self.source;
        while end >= 2 && head[end - 1].is(source, "::") && head[end - 2].kind == Kind::Identifier {
            end -= 2;
        }
        let reader = self.reader(&head[..end]);
        let Some((mut ctype, mut at)) = reader.specifiers(0) else { return CType::Unknown };
        while at < end {
            match reader.text(at) {
                "*" => ctype = ctype.pointer(),
                "&" | "&&" | "const" => {}
                // A macro between the type and the name.
                _ if reader.kind(at) == Some(Kind::Identifier) => {}
                _ => return CType::Unknown,
            }
            at += 1;
        }
        ctype
    }
}
