//! Numbers in their one canonical form.
//!
//! PTX ISA manual, "Syntax: Constants". NVIDIA's assembler reads a decimal constant as a double and rounds
//! that to the type of the instruction; a `0f` constant where a double is wanted it takes as raw bits. So a
//! decimal may be printed as the bits of the type it is used as, and bits stay as they are.

use ptx_ir::types::Type;

/// An integer, in decimal.
pub(super) fn integer(bits: u64, negative: bool) -> String {
    if negative { format!("-{}", (bits as i64).unsigned_abs()) } else { bits.to_string() }
}

/// The bits of a single.
pub(super) fn single(bits: u32) -> String {
    format!("0f{bits:08X}")
}

/// The bits of a double.
pub(super) fn double(bits: u64) -> String {
    format!("0d{bits:016X}")
}

/// A decimal constant that is used as a `ty`. Where the type does not fix what the assembler makes of it,
/// it stays decimal, with the fewest digits that give the same double.
pub(super) fn decimal(value: f64, ty: Option<Type>) -> String {
    match ty {
        Some(Type::F32) if (value as f32).is_finite() => single((value as f32).to_bits()),
        Some(Type::F64) => double(value.to_bits()),
        _ if value.is_finite() => format!("{value:?}"),
        _ => double(value.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::{decimal, integer};
    use ptx_ir::types::Type;

    #[test]
    fn integers_are_decimal() {
        assert_eq!(integer(5, false), "5");
        assert_eq!(integer(u64::MAX, true), "-1");
        assert_eq!(integer(u64::MAX, false), "18446744073709551615");
        assert_eq!(integer(1 << 63, true), "-9223372036854775808");
    }

    #[test]
    fn decimals_become_the_bits_of_their_type() {
        assert_eq!(decimal(1.5, Some(Type::F32)), "0f3FC00000");
        assert_eq!(decimal(-0.0, Some(Type::F32)), "0f80000000");
        assert_eq!(decimal(0.1, Some(Type::F64)), "0d3FB999999999999A");
        // As the assembler does, by way of the double: straight from the text it would be `0f3F800001`.
        let halfway = 1.000_000_178_813_934_3;
        assert_eq!(decimal(halfway, Some(Type::F32)), "0f3F800002");
    }

    #[test]
    fn decimals_without_a_type_stay_exact() {
        for value in [0.1, 1e300, -2.5e-7, 5e-324, 1e21, 3.0] {
            let text = decimal(value, None);
            assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
            assert!(text.contains(['.', 'e']), "{text} is no integer");
        }
        assert_eq!(decimal(f64::INFINITY, None), "0d7FF0000000000000");
    }
}
