use ptx_facts::registers::{Access, for_each_register};
use ptx_ir::ir::{Handle, Register};
use ptx_syntax::Diagnostic;
use ptx_syntax::cuda::Host;

use crate::rule::declare_rule;
use crate::subject::fragment::unit::{Mode, Unit};

declare_rule! {
    /// ## What it does
    /// Reports an input of an asm statement that the template writes.
    ///
    /// ## Why is this bad
    /// The compiler believes that the register still holds the value that it passed in: where it uses the variable, or
    /// another one of the same value, after the statement, it may read the register, and so the new value.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void twice(int *p, int x) { asm volatile("add.s32 %1, %1, %1; st.s32 [%0], %1;" :: "l"(p), "r"(x) : "memory"); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void twice(int *p, int x) { asm volatile("add.s32 %0, %0, %0; st.s32 [%1], %0;" : "+r"(x) : "l"(p) : "memory"); }
    /// ```
    ///
    /// ## What it may miss
    /// Writes by instructions that are not known, or whose operands do not fit.
    name: "asm-input-written",
    code: "P1005",
    former: ["H0605"],
    class: Hazard,
    level: Error,
    summary: "an input that the template writes",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let Some((_, body)) = unit.function() else { return };
    if unit.broken || !unit.statement.complete {
        return;
    }
    let mut said = vec![false; unit.operands.len()];
    let mut read: Option<Vec<bool>> = None;
    for instruction in unit.instructions() {
        let mut written = Vec::new();
        for_each_register(&unit.lowered().module, body, Handle::new(instruction), |register, access| {
            if matches!(access, Access::Write | Access::ReadWrite) {
                written.push(register);
            }
        });
        for register in written {
            let Some(operand) = unit.operand_of(register) else { continue };
            if unit.operands[operand].mode != Mode::Input || std::mem::replace(&mut said[operand], true) {
                continue;
            }
            let place = unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
            let read = read.get_or_insert_with(|| operands_read(unit));
            let help = match (unit.statement.host, read[operand]) {
                (Host::Cuda, true) => {
                    "pass it as an output with `+`, or work on a register of the template's own"
                }
                (Host::Cuda, false) => "the template never reads it: pass it as an output with `=`",
                (Host::Rust, true) => "pass it as `inout`, or work on a register of the template's own",
                (Host::Rust, false) => "the template never reads it: pass it as `out`",
                (_, true) => "copy it to a register of the template's own, and work on that",
                (_, false) => "the template never reads it: make it an output",
            };
            let mut found = RULE
                .at(place, format!("`{} is an input and is written here", unit.operand_name(operand)))
                .with_label("the compiler takes the register to hold the old value still")
                .with_help(help);
            if let Some(input) = unit.statement.operands().nth(operand) {
                found = found.with_secondary(input.span, "an input");
            }
            out.push(found);
        }
    }
}

/// For each operand whether the template reads it: in an instruction, or as a guard.
fn operands_read(unit: &Unit<'_>) -> Vec<bool> {
    let mut read = vec![false; unit.operands.len()];
    let Some((_, body)) = unit.function() else { return read };
    for instruction in unit.instructions() {
        let handle = Handle::new(instruction);
        let guard = body.instructions[handle].guard.and_then(|guard| guard.register);
        let mut note = |register: Register| {
            if let Some(operand) = unit.operand_of(register) {
                read[operand] = true;
            }
        };
        guard.into_iter().for_each(&mut note);
        for_each_register(&unit.lowered().module, body, handle, |register, access| {
            if access.reads() {
                note(register);
            }
        });
    }
    // What an unknown part does with it is not known.
    if unit.expanded.has_wildcards { vec![true; unit.operands.len()] } else { read }
}
