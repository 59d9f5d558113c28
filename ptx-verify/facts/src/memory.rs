//! What a function does with memory: its accesses with what is known of their addresses, and its address conversions.
//!
//! Addresses are followed only in functions in which something can be known of one, and of the values only those that
//! addresses are computed of.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Instance, OperandSpec};
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashSet;

use super::access::Found;
pub use super::access::{Access, Conversion};
use super::plain::is_plain;
use super::values::linear::Sum;
use super::values::pointer::{Object, Pointer, Pointers};
use super::values::{Engine, Graph, Kind, Slice, ValueId, Values, space_of};
use crate::FunctionFacts;
use crate::registers::aligned;

/// What a function does with memory, in order of its blocks, as far as control can come there.
#[derive(Clone, Debug, Default)]
pub struct MemoryFacts {
    /// The accesses.
    pub accesses: Vec<Access>,
    /// The address conversions.
    pub conversions: Vec<Conversion>,
}

impl MemoryFacts {
    /// What a function does with memory. `names` tells whether it takes the address of a variable, `bases` whether the
    /// registers of addresses are of interest in any case, `objects` whether it is of interest what addresses point to
    /// though nothing is wrong with them.
    #[must_use]
    pub fn new<'g>(
        facts: &FunctionFacts<'_>,
        graph: impl FnOnce() -> &'g Graph,
        names: bool,
        bases: bool,
        objects: bool,
    ) -> Self {
        let mut memory = Self::default();
        let is_address = |operand: &&Operand| {
            matches!(operand, Operand::RegisterAddress { .. } | Operand::VariableAddress { .. })
        };
        memory.accesses.reserve(facts.body.operands.iter().filter(is_address).count());
        let mut maps = false;
        for block in facts.cfg.graph().node_indices().filter(|&block| facts.cfg.is_reachable(block)) {
            for instruction in facts.cfg.instructions(block) {
                let Some(instance) = facts.instance(instruction) else { continue };
                match instance.effects.computes {
                    Some(Computation::MapRank) => maps = true,
                    Some(Computation::ToGeneric) => memory.add_conversion(facts, instruction, instance, true),
                    Some(Computation::FromGeneric) => {
                        memory.add_conversion(facts, instruction, instance, false);
                    }
                    _ => {}
                }
                if instance.accesses {
                    memory.add_accesses(facts, instruction, instance);
                }
            }
        }
        let promises = facts.function.parameters.iter().map(|&each| &facts.module.variables[each]);
        let is_converted =
            maps || memory.conversions.iter().any(|conversion| conversion.space != StateSpace::Global);
        let all = names
            || is_converted
            || promises.into_iter().any(|parameter| parameter.pointer.is_some())
            || converts_again(facts, &memory.conversions)
            || memory.accesses.iter().any(|access| !access.direct && has_small_space(access));
        let follows = all || memory.accesses.iter().any(Access::stands_out);
        if !follows && !bases {
            memory.follow_named(facts);
            return memory;
        }
        let graph = graph();
        for access in memory.accesses.iter_mut().filter(|access| !access.direct) {
            access.base = read(facts, graph, access.instruction, access.index);
        }
        match follows
            && (objects || is_converted || !is_plain(facts, graph, &memory.accesses, &memory.conversions))
        {
            true => memory.follow(facts, graph, all),
            false => memory.follow_named(facts),
        }
        memory
    }

    fn add_conversion(
        &mut self,
        facts: &FunctionFacts<'_>,
        instruction: u32,
        instance: &Instance,
        to_generic: bool,
    ) {
        if let Some(space) = space_of(instance) {
            let span = facts.body.operand_span(Handle::new(instruction), 1);
            self.conversions.push(Conversion { instruction, span, space, to_generic, source: None });
        }
    }

    fn add_accesses(&mut self, facts: &FunctionFacts<'_>, instruction: u32, instance: &Instance) {
        let operands = facts.body.operands(Handle::new(instruction));
        for (index, &operand) in operands.iter().enumerate() {
            let (distance, direct) = match operand {
                Operand::RegisterAddress { offset, .. } => (i64::from(offset), false),
                Operand::VariableAddress { offset, .. } => (offset, true),
                _ => continue,
            };
            let specs = &instance.operands;
            let is_at_its_place = specs.len() == operands.len()
                || specs.get(..=index).is_some_and(|before| before.iter().all(|spec| !spec.optional));
            let spec = match is_at_its_place {
                true => specs.get(index),
                // Optional operands are left out.
                false => aligned(facts.module, facts.body, instance, operands)[index],
            };
            self.accesses.extend(spec.and_then(|spec| {
                let mut access = access(facts, instruction, instance, (index, spec))?;
                (access.distance, access.direct) = (distance, direct);
                Some(access)
            }));
        }
    }

    /// What is known of addresses that name a variable.
    fn follow_named(&mut self, facts: &FunctionFacts<'_>) {
        if self.accesses.iter().any(|access| access.direct) {
            let graph = Graph::default();
            let mut engine = Engine::again(facts, &graph, Values::default());
            self.ask(&mut engine, |access| access.direct);
        }
    }

    /// Follows addresses: all, or those that are likely to be misaligned.
    fn follow(&mut self, facts: &FunctionFacts<'_>, graph: &Graph, all: bool) {
        let derived = if all { Derived::new(facts, graph) } else { Derived::default() };
        let asked = |access: &Access| {
            access.direct
                || access.stands_out()
                || all && (has_small_space(access) || access.base.is_some_and(|base| derived.has(base)))
        };
        let sources = self.conversions.iter().filter_map(|each| read(facts, graph, each.instruction, 1));
        let roots = self.accesses.iter().filter(|access| asked(access)).filter_map(|access| access.base);
        let slice = Slice::of(facts, graph, roots.chain(sources.filter(|_| all)));
        let mut engine = Engine::again(facts, graph, Values::of_slice(facts, graph, &slice, false));
        self.ask(&mut engine, asked);
        if all {
            let forms: Vec<_> = self
                .conversions
                .iter()
                .map(|conversion| engine.operand(conversion.instruction, 1, 64).map(|fact| fact.form))
                .collect();
            let mut pointers = Pointers::new(&engine);
            for (conversion, form) in self.conversions.iter_mut().zip(forms) {
                conversion.source = form.and_then(|form| pointers.of(form));
            }
        }
    }

    fn ask(&mut self, engine: &mut Engine<'_, '_>, asked: impl Fn(&Access) -> bool) {
        let forms: Vec<_> = self
            .accesses
            .iter_mut()
            .map(|access| {
                let fact = asked(access).then(|| engine.address(access.instruction, access.index))??;
                let mut found = Found {
                    pointer: None,
                    offset: None,
                    span_from_start: None,
                    constant: None,
                    number: fact.number,
                };
                let sum = *engine.sum(fact);
                let start = engine.address_term(&sum);
                let start = start.and_then(|base| sum.plus(&Sum::of(sum.width(), base), u64::MAX));
                if let Some(distance) = start {
                    found.offset = distance.value().map(|value| signed(value, distance.width()));
                    found.span_from_start = Some(engine.number_of(&distance));
                    found.constant = Some(signed(distance.offset(), distance.width()));
                }
                access.found = Some(Box::new(found));
                Some(fact.form)
            })
            .collect();
        let mut pointers = Pointers::new(engine);
        for (access, form) in self.accesses.iter_mut().zip(forms) {
            let Some(found) = &mut access.found else { continue };
            found.pointer = form.and_then(|form| pointers.of(form));
            let is_known = |pointer: Pointer| pointer.object != Object::Unknown;
            if !found.pointer.is_some_and(is_known) {
                (found.offset, found.span_from_start, found.constant) = (None, None, None);
            }
        }
    }
}

/// The values that may be an address of which something is known: all that is computed of the addresses of variables,
/// of conversions, and of pointers whose target promises something.
#[derive(Default)]
struct Derived(Vec<bool>);

impl Derived {
    /// Rounds over a function; where loops need more, all values count.
    const MAX_ROUNDS: usize = 8;

    fn new(facts: &FunctionFacts<'_>, graph: &Graph) -> Self {
        let mut derived = Self(vec![false; graph.len()]);
        let mut blocks = facts.cfg.reverse_postorder();
        for _ in 0..Self::MAX_ROUNDS {
            blocks.iter().for_each(|&block| derived.block(facts, graph, block));
            // What comes before the first one stays as it is.
            let is_late =
                |block: &NodeIndex| graph.joins(*block).iter().any(|&join| derived.is_late(graph, join));
            match blocks.iter().position(is_late) {
                Some(first) => blocks = &blocks[first..],
                None => return derived,
            }
        }
        derived.0.fill(true);
        derived
    }

    fn has(&self, value: ValueId) -> bool {
        self.0.get(value.index()).copied().unwrap_or(true)
    }

    /// Whether a join takes a value that was not known to be one of them when the join was looked at.
    fn is_late(&self, graph: &Graph, join: ValueId) -> bool {
        !self.has(join) && graph.inputs(join).iter().any(|&input| self.has(input))
    }

    fn block(&mut self, facts: &FunctionFacts<'_>, graph: &Graph, block: NodeIndex) {
        for &join in graph.joins(block) {
            self.0[join.index()] |= graph.inputs(join).iter().any(|&input| self.has(input));
        }
        for instruction in facts.cfg.instructions(block) {
            for at in facts.uses().writing(instruction) {
                let Some(value) = graph.written(at) else { continue };
                let after = graph.after(value);
                let is_kept =
                    after != value && matches!(graph.kind(after), Kind::Guarded { old, .. } if self.has(old));
                if self.has(after) || !(is_kept || self.computes(facts, graph, instruction)) {
                    continue;
                }
                self.0[value.index()] |= !is_kept;
                self.0[after.index()] = true;
            }
        }
    }

    fn computes(&self, facts: &FunctionFacts<'_>, graph: &Graph, instruction: u32) -> bool {
        let Some(instance) = facts.instance(instruction) else { return false };
        match instance.effects.computes {
            // Generic addresses of the global state space are the same numbers.
            Some(Computation::ToGeneric | Computation::FromGeneric)
                if space_of(instance) != Some(StateSpace::Global) =>
            {
                return true;
            }
            Some(Computation::MapRank) => return true,
            Some(Computation::Load) => {}
            Some(_) => {
                let mut reads = facts.uses().range(instruction).filter_map(|at| graph.read(at));
                if reads.any(|read| self.has(read)) {
                    return true;
                }
            }
            None => return false,
        }
        let has_address = |operand: &Operand| match *operand {
            Operand::Variable { .. } => true,
            Operand::VariableAddress { variable, .. } => facts.module.variables[variable].pointer.is_some(),
            _ => false,
        };
        facts.body.operands(Handle::new(instruction)).iter().any(has_address)
    }
}

/// Whether an address that is converted may have been converted before, by the order of the text.
fn converts_again(facts: &FunctionFacts<'_>, conversions: &[Conversion]) -> bool {
    let places = || conversions.iter().map(|conversion| conversion.instruction);
    let (Some(first), Some(last)) = (places().min(), places().max()) else { return false };
    let mut converted: FxHashSet<Register> = FxHashSet::default();
    for instruction in first..=last {
        let computation = facts.instance(instruction).and_then(|instance| instance.effects.computes);
        let Some(computation) = computation.filter(|&computation| computation != Computation::Load) else {
            continue;
        };
        let converts = matches!(computation, Computation::ToGeneric | Computation::FromGeneric);
        let uses = || facts.uses().of(instruction).iter();
        let derived = uses().any(|each| each.access().reads() && converted.contains(&each.register));
        if converts && derived {
            return true;
        }
        if converts || derived {
            converted.extend(uses().filter(|each| each.access().writes()).map(|each| each.register));
        }
    }
    false
}

/// The value that an operand reads.
fn read(facts: &FunctionFacts<'_>, graph: &Graph, instruction: u32, index: usize) -> Option<ValueId> {
    let uses = facts.uses();
    uses.range(instruction).find_map(|at| graph.read(at).filter(|_| uses.all()[at].operand() == index))
}

fn signed(value: u64, width: u32) -> i64 {
    let above = 64 - width;
    ((value << above) as i64) >> above
}

/// Whether an access names a state space whose addresses are small numbers.
fn has_small_space(access: &Access) -> bool {
    access.space.is_some_and(|space| space.base() != StateSpace::Global)
}

fn access(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    instance: &Instance,
    (index, spec): (usize, &OperandSpec),
) -> Option<Access> {
    let handle = Handle::new(instruction);
    let operands = facts.body.operands(handle);
    let memory = spec.access?;
    let bytes = match memory.sized {
        Some(name) => named(instance, operands, name),
        None => memory.bytes,
    };
    Some(Access {
        instruction,
        index,
        purpose: spec.purpose,
        span: facts.body.operand_span(handle, index),
        space: memory.space,
        reads: memory.reads,
        writes: memory.writes,
        bytes,
        aligned: if memory.aligned == 0 && bytes.is_power_of_two() { bytes } else { memory.aligned },
        direct: false,
        used: bytes - dropped(facts, operands, memory.bytes),
        base: None,
        distance: 0,
        found: None,
    })
}

/// The value of the operand that an instance calls so; 0 where that is not known. What comes before an optional operand
/// is at its place without it, too.
fn named(instance: &Instance, operands: &[Operand], name: &str) -> u32 {
    let index = instance.operands.iter().position(|spec| spec.name == name);
    match index.and_then(|index| operands.get(index)) {
        Some(Operand::Integer { bits, .. }) => u32::try_from(*bits).unwrap_or(0),
        _ => 0,
    }
}

/// How many bytes at the end of an access of a vector go into `_`.
fn dropped(facts: &FunctionFacts<'_>, operands: &[Operand], bytes: u32) -> u32 {
    let Some(Operand::Vector(run)) = operands.first() else { return 0 };
    let elements = facts.body.children(*run);
    let sinks = elements.iter().rev().take_while(|element| matches!(element, Operand::Sink)).count() as u32;
    bytes.checked_div(elements.len() as u32).map_or(0, |size| size * sinks)
}
