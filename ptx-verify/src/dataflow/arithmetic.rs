//! What comparisons with constants say about each other through arithmetic.
//!
//! Compilers guard the two loops of a divided iteration by different tests of the same count: `n & 3 == 0` skips
//! the first, `n - 1 < 3` the second, and both at once cannot be. A [`Constraint`] is such a test as a function
//! of a sum of registers; walking backwards over additions, copies, masks and shifts rewrites it in older
//! registers, until two tests speak of the same sum. One of them bounds the sum to few values, which are tried.

use super::conditions::{Comparison, Relation, Term};
use super::facts::FunctionFacts;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Instance};
use ptx_ir::types::Type;

/// Something that a sum is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Leaf {
    /// The value of a register at the place of the walk.
    Register(Register),
    /// The value that a register got from an instruction that is not followed.
    Symbol(u32, Register),
}

/// What is done to a sum, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    And(u64),
    ShiftRight(u32),
    Add(u64),
}

/// A wrapping sum of leaves with coefficients, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
struct Sum {
    terms: Vec<(Leaf, u64)>,
    constant: u64,
}

impl Sum {
    fn add(&mut self, leaf: Leaf, coefficient: u64) {
        match self.terms.binary_search_by_key(&leaf, |(leaf, _)| *leaf) {
            Ok(index) => {
                self.terms[index].1 = self.terms[index].1.wrapping_add(coefficient);
                if self.terms[index].1 == 0 {
                    self.terms.remove(index);
                }
            }
            Err(index) if coefficient != 0 => self.terms.insert(index, (leaf, coefficient)),
            Err(_) => {}
        }
    }

    fn take(&mut self, leaf: Leaf) -> Option<u64> {
        let index = self.terms.binary_search_by_key(&leaf, |(leaf, _)| *leaf).ok()?;
        Some(self.terms.remove(index).1)
    }
}

/// How the result is compared with the constant; numbers are unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Test {
    Equal,
    Different,
    Below,
    NotBelow,
}

/// A test of a function of a sum with a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Constraint {
    bits: u32,
    sum: Sum,
    steps: Vec<Step>,
    test: Test,
    constant: u64,
}

/// Steps and terms beyond this are not followed.
const MOST_PARTS: usize = 8;
/// Values that are tried.
const MOST_VALUES: u64 = 64;

impl Constraint {
    /// What a comparison says as a test of a register with a constant.
    pub(super) fn of_comparison(comparison: &Comparison, value: bool) -> Option<Self> {
        let ty = Type::parse(comparison.ty).filter(|ty| !ty.is_float())?;
        let unsigned = !comparison.ty.starts_with(".s");
        let (register, test, constant) = match (comparison.relation, comparison.left, comparison.right) {
            (Relation::Equal, Term::Register(register), Term::Constant(constant, 0)) => {
                (register, if value { Test::Equal } else { Test::Different }, constant)
            }
            (Relation::Less, Term::Register(register), Term::Constant(constant, 0)) if unsigned => {
                (register, if value { Test::Below } else { Test::NotBelow }, constant)
            }
            (Relation::Less, Term::Constant(constant, 0), Term::Register(register)) if unsigned => {
                let next = constant.checked_add(1)?;
                (register, if value { Test::NotBelow } else { Test::Below }, next)
            }
            _ => return None,
        };
        Some(Self::new(register, ty.bits(), test, constant))
    }

    /// A test of a register of a width.
    fn new(register: Register, bits: u32, test: Test, constant: u64) -> Self {
        let mut sum = Sum::default();
        sum.add(Leaf::Register(register), 1);
        Self { bits, sum, steps: Vec::new(), test, constant: constant & mask(bits) }
    }

    /// The registers that it speaks of.
    pub(super) fn registers(&self) -> impl Iterator<Item = Register> + '_ {
        self.sum.terms.iter().filter_map(|(leaf, _)| match leaf {
            Leaf::Register(register) => Some(*register),
            Leaf::Symbol(..) => None,
        })
    }

    /// Rewrites it for the place before the instruction that wrote `register`: with a copy of `source` where there is
    /// one, or else with what the instruction computes.
    pub(super) fn substitute(
        &mut self,
        facts: &FunctionFacts<'_>,
        instruction: u32,
        register: Register,
        source: Option<Operand>,
    ) {
        let Some(coefficient) = self.sum.take(Leaf::Register(register)) else { return };
        let handle = Handle::new(instruction);
        let followed = facts.instance(instruction).is_some_and(|instance| {
            let of_width = instance.ty.is_some_and(|ty| ty.bits() == self.bits);
            self.terms_fit()
                && match source {
                    Some(source) => of_width && self.plus(&[(source, coefficient)]),
                    None => self.follow(instance, facts.body.operands(handle), coefficient),
                }
        });
        if !followed {
            self.sum.add(Leaf::Symbol(instruction, register), coefficient);
        }
    }

    /// Whether it compares a register itself with a constant.
    pub(super) fn is_plain(&self) -> bool {
        let is_register = matches!(self.sum.terms[..], [(Leaf::Register(_), 1)]);
        is_register && self.sum.constant == 0 && self.steps.is_empty()
    }

    /// Takes a register for the number of a lane.
    pub(super) fn take_for_lane(&mut self, register: Register) {
        if self.sum.terms == [(Leaf::Register(register), 1)] {
            self.steps.splice(0..0, [Step::And(31), Step::Add(self.sum.constant)]);
            self.sum.constant = 0;
        }
    }

    fn terms_fit(&self) -> bool {
        self.sum.terms.len() + self.steps.len() < MOST_PARTS
    }

    fn follow(&mut self, instance: &Instance, operands: &[Operand], coefficient: u64) -> bool {
        let Some(ty) = instance.ty.filter(|ty| ty.bits() == self.bits && !ty.is_float()) else {
            return false;
        };
        let Some(computation) = instance.effects.computes else { return false };
        let minus = coefficient.wrapping_neg();
        match (computation, operands) {
            (Computation::Move, [_, a]) => self.plus(&[(*a, coefficient)]),
            (Computation::Add, [_, a, b]) => self.plus(&[(*a, coefficient), (*b, coefficient)]),
            (Computation::Subtract, [_, a, b]) => self.plus(&[(*a, coefficient), (*b, minus)]),
            (Computation::Negate, [_, a]) => self.plus(&[(*a, minus)]),
            (Computation::Not, [_, a]) => {
                // `!a` is `-a - 1`.
                let done = self.plus(&[(*a, minus)]);
                if done {
                    self.sum.constant = self.sum.constant.wrapping_add(minus);
                }
                done
            }
            (Computation::ShiftLeft, [_, a, Operand::Integer { bits: by, .. }])
                if *by < u64::from(self.bits) =>
            {
                self.plus(&[(*a, coefficient.wrapping_shl(*by as u32))])
            }
            (Computation::And, [_, a, Operand::Integer { bits: mask, .. }]) => {
                self.nest(*a, coefficient, Step::And(*mask))
            }
            (Computation::Remainder, [_, a, Operand::Integer { bits: by, .. }])
                if by.is_power_of_two() && !ty.as_str().starts_with(".s") =>
            {
                self.nest(*a, coefficient, Step::And(by - 1))
            }
            (Computation::ShiftRight, [_, a, Operand::Integer { bits: by, .. }])
                if *by < u64::from(self.bits) && !ty.as_str().starts_with(".s") =>
            {
                self.nest(*a, coefficient, Step::ShiftRight(*by as u32))
            }
            _ => false,
        }
    }

    fn plus(&mut self, parts: &[(Operand, u64)]) -> bool {
        let known = parts
            .iter()
            .all(|(operand, _)| matches!(operand, Operand::Register { .. } | Operand::Integer { .. }));
        if !known {
            return false;
        }
        for &(operand, coefficient) in parts {
            match operand {
                Operand::Register { register, .. } => {
                    self.sum.add(Leaf::Register(register), coefficient);
                }
                Operand::Integer { bits, .. } => {
                    self.sum.constant = self.sum.constant.wrapping_add(bits.wrapping_mul(coefficient));
                }
                _ => {}
            }
        }
        true
    }

    /// Puts the whole function around a step, which only works where the register is all of the sum.
    fn nest(&mut self, inner: Operand, coefficient: u64, step: Step) -> bool {
        let Operand::Register { register, .. } = inner else { return false };
        if coefficient != 1 || !self.sum.terms.is_empty() {
            return false;
        }
        self.steps.splice(0..0, [step, Step::Add(self.sum.constant)]);
        self.sum = Sum::default();
        self.sum.add(Leaf::Register(register), 1);
        true
    }

    fn holds(&self, sum: u64) -> bool {
        let mask = mask(self.bits);
        let mut value = sum & mask;
        for step in &self.steps {
            value = match *step {
                Step::And(bits) => value & bits,
                Step::ShiftRight(by) => value >> by,
                Step::Add(number) => value.wrapping_add(number) & mask,
            };
        }
        match self.test {
            Test::Equal => value == self.constant,
            Test::Different => value != self.constant,
            Test::Below => value < self.constant,
            Test::NotBelow => value >= self.constant,
        }
    }

    /// How many values the sum may have, where that is few and they begin at 0.
    fn bound(&self) -> Option<u64> {
        match self.test {
            Test::Below if self.steps.is_empty() && self.constant <= MOST_VALUES => Some(self.constant),
            Test::Equal if self.steps.is_empty() && self.constant < MOST_VALUES => Some(self.constant + 1),
            _ => None,
        }
    }

    /// After how many values of the sum it says the same again, where that is few.
    fn period(&self) -> Option<u64> {
        match self.steps.first() {
            Some(Step::And(mask)) if *mask < MOST_VALUES => Some((mask + 1).next_power_of_two()),
            _ => None,
        }
    }
}

fn mask(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |one| one - 1)
}

/// Whether all constraints can hold at once, as far as is known.
pub(super) fn are_possible(constraints: &[Constraint]) -> bool {
    constraints.iter().all(|bounded| {
        if bounded.sum.terms.is_empty() {
            return bounded.holds(bounded.sum.constant);
        }
        let period = bounded.period();
        let Some(count) = bounded.bound().or(period) else { return true };
        let same = constraints.iter().filter(|other| {
            other.bits == bounded.bits
                && other.sum.terms == bounded.sum.terms
                // Of what repeats, one round is tried: only those that repeat as soon are asked.
                && (bounded.bound().is_some() || other.period() <= period && other.period().is_some())
        });
        (0..count).any(|value| {
            // `bounded` sees `value`; the others see it moved by the distance of the constants.
            same.clone().all(|other| {
                let distance = other.sum.constant.wrapping_sub(bounded.sum.constant);
                other.holds(value.wrapping_add(distance))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{Constraint, Step, Test, are_possible};
    use ptx_ir::ir::Register;

    #[test]
    fn a_test_of_a_constant_is_decided() {
        for (test, possible) in [(Test::Equal, false), (Test::Different, true), (Test::NotBelow, false)] {
            let mut constraint = Constraint::new(Register(1), 32, test, 5);
            constraint.sum.terms.clear();
            constraint.sum.constant = 4;
            assert_eq!(are_possible(&[constraint]), possible, "{test:?}");
        }
    }

    #[test]
    fn the_low_bits_have_some_value() {
        let lane = |value: u64| {
            let mut constraint = Constraint::new(Register(1), 32, Test::Different, value);
            constraint.steps.push(Step::And(3));
            constraint
        };
        assert!(are_possible(&[lane(0), lane(1), lane(3)]));
        assert!(!are_possible(&[lane(0), lane(1), lane(2), lane(3)]));
        // The same tests of all bits leave other values.
        let all = |value: u64| Constraint::new(Register(1), 32, Test::Different, value);
        assert!(are_possible(&[lane(0), all(1), all(2), all(3)]));
    }

    #[test]
    fn the_tests_of_a_divided_loop_exclude_each_other() {
        let count = Register(1);
        let few = Constraint::new(count, 32, Test::Below, 3);
        let mut even = Constraint::new(count, 32, Test::Equal, 0);
        even.sum.constant = 1;
        even.steps.push(Step::And(3));
        assert!(!are_possible(&[few.clone(), even.clone()]));
        even.sum.constant = 2;
        assert!(are_possible(&[few, even]));
    }
}
