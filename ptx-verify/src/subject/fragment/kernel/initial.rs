//! What objects begin with: lists in braces.

use ptx_syntax::cuda::body::{Expression, ExpressionKind};

use super::pack::is_pack;
use super::types::Ty;
use super::value::{Place, Value};
use super::{Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    /// Gives each member of an object what a list says: those that are references refer to it.
    pub(super) fn filled(
        &mut self,
        place: &Place,
        members: &super::types::Members,
        listed: &[Expression<'s>],
    ) -> Result<(), Unclear> {
        if !members.bases.is_empty() || listed.len() > members.all.len() {
            return Err(Unclear);
        }
        // Those that the list leaves out are zeros, where they do not say what they begin with.
        let structure = self.program.structure(members.structure);
        for member in structure.members.iter().skip(listed.len()).filter(|each| each.value.is_none()) {
            if members.references.iter().any(|name| name == member.name) {
                return Err(Unclear);
            }
            let left = self.member_itself(place.clone(), member.name)?;
            self.clear(&left)?;
        }
        for ((name, ..), value) in members.all.iter().zip(listed) {
            let member = self.member_itself(place.clone(), name)?;
            if !members.references.contains(name) {
                self.initialize(&member, value)?;
                continue;
            }
            let to = self.place(value)?;
            self.write(&member, Self::address_of(to))?;
        }
        Ok(())
    }

    /// The values of a list that names members, as if it named none: those that it leaves out before others begin with what they
    /// say.
    pub(super) fn without_designators(
        &self,
        members: &super::types::Members,
        given: &Expression<'s>,
    ) -> Result<Option<Expression<'s>>, Unclear> {
        let ExpressionKind::List(ty, listed) = &given.kind else { return Ok(None) };
        let mut named = Vec::new();
        for each in listed {
            if let ExpressionKind::Assign(".", to, value) = &each.kind
                && let ExpressionKind::Name(name, _) = to.kind
            {
                named.push((name, value));
            }
        }
        let structure = self.program.structure(members.structure);
        if named.is_empty() {
            return Ok(with_gaps(structure, given, listed));
        }
        if named.len() != listed.len() || members.is_union || !members.bases.is_empty() {
            return Err(Unclear);
        }
        let mut all = Vec::new();
        let mut left = named.as_slice();
        for member in &structure.members {
            let [(name, value), others @ ..] = left else { break };
            if *name == member.name {
                all.push((***value).clone());
                left = others;
                continue;
            }
            all.push(
                member.value.clone().unwrap_or_else(|| given.with(ExpressionKind::List(None, Vec::new()))),
            );
        }
        match left {
            [] => Ok(Some(given.with(ExpressionKind::List(ty.clone(), all)))),
            _ => Err(Unclear),
        }
    }

    /// Gives a vector the values of a list at once.
    pub(super) fn filled_vector(
        &mut self,
        place: &Place,
        ty: &Ty,
        from: &Expression<'s>,
    ) -> Result<(), Unclear> {
        let made = self.made(ty)?;
        self.initialize(&made, from)?;
        let value = self.read(&made)?;
        self.write(place, value)
    }

    /// Gives a place the values that a list says, zeros where it says none.
    pub(super) fn initialize(&mut self, place: &Place, from: &Expression<'s>) -> Result<(), Unclear> {
        self.deeper()?;
        let done = self.initialize_within(place, from);
        self.shallower();
        done
    }

    fn initialize_within(&mut self, place: &Place, from: &Expression<'s>) -> Result<(), Unclear> {
        if let Ty::Structure(members) = place.ty().plain()
            && let Some(plain) = self.without_designators(&std::rc::Rc::clone(members), from)?
        {
            return self.initialize(place, &plain);
        }
        // An atomic object begins with a plain store.
        if let Place::Memory { address, ty: Ty::Atomic(of, _) } = place {
            let plain = Place::Memory { address: address.clone(), ty: (**of).clone() };
            return self.initialize(&plain, from);
        }
        let ExpressionKind::List(_, given) = &from.kind else {
            let value = self.value(from)?;
            return self.write(place, value);
        };
        if given.iter().any(is_pack) {
            let names = self.names.len();
            let given = self.without_dots(given)?;
            let done = self.initialize(place, &from.with(ExpressionKind::List(None, given)));
            self.names.truncate(names);
            return done;
        }
        match place {
            Place::Parts(_, Ty::Structure(members)) if members.is_union => match given.as_slice() {
                [] => self.clear(place),
                [only] => {
                    let (first, ..) = members.all.first().ok_or(Unclear)?;
                    let member = self.member_itself(place.clone(), first)?;
                    self.initialize(&member, only)
                }
                // The members of a structure without a name, which is the first one.
                several if has_first(members, several.len()) => {
                    for ((name, ..), value) in members.all.iter().zip(several) {
                        let member = self.member_itself(place.clone(), name)?;
                        self.initialize(&member, value)?;
                    }
                    Ok(())
                }
                _ => Err(Unclear),
            },
            // The braces of the array in `std::array` may be left out.
            Place::Parts(parts, Ty::Structure(_))
                if let [only @ Place::Parts(_, Ty::Array(..))] = parts.as_slice()
                    && !given.iter().any(|each| matches!(each.kind, ExpressionKind::List(None, _))) =>
            {
                self.initialize(only, from)
            }
            Place::Parts(parts, _) => {
                if given.len() > parts.len() {
                    return Err(Unclear);
                }
                for (part, value) in parts.iter().zip(given) {
                    self.initialize(part, value)?;
                }
                for (index, part) in parts.iter().enumerate().skip(given.len()) {
                    self.left_out(place, part, index)?;
                }
                Ok(())
            }
            Place::Unknown(_) => {
                for each in given {
                    self.value(each)?;
                }
                Ok(())
            }
            Place::Memory { ty, .. } if matches!(ty.plain(), Ty::Vector(..)) => {
                self.filled_vector(place, ty.plain(), from)
            }
            Place::Memory { ty: Ty::Structure(_) | Ty::Array(..), .. } if !given.is_empty() => {
                self.fill_memory(place, given)
            }
            _ => match given.as_slice() {
                [] => self.clear(place),
                [only] => {
                    let value = self.value(only)?;
                    self.write(place, value)
                }
                _ => Err(Unclear),
            },
        }
    }

    /// What a list leaves out begins with what the member says, or with zeros.
    fn left_out(&mut self, whole: &Place, part: &Place, index: usize) -> Result<(), Unclear> {
        let program = self.program;
        if let Ty::Structure(members) = whole.ty().clone() {
            let own = &program.structure(members.structure).members;
            let value = own.get(index).filter(|_| own.len() == members.all.len());
            if let Some(value) = value.and_then(|member| member.value.as_ref()) {
                return self.inside(&members, Some(whole), |lowering| lowering.initialize(part, value));
            }
        }
        match part.ty().clone() {
            Ty::Structure(inner) if self.has_values(&inner) => {
                self.clear(part)?;
                self.constructed(part, &inner, None)
            }
            _ => self.clear(part),
        }
    }

    fn clear(&mut self, place: &Place) -> Result<(), Unclear> {
        self.deeper()?;
        match place {
            Place::Parts(parts, _) => {
                for part in parts {
                    self.clear(part)?;
                }
            }
            Place::Register(_, ty) => {
                let zero =
                    Value::constant(0, if matches!(ty, Ty::Pointer(..)) { ty.clone() } else { Ty::SIZE });
                let zero = if matches!(ty, Ty::Integer { .. } | Ty::Pointer(..)) {
                    zero
                } else {
                    Value::constant(0, ty.clone())
                };
                self.write(place, zero)?;
            }
            Place::Unknown(_) | Place::Link(_, Ty::Function) => {}
            _ => return Err(Unclear),
        }
        self.shallower();
        Ok(())
    }
}

/// A list with values for the bit fields without names that it passes; none where it has these.
fn with_gaps<'s>(
    structure: &ptx_syntax::cuda::body::Structure<'s>,
    given: &Expression<'s>,
    listed: &[Expression<'s>],
) -> Option<Expression<'s>> {
    let nothing = given.with(ExpressionKind::List(None, Vec::new()));
    let is_gap = |index: usize| structure.members.get(index).is_some_and(|member| member.name.is_empty());
    let is_nothing =
        |each: &Expression<'s>| matches!(&each.kind, ExpressionKind::List(None, all) if all.is_empty());
    if (0..listed.len()).all(|index| !is_gap(index) || is_nothing(&listed[index])) {
        return None;
    }
    let (mut all, ExpressionKind::List(ty, _)) = (Vec::new(), &given.kind) else { return None };
    for each in listed {
        while is_gap(all.len()) {
            all.push(nothing.clone());
        }
        all.push(each.clone());
    }
    Some(given.with(ExpressionKind::List(ty.clone(), all)))
}

/// Whether the first `count` members of a union lie next to each other, as those of one structure in it.
fn has_first(members: &super::types::Members, count: usize) -> bool {
    let first = members.all.get(..count).unwrap_or_default();
    !first.is_empty() && first.windows(2).all(|pair| pair[0].2 < pair[1].2)
}
