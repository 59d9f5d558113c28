//! Operations that are closed into groups, and the registers that they use while they run.

use super::InFlight;
use crate::facts::FunctionFacts;
use crate::facts::reach::{Bounds, Budget, search};
use crate::facts::registers::Access;
use crate::facts::registers::Use;
use petgraph::Direction;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Role;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Looked at behind each start; what lies farther off is not found.
pub(super) const BOUNDS: Bounds = Bounds { blocks: 64, instructions: 4000 };

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

    pub(super) fn wait(&self, instruction: u32) -> Option<u32> {
        let index = self.waits.binary_search_by_key(&instruction, |(wait, _)| *wait).ok()?;
        Some(self.waits[index].1)
    }
}

/// The first access of a result of each start of a row while the operation may run, or write of a register that it reads
/// on its own: of a vector, as single values are descriptors and flags, which are read at once. Other operations of the
/// row may use the registers.
#[must_use]
pub fn touched_in_flight(facts: &FunctionFacts<'_>, row: &Row) -> Vec<InFlight> {
    let budget = Budget::of(facts);
    row.starts.iter().filter_map(|&start| first_touch(facts, start, row, &budget)).collect()
}

/// Groups are counted so far.
pub(super) const MAX_GROUPS: u32 = 8;

fn first_touch(facts: &FunctionFacts<'_>, start: u32, row: &Row, budget: &Budget) -> Option<InFlight> {
    let results = results(facts, start);
    if results.is_empty() {
        return None;
    }
    let operands = facts.body.operands(Handle::new(start));
    let is_fragment = |each: &&Use| {
        let operand = operands.get(each.operand());
        each.access() == Access::Read
            && matches!(operand, Some(Operand::Vector(_) | Operand::VectorRegister { .. }))
    };
    let fragments: FxHashSet<Register> =
        facts.uses().of(start).iter().filter(is_fragment).map(|each| each.register).collect();
    // How many groups were closed since the start, its own among them.
    search(facts, Direction::Outgoing, (start, 0), (BOUNDS, budget), |instruction, groups| {
        // The operations of a row wait for each other where they share registers.
        if instruction == start || row.calls.binary_search(&instruction).is_ok() {
            return ControlFlow::Break(None);
        }
        if row.wait(instruction).is_some_and(|left| *groups > left || *groups == MAX_GROUPS) {
            return ControlFlow::Break(None);
        }
        if row.commits.binary_search(&instruction).is_ok() {
            *groups = (*groups + 1).min(MAX_GROUPS);
        }
        if row.starts.binary_search(&instruction).is_ok() {
            return ControlFlow::Continue(());
        }
        let mut uses = facts.uses().of(instruction).iter();
        let clashes = |each: &&Use| {
            results.contains(&each.register) || each.access().writes() && fragments.contains(&each.register)
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
    starts.iter().find_map(|&start| {
        let operands = facts.body.operands(Handle::new(start));
        let is_vector = |operand: usize| {
            matches!(operands.get(operand), Some(Operand::Vector(_) | Operand::VectorRegister { .. }))
        };
        let uses = facts.uses().of(start).iter();
        let registers: FxHashSet<Register> =
            uses.filter(|each| is_vector(each.operand())).map(|each| each.register).collect();
        search(facts, Direction::Incoming, (start, ()), (BOUNDS, &budget), |instruction, ()| {
            if fences.binary_search(&instruction).is_ok() {
                return ControlFlow::Break(None);
            }
            if starts.binary_search(&instruction).is_ok() {
                return ControlFlow::Continue(());
            }
            let mut uses = facts.uses().of(instruction).iter();
            match uses.find(|each| each.access().writes() && registers.contains(&each.register)) {
                Some(written) => {
                    let register = written.register;
                    ControlFlow::Break(Some(Unfenced { start, write: instruction, register }))
                }
                None => ControlFlow::Continue(()),
            }
        })
    })
}
