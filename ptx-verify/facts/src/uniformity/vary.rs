//! How values vary between threads, and how that goes through instructions.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Computation, Convergence, Instance, Mode};
use ptx_ir::special::{SpecialRegister, Varies};
use ptx_ir::types::TypeKind;

use super::{Analysis, Level};
use crate::FunctionFacts;
use crate::values::linear::{Base, BaseId, Form, MAX_TERMS, Sum};
use crate::values::number::{Number, mask};
use crate::values::{Kind, MAX_STEPS, ValueId};

/// How a value varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Vary {
    /// The bits that may differ between the lanes of a warp.
    pub lanes: u64,
    /// The bits that may differ between the same lanes of two warps.
    pub warps: u64,
    /// The bits of the lane's number that `lanes` depends on: where a butterfly has added all up, none.
    pub strides: u8,
}

/// Operations on operations that no value is are followed so deep.
pub(super) const MAX_DEPTH: usize = 4;

/// All five bits of a lane's number.
const ALL_STRIDES: u8 = 31;

impl Vary {
    /// The same in all threads.
    pub const NONE: Self = Self { lanes: 0, warps: 0, strides: 0 };

    /// Different from thread to thread, in these bits.
    pub(super) const fn all(bits: u64) -> Self {
        Self { lanes: bits, warps: bits, strides: ALL_STRIDES }
    }

    /// Either of two values, whichever it is in all threads.
    pub(super) fn join(self, other: Self) -> Self {
        Self {
            lanes: self.lanes | other.lanes,
            warps: self.warps | other.warps,
            strides: self.strides | other.strides,
        }
    }

    /// Both are so, of one value.
    pub(super) fn meet(self, other: Self) -> Self {
        Self {
            lanes: self.lanes & other.lanes,
            warps: self.warps & other.warps,
            strides: self.strides & other.strides,
        }
        .settled()
    }

    /// What depends on no lane is the same in all of them.
    pub(super) fn settled(mut self) -> Self {
        if self.lanes == 0 || self.strides == 0 {
            (self.lanes, self.strides) = (0, 0);
        }
        self
    }

    /// Of a choice between values that differ in these bits, by a value that varies as this one.
    pub(super) fn choosing(self, bits: u64) -> Self {
        let by = |mask: u64| if mask != 0 { bits } else { 0 };
        Self { lanes: by(self.lanes), warps: by(self.warps), strides: self.strides }.settled()
    }

    /// Of something computed from it in some other way: all bits of the width.
    pub(super) fn through(self, width: u32) -> Self {
        self.choosing(mask(width))
    }

    /// The bits moved and masked by a function.
    fn mapped(self, change: impl Fn(u64) -> u64) -> Self {
        Self { lanes: change(self.lanes), warps: change(self.warps), ..self }.settled()
    }

    fn without(self, bits: u64) -> Self {
        self.mapped(|mask| mask & !bits)
    }

    /// Of what is divided by a multiple of something that has only these bits below it: where lanes differ in these, they
    /// lie between the same two multiples.
    fn quotient(self, below: u64, width: u32) -> Self {
        let all = self.through(width);
        if self.lanes & !below == 0 { Self { lanes: 0, ..all }.settled() } else { all }
    }

    /// Of what a warp computes from the values of all its lanes.
    fn of_all_lanes(self, width: u32) -> Self {
        let warps = if self.warps != 0 { mask(width) } else { 0 };
        Self { warps, ..Self::NONE }
    }

    /// Who is told apart; none where nobody is.
    #[must_use]
    pub fn level(self) -> Option<Level> {
        match (self.lanes, self.warps) {
            (0, 0) => None,
            (0, _) => Some(Level::Warps),
            _ => Some(Level::Lanes),
        }
    }
}

/// The bits that carries bring variation to, from those where the terms vary.
fn carried(a: Number, b: Number, vary: u64, width: u32) -> u64 {
    let most = (!a.zeros).wrapping_add(!b.zeros);
    let least = a.ones.wrapping_add(b.ones);
    // A carry that is known is the same in all threads.
    let known = !(most ^ a.zeros ^ b.zeros) | (least ^ a.ones ^ b.ones);
    let open = !known & mask(width);
    let mut reached = vary << 1 & open;
    let mut path = open;
    for step in [1, 2, 4, 8, 16, 32] {
        reached |= path & (reached << step);
        path &= path << step;
    }
    reached
}

fn added(a: Number, b: Number, one: Vary, other: Vary) -> Vary {
    let width = u32::from(a.width);
    let sum = a.plus(b);
    let bits = |one: u64, other: u64| {
        let vary = one | other;
        (vary | carried(a, b, vary, width)) & !sum.known()
    };
    Vary {
        lanes: bits(one.lanes, other.lanes),
        warps: bits(one.warps, other.warps),
        strides: one.strides | other.strides,
    }
    .settled()
}

/// The number that is divided by where any number of 32 bits is multiplied by `factor` and shifted by `shift`
/// (Granlund, Montgomery: *Division by invariant integers using multiplication*, 1994).
fn divisor(factor: u64, shift: u64) -> Option<u64> {
    let (factor, shift) = (u128::from(factor), u32::try_from(shift).ok()?);
    if factor == 0 || !(32..64).contains(&shift) {
        return None;
    }
    let power = 1_u128 << shift;
    let divisor = power.div_ceil(factor);
    let too_much = factor * divisor - power;
    (too_much <= 1 << (shift - 32)).then(|| u64::try_from(divisor).ok())?
}

/// Bits from the lowest one up to the highest of a mask.
fn up_to_highest(bits: u64) -> u64 {
    mask(64 - bits.leading_zeros())
}

/// Bits from the lowest one of a mask upwards.
fn upwards(bits: u64, width: u32) -> u64 {
    if bits == 0 { 0 } else { mask(width) & !mask(bits.trailing_zeros()) }
}

impl Analysis<'_, '_> {
    /// How the sum varies that a value is; none where it is its own base.
    pub(super) fn by_form(&self, block: NodeIndex, value: ValueId) -> Option<Vary> {
        let fact = self.engine.values.of(value)?;
        let sum = *self.engine.sum(fact);
        let forms = self.engine.values.forms();
        // What an operation is made of says less of it than how it is computed, but for shifts, and where another value is
        // that operation.
        let is_own = |base: BaseId| match forms.what(base) {
            Base::Value(own) => own == value,
            Base::Operation { computes, .. } => {
                computes != Computation::ShiftRight
                    && forms.value(base).is_none_or(|first| first == value)
                    && self.is_only(value, base)
            }
            _ => false,
        };
        if sum.terms().any(|(base, _)| is_own(base)) {
            return None;
        }
        let mut vary = self.sum(&sum, block, Some(value), MAX_DEPTH);
        if vary.lanes != 0
            && sum.count() > 1
            && let Some(beside) = self.beside_lanes(&sum, block).filter(|beside| beside.lanes == 0)
        {
            vary = vary.meet(beside);
        }
        Some(vary.without(fact.number.known()))
    }

    /// How a sum varies for those who are in a block. What lanes differ in comes last: carries of the rest are known by
    /// then.
    pub(super) fn sum(&self, sum: &Sum, block: NodeIndex, made: Option<ValueId>, depth: usize) -> Vary {
        let width = sum.width();
        let mut number = Number::constant(width, sum.offset());
        let mut vary = Vary::NONE;
        let mut of_lanes = [(Number::constant(width, 0), Vary::NONE); MAX_TERMS];
        let mut count = 0;
        for (base, factor) in sum.terms() {
            if sum.count() > 1 && self.is_zero_there(base, block) {
                continue;
            }
            let known = self.engine.base_number(base, width);
            let each = self.base(base, block, made, depth).mapped(|bits| bits & mask(width));
            let one = Number::constant(width, 1);
            let (term, each) = match factor {
                // Minus one times it is the opposite of each bit, and one, which the numbers take.
                _ if factor == mask(width) && each.lanes != 0 => {
                    (number, vary) = (number.plus(one), added(number, one, vary, Vary::NONE));
                    (known.inverted(), each)
                }
                _ if factor == mask(width) => {
                    (known.inverted().plus(one), added(known.inverted(), one, each, Vary::NONE))
                }
                _ => {
                    let term = known.multiply(Number::constant(width, factor));
                    let each = each.mapped(|bits| match factor.is_power_of_two() {
                        true => bits << factor.trailing_zeros() & mask(width),
                        false => upwards(bits << factor.trailing_zeros(), width),
                    });
                    (term, each)
                }
            };
            if each.lanes != 0 {
                of_lanes[count] = (term, each);
                count += 1;
                continue;
            }
            vary = added(number, term, vary, each);
            number = number.plus(term);
        }
        for (term, each) in &of_lanes[..count] {
            vary = added(number, *term, vary, *each);
            number = number.plus(*term);
        }
        vary
    }

    pub(super) fn base(&self, base: BaseId, block: NodeIndex, made: Option<ValueId>, depth: usize) -> Vary {
        let forms = self.engine.values.forms();
        match forms.what(base) {
            Base::Lane => Vary { lanes: 31, warps: 0, strides: ALL_STRIDES },
            Base::Warp | Base::Rows(..) => Vary { lanes: 0, warps: mask(32) & !31, strides: 0 },
            Base::Special(register) => of_special(register),
            Base::Value(value) => self.seen(value, block),
            Base::Symbol { .. } | Base::Code(_) | Base::Loaded { .. } | Base::Unknown(_) => Vary::NONE,
            Base::Steps(value) => self.steps(value, block, depth),
            Base::Operation { computes, detail, operands } => {
                match forms.value(base).inspect(|_| self.reads.branches()) {
                    // Where a value is this operation and nothing else, what is known of that value.
                    Some(value)
                        if Some(value) != made
                            && self.is_only(value, base)
                            && !self.by_branches.contains(&base)
                            && !self.is_of_zeros(base) =>
                    {
                        self.seen(value, block)
                    }
                    // Each operand may be made of operations in turn.
                    _ if depth == 0 => Vary::all(u64::MAX),
                    value => {
                        let of = |form: &Form| self.sum(forms.sum(*form), block, value.or(made), depth - 1);
                        let all = operands.iter().filter(|form| **form != Form::NONE).map(of);
                        let vary = all.fold(Vary::NONE, Vary::join);
                        let (width, by) = ((detail & 255) as u32, (detail >> 16) as u32);
                        match computes {
                            // The bits of what is shifted, wherever that was done.
                            Computation::ShiftRight if detail >> 8 & 1 == 0 && operands[1] == Form::NONE => {
                                vary.mapped(|bits| bits.checked_shr(by).unwrap_or(0))
                            }
                            Computation::Multiply => vary.mapped(|bits| upwards(bits, width)),
                            _ => vary.choosing(u64::MAX),
                        }
                    }
                }
            }
        }
    }

    /// Whether a value is a base, and nothing is added to it.
    fn is_only(&self, value: ValueId, base: BaseId) -> bool {
        let Some(fact) = self.engine.values.of(value) else { return false };
        let sum = self.engine.sum(fact);
        sum.offset() == 0 && sum.terms().eq([(base, 1)])
    }

    /// How that varies which the turns of a loop have added to a value. Threads that are in the loop are in the same
    /// turn.
    fn steps(&self, value: ValueId, block: NodeIndex, depth: usize) -> Vary {
        let Kind::Joined { block: head } = self.engine.graph.kind(value) else { return Vary::NONE };
        let width = self.engine.width(value);
        // Loops may add to each other what the other has added.
        let Some(depth) = depth.checked_sub(1) else { return Vary::all(mask(width)) };
        let forms = self.engine.values.forms();
        let steps = self.engine.values.steps(value);
        if steps.len() > MAX_STEPS {
            return Vary::all(mask(width));
        }
        let added = steps
            .iter()
            .map(|step| self.sum(forms.sum(*step), head, None, depth))
            .fold(Vary::NONE, Vary::join);
        let mut vary = added.mapped(|bits| upwards(bits, width));
        for level in [self.control.at_join(head), self.between(head, block)].into_iter().flatten() {
            vary = vary.join(level.choosing(mask(width)));
        }
        vary
    }

    /// How what an instruction computes varies, whose sources vary like this.
    pub(super) fn computed(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        value: ValueId,
        at: usize,
        sources: Vary,
    ) -> Vary {
        let flag = self.flag_read(block, instruction);
        let facts = self.engine.facts;
        let is_collective = |instance: &Instance| instance.effects.convergence == Convergence::Participants;
        // What its special registers say is among the sources.
        let begins = makes(facts, instruction) || facts.instance(instruction).is_some_and(is_collective);
        if sources == Vary::NONE && flag == Vary::NONE && !begins {
            return Vary::NONE;
        }
        let width = self.engine.width(value);
        let number = self.engine.values.of(value).map_or(0, |fact| fact.number.known());
        let flag = flag.through(width);
        let mut vary = self.operation(block, instruction, at, width, sources).join(flag).without(number);
        let may_be_same = || width == 1 || divides(facts, instruction);
        if vary.lanes != 0 && may_be_same() && self.is_same_by_trial(value) {
            (vary.lanes, vary.strides) = (0, 0);
        }
        // What is so by the branches that lead here is not so of the same comparison elsewhere.
        if std::mem::take(&mut self.is_by_branches)
            && let Some(fact) = self.engine.values.of(value)
        {
            self.by_branches.extend(self.engine.sum(fact).terms().map(|(base, _)| base));
        }
        self.joined(block, value, vary.mapped(|bits| bits & mask(width)))
    }

    /// How the carry flag varies that an instruction reads.
    fn flag_read(&self, block: NodeIndex, instruction: u32) -> Vary {
        self.engine.graph.carry(instruction).0.map_or(Vary::NONE, |flag| self.seen(flag, block))
    }

    /// How the carry flag varies that an instruction sets.
    pub(super) fn flag_of(&self, block: NodeIndex, instruction: u32) -> Vary {
        self.sources(block, instruction).join(self.flag_read(block, instruction)).through(1)
    }

    /// All that an instruction reads, together.
    pub(super) fn sources(&self, block: NodeIndex, instruction: u32) -> Vary {
        let facts = self.engine.facts;
        let mut vary = Vary::NONE;
        for at in facts.uses().range(instruction) {
            if let Some(read) = self.engine.graph.read(at) {
                vary = vary.join(self.seen(read, block));
            }
        }
        for operand in facts.body.operands(Handle::new(instruction)) {
            if let Operand::Special(register) | Operand::SpecialSum { register, .. } = operand {
                vary = vary.join(of_special(*register));
            }
        }
        vary
    }

    /// How an operand varies, and what is known of it.
    pub(super) fn source(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        index: usize,
        width: u32,
    ) -> (Number, Vary) {
        let facts = self.engine.facts;
        let operand = facts.body.operands(Handle::new(instruction)).get(index).copied();
        let fact = self.engine.operand(instruction, index, width);
        let number = fact.map_or(Number::unknown(width), |fact| fact.number);
        let vary = match operand {
            Some(Operand::Register { .. } | Operand::Negated { .. }) => {
                let mut range = facts.uses().range(instruction);
                let read = range.find_map(|at| {
                    let each = facts.uses().all()[at];
                    self.engine.graph.read(at).filter(|_| each.operand() == index && each.access().reads())
                });
                read.map_or(Vary::NONE, |read| self.seen(read, block))
            }
            Some(Operand::Special(register)) => of_special(register),
            Some(Operand::Sum { .. } | Operand::SpecialSum { .. }) => self.sources(block, instruction),
            _ => Vary::NONE,
        };
        (number, vary.mapped(|bits| bits & mask(width)))
    }

    fn operation(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        at: usize,
        width: u32,
        sources: Vary,
    ) -> Vary {
        let facts = self.engine.facts;
        let Some(instance) = facts.instance(instruction) else { return sources.through(width) };
        let effects = &instance.effects;
        if effects.barrier {
            // All threads that meet there get the same.
            return Vary::NONE;
        }
        if effects.convergence == Convergence::Participants {
            return self.collective(block, instruction, instance, at, width, sources);
        }
        if effects.convergence == Convergence::Aligned {
            // The warp computes it together: what one lane gets, all get, unless lanes pick differently.
            let warps = Vary { warps: mask(width), ..Vary::NONE };
            return if effects.thread_dependent { Vary::all(mask(width)) } else { warps };
        }
        if effects.thread_dependent || effects.atomic {
            return Vary::all(mask(width));
        }
        if let Some(vary) = self.exchanged(block, instruction, instance, width) {
            return vary;
        }
        match effects.computes {
            Some(computation) => self
                .by_bits(block, instruction, instance, computation, at, width)
                .unwrap_or_else(|| sources.through(width)),
            None => sources.through(width),
        }
    }

    /// `shfl`, `vote`, `match`, `redux`, `elect`: what lanes say to each other.
    fn collective(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        instance: &Instance,
        at: usize,
        width: u32,
        sources: Vary,
    ) -> Vary {
        match instance.effects.computes {
            Some(Computation::Exchange) => {
                let (_, vary) = self.source(block, instruction, 1, 32);
                let (_, lane) = self.source(block, instruction, 2, 32);
                let is_first = self.engine.facts.uses().all()[at].operand() == 0;
                // With segments of a warp, lanes of one get what those of another do not.
                let (segments, _) = self.source(block, instruction, 3, 32);
                let is_whole = segments.value().is_some_and(|value| self.engine.is_one_segment(value));
                if !is_first || vary.lanes == 0 && is_whole && instance.is(Mode::Butterfly) {
                    return vary;
                }
                if instance.is(Mode::Indexed) && lane.lanes == 0 && is_whole {
                    return vary.of_all_lanes(width).join(lane.of_all_lanes(width));
                }
                match self.engine.operand(instruction, 2, 32).and_then(|lane| lane.number.value()) {
                    Some(stride)
                        if instance.is(Mode::Butterfly) && stride.is_power_of_two() && stride < 32 =>
                    {
                        vary
                    }
                    _ => sources.through(width),
                }
            }
            Some(Computation::Elect) => {
                let parts = match self.engine.facts.body.operands(Handle::new(instruction)).first() {
                    Some(Operand::Pair(run)) => self.engine.facts.body.children(*run),
                    _ => &[],
                };
                let each = self.engine.facts.uses().all()[at].register;
                let is =
                    |part: &Operand| matches!(part, Operand::Register { register, .. } if *register == each);
                match parts {
                    [first, _] if is(first) => Vary::NONE,
                    _ => Vary { lanes: mask(width), warps: 0, strides: ALL_STRIDES },
                }
            }
            _ if instance.effects.thread_dependent => {
                sources.through(width).join(Vary { lanes: mask(width), warps: 0, strides: ALL_STRIDES })
            }
            _ => sources.of_all_lanes(width),
        }
    }

    /// Computations that are followed bit by bit.
    fn by_bits(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        instance: &Instance,
        computation: Computation,
        at: usize,
        width: u32,
    ) -> Option<Vary> {
        use Computation as C;
        let operands = self.engine.facts.body.operands(Handle::new(instruction));
        if let (C::Move, [Operand::Vector(_), _] | [_, Operand::Vector(_)]) = (computation, operands) {
            return self.packed(block, instruction, operands, at, width);
        }
        if computation == C::Move || computation == C::Convert {
            return Some(self.source(block, instruction, 1, 64).1);
        }
        if computation == C::Compare {
            return self.compared(block, instruction, instance);
        }
        let ty = instance.ty?;
        if matches!(ty.kind(), TypeKind::Float | TypeKind::Packed) && computation != C::Select {
            return None;
        }
        let w = ty.bits().min(64);
        let is_signed = ty.kind() == TypeKind::Signed;
        let (number, a) = self.source(block, instruction, 1, w);
        let (other, b) = self.source(block, instruction, 2, w);
        let both = a.join(b);
        let shift = |bits: u64, by: u64| bits.checked_shl(by as u32).unwrap_or(0);
        Some(match computation {
            C::Not => a,
            C::Negate => added(number.inverted(), Number::constant(w, 1), a, Vary::NONE),
            C::And => {
                let kept = both.without(number.zeros | other.zeros);
                let varying = if b.lanes == 0 { Some(1) } else { (a.lanes == 0).then_some(2) };
                varying.map_or(kept, |index| self.with_strides(block, instruction, index, kept, 0))
            }
            C::Or => both.without(number.ones | other.ones),
            C::Xor => both,
            C::Add => added(number, other, a, b),
            C::Subtract => {
                // The opposite of each bit, and one, which either of the two may take.
                let one = Number::constant(w, 1);
                let opposite = other.inverted();
                let by_second = added(number, opposite.plus(one), a, added(opposite, one, b, Vary::NONE));
                by_second.meet(added(number.plus(one), opposite, added(number, one, a, Vary::NONE), b))
            }
            C::Multiply => both.mapped(|bits| upwards(bits, w)),
            C::ShiftLeft if b == Vary::NONE => match other.value() {
                Some(by) => a.mapped(|bits| shift(bits, by)),
                None => a.mapped(|bits| upwards(bits, w)),
            },
            C::ShiftRight if b == Vary::NONE => {
                if let Some((divided, below)) = self.reciprocal(block, instruction, other) {
                    return Some(divided.quotient(below, w));
                }
                // What comes in from above is the sign.
                let sign = |bits: u64| is_signed && number.high >> (w - 1) != 0 && bits >> (w - 1) != 0;
                let shifted = a.mapped(|bits| match other.value() {
                    Some(by) => {
                        let by = by.min(u64::from(w)) as u32;
                        let filled = if sign(bits) { mask(w) & !mask(w - by) } else { 0 };
                        bits.checked_shr(by).unwrap_or(0) | filled
                    }
                    None if sign(bits) => mask(w),
                    None => up_to_highest(bits),
                });
                match other.value() {
                    Some(by) if !sign(a.lanes) => self.with_strides(block, instruction, 1, shifted, by),
                    _ => shifted,
                }
            }
            C::ExtractField if !is_signed => {
                let length = self.source(block, instruction, 3, 32).0.value()? & 255;
                let from = self.source(block, instruction, 2, 32).0.value()? & 255;
                let field = mask(length as u32);
                let taken = a.mapped(|bits| bits.checked_shr(from as u32).unwrap_or(0) & field);
                self.with_strides(block, instruction, 1, taken, from)
            }
            C::InsertField => {
                let from = self.source(block, instruction, 3, 32).0.value()? & 255;
                let length = self.source(block, instruction, 4, 32).0.value()? & 255;
                let field = shift(mask(length as u32), from);
                a.mapped(|bits| shift(bits, from) & field).join(b.without(field))
            }
            C::Logic3 => both.join(self.source(block, instruction, 3, w).1),
            C::FunnelShift => {
                let by = self.source(block, instruction, 3, 32).0.value()?;
                let by = if instance.is(Mode::Wrap) { by & 31 } else { by.min(32) };
                let (down, up) = if instance.is(Mode::Right) { (by, 32 - by) } else { (32 - by, by) };
                a.mapped(|bits| bits >> down).join(b.mapped(|bits| shift(bits, up)))
            }
            C::Permute => {
                let selector = self.source(block, instruction, 3, 32).0.value()?;
                let permuted = |a: u64, b: u64| {
                    let both = a & mask(32) | b << 32;
                    (0..4).fold(0, |bits, byte| {
                        let chosen = selector >> (4 * byte) & 15;
                        let from = both >> (8 * (chosen & 7)) & 255;
                        let filled = if from & 128 != 0 { 255 } else { 0 };
                        bits | (if chosen & 8 == 0 { from } else { filled }) << (8 * byte)
                    })
                };
                let (lanes, warps) = (permuted(a.lanes, b.lanes), permuted(a.warps, b.warps));
                Vary { lanes, warps, strides: both.strides }.settled()
            }
            C::Divide | C::Remainder => {
                let is_positive = |number: Number| !is_signed || number.high >> (w - 1) == 0;
                let multiple = mask(other.zeros.trailing_ones());
                if computation == C::Divide && self.is_one_group(block, instruction, w) {
                    return Some(Vary::NONE);
                }
                let quotient = both.quotient(multiple, w);
                // Where rows of blocks are taken to be whole warps, what is divided so counts threads.
                let counts = computation == C::Divide && quotient.lanes == 0;
                let counts = counts && self.engine.values.has_whole_warps();
                if b.lanes != 0 || !(counts || is_positive(number) && is_positive(other)) {
                    return None;
                }
                // What is left over of numbers with the same quotient differs as these do.
                let lanes =
                    if computation == C::Divide || quotient.lanes != 0 { quotient.lanes } else { a.lanes };
                Vary { lanes, strides: both.strides, ..quotient }.settled()
            }
            // What differs in low bits only lies between the same two multiples, and so does the smaller of it and
            // something else, or it is that for all.
            C::Minimum | C::Maximum => both.mapped(up_to_highest),
            C::Select if self.is_clamp(instruction) => both.mapped(up_to_highest),
            C::Select => {
                let (_, by) = self.source(block, instruction, 3, 1);
                both.join(by.choosing(!(number.ones & other.ones | number.zeros & other.zeros)))
            }
            _ => return None,
        })
    }

    /// What is left of an operand after it was masked, and shifted down by so many bits: where the bits of the lane's number
    /// lie side by side in the operand, those that are left tell which ones it depends on.
    fn with_strides(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        operand: usize,
        left: Vary,
        by: u64,
    ) -> Vary {
        let width = self.engine.facts.instance(instruction).and_then(|instance| instance.ty);
        let width = width.map_or(64, |ty| ty.bits().min(64));
        let place = self.engine.operand(instruction, operand, width).and_then(|fact| {
            let sum = *self.engine.sum(fact);
            self.lane_place(&sum, block)
        });
        let (Some(place), Ok(by)) = (place, u32::try_from(by)) else { return left };
        let bits = left.lanes.checked_shl(by).unwrap_or(0).checked_shr(place).unwrap_or(0);
        Vary { strides: left.strides & (bits & u64::from(ALL_STRIDES)) as u8, ..left }.settled()
    }

    /// The bit of a sum at which the number of the lane begins, where the rest is the same in all lanes and leaves it alone.
    fn lane_place(&self, sum: &Sum, block: NodeIndex) -> Option<u32> {
        let forms = self.engine.values.forms();
        let width = sum.width();
        let mut place = None;
        let mut rest = Number::constant(width, sum.offset());
        for (base, factor) in sum.terms() {
            if matches!(forms.what(base), Base::Lane) {
                place = factor.is_power_of_two().then(|| factor.trailing_zeros());
                place?;
            } else if self.base(base, block, None, MAX_DEPTH).lanes != 0 {
                return None;
            } else {
                let number = self.engine.base_number(base, width);
                rest = rest.plus(number.multiply(Number::constant(width, factor)));
            }
        }
        place.filter(|place| rest.zeros.trailing_ones() >= place + ALL_STRIDES.count_ones())
    }

    /// Whether an instruction divides the place of a thread by what only those know who launch the kernel. That cuts a block
    /// into groups, and one group may be all there is.
    fn is_one_group(&mut self, block: NodeIndex, instruction: u32, width: u32) -> bool {
        let engine = &mut self.engine;
        let (Some(divided), Some(by)) =
            (engine.operand(instruction, 1, width), engine.operand(instruction, 2, width))
        else {
            return false;
        };
        engine.is_chosen_by_launch(by)
            && engine
                .beside_place(engine.sum(divided))
                .is_some_and(|rest| self.sum(&rest, block, None, MAX_DEPTH) == Vary::NONE)
    }

    /// What is divided where a product with a constant is shifted to the right, as compilers divide by what they know; and
    /// the bits in which multiples of the divisor have zeros.
    fn reciprocal(&mut self, block: NodeIndex, instruction: u32, by: Number) -> Option<(Vary, u64)> {
        let (facts, graph) = (self.engine.facts, self.engine.graph);
        let read = |at: &usize| facts.uses().all()[*at].operand() == 1;
        let product = facts.uses().range(instruction).find(read).and_then(|at| graph.read(at))?;
        let Kind::Computed { instruction: multiplies, .. } = graph.kind(product) else { return None };
        let instance = facts.instance(multiplies)?;
        let (ty, by) = (instance.ty?, by.value()?);
        let shift = match instance.effects.computes? {
            Computation::MultiplyWide => by,
            Computation::MultiplyHigh => by.checked_add(32)?,
            _ => return None,
        };
        if ty.bits() != 32 || ty.kind() == TypeKind::Signed {
            return None;
        }
        let (factor, _) = self.source(block, multiplies, 2, 32);
        let divisor = divisor(factor.value()?, shift)?;
        Some((self.source(block, multiplies, 1, 32).1, mask(divisor.trailing_zeros())))
    }

    fn packed(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        operands: &[Operand],
        at: usize,
        width: u32,
    ) -> Option<Vary> {
        let facts = self.engine.facts;
        match operands {
            [Operand::Vector(run), _] => {
                let each = facts.uses().all()[at].register;
                let is =
                    |part: &Operand| matches!(part, Operand::Register { register, .. } if *register == each);
                let part = facts.body.children(*run).iter().position(is)? as u32;
                let (_, whole) = self.source(block, instruction, 1, 64);
                let from = part * width;
                Some(whole.mapped(|bits| bits.checked_shr(from).unwrap_or(0) & mask(width)))
            }
            [_, Operand::Vector(run)] => {
                let count = facts.body.children(*run).len() as u32;
                let each = width / count.max(1);
                let mut vary = Vary::NONE;
                let reads: Vec<_> = facts
                    .uses()
                    .range(instruction)
                    .filter(|&at| facts.uses().all()[at].operand() == 1)
                    .collect();
                for (part, operand) in facts.body.children(*run).iter().enumerate() {
                    let Operand::Register { register, .. } = operand else { continue };
                    let at = reads.iter().find(|&&at| facts.uses().all()[at].register == *register);
                    let Some(read) = at.and_then(|&at| self.engine.graph.read(at)) else { continue };
                    let from = part as u32 * each;
                    let seen = self.seen(read, block);
                    vary = vary.join(seen.mapped(|bits| (bits & mask(each)).checked_shl(from).unwrap_or(0)));
                }
                Some(vary)
            }
            _ => None,
        }
    }
}

/// Whether an instruction divides, or shifts to the right as compilers do for that: where the number of a thread is divided by
/// a multiple of 32, all lanes of a warp get the same.
fn divides(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    matches!(computes, Some(Computation::ShiftRight | Computation::Divide))
}

/// Whether what an instruction computes may differ between threads though the registers that it reads do not.
pub(super) fn begins(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    // Each result may ask, and what has more operands is no instruction.
    const MAX_OPERANDS: usize = 64;
    let operands = facts.body.operands(Handle::new(instruction));
    let is_one = |operand: &Operand| match operand {
        Operand::Special(register) | Operand::SpecialSum { register, .. } => {
            of_special(*register) != Vary::NONE
        }
        _ => false,
    };
    makes(facts, instruction) || operands.len() > MAX_OPERANDS || operands.iter().any(is_one)
}

/// The same, whatever its operands are.
fn makes(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let effects = facts.instance(instruction).map(|instance| &instance.effects);
    effects.is_some_and(|effects| {
        effects.thread_dependent || effects.atomic || effects.convergence == Convergence::Aligned
    })
}

pub(super) fn of_special(register: SpecialRegister) -> Vary {
    let bits = mask(register.ty().bits().min(64));
    match (register, register.varies()) {
        (SpecialRegister::TID_X, _) => Vary { lanes: 31, warps: bits & !31, strides: ALL_STRIDES },
        // Rows of a block are whole warps in nearly every kernel.
        (SpecialRegister::TID_Y | SpecialRegister::TID_Z, _) | (_, Varies::Warp) => {
            Vary { lanes: 0, warps: bits, strides: 0 }
        }
        (_, Varies::Lane) => {
            let lanes = register.range().map_or(bits, |(_, high)| mask(high.ilog2() + 1));
            Vary { lanes, warps: 0, strides: ALL_STRIDES }
        }
        (_, Varies::Thread) => Vary::all(bits),
        _ => Vary::NONE,
    }
}
