//! Which names and handles mean something at a place of a function.

use super::error::{BuildError, NameProblem};
use super::function::{FunctionBuilder, Owned, RegisterInfo, Targets};
use super::name;
use super::value::{Brand, Func, Label, Reg, Var};
use crate::arena::{Handle, Symbol};
use crate::ir::{self, FunctionKind, Operand, Register, RegisterGroup, TargetList, Variable};

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
        if self.is_numbered_register(name) {
            return true;
        }
        let Some(symbol) = self.builder.module.symbols.get(name) else { return false };
        self.builder.has_name(name)
            || self.kept.names.contains(&symbol)
            || self.open.iter().any(|block| block.names.contains(&symbol))
    }

    /// Whether a name means nothing anywhere in the module.
    pub(super) fn is_new(&self, name: &str) -> bool {
        self.builder.module.symbols.get(name).is_none() && !self.is_numbered_register(name)
    }

    /// Whether a name is `%r7` and the function has a declaration such as `%r<8>` of its own.
    fn is_numbered_register(&self, name: &str) -> bool {
        self.body.registers.iter().any(|(_, group)| {
            let prefix = self.builder.module.name(group.name);
            let number = name.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
            group.range.zip(number).is_some_and(|(range, number)| number < range)
        })
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
    pub(super) fn check_register(&self, register: Reg) -> Result<RegisterInfo, BuildError> {
        let info = match register.index.checked_sub(self.kept.registers) {
            Some(index) => self.registers.get(index as usize).copied(),
            None => self.kept_register(Register(register.index)),
        };
        info.filter(|info| register.brand == self.brand() && self.is_open(info.block))
            .ok_or(BuildError::OutOfScope { what: "register" })
    }

    /// A register that the function had before it was edited.
    pub(super) fn kept_register(&self, register: Register) -> Option<RegisterInfo> {
        let handle = self.body.group_handle(register)?;
        let group = &self.body.registers[handle];
        let block = self.kept.groups.get(handle.index()).copied()?;
        let RegisterGroup { ty, elements, .. } = *group;
        Some(RegisterInfo { ty, elements, name: None, block, first: register.0 })
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
