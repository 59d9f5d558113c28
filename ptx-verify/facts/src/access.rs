//! Accesses of memory and conversions of addresses.

use ptx_ir::ir::{Handle, Variable};
use ptx_ir::isa::Purpose;
use ptx_ir::space::StateSpace;
use ptx_syntax::Span;

use super::values::ValueId;
use super::values::number::Number;
use super::values::pointer::{Object, Pointer};

/// An access of memory.
#[derive(Clone, Debug)]
pub struct Access {
    /// The instruction.
    pub instruction: u32,
    /// Which of its operands is the address.
    pub index: usize,
    /// What the operand is for.
    pub purpose: Option<Purpose>,
    /// The place of the address.
    pub span: Span,
    /// The state space of the instruction; none for a generic access.
    pub space: Option<StateSpace>,
    /// Whether it reads, and whether it writes.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// How many bytes; 0 where that is not known.
    pub bytes: u32,
    /// What the address has to be a multiple of; 0 where that is not known.
    pub aligned: u32,
    /// Whether it names a variable, rather than a register.
    pub direct: bool,
    /// How many of the bytes go anywhere: a load may drop its last elements with `_`.
    pub used: u32,
    /// The value of the register that the address begins with, where values were followed.
    pub base: Option<ValueId>,
    /// What the operand adds to that.
    pub distance: i64,
    /// What was found out about the address. Most are not asked about.
    pub(crate) found: Option<Box<Found>>,
}

/// What is known of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) pointer: Option<Pointer>,
    pub(crate) offset: Option<i64>,
    pub(crate) span_from_start: Option<Number>,
    /// The same without what is not one number.
    pub(crate) constant: Option<i64>,
    pub(crate) number: Number,
}

impl Access {
    /// Whether what the operand adds is no multiple of what the address has to be a multiple of.
    #[must_use]
    pub const fn stands_out(&self) -> bool {
        !self.direct && self.aligned > 1 && !self.distance.unsigned_abs().is_multiple_of(self.aligned as u64)
    }

    /// Where it points to, where that is known.
    #[must_use]
    pub fn pointer(&self) -> Option<Pointer> {
        self.found.as_ref()?.pointer
    }

    /// How far behind the start of the object, in bytes, where that is one number.
    #[must_use]
    pub fn offset(&self) -> Option<i64> {
        self.found.as_ref()?.offset
    }

    /// What is known of the distance from the start of the object.
    #[must_use]
    pub fn span_from_start(&self) -> Option<Number> {
        self.found.as_ref()?.span_from_start
    }

    /// What is added to the start of the object that is one number: where an object has several members, it mostly tells them
    /// apart.
    #[must_use]
    pub fn constant_from_start(&self) -> Option<i64> {
        self.found.as_ref()?.constant
    }

    /// What is known of the whole address.
    #[must_use]
    pub fn number(&self) -> Number {
        self.found.as_ref().map_or(const { Number::unknown(u64::BITS) }, |found| found.number)
    }

    /// The variable that it goes to, in this block or another one of the cluster.
    #[must_use]
    pub fn variable(&self) -> Option<Handle<Variable>> {
        match self.pointer() {
            Some(Pointer { object: Object::Variable(variable) | Object::Mapped(variable), .. }) => {
                Some(variable)
            }
            _ => None,
        }
    }
}

/// `cvta` and `cvta.to` of a value.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The instruction.
    pub instruction: u32,
    /// The place of the value.
    pub span: Span,
    /// The state space converted from or to.
    pub space: StateSpace,
    /// Whether the result is generic.
    pub to_generic: bool,
    /// Where the value points to, where that is known.
    pub source: Option<Pointer>,
}
