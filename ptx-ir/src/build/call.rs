//! Calls: the lists of results and arguments against the signature, and a whole call in one step.
//!
//! PTX ISA manual, "Abstracting the ABI" and "Control Flow Instructions: call".

use super::declaration::Declaration;
use super::error::BuildError;
use super::function::FunctionBuilder;
use super::value::{Func, Reg, Value, Var};
use crate::arena::Handle;
use crate::ir::{FunctionKind, Operand, Run, Variable};
use crate::space::StateSpace;

impl FunctionBuilder<'_> {
    /// Calls a function whose parameters and results are scalars: a block with a `.param` variable for each, the
    /// stores, the call and the loads.
    ///
    /// # Errors
    /// The numbers of arguments or results are not those of the function, one of them is an array, or a value does
    /// not fit its parameter.
    pub fn call(&mut self, function: Func, results: &[Reg], arguments: &[Value]) -> Result<(), BuildError> {
        self.function_operand(function)?;
        let signature = &self.builder.module.functions[function.handle];
        let (returns, parameters) = (signature.returns.clone(), signature.parameters.clone());
        self.check_counts(function, results.len(), arguments.len())?;
        self.scope(|f| {
            let results_in = f.call_variables("result", &returns)?;
            let arguments_in = f.call_variables("argument", &parameters)?;
            for ((variable, parameter), argument) in arguments_in.iter().zip(&parameters).zip(arguments) {
                let ty = f.builder.module.variables[*parameter].ty;
                f.push(&format!("st.param{ty}"), [variable.at(0), argument.clone()])?;
            }
            let mut operands: Vec<Value> = Vec::new();
            if !results_in.is_empty() {
                operands.push(Value::list(results_in.iter().copied()));
            }
            operands.push(function.into());
            if !arguments_in.is_empty() {
                operands.push(Value::list(arguments_in));
            }
            f.push("call", operands)?;
            for ((variable, parameter), result) in results_in.iter().zip(&returns).zip(results) {
                let ty = f.builder.module.variables[*parameter].ty;
                f.push(&format!("ld.param{ty}"), [(*result).into(), variable.at(0)])?;
            }
            Ok(())
        })
    }

    /// A `.param` variable for each parameter, with names that mean nothing else here.
    fn call_variables(
        &mut self,
        what: &str,
        parameters: &[Handle<Variable>],
    ) -> Result<Vec<Var>, BuildError> {
        let mut variables = Vec::new();
        let mut number = 0_u32;
        for &parameter in parameters {
            let parameter = self.builder.module.variables[parameter].clone();
            let mut name = format!("{what}{number}");
            while self.is_visible(&name) {
                number += 1;
                name = format!("{what}{number}");
            }
            number += 1;
            let mut declaration = Declaration::new(name, StateSpace::Param, parameter.ty);
            if !parameter.dimensions.is_empty() || parameter.elements != 1 {
                return declaration.error("an array or a vector cannot be passed by value in one step");
            }
            declaration.align = parameter.align;
            variables.push(self.variable(declaration)?);
        }
        Ok(variables)
    }

    fn check_counts(&self, function: Func, results: usize, arguments: usize) -> Result<(), BuildError> {
        let signature = &self.builder.module.functions[function.handle];
        let error = |message: String| {
            let function = self.builder.module.name(signature.name).to_owned();
            Err(BuildError::Call { function, message })
        };
        if signature.kind == FunctionKind::Entry {
            return error("a kernel cannot be called".to_owned());
        }
        if results != signature.returns.len() {
            return error(format!("{} results, not {results}", signature.returns.len()));
        }
        if arguments != signature.parameters.len() {
            return error(format!("{} arguments, not {arguments}", signature.parameters.len()));
        }
        Ok(())
    }

    /// Compares the lists of a call instruction with the signature of what it calls.
    pub(super) fn check_call(&self, run: Run) -> Result<(), BuildError> {
        let operands = &self.body.operands[run.range()];
        let callee = operands.iter().rev().find_map(|operand| match operand {
            Operand::Function(handle) | Operand::Prototype(handle) => Some(*handle),
            Operand::Targets(list) => {
                self.body.targets[*list].targets.iter().find_map(|target| match target {
                    Operand::Function(handle) => Some(*handle),
                    _ => None,
                })
            }
            _ => None,
        });
        let Some(handle) = callee else { return Ok(()) };
        let results = match operands.first() {
            Some(Operand::List(list)) => self.body.children(*list),
            _ => &[],
        };
        let arguments = operands.iter().skip(1).rev().find_map(|operand| match operand {
            Operand::List(list) => Some(self.body.children(*list)),
            _ => None,
        });
        let arguments = arguments.unwrap_or(&[]);
        let function = Func { module: self.builder.id, handle };
        self.check_counts(function, results.len(), arguments.len())?;
        let signature = &self.builder.module.functions[handle];
        let formals = signature.returns.iter().chain(&signature.parameters);
        for (operand, &formal) in results.iter().chain(arguments).zip(formals) {
            self.check_argument(function, *operand, formal)?;
        }
        Ok(())
    }

    fn check_argument(
        &self,
        function: Func,
        operand: Operand,
        formal: Handle<Variable>,
    ) -> Result<(), BuildError> {
        let module = &self.builder.module;
        let formal = &module.variables[formal];
        let scalar = formal.dimensions.is_empty() && formal.elements == 1;
        let fits = match operand {
            Operand::Variable { variable, offset: 0, zero: _ } => {
                let actual = &module.variables[variable];
                actual.space == StateSpace::Param
                    && actual.size() == formal.size()
                    && actual.alignment() == formal.alignment()
            }
            Operand::Register { class, .. } => {
                scalar && class.register_type().is_some_and(|ty| ty.bits() == formal.ty.bits())
            }
            Operand::Integer { .. } | Operand::SingleBits(_) | Operand::DoubleBits(_) => scalar,
            Operand::Sink => true,
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let message = format!("an argument or result does not fit `{}`", module.name(formal.name));
        let function = module.name(module.functions[function.handle].name).to_owned();
        Err(BuildError::Call { function, message })
    }
}
