use ptx_facts::mentions::owner;
use ptx_ir::ir::Operand;
use ptx_ir::isa::Class;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::describe::register_name;
use crate::subject::function::FunctionContext;

declare_rule! {
    /// ## What it does
    /// Reports a `.pred` register as an element of a brace list.
    ///
    /// ## Why is this bad
    /// No instruction takes vectors of predicates. NVIDIA's assembler looks at the width of the elements only
    /// and takes a predicate for 32 bits.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .pred %p<3>;
    /// ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%p1, %p2}, [%rd1];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .b32 %r<3>;
    /// ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%rd1];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "predicate-in-vector",
    code: "P0219",
    former: ["H0202"],
    class: Hazard,
    level: Warn,
    summary: "a predicate inside a brace list",
    check: Function(check),
}

fn check(context: &FunctionContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    for (place, operand) in context.mentions.operands(context.body) {
        let Operand::Vector(run) = operand else { continue };
        let predicates =
            context.body.children(run).iter().enumerate().filter_map(|(index, child)| match child {
                Operand::Register { register, class: Class::RegPred } => Some((index, *register)),
                _ => None,
            });
        for (index, register) in predicates {
            let fits = owner(context.body, place)
                .is_some_and(|(_, instruction)| module.instance(instruction).is_some());
            if !fits {
                break;
            }
            let span = context.body.child_spans.get(run.first as usize + index).copied();
            let name = register_name(module, context.body, register);
            let finding =
                RULE.at(span.unwrap_or_default(), format!("`{name}` is a predicate inside a brace list"));
            diagnostics.push(finding.with_help("select a number with `selp` first"));
        }
    }
}
