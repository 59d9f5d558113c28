use ptx_ir::ir::Handle;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an asm statement that reads or writes memory and does not clobber `"memory"`.
    ///
    /// ## Why is this bad
    /// The compiler may keep values in registers over the statement, and move loads and stores across it. With
    /// `volatile` nvcc was not seen to do so, and most code has `volatile` only: the rule is off by default.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void put(int *p, int x) { asm volatile("st.global.s32 [%0], %1;" :: "l"(p), "r"(x)); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void put(int *p, int x) { asm volatile("st.global.s32 [%0], %1;" :: "l"(p), "r"(x) : "memory"); }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "asm-missing-memory-clobber",
    code: "P1007",
    former: ["H0607"],
    class: Hazard,
    level: Allow,
    summary: "memory is accessed without a `\"memory\"` clobber",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let Some((_, body)) = unit.function() else { return };
    if unit.broken || !unit.statement.complete || unit.statement.clobbers_memory() {
        return;
    }
    let module = &unit.lowered().module;
    let accesses = unit.instructions().find(|instruction| {
        let instance = module.instance(&body.instructions[Handle::new(*instruction)]);
        instance.is_some_and(|instance| {
            let effects = &instance.effects;
            effects.writes_memory || effects.atomic || (effects.reads_memory && !instance.is_read_only_load())
        })
    });
    let Some(instruction) = accesses else { return };
    let place = unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
    out.push(
        RULE.at(place, format!("`{}` accesses memory", unit.instruction_text(instruction)))
            .with_label("the compiler is not told")
            .with_help("add `: \"memory\"` after the inputs"),
    );
}
