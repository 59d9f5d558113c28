//! Which values differ between the threads of a block or of a warp, and which code only some of them run.
//!
//! A value is followed by its bits: which of them may differ between the lanes of a warp, and which between warps. That
//! comes from special registers, goes through data, and, where values join behind a branch that threads take differently,
//! through control (Rosemann, Moll, Hack: *An abstract interpretation for SPMD divergence on reducible control flow
//! graphs*, 2021): blocks that several disjoint paths from such a branch lead to join what its threads have; what a loop
//! sets whose turns differ in number differs for those that are outside.
//!
//! Blocks and their rows are taken to be whole warps, a block that a launch cuts into groups to be one, and memory at one address to hold the same for all.

mod compare;
pub(crate) mod control;
mod demand;
mod exchange;
mod made;
mod masks;
mod meeting;
mod reads;
mod region;
mod stems;
mod trial;
mod vary;

use std::cell::RefCell;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{Control as Flow, Convergence};
use rustc_hash::{FxHashMap, FxHashSet};

pub use meeting::{Level, needed_on_every_path};
pub(crate) use meeting::{came_from, only_condition};
pub use vary::Vary;

use made::{Made, Zeros};

use super::values::linear::{BaseId, Sum};
use super::values::number::{Number, mask};
use super::values::{Either, Engine, FLAG, Graph, Kind, Slice, ValueId, Values, Variable};
use crate::FunctionFacts;
use control::Control;
use demand::{Demand, Look};
use reads::Reads;
use stems::Stems;
use trial::Trials;

/// Why not all threads come to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Its own guard.
    Guard,
    /// A branch, at this instruction.
    Branch(u32),
    /// It is the other way round: all lanes come, and its mask names those only for which a predicate holds that this
    /// instruction has asked.
    Mask(u32),
    /// The mask is a number, and lanes part at this branch so that others may come than it names.
    Parting(u32),
}

/// An instruction that threads have to reach together, and not all of them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergent {
    /// The instruction.
    pub instruction: u32,
    /// Why.
    pub cause: Cause,
    /// Whether the threads of one warp differ, or only warps.
    pub level: Level,
}

/// How the values and the control of a function differ between threads.
#[derive(Clone, Debug, Default)]
pub struct Uniformity {
    vary: Vec<Vary>,
    control: Control,
    /// Whether it was found; else nothing is known.
    known: bool,
    divergent: Vec<Divergent>,
    /// What is known by branches on the way only: comparisons, and what is 0 there.
    by_branches: Made,
}

/// Rounds of data and control until nothing changes; more are not made.
const MAX_ROUNDS: usize = 12;

impl Uniformity {
    /// Follows how values vary. Nothing is known where that would take too long.
    #[must_use]
    pub fn new(facts: &FunctionFacts<'_>, graph: &Graph, values: Values) -> Self {
        Self::of_slice(facts, graph, values, None, None)
    }

    /// The same of those values only that decide where control goes, and who meets there. Where a value is one of two
    /// numbers, threads part only if they do with one of these.
    #[must_use]
    pub fn of_control(facts: &FunctionFacts<'_>, graph: &Graph, either: Option<Either>) -> Self {
        let mut roots = deciding(facts, graph);
        roots.extend((0..facts.body.instructions.len() as u32).filter_map(|each| graph.guard(each)));
        let slice = Slice::of_all_reads(facts, graph, roots);
        let values = Values::of_slice(facts, graph, &slice, true);
        let mut uniformity = Self::of_slice(facts, graph, values, Some(&slice), None);
        if let Some(either) = either.filter(|_| !uniformity.divergent.is_empty()) {
            let with = |number: u64| {
                let values = Values::where_is(facts, graph, Some(&slice), true, (either.value, number));
                Self::of_slice(facts, graph, values, Some(&slice), None).divergent
            };
            let found: Vec<u32> =
                either.numbers.into_iter().flat_map(with).map(|divergent| divergent.instruction).collect();
            uniformity.divergent.retain(|divergent| found.contains(&divergent.instruction));
        }
        if !uniformity.divergent.is_empty() {
            let values = Values::of_slice(facts, graph, &slice, true);
            if let Some(row) = Engine::again(facts, graph, values).row_of_loops() {
                let values = Values::of_rows(facts, graph, &slice, row);
                let found = Self::of_slice(facts, graph, values, Some(&slice), None).divergent;
                let is_found =
                    |each: &Divergent| found.iter().any(|other| other.instruction == each.instruction);
                uniformity.divergent.retain(is_found);
            }
        }
        uniformity
    }

    /// Whether some threads only may come to an instruction that threads have to come to together: where that is not so,
    /// there is nothing to find. `needs` tells whether there is such an instruction in the function that a call goes to. The
    /// graph is made when it is needed.
    #[must_use]
    pub fn may_part<'g>(
        facts: &FunctionFacts<'_>,
        needs: impl Fn(u32) -> bool,
        graph: impl Fn() -> &'g Graph,
    ) -> bool {
        let demand = match Demand::look(facts, &needs, &graph) {
            Look::Together => return false,
            Look::Unknown => return true,
            Look::Demands(demand) => demand,
        };
        // What is not demanded counts as different, so that all that may be found is.
        let graph = graph();
        let values = Values::of_slice(facts, graph, &demand.slice, true);
        let found = Self::of_slice(facts, graph, values, Some(&demand.slice), Some(&demand.forks));
        let parts_at = |call: u32| {
            facts.is_call(call)
                && needs(call)
                && facts.cfg.is_reachable(facts.cfg.block_of(Handle::new(call)))
                && found.cause(facts, graph, call, Level::Warps).is_some()
        };
        !found.known || !found.divergent.is_empty() || (0..facts.body.instructions.len() as u32).any(parts_at)
    }

    fn of_slice(
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        values: Values,
        slice: Option<&Slice>,
        forks: Option<&[bool]>,
    ) -> Self {
        // Of what is not followed, nothing is known.
        let of_nothing = |value: ValueId| match slice.is_none_or(|slice| slice.has(value)) {
            true => Vary::NONE,
            false => Vary::all(u64::MAX),
        };
        let mut analysis = Analysis {
            slice,
            forks,
            engine: Engine::again(facts, graph, values),
            vary: graph.values().map(of_nothing).collect(),
            control: Control::new(facts),
            trials: Trials::default(),
            stems: FxHashMap::default(),
            by_branches: FxHashSet::default(),
            is_by_branches: false,
            zeros: RefCell::default(),
            numbers: FxHashMap::default(),
            reads: Reads::new(graph.values().len(), facts.cfg.block_count()),
            by_branches_before: 0,
        };
        let known = (0..MAX_ROUNDS).any(|_| {
            while analysis.data() {}
            let before = analysis.control.shape();
            let changed = analysis.branches();
            let Analysis { control, reads, .. } = &mut analysis;
            control.differences(&before, |block| reads.block_changed(block));
            match changed {
                None => false,
                Some(changed) => !changed,
            }
        });
        let made = analysis.made_by_branches();
        let Analysis { mut engine, vary, control, .. } = analysis;
        let mut uniformity = Self { vary, control, known, divergent: Vec::new(), by_branches: made };
        uniformity.divergent = uniformity.meetings(&mut engine);
        uniformity
    }

    /// The instructions that threads have to reach together though not all of them do, in order of the text.
    #[must_use]
    pub fn divergent(&self) -> &[Divergent] {
        &self.divergent
    }

    /// Whether all lanes of a warp have the same value; no where that is not known.
    #[must_use]
    pub fn is_uniform_in_warps(&self, value: ValueId) -> bool {
        self.known && self.of(value).level() != Some(Level::Lanes)
    }

    /// Whether all threads of a block have the same value; no where that is not known.
    #[must_use]
    pub fn is_uniform(&self, value: ValueId) -> bool {
        self.known && self.of(value).level().is_none()
    }

    /// Whether it was followed to the end; else nothing else that is said here means anything.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.known
    }

    /// How a value varies.
    #[must_use]
    pub fn of(&self, value: ValueId) -> Vary {
        self.vary.get(value.index()).copied().unwrap_or(Vary::NONE)
    }

    /// Why threads that differ as the level says do not all come to an instruction; none where they do, or it is not
    /// known.
    #[must_use]
    pub fn cause(
        &self,
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        instruction: u32,
        least: Level,
    ) -> Option<Divergent> {
        if !self.known {
            return None;
        }
        let guard = graph.guard(instruction).and_then(|guard| self.of(guard).level());
        let by_guard = guard.map(|level| (level, Cause::Guard));
        let block = facts.cfg.block_of(Handle::new(instruction));
        let by_branch = self.control.cause(block).map(|(level, branch)| (level, Cause::Branch(branch)));
        let (level, cause) = by_guard.into_iter().chain(by_branch).find(|(level, _)| *level >= least)?;
        Some(Divergent { instruction, cause, level })
    }
}

/// What tells at which barrier threads meet, which lanes, and where an indexed branch goes.
fn deciding(facts: &FunctionFacts<'_>, graph: &Graph) -> Vec<ValueId> {
    let mut found = Vec::new();
    for &block in facts.cfg.reverse_postorder() {
        for instruction in facts.cfg.instructions(block) {
            let Some(instance) = facts.instance(instruction) else { continue };
            let effects = &instance.effects;
            let decides = effects.barrier || effects.control == Flow::IndexedBranch;
            if !decides && effects.convergence == Convergence::None {
                continue;
            }
            let (uses, mask) = (facts.uses(), instance.lane_mask());
            let read = uses.range(instruction).filter_map(|at| {
                graph.read(at).filter(|_| decides || Some(uses.all()[at].operand()) == mask)
            });
            found.extend(read);
        }
    }
    found
}

struct Analysis<'f, 'm> {
    /// The values that are wanted; none where all are.
    slice: Option<&'f Slice>,
    /// By block, whether the branch at its end counts; none where all do.
    forks: Option<&'f [bool]>,
    engine: Engine<'f, 'm>,
    vary: Vec<Vary>,
    control: Control,
    trials: Trials,
    /// What values have been made of, where that was asked for.
    stems: FxHashMap<ValueId, Stems>,
    /// Comparisons of which it is known only by the branches that lead to them how they vary.
    by_branches: FxHashSet<BaseId>,
    /// Whether the comparison that was looked at last is one of these.
    is_by_branches: bool,
    /// What branches on the way to a block say to be 0, as far as that was asked.
    zeros: RefCell<Zeros>,
    /// What sums are by the branches on the way to blocks, as far as that was asked.
    numbers: FxHashMap<(Sum, NodeIndex), Number>,
    /// What each value was computed of.
    reads: Reads,
    /// How much was known by branches only when that was looked at last.
    by_branches_before: usize,
}

impl Analysis<'_, '_> {
    /// Goes over all values once; whether one may vary more than what reads it was told.
    fn data(&mut self) -> bool {
        self.sweep() && (self.engine.values.has_open_steps() || self.comes_back())
    }

    /// Whether loops bring back what varies more than what their heads join was seen to.
    fn comes_back(&mut self) -> bool {
        let (facts, graph) = (self.engine.facts, self.engine.graph);
        let mut changed = false;
        for &block in facts.cfg.reverse_postorder() {
            let place = facts.cfg.place(block);
            if !graph.predecessors(block).any(|(from, _)| facts.cfg.place(from) >= place)
                || !self.engine.values.is_reached(block)
            {
                continue;
            }
            changed |= self.joins(block);
        }
        changed
    }

    /// Looks at what a block joins; whether that varies more than before.
    fn joins(&mut self, block: NodeIndex) -> bool {
        let graph = self.engine.graph;
        let mut changed = false;
        for &join in graph.joins(block) {
            if self.is_all(join)
                || self.slice.is_some_and(|slice| !slice.has(join))
                || self.reads.is_settled(join)
            {
                continue;
            }
            self.reads.begin(join);
            let vary = self.join(block, join);
            changed |= self.put(join, vary);
            self.looked_at(join);
        }
        changed
    }

    /// Goes over all values once; whether one varies more than before.
    fn sweep(&mut self) -> bool {
        let facts = self.engine.facts;
        let mut changed = false;
        for &block in facts.cfg.reverse_postorder() {
            if !self.engine.values.is_reached(block) {
                continue;
            }
            changed |= self.joins(block);
            let mut sources = None;
            match self.slice {
                Some(slice) => {
                    for &(instruction, at) in slice.within(facts.cfg.instructions(block)) {
                        changed |= match at {
                            FLAG => self.flag(block, instruction),
                            _ => self.written(block, instruction, at as usize, &mut sources),
                        };
                    }
                }
                None => {
                    for instruction in facts.cfg.instructions(block) {
                        for at in facts.uses().writing(instruction) {
                            changed |= self.written(block, instruction, at, &mut sources);
                        }
                        changed |= self.flag(block, instruction);
                    }
                }
            }
        }
        changed
    }

    /// Looks at what an instruction writes; whether that varies more than before. `sources` is kept from one write of an
    /// instruction to the next.
    fn written(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        at: usize,
        sources: &mut Option<(u32, Vary, Vec<u32>)>,
    ) -> bool {
        let graph = self.engine.graph;
        let Some(value) = graph.written(at) else { return false };
        let after = graph.after(value);
        // It cannot vary more.
        if self.is_all(value) && self.is_all(after) || self.reads.is_settled(value) {
            return false;
        }
        self.reads.begin(value);
        let sources = match sources {
            Some((of, sources, reads)) if *of == instruction => {
                self.reads.again(reads);
                *sources
            }
            _ => {
                let vary = self.sources(block, instruction);
                sources.insert((instruction, vary, self.reads.so_far())).1
            }
        };
        let vary = self.computed(block, instruction, value, at, sources);
        let mut changed = self.put(value, vary);
        if after != value {
            let merged = self.guarded(block, instruction, after);
            changed |= self.put(after, merged);
        }
        self.looked_at(value);
        changed
    }

    /// Ends a look at a value, after which more may be known by branches only.
    fn looked_at(&mut self, value: ValueId) {
        self.reads.end(value);
        let by_branches = self.by_branches.len() + self.zeros.borrow().made.count();
        if by_branches != self.by_branches_before {
            self.by_branches_before = by_branches;
            self.reads.branches_changed();
        }
    }

    /// Looks at the carry flag that an instruction sets; whether that varies more than before.
    fn flag(&mut self, block: NodeIndex, instruction: u32) -> bool {
        let graph = self.engine.graph;
        let Some(flag) = graph.carry(instruction).1 else { return false };
        let Kind::Computed { .. } = graph.kind(flag) else { return false };
        if self.reads.is_settled(flag) {
            return false;
        }
        self.reads.begin(flag);
        let vary = self.flag_of(block, instruction);
        let mut changed = self.put(flag, vary);
        let after = graph.after(flag);
        if after != flag {
            let merged = self.guarded(block, instruction, after);
            changed |= self.put(after, merged);
        }
        self.looked_at(flag);
        changed
    }

    fn is_all(&self, value: ValueId) -> bool {
        self.vary[value.index()] == Vary::all(mask(self.engine.width(value)))
    }

    fn put(&mut self, value: ValueId, vary: Vary) -> bool {
        let known = &mut self.vary[value.index()];
        let joined = known.join(vary);
        let changed = joined != *known;
        *known = joined;
        if changed {
            self.reads.value_changed(value);
        }
        changed
    }

    /// What the sum that a value is says, where it is another one's; else what `otherwise` says.
    fn joined(&mut self, block: NodeIndex, value: ValueId, otherwise: Vary) -> Vary {
        match self.by_form(block, value) {
            Some(vary) => vary.meet(otherwise),
            None => otherwise,
        }
    }

    fn guarded(&mut self, block: NodeIndex, instruction: u32, value: ValueId) -> Vary {
        let graph = self.engine.graph;
        let Kind::Guarded { new, old, .. } = graph.kind(value) else { return Vary::NONE };
        if let Some(runs) = self.engine.runs(instruction) {
            return self.seen(if runs { new } else { old }, block);
        }
        let mut vary = self.seen(new, block).join(self.seen(old, block));
        // Nothing is told apart by what was never set.
        let is_choice = !matches!(graph.kind(old), Kind::Undefined);
        if let Some(guard) = graph.guard(instruction).filter(|_| is_choice) {
            let level = self.seen(guard, block);
            if level != Vary::NONE {
                vary = vary.join(level.choosing(self.different(&[new, old])));
            }
        }
        self.joined(block, value, vary)
    }

    /// The bits in which values may differ.
    fn different(&mut self, values: &[ValueId]) -> u64 {
        // Of the carry flag no more is known.
        let is_flag = |value: &ValueId| self.engine.graph.variable(*value) == Variable::Carry;
        if values.first().is_some_and(is_flag) {
            return 1;
        }
        let mut facts = values.iter().filter_map(|value| self.engine.values.of(*value));
        let Some(first) = facts.next() else { return 0 };
        let (mut ones, mut zeros) = (first.number.ones, first.number.zeros);
        let mut same = true;
        for fact in facts {
            (ones, zeros) = (ones & fact.number.ones, zeros & fact.number.zeros);
            same &= fact.form == first.form;
        }
        match !(ones | zeros) {
            _ if same => 0,
            // There is nothing to tell apart in what is one bit.
            bits if bits & bits.wrapping_sub(1) == 0 => bits,
            bits => bits & self.changed(values),
        }
    }

    fn join(&mut self, block: NodeIndex, join: ValueId) -> Vary {
        let graph = self.engine.graph;
        self.reads.block(block);
        // Who leaves the loop asks which bits of it the turns change.
        if self.control.is_left(block) && self.may_keep_bits(join) {
            self.stems(join);
        }
        let mut vary = Vary::NONE;
        let mut inputs = Vec::new();
        for (position, &input) in graph.inputs(join).iter().enumerate() {
            if position >= graph.predecessor_count(block) {
                inputs.push((position, input));
                continue;
            }
            if !self.engine.values.is_taken(graph, block, position) {
                continue;
            }
            let from = graph.predecessors(block).nth(position).map_or(block, |(from, _)| from);
            vary = vary.join(self.seen(input, from));
            inputs.push((position, input));
        }
        for choice in self.control.choices(block).to_vec() {
            let chosen = inputs.iter().filter(|(position, _)| choice.has(*position)).map(|(_, input)| *input);
            let chosen: Vec<ValueId> = chosen.collect();
            let different = self.different(&chosen);
            if different != 0 && !self.engine.are_one_load(block, &chosen) {
                vary = vary.join(choice.vary.choosing(different));
            }
        }
        self.joined(block, join, vary)
    }

    /// How a value varies for those who are in a block: a loop that lanes leave one after the other leaves them with
    /// values of different turns.
    fn seen(&self, value: ValueId, block: NodeIndex) -> Vary {
        let vary = self.vary[value.index()];
        self.reads.value(value);
        match self.left_between(value, block) {
            Some(level) => {
                let number = self.engine.values.of(value).map_or(0, |fact| fact.number.known());
                vary.join(level.choosing(!number & self.changed_by_turns(value, block)))
            }
            None => vary,
        }
    }

    /// How those vary that left loops between where a value is made and a block.
    fn left_between(&self, value: ValueId, block: NodeIndex) -> Option<Vary> {
        let made = match self.engine.graph.kind(value) {
            Kind::Computed { instruction, .. } | Kind::Guarded { instruction, .. } => {
                self.engine.facts.cfg.block_of(Handle::new(instruction))
            }
            Kind::Joined { block } => block,
            Kind::Undefined | Kind::Entry | Kind::Opaque => return None,
        };
        (made != block).then(|| self.between(made, block)).flatten()
    }

    /// The same, between one block and another.
    fn between(&self, made: NodeIndex, block: NodeIndex) -> Option<Vary> {
        self.reads.block(made);
        self.reads.block(block);
        self.control.between(made, block)
    }

    /// What is made of things that branches on the way to some block say.
    fn made_by_branches(&self) -> Made {
        let mut made = self.zeros.borrow().made.clone();
        self.by_branches.iter().for_each(|base| made.add(*base));
        made.find(self.engine.values.forms());
        made
    }

    /// Looks at the branches; whether more blocks depend on one that varies than before. None where that takes too long.
    fn branches(&mut self) -> Option<bool> {
        let (facts, graph) = (self.engine.facts, self.engine.graph);
        let made = self.made_by_branches();
        let is_same = |engine: &Engine<'_, '_>, vary: &[Vary], guard: ValueId| {
            // What only the branches that lead there make the same tells nothing of who went elsewhere.
            let is_by_branches = |fact| engine.sum(fact).terms().any(|(base, _)| made.has(base));
            vary[guard.index()].lanes == 0
                && engine.values.of(guard).is_some_and(|fact| !is_by_branches(fact))
        };
        let mut changed = self.control.review(&|guard| is_same(&self.engine, &self.vary, guard));
        for &block in facts.cfg.reverse_postorder() {
            let counts = self.forks.is_none_or(|forks| forks[block.index()]);
            if !counts || !self.engine.values.is_reached(block) || !facts.cfg.is_fork(block) {
                continue;
            }
            let Some(last) = facts.cfg.instructions(block).last() else { continue };
            let chooser = match graph.guard(last) {
                Some(guard) => Some(guard),
                // The index of a table of targets.
                None => facts.uses().range(last).find_map(|at| graph.read(at)),
            };
            let Some(vary) = chooser.map(|chooser| self.seen(chooser, block)) else { continue };
            if vary != Vary::NONE {
                let is_same = |guard| is_same(&self.engine, &self.vary, guard);
                changed |= self.control.diverge(&self.engine, block, last, vary, &is_same)?;
            }
        }
        Some(changed)
    }
}
