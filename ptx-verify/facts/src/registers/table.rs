//! Tables with an entry for each register of a function.

use super::uses::Uses;
use ptx_ir::ir::{Body, Register};
use std::ops::{Index, IndexMut, Range};
use std::rc::Rc;

/// The registers of a function that tables have entries for.
///
/// That is all that are declared, as long as the function is not much shorter than they are many: `.reg .b32 %r<4000000000>`
/// is legal and asks for no memory. Else it is those that instructions name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurring {
    declared: u32,
    /// Ascending; none where all that are declared have an entry.
    named: Option<Vec<Register>>,
}

/// So many declared registers have entries in any function.
const MIN_DECLARED: usize = 4096;

/// So many declared registers have entries for each operand.
const DECLARED_PER_OPERAND: usize = 4;

impl Occurring {
    pub(crate) fn new(uses: &Uses, body: &Body) -> Self {
        let declared = body.register_count;
        let operands = uses.all().len() + body.instructions.len();
        if declared as usize <= MIN_DECLARED + DECLARED_PER_OPERAND * operands {
            return Self { declared, named: None };
        }
        let guards = body.instructions.iter().filter_map(|(_, instruction)| instruction.guard?.register);
        let operands = uses.all().iter().map(|each| each.register);
        let mut named: Vec<Register> =
            operands.chain(guards).filter(|register| register.0 < declared).collect();
        named.sort_unstable();
        named.dedup();
        Self { declared, named: Some(named) }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.named.as_ref().map_or(self.declared as usize, Vec::len)
    }

    /// Whether all that are declared have entries, so that the number of each is its own.
    pub(crate) fn are_all_declared(&self) -> bool {
        self.named.is_none()
    }

    /// The registers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Register> + '_ {
        let register = |index| self.named.as_ref().map_or(Register(index as u32), |named| named[index]);
        (0..self.len()).map(register)
    }

    /// The number of a register among them.
    #[inline]
    pub(crate) fn position(&self, register: Register) -> Option<usize> {
        match &self.named {
            None => (register.0 < self.declared).then_some(register.index()),
            Some(named) => named.binary_search(&register).ok(),
        }
    }

    /// The numbers of those within a range of registers.
    pub(crate) fn positions(&self, registers: Range<u32>) -> Range<usize> {
        let position = |register: u32| match &self.named {
            None => register.min(self.declared) as usize,
            Some(named) => named.partition_point(|each| each.0 < register),
        };
        position(registers.start)..position(registers.end)
    }
}

/// A value for each register that occurs in a function.
#[derive(Clone, Debug, Default)]
pub struct RegisterTable<T> {
    occurring: Rc<Occurring>,
    values: Vec<T>,
}

impl<T> RegisterTable<T> {
    pub(crate) fn new(occurring: Rc<Occurring>, value: T) -> Self
    where
        T: Clone,
    {
        let values = vec![value; occurring.len()];
        Self { occurring, values }
    }

    /// The value of a register; none where it does not occur.
    #[inline]
    #[must_use]
    pub fn get(&self, register: Register) -> Option<&T> {
        self.values.get(self.occurring.position(register)?)
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, register: Register) -> Option<&mut T> {
        self.values.get_mut(self.occurring.position(register)?)
    }

    /// The values of those within a range of registers.
    pub(crate) fn within(&self, registers: Range<u32>) -> &[T] {
        self.values.get(self.occurring.positions(registers)).unwrap_or_default()
    }
}

/// For registers that the function's instructions name.
impl<T> Index<Register> for RegisterTable<T> {
    type Output = T;

    #[inline]
    fn index(&self, register: Register) -> &T {
        &self.values[self.occurring.position(register).unwrap_or(usize::MAX)]
    }
}

impl<T> IndexMut<Register> for RegisterTable<T> {
    #[inline]
    fn index_mut(&mut self, register: Register) -> &mut T {
        &mut self.values[self.occurring.position(register).unwrap_or(usize::MAX)]
    }
}
