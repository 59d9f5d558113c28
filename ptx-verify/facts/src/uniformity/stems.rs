//! Which bits are left of a value where others are set or taken away.
//!
//! Kernels keep flags in the bits of one register, and some threads set one of them. Threads that a branch has parted then
//! join a value and what it was before, which agree in all other bits.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::Computation;
use rustc_hash::FxHashMap;

use super::Analysis;
use crate::values::number::mask;
use crate::values::{Kind, ValueId};

/// Values that one value may be compared with.
const MAX_STEMS: usize = 16;
/// Values that are looked at for one, and how many lie between.
const MAX_VISITS: usize = 96;
const MAX_DEPTH: usize = 24;

/// Values that one has been made of, the value itself among them, and the bits in which each may differ from it.
pub(super) type Stems = Vec<(ValueId, u64)>;

/// A look at what a value is made of.
struct Look {
    left: usize,
    /// The values on the way.
    open: Vec<ValueId>,
}

impl Analysis<'_, '_> {
    /// The bits in which values may differ, of which a thread has the one or the other: those that were changed since they
    /// were the same value.
    pub(super) fn changed(&mut self, values: &[ValueId]) -> u64 {
        let stems: Vec<Stems> = values.iter().map(|value| self.stems(*value)).collect();
        let common = in_common(stems.iter().map(|stems| &stems[..]));
        common.iter().fold(u64::MAX, |bits, (_, changed)| bits & changed)
    }

    /// The bits in which a value may differ from turn to turn of the loops that threads have left before they came to a
    /// block: those in which it differs from what was there before these loops.
    pub(super) fn changed_by_turns(&self, value: ValueId, block: NodeIndex) -> u64 {
        let stems = self.stems.get(&value).map_or(&[][..], |stems| stems);
        let before =
            stems.iter().filter(|(stem, _)| *stem != value && self.left_between(*stem, block).is_none());
        before.fold(u64::MAX, |bits, (_, changed)| bits & changed)
    }

    /// Whether bits may have been set or taken away in what is joined, and nothing else was done: counters and addresses,
    /// which most loops have, are no such thing.
    pub(super) fn may_keep_bits(&self, join: ValueId) -> bool {
        let (facts, graph) = (self.engine.facts, self.engine.graph);
        self.engine.width(join) > 1
            && graph.inputs(join).iter().any(|input| match graph.kind(*input) {
                Kind::Computed { instruction, .. } => {
                    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
                    matches!(
                        computes,
                        Some(Computation::And | Computation::Or | Computation::Xor | Computation::Select)
                    )
                }
                Kind::Guarded { .. } | Kind::Joined { .. } => true,
                Kind::Undefined | Kind::Entry | Kind::Opaque => false,
            })
    }

    /// What a value has been made of.
    pub(super) fn stems(&mut self, value: ValueId) -> Stems {
        if let Some(known) = self.stems.get(&value) {
            return known.clone();
        }
        let found = self.stems_by(value, &mut Look { left: MAX_VISITS, open: Vec::new() });
        self.stems.insert(value, found.clone());
        found
    }

    fn stems_by(&mut self, value: ValueId, look: &mut Look) -> Stems {
        let mut found = vec![(value, 0)];
        if look.left == 0 || look.open.len() >= MAX_DEPTH || look.open.contains(&value) {
            return found;
        }
        if let Some(known) = self.stems.get(&value) {
            return known.clone();
        }
        look.left -= 1;
        look.open.push(value);
        let graph = self.engine.graph;
        let ways = match graph.kind(value) {
            Kind::Computed { instruction, at: Some(_) } => self.stems_of_result(value, instruction, look),
            Kind::Guarded { new, old, .. } => self.stems_of_choice(value, &[new, old], look),
            Kind::Joined { block } => {
                let is_taken = |position: &usize| {
                    *position >= graph.predecessor_count(block)
                        || self.engine.values.is_taken(graph, block, *position)
                };
                let inputs = graph.inputs(value).iter().enumerate();
                let inputs: Vec<ValueId> =
                    inputs.filter(|(position, _)| is_taken(position)).map(|(_, input)| *input).collect();
                self.stems_of_choice(value, &inputs, look)
            }
            _ => Stems::new(),
        };
        look.open.pop();
        for (stem, changed) in ways {
            match found.iter().position(|(known, _)| *known == stem) {
                Some(known) => found[known].1 &= changed,
                None if found.len() < MAX_STEMS => found.push((stem, changed)),
                None => {}
            }
        }
        found
    }

    /// What all of some values are made of, of which `value` is one. A loop brings back what it has itself made of it.
    fn stems_of_choice(&mut self, value: ValueId, inputs: &[ValueId], look: &mut Look) -> Stems {
        let graph = self.engine.graph;
        let mut own = 0;
        let mut each = Vec::with_capacity(inputs.len());
        for &input in inputs.iter().filter(|input| !matches!(graph.kind(**input), Kind::Undefined)) {
            let stems = self.stems_by(input, look);
            match stems.iter().find(|(stem, _)| *stem == value) {
                Some((_, changed)) => own |= changed,
                None => each.push(stems),
            }
        }
        let mut common = in_common(each.iter().map(|stems| &stems[..]));
        common.iter_mut().for_each(|(_, changed)| *changed |= own);
        common
    }

    /// What the result of an instruction is made of: operands in which it sets some bits and leaves the others.
    fn stems_of_result(&mut self, value: ValueId, instruction: u32, look: &mut Look) -> Stems {
        let width = self.engine.width(value);
        let Some(instance) = self.engine.facts.instance(instruction) else { return Stems::new() };
        let Some(computes) = instance.effects.computes else { return Stems::new() };
        if instance.ty.is_none_or(|ty| ty.bits() != width) {
            return Stems::new();
        }
        let pairs: &[(usize, usize)] = match computes {
            Computation::Move => &[(1, 0)],
            Computation::And | Computation::Or | Computation::Xor | Computation::Add => &[(1, 2), (2, 1)],
            Computation::Subtract => &[(1, 2)],
            Computation::Select => {
                let inputs = [1, 2].map(|index| self.register_read(instruction, index));
                let [Some(one), Some(other)] = inputs else { return Stems::new() };
                return self.stems_of_choice(value, &[one, other], look);
            }
            _ => return Stems::new(),
        };
        let mut found = Stems::new();
        for &(from, with) in pairs {
            let Some(operand) = self.register_read(instruction, from) else { continue };
            if self.engine.width(operand) != width {
                continue;
            }
            let number = self.engine.operand(instruction, with, width).map(|fact| fact.number);
            let (zeros, ones) = number.map_or((0, 0), |number| (number.zeros, number.ones));
            let may_be_set = !zeros & mask(width);
            let changed = match computes {
                Computation::Move => 0,
                Computation::And => !ones & mask(width),
                Computation::Or | Computation::Xor => may_be_set,
                // Carries go upwards.
                _ if may_be_set == 0 => 0,
                _ => mask(width) & !mask(may_be_set.trailing_zeros()),
            };
            if changed == mask(width) {
                continue;
            }
            found.extend(
                self.stems_by(operand, look).into_iter().map(|(stem, before)| (stem, before | changed)),
            );
        }
        found
    }

    /// The value that an operand is, if that is a register and nothing else.
    fn register_read(&self, instruction: u32, index: usize) -> Option<ValueId> {
        let facts = self.engine.facts;
        let operand = facts.body.operands(Handle::new(instruction)).get(index)?;
        matches!(operand, Operand::Register { .. }).then_some(())?;
        facts.uses().range(instruction).find_map(|at| {
            let each = facts.uses().all()[at];
            self.engine.graph.read(at).filter(|_| each.operand() == index && each.access().reads())
        })
    }
}

/// What is in all lists, with all bits that differ.
fn in_common<'s>(lists: impl Iterator<Item = &'s [(ValueId, u64)]>) -> Stems {
    let mut common: Option<FxHashMap<ValueId, u64>> = None;
    for list in lists {
        let of_list: FxHashMap<ValueId, u64> = list.iter().copied().collect();
        common = Some(match common {
            None => of_list,
            Some(known) => {
                let both = |(stem, changed): (ValueId, u64)| Some((stem, changed | of_list.get(&stem)?));
                known.into_iter().filter_map(both).collect()
            }
        });
    }
    let mut common: Stems = common.unwrap_or_default().into_iter().collect();
    common.sort_unstable();
    common
}
