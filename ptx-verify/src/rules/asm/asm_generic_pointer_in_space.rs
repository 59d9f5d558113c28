use ptx_facts::registers::aligned;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;
use ptx_syntax::cuda::CType;

use crate::rule::declare_rule;
use crate::subject::fragment::siblings::conversion;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports a C++ pointer that a template uses as an address in `.shared` or `.local` space.
    ///
    /// ## Why is this bad
    /// A pointer of C++ is a generic address. An address in shared or local space is another number: the access goes
    /// somewhere else.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int load(int *p) { int x; asm volatile("ld.shared.s32 %0, [%1];" : "=r"(x) : "l"(p)); return x; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int load(int *p) {
    ///   int x;
    ///   asm volatile("ld.shared.s32 %0, [%1];" : "=r"(x) : "r"((unsigned)__cvta_generic_to_shared(p)));
    ///   return x;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Pointers that go through an integer or another register before they are used. Sources in which some asm statement
    /// converts an address and puts the result into a pointer: which pointers are converted ones is not known there.
    name: "asm-generic-pointer-in-space",
    code: "P1023",
    former: ["H0627"],
    class: Hazard,
    level: Warn,
    summary: "a generic pointer as an address in shared or local space",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let Some((_, body)) = unit.function() else { return };
    if unit.broken {
        return;
    }
    let module = &unit.lowered().module;
    for instruction in unit.instructions() {
        let handle = Handle::new(instruction);
        let Some(instance) = module.instance(&body.instructions[handle]) else { continue };
        let operands = body.operands(handle);
        // Without the space in its spelling an instruction takes generic addresses, even of what lies in shared memory.
        let spaces = [StateSpace::Shared, StateSpace::Local];
        if !spaces.iter().any(|space| instance.canonical.contains(space.as_str())) {
            continue;
        }
        let specs = aligned(module, body, instance, operands);
        for (operand, spec) in operands.iter().zip(specs) {
            let access = spec.and_then(|spec| spec.access);
            let (Operand::RegisterAddress { base, .. }, Some(access)) = (operand, access) else { continue };
            let space = access.space.map(StateSpace::base);
            let index = unit.operand_of(*base);
            let pointer = index.and_then(|index| Some((index, unit.statement.operands().nth(index)?)));
            let Some((index, operand)) =
                pointer.filter(|(_, operand)| matches!(operand.ctype, CType::Pointer(_)))
            else {
                continue;
            };
            let Some(space @ (StateSpace::Shared | StateSpace::Local)) = space else { continue };
            if unit.siblings.keep_converted_pointers(space) {
                return;
            }
            let place = unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
            let name = unit.operand_name(index);
            let finding = RULE
                .at(place, format!("`{name} is a generic pointer, used as an address in `{space}` space"))
                .with_secondary(operand.span, format!("of type `{}`", operand.ctype.name()));
            out.push(match conversion(space) {
                Some(instruction) => finding.with_help(format!(
                    "convert it: `{instruction}`, or the compiler's `__cvta_generic_to_…`"
                )),
                None => finding,
            });
        }
    }
}
