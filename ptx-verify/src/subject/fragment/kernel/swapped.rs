//! Pointers that begin with nothing and are set to shared memory later.

use super::types::{Space, Ty};
use super::value::{Held, Register, Value};
use super::{Lowering, Unclear};

impl Lowering<'_, '_> {
    /// Notes where a pointer of the source points to from here on that has begun with nothing.
    pub(super) fn note_pointer(&mut self, register: Register, value: &Value) -> Result<(), Unclear> {
        let Some(known) = self.begun_empty.get(&register.number).copied() else { return Ok(()) };
        let is_shared = match (&value.held, &value.ty) {
            (_, Ty::Pointer(_, Space::Shared)) => true,
            (Held::Register(from), _) => {
                *from == register || self.begun_empty.get(&from.number) == Some(&Some(true))
            }
            // The null pointer is none of anywhere.
            (Held::Constant(_), _) => return Ok(()),
            _ => false,
        };
        match (known, is_shared) {
            // It has been taken for one to shared memory.
            (Some(true), false) => Err(Unclear),
            _ => {
                self.begun_empty.insert(register.number, Some(is_shared));
                Ok(())
            }
        }
    }

    /// A pointer that has only been set to shared memory as one of there: `t = p; p = q; q = t;`
    pub(super) fn in_shared_memory(&mut self, value: Value, ty: &Ty) -> Result<Value, Unclear> {
        let Held::Register(register) = value.held else { return Err(Unclear) };
        if self.begun_empty.get(&register.number) != Some(&Some(true)) {
            return Err(Unclear);
        }
        let to = self.fresh(64)?;
        self.emit(&format!("cvta.to.shared.u64 {}, {};", to.name(), register.name()));
        Ok(Value { ty: ty.clone(), held: Held::Register(to) })
    }
}
