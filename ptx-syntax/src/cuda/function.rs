//! What a brace outside functions belongs to, told from the tokens before it.

use std::collections::HashMap;

use super::declare::Reader;
use super::model::Qualifiers;
use super::scan::{Kind, Scanner};
use crate::Span;

/// What the tokens before a brace declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// `namespace …` or `extern "C"`.
    Namespace,
    /// A class, structure or union; the index of its name.
    Class(Option<usize>),
    /// An enumeration; the index of its name.
    Enum(Option<usize>),
    /// A function: the indices of its name and of the parenthesis before its parameters, if it has one.
    Function(usize, Option<usize>),
    /// A value in braces.
    Initializer,
    /// A member initializer of a constructor: the body comes later.
    MemberInitializer,
    /// Nothing before it.
    Block,
}

/// Names that are before a parenthesis in a function's head and are not its name.
const NOT_NAMES: [&str; 16] = [
    "alignas",
    "__align__",
    "__attribute__",
    "__launch_bounds__",
    "__declspec",
    "noexcept",
    "throw",
    "decltype",
    "requires",
    "asm",
    "__asm__",
    "__cluster_dims__",
    "__block_size__",
    "__maxnreg__",
    "explicit",
    "sizeof",
];

/// Tells what the tokens of `reader`, from the beginning of the declaration to the brace, declare. Template
/// headers are left out of them.
pub(super) fn classify(reader: &Reader<'_, '_>) -> Head {
    let count = reader.tokens.len();
    if count == 0 {
        return Head::Block;
    }
    if (0..count).any(|at| reader.text(at) == "namespace") {
        return Head::Namespace;
    }
    let outline = Outline::of(reader);
    if reader.text(0) == "extern" && reader.kind(count - 1) == Some(Kind::Text) {
        return Head::Namespace;
    }
    if outline.assigned {
        return Head::Initializer;
    }
    let class =
        outline.words.iter().find(|at| matches!(reader.text(**at), "class" | "struct" | "union" | "enum"));
    let function = outline.function(reader);
    match (class, function) {
        (_, Some((name, open))) if outline.ends_like_function(reader, open, class.is_some()) => {
            if outline.initializers && reader.kind(count - 1) == Some(Kind::Identifier) {
                return Head::MemberInitializer;
            }
            Head::Function(name, Some(open))
        }
        (Some(class), _) => {
            let name = class_name(reader, *class);
            if reader.text(*class) == "enum" { Head::Enum(name) } else { Head::Class(name) }
        }
        (None, Some((name, open))) => Head::Function(name, Some(open)),
        // A macro that stands for a function's head.
        (None, None) if reader.kind(count - 1) == Some(Kind::Identifier) => Head::Function(count - 1, None),
        (None, None) => Head::Initializer,
    }
}

/// The name of a class: the last plain identifier before `:`, `<` or the brace.
fn class_name(reader: &Reader<'_, '_>, class: usize) -> Option<usize> {
    let mut at = class + 1;
    let mut name = None;
    while at < reader.tokens.len() {
        match reader.text(at) {
            ":" | "<" => break,
            "(" | "[" => {
                // An attribute; what came before it was its name.
                name = None;
                at = reader.after_group(at);
                continue;
            }
            "final" | "class" | "struct" | "::" => {}
            _ if reader.kind(at) == Some(Kind::Identifier) => name = Some(at),
            _ => {}
        }
        at += 1;
    }
    name
}

/// How many tokens the arguments of a specialisation may be.
const MAX_SPECIALISATION: usize = 256;

/// The words and groups of a head outside all groups.
struct Outline {
    words: Vec<usize>,
    /// Name and opening parenthesis of each group after a name.
    candidates: Vec<(usize, usize)>,
    /// Whether `=` comes before anything that could be a function.
    assigned: bool,
    /// Whether a constructor's initializers have begun.
    initializers: bool,
}

impl Outline {
    fn of(reader: &Reader<'_, '_>) -> Self {
        let mut this =
            Self { words: Vec::new(), candidates: Vec::new(), assigned: false, initializers: false };
        let mut at = 0;
        while at < reader.tokens.len() {
            match reader.text(at) {
                "operator" => {
                    at = this.operator(reader, at);
                    continue;
                }
                "(" => {
                    this.group(reader, at);
                    at = reader.after_group(at);
                    continue;
                }
                "[" | "{" => {
                    at = reader.after_group(at);
                    continue;
                }
                "<" => {
                    at = reader.after_angles(at).unwrap_or(at + 1);
                    continue;
                }
                "=" if this.candidates.is_empty() => this.assigned = true,
                ":" if !this.candidates.is_empty() => this.initializers = true,
                "->" if !this.candidates.is_empty() => break,
                _ if reader.kind(at) == Some(Kind::Identifier) => this.words.push(at),
                _ => {}
            }
            at += 1;
        }
        this
    }

    /// `operator` with its symbol; the name is the word itself.
    fn operator(&mut self, reader: &Reader<'_, '_>, at: usize) -> usize {
        let mut open = at + 1;
        if reader.text(open) == "(" && reader.text(open + 1) == ")" {
            open += 2;
        }
        while open < reader.tokens.len() && reader.text(open) != "(" {
            open += 1;
        }
        if open >= reader.tokens.len() {
            return open;
        }
        if !self.initializers {
            self.candidates.push((at, open));
        }
        reader.after_group(open)
    }

    fn group(&mut self, reader: &Reader<'_, '_>, open: usize) {
        let Some(mut name) = open.checked_sub(1) else { return };
        if reader.text(name) == ">" {
            // A specialisation: `f<int>(`.
            let arguments = (name.saturating_sub(MAX_SPECIALISATION)..name).rev();
            let Some(angle) = arguments.into_iter().find(|at| reader.text(*at) == "<") else { return };
            let Some(before) = angle.checked_sub(1) else { return };
            name = before;
        }
        let named = reader.kind(name) == Some(Kind::Identifier) && !NOT_NAMES.contains(&reader.text(name));
        if named && !self.initializers {
            self.candidates.push((name, open));
        }
    }

    /// The last group after a name, unless that name is a macro's and another one is not.
    fn function(&self, reader: &Reader<'_, '_>) -> Option<(usize, usize)> {
        let is_macro = |at: usize| !reader.text(at).bytes().any(|byte| byte.is_ascii_lowercase());
        let plain = self.candidates.iter().rev().find(|(name, _)| !is_macro(*name));
        plain.or(self.candidates.last()).copied()
    }

    /// Whether only what may follow a function's parameters follows the group at `open`.
    fn ends_like_function(&self, reader: &Reader<'_, '_>, open: usize, class: bool) -> bool {
        let after = reader.after_group(open);
        if !class {
            return true;
        }
        let follows = reader.text(after);
        let qualifier =
            matches!(follows, "" | "const" | "noexcept" | "override" | "->" | "&" | "&&" | "volatile");
        qualifier
            && !(self.candidates.len() == 1
                && reader.text(open.saturating_sub(2)) == "struct"
                && after < open)
    }
}

/// The specifiers in a function's head, its own, those of the file's macros, and those that names of other macros suggest.
pub(super) fn qualifiers(
    reader: &Reader<'_, '_>,
    end: usize,
    macros: &HashMap<&str, Specifiers>,
) -> Qualifiers {
    let mut found = Qualifiers::default();
    for at in 0..end {
        let word = reader.text(at);
        // Some files make `inline` a macro.
        match macros.get(word) {
            Some(specifiers) => specifiers.add_to(&mut found),
            None if specifier(word, &mut found) => {}
            None if reader.kind(at) == Some(Kind::Identifier) => from_macro(word, &mut found),
            None => {}
        }
    }
    found
}

/// Notes a specifier; whether the word is one.
fn specifier(word: &str, found: &mut Qualifiers) -> bool {
    match word {
        "__device__" => found.device = true,
        "__global__" => found.global = true,
        "__host__" => found.host = true,
        "inline" | "__inline__" | "__inline" | "constexpr" => found.inline = true,
        "__forceinline__" | "__forceinline" => found.force_inline = true,
        "__noinline__" => found.no_inline = true,
        _ => return false,
    }
    true
}

/// What a macro says of the functions in whose head it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Specifiers(Qualifiers);

impl Specifiers {
    /// What one of two definitions says: which of them the compiler sees is not known.
    pub fn or(self, other: Self) -> Self {
        let mut both = self.0;
        other.add_to(&mut both);
        Self(both)
    }

    fn add_to(self, found: &mut Qualifiers) {
        let Qualifiers { device, global, host, inline, force_inline, no_inline, template: _ } = self.0;
        found.device |= device;
        found.global |= global;
        found.host |= host;
        found.inline |= inline;
        found.force_inline |= force_inline;
        found.no_inline |= no_inline;
    }
}

/// The specifiers of a macro that stands for nothing else.
pub(super) fn specifiers_alone(source: &str, body: Span) -> Option<Specifiers> {
    let mut found = Qualifiers::default();
    let mut tokens = Scanner::line(source, body).peekable();
    tokens.peek()?;
    let all = tokens.all(|token| {
        let word = token.span.text(source);
        specifier(word, &mut found) || matches!(word, "static" | "extern")
    });
    all.then_some(Specifiers(found))
}

/// Macros such as `CUTE_HOST_DEVICE`, `_CCCL_DEVICE_API` and `FORCEINLINE` say in their names what they are.
fn from_macro(word: &str, found: &mut Qualifiers) {
    if word.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    found.device |= word.contains("DEVICE");
    found.host |= word.contains("HOST") && !word.contains("HOSTED");
    found.global |= word.contains("GLOBAL");
    let inline = word.contains("INLINE");
    found.no_inline |= inline && word.contains("NO");
    found.force_inline |= inline && (word.contains("FORCE") || word.contains("ALWAYS"));
    found.inline |= inline && !word.contains("NO");
}
