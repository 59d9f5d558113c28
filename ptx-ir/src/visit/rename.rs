//! Other names for what operands refer to.

use crate::arena::{Handle, Symbol};
use crate::ir::{Function, Label, Operand, Register, Run, TargetList, Variable};

/// Gives operands other registers, labels, variables and functions; what is not given stays.
///
/// ```
/// use ptx_ir::ir::{Operand, Register};
/// use ptx_ir::isa::Class;
/// use ptx_ir::visit::Rename;
///
/// struct Shift(u32);
/// impl Rename for Shift {
///     fn register(&mut self, register: Register) -> Register {
///         Register(register.0 + self.0)
///     }
/// }
///
/// let operand = Operand::Register { register: Register(1), class: Class::RegB32 };
/// assert_eq!(Shift(4).operand(operand).base(), Some(Register(5)));
/// ```
pub trait Rename {
    /// The register instead of this one. A vector register is asked about by its first element.
    fn register(&mut self, register: Register) -> Register {
        register
    }

    /// The label instead of this one.
    fn label(&mut self, label: Handle<Label>) -> Handle<Label> {
        label
    }

    /// The variable instead of this one.
    fn variable(&mut self, variable: Handle<Variable>) -> Handle<Variable> {
        variable
    }

    /// The function or prototype instead of this one.
    fn function(&mut self, function: Handle<Function>) -> Handle<Function> {
        function
    }

    /// The list of targets instead of this one.
    fn targets(&mut self, list: Handle<TargetList>) -> Handle<TargetList> {
        list
    }

    /// The name instead of this one, which was not declared.
    fn symbol(&mut self, symbol: Symbol) -> Symbol {
        symbol
    }

    /// Where the parts are that were at `run`, and are renamed there.
    fn parts(&mut self, run: Run) -> Run {
        run
    }

    /// The operand with everything in it renamed.
    fn operand(&mut self, mut operand: Operand) -> Operand {
        match &mut operand {
            Operand::Register { register, .. }
            | Operand::Negated { register, .. }
            | Operand::Selected { register, .. }
            | Operand::Minus { register, .. }
            | Operand::Sum { register, .. }
            | Operand::RegisterAddress { base: register, .. }
            | Operand::VectorRegister { first: register, .. } => *register = self.register(*register),
            Operand::Element { variable, index, .. } => {
                *variable = self.variable(*variable);
                *index = self.register(*index);
            }
            Operand::Variable { variable, .. } | Operand::VariableAddress { variable, .. } => {
                *variable = self.variable(*variable);
            }
            Operand::Function(function) | Operand::Prototype(function) => {
                *function = self.function(*function);
            }
            Operand::Label(label) => *label = self.label(*label),
            Operand::Targets(list) => *list = self.targets(*list),
            Operand::Vector(run) | Operand::Pair(run) | Operand::Bracket(run) | Operand::List(run) => {
                *run = self.parts(*run);
            }
            Operand::Unknown(Some(symbol)) => *symbol = self.symbol(*symbol),
            Operand::Special(_)
            | Operand::SpecialSum { .. }
            | Operand::Integer { .. }
            | Operand::Decimal(_)
            | Operand::SingleBits(_)
            | Operand::DoubleBits(_)
            | Operand::WarpSize
            | Operand::Sink
            | Operand::ConstantAddress { .. }
            | Operand::Unknown(None) => {}
        }
        operand
    }
}
