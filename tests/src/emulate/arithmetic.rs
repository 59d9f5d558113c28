//! What integer instructions compute, bit by bit as far as the undefined ones go.
//!
//! An undefined bit of a source makes those bits of the result undefined that may depend on it. Logic, shifts, byte
//! permutation and fields are exact; a sum is exact as far as intervals tell; where an instruction mixes all bits, one
//! undefined bit makes the whole result undefined.

use super::value::{Origins, Value, mask, signed};

/// How many bits a type has, and whether they have a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub width: u32,
    pub signed: bool,
}

/// Which half of a product is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Low,
    High,
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// How `setp` and `lop3` combine what they found with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combination {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permutation {
    Generic,
    Forward4,
    Backward4,
    Replicate8,
    ClampLeft,
    ClampRight,
    Replicate16,
}

/// What an instruction does with the carry flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CarryUse {
    pub reads: bool,
    pub writes: bool,
}

/// An instruction that computes something from its sources alone, or from them and the carry flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compute {
    Add { carry: CarryUse, saturate: bool },
    Subtract { carry: CarryUse, saturate: bool },
    Multiply(Part),
    MultiplyAdd { part: Part, carry: CarryUse, saturate: bool },
    AbsoluteDifference,
    Divide,
    Remainder,
    Absolute,
    Negate,
    Minimum,
    Maximum,
    PopulationCount,
    LeadingZeros,
    FindTop { amount: bool },
    Reverse,
    Extract,
    Insert,
    And,
    Or,
    Xor,
    Not,
    LogicalNot,
    Lookup { table: u8, combination: Option<Combination> },
    Funnel { left: bool, wrap: bool },
    ShiftLeft,
    ShiftRight,
    Permute(Permutation),
    SetPredicate { comparison: Comparison, combination: Option<Combination> },
    Set { comparison: Comparison, combination: Option<Combination>, width: u32 },
    Select,
    Convert { from: Type, saturate: bool },
}

impl Compute {
    /// What it does with the carry flag.
    pub(super) fn carry(self) -> CarryUse {
        match self {
            Self::Add { carry, .. } | Self::Subtract { carry, .. } | Self::MultiplyAdd { carry, .. } => carry,
            _ => CarryUse::default(),
        }
    }
}

/// What an instruction leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    pub result: Value,
    /// The second predicate of `setp p|q`, or the predicate of `lop3`.
    pub second: Option<Value>,
    pub carry: Option<Value>,
}

const UNKNOWN: u64 = u64::MAX;

fn origins(values: &[Value]) -> Origins {
    values.iter().fold(Origins::NONE, |all, value| all.with(value.origins))
}

/// The result where a single undefined bit spoils everything.
fn mixed(width: u32, sources: &[Value], bits: u64) -> Value {
    let known = sources.iter().all(|source| source.is_known());
    Value::new(width, bits, if known { 0 } else { UNKNOWN }, origins(sources))
}

/// The sum of two numbers and a carry; the carry out of it.
pub(super) fn sum(width: u32, a: Value, b: Value, carry: Value) -> (Value, Value) {
    let (a, b) = (a.cut(width), b.cut(width));
    let total = |a: u64, b: u64, carry: u64| u128::from(a) + u128::from(b) + u128::from(carry);
    let least = total(a.least(), b.least(), carry.least());
    let most = total(a.most(), b.most(), carry.most());
    let exact = total(a.bits, b.bits, carry.bits);
    let from = origins(&[a, b, carry]);
    let undefined = a.undefined | b.undefined | (least ^ most) as u64;
    let out = Value::new(1, (exact >> width) as u64, ((least ^ most) >> width) as u64, from);
    (Value::new(width, exact as u64, undefined, from), out)
}

/// A product of all its bits; those below the lowest one that may change are known.
fn product(a: Value, b: Value, ty: Type) -> (i128, u128, Origins) {
    let number = |value: Value| {
        let bits = value.bits & mask(ty.width);
        if ty.signed { signed(bits, ty.width) } else { i128::from(bits) }
    };
    let zeros = |value: Value| (value.bits | value.undefined).trailing_zeros();
    let first = |unknown: Value, other: Value| match unknown.undefined {
        0 => 128,
        undefined => undefined.trailing_zeros() + zeros(other),
    };
    let zero = (a.is_known() && a.bits == 0) || (b.is_known() && b.bits == 0);
    let lowest = if zero { 128 } else { first(a, b).min(first(b, a)) };
    let undefined = if lowest >= 128 { 0 } else { u128::MAX << lowest };
    (number(a).wrapping_mul(number(b)), undefined, a.origins.with(b.origins))
}

fn multiplied(part: Part, a: Value, b: Value, ty: Type) -> Value {
    let (product, undefined, from) = product(a.cut(ty.width), b.cut(ty.width), ty);
    match part {
        Part::Low => Value::new(ty.width, product as u64, undefined as u64, from),
        Part::High => {
            Value::new(ty.width, (product >> ty.width) as u64, (undefined >> ty.width) as u64, from)
        }
        Part::Wide => Value::new(ty.width * 2, product as u64, undefined as u64, from),
    }
}

fn saturated(width: u32, sources: &[Value], exact: i128) -> Value {
    let limit = 1_i128 << (width - 1);
    mixed(width, sources, exact.clamp(-limit, limit - 1) as u64)
}

/// Whether a comparison holds; a bit.
pub(super) fn compared(comparison: Comparison, a: Value, b: Value, ty: Type) -> Value {
    let (a, b) = (a.cut(ty.width), b.cut(ty.width));
    let both = !(a.undefined | b.undefined) & mask(ty.width);
    let number = |value: Value| if ty.signed { signed(value.bits, ty.width) } else { i128::from(value.bits) };
    let (x, y) = (number(a), number(b));
    let holds = match comparison {
        Comparison::Equal => x == y,
        Comparison::NotEqual => x != y,
        Comparison::Less => x < y,
        Comparison::LessEqual => x <= y,
        Comparison::Greater => x > y,
        Comparison::GreaterEqual => x >= y,
    };
    let ((low_a, high_a), (low_b, high_b)) = (a.range(ty.width, ty.signed), b.range(ty.width, ty.signed));
    let decided = match comparison {
        Comparison::Equal | Comparison::NotEqual => {
            (a.is_known() && b.is_known()) || (a.bits ^ b.bits) & both != 0
        }
        Comparison::Less | Comparison::GreaterEqual => high_a < low_b || low_a >= high_b,
        Comparison::Greater | Comparison::LessEqual => low_a > high_b || high_a <= low_b,
    };
    Value::new(1, u64::from(holds), u64::from(!decided), origins(&[a, b]))
}

pub(super) fn and(width: u32, a: Value, b: Value) -> Value {
    let zero = |value: Value| !value.bits & !value.undefined;
    let undefined = (a.undefined | b.undefined) & !zero(a) & !zero(b);
    Value::new(width, a.bits & b.bits, undefined, a.origins.with(b.origins))
}

pub(super) fn or(width: u32, a: Value, b: Value) -> Value {
    let one = |value: Value| value.bits & !value.undefined;
    let undefined = (a.undefined | b.undefined) & !one(a) & !one(b);
    Value::new(width, a.bits | b.bits, undefined, a.origins.with(b.origins))
}

pub(super) fn xor(width: u32, a: Value, b: Value) -> Value {
    Value::new(width, a.bits ^ b.bits, a.undefined | b.undefined, a.origins.with(b.origins))
}

fn combined(combination: Combination, a: Value, b: Value) -> Value {
    match combination {
        Combination::And => and(1, a, b),
        Combination::Or => or(1, a, b),
        Combination::Xor => xor(1, a, b),
    }
}

/// A bit of a result is known if all the lines of the table that it may be in say the same.
fn lookup(table: u8, a: Value, b: Value, c: Value) -> Value {
    let (mut bits, mut undefined) = (0, 0);
    for place in 0..32 {
        let bit = |value: Value| (value.bits >> place & 1, value.undefined >> place & 1);
        let choices = [bit(a), bit(b), bit(c)];
        let line = |chosen: [u64; 3]| u64::from(table) >> (chosen[0] << 2 | chosen[1] << 1 | chosen[2]) & 1;
        let exact = line(choices.map(|(bit, _)| bit));
        let open = (0..8_u64).any(|flips| {
            let flipped: [u64; 3] =
                std::array::from_fn(|index| choices[index].0 ^ (flips >> index & 1 & choices[index].1));
            line(flipped) != exact
        });
        bits |= exact << place;
        undefined |= u64::from(open) << place;
    }
    Value::new(32, bits, undefined, origins(&[a, b, c]))
}

fn permuted(mode: Permutation, a: Value, b: Value, control: Value) -> Value {
    let wanted = if mode == Permutation::Generic { 0xffff } else { 3 };
    if control.undefined & wanted != 0 {
        return Value::new(32, a.bits, UNKNOWN, origins(&[a, b, control]));
    }
    let bytes = a.cut(32).or_disjoint(b.cut(32).shifted_left(32));
    let select = control.bits & 3;
    let mut result = Value::known(0);
    for place in 0..4_u64 {
        let (index, sign) = match mode {
            Permutation::Generic => {
                (control.bits >> (4 * place) & 7, control.bits >> (4 * place + 3) & 1 == 1)
            }
            Permutation::Forward4 => (select + place, false),
            Permutation::Backward4 => ((8 + select - place) % 8, false),
            Permutation::Replicate8 => (select, false),
            Permutation::ClampLeft => (place.max(select), false),
            Permutation::ClampRight => (place.min(select), false),
            Permutation::Replicate16 => ((select & 1) * 2 + (place & 1), false),
        };
        let byte = bytes.shifted_right(8 * index as u32).cut(8);
        let byte = if sign { byte.shifted_right(7).extended(1, 8, true) } else { byte };
        result = result.or_disjoint(byte.shifted_left(8 * place as u32));
    }
    result
}

/// Shifts; counts above the width are those of the width. With an undefined count nothing is known.
fn shifted(left: bool, a: Value, count: Value, ty: Type) -> Value {
    let a = a.cut(ty.width);
    if !count.cut(32).is_known() {
        let nothing = a.is_known() && a.bits == 0;
        return if nothing { a } else { mixed(ty.width, &[a, count.cut(32)], a.bits) };
    }
    let count = (count.bits & 0xffff_ffff).min(u64::from(ty.width)) as u32;
    if left {
        return a.shifted_left(count).cut(ty.width);
    }
    if !ty.signed {
        return a.shifted_right(count);
    }
    let shift = |bits: u64| (signed(bits, ty.width) >> count) as u64;
    Value::new(ty.width, shift(a.bits), shift(a.undefined), a.origins)
}

fn funnel(left: bool, wrap: bool, low: Value, high: Value, count: Value) -> Value {
    let wanted = if wrap { 31 } else { 0xffff_ffff };
    if count.undefined & wanted != 0 {
        return mixed(32, &[low, high, count], low.bits);
    }
    let count = if wrap { count.bits & 31 } else { (count.bits & wanted).min(32) } as u32;
    let both = low.cut(32).or_disjoint(high.cut(32).shifted_left(32));
    if left { both.shifted_left(count).shifted_right(32) } else { both.shifted_right(count).cut(32) }
}

fn extracted(a: Value, start: Value, length: Value, ty: Type) -> Value {
    let (start, length) = (start.cut(8), length.cut(8));
    if !(start.is_known() && length.is_known()) {
        return mixed(ty.width, &[a, start, length], a.bits);
    }
    let (start, length) = (start.bits as u32, length.bits as u32);
    let a = a.cut(ty.width);
    if length == 0 {
        return Value::known(0);
    }
    let sign = (start + length - 1).min(ty.width - 1);
    let field = a.shifted_right(start).cut(length.min(64));
    if !ty.signed {
        return field;
    }
    let sign = a.shifted_right(sign).cut(1).extended(1, 64, true);
    let here = length.min(ty.width.saturating_sub(start));
    field.cut(here).or_disjoint(sign.shifted_left(here)).cut(ty.width)
}

fn inserted(a: Value, b: Value, start: Value, length: Value, width: u32) -> Value {
    let (start, length) = (start.cut(8), length.cut(8));
    if !(start.is_known() && length.is_known()) {
        return mixed(width, &[a, b, start, length], b.bits);
    }
    let (start, length) = (start.bits as u32, length.bits as u32);
    let field = Value::known(mask(length)).shifted_left(start).bits;
    let keep =
        |value: Value, bits: u64| Value::new(width, value.bits & bits, value.undefined & bits, value.origins);
    keep(a.shifted_left(start), if length == 0 { 0 } else { field })
        .or_disjoint(keep(b, if length == 0 { u64::MAX } else { !field }))
}

fn converted(a: Value, from: Type, to: Type, saturate: bool) -> Value {
    if !saturate {
        return a.extended(from.width, to.width, from.signed);
    }
    let number = if from.signed { signed(a.bits, from.width) } else { i128::from(a.cut(from.width).bits) };
    let (least, most) = if to.signed {
        (-(1_i128 << (to.width - 1)), (1_i128 << (to.width - 1)) - 1)
    } else {
        (0, i128::from(mask(to.width)))
    };
    mixed(to.width, &[a.cut(from.width)], number.clamp(least, most) as u64)
}

/// What the lower or the higher of two is; open where undefined bits decide.
fn extreme(a: Value, b: Value, first: Value, ty: Type) -> Value {
    let (a, b) = (a.cut(ty.width), b.cut(ty.width));
    let chosen = if first.bits == 1 { a } else { b };
    if first.is_known() { chosen } else { mixed(ty.width, &[a, b, first], chosen.bits) }
}

fn count(width: u32, a: Value, counted: impl Fn(u64) -> u32) -> Value {
    let a = a.cut(width);
    // Above its highest bit a count is 0 whatever is counted.
    let undefined = if a.is_known() { 0 } else { 0x7f };
    Value::new(32, u64::from(counted(a.bits)), undefined, a.origins)
}

fn top(a: Value, ty: Type, amount: bool) -> Value {
    let a = a.cut(ty.width);
    let turned =
        if ty.signed && a.bits >> (ty.width - 1) & 1 == 1 { !a.bits & mask(ty.width) } else { a.bits };
    let found = match turned.checked_ilog2() {
        None => 0xffff_ffff,
        Some(place) if amount => u64::from(ty.width - 1 - place),
        Some(place) => u64::from(place),
    };
    mixed(32, &[a], found)
}

/// What an instruction computes; none where it has other sources than are given.
pub(super) fn compute(
    what: Compute,
    ty: Type,
    sources: &[Value],
    same: bool,
    carry: Value,
) -> Option<Computed> {
    let width = ty.width;
    let plain = |result: Value| Some(Computed { result, second: None, carry: None });
    let incoming = |carries: CarryUse| if carries.reads { carry } else { Value::known(0) };
    let number = |value: Value| {
        if ty.signed { signed(value.bits, width) } else { i128::from(value.bits & mask(width)) }
    };
    let with_carry = |(result, out): (Value, Value), carries: CarryUse| {
        Some(Computed { result, second: None, carry: carries.writes.then_some(out) })
    };
    match (what, sources) {
        (Compute::Add { saturate: true, .. }, &[a, b]) => {
            plain(saturated(width, &[a, b], number(a) + number(b)))
        }
        (Compute::Add { carry, .. }, &[a, b]) => with_carry(sum(width, a, b, incoming(carry)), carry),
        (Compute::Subtract { saturate: true, .. }, &[a, b]) => {
            plain(saturated(width, &[a, b], number(a) - number(b)))
        }
        // The hardware adds the complement, so that the flag says that nothing was borrowed.
        (Compute::Subtract { carry, .. }, &[_, _]) if same && !carry.reads => {
            with_carry((Value::known(0), Value::known(1)), carry)
        }
        (Compute::Subtract { carry, .. }, &[a, b]) => {
            let one = if carry.reads { incoming(carry) } else { Value::known(1) };
            with_carry(sum(width, a, b.inverted(width), one), carry)
        }
        (Compute::Multiply(part), &[a, b]) => plain(multiplied(part, a, b, ty)),
        (Compute::MultiplyAdd { part, saturate: true, .. }, &[a, b, c]) => {
            let product = multiplied(part, a, b, ty);
            plain(saturated(width, &[product, c], number(product) + number(c)))
        }
        (Compute::MultiplyAdd { part, carry, .. }, &[a, b, c]) => {
            let width = if part == Part::Wide { width * 2 } else { width };
            with_carry(sum(width, multiplied(part, a, b, ty), c, incoming(carry)), carry)
        }
        (Compute::AbsoluteDifference, &[a, b, c]) => {
            let difference = (number(a) - number(b)).unsigned_abs() as u64;
            plain(mixed(width, &[a, b, c].map(|each| each.cut(width)), difference.wrapping_add(c.bits)))
        }
        // Manual: a division by zero yields an unspecified value.
        (Compute::Divide | Compute::Remainder, &[a, b]) => {
            let (a, b) = (a.cut(width), b.cut(width));
            let (x, y) = (number(a), number(b));
            if y == 0 {
                return plain(Value::new(width, UNKNOWN, UNKNOWN, origins(&[a, b])));
            }
            plain(mixed(width, &[a, b], (if what == Compute::Divide { x / y } else { x % y }) as u64))
        }
        (Compute::Absolute, &[a]) => {
            let a = a.cut(width);
            if a.undefined >> (width - 1) & 1 == 1 {
                return plain(mixed(width, &[a], a.bits));
            }
            let negative = a.bits >> (width - 1) & 1 == 1;
            plain(if negative {
                sum(width, Value::known(0), a.inverted(width), Value::known(1)).0
            } else {
                a
            })
        }
        (Compute::Negate, &[a]) => plain(sum(width, Value::known(0), a.inverted(width), Value::known(1)).0),
        (Compute::Minimum, &[a, b]) => plain(extreme(a, b, compared(Comparison::LessEqual, a, b, ty), ty)),
        (Compute::Maximum, &[a, b]) => plain(extreme(a, b, compared(Comparison::GreaterEqual, a, b, ty), ty)),
        (Compute::PopulationCount, &[a]) => plain(count(width, a, u64::count_ones)),
        (Compute::LeadingZeros, &[a]) => {
            let zeros = |bits: u64| bits.leading_zeros() - (64 - width);
            let a = a.cut(width);
            // A defined 1 above all undefined bits decides.
            let decided = a.least().leading_zeros() <= a.undefined.leading_zeros();
            plain(if decided { Value::known(u64::from(zeros(a.bits))) } else { count(width, a, zeros) })
        }
        (Compute::FindTop { amount }, &[a]) => plain(top(a, ty, amount)),
        (Compute::Reverse, &[a]) => {
            let turn = |bits: u64| (bits & mask(width)).reverse_bits() >> (64 - width);
            plain(Value::new(width, turn(a.bits), turn(a.undefined), a.origins))
        }
        (Compute::Extract, &[a, start, length]) => plain(extracted(a, start, length, ty)),
        (Compute::Insert, &[a, b, start, length]) => plain(inserted(a, b, start, length, width)),
        (Compute::And, &[a, b]) => plain(and(width, a, b)),
        (Compute::Or, &[a, b]) => plain(or(width, a, b)),
        (Compute::Xor, &[_, _]) if same => plain(Value::known(0)),
        (Compute::Xor, &[a, b]) => plain(xor(width, a, b)),
        (Compute::Not, &[a]) => plain(a.inverted(width)),
        (Compute::LogicalNot, &[a]) => {
            let zero = compared(Comparison::Equal, a, Value::known(0), ty);
            plain(zero)
        }
        (Compute::Lookup { table, combination }, &[a, b, c, ref rest @ ..]) => {
            let result = lookup(table, a, b, c);
            let unsigned = Type { width: 32, signed: false };
            let some = compared(Comparison::NotEqual, result, Value::known(0), unsigned);
            let second = match (combination, rest) {
                (None, []) => None,
                (Some(combination), [predicate]) => Some(combined(combination, some, *predicate)),
                _ => return None,
            };
            Some(Computed { result, second, carry: None })
        }
        (Compute::Funnel { left, wrap }, &[low, high, count]) => plain(funnel(left, wrap, low, high, count)),
        (Compute::ShiftLeft, &[a, count]) => plain(shifted(true, a, count, ty)),
        (Compute::ShiftRight, &[a, count]) => plain(shifted(false, a, count, ty)),
        (Compute::Permute(mode), &[a, b, control]) => plain(permuted(mode, a, b, control)),
        (
            Compute::SetPredicate { comparison, combination } | Compute::Set { comparison, combination, .. },
            &[a, b, ref rest @ ..],
        ) => {
            let holds = match same {
                // A value is what it is, even if nobody knows which.
                true => Value::flag(matches!(
                    comparison,
                    Comparison::Equal | Comparison::LessEqual | Comparison::GreaterEqual
                )),
                false => compared(comparison, a, b, ty),
            };
            let (result, second) = match (combination, rest) {
                (None, []) => (holds, holds.inverted(1)),
                (Some(how), [predicate]) => {
                    (combined(how, holds, *predicate), combined(how, holds.inverted(1), *predicate))
                }
                _ => return None,
            };
            match what {
                Compute::Set { width, .. } => plain(result.extended(1, width, true)),
                _ => Some(Computed { result, second: Some(second), carry: None }),
            }
        }
        (Compute::Select, &[a, b, predicate]) => {
            let (a, b) = (a.cut(width), b.cut(width));
            if let Some(chosen) = predicate.number() {
                return plain(if chosen == 1 { a } else { b });
            }
            let chosen = if predicate.bits == 1 { a } else { b };
            let undefined = a.undefined | b.undefined | (a.bits ^ b.bits);
            plain(Value::new(width, chosen.bits, undefined, origins(&[a, b, predicate])))
        }
        (Compute::Convert { from, saturate }, &[a]) => plain(converted(a, from, ty, saturate)),
        _ => None,
    }
}
