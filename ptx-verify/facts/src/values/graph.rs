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

use std::ops::Range;

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Register, RegisterGroup};

use super::frontier::Frontiers;
use super::number;
use super::placement::{GROUP, Groups, Placement};
use crate::FunctionFacts;

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
    /// For values of [`Kind::Joined`] the first of their inputs.
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
    pub fn kind(&self, value: ValueId) -> Kind {
        self.kinds[value.index()]
    }

    /// What a value is a value of.
    #[must_use]
    pub fn variable(&self, value: ValueId) -> Variable {
        let number = self.variables[value.index()] as usize;
        self.registers.get(number).map_or(Variable::Carry, |register| Variable::Register(*register))
    }

    /// In how many bits a value is followed: those of its variable, but the low 64 of a wider one.
    #[must_use]
    pub fn width(&self, value: ValueId) -> u32 {
        u32::from(self.widths[self.variables[value.index()] as usize])
    }

    /// The inputs of a join, in the order of [`Self::predecessors`]; nothing for other values. The start of the function
    /// is the last predecessor of the entry.
    #[must_use]
    pub fn inputs(&self, value: ValueId) -> &[ValueId] {
        let Kind::Joined { block } = self.kinds[value.index()] else { return &[] };
        let first = self.firsts[value.index()] as usize;
        &self.inputs[first..first + self.input_count(block)]
    }

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
    pub fn predecessor_count(&self, block: NodeIndex) -> usize {
        (self.predecessor_starts[block.index() + 1] - self.predecessor_starts[block.index()]) as usize
    }

    /// The number of the edge from the predecessor of a block at `position`.
    #[must_use]
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
    pub fn condition(&self, block: NodeIndex, position: usize) -> Option<Condition> {
        self.predecessors[self.edge(block, position)].1
    }

    /// The blocks that control goes to, and which of their predecessors this one is.
    #[must_use]
    pub fn successors(&self, block: NodeIndex) -> &[(u32, u32)] {
        let starts = &self.successor_starts;
        &self.successors[starts[block.index()] as usize..starts[block.index() + 1] as usize]
    }

    /// The joins of a block.
    #[must_use]
    pub fn joins(&self, block: NodeIndex) -> &[ValueId] {
        &self.joins[self.join_range(block)]
    }

    /// The indices of a block's joins among all joins.
    pub(super) fn join_range(&self, block: NodeIndex) -> Range<usize> {
        match self.block_joins.get(block.index()..block.index() + 2) {
            Some(starts) => starts[0] as usize..starts[1] as usize,
            None => 0..0,
        }
    }

    /// A join by its index among all.
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
    pub fn read(&self, at: usize) -> Option<ValueId> {
        self.read.get(at)?.some()
    }

    /// The value that a use writes: what the instruction computes, whatever its guard.
    #[must_use]
    pub fn written(&self, at: usize) -> Option<ValueId> {
        self.written.get(at)?.some()
    }

    /// The value that the variable has after a write: behind a guard, the new or the old one.
    #[must_use]
    pub fn after(&self, written: ValueId) -> ValueId {
        let next = ValueId(written.0 + 1);
        match self.kinds.get(next.index()) {
            Some(Kind::Guarded { new, .. }) if *new == written => next,
            _ => written,
        }
    }

    /// The value of the guard of an instruction.
    #[must_use]
    pub fn guard(&self, instruction: u32) -> Option<ValueId> {
        self.guards.get(instruction as usize)?.some()
    }

    /// The values of the carry flag that an instruction reads and writes.
    #[must_use]
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
        let mut open = Vec::new();
        let mut note = |value: ValueId, open: &mut Vec<ValueId>| {
            if value != ValueId::NONE && !std::mem::replace(&mut read[value.index()], true) {
                open.push(value);
            }
        };
        for &value in self.read.iter().chain(&self.guards).chain(flags) {
            note(value, &mut open);
            while let Some(value) = open.pop() {
                match self.kinds[value.index()] {
                    Kind::Guarded { new, old, .. } => {
                        [new, old].into_iter().for_each(|value| note(value, &mut open));
                    }
                    Kind::Joined { .. } => {
                        self.inputs(value).iter().for_each(|&value| note(value, &mut open));
                    }
                    _ => {}
                }
            }
        }
        self.count_opaque_as_read(&mut read);
        read
    }

    fn count_opaque_as_read(&self, read: &mut [bool]) {
        if !self.kinds.contains(&Kind::Opaque) {
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

/// What is known of a variable before values are made.
#[derive(Clone, Copy)]
struct Seen {
    /// The block that sets it; one of the two marks.
    block: u32,
    /// The block that was last seen to set it whatever its guards, and the one that was last seen to read it before.
    full: u32,
    exposed: u32,
    /// Whether joins are needed.
    several: bool,
}

const NOWHERE: u32 = u32::MAX;
const OFTEN: u32 = u32::MAX - 1;

struct Builder<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: Graph,
    seen: Vec<Seen>,
    /// Blocks that read variables before they set them.
    exposed: Vec<(u32, u32)>,
    /// Blocks that set variables, each once.
    set: Vec<(u32, u32)>,
    /// Blocks that set variables whatever their guards.
    killed: Vec<(u32, u32)>,
    /// The variable of each use.
    variables: Vec<u32>,
    /// The number of the carry flag.
    carry: u32,
    has_carry: bool,
    /// The value of each variable where the walk is.
    now: Vec<ValueId>,
    /// What the variables had before, to be restored.
    log: Vec<(u32, ValueId)>,
    initial: Vec<ValueId>,
}

impl<'f, 'm> Builder<'f, 'm> {
    fn new(facts: &'f FunctionFacts<'m>) -> Self {
        let registers: Vec<Register> = facts.registers().collect();
        let carry = registers.len() as u32;
        let unseen = Seen { block: NOWHERE, full: NOWHERE, exposed: NOWHERE, several: false };
        let count = registers.len() + 1;
        let uses = facts.uses().all();
        let variables: Vec<u32> =
            uses.iter().map(|each| facts.position(each.register).unwrap_or(0) as u32).collect();
        // About every second operand is written.
        let expected = uses.len() / 2 + uses.len() / 8 + 16;
        let spellings = &facts.module.spellings;
        let uses_carry = |spelling: &ptx_ir::ir::Spelling| {
            spelling.resolved.instances.iter().any(|instance| instance.effects.carry.is_some())
        };
        Self {
            facts,
            graph: Graph {
                read: vec![ValueId::NONE; uses.len()],
                written: vec![ValueId::NONE; uses.len()],
                guards: vec![ValueId::NONE; facts.body.instructions.len()],
                widths: widths(facts, &registers),
                kinds: Vec::with_capacity(expected),
                variables: Vec::with_capacity(expected),
                firsts: Vec::with_capacity(expected),
                registers,
                ..Graph::default()
            },
            seen: vec![unseen; count],
            exposed: Vec::with_capacity(expected),
            set: Vec::with_capacity(expected),
            killed: Vec::with_capacity(expected),
            variables,
            carry,
            // A module may have far more spellings than a function has instructions.
            has_carry: match spellings.len() < facts.body.instructions.len() {
                true => spellings.iter().any(|(_, spelling)| uses_carry(spelling)),
                false => {
                    let instructions = facts.body.instructions.iter();
                    instructions.map(|(_, each)| &spellings[each.spelling]).any(uses_carry)
                }
            },
            now: vec![ValueId::NONE; count],
            log: Vec::new(),
            initial: vec![ValueId::NONE; count],
        }
    }

    fn build(mut self) -> Graph {
        for &block in self.facts.cfg.reverse_postorder() {
            for instruction in self.facts.cfg.instructions(block) {
                self.look(block.index() as u32, instruction);
            }
        }
        self.edges();
        self.place();
        self.walk();
        self.graph.carry.sort_unstable_by_key(|each| each.instruction);
        self.graph
    }

    fn guard(&self, instruction: u32) -> Option<u32> {
        let guard = self.facts.body.instructions[Handle::new(instruction)].guard?;
        Some(self.facts.position(guard.register?)? as u32)
    }

    /// What an instruction does with the carry flag: whether it reads it and whether it sets it, to something or to
    /// nothing that can be relied on, as a call does.
    fn carry(&self, instruction: u32) -> Option<(bool, bool)> {
        if !self.has_carry {
            return None;
        }
        match self.facts.carry(instruction) {
            Some(carry) => Some((carry.reads, carry.writes)),
            None => self.facts.is_call(instruction).then_some((false, true)),
        }
    }

    /// Notes what an instruction does, before values are made.
    fn look(&mut self, block: u32, instruction: u32) {
        let guarded = self.facts.is_guarded(instruction);
        if let Some(variable) = self.guard(instruction) {
            self.look_at_read(block, variable);
        }
        let carry = self.carry(instruction);
        if let Some((true, _)) = carry {
            self.look_at_read(block, self.carry);
        }
        let uses = self.facts.uses();
        let range = uses.range(instruction);
        for at in range.clone() {
            if uses.all()[at].access().reads() {
                self.look_at_read(block, self.variables[at]);
            }
        }
        for at in range {
            if uses.all()[at].access().writes() {
                self.look_at_write(block, self.variables[at], guarded);
            }
        }
        if let Some((_, true)) = carry {
            self.look_at_write(block, self.carry, guarded);
        }
    }

    fn look_at_read(&mut self, block: u32, variable: u32) {
        let seen = &mut self.seen[variable as usize];
        if seen.full != block && seen.exposed != block {
            seen.exposed = block;
            self.exposed.push((variable, block));
        }
    }

    fn look_at_write(&mut self, block: u32, variable: u32, guarded: bool) {
        if guarded {
            // The old value counts where the guard does not hold.
            self.look_at_read(block, variable);
        }
        let seen = &mut self.seen[variable as usize];
        if !guarded && seen.full != block {
            seen.full = block;
            self.killed.push((variable, block));
        }
        if seen.block != block {
            seen.block = if seen.block == NOWHERE { block } else { OFTEN };
            self.set.push((variable, block));
        }
    }

    /// The predecessors of each block, in one order for all joins.
    fn edges(&mut self) {
        let cfg = &self.facts.cfg;
        self.graph.predecessor_starts.reserve(cfg.block_count() + 1);
        for block in cfg.graph().node_indices() {
            self.graph.predecessor_starts.push(self.graph.predecessors.len() as u32);
            let before = cfg.predecessors(block).filter(|(before, _)| cfg.is_reachable(*before));
            let before = before.map(|(before, edge)| (before.index() as u32, edge.condition));
            self.graph.predecessors.extend(before);
        }
        self.graph.predecessor_starts.push(self.graph.predecessors.len() as u32);
        let mut starts = vec![0_u32; cfg.block_count() + 2];
        self.graph.predecessors.iter().for_each(|(from, _)| starts[*from as usize + 2] += 1);
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut successors = vec![(0, 0); self.graph.predecessors.len()];
        for block in cfg.graph().node_indices() {
            for (position, (from, _)) in self.graph.predecessors(block).enumerate() {
                let next = &mut starts[from.index() + 1];
                successors[*next as usize] = (block.index() as u32, position as u32);
                *next += 1;
            }
        }
        (self.graph.successors, self.graph.successor_starts) = (successors, starts);
    }

    /// Finds the variables that need joins, and places these.
    fn place(&mut self) {
        let cfg = &self.facts.cfg;
        for &(variable, block) in &self.exposed {
            let seen = &mut self.seen[variable as usize];
            let is_simple = match seen.block {
                // Nothing sets it: it is what it was when the function began.
                NOWHERE => true,
                OFTEN => false,
                set => {
                    let (set, block) = (NodeIndex::new(set as usize), NodeIndex::new(block as usize));
                    set != block && cfg.dominates(set, block)
                }
            };
            seen.several |= !is_simple;
        }
        let variables: Vec<u32> =
            (0..self.seen.len() as u32).filter(|&variable| self.seen[variable as usize].several).collect();
        if variables.is_empty() {
            return;
        }
        let Some(frontiers) = Frontiers::new(cfg) else { return self.give_up() };
        // Joins are at most as many as operands, times a number: else the function is one that nobody wrote.
        let limit = MIN_JOINS + MAX_JOINS_PER_USE * self.variables.len();
        let looks = MIN_LOOKS + LOOKS_PER_USE * self.variables.len();
        let edges = (&self.graph.predecessor_starts[..], &self.graph.predecessors[..]);
        let mut placement = Placement::new(cfg.block_count(), edges, &frontiers, looks);
        let [set, exposed, killed] = [&self.set, &self.exposed, &self.killed]
            .map(|pairs| Groups::new(self.seen.len(), &variables, pairs));
        let mut placed: Vec<(u32, u32)> = Vec::new();
        for (group, variables) in variables.chunks(GROUP).enumerate() {
            placement.of_group(set.of(group), exposed.of(group), killed.of(group));
            placement.take(|block, bit| placed.push((block, variables[bit as usize])));
            if placed.len() > limit {
                return self.give_up();
            }
        }
        self.make_joins(&mut placed);
    }

    fn make_joins(&mut self, placed: &mut [(u32, u32)]) {
        placed.sort_unstable();
        let mut next = 0;
        for block in 0..self.facts.cfg.block_count() {
            self.graph.block_joins.push(self.graph.joins.len() as u32);
            while let Some(&(_, variable)) = placed.get(next).filter(|(join, _)| *join as usize == block) {
                let node = NodeIndex::new(block);
                let value = self.value(Kind::Joined { block: node }, variable);
                self.graph.firsts[value.index()] = self.graph.inputs.len() as u32;
                let count = self.graph.input_count(node);
                self.graph.inputs.resize(self.graph.inputs.len() + count, ValueId::NONE);
                self.graph.joins.push(value);
                next += 1;
            }
        }
        self.graph.block_joins.push(self.graph.joins.len() as u32);
    }

    /// Variables that need joins are not followed.
    fn give_up(&mut self) {
        for variable in 0..self.seen.len() {
            if self.seen[variable].several {
                self.initial[variable] = self.value(Kind::Opaque, variable as u32);
            }
        }
    }

    fn value(&mut self, kind: Kind, variable: u32) -> ValueId {
        let value = ValueId(self.graph.kinds.len() as u32);
        self.graph.kinds.push(kind);
        self.graph.variables.push(variable);
        self.graph.firsts.push(0);
        value
    }

    /// The value of a variable where the walk is.
    fn current(&mut self, variable: u32) -> ValueId {
        let index = variable as usize;
        let initial = self.initial[index];
        if initial != ValueId::NONE && self.graph.kinds[initial.index()] == Kind::Opaque {
            return initial;
        }
        if self.now[index] != ValueId::NONE {
            return self.now[index];
        }
        if initial != ValueId::NONE {
            return initial;
        }
        let register = self.graph.registers.get(index);
        let is_set = register.is_some_and(|register| self.facts.is_set_at_entry(*register));
        let kind = if is_set { Kind::Entry } else { Kind::Undefined };
        self.graph.has_undefined |= !is_set;
        self.initial[index] = self.value(kind, variable);
        self.initial[index]
    }

    fn set(&mut self, variable: u32, value: ValueId) {
        let old = std::mem::replace(&mut self.now[variable as usize], value);
        self.log.push((variable, old));
    }

    /// Makes values, block by block down the dominator tree.
    fn walk(&mut self) {
        // The log's length where each open block began.
        let mut open: Vec<(NodeIndex, usize)> = Vec::new();
        for block in self.facts.cfg.dominator_preorder() {
            while let Some(&(above, length)) = open.last()
                && !self.facts.cfg.dominates(above, block)
            {
                self.restore(length);
                open.pop();
            }
            open.push((block, self.log.len()));
            for index in self.graph.join_range(block) {
                let join = self.graph.joins[index];
                self.set(self.graph.variables[join.index()], join);
            }
            for instruction in self.facts.cfg.instructions(block) {
                self.pass(instruction);
            }
            self.leave(block);
        }
        // The start of the function comes before the entry.
        let entry = NodeIndex::new(0);
        self.restore(0);
        for index in self.graph.join_range(entry) {
            let join = self.graph.joins[index];
            let last = self.graph.firsts[join.index()] as usize + self.graph.input_count(entry) - 1;
            self.graph.inputs[last] = self.current(self.graph.variables[join.index()]);
        }
    }

    fn restore(&mut self, length: usize) {
        while self.log.len() > length
            && let Some((variable, old)) = self.log.pop()
        {
            self.now[variable as usize] = old;
        }
    }

    fn pass(&mut self, instruction: u32) {
        if let Some(variable) = self.guard(instruction) {
            self.graph.guards[instruction as usize] = self.current(variable);
        }
        let carry = self.carry(instruction);
        let mut flag = CarryUse { instruction, read: ValueId::NONE, written: ValueId::NONE };
        if let Some((true, _)) = carry {
            flag.read = self.current(self.carry);
        }
        let uses = self.facts.uses();
        let range = uses.range(instruction);
        for at in range.clone() {
            if uses.all()[at].access().reads() {
                self.graph.read[at] = self.current(self.variables[at]);
            }
        }
        let guarded = self.facts.is_guarded(instruction);
        for at in range {
            if uses.all()[at].access().writes() {
                let kind = Kind::Computed { instruction, at: Some(at as u32) };
                self.graph.written[at] = self.write(kind, instruction, self.variables[at], guarded);
            }
        }
        if let Some((_, true)) = carry {
            let is_undefined = self.facts.carry(instruction).is_none();
            let kind = if is_undefined { Kind::Undefined } else { Kind::Computed { instruction, at: None } };
            flag.written = self.write(kind, instruction, self.carry, guarded);
        }
        if carry.is_some() {
            self.graph.carry.push(flag);
        }
    }

    fn write(&mut self, kind: Kind, instruction: u32, variable: u32, guarded: bool) -> ValueId {
        let old = if guarded { self.current(variable) } else { ValueId::NONE };
        let new = self.value(kind, variable);
        let now = if guarded { self.value(Kind::Guarded { instruction, new, old }, variable) } else { new };
        self.set(variable, now);
        new
    }

    /// Tells the joins of the blocks that follow what the variables are here.
    fn leave(&mut self, block: NodeIndex) {
        if self.graph.joins.is_empty() {
            return;
        }
        let starts = &self.graph.successor_starts;
        for edge in starts[block.index()] as usize..starts[block.index() + 1] as usize {
            let (next, position) = self.graph.successors[edge];
            for index in self.graph.join_range(NodeIndex::new(next as usize)) {
                let join = self.graph.joins[index];
                let value = self.current(self.graph.variables[join.index()]);
                let first = self.graph.firsts[join.index()] as usize;
                self.graph.inputs[first + position as usize] = value;
            }
        }
    }
}

/// In how many bits registers are followed, and behind them the carry flag.
fn widths(facts: &FunctionFacts<'_>, registers: &[Register]) -> Vec<u8> {
    let mut group: Option<&RegisterGroup> = None;
    let mut width = |register: Register| {
        let is_in = |group: &&RegisterGroup| register.0.wrapping_sub(group.first.0) < group.len();
        group = group.filter(is_in).or_else(|| facts.body.group(register));
        group.map_or(u64::BITS, |group| number::width(group.ty)) as u8
    };
    let mut widths: Vec<u8> = registers.iter().map(|&register| width(register)).collect();
    widths.push(1);
    widths
}

/// Blocks that are looked at for where variables are live: in any function, and for each operand. Beyond that, joins are
/// placed where variables may be dead.
const MIN_LOOKS: usize = 10_000;
const LOOKS_PER_USE: usize = 32;
/// Joins that any function may have.
const MIN_JOINS: usize = 4096;
/// Joins that each operand adds to that.
const MAX_JOINS_PER_USE: usize = 8;
