use ptx_facts::FunctionFacts;
use ptx_facts::carry::{fits, is_undone_by_flag};
use ptx_facts::values::number::Number;
use ptx_ir::ir::Operand;
use ptx_ir::isa::Chain;
use ptx_syntax::{Diagnostic, Severity};
use rustc_hash::FxHashSet;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a subtraction that continues a chain of additions, and the reverse: `sub.cc` whose flag an
    /// `addc` or `madc` adds, `add.cc` or `mad.cc` whose flag a `subc` subtracts. It is an error within a chain of
    /// words. It is a warning where the flag is all that is wanted: the instruction adds or subtracts 0, as
    /// `addc.u32 %r1, %r2, 0` does, or it adds one thing to itself; or nothing reads the sum or the difference that
    /// the instruction before it computes.
    ///
    /// ## Why is this bad
    /// The manual says one thing about the flag after a subtraction and the hardware does another. The manual calls it
    /// a borrow. The hardware sets it where there is *no* borrow, and `subc` subtracts 1 where it is not set. So `addc`
    /// adds 1 where `sub.cc` did not borrow, and `subc` subtracts 1 where `add.cc` did not carry. Within a chain of
    /// words nobody can mean that.
    ///
    /// ## Example
    /// ```ptx
    /// sub.cc.u32 %r3, %r1, %r2;
    /// addc.u32 %r6, %r4, %r5;
    /// st.global.v2.u32 [%rd1], {%r3, %r6};
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// sub.cc.u32 %r3, %r1, %r2;
    /// subc.u32 %r6, %r4, %r5;
    /// st.global.v2.u32 [%rd1], {%r3, %r6};
    /// ```
    ///
    /// ## What it may miss
    /// A flag of a subtraction that is put into a register, where a branch adds to the difference again if that is 0, as
    /// compilers divide numbers of 128 bits: it does so where the hardware has borrowed.
    name: "carry-polarity",
    code: "P0603",
    former: ["H0312"],
    class: Hazard,
    level: Error,
    summary: "a borrow that is added, or a carry that is subtracted",
    check: Flow(check),
}

/// Whether the instruction is there for the flag alone: one of the terms is known to be 0, or it adds one thing to
/// itself. Programs that count flags so may know what their hardware answers.
pub(crate) fn counts_flag(context: &FlowContext<'_>, instruction: u32) -> bool {
    counting_flags(context, &[instruction]).contains(&instruction)
}

/// Those of some instructions that are there for the flag alone. Of the values only those are followed that they read.
fn counting_flags(context: &FlowContext<'_>, instructions: &[u32]) -> FxHashSet<u32> {
    let operands = |instruction: u32| context.body.operands(FunctionFacts::handle(instruction));
    let tells = |&&instruction: &&u32| {
        let Some((_, sources)) = operands(instruction).split_first() else { return false };
        let is_constant = |source: &Operand| matches!(source, Operand::Integer { .. });
        matches!(sources, [left, right] if left == right)
            || sources.iter().any(|source| matches!(source, Operand::Integer { bits: 0, .. }))
            || sources.iter().all(is_constant)
    };
    let mut found: FxHashSet<u32> = instructions.iter().filter(tells).copied().collect();
    let rest = instructions.iter().copied().filter(|instruction| !found.contains(instruction));
    let asked: Vec<(u32, usize)> = rest
        .flat_map(|instruction| (1..operands(instruction).len()).map(move |index| (instruction, index)))
        .filter(|&(instruction, index)| !matches!(operands(instruction)[index], Operand::Integer { .. }))
        .collect();
    let numbers = context.numbers(&asked, u64::BITS);
    let is_zero = |number: Option<Number>| number.and_then(Number::value) == Some(0);
    found.extend(
        asked
            .iter()
            .zip(numbers)
            .filter(|(_, number)| is_zero(*number))
            .map(|((instruction, _), _)| instruction),
    );
    found
}

/// Whether nothing reads what the instruction computes, so that it is there for the flag: as a comparison, or to set
/// the flag for the next chain.
fn makes_only_flag(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let mut written = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
    written.all(|each| !facts.touched().is_read(each.register))
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let wrong: Vec<_> = context
        .carry()
        .readers
        .iter()
        .filter_map(|reader| {
            let fits =
                |writer: u32| facts.carry(writer).is_none_or(|carry| fits(carry.chain, reader.carry.chain));
            Some((reader, *reader.reaching.writers.iter().find(|&&writer| !fits(writer))?))
        })
        .collect();
    let readers: Vec<u32> = wrong.iter().map(|(reader, _)| reader.instruction).collect();
    let counting = counting_flags(context, &readers);
    for (reader, writer) in wrong {
        let only_flag = counting.contains(&reader.instruction) || makes_only_flag(facts, writer);
        let is_borrow = only_flag && reader.carry.chain == Chain::Add;
        if is_borrow && is_undone_by_flag(facts, context.graph(), reader.instruction) {
            continue;
        }
        let message = match (reader.carry.chain, only_flag) {
            (Chain::Add, true) => "this takes the flag of a subtraction: it adds 1 where there was no borrow",
            (Chain::Sub, true) => {
                "this takes the flag of an addition: it subtracts 1 where there was no carry"
            }
            (Chain::Add, false) => {
                "this addition continues a chain of subtractions: it adds 1 where there was no borrow"
            }
            (Chain::Sub, false) => {
                "this subtraction continues a chain of additions: it subtracts 1 where there was no carry"
            }
        };
        let mut finding = RULE.at(context.instruction_span(reader.instruction), message);
        if only_flag {
            finding.severity = Severity::Warning;
        }
        diagnostics
            .push(finding.with_secondary(context.instruction_span(writer), "the flag comes from here"));
    }
}
