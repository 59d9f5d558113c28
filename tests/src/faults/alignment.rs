//! Offsets of addresses in registers that are moved out of alignment. What the address is a multiple of is worked out
//! from the text, by a small arithmetic of remainders of its own.

use super::text::{Function, Statement, mentions};
use super::{Fault, Kind};

/// A number as far as it is known: its remainder modulo a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    remainder: u64,
    modulus: u64,
}

impl Known {
    const NOTHING: Self = Self { remainder: 0, modulus: 1 };
    const MAX: u64 = 1 << 32;

    const fn constant(value: u64) -> Self {
        Self { remainder: value % Self::MAX, modulus: Self::MAX }
    }

    fn new(remainder: u64, modulus: u64) -> Self {
        let modulus = modulus.clamp(1, Self::MAX);
        Self { remainder: remainder % modulus, modulus }
    }

    fn add(self, other: Self) -> Self {
        Self::new(self.remainder + other.remainder, self.modulus.min(other.modulus))
    }

    fn times(self, factor: u64) -> Self {
        // What is a multiple of the factor keeps the zeros of it.
        let zeros = 1_u64.checked_shl(factor.trailing_zeros().min(32)).unwrap_or(1);
        Self::new(self.remainder.wrapping_mul(factor) % Self::MAX, self.modulus.saturating_mul(zeros))
    }

    /// What holds for both.
    fn join(self, other: Self) -> Self {
        let mut modulus = self.modulus.min(other.modulus);
        while self.remainder % modulus != other.remainder % modulus {
            modulus /= 2;
        }
        Self::new(self.remainder, modulus)
    }
}

/// Registers are followed so far.
const MAX_DEPTH: usize = 12;

/// All accesses at a register whose misalignment by one byte can be shown.
pub(super) fn misalign(function: &Function<'_>) -> Vec<Fault> {
    let accesses =
        function.statements.iter().filter(|each| matches!(each.root(), "ld" | "st" | "atom" | "red"));
    let mut found = Vec::new();
    for access in accesses.filter(|each| !each.has("param")) {
        let Some((before, rest)) = access.operands.split_once('[') else { continue };
        let Some((address, _)) = rest.split_once(']') else { continue };
        let (base, offset) = address.split_once('+').unwrap_or((address, "0"));
        let (base, Ok(offset)) = (base.trim(), offset.trim().parse::<i64>()) else { continue };
        let known = value(function, base, MAX_DEPTH, &mut Vec::new());
        let size = element(access);
        // Where the base has a known odd byte already, one more may mend it.
        let moved = known.add(Known::constant(offset as u64)).add(Known::constant(1));
        if !base.starts_with('%')
            || size < 2
            || known.modulus < 2
            || moved.remainder.is_multiple_of(moved.modulus.min(size))
        {
            continue;
        }
        let old = format!("{before}[{address}]");
        let new = format!("{before}[{base}+{}]", offset + 1);
        let line = function.lines[access.line].replacen(&old, &new, 1);
        if line != function.lines[access.line] {
            found.push(function.with(Kind::MisalignRegister, &[access.line], &[(access.line, line)], false));
        }
    }
    found
}

/// The size of an element in bytes: vectors are aligned to more.
fn element(access: &Statement<'_>) -> u64 {
    let bits = access.opcode.split('.').rev().find_map(|word| {
        let digits = word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let letters = &word[..word.len() - digits.len()];
        matches!(letters, "b" | "u" | "s" | "f").then(|| digits.parse::<u64>().ok()).flatten()
    });
    bits.unwrap_or(8) / 8
}

/// What is known of an operand.
fn value(function: &Function<'_>, operand: &str, depth: usize, open: &mut Vec<String>) -> Known {
    if let Ok(number) = operand.parse::<i64>() {
        return Known::constant(number as u64);
    }
    if !operand.starts_with('%') {
        return variable(function, operand);
    }
    if depth == 0 || operand.contains('.') {
        return Known::NOTHING;
    }
    // A register that is computed of itself keeps what the rest of its writes agree on.
    if open.iter().any(|each| each == operand) {
        return Known::NOTHING;
    }
    let writers: Vec<&Statement<'_>> =
        function.statements.iter().filter(|each| each.result() == Some(operand)).collect();
    if writers.is_empty() || writers.len() != function.writes(operand) || writers.len() > 3 {
        return Known::NOTHING;
    }
    open.push(operand.to_owned());
    let steps: Option<Vec<Step>> =
        writers.iter().map(|writer| step(function, writer, operand, depth - 1, open)).collect();
    open.pop();
    let mut known: Option<Known> = None;
    let mut distance = Known::MAX;
    for each in steps.unwrap_or_default() {
        match each {
            Step::Value(value) => known = Some(known.map_or(value, |known| known.join(value))),
            Step::By(by) => distance = distance.min(1 << by.trailing_zeros().min(32)),
        }
    }
    known.map_or(Known::NOTHING, |known| Known::new(known.remainder, known.modulus.min(distance)))
}

/// What a statement gives its result.
enum Step {
    /// This.
    Value(Known),
    /// Its old value and this.
    By(u64),
}

/// The step of a statement; none where nothing is known.
fn step(
    function: &Function<'_>,
    writer: &Statement<'_>,
    result: &str,
    depth: usize,
    open: &mut Vec<String>,
) -> Option<Step> {
    if writer.operands.contains(['{', '[', '(']) {
        return None;
    }
    let operands: Vec<&str> = writer.operands.split(',').map(str::trim).collect();
    let mut of = |index: usize| value(function, operands[index], depth, open);
    let wide = writer.has("wide") || writer.has("lo");
    let known = match (writer.root(), operands.len()) {
        ("mov", 2) | ("cvta", _) if operands.len() == 2 => of(1),
        // A step of a loop keeps what its distance is a multiple of.
        ("add", 3) if operands[1] == result => return Some(Step::By(operands[2].parse::<u64>().ok()?)),
        ("add", 3) => of(1).add(of(2)),
        ("mul", 3) if wide => {
            let factor = operands[2].parse::<u64>().ok()?;
            of(1).times(factor)
        }
        ("mad", 4) if wide => {
            let factor = operands[2].parse::<u64>().ok()?;
            let product = of(1).times(factor);
            product.add(of(3))
        }
        ("shl", 3) => {
            let by = operands[2].parse::<u32>().ok().filter(|by| *by < 32)?;
            of(1).times(1 << by)
        }
        ("and", 3) => {
            let mask = operands[2].parse::<i64>().ok()? as u64;
            // The zeros at the end of the mask are zeros of the result.
            Known::new(0, 1_u64.checked_shl(mask.trailing_zeros().min(32)).unwrap_or(1))
        }
        _ => return None,
    };
    Some(Step::Value(known))
}

/// What is known of the address of a variable: its alignment.
fn variable(function: &Function<'_>, name: &str) -> Known {
    let spaces = [".shared", ".global", ".const", ".local"];
    let declared = function.lines.iter().find(|line| {
        let text = line.trim_start();
        mentions(line, name)
            && (text.starts_with('.') && spaces.iter().any(|space| text.contains(space)))
            && !text.contains(".func")
            && !text.contains(".entry")
    });
    let Some(declared) = declared else { return Known::NOTHING };
    let words: Vec<&str> = declared.split_whitespace().collect();
    let aligned = words.windows(2).find(|pair| pair[0] == ".align").and_then(|pair| pair[1].parse().ok());
    Known::new(0, aligned.unwrap_or(1))
}
