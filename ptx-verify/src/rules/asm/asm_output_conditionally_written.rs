use ptx_facts::FunctionFacts;
use ptx_facts::initialization::Unset;
use ptx_facts::registers::{Access, for_each_register};
use std::cell::OnceCell;
use std::collections::HashMap;

use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::Control;
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::fragment::fixes::{constraint_fix, with_certain};
use crate::subject::fragment::unit::{Mode, Unit};

declare_rule! {
    /// ## What it does
    /// Reports an output `=` of an asm statement that is written under a guard or on some paths only.
    ///
    /// ## Why is this bad
    /// Where it is not written, the variable gets whatever its register held: the compiler does not put the old
    /// value there, for `=` says that it is not needed.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void is_34(int &y, int x) {
    ///   asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p mov.s32 %0, 1; }" : "=r"(y) : "r"(x));
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void is_34(int &y, int x) {
    ///   asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p mov.s32 %0, 1; }" : "+r"(y) : "r"(x));
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Pairs of guards `@p` and `@!p`, guards of the same comparison, and branches are understood. A set of
    /// comparisons that together always hold is understood only for two opposite ones. Where another output tells
    /// the caller whether the guard held, as `selp.u32 %1, 1, 0, p` does, the finding is a warning. Where the variable
    /// has no value before the statement, it is information: no value is lost, and `+` would read one that is not there. So
    /// it is with results in Python, MLIR and LLVM IR.
    name: "asm-output-conditionally-written",
    code: "P1003",
    former: ["H0603"],
    class: Hazard,
    level: Error,
    summary: "an output `=` that is not written on every path",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.broken || !unit.statement.complete {
        return;
    }
    let flags = OnceCell::new();
    for unset in unit.unset() {
        let Some(operand) = unit.operand_of(unset.register) else { continue };
        if unit.is_of_template(unset.instruction) || unset.certain {
            continue;
        }
        let Some(output) = unit.statement.outputs.get(operand) else { continue };
        let name = unit.operand_name(operand);
        let message = format!("`{name} is an output and is not written on every path");
        let host = unit.statement.host;
        let mut found = RULE
            .at(output.constraint.span, message)
            .with_label(format!("{}: the old value is not passed in", host.write_only()));
        let help = match (output.unset, host.has_results()) {
            (true, true) => format!("use it only where it was written, or {}", host.read_write()),
            (true, false) => {
                "use it only where it was written, or give the variable a value first and write `+`"
                    .to_owned()
            }
            (false, _) => {
                format!("{}: the operand keeps its value where it is not written", host.read_write())
            }
        };
        found = found.with_help(help);
        for &write in unset.reaching.writers.iter().take(3) {
            if let Some(place) = unit.instruction_place(write) {
                found = found.with_secondary(place, "written only under a condition");
            }
        }
        if output.unset {
            out.push(Diagnostic { severity: Severity::Info, ..found }.with_note(match host.has_results() {
                true => "a result has no value before",
                false => "the variable has no value before",
            }));
            continue;
        }
        let flags = flags.get_or_init(|| Flags::of(unit)).as_ref();
        match flags.and_then(|flags| flags.told_by(unset, operand)) {
            Some(flag) => out.push(Diagnostic { severity: Severity::Warning, ..found }.with_note(format!(
                "`{} tells whether it was written: it must not be used otherwise",
                unit.operand_name(flag)
            ))),
            None => {
                let fix = constraint_fix(unit, operand, |text| text.replacen('=', "+", 1));
                out.push(with_certain(found, fix));
            }
        }
    }
}

/// What of a template tells whether it wrote an output.
struct Flags<'u> {
    facts: FunctionFacts<'u>,
    /// The predicate of the first branch that has one.
    branch: Option<Register>,
    /// For each predicate the outputs that are written, under no guard, by an instruction that reads it.
    by_predicate: HashMap<Register, Vec<usize>>,
}

impl<'u> Flags<'u> {
    fn of(unit: &'u Unit<'_>) -> Option<Self> {
        let facts = unit.facts()?;
        let mut branch = None;
        let mut by_predicate: HashMap<Register, Vec<usize>> = HashMap::new();
        for instruction in unit.instructions() {
            let guard = guard(&facts, instruction);
            let branches =
                facts.instance(instruction).is_some_and(|found| found.effects.control == Control::Branch);
            branch = branch.or(guard.filter(|_| branches));
            if facts.is_guarded(instruction) {
                continue;
            }
            let (mut read, mut written) = (Vec::new(), Vec::new());
            for_each_register(facts.module, facts.body, Handle::new(instruction), |register, access| {
                if access.reads() {
                    read.push(register);
                }
                if matches!(access, Access::Write | Access::ReadWrite) {
                    let output = unit.operand_of(register);
                    written.extend(output.filter(|index| unit.operands[*index].mode != Mode::Input));
                }
            });
            // Two are enough: at most one of them is the output in question.
            written.truncate(2);
            if !written.is_empty() {
                read.dedup();
                read.into_iter().for_each(|read| by_predicate.entry(read).or_default().extend(&written));
            }
        }
        Some(Self { facts, branch, by_predicate })
    }

    /// Another output that is always written, by an instruction that reads the guard of the writes: the caller knows
    /// then whether there is a value.
    fn told_by(&self, unset: &Unset, operand: usize) -> Option<usize> {
        let (first, rest) = unset.reaching.writers.split_first()?;
        // A write without a guard is under a condition because a branch passes it.
        let predicate = guard(&self.facts, *first).or(self.branch)?;
        if rest.iter().any(|write| guard(&self.facts, *write).is_some_and(|other| other != predicate)) {
            return None;
        }
        self.by_predicate.get(&predicate)?.iter().copied().find(|index| *index != operand)
    }
}

fn guard(facts: &FunctionFacts<'_>, instruction: u32) -> Option<Register> {
    facts.body.instructions[Handle::new(instruction)].guard?.register
}
