use ptx_ir::ir::FunctionKind;
use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::asynchronous::left_open;
use crate::registry::declare_rule;
use ptx_ir::isa::{AsyncAction, AsyncGroup};

declare_rule! {
    /// ## What it does
    /// Reports a kernel with a `tcgen05.alloc` from which a way leads out of the kernel without
    /// `tcgen05.dealloc`, where the kernel does not branch over both.
    ///
    /// ## Why is this bad
    /// All tensor memory has to be freed before the kernel ends. PTX ISA manual, section "tcgen05.alloc". The
    /// next block that allocates waits for ever.
    ///
    /// ## Example
    /// ```ptx
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;
    /// ld.shared.u32 %r2, [%r1];
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A kernel that frees under another condition than the one under which it allocates; functions other than
    /// kernels.
    name: "tcgen05-missing-dealloc",
    code: "H0365",
    class: Hazard,
    level: Warn,
    summary: "tensor memory that is allocated and not freed",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if facts.function.kind != FunctionKind::Entry {
        return;
    }
    let of = |wanted: &[AsyncAction]| context.acting(AsyncGroup::Tcgen05Allocation, wanted);
    // One warp allocates and one frees, under conditions that need not look alike: any of them counts.
    let starts = of(&[AsyncAction::Init]);
    if starts.is_empty() || !of(&[AsyncAction::Release]).is_empty() {
        return;
    }
    if let Some((start, end)) = left_open(facts, &starts, &context.with_calls(&[])) {
        let finding = RULE.at(context.instruction_span(start), "nothing frees this tensor memory");
        diagnostics.push(
            finding
                .with_secondary(context.instruction_span(end), "the kernel is left here")
                .with_help("free it with `tcgen05.dealloc`"),
        );
    }
}
