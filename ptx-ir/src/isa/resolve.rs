//! From a dotted spelling to its meanings.

use super::instance::{Instance, OpcodeId};
use super::problem::{Leniency, SpellingProblem};

/// What a spelling means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The root opcode; `None` where no instruction has it.
    pub opcode: Option<OpcodeId>,
    /// Every form that has this spelling; [`Resolved::select`] picks one by the operands.
    pub instances: Vec<Instance>,
    /// Why there is no instance.
    pub problem: Option<SpellingProblem>,
    /// What is odd about a spelling that has instances.
    pub leniency: Option<Leniency>,
}

/// Reads a whole dotted spelling such as `ld.global.L1::no_allocate.v4.f32`. Meant to be called once for each
/// distinct spelling of a module: it allocates.
#[must_use]
pub fn resolve(spelling: &str) -> Resolved {
    let end = spelling.find('.').unwrap_or(spelling.len());
    let problem = SpellingProblem::UnknownOpcode { range: 0..end, nearest: None };
    Resolved { problem: Some(problem), ..Resolved::default() }
}
