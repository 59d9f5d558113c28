//! Functions of CUDA that make vectors, take numbers for others with the same bits, and count bits.

use std::rc::Rc;

use ptx_syntax::cuda::body::{FloatKind, vector};

use super::types::Ty;
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

impl Lowering<'_, '_> {
    /// What such a function gives; none where the name is no such.
    pub(super) fn of_bits(&mut self, name: &str, values: &[Value]) -> Result<Option<Value>, Unclear> {
        if let Some(named) = name.strip_prefix("make_").and_then(vector) {
            let Ty::Vector(of, count) = self.ty(&named)? else { return Err(Unclear) };
            if values.len() != count as usize {
                return Err(Unclear);
            }
            // They are copies.
            let mut parts = Vec::new();
            for value in values {
                let part = self.made(&of)?;
                self.write(&part, value.clone())?;
                parts.push(part);
            }
            let ty = Ty::Vector(of, count);
            return Ok(Some(Value { ty: ty.clone(), held: Held::Place(Rc::new(Place::Parts(parts, ty))) }));
        }
        match (name, values) {
            (_, [value]) if let Some((from, to)) = reinterpretation(name) => {
                let value = self.converted(value.clone(), &from)?;
                let is_known = matches!(value.held, Held::Register(_) | Held::Constant(_));
                let held = if is_known { value.held } else { Held::Unknown };
                Ok(Some(Value { ty: to, held }))
            }
            ("__popc" | "__clz" | "__brev" | "__ffs", [value]) => {
                self.counted_bits(name, value, 32).map(Some)
            }
            ("__popcll" | "__clzll" | "__brevll" | "__ffsll", [value]) => {
                self.counted_bits(name.trim_end_matches("ll"), value, 64).map(Some)
            }
            ("abs" | "labs" | "llabs", [value]) if let Ty::Integer { bits, .. } = value.ty => {
                let bits = bits.max(32);
                let ty = Ty::Integer { bits, signed: true, is_bool: false };
                let value = self.converted(value.clone(), &ty)?;
                if matches!(value.held, Held::Unknown) {
                    return Ok(Some(value));
                }
                let from = self.operand(&value, bits)?;
                let to = self.fresh(bits)?;
                self.emit(&format!("abs.s{bits} {}, {from};", to.name()));
                Ok(Some(Value { ty, held: Held::Register(to) }))
            }
            ("__umulhi" | "__mulhi", [one, other]) => {
                let ty = if name == "__umulhi" { Ty::UINT } else { Ty::INT };
                let sign = if name == "__umulhi" { 'u' } else { 's' };
                let one = self.converted(one.clone(), &ty)?;
                let other = self.converted(other.clone(), &ty)?;
                let (one, other) = (self.operand(&one, 32)?, self.operand(&other, 32)?);
                let to = self.fresh(32)?;
                self.emit(&format!("mul.hi.{sign}32 {}, {one}, {other};", to.name()));
                Ok(Some(Value { ty, held: Held::Register(to) }))
            }
            ("__byte_perm", [one, other, chosen]) => {
                let mut operands = Vec::new();
                for value in [one, other, chosen] {
                    let value = self.converted(value.clone(), &Ty::UINT)?;
                    operands.push(self.operand(&value, 32)?);
                }
                let to = self.fresh(32)?;
                self.emit(&format!("prmt.b32 {}, {};", to.name(), operands.join(", ")));
                Ok(Some(Value { ty: Ty::UINT, held: Held::Register(to) }))
            }
            _ => Ok(None),
        }
    }

    /// Functions that count the bits of a number, or turn them around.
    fn counted_bits(&mut self, name: &str, value: &Value, bits: u32) -> Result<Value, Unclear> {
        let whole = Ty::Integer { bits, signed: false, is_bool: false };
        let is_turned = name == "__brev";
        let ty = if is_turned { whole.clone() } else { Ty::INT };
        let value = self.converted(value.clone(), &whole)?;
        if let Some(number) = value.number() {
            let unused = 64 - bits;
            let number = match name {
                "__popc" => u64::from(number.count_ones()),
                "__clz" => u64::from(number.leading_zeros() - unused),
                "__brev" => number.reverse_bits() >> unused,
                _ if number == 0 => 0,
                _ => u64::from(number.trailing_zeros() + 1),
            };
            return Ok(Value::constant(number, ty));
        }
        if !matches!(value.held, Held::Register(_)) {
            return Ok(Value::unknown(ty));
        }
        let from = self.operand(&value, bits)?;
        let turned = match name {
            "__brev" | "__ffs" => {
                let to = self.fresh(bits)?;
                self.emit(&format!("brev.b{bits} {}, {from};", to.name()));
                Some(to)
            }
            _ => None,
        };
        if let Some(turned) = turned.filter(|_| is_turned) {
            return Ok(Value { ty, held: Held::Register(turned) });
        }
        let from = turned.map_or(from, super::value::Register::name);
        let to = self.fresh(32)?;
        let opcode = if name == "__popc" { "popc" } else { "clz" };
        self.emit(&format!("{opcode}.b{bits} {}, {from};", to.name()));
        let counted = Value { ty: Ty::INT, held: Held::Register(to) };
        if name != "__ffs" {
            return Ok(counted);
        }
        // Of 0 it is 0.
        let place = self.computed("+", counted, Value::constant(1, Ty::INT))?;
        let (place, first, none) = (self.operand(&place, 32)?, self.fresh(32)?, self.predicate()?);
        self.emit(&format!("setp.eq.u{bits} %c_p{none}, {from}, 0;"));
        self.emit(&format!("selp.b32 {}, 0, {place}, %c_p{none};", first.name()));
        Ok(Value { ty: Ty::INT, held: Held::Register(first) })
    }
}

/// The limits of integers that the headers of C name: the bits of the type, and whether it has a sign.
const LIMITS: [(&str, u32, bool); 15] = [
    ("CHAR", 8, true),
    ("SHRT", 16, true),
    ("INT", 32, true),
    ("LONG", 64, true),
    ("LLONG", 64, true),
    ("INT8", 8, true),
    ("INT16", 16, true),
    ("INT32", 32, true),
    ("INT64", 64, true),
    ("SIZE", 64, false),
    ("USHRT", 16, false),
    ("UINT", 32, false),
    ("ULLONG", 64, false),
    ("UINT32", 32, false),
    ("UINT64", 64, false),
];

/// The number that such a name stands for: `INT_MAX`.
pub(super) fn limit(name: &str) -> Option<Value> {
    if name == "CHAR_BIT" {
        return Some(Value::constant(8, Ty::INT));
    }
    let (of, end) = name.rsplit_once('_')?;
    let (_, bits, signed) = *LIMITS.iter().find(|(known, ..)| *known == of)?;
    let ty = Ty::Integer { bits: bits.max(32), signed, is_bool: false };
    let all = u64::MAX >> (64 - bits);
    let most = if signed { all >> 1 } else { all };
    match end {
        "MAX" => Some(Value::constant(most, ty)),
        "MIN" if signed => Some(Value::constant((!most) & (u64::MAX >> (64 - bits.max(32))), ty)),
        _ => None,
    }
}

/// What a function that takes bits for another type gets and gives.
fn reinterpretation(name: &str) -> Option<(Ty, Ty)> {
    let integer = |bits, signed| Ty::Integer { bits, signed, is_bool: false };
    let (from, to) = name.strip_prefix("__")?.split_once("_as_")?;
    let of = |word: &str| {
        Some(match word {
            "float" => Ty::FLOAT,
            "double" => Ty::Float(64, FloatKind::Plain),
            "half" => Ty::Float(16, FloatKind::Half),
            "bfloat16" => Ty::Float(16, FloatKind::BFloat),
            "uint" => integer(32, false),
            "int" => integer(32, true),
            "longlong" => integer(64, true),
            "ushort" => integer(16, false),
            "short" => integer(16, true),
            _ => return None,
        })
    };
    let (from, to) = (of(from)?, of(to)?);
    // Smaller ones are extended as their type says.
    let has_sign = |ty: &Ty| matches!(ty, Ty::Integer { bits: 16, signed: true, .. });
    (from.size() == to.size() && !has_sign(&from) && !has_sign(&to)).then_some((from, to))
}
