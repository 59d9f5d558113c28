//! Which registers each instruction touches, as one flat list: found once for a function, because nearly every
//! analysis goes over it.

use ptx_ir::ir::{Body, Module, Register};
use ptx_ir::visit::{Access, for_each_register_with_operand};
use std::ops::Range;

/// A register among the operands of an instruction. The guard is not an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The register.
    pub register: Register,
    /// The number of the operand, and in the low bits what happens.
    packed: u32,
}

const ACCESS_BITS: u32 = 2;

impl Use {
    fn new(register: Register, access: Access, operand: usize) -> Self {
        let access = match access {
            Access::Read => 0,
            Access::Write => 1,
            Access::ReadWrite => 2,
            Access::Unknown => 3,
        };
        Self { register, packed: (operand as u32) << ACCESS_BITS | access }
    }

    /// What happens to the register.
    #[must_use]
    pub const fn access(self) -> Access {
        match self.packed & ((1 << ACCESS_BITS) - 1) {
            0 => Access::Read,
            1 => Access::Write,
            2 => Access::ReadWrite,
            _ => Access::Unknown,
        }
    }

    /// The operand that names it.
    #[must_use]
    pub const fn operand(self) -> usize {
        (self.packed >> ACCESS_BITS) as usize
    }
}

/// The registers that the instructions of a function touch.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Where the list of each instruction begins; one more at the end.
    starts: Vec<u32>,
    all: Vec<Use>,
}

impl Uses {
    pub(crate) fn new(module: &Module, body: &Body) -> Self {
        let mut uses = Self {
            starts: Vec::with_capacity(body.instructions.len() + 1),
            all: Vec::with_capacity(body.operands.len()),
        };
        for handle in body.instructions.handles() {
            uses.starts.push(uses.all.len() as u32);
            for_each_register_with_operand(module, body, handle, |register, access, operand| {
                if register.0 < body.register_count {
                    uses.all.push(Use::new(register, access, operand));
                }
            });
        }
        uses.starts.push(uses.all.len() as u32);
        uses
    }

    /// The registers that an instruction touches, in order of its operands. All of them are below the body's
    /// count of registers.
    #[must_use]
    #[inline]
    pub fn of(&self, instruction: u32) -> &[Use] {
        let index = instruction as usize;
        &self.all[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The indices of these among all.
    #[must_use]
    pub fn range(&self, instruction: u32) -> Range<usize> {
        let index = instruction as usize;
        self.starts[index] as usize..self.starts[index + 1] as usize
    }

    /// How many instructions there are.
    pub(super) fn instructions(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    /// All of all instructions, in order.
    #[must_use]
    pub fn all(&self) -> &[Use] {
        &self.all
    }
}
