use ptx_facts::paths::Origin;
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::rules::register::maybe_uninitialized_register::with_path;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports an `addc`, `subc` or `madc` that reads the carry flag `CC.CF` where no `.cc` instruction has
    /// written it: an error where that is so on every path, a warning where it is so on some. A chain whose
    /// members have the same guard is a good chain as long as the guard keeps its value.
    ///
    /// ## Why is this bad
    /// The flag is undefined when a function is entered and the assembler does not check it: the result has a
    /// random lowest bit. PTX ISA manual, section "Extended-Precision Integer Arithmetic Instructions".
    ///
    /// ## Example
    /// ```ptx
    /// add.u32 %r3, %r1, %r2;
    /// addc.u32 %r6, %r4, %r5;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.cc.u32 %r3, %r1, %r2;
    /// addc.u32 %r6, %r4, %r5;
    /// ```
    ///
    /// ## What it may miss
    /// Conditions that depend on each other through arithmetic are not recognised.
    name: "carry-undefined",
    code: "P0601",
    former: ["H0310"],
    class: Hazard,
    level: Error,
    summary: "a carry flag that is read though nothing has set it",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for reader in &context.carry().readers {
        let Some(undefined) = &reader.reaching.undefined else { continue };
        if undefined.origin != Origin::Entry {
            continue;
        }
        let span = context.instruction_span(reader.instruction);
        let certain = reader.reaching.writers.is_empty() && !reader.reaching.unknown;
        let finding = if certain {
            RULE.at(span, "the carry flag is read here, but no instruction has set it")
                .with_help("give the instruction that makes the carry the modifier `.cc`")
        } else {
            let mut finding = RULE.at(span, "the carry flag is read here, but some path leaves it unset");
            finding.severity = Severity::Warning;
            for &writer in reader.reaching.writers.iter().take(3) {
                finding = finding.with_secondary(context.instruction_span(writer), "set here");
            }
            with_path(context, undefined, finding)
        };
        diagnostics.push(finding);
    }
}
