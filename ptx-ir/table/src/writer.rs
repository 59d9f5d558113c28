//! Prints the resolved table as Rust source for `src/isa/table.rs` to include.

use std::fmt::Write as _;

use crate::model::{
    Condition, Count, Deviation, Form, Gate, Ignored, Operand, Pattern, SpaceRef, Spare, Table, TypeRef,
    Variant,
};

/// The Rust source of the table.
pub fn write(table: &Table) -> String {
    let mut out = String::new();
    let mut roots: Vec<&str> = table.forms.iter().map(|form| form.root.as_str()).collect();
    roots.dedup();
    let _ = writeln!(out, "/// The opcodes in alphabetical order, each with the range of its forms.");
    let _ = writeln!(out, "pub(super) static OPCODES: [Opcode; {}] = [", roots.len());
    for root in &roots {
        let first = table.forms.iter().position(|form| form.root == *root).unwrap_or_default();
        let count = table.forms.iter().filter(|form| form.root == *root).count();
        let _ = writeln!(out, "Opcode {{ name: {root:?}, first: {first}, count: {count} }},");
    }
    let _ = writeln!(out, "];\n/// The forms, sorted by opcode.");
    let _ = writeln!(out, "pub(super) static FORMS: [Form; {}] = [", table.forms.len());
    for form in &table.forms {
        let root = roots.iter().position(|root| *root == form.root).unwrap_or_default();
        write_form(&mut out, form, root);
    }
    let _ = writeln!(out, "];\n/// Classes by table and type: of outputs, of inputs.");
    let types = table.variants.first().map_or(0, |variant| variant.len());
    let _ =
        writeln!(out, "pub(super) static CLASSES: [[(u128, u128); {types}]; {}] = [", table.variants.len());
    for variant in &table.variants {
        let _ = writeln!(out, "{variant:?},");
    }
    let (element, exact) = table.element_tables;
    let _ = writeln!(
        out,
        "];\n/// The class table for elements of brace lists.\npub(super) const ELEMENT_TABLE: u8 = {element};"
    );
    let _ = writeln!(
        out,
        "/// The class table for brace lists without plain bits.\npub(super) const EXACT_TABLE: u8 = {exact};"
    );
    let _ = writeln!(out, "/// Classes of the base of an address, by space.");
    let _ = writeln!(
        out,
        "pub(super) static ADDRESSES: [(&str, u128); {}] = {:?};",
        table.addresses.len(),
        table.addresses
    );
    write_manual(&mut out, table);
    let _ = writeln!(out, "/// Opcodes of several words, sorted.");
    let _ = writeln!(out, "pub(super) static NAMES: [&str; {}] = {:?};", table.names.len(), table.names);
    let _ = writeln!(out, "/// Modifiers that may stand several times.");
    let (count, repeatable) = (table.repeatable.len(), &table.repeatable);
    let _ = writeln!(out, "pub(super) static REPEATABLE: [&str; {count}] = {repeatable:?};");
    let _ = writeln!(out, "/// Modifiers that keep their order among each other.");
    let _ = write!(out, "pub(super) static TOGETHER: [&[&str]; {}] = [", table.together.len());
    for list in &table.together {
        let _ = write!(out, "&{list:?}, ");
    }
    let _ = writeln!(out, "];\n/// Modifiers that the assembler takes and does not look at.");
    let _ = write!(out, "pub(super) static IGNORED: [Ignored; {}] = [", table.ignored.len());
    for Ignored { any, but, names, modifiers, .. } in &table.ignored {
        let _ = write!(
            out,
            "Ignored {{ any: {any}, but: {but}, names: &{names:?}, modifiers: &{modifiers:?} }}, "
        );
    }
    let _ = writeln!(out, "];");
    out
}

/// What the manual takes, and the reasons for what the assembler takes.
fn write_manual(out: &mut String, table: &Table) {
    let types = table.manual_variants.first().map_or(0, |variant| variant.len());
    let count = table.manual_variants.len();
    let _ = writeln!(out, "/// Classes by table and type as the manual has them.");
    let _ = writeln!(out, "pub(super) static MANUAL_CLASSES: [[(u128, u128); {types}]; {count}] = [");
    for variant in &table.manual_variants {
        let _ = writeln!(out, "{variant:?},");
    }
    let _ = writeln!(out, "];\n/// Classes of the base of an address as the manual has them, by space.");
    let (count, addresses) = (table.manual_addresses.len(), &table.manual_addresses);
    let _ = writeln!(out, "pub(super) static MANUAL_ADDRESSES: [(&str, u128); {count}] = {addresses:?};");
    let _ = writeln!(out, "/// Why the assembler takes or refuses classes.");
    let (count, reasons) = (table.reasons.len(), &table.reasons);
    let _ = writeln!(out, "pub(super) static REASONS: [(char, u128, &str); {count}] = {reasons:?};");
}

fn write_form(out: &mut String, form: &Form, root: usize) {
    let Form {
        section,
        root: _,
        syntax,
        file,
        line,
        slots,
        opcode_words: _,
        rules,
        gates,
        operands,
        effects,
        deviations,
        idle,
        spare,
        strict_order,
        texture_mode,
        narrowed,
        misread,
        bracket,
        beyond,
    } = form;
    let _ = write!(
        out,
        "Form {{ section: {section:?}, opcode: OpcodeId({root}), syntax: {syntax:?}, place: \"{file}:{line}\", "
    );
    let texture_mode =
        texture_mode.map_or_else(|| "None".to_owned(), |mode| format!("Some(TextureMode::{mode})"));
    let _ = write!(
        out,
        "strict_order: {strict_order}, texture_mode: {texture_mode}, narrowed: {narrowed}, misread: {misread:?}, bracket: {bracket:?}, "
    );
    let _ = write!(out, "beyond: &[");
    for (when, reason) in beyond {
        let _ = write!(out, "(");
        write_condition(out, when);
        let _ = write!(out, ", {reason:?}), ");
    }
    let _ = write!(out, "], deviations: &[");
    for Deviation { when, classes, reason } in deviations {
        let _ = write!(out, "Deviation {{ when: ");
        write_condition(out, when);
        let _ = write!(out, ", classes: ClassSet::from_bits({classes:#x}), reason: {reason:?} }}, ");
    }
    let _ = write!(out, "], idle: &[");
    for when in idle {
        write_condition(out, when);
        let _ = write!(out, ", ");
    }
    let _ = write!(out, "], spare: &[");
    for Spare { words, ahead, length, when, version, targets } in spare {
        let (major, minor) = (version.major(), version.minor());
        let _ = write!(out, "Spare {{ words: &{words:?}, ahead: {ahead}, length: {length}, when: ");
        write_condition(out, when);
        let _ = write!(out, ", version: Version::new({major}, {minor}), targets: {targets:#x} }}, ");
    }
    let _ = write!(out, "], slots: &[");
    for slot in slots {
        let (name, values, optional) = (&slot.name, &slot.values, slot.optional);
        let _ = write!(out, "Slot {{ name: {name:?}, values: &{values:?}, optional: {optional} }}, ");
    }
    let _ = write!(out, "], rules: &[");
    for rule in rules {
        let _ = write!(out, "Rule {{ when: ");
        write_condition(out, &rule.when);
        let _ = write!(out, ", then: ");
        write_condition(out, &rule.then);
        let _ = write!(out, ", needs: {} }}, ", rule.needs);
    }
    let _ = write!(out, "], gates: &[");
    for gate in gates {
        let _ = write!(out, "GateRule {{ when: ");
        write_condition(out, &gate.when);
        let (major, minor) = (gate.version.major(), gate.version.minor());
        let _ = write!(out, ", version: Version::new({major}, {minor}), ");
        let (major, minor) = (gate.until.major(), gate.until.minor());
        let _ = write!(out, "until: Version::new({major}, {minor}), targets: {:#x}, ", gate.targets);
        let Gate { operands, classes, amended, .. } = gate;
        let _ = write!(
            out,
            "operands: &{operands:?}, classes: ClassSet::from_bits({classes:#x}), amended: {amended} }}, "
        );
    }
    let _ = write!(out, "], effects: &[");
    for (when, words) in effects {
        let _ = write!(out, "(");
        write_condition(out, when);
        let words = effects_source(words);
        let _ = write!(out, ", &[{words}]), ");
    }
    let _ = write!(out, "], operands: ");
    write_operands(out, operands);
    let _ = writeln!(out, " }},");
}

fn write_condition(out: &mut String, condition: &Condition) {
    let _ = write!(out, "&[");
    for (slot, mask) in condition {
        let _ = write!(out, "({slot}, {mask:#x}), ");
    }
    let _ = write!(out, "]");
}

fn write_operands(out: &mut String, operands: &[Operand]) {
    let _ = write!(out, "&[");
    for operand in operands {
        let purpose =
            operand.purpose.map_or("None".to_owned(), |purpose| format!("Some(Purpose::{purpose})"));
        let (name, optional) = (&operand.name, operand.optional);
        let _ = write!(out, "Operand {{ name: {name:?}, optional: {optional}, purpose: {purpose}, when: ");
        write_condition(out, &operand.when);
        let _ = write!(out, ", variants: &[");
        for variant in &operand.variants {
            write_variant(out, variant);
        }
        let _ = write!(out, "], manual: &[");
        for Variant { when, role, ty, table, plus, minus, access, .. } in &operand.manual {
            let _ = write!(out, "Manual {{ when: ");
            write_condition(out, when);
            let access = access.as_ref();
            let (space, ty) =
                (access.map_or("SpaceRef::None".to_owned(), |it| space_source(&it.space)), type_source(ty));
            let _ = write!(
                out,
                ", role: Role::{role}, ty: {ty}, table: {table}, plus: {plus:#x}, minus: {minus:#x}, space: {space} }}, "
            );
        }
        let _ = write!(out, "], reasons: &{:?} }}, ", operand.reasons);
    }
    let _ = write!(out, "]");
}

fn space_source(space: &SpaceRef) -> String {
    match space {
        SpaceRef::None => "SpaceRef::None".to_owned(),
        SpaceRef::Fixed(name) => format!("SpaceRef::Fixed({name:?})"),
        SpaceRef::Slot(slot) => format!("SpaceRef::Slot({slot})"),
    }
}

fn write_variant(out: &mut String, variant: &Variant) {
    let Variant { when, role, pattern, ty, table, plus, minus, ranges, access, parts } = variant;
    let _ = write!(out, "Variant {{ when: ");
    write_condition(out, when);
    let _ = write!(out, ", role: Role::{role}, pattern: ");
    write_pattern(out, pattern);
    let _ = write!(
        out,
        ", ty: {}, table: {table}, plus: {plus:#x}, minus: {minus:#x}, ranges: &[",
        type_source(ty)
    );
    for (low, high, step) in ranges {
        let _ = write!(out, "ImmediateRange {{ low: {low}, high: {high}, step: {step} }}, ");
    }
    let _ = write!(out, "], access: ");
    match access {
        None => {
            let _ = write!(out, "None");
        }
        Some(access) => {
            let space = space_source(&access.space);
            let size = match &access.size {
                None => "None".to_owned(),
                Some((vector, ty)) => format!("Some(({vector:?}, {}))", type_source(ty)),
            };
            let (reads, writes) = (access.reads, access.writes);
            let (sized, aligned) = (&access.sized, access.aligned);
            let _ = write!(
                out,
                "Some(AccessTemplate {{ space: {space}, reads: {reads}, writes: {writes}, size: {size}, \
                 sized: {sized:?}, aligned: {aligned} }})"
            );
        }
    }
    let _ = write!(out, ", parts: ");
    write_operands(out, parts);
    let _ = write!(out, " }}, ");
}

fn write_pattern(out: &mut String, pattern: &Pattern) {
    let _ = match pattern {
        Pattern::Value => write!(out, "PatternTemplate::Value"),
        Pattern::Negatable => write!(out, "PatternTemplate::Negatable"),
        Pattern::Address => write!(out, "PatternTemplate::Address"),
        Pattern::Pair => write!(out, "PatternTemplate::Pair"),
        Pattern::Bracket => write!(out, "PatternTemplate::Bracket"),
        Pattern::List => write!(out, "PatternTemplate::List"),
        Pattern::Selectable(kind) => write!(out, "PatternTemplate::Selectable(Selectors::{kind})"),
        Pattern::Vector(Count::Fixed(count)) => write!(out, "PatternTemplate::Vector(Count::Fixed({count}))"),
        Pattern::Vector(Count::Slot(slot)) => write!(out, "PatternTemplate::Vector(Count::Slot({slot}))"),
        Pattern::Vector(Count::Table(lines)) => {
            let _ = write!(out, "PatternTemplate::Vector(Count::Table(&[");
            for (when, count) in lines {
                let _ = write!(out, "(");
                write_condition(out, when);
                let _ = write!(out, ", {count}), ");
            }
            write!(out, "]))")
        }
    };
}

fn type_source(ty: &TypeRef) -> String {
    match ty {
        TypeRef::None => "TypeRef::None".to_owned(),
        TypeRef::Fixed(ty) => format!("TypeRef::Fixed(Type::{ty:?})"),
        TypeRef::Slot(slot) => format!("TypeRef::Slot({slot})"),
        TypeRef::Widened(slot) => format!("TypeRef::Widened({slot})"),
    }
}

fn effects_source(words: &[String]) -> String {
    crate::words::effects(words).unwrap_or_default().join(", ")
}
