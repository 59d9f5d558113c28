use ptx_syntax::{Applicability, Diagnostic, Edit};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports operands that NVIDIA's assembler takes without a word and uses as something else, such as a sampler
    /// in a module without `texmode_independent`, or an address whose brackets were forgotten.
    ///
    /// ## Why is this bad
    /// The machine code does not do what is written.
    ///
    /// ## Example
    /// ```ptx
    /// .version 8.0
    /// .target sm_90
    /// .address_size 64
    /// .entry k(.param .u64 texture, .param .u64 sampler)
    /// {
    ///     .reg .f32 %f<6>;
    ///     .reg .b64 %d<2>;
    ///     ld.param.u64 %d0, [texture];
    ///     ld.param.u64 %d1, [sampler];
    ///     mov.f32 %f4, 0f00000000;
    ///     tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, %d1, {%f4}];
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .version 8.0
    /// .target sm_90, texmode_independent
    /// .address_size 64
    /// .entry k(.param .u64 texture, .param .u64 sampler)
    /// {
    ///     .reg .f32 %f<6>;
    ///     .reg .b64 %d<2>;
    ///     ld.param.u64 %d0, [texture];
    ///     ld.param.u64 %d1, [sampler];
    ///     mov.f32 %f4, 0f00000000;
    ///     tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, %d1, {%f4}];
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "misread-operands",
    code: "P0217",
    former: ["H0205"],
    class: Hazard,
    level: Warn,
    summary: "operands that the assembler uses as something else",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Misread(form) = occurrence.problem else { return None };
    let how = form.misread()?;
    let message = format!("the assembler misreads this `{}`: {how}", occurrence.opcode());
    let Some(operand) = form.bracket() else {
        return Some(RULE.at(occurrence.spelling_span(), message));
    };
    let span = occurrence.operand_span(operand);
    let text = occurrence.context.module.text(span);
    let diagnostic = RULE.at(span, message);
    if text.starts_with('{') {
        return Some(diagnostic.with_help("an address is written in brackets"));
    }
    // What is in the register may be meant for an address only where it can be one.
    let ty = occurrence.declaration(occurrence.operands()[operand]).map(|group| group.ty);
    if !ty.is_some_and(|ty| matches!(ty.bits(), 32 | 64)) {
        return Some(diagnostic);
    }
    let edit = Edit { span, replacement: format!("[{text}]") };
    Some(diagnostic.with_fix("put the address in brackets", Applicability::Likely, vec![edit]))
}
