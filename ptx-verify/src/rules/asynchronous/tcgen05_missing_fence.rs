use ptx_facts::asynchronous::model::{Fault, FaultKind};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;

declare_rule! {
    /// ## What it does
    /// Reports tensor memory that is used after a wait for an `mbarrier` object without `tcgen05.fence::after_thread_sync`
    /// between, and an arrival after loads or stores of tensor memory without `tcgen05.fence::before_thread_sync` between, in
    /// a kernel that has these fences at other waits and arrivals.
    ///
    /// ## Why is this bad
    /// The operations run on their own, and an object alone does not order those of one thread with those of another. PTX ISA
    /// manual, sections "tcgen05 memory consistency model" and "tcgen05.fence".
    ///
    /// ## Example
    /// ```ptx
    /// .visible .entry k(.param .b32 value)
    /// .reqntid 64
    /// {
    ///     .reg .pred %p<3>;
    ///     .reg .b32 %r<6>;
    ///     .shared .align 8 .b64 stored, loaded;
    ///     .shared .b32 slot;
    ///     mov.u32 %r1, %tid.x;
    ///     setp.ge.u32 %p1, %r1, 32;
    ///     setp.eq.u32 %p2, %r1, 0;
    ///     @%p2 mbarrier.init.shared.b64 [stored], 32;
    ///     @%p2 mbarrier.init.shared.b64 [loaded], 32;
    ///     @!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
    ///     bar.sync 0;
    ///     ld.shared.u32 %r2, [slot];
    ///     ld.param.u32 %r3, [value];
    ///     @%p1 bra LOADS;
    ///     tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r3};
    ///     tcgen05.wait::st.sync.aligned;
    ///     tcgen05.fence::before_thread_sync;
    ///     mbarrier.arrive.shared.b64 _, [stored];
    /// LOADED:
    ///     mbarrier.try_wait.parity.shared.b64 %p2, [loaded], 0;
    ///     @!%p2 bra LOADED;
    ///     tcgen05.fence::after_thread_sync;
    ///     tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};
    ///     tcgen05.wait::st.sync.aligned;
    ///     tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
    ///     ret;
    /// LOADS:
    /// STORED:
    ///     mbarrier.try_wait.parity.shared.b64 %p2, [stored], 0;
    ///     @!%p2 bra STORED;
    ///     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r2];
    ///     tcgen05.wait::ld.sync.aligned;
    ///     tcgen05.fence::before_thread_sync;
    ///     mbarrier.arrive.shared.b64 _, [loaded];
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .visible .entry k(.param .b32 value)
    /// .reqntid 64
    /// {
    ///     .reg .pred %p<3>;
    ///     .reg .b32 %r<6>;
    ///     .shared .align 8 .b64 stored, loaded;
    ///     .shared .b32 slot;
    ///     mov.u32 %r1, %tid.x;
    ///     setp.ge.u32 %p1, %r1, 32;
    ///     setp.eq.u32 %p2, %r1, 0;
    ///     @%p2 mbarrier.init.shared.b64 [stored], 32;
    ///     @%p2 mbarrier.init.shared.b64 [loaded], 32;
    ///     @!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
    ///     bar.sync 0;
    ///     ld.shared.u32 %r2, [slot];
    ///     ld.param.u32 %r3, [value];
    ///     @%p1 bra LOADS;
    ///     tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r3};
    ///     tcgen05.wait::st.sync.aligned;
    ///     tcgen05.fence::before_thread_sync;
    ///     mbarrier.arrive.shared.b64 _, [stored];
    /// LOADED:
    ///     mbarrier.try_wait.parity.shared.b64 %p2, [loaded], 0;
    ///     @!%p2 bra LOADED;
    ///     tcgen05.fence::after_thread_sync;
    ///     tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};
    ///     tcgen05.wait::st.sync.aligned;
    ///     tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
    ///     ret;
    /// LOADS:
    /// STORED:
    ///     mbarrier.try_wait.parity.shared.b64 %p2, [stored], 0;
    ///     @!%p2 bra STORED;
    ///     tcgen05.fence::after_thread_sync;
    ///     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r2];
    ///     tcgen05.wait::ld.sync.aligned;
    ///     tcgen05.fence::before_thread_sync;
    ///     mbarrier.arrive.shared.b64 _, [loaded];
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Kernels that have no such fence after any wait for an object: many libraries rely on the tensor core here. Barriers of the
    /// block are not looked at.
    name: "tcgen05-missing-fence",
    code: "P0929",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "tensor memory that is used after a wait without the fence that others have",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |fault: &Fault| matches!(fault.kind, FaultKind::TensorUnfenced | FaultKind::TensorUntold);
    let found = protocol::explained(context, is_ours);
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
