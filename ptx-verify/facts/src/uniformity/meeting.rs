//! Which threads have to come to an instruction together.

mod even;
mod together;
mod told;
mod whole;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Convergence, Event, Instance};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

use super::vary::of_special;
use super::{Cause, Divergent, Uniformity, Vary};
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};
use crate::values::linear::{Base, Sum};
use crate::values::{Engine, Graph, Slice, ValueId, Values};
use together::Companies;
pub(crate) use whole::{came_from, only_condition};

/// Who is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Warps.
    Warps,
    /// Lanes of a warp.
    Lanes,
}

/// What is met is a sum, to which each meeting adds its number.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Blocks visited for the question whether both sides of a branch meet: as many for each block, and as many in any
/// function.
const VISITS_PER_BLOCK: usize = 32;
const MIN_VISITS: usize = 4000;

/// What an instruction needs of those who come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    /// From which difference on it is a danger.
    least: Level,
    /// Something that is equal for instructions at which threads of different paths can meet; none where all have to be
    /// at this one.
    place: Option<u64>,
    /// Whether only the lanes of a mask have to come.
    of_mask: bool,
}

/// Whether an instruction is one that threads have to come to together.
#[inline]
pub(super) fn is_meeting(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| instance.effects.convergence != Convergence::None)
}

/// What an instruction needs; none where nothing is known to be needed.
fn need(engine: &mut Engine<'_, '_>, instruction: u32) -> Option<Need> {
    let facts = engine.facts();
    let instance = facts.instance(instruction)?;
    let effects = &instance.effects;
    let operands = facts.body.operands(Handle::new(instruction));
    let here = |least| Some(Need { least, place: None, of_mask: false });
    let at_place = |engine: &mut Engine<'_, '_>, least, of_mask| {
        Some(Need { least, place: Some(place(engine, instruction, instance)), of_mask })
    };
    match effects.convergence {
        Convergence::None => None,
        // Nobody waits for those who wait, only for those who arrive.
        Convergence::Participants if effects.event == Some(Event::ClusterWait) => None,
        Convergence::Aligned if effects.event == Some(Event::ClusterWait) => here(Level::Lanes),
        Convergence::Aligned if effects.barrier && is_counted(instance, operands) => here(Level::Lanes),
        Convergence::Aligned if effects.barrier => {
            // Lanes have to be together; warps may come from several places.
            at_place(engine, Level::Warps, false)
        }
        Convergence::Aligned => here(Level::Lanes),
        Convergence::Participants => match mask_of(engine, instruction, instance) {
            // All lanes of the mask meet, wherever they are, if they say the same.
            Mask::All => at_place(engine, Level::Lanes, false),
            Mask::Some => at_place(engine, Level::Lanes, true),
            Mask::None if effects.barrier && !is_counted(instance, operands) => {
                at_place(engine, Level::Warps, false)
            }
            Mask::None => None,
        },
    }
}

/// Whether lanes may meet at different places: not where the instruction is `.aligned`.
fn lanes_may_part(instance: &Instance) -> bool {
    instance.effects.convergence == Convergence::Participants
}

/// The operand that tells for how many threads a barrier is.
const COUNT: &str = "b";

/// Whether a barrier is for a number of threads that an operand tells.
fn is_counted(instance: &Instance, operands: &[Operand]) -> bool {
    let counts = instance.operands.iter().filter(|spec| spec.name == COUNT).count();
    counts > 0 && operands.len() == instance.operands.len()
}

enum Mask {
    All,
    Some,
    None,
}

/// The lanes that the mask of an instruction names.
fn mask_of(engine: &mut Engine<'_, '_>, instruction: u32, instance: &Instance) -> Mask {
    let Some(index) = instance.lane_mask() else { return Mask::None };
    let mask = engine.operand(instruction, index, 32);
    match mask.and_then(|mask| mask.number.value()) {
        Some(mask) if mask == u64::from(u32::MAX) => Mask::All,
        _ => Mask::Some,
    }
}

/// A number for what has to be equal where threads meet: the instruction with its modifiers, and which barrier it is.
fn place(engine: &mut Engine<'_, '_>, instruction: u32, instance: &Instance) -> u64 {
    let mut hasher = FxHasher::default();
    if instance.effects.barrier {
        let first = engine.operand(instruction, 0, 32);
        first.map(|first| first.form).hash(&mut hasher);
    } else {
        instance.canonical.hash(&mut hasher);
    }
    hasher.finish() | 1
}

impl Uniformity {
    /// Whether a sum is the same for all who come to a block, where threads count that differ as the level says.
    fn is_uniform_at(&self, engine: &Engine<'_, '_>, sum: &Sum, block: NodeIndex, least: Level) -> bool {
        let forms = engine.values.forms();
        let differs = |level: Option<Level>| level.is_some_and(|level| level >= least);
        let is_same_value = |value: ValueId| {
            let left = self.control.between(engine.block_of(value), block).and_then(Vary::level);
            !differs(self.of(value).level()) && !differs(left)
        };
        sum.terms().all(|(base, _)| match forms.what(base) {
            Base::Lane | Base::Unknown(_) => false,
            Base::Warp | Base::Rows(..) => !differs(Some(Level::Warps)),
            Base::Special(register) => !differs(of_special(register).level()),
            Base::Symbol { .. } | Base::Code(_) | Base::Loaded { .. } => true,
            Base::Value(value) | Base::Steps(value) => is_same_value(value),
            // The first value that is this operation may be the same for those only who came to it.
            Base::Operation { .. } => {
                !self.by_branches.has(base) && forms.value(base).is_some_and(is_same_value)
            }
        })
    }

    /// The instructions that threads have to reach together though not all of them do, in order of the text.
    pub(super) fn meetings(&self, engine: &mut Engine<'_, '_>) -> Vec<Divergent> {
        let (facts, graph) = (engine.facts(), engine.graph());
        let mut found = Vec::new();
        let mut balanced: FxHashMap<(u32, bool), bool> = FxHashMap::default();
        let mut evened: FxHashMap<(u32, NodeIndex, bool), bool> = FxHashMap::default();
        let mut masks: Option<Vec<(u32, ValueId)>> = None;
        let visits = MIN_VISITS + VISITS_PER_BLOCK * facts.cfg.block_count();
        let mut companies = Companies::new(visits);
        let mut visits_of_loops = visits;
        let mut work = 0;
        for &block in facts.cfg.reverse_postorder() {
            if !engine.is_reached(block) {
                continue;
            }
            for instruction in facts.cfg.instructions(block) {
                let Some(need) =
                    need(engine, instruction).filter(|_| engine.runs(instruction) != Some(false))
                else {
                    continue;
                };
                let here = match (need.of_mask, facts.instance(instruction)) {
                    (true, Some(instance)) => {
                        let left_out = self.leaves_out(engine, instruction, instance);
                        left_out.or_else(|| self.unnamed(engine, instruction, instance))
                    }
                    _ => self.cause(facts, graph, instruction, need.least),
                };
                let Some(here) = here else { continue };
                if self.counts_lone_lanes(facts, graph, instruction) {
                    continue;
                }
                let Cause::Branch(branch) = here.cause else {
                    found.push(here);
                    continue;
                };
                let here_block = facts.cfg.block_of(Handle::new(instruction));
                // Where all come, lanes come that a mask does not name.
                if !need.of_mask && self.comes_whole(engine, branch, here_block, here.level, &mut companies) {
                    continue;
                }
                // Where all lanes of a warp come, nothing is needed of other warps.
                if !need.of_mask
                    && need.least == Level::Lanes
                    && self.comes_whole_by_trial(engine, here_block, &mut work)
                {
                    continue;
                }
                if need.of_mask || facts.instance(instruction).is_some_and(lanes_may_part) {
                    let masks = masks.get_or_insert_with(|| whole::active_masks(engine));
                    if whole::is_whole(engine, masks, branch, here_block)
                        || whole::is_agreed(engine, self, masks, branch, here_block)
                    {
                        continue;
                    }
                }
                let branching = facts.cfg.block_of(Handle::new(branch));
                let parts = here.level == Level::Warps
                    || facts.instance(instruction).is_some_and(lanes_may_part)
                    // Each side waits once more and is gone.
                    || self.control.join(branching).is_none();
                let meet = need.place.is_some()
                    && parts
                    && (*balanced.entry((branch, need.of_mask)).or_insert_with(|| {
                        self.is_balanced(engine, branch, here.level, need.of_mask, &mut companies.visits)
                    }) || *evened.entry((branch, here_block, need.of_mask)).or_insert_with(|| {
                        self.is_evened_out(
                            engine,
                            (branch, here_block),
                            here.level,
                            &mut visits_of_loops,
                            &mut |engine, block| met_in(engine, block, here.level, need.of_mask),
                        )
                    }));
                let is_told = |engine: &mut Engine<'_, '_>, visits: &mut usize| {
                    here.level == Level::Warps
                        && need.place.is_some_and(|place| told::is_told(engine, branching, place, visits))
                };
                if !meet && is_told(engine, &mut companies.visits) {
                    continue;
                }
                if !meet {
                    found.push(here);
                } else if need.of_mask
                    && let Some(instance) = facts.instance(instruction)
                {
                    // Those that come from other places have to be named there.
                    found.extend(self.unnamed(engine, instruction, instance));
                }
            }
        }
        found.sort_by_key(|each| each.instruction);
        found
    }

    /// Whether a barrier is for a number of threads that differs from lane to lane. Who comes to it has to say the same as
    /// the others, so a warp comes as one thread: one lane alone, or all with what one of them has counted.
    fn counts_lone_lanes(&self, facts: &FunctionFacts<'_>, graph: &Graph, instruction: u32) -> bool {
        let Some(instance) = facts.instance(instruction).filter(|instance| instance.effects.barrier) else {
            return false;
        };
        let operands = facts.body.operands(Handle::new(instruction));
        let Some(count) = instance.operands.iter().position(|spec| spec.name == COUNT) else { return false };
        let read = |at: &usize| facts.uses().all()[*at].operand() == count;
        let count = facts.uses().range(instruction).find(read).and_then(|at| graph.read(at));
        // What was not followed has all bits, more than a count has.
        let differs = |vary: Vary| vary.level() == Some(Level::Lanes) && vary.lanes >> u32::BITS == 0;
        is_counted(instance, operands) && count.is_some_and(|count| differs(self.of(count)))
    }

    /// Whether all paths from a branch to where they come together lead past the same meetings, each as often.
    /// Where that takes too long, it is taken for so.
    fn is_balanced(
        &self,
        engine: &mut Engine<'_, '_>,
        branch: u32,
        level: Level,
        of_mask: bool,
        visits: &mut usize,
    ) -> bool {
        let (facts, graph) = (engine.facts(), engine.graph());
        let block = facts.cfg.block_of(Handle::new(branch));
        let join = self.control.join(block);
        // What all paths to a block have met, as a sum.
        let mut met: FxHashMap<NodeIndex, u64> = FxHashMap::default();
        let mut at_end = None;
        let mut open: Vec<(NodeIndex, u64)> =
            graph.successors(block).iter().map(|(next, _)| (NodeIndex::new(*next as usize), 0)).collect();
        while let Some((next, before)) = open.pop() {
            match met.insert(next, before) {
                Some(other) if other != before => return false,
                Some(_) => continue,
                None if Some(next) == join => continue,
                None => {}
            }
            let Some(left) = visits.checked_sub(1) else { return true };
            *visits = left;
            let Some(here) = met_in(engine, next, level, of_mask) else { return false };
            let after = before.wrapping_add(here);
            if graph.successors(next).is_empty() && facts.ends_grid(next) {
                continue;
            }
            if graph.successors(next).is_empty() && *at_end.get_or_insert(after) != after {
                // Who leaves without waiting is not waited for.
                return after == 0 || at_end == Some(0);
            }
            open.extend(
                graph.successors(next).iter().map(|(next, _)| (NodeIndex::new(*next as usize), after)),
            );
        }
        true
    }
}

/// What threads meet in a block that may meet at several places, as a sum; none where a guard decides.
fn met_in(engine: &mut Engine<'_, '_>, block: NodeIndex, level: Level, of_mask: bool) -> Option<u64> {
    let facts = engine.facts();
    let mut met = 0_u64;
    for instruction in facts.cfg.instructions(block) {
        let Some(need) = need(engine, instruction).filter(|need| need.of_mask == of_mask) else { continue };
        // Lanes that meet each other are no matter of whole warps.
        let Some(place) = need.place.filter(|_| need.least <= level) else { continue };
        if facts.is_guarded(instruction) {
            return None;
        }
        met = met.wrapping_add(place.wrapping_mul(SPREAD));
    }
    Some(met)
}

/// From which difference on it is a danger to call a function: that of the most demanding instruction that every path
/// through it leads to. `of_call` is the same for the function that a call goes to.
#[must_use]
pub fn needed_on_every_path(
    facts: &FunctionFacts<'_>,
    graph: &Graph,
    of_call: impl Fn(u32) -> Option<Level>,
) -> Option<Level> {
    let slice = Slice::of(facts, graph, super::deciding(facts, graph));
    let values = Values::of_slice(facts, graph, &slice, true);
    let mut engine = Engine::again(facts, graph, values);
    let mut most_demanding = None;
    for &block in facts.cfg.reverse_postorder() {
        if most_demanding == Some(Level::Warps) {
            break;
        }
        let mut least: Option<Level> = None;
        for instruction in facts.cfg.instructions(block) {
            if facts.is_guarded(instruction) {
                continue;
            }
            let needed = match facts.is_call(instruction) {
                true => of_call(instruction),
                false => need(&mut engine, instruction).filter(|need| !need.of_mask).map(|need| need.least),
            };
            least = least.into_iter().chain(needed).min();
        }
        if let Some(level) = least
            && !is_avoidable(facts, block)
        {
            most_demanding = Some(most_demanding.map_or(level, |known: Level| known.min(level)));
        }
    }
    most_demanding
}

/// Whether a path leads through the function without coming to a block.
fn is_avoidable(facts: &FunctionFacts<'_>, avoided: NodeIndex) -> bool {
    let first = facts.cfg.instructions(avoided).start;
    Reach::to(facts, Ends::Function, &[first]).at_entry().is_some()
}
