//! What those need not see who have seen a flag, whatever orders it: what is loaded as read-only, and what a copy still writes.

use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::{
    address_root, copied_root, counts_of_done, is_weak, may_be_global, polled_root, stores_in_bulk,
};
use ptx_facts::reach::{Ends, Reach};
use ptx_ir::ir::Register;
use ptx_ir::isa::Instance;
use ptx_syntax::Diagnostic;

use super::waits::Waits;
use super::{RULE, ascending};
use crate::subject::function::FlowContext;

/// Loads, and stores, of one function that are looked at.
const MAX_ACCESSES: usize = 64;

/// A load of what nobody is to write while the kernel runs, after a flag that tells of what the kernel stores there.
pub(super) fn finding(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    waits: &Waits<'_>,
) -> Option<Diagnostic> {
    let loads: Vec<u32> = ascending(facts.reaching_out().filter(|&each| {
        facts.instance(each).is_some_and(Instance::is_read_only_load) && may_be_global(facts, each)
    }));
    if loads.is_empty() {
        return None;
    }
    let asked = waits.polls.iter().map(|poll| poll.end).chain(counts_of_done(facts).iter().copied());
    let asked = ascending(asked);
    if asked.is_empty() {
        return None;
    }
    let is_store =
        |&each: &u32| is_weak(facts, each, true) && may_be_global(facts, each) || stores_in_bulk(facts, each);
    let stores: Vec<(u32, Register)> = ascending(facts.reaching_out().filter(is_store))
        .into_iter()
        .take(MAX_ACCESSES)
        .filter_map(|store| Some((store, polled_root(facts, store)?)))
        .collect();
    loads.iter().take(MAX_ACCESSES).find_map(|&load| {
        let root = polled_root(facts, load)?;
        let own: Vec<u32> = stores.iter().filter(|(_, of)| *of == root).map(|(store, _)| *store).collect();
        if own.is_empty() {
            return None;
        }
        let stored = Reach::from(facts, Ends::Instructions(&own), &[]);
        let told: Vec<u32> = asked.iter().copied().filter(|&asked| stored.at(asked).is_some()).collect();
        if told.is_empty() {
            return None;
        }
        let seen = Reach::from(facts, Ends::Instructions(&told), &[]);
        seen.at(load)?;
        let message = "this load is for what nobody writes while the kernel runs, and the kernel stores there: it need not see what the flag tells of";
        Some(
            RULE.at(context.instruction_span(load), message)
                .with_secondary(context.instruction_span(own[0]), "stored here")
                .with_secondary(context.instruction_span(told[0]), "the flag is seen here")
                .with_help("load without `.nc`: `__ldcg()` in place of `__ldg()`"),
        )
    })
}

/// Whether a flag, or a count of who is done, tells others of a copy, and these read what it has written.
pub(in crate::rules::asynchronous) fn tells_of_copy(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    flag: u32,
    copy: u32,
) -> bool {
    let waits = Waits::new(facts, context.polls(), &[]);
    (waits.flag(facts, flag).is_some() || counts_of_done(facts).contains(&flag))
        && tells_of(facts, &waits, flag, copy)
}

/// Whether those who have seen a flag, or who have counted themselves there, read what a copy has written.
pub(super) fn tells_of(facts: &FunctionFacts<'_>, waits: &Waits<'_>, flag: u32, copy: u32) -> bool {
    let Some(written) = address_root(facts, copy) else { return false };
    let mut ends = waits.at(facts, flag);
    if ends.is_empty() {
        // Who waits for the flag of another one waits for one of the same row.
        let root = address_root(facts, flag);
        let polls = waits.polls.iter().map(|poll| poll.load).filter(|&load| load != flag);
        ends.extend(polls.filter(|&load| root.is_some() && polled_root(facts, load) == root));
    }
    if ends.is_empty() {
        ends.push(flag);
    }
    let seen = Reach::from(facts, Ends::Instructions(&ascending(ends.into_iter())), &[]);
    facts.reaching_out().filter(|&each| seen.at(each).is_some()).any(|each| {
        let is_load = is_weak(facts, each, false) && may_be_global(facts, each);
        let root = if is_load { polled_root(facts, each) } else { copied_root(facts, each) };
        root == Some(written)
    })
}
