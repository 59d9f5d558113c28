//! What the builder hands out, and operands made of it.

use std::ops::Not;

use super::error::BuildError;
use super::function::Targets;
use crate::arena::Handle;
use crate::ir;
use crate::isa::Selector;
use crate::special::SpecialRegister;
use crate::types::Type;

/// Tells the things of one function, or of one module, from those of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Brand {
    /// The module, by a number that no other module of the process has.
    pub module: u32,
    /// The function within it, by a number that each function has anew when it is edited; none for what belongs to the
    /// module.
    pub function: Option<u32>,
}

/// A virtual register of a function under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg {
    pub(super) brand: Brand,
    pub(super) index: u32,
    pub(super) ty: Type,
    pub(super) elements: u8,
}

impl Reg {
    /// The type; of one element, where the register is a vector.
    #[must_use]
    pub const fn ty(self) -> Type {
        self.ty
    }

    /// How many elements: 1, or 2 or 4 for a vector register.
    #[must_use]
    pub const fn elements(self) -> u8 {
        self.elements
    }

    /// The address in this register plus `offset` bytes: `[%rd1+8]`.
    #[must_use]
    pub const fn at(self, offset: i32) -> Value {
        Value(Kind::RegisterAddress { base: self, offset })
    }

    /// The address in this register plus `offset` bytes, which all threads have alike: `[%rd1+8].unified`.
    #[must_use]
    pub const fn unified_at(self, offset: i32) -> Value {
        Value(Kind::UnifiedAddress { base: self, offset })
    }

    /// An element of a vector register, from 0: `%v.x`. The builder refuses one that is not there.
    #[must_use]
    pub const fn element(self, element: u8) -> Value {
        Value(Kind::Element { register: self, element })
    }

    /// Bytes or half words of the register, for video instructions: `%r1.h10`.
    #[must_use]
    pub const fn selected(self, selector: Selector) -> Value {
        Value(Kind::Selected { register: self, selector })
    }

    /// The register, or a part of it, with a minus sign, for `vmad`: `-%r1.h0`.
    #[must_use]
    pub const fn minus(self, selector: Option<Selector>) -> Value {
        Value(Kind::Minus { register: self, selector })
    }
}

impl Not for Reg {
    type Output = Value;

    /// `!%p`: the complement of a predicate, as an operand.
    fn not(self) -> Value {
        Value(Kind::Negated(self))
    }
}

/// A label of a function under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    pub(super) brand: Brand,
    pub(super) index: u32,
}

/// A variable or parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Var {
    pub(super) brand: Brand,
    pub(super) handle: Handle<ir::Variable>,
}

impl Var {
    /// The handle in the module.
    #[must_use]
    pub const fn handle(self) -> Handle<ir::Variable> {
        self.handle
    }

    /// The variable's address plus `offset` bytes, as a place in memory: `[var+8]`.
    #[must_use]
    pub const fn at(self, offset: i64) -> Value {
        Value(Kind::VariableAddress { variable: self, offset })
    }

    /// The variable's address plus `offset` bytes, as a value: `var+8`.
    #[must_use]
    pub const fn plus(self, offset: i64) -> Value {
        Value(Kind::Variable { variable: self, offset })
    }
}

/// A function or kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Func {
    pub(super) module: u32,
    pub(super) handle: Handle<ir::Function>,
}

impl Func {
    /// The handle in the module.
    #[must_use]
    pub const fn handle(self) -> Handle<ir::Function> {
        self.handle
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Value(pub(super) Kind);

/// What an operand is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Register(Reg),
    Negated(Reg),
    Element {
        register: Reg,
        element: u8,
    },
    Selected {
        register: Reg,
        selector: Selector,
    },
    Minus {
        register: Reg,
        selector: Option<Selector>,
    },
    Special(SpecialRegister),
    Integer {
        bits: u64,
        negative: bool,
    },
    Single(u32),
    Double(u64),
    WarpSize,
    Sink,
    Variable {
        variable: Var,
        offset: i64,
    },
    Function(Func),
    Label(Label),
    Targets(Targets),
    RegisterAddress {
        base: Reg,
        offset: i32,
    },
    UnifiedAddress {
        base: Reg,
        offset: i32,
    },
    VariableAddress {
        variable: Var,
        offset: i64,
    },
    ConstantAddress(i64),
    Vector(Vec<Value>),
    Pair(Vec<Value>),
    Bracket(Vec<Value>),
    List(Vec<Value>),
    /// An operand of the function that is edited, for which nobody who builds one has a need.
    Kept {
        brand: Brand,
        operand: ir::Operand,
    },
}

impl Value {
    /// `_`: a result that is not wanted.
    #[must_use]
    pub const fn sink() -> Self {
        Self(Kind::Sink)
    }

    /// A special register by its name, `%tid.x`.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn special(name: &str) -> Result<Self, BuildError> {
        match SpecialRegister::parse(name) {
            Some(register) => Ok(register.into()),
            None => Err(BuildError::SpecialRegister { name: name.to_owned() }),
        }
    }

    /// `WARP_SZ`
    #[must_use]
    pub const fn warp_size() -> Self {
        Self(Kind::WarpSize)
    }

    /// `[16]`
    #[must_use]
    pub const fn constant_address(address: i64) -> Self {
        Self(Kind::ConstantAddress(address))
    }

    /// `{a, b}`
    #[must_use]
    pub fn vector(elements: impl IntoIterator<Item = impl Into<Self>>) -> Self {
        Self(Kind::Vector(elements.into_iter().map(Into::into).collect()))
    }

    /// `a|b`
    #[must_use]
    pub fn pair(first: impl Into<Self>, second: impl Into<Self>) -> Self {
        Self(Kind::Pair(vec![first.into(), second.into()]))
    }

    /// `[a, {b, c}]`, as texture instructions and tensor maps have it.
    #[must_use]
    pub fn bracket(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(Kind::Bracket(parts.into_iter().collect()))
    }

    /// `(a, b)`: arguments or results of a call.
    #[must_use]
    pub fn list(parts: impl IntoIterator<Item = impl Into<Self>>) -> Self {
        Self(Kind::List(parts.into_iter().map(Into::into).collect()))
    }
}

impl From<Reg> for Value {
    fn from(register: Reg) -> Self {
        Self(Kind::Register(register))
    }
}

impl From<Var> for Value {
    /// The variable's address as a value; in a list of a call, the variable itself.
    fn from(variable: Var) -> Self {
        variable.plus(0)
    }
}

impl From<Func> for Value {
    fn from(function: Func) -> Self {
        Self(Kind::Function(function))
    }
}

impl From<Label> for Value {
    fn from(label: Label) -> Self {
        Self(Kind::Label(label))
    }
}

impl From<Targets> for Value {
    fn from(targets: Targets) -> Self {
        Self(Kind::Targets(targets))
    }
}

impl From<SpecialRegister> for Value {
    fn from(register: SpecialRegister) -> Self {
        Self(Kind::Special(register))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self(Kind::Integer { bits: value as u64, negative: value < 0 })
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self(Kind::Integer { bits: value, negative: false })
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        i64::from(value).into()
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        u64::from(value).into()
    }
}

impl From<f32> for Value {
    /// The exact bits, `0f…`.
    fn from(value: f32) -> Self {
        Self(Kind::Single(value.to_bits()))
    }
}

impl From<f64> for Value {
    /// The exact bits, `0d…`.
    fn from(value: f64) -> Self {
        Self(Kind::Double(value.to_bits()))
    }
}
