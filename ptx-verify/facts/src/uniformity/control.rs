//! Which blocks only some threads run, because of which branch.

use std::borrow::Cow;

use petgraph::graph::NodeIndex;
use ptx_ir::isa::Control as Flow;

use super::meeting::is_meeting;
use super::region::{Region, taken};
use super::{Level, Vary};
use crate::FunctionFacts;
use crate::components::cycles;
use crate::postdominators::common_successors;
use crate::values::{Assumption, Engine, Graph, ValueId, Values};

/// Branches that lanes leave loops by; the loops of more are not told apart.
const MAX_LOOPS: usize = 64;
/// Blocks visited for the regions of branches: as many for each block, and as many in any function.
const VISITS_PER_BLOCK: usize = 64;
const MIN_VISITS: usize = 10_000;
/// Blocks for which it is asked whether a thread at a branch can come there: as many for each block.
const QUESTIONS_PER_BLOCK: usize = 8;

/// A choice between some of the values that a block joins: threads that a branch has parted meet there again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// How the branch varies.
    pub(super) vary: Vary,
    /// The edges on which threads come from that branch, by position, as bits.
    edges: u64,
}

impl Choice {
    /// Whether threads come from the branch on the edge of this position. Of far ones that is not known.
    pub(super) const fn has(&self, position: usize) -> bool {
        position >= u64::BITS as usize || self.edges >> position & 1 != 0
    }
}

/// What is known of the control of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// Where all paths from each block come together; none where that is the end of the function.
    joins: Vec<Option<u32>>,
    /// The same for those who do not leave the function before; found when it is asked for.
    staying: Option<Vec<Option<u32>>>,
    /// For each block how much those differ that come to it, and the branch that parts them: by lanes, by warps.
    lanes: Vec<Option<u32>>,
    warps: Vec<Option<u32>>,
    /// For each block how the values that join there are chosen.
    choices: Vec<Vec<Choice>>,
    /// The loops that each block is in and that threads leave in different turns, as bits.
    loops: Vec<u64>,
    /// The branch of each loop, and how it varies.
    loop_branches: Vec<(u32, Vary)>,
    /// What was told of each branch.
    told: Vec<Vary>,
    /// Blocks to which no warp comes that a branch parts.
    spared: Vec<Spared>,
    visits: usize,
    questions: usize,
}

/// What is known of the control of a function, as far as values are computed of it.
#[derive(Debug)]
pub(super) struct Shape {
    choices: Vec<Vec<Choice>>,
    loops: Vec<u64>,
    loop_branches: Vec<(u32, Vary)>,
}

/// A block to which only warps come of which all lanes go the same way at a branch.
#[derive(Clone, Debug)]
struct Spared {
    block: NodeIndex,
    branch: u32,
    /// The predicates that say so, each the same in all lanes of a warp.
    by: Vec<ValueId>,
}

impl Control {
    pub(super) fn new(facts: &FunctionFacts<'_>) -> Self {
        let count = facts.cfg.block_count();
        Self {
            joins: joins(facts, |_| false),
            staying: None,
            lanes: vec![None; count],
            warps: vec![None; count],
            choices: vec![Vec::new(); count],
            loops: vec![0; count],
            loop_branches: Vec::new(),
            told: vec![Vary::NONE; count],
            spared: Vec::new(),
            visits: MIN_VISITS + VISITS_PER_BLOCK * count,
            questions: QUESTIONS_PER_BLOCK * count,
        }
    }

    /// What values are computed of.
    pub(super) fn shape(&self) -> Shape {
        Shape {
            choices: self.choices.clone(),
            loops: self.loops.clone(),
            loop_branches: self.loop_branches.clone(),
        }
    }

    /// Tells the blocks for which that is not what it was before.
    pub(super) fn differences(&self, before: &Shape, mut differs: impl FnMut(usize)) {
        let told = self.loop_branches.iter().zip(0..);
        let changed = told.filter(|(branch, index)| before.loop_branches.get(*index) != Some(branch));
        let changed = changed.fold(0_u64, |all, (_, index)| all | 1 << index);
        for (block, (choices, loops)) in self.choices.iter().zip(&self.loops).enumerate() {
            if loops & changed != 0 || *loops != before.loops[block] || *choices != before.choices[block] {
                differs(block);
            }
        }
    }

    /// Who is told apart at a block, and by which branch.
    pub(super) fn cause(&self, block: NodeIndex) -> Option<(Level, u32)> {
        let lanes = self.lanes.get(block.index()).copied().flatten();
        let warps = self.warps.get(block.index()).copied().flatten();
        lanes.map(|branch| (Level::Lanes, branch)).or(warps.map(|branch| (Level::Warps, branch)))
    }

    /// Where the paths from a block come together.
    pub(super) fn join(&self, block: NodeIndex) -> Option<NodeIndex> {
        self.joins.get(block.index()).copied().flatten().map(|join| NodeIndex::new(join as usize))
    }

    /// Who is told apart by the branch at the end of a block.
    pub(super) fn parts(&self, block: NodeIndex) -> Option<Level> {
        self.told[block.index()].level()
    }

    /// How the values that join at a block are chosen, where that differs between threads.
    pub(super) fn choices(&self, block: NodeIndex) -> &[Choice] {
        &self.choices[block.index()]
    }

    /// The same of all choices together.
    pub(super) fn at_join(&self, block: NodeIndex) -> Option<Vary> {
        self.choices(block).iter().map(|choice| choice.vary).reduce(Vary::join)
    }

    /// Whether a block is in a loop that threads leave in different turns.
    pub(super) fn is_left(&self, block: NodeIndex) -> bool {
        self.loops[block.index()] != 0
    }

    /// How those vary that left loops between one block and another: loops that the first is in and the other is not.
    pub(super) fn between(&self, inside: NodeIndex, outside: NodeIndex) -> Option<Vary> {
        let left = self.loops[inside.index()] & !self.loops[outside.index()];
        if left == 0 {
            return None;
        }
        let branches = self.loop_branches.iter().enumerate();
        let left = branches.filter(|(index, _)| left >> index & 1 != 0);
        left.map(|(_, (_, vary))| *vary).reduce(Vary::join)
    }

    /// Takes account of what predicates are the same in all lanes no more; whether that is anything new.
    pub(super) fn review(&mut self, is_same: &impl Fn(ValueId) -> bool) -> bool {
        let mut changed = false;
        let (lanes, spared) = (&mut self.lanes, &mut self.spared);
        spared.retain(|spared| {
            let holds = spared.by.iter().all(|predicate| is_same(*predicate));
            if !holds {
                lanes[spared.block.index()].get_or_insert(spared.branch);
                changed = true;
            }
            holds
        });
        changed
    }

    /// Takes account of a branch that varies; whether that is anything new. `is_same` tells which predicates are the same
    /// in all lanes of a warp.
    pub(super) fn diverge(
        &mut self,
        engine: &Engine<'_, '_>,
        block: NodeIndex,
        branch: u32,
        vary: Vary,
        is_same: &impl Fn(ValueId) -> bool,
    ) -> Option<bool> {
        let (facts, graph, values) = (engine.facts, engine.graph, &engine.values);
        let known = self.told[block.index()];
        let vary = known.join(vary);
        if vary == known {
            return Some(false);
        }
        self.told[block.index()] = vary;
        let mut join = self.join(block).or_else(|| self.join_of_staying(engine, block));
        self.joins[block.index()] = join.map(|join| join.index() as u32);
        let mut region = Region::new(engine, block, join, &mut self.visits)?;
        if region.is_narrowed()
            && let Some((nearer, before)) = region.nearer_join(engine, block, join, &mut self.visits)?
        {
            join = Some(nearer);
            self.joins[block.index()] = Some(nearer.index() as u32);
            region = before;
        }
        let mut region = region.blocks;
        // What those do who leave the function is no matter for those who stay, unless both sides wait for the others.
        let both_sides = join.is_some() || self.both_sides_wait(facts, graph, values, block);
        let is_loop = region.contains(&block);
        // Nor is it who leaves a loop and then the function, where only warps do: barriers count those who are left. Lanes of a
        // mask have to be there.
        if both_sides || is_loop && vary.level() == Some(Level::Lanes) {
            let by_level = match vary.level() {
                Some(Level::Lanes) => &mut self.lanes,
                Some(Level::Warps) => &mut self.warps,
                None => return Some(false),
            };
            let mut at_branch = None;
            for &inside in &region {
                // Nothing is set anew between the branch and there, unless it is in a loop.
                if by_level[inside.index()].is_some() {
                    continue;
                }
                let comes = is_loop || !has_meeting(facts, inside) || {
                    let asked = self.questions.checked_sub(1);
                    self.questions = asked.unwrap_or(0);
                    asked.is_none()
                        || can_come(at_branch.get_or_insert_with(|| being_in(engine, block)), inside)
                };
                if !comes {
                    continue;
                }
                let is_asked =
                    vary.lanes != 0 && !is_loop && self.questions > 0 && has_meeting(facts, inside);
                match is_asked.then(|| decided_by_warps(engine, block, inside, is_same)).flatten() {
                    Some(by) => self.spared.push(Spared { block: inside, branch, by }),
                    None => by_level[inside.index()] = Some(branch),
                }
            }
        }
        if is_loop {
            self.enter_loop(&region, branch, vary);
        }
        region.sort_unstable_by_key(|inside| facts.cfg.place(*inside));
        region.extend(join);
        self.label(graph, values, block, &region, vary);
        Some(true)
    }

    /// Where the paths from a block come together, but for those on which threads leave the function. Only leaving counts
    /// that happens in no loop, or that turns of it do not decide: else lanes that left the loop before find others gone.
    /// None where some leave at the block itself.
    fn join_of_staying(&mut self, engine: &Engine<'_, '_>, block: NodeIndex) -> Option<NodeIndex> {
        let (facts, graph) = (engine.facts, engine.graph);
        if leaves_at(facts, block) {
            return None;
        }
        let staying = self.staying.get_or_insert_with(|| {
            let turns = in_loops(facts);
            joins(facts, |from| {
                let guard = || facts.cfg.instructions(from).last().and_then(|last| graph.guard(last));
                leaves_at(facts, from)
                    && (!turns[from.index()] || guard().is_some_and(|guard| engine.is_invariant(guard)))
            })
        });
        staying[block.index()].map(|join| NodeIndex::new(join as usize))
    }

    fn enter_loop(&mut self, region: &[NodeIndex], branch: u32, vary: Vary) {
        let known = self.loop_branches.iter().position(|(known, _)| *known == branch);
        let index = match known {
            Some(index) => index,
            None if self.loop_branches.len() < MAX_LOOPS => {
                self.loop_branches.push((branch, vary));
                self.loop_branches.len() - 1
            }
            None => return,
        };
        self.loop_branches[index].1 = vary;
        region.iter().for_each(|inside| self.loops[inside.index()] |= 1 << index);
    }

    /// Finds where disjoint paths from the branch meet: each block is labelled with the last such place on the way to it.
    fn label(&mut self, graph: &Graph, values: &Values, block: NodeIndex, region: &[NodeIndex], vary: Vary) {
        let mut labels: rustc_hash::FxHashMap<NodeIndex, NodeIndex> = rustc_hash::FxHashMap::default();
        const MAX_PASSES: usize = 3;
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for &inside in region {
                let mut label = None;
                let mut is_join = false;
                let mut edges = 0;
                for (position, (from, _)) in graph.predecessors(inside).enumerate() {
                    if !values.is_taken(graph, inside, position) {
                        continue;
                    }
                    // A side of the branch that begins here.
                    let comes = if from == block { Some(inside) } else { labels.get(&from).copied() };
                    // Who comes round a loop has met the others here before.
                    let Some(comes) = comes.filter(|comes| from == block || *comes != inside) else {
                        continue;
                    };
                    edges |= 1_u64.checked_shl(position as u32).unwrap_or(0);
                    is_join |= label.is_some_and(|known| known != comes);
                    label = Some(comes);
                }
                let Some(mut label) = label else { continue };
                if is_join {
                    label = inside;
                    add_choice(&mut self.choices[inside.index()], Choice { vary, edges });
                }
                changed |= labels.insert(inside, label) != Some(label);
            }
            if !changed {
                break;
            }
        }
    }

    /// Whether on several sides of a branch threads wait for others before they leave.
    fn both_sides_wait(
        &mut self,
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        values: &Values,
        block: NodeIndex,
    ) -> bool {
        let sides: Vec<NodeIndex> = taken(graph, values, block).map(|(next, _)| next).collect();
        let mut waits = |side: &NodeIndex| {
            let mut seen = rustc_hash::FxHashSet::from_iter([*side]);
            let mut open = vec![*side];
            while let Some(inside) = open.pop() {
                if facts.cfg.instructions(inside).any(|instruction| is_meeting(facts, instruction)) {
                    return true;
                }
                let Some(left) = self.visits.checked_sub(1) else { return false };
                self.visits = left;
                let next = taken(graph, values, inside).map(|(next, _)| next);
                open.extend(next.filter(|next| seen.insert(*next)));
            }
            false
        };
        sides.iter().filter(|side| waits(side)).count() > 1
    }
}

/// Adds a choice to those of a block. Those between values that come on the same edges are one, and of many all are.
fn add_choice(choices: &mut Vec<Choice>, new: Choice) {
    const MAX_CHOICES: usize = 8;
    let is_full = choices.len() >= MAX_CHOICES;
    match choices.iter_mut().find(|known| is_full || known.edges == new.edges) {
        Some(known) => *known = Choice { vary: known.vary.join(new.vary), edges: known.edges | new.edges },
        None => choices.push(new),
    }
}

/// Whether threads have to come together at some instruction of a block, or at one of a function that it calls.
fn has_meeting(facts: &FunctionFacts<'_>, block: NodeIndex) -> bool {
    let mut instructions = facts.cfg.instructions(block);
    instructions.any(|instruction| is_meeting(facts, instruction) || facts.is_call(instruction))
}

/// What has to hold for a thread that is at a branch.
fn being_in<'e, 'f, 'm>(engine: &'e Engine<'f, 'm>, branch: NodeIndex) -> Assumption<'e, 'f, 'm> {
    let mut assumption = Assumption::new(engine);
    assumption.be_in(branch);
    assumption
}

/// The predicates that hold for all lanes of a warp which comes to a block, if they say that none of them goes another
/// way at a branch than the others.
fn decided_by_warps(
    engine: &Engine<'_, '_>,
    branch: NodeIndex,
    block: NodeIndex,
    is_same: &impl Fn(ValueId) -> bool,
) -> Option<Vec<ValueId>> {
    let (facts, graph) = (engine.facts, engine.graph);
    let guard = facts.cfg.instructions(branch).last().and_then(|last| graph.guard(last))?;
    let guard = *engine.sum(engine.values.of(guard)?);
    let mut by = Vec::new();
    let mut assumption = Assumption::new(engine);
    assumption.be_in_by(block, |predicate| {
        let is_same = is_same(predicate);
        by.extend(is_same.then_some(predicate));
        is_same
    });
    assumption.holds(&guard).map(|_| by)
}

/// Whether such a thread may come to a block: not where what has to hold there contradicts that.
fn can_come(at_branch: &Assumption<'_, '_, '_>, block: NodeIndex) -> bool {
    let mut assumption = at_branch.clone();
    assumption.be_in(block);
    !assumption.is_impossible()
}

/// Whether a block does nothing but leave the function.
fn only_leaves(facts: &FunctionFacts<'_>, mut block: NodeIndex) -> bool {
    const MAX_BLOCKS: usize = 4;
    for _ in 0..MAX_BLOCKS {
        let does_nothing = |instruction: u32| {
            facts.instance(instruction).is_some_and(|instance| instance.effects.control != Flow::Next)
                && !facts.is_call(instruction)
        };
        if !facts.cfg.instructions(block).all(does_nothing) {
            return false;
        }
        let mut next = facts.cfg.successors(block);
        match (next.next(), next.next()) {
            (None, _) => return true,
            (Some((only, _)), None) => block = only,
            _ => return false,
        }
    }
    false
}

/// Which blocks control may come to again.
fn in_loops(facts: &FunctionFacts<'_>) -> Vec<bool> {
    cycles(&facts.cfg, |_| true).iter().map(Option::is_some).collect()
}

/// Whether some threads leave the function at the end of a block, and others go on.
fn leaves_at(facts: &FunctionFacts<'_>, block: NodeIndex) -> bool {
    let stays = |next: NodeIndex| !only_leaves(facts, next);
    let mut successors = facts.cfg.successors(block);
    match (successors.next(), successors.next()) {
        // A guarded return has one edge, to what follows.
        (Some((next, edge)), None) => edge.condition.is_some() && stays(next),
        (Some((one, _)), Some((other, _))) => stays(one) != stays(other),
        _ => false,
    }
}

/// For each block the block that all paths from it come together in, perhaps without those of who leaves the function;
/// none where that is the end of the function. A `trap` ends the whole grid, so nobody waits for who comes to it.
fn joins(facts: &FunctionFacts<'_>, only_stay: impl Fn(NodeIndex) -> bool) -> Vec<Option<u32>> {
    let blocks = || facts.cfg.graph().node_indices();
    let stays: Vec<bool> = blocks().map(only_stay).collect();
    let above = match stays.contains(&true) || blocks().any(|block| facts.ends_grid(block)) {
        true => Cow::Owned(common_successors(
            &facts.cfg,
            |block, next| !stays[block.index()] || !only_leaves(facts, next),
            |block| !stays[block.index()] && !facts.ends_grid(block),
        )),
        false => Cow::Borrowed(facts.postdominators()),
    };
    let exit = facts.cfg.block_count();
    let join = |block: NodeIndex| {
        let join = above[block.index()];
        let join = (join != u32::MAX).then(|| NodeIndex::new(join as usize))?;
        (join.index() != exit && !only_leaves(facts, join)).then_some(join.index() as u32)
    };
    blocks().map(join).collect()
}
