use ptx_ir::ir::Module;
use ptx_syntax::Diagnostic;

use crate::subject::function::FlowContext;
use crate::dataflow::values::{Address, Object};
use crate::memory::Access;
use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a memory access whose address is known to be no multiple of the number of bytes accessed: a
    /// variable with a known alignment, or a plain number, and an offset whose low bits are known. `cp.async` needs a multiple of the bytes it copies; bulk copies and the rows
    /// of `ldmatrix` and `stmatrix` need a multiple of 16.
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
    code: "H0320",
    class: Hazard,
    level: Error,
    summary: "an address that is no multiple of the size of the access",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for access in context.accesses() {
        let Some(remainder) = remainder(context.module.module, access) else { continue };
        let (bytes, aligned) = (access.bytes, access.aligned);
        let what = if bytes == 0 { "access".into() } else { format!("access of {bytes} bytes") };
        let mut finding = RULE.at(access.span, format!("this {what} is misaligned")).with_label(format!(
            "the address is {remainder} more than a multiple of {}",
            modulus(context, access)
        ));
        if let Object::Variable(variable) | Object::Mapped(variable) = access.address.object {
            let variable = &context.module.module.variables[variable];
            let alignment = variable.alignment();
            finding = finding.with_secondary(variable.span, format!("aligned to {alignment} bytes"));
        }
        diagnostics.push(finding.with_note(format!("an {what} needs a multiple of {aligned}")));
    }
}

/// What is known of the alignment of the start of an object.
fn alignment(module: &Module, address: &Address) -> Option<u64> {
    match address.object {
        Object::Variable(variable) | Object::Mapped(variable) => {
            Some(u64::from(module.variables[variable].alignment()))
        }
        Object::Pointee(parameter) => Some(u64::from(module.variables[parameter].pointer?.align?)),
        // All of a number is known, as far as its offset is.
        Object::Number => Some(1 << 32),
        Object::Unknown => None,
    }
}

/// The largest number that the address is known modulo, at most the size of the access.
fn modulus(context: &FlowContext<'_>, access: &Access) -> u64 {
    let known = 1_u64.checked_shl(u32::from(access.address.offset.known)).unwrap_or(u64::MAX);
    let alignment = alignment(context.module.module, &access.address).unwrap_or(1);
    known.min(alignment).min(u64::from(access.aligned))
}

/// How far the address is from a multiple of the size, where it certainly is no multiple.
fn remainder(module: &Module, access: &Access) -> Option<u64> {
    let aligned = u64::from(access.aligned);
    if aligned < 2 {
        return None;
    }
    let alignment = alignment(module, &access.address)?;
    let known = 1_u64.checked_shl(u32::from(access.address.offset.known)).unwrap_or(u64::MAX);
    // Alignments are powers of two, which the assembler sees to; anything else tells nothing.
    if !alignment.is_power_of_two() {
        return None;
    }
    let remainder = access.address.offset.low % alignment.min(aligned).min(known);
    (remainder != 0).then_some(remainder)
}
