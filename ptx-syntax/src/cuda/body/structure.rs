//! Structures with their members and methods.

use super::tokens::Kind;
use super::top::{MAX_HEAD, with_type};
use super::types::Specifiers;
use super::{
    CALL, DEEPEST, Expression, ExpressionKind, Member, Parser, StatementKind, Structure, StructureId,
    TemplateParameter, TypeName, Variable,
};

impl<'s> Parser<'s> {
    pub(super) fn structure(&mut self, template: Vec<TemplateParameter<'s>>) {
        self.structure_called(template, "");
    }

    /// The same, with a name for one that has none.
    fn structure_called(&mut self, template: Vec<TemplateParameter<'s>>, otherwise: &'s str) {
        let is_union = self.text() == "union";
        let keyword = self.at;
        self.at += 1;
        let mut specifiers = Specifiers::default();
        while self.specifier(&mut specifiers) {}
        let mut name = if self.is_name(0) { self.text() } else { "" };
        self.at += usize::from(!name.is_empty());
        // One without a name has that of the member which is of its type.
        let member = name.is_empty() && self.owner.is_some() && self.text() == "{" && otherwise.is_empty();
        // `typedef struct { … } name;`
        let is_of_typedef = name.is_empty() && !member && self.text() == "{" && self.follows_typedef(keyword);
        if is_of_typedef {
            let next = self.tokens.get(self.after_group(self.at));
            name = next.filter(|token| token.kind == Kind::Identifier).map_or("", |token| token.text);
        }
        let is_unnamed = name.is_empty() && !member && !otherwise.is_empty();
        if is_unnamed {
            name = otherwise;
        }
        if member {
            let after = self.after_group(self.at);
            let next = self.tokens.get(after).filter(|token| token.kind == Kind::Identifier);
            name = next.map_or_else(|| self.last_member(after), |token| token.text);
        }
        self.accept("final");
        let outer = self.owner;
        let specialized = match self.text() {
            "<" => Some(self.template_arguments()),
            _ => None,
        };
        let is_specialized = specialized.is_some();
        let specialized = specialized.flatten();
        self.accept("final");
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
        // What lies in it names it before it is complete.
        let id = StructureId(self.program.structures.len() as u32);
        self.program.structures.push(Structure { name, outer, template, ..Structure::default() });
        self.owner = Some(id);
        let types = self.types.len();
        if !member && !is_unnamed {
            self.types.push(name);
        }
        // Methods see the types that are declared after them.
        let own = self.types_between(self.at, end);
        self.types.extend(own);
        while is_known && self.at + 1 < end {
            let before = self.at;
            is_known = self.member(id, &mut parts);
            self.at = self.at.max(before + 1);
        }
        self.types.truncate(types);
        self.declared.append(&mut parts.types);
        self.owner = outer;
        is_known &= self.at < end;
        self.at = end;
        if !name.is_empty() && !member && !is_unnamed {
            self.declared.push(name);
        }
        if is_specialized && !name.is_empty() && specialized.is_none() {
            // Who asks for the template may mean this.
            self.program.named.insert((outer, name), None);
            return;
        }
        if is_known && !name.is_empty() {
            let Parts { members, constants, aliases, templates_of_aliases, inherited, .. } = parts;
            let bases = bases.unwrap_or_default();
            let is_specialized = specialized.is_some();
            let made = &mut self.program.structures[id.index()];
            *made = Structure {
                specialized,
                is_known: true,
                bases,
                inherited,
                constants,
                aliases,
                templates_of_aliases,
                members,
                align: specifiers.align,
                is_union,
                ..std::mem::take(made)
            };
            if is_specialized {
                self.program.specialized.entry((outer, name)).or_default().push(id);
                return;
            }
            if is_unnamed {
                return;
            }
            // Of two with one name nobody knows which is meant, if the first has a body.
            let known = self.program.structure_in(outer, name);
            let is_declared = known.is_some_and(|known| !self.program.structure(known).is_known);
            let known = self.program.named.entry((outer, name));
            known.and_modify(|known| *known = if is_declared { Some(id) } else { None }).or_insert(Some(id));
            if outer.is_some() {
                let known = self.program.nested.entry(name);
                known.and_modify(|known| *known = None).or_insert(Some(id));
            }
        } else if let Some(specialized) = specialized {
            // It is the one for such arguments, and nobody knows what it is.
            self.program.structures[id.index()].specialized = Some(specialized);
            self.program.specialized.entry((outer, name)).or_default().push(id);
        }
    }

    /// The names that structures, enumerations and `using` give to types in a body, as it is written.
    fn types_between(&self, from: usize, end: usize) -> Vec<&'s str> {
        let mut found = Vec::new();
        let mut at = from;
        while at + 1 < end {
            let (word, after) = (self.tokens[at].text, |by: usize| self.tokens.get(at + by));
            match word {
                _ if !self.tokens[at].is_plain() => {}
                "{" | "(" | "[" => {
                    at = self.after_group(at).max(at + 1);
                    continue;
                }
                "struct" | "class" | "union" | "enum" | "using" => {
                    let by = if word == "enum" && after(1).is_some_and(|next| next.text == "class") {
                        2
                    } else {
                        1
                    };
                    let ends = if word == "using" { &["="][..] } else { &["{", ":"][..] };
                    let follows = after(by + 1).is_some_and(|next| ends.contains(&next.text));
                    if let Some(name) = after(by).filter(|name| name.kind == Kind::Identifier && follows) {
                        found.push(name.text);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// A structure whose body stands where its type is used: `struct { … } a;`
    pub(super) fn structure_in_place(&mut self) -> TypeName<'s> {
        if self.depth > DEEPEST {
            self.at += 1;
            return TypeName::Unknown;
        }
        // In a structure it sees the parameters of its template: `using Words = union { … };`
        let (depth, owner) = (self.depth, self.owner);
        self.depth += 1;
        let declared = std::mem::take(&mut self.declared);
        let id = StructureId(self.program.structures.len() as u32);
        let keyword = self.text();
        self.structure_called(Vec::new(), keyword);
        self.types.append(&mut self.declared);
        self.declared = declared;
        (self.depth, self.owner) = (depth, owner);
        TypeName::Structure(id)
    }

    fn follows_typedef(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.tokens[before].text == "typedef")
    }

    /// Whether `typedef` stands here before the body of a structure or of an enumeration.
    pub(super) fn is_typedef_of_body(&self) -> bool {
        self.text() == "typedef"
            && match self.ahead(1) {
                "struct" | "class" | "union" | "enum" => {
                    let (mut at, mut left) = (self.at, MAX_HEAD);
                    loop {
                        let text = self.tokens.get(at).map_or("", |token| token.text);
                        // How it is aligned may be said before its name.
                        let is_aligned = matches!(text, "alignas" | "__align__" | "__attribute__");
                        at = if is_aligned { self.after_group(at + 1) } else { at + 1 };
                        left -= 1;
                        if matches!(text, "" | "{" | ";" | "(" | "*") || left == 0 {
                            break text == "{";
                        }
                    }
                }
                _ => false,
            }
    }

    /// `typedef struct { … } a, *b;`, and the same of an enumeration.
    pub(super) fn typedef_of_body(&mut self) {
        let declared = std::mem::take(&mut self.declared);
        self.at += 1;
        let base = if self.text() == "enum" {
            self.enumeration();
            TypeName::Integer { bits: 32, signed: true }
        } else {
            let id = self.program.structures.len();
            self.structure(Vec::new());
            let name = self.program.structures.get(id).map_or("", |own| own.name);
            TypeName::Named(name, Vec::new())
        };
        self.types.append(&mut self.declared);
        self.declared = declared;
        while self.at < self.tokens.len() && !matches!(self.text(), ";" | "}") {
            let (name, ty) = self.declarator(base.clone());
            let is_own = matches!(base, TypeName::Named(own, _) if own == name);
            if !name.is_empty() && !is_own {
                self.types.push(name);
                self.program.aliases.insert(name, ty);
            }
            if !self.accept(",") {
                break;
            }
        }
        self.accept(";");
    }

    /// `template <…> struct name;`
    pub(super) fn declared_structure(&mut self, template: Vec<TemplateParameter<'s>>) {
        let (name, outer) = (self.ahead(1), self.owner);
        self.at += 3;
        self.declared.push(name);
        let id = StructureId(self.program.structures.len() as u32);
        if let std::collections::hash_map::Entry::Vacant(free) = self.program.named.entry((outer, name)) {
            free.insert(Some(id));
            self.program.structures.push(Structure { name, outer, template, ..Structure::default() });
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
    fn member(&mut self, owner: StructureId, parts: &mut Parts<'s>) -> bool {
        match self.text() {
            "public" | "private" | "protected" => {
                self.at += 1;
                return self.accept(":");
            }
            ";" => {
                self.at += 1;
                return true;
            }
            "typedef" if self.is_typedef_of_body() && self.ahead(1) != "enum" => {
                self.at += 1;
                let (members, id) = (parts.members.len(), self.program.structures.len());
                let is_known = self.nested(Vec::new(), parts);
                let own = self.program.structures.get(id).map_or("", |own| own.name);
                for Member { name, ty, .. } in parts.members.split_off(members) {
                    if name != own {
                        self.types.push(name);
                        parts.types.push(name);
                        parts.aliases.push((name, ty));
                    }
                }
                return is_known;
            }
            "using" if let Some(base) = self.inherited_constructors() => {
                parts.inherited.push(base);
                return true;
            }
            "using" | "typedef" => {
                let is_of_base = self.text() == "using" && self.ahead(1) == "typename";
                let end = (self.at..self.tokens.len()).find(|at| self.tokens[*at].text == ";");
                let last = end.and_then(|end| self.tokens.get(end - 1)).map_or("", |token| token.text);
                let name = if is_of_base { last } else { self.ahead(1) };
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
            "struct" | "class" if self.is_name(1) && self.ahead(2) == ";" => {
                self.at += 2;
                return true;
            }
            "template" => {
                let types = self.types.len();
                let template = self.template();
                if matches!(self.text(), "struct" | "class" | "union") && self.is_definition() {
                    let mut own = Parts::default();
                    let is_known = self.nested(template, &mut own);
                    self.types.truncate(types);
                    self.types.extend(&own.types);
                    parts.types.append(&mut own.types);
                    return is_known;
                }
                if self.text() == "using" {
                    let is_known = self.template_of_alias(template, parts);
                    self.types.truncate(types);
                    return is_known;
                }
                let is_known = self.text() != "template" && self.member_of_template(owner, template);
                self.types.truncate(types);
                return is_known;
            }
            "struct" | "class" | "union" if let Some(body) = self.body_without_name() => {
                return self.unnamed(body, parts);
            }
            "struct" | "class" | "union" if self.is_definition() => return self.nested(Vec::new(), parts),
            "enum" => {
                parts.constants.extend(self.enumeration());
                return true;
            }
            _ if self.is_friend() => return self.friend(owner, Vec::new()),
            "struct" | "class" | "union" | "virtual" => return false,
            _ => {}
        }
        let start = self.at;
        if let Some(known) = self.operator(owner, start, &[]) {
            return known;
        }
        let (end, open) = self.end_of_head(start);
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        // `float (*name)[N];` is a pointer to an array, `void (*name)(int);` one to a function, and neither is a method.
        let is_method = |open: &usize| {
            let text = |at: usize| self.tokens.get(at).map_or("", |token| token.text);
            !(matches!(text(open + 1), "*" | "&") && matches!(text(self.after_group(*open)), "[" | "("))
        };
        if let Some(open) = open.filter(is_method) {
            if !is_body && self.tokens.get(end).is_some_and(|token| token.text == ";") {
                // It is defined elsewhere, or does what nobody sees, or is not called.
                let is_destructor = (start..open).any(|at| self.tokens[at].text == "~");
                // `~T() = default;` does nothing of its own; another one is to be found outside.
                let is_plain = (open..end).any(|at| self.tokens[at].text == "default");
                if is_destructor && !is_plain {
                    self.program.structures[owner.index()].has_destructor = true;
                }
                self.at = end + 1;
                return true;
            }
            return is_body && self.method(owner, start, open, end, Vec::new());
        }
        if let Some(known) = self.function_of_array(Some(owner), start, &[]) {
            return known;
        }
        let StatementKind::Declare(variables) = self.declaration() else { return false };
        for Variable { name, ty, align, value, is_static, is_constant, .. } in variables {
            match (is_static, value) {
                (true, Some(value)) if is_constant => {
                    let value = with_type(&ty, Some(value.clone())).unwrap_or(value);
                    parts.constants.push((name, value.clone()));
                    let known = self.program.constants_of_functions.entry(name);
                    // It may have been read with all others of the file.
                    let is_it = |known: &Expression<'s>| known.span == value.span;
                    known
                        .and_modify(|known| *known = known.take().filter(is_it))
                        .or_insert_with(|| Some(value.clone()));
                }
                (true, _) => return false,
                (false, value) => parts.members.push(Member { name, ty, align, value }),
            }
        }
        true
    }

    /// `template <…> using A = B;` in a structure. What is not understood has no name that is known.
    fn template_of_alias(&mut self, template: Vec<TemplateParameter<'s>>, parts: &mut Parts<'s>) -> bool {
        let name = self.ahead(1);
        // Outside the structure the name may be another one.
        let outside = self.program.aliases.remove(name);
        self.alias();
        let found = self.program.aliases.remove(name);
        if let Some(outside) = outside {
            self.program.aliases.insert(name, outside);
        }
        if let Some(ty) = found {
            parts.types.push(name);
            parts.templates_of_aliases.push((name, template, ty));
        }
        true
    }

    /// The base whose constructors `using Base<…>::Base;` takes over, with its `;`.
    fn inherited_constructors(&mut self) -> Option<&'s str> {
        let start = self.at;
        self.at += 1;
        let mut before = "";
        loop {
            let name = if self.is_name(0) { self.text() } else { "" };
            self.at += 1;
            if !name.is_empty() && name == before && self.accept(";") {
                return Some(name);
            }
            if self.text() == "<"
                && let Some(end) = self.after_angles(self.at)
            {
                self.at = end;
            }
            if name.is_empty() || !self.accept("::") {
                self.at = start;
                return None;
            }
            before = name;
        }
    }

    /// The name of the last member of a structure that ends there.
    fn last_member(&self, after: usize) -> &'s str {
        let is_name = |at: &usize| {
            self.tokens[*at].kind == Kind::Identifier
                && !matches!(self.tokens[*at].text, "public" | "private" | "protected")
                && self
                    .tokens
                    .get(at + 1)
                    .is_some_and(|next| matches!(next.text, ";" | "[" | "," | "=" | ":"))
        };
        let first = after.saturating_sub(MAX_HEAD);
        (first..after).rev().find(is_name).map_or("", |at| self.tokens[at].text)
    }

    /// The body of a structure without a name that begins here; how it is aligned may be said before.
    fn body_without_name(&self) -> Option<usize> {
        let mut at = self.at + 1;
        let says_alignment = |text: &str| matches!(text, "alignas" | "__align__" | "__attribute__");
        while self.tokens.get(at).is_some_and(|token| says_alignment(token.text)) {
            at = self.after_group(at + 1);
        }
        self.tokens.get(at).is_some_and(|token| token.text == "{").then_some(at)
    }

    /// Members whose type has no name: it is known by that of the first.
    fn unnamed(&mut self, body: usize, parts: &mut Parts<'s>) -> bool {
        let after = self.after_group(body);
        let keyword = self.text();
        let (name, is_member) = match self.tokens.get(after) {
            Some(token) if token.kind == Kind::Identifier => (token.text, true),
            Some(token) if token.text == ";" => (self.last_member(after), false),
            _ => return false,
        };
        let types = self.types.len();
        let depth = self.depth;
        self.depth += 1;
        if self.depth > MAX_NESTED {
            return false;
        }
        let declared = std::mem::take(&mut self.declared);
        self.structure(Vec::new());
        self.declared = declared;
        self.types.truncate(types);
        self.depth = depth;
        // Its members are those of the structure around.
        if !is_member {
            let ty = TypeName::Named(name, Vec::new());
            parts.members.push(Member { name: keyword, ty, align: None, value: None });
            return self.accept(";");
        }
        loop {
            let (member, ty) = self.declarator(TypeName::Named(name, Vec::new()));
            if member.is_empty() {
                return false;
            }
            parts.members.push(Member { name: member, ty, align: None, value: None });
            if !self.accept(",") {
                return self.text() == ";";
            }
        }
    }

    /// A structure in a structure.
    fn nested(&mut self, template: Vec<TemplateParameter<'s>>, parts: &mut Parts<'s>) -> bool {
        let depth = self.depth;
        self.depth += 1;
        if self.depth > MAX_NESTED {
            return false;
        }
        let outer = std::mem::take(&mut self.declared);
        let id = self.program.structures.len();
        self.structure(template);
        self.types.extend(&self.declared);
        parts.types.append(&mut self.declared);
        self.declared = outer;
        self.depth = depth;
        // `struct A { … } a, *b;`
        let name = self.program.structures.get(id).map_or("", |own| own.name);
        while !name.is_empty() && self.text() != ";" {
            let (member, ty) = self.declarator(TypeName::Named(name, Vec::new()));
            if member.is_empty() {
                return false;
            }
            parts.members.push(Member { name: member, ty, align: None, value: None });
            if !self.accept(",") {
                break;
            }
        }
        self.text() == ";"
    }

    /// Whether a declaration names a friend: words like `__device__` may stand before `friend`.
    fn is_friend(&self) -> bool {
        let words = self.tokens.iter().skip(self.at).map(|token| token.text);
        let mut words = words.skip_while(|word| {
            matches!(*word, "__device__" | "__host__" | "__forceinline__" | "inline" | "static" | "constexpr")
        });
        words.next() == Some("friend")
    }

    /// The structure or the function that a structure calls a friend: one that has its body here is a function outside.
    fn friend(&mut self, owner: StructureId, own: Vec<TemplateParameter<'s>>) -> bool {
        let (end, open) = self.end_of_head(self.at);
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        if !is_body {
            self.at = end + 1;
            return self.tokens.get(end).is_some_and(|token| token.text == ";");
        }
        let start = self.at;
        // What the parameters of the structure's template are, the arguments tell.
        let mut all = self.program.structure(owner).template.clone();
        all.extend(own);
        let mut template = Some(all);
        let within = self.owner.take();
        if !self.free_operator(start, &mut template) {
            match open {
                Some(open) => self.function(start, open, end, template.unwrap_or_default()),
                None => self.at = self.after_group(end),
            }
        }
        self.owner = within;
        true
    }

    /// `new (a) T(…)`; of other memory nothing is known.
    pub(super) fn placed(&mut self) -> Expression<'s> {
        let span = self.span();
        self.at += 1;
        let at = if self.text() == "(" { self.arguments() } else { Vec::new() };
        let ty = self.base_type(&mut Specifiers::default());
        let given = match self.text() {
            "{" => self.list(None),
            "(" => Self::list_of(self.arguments(), span),
            _ => Self::list_of(Vec::new(), span),
        };
        let Ok([at]) = <[Expression<'s>; 1]>::try_from(at) else {
            return given.with(ExpressionKind::Unknown);
        };
        let whole = Self::list_of(vec![at.clone(), given.clone()], span);
        whole.with(ExpressionKind::New(Box::new(at), ty, Box::new(given)))
    }

    /// Whether a name is the one of the structure whose members are being read.
    pub(super) fn is_constructor(&self, name: &str) -> bool {
        self.owner.is_some_and(|owner| self.program.structure(owner).name == name)
    }

    /// A method or a constructor with its body.
    fn method(
        &mut self,
        owner: StructureId,
        start: usize,
        open: usize,
        end: usize,
        template: Vec<TemplateParameter<'s>>,
    ) -> bool {
        let functions = self.program.functions.len();
        if (start..open).any(|at| self.tokens[at].text == "~") {
            self.program.structures[owner.index()].has_destructor = true;
            let place = self.tokens[open - 1].place();
            self.named_function(("~", place), (TypeName::Void, Specifiers::default()), (open, end), template);
        } else {
            self.function(start, open, end, template);
        }
        match self.program.functions.get_mut(functions) {
            Some(function) => function.owner = Some(owner),
            // Who does not call it need not know it.
            None => {
                let name = self.tokens[self.name_before(open)];
                self.unknown_method(owner, name.text, name.place());
                self.at = self.after_group(end);
            }
        }
        true
    }

    /// A method that is a template.
    fn member_of_template(&mut self, owner: StructureId, template: Vec<TemplateParameter<'s>>) -> bool {
        let start = self.at;
        if self.is_friend() {
            return self.friend(owner, template);
        }
        if matches!(self.text(), "struct" | "class") {
            // What is declared only is not called from here.
            let (end, _) = self.end_of_head(start);
            self.at = end + 1;
            return self.tokens.get(end).is_some_and(|token| token.text == ";");
        }
        if let Some(known) = self.operator(owner, start, &template) {
            return known;
        }
        if let Some(known) = self.function_of_array(Some(owner), start, &template) {
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

    /// An operator that is a method, as one with its spelling as a name; none where a member is no operator. One that gives
    /// another type has the name `operator`. Those that are not followed have no body: who needs one is not understood.
    fn operator(
        &mut self,
        owner: StructureId,
        start: usize,
        template: &[TemplateParameter<'s>],
    ) -> Option<bool> {
        let near = (start..(start + MAX_HEAD).min(self.tokens.len()))
            .take_while(|&at| !matches!(self.tokens[at].text, ";" | "{" | "(" | "="));
        let word = near.last().filter(|&at| self.tokens[at].is_plain())?;
        // `operator=` and `operator==` stand at the end of what was passed.
        let keyword = (start..=word).find(|&at| self.tokens[at].text == "operator")?;
        let mut open = keyword + 1;
        let mut name = self.tokens.get(open)?.text;
        let is_conversion = self.tokens[open].kind == Kind::Identifier;
        if name == "(" && self.tokens.get(open + 1)?.text == ")" {
            (open, name) = (open + 2, CALL);
        } else {
            let from = open;
            while self.tokens.get(open).is_some_and(|token| token.text != "(") {
                open += 1;
            }
            name = match (name, open - from) {
                _ if is_conversion => CONVERSION,
                (">", 2) if self.tokens[from + 1].text == ">" => ">>",
                ("[", 2) | (_, 1) => name,
                _ => "",
            };
        }
        let body = self.after_group(open);
        let mut end = body;
        while self.tokens.get(end).is_some_and(|token| !matches!(token.text, "{" | ";")) {
            end += 1;
        }
        let is_body = self.tokens.get(end).is_some_and(|token| token.text == "{");
        self.program.has_operators = true;
        if !is_body {
            // One that is defaulted or deleted does nothing else than the compiler does.
            self.at = end + 1;
            return Some(true);
        }
        self.at = start;
        let mut specifiers = Specifiers::default();
        let mut returns = TypeName::Unknown;
        if is_conversion {
            while self.at < keyword && self.specifier(&mut specifiers) {}
            if self.at == keyword {
                self.at += 1;
                let base = self.base_type(&mut specifiers);
                returns = self.pointers(base);
            }
        } else {
            let base = self.base_type(&mut specifiers);
            returns = self.pointers(base);
        }
        let is_whole = self.at == if is_conversion { open } else { keyword };
        if !is_whole || name.is_empty() {
            // It is there, and what it does is not known.
            let place = self.tokens[keyword].place();
            self.at = self.after_group(end);
            self.unknown_method(owner, name, place);
            return Some(true);
        }
        let functions = self.program.functions.len();
        self.named_function(
            (name, self.tokens[keyword].place()),
            (returns, specifiers),
            (open, end),
            template.to_vec(),
        );
        if let Some(function) = self.program.functions.get_mut(functions) {
            function.owner = Some(owner);
        }
        Some(true)
    }

    /// A method or an operator whose body nobody knows.
    pub(super) fn unknown_method(&mut self, owner: StructureId, name: &'s str, span: crate::Span) {
        self.program.functions.push(super::Function {
            name,
            owner: Some(owner),
            span,
            is_kernel: false,
            is_device: true,
            template: Vec::new(),
            specialized: None,
            conditions: Vec::new(),
            captures: Vec::new(),
            is_mutable: false,
            copies: Vec::new(),
            mentions: Vec::new(),
            returns: TypeName::Unknown,
            parameters: Vec::new(),
            launch_bounds: Vec::new(),
            max_registers: None,
            cluster: Vec::new(),
            extent: span,
            body: vec![super::Statement { kind: StatementKind::Unknown, span }],
        });
    }
}

/// What a structure is made of.
#[derive(Default)]
struct Parts<'s> {
    members: Vec<Member<'s>>,
    constants: Vec<(&'s str, Expression<'s>)>,
    aliases: Vec<(&'s str, TypeName<'s>)>,
    templates_of_aliases: Vec<(&'s str, Vec<TemplateParameter<'s>>, TypeName<'s>)>,
    inherited: Vec<&'s str>,
    /// The names of types in it.
    types: Vec<&'s str>,
}

/// The name of an operator that gives another type.
const CONVERSION: &str = "operator";

/// Structures do not lie deeper in each other.
const MAX_NESTED: u32 = 8;
