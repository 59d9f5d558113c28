//! Code for which a warp has found that it is whole: `activemask` names all lanes there, or a number that says so was set
//! only where it does.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{Computation, Instance};
use rustc_hash::FxHashSet;

use super::{Level, Uniformity};
use crate::values::linear::{Base, Form};
use crate::values::number::mask;
use crate::values::{Assumption, Engine, Kind, ValueId};

/// Branches on the way to a block that are looked at.
const MAX_DOMINATORS: usize = 24;
/// Blocks that are found to have been passed.
const MAX_PASSED: usize = 24;
/// Ways that join.
const MAX_WAYS: usize = 8;
/// All lanes of a warp.
const ALL: u64 = 0xffff_ffff;

/// The instructions that tell which lanes there are, with what they tell.
pub(super) fn active_masks(engine: &Engine<'_, '_>) -> Vec<(u32, ValueId)> {
    let (facts, graph) = (engine.facts(), engine.graph());
    let computes = |&each: &u32| {
        let instance = facts.instance(each);
        instance.is_some_and(|instance| instance.effects.computes == Some(Computation::ActiveMask))
    };
    let told =
        |each: u32| facts.uses().range(each).find_map(|at| graph.written(at)).map(|value| (each, value));
    (0..facts.body.instructions.len() as u32).filter(computes).filter_map(told).collect()
}

/// Whether one of these has found that the warp is whole before control came to a block, after lanes parted at a branch.
pub(super) fn is_whole(
    engine: &Engine<'_, '_>,
    masks: &[(u32, ValueId)],
    branch: u32,
    block: NodeIndex,
) -> bool {
    let facts = engine.facts();
    let block_of = |instruction: u32| facts.cfg.block_of(Handle::new(instruction));
    let before = |(mask, _): &&(u32, ValueId)| facts.cfg.dominates(block_of(*mask), block);
    let masks: Vec<_> = masks.iter().filter(before).collect();
    if masks.is_empty() {
        return false;
    }
    let passed = passed(engine, block);
    masks.into_iter().any(|&(mask, value)| {
        let Some(fact) = engine.values.of(value) else { return false };
        let names_all = |inside: NodeIndex| {
            facts.cfg.dominates(block_of(mask), inside) && {
                let mut assumption = Assumption::new(engine);
                assumption.be_in(inside);
                assumption.number_of(engine.sum(fact)).value() == Some(ALL)
            }
        };
        let is_found = |&inside: &NodeIndex| names_all(inside) || by_all_ways(engine, inside, names_all);
        passed.iter().any(is_found) && !leads(engine, block_of(branch), block, block_of(mask))
    })
}

/// Whether something holds on all ways that join at a block: in the block that each comes from, or in one that the condition
/// under which it comes tells that control has been in.
fn by_all_ways(engine: &Engine<'_, '_>, join: NodeIndex, holds: impl Fn(NodeIndex) -> bool) -> bool {
    let (facts, graph) = (engine.facts(), engine.graph());
    let mut ways = 0;
    for (position, (from, _)) in graph.predecessors(join).enumerate() {
        if !engine.is_taken(join, position) {
            continue;
        }
        ways += 1;
        let guard = facts.cfg.instructions(from).last().and_then(|last| graph.guard(last));
        let condition = guard.zip(graph.condition(join, position));
        let mut came = condition.into_iter().flat_map(|(guard, edge)| came_from(engine, guard, edge.value));
        if ways > MAX_WAYS
            || facts.cfg.dominates(join, from)
            || !(holds(from) || came.any(|(block, _)| holds(block)))
        {
            return false;
        }
    }
    ways > 1
}

/// Whether a path leads from the end of a block to another without passing a third one.
fn leads(engine: &Engine<'_, '_>, from: NodeIndex, to: NodeIndex, without: NodeIndex) -> bool {
    let mut seen = FxHashSet::default();
    let mut open = vec![from];
    while let Some(inside) = open.pop() {
        for &(next, position) in engine.graph().successors(inside) {
            let next = NodeIndex::new(next as usize);
            if next == without || !engine.is_taken(next, position as usize) {
                continue;
            }
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// The block, and those that control must have come through for the conditions on the way to it to hold: what a join is
/// known to be tells which way it came.
fn passed(engine: &Engine<'_, '_>, block: NodeIndex) -> Vec<NodeIndex> {
    let facts = engine.facts();
    let mut found = vec![block];
    let mut index = 0;
    while index < found.len().min(MAX_PASSED) {
        let mut at = Some(found[index]);
        index += 1;
        for _ in 0..MAX_DOMINATORS {
            let Some(inside) = at else { break };
            if let Some((guard, value)) = only_condition(engine, inside) {
                for (from, _) in came_from(engine, guard, value) {
                    if !found.contains(&from) {
                        found.push(from);
                    }
                }
            }
            at = facts.cfg.immediate_dominator(inside);
        }
    }
    found
}

/// The condition under which control comes to a block that it comes to over one edge only, but for loops that begin there.
pub(crate) fn only_condition(engine: &Engine<'_, '_>, block: NodeIndex) -> Option<(ValueId, bool)> {
    let (facts, graph) = (engine.facts(), engine.graph());
    // Another round of a loop begins with what the first one began with.
    let mut taken = graph.predecessors(block).enumerate().filter(|&(position, (from, _))| {
        engine.is_taken(block, position) && !facts.cfg.dominates(block, from)
    });
    let (Some((only, (from, _))), None) = (taken.next(), taken.next()) else { return None };
    let guard = graph.guard(facts.cfg.instructions(from).last()?)?;
    Some((guard, graph.condition(block, only)?.value))
}

/// The blocks that control has come from where a predicate has a value, the last one first, with what each brought along.
pub(crate) fn came_from(
    engine: &Engine<'_, '_>,
    predicate: ValueId,
    value: bool,
) -> Vec<(NodeIndex, ValueId)> {
    let mut found = Vec::new();
    let mut next = Some((predicate, value));
    while found.len() < MAX_PASSED {
        let Some((join, is)) = next.take().and_then(|(value, is)| tested(engine, value, is)) else { break };
        let Kind::Joined { block } = engine.graph().kind(join) else { break };
        let number = |input: ValueId| engine.values.of(input).and_then(|fact| fact.number.value());
        let mut comes = engine.graph().inputs(join).iter().enumerate().filter(|&(position, &input)| {
            engine.is_taken(block, position) && number(input).is_none_or(|number| is.admits(number))
        });
        let (Some((position, &input)), None) = (comes.next(), comes.next()) else { break };
        let Some((from, _)) = engine.graph().predecessors(block).nth(position) else { break };
        found.push((from, input));
        if let Is::Truth(value) = is {
            next = Some((input, value));
        }
    }
    found
}

/// Whether all lanes of the warp go to a block at a branch, if one does: what decides says that `activemask` has found all of
/// them, or that it has been where all lanes have to be, and what it brought along from there is the same in all.
pub(super) fn is_agreed(
    engine: &mut Engine<'_, '_>,
    uniformity: &Uniformity,
    masks: &[(u32, ValueId)],
    branch: u32,
    block: NodeIndex,
) -> bool {
    let facts = engine.facts();
    let at = facts.cfg.block_of(Handle::new(branch));
    let mut inside = Some(block);
    for _ in 0..MAX_DOMINATORS {
        let above = inside.and_then(|inside| facts.cfg.immediate_dominator(inside));
        if above.is_none_or(|above| above == at) {
            break;
        }
        inside = above;
    }
    let Some((guard, value)) = inside.and_then(|inside| only_condition(engine, inside)) else {
        return false;
    };
    if let Some((tested, Is::Number(ALL, true))) = tested(engine, guard, value)
        && masks.iter().any(|(_, told)| *told == tested)
    {
        return true;
    }
    let mut is_same = false;
    for (from, brought) in came_from(engine, guard, value) {
        // Nothing parts them on the way to where it is joined.
        if engine.graph().successors(from).len() != 1 {
            return false;
        }
        is_same |= uniformity.of(brought).level() != Some(Level::Lanes);
        let mut instructions = facts.cfg.instructions(from);
        if is_same && instructions.any(|each| !facts.is_guarded(each) && names_all_lanes(engine, each)) {
            return true;
        }
    }
    false
}

/// Whether an instruction is for all lanes of the warp together.
fn names_all_lanes(engine: &mut Engine<'_, '_>, instruction: u32) -> bool {
    let mask = engine.facts().instance(instruction).and_then(Instance::lane_mask);
    let mask = mask.and_then(|index| engine.operand(instruction, index, u32::BITS));
    mask.is_some_and(|mask| mask.number.value() == Some(ALL))
}

/// What is known of a value.
#[derive(Clone, Copy)]
enum Is {
    /// A predicate that is so.
    Truth(bool),
    /// It is this number, or is not.
    Number(u64, bool),
}

impl Is {
    fn admits(self, number: u64) -> bool {
        match self {
            Self::Truth(value) => (number != 0) == value,
            Self::Number(known, equal) => (number == known) == equal,
        }
    }
}

/// The value that a predicate tells of, and what: one that joins others.
fn tested(engine: &Engine<'_, '_>, predicate: ValueId, value: bool) -> Option<(ValueId, Is)> {
    let forms = engine.values.forms();
    let sum = engine.sum(engine.values.of(predicate)?);
    let mut terms = sum.terms();
    let (Some((base, _)), None) = (terms.next(), terms.next()) else { return None };
    let value = value ^ (sum.offset() & 1 != 0);
    match forms.what(base) {
        Base::Value(join) => Some((join, Is::Truth(value))),
        Base::Operation { computes: Computation::Compare, operands: [difference, Form::NONE, _], .. } => {
            let difference = forms.sum(difference);
            let mut terms = difference.terms();
            let (Some((base, 1)), None) = (terms.next(), terms.next()) else { return None };
            let Base::Value(join) = forms.what(base) else { return None };
            let number = mask(difference.width());
            Some((join, Is::Number(difference.offset().wrapping_neg() & number, value)))
        }
        _ => None,
    }
}
