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
    /// Of each register the instruction that writes it, or [`NOTHING`], or the number of a list with the bit [`SEVERAL`].
    writers: Vec<u32>,
    /// Where the lists of the registers lie that several instructions write.
    lists: Vec<Range<u32>>,
    instructions: Vec<u32>,
}

/// No instruction. There are fewer than [`SEVERAL`], for each is some bytes of a text that is shorter than 4 GiB.
const NOTHING: u32 = u32::MAX;
const SEVERAL: u32 = 1 << 31;

impl Definitions {
    pub(crate) fn new(uses: &Uses, occurring: &Rc<Occurring>) -> Self {
        let mut writers = vec![NOTHING; occurring.len()];
        // Most registers have one writer, so that lists are made for the others alone: of the first writer, and of those that
        // come after it.
        let mut lists: Vec<Range<u32>> = Vec::new();
        let (mut firsts, mut later): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        for instruction in 0..uses.instructions() {
            for each in uses.all()[uses.writing(instruction)].iter().filter(|each| each.writes()) {
                let Some(position) = occurring.position(each.register) else { continue };
                let writer = &mut writers[position];
                if *writer == NOTHING {
                    *writer = instruction;
                    continue;
                }
                if *writer & SEVERAL == 0 {
                    firsts.push(*writer);
                    *writer = SEVERAL | lists.len() as u32;
                    lists.push(0..1);
                }
                let list = *writer & !SEVERAL;
                lists[list as usize].end += 1;
                later.push((list, instruction));
            }
        }
        let mut instructions = vec![0; firsts.len() + later.len()];
        let mut start = 0;
        for (list, first) in lists.iter_mut().zip(firsts) {
            let count = list.end;
            instructions[start as usize] = first;
            *list = start..start + 1;
            start += count;
        }
        for (list, instruction) in later {
            let end = &mut lists[list as usize].end;
            instructions[*end as usize] = instruction;
            *end += 1;
        }
        Self { occurring: Rc::clone(occurring), writers, lists, instructions }
    }

    /// The instructions that may write a register, ascending.
    #[inline]
    pub(crate) fn of(&self, register: Register) -> &[u32] {
        let Some(writer) = self.occurring.position(register).map(|position| &self.writers[position]) else {
            return &[];
        };
        match *writer {
            NOTHING => &[],
            one if one & SEVERAL == 0 => std::slice::from_ref(writer),
            several => {
                let Range { start, end } = self.lists[(several & !SEVERAL) as usize];
                &self.instructions[start as usize..end as usize]
            }
        }
    }
}

/// What happens to each register anywhere in a function.
#[derive(Clone, Debug)]
pub struct Touched(RegisterTable<u8>);

impl Touched {
    const READ: u8 = 1;
    const NAMED: u8 = 2;
    const READ_BY_OPERAND: u8 = 4;

    pub(crate) fn new(uses: &Uses, body: &Body, mut touched: RegisterTable<u8>) -> Self {
        for each in uses.all() {
            let access = each.access();
            let read = match access {
                Access::Unknown => Self::READ | if access.reads() { Self::READ_BY_OPERAND } else { 0 },
                _ if access.reads() => Self::READ | Self::READ_BY_OPERAND,
                _ => 0,
            };
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

    /// Whether an instruction reads a register as an operand.
    pub(crate) fn is_read_by_operand(&self, register: Register) -> bool {
        self.0.get(register).is_some_and(|slot| slot & Self::READ_BY_OPERAND != 0)
    }

    /// Whether any instruction names one of these registers.
    #[must_use]
    pub fn is_named(&self, registers: Range<u32>) -> bool {
        self.0.within(registers).iter().any(|slot| slot & Self::NAMED != 0)
    }
}
