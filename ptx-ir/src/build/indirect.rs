//! What indirect branches and calls need: lists of targets and prototypes.
//!
//! PTX ISA manual, "Control Flow Directives".

use super::declaration::{Declaration, Place};
use super::error::BuildError;
use super::function::{FunctionBuilder, Owned, Targets};
use super::name;
use super::value::{Func, Label, Value};
use crate::arena::Handle;
use crate::directive::DirectiveKind;
use crate::ir::{Function, FunctionKind, Operand, Statement, TargetList, TargetListKind, Variable};
use ptx_syntax::Span;

impl FunctionBuilder<'_> {
    /// Lists the labels that a `brx.idx` may go to.
    ///
    /// # Errors
    /// The name is taken, or a label is not visible here.
    pub fn branch_targets(
        &mut self,
        name: &str,
        labels: impl IntoIterator<Item = Label>,
    ) -> Result<Targets, BuildError> {
        let values: Vec<Value> = labels.into_iter().map(Value::from).collect();
        self.targets(name, TargetListKind::Branch, values)
    }

    /// Lists the functions that an indirect call may go to.
    ///
    /// # Errors
    /// The name is taken, or a function is not of this module.
    pub fn call_targets(
        &mut self,
        name: &str,
        functions: impl IntoIterator<Item = Func>,
    ) -> Result<Targets, BuildError> {
        let values: Vec<Value> = functions.into_iter().map(Value::from).collect();
        self.targets(name, TargetListKind::Call, values)
    }

    fn targets(
        &mut self,
        name: &str,
        kind: TargetListKind,
        values: Vec<Value>,
    ) -> Result<Targets, BuildError> {
        self.check_free(name)?;
        let directive = match kind {
            TargetListKind::Branch => DirectiveKind::BranchTargets,
            TargetListKind::Call => DirectiveKind::CallTargets,
        };
        self.builder.require(directive)?;
        let targets: Vec<Operand> =
            values.iter().map(|value| self.operand(value)).collect::<Result<_, _>>()?;
        let symbol = self.builder.intern(name);
        let list = TargetList { name: Some(symbol), kind, targets, span: Span::default() };
        let handle = self.body.targets.push(list);
        self.body.statements.push(Statement::Targets(handle));
        let index = handle.index() as u32;
        self.enter(symbol, Some(Owned::Targets(index)));
        Ok(Targets { brand: self.brand(), index })
    }

    /// Describes the signature of an indirect call: `name: .callprototype (…) _ (…);`. The names of the
    /// declarations do not matter and may be `_`.
    ///
    /// # Errors
    /// The name is taken, or PTX does not allow a declaration.
    pub fn prototype(
        &mut self,
        name: &str,
        results: impl IntoIterator<Item = Declaration>,
        parameters: impl IntoIterator<Item = Declaration>,
    ) -> Result<Func, BuildError> {
        self.check_free(name)?;
        let symbol = self.builder.intern(name);
        let handle = Handle::new(self.builder.module.functions.len() as u32);
        let returns = self.prototype_parameters(results, handle)?;
        let parameters = self.prototype_parameters(parameters, handle)?;
        let handle = self.builder.module.functions.push(Function {
            name: symbol,
            kind: FunctionKind::Prototype,
            linkage: None,
            attributes: Vec::new(),
            returns,
            parameters,
            directives: Vec::new(),
            body: None,
            earlier: None,
            span: Span::default(),
            header: Span::default(),
        });
        self.body.statements.push(Statement::Prototype(handle));
        self.enter(symbol, Some(Owned::Prototype(handle)));
        Ok(Func { module: self.builder.id, handle })
    }

    fn prototype_parameters(
        &mut self,
        declarations: impl IntoIterator<Item = Declaration>,
        handle: Handle<Function>,
    ) -> Result<Vec<Handle<Variable>>, BuildError> {
        let mut handles = Vec::new();
        for declaration in declarations {
            declaration.check(Place::FunctionParameter, self.builder.module.header.address_bits())?;
            if declaration.name != "_" {
                name::check(&declaration.name)?;
            }
            handles.push(self.builder.declare(&declaration, Some(handle), true)?);
        }
        Ok(handles)
    }
}
