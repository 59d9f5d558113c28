//! The slice of a kernel that its protocol depends on (Weiser): events, what they are computed of, and the branches that
//! decide about these.

use std::ops::RangeInclusive;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Linkage, Operand, Register, Variable};
use ptx_ir::isa::{Computation, Control, Convergence, OperandSpec};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use rustc_hash::{FxHashMap, FxHashSet};

use super::alike::stores_alike;
use super::doubt;
use super::evenly;
use super::known::{Actions, Numbers};
use super::passed::is_passed;
use super::pointer::place;
use super::program::{Action, Address, Program, Source, Step};
use super::value::ALL;
use crate::FunctionFacts;
use crate::asynchronous::elements::List;
use crate::asynchronous::loops::{locks, polls};

/// A kernel with more instructions that count is not looked at.
const MAX_STEPS: usize = 40_000;
/// Blocks visited for the branches that decide about others: as many for each.
const VISITS_PER_BLOCK: usize = 64;

/// Steps of a program in which threads wait for their own copies and for all of their block alone; one with more is long.
/// The products of matrices of whole libraries are so, and to execute one takes longer than all else that is done with it.
pub(super) const MAX_PLAIN: usize = 400;

/// Sums through which the address in another block is looked for.
const MAX_SUMS: usize = 8;

/// Why a kernel is not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It has no protocol, or is too large.
    Nothing,
    /// It is long, and threads wait for nobody but all of their block.
    Long,
}

/// Makes the program of a kernel. `calls` are those of functions that may take part in it, ascending, and `candidates`
/// instructions that may, in order of the blocks.
pub(super) fn decoded(
    facts: &FunctionFacts<'_>,
    calls: &[u32],
    candidates: &[u32],
    most: usize,
    has_global: bool,
) -> Result<Program, Unfit> {
    let function = facts.function;
    let program = Program {
        has_global,
        first_registers: function.first_registers(),
        knows_cluster: function.required_cluster().is_some(),
        knows_threads: function.required_threads().or_else(|| function.max_threads()).is_some(),
        ..Program::default()
    };
    let mut decoder = Decoder {
        facts,
        calls,
        candidates,
        most,
        places: FxHashMap::default(),
        registers: Numbers::of(facts),
        names: Vec::new(),
        lists: Vec::new(),
        relevant: vec![false; facts.body.instructions.len()],
        pending: Vec::new(),
        stores: Vec::new(),
        roots: FxHashSet::default(),
        exits: Vec::new(),
        loads_local: false,
        local_stores: None,
        is_local_unknown: false,
        program,
    };
    decoder.place_variables();
    decoder.decode()
}

pub(super) struct Decoder<'f, 'm> {
    pub(super) facts: &'f FunctionFacts<'m>,
    pub(super) calls: &'f [u32],
    /// Instructions that may take part, in order of the blocks.
    candidates: &'f [u32],
    /// Steps of a program that is not long.
    most: usize,
    /// Where shared variables are.
    pub(super) places: FxHashMap<Handle<Variable>, u64>,
    pub(super) registers: Numbers,
    pub(super) names: Vec<Register>,
    /// Lists in memory that loads read elements of.
    pub(super) lists: Vec<List>,
    pub(super) relevant: Vec<bool>,
    pub(super) pending: Vec<u32>,
    /// Plain stores: whether they give the same in each warp matters where there is a program.
    pub(super) stores: Vec<u32>,
    /// Registers that addresses of global memory come of.
    pub(super) roots: FxHashSet<Register>,
    /// Loads of loops that wait, and where control goes on after these.
    exits: Vec<(u32, u32, RangeInclusive<u32>)>,
    /// Whether something is loaded from the memory of a thread whose stores were not asked for yet.
    pub(super) loads_local: bool,
    /// All stores there, where they are known.
    pub(super) local_stores: Option<Vec<u32>>,
    pub(super) is_local_unknown: bool,
    pub(super) program: Program,
}

/// Where shared memory begins: descriptors of matrices have 18 bits for an address.
const FIRST_PLACE: u64 = 0x400;
/// Where the memory of a thread begins, apart from shared memory.
const FIRST_LOCAL_PLACE: u64 = 1 << 41;
/// The first of the places of global variables, after those of parameters.
const FIRST_VARIABLE: u64 = 1 << 12;
/// Where parameters begin.
const FIRST_PARAMETER: u64 = 1 << 42;
/// Variables begin at multiples of this, and those without a size at multiples of the other one.
const ALIGNED: u64 = 128;
const ALIGNED_UNSIZED: u64 = 1024;

impl Decoder<'_, '_> {
    fn place_variables(&mut self) {
        let body = self.facts.body;
        let (mut next, mut unsized_ones) = (FIRST_PLACE, Vec::new());
        let mut next_local = FIRST_LOCAL_PLACE;
        let (mut next_global, mut next_parameter) = (FIRST_VARIABLE, FIRST_PARAMETER);
        for operand in body.operands.iter().chain(&body.children) {
            let (Operand::Variable { variable, .. }
            | Operand::VariableAddress { variable, .. }
            | Operand::Element { variable, .. }) = *operand
            else {
                continue;
            };
            let declared = &self.facts.module.variables[variable];
            if self.places.contains_key(&variable) {
                continue;
            }
            if declared.space.base() == StateSpace::Global && self.program.has_global {
                next_global += 1;
                self.places.insert(variable, place(next_global));
            }
            let is_passed = is_passed(self.facts, variable);
            if declared.space.base() == StateSpace::Param && self.program.has_global && !is_passed {
                self.places.insert(variable, next_parameter);
                next_parameter += declared.size().unwrap_or(0).next_multiple_of(ALIGNED);
            }
            if declared.space.base() == StateSpace::Local || is_passed {
                let align = u64::from(declared.align.unwrap_or(1)).max(ALIGNED);
                next_local = next_local.next_multiple_of(align);
                self.places.insert(variable, next_local);
                next_local = next_local.saturating_add(declared.size().unwrap_or(0));
            }
            if declared.space.base() != StateSpace::Shared {
                continue;
            }
            match declared.size() {
                Some(size) if declared.linkage != Some(Linkage::Extern) => {
                    let align = u64::from(declared.align.unwrap_or(1)).max(ALIGNED);
                    next = next.next_multiple_of(align);
                    self.places.insert(variable, next);
                    self.program.variables.push((next, size));
                    next = next.saturating_add(size);
                }
                _ => unsized_ones.push(variable),
            }
        }
        self.program.shared_end = Some(next).filter(|_| unsized_ones.is_empty());
        let behind = next.next_multiple_of(ALIGNED_UNSIZED);
        self.places.extend(unsized_ones.into_iter().map(|variable| (variable, behind)));
    }

    fn decode(mut self) -> Result<Program, Unfit> {
        let facts = self.facts;
        let mut actions =
            Actions::of(facts.body.instructions.len(), 2 * self.candidates.len().min(MAX_PLAIN));
        let mut is_protocol = false;
        for &instruction in self.candidates {
            let Some(action) = self.event(instruction) else { continue };
            is_protocol |= !matches!(
                action,
                Action::Access { .. }
                    | Action::GlobalFence { .. }
                    | Action::Opaque
                    | Action::ProxyFence { .. }
                    | Action::Barrier { threads: None, waits: true, .. }
            );
            self.program.has_order |= has_order(&action);
            self.push(instruction);
            actions.insert(instruction, action);
            if actions.len() > MAX_STEPS {
                return Err(Unfit::Nothing);
            }
        }
        if !is_protocol || self.program.has_global && !self.program.tells_blocks {
            return Err(Unfit::Nothing);
        }
        // What these are computed of need not be looked for.
        if self.is_long(actions.len()) {
            return Err(Unfit::Long);
        }
        let above = facts.postdominators();
        let deciding = self.deciding(above).ok_or(Unfit::Nothing)?;
        loop {
            // What sources name was pushed while they were decoded.
            self.follow(&mut actions, &deciding)?;
            let is_more = self.ask_for_stores(&mut actions) | self.ask_for_elements(&mut actions);
            if !self.ask_for_local_stores(&mut actions) && !is_more {
                break;
            }
        }
        self.meetings(&mut actions, &deciding);
        let mut ends = self.ends_of_polls();
        if self.program.has_global {
            // They are executed.
            ends.clear();
        }
        self.emit(above, actions, &ends);
        if self.is_long(self.program.steps.len()) {
            return Err(Unfit::Long);
        }
        self.program.registers = self.names.len();
        let alike = self.stores.iter().copied().filter(|&store| stores_alike(facts, store));
        self.program.alike.extend(alike);
        Ok(self.program)
    }

    /// Whether a program with this number of steps is long.
    fn is_long(&self, steps: usize) -> bool {
        !self.program.has_order && steps > self.most
    }

    /// Takes in what decides about the actions so far, and what they are computed of, unless that is too much.
    fn follow(&mut self, actions: &mut Actions, deciding: &[Vec<u32>]) -> Result<(), Unfit> {
        let facts = self.facts;
        while let Some(instruction) = self.pending.pop() {
            let handle = Handle::new(instruction);
            if let Some(register) = facts.body.instructions[handle].guard.and_then(|guard| guard.register) {
                self.name(register);
            }
            let block = facts.cfg.block_of(handle);
            for &branch in &deciding[block.index()] {
                self.push(branch);
            }
            let control = self.facts.control(instruction);
            if control == Control::IndexedBranch
                && let Some(index) = facts.body.operands(handle).first()
            {
                self.source(*index);
            }
            self.program.asks_calls |= control == Control::Call;
            if actions.has(instruction) || control != Control::Next {
                continue;
            }
            let action = self.computation(instruction);
            actions.insert(instruction, action);
            if actions.len() > MAX_STEPS {
                return Err(Unfit::Nothing);
            }
            if self.is_long(actions.len()) {
                return Err(Unfit::Long);
            }
        }
        Ok(())
    }

    /// Takes in where the lanes of a warp wait for each other, among what is looked at in any case.
    fn meetings(&mut self, actions: &mut Actions, deciding: &[Vec<u32>]) {
        let facts = self.facts;
        for &block in facts.cfg.reverse_postorder() {
            let is_followed = deciding[block.index()].iter().all(|&branch| self.relevant[branch as usize]);
            if !is_followed {
                continue;
            }
            for instruction in facts.cfg.instructions(block) {
                let Some(instance) = facts.instance(instruction) else { continue };
                let effects = &instance.effects;
                let is_meeting = effects.barrier
                    && effects.convergence == Convergence::Participants
                    && effects.event.is_none();
                if !is_meeting || actions.has(instruction) {
                    continue;
                }
                let members = match facts.body.operands(Handle::new(instruction)).first() {
                    Some(Operand::Integer { bits, .. }) => *bits as u32,
                    _ => ALL,
                };
                actions.insert(instruction, Action::WarpBarrier { members });
                self.relevant[instruction as usize] = true;
            }
        }
    }

    pub(super) fn push(&mut self, instruction: u32) {
        if !std::mem::replace(&mut self.relevant[instruction as usize], true) {
            self.pending.push(instruction);
        }
    }

    /// The number of a register; what writes it is relevant.
    pub(super) fn name(&mut self, register: Register) -> u32 {
        if let Some(known) = self.registers.get(register) {
            return known;
        }
        let number = self.names.len() as u32;
        self.registers.insert(register, number);
        self.names.push(register);
        let facts = self.facts;
        for &instruction in facts.definitions(register) {
            self.push(instruction);
        }
        number
    }

    /// The branches that decide whether control comes to each block, by their instructions.
    fn deciding(&self, above: &[u32]) -> Option<Vec<Vec<u32>>> {
        let facts = self.facts;
        let count = facts.cfg.block_count();
        let mut deciding: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut visits = VISITS_PER_BLOCK * count + MAX_STEPS;
        for &block in facts.cfg.reverse_postorder() {
            let Some(branch) = facts.cfg.instructions(block).next_back().filter(|_| is_fork(facts, block))
            else {
                continue;
            };
            let stop = above[block.index()];
            let mut targets: Vec<u32> = Vec::new();
            for (next, _) in facts.cfg.successors(block) {
                match facts.cfg.instructions(next).is_empty() {
                    true => targets.extend(facts.cfg.successors(next).map(|(each, _)| each.index() as u32)),
                    false => targets.push(next.index() as u32),
                }
            }
            for target in targets {
                let mut runner = target;
                while runner != stop && (runner as usize) < count {
                    visits = visits.checked_sub(1)?;
                    let list = &mut deciding[runner as usize];
                    if list.last() == Some(&branch) {
                        break;
                    }
                    list.push(branch);
                    runner = above[runner as usize];
                }
            }
        }
        Some(deciding)
    }

    /// Branches that lead out of loops which wait for a flag in global memory, with where they lead: whatever memory has,
    /// somebody sets it. Threads may tell each other so what they have done with shared memory.
    fn ends_of_polls(&mut self) -> FxHashMap<u32, u32> {
        let facts = self.facts;
        let cfg = &facts.cfg;
        let mut ends = FxHashMap::default();
        let locks = if self.program.has_global { locks(facts) } else { Vec::new() };
        self.program.has_locks = !locks.is_empty();
        for poll in polls(facts).into_iter().chain(locks) {
            let range = poll.first..=poll.end;
            let mut at = poll.first;
            while at <= poll.end {
                let block = cfg.block_of(Handle::new(at));
                let after = cfg.instructions(block).end;
                let starts = cfg.successors(block).map(|(next, _)| cfg.instructions(next).start);
                let (stays, leaves): (Vec<u32>, Vec<u32>) = starts.partition(|start| range.contains(start));
                if let ([_], [leaves]) = (&stays[..], &leaves[..])
                    && facts.control(after - 1) == Control::Branch
                {
                    ends.insert(after - 1, *leaves);
                    self.exits.push((poll.load, *leaves, range.clone()));
                    // They are executed where global memory is.
                    if !self.program.has_global {
                        self.program.asked.insert(after - 1);
                    }
                }
                at = after.max(at + 1);
            }
        }
        ends
    }

    fn emit(&mut self, above: &[u32], mut actions: Actions, ends: &FxHashMap<u32, u32>) {
        let facts = self.facts;
        let count = facts.body.instructions.len() as u32;
        // Where the steps of each block begin: nobody jumps to another place.
        let mut places = vec![0_u32; facts.cfg.block_count()];
        let mut steps = Vec::new();
        let mut jumps: Vec<(usize, u32)> = Vec::new();
        let mut tables: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut end = 0;
        for instruction in 0..count {
            if instruction == end {
                let block = facts.cfg.block_of(Handle::new(instruction));
                end = facts.cfg.instructions(block).end;
                places[block.index()] = steps.len() as u32;
            }
            let is_relevant = self.relevant[instruction as usize];
            let is_last = end == instruction + 1;
            if !(is_relevant || is_last) {
                continue;
            }
            let handle = Handle::new(instruction);
            let block = facts.cfg.block_of(handle);
            if !facts.cfg.is_reachable(block) {
                continue;
            }
            let guard = facts.body.instructions[handle].guard;
            let guard_of = |decoder: &Self| {
                guard.map(|guard| match guard.register.and_then(|register| decoder.registers.get(register)) {
                    Some(register) => (register, !guard.negated),
                    None => (u32::MAX, true),
                })
            };
            let control = self.facts.control(instruction);
            let is_fork_here = is_last && is_fork(facts, block);
            let end = ends.get(&instruction);
            let action = match control {
                Control::Next | Control::Call => match actions.take(instruction) {
                    Some(Action::Global(mut access)) => {
                        self.loading_global(instruction, &mut access);
                        Action::Global(access)
                    }
                    Some(action) => self.loading(instruction, action),
                    None => continue,
                },
                _ if end.is_some() => {
                    jumps.extend(end.map(|&end| (steps.len(), end)));
                    Action::Jump(0)
                }
                _ if is_fork_here && !is_relevant => {
                    // Whatever is chosen, control comes together again.
                    let join = above[block.index()] as usize;
                    let first = (join < facts.cfg.block_count())
                        .then(|| facts.cfg.instructions(NodeIndex::new(join)).start);
                    match first {
                        Some(first) => {
                            jumps.push((steps.len(), first));
                            Action::Jump(0)
                        }
                        None => Action::Exit,
                    }
                }
                Control::Branch => {
                    let target = match facts.body.operands(handle).first() {
                        Some(Operand::Label(label)) => facts.body.labels[*label].target,
                        _ => count,
                    };
                    jumps.push((steps.len(), target));
                    Action::Jump(0)
                }
                Control::IndexedBranch => match facts.body.operands(handle) {
                    [index, Operand::Targets(list)] => {
                        let targets = facts.body.targets[*list].targets.iter().map(|target| match target {
                            Operand::Label(label) => facts.body.labels[*label].target,
                            _ => count,
                        });
                        tables.push((steps.len(), targets.collect()));
                        Action::Table { index: self.source(*index), targets: Vec::new() }
                    }
                    _ => Action::Opaque,
                },
                Control::Return | Control::Exit => Action::Exit,
                // It ends the grid: nobody waits for those who come here.
                Control::Trap => Action::Opaque,
            };
            let unguarded = control != Control::Next && is_fork_here && (!is_relevant || end.is_some());
            let guard = if unguarded { None } else { guard_of(self) };
            steps.push(Step { instruction, guard, action });
        }
        let last = steps.len() as u32;
        let place_of = |target: u32| match target < count {
            true => places[facts.cfg.block_of(Handle::new(target)).index()],
            false => last,
        };
        for (step, target) in jumps {
            steps[step].action = Action::Jump(place_of(target));
        }
        for (step, chosen) in tables {
            if let Action::Table { targets, .. } = &mut steps[step].action {
                *targets = chosen.into_iter().map(place_of).collect();
            }
        }
        self.program.parts = doubt::parts(&steps);
        self.program.leaps = evenly::of(&steps, self.program.remembers);
        self.program.steps = steps;
        self.program.exits = self
            .exits
            .iter()
            .map(|(load, leaves, range)| (*load, place_of(*leaves), range.clone()))
            .collect();
    }

    pub(super) fn source(&mut self, operand: Operand) -> Source {
        match operand {
            Operand::Register { register, .. } => Source::Register(self.name(register), 0),
            Operand::Sum { register, offset, .. } => Source::Register(self.name(register), offset),
            Operand::Negated { register, .. } => Source::Negated(self.name(register)),
            Operand::Integer { bits, .. } => Source::Number(bits),
            Operand::WarpSize => Source::Number(32),
            Operand::Special(register) => self.special(register, 0),
            Operand::SpecialSum { register, offset } => self.special(register, offset),
            Operand::Variable { variable, offset, .. } => self.variable(variable, offset),
            _ => Source::Unknown,
        }
    }

    fn special(&mut self, register: SpecialRegister, offset: i64) -> Source {
        self.program.counts_threads |= matches!(
            register,
            SpecialRegister::NTID
                | SpecialRegister::NTID_X
                | SpecialRegister::NTID_Y
                | SpecialRegister::NTID_Z
                | SpecialRegister::TID
                | SpecialRegister::TID_X
                | SpecialRegister::TID_Y
                | SpecialRegister::TID_Z
                | SpecialRegister::WARPID
        );
        self.program.asks_block |= matches!(register, SpecialRegister::CTAID | SpecialRegister::CTAID_X);
        self.program.asks_grid |= matches!(register, SpecialRegister::NCTAID | SpecialRegister::NCTAID_X);
        self.program.asks_block |= self.program.has_global && register == SpecialRegister::CTAID_Y;
        self.program.asks_row |= matches!(register, SpecialRegister::CTAID_Y);
        self.program.counts_rows |= matches!(
            register,
            SpecialRegister::NTID_Y
                | SpecialRegister::NTID_Z
                | SpecialRegister::TID_Y
                | SpecialRegister::TID_Z
        );
        Source::Special(register, offset)
    }

    fn variable(&self, variable: Handle<Variable>, offset: i64) -> Source {
        match self.places.get(&variable) {
            Some(place) => Source::Number(place.wrapping_add_signed(offset)),
            None => Source::Unknown,
        }
    }

    pub(super) fn register(&mut self, operand: Option<&Operand>) -> Option<u32> {
        match operand {
            Some(Operand::Register { register, .. }) => self.registers.get(*register),
            _ => None,
        }
    }

    /// Registers of a result, one or a pair; those that nobody asks for are none.
    pub(super) fn results(&mut self, operand: Option<&Operand>) -> [Option<u32>; 2] {
        match operand {
            Some(Operand::Pair(run)) => {
                let parts = self.facts.body.children(*run);
                [self.register(parts.first()), self.register(parts.get(1))]
            }
            other => [self.register(other), None],
        }
    }

    pub(super) fn address(&mut self, operand: Operand, spec: &OperandSpec, bytes: u32) -> Option<Address> {
        let access = spec.access?;
        let number = |offset: i64| (Source::Number(0), offset);
        let (base, (index, offset)) = match operand {
            Operand::RegisterAddress { base, offset, .. } => {
                (Source::Register(self.name(base), 0), number(i64::from(offset)))
            }
            Operand::VariableAddress { variable, offset } => (self.variable(variable, 0), number(offset)),
            Operand::Element { variable, index, offset, .. } => {
                (self.variable(variable, 0), (Source::Register(self.name(index), 0), i64::from(offset)))
            }
            Operand::ConstantAddress { address } => (Source::Number(0), number(address)),
            _ => return None,
        };
        // A generic address may be one in another block.
        let mapped = match (operand, access.space) {
            (Operand::RegisterAddress { base, .. }, None | Some(StateSpace::SharedCluster)) => {
                self.mapped(base)
            }
            _ => None,
        };
        let space = match mapped {
            Some(_) => Some(StateSpace::SharedCluster),
            None => access.space,
        };
        let mapped = mapped.map(|from| self.source(from));
        Some(Address { base, index, offset, space, bytes, mapped, within: None })
    }

    /// What `mapa` was given where a register holds what it has made of it, or a sum of that.
    fn mapped(&self, mut register: Register) -> Option<Operand> {
        let facts = self.facts;
        for _ in 0..MAX_SUMS {
            let [only] = facts.definitions(register) else { return None };
            let operands = facts.body.operands(Handle::new(*only));
            match facts.instance(*only).and_then(|instance| instance.effects.computes) {
                Some(Computation::MapRank) => return operands.get(1).copied(),
                Some(Computation::Move | Computation::Add | Computation::ToGeneric) => {}
                _ => return None,
            }
            match operands.get(1) {
                Some(Operand::Register { register: from, .. }) => register = *from,
                _ => return None,
            }
        }
        None
    }
}

/// Whether others than all threads of the block wait for an action, or it waits for others.
fn has_order(action: &Action) -> bool {
    match action {
        Action::Barrier { threads, waits, .. } => threads.is_some() || !waits,
        Action::Start { object, .. } => object.is_some(),
        Action::Access { .. }
        | Action::Multiply { .. }
        | Action::Allocate { .. }
        | Action::Tensor { .. }
        | Action::TensorFence { .. }
        | Action::Commit(_)
        | Action::Wait { .. }
        | Action::WaitAll(_)
        | Action::ProxyFence { .. }
        | Action::Global(_)
        | Action::GlobalFence { .. }
        | Action::ObjectFence => false,
        _ => true,
    }
}

/// Whether control can go on at several places after a block.
fn is_fork(facts: &FunctionFacts<'_>, block: NodeIndex) -> bool {
    let mut next = facts.cfg.successors(block);
    match (next.next(), next.next()) {
        (Some((only, edge)), None) => {
            edge.condition.is_some()
                || facts.cfg.instructions(only).is_empty() && facts.cfg.successors(only).nth(1).is_some()
        }
        (Some(_), Some(_)) => true,
        (None, _) => false,
    }
}
