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
use crate::link::order::declare_before_use;
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
    /// How many functions were begun or edited.
    serials: u32,
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
        Ok(Self { module, id, spellings: FxHashMap::default(), unfinished: Vec::new(), serials: 0 })
    }

    /// Goes on with a module that is there: one that was read, built or linked. What it has is found by
    /// [`find_function`](Self::find_function) and [`find_variable`](Self::find_variable), and
    /// [`edit`](Self::edit) changes a function.
    ///
    /// ```
    /// use ptx_ir::build::{Declaration, ModuleBuilder};
    /// use ptx_ir::{space::StateSpace, types::Type};
    ///
    /// let source = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
    /// let module = ptx_ir::lower::lower(&ptx_syntax::parse(source).tree, source).module;
    /// let mut builder = ModuleBuilder::extend(module);
    /// builder.variable(Declaration::new("counter", StateSpace::Global, Type::U64)).unwrap();
    /// assert_eq!(builder.finish().items.len(), 2);
    /// ```
    #[must_use]
    pub fn extend(module: Module) -> Self {
        let known = module.spellings.iter().filter(|(_, spelling)| !spelling.resolved.instances.is_empty());
        let spellings = known.map(|(handle, spelling)| (spelling.text.clone(), handle)).collect();
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { module, id, spellings, unfinished: Vec::new(), serials: 0 }
    }

    pub(super) const fn next_serial(&mut self) -> u32 {
        self.serials += 1;
        self.serials
    }

    /// The function or kernel of a name: its definition, where there is one.
    #[must_use]
    pub fn find_function(&self, name: &str) -> Option<Func> {
        let symbol = self.module.symbols.get(name)?;
        let Definition::Function(latest) = *self.module.names.get(&symbol)? else { return None };
        let mut all = std::iter::successors(Some(latest), |&each| self.module.functions[each].earlier);
        let defined = all.find(|&each| self.module.functions[each].body.is_some());
        Some(Func { module: self.id, handle: defined.unwrap_or(latest) })
    }

    /// The variable of the module that has a name.
    #[must_use]
    pub fn find_variable(&self, name: &str) -> Option<Var> {
        let symbol = self.module.symbols.get(name)?;
        let Definition::Variable(handle) = *self.module.names.get(&symbol)? else { return None };
        Some(Var { brand: Brand { module: self.id, function: None }, handle })
    }

    /// The function that a handle of the [module](Self::module) means.
    ///
    /// # Errors
    /// The module has no such function, or it is a prototype.
    pub fn function_at(&self, handle: Handle<Function>) -> Result<Func, BuildError> {
        let function = self.module.functions.get(handle);
        let found = function.filter(|function| function.kind != FunctionKind::Prototype);
        found.map(|_| Func { module: self.id, handle }).ok_or(BuildError::OutOfScope { what: "function" })
    }

    /// Raises `.version` where it is lower. What needs a version says so: [`BuildError::Unavailable`].
    ///
    /// # Errors
    /// The version was never published, or withdrew an instruction of the module.
    pub fn raise_version(&mut self, version: Version) -> Result<(), BuildError> {
        if !version.is_published() {
            return Err(BuildError::Header { message: format!("there is no PTX {version}") });
        }
        if version <= self.module.header.version {
            return Ok(());
        }
        let bodies = self.module.functions.iter().filter_map(|(_, function)| function.body.as_ref());
        for (_, instruction) in bodies.flat_map(|body| body.instructions.iter()) {
            let instance = self.module.instance(instruction);
            if let Some(lost) = instance.filter(|instance| instance.max_version < version) {
                let message = format!("PTX {version} does not have `{}` any more", lost.canonical);
                return Err(BuildError::Header { message });
            }
        }
        self.module.header.version = version;
        Ok(())
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

    /// The module. Functions that were not finished are not part of it, and nothing refers to them. What is used before
    /// it was added is declared before.
    #[must_use]
    pub fn finish(mut self) -> Module {
        declare_before_use(&mut self.module);
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
