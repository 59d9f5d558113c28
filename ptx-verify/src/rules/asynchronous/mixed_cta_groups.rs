use ptx_ir::ir::{Function, FunctionKind, Handle};
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use crate::rule::declare_rule;
use crate::subject::module::{Features, ModuleContext};

declare_rule! {
    /// ## What it does
    /// Reports a kernel with `tcgen05` instructions of `.cta_group::1` and of `.cta_group::2`, its own or in functions
    /// that it calls, and a function that has both itself.
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

fn check(context: &ModuleContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.features().has(Features::ASYNCHRONOUS) {
        return;
    }
    let mut told = FxHashSet::default();
    for (handle, function) in context.functions() {
        let (groups, whole) = match function.kind {
            FunctionKind::Entry => (first_of_each(context, handle), "kernel"),
            _ => (context.summaries().digest(handle).groups, "function"),
        };
        if let [Some(first), Some(second)] = groups {
            let (late, early) = if first.start < second.start { (second, first) } else { (first, second) };
            if told.insert(late) {
                let message = format!("this is of another `.cta_group` than the rest of the {whole}");
                diagnostics.push(RULE.at(late, message).with_secondary(early, "the other is here"));
            }
        }
    }
}

/// The first instruction of each group in a kernel and what it calls.
fn first_of_each(context: &ModuleContext<'_>, kernel: Handle<Function>) -> [Option<Span>; 2] {
    let mut found = [None; 2];
    let mut seen = FxHashSet::from_iter([kernel]);
    let mut open = vec![kernel];
    while let Some(function) = open.pop() {
        let digest = context.summaries().digest(function);
        for (found, group) in found.iter_mut().zip(digest.groups) {
            *found = found.or(group);
        }
        open.extend(digest.callees.iter().filter(|&&callee| seen.insert(callee)));
    }
    found
}
