//! Operands of instructions.

use super::body::{Label, Register, TargetList};
use super::module::{Function, Variable};
use crate::arena::{Handle, Symbol};
use crate::isa::{Class, Selector};
use crate::special::SpecialRegister;

/// Some operands that lie next to each other in [`super::Body::children`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Run {
    /// Index of the first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl Run {
    /// The indices.
    #[must_use]
    #[inline]
    pub const fn range(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// One operand. A register carries the class of its type, so that nothing has to be looked up to match it
/// against the instruction table.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Operand {
    /// `%r1`, or the element `%v.x` of a vector register.
    Register {
        /// The register.
        register: Register,
        /// The class of its type.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
    },
    /// A vector register as a whole.
    VectorRegister {
        /// Its first element.
        first: Register,
        /// The class of an element.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
        /// How many elements: 2 or 4.
        count: u8,
    },
    /// `!%p`.
    Negated {
        /// The register.
        register: Register,
        /// The class of its type.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
    },
    /// `%r1.h10`, in video instructions.
    Selected {
        /// The register.
        register: Register,
        /// The class of its type.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
        /// What is selected.
        selector: Selector,
    },
    /// `-%r1` or `-%r1.h0`, in `vmad`.
    Minus {
        /// The register.
        register: Register,
        /// The class of its type.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
        /// What is selected.
        selector: Option<Selector>,
    },
    /// `%r1+4`, a sum that the assembler computes.
    Sum {
        /// The register.
        register: Register,
        /// The class of its type.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
        /// What is added.
        offset: i64,
    },
    /// `%tid.x`.
    Special(SpecialRegister),
    /// `%laneid+1`
    SpecialSum {
        /// The register.
        register: SpecialRegister,
        /// What is added.
        offset: i64,
    },
    /// An integer constant, after constant folding.
    Integer {
        /// The value, modulo 2 to the 64.
        bits: u64,
        /// Whether it is below 0.
        negative: bool,
    },
    /// A floating-point constant in decimal.
    Decimal(#[cfg_attr(feature = "serde", serde(with = "crate::serial::decimal"))] f64),
    /// `0f…`
    SingleBits(u32),
    /// `0d…`
    DoubleBits(u64),
    /// `WARP_SZ`
    WarpSize,
    /// `_`
    Sink,
    /// The address of a variable as a value: `gvar`, `gvar+4`.
    Variable {
        /// The variable.
        variable: Handle<Variable>,
        /// Bytes after its start.
        offset: i64,
        /// Whether an offset of 0 is written. It is the same address, yet NVIDIA's assembler refuses that of a `.param`
        /// variable of a body without one.
        zero: bool,
    },
    /// The name of a function or kernel.
    Function(Handle<Function>),
    /// The label of a `.callprototype`, which is a function of kind prototype.
    Prototype(Handle<Function>),
    /// A label.
    Label(Handle<Label>),
    /// The label of a `.branchtargets` or `.calltargets` list.
    Targets(Handle<TargetList>),
    /// `[%rd1+8]`
    RegisterAddress {
        /// The base.
        base: Register,
        /// The class of the type of the base.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
        /// Bytes.
        offset: i32,
        /// Whether an offset of 0 is written. It means the same, yet NVIDIA's assembler makes an addition of it in
        /// code for a debugger.
        zero: bool,
        /// Whether `.unified` follows.
        unified: bool,
    },
    /// `[gvar+8]`
    VariableAddress {
        /// The base.
        variable: Handle<Variable>,
        /// Bytes.
        offset: i64,
    },
    /// `gvar[%r1+8]`: memory at, or the address of, a byte of an array.
    Element {
        /// The array.
        variable: Handle<Variable>,
        /// The register that is added to its address.
        index: Register,
        /// The class of the register's type.
        #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
        class: Class,
        /// Bytes.
        offset: i32,
        /// Whether the address is meant, as in `mov`, rather than the memory there.
        is_value: bool,
    },
    /// `[16]`
    ConstantAddress {
        /// The address.
        address: i64,
    },
    /// `{a, b}`
    Vector(Run),
    /// `a|b`
    Pair(Run),
    /// `[base, {x, y}]`
    Bracket(Run),
    /// `(a, b)`
    List(Run),
    /// A name that was not declared, which lowering has reported, or something that is no operand.
    Unknown(Option<Symbol>),
}

impl Operand {
    /// The register that this is, or that an address or sum is based on: the first one of a vector register. None for
    /// what is made of several parts.
    #[must_use]
    pub const fn base(&self) -> Option<Register> {
        match *self {
            Self::Register { register, .. }
            | Self::Negated { register, .. }
            | Self::Selected { register, .. }
            | Self::Minus { register, .. }
            | Self::Sum { register, .. }
            | Self::Element { index: register, .. }
            | Self::RegisterAddress { base: register, .. }
            | Self::VectorRegister { first: register, .. } => Some(register),
            _ => None,
        }
    }

    /// The register of an operand that has the class of one, to set that.
    #[cfg(feature = "serde")]
    pub(crate) const fn register_and_class(&mut self) -> Option<(Register, &mut Class)> {
        match self {
            Self::Register { register, class }
            | Self::Negated { register, class }
            | Self::Selected { register, class, .. }
            | Self::Minus { register, class, .. }
            | Self::Sum { register, class, .. }
            | Self::Element { index: register, class, .. }
            | Self::RegisterAddress { base: register, class, .. }
            | Self::VectorRegister { first: register, class, .. } => Some((*register, class)),
            _ => None,
        }
    }

    /// Where the parts of a vector, pair, bracket or list are in [`super::Body::children`].
    #[must_use]
    pub const fn parts(&self) -> Option<Run> {
        match *self {
            Self::Vector(run) | Self::Pair(run) | Self::Bracket(run) | Self::List(run) => Some(run),
            _ => None,
        }
    }

    /// The variable that this is the address of, or memory in.
    #[must_use]
    pub const fn variable(&self) -> Option<Handle<Variable>> {
        match *self {
            Self::Variable { variable, .. }
            | Self::VariableAddress { variable, .. }
            | Self::Element { variable, .. } => Some(variable),
            _ => None,
        }
    }

    /// The function, kernel or prototype that this names.
    #[must_use]
    pub const fn function(&self) -> Option<Handle<Function>> {
        match *self {
            Self::Function(function) | Self::Prototype(function) => Some(function),
            _ => None,
        }
    }
}
