//! What an edited function has, as the values that the builder takes.

use super::FunctionEditor;
use crate::arena::Handle;
use crate::build::function::{RegisterInfo, Targets};
use crate::build::value::{Brand, Func, Kind, Label, Reg, Value, Var};
use crate::ir::{self, Instruction, Operand, Register, RegisterGroup, Run, Variable};

impl FunctionEditor<'_> {
    /// A register of the function by its number: the whole of a vector register, by any of its elements.
    #[must_use]
    pub fn register(&self, register: Register) -> Option<Reg> {
        self.whole(register).map(|(whole, _)| whole)
    }

    /// The register that a number belongs to, and which of its elements that is.
    fn whole(&self, register: Register) -> Option<(Reg, u8)> {
        let brand = self.inner.brand();
        if register.0 < self.inner.kept.registers {
            let RegisterGroup { ty, elements, first, .. } = *self.inner.body.group(register)?;
            let element = (register.0 - first.0) % u32::from(elements.max(1));
            return Some((Reg { brand, index: register.0 - element, ty, elements }, element as u8));
        }
        let made = &self.inner.registers;
        let position = made.partition_point(|info| info.first <= register.0).checked_sub(1)?;
        let RegisterInfo { ty, elements, first, .. } = made[position];
        let index = self.inner.kept.registers + position as u32;
        Some((Reg { brand, index, ty, elements }, (register.0 - first) as u8))
    }

    /// The register of a name, as the text has it: `%r7`.
    #[must_use]
    pub fn find_register(&self, name: &str) -> Option<Reg> {
        let found = self.inner.body.registers.iter().find_map(|(_, group)| {
            let prefix = self.module().name(group.name);
            let Some(range) = group.range else { return (prefix == name).then_some(group.first) };
            let number: u32 = name.strip_prefix(prefix)?.parse().ok()?;
            let step = u32::from(group.elements.max(1));
            (number < range).then(|| Register(group.first.0 + number * step))
        })?;
        self.register(found)
    }

    /// A label of the function by its handle.
    #[must_use]
    pub fn label(&self, label: Handle<ir::Label>) -> Option<Label> {
        let known = self.inner.body.labels.get(label);
        known.map(|_| Label { brand: self.inner.brand(), index: label.index() as u32 })
    }

    /// A variable of the function or of the module by its handle.
    #[must_use]
    pub fn variable(&self, variable: Handle<Variable>) -> Option<Var> {
        self.module().variables.get(variable).map(|_| self.var(variable))
    }

    /// The parameters, in order.
    #[must_use]
    pub fn parameters(&self) -> Vec<Var> {
        let function = &self.module().functions[self.inner.handle];
        function.parameters.iter().map(|parameter| self.var(*parameter)).collect()
    }

    /// The guard of an instruction, and whether it runs on the complement.
    #[must_use]
    pub fn guard_of(&self, at: Handle<Instruction>) -> Option<(Reg, bool)> {
        let guard = self.inner.body.instructions[at].guard?;
        Some((self.register(guard.register?)?, guard.negated))
    }

    /// The operands of an instruction, for others to have.
    #[must_use]
    pub fn operands(&self, at: Handle<Instruction>) -> Vec<Value> {
        self.inner.body.operands(at).iter().map(|operand| self.value(*operand)).collect()
    }

    /// An operand of the function as a value.
    #[must_use]
    pub fn value(&self, operand: Operand) -> Value {
        Value(self.kind(operand))
    }

    fn kind(&self, operand: Operand) -> Kind {
        let kept = Kind::Kept { brand: self.inner.brand(), operand };
        match operand {
            Operand::Register { register, .. } => match self.whole(register) {
                None => kept,
                Some((whole, _)) if whole.elements == 1 => Kind::Register(whole),
                Some((whole, element)) => Kind::Element { register: whole, element },
            },
            Operand::VectorRegister { first, .. } => self.register(first).map_or(kept, Kind::Register),
            Operand::Negated { register, .. } => self.scalar(register).map_or(kept, Kind::Negated),
            Operand::Selected { register, selector, .. } => {
                self.scalar(register).map_or(kept, |register| Kind::Selected { register, selector })
            }
            Operand::Minus { register, selector, .. } => {
                self.scalar(register).map_or(kept, |register| Kind::Minus { register, selector })
            }
            Operand::RegisterAddress { base, offset, zero: false, unified, .. } => {
                self.scalar(base).map_or(kept, |base| match unified {
                    true => Kind::UnifiedAddress { base, offset },
                    false => Kind::RegisterAddress { base, offset },
                })
            }
            Operand::Special(register) => Kind::Special(register),
            Operand::Integer { bits, negative } => Kind::Integer { bits, negative },
            Operand::SingleBits(bits) => Kind::Single(bits),
            Operand::DoubleBits(bits) => Kind::Double(bits),
            Operand::WarpSize => Kind::WarpSize,
            Operand::Sink => Kind::Sink,
            Operand::Variable { variable, offset, zero: false } => {
                Kind::Variable { variable: self.var(variable), offset }
            }
            Operand::VariableAddress { variable, offset } => {
                Kind::VariableAddress { variable: self.var(variable), offset }
            }
            Operand::Function(handle) | Operand::Prototype(handle) => {
                Kind::Function(Func { module: self.inner.builder.id, handle })
            }
            Operand::Label(label) => {
                Kind::Label(Label { brand: self.inner.brand(), index: label.index() as u32 })
            }
            Operand::Targets(list) => {
                Kind::Targets(Targets { brand: self.inner.brand(), index: list.index() as u32 })
            }
            Operand::ConstantAddress { address } => Kind::ConstantAddress(address),
            Operand::Vector(run) => Kind::Vector(self.parts(run)),
            Operand::Pair(run) => Kind::Pair(self.parts(run)),
            Operand::Bracket(run) => Kind::Bracket(self.parts(run)),
            Operand::List(run) => Kind::List(self.parts(run)),
            Operand::Sum { .. }
            | Operand::SpecialSum { .. }
            | Operand::Decimal(_)
            | Operand::RegisterAddress { .. }
            | Operand::Element { .. }
            | Operand::Variable { zero: true, .. }
            | Operand::Unknown(_) => kept,
        }
    }

    fn parts(&self, run: Run) -> Vec<Value> {
        self.inner.body.children(run).iter().map(|part| self.value(*part)).collect()
    }

    fn scalar(&self, register: Register) -> Option<Reg> {
        self.register(register).filter(|whole| whole.elements == 1)
    }

    fn var(&self, handle: Handle<Variable>) -> Var {
        let is_local = self.module().variables[handle].function.is_some();
        let function = is_local.then_some(self.inner.serial);
        Var { brand: Brand { module: self.inner.builder.id, function }, handle }
    }
}
