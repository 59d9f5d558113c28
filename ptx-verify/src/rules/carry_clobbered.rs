use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::FunctionFacts;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a chain of extended-precision instructions that another one runs into: a `.cc` instruction whose
    /// carry is overwritten by the start of another chain before it is read, while a later instruction
    /// reads the flag; and an instruction that reads the carry of a chain whose next member has read it already.
    ///
    /// ## Why is this bad
    /// There is one carry flag. The instruction that continues the first chain adds the carry of the second.
    ///
    /// ## Example
    /// ```ptx
    /// add.cc.u32 %r3, %r1, %r2;
    /// add.cc.u32 %r9, %r7, %r8;
    /// addc.u32 %r6, %r4, %r5;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.cc.u32 %r3, %r1, %r2;
    /// addc.u32 %r6, %r4, %r5;
    /// add.cc.u32 %r9, %r7, %r8;
    /// ```
    ///
    /// ## What it may miss
    /// A chain that is broken after its second member, where the first half might be a chain of its own.
    name: "carry-clobbered",
    code: "H0311",
    class: Hazard,
    level: Warn,
    summary: "a carry that another chain overwrites, or that is read twice",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let carry = context.carry();
    if carry.unknown {
        return;
    }
    for &lost in &carry.unread {
        overwritten(context, facts, lost, diagnostics);
    }
    for pair in carry.readers.windows(2) {
        let [first, second] = pair else { continue };
        if read_twice(context, facts, first.instruction, second.instruction)
            && first.reaching.writers == second.reaching.writers
            && !first.reaching.writers.is_empty()
        {
            diagnostics.push(
                RULE.at(
                    context.instruction_span(second.instruction),
                    "this reads the same carry as the member of the chain before it",
                )
                .with_secondary(
                    context.instruction_span(first.instruction),
                    "read here first, and not set anew",
                )
                .with_help("give the instruction before it the modifier `.cc`"),
            );
        }
    }
}

/// The start of a chain that nobody continues, because the next start comes first.
fn overwritten(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    lost: u32,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let starts =
        |instruction: u32| facts.carry(instruction).is_some_and(|carry| carry.writes && !carry.reads);
    let writers = facts.carry_writers();
    let next = writers.partition_point(|&writer| writer <= lost);
    let Some(&next) = writers.get(next) else { return };
    let same_block =
        facts.cfg.block_of(FunctionFacts::handle(lost)) == facts.cfg.block_of(FunctionFacts::handle(next));
    let reader = context.carry().readers.iter().find(|reader| reader.reaching.writers.contains(&next));
    let Some(reader) = reader.filter(|_| starts(lost) && starts(next) && same_block) else { return };
    if facts.condition(lost) != facts.condition(next) {
        return;
    }
    diagnostics.push(
        RULE.at(context.instruction_span(next), "this overwrites a carry that nothing has read yet")
            .with_secondary(context.instruction_span(lost), "the carry that is lost comes from here")
            .with_secondary(context.instruction_span(reader.instruction), "the flag is read here"),
    );
}

/// Whether both instructions stand in a block, one after the other, and the first leaves the flag as it was
/// though it is a member of the chain. `addc d, 0, 0` only takes the carry out and is none.
fn read_twice(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, first: u32, second: u32) -> bool {
    let (Some(a), Some(b)) = (facts.carry(first), facts.carry(second)) else { return false };
    let block = |instruction| facts.cfg.block_of(FunctionFacts::handle(instruction));
    !a.writes
        && a.chain == b.chain
        && block(first) == block(second)
        && !takes_carry_out(context, first)
        && !takes_carry_out(context, second)
        && facts.condition(first) == facts.condition(second)
}

fn takes_carry_out(context: &FlowContext<'_>, instruction: u32) -> bool {
    use ptx_ir::ir::Operand;
    let operands = context.body.operands(FunctionFacts::handle(instruction));
    let constants = operands.iter().filter(|operand| matches!(operand, Operand::Integer { .. })).count();
    constants + 1 >= operands.len()
}
