//! Which bits of its operands an instruction looks at.
//!
//! An instruction that only computes looks at as much of its operands as others look at in its results: `and` with a
//! constant at the bits that are 1 there, a shift at what it does not drop, `prmt` at the bytes that it takes. What is
//! stored, an address, a guard, or an argument of a call is looked at in full.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Computation, Control, Convergence, Instance, Mode};
use ptx_ir::types::{Type, TypeKind};

use super::flow::is_never_set;
use crate::FunctionFacts;
use crate::registers::Use;
use crate::values::number::mask;
use crate::values::{Engine, Graph, ValueId, is_signed, width};

/// What an instruction does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It looks at these bits, whatever becomes of its results.
    At(u64),
    /// It computes its results from it.
    Through,
    /// It hands the value of another thread to this one.
    Exchange,
}

/// Something that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A use, as an index of all.
    Use(usize),
    /// The carry flag.
    Carry,
}

/// What an instruction does with one of its operands, which a use names.
pub(super) fn look(facts: &FunctionFacts<'_>, instruction: u32, each: Use) -> Look {
    let all = Look::At(u64::MAX);
    let Some(instance) = facts.instance(instruction) else { return all };
    let effects = &instance.effects;
    match effects.computes {
        Some(Computation::Exchange) => {
            return if each.operand() == 1 { Look::Exchange } else { all };
        }
        Some(Computation::Vote | Computation::Reduce) => {
            return if Some(each.operand()) == facts.given(instruction) { Look::Through } else { all };
        }
        _ => {}
    }
    let computes = effects.control == Control::Next
        && effects.convergence == Convergence::None
        && !(effects.reads_memory || effects.writes_memory || effects.volatile || effects.barrier)
        && effects.asynchronous.is_none();
    if computes {
        return Look::Through;
    }
    match instance.ty {
        Some(ty) if stores(facts, instruction, each) => Look::At(mask(width(ty))),
        _ => all,
    }
}

/// Whether an instruction puts what a use reads into memory.
pub(super) fn stores(facts: &FunctionFacts<'_>, instruction: u32, each: Use) -> bool {
    let Some(instance) = facts.instance(instruction) else { return false };
    let operand = facts.body.operands(Handle::new(instruction)).get(each.operand());
    let is_value = matches!(operand, Some(Operand::Register { .. } | Operand::Vector(_)));
    let is_address = instance.operands.get(each.operand()).is_some_and(|spec| spec.access.is_some());
    instance.effects.writes_memory && is_value && !is_address
}

/// Which bits an instruction looks at.
pub(super) struct Observers<'e, 'f, 'm> {
    pub(super) engine: &'e mut Engine<'f, 'm>,
}

impl<'f, 'm> Observers<'_, 'f, 'm> {
    fn facts(&self) -> &'f FunctionFacts<'m> {
        self.engine.facts()
    }

    fn graph(&self) -> &'f Graph {
        self.engine.graph()
    }

    /// Calls `visit` for each thing that an instruction reads to compute a result, with the bits that it looks at if of
    /// the result these bits are looked at. The result is that of the use `at`, or the carry flag.
    pub(super) fn needed(
        &mut self,
        instruction: u32,
        at: Option<usize>,
        demanded: u64,
        mut visit: impl FnMut(Read, u64),
    ) {
        let facts = self.facts();
        let uses = facts.uses();
        let whole = at
            .and_then(|at| facts.body.register_type(uses.all()[at].register))
            .map_or(u64::MAX, |ty| mask(width(ty)));
        let demanded = demanded & whole;
        if demanded == 0 {
            return;
        }
        for read in uses.range(instruction).filter(|&read| uses.all()[read].access().reads()) {
            let counts = match look(facts, instruction, uses.all()[read]) {
                Look::At(_) => false,
                Look::Through => true,
                // Only some threads are asked for their value, and which ones is not known.
                Look::Exchange => {
                    self.graph().read(read).is_some_and(|value| is_never_set(facts, self.graph(), value))
                }
            };
            let bits = if counts { self.bits(instruction, at, demanded, read) } else { 0 };
            if bits != 0 {
                visit(Read::Use(read), bits);
            }
        }
        if facts.carry(instruction).is_some_and(|carry| carry.reads) {
            visit(Read::Carry, 1);
        }
    }

    /// The same for all results of an instruction, of which these bits are looked at, by value.
    pub(super) fn for_each_needed(
        &mut self,
        instruction: u32,
        bits: &[u64],
        mut visit: impl FnMut(Read, u64),
    ) {
        let (facts, graph) = (self.facts(), self.graph());
        for at in facts.uses().range(instruction) {
            if let Some(value) = graph.written(at) {
                self.needed(instruction, Some(at), bits[value.index()], &mut visit);
            }
        }
        if let (_, Some(flag)) = graph.carry(instruction) {
            self.needed(instruction, None, bits[flag.index()], &mut visit);
        }
    }

    /// The bits of one read.
    fn bits(&mut self, instruction: u32, at: Option<usize>, demanded: u64, read: usize) -> u64 {
        let facts = self.facts();
        let uses = facts.uses().all();
        let (Some(instance), Some(at)) = (facts.instance(instruction), at) else { return u64::MAX };
        let Some(computation) = instance.effects.computes else { return u64::MAX };
        let operands = facts.body.operands(Handle::new(instruction));
        let (written, own) = (uses[at], uses[read]);
        if computation == Computation::Move {
            return self.moved(instruction, (at, written), (read, own), demanded);
        }
        if written.operand() != 0
            || computation == Computation::Logic3 && matches!(operands, [Operand::Pair(_), ..])
        {
            return u64::MAX;
        }
        let is_predicate = |register| facts.body.register_type(register) == Some(Type::Pred);
        if computation == Computation::Exchange && is_predicate(written.register) {
            return 0;
        }
        if computation == Computation::Compare {
            return self.compared(instruction, instance, own, demanded);
        }
        let Some(ty) = instance.ty else { return u64::MAX };
        if computation == Computation::Select {
            return match own.operand() {
                3 if self.is_same(instruction, 1, 2) => 0,
                3 => 1,
                _ => demanded,
            };
        }
        if let Some(lane) = lane_of(ty).filter(|_| computation == Computation::Combine) {
            return by_lanes(demanded, lane, ty.bits());
        }
        let is_integer = ty.is_integer() || matches!(ty.kind(), TypeKind::Bits | TypeKind::Predicate);
        if !is_integer || ty.bits() > 64 {
            return u64::MAX;
        }
        self.computed(instruction, instance, computation, ty, own, demanded)
    }

    /// Whether two operands are the same value.
    fn is_same(&self, instruction: u32, one: usize, other: usize) -> bool {
        let value = |operand| self.value(instruction, operand);
        value(one).is_some() && value(one) == value(other)
    }

    fn value(&self, instruction: u32, operand: usize) -> Option<ValueId> {
        let facts = self.facts();
        if !matches!(facts.body.operands(Handle::new(instruction)).get(operand)?, Operand::Register { .. }) {
            return None;
        }
        let uses = facts.uses();
        let at = uses.range(instruction).find(|&at| uses.all()[at].operand() == operand)?;
        self.graph().read(at)
    }

    /// Which element of a list a use is.
    fn element(&self, instruction: u32, operand: &Operand, at: usize) -> Option<u32> {
        let Operand::Vector(run) = *operand else { return None };
        let facts = self.facts();
        let (range, uses) = (facts.uses().range(instruction), facts.uses().all());
        let before = (range.start..at).filter(|&other| uses[other].operand() == uses[at].operand()).count();
        let mut parts = facts.body.children(run).iter().enumerate();
        let is_register = |(_, part): &(usize, &Operand)| matches!(part, Operand::Register { .. });
        parts.by_ref().filter(is_register).nth(before).map(|(index, _)| index as u32)
    }

    fn moved(
        &self,
        instruction: u32,
        (at, written): (usize, Use),
        (read, own): (usize, Use),
        demanded: u64,
    ) -> u64 {
        let [into, from] = self.facts().body.operands(Handle::new(instruction)) else { return u64::MAX };
        let bits = |register| self.facts().body.register_type(register).map_or(64, Type::bits);
        let (all, part) = (bits(written.register), bits(own.register));
        if let Some(index) = self.element(instruction, into, at) {
            // The list is the result: each element is a part of what is read.
            return if part > 64 { u64::MAX } else { demanded.checked_shl(index * all).unwrap_or(0) };
        }
        match self.element(instruction, from, read) {
            Some(index) if all > 64 => {
                // Of wide registers the low half is followed.
                if index * part >= 64 { u64::MAX } else { demanded.checked_shr(index * part).unwrap_or(0) }
            }
            Some(index) => demanded.checked_shr(index * part).unwrap_or(0) & mask(part),
            None => demanded,
        }
    }

    fn compared(&self, instruction: u32, instance: &Instance, own: Use, demanded: u64) -> u64 {
        let is_integer = instance.ty.is_some_and(|ty| ty.is_integer() || ty.kind() == TypeKind::Bits);
        match own.operand() {
            // A number is what it is, even if nobody knows which.
            1 | 2 if is_integer && self.is_same(instruction, 1, 2) => 0,
            1 | 2 => instance.ty.map_or(u64::MAX, |ty| mask(width(ty))),
            _ => demanded,
        }
    }

    /// The bits of an operand that are known to be 0 and to be 1.
    fn known(&mut self, instruction: u32, operand: usize, width: u32) -> (u64, u64) {
        let fact = self.engine.operand(instruction, operand, width);
        fact.map_or((0, 0), |fact| (fact.number.zeros, fact.number.ones))
    }

    fn constant(&mut self, instruction: u32, operand: usize, width: u32) -> Option<u64> {
        self.engine.operand(instruction, operand, width)?.number.value()
    }

    fn computed(
        &mut self,
        instruction: u32,
        instance: &Instance,
        computation: Computation,
        ty: Type,
        own: Use,
        demanded: u64,
    ) -> u64 {
        use Computation as C;
        let w = width(ty);
        let all = mask(w);
        let operand = own.operand();
        let other = 3 - operand.min(3);
        let up_to_highest = |demanded: u64| mask(64 - demanded.leading_zeros());
        match computation {
            C::Not => demanded & all,
            C::And => demanded & !self.known(instruction, other, w).0 & all,
            C::Or => demanded & !self.known(instruction, other, w).1 & all,
            C::Xor if self.is_same(instruction, 1, 2) => 0,
            C::Subtract if instance.effects.carry.is_none() && self.is_same(instruction, 1, 2) => 0,
            C::Xor => demanded & all,
            C::Add | C::Subtract | C::Negate => up_to_highest(demanded) & all,
            C::Multiply => {
                let zeros = self.known(instruction, other, w).0;
                (up_to_highest(demanded) & all).checked_shr(zeros.trailing_ones()).unwrap_or(0)
            }
            C::MultiplyAdd => up_to_highest(demanded) & all,
            C::MultiplyWide | C::MultiplyAddWide => {
                let wide = if operand == 3 { u64::MAX } else { all };
                up_to_highest(demanded) & wide
            }
            C::ShiftLeft if operand == 1 => match self.constant(instruction, 2, 32) {
                Some(by) => demanded.checked_shr(by.min(64) as u32).unwrap_or(0) & all,
                None => up_to_highest(demanded) & all,
            },
            C::ShiftRight if operand == 1 => match self.constant(instruction, 2, 32) {
                Some(by) => shifted_right(demanded & all, by.min(u64::from(w)) as u32, w, is_signed(ty)),
                None => all,
            },
            C::Permute if operand < 3 => match self.constant(instruction, 3, 32) {
                Some(selector) => permuted(demanded, selector, operand),
                None => mask(32),
            },
            C::Convert => converted(instance, demanded),
            // The predicate beside the result tells which lane gave it, and nothing of what that gave.
            C::Exchange if operand == 1 => demanded & all,
            C::Logic3 if (1..=3).contains(&operand) => self.logic3(instruction, operand, demanded),
            C::FunnelShift if operand < 3 => self.funnel(instruction, instance, operand, demanded),
            C::ReverseBits => (demanded & all).reverse_bits() >> (64 - w),
            C::ExtractField if operand == 1 => {
                let from = self.constant(instruction, 2, 32).map(|from| from & 255);
                let length = self.constant(instruction, 3, 32).map(|length| length & 255);
                match (from, length) {
                    (Some(from), Some(length)) => {
                        extracted(demanded & all, from as u32, length as u32, w, is_signed(ty))
                    }
                    _ => all,
                }
            }
            C::InsertField if operand <= 2 => {
                let from = self.constant(instruction, 3, 32).map(|from| (from & 255) as u32);
                let length = self.constant(instruction, 4, 32).map(|length| (length & 255) as u32);
                let (Some(from), Some(length)) = (from, length) else { return all };
                let field = mask(length).checked_shl(from).unwrap_or(0) & all;
                match operand {
                    1 => demanded.checked_shr(from).unwrap_or(0) & mask(length),
                    _ => demanded & all & !field,
                }
            }
            C::DotProductLow if operand == 2 => mask(32) >> 16,
            C::DotProductHigh if operand == 2 => mask(32) & !(mask(32) >> 16),
            C::DotProductLow | C::DotProductHigh if operand == 3 => up_to_highest(demanded) & all,
            C::DotProductLow
            | C::DotProductHigh
            | C::Minimum
            | C::Maximum
            | C::Absolute
            | C::CountOnes
            | C::LeadingZeros
            | C::Divide
            | C::Remainder
            | C::MultiplyHigh => all,
            _ => u64::MAX,
        }
    }

    /// Bit by bit, whether the table has a line that this operand decides.
    fn logic3(&mut self, instruction: u32, operand: usize, demanded: u64) -> u64 {
        let all = mask(32);
        let Some(table) = self.constant(instruction, 4, 32) else { return all };
        let others: Vec<usize> = (1..=3).filter(|&other| other != operand).collect();
        let [one, other] = others[..] else { return all };
        let (first, second) = (self.known(instruction, one, 32), self.known(instruction, other, 32));
        let may = |known: (u64, u64), value: u64| if value != 0 { !known.0 } else { !known.1 };
        let mut bits = 0;
        for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let line = |own: u64| {
                let places = |operand: usize| 3 - operand;
                table >> (own << places(operand) | x << places(one) | y << places(other)) & 1
            };
            if line(0) != line(1) {
                bits |= may(first, x) & may(second, y);
            }
        }
        bits & demanded & all
    }

    fn funnel(&mut self, instruction: u32, instance: &Instance, operand: usize, demanded: u64) -> u64 {
        let all = mask(32);
        let Some(by) = self.constant(instruction, 3, 32) else { return all };
        let by = if instance.is(Mode::Wrap) { by & 31 } else { by.min(32) } as u32;
        // The result is the upper half of what is shifted to the left, or the lower half of the other.
        let by = if instance.is(Mode::Right) { by } else { 32 - by };
        let both = (demanded & all).checked_shl(by).unwrap_or(0);
        if operand == 1 { both & all } else { both >> 32 }
    }
}

/// The bits of each number of a type with several in one register, each of which is computed from those at the same place.
const fn lane_of(ty: Type) -> Option<u32> {
    match ty {
        Type::U8x4 | Type::S8x4 => Some(8),
        Type::U16x2 | Type::S16x2 | Type::F16x2 | Type::Bf16x2 => Some(16),
        Type::F32x2 => Some(32),
        _ => None,
    }
}

/// All bits of the numbers of which some are demanded.
fn by_lanes(demanded: u64, lane: u32, width: u32) -> u64 {
    let lanes = (0..width).step_by(lane as usize).map(|from| mask(lane) << from);
    lanes.filter(|lane| lane & demanded != 0).fold(0, |all, lane| all | lane)
}

fn shifted_right(demanded: u64, by: u32, width: u32, signed: bool) -> u64 {
    let moved = demanded.checked_shl(by).unwrap_or(0) & mask(width);
    let filled = demanded & !mask(width.saturating_sub(by)) != 0;
    if signed && filled { moved | 1 << (width - 1) } else { moved }
}

/// The bits of a source that the bytes of a `prmt` come from.
fn permuted(demanded: u64, selector: u64, operand: usize) -> u64 {
    let mut bits = 0;
    for byte in 0..4 {
        let wanted = demanded >> (8 * byte) & 255;
        let chosen = selector >> (4 * byte) & 15;
        let of_operand = if chosen & 4 == 0 { 1 } else { 2 };
        if wanted != 0 && of_operand == operand {
            let part = if chosen & 8 != 0 { 128 } else { wanted };
            bits |= part << (8 * (chosen & 3));
        }
    }
    bits
}

fn converted(instance: &Instance, demanded: u64) -> u64 {
    let mut types = instance.modifiers.iter().filter_map(|word| Type::parse(word));
    let (Some(to), Some(from)) = (types.next(), types.next()) else { return u64::MAX };
    let all = mask(width(from));
    if !to.is_integer() || !from.is_integer() || instance.is(Mode::Saturate) {
        return all;
    }
    // What a signed result has above its type is its sign.
    let narrow = mask(width(to));
    let mut wanted = demanded & narrow;
    if is_signed(to) && demanded & !narrow != 0 {
        wanted |= 1 << (width(to) - 1);
    }
    let above = wanted & !all != 0;
    let sign = if above && is_signed(from) { 1 << (width(from) - 1) } else { 0 };
    wanted & all | sign
}

fn extracted(demanded: u64, from: u32, length: u32, width: u32, signed: bool) -> u64 {
    if length == 0 {
        return 0;
    }
    let field = (demanded & mask(length)).checked_shl(from).unwrap_or(0) & mask(width);
    let here = length.min(width.saturating_sub(from));
    if signed && demanded & !mask(here) != 0 {
        field | 1 << (from + length - 1).min(width - 1)
    } else {
        field
    }
}
