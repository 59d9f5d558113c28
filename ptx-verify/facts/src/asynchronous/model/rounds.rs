//! Numbers for parameters with which loops have several rounds.

use ptx_ir::isa::Computation;
use rustc_hash::{FxHashMap, FxHashSet};

use super::program::{Action, Program, Source};

/// Rounds of a loop that show how one goes on after the other, twice in a ring of two.
const ROUNDS: u64 = 4;
/// Fewer are too few.
const FEW: u64 = 3;
/// Parts of more elements are not thought of.
const MAX_PART: u64 = 1 << 16;

impl Program {
    /// A number for the parameters with which loops over parts of what they count have several rounds, where they have few with another
    /// one: parts are as large as quotients and the steps of loops tell.
    pub(super) fn parameter_of_parts(&self, other: u64) -> Option<u64> {
        let wanted = |part: &u64| (1..=MAX_PART).contains(part) && other / part < FEW;
        self.parts_of_parameters().into_iter().filter(wanted).max().map(|part| ROUNDS * part)
    }

    /// Whether no loop takes more than one of what parameters count at once.
    pub(super) fn counts_rounds(&self) -> bool {
        self.parts_of_parameters().iter().all(|part| *part == 1)
    }

    /// How many elements a part has of what parameters count.
    fn parts_of_parameters(&self) -> Vec<u64> {
        let mut parts = Vec::new();
        let mut parameters: FxHashSet<u32> = FxHashSet::default();
        // Sums: what is added to which register.
        let mut sums: FxHashMap<u32, (u32, u64)> = FxHashMap::default();
        let mut steps: FxHashMap<u32, u64> = FxHashMap::default();
        for step in &self.steps {
            match &step.action {
                Action::Load { to, parameters: true, .. } => {
                    parameters.extend(to.iter().map(|(register, _)| *register));
                }
                Action::Compute {
                    shape,
                    to: [Some(to), _],
                    from: [Source::Register(from, _), second, ..],
                } => {
                    let is_counted = parameters.contains(from);
                    match (shape.computation, *second) {
                        (Computation::Move, _) => {
                            if let Some((of, by)) = sums.get(from).filter(|(of, _)| of == to) {
                                steps.insert(*of, *by);
                            }
                            if is_counted {
                                parameters.insert(*to);
                            }
                        }
                        (Computation::Add, Source::Number(by)) if from == to => {
                            steps.insert(*to, by);
                        }
                        (Computation::Add, Source::Number(by)) => {
                            sums.insert(*to, (*from, by));
                            if is_counted {
                                parameters.insert(*to);
                            }
                        }
                        (Computation::Convert | Computation::Subtract, _) if is_counted => {
                            parameters.insert(*to);
                        }
                        (Computation::ShiftRight, Source::Number(by)) if is_counted && by < 32 => {
                            parts.push(1 << by);
                        }
                        (Computation::Divide, Source::Number(by)) if is_counted => parts.push(by),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        for step in &self.steps {
            let Action::Compute { shape, from: [Source::Register(a, _), Source::Register(b, _), ..], .. } =
                &step.action
            else {
                continue;
            };
            if shape.computation == Computation::Compare {
                let ends = [(a, b), (b, a)].into_iter().filter(|(_, end)| parameters.contains(end));
                parts.extend(ends.filter_map(|(counter, _)| steps.get(counter)));
            }
        }
        parts
    }
}
