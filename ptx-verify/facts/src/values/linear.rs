//! Sums of multiples: what values are of each other.
//!
//! `%r5 = %r1 * 4 + %r2 - 8` is kept as the terms `4 × base of %r1`, `1 × base of %r2` and the constant. A base is what
//! is no sum itself: a special register, the result of a load, a value that joins others. An operation that is no sum,
//! on known sums, is a base too, and the same operation on the same sums is the same base: so values that must be equal
//! are found to be.

use ptx_ir::ir::{Function, Handle, Variable};
use ptx_ir::isa::Computation;
use ptx_ir::special::SpecialRegister;
use ptx_ir::types::Type;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

use super::graph::ValueId;
use super::number::{Number, mask};

/// What is no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A value of which no more is said.
    Value(ValueId),
    /// A special register.
    Special(SpecialRegister),
    /// `%tid.x` modulo 32, and the lane: only where the rows of blocks are whole warps.
    Lane,
    /// `%tid.x` without that.
    Warp,
    /// The number of a thread in its plane or in its block, without the lane. The first field is the length of a row, which is
    /// shorter than a warp.
    Rows(u8, Within),
    /// The address of a variable: in its state space, or generic.
    Symbol {
        /// The variable.
        variable: Handle<Variable>,
        /// Whether the address is generic.
        generic: bool,
    },
    /// The address of a function.
    Code(Handle<Function>),
    /// A part of a variable that no one writes while the function runs.
    Loaded {
        /// The variable.
        variable: Handle<Variable>,
        /// How far behind its start.
        offset: i64,
        /// As what it is loaded.
        ty: Type,
    },
    /// What the turns of a loop have added up to in this value, which the loop's head joins.
    Steps(ValueId),
    /// Something that is the same as nothing else.
    Unknown(u32),
    /// An operation on sums.
    Operation {
        /// What it computes.
        computes: Computation,
        /// What else distinguishes it: its width, its sign, its modifiers.
        detail: u64,
        /// Its operands.
        operands: [Form; 3],
    },
}

/// In what threads are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Within {
    /// The rows of one plane.
    Plane,
    /// Those of all planes.
    Block,
}

/// The number of a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BaseId(u32);

impl BaseId {
    /// For tables with an entry a base.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a sum. Equal sums have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form(u32);

impl Form {
    /// No sum: for operands that are not there.
    pub const NONE: Self = Self(u32::MAX);
}

/// Comes after all bases.
const NO_BASE: u32 = u32::MAX;

/// An index that a compiler has strength-reduced has five: a row, a column, a pitch, a base and a bound. A loop in a loop
/// adds what each has counted.
pub const MAX_TERMS: usize = 10;

/// A sum modulo two to the width. What is behind the last term is 0, so that equal sums are equal in all their parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    constant: u64,
    // Bases and factors lie apart, which keeps a sum short: it is copied often.
    factors: [u64; MAX_TERMS],
    bases: [u32; MAX_TERMS],
    width: u8,
    count: u8,
}

impl Sum {
    /// A number.
    #[must_use]
    pub const fn constant(width: u32, value: u64) -> Self {
        Self {
            constant: value & mask(width),
            factors: [0; MAX_TERMS],
            bases: [0; MAX_TERMS],
            width: width as u8,
            count: 0,
        }
    }

    /// Once the base.
    #[must_use]
    pub const fn of(width: u32, base: BaseId) -> Self {
        let mut sum = Self::constant(width, 0);
        (sum.bases[0], sum.factors[0], sum.count) = (base.0, 1, 1);
        sum
    }

    /// The bases with their factors, in order of the bases.
    pub fn terms(&self) -> impl Iterator<Item = (BaseId, u64)> + '_ {
        let terms = self.bases.iter().zip(&self.factors).take(self.count());
        terms.map(|(&base, &factor)| (BaseId(base), factor))
    }

    /// How many bases there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// Whether the bases are those of another sum.
    #[must_use]
    pub fn has_bases_of(&self, other: &Self) -> bool {
        self.count == other.count && self.bases == other.bases
    }

    /// What is added.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.constant
    }

    /// How many bits.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width as u32
    }

    /// The value, where no base is in it.
    #[must_use]
    pub const fn value(&self) -> Option<u64> {
        if self.count == 0 { Some(self.constant) } else { None }
    }

    /// `self + other × factor`; none where that has too many terms.
    #[must_use]
    pub fn plus(&self, other: &Self, factor: u64) -> Option<Self> {
        let all = mask(self.width());
        let constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor)) & all;
        // Most of what is added is a number, or is added to one.
        if other.count == 0 {
            return Some(Self { constant, ..*self });
        }
        if self.count == 0 && factor == 1 && self.width == other.width {
            return Some(Self { constant, ..*other });
        }
        let mut sum = Self::constant(self.width(), constant);
        let (ones, twos) = (&self.bases[..self.count()], &other.bases[..other.count()]);
        let (mut one, mut two) = (0, 0);
        while one < ones.len() || two < twos.len() {
            let left = ones.get(one).copied().unwrap_or(NO_BASE);
            let right = twos.get(two).copied().unwrap_or(NO_BASE);
            let mut total = 0_u64;
            if left <= right {
                total = self.factors[one];
                one += 1;
            }
            if right <= left {
                total = total.wrapping_add(other.factors[two].wrapping_mul(factor));
                two += 1;
            }
            if total & all != 0 {
                let next = sum.count();
                *sum.bases.get_mut(next)? = left.min(right);
                sum.factors[next] = total & all;
                sum.count += 1;
            }
        }
        Some(sum)
    }

    /// The terms without the number that is added to them.
    #[must_use]
    pub const fn without_offset(self) -> Self {
        Self { constant: 0, ..self }
    }

    /// Some times this.
    #[must_use]
    pub fn times(&self, factor: u64) -> Self {
        Self::constant(self.width(), 0).plus(self, factor).unwrap_or(*self)
    }

    /// The same terms in another width.
    #[must_use]
    pub fn in_width(&self, width: u32) -> Self {
        if width >= self.width() {
            return Self { width: width as u8, ..*self };
        }
        let mut sum = Self::constant(width, self.constant);
        for (base, factor) in self.terms().map(|(base, factor)| (base, factor & mask(width))) {
            if factor != 0 {
                let next = sum.count();
                (sum.bases[next], sum.factors[next]) = (base.0, factor);
                sum.count += 1;
            }
        }
        sum
    }
}

/// Terms that are not there are not hashed.
impl Hash for Sum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.constant ^ u64::from(self.width) << 56);
        for (base, factor) in self.terms() {
            state.write_u64(factor.rotate_left(32) ^ u64::from(base.0));
        }
    }
}

/// Each of some things once, by its number: a table of numbers with open addressing, so that nothing is kept twice. What
/// is found in another way can be added without the table.
#[derive(Clone, Debug)]
struct Numbered<T> {
    all: Vec<T>,
    slots: Vec<Slot>,
    /// How many slots are taken.
    taken: usize,
}

/// The number of a thing, [`EMPTY`] where there is none, and a part of its hash: most things that are not the same are told
/// apart without a look at them.
#[derive(Clone, Copy, Debug)]
struct Slot {
    number: u32,
    hash: u32,
}

const EMPTY: u32 = u32::MAX;
const FREE: Slot = Slot { number: EMPTY, hash: 0 };
/// Slots of a table at first; a power of two.
const MIN_SLOTS: usize = 64;

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { all: Vec::new(), slots: Vec::new(), taken: 0 }
    }
}

impl<T: Hash + Eq> Numbered<T> {
    fn hash(what: &T) -> u32 {
        let mut hasher = FxHasher::default();
        what.hash(&mut hasher);
        // The upper bits are mixed best.
        (hasher.finish() >> 32) as u32
    }

    /// The slot in which a thing is, or the empty one where it would be.
    fn slot(&self, what: &T, hash: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found.number == EMPTY || found.hash == hash && self.all[found.number as usize] == *what {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The number of a thing, and whether it is new.
    fn number(&mut self, what: T) -> (u32, bool) {
        // At most three of four slots are taken.
        if self.slots.len() < (self.taken + 1) / 3 * 4 + MIN_SLOTS / 2 {
            self.grow();
        }
        let hash = Self::hash(&what);
        let slot = self.slot(&what, hash);
        let found = &mut self.slots[slot];
        if found.number != EMPTY {
            return (found.number, false);
        }
        let number = self.all.len() as u32;
        *found = Slot { number, hash };
        self.taken += 1;
        self.all.push(what);
        (number, true)
    }

    /// Adds a thing that [`Self::number`] is never asked for.
    fn push(&mut self, what: T) -> u32 {
        self.all.push(what);
        self.all.len() as u32 - 1
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(MIN_SLOTS);
        let before = std::mem::replace(&mut self.slots, vec![FREE; count]);
        for each in before.into_iter().filter(|each| each.number != EMPTY) {
            let mut slot = each.hash as usize & (count - 1);
            while self.slots[slot].number != EMPTY {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = each;
        }
    }

    fn find(&self, what: &T) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let number = self.slots[self.slot(what, Self::hash(what))].number;
        (number != EMPTY).then_some(number)
    }
}

/// All sums and bases of a function.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    bases: Numbered<Base>,
    /// What is known of each base; for values, what is known of those is better.
    numbers: Vec<Number>,
    /// The value that is each base, or the first whose operation it is.
    values: Vec<Option<ValueId>>,
    sums: Numbered<Sum>,
    /// By value its base, and the sum that has this base once and nothing else, in the width of the value. Most values
    /// are opaque, so that these are not looked for in tables.
    own: Vec<Own>,
}

/// What a value is where no more is said of it; [`EMPTY`] where that was not asked.
#[derive(Clone, Copy, Debug)]
struct Own {
    base: u32,
    form: u32,
}

impl Forms {
    /// Makes room for what so many values are.
    pub(super) fn reserve(&mut self, values: usize) {
        self.bases.all.reserve(values);
        self.numbers.reserve(values);
        self.values.reserve(values);
        self.sums.all.reserve(values);
    }

    /// The number of a sum.
    pub fn form(&mut self, sum: Sum) -> Form {
        if let Some(value) = self.is_own(&sum) {
            let known = self.own[value.index()].form;
            if known == EMPTY {
                let form = self.sums.push(sum);
                self.own[value.index()].form = form;
                return Form(form);
            }
            if self.sums.all[known as usize].width == sum.width {
                return Form(known);
            }
        }
        Form(self.sums.number(sum).0)
    }

    /// The value that a sum is, where it has nothing else.
    fn is_own(&self, sum: &Sum) -> Option<ValueId> {
        match (sum.count, sum.constant, sum.bases[0], sum.factors[0]) {
            (1, 0, base, 1) => match self.bases.all[base as usize] {
                Base::Value(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number of the base that a value is.
    fn value_base(&mut self, value: ValueId) -> (u32, bool) {
        if self.own.len() <= value.index() {
            self.own.resize(value.index() + 1, Own { base: EMPTY, form: EMPTY });
        }
        let known = self.own[value.index()].base;
        if known != EMPTY {
            return (known, false);
        }
        let id = self.bases.push(Base::Value(value));
        self.own[value.index()].base = id;
        (id, true)
    }

    /// A base, which `value` is or computes, and what is known of it.
    pub fn base(&mut self, base: Base, number: Number, value: Option<ValueId>) -> BaseId {
        let (id, is_new) = match base {
            Base::Value(value) => self.value_base(value),
            _ => self.bases.number(base),
        };
        let id = BaseId(id);
        if is_new {
            self.numbers.push(number);
            self.values.push(value);
        } else {
            let known = &mut self.numbers[id.index()];
            *known = known.join(number);
        }
        id
    }

    /// The number of a base, where a sum has it.
    #[must_use]
    pub fn find(&self, base: Base) -> Option<BaseId> {
        match base {
            Base::Value(value) => {
                let own = self.own.get(value.index())?;
                (own.base != EMPTY).then_some(BaseId(own.base))
            }
            _ => self.bases.find(&base).map(BaseId),
        }
    }

    /// The number that the next new sum gets.
    #[must_use]
    pub const fn next(&self) -> Form {
        Form(self.sums.all.len() as u32)
    }

    /// The number of a sum that was met before.
    #[must_use]
    pub fn find_sum(&self, sum: &Sum) -> Option<Form> {
        if let Some(value) = self.is_own(sum) {
            let known = self.own[value.index()].form;
            if known != EMPTY && self.sums.all[known as usize].width == sum.width {
                return Some(Form(known));
            }
        }
        self.sums.find(sum).map(Form)
    }

    /// A sum by its number.
    #[must_use]
    pub fn sum(&self, form: Form) -> &Sum {
        &self.sums.all[form.0 as usize]
    }

    /// A base by its number.
    #[must_use]
    pub fn what(&self, base: BaseId) -> Base {
        self.bases.all[base.index()]
    }

    /// What is known of a base.
    #[must_use]
    pub fn number(&self, base: BaseId) -> Number {
        self.numbers[base.index()]
    }

    /// The value that a base is, or the first whose operation it is.
    #[must_use]
    pub fn value(&self, base: BaseId) -> Option<ValueId> {
        self.values[base.index()]
    }

    /// The bases from one number on. An operation comes after all that it is made of.
    pub fn bases_from(&self, first: usize) -> impl Iterator<Item = BaseId> + use<> {
        (first as u32..self.base_count() as u32).map(BaseId)
    }

    /// How many bases there are.
    #[must_use]
    pub fn base_count(&self) -> usize {
        self.bases.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{BaseId, MAX_TERMS, Numbered, Sum};

    #[test]
    fn equal_things_have_one_number() {
        let mut numbered = Numbered::default();
        assert_eq!(numbered.find(&7), None);
        let numbers: Vec<u64> = (0..5000).map(|number| number * number).collect();
        for (place, &number) in numbers.iter().enumerate() {
            assert_eq!(numbered.number(number), (place as u32, true));
            assert_eq!(numbered.number(numbers[place / 2]), (place as u32 / 2, false));
        }
        assert_eq!(numbered.find(&numbers[4321]), Some(4321));
        assert_eq!(numbered.find(&3), None);
    }

    #[test]
    fn terms_cancel() {
        let (one, other) = (Sum::of(32, BaseId(1)), Sum::of(32, BaseId(2)));
        let sum = one.plus(&other, 4).unwrap();
        assert_eq!(sum.terms().collect::<Vec<_>>(), [(BaseId(1), 1), (BaseId(2), 4)]);
        let less = sum.plus(&one, u64::MAX).unwrap();
        assert_eq!(less, other.times(4));
        assert_eq!(less.plus(&other, (-4_i64) as u64).unwrap().value(), Some(0));
        let wide = Sum::of(64, BaseId(1)).plus(&Sum::of(64, BaseId(2)), 1 << 40).unwrap();
        assert_eq!(wide.in_width(32), one);
    }

    #[test]
    fn sums_of_many_terms_are_none() {
        let mut sum = Sum::constant(32, 7);
        let count = MAX_TERMS as u32;
        for base in 0..count {
            sum = sum.plus(&Sum::of(32, BaseId(base)), 1).unwrap();
        }
        assert_eq!(sum.plus(&Sum::of(32, BaseId(count)), 1), None);
        assert!(sum.plus(&Sum::of(32, BaseId(count - 1)), 1).is_some());
    }
}
