//! Gives every name of the files its meaning and checks that the parts fit together.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::class_words::classes;
use crate::fault::{Fault, Faults};
use crate::group::Group;
use crate::model::{Form, Ignored, Table};
use crate::parser::{ClassLine, File, Item};
use crate::scope::Scope;
use crate::types::Type;

/// Resolves all files.
pub fn resolve(files: &[File], faults: &mut Faults) -> Table {
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
                forms.extend(Group::new(&shared, &scope, &file.name, definition, faults).forms(faults));
            }
        }
        scope.report_unused(&shared, &file.name, faults);
    }
    for file in files.iter().filter(|file| file.is_shared()) {
        everywhere.report_unused(&shared, &file.name, faults);
    }
    forms.sort_by(|one, other| one.root.cmp(&other.root));
    let element_tables = (shared.variant("element").unwrap_or(0), shared.variant("exact").unwrap_or(0));
    let names: BTreeSet<String> = forms.iter().flat_map(names).collect();
    let names: Vec<String> = names.into_iter().collect();
    check_opcodes(&names, files, &forms, faults);
    Table {
        forms,
        variants: shared.variants,
        element_tables,
        addresses: shared.addresses,
        names,
        repeatable: shared.repeatable,
        together: shared.together,
        ignored: shared.ignored,
    }
}

/// What a named kind of operand takes: its type, and the classes for outputs and for inputs.
pub struct NamedKind {
    /// The type, where it has one.
    pub ty: Option<Type>,
    /// The classes of an output.
    pub places: u128,
    /// The classes of an input.
    pub sources: u128,
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
    ignored: Vec<Ignored>,
    tables: Vec<String>,
    lines: Vec<BTreeMap<Type, (u128, u128)>>,
    /// The class tables: for each type the bits of outputs and of inputs. The last is empty.
    pub variants: Vec<[(u128, u128); Type::ALL.len()]>,
    /// The named kinds of operands.
    pub kinds: BTreeMap<String, NamedKind>,
    /// The classes of the base of an address, by space.
    pub addresses: Vec<(String, u128)>,
    /// The clauses that hold for a form, by their address in memory.
    pub applied: RefCell<BTreeSet<usize>>,
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
                    self.addresses.push((line.name.clone(), classes(file, line.line, &line.places)?));
                }
            }
            Item::Classes(table) => {
                let lines = table.lines.iter().map(|line| type_line(file, line)).collect::<Result<_, _>>()?;
                self.tables.push(table.name.clone());
                self.lines.push(lines);
            }
            Item::Operand(line) => {
                let ty = line.ty.as_deref().map(|name| parse_type(file, line.line, name)).transpose()?;
                let places = classes(file, line.line, &line.places)?;
                let sources = places | classes(file, line.line, &line.sources)?;
                let kind = NamedKind { ty, places, sources };
                if self.kinds.insert(line.name.clone(), kind).is_some() {
                    return Err(Fault::new(file, line.line, format!("`{}` is defined twice", line.name)));
                }
            }
            Item::Repeatable(modifiers) => self.repeatable.extend_from_slice(modifiers),
            Item::Together(modifiers) => self.together.push(modifiers.clone()),
            Item::Ignored(list) => self.ignored.push(list.clone()),
            Item::Slot(_) | Item::Counts(_) | Item::Shared(_) | Item::Clauses(_) | Item::Form(_) => {}
        }
        Ok(())
    }

    /// Fills what a variant does not mention from the variant `default`.
    fn finish(&mut self) {
        let empty = BTreeMap::new();
        let default = self.tables.iter().position(|name| name == "default");
        let default = default.map_or(&empty, |index| &self.lines[index]);
        for lines in &self.lines {
            let bits = |ty: &Type| lines.get(ty).or(default.get(ty)).copied().unwrap_or_default();
            self.variants.push(std::array::from_fn(|index| bits(&Type::ALL[index])));
        }
        // Named kinds bring their classes themselves: the last table is empty.
        self.variants.push([(0, 0); Type::ALL.len()]);
    }

    /// The index of a class table.
    pub fn variant(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|each| each == name)
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
