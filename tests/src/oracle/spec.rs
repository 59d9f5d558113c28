//! Probes that do not come from the table: a generator that reads only our own table cannot find what it lacks.
//!
//! `tests/spec.txt` has the instructions of the ISA, each with operands that the assembler takes, and the values of its
//! modifiers. It was made from measurements before there was a table. Here are the variations of each line of it: other
//! operands, other modifiers. What `ptxas` thinks of each is asked anew.

use std::io;

use ptx_ir::isa::{Resolved, resolve};

use super::generate::Probe;
use super::random::Random;
use crate::tools::root;

/// What is put in the place of an operand.
const OPERANDS: [&str; 51] = [
    "%p5",
    "%c5",
    "%uc5",
    "%sc5",
    "%h5",
    "%uh5",
    "%sh5",
    "%hf5",
    "%hx5",
    "%r5",
    "%ur5",
    "%sr5",
    "%f5",
    "%d5",
    "%ud5",
    "%sd5",
    "%fd5",
    "%q5",
    "5",
    "-5",
    "1.5",
    "0f3f800000",
    "0d3ff0000000000000",
    "%laneid",
    "%clock64",
    "gvar",
    "_",
    "WARP_SZ",
    "kp",
    "0",
    "4294967295",
    "gvar+4",
    "svar",
    "[%d5]",
    "[%r5]",
    "[svar]",
    "[gvar+8]",
    "!%p5",
    "{%r5,%r6}",
    "{%r5,%r6,%r7,%r8}",
    "%tid.x",
    "%tid",
    "efun0",
    "cvar",
    "lvar",
    "{%d5,%d6}",
    "{%h5,%h6}",
    "%p5|%p6",
    "%r5|%p6",
    "[%r5+4]",
    "-1.5",
];

/// How many random choices of modifiers are made for an instruction.
const CHOICES: usize = 12;

/// All variations of all instructions.
///
/// # Errors
/// The file cannot be read, or a line of it has no end.
pub fn probes(random: &mut Random) -> io::Result<Vec<Probe>> {
    let text = std::fs::read_to_string(root().join("tests/spec.txt"))?;
    let mut probes = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let instruction = Instruction::parse(line)
            .ok_or_else(|| io::Error::other(format!("tests/spec.txt, line {}: no instruction", index + 1)))?;
        let place = format!("{} (spec.txt, line {})", table_file(&instruction), index + 1);
        let mut add = |line: String, kind: &'static str| {
            probes.push(Probe { line, kind, place: place.clone(), form: None });
        };
        add(instruction.text(), "legal");
        for place in 0..instruction.operands.len() {
            OPERANDS.iter().for_each(|other| add(instruction.with_operand(place, other), "operand"));
        }
        for spelling in instruction.spellings(random) {
            add(Instruction { spelling, ..instruction.clone() }.text(), "modifiers");
        }
    }
    Ok(probes)
}

/// The file of the table that an instruction belongs to.
fn table_file(instruction: &Instruction) -> &'static str {
    let Resolved { opcode, instances, .. } = resolve(&instruction.spelling);
    let form = instances.first().map(|instance| instance.form);
    let form = form.or_else(|| opcode.and_then(|opcode| opcode.forms().next()));
    form.map_or("no opcode", |form| form.place().split(':').next().unwrap_or_default())
}

/// The values that may be in one place of a spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    values: Vec<String>,
    optional: bool,
}

/// A line of the file: `@%p1 add.sat.s32 <%r1>, <%r2>, <%r3>;  {.sat} (.s32 .u32)`. What is in angle brackets is
/// replaced; after the statement are the modifiers, those in braces optional.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Instruction {
    /// The guard with its space, or nothing.
    guard: String,
    /// Opcode and modifiers.
    spelling: String,
    /// The text before the first operand, and after each: one more than there are operands.
    between: Vec<String>,
    /// What can be replaced.
    operands: Vec<String>,
    slots: Vec<Slot>,
}

impl Instruction {
    fn parse(line: &str) -> Option<Self> {
        let (statement, slots) = line.split_once(';')?;
        let (guard, rest) = match statement.starts_with('@') {
            true => statement.split_at(statement.find(' ')? + 1),
            false => ("", statement),
        };
        let end = rest.find(' ').unwrap_or(rest.len());
        let (mut between, mut operands) = (Vec::new(), Vec::new());
        let mut left = &rest[end..];
        while let Some((before, behind)) = left.split_once('<') {
            let (operand, behind) = behind.split_once('>')?;
            between.push(before.to_owned());
            operands.push(operand.to_owned());
            left = behind;
        }
        between.push(left.to_owned());
        let slots = slots.split_inclusive([')', '}']).filter_map(slot).collect();
        Some(Self { guard: guard.to_owned(), spelling: rest[..end].to_owned(), between, operands, slots })
    }

    fn text(&self) -> String {
        self.joined(self.operands.iter().map(String::as_str))
    }

    fn with_operand(&self, place: usize, other: &str) -> String {
        let operands = self.operands.iter().enumerate();
        self.joined(operands.map(|(index, operand)| if index == place { other } else { operand }))
    }

    fn joined<'a>(&self, operands: impl Iterator<Item = &'a str>) -> String {
        let mut text = format!("{}{}{}", self.guard, self.spelling, self.between[0]);
        for (operand, behind) in operands.zip(&self.between[1..]) {
            text.push_str(operand);
            text.push_str(behind);
        }
        text + ";"
    }

    /// The value that the spelling has in each slot; none where it is not made of them.
    fn chosen(&self) -> Option<Vec<&str>> {
        let mut rest = &self.spelling[self.spelling.find('.')?..];
        let mut chosen = Vec::new();
        for slot in &self.slots {
            let fits = |value: &&String| {
                rest.strip_prefix(value.as_str())
                    .is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
            };
            let value = slot.values.iter().filter(fits).max_by_key(|value| value.len());
            if value.is_none() && !slot.optional {
                return None;
            }
            let value = value.map_or("", String::as_str);
            rest = &rest[value.len()..];
            chosen.push(value);
        }
        rest.is_empty().then_some(chosen)
    }

    /// The spelling with each other value in each slot, and a few random choices.
    fn spellings(&self, random: &mut Random) -> Vec<String> {
        let opcode = self.spelling.split('.').next().unwrap_or_default();
        let mut found = Vec::new();
        if let Some(chosen) = self.chosen() {
            for (index, slot) in self.slots.iter().enumerate() {
                let nothing = slot.optional.then_some("");
                for value in slot.values.iter().map(String::as_str).chain(nothing) {
                    let mut other = chosen.clone();
                    other[index] = value;
                    found.push(format!("{opcode}{}", other.concat()));
                }
            }
        }
        for _ in 0..CHOICES {
            let mut text = opcode.to_owned();
            for slot in &self.slots {
                if !slot.optional || random.once_in(2) {
                    text.push_str(random.pick(&slot.values).map_or("", String::as_str));
                }
            }
            found.push(text);
        }
        found.retain(|text| *text != self.spelling);
        found.sort();
        found.dedup();
        found
    }
}

fn slot(text: &str) -> Option<Slot> {
    let text = text.trim();
    let optional = text.starts_with('{');
    let inside = text.get(1..text.len().checked_sub(1)?)?;
    Some(Slot { values: inside.split(' ').map(str::to_owned).collect(), optional })
}

#[cfg(test)]
mod tests {
    use super::{Instruction, Random};

    #[test]
    fn lines_are_varied() {
        let line = "@%p1 mma.x.sat.s32 {<%r1>,%r2}, <[%d5]>;  (.x) {.sat .ftz} (.s32 .u32)";
        let instruction = Instruction::parse(line).unwrap();
        assert_eq!(instruction.text(), "@%p1 mma.x.sat.s32 {%r1,%r2}, [%d5];");
        assert_eq!(instruction.with_operand(0, "_"), "@%p1 mma.x.sat.s32 {_,%r2}, [%d5];");
        assert_eq!(instruction.chosen().unwrap(), [".x", ".sat", ".s32"]);
        let spellings = instruction.spellings(&mut Random::new(1));
        assert!(spellings.iter().any(|text| text == "mma.x.s32"), "{spellings:?}");
        assert!(spellings.iter().any(|text| text == "mma.x.sat.u32"), "{spellings:?}");
        assert_eq!(Instruction::parse("ret;").unwrap().text(), "ret;");
        assert_eq!(Instruction::parse("ret"), None);
    }
}
