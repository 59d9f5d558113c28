//! What the value of a predicate says about the operands of the instruction that computed it.

use super::conditions::{Comparison, Comparisons, Literal, Relation, Term};
use super::facts::FunctionFacts;
use ptx_ir::ir::{Body, Handle, Instruction, Operand, Register};
use ptx_ir::isa::{Computation, Instance};

/// One side of a [`Formula`].
#[derive(Clone, Copy, Debug)]
enum Side {
    /// True where the literal is.
    Literal(Literal),
    /// Always true, or never.
    Constant(bool),
}

#[derive(Clone, Copy, Debug)]
enum Connective {
    /// The left side alone.
    Only,
    And,
    Or,
    Xor,
}

/// When a predicate is true.
#[derive(Clone, Copy, Debug)]
pub(super) struct Formula {
    connective: Connective,
    left: Side,
    right: Side,
}

/// A few literals that hold together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Case {
    literals: [Literal; Cases::MOST],
    count: u8,
}

impl Case {
    pub(super) fn literals(&self) -> &[Literal] {
        &self.literals[..usize::from(self.count)]
    }

    fn push(&mut self, side: Side, value: bool) -> bool {
        match side {
            Side::Literal(literal) => {
                self.literals[usize::from(self.count)] = literal.when(value);
                self.count += 1;
                true
            }
            Side::Constant(constant) => constant == value,
        }
    }
}

/// A few cases, one of which holds. No case means that it cannot be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cases {
    cases: [Case; Self::MOST],
    count: u8,
}

impl Cases {
    /// An instruction computes at most two predicates, each from at most two operands in at most two cases.
    const MOST: usize = 4;

    /// Nothing is known: one case, and nothing has to hold.
    pub(super) fn anything() -> Self {
        Self { cases: [Case::default(); Self::MOST], count: 1 }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Case> {
        self.cases[..usize::from(self.count)].iter()
    }

    fn push(&mut self, case: Case) {
        self.cases[usize::from(self.count)] = case;
        self.count += 1;
    }

    /// A case of each, together; none where that is more than is kept.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        let mut both = Self::default();
        if self.count * other.count > Self::MOST as u8 {
            return None;
        }
        for first in self.iter() {
            for second in other.iter() {
                let mut case = *first;
                for &literal in second.literals() {
                    *case.literals.get_mut(usize::from(case.count))? = literal;
                    case.count += 1;
                }
                both.push(case);
            }
        }
        Some(both)
    }
}

impl Formula {
    /// The formula of a result of an instruction; none where it is not followed.
    pub(super) fn of(
        facts: &FunctionFacts<'_>,
        comparisons: &mut Comparisons,
        instruction: u32,
        register: Register,
    ) -> Option<Self> {
        let handle = Handle::new(instruction);
        let instance = facts.instance(instruction)?;
        let only = |left: Side| Self { connective: Connective::Only, left, right: Side::Constant(true) };
        let both = |connective: Connective, left: Operand, right: Operand| {
            Some(Self { connective, left: side(left)?, right: side(right)? })
        };
        match (instance.effects.computes?, facts.body.operands(handle)) {
            (Computation::Move, [_, source]) => Some(only(side(*source)?)),
            (Computation::Not, [_, source]) => Some(only(side(*source)?.negated())),
            (Computation::And, [_, left, right]) => both(Connective::And, *left, *right),
            (Computation::Or, [_, left, right]) => both(Connective::Or, *left, *right),
            (Computation::Xor, [_, left, right]) => both(Connective::Xor, *left, *right),
            (Computation::Compare, [destination, left, right, third @ ..]) => {
                let (comparison, truth) = compared(instance, *left, *right)?;
                let second = is_second(facts.body, *destination, register);
                let left = Side::Literal(comparisons.literal(comparison).when(truth ^ second));
                let Some(third) = third.first() else { return Some(only(left)) };
                let connective = match instance.modifiers.iter().find_map(|word| boolean(word)) {
                    Some(connective) => connective,
                    None => return Some(only(left)),
                };
                Some(Self { connective, left, right: side(*third)? })
            }
            _ => None,
        }
    }

    /// What follows where it has the value.
    pub(super) fn cases(&self, value: bool) -> Cases {
        let mut cases = Cases::default();
        let mut add = |sides: &[(Side, bool)]| {
            let mut case = Case::default();
            if sides.iter().all(|&(side, value)| case.push(side, value)) {
                cases.push(case);
            }
        };
        let (left, right) = (self.left, self.right);
        match (self.connective, value) {
            (Connective::Only, _) => add(&[(left, value)]),
            (Connective::And, true) | (Connective::Or, false) => add(&[(left, value), (right, value)]),
            (Connective::And, false) | (Connective::Or, true) => {
                add(&[(left, value)]);
                add(&[(right, value)]);
            }
            (Connective::Xor, _) => {
                add(&[(left, false), (right, value)]);
                add(&[(left, true), (right, !value)]);
            }
        }
        cases
    }
}

impl Side {
    fn negated(self) -> Self {
        match self {
            Self::Literal(literal) => Self::Literal(literal.negated()),
            Self::Constant(value) => Self::Constant(!value),
        }
    }
}

fn boolean(modifier: &str) -> Option<Connective> {
    Some(match modifier {
        ".and" => Connective::And,
        ".or" => Connective::Or,
        ".xor" => Connective::Xor,
        _ => return None,
    })
}

fn side(operand: Operand) -> Option<Side> {
    match operand {
        Operand::Register { register, .. } => Some(Side::Literal(Literal::new(register, true))),
        Operand::Negated { register, .. } => Some(Side::Literal(Literal::new(register, false))),
        Operand::Integer { bits, .. } => Some(Side::Constant(bits != 0)),
        _ => None,
    }
}

/// The operands that a `setp` compares, the smaller first.
pub(super) fn operands_compared(
    facts: &FunctionFacts<'_>,
    instruction: Handle<Instruction>,
) -> Option<(Term, Term)> {
    let instance = facts.module.instance(&facts.body.instructions[instruction])?;
    if instance.effects.computes != Some(Computation::Compare) {
        return None;
    }
    let operands = facts.body.operands(instruction);
    let (left, right) = (term(*operands.get(1)?)?, term(*operands.get(2)?)?);
    Some(if left <= right { (left, right) } else { (right, left) })
}

/// Whether the register is `q` of `p|q`, which gets the opposite.
fn is_second(body: &Body, destination: Operand, register: Register) -> bool {
    let Operand::Pair(run) = destination else { return false };
    let is =
        |operand: &Operand| matches!(operand, Operand::Register { register: each, .. } if *each == register);
    matches!(body.children(run), [first, second] if is(second) && !is(first))
}

fn term(operand: Operand) -> Option<Term> {
    match operand {
        Operand::Register { register, .. } => Some(Term::Register(register)),
        Operand::Integer { bits, .. } => Some(Term::Constant(bits, 0)),
        Operand::SingleBits(bits) => Some(Term::Constant(u64::from(bits), 1)),
        Operand::DoubleBits(bits) => Some(Term::Constant(bits, 2)),
        Operand::WarpSize => Some(Term::Constant(32, 0)),
        _ => None,
    }
}

/// The comparison of a `setp`, and the value it has where the predicate is true.
fn compared(instance: &Instance, left: Operand, right: Operand) -> Option<(Comparison, bool)> {
    let (mut left, mut right) = (term(left)?, term(right)?);
    let ty = instance.ty?;
    let (relation, swapped, value) =
        instance.modifiers.iter().find_map(|modifier| relation(modifier, ty.is_float()))?;
    if swapped {
        std::mem::swap(&mut left, &mut right);
    }
    // `b < a` negated is `a <= b` for integers; one of the two is kept.
    let (relation, value) = match (relation, ty.is_float()) {
        (Relation::LessEqual, false) => {
            std::mem::swap(&mut left, &mut right);
            (Relation::Less, !value)
        }
        _ => (relation, value),
    };
    if matches!(relation, Relation::Equal | Relation::EqualUnordered | Relation::Ordered) && right < left {
        std::mem::swap(&mut left, &mut right);
    }
    Some((Comparison { relation, left, right, ty: ty.as_str() }, value))
}

/// The relation of a comparison operator, whether its operands change places, and the value it then has.
fn relation(modifier: &str, is_float: bool) -> Option<(Relation, bool, bool)> {
    Some(match modifier {
        ".eq" => (Relation::Equal, false, true),
        // `.ne` of floats is the opposite of `.equ`.
        ".ne" if is_float => (Relation::EqualUnordered, false, false),
        ".ne" => (Relation::Equal, false, false),
        ".lt" | ".lo" => (Relation::Less, false, true),
        ".gt" | ".hi" => (Relation::Less, true, true),
        ".le" | ".ls" => (Relation::LessEqual, false, true),
        ".ge" | ".hs" if is_float => (Relation::LessEqual, true, true),
        ".ge" | ".hs" => (Relation::Less, false, false),
        ".neu" => (Relation::Equal, false, false),
        ".geu" => (Relation::Less, false, false),
        ".leu" => (Relation::Less, true, false),
        ".gtu" => (Relation::LessEqual, false, false),
        ".ltu" => (Relation::LessEqual, true, false),
        ".num" => (Relation::Ordered, false, true),
        ".nan" => (Relation::Ordered, false, false),
        ".equ" => (Relation::EqualUnordered, false, true),
        _ => return None,
    })
}
