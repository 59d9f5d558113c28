use petgraph::graph::NodeIndex;
use ptx_facts::FunctionFacts;
use ptx_ir::ir::{Handle, Register, Variable};
use ptx_ir::isa::Control;
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::rules::register::maybe_uninitialized_register::with_path;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a function that returns although nothing has stored its return value: a `.param` that no
    /// `st.param` and no call has written on some path to the `ret`, or a register parameter that is not set.
    ///
    /// ## Why is this bad
    /// The caller reads whatever the register or the stack held.
    ///
    /// ## Example
    /// ```ptx
    /// .func (.param .b32 result) f(.param .b32 x) {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func (.param .b32 result) f(.param .b32 x) {
    ///     st.param.b32 [result], 0;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// A value that is stored in part counts as stored. Parameters whose address is taken are not followed.
    name: "unset-return-value",
    code: "P0406",
    former: ["H0304"],
    class: Hazard,
    level: Warn,
    summary: "a return value that some path leaves unset",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if context.module.module.functions[context.handle].returns.is_empty() {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let module = context.module.module;
    let returned = returned(facts);
    if returned.is_empty() {
        return;
    }
    // A return ends its block.
    let last = |block: &NodeIndex| facts.cfg.instructions(*block).last();
    let returns = |each: &u32| {
        facts.instance(*each).is_some_and(|instance| instance.effects.control == Control::Return)
    };
    let mut ends: Vec<u32> = facts.cfg.reverse_postorder().iter().filter_map(last).filter(returns).collect();
    ends.sort_unstable();
    let writes = |target| match target {
        Target::Parameter(variable) => facts.parameter_writers(variable),
        Target::Register(register) => facts.definitions(register),
    };
    let open = returned.into_iter().flat_map(|(handle, target)| {
        let is_open = move |end: &u32| !is_set_before(facts, writes(target), *end);
        ends.iter().copied().filter(is_open).map(move |end| (handle, target, end))
    });
    let open: Vec<_> = open.collect();
    if open.is_empty() {
        return;
    }
    context.walk(|walker| {
        let mut last = None;
        for (handle, target, end) in open {
            // One return is told of for each value.
            if last == Some((handle, target)) {
                continue;
            }
            let found = walker.reaching(writes(target), end);
            let Some(undefined) = found.undefined.as_ref().filter(|_| !found.unknown) else { continue };
            last = Some((handle, target));
            let variable = &module.variables[handle];
            let name = module.name(variable.name);
            let certain = found.writers.is_empty();
            let (sets, set) = match target {
                Target::Parameter(_) => ("stores", "stored"),
                Target::Register(_) => ("sets", "set"),
            };
            let message = if certain {
                format!("this returns, but nothing {sets} the return value `{name}` before")
            } else {
                format!("this may return before the return value `{name}` is {set}")
            };
            let finding = RULE.at(context.instruction_span(end), message);
            let finding = finding.with_secondary(variable.span, "declared here");
            diagnostics.push(if certain { finding } else { with_path(context, undefined, finding) });
        }
    });
}

/// Writes of a return value that are looked at for one that always comes first.
const MAX_WRITES: usize = 16;

/// Whether one of the writes runs in any case before an instruction.
fn is_set_before(facts: &FunctionFacts<'_>, writes: &[u32], instruction: u32) -> bool {
    let before = &writes[..writes.partition_point(|&write| write < instruction)];
    before.iter().rev().take(MAX_WRITES).any(|&write| is_before(facts, write, instruction))
}

/// Whether a write runs in any case before an instruction.
fn is_before(facts: &FunctionFacts<'_>, write: u32, instruction: u32) -> bool {
    let block = |instruction| facts.cfg.block_of(FunctionFacts::handle(instruction));
    let (there, here) = (block(write), block(instruction));
    !facts.is_guarded(write)
        && facts.cfg.is_reachable(there)
        && if there == here { write < instruction } else { facts.cfg.dominates(there, here) }
}

/// What is returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// A register.
    Register(Register),
    /// A variable of the `.param` space.
    Parameter(Handle<Variable>),
}

/// The return values that are followed: those in registers come first among the registers of the function.
fn returned(facts: &FunctionFacts<'_>) -> Vec<(Handle<Variable>, Target)> {
    let mut found = Vec::new();
    let mut next = 0;
    for &handle in &facts.function.returns {
        let variable = &facts.module.variables[handle];
        match variable.space.base() {
            StateSpace::Reg => {
                let elements = u32::from(variable.elements);
                found.extend((next..next + elements).map(|each| (handle, Target::Register(Register(each)))));
                next += elements;
            }
            StateSpace::Param if !facts.escapes(handle) => found.push((handle, Target::Parameter(handle))),
            _ => {}
        }
    }
    found
}
