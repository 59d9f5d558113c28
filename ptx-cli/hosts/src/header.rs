//! Which texts are PTX modules, and not parts or patterns of them.
//!
//! Programs that make PTX have its head in a string and print the rest (`head + body + "}"`), and patterns with words in
//! place of the target (`.target TARGET`, `{arch}`, `%s`). Nothing of the rest is known, so these are passed over.

use ptx_syntax::cuda::WILDCARD;
use ptx_syntax::lexer::{Lexer, TokenKind};

/// What a PTX module begins with.
pub(crate) const VERSION: &str = ".version";
/// What follows.
pub(crate) const TARGET: &str = ".target";

/// Whether a text is a PTX module from its head to its end.
pub(crate) fn is_whole(text: &str) -> bool {
    has_head(text) && has_end(text) && !text.contains("{{")
}

/// Whether the head has numbers where it needs some.
fn has_head(text: &str) -> bool {
    let is_blank = |line: &&str| line.is_empty() || line.starts_with("//");
    let mut lines = text.lines().map(str::trim).skip_while(is_blank);
    let Some(version) = lines.next().and_then(|first| first.strip_prefix(VERSION)) else { return false };
    let number = version.trim_start();
    let target = text.split_once(TARGET).map_or("", |(_, rest)| rest.lines().next().unwrap_or(""));
    let target = target.split([',', '/']).next().unwrap_or("");
    number.len() < version.len()
        && number.starts_with(|first: char| first.is_ascii_digit() || first == WILDCARD)
        && target.contains(|character: char| character.is_ascii_digit() || character == WILDCARD)
        && !target.contains(['%', '{', '$'])
}

/// Whether the text ends where a module can: with all braces closed, after a declaration or a body.
fn has_end(text: &str) -> bool {
    let (mut depth, mut last) = (0_i64, None);
    // What C reads ends with a NUL.
    let text = text.trim_end_matches('\0');
    for token in Lexer::new(text).filter(|token| !token.kind.is_trivia()) {
        match token.kind {
            TokenKind::OpenBrace => depth += 1,
            TokenKind::CloseBrace => depth -= 1,
            _ => {}
        }
        last = Some(token.kind);
    }
    // The head alone is no more than a part.
    depth == 0 && matches!(last, Some(TokenKind::CloseBrace | TokenKind::Semicolon))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_patterns_are_no_modules() {
        let head = ".version 7.8\n.target sm_80\n.address_size 64\n";
        let module = |rest: &str| is_whole(&format!("{head}{rest}"));
        assert!(module(".visible .entry k() { ret; }"));
        assert!(module(".visible .entry k(.param .u64 p) { { ret; } }\n// }\n.global .b32 x;\n"));
        assert!(module(".visible .entry k() { ld.u32 %r1, [%rd1; ret; }\0"), "what is wrong inside is found");
        assert!(!module(".visible .entry"));
        assert!(!module(".visible .entry k(.param .u64 p) {\n"));
        assert!(!module(".visible .entry k() { ret; } .func f"));
        assert!(!module(".visible .entry {name}(.param .u64 p) {{ ret; }}"));
        for head in
            [".version V\n.target sm_80\n", ".version 7.8\n.target %s\n", ".version 7.8\n.target sm_{arch}\n"]
        {
            assert!(!is_whole(&format!("{head}.visible .entry k() {{ ret; }}")));
        }
    }
}
