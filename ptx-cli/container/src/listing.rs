//! What `cuobjdump -ptx` prints: before each text a heading, a line of `=`, and some lines about it.

use std::ops::Range;

use crate::{Bytes, Found, Packed};

const PTX: &[u8] = b"Fatbin ptx code:";
const MACHINE_CODE: &[u8] = b"Fatbin elf code:";

/// Bytes in which a heading has to be, for the text to be a listing.
const HEAD: usize = 4096;

/// Whether the text begins with a heading, or with the lines about machine code or an archive that come before one.
pub(crate) fn is_listing(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let mut lines = Lines::of(head).map(|range| head[range].trim_ascii_end()).filter(|line| !line.is_empty());
    let before = |line: &&[u8]| line.starts_with(b"member ") || line.starts_with(b"File ");
    let first = lines.by_ref().find(|line| !before(line));
    first.is_some_and(|line| line == PTX || line == MACHINE_CODE)
        && lines.next().is_some_and(|line| line.starts_with(b"====") && line.iter().all(|byte| *byte == b'='))
}

/// Cuts a listing into its texts.
pub(crate) fn look(found: &mut Found, bytes: &Bytes) {
    let data = bytes.get();
    let mut module: Option<Draft> = None;
    let mut lines = Lines::of(data).peekable();
    while let Some(range) = lines.next() {
        let line = data[range.clone()].trim_ascii_end();
        let is_heading = (line == PTX || line == MACHINE_CODE)
            && lines.peek().is_some_and(|next| data[next.clone()].starts_with(b"===="));
        if is_heading || is_member(line, data, range.end) {
            push(found, bytes, module.take(), range.start);
        }
        if is_heading {
            lines.next();
            found.machine_code += usize::from(line == MACHINE_CODE);
            module = (line == PTX).then(Draft::default);
        } else if is_member(line, data, range.end) {
            found.member = member(line);
        } else if let Some(draft) = module.as_mut().filter(|draft| draft.start.is_none()) {
            draft.line(line, range);
        }
    }
    push(found, bytes, module, data.len());
    found.member.clear();
}

/// A text whose end is still to come.
#[derive(Default)]
struct Draft {
    target: Option<String>,
    start: Option<usize>,
}

impl Draft {
    /// Takes a line after the heading: one about the text, such as `arch = sm_90a` and `compressed`, or the first of the
    /// text, which follows without anything between.
    fn line(&mut self, line: &[u8], range: Range<usize>) {
        if let Some(name) = line.strip_prefix(b"arch = ") {
            self.target = Some(String::from_utf8_lossy(name).into_owned());
        } else if !is_about(line) {
            self.start = Some(range.start);
        }
    }
}

/// Whether a line tells something of the text that follows: `code version = [9,5]`, `compressed`.
fn is_about(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b'=').next().unwrap_or(line);
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b' ');
    name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(is_letter)
}

fn push(found: &mut Found, bytes: &Bytes, draft: Option<Draft>, end: usize) {
    let Some(Draft { target, start: Some(start) }) = draft else { return };
    let data = bytes.get();
    // A line is empty after each text, and one before each heading.
    let added = if end < data.len() { 2 } else { 1 };
    let mut last = end;
    for _ in 0..added {
        last -= usize::from(last > start && data[start..last].ends_with(b"\n\n"));
    }
    let target = target.or_else(|| Some("unknown".to_owned()));
    found.module(target, Packed::Plain, bytes.part(start..last));
}

/// Whether a line names the member of an archive whose texts follow: an empty line and a heading do.
fn is_member(line: &[u8], data: &[u8], after: usize) -> bool {
    line.starts_with(b"member ") && line.ends_with(b":") && {
        let rest = data.get(after..).unwrap_or(&[]).trim_ascii_start();
        rest.starts_with(PTX)
            || rest.starts_with(MACHINE_CODE)
            || rest.is_empty()
            || rest.starts_with(b"member ")
    }
}

/// The name in `member lib.a:k.o:`.
fn member(line: &[u8]) -> String {
    let line = line.trim_ascii_end().strip_suffix(b":").unwrap_or(line);
    let name = line.rsplit(|byte| *byte == b':').next().unwrap_or(line);
    String::from_utf8_lossy(name).into_owned()
}

/// The places of the lines of a text, their ends included.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Lines<'t> {
    const fn of(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = self.at..self.at + length;
        self.at = line.end;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    #[test]
    fn a_listing_is_cut_into_its_texts() {
        let listing = "\nFatbin elf code:\n================\narch = sm_80\ncode version = [1,8]\n\nFatbin ptx code:\n\
                       ================\narch = sm_80\ncompressed\nptxasOptions = \n\n.version 9.5\n.target sm_80\n\n\
                       \nFatbin ptx code:\n================\narch = sm_90a\n.version 9.5\n.target sm_90a\n\n";
        let contents = crate::open("l.txt", Arc::new(listing.into())).unwrap();
        let texts: Vec<_> = contents
            .modules
            .iter()
            .map(|module| String::from_utf8(module.text().unwrap()).unwrap())
            .collect();
        assert_eq!(texts, ["\n.version 9.5\n.target sm_80\n", ".version 9.5\n.target sm_90a\n"]);
        let names: Vec<_> = contents.modules.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names, ["1.sm_80.ptx", "2.sm_90a.ptx"]);
        assert_eq!(contents.machine_code, 1);
    }
}
