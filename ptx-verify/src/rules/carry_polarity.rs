use ptx_ir::isa::Chain;
use ptx_syntax::{Diagnostic, Severity};

use crate::context::FlowContext;
use crate::dataflow::carry::fits;
use crate::dataflow::values::Value;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a subtraction that continues a chain of additions, and the reverse: `sub.cc` whose borrow an
    /// `addc` or `madc` adds, `add.cc` or `mad.cc` whose carry a `subc` subtracts. It is a warning where the
    /// instruction only takes the flag out, as `addc.u32 %r1, 0, 0` does.
    ///
    /// ## Why is this bad
    /// The manual says one thing about the flag after a subtraction and the hardware does another, so nobody
    /// can mean it: the flag after `sub.cc` is a borrow for `subc` only.
    ///
    /// ## Example
    /// ```ptx
    /// sub.cc.u32 %r3, %r1, %r2;
    /// addc.u32 %r6, %r4, 0;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// sub.cc.u32 %r3, %r1, %r2;
    /// subc.u32 %r6, %r4, 0;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "carry-polarity",
    code: "H0312",
    class: Hazard,
    level: Error,
    summary: "a borrow that is added, or a carry that is subtracted",
    check: Flow(check),
}

/// Whether the instruction adds one thing to itself or constants, and so only looks at the flag. Programs that
/// do so after a subtraction may know what their hardware answers.
fn takes_flag_out(context: &FlowContext<'_>, instruction: u32) -> bool {
    let operands = context.body.operands(ptx_ir::ir::Handle::new(instruction));
    let is_number = |operand: &ptx_ir::ir::Operand| matches!(context.values().operand(context.module.module, *operand), Value::Number(bits) if bits.value().is_some());
    match operands {
        [_, left, right] => left == right || (is_number(left) && is_number(right)),
        _ => false,
    }
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    for reader in &context.carry().readers {
        let wrong =
            reader.reaching.writers.iter().find(|&&writer| {
                facts.carry(writer).is_some_and(|carry| !fits(carry.chain, reader.carry.chain))
            });
        let Some(&writer) = wrong else { continue };
        let message = match reader.carry.chain {
            Chain::Add => "this addition continues a chain of subtractions: it would add a borrow",
            Chain::Sub => "this subtraction continues a chain of additions: it would subtract a carry",
        };
        let made = match reader.carry.chain {
            Chain::Add => "the borrow comes from here",
            Chain::Sub => "the carry comes from here",
        };
        let mut finding = RULE.at(context.instruction_span(reader.instruction), message);
        if takes_flag_out(context, reader.instruction) {
            finding.severity = Severity::Warning;
        }
        diagnostics.push(finding.with_secondary(context.instruction_span(writer), made));
    }
}
