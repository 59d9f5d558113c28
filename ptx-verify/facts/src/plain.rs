//! A quick look at addresses: whether anything may be wrong with one, by a few words for each value that an address is
//! computed of. Most functions are cleared by it, and the addresses of the others are followed with care.
//!
//! Of a value it is kept which variable's address it is, how far from its start where that may be one number, and the
//! lowest bit that may be known to be 1: an address is known to be misaligned by such a bit only, and bits come to be known
//! as 1 from constants only.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Variable};
use ptx_ir::isa::{Computation, Instance};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use ptx_ir::types::TypeKind;

use super::FunctionFacts;
use super::access::{Access, Conversion};
use super::values::{Graph, Kind, Launch, ValueId};

/// What an address or a number is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// Something that only the running program knows.
    Open,
    /// A number.
    Number(i64),
    /// An address in a variable, and how far from its start where that may be known.
    Within(Handle<Variable>, Option<i64>),
    /// An address of a state space, as a parameter promises it, or what a conversion has made of one.
    In(StateSpace, Source),
    /// Anything that a closer look may find out.
    Unclear,
}

/// Who says in which state space an address is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Promise,
    Conversion,
}

/// What is known of a value.
#[derive(Clone, Copy)]
struct Known {
    what: What,
    /// The lowest bit that may be known to be 1; [`NO_BIT`] where none is.
    lowest: u8,
}

const NO_BIT: u8 = 64;

impl Known {
    const OPEN: Self = Self { what: What::Open, lowest: NO_BIT };
    const UNCLEAR: Self = Self { what: What::Unclear, lowest: 0 };

    const fn number(value: i64) -> Self {
        Self { what: What::Number(value), lowest: value.trailing_zeros() as u8 }
    }

    /// One or the other. Control may be known to bring only one of them.
    fn join(self, other: Self) -> Self {
        let what = match (self.what, other.what) {
            (one, other) if one == other => one,
            (What::Within(one, _), What::Within(other, _)) if one == other => What::Within(one, None),
            (What::Open | What::Number(_), What::Open | What::Number(_)) => What::Open,
            _ => What::Unclear,
        };
        Self { what, lowest: self.lowest.min(other.lowest) }
    }

    fn plus(self, other: Self, sign: i64) -> Self {
        let what = match (self.what, other.what) {
            (What::Unclear, _) | (_, What::Unclear) => What::Unclear,
            (What::Number(one), What::Number(other)) => {
                What::Number(one.wrapping_add(other.wrapping_mul(sign)))
            }
            (What::Within(variable, distance), What::Number(number)) => {
                let moved = |distance: i64| distance.wrapping_add(number.wrapping_mul(sign));
                What::Within(variable, distance.map(moved))
            }
            (What::Number(number), What::Within(variable, distance)) if sign == 1 => {
                What::Within(variable, distance.map(|distance| distance.wrapping_add(number)))
            }
            (What::Within(variable, _), What::Open) => What::Within(variable, None),
            (What::Open, What::Within(variable, _)) if sign == 1 => What::Within(variable, None),
            (address @ What::In(..), What::Open | What::Number(_)) => address,
            (What::Open | What::Number(_), address @ What::In(..)) if sign == 1 => address,
            (What::Open, What::Open | What::Number(_)) | (What::Number(_), What::Open) => What::Open,
            _ => What::Unclear,
        };
        Self { what, lowest: self.lowest.min(other.lowest) }
    }

    fn times(self, other: Self) -> Self {
        let (one, other) = match (self.what, other.what) {
            (What::Number(_), _) => (other, self),
            _ => (self, other),
        };
        match (one.what, other.what) {
            (What::Number(one), What::Number(other)) => Self::number(one.wrapping_mul(other)),
            (What::Open, What::Number(0)) => Self::number(0),
            (What::Open, What::Number(factor)) if one.lowest < NO_BIT => {
                let lowest = u32::from(one.lowest) + factor.trailing_zeros();
                Self { what: What::Open, lowest: lowest.min(u32::from(NO_BIT)) as u8 }
            }
            (What::Open, What::Number(_)) => Self::OPEN,
            (What::Open, What::Open) if one.lowest == NO_BIT || other.lowest == NO_BIT => Self::OPEN,
            (What::Open, What::Open) => Self { what: What::Open, lowest: 0 },
            _ => Self::UNCLEAR,
        }
    }
}

/// How far a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// What it is computed of is looked at first.
    Waiting,
    Done,
}

/// A look at the addresses of a function.
struct Look<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: &'f Graph,
    launch: Launch,
    /// What is known of the values that were looked at.
    known: Vec<Option<Known>>,
    /// How far each value is.
    states: Vec<State>,
    /// The values that are looked at, each before what it is computed of.
    open: Vec<ValueId>,
    /// Whether some address may be converted that should not be.
    converts_wrongly: bool,
}

/// Whether nothing can be wrong with the alignment, the state space and the distance of accesses through registers, nor with
/// conversions of addresses. In the function there must be none of these but those of the global state space.
pub(super) fn is_plain(
    facts: &FunctionFacts<'_>,
    graph: &Graph,
    accesses: &[Access],
    conversions: &[Conversion],
) -> bool {
    let mut look = Look {
        facts,
        graph,
        launch: Launch::of(facts),
        known: vec![None; graph.len()],
        states: vec![State::New; graph.len()],
        open: Vec::new(),
        converts_wrongly: false,
    };
    let converted = conversions.iter().flat_map(|each| facts.uses().writing(each.instruction));
    converted.filter_map(|at| graph.written(at)).for_each(|value| look.find(value));
    !look.converts_wrongly
        && accesses.iter().filter(|access| !access.direct).all(|access| look.is_sound(access))
}

/// Whether a value is set in a block before another one, in the order in which loops come after what leads to them.
fn is_before(facts: &FunctionFacts<'_>, graph: &Graph, value: ValueId, block: NodeIndex) -> bool {
    let own = match graph.kind(value) {
        Kind::Undefined | Kind::Entry | Kind::Opaque => return false,
        Kind::Computed { instruction, .. } | Kind::Guarded { instruction, .. } => {
            facts.cfg.block_of(Handle::new(instruction))
        }
        Kind::Joined { block } => block,
    };
    facts.cfg.place(own) < facts.cfg.place(block)
}

impl<'f> Look<'f, '_> {
    fn of(&self, value: ValueId) -> Known {
        // What is never set is anything.
        self.known[value.index()].unwrap_or(Known::OPEN)
    }

    /// Looks at a value and at what it is computed of, each once. No value is computed of itself: of joins, only what comes
    /// from blocks before them counts.
    fn find(&mut self, value: ValueId) {
        self.open.push(value);
        while let Some(&value) = self.open.last() {
            match self.states[value.index()] {
                State::New => {
                    self.states[value.index()] = State::Waiting;
                    let before = self.open.len();
                    self.open_sources(value);
                    // Nothing else is to be looked at first.
                    if self.open.len() == before {
                        self.close(value);
                    }
                }
                State::Waiting => self.close(value),
                State::Done => drop(self.open.pop()),
            }
        }
    }

    /// Ends the look at the last open value.
    fn close(&mut self, value: ValueId) {
        self.states[value.index()] = State::Done;
        self.known[value.index()] = self.known_of(value);
        self.open.pop();
    }

    /// Opens what a value is computed of.
    fn open_sources(&mut self, value: ValueId) {
        let (facts, graph, states) = (self.facts, self.graph, &self.states);
        let is_new = |value: &ValueId| states[value.index()] == State::New;
        match graph.kind(value) {
            Kind::Undefined | Kind::Entry | Kind::Opaque => {}
            Kind::Computed { instruction, at } => {
                if at.is_some_and(|at| self.computation(instruction, at as usize).is_ok()) {
                    let reads = facts.uses().range(instruction).filter_map(|at| graph.read(at));
                    self.open.extend(reads.filter(is_new));
                }
            }
            Kind::Guarded { new, old, .. } => self.open.extend([new, old].iter().filter(|each| is_new(each))),
            Kind::Joined { block } => {
                let inputs = graph.inputs(value).iter().filter(|input| is_new(input));
                self.open.extend(inputs.filter(|input| is_before(facts, graph, **input, block)));
            }
        }
    }

    fn known_of(&mut self, value: ValueId) -> Option<Known> {
        match self.graph.kind(value) {
            Kind::Undefined | Kind::Entry | Kind::Opaque => None,
            Kind::Computed { instruction, at } => Some(self.computed(instruction, at? as usize)),
            Kind::Guarded { new, old, .. } => match (self.known[new.index()], self.known[old.index()]) {
                (Some(new), Some(old)) => Some(old.join(new)),
                (known, _) => known,
            },
            // What turns of a loop bring back is no more than what comes from outside.
            Kind::Joined { block } => {
                let inputs = self.graph.inputs(value).iter();
                let before = inputs.filter(|input| is_before(self.facts, self.graph, **input, block));
                before.filter_map(|input| self.known[input.index()]).reduce(Known::join)
            }
        }
    }

    fn is_sound(&mut self, access: &Access) -> bool {
        let Some(base) = access.base else { return true };
        self.find(base);
        let known = self.of(base);
        let needed = if access.aligned.is_power_of_two() { access.aligned } else { 1 };
        if access.stands_out() || u32::from(known.lowest) < needed.trailing_zeros() {
            return false;
        }
        let (variable, distance) = match known.what {
            What::Open | What::Number(_) => return true,
            What::In(space, _) => return access.space.is_none_or(|named| named.base() == space),
            What::Unclear => return false,
            What::Within(variable, distance) => (&self.facts.module.variables[variable], distance),
        };
        let is_within = distance.is_none_or(|distance| {
            let start = distance.saturating_add(access.distance);
            let end = start.saturating_add(i64::from(access.used));
            variable.size().is_none_or(|size| start >= 0 && end <= size as i64)
        });
        access.space.map(StateSpace::base) == Some(variable.space.base())
            && variable.alignment() >= needed
            && is_within
    }

    fn special(&self, register: SpecialRegister) -> Known {
        let ones = self.launch.number(register).map_or(0, |number| number.ones);
        Known { what: What::Open, lowest: ones.trailing_zeros() as u8 }
    }

    /// What is known of an operand.
    fn operand(&self, instruction: u32, index: usize) -> Known {
        match self.facts.body.operands(Handle::new(instruction)).get(index) {
            Some(Operand::Register { .. }) => {
                let uses = self.facts.uses();
                let mut range = uses.range(instruction);
                let is_it =
                    |at: &usize| uses.all()[*at].operand() == index && uses.all()[*at].access().reads();
                let read = range.find(is_it).and_then(|at| self.graph.read(at));
                read.map_or(Known::OPEN, |value| self.of(value))
            }
            Some(&Operand::Integer { bits, .. }) => Known::number(bits as i64),
            Some(&Operand::Special(register)) => self.special(register),
            Some(&Operand::Variable { variable, offset, .. }) => {
                Known { what: What::Within(variable, Some(offset)), ..Known::number(offset) }
            }
            _ => Known::UNCLEAR,
        }
    }

    /// What an instruction computes of its operands and writes into a use; else what is known of that at once.
    fn computation(&self, instruction: u32, at: usize) -> Result<(&'f Instance, Computation), Known> {
        use Computation as C;
        let Some(instance) = self.facts.instance(instruction) else { return Err(Known::UNCLEAR) };
        // What is not followed is open.
        let (Some(computation), Some(ty)) = (instance.effects.computes, instance.ty) else {
            return Err(Known::OPEN);
        };
        let is_copy = matches!(computation, C::Move | C::Select);
        let is_float = matches!(ty.kind(), TypeKind::Float | TypeKind::Packed | TypeKind::Opaque);
        if is_float && !is_copy || self.facts.uses().all()[at].operand() != 0 {
            return Err(Known::OPEN);
        }
        if instance.effects.carry.is_some_and(|carry| carry.reads) {
            return Err(Known::OPEN);
        }
        match computation {
            C::Load => Err(self.loaded(instruction)),
            C::Compare | C::Exchange | C::Match | C::Reduce | C::ActiveMask | C::Elect | C::Vote => {
                Err(Known::OPEN)
            }
            _ => Ok((instance, computation)),
        }
    }

    /// What is known of what an instruction writes into a use.
    fn computed(&mut self, instruction: u32, at: usize) -> Known {
        match self.computation(instruction, at) {
            Ok((instance, computation)) => self.of_computation(instruction, instance, computation),
            Err(known) => known,
        }
    }

    fn of_computation(&mut self, instruction: u32, instance: &Instance, computation: Computation) -> Known {
        use Computation as C;
        if matches!(computation, C::ToGeneric | C::FromGeneric) {
            return self.converted(instruction, computation == C::ToGeneric);
        }
        let a = || self.operand(instruction, 1);
        let b = || self.operand(instruction, 2);
        let c = || self.operand(instruction, 3);
        match computation {
            C::Move => self.moved(instruction),
            C::Add => a().plus(b(), 1),
            C::Subtract => a().plus(b(), -1),
            C::Negate => Known::number(0).plus(a(), -1),
            C::Multiply | C::MultiplyWide => a().times(b()),
            C::MultiplyAdd | C::MultiplyAddWide => a().times(b()).plus(c(), 1),
            C::ShiftLeft => match b().what {
                What::Number(by @ 0..63) => a().times(Known::number(1 << by)),
                What::Open => Known::OPEN,
                _ => Known::UNCLEAR,
            },
            C::ShiftRight if b().what == What::Open => Known::OPEN,
            C::And => match (a(), b()) {
                (Known { what: What::Number(one), .. }, Known { what: What::Number(other), .. }) => {
                    Known::number(one & other)
                }
                // The mask brings no ones.
                (known, Known { what: What::Number(_), .. })
                | (Known { what: What::Number(_), .. }, known) => match known.what {
                    What::Within(variable, _) => Known { what: What::Within(variable, None), ..known },
                    _ => known,
                },
                (one @ Known { what: What::Open, .. }, other @ Known { what: What::Open, .. }) => {
                    Known { what: What::Open, lowest: one.lowest.max(other.lowest) }
                }
                _ => self.mixed(instruction, 1..3),
            },
            C::Or | C::Xor => match (a(), b()) {
                (
                    Known { what: What::Open, lowest: one },
                    Known { what: What::Open | What::Number(_), lowest },
                )
                | (Known { what: What::Number(_), lowest }, Known { what: What::Open, lowest: one }) => {
                    Known { what: What::Open, lowest: one.min(lowest) }
                }
                _ => Known::UNCLEAR,
            },
            C::Select => a().join(b()),
            C::Minimum | C::Maximum => a().join(b()),
            C::Convert => match a() {
                // Extensions and cuts change numbers that are negative, or large.
                known @ Known { what: What::Number(0..0x8000), .. } => known,
                Known { what: What::Number(_), .. } => Known::UNCLEAR,
                known => known,
            },
            // These make ones of zeros, or put constants in.
            C::Not | C::Logic3 | C::InsertField | C::Permute | C::FunnelShift => {
                Known { lowest: 0, ..self.mixed(instruction, 1..instance.operands.len()) }
            }
            _ => self.mixed(instruction, 1..instance.operands.len()),
        }
    }

    /// A conversion of an address of the global state space.
    fn converted(&mut self, instruction: u32, to_generic: bool) -> Known {
        let known = self.operand(instruction, 1);
        match known.what {
            What::Open | What::Number(_) | What::In(StateSpace::Global, Source::Promise) => {
                Known { what: What::In(StateSpace::Global, Source::Conversion), ..known }
            }
            What::Within(variable, _)
                if to_generic && self.facts.module.variables[variable].space.base() == StateSpace::Global =>
            {
                Known::UNCLEAR
            }
            _ => {
                self.converts_wrongly = true;
                Known::UNCLEAR
            }
        }
    }

    /// A parameter may promise what it points to.
    fn loaded(&self, instruction: u32) -> Known {
        let address = self.facts.body.operands(Handle::new(instruction)).get(1);
        let Some(&Operand::VariableAddress { variable, .. }) = address else { return Known::OPEN };
        let pointer = self.facts.module.variables[variable].pointer;
        match pointer.and_then(|pointer| pointer.space) {
            Some(space) => Known { what: What::In(space.base(), Source::Promise), ..Known::OPEN },
            None => Known::OPEN,
        }
    }

    fn moved(&self, instruction: u32) -> Known {
        match self.facts.body.operands(Handle::new(instruction)) {
            [Operand::Register { .. }, Operand::Vector(_)] | [Operand::Vector(_), _] => {
                self.mixed_reads(instruction)
            }
            [_, _] => self.operand(instruction, 1),
            _ => Known::UNCLEAR,
        }
    }

    /// What comes of operands in some other way: where no bit of them is known to be 1, none of the result is.
    fn mixed(&self, instruction: u32, operands: std::ops::Range<usize>) -> Known {
        if let Some(Operand::Integer { .. }) = self.facts.body.operands(Handle::new(instruction)).get(1) {
            return Known::UNCLEAR;
        }
        let is_register = |index: &usize| {
            let operand = self.facts.body.operands(Handle::new(instruction)).get(*index);
            matches!(operand, Some(Operand::Register { .. } | Operand::Special(_)))
        };
        let registers = operands.filter(is_register).map(|index| self.operand(instruction, index));
        Self::of_mixed(registers)
    }

    fn mixed_reads(&self, instruction: u32) -> Known {
        let has_number = |operand: &Operand| !matches!(operand, Operand::Register { .. });
        let parts =
            self.facts.body.operands(Handle::new(instruction)).iter().filter_map(|operand| match operand {
                Operand::Vector(run) => Some(self.facts.body.children(*run)),
                _ => None,
            });
        if parts.flatten().any(has_number) {
            return Known::UNCLEAR;
        }
        let reads = self.facts.uses().range(instruction).filter_map(|at| self.graph.read(at));
        Self::of_mixed(reads.map(|value| self.of(value)))
    }

    fn of_mixed(sources: impl Iterator<Item = Known>) -> Known {
        let mut lowest = NO_BIT;
        for known in sources {
            match known.what {
                What::Open if known.lowest == NO_BIT => {}
                What::Open | What::Within(..) | What::In(..) => lowest = 0,
                // Of numbers, a number may come.
                What::Number(_) | What::Unclear => return Known::UNCLEAR,
            }
        }
        Known { what: What::Open, lowest }
    }
}

#[cfg(test)]
mod tests {
    use super::is_plain;
    use crate::FunctionFacts;
    use crate::memory::MemoryFacts;
    use crate::values::Graph;
    use ptx_ir::ir::Handle;

    const HEAD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 8 .b8 s[64];\n.shared .align 4 .b8 t[64];\n\
                        .visible .entry k(.param .u32 n, .param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n\
                        .reg .f32 %f<8>;\nmov.u32 %r9, %tid.x;\nld.param.u32 %r8, [n];\n";

    /// Whether nothing can be wrong with the accesses.
    fn plain(text: &str) -> bool {
        let text = format!("{HEAD}{text}\nret;\n}}\n");
        let module = ptx_ir::lower::lower(&ptx_syntax::parse(&text).tree, &text).module;
        let facts = FunctionFacts::new(&module, Handle::new(0)).unwrap();
        let graph = Graph::new(&facts);
        let memory = MemoryFacts::new(&facts, || &graph, true, true, true);
        is_plain(&facts, &graph, &memory.accesses, &memory.conversions)
    }

    #[test]
    fn what_threads_compute_is_plain() {
        let index = "mov.u32 %r1, s; shl.b32 %r2, %r9, 3; add.s32 %r3, %r1, %r2;";
        assert!(plain(&format!("{index} ld.shared.u64 %rd1, [%r3+16];")));
        assert!(plain(&format!("{index} mad.lo.s32 %r4, %r8, 24, %r3; ld.shared.u64 %rd1, [%r4];")));
        assert!(plain(&format!(
            "{index} shr.u32 %r5, %r9, 5; add.s32 %r4, %r3, %r5; ld.shared.u32 %r6, [%r4];"
        )));
        assert!(plain(
            "mov.u32 %r1, s; L: ld.shared.u64 %rd1, [%r1]; add.s32 %r1, %r1, 8; setp.lt.u32 %p1, %r1, %r8; @%p1 bra L;"
        ));
        assert!(plain("mov.u32 %r1, s; add.s32 %r2, %r1, 56; ld.shared.u64 %rd1, [%r2];"));
        assert!(plain("ld.shared.u64 %rd1, [%r8+8];"));
    }

    #[test]
    fn what_a_constant_spoils_is_not() {
        assert!(!plain("mad.lo.s32 %r1, %r9, 8, 4; ld.shared.u64 %rd1, [%r1];"));
        assert!(!plain(
            "mov.u32 %r1, s; or.b32 %r2, %r9, 1; add.s32 %r3, %r1, %r2; ld.shared.u32 %r4, [%r3];"
        ));
        assert!(!plain("or.b32 %r1, %r9, 64; shr.u32 %r2, %r1, 5; ld.shared.u32 %r4, [%r2];"));
        assert!(!plain("not.b32 %r1, %r9; and.b32 %r2, %r1, 31; ld.shared.u32 %r4, [%r2];"));
        assert!(!plain("setp.lt.u32 %p1, %r9, 7; selp.b32 %r1, 2, 4, %p1; ld.shared.u32 %r4, [%r1];"));
        assert!(!plain("ld.shared.u64 %rd1, [%r8+4];"));
    }

    #[test]
    fn places_in_variables_are_held_against_them() {
        assert!(!plain("mov.u32 %r1, s; add.s32 %r2, %r1, 64; ld.shared.u64 %rd1, [%r2];"));
        assert!(!plain("mov.u32 %r1, s; sub.s32 %r2, %r1, 8; ld.shared.u64 %rd1, [%r2];"));
        assert!(!plain("mov.u32 %r1, t; ld.shared.u64 %rd1, [%r1];"));
        assert!(!plain("mov.u32 %r1, s; ld.local.u64 %rd1, [%r1];"));
        assert!(!plain("mov.u64 %rd1, s; ld.u64 %rd2, [%rd1];"));
        assert!(!plain(
            "mov.u32 %r1, s; mov.u32 %r2, t; setp.lt.u32 %p1, %r9, 7; selp.b32 %r3, %r1, %r2, %p1; ld.shared.u32 %r4, [%r3];"
        ));
    }
}
