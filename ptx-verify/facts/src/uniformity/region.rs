//! The blocks between a branch and where the paths from it come together.

use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

use crate::values::linear::Base;
use crate::values::{Engine, Graph, Kind, Values};

/// An edge: the block that it leads to, and its position there.
type Edge = (NodeIndex, usize);

/// The blocks that control may come to between the end of a block and where its paths come together.
pub(super) struct Region {
    pub(super) blocks: Vec<NodeIndex>,
    /// The edges that nobody takes there.
    left_out: FxHashSet<Edge>,
}

impl Region {
    /// None where that takes too long.
    pub(super) fn new(
        engine: &Engine<'_, '_>,
        block: NodeIndex,
        join: Option<NodeIndex>,
        visits: &mut usize,
    ) -> Option<Self> {
        let cfg = &engine.facts.cfg;
        let mut seen = FxHashSet::default();
        let mut region = Self { blocks: Vec::new(), left_out: FxHashSet::default() };
        // Edges that seem to be left out, as long as no other way leads to what decides about them.
        let mut barred: Vec<(NodeIndex, Edge)> = Vec::new();
        let mut open = vec![block];
        loop {
            while let Some(from) = open.pop() {
                for (next, position) in taken(engine.graph, &engine.values, from) {
                    if from != block && has_decided(engine, from, next, block) {
                        region.left_out.insert((next, position));
                    } else if from != block && is_barred(engine, block, &seen, from, (next, position)) {
                        barred.push((from, (next, position)));
                    } else if Some(next) != join && cfg.is_reachable(next) && seen.insert(next) {
                        *visits = visits.checked_sub(1)?;
                        region.blocks.push(next);
                        open.push(next);
                    }
                }
            }
            barred.retain(|&(from, (next, position))| {
                let holds = is_barred(engine, block, &seen, from, (next, position));
                if !holds && Some(next) != join && cfg.is_reachable(next) && seen.insert(next) {
                    region.blocks.push(next);
                    open.push(next);
                }
                holds
            });
            if open.is_empty() {
                break;
            }
        }
        region.left_out.extend(barred.into_iter().map(|(_, edge)| edge));
        Some(region)
    }

    /// Whether some edges are left out.
    pub(super) fn is_narrowed(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// The first block of a region that all paths through it lead to, and the region up to there; none where that is its
    /// end.
    pub(super) fn nearer_join(
        &self,
        engine: &Engine<'_, '_>,
        block: NodeIndex,
        join: Option<NodeIndex>,
        visits: &mut usize,
    ) -> Option<Option<(NodeIndex, Self)>> {
        let cfg = &engine.facts.cfg;
        let mut candidates: Vec<NodeIndex> =
            self.blocks.iter().copied().filter(|inside| *inside != block).collect();
        candidates.sort_unstable_by_key(|inside| cfg.place(*inside));
        for candidate in candidates {
            let before = Self::new(engine, block, Some(candidate), visits)?;
            let leaves = |inside: &NodeIndex| {
                let mut next = taken(engine.graph, &engine.values, *inside).peekable();
                next.peek().is_none()
                    || next.any(|edge| Some(edge.0) == join && !before.left_out.contains(&edge))
            };
            if !before.blocks.iter().chain([&block]).any(leaves) {
                return Some(Some((candidate, before)));
            }
        }
        Some(None)
    }
}

/// The edges on which control can leave a block.
pub(super) fn taken<'g>(
    graph: &'g Graph,
    values: &'g Values,
    block: NodeIndex,
) -> impl Iterator<Item = Edge> + use<'g> {
    graph.successors(block).iter().filter_map(|&(next, position)| {
        let edge = (NodeIndex::new(next as usize), position as usize);
        values.is_taken(graph, edge.0, edge.1).then_some(edge)
    })
}

/// Whether threads that are at a block have passed a branch on the way that no turn of a loop decides otherwise, and did
/// not go to `next` there.
fn has_decided(engine: &Engine<'_, '_>, branch: NodeIndex, next: NodeIndex, block: NodeIndex) -> bool {
    let (facts, graph) = (engine.facts, engine.graph);
    if !facts.cfg.is_fork(branch) || !facts.cfg.dominates(branch, block) {
        return false;
    }
    let only = |target: NodeIndex| {
        let mut from = graph.predecessors(target).enumerate().filter(|(_, (from, _))| *from == branch);
        match (from.next(), from.next()) {
            (Some((position, _)), None) => graph.condition(target, position),
            _ => None,
        }
    };
    if only(next).is_none() {
        return false;
    }
    // The other side is on every path to the block.
    let is_on_the_way = |(other, _): &(u32, u32)| {
        let other = NodeIndex::new(*other as usize);
        other != next && only(other).is_some() && facts.cfg.dominates(other, block)
    };
    let guard = facts.cfg.instructions(branch).last().and_then(|last| graph.guard(last));
    guard
        .is_some_and(|guard| graph.successors(branch).iter().any(is_on_the_way) && engine.is_invariant(guard))
}

/// Whether those who come from the branch at the end of `block` do not take an edge: a value decides about it that was
/// joined since then, and all that the ways from there bring along says no.
fn is_barred(
    engine: &Engine<'_, '_>,
    block: NodeIndex,
    seen: &FxHashSet<NodeIndex>,
    from: NodeIndex,
    (next, position): Edge,
) -> bool {
    let (cfg, graph) = (&engine.facts.cfg, engine.graph);
    let Some(condition) = graph.condition(next, position) else { return false };
    let guard = cfg.instructions(from).last().and_then(|last| graph.guard(last));
    let Some(fact) = guard.and_then(|guard| engine.values.of(guard)) else { return false };
    let sum = engine.sum(fact);
    let mut terms = sum.terms();
    let (Some((base, 1)), None) = (terms.next(), terms.next()) else { return false };
    let Base::Value(value) = engine.base(base) else { return false };
    let Kind::Joined { block: at } = graph.kind(value) else { return false };
    let inputs = graph.inputs(value);
    // Else it may be what it was before the branch.
    if !seen.contains(&at) || cfg.dominates(at, block) || inputs.len() > graph.predecessor_count(at) {
        return false;
    }
    graph.predecessors(at).zip(inputs).enumerate().all(|(position, ((before, _), &input))| {
        let comes = (before == block || seen.contains(&before)) && engine.is_taken(at, position);
        let number = || engine.values.of(input)?.number.value();
        !comes || number().is_some_and(|number| (number ^ sum.offset()) & 1 != u64::from(condition.value))
    })
}
