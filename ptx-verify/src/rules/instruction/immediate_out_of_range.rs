use ptx_facts::FunctionFacts;
use ptx_ir::ir::{Handle, Instruction, Operand};
use ptx_ir::isa::{Computation, Instance, OperandSpec, Purpose};
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::function::{FlowContext, FunctionContext};
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports integer constants that do not fit into the type of their operand and lose bits, shifts by the
    /// width or more, `lop3` tables above 0xff, integer division by 0, and literals and offsets with a leading 0,
    /// which are octal.
    ///
    /// ## Why is this bad
    /// The assembler takes all of these without a word and computes with another number than the one that
    /// is there.
    ///
    /// ## Example
    /// ```ptx
    /// shl.b32 %r1, %r2, 32;
    /// add.u32 %r3, %r4, 0x100000000;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r1, 0;
    /// add.u32 %r3, %r4, 0;
    /// ```
    ///
    /// ## What it may miss
    /// Constants that reach an instruction through a register, but for those that a move puts there which are
    /// shifted or divided by.
    name: "immediate-out-of-range",
    code: "P0222",
    former: ["H0350"],
    class: Hazard,
    level: Warn,
    summary: "a constant that is cut off, or that makes no sense where it is",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let body = context.body;
    let mut instructions = body.instructions.iter().peekable();
    // Operands lie in the order of their instructions, and few are of interest.
    for (place, operand) in body.operands.iter().enumerate() {
        let (bits, negative) = match *operand {
            Operand::Integer { bits, negative } => (bits, negative),
            Operand::RegisterAddress { offset, .. } if offset > 7 => {
                diagnostics.extend(octal_offset(
                    context,
                    body.operand_spans[place],
                    u64::from(offset as u32),
                ));
                continue;
            }
            Operand::VariableAddress { offset, .. } if offset > 7 => {
                diagnostics.extend(octal_offset(context, body.operand_spans[place], offset as u64));
                continue;
            }
            _ => continue,
        };
        let is_past = |instruction: &Instruction| instruction.operands.range().end <= place;
        while instructions.next_if(|(_, instruction)| is_past(instruction)).is_some() {}
        let Some((_, instruction)) = instructions.peek() else { break };
        let Some(instance) = context.module.module.instance(instruction) else { continue };
        let index = place - instruction.operands.first as usize;
        let span = body.operand_spans[place];
        let constant = Constant { bits, negative, index, span };
        let is_whole = instruction.operands.count as usize == instance.operands.len();
        let spec = is_whole.then(|| instance.operands.get(index)).flatten();
        if let Some(message) = wrong(context, instance, spec, &constant) {
            diagnostics.push(RULE.at(span, message));
        }
    }
    if context.module.features().has(Features::AMOUNTS) {
        let is_register = |&(handle, instruction): &(Handle<Instruction>, &Instruction)| {
            instruction.operands.count as usize > AMOUNT
                && matches!(body.operands(handle)[AMOUNT], Operand::Register { .. })
        };
        let shifted = body.instructions.iter().filter(is_register);
        diagnostics.extend(shifted.filter_map(|(handle, _)| moved(context, handle.index() as u32)));
    }
}

struct Constant {
    bits: u64,
    negative: bool,
    index: usize,
    span: Span,
}

fn wrong(
    context: &FunctionContext<'_>,
    instance: &Instance,
    spec: Option<&OperandSpec>,
    constant: &Constant,
) -> Option<String> {
    if let Some(message) = octal(context, constant.span, constant.bits) {
        return Some(message);
    }
    match constant.index {
        AMOUNT if let Some(message) = wrong_amount(instance, constant.bits, constant.negative) => {
            return Some(message);
        }
        _ if spec.is_some_and(|spec| spec.purpose == Some(Purpose::TruthTable)) && constant.bits > 0xff => {
            return Some(format!("a table of `lop3` has 8 bits, and 0x{:x} has more", constant.bits));
        }
        _ => {}
    }
    truncated(spec?, constant)
}

/// The operand that is shifted or divided by.
const AMOUNT: usize = 2;

fn wrong_amount(instance: &Instance, bits: u64, negative: bool) -> Option<String> {
    match instance.effects.computes? {
        Computation::ShiftLeft | Computation::ShiftRight => {
            let width = instance.ty?.bits();
            if bits < u64::from(width) {
                return None;
            }
            // The amount is a number of 32 bits without a sign, and the assembler drops what is above.
            let amount = bits & u64::from(u32::MAX);
            let dropped = !negative && amount != bits;
            let from = if dropped { format!(": {bits} is cut to 32 bits") } else { String::new() };
            Some(format!("this shifts {width} bits by {amount}{from}"))
        }
        Computation::Divide | Computation::Remainder if bits == 0 => Some("this divides by 0".into()),
        _ => None,
    }
}

/// What is wrong with a register that is shifted or divided by, where a move sets it to a constant.
fn moved(context: &FlowContext<'_>, instruction: u32) -> Option<Diagnostic> {
    let handle = FunctionFacts::handle(instruction);
    let instance = context.facts()?.instance(instruction)?;
    if !instance.effects.computes.is_some_and(Computation::has_amount) || instance.ty?.is_float() {
        return None;
    }
    let moved = context.moved_number(instruction, AMOUNT)?;
    let finding =
        RULE.at(context.body.operand_span(handle, AMOUNT), wrong_amount(instance, moved.number, false)?);
    Some(finding.with_secondary(context.instruction_span(moved.by), "set here"))
}

fn octal(context: &FunctionContext<'_>, span: Span, bits: u64) -> Option<String> {
    // Nearly every constant begins with another digit, and this is asked of all of them.
    let begins = context.module.source.as_bytes().get(span.start as usize);
    if !matches!(begins, Some(b'0' | b'-')) {
        return None;
    }
    let text = context.module.text(span);
    let digits = text.trim_start_matches('-').trim_end_matches('U');
    let looks =
        digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value = bits as i64;
    (looks && value.unsigned_abs() > 7).then(|| format!("`{text}` is octal: it is {value}"))
}

/// An offset of an address that is written with a leading 0: the digits before the `]`.
fn octal_offset(context: &FunctionContext<'_>, span: Span, offset: u64) -> Option<Diagnostic> {
    // Nearly every offset has the length of a decimal number, and this is asked of all of them.
    let bytes = context.module.source.as_bytes();
    let before = (span.end as usize).checked_sub(offset.checked_ilog10()? as usize + "0]".len() + 1);
    if before.and_then(|before| bytes.get(before)).is_some_and(|before| matches!(before, b'+' | b'-')) {
        return None;
    }
    let text = context.module.text(span);
    let inner = text.strip_suffix(']').unwrap_or(text).trim_ascii_end();
    let digits = inner.len() - inner.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, number) = inner.split_at(digits);
    if number.len() < 2 || !number.starts_with('0') {
        return None;
    }
    let value = i64::from_str_radix(number, 8).ok()?;
    // What ends in such digits may be a name, or a hexadecimal number.
    let is_number = before.trim_ascii_end().ends_with(['+', '-']);
    (value > 7 && is_number).then(|| RULE.at(span, format!("the offset `{number}` is octal: it is {value}")))
}

fn truncated(spec: &OperandSpec, constant: &Constant) -> Option<String> {
    let ty = spec.ty.filter(|ty| ty.is_integer())?;
    let width = ty.bits();
    if !(8..64).contains(&width) || !spec.ranges.is_empty() {
        return None;
    }
    let fits = if constant.negative {
        constant.bits as i64 >= -(1_i64 << (width - 1))
    } else {
        // A sign-extended pattern of ones at the front is a negative number written in hexadecimal.
        constant.bits < 1 << width || constant.bits as i64 >> (width - 1) == -1
    };
    (!fits).then(|| {
        let kept = constant.bits & ((1 << width) - 1);
        format!("this constant does not fit into `{ty}`: {kept} is left of it")
    })
}
