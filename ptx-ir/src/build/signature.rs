//! Functions as parts of their module: declarations, definitions, and whether they agree.

use super::error::{BuildError, NameProblem};
use super::module::ModuleBuilder;
use super::value::Func;
use crate::arena::Handle;
use crate::ir::{Definition, Function, FunctionKind, Item};

impl ModuleBuilder {
    /// What a new function of this name would define: a declaration, nothing, or an error where the name is taken.
    pub(super) fn declaration_of(
        &self,
        name: &str,
        kind: FunctionKind,
    ) -> Result<Option<Handle<Function>>, BuildError> {
        let known = self.module.symbols.get(name).and_then(|symbol| self.module.names.get(&symbol));
        match known {
            None => Ok(None),
            Some(&Definition::Function(handle))
                if self.module.functions[handle].body.is_none()
                    && self.module.functions[handle].kind == kind =>
            {
                Ok(Some(handle))
            }
            Some(_) => Err(BuildError::Name { name: name.to_owned(), problem: NameProblem::Taken }),
        }
    }

    pub(super) fn enter_function(&mut self, handle: Handle<Function>) -> Result<Func, BuildError> {
        let function = &self.module.functions[handle];
        let name = function.name;
        if let Some(earlier) = function.earlier
            && !self.module.has_signature_of(earlier, handle)
        {
            let message = "the signature is not that of the earlier declaration".to_owned();
            return Err(BuildError::Declaration { name: self.module.name(name).to_owned(), message });
        }
        self.unfinished.retain(|unfinished| *unfinished != handle);
        self.module.names.insert(name, Definition::Function(handle));
        self.module.items.push(Item::Function(handle));
        Ok(Func { module: self.id, handle })
    }
}
