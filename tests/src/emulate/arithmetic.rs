//! What integer instructions compute.

use super::Value;

/// The widths in bits of the result and of the sources, and whether they have a sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Types {
    result: u32,
    source: u32,
    signed: bool,
}

impl Types {
    /// Of an instruction; none if its last part is no type.
    pub(super) fn of(opcode: &[String]) -> Option<Self> {
        let (source, signed) = width(opcode.last()?)?;
        let converts = opcode[0] == "cvt";
        let result = match opcode[opcode.len() - 2].as_str() {
            "wide" => source * 2,
            before if converts => width(before)?.0,
            _ => source,
        };
        Some(Self { result, source, signed })
    }
}

fn width(ty: &str) -> Option<(u32, bool)> {
    match ty {
        "pred" => Some((1, false)),
        _ => Some((ty.get(1..)?.parse().ok()?, ty.starts_with('s'))),
    }
}

const fn cut(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// With the sign, or without, in 128 bits.
const fn widened(value: u64, types: Types) -> i128 {
    let value = cut(value, types.source);
    let negative = types.signed && value >> (types.source - 1) & 1 == 1;
    if negative { value as i128 - (1 << types.source) } else { value as i128 }
}

/// The result and the carry that `.cc` leaves; none where the instruction is not known.
pub(super) fn compute(
    opcode: &[String],
    types: Types,
    values: &[Value],
    carry: Option<bool>,
) -> Option<(Value, Option<bool>)> {
    let has = |modifier: &str| opcode[1..].iter().any(|part| part == modifier);
    let whole = |value: Value| value.map(|value| widened(value, types));
    let bits = |value: Option<i128>| value.map(|value| cut(value as u64, types.result));
    let plain = |value: Option<i128>| Some((bits(value), None));
    let both = |f: fn(i128, i128) -> i128| match values {
        [a, b] => plain(whole(*a).zip(whole(*b)).map(|(a, b)| f(a, b))),
        _ => None,
    };
    // Sums are of values without a sign, so that what does not fit is the carry.
    let cut_to_source = |value: Value| value.map(|value| i128::from(cut(value, types.source)));
    let sum = |terms: &[Option<i128>], with: Option<i128>| {
        let total = terms.iter().copied().chain([with]).try_fold(0, |sum, term| Some(sum + term?));
        let out = total.map(|total: i128| !(0..1 << types.result).contains(&total));
        Some((bits(total), out))
    };
    let carried =
        if matches!(opcode[0].as_str(), "addc" | "subc" | "madc") { carry.map(i128::from) } else { Some(0) };
    match (opcode[0].as_str(), values) {
        ("mov" | "cvta" | "cvt", [a]) => plain(whole(*a)),
        ("add" | "addc", [a, b]) => sum(&[cut_to_source(*a), cut_to_source(*b)], carried),
        ("sub" | "subc", [a, b]) => {
            sum(&[cut_to_source(*a), cut_to_source(*b).map(|b| -b)], carried.map(|carry| -carry))
        }
        ("mul", [a, b]) => plain(product(whole(*a), whole(*b), has("hi"), types)),
        ("mad" | "madc", [a, b, c]) => {
            let product = product(whole(*a), whole(*b), has("hi"), types);
            let c = c.map(|c| i128::from(cut(c, types.result)));
            sum(&[bits(product).map(i128::from), c], carried)
        }
        ("and", _) => both(|a, b| a & b),
        ("or", _) => both(|a, b| a | b),
        ("xor", _) => both(|a, b| a ^ b),
        ("min", _) => both(Ord::min),
        ("max", _) => both(Ord::max),
        ("not", [a]) => plain(whole(*a).map(|a| !a)),
        ("neg", [a]) => plain(whole(*a).map(|a| -a)),
        ("shl", [a, b]) => plain(whole(*a).zip(*b).map(|(a, b)| if b < 64 { a << b } else { 0 })),
        ("shr", [a, b]) => plain(whole(*a).zip(*b).map(|(a, b)| a >> b.min(64))),
        ("setp", [a, b]) => {
            let holds = whole(*a).zip(whole(*b)).map(|(a, b)| compared(&opcode[1], a, b));
            let holds = match holds {
                Some(known) => Some(known?),
                None => None,
            };
            Some((holds.map(u64::from), None))
        }
        ("selp", [a, b, p]) => Some((p.and_then(|p| if p != 0 { *a } else { *b }), None)),
        _ => None,
    }
}

fn product(a: Option<i128>, b: Option<i128>, high: bool, types: Types) -> Option<i128> {
    let product = a?.wrapping_mul(b?);
    Some(if high { product >> types.source } else { product })
}

fn compared(how: &str, a: i128, b: i128) -> Option<bool> {
    Some(match how {
        "eq" => a == b,
        "ne" => a != b,
        "lt" | "lo" => a < b,
        "le" | "ls" => a <= b,
        "gt" | "hi" => a > b,
        "ge" | "hs" => a >= b,
        _ => return None,
    })
}
