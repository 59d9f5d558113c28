//! The entries of `.debug_info`, as far as they name files and other sections.
//!
//! DWARF 2 to 4, which is what compilers write for the assembler. The numbers of attributes and forms are those of the
//! standard's section 7.5.

use rustc_hash::FxHashMap;

use super::text::{SectionText, Value};

pub(super) const INFORMATION: &str = ".debug_info";
pub(super) const ABBREVIATIONS: &str = ".debug_abbrev";

/// Attributes whose values are numbers of files: `DW_AT_decl_file`, `DW_AT_call_file`.
const FILES: [u64; 2] = [0x3a, 0x58];

/// Attributes that lead into another section, where their form is `DW_FORM_data4` as in DWARF 2 and 3: location, statement
/// list, string length, return address, start scope, data member location, frame base, macro information, segment, static
/// link, use location, vtable element location, ranges.
const PLACES: [u64; 13] = [0x02, 0x10, 0x19, 0x2a, 0x2c, 0x38, 0x40, 0x43, 0x46, 0x48, 0x4a, 0x4d, 0x55];

const UNREADABLE: &str = "its entries cannot be read";
const NO_ABBREVIATIONS: &str = "there is no `.debug_abbrev` that tells how its entries are to be read";
const VERSION: &str = "it is neither DWARF 2, 3 nor 4";
const NO_ROOM: &str = "the number of a file is too large for its place";
const PLAIN_OFFSET: &str = "it refers into another section by a number instead of a name";

/// Gives files the numbers that they have now. Fails where these cannot be found, or where an offset into a section of `sizes`
/// is a plain number, which says nothing of what it is from.
pub(super) fn renumber(
    text: &mut SectionText,
    abbreviations: Option<&SectionText>,
    numbers: &FxHashMap<i64, i64>,
    sizes: &FxHashMap<String, u64>,
) -> Result<(), &'static str> {
    let moves = sizes.values().any(|size| *size > 0);
    if !moves && numbers.iter().all(|(old, new)| old == new) {
        return Ok(());
    }
    let abbreviations = Bytes::new(abbreviations.ok_or(NO_ABBREVIATIONS)?).ok_or(UNREADABLE)?;
    let bytes = Bytes::new(text).ok_or(UNREADABLE)?;
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.bytes.len() {
        at = unit(&bytes, &abbreviations, at, &mut found)?;
    }
    let mut changes = Vec::new();
    for field in found {
        match field.kind {
            FieldKind::Place if moves && bytes.is_number(field.at) => return Err(PLAIN_OFFSET),
            FieldKind::Place => {}
            FieldKind::File => changes.extend(change(&bytes, &field, numbers)?),
        }
    }
    for (value, number) in changes {
        text.set_number(value, number);
    }
    Ok(())
}

/// The bytes of a section, and the value that each is part of.
struct Bytes<'t> {
    text: &'t SectionText,
    bytes: Vec<u8>,
    values: Vec<Value>,
}

impl Bytes<'_> {
    /// What is no number counts as 0.
    fn new(text: &SectionText) -> Option<Bytes<'_>> {
        let values = text.values()?;
        let mut bytes = Vec::new();
        for value in &values {
            let number = text.number(*value).unwrap_or(0).to_le_bytes();
            bytes.extend(number.get(..usize::from(value.width))?);
        }
        Some(Bytes { text, bytes, values })
    }

    fn value(&self, at: usize) -> Option<Value> {
        let after = self.values.partition_point(|value| value.offset <= at as u64);
        self.values.get(after.checked_sub(1)?).copied()
    }

    fn is_number(&self, at: usize) -> bool {
        self.value(at).is_some_and(|value| self.text.number(value).is_some())
    }

    fn fixed(&self, at: &mut usize, width: usize) -> Result<u64, &'static str> {
        let bytes = self.bytes.get(*at..at.saturating_add(width)).ok_or(UNREADABLE)?;
        *at += width;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number in LEB128, of at most 64 bits.
    fn leb(&self, at: &mut usize) -> Result<u64, &'static str> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.fixed(at, 1)?;
            number |= (byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(UNREADABLE)
    }
}

/// Something in an entry that linking looks at.
struct Field {
    kind: FieldKind,
    at: usize,
    width: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    File,
    Place,
}

/// How the entries of a unit are encoded: attributes with their forms, by the number of the abbreviation.
type Shapes = FxHashMap<u64, Vec<(u64, u64)>>;

/// Reads a unit and tells where the next one begins.
fn unit(
    bytes: &Bytes<'_>,
    abbreviations: &Bytes<'_>,
    start: usize,
    found: &mut Vec<Field>,
) -> Result<usize, &'static str> {
    let mut at = start;
    let length = bytes.fixed(&mut at, 4)?;
    let end = at.checked_add(usize::try_from(length).map_err(|_| UNREADABLE)?).ok_or(UNREADABLE)?;
    if end > bytes.bytes.len() {
        return Err(UNREADABLE);
    }
    let version = bytes.fixed(&mut at, 2)?;
    if !(2..=4).contains(&version) {
        return Err(VERSION);
    }
    let reference = bytes.value(at).and_then(|value| bytes.text.reference(value));
    let offset = match reference {
        Some((ABBREVIATIONS, offset)) => offset,
        _ => return Err(PLAIN_OFFSET),
    };
    at += 4;
    let address = bytes.fixed(&mut at, 1)? as usize;
    let shapes = shapes(abbreviations, usize::try_from(offset).map_err(|_| UNREADABLE)?)?;
    while at < end {
        let code = bytes.leb(&mut at)?;
        if code == 0 {
            continue;
        }
        for &(attribute, form) in shapes.get(&code).ok_or(UNREADABLE)? {
            let begin = at;
            skip(bytes, &mut at, form, version, address)?;
            if FILES.contains(&attribute) {
                found.push(Field { kind: FieldKind::File, at: begin, width: at - begin });
            } else if matches!(form, 0x0e | 0x10 | 0x17) || (form == 0x06 && PLACES.contains(&attribute)) {
                found.push(Field { kind: FieldKind::Place, at: begin, width: at - begin });
            }
        }
    }
    Ok(end)
}

fn shapes(abbreviations: &Bytes<'_>, mut at: usize) -> Result<Shapes, &'static str> {
    let mut shapes = Shapes::default();
    loop {
        let code = abbreviations.leb(&mut at)?;
        if code == 0 {
            return Ok(shapes);
        }
        abbreviations.leb(&mut at)?;
        abbreviations.fixed(&mut at, 1)?;
        let mut attributes = Vec::new();
        loop {
            let pair = (abbreviations.leb(&mut at)?, abbreviations.leb(&mut at)?);
            if pair == (0, 0) {
                break;
            }
            attributes.push(pair);
        }
        shapes.insert(code, attributes);
    }
}

/// Goes behind the value of an attribute.
fn skip(
    bytes: &Bytes<'_>,
    at: &mut usize,
    form: u64,
    version: u64,
    address: usize,
) -> Result<(), &'static str> {
    let length = match form {
        0x01 => address,
        0x03 => bytes.fixed(at, 2)? as usize,
        0x04 => bytes.fixed(at, 4)? as usize,
        0x09 | 0x18 => bytes.leb(at)? as usize,
        0x0a => bytes.fixed(at, 1)? as usize,
        0x0b | 0x0c | 0x11 => 1,
        0x05 | 0x12 => 2,
        0x06 | 0x0e | 0x13 | 0x17 => 4,
        0x07 | 0x14 | 0x20 => 8,
        // A reference to an entry of another unit has the width of an address in DWARF 2.
        0x10 if version == 2 => address,
        0x10 => 4,
        0x08 => {
            bytes
                .bytes
                .get(*at..)
                .and_then(|rest| rest.iter().position(|byte| *byte == 0))
                .ok_or(UNREADABLE)?
                + 1
        }
        0x0d | 0x0f | 0x15 => {
            bytes.leb(at)?;
            0
        }
        0x19 => 0,
        _ => return Err(UNREADABLE),
    };
    *at = at.checked_add(length).filter(|end| *end <= bytes.bytes.len()).ok_or(UNREADABLE)?;
    Ok(())
}

/// The value that has the number of a file, and the new number. The place has one byte or a fixed width.
fn change(
    bytes: &Bytes<'_>,
    field: &Field,
    numbers: &FxHashMap<i64, i64>,
) -> Result<Option<(Value, u64)>, &'static str> {
    let mut at = field.at;
    let value = bytes.value(field.at).ok_or(UNREADABLE)?;
    let old = bytes.fixed(&mut at, field.width)?;
    let Some(&new) = i64::try_from(old).ok().and_then(|old| numbers.get(&old)) else { return Ok(None) };
    let new = u64::try_from(new).map_err(|_| NO_ROOM)?;
    let is_whole = value.offset == field.at as u64 && usize::from(value.width) == field.width;
    // Below 128 a byte of its own is the same in all forms.
    let limit =
        if field.width == 1 { 0x80 } else { 1_u64.checked_shl(8 * field.width as u32).unwrap_or(u64::MAX) };
    match is_whole {
        true if new < limit => Ok(Some((value, new))),
        true => Err(NO_ROOM),
        false => Err(UNREADABLE),
    }
}
