//! What is known of the instructions and registers of a kernel while its program is made: flat, for they are many.

use ptx_ir::ir::Register;

use super::program::Action;
use crate::FunctionFacts;
use crate::registers::RegisterTable;

const NONE: u32 = u32::MAX;

/// What instructions do, for those that are looked at.
pub(super) struct Actions {
    /// For each instruction the place of its action.
    places: Vec<u32>,
    all: Vec<(u32, Action)>,
}

impl Actions {
    /// For a number of instructions, of which about `expected` are looked at.
    pub(super) fn of(instructions: usize, expected: usize) -> Self {
        Self { places: vec![NONE; instructions], all: Vec::with_capacity(expected) }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn has(&self, instruction: u32) -> bool {
        self.places[instruction as usize] != NONE
    }

    pub(super) fn insert(&mut self, instruction: u32, action: Action) {
        match self.get_mut(instruction) {
            Some(known) => *known = action,
            None => {
                self.places[instruction as usize] = self.all.len() as u32;
                self.all.push((instruction, action));
            }
        }
    }

    pub(super) fn get_mut(&mut self, instruction: u32) -> Option<&mut Action> {
        Some(&mut self.all.get_mut(self.places[instruction as usize] as usize)?.1)
    }

    /// All of them, with their instructions.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(u32, Action)> {
        self.all.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut (u32, Action)> {
        self.all.iter_mut()
    }

    /// Takes the action of an instruction, of which nothing else is asked after that.
    pub(super) fn take(&mut self, instruction: u32) -> Option<Action> {
        Some(std::mem::replace(self.get_mut(instruction)?, Action::Opaque))
    }
}

/// The numbers of registers, for those that have one.
pub(super) struct Numbers(RegisterTable<u32>);

impl Numbers {
    pub(super) fn of(facts: &FunctionFacts<'_>) -> Self {
        Self(facts.table(NONE))
    }

    pub(super) fn get(&self, register: Register) -> Option<u32> {
        self.0.get(register).copied().filter(|&number| number != NONE)
    }

    pub(super) fn insert(&mut self, register: Register, number: u32) {
        if let Some(slot) = self.0.get_mut(register) {
            *slot = number;
        }
    }
}
