//! Addresses: what instructions make of the places of variables.
//!
//! The address of a variable is a [`Base`], so that an address in it is a sum like any other. A conversion between an
//! address of a state space and a generic one adds what only the hardware knows, and so keeps distances.

use ptx_ir::ir::{Function, FunctionKind, Handle, Operand, Register, Variable};
use ptx_ir::isa::{Computation, Instance};
use ptx_ir::space::StateSpace;

use super::compute::detail;
use super::graph::Kind;
use super::linear::{Base, BaseId, Sum};
use super::number::width;
use super::number::{Number, mask};
use super::propagate::{Engine, Fact};
use super::slice::{ADDRESS_OF_LOAD, unchanging_space};

/// The width in which addresses of variables are kept; where registers are narrower, what is above is cut.
const ADDRESS_WIDTH: u32 = 64;
/// Windows of state spaces begin at multiples of two to this, at least.
const WINDOW_ALIGNMENT: u32 = 16;

/// The state space that the spelling of a conversion names.
pub(crate) fn space_of(instance: &Instance) -> Option<StateSpace> {
    instance.modifiers.iter().find_map(|word| StateSpace::parse(word)).map(StateSpace::base)
}

/// What is known of the address of a variable.
fn of_variable(variable: &Variable, generic: bool) -> Number {
    let alignment = u64::from(variable.alignment());
    let zeros = if alignment.is_power_of_two() { alignment - 1 } else { 0 };
    let is_small =
        matches!(variable.space.base(), StateSpace::Shared | StateSpace::Local | StateSpace::Const);
    let number = match is_small && !generic {
        true => Number::between(ADDRESS_WIDTH, 0, mask(31)),
        false => Number::unknown(ADDRESS_WIDTH),
    };
    number.with_bits(zeros, 0)
}

impl Engine<'_, '_> {
    /// The address of a variable; none where it is copied before.
    pub(super) fn symbol(&mut self, variable: Handle<Variable>, offset: i64, width: u32) -> Option<Fact> {
        let module = self.facts.module;
        let what = &module.variables[variable];
        // The parameter of a function that is no kernel may be copied to local memory when its address is taken, and
        // compilers access it there and in its own space. PTX ISA manual, section "Device Function Parameters".
        let of_function =
            what.function.is_some_and(|owner| module.functions[owner].kind != FunctionKind::Entry);
        if what.is_parameter && what.space.base() == StateSpace::Param && of_function {
            return None;
        }
        let base = Base::Symbol { variable, generic: false };
        Some(self.address_of(base, of_variable(what, false), offset as u64, width))
    }

    /// The address of a function.
    pub(super) fn code(&mut self, function: Handle<Function>, width: u32) -> Fact {
        self.address_of(Base::Code(function), Number::unknown(ADDRESS_WIDTH), 0, width)
    }

    fn address_of(&mut self, base: Base, number: Number, offset: u64, width: u32) -> Fact {
        let base = self.values.forms.base(base, number, None);
        let offset = Sum::constant(ADDRESS_WIDTH, offset);
        let sum = Sum::of(ADDRESS_WIDTH, base).plus(&offset, 1).unwrap_or(Sum::of(ADDRESS_WIDTH, base));
        let form = self.values.forms.form(sum);
        self.cut(Fact { number: self.number_of(&sum), form }, width)
    }

    /// A parameter or a constant, which no one changes while the kernel runs. A list takes what lies there one after the
    /// other.
    pub(super) fn loaded(&mut self, instruction: u32, instance: &Instance, into: Register) -> Option<Fact> {
        const BYTE: u32 = 8;
        let operands = self.facts.body.operands(Handle::new(instruction));
        let place = match *operands.first()? {
            Operand::Register { .. } => 0,
            Operand::Vector(parts) => {
                let parts = self.facts.body.children(parts);
                parts.iter().position(
                    |part| matches!(part, Operand::Register { register, .. } if *register == into),
                )?
            }
            _ => return None,
        };
        let ty = instance.ty?;
        let width = width(ty);
        let (variable, start) = self.place_of_load(instruction, instance)?;
        let is_entry = self.facts.function.kind == FunctionKind::Entry;
        let what = &self.facts.module.variables[variable];
        let space = what.space.base();
        // Parameters of device functions may be written.
        let is_constant =
            space == StateSpace::Const || space == StateSpace::Param && is_entry && what.is_parameter;
        let is_plain = matches!(operands, [Operand::Register { .. }, Operand::VariableAddress { .. }, ..]);
        let is_final = is_plain && space == StateSpace::Shared && self.is_final(variable, instruction);
        if !is_constant && !is_final {
            return None;
        }
        let offset = start.checked_add(i64::try_from(place).ok()? * i64::from(ty.bits() / BYTE))?;
        let promised = what.pointer.and_then(|pointer| pointer.align).filter(|_| offset == 0);
        let zeros = promised.filter(|align| align.is_power_of_two()).map_or(0, |align| u64::from(align) - 1);
        let number = Number::unknown(width).with_bits(zeros & mask(width), 0);
        let base = self.values.forms.base(Base::Loaded { variable, offset, ty }, number, self.current);
        Some(Fact { number, form: self.values.forms.form(Sum::of(width, base)) })
    }

    /// The variable that a load reads, and how far from its start: the load names it, or a register has its address.
    fn place_of_load(&mut self, instruction: u32, instance: &Instance) -> Option<(Handle<Variable>, i64)> {
        match *self.facts.body.operands(Handle::new(instruction)).get(ADDRESS_OF_LOAD)? {
            Operand::VariableAddress { variable, offset } => Some((variable, offset)),
            Operand::RegisterAddress { .. } => {
                let space = unchanging_space(instance)?;
                let fact = self.address(instruction, ADDRESS_OF_LOAD)?;
                let sum = self.sum(fact);
                let mut terms = sum.terms();
                let (Some((base, 1)), None) = (terms.next(), terms.next()) else { return None };
                let Base::Symbol { variable, generic: false } = self.values.forms.what(base) else {
                    return None;
                };
                let above = u64::BITS - sum.width();
                let offset = (sum.offset() << above) as i64 >> above;
                (self.facts.module.variables[variable].space.base() == space).then_some((variable, offset))
            }
            _ => None,
        }
    }

    /// The term of a sum that is a known address; none where there are several.
    pub(crate) fn address_term(&self, sum: &Sum) -> Option<BaseId> {
        let is_address = |base: BaseId| match self.values.forms.what(base) {
            Base::Symbol { .. } => true,
            Base::Loaded { variable, .. } => self.facts.module.variables[variable].pointer.is_some(),
            Base::Operation { computes, .. } => {
                matches!(computes, Computation::ToGeneric | Computation::FromGeneric | Computation::MapRank)
            }
            _ => false,
        };
        let mut found = sum.terms().filter(|&(base, factor)| factor == 1 && is_address(base));
        match (found.next(), found.next()) {
            (Some((base, _)), None) => Some(base),
            _ => None,
        }
    }

    /// The part of an address that a conversion changes, and the distance from there, which it keeps.
    fn parted(&self, a: Fact) -> Option<(Sum, Sum)> {
        let sum = self.sum(a);
        let start = match self.address_term(sum) {
            Some(base) => Sum::of(sum.width(), base),
            None => sum.without_offset(),
        };
        Some((start, sum.plus(&start, u64::MAX)?))
    }

    /// An address of a state space as a generic one, or the reverse.
    pub(super) fn converted(&mut self, instance: &Instance, computes: Computation, a: Fact) -> Option<Fact> {
        let space = space_of(instance)?;
        let (start, distance) = self.parted(a)?;
        let w = start.width();
        let to_generic = computes == Computation::ToGeneric;
        let back = if to_generic { Computation::FromGeneric } else { Computation::ToGeneric };
        let (_, more) = detail(computes, w, false, space as u64);
        let what = self.address_term(&start).map(|base| self.values.forms.what(base));
        let converted = match what {
            Some(Base::Symbol { variable, generic })
                if generic != to_generic && self.facts.module.variables[variable].space.base() == space =>
            {
                let number = of_variable(&self.facts.module.variables[variable], to_generic);
                let base = Base::Symbol { variable, generic: to_generic };
                Sum::of(w, self.values.forms.base(base, number, None))
            }
            Some(Base::Operation { computes, detail, operands: [before, ..] })
                if computes == back && detail == more =>
            {
                *self.values.forms.sum(before)
            }
            _ => {
                let form = self.values.forms.form(start);
                let start = Fact { number: self.number_of(&start), form };
                let number =
                    Number::unknown(w).with_bits(low_bits(start.number.zeros), low_bits(start.number.ones));
                let made = self.fact(number, None, (computes, more), &[start]);
                *self.sum(made)
            }
        };
        Some(self.moved_by(&converted, &distance))
    }

    /// The place in another block of the cluster that corresponds to one of this block.
    pub(super) fn mapped(&mut self, instance: &Instance, a: Fact, rank: Fact) -> Option<Fact> {
        let (start, distance) = self.parted(a)?;
        let w = start.width();
        let form = self.values.forms.form(start);
        let start = Fact { number: self.number_of(&start), form };
        let number = Number::unknown(w).with_bits(low_bits(start.number.zeros), low_bits(start.number.ones));
        let in_space = u64::from(space_of(instance).is_some());
        let made = self.fact(number, None, detail(Computation::MapRank, w, false, in_space), &[start, rank]);
        let made = *self.sum(made);
        Some(self.moved_by(&made, &distance))
    }

    /// The instruction that has computed what a sum moves by a number.
    pub fn computed_by(&self, sum: &Sum) -> Option<u32> {
        let mut terms = sum.terms();
        let (Some((base, 1)), None) = (terms.next(), terms.next()) else { return None };
        let Base::Value(value) = self.values.forms.what(base) else { return None };
        match self.graph.kind(value) {
            Kind::Computed { instruction, .. } => Some(instruction),
            _ => None,
        }
    }

    fn moved_by(&mut self, start: &Sum, distance: &Sum) -> Fact {
        let w = start.width();
        let sum = start.plus(distance, 1);
        match sum {
            Some(sum) => Fact { number: self.number_of(&sum), form: self.values.forms.form(sum) },
            None => self.anything(w),
        }
    }

    /// What is known of the address that an operand names, as a sum of the width of its register. Within that, it is
    /// counted modulo two to the width.
    pub fn address(&mut self, instruction: u32, index: usize) -> Option<Fact> {
        match *self.facts.body.operands(Handle::new(instruction)).get(index)? {
            Operand::RegisterAddress { base, offset, .. } => {
                let fact = self.register(instruction, index, base)?;
                let offset = i64::from(offset) as u64;
                let sum = *self.sum(fact);
                let sum = sum.plus(&Sum::constant(sum.width(), offset), 1)?;
                let number = fact.number.plus(Number::constant(sum.width(), offset));
                Some(Fact { number, form: self.values.forms.form(sum) })
            }
            Operand::VariableAddress { variable, offset } => {
                let what = &self.facts.module.variables[variable];
                let base = Base::Symbol { variable, generic: false };
                Some(self.address_of(base, of_variable(what, false), offset as u64, ADDRESS_WIDTH))
            }
            _ => None,
        }
    }
}

fn low_bits(bits: u64) -> u64 {
    bits & mask(WINDOW_ALIGNMENT)
}
