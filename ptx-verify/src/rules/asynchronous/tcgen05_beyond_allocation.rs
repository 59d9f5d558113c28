use ptx_facts::asynchronous::model::FaultKind;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;

declare_rule! {
    /// ## What it does
    /// Reports a matrix operation, a load or a store of tensor memory that begins with a column which the block has not
    /// allocated.
    ///
    /// ## Why is this bad
    /// The column may belong to another block, or to nobody. PTX ISA manual, section "tcgen05.alloc".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
    /// ld.shared.u32 %r1, [slot];
    /// tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1+32], {%r2};
    /// tcgen05.wait::st.sync.aligned;
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// ld.shared.u32 %r1, [slot];
    /// tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1+32], {%r2};
    /// tcgen05.wait::st.sync.aligned;
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed; what comes after a place where control depends on unknown numbers is not seen.
    /// Only the first column of an operation is looked at, and columns that were given back count as allocated.
    name: "tcgen05-beyond-allocation",
    code: "P0928",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a column of tensor memory that is not allocated",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found = protocol::explained(context, |fault| fault.kind == FaultKind::BeyondAllocation);
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
