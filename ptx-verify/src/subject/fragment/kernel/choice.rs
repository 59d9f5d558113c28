//! Choices between two values, and casts.

use ptx_syntax::cuda::body::{Expression, ExpressionKind, TypeName};

use super::types::{Space, Ty};
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    /// `condition ? then : otherwise`
    pub(super) fn choice(
        &mut self,
        condition: &Expression<'s>,
        then: &Expression<'s>,
        otherwise: &Expression<'s>,
    ) -> Result<Value, Unclear> {
        let condition = self.value(condition)?;
        let condition = self.truth(condition)?;
        if let Some(number) = condition.number() {
            return self.value(if number != 0 { then } else { otherwise });
        }
        let (other, end) = (self.label(), self.label());
        self.branch(&condition, false, &other)?;
        let first = self.value(then)?;
        let first = Self::decayed(first);
        // One may lie in shared memory, and the other elsewhere.
        let is_mixed = match &first.ty {
            Ty::Pointer(_, Space::Shared) if !matches!(first.held, Held::Place(_)) => {
                let mark = self.mark();
                let other = self.value(otherwise).map(|other| Self::decayed(other).ty);
                self.back_to(mark);
                matches!(other, Ok(Ty::Pointer(_, Space::Generic | Space::Global | Space::Const)))
            }
            _ => false,
        };
        let is_elsewhere = matches!(first.ty, Ty::Pointer(_, Space::Generic | Space::Global | Space::Const));
        let first = if is_mixed || matches!(first.ty, Ty::Pointer(_, Space::Global | Space::Const)) {
            self.generic(first)?
        } else {
            first
        };
        if matches!(first.held, Held::Place(_)) && matches!(first.ty, Ty::Vector(..) | Ty::Structure(_)) {
            let kept = self.made(&first.ty)?;
            self.write(&kept, first)?;
            self.emit(&format!("bra {end};"));
            self.place_label(&other);
            let second = self.value(otherwise)?;
            let second = match second.ty == *kept.ty() {
                true => second,
                false if matches!(kept.ty(), Ty::Structure(_)) => return Err(Unclear),
                false => Value::unknown(kept.ty().clone()),
            };
            self.write(&kept, second)?;
            self.place_label(&end);
            return self.read(&kept);
        }
        let to = match first.ty.register() {
            Some(bits) => Some(self.fresh(bits)?),
            None => None,
        };
        if let Some(to) = to {
            let operand = self.operand(&first, to.bits)?;
            self.emit(&format!("mov.b{} {}, {operand};", to.bits, to.name()));
        }
        self.emit(&format!("bra {end};"));
        self.place_label(&other);
        let second = self.value(otherwise)?;
        let second = Self::decayed(second);
        let is_mixed = is_elsewhere
            && matches!(second.ty, Ty::Pointer(_, Space::Shared))
            && !matches!(second.held, Held::Place(_));
        let second = if is_mixed || matches!(second.ty, Ty::Pointer(_, Space::Global | Space::Const)) {
            self.generic(second)?
        } else {
            second
        };
        let Some(to) = to.filter(|_| second.ty.register().is_some()) else {
            self.place_label(&end);
            return Ok(Value::unknown(first.ty));
        };
        if matches!(first.ty, Ty::Pointer(..)) && first.ty != second.ty && second.number() != Some(0) {
            return Err(Unclear);
        }
        let ty = match (&first.ty, &second.ty) {
            // The wider one counts.
            (&Ty::Integer { bits: 64, signed, .. }, Ty::Integer { .. }) => {
                let second = self.converted(second, &Ty::Integer { bits: 64, signed, is_bool: false })?;
                let operand = self.operand(&second, 64)?;
                self.emit(&format!("mov.b64 {}, {operand};", to.name()));
                self.place_label(&end);
                return Ok(Value { ty: first.ty, held: Held::Register(to) });
            }
            // So it is where the second is the wider one.
            (&Ty::Integer { signed: is_signed, .. }, &Ty::Integer { bits: 64, signed, .. }) => {
                let (wide, joined) = (self.fresh(64)?, self.label());
                let operand = self.operand(&second, 64)?;
                self.emit(&format!("mov.b64 {}, {operand};", wide.name()));
                self.emit(&format!("bra {joined};"));
                self.place_label(&end);
                let sign = if is_signed { 's' } else { 'u' };
                self.emit(&format!("cvt.{sign}64.{sign}32 {}, {};", wide.name(), to.name()));
                self.place_label(&joined);
                let ty = Ty::Integer { bits: 64, signed, is_bool: false };
                return Ok(Value { ty, held: Held::Register(wide) });
            }
            _ => first.ty.clone(),
        };
        let operand = self.operand(&second, to.bits)?;
        self.emit(&format!("mov.b{} {}, {operand};", to.bits, to.name()));
        self.place_label(&end);
        Ok(Value { ty, held: Held::Register(to) })
    }

    /// One of two numbers in registers, to be written: `(condition ? a : b) = 1`.
    pub(super) fn chosen_of_two(
        &mut self,
        condition: &Expression<'s>,
        then: &Expression<'s>,
        otherwise: &Expression<'s>,
    ) -> Result<Option<Place>, Unclear> {
        let is_named = |of: &Expression<'s>| matches!(of.kind, ExpressionKind::Name(..));
        if !is_named(then) || !is_named(otherwise) {
            return Ok(None);
        }
        let (Place::Register(first, ty), Place::Register(second, other)) =
            (self.place(then)?, self.place(otherwise)?)
        else {
            return Ok(None);
        };
        if ty != other || !matches!(ty, Ty::Integer { .. } | Ty::Pointer(..)) {
            return Ok(None);
        }
        let condition = self.value(condition)?;
        let condition = self.truth(condition)?;
        let operand = self.operand(&condition, 32)?;
        // Which one it is does not change any more.
        let index = self.fresh(32)?;
        self.emit(&format!("mov.b32 {}, {operand};", index.name()));
        Ok(Some(Place::Chosen { registers: vec![second, first], index, ty }))
    }

    /// A place, used as one of another type.
    pub(super) fn place_as(&mut self, to: &TypeName<'s>, of: &Expression<'s>) -> Result<Place, Unclear> {
        let place = self.place(of)?;
        // A token of an arrival is handed on as what it is.
        if matches!(to, TypeName::Library("arrival_token")) {
            return Ok(place);
        }
        let ty = self.ty_in_memory(to)?;
        if let Some(whole) = self.whole_object(of, &ty) {
            return Ok(whole);
        }
        match place {
            Place::Memory { address, .. } => Ok(Place::Memory { address, ty }),
            Place::Fixed(_) | Place::Link(..) => Err(Unclear),
            other => Ok(self.taken_for(&other, 0, &ty)),
        }
    }

    /// The object of a derived structure, where `*this` of one of its bases stands for it.
    fn whole_object(&self, of: &Expression<'s>, ty: &Ty) -> Option<Place> {
        let is_this = |of: &Expression<'s>| matches!(of.kind, ExpressionKind::Name("this", _));
        let ExpressionKind::Unary("*", pointer) = &of.kind else { return None };
        let whole = self.frames.last()?.whole.as_ref()?;
        let (Ty::Structure(own), Ty::Structure(wanted)) = (whole.ty(), ty) else { return None };
        let is_same = own.structure == wanted.structure && own.given == wanted.given;
        (is_same && is_this(pointer)).then(|| whole.clone())
    }

    /// A value as one of another type.
    pub(super) fn cast(&mut self, to: &TypeName<'s>, of: &Expression<'s>) -> Result<Value, Unclear> {
        if let TypeName::Reference(to) = to {
            let place = self.place_as(to, of)?;
            return self.read(&place);
        }
        let to = self.ty_of_object(to, of)?;
        if let Ty::Pointer(to, _) = &to {
            let to = self.whole((**to).clone()).unwrap_or(Ty::Any);
            let object = of.with(ExpressionKind::Unary("*", Box::new(of.clone())));
            if let Some(whole) = self.whole_object(&object, &to) {
                return Ok(Self::address_of(whole));
            }
        }
        // `T(a)` makes an object of one value, or of another object, which is not copied for that.
        if let Ty::Structure(members) = &to {
            let mark = self.mark();
            let own = self.place(of).map(|place| place.ty().plain().clone());
            self.back_to(mark);
            if own? != to {
                self.may_be_made(&to)?;
                let place = self.made(&to)?;
                self.constructed(&place, members, Some(of))?;
                return self.read(&place);
            }
        }
        let value = self.value(of)?;
        let value = Self::decayed(value);
        if let (Ty::Pointer(..), Ty::Integer { bits: 32, .. }) = (&value.ty, &to) {
            let generic = self.generic(value)?;
            let name = self.operand(&generic, 64)?;
            let low = self.fresh(32)?;
            self.emit(&format!("cvt.u32.u64 {}, {name};", low.name()));
            return Ok(Value { ty: to, held: Held::Register(low) });
        }
        self.converted(value, &to)
    }
}
