//! Which values differ between the threads of a block or of a warp, and which code only some of them run.
//!
//! A value is uniform, or the same within each warp, or different from lane to lane. It comes from special
//! registers, goes through data, and, where a register is written on both sides of a branch that threads take
//! differently, through control.

use super::FunctionFacts;
use super::values::{Value, Values};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Control, Convergence, Instance};
use rustc_hash::FxHashMap;

/// How a value varies, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Variance {
    /// Not seen yet.
    #[default]
    Unset,
    /// The same in all threads, as far as is known.
    Uniform,
    /// The same in the threads of a warp.
    Warp,
    /// The thread's own index, `%tid.x`, from which warps can be told.
    ThreadIndex,
    /// Different from lane to lane.
    Lane,
}

impl Variance {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Unset, value) | (value, Self::Unset) => value,
            (Self::ThreadIndex, _) | (_, Self::ThreadIndex) => Self::Lane,
            _ => self.max(other),
        }
    }

    /// Of a value computed from this one.
    fn through(self) -> Self {
        if self == Self::ThreadIndex { Self::Lane } else { self }
    }
}

/// Why not all threads come to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Its own guard.
    Guard,
    /// A branch, at this instruction.
    Branch(u32),
}

/// An instruction that threads have to reach together, and not all of them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergent {
    /// The instruction.
    pub instruction: u32,
    /// Why.
    pub cause: Cause,
    /// Whether the threads of one warp differ, or only warps.
    pub variance: Variance,
}

/// What is known about the divergence of a function.
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    registers: Vec<Variance>,
    /// For each block the branch with the largest variance that it depends on.
    blocks: Vec<Option<(Variance, u32)>>,
    /// How the branch at the end of each block varies.
    branches: Vec<Variance>,
    /// What registers that are written several times hold since they were written in the block being looked at.
    recent: FxHashMap<Register, Variance>,
}

/// Rounds of data and control until nothing changes; more are not made.
const MOST_ROUNDS: usize = 6;
/// Blocks visited for the regions of branches, in all.
const MOST_VISITS: usize = 2_000_000;

impl Divergence {
    /// Follows the variance of values. Nothing is known where that would take too long.
    #[must_use]
    pub fn new(facts: &FunctionFacts<'_>) -> Self {
        let mut result = Self {
            registers: vec![Variance::Unset; facts.body.register_count as usize],
            blocks: vec![None; facts.cfg.block_count()],
            branches: vec![Variance::Uniform; facts.cfg.block_count()],
            recent: FxHashMap::default(),
        };
        let joins = post_dominators(facts);
        let mut visits = MOST_VISITS;
        for _ in 0..MOST_ROUNDS {
            let data = result.data(facts);
            let control = result.control(facts, &joins, &mut visits);
            match control {
                None => return Self::default(),
                Some(false) if !data => return result,
                Some(_) => {}
            }
        }
        Self::default()
    }

    /// How a register varies.
    #[must_use]
    pub fn of(&self, register: Register) -> Variance {
        let joined = self.registers.get(register.index()).copied().unwrap_or(Variance::Uniform);
        self.recent.get(&register).copied().unwrap_or(joined)
    }

    fn data(&mut self, facts: &FunctionFacts<'_>) -> bool {
        let mut changed_at_all = false;
        loop {
            let mut changed = false;
            for &block in facts.cfg.reverse_postorder() {
                let control = self.blocks[block.index()].map_or(Variance::Uniform, |(variance, _)| variance);
                for instruction in facts.cfg.instructions(block) {
                    changed |= self.instruction(facts, instruction, control);
                }
                if let Some(last) = facts.cfg.instructions(block).last() {
                    self.branches[block.index()] = self.branch(facts, block, last);
                }
                self.recent.clear();
            }
            changed_at_all |= changed;
            if !changed {
                return changed_at_all;
            }
        }
    }

    fn instruction(&mut self, facts: &FunctionFacts<'_>, instruction: u32, control: Variance) -> bool {
        let handle = Handle::new(instruction);
        let statement = &facts.body.instructions[handle];
        let Some(instance) = facts.module.instance(statement) else { return false };
        let mut result = self.result(facts, handle, instance);
        if let Some(register) = statement.guard.and_then(|guard| guard.register) {
            result = result.join(self.of(register).through());
        }
        let mut changed = false;
        for each in facts.uses().of(instruction).iter().filter(|each| each.access().writes()) {
            let register = each.register;
            // Only a register that is written elsewhere too shows which way a thread has come.
            let several = facts.definitions(register).len() > 1;
            let value = if several { result.join(control.through()) } else { result };
            if several {
                // From here to the end of the block it is what this instruction wrote, in all threads that are here.
                let before = self.of(register);
                let now = if statement.guard.is_some() { before.join(result) } else { result };
                self.recent.insert(register, now);
            }
            let old = self.registers[register.index()];
            let new = old.join(value);
            changed |= new != old;
            self.registers[register.index()] = new;
        }
        changed
    }

    fn result(
        &self,
        facts: &FunctionFacts<'_>,
        handle: Handle<ptx_ir::ir::Instruction>,
        instance: &Instance,
    ) -> Variance {
        let operands = facts.body.operands(handle);
        if let (Some(Computation::Move | Computation::Convert), [_, source]) =
            (instance.effects.computes, operands)
        {
            return self.operand(facts, *source);
        }
        if is_collective(instance)
            && instance.has(".idx")
            && operands.get(2).is_some_and(|&lane| self.operand(facts, lane) <= Variance::Warp)
        {
            // All lanes take the value of one.
            return Variance::Warp;
        }
        if let Some(variance) = self.of_warp(instance, operands) {
            return variance;
        }
        if instance.effects.convergence == Convergence::Aligned || is_collective(instance) {
            // The warp computes it together: what one lane gets, all get, unless lanes pick differently.
            return if instance.effects.thread_dependent { Variance::Lane } else { Variance::Warp };
        }
        let mut result = Variance::Uniform;
        if instance.effects.thread_dependent || instance.effects.atomic {
            result = Variance::Lane;
        }
        for &operand in operands.iter().skip(1) {
            result = result.join(self.operand(facts, operand).through());
        }
        result
    }

    /// Computations that tell warps rather than lanes apart.
    fn of_warp(&self, instance: &Instance, operands: &[Operand]) -> Option<Variance> {
        let index = |operand: &Operand| match operand {
            Operand::Register { register, .. } => self.of(*register) == Variance::ThreadIndex,
            _ => false,
        };
        let constant = |operand: &Operand| match operand {
            Operand::Integer { bits, .. } => Some(*bits),
            _ => None,
        };
        let [_, left, right, ..] = operands else { return None };
        if !index(left) {
            return None;
        }
        let value = constant(right)?;
        let computation = instance.effects.computes;
        // The position within some aligned number of warps still tells warps from lanes.
        if computation == Some(Computation::And) && value >= 31 && (value.wrapping_add(1)).is_power_of_two() {
            return Some(Variance::ThreadIndex);
        }
        let warp = match computation {
            Some(Computation::ShiftRight) => value >= 5,
            Some(Computation::And) => value & 31 == 0,
            _ if instance.has(".lt") || instance.has(".ge") || instance.has(".lo") || instance.has(".hs") => {
                value % 32 == 0
            }
            _ if instance.has(".gt") || instance.has(".le") || instance.has(".hi") || instance.has(".ls") => {
                value % 32 == 31
            }
            _ => false,
        };
        warp.then_some(Variance::Warp)
    }

    fn operand(&self, facts: &FunctionFacts<'_>, operand: Operand) -> Variance {
        let of = |register: Register| match self.of(register) {
            Variance::Unset => Variance::Unset,
            variance => variance,
        };
        match operand {
            Operand::Register { register, .. }
            | Operand::Negated { register, .. }
            | Operand::Minus { register, .. }
            | Operand::Selected { register, .. } => of(register),
            Operand::RegisterAddress { base, .. } => of(base).through(),
            Operand::VectorRegister { first, count, .. } => (0..u32::from(count))
                .fold(Variance::Unset, |variance, step| variance.join(of(Register(first.0 + step)))),
            Operand::Special(register) => match register.name() {
                "%tid.x" => Variance::ThreadIndex,
                // Rows of a block are whole warps in nearly every kernel.
                "%tid.y" | "%tid.z" | "%warpid" => Variance::Warp,
                _ if register.is_thread_dependent() => Variance::Lane,
                _ => Variance::Uniform,
            },
            Operand::Vector(run) | Operand::Pair(run) | Operand::Bracket(run) => {
                facts.body.children(run).iter().fold(Variance::Unset, |variance, child| {
                    variance.join(self.operand(facts, *child).through())
                })
            }
            _ => Variance::Uniform,
        }
    }

    /// Finds which blocks depend on branches that threads take differently; none where that takes too long.
    fn control(
        &mut self,
        facts: &FunctionFacts<'_>,
        joins: &[Option<u32>],
        visits: &mut usize,
    ) -> Option<bool> {
        let mut changed = false;
        for &block in facts.cfg.reverse_postorder() {
            let Some(last) = facts.cfg.instructions(block).last() else { continue };
            let variance = self.branches[block.index()];
            if variance < Variance::Warp {
                continue;
            }
            // Where one side leaves the function, those that are left go on without the others.
            let Some(join) = joins[block.index()] else { continue };
            changed |= self.region(facts, block, NodeIndex::new(join as usize), (variance, last), visits)?;
        }
        Some(changed)
    }

    fn branch(&self, facts: &FunctionFacts<'_>, block: NodeIndex, last: u32) -> Variance {
        let successors = facts.cfg.successors(block).count();
        if successors < 2 {
            return Variance::Uniform;
        }
        match facts.condition(last) {
            Some(condition) => self.of(condition.register).through(),
            None => {
                let operands = facts.body.operands(Handle::new(last));
                operands.first().map_or(Variance::Uniform, |index| self.operand(facts, *index).through())
            }
        }
    }

    fn region(
        &mut self,
        facts: &FunctionFacts<'_>,
        block: NodeIndex,
        join: NodeIndex,
        cause: (Variance, u32),
        visits: &mut usize,
    ) -> Option<bool> {
        let mut changed = false;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<NodeIndex> = facts.cfg.successors(block).map(|(next, _)| next).collect();
        while let Some(next) = stack.pop() {
            if next == join || !seen.insert(next) {
                continue;
            }
            *visits = visits.checked_sub(1)?;
            let slot = &mut self.blocks[next.index()];
            if slot.is_none_or(|(variance, _)| variance < cause.0) {
                *slot = Some(cause);
                changed = true;
            }
            stack.extend(facts.cfg.successors(next).map(|(next, _)| next));
        }
        Some(changed)
    }

    /// Why threads that differ by `least` or more do not all come to an instruction; none where they do.
    #[must_use]
    pub fn cause(&self, facts: &FunctionFacts<'_>, instruction: u32, least: Variance) -> Option<Divergent> {
        let block = facts.cfg.block_of(Handle::new(instruction));
        let guard = facts.condition(instruction).map(|condition| self.of(condition.register).through());
        let by_guard = guard.map(|variance| (variance, Cause::Guard));
        let by_branch = self.blocks.get(block.index()).copied().flatten();
        let by_branch = by_branch.map(|(variance, branch)| (variance, Cause::Branch(branch)));
        let (variance, cause) =
            by_guard.into_iter().chain(by_branch).find(|(variance, _)| *variance >= least)?;
        Some(Divergent { instruction, cause, variance })
    }

    /// The instructions that threads have to reach together though not all of them do.
    #[must_use]
    pub fn divergent(&self, facts: &FunctionFacts<'_>, values: &Values) -> Vec<Divergent> {
        let mut found = Vec::new();
        if self.blocks.is_empty() {
            return found;
        }
        for block in facts.cfg.graph().node_indices() {
            if !facts.cfg.is_reachable(block) {
                continue;
            }
            for instruction in facts.cfg.instructions(block) {
                let Some(instance) = facts.instance(instruction) else { continue };
                let Some(least) = needs(facts, values, instruction, instance) else { continue };
                // The warp may meet at several places, one on each side of a branch; under a guard there is but
                // this one.
                let found_here = self.cause(facts, instruction, least);
                found.extend(
                    found_here.filter(|each| each.cause == Cause::Guard || !meets_anywhere(instance)),
                );
            }
        }
        found.sort_by_key(|each| each.instruction);
        found
    }
}

/// From which variance on it is a danger to call a function: that of the most demanding instruction that every way
/// through it leads to.
#[must_use]
pub fn needed_on_every_way(facts: &FunctionFacts<'_>, values: &Values) -> Option<Variance> {
    let needed = |instruction: u32| {
        let instance = facts.instance(instruction).filter(|instance| !meets_anywhere(instance))?;
        let free = !facts.is_guarded(instruction);
        needs(facts, values, instruction, instance).filter(|_| free)
    };
    let mut blocks = facts.cfg.reverse_postorder().iter().filter_map(|&block| {
        let least = facts.cfg.instructions(block).filter_map(needed).min()?;
        Some((block, least))
    });
    let mut most_demanding = None;
    while let Some((block, least)) = blocks.next().filter(|_| most_demanding != Some(Variance::Warp)) {
        if !is_avoidable(facts, block) {
            most_demanding = Some(most_demanding.map_or(least, |known: Variance| known.min(least)));
        }
    }
    most_demanding
}

/// Whether a way leads through the function without coming to a block.
fn is_avoidable(facts: &FunctionFacts<'_>, avoided: NodeIndex) -> bool {
    let mut seen = vec![false; facts.cfg.block_count()];
    let mut pending = vec![NodeIndex::new(0)];
    while let Some(block) = pending.pop() {
        if block == avoided || std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let mut leaves = true;
        for (next, _) in facts.cfg.successors(block) {
            leaves = false;
            pending.push(next);
        }
        let last = facts.cfg.instructions(block).last();
        let guarded = last.is_some_and(|last| {
            let control = facts.instance(last).map(|instance| instance.effects.control);
            facts.is_guarded(last) && matches!(control, Some(Control::Return | Control::Exit))
        });
        if leaves || guarded {
            return true;
        }
    }
    false
}

/// Whether the lanes that a mask names compute the result together.
fn is_collective(instance: &Instance) -> bool {
    instance.effects.convergence == Convergence::Participants && !instance.effects.barrier
}

/// From which variance on an instruction is in danger; none where it is not.
fn needs(
    facts: &FunctionFacts<'_>,
    values: &Values,
    instruction: u32,
    instance: &Instance,
) -> Option<Variance> {
    let operands = facts.body.operands(Handle::new(instruction));
    let effects = &instance.effects;
    if effects.barrier && effects.convergence == Convergence::Aligned {
        // A barrier with a number of threads is meant for some of the warps.
        let counted = operands.len() > 1;
        return Some(if counted { Variance::Lane } else { Variance::Warp });
    }
    match effects.convergence {
        Convergence::Aligned => Some(Variance::Lane),
        Convergence::Participants if has_full_mask(facts, values, instance, operands) => Some(Variance::Lane),
        Convergence::Participants | Convergence::None => None,
    }
}

/// Whether lanes wait for each other here wherever they are: `bar.warp.sync`.
fn meets_anywhere(instance: &Instance) -> bool {
    instance.effects.barrier && instance.effects.convergence == Convergence::Participants
}

/// Whether the mask of lanes names all of them.
fn has_full_mask(
    facts: &FunctionFacts<'_>,
    values: &Values,
    instance: &Instance,
    operands: &[Operand],
) -> bool {
    let is_mask = instance.operands.last().is_some_and(|spec| spec.name == "membermask");
    let mask = operands.last().filter(|_| is_mask);
    let value = mask.map(|&mask| values.operand(facts.module, mask));
    matches!(value, Some(Value::Number(bits)) if bits.value().is_some_and(|bits| bits as u32 == u32::MAX))
}

/// For each block the block that all its ways come together in; none where that is the end of the function.
fn post_dominators(facts: &FunctionFacts<'_>) -> Vec<Option<u32>> {
    let count = facts.cfg.block_count();
    let mut reversed: DiGraph<(), ()> = DiGraph::with_capacity(count + 1, count * 2);
    for _ in 0..=count {
        reversed.add_node(());
    }
    let exit = NodeIndex::new(count);
    for block in facts.cfg.graph().node_indices() {
        let mut leaves = true;
        for (next, edge) in facts.cfg.successors(block) {
            reversed.add_edge(next, block, ());
            leaves &= edge.condition.is_some();
        }
        if leaves && facts.cfg.successors(block).count() < 2 {
            reversed.add_edge(exit, block, ());
        }
    }
    let dominators = dominators::simple_fast(&reversed, exit);
    facts
        .cfg
        .graph()
        .node_indices()
        .map(|block| {
            let join = dominators.immediate_dominator(block)?;
            (join != exit).then_some(join.index() as u32)
        })
        .collect()
}
