//! One source text: where it came from, its bytes, and the text that is analysed.
//!
//! NVIDIA's assembler takes any byte above 127 in a comment, so a file in Latin-1 is good PTX though
//! it is not UTF-8. Every byte that is not part of valid UTF-8 is replaced by one [`PLACEHOLDER`] for
//! analysis: offsets, lines and columns stay those of the file, a comment stays a comment, and outside
//! a comment the placeholder is as unexpected as the byte was. The changed text is never written back.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use ptx_hosts::Language;
use ptx_ir::directive::DirectiveKind;
use ptx_syntax::Diagnostic;

use crate::error::Error;
use crate::foreign::Name;

/// Files larger than this are refused before they are read: a place in a text has 32 bits, which count 4 GiB. Ends of
/// places, and what is computed from them, stay below that too.
pub const MAX_BYTES: u64 = (4 << 30) - (1 << 20);

/// Pipes and devices do not tell their size and may never end: at most this many bytes are read of one.
pub const MAX_STREAM_BYTES: u64 = 256 << 20;

/// Stands for one byte that is not part of valid UTF-8: the ASCII control character DEL, which PTX has as little as
/// the byte. NVIDIA's assembler calls both non-ASCII.
pub const PLACEHOLDER: u8 = 0x7f;

/// The text of [`PLACEHOLDER`].
const PLACEHOLDER_TEXT: &str = "\x7f";

/// A finding about bytes that are no UTF-8 names so many of them.
const MAX_NAMED_BYTES: usize = 8;

/// The rule of [`Source::not_text`].
pub const NOT_TEXT: &str = "not-text";

/// What language a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX.
    Ptx,
    /// CUDA C++, whose asm statements are verified.
    Cuda,
    /// Another language that inline PTX is written in.
    Host(Language),
}

/// Extensions of CUDA C++ sources and headers.
const CUDA_EXTENSIONS: [&str; 8] = ["cu", "cuh", "h", "hpp", "cpp", "cc", "inl", "inc"];

impl Kind {
    /// The kind that the extension of `path` names, if it names one.
    #[must_use]
    pub fn by_extension(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        if extension.eq_ignore_ascii_case("ptx") {
            return Some(Self::Ptx);
        }
        if let Some(language) = Language::by_extension(extension) {
            return Some(Self::Host(language));
        }
        CUDA_EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)).then_some(Self::Cuda)
    }

    /// The name of the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Cuda => "CUDA C++",
            Self::Host(language) => language.name(),
        }
    }

    /// The kind of a file that the user named: PTX unless its extension says otherwise.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        Self::by_extension(path).unwrap_or(Self::Ptx)
    }
}

/// A source text in memory.
#[derive(Debug)]
pub struct Source {
    /// The name to show.
    pub name: Name,
    /// The language.
    pub kind: Kind,
    /// The text to analyse, of the same length as the file.
    pub text: String,
    /// The bytes of the file where they differ from `text`.
    original: Option<Vec<u8>>,
}

/// The message of an I/O error without Rust's "(os error 2)"; on Windows, what is usual in the words of other systems.
#[must_use]
pub fn plain(error: &io::Error) -> String {
    if cfg!(windows) && error.raw_os_error().is_some() {
        match error.kind() {
            io::ErrorKind::NotFound => return "no such file or directory".to_owned(),
            io::ErrorKind::PermissionDenied => return "permission denied".to_owned(),
            _ => {}
        }
    }
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_lowercase(),
        None => text,
    }
}

/// The bytes of a file of at most [`MAX_BYTES`], or of a pipe or device of at most [`MAX_STREAM_BYTES`].
///
/// # Errors
/// It cannot be read, is a folder, or is larger.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let directory = || io::Error::other("it is a directory");
    // Windows opens no directory.
    let file = File::open(path).map_err(|error| if path.is_dir() { directory() } else { error })?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(directory());
    }
    if metadata.len() > MAX_BYTES {
        let (is, supported) = (metadata.len() >> 20, MAX_BYTES >> 20);
        return Err(io::Error::other(format!(
            "its {is} MiB are more than the {supported} MiB that are supported"
        )));
    }
    let max = if metadata.is_file() { MAX_BYTES } else { MAX_STREAM_BYTES };
    read_limited(file, metadata.len() as usize, max)
}

/// The text of a file that is read besides the sources, of at most `max` bytes. Only regular files are: a
/// device may never end, and a pipe may never begin.
///
/// # Errors
/// It cannot be read, is none, is larger, or is not UTF-8.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    check_regular(&path.metadata()?, max)?;
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    // It may have grown since, or be another one.
    file.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::other(format!("it is larger than the {} MiB that are supported", max >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Fails on what is no regular file or larger than `max` bytes.
///
/// # Errors
/// That.
pub fn check_regular(of: &Metadata, max: u64) -> io::Result<()> {
    if of.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if !of.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if of.len() > max {
        let (is, supported) = (of.len().div_ceil(1 << 20), max >> 20);
        return Err(io::Error::other(format!(
            "its {is} MiB are more than the {supported} MiB that are supported"
        )));
    }
    Ok(())
}

/// What is written behind a text and is no part of it.
///
/// The C library compares names with masked vectors. Where such a vector reaches into a page that nobody has touched, the
/// processor takes some hundred times as long, and a name at the end of a text may be compared with a million others.
const BEHIND: [u8; 64] = [0; 64];

/// Reads at most `max` bytes, of which `expected` are expected.
///
/// # Errors
/// There are more, or they cannot be read.
pub fn read_limited(reader: impl Read, expected: usize, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(expected + BEHIND.len())?;
    reader.take(max + 1).read_to_end(&mut bytes)?;
    let length = bytes.len();
    if length as u64 <= max {
        bytes.extend(BEHIND);
        bytes.truncate(length);
        return Ok(bytes);
    }
    let what = if max < MAX_BYTES { "read of a pipe or a device; write it to a file" } else { "supported" };
    Err(io::Error::other(format!("more than the {} MiB that are {what}", max >> 20)))
}

impl Source {
    /// The source that a file is. Its name tells the language: PTX, unless its extension is another's.
    ///
    /// # Errors
    /// It cannot be read, or has more than [`MAX_BYTES`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_file(path).map_err(|error| Error::Read { name: path.into(), error })?;
        Ok(Self::new(path.into(), Kind::of(path), bytes))
    }

    /// A source of these bytes.
    #[must_use]
    pub fn new(name: Name, kind: Kind, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { name, kind, text, original: None },
            Err(error) => {
                let bytes = error.into_bytes();
                let text = replace_invalid(&bytes);
                Self { name, kind, text, original: Some(bytes) }
            }
        }
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.original.as_deref().unwrap_or(self.text.as_bytes())
    }

    /// Bytes for a text that was derived from [`Source::text`] by moving tokens and comments without
    /// reordering them: each placeholder becomes the byte that it stands for. `None` where the number
    /// of placeholders changed, so that nothing wrong is ever written.
    #[must_use]
    pub fn restore(&self, derived: String) -> Option<Vec<u8>> {
        let Some(original) = &self.original else { return Some(derived.into_bytes()) };
        let mut hidden = self.text.bytes().zip(original).filter(|(shown, _)| *shown == PLACEHOLDER);
        let mut bytes = derived.into_bytes();
        for byte in bytes.iter_mut().filter(|byte| **byte == PLACEHOLDER) {
            *byte = *hidden.next()?.1;
        }
        hidden.next().is_none().then_some(bytes)
    }

    /// Whether a text that was taken for PTX has what CUDA C++ begins with, and nothing that PTX does.
    #[must_use]
    pub fn looks_like_cuda(&self) -> bool {
        const WORDS: [&str; 5] = ["__global__", "__device__", "asm(", "asm volatile", "namespace "];
        const DIRECTIVES: [&str; 4] = ["#include", "#define", "#pragma", "#if"];
        let directive = |line: &str| DIRECTIVES.iter().any(|each| line.trim_start().starts_with(each));
        self.kind == Kind::Ptx
            && !self.text.contains(DirectiveKind::Version.word())
            && (self.text.lines().any(directive) || WORDS.iter().any(|word| self.text.contains(word)))
    }

    /// Names the bytes that are no UTF-8 in findings about them, which know only the placeholder.
    pub fn name_bytes(&self, findings: &mut [Diagnostic]) {
        let Some(original) = &self.original else { return };
        for found in findings.iter_mut().filter(|found| found.span.text(&self.text) == PLACEHOLDER_TEXT) {
            let shown = self.text.as_bytes().get(found.span.start as usize..).unwrap_or(&[]).iter();
            let bytes = original.get(found.span.start as usize..).unwrap_or(&[]).iter().zip(shown);
            let hidden = bytes.take_while(|(byte, shown)| **shown == PLACEHOLDER && **byte != PLACEHOLDER);
            let names: Vec<String> =
                hidden.take(MAX_NAMED_BYTES).map(|(byte, _)| format!("0x{byte:02X}")).collect();
            found.message = match names.as_slice() {
                [] => continue,
                [name] => format!("unexpected byte {name}, which is no UTF-8"),
                names => format!("unexpected bytes {}, which are no UTF-8", names.join(" ")),
            };
        }
    }

    /// The finding for a file that is no text at all, so that users see one sentence instead of a
    /// thousand unexpected characters.
    #[must_use]
    pub fn not_text(&self) -> Option<Diagnostic> {
        let (what, help) = binary_kind(self.bytes())?;
        if self.kind == Kind::Cuda && is_wide_header(self.name.path(), self.bytes()) {
            return None;
        }
        let wanted = match self.kind {
            Kind::Ptx => "PTX text",
            Kind::Cuda => "CUDA C++",
            Kind::Host(language) => language.name(),
        };
        Some(ptx_verify::not_text(format!("the file is {what}, not {wanted}"), help))
    }
}

/// Whether a header is UTF-16 text, as those of Windows' resources are, and has nothing that could be verified.
fn is_wide_header(path: &Path, bytes: &[u8]) -> bool {
    let is_header = path.extension().is_some_and(|extension| extension == "h" || extension == "hpp");
    let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let plain: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    is_header && is_wide && !ptx_syntax::cuda::may_contain_asm(&plain)
}

fn replace_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::from(PLACEHOLDER)));
    }
    text
}

/// Takes PTX out of what a CUDA compiler makes.
const EXTRACT: &str = "`ptx-cli extract FILE` tells the PTX that it carries, if it carries any";
const CONVERT: &str = "convert it: `iconv -f UTF-16 -t UTF-8 FILE`";
const CONVERT_LONG: &str = "convert it: `iconv -f UTF-32 -t UTF-8 FILE`";

/// The beginnings of files that come instead of text, what they are, and how to get at the text.
const MAGIC: [(&[u8], &str, &str); 13] = [
    (b"\x7fELF", "an ELF object", EXTRACT),
    (b"\x50\xed\x55\xba", "a CUDA fat binary", EXTRACT),
    (b"\x1f\x8b", "compressed with gzip", "decompress it: `gzip -dc FILE | ptx-cli verify -`"),
    (b"\xfd7zXZ\0", "compressed with xz", "decompress it: `xz -dc FILE | ptx-cli verify -`"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it: `zstd -dc FILE | ptx-cli verify -`"),
    (b"BZh91AY&SY", "compressed with bzip2", "decompress it: `bzip2 -dc FILE | ptx-cli verify -`"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it: `unzip FILE`"),
    (b"!<arch>\n", "a library of objects", EXTRACT),
    (b"BC\xc0\xde", "LLVM bitcode", "compile it: `llc -march=nvptx64 FILE` writes PTX"),
    // Before that of UTF-16, which it begins with.
    (b"\xff\xfe\0\0", "UTF-32 text", CONVERT_LONG),
    (b"\0\0\xfe\xff", "UTF-32 text", CONVERT_LONG),
    (b"\xff\xfe", "UTF-16 text", CONVERT),
    (b"\xfe\xff", "UTF-16 text", CONVERT),
];

/// What `bytes` are and what to do about it, where they are no text.
fn binary_kind(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if let Some((_, what, help)) = MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Some((what, help));
    }
    // Text may hold a stray NUL, which the lexer then reports at its place; binary data is full of them.
    let head = &bytes[..bytes.len().min(8192)];
    let control = head.iter().filter(|byte| **byte < 32 && !b"\t\n\x0b\x0c\r\x1a".contains(byte)).count();
    if !head.contains(&0) || control < 4 || control * 20 <= head.len() {
        return None;
    }
    // Without a byte order mark: every other byte is zero, and the bytes between them are not.
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), head.len() / 2);
    if even.min(odd) * 10 < half && even.max(odd) * 10 > 9 * half {
        // Without the mark, `iconv` has to be told the order of the bytes.
        let convert = match even > odd {
            true => "convert it: `iconv -f UTF-16BE -t UTF-8 FILE`",
            false => "convert it: `iconv -f UTF-16LE -t UTF-8 FILE`",
        };
        return Some(("UTF-16 text", convert));
    }
    Some(("binary data", "give the text; a compiler writes it with `nvcc -ptx`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(bytes: &[u8]) -> Source {
        Source::new("a.ptx".into(), Kind::Ptx, bytes.to_vec())
    }

    #[test]
    fn invalid_bytes_keep_every_offset() {
        let latin = source(b"// caf\xe9\n.version \xff\xc3\x28 \xc3\xa9");
        assert_eq!(latin.text.len(), latin.bytes().len());
        assert_eq!(latin.text, "// caf\u{7f}\n.version \u{7f}\u{7f}( \u{e9}");
    }

    #[test]
    fn placeholders_become_their_bytes_again() {
        let latin = source(b"a \x1a \x7f \xe9\xe8");
        assert_eq!(latin.restore("a\n\u{7f}\u{7f}\u{7f}".into()).as_deref(), Some(&b"a\n\x7f\xe9\xe8"[..]));
        assert_eq!(latin.restore("a \u{7f}\u{7f}".into()), None);
        assert_eq!(latin.restore("a \u{7f}\u{7f}\u{7f}\u{7f}".into()), None);
    }

    #[test]
    fn findings_name_the_bytes_that_are_no_utf8() {
        let said = |bytes: &[u8]| {
            let source = source(bytes);
            let mut found = ptx_verify::check(&source.text, &ptx_verify::Config::default());
            source.name_bytes(&mut found);
            found.into_iter().map(|found| (found.message, found.help)).next().unwrap()
        };
        let header = b".version 8.6\n.target sm_90a\n.address_size 64\n.global .b32 ";
        let (message, help) = said(&[header, &b"caf\xe9;\n"[..]].concat());
        assert_eq!(message, "unexpected byte 0xE9, which is no UTF-8");
        assert!(help.unwrap().contains("names are ASCII"));
        let (message, _) = said(&[header, &b"\xff\xfe;\n"[..]].concat());
        assert_eq!(message, "unexpected bytes 0xFF 0xFE, which are no UTF-8");
        let (message, _) = said(&[header, &b"caf\x7f; // \xe9\n"[..]].concat());
        assert_eq!(message, "unexpected character U+007F");
    }

    #[test]
    fn binaries_are_recognised_and_text_is_not() {
        assert!(source(b"\x7fELF\x02\x01").not_text().is_some());
        assert!(source(&[0; 100]).not_text().is_some());
        assert!(source(b".version 8.6\n.target sm_90\n.address_size 64\n\0").not_text().is_none());
        assert!(source(b"").not_text().is_none());
    }
}
