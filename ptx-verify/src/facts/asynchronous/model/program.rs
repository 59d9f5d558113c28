//! The part of a kernel that decides about its protocol: what threads do to barriers, groups, proxies and shared memory,
//! and what that is computed of (Weiser's slice).
//!
//! Branches between which nothing of that happens are left out, so that loops over data cost nothing.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register, Variable};
use ptx_ir::isa::{
    AsyncAction, AsyncGroup, Computation, Control, Event, Instance, OperandSpec, Purpose, Role,
};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use rustc_hash::FxHashMap;

use super::clock::Row;
use super::compute::Shape;
use crate::facts::FunctionFacts;
use crate::facts::registers::aligned;
use crate::facts::uniformity::control::postdominators;
use crate::facts::values::{space_of, width};

/// Where a number comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A register, by its number in the program, and what is added to it.
    Register(u32, i64),
    /// The opposite of a predicate.
    Negated(u32),
    /// A constant.
    Number(u64),
    /// A special register, and what is added to it.
    Special(SpecialRegister, i64),
    /// A parameter of the kernel.
    Parameter,
    /// Nothing is known of it.
    Unknown,
}

/// Where memory is accessed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) base: Source,
    /// What is added to the base: a number, or for an element of an array its index.
    pub(super) index: Source,
    pub(super) offset: i64,
    /// The state space; none for a generic address.
    pub(super) space: Option<StateSpace>,
    /// How many bytes; 0 where that is not known.
    pub(super) bytes: u32,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Computes a register, and its opposite.
    Compute {
        shape: Shape,
        to: [Option<u32>; 2],
        from: [Source; 4],
    },
    /// Puts parts together, the lowest first.
    Pack {
        to: u32,
        parts: Vec<Source>,
        bits: u32,
    },
    /// Takes a number apart.
    Unpack {
        to: Vec<Option<u32>>,
        from: Source,
        bits: u32,
    },
    /// `cvta` of shared memory.
    Convert {
        to: u32,
        from: Source,
        to_generic: bool,
    },
    /// `mapa`
    MapRank {
        to: u32,
        from: Source,
        rank: Source,
    },
    /// Sets registers to what is not known.
    Forget(Vec<u32>),
    /// Goes on at another step.
    Jump(u32),
    /// Ends the thread.
    Exit,
    /// Does what cannot be followed.
    Opaque,
    /// Reads or writes memory through the generic proxy.
    Access {
        address: Address,
        reads: bool,
        writes: bool,
    },
    Init {
        object: Address,
        count: Source,
    },
    Invalidate {
        object: Address,
    },
    /// Arrives at an object, or expects bytes there, or both.
    Signal {
        object: Address,
        event: Event,
        count: Source,
        bytes: Source,
        blocks: Source,
        token: Option<u32>,
        relaxed: bool,
    },
    /// Arrives at an object when all `cp.async` so far are complete.
    SignalCopies {
        object: Address,
        counted: bool,
    },
    /// Asks whether a phase is complete.
    Test {
        object: Address,
        to: [Option<u32>; 2],
        parity: Option<Source>,
        phase: Source,
    },
    /// Starts what runs on its own.
    Start {
        group: Row,
        writes: Option<Address>,
        reads: Vec<Address>,
        object: Option<Address>,
        bytes: Source,
        blocks: Source,
    },
    /// Starts what reads matrices in shared memory.
    Multiply {
        group: Row,
        matrices: Vec<Source>,
    },
    Commit(Row),
    /// Waits until so many groups are pending, or have not read their sources.
    Wait {
        group: Row,
        pending: u32,
        only_reads: bool,
    },
    WaitAll(Row),
    /// Arrives at an object when all `tcgen05` operations so far are complete.
    CommitTo {
        object: Address,
        blocks: Source,
    },
    Barrier {
        number: Source,
        threads: Option<Source>,
        waits: bool,
    },
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    ProxyFence,
    ObjectFence,
}

/// A step of the program.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) instruction: u32,
    /// The predicate under which it runs, and the value that it must have.
    pub(super) guard: Option<(u32, bool)>,
    pub(super) action: Action,
}

/// The part of a kernel that is executed.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// How many registers it has.
    pub(super) registers: usize,
    /// Whether blocks of a cluster deal with each other.
    pub(super) clustered: bool,
    /// Whether the number of threads of a block counts, and in several dimensions.
    pub(super) counts_threads: bool,
    pub(super) counts_rows: bool,
}

/// A kernel with more instructions that count is not looked at.
const MAX_STEPS: usize = 40_000;
/// Blocks visited for the branches that decide about others: as many for each.
const VISITS_PER_BLOCK: usize = 64;

/// Makes the program of a kernel; none where it has no protocol, or where it is too large. `calls` are those of functions
/// that may take part in it, ascending.
pub(super) fn program(facts: &FunctionFacts<'_>, calls: &[u32]) -> Option<Program> {
    let mut decoder = Decoder {
        facts,
        calls,
        places: FxHashMap::default(),
        registers: FxHashMap::default(),
        names: Vec::new(),
        relevant: vec![false; facts.body.instructions.len()],
        pending: Vec::new(),
        program: Program::default(),
    };
    decoder.place_variables();
    decoder.decode()
}

struct Decoder<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    calls: &'f [u32],
    /// Where shared variables are.
    places: FxHashMap<Handle<Variable>, u64>,
    registers: FxHashMap<Register, u32>,
    names: Vec<Register>,
    relevant: Vec<bool>,
    pending: Vec<u32>,
    program: Program,
}

/// Where shared memory begins: descriptors of matrices have 18 bits for an address.
const FIRST_PLACE: u64 = 0x400;
/// Variables begin at multiples of this, and those without a size at multiples of the other one.
const ALIGNED: u64 = 128;
const ALIGNED_UNSIZED: u64 = 1024;
/// The bit of generic addresses of shared memory.
pub(super) const GENERIC: u64 = 1 << 44;
/// Bits of an address within the shared memory of a block; above them is the block's rank in its cluster and 1.
pub(super) const RANK: u32 = 24;

impl Decoder<'_, '_> {
    fn place_variables(&mut self) {
        let body = self.facts.body;
        let (mut next, mut unsized_ones) = (FIRST_PLACE, Vec::new());
        for operand in body.operands.iter().chain(&body.children) {
            let (Operand::Variable { variable, .. }
            | Operand::VariableAddress { variable, .. }
            | Operand::Element { variable, .. }) = *operand
            else {
                continue;
            };
            let declared = &self.facts.module.variables[variable];
            if declared.space.base() != StateSpace::Shared || self.places.contains_key(&variable) {
                continue;
            }
            match declared.size() {
                Some(size) => {
                    let align = u64::from(declared.align.unwrap_or(1)).max(ALIGNED);
                    next = next.next_multiple_of(align);
                    self.places.insert(variable, next);
                    next = next.saturating_add(size);
                }
                None => unsized_ones.push(variable),
            }
        }
        let behind = next.next_multiple_of(ALIGNED_UNSIZED);
        self.places.extend(unsized_ones.into_iter().map(|variable| (variable, behind)));
    }

    fn decode(mut self) -> Option<Program> {
        let facts = self.facts;
        let mut actions: FxHashMap<u32, Action> = FxHashMap::default();
        let mut is_protocol = false;
        for &block in facts.cfg.reverse_postorder() {
            for instruction in facts.cfg.instructions(block) {
                if let Some(action) = self.event(instruction) {
                    is_protocol |= !matches!(
                        action,
                        Action::Access { .. }
                            | Action::Opaque
                            | Action::ProxyFence
                            | Action::Barrier { threads: None, waits: true, .. }
                    );
                    self.push(instruction);
                    actions.insert(instruction, action);
                    if actions.len() > MAX_STEPS {
                        return None;
                    }
                }
            }
        }
        if !is_protocol {
            return None;
        }
        let above = postdominators(facts);
        let deciding = self.deciding(&above)?;
        // What sources name was pushed while they were decoded.
        while let Some(instruction) = self.pending.pop() {
            let handle = Handle::new(instruction);
            if let Some(register) = facts.body.instructions[handle].guard.and_then(|guard| guard.register) {
                self.name(register);
            }
            let block = facts.cfg.block_of(handle);
            for &branch in &deciding[block.index()] {
                self.push(branch);
            }
            if actions.contains_key(&instruction) || self.control(instruction) != Control::Next {
                continue;
            }
            let action = self.computation(instruction);
            actions.insert(instruction, action);
            if actions.len() > MAX_STEPS {
                return None;
            }
        }
        self.emit(&above, actions);
        self.program.registers = self.names.len();
        Some(self.program)
    }

    fn control(&self, instruction: u32) -> Control {
        self.facts.instance(instruction).map_or(Control::Next, |instance| instance.effects.control)
    }

    fn push(&mut self, instruction: u32) {
        if !std::mem::replace(&mut self.relevant[instruction as usize], true) {
            self.pending.push(instruction);
        }
    }

    /// The number of a register; what writes it is relevant.
    fn name(&mut self, register: Register) -> u32 {
        if let Some(&known) = self.registers.get(&register) {
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

    fn emit(&mut self, above: &[u32], mut actions: FxHashMap<u32, Action>) {
        let facts = self.facts;
        let count = facts.body.instructions.len() as u32;
        let mut places = vec![0_u32; count as usize + 1];
        let mut steps = Vec::new();
        let mut jumps: Vec<(usize, u32)> = Vec::new();
        for instruction in 0..count {
            places[instruction as usize] = steps.len() as u32;
            let handle = Handle::new(instruction);
            let block = facts.cfg.block_of(handle);
            if !facts.cfg.is_reachable(block) {
                continue;
            }
            let guard = facts.body.instructions[handle].guard;
            let guard_of = |decoder: &Self| {
                guard.map(|guard| {
                    match guard.register.and_then(|register| decoder.registers.get(&register)) {
                        Some(&register) => (register, !guard.negated),
                        None => (u32::MAX, true),
                    }
                })
            };
            let is_relevant = self.relevant[instruction as usize];
            let control = self.control(instruction);
            let is_fork_here = is_fork(facts, block) && facts.cfg.instructions(block).end == instruction + 1;
            let action = match control {
                Control::Next | Control::Call => match actions.remove(&instruction) {
                    Some(action) => action,
                    None => continue,
                },
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
                Control::IndexedBranch => Action::Opaque,
                Control::Return | Control::Exit | Control::Trap => Action::Exit,
            };
            let unguarded = control != Control::Next && is_fork_here && !is_relevant;
            let guard = if unguarded { None } else { guard_of(self) };
            steps.push(Step { instruction, guard, action });
        }
        places[count as usize] = steps.len() as u32;
        for (step, target) in jumps {
            steps[step].action = Action::Jump(places[target.min(count) as usize]);
        }
        self.program.steps = steps;
    }

    fn source(&mut self, operand: Operand) -> Source {
        match operand {
            Operand::Register { register, .. } => Source::Register(self.name(register), 0),
            Operand::Sum { register, offset, .. } => Source::Register(self.name(register), offset),
            Operand::Negated { register, .. } => Source::Negated(self.name(register)),
            Operand::Integer { bits, .. } => Source::Number(bits),
            Operand::WarpSize => Source::Number(32),
            Operand::Special(register) => self.special(register, 0),
            Operand::SpecialSum { register, offset } => self.special(register, offset),
            Operand::Variable { variable, offset } => self.variable(variable, offset),
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

    fn register(&mut self, operand: Option<&Operand>) -> Option<u32> {
        match operand {
            Some(Operand::Register { register, .. }) => self.registers.get(register).copied(),
            _ => None,
        }
    }

    /// Registers of a result, one or a pair; those that nobody asks for are none.
    fn results(&mut self, operand: Option<&Operand>) -> [Option<u32>; 2] {
        match operand {
            Some(Operand::Pair(run)) => {
                let parts = self.facts.body.children(*run);
                [self.register(parts.first()), self.register(parts.get(1))]
            }
            other => [self.register(other), None],
        }
    }

    fn address(&mut self, operand: Operand, spec: &OperandSpec, bytes: u32) -> Option<Address> {
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
        Some(Address { base, index, offset, space: access.space, bytes })
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

/// The operands of an instruction with what the table says of them.
struct Operands<'a> {
    operands: &'a [Operand],
    specs: Vec<Option<&'a OperandSpec>>,
}

impl<'a> Operands<'a> {
    fn of(facts: &FunctionFacts<'a>, instruction: u32, instance: &'a Instance) -> Self {
        let body = facts.body;
        let operands = body.operands(Handle::new(instruction));
        let specs = match instance.operands.len() == operands.len() {
            true => instance.operands.iter().map(Some).collect(),
            false => aligned(facts.module, body, instance, operands),
        };
        Self { operands, specs }
    }

    fn all(&self) -> impl Iterator<Item = (Operand, &'a OperandSpec)> {
        self.operands.iter().copied().zip(&self.specs).filter_map(|(operand, spec)| Some((operand, (*spec)?)))
    }

    fn for_purpose(&self, purpose: Purpose) -> Option<(Operand, &'a OperandSpec)> {
        self.all().find(|(_, spec)| spec.purpose == Some(purpose))
    }

    fn addresses(&self) -> impl Iterator<Item = (Operand, &'a OperandSpec)> {
        self.all().filter(|(_, spec)| spec.access.is_some())
    }
}

/// Whether an operand may name shared memory.
fn may_be_shared(spec: &OperandSpec) -> bool {
    spec.access.is_some_and(|access| access.space.is_none_or(|space| space.base() == StateSpace::Shared))
}

const fn row_of(group: AsyncGroup) -> Option<Row> {
    match group {
        AsyncGroup::CpAsync => Some(Row::CpAsync),
        AsyncGroup::Bulk => Some(Row::Bulk),
        AsyncGroup::Wgmma => Some(Row::Wgmma),
        AsyncGroup::Tcgen05 => Some(Row::Tcgen05),
        _ => None,
    }
}

impl Decoder<'_, '_> {
    /// What an instruction does to the protocol.
    fn event(&mut self, instruction: u32) -> Option<Action> {
        let facts = self.facts;
        let instance = facts.instance(instruction)?;
        let effects = &instance.effects;
        if effects.control == Control::Call {
            return self.calls.binary_search(&instruction).is_ok().then_some(Action::Opaque);
        }
        let named = Operands::of(facts, instruction, instance);
        if let Some(event) = effects.event {
            return self.ordered(event, instance, &named);
        }
        if let Some((group, action)) = effects.asynchronous {
            return self.asynchronous(group, action, instance, &named);
        }
        if effects.computes.is_some() && !effects.reads_memory && !effects.writes_memory {
            return None;
        }
        let (operand, spec) = named.addresses().find(|(_, spec)| may_be_shared(spec))?;
        let access = spec.access?;
        // Generic addresses of what is no shared memory are not followed.
        let is_known = access.space.is_some() || self.points_to_shared(operand);
        let address = is_known.then(|| self.address(operand, spec, access.bytes)).flatten()?;
        Some(Action::Access { address, reads: access.reads, writes: access.writes })
    }

    /// Whether a generic address may be one of shared memory: there is such a conversion in the kernel.
    fn points_to_shared(&self, operand: Operand) -> bool {
        let Operand::RegisterAddress { base, .. } = operand else { return false };
        let mut register = base;
        for _ in 0..16 {
            let [write] = self.facts.definitions(register) else { return false };
            let Some(instance) = self.facts.instance(*write) else { return false };
            match instance.effects.computes {
                Some(Computation::ToGeneric) => return space_of(instance) == Some(StateSpace::Shared),
                Some(Computation::MapRank) => return true,
                Some(Computation::Add | Computation::Move) => {}
                _ => return false,
            }
            match self.facts.body.operands(Handle::new(*write)).get(1) {
                Some(Operand::Register { register: from, .. }) => register = *from,
                _ => return false,
            }
        }
        false
    }

    fn ordered(&mut self, event: Event, instance: &Instance, named: &Operands<'_>) -> Option<Action> {
        let mut given =
            |purpose: Purpose| named.for_purpose(purpose).map(|(operand, _)| self.source(operand));
        match event {
            Event::BarrierSync | Event::BarrierArrive => {
                let number = given(Purpose::BarrierNumber)?;
                let threads = given(Purpose::Threads);
                self.program.counts_threads = true;
                Some(Action::Barrier { number, threads, waits: event == Event::BarrierSync })
            }
            Event::ClusterArrive => {
                self.program.clustered = true;
                Some(Action::ClusterArrive { relaxed: instance.has(".relaxed") })
            }
            Event::ClusterWait => Some(Action::ClusterWait),
            Event::ProxyFence => Some(Action::ProxyFence),
            Event::ObjectFence => Some(Action::ObjectFence),
            Event::Arrive
            | Event::ArriveExpect
            | Event::Drop
            | Event::DropExpect
            | Event::Expect
            | Event::Complete => {
                let count = given(Purpose::Arrivals).unwrap_or(Source::Number(1));
                let bytes = given(Purpose::Bytes).unwrap_or(Source::Number(0));
                let blocks = given(Purpose::Blocks).unwrap_or(Source::Number(0));
                let (operand, spec) = named.addresses().next()?;
                let object = self.address(operand, spec, 8)?;
                if let Some((AsyncGroup::CpAsync, _)) = instance.effects.asynchronous {
                    return Some(Action::SignalCopies { object, counted: !instance.has(".noinc") });
                }
                // A token that nobody reads is not asked for.
                let token = named.for_purpose(Purpose::Phase).and_then(|(operand, _)| match operand {
                    Operand::Register { register, .. } => Some(self.name(register)),
                    _ => None,
                });
                let relaxed = instance.has(".relaxed.cta") || instance.has(".relaxed.cluster");
                Some(Action::Signal { object, event, count, bytes, blocks, token, relaxed })
            }
        }
    }

    fn asynchronous(
        &mut self,
        group: AsyncGroup,
        action: AsyncAction,
        instance: &Instance,
        named: &Operands<'_>,
    ) -> Option<Action> {
        let first_object = |decoder: &mut Self| {
            let (operand, spec) = named.addresses().next()?;
            decoder.address(operand, spec, 8)
        };
        match (group, action) {
            (AsyncGroup::Mbarrier, AsyncAction::Init) => {
                let (operand, _) = named.for_purpose(Purpose::Arrivals)?;
                Some(Action::Init { object: first_object(self)?, count: self.source(operand) })
            }
            (AsyncGroup::Mbarrier, AsyncAction::Release) => {
                Some(Action::Invalidate { object: first_object(self)? })
            }
            (AsyncGroup::Mbarrier, AsyncAction::Test) => {
                let object = first_object(self)?;
                let parity = named.for_purpose(Purpose::Parity).map(|(operand, _)| self.source(operand));
                let phase = named.for_purpose(Purpose::Phase).map(|(operand, _)| self.source(operand));
                let result = named.all().find(|(_, spec)| spec.role == Role::Destination);
                if let Some((Operand::Register { register, .. }, _)) = result {
                    self.name(register);
                }
                let to = self.results(result.as_ref().map(|(operand, _)| operand));
                Some(Action::Test { object, to, parity, phase: phase.unwrap_or(Source::Unknown) })
            }
            (AsyncGroup::Tcgen05, AsyncAction::Commit) => {
                let (operand, spec) = named.for_purpose(Purpose::Barrier)?;
                let blocks = named.for_purpose(Purpose::Blocks);
                let blocks = blocks.map_or(Source::Number(0), |(operand, _)| self.source(operand));
                Some(Action::CommitTo { object: self.address(operand, spec, 8)?, blocks })
            }
            (AsyncGroup::Wgmma | AsyncGroup::Tcgen05, AsyncAction::Start) => {
                let matrices = named.all().filter(|(_, spec)| spec.purpose == Some(Purpose::Descriptor));
                let matrices: Vec<Operand> = matrices.map(|(operand, _)| operand).collect();
                let matrices = matrices.into_iter().map(|operand| self.source(operand)).collect();
                Some(Action::Multiply { group: row_of(group)?, matrices })
            }
            (AsyncGroup::Mbarrier | AsyncGroup::CpAsync | AsyncGroup::Bulk, AsyncAction::Start) => {
                self.copy(group, named)
            }
            (_, AsyncAction::Commit) => Some(Action::Commit(row_of(group)?)),
            (_, AsyncAction::WaitAll) => Some(Action::WaitAll(row_of(group)?)),
            (_, AsyncAction::Wait) => {
                let pending = match named.for_purpose(Purpose::Groups)?.0 {
                    Operand::Integer { bits, .. } => u32::try_from(bits).unwrap_or(u32::MAX),
                    _ => 0,
                };
                let only_reads = instance.has(".read");
                Some(Action::Wait { group: row_of(group)?, pending, only_reads })
            }
            _ => None,
        }
    }

    fn copy(&mut self, group: AsyncGroup, named: &Operands<'_>) -> Option<Action> {
        let sized = named.for_purpose(Purpose::Bytes).map(|(operand, _)| self.source(operand));
        let object = named.for_purpose(Purpose::Barrier);
        let (mut writes, mut reads) = (None, Vec::new());
        let mut bytes = sized.unwrap_or(Source::Unknown);
        for (operand, spec) in named.addresses().filter(|(_, spec)| may_be_shared(spec)) {
            let Some(access) = spec.access.filter(|_| spec.purpose != Some(Purpose::Barrier)) else {
                continue;
            };
            let mut size = access.bytes;
            if size == 0
                && let Some(name) = access.sized
            {
                let by_name = named.all().find(|(_, spec)| spec.name == name);
                if let Some((Operand::Integer { bits, .. }, _)) = by_name {
                    size = bits as u32;
                }
            }
            if size > 0 && sized.is_none() {
                bytes = Source::Number(u64::from(size));
            }
            let Some(address) = self.address(operand, spec, size) else { continue };
            if access.writes {
                writes = Some(address);
            } else {
                reads.push(address);
            }
        }
        let blocks = named.for_purpose(Purpose::Blocks);
        let blocks = blocks.map_or(Source::Number(0), |(operand, _)| self.source(operand));
        let object = match object {
            Some((operand, spec)) => Some(self.address(operand, spec, 8)?),
            None => None,
        };
        let group = row_of(group).unwrap_or(Row::Bulk);
        Some(Action::Start { group, writes, reads, object, bytes, blocks })
    }

    fn bits_of(&self, register: u32) -> u32 {
        self.facts.body.register_type(self.names[register as usize]).map_or(64, width)
    }

    /// What an instruction computes that something relevant reads.
    fn computation(&mut self, instruction: u32) -> Action {
        let facts = self.facts;
        let body = facts.body;
        let handle = Handle::new(instruction);
        let written: Vec<u32> = facts
            .uses()
            .of(instruction)
            .iter()
            .filter(|each| each.access().writes())
            .filter_map(|each| self.registers.get(&each.register).copied())
            .collect();
        let forget = Action::Forget(written);
        let Some(instance) = facts.instance(instruction) else { return forget };
        let Some(computes) = instance.effects.computes else { return forget };
        let operands = body.operands(handle);
        if computes == Computation::Load {
            let is_parameter = operands.get(1).is_some_and(|operand| match *operand {
                Operand::VariableAddress { variable, .. } => {
                    facts.module.variables[variable].space.base() == StateSpace::Param
                }
                _ => false,
            });
            let Some(to) = self.register(operands.first()).filter(|_| is_parameter) else { return forget };
            let shape = Shape::moved(instance.ty.map_or(64, width), self.bits_of(to));
            return Action::Compute { shape, to: [Some(to), None], from: sources([Source::Parameter]) };
        }
        if computes == Computation::Move
            && let [Operand::Vector(parts), from] = operands
        {
            let parts = body.children(*parts);
            let bits = instance.ty.map_or(64, width) / parts.len().max(1) as u32;
            let to = parts.iter().map(|part| self.register(Some(part))).collect();
            let from = self.source(*from);
            return Action::Unpack { to, from, bits };
        }
        let to = self.results(operands.first());
        let Some(first) = to[0].or(to[1]) else { return forget };
        if computes == Computation::Move
            && let [_, Operand::Vector(parts)] = operands
        {
            let parts: Vec<Operand> = body.children(*parts).to_vec();
            let bits = instance.ty.map_or(64, width) / parts.len().max(1) as u32;
            let parts = parts.into_iter().map(|part| self.source(part)).collect();
            return Action::Pack { to: first, parts, bits };
        }
        match computes {
            Computation::ToGeneric | Computation::FromGeneric => {
                let Some(&from) = operands.get(1) else { return forget };
                let from = self.source(from);
                if space_of(instance).map(StateSpace::base) != Some(StateSpace::Shared) {
                    let shape = Shape::moved(64, self.bits_of(first));
                    return Action::Compute { shape, to, from: sources([from]) };
                }
                let to_generic = computes == Computation::ToGeneric;
                return Action::Convert { to: first, from, to_generic };
            }
            Computation::MapRank => {
                let [_, from, rank] = operands else { return forget };
                let (from, rank) = (*from, *rank);
                return Action::MapRank { to: first, from: self.source(from), rank: self.source(rank) };
            }
            _ => {}
        }
        let Some(shape) = Shape::of(instance, self.bits_of(first)) else { return forget };
        let mut from = [Source::Number(0); 4];
        let named: Vec<Operand> = operands.iter().skip(1).copied().collect();
        for (source, operand) in from.iter_mut().zip(named) {
            *source = self.source(operand);
        }
        Action::Compute { shape, to, from }
    }
}

fn sources<const N: usize>(given: [Source; N]) -> [Source; 4] {
    let mut all = [Source::Number(0); 4];
    all.iter_mut().zip(given).for_each(|(source, given)| *source = given);
    all
}
