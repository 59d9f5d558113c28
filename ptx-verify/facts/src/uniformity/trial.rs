//! What threads compute of their numbers alone, tried for each thread of a block.
//!
//! Compilers count the turns of a loop over a block's elements ahead, and divide by multiplication: no sum tells any more
//! that all lanes of a warp have as many, or the same quotient. A thousand threads are soon tried.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::special::SpecialRegister;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Analysis, Level, Uniformity};
use crate::evaluate::Shape;
use crate::values::{Engine, Kind, ValueId, width};

/// The lanes of a warp.
const LANES: u32 = 32;
/// The threads of a block, at most.
const MAX_THREADS: u32 = 1024;
/// Steps of a computation; a longer one is not tried.
const MAX_STEPS: usize = 64;
/// Steps for all threads that are tried in a function; when they are used up, no more is.
const MAX_WORK: usize = 1 << 20;
/// Conditions on the way to a block that are tried together.
const MAX_CONDITIONS: usize = 8;
/// Predicates of them that are the same for a warp, and otherwise unknown.
const MAX_ANY: u32 = 3;
/// Blocks of a loop on the way.
const MAX_BLOCKS: usize = 64;

/// What was tried.
#[derive(Default)]
pub(super) struct Trials {
    work: usize,
    known: FxHashMap<ValueId, bool>,
}

/// Where a number comes from.
#[derive(Clone, Copy)]
enum Source {
    Number(u64),
    /// The number of the thread in its row.
    Thread,
    Lane,
    /// A predicate that is the same for all lanes of a warp, whatever it is.
    Any(u32),
    /// The result of a step.
    Step(usize),
}

/// A computation, in order; the last step is its result.
#[derive(Default)]
struct Steps {
    steps: Vec<(Shape, [Source; 4])>,
    of: FxHashMap<ValueId, Source>,
    /// How many predicates there are that may be anything.
    any: u32,
}

impl Steps {
    /// Adds those that lead to a value; none where something else than the number of the thread decides, but for predicates that are
    /// the same for a warp.
    fn to(
        &mut self,
        engine: &Engine<'_, '_>,
        value: ValueId,
        is_same: &dyn Fn(ValueId) -> bool,
    ) -> Option<Source> {
        if let Some(&source) = self.of.get(&value) {
            return Some(source);
        }
        let number = engine.values.of(value).and_then(|fact| fact.number.value());
        let source = match number {
            Some(number) => Source::Number(number),
            None => self.computation(engine, value, is_same)?,
        };
        self.of.insert(value, source);
        Some(source)
    }

    fn computation(
        &mut self,
        engine: &Engine<'_, '_>,
        value: ValueId,
        is_same: &dyn Fn(ValueId) -> bool,
    ) -> Option<Source> {
        let (facts, graph) = (engine.facts(), engine.graph());
        let Kind::Computed { instruction, at: Some(at) } = graph.kind(value) else { return None };
        let operands = facts.body.operands(Handle::new(instruction));
        let (Operand::Register { register, .. }, sources) = operands.split_first()? else { return None };
        if graph.guard(instruction).is_some() || facts.uses().all()[at as usize].register != *register {
            return None;
        }
        let bits = width(facts.body.register_type(*register)?);
        let shape = Shape::of(facts.instance(instruction)?, bits)?;
        if sources.len() > 4 {
            return None;
        }
        let mut from = [Source::Number(0); 4];
        for (index, (source, operand)) in from.iter_mut().zip(sources).enumerate() {
            *source = match *operand {
                Operand::Integer { bits, .. } => Source::Number(bits),
                Operand::WarpSize => Source::Number(u64::from(LANES)),
                Operand::Special(SpecialRegister::TID_X) => Source::Thread,
                Operand::Special(SpecialRegister::LANEID) => Source::Lane,
                Operand::Register { register, .. } => {
                    let range = facts.uses().range(instruction);
                    let mut reads = range.filter(|&at| facts.uses().all()[at].operand() == index + 1);
                    let read = graph.read(reads.next()?)?;
                    let is_predicate =
                        facts.body.register_type(register).is_some_and(|kind| width(kind) == 1);
                    match self.to(engine, read, is_same) {
                        Some(source) => source,
                        None if is_predicate && self.any < MAX_ANY && is_same(read) => {
                            self.any += 1;
                            let any = Source::Any(self.any - 1);
                            self.of.insert(read, any);
                            any
                        }
                        None => return None,
                    }
                }
                _ => return None,
            };
        }
        if self.steps.len() == MAX_STEPS {
            return None;
        }
        self.steps.push((shape, from));
        Some(Source::Step(self.steps.len() - 1))
    }

    /// Whether what a function makes of the results is the same for all lanes of a warp, in each warp that a block may have.
    /// `work` counts the steps.
    fn are_same_in_warps<T: PartialEq>(
        &self,
        engine: &Engine<'_, '_>,
        work: &mut usize,
        told: impl Fn(&dyn Fn(Source) -> u64) -> T,
    ) -> bool {
        let function = engine.facts().function;
        let said = function.required_threads().or_else(|| function.max_threads());
        let said =
            said.and_then(|extents| extents.iter().try_fold(1_u32, |all, each| all.checked_mul(*each)));
        let threads = said.unwrap_or(MAX_THREADS).min(MAX_THREADS);
        let mut results = vec![0; self.steps.len()];
        let mut first = None;
        // Each warp with all that the predicates may be.
        let tries = (0..1_u32 << self.any).flat_map(|any| (0..threads).map(move |thread| (any, thread)));
        for (any, thread) in tries {
            *work += self.steps.len();
            if *work > MAX_WORK {
                return false;
            }
            let number = |results: &[u64], source: Source| match source {
                Source::Number(number) => number,
                Source::Thread => thread.into(),
                Source::Lane => (thread % LANES).into(),
                Source::Any(index) => (any >> index & 1).into(),
                Source::Step(step) => results[step],
            };
            for (index, (shape, from)) in self.steps.iter().enumerate() {
                let numbers = from.map(|source| number(&results, source));
                let Some(result) = shape.evaluate(numbers) else { return false };
                results[index] = result;
            }
            let own = Some(told(&|source| number(&results, source)));
            if thread % LANES == 0 {
                first = own;
            } else if own != first {
                return false;
            }
        }
        true
    }
}

impl Analysis<'_, '_> {
    /// Whether all lanes of a warp have the same of a predicate or a number, in each warp that a block may have.
    pub(super) fn is_same_by_trial(&mut self, value: ValueId) -> bool {
        if !self.engine.values.has_whole_warps() {
            return false;
        }
        if let Some(&known) = self.trials.known.get(&value) {
            return known;
        }
        let mut steps = Steps::default();
        let source = steps.to(&self.engine, value, &|_| false);
        let work = &mut self.trials.work;
        let is_same =
            source.is_some_and(|source| steps.are_same_in_warps(&self.engine, work, |number| number(source)));
        self.trials.known.insert(value, is_same);
        is_same
    }
}

impl Uniformity {
    /// Whether each warp comes to a block with all of its lanes or with none, though they part before it, by what the
    /// conditions on the way say of each thread's number. `work` counts the steps of what was tried.
    pub(super) fn comes_whole_by_trial(
        &self,
        engine: &Engine<'_, '_>,
        block: NodeIndex,
        work: &mut usize,
    ) -> bool {
        if !engine.values.has_whole_warps() {
            return false;
        }
        let Some(conditions) = self.conditions_of(engine, block) else { return false };
        let mut steps = Steps::default();
        let mut tried = Vec::new();
        for (guard, value) in conditions {
            let is_same = |value: ValueId| self.of(value).level() != Some(Level::Lanes);
            match steps.to(engine, guard, &is_same) {
                Some(source) => tried.push((source, value)),
                // What is the same for a warp lets all of it come, or nobody.
                None if self.of(guard).level() != Some(Level::Lanes) => {}
                None => return false,
            }
        }
        !tried.is_empty()
            && steps.are_same_in_warps(engine, work, |number| {
                tried.iter().all(|&(source, value)| (number(source) & 1 != 0) == value)
            })
    }

    /// The only edge to a block but for those of a loop that begins there, of which warps leave all together.
    fn only_entry(&self, engine: &Engine<'_, '_>, block: NodeIndex) -> Option<(usize, NodeIndex)> {
        let (facts, graph) = (engine.facts(), engine.graph());
        let mut entries = None;
        let mut inside = FxHashSet::default();
        for (position, (from, _)) in graph.predecessors(block).enumerate() {
            if facts.cfg.dominates(block, from) {
                inside.extend(facts.cfg.natural_loop(block, from, MAX_BLOCKS)?);
            } else if entries.replace((position, from)).is_some() {
                return None;
            }
        }
        let parts = |from: &NodeIndex| {
            let next = graph.successors(*from);
            let leaves = next.iter().any(|(next, _)| !inside.contains(&NodeIndex::new(*next as usize)));
            let last = facts.cfg.instructions(*from).last();
            let are_same = |guard| self.of(guard).level() != Some(Level::Lanes);
            leaves && next.len() > 1 && !last.and_then(|last| graph.guard(last)).is_some_and(are_same)
        };
        entries.filter(|_| !inside.iter().any(parts))
    }

    /// The predicates with the values under which lanes of a whole warp come to a block, and only then; none where something
    /// else than branches decides, or several ways lead there.
    fn conditions_of(&self, engine: &Engine<'_, '_>, block: NodeIndex) -> Option<Vec<(ValueId, bool)>> {
        let (facts, graph) = (engine.facts(), engine.graph());
        let have_parted =
            |block: NodeIndex| self.control.cause(block).is_some_and(|(level, _)| level == Level::Lanes);
        let mut found = Vec::new();
        let mut at = block;
        while have_parted(at) {
            if found.len() == MAX_CONDITIONS {
                return None;
            }
            let (position, before) = self.only_entry(engine, at)?;
            if let Some(condition) = graph.condition(at, position) {
                let guard = graph.guard(facts.cfg.instructions(before).last()?)?;
                found.push((guard, condition.value));
            } else if graph.successors(before).len() != 1 {
                return None;
            }
            at = before;
        }
        Some(found)
    }
}
