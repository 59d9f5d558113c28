//! Scopes of a function body: which name stands for what, at the statement being lowered.
//!
//! A parametrised group `%r<100>` is one entry, and `%r17` is found by comparing the prefix, as one number where
//! it is short, and reading the number after it; nothing is stored or hashed per register. Labels are visible in the whole block that
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
    /// The prefix as [`packed`] makes it.
    key: Option<u64>,
    span: Span,
    count: u32,
    depth: u32,
    kind: GroupKind,
    shadowed: Option<u32>,
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
    by_prefix: FxHashMap<&'s str, u32>,
    /// Lists of the numbers of variables.
    numbers: Vec<Vec<u32>>,
    /// How many of the groups have a prefix that is no key: long, or with a digit at its end.
    unpacked: usize,
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
        reset(&mut self.by_prefix);
        self.numbers.clear();
        self.unpacked = 0;
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
        while self.groups.len() > scope.groups as usize {
            let Some(group) = self.groups.pop() else { break };
            self.unpacked -= usize::from(group.key.is_none());
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
        self.unpacked += usize::from(key.is_none());
        self.groups.push(Group { prefix, key, span, count, depth, kind, shadowed });
        Ok(())
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

    #[inline(always)]
    fn find_group(&self, name: &str) -> Option<(usize, u32)> {
        if !name.as_bytes().last()?.is_ascii_digit() {
            return None;
        }
        if self.groups.len() > LINEAR_GROUPS {
            return self.find_group_by_hash(name);
        }
        if self.unpacked > 0 {
            return self.find_group_by_text(name);
        }
        let bytes = name.as_bytes();
        let (mut split, mut number, mut unit) = (bytes.len(), 0_u32, 1_u32);
        while let Some(&digit) = bytes[..split].last()
            && digit.is_ascii_digit()
        {
            if bytes.len() - split == MAX_DIGITS {
                return None;
            }
            number += u32::from(digit - b'0') * unit;
            unit = unit.wrapping_mul(10);
            split -= 1;
        }
        let key = packed(&bytes[..split])?;
        let fits = |group: &Group<'_>| group.key == Some(key) && number < group.count;
        let index = self.groups.iter().rposition(fits)?;
        Some((index, number))
    }

    #[cold]
    fn find_group_by_text(&self, name: &str) -> Option<(usize, u32)> {
        self.groups
            .iter()
            .enumerate()
            .rev()
            .find_map(|(index, group)| Some((index, member(name, group.prefix, group.count)?)))
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

/// The bytes of a prefix as one number, with their count above them; none for a long one, and for one that
/// ends in a digit, since a name does not show then where its number begins.
#[inline]
fn packed(prefix: &[u8]) -> Option<u64> {
    if prefix.len() >= 8 || prefix.last().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some(prefix.iter().fold(prefix.len() as u64, |key, &byte| key.rotate_left(8) ^ u64::from(byte)))
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
