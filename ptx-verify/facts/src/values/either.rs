//! Values that are one of two numbers, by what a compiler and its run-time library have agreed on.
//!
//! GCC for `nvptx` keeps in `__nvptx_uni` of each warp whether all lanes do the same: 0 where one lane does the work of
//! all and gives its results to them, all ones where each lane works for itself (GCC's `gcc/config/nvptx/nvptx.cc`, which
//! calls it the mask of `-muniform-simt`). Each function loads it first, and guards depend on it.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::Computation;

use super::graph::{Graph, Kind, ValueId};
use crate::FunctionFacts;

/// The variable of GCC's run-time library.
const UNIFORM_SIMT: &str = "__nvptx_uni";
/// Instructions between the name of the variable and the load.
const MAX_STEPS: usize = 4;

/// A value, and the two numbers of which it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Either {
    /// The value.
    pub value: ValueId,
    /// The numbers.
    pub numbers: [u64; 2],
}

impl Either {
    /// The value that a function loads from the variable; none where it loads none, or several.
    #[must_use]
    pub fn of(facts: &FunctionFacts<'_>, graph: &Graph) -> Option<Self> {
        let loads = |instruction: &u32| {
            let instance = facts.instance(*instruction);
            instance.is_some_and(|instance| instance.effects.computes == Some(Computation::Load))
                && !facts.is_guarded(*instruction)
        };
        let written = |instruction: u32| {
            let mut uses = facts.uses().range(instruction);
            uses.find_map(|at| graph.written(at))
        };
        let reads = |instruction: u32| facts.uses().range(instruction).filter_map(|at| graph.read(at));
        let all = 0..facts.body.instructions.len() as u32;
        let mut found = all.filter(loads).filter(|&load| {
            let mut open: Vec<ValueId> = reads(load).collect();
            for _ in 0..MAX_STEPS {
                let Some(value) = open.pop() else { return false };
                let Kind::Computed { instruction, .. } = graph.kind(value) else { continue };
                if names_it(facts, instruction) {
                    return true;
                }
                open.extend(reads(instruction));
            }
            false
        });
        let load = found.next().filter(|_| found.next().is_none())?;
        Some(Self { value: written(load)?, numbers: [0, u64::MAX] })
    }

    /// Whether an operand names the variable.
    #[must_use]
    pub fn is_named(facts: &FunctionFacts<'_>, operand: Operand) -> bool {
        matches!(operand, Operand::Variable { variable, .. }
            if facts.module.name(facts.module.variables[variable].name) == UNIFORM_SIMT)
    }
}

fn names_it(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let operands = facts.body.operands(Handle::new(instruction));
    operands.iter().any(|operand| Either::is_named(facts, *operand))
}
