//! What forms may use by name: the definitions of all files and those before them in their own.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::fault::{Fault, Faults};
use crate::operands::OperandClause;
use crate::parser::{ClausesDefinition, CountsDefinition, Item, SlotDefinition};
use crate::resolver::Shared;

/// Definitions by name. A later one of the same name takes the place of an earlier one.
#[derive(Clone, Default)]
pub struct Scope<'a> {
    /// Sets of values.
    pub slots: BTreeMap<String, Rc<Definition<'a, SlotDefinition>>>,
    /// Lengths of brace lists.
    pub counts: BTreeMap<String, Rc<Definition<'a, CountsDefinition>>>,
    /// What an operand is where its form does not say it.
    pub operands: BTreeMap<String, Rc<Definition<'a, Vec<&'a OperandClause>>>>,
    /// Clauses for `use`.
    pub clauses: BTreeMap<String, Rc<Definition<'a, &'a ClausesDefinition>>>,
    all: Vec<Mention<'a>>,
}

/// A definition and its file.
pub struct Definition<'a, T> {
    /// What is defined.
    pub value: T,
    /// The file.
    pub file: &'a str,
    used: Rc<Cell<bool>>,
}

impl<T> Definition<'_, T> {
    /// The value; it counts as used from now on.
    pub fn get(&self) -> &T {
        self.used.set(true);
        &self.value
    }
}

#[derive(Clone)]
struct Mention<'a> {
    file: &'a str,
    line: usize,
    name: String,
    used: Rc<Cell<bool>>,
    clauses: Option<&'a ClausesDefinition>,
}

impl<'a> Scope<'a> {
    /// Adds what an item defines.
    pub fn define(&mut self, file: &'a str, item: &'a Item, faults: &mut Faults) {
        match item {
            Item::Slot(slot) => {
                let value = self.expanded(slot);
                let definition = self.mention(file, slot.line, &slot.name, value, None);
                self.slots.insert(slot.name.clone(), definition);
            }
            Item::Counts(table) => {
                let definition = self.mention(file, table.line, &table.name, table.clone(), None);
                self.counts.insert(table.name.clone(), definition);
            }
            Item::Shared(clause) => {
                let earlier = self.operands.get(&clause.name).filter(|earlier| earlier.file == file);
                let mut clauses = earlier.map(|earlier| earlier.value.clone()).unwrap_or_default();
                clauses.push(&**clause);
                let definition = self.mention(file, clause.line, &clause.name, clauses, None);
                self.operands.insert(clause.name.clone(), definition);
            }
            Item::Clauses(table) => {
                let definition = self.mention(file, table.line, &table.name, table, Some(table));
                if self.clauses.insert(table.name.clone(), definition).is_some_and(|old| old.file == file) {
                    faults.push(Fault::new(file, table.line, format!("`{}` is defined twice", table.name)));
                }
            }
            Item::Classes(_)
            | Item::Operand(_)
            | Item::Repeatable(_)
            | Item::Together(_)
            | Item::Words(_)
            | Item::Does(_)
            | Item::Ignored(_)
            | Item::Reasons(_)
            | Item::Amend(_)
            | Item::Form(_) => {}
        }
    }

    fn mention<T>(
        &mut self,
        file: &'a str,
        line: usize,
        name: &str,
        value: T,
        clauses: Option<&'a ClausesDefinition>,
    ) -> Rc<Definition<'a, T>> {
        let used = Rc::new(Cell::new(false));
        // Several clauses about one operand are one definition: the last has them all.
        self.all.retain(|each| {
            each.name != name || each.file != file || each.used.get() || each.clauses.is_some()
        });
        self.all.push(Mention { file, line, name: name.to_owned(), used: Rc::clone(&used), clauses });
        Rc::new(Definition { value, file, used })
    }

    /// The definition with the values of sets that it names.
    pub fn expanded(&self, slot: &SlotDefinition) -> SlotDefinition {
        let values = slot.values.iter().flat_map(|value| match self.slots.get(&value[1..]) {
            Some(set) if set.value.name != slot.name => set.get().values.clone(),
            _ => vec![value.clone()],
        });
        SlotDefinition { values: values.collect(), ..slot.clone() }
    }

    /// Reports the definitions of a file that no form uses, and clauses that hold for none of the forms that do.
    pub fn report_unused(&self, shared: &Shared, file: &str, faults: &mut Faults) {
        for Mention { file, line, name, used, clauses } in self.all.iter().filter(|each| each.file == file) {
            if !used.get() {
                faults.push(Fault::new(file, *line, format!("nothing uses `{name}`")));
                continue;
            }
            for clause in clauses.iter().flat_map(|table| &table.clauses) {
                if !shared.applied.borrow().contains(&std::ptr::from_ref(clause).addr()) {
                    let message = format!("no form that uses `{name}` has what this clause is about");
                    faults.push(Fault::new(file, clause.line(), message));
                }
            }
        }
    }
}
