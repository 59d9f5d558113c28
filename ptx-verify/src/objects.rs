//! What happens to objects that instructions make and release, for the rules about their lives.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_ir::space::StateSpace;

use crate::dataflow::asynchronous::{Event, Life, Place, origin, reachable};
use crate::facts::values::pointer::{Object, Pointer};
use crate::subject::function::FlowContext;

/// What happens to the `mbarrier` objects of a function. Those of other blocks of the cluster are left out.
pub(crate) fn barrier_events(context: &FlowContext<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    for action in context.actions() {
        let (life, operand) = match (action.group, action.action) {
            (AsyncGroup::Mbarrier, AsyncAction::Init) => (Life::Made, None),
            (AsyncGroup::Mbarrier, AsyncAction::Release) => (Life::Released, None),
            (AsyncGroup::Mbarrier, AsyncAction::Arrive | AsyncAction::Test)
            | (AsyncGroup::CpAsync, AsyncAction::Arrive)
            | (AsyncGroup::Tcgen05, AsyncAction::Commit) => (Life::Used, None),
            // Besides the object there is what is copied.
            (AsyncGroup::Mbarrier, AsyncAction::Start) => (Life::Used, Some(["mbar", "wideBar"])),
            _ => continue,
        };
        let Some(place) = place_at(context, action.instruction, operand) else { continue };
        // An unknown object that is used tells nothing.
        if life != Life::Used || place.variable.is_some() {
            events.push(Event { instruction: action.instruction, life, place });
        }
    }
    events
}

/// The place that an instruction names with an address operand: one called so, or the first. None where it is in
/// another block of the cluster.
fn place_at(context: &FlowContext<'_>, instruction: u32, operand: Option<[&str; 2]>) -> Option<Place> {
    let mut named = context
        .accesses_of(instruction)
        .filter(|access| operand.is_none_or(|names| names.contains(&access.operand)));
    let Some(access) = named.next() else { return Some(Place::UNKNOWN) };
    match access.pointer {
        Some(Pointer { object: Object::Variable(variable), space: StateSpace::Shared, .. }) => {
            Some(Place { variable: Some(variable), offset: access.offset.map(|offset| offset as u64) })
        }
        Some(Pointer { object: Object::Mapped(_), .. }) => None,
        Some(_) | None => Some(Place::UNKNOWN),
    }
}

/// What happens to the tensor memory of a function. An allocation is known by the place in shared memory that
/// `tcgen05.alloc` writes its address to.
pub(crate) fn tensor_events(context: &FlowContext<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    for action in context.actions() {
        let instruction = action.instruction;
        let (life, place) = match (action.group, action.action) {
            (AsyncGroup::Tcgen05Allocation, AsyncAction::Init) => {
                (Life::Made, place_at(context, instruction, None))
            }
            (AsyncGroup::Tcgen05Allocation, AsyncAction::Release) => {
                (Life::Released, Some(allocation_of(context, instruction)))
            }
            (
                AsyncGroup::Tcgen05 | AsyncGroup::Tcgen05Load | AsyncGroup::Tcgen05Store,
                AsyncAction::Start,
            ) => (Life::Used, Some(allocation_of(context, instruction))),
            _ => continue,
        };
        events.extend(place.map(|place| Event { instruction, life, place }));
    }
    events
}

/// The allocation whose tensor memory an instruction names first.
fn allocation_of(context: &FlowContext<'_>, instruction: u32) -> Place {
    let Some(facts) = context.facts() else { return Place::UNKNOWN };
    let named = facts.body.operands(Handle::new(instruction)).iter().find_map(|operand| match operand {
        Operand::Register { register, .. } => Some(*register),
        Operand::RegisterAddress { base, .. } => Some(*base),
        _ => None,
    });
    let Some(register) = named else { return Place::UNKNOWN };
    let (register, _) = origin(facts, register, 0);
    match *facts.definitions(register) {
        [load] if !facts.is_guarded(load) => place_at(context, load, None).unwrap_or(Place::UNKNOWN),
        _ => Place::UNKNOWN,
    }
}

/// The number of columns that an allocation or its release says, where it is a constant.
pub(crate) fn columns(context: &FlowContext<'_>, instruction: u32) -> Option<i64> {
    const WIDTH: u32 = 32;
    context.number(instruction, 1, WIDTH)?.value().map(|columns| columns as i64)
}

/// The instructions that may wait for another thread, calls among them, ascending.
pub(crate) fn waits_for_threads(context: &FlowContext<'_>) -> Vec<u32> {
    let Some(facts) = context.facts() else { return Vec::new() };
    let waits = |&instruction: &u32| {
        facts.instance(instruction).is_none_or(|instance| {
            let effects = &instance.effects;
            let tests = matches!(effects.asynchronous, Some((_, AsyncAction::Test)));
            let looks = effects.volatile && effects.reads_memory;
            effects.barrier || effects.atomic || looks || tests
        })
    };
    let found: Vec<u32> = reachable(facts).filter(waits).collect();
    context.with_calls(&found)
}
