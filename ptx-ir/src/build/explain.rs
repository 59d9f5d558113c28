//! Sentences about operands that do not fit.

use crate::isa::{Beyond, Class, ClassSet, ImmediateRange, Mismatch, Pattern, Resolved, Shape, Wanted};

/// Which operand does not fit, and why.
pub(super) fn explain(resolved: &Resolved, mismatch: &Mismatch, shapes: &[Shape]) -> (Option<usize>, String) {
    match mismatch {
        Mismatch::NoInstance => (None, "has no meaning".to_owned()),
        Mismatch::Count { given, expected, .. } => {
            let counts: Vec<String> = expected.iter().map(ToString::to_string).collect();
            let noun = if expected == &[1] { "operand" } else { "operands" };
            (None, format!("takes {} {noun}, not {given}", join(&counts)))
        }
        Mismatch::Operand { operand, part, spec, instance, wanted } => {
            let mut spec = resolved.instances.get(*instance).and_then(|found| found.operands.get(*spec));
            if let (Some(part), Some(whole)) = (part, spec) {
                spec = whole.children.get(*part);
            }
            let pattern = spec.map_or(Pattern::Value, |spec| spec.pattern);
            let given = shapes.get(*operand);
            (Some(*operand), wanted_phrase(wanted, pattern, given.filter(|_| part.is_none())))
        }
    }
}

/// Which operand the manual does not have, or what else, and why the assembler takes it.
pub(super) fn beyond(beyond: &Beyond) -> (Option<usize>, String) {
    match beyond {
        Beyond::Form { reason } => (None, (*reason).to_owned()),
        Beyond::Modifier { modifier, reason } => (None, format!("`{modifier}`: {reason}")),
        Beyond::Operand { operand, reasons, .. } => (Some(*operand), reasons.join("; ")),
    }
}

fn wanted_phrase(wanted: &Wanted, pattern: Pattern, given: Option<&Shape>) -> String {
    let given = |set: ClassSet| given.map(|given| given.classes.without(set)).filter(|set| !set.is_empty());
    match wanted {
        Wanted::Kind => format!("expected {}", pattern_phrase(pattern)),
        Wanted::Class(set) => match given(*set) {
            Some(given) => format!("expected {}, not {}", set_phrase(*set), set_phrase(given)),
            None => format!("expected {}", set_phrase(*set)),
        },
        Wanted::Length { expected } => format!("expected a vector of {expected} elements"),
        Wanted::Parts { expected } => format!("expected {expected} parts"),
        Wanted::Range(ranges) => {
            let ranges: Vec<String> = ranges.iter().map(range_phrase).collect();
            format!("expected an integer {}", join(&ranges))
        }
        Wanted::NoOffset => "expected an address without an offset".to_owned(),
        Wanted::Neighbours => "expected neighbours of one kind in the brace list".to_owned(),
        Wanted::Selector => "expected another selector".to_owned(),
    }
}

fn pattern_phrase(pattern: Pattern) -> String {
    match pattern {
        Pattern::Value | Pattern::Selectable { .. } => "a single value".to_owned(),
        Pattern::NegatableValue => "a predicate, negated or not".to_owned(),
        Pattern::Pair => "a pair `a|b`".to_owned(),
        Pattern::Vector { count } => format!("a vector of {count} elements"),
        Pattern::Address => "an address in brackets".to_owned(),
        Pattern::Bracket => "several parts in brackets".to_owned(),
        Pattern::List => "a list in parentheses".to_owned(),
    }
}

fn range_phrase(range: &ImmediateRange) -> String {
    let step = if range.step == 1 { String::new() } else { format!(" in steps of {}", range.step) };
    format!("from {} to {}{step}", range.low, range.high)
}

/// What a set of classes is called: register types in one list, then everything else.
fn set_phrase(set: ClassSet) -> String {
    let registers = set.intersect(ClassSet::REGISTERS);
    let types: Vec<String> =
        registers.iter().filter_map(Class::register_type).map(|ty| format!("`{ty}`")).collect();
    let mut phrases: Vec<String> = Vec::new();
    if !types.is_empty() {
        phrases.push(format!("a register of type {}", join(&types)));
    }
    for class in set.without(ClassSet::REGISTERS).iter() {
        let phrase = class.phrase().to_owned();
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    if phrases.is_empty() { "nothing".to_owned() } else { join(&phrases) }
}

/// `a`, `a or b`, `a, b or c`.
fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}
