use ptx_facts::values::number::Number;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::Convergence;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync` or `bar.warp.sync` with a mask that names no lane.
    ///
    /// ## Why is this bad
    /// The thread that executes it has to be among those that the mask names, else the behaviour is undefined. PTX ISA
    /// manual, section "shfl.sync".
    ///
    /// ## Example
    /// ```ptx
    /// shfl.sync.idx.b32 %r2, %r1, 0, 31, 0;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff;
    /// ```
    ///
    /// ## What it may miss
    /// Masks that name other lanes than those that come.
    name: "empty-lane-mask",
    code: "P0804",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a mask that names no lane",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::CONVERGENCE) {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let mut masks = Vec::new();
    let mut constants = Vec::new();
    for handle in context.body.instructions.handles() {
        let instruction = handle.index() as u32;
        let Some(instance) = facts.instance(instruction) else { continue };
        if instance.effects.convergence != Convergence::Participants {
            continue;
        }
        let Some(index) = instance.lane_mask() else { continue };
        match context.body.operands(handle).get(index) {
            Some(Operand::Integer { bits, .. }) if *bits as u32 == 0 => constants.push((instruction, index)),
            Some(Operand::Register { .. }) => match context.moved_number(instruction, index) {
                Some(moved) if moved.number as u32 == 0 => constants.push((instruction, index)),
                Some(_) => {}
                None => masks.push((instruction, index)),
            },
            _ => {}
        }
    }
    let known = context.numbers(&masks, u32::BITS);
    let is_empty = |number: Option<Number>| number.and_then(Number::value) == Some(0);
    let empty = masks.into_iter().zip(known).filter(|(_, number)| is_empty(*number)).map(|(mask, _)| mask);
    constants.extend(empty);
    constants.sort_unstable();
    for (instruction, index) in constants {
        if facts.cfg.is_reachable(facts.cfg.block_of(Handle::new(instruction)))
            && context.can_come(instruction)
        {
            let span = context.body.operand_span(Handle::new(instruction), index);
            let finding = RULE.at(span, "this mask names no lane, not even the one that executes this");
            diagnostics.push(finding.with_help("0xffffffff names all lanes of the warp"));
        }
    }
}
