//! Where what a register holds before its first write can come to.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Register;
use ptx_ir::types::Type;

use super::Surroundings;
use super::observers::{Look, look};
use crate::FunctionFacts;
use crate::values::{Graph, Kind, ValueId, Variable};

/// The register has it on some path.
const UNSET: u8 = 1;
/// Some of it may be in what was computed.
const COMPUTED: u8 = 2;

/// What may be undefined.
pub(super) struct Flow {
    /// By value.
    marks: Vec<u8>,
    /// By value, whether nothing is followed into it; empty where all is.
    ends: Vec<bool>,
}

/// The joins and guarded writes that take each value.
struct Takers {
    starts: Vec<u32>,
    values: Vec<ValueId>,
}

impl Takers {
    fn new(graph: &Graph) -> Self {
        let mut starts = vec![0_u32; graph.len() + 2];
        let for_each = |visit: &mut dyn FnMut(ValueId, ValueId)| {
            for value in graph.values() {
                match graph.kind(value) {
                    Kind::Guarded { old, .. } => visit(old, value),
                    Kind::Joined { .. } => graph.inputs(value).iter().for_each(|&input| visit(input, value)),
                    _ => {}
                }
            }
        };
        for_each(&mut |taken, _| starts[taken.index() + 2] += 1);
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let count = starts.last().map_or(0, |count| *count as usize);
        let mut values = vec![ValueId::NONE; count];
        for_each(&mut |taken, value| {
            let next = &mut starts[taken.index() + 1];
            values[*next as usize] = value;
            *next += 1;
        });
        Self { starts, values }
    }

    fn of(&self, value: ValueId) -> &[ValueId] {
        &self.values[self.starts[value.index()] as usize..self.starts[value.index() + 1] as usize]
    }
}

impl Flow {
    /// Follows registers without a value to where they are read; none where nothing reads one.
    pub(super) fn new(facts: &FunctionFacts<'_>, graph: &Graph, around: Surroundings<'_>) -> Option<Self> {
        if !graph.has_undefined() {
            return None;
        }
        let mut open: Vec<ValueId> = Vec::new();
        let is_followed = |register: Register| {
            !around.optimized
                || facts.body.register_type(register) == Some(Type::Pred)
                || facts.definitions(register).is_empty()
        };
        for value in graph.values() {
            if graph.kind(value) == Kind::Undefined
                && let Variable::Register(register) = graph.variable(value)
                && !(around.is_set)(register)
                && is_followed(register)
            {
                open.push(value);
            }
        }
        if open.is_empty() {
            return None;
        }
        let mut marks = vec![0; graph.len()];
        open.iter().for_each(|value| marks[value.index()] = UNSET);
        let takers = Takers::new(graph);
        let (origins, before) = (open.clone(), marks.clone());
        let mut flow = Self { marks, ends: Vec::new() };
        flow.spread(&takers, &mut open, UNSET);
        let guards = (0..facts.body.instructions.len() as u32).filter_map(|each| graph.guard(each));
        let reads = (0..facts.uses().all().len()).filter_map(|at| graph.read(at));
        if !guards.chain(reads).any(|value| flow.is_unset(value)) {
            return None;
        }
        if !flow.compute(facts, graph, &takers) {
            return None;
        }
        for _ in 0..if around.optimized { MAX_ENDS } else { 0 } {
            if !flow.end_where_set(facts, graph) {
                break;
            }
            flow.marks.clone_from(&before);
            open.clone_from(&origins);
            flow.spread(&takers, &mut open, UNSET);
            if !flow.compute(facts, graph, &takers) {
                return None;
            }
        }
        Some(flow)
    }

    /// Ends what is followed where a guarded write leaves what is not set, and writes what is: so libraries write loads that
    /// leave a register alone where nobody looks at it. Whether there is such a place.
    fn end_where_set(&mut self, facts: &FunctionFacts<'_>, graph: &Graph) -> bool {
        self.ends.resize(graph.len(), false);
        let mut changed = false;
        for value in graph.values().filter(|value| self.marks[value.index()] != 0) {
            let is_predicate = match graph.variable(value) {
                Variable::Register(register) => facts.body.register_type(register) == Some(Type::Pred),
                Variable::Carry => true,
            };
            let ends = !is_predicate
                && match graph.kind(value) {
                    Kind::Guarded { new, old, .. } => !(self.is_tainted(new) && self.is_tainted(old)),
                    _ => false,
                };
            self.ends[value.index()] |= ends;
            changed |= ends;
        }
        changed
    }

    /// Whether a register may have this value without a write.
    pub(super) fn is_unset(&self, value: ValueId) -> bool {
        self.marks[value.index()] & UNSET != 0
    }

    /// Whether some of its bits may be undefined.
    pub(super) fn is_tainted(&self, value: ValueId) -> bool {
        self.marks[value.index()] != 0
    }

    /// Whether something may have computed them from others.
    pub(super) fn is_computed(&self, value: ValueId) -> bool {
        self.marks[value.index()] & COMPUTED != 0
    }

    fn mark(&mut self, value: ValueId, mark: u8) -> bool {
        if self.ends.get(value.index()) == Some(&true) {
            return false;
        }
        let marks = &mut self.marks[value.index()];
        let is_new = *marks & mark == 0;
        *marks |= mark;
        is_new
    }

    fn spread(&mut self, takers: &Takers, open: &mut Vec<ValueId>, mark: u8) {
        while let Some(value) = open.pop() {
            for &taker in takers.of(value) {
                if self.mark(taker, mark) {
                    open.push(taker);
                }
            }
        }
    }

    /// Follows what is computed from registers without a value; whether that came to an end.
    fn compute(&mut self, facts: &FunctionFacts<'_>, graph: &Graph, takers: &Takers) -> bool {
        let mut open = Vec::new();
        // Each loop takes another round.
        (0..MAX_ROUNDS).any(|_| {
            let mut changed = false;
            for &block in facts.cfg.reverse_postorder() {
                changed |= self.block(facts, graph, block, &mut open);
                self.spread(takers, &mut open, COMPUTED);
            }
            !changed
        })
    }

    fn block(
        &mut self,
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        block: NodeIndex,
        open: &mut Vec<ValueId>,
    ) -> bool {
        let mut changed = false;
        let uses = facts.uses();
        for instruction in facts.cfg.instructions(block) {
            let range = uses.range(instruction);
            let comes = |at: usize| {
                graph.read(at).is_some_and(|value| {
                    self.is_tainted(value)
                        && match look(facts, instruction, uses.all()[at]) {
                            Look::At(_) => false,
                            Look::Through => true,
                            Look::Exchange => is_never_set(facts, graph, value),
                        }
                })
            };
            let (carry, flag) = graph.carry(instruction);
            if !(range.clone().any(comes) || carry.is_some_and(|carry| self.is_tainted(carry))) {
                continue;
            }
            let written = range.filter_map(|at| graph.written(at)).chain(flag);
            for value in written {
                let after = graph.after(value);
                for value in [value, after] {
                    if self.mark(value, COMPUTED) {
                        changed = true;
                        open.push(value);
                    }
                }
            }
        }
        changed
    }
}

/// Computations that are followed back from a value.
const MAX_COMPUTATIONS: usize = 8;

/// Whether no thread has set a value, or something that it is computed of.
pub(super) fn is_never_set(facts: &FunctionFacts<'_>, graph: &Graph, value: ValueId) -> bool {
    any_part(facts, graph, value, |part| Sources::of(graph, part).are_none())
}

/// Whether a value, or something that it is computed of, is as asked.
pub(super) fn any_part(
    facts: &FunctionFacts<'_>,
    graph: &Graph,
    value: ValueId,
    is: impl Fn(ValueId) -> bool,
) -> bool {
    let mut open = vec![value];
    for _ in 0..MAX_COMPUTATIONS {
        let Some(value) = open.pop() else { return false };
        if is(value) {
            return true;
        }
        if let Kind::Computed { instruction, .. } = graph.kind(value) {
            let uses = facts.uses();
            let reads = uses.range(instruction).filter(|&at| {
                uses.all()[at].access().reads() && look(facts, instruction, uses.all()[at]) == Look::Through
            });
            open.extend(reads.filter_map(|at| graph.read(at)));
        }
    }
    false
}

/// Rounds until no more values are marked; where more are needed, nothing is said.
const MAX_ROUNDS: usize = 64;
/// Rounds in which places are found where some is set; what is found later does not end anything.
const MAX_ENDS: usize = 8;
/// Values that are looked at for the writes of a register.
const MAX_LOOKED_AT: usize = 256;

/// What gives a variable the value that it has at a place.
#[derive(Default)]
pub(crate) struct Sources {
    /// The instructions that may have written it, ascending.
    pub(crate) writers: Vec<u32>,
    /// Whether something else may have set it, or not all was looked at.
    pub(crate) others: bool,
}

impl Sources {
    /// What there is on any path, whatever the guards.
    pub(crate) fn of(graph: &Graph, value: ValueId) -> Self {
        let mut sources = Self::default();
        let mut seen = vec![value];
        let mut next = 0;
        while let Some(&value) = seen.get(next) {
            next += 1;
            if seen.len() > MAX_LOOKED_AT {
                sources.others = true;
                break;
            }
            let kind = graph.kind(value);
            let take = |value: ValueId| {
                if !seen.contains(&value) {
                    seen.push(value);
                }
            };
            match kind {
                Kind::Undefined => {}
                Kind::Entry | Kind::Opaque => sources.others = true,
                Kind::Computed { instruction, .. } => sources.writers.push(instruction),
                Kind::Guarded { new, old, .. } => [new, old].into_iter().for_each(take),
                Kind::Joined { .. } => graph.inputs(value).iter().copied().for_each(take),
            }
        }
        sources.writers.sort_unstable();
        sources.writers.dedup();
        sources
    }

    /// Whether nothing has set it on any path.
    pub(crate) fn are_none(&self) -> bool {
        self.writers.is_empty() && !self.others
    }
}
