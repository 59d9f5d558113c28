//! Which registers each instruction touches, as one flat list: found once for a function, because nearly every
//! analysis goes over it.

use super::registers::{Occurring, RegisterTable};
use super::roles::{Access, for_each_register_with_operand};
use ptx_ir::ir::{Body, Module, Register};
use std::ops::Range;
use std::rc::Rc;

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
    pub(super) fn new(module: &Module, body: &Body) -> Self {
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

    /// All of all instructions, in order.
    #[must_use]
    pub fn all(&self) -> &[Use] {
        &self.all
    }
}

/// Where registers are written: for each register the instructions that may write it, in order of the text.
#[derive(Clone, Debug)]
pub(super) struct Definitions {
    occurring: Rc<Occurring>,
    /// Where the list of each register begins; one more at the end.
    starts: Vec<u32>,
    instructions: Vec<u32>,
}

impl Definitions {
    pub(super) fn new(uses: &Uses, occurring: &Rc<Occurring>) -> Self {
        let count = occurring.len();
        // Counted two places up, so that filling the lists leaves each start where it belongs.
        let mut starts = vec![0_u32; count + 2];
        for each in uses.all.iter().filter(|each| each.access().writes()) {
            if let Some(position) = occurring.position(each.register) {
                starts[position + 2] += 1;
            }
        }
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut instructions = vec![0; starts[count + 1] as usize];
        for instruction in 0..uses.starts.len().saturating_sub(1) as u32 {
            for each in uses.of(instruction).iter().filter(|each| each.access().writes()) {
                let Some(position) = occurring.position(each.register) else { continue };
                let place = &mut starts[position + 1];
                instructions[*place as usize] = instruction;
                *place += 1;
            }
        }
        Self { occurring: Rc::clone(occurring), starts, instructions }
    }

    /// The instructions that may write a register, ascending.
    pub(super) fn of(&self, register: Register) -> &[u32] {
        let Some(position) = self.occurring.position(register) else { return &[] };
        &self.instructions[self.starts[position] as usize..self.starts[position + 1] as usize]
    }
}

/// What happens to each register anywhere in a function.
#[derive(Clone, Debug)]
pub struct Touched(RegisterTable<u8>);

impl Touched {
    const READ: u8 = 1;
    const NAMED: u8 = 2;

    pub(super) fn new(uses: &Uses, body: &Body, mut touched: RegisterTable<u8>) -> Self {
        for each in &uses.all {
            let access = each.access();
            let read = if access.reads() || access == Access::Unknown { Self::READ } else { 0 };
            touched[each.register] |= read | Self::NAMED;
        }
        for (_, instruction) in body.instructions.iter() {
            if let Some(register) = instruction.guard.and_then(|guard| guard.register)
                && let Some(slot) = touched.get_mut(register)
            {
                *slot |= Self::READ | Self::NAMED;
            }
        }
        Self(touched)
    }

    /// Whether anything may read a register.
    #[must_use]
    pub fn is_read(&self, register: Register) -> bool {
        self.0.get(register).is_some_and(|slot| slot & Self::READ != 0)
    }

    /// Whether any instruction names one of these registers.
    #[must_use]
    pub fn is_named(&self, registers: Range<u32>) -> bool {
        self.0.within(registers).iter().any(|slot| slot & Self::NAMED != 0)
    }
}
