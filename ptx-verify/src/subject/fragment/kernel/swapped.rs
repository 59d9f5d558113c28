//! Generic addresses that lead to shared memory, whatever they went through: `t = p; p = q; q = t;`, or numbers that are rounded up.

use std::rc::Rc;

use ptx_syntax::Span;

use super::types::{Space, Ty};
use super::value::{Held, Place, Register, Value};
use super::{Lowering, Unclear};

impl Lowering<'_, '_> {
    /// A variable that begins with a value; a pointer holds a generic address, where it is set to another one later.
    pub(super) fn kept_pointer(
        &mut self,
        value: Value,
        is_constant: bool,
        at: Span,
    ) -> Result<Place, Unclear> {
        let value = if self.generic.contains(&at) { self.generic(value)? } else { value };
        let place = self.kept(value, is_constant)?;
        if let Place::Register(register, Ty::Pointer(..)) = place {
            self.begun_with.insert(register.number, at);
        }
        Ok(place)
    }

    /// Whether a value is a generic address of shared memory, or a number made of one.
    pub(super) fn leads_to_shared(&self, value: &Value) -> bool {
        match value.held {
            Held::Register(register) => self.of_shared.get(&register.number) == Some(&true),
            _ => false,
        }
    }

    /// Notes what a register of the source is set to.
    pub(super) fn note_address(&mut self, register: Register, value: &Value) -> Result<(), Unclear> {
        // The null pointer leads nowhere.
        if register.bits != 64 || value.number().is_some() {
            return Ok(());
        }
        let is_shared = matches!(value.ty, Ty::Pointer(_, Space::Shared)) || self.leads_to_shared(value);
        let known = self.of_shared.insert(register.number, is_shared);
        match (known, is_shared) {
            (Some(false), true) => {
                self.of_shared.insert(register.number, false);
                Ok(())
            }
            // It has been taken for one of shared memory.
            (Some(true), false) if self.taken_for_shared.contains(&register.number) => Err(Unclear),
            _ => Ok(()),
        }
    }

    /// Notes what a register holds that was computed of others.
    pub(super) fn note_computed(&mut self, operator: &str, to: Register, of: [&Value; 2]) {
        let is_moved = matches!(operator, "+" | "-" | "&" | "|" | "^");
        if to.bits == 64 && is_moved && of.iter().any(|each| self.leads_to_shared(each)) {
            // Of two addresses it is a distance.
            let are_both = of.iter().all(|each| self.leads_to_shared(each));
            self.of_shared.insert(to.number, !are_both);
        }
    }

    /// Two pointers to shared memory, one of which is a generic one at least, as ones of there: they can be compared.
    pub(super) fn both_in_shared_memory(
        &mut self,
        left: &Value,
        right: &Value,
    ) -> Result<Option<(Value, Value)>, Unclear> {
        let (Ty::Pointer(one, a), Ty::Pointer(other, b)) = (&left.ty, &right.ty) else { return Ok(None) };
        let is_shared =
            |this: &Self, value: &Value, space: Space| space == Space::Shared || this.leads_to_shared(value);
        if (*a == Space::Shared && *b == Space::Shared)
            || !is_shared(self, left, *a)
            || !is_shared(self, right, *b)
        {
            return Ok(None);
        }
        let mut both = Vec::new();
        for (value, of, space) in [(left, one, *a), (right, other, *b)] {
            both.push(match space {
                Space::Shared => value.clone(),
                _ => self.in_shared_memory(value, &Ty::Pointer(Rc::clone(of), Space::Shared))?,
            });
        }
        let right = both.pop().ok_or(Unclear)?;
        let left = both.pop().ok_or(Unclear)?;
        Ok(Some((left, right)))
    }

    /// A generic address of shared memory as one of there.
    pub(super) fn in_shared_memory(&mut self, value: &Value, ty: &Ty) -> Result<Value, Unclear> {
        let Held::Register(register) = value.held else { return Err(Unclear) };
        if !self.leads_to_shared(value) {
            return Err(Unclear);
        }
        self.taken_for_shared.insert(register.number);
        let to = self.fresh(64)?;
        self.emit(&format!("cvta.to.shared.u64 {}, {};", to.name(), register.name()));
        Ok(Value { ty: ty.clone(), held: Held::Register(to) })
    }
}
