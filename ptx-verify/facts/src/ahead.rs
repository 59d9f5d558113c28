//! Which instructions control comes to from a place, by what is known to hold there.
//!
//! What holds at a place is more than the branches on the way to it say: a predicate that joins others tells, by its value,
//! which way control came, and with that the branches of that way. As long as control goes forward, the values that say so
//! are the same, and it does not take a branch that contradicts them; where it comes back to a loop, they may be new.

use std::collections::BTreeMap;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{Convergence, Instance};

use crate::FunctionFacts;
use crate::uniformity::{came_from, only_condition};
use crate::values::{Assumption, Engine};

/// Branches on the way to a place that are looked at.
const MAX_DOMINATORS: usize = 24;

/// Whether a launch in which control comes to one block is none in which it comes to the other, by what is the same in all of it.
fn is_other_launch(engine: &Engine<'_, '_>, one: NodeIndex, other: NodeIndex) -> bool {
    let mut launch = Assumption::new(engine);
    for block in [one, other] {
        launch.be_in_by(block, |guard| engine.is_of_launch(guard));
    }
    launch.is_impossible()
}

/// Whether the threads of the block meet at an instruction. A barrier for some of them counts: the one that sets the flag is
/// taken to be among those.
#[must_use]
pub fn meets(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let is_barrier = |instance: &Instance| {
        instance.effects.barrier && instance.effects.convergence == Convergence::Aligned
    };
    facts.instance(instruction).is_some_and(is_barrier) && !facts.is_guarded(instruction)
}

/// Where control comes to from the end of a block, without passing certain instructions.
pub struct Ahead<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    stops: Vec<u32>,
    /// The blocks that control enters.
    entered: Vec<bool>,
    /// Those that it leaves without having come back to a loop.
    left: Vec<bool>,
    /// Those that it enters on a way without a meeting.
    apart: Vec<bool>,
}

impl<'f, 'm> Ahead<'f, 'm> {
    /// From an instruction of a block. `stops` are ascending.
    #[must_use]
    pub fn new(engine: &Engine<'f, 'm>, last: u32, stops: &[u32]) -> Self {
        Self::to_thread(engine, last, stops, None, None)
    }

    /// The same on the way to another instruction. After a barrier of the block only those ways count that the thread takes which
    /// comes there, by conditions that never change.
    #[must_use]
    pub fn towards(engine: &Engine<'f, 'm>, last: u32, stops: &[u32], to: u32) -> Self {
        Self::to_thread(engine, last, stops, Some(to), None)
    }

    /// Whether control comes [`towards`](Self::towards) an instruction to that itself. The search ends there.
    #[must_use]
    pub fn comes_to(engine: &Engine<'f, 'm>, last: u32, stops: &[u32], to: u32) -> bool {
        let wanted = engine.facts().cfg.block_of(Handle::new(to));
        Self::to_thread(engine, last, stops, Some(to), Some(wanted)).reaches(to)
    }

    /// No block is looked for after the one that is `wanted`.
    fn to_thread(
        engine: &Engine<'f, 'm>,
        last: u32,
        stops: &[u32],
        to: Option<u32>,
        wanted: Option<NodeIndex>,
    ) -> Self {
        let facts = engine.facts();
        let entered = vec![false; facts.cfg.block_count()];
        let (left, apart) = (entered.clone(), entered.clone());
        let mut ahead = Self { facts, stops: stops.to_vec(), entered, left, apart };
        let mut thread = Assumption::new(engine);
        if let Some(to) = to {
            let to = facts.cfg.block_of(Handle::new(to));
            if is_other_launch(engine, facts.cfg.block_of(Handle::new(last)), to) {
                return ahead;
            }
            thread.be_in_by(to, |guard| engine.is_invariant(guard));
        }
        ahead.spread(engine, last, &thread, wanted);
        ahead
    }

    fn spread(
        &mut self,
        engine: &Engine<'_, '_>,
        last: u32,
        thread: &Assumption<'_, '_, '_>,
        wanted: Option<NodeIndex>,
    ) {
        let graph = engine.graph();
        let start = self.facts.cfg.block_of(Handle::new(last));
        let known = known_at(engine, start);
        self.apart[start.index()] = true;
        let (mut again, mut later, mut is_refused) = (Vec::new(), Vec::new(), false);
        // In order, so that it is known of all ways to a branch whether control comes over them.
        let place = |block: NodeIndex| self.facts.cfg.place(block);
        let mut pending = BTreeMap::from([(place(start), start)]);
        while let Some((_, block)) = pending.pop_first() {
            self.left[block.index()] = true;
            let mut passed = self.facts.cfg.instructions(block).filter(|each| block != start || *each > last);
            let is_apart = self.apart[block.index()] && !passed.any(|each| meets(self.facts, each));
            for &(next, position) in graph.successors(block) {
                let next = NodeIndex::new(next as usize);
                // Once more round a loop of one block, control is where it was.
                if next == start || !engine.is_taken(next, position as usize) {
                    continue;
                }
                // What is known at the start goes on to hold in the rounds of a loop that comes after it.
                let is_later = place(next) > place(start) && (self.apart[next.index()] || !is_apart);
                if !self.is_forward(block, next) {
                    if is_later { later.push(next) } else { again.push(next) }
                }
                if (self.is_forward(block, next) || is_later)
                    && can_take(engine, &known, block, (next, position as usize))
                    && (is_apart || can_take(engine, thread, block, (next, position as usize)))
                {
                    if !self.has_come(engine, start, block, (next, position as usize)) {
                        is_refused = true;
                        continue;
                    }
                    self.apart[next.index()] |= is_apart;
                    let goes_on = self.enter(next);
                    if wanted == Some(next) {
                        return;
                    }
                    if goes_on {
                        pending.insert(self.facts.cfg.place(next), next);
                    }
                }
            }
        }
        // Control may come there in another round.
        if is_refused {
            again.append(&mut later);
        }
        // In another round of a loop nothing is known of what holds, and each block may be entered once more.
        let mut seen = vec![false; self.entered.len()];
        while let Some(block) = again.pop() {
            if std::mem::replace(&mut seen[block.index()], true) || !self.enter_again(block) {
                continue;
            }
            let taken = graph.successors(block).iter().map(|&(next, at)| (NodeIndex::new(next as usize), at));
            again
                .extend(taken.filter(|&(next, at)| engine.is_taken(next, at as usize)).map(|(next, _)| next));
        }
    }

    /// Whether control may have come over the ways that the condition of an edge tells of: out of a block after the start, it
    /// has to have gone through that.
    fn has_come(
        &self,
        engine: &Engine<'_, '_>,
        start: NodeIndex,
        from: NodeIndex,
        (to, position): (NodeIndex, usize),
    ) -> bool {
        let (cfg, graph) = (&self.facts.cfg, engine.graph());
        let Some(condition) = graph.condition(to, position) else { return true };
        let guard = cfg.instructions(from).last().and_then(|last| graph.guard(last));
        let ways = guard.map(|guard| came_from(engine, guard, condition.value)).unwrap_or_default();
        ways.into_iter().all(|(way, _)| {
            let is_forward = cfg.successors(way).all(|(next, _)| cfg.place(way) < cfg.place(next));
            !is_forward || cfg.place(way) <= cfg.place(start) || self.left[way.index()]
        })
    }

    fn is_forward(&self, from: NodeIndex, to: NodeIndex) -> bool {
        self.facts.cfg.place(from) < self.facts.cfg.place(to)
    }

    /// Enters a block: whether control comes out of it, and has not been there before.
    fn enter(&mut self, block: NodeIndex) -> bool {
        !self.entered[block.index()] && self.enter_again(block)
    }

    fn enter_again(&mut self, block: NodeIndex) -> bool {
        self.entered[block.index()] = true;
        !self.has_stop(self.facts.cfg.instructions(block))
    }

    fn has_stop(&self, range: std::ops::Range<u32>) -> bool {
        let place = self.stops.partition_point(|stop| *stop < range.start);
        self.stops.get(place).is_some_and(|stop| *stop < range.end)
    }

    /// Whether control comes to an instruction.
    #[must_use]
    pub fn reaches(&self, instruction: u32) -> bool {
        let block = self.facts.cfg.block_of(Handle::new(instruction));
        let start = self.facts.cfg.instructions(block).start;
        self.entered[block.index()] && !self.has_stop(start..instruction)
    }
}

/// Whether what is known allows that control goes over an edge.
fn can_take(
    engine: &Engine<'_, '_>,
    known: &Assumption<'_, '_, '_>,
    from: NodeIndex,
    (to, position): (NodeIndex, usize),
) -> bool {
    let graph = engine.graph();
    let Some(condition) = graph.condition(to, position) else { return true };
    let guard = engine.facts().cfg.instructions(from).last().and_then(|last| graph.guard(last));
    let Some(fact) = guard.and_then(|guard| engine.values.of(guard)) else { return true };
    let mut known = known.clone();
    known.hold(fact.form, condition.value);
    !known.is_impossible()
}

/// What holds in a block.
fn known_at<'e, 'f, 'm>(engine: &'e Engine<'f, 'm>, block: NodeIndex) -> Assumption<'e, 'f, 'm> {
    let cfg = &engine.facts().cfg;
    let mut known = Assumption::new(engine);
    known.be_in(block);
    let mut at = Some(block);
    for _ in 0..MAX_DOMINATORS {
        let Some(inside) = at else { break };
        let condition = only_condition(engine, inside);
        for (from, _) in condition.into_iter().flat_map(|(guard, value)| came_from(engine, guard, value)) {
            // What a loop has brought along holds of its last round, and no more.
            if cfg.successors(from).all(|(next, _)| cfg.place(from) < cfg.place(next)) {
                known.be_in(from);
            }
        }
        at = cfg.immediate_dominator(inside);
    }
    known
}
