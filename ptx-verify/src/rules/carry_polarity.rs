use ptx_ir::ir::Operand;
use ptx_ir::isa::Chain;
use ptx_syntax::{Diagnostic, Severity};

use crate::context::FlowContext;
use crate::dataflow::FunctionFacts;
use crate::dataflow::carry::fits;
use crate::dataflow::values::Value;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a subtraction that continues a chain of additions, and the reverse: `sub.cc` whose borrow an
    /// `addc` or `madc` adds, `add.cc` or `mad.cc` whose carry a `subc` subtracts. It is a warning where the
    /// instruction only takes the flag out, as `addc.u32 %r1, 0, 0` does, or where the one before it only puts it in:
    /// it adds a constant, and nothing reads the sum.
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
    let operands = context.body.operands(FunctionFacts::handle(instruction));
    match operands {
        [_, left, right] => left == right || (is_number(context, *left) && is_number(context, *right)),
        _ => false,
    }
}

/// Whether nothing reads what the instruction computes of a constant, so that it is there for the flag. Libraries set
/// the flag so in front of `subc`, with what their hardware takes for "no borrow".
fn puts_flag_in(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let operands = context.body.operands(FunctionFacts::handle(instruction));
    let mut written = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
    operands.iter().skip(1).any(|operand| is_number(context, *operand))
        && written.all(|each| !facts.touched().is_read(each.register))
}

fn is_number(context: &FlowContext<'_>, operand: Operand) -> bool {
    let value = context.values().operand(context.module.module, operand);
    matches!(value, Value::Number(bits) if bits.value().is_some())
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
        if takes_flag_out(context, reader.instruction) || puts_flag_in(context, facts, writer) {
            finding.severity = Severity::Warning;
        }
        diagnostics.push(finding.with_secondary(context.instruction_span(writer), made));
    }
}
