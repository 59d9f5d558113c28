//! Linking modules into one, and removing what nothing uses.
//!
//! [`link`] does with two modules what `nvlink` does with their machine code, by the same rules, so that one module may be
//! optimised and compiled as a whole:
//!
//! * What is `.visible` is defined once; it is what `.extern` declarations, `.weak` and `.common` definitions of its name
//!   mean. Of two `.weak` ones the first is taken, of two `.common` ones the larger.
//! * What has no linkage is known in its own module only. Where the other module has its name, it gets another one.
//! * The header is the higher version and the target that both can be compiled for, as [`Linked`] tells with the reasons.
//! * The numbers of `.file` and `.loc` are those of one list of files, in `.debug_info` as well.
//! * Sections of one name become one. What refers into them, and the labels and local variables that they name, is told apart.
//!
//! ```
//! use ptx_ir::link::link;
//! use ptx_ir::lower::lower;
//!
//! let module = |text: &str| lower(&ptx_syntax::parse(text).tree, text).module;
//! let header = ".target sm_80\n.address_size 64\n";
//! let mut kernel = module(&format!(
//!     ".version 7.0\n{header}.extern .func f();\n.visible .entry k() {{ call f; ret; }}\n"
//! ));
//! let library = module(&format!(".version 8.0\n{header}.visible .func f() {{ ret; }}\n"));
//! let linked = link(&mut kernel, library).unwrap();
//! assert_eq!(kernel.header.version.to_string(), "8.0");
//! assert!(linked.version_from_second && linked.undefined.is_empty());
//! ```

mod debugging;
mod error;
mod header;
mod import;
mod names;
pub(crate) mod order;
mod unused;

use crate::arena::{Handle, Symbol};
use crate::ir::{Definition, Function, Item, Linkage, Module};
use debugging::Sections;
pub use error::LinkError;
pub use unused::{Removed, exported, remove_unused};

/// What linking decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// Names without linkage that both modules had, with the new ones: of functions and variables of the first module.
    pub renamed_in_first: Vec<(String, String)>,
    /// The same for the second module.
    pub renamed_in_second: Vec<(String, String)>,
    /// Whether the version is that of the second module, which is higher.
    pub version_from_second: bool,
    /// Whether the target is that of the second module, which the first can be compiled for too.
    pub target_from_second: bool,
    /// What is declared `.extern` and used, and neither module defines. Of shared memory that is the memory of the launch.
    pub undefined: Vec<String>,
}

/// Adds to a module what another one has. Places of the second one's text are forgotten, since the text is another.
///
/// # Errors
/// The modules do not go together. Nothing has changed then.
pub fn link(into: &mut Module, from: Module) -> Result<Linked, LinkError> {
    let mut module = into.clone();
    let mut linked = Linked::default();
    module.header = header::merge(into, &from, &mut linked)?;
    let (first, first_function, first_symbol) =
        (module.items.len(), module.functions.len(), module.symbols.iter().count());
    let imported = import::import(&mut module, from);
    let numbers = debugging::renumber(&mut module, first);
    let (sections, first) = Sections::take(&mut module, first, first_function, first_symbol);
    names::resolve(&mut module, &imported, first, &mut linked)?;
    order::declare_before_use(&mut module);
    sections.put(&mut module, &linked, &numbers)?;
    linked.undefined = undefined(&module);
    *into = module;
    Ok(linked)
}

/// The names that are declared and used only.
fn undefined(module: &Module) -> Vec<String> {
    let used = unused::used(module, |module, definition| match definition {
        Definition::Variable(variable) => module.variables[variable].linkage != Some(Linkage::Extern),
        Definition::Function(function) => module.functions[function].body.is_some(),
    });
    let aliases = module.items.iter().filter_map(|item| match item {
        Item::Alias { name, .. } => Some(*name),
        _ => None,
    });
    let aliases: Vec<Symbol> = aliases.collect();
    let names = module.names.iter().filter(|(name, definition)| {
        let is_extern = match **definition {
            Definition::Variable(variable) => module.variables[variable].linkage == Some(Linkage::Extern),
            Definition::Function(function) => {
                let defined = |each: Handle<Function>| module.functions[each].body.is_some();
                !std::iter::successors(Some(function), |each| module.functions[*each].earlier).any(defined)
            }
        };
        is_extern && used.has(module, **definition) && !aliases.contains(name)
    });
    names.map(|(name, _)| module.name(*name).to_owned()).collect()
}
