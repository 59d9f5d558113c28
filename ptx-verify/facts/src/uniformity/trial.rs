//! What threads compute of their numbers alone, tried for each thread of a block.
//!
//! Compilers count the turns of a loop over a block's elements ahead, and divide by multiplication: no sum tells any more
//! that all lanes of a warp have as many, or the same quotient. A thousand threads are soon tried.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::special::SpecialRegister;
use rustc_hash::FxHashMap;

use super::Analysis;
use crate::evaluate::Shape;
use crate::values::{Kind, ValueId, width};

/// The lanes of a warp.
const LANES: u32 = 32;
/// The threads of a block, at most.
const MAX_THREADS: u32 = 1024;
/// Steps of a computation; a longer one is not tried.
const MAX_STEPS: usize = 64;
/// Steps for all threads that are tried in a function; when they are used up, no more is.
const MAX_WORK: usize = 1 << 20;

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
    /// The result of a step.
    Step(usize),
}

/// A computation, in order; the last step is its result.
#[derive(Default)]
struct Steps {
    steps: Vec<(Shape, [Source; 4])>,
    of: FxHashMap<ValueId, Source>,
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
        let is_same = self.steps_of(value, &mut steps).is_some() && self.is_same_in_warps(&steps);
        self.trials.known.insert(value, is_same);
        is_same
    }

    /// The steps that lead to a value; none where something else than the number of the thread decides.
    fn steps_of(&self, value: ValueId, steps: &mut Steps) -> Option<Source> {
        if let Some(&source) = steps.of.get(&value) {
            return Some(source);
        }
        let number = self.engine.values.of(value).and_then(|fact| fact.number.value());
        let source = match number {
            Some(number) => Source::Number(number),
            None => self.computation(value, steps)?,
        };
        steps.of.insert(value, source);
        Some(source)
    }

    fn computation(&self, value: ValueId, steps: &mut Steps) -> Option<Source> {
        let (facts, graph) = (self.engine.facts, self.engine.graph);
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
                Operand::Register { .. } => {
                    let range = facts.uses().range(instruction);
                    let mut reads = range.filter(|&at| facts.uses().all()[at].operand() == index + 1);
                    self.steps_of(graph.read(reads.next()?)?, steps)?
                }
                _ => return None,
            };
        }
        if steps.steps.len() == MAX_STEPS {
            return None;
        }
        steps.steps.push((shape, from));
        Some(Source::Step(steps.steps.len() - 1))
    }

    fn is_same_in_warps(&mut self, steps: &Steps) -> bool {
        let function = self.engine.facts.function;
        let said = function.required_threads().or_else(|| function.max_threads());
        let said =
            said.and_then(|extents| extents.iter().try_fold(1_u32, |all, each| all.checked_mul(*each)));
        let threads = said.unwrap_or(MAX_THREADS).min(MAX_THREADS);
        let mut results = vec![0; steps.steps.len()];
        let mut first = None;
        for thread in 0..threads {
            self.trials.work += steps.steps.len();
            if self.trials.work > MAX_WORK {
                return false;
            }
            for (index, (shape, from)) in steps.steps.iter().enumerate() {
                let numbers = from.map(|source| match source {
                    Source::Number(number) => number,
                    Source::Thread => thread.into(),
                    Source::Lane => (thread % LANES).into(),
                    Source::Step(step) => results[step],
                });
                let Some(result) = shape.evaluate(numbers) else { return false };
                results[index] = result;
            }
            let last = results.last().copied();
            if thread % LANES == 0 {
                first = last;
            } else if last != first {
                return false;
            }
        }
        true
    }
}
