//! Probes that do not come from the table: a generator that reads only our own table cannot find what it lacks.
//!
//! The folder with the facts of the ISA lies beside the checkout (`../shared/spec`). `type-matrix.tsv` names an
//! instruction, one of its operands, and what to put there; `instructions.json` has an example of every form and
//! the values of its modifiers. What `ptxas` thinks of each line is asked anew.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::generate::Probe;
use super::random::Random;

/// What is put in the place of an operand.
const OPERANDS: [(&str, &str); 40] = [
    ("pred", "%p5"),
    ("b8", "%c5"),
    ("u8", "%uc5"),
    ("s8", "%sc5"),
    ("b16", "%h5"),
    ("u16", "%uh5"),
    ("s16", "%sh5"),
    ("f16", "%hf5"),
    ("f16x2", "%hx5"),
    ("b32", "%r5"),
    ("u32", "%ur5"),
    ("s32", "%sr5"),
    ("f32", "%f5"),
    ("b64", "%d5"),
    ("u64", "%ud5"),
    ("s64", "%sd5"),
    ("f64", "%fd5"),
    ("b128", "%q5"),
    ("imm", "5"),
    ("imm_neg", "-5"),
    ("dec", "1.5"),
    ("0f", "0f3f800000"),
    ("0d", "0d3ff0000000000000"),
    ("sreg32", "%laneid"),
    ("sreg64", "%clock64"),
    ("symaddr", "gvar"),
    ("sink", "_"),
    ("WARP_SZ", "WARP_SZ"),
    ("paramname", "kp"),
    ("zero", "0"),
    ("large", "4294967295"),
    ("offset", "gvar+4"),
    ("shared", "svar"),
    ("address", "[%d5]"),
    ("narrow address", "[%r5]"),
    ("shared address", "[svar]"),
    ("global address", "[gvar+8]"),
    ("negated", "!%p5"),
    ("two", "{%r5,%r6}"),
    ("four", "{%r5,%r6,%r7,%r8}"),
];

fn token(kind: &str) -> Option<&'static str> {
    OPERANDS.iter().find(|(name, _)| *name == kind).map(|(_, text)| *text)
}

/// All cells of `type-matrix.tsv`.
///
/// # Errors
/// The file cannot be read.
pub fn type_matrix(folder: &Path) -> io::Result<Vec<Probe>> {
    let text = std::fs::read_to_string(folder.join("type-matrix.tsv"))?;
    Ok(text.lines().skip(1).filter_map(cell).collect())
}

/// One line: the instruction with its operands as `{role:type}`, the role that is replaced, its type, and by what.
fn cell(line: &str) -> Option<Probe> {
    let mut fields = line.split('\t');
    let (instruction, role, _, kind) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let replacement = token(kind)?;
    let text = instruction.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut line = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find('{') {
        let end = start + rest[start..].find('}')?;
        let (name, ty) = rest[start + 1..end].split_once(':')?;
        line.push_str(&rest[..start]);
        line.push_str(if name == role { replacement } else { token(ty)? });
        rest = &rest[end + 1..];
    }
    line.push_str(rest);
    let line = variables(&line).replace('\u{1}', "{").replace('\u{2}', "}").replace("pout", "pa0");
    let place = instruction.split_whitespace().next()?.to_owned();
    Some(Probe { line: format!("{};", line.replace("[pin]", "[kp]")), kind: "type", place, form: None })
}

/// Replaces `v_b32_0` by a register of that type.
fn variables(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("v_") {
        text.push_str(&rest[..start]);
        let end = rest[start..]
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .map_or(rest.len(), |end| start + end);
        let ty = rest[start + 2..end].split('_').next().unwrap_or_default();
        text.push_str(token(ty).unwrap_or("%r5"));
        rest = &rest[end..];
    }
    text + rest
}

/// The examples of `instructions.json`, and of each the same with another operand and with other modifiers.
///
/// # Errors
/// The file cannot be read, or is no JSON.
pub fn instructions(folder: &Path, random: &mut Random) -> io::Result<Vec<Probe>> {
    let file = std::fs::File::open(folder.join("instructions.json"))?;
    let root: Value = serde_json::from_reader(io::BufReader::new(file))?;
    let mut probes = Vec::new();
    for family in list(&root["families"]) {
        for form in list(&family["forms"]) {
            variations(form, random, &mut probes);
        }
    }
    Ok(probes)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// An example in parts: guard, spelling, operands.
struct Example<'a> {
    guard: &'a str,
    spelling: &'a str,
    operands: Vec<&'a str>,
}

impl<'a> Example<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim().strip_suffix(';')?;
        let (guard, rest) = match text.starts_with('@') {
            true => text.split_once(' ')?,
            false => ("", text),
        };
        let (spelling, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(Self { guard, spelling, operands: top_level(operands) })
    }

    fn text(&self, spelling: &str, operands: &[&str]) -> String {
        let gap = if self.guard.is_empty() { "" } else { " " };
        format!("{}{gap}{spelling} {};", self.guard, operands.join(", "))
    }
}

/// Cuts operands at the commas outside brackets.
fn top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

fn variations(form: &Value, random: &mut Random, probes: &mut Vec<Probe>) {
    let Some(example) = form["example"].as_str().and_then(Example::parse) else { return };
    let place = format!("instructions.json {}", form["id"]);
    let mut add = |line: String, kind: &'static str| {
        probes.push(Probe { line, kind, place: place.clone(), form: None });
    };
    let Example { spelling, operands, .. } = &example;
    add(example.text(spelling, operands), "legal");
    for index in 0..operands.len() {
        for (_, replacement) in OPERANDS {
            let mut other = operands.clone();
            other[index] = replacement;
            add(example.text(spelling, &other), "operand");
        }
    }
    for spelling in spellings(form, spelling, random) {
        add(example.text(&spelling, operands), "modifiers");
    }
}

/// The spelling with each value of each modifier in the place of the one that it has, and a few random choices.
fn spellings(form: &Value, spelling: &str, random: &mut Random) -> Vec<String> {
    let slots: Vec<(Vec<&str>, bool)> = list(&form["modifiers"])
        .iter()
        .map(|slot| {
            let values = list(&slot["values"]).iter().filter_map(Value::as_str).collect();
            (values, slot["optional"].as_bool().unwrap_or(false))
        })
        .collect();
    let mut found = Vec::new();
    for (values, optional) in &slots {
        let Some(present) = values.iter().find(|value| has(spelling, value)) else { continue };
        for value in values {
            found.push(spelling.replacen(present, value, 1));
        }
        if *optional {
            found.push(spelling.replacen(present, "", 1));
        }
    }
    let root = spelling.split('.').next().unwrap_or(spelling);
    for _ in 0..12 {
        let mut text = root.to_owned();
        for (values, optional) in &slots {
            if !*optional || random.once_in(2) {
                text.push_str(random.pick(values).copied().unwrap_or_default());
            }
        }
        found.push(text);
    }
    found.retain(|text| text != spelling);
    found.sort();
    found.dedup();
    found
}

/// Whether a spelling has a modifier as a whole word.
fn has(spelling: &str, value: &str) -> bool {
    spelling.match_indices(value).any(|(at, _)| {
        let rest = &spelling[at + value.len()..];
        rest.is_empty() || rest.starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::{cell, top_level};

    #[test]
    fn cells_become_lines() {
        let probe = cell("mma.x {{{d:b32},v_b32_0}},[{a:u64}],v_f32_1\ta\tu64\tsink\treject").unwrap();
        assert_eq!(probe.line, "mma.x {%r5,%r5},[_],%f5;");
        assert!(cell("add.u32 {d:u32}\td\tu32\tno such thing\treject").is_none());
    }

    #[test]
    fn operands_are_cut_outside_brackets() {
        assert_eq!(top_level("{%r1, %r2}, [tex0, {%f1}], 5"), ["{%r1, %r2}", "[tex0, {%f1}]", "5"]);
        assert!(top_level(" ").is_empty());
    }
}
