//! Whether those who have seen a flag read what bulk copies have stored before.

use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::{
    address_root, copied_root, counts_of_done, is_weak, may_be_global, polled_root,
};
use ptx_facts::reach::{Ends, Reach};

use super::ascending;
use super::waits::Waits;
use crate::subject::function::FlowContext;

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
