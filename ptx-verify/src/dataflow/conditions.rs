//! What is known about predicates on a way through a function, seen backwards.
//!
//! A [`Facts`] is a conjunction of [`Literal`]s: these predicates have these values, these comparisons come out
//! so. Walking backwards over the instruction that computes a predicate replaces what is known of its result by
//! what follows for its operands ([`super::formulas`]), so two predicates are the same condition when they come
//! from the same comparison of the same values, through any number of copies and negations. Facts that
//! contradict each other show that nobody can come this way.
//!
//! A walk makes many of these and looks at few, so they are small and live in place: a comparison is the number
//! that [`Comparisons`] gave it.

use ptx_ir::cfg::Condition;
use ptx_ir::ir::Register;
use rustc_hash::FxHashMap;

/// An operand of a comparison, as far as two of them can be told to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Term {
    /// A register, at the point the comparison stands.
    Register(Register),
    /// A constant: its bits, and which kind of literal it was.
    Constant(u64, u8),
}

impl Term {
    pub(super) const fn register(self) -> Option<Register> {
        match self {
            Self::Register(register) => Some(register),
            Self::Constant(..) => None,
        }
    }
}

/// The relations of integers and floats; each stands for itself and, negated, for its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Relation {
    /// `a == b`; for floats false where one is NaN.
    Equal,
    /// `a < b`; for floats false where one is NaN.
    Less,
    /// `a <= b`; for floats false where one is NaN.
    LessEqual,
    /// Floats: neither is NaN.
    Ordered,
    /// Floats: `a == b` or one is NaN.
    EqualUnordered,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Comparison {
    pub(super) relation: Relation,
    pub(super) left: Term,
    pub(super) right: Term,
    /// The spelling of the type compared; comparisons of different types are different.
    pub(super) ty: &'static str,
}

/// The distinct comparisons of a function, as far as walks have met them.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparisons {
    all: Vec<Comparison>,
    numbers: FxHashMap<Comparison, u32>,
}

impl Comparisons {
    /// That a comparison is true.
    pub(super) fn literal(&mut self, comparison: Comparison) -> Literal {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(comparison).or_insert(next);
        if number == next {
            self.all.push(comparison);
        }
        Literal(COMPARISON | number << 1 | 1)
    }

    /// The comparison that a literal is about.
    pub(super) fn of(&self, literal: Literal) -> Option<&Comparison> {
        (literal.0 & COMPARISON != 0).then(|| &self.all[((literal.0 & !COMPARISON) >> 1) as usize])
    }

    /// The registers that a literal says something about, so that a write of one ends what is known.
    pub(super) fn registers(&self, literal: Literal) -> (Option<Register>, Option<Register>) {
        match self.of(literal) {
            Some(comparison) => (comparison.left.register(), comparison.right.register()),
            None => (literal.register(), None),
        }
    }
}

const COMPARISON: u32 = 1 << 31;

/// A predicate register or a comparison, and whether it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Literal(u32);

impl Literal {
    /// The value of a predicate register.
    pub(super) const fn new(register: Register, value: bool) -> Self {
        Self((register.0 << 1 | value as u32) & !COMPARISON)
    }

    /// What is true or false, without which of the two.
    const fn atom(self) -> u32 {
        self.0 >> 1
    }

    pub(super) const fn value(self) -> bool {
        self.0 & 1 != 0
    }

    pub(super) const fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// The same thing with the value, where `value`, or else with the opposite value.
    pub(super) const fn when(self, value: bool) -> Self {
        if value { self } else { self.negated() }
    }

    /// The predicate register that it is about, where it is no comparison.
    pub(super) const fn register(self) -> Option<Register> {
        if self.0 & COMPARISON == 0 { Some(Register(self.0 >> 1)) } else { None }
    }
}

/// More than this is not kept: the walk gives up instead.
const MOST_LITERALS: usize = 24;
/// A step adds a few before it is asked whether there are too many.
const CAPACITY: usize = 32;

/// A conjunction of literals, sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    literals: [Literal; CAPACITY],
    count: u8,
}

impl Facts {
    /// What holds where an instruction with this guard runs.
    pub(super) fn of(condition: Option<Condition>) -> Self {
        let mut facts = Self { literals: [Literal(0); CAPACITY], count: 0 };
        if let Some(condition) = condition {
            facts.literals[0] = Literal::new(condition.register, condition.value);
            facts.count = 1;
        }
        facts
    }

    /// The literals, sorted.
    pub(super) fn literals(&self) -> &[Literal] {
        &self.literals[..usize::from(self.count)]
    }

    /// The value of a condition's predicate compared with the wanted one, where it is known.
    pub(super) fn holds(&self, condition: Condition) -> Option<bool> {
        let wanted = Literal::new(condition.register, condition.value);
        self.find(wanted).ok().map(|index| self.literals[index] == wanted)
    }

    fn find(&self, literal: Literal) -> Result<usize, usize> {
        let literals = self.literals();
        // There are few, and most are registers declared before those asked for.
        let index = literals.iter().position(|each| each.atom() >= literal.atom()).unwrap_or(literals.len());
        match literals.get(index) {
            Some(found) if found.atom() == literal.atom() => Ok(index),
            _ => Err(index),
        }
    }

    /// Adds a fact; false where it contradicts what is known.
    #[must_use]
    pub(super) fn assume(&mut self, literal: Literal, comparisons: &Comparisons) -> bool {
        match self.find(literal) {
            Ok(index) => self.literals[index] == literal,
            Err(index) => {
                self.insert(index, literal);
                comparisons.of(literal).is_none_or(|new| self.is_possible(new, literal.value(), comparisons))
            }
        }
    }

    /// Adds a condition; false where it contradicts what is known.
    #[must_use]
    pub(super) fn assume_condition(&mut self, condition: Condition) -> bool {
        let literal = Literal::new(condition.register, condition.value);
        match self.find(literal) {
            Ok(index) => self.literals[index] == literal,
            Err(index) => {
                self.insert(index, literal);
                true
            }
        }
    }

    fn insert(&mut self, index: usize, literal: Literal) {
        let count = usize::from(self.count);
        // What does not fit is left out; there is too much by then, and the walk ends.
        if count < CAPACITY {
            self.literals.copy_within(index..count, index + 1);
            self.literals[index] = literal;
            self.count += 1;
        }
    }

    /// Comparisons of the same operands exclude each other: `a < b` and `a == b`.
    fn is_possible(&self, new: &Comparison, value: bool, comparisons: &Comparisons) -> bool {
        self.literals().iter().all(|&literal| {
            let Some(old) = comparisons.of(literal) else { return true };
            let known = literal.value();
            if old.ty != new.ty || old.left != new.left {
                return true;
            }
            if old.right == new.right {
                return compatible((new.relation, value), (old.relation, known));
            }
            let equal = old.relation == Relation::Equal && new.relation == Relation::Equal && known && value;
            // One value cannot equal two constants.
            !(equal
                && matches!((old.right, new.right), (Term::Constant(a, kind), Term::Constant(b, other)) if a != b && kind == other))
        })
    }

    /// Whether more is known than is worth keeping.
    pub(super) fn is_too_large(&self) -> bool {
        usize::from(self.count) > MOST_LITERALS
    }

    /// Forgets a predicate and gives what was known of it.
    pub(super) fn take(&mut self, register: Register) -> Option<bool> {
        let index = self.find(Literal::new(register, true)).ok()?;
        let value = self.literals[index].value();
        self.literals.copy_within(index + 1..usize::from(self.count), index);
        self.count -= 1;
        Some(value)
    }

    /// Forgets all that depends on the value of a register.
    pub(super) fn forget(&mut self, register: Register, comparisons: &Comparisons) {
        let mut kept = 0;
        for index in 0..usize::from(self.count) {
            let literal = self.literals[index];
            let (first, second) = comparisons.registers(literal);
            if first != Some(register) && second != Some(register) {
                self.literals[kept] = literal;
                kept += 1;
            }
        }
        self.count = kept as u8;
    }
}

/// Whether every literal of `few` is one of `many` too, so that `few` allows all that `many` allows. Both are
/// sorted.
pub(super) fn is_subset(few: &[Literal], many: &[Literal]) -> bool {
    if few.len() > many.len() {
        return false;
    }
    let mut rest = many.iter();
    few.iter().all(|literal| rest.by_ref().find(|each| each.atom() >= literal.atom()) == Some(literal))
}

/// Whether two outcomes of relations between the same two values can be true at once. Only what is certain for
/// integers and floats alike is excluded.
fn compatible(new: (Relation, bool), old: (Relation, bool)) -> bool {
    use Relation::{Equal, Less, LessEqual};
    let excluded = |a: (Relation, bool), b: (Relation, bool)| {
        matches!(
            (a, b),
            ((Equal, true), (Less, true))
                | ((Equal, true), (LessEqual, false))
                | ((Less, true), (LessEqual, false))
        )
    };
    !excluded(new, old) && !excluded(old, new)
}
