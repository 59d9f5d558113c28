//! Operations that run on their own: what starts them, what waits for them, and ways that miss the wait.
//!
//! PTX ISA manual, sections "Asynchronous Operations", "cp.async", "wgmma.mma_async" and "tcgen05". A call may
//! wait for what its caller started, so it counts as a wait.

use super::facts::FunctionFacts;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Control, Role};
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

/// The first access of a result of each of `starts` before one of `stops`. What `is_same` says belongs to the
/// same row of operations may use the registers.
#[must_use]
pub fn touched_in_flight(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    stops: &[u32],
    is_same: impl Fn(u32) -> bool,
) -> Vec<InFlight> {
    starts.iter().filter_map(|&start| first_touch(facts, start, stops, &is_same)).collect()
}

fn first_touch(
    facts: &FunctionFacts<'_>,
    start: u32,
    stops: &[u32],
    is_same: &impl Fn(u32) -> bool,
) -> Option<InFlight> {
    let results = results(facts, start);
    if results.is_empty() {
        return None;
    }
    let block = facts.cfg.block_of(Handle::new(start));
    let mut pending = vec![(block, start + 1)];
    let mut seen = FxHashSet::default();
    let mut budget = MOST_INSTRUCTIONS;
    while let Some((block, from)) = pending.pop() {
        let mut stopped = false;
        for instruction in from..facts.cfg.instructions(block).end {
            budget = budget.checked_sub(1)?;
            if stops.binary_search(&instruction).is_ok() || facts.is_call(instruction) || instruction == start
            {
                stopped = true;
                break;
            }
            if is_same(instruction) {
                continue;
            }
            let mut uses = facts.uses().of(instruction).iter();
            if let Some(touched) = uses.find(|each| results.contains(&each.register)) {
                return Some(InFlight { start, instruction, register: touched.register });
            }
        }
        if !stopped {
            for (next, _) in facts.cfg.successors(block) {
                if seen.len() < MOST_BLOCKS && seen.insert(next) {
                    pending.push((next, facts.cfg.instructions(next).start));
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
