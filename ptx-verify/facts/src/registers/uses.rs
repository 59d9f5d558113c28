//! Which registers each instruction touches, as one flat list: found once for a function, because nearly every
//! analysis goes over it.

use ptx_ir::ir::{Body, Module, Register};
use ptx_ir::isa::Instance;
use ptx_ir::visit::{Access, for_each_register_of};
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

const fn bits(access: Access) -> u32 {
    match access {
        Access::Read => 0,
        Access::Write => 1,
        Access::ReadWrite => 2,
        Access::Unknown => 3,
    }
}

impl Use {
    fn new(register: Register, access: Access, operand: usize) -> Self {
        Self { register, packed: (operand as u32) << ACCESS_BITS | bits(access) }
    }

    /// What happens to the register.
    #[must_use]
    #[inline]
    pub const fn access(self) -> Access {
        match self.packed & ((1 << ACCESS_BITS) - 1) {
            0 => Access::Read,
            1 => Access::Write,
            2 => Access::ReadWrite,
            _ => Access::Unknown,
        }
    }

    /// Whether the old value matters.
    #[must_use]
    #[inline]
    pub const fn reads(self) -> bool {
        self.access().reads()
    }

    /// Whether there may be a new value.
    #[must_use]
    #[inline]
    pub const fn writes(self) -> bool {
        self.access().writes()
    }

    /// The operand that names it.
    #[must_use]
    #[inline]
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
    /// How many registers each instruction sets, where these are named first and the others are only read; else
    /// [`MIXED`].
    leading: Vec<u8>,
}

const MIXED: u8 = u8::MAX;

impl Uses {
    /// `instances`: what each instruction means.
    pub(crate) fn new(module: &Module, body: &Body, instances: &[Option<&Instance>]) -> Self {
        let count = body.instructions.len();
        let mut all: Vec<Use> = Vec::with_capacity(body.operands.len() + body.children.len());
        let (mut starts, mut leading) = (vec![0_u32; count + 1], vec![0_u8; count]);
        let places = starts.iter_mut().zip(&mut leading);
        for (((_, instruction), &instance), (start, leading)) in
            body.instructions.iter().zip(instances).zip(places)
        {
            *start = all.len() as u32;
            let operands = &body.operands[instruction.operands.range()];
            let (mut sets, mut reads, mut is_mixed) = (0_usize, false, false);
            for_each_register_of((module, body), instance, operands, |register, access, operand| {
                if register.0 >= body.register_count {
                    return;
                }
                match access {
                    Access::Read => reads = true,
                    Access::Write if !reads => sets += 1,
                    _ => is_mixed = true,
                }
                all.push(Use::new(register, access, operand));
            });
            *leading = if is_mixed { MIXED } else { u8::try_from(sets).unwrap_or(MIXED) };
        }
        starts[count] = all.len() as u32;
        Self { starts, all, leading }
    }

    /// The registers that an instruction touches, in order of its operands. All of them are below the body's
    /// count of registers.
    #[must_use]
    #[inline]
    pub fn of(&self, instruction: u32) -> &[Use] {
        let index = instruction as usize;
        &self.all[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The indices of those that it sets, and of those that it reads, where the first are not read and come before the
    /// others.
    #[must_use]
    #[inline]
    pub fn split(&self, instruction: u32) -> Option<(Range<usize>, Range<usize>)> {
        let leading = self.leading[instruction as usize];
        let Range { start, end } = self.range(instruction);
        let first_read = start + usize::from(leading);
        (leading != MIXED).then_some((start..first_read, first_read..end))
    }

    /// The indices among which those are that an instruction sets.
    #[must_use]
    #[inline]
    pub fn writing(&self, instruction: u32) -> Range<usize> {
        self.split(instruction).map_or_else(|| self.range(instruction), |(writes, _)| writes)
    }

    /// The indices of these among all.
    #[must_use]
    #[inline]
    pub fn range(&self, instruction: u32) -> Range<usize> {
        let index = instruction as usize;
        self.starts[index] as usize..self.starts[index + 1] as usize
    }

    /// The same for instructions that follow each other.
    #[must_use]
    #[inline]
    pub fn range_of(&self, instructions: Range<u32>) -> Range<usize> {
        self.starts[instructions.start as usize] as usize..self.starts[instructions.end as usize] as usize
    }

    /// The instruction that the use with an index among all belongs to.
    #[must_use]
    pub fn owner(&self, at: usize) -> u32 {
        self.starts.partition_point(|&start| start as usize <= at) as u32 - 1
    }

    /// How many instructions there are.
    pub(super) fn instructions(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    /// All of all instructions, in order.
    #[must_use]
    #[inline]
    pub fn all(&self) -> &[Use] {
        &self.all
    }
}
