//! Operations that are closed into groups, and the registers that they use while they run.

use super::InFlight;
use crate::FunctionFacts;
use crate::reach::{Bounds, Budget, Marks, search};
use crate::registers::Access;
use crate::registers::Use;
use petgraph::Direction;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Role};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Looked at behind each start; what lies farther off is not found.
pub(super) const BOUNDS: Bounds = Bounds { blocks: 64, marks: 4000 };

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
    /// Calls that may wait, and waits for everything, ascending.
    pub calls: Vec<u32>,
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

    /// What a walk from a start looks at: what the row says, and the instructions that touch what operations of the row use.
    #[must_use]
    pub fn marks(&self, touching: impl IntoIterator<Item = u32>) -> Marks<GroupMark> {
        let is = GroupMark::default();
        let mut marks: Vec<(u32, GroupMark)> = touching
            .into_iter()
            .map(|instruction| (instruction, GroupMark { touches: true, ..is }))
            .collect();
        marks.extend(self.waits.iter().map(|&(wait, left)| (wait, GroupMark { left: Some(left), ..is })));
        marks.extend(self.commits.iter().map(|&commit| (commit, GroupMark { closes: true, ..is })));
        marks.extend(self.calls.iter().map(|&call| (call, GroupMark { waits: true, ..is })));
        Marks::new(marks, |mark, other| {
            mark.touches |= other.touches;
            mark.left = mark.left.or(other.left);
            mark.closes |= other.closes;
            mark.waits |= other.waits;
        })
    }
}

/// What an instruction is to the operations of a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupMark {
    /// It may touch what one of them uses.
    pub(super) touches: bool,
    /// It waits until no more groups than these are pending.
    left: Option<u32>,
    /// It closes a group.
    closes: bool,
    /// It may wait for all of them.
    waits: bool,
}

impl GroupMark {
    /// Goes past, and counts the groups that were closed since an operation started, its own among them; whether the
    /// operation may run on.
    pub(super) fn pass(&self, groups: &mut u32) -> bool {
        if self.waits || self.left.is_some_and(|left| *groups > left || *groups == MAX_GROUPS) {
            return false;
        }
        if self.closes {
            *groups = (*groups + 1).min(MAX_GROUPS);
        }
        true
    }
}

/// The first access of a result of each start of a row while the operation may run, or write of a register that it reads
/// on its own: of a vector, as single values are descriptors and flags, which are read at once. Other operations of the
/// row may use the registers.
#[must_use]
pub fn touched_in_flight(facts: &FunctionFacts<'_>, row: &Row) -> Vec<InFlight> {
    let budget = Budget::of(facts);
    let used: Vec<Used> = row.starts.iter().map(|&start| Used::by(facts, start)).collect();
    let all: FxHashSet<Register> =
        used.iter().flat_map(|used| used.results.union(&used.fragments)).copied().collect();
    // The operations of a row wait for each other where they share registers.
    let touching = (0..facts.body.instructions.len() as u32).filter(|instruction| {
        let mut uses = facts.uses().of(*instruction).iter();
        uses.any(|each| all.contains(&each.register)) && row.starts.binary_search(instruction).is_err()
    });
    let marks = row.marks(touching);
    let starts = row.starts.iter().zip(&used).filter(|(_, used)| !used.results.is_empty());
    starts.filter_map(|(&start, used)| first_touch(facts, start, used, &marks, &budget)).collect()
}

/// Groups are counted so far.
const MAX_GROUPS: u32 = 8;

/// The registers that an operation uses while it runs.
struct Used {
    results: FxHashSet<Register>,
    fragments: FxHashSet<Register>,
}

impl Used {
    fn by(facts: &FunctionFacts<'_>, start: u32) -> Self {
        let operands = facts.body.operands(Handle::new(start));
        let is_fragment = |each: &&Use| {
            let operand = operands.get(each.operand());
            each.access() == Access::Read
                && matches!(operand, Some(Operand::Vector(_) | Operand::VectorRegister { .. }))
        };
        let fragments = facts.uses().of(start).iter().filter(is_fragment).map(|each| each.register);
        Self { results: results(facts, start), fragments: fragments.collect() }
    }
}

fn first_touch(
    facts: &FunctionFacts<'_>,
    start: u32,
    used: &Used,
    marks: &Marks<GroupMark>,
    budget: &Budget,
) -> Option<InFlight> {
    search(facts, Direction::Outgoing, (start, 0), marks, (BOUNDS, budget), |instruction, mark, groups| {
        if !mark.pass(groups) {
            return ControlFlow::Break(None);
        }
        if !mark.touches {
            return ControlFlow::Continue(());
        }
        let mut uses = facts.uses().of(instruction).iter();
        let clashes = |each: &&Use| {
            used.results.contains(&each.register)
                || each.access().writes() && used.fragments.contains(&each.register)
        };
        match uses.find(clashes) {
            Some(touched) => {
                ControlFlow::Break(Some(InFlight { start, instruction, register: touched.register }))
            }
            None => ControlFlow::Continue(()),
        }
    })
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

/// The first of `starts` with a register operand that something other than `starts` writes, and from there a path
/// leads to it without one of `fences`. Only vectors of registers count: scalars are descriptors and
/// flags, which are read at once.
#[must_use]
pub fn unfenced(facts: &FunctionFacts<'_>, starts: &[u32], fences: &[u32]) -> Option<Unfenced> {
    let budget = Budget::of(facts);
    let used: Vec<FxHashSet<Register>> = starts.iter().map(|&start| vectors(facts, start)).collect();
    let mut writes: Vec<u32> = used
        .iter()
        .flatten()
        .collect::<FxHashSet<_>>()
        .into_iter()
        .flat_map(|register| facts.definitions(*register).iter().copied())
        .filter(|write| starts.binary_search(write).is_err())
        .collect();
    writes.sort_unstable();
    writes.dedup();
    // Compilers set accumulators before the asm statement that takes them, and after that of the fence.
    let is_moved = |write: u32| {
        let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
        computes == Some(Computation::Move) && comes_straight_from(facts, fences, write)
    };
    writes.retain(|&write| !is_moved(write));
    let marks = Row { calls: fences.to_vec(), ..Row::default() }.marks(writes);
    starts.iter().zip(&used).filter(|(_, used)| !used.is_empty()).find_map(|(&start, used)| {
        let start_and_groups = (start, 0);
        search(
            facts,
            Direction::Incoming,
            start_and_groups,
            &marks,
            (BOUNDS, &budget),
            |write, mark, groups| {
                if !mark.pass(groups) {
                    return ControlFlow::Break(None);
                }
                let mut uses = facts.uses().of(write).iter();
                match uses.find(|each| each.access().writes() && used.contains(&each.register)) {
                    Some(written) => {
                        ControlFlow::Break(Some(Unfenced { start, write, register: written.register }))
                    }
                    None => ControlFlow::Continue(()),
                }
            },
        )
    })
}

/// Blocks before one that are looked at, where no other way leads there.
const MAX_STRAIGHT: usize = 8;

/// Whether one of some instructions comes before another one on the only way there.
fn comes_straight_from(facts: &FunctionFacts<'_>, wanted: &[u32], instruction: u32) -> bool {
    let mut block = facts.cfg.block_of(Handle::new(instruction));
    let mut end = instruction;
    for _ in 0..MAX_STRAIGHT {
        let first = facts.cfg.instructions(block).start;
        if wanted.iter().any(|each| (first..end).contains(each)) {
            return true;
        }
        let mut before = facts.cfg.predecessors(block);
        let (Some((only, _)), None) = (before.next(), before.next()) else { return false };
        (block, end) = (only, facts.cfg.instructions(only).end);
    }
    false
}

/// The registers of the vectors of an operation.
fn vectors(facts: &FunctionFacts<'_>, start: u32) -> FxHashSet<Register> {
    let operands = facts.body.operands(Handle::new(start));
    let is_vector = |operand: usize| {
        matches!(operands.get(operand), Some(Operand::Vector(_) | Operand::VectorRegister { .. }))
    };
    let uses = facts.uses().of(start).iter();
    uses.filter(|each| is_vector(each.operand())).map(|each| each.register).collect()
}
