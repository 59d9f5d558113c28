//! The body of a function in place of a call of it.

use std::fmt;

use rustc_hash::FxHashMap;

use super::FunctionEditor;
use super::copy::Copied;
use crate::arena::Handle;
use crate::build::declaration::Declaration;
use crate::build::value::{Value, Var};
use crate::build::{BuildError, FunctionBuilder};
use crate::ir::{Body, Function, Instruction, Linkage, Module, Operand, Register, Statement, Variable};
use crate::isa::Control;
use crate::space::StateSpace;
use crate::types::Type;

/// Why a call stays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InlineError {
    /// The instruction is no call, or calls through a register.
    NotDirect,
    /// The function has no body here, or one that a linker may replace, for it is `.weak`.
    NoBody {
        /// The name of the function.
        function: String,
    },
    /// The arguments or results are not those of the function, or one is an array of registers.
    Arguments {
        /// The name of the function.
        function: String,
    },
    /// A variable of the call, or a parameter of the function, is used otherwise than by loads and stores of it: by another
    /// call, or by its address.
    AddressTaken {
        /// The name of the variable.
        variable: String,
    },
    /// The function has memory of its own that lasts: `.shared` variables.
    OwnMemory {
        /// The name of the variable.
        variable: String,
    },
    /// A step was refused; the edit is to be dropped.
    Build(BuildError),
}

impl fmt::Display for InlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDirect => f.write_str("the instruction does not call a function by its name"),
            Self::NoBody { function } => write!(f, "`{function}` has no body that is sure to be called"),
            Self::Arguments { function } => write!(f, "the operands of the call do not fit `{function}`"),
            Self::AddressTaken { variable } => write!(f, "`{variable}` is not only loaded and stored"),
            Self::OwnMemory { variable } => write!(f, "`{variable}` is memory that all calls share"),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InlineError {}

impl From<BuildError> for InlineError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// A call that can be inlined.
struct Plan {
    callee: Handle<Function>,
    /// The results and parameters of the function, each with the operand of the call and whether it is a result.
    pairs: Vec<(Handle<Variable>, Operand, bool)>,
}

/// A `.param` variable of the caller, the parameter that it is for, and its loads and stores.
type Use = (Handle<Variable>, Handle<Variable>, Vec<Handle<Instruction>>);

impl FunctionEditor<'_> {
    /// Puts the body of the function that is called in place of a call, in a block of its own.
    ///
    /// Parameters in `.param` space become `.local` variables, which the assembler keeps in registers; those in registers
    /// are copied. A guarded call becomes a branch around the block. Memory of `alloca` is freed when the caller returns
    /// rather than after the call.
    ///
    /// ```
    /// use ptx_ir::build::ModuleBuilder;
    ///
    /// let source = "\
    /// .version 8.0
    /// .target sm_80
    /// .address_size 64
    /// .func (.reg .b32 r) twice(.reg .b32 a) { add.u32 r, a, a; ret; }
    /// .visible .entry k() { .reg .b32 %r<2>; mov.u32 %r0, 1; call (%r1), twice, (%r0); ret; }
    /// ";
    /// let module = ptx_ir::lower::lower(&ptx_syntax::parse(source).tree, source).module;
    /// let mut builder = ModuleBuilder::extend(module);
    /// let kernel = builder.find_function("k").unwrap();
    /// let mut editor = builder.edit(kernel).unwrap();
    /// let call = editor.instructions()[1];
    /// editor.inline(call).unwrap();
    /// let spellings: Vec<_> = editor.instructions().iter().map(|at| editor.spelling(*at).to_owned()).collect();
    /// assert_eq!(spellings, ["mov.u32", "mov.b32", "add.u32", "mov.b32", "ret"]);
    /// ```
    ///
    /// # Errors
    /// The call stays; after any error but [`InlineError::Build`] the edit may go on.
    pub fn inline(&mut self, call: Handle<Instruction>) -> Result<(), InlineError> {
        let plan = self.plan(call)?;
        let body = self.module().functions[plan.callee].body.clone().unwrap_or_default();
        self.check_memory(&body, &plan)?;
        let locals = self.locals(call, &plan)?;
        let guard = self.guard_of(call);
        let values: Vec<Value> = plan.pairs.iter().map(|(_, operand, _)| self.value(*operand)).collect();
        let f = self.before(call)?;
        let skip = match guard {
            None => None,
            Some((predicate, negated)) => {
                let skip = f.fresh_label("skip")?;
                let around = if negated { f.guard(predicate) } else { f.guard_not(predicate) };
                around.push("bra", [skip.into()])?;
                Some(skip)
            }
        };
        f.scope(|f| insert(f, &body, &plan, &locals, &values))?;
        if let Some(skip) = skip {
            f.place(skip)?;
        }
        self.remove(call)?;
        Ok(())
    }

    /// What is called, and with what.
    fn plan(&self, call: Handle<Instruction>) -> Result<Plan, InlineError> {
        let (module, body) = (self.module(), self.body());
        let instruction = &body.instructions[call];
        if self.inner.control(instruction) != Some(Control::Call) || self.order.instruction(call).is_none() {
            return Err(InlineError::NotDirect);
        }
        let operands = body.operands(call);
        let named = operands.iter().position(|operand| matches!(operand, Operand::Function(_)));
        let Some(named) = named.filter(|named| named + 2 >= operands.len()) else {
            return Err(InlineError::NotDirect);
        };
        let Operand::Function(function) = operands[named] else { return Err(InlineError::NotDirect) };
        let function = &module.functions[function];
        let name = || module.name(function.name).to_owned();
        let defined = self.inner.builder.find_function(module.name(function.name)).map(|found| found.handle);
        let defined = defined.filter(|&each| {
            module.functions[each].body.is_some() && module.functions[each].linkage != Some(Linkage::Weak)
        });
        let Some(callee) = defined else { return Err(InlineError::NoBody { function: name() }) };
        let list = |operand: Option<&Operand>| match operand {
            Some(Operand::List(run)) => Some(body.children(*run).to_vec()),
            None => Some(Vec::new()),
            Some(_) => None,
        };
        let results = list(operands[..named].last());
        let arguments = list(operands.get(named + 1));
        let error = InlineError::Arguments { function: name() };
        let (Some(results), Some(arguments)) = (results, arguments) else { return Err(error) };
        let Function { returns, parameters, .. } = &module.functions[callee];
        if results.len() != returns.len() || arguments.len() != parameters.len() {
            return Err(error);
        }
        let results = returns.iter().zip(results).map(|(formal, operand)| (*formal, operand, true));
        let arguments = parameters.iter().zip(arguments).map(|(formal, operand)| (*formal, operand, false));
        let pairs: Vec<_> = results.chain(arguments).collect();
        let fits = |&(formal, operand, is_result): &(Handle<Variable>, Operand, bool)| {
            fits(module, &module.variables[formal], operand, is_result)
        };
        if pairs.iter().all(fits) { Ok(Plan { callee, pairs }) } else { Err(error) }
    }

    /// Fails where the function has memory that lasts, or needs the address of a parameter.
    fn check_memory(&self, body: &Body, plan: &Plan) -> Result<(), InlineError> {
        let module = self.module();
        let name = |variable: Handle<Variable>| module.name(module.variables[variable].name).to_owned();
        for statement in &body.statements {
            if let Statement::Variable(variable) = *statement
                && !matches!(module.variables[variable].space, StateSpace::Local | StateSpace::Param)
            {
                return Err(InlineError::OwnMemory { variable: name(variable) });
            }
        }
        let is_formal =
            |variable: Handle<Variable>| plan.pairs.iter().any(|(formal, ..)| *formal == variable);
        let all = body.operands.iter().chain(&body.children);
        let mut taken = all.filter(|operand| is_address(operand)).filter_map(Operand::variable);
        if let Some(variable) = taken.find(|variable| is_formal(*variable)) {
            return Err(InlineError::AddressTaken { variable: name(variable) });
        }
        // A parameter at an address in a register is one whose address was taken in ways that are not seen.
        for (handle, instruction) in body.instructions.iter() {
            let specs = module.instance(instruction).map_or(&[][..], |instance| &instance.operands);
            let is_parameter = |spec: &crate::isa::OperandSpec| {
                spec.access.is_some_and(|access| access.space == Some(StateSpace::Param))
            };
            let by_register = |operand: &Operand| matches!(operand, Operand::RegisterAddress { .. });
            if specs.iter().any(is_parameter) && body.operands(handle).iter().any(by_register) {
                let variable = module.name(module.functions[plan.callee].name).to_owned();
                return Err(InlineError::AddressTaken { variable });
            }
        }
        Ok(())
    }

    /// Makes the `.param` variables that the caller has for the call into `.local` ones, with what loads and stores them.
    fn locals(
        &mut self,
        call: Handle<Instruction>,
        plan: &Plan,
    ) -> Result<FxHashMap<Handle<Variable>, Var>, InlineError> {
        let mut locals = FxHashMap::default();
        let mut uses: Vec<Use> = Vec::new();
        for &(formal, operand, _) in &plan.pairs {
            let Operand::Variable { variable, .. } = operand else { continue };
            let found = self.uses_of(variable, call);
            let name = || self.module().name(self.module().variables[variable].name).to_owned();
            let Some(found) = found.filter(|_| !uses.iter().any(|(other, ..)| *other == variable)) else {
                return Err(InlineError::AddressTaken { variable: name() });
            };
            uses.push((variable, formal, found));
        }
        for (variable, formal, found) in uses {
            let local = self.local_instead_of(variable, formal)?;
            locals.insert(formal, local);
            for at in found {
                let spelling = self.local_spelling(at).ok_or(InlineError::NotDirect)?;
                let operands: Vec<Value> = self
                    .operands_with(at, |operand| match operand {
                        Operand::VariableAddress { variable: found, offset } if found == variable => {
                            Some(local.at(offset))
                        }
                        _ => None,
                    })
                    .collect();
                self.replace(at, &spelling, operands)?;
            }
        }
        Ok(locals)
    }

    /// The loads and stores of a variable of a block, if there is nothing else but one call.
    fn uses_of(
        &mut self,
        variable: Handle<Variable>,
        call: Handle<Instruction>,
    ) -> Option<Vec<Handle<Instruction>>> {
        self.settle();
        let body = &self.inner.body;
        let mut uses = Vec::new();
        let mut in_call = 0;
        for (statement, _) in self.order.in_scope_of(variable)? {
            let Statement::Instruction(at) = statement else { continue };
            let mut stack: Vec<Operand> = body.operands(at).to_vec();
            while let Some(operand) = stack.pop() {
                if let Some(run) = operand.parts() {
                    stack.extend(body.children(run));
                } else if operand.variable() == Some(variable) {
                    match operand {
                        Operand::VariableAddress { .. } => uses.push(at),
                        Operand::Variable { .. } if at == call => in_call += 1,
                        _ => return None,
                    }
                }
            }
        }
        (in_call == 1).then_some(uses)
    }

    /// Declares a `.local` variable where a `.param` one is, which goes.
    fn local_instead_of(
        &mut self,
        variable: Handle<Variable>,
        formal: Handle<Variable>,
    ) -> Result<Var, InlineError> {
        let node = self.order.variable(variable).ok_or(InlineError::NotDirect)?;
        let f = self.go(node);
        let local = local(f, variable, formal)?;
        self.settle();
        let after = self.order.after(node);
        self.go(after);
        self.order.remove(node);
        Ok(local)
    }

    /// The spelling of a load or store of a parameter, for local memory.
    fn local_spelling(&self, at: Handle<Instruction>) -> Option<String> {
        local_spelling(self.module(), &self.body().instructions[at])
    }

    /// The operands as values, some of them others.
    fn operands_with<'a>(
        &'a self,
        at: Handle<Instruction>,
        change: impl Fn(Operand) -> Option<Value> + 'a,
    ) -> impl Iterator<Item = Value> + 'a {
        let operands = self.inner.body.operands(at).iter();
        operands.map(move |operand| change(*operand).unwrap_or_else(|| self.value(*operand)))
    }
}

/// Whether an operand is the address of a variable rather than memory in it.
const fn is_address(operand: &Operand) -> bool {
    matches!(operand, Operand::Variable { .. } | Operand::Element { is_value: true, .. })
}

/// The spelling of a load or store of a parameter, for local memory.
pub(super) fn local_spelling(module: &Module, instruction: &Instruction) -> Option<String> {
    let instance = module.instance(instruction)?;
    let param =
        instance.modifiers.iter().find(|modifier| modifier.starts_with(StateSpace::Param.as_str()))?;
    Some(instance.canonical.replacen(param, StateSpace::Local.as_str(), 1))
}

/// Whether an operand of a call can be moved to and from a parameter.
fn fits(module: &Module, formal: &Variable, operand: Operand, is_result: bool) -> bool {
    let is_scalar = formal.dimensions.is_empty() && formal.elements == 1 && formal.member.is_none();
    match operand {
        Operand::Variable { variable, offset: 0, zero: _ } => {
            let actual = &module.variables[variable];
            let in_memory = formal.space == StateSpace::Param && actual.space == StateSpace::Param;
            in_memory && !actual.is_parameter && formal.size().is_some() && actual.size() == formal.size()
        }
        Operand::Sink => is_result && is_scalar,
        Operand::Register { class, .. } => {
            let same = class.register_type().is_some_and(|ty| ty.bits() == formal.ty.bits());
            is_scalar && same && plain(formal.ty).is_some()
        }
        Operand::Integer { .. } | Operand::SingleBits(_) | Operand::DoubleBits(_) => {
            !is_result && is_scalar && formal.ty != Type::Pred && plain(formal.ty).is_some()
        }
        _ => false,
    }
}

/// The type without a meaning that has the size of another.
pub(super) fn plain(ty: Type) -> Option<Type> {
    match (ty, ty.bits()) {
        (Type::Pred, _) => Some(Type::Pred),
        (_, 16) => Some(Type::B16),
        (_, 32) => Some(Type::B32),
        (_, 64) => Some(Type::B64),
        _ => None,
    }
}

/// A `.local` variable like a parameter, with the stricter alignment of both.
fn local(
    f: &mut FunctionBuilder<'_>,
    like: Handle<Variable>,
    formal: Handle<Variable>,
) -> Result<Var, BuildError> {
    let variables = &f.builder.module.variables;
    let Variable { name, ty, elements, ref dimensions, .. } = variables[like];
    let align = variables[like].alignment().max(variables[formal].alignment());
    let sizes: Vec<u64> = dimensions.iter().flatten().copied().collect();
    let name = f.fresh_name(f.builder.module.name(name))?;
    let mut declaration = Declaration::new(name, StateSpace::Local, ty).vector(elements).align(align);
    if !sizes.is_empty() {
        declaration = declaration.array(sizes);
    }
    f.variable(declaration)
}

/// The block that takes the place of the call.
fn insert(
    f: &mut FunctionBuilder<'_>,
    body: &Body,
    plan: &Plan,
    locals: &FxHashMap<Handle<Variable>, Var>,
    values: &[Value],
) -> Result<(), BuildError> {
    let mut copied = Copied::new(body);
    // What no statement declares are parameters in registers, in the order of the signature.
    let declared = body.statements.iter().filter_map(|statement| match statement {
        Statement::Registers(group) => Some(*group),
        _ => None,
    });
    let declared: rustc_hash::FxHashSet<_> = declared.collect();
    let mut groups = body.registers.iter().filter(|(handle, _)| !declared.contains(handle));
    let mut after = Vec::new();
    for ((formal, operand, is_result), value) in plan.pairs.iter().zip(values) {
        let Variable { space, ty, .. } = f.builder.module.variables[*formal];
        let unwanted = matches!(operand, Operand::Sink);
        if space == StateSpace::Reg {
            let Some((_, group)) = groups.next() else { continue };
            let register = f.reg(group.ty);
            copied.set_register(Register(group.first.0), register);
            let mov = format!("mov{}", plain(ty).unwrap_or(ty));
            match is_result {
                true if unwanted => {}
                true => after.push((mov, [value.clone(), register.into()])),
                false => f.push(&mov, [register.into(), value.clone()])?,
            }
            continue;
        }
        let memory = match locals.get(formal) {
            Some(&memory) => memory,
            None => local(f, *formal, *formal)?,
        };
        copied.set_memory(*formal, memory.handle());
        if locals.contains_key(formal) {
            continue;
        }
        let ty = plain(ty).unwrap_or(ty);
        match is_result {
            true if unwanted => {}
            true => after.push((format!("ld.local{ty}"), [value.clone(), memory.at(0)])),
            false => f.push(&format!("st.local{ty}"), [memory.at(0), value.clone()])?,
        }
    }
    copied.insert(f)?;
    after.into_iter().try_for_each(|(spelling, operands)| f.push(&spelling, operands))
}
