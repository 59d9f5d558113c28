use ptx_facts::FunctionFacts;
use ptx_facts::initialization::Unset;
use ptx_ir::isa::Computation;
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::rules::register::maybe_uninitialized_register;
use crate::rules::register::uninitialized_register::{explain, grade, is_predicate, place};
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a predicate that is read, as a guard or as an operand, though nothing has set it: an error where
    /// no write can come before, and where `selp` chooses by it what is stored though it is set under a guard only; a
    /// warning where some other path leaves it unset.
    ///
    /// ## Why is this bad
    /// Whether the guarded instruction runs is then anybody's guess, and it may differ between threads.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .pred %p<2>;
    /// @%p1 bra DONE;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .pred %p<2>;
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 bra DONE;
    /// ```
    ///
    /// ## What it may miss
    /// The same as `maybe-uninitialized-register`.
    name: "uninitialized-predicate",
    code: "P0503",
    former: ["H0303"],
    class: Hazard,
    level: Error,
    summary: "a predicate that nothing sets before it is read",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for unset in context.unset().iter().filter(|unset| is_predicate(context, unset)) {
        let name = register_name(context.module.module, context.body, unset.register);
        let place = place(context, unset);
        diagnostics.push(if unset.certain {
            let finding = RULE.at(place, format!("predicate `{name}` is read, but nothing sets it before"));
            grade(context, unset).of(explain(context, unset, finding))
        } else {
            let finding = if decides_a_result(context, unset) {
                RULE.at(place, format!("predicate `{name}` decides here, but is only set under a guard"))
            } else {
                let mut finding = RULE.at(place, format!("predicate `{name}` may be read before it is set"));
                finding.severity = Severity::Warning;
                finding
            };
            maybe_uninitialized_register::explain(context, unset, finding)
        });
    }
}

/// Whether the predicate is set under guards only, and chooses what is stored right away. Both are in one block, so that
/// nothing but these guards decides whether it is set, and nothing at all whether it is read.
fn decides_a_result(context: &FlowContext<'_>, unset: &Unset) -> bool {
    let Some(facts) = context.facts() else { return false };
    let block = |instruction| facts.cfg.block_of(FunctionFacts::handle(instruction));
    let selects = facts.instance(unset.instruction).and_then(|instance| instance.effects.computes)
        == Some(Computation::Select);
    let here = block(unset.instruction);
    let writes = facts.definitions(unset.register);
    let straight = !facts.is_guarded(unset.instruction)
        && writes
            .iter()
            .all(|&write| write < unset.instruction && block(write) == here && facts.is_guarded(write));
    // Where a guard and its opposite both set it, or all guards are constant, the paths say so: it would not be here.
    let one_guard = match writes {
        [first, rest @ ..] => rest.iter().all(|&write| facts.condition(write) == facts.condition(*first)),
        [] => false,
    };
    selects && straight && one_guard && is_result_stored(facts, unset.instruction)
}

/// Whether what an instruction computes is stored in the same block, whatever else is known: nothing masks it.
fn is_result_stored(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let block = facts.cfg.block_of(FunctionFacts::handle(instruction));
    let written = || facts.uses().of(instruction).iter().filter(|each| each.access().writes());
    // What is set when a function begins is what an asm statement is given, and reads when it ends.
    if written().any(|each| each.register.0 < facts.entry_registers()) {
        return true;
    }
    let mut after = instruction + 1..facts.cfg.instructions(block).end;
    after.any(|other| {
        let stores = facts
            .instance(other)
            .is_some_and(|instance| instance.effects.writes_memory && !instance.effects.reads_memory);
        let names = facts.uses().of(other).iter().any(|each| {
            !each.access().writes()
                && each.operand() > 0
                && written().any(|one| one.register == each.register)
        });
        stores && names && !facts.is_guarded(other)
    })
}
