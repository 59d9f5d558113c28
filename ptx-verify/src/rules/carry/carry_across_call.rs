use ptx_facts::paths::Origin;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a read of the carry flag with a call between it and the instruction that set the flag.
    ///
    /// ## Why is this bad
    /// The flag is not preserved across calls. PTX ISA manual, section "Extended-Precision Integer Arithmetic
    /// Instructions". It may happen to survive with one assembler and be lost with the next.
    ///
    /// ## Example
    /// ```ptx
    /// add.cc.u32 %r3, %r1, %r2;
    /// call helper;
    /// addc.u32 %r6, %r4, %r5;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// call helper;
    /// add.cc.u32 %r3, %r1, %r2;
    /// addc.u32 %r6, %r4, %r5;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "carry-across-call",
    code: "P0604",
    former: ["H0313"],
    class: Hazard,
    level: Warn,
    summary: "a carry flag that is expected to survive a call",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for reader in &context.carry().readers {
        let Some(undefined) = &reader.reaching.undefined else { continue };
        let Origin::Call(call) = undefined.origin else { continue };
        if reader.reaching.unknown {
            continue;
        }
        diagnostics.push(
            RULE.at(
                context.instruction_span(reader.instruction),
                "the carry flag is read here, but a call does not preserve it",
            )
            .with_secondary(context.instruction_span(call), "the call leaves the flag undefined")
            .with_help("move the call out of the chain"),
        );
    }
}
