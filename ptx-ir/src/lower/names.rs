//! Scopes of a function body: which name stands for what, at the statement being lowered.
//!
//! A parametrised group `%r<100>` is one entry, and `%r17` is found by comparing the prefix, as one number where
//! it is short, and reading the number after it; nothing is stored or hashed per register. Most names of a text are such,
//! and [`Numbered`] takes them apart without a look at each byte. Labels are visible in the whole block that
//! declares them, before and after; every other name from its declaration on.

use crate::arena::Handle;
use crate::ir::{Function, Label, Register, RegisterGroup, TargetList, Variable};
use crate::isa::Class;
use ptx_syntax::Span;
use rustc_hash::FxHashMap;

/// What a name of a function body stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entity {
    Registers { first: Register, class: Class, elements: u8 },
    Variable(Handle<Variable>),
    Targets(Handle<TargetList>),
    Prototype(Handle<Function>),
}

#[derive(Clone, Copy)]
struct Entry<'s> {
    name: &'s str,
    span: Span,
    depth: u32,
    entity: Entity,
    shadowed: Option<u32>,
}

/// A parametrised group of registers or variables.
#[derive(Clone, Copy)]
struct Group<'s> {
    prefix: &'s str,
    span: Span,
    count: u32,
    depth: u32,
    kind: GroupKind,
    shadowed: Option<u32>,
    /// What was at its place before it.
    displaced: Place,
}

#[derive(Clone, Copy)]
enum GroupKind {
    Registers {
        first: Register,
        class: Class,
        elements: u8,
    },
    /// The numbers of those that there are, and the first of them; the others follow it.
    Variables {
        first: Handle<Variable>,
        numbers: u32,
    },
}

struct Scope {
    entries: u32,
    groups: u32,
}

/// More groups than this are looked up by hash.
const LINEAR_GROUPS: usize = 16;

/// More names than this in one block are not compared one by one with a new parametrised group.
const MAX_COMPARED: usize = 1000;

/// A prefix that ends in more digits is not looked for, to explain why a name is not declared.
const MAX_PREFIX_DIGITS: usize = 16;

/// The numbers of registers have no more digits than this.
const MAX_DIGITS: usize = 9;

#[derive(Default)]
pub(super) struct Names<'s> {
    entries: Vec<Entry<'s>>,
    by_name: FxHashMap<&'s str, u32>,
    groups: Vec<Group<'s>>,
    /// The prefix of each group as [`packed`] makes it; 0 for one that is long or has a digit at its end.
    keys: Vec<u64>,
    /// The last group of registers of those whose prefixes have a place in common. Of equal prefixes, no group before it is
    /// meant where it has the number.
    places: Places,
    /// How deep the innermost block is that declares a single name, which may hide the members of groups further out.
    hiding: u32,
    by_prefix: FxHashMap<&'s str, u32>,
    /// Lists of the numbers of variables.
    numbers: Vec<Vec<u32>>,
    scopes: Vec<Scope>,
    /// The first label of each name, whatever its block.
    first_labels: FxHashMap<&'s str, Handle<Label>>,
    /// Each label by the first of its name and by its block.
    labels: FxHashMap<(Handle<Label>, u32), Handle<Label>>,
    /// The blocks of the body; block 0 is the body itself.
    blocks: Vec<Block>,
    /// The labels of all blocks, as lists.
    block_labels: Vec<BlockLabel>,
    /// For the first label of each name the entry of `block_labels` that the name means here.
    visible_labels: Vec<Option<u32>>,
}

struct Block {
    /// The block around it; block 0 is its own.
    parent: u32,
    /// The last label that it declares.
    last_label: Option<u32>,
}

/// A label in the list of its block.
struct BlockLabel {
    /// The first label of the name.
    first: Handle<Label>,
    label: Handle<Label>,
    /// The label that the block declares before this one.
    previous: Option<u32>,
    /// What the name means around the block, while the block is open.
    outer: Option<u32>,
}

impl<'s> Names<'s> {
    pub fn clear(&mut self) {
        self.entries.clear();
        reset(&mut self.by_name);
        self.groups.clear();
        self.keys.clear();
        self.places = Places::default();
        self.hiding = 0;
        reset(&mut self.by_prefix);
        self.numbers.clear();
        self.scopes.clear();
        reset(&mut self.labels);
        reset(&mut self.first_labels);
        self.blocks.clear();
        self.block_labels.clear();
        self.visible_labels.clear();
    }

    fn depth(&self) -> u32 {
        self.scopes.len() as u32
    }

    pub fn open(&mut self) {
        self.scopes.push(Scope { entries: self.entries.len() as u32, groups: self.groups.len() as u32 });
    }

    pub fn close(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        while self.entries.len() > scope.entries as usize {
            let Some(entry) = self.entries.pop() else { break };
            match entry.shadowed {
                Some(index) => self.by_name.insert(entry.name, index),
                None => self.by_name.remove(entry.name),
            };
        }
        self.hiding = self.entries.last().map_or(0, |last| last.depth);
        while self.groups.len() > scope.groups as usize {
            let Some(group) = self.groups.pop() else { break };
            if let Some(key) = self.keys.pop() {
                self.places.0[place_of(key)] = group.displaced;
            }
            match group.shadowed {
                Some(index) => self.by_prefix.insert(group.prefix, index),
                None => self.by_prefix.remove(group.prefix),
            };
        }
    }

    /// Declares a name in the innermost block; an earlier meaning in the same block is given back.
    pub fn declare(&mut self, name: &'s str, span: Span, entity: Entity) -> Result<(), Span> {
        let depth = self.depth();
        let shadowed = self.by_name.get(name).copied();
        if let Some(index) = shadowed
            && self.entries[index as usize].depth == depth
        {
            return Err(self.entries[index as usize].span);
        }
        if let Some((index, _)) = self.find_group(name)
            && self.groups[index].depth == depth
        {
            return Err(self.groups[index].span);
        }
        self.by_name.insert(name, self.entries.len() as u32);
        self.entries.push(Entry { name, span, depth, entity, shadowed });
        self.hiding = depth;
        Ok(())
    }

    pub fn declare_registers(
        &mut self,
        prefix: &'s str,
        span: Span,
        count: u32,
        group: &RegisterGroup,
    ) -> Result<(), Span> {
        let (first, class, elements) = (group.first, group.class(), group.elements);
        self.declare_group(prefix, span, count, GroupKind::Registers { first, class, elements })
    }

    /// Declares `name<count>`, of which the variables of some numbers have consecutive handles; nothing names the others.
    pub fn declare_variables(
        &mut self,
        prefix: &'s str,
        span: Span,
        count: u32,
        first: Handle<Variable>,
        numbers: Vec<u32>,
    ) -> Result<(), Span> {
        self.numbers.push(numbers);
        let numbers = self.numbers.len() as u32 - 1;
        self.declare_group(prefix, span, count, GroupKind::Variables { first, numbers })
    }

    fn declare_group(
        &mut self,
        prefix: &'s str,
        span: Span,
        count: u32,
        kind: GroupKind,
    ) -> Result<(), Span> {
        let depth = self.depth();
        let shadowed = self.by_prefix.get(prefix).copied();
        if let Some(index) = shadowed
            && self.groups[index as usize].depth == depth
        {
            return Err(self.groups[index as usize].span);
        }
        let begin = self.scopes.last().map_or(0, |scope| scope.entries as usize);
        if self.entries.len() - begin <= MAX_COMPARED {
            for entry in &self.entries[begin..] {
                if member(entry.name, prefix, count).is_some() {
                    return Err(entry.span);
                }
            }
        }
        self.by_prefix.insert(prefix, self.groups.len() as u32);
        let key = packed(prefix.as_bytes());
        let place = match kind {
            GroupKind::Registers { first, class, elements: 1 } => {
                Place { prefix: key, first: first.0, count, depth, class }
            }
            _ => Place::EMPTY,
        };
        let displaced = std::mem::replace(&mut self.places.0[place_of(key)], place);
        self.keys.push(key);
        self.groups.push(Group { prefix, span, count, depth, kind, shadowed, displaced });
        Ok(())
    }

    /// The register that the name at `span` stands for, where that is seen at once.
    #[inline(always)]
    pub fn find_register(&self, source: &str, span: Span) -> Option<(Register, Class)> {
        let before = source.as_bytes().get(..span.end as usize)?.last_chunk()?;
        let name = Numbered::of(*before, span.len())?;
        let place = &self.places.0[place_of(name.prefix)];
        let is_it = place.prefix == name.prefix && name.number < place.count && self.hiding <= place.depth;
        // More registers than have numbers were reported where they are declared.
        is_it.then(|| (Register(place.first.saturating_add(name.number)), place.class))
    }

    /// The innermost group that has a name.
    fn group_of(&self, name: Numbered) -> Option<usize> {
        let mut groups = self.keys.iter().zip(&self.groups);
        groups.rposition(|(key, group)| *key == name.prefix && name.number < group.count)
    }

    /// What `name` stands for here.
    #[inline]
    pub fn find(&self, name: &str) -> Option<Entity> {
        let group = self.find_group(name);
        // A single name can hide a group only from within a block that is nested deeper.
        let depth = group.map_or(0, |(index, _)| self.groups[index].depth);
        if (group.is_none() || depth < self.depth())
            && let Some(&index) = self.by_name.get(name)
            && self.entries[index as usize].depth >= depth
        {
            return Some(self.entries[index as usize].entity);
        }
        let (index, number) = group?;
        Some(match self.groups[index].kind {
            GroupKind::Registers { first, class, elements } => {
                // More registers than have numbers were reported where they are declared.
                let register = Register(first.0.saturating_add(number.saturating_mul(u32::from(elements))));
                Entity::Registers { first: register, class, elements }
            }
            GroupKind::Variables { first, numbers } => {
                let place = self.numbers[numbers as usize].binary_search(&number).ok()?;
                Entity::Variable(Handle::new(first.index() as u32 + place as u32))
            }
        })
    }

    /// The group whose prefix `name` has though its number is too large, or though the prefix ends with a digit, with the
    /// count of the group.
    pub fn find_group_of_prefix(&self, name: &str) -> Option<(&'s str, u32, Span)> {
        let prefix = name.trim_end_matches(|character: char| character.is_ascii_digit());
        // The prefix may end with some of the digits.
        let ends = (prefix.len()..name.len()).take(MAX_PREFIX_DIGITS);
        let index = ends.filter_map(|end| self.by_prefix.get(&name[..end]).copied()).max()?;
        let group = &self.groups[index as usize];
        Some((group.prefix, group.count, group.span))
    }

    /// Every visible name, for suggestions.
    pub fn visible(&self) -> impl Iterator<Item = &'s str> {
        self.entries.iter().map(|entry| entry.name)
    }

    fn find_group(&self, name: &str) -> Option<(usize, u32)> {
        if !name.as_bytes().last()?.is_ascii_digit() {
            return None;
        }
        if self.groups.len() > LINEAR_GROUPS {
            return self.find_group_by_hash(name);
        }
        if let Some(others) = 8_usize.checked_sub(name.len()) {
            let mut bytes = [0; 8];
            bytes[others..].copy_from_slice(name.as_bytes());
            let name = Numbered::of(bytes, name.len() as u32)?;
            return Some((self.group_of(name)?, name.number));
        }
        let length = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
        self.groups.iter().enumerate().rev().find_map(|(index, group)| {
            let may_be_prefix = group.prefix.len() == length;
            Some((index, may_be_prefix.then(|| member(name, group.prefix, group.count))??))
        })
    }

    #[cold]
    fn find_group_by_hash(&self, name: &str) -> Option<(usize, u32)> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(MAX_DIGITS);
        let mut best: Option<(usize, u32)> = None;
        for split in 1..=digits {
            let prefix = &name[..name.len() - split];
            let Some(&index) = self.by_prefix.get(prefix) else { continue };
            let group = &self.groups[index as usize];
            if let Some(number) = member(name, group.prefix, group.count)
                && best.is_none_or(|(other, _)| other < index as usize)
            {
                best = Some((index as usize, number));
            }
        }
        best
    }

    /// Adds a block of the body within `parent`; the body itself is block 0.
    pub fn add_block(&mut self, parent: u32) -> u32 {
        self.blocks.push(Block { parent, last_label: None });
        self.blocks.len() as u32 - 1
    }

    /// The block around `block`.
    pub fn parent(&self, block: u32) -> u32 {
        self.blocks[block as usize].parent
    }

    /// Makes the labels of `block` visible. Each block is entered once, after all labels are declared.
    pub fn enter_block(&mut self, block: u32) {
        let mut next = self.blocks[block as usize].last_label;
        while let Some(index) = next {
            let entry = &mut self.block_labels[index as usize];
            entry.outer = self.visible_labels[entry.first.index()].replace(index);
            next = entry.previous;
        }
    }

    /// Leaves the innermost block that was entered.
    pub fn leave_block(&mut self, block: u32) {
        let mut next = self.blocks[block as usize].last_label;
        while let Some(index) = next {
            let entry = &self.block_labels[index as usize];
            self.visible_labels[entry.first.index()] = entry.outer;
            next = entry.previous;
        }
    }

    /// Declares a label; an earlier one of the same block is given back.
    pub fn declare_label(
        &mut self,
        name: &'s str,
        block: u32,
        label: Handle<Label>,
    ) -> Result<(), Handle<Label>> {
        let first = *self.first_labels.entry(name).or_insert(label);
        match self.labels.insert((first, block), label) {
            Some(earlier) => {
                self.labels.insert((first, block), earlier);
                Err(earlier)
            }
            None => {
                let last = &mut self.blocks[block as usize].last_label;
                let previous = last.replace(self.block_labels.len() as u32);
                self.block_labels.push(BlockLabel { first, label, previous, outer: None });
                if self.visible_labels.len() <= first.index() {
                    self.visible_labels.resize(first.index() + 1, None);
                }
                Ok(())
            }
        }
    }

    /// The label that `name` means here: that of the innermost block that was entered and declares it.
    pub fn find_label(&self, name: &str) -> Option<Handle<Label>> {
        let first = *self.first_labels.get(name)?;
        let index = (*self.visible_labels.get(first.index())?)?;
        Some(self.block_labels[index as usize].label)
    }

    /// The label of that name which `block` itself declares.
    pub fn label_in(&self, name: &str, block: u32) -> Option<Handle<Label>> {
        let first = *self.first_labels.get(name)?;
        self.labels.get(&(first, block)).copied()
    }

    /// A label of that name in any block of the body.
    pub fn label_elsewhere(&self, name: &str) -> Option<Handle<Label>> {
        self.first_labels.get(name).copied()
    }
}

/// Empties a map. Clearing costs what the map *could* hold, so one large function must not make all
/// small ones after it pay.
fn reset<K, V>(map: &mut FxHashMap<K, V>) {
    if map.is_empty() {
        return;
    }
    if map.capacity() > 8 * map.len() + 64 {
        *map = FxHashMap::default();
    } else {
        map.clear();
    }
}

/// A name of at most eight bytes that ends in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    /// As [`packed`] makes it.
    prefix: u64,
    number: u32,
}

impl Numbered {
    /// The name that is the last `length` of some bytes.
    #[inline(always)]
    fn of(bytes: [u8; 8], length: u32) -> Option<Self> {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        let others = 8 * 8_u32.checked_sub(length)?;
        // Its last byte is the highest; names are ASCII, so that no sum carries into the next byte.
        let name = u64::from_le_bytes(bytes) & u64::MAX.checked_shl(others)?;
        let values = name ^ (ONES * u64::from(b'0'));
        let no_digits = (values.wrapping_add(ONES * 0x76) | values) & (ONES << 7);
        let digits = no_digits.leading_zeros() & !7;
        if digits == 0 || digits == u64::BITS {
            return None;
        }
        // Two digits become one value, then four, then eight.
        let values = values & u64::MAX << (u64::BITS - digits);
        let pairs = values.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
        let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
        let number = (fours.wrapping_mul(10_000 << 32 | 1) >> 32) as u32;
        Some(Self { prefix: name << digits, number })
    }
}

/// How many places there are for prefixes.
const PLACES: usize = 128;

/// A group of registers.
#[derive(Clone, Copy)]
struct Place {
    /// As [`packed`] makes it.
    prefix: u64,
    first: u32,
    count: u32,
    depth: u32,
    class: Class,
}

impl Place {
    const EMPTY: Self = Self { prefix: 0, first: 0, count: 0, depth: 0, class: Class::Unknown };
}

/// The group for each place.
struct Places([Place; PLACES]);

impl Default for Places {
    fn default() -> Self {
        Self([Place::EMPTY; PLACES])
    }
}

/// Where a prefix is looked for first.
#[inline(always)]
fn place_of(prefix: u64) -> usize {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    (prefix.wrapping_mul(MIX) >> (u64::BITS - PLACES.ilog2())) as usize
}

/// The bytes of a prefix as one number, the last byte highest; 0 for a long one, and for one that ends in a digit, since no
/// name has that for its prefix.
fn packed(prefix: &[u8]) -> u64 {
    if prefix.len() >= 8 || prefix.last().is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    let mut bytes = [0; 8];
    bytes[8 - prefix.len()..].copy_from_slice(prefix);
    u64::from_le_bytes(bytes)
}

/// The number of `name` in the group `prefix<count>`. The assembler takes all digits at the end of a name for its number,
/// so that a prefix with a digit at its end has no members.
#[inline]
fn member(name: &str, prefix: &str, count: u32) -> Option<u32> {
    if prefix.as_bytes().last().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let digits = name.as_bytes().strip_prefix(prefix.as_bytes())?;
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    let mut number = 0_u32;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + u32::from(digit - b'0');
    }
    (number < count).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{Numbered, packed};

    #[test]
    fn short_names_are_taken_apart() {
        for (prefix, number) in [
            ("%r", "1"),
            ("%rd", "12345"),
            ("a", "0000012"),
            ("$L_", "907"),
            ("%p1_", "65"),
            ("abcdefg", "9"),
        ] {
            let text = format!("12345678{prefix}{number}");
            let expected = Numbered { prefix: packed(prefix.as_bytes()), number: number.parse().unwrap() };
            let length = (prefix.len() + number.len()) as u32;
            assert_eq!(
                Numbered::of(*text.as_bytes().last_chunk().unwrap(), length),
                Some(expected),
                "{text}"
            );
        }
        for name in ["%rd", "a", "%r1_", "%r1a", "12345678", "", "%rd123456"] {
            let text = format!("12345678{name}");
            let found = Numbered::of(*text.as_bytes().last_chunk().unwrap(), name.len() as u32);
            assert_eq!(found, None, "{name}");
        }
    }
}
