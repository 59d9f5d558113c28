use ptx_ir::ir::Handle;
use ptx_ir::isa::Instance;
use ptx_syntax::{Applicability, Diagnostic, Edit};

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::place::of_modifier;

declare_rule! {
    /// ## What it does
    /// Reports an instruction with `.cc` whose carry nothing reads.
    ///
    /// ## Why is this bad
    /// It costs a predicate, and the reader looks for the rest of the chain.
    ///
    /// ## Example
    /// ```ptx
    /// add.cc.u32 %r3, %r1, %r2;
    /// st.global.u32 [%rd1], %r3;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.u32 %r3, %r1, %r2;
    /// st.global.u32 [%rd1], %r3;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "carry-unused",
    code: "P0605",
    former: ["S0401"],
    class: Style,
    level: Info,
    summary: "a carry that nothing reads",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let carry = context.carry();
    if carry.unknown {
        return;
    }
    for &writer in &carry.unread {
        let span = context.instruction_span(writer);
        let finding = RULE.at(span, "nothing reads the carry that this instruction sets");
        let spelling = context.body.instructions[Handle::new(writer)].spelling;
        let instances = &context.module.module.spellings[spelling].resolved.instances;
        let word = instances.iter().find_map(Instance::carry_modifier);
        let at = word.and_then(|word| Some((word, of_modifier(context.module.source, span, word)?)));
        diagnostics.push(match at {
            Some((word, span)) => finding.with_help(format!("leave `{word}` away")).with_fix(
                format!("leave `{word}` away"),
                Applicability::Likely,
                vec![Edit { span, replacement: String::new() }],
            ),
            None => finding,
        });
    }
}
