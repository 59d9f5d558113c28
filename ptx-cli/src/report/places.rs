//! The lines of the source that PTX was made of, by its `.loc` and `.file` directives.

use std::collections::HashMap;

use ptx_ir::directive::DirectiveKind;
use ptx_syntax::lexer::{Lexer, TokenKind};

/// Where a compiler says that its output comes from.
#[derive(Debug, Default)]
pub struct Places<'t> {
    /// The files of `.file` by their numbers.
    files: HashMap<&'t str, &'t str>,
    /// From which place of the text on which file's line is told; none from the head of a function up to its first `.loc`.
    marks: Vec<(u32, Option<(&'t str, &'t str)>)>,
}

impl<'t> Places<'t> {
    /// Reads the directives of a text.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let mut found = Self::default();
        let mut tokens = Lexer::new(text)
            .filter(|token| {
                !matches!(
                    token.kind,
                    TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment
                )
            })
            .peekable();
        while let Some(token) = tokens.next() {
            let mut number =
                || tokens.next_if(|next| next.kind == TokenKind::Integer).map(|next| next.span.text(text));
            match token.kind {
                TokenKind::File => {
                    let Some(file) = number() else { continue };
                    let Some(name) = tokens.next_if(|next| next.kind == TokenKind::String) else { continue };
                    found.files.insert(file, name.span.text(text).trim_matches('"'));
                }
                TokenKind::Loc if token.span.text(text) == DirectiveKind::Loc.word() => {
                    // Line 0 is what no line of the source asks for.
                    let place = number().zip(number()).filter(|(_, line)| *line != "0");
                    found.marks.push((token.span.start, place));
                }
                TokenKind::Entry | TokenKind::Func => found.marks.push((token.span.start, None)),
                _ => {}
            }
        }
        found
    }

    /// The file and the line that the place at `offset` was made of, as the text writes them.
    #[must_use]
    pub fn at(&self, offset: u32) -> Option<(&'t str, &'t str)> {
        let before = self.marks.partition_point(|(start, _)| *start <= offset);
        let (file, line) = self.marks[..before].last()?.1?;
        Some((*self.files.get(file)?, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_from_its_directive_to_the_end_of_the_function() {
        let text = ".version 8.0\n.target sm_90\n.entry k() {\n A;\n.loc 1 7 3\n B;\n// .loc 1 9 0\n.loc 2 8 1, function_name \
                    $L, inlined_at 1 7 3\n C;\n.loc 1 0 3\n D;\n.loc 5 1 1\n E; }\n.func f() {\n F; }\n.file 1 \"a b.cu\"\n.file 2 \"c.h\"\n";
        let places = Places::of(text);
        let at = |statement: &str| places.at(text.find(statement).unwrap() as u32);
        assert_eq!(at("A;"), None);
        assert_eq!(at("B;"), Some(("a b.cu", "7")));
        assert_eq!(at("C;"), Some(("c.h", "8")));
        assert_eq!(at("D;"), None, "line 0");
        assert_eq!(at("E;"), None, "no such file");
        assert_eq!(at("F;"), None, "another function");
        assert_eq!(Places::of(".loc .file 1 .loc 1 \"").at(20), None);
    }
}
