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

use std::mem::take;
use std::ops::Range;

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Guard, Handle, Register, RegisterGroup};

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

/// What is known of a variable before values are made.
#[derive(Clone, Copy)]
struct Seen {
    /// The block that sets it; one of the two marks.
    block: u32,
    /// The block that was last seen to set it, to set it whatever its guards, and to read it before.
    set: u32,
    full: u32,
    exposed: u32,
    /// Whether joins are needed.
    several: bool,
}

impl Seen {
    const fn by(block: u32) -> Self {
        Self { block, set: NOWHERE, full: NOWHERE, exposed: NOWHERE, several: false }
    }
}

const NOWHERE: u32 = u32::MAX;
/// Several blocks set the variable, or one under a guard, or some read it where the one need not have set it.
const OFTEN: u32 = u32::MAX - 1;

struct Builder<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: Graph,
    seen: Vec<Seen>,
    /// Of the variables that are set often, the blocks that read them before they set them.
    exposed: Vec<(u32, u32)>,
    /// Blocks that set variables, each once.
    set: Vec<(u32, u32)>,
    /// Blocks that set variables whatever their guards.
    killed: Vec<(u32, u32)>,
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
        let count = registers.len() + 1;
        let uses = facts.uses().all();
        // About every second operand is written.
        let expected = uses.len() / 2 + uses.len() / 8 + 16;
        Self {
            facts,
            graph: Graph {
                read: vec![ValueId::NONE; uses.len()],
                written: vec![ValueId::NONE; uses.len()],
                guards: vec![ValueId::NONE; facts.body.instructions.len()],
                widths: widths(facts, &registers),
                kinds: Vec::with_capacity(expected),
                variables: Vec::with_capacity(expected),
                registers,
                ..Graph::default()
            },
            seen: vec![Seen::by(NOWHERE); count],
            exposed: Vec::new(),
            set: Vec::new(),
            killed: Vec::new(),
            carry,
            has_carry: (0..facts.body.instructions.len() as u32).any(|each| facts.carry(each).is_some()),
            now: vec![ValueId::NONE; count],
            log: Vec::new(),
            initial: vec![ValueId::NONE; count],
        }
    }

    fn build(mut self) -> Graph {
        let facts = self.facts;
        let position = |register| facts.position(register).unwrap_or(0) as u32;
        let variables: Vec<u32> = facts.uses().all().iter().map(|each| position(each.register)).collect();
        self.edges();
        self.find_often(&variables);
        self.find_not_dominated(&variables);
        let often: Vec<bool> = self.seen.iter().map(|seen| seen.block == OFTEN).collect();
        if often.contains(&true) {
            self.look_at_all(&variables, &often);
            self.place();
        }
        self.walk(&variables);
        self.graph.carry.sort_unstable_by_key(|each| each.instruction);
        self.graph
    }

    /// Finds the block that sets each variable.
    fn find_often(&mut self, variables: &[u32]) {
        let facts = self.facts;
        let all = facts.uses().all();
        let writes = |range: Range<usize>| {
            let uses = all[range.clone()].iter().zip(&variables[range]);
            uses.filter(|(each, _)| each.writes()).map(|(_, &variable)| variable as usize)
        };
        for &block in facts.cfg.reverse_postorder() {
            let here = block.index() as u32;
            for variable in writes(facts.uses().range_of(facts.cfg.instructions(block))) {
                let block = &mut self.seen[variable].block;
                *block = if matches!(*block, NOWHERE) || *block == here { here } else { OFTEN };
            }
        }
        // The old value counts where the guard does not hold.
        for (handle, _) in facts.body.instructions.iter().filter(|(_, each)| each.guard.is_some()) {
            for variable in writes(facts.uses().range(handle.index() as u32)) {
                self.seen[variable].block = OFTEN;
            }
        }
        if self.has_carry {
            self.seen[self.carry as usize].block = OFTEN;
        }
    }

    /// The variable of a guard.
    fn of_guard(&self, guard: Option<Guard>) -> Option<u32> {
        Some(self.facts.position(guard?.register?)? as u32)
    }

    /// What an instruction does with the carry flag: whether it reads it and whether it sets it, to something or to
    /// nothing that can be relied on, as a call does.
    #[inline]
    fn carry(&self, instruction: u32) -> Option<(bool, bool)> {
        if !self.has_carry {
            return None;
        }
        match self.facts.carry(instruction) {
            Some(carry) => Some((carry.reads, carry.writes)),
            None => self.facts.is_call(instruction).then_some((false, true)),
        }
    }

    /// Finds the variables that are read where the one block that sets them need not have done so. They are as those that
    /// are set often.
    fn find_not_dominated(&mut self, variables: &[u32]) {
        let facts = self.facts;
        let uses = facts.uses();
        for &block in facts.cfg.reverse_postorder() {
            let here = block.index() as u32;
            let read = |seen: &mut Seen| {
                let is_before = match seen.block {
                    NOWHERE | OFTEN => true,
                    set if set == here => seen.set == here,
                    set => facts.cfg.dominates(NodeIndex::new(set as usize), block),
                };
                if !is_before {
                    seen.block = OFTEN;
                }
            };
            for instruction in facts.cfg.instructions(block) {
                let guard = facts.body.instructions[Handle::new(instruction)].guard;
                if let Some(variable) = self.of_guard(guard) {
                    read(&mut self.seen[variable as usize]);
                }
                let range = uses.range(instruction);
                let writing = uses.writing(instruction);
                let reading = if writing == range { range } else { writing.end..range.end };
                for (each, &variable) in uses.all()[reading.clone()].iter().zip(&variables[reading]) {
                    if each.reads() {
                        read(&mut self.seen[variable as usize]);
                    }
                }
                for (each, &variable) in uses.all()[writing.clone()].iter().zip(&variables[writing]) {
                    if each.writes() {
                        self.seen[variable as usize].set = here;
                    }
                }
            }
        }
        self.seen.iter_mut().for_each(|seen| seen.set = NOWHERE);
    }

    /// Looks at all instructions that have to do with variables that are set often.
    fn look_at_all(&mut self, variables: &[u32], often: &[bool]) {
        let facts = self.facts;
        for &block in facts.cfg.reverse_postorder() {
            for instruction in facts.cfg.instructions(block) {
                let own = &variables[facts.uses().range(instruction)];
                let is_concerned = self.has_carry
                    || facts.is_guarded(instruction)
                    || own.iter().any(|&variable| often[variable as usize]);
                if is_concerned {
                    self.look(block.index() as u32, instruction, variables);
                }
            }
        }
    }

    /// Notes what an instruction does with variables that are set often, before values are made.
    fn look(&mut self, block: u32, instruction: u32, variables: &[u32]) {
        let guard = self.facts.body.instructions[Handle::new(instruction)].guard;
        if let Some(variable) = self.of_guard(guard) {
            self.look_at_read(block, variable);
        }
        let carry = self.carry(instruction);
        if let Some((true, _)) = carry {
            self.look_at_read(block, self.carry);
        }
        let uses = self.facts.uses();
        let (own, variables) = (uses.of(instruction), &variables[uses.range(instruction)]);
        for (each, &variable) in own.iter().zip(variables) {
            if each.reads() {
                self.look_at_read(block, variable);
            }
        }
        for (each, &variable) in own.iter().zip(variables) {
            if each.writes() {
                self.look_at_write(block, variable, guard.is_some());
            }
        }
        if let Some((_, true)) = carry {
            self.look_at_write(block, self.carry, guard.is_some());
        }
    }

    #[inline]
    fn look_at_read(&mut self, block: u32, variable: u32) {
        let seen = &mut self.seen[variable as usize];
        if seen.block == OFTEN && seen.full != block && seen.exposed != block {
            (seen.exposed, seen.several) = (block, true);
            self.exposed.push((variable, block));
        }
    }

    #[inline]
    fn look_at_write(&mut self, block: u32, variable: u32, guarded: bool) {
        if self.seen[variable as usize].block != OFTEN {
            return;
        }
        if guarded {
            // The old value counts where the guard does not hold.
            self.look_at_read(block, variable);
        }
        let seen = &mut self.seen[variable as usize];
        if !guarded && seen.full != block {
            seen.full = block;
            self.killed.push((variable, block));
        }
        if seen.set != block {
            seen.set = block;
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
        let variables: Vec<u32> =
            (0..self.seen.len() as u32).filter(|&variable| self.seen[variable as usize].several).collect();
        if variables.is_empty() {
            return;
        }
        let Some(frontiers) = Frontiers::new(cfg) else { return self.give_up() };
        // Joins are at most as many as operands, times a number: else the function is one that nobody wrote.
        let uses = self.graph.read.len();
        let limit = MIN_JOINS + MAX_JOINS_PER_USE * uses;
        let looks = MIN_LOOKS + LOOKS_PER_USE * uses;
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
        self.make_joins(&placed);
    }

    /// Makes joins of pairs of a block and a variable. Those of one block come in the order of the variables.
    fn make_joins(&mut self, placed: &[(u32, u32)]) {
        let blocks = self.facts.cfg.block_count();
        let mut starts = vec![0_u32; blocks + 2];
        placed.iter().for_each(|(block, _)| starts[*block as usize + 2] += 1);
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut variables = vec![0; placed.len()];
        for &(block, variable) in placed {
            let next = &mut starts[block as usize + 1];
            variables[*next as usize] = variable;
            *next += 1;
        }
        starts.truncate(blocks + 1);
        for block in 0..blocks {
            let node = NodeIndex::new(block);
            let count = self.graph.input_count(node);
            for &variable in &variables[starts[block] as usize..starts[block + 1] as usize] {
                let join = self.value(Kind::Joined { block: node }, variable);
                self.graph.firsts.push(self.graph.inputs.len() as u32);
                self.graph.inputs.resize(self.graph.inputs.len() + count, ValueId::NONE);
                self.graph.joins.push(join);
            }
        }
        self.graph.block_joins = starts;
    }

    /// Variables that need joins are not followed.
    fn give_up(&mut self) {
        self.graph.has_opaque = true;
        for variable in 0..self.seen.len() {
            if self.seen[variable].several {
                self.now[variable] = self.value(Kind::Opaque, variable as u32);
            }
        }
    }

    #[inline]
    fn value(&mut self, kind: Kind, variable: u32) -> ValueId {
        let value = ValueId(self.graph.kinds.len() as u32);
        self.graph.kinds.push(kind);
        self.graph.variables.push(variable);
        value
    }

    /// The value of a variable where the walk is.
    #[inline]
    fn current(&mut self, variable: u32) -> ValueId {
        let now = self.now[variable as usize];
        if now == ValueId::NONE { self.initial(variable) } else { now }
    }

    /// The value of a variable that nothing has set yet.
    #[cold]
    fn initial(&mut self, variable: u32) -> ValueId {
        let index = variable as usize;
        let initial = self.initial[index];
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

    #[inline]
    fn set(&mut self, variable: u32, value: ValueId) {
        if self.graph.has_opaque && self.seen[variable as usize].several {
            return;
        }
        let old = std::mem::replace(&mut self.now[variable as usize], value);
        self.log.push((variable, old));
    }

    /// Makes values, block by block down the dominator tree.
    fn walk(&mut self, variables: &[u32]) {
        let (mut read, mut written) = (take(&mut self.graph.read), take(&mut self.graph.written));
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
                self.pass(instruction, variables, (&mut read, &mut written));
            }
            self.leave(block);
        }
        (self.graph.read, self.graph.written) = (read, written);
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

    /// Makes the values of an instruction, of which `read` and `written` are told.
    fn pass(
        &mut self,
        instruction: u32,
        variables: &[u32],
        (read, written): (&mut [ValueId], &mut [ValueId]),
    ) {
        let guard = self.facts.body.instructions[Handle::new(instruction)].guard;
        if let Some(variable) = self.of_guard(guard) {
            self.graph.guards[instruction as usize] = self.current(variable);
        }
        let carry = self.carry(instruction);
        let mut flag = CarryUse { instruction, read: ValueId::NONE, written: ValueId::NONE };
        if let Some((true, _)) = carry {
            flag.read = self.current(self.carry);
        }
        let guarded = guard.is_some();
        let uses = self.facts.uses();
        // Nearly all instructions name first what they set, and then what they read.
        if let (Some((sets, reads)), None) = (uses.split(instruction), carry) {
            for (read, &variable) in read[reads.clone()].iter_mut().zip(&variables[reads]) {
                *read = self.current(variable);
            }
            for at in sets {
                let kind = Kind::Computed { instruction, at: Some(at as u32) };
                written[at] = self.write(kind, instruction, variables[at], guarded);
            }
            return;
        }
        let range = uses.range(instruction);
        let (own, variables) = (uses.of(instruction), &variables[range.clone()]);
        for ((each, &variable), read) in own.iter().zip(variables).zip(&mut read[range.clone()]) {
            if each.reads() {
                *read = self.current(variable);
            }
        }
        let places = (range.start as u32..).zip(&mut written[range]);
        for ((each, &variable), (at, written)) in own.iter().zip(variables).zip(places) {
            if each.writes() {
                let kind = Kind::Computed { instruction, at: Some(at) };
                *written = self.write(kind, instruction, variable, guarded);
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

    #[inline]
    fn write(&mut self, kind: Kind, instruction: u32, variable: u32, guarded: bool) -> ValueId {
        let old = if guarded { self.current(variable) } else { ValueId::NONE };
        let new = self.value(kind, variable);
        self.graph.has_guarded |= guarded;
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
