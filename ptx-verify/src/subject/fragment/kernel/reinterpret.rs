//! Places that are taken for ones of other types: the same registers, two of them for one number, or half of one.

use std::rc::Rc;

use super::types::{Members, Space, Ty};
use super::value::{Held, Place, Register, Value};
use super::{Lowering, Unclear};

/// Bytes of a union that is kept in registers.
const MAX_UNION: u64 = 256;

impl Lowering<'_, '_> {
    /// A place as one of another type, `offset` bytes after it: what is not found in its registers is not known.
    pub(super) fn taken_for(&self, place: &Place, offset: u64, ty: &Ty) -> Place {
        if let Some(same) = registers_of(place, offset, ty) {
            return same;
        }
        match place {
            Place::Unknown(_) => Place::Unknown(ty.clone()),
            other => Place::Alias(Rc::new(other.clone()), ty.clone()),
        }
    }

    /// A place for a union: words that all its members are parts of.
    pub(super) fn made_union(&mut self, members: &Rc<Members>) -> Result<Place, Unclear> {
        let ty = Ty::Structure(Rc::clone(members));
        if !members.size.is_multiple_of(4) || members.size > MAX_UNION {
            return Ok(Place::Unknown(ty));
        }
        let words = self.made(&Ty::Array(Rc::new(Ty::UINT), members.size / 4))?;
        Ok(Place::Parts(vec![words], ty))
    }

    /// What a number holds that lies in two registers, or in half of one.
    pub(super) fn read_bits(&mut self, place: &Place) -> Result<Value, Unclear> {
        let (to, ty) = match place {
            Place::Pair(low, high, ty) => {
                let to = self.fresh(64)?;
                self.emit(&format!("mov.b64 {}, {{{}, {}}};", to.name(), low.name(), high.name()));
                (to, ty)
            }
            Place::Half(whole, is_high, ty) => {
                let to = self.fresh(32)?;
                let mut from = whole.name();
                if *is_high {
                    let shifted = self.fresh(64)?;
                    self.emit(&format!("shr.u64 {}, {from}, 32;", shifted.name()));
                    from = shifted.name();
                }
                self.emit(&format!("cvt.u32.u64 {}, {from};", to.name()));
                (to, ty)
            }
            _ => return Err(Unclear),
        };
        Ok(Value { ty: ty.clone(), held: Held::Register(to) })
    }

    /// Puts a value into such a place.
    pub(super) fn write_bits(&mut self, place: &Place, value: Value) -> Result<(), Unclear> {
        let value = self.converted(value, place.ty())?;
        match place {
            Place::Pair(low, high, _) => {
                let from = self.in_register(&value, 64)?;
                self.emit(&format!("mov.b64 {{{}, {}}}, {};", low.name(), high.name(), from.name()));
                Ok(())
            }
            Place::Half(whole, is_high, _) => {
                let (low, high) = (self.fresh(32)?, self.fresh(32)?);
                let whole = whole.name();
                let from = self.in_register(&value, 32)?;
                self.emit(&format!("mov.b64 {{{}, {}}}, {whole};", low.name(), high.name()));
                let (low, high) = if *is_high { (low, from) } else { (from, high) };
                self.emit(&format!("mov.b64 {whole}, {{{}, {}}};", low.name(), high.name()));
                Ok(())
            }
            _ => Err(Unclear),
        }
    }

    /// `memcpy(to, from, bytes)` where one of the two is in no memory: an object gets the bits of another.
    pub(super) fn copied_bits(&mut self, to: &Value, from: &Value, bytes: u64) -> Result<(), Unclear> {
        match (&to.held, &from.held) {
            (Held::Place(to), Held::Place(from)) => {
                let is_whole = to.ty().size() == Ok(bytes);
                match registers_of(from, 0, to.ty()) {
                    Some(from) if is_whole => {
                        let value = self.read(&from)?;
                        self.write(to, value)
                    }
                    _ => self.forget(to),
                }
            }
            (Held::Place(to), Held::Register(_)) => {
                if to.ty().size() != Ok(bytes) {
                    return self.forget(to);
                }
                let mark = self.mark();
                let ty = to.ty().clone();
                match self.load(from, &ty) {
                    Ok(value) => self.write(to, value),
                    Err(Unclear) => {
                        self.back_to(mark);
                        self.forget(to)
                    }
                }
            }
            (Held::Register(_), Held::Place(from)) if from.ty().size() == Ok(bytes) => {
                let value = self.read(from)?;
                self.store(to, &from.ty().clone(), value)
            }
            _ => Err(Unclear),
        }
    }
}

/// The registers of a place that hold another type.
fn registers_of(place: &Place, offset: u64, ty: &Ty) -> Option<Place> {
    match ty.plain() {
        Ty::Vector(of, count) => {
            let size = of.size().ok()?;
            let part = |index: u32| registers_of(place, offset + u64::from(index) * size, of);
            Some(Place::Parts((0..*count).map(part).collect::<Option<_>>()?, ty.plain().clone()))
        }
        Ty::Array(of, count) => {
            let size = of.size().ok()?;
            let part = |index: u64| registers_of(place, offset + index * size, of);
            Some(Place::Parts((0..*count).map(part).collect::<Option<_>>()?, ty.plain().clone()))
        }
        Ty::Structure(members) if members.is_union => {
            let words = Ty::Array(Rc::new(Ty::UINT), members.size / 4);
            let is_of_words = members.size.is_multiple_of(4) && members.size <= MAX_UNION;
            let words = is_of_words.then(|| registers_of(place, offset, &words))??;
            Some(Place::Parts(vec![words], ty.plain().clone()))
        }
        Ty::Structure(members) if members.references.is_empty() && !members.all.is_empty() => {
            let part = |(_, ty, at): &(String, Ty, u64)| registers_of(place, offset + at, ty);
            Some(Place::Parts(members.all.iter().map(part).collect::<Option<_>>()?, ty.plain().clone()))
        }
        Ty::Pointer(of, _) => {
            let (own, is) = register_at(place, offset)?;
            let space = match is {
                Ty::Pointer(_, space) => space,
                Ty::Integer { bits: 64, .. } => Space::Generic,
                _ => return None,
            };
            Some(Place::Register(own, Ty::Pointer(Rc::clone(of), space)))
        }
        Ty::Integer { bits: bits @ (32 | 64), .. } | Ty::Float(bits @ (32 | 64), _) => {
            let ty = ty.plain().clone();
            match register_at(place, offset) {
                Some((own, is)) if own.bits == *bits && is_whole(&is) => Some(Place::Register(own, ty)),
                Some((low, one)) if low.bits == 32 && *bits == 64 => {
                    let (high, other) = register_at(place, offset + 4)?;
                    let are_words = high.bits == 32 && is_whole(&one) && is_whole(&other);
                    are_words.then_some(Place::Pair(low, high, ty))
                }
                Some((own, is)) if own.bits == 64 && *bits == 32 && is_whole(&is) => {
                    Some(Place::Half(own, false, ty))
                }
                Some(_) => None,
                None => {
                    let (own, is) = register_at(place, offset.checked_sub(4)?)?;
                    let is_half = own.bits == 64 && *bits == 32 && is_whole(&is);
                    is_half.then_some(Place::Half(own, true, ty))
                }
            }
        }
        _ => None,
    }
}

/// Whether a register holds all bits of a type as memory has them.
const fn is_whole(ty: &Ty) -> bool {
    matches!(
        ty,
        Ty::Integer { bits: 32 | 64, .. }
            | Ty::Float(32 | 64, _)
            | Ty::Pointer(_, Space::Generic | Space::Global)
    )
}

/// The register of a place that is some bytes after it.
fn register_at(place: &Place, offset: u64) -> Option<(Register, Ty)> {
    match place {
        Place::Register(register, ty) => (offset == 0).then(|| (*register, ty.clone())),
        Place::Parts(parts, Ty::Vector(of, _) | Ty::Array(of, _)) => {
            let size = of.size().ok().filter(|size| *size > 0)?;
            let part = parts.get(usize::try_from(offset / size).ok()?)?;
            register_at(part, offset % size)
        }
        Place::Parts(parts, Ty::Structure(members)) if members.is_union => {
            register_at(parts.first()?, offset)
        }
        Place::Parts(parts, Ty::Structure(members)) => {
            let begins = |(_, (_, _, at)): &(usize, &(String, Ty, u64))| *at <= offset;
            let (index, (_, _, at)) = members.all.iter().enumerate().rfind(begins)?;
            register_at(parts.get(index)?, offset - at)
        }
        _ => None,
    }
}
