//! Looking at the table itself: its opcodes, forms and modifiers.

use std::fmt;

use super::class::{Class, ClassSet};
use super::expand;
use super::instance::{FormId, Instance, OpcodeId};
use super::table::{
    ABSENT, Condition, FORMS, Form, GateRule, List, OPCODES, Operand, Rule, Text, forms_of, texts,
};
use crate::platform::TextureMode;
use crate::target::{Target, TargetSet};
use crate::version::Version;

/// Every root opcode, in alphabetical order.
pub fn opcodes() -> impl ExactSizeIterator<Item = OpcodeId> {
    (0..OPCODES.len() as u16).map(OpcodeId)
}

/// Every form, sorted by opcode.
pub fn forms() -> impl ExactSizeIterator<Item = FormId> {
    (0..FORMS.len() as u16).map(FormId)
}

impl OpcodeId {
    /// The opcode of this name; names have no dots.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        super::resolve::opcode(name)
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        OPCODES[self.0 as usize].name
    }

    /// The forms of the opcode.
    pub fn forms(self) -> impl Iterator<Item = FormId> {
        forms_of(self).map(|(id, _)| FormId(id))
    }
}

/// A place for a modifier in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotInfo {
    /// What the table calls it.
    pub name: &'static str,
    /// The values it may have, each with its dot.
    pub values: Vec<&'static str>,
    /// Whether it may be left out.
    pub optional: bool,
}

impl FormId {
    fn form(self) -> &'static Form {
        &FORMS[self.0 as usize]
    }

    /// The index of the form, below the number of [`forms`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The opcode.
    #[must_use]
    pub fn opcode(self) -> OpcodeId {
        self.form().opcode
    }

    /// The section of the manual.
    #[must_use]
    pub fn section(self) -> &'static str {
        self.form().section.as_str()
    }

    /// The syntax line, as the manual would print it.
    #[must_use]
    pub fn syntax(self) -> &'static str {
        self.form().syntax.as_str()
    }

    /// File and line of the table's source.
    #[must_use]
    pub fn place(self) -> &'static str {
        self.form().place.as_str()
    }

    /// The texturing mode that has it; `None` where it is in both.
    #[must_use]
    pub fn texture_mode(self) -> Option<TextureMode> {
        self.form().texture_mode
    }

    /// Whether a target may have it: not where it lacks the form whatever its modifiers are.
    #[must_use]
    pub fn may_be_for(self, target: Target) -> bool {
        let of_all = self.form().gates.iter().filter(|gate| gate.when.is_empty());
        of_all.map(|gate| TargetSet::from_bits(gate.targets)).all(|targets| targets.contains(target))
    }

    /// What it does, in half a sentence, where the table says it.
    #[must_use]
    pub fn purpose(self) -> Option<&'static str> {
        self.form().does.map(Text::as_str)
    }

    /// A statement that shows it, where the table has one that says more than the form. Registers have the types of their
    /// names: `%h` has 16 bits, `%r` 32, `%rd` 64, `%rq` 128, `%f` and `%fd` are floats, `%p` predicates.
    #[must_use]
    pub fn example(self) -> Option<&'static str> {
        self.form().example.map(Text::as_str)
    }

    /// What NVIDIA's assembler makes of it, where it takes the form and does something else.
    #[must_use]
    pub fn misread(self) -> Option<&'static str> {
        self.form().misread.map(Text::as_str)
    }

    /// Which operand of a misread form was meant to be in brackets, where that is what is wrong with it.
    #[must_use]
    pub fn bracket(self) -> Option<usize> {
        self.form().bracket.map(usize::from)
    }

    /// Whether another form with the same syntax line takes more operands and needs more of version and target.
    #[must_use]
    pub fn is_narrowed(self) -> bool {
        self.form().narrowed
    }

    /// The reasons of the form's disagreements with NVIDIA's assembler that are on purpose.
    pub fn deviations(self) -> impl Iterator<Item = &'static str> {
        self.form().deviations.iter().map(|deviation| deviation.reason.as_str())
    }

    /// Why NVIDIA's assembler may judge a statement of this form otherwise: the reason of the first deviation for
    /// these modifiers that is about one of the classes of its operands, or about any operand.
    #[must_use]
    pub fn deviation(self, modifiers: &[&str], operands: ClassSet) -> Option<&'static str> {
        let Form { slots, deviations, .. } = self.form();
        let holds = |&(slot, mask): &(u8, u64)| {
            let values = slots[slot as usize].values.iter().enumerate();
            let mut wanted = values.filter(|(index, _)| mask >> index & 1 != 0);
            wanted.any(|(_, value)| modifiers.contains(&value.as_str()))
        };
        let about = |classes: ClassSet| classes.is_empty() || !classes.intersect(operands).is_empty();
        let mut found = deviations.iter().filter(|each| about(each.classes) && each.when.iter().all(holds));
        found.next().map(|deviation| deviation.reason.as_str())
    }

    /// The modifiers in canonical order.
    pub fn slots(self) -> impl ExactSizeIterator<Item = SlotInfo> {
        self.form().slots.iter().map(|slot| SlotInfo {
            name: slot.name.as_str(),
            values: texts(slot.values).collect(),
            optional: slot.optional,
        })
    }

    /// Each value that some modifier may have: the place of the modifier among [`slots`](Self::slots), what the table calls it,
    /// and the value with its dot.
    pub fn slot_values(self) -> impl Iterator<Item = (usize, &'static str, &'static str)> {
        let slots = self.form().slots.into_iter().enumerate();
        slots
            .flat_map(|(place, slot)| texts(slot.values).map(move |value| (place, slot.name.as_str(), value)))
    }

    /// The names of the operands and of their parts, as the manual has them.
    #[must_use]
    pub fn operand_names(self) -> Vec<&'static str> {
        fn names(operands: List<Operand>, found: &mut Vec<&'static str>) {
            for operand in operands {
                let parts = operand.variants.iter().filter(|variant| !variant.parts.is_empty());
                match parts.map(|variant| variant.parts).next() {
                    Some(parts) => names(parts, found),
                    None => found.push(operand.name.as_str()),
                }
            }
        }
        let mut found = Vec::new();
        names(self.form().operands, &mut found);
        found
    }

    /// The instance for a choice of modifiers: for each slot the index of a value, or `None` for left out.
    /// Gives `None` where the form does not allow the choice.
    #[must_use]
    pub fn instance(self, choice: &[Option<usize>]) -> Option<Instance> {
        let slots = self.form().slots;
        if choice.len() != slots.len() {
            return None;
        }
        let mut values = Vec::with_capacity(slots.len());
        for (slot, value) in slots.iter().zip(choice) {
            values.push(match value {
                Some(index) if *index < slot.values.len() => *index as u8,
                None if slot.optional => ABSENT,
                Some(_) | None => return None,
            });
        }
        expand::instance(self.0, &values)
    }

    /// What the manual says that the form needs, whatever its modifiers and operands are.
    #[must_use]
    pub fn requirement(self) -> (Version, TargetSet) {
        let always = self.form().gates.iter().filter(|gate| gate.is_of_form());
        always.fold((Version::OLDEST, TargetSet::ALL), |(version, targets), gate| {
            (version.max(gate.version), targets.intersect(TargetSet::from_bits(gate.targets)))
        })
    }
}

/// Prints the syntax line and what its modifiers may be, as the manual does.
impl fmt::Display for FormId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = self.form();
        writeln!(formatter, "{}", form.syntax)?;
        let (version, targets) = self.requirement();
        let always = form.gates.iter().filter(|gate| gate.is_of_form());
        let until = always.map(|gate| gate.until).min().unwrap_or(Version::LATEST);
        write!(formatter, "    since PTX {version}")?;
        if until < Version::LATEST {
            write!(formatter, " until PTX {until}")?;
        }
        writeln!(formatter, ", {targets}")?;
        if let Some(mode) = form.texture_mode {
            writeln!(formatter, "    with .target …, {}", mode.name())?;
        }
        for (index, slot) in form.slots.iter().enumerate().filter(|(_, slot)| slot.values.len() > 1) {
            let beyond = form.beyond.iter().filter_map(|(when, _)| match when.slice() {
                [(each, mask)] if usize::from(*each) == index => Some(*mask),
                _ => None,
            });
            let beyond = beyond.fold(0, |all, mask| all | mask);
            let values = slot.values.iter().enumerate().filter(|(value, _)| beyond >> value & 1 == 0);
            let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
            writeln!(formatter, "    .{} = {{ {} }}", slot.name, shortened(&values))?;
        }
        let gates = form.gates.iter().filter(|gate| !gate.amended && !gate.is_of_form());
        let gates = gates.map(|gate| described_gate(form, gate));
        let rules = form.rules.iter().filter(|rule| !rule.when.is_empty());
        let mut told = Vec::new();
        for line in gates.chain(rules.map(|rule| described_rule(form, rule))) {
            if !told.contains(&line) {
                writeln!(formatter, "    {line}")?;
                told.push(line);
            }
        }
        Ok(())
    }
}

/// Of a modifier that many times as many values as others are told by the others.
const MANY_OTHERS: usize = 3;

/// So many values in equal steps are told by the first two and the last.
const MANY_VALUES: usize = 6;

/// Values one after the other; many that differ in one number, in equal steps, by the first two and the last.
fn shortened(values: &[&str]) -> String {
    match values {
        [first, second, .., last] if values.len() >= MANY_VALUES && are_steps(values) => {
            format!("{first}, {second}, …, {last}")
        }
        _ => values.join(", "),
    }
}

/// Whether values differ in one number, in equal steps.
fn are_steps(values: &[&str]) -> bool {
    fn parts(value: &str) -> (Vec<&str>, Vec<i64>) {
        let is_digit = |character: char| character.is_ascii_digit();
        let numbers = value.split(|each| !is_digit(each)).filter_map(|digits| digits.parse().ok());
        (value.split(is_digit).filter(|text| !text.is_empty()).collect(), numbers.collect())
    }
    let all: Vec<_> = values.iter().map(|value| parts(value)).collect();
    let mut steps = all.windows(2).map(|pair| {
        let ((words, numbers), (next_words, next)) = (&pair[0], &pair[1]);
        let distance = |(one, other): (&i64, &i64)| other - one;
        (words == next_words && numbers.len() == next.len())
            .then(|| numbers.iter().zip(next).map(distance).collect::<Vec<i64>>())
    });
    let Some(Some(first)) = steps.next() else { return false };
    first.iter().filter(|&&step| step != 0).count() == 1 && steps.all(|step| step.as_ref() == Some(&first))
}

/// `.v4 with .b64 not with .ca`: which values go together.
fn described_rule(form: &Form, rule: &Rule) -> String {
    let when = described(form, rule.when);
    // What needs something that the form lacks is no part of it.
    if rule.then.iter().any(|&(_, mask)| mask == 0) {
        return format!("without {when}");
    }
    match rule.then.slice() {
        [(slot, mask)] if *mask == 1 << ABSENT => {
            let slot = form.slots[usize::from(*slot)].name;
            format!("{when} only with{} .{slot}", if rule.needs { "out" } else { "" })
        }
        _ => {
            let then = described(form, rule.then);
            format!("{when} {} with {then}", if rule.needs { "only" } else { "not" })
        }
    }
}

/// `.v4 with .b64, .u64 without .ss`: the values that a condition is about; the name of the modifier for all of its values,
/// and `.ss other than .global` for most. Those that several modifiers may have are told with the name of the one that is
/// meant: `.dtype=.f16`.
pub(super) fn described(form: &Form, condition: Condition) -> String {
    let mut text = String::new();
    for &(slot, mask) in condition {
        let slot = &form.slots[slot as usize];
        let values = slot.values.iter().enumerate().filter(|(index, _)| mask >> index & 1 != 0);
        let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
        if values.is_empty() {
            text += &format!("{}without .{}", if text.is_empty() { "" } else { " " }, slot.name);
            continue;
        }
        let is_shared = |value: &&str| {
            form.slots.iter().filter(|slot| texts(slot.values).any(|each| each == *value)).count() > 1
        };
        let is_choice = slot.values.len() > 1 || slot.optional;
        text += if text.is_empty() { "" } else { " with " };
        let others: Vec<&str> = slot
            .values
            .iter()
            .enumerate()
            .filter(|(index, _)| mask >> index & 1 == 0)
            .map(|(_, value)| value.as_str())
            .collect();
        if values.len() > 1 && others.is_empty() {
            text += &format!(".{}", slot.name);
        } else if !others.is_empty() && values.len() > MANY_OTHERS * others.len() {
            text += &format!(".{} other than {}", slot.name, others.join(", "));
        } else if is_choice && values.iter().any(is_shared) {
            text += &format!(".{}={}", slot.name, values.join("|"));
        } else {
            text += &shortened(&values);
        }
        if mask >> ABSENT & 1 != 0 {
            text += &format!(" or no .{}", slot.name);
        }
    }
    text
}

/// `.v4 with .b64, .u64 since PTX 8.8, sm_100 or higher`: what some modifiers or operands need beyond the form.
pub(super) fn described_gate(form: &Form, gate: &GateRule) -> String {
    let mut about = Vec::new();
    if !gate.when.is_empty() {
        about.push(described(form, gate.when));
    }
    if !gate.operands.is_empty() {
        about.push(described_operands(gate));
    }
    let mut text = about.join(" with ");
    if gate.version > Version::OLDEST {
        text += &format!(" since PTX {}", gate.version);
    }
    if gate.until < Version::LATEST {
        text += &format!(" until PTX {}", gate.until);
    }
    let targets = TargetSet::from_bits(gate.targets);
    if targets != TargetSet::ALL {
        let is_first = gate.version <= Version::OLDEST && gate.until >= Version::LATEST;
        text += &format!("{} {targets}", if is_first { " for" } else { "," });
    }
    text
}

/// `` `a` as a `.b64` register``: the operands that bring a requirement.
fn described_operands(gate: &GateRule) -> String {
    let names = gate.operands.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let kinds: Vec<&str> = gate.classes.iter().map(Class::phrase).collect();
    match kinds.split_last() {
        None => format!("more of {names}"),
        Some((last, [])) => format!("{names} as {last}"),
        Some((last, rest)) => format!("{names} as {} or {last}", rest.join(", ")),
    }
}
