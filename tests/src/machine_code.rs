//! What a cubin holds, section by section, so that two of them can be compared.
//!
//! A cubin is an ELF file. Two of its sections repeat the text that it was made from: `.nv_debug_ptx_txt` has the
//! PTX itself, and `.nv_debug_line_sass` the line of it that each machine instruction comes from. They change
//! with every blank line, and so may the name of the first, which relocatable code follows with a checksum. Everything
//! else is machine code, data and what the loader needs.

use std::fmt;

/// A section: its name, the fields of its header that do not depend on where it lies, and its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Section {
    /// The name.
    pub name: String,
    /// Type, flags, size, link, info and alignment.
    pub header: [u64; 6],
    /// The bytes; none of a section without any in the file.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.bytes.len())
    }
}

/// Parts of the names of sections that quote the PTX text, which newer targets have twice; and the two that hold
/// names, which are compared with what they name.
const OF_THE_TEXT: [&str; 4] = ["nv_debug_ptx_txt", "nv_debug_line_sass", ".shstrtab", ".strtab"];

/// The sections of a cubin but for those that quote its source; none where it is no ELF file of 64 bits.
#[must_use]
pub fn sections(cubin: &[u8]) -> Option<Vec<Section>> {
    const SYMBOLS: u64 = 2;
    const NO_BITS: u64 = 8;
    if !cubin.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = word(cubin, 0x28, 8)?;
    let (size, count, names) = (word(cubin, 0x3a, 2)?, word(cubin, 0x3c, 2)?, word(cubin, 0x3e, 2)?);
    let header = |index: u64| usize::try_from(table.checked_add(index.checked_mul(size)?)?).ok();
    let names = word(cubin, header(names)? + 24, 8)?;
    let mut sections = Vec::new();
    for index in 0..count {
        let at = header(index)?;
        let name = usize::try_from(names + word(cubin, at, 4)?).ok()?;
        let name = String::from_utf8_lossy(&name_at(cubin, name)?).into_owned();
        let (kind, length) = (word(cubin, at + 4, 4)?, word(cubin, at + 32, 8)?);
        let start = usize::try_from(word(cubin, at + 24, 8)?).ok()?;
        let end = if kind == NO_BITS { start } else { start.checked_add(usize::try_from(length).ok()?)? };
        let bytes = cubin.get(start..end)?;
        let bytes = if kind == SYMBOLS {
            let names = word(cubin, header(word(cubin, at + 40, 4)?)? + 24, 8)?;
            with_names(cubin, bytes, usize::try_from(names).ok()?)?
        } else {
            bytes.to_vec()
        };
        let flags = word(cubin, at + 8, 8)?;
        let (link, info, align) =
            (word(cubin, at + 40, 4)?, word(cubin, at + 44, 4)?, word(cubin, at + 48, 8)?);
        if !OF_THE_TEXT.iter().any(|of_the_text| name.contains(of_the_text)) {
            sections.push(Section { name, header: [kind, flags, length, link, info, align], bytes });
        }
    }
    Some(sections)
}

/// A table of symbols, each with its name in place of the name's offset, checksums taken off.
fn with_names(cubin: &[u8], table: &[u8], names: usize) -> Option<Vec<u8>> {
    const ENTRY: usize = 24;
    let mut bytes = Vec::with_capacity(table.len());
    for symbol in table.chunks_exact(ENTRY) {
        let name = name_at(cubin, names.checked_add(usize::try_from(word(symbol, 0, 4)?).ok()?)?)?;
        let quoted = String::from_utf8_lossy(&name).contains(OF_THE_TEXT[0]);
        bytes.extend_from_slice(if quoted { OF_THE_TEXT[0].as_bytes() } else { &name });
        bytes.extend_from_slice(&symbol[4..]);
    }
    Some(bytes)
}

fn name_at(bytes: &[u8], at: usize) -> Option<Vec<u8>> {
    Some(bytes.get(at..)?.iter().copied().take_while(|&byte| byte != 0).collect())
}

/// The first thing in which two cubins differ; none where they are the same program.
#[must_use]
pub fn difference(left: &[u8], right: &[u8]) -> Option<String> {
    if left == right {
        return None;
    }
    let (Some(left), Some(right)) = (sections(left), sections(right)) else {
        return Some("one of them is no ELF file".to_owned());
    };
    for (left, right) in left.iter().zip(&right) {
        if left != right {
            return Some(format!("{left:?} and {right:?} differ"));
        }
    }
    (left.len() != right.len()).then(|| format!("{} and {} sections", left.len(), right.len()))
}

fn word(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
}
