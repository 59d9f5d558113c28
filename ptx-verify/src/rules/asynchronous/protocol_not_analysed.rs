use ptx_facts::asynchronous::model::End;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;

declare_rule! {
    /// ## What it does
    /// Tells where the execution of a kernel's protocol ends before the kernel does, so that the rules about copies, `mbarrier`
    /// objects and barriers say nothing of what comes after.
    ///
    /// ## Why is this bad
    /// It is not. A count, or which barrier is meant, depends there on what is loaded from memory, or a function is called that
    /// may take part in the protocol. What goes wrong after such a place is not found.
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// ld.global.u32 %r1, [%rd1];
    /// mbarrier.init.shared.b64 [bar], %r1;
    /// mbarrier.arrive.shared.b64 _, [bar];
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.init.shared.b64 [bar], 1;
    /// mbarrier.arrive.shared.b64 _, [bar];
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing: each kernel with a protocol whose execution ends early is told.
    name: "protocol-not-analysed",
    code: "P0923",
    former: [],
    class: Hazard,
    level: Info,
    summary: "a kernel whose asynchronous protocol is followed up to a place only",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found = context.protocol();
    let (place, why) = match found.end {
        Some(End::Unknown(place)) => {
            (place, "what happens here depends on what is loaded from memory, or on another function")
        }
        Some(End::Budget) if found.faults.is_empty() => {
            let Some(first) = context.actions().first() else { return };
            (first.instruction, "the kernel has more rounds than are executed")
        }
        _ => return,
    };
    let span = protocol::shown_at(context, place);
    let mut found = RULE.at(span, "the protocol of this kernel is followed in part").with_note(why);
    for within in context.place(place).within {
        found = found.with_secondary(context.told(within), "in this function");
    }
    diagnostics.push(found);
}
