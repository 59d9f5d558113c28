//! What an execution of several blocks shows.

use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::model::{Fault, FaultKind, Part, between_blocks};
use ptx_facts::asynchronous::next_step;
use ptx_ir::ir::{Function, FunctionKind};
use ptx_ir::isa::{Event, Mode};
use ptx_syntax::Diagnostic;

use super::RULE;
use crate::subject::function::FlowContext;
use crate::subject::protocol::{self, words};

/// A module with more kernels is not executed so, nor a kernel with more instructions.
const MAX_KERNELS: usize = 8;
const MAX_INSTRUCTIONS: usize = 3_000;

/// Whether an instruction says that it orders what blocks see: a kernel without any does not mean that they tell each other something.
pub(super) fn orders(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        let is_ordered = instance.is(Mode::Acquire) || instance.is(Mode::Release);
        let orders = instance.effects.event == Some(Event::Fence) || is_ordered && instance.accesses;
        orders && !instance.is(Mode::BlockScope)
    })
}

/// A race between blocks, or a loop that waits for what nobody stores.
pub(super) fn finding(context: &FlowContext<'_>, facts: &FunctionFacts<'_>) -> Option<Diagnostic> {
    let is_kernel = |function: &Function| function.kind == FunctionKind::Entry;
    if !is_kernel(facts.function) || facts.body.instructions.len() > MAX_INSTRUCTIONS {
        return None;
    }
    // Whole libraries are made of such kernels, and to execute them takes longer than all else that is done with them.
    let kernels = facts.module.functions.iter().filter(|(_, function)| is_kernel(function));
    if kernels.take(MAX_KERNELS + 1).count() > MAX_KERNELS {
        return None;
    }
    let fault = between_blocks(facts, &context.with_calls(&[]), &context.module.shared.executions)
        .into_iter()
        .next()?;
    let (message, help) = words(&fault);
    // A fence may be missing after what was asked.
    let asked = fault.others.iter().find(|(_, part)| *part == Part::Wait);
    let next = asked.and_then(|(asked, _)| next_step(facts, *asked));
    let is_told = |at: u32| at == fault.instruction || fault.others.iter().any(|(other, _)| *other == at);
    let next = next.filter(|&at| !is_told(at)).map(|at| (at, Part::Next));
    let finding = RULE.at(context.instruction_span(fault.instruction), message).with_help(help);
    Some(fault.others.iter().chain(&next).fold(finding, |finding, (at, part)| {
        finding.with_secondary(context.instruction_span(*at), label(&fault, *part))
    }))
}

const fn label(fault: &Fault, part: Part) -> &'static str {
    match (fault.kind, part) {
        // It is told as others of one block are.
        (FaultKind::Race, _) => protocol::label(fault.kind, part),
        (FaultKind::NeverSet, Part::Arrival) => "this stores there",
        (FaultKind::NeverSet, Part::Last) => "the last that those do who have taken it",
        (_, Part::OtherWait) => "others wait here",
        (_, Part::Relaxed) => "this plain store orders nothing for those who wait for it",
        (_, Part::Arrival) => "this tells others after it",
        (_, Part::Wait) => "the last that was asked before",
        (_, Part::Next) => "those who have asked go on here",
        (_, Part::Met) => "the last meeting of these threads before",
        _ => "the other access",
    }
}
