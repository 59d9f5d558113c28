//! Reads of registers that nothing may have set.
//!
//! Three steps, each for what the one before left, so that functions in which every register is set before it is read cost
//! one look at each read. What a register holds before its first write is followed forward through joins and guarded
//! writes, and through what is computed (`flow`). Backwards, the bits are found that anybody looks at (`demand`). And
//! for what is looked at, the paths are walked on which it can be so (`paths`).

mod demand;
mod flow;
mod observers;

use ptx_ir::ir::{Operand, Register};
use rustc_hash::{FxHashMap, FxHashSet};

use super::paths::{Follow, Reaching, Search, Tracked, Undefined};
use super::values::number::mask;
use super::values::{Engine, Graph, Slice, ValueId, Values, Variable};
use crate::FunctionFacts;
use demand::{Candidate, Demand, Sink};
pub(crate) use flow::Sources;
use flow::{Flow, any_part, is_never_set};
use observers::{Look, Observers, Read, look};

/// A read that may see a register that was never set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unset {
    /// The register.
    pub register: Register,
    /// The instruction that reads it.
    pub instruction: u32,
    /// The operand that reads it; none for the guard.
    pub operand: Option<usize>,
    /// Whether no write can reach the read, whatever path is taken, and somebody looks at what it sees.
    pub certain: bool,
    /// Whether a list names it that only packs it into something wider which is stored, or given to what follows, and the
    /// rest of that is set; or the list is what is stored.
    pub partly: bool,
    /// What the read may see.
    pub reaching: Reaching,
}

/// What a function is given, and what is looked at after it.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Whether a register is set when the function is entered.
    pub is_set: &'a dyn Fn(Register) -> bool,
    /// From this instruction on, all that is read is looked at.
    pub last: u32,
    /// Whether an optimizer has printed the function. It leaves registers unset on paths on which the program has no value
    /// for them or does not need it, and moves reads in front of the branches that guard them, so that such a path tells
    /// nothing. Then only predicates are followed, and registers that nothing writes.
    pub optimized: bool,
}

/// The registers that a function finds set at its entry.
pub fn entry_registers(facts: &FunctionFacts<'_>) -> impl Fn(Register) -> bool + use<> {
    let (returns, all) = (facts.return_registers(), facts.entry_registers());
    move |register| register.0 >= returns && register.0 < all
}

/// Finds reads of unset registers, in order of the text: for each register the first that is certain, or else the first.
/// What is known of the values is found where it is asked for.
#[must_use]
pub fn unset_reads(
    facts: &FunctionFacts<'_>,
    graph: &Graph,
    values: &mut Option<Values>,
    around: Surroundings<'_>,
) -> Vec<Unset> {
    let Some(flow) = Flow::new(facts, graph, around) else { return Vec::new() };
    // Where nothing is known of the values, more is looked at: mostly nothing even so.
    let mut unknowing = Engine::again(facts, graph, Values::default());
    if Demand::new(&mut unknowing, &flow, around.last).candidates.is_empty() {
        return Vec::new();
    }
    let of_all = values.take();
    let is_of_all = of_all.is_some();
    let known =
        of_all.unwrap_or_else(|| Values::of_slice(facts, graph, &deciding(facts, graph, &flow), false));
    let mut engine = Engine::again(facts, graph, known);
    let demand = Demand::new(&mut engine, &flow, around.last);
    let mut analysis = Analysis { facts, graph, found: FxHashMap::default() };
    if !demand.candidates.is_empty() {
        let mut search = Search::of(engine);
        analysis.search(&mut search, &flow, &demand, around);
        engine = search.engine;
    }
    *values = is_of_all.then(|| engine.into_values());
    let mut found: Vec<Unset> = analysis.found.into_values().collect();
    found.sort_by_key(|unset| (unset.instruction, unset.operand, unset.register));
    found
}

/// The values by which it is known where control goes, and which bits are looked at of what may be undefined.
fn deciding(facts: &FunctionFacts<'_>, graph: &Graph, flow: &Flow) -> Slice {
    let mut roots: Vec<_> = graph.deciders(facts).collect();
    for instruction in 0..facts.body.instructions.len() as u32 {
        let reads = || facts.uses().range(instruction).filter_map(|at| graph.read(at));
        let flag = graph.carry(instruction).0;
        if reads().chain(flag).any(|value| flow.is_tainted(value)) {
            roots.extend(reads());
        }
    }
    Slice::of(facts, graph, roots)
}

/// Follows values that may be undefined.
struct Through<'a> {
    flow: &'a Flow,
    around: Surroundings<'a>,
    graph: &'a Graph,
    /// The registers of which a read was found.
    found: FxHashSet<Register>,
    /// Whether something was met that is set.
    meets_set: bool,
}

impl Follow for Through<'_> {
    fn operands(
        &mut self,
        engine: &mut Engine<'_, '_>,
        instruction: u32,
        at: Option<usize>,
        bits: u64,
        visit: &mut dyn FnMut(Option<usize>, ValueId, u64),
    ) {
        let graph = engine.graph();
        Observers { engine }.needed(instruction, at, bits, |read, bits| {
            let (at, value) = match read {
                Read::Use(at) => (Some(at), graph.read(at)),
                Read::Carry => (None, graph.carry(instruction).0),
            };
            match value {
                Some(value) if self.flow.is_tainted(value) => visit(at, value, bits),
                Some(_) => self.meets_set = true,
                None => {}
            }
        });
    }

    fn is_settled(&self, value: ValueId) -> bool {
        let is_found = || match self.graph.variable(value) {
            Variable::Register(register) => self.found.contains(&register),
            Variable::Carry => false,
        };
        !self.flow.is_tainted(value) || !self.flow.is_computed(value) && is_found()
    }

    fn is_set(&self, register: Register) -> bool {
        (self.around.is_set)(register)
    }

    fn wants_writers(&self) -> bool {
        false
    }
}

struct Analysis<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: &'f Graph,
    found: FxHashMap<Register, Unset>,
}

impl<'f, 'm> Analysis<'f, 'm> {
    /// Asks of what is looked at whether it may be undefined.
    fn search(
        &mut self,
        search: &mut Search<'f, 'm>,
        flow: &Flow,
        demand: &Demand,
        around: Surroundings<'_>,
    ) {
        let mut follow =
            Through { flow, around, graph: self.graph, found: FxHashSet::default(), meets_set: false };
        search.begin();
        let mut candidates: FxHashMap<ValueId, Vec<&Candidate>> = FxHashMap::default();
        for candidate in &demand.candidates {
            candidates.entry(candidate.value).or_default().push(candidate);
        }
        for sink in &demand.sinks {
            let tracked = Tracked::Value(sink.value);
            search.walk((sink.instruction, sink.at), tracked, sink.bits, &[], &mut follow);
            let all = std::mem::take(&mut search.found);
            let partly = !all.is_empty()
                && (is_partly_set(search, flow, sink, &mut follow) || self.is_beside_set(flow, sink));
            for found in all {
                let Err(undefined) = found.what else { continue };
                let value = match found.read {
                    (_, Some(at)) => self.graph.read(at),
                    (instruction, None) => self.graph.guard(instruction),
                };
                let Some(value) = value.filter(|value| flow.is_unset(*value)) else { continue };
                let Variable::Register(register) = self.graph.variable(value) else { continue };
                let partly = partly && self.is_of_list(found.read);
                // Something else may look at all of it: that is worse.
                if !partly && !follow.found.insert(register) {
                    continue;
                }
                match self.found.get_mut(&register) {
                    Some(known) => known.partly &= partly,
                    None => {
                        let of_value = candidates.get(&value).map_or(&[][..], Vec::as_slice);
                        let read = self.first_like(of_value, found.read);
                        let certain = Sources::of(self.graph, value).are_none();
                        self.note(read, value, register, partly, certain, undefined);
                    }
                }
            }
        }
        if search.gave_up {
            self.take_for_granted(search, flow, demand, around);
        }
    }

    /// Whether a register is read as one of a list, which has to name something in each place.
    fn is_of_list(&self, (instruction, at): super::paths::Read) -> bool {
        let operands = self.facts.body.operands(FunctionFacts::handle(instruction));
        let operand = at.and_then(|at| operands.get(self.facts.uses().all()[at].operand()));
        matches!(operand, Some(Operand::Vector(_)))
    }

    /// Whether what a list passes on is never set, and something else in it is on all paths.
    fn is_beside_set(&self, flow: &Flow, sink: &Sink) -> bool {
        let (Some(at), true) = (sink.at, sink.is_passed_on) else { return false };
        let uses = self.facts.uses();
        let operand = uses.all()[at].operand();
        let handle = FunctionFacts::handle(sink.instruction);
        let Some(Operand::Vector(run)) = self.facts.body.operands(handle).get(operand) else { return false };
        let is_other = |each: &Operand| !matches!(each, Operand::Register { .. } | Operand::Sink);
        let is_set = |other: usize| {
            uses.all()[other].operand() == operand
                && self.graph.read(other).is_some_and(|value| {
                    any_part(self.facts, self.graph, value, |part| !flow.is_tainted(part))
                })
        };
        is_never_set(self.facts, self.graph, sink.value)
            && (self.facts.body.children(*run).iter().any(is_other)
                || uses.range(sink.instruction).any(is_set))
    }

    /// Of reads of one value, the first that every path to one of them leads through.
    fn first_like(&self, candidates: &[&Candidate], read: super::paths::Read) -> super::paths::Read {
        let block = |instruction| self.facts.cfg.block_of(FunctionFacts::handle(instruction));
        let here = block(read.0);
        let before = |candidate: &&&Candidate| {
            let there = block(candidate.instruction);
            !self.facts.is_guarded(candidate.instruction)
                && if there == here {
                    candidate.instruction < read.0
                } else {
                    self.facts.cfg.dominates(there, here)
                }
        };
        let first = candidates.iter().find(before);
        first.map_or(read, |first| (first.instruction, first.at))
    }

    fn note(
        &mut self,
        read: super::paths::Read,
        value: ValueId,
        register: Register,
        partly: bool,
        certain: bool,
        undefined: Undefined,
    ) {
        let sources = Sources::of(self.graph, value);
        let (instruction, at) = read;
        let operand = at.map(|at| self.facts.uses().all()[at].operand());
        let reaching = Reaching { writers: sources.writers, undefined: Some(undefined), unknown: false };
        self.found.insert(register, Unset { register, instruction, operand, certain, partly, reaching });
    }

    /// Where paths could not all be followed, what no path sets is unset all the same. Who looks at what is computed from
    /// it is not known then, so that only what looks at the register itself is certain. An optimizer computes from such
    /// registers on purpose, and what is not certain tells nothing there.
    fn take_for_granted(
        &mut self,
        search: &mut Search<'f, 'm>,
        flow: &Flow,
        demand: &Demand,
        around: Surroundings<'_>,
    ) {
        let uses = self.facts.uses();
        for candidate in &demand.candidates {
            let Variable::Register(register) = self.graph.variable(candidate.value) else { continue };
            let read = (candidate.instruction, candidate.at);
            if self.found.contains_key(&register)
                || !Sources::of(self.graph, candidate.value).are_none()
                || !search.can_matter(read)
            {
                continue;
            }
            let looks =
                |at: usize| matches!(look(self.facts, candidate.instruction, uses.all()[at]), Look::At(_));
            let certain = candidate.at.is_none_or(looks);
            if !certain && around.optimized {
                continue;
            }
            let sink = demand.sinks.iter().find(|sink| (sink.instruction, sink.at) == read);
            let partly = sink.is_some_and(|sink| self.is_beside_set(flow, sink));
            let undefined = Undefined { origin: super::paths::Origin::Entry, path: Vec::new() };
            self.note(read, candidate.value, register, partly, certain, undefined);
        }
    }
}

/// Whether some byte of what is passed on is set on all paths; where these could not all be followed, whether it is made of
/// something that is.
fn is_partly_set(search: &mut Search<'_, '_>, flow: &Flow, sink: &Sink, follow: &mut Through<'_>) -> bool {
    const BYTE: u32 = 8;
    if !sink.is_passed_on || flow.is_unset(sink.value) {
        return false;
    }
    let (facts, graph, gave_up) = (search.engine.facts(), search.engine.graph(), search.gave_up);
    let mut is_followed = true;
    let is_set = (0..u64::BITS / BYTE).any(|byte| {
        search.begin();
        follow.meets_set = false;
        let bits = sink.bits & mask(BYTE) << (byte * BYTE);
        search.walk((sink.instruction, sink.at), Tracked::Value(sink.value), bits, &[], follow);
        // Zeros that an extension puts in front come from nowhere.
        is_followed &= !search.gave_up;
        follow.meets_set && search.found.is_empty() && !search.gave_up
    });
    search.begin();
    search.gave_up = gave_up;
    is_set || !is_followed && any_part(facts, graph, sink.value, |part| !flow.is_tainted(part))
}
