//! Reading declarations by their shape: specifiers, declarators, template parameters, parameters.

use super::ctype::{self, CType};
use super::model::Parameter;
use super::scan::{Kind, Token};
use super::scope::{Meaning, Scopes};
use crate::Span;

/// Words before a type that do not change what constraints need to know.
const IGNORED: [&str; 42] = [
    "const",
    "volatile",
    "static",
    "extern",
    "inline",
    "constexpr",
    "consteval",
    "constinit",
    "register",
    "mutable",
    "thread_local",
    "friend",
    "virtual",
    "explicit",
    "typename",
    "typedef",
    "struct",
    "class",
    "union",
    "enum",
    "restrict",
    "__restrict__",
    "__restrict",
    "__const__",
    "__const",
    "__volatile__",
    "__inline__",
    "__inline",
    "__forceinline__",
    "__forceinline",
    "__noinline__",
    "__device__",
    "__host__",
    "__global__",
    "__shared__",
    "__constant__",
    "__managed__",
    "__grid_constant__",
    "__extension__",
    "__cudart_builtin__",
    "__device_builtin__",
    "__nv_pure__",
];

/// Words with a parenthesised argument before a type.
const IGNORED_CALLS: [&str; 7] = [
    "alignas",
    "__align__",
    "__attribute__",
    "__launch_bounds__",
    "__declspec",
    "__cluster_dims__",
    "__maxnreg__",
];

/// Words that begin a statement which is no declaration.
const NO_TYPE: [&str; 22] = [
    "return",
    "goto",
    "break",
    "continue",
    "throw",
    "new",
    "delete",
    "using",
    "namespace",
    "if",
    "for",
    "while",
    "do",
    "switch",
    "else",
    "case",
    "default",
    "sizeof",
    "this",
    "operator",
    "co_return",
    "static_assert",
];

/// Whether a word belongs to a type or precedes one, whatever is declared.
pub(super) fn is_specifier(word: &str) -> bool {
    IGNORED.contains(&word) || IGNORED_CALLS.contains(&word) || Basic::default().accept(word)
}

/// Reads types and declarators of a slice of tokens.
#[derive(Clone, Copy)]
pub(super) struct Reader<'r, 's> {
    /// The file.
    pub source: &'s str,
    /// Its tokens, or those of a part.
    pub tokens: &'r [Token],
    /// The names in sight.
    pub scopes: &'r Scopes<'s>,
    /// The innermost scope.
    pub scope: u32,
}

/// A name that a declaration introduces.
pub(super) struct Declared {
    /// The name.
    pub name: Span,
    /// Its type, or what it returns if it is a function.
    pub ctype: CType,
    /// Whether a parenthesis follows the name.
    pub called: bool,
    /// Whether it is given a value, or may be: anything but a comma or the end follows.
    pub initialized: bool,
}

impl<'s> Reader<'_, 's> {
    pub fn text(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |token| token.span.text(self.source))
    }

    pub fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn is_identifier(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Identifier)
    }

    /// The index after the group in parentheses, brackets or braces at `at`.
    pub fn after_group(&self, at: usize) -> usize {
        let mut depth = 0i32;
        for index in at..self.tokens.len() {
            match self.text(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return index + 1;
            }
        }
        self.tokens.len()
    }

    /// The index after the template arguments whose `<` is at `at`, if they look like such.
    pub fn after_angles(&self, at: usize) -> Option<usize> {
        if !self.scopes.is_patient() {
            return None;
        }
        let (after, looked_at) = self.angles(at);
        if after.is_none() {
            self.scopes.in_vain(looked_at);
        }
        after
    }

    /// [`Reader::after_angles`], and how many tokens were looked at.
    fn angles(&self, at: usize) -> (Option<usize>, usize) {
        let mut depth = 0i32;
        let mut index = at;
        while index < self.tokens.len() {
            match self.text(index) {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                "(" | "[" | "{" => {
                    index = self.after_group(index);
                    continue;
                }
                ";" | ")" | "]" | "}" | "&&" | "||" if depth < 2 && self.text(index) != "&&" => {
                    return (None, index - at);
                }
                _ => {}
            }
            index += 1;
            if depth <= 0 {
                return (Some(index), index - at);
            }
        }
        (None, index - at)
    }

    /// A name with its qualifiers and template arguments: the last part, whether it is qualified, whether it has
    /// arguments, and the index after it.
    pub fn path(&self, at: usize) -> Option<(&'s str, bool, bool, usize)> {
        let mut index = at + usize::from(self.text(at) == "::");
        let mut qualified = index > at;
        loop {
            if !self.is_identifier(index) {
                return None;
            }
            let name = self.text(index);
            index += 1;
            let mut arguments = false;
            if self.text(index) == "<"
                && let Some(after) = self.after_angles(index)
            {
                arguments = true;
                index = after;
            }
            if self.text(index) == "::"
                && (self.is_identifier(index + 1) || self.text(index + 1) == "template")
            {
                qualified = true;
                index += 1 + usize::from(self.text(index + 1) == "template");
            } else {
                return Some((name, qualified, arguments, index));
            }
        }
    }

    /// The type that a name stands for; none if the name is not known to be a type.
    pub fn named_type(&self, name: &str, qualified: bool, arguments: bool, at: usize) -> Option<CType> {
        if arguments {
            return Some(CType::Unknown);
        }
        let position = self.tokens.get(at).map_or(0, |token| token.span.start);
        if !qualified {
            match self.scopes.look_up(self.scope, name, position) {
                Some(Meaning::Type(ctype)) => return Some(ctype),
                Some(Meaning::Value(_) | Meaning::Function(_)) => return None,
                None => {}
            }
            if let Some(ctype) = self.scopes.of_header(self.scope, name, position) {
                return Some(ctype);
            }
        }
        ctype::standard(name)
    }

    /// Reads specifiers up to the first declarator: the type without its `*`, and the index after it.
    pub fn specifiers(&self, start: usize) -> Option<(CType, usize)> {
        let mut at = start;
        let mut basic = Basic::default();
        let mut named: Option<CType> = None;
        while at < self.tokens.len() {
            let word = self.text(at);
            if IGNORED.contains(&word) {
                at += 1;
            } else if IGNORED_CALLS.contains(&word) {
                at = self.after_group(at + 1);
            } else if word == "[" && self.text(at + 1) == "[" {
                at = self.after_group(at);
            } else if basic.accept(word) {
                at += 1;
            } else if word == "auto" {
                named = Some(CType::Unknown);
                at += 1;
            } else if matches!(word, "decltype" | "typeof" | "__typeof__") {
                named = Some(CType::Unknown);
                at = self.after_group(at + 1);
            } else if NO_TYPE.contains(&word) || named.is_some() || basic.any {
                break;
            } else {
                let (name, qualified, arguments, next) = self.path(at)?;
                match self.named_type(name, qualified, arguments, at) {
                    Some(ctype) => named = Some(ctype),
                    // A macro before the type, as in `API int f()`, or a type of another file.
                    None if self.begins_type(next) => {}
                    None => named = Some(CType::Unknown),
                }
                at = next;
            }
        }
        // Two unknown names before the declarator: the first was a macro.
        while named.is_some() && self.is_identifier(at) && self.is_identifier(at + 1) && !self.is_word(at) {
            named = Some(CType::Unknown);
            at += 1;
        }
        let ctype = if basic.any { basic.ctype() } else { named? };
        Some((ctype, at))
    }

    fn is_word(&self, at: usize) -> bool {
        let word = self.text(at);
        IGNORED.contains(&word) || IGNORED_CALLS.contains(&word) || NO_TYPE.contains(&word)
    }

    fn begins_type(&self, at: usize) -> bool {
        let word = self.text(at);
        let known = || {
            let path = self.path(at);
            path.is_some_and(|(name, q, a, next)| {
                self.named_type(name, q, a, at).is_some()
                    && (self.is_identifier(next) || matches!(self.text(next), "*" | "&"))
            })
        };
        let declares = IGNORED.contains(&word) || IGNORED_CALLS.contains(&word);
        self.is_identifier(at) && (declares || Basic::default().accept(word) || word == "auto" || known())
    }

    /// Reads a whole type, as in a cast: `unsigned long const *`. The tokens must hold nothing else.
    pub fn whole_type(&self) -> Option<CType> {
        let (mut ctype, mut at) = self.specifiers(0)?;
        if ctype == CType::Unknown && !matches!(self.text(at), "*" | "&" | "&&" | "") {
            return None;
        }
        let certain = self.certain_type();
        let mut pointer = false;
        while at < self.tokens.len() {
            match self.text(at) {
                "*" => {
                    pointer = true;
                    ctype = ctype.pointer();
                }
                "&" | "&&" => {}
                word if IGNORED.contains(&word) => {}
                _ => return None,
            }
            at += 1;
        }
        (certain || pointer).then_some(ctype)
    }

    /// Whether the first name is certainly a type and not a variable.
    fn certain_type(&self) -> bool {
        let word = self.text(0);
        if IGNORED.contains(&word) || Basic::default().accept(word) {
            return true;
        }
        let path = self.path(0);
        path.is_some_and(|(name, q, a, _)| !a && self.named_type(name, q, a, 0).is_some())
    }

    /// Reads declarators from `at` on, up to the end of the tokens.
    pub fn declarators(&self, base: &CType, start: usize) -> Vec<Declared> {
        let mut declared = Vec::new();
        let mut at = start;
        while at < self.tokens.len() {
            let mut ctype = base.clone();
            loop {
                match self.text(at) {
                    "*" => ctype = ctype.pointer(),
                    "&" | "&&" => {}
                    word if IGNORED.contains(&word) => {}
                    _ => break,
                }
                at += 1;
            }
            if self.text(at) == "(" && matches!(self.text(at + 1), "&" | "*") {
                if let Some(found) = self.wrapped(base, at) {
                    let (name, ctype) = (found.name, found.ctype);
                    declared.push(Declared { name, ctype, called: false, initialized: true });
                }
                return declared;
            }
            if self.text(at) == "[" {
                // A structured binding.
                let end = self.after_group(at);
                let names = (at..end).filter(|index| self.is_identifier(*index));
                declared.extend(names.map(|index| self.declared(index, CType::Unknown)));
                return declared;
            }
            if !self.is_identifier(at) || NO_TYPE.contains(&self.text(at)) {
                return declared;
            }
            let name = at;
            at += 1;
            let mut known = true;
            while self.text(at) == "[" {
                at = self.after_group(at);
                ctype = ctype.array();
            }
            if !matches!(self.text(at), "=" | "," | ";" | "(" | "{" | ":" | "" | ")") {
                known = matches!(
                    self.text(at),
                    "__attribute__" | "asm" | "__asm__" | "const" | "noexcept" | "[["
                );
                if !known {
                    return declared;
                }
            }
            if known {
                declared.push(self.declared(name, ctype));
            }
            at = self.after_initializer(at);
            if self.text(at) != "," {
                return declared;
            }
            at += 1;
        }
        declared
    }

    fn declared(&self, name: usize, ctype: CType) -> Declared {
        let mut after = name + 1;
        while self.text(after) == "[" {
            after = self.after_group(after);
        }
        let initialized = !matches!(self.text(after), "," | ";" | "");
        Declared { name: self.tokens[name].span, ctype, called: self.text(name + 1) == "(", initialized }
    }

    /// The comma or semicolon after an initializer.
    pub fn after_initializer(&self, start: usize) -> usize {
        let mut at = start;
        while at < self.tokens.len() {
            match self.text(at) {
                "(" | "[" | "{" => at = self.after_group(at),
                "<" => match self.after_angles(at) {
                    Some(after) if matches!(self.text(after), "(" | "::" | "{") => at = after,
                    Some(_) | None => at += 1,
                },
                "," | ";" => return at,
                _ => at += 1,
            }
        }
        at
    }

    /// The parts between commas outside groups and template arguments.
    pub fn split(&self) -> Vec<&[Token]> {
        let mut parts = Vec::new();
        let (mut start, mut at) = (0, 0);
        while at < self.tokens.len() {
            match self.text(at) {
                "(" | "[" | "{" => at = self.after_group(at),
                "<" => at = self.after_angles(at).unwrap_or(at + 1),
                "," => {
                    parts.push(&self.tokens[start..at]);
                    at += 1;
                    start = at;
                }
                _ => at += 1,
            }
        }
        if start < self.tokens.len() {
            parts.push(&self.tokens[start..]);
        }
        parts
    }

    /// Reads the tokens between the parentheses of a function.
    pub fn parameters(&self) -> Vec<Parameter> {
        let parts = self.split().into_iter().filter(|part| !part.is_empty());
        parts.map(|part| Reader { tokens: part, ..*self }.parameter()).collect()
    }

    fn parameter(&self) -> Parameter {
        let unnamed = Parameter { name: Span::at(self.tokens[0].span.start), ctype: CType::Unknown };
        let Some((base, at)) = self.specifiers(0) else { return unnamed };
        match self.declarators(&base, at).into_iter().next() {
            Some(found) => Parameter { name: found.name, ctype: found.ctype.decayed() },
            None => self.wrapped(&base, at).unwrap_or(unnamed),
        }
    }

    /// A declarator in parentheses: `int (&a)[4]`, `int (*p)[4]`, `int (*f)(int)`.
    fn wrapped(&self, base: &CType, open: usize) -> Option<Parameter> {
        let close = self.after_group(open);
        let name =
            (open..close).find(|i| self.is_identifier(*i) && matches!(self.text(*i + 1), ")" | "["))?;
        let mut ctype = base.clone();
        let mut at = close;
        while self.text(at) == "[" {
            at = self.after_group(at);
            ctype = ctype.array();
        }
        let simple = name == open + 2 && self.text(name + 1) == ")" && at > close;
        let ctype = match self.text(open + 1) {
            "&" | "&&" if simple => ctype,
            "*" if simple => ctype.pointer(),
            _ => CType::Unknown,
        };
        Some(Parameter { name: self.tokens[name].span, ctype })
    }
}

/// The words of a basic type, in any order.
#[derive(Default)]
struct Basic {
    any: bool,
    longs: u8,
    unsigned: bool,
    signed: bool,
    base: Option<CType>,
}

impl Basic {
    /// Takes the word if it belongs to a basic type.
    fn accept(&mut self, word: &str) -> bool {
        let base = match word {
            "unsigned" | "__unsigned__" => {
                self.unsigned = true;
                None
            }
            "signed" | "__signed__" | "__signed" => {
                self.signed = true;
                None
            }
            "long" => {
                self.longs += 1;
                None
            }
            "int" => self.base.clone().or(Some(CType::INT)),
            "short" => Some(CType::integer(2, true)),
            "char" => Some(CType::integer(1, true)),
            "__int64" => Some(CType::integer(8, true)),
            "__int128" => Some(CType::integer(16, true)),
            "float" => Some(CType::Float { bytes: 4 }),
            "double" => Some(CType::Float { bytes: 8 }),
            "bool" | "_Bool" => Some(CType::Bool),
            "void" => Some(CType::Void),
            "wchar_t" => Some(CType::INT),
            _ => return false,
        };
        self.any = true;
        self.base = base.or(self.base.take());
        true
    }

    fn ctype(&self) -> CType {
        match (&self.base, self.longs) {
            (None | Some(CType::Integer { bytes: 4, .. }), 1) => {
                CType::Integer { bytes: 8, signed: !self.unsigned, long: true }
            }
            (None | Some(CType::Integer { bytes: 4, .. }), 2) => CType::integer(8, !self.unsigned),
            (None, _) => CType::integer(4, !self.unsigned),
            // `long double` is 8 bytes in device code, and nobody passes it to asm.
            (Some(CType::Float { .. }), 1..) => CType::Unknown,
            (Some(CType::Integer { bytes, .. }), _) => CType::integer(*bytes, !self.unsigned),
            (Some(other), _) => other.clone(),
        }
    }
}
