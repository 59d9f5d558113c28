//! Reads figures from the finished machine code.
//!
//! The log of `ptxas` is written before the code is finished; once in 380 kernels its register
//! count was not that of the cubin (a texture kernel for `sm_107`), and from `sm_90` up it is silent
//! about constant memory. The cubin is what the driver loads, so where both speak, the cubin counts.
//!
//! A cubin is a little-endian ELF file for the machine "CUDA", of 64 bits but for 32-bit modules.
//! Used here: the symbols of kernels, `.nv.info` (per module: records "symbol, register count"),
//! `.nv.info.NAME` (per kernel: the limits of `.maxntid` and `.reqntid`) and the size of
//! `.nv.constant0.NAME` (parameters and what the launch puts before them), and the code, `.text.NAME`. The numbers of the
//! attributes were read off `cuobjdump -elf`, the shape of `NOP` off `nvdisasm -hex`. A file of another shape gives no
//! figures, no error.

use std::collections::{HashMap, HashSet};

use super::log::sort_by_source;
use super::outline::Outline;
use super::report::{FunctionKind, FunctionUsage};

/// Section type of `.nv.info` and `.nv.info.NAME`.
const SHT_CUDA_INFO: u32 = 0x7000_0000;
/// Section type of the symbol table.
const SHT_SYMTAB: u32 = 2;
/// Section type of memory that has no bytes in the file.
const SHT_NOBITS: u32 = 8;
/// `e_machine` of CUDA.
const EM_CUDA: u16 = 190;
/// Size of the header of a 32-bit file.
const HEADER_32: usize = 52;
/// Size of a symbol.
const SYMBOL_BYTES: usize = 24;
/// The low four bits of a symbol's `st_info`: a function.
const STT_FUNC: u8 = 2;
/// The bit of a function's `st_other` that makes it a kernel.
const STO_CUDA_ENTRY: u8 = 0x10;
/// Format of an attribute that is followed by its 16-bit size and that many bytes.
const EIFMT_SVAL: u8 = 4;
/// Size of an instruction, from `sm_70` up.
const INSTRUCTION_BYTES: usize = 16;
/// The low twelve bits of the instruction that does nothing, `NOP`.
const NOP: u16 = 0x918;
/// Three 32-bit numbers: the largest block, per dimension.
const EIATTR_MAX_THREADS: u8 = 0x05;
/// Three 32-bit numbers: the only block, per dimension.
const EIATTR_REQNTID: u8 = 0x10;
/// Symbol index and register count, 32 bits each.
const EIATTR_REGCOUNT: u8 = 0x2f;

/// Whether `bytes` are a cubin as far as the toolkit can tell: an ELF file for CUDA that holds all of
/// the sections that it names.
#[must_use]
pub fn is_cubin(bytes: &[u8]) -> bool {
    if !bytes.starts_with(b"\x7fELF") || read_u16(bytes, 18) != Some(EM_CUDA) {
        return false;
    }
    match bytes.get(4..6) {
        Some([1, 1]) => bytes.len() >= HEADER_32,
        Some([2, 1]) => Elf::parse(bytes).is_some_and(|elf| elf.is_complete()),
        _ => false,
    }
}

/// What a cubin tells of its kernels, in the order of its symbols; `None` for a file that is no cubin
/// of 64 bits.
#[must_use]
pub fn kernels_of_cubin(bytes: &[u8]) -> Option<Vec<FunctionUsage>> {
    let mut functions = Vec::new();
    Elf::parse(bytes)?.complete(&mut functions);
    Some(functions)
}

/// Puts the figures of `cubin` into `functions`, and adds the kernels that the log did not name.
pub(crate) fn complete(functions: &mut Vec<FunctionUsage>, cubin: &[u8], outline: &Outline) {
    let Some(elf) = Elf::parse(cubin) else { return };
    elf.complete(functions);
    sort_by_source(functions, outline);
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
        // The last field of the last header is nothing that is read here.
        bytes.get(table..table.checked_add(count.checked_mul(size)?)?)?;
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

    /// Whether every section lies in the file.
    fn is_complete(&self) -> bool {
        self.sections.iter().all(|section| section.kind == SHT_NOBITS || self.content(section).is_some())
    }

    fn complete(&self, functions: &mut Vec<FunctionUsage>) {
        let named: HashSet<String> = functions.iter().map(|function| function.name.clone()).collect();
        let kernels = self.kernels().map(|name| String::from_utf8_lossy(name).into_owned());
        let unnamed: Vec<String> = kernels.filter(|name| !named.contains(name)).collect();
        functions.extend(unnamed.into_iter().map(|name| FunctionUsage::unknown(name, FunctionKind::Entry)));
        let registers = self.register_counts();
        for function in functions.iter_mut() {
            if let Some(code) =
                self.section(".text.", &function.name).and_then(|section| self.content(section))
            {
                function.code_bytes = Some(code.len() as u64);
                function.instructions = Some(instructions(code));
            }
        }
        for function in functions.iter_mut().filter(|function| function.kind == FunctionKind::Entry) {
            if let Some(&count) = registers.get(function.name.as_bytes()) {
                function.registers = Some(count);
            }
            if let Some(section) = self.section(".nv.info.", &function.name) {
                function.max_threads = self.max_threads(section).or(function.max_threads);
            }
            if function.const_bytes.is_none() {
                function.const_bytes =
                    self.section(".nv.constant0.", &function.name).map(|section| section.size);
            }
        }
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

    /// The symbols, and the table of their names.
    fn symbols(&self) -> Option<(&'a [u8], &Section)> {
        let symbols = self.sections.iter().find(|section| section.kind == SHT_SYMTAB)?;
        Some((self.content(symbols)?, self.sections.get(symbols.link)?))
    }

    /// The names of the kernels that have code here.
    fn kernels(&self) -> impl Iterator<Item = &'a [u8]> {
        let (symbols, names) = self.symbols().map_or((&[][..], None), |(all, names)| (all, Some(names)));
        symbols.chunks_exact(SYMBOL_BYTES).filter_map(move |symbol| {
            let (info, other, section) = (symbol[4], symbol[5], read_u16(symbol, 6)?);
            let is_kernel = info & 15 == STT_FUNC && other & STO_CUDA_ENTRY != 0 && section != 0;
            let name = self.string(names?, read_u32(symbol, 0)? as usize)?;
            (is_kernel && !name.is_empty()).then_some(name)
        })
    }

    fn register_counts(&self) -> HashMap<&'a [u8], u32> {
        let mut counts = HashMap::new();
        let Some((symbols, names)) = self.symbols() else { return counts };
        let symbol_name = |index: u32| {
            let offset = read_u32(symbols, (index as usize).checked_mul(SYMBOL_BYTES)?)?;
            self.string(names, offset as usize)
        };
        let info = self.by_name.get(&b".nv.info"[..]).and_then(|&index| self.sections.get(index));
        let Some(info) = info.filter(|info| info.kind == SHT_CUDA_INFO) else { return counts };
        for (attribute, value) in attributes(self.content(info).unwrap_or_default()) {
            if attribute == EIATTR_REGCOUNT
                && let (Some(symbol), Some(count)) = (read_u32(value, 0), read_u32(value, 4))
                && let Some(name) = symbol_name(symbol)
            {
                counts.insert(name, count);
            }
        }
        counts
    }

    fn max_threads(&self, info: &Section) -> Option<u32> {
        // `.maxntid` and `.reqntid` exclude each other.
        let mut found = attributes(self.content(info)?)
            .filter(|&(attribute, _)| matches!(attribute, EIATTR_MAX_THREADS | EIATTR_REQNTID));
        let (_, value) = found.next()?;
        let sizes = [read_u32(value, 0)?, read_u32(value, 4)?, read_u32(value, 8)?];
        sizes.into_iter().try_fold(1_u32, u32::checked_mul)
    }
}

/// How many instructions there are before those that fill up the end.
fn instructions(code: &[u8]) -> u64 {
    let instructions = code.chunks_exact(INSTRUCTION_BYTES);
    let is_filler = |instruction: &&[u8]| read_u16(instruction, 0).is_some_and(|word| word & 0xfff == NOP);
    let fillers = instructions.clone().rev().take_while(is_filler).count();
    (instructions.len() - fillers) as u64
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
