//! A part of a function as a function of its own.

use std::fmt;

use rustc_hash::FxHashSet;

use super::FunctionEditor;
use super::copy::Copied;
use super::inline::plain;
use crate::arena::Handle;
use crate::build::declaration::Declaration;
use crate::build::value::{Func, Reg, Value};
use crate::build::{BuildError, FunctionBuilder};
use crate::ir::{FunctionKind, Instruction, Operand, Register, Statement};
use crate::isa::Control;
use crate::space::StateSpace;
use crate::types::Type;
use crate::visit::for_each_register_with_operand;

/// Why a part of a function cannot be a function of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutlineError {
    /// The instructions are not in a row, or one of them branches, calls, waits for what runs on its own, or needs the carry
    /// flag.
    NotInARow,
    /// An instruction uses a variable or parameter of the function.
    Local {
        /// The name of the variable.
        variable: String,
    },
    /// A register that would be passed is a vector, has 8 or 128 bits, or was made in this edit.
    Register,
    /// A step was refused; the edit is to be dropped.
    Build(BuildError),
}

impl fmt::Display for OutlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInARow => {
                f.write_str("only instructions in a row that end where they go on can be moved")
            }
            Self::Local { variable } => write!(f, "`{variable}` is known in the function only"),
            Self::Register => f.write_str("a register cannot be passed to a function"),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OutlineError {}

impl From<BuildError> for OutlineError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// What goes into a part of a function, and what comes out of it.
#[derive(Default)]
struct Flow {
    inputs: Vec<(Register, Type)>,
    outputs: Vec<(Register, Type)>,
}

impl FunctionEditor<'_> {
    /// Moves the instructions from `first` to `last` into a new function of this name, which is called in their place.
    /// Registers that they read are its parameters; those that they write and others read are its results.
    ///
    /// A register that they write under a condition is passed with its old value, which may be none yet.
    ///
    /// The function is part of the module from now on. Where the edit is dropped, nothing calls it.
    ///
    /// ```
    /// use ptx_ir::build::ModuleBuilder;
    ///
    /// let source = "\
    /// .version 8.0
    /// .target sm_80
    /// .address_size 64
    /// .visible .entry k() { .reg .b32 %r<4>; mov.u32 %r0, 1; add.u32 %r1, %r0, 1; mul.lo.u32 %r2, %r1, %r1;
    ///     st.shared.u32 [%r0], %r2; ret; }
    /// ";
    /// let module = ptx_ir::lower::lower(&ptx_syntax::parse(source).tree, source).module;
    /// let mut builder = ModuleBuilder::extend(module);
    /// let kernel = builder.find_function("k").unwrap();
    /// let mut editor = builder.edit(kernel).unwrap();
    /// let [_, first, last, ..] = editor.instructions()[..] else { unreachable!() };
    /// let square = editor.outline("square", first, last).unwrap();
    /// editor.finish().unwrap();
    /// let module = builder.finish();
    /// let function = &module.functions[square.handle()];
    /// assert_eq!((function.parameters.len(), function.returns.len()), (1, 1));
    /// ```
    ///
    /// # Errors
    /// The instructions stay; after any error but [`OutlineError::Build`] the edit may go on.
    pub fn outline(
        &mut self,
        name: &str,
        first: Handle<Instruction>,
        last: Handle<Instruction>,
    ) -> Result<Func, OutlineError> {
        let part = self.part(first, last).ok_or(OutlineError::NotInARow)?;
        for &at in &part {
            self.check_movable(at)?;
        }
        let flow = self.flow(&part)?;
        let function = self.make(name, &part, &flow)?;
        let registers = |all: &[(Register, Type)]| -> Vec<Reg> {
            all.iter().filter_map(|(register, _)| self.register(*register)).collect()
        };
        let (inputs, outputs) = (registers(&flow.inputs), registers(&flow.outputs));
        let f = self.before(first)?;
        f.scope(|f| call(f, function, &inputs, &outputs))?;
        for at in part {
            self.remove(at)?;
        }
        Ok(function)
    }

    /// The instructions from one to another that follow each other.
    fn part(
        &mut self,
        first: Handle<Instruction>,
        last: Handle<Instruction>,
    ) -> Option<Vec<Handle<Instruction>>> {
        let mut node = self.node(first).ok()?;
        let mut part = Vec::new();
        loop {
            match self.order.statement(node)? {
                Statement::Instruction(at) => part.push(at),
                Statement::Directive(_) => {}
                _ => return None,
            }
            if part.last() == Some(&last) {
                return Some(part);
            }
            node = self.order.after(node);
        }
    }

    fn check_movable(&self, at: Handle<Instruction>) -> Result<(), OutlineError> {
        let (module, body) = (self.module(), self.body());
        let effects = self.instance(at).map(|instance| &instance.effects);
        let is_movable = effects.is_some_and(|effects| {
            effects.control == Control::Next && effects.carry.is_none() && effects.asynchronous.is_none()
        });
        if !is_movable {
            return Err(OutlineError::NotInARow);
        }
        let mut stack: Vec<Operand> = body.operands(at).to_vec();
        while let Some(operand) = stack.pop() {
            if let Some(run) = operand.parts() {
                stack.extend(body.children(run));
            }
            if let Some(variable) =
                operand.variable().filter(|each| module.variables[*each].function.is_some())
            {
                let variable = module.name(module.variables[variable].name).to_owned();
                return Err(OutlineError::Local { variable });
            }
        }
        Ok(())
    }

    /// What the part reads that was there before, and what it writes that is looked at after it.
    fn flow(&mut self, part: &[Handle<Instruction>]) -> Result<Flow, OutlineError> {
        let inside: FxHashSet<Handle<Instruction>> = part.iter().copied().collect();
        let mut outside: FxHashSet<Register> = FxHashSet::default();
        for at in self.instructions().into_iter().filter(|at| !inside.contains(at)) {
            self.for_each_mention(at, |register, _, _| {
                outside.insert(register);
            });
        }
        let (mut inputs, mut written, mut surely) = (Vec::new(), Vec::new(), FxHashSet::default());
        for &at in part {
            let guarded = self.body().instructions[at].guard.is_some();
            let mut writes = Vec::new();
            self.for_each_mention(at, |register, reads, is_written| {
                if reads && !surely.contains(&register) {
                    inputs.push(register);
                }
                if is_written {
                    writes.push(register);
                }
            });
            written.extend(&writes);
            if !guarded {
                surely.extend(writes);
            }
        }
        // In a loop the part itself may be what looks at it next.
        written.retain(|register| outside.contains(register) || inputs.contains(register));
        // Where it may stay as it was, the old value comes back.
        inputs.extend(written.iter().filter(|register| !surely.contains(register)));
        let typed = |mut registers: Vec<Register>| -> Result<Vec<(Register, Type)>, OutlineError> {
            registers.sort_unstable();
            registers.dedup();
            registers.into_iter().map(|register| self.passed(register)).collect()
        };
        let (inputs, mut outputs) = (typed(inputs)?, typed(written)?);
        // The larger first, so that there is nothing undefined between the results.
        outputs.sort_by_key(|&(register, ty)| (std::cmp::Reverse(bytes(ty)), register));
        Ok(Flow { inputs, outputs })
    }

    /// Calls `visit` with each register of an instruction, whether its old value counts, and whether it has a new one.
    fn for_each_mention(&self, at: Handle<Instruction>, mut visit: impl FnMut(Register, bool, bool)) {
        let body = self.body();
        if let Some(register) = body.instructions[at].guard.and_then(|guard| guard.register) {
            visit(register, true, false);
        }
        let operands = body.operands(at);
        for_each_register_with_operand(self.module(), body, at, |register, access, index| {
            // A selector leaves a part of the register as it was.
            let is_part = matches!(operands[index], Operand::Selected { .. });
            visit(register, access.reads() || is_part, access.writes());
        });
    }

    /// A register with its type, if it can be passed.
    fn passed(&self, register: Register) -> Result<(Register, Type), OutlineError> {
        let group = self.body().group(register).filter(|group| group.elements == 1);
        let ty = group.map(|group| group.ty).filter(|ty| plain(*ty).is_some());
        ty.map(|ty| (register, ty)).ok_or(OutlineError::Register)
    }

    /// Makes the function.
    fn make(&mut self, name: &str, part: &[Handle<Instruction>], flow: &Flow) -> Result<Func, OutlineError> {
        let mut body = self.inner.body.clone();
        body.statements = part.iter().map(|at| Statement::Instruction(*at)).collect();
        body.labels.clear();
        body.targets.clear();
        let known = self.inner.kept.registers;
        let mut f = FunctionBuilder::new(&mut *self.inner.builder, name, FunctionKind::Function)?;
        let mut copied = Copied::new(&body);
        for (index, &(register, ty)) in flow.inputs.iter().enumerate() {
            if register.0 >= known {
                return Err(OutlineError::Register);
            }
            let parameter = f.fresh_name(&format!("{name}_input{index}"))?;
            let parameter = f.param(&parameter, memory_type(ty))?;
            let copy = f.reg(ty);
            copied.set_register(register, copy);
            load(&mut f, copy, parameter.at(0))?;
        }
        let size = flow.outputs.iter().map(|&(_, ty)| bytes(ty)).sum();
        let results = match size {
            0 => None,
            _ => {
                let results = f.fresh_name(&format!("{name}_results"))?;
                Some(f.result_with(results_of(results, size))?)
            }
        };
        let is_input = |register: Register| flow.inputs.iter().any(|(input, _)| *input == register);
        for &(register, ty) in flow.outputs.iter().filter(|(register, _)| !is_input(*register)) {
            let copy = f.reg(ty);
            copied.set_register(register, copy);
        }
        let copies: Vec<Option<Reg>> =
            flow.outputs.iter().map(|(register, _)| copied.register_of(*register)).collect();
        copied.insert(&mut f)?;
        let mut offset = 0;
        for copy in copies.into_iter().flatten() {
            if let Some(results) = results {
                store(&mut f, results.at(offset), copy)?;
            }
            offset += bytes(copy.ty()) as i64;
        }
        f.push("ret", [])?;
        Ok(f.finish()?)
    }
}

/// The variable of all results, of so many bytes: a function of the ABI has one result.
fn results_of(name: String, size: u64) -> Declaration {
    Declaration::new(name, StateSpace::Param, Type::B8).array([size]).align(8)
}

/// How many bytes a register takes in memory.
fn bytes(ty: Type) -> u64 {
    u64::from(memory_type(ty).bits() / 8)
}

/// What a register is in memory: a predicate is a word.
fn memory_type(ty: Type) -> Type {
    match ty {
        Type::Pred => Type::B32,
        _ => plain(ty).unwrap_or(ty),
    }
}

/// Calls the function in a block of its own.
fn call(
    f: &mut FunctionBuilder<'_>,
    function: Func,
    inputs: &[Reg],
    outputs: &[Reg],
) -> Result<(), BuildError> {
    let mut arguments = Vec::new();
    for &input in inputs {
        let name = f.fresh_name("argument")?;
        let argument = f.variable(Declaration::new(name, StateSpace::Param, memory_type(input.ty())))?;
        store(f, argument.at(0), input)?;
        arguments.push(argument);
    }
    let mut operands: Vec<Value> = Vec::new();
    let results = match outputs.iter().map(|output| bytes(output.ty())).sum() {
        0 => None,
        size => {
            let name = f.fresh_name("results")?;
            Some(f.variable(results_of(name, size))?)
        }
    };
    operands.extend(results.map(|results| Value::list([results])));
    operands.push(function.into());
    if !arguments.is_empty() {
        operands.push(Value::list(arguments));
    }
    f.push("call", operands)?;
    let mut offset = 0;
    for &output in outputs {
        if let Some(results) = results {
            load(f, output, results.at(offset))?;
        }
        offset += bytes(output.ty()) as i64;
    }
    Ok(())
}

fn store(f: &mut FunctionBuilder<'_>, at: Value, register: Reg) -> Result<(), BuildError> {
    if register.ty() != Type::Pred {
        return f.push(&format!("st.param{}", memory_type(register.ty())), [at, register.into()]);
    }
    let word = f.reg(Type::B32);
    f.push(&format!("selp{}", Type::B32), [word.into(), 1.into(), 0.into(), register.into()])?;
    f.push(&format!("st.param{}", Type::B32), [at, word.into()])
}

fn load(f: &mut FunctionBuilder<'_>, register: Reg, at: Value) -> Result<(), BuildError> {
    if register.ty() != Type::Pred {
        return f.push(&format!("ld.param{}", memory_type(register.ty())), [register.into(), at]);
    }
    let word = f.reg(Type::B32);
    f.push(&format!("ld.param{}", Type::B32), [word.into(), at])?;
    f.push(&format!("setp.ne{}", Type::B32), [register.into(), word.into(), 0.into()])
}
