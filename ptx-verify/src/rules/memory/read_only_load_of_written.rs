use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::{address_root, is_weak, may_be_global, reachable};
use ptx_facts::memory::Access;
use ptx_facts::reach::{Ends, Reach};
use ptx_facts::values::ValueId;
use ptx_ir::ir::Handle;
use ptx_ir::isa::Event;
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports `ld.global.nc` of what the same thread has written before, behind the same register, and of what the threads of
    /// the block have written before they met at a barrier, by the same parameter.
    ///
    /// ## Why is this bad
    /// With `.nc`, the load may take what lies in the cache for data that nobody writes while the kernel runs. It may give
    /// what was there before the store. PTX ISA manual, section "ld.global.nc".
    ///
    /// ## Example
    /// ```ptx
    /// st.global.u32 [%rd1], %r1;
    /// ld.global.nc.u32 %r2, [%rd1];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// st.global.u32 [%rd1], %r1;
    /// ld.global.u32 %r2, [%rd1];
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that are computed in other instructions, and stores under guards or on some paths only, where no barrier is
    /// between the two; what other blocks write.
    name: "read-only-load-of-written",
    code: "P0707",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "`ld.global.nc` of what the thread has written",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if !context.module.features().has(Features::READ_ONLY_LOADS) {
        return;
    }
    let is_read_only = |access: &&Access| {
        facts
            .instance(access.instruction)
            .is_some_and(|instance| access.reads && instance.is_read_only_load())
    };
    // The first store behind each register; the others are behind it or on other paths.
    let mut stores: FxHashMap<ValueId, Vec<&Access>> = FxHashMap::default();
    for store in context.accesses().iter().filter(|access| access.writes) {
        if let Some(base) = store.base.filter(|_| !facts.is_guarded(store.instruction)) {
            stores.entry(base).or_default().push(store);
        }
    }
    for load in context.accesses().iter().filter(is_read_only) {
        let behind = load.base.and_then(|base| stores.get(&base)).map_or(&[][..], Vec::as_slice);
        let before = behind
            .iter()
            .take(MAX_STORES)
            .find(|store| overlap(store, load) && comes_before(facts, store.instruction, load.instruction));
        let before = match before {
            Some(before) => Some(before.span),
            None => written_before_meeting(context, facts, load.instruction),
        };
        let Some(before) = before.filter(|_| context.can_come(load.instruction)) else { continue };
        let finding =
            RULE.at(load.span, "this takes what lies here for read-only, but it was written before");
        diagnostics.push(finding.with_secondary(before, "written here").with_help("load it without `.nc`"));
    }
}

/// A store by the same parameter as a load, and a barrier of the block between the two.
fn written_before_meeting(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, load: u32) -> Option<Span> {
    let root = address_root(facts, load)?;
    let meeting = reachable(facts).find(|&each| {
        let is_meeting =
            facts.instance(each).is_some_and(|instance| instance.effects.event == Some(Event::BarrierSync));
        is_meeting && comes_before(facts, each, load)
    })?;
    let reach = Reach::to(facts, Ends::Instructions(&[meeting]), &[]);
    let store = reachable(facts).find(|&each| {
        each < meeting
            && is_weak(facts, each, true)
            && may_be_global(facts, each)
            && address_root(facts, each) == Some(root)
            && reach.at(each).is_some()
    })?;
    Some(context.instruction_span(store))
}

/// Stores behind one register that are compared with a load.
const MAX_STORES: usize = 32;

fn overlap(one: &Access, other: &Access) -> bool {
    let end = |access: &Access| access.distance.saturating_add(i64::from(access.bytes));
    one.distance < end(other) && other.distance < end(one)
}

/// Whether every path to an instruction leads past another one.
fn comes_before(facts: &FunctionFacts<'_>, first: u32, then: u32) -> bool {
    let (one, other) = (facts.cfg.block_of(Handle::new(first)), facts.cfg.block_of(Handle::new(then)));
    if one == other { first < then } else { facts.cfg.dominates(one, other) }
}
