//! The few facts of a PTX text that a back end needs before and after it compiles: the target to
//! compile for, and which functions are where.
//!
//! This reads raw bytes and not the syntax tree: a text that our parser refuses, or that is not
//! even UTF-8, still has a right to the assembler's verdict. Nothing is checked here.

use super::report::FunctionKind;
use ptx_ir::directive::DirectiveKind;

/// One `.entry` or `.func` of a text, in its order; a declaration and its definition are two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlinedFunction {
    pub name: String,
    pub kind: FunctionKind,
    /// Line of the name, from 1.
    pub line: u32,
}

/// The facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The list of the first `.target` directive: target and platform options.
    pub target: Vec<String>,
    /// Line of that directive, from 1.
    pub target_line: Option<u32>,
    /// Line of the first `.address_size` directive, from 1.
    pub address_size_line: Option<u32>,
    pub functions: Vec<OutlinedFunction>,
}

impl Outline {
    /// Reads `text` once from start to end.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut outline = Self::default();
        let mut words = Words { text, at: 0, line: 1 };
        while let Some(word) = words.next() {
            match directive(word) {
                Some(DirectiveKind::Target) if outline.target_line.is_none() => {
                    outline.target_line = Some(words.line);
                    outline.target = words.list();
                }
                Some(DirectiveKind::AddressSize) => {
                    outline.address_size_line.get_or_insert(words.line);
                }
                Some(DirectiveKind::Entry) => outline.push(FunctionKind::Entry, &mut words),
                Some(DirectiveKind::Func) => outline.push(FunctionKind::Func, &mut words),
                _ => {}
            }
        }
        outline
    }

    fn push(&mut self, kind: FunctionKind, words: &mut Words<'_>) {
        if let Some(name) = words.function_name() {
            self.functions.push(OutlinedFunction { name, kind, line: words.line });
        }
    }
}

fn directive(word: &[u8]) -> Option<DirectiveKind> {
    let word = if word.first() == Some(&b'.') { std::str::from_utf8(word).ok()? } else { return None };
    DirectiveKind::parse(word)
}

/// Splits a text into words: `.directive`, identifiers and numbers, strings, single other bytes.
/// White space and comments are skipped.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_trivia();
        let start = self.at;
        let first = *self.text.get(start)?;
        self.at += 1;
        if first == b'"' {
            // A string of PTX has no escapes; one that is not closed ends at its line.
            while self.text.get(self.at).is_some_and(|&byte| byte != b'"' && byte != b'\n') {
                self.at += 1;
            }
            if self.text.get(self.at) == Some(&b'"') {
                self.at += 1;
            }
        } else if is_word(first) {
            while self.text.get(self.at).is_some_and(|&byte| is_word(byte)) {
                self.at += 1;
            }
        }
        self.text.get(start..self.at)
    }

    fn skip_trivia(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match (byte, self.text.get(self.at + 1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b'/', Some(b'/')) => {
                    while self.text.get(self.at).is_some_and(|&byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                (b'/', Some(b'*')) => self.skip_block_comment(),
                (byte, _) if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        self.at += 2;
        while let Some(&byte) = self.text.get(self.at) {
            if byte == b'*' && self.text.get(self.at + 1) == Some(&b'/') {
                self.at += 2;
                return;
            }
            self.line += u32::from(byte == b'\n');
            self.at += 1;
        }
    }

    /// The next word without consuming it.
    fn peek(&self) -> Option<&'a [u8]> {
        Words { ..*self }.next()
    }

    /// Words separated by commas, as after `.target`.
    fn list(&mut self) -> Vec<String> {
        let mut list = Vec::new();
        while let Some(word) = self.peek().filter(|word| is_word(word[0]) && word[0] != b'.') {
            self.next();
            list.push(String::from_utf8_lossy(word).into_owned());
            if self.peek() != Some(b",") {
                break;
            }
            self.next();
        }
        list
    }

    /// The name after `.entry` or `.func`, which attributes and the return parameters may precede.
    fn function_name(&mut self) -> Option<String> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b"(" => depth += 1,
                b")" => depth = depth.saturating_sub(1),
                // Not a function after all: leave the text to the caller.
                b"{" | b"}" | b";" => return None,
                word if depth == 0 && is_word(word[0]) && word[0] != b'.' => {
                    self.next();
                    return Some(String::from_utf8_lossy(word).into_owned());
                }
                _ => {}
            }
            self.next();
        }
    }
}

/// Bytes of identifiers, numbers, directives and dotted opcodes.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &[u8]) -> Vec<(String, &'static str, u32)> {
        let functions = Outline::of(text).functions;
        functions.into_iter().map(|function| (function.name, function.kind.as_str(), function.line)).collect()
    }

    #[test]
    fn target_list_is_the_first_one_outside_comments() {
        let text = b"// .target sm_20\n/* .target\n sm_30 */ .version 8.0 .target /* x */\n sm_90a , debug\n.target sm_80";
        assert_eq!(Outline::of(text).target, ["sm_90a", "debug"]);
        assert_eq!(Outline::of(b".target").target, [""; 0]);
        assert_eq!(Outline::of(b".target sm_75,").target, ["sm_75"]);
        assert_eq!(Outline::of(b".target sm_20 .entry k(){}").target, ["sm_20"]);
    }

    #[test]
    fn functions_are_found_with_attributes_returns_and_parameters() {
        let text = b".visible .entry a(.param .u64 p)\n{ }\n.extern .func (.param .b32 r) b (.param .b32 x);\n\
            .func .attribute(.unified(1,2)) (.reg .u32 %ra)\n  c() { .file 1 \".entry no()\" }\n.weak .entry\n$d\n()";
        let expected = [("a", "entry", 1), ("b", "func", 3), ("c", "func", 5), ("$d", "entry", 7)];
        assert_eq!(names(text), expected.map(|(name, kind, line)| (name.to_owned(), kind, line)));
    }

    #[test]
    fn broken_texts_end_quietly() {
        for text in
            [&b""[..], b".entry", b".func (", b"/*", b"/", b"\"", b".func (a", b".entry {", b"\xff\xfe\0"]
        {
            assert!(names(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let pieces = [
            &b".entry "[..],
            b".func ",
            b"(",
            b")",
            b"/*",
            b"*/",
            b"//",
            b"\n",
            b"\"",
            b".target ",
            b",",
            b"\xff",
            b"k",
        ];
        arbtest::arbtest(|u| {
            let mut text = Vec::new();
            for _ in 0..u.arbitrary_len::<u8>()?.min(80) {
                text.extend_from_slice(pieces[u.choose_index(pieces.len())?]);
            }
            let lines = text.split(|&byte| byte == b'\n').count() as u32;
            let outline = Outline::of(&text);
            assert!(outline.functions.iter().all(|function| (1..=lines).contains(&function.line)));
            Ok(())
        })
        .budget_ms(300);
    }
}
