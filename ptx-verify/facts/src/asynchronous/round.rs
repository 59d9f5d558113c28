//! Where control goes on to within one round of the loops.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;

use crate::FunctionFacts;

/// What control comes to from an instruction without certain others and without an edge back to a loop's head.
pub struct Round<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    from: u32,
    stops: Vec<u32>,
    /// The blocks that it enters.
    entered: Vec<bool>,
}

impl<'f, 'm> Round<'f, 'm> {
    /// From after an instruction. `stops` are ascending.
    #[must_use]
    pub fn from(facts: &'f FunctionFacts<'m>, from: u32, stops: &[u32]) -> Self {
        let cfg = &facts.cfg;
        let mut round = Self { facts, from, stops: stops.to_vec(), entered: vec![false; cfg.block_count()] };
        let start = cfg.block_of(Handle::new(from));
        let mut pending: Vec<NodeIndex> = Vec::new();
        if !round.has_stop(from + 1, cfg.instructions(start).end) {
            pending.push(start);
        }
        while let Some(block) = pending.pop() {
            for (next, _) in cfg.successors(block) {
                let is_new = cfg.place(next) > cfg.place(block) && !round.entered[next.index()];
                if !is_new {
                    continue;
                }
                round.entered[next.index()] = true;
                let range = cfg.instructions(next);
                if !round.has_stop(range.start, range.end) {
                    pending.push(next);
                }
            }
        }
        round
    }

    /// Whether control comes to an instruction.
    #[must_use]
    pub fn reaches(&self, to: u32) -> bool {
        let cfg = &self.facts.cfg;
        let (start, block) = (cfg.block_of(Handle::new(self.from)), cfg.block_of(Handle::new(to)));
        if block == start {
            return to > self.from && !self.has_stop(self.from + 1, to);
        }
        self.entered[block.index()] && !self.has_stop(cfg.instructions(block).start, to)
    }

    /// Whether control always comes to an instruction, without a branch on the way.
    #[must_use]
    pub fn is_straight_to(&self, to: u32) -> bool {
        let cfg = &self.facts.cfg;
        let (mut at, block) = (cfg.block_of(Handle::new(self.from)), cfg.block_of(Handle::new(to)));
        while at != block {
            let mut after = cfg.successors(at);
            let (Some((next, _)), None) = (after.next(), after.next()) else { return false };
            if cfg.place(next) <= cfg.place(at) || cfg.predecessors(next).nth(1).is_some() {
                return false;
            }
            at = next;
        }
        self.reaches(to)
    }

    fn has_stop(&self, start: u32, end: u32) -> bool {
        let place = self.stops.partition_point(|stop| *stop < start);
        self.stops.get(place).is_some_and(|stop| *stop < end)
    }
}
