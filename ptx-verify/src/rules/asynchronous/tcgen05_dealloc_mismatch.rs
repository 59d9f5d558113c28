use ptx_facts::asynchronous::{Event, Life, Place};
use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::objects::{columns, tensor_events};
use rustc_hash::{FxHashMap, FxHashSet};

declare_rule! {
    /// ## What it does
    /// Reports a `tcgen05.dealloc` of another number of columns than the `tcgen05.alloc` that its address comes from.
    ///
    /// ## Why is this bad
    /// All columns of an allocation are freed at once, so that the two numbers have to be the same; the behaviour is
    /// undefined otherwise. PTX ISA manual, section "tcgen05.dealloc".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// ld.shared.u32 %r2, [slot];
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 128;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// ld.shared.u32 %r2, [slot];
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that are not loaded from the place that the allocation wrote, and numbers that are no constants.
    name: "tcgen05-dealloc-mismatch",
    code: "P0909",
    former: ["H0370"],
    class: Hazard,
    level: Warn,
    summary: "tensor memory that is freed with another number of columns than it was allocated with",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if context.acting(AsyncGroup::Tcgen05Allocation, &[AsyncAction::Init]).is_empty() {
        return;
    }
    let events = tensor_events(context);
    let of = |life: Life| events.iter().filter(move |event| event.life == life);
    let sized: Vec<u32> = events
        .iter()
        .filter(|event| matches!(event.life, Life::Made | Life::Released))
        .map(|event| event.instruction)
        .collect();
    let columns = columns(context, &sized);
    let mut known: FxHashMap<Place, Option<Made>> = FxHashMap::default();
    for freed in of(Life::Released).filter(|event| event.place.is_known()) {
        if known.len() >= MAX_OBJECTS && !known.contains_key(&freed.place) {
            continue;
        }
        let Some(&count) = columns.get(&freed.instruction) else { continue };
        let may_be = |event: &&Event| event.place.may_be(freed.place);
        let made =
            known.entry(freed.place).or_insert_with(|| Made::of(&columns, of(Life::Made).filter(may_be)));
        if let Some(Made { first, other, counts }) = made
            && !counts.contains(&count)
        {
            let message = format!("this frees {count} columns of an allocation of {other}");
            diagnostics.push(
                RULE.at(context.instruction_span(freed.instruction), message)
                    .with_secondary(context.instruction_span(*first), "allocated here"),
            );
        }
    }
}

/// Places of which the allocations are looked at. No function has so many.
const MAX_OBJECTS: usize = 64;

/// The allocations that may be at a place.
struct Made {
    first: u32,
    /// How many columns the first has.
    other: i64,
    /// How many columns any of them has.
    counts: FxHashSet<i64>,
}

impl Made {
    /// None where there are none, or where some allocates a number that is not known.
    fn of<'e>(columns: &FxHashMap<u32, i64>, mut events: impl Iterator<Item = &'e Event>) -> Option<Self> {
        let first = events.next()?.instruction;
        let other = *columns.get(&first)?;
        let mut counts = FxHashSet::from_iter([other]);
        for event in events {
            counts.insert(*columns.get(&event.instruction)?);
        }
        Some(Self { first, other, counts })
    }
}
