//! How the graph is made: which variables need joins, where these are, and one walk that makes the values.

use std::mem::take;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Guard, Handle, Register};

use super::{CarryUse, Graph, Kind, ValueId};
use crate::FunctionFacts;
use crate::values::frontier::Frontiers;
use crate::values::number;
use crate::values::placement::{GROUP, Groups, Numbers, Placement};

/// What is known of a variable that is set often, before values are made.
#[derive(Clone, Copy)]
struct Seen {
    /// The block that was last seen to set it, to set it whatever its guards, and to read it before.
    set: u32,
    full: u32,
    exposed: u32,
    /// Whether joins are needed.
    several: bool,
}

impl Seen {
    const NOTHING: Self = Self { set: NOWHERE, full: NOWHERE, exposed: NOWHERE, several: false };
}

/// Nothing was seen to set it.
const NOWHERE: u32 = u32::MAX;
/// The same, and something reads it.
const READ: u32 = u32::MAX - 2;
/// Several blocks set the variable, or one under a guard, or some read it where the one need not have set it.
const OFTEN: u32 = u32::MAX - 1;

pub(super) struct Builder<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: Graph,
    /// The block that sets each variable, or one of the three marks.
    setters: Vec<u32>,
    /// What is known of each variable, where any is set often.
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
    /// The predicates of guards, each with the block.
    guards: Vec<(u32, u32)>,
    /// The value of each variable where the walk is.
    now: Vec<ValueId>,
    /// What the variables had before, to be restored.
    log: Vec<(u32, ValueId)>,
    initial: Vec<ValueId>,
}

impl<'f, 'm> Builder<'f, 'm> {
    pub(super) fn new(facts: &'f FunctionFacts<'m>) -> Self {
        let registers: Vec<Register> = match facts.are_all_declared() {
            true => (0..facts.body.register_count).map(Register).collect(),
            false => facts.registers().collect(),
        };
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
                widths: widths(facts, count),
                kinds: Vec::with_capacity(expected),
                variables: Vec::with_capacity(expected),
                registers,
                ..Graph::default()
            },
            setters: vec![NOWHERE; count],
            seen: Vec::new(),
            exposed: Vec::new(),
            set: Vec::new(),
            killed: Vec::new(),
            carry,
            has_carry: (0..facts.body.instructions.len() as u32).any(|each| facts.carry(each).is_some()),
            guards: Vec::new(),
            now: vec![ValueId::NONE; count],
            log: Vec::new(),
            initial: vec![ValueId::NONE; count],
        }
    }

    pub(super) fn build(mut self) -> Graph {
        let facts = self.facts;
        let all = facts.uses().all().iter();
        let variables: Vec<u32> = match facts.are_all_declared() {
            true => all.map(|each| each.register.0).collect(),
            false => all.map(|each| facts.position(each.register).unwrap_or(0) as u32).collect(),
        };
        self.edges();
        self.find_often(&variables);
        if self.setters.contains(&OFTEN) {
            self.seen = vec![Seen::NOTHING; self.setters.len()];
            self.look_at_all(&variables);
            self.place();
        }
        self.walk(&variables);
        self.graph.carry.sort_unstable_by_key(|each| each.instruction);
        self.graph
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

    /// Finds the block that sets each variable, and which are set often, in one pass: a block comes after those that
    /// dominate it, so that what is read before anything was seen to set it is not set on all ways there.
    fn find_often(&mut self, variables: &[u32]) {
        let facts = self.facts;
        let uses = facts.uses();
        for &block in facts.cfg.reverse_postorder() {
            let here = block.index() as u32;
            let read = |seen: &mut u32| match *seen {
                OFTEN | READ => {}
                NOWHERE => *seen = READ,
                set if set == here || facts.cfg.dominates(NodeIndex::new(set as usize), block) => {}
                _ => *seen = OFTEN,
            };
            for instruction in facts.cfg.instructions(block) {
                let guard = facts.body.instructions[Handle::new(instruction)].guard;
                if let Some(variable) = self.of_guard(guard) {
                    self.guards.push((here, variable));
                    read(&mut self.setters[variable as usize]);
                }
                // The old value counts where the guard does not hold.
                let write = |seen: &mut u32| {
                    *seen = if (*seen == NOWHERE || *seen == here) && guard.is_none() { here } else { OFTEN };
                };
                if let Some((sets, reads)) = uses.split(instruction) {
                    for &variable in &variables[reads] {
                        read(&mut self.setters[variable as usize]);
                    }
                    for &variable in &variables[sets] {
                        write(&mut self.setters[variable as usize]);
                    }
                    continue;
                }
                let (own, variables) = (uses.of(instruction), &variables[uses.range(instruction)]);
                for (_, &variable) in own.iter().zip(variables).filter(|(each, _)| each.reads()) {
                    read(&mut self.setters[variable as usize]);
                }
                for (_, &variable) in own.iter().zip(variables).filter(|(each, _)| each.writes()) {
                    write(&mut self.setters[variable as usize]);
                }
            }
        }
        if self.has_carry {
            self.setters[self.carry as usize] = OFTEN;
        }
    }

    /// Looks at all instructions that have to do with variables that are set often.
    fn look_at_all(&mut self, variables: &[u32]) {
        let facts = self.facts;
        let is_often = |variable: &u32| self.setters[*variable as usize] == OFTEN;
        let mut asks = vec![self.has_carry; facts.cfg.block_count()];
        self.guards.iter().for_each(|(block, variable)| asks[*block as usize] |= is_often(variable));
        // Many blocks have nothing to do with them.
        let mut blocks: Vec<NodeIndex> = facts.cfg.reverse_postorder().to_vec();
        blocks.retain(|block| {
            let all = facts.uses().range_of(facts.cfg.instructions(*block));
            asks[block.index()] || variables[all].iter().any(is_often)
        });
        for block in blocks {
            for instruction in facts.cfg.instructions(block) {
                let own = &variables[facts.uses().range(instruction)];
                let is_concerned = self.has_carry
                    || facts.is_guarded(instruction)
                    || own.iter().any(|&variable| self.setters[variable as usize] == OFTEN);
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
        if self.setters[variable as usize] != OFTEN {
            return;
        }
        let seen = &mut self.seen[variable as usize];
        if seen.full != block && seen.exposed != block {
            (seen.exposed, seen.several) = (block, true);
            self.exposed.push((variable, block));
        }
    }

    #[inline]
    fn look_at_write(&mut self, block: u32, variable: u32, guarded: bool) {
        if self.setters[variable as usize] != OFTEN {
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
        let numbers = Numbers::new(self.seen.len(), &variables);
        let [set, exposed, killed] =
            [&self.set, &self.exposed, &self.killed].map(|pairs| Groups::new(&numbers, pairs));
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
        let now = &mut self.now[variable as usize];
        if self.setters[variable as usize] != OFTEN {
            // All that read it come after the one block that sets it, so that nobody asks for what was there before.
            *now = value;
            return;
        }
        if self.graph.has_opaque && self.seen[variable as usize].several {
            return;
        }
        let old = std::mem::replace(now, value);
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
fn widths(facts: &FunctionFacts<'_>, count: usize) -> Vec<u8> {
    let mut widths = vec![u64::BITS as u8; count];
    for (_, group) in facts.body.registers.iter() {
        let registers = group.first.0..group.first.0.saturating_add(group.len());
        widths[facts.positions(registers)].fill(number::width(group.ty) as u8);
    }
    widths[count - 1] = 1;
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
