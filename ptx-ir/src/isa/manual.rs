//! What the manual says, where NVIDIA's assembler takes more.

use super::class::{Class, ClassSet};
use super::form::described_gate;
use super::instance::{FormId, Instance, OperandSpec, Pattern};
use super::shape::{Shape, ShapeFlags, ShapeKind};
use super::table::{ABSENT, Condition, FORMS, Form, List, Operand, REASONS, Slot, texts};

/// What of a statement the manual does not have, though the assembler takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Beyond {
    /// The form.
    Form {
        /// Why the table has it.
        reason: &'static str,
    },
    /// A modifier.
    Modifier {
        /// As it is spelled, with its dot; empty where what is missing is beyond the manual.
        modifier: &'static str,
        /// Why the table has it.
        reason: &'static str,
    },
    /// An operand.
    Operand {
        /// Which operand of the statement.
        operand: usize,
        /// Which operand of the instance that is.
        spec: usize,
        /// Which part of it, where it is a pair or a bracket.
        part: Option<usize>,
        /// Why the assembler takes it.
        reasons: Vec<&'static str>,
    },
}

/// Why a modifier is beyond the manual that the assembler takes and does not look at.
const IDLE: &str = "the assembler does nothing with it";

impl FormId {
    /// Why the table has the form, where the manual does not.
    #[must_use]
    pub fn beyond_manual(self) -> Option<&'static str> {
        let form = &FORMS[self.index()];
        form.beyond.iter().find(|(when, _)| when.is_empty()).map(|(_, reason)| reason.as_str())
    }

    /// What the assembler takes of the form's modifiers and operands that the manual does not have, or refuses though the
    /// manual allows it: a sentence each.
    #[must_use]
    pub fn tolerances(self) -> Vec<String> {
        let form = &FORMS[self.index()];
        let mut found: Vec<String> = self.beyond_manual().map(str::to_owned).into_iter().collect();
        for (when, reason) in form.beyond.iter().filter(|(when, _)| !when.is_empty()) {
            found.push(format!("`{}`: {reason}", values(form.slots, *when).join("`, `")));
        }
        for when in form.idle {
            found.push(format!("`{}`: {IDLE}", values(form.slots, *when).join("`, `")));
        }
        for spare in form.spare {
            found.push(format!("`{}`: {IDLE}", texts(spare.words).collect::<Vec<_>>().join("`, `")));
        }
        if form.strict_order {
            found.push("modifiers are taken in this order only".to_owned());
        }
        // A form that lacks what some operands ask for says nothing of it: another of the same syntax line does.
        let of_line = self.opcode().forms().map(|form| &FORMS[form.index()]);
        let of_line = of_line.filter(|each| each.place == form.place);
        let amended = of_line.flat_map(|each| each.gates).filter(|gate| gate.amended);
        found.extend(amended.map(|gate| described_gate(form, gate)));
        operand_tolerances(form.operands, &mut found);
        found.extend(form.deviations.iter().map(|deviation| deviation.reason.as_str().to_owned()));
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|sentence| seen.insert(sentence.clone()));
        found
    }
}

/// The sentences about operands, from the marks that the assembler's clauses have and the manual's have not.
fn operand_tolerances(operands: List<Operand>, found: &mut Vec<String>) {
    for operand in operands {
        for variant in operand.variants {
            operand_tolerances(variant.parts, found);
        }
        let own = |plus: bool| {
            let bits = |each: (u128, u128)| if plus { each.0 } else { each.1 };
            let manual = operand.manual.iter().fold(0, |all, each| all | bits((each.plus, each.minus)));
            let all = operand.variants.iter().fold(0, |all, each| all | bits((each.plus, each.minus)));
            ClassSet::from_bits(all & !manual)
        };
        let name = operand.name;
        found.extend(operand.reasons.iter().map(|reason| format!("`{name}`: {reason}")));
        // Named kinds and addresses bring their classes as marks: only those with a reason are meant.
        let kinds = operand.variants.iter().all(|variant| variant.access.is_none());
        for (sign, classes) in [('+', own(true)), ('-', own(false))] {
            for reason in reasons(sign, classes).into_iter().filter(|_| kinds || sign == '-') {
                found.push(format!("`{name}`: {reason}"));
            }
        }
    }
}

/// The reasons for classes that the assembler takes or refuses, each once.
fn reasons(sign: char, classes: ClassSet) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (_, bits, text) in REASONS.iter().filter(|(each, _, _)| *each == sign) {
        if !classes.intersect(ClassSet::from_bits(*bits)).is_empty() && !found.contains(text) {
            found.push(*text);
        }
    }
    found
}

/// The values that a condition is about.
fn values(slots: List<Slot>, condition: Condition) -> Vec<&'static str> {
    let of_slot = |&(slot, mask): &(u8, u64)| {
        let values = texts(slots[slot as usize].values).enumerate();
        values.filter(move |(index, _)| mask >> index & 1 != 0).map(|(_, value)| value)
    };
    condition.into_iter().flat_map(of_slot).collect()
}

impl Instance {
    /// The first thing of a statement that fits this instance and that the manual does not have. `children` holds the
    /// parts of pairs and brackets.
    #[must_use]
    pub fn beyond_manual(&self, operands: &[Shape], children: &[Shape]) -> Option<Beyond> {
        self.spelled_beyond_manual().or_else(|| self.operand_beyond_manual(operands, children))
    }

    /// What of the form and its modifiers the manual does not have.
    #[must_use]
    pub fn spelled_beyond_manual(&self) -> Option<Beyond> {
        let Form { slots, beyond, idle, .. } = &FORMS[self.form.index()];
        let about = beyond
            .iter()
            .map(|(when, reason)| (*when, reason.as_str()))
            .chain(idle.iter().map(|when| (*when, IDLE)));
        for (when, reason) in about {
            if when.is_empty() {
                return Some(Beyond::Form { reason });
            }
            if when.iter().all(|test| self.passes(*slots, test)) {
                let spelled = values(*slots, when);
                let modifier = spelled.into_iter().find(|value| self.modifiers.contains(value));
                return Some(Beyond::Modifier { modifier: modifier.unwrap_or_default(), reason });
            }
        }
        None
    }

    fn passes(&self, slots: List<Slot>, &(slot, mask): &(u8, u64)) -> bool {
        let values = slots[slot as usize].values.iter().enumerate();
        let mut present = values.filter(|(_, value)| self.modifiers.contains(&value.as_str())).peekable();
        if present.peek().is_none() {
            return mask >> ABSENT & 1 != 0;
        }
        present.any(|(index, _)| mask >> index & 1 != 0)
    }

    /// The first operand of a statement that the manual does not have.
    #[must_use]
    pub fn operand_beyond_manual(&self, operands: &[Shape], children: &[Shape]) -> Option<Beyond> {
        let mut places = Vec::new();
        let gaps = operands.len() < self.operands.len();
        if gaps && !super::select::fits_with_gaps(&self.operands, operands, children, &mut places) {
            return None;
        }
        for (operand, shape) in operands.iter().enumerate() {
            let spec = places.get(operand).copied().unwrap_or(operand);
            if let Some((part, classes)) = beyond(self.operands.get(spec)?, shape, children) {
                let reasons = reasons('+', classes);
                return Some(Beyond::Operand { operand, spec, part, reasons });
            }
        }
        None
    }
}

/// The part of an operand that the manual does not have, and the classes by which the assembler takes it.
fn beyond(spec: &OperandSpec, shape: &Shape, children: &[Shape]) -> Option<(Option<usize>, ClassSet)> {
    if matches!(spec.pattern, Pattern::Pair | Pattern::Bracket) {
        let first = shape.children as usize;
        let parts = match shape.kind {
            ShapeKind::Address => std::slice::from_ref(shape),
            _ => children.get(first..first + shape.count as usize).unwrap_or(&[]),
        };
        for (index, (child, part)) in spec.children.iter().zip(parts).enumerate() {
            let base = parts.len() == 1 && part.kind == ShapeKind::Address;
            let part = Shape { kind: if base { ShapeKind::Value } else { part.kind }, ..*part };
            if let Some((_, classes)) = beyond(child, &part, children) {
                return Some((Some(index), classes));
            }
        }
        return None;
    }
    notation(spec, shape).or_else(|| classes(spec, shape)).map(|classes| (None, classes))
}

/// The mark by which the assembler takes an operand that is written otherwise than the manual has it.
fn notation(spec: &OperandSpec, shape: &Shape) -> Option<ClassSet> {
    if shape.classes.contains(Class::Unknown) {
        return None;
    }
    let mark = match (spec.pattern, shape.kind) {
        (Pattern::Value | Pattern::NegatableValue | Pattern::Selectable { .. }, ShapeKind::Vector)
            if shape.count == 1 && spec.accepts.contains(Class::Braces) =>
        {
            Class::Braces
        }
        // What a surface holds is a vector, also of one element.
        (Pattern::Value, ShapeKind::Vector) if spec.accepts.contains(Class::Packed) => {
            if shape.count == 1 {
                return None;
            }
            Class::Packed
        }
        (Pattern::Value, ShapeKind::Vector) => Class::Lists,
        (Pattern::Value, ShapeKind::Negated) => Class::Negated,
        (Pattern::Vector { .. }, ShapeKind::Value) if shape.classes == Class::Sink.into() => Class::Discard,
        (Pattern::Vector { .. } | Pattern::Address, ShapeKind::Value | ShapeKind::Negated) => Class::NoBraces,
        (Pattern::Vector { count }, ShapeKind::Vector) if shape.count > count => Class::Longer,
        (Pattern::Vector { count }, ShapeKind::Vector) if shape.count < count => Class::Shorter,
        _ if shape.flags.contains(ShapeFlags::MINUS) => Class::Minus,
        // A sum of a register and a number is taken where a function or a variable with an offset could be.
        _ if shape.flags.contains(ShapeFlags::SUM) => Class::AddressExpression,
        _ => return None,
    };
    (!spec.manual.contains(mark)).then(|| mark.into())
}

/// The classes of an operand that the manual does not have.
fn classes(spec: &OperandSpec, shape: &Shape) -> Option<ClassSet> {
    if spec.pattern == Pattern::List {
        return None;
    }
    let index = ClassSet::of(&[Class::RegB32, Class::RegU32, Class::RegS32, Class::Integer]);
    let layered = spec.manual.contains(Class::Layer) && shape.kind == ShapeKind::Vector && shape.count > 1;
    let given = match layered {
        true => {
            let first = shape.first().map_or(ClassSet::NONE, ClassSet::from);
            shape.rest().union(first.without(index))
        }
        false => shape.classes,
    };
    let more = given.without(spec.manual).without(Class::Unknown.into());
    if more.is_empty() {
        return None;
    }
    let sum = shape.flags.contains(ShapeFlags::OFFSET) && shape.kind == ShapeKind::Value;
    match sum && spec.accepts.contains(Class::AddressExpression) {
        true if spec.manual.contains(Class::AddressExpression) => None,
        true => Some(Class::AddressExpression.into()),
        false => Some(more),
    }
}
