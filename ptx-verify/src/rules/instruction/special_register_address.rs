use ptx_ir::lower::Problem;
use ptx_syntax::{Diagnostic, Located};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a special register as the base of an address.
    ///
    /// ## Why is this bad
    /// An address is a register, a variable or a constant. PTX ISA manual, section "Addresses as Operands". NVIDIA's
    /// assembler takes such a line, and crashes when it makes code of a load, a store or an atomic operation with it.
    ///
    /// ## Example
    /// ```ptx
    /// ld.shared.u32 %r1, [%laneid];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r2, %laneid;
    /// ld.shared.u32 %r1, [%r2];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known. What else is wrong with the instruction is not looked at.
    name: "special-register-address",
    code: "P0223",
    former: ["H0377"],
    class: Hazard,
    level: Error,
    summary: "a special register as the base of an address",
    check: Lowering(check),
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    let Problem::SpecialRegisterBase(special) = problem.what else { return None };
    let finding = RULE.at(problem.span, format!("`{}` is no base of an address", special.name()));
    let finding = finding.with_note(
        "the assembler takes it in a line by itself, and crashes when it makes code of most of them",
    );
    Some(finding.with_help(format!("read it into a register first: `{}`", special.read())))
}
