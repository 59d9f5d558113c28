//! Texts that nothing but their beginning tells apart from others.

use memchr::{memchr, memmem};

/// What a module begins with, before its number.
const FIRST: &[u8] = b".version";

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether bytes begin as a module in PTX has to: with its version, and nothing but space and comments before it.
///
/// The number is part of it, for assemblers of other machines have a directive of this name, which takes a string.
pub(crate) fn is_ptx(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(MARK).unwrap_or(bytes);
    skipped(text)
        .strip_prefix(FIRST)
        .filter(|after| skipped(after).len() < after.len())
        .is_some_and(|after| skipped(after).first().is_some_and(u8::is_ascii_digit))
}

/// What follows space and comments; nothing where a comment has no end.
fn skipped(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let end = match text {
            [b'/', b'/', ..] => memchr(b'\n', text),
            [b'/', b'*', rest @ ..] => memmem::find(rest, b"*/").map(|end| end + 4),
            _ => return text,
        };
        text = end.and_then(|end| text.get(end..)).unwrap_or(&[]);
    }
}

#[cfg(test)]
mod tests {
    use super::is_ptx;

    #[test]
    fn a_module_begins_with_its_version() {
        for text in [
            ".version 6.0\n",
            "// BEGIN PREAMBLE\n.version\t6.0\n",
            "\u{feff}\r\n/* a *//* b\n */\n// c\r\n.version/**/3.1",
        ] {
            assert!(is_ptx(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "/",
            "/*/ .version 6.0",
            "// .version 6.0",
            ".version",
            ".version6.0",
            ".version \"01.01\"\n",
            ".versions 6",
            "x .version 6.0",
            ".text\n",
        ] {
            assert!(!is_ptx(text.as_bytes()), "{text}");
        }
    }
}
