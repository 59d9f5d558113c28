//! Operations that run on their own: what starts them, what waits for them, and paths that miss the wait.
//!
//! PTX ISA manual, sections "Asynchronous Operations", "cp.async", "wgmma.mma_async" and "tcgen05". A function
//! that is called may wait for what its caller started: calls are among the stops that these are given.

mod addresses;
mod as_needed;
mod copies;
mod coverage;
mod elements;
mod flags;
mod grid;
mod groups;
mod local;
mod loops;
mod maps;
pub mod model;
mod multicast;
mod neighbours;
mod objects;
mod parting;
mod publish;
mod round;
mod tables;
mod tensor;
mod workspace;

use super::FunctionFacts;
use super::reach::{Ends, Reach};
use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Event as IsaEvent, Instance, Mode, Purpose};

pub use super::reach::Budget;
pub use addresses::{address_steps, narrow_in_other_blocks};
pub use as_needed::is_fenced_as_needed;
pub use copies::{accessed_in_flight, read_before_wait, read_in_loop_without_wait, reads_of_shared};
pub use coverage::{effective_waits, never_covered};
pub use flags::{
    Counted, Lack, address_moves_on, address_root, chooses_who_waits, copied_root, counted, counts_blocks,
    counts_of_done, distance_from_root, has_same_distance, is_kept_by_readers, may_be_global, moved_from,
    names_global, only_acquires, orders_blocks, part_of_table, polled_root, stores_in_bulk,
    table_of_pointers, takes_a_number,
};
pub use grid::read_of_other_blocks;
pub use groups::{GroupMark, Row, Unfenced, touched_in_flight, unfenced};
pub use local::OwnMemory;
pub use loops::{Poll, Readers, is_flag, is_weak, locks, orders, polls, polls_taken_out};
pub use maps::{Missing, StaleMap, stale_map};
pub use multicast::{counts_in_multicast, tells_devices_narrowly};
pub use neighbours::{next_step, step_before};
pub use objects::{Event, Life, Lives, Place};
pub use parting::{after_rounds, joins_after, parts_before, rounds_around};
pub use publish::{
    Accessed, FewThreads, handed_on_without_meeting, hands_on, meetings, told_by_few, used_and_never_met,
    used_without_meeting,
};
pub use round::Round;
pub use tensor::{EarlyUse, Reason, early_uses};
pub use workspace::{Unseen, fences_global, unseen_stores};

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
    let mut found: Vec<Action> = facts
        .reaching_out()
        .filter_map(|instruction| {
            let (group, action) = facts.instance(instruction)?.effects.asynchronous?;
            Some(Action { instruction, group, action })
        })
        .collect();
    found.sort_by_key(|action| action.instruction);
    found
}

/// Whether an instruction takes part in an asynchronous protocol, or may set a flag or look at one.
#[must_use]
pub fn takes_part(instance: &Instance) -> bool {
    let effects = &instance.effects;
    let is_ordered = [Mode::Relaxed, Mode::Acquire, Mode::Release].iter().any(|&mode| instance.is(mode));
    let accesses = effects.reads_memory || effects.writes_memory;
    effects.asynchronous.is_some() || effects.event.is_some() || is_ordered && accesses
}

/// Whether threads wait at a barrier for as many as an operand says.
#[must_use]
pub fn has_counted_barrier(facts: &FunctionFacts<'_>) -> bool {
    (0..facts.body.instructions.len() as u32).any(|instruction| {
        let instance = facts.instance(instruction);
        instance.is_some_and(|instance| {
            instance.effects.event == Some(IsaEvent::BarrierSync)
                && instance.operand_for(Purpose::Threads).is_some()
                && instance.operands.len() == facts.body.operands(Handle::new(instruction)).len()
        })
    })
}

/// The first of `starts` from which a path leads out of the function without one of `stops`, and where it is left.
#[must_use]
pub fn left_open(facts: &FunctionFacts<'_>, starts: &[u32], stops: &[u32]) -> Option<(u32, u32)> {
    let out = Reach::to(facts, Ends::Function, stops);
    starts.iter().find_map(|&start| Some((start, out.at(start)?)))
}

/// The first of `wanted` that a path from the entry comes to without passing one of `stops`.
#[must_use]
pub fn before_any(facts: &FunctionFacts<'_>, wanted: &[u32], stops: &[u32]) -> Option<u32> {
    let in_front = Reach::from(facts, Ends::Function, stops);
    wanted.iter().copied().find(|&each| in_front.at(each).is_some())
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
