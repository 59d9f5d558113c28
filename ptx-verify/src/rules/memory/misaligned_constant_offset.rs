use ptx_facts::memory::Access;
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a memory access whose address is known to be no multiple of the number of bytes accessed: a
    /// variable with a known alignment, or a plain number, and an offset whose low bits are known. `cp.async` needs a
    /// multiple of the bytes it copies; bulk copies and the rows of `ldmatrix` and `stmatrix` need a multiple of 16. It is
    /// a warning where a compiler has printed the module and the access is under a condition, which may never hold.
    ///
    /// ## Why is this bad
    /// A misaligned access is an error when the kernel runs, for all of it. PTX ISA manual, section "Addresses
    /// as Operands": the address must be aligned to a multiple of the access size.
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 4 .b8 buffer[64];
    /// ld.shared.u32 %r1, [buffer+2];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 4 .b8 buffer[64];
    /// ld.shared.u32 %r1, [buffer+4];
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that come from memory or from other functions, and variables that may happen to be aligned
    /// better than they are declared.
    name: "misaligned-constant-offset",
    code: "P0701",
    former: ["H0320"],
    class: Hazard,
    level: Error,
    summary: "an address that is no multiple of the size of the access",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for access in context.accesses() {
        let Some(label) = wrong(access).filter(|_| context.can_come(access.instruction)) else { continue };
        let (bytes, aligned) = (access.bytes, access.aligned);
        let what = if bytes == 0 { "access".into() } else { format!("access of {bytes} bytes") };
        let mut finding = RULE.at(access.span, format!("this {what} is misaligned")).with_label(label);
        if context.may_be_dead(access.instruction) {
            finding.severity = Severity::Warning;
        }
        if let Some(variable) = access.variable() {
            let variable = &context.module.module.variables[variable];
            let alignment = variable.alignment();
            finding = finding.with_secondary(variable.span, format!("aligned to {alignment} bytes"));
        }
        diagnostics.push(finding.with_note(format!("an {what} needs a multiple of {aligned}")));
    }
}

/// How an address certainly is no multiple of what it has to be a multiple of.
fn wrong(access: &Access) -> Option<String> {
    let aligned = u64::from(access.aligned);
    if !aligned.is_power_of_two() || access.number().ones & (aligned - 1) == 0 {
        return None;
    }
    let modulus = aligned.min(1_u64.checked_shl(access.number().known_low()).unwrap_or(u64::MAX));
    Some(match access.number().ones % modulus {
        0 => format!("the address is no multiple of {aligned}"),
        remainder => format!("the address is {remainder} more than a multiple of {modulus}"),
    })
}
