use ptx_ir::ir::{Function, FunctionKind, Handle};
use ptx_ir::isa::{AsyncGroup, Control, Instance};
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use crate::subject::module::ModuleContext;
use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a kernel with `tcgen05` instructions of `.cta_group::1` and of `.cta_group::2`, its own or in functions
    /// that it calls.
    ///
    /// ## Why is this bad
    /// A kernel works with tensor memory as one block or as one of a pair. PTX ISA manual, section "Tensor Memory
    /// Allocation"; the assembler refuses the kernel when it generates code, and takes it line by line.
    ///
    /// ## Example
    /// ```ptx
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;
    /// tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;
    /// tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    /// ```
    ///
    /// ## What it may miss
    /// Functions that are called through a register.
    name: "mixed-cta-groups",
    code: "P0914",
    former: ["H0376", "E0322"],
    class: Hazard,
    level: Error,
    summary: "a kernel with tensor memory of one block and of a pair",
    check: Module(check),
}

const GROUPS: [&str; 2] = [".cta_group::1", ".cta_group::2"];

fn check(context: &ModuleContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.features().asynchronous {
        return;
    }
    let all = || context.module.spellings.iter().flat_map(|(_, spelling)| &spelling.resolved.instances);
    if !(0..GROUPS.len()).all(|group| all().any(|instance| group_of(instance) == Some(group))) {
        return;
    }
    let kernels = context.module.functions.iter().filter(|(_, each)| each.kind == FunctionKind::Entry);
    for (kernel, _) in kernels {
        if let [Some(first), Some(second)] = first_of_each(context, kernel) {
            let (late, early) = if first.start < second.start { (second, first) } else { (first, second) };
            let message = "this is of another `.cta_group` than the rest of the kernel";
            diagnostics.push(RULE.at(late, message).with_secondary(early, "the other is here"));
        }
    }
}

/// Which of the groups an instruction works with tensor memory as.
fn group_of(instance: &Instance) -> Option<usize> {
    match instance.effects.asynchronous? {
        (AsyncGroup::Tcgen05 | AsyncGroup::Tcgen05Allocation, _) => {
            GROUPS.iter().position(|group| instance.has(group))
        }
        _ => None,
    }
}

/// The first instruction of each group in a kernel and what it calls.
fn first_of_each(context: &ModuleContext<'_>, kernel: Handle<Function>) -> [Option<Span>; 2] {
    let module = context.module;
    let mut found = [None; 2];
    let mut seen = FxHashSet::from_iter([kernel]);
    let mut open = vec![kernel];
    while let Some(function) = open.pop() {
        let Some(body) = &module.functions[function].body else { continue };
        for (handle, instruction) in body.instructions.iter() {
            let Some(instance) = module.instance(instruction) else { continue };
            if let Some(group) = group_of(instance) {
                found[group].get_or_insert_with(|| body.span(handle));
            } else if instance.effects.control == Control::Call
                && let Some(callee) = context.summaries().called(module, body, handle)
                && seen.insert(callee)
            {
                open.push(callee);
            }
        }
    }
    found
}
