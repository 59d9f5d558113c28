//! What instructions are in the program of a protocol.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{
    AsyncAction, AsyncGroup, Computation, Control, Convergence, Event, Instance, Mode, OperandSpec, Purpose,
    Role, Update,
};
use ptx_ir::space::StateSpace;
use ptx_ir::types::{Type, TypeKind};

use super::clock::Row;
use super::decides::decides;
use super::extents;
use super::passed::{brought, passed};
use super::program::{Action, MAX_SHARED, Rows, Source};
use super::slice::Decoder;
use super::value::ALL;
use crate::FunctionFacts;
use crate::asynchronous::addresses::summed_variable;
use crate::asynchronous::elements::{is_load, reads_next};
use crate::asynchronous::fences_global;
use crate::evaluate::Shape;
use crate::registers::aligned;
use crate::values::{is_signed, space_of, width};

/// Registers of one instruction that are looked at where the table does not say what it computes.
const MAX_SOURCES: usize = 4;
/// Instructions that may write a register of an address which is looked at.
const MAX_WRITES_OF_ADDRESS: usize = 5;
/// Registers that are looked at for where a generic address comes from.
const MAX_SOURCES_OF_ADDRESS: usize = 24;
/// Bytes of an address in tensor memory.
const TENSOR_ADDRESS: u32 = 4;

/// The operands of an instruction with what the table says of them.
pub(super) struct Operands<'a> {
    operands: &'a [Operand],
    specs: Specs<'a>,
}

/// What the table says of each operand.
enum Specs<'a> {
    /// One after the other.
    All(&'a [OperandSpec]),
    /// Optional operands are left out.
    Some(Vec<Option<&'a OperandSpec>>),
}

impl<'a> Specs<'a> {
    fn get(&self, index: usize) -> Option<&'a OperandSpec> {
        match self {
            Self::All(all) => all.get(index),
            Self::Some(some) => *some.get(index)?,
        }
    }
}

impl<'a> Operands<'a> {
    pub(super) fn of(facts: &FunctionFacts<'a>, instruction: u32, instance: &'a Instance) -> Self {
        let body = facts.body;
        let operands = body.operands(Handle::new(instruction));
        let specs = match instance.operands.len() == operands.len() {
            true => Specs::All(&instance.operands),
            false => Specs::Some(aligned(facts.module, body, instance, operands)),
        };
        Self { operands, specs }
    }

    fn all(&self) -> impl Iterator<Item = (Operand, &'a OperandSpec)> {
        let spec = |(index, &operand)| Some((operand, self.specs.get(index)?));
        self.operands.iter().enumerate().filter_map(spec)
    }

    fn for_purpose(&self, purpose: Purpose) -> Option<(Operand, &'a OperandSpec)> {
        self.all().find(|(_, spec)| spec.purpose == Some(purpose))
    }

    /// The operand that the manual names so.
    pub(super) fn named(&self, name: &str) -> Option<Operand> {
        self.all().find(|(_, spec)| spec.name == name).map(|(operand, _)| operand)
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = (Operand, &'a OperandSpec)> {
        self.all().filter(|(_, spec)| spec.access.is_some())
    }
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
    pub(super) fn event(&mut self, instruction: u32) -> Option<Action> {
        let facts = self.facts;
        let instance = facts.instance(instruction)?;
        let effects = &instance.effects;
        if effects.control == Control::Call {
            return self.calls.binary_search(&instruction).is_ok().then_some(Action::Opaque);
        }
        // Tensor maps in shared memory are data there.
        let event = effects.event.filter(|event| !event.concerns_maps());
        let is_plain = event.is_none() && effects.asynchronous.is_none();
        if self.program.has_global {
            if let Some(action) = self.of_global(instruction, instance) {
                return Some(action);
            }
            if event == Some(Event::Fence) {
                return Some(self.fence(instruction, instance));
            }
        }
        if is_plain && !instance.may_access_shared {
            return None;
        }
        let named = Operands::of(facts, instruction, instance);
        if let Some(event) = event {
            self.takes_scope(instruction, instance);
            return self.ordered(event, instance, &named);
        }
        if let Some((group, action)) = effects.asynchronous {
            return self.asynchronous(instruction, (group, action), instance, &named);
        }
        if effects.computes.is_some() && !effects.reads_memory && !effects.writes_memory {
            return None;
        }
        let (operand, spec) = named.addresses().find(|(_, spec)| spec.may_access_shared())?;
        let access = spec.access?;
        // Generic addresses of what is no shared memory are not followed.
        let is_known = access.space.is_some() || self.points_to_shared(operand);
        let mut address = is_known.then(|| self.address(operand, spec, access.bytes)).flatten()?;
        if effects.atomic {
            address.within = self.variable_of(instruction, operand);
        }
        let lanes = if instance.is(Mode::EightAddresses) {
            0xff
        } else if instance.is(Mode::SixteenAddresses) {
            0xffff
        } else {
            ALL
        };
        let (reads, writes) = (access.reads, access.writes);
        let is_plain = !effects.atomic
            && ![Mode::Volatile, Mode::Relaxed, Mode::Acquire, Mode::Release]
                .iter()
                .any(|&mode| instance.is(mode));
        let is_float = instance.ty.is_none_or(|ty| matches!(ty.kind(), TypeKind::Float | TypeKind::Packed));
        let ty = instance.ty.unwrap_or(Type::B32);
        let update = effects.updates.filter(|_| effects.atomic && !is_float && access.bytes * 8 == width(ty));
        let update = update.map(|update| (update, width(ty), is_signed(ty)));
        // Whose ticket only leads to a place has not waited for anybody.
        let is_ticket = || effects.atomic && !decides(self.facts, instruction);
        let is_read = !is_plain && self.facts.is_result_read(instruction) && !is_ticket();
        self.program.has_flags |= is_read;
        // A volatile load may be of what a barrier has brought.
        let is_strong = [Mode::Relaxed, Mode::Acquire].iter().any(|&mode| instance.is(mode));
        self.program.has_polls |= is_read && is_strong && !effects.atomic;
        if writes && !reads && is_plain {
            self.stores.push(instruction);
        }
        let is_fixed = matches!((address.base, address.index), (Source::Number(_), Source::Number(_)));
        if reads && !writes && is_plain && !is_fixed {
            let variable = self.variable_of(instruction, operand);
            self.program.gathers.extend(variable.map(|variable| (instruction, variable)));
        }
        Some(Action::Access {
            address,
            reads,
            writes,
            is_plain,
            lanes,
            together: effects.convergence != Convergence::None,
            to: Vec::new(),
            from: Vec::new(),
            part: 0,
            extends: None,
            update,
        })
    }

    /// Whether a generic address may be one of shared memory: there is such a conversion in the kernel. Who aligns an address
    /// clears bits of it.
    pub(super) fn points_to_shared(&self, operand: Operand) -> bool {
        let Operand::RegisterAddress { base, .. } = operand else { return false };
        let (mut open, mut left) = (vec![base], MAX_SOURCES_OF_ADDRESS);
        let (mut writes, mut seen): (Vec<u32>, Vec<_>) = (Vec::new(), Vec::new());
        loop {
            // One that a loop moves begins elsewhere, and one of several is chosen by several instructions.
            let Some(write) = writes.pop() else {
                let Some(register) = open.pop() else { break };
                let Some(rest) = left.checked_sub(1) else { return false };
                left = rest;
                let known = self.facts.definitions(register);
                if known.len() <= MAX_WRITES_OF_ADDRESS && !seen.contains(&register) {
                    seen.push(register);
                    writes.extend(known);
                }
                continue;
            };
            let write = &write;
            let Some(instance) = self.facts.instance(*write) else { continue };
            match instance.effects.computes {
                Some(Computation::ToGeneric) if space_of(instance) == Some(StateSpace::Shared) => {
                    return true;
                }
                Some(Computation::MapRank) => return true,
                // Who rounds an address up may divide it and multiply it again.
                Some(
                    Computation::Add
                    | Computation::Move
                    | Computation::Select
                    | Computation::And
                    | Computation::Subtract
                    | Computation::Divide
                    | Computation::Multiply
                    | Computation::ShiftLeft
                    | Computation::ShiftRight,
                ) => {
                    let from = self.facts.body.operands(Handle::new(*write)).iter().skip(1).rev();
                    open.extend(from.filter_map(|operand| match operand {
                        Operand::Register { register, .. } => Some(*register),
                        _ => None,
                    }));
                }
                Some(Computation::Load) => {
                    if let Some([from]) = brought(self.facts, *write).as_deref() {
                        open.push(*from);
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Where the variable in shared memory begins and ends that is a part of the sum which an address is.
    fn variable_of(&self, instruction: u32, operand: Operand) -> Option<(u64, u64)> {
        let Operand::RegisterAddress { base, .. } = operand else { return None };
        let variable = summed_variable(self.facts, instruction, base)?;
        let start = *self.places.get(&variable)?;
        let known = self.program.variables.iter().find(|(place, _)| *place == start);
        // What the launch adds comes after all others.
        Some((start, known.map_or(MAX_SHARED, |(_, size)| start + size)))
    }

    fn ordered(&mut self, event: Event, instance: &Instance, named: &Operands<'_>) -> Option<Action> {
        let mut given =
            |purpose: Purpose| named.for_purpose(purpose).map(|(operand, _)| self.source(operand));
        match event {
            Event::BarrierSync | Event::BarrierArrive => {
                let number = given(Purpose::BarrierNumber)?;
                let threads = given(Purpose::Threads);
                if let Some((operand, _)) = named.for_purpose(Purpose::Threads) {
                    self.takes_count(operand);
                }
                self.program.counts_threads = true;
                Some(Action::Barrier { number, threads, waits: event == Event::BarrierSync })
            }
            Event::ClusterArrive => {
                self.program.clustered = true;
                Some(Action::ClusterArrive { relaxed: instance.is(Mode::Relaxed) })
            }
            Event::ClusterWait => Some(Action::ClusterWait),
            Event::GiveRegisters | Event::TakeRegisters => {
                let (operand, _) = named.for_purpose(Purpose::Registers)?;
                let Operand::Integer { bits, .. } = operand else { return None };
                self.program.counts_threads = true;
                let takes = event == Event::TakeRegisters;
                Some(Action::Registers { count: u32::try_from(bits).ok()?, takes })
            }
            Event::Fence
            | Event::GridBegin
            | Event::GridWait
            | Event::MapChange
            | Event::MapPublish
            | Event::MapRelease
            | Event::MapAcquire => None,
            Event::ProxyFence => Some(Action::ProxyFence { shared: true, global: fences_global(instance) }),
            Event::GlobalProxyFence => {
                self.program.has_global.then_some(Action::ProxyFence { shared: false, global: true })
            }
            Event::ObjectFence => Some(Action::ObjectFence),
            // Nobody goes on from here, and nobody waits for those who came.
            Event::Break => Some(Action::Opaque),
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
                    return Some(Action::SignalCopies { object, counted: !instance.is(Mode::Uncounted) });
                }
                // A token that nobody reads is not asked for.
                let token = named.for_purpose(Purpose::Phase).and_then(|(operand, _)| match operand {
                    Operand::Register { register, .. } => Some(self.name(register)),
                    _ => None,
                });
                let relaxed = self.is_relaxed(instance);
                Some(Action::Signal { object, event, count, bytes, blocks, token, relaxed })
            }
        }
    }

    fn asynchronous(
        &mut self,
        instruction: u32,
        (group, action): (AsyncGroup, AsyncAction),
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
                self.takes_count(operand);
                Some(Action::Init { object: first_object(self)?, count: self.source(operand) })
            }
            (AsyncGroup::Mbarrier, AsyncAction::Release) => {
                Some(Action::Invalidate { object: first_object(self)? })
            }
            (AsyncGroup::Mbarrier, AsyncAction::Test) => {
                if let Some(unheard) = super::answers::unheard(self.facts, instruction) {
                    // Who does not listen to the answer does not wait.
                    self.program.unheard.push(unheard);
                    return None;
                }
                let object = first_object(self)?;
                let parity = named.for_purpose(Purpose::Parity).map(|(operand, _)| self.source(operand));
                let phase = named.for_purpose(Purpose::Phase).map(|(operand, _)| self.source(operand));
                let result = named.all().find(|(_, spec)| spec.role == Role::Destination);
                if let Some((Operand::Register { register, .. }, _)) = result {
                    self.name(register);
                }
                let to = self.results(result.as_ref().map(|(operand, _)| operand));
                let (phase, relaxed) = (phase.unwrap_or(Source::Unknown), self.is_relaxed(instance));
                self.takes_scope(instruction, instance);
                Some(Action::Test { object, to, parity, phase, relaxed })
            }
            (AsyncGroup::Tcgen05, AsyncAction::Commit) => {
                let (operand, spec) = named.for_purpose(Purpose::Barrier)?;
                let blocks = named.for_purpose(Purpose::Blocks);
                let blocks = blocks.map_or(Source::Number(0), |(operand, _)| self.source(operand));
                Some(Action::CommitTo { object: self.address(operand, spec, 8)?, blocks })
            }
            (AsyncGroup::Tcgen05Allocation, AsyncAction::Init) => {
                let (operand, spec) = named.addresses().next()?;
                let address = self.address(operand, spec, TENSOR_ADDRESS)?;
                let columns = named.operands.get(1).map_or(Source::Unknown, |count| self.source(*count));
                Some(Action::Allocate { address, columns })
            }
            (AsyncGroup::Tcgen05Allocation, AsyncAction::Release) => {
                self.program.of_pairs.extend(is_of_pair(instance).then_some(instruction));
                let [first, columns, ..] = named.operands else { return None };
                let (first, columns) = (*first, *columns);
                Some(Action::Deallocate { first: self.source(first), columns: self.source(columns) })
            }
            (AsyncGroup::Tcgen05, AsyncAction::FenceBefore) => Some(Action::TensorFence { after: false }),
            (AsyncGroup::Tcgen05, AsyncAction::FenceAfter) => {
                self.program.fences_tensor = true;
                Some(Action::TensorFence { after: true })
            }
            (AsyncGroup::Tcgen05Load, AsyncAction::WaitAll) => Some(Action::WaitLoads),
            (AsyncGroup::Tcgen05Load | AsyncGroup::Tcgen05Store, AsyncAction::Start) => {
                let address = self.tensor_address(named)?;
                Some(Action::Tensor { address, writes: group == AsyncGroup::Tcgen05Store })
            }
            (AsyncGroup::Wgmma | AsyncGroup::Tcgen05, AsyncAction::Start) => {
                let matrices = named.all().filter(|(_, spec)| spec.purpose == Some(Purpose::Descriptor));
                let matrices: Vec<Operand> = matrices.map(|(operand, _)| operand).collect();
                let matrices: Vec<Source> =
                    matrices.into_iter().map(|operand| self.source(operand)).collect();
                let is_tensor = group == AsyncGroup::Tcgen05 && !matrices.is_empty();
                let accumulators = if is_tensor { self.tensor_address(named) } else { None };
                let proxy = instance.effects.async_proxy;
                let rows = match named.named("id") {
                    None => {
                        let is_set = |name: &str| {
                            let operand = named.named(name);
                            operand.is_some_and(|each| !matches!(each, Operand::Integer { bits: 0, .. }))
                        };
                        extents::of_wgmma(instance, [is_set("ta"), is_set("tb")], matrices.len())
                    }
                    Some(id) if is_tensor && extents::is_described(instance) => {
                        Rows::Described(self.descriptor(id), is_of_pair(instance))
                    }
                    Some(_) => Rows::Unknown,
                };
                Some(Action::Multiply { group: row_of(group)?, proxy, matrices, accumulators, rows })
            }
            (AsyncGroup::Mbarrier | AsyncGroup::CpAsync | AsyncGroup::Bulk, AsyncAction::Start) => {
                self.copy(group, instance, named)
            }
            (_, AsyncAction::Commit) => Some(Action::Commit(row_of(group)?)),
            (_, AsyncAction::WaitAll) => Some(Action::WaitAll(row_of(group)?)),
            (_, AsyncAction::Wait) => {
                let pending = match named.for_purpose(Purpose::Groups)?.0 {
                    Operand::Integer { bits, .. } => u32::try_from(bits).unwrap_or(u32::MAX),
                    _ => 0,
                };
                let only_reads = instance.is(Mode::Reads);
                Some(Action::Wait { group: row_of(group)?, pending, only_reads })
            }
            _ => None,
        }
    }

    /// A descriptor of an operation. Of one that is a constant only the bits count that tell of rows, so that kernels for other
    /// types of data have the same program.
    fn descriptor(&mut self, operand: Operand) -> Source {
        let facts = self.facts;
        let constant = || {
            let Operand::Register { register, .. } = operand else { return None };
            let [only] = *facts.definitions(register) else { return None };
            let computes = facts.instance(only)?.effects.computes.filter(|_| !facts.is_guarded(only))?;
            match (computes, facts.body.operands(Handle::new(only))) {
                (Computation::Move, [_, Operand::Integer { bits, .. }]) => Some(*bits),
                _ => None,
            }
        };
        match constant() {
            Some(bits) => Source::Number(bits & extents::DESCRIBED),
            None => self.source(operand),
        }
    }

    /// The first place in tensor memory that an instruction names.
    fn tensor_address(&mut self, named: &Operands<'_>) -> Option<Source> {
        named.all().find_map(|(operand, spec)| match operand {
            Operand::RegisterAddress { base, offset, .. } if spec.access.is_none() => {
                Some(Source::Register(self.name(base), i64::from(offset)))
            }
            _ => None,
        })
    }

    fn copy(&mut self, group: AsyncGroup, instance: &Instance, named: &Operands<'_>) -> Option<Action> {
        let sized = named.for_purpose(Purpose::Bytes).map(|(operand, _)| self.source(operand));
        let object = named.for_purpose(Purpose::Barrier);
        let (mut writes, mut reads) = (None, Vec::new());
        let mut bytes = sized.unwrap_or(Source::Unknown);
        for (operand, spec) in named.addresses().filter(|(_, spec)| spec.may_access_shared()) {
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
        let everywhere = if instance.is(Mode::Everywhere) { u64::MAX } else { 0 };
        self.program.clustered |= everywhere != 0;
        let blocks = blocks.map_or(Source::Number(everywhere), |(operand, _)| self.source(operand));
        let object = match object {
            Some((operand, spec)) => Some(self.address(operand, spec, 8)?),
            None => None,
        };
        let group = row_of(group).unwrap_or(Row::Bulk);
        let proxy = instance.effects.async_proxy;
        let paired = instance.is(Mode::Paired);
        let from = self.read_by_copy(named);
        Some(Action::Start { group, proxy, writes, reads, from, object, bytes, blocks, paired })
    }

    /// Takes note of the scope that an instruction names. Where it names none, it means the block, and libraries mean the cluster.
    fn takes_scope(&mut self, instruction: u32, instance: &Instance) {
        let is_wide = instance.is(Mode::ClusterScope);
        if is_wide || instance.is(Mode::BlockScope) {
            self.program.scopes.insert(instruction, is_wide);
        }
    }

    /// Whether an instruction orders nothing, and no fence does it instead.
    fn is_relaxed(&self, instance: &Instance) -> bool {
        let is_fence = |at: u32| {
            let event = self.facts.instance(at).and_then(|instance| instance.effects.event);
            self.facts.is_call(at) || event == Some(Event::Fence)
        };
        instance.is(Mode::Relaxed) && !self.facts.reaching_out().any(is_fence)
    }

    pub(super) fn bits_of(&self, register: u32) -> u32 {
        self.facts.body.register_type(self.names[register as usize]).map_or(64, width)
    }

    /// Takes note of a count that is computed of a parameter: what a launch gives there is not known.
    fn takes_count(&mut self, count: Operand) {
        const MAX_VISITS: usize = 64;
        let Operand::Register { register, .. } = count else { return };
        let (mut pending, mut seen) = (vec![register], Vec::new());
        while let Some(register) = pending.pop() {
            if seen.contains(&register) {
                continue;
            }
            seen.push(register);
            for &write in self.facts.definitions(register) {
                let operands = self.facts.body.operands(Handle::new(write));
                let is_parameter = |operand: &Operand| match *operand {
                    Operand::VariableAddress { variable, .. } => {
                        let variable = &self.facts.module.variables[variable];
                        variable.space.base() == StateSpace::Param && variable.is_parameter
                    }
                    _ => false,
                };
                if operands.iter().any(is_parameter) || seen.len() > MAX_VISITS {
                    self.program.takes_counts = true;
                    return;
                }
                let reads = self.facts.uses().of(write).iter().filter(|each| each.access().reads());
                pending.extend(reads.map(|each| each.register));
            }
        }
    }

    /// The registers of an operand, one or a vector of them.
    pub(super) fn parts(&self, operand: Operand) -> Vec<Operand> {
        match operand {
            Operand::Vector(run) => self.facts.body.children(run).to_vec(),
            other => vec![other],
        }
    }

    /// The registers that an instruction computes something of.
    fn sources_of(&mut self, instruction: u32) -> Vec<Source> {
        let uses = self.facts.uses().of(instruction);
        let reads = uses.iter().filter(|each| each.access().reads()).map(|each| each.register);
        let reads: Vec<Register> = reads.take(MAX_SOURCES).collect();
        reads.into_iter().map(|register| Source::Register(self.name(register), 0)).collect()
    }

    /// What an instruction gets from parameters, or from other memory and from arithmetic with what is there.
    fn loaded(&mut self, instruction: u32, parameters: bool) -> Action {
        let written = self.facts.uses().of(instruction).iter().filter(|each| each.access().writes());
        let known = written.filter_map(|each| self.registers.get(each.register));
        let bits = self.facts.instance(instruction).and_then(|instance| instance.ty).map_or(64, width);
        let to = known.map(|register| (register, bits.min(self.bits_of(register)))).collect();
        let is_load = is_load(self.facts, instruction);
        let is_next = is_load && !parameters && reads_next(self.facts, instruction, bits / 8);
        let list = if is_load && !parameters { self.list(instruction) } else { None };
        Action::Load { to, parameters, is_next, list, from: None }
    }

    /// What an addition to a counter in memory tells: the numbers that threads draw from it.
    fn drawn(&mut self, instruction: u32, instance: &Instance) -> Option<Action> {
        let [to, _, by, ..] = self.facts.body.operands(Handle::new(instruction)) else { return None };
        let (to, by) = (*to, *by);
        let to = self.register(Some(&to))?;
        let bits = instance.ty.map_or(64, width).min(self.bits_of(to));
        Some(Action::Draw { to, by: self.source(by), bits })
    }

    /// Whether an operand is what a load of parameters has brought.
    fn is_parameter(&self, operand: Operand) -> bool {
        let Operand::Register { register, .. } = operand else { return false };
        let [load] = self.facts.definitions(register) else { return false };
        let instance = self.facts.instance(*load);
        instance.is_some_and(|instance| {
            instance.effects.computes == Some(Computation::Load)
                && space_of(instance).map(StateSpace::base) == Some(StateSpace::Param)
                && passed(self.facts, *load).is_none()
        })
    }

    /// What an instruction computes that something relevant reads.
    pub(super) fn computation(&mut self, instruction: u32) -> Action {
        let facts = self.facts;
        let body = facts.body;
        let handle = Handle::new(instruction);
        // Who asks for one of the results may ask for the others later.
        for each in facts.uses().of(instruction).iter().filter(|each| each.access().writes()) {
            self.name(each.register);
        }
        let Some(instance) = facts.instance(instruction) else {
            return self.forgotten(instruction, Vec::new());
        };
        if let Some(action) = self.of_passed(instruction, instance) {
            return action;
        }
        let is_float = instance.ty.is_some_and(|ty| matches!(ty.kind(), TypeKind::Float | TypeKind::Packed));
        if instance.effects.atomic && !is_float && instance.effects.updates == Some(Update::Add) {
            return self.drawn(instruction, instance).unwrap_or_else(|| self.loaded(instruction, false));
        }
        if instance.effects.reads_memory && instance.effects.computes.is_none()
            || is_float && !matches!(instance.effects.computes, Some(Computation::Move | Computation::Select))
        {
            return self.loaded(instruction, false);
        }
        let Some(computes) = instance.effects.computes else {
            let from = self.sources_of(instruction);
            return self.forgotten(instruction, from);
        };
        let operands = body.operands(handle);
        if computes == Computation::Load {
            let space = space_of(instance).map(StateSpace::base);
            let from = operands.get(1).filter(|_| space.is_none());
            let is_local = space == Some(StateSpace::Local)
                || from.is_some_and(|from| self.leads_to_local(*from) == Some(true));
            if is_local && space.is_none() && !self.knows_local() {
                return self.forgotten(instruction, Vec::new());
            }
            if !is_local && matches!(space, None | Some(StateSpace::Global | StateSpace::Const)) {
                return self.loaded(instruction, false);
            }
            if is_local && self.knows_local() {
                self.loads_local = true;
                let kept = self.of_local(instruction, false);
                return kept.unwrap_or_else(|| self.forgotten(instruction, Vec::new()));
            }
            return match space == Some(StateSpace::Param) {
                true if self.program.has_global => {
                    self.pointers_of(instruction, instance).unwrap_or_else(|| self.loaded(instruction, true))
                }
                true => self.loaded(instruction, true),
                false => self.forgotten(instruction, Vec::new()),
            };
        }
        if computes == Computation::Move
            && let [Operand::Vector(parts), from] = operands
        {
            let parts = body.children(*parts);
            let bits = instance.ty.map_or(64, width) / parts.len().max(1) as u32;
            let to: Vec<_> = parts.iter().map(|part| self.register(Some(part))).collect();
            if self.is_parameter(*from) {
                // Compilers load parameters that lie next to each other at once.
                let to = to.into_iter().flatten().map(|register| (register, bits)).collect();
                return Action::Load { to, parameters: true, is_next: false, list: None, from: None };
            }
            let from = self.source(*from);
            return Action::Unpack { to, from, bits };
        }
        self.computed(instruction, instance).unwrap_or_else(|| self.forgotten(instruction, Vec::new()))
    }

    /// The same of what is computed of the operands alone; none where it is not known how.
    fn computed(&mut self, instruction: u32, instance: &Instance) -> Option<Action> {
        let body = self.facts.body;
        let operands = body.operands(Handle::new(instruction));
        let computes = instance.effects.computes?;
        let to = self.results(operands.first());
        let first = to[0].or(to[1])?;
        if computes == Computation::Move
            && let [_, Operand::Vector(parts)] = operands
        {
            let parts: Vec<Operand> = body.children(*parts).to_vec();
            let bits = instance.ty.map_or(64, width) / parts.len().max(1) as u32;
            let parts = parts.into_iter().map(|part| self.source(part)).collect();
            return Some(Action::Pack { to: first, parts, bits });
        }
        match computes {
            Computation::ToGeneric | Computation::FromGeneric => {
                let from = self.source(*operands.get(1)?);
                if space_of(instance).map(StateSpace::base) != Some(StateSpace::Shared) {
                    let shape = Shape::moved(64, self.bits_of(first));
                    return Some(Action::Compute { shape, to, from: sources([from]) });
                }
                let to_generic = computes == Computation::ToGeneric;
                return Some(Action::Convert { to: first, from, to_generic });
            }
            Computation::MapRank => {
                let [_, from, rank] = operands else { return None };
                let (from, rank) = (*from, *rank);
                return Some(Action::MapRank { to: first, from: self.source(from), rank: self.source(rank) });
            }
            _ => {}
        }
        let shape = Shape::of(instance, self.bits_of(first))?;
        let mut from = [Source::Number(0); 4];
        // The fixed bits of a matrix's descriptor may be a parameter: they lie above those of its address.
        let is_descriptor = computes == Computation::Or && instance.ty.is_some_and(|ty| width(ty) == 64);
        for (source, &operand) in from.iter_mut().zip(operands.iter().skip(1)) {
            *source = match is_descriptor && self.is_parameter(operand) {
                true => Source::Number(0),
                false => self.source(operand),
            };
        }
        Some(Action::Compute { shape, to, from })
    }

    /// Nothing is known of what an instruction writes, but that it comes of these.
    fn forgotten(&self, instruction: u32, from: Vec<Source>) -> Action {
        let written = self.facts.uses().of(instruction).iter().filter(|each| each.access().writes());
        let known = written.filter_map(|each| self.registers.get(each.register));
        Action::Forget { to: known.map(|register| (register, self.bits_of(register))).collect(), from }
    }
}

/// Whether an instruction is of two blocks together.
fn is_of_pair(instance: &Instance) -> bool {
    instance.is(Mode::Paired)
}

fn sources<const N: usize>(given: [Source; N]) -> [Source; 4] {
    let mut all = [Source::Number(0); 4];
    all.iter_mut().zip(given).for_each(|(source, given)| *source = given);
    all
}
