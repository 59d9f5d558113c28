use ptx_ir::isa::Control;
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::producer::Printed;

declare_rule! {
    /// ## What it does
    /// Reports instructions that no way from the entry of the function leads to; one finding for each run of
    /// them.
    ///
    /// ## Why is this bad
    /// It is either left over or shows that a branch goes to the wrong place.
    ///
    /// ## Example
    /// ```ptx
    /// bra DONE;
    /// add.u32 %r1, %r1, 1;
    /// DONE:
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.u32 %r1, %r1, 1;
    /// DONE:
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Branches whose condition never holds are not recognised.
    /// What compilers print whatever the program, where the comment at the head of the file names
    /// the compiler.
    name: "unreachable-code",
    code: "P0802",
    former: ["S0402"],
    class: Style,
    level: Info,
    summary: "instructions that control never comes to",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let mut run: Option<(u32, u32)> = None;
    let mut report = |run: Option<(u32, u32)>| {
        let printed =
            |run| is_exit_after_trap(context, run) && context.module.is_printed(Printed::ExitAfterTrap);
        diagnostics.extend(run.filter(|run| !printed(*run)).map(|run| finding(context, run)));
    };
    for block in facts.cfg.graph().node_indices() {
        let range = facts.cfg.instructions(block);
        if range.is_empty() {
            continue;
        }
        if facts.cfg.is_reachable(block) {
            report(run.take());
        } else {
            run = Some((run.map_or(range.start, |(first, _)| first), range.end - 1));
        }
    }
    report(run);
}

/// Whether the run is the `trap` or `exit`, or both, that compilers print after a `trap` or a call that never returns.
fn is_exit_after_trap(context: &FlowContext<'_>, (first, last): (u32, u32)) -> bool {
    let Some(facts) = context.facts() else { return false };
    let ends = |instruction: u32| matches!(facts.control(instruction), Control::Trap | Control::Exit);
    let trap = first.checked_sub(1).is_some_and(|before| facts.control(before) == Control::Trap);
    trap && last - first < 2 && ends(first) && ends(last)
}

fn finding(context: &FlowContext<'_>, (first, last): (u32, u32)) -> Diagnostic {
    let span = Span::new(context.instruction_span(first).start, context.instruction_span(first).end);
    let count = last - first + 1;
    let message = if count == 1 {
        "control never comes to this instruction".to_owned()
    } else {
        format!("control never comes to this and the next {} instructions", count - 1)
    };
    RULE.at(span, message)
}
