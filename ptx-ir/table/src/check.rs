//! Looks for what cannot be meant: what is written twice, what contradicts itself, and what nothing can reach.

use crate::fault::{Fault, Faults};
use crate::model::{ABSENT, Condition, Count, Form, Gate, Operand, Pattern, Slot, Table};
use crate::target::TargetSet;
use crate::version::Version;

/// How many choices of modifiers the search for one that the rules allow may look at.
const MAX_CHOICES: usize = 20_000;

/// Reports what cannot be meant.
pub fn check(table: &Table, faults: &mut Faults) {
    for form in &table.forms {
        let mut report = |message: String| faults.push(Fault::new(&form.file, form.line, message));
        repeated(form, &mut report);
        contradictions(form, &mut report);
        for operand in &form.operands {
            overshadowed(form, operand, &mut report);
        }
    }
    for forms in table.forms.chunk_by(|one, other| one.root == other.root) {
        useless_values(forms, faults);
        for (index, form) in forms.iter().enumerate() {
            let place = |earlier: &Form| format!("the form of {}:{}", earlier.file, earlier.line);
            let message = if let Some(earlier) = forms[..index].iter().find(|earlier| hides(earlier, form)) {
                format!("{} is the same and comes before it", place(earlier))
            } else if let Some(earlier) = forms[..index].iter().find(|earlier| swallows(earlier, form)) {
                format!("{} takes all that this one does and comes before it", place(earlier))
            } else {
                continue;
            };
            faults.push(Fault::new(&form.file, form.line, message));
        }
    }
}

/// `.a|.b no .c`: the values of a condition, for messages.
fn words(slots: &[Slot], condition: &Condition) -> String {
    let test = |&(slot, mask): &(usize, u64)| {
        let slot: &Slot = &slots[slot];
        let values = slot.values.iter().enumerate().filter(|(index, _)| mask >> index & 1 != 0);
        let mut values: Vec<String> = values.map(|(_, value)| value.clone()).collect();
        if mask & ABSENT != 0 {
            values.push(format!("no {}", slot.name));
        }
        values.join("|")
    };
    condition.iter().map(test).collect::<Vec<_>>().join(" ")
}

fn repeated(form: &Form, report: &mut impl FnMut(String)) {
    for (index, rule) in form.rules.iter().enumerate() {
        if !rule.when.is_empty() && form.rules[..index].contains(rule) {
            report(format!("the rule about `{}` is there twice", words(&form.slots, &rule.when)));
        }
    }
    for (index, gate) in form.gates.iter().enumerate() {
        if !gate.of_operand && form.gates[..index].contains(gate) {
            report(format!("the requirement of `{}` is there twice", words(&form.slots, &gate.when)));
        }
    }
    for (index, effect) in form.effects.iter().enumerate() {
        if form.effects[..index].contains(effect) {
            report(format!("the effect `{}` is there twice", effect.1.join(" ")));
        }
    }
}

/// What several requirements come to: the highest version, the lowest last one, the targets common to all.
fn together<'a>(gates: impl Iterator<Item = &'a Gate>) -> (Version, Version, TargetSet) {
    gates.fold((Version::OLDEST, Version::LATEST, TargetSet::ALL), |(version, until, targets), gate| {
        let targets = targets.intersect(TargetSet::from_bits(gate.targets));
        (version.max(gate.version), until.min(gate.until), targets)
    })
}

fn contradictions(form: &Form, report: &mut impl FnMut(String)) {
    for gate in &form.gates {
        let others = form.gates.iter().filter(|each| each.when.is_empty());
        let (version, until, targets) = together(others.chain([gate]));
        let what = words(&form.slots, &gate.when);
        if version > until || targets.is_empty() {
            report(format!("no version and target meets the requirement of `{what}` and those of the form"));
            continue;
        }
        // What holds for more values holds for these as well.
        let (version, until, targets) =
            together(of_modifiers(form).filter(|each| covers(&each.when, &gate.when)));
        if !gate.of_operand && (version > until || targets.is_empty()) {
            report(format!("no version and target meets all requirements of `{what}`"));
        }
    }
}

/// The requirements that modifiers bring, whatever the operands are.
fn of_modifiers(form: &Form) -> impl Iterator<Item = &Gate> {
    form.gates.iter().filter(|gate| !gate.of_operand)
}

/// Whether the first condition holds wherever the second does.
pub fn covers(one: &Condition, other: &Condition) -> bool {
    one.iter().all(|(slot, mask)| {
        let tests = other.iter().filter(|(each, _)| each == slot);
        tests.fold(u64::MAX, |mask, (_, each)| mask & each) & !mask == 0
    })
}

/// Reports clauses that never count because one before them holds first.
fn overshadowed(form: &Form, operand: &Operand, report: &mut impl FnMut(String)) {
    for (index, variant) in operand.variants.iter().enumerate() {
        if operand.variants[..index].iter().any(|earlier| covers(&earlier.when, &variant.when)) {
            let what = words(&form.slots, &variant.when);
            report(format!(
                "a clause for `{}` never counts: one before it holds first ({what})",
                operand.name
            ));
        }
        for part in variant.parts.iter() {
            overshadowed(form, part, report);
        }
    }
}

/// Reports values that the rules allow in no choice of modifiers, in none of the forms of a syntax line.
fn useless_values(forms: &[Form], faults: &mut Faults) {
    for form in forms {
        let mut masks: Vec<u64> = form.slots.iter().map(all_values).collect();
        let mut left = MAX_CHOICES;
        let line: Vec<&Form> =
            forms.iter().filter(|each| (&each.file, each.line) == (&form.file, form.line)).collect();
        if line.len() == 1 && !is_allowed(form, &mut masks, 0, &mut left) && left > 0 {
            let message = "the rules allow no choice of modifiers";
            faults.push(Fault::new(&form.file, form.line, message));
            continue;
        }
        for (slot, definition) in form.slots.iter().enumerate() {
            for (index, value) in definition.values.iter().enumerate() {
                let is_useful = |each: &Form| {
                    let mut masks: Vec<u64> = each.slots.iter().map(all_values).collect();
                    masks[slot] = 1 << index;
                    let mut left = MAX_CHOICES;
                    is_allowed(each, &mut masks, 0, &mut left) || left == 0
                };
                if !line.iter().any(|each| is_useful(each)) {
                    faults.push(Fault::new(
                        &form.file,
                        form.line,
                        format!("the rules allow `{value}` with nothing"),
                    ));
                }
            }
        }
    }
}

/// The values of a slot, and that it may be left out, as a mask.
pub fn all_values(slot: &Slot) -> u64 {
    let values = (1_u64 << slot.values.len()) - 1;
    if slot.optional { values | ABSENT } else { values }
}

/// Whether the rules allow a choice of values within the masks; the slots before `from` are chosen.
fn is_allowed(form: &Form, masks: &mut [u64], from: usize, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    let certain = |condition: &Condition| condition.iter().all(|&(slot, mask)| masks[slot] & !mask == 0);
    let possible = |condition: &Condition| condition.iter().all(|&(slot, mask)| masks[slot] & mask != 0);
    let broken = |rule: &crate::model::Rule| {
        certain(&rule.when) && if rule.needs { !possible(&rule.then) } else { certain(&rule.then) }
    };
    if *left == 0 || form.rules.iter().any(broken) {
        return false;
    }
    let open = form.rules.iter().flat_map(|rule| rule.when.iter().chain(&rule.then));
    let open = open.map(|(slot, _)| *slot).filter(|slot| *slot >= from).min();
    let Some(slot) = open else { return true };
    let values = masks[slot];
    let mut rest = values;
    while rest != 0 {
        let value = rest & rest.wrapping_neg();
        rest &= !value;
        masks[slot] = value;
        if is_allowed(form, masks, slot + 1, left) {
            return true;
        }
    }
    masks[slot] = values;
    false
}

/// Whether a form is never chosen because one before it has all its modifiers, takes the same operands whatever the
/// modifiers are, and needs no more.
fn swallows(earlier: &Form, form: &Form) -> bool {
    fn is_plain(operand: &Operand) -> bool {
        let variant = |variant: &crate::model::Variant| {
            variant.when.is_empty() && variant.parts.iter().all(is_plain) && !by_modifiers(&variant.pattern)
        };
        operand.when.is_empty() && operand.variants.iter().chain(&operand.manual).all(variant)
    }
    let has = |(one, other): (&Slot, &Slot)| {
        one.optional >= other.optional && other.values.iter().all(|value| one.values.contains(value))
    };
    earlier.slots.len() == form.slots.len()
        && earlier.slots.iter().zip(&form.slots).all(has)
        && earlier.rules.is_empty()
        && earlier.operands == form.operands
        && earlier.operands.iter().all(is_plain)
        && earlier.texture_mode == form.texture_mode
        && earlier.gates.iter().all(|gate| gate.when.is_empty() && !gate.of_operand)
        && needs_no_more(earlier, form)
}

/// Whether each version and target that has a form whatever its modifiers are has an earlier one as well.
fn needs_no_more(earlier: &Form, form: &Form) -> bool {
    let of_form = |form| together(of_modifiers(form).filter(|gate| gate.when.is_empty()));
    let (version, until, targets) = of_form(earlier);
    let (later, end, fewer) = of_form(form);
    version <= later && end <= until && targets.intersect(fewer) == fewer
}

/// Whether a brace list is as long as modifiers say.
const fn by_modifiers(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Vector(Count::Table(_)))
}

/// Whether a form is never chosen because one before it takes the same, and needs no more.
fn hides(earlier: &Form, form: &Form) -> bool {
    let same_slots = earlier.slots.len() == form.slots.len()
        && earlier
            .slots
            .iter()
            .zip(&form.slots)
            .all(|(one, other)| one.optional == other.optional && one.values == other.values);
    same_slots
        && earlier.rules == form.rules
        && earlier.operands == form.operands
        && earlier.texture_mode == form.texture_mode
        && earlier.gates.iter().all(|gate| form.gates.contains(gate))
}
