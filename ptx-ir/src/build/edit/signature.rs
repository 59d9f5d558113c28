//! The signature of an edited function: what comes back where the edit fails, and who relies on the old one.

use super::FunctionEditor;
use crate::arena::Handle;
use crate::build::BuildError;
use crate::ir::{Directive, Function, FunctionKind, Linkage, Variable};

/// What an edit changes of a function before it is finished.
#[derive(Debug)]
pub(super) struct Signature {
    linkage: Option<Linkage>,
    returns: Vec<Handle<Variable>>,
    parameters: Vec<Handle<Variable>>,
    directives: Vec<Directive>,
}

impl Signature {
    pub(super) fn of(function: &Function) -> Self {
        Self {
            linkage: function.linkage,
            returns: function.returns.clone(),
            parameters: function.parameters.clone(),
            directives: function.directives.clone(),
        }
    }

    pub(super) fn restore(self, function: &mut Function) {
        function.linkage = self.linkage;
        function.returns = self.returns;
        function.parameters = self.parameters;
        function.directives = self.directives;
    }

    fn has_parameters_of(&self, function: &Function) -> bool {
        self.returns == function.returns && self.parameters == function.parameters
    }
}

impl FunctionEditor<'_> {
    /// Refuses new parameters where a declaration or a call has the old ones.
    pub(super) fn check_signature(&self) -> Result<(), BuildError> {
        let (module, handle) = (self.module(), self.inner.handle);
        let function = &module.functions[handle];
        if self.before.as_ref().is_none_or(|before| before.has_parameters_of(function)) {
            return Ok(());
        }
        let same_name =
            |other: &Function| other.name == function.name && other.kind != FunctionKind::Prototype;
        let mut others = module.functions.iter().filter(|(other, _)| *other != handle);
        if others.any(|(_, other)| same_name(other)) {
            let message = "a declaration of the function has the old parameters".to_owned();
            return Err(BuildError::Declaration { name: self.inner.name(), message });
        }
        let bodies = module.functions.iter().filter_map(|(_, function)| function.body.as_ref());
        let mut operands = bodies.flat_map(|body| &body.operands);
        if operands.any(|operand| operand.function() == Some(handle)) {
            let message = "a call has the old parameters".to_owned();
            return Err(BuildError::Call { function: self.inner.name(), message });
        }
        Ok(())
    }
}
