//! What the names of two modules mean in one.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{LinkError, Linked};
use crate::arena::{Handle, Symbol};
use crate::ir::{Definition, Function, Initializer, Item, Linkage, Module, Variable};
use crate::visit::Rename;

/// Gives each name one meaning: one of two definitions is taken, or what has no linkage gets another name.
/// `imported` has the meanings of the names of the second module, whose items begin at `first_item`.
pub(super) fn resolve(
    module: &mut Module,
    imported: &[(Symbol, Definition)],
    first_item: usize,
    linked: &mut Linked,
) -> Result<(), LinkError> {
    let mut replaced = Replaced::default();
    let mut renamed = Vec::new();
    for &(symbol, second) in imported {
        let Some(&first) = module.names.get(&symbol) else {
            module.names.insert(symbol, second);
            continue;
        };
        match (is_local(module, first), is_local(module, second)) {
            (_, true) => renamed.push((second, false)),
            (true, false) => {
                module.names.insert(symbol, second);
                renamed.push((first, true));
            }
            (false, false) => {
                let taken = choose(module, symbol, first, second, &mut replaced)?;
                module.names.insert(symbol, taken);
            }
        }
    }
    let fresh = if renamed.is_empty() { None } else { Some(Fresh::new(module)) };
    for (definition, in_first) in renamed {
        let Some(fresh) = &fresh else { break };
        let new = fresh.name(module, module.name(name_of(module, definition)));
        let items = if in_first { 0..first_item } else { first_item..module.items.len() };
        let old = rename(module, definition, &new, items);
        let names = if in_first { &mut linked.renamed_in_first } else { &mut linked.renamed_in_second };
        names.push((old, new));
    }
    replaced.apply(module);
    Ok(())
}

fn name_of(module: &Module, definition: Definition) -> Symbol {
    match definition {
        Definition::Variable(variable) => module.variables[variable].name,
        Definition::Function(function) => module.functions[function].name,
    }
}

/// Whether nobody outside of its module knows a thing.
fn is_local(module: &Module, definition: Definition) -> bool {
    let linkage = match definition {
        Definition::Variable(variable) => module.variables[variable].linkage,
        Definition::Function(function) => module.functions[function].linkage,
    };
    linkage.is_none()
}

/// Decides which of two things that are known by one name is taken.
fn choose(
    module: &mut Module,
    symbol: Symbol,
    first: Definition,
    second: Definition,
    replaced: &mut Replaced,
) -> Result<Definition, LinkError> {
    let name = || module.name(symbol).to_owned();
    match (first, second) {
        (Definition::Variable(first), Definition::Variable(second)) => {
            let take_second = choose_variable(module, first, second)?;
            let (taken, left) = if take_second { (second, first) } else { (first, second) };
            // What is larger or stricter on one side was asked for.
            let align = module.variables[first].alignment().max(module.variables[second].alignment());
            if align > module.variables[taken].alignment() {
                module.variables[taken].align = Some(align);
            }
            replaced.variables.insert(left, taken);
            Ok(Definition::Variable(taken))
        }
        (Definition::Function(first), Definition::Function(second)) => {
            let take_second = choose_function(module, first, second)?;
            let (taken, left) = if take_second { (second, first) } else { (first, second) };
            for each in chain(module, left) {
                replaced.functions.insert(each, taken);
            }
            Ok(Definition::Function(taken))
        }
        _ => Err(LinkError::Kind { name: name() }),
    }
}

/// Whether the second of two variables is taken.
fn choose_variable(
    module: &Module,
    first: Handle<Variable>,
    second: Handle<Variable>,
) -> Result<bool, LinkError> {
    let (one, other) = (&module.variables[first], &module.variables[second]);
    let name = || module.name(one.name).to_owned();
    if one.space != other.space {
        return Err(LinkError::Kind { name: name() });
    }
    let (size, other_size) = (one.size(), other.size());
    let is_common = |variable: &Variable| variable.linkage == Some(Linkage::Common);
    let same_size = size == other_size || (is_common(one) && is_common(other));
    if !same_size {
        return Err(LinkError::Size { name: name() });
    }
    match strength(one.linkage, true).cmp(&strength(other.linkage, true)) {
        std::cmp::Ordering::Less => Ok(true),
        std::cmp::Ordering::Greater => Ok(false),
        std::cmp::Ordering::Equal if one.linkage == Some(Linkage::Visible) => {
            Err(LinkError::Defined { name: name() })
        }
        std::cmp::Ordering::Equal => Ok(is_common(one) && other_size > size),
    }
}

/// Whether the second of two functions is taken.
fn choose_function(
    module: &Module,
    first: Handle<Function>,
    second: Handle<Function>,
) -> Result<bool, LinkError> {
    let (one, other) = (&module.functions[first], &module.functions[second]);
    let name = || module.name(one.name).to_owned();
    if one.kind != other.kind {
        return Err(LinkError::Kind { name: name() });
    }
    if !module.has_signature_of(first, second) {
        return Err(LinkError::Signature { name: name() });
    }
    let mut aliases = module.items.iter().filter_map(|item| match item {
        Item::Alias { name, .. } => Some(*name),
        _ => None,
    });
    let is_alias = aliases.any(|alias| alias == one.name);
    // Two functions of one name cannot both be aliases; the one that is `.extern` is none.
    let defined = |function: Handle<Function>| {
        let has_body = chain(module, function).iter().any(|each| module.functions[*each].body.is_some());
        has_body || (is_alias && module.functions[function].linkage != Some(Linkage::Extern))
    };
    let (defined, other_defined) = (defined(first), defined(second));
    match strength(one.linkage, defined).cmp(&strength(other.linkage, other_defined)) {
        std::cmp::Ordering::Less => Ok(true),
        std::cmp::Ordering::Equal if defined && one.linkage == Some(Linkage::Visible) => {
            Err(LinkError::Defined { name: name() })
        }
        std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => Ok(false),
    }
}

/// Which definition is taken: the one with more.
const fn strength(linkage: Option<Linkage>, defined: bool) -> u8 {
    match linkage {
        _ if !defined => 0,
        None | Some(Linkage::Extern) => 0,
        Some(Linkage::Common) => 1,
        Some(Linkage::Weak) => 2,
        Some(Linkage::Visible) => 3,
    }
}

/// A function and its earlier declarations.
fn chain(module: &Module, function: Handle<Function>) -> Vec<Handle<Function>> {
    std::iter::successors(Some(function), |each| module.functions[*each].earlier).collect()
}

/// Functions and variables, and those that are meant instead.
#[derive(Default)]
struct Replaced {
    functions: FxHashMap<Handle<Function>, Handle<Function>>,
    variables: FxHashMap<Handle<Variable>, Handle<Variable>>,
}

impl Rename for Replaced {
    fn variable(&mut self, variable: Handle<Variable>) -> Handle<Variable> {
        self.variables.get(&variable).copied().unwrap_or(variable)
    }

    fn function(&mut self, function: Handle<Function>) -> Handle<Function> {
        self.functions.get(&function).copied().unwrap_or(function)
    }
}

impl Replaced {
    /// Lets everything refer to what is taken, and takes the others out of the items.
    fn apply(mut self, module: &mut Module) {
        if self.functions.is_empty() && self.variables.is_empty() {
            return;
        }
        for handle in module.functions.handles() {
            let Some(mut body) = module.functions[handle].body.take() else { continue };
            for operand in body.operands.iter_mut().chain(&mut body.children) {
                *operand = self.operand(*operand);
            }
            for list in body.targets.handles() {
                for target in &mut body.targets[list].targets {
                    *target = self.operand(*target);
                }
            }
            module.functions[handle].body = Some(body);
        }
        for handle in module.variables.handles() {
            if let Some(mut initializer) = module.variables[handle].initializer.take() {
                self.initializer(&mut initializer);
                module.variables[handle].initializer = Some(initializer);
            }
        }
        module.items.retain(|item| match item {
            Item::Variable(variable) => !self.variables.contains_key(variable),
            Item::Function(function) => !self.functions.contains_key(function),
            Item::Directive(_) | Item::Alias { .. } | Item::Section(_) => true,
        });
    }

    fn initializer(&mut self, initializer: &mut Initializer) {
        match initializer {
            Initializer::Variable { variable, .. } => *variable = self.variable(*variable),
            Initializer::Function { function, .. } => *function = self.function(*function),
            Initializer::List(parts) => parts.iter_mut().for_each(|part| self.initializer(part)),
            _ => {}
        }
    }
}

/// Names that nothing in a module has.
struct Fresh {
    /// The beginnings of the names of registers that are declared by number.
    prefixes: FxHashSet<Symbol>,
}

impl Fresh {
    fn new(module: &Module) -> Self {
        let bodies = module.functions.iter().filter_map(|(_, function)| function.body.as_ref());
        let groups = bodies.flat_map(|body| body.registers.iter()).filter(|(_, group)| group.range.is_some());
        Self { prefixes: groups.map(|(_, group)| group.name).collect() }
    }

    /// `name` with a number.
    fn name(&self, module: &Module, name: &str) -> String {
        let is_new = |candidate: &String| {
            let prefix = candidate.trim_end_matches(|each: char| each.is_ascii_digit());
            let is_prefix = module.symbols.get(prefix).is_some_and(|prefix| self.prefixes.contains(&prefix));
            module.symbols.get(candidate).is_none() && !is_prefix
        };
        (1_u32..).map(|number| format!("{name}_{number}")).find(is_new).unwrap_or_default()
    }
}

/// Gives something without linkage a new name, in the module that it came with, whose items are at `items`.
fn rename(module: &mut Module, definition: Definition, new: &str, items: Range<usize>) -> String {
    let symbol = module.symbols.intern(new);
    module.names.insert(symbol, definition);
    let old = match definition {
        Definition::Variable(variable) => std::mem::replace(&mut module.variables[variable].name, symbol),
        Definition::Function(function) => {
            let old = module.functions[function].name;
            for each in chain(module, function) {
                module.functions[each].name = symbol;
            }
            old
        }
    };
    // Aliases go by names.
    for item in &mut module.items[items] {
        if let Item::Alias { name, target, .. } = item {
            for each in [name, target] {
                *each = if *each == old { symbol } else { *each };
            }
        }
    }
    module.name(old).to_owned()
}

impl Module {
    /// Whether two functions have parameters and results of the same types, sizes and alignments.
    pub(crate) fn has_signature_of(&self, left: Handle<Function>, right: Handle<Function>) -> bool {
        let (left, right) = (&self.functions[left], &self.functions[right]);
        let same = |left: &[Handle<Variable>], right: &[Handle<Variable>]| {
            let shape = |handle: &Handle<Variable>| {
                let variable = &self.variables[*handle];
                (variable.ty, variable.elements, variable.dimensions.clone(), variable.alignment())
            };
            left.iter().map(shape).eq(right.iter().map(shape))
        };
        same(&left.returns, &right.returns) && same(&left.parameters, &right.parameters)
    }
}
