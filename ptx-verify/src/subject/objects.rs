//! What happens to objects that instructions make and release, for the rules about their lives.

use ptx_facts::asynchronous::{Event, Life, Place};
use ptx_facts::values::pointer::{Object, Pointer};
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Purpose};
use ptx_ir::space::StateSpace;

use crate::subject::function::FlowContext;
use rustc_hash::FxHashMap;

/// What happens to the `mbarrier` objects of a function. Those of other blocks of the cluster are left out.
pub(crate) fn barrier_events(context: &FlowContext<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    for action in context.actions() {
        let (life, purpose) = match (action.group, action.action) {
            (AsyncGroup::Mbarrier, AsyncAction::Init) => (Life::Made, None),
            (AsyncGroup::Mbarrier, AsyncAction::Release) => (Life::Released, None),
            (AsyncGroup::Mbarrier, AsyncAction::Arrive | AsyncAction::Test)
            | (AsyncGroup::CpAsync, AsyncAction::Arrive)
            | (AsyncGroup::Tcgen05, AsyncAction::Commit) => (Life::Used, None),
            // Besides the object there is what is copied.
            (AsyncGroup::Mbarrier, AsyncAction::Start) => (Life::Used, Some(Purpose::Barrier)),
            _ => continue,
        };
        let Some(place) = place_at(context, action.instruction, purpose) else { continue };
        // An unknown object that is used tells nothing.
        if life != Life::Used || place.variable.is_some() {
            events.push(Event { instruction: action.instruction, life, place });
        }
    }
    events
}

/// The place that an instruction names with an address operand: the one for a purpose, or the first. None where it is in
/// another block of the cluster.
fn place_at(context: &FlowContext<'_>, instruction: u32, purpose: Option<Purpose>) -> Option<Place> {
    let mut named =
        context.accesses_of(instruction).filter(|access| purpose.is_none() || access.purpose == purpose);
    let Some(access) = named.next() else { return Some(Place::UNKNOWN) };
    match access.pointer() {
        Some(Pointer { object: Object::Variable(variable), space: StateSpace::Shared, .. }) => {
            Some(Place { variable: Some(variable), offset: access.offset().map(|offset| offset as u64) })
        }
        Some(Pointer { object: Object::Mapped(_), .. }) => None,
        Some(_) | None => Some(Place::UNKNOWN),
    }
}

/// What happens to the tensor memory of a function. An allocation is known by the place in shared memory that
/// `tcgen05.alloc` writes its address to.
pub(crate) fn tensor_events(context: &FlowContext<'_>) -> Vec<Event> {
    let (mut events, mut named) = (Vec::new(), Vec::new());
    for action in context.actions() {
        let instruction = action.instruction;
        match (action.group, action.action) {
            (AsyncGroup::Tcgen05Allocation, AsyncAction::Init) => {
                let place = place_at(context, instruction, None);
                events.extend(place.map(|place| Event { instruction, life: Life::Made, place }));
            }
            (AsyncGroup::Tcgen05Allocation, AsyncAction::Release) => {
                named.push((instruction, Life::Released));
            }
            (
                AsyncGroup::Tcgen05 | AsyncGroup::Tcgen05Load | AsyncGroup::Tcgen05Store,
                AsyncAction::Start,
            ) => named.push((instruction, Life::Used)),
            _ => {}
        }
    }
    let instructions: Vec<u32> = named.iter().map(|(instruction, _)| *instruction).collect();
    let places = allocations_of(context, &instructions);
    let named = named.into_iter().zip(places);
    events.extend(named.map(|((instruction, life), place)| Event { instruction, life, place }));
    events
}

/// The allocations whose tensor memory instructions name first: those of the loads that the addresses come from.
fn allocations_of(context: &FlowContext<'_>, instructions: &[u32]) -> Vec<Place> {
    let is_register =
        |operand: &Operand| matches!(operand, Operand::Register { .. } | Operand::RegisterAddress { .. });
    // What names no register is asked for in vain.
    let first = |&instruction: &u32| {
        let operands = context.body.operands(Handle::new(instruction));
        (instruction, operands.iter().position(is_register).unwrap_or(operands.len()))
    };
    let named: Vec<(u32, usize)> = instructions.iter().map(first).collect();
    let loads = context.ask_slice(&named, |engine, instruction, index| {
        let fact =
            engine.address(instruction, index).or_else(|| engine.operand(instruction, index, WIDTH))?;
        engine.computed_by(engine.sum(fact))
    });
    let place = |load: Option<u32>| place_at(context, load?, None);
    loads.into_iter().map(|load| place(load).unwrap_or(Place::UNKNOWN)).collect()
}

/// The width of addresses in tensor memory, and of numbers of columns.
const WIDTH: u32 = 32;

/// The numbers of columns that allocations and their releases say, where they are constants.
pub(crate) fn columns(context: &FlowContext<'_>, instructions: &[u32]) -> FxHashMap<u32, i64> {
    let mut named: Vec<(u32, usize)> = instructions.iter().map(|&instruction| (instruction, 1)).collect();
    named.dedup();
    let numbers = context.numbers(&named, WIDTH);
    let columns = named.into_iter().zip(numbers);
    columns.filter_map(|((at, _), number)| Some((at, number?.value()? as i64))).collect()
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
    let found: Vec<u32> = facts.reaching_out().filter(waits).collect();
    context.with_calls(&found)
}
