//! What of a module is used, and removing the rest.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::arena::{Handle, Symbol};
use crate::ir::{
    Body, Definition, Function, FunctionKind, Initializer, Item, Linkage, Module, Operand, Variable,
};

/// What [`remove_unused`] took out of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The names of functions, each once.
    pub functions: Vec<String>,
    /// The names of variables.
    pub variables: Vec<String>,
}

/// Whether something is known outside of its module: kernels, and what is defined `.visible`, `.weak` or `.common`.
#[must_use]
pub fn exported(module: &Module, definition: Definition) -> bool {
    let (linkage, is_kernel) = match definition {
        Definition::Variable(variable) => (module.variables[variable].linkage, false),
        Definition::Function(function) => {
            let function = &module.functions[function];
            (function.linkage, function.kind == FunctionKind::Entry)
        }
    };
    is_kernel || matches!(linkage, Some(Linkage::Visible | Linkage::Weak | Linkage::Common))
}

/// Removes the functions and variables that nothing refers to, beginning with those that `is_root` is true of: [`exported`]
/// for a module that others are linked with, kernels only for a whole program. What sections name stays.
///
/// Handles stay good; what was removed is in no list of the module any more.
///
/// ```
/// use ptx_ir::link::{exported, remove_unused};
///
/// let source = ".version 8.0\n.target sm_80\n.global .u32 unused;\n.func f() { ret; }\n.entry k() { ret; }\n";
/// let mut module = ptx_ir::lower::lower(&ptx_syntax::parse(source).tree, source).module;
/// let removed = remove_unused(&mut module, exported);
/// assert_eq!((removed.functions, removed.variables), (vec!["f".to_owned()], vec!["unused".to_owned()]));
/// assert_eq!(module.items.len(), 1);
/// ```
pub fn remove_unused(module: &mut Module, is_root: impl Fn(&Module, Definition) -> bool) -> Removed {
    let used = used(module, is_root);
    let mut removed = Removed::default();
    let items = std::mem::take(&mut *module.items);
    for item in items {
        let (names, name) = match item {
            Item::Variable(variable) if !used.variables.contains(&variable) => {
                (&mut removed.variables, module.variables[variable].name)
            }
            Item::Function(function) if !used.functions.contains(&module.functions[function].name) => {
                (&mut removed.functions, module.functions[function].name)
            }
            Item::Alias { name, .. } if !used.functions.contains(&name) => continue,
            item => {
                module.items.push(item);
                continue;
            }
        };
        module.names.shift_remove(&name);
        let name = module.name(name).to_owned();
        if names.last() != Some(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    removed
}

/// What the roots of a module need.
#[derive(Default)]
pub(super) struct Used {
    /// By name, so that declarations go with the definition.
    functions: FxHashSet<Symbol>,
    variables: FxHashSet<Handle<Variable>>,
    /// What was found and not looked into yet.
    open: Vec<Definition>,
}

impl Used {
    /// Whether something is needed.
    pub(super) fn has(&self, module: &Module, definition: Definition) -> bool {
        match definition {
            Definition::Variable(variable) => self.variables.contains(&variable),
            Definition::Function(function) => self.functions.contains(&module.functions[function].name),
        }
    }

    fn add(&mut self, module: &Module, definition: Definition) {
        let is_new = match definition {
            Definition::Variable(variable) => self.variables.insert(variable),
            Definition::Function(function) => self.functions.insert(module.functions[function].name),
        };
        if is_new {
            self.open.push(definition);
        }
    }

    fn body(&mut self, module: &Module, body: &Body) {
        let lists = body.targets.iter().flat_map(|(_, list)| &list.targets);
        for operand in body.operands.iter().chain(&body.children).chain(lists) {
            if let Some(variable) = operand.variable() {
                self.add(module, Definition::Variable(variable));
            }
            if let Operand::Function(function) = operand {
                self.add(module, Definition::Function(*function));
            }
        }
    }

    fn initializer(&mut self, module: &Module, initializer: &Initializer) {
        match initializer {
            Initializer::Variable { variable, .. } => self.add(module, Definition::Variable(*variable)),
            Initializer::Function { function, .. } => self.add(module, Definition::Function(*function)),
            Initializer::List(parts) => parts.iter().for_each(|part| self.initializer(module, part)),
            _ => {}
        }
    }
}

/// What is needed for what `is_root` is true of.
pub(super) fn used(module: &Module, is_root: impl Fn(&Module, Definition) -> bool) -> Used {
    let mut used = Used::default();
    let mut sections = FxHashSet::default();
    for item in &module.items {
        let definition = match item {
            Item::Variable(variable) => Definition::Variable(*variable),
            Item::Function(function) => Definition::Function(*function),
            Item::Section(section) => {
                sections.extend(words(&section.text).filter_map(|word| module.symbols.get(word)));
                continue;
            }
            Item::Directive(_) | Item::Alias { .. } => continue,
        };
        if is_root(module, definition) {
            used.add(module, definition);
        }
    }
    for (name, definition) in module.names.iter() {
        if sections.contains(name) {
            used.add(module, *definition);
        }
    }
    let mut bodies: FxHashMap<Symbol, Vec<Handle<Function>>> = FxHashMap::default();
    let mut aliases: FxHashMap<Symbol, Symbol> = FxHashMap::default();
    for item in &module.items {
        match item {
            Item::Function(function) => {
                bodies.entry(module.functions[*function].name).or_default().push(*function);
            }
            Item::Alias { name, target, .. } => {
                aliases.insert(*name, *target);
            }
            Item::Variable(_) | Item::Directive(_) | Item::Section(_) => {}
        }
    }
    while let Some(definition) = used.open.pop() {
        let function = match definition {
            Definition::Variable(variable) => {
                if let Some(initializer) = &module.variables[variable].initializer {
                    used.initializer(module, initializer);
                }
                continue;
            }
            Definition::Function(function) => function,
        };
        let name = module.functions[function].name;
        for each in bodies.get(&name).into_iter().flatten() {
            if let Some(body) = &module.functions[*each].body {
                used.body(module, body);
            }
        }
        if let Some(target) = aliases.get(&name).and_then(|target| module.names.get(target)) {
            used.add(module, *target);
        }
    }
    used
}

/// What may be names in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |each: char| each.is_ascii_alphanumeric() || matches!(each, '_' | '$' | '%');
    text.split(move |each| !is_part(each)).filter(|word| !word.is_empty())
}
