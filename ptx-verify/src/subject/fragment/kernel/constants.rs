//! Constants of the file and of structures: numbers, arrays and objects of these.

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind};

use super::types::Ty;
use super::value::{Place, Value};
use super::{Lowering, MAX_ELEMENTS, Unclear};

impl<'s> Lowering<'_, 's> {
    /// A constant as a place; an array is one of numbers, or of what has a type of its own.
    pub(super) fn constant_place(&mut self, constant: &Expression<'s>) -> Result<Place, Unclear> {
        let all = match &constant.kind {
            ExpressionKind::List(None, all) => all,
            ExpressionKind::List(Some(ty), all) => {
                let mark = self.mark();
                let found = self.ty(ty).and_then(|ty| self.constant_of_type(&ty, constant));
                if let Ok(place) = found {
                    return Ok(place);
                }
                self.back_to(mark);
                if !all.iter().all(|each| is_plain(each)) || all.len() < 2 {
                    return Ok(Place::Fixed(self.value(constant)?));
                }
                all
            }
            _ => return Ok(Place::Fixed(self.value(constant)?)),
        };
        if all.len() as u64 > MAX_ELEMENTS {
            return Err(Unclear);
        }
        let parts =
            all.iter().map(|each| self.value(each).map(Place::Fixed)).collect::<Result<Vec<_>, _>>()?;
        let of = parts.first().ok_or(Unclear)?.ty().clone();
        if !parts.iter().all(|part| *part.ty() == of) {
            return Err(Unclear);
        }
        let count = parts.len() as u64;
        Ok(Place::Parts(parts, Ty::Array(Rc::new(of), count)))
    }

    /// A constant of a type, with the numbers that a list says, or the members of the type.
    pub(super) fn constant_of_type(&mut self, ty: &Ty, from: &Expression<'s>) -> Result<Place, Unclear> {
        self.deeper()?;
        let found = self.constant_of_type_within(ty, from);
        self.shallower();
        found
    }

    fn constant_of_type_within(&mut self, ty: &Ty, from: &Expression<'s>) -> Result<Place, Unclear> {
        let listed: Option<&[Expression<'s>]> = match &from.kind {
            ExpressionKind::List(_, listed) => Some(listed),
            _ => None,
        };
        match (ty, listed) {
            (Ty::Integer { .. }, None) => {
                let length = self.text.len();
                let value = self.value(from)?;
                let value = self.converted(value, ty)?;
                value.number().filter(|_| self.text.len() == length).ok_or(Unclear)?;
                Ok(Place::Fixed(value))
            }
            (Ty::Integer { .. }, Some([])) => Ok(Place::Fixed(Value::constant(0, ty.clone()))),
            (Ty::Integer { .. }, Some([only])) => self.constant_of_type(ty, only),
            (Ty::Float(..), _) => Ok(Place::Unknown(ty.clone())),
            (Ty::Array(of, count), Some(listed)) => {
                // The list may say how long it is.
                let count = if *count == 0 { listed.len() as u64 } else { *count };
                if count > MAX_ELEMENTS || listed.len() as u64 > count {
                    return Err(Unclear);
                }
                let nothing = from.with(ExpressionKind::List(None, Vec::new()));
                let elements = (0..count as usize).map(|index| listed.get(index).unwrap_or(&nothing));
                let parts = elements.map(|each| self.constant_of_type(of, each)).collect::<Result<_, _>>()?;
                Ok(Place::Parts(parts, Ty::Array(Rc::clone(of), count)))
            }
            (Ty::Structure(members), Some(listed)) => {
                if let Some(plain) = self.without_designators(members, from)? {
                    return self.constant_of_type(ty, &plain);
                }
                let structure = self.program.structure(members.structure);
                let is_plain = members.bases.is_empty()
                    && !members.is_union
                    && members.references.is_empty()
                    && members.all.len() == structure.members.len()
                    && listed.len() <= members.all.len()
                    && self.makers(members).is_empty();
                // The braces of the array in `std::array` may be left out.
                if !is_plain || (members.all.len() == 1 && matches!(members.all[0].1, Ty::Array(..))) {
                    return Err(Unclear);
                }
                let nothing = from.with(ExpressionKind::List(None, Vec::new()));
                let mut parts = Vec::new();
                for (index, ((_, ty, _), member)) in members.all.iter().zip(&structure.members).enumerate() {
                    parts.push(match (listed.get(index), &member.value) {
                        (Some(value), _) => self.constant_of_type(ty, value)?,
                        (None, Some(value)) => {
                            self.inside(members, None, |lowering| lowering.constant_of_type(ty, value))?
                        }
                        (None, None) => self.constant_of_type(ty, &nothing)?,
                    });
                }
                Ok(Place::Parts(parts, ty.clone()))
            }
            _ => Err(Unclear),
        }
    }
}

/// Whether an expression is no list.
const fn is_plain(each: &Expression<'_>) -> bool {
    !matches!(each.kind, ExpressionKind::List(..))
}
