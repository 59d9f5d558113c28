//! Loops that make up for others: each lane goes through the first as often as it needs, and through the second until all
//! lanes of the warp have met as often.
//!
//! How often a thread has met is followed along the paths as a sum: a number, and so much for each turn of a loop. What
//! joins after the loop counts these turns, and where a later loop goes on with that count up to something that is the
//! same for all, so is the sum. Nobody is taken to be beyond that when the later loop begins.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::Computation;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use super::{Level, Uniformity};
use crate::values::linear::{Base, BaseId, Form, Sum};
use crate::values::number::mask;
use crate::values::{Engine, Kind, ValueId};

/// Blocks before a branch from which paths are followed.
const MAX_DOMINATORS: usize = 6;

/// What a thread has met on the way to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Met {
    known: u64,
    turns: Turns,
    /// The same where it is known by the end of a count only.
    until: Option<u64>,
}

/// What is met in each turn of some loop, or loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turns {
    None,
    /// So much in each turn of the loop with this head.
    Of {
        each: u64,
        head: NodeIndex,
    },
    /// So much for each step of a sum.
    Counted {
        each: u64,
        step: i64,
        by: Sum,
    },
}

/// A sum counts what was met: `known` and `each` for each `step` of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Count {
    known: u64,
    each: u64,
    step: i64,
}

impl Met {
    const fn number(known: u64) -> Self {
        Self { known, turns: Turns::None, until: None }
    }

    fn and(self, more: u64) -> Self {
        let until = self.until.map(|until| until.wrapping_add(more));
        Self { known: self.known.wrapping_add(more), until, ..self }
    }

    fn same(self, other: Self) -> bool {
        (self.known, self.turns) == (other.known, other.turns)
    }
}

impl Uniformity {
    /// Whether threads that part at a branch on the way to a block meet equally often until they are together again, though
    /// some of them in one loop and some in another. `meets` tells what is met in a block; none where that depends on a
    /// guard.
    pub(super) fn is_evened_out(
        &self,
        engine: &mut Engine<'_, '_>,
        (branch, at): (u32, NodeIndex),
        level: Level,
        visits: &mut usize,
        meets: &mut dyn FnMut(&mut Engine<'_, '_>, NodeIndex) -> Option<u64>,
    ) -> bool {
        let cfg = &engine.facts().cfg;
        let block = cfg.block_of(Handle::new(branch));
        let mut from = Some(block);
        for _ in 0..MAX_DOMINATORS {
            let Some(start) = from else { return false };
            let mut paths = Paths { uniformity: self, engine, level, visits, meets };
            if paths.are_even(start, [block, at]).is_some() {
                return true;
            }
            from = cfg.immediate_dominator(start);
        }
        false
    }
}

/// Paths that are followed.
struct Paths<'a, 'f, 'm> {
    uniformity: &'a Uniformity,
    engine: &'a mut Engine<'f, 'm>,
    level: Level,
    visits: &'a mut usize,
    meets: &'a mut dyn FnMut(&mut Engine<'f, 'm>, NodeIndex) -> Option<u64>,
}

impl Paths<'_, '_, '_> {
    /// Follows all paths from a block until they have come past some others and are together; none where they have not
    /// met as often then, or it is not known.
    fn are_even(&mut self, start: NodeIndex, past: [NodeIndex; 2]) -> Option<()> {
        let (cfg, graph) = (&self.engine.facts().cfg, self.engine.graph());
        let order = cfg.reverse_postorder();
        let mut after: FxHashMap<NodeIndex, Met> = FxHashMap::default();
        let mut open = BTreeSet::from([cfg.place(start)]);
        let is_past = |after: &FxHashMap<NodeIndex, Met>| past.iter().all(|block| after.contains_key(block));
        while let Some(place) = open.pop_first() {
            let block = order[place];
            self.visit()?;
            let mut met = match block == start {
                true => Met::number(0),
                false => self.come(block, &after)?,
            };
            if open.is_empty() && is_past(&after) && met.turns == Turns::None {
                return Some(());
            }
            if block != start && self.is_head(block) {
                met = self.enter(block, met)?;
            }
            met = met.and((self.meets)(self.engine, block)?);
            after.insert(block, met);
            let successors = graph.successors(block);
            if successors.is_empty() {
                return (open.is_empty() && is_past(&after) && met.turns == Turns::None).then_some(());
            }
            for &(next, position) in successors {
                let next = NodeIndex::new(next as usize);
                if !self.engine.is_taken(next, position as usize) {
                    continue;
                }
                if next == start || !cfg.dominates(start, next) {
                    return None;
                }
                if cfg.place(next) > place {
                    open.insert(cfg.place(next));
                } else if !cfg.dominates(next, block) {
                    return None;
                }
            }
        }
        None
    }

    fn visit(&mut self) -> Option<()> {
        *self.visits = self.visits.checked_sub(1)?;
        Some(())
    }

    /// Whether a loop begins with a block.
    fn is_head(&self, block: NodeIndex) -> bool {
        let cfg = &self.engine.facts().cfg;
        self.engine.graph().predecessors(block).any(|(from, _)| cfg.place(from) >= cfg.place(block))
    }

    /// What those have met who come to a block for the first time.
    fn come(&mut self, block: NodeIndex, after: &FxHashMap<NodeIndex, Met>) -> Option<Met> {
        let (cfg, graph) = (&self.engine.facts().cfg, self.engine.graph());
        let mut edges: Vec<(usize, Met)> = Vec::new();
        for (position, (from, _)) in graph.predecessors(block).enumerate() {
            if self.engine.is_taken(block, position) && cfg.place(from) < cfg.place(block) {
                let met = *after.get(&from)?;
                let until = self.until(from, block, position, met).or(met.until);
                edges.push((position, Met { until, ..met }));
            }
        }
        let (&(_, first), others) = edges.split_first()?;
        let until = first.until.filter(|_| others.iter().all(|(_, met)| met.until == first.until));
        let are_same = others.iter().all(|(_, met)| met.same(first));
        match until {
            Some(known) if !are_same || first.turns != Turns::None => return Some(Met::number(known)),
            _ if are_same => return Some(Met { until, ..first }),
            _ => {}
        }
        let joins = graph.joins(block);
        joins.iter().find_map(|&join| self.counted(&edges, join)).map(|turns| Met { until: None, ..turns })
    }

    /// What was met as what a join counts, where it does on all edges.
    fn counted(&self, edges: &[(usize, Met)], join: ValueId) -> Option<Met> {
        let inputs = self.engine.graph().inputs(join);
        let sum = |position: usize| {
            let fact = self.engine.values.of(*inputs.get(position)?)?;
            Some(*self.engine.sum(fact))
        };
        let count = edges.iter().find_map(|&(position, met)| self.count(met, &sum(position)?))?;
        let agrees = |&(position, met): &(usize, Met)| match met.turns {
            Turns::None => sum(position).and_then(|sum| {
                let steps = quotient(sum.value()?, sum.width(), count.step)?;
                Some(count.known.wrapping_add(count.each.wrapping_mul(steps as u64)) == met.known)
            }),
            _ => sum(position).and_then(|sum| self.count(met, &sum)).map(|other| other == count),
        };
        let by = *self.engine.sum(self.engine.values.of(join)?);
        let Count { known, each, step } = count;
        edges.iter().all(|edge| agrees(edge) == Some(true)).then_some(Met {
            known,
            turns: Turns::Counted { each, step, by },
            until: None,
        })
    }

    /// How a sum counts what was met.
    fn count(&self, met: Met, sum: &Sum) -> Option<Count> {
        let (by, each, step) = match met.turns {
            Turns::None => return None,
            Turns::Counted { each, step, by } => (by, each, step),
            Turns::Of { each, head } => {
                let (base, join) = self.steps_of(sum, head)?;
                (Sum::of(sum.width(), base), each, self.step(join)?)
            }
        };
        if by.width() != sum.width() {
            return None;
        }
        let more = quotient(sum.plus(&by, u64::MAX)?.value()?, sum.width(), step)?;
        let known = met.known.wrapping_sub(each.wrapping_mul(more as u64));
        Some(Count { known, each, step })
    }

    /// The base in a sum that is what the turns of a loop have added to one of the values that its head joins.
    fn steps_of(&self, sum: &Sum, head: NodeIndex) -> Option<(BaseId, ValueId)> {
        let forms = self.engine.values.forms();
        sum.terms().filter(|(_, factor)| *factor == 1).find_map(|(base, _)| match forms.what(base) {
            Base::Steps(join) if self.engine.graph().kind(join) == (Kind::Joined { block: head }) => {
                Some((base, join))
            }
            _ => None,
        })
    }

    /// The number that each turn adds to a value.
    fn step(&self, join: ValueId) -> Option<i64> {
        let [step] = *self.engine.values.steps(join) else { return None };
        let step = self.engine.values.forms().sum(step);
        Some(signed(step.value()?, step.width())).filter(|step| *step != 0)
    }

    /// What was met in the turns of a loop that begins with a block, and before it.
    fn enter(&mut self, head: NodeIndex, met: Met) -> Option<Met> {
        let each = self.in_turn(head)?;
        if each == 0 {
            return Some(met);
        }
        if met.turns == Turns::None {
            return Some(Met { turns: Turns::Of { each, head }, until: None, ..met });
        }
        let graph = self.engine.graph();
        graph.joins(head).iter().find_map(|&join| {
            let step = self.step(join)?;
            let by = *self.engine.sum(self.engine.values.of(join)?);
            let base = self.engine.values.forms().find(Base::Steps(join))?;
            // What the loop begins with.
            let before = by.plus(&Sum::of(by.width(), base), u64::MAX)?;
            let count = self.count(met, &before).filter(|count| (count.each, count.step) == (each, step))?;
            Some(Met { known: count.known, turns: Turns::Counted { each, step, by }, until: None })
        })
    }

    /// What is met in a turn of a loop, whichever way it takes.
    fn in_turn(&mut self, head: NodeIndex) -> Option<u64> {
        let (cfg, graph) = (&self.engine.facts().cfg, self.engine.graph());
        let order = cfg.reverse_postorder();
        let inside = self.blocks_of_loop(head)?;
        // By block, what was met before it and after it.
        let mut met: FxHashMap<NodeIndex, (u64, u64)> = FxHashMap::default();
        for place in inside {
            let block = order[place];
            let mut before = (block == head).then_some(0);
            for (position, (from, _)) in graph.predecessors(block).enumerate() {
                if block == head || cfg.place(from) >= place || !self.engine.is_taken(block, position) {
                    continue;
                }
                let (_, comes) = *met.get(&from)?;
                if *before.get_or_insert(comes) != comes {
                    return None;
                }
            }
            let before = before?;
            let after = before.wrapping_add((self.meets)(self.engine, block)?);
            met.insert(block, (before, after));
            // In a loop inside nobody meets.
            let mut back = graph.successors(block).iter().map(|(next, _)| NodeIndex::new(*next as usize));
            let is_other = |next: NodeIndex| {
                next != head
                    && cfg.place(next) <= place
                    && met.get(&next).is_some_and(|(before, _)| *before != after)
            };
            if back.any(is_other) {
                return None;
            }
        }
        let mut all = graph.predecessors(head).filter(|(from, _)| cfg.place(*from) >= cfg.place(head));
        let first = met.get(&all.next()?.0)?.1;
        all.all(|(from, _)| met.get(&from).is_some_and(|(_, after)| *after == first)).then_some(first)
    }

    /// The blocks of the loop that begins with a block, by their places; none where control comes into it elsewhere.
    fn blocks_of_loop(&mut self, head: NodeIndex) -> Option<BTreeSet<usize>> {
        let (cfg, graph) = (&self.engine.facts().cfg, self.engine.graph());
        let mut inside = BTreeSet::from([cfg.place(head)]);
        let comes_back = |from: &NodeIndex| cfg.place(*from) >= cfg.place(head);
        let mut open: Vec<NodeIndex> =
            graph.predecessors(head).map(|(from, _)| from).filter(comes_back).collect();
        while let Some(block) = open.pop() {
            if !cfg.dominates(head, block) {
                return None;
            }
            if inside.insert(cfg.place(block)) {
                self.visit()?;
                open.extend(graph.predecessors(block).map(|(from, _)| from));
            }
        }
        Some(inside)
    }

    /// What those have met who take an edge because a count has come to an end that is the same for all.
    fn until(&self, from: NodeIndex, block: NodeIndex, position: usize, met: Met) -> Option<u64> {
        let (facts, graph) = (self.engine.facts(), self.engine.graph());
        let condition = graph.condition(block, position)?;
        let guard = graph.guard(facts.cfg.instructions(from).last()?)?;
        let predicate = *self.engine.sum(self.engine.values.of(guard)?);
        let forms = self.engine.values.forms();
        let mut terms = predicate.terms();
        let (Some((base, _)), None) = (terms.next(), terms.next()) else { return None };
        let Base::Operation { computes: Computation::Compare, detail, operands: [one, other, _] } =
            forms.what(base)
        else {
            return None;
        };
        if other == Form::NONE || detail >> 16 != 1 {
            return None;
        }
        let is_less = condition.value ^ (predicate.offset() & 1 != 0);
        // Upwards it ends where the count is no longer below, downwards where the end is no longer below.
        [(one, other, !is_less), (other, one, is_less)].into_iter().find_map(|(counter, end, is_upwards)| {
            let count = self.count(met, forms.sum(counter))?;
            if (count.step > 0) != is_upwards
                || !self.uniformity.is_uniform_at(self.engine, forms.sum(end), block, self.level)
            {
                return None;
            }
            let mut hasher = FxHasher::default();
            (count, end, detail, is_less).hash(&mut hasher);
            Some(hasher.finish())
        })
    }
}

/// A number with its sign.
const fn signed(number: u64, width: u32) -> i64 {
    let up = 64 - width;
    ((number & mask(width)) << up) as i64 >> up
}

/// How many steps a number is; none where it is no multiple.
fn quotient(number: u64, width: u32, step: i64) -> Option<i64> {
    let number = signed(number, width);
    (number.checked_rem(step) == Some(0)).then(|| number / step)
}
