use ptx_ir::ir::{Handle, Register};
use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::{FunctionFacts, for_each_register};
use crate::instruction::register_name;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an instruction that only computes a register which nothing reads, or which the same block sets
    /// anew before anything reads it.
    ///
    /// ## Why is this bad
    /// The work is for nothing, or another instruction reads the wrong register.
    ///
    /// ## Example
    /// ```ptx
    /// mov.u32 %r1, 1;
    /// mov.u32 %r1, 2;
    /// st.global.u32 [%rd1], %r1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r1, 2;
    /// st.global.u32 [%rd1], %r1;
    /// ```
    ///
    /// ## What it may miss
    /// A register that is set anew in another block. Functions compiled for a debugger are left alone.
    name: "dead-store",
    code: "S0407",
    class: Style,
    level: Info,
    summary: "a register that is set and never read",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if context.module.module.header.debug {
        return;
    }
    let read = registers_read(facts);
    // The write of each register that nothing has read yet, with its block.
    let mut pending: Vec<Option<u32>> = vec![None; read.len()];
    let mut written = Vec::new();
    for block in facts.cfg.graph().node_indices().filter(|&block| facts.cfg.is_reachable(block)) {
        for register in written.drain(..) {
            let register: Register = register;
            pending[register.index()] = None;
        }
        for instruction in facts.cfg.instructions(block) {
            step(context, facts, instruction, (&read, &mut pending, &mut written), diagnostics);
        }
    }
}

type State<'s> = (&'s [bool], &'s mut Vec<Option<u32>>, &'s mut Vec<Register>);

fn step(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    instruction: u32,
    (read, pending, written): State<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let handle = Handle::new(instruction);
    let guard = context.body.instructions[handle].guard;
    if let Some(register) = guard.and_then(|guard| guard.register)
        && let Some(slot) = pending.get_mut(register.index())
    {
        *slot = None;
    }
    let Some(instance) = facts.instance(instruction) else { return };
    let (mut results, mut useless) = (Vec::new(), true);
    for_each_register(context.module.module, context.body, handle, |register, access| {
        if !access.writes() || access.reads() {
            pending[register.index()] = None;
        }
        if access.writes() {
            results.push(register);
            useless &= !read[register.index()] && !access.reads();
        }
    });
    let removable = instance.effects.is_pure() && !results.is_empty();
    if removable && useless {
        let name = register_name(context.module.module, context.body, results[0]);
        diagnostics.push(RULE.at(
            context.instruction_span(instruction),
            format!("`{name}` is set here, but nothing reads it"),
        ));
        return;
    }
    for &register in &results {
        let earlier = pending[register.index()].take();
        if let Some(earlier) = earlier.filter(|_| guard.is_none()) {
            let name = register_name(context.module.module, context.body, register);
            let span = context.instruction_span(earlier);
            let finding =
                RULE.at(span, format!("`{name}` is set here, but set anew before anything reads it"));
            diagnostics.push(finding.with_secondary(context.instruction_span(instruction), "set anew here"));
        }
    }
    if let ([register], true) = (&results[..], removable && !instance.effects.reads_memory) {
        pending[register.index()] = Some(instruction);
        written.push(*register);
    }
}

fn registers_read(facts: &FunctionFacts<'_>) -> Vec<bool> {
    let mut read = vec![false; facts.body.register_count as usize];
    for (handle, instruction) in facts.body.instructions.iter() {
        if let Some(register) = instruction.guard.and_then(|guard| guard.register) {
            read[register.index()] = true;
        }
        for_each_register(facts.module, facts.body, handle, |register, access| {
            if access.reads() || !access.writes() || access == crate::dataflow::Access::Unknown {
                read[register.index()] = true;
            }
        });
    }
    // What a function returns in registers is read by its caller.
    for slot in read.iter_mut().take(facts.entry_registers() as usize) {
        *slot = true;
    }
    read
}
