//! Members by the name of their structure, and pointers to members.

use std::rc::Rc;

use ptx_syntax::Span;
use ptx_syntax::cuda::body::{Expression, TypeName};

use super::types::{Given, Members, Ty};
use super::value::{Held, Place, Value};
use super::{Callable, Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    /// `T::name`, a member of the object that this is, or of none where only the type is asked for.
    pub(super) fn member_of(&mut self, owner: &TypeName<'s>, name: &str) -> Result<Option<Place>, Unclear> {
        let object = self.frames.last().and_then(|frame| frame.object.clone());
        if object.is_none() && !self.is_unevaluated {
            return Ok(None);
        }
        let mark = self.mark();
        let Ok(Ty::Structure(members)) = self.ty(owner) else {
            self.back_to(mark);
            return Ok(None);
        };
        let Some((_, ty, _)) = members.all.iter().find(|(known, ..)| known == name) else { return Ok(None) };
        if let Some((Some(place), around)) = object
            && let Some(base) = base_of(&around, &members)
        {
            let part = self.as_base(place, &around, &base)?;
            return self.member(part, name).map(Some);
        }
        Ok(self.is_unevaluated.then(|| Place::Unknown(ty.clone())))
    }

    /// The type of a member, or of an element of one, that reads as a type: `T::name`, `T::name[0]`.
    pub(super) fn type_of_member(&mut self, name: &TypeName<'s>, span: Span) -> Result<Ty, Unclear> {
        match name {
            TypeName::Scoped(owner, name, given) => {
                let owner = (**owner).clone();
                self.type_of(&Expression::scoped(owner, name, given.clone(), span))
            }
            TypeName::Array(of, _) => match self.type_of_member(of, span)? {
                Ty::Array(of, _) => Ok((*of).clone()),
                _ => Err(Unclear),
            },
            _ => Err(Unclear),
        }
    }

    /// A member or a method of a structure as a value, `&T::name`; none where the structure has none of that name.
    pub(super) fn value_of_member(&mut self, owner: &TypeName<'s>, name: &str) -> Option<Value> {
        let mark = self.mark();
        let Ok(Ty::Structure(members)) = self.ty(owner) else {
            self.back_to(mark);
            return None;
        };
        let is_known =
            members.all.iter().any(|(known, ..)| known == name) || !self.methods(&members, name).0.is_empty();
        let member = || Value::unknown(Ty::Callable(Rc::new(Callable::Member(members, name.to_owned()))));
        is_known.then(member)
    }

    /// The object and the member, or the method, that `a.*p` takes of it.
    pub(super) fn member_by_pointer(
        &mut self,
        object: &Expression<'s>,
        pointer: &Expression<'s>,
    ) -> Result<(Place, Rc<Members>, String), Unclear> {
        let pointer = self.value(pointer)?;
        let Ty::Callable(of) = pointer.ty else { return Err(Unclear) };
        let Callable::Member(members, name) = &*of else { return Err(Unclear) };
        let object = match self.place(object)? {
            Place::Fixed(Value { held: Held::Place(place), .. }) => (*place).clone(),
            other => other,
        };
        let Ty::Structure(own) = object.ty().plain().clone() else { return Err(Unclear) };
        let object = self.as_base(object, &own, members)?;
        Ok((object, Rc::clone(members), name.clone()))
    }
}

/// What an object of one structure is as one of the other: itself or a base. What a base is given may be named before it is whole,
/// so that only one of the same structure is it as well.
pub(super) fn base_of(members: &Rc<Members>, of: &Rc<Members>) -> Option<Rc<Members>> {
    let mut pending = vec![Rc::clone(members)];
    let mut same = Vec::new();
    let mut left = MAX_BASES;
    while let Some(each) = pending.pop().filter(|_| left > 0) {
        left -= 1;
        if each == *of {
            return Some(each);
        }
        pending.extend(each.bases.iter().cloned());
        // With other numbers it is another one of the same template.
        let are_other = |(own, other): (&Given, &Given)| match (own, other) {
            (Given::Number(own, _), Given::Number(other, _)) => own != other,
            _ => false,
        };
        if each.structure == of.structure && !each.given.iter().zip(&of.given).any(are_other) {
            same.push(each);
        }
    }
    same.pop().filter(|_| same.is_empty())
}

/// Structures that one is derived of.
pub(super) const MAX_BASES: usize = 32;
