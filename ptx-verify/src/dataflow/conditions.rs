//! What is known about predicates on a way through a function, seen backwards.
//!
//! A [`Facts`] is a conjunction: these predicates have these values, these comparisons come out so. Walking
//! backwards over the instruction that computes a predicate replaces what is known of its result by what
//! follows for its operands, so two predicates are the same condition when they come from the same
//! comparison of the same values, through any number of copies and negations. Facts that contradict each
//! other show that nobody can come this way.

use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Body, Handle, Module, Operand, Register};
use ptx_ir::isa::Instance;

/// An operand of a comparison, as far as two of them can be told to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// A register, at the point the comparison stands.
    Register(Register),
    /// A constant: its bits, and which kind of literal it was.
    Constant(u64, u8),
}

/// The relations of integers and floats; each stands for itself and, negated, for its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Comparison {
    /// The relation.
    pub relation: Relation,
    /// The left operand.
    pub left: Term,
    /// The right operand.
    pub right: Term,
    /// The spelling of the type compared; comparisons of different types are different.
    pub ty: &'static str,
}

/// Something that is true or false at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A predicate register.
    Register(Register),
    /// A comparison of values.
    Comparison(Comparison),
}

impl Atom {
    /// Whether the atom says something about a register, so that a write of it ends what is known.
    #[must_use]
    pub fn depends_on(&self, register: Register) -> bool {
        match self {
            Self::Register(own) => *own == register,
            Self::Comparison(comparison) => {
                comparison.left == Term::Register(register) || comparison.right == Term::Register(register)
            }
        }
    }
}

/// A conjunction of atoms with their values, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    atoms: Vec<(Atom, bool)>,
}

/// More than this is not kept: the walk gives up instead.
const MOST_ATOMS: usize = 24;

impl Facts {
    /// What holds where an instruction with this guard runs.
    #[must_use]
    pub fn of(condition: Option<Condition>) -> Self {
        let mut facts = Self::default();
        if let Some(condition) = condition {
            facts.atoms.push((Atom::Register(condition.register), condition.value));
        }
        facts
    }

    /// The value of a condition's predicate compared with the wanted one, where it is known.
    #[must_use]
    pub fn holds(&self, condition: Condition) -> Option<bool> {
        self.value(Atom::Register(condition.register)).map(|value| value == condition.value)
    }

    /// The value of an atom, where it is known.
    #[must_use]
    pub fn value(&self, atom: Atom) -> Option<bool> {
        let index = self.atoms.binary_search_by_key(&atom, |(atom, _)| *atom).ok()?;
        Some(self.atoms[index].1)
    }

    /// Adds a fact; false where it contradicts what is known.
    #[must_use]
    pub fn assume(&mut self, atom: Atom, value: bool) -> bool {
        match self.atoms.binary_search_by_key(&atom, |(atom, _)| *atom) {
            Ok(index) => self.atoms[index].1 == value,
            Err(index) => {
                self.atoms.insert(index, (atom, value));
                self.is_possible(atom, value)
            }
        }
    }

    /// Adds a condition; false where it contradicts what is known.
    #[must_use]
    pub fn assume_condition(&mut self, condition: Condition) -> bool {
        self.assume(Atom::Register(condition.register), condition.value)
    }

    /// Comparisons of the same operands exclude each other: `a < b` and `a == b`.
    fn is_possible(&self, atom: Atom, value: bool) -> bool {
        let Atom::Comparison(new) = atom else { return true };
        self.atoms.iter().all(|(other, known)| match other {
            Atom::Comparison(old) if old.ty == new.ty && old.left == new.left && old.right == new.right => {
                compatible((new.relation, value), (old.relation, *known))
            }
            Atom::Comparison(old)
                if old.ty == new.ty
                    && old.left == new.left
                    && old.relation == Relation::Equal
                    && new.relation == Relation::Equal
                    && *known
                    && value =>
            {
                // One value cannot equal two constants.
                !matches!((old.right, new.right), (Term::Constant(a, kind), Term::Constant(b, other)) if a != b && kind == other)
            }
            Atom::Comparison(_) | Atom::Register(_) => true,
        })
    }

    /// Whether more is known than is worth keeping.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.atoms.len() > MOST_ATOMS
    }

    /// Whether every fact is one of `other` too, so that `self` allows all that `other` allows.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.atoms.len() <= other.atoms.len()
            && self.atoms.iter().all(|(atom, value)| other.value(*atom) == Some(*value))
    }

    /// The registers that something is known about.
    pub fn registers(&self) -> impl Iterator<Item = Register> + '_ {
        self.atoms.iter().flat_map(|(atom, _)| {
            let (first, second) = match atom {
                Atom::Register(register) => (Some(*register), None),
                Atom::Comparison(comparison) => (register_of(comparison.left), register_of(comparison.right)),
            };
            first.into_iter().chain(second)
        })
    }

    /// The facts as pairs.
    #[must_use]
    pub fn atoms(&self) -> &[(Atom, bool)] {
        &self.atoms
    }

    /// Forgets a predicate and gives what was known of it.
    pub fn take(&mut self, register: Register) -> Option<bool> {
        let atom = Atom::Register(register);
        let index = self.atoms.binary_search_by_key(&atom, |(atom, _)| *atom).ok()?;
        Some(self.atoms.remove(index).1)
    }

    /// Forgets all that depends on the value of a register.
    pub fn forget(&mut self, register: Register) {
        self.atoms.retain(|(atom, _)| !atom.depends_on(register));
    }
}

fn register_of(term: Term) -> Option<Register> {
    match term {
        Term::Register(register) => Some(register),
        Term::Constant(..) => None,
    }
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

/// What the value of a predicate says about the operands of the instruction that computed it: a disjunction of
/// conjunctions. No case means that it cannot have this value; none at all that nothing is known.
#[must_use]
pub fn consequences(
    module: &Module,
    body: &Body,
    instruction: u32,
    register: Register,
    value: bool,
) -> Option<Vec<Vec<(Atom, bool)>>> {
    let handle = Handle::new(instruction);
    let instance = module.instance(&body.instructions[handle])?;
    let operands = body.operands(handle);
    // The table says what an instruction reads and writes, not what it computes: which function of its
    // operands a predicate is stands here, for the six opcodes that compute predicates from predicates and values.
    let opcode = instance.canonical.split('.').next()?;
    match (opcode, operands) {
        ("mov", [_, source]) => predicate(*source, value),
        ("not", [_, source]) => predicate(*source, !value),
        ("and", [_, left, right]) => {
            Some(conjunction(predicate(*left, value)?, predicate(*right, value)?, value))
        }
        ("or", [_, left, right]) => {
            Some(conjunction(predicate(*left, value)?, predicate(*right, value)?, !value))
        }
        ("xor", [_, left, right]) => Some(exclusive(*left, *right, value)),
        ("setp", [destination, left, right]) => {
            let atom = compared(instance, *left, *right)?;
            let value = value ^ is_second(body, *destination, register);
            Some(vec![vec![(atom.0, atom.1 == value)]])
        }
        ("setp", [destination, left, right, third]) => {
            let second = is_second(body, *destination, register);
            combined(instance, (*left, *right, *third), value, second)
        }
        _ => None,
    }
}

/// The operands that a `setp` compares, the smaller first.
pub(super) fn operands_compared(
    module: &Module,
    body: &Body,
    instruction: Handle<ptx_ir::ir::Instruction>,
) -> Option<(Term, Term)> {
    let instance = module.instance(&body.instructions[instruction])?;
    if !instance.canonical.starts_with("setp.") {
        return None;
    }
    let operands = body.operands(instruction);
    let (left, right) = (term(*operands.get(1)?)?, term(*operands.get(2)?)?);
    Some(if left <= right { (left, right) } else { (right, left) })
}

/// One case: the operand has the value.
fn predicate(operand: Operand, value: bool) -> Option<Vec<Vec<(Atom, bool)>>> {
    match operand {
        Operand::Register { register, .. } => Some(vec![vec![(Atom::Register(register), value)]]),
        Operand::Negated { register, .. } => Some(vec![vec![(Atom::Register(register), !value)]]),
        Operand::Integer { bits, .. } if (bits != 0) == value => Some(vec![vec![]]),
        Operand::Integer { .. } => Some(vec![]),
        _ => None,
    }
}

/// Both hold, where `all`; else one of them holds.
fn conjunction(
    left: Vec<Vec<(Atom, bool)>>,
    right: Vec<Vec<(Atom, bool)>>,
    all: bool,
) -> Vec<Vec<(Atom, bool)>> {
    if !all {
        return left.into_iter().chain(right).collect();
    }
    let mut cases = Vec::new();
    for a in &left {
        for b in &right {
            cases.push(a.iter().chain(b).copied().collect());
        }
    }
    cases
}

fn exclusive(left: Operand, right: Operand, value: bool) -> Vec<Vec<(Atom, bool)>> {
    let mut cases = Vec::new();
    for first in [false, true] {
        if let (Some(a), Some(b)) = (predicate(left, first), predicate(right, first ^ value)) {
            cases.extend(conjunction(a, b, true));
        }
    }
    cases
}

/// Whether the register is `q` of `p|q`, which gets the opposite.
fn is_second(body: &Body, destination: Operand, register: Register) -> bool {
    match destination {
        Operand::Pair(run) => match body.children(run) {
            [first, Operand::Register { register: second, .. }] => {
                *second == register
                    && !matches!(first, Operand::Register { register: first, .. } if *first == register)
            }
            _ => false,
        },
        _ => false,
    }
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
fn compared(instance: &Instance, left: Operand, right: Operand) -> Option<(Atom, bool)> {
    let (mut left, mut right) = (term(left)?, term(right)?);
    let ty = instance.ty?;
    let relation = instance.modifiers.iter().find_map(|modifier| {
        Some(match *modifier {
            ".eq" => (Relation::Equal, false, true),
            ".ne" if ty.is_float() => return None,
            ".ne" => (Relation::Equal, false, false),
            ".lt" | ".lo" => (Relation::Less, false, true),
            ".gt" | ".hi" => (Relation::Less, true, true),
            ".le" | ".ls" => (Relation::LessEqual, false, true),
            ".ge" | ".hs" if ty.is_float() => (Relation::LessEqual, true, true),
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
    });
    let (relation, swapped, value) = match relation {
        Some(found) => found,
        // `.ne` of floats is `equ`'s opposite.
        None if instance.has(".ne") => (Relation::EqualUnordered, false, false),
        None => return None,
    };
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
    let comparison = Comparison { relation, left, right, ty: ty.as_str() };
    Some((Atom::Comparison(comparison), value))
}

/// `setp.cmp.bool p|q, a, b, c`: `p` is `cmp bool c`, `q` is `!cmp bool c`.
fn combined(
    instance: &Instance,
    (left, right, third): (Operand, Operand, Operand),
    value: bool,
    second: bool,
) -> Option<Vec<Vec<(Atom, bool)>>> {
    let (atom, truth) = compared(instance, left, right)?;
    let compare = |wanted: bool| vec![vec![(atom, (truth ^ second) == wanted)]];
    if instance.has(".and") {
        return Some(conjunction(compare(value), predicate(third, value)?, value));
    }
    if instance.has(".or") {
        return Some(conjunction(compare(value), predicate(third, value)?, !value));
    }
    let mut cases = conjunction(compare(true), predicate(third, !value)?, true);
    cases.extend(conjunction(compare(false), predicate(third, value)?, true));
    Some(cases)
}
