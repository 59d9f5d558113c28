//! Changing functions that are there, with the checks of the builder.
//!
//! [`ModuleBuilder::edit`] begins: what is inserted goes through a [`FunctionBuilder`] that stands before or after a
//! statement, so everything that makes an instruction, a label, a block, a variable or a call is the same as for a new
//! function, and what does not fit is refused on the spot. The function changes as a whole, by
//! [`finish`](FunctionEditor::finish); one that fails or is dropped leaves it as it was.
//!
//! Handles of the function are good while it is edited, whatever is inserted or removed. The order of its statements is
//! that of a list, which nothing else stores. [`finish`](FunctionEditor::finish) then numbers everything anew in that order,
//! for control flow and all analyses take the numbers of instructions as their order, and tells the new handles in
//! [`Renumbered`]. Handles of functions, variables, names and spellings stay good.
//!
//! A call of a counter before each load from global memory:
//!
//! ```
//! use ptx_ir::build::{BuildError, Declaration, ModuleBuilder};
//! use ptx_ir::ir::Module;
//! use ptx_ir::{space::StateSpace, types::Type};
//!
//! fn count_loads(module: Module) -> Result<Module, BuildError> {
//!     let mut builder = ModuleBuilder::extend(module);
//!     let counter = builder.variable(Declaration::new("loads", StateSpace::Global, Type::U64))?;
//!     let Some(kernel) = builder.find_function("k") else { return Ok(builder.finish()) };
//!     let mut editor = builder.edit(kernel)?;
//!     for load in editor.instructions() {
//!         if editor.spelling(load).starts_with("ld.global") {
//!             let guard = editor.guard_of(load);
//!             let cursor = editor.before(load)?;
//!             let count = [counter.at(0), 1.into()];
//!             match guard {
//!                 Some((predicate, false)) => cursor.guard(predicate).push("red.global.add.u64", count)?,
//!                 Some((predicate, true)) => cursor.guard_not(predicate).push("red.global.add.u64", count)?,
//!                 None => cursor.push("red.global.add.u64", count)?,
//!             }
//!         }
//!     }
//!     editor.finish()?;
//!     Ok(builder.finish())
//! }
//!
//! let source = "\
//! .version 8.0
//! .target sm_80
//! .address_size 64
//! .visible .entry k(.param .u64 p) {
//!     .reg .b64 %rd<2>;
//!     .reg .b32 %r<2>;
//!     ld.param.u64 %rd1, [p];
//!     ld.global.u32 %r1, [%rd1];
//!     ret;
//! }
//! ";
//! let module = ptx_ir::lower::lower(&ptx_syntax::parse(source).tree, source).module;
//! let module = count_loads(module).unwrap();
//! let body = module.functions.iter().find_map(|(_, function)| function.body.as_ref()).unwrap();
//! let spellings = body.instructions.iter().map(|(_, each)| &*module.spellings[each.spelling].text);
//! assert_eq!(spellings.collect::<Vec<_>>(), ["ld.param.u64", "red.global.add.u64", "ld.global.u32", "ret"]);
//! ```

mod copy;
mod inline;
mod order;
mod outline;
mod signature;
mod values;

use super::error::BuildError;
use super::finish::{NewPlaces, lay_out};
use super::function::{Block, FunctionBuilder, Kept, LabelInfo, Owned};
use super::module::ModuleBuilder;
use super::value::{Func, Label, Reg, Value};
use crate::arena::Handle;
use crate::ir::{self, Body, Instruction, Module, Statement};
use crate::isa::Instance;
pub use inline::InlineError;
use order::{END, Node, Order};
pub use outline::OutlineError;
use signature::Signature;

/// Edits a function; see the [module documentation](self).
#[derive(Debug)]
pub struct FunctionEditor<'m> {
    /// Its statements are those that were inserted at the cursor, and are in no order yet.
    inner: FunctionBuilder<'m>,
    order: Order,
    cursor: Node,
    /// Whether control could not run past the end before.
    had_end: bool,
    /// What the function was like before; none once the edit is part of the module.
    before: Option<Signature>,
}

/// What became of the handles of an edited function.
#[derive(Clone, Debug)]
pub struct Renumbered {
    places: NewPlaces,
}

impl Renumbered {
    /// The handle that an instruction has now; none where it was removed.
    #[must_use]
    pub fn instruction(&self, before: Handle<Instruction>) -> Option<Handle<Instruction>> {
        self.places.instructions.get(before.index()).copied().flatten()
    }

    /// The handle that a label has now.
    #[must_use]
    pub fn label(&self, before: Handle<ir::Label>) -> Option<Handle<ir::Label>> {
        self.places.labels.get(before.index()).copied().flatten()
    }
}

impl ModuleBuilder {
    /// Begins to edit a function that has a body.
    ///
    /// # Errors
    /// It has none, or is of another module.
    pub fn edit(&mut self, function: Func) -> Result<FunctionEditor<'_>, BuildError> {
        let found = self.module.functions.get(function.handle).filter(|_| function.module == self.id);
        let Some(body) = found.and_then(|function| function.body.clone()) else {
            return Err(BuildError::OutOfScope { what: "function" });
        };
        Ok(FunctionEditor::new(self, function.handle, body))
    }
}

impl<'m> FunctionEditor<'m> {
    fn new(builder: &'m mut ModuleBuilder, handle: Handle<ir::Function>, mut body: Body) -> Self {
        let order = Order::new(&body);
        let before = Some(Signature::of(&builder.module.functions[handle]));
        let mut inner = FunctionBuilder::on(builder, handle);
        body.statements.clear();
        inner.body = body;
        inner.blocks = order.blocks();
        let mut editor = Self { inner, order, cursor: END, had_end: false, before };
        editor.keep();
        editor.had_end = editor.inner.ends(editor.order.iter().map(|(_, statement, _)| statement));
        editor
    }

    /// Notes what the function has, and in which blocks.
    fn keep(&mut self) {
        let inner = &mut self.inner;
        let body = &inner.body;
        let function = &inner.builder.module.functions[inner.handle];
        let mut kept = Kept {
            registers: body.register_count,
            groups: vec![0; body.registers.len()],
            names: [function.name].into_iter().collect(),
        };
        for &parameter in function.returns.iter().chain(&function.parameters) {
            inner.owners.insert(Owned::Variable(parameter), 0);
            kept.names.insert(inner.builder.module.variables[parameter].name);
        }
        kept.names.extend(body.registers.iter().map(|(_, group)| group.name));
        kept.names.extend(body.labels.iter().map(|(_, label)| label.name));
        inner.labels = vec![LabelInfo { block: 0, placed: false }; body.labels.len()];
        for (_, statement, block) in self.order.iter() {
            match statement {
                Statement::Registers(group) => kept.groups[group.index()] = block,
                Statement::Label(label) => {
                    inner.labels[label.index()] = LabelInfo { block, placed: true };
                }
                Statement::Variable(variable) => {
                    inner.owners.insert(Owned::Variable(variable), block);
                    kept.names.insert(inner.builder.module.variables[variable].name);
                }
                Statement::Targets(list) => {
                    inner.owners.insert(Owned::Targets(list.index() as u32), block);
                    kept.names.extend(body.targets[list].name);
                }
                Statement::Prototype(prototype) => {
                    inner.owners.insert(Owned::Prototype(prototype), block);
                    kept.names.insert(inner.builder.module.functions[prototype].name);
                }
                Statement::Instruction(_) | Statement::Open | Statement::Close | Statement::Directive(_) => {}
            }
        }
        inner.kept = kept;
    }

    /// The module, with the function as it was.
    #[must_use]
    pub const fn module(&self) -> &Module {
        &self.inner.builder.module
    }

    /// The function itself, for calls of its own.
    #[must_use]
    pub const fn this(&self) -> Func {
        self.inner.this()
    }

    /// What the function consists of. Its statements are told by [`statements`](Self::statements) while it is edited.
    #[must_use]
    pub const fn body(&self) -> &Body {
        &self.inner.body
    }

    /// The statements in their present order.
    #[must_use]
    pub fn statements(&mut self) -> Vec<Statement> {
        self.settle();
        self.order.iter().map(|(_, statement, _)| statement).collect()
    }

    /// The instructions in their present order.
    #[must_use]
    pub fn instructions(&mut self) -> Vec<Handle<Instruction>> {
        let statements = self.statements().into_iter();
        let instructions = statements.filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        });
        instructions.collect()
    }

    /// The spelling of an instruction, as in `ld.global.u32`.
    #[must_use]
    pub fn spelling(&self, at: Handle<Instruction>) -> &str {
        &self.module().spellings[self.inner.body.instructions[at].spelling].text
    }

    /// What the instruction table says of an instruction, where its operands fit.
    #[must_use]
    pub fn instance(&self, at: Handle<Instruction>) -> Option<&Instance> {
        self.module().instance(&self.inner.body.instructions[at])
    }

    /// What is inserted next comes before an instruction, in its block.
    ///
    /// # Errors
    /// The instruction was removed.
    pub fn before(&mut self, at: Handle<Instruction>) -> Result<&mut FunctionBuilder<'m>, BuildError> {
        let node = self.node(at)?;
        Ok(self.go(node))
    }

    /// What is inserted next comes directly after an instruction, in its block.
    ///
    /// # Errors
    /// The instruction was removed.
    pub fn after(&mut self, at: Handle<Instruction>) -> Result<&mut FunctionBuilder<'m>, BuildError> {
        let node = self.node(at)?;
        let after = self.order.after(node);
        Ok(self.go(after))
    }

    /// What is inserted next comes directly after a label, where all branches to it pass.
    ///
    /// # Errors
    /// The label is of another function, or has no place.
    pub fn at_label(&mut self, label: Label) -> Result<&mut FunctionBuilder<'m>, BuildError> {
        self.settle();
        let found = self.order.label(Handle::new(label.index)).filter(|_| label.brand == self.inner.brand());
        let node = found.ok_or(BuildError::OutOfScope { what: "label" })?;
        let after = self.order.after(node);
        Ok(self.go(after))
    }

    /// What is inserted next comes before all instructions and labels, after the declarations at the beginning.
    pub fn at_start(&mut self) -> &mut FunctionBuilder<'m> {
        self.settle();
        let declares = |statement| matches!(statement, Statement::Registers(_) | Statement::Variable(_));
        let first = self.order.iter().find(|(_, statement, _)| !declares(*statement));
        let node = first.map_or(END, |(node, ..)| node);
        self.go(node)
    }

    /// What is inserted next comes after everything.
    pub fn at_end(&mut self) -> &mut FunctionBuilder<'m> {
        self.go(END)
    }

    /// Removes an instruction. A label before it stays, and is before what follows.
    ///
    /// # Errors
    /// It was removed before.
    pub fn remove(&mut self, at: Handle<Instruction>) -> Result<(), BuildError> {
        let node = self.node(at)?;
        if self.cursor == node {
            let after = self.order.after(node);
            self.go(after);
        }
        self.order.remove(node);
        Ok(())
    }

    /// Puts another instruction in the place of one, whose handle and guard it keeps.
    ///
    /// # Errors
    /// As for [`FunctionBuilder::push`].
    pub fn replace(
        &mut self,
        at: Handle<Instruction>,
        spelling: &str,
        operands: impl IntoIterator<Item = Value>,
    ) -> Result<(), BuildError> {
        let inner = self.before(at)?;
        inner.push(spelling, operands)?;
        // The new one is the last, and takes the place of the old one; where it was made stays nothing.
        inner.body.statements.pop();
        let made = Handle::new(inner.body.instructions.len() as u32 - 1);
        let guard = inner.body.instructions[at].guard;
        inner.body.instructions[at] = Instruction { guard, ..inner.body.instructions[made] };
        Ok(())
    }

    /// Gives an instruction other operands of the same spelling: those that `change` makes of each, with its index from 0.
    ///
    /// # Errors
    /// The new operands do not fit.
    pub fn map_operands(
        &mut self,
        at: Handle<Instruction>,
        mut change: impl FnMut(usize, Value) -> Value,
    ) -> Result<(), BuildError> {
        let operands = self.operands(at);
        let spelling = self.spelling(at).to_owned();
        let changed = operands.into_iter().enumerate().map(|(index, value)| change(index, value));
        let changed: Vec<Value> = changed.collect();
        self.replace(at, &spelling, changed)
    }

    /// Makes an instruction depend on a predicate, or with `true` on its complement; or on none.
    ///
    /// # Errors
    /// The register is no predicate, or cannot be used there.
    pub fn set_guard(
        &mut self,
        at: Handle<Instruction>,
        guard: Option<(Reg, bool)>,
    ) -> Result<(), BuildError> {
        let spelling = self.spelling(at).to_owned();
        let inner = self.before(at)?;
        let guard =
            guard.map(|(predicate, negated)| inner.guard_on(&spelling, predicate, negated)).transpose()?;
        inner.body.instructions[at].guard = guard;
        Ok(())
    }

    /// Ends the edit, which becomes part of the module, and tells the new handles.
    ///
    /// # Errors
    /// A label has no place, a register has a type that the module does not have, control reaches the end as it did not
    /// before, or a new signature is not that of a declaration or of a call. The function is as it was then.
    pub fn finish(mut self) -> Result<Renumbered, BuildError> {
        self.settle();
        if let Some(error) = self.inner.deferred.clone().or_else(|| self.inner.missing_label(0)) {
            return Err(error);
        }
        self.check_signature()?;
        let statements: Vec<Statement> = self.order.iter().map(|(_, statement, _)| statement).collect();
        if self.had_end && !self.inner.ends(statements.iter().copied()) {
            return Err(BuildError::MissingEnd { function: self.inner.name() });
        }
        let inner = &mut self.inner;
        let mut body = std::mem::take(&mut inner.body);
        body.statements = statements;
        let opened = self.order.opened();
        let places = lay_out(inner.builder, &mut body, &inner.kept, &inner.registers, &opened);
        inner.builder.module.functions[inner.handle].body = Some(body);
        self.before = None;
        Ok(Renumbered { places })
    }

    fn node(&mut self, at: Handle<Instruction>) -> Result<Node, BuildError> {
        self.settle();
        self.order.instruction(at).ok_or(BuildError::OutOfScope { what: "instruction" })
    }

    /// Puts what was inserted at the cursor into the order.
    fn settle(&mut self) {
        let inserted = std::mem::take(&mut self.inner.body.statements);
        if inserted.is_empty() {
            return;
        }
        let block = self.order.block_at(self.cursor);
        self.order.insert(self.cursor, block, &inserted);
    }

    fn go(&mut self, node: Node) -> &mut FunctionBuilder<'m> {
        self.settle();
        // Names that were given at the last place are taken everywhere, as those that were there before.
        let names = self.inner.open.drain(..).flat_map(|block| block.names);
        self.inner.kept.names.extend(names);
        self.cursor = node;
        let mut block = self.order.block_at(node);
        while block != 0 {
            self.inner.open.push(Block { number: block, names: Vec::new() });
            block = self.order.parent(block);
        }
        self.inner.open.push(Block::default());
        self.inner.open.reverse();
        &mut self.inner
    }
}

impl Drop for FunctionEditor<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            before.restore(&mut self.inner.builder.module.functions[self.inner.handle]);
        }
    }
}
