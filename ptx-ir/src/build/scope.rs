//! Which names and handles mean something at a place of a function.

use super::error::{BuildError, NameProblem};
use super::function::{FunctionBuilder, Owned, RegisterInfo, Targets};
use super::name;
use super::value::{Brand, Func, Label, Reg, Var};
use crate::arena::{Handle, Symbol};
use crate::ir::{self, FunctionKind, Operand, TargetList, Variable};

impl FunctionBuilder<'_> {
    /// The number of the innermost open block.
    pub(super) fn block(&self) -> u32 {
        self.open.last().map_or(0, |block| block.number)
    }

    pub(super) fn is_open(&self, block: u32) -> bool {
        self.open.iter().any(|open| open.number == block)
    }

    pub(super) fn check_free(&self, name: &str) -> Result<(), BuildError> {
        name::check(name)?;
        if self.is_visible(name) {
            return Err(BuildError::Name { name: name.to_owned(), problem: NameProblem::Taken });
        }
        Ok(())
    }

    /// Whether a name means something here. Nothing may hide something else, so that each name has one meaning.
    pub(super) fn is_visible(&self, name: &str) -> bool {
        let Some(symbol) = self.builder.module.symbols.get(name) else { return false };
        self.builder.has_name(name) || self.open.iter().any(|block| block.names.contains(&symbol))
    }

    pub(super) fn enter(&mut self, name: Symbol, owned: Option<Owned>) {
        let block = self.block();
        if let Some(open) = self.open.last_mut() {
            open.names.push(name);
        }
        if let Some(owned) = owned {
            self.owners.insert(owned, block);
        }
    }

    pub(super) fn owns(&self, owned: Owned) -> bool {
        self.owners.get(&owned).is_some_and(|&block| self.is_open(block))
    }

    /// Fails where the register may not be used here.
    pub(super) fn check_register(&self, register: Reg) -> Result<&RegisterInfo, BuildError> {
        let info = self.registers.get(register.index as usize).filter(|_| register.brand == self.brand());
        info.filter(|info| self.is_open(info.block)).ok_or(BuildError::OutOfScope { what: "register" })
    }

    /// Fails where the label may not be used here.
    pub(super) fn check_label(&self, label: Label) -> Result<Handle<ir::Label>, BuildError> {
        let info = self.labels.get(label.index as usize).filter(|_| label.brand == self.brand());
        let visible = info.is_some_and(|info| self.is_open(info.block));
        if visible { Ok(Handle::new(label.index)) } else { Err(BuildError::OutOfScope { what: "label" }) }
    }

    /// Fails where the variable may not be used here.
    pub(super) fn check_variable(&self, variable: Var) -> Result<Handle<Variable>, BuildError> {
        let global = variable.brand == (Brand { module: self.builder.id, function: None });
        let local = variable.brand == self.brand() && self.owns(Owned::Variable(variable.handle));
        if global || local { Ok(variable.handle) } else { Err(BuildError::OutOfScope { what: "variable" }) }
    }

    /// Fails where the list of targets may not be used here.
    pub(super) fn check_targets(&self, targets: Targets) -> Result<Handle<TargetList>, BuildError> {
        if targets.brand == self.brand() && self.owns(Owned::Targets(targets.index)) {
            Ok(Handle::new(targets.index))
        } else {
            Err(BuildError::OutOfScope { what: "list of targets" })
        }
    }

    /// The operand of a function or prototype; fails where it may not be used here.
    pub(super) fn function_operand(&self, function: Func) -> Result<Operand, BuildError> {
        if function.module != self.builder.id {
            return Err(BuildError::OutOfScope { what: "function" });
        }
        let handle = function.handle;
        if self.builder.module.functions[handle].kind == FunctionKind::Prototype {
            let owned = self.owns(Owned::Prototype(handle));
            return owned
                .then_some(Operand::Prototype(handle))
                .ok_or(BuildError::OutOfScope { what: "prototype" });
        }
        if handle != self.handle {
            self.builder.check_finished(handle)?;
        }
        Ok(Operand::Function(handle))
    }
}
