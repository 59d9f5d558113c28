//! Gives every name of the files its meaning and checks that the parts fit together.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::class_words::classes;
use crate::fault::{Fault, Faults};
use crate::group::Group;
use crate::layers::Reasons;
use crate::model::{Form, Ignored, Table};
use crate::operands::Layer;
use crate::parser::{ClassLine, File, Item};
use crate::scope::Scope;
use crate::types::Type;
use crate::words::LISTS;

/// Resolves all files.
pub fn resolve(files: &[File], reasons: &Reasons, faults: &mut Faults) -> Table {
    let mut shared = Shared::default();
    for file in files {
        shared.read_classes(file, faults);
    }
    shared.finish();
    let mut everywhere = Scope::default();
    for file in files.iter().filter(|file| file.is_shared()) {
        file.items.iter().for_each(|item| everywhere.define(&file.name, item, faults));
    }
    let mut forms = Vec::new();
    for file in files.iter().filter(|file| !file.is_shared()) {
        let mut scope = everywhere.clone();
        for item in &file.items {
            scope.define(&file.name, item, faults);
            if let Item::Form(definition) = item {
                let group = Group::new(&shared, &scope, &definition.file, definition, faults);
                forms.extend(group.forms(faults));
            }
        }
        scope.report_unused(&shared, &file.name, faults);
    }
    for file in files.iter().filter(|file| file.is_shared()) {
        everywhere.report_unused(&shared, &file.name, faults);
    }
    forms.sort_by(|one, other| one.root.cmp(&other.root));
    let table = |name| shared.table(name, Layer::Assembler).unwrap_or(0);
    let element_tables = (table("element"), table("exact"));
    let names: BTreeSet<String> = forms.iter().flat_map(names).collect();
    let names: Vec<String> = names.into_iter().collect();
    check_opcodes(&names, files, &forms, faults);
    tell_what_forms_do(files, &mut forms, faults);
    Table {
        forms,
        variants: shared.assembler.variants,
        element_tables,
        addresses: shared.assembler.addresses,
        manual_variants: shared.manual.variants,
        manual_addresses: shared.manual.addresses,
        reasons: class_reasons(reasons, faults),
        names,
        repeatable: shared.repeatable,
        together: shared.together,
        words: shared.words,
        ignored: shared.ignored,
    }
}

/// What a named kind of operand takes: its type, and the classes for outputs and for inputs.
pub struct NamedKind {
    /// The type, where it has one.
    pub ty: Option<Type>,
    /// The classes by the manual.
    manual: (u128, u128),
    /// What the assembler takes besides.
    besides: (u128, u128),
}

impl NamedKind {
    /// The classes of an output and of an input.
    pub const fn classes(&self, layer: Layer) -> (u128, u128) {
        let (places, sources) = self.manual;
        match layer {
            Layer::Manual => (places, sources),
            Layer::Both | Layer::Assembler => (places | self.besides.0, sources | self.besides.1),
        }
    }
}

/// The reasons of classes as bits; those of class tables have none.
fn class_reasons(reasons: &Reasons, faults: &mut Faults) -> Vec<(char, u128, String)> {
    let mut found = Vec::new();
    for ((sign, word), text) in reasons.iter().filter(|((sign, _), _)| *sign != '/') {
        let bits = classes("assembler/types.isa", 0, std::slice::from_ref(word));
        found.extend(faults.keep(bits).map(|bits| (*sign, bits, text.clone())));
    }
    found
}

/// The opcodes of several words that a form has: with each value of a modifier that is one of its words.
fn names(form: &Form) -> Vec<String> {
    let mut names = vec![form.root.clone()];
    for slot in &form.slots[..form.opcode_words] {
        let longer =
            |name: &String| slot.values.iter().map(move |value| format!("{name}{value}")).collect::<Vec<_>>();
        let with: Vec<String> = names.iter().flat_map(longer).collect();
        if !slot.optional {
            names.clear();
        }
        names.extend(with);
    }
    names.retain(|name| *name != form.root);
    names
}

/// Gives each form that says nothing itself what the `does` with most of its words says; of several the last.
fn tell_what_forms_do(files: &[File], forms: &mut [Form], faults: &mut Faults) {
    let items = files.iter().flat_map(|file| file.items.iter().map(move |item| (file, item)));
    let rows = items.filter_map(|(file, item)| match item {
        Item::Does(row) => Some((file, row)),
        _ => None,
    });
    let rows: Vec<_> = rows.collect();
    let mut used = vec![false; rows.len()];
    for form in forms.iter_mut().filter(|form| form.does.is_none()) {
        let spelling = without_braces(form.syntax.split_whitespace().next().unwrap_or_default());
        let words: Vec<&str> = spelling.trim_end_matches(';').split('.').collect();
        let of_form = rows.iter().enumerate().filter(|(_, (_, row))| has_in_order(&words, &row.words));
        if let Some((index, (_, row))) = of_form.max_by_key(|(_, (_, row))| row.words.len()) {
            form.does = Some(row.does.clone());
            used[index] = true;
        }
    }
    for (_, (file, row)) in used.iter().zip(&rows).filter(|(used, _)| !**used) {
        let message = format!("no form needs what this says of `{}`", row.words.join("."));
        faults.push(Fault::new(&file.name, row.line, message));
    }
}

/// Whether a spelling begins with the first of some words, and has the others after it in their order.
fn has_in_order(spelling: &[&str], words: &[String]) -> bool {
    let mut left = spelling.iter();
    spelling.first().copied() == words.first().map(String::as_str)
        && words.iter().all(|word| left.any(|each| each == word))
}

fn without_braces(text: &str) -> String {
    let mut depth = 0_u32;
    let mut is_outside = |character: &char| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(|character| is_outside(character)).collect()
}

/// Checks that the lists of ignored modifiers name opcodes that there are.
fn check_opcodes(names: &[String], files: &[File], forms: &[Form], faults: &mut Faults) {
    let is_known =
        |name: &&String| names.contains(name) || forms.iter().any(|form| form.root == name.as_str());
    for file in files {
        for item in &file.items {
            let Item::Ignored(list) = item else { continue };
            for unknown in list.names.iter().filter(|name| !is_known(name)) {
                faults.push(Fault::new(&file.name, list.line, format!("no opcode is called `{unknown}`")));
            }
        }
    }
}

/// Class tables and named kinds, which all files share.
#[derive(Default)]
pub struct Shared {
    repeatable: Vec<String>,
    together: Vec<Vec<String>>,
    words: Vec<(&'static str, Vec<String>)>,
    ignored: Vec<Ignored>,
    manual: Tables,
    assembler: Tables,
    /// The named kinds of operands.
    pub kinds: BTreeMap<String, NamedKind>,
    /// The clauses that hold for a form, by their address in memory.
    pub applied: RefCell<BTreeSet<usize>>,
}

/// Class tables by name.
#[derive(Default)]
struct Tables {
    names: Vec<String>,
    lines: Vec<BTreeMap<Type, (u128, u128)>>,
    /// For each type the bits of outputs and of inputs. The last table is empty.
    variants: Vec<[(u128, u128); Type::ALL.len()]>,
    /// The classes of the base of an address, by space.
    addresses: Vec<(String, u128)>,
}

impl Tables {
    /// Adds to a table.
    fn add(&mut self, table: &str, ty: Type, bits: (u128, u128)) {
        let index = self.names.iter().position(|each| each == table).unwrap_or_else(|| {
            self.names.push(table.to_owned());
            self.lines.push(BTreeMap::new());
            self.names.len() - 1
        });
        let entry = self.lines[index].entry(ty).or_default();
        *entry = (entry.0 | bits.0, entry.1 | bits.1);
    }

    fn add_address(&mut self, space: &str, bits: u128) {
        match self.addresses.iter_mut().find(|(name, _)| name == space) {
            Some((_, known)) => *known |= bits,
            None => self.addresses.push((space.to_owned(), bits)),
        }
    }

    /// Fills what a table does not mention from the table `default`.
    fn finish(&mut self) {
        let empty = BTreeMap::new();
        let default = self.names.iter().position(|name| name == "default");
        let default = default.map_or(&empty, |index| &self.lines[index]);
        for lines in &self.lines {
            let bits = |ty: &Type| lines.get(ty).or(default.get(ty)).copied().unwrap_or_default();
            self.variants.push(std::array::from_fn(|index| bits(&Type::ALL[index])));
        }
        // Named kinds bring their classes themselves.
        self.variants.push([(0, 0); Type::ALL.len()]);
    }
}

impl Shared {
    fn read_classes(&mut self, file: &File, faults: &mut Faults) {
        for item in &file.items {
            let read = self.read(&file.name, item);
            faults.keep(read);
        }
    }

    fn read(&mut self, file: &str, item: &Item) -> Result<(), Fault> {
        match item {
            Item::Classes(table) if table.name == "address" => {
                for line in &table.lines {
                    let bits = classes(file, line.line, &line.places)?;
                    self.assembler.add_address(&line.name, bits);
                    if !table.besides {
                        self.manual.add_address(&line.name, bits);
                    }
                }
            }
            Item::Classes(table) => {
                for line in &table.lines {
                    let (ty, bits) = type_line(file, line)?;
                    // Registers are marked for the manual alone: to the assembler an operand is judged by its list.
                    if table.name != "register" {
                        self.assembler.add(&table.name, ty, bits);
                    }
                    if !table.besides {
                        self.manual.add(&table.name, ty, bits);
                    }
                }
            }
            Item::Operand(line) => {
                let ty = line.ty.as_deref().map(|name| parse_type(file, line.line, name)).transpose()?;
                let places = classes(file, line.line, &line.places)?;
                let sources = places | classes(file, line.line, &line.sources)?;
                match self.kinds.get_mut(&line.name) {
                    Some(kind) if line.besides => kind.besides = (places, sources),
                    Some(_) => {
                        return Err(Fault::new(file, line.line, format!("`{}` is defined twice", line.name)));
                    }
                    None => {
                        let kind = NamedKind { ty, manual: (places, sources), besides: (0, 0) };
                        self.kinds.insert(line.name.clone(), kind);
                    }
                }
            }
            Item::Repeatable(modifiers) => self.repeatable.extend_from_slice(modifiers),
            Item::Together(modifiers) => self.together.push(modifiers.clone()),
            Item::Words(list) => {
                let fault = |what: &str| Fault::new(file, list.line, format!("`{}` {what}", list.name));
                let Some((_, constant)) = LISTS.iter().find(|(name, _)| *name == list.name) else {
                    return Err(fault("is no list of words that anything asks for"));
                };
                if self.words.iter().any(|(other, _)| other == constant) {
                    return Err(fault("is defined twice"));
                }
                self.words.push((constant, list.words.clone()));
            }
            Item::Ignored(list) => self.ignored.push(list.clone()),
            Item::Slot(_)
            | Item::Counts(_)
            | Item::Shared(_)
            | Item::Clauses(_)
            | Item::Does(_)
            | Item::Reasons(_)
            | Item::Amend(_)
            | Item::Form(_) => {}
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.manual.finish();
        self.assembler.finish();
    }

    const fn tables(&self, layer: Layer) -> &Tables {
        match layer {
            Layer::Manual => &self.manual,
            Layer::Both | Layer::Assembler => &self.assembler,
        }
    }

    /// The index of a class table.
    pub fn table(&self, name: &str, layer: Layer) -> Option<usize> {
        self.tables(layer).names.iter().position(|each| each == name)
    }

    /// The index of the table without classes.
    pub fn empty_table(&self, layer: Layer) -> usize {
        self.tables(layer).variants.len() - 1
    }

    /// The classes of the base of an address, by space.
    pub fn addresses(&self, layer: Layer) -> &[(String, u128)] {
        &self.tables(layer).addresses
    }
}

fn type_line(file: &str, line: &ClassLine) -> Result<(Type, (u128, u128)), Fault> {
    let ty = parse_type(file, line.line, &line.name)?;
    let places = classes(file, line.line, &line.places)?;
    Ok((ty, (places, places | classes(file, line.line, &line.sources)?)))
}

fn parse_type(file: &str, line: usize, name: &str) -> Result<Type, Fault> {
    Type::parse(name).ok_or_else(|| Fault::new(file, line, format!("`{name}` is not a type")))
}
