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

    /// A member of a union, in its words.
    pub(super) fn part_of_union(&self, words: &Place, members: &Members, index: usize) -> Place {
        let (name, ty, offset) = &members.all[index];
        match bits_of(members, name) {
            Some(from) if let Some(bits) = bits_at(words, from, ty) => bits,
            _ => self.taken_for(words, *offset, ty),
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
            Place::Bits(whole, from, ty @ Ty::Integer { bits, signed, .. }) => {
                let to = self.fresh(32)?;
                let sign = if *signed { 's' } else { 'u' };
                self.emit(&format!("bfe.{sign}32 {}, {}, {from}, {bits};", to.name(), whole.name()));
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
            Place::Bits(whole, from, Ty::Integer { bits, .. }) => {
                let (name, to) = (whole.name(), self.fresh(32)?.name());
                let value = self.in_register(&value, 32)?.name();
                let mask = u32::MAX >> (32 - bits);
                self.emit(&format!("and.b32 {to}, {value}, {mask};"));
                self.emit(&format!("shl.b32 {to}, {to}, {from};"));
                self.emit(&format!("and.b32 {name}, {name}, {};", !(mask << from)));
                self.emit(&format!("or.b32 {name}, {name}, {to};"));
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
            let part = |(name, ty, at): &(String, Ty, u64)| match bits_of(members, name) {
                Some(from) => bits_at(place, 8 * offset + from, ty),
                None => registers_of(place, offset + at, ty),
            };
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
        Ty::Integer { bits: 8 | 16, is_bool: false, .. } => bits_at(place, 8 * offset, ty.plain()),
        _ => None,
    }
}

/// Where the bits of a member begin that is a bit field.
fn bits_of(members: &Members, name: &str) -> Option<u64> {
    members.bits.iter().find(|(known, _)| known == name).map(|(_, from)| *from)
}

/// The bits of a place from one on, in the register that has all of them.
fn bits_at(place: &Place, from: u64, ty: &Ty) -> Option<Place> {
    let Ty::Integer { bits: bits @ 1..=32, .. } = ty else { return None };
    let (word, first) = (from / 32, u32::try_from(from % 32).ok()?);
    let (whole, is) = register_at(place, 4 * word)?;
    let is_word = whole.bits == 32 && is_whole(&is) && first + bits <= 32;
    is_word.then(|| Place::Bits(whole, first, ty.clone()))
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
