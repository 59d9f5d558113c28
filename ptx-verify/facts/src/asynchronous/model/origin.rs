//! What a number comes from.

use rustc_hash::FxHashSet;

use super::program::{Action, Program, Source};

impl Program {
    /// Whether a number is computed of what the kernel is given.
    pub(super) fn is_of_parameters(&self, source: Source) -> bool {
        let register = |source: &Source| match *source {
            Source::Register(register, _) | Source::Negated(register) => Some(register),
            _ => None,
        };
        let mut open: Vec<u32> = register(&source).into_iter().collect();
        let mut seen: FxHashSet<u32> = open.iter().copied().collect();
        while let Some(wanted) = open.pop() {
            for step in &self.steps {
                match &step.action {
                    Action::Load { to, parameters: true } if to.iter().any(|(to, _)| *to == wanted) => {
                        return true;
                    }
                    Action::Compute { to, from, .. } if to.contains(&Some(wanted)) => {
                        open.extend(
                            from.iter().filter_map(register).filter(|register| seen.insert(*register)),
                        );
                    }
                    _ => {}
                }
            }
        }
        false
    }
}
