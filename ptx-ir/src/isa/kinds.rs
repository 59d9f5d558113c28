//! What the operands of a form are, whatever its modifiers: for people, who are told of a single spelling by its instance.

use super::form::described;
use super::instance::{FormId, ImmediateRange, Role};
use super::table::{Count, FORMS, Form, List, Operand, PatternTemplate, SpaceRef, TypeRef, Variant};

impl FormId {
    /// What the operands are, those that are alike together: `d, a, b: .type`, `{c}: 2 to 128 × .f32 with .dtype=.f32`.
    #[must_use]
    pub fn operand_kinds(self) -> Vec<String> {
        let form = &FORMS[self.index()];
        let mut found: Vec<(Vec<String>, String)> = Vec::new();
        add(form, form.operands, &mut found);
        let text = |(names, kind): (Vec<String>, String)| format!("{}: {kind}", names.join(", "));
        found.into_iter().map(text).collect()
    }
}

fn add(form: &Form, operands: List<Operand>, found: &mut Vec<(Vec<String>, String)>) {
    for operand in operands {
        if let Some(parts) = operand.variants.iter().map(|each| each.parts).find(|parts| !parts.is_empty()) {
            add(form, parts, found);
            continue;
        }
        let kind = kind(form, operand);
        // Of a label, or of `_`, the name says all.
        if kind.is_empty() {
            continue;
        }
        let name = match operand.variants.first().map(|variant| variant.pattern) {
            Some(PatternTemplate::Address) => format!("[{}]", operand.name),
            Some(PatternTemplate::Vector(_)) => format!("{{{}}}", operand.name),
            Some(PatternTemplate::Negatable) => format!("{{!}}{}", operand.name),
            _ => operand.name.as_str().to_owned(),
        };
        match found.iter_mut().find(|(_, known)| *known == kind) {
            Some((names, _)) => names.push(name),
            None => found.push((vec![name], kind)),
        }
    }
}

/// What an operand is: one thing, or one for each condition.
fn kind(form: &Form, operand: &Operand) -> String {
    let mut kinds: Vec<(String, String)> = Vec::new();
    for variant in operand.variants {
        let kind = variant_kind(form, variant);
        let when = described(form, variant.when);
        match kinds.last_mut() {
            Some((known, before)) if *known == kind => match (before.is_empty(), when.is_empty()) {
                // A condition with more in it than the next one says nothing beside that.
                (false, false) if !before.starts_with(&when) => *before = format!("{before}, or {when}"),
                _ => *before = when,
            },
            _ => kinds.push((kind, when)),
        }
    }
    let text = |(kind, when): (String, String)| match when.is_empty() {
        true => kind,
        // `without .vec` begins with its own word.
        false if when.starts_with("without ") => format!("{kind} {when}"),
        false => format!("{kind} with {when}"),
    };
    let several = kinds.len() > 1;
    let mut texts: Vec<String> = kinds.into_iter().map(text).collect();
    let is_rest = operand.variants.last().is_some_and(|variant| variant.when.is_empty());
    if let Some(last) = texts.last_mut().filter(|_| several && is_rest) {
        last.push_str(" else");
    }
    texts.join("; ")
}

fn variant_kind(form: &Form, variant: &Variant) -> String {
    let ty = type_name(form, variant.ty);
    let text = match variant.pattern {
        PatternTemplate::Vector(count) => {
            let count = count_name(form, count);
            if ty.is_empty() { count } else { format!("{count} × {ty}") }
        }
        PatternTemplate::Address => address(form, variant),
        PatternTemplate::Value
        | PatternTemplate::Negatable
        | PatternTemplate::Pair
        | PatternTemplate::Bracket
        | PatternTemplate::List
        | PatternTemplate::Selectable(_) => ty,
    };
    let limits = limits(&variant.ranges);
    let text = match (text.is_empty(), limits.is_empty()) {
        (_, true) => text,
        (true, false) => limits,
        (false, false) => format!("{text} in {limits}"),
    };
    if variant.role == Role::Both { format!("{text} (read and written)") } else { text }
}

/// The values that an immediate may have, where these are not all: `0 to 15`, `8 to 256 in steps of 8`.
#[must_use]
pub fn limits(ranges: &[ImmediateRange]) -> String {
    let is_all = |range: &&ImmediateRange| range.low == 0 && range.high == i64::from(u32::MAX);
    let limits = ranges.iter().filter(|range| !is_all(range));
    let limits = limits.filter(|range| (range.low, range.high, range.step) != (i64::MIN, i64::MAX, 1));
    let limits = limits.map(|range| match (range.low, range.high, range.step) {
        (i64::MIN, i64::MAX, step) => format!("multiples of {step}"),
        (i64::MIN, high, _) => format!("{high} or less"),
        (low, high, _) if low == high => low.to_string(),
        (low, i64::MAX, _) => format!("{low} or more"),
        (low, high, 1) => format!("{low} to {high}"),
        (low, high, step) if high - low == step => format!("{low} or {high}"),
        (low, high, step) => format!("{low} to {high} in steps of {step}"),
    });
    let limits: Vec<String> = limits.collect();
    match limits.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => limits.concat(),
    }
}

fn address(form: &Form, variant: &Variant) -> String {
    let Some(access) = &variant.access else { return type_name(form, variant.ty) };
    let space = match access.space {
        SpaceRef::None => "a generic address".to_owned(),
        SpaceRef::Fixed(space) => format!("an address in {space}"),
        SpaceRef::Slot(slot) => format!("an address in .{}", form.slots[usize::from(slot)].name),
    };
    let what = match (access.reads, access.writes) {
        (true, true) => ", read and written",
        (true, false) => ", read",
        (false, true) => ", written",
        (false, false) => "",
    };
    format!("{space}{what}")
}

fn type_name(form: &Form, ty: TypeRef) -> String {
    let slot = |slot: u8| format!(".{}", form.slots[usize::from(slot)].name);
    match ty {
        TypeRef::None => String::new(),
        TypeRef::Fixed(ty) => ty.to_string(),
        TypeRef::Slot(index) => slot(index),
        TypeRef::Widened(index) => format!("twice {}", slot(index)),
    }
}

fn count_name(form: &Form, count: Count) -> String {
    match count {
        Count::Fixed(count) => count.to_string(),
        Count::Slot(slot) => format!(".{}", form.slots[usize::from(slot)].name),
        Count::Table(lines) => {
            let counts = || lines.iter().map(|(_, count)| *count);
            match (counts().min(), counts().max()) {
                (Some(least), Some(most)) if least + 1 == most => format!("{least} or {most}"),
                (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
                (least, _) => least.unwrap_or_default().to_string(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::isa::resolve;

    #[test]
    fn operands_that_are_alike_are_told_together() {
        let of = |spelling: &str| resolve(spelling).instances[0].form.operand_kinds();
        assert_eq!(of("add.u32"), ["d, a, b: .type"]);
        assert_eq!(of("mul.wide.u32"), ["d: twice .type", "a, b: .type"]);
        let load = of("ld.global.v2.u32");
        assert!(load.iter().any(|each| each == "[a]: an address in .ss, read"), "{load:?}");
        let wgmma = of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
        assert!(wgmma[0].contains("2 to 64 × .f16x2"), "{wgmma:?}");
    }
}
