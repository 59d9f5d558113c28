//! What is known about the values of registers as addresses: which variable, how far into it, in which state
//! space, generic or not; and of plain numbers the low bits.
//!
//! One fact a register, the join over all its writes. Registers of compilers are written once or twice, so
//! this loses little against a fact per program point, and costs a pass over the function and a few over what a
//! loop may change. Within a block, [`Here`] knows better: a read sees the write before it.

use super::FunctionFacts;
pub use super::bits::Bits;
use super::registers::RegisterTable;
use ptx_ir::ir::{FunctionKind, Handle, Module, Operand, Register, Variable};
use ptx_ir::isa::{Class, Computation, Instance};
use ptx_ir::space::StateSpace;
use ptx_ir::types::Type;

/// What an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A variable.
    Variable(Handle<Variable>),
    /// The variable of another block of the cluster, through `mapa`.
    Mapped(Handle<Variable>),
    /// Whatever a kernel parameter points to.
    Pointee(Handle<Variable>),
    /// Something of that state space.
    Unknown,
    /// Nothing: the address is a number.
    Number,
}

/// How an address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// As an offset in its state space.
    Space,
    /// As a generic address.
    Generic,
    /// One or the other.
    Unknown,
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// What it points into.
    pub object: Object,
    /// The state space that it points into.
    pub space: StateSpace,
    /// How it is written.
    pub form: Form,
    /// How far behind the start of the object, in bytes.
    pub offset: Bits,
}

/// What is known about a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Value {
    /// No write was seen yet.
    #[default]
    Unset,
    /// A number.
    Number(Bits),
    /// An address.
    Address(Address),
    /// Nothing.
    Any,
}

impl Value {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unset, value) | (value, Self::Unset) => value,
            (Self::Number(a), Self::Number(b)) => Self::Number(a.join(b)),
            (Self::Address(a), Self::Address(b)) if a.space == b.space => {
                let same = a.object == b.object;
                Self::Address(Address {
                    object: if same { a.object } else { Object::Unknown },
                    space: a.space,
                    form: if a.form == b.form { a.form } else { Form::Unknown },
                    offset: if same { a.offset.join(b.offset) } else { Bits::UNKNOWN },
                })
            }
            _ => Self::Any,
        }
    }

    fn bits(self) -> Bits {
        match self {
            Self::Number(bits) => bits,
            Self::Unset | Self::Address(_) | Self::Any => Bits::UNKNOWN,
        }
    }
}

/// What is known about the registers of a function.
#[derive(Clone, Debug, Default)]
pub struct Values {
    values: RegisterTable<Value>,
    /// For each register with several writes its number among these; [`ONCE`] for any other.
    again: RegisterTable<u32>,
    /// How many registers have several writes.
    again_count: u32,
}

/// The register has at most one write.
const ONCE: u32 = u32::MAX;

/// More passes than this over a function are not made; what still changes is then given up.
const MOST_PASSES: usize = 8;

impl Values {
    /// Follows the values of a function.
    #[must_use]
    pub fn new(facts: &FunctionFacts<'_>) -> Self {
        let mut values = Self::unset(facts);
        // What may change when an instruction is looked at once more.
        let mut open = values.again.map(|&number| number != ONCE);
        let mut followed = Vec::new();
        for &block in facts.cfg.reverse_postorder() {
            for instruction in facts.cfg.instructions(block) {
                if values.follow(facts, instruction, &mut open) {
                    followed.push(instruction);
                }
            }
        }
        for pass in 1..=MOST_PASSES {
            if followed.is_empty() || !values.pass(facts, &followed, pass == MOST_PASSES) {
                break;
            }
        }
        values
    }

    /// Nothing is known yet, but of what the function is given.
    fn unset(facts: &FunctionFacts<'_>) -> Self {
        let (mut values, mut again) = (facts.table(Value::Unset), facts.table(ONCE));
        let is_parameter = super::initialization::entry_registers(facts);
        let mut again_count = 0;
        for register in facts.registers() {
            if is_parameter(register) {
                values[register] = Value::Any;
            }
            if facts.definitions(register).len() > 1 {
                again[register] = again_count;
                again_count += 1;
            }
        }
        Self { values, again, again_count }
    }

    /// What is known about a register, wherever it is read.
    #[must_use]
    pub fn of(&self, register: Register) -> Value {
        self.values.get(register).copied().unwrap_or(Value::Any)
    }

    /// What is known at the start of a block.
    #[must_use]
    pub fn here(&self) -> Here<'_> {
        Here { values: self, known: Vec::new(), written: Vec::new() }
    }

    /// The value of an operand, wherever it stands.
    #[must_use]
    pub fn operand(&self, module: &Module, operand: Operand) -> Value {
        self.here().operand(module, operand)
    }

    /// The address that an address operand names, wherever it stands.
    #[must_use]
    pub fn address(&self, module: &Module, operand: Operand) -> Value {
        self.here().address(module, operand)
    }

    /// Takes account of an instruction for the first time; whether its result may still change, because that of an
    /// operand may, or because control has not come yet to where an operand is written.
    fn follow(
        &mut self,
        facts: &FunctionFacts<'_>,
        instruction: u32,
        open: &mut RegisterTable<bool>,
    ) -> bool {
        let instance = facts.instance(instruction);
        let computation = instance.and_then(|instance| Some((instance, instance.effects.computes?)));
        let result = match computation {
            Some((instance, computation)) => {
                self.here().result(facts, Handle::new(instruction), computation, instance)
            }
            None => Value::Any,
        };
        let uses = facts.uses().of(instruction);
        let may_change = |register: Register| open[register] || self.values[register] == Value::Unset;
        let follows = result != Value::Any
            && uses.iter().any(|each| each.access().reads() && may_change(each.register));
        for each in uses.iter().filter(|each| each.access().writes()) {
            let register = each.register;
            let value = &mut self.values[register];
            *value = if self.again[register] == ONCE { result } else { value.join(result) };
            open[register] |= follows;
        }
        follows
    }

    /// Looks once more at what may change, in the order of control; whether anything did.
    fn pass(&mut self, facts: &FunctionFacts<'_>, followed: &[u32], give_up: bool) -> bool {
        let mut changed = false;
        for &instruction in followed {
            let handle = Handle::new(instruction);
            let Some(instance) = facts.instance(instruction) else { continue };
            let Some(computation) = instance.effects.computes else { continue };
            let result = self.here().result(facts, handle, computation, instance);
            for each in facts.uses().of(instruction).iter().filter(|each| each.access().writes()) {
                let old = &mut self.values[each.register];
                let mut new = old.join(result);
                if give_up && new != *old {
                    new = Value::Any;
                }
                changed |= new != *old;
                *old = new;
            }
        }
        changed
    }
}

/// What is known about the registers at a place within a block.
#[derive(Clone, Debug)]
pub struct Here<'v> {
    values: &'v Values,
    /// For each register with several writes what the last write in this block gave it; empty where there was none.
    known: Vec<Option<Value>>,
    /// The registers for which something is known, as numbers of [`Values::again`].
    written: Vec<u32>,
}

impl Here<'_> {
    /// What is known about a register here.
    #[must_use]
    pub fn of(&self, register: Register) -> Value {
        if !self.written.is_empty()
            && let Some(number) = self.number(register)
            && let Some(Some(value)) = self.known.get(number)
        {
            return *value;
        }
        self.values.of(register)
    }

    /// The number of a register among those with several writes.
    fn number(&self, register: Register) -> Option<usize> {
        let number = *self.values.again.get(register)?;
        (number != ONCE).then_some(number as usize)
    }

    /// Forgets what holds in the block that ends.
    pub fn leave(&mut self) {
        for number in self.written.drain(..) {
            self.known[number as usize] = None;
        }
    }

    /// Goes past an instruction.
    pub fn pass(&mut self, facts: &FunctionFacts<'_>, instruction: u32) {
        let writes = || facts.uses().of(instruction).iter().filter(|each| each.access().writes());
        if self.values.again_count == 0 || !writes().any(|each| self.number(each.register).is_some()) {
            return;
        }
        let result = match facts.instance(instruction) {
            Some(instance) => match instance.effects.computes {
                Some(computation) => self.result(facts, Handle::new(instruction), computation, instance),
                None => Value::Any,
            },
            None => Value::Any,
        };
        self.known.resize(self.values.again_count as usize, None);
        for each in writes() {
            let Some(number) = self.number(each.register) else { continue };
            // Where the guard is false, the old value stays.
            let old = if facts.is_guarded(instruction) { self.of(each.register) } else { Value::Unset };
            if self.known[number].replace(old.join(result)).is_none() {
                self.written.push(number as u32);
            }
        }
    }

    /// The value of an operand.
    #[must_use]
    pub fn operand(&self, module: &Module, operand: Operand) -> Value {
        match operand {
            Operand::Register { register, class } if class != Class::Unknown => self.of(register),
            Operand::Integer { bits, .. } => Value::Number(Bits::constant(bits)),
            Operand::Sum { register, class, offset } if class != Class::Unknown => {
                add(self.of(register), Value::Number(Bits::constant(offset as u64)))
            }
            Operand::WarpSize => Value::Number(Bits::constant(32)),
            // The parameter of a function that is no kernel may be copied to local memory when its address is
            // taken, and compilers access it there and in its own space. PTX ISA manual, section "Device Function
            // Parameters".
            Operand::Variable { variable, .. } if is_copied(module, &module.variables[variable]) => {
                Value::Any
            }
            Operand::Variable { variable, offset } => Value::Address(Address {
                object: Object::Variable(variable),
                space: module.variables[variable].space.base(),
                form: Form::Space,
                offset: Bits::constant(offset as u64),
            }),
            _ => Value::Any,
        }
    }

    /// The address that an address operand names.
    #[must_use]
    pub fn address(&self, module: &Module, operand: Operand) -> Value {
        match operand {
            Operand::RegisterAddress { base, offset, .. } => {
                add(self.of(base), Value::Number(Bits::constant(i64::from(offset) as u64)))
            }
            Operand::VariableAddress { variable, offset } => Value::Address(Address {
                object: Object::Variable(variable),
                space: module.variables[variable].space.base(),
                form: Form::Space,
                offset: Bits::constant(offset as u64),
            }),
            _ => Value::Any,
        }
    }

    fn result(
        &self,
        facts: &FunctionFacts<'_>,
        handle: Handle<ptx_ir::ir::Instruction>,
        computation: Computation,
        instance: &Instance,
    ) -> Value {
        let operands = facts.body.operands(handle);
        let value = |index: usize| {
            operands.get(index).map_or(Value::Any, |operand| self.operand(facts.module, *operand))
        };
        let ty = instance.ty;
        if ty.is_some_and(Type::is_float) {
            return Value::Any;
        }
        let number = |bits: Bits| Value::Number(bits.fit(ty));
        match computation {
            Computation::Move if !matches!(operands.first(), Some(Operand::Register { .. })) => Value::Any,
            Computation::Move => fit(value(1), ty),
            Computation::Add => fit(add(value(1), value(2)), ty),
            Computation::Subtract => fit(subtract(value(1), value(2)), ty),
            Computation::Multiply => number(value(1).bits().multiply(value(2).bits())),
            Computation::MultiplyWide => Value::Number(wide(value(1).bits(), value(2).bits())),
            Computation::MultiplyAdd => {
                fit(add(Value::Number(value(1).bits().multiply(value(2).bits())), value(3)), ty)
            }
            Computation::MultiplyAddWide => {
                add(Value::Number(wide(value(1).bits(), value(2).bits())), value(3))
            }
            Computation::ShiftLeft => number(value(1).bits().shift_left(value(2).bits())),
            Computation::And => and(value(1), value(2)),
            Computation::Or => number(value(1).bits().or(value(2).bits())),
            Computation::Convert => convert(value(1), instance),
            Computation::ToGeneric => in_form(value(1), instance, Form::Generic),
            Computation::FromGeneric => in_form(value(1), instance, Form::Space),
            Computation::Select => value(1).join(value(2)),
            Computation::Load => Self::loaded(facts.module, operands, instance),
            Computation::Xor => number(value(1).bits().xor(value(2).bits())),
            Computation::Not => number(value(1).bits().xor(Bits::constant(u64::MAX))),
            Computation::Negate => number(Bits::constant(0).subtract(value(1).bits())),
            Computation::ShiftRight => number(value(1).bits().shift_right(value(2).bits())),
            Computation::MapRank => mapped(value(1), instance),
            // Not followed as addresses.
            _ => Value::Any,
        }
    }

    /// A kernel parameter that promises what it points to.
    fn loaded(module: &Module, operands: &[Operand], instance: &Instance) -> Value {
        let [_, Operand::VariableAddress { variable, offset: 0 }, ..] = operands else { return Value::Any };
        let parameter = &module.variables[*variable];
        let Some(pointer) = parameter.pointer else { return Value::Any };
        if !parameter.is_parameter || instance.ty.is_none_or(|ty| ty.bits() < module.header.address_bits()) {
            return Value::Any;
        }
        match pointer.space {
            Some(space) => Value::Address(Address {
                object: Object::Pointee(*variable),
                space: space.base(),
                form: Form::Unknown,
                offset: Bits::constant(0),
            }),
            None => Value::Any,
        }
    }
}

/// Whether a variable is a parameter of a function that is no kernel.
fn is_copied(module: &Module, variable: &Variable) -> bool {
    variable.is_parameter
        && variable.space.base() == StateSpace::Param
        && variable.function.is_some_and(|owner| module.functions[owner].kind != FunctionKind::Entry)
}

/// A constant product of 32-bit numbers may be wider than what is known of its factors.
fn wide(a: Bits, b: Bits) -> Bits {
    a.multiply(b)
}

fn fit(value: Value, ty: Option<Type>) -> Value {
    match value {
        Value::Number(bits) => Value::Number(bits.fit(ty)),
        // Shared and local addresses may be kept in 32 bits, and are counted modulo 2^32 there: -4 is an offset in
        // front of the object, however it is spelled.
        Value::Address(address) if ty.is_some_and(|ty| ty.bits() == 32) => {
            Value::Address(Address { offset: address.offset.fit(Some(Type::S32)), ..address })
        }
        Value::Unset | Value::Address(_) | Value::Any => value,
    }
}

fn add(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Unset, _) | (_, Value::Unset) => Value::Unset,
        (Value::Number(a), Value::Number(b)) => Value::Number(a.add(b)),
        (Value::Address(address), other) | (other, Value::Address(address))
            if !matches!(other, Value::Address(_)) =>
        {
            Value::Address(Address { offset: address.offset.add(other.bits()), ..address })
        }
        // A number that nothing is known about is still a number, unless it is the address.
        (Value::Number(_), Value::Any) | (Value::Any, Value::Number(_)) => Value::Any,
        _ => Value::Any,
    }
}

fn subtract(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Unset, _) | (_, Value::Unset) => Value::Unset,
        (Value::Number(a), Value::Number(b)) => Value::Number(a.subtract(b)),
        (Value::Address(address), Value::Number(bits)) => {
            Value::Address(Address { offset: address.offset.subtract(bits), ..address })
        }
        _ => Value::Any,
    }
}

fn and(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Unset, _) | (_, Value::Unset) => Value::Unset,
        // Aligning an address moves it within the same object.
        (Value::Address(address), _) | (_, Value::Address(address)) => {
            Value::Address(Address { offset: Bits::UNKNOWN, ..address })
        }
        (a, b) => Value::Number(a.bits().and(b.bits())),
    }
}

fn convert(value: Value, instance: &Instance) -> Value {
    let mut types = instance.modifiers.iter().filter_map(|word| Type::parse(word));
    let (to, from) = (types.next(), types.next());
    match value {
        Value::Number(bits) => Value::Number(bits.fit(from).fit(to)),
        Value::Unset | Value::Address(_) | Value::Any => value,
    }
}

/// The place in the shared memory of another block that corresponds to one in that of this block.
fn mapped(value: Value, instance: &Instance) -> Value {
    let value = if instance.has(".shared::cluster") { in_form(value, instance, Form::Space) } else { value };
    match value {
        Value::Address(address) => {
            let object = match address.object {
                Object::Variable(variable) => Object::Mapped(variable),
                object => object,
            };
            Value::Address(Address { object, ..address })
        }
        Value::Unset | Value::Number(_) | Value::Any => value,
    }
}

fn in_form(value: Value, instance: &Instance, form: Form) -> Value {
    let space = instance.modifiers.iter().find_map(|word| StateSpace::parse(word));
    let Some(space) = space.map(StateSpace::base) else { return Value::Any };
    match value {
        Value::Unset => Value::Unset,
        Value::Address(address) if address.space == space => Value::Address(Address { form, ..address }),
        Value::Address(_) | Value::Number(_) | Value::Any => {
            Value::Address(Address { object: Object::Unknown, space, form, offset: Bits::UNKNOWN })
        }
    }
}
