//! Single things of a module as text.

use std::fmt;

use super::printer::Printer;
use ptx_ir::ir::{
    Body, Directive, Function, Handle, Instruction, Item, Module, Operand, Register, Statement, Variable,
};

/// A thing of a module that can be shown by itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Thing<'m> {
    /// `.version`, `.target` and `.address_size`, a line each.
    Header,
    /// Anything at module level.
    Item(&'m Item),
    /// A function with its body, or a declaration.
    Function(Handle<Function>),
    /// The declaration of a variable or parameter, without its `;`.
    Variable(Handle<Variable>),
    /// A statement of a body.
    Statement(&'m Body, Statement),
    /// An instruction of a body, with its guard and its `;`.
    Instruction(&'m Body, Handle<Instruction>),
    /// An operand of a body. A decimal constant stays decimal, for its type is that of the instruction.
    Operand(&'m Body, Operand),
    /// A register of a body, by its name.
    Register(&'m Body, Register),
    /// A directive with its arguments.
    Directive(&'m Directive),
}

/// What [`show`] makes.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'m> {
    module: &'m Module,
    thing: Thing<'m>,
}

/// Shows one thing of a module as [`canonical`](super::canonical) prints it, without its layout: a blank between the words
/// of a line.
///
/// ```
/// use ptx_emit::{Thing, show};
///
/// let source = ".version 8.0\n.target sm_80\n.entry k() { .reg .pred %p; .reg .b32 %r<3>; @!%p add.u32 %r1,%r2,0x10; ret; }";
/// let module = ptx_ir::lower::lower(&ptx_syntax::parse(source).tree, source).module;
/// let (_, function) = module.functions.iter().next().unwrap();
/// let body = function.body.as_ref().unwrap();
/// let (first, _) = body.instructions.iter().next().unwrap();
/// assert_eq!(show(&module, Thing::Instruction(body, first)).to_string(), "@!%p add.u32 %r1, %r2, 16;");
/// assert_eq!(show(&module, Thing::Operand(body, body.operands(first)[0])).to_string(), "%r1");
/// ```
#[must_use]
pub const fn show<'m>(module: &'m Module, thing: Thing<'m>) -> Shown<'m> {
    Shown { module, thing }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(self.module);
        match self.thing {
            Thing::Header => printer.header(),
            Thing::Item(item) => printer.item(item),
            Thing::Function(function) => printer.function(&self.module.functions[function]),
            Thing::Variable(variable) => printer.variable(variable),
            Thing::Statement(body, statement) => printer.statement(body, statement),
            Thing::Instruction(body, instruction) => printer.instruction(body, instruction),
            Thing::Operand(body, operand) => printer.operand(body, operand, None),
            Thing::Register(body, register) => printer.register(body, register),
            Thing::Directive(directive) => printer.directive(directive),
        }
        f.write_str(printer.finish().trim_end_matches('\n'))
    }
}
