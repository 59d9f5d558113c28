//! What modules say about their sources: one list of files, and one section of each name.
//!
//! Sections are what `nvlink` makes of them: those of the second module follow those of the first, and what refers into one
//! refers to where it is now. The assembler makes one table of lines, so references to that stay. Names that both modules have
//! are told apart in sections as in bodies: of labels and local variables, too, since sections know them all.

mod dwarf;
mod files;
mod text;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{LinkError, Linked};
use crate::arena::{Handle, Symbol};
use crate::ir::{Function, Item, Module, Section};
use text::SectionText;

pub(super) use files::renumber;

/// The sections of two modules.
pub(super) struct Sections {
    first: Vec<Section>,
    second: Vec<Section>,
    /// What labels and local variables of the second module are called now.
    renamed: FxHashMap<String, String>,
}

impl Sections {
    /// Takes the sections out of the items, of which those of the second module begin at `first_item`, and tells where they
    /// begin then. `first_function` is the first function of that, and it came with the symbols from `first_symbol` on.
    pub fn take(
        module: &mut Module,
        first_item: usize,
        first_function: usize,
        first_symbol: usize,
    ) -> (Self, usize) {
        let mut sections = Self { first: Vec::new(), second: Vec::new(), renamed: FxHashMap::default() };
        let mut kept = Vec::new();
        let mut begins = first_item;
        for (index, item) in std::mem::take(&mut *module.items).into_iter().enumerate() {
            match item {
                Item::Section(section) if index < first_item => {
                    begins -= 1;
                    sections.first.push(section);
                }
                Item::Section(section) => sections.second.push(section),
                item => kept.push(item),
            }
        }
        *module.items = kept;
        sections.tell_apart(module, first_function, first_symbol);
        (sections, begins)
    }

    /// Gives labels and local variables of the second module other names, where sections know names of both modules.
    fn tell_apart(&mut self, module: &mut Module, first_function: usize, first_symbol: usize) {
        let words_of = |sections: &[Section]| -> FxHashSet<String> {
            let texts = sections.iter().map(|section| SectionText::new(&section.text));
            texts.flat_map(|text| text.names().map(str::to_owned).collect::<Vec<_>>()).collect()
        };
        let (in_first, in_second) = (words_of(&self.first), words_of(&self.second));
        let is_known_in_first = |module: &Module, name: &str| {
            in_first.contains(name)
                || module.symbols.get(name).is_some_and(|symbol| symbol.index() < first_symbol)
        };
        let fresh = |module: &mut Module,
                     renamed: &mut FxHashMap<String, String>,
                     name: &str|
         -> Option<Symbol> {
            let is_mentioned = in_first.contains(name) || in_second.contains(name);
            if !is_mentioned || !is_known_in_first(module, name) {
                return None;
            }
            let new = renamed.entry(name.to_owned()).or_insert_with(|| {
                let is_new = |new: &String| {
                    module.symbols.get(new).is_none() && !in_first.contains(new) && !in_second.contains(new)
                };
                (1_u32..).map(|number| format!("{name}_{number}")).find(is_new).unwrap_or_default()
            });
            Some(module.symbols.intern(new))
        };
        for section in &self.second {
            for label in SectionText::new(&section.text).labels() {
                fresh(module, &mut self.renamed, label);
            }
        }
        for index in first_function..module.functions.len() {
            let function: Handle<Function> = Handle::new(index as u32);
            let Some(mut body) = module.functions[function].body.take() else { continue };
            for label in body.labels.handles() {
                let name = module.name(body.labels[label].name).to_owned();
                if let Some(new) = fresh(module, &mut self.renamed, &name) {
                    body.labels[label].name = new;
                }
            }
            module.functions[function].body = Some(body);
        }
        for variable in module.variables.handles() {
            let Some(function) = module.variables[variable].function else { continue };
            if function.index() < first_function {
                continue;
            }
            let name = module.name(module.variables[variable].name).to_owned();
            if let Some(new) = fresh(module, &mut self.renamed, &name) {
                module.variables[variable].name = new;
            }
        }
    }

    /// Puts the sections behind everything else, one of each name. `numbers` are the files of the second module.
    pub fn put(
        mut self,
        module: &mut Module,
        linked: &Linked,
        numbers: &FxHashMap<i64, i64>,
    ) -> Result<(), LinkError> {
        let in_first: FxHashMap<String, String> = linked.renamed_in_first.iter().cloned().collect();
        self.renamed.extend(linked.renamed_in_second.iter().cloned());
        let name = |section: &Section| module.name(section.name).to_owned();
        let refused = |name: &str, reason| LinkError::Section { name: name.to_owned(), reason };
        let mut merged: Vec<(String, Section)> = Vec::new();
        for mut section in self.first {
            section.text = SectionText::new(&section.text).renamed(&in_first).print();
            merged.push((name(&section), section));
        }
        let mut sizes: FxHashMap<String, u64> = FxHashMap::default();
        for (name, section) in &merged {
            let size = SectionText::new(&section.text).size().ok_or_else(|| refused(name, UNREADABLE))?;
            *sizes.entry(name.clone()).or_default() += size;
        }
        let abbreviations =
            self.second.iter().filter(|section| module.name(section.name) == dwarf::ABBREVIATIONS);
        let abbreviations: Vec<SectionText> =
            abbreviations.map(|section| SectionText::new(&section.text)).collect();
        let mut edited = Vec::new();
        for section in &self.second {
            let name = name(section);
            if sizes.contains_key(&name) && !name.starts_with(".debug_") {
                return Err(refused(&name, "nothing is known of what refers into it"));
            }
            let mut text = SectionText::new(&section.text).renamed(&self.renamed);
            if name == dwarf::INFORMATION {
                dwarf::renumber(&mut text, abbreviations.first(), numbers, &sizes)
                    .map_err(|reason| refused(&name, reason))?;
            }
            text.move_references(&sizes);
            edited.push((name, text.print(), section.clone()));
        }
        for (name, text, section) in edited {
            match merged.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.text.push_str(&text),
                None => merged.push((name, Section { text, ..section })),
            }
        }
        module.items.extend(merged.into_iter().map(|(_, section)| Item::Section(section)));
        Ok(())
    }
}

/// A text whose values have no widths.
const UNREADABLE: &str = "its text is no list of values";
