//! What happens to each register anywhere in a function.

use super::table::{Occurring, RegisterTable};
use super::uses::Uses;
use ptx_ir::ir::{Body, Register};
use ptx_ir::visit::Access;
use std::ops::Range;
use std::rc::Rc;

/// Where registers are written: for each register the instructions that may write it, in order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Definitions {
    occurring: Rc<Occurring>,
    /// Where the list of each register begins; one more at the end.
    starts: Vec<u32>,
    instructions: Vec<u32>,
}

impl Definitions {
    pub(crate) fn new(uses: &Uses, occurring: &Rc<Occurring>) -> Self {
        let count = occurring.len();
        // Counted two places up, so that filling the lists leaves each start where it belongs.
        let mut starts = vec![0_u32; count + 2];
        let written = |instruction: u32| {
            let written = uses.all()[uses.writing(instruction)].iter().filter(|each| each.writes());
            written.filter_map(|each| occurring.position(each.register))
        };
        for position in (0..uses.instructions()).flat_map(written) {
            starts[position + 2] += 1;
        }
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut instructions = vec![0; starts[count + 1] as usize];
        for instruction in 0..uses.instructions() {
            for position in written(instruction) {
                let place = &mut starts[position + 1];
                instructions[*place as usize] = instruction;
                *place += 1;
            }
        }
        Self { occurring: Rc::clone(occurring), starts, instructions }
    }

    /// The instructions that may write a register, ascending.
    pub(crate) fn of(&self, register: Register) -> &[u32] {
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

    pub(crate) fn new(uses: &Uses, body: &Body, mut touched: RegisterTable<u8>) -> Self {
        for each in uses.all() {
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
