//! Text from elsewhere, made safe to show.
//!
//! File names, source lines and the messages of other programs are written by strangers. On a terminal
//! their control characters move the cursor, change the title or hide what is there. In the log of a CI
//! job a line can be a command to the runner: GitHub's begins with `::`, and GitHub, Azure and TeamCity
//! look for `##[…]`, `##vso[…]` and `##teamcity[…]` anywhere in a line.
//!
//! Every such string passes through this module before it reaches a terminal or a log. What must not be
//! shown becomes a visible escape: `\n`, `\x1b`, `\u{202e}`. JSON keeps the exact text and escapes
//! within its own rules. Only documents keep their bytes (formatted text, and differences that `patch`
//! reads), and those only where standard output is no terminal.
//!
//! `clippy.toml` refuses the shortcuts: `Path::display`, `println!` and their like.
//!
//! ```
//! assert_eq!(ptx_project::foreign::line("a\x1b[2J\nb"), "a\\x1b[2J\\nb");
//! ```

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ptx_syntax::Diagnostic;
use serde::Serialize;

/// The name of a source: its path as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(PathBuf);

impl<P: Into<PathBuf>> From<P> for Name {
    fn from(path: P) -> Self {
        Self(path.into())
    }
}

impl Name {
    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The name as data for other programs: exact where it is UTF-8. Other bytes are written `\xfe`, so
    /// that two names stay two.
    #[must_use]
    pub fn exact(&self) -> Cow<'_, str> {
        match self.0.to_str() {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(readable(self.0.as_os_str())),
        }
    }

    /// The name as the header of a difference has it: quoted, as git does it, where it would break the
    /// line.
    #[must_use]
    pub fn in_difference(&self) -> String {
        let bytes = self.0.as_os_str().as_encoded_bytes();
        let plain = |byte: &u8| !byte.is_ascii_control() && !b"\"\\".contains(byte);
        if bytes.iter().all(plain) && self.0.to_str().is_some_and(|name| !name.contains(is_unsafe)) {
            return self.exact().into_owned();
        }
        let mut quoted = String::from("\"");
        for byte in bytes {
            // Writing to a string cannot fail.
            let _ = match byte {
                b'"' | b'\\' => write!(quoted, "\\{}", char::from(*byte)),
                b' '..=b'~' => write!(quoted, "{}", char::from(*byte)),
                _ => write!(quoted, "\\{byte:03o}"),
            };
        }
        quoted.push('"');
        quoted
    }
}

/// The name for people, on one line.
impl Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.exact();
        // The same file under a name that is no command where it begins a line.
        if name.trim_start().starts_with("::") {
            f.write_str("./")?;
        }
        f.write_str(&line(&name))
    }
}

/// A path for people, on one line.
#[must_use]
pub fn path(path: &Path) -> String {
    Name::from(path).to_string()
}

/// `name` with each byte that is not part of UTF-8 as `\xfe`.
fn readable(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// `text` on one line.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// `text` with its line breaks and tabs.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| line.trim_start().starts_with("::")) {
        return escaped(text, |each| matches!(each, '\n' | '\t'));
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        let content = line.trim_start();
        match content.strip_prefix(':') {
            Some(rest) if rest.starts_with(':') => {
                shown.push_str(&line[..line.len() - content.len()]);
                shown.push_str("\\x3a");
                shown.push_str(rest);
            }
            _ => shown.push_str(line),
        }
    }
    Cow::Owned(escaped(&shown, |each| matches!(each, '\n' | '\t')).into_owned())
}

/// The characters of a source line with their offsets, each with what stands for it where it must not be
/// shown: a character of the same width, so that underlines stay where they belong.
pub fn pictures(source: &str) -> impl Iterator<Item = (usize, char, Option<char>)> {
    source.char_indices().map(|(at, each)| {
        let picture = match each {
            '\t' => None,
            '\0'..='\x1f' => char::from_u32(0x2400 + each as u32),
            '\x7f' => Some('\u{2421}'),
            '#' if begins_command(source, at) => Some('\u{266f}'),
            each if is_unsafe(each) => Some(char::REPLACEMENT_CHARACTER),
            _ => None,
        };
        (at, each, picture)
    })
}

/// Whether a character may change what a terminal shows of others: control characters, the marks that
/// turn the direction of text, and separators of lines.
fn is_unsafe(each: char) -> bool {
    each.is_control()
        || matches!(each, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let unsafe_here = |each: char| is_unsafe(each) && !kept(each);
    if !text.contains(unsafe_here) && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for (at, each) in text.char_indices() {
        // Writing to a string cannot fail.
        let _ = match each {
            '#' if begins_command(text, at) => write!(shown, "\\x23"),
            each if !unsafe_here(each) => write!(shown, "{each}"),
            '\n' => write!(shown, "\\n"),
            '\r' => write!(shown, "\\r"),
            '\t' => write!(shown, "\\t"),
            '\0'..='\x7f' => write!(shown, "\\x{:02x}", each as u32),
            each => write!(shown, "\\u{{{:x}}}", each as u32),
        };
    }
    Cow::Owned(shown)
}

/// Whether the `#` at `at` is the second of a command such as `##[error]` or `##vso[…]`.
fn begins_command(text: &str, at: usize) -> bool {
    let after = text[at + 1..].trim_start_matches(|each: char| each.is_ascii_alphabetic());
    text[..at].ends_with('#') && after.starts_with('[')
}

/// Findings whose texts can be shown. The source's own text is not touched.
#[must_use]
pub fn diagnostics(found: &[Diagnostic]) -> Cow<'_, [Diagnostic]> {
    if found.iter().all(|each| texts(each).all(|text| matches!(line(text), Cow::Borrowed(_)))) {
        return Cow::Borrowed(found);
    }
    Cow::Owned(found.iter().cloned().map(diagnostic).collect())
}

/// All texts of a finding.
fn texts(found: &Diagnostic) -> impl Iterator<Item = &str> {
    let fix = found
        .fix
        .iter()
        .flat_map(|fix| std::iter::once(&fix.message).chain(fix.edits.iter().map(|edit| &edit.replacement)));
    let own = [&found.message, &found.label].into_iter().chain(&found.notes).chain(&found.help);
    own.chain(found.labels.iter().map(|label| &label.message)).chain(fix).map(String::as_str)
}

fn diagnostic(mut found: Diagnostic) -> Diagnostic {
    let one_line = |text: &mut String| *text = line(text).into_owned();
    let lines = |each: &mut String| *each = text(each).into_owned();
    one_line(&mut found.message);
    one_line(&mut found.label);
    found.labels.iter_mut().for_each(|label| one_line(&mut label.message));
    found.notes.iter_mut().chain(&mut found.help).for_each(lines);
    if let Some(fix) = &mut found.fix {
        one_line(&mut fix.message);
        fix.edits.iter_mut().for_each(|edit| lines(&mut edit.replacement));
    }
    found
}

/// Writes `value` as JSON in which no character is one that a terminal or a runner would act on.
///
/// # Errors
/// Those of `out`, and those of a value that has no JSON form.
pub fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, SafeJson);
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// Compact JSON whose strings hold printable characters only.
struct SafeJson;

impl serde_json::ser::Formatter for SafeJson {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, each) in fragment.char_indices() {
            if is_unsafe(each) || (each == '#' && begins_command(fragment, at)) {
                out.write_all(&fragment.as_bytes()[written..at])?;
                // All of them are in the basic plane.
                write!(out, "\\u{:04x}", each as u32)?;
                written = at + each.len_utf8();
            }
        }
        out.write_all(&fragment.as_bytes()[written..])
    }
}

/// Writes text line by line, each made safe to show.
#[derive(Debug)]
pub struct Lines<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Lines<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, line: Vec::new() }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let shown = String::from_utf8_lossy(&self.line);
        self.out.write_all(text(&shown).as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    /// Ends the last line; what follows is a line of its own.
    fn flush(&mut self) -> io::Result<()> {
        self.write_line()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_becomes_visible() {
        let hostile = "a\x1b]0;x\x07\u{9b}2J\u{202e}\r\n\tb\x7f";
        assert_eq!(line(hostile), "a\\x1b]0;x\\x07\\u{9b}2J\\u{202e}\\r\\n\\tb\\x7f");
        assert_eq!(text(hostile), "a\\x1b]0;x\\x07\\u{9b}2J\\u{202e}\\r\n\tb\\x7f");
        assert_eq!(line("é 漢 🙂 # ## C[1]"), "é 漢 🙂 # ## C[1]");
    }

    #[test]
    fn commands_of_runners_become_text() {
        assert_eq!(text("x\n ::warning::y\n:z ::a"), "x\n \\x3a:warning::y\n:z ::a");
        assert_eq!(text("::error::x"), "\\x3a:error::x");
        assert_eq!(
            line("a ##[error]b ##vso[c] ###[d] ##e f["),
            "a #\\x23[error]b #\\x23vso[c] ##\\x23[d] ##e f["
        );
        assert_eq!(Name::from("::warning file=a::b.ptx").to_string(), "./::warning file=a::b.ptx");
        assert_eq!(Name::from("/::b.ptx").to_string(), "/::b.ptx");
    }

    #[test]
    fn json_is_exact_and_printable() {
        let mut out = Vec::new();
        let hostile = "a\"\\\x1b\u{9b}\u{202e}\n##[error]\u{7f}é";
        write_json(&mut out, &[hostile]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, r#"["a\"\\\u001b\u009b\u202e\n#\u0023[error]\u007fé"]"#);
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [hostile]);
    }

    #[test]
    fn lines_are_made_safe_whatever_the_pieces() {
        let mut out = Vec::new();
        let mut lines = Lines::new(&mut out);
        for piece in ["a #", "#[error]\n", ":", ":x\u{9b}"] {
            lines.write_all(piece.as_bytes()).unwrap();
        }
        lines.flush().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a #\\x23[error]\n\\x3a:x\\u{9b}");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_differ_are_shown_differently() {
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &[u8]| Name::from(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name(b"a\xfe.ptx").to_string(), "a\\xfe.ptx");
        assert_eq!(name(b"a\xff.ptx").exact(), "a\\xff.ptx");
        assert_eq!(name(b"a b.ptx").in_difference(), "a b.ptx");
        assert_eq!(name(b"a\n\"\xff.ptx").in_difference(), "\"a\\012\\\"\\377.ptx\"");
    }
}
