//! Loads and stores. A vector is one access, as compilers make it; other objects are one for each number in them.

use std::rc::Rc;

use ptx_ir::space::StateSpace;

use super::types::{Members, Space, Ty, kind_of};
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

/// Bytes of an object that is read or written as a whole.
const MAX_COPIED: u64 = 64;
/// The same of an object with nothing in it that has a name, as a tensor map.
const MAX_OPAQUE: u64 = 128;
/// Bytes of one access.
const MAX_ACCESS: u64 = 16;

impl Lowering<'_, '_> {
    /// What is in memory at an address.
    pub(super) fn load(&mut self, address: &Value, ty: &Ty) -> Result<Value, Unclear> {
        // What it gives as another type depends on where it is.
        if let Ty::Structure(members) = ty
            && self.gives_another(members)
        {
            let place = Place::Memory { address: address.clone(), ty: ty.clone() };
            return Ok(Value { ty: ty.clone(), held: Held::Place(Rc::new(place)) });
        }
        if matches!(ty, Ty::Atomic(..)) {
            let place = Place::Memory { address: address.clone(), ty: ty.clone() };
            return self.loaded_atomic(&place);
        }
        self.load_as(address, ty, space_of(address))
    }

    /// The same of what is `volatile`.
    pub(super) fn load_volatile(&mut self, address: &Value, ty: &Ty) -> Result<Value, Unclear> {
        self.load_as(address, ty, &volatile_in(address))
    }

    /// The same, with the words that follow `ld`.
    pub(super) fn load_as(&mut self, address: &Value, ty: &Ty, words: &str) -> Result<Value, Unclear> {
        let ty = ty.plain();
        may_be_copied(ty)?;
        let base = self.operand(address, 64)?;
        Ok(match self.loaded((&base, 0), ty, words)? {
            Place::Register(register, ty) => Value { ty, held: Held::Register(register) },
            Place::Unknown(ty) => Value::unknown(ty),
            place => Value { ty: ty.clone(), held: Held::Place(Rc::new(place)) },
        })
    }

    /// Registers with what lies at an offset from an address.
    fn loaded(&mut self, (base, offset): (&str, u64), ty: &Ty, words: &str) -> Result<Place, Unclear> {
        self.deeper()?;
        let ty = ty.plain();
        let place = match ty {
            Ty::Vector(of, count) => {
                let (size, mut parts) = (of.size()?, Vec::new());
                let kind = kind_of(size, is_signed(of));
                for (first, length) in accesses(size, *count) {
                    let mut names = Vec::new();
                    for _ in 0..length {
                        let register = self.fresh(if size == 8 { 64 } else { 32 })?;
                        names.push(register.name());
                        parts.push(Place::Register(register, (**of).clone()));
                    }
                    let at = offset + size * u64::from(first);
                    let (vector, names) = listed(&names);
                    self.emit(&format!("ld{words}{vector}.{kind} {names}, [{base}+{at}];"));
                }
                Place::Parts(parts, ty.clone())
            }
            Ty::Array(of, count) => {
                let (size, mut parts) = (of.size()?, Vec::new());
                for index in 0..*count {
                    parts.push(self.loaded((base, offset + index * size), of, words)?);
                }
                Place::Parts(parts, ty.clone())
            }
            Ty::Structure(members) if members.is_union => {
                let mut parts = Vec::new();
                for (first, length) in words_of(members) {
                    let mut names = Vec::new();
                    for _ in 0..length {
                        let register = self.fresh(32)?;
                        names.push(register.name());
                        parts.push(Place::Register(register, Ty::UINT));
                    }
                    let at = offset + 4 * u64::from(first);
                    let (vector, names) = listed(&names);
                    self.emit(&format!("ld{words}{vector}.b32 {names}, [{base}+{at}];"));
                }
                let count = parts.len() as u64;
                let all = Place::Parts(parts, Ty::Array(Rc::new(Ty::UINT), count));
                Place::Parts(vec![all], ty.clone())
            }
            Ty::Structure(members) => {
                let mut parts = Vec::new();
                for (name, ty, at) in &members.all {
                    let part = self.loaded((base, offset + at), ty, words)?;
                    parts.push(match members.references.contains(name) {
                        true => Place::Unknown(ty.clone()),
                        false => part,
                    });
                }
                match members.references.is_empty() {
                    true => Place::Parts(parts, ty.clone()),
                    false => Place::Unknown(ty.clone()),
                }
            }
            Ty::Bytes(bytes, _) => {
                for at in (0..*bytes).step_by(8) {
                    let to = self.fresh(64)?;
                    self.emit(&format!("ld{words}.b64 {}, [{base}+{}];", to.name(), offset + at));
                }
                Place::Unknown(ty.clone())
            }
            _ => {
                let bits = ty.register().ok_or(Unclear)?;
                let kind = kind_of(ty.size()?, is_signed(ty));
                let to = self.fresh(bits)?;
                self.emit(&format!("ld{words}.{kind} {}, [{base}+{offset}];", to.name()));
                Place::Register(to, ty.clone())
            }
        };
        self.shallower();
        Ok(place)
    }

    /// Puts a value into memory.
    pub(super) fn store(&mut self, address: &Value, ty: &Ty, value: Value) -> Result<(), Unclear> {
        let words = match ty {
            Ty::Volatile(_) => volatile_in(address),
            _ => space_of(address).to_owned(),
        };
        let ty = ty.plain();
        may_be_copied(ty)?;
        let value = match (&value.held, &value.ty) {
            (Held::Place(place), own) if own == ty && matches!(**place, Place::Memory { .. }) => {
                let Place::Memory { address, ty } = &**place else { return Err(Unclear) };
                self.load_as(address, ty, space_of(address))?
            }
            _ => self.converted(value, ty)?,
        };
        let base = self.operand(address, 64)?;
        self.stored((&base, 0), ty, value, &words)
    }

    fn stored(
        &mut self,
        (base, offset): (&str, u64),
        ty: &Ty,
        value: Value,
        words: &str,
    ) -> Result<(), Unclear> {
        self.deeper()?;
        let ty = ty.plain();
        match ty {
            Ty::Vector(of, count) => {
                let (size, values) = (of.size()?, self.parts_of(&value, *count, |_| Ok((**of).clone()))?);
                let bits = if size == 8 { 64 } else { 32 };
                let mut operands = Vec::new();
                for value in values {
                    let value = self.converted(value, of)?;
                    operands.push(self.operand(&value, bits)?);
                }
                let kind = kind_of(size, false);
                for (first, length) in accesses(size, *count) {
                    let at = offset + size * u64::from(first);
                    let own = operands.get(first as usize..(first + length) as usize).ok_or(Unclear)?;
                    let (vector, names) = listed(own);
                    self.emit(&format!("st{words}{vector}.{kind} [{base}+{at}], {names};"));
                }
            }
            Ty::Array(of, count) => {
                let (size, count) = (of.size()?, u32::try_from(*count).or(Err(Unclear))?);
                let values = self.parts_of(&value, count, |_| Ok((**of).clone()))?;
                for (index, value) in (0..).zip(values) {
                    self.stored((base, offset + index * size), of, value, words)?;
                }
            }
            Ty::Structure(members) if members.is_union => {
                let whole = match &value.held {
                    Held::Place(place) => match &**place {
                        Place::Parts(parts, own) if own == ty => match parts.first() {
                            Some(all) => self.read(all)?,
                            None => Value::unknown(Ty::Any),
                        },
                        _ => Value::unknown(Ty::Any),
                    },
                    _ => Value::unknown(Ty::Any),
                };
                let count = u32::try_from(members.size / 4).or(Err(Unclear))?;
                let mut operands = Vec::new();
                for value in self.parts_of(&whole, count, |_| Ok(Ty::UINT))? {
                    operands.push(self.operand(&value, 32)?);
                }
                for (first, length) in words_of(members) {
                    let at = offset + 4 * u64::from(first);
                    let own = operands.get(first as usize..(first + length) as usize).ok_or(Unclear)?;
                    let (vector, names) = listed(own);
                    self.emit(&format!("st{words}{vector}.b32 [{base}+{at}], {names};"));
                }
            }
            Ty::Structure(members) => {
                let of = |index: usize| members.all.get(index).map(|(_, ty, _)| ty.clone()).ok_or(Unclear);
                let values = self.parts_of(&value, members.all.len() as u32, of)?;
                for ((_, ty, at), value) in members.all.iter().zip(values) {
                    self.stored((base, offset + at), ty, value, words)?;
                }
            }
            Ty::Bytes(bytes, _) => {
                for at in (0..*bytes).step_by(8) {
                    self.emit(&format!("st{words}.b64 [{base}+{}], 0;", offset + at));
                }
            }
            _ => {
                let value = self.converted(value, ty)?;
                let value = match (&value.ty, &value.held) {
                    // It points to what is in no memory.
                    (Ty::Pointer(..), Held::Place(_)) => Value::unknown(ty.clone()),
                    (Ty::Pointer(..), _) => self.generic(value)?,
                    _ => value,
                };
                let size = ty.size()?;
                let operand = self.operand(&value, if size == 8 { 64 } else { 32 })?;
                let kind = kind_of(size, false);
                self.emit(&format!("st{words}.{kind} [{base}+{offset}], {operand};"));
            }
        }
        self.shallower();
        Ok(())
    }

    /// The values in an object: none of them is known where it is not.
    fn parts_of(
        &mut self,
        value: &Value,
        count: u32,
        of: impl Fn(usize) -> Result<Ty, Unclear>,
    ) -> Result<Vec<Value>, Unclear> {
        let mut values = Vec::new();
        for index in 0..count as usize {
            let part = match &value.held {
                Held::Place(place) => match &**place {
                    Place::Parts(parts, _) if parts.len() == count as usize => parts.get(index),
                    _ => None,
                },
                _ => None,
            };
            values.push(match part {
                Some(part) => self.read(part)?,
                None => Value::unknown(of(index)?),
            });
        }
        Ok(values)
    }
}

const fn is_signed(ty: &Ty) -> bool {
    matches!(ty, Ty::Integer { signed: true, .. })
}

/// The accesses of a vector: the first element of each, and how many they are.
fn accesses(size: u64, count: u32) -> Vec<(u32, u32)> {
    let most = match count {
        2 | 4 => u32::try_from(MAX_ACCESS / size.max(1)).unwrap_or(1).min(count),
        _ => 1,
    };
    (0..count).step_by(most.max(1) as usize).map(|first| (first, most.max(1))).collect()
}

/// The accesses of a union: the first of its words in each, and how many they are.
fn words_of(members: &Members) -> Vec<(u32, u32)> {
    let most = members.align.clamp(4, MAX_ACCESS) as u32 / 4;
    (0..(members.size / 4) as u32).step_by(most as usize).map(|first| (first, most)).collect()
}

/// The modifier for a number of elements, and the operand.
pub(super) fn listed(names: &[String]) -> (String, String) {
    match names {
        [only] => (String::new(), only.clone()),
        several => (format!(".v{}", several.len()), format!("{{{}}}", several.join(", "))),
    }
}

pub(super) fn space_of(address: &Value) -> &'static str {
    match address.ty {
        Ty::Pointer(_, Space::Shared) => StateSpace::Shared.as_str(),
        Ty::Pointer(_, Space::Param) => StateSpace::Param.as_str(),
        Ty::Pointer(_, Space::Global) => StateSpace::Global.as_str(),
        Ty::Pointer(_, Space::Const) => StateSpace::Const.as_str(),
        _ => "",
    }
}

/// The words of an access of what is `volatile`, and of where it is.
pub(super) fn volatile_in(address: &Value) -> String {
    let space = space_of(address);
    match address.ty {
        Ty::Pointer(_, Space::Param | Space::Const) => space.to_owned(),
        _ => format!(".volatile{space}"),
    }
}

/// Whether an object is read and written as a whole.
fn may_be_copied(ty: &Ty) -> Result<(), Unclear> {
    match ty {
        Ty::Integer { .. } | Ty::Float(..) | Ty::Pointer(..) => Ok(()),
        Ty::Vector(of, _) if of.register().is_some() => Ok(()),
        Ty::Volatile(of) => may_be_copied(of),
        Ty::Array(of, _) if ty.size()? <= MAX_COPIED => may_be_copied(of),
        Ty::Structure(members) if members.is_union => {
            let is_of_words = members.size % 4 == 0 && members.align >= 4 && members.size <= MAX_COPIED;
            if is_of_words { Ok(()) } else { Err(Unclear) }
        }
        Ty::Structure(members) if members.size <= MAX_COPIED => {
            members.all.iter().try_for_each(|(_, ty, _)| may_be_copied(ty))
        }
        Ty::Bytes(bytes, align) if *bytes <= MAX_OPAQUE && bytes % 8 == 0 && align % 8 == 0 => Ok(()),
        _ => Err(Unclear),
    }
}
