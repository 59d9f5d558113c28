//! Blocks that all lanes come to, or none: after a branch that they take differently, both sides may ask the same of
//! something that does not differ between them.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Level, Uniformity};
use crate::uniformity::masks::conjuncts;
use crate::values::linear::Sum;
use crate::values::{Assumption, Engine, Graph, ValueId};

/// Blocks on the way to an instruction that are looked at.
const MAX_DOMINATORS: usize = 8;

/// From which block on, to which block, and who is told apart there.
type Question = (NodeIndex, NodeIndex, Level);

/// What was found of who comes to blocks together.
#[derive(Default)]
pub(super) struct Companies {
    /// Blocks that may be visited to find more.
    pub(super) visits: usize,
    /// Answers: one branch may lead to many meetings, which ask the same on the way.
    known: FxHashMap<Question, bool>,
}

impl Companies {
    /// Nothing is known; `visits` blocks may be visited.
    pub(super) fn new(visits: usize) -> Self {
        Self { visits, ..Self::default() }
    }
}

impl Uniformity {
    /// Whether all threads that are told apart by a branch come to a block, or none: to the block itself, or to one that
    /// every path there leads through and after which nobody is told apart.
    pub(super) fn comes_whole(
        &self,
        engine: &Engine<'_, '_>,
        branch: u32,
        block: NodeIndex,
        least: Level,
        companies: &mut Companies,
    ) -> bool {
        let cfg = &engine.facts().cfg;
        let from = cfg.block_of(Handle::new(branch));
        if !cfg.dominates(from, block) {
            return self.all_or_none(engine, from, block, least, companies)
                && self.all_or_none_of_each(engine, block, least, companies);
        }
        let mut at = block;
        for _ in 0..MAX_DOMINATORS {
            if at == from || !cfg.dominates(from, at) {
                return false;
            }
            if self.all_or_none(engine, from, at, least, companies) {
                return at == block || !self.parts_on_the_way(engine, at, block, least, companies);
            }
            match cfg.immediate_dominator(at) {
                Some(before) => at = before,
                None => return false,
            }
        }
        false
    }

    /// Whether a branch that threads take differently lies on the way from one block to another: they come to it behind
    /// the first, and to the other before all of them are together again.
    fn parts_on_the_way(
        &self,
        engine: &Engine<'_, '_>,
        first: NodeIndex,
        block: NodeIndex,
        least: Level,
        companies: &mut Companies,
    ) -> bool {
        let cfg = &engine.facts().cfg;
        cfg.reverse_postorder().iter().any(|&branching| {
            cfg.dominates(first, branching) && self.parts_before(engine, branching, block, least, companies)
        })
    }

    /// Whether threads take the branch at the end of a block differently, and come to another block before all of them are
    /// together again. After too many visits the answer is yes.
    fn parts_before(
        &self,
        engine: &Engine<'_, '_>,
        branching: NodeIndex,
        block: NodeIndex,
        least: Level,
        companies: &mut Companies,
    ) -> bool {
        if self.control.parts(branching).is_none_or(|level| level < least) {
            return false;
        }
        let join = self.control.join(branching);
        let mut seen = FxHashSet::default();
        let mut open = vec![branching];
        while let Some(inside) = open.pop() {
            for &(next, position) in engine.graph().successors(inside) {
                let next = NodeIndex::new(next as usize);
                if Some(next) == join || !engine.is_taken(next, position as usize) || !seen.insert(next) {
                    continue;
                }
                let Some(left) = companies.visits.checked_sub(1).filter(|_| next != block) else {
                    return true;
                };
                companies.visits = left;
                open.push(next);
            }
        }
        false
    }

    /// Whether all threads or none come to a block from each branch that parts them on the way there: where there are ways
    /// around one of them, who takes these is parted elsewhere, or not at all.
    fn all_or_none_of_each(
        &self,
        engine: &Engine<'_, '_>,
        block: NodeIndex,
        least: Level,
        companies: &mut Companies,
    ) -> bool {
        engine.facts().cfg.reverse_postorder().iter().all(|&branching| {
            !self.parts_before(engine, branching, block, least, companies)
                || self.all_or_none(engine, branching, block, least, companies)
        })
    }

    /// Whether nobody can pass a block by who has the conditions of those that come to it.
    fn all_or_none(
        &self,
        engine: &Engine<'_, '_>,
        from: NodeIndex,
        block: NodeIndex,
        least: Level,
        companies: &mut Companies,
    ) -> bool {
        if let Some(&known) = companies.known.get(&(from, block, least)) {
            return known;
        }
        let graph = engine.graph();
        let found = (0..graph.predecessor_count(block))
            .filter(|&position| engine.is_taken(block, position))
            .all(|position| self.none_passes(engine, from, (block, position), least, companies));
        companies.known.insert((from, block, least), found);
        found
    }

    fn none_passes(
        &self,
        engine: &Engine<'_, '_>,
        from: NodeIndex,
        (block, position): (NodeIndex, usize),
        least: Level,
        companies: &mut Companies,
    ) -> bool {
        let (cfg, graph) = (&engine.facts().cfg, engine.graph());
        let same = self.on_the_way(engine, from, (block, position), least, |_| true);
        // What never changes cannot come out otherwise for those that are elsewhere.
        let always =
            self.on_the_way(engine, from, (block, position), least, |guard| engine.is_invariant(guard));
        let mut seen = FxHashSet::default();
        let mut open = vec![from];
        while let Some(inside) = open.pop() {
            let Some(left) = companies.visits.checked_sub(1) else { return false };
            companies.visits = left;
            let successors = graph.successors(inside);
            // Here the function ends.
            if successors.is_empty() {
                return false;
            }
            for &(next, position) in successors {
                let (next, position) = (NodeIndex::new(next as usize), position as usize);
                if next == block || !engine.is_taken(next, position) {
                    continue;
                }
                let contradicts = |literal: &Sum| {
                    always.holds(literal) == Some(false)
                        || same.holds(literal) == Some(false)
                            && self.is_uniform_at(engine, literal, inside, least)
                };
                if said_by(engine, inside, (next, position)).iter().any(contradicts) {
                    continue;
                }
                // In another turn the conditions are others.
                if Some(next) == self.control.join(from) || cfg.place(next) <= cfg.place(from) {
                    return false;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        true
    }

    /// The conditions that are the same for all, of those that come to a block over an edge, as far as their predicates
    /// count.
    fn on_the_way<'e, 'f, 'm>(
        &self,
        engine: &'e Engine<'f, 'm>,
        from: NodeIndex,
        edge: (NodeIndex, usize),
        least: Level,
        counts: impl Fn(ValueId) -> bool,
    ) -> Assumption<'e, 'f, 'm> {
        let (cfg, graph) = (&engine.facts().cfg, engine.graph());
        let mut same = Assumption::new(engine);
        let mut edge = Some(edge);
        while let Some((block, position)) = edge {
            let Some((inside, _)) = graph.predecessors(block).nth(position) else { break };
            if let Some((predicate, value)) = decided(engine, inside, (block, position))
                && counts(predicate)
                && let Some(fact) = engine.values.of(predicate)
            {
                let differs = |level: Option<Level>| level.is_some_and(|level| level >= least);
                if !differs(self.of(predicate).level()) && !differs(self.control.parts(inside)) {
                    same.hold(fact.form, value);
                } else {
                    // Of a condition that differs, some parts may be the same for all.
                    for part in conjuncts(engine, fact.form, value) {
                        if self.is_uniform_at(engine, &part, inside, least) {
                            same.is_true(&part);
                        }
                    }
                }
            }
            edge = (inside != from && cfg.dominates(from, inside))
                .then(|| only_way(engine, graph, inside))
                .flatten();
        }
        same
    }
}

/// The predicate that decides about an edge, and what it has to be for that to be taken.
fn decided(
    engine: &Engine<'_, '_>,
    inside: NodeIndex,
    (next, position): (NodeIndex, usize),
) -> Option<(ValueId, bool)> {
    let condition = engine.graph().condition(next, position)?;
    let guard = engine.graph().guard(engine.facts().cfg.instructions(inside).last()?)?;
    Some((guard, condition.value))
}

/// What holds where an edge is taken: all of it.
fn said_by(engine: &Engine<'_, '_>, inside: NodeIndex, (next, position): (NodeIndex, usize)) -> Vec<Sum> {
    let Some((guard, value)) = decided(engine, inside, (next, position)) else { return Vec::new() };
    let fact = engine.values.of(guard);
    fact.map_or_else(Vec::new, |fact| conjuncts(engine, fact.form, value))
}

/// The only edge that leads to a block.
fn only_way(engine: &Engine<'_, '_>, graph: &Graph, block: NodeIndex) -> Option<(NodeIndex, usize)> {
    let mut taken = (0..graph.predecessor_count(block)).filter(|&position| engine.is_taken(block, position));
    match (taken.next(), taken.next()) {
        (Some(only), None) => Some((block, only)),
        _ => None,
    }
}
