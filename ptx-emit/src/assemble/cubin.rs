//! Reads figures from the finished machine code.
//!
//! The log of `ptxas` is written before the code is finished; once in 380 kernels its register
//! count was not that of the cubin (a texture kernel for `sm_107`), and from `sm_90` up it is silent
//! about constant memory. The cubin is what the driver loads, so where both speak, the cubin counts.
//!
//! A cubin is a 64-bit little-endian ELF file. Used here: `.nv.info` (per module: records "symbol,
//! register count"), `.nv.info.NAME` (per kernel: the `.maxntid` limit) and the size of
//! `.nv.constant0.NAME` (parameters and what the launch puts before them). The numbers of the
//! attributes were read off `cuobjdump -elf`. A file of another shape gives no figures, no error.

use std::collections::HashMap;

use super::report::{FunctionKind, FunctionUsage};

/// Section type of `.nv.info` and `.nv.info.NAME`.
const SHT_CUDA_INFO: u32 = 0x7000_0000;
/// Section type of the symbol table.
const SHT_SYMTAB: u32 = 2;
/// Format of an attribute that is followed by its 16-bit size and that many bytes.
const EIFMT_SVAL: u8 = 4;
/// Three 32-bit numbers: the largest block, per dimension.
const EIATTR_MAX_THREADS: u8 = 0x05;
/// Symbol index and register count, 32 bits each.
const EIATTR_REGCOUNT: u8 = 0x2f;

/// Puts the figures of `cubin` into the `functions` that it names.
pub(crate) fn complete(functions: &mut [FunctionUsage], cubin: &[u8]) {
    let Some(elf) = Elf::parse(cubin) else { return };
    let registers = elf.register_counts();
    for function in functions.iter_mut().filter(|function| function.kind == FunctionKind::Entry) {
        if let Some(&count) = registers.get(function.name.as_bytes()) {
            function.registers = Some(count);
        }
        if let Some(section) = elf.section(".nv.info.", &function.name) {
            function.max_threads = elf.max_threads(section).or(function.max_threads);
        }
        if function.const_bytes.is_none() {
            function.const_bytes = elf.section(".nv.constant0.", &function.name).map(|section| section.size);
        }
    }
}

/// A section header, as far as it is used.
struct Section {
    kind: u32,
    link: usize,
    offset: u64,
    size: u64,
}

/// The sections of an ELF file.
struct Elf<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
    /// By name; names of sections are unique in a cubin.
    by_name: HashMap<&'a [u8], usize>,
}

impl<'a> Elf<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let is_64_bit_little_endian = bytes.starts_with(b"\x7fELF\x02\x01");
        if !is_64_bit_little_endian {
            return None;
        }
        let table = usize::try_from(read_u64(bytes, 0x28)?).ok()?;
        let size = usize::from(read_u16(bytes, 0x3a)?);
        let count = usize::from(read_u16(bytes, 0x3c)?);
        let names = usize::from(read_u16(bytes, 0x3e)?);
        let mut sections = Vec::with_capacity(count);
        let mut name_offsets = Vec::with_capacity(count);
        for index in 0..count {
            let at = table.checked_add(index * size)?;
            name_offsets.push(read_u32(bytes, at)? as usize);
            sections.push(Section {
                kind: read_u32(bytes, at + 4)?,
                link: read_u32(bytes, at + 0x28)? as usize,
                offset: read_u64(bytes, at + 0x18)?,
                size: read_u64(bytes, at + 0x20)?,
            });
        }
        let mut elf = Self { bytes, sections, by_name: HashMap::new() };
        for (index, offset) in name_offsets.into_iter().enumerate() {
            if let Some(name) = elf.sections.get(names).and_then(|names| elf.string(names, offset)) {
                elf.by_name.insert(name, index);
            }
        }
        Some(elf)
    }

    /// The section called `prefix` followed by the name of a function.
    fn section(&self, prefix: &str, function: &str) -> Option<&Section> {
        let name = [prefix, function].concat();
        self.sections.get(*self.by_name.get(name.as_bytes())?)
    }

    fn content(&self, section: &Section) -> Option<&'a [u8]> {
        let start = usize::try_from(section.offset).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(section.size).ok()?)?)
    }

    /// The string at `offset` of a string table.
    fn string(&self, table: &Section, offset: usize) -> Option<&'a [u8]> {
        let rest = self.content(table)?.get(offset..)?;
        rest.split(|&byte| byte == 0).next()
    }

    /// The name of the symbol with this index.
    fn symbol_name(&self, index: usize) -> Option<&'a [u8]> {
        let symbols = self.sections.iter().find(|section| section.kind == SHT_SYMTAB)?;
        let entry = index.checked_mul(24)?;
        let offset = read_u32(self.content(symbols)?, entry)? as usize;
        self.string(self.sections.get(symbols.link)?, offset)
    }

    fn register_counts(&self) -> HashMap<&'a [u8], u32> {
        let mut counts = HashMap::new();
        let info = self.by_name.get(&b".nv.info"[..]).and_then(|&index| self.sections.get(index));
        let Some(info) = info.filter(|info| info.kind == SHT_CUDA_INFO) else { return counts };
        for (attribute, value) in attributes(self.content(info).unwrap_or_default()) {
            if attribute == EIATTR_REGCOUNT
                && let (Some(symbol), Some(count)) = (read_u32(value, 0), read_u32(value, 4))
                && let Some(name) = self.symbol_name(symbol as usize)
            {
                counts.insert(name, count);
            }
        }
        counts
    }

    fn max_threads(&self, info: &Section) -> Option<u32> {
        let mut found =
            attributes(self.content(info)?).filter(|&(attribute, _)| attribute == EIATTR_MAX_THREADS);
        let (_, value) = found.next()?;
        let sizes = [read_u32(value, 0)?, read_u32(value, 4)?, read_u32(value, 8)?];
        sizes.into_iter().try_fold(1_u32, u32::checked_mul)
    }
}

/// The attributes of an info section with their values; those of a fixed size have none here.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let &[format, attribute, low, high, ref rest @ ..] = bytes else { return None };
        let size = if format == EIFMT_SVAL { usize::from(u16::from_le_bytes([low, high])) } else { 0 };
        let value = rest.get(..size)?;
        bytes = &rest[size..];
        Some((attribute, value))
    })
}

fn read<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    read(bytes, at).map(u16::from_le_bytes)
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    read(bytes, at).map(u32::from_le_bytes)
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    read(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
#[path = "cubin_tests.rs"]
mod tests;
