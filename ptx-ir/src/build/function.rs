//! A function or kernel under construction: its signature, registers, variables, labels and blocks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::declaration::{Declaration, Place};
use super::error::BuildError;
use super::instruction::Guarded;
use super::module::ModuleBuilder;
use super::name;
use super::value::{Brand, Func, Label, Reg, Var};
use crate::arena::{Handle, Symbol};
use crate::ir::{self, Body, Function, FunctionKind, Linkage, Statement, Variable};
use crate::space::StateSpace;
use crate::types::Type;
use crate::version::Version;
use ptx_syntax::Span;

/// Builds a function or kernel; see the [module documentation](super).
#[derive(Debug)]
pub struct FunctionBuilder<'m> {
    pub(super) builder: &'m mut ModuleBuilder,
    pub(super) handle: Handle<Function>,
    /// Tells what this builder made from what another one made of the same function.
    pub(super) serial: u32,
    pub(super) body: Body,
    /// What an edited function has already.
    pub(super) kept: Kept,
    pub(super) registers: Vec<RegisterInfo>,
    pub(super) labels: Vec<LabelInfo>,
    /// The block that each local variable, list of targets and prototype belongs to.
    pub(super) owners: FxHashMap<Owned, u32>,
    /// The open blocks, the body itself first.
    pub(super) open: Vec<Block>,
    pub(super) blocks: u32,
    /// A mistake in a call that returns no error of its own.
    pub(super) deferred: Option<BuildError>,
}

/// What a function has before it is edited.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// How many register numbers.
    pub registers: u32,
    /// The block that each group of registers is declared in.
    pub groups: Vec<u32>,
    /// Names of any block.
    pub names: FxHashSet<Symbol>,
}

/// A register as the user made it; [`FunctionBuilder::finish`] puts those of one type into one declaration.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterInfo {
    pub ty: Type,
    pub elements: u8,
    /// The name that the user gave it.
    pub name: Option<Symbol>,
    /// The block that it is declared in.
    pub block: u32,
    /// Its provisional number; a vector has one for each element.
    pub first: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LabelInfo {
    pub block: u32,
    pub placed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Block {
    pub number: u32,
    pub names: Vec<Symbol>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owned {
    Variable(Handle<Variable>),
    Targets(u32),
    Prototype(Handle<Function>),
}

/// A list of branch or call targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Targets {
    pub(super) brand: Brand,
    pub(super) index: u32,
}

impl<'m> FunctionBuilder<'m> {
    pub(super) fn new(
        builder: &'m mut ModuleBuilder,
        name: &str,
        kind: FunctionKind,
    ) -> Result<Self, BuildError> {
        name::check(name)?;
        let earlier = builder.declaration_of(name, kind)?;
        let symbol = builder.intern(name);
        let linkage = (kind == FunctionKind::Entry).then_some(Linkage::Visible);
        let handle = builder.module.functions.push(Function {
            name: symbol,
            kind,
            linkage,
            attributes: Vec::new(),
            returns: Vec::new(),
            parameters: Vec::new(),
            directives: Vec::new(),
            body: None,
            earlier,
            span: Span::default(),
            header: Span::default(),
        });
        builder.unfinished.push(handle);
        let mut function = Self::on(builder, handle);
        function.open[0].names.push(symbol);
        Ok(function)
    }

    /// Nothing but the body's own block.
    pub(super) fn on(builder: &'m mut ModuleBuilder, handle: Handle<Function>) -> Self {
        let serial = builder.next_serial();
        Self {
            builder,
            handle,
            serial,
            body: Body::default(),
            kept: Kept::default(),
            registers: Vec::new(),
            labels: Vec::new(),
            owners: FxHashMap::default(),
            open: vec![Block::default()],
            blocks: 1,
            deferred: None,
        }
    }

    pub(super) const fn brand(&self) -> Brand {
        Brand { module: self.builder.id, function: Some(self.serial) }
    }

    pub(super) fn function(&mut self) -> &mut Function {
        &mut self.builder.module.functions[self.handle]
    }

    pub(super) fn name(&self) -> String {
        self.builder.module.name(self.builder.module.functions[self.handle].name).to_owned()
    }

    pub(super) fn is_entry(&self) -> bool {
        self.builder.module.functions[self.handle].kind == FunctionKind::Entry
    }

    /// The function itself, for calls of its own.
    #[must_use]
    pub const fn this(&self) -> Func {
        Func { module: self.builder.id, handle: self.handle }
    }

    /// Sets the linkage; a kernel is `.visible` without that, a function has none.
    pub fn set_linkage(&mut self, linkage: Option<Linkage>) {
        self.function().linkage = linkage;
    }

    /// Adds a parameter of a scalar type.
    ///
    /// # Errors
    /// The name is taken, or PTX does not allow the type.
    pub fn param(&mut self, name: &str, ty: Type) -> Result<Var, BuildError> {
        self.param_with(Declaration::new(name, StateSpace::Param, ty))
    }

    /// Adds a parameter: an array, or one with an alignment, or a pointer with a promise.
    ///
    /// # Errors
    /// The name is taken, or PTX does not allow the declaration.
    pub fn param_with(&mut self, declaration: Declaration) -> Result<Var, BuildError> {
        let variable = self.parameter(declaration)?;
        self.function().parameters.push(variable.handle);
        Ok(variable)
    }

    /// Adds a result of a scalar type; it is written with `st.param`.
    ///
    /// # Errors
    /// As for [`param`](Self::param), and where this is a kernel, which has no results.
    pub fn result(&mut self, name: &str, ty: Type) -> Result<Var, BuildError> {
        self.result_with(Declaration::new(name, StateSpace::Param, ty))
    }

    /// Adds a result.
    ///
    /// # Errors
    /// As for [`result`](Self::result).
    pub fn result_with(&mut self, declaration: Declaration) -> Result<Var, BuildError> {
        if self.is_entry() {
            return declaration.error("a kernel has no results");
        }
        let variable = self.parameter(declaration)?;
        self.function().returns.push(variable.handle);
        Ok(variable)
    }

    fn parameter(&mut self, declaration: Declaration) -> Result<Var, BuildError> {
        let place = if self.is_entry() { Place::EntryParameter } else { Place::FunctionParameter };
        declaration.check(place, self.builder.module.header.address_bits())?;
        if self.open.len() > 1 {
            return declaration.error("a parameter is declared outside of blocks");
        }
        self.check_free(&declaration.name)?;
        let handle = self.builder.declare(&declaration, Some(self.handle), true)?;
        Ok(self.own_variable(handle))
    }

    /// Declares a `.shared`, `.local` or `.param` variable in the current block.
    ///
    /// # Errors
    /// The name is taken, or PTX does not allow the declaration.
    pub fn variable(&mut self, declaration: Declaration) -> Result<Var, BuildError> {
        declaration.check(Place::Body, self.builder.module.header.address_bits())?;
        self.check_free(&declaration.name)?;
        let handle = self.builder.declare(&declaration, Some(self.handle), false)?;
        self.body.statements.push(Statement::Variable(handle));
        Ok(self.own_variable(handle))
    }

    fn own_variable(&mut self, handle: Handle<Variable>) -> Var {
        let name = self.builder.module.variables[handle].name;
        self.enter(name, Some(Owned::Variable(handle)));
        Var { brand: self.brand(), handle }
    }

    /// A register, which gets a name when the function is finished: those of one type in one block make one
    /// declaration such as `.reg .b32 %r<5>;`. A type that no register may have is an error of the next
    /// instruction and of [`finish`](Self::finish).
    pub fn reg(&mut self, ty: Type) -> Reg {
        self.add_register(ty, 1, None)
    }

    /// A vector register of 2 or 4 elements. A type or number of elements that no register may have is an error
    /// of the next instruction and of [`finish`](Self::finish).
    pub fn vector_reg(&mut self, ty: Type, elements: u8) -> Reg {
        self.add_register(ty, elements, None)
    }

    /// A register with a name of its own.
    ///
    /// # Errors
    /// The name is taken.
    pub fn named_reg(&mut self, name: &str, ty: Type) -> Result<Reg, BuildError> {
        self.check_free(name)?;
        let symbol = self.builder.intern(name);
        self.enter(symbol, None);
        Ok(self.add_register(ty, 1, Some(symbol)))
    }

    fn add_register(&mut self, ty: Type, elements: u8, name: Option<Symbol>) -> Reg {
        let vector = matches!(elements, 2 | 4) && ty != Type::Pred && ty.bits() * u32::from(elements) <= 128;
        if !self.may_declare(ty) || !(elements == 1 || vector) {
            self.deferred.get_or_insert(BuildError::RegisterType { ty });
        }
        let index = self.kept.registers + self.registers.len() as u32;
        let first = self.body.register_count;
        let block = self.block();
        self.registers.push(RegisterInfo { ty, elements, name, block, first });
        self.body.register_count = first.saturating_add(u32::from(elements.max(1)));
        Reg { brand: self.brand(), index, ty, elements }
    }

    /// Whether the module's version and target have registers of the type.
    #[must_use]
    pub fn may_declare(&self, ty: Type) -> bool {
        let header = &self.builder.module.header;
        let (version, target) = match ty {
            Type::B128 => (Version::new(8, 3), 70),
            Type::F16 | Type::F16x2 => (Version::new(4, 2), 53),
            _ => (Version::OLDEST, 0),
        };
        ty.is_register_type() && header.version >= version && header.target.number() >= target
    }

    /// A label of the current block, which [`place`](Self::place) gives a place there. Branches from the block and
    /// the blocks within it may go to it, from before and after.
    ///
    /// # Errors
    /// The name is taken.
    pub fn label(&mut self, name: &str) -> Result<Label, BuildError> {
        self.check_free(name)?;
        let symbol = self.builder.intern(name);
        self.enter(symbol, None);
        self.body.labels.push(ir::Label { name: symbol, span: Span::default(), target: 0 });
        self.labels.push(LabelInfo { block: self.block(), placed: false });
        Ok(Label { brand: self.brand(), index: self.labels.len() as u32 - 1 })
    }

    /// A label of the current block with a name that is free: `hint`, or `hint` with a number.
    ///
    /// # Errors
    /// `hint` is no name.
    pub fn fresh_label(&mut self, hint: &str) -> Result<Label, BuildError> {
        let name = self.fresh_name(hint)?;
        self.label(&name)
    }

    /// A name that is free here and in blocks within: `hint`, or `hint` with a number.
    ///
    /// # Errors
    /// `hint` is no name.
    pub fn fresh_name(&self, hint: &str) -> Result<String, BuildError> {
        name::check(hint)?;
        if self.is_new(hint) {
            return Ok(hint.to_owned());
        }
        let mut numbered = (0_u32..).map(|number| format!("{hint}_{number}"));
        Ok(numbered.find(|name| self.is_new(name)).unwrap_or_default())
    }

    /// Puts a label here.
    ///
    /// # Errors
    /// The label has a place, or belongs to another block.
    pub fn place(&mut self, label: Label) -> Result<(), BuildError> {
        let block = self.block();
        let brand = self.brand();
        let info = self.labels.get_mut(label.index as usize).filter(|_| label.brand == brand);
        let Some(info) = info.filter(|info| info.block == block) else {
            return Err(BuildError::OutOfScope { what: "label" });
        };
        let handle = Handle::new(label.index);
        if info.placed {
            let name = self.builder.module.name(self.body.labels[handle].name).to_owned();
            return Err(BuildError::Label { name, placed: true });
        }
        info.placed = true;
        self.body.labels[handle].target = self.body.instructions.len() as u32;
        self.body.statements.push(Statement::Label(handle));
        Ok(())
    }

    /// Builds a block `{ … }`: what is declared within is not visible after it.
    ///
    /// # Errors
    /// Those of `build`, and where a label of the block has no place.
    pub fn scope<T>(
        &mut self,
        build: impl FnOnce(&mut Self) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let number = self.blocks;
        self.blocks += 1;
        self.open.push(Block { number, names: Vec::new() });
        self.body.statements.push(Statement::Open);
        let built = build(self);
        self.body.statements.push(Statement::Close);
        self.open.pop();
        let missing = self.missing_label(number);
        if let Some(error) = &missing {
            // Branches to the label may be there already, so the function is lost.
            self.deferred.get_or_insert_with(|| error.clone());
        }
        let built = built?;
        missing.map_or(Ok(built), Err)
    }

    /// The first label of a block without a place.
    pub(super) fn missing_label(&self, block: u32) -> Option<BuildError> {
        let index = self.labels.iter().position(|label| label.block == block && !label.placed)?;
        let name = self.body.labels[Handle::new(index as u32)].name;
        Some(BuildError::Label { name: self.builder.module.name(name).to_owned(), placed: false })
    }

    /// Makes the next instruction depend on a predicate: `@%p`.
    pub fn guard(&mut self, predicate: Reg) -> Guarded<'_, 'm> {
        self.guarded(Some((predicate, false)))
    }

    /// Makes the next instruction depend on the complement of a predicate: `@!%p`.
    pub fn guard_not(&mut self, predicate: Reg) -> Guarded<'_, 'm> {
        self.guarded(Some((predicate, true)))
    }

    /// Gives the next instruction the guard of another one, as
    /// [`FunctionEditor::guard_of`](super::edit::FunctionEditor::guard_of) tells it: a predicate, and whether its complement is
    /// meant; or none.
    pub const fn guarded(&mut self, guard: Option<(Reg, bool)>) -> Guarded<'_, 'm> {
        Guarded { function: self, guard }
    }

    /// Ends the function and makes it part of the module.
    ///
    /// # Errors
    /// A label has no place, a register has a type that the module does not have, control reaches the end, or the
    /// signature is not that of an earlier declaration.
    pub fn finish(self) -> Result<Func, BuildError> {
        if let Some(error) = self.deferred.clone().or_else(|| self.missing_label(0)) {
            return Err(error);
        }
        self.check_end()?;
        let Self { builder, handle, mut body, registers, blocks, .. } = self;
        let opened: Vec<u32> = (1..blocks).collect();
        super::finish::lay_out(builder, &mut body, &Kept::default(), &registers, &opened);
        builder.module.functions[handle].body = Some(body);
        builder.enter_function(handle)
    }

    /// Ends the function as a declaration, without a body.
    ///
    /// # Errors
    /// There are statements, or it is a kernel.
    pub fn finish_declaration(self) -> Result<Func, BuildError> {
        let name = self.name();
        if self.is_entry() || !self.body.statements.is_empty() || !self.registers.is_empty() {
            let message = "only a function without statements can be a declaration".to_owned();
            return Err(BuildError::Declaration { name, message });
        }
        self.builder.enter_function(self.handle)
    }
}
