//! Instructions: operands are turned into those of the IR and matched against the instruction table.

use super::error::BuildError;
use super::explain;
use super::function::FunctionBuilder;
use super::value::{Kind, Reg, Value};
use crate::arena::Handle;
use crate::ir::{Guard, Instruction, Operand, Register, Run, Spelling, Statement};
use crate::isa::{Class, Control};
use crate::lower::Selected;
use crate::special::SpecialRegister;
use crate::types::{Type, TypeKind};
use ptx_syntax::Span;

/// Whose word on operands counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// The manual's, for what is built.
    Manual,
    /// The assembler's, for what was read from text and is copied.
    Assembler,
}

/// Makes one instruction depend on a predicate.
#[derive(Debug)]
pub struct Guarded<'f, 'm> {
    pub(super) function: &'f mut FunctionBuilder<'m>,
    /// The predicate, and whether its complement is meant.
    pub(super) guard: Option<(Reg, bool)>,
}

impl Guarded<'_, '_> {
    /// Adds the instruction.
    ///
    /// # Errors
    /// As for [`FunctionBuilder::push`], and where the guard is no predicate.
    pub fn push(self, spelling: &str, operands: impl IntoIterator<Item = Value>) -> Result<(), BuildError> {
        let Self { function, guard } = self;
        let guard =
            guard.map(|(predicate, negated)| function.guard_on(spelling, predicate, negated)).transpose()?;
        function.emit(guard, spelling, operands)
    }
}

impl FunctionBuilder<'_> {
    pub(super) fn guard_on(
        &mut self,
        spelling: &str,
        predicate: Reg,
        negated: bool,
    ) -> Result<Guard, BuildError> {
        let operand = self.operand(&predicate.into())?;
        let Operand::Register { register, class: class @ Class::RegPred } = operand else {
            let message = format!("a guard is a predicate, not a register of type `{}`", predicate.ty());
            return Err(BuildError::Operands { spelling: spelling.to_owned(), operand: None, message });
        };
        Ok(Guard { register: Some(register), class, negated })
    }

    /// Adds an instruction: its whole spelling and its operands, destinations first.
    ///
    /// # Errors
    /// The spelling has no meaning, the operands do not fit it, or the module's version or target does not have it.
    pub fn push(
        &mut self,
        spelling: &str,
        operands: impl IntoIterator<Item = Value>,
    ) -> Result<(), BuildError> {
        self.emit(None, spelling, operands)
    }

    fn emit(
        &mut self,
        guard: Option<Guard>,
        spelling: &str,
        operands: impl IntoIterator<Item = Value>,
    ) -> Result<(), BuildError> {
        if let Some(error) = &self.deferred {
            return Err(error.clone());
        }
        let handle = self.builder.spelling(spelling)?;
        if let Some(leniency) = &self.builder.module.spellings[handle].resolved.leniency {
            let message = format!("it has `{}`", leniency.canonical);
            return Err(BuildError::NotInManual { spelling: spelling.to_owned(), operand: None, message });
        }
        let before = (self.body.operands.len(), self.body.children.len());
        let added = self.add(guard, handle, operands);
        if added.is_err() {
            self.body.operands.truncate(before.0);
            self.body.children.truncate(before.1);
        }
        self.body.operand_spans.resize(self.body.operands.len(), Span::default());
        self.body.child_spans.resize(self.body.children.len(), Span::default());
        added
    }

    fn add(
        &mut self,
        guard: Option<Guard>,
        spelling: Handle<Spelling>,
        operands: impl IntoIterator<Item = Value>,
    ) -> Result<(), BuildError> {
        let first = self.body.operands.len() as u32;
        for value in operands {
            let operand = self.operand(&value)?;
            self.body.operands.push(operand);
        }
        let run = Run { first, count: self.body.operands.len() as u32 - first };
        let Selected { instance, in_manual } = self.select(spelling, run, Says::Manual)?;
        let instruction = Instruction { spelling, operands: run, guard, instance, in_manual };
        let control = self.control(&instruction);
        if control == Some(Control::Call) {
            self.check_call(run)?;
        }
        let handle = self.body.instructions.push(instruction);
        self.body.spans.push(Span::default());
        self.body.statements.push(Statement::Instruction(handle));
        Ok(())
    }

    /// The instance that the operands fit, by the manual or by what the assembler takes.
    pub(super) fn select(
        &self,
        spelling: Handle<Spelling>,
        run: Run,
        says: Says,
    ) -> Result<Selected, BuildError> {
        let module = &self.builder.module;
        let Spelling { text, resolved } = &module.spellings[spelling];
        let (mut shapes, mut children) = (Vec::new(), Vec::new());
        for (index, &operand) in self.body.operands[run.range()].iter().enumerate() {
            if let Operand::VariableAddress { variable, offset: 1.. | ..=-1 } = operand
                && module.variables[variable].ty.kind() == TypeKind::Opaque
            {
                let message =
                    format!("a `{}` is no memory, and has no offset", module.variables[variable].ty);
                return Err(BuildError::Operands {
                    spelling: text.to_string(),
                    operand: Some(index),
                    message,
                });
            }
            module.push_shape(&self.body, operand, &mut shapes, &mut children);
        }
        let platform = module.header.platform();
        let found = match says {
            Says::Manual => resolved.select_in_manual(&shapes, &children, platform),
            Says::Assembler => resolved.select_available(&shapes, &children, platform).map(|index| {
                let instance = &resolved.instances[index];
                (index, instance.beyond_manual(&shapes, &children))
            }),
        };
        let (index, beyond) = found.map_err(|mismatch| {
            let (operand, message) = explain::explain(resolved, &mismatch, &shapes);
            BuildError::Operands { spelling: text.to_string(), operand, message }
        })?;
        if let Some(beyond) = &beyond
            && says == Says::Manual
        {
            let (operand, message) = explain::beyond(beyond);
            return Err(BuildError::NotInManual { spelling: text.to_string(), operand, message });
        }
        let instance = &resolved.instances[index];
        if !instance.is_available(platform) {
            let (min_version, targets) = (instance.min_version, instance.targets);
            return Err(BuildError::Unavailable { what: text.to_string(), min_version, targets });
        }
        Ok(Selected { instance: Some(index as u16), in_manual: beyond.is_none() })
    }

    /// Where control goes after an instruction.
    pub(super) fn control(&self, instruction: &Instruction) -> Option<Control> {
        let instances = &self.builder.module.spellings[instruction.spelling].resolved.instances;
        Some(instances.get(usize::from(instruction.instance?))?.effects.control)
    }

    /// The operand of a value; its parts go to the body.
    pub(super) fn operand(&mut self, value: &Value) -> Result<Operand, BuildError> {
        Ok(match &value.0 {
            Kind::Register(register) => self.register(*register)?,
            Kind::Negated(register) => match self.register(*register)? {
                Operand::Register { register, class } => Operand::Negated { register, class },
                other => other,
            },
            Kind::Element { register, element } => self.element(*register, *element)?,
            Kind::Selected { register, selector } => match self.register(*register)? {
                Operand::Register { register, class } => {
                    Operand::Selected { register, class, selector: *selector }
                }
                other => other,
            },
            Kind::Minus { register, selector } => match self.register(*register)? {
                Operand::Register { register, class } => {
                    Operand::Minus { register, class, selector: *selector }
                }
                other => other,
            },
            Kind::Special(register) => self.special(*register)?,
            Kind::Integer { bits, negative } => Operand::Integer { bits: *bits, negative: *negative },
            Kind::Single(bits) => Operand::SingleBits(*bits),
            Kind::Double(bits) => Operand::DoubleBits(*bits),
            Kind::WarpSize => Operand::WarpSize,
            Kind::Sink => Operand::Sink,
            Kind::Variable { variable, offset } => {
                Operand::Variable { variable: self.check_variable(*variable)?, offset: *offset, zero: false }
            }
            Kind::Function(function) => self.function_operand(*function)?,
            Kind::Label(label) => Operand::Label(self.check_label(*label)?),
            Kind::Targets(targets) => Operand::Targets(self.check_targets(*targets)?),
            Kind::RegisterAddress { base, offset } => self.address(*base, *offset, false)?,
            Kind::UnifiedAddress { base, offset } => self.address(*base, *offset, true)?,
            Kind::VariableAddress { variable, offset } => {
                Operand::VariableAddress { variable: self.check_variable(*variable)?, offset: *offset }
            }
            Kind::ConstantAddress(address) => Operand::ConstantAddress { address: *address },
            Kind::Vector(parts) => Operand::Vector(self.parts(parts)?),
            Kind::Pair(parts) => Operand::Pair(self.parts(parts)?),
            Kind::Bracket(parts) => Operand::Bracket(self.parts(parts)?),
            Kind::List(parts) => Operand::List(self.parts(parts)?),
            Kind::Kept { brand, operand } => {
                let visible =
                    |register| self.kept_register(register).is_some_and(|info| self.is_open(info.block));
                if *brand != self.brand() || !operand.base().is_none_or(visible) {
                    return Err(BuildError::OutOfScope { what: "operand" });
                }
                *operand
            }
        })
    }

    fn parts(&mut self, parts: &[Value]) -> Result<Run, BuildError> {
        let operands: Vec<Operand> = parts.iter().map(|part| self.operand(part)).collect::<Result<_, _>>()?;
        let first = self.body.children.len() as u32;
        self.body.children.extend_from_slice(&operands);
        Ok(Run { first, count: operands.len() as u32 })
    }

    fn register(&self, register: Reg) -> Result<Operand, BuildError> {
        let info = self.check_register(register)?;
        let (first, class) = (Register(info.first), class_of(register.ty));
        Ok(match register.elements {
            1 => Operand::Register { register: first, class },
            count => Operand::VectorRegister { first, class, count },
        })
    }

    fn element(&self, register: Reg, element: u8) -> Result<Operand, BuildError> {
        let info = self.check_register(register)?;
        if register.elements == 1 || element >= register.elements {
            return Err(BuildError::OutOfScope { what: "element" });
        }
        let register = Register(info.first + u32::from(element));
        Ok(Operand::Register { register, class: class_of(info.ty) })
    }

    fn address(&self, base: Reg, offset: i32, unified: bool) -> Result<Operand, BuildError> {
        let info = self.check_register(base)?;
        let class = if base.elements == 1 { class_of(base.ty) } else { Class::Sink };
        Ok(Operand::RegisterAddress { base: Register(info.first), class, offset, zero: false, unified })
    }

    fn special(&self, register: SpecialRegister) -> Result<Operand, BuildError> {
        let header = &self.builder.module.header;
        let (min_version, targets) = (register.min_version(), register.targets());
        if header.version < min_version || !targets.contains(header.target) {
            let what = register.name().to_owned();
            return Err(BuildError::Unavailable { what, min_version, targets });
        }
        Ok(Operand::Special(register))
    }
}

fn class_of(ty: Type) -> Class {
    Class::register(ty).unwrap_or(Class::Sink)
}
