//! Fat binaries: a header, and entries each with a header of its own and a payload.
//!
//! Of an entry's header count, by their places: the kind (0), the length of the header (4), that of the payload with what
//! fills it up (8), that of the compressed payload (16), the number of the target (28), the flags (40), and the length of
//! the unpacked payload (56). All numbers are little endian.

use memchr::memmem;

use crate::{Bytes, Found, Packed};

/// How a fat binary begins.
pub(crate) const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];

/// How the fat binaries of all toolkits begin: the version is 1, and the header has 16 bytes.
pub(crate) const BEGIN: [u8; 8] = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];

const HEADER: usize = 16;
const ENTRY: usize = 64;

const PTX: u16 = 1;
const MACHINE_CODE: u16 = 2;

const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// The target has the suffix `a`.
const ARCHITECTURE: u64 = 0x10_0000;
/// The target has the suffix `f`.
const FAMILY: u64 = 0x20_0000;

/// Looks into fat binaries that follow each other.
pub(crate) fn look(found: &mut Found, bytes: &Bytes) {
    let data = bytes.get();
    let mut at = 0;
    while let Some(begin) = data.get(at..).and_then(|rest| memmem::find(rest, &MAGIC)) {
        let start = at + begin;
        let Some(header) = Header::of(data, start) else {
            found.problem("a fat binary is cut off");
            return;
        };
        let end = header.end.min(data.len());
        if header.end > data.len() {
            found.problem("a fat binary is cut off");
        }
        entries(found, bytes, header.first, end);
        at = end.max(start + HEADER);
    }
}

/// The header of a fat binary.
struct Header {
    /// Where the first entry begins.
    first: usize,
    /// Where the last one ends.
    end: usize,
}

impl Header {
    fn of(data: &[u8], start: usize) -> Option<Self> {
        let length = usize::from(u16_at(data, start + 6)?).max(HEADER);
        let size = usize::try_from(u64_at(data, start + 8)?).ok()?;
        let first = start.checked_add(length)?;
        Some(Self { first, end: first.saturating_add(size) })
    }
}

/// An entry of a fat binary.
struct Entry {
    kind: u16,
    payload: std::ops::Range<usize>,
    number: u32,
    flags: u64,
    unpacked: u64,
    /// Where the next one begins.
    next: usize,
}

impl Entry {
    /// The entry at a place, as far as it ends before `end`.
    fn of(data: &[u8], at: usize, end: usize) -> Option<Self> {
        let header = usize::try_from(u32_at(data, at + 4)?).ok().filter(|length| *length >= ENTRY)?;
        let padded = usize::try_from(u64_at(data, at + 8)?).ok()?;
        let compressed = usize::try_from(u32_at(data, at + 16)?).ok()?;
        let start = at.checked_add(header)?;
        let next = start.checked_add(padded).filter(|next| *next <= end)?;
        let flags = u64_at(data, at + 40)?;
        let is_compressed = flags & (LZ4 | ZSTD) != 0;
        let length = if is_compressed { compressed.min(padded) } else { padded };
        Some(Self {
            kind: u16_at(data, at)?,
            payload: start..start + length,
            number: u32_at(data, at + 28)?,
            flags,
            unpacked: u64_at(data, at + 56)?,
            next,
        })
    }

    fn packed(&self) -> Packed {
        match self.flags {
            flags if flags & ZSTD != 0 => Packed::Zstd,
            flags if flags & LZ4 != 0 => Packed::Lz4 { size: self.unpacked },
            _ => Packed::Plain,
        }
    }

    fn target(&self) -> String {
        let suffix = match self.flags {
            flags if flags & ARCHITECTURE != 0 => "a",
            flags if flags & FAMILY != 0 => "f",
            _ => "",
        };
        format!("sm_{}{suffix}", self.number)
    }
}

fn entries(found: &mut Found, bytes: &Bytes, first: usize, end: usize) {
    let data = bytes.get();
    let mut at = first;
    while at < end {
        let Some(entry) = Entry::of(data, at, end) else {
            return found.problem("an entry of a fat binary is broken or cut off");
        };
        let payload = bytes.part(entry.payload.clone());
        match entry.kind {
            PTX => found.module(Some(entry.target()), entry.packed(), payload),
            MACHINE_CODE => found.cubins.push((found.member.clone(), entry.packed(), payload)),
            _ => {}
        }
        // A header has at least 64 bytes, so this ends.
        at = entry.next;
    }
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    data.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
