//! A module under construction.

use std::sync::atomic::{AtomicU32, Ordering};

use rustc_hash::FxHashMap;

use super::declaration::{Declaration, Place};
use super::error::{BuildError, NameProblem};
use super::function::FunctionBuilder;
use super::name;
use super::value::{Brand, Func, Kind, Value, Var};
use crate::arena::{Handle, Symbol};
use crate::ir::{
    AddressSize, Definition, Function, FunctionKind, Header, Initializer, Item, Module, Spelling,
    TextureMode, Variable,
};
use crate::isa::resolve;
use crate::target::Target;
use crate::types::Type;
use crate::version::Version;
use ptx_syntax::Span;

/// Builds a module; see the [module documentation](super).
#[derive(Debug)]
pub struct ModuleBuilder {
    pub(super) module: Module,
    pub(super) id: u32,
    spellings: FxHashMap<Box<str>, Handle<Spelling>>,
    /// Functions that were begun and not finished; only they may refer to themselves.
    pub(super) unfinished: Vec<Handle<Function>>,
}

/// No two modules of a process have one number, so that handles of one are refused by the other. The numbers show
/// nowhere in the module.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl ModuleBuilder {
    /// An empty module with 64-bit addresses.
    ///
    /// # Errors
    /// The version was not published, or does not have the target.
    pub fn new(version: Version, target: Target) -> Result<Self, BuildError> {
        if !version.is_published() {
            return Err(BuildError::Header { message: format!("there is no PTX {version}") });
        }
        if version < target.min_version() {
            let message = format!("`{target}` needs PTX {}, not {version}", target.min_version());
            return Err(BuildError::Header { message });
        }
        let header = Header {
            version,
            target,
            address_size: (version >= Version::new(2, 3)).then_some(AddressSize::Bits64),
            ..Header::default()
        };
        let module = Module::new(header);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { module, id, spellings: FxHashMap::default(), unfinished: Vec::new() })
    }

    /// Binds textures and samplers independently: `.target …, texmode_independent`. Samplers exist only then.
    pub fn independent_textures(&mut self) {
        let header = &mut self.module.header;
        if header.texture_mode == TextureMode::Unified {
            header.texture_mode = TextureMode::Independent;
            let option = self.module.symbols.intern("texmode_independent");
            self.module.header.options.push((option, Span::default()));
        }
    }

    /// Declares a variable of the module.
    ///
    /// # Errors
    /// The name is taken, or PTX does not allow the declaration.
    pub fn variable(&mut self, declaration: Declaration) -> Result<Var, BuildError> {
        declaration.check(Place::Module, self.module.header.address_bits())?;
        self.check_free(&declaration.name)?;
        if declaration.ty == Type::Samplerref && self.module.header.texture_mode == TextureMode::Unified {
            return declaration.error("a sampler exists only where textures are bound independently");
        }
        let handle = self.declare(&declaration, None, false)?;
        let symbol = self.module.variables[handle].name;
        self.module.names.insert(symbol, Definition::Variable(handle));
        self.module.items.push(Item::Variable(handle));
        Ok(Var { brand: Brand { module: self.id, function: None }, handle })
    }

    /// Begins a kernel, which is `.visible` unless told otherwise. It becomes part of the module when it is finished.
    ///
    /// # Errors
    /// The name is taken.
    pub fn entry(&mut self, name: &str) -> Result<FunctionBuilder<'_>, BuildError> {
        FunctionBuilder::new(self, name, FunctionKind::Entry)
    }

    /// Begins a function, or the definition of one that was declared. It becomes part of the module when it is
    /// finished.
    ///
    /// # Errors
    /// The name is taken.
    pub fn function(&mut self, name: &str) -> Result<FunctionBuilder<'_>, BuildError> {
        FunctionBuilder::new(self, name, FunctionKind::Function)
    }

    /// The module. Functions that were not finished are not part of it, and nothing refers to them.
    #[must_use]
    pub fn finish(self) -> Module {
        self.module
    }

    /// What was built so far, for looking at.
    #[must_use]
    pub const fn module(&self) -> &Module {
        &self.module
    }

    pub(super) fn check_free(&self, name: &str) -> Result<(), BuildError> {
        name::check(name)?;
        if self.has_name(name) {
            return Err(BuildError::Name { name: name.to_owned(), problem: NameProblem::Taken });
        }
        Ok(())
    }

    pub(super) fn check_finished(&self, function: Handle<Function>) -> Result<(), BuildError> {
        if !self.unfinished.contains(&function) {
            return Ok(());
        }
        let function = self.module.name(self.module.functions[function].name).to_owned();
        Err(BuildError::Unfinished { function })
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.module.symbols.get(name).is_some_and(|symbol| self.module.names.contains_key(&symbol))
    }

    pub(super) fn intern(&mut self, name: &str) -> Symbol {
        self.module.symbols.intern(name)
    }

    /// The handle of a spelling that has instances; each distinct one is resolved once.
    pub(super) fn spelling(&mut self, text: &str) -> Result<Handle<Spelling>, BuildError> {
        if let Some(&handle) = self.spellings.get(text) {
            return Ok(handle);
        }
        let resolved = resolve(text);
        if let Some(problem) = resolved.problem.clone().filter(|_| resolved.instances.is_empty()) {
            return Err(BuildError::Spelling { spelling: text.to_owned(), problem });
        }
        let handle = self.module.spellings.push(Spelling { text: text.into(), resolved });
        self.spellings.insert(text.into(), handle);
        Ok(handle)
    }

    /// Makes the variable of a declaration that was checked.
    pub(super) fn declare(
        &mut self,
        declaration: &Declaration,
        function: Option<Handle<Function>>,
        is_parameter: bool,
    ) -> Result<Handle<Variable>, BuildError> {
        let initializer = self.initializer(declaration)?;
        let variable = Variable {
            name: self.intern(&declaration.name),
            member: None,
            space: declaration.space,
            linkage: declaration.linkage,
            ty: declaration.ty,
            elements: declaration.elements,
            dimensions: declaration.dimensions.clone(),
            align: declaration.align,
            pointer: declaration.pointer,
            attributes: Vec::new(),
            initializer,
            function,
            is_parameter,
            span: Span::default(),
            declaration: Span::default(),
        };
        Ok(self.module.variables.push(variable))
    }

    fn initializer(&self, declaration: &Declaration) -> Result<Option<Initializer>, BuildError> {
        if declaration.initial.is_empty() {
            return Ok(None);
        }
        let values = declaration.initial.iter().map(|value| self.initial_value(value));
        let values: Vec<Initializer> = values.collect::<Result<_, _>>()?;
        let sizes: Vec<u64> = declaration.dimensions.iter().flatten().copied().collect();
        Ok(Some(nested(values, &sizes)))
    }

    fn initial_value(&self, value: &Value) -> Result<Initializer, BuildError> {
        match value.0 {
            Kind::Integer { bits, negative } => Ok(Initializer::Integer { bits, negative }),
            Kind::Single(bits) => Ok(Initializer::SingleBits(bits)),
            Kind::Double(bits) => Ok(Initializer::DoubleBits(bits)),
            Kind::Variable { variable: Var { brand, handle }, offset }
                if brand == (Brand { module: self.id, function: None }) =>
            {
                Ok(Initializer::Variable { variable: handle, offset, generic: false, mask: None })
            }
            Kind::Function(Func { module, handle }) if module == self.id => {
                self.check_finished(handle)?;
                Ok(Initializer::Function { function: handle, generic: false, mask: None })
            }
            _ => Err(BuildError::OutOfScope { what: "initial value" }),
        }
    }
}

/// Values in row order as lists within each other.
fn nested(values: Vec<Initializer>, sizes: &[u64]) -> Initializer {
    match sizes {
        [] => values.into_iter().next().unwrap_or(Initializer::Unknown),
        [_] => Initializer::List(values),
        [_, inner @ ..] => {
            let row = usize::try_from(inner.iter().product::<u64>()).unwrap_or(usize::MAX).max(1);
            Initializer::List(values.chunks(row).map(|row| nested(row.to_vec(), inner)).collect())
        }
    }
}
