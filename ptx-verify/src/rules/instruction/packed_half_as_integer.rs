use ptx_ir::ir::Operand;
use ptx_ir::types::{Type, TypeKind};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::describe::register_name;
use crate::subject::function::FunctionContext;

declare_rule! {
    /// ## What it does
    /// Reports a register declared `.f16x2` as an operand of an instruction on integers.
    ///
    /// ## Why is this bad
    /// NVIDIA's assembler takes it for 32 bits without a word; the manual allows `.f16x2` for instructions on
    /// packed half-precision numbers and on bits only.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .f16x2 %h<3>;
    /// add.u32 %r1, %h1, %h2;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .b32 %r<4>;
    /// add.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "packed-half-as-integer",
    code: "P0220",
    former: ["H0203"],
    class: Hazard,
    level: Warn,
    summary: "a `.f16x2` register where an integer is meant",
    check: Function(check),
}

fn check(context: &FunctionContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    if !context.body.registers.iter().any(|(_, group)| group.ty == Type::F16x2) {
        return;
    }
    for (handle, instruction) in context.body.instructions.iter() {
        let Some(instance) = module.instance(instruction) else { continue };
        let operands = context.body.operands(handle);
        for (index, (operand, spec)) in operands.iter().zip(&instance.operands).enumerate() {
            let Operand::Register { register, .. } = *operand else { continue };
            let Some(ty) = spec.ty.filter(|ty| matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned))
            else {
                continue;
            };
            if context.body.register_type(register) == Some(Type::F16x2) {
                let name = register_name(module, context.body, register);
                let span = context.body.operand_span(handle, index);
                diagnostics.push(RULE.at(span, format!("`{name}` is `.f16x2`, and this takes `{ty}`")));
            }
        }
    }
}
