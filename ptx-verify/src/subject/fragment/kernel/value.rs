//! Values and places, and the instructions that compute them.

use std::cell::RefCell;
use std::rc::Rc;

use ptx_ir::space::StateSpace;

use super::types::{Group, Space, Ty};
use super::{Lowering, Unclear};

/// What holds a value.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// A number that is known.
    Constant(u64),
    /// A register.
    Register(Register),
    /// The address of a place that is no memory.
    Place(Rc<Place>),
    /// Nothing that is known.
    Unknown,
}

/// A register: its number and how many bits it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register {
    pub number: u32,
    pub bits: u32,
}

/// What the names of registers begin with.
pub(super) const REGISTER: &str = "%c_";

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub ty: Ty,
    pub held: Held,
}

/// Where a value is kept.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In a register.
    Register(Register, Ty),
    /// In memory, at an address.
    Memory { address: Value, ty: Ty },
    /// In parts: the elements of an array, or the members of a structure.
    Parts(Vec<Self>, Ty),
    /// In another place, as another type.
    Alias(Rc<Self>, Ty),
    /// In two registers, the lower half first.
    Pair(Register, Register, Ty),
    /// In half of a register, the upper one or the lower one.
    Half(Register, bool, Ty),
    /// In some bits of a register of 32, from the one that is told on.
    Bits(Register, u32, Ty),
    /// In one of several registers, which an index chooses.
    Chosen { registers: Vec<Register>, index: Register, ty: Ty },
    /// A reference that an object has as a member.
    Link(Rc<RefCell<Option<Self>>>, Ty),
    /// Nowhere: what is written there is lost, and what is read is not known.
    Unknown(Ty),
    /// A value that does not change.
    Fixed(Value),
}

impl Place {
    pub fn ty(&self) -> &Ty {
        match self {
            Self::Register(_, ty) | Self::Memory { ty, .. } | Self::Parts(_, ty) => ty,
            Self::Pair(.., ty) | Self::Half(.., ty) | Self::Bits(.., ty) => ty,
            Self::Chosen { ty, .. } | Self::Alias(_, ty) | Self::Link(_, ty) | Self::Unknown(ty) => ty,
            Self::Fixed(value) => &value.ty,
        }
    }
}

impl Value {
    pub const fn constant(number: u64, ty: Ty) -> Self {
        Self { ty, held: Held::Constant(number) }
    }

    pub const fn unknown(ty: Ty) -> Self {
        Self { ty, held: Held::Unknown }
    }

    pub const fn group(group: Group) -> Self {
        Self { ty: Ty::Group(group), held: Held::Unknown }
    }

    pub const fn number(&self) -> Option<u64> {
        match self.held {
            Held::Constant(number) => Some(number),
            _ => None,
        }
    }
}

/// A number in so many bits, extended as its type says.
pub(super) const fn fitted(number: u64, bits: u32, signed: bool) -> u64 {
    if bits >= 64 {
        return number;
    }
    let low = number & ((1 << bits) - 1);
    if signed && low >> (bits - 1) & 1 != 0 { low | !((1 << bits) - 1) } else { low }
}

impl Lowering<'_, '_> {
    /// An operand of an instruction of so many bits.
    pub(super) fn operand(&mut self, value: &Value, bits: u32) -> Result<String, Unclear> {
        match &value.held {
            Held::Constant(number) => {
                let number = if bits == 32 { *number & 0xffff_ffff } else { *number };
                Ok(number.to_string())
            }
            Held::Register(register) if register.bits == bits => Ok(register.name()),
            Held::Register(register) => {
                let signed = matches!(value.ty, Ty::Integer { signed: true, .. });
                let to = self.fresh(bits)?;
                let sign = if signed { 's' } else { 'u' };
                let (wide, narrow) = (bits, register.bits);
                self.emit(&format!("cvt.{sign}{wide}.{sign}{narrow} {}, {};", to.name(), register.name()));
                Ok(to.name())
            }
            // It is in no memory that this follows.
            Held::Place(_) => Err(Unclear),
            Held::Unknown => {
                let to = self.fresh(bits)?;
                self.emit(&format!("ld.const.b{bits} {}, [%c_anything];", to.name()));
                Ok(to.name())
            }
        }
    }

    /// A register that holds a value.
    pub(super) fn in_register(&mut self, value: &Value, bits: u32) -> Result<Register, Unclear> {
        if let Held::Register(register) = value.held
            && register.bits == bits
        {
            return Ok(register);
        }
        let operand = self.operand(value, bits)?;
        let to = self.fresh(bits)?;
        self.emit(&format!("mov.b{bits} {}, {operand};", to.name()));
        Ok(to)
    }

    /// A register of its own that holds the value of now.
    pub(super) fn copied(&mut self, value: Value) -> Result<Value, Unclear> {
        let Held::Register(from) = value.held else { return Ok(value) };
        let to = self.fresh(from.bits)?;
        self.emit(&format!("mov.b{} {}, {};", from.bits, to.name(), from.name()));
        if self.leads_to_shared(&value) {
            self.of_shared.insert(to.number, true);
        }
        Ok(Value { held: Held::Register(to), ..value })
    }

    /// A value as one of another type.
    pub(super) fn converted(&mut self, value: Value, to: &Ty) -> Result<Value, Unclear> {
        if let (Ty::Structure(_), Ty::Integer { .. } | Ty::Pointer(..)) = (&value.ty, to)
            && let Some(given) = self.given_by_object(&value, to)?
        {
            return Ok(given);
        }
        match (&value.ty, to) {
            (_, Ty::Void) => return Ok(Value::unknown(Ty::Void)),
            (_, Ty::Any) => return Ok(value),
            (Ty::Integer { .. } | Ty::Pointer(..) | Ty::Array(..), Ty::Integer { is_bool: true, .. }) => {
                return self.truth(value);
            }
            (Ty::Integer { .. }, &Ty::Integer { bits, signed, .. }) => {
                return self.converted_integer(value, bits, signed);
            }
            (Ty::Array(..), Ty::Pointer(..)) => {
                return self.converted(Self::decayed(value), to);
            }
            (Ty::Pointer(_, from), Ty::Pointer(of, _)) => {
                let ty = Ty::Pointer(Rc::clone(of), *from);
                return Ok(Value { ty, held: value.held });
            }
            (Ty::Pointer(..), Ty::Integer { bits: 64, .. }) => {
                // The address of what is not followed.
                if let Held::Place(place) = &value.held {
                    return match **place {
                        Place::Unknown(_) => Ok(Value::unknown(to.clone())),
                        _ => Err(Unclear),
                    };
                }
                let generic = self.generic(value)?;
                return Ok(Value { ty: to.clone(), held: generic.held });
            }
            (Ty::Integer { bits: 64, .. }, Ty::Pointer(..)) => {
                return Ok(Value { ty: to.clone(), held: value.held });
            }
            _ if value.ty == *to => return Ok(value),
            // A pointer to a function is known by the function.
            (Ty::Callable(_), Ty::Pointer(..) | Ty::Function) => return Ok(value),
            // Structures and groups are what they are.
            (Ty::Structure(_) | Ty::Group(_), _) | (_, Ty::Structure(_) | Ty::Group(_)) => {
                return Err(Unclear);
            }
            _ => {}
        }
        // What is computed of other numbers is not known.
        Ok(Value::unknown(to.clone()))
    }

    fn converted_integer(&mut self, value: Value, bits: u32, signed: bool) -> Result<Value, Unclear> {
        let to = Ty::Integer { bits, signed, is_bool: false };
        let held = match value.held {
            Held::Constant(number) => Held::Constant(fitted(number, bits, signed)),
            Held::Register(register) => {
                let width = bits.max(32);
                let (from_bits, from_signed) = match value.ty {
                    Ty::Integer { bits, signed, .. } => (bits, signed),
                    _ => (register.bits, false),
                };
                let narrow = bits < from_bits.min(32) || (bits < 32 && signed != from_signed);
                if narrow {
                    let name = self.operand(&value, 32)?;
                    let to = self.fresh(32)?;
                    if signed {
                        let left = 32 - bits;
                        self.emit(&format!("shl.b32 {}, {name}, {left};", to.name()));
                        self.emit(&format!("shr.s32 {}, {}, {left};", to.name(), to.name()));
                    } else {
                        self.emit(&format!("bfe.u32 {}, {name}, 0, {bits};", to.name()));
                    }
                    Held::Register(to)
                } else if register.bits == width {
                    Held::Register(register)
                } else {
                    let to = self.fresh(width)?;
                    let sign = if from_signed { 's' } else { 'u' };
                    let from = register.bits;
                    self.emit(&format!("cvt.{sign}{width}.{sign}{from} {}, {};", to.name(), register.name()));
                    Held::Register(to)
                }
            }
            Held::Unknown | Held::Place(_) => Held::Unknown,
        };
        Ok(Value { ty: to, held })
    }

    /// Whether a value is not 0, as 0 or 1.
    pub(super) fn truth(&mut self, value: Value) -> Result<Value, Unclear> {
        if matches!(value.ty, Ty::Structure(_)) {
            let given = self.given_by_object(&value, &Ty::BOOL)?;
            return given.ok_or(Unclear);
        }
        if let Some(number) = value.number() {
            return Ok(Value::constant(u64::from(number != 0), Ty::BOOL));
        }
        match (&value.held, &value.ty) {
            (_, Ty::Callable(_)) => return Ok(Value::constant(1, Ty::BOOL)),
            (Held::Register(_), Ty::Integer { is_bool: true, .. }) => return Ok(value),
            (Held::Register(register), Ty::Integer { .. } | Ty::Pointer(..)) => {
                let (name, bits) = (register.name(), register.bits);
                let (condition, to) = (self.predicate()?, self.fresh(32)?);
                self.emit(&format!("setp.ne.b{bits} %c_p{condition}, {name}, 0;"));
                self.emit(&format!("selp.b32 {}, 1, 0, %c_p{condition};", to.name()));
                self.truths.insert(to.number, condition);
                return Ok(Value { ty: Ty::BOOL, held: Held::Register(to) });
            }
            _ => {}
        }
        Ok(Value::unknown(Ty::BOOL))
    }

    /// A value, which is used here where an operation may still write it that runs on its own.
    pub(super) fn used(&mut self, value: Value) -> Result<Value, Unclear> {
        match value.held {
            Held::Register(register) if self.begun.contains(&register.number) => self.copied(value),
            _ => Ok(value),
        }
    }

    /// What an operation may still write of a place that is in registers.
    pub(super) fn in_flight(&self, place: &Place) -> Option<Value> {
        if self.begun.is_empty() {
            return None;
        }
        match place {
            Place::Register(register, ty) if self.begun.contains(&register.number) => {
                Some(Value { ty: ty.clone(), held: Held::Register(*register) })
            }
            Place::Parts(parts, _) => parts.iter().find_map(|part| self.in_flight(part)),
            Place::Alias(of, _) => self.in_flight(of),
            _ => None,
        }
    }

    /// An array as the pointer to its first element.
    pub(super) fn decayed(value: Value) -> Value {
        match value.ty {
            Ty::Array(of, _) => Value { ty: Ty::Pointer(of, Space::Generic), held: value.held },
            _ => value,
        }
    }

    /// A pointer as a generic address.
    pub(super) fn generic(&mut self, value: Value) -> Result<Value, Unclear> {
        let Ty::Pointer(of, space @ (Space::Shared | Space::Global | Space::Const)) = &value.ty else {
            return Ok(value);
        };
        let ty = Ty::Pointer(Rc::clone(of), Space::Generic);
        if *space == Space::Global {
            return Ok(Value { ty, held: value.held });
        }
        let from = self.operand(&value, 64)?;
        let to = self.fresh(64)?;
        let word = if *space == Space::Const { StateSpace::Const } else { StateSpace::Shared };
        self.emit(&format!("cvta{}.u64 {}, {from};", word.as_str(), to.name()));
        if word == StateSpace::Shared {
            self.of_shared.insert(to.number, true);
        }
        Ok(Value { ty, held: Held::Register(to) })
    }

    /// What a place holds.
    pub(super) fn read(&mut self, place: &Place) -> Result<Value, Unclear> {
        Ok(match place {
            Place::Fixed(value) => value.clone(),
            Place::Alias(_, ty @ (Ty::Array(..) | Ty::Structure(_))) => {
                Value { ty: ty.clone(), held: Held::Place(Rc::new(place.clone())) }
            }
            Place::Unknown(ty) => Value::unknown(ty.clone()),
            Place::Alias(of, ty) => {
                if let Some(value) = self.in_flight(of) {
                    self.copied(value)?;
                }
                Value::unknown(ty.clone())
            }
            Place::Pair(..) | Place::Half(..) | Place::Bits(..) => self.read_bits(place)?,
            Place::Link(of, Ty::Function) => match &*of.borrow() {
                Some(Place::Fixed(value)) => value.clone(),
                _ => return Err(Unclear),
            },
            Place::Link(of, _) => Self::address_of(of.borrow().clone().ok_or(Unclear)?),
            Place::Register(register, ty) => {
                let value = Value { ty: ty.clone(), held: Held::Register(*register) };
                // What is computed of it is not followed, and that it is used is.
                if matches!(ty, Ty::Float(..)) { self.used(value)? } else { value }
            }
            Place::Chosen { registers, index, ty } => {
                let bits = ty.register().ok_or(Unclear)?;
                let to = self.fresh(bits)?;
                self.emit(&format!("mov.b{bits} {}, 0;", to.name()));
                for (number, register) in registers.iter().enumerate() {
                    let condition = self.predicate()?;
                    self.emit(&format!("setp.eq.u32 %c_p{condition}, {}, {number};", index.name()));
                    let (to, from) = (to.name(), register.name());
                    self.emit(&format!("selp.b{bits} {to}, {from}, {to}, %c_p{condition};"));
                }
                Value { ty: ty.clone(), held: Held::Register(to) }
            }
            Place::Parts(_, ty) => Value { ty: ty.clone(), held: Held::Place(Rc::new(place.clone())) },
            Place::Memory { address, ty } => match ty {
                // An array in memory is the pointer to its first element.
                Ty::Array(of, _) => {
                    let space = match address.ty {
                        Ty::Pointer(_, space) => space,
                        _ => Space::Generic,
                    };
                    Value { ty: Ty::Pointer(Rc::clone(of), space), held: address.held.clone() }
                }
                Ty::Volatile(ty) => self.load_volatile(address, ty)?,
                _ => self.load(address, ty)?,
            },
        })
    }

    /// Puts a value into a place.
    pub(super) fn write(&mut self, place: &Place, value: Value) -> Result<(), Unclear> {
        match place {
            Place::Fixed(_) => Err(Unclear),
            Place::Unknown(_) => Ok(()),
            // Which function it points to is told once: of two nobody knows which is meant.
            Place::Link(of, Ty::Function) => {
                let is_other = |known: &Place| matches!(known, Place::Fixed(known) if known.ty != value.ty);
                if of.borrow().as_ref().is_some_and(is_other) {
                    return Err(Unclear);
                }
                *of.borrow_mut() = Some(Place::Fixed(value));
                Ok(())
            }
            Place::Link(of, own) => {
                let to = match (&value.held, &value.ty, own) {
                    (Held::Place(place), ..) => (**place).clone(),
                    // What `cuda::atomic_ref` refers to need not be atomic itself.
                    (_, Ty::Pointer(..), Ty::Pointer(own, _)) if matches!(**own, Ty::Atomic(..)) => {
                        Place::Memory { address: value, ty: (**own).clone() }
                    }
                    (_, Ty::Pointer(to, _), _) => {
                        let ty = (**to).clone();
                        Place::Memory { address: value, ty }
                    }
                    _ => return Err(Unclear),
                };
                *of.borrow_mut() = Some(to);
                Ok(())
            }
            Place::Alias(of, _) => self.forget(of),
            Place::Pair(..) | Place::Half(..) | Place::Bits(..) => self.write_bits(place, value),
            Place::Register(register, ty) => {
                let value = self.converted(value, ty)?;
                self.note_address(*register, &value)?;
                let value = self.as_stored(value, ty).inspect_err(|_| {
                    self.wanted = self.wanted.or_else(|| self.begun_with.get(&register.number).copied());
                })?;
                let operand = self.operand(&value, register.bits)?;
                self.emit(&format!("mov.b{} {}, {operand};", register.bits, register.name()));
                Ok(())
            }
            Place::Chosen { registers, index, ty } => {
                let bits = ty.register().ok_or(Unclear)?;
                let value = self.converted(value, ty)?;
                let value = self.as_stored(value, ty)?;
                let from = self.in_register(&value, bits)?.name();
                for (number, register) in registers.iter().enumerate() {
                    let condition = self.predicate()?;
                    self.emit(&format!("setp.eq.u32 %c_p{condition}, {}, {number};", index.name()));
                    let to = register.name();
                    self.emit(&format!("selp.b{bits} {to}, {from}, {to}, %c_p{condition};"));
                }
                Ok(())
            }
            Place::Parts(parts, ty) => {
                let Held::Place(from) = &value.held else { return self.spread(parts, &value) };
                if matches!(**from, Place::Memory { .. }) && from.ty() == ty {
                    return self.spread(parts, &Value::unknown(ty.clone()));
                }
                // Nothing is known of a register that is used as a vector.
                if matches!(ty, Ty::Vector(..)) && !matches!(**from, Place::Parts(..)) {
                    return self.spread(parts, &Value::unknown(ty.clone()));
                }
                let Place::Parts(others, from_ty) = &**from else { return Err(Unclear) };
                if others.len() != parts.len() || from_ty != ty {
                    return Err(Unclear);
                }
                for (part, other) in parts.iter().zip(others) {
                    self.deeper()?;
                    let value = self.read(other)?;
                    self.write(part, value)?;
                    self.shallower();
                }
                Ok(())
            }
            Place::Memory { address, ty } => self.store(address, ty, value),
        }
    }

    /// The pointer to a place.
    pub(super) fn address_of(place: Place) -> Value {
        match place {
            Place::Memory { address, ty } => {
                let space = match address.ty {
                    Ty::Pointer(_, space) => space,
                    _ => Space::Generic,
                };
                Value { ty: Ty::Pointer(Rc::new(ty), space), held: address.held }
            }
            other => {
                let ty = Ty::Pointer(Rc::new(other.ty().clone()), Space::Generic);
                Value { ty, held: Held::Place(Rc::new(other)) }
            }
        }
    }

    /// A pointer as a register of such a type holds it.
    fn as_stored(&mut self, value: Value, ty: &Ty) -> Result<Value, Unclear> {
        match (&value.ty, ty) {
            (
                Ty::Pointer(_, Space::Shared | Space::Global | Space::Const),
                Ty::Pointer(_, Space::Generic),
            ) => self.generic(value),
            // What a pointer to global memory is set to lies there as well.
            (Ty::Pointer(_, Space::Generic), Ty::Pointer(_, Space::Global)) => Ok(value),
            (Ty::Pointer(_, Space::Param), Ty::Pointer(_, Space::Generic)) => Ok(Value::unknown(ty.clone())),
            (Ty::Pointer(_, Space::Generic), Ty::Pointer(_, Space::Shared)) => {
                self.in_shared_memory(&value, ty)
            }
            (Ty::Pointer(_, is), Ty::Pointer(_, wanted)) if is != wanted => Err(Unclear),
            _ => Ok(value),
        }
    }

    /// Nothing is known any more of what a place holds.
    pub(super) fn forget(&mut self, place: &Place) -> Result<(), Unclear> {
        self.deeper()?;
        match place {
            Place::Parts(parts, _) => {
                for part in parts {
                    self.forget(part)?;
                }
            }
            Place::Alias(of, _) => self.forget(of)?,
            Place::Fixed(_) | Place::Memory { .. } | Place::Link(..) => return Err(Unclear),
            // Nobody asks for such numbers.
            Place::Register(_, Ty::Float(..)) => {}
            Place::Register(_, ty)
            | Place::Chosen { ty, .. }
            | Place::Pair(.., ty)
            | Place::Half(.., ty)
            | Place::Bits(.., ty) => {
                self.write(place, Value::unknown(ty.clone()))?;
            }
            Place::Unknown(_) => {}
        }
        self.shallower();
        Ok(())
    }

    /// Puts what is not known into all parts.
    fn spread(&mut self, parts: &[Place], value: &Value) -> Result<(), Unclear> {
        if !matches!(value.held, Held::Unknown) {
            return Err(Unclear);
        }
        for part in parts {
            self.deeper()?;
            self.write(part, Value::unknown(part.ty().clone()))?;
            self.shallower();
        }
        Ok(())
    }

    /// A place for a variable of a type that is in no memory.
    pub(super) fn made(&mut self, ty: &Ty) -> Result<Place, Unclear> {
        self.deeper()?;
        // In registers nobody else looks at it.
        let place = match ty.plain() {
            Ty::Vector(of, count) if of.register().is_some() => {
                let parts = (0..*count).map(|_| self.made(of)).collect::<Result<_, _>>()?;
                Place::Parts(parts, ty.plain().clone())
            }
            Ty::Array(of, count) if *count <= super::MAX_ELEMENTS => {
                let parts = (0..*count).map(|_| self.made(of)).collect::<Result<_, _>>()?;
                Place::Parts(parts, ty.clone())
            }
            // What is written to one member is in the others.
            Ty::Structure(members) if members.is_union => self.made_union(members)?,
            Ty::Structure(members) => {
                let part = |(name, ty, _): &(String, Ty, u64)| match members.references.contains(name) {
                    true => Ok(Place::Link(Rc::default(), ty.clone())),
                    false => self.made(ty),
                };
                let parts = members.all.iter().map(part).collect::<Result<_, _>>()?;
                Place::Parts(parts, ty.clone())
            }
            Ty::Function => Place::Link(Rc::default(), Ty::Function),
            ty => match ty.register() {
                Some(bits) => Place::Register(self.fresh(bits)?, ty.clone()),
                None => Place::Unknown(ty.clone()),
            },
        };
        self.shallower();
        Ok(place)
    }

    /// What an operator of two integers makes of them.
    pub(super) fn computed(&mut self, operator: &str, left: Value, right: Value) -> Result<Value, Unclear> {
        let (left, right) = (Self::decayed(left), Self::decayed(right));
        // What looks like a comparison with a function may be the use of its template.
        if [&left, &right].iter().any(|each| matches!(each.ty, Ty::Callable(_))) {
            return Err(Unclear);
        }
        if let (Ty::Pointer(of, _), Ty::Integer { .. }) = (&left.ty, &right.ty)
            && matches!(operator, "+" | "-")
        {
            let of = Rc::clone(of);
            return self.moved(&left, &of, right, operator);
        }
        if let (Ty::Integer { .. }, Ty::Pointer(of, _)) = (&left.ty, &right.ty)
            && operator == "+"
        {
            let of = Rc::clone(of);
            return self.moved(&right, &of, left, operator);
        }
        let is_comparison = matches!(operator, "==" | "!=" | "<" | "<=" | ">" | ">=");
        let result = |ty: Ty| if is_comparison { Ty::BOOL } else { ty };
        let (left, right) = match self.both_in_shared_memory(&left, &right)? {
            Some(both) => both,
            None => (left, right),
        };
        if let (Ty::Pointer(_, one), Ty::Pointer(_, other)) = (&left.ty, &right.ty)
            && is_comparison
            && (*one == Space::Shared) == (*other == Space::Shared)
        {
            return self.operated(operator, &left, &right, 64, false, Ty::BOOL);
        }
        if let (Ty::Pointer(of, one), Ty::Pointer(_, other)) = (&left.ty, &right.ty)
            && operator == "-"
        {
            let difference = Ty::Integer { bits: 64, signed: true, is_bool: false };
            let are_held = [&left, &right].iter().all(|each| !matches!(each.held, Held::Place(_)));
            return match of.size() {
                Ok(size @ 1..) if are_held && (*one == Space::Shared) == (*other == Space::Shared) => {
                    let bytes = self.operated("-", &left, &right, 64, true, difference.clone())?;
                    let size = Value::constant(size, difference.clone());
                    self.operated("/", &bytes, &size, 64, true, difference)
                }
                _ => Ok(Value::unknown(difference)),
            };
        }
        let (Ty::Integer { bits: a, signed: s, .. }, Ty::Integer { bits: b, signed: t, .. }) =
            (&left.ty, &right.ty)
        else {
            let ty = match (&left.ty, &right.ty) {
                (Ty::Float(a, _), Ty::Float(b, _)) => {
                    if a < b {
                        right.ty.clone()
                    } else {
                        left.ty.clone()
                    }
                }
                (vector @ Ty::Vector(..), _) | (_, vector @ Ty::Vector(..)) => vector.clone(),
                (float @ Ty::Float(..), _) | (_, float @ Ty::Float(..)) => float.clone(),
                _ => Ty::Any,
            };
            self.used(left)?;
            self.used(right)?;
            return Ok(Value::unknown(result(ty)));
        };
        // Smaller ones are ints; of two with the same size the one without a sign counts.
        let (s, t) = (*s || *a < 32, *t || *b < 32);
        let (a, b) = ((*a).max(32), (*b).max(32));
        let (mut bits, mut signed) = match a.cmp(&b) {
            std::cmp::Ordering::Greater => (a, s),
            std::cmp::Ordering::Less => (b, t),
            std::cmp::Ordering::Equal => (a, s && t),
        };
        if matches!(operator, "<<" | ">>") {
            (bits, signed) = (a, s);
        }
        let left = self.converted_integer(left, bits, signed)?;
        let right = match operator {
            "<<" | ">>" => self.converted_integer(right, 32, false)?,
            _ => self.converted_integer(right, bits, signed)?,
        };
        let ty = result(Ty::Integer { bits, signed, is_bool: false });
        self.operated(operator, &left, &right, bits, signed, ty)
    }

    fn operated(
        &mut self,
        operator: &str,
        left: &Value,
        right: &Value,
        bits: u32,
        signed: bool,
        ty: Ty,
    ) -> Result<Value, Unclear> {
        if let (Some(a), Some(b)) = (left.number(), right.number()) {
            let number = folded(operator, a, b, bits, signed).ok_or(Unclear)?;
            return Ok(Value::constant(number, ty));
        }
        if matches!(left.held, Held::Unknown) || matches!(right.held, Held::Unknown) {
            return Ok(Value::unknown(ty));
        }
        let sign = if signed { 's' } else { 'u' };
        let is_shift = matches!(operator, "<<" | ">>");
        let (a, b) = (self.operand(left, bits)?, self.operand(right, if is_shift { 32 } else { bits })?);
        let compared = match operator {
            "==" => Some("eq"),
            "!=" => Some("ne"),
            "<" => Some("lt"),
            "<=" => Some("le"),
            ">" => Some("gt"),
            ">=" => Some("ge"),
            _ => None,
        };
        if let Some(word) = compared {
            let (condition, to) = (self.predicate()?, self.fresh(32)?);
            self.emit(&format!("setp.{word}.{sign}{bits} %c_p{condition}, {a}, {b};"));
            self.emit(&format!("selp.b32 {}, 1, 0, %c_p{condition};", to.name()));
            self.truths.insert(to.number, condition);
            return Ok(Value { ty, held: Held::Register(to) });
        }
        let opcode = match operator {
            "+" => format!("add.{sign}{bits}"),
            "-" => format!("sub.{sign}{bits}"),
            "*" => format!("mul.lo.{sign}{bits}"),
            "/" => format!("div.{sign}{bits}"),
            "%" => format!("rem.{sign}{bits}"),
            "&" => format!("and.b{bits}"),
            "|" => format!("or.b{bits}"),
            "^" => format!("xor.b{bits}"),
            "<<" => format!("shl.b{bits}"),
            ">>" => format!("shr.{sign}{bits}"),
            "min" => format!("min.{sign}{bits}"),
            "max" => format!("max.{sign}{bits}"),
            _ => return Err(Unclear),
        };
        let to = self.fresh(bits)?;
        self.emit(&format!("{opcode} {}, {a}, {b};", to.name()));
        self.note_computed(operator, to, [left, right]);
        Ok(Value { ty, held: Held::Register(to) })
    }

    /// A pointer moved by so many elements.
    pub(super) fn moved(
        &mut self,
        pointer: &Value,
        of: &Ty,
        by: Value,
        operator: &str,
    ) -> Result<Value, Unclear> {
        if let Held::Place(place) = &pointer.held {
            let held = match (by.number(), &**place) {
                (Some(0), _) | (_, Place::Unknown(_)) => pointer.held.clone(),
                // The array from there on.
                (Some(from), Place::Parts(parts, Ty::Array(element, count)))
                    if operator == "+"
                        && from < *count
                        && **element == *of
                        && parts.len() as u64 == *count =>
                {
                    let ty = Ty::Array(Rc::clone(element), count - from);
                    Held::Place(Rc::new(Place::Parts(parts[from as usize..].to_vec(), ty)))
                }
                // Any part of it may be meant.
                _ => Held::Place(Rc::new(Place::Alias(Rc::clone(place), of.clone()))),
            };
            return Ok(Value { ty: pointer.ty.clone(), held });
        }
        let size = self.whole(of.clone())?.size()?;
        let by = self.converted_integer_of(by)?;
        let bytes = match size {
            1 => by,
            size => self.operated("*", &by, &Value::constant(size, Ty::SIZE), 64, false, Ty::SIZE)?,
        };
        self.operated(operator, pointer, &bytes, 64, false, pointer.ty.clone())
    }

    fn converted_integer_of(&mut self, value: Value) -> Result<Value, Unclear> {
        let Ty::Integer { signed, .. } = value.ty else {
            return if value.ty == Ty::Any { Ok(Value::unknown(Ty::SIZE)) } else { Err(Unclear) };
        };
        self.converted_integer(value, 64, signed)
    }
}

impl Register {
    pub fn name(self) -> String {
        format!("{REGISTER}{}", self.number)
    }
}

/// What an operator makes of two numbers; none where that is undefined.
fn folded(operator: &str, a: u64, b: u64, bits: u32, signed: bool) -> Option<u64> {
    let (a, b) = (fitted(a, bits, signed), fitted(b, bits, signed));
    let (x, y) = (a as i64, b as i64);
    let by = u32::try_from(b & 0xffff_ffff).ok();
    let number = match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b == 0 => return None,
        "%" if b == 0 => return None,
        "/" if signed => x.wrapping_div(y) as u64,
        "/" => a / b,
        "%" if signed => x.wrapping_rem(y) as u64,
        "%" => a % b,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<<" => a.checked_shl(by?)?,
        ">>" if signed => x.checked_shr(by?)? as u64,
        ">>" => a.checked_shr(by?)?,
        "==" => u64::from(a == b),
        "!=" => u64::from(a != b),
        "<" => u64::from(if signed { x < y } else { a < b }),
        "<=" => u64::from(if signed { x <= y } else { a <= b }),
        ">" => u64::from(if signed { x > y } else { a > b }),
        ">=" => u64::from(if signed { x >= y } else { a >= b }),
        "min" => {
            if signed {
                x.min(y) as u64
            } else {
                a.min(b)
            }
        }
        "max" => {
            if signed {
                x.max(y) as u64
            } else {
                a.max(b)
            }
        }
        _ => return None,
    };
    Some(fitted(number, bits, signed))
}
