use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;
use ptx_syntax::cuda::{CType, Event, EventKind};
use ptx_syntax::{Diagnostic, Severity};

use crate::asm::translate::{constraint_fix, with_certain};
use crate::asm::unit::{Mode, Unit};
use crate::dataflow::ways::{Ends, Ways};
use crate::dataflow::{Access, FunctionFacts, for_each_register};
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an output of an asm statement that is written before the last read of an input of the same kind,
    /// and whose constraint does not say so with `&`.
    ///
    /// ## Why is this bad
    /// Without `&` the compiler may give the output the register of an input that is not used afterwards: the write
    /// then destroys the input. nvcc 13.5 and clang 19 both do it where a variable is updated in a loop or under
    /// an `if`, so the statement works in one place and computes wrong values in another, without any message.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void multiply(unsigned &low, unsigned &high, unsigned a, unsigned b) {
    ///   asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=r"(low), "=r"(high) : "r"(a), "r"(b));
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void multiply(unsigned &low, unsigned &high, unsigned a, unsigned b) {
    ///   asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=&r"(low), "=r"(high) : "r"(a), "r"(b));
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Outputs and inputs of different letters are taken to be kept apart. A write that copies the very input is no
    /// fault, nor is an input that is a constant. An output with `+` is reported only where an input is the same
    /// expression: with different ones it depends on what the caller passes. Where the write copies a variable to
    /// itself, only a loop that hands one variable to the next breaks it: that is a warning, and in a kernel without
    /// control flow around the statement nothing. So is an input whose name looks like a macro of another file.
    name: "asm-missing-early-clobber",
    code: "H0601",
    class: Hazard,
    level: Error,
    summary: "an output that is written while an input in the same register is still needed",
    check: Asm(check),
}

/// Of a statement with more operands than this the first conflict is told, whichever it is.
const MAX_COMPARED: usize = 64;

/// A write of an output and a later read of an input.
#[derive(Clone, Copy)]
struct Conflict {
    write: u32,
    read: u32,
    input: usize,
    /// Whether output and input are the same expression.
    same: bool,
    /// Whether what is written is the old value of the same variable.
    copy: bool,
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.broken || !unit.statement.complete {
        return;
    }
    let candidates: Vec<usize> =
        (0..unit.operands.len()).filter(|&output| may_clobber(unit, output)).collect();
    if candidates.is_empty() {
        return;
    }
    let Some(facts) = unit.facts() else { return };
    let accesses = accesses(unit, &facts);
    for output in candidates {
        let Some(conflict) = conflict(unit, &facts, &accesses, output) else { continue };
        if conflict.copy && !is_under_control_flow(unit) {
            continue;
        }
        let certain = !conflict.copy && !may_be_macro(unit, conflict.input);
        let found = finding(unit, output, &conflict);
        let severity = if certain { found.severity } else { Severity::Warning };
        out.push(Diagnostic { severity, ..found });
    }
}

/// The expression of an operand.
fn expression<'a>(unit: &Unit<'a>, index: usize) -> &'a str {
    unit.statement.operands().nth(index).map_or("", |operand| operand.expression.text(unit.source))
}

/// Whether an instruction copies an input to an output of the same expression: a variable may share its register with
/// itself, which changes nothing.
fn copies_to_itself(unit: &Unit<'_>, facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let operands = facts.body.operands(Handle::new(instruction));
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    let [Operand::Register { register: to, .. }, Operand::Register { register: from, .. }] = operands else {
        return false;
    };
    let both = unit.operand_of(*to).zip(unit.operand_of(*from));
    computes == Some(Computation::Move)
        && both.is_some_and(|(to, from)| expression(unit, to) == expression(unit, from))
}

/// Whether the statement may be in a loop or under a condition, in its own function or in one that this is inlined into.
fn is_under_control_flow(unit: &Unit<'_>) -> bool {
    let Some(function) = unit.statement.function.map(|id| unit.file.function(id)) else { return true };
    let mut around = unit.statement.region;
    while let Some(region) = around.map(|id| unit.file.region(id)) {
        if region.kind.is_control_flow() {
            return true;
        }
        around = region.parent;
    }
    let jumps = |event: &Event| matches!(event.kind, EventKind::Label);
    !function.qualifiers.global || function.events.iter().any(jumps)
}

/// Whether an input is a name that nothing in sight declares and that is spelled as macros are: perhaps a constant.
fn may_be_macro(unit: &Unit<'_>, input: usize) -> bool {
    let text = expression(unit, input);
    let unknown = unit.statement.operands().nth(input).is_some_and(|operand| operand.ctype == CType::Unknown);
    unknown && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether an operand is an output without `&`.
fn may_clobber(unit: &Unit<'_>, index: usize) -> bool {
    let operand = &unit.operands[index];
    let early = unit.statement.outputs.get(index).is_some_and(|output| output.constraint.is_early_clobber());
    operand.mode != Mode::Input && operand.register.is_some() && !early
}

/// Whether the compiler may put an input into the register of an output.
fn may_share(unit: &Unit<'_>, output: usize, input: usize) -> bool {
    let (left, right) = (&unit.operands[output], &unit.operands[input]);
    if right.mode != Mode::Input || left.letter != right.letter || right.register.is_none() {
        return false;
    }
    let constant = unit.statement.operands().nth(input).is_some_and(|operand| operand.constant);
    !constant && (left.mode == Mode::Output || expression(unit, output) == expression(unit, input))
}

/// For each instruction of the template the registers it certainly reads and writes.
fn accesses(unit: &Unit<'_>, facts: &FunctionFacts<'_>) -> Vec<(u32, Register, Access)> {
    let mut list = Vec::new();
    for instruction in unit.instructions() {
        let handle = Handle::new(instruction);
        let guard = facts.body.instructions[handle].guard.and_then(|guard| guard.register);
        list.extend(guard.map(|register| (instruction, register, Access::Read)));
        for_each_register(facts.module, facts.body, handle, |register, access| {
            list.push((instruction, register, access));
        });
    }
    list
}

fn conflict(
    unit: &Unit<'_>,
    facts: &FunctionFacts<'_>,
    accesses: &[(u32, Register, Access)],
    output: usize,
) -> Option<Conflict> {
    let register = unit.operands[output].register?;
    // The one that is told: first one that is no copy, then a variable that is updated, then no macro.
    let mut found: Option<Conflict> = None;
    let rank = |conflict: &Conflict| (!conflict.copy, conflict.same, !may_be_macro(unit, conflict.input));
    let writes = || {
        accesses.iter().filter(move |(_, written, access)| {
            *written == register && matches!(access, Access::Write | Access::ReadWrite)
        })
    };
    for (input, operand) in unit.operands.iter().enumerate() {
        let same = expression(unit, output) == expression(unit, input);
        let settled = |found: Conflict| {
            unit.operands.len() > MAX_COMPARED || !found.copy && (found.same || !same && rank(&found).2)
        };
        if !may_share(unit, output, input) || found.is_some_and(settled) {
            continue;
        }
        let reads =
            accesses.iter().filter(|(_, read, access)| Some(*read) == operand.register && access.reads());
        for &(read, _, _) in reads {
            let to_read = Ways::to(facts, Ends::Instructions(&[read]), &[]);
            for &(write, _, _) in writes() {
                let both = to_read.at(write).is_some() && !exclude_each_other(facts, write, read);
                if both && !is_copy(facts, write, register, operand.register) {
                    let copy = copies_to_itself(unit, facts, write);
                    let other = Conflict { write, read, input, same, copy };
                    if found.is_none_or(|found| rank(&found) < rank(&other)) {
                        found = Some(other);
                    }
                }
            }
        }
    }
    found
}

/// Whether the guards of two instructions are opposite, and the predicate is not written in between.
fn exclude_each_other(facts: &FunctionFacts<'_>, first: u32, second: u32) -> bool {
    let (Some(a), Some(b)) = (facts.condition(first), facts.condition(second)) else { return false };
    let between = facts.definitions(a.register).iter().any(|write| (first..second).contains(write));
    a == b.negated() && !between
}

/// Whether an instruction only copies the input: if both are one register, nothing happens.
fn is_copy(facts: &FunctionFacts<'_>, instruction: u32, to: Register, from: Option<Register>) -> bool {
    let operands = facts.body.operands(Handle::new(instruction));
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    let [Operand::Register { register: left, .. }, Operand::Register { register: right, .. }] = operands
    else {
        return false;
    };
    computes == Some(Computation::Move) && *left == to && Some(*right) == from
}

/// Which use of the statement gives the two one register.
fn use_that_breaks(unit: &Unit<'_>, output: usize, conflict: &Conflict) -> String {
    let short = |index: usize| expression(unit, index).split_whitespace().collect::<Vec<_>>().join(" ");
    if conflict.same {
        let name = short(output);
        return format!("it breaks where a loop or an `if` updates `{name}`: both are its register then");
    }
    let (to, from) = (short(output), short(conflict.input));
    format!("it breaks where a loop or an `if` stores `{to}` to the variable that `{from}` came from")
}

fn finding(unit: &Unit<'_>, output: usize, conflict: &Conflict) -> Diagnostic {
    let constraint =
        unit.statement.outputs.get(output).map_or(unit.statement.keyword, |found| found.constraint.span);
    let message = format!(
        "`{} is written before the last read of `{}, which may be in the same register",
        unit.operand_name(output),
        unit.operand_name(conflict.input),
    );
    let place =
        |instruction: u32| unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
    let letter = unit.operands[output].letter.unwrap_or('r');
    let fix = constraint_fix(unit, output, |text| match text.find(['=', '+']) {
        Some(at) => format!("{}&{}", &text[..=at], &text[at + 1..]),
        None => text.to_owned(),
    });
    let found = RULE
        .at(constraint, message)
        .with_label(format!("needs `&`: `\"=&{letter}\"`"))
        .with_secondary(place(conflict.write), "written here")
        .with_secondary(place(conflict.read), format!("`%{}` is still read here", conflict.input))
        .with_note("without `&` the compiler assumes that all inputs are read before any output is written")
        .with_note(use_that_breaks(unit, output, conflict))
        .with_help("mark the output as written early: `&` behind the `=`");
    with_certain(found, fix)
}
