use ptx_ir::ir::Operand;
use ptx_ir::isa::{Mismatch, Wanted};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::wanted::count_of;

declare_rule! {
    /// ## What it does
    /// Reports a brace list, or a vector register, with another number of elements than the instruction takes.
    ///
    /// ## Why is this bad
    /// The module does not assemble. How many elements there must be follows from a modifier: `.v2` or `.v4`, the
    /// shape and type of a matrix instruction, the dimensions of a tensor copy.
    ///
    /// ## Example
    /// ```ptx
    /// ld.global.v4.u32 {%r1, %r2, %r3}, [%rd1];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "vector-length",
    code: "P0211",
    former: ["E0210"],
    class: Invalid,
    level: Error,
    summary: "a brace list of the wrong length",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Mismatch(Mismatch::Operand {
        operand,
        part,
        spec,
        instance,
        wanted: Wanted::Length { expected },
    }) = occurrence.problem
    else {
        return None;
    };
    let (found, span) = occurrence.operand(*operand, *part)?;
    let spec = occurrence.spec(*instance, *spec, *part)?;
    let given = match found {
        Operand::VectorRegister { count, .. } => usize::from(count),
        _ => occurrence.children(found).len(),
    };
    let name = occurrence.name();
    let wanted = count_of(usize::from(*expected), "element");
    let finding = RULE
        .at(
            span,
            format!("`{name}` takes {wanted} here, there {} {given}", if given == 1 { "is" } else { "are" }),
        )
        .with_label(format!("operand `{}`", spec.name));
    let finding = occurrence.with_declaration(finding, found);
    Some(match spec.because.and_then(|modifier| Some((modifier, name.find(modifier)?))) {
        Some((modifier, at)) => {
            let place = occurrence.place(&(at..at + modifier.len()));
            finding.with_secondary(place, format!("`{modifier}` makes it {expected}"))
        }
        None => finding,
    })
}
