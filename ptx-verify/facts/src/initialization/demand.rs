//! Which bits of values anybody looks at.

use ptx_ir::ir::Handle;

use super::flow::Flow;
use super::observers::{Look, Observers, Read, look, stores};
use crate::FunctionFacts;
use crate::values::{Engine, Graph, Kind, ValueId};

/// A read of a value that is looked at, whatever becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sink {
    /// The instruction.
    pub(super) instruction: u32,
    /// The use that reads it; none for the guard.
    pub(super) at: Option<usize>,
    /// The value.
    pub(super) value: ValueId,
    /// The bits that are looked at.
    pub(super) bits: u64,
    /// Whether nobody need look at all of these bits: the value is stored, or given to what follows.
    pub(super) is_passed_on: bool,
}

/// A read of a register that may have no value, of which some bit is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The instruction.
    pub(super) instruction: u32,
    /// The use that reads it; none for the guard.
    pub(super) at: Option<usize>,
    /// The value.
    pub(super) value: ValueId,
}

/// What anybody looks at of values that may be undefined.
pub(super) struct Demand {
    /// In order of the text.
    pub(super) sinks: Vec<Sink>,
    /// In order of the text.
    pub(super) candidates: Vec<Candidate>,
}

/// Looks at values: as often each, and as many in any function. Beyond that all bits of all values count.
const LOOKS_PER_VALUE: usize = 16;
const MIN_LOOKS: usize = 10_000;

/// Finds what of an instruction's operands is looked at in any case. Instructions from `last` on look at all that they
/// read.
fn sinks(facts: &FunctionFacts<'_>, graph: &Graph, flow: &Flow, last: u32) -> Vec<Sink> {
    let mut sinks = Vec::new();
    let uses = facts.uses();
    for &block in facts.cfg.reverse_postorder() {
        for instruction in facts.cfg.instructions(block) {
            if let Some(value) = graph.guard(instruction).filter(|guard| flow.is_tainted(*guard)) {
                sinks.push(Sink { instruction, at: None, value, bits: 1, is_passed_on: false });
            }
            for at in uses.range(instruction) {
                let Some(value) = graph.read(at).filter(|value| flow.is_tainted(*value)) else { continue };
                let (bits, is_passed_on) = match look(facts, instruction, uses.all()[at]) {
                    Look::At(bits) => {
                        (bits, instruction >= last || stores(facts, instruction, uses.all()[at]))
                    }
                    Look::Through | Look::Exchange if instruction >= last => (u64::MAX, true),
                    Look::Through | Look::Exchange => continue,
                };
                sinks.push(Sink { instruction, at: Some(at), value, bits, is_passed_on });
            }
        }
    }
    sinks.sort_by_key(|sink| (sink.instruction, sink.at));
    sinks
}

impl Demand {
    /// What is looked at; see [`sinks`].
    pub(super) fn new(engine: &mut Engine<'_, '_>, flow: &Flow, last: u32) -> Self {
        let (facts, graph) = (engine.facts(), engine.graph());
        let sinks = sinks(facts, graph, flow, last);
        if sinks.is_empty() {
            return Self { sinks, candidates: Vec::new() };
        }
        let bits = looked_at(engine, flow, &sinks);
        let mut candidates = Vec::new();
        for sink in sinks.iter().filter(|sink| flow.is_unset(sink.value)) {
            candidates.push(Candidate { instruction: sink.instruction, at: sink.at, value: sink.value });
        }
        let uses = facts.uses();
        for instruction in 0..facts.body.instructions.len() as u32 {
            let reads = |at: usize| graph.read(at).is_some_and(|value| flow.is_unset(value));
            if !uses.range(instruction).any(reads)
                || !facts.cfg.is_reachable(facts.cfg.block_of(Handle::new(instruction)))
            {
                continue;
            }
            let mut observers = Observers { engine: &mut *engine };
            observers.for_each_needed(instruction, &bits, |read, _| {
                if let Read::Use(at) = read
                    && let Some(value) = graph.read(at).filter(|value| flow.is_unset(*value))
                {
                    candidates.push(Candidate { instruction, at: Some(at), value });
                }
            });
        }
        candidates.sort_by_key(|candidate| (candidate.instruction, candidate.at));
        candidates.dedup_by_key(|candidate| (candidate.instruction, candidate.at));
        Self { sinks, candidates }
    }
}

/// The bits of each value that are looked at, through all that is computed from it.
fn looked_at(engine: &mut Engine<'_, '_>, flow: &Flow, sinks: &[Sink]) -> Vec<u64> {
    let graph = engine.graph();
    let mut bits = vec![0_u64; graph.len()];
    let mut open: Vec<ValueId> = Vec::new();
    let ask = |bits: &mut Vec<u64>, open: &mut Vec<ValueId>, value: ValueId, more: u64| {
        let known = &mut bits[value.index()];
        if flow.is_tainted(value) && more & !*known != 0 {
            *known |= more;
            open.push(value);
        }
    };
    for sink in sinks {
        ask(&mut bits, &mut open, sink.value, sink.bits);
    }
    let mut left = MIN_LOOKS + LOOKS_PER_VALUE * graph.len();
    while let Some(value) = open.pop() {
        let Some(rest) = left.checked_sub(1) else { return vec![u64::MAX; graph.len()] };
        left = rest;
        let demanded = bits[value.index()];
        match graph.kind(value) {
            Kind::Guarded { instruction, new, old } => {
                let runs = engine.runs(instruction);
                if runs != Some(false) {
                    ask(&mut bits, &mut open, new, demanded);
                }
                if runs != Some(true) {
                    ask(&mut bits, &mut open, old, demanded);
                }
            }
            Kind::Joined { .. } => {
                for &input in graph.inputs(value) {
                    ask(&mut bits, &mut open, input, demanded);
                }
            }
            Kind::Computed { instruction, at } => {
                let mut observers = Observers { engine: &mut *engine };
                observers.needed(instruction, at.map(|at| at as usize), demanded, |read, more| {
                    let value = match read {
                        Read::Use(at) => graph.read(at),
                        Read::Carry => graph.carry(instruction).0,
                    };
                    if let Some(value) = value {
                        ask(&mut bits, &mut open, value, more);
                    }
                });
            }
            Kind::Undefined | Kind::Entry | Kind::Opaque => {}
        }
    }
    bits
}
