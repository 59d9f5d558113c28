//! Constants, told in the other ways to write them.

/// What a constant is worth, as Markdown; none where that is plain.
pub fn markdown(text: &str) -> Option<String> {
    if let Some(value) = float(text) {
        return Some(format!("```ptx\n{text}\n```\n= **{value}**"));
    }
    let (digits, unsigned) = text.strip_suffix('U').map_or((text, false), |digits| (digits, true));
    let value = integer(digits)?;
    let signed = value.cast_signed();
    let mut lines = vec![format!("{value}"), format!("0x{value:X}")];
    let narrow = u32::try_from(value).ok();
    if signed < 0 && !unsigned {
        lines.push(format!("{signed} as `.s64`"));
    } else if let Some(narrow) = narrow.map(u32::cast_signed).filter(|narrow| *narrow < 0) {
        lines.push(format!("{narrow} as `.s32`"));
    }
    if value.is_power_of_two() && value > 8 {
        lines.push(format!("2^{}", value.trailing_zeros()));
    }
    if let Some(bits) = narrow.filter(|bits| looks_like_float(*bits)) {
        lines.push(format!(
            "{} as `.f32`",
            short(f64::from(f32::from_bits(bits)), f32::from_bits(bits).to_string())
        ));
    }
    Some(format!("```ptx\n{text}\n```\n= {}", lines.join(" = ")))
}

/// The value of a number in hexadecimal digits: `1.0` for `0f3F800000`.
pub fn float(text: &str) -> Option<String> {
    let (prefix, digits) = text.split_at_checked(2)?;
    match (prefix, digits.len()) {
        ("0f" | "0F", 8) => {
            let value = f32::from_bits(u32::from_str_radix(digits, 16).ok()?);
            Some(short(f64::from(value), format!("{value:?}")))
        }
        ("0d" | "0D", 16) => {
            let value = f64::from_bits(u64::from_str_radix(digits, 16).ok()?);
            Some(short(value, format!("{value:?}")))
        }
        _ => None,
    }
}

fn short(value: f64, text: String) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "−∞".to_owned() } else { "+∞".to_owned() };
    }
    if text.len() > 24 { format!("{value:e}") } else { text }
}

/// Whether 32 bits are what programs write for a number with a point: one of a size that people use, with few digits.
fn looks_like_float(bits: u32) -> bool {
    let value = f32::from_bits(bits).abs();
    (1e-6..1e9).contains(&value) && bits & 0xfff == 0
}

fn integer(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = text.strip_prefix("0b").or(text.strip_prefix("0B")) {
        return u64::from_str_radix(digits, 2).ok();
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => u64::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{float, markdown};

    #[test]
    fn hexadecimal_floats_are_told_as_decimals() {
        for (text, value) in [
            ("0f3F800000", "1.0"),
            ("0fBF000000", "-0.5"),
            ("0F7F800000", "+∞"),
            ("0fFF800000", "−∞"),
            ("0f7FFFFFFF", "NaN"),
            ("0d3FF0000000000000", "1.0"),
            ("0f3DCCCCCD", "0.1"),
            ("0f00000001", "1e-45"),
        ] {
            assert_eq!(float(text).as_deref(), Some(value), "{text}");
        }
        for text in ["", "0f", "0f3F80000", "0fé", "12345678", "0dzzzzzzzzzzzzzzzz"] {
            assert_eq!(float(text), None, "{text}");
        }
    }

    #[test]
    fn integers_are_told_in_both_bases() {
        let told = |text: &str| markdown(text).unwrap_or_default();
        assert!(
            told("0xFFFFFFFF").contains("4294967295 = 0xFFFFFFFF = -1 as `.s32`"),
            "{}",
            told("0xFFFFFFFF")
        );
        assert!(told("1065353216").contains("1 as `.f32`"), "{}", told("1065353216"));
        assert!(told("010").contains("8 = 0x8"));
        assert!(told("0b101U").contains("5 = 0x5"));
        assert!(told("4096").contains("2^12"));
        assert_eq!(markdown("99999999999999999999999"), None);
        assert_eq!(markdown("0q"), None);
    }
}
