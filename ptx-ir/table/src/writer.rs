//! Prints the resolved table as Rust source for `src/isa/table.rs` to include.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use crate::model::{
    Condition, Count, Deviation, Form, Gate, Ignored, Operand, Pattern, SpaceRef, Spare, Table, TypeRef,
    Variant,
};
use crate::version::Version;

/// The Rust source of the table.
pub fn write(table: &Table) -> String {
    write_with(table, Lists::default())
}

/// The same for a reader: with lists and texts at their places.
#[cfg(test)]
pub fn write_in_place(table: &Table) -> String {
    write_with(table, Lists { in_place: true, ..Lists::default() })
}

fn write_with(table: &Table, mut lists: Lists) -> String {
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
        let _ = writeln!(out, "{},", form_source(form, root, &mut lists));
    }
    let _ = writeln!(out, "];\n{}", lists.source());
    let _ = writeln!(out, "/// Classes by table and type: of outputs, of inputs.");
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
    let _ = writeln!(out, "];");
    for (constant, words) in &table.words {
        let _ = writeln!(out, "/// Modifiers that are this.");
        let _ = writeln!(out, "pub static {constant}: [&str; {}] = {words:?};", words.len());
    }
    let _ = writeln!(out, "/// Modifiers that the assembler takes and does not look at.");
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

/// The lists of the forms, each once: a table that repeats them is three times as long, and takes the compiler seconds. All
/// elements of a type lie in one array, and all texts in one text, so that the table has no references.
#[derive(Default)]
struct Lists {
    /// Where a list begins among the elements of its type, by its type and its elements.
    places: HashMap<(&'static str, String), usize>,
    elements: BTreeMap<&'static str, Vec<String>>,
    /// Where a text begins among all.
    text_places: HashMap<String, usize>,
    texts: String,
    /// Lists and texts are where they are used.
    in_place: bool,
}

impl Lists {
    /// The list of such elements.
    fn list(&mut self, ty: &'static str, elements: &[String]) -> String {
        if self.in_place {
            return format!("[{}]", elements.join(", "));
        }
        if elements.is_empty() {
            return "List::EMPTY".to_owned();
        }
        let all = self.elements.entry(ty).or_default();
        let first = *self.places.entry((ty, elements.join(", "))).or_insert_with(|| {
            all.extend_from_slice(elements);
            all.len() - elements.len()
        });
        format!("List::new({first}, {})", elements.len())
    }

    fn text(&mut self, text: &str) -> String {
        if self.in_place {
            return format!("{text:?}");
        }
        let first = *self.text_places.entry(text.to_owned()).or_insert_with(|| {
            self.texts += text;
            self.texts.len() - text.len()
        });
        format!("Text {{ first: {first}, length: {} }}", text.len())
    }

    /// A text that may be missing.
    fn optional(&mut self, text: Option<&str>) -> String {
        text.map_or_else(|| "None".to_owned(), |text| format!("Some({})", self.text(text)))
    }

    fn strings(&mut self, strings: &[String]) -> String {
        let strings: Vec<String> = strings.iter().map(|string| self.text(string)).collect();
        self.list("Text", &strings)
    }

    fn condition(&mut self, condition: &Condition) -> String {
        let parts: Vec<String> =
            condition.iter().map(|(slot, mask)| format!("({slot}, {mask:#x})")).collect();
        self.list("(u8, u64)", &parts)
    }

    fn operands(&mut self, operands: &[Operand]) -> String {
        let operands: Vec<String> = operands.iter().map(|operand| operand_source(operand, self)).collect();
        self.list("Operand", &operands)
    }

    /// The Rust source of all.
    fn source(&self) -> String {
        let mut source = format!("/// All texts.\nstatic TEXTS: &str = {:?};\n", self.texts);
        for (number, (ty, elements)) in self.elements.iter().enumerate() {
            let count = elements.len();
            let _ = writeln!(source, "static ELEMENTS_{number}: [{ty}; {count}] = [");
            for element in elements {
                let _ = writeln!(source, "{element},");
            }
            let _ = writeln!(
                source,
                "];\nimpl Listed for {ty} {{\nfn all() -> &'static [Self] {{\n&ELEMENTS_{number}\n}}\n}}"
            );
        }
        source
    }
}

fn form_source(form: &Form, root: usize, lists: &mut Lists) -> String {
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
        does,
        misread,
        bracket,
        beyond,
    } = form;
    let (does, example) = match does {
        Some(does) => (Some(does.what.as_str()), does.example.as_deref()),
        None => (None, None),
    };
    let texture_mode =
        texture_mode.map_or_else(|| "None".to_owned(), |mode| format!("Some(TextureMode::{mode})"));
    let beyond: Vec<String> = beyond
        .iter()
        .map(|(when, reason)| format!("({}, {})", lists.condition(when), lists.text(reason)))
        .collect();
    let deviations: Vec<String> = deviations
        .iter()
        .map(|Deviation { when, classes, reason }| {
            let (when, reason) = (lists.condition(when), lists.text(reason));
            format!(
                "Deviation {{ when: {when}, classes: ClassSet::from_bits({classes:#x}), reason: {reason} }}"
            )
        })
        .collect();
    let idle: Vec<String> = idle.iter().map(|when| lists.condition(when)).collect();
    let spare: Vec<String> = spare
        .iter()
        .map(|Spare { words, ahead, length, when, version, targets }| {
            let (words, when, version) = (lists.strings(words), lists.condition(when), version_source(*version));
            format!(
                "Spare {{ words: {words}, ahead: {ahead}, length: {length}, when: {when}, version: {version}, targets: {targets:#x} }}"
            )
        })
        .collect();
    let slots: Vec<String> = slots
        .iter()
        .map(|slot| {
            let (name, values) = (lists.text(&slot.name), lists.strings(&slot.values));
            format!("Slot {{ name: {name}, values: {values}, optional: {} }}", slot.optional)
        })
        .collect();
    let rules: Vec<String> = rules
        .iter()
        .map(|rule| {
            let (when, then, needs) = (lists.condition(&rule.when), lists.condition(&rule.then), rule.needs);
            format!("Rule {{ when: {when}, then: {then}, needs: {needs} }}")
        })
        .collect();
    let gates: Vec<String> = gates.iter().map(|gate| gate_source(gate, lists)).collect();
    let effects: Vec<String> = effects
        .iter()
        .map(|(when, words)| {
            let when = lists.condition(when);
            let words = crate::words::effects(words).unwrap_or_default();
            format!("({when}, {})", lists.list("Effect", &words))
        })
        .collect();
    let beyond = lists.list("(Condition, Text)", &beyond);
    let deviations = lists.list("Deviation", &deviations);
    let idle = lists.list("Condition", &idle);
    let spare = lists.list("Spare", &spare);
    let slots = lists.list("Slot", &slots);
    let rules = lists.list("Rule", &rules);
    let gates = lists.list("GateRule", &gates);
    let effects = lists.list("(Condition, List<Effect>)", &effects);
    let operands = lists.operands(operands);
    let (section, syntax) = (lists.text(section), lists.text(syntax));
    let place = lists.text(&format!("{file}:{line}"));
    let (does, example) = (lists.optional(does), lists.optional(example));
    let misread = lists.optional(misread.as_deref());
    format!(
        "Form {{ section: {section}, opcode: OpcodeId({root}), syntax: {syntax}, place: {place}, \
         strict_order: {strict_order}, texture_mode: {texture_mode}, narrowed: {narrowed}, does: {does}, example: {example}, misread: {misread}, \
         bracket: {bracket:?}, beyond: {beyond}, deviations: {deviations}, idle: {idle}, spare: {spare}, \
         slots: {slots}, rules: {rules}, gates: {gates}, effects: {effects}, operands: {operands} }}"
    )
}

fn version_source(version: Version) -> String {
    format!("Version::new({}, {})", version.major(), version.minor())
}

fn gate_source(gate: &Gate, lists: &mut Lists) -> String {
    let Gate { when, version, until, targets, of_operand: _, present, operands, classes, amended } = gate;
    let (when, present, operands) = (lists.condition(when), lists.strings(present), lists.strings(operands));
    let (version, until) = (version_source(*version), version_source(*until));
    format!(
        "GateRule {{ when: {when}, version: {version}, until: {until}, targets: {targets:#x}, present: {present}, operands: {operands}, \
         classes: ClassSet::from_bits({classes:#x}), amended: {amended} }}"
    )
}

fn operand_source(operand: &Operand, lists: &mut Lists) -> String {
    let Operand { name, optional, purpose, when, variants, manual, reasons } = operand;
    let purpose = purpose.map_or("None".to_owned(), |purpose| format!("Some(Purpose::{purpose})"));
    let variants: Vec<String> = variants.iter().map(|variant| variant_source(variant, lists)).collect();
    let manual: Vec<String> = manual
        .iter()
        .map(|Variant { when, role, ty, table, plus, minus, access, .. }| {
            let (when, ty) = (lists.condition(when), type_source(ty));
            let space = access
                .as_ref()
                .map_or("SpaceRef::None".to_owned(), |access| space_source(&access.space, lists));
            format!(
                "Manual {{ when: {when}, role: Role::{role}, ty: {ty}, table: {table}, plus: {plus:#x}, \
                 minus: {minus:#x}, space: {space} }}"
            )
        })
        .collect();
    let when = lists.condition(when);
    let (variants, manual) = (lists.list("Variant", &variants), lists.list("Manual", &manual));
    let reasons = lists.strings(reasons);
    format!(
        "Operand {{ name: {}, optional: {optional}, purpose: {purpose}, when: {when}, variants: {variants}, \
         manual: {manual}, reasons: {reasons} }}",
        lists.text(name)
    )
}

fn space_source(space: &SpaceRef, lists: &mut Lists) -> String {
    match space {
        SpaceRef::None => "SpaceRef::None".to_owned(),
        SpaceRef::Fixed(name) => format!("SpaceRef::Fixed({})", lists.text(name)),
        SpaceRef::Slot(slot) => format!("SpaceRef::Slot({slot})"),
    }
}

fn variant_source(variant: &Variant, lists: &mut Lists) -> String {
    let Variant { when, role, pattern, ty, table, plus, minus, ranges, access, parts } = variant;
    let (when, pattern, ty) = (lists.condition(when), pattern_source(pattern, lists), type_source(ty));
    let ranges: Vec<String> = ranges
        .iter()
        .map(|(low, high, step)| format!("ImmediateRange {{ low: {low}, high: {high}, step: {step} }}"))
        .collect();
    let ranges = lists.list("ImmediateRange", &ranges);
    let access = access.as_ref().map_or("None".to_owned(), |access| {
        let space = space_source(&access.space, lists);
        let size = match &access.size {
            None => "None".to_owned(),
            Some((vector, ty)) => format!("Some(({vector:?}, {}))", type_source(ty)),
        };
        let (reads, writes) = (access.reads, access.writes);
        let (sized, aligned) = (lists.optional(access.sized.as_deref()), access.aligned);
        format!(
            "Some(AccessTemplate {{ space: {space}, reads: {reads}, writes: {writes}, size: {size}, \
             sized: {sized}, aligned: {aligned} }})"
        )
    });
    let parts = lists.operands(parts);
    format!(
        "Variant {{ when: {when}, role: Role::{role}, pattern: {pattern}, ty: {ty}, table: {table}, plus: {plus:#x}, \
         minus: {minus:#x}, ranges: {ranges}, access: {access}, parts: {parts} }}"
    )
}

fn pattern_source(pattern: &Pattern, lists: &mut Lists) -> String {
    let pattern = match pattern {
        Pattern::Value => "Value".to_owned(),
        Pattern::Negatable => "Negatable".to_owned(),
        Pattern::Address => "Address".to_owned(),
        Pattern::Pair => "Pair".to_owned(),
        Pattern::Bracket => "Bracket".to_owned(),
        Pattern::List => "List".to_owned(),
        Pattern::Selectable(kind) => format!("Selectable(Selectors::{kind})"),
        Pattern::Vector(Count::Fixed(count)) => format!("Vector(Count::Fixed({count}))"),
        Pattern::Vector(Count::Slot(slot)) => format!("Vector(Count::Slot({slot}))"),
        Pattern::Vector(Count::Table(lines)) => {
            let lines: Vec<String> =
                lines.iter().map(|(when, count)| format!("({}, {count})", lists.condition(when))).collect();
            format!("Vector(Count::Table({}))", lists.list("(Condition, u16)", &lines))
        }
    };
    format!("PatternTemplate::{pattern}")
}

fn type_source(ty: &TypeRef) -> String {
    match ty {
        TypeRef::None => "TypeRef::None".to_owned(),
        TypeRef::Fixed(ty) => format!("TypeRef::Fixed(Type::{ty:?})"),
        TypeRef::Slot(slot) => format!("TypeRef::Slot({slot})"),
        TypeRef::Widened(slot) => format!("TypeRef::Widened({slot})"),
    }
}
