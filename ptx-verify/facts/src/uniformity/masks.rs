//! Masks that name some lanes of a warp, and whether those come.
//!
//! A mask is a number, or what a vote or `activemask` has found out. The conditions on the way to an instruction are held
//! against it: each has to let all lanes through that the mask names. Conditions that were there before the mask was
//! found are no matter: whoever took part in that has passed them.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{Computation, Instance};

use super::{Cause, Divergent, Level, Uniformity};
use crate::values::linear::{Base, BaseId, Form, Forms, Sum};
use crate::values::number::mask as mask_of;
use crate::values::{Assumption, Engine, Kind, ValueId};

/// The lanes of a warp.
const LANES: u32 = 32;
/// Parts of a condition that are told apart.
const MAX_CONJUNCTS: usize = 8;
/// Operations on operations are followed so deep.
const MAX_DEPTH: usize = 5;
/// Branches on the way to an instruction that are looked at.
const MAX_DOMINATORS: usize = 24;

/// Which lanes a mask names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// These.
    Known(u32),
    /// Those that an instruction has found: of those that came there, the ones for which a predicate holds, or all.
    Found {
        /// The instruction.
        by: u32,
        /// The predicate.
        holds: Option<Form>,
    },
}

/// A condition that lanes pass on the way.
struct Passed {
    predicate: ValueId,
    value: bool,
    /// Where the condition is asked.
    block: NodeIndex,
    cause: Cause,
}

impl Lanes {
    /// The lanes that a mask names, where something is known of them.
    pub(super) fn of(engine: &mut Engine<'_, '_>, instruction: u32, index: usize) -> Option<Self> {
        let known = engine.operand(instruction, index, u32::BITS)?;
        if let Some(mask) = known.number.value() {
            return Some(Self::Known(mask as u32));
        }
        let facts = engine.facts();
        let uses = facts.uses();
        let mut range = uses.range(instruction);
        let read =
            range.find_map(|at| engine.graph.read(at).filter(|_| uses.all()[at].operand() == index))?;
        let Kind::Computed { instruction: by, .. } = engine.graph.kind(read) else { return None };
        let instance = facts.instance(by)?;
        match instance.effects.computes? {
            Computation::ActiveMask => Some(Self::Found { by, holds: None }),
            Computation::Vote => {
                let names_all = instance.lane_mask().is_none_or(|mask| {
                    let mask = engine.operand(by, mask, u32::BITS).and_then(|fact| fact.number.value());
                    mask == Some(u64::from(u32::MAX))
                });
                let predicate = engine.operand(by, 1, 1)?;
                names_all.then_some(Self::Found { by, holds: Some(predicate.form) })
            }
            _ => None,
        }
    }
}

impl Uniformity {
    /// Why not all lanes come to an instruction that its mask names; none where they do, or it is not known.
    pub(super) fn leaves_out(
        &self,
        engine: &mut Engine<'_, '_>,
        instruction: u32,
        instance: &Instance,
    ) -> Option<Divergent> {
        if !self.known {
            return None;
        }
        let lanes = Lanes::of(engine, instruction, instance.lane_mask()?)?;
        let facts = engine.facts();
        let block = facts.cfg.block_of(Handle::new(instruction));
        let before = match lanes {
            Lanes::Known(_) => None,
            Lanes::Found { by, .. } => Some(facts.cfg.block_of(Handle::new(by))),
        };
        if before.is_some_and(|before| !facts.cfg.dominates(before, block)) {
            return None;
        }
        let by_lanes =
            |passed: &Passed| self.seen_in(engine, passed).is_some_and(|level| level == Level::Lanes);
        let on_the_way = conditions(engine, instruction, block, before);
        let parting: Vec<Passed> = on_the_way.into_iter().filter(by_lanes).collect();
        let wrong = parting.into_iter().find(|passed| !self.lets_through(engine, lanes, passed));
        let cause = match wrong {
            Some(passed) => passed.cause,
            None => Cause::Branch(self.indexed(engine, block, before)?),
        };
        Some(Divergent { instruction, cause, level: Level::Lanes })
    }

    /// The branch through a table by which lanes part before they come to a block, after the end of another.
    fn indexed(&self, engine: &Engine<'_, '_>, block: NodeIndex, after: Option<NodeIndex>) -> Option<u32> {
        let (cfg, graph) = (&engine.facts().cfg, engine.graph);
        let (Level::Lanes, branch) = self.control.cause(block)? else { return None };
        let from = cfg.block_of(Handle::new(branch));
        let is_before = |after: NodeIndex| after != from && cfg.dominates(from, after);
        let is_indexed = graph.guard(branch).is_none() && cfg.dominates(from, block);
        (is_indexed && !after.is_some_and(is_before)).then_some(branch)
    }

    /// The vote that has found out a mask, where lanes come to the instruction for which its predicate may be false: a
    /// lane must not execute what its mask does not name.
    pub(super) fn unnamed(
        &self,
        engine: &mut Engine<'_, '_>,
        instruction: u32,
        instance: &Instance,
    ) -> Option<Divergent> {
        let (by, holds) = match Lanes::of(engine, instruction, instance.lane_mask()?)? {
            Lanes::Known(mask) => return self.unnamed_in(engine, instruction, mask),
            Lanes::Found { holds: None, .. } => return None,
            Lanes::Found { by, holds: Some(holds) } => (by, holds),
        };
        let facts = engine.facts();
        let block_of = |instruction| facts.cfg.block_of(Handle::new(instruction));
        let (block, before) = (block_of(instruction), block_of(by));
        if !facts.cfg.dominates(before, block) || facts.is_guarded(by) {
            return None;
        }
        let named = conjuncts(engine, holds, true);
        let literals = |passed: Vec<Passed>| -> Vec<Sum> {
            let known = passed.iter().filter_map(|each| {
                engine.values.of(each.predicate).map(|fact| conjuncts(engine, fact.form, each.value))
            });
            known.flatten().collect()
        };
        let on_the_way = literals(conditions(engine, instruction, block, Some(before)));
        let is_wrong = if on_the_way.is_empty() {
            let known = literals(conditions(engine, by, before, None));
            named.iter().any(|literal| literal.value() != Some(1) && !known.contains(literal))
        } else {
            // What holds on the way may be what the vote was about in other words, but for the opposite of it.
            let one = Sum::constant(1, 1);
            let whole = *engine.values.forms().sum(holds);
            let opposites = named.iter().chain([&whole]).filter_map(|literal| literal.plus(&one, 1));
            opposites.into_iter().any(|opposite| on_the_way.contains(&opposite))
        };
        if !is_wrong {
            return None;
        }
        Some(Divergent { instruction, cause: Cause::Mask(by), level: Level::Lanes })
    }

    /// The condition by which lanes part on the way to an instruction, where it is the same for all that a mask names and
    /// others may pass it, too. Where there is none, the block may have no other threads.
    fn unnamed_in(&self, engine: &mut Engine<'_, '_>, instruction: u32, mask: u32) -> Option<Divergent> {
        if mask.count_ones() < 2 {
            return None;
        }
        let block = engine.facts().cfg.block_of(Handle::new(instruction));
        let passed = conditions(engine, instruction, block, None);
        let literals = |each: &Passed| {
            let condition = engine.values.of(each.predicate);
            condition.map_or_else(Vec::new, |fact| conjuncts(engine, fact.form, each.value))
        };
        let is_alike = |literal: &Sum| {
            self.is_same_in_warp(engine, literal) || self.is_alike_for(engine, mask, literal, MAX_DEPTH)
        };
        let parts = |each: &&Passed| {
            self.seen_in(engine, each) == Some(Level::Lanes) && literals(each).iter().all(is_alike)
        };
        let at = match passed.iter().find(parts)?.cause {
            Cause::Guard => instruction,
            Cause::Branch(at) | Cause::Mask(at) | Cause::Parting(at) => at,
        };
        let all: Vec<Sum> = passed.iter().flat_map(literals).collect();
        let may_come = |lane: u32| {
            let mut assumption = Assumption::new(engine);
            assumption.lane_is(lane);
            all.iter().all(|literal| assumption.holds(literal) != Some(false))
        };
        let comes = (0..LANES).any(|lane| mask >> lane & 1 == 0 && may_come(lane));
        comes.then_some(Divergent { instruction, cause: Cause::Parting(at), level: Level::Lanes })
    }

    /// Whether a condition lets all lanes through that a mask names, or none of them.
    fn lets_through(&self, engine: &Engine<'_, '_>, lanes: Lanes, passed: &Passed) -> bool {
        let Some(condition) = engine.values.of(passed.predicate).map(|fact| fact.form) else { return true };
        let named = match lanes {
            Lanes::Known(mask) => Named::These(mask),
            Lanes::Found { holds: None, .. } => Named::Where(Vec::new()),
            Lanes::Found { holds: Some(holds), .. } => Named::Where(conjuncts(engine, holds, true)),
        };
        conjuncts(engine, condition, passed.value).iter().all(|literal| {
            self.is_same_in_warp(engine, literal)
                || match &named {
                    Named::These(mask) => {
                        holds_for(engine, *mask, literal)
                            || self.is_same_for(engine, *mask, literal)
                            || self.is_alike_for(engine, *mask, literal, MAX_DEPTH)
                    }
                    Named::Where(all) => {
                        all.iter().any(|named| named == literal || are_chosen_alike(engine, named, literal))
                    }
                }
        })
    }

    /// Whether all lanes of a warp see the same of a predicate.
    fn is_same_in_warp(&self, engine: &Engine<'_, '_>, literal: &Sum) -> bool {
        let forms = engine.values.forms();
        literal.terms().all(|(base, _)| self.is_same_base(forms, base))
    }

    /// Whether something is the same in all lanes of a warp, wherever they are.
    fn is_same_base(&self, forms: &Forms, base: BaseId) -> bool {
        !self.by_branches.has(base)
            && forms.value(base).is_some_and(|value| self.of(value).level() != Some(Level::Lanes))
    }

    /// Whether in each warp a comparison holds for all lanes of a mask or for none of them: what is added to the lane is a
    /// multiple of the size of a warp, and no lane is between.
    fn is_same_for(&self, engine: &Engine<'_, '_>, mask: u32, literal: &Sum) -> bool {
        let compared = || {
            let forms = engine.values.forms();
            let mut terms = literal.terms();
            let (Some((base, 1)), None) = (terms.next(), terms.next()) else { return None };
            let Base::Operation { computes: Computation::Compare, detail, operands: [one, other, _] } =
                forms.what(base)
            else {
                return None;
            };
            let difference = match other {
                Form::NONE => *forms.sum(one),
                _ => forms.sum(one).plus(forms.sum(other), u64::MAX)?,
            };
            let lane = forms.find(Base::Lane)?;
            let (_, factor) = difference.terms().find(|(base, _)| *base == lane)?;
            let rest = difference.plus(&Sum::of(difference.width(), lane).times(factor), u64::MAX)?;
            let is_same = |(base, _)| match forms.what(base) {
                Base::Warp | Base::Rows(..) => true,
                Base::Special(register) => super::vary::of_special(register).lanes == 0,
                _ => self.is_same_base(forms, base),
            };
            let number = engine.number_of(&rest);
            if !rest.terms().all(is_same) || number.known_low() < LANES.ilog2() {
                return None;
            }
            let rest = number.ones as u32 % LANES;
            let is_less = detail >> 16 == 1;
            // The lanes that may be told from the others.
            Some(match (factor == 1, factor == mask_of(difference.width())) {
                (true, _) if is_less => (1_u64 << ((LANES - rest) % LANES)) as u32 - 1,
                (_, true) if is_less => ((1_u64 << (rest + 1)) - 1) as u32,
                (true, _) => 1 << ((LANES - rest) % LANES),
                (_, true) => 1 << rest,
                _ => return None,
            })
        };
        compared().is_some_and(|lanes| lanes & mask == 0 || lanes & mask == mask)
    }

    /// Whether what all lanes of a mask compute is the same in each warp: they differ in no part of it, but for bits that
    /// are shifted out.
    fn is_alike_for(&self, engine: &Engine<'_, '_>, mask: u32, sum: &Sum, depth: usize) -> bool {
        let forms = engine.values.forms();
        let is_uniform = |base| self.is_same_base(forms, base);
        let Some(deeper) = depth.checked_sub(1) else { return false };
        let is_alike = |form: &Form| self.is_alike_for(engine, mask, forms.sum(*form), deeper);
        sum.terms().all(|(base, _)| match forms.what(base) {
            Base::Lane => mask.is_power_of_two(),
            Base::Warp | Base::Rows(..) => true,
            Base::Special(register) => super::vary::of_special(register).lanes == 0,
            Base::Operation { computes, detail, operands } => {
                let is_shift = computes == Computation::ShiftRight && operands[1] == Form::NONE;
                is_uniform(base)
                    || operands.iter().filter(|form| **form != Form::NONE).all(is_alike)
                    || is_shift
                        && detail >> 8 & 1 == 0
                        && is_alike_above(engine, mask, forms.sum(operands[0]), detail >> 16)
            }
            _ => is_uniform(base),
        })
    }

    /// Who is told apart by a condition.
    fn seen_in(&self, engine: &Engine<'_, '_>, passed: &Passed) -> Option<Level> {
        let made = match engine.graph.kind(passed.predicate) {
            Kind::Computed { instruction, .. } | Kind::Guarded { instruction, .. } => {
                engine.facts().cfg.block_of(Handle::new(instruction))
            }
            Kind::Joined { block } => block,
            _ => passed.block,
        };
        let left = self.control.between(made, passed.block).and_then(super::Vary::level);
        self.of(passed.predicate).level().max(left)
    }
}

/// The conditions that hold where control has come to an instruction, the last first; those that already held at the end
/// of a block are left out.
fn conditions(
    engine: &Engine<'_, '_>,
    instruction: u32,
    block: NodeIndex,
    before: Option<NodeIndex>,
) -> Vec<Passed> {
    let (facts, graph) = (engine.facts(), engine.graph);
    let mut found = Vec::new();
    if let (Some(predicate), Some(condition)) = (graph.guard(instruction), facts.condition(instruction)) {
        found.push(Passed { predicate, value: condition.value, block, cause: Cause::Guard });
    }
    let mut at = Some(block);
    for _ in 0..MAX_DOMINATORS {
        let Some(inside) = at.filter(|&inside| Some(inside) != before) else { break };
        let mut taken = (0..graph.predecessor_count(inside))
            .filter(|&position| engine.values.is_taken(graph, inside, position));
        if let (Some(only), None) = (taken.next(), taken.next())
            && let Some(condition) = graph.condition(inside, only)
            && let Some((from, _)) = graph.predecessors(inside).nth(only)
            && let Some(branch) = facts.cfg.instructions(from).last()
            && let Some(predicate) = graph.guard(branch)
        {
            let cause = Cause::Branch(branch);
            found.push(Passed { predicate, value: condition.value, block: from, cause });
        }
        at = facts.cfg.immediate_dominator(inside);
    }
    found
}

/// Whether a sum is the same for all lanes of a mask in the bits from one on: it has the lane once, and the rest is a
/// multiple of the size of a warp.
fn is_alike_above(engine: &Engine<'_, '_>, mask: u32, sum: &Sum, from: u64) -> bool {
    let Some(lane) = engine.values.forms().find(Base::Lane) else { return false };
    let (others, lanes): (Vec<_>, Vec<_>) = sum.terms().partition(|(base, _)| *base != lane);
    let is_same =
        |(base, _): &(_, _)| matches!(engine.values.forms().what(*base), Base::Warp | Base::Rows(..));
    let rest = sum.plus(&Sum::of(sum.width(), lane), u64::MAX);
    lanes.iter().all(|(_, factor)| *factor == 1)
        && others.iter().all(is_same)
        && rest.is_some_and(|rest| engine.number_of(&rest).zeros.trailing_ones() >= LANES.ilog2())
        && mask != 0
        && mask.ilog2().checked_shr(from as u32) == mask.trailing_zeros().checked_shr(from as u32)
}

/// The lanes that a mask names.
enum Named {
    /// These.
    These(u32),
    /// Those for which all of these predicates hold.
    Where(Vec<Sum>),
}

/// Predicates that all hold where one has a value.
pub(super) fn conjuncts(engine: &Engine<'_, '_>, predicate: Form, value: bool) -> Vec<Sum> {
    let forms = engine.values.forms();
    let opposite = Sum::constant(1, u64::from(!value));
    let mut open: Vec<Sum> = forms.sum(predicate).plus(&opposite, 1).into_iter().collect();
    let mut found = Vec::new();
    while let Some(sum) = open.pop() {
        let mut terms = sum.terms();
        match (terms.next().map(|(base, _)| forms.what(base)), terms.next(), sum.offset()) {
            (Some(Base::Operation { computes: Computation::And, operands: [a, b, _], .. }), None, 0)
                if found.len() + open.len() < MAX_CONJUNCTS =>
            {
                open.extend([*forms.sum(a), *forms.sum(b)]);
            }
            _ => found.push(sum),
        }
    }
    found
}

/// Whether two predicates are the same because one block joins the same numbers for both, or the opposite ones for what is
/// the opposite.
fn are_chosen_alike(engine: &Engine<'_, '_>, one: &Sum, other: &Sum) -> bool {
    let (graph, forms) = (engine.graph(), engine.values.forms());
    let joined = |sum: &Sum| {
        let mut terms = sum.terms();
        let (Some((base, 1)), None) = (terms.next(), terms.next()) else { return None };
        let Base::Value(value) = forms.what(base) else { return None };
        match graph.kind(value) {
            Kind::Joined { block } => Some((block, graph.inputs(value), sum.offset())),
            _ => None,
        }
    };
    let (Some(one), Some(other)) = (joined(one), joined(other)) else { return false };
    let number = |value: &ValueId| engine.values.of(*value).and_then(|fact| fact.number.value());
    one.0 == other.0
        && one.1.len() == other.1.len()
        && one.1.iter().zip(other.1).all(|(a, b)| match (number(a), number(b)) {
            (Some(a), Some(b)) => (a ^ one.2) & 1 == (b ^ other.2) & 1,
            _ => false,
        })
}

/// Whether a predicate holds for all lanes of a mask.
fn holds_for(engine: &Engine<'_, '_>, mask: u32, literal: &Sum) -> bool {
    let mut named = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
    named.all(|lane| {
        let mut assumption = Assumption::new(engine);
        assumption.lane_is(lane);
        assumption.holds(literal) == Some(true)
    })
}
