//! Constants of the file and of structures: numbers, arrays and objects of these.

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, TemplateArgument, Variable};

use super::types::Ty;
use super::value::{Held, Place, Value};
use super::{Binding, Lowering, MAX_ELEMENTS, Unclear};

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

    /// An argument of a template that is a number, or a function.
    pub(super) fn number_binding(&mut self, argument: &TemplateArgument<'s>) -> Result<Binding, Unclear> {
        let value = self.number_argument(argument)?;
        let value = self.number_of_object(value)?;
        // Which function it is, its type tells.
        if matches!(value.ty, Ty::Callable(_)) {
            return Ok(Binding::Type(value.ty));
        }
        value.number().ok_or(Unclear)?;
        Ok(Binding::Place(Place::Fixed(value)))
    }

    /// An argument of a template that is an object: `Shape{64, 32}`, or the name of a constant.
    pub(super) fn object_binding(&mut self, argument: &TemplateArgument<'s>) -> Result<Binding, Unclear> {
        let TemplateArgument::Value(value) = argument else { return Err(Unclear) };
        let place = match &value.kind {
            ExpressionKind::List(Some(_), _) => self.constant_place(value)?,
            _ => self.place(value)?,
        };
        let place = match place {
            Place::Fixed(Value { held: Held::Place(place), .. }) => (*place).clone(),
            other => other,
        };
        numbers(&place, &mut Vec::new())?;
        match place.ty() {
            Ty::Structure(_) => Ok(Binding::Place(place)),
            _ => Err(Unclear),
        }
    }

    /// What a variable in constant memory, or a constant on the device, begins with, where it is an array of numbers and the host
    /// does not change it.
    pub(super) fn table_of_numbers(&mut self, variable: &Variable<'s>) -> Option<Place> {
        let stays = match variable.is_in_constant_memory {
            true => !self.aim.source.contains("ToSymbol") && !self.aim.source.contains("SymbolAddress"),
            false => variable.is_device && variable.is_constant,
        };
        let value = variable.value.as_ref().filter(|_| stays)?;
        let mark = self.mark();
        let found = self.ty(&variable.ty).and_then(|ty| match &ty {
            Ty::Array(of, _) if matches!(**of, Ty::Integer { .. }) => self.constant_of_type(&ty, value),
            _ => Err(Unclear),
        });
        if found.is_err() {
            self.back_to(mark);
        }
        found.ok()
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
            (Ty::Function, None) => {
                let value = self.value(from)?;
                if matches!(value.ty, Ty::Callable(_)) { Ok(Place::Fixed(value)) } else { Err(Unclear) }
            }
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

/// Adds the numbers that an object has; those with a fraction count for nothing.
pub(super) fn numbers(place: &Place, all: &mut Vec<u64>) -> Result<(), Unclear> {
    match place {
        Place::Fixed(value) => all.push(value.number().ok_or(Unclear)?),
        Place::Unknown(Ty::Float(..)) => {}
        Place::Parts(parts, _) => {
            for part in parts {
                numbers(part, all)?;
            }
        }
        _ => return Err(Unclear),
    }
    Ok(())
}

/// The object of a type that has such numbers.
pub(super) fn object(ty: &Ty, from: &mut impl Iterator<Item = u64>) -> Place {
    match ty {
        Ty::Structure(members) => {
            let parts = members.all.iter().map(|(_, ty, _)| object(ty, from)).collect();
            Place::Parts(parts, ty.clone())
        }
        Ty::Array(of, count) => {
            let parts = (0..*count).map(|_| object(of, from)).collect();
            Place::Parts(parts, ty.clone())
        }
        Ty::Integer { .. } => match from.next() {
            Some(number) => Place::Fixed(Value::constant(number, ty.clone())),
            None => Place::Unknown(ty.clone()),
        },
        _ => Place::Unknown(ty.clone()),
    }
}

/// Whether an expression is no list.
const fn is_plain(each: &Expression<'_>) -> bool {
    !matches!(each.kind, ExpressionKind::List(..))
}
