//! Static single assignment of registers, predicates and the carry flag.
//!
//! A variable is a register that the function names, or the carry flag `CC.CF`, which is a register of one bit here. Each
//! write makes a value; where control comes together, a variable that is set on several of the paths gets a value that
//! joins theirs (φ); a write under a guard is followed by a value that is the new or the old one (ψ). What nothing has
//! set is undefined, and that is a value too.
//!
//! Most variables of compilers' code are set in one block that dominates all that read them. They cost nothing; only for
//! the others are joins placed, where Cytron and others (1991) place them, and only where the variable is live.
//!
//! Everything lies in flat arrays. A function whose loops nest so deeply that joins would be too many is not followed
//! across blocks for the variables that would need them: these are [`Kind::Opaque`], of which nothing is known.

mod build;

use std::ops::Range;

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::Register;
use ptx_ir::isa::Control;

use crate::FunctionFacts;
use build::Builder;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

impl ValueId {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The number, for tables with an entry a value.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    const fn some(self) -> Option<Self> {
        if self.0 == u32::MAX { None } else { Some(self) }
    }
}

/// What is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// A register, or an element of a vector register.
    Register(Register),
    /// `CC.CF`.
    Carry,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing has set the variable: it is what happens to be there.
    Undefined,
    /// The caller has set it: a parameter in a register.
    Entry,
    /// Not known where; see the module's documentation.
    Opaque,
    /// What an instruction computes. A use, as an index of [`crate::registers::Uses::all`], tells the operand.
    Computed {
        /// The instruction.
        instruction: u32,
        /// The use that is written; none for the carry flag.
        at: Option<u32>,
    },
    /// What the instruction computes where its guard holds, else what was there before.
    Guarded {
        /// The instruction.
        instruction: u32,
        /// What it computes.
        new: ValueId,
        /// What was there.
        old: ValueId,
    },
    /// Of as many values as the block has predecessors, that of the one that control came from.
    Joined {
        /// The block.
        block: NodeIndex,
    },
}

/// The carry flag at an instruction.
#[derive(Clone, Copy, Debug)]
struct CarryUse {
    instruction: u32,
    read: ValueId,
    written: ValueId,
}

/// The values of a function.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    kinds: Vec<Kind>,
    /// The variable of each value, as its number.
    variables: Vec<u32>,
    /// Of each value of [`Kind::Joined`] the first of its inputs. Joins are the first values.
    firsts: Vec<u32>,
    inputs: Vec<ValueId>,
    /// The value that each use reads, and the one that it writes, by the index of the use.
    read: Vec<ValueId>,
    written: Vec<ValueId>,
    /// The value of the guard of each instruction.
    guards: Vec<ValueId>,
    /// Where the carry flag is read or written, in order of the text.
    carry: Vec<CarryUse>,
    /// The registers that variables are.
    registers: Vec<Register>,
    /// In how many bits each variable is followed.
    widths: Vec<u8>,
    /// Where the joins of each block begin, by block, and one more at the end; and the joins.
    block_joins: Vec<u32>,
    joins: Vec<ValueId>,
    /// The predecessors of each block in the order of the inputs of its joins.
    predecessors: Vec<(u32, Option<Condition>)>,
    predecessor_starts: Vec<u32>,
    /// The edges out of each block: the target, and which of its predecessors this is.
    successors: Vec<(u32, u32)>,
    successor_starts: Vec<u32>,
    has_undefined: bool,
    /// Whether some variables are not followed.
    has_opaque: bool,
    /// Whether something is written under a guard.
    has_guarded: bool,
}

impl Graph {
    /// The graph of a function.
    #[must_use]
    pub fn new(facts: &FunctionFacts<'_>) -> Self {
        Builder::new(facts).build()
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no value at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether some variable may be read before it is set.
    #[must_use]
    pub fn has_undefined(&self) -> bool {
        self.has_undefined
    }

    /// All values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        (0..self.kinds.len() as u32).map(ValueId)
    }

    /// Where a value comes from.
    #[must_use]
    #[inline]
    pub fn kind(&self, value: ValueId) -> Kind {
        self.kinds[value.index()]
    }

    /// What a value is a value of.
    #[must_use]
    #[inline]
    pub fn variable(&self, value: ValueId) -> Variable {
        let number = self.variables[value.index()] as usize;
        self.registers.get(number).map_or(Variable::Carry, |register| Variable::Register(*register))
    }

    /// In how many bits a value is followed: those of its variable, but the low 64 of a wider one.
    #[must_use]
    #[inline]
    pub fn width(&self, value: ValueId) -> u32 {
        u32::from(self.widths[self.variables[value.index()] as usize])
    }

    /// The inputs of a join, in the order of [`Self::predecessors`]; nothing for other values. The start of the function
    /// is the last predecessor of the entry.
    #[must_use]
    #[inline]
    pub fn inputs(&self, value: ValueId) -> &[ValueId] {
        let Kind::Joined { block } = self.kinds[value.index()] else { return &[] };
        let first = self.firsts[value.index()] as usize;
        &self.inputs[first..first + self.input_count(block)]
    }

    #[inline]
    fn input_count(&self, block: NodeIndex) -> usize {
        let starts = &self.predecessor_starts;
        (starts[block.index() + 1] - starts[block.index()]) as usize + usize::from(block.index() == 0)
    }

    /// The blocks that control comes from, with the condition of the edge; unreachable ones are left out.
    pub fn predecessors(
        &self,
        block: NodeIndex,
    ) -> impl DoubleEndedIterator<Item = (NodeIndex, Option<Condition>)> + ExactSizeIterator {
        let starts = &self.predecessor_starts;
        let range = starts[block.index()] as usize..starts[block.index() + 1] as usize;
        self.predecessors[range].iter().map(|(from, condition)| (NodeIndex::new(*from as usize), *condition))
    }

    /// How many blocks control can come from.
    #[must_use]
    #[inline]
    pub fn predecessor_count(&self, block: NodeIndex) -> usize {
        (self.predecessor_starts[block.index() + 1] - self.predecessor_starts[block.index()]) as usize
    }

    /// The number of the edge from the predecessor of a block at `position`.
    #[must_use]
    #[inline]
    pub fn edge(&self, block: NodeIndex, position: usize) -> usize {
        self.predecessor_starts[block.index()] as usize + position
    }

    /// How many edges there are.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.predecessors.len()
    }

    /// The condition of the edge from the predecessor of a block at `position`.
    #[must_use]
    #[inline]
    pub fn condition(&self, block: NodeIndex, position: usize) -> Option<Condition> {
        self.predecessors[self.edge(block, position)].1
    }

    /// The blocks that control goes to, and which of their predecessors this one is.
    #[must_use]
    #[inline]
    pub fn successors(&self, block: NodeIndex) -> &[(u32, u32)] {
        let starts = &self.successor_starts;
        &self.successors[starts[block.index()] as usize..starts[block.index() + 1] as usize]
    }

    /// The joins of a block.
    #[must_use]
    #[inline]
    pub fn joins(&self, block: NodeIndex) -> &[ValueId] {
        &self.joins[self.join_range(block)]
    }

    /// The indices of a block's joins among all joins.
    #[inline]
    pub(super) fn join_range(&self, block: NodeIndex) -> Range<usize> {
        match self.block_joins.get(block.index()..block.index() + 2) {
            Some(starts) => starts[0] as usize..starts[1] as usize,
            None => 0..0,
        }
    }

    /// A join by its index among all.
    #[inline]
    pub(super) fn join_at(&self, index: usize) -> ValueId {
        self.joins[index]
    }

    /// How many joins there are.
    pub(super) fn join_count(&self) -> usize {
        self.joins.len()
    }

    /// The value that a use reads, by its index in [`crate::registers::Uses::all`]; none where it only writes, or
    /// cannot be reached.
    #[must_use]
    #[inline]
    pub fn read(&self, at: usize) -> Option<ValueId> {
        self.read.get(at)?.some()
    }

    /// The value that a use writes: what the instruction computes, whatever its guard.
    #[must_use]
    #[inline]
    pub fn written(&self, at: usize) -> Option<ValueId> {
        self.written.get(at)?.some()
    }

    /// The value that the variable has after a write: behind a guard, the new or the old one.
    #[must_use]
    #[inline]
    pub fn after(&self, written: ValueId) -> ValueId {
        let next = ValueId(written.0 + 1);
        match self.kinds.get(next.index()) {
            Some(Kind::Guarded { new, .. }) if *new == written => next,
            _ => written,
        }
    }

    /// The value of the guard of an instruction.
    #[must_use]
    #[inline]
    pub fn guard(&self, instruction: u32) -> Option<ValueId> {
        self.guards.get(instruction as usize)?.some()
    }

    /// What decides where an indexed branch at the end of a block goes.
    pub(crate) fn branch_index(&self, facts: &FunctionFacts<'_>, block: NodeIndex) -> Option<ValueId> {
        let last = facts.cfg.instructions(block).last()?;
        match facts.control(last) {
            Control::IndexedBranch => facts.uses().range(last).find_map(|at| self.read(at)),
            _ => None,
        }
    }

    /// What decides where control goes and what runs: guards, and the indices of branches.
    pub fn deciders(&self, facts: &FunctionFacts<'_>) -> impl Iterator<Item = ValueId> {
        let guards = (0..facts.body.instructions.len() as u32).filter_map(|each| self.guard(each));
        let blocks = facts.cfg.reverse_postorder().iter();
        guards.chain(blocks.filter_map(|&block| self.branch_index(facts, block)))
    }

    /// The values of the carry flag that an instruction reads and writes.
    #[must_use]
    #[inline]
    pub fn carry(&self, instruction: u32) -> (Option<ValueId>, Option<ValueId>) {
        let place = self.carry.binary_search_by_key(&instruction, |each| each.instruction);
        place.map_or((None, None), |place| {
            let each = self.carry[place];
            (each.read.some(), each.written.some())
        })
    }
}

impl Graph {
    /// Of each value whether anything reads it: an instruction, a guard, or a join or a write under a guard whose own
    /// value is read. Where it is not known who reads a variable, all its values count as read.
    #[must_use]
    pub fn read_values(&self) -> Vec<bool> {
        let mut read = vec![false; self.kinds.len()];
        let flags = self.carry.iter().map(|each| &each.read);
        for value in
            self.read.iter().chain(&self.guards).chain(flags).filter(|value| **value != ValueId::NONE)
        {
            read[value.index()] = true;
        }
        // Joins are the first values.
        let last = if self.has_guarded { self.kinds.len() } else { self.firsts.len() };
        let mut open: Vec<usize> = (0..last).filter(|&index| read[index]).collect();
        let mut note = |value: ValueId, open: &mut Vec<usize>| {
            if value != ValueId::NONE && !std::mem::replace(&mut read[value.index()], true) {
                open.push(value.index());
            }
        };
        while let Some(index) = open.pop() {
            match self.kinds[index] {
                Kind::Guarded { new, old, .. } => {
                    [new, old].into_iter().for_each(|value| note(value, &mut open));
                }
                Kind::Joined { .. } => {
                    let inputs = self.inputs(ValueId(index as u32));
                    inputs.iter().for_each(|&value| note(value, &mut open));
                }
                _ => {}
            }
        }
        self.count_opaque_as_read(&mut read);
        read
    }

    fn count_opaque_as_read(&self, read: &mut [bool]) {
        if !self.has_opaque {
            return;
        }
        let mut opaque = vec![false; self.widths.len()];
        let variables = || self.kinds.iter().zip(&self.variables);
        variables()
            .filter(|(kind, _)| **kind == Kind::Opaque)
            .for_each(|(_, &variable)| opaque[variable as usize] = true);
        for (read, &variable) in read.iter_mut().zip(&self.variables) {
            *read |= opaque[variable as usize];
        }
    }

    /// Where the carry flag is read or written, in order of the text, with the value that is read.
    pub(crate) fn flags(&self) -> impl Iterator<Item = (u32, Option<ValueId>)> {
        self.carry.iter().map(|each| (each.instruction, each.read.some()))
    }

    /// The calls that leave the carry flag undefined, with the value that it has after them.
    pub(crate) fn lost_flags(&self) -> impl Iterator<Item = (ValueId, u32)> {
        let flags = self.carry.iter().filter_map(|each| Some((each.written.some()?, each.instruction)));
        flags.filter(|(value, _)| self.kinds[value.index()] == Kind::Undefined)
    }
}
