//! Operations that run on their own: what starts them, what waits for them, and ways that miss the wait.
//!
//! PTX ISA manual, sections "Asynchronous Operations", "cp.async", "wgmma.mma_async" and "tcgen05". A call may
//! wait for what its caller started, so it counts as a wait.

use super::facts::FunctionFacts;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Control, Role};
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashSet;

/// An instruction that acts on asynchronous operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The instruction.
    pub instruction: u32,
    /// On which operations.
    pub group: AsyncGroup,
    /// What it does.
    pub action: AsyncAction,
}

/// The reachable instructions of a function that act on asynchronous operations, in order of the text.
#[must_use]
pub fn actions(facts: &FunctionFacts<'_>) -> Vec<Action> {
    let acts = facts.module.spellings.iter().any(|(_, spelling)| {
        spelling.resolved.instances.iter().any(|instance| instance.effects.asynchronous.is_some())
    });
    if !acts {
        return Vec::new();
    }
    let mut found: Vec<Action> = reachable(facts)
        .filter_map(|instruction| {
            let (group, action) = facts.instance(instruction)?.effects.asynchronous?;
            Some(Action { instruction, group, action })
        })
        .collect();
    found.sort_by_key(|action| action.instruction);
    found
}

/// The instructions that control can come to.
pub fn reachable<'f>(facts: &'f FunctionFacts<'_>) -> impl Iterator<Item = u32> + 'f {
    facts.cfg.reverse_postorder().iter().flat_map(|&block| facts.cfg.instructions(block))
}

/// Where a way out of the function can be taken without passing a stop.
pub struct Escapes<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    is_stop: Vec<bool>,
    /// For each block the instruction that leaves the function at the end of a way from its start.
    from: Vec<Option<u32>>,
}

impl<'f, 'm> Escapes<'f, 'm> {
    /// Finds the ways that do not pass one of `stops`.
    #[must_use]
    pub fn new(facts: &'f FunctionFacts<'m>, stops: impl IntoIterator<Item = u32>) -> Self {
        let mut is_stop = vec![false; facts.body.instructions.len()];
        for stop in stops {
            is_stop[stop as usize] = true;
        }
        let mut escapes = Self { facts, is_stop, from: vec![None; facts.cfg.block_count()] };
        let mut pending = Vec::new();
        for &block in facts.cfg.reverse_postorder() {
            let range = facts.cfg.instructions(block);
            if escapes.passes(range.clone()) {
                escapes.from[block.index()] = escapes.exit_of(block);
                pending.extend(escapes.from[block.index()].map(|_| block));
            }
        }
        while let Some(block) = pending.pop() {
            let exit = escapes.from[block.index()];
            for (before, _) in facts.cfg.predecessors(block) {
                let open = facts.cfg.is_reachable(before) && escapes.from[before.index()].is_none();
                if open && escapes.passes(facts.cfg.instructions(before)) {
                    escapes.from[before.index()] = exit;
                    pending.push(before);
                }
            }
        }
        escapes
    }

    fn passes(&self, mut range: std::ops::Range<u32>) -> bool {
        !range.any(|instruction| self.is_stop[instruction as usize] || self.facts.is_call(instruction))
    }

    /// The last instruction of a block where it leaves the function.
    fn exit_of(&self, block: NodeIndex) -> Option<u32> {
        let last = self.facts.cfg.instructions(block).last()?;
        let leaves = match self.facts.instance(last)?.effects.control {
            Control::Return | Control::Exit => true,
            Control::Next | Control::Call => self.facts.cfg.successors(block).next().is_none(),
            Control::Branch | Control::IndexedBranch | Control::Trap => false,
        };
        leaves.then_some(last)
    }

    /// The instruction at which a way that begins behind `instruction` leaves the function.
    #[must_use]
    pub fn behind(&self, instruction: u32) -> Option<u32> {
        let block = self.facts.cfg.block_of(Handle::new(instruction));
        let end = self.facts.cfg.instructions(block).end;
        if !self.passes(instruction + 1..end) {
            return None;
        }
        self.exit_of(block)
            .or_else(|| self.facts.cfg.successors(block).find_map(|(next, _)| self.from[next.index()]))
    }
}

/// What control can come to behind an instruction.
pub struct Behind<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    start: u32,
    own: NodeIndex,
    /// For each block whether its first instruction can come behind.
    blocks: Vec<bool>,
}

impl<'f, 'm> Behind<'f, 'm> {
    /// Follows all ways from behind `start`.
    #[must_use]
    pub fn new(facts: &'f FunctionFacts<'m>, start: u32) -> Self {
        let own = facts.cfg.block_of(Handle::new(start));
        let mut blocks = vec![false; facts.cfg.block_count()];
        let mut pending = vec![own];
        while let Some(block) = pending.pop() {
            let next = facts.cfg.successors(block).map(|(next, _)| next);
            pending.extend(next.filter(|next| !std::mem::replace(&mut blocks[next.index()], true)));
        }
        Self { facts, start, own, blocks }
    }

    /// Whether control can come to an instruction.
    #[must_use]
    pub fn contains(&self, instruction: u32) -> bool {
        let block = self.facts.cfg.block_of(Handle::new(instruction));
        self.blocks[block.index()] || block == self.own && instruction > self.start
    }

    /// Whether control can come to a call.
    #[must_use]
    pub fn calls(&self) -> bool {
        reachable(self.facts).any(|instruction| self.facts.is_call(instruction) && self.contains(instruction))
    }
}

/// The instructions of `wanted` that a way from the entry comes to without passing one of `stops`.
#[must_use]
pub fn before_any(facts: &FunctionFacts<'_>, wanted: &[u32], stops: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut seen = vec![false; facts.cfg.block_count()];
    let mut pending = vec![NodeIndex::new(0)];
    while let Some(block) = pending.pop() {
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let range = facts.cfg.instructions(block);
        let stop = range
            .clone()
            .find(|instruction| stops.binary_search(instruction).is_ok() || facts.is_call(*instruction));
        let end = stop.unwrap_or(range.end);
        found.extend(wanted.iter().copied().filter(|each| (range.start..end).contains(each)));
        if stop.is_none() {
            pending.extend(facts.cfg.successors(block).map(|(next, _)| next));
        }
    }
    found.sort_unstable();
    found
}

/// An access of a register that an operation in flight will still write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// What started the operation.
    pub start: u32,
    /// The access.
    pub instruction: u32,
    /// The register.
    pub register: Register,
}

/// Blocks looked at behind each start; what lies farther off is not found.
const MOST_BLOCKS: usize = 64;
/// Instructions looked at behind each start.
const MOST_INSTRUCTIONS: usize = 4000;

/// What becomes of the operations of a row: where they start, where groups of them are closed, and where how many
/// groups may still run on.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Starts of operations, ascending.
    pub starts: Vec<u32>,
    /// Commits, ascending.
    pub commits: Vec<u32>,
    /// Waits, ascending, with the number of groups that may be pending behind them.
    pub waits: Vec<(u32, u32)>,
}

impl Row {
    /// How many groups a wait leaves: its operand.
    #[must_use]
    pub fn left(facts: &FunctionFacts<'_>, wait: u32) -> u32 {
        match facts.body.operands(Handle::new(wait)) {
            [Operand::Integer { bits, .. }, ..] => u32::try_from(*bits).unwrap_or(u32::MAX),
            _ => 0,
        }
    }

    fn wait(&self, instruction: u32) -> Option<u32> {
        let index = self.waits.binary_search_by_key(&instruction, |(wait, _)| *wait).ok()?;
        Some(self.waits[index].1)
    }
}

/// The first access of a result of each start of a row while the operation may run. Other operations of the row
/// may use the registers.
#[must_use]
pub fn touched_in_flight(facts: &FunctionFacts<'_>, row: &Row) -> Vec<InFlight> {
    row.starts.iter().filter_map(|&start| first_touch(facts, start, row)).collect()
}

/// Groups are counted so far.
const MOST_GROUPS: u32 = 8;

fn first_touch(facts: &FunctionFacts<'_>, start: u32, row: &Row) -> Option<InFlight> {
    let results = results(facts, start);
    if results.is_empty() {
        return None;
    }
    let block = facts.cfg.block_of(Handle::new(start));
    // How many groups were closed since the start, its own among them.
    let mut pending = vec![(block, start + 1, 0)];
    let mut seen = FxHashSet::default();
    let mut budget = MOST_INSTRUCTIONS;
    while let Some((block, from, mut groups)) = pending.pop() {
        let mut stopped = false;
        for instruction in from..facts.cfg.instructions(block).end {
            budget = budget.checked_sub(1)?;
            // The operations of a row wait for each other where they share registers.
            if facts.is_call(instruction) || instruction == start {
                stopped = true;
                break;
            }
            if row.wait(instruction).is_some_and(|left| groups > left || groups == MOST_GROUPS) {
                stopped = true;
                break;
            }
            if row.commits.binary_search(&instruction).is_ok() {
                groups = (groups + 1).min(MOST_GROUPS);
            }
            if row.starts.binary_search(&instruction).is_ok() {
                continue;
            }
            let mut uses = facts.uses().of(instruction).iter();
            if let Some(touched) = uses.find(|each| results.contains(&each.register)) {
                return Some(InFlight { start, instruction, register: touched.register });
            }
        }
        if !stopped {
            for (next, _) in facts.cfg.successors(block) {
                if seen.len() < MOST_BLOCKS && seen.insert((next, groups)) {
                    pending.push((next, facts.cfg.instructions(next).start, groups));
                }
            }
        }
    }
    None
}

/// The registers that an operation writes when it completes.
fn results(facts: &FunctionFacts<'_>, start: u32) -> FxHashSet<Register> {
    let mut found = FxHashSet::default();
    let Some(instance) = facts.instance(start) else { return found };
    for each in facts.uses().of(start) {
        let result = instance.operands.get(each.operand()).is_some_and(|spec| spec.role != Role::Source);
        if result && each.access().writes() {
            found.insert(each.register);
        }
    }
    found
}

/// A write of a register that an operation uses, without a fence between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfenced {
    /// The operation.
    pub start: u32,
    /// The write.
    pub write: u32,
    /// The register.
    pub register: Register,
}

/// The first of `starts` with a register operand that something other than `starts` writes, and from there a way
/// leads to it without one of `fences` or a call. Only vectors of registers count: scalars are descriptors and
/// flags, which are read at once.
#[must_use]
pub fn unfenced(facts: &FunctionFacts<'_>, starts: &[u32], fences: &[u32]) -> Option<Unfenced> {
    starts.iter().find_map(|&start| {
        let operands = facts.body.operands(Handle::new(start));
        let is_vector = |operand: usize| {
            matches!(operands.get(operand), Some(Operand::Vector(_) | Operand::VectorRegister { .. }))
        };
        let uses = facts.uses().of(start).iter();
        let registers: FxHashSet<Register> =
            uses.filter(|each| is_vector(each.operand())).map(|each| each.register).collect();
        let write = last_write(facts, start, &registers, (starts, fences))?;
        Some(Unfenced { start, write: write.0, register: write.1 })
    })
}

/// Looks backwards from an instruction.
fn last_write(
    facts: &FunctionFacts<'_>,
    start: u32,
    registers: &FxHashSet<Register>,
    (starts, fences): (&[u32], &[u32]),
) -> Option<(u32, Register)> {
    let mut pending = vec![(facts.cfg.block_of(Handle::new(start)), start)];
    let mut seen = FxHashSet::default();
    let mut budget = MOST_INSTRUCTIONS;
    while let Some((block, before)) = pending.pop() {
        let mut stopped = false;
        for instruction in (facts.cfg.instructions(block).start..before).rev() {
            budget = budget.checked_sub(1)?;
            if fences.binary_search(&instruction).is_ok() || facts.is_call(instruction) {
                stopped = true;
                break;
            }
            if starts.binary_search(&instruction).is_ok() {
                continue;
            }
            let mut uses = facts.uses().of(instruction).iter();
            let written = uses.find(|each| each.access().writes() && registers.contains(&each.register));
            if let Some(written) = written {
                return Some((instruction, written.register));
            }
        }
        if !stopped {
            for (before, _) in facts.cfg.predecessors(block) {
                if facts.cfg.is_reachable(before) && seen.len() < MOST_BLOCKS && seen.insert(before) {
                    pending.push((before, facts.cfg.instructions(before).end));
                }
            }
        }
    }
    None
}

/// The first read of shared memory that a way from the entry comes to after one of `starts` and without any of
/// `waits`: both instructions.
#[must_use]
pub fn read_before_wait(facts: &FunctionFacts<'_>, starts: &[u32], waits: &[u32]) -> Option<(u32, u32)> {
    // Each block is looked at once without and once with a copy in flight.
    let mut seen = vec![[false; 2]; facts.cfg.block_count()];
    let mut pending = vec![(NodeIndex::new(0), None)];
    let mut found: Option<(u32, u32)> = None;
    while let Some((block, mut copy)) = pending.pop() {
        let visited: &mut bool = &mut seen[block.index()][usize::from(copy.is_some())];
        if std::mem::replace(visited, true) {
            continue;
        }
        let mut stopped = false;
        for instruction in facts.cfg.instructions(block) {
            if waits.binary_search(&instruction).is_ok() || facts.is_call(instruction) {
                stopped = true;
                break;
            }
            match copy {
                None if starts.binary_search(&instruction).is_ok() => copy = Some(instruction),
                Some(start) if reads_shared(facts, instruction) => {
                    found = found.into_iter().chain([(instruction, start)]).min();
                    stopped = true;
                    break;
                }
                None | Some(_) => {}
            }
        }
        if !stopped {
            pending.extend(facts.cfg.successors(block).map(|(next, _)| (next, copy)));
        }
    }
    found
}

/// Whether an instruction loads from shared memory, and does nothing else there.
fn reads_shared(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some(instance) = facts.instance(instruction) else { return false };
    let effects = &instance.effects;
    let loads = effects.reads_memory && !effects.writes_memory && effects.asynchronous.is_none();
    let mut memory = instance.operands.iter().filter_map(|operand| operand.access?.space);
    loads && memory.any(|space| space.base() == StateSpace::Shared)
}

/// A read of shared memory in a loop that copies and never waits: the read and the copy. What the loop copies in
/// one round it reads in another.
#[must_use]
pub fn read_in_loop_without_wait(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    waits: &[u32],
) -> Option<(u32, u32)> {
    let stops = |instruction: &u32| waits.binary_search(instruction).is_ok() || facts.is_call(*instruction);
    let blocks = facts.cfg.reverse_postorder();
    let is_open: Vec<bool> = (0..facts.cfg.block_count())
        .map(|block| !facts.cfg.instructions(NodeIndex::new(block)).any(|instruction| stops(&instruction)))
        .collect();
    starts.iter().find_map(|&start| {
        let block = facts.cfg.block_of(Handle::new(start));
        if !is_open[block.index()] {
            return None;
        }
        let reach = |next: &dyn Fn(NodeIndex) -> Vec<NodeIndex>| {
            let mut seen = FxHashSet::default();
            let mut pending = next(block);
            while let Some(block) = pending.pop() {
                if is_open[block.index()] && seen.insert(block) {
                    pending.extend(next(block));
                }
            }
            seen
        };
        let behind = reach(&|block| facts.cfg.successors(block).map(|(next, _)| next).collect());
        if !behind.contains(&block) {
            return None;
        }
        let before = reach(&|block| facts.cfg.predecessors(block).map(|(next, _)| next).collect());
        let round = blocks.iter().filter(|block| behind.contains(block) && before.contains(block));
        let mut read = round.flat_map(|&block| facts.cfg.instructions(block));
        read.find(|&instruction| reads_shared(facts, instruction)).map(|read| (read, start))
    })
}
