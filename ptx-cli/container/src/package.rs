//! Packages of files: zip, which wheels and conda's packages are, and tar, which the layers of images and most sources are.

use std::io::Read;

use bzip2::read::BzDecoder;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use memchr::memmem;
use ruzstd::decoding::StreamingDecoder;

use crate::{Bytes, Format, Found, MAX_PACKAGE, compressed, text};

/// The end of a zip file's directory, which a comment of at most 64 KiB may follow.
const END: &[u8] = b"PK\x05\x06";
const END_LENGTH: usize = 22;
const MAX_COMMENT: usize = 0xffff;
/// An entry of the directory, and the header before a member.
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_LENGTH: usize = 46;
const HEADER: &[u8] = b"PK\x03\x04";
const HEADER_LENGTH: usize = 30;

/// So much of a member is unpacked to see what it is.
const HEAD: u64 = 16 << 10;

const IS_ENCRYPTED: u16 = 1;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const BZIP2: u16 = 12;
const ZSTD: u16 = 93;
const XZ: u16 = 95;

/// Where the end of a directory stands that is too long for the usual one, just before that.
const LONG_END_AT: &[u8] = b"PK\x06\x07";
const LONG_END_AT_LENGTH: usize = 20;
const LONG_END: &[u8] = b"PK\x06\x06";
/// What an entry of the directory has besides: the numbers that do not fit into 32 bits.
const LONG_NUMBERS: u16 = 1;

/// A member of a zip file.
struct Member {
    name: String,
    method: u16,
    is_encrypted: bool,
    checksum: u32,
    packed: Bytes,
    length: u64,
}

/// Looks into the members of a zip file that may carry PTX.
pub(crate) fn zip(found: &mut Found, bytes: &Bytes, depth: usize) {
    let members = match members(bytes) {
        Ok(members) => members,
        Err(message) => return found.problem(message),
    };
    let mut unsupported = 0;
    for member in members {
        if member.is_encrypted || !matches!(member.method, STORED | DEFLATED | BZIP2 | ZSTD | XZ) {
            unsupported += 1;
            continue;
        }
        found.inside(&member.name, |found| match unpacked(found, &member) {
            Ok(Some(bytes)) => found.look_at_member(&member.name, &bytes, depth),
            Ok(None) => {}
            Err(message) => found.problem(message),
        });
    }
    if unsupported > 0 {
        let files = if unsupported == 1 { "file in it is" } else { "files in it are" };
        let why = "encrypted, or compressed in a way that is not supported";
        found.problem(format!("{unsupported} {files} {why}"));
    }
}

/// The members of a zip file, in the order of its directory.
fn members(bytes: &Bytes) -> Result<Vec<Member>, String> {
    let data = bytes.get();
    let broken = || "the zip file is broken or cut off".to_owned();
    let from = data.len().saturating_sub(END_LENGTH + MAX_COMMENT);
    let end = from + memmem::rfind(&data[from..], END).ok_or_else(broken)?;
    let (count, at) = (half(data, end + 10).ok_or_else(broken)?, word(data, end + 16).ok_or_else(broken)?);
    let (count, mut at) = match (count, at) {
        (u16::MAX, _) | (_, u32::MAX) => long_end(data, end).ok_or_else(broken)?,
        (count, at) => (u64::from(count), at as usize),
    };
    let mut members = Vec::new();
    for _ in 0..count {
        let (member, next) = member(bytes, at).ok_or_else(broken)?;
        members.push(member);
        at = next;
    }
    Ok(members)
}

/// How many files there are and where the directory begins, where the numbers do not fit into the usual end.
fn long_end(data: &[u8], end: usize) -> Option<(u64, usize)> {
    let locator = data.get(end.checked_sub(LONG_END_AT_LENGTH)?..)?;
    let at = usize::try_from(long(locator, 8).filter(|_| locator.starts_with(LONG_END_AT))?).ok()?;
    let end = data.get(at..).filter(|end| end.starts_with(LONG_END))?;
    Some((long(end, 32)?, usize::try_from(long(end, 48)?).ok()?))
}

/// The member that the directory tells at a place, and the place after it.
fn member(bytes: &Bytes, at: usize) -> Option<(Member, usize)> {
    let data = bytes.get();
    let entry = data.get(at..)?;
    if !entry.starts_with(ENTRY) {
        return None;
    }
    let lengths = [half(entry, 28)?, half(entry, 30)?, half(entry, 32)?].map(usize::from);
    let name = entry.get(ENTRY_LENGTH..ENTRY_LENGTH + lengths[0])?;
    let extra = entry.get(ENTRY_LENGTH + lengths[0]..)?.get(..lengths[1])?;
    let mut long_numbers = long_numbers(extra);
    let mut number = |at: usize| match word(entry, at)? {
        u32::MAX => usize::try_from(long_numbers.next()?).ok(),
        number => Some(number as usize),
    };
    // In this order they stand in what an entry has besides.
    let (length, packed, at_header) = (number(24)?, number(20)?, number(42)?);
    let header = data.get(at_header..)?;
    if !header.starts_with(HEADER) {
        return None;
    }
    let before = HEADER_LENGTH + usize::from(half(header, 26)?) + usize::from(half(header, 28)?);
    let start = data.len() - header.len() + before;
    let packed = start..start.checked_add(packed)?;
    let member = Member {
        name: String::from_utf8_lossy(name).into_owned(),
        method: half(entry, 10)?,
        is_encrypted: half(entry, 8)? & IS_ENCRYPTED != 0,
        checksum: word(entry, 16)?,
        packed: bytes.part(packed.start..packed.end.min(data.len())),
        length: length as u64,
    };
    (packed.end <= data.len()).then_some((member, at + ENTRY_LENGTH + lengths.iter().sum::<usize>()))
}

/// The numbers of 64 bits among what an entry has besides.
fn long_numbers(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found: &[u8] = &[];
    while let (Some(kind), Some(length)) = (half(extra, 0), half(extra, 2)) {
        let field = extra.get(4..4 + usize::from(length)).unwrap_or(&[]);
        if kind == LONG_NUMBERS {
            found = field;
            break;
        }
        extra = extra.get(4 + usize::from(length)..).unwrap_or(&[]);
    }
    found.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number))
}

/// What unpacks a member.
fn reader<'b>(method: u16, packed: &'b [u8]) -> Result<Box<dyn Read + 'b>, String> {
    Ok(match method {
        BZIP2 => Box::new(BzDecoder::new(packed)),
        XZ => Box::new(compressed::xz_reader(packed)),
        ZSTD => {
            Box::new(StreamingDecoder::new(packed).map_err(|_| "its data are broken or cut off".to_owned())?)
        }
        _ => Box::new(DeflateDecoder::new(packed)),
    })
}

/// The bytes of a member that may carry PTX; none of another one, whose beginning alone is unpacked.
fn unpacked(found: &mut Found, member: &Member) -> Result<Option<Bytes>, String> {
    let is_whole = |bytes: &[u8]| {
        let mut checksum = Crc::new();
        checksum.update(bytes);
        bytes.len() as u64 == member.length && checksum.sum() == member.checksum
    };
    let broken = || "its data are broken or cut off".to_owned();
    let packed = member.packed.get();
    if member.method == STORED {
        return match may_carry(packed) {
            true if is_whole(packed) => Ok(Some(member.packed.clone())),
            true => Err(broken()),
            false => Ok(None),
        };
    }
    let mut head = Vec::new();
    // What is broken further on may be of no interest.
    let read = reader(member.method, packed)?.take(HEAD).read_to_end(&mut head);
    if !may_carry(&head) {
        return Ok(None);
    }
    read.map_err(|_| broken())?;
    found.charge(member.length)?;
    let mut bytes = Vec::new();
    let whole = reader(member.method, packed)?.take(member.length + 1).read_to_end(&mut bytes);
    whole.map_err(|_| broken())?;
    if is_whole(&bytes) { Ok(Some(Bytes::from(bytes))) } else { Err(broken()) }
}

/// Whether what begins so may carry PTX.
fn may_carry(bytes: &[u8]) -> bool {
    Format::of(bytes).is_some() || text::is_ptx(bytes)
}

/// Where the marks of a tar file are.
pub(crate) const MARK_AT: usize = 257;
pub(crate) const MARK: &[u8] = b"ustar";

/// A tar file is a sequence of blocks of this length.
const BLOCK: usize = 512;

/// Looks into the members of a tar file that may carry PTX.
pub(crate) fn tar(found: &mut Found, bytes: &Bytes, depth: usize) {
    let data = bytes.get();
    let mut at = 0;
    // A name that is too long for a header is a member of its own before it.
    let mut long_name = None;
    while let Some(header) = data.get(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return;
        }
        let Some(length) = number(&header[124..136]).filter(|_| header[MARK_AT..].starts_with(MARK)) else {
            return found.problem("the tar file is broken");
        };
        let start = at + BLOCK;
        let Some(end) = start.checked_add(length).filter(|end| *end <= data.len()) else {
            return found.problem("the tar file is cut off");
        };
        at = end.next_multiple_of(BLOCK);
        let part = bytes.part(start..end);
        match header[156] {
            b'L' => long_name = Some(until_nul(part.get())),
            b'x' => long_name = path_of(part.get()).or(long_name),
            b'0' | 0 | b'7' => {
                let name = long_name.take().unwrap_or_else(|| until_nul(&header[..100]));
                if may_carry(part.get()) {
                    found.inside(&name, |found| found.look_at_member(&name, &part, depth));
                }
            }
            // Folders and links; and what a newer kind of tar tells of the member that follows.
            _ => {}
        }
    }
}

/// The path among the attributes of the member that follows: `length path=…` with the end of a line.
fn path_of(mut attributes: &[u8]) -> Option<String> {
    loop {
        let blank = memchr::memchr(b' ', attributes)?;
        let length: usize = std::str::from_utf8(&attributes[..blank]).ok()?.parse().ok()?;
        let attribute = attributes.get(blank + 1..length.checked_sub(1)?)?;
        if let Some(path) = attribute.strip_prefix(b"path=") {
            return Some(String::from_utf8_lossy(path).into_owned());
        }
        attributes = attributes.get(length..)?;
    }
}

fn until_nul(bytes: &[u8]) -> String {
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(name).into_owned()
}

/// A number of a tar file: digits to the base 8, or bytes where the first says so.
fn number(field: &[u8]) -> Option<usize> {
    if let [0x80, bytes @ ..] = field {
        let too_many = bytes.len().checked_sub(size_of::<usize>())?;
        let (zeros, rest) = bytes.split_at(too_many);
        let all = rest.iter().try_fold(0_usize, |all, byte| Some(all.checked_mul(256)? | usize::from(*byte)));
        return all.filter(|_| zeros.iter().all(|byte| *byte == 0));
    }
    let digits = field.split(|byte| matches!(byte, 0 | b' ')).find(|part| !part.is_empty())?;
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl Found {
    /// Does something with a member of a package, by whose name problems are told.
    pub(crate) fn inside(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let around = self.member.len();
        if around > 0 {
            self.member.push('/');
        }
        self.member.push_str(name);
        look(self);
        self.member.truncate(around);
    }

    /// Looks at a member of a package.
    pub(crate) fn look_at_member(&mut self, name: &str, bytes: &Bytes, depth: usize) {
        if text::is_ptx(bytes.get()) {
            self.text(bytes);
        } else {
            self.look(name, bytes, depth.saturating_sub(1));
        }
    }

    /// Takes so many bytes of what packages may hold.
    fn charge(&mut self, bytes: u64) -> Result<(), String> {
        if bytes > MAX_PACKAGE - self.in_packages {
            return Err(compressed::too_much());
        }
        self.in_packages += bytes;
        Ok(())
    }
}
