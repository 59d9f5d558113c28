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
    /// Where it points to, where that is known.
    pub pointer: Option<Pointer>,
    /// How far behind the start of the object, in bytes, where that is one number.
    pub offset: Option<i64>,
    /// What is known of the distance from the start of the object.
    pub span_from_start: Option<Number>,
    /// What is known of the whole address.
    pub number: Number,
}

impl Access {
    /// Whether what the operand adds is no multiple of what the address has to be a multiple of.
    #[must_use]
    pub const fn stands_out(&self) -> bool {
        !self.direct && self.aligned > 1 && !self.distance.unsigned_abs().is_multiple_of(self.aligned as u64)
    }

    /// The variable that it goes to, in this block or another one of the cluster.
    #[must_use]
    pub const fn variable(&self) -> Option<Handle<Variable>> {
        match self.pointer {
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
