//! What the asm statements of a source may see of the files that it includes.
//!
//! A helper of a header is inlined into the functions that call it, and the compiler puts what its templates declare into
//! one scope with theirs. So a name that no statement of a source declares may be one of a header.

use std::collections::HashSet;

use ptx_ir::directive::DirectiveKind;
use ptx_syntax::cuda::{self, WILDCARD};
use ptx_syntax::lexer::{Lexer, Token, TokenKind};

/// Names that templates of included files declare.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    names: HashSet<String>,
    /// Beginnings of names: those of `.reg .b32 %r<8>`, and those that a macro completes.
    prefixes: Vec<String>,
    incomplete: bool,
}

/// An `#include` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include<'a> {
    /// The path as it is written.
    pub path: &'a str,
    /// Whether it stands in quotes, so that it is a file of the same project; otherwise in angle brackets.
    pub quoted: bool,
}

/// The `#include` lines of a source, whatever the conditions around them.
pub fn includes(source: &str) -> impl Iterator<Item = Include<'_>> {
    // Few lines have the sign.
    memchr::memchr_iter(b'#', source.as_bytes()).filter_map(|at| {
        let before = source[..at].trim_end_matches(|letter: char| letter.is_whitespace() && letter != '\n');
        if !before.is_empty() && !before.ends_with('\n') {
            return None;
        }
        let rest =
            source[at + 1..].trim_start_matches(|letter: char| letter.is_whitespace() && letter != '\n');
        let rest = rest.strip_prefix("include")?.lines().next()?.trim_start();
        let quoted = rest.starts_with('"');
        let (_, rest) = rest.split_at_checked(1).filter(|(open, _)| matches!(*open, "\"" | "<"))?;
        let path = rest.split(if quoted { '"' } else { '>' }).next()?;
        Some(Include { path, quoted }).filter(|include| !include.path.is_empty())
    })
}

impl Surroundings {
    /// Those of a source of whose included files none is known.
    #[must_use]
    pub fn unknown(source: &str) -> Self {
        Self { incomplete: includes(source).any(|include| include.quoted), ..Self::default() }
    }

    /// Notes that an included file of the project is not known.
    pub const fn note_missing(&mut self) {
        self.incomplete = true;
    }

    /// Adds the names that the templates of an included file declare.
    pub fn add(&mut self, header: &str) {
        for statement in cuda::extract(header).statements {
            self.add_template(&statement.template.text.replace("%%", "%"));
        }
    }

    fn add_template(&mut self, text: &str) {
        let tokens: Vec<Token> = Lexer::new(text).filter(|token| !token.kind.is_trivia()).collect();
        let mut declares = false;
        for (index, token) in tokens.iter().enumerate() {
            let word = token.span.text(text);
            let after = &text[token.span.end as usize..];
            match token.kind {
                TokenKind::Semicolon => declares = false,
                TokenKind::Name => {
                    let label = tokens.get(index + 1).is_some_and(|next| next.kind == TokenKind::Colon);
                    if declares && (after.trim_start().starts_with('<') || after.starts_with(WILDCARD)) {
                        self.prefixes.push(word.to_owned());
                    } else if declares || label {
                        self.names.insert(word.to_owned());
                    }
                }
                _ => declares = declares || word == DirectiveKind::Reg.word(),
            }
        }
    }

    /// Whether an included file declares a name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.names.contains(name) || self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }

    /// Whether a file that is not known may declare it.
    pub(crate) const fn is_incomplete(&self) -> bool {
        self.incomplete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_found() {
        let source = "#include \"a/b.h\"\n # include <c>\n#include MACRO\n#include\n// #include \"d\"\n";
        let found: Vec<_> = includes(source).map(|include| (include.path, include.quoted)).collect();
        assert_eq!(found, [("a/b.h", true), ("c", false)]);
    }

    #[test]
    fn templates_declare_registers_and_labels() {
        let mut known = Surroundings::default();
        known.add(
            "#define D(n) asm(\".reg .b32 x\" #n \";\")\nvoid f(int a) { asm(\"{.reg .v2 .b32 %%c2, d; .reg .b32 e<4>; \
             L: add.u32 %0, %0, u;}\" : \"+r\"(a)); }",
        );
        assert!(["%c2", "d", "e3", "L", "x7"].into_iter().all(|name| known.declares(name)), "{known:?}");
        assert!(["u", "%c", "add"].into_iter().all(|name| !known.declares(name)), "{known:?}");
    }
}
