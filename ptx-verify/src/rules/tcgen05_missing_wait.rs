use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::asynchronous::Escapes;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a `tcgen05.ld` or `tcgen05.st` of a kernel from which a way leads out of the kernel without
    /// `tcgen05.wait::ld` or `tcgen05.wait::st`.
    ///
    /// ## Why is this bad
    /// Loads and stores of tensor memory run on their own: the registers of a load change, and those of a store
    /// are read, at some later time. PTX ISA manual, section "tcgen05.wait".
    ///
    /// ## Example
    /// ```ptx
    /// tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];
    /// add.u32 %r3, %r1, 1;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];
    /// tcgen05.wait::ld.sync.aligned;
    /// add.u32 %r3, %r1, 1;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A result that is used between the load and its wait: compilers move arithmetic there, and the assembler
    /// sees to it that the result is there. A function that is called may wait, and functions other than kernels
    /// may leave the wait to their callers.
    name: "tcgen05-missing-wait",
    code: "H0366",
    class: Hazard,
    level: Warn,
    summary: "a `tcgen05.ld` or `tcgen05.st` that nothing waits for",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    // Other functions may leave the wait to their callers.
    if facts.function.kind != ptx_ir::ir::FunctionKind::Entry {
        return;
    }
    // Loads and stores share a group in the table, and each has its own wait.
    for (opcode, wait) in [("tcgen05.ld", "tcgen05.wait::ld"), ("tcgen05.st", "tcgen05.wait::st")] {
        let of = |wanted: AsyncAction, prefix: &str| -> Vec<u32> {
            let fits = |&instruction: &u32| {
                facts.instance(instruction).is_some_and(|instance| instance.canonical.starts_with(prefix))
            };
            context.acting(AsyncGroup::Tcgen05Memory, &[wanted]).into_iter().filter(fits).collect()
        };
        let starts = of(AsyncAction::Start, opcode);
        if starts.is_empty() {
            continue;
        }
        let escapes = Escapes::new(facts, of(AsyncAction::WaitAll, wait));
        if let Some((start, end)) = starts.iter().find_map(|&start| Some((start, escapes.behind(start)?))) {
            let finding = RULE.at(
                context.instruction_span(start),
                format!("nothing waits for this `{opcode}` on some way"),
            );
            diagnostics.push(
                finding
                    .with_secondary(context.instruction_span(end), "the kernel is left here")
                    .with_help(format!("wait with `{wait}.sync.aligned`")),
            );
        }
    }
}
