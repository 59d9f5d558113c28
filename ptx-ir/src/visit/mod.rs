//! Walks over modules: everything in the order of the text, with what the instruction table says of each operand.
//!
//! A [`Visitor`] is told of functions, statements, instructions, operands and registers; each of its methods does nothing
//! unless it is given. [`for_each_register`] is the same for the registers of one instruction alone, and
//! [`Rename`] gives operands other registers, labels, variables and functions.
//!
//! ```
//! use ptx_ir::ir::Register;
//! use ptx_ir::visit::{At, RegisterUse, Visitor, walk_module};
//!
//! /// The types that registers are written as.
//! #[derive(Default)]
//! struct Written(Vec<(Register, String)>);
//!
//! impl Visitor for Written {
//!     fn register(&mut self, _: At<'_>, found: RegisterUse<'_>) {
//!         if let Some(ty) = found.ty().filter(|_| found.access.writes()) {
//!             self.0.push((found.register, ty.to_string()));
//!         }
//!     }
//! }
//!
//! let source = ".version 8.0\n.target sm_80\n.entry k() {\n.reg .b32 %r<3>; add.s32 %r1, %r2, 1; ret; }\n";
//! let module = ptx_ir::lower::lower(&ptx_syntax::parse(source).tree, source).module;
//! let mut written = Written::default();
//! walk_module(&module, &mut written);
//! assert_eq!(written.0, [(Register(1), ".s32".to_owned())]);
//! ```

mod everything;
mod registers;
mod rename;

use crate::arena::Handle;
use crate::ir::{Body, Function, Instruction, Item, Module, Operand, Register, Statement, Variable};
use crate::isa::{OperandSpec, Role};
use crate::types::Type;
pub(crate) use everything::Everything;
pub use registers::{
    Access, aligned, for_each_register, for_each_register_of, for_each_register_with_operand,
};
pub use rename::Rename;

/// The index of a statement in [`Body::statements`]: the order of a body, whatever is inserted or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position(pub u32);

/// Where a walk is.
#[derive(Clone, Copy, Debug)]
pub struct At<'m> {
    /// The module.
    pub module: &'m Module,
    /// The function.
    pub function: Handle<Function>,
    /// The body of the function.
    pub body: &'m Body,
    /// The statement.
    pub position: Position,
    /// The instruction, where the statement is one.
    pub instruction: Option<Handle<Instruction>>,
}

/// An operand, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct OperandUse<'m> {
    /// The operand.
    pub operand: Operand,
    /// The operand of the instruction that it is, or is a part of; from 0.
    pub index: usize,
    /// How many operands it is within: 0 for an operand, 1 for an element of a vector.
    pub depth: u32,
    /// What happens to what it names. For an address that is the register of the address, which is read.
    pub access: Access,
    /// What the instruction wants there; for an element of a vector, of the vector. None where the operands fit no form.
    pub spec: Option<&'m OperandSpec>,
}

/// A register that an instruction names.
#[derive(Clone, Copy, Debug)]
pub struct RegisterUse<'m> {
    /// The register; a vector register is told as its elements.
    pub register: Register,
    /// What happens to it. What is in an address, a guard among them, is read.
    pub access: Access,
    /// The operand it is in, from 0; none for a guard.
    pub index: Option<usize>,
    /// What the instruction wants at the operand; none for a guard, and where the operands fit no form.
    pub spec: Option<&'m OperandSpec>,
}

impl RegisterUse<'_> {
    /// The role that the table gives the operand.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        self.spec.map(|spec| spec.role)
    }

    /// The type that the instruction takes it as, which need not be the one that it was declared with.
    #[must_use]
    pub fn ty(&self) -> Option<Type> {
        self.spec.and_then(|spec| spec.ty)
    }
}

/// What is told of a module on a walk over it, outer things before what is in them.
pub trait Visitor {
    /// A variable of the module, or a parameter.
    fn variable(&mut self, module: &Module, variable: Handle<Variable>) {
        let _ = (module, variable);
    }

    /// A function, a kernel, or a declaration of one, before its parameters and its body.
    fn function(&mut self, module: &Module, function: Handle<Function>) {
        let _ = (module, function);
    }

    /// A statement of any kind.
    fn statement(&mut self, at: At<'_>, statement: Statement) {
        let _ = (at, statement);
    }

    /// An instruction, after [`statement`](Self::statement) and before its guard and operands.
    fn instruction(&mut self, at: At<'_>, instruction: Handle<Instruction>) {
        let _ = (at, instruction);
    }

    /// An operand of an instruction, then its parts. Targets of a list have no instruction, and no specification.
    fn operand(&mut self, at: At<'_>, operand: OperandUse<'_>) {
        let _ = (at, operand);
    }

    /// A register of an instruction: the guard first, then in the order of the operands.
    fn register(&mut self, at: At<'_>, register: RegisterUse<'_>) {
        let _ = (at, register);
    }
}

/// Walks over all items of a module.
pub fn walk_module(module: &Module, visitor: &mut impl Visitor) {
    for item in &module.items {
        match item {
            Item::Variable(variable) => visitor.variable(module, *variable),
            Item::Function(function) => walk_function(module, *function, visitor),
            Item::Directive(_) | Item::Alias { .. } | Item::Section(_) => {}
        }
    }
}

/// Walks over a function: its parameters, then the statements of its body.
pub fn walk_function(module: &Module, function: Handle<Function>, visitor: &mut impl Visitor) {
    visitor.function(module, function);
    let Function { returns, parameters, body, .. } = &module.functions[function];
    for &variable in returns.iter().chain(parameters) {
        visitor.variable(module, variable);
    }
    let Some(body) = body else { return };
    for (index, &statement) in body.statements.iter().enumerate() {
        let position = Position(index as u32);
        let mut at = At { module, function, body, position, instruction: None };
        if let Statement::Instruction(instruction) = statement {
            at.instruction = Some(instruction);
        }
        visitor.statement(at, statement);
        match statement {
            Statement::Instruction(instruction) => walk_instruction(at, instruction, visitor),
            Statement::Targets(list) => {
                for (index, &operand) in body.targets[list].targets.iter().enumerate() {
                    let access = Access::Read;
                    visitor.operand(at, OperandUse { operand, index, depth: 0, access, spec: None });
                }
            }
            Statement::Variable(variable) => visitor.variable(module, variable),
            Statement::Label(_)
            | Statement::Open
            | Statement::Close
            | Statement::Registers(_)
            | Statement::Directive(_)
            | Statement::Prototype(_) => {}
        }
    }
}

fn walk_instruction(at: At<'_>, handle: Handle<Instruction>, visitor: &mut impl Visitor) {
    visitor.instruction(at, handle);
    let instruction = &at.body.instructions[handle];
    if let Some(register) = instruction.guard.and_then(|guard| guard.register) {
        let guard = RegisterUse { register, access: Access::Read, index: None, spec: None };
        visitor.register(at, guard);
    }
    let operands = at.body.operands(handle);
    let instance = at.module.instance(instruction);
    let specs = match instance {
        Some(instance) if instance.operands.len() == operands.len() => {
            instance.operands.iter().map(Some).collect()
        }
        Some(instance) => aligned(at.module, at.body, instance, operands),
        None => vec![None; operands.len()],
    };
    for (index, (&operand, spec)) in operands.iter().zip(specs).enumerate() {
        let access = match (spec.map(|spec| Access::of(spec.role)), instance) {
            (None, _) => Access::Unknown,
            (Some(Access::ReadWrite), Some(instance)) => registers::accumulator(instance, operands),
            (Some(access), _) => access,
        };
        walk_operand(at, OperandUse { operand, index, depth: 0, access, spec }, visitor);
    }
}

/// Parts are no deeper than the grammar lets them be, which is a handful.
fn walk_operand(at: At<'_>, found: OperandUse<'_>, visitor: &mut impl Visitor) {
    visitor.operand(at, found);
    let OperandUse { operand, index, depth, access, spec } = found;
    let Some(run) = operand.parts() else {
        registers::visit_operand(at.body, operand, access, spec, &mut |register, access| {
            visitor.register(at, RegisterUse { register, access, index: Some(index), spec });
        });
        return;
    };
    for (number, &operand) in at.body.children(run).iter().enumerate() {
        let (access, spec) = part(found, number, access, spec);
        walk_operand(at, OperandUse { operand, index, depth: depth + 1, access, spec }, visitor);
    }
}

/// What happens to a part of an operand, and what the table says of it.
fn part<'m>(
    whole: OperandUse<'_>,
    number: usize,
    access: Access,
    spec: Option<&'m OperandSpec>,
) -> (Access, Option<&'m OperandSpec>) {
    let child = spec.and_then(|spec| spec.children.get(number));
    match whole.operand {
        Operand::Bracket(_) => (registers::read(access), child),
        Operand::Pair(_) => match (access, child) {
            (Access::Unknown, _) | (_, None) => (access, child),
            (_, Some(spec)) => (Access::of(spec.role), child),
        },
        Operand::List(_) => (access, child),
        // The elements of a vector have no description of their own: they are what the vector is.
        _ => (access, spec),
    }
}
