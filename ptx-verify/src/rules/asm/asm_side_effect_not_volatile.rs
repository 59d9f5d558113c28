use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::Instance;
use ptx_ir::space::StateSpace;
use ptx_syntax::cuda::Host;
use ptx_syntax::{Applicability, Diagnostic, Edit, Severity, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an asm statement with outputs that does more than compute them, such as a store, an atomic operation,
    /// a load, a barrier, or reading a clock, and is neither `volatile` nor clobbers `"memory"`.
    ///
    /// ## Why is this bad
    /// The compiler takes such a statement for a pure function of its inputs: it deletes it where the outputs are
    /// not used, merges two of them with equal inputs, and moves it out of loops. Seen with nvcc 13.5: a load that
    /// waits for another thread hoisted out of its loop, atomic operations and the stores that feed them deleted.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ unsigned now() { unsigned t; asm("mov.u32 %0, %%clock;" : "=r"(t)); return t; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ unsigned now() { unsigned t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t)); return t; }
    /// ```
    ///
    /// ## What it may miss
    /// Loads that nothing can change (`.nc`, `.const`, `.param`, textures) are no side effects. Other loads that are neither
    /// volatile nor ordered are a warning: what they read may stay the same while the kernel runs. A statement without
    /// outputs is volatile by itself.
    name: "asm-side-effect-not-volatile",
    code: "P1006",
    former: ["H0606"],
    class: Hazard,
    level: Error,
    summary: "a side effect in an asm statement that is not `volatile`",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let statement = unit.statement;
    let host = statement.host;
    // LLVM deletes a pure statement that has no outputs, and CUDA C++ has none that are pure.
    let is_kept = host.is_cuda() && (statement.clobbers_memory() || statement.outputs.is_empty());
    let excused = statement.volatile || is_kept;
    if excused || unit.broken || !statement.complete {
        return;
    }
    let Some((instruction, effect)) = first_effect(unit) else { return };
    let place = unit.instruction_place(instruction).unwrap_or(statement.template.span);
    let mut found = RULE
        .at(
            place,
            match host {
                Host::Cuda => format!(
                    "`{}` {effect}, and the statement is not `volatile`",
                    unit.instruction_text(instruction)
                ),
                _ => format!("`{}` {effect}, and the statement is pure", unit.instruction_text(instruction)),
            },
        )
        .with_label("the compiler may delete, merge or move it");
    found = match host {
        Host::Cuda => {
            found.with_secondary(statement.keyword, "add `volatile` here").with_help("write `asm volatile`")
        }
        Host::Rust => found.with_help("leave `pure` out of the options"),
        _ => found.with_help(format!("write {}", host.volatile())),
    };
    // Of what nobody writes while the kernel runs, the compiler may keep a load wherever it likes.
    if effect == READS {
        found.severity = Severity::Warning;
    }
    // A macro's text is shared by all its uses; the keyword of an alias cannot take a qualifier.
    if host.is_cuda() && statement.variant == 0 && !unit.statement.is_of_macro() {
        let edit = Edit { span: Span::at(statement.after_qualifiers), replacement: " volatile".into() };
        found = found.with_fix("write `volatile`", Applicability::Certain, vec![edit]);
    }
    out.push(found);
}

/// What loads do of which it is not said that others write there.
const READS: &str = "reads memory that may change";

/// The first instruction that does more than compute, and what.
pub(crate) fn first_effect(unit: &Unit<'_>) -> Option<(u32, &'static str)> {
    let (_, body) = unit.function()?;
    let module = &unit.lowered().module;
    unit.instructions().find_map(|instruction| {
        let handle = Handle::new(instruction);
        let instance = module.instance(&body.instructions[handle])?;
        let clock = body.operands(handle).iter().any(|operand| is_clock(*operand));
        let effect = if clock { Some("reads a counter that changes by itself") } else { effect(instance) };
        effect.map(|effect| (instruction, effect))
    })
}

fn is_clock(operand: Operand) -> bool {
    matches!(operand, Operand::Special(register) if register.is_volatile())
}

fn effect(instance: &Instance) -> Option<&'static str> {
    let effects = &instance.effects;
    if effects.atomic {
        return Some("is an atomic operation");
    }
    if effects.writes_memory {
        return Some("writes memory");
    }
    if effects.barrier {
        return Some("is a barrier");
    }
    if effects.asynchronous.is_some() {
        return Some("takes part in asynchronous execution");
    }
    if effects.reads_memory && !instance.is_read_only_load() && reads_what_may_change(instance) {
        return Some(if effects.volatile { "depends on when it is executed" } else { READS });
    }
    effects.volatile.then_some("depends on when it is executed")
}

/// Whether an address operand names memory that something else may write.
fn reads_what_may_change(instance: &Instance) -> bool {
    instance.operands.iter().filter_map(|spec| spec.access).any(|access| {
        let constant = access.space.is_some_and(|space| {
            matches!(space.base(), StateSpace::Const | StateSpace::Param | StateSpace::Tex)
        });
        access.reads && !constant
    })
}
