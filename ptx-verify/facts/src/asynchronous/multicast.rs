//! Accesses of multicast objects, which lie in the memory of several devices: `multimem`.

use ptx_ir::isa::Mode;
use ptx_ir::types::TypeKind;

use crate::FunctionFacts;

/// Whether an instruction counts in a multicast object, and orders nothing.
#[must_use]
pub fn counts_in_multicast(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        let is_float = instance.ty.is_some_and(|ty| matches!(ty.kind(), TypeKind::Float | TypeKind::Packed));
        instance.is(Mode::Multicast) && instance.effects.atomic && !instance.is(Mode::Release) && !is_float
    })
}

/// Whether an instruction tells other devices, as all accesses of multicast objects do, in a scope that is too narrow for that.
#[must_use]
pub fn tells_devices_narrowly(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        instance.is(Mode::Multicast)
            && instance.is(Mode::Release)
            && (instance.is(Mode::DeviceScope) || instance.is(Mode::BlockScope))
    })
}
