use ptx_ir::ir::{Body, Handle, Instruction, Module, Operand};
use ptx_ir::isa::{Beyond, Class, Instance, OperandSpec, Pattern};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Notes what NVIDIA's assembler takes though the PTX manual does not have it: a form, a value of a modifier, or an
    /// operand of another kind, such as the address of a function where a number belongs. `ptx-cli isa --tolerance` tells what
    /// there is of it.
    ///
    /// ## Why is this bad
    /// Nothing promises that the next assembler takes it, and other readers of PTX may not.
    ///
    /// ## Example
    /// ```ptx
    /// fma.rz.bf16x2 %r1, %r2, %r3, %r4;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// fma.rn.bf16x2 %r1, %r2, %r3, %r4;
    /// ```
    ///
    /// ## What it may miss
    /// Odd spellings and misread operands are findings of other rules. Nothing is said of a single value in braces, which
    /// Triton writes everywhere.
    name: "beyond-manual",
    code: "P0227",
    former: [],
    class: Style,
    level: Info,
    summary: "what the assembler takes and the manual does not have",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::BeyondManual(beyond) = occurrence.problem else { return None };
    let spelled = |what: &str, reason: &str| {
        RULE.at(occurrence.spelling_span(), format!("the manual does not have {what}: {reason}"))
    };
    match beyond {
        Beyond::Form { reason } => Some(spelled(&format!("this form of `{}`", occurrence.opcode()), reason)),
        Beyond::Modifier { modifier, reason } => {
            Some(spelled(&format!("`{modifier}` of `{}`", occurrence.opcode()), reason))
        }
        Beyond::Operand { operand, part: None, .. } if in_braces(occurrence.operands()[*operand]) => None,
        Beyond::Operand { operand, part, reasons, .. } => {
            let (_, span) = occurrence.operand(*operand, *part)?;
            let message = format!("the manual does not have such an operand of `{}`", occurrence.name());
            let finding = RULE.at(span, message);
            Some(match reasons.is_empty() {
                true => finding,
                false => finding.with_note(format!("the assembler takes it: {}", reasons.join("; "))),
            })
        }
        _ => None,
    }
}

fn in_braces(operand: Operand) -> bool {
    matches!(operand, Operand::Vector(run) if run.count == 1)
}

/// Whether all operands are plainly what the manual has. Most are; where this is not so, they have to be compared.
pub(crate) fn is_plain(module: &Module, body: &Body, handle: Handle<Instruction>, instance: &Instance) -> bool {
    let operands = body.operands(handle);
    operands.len() == instance.operands.len()
        && operands.iter().zip(&instance.operands).all(|(operand, spec)| is_of(module, body, spec, operand))
}

fn is_of(module: &Module, body: &Body, spec: &OperandSpec, operand: &Operand) -> bool {
    let single = matches!(spec.pattern, Pattern::Value | Pattern::NegatableValue | Pattern::Selectable { .. });
    let (class, fits) = match *operand {
        Operand::Register { class, .. } => (class, single),
        Operand::Negated { class, .. } => (class, spec.pattern == Pattern::NegatableValue),
        Operand::Integer { negative: false, .. } => (Class::Integer, single),
        Operand::Integer { negative: true, .. } => (Class::NegativeInteger, single),
        Operand::SingleBits(_) => (Class::SingleBits, single),
        Operand::DoubleBits(_) => (Class::DoubleBits, single),
        Operand::Decimal(_) => (Class::Decimal, single),
        Operand::Special(register) => (Class::special(register.reads()), single),
        Operand::Sink => (Class::Sink, single),
        Operand::Label(_) => (Class::Label, single),
        Operand::RegisterAddress { class, .. } => (class, spec.pattern == Pattern::Address),
        Operand::Vector(run) => {
            let of_manual = |element: &Operand| {
                matches!(element, Operand::Register { class, .. } if spec.manual.contains(*class))
            };
            let fits = spec.pattern == Pattern::Vector { count: run.count as u16 };
            return fits && body.children(run).iter().all(of_manual);
        }
        Operand::List(_) => return spec.pattern == Pattern::List,
        // The table nests them, not the text.
        Operand::Pair(run) | Operand::Bracket(run) => {
            let parts = body.children(run);
            let is_pair = matches!(operand, Operand::Pair(_));
            let fits = spec.pattern == if is_pair { Pattern::Pair } else { Pattern::Bracket };
            return fits
                && parts.len() == spec.children.len()
                && parts.iter().zip(&spec.children).all(|(part, spec)| is_of(module, body, spec, part));
        }
        Operand::Variable { variable, offset: 0, .. } => {
            (module.variable_class(&module.variables[variable]), single)
        }
        Operand::VariableAddress { variable, .. } => {
            (module.variable_class(&module.variables[variable]), spec.pattern == Pattern::Address)
        }
        _ => return false,
    };
    fits && spec.manual.contains(class)
}
