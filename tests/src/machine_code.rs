//! What a cubin holds, section by section, so that two of them can be compared.
//!
//! A cubin is an ELF file. Two of its sections repeat the text that it was made from: `.nv_debug_ptx_txt` has the
//! PTX itself, and `.nv_debug_line_sass` the line of it that each machine instruction comes from. They change
//! with every blank line. Everything else is machine code, data and what the loader needs.
//!
//! Relocatable code quotes the text in more ways: the names of local symbols end in line numbers, by which the symbols
//! are sorted, by whose indices others refer to them; prototypes are told by their lines. Of such cubins only the
//! sections of code and data are compared.

use std::fmt;

/// A section: its name, the fields of its header that do not depend on where it lies, and its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Section {
    /// The name.
    pub name: String,
    /// Type, flags, size and alignment; link and info too where the code is not relocatable.
    pub header: [u64; 6],
    /// The bytes; none of a section without any in the file.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.bytes.len())
    }
}

/// How the names of the sections end that quote the PTX text; newer targets have each twice.
const OF_THE_TEXT: [&str; 2] = ["nv_debug_ptx_txt", "nv_debug_line_sass"];

/// How the names of sections of code and data begin.
const CODE_AND_DATA: [&str; 4] = [".text", ".nv.constant", ".nv.global", ".nv.shared"];

/// The sections of a cubin that count; none where it is no ELF file of 64 bits.
#[must_use]
pub fn sections(cubin: &[u8]) -> Option<Vec<Section>> {
    const RELOCATABLE: u64 = 1;
    if !cubin.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let relocatable = word(cubin, 0x10, 2)? == RELOCATABLE;
    let table = word(cubin, 0x28, 8)?;
    let (size, count, names) = (word(cubin, 0x3a, 2)?, word(cubin, 0x3c, 2)?, word(cubin, 0x3e, 2)?);
    let header = |index: u64| usize::try_from(table.checked_add(index.checked_mul(size)?)?).ok();
    let names = usize::try_from(word(cubin, header(names)? + 24, 8)?).ok()?;
    let mut sections = Vec::new();
    for index in 0..count {
        let mut section = section(cubin, header(index)?, names)?;
        let counts = if relocatable {
            section.header[4..].fill(0);
            CODE_AND_DATA.iter().any(|start| section.name.starts_with(start))
        } else {
            !OF_THE_TEXT.iter().any(|end| section.name.ends_with(end))
        };
        if counts {
            sections.push(section);
        }
    }
    // The order follows from that of the symbols.
    if relocatable {
        sections.sort_by(|left, right| left.name.cmp(&right.name));
    }
    Some(sections)
}

/// The section whose header is at `at`; its name is at an offset from `names`.
fn section(cubin: &[u8], at: usize, names: usize) -> Option<Section> {
    const NO_BITS: u64 = 8;
    let name = cubin.get(names.checked_add(usize::try_from(word(cubin, at, 4)?).ok()?)?..)?;
    let name: Vec<u8> = name.iter().copied().take_while(|&byte| byte != 0).collect();
    let (kind, flags, length) = (word(cubin, at + 4, 4)?, word(cubin, at + 8, 8)?, word(cubin, at + 32, 8)?);
    let (link, info, align) = (word(cubin, at + 40, 4)?, word(cubin, at + 44, 4)?, word(cubin, at + 48, 8)?);
    let start = usize::try_from(word(cubin, at + 24, 8)?).ok()?;
    let name = String::from_utf8_lossy(&name).into_owned();
    // Shared and local memory have types of their own, and no bytes either.
    let empty = kind == NO_BITS || [".nv.shared", ".nv.local"].iter().any(|start| name.starts_with(start));
    let end = if empty { start } else { start.checked_add(usize::try_from(length).ok()?)? };
    Some(Section {
        name,
        header: [kind, flags, length, align, link, info],
        bytes: cubin.get(start..end)?.to_vec(),
    })
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
