//! A block of threads: their registers, their memory, and what a step of one of them does.

use std::collections::{BTreeSet, HashMap};

use super::arithmetic::{Computed, compute};
use super::fault::{self, Cause, Fault, FaultKind, Observed};
use super::memory::{Buffer, find, resolve, window};
use super::program::{
    Address, Atomic, Function, Operation, Passed, Program, RegisterIndex, Source, SourceKind, Space, Special,
    Statement,
};
use super::schedule::{Schedule, Scheduler};
use super::value::{Origins, Value, mask, signed};
use super::wait::{Barriers, Wait};

/// What a kernel is started with. Blocks are rows: `%tid.y` and `%tid.z` are 0.
#[derive(Clone, Debug)]
pub struct Launch<'l> {
    /// The name of the kernel.
    pub kernel: &'l str,
    /// `%ntid.x`
    pub threads: u32,
    /// `%ctaid.x`: one block is executed.
    pub block: u32,
    /// `%nctaid.x`
    pub blocks: u32,
    /// One number for each parameter.
    pub parameters: &'l [u64],
    /// Global memory, beside the variables of the module.
    pub memory: &'l [Buffer],
    /// Whether shared and local memory holds something from the start.
    pub memory_is_set: bool,
    /// What undefined bits hold comes from this.
    pub seed: u64,
    /// Steps of all threads together, after which the execution is given up.
    pub steps: usize,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads have exited.
    Finished,
    /// A `trap`.
    Trapped,
    /// A fault that leaves nothing to go on with.
    Stopped,
    /// Too many steps.
    Endless,
    /// An instruction, or what it is given, is not known here.
    Unknown(String),
}

/// A statement ran.
pub const RAN: u8 = 1;
/// A guard kept a thread from a statement.
pub const SKIPPED: u8 = 2;

/// What an execution shows.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What was wrong, each once.
    pub faults: Vec<Fault>,
    /// Global memory afterwards: the buffers of the launch.
    pub memory: Vec<Buffer>,
    /// For each function and statement, whether a thread ran it ([`RAN`]), and whether its guard kept one from it
    /// ([`SKIPPED`]).
    pub reached: Vec<Vec<u8>>,
}

/// A write of a register: what an observer is called with.
#[derive(Clone, Copy, Debug)]
pub struct Write<'p> {
    /// An index of [`Program::functions`].
    pub function: usize,
    /// An index of the function's statements; [`Program::position`] tells line and column.
    pub statement: usize,
    /// `%tid.x`
    pub thread: u32,
    /// The name of the register. Registers of inner braces may have the name of an outer one.
    pub register: &'p str,
    /// Its bits.
    pub width: u32,
    /// What it holds now.
    pub bits: u64,
    /// Its undefined bits; what `bits` has there means nothing.
    pub undefined: u64,
}

/// Is called after each write of a register.
pub type Observer<'o> = &'o mut dyn FnMut(&Write<'_>);

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub function: usize,
    pub at: usize,
    pub registers: Vec<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    Waiting(Wait),
    Exited,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub frames: Vec<Frame>,
    pub state: State,
    /// None where nothing has set it.
    carry: Option<Value>,
    memory: Vec<(Space, Vec<Buffer>)>,
    clock: u64,
}

pub(super) struct Block<'p, 'o> {
    pub program: &'p Program,
    launch: &'p Launch<'p>,
    pub threads: Vec<Thread>,
    global: Vec<Buffer>,
    shared: Vec<Buffer>,
    parameters: Vec<Buffer>,
    pub barriers: Barriers,
    origins: Vec<fault::Source>,
    known_origins: HashMap<fault::Source, usize>,
    faults: BTreeSet<(FaultKind, usize, usize, u64, bool)>,
    strayed: bool,
    observer: Option<Observer<'o>>,
    noise: u64,
    reached: Vec<Vec<u8>>,
    pub end: Option<End>,
}

/// Executes a block of a kernel under a schedule; an observer sees each write of a register.
///
/// # Panics
/// The kernel does not exist.
pub fn execute(
    program: &Program,
    launch: &Launch<'_>,
    schedule: Schedule,
    observer: Option<Observer<'_>>,
) -> Outcome {
    let kernel = program.function(launch.kernel).expect("the kernel exists");
    let mut block = Block::new(program, launch, kernel, observer);
    let mut scheduler = Scheduler::new(program, schedule, launch.threads);
    let mut left = launch.steps;
    while block.end.is_none() {
        if left == 0 {
            block.end = Some(End::Endless);
            break;
        }
        left = left.saturating_sub(scheduler.run(&mut block));
    }
    block.outcome()
}

impl<'p, 'o> Block<'p, 'o> {
    fn new(
        program: &'p Program,
        launch: &'p Launch<'p>,
        kernel: usize,
        observer: Option<Observer<'o>>,
    ) -> Self {
        let place = |space: Space, of_thread: bool| {
            let objects = program.objects.iter();
            let mine = objects.filter(|object| object.space == space && object.of_thread == of_thread);
            let mut buffers: Vec<Buffer> = mine.map(Buffer::of).collect();
            if launch.memory_is_set && matches!(space, Space::Shared | Space::Local) {
                buffers.iter_mut().for_each(|buffer| buffer.undefined.fill(0));
            }
            buffers
        };
        let mut global = launch.memory.to_vec();
        global.extend(place(Space::Global, false));
        let mut parameters = place(Space::Parameter, false);
        for (passed, value) in program.functions[kernel].parameters.iter().zip(launch.parameters) {
            let Passed::Memory { address, size } = *passed else { continue };
            if let Some((buffer, at)) = find(&parameters, address, size.min(8)) {
                parameters[buffer].store(at, size.min(8) as u32 * 8, Value::known(*value));
            }
        }
        let own: Vec<(Space, Vec<Buffer>)> =
            [Space::Local, Space::Parameter].map(|space| (space, place(space, true))).into();
        let mut block = Self {
            program,
            launch,
            threads: Vec::new(),
            global,
            shared: place(Space::Shared, false),
            parameters,
            barriers: Barriers::default(),
            origins: Vec::new(),
            known_origins: HashMap::new(),
            faults: BTreeSet::new(),
            strayed: false,
            observer,
            noise: launch.seed | 1,
            reached: program.functions.iter().map(|function| vec![0; function.code.len()]).collect(),
            end: None,
        };
        for _ in 0..launch.threads {
            let frames = vec![block.frame(kernel)];
            block.threads.push(Thread {
                frames,
                state: State::Ready,
                carry: None,
                memory: own.clone(),
                clock: 0,
            });
        }
        block
    }

    fn outcome(self) -> Outcome {
        let faults = self.faults.iter().map(|&(kind, function, statement, origins, follows)| Fault {
            kind,
            function,
            statement,
            sources: (0..self.origins.len())
                .filter(|index| origins >> index & 1 == 1)
                .map(|index| self.origins[index].clone())
                .collect(),
            follows,
        });
        let mut memory = self.global.clone();
        memory.truncate(self.launch.memory.len());
        Outcome {
            end: self.end.clone().unwrap_or(End::Finished),
            faults: faults.collect(),
            memory,
            reached: self.reached,
        }
    }

    fn random(&mut self) -> u64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        self.noise.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A call of a function; what its registers hold is anybody's guess.
    fn frame(&mut self, function: usize) -> Frame {
        let program = self.program;
        let registers = program.functions[function].registers.iter();
        let registers = registers.map(|register| {
            // Small numbers meet constants more often than others.
            let random = self.random();
            let bits = if random >> 60 < 8 { random >> 8 & 3 } else { random };
            Value {
                bits: bits & mask(register.width),
                undefined: mask(register.width),
                origins: Origins::NONE,
            }
        });
        Frame { function, at: 0, registers: registers.collect() }
    }

    pub(super) fn function_of(&self, thread: usize) -> &'p Function {
        let frame = self.threads[thread].frames.last().expect("a thread that runs has a frame");
        let program = self.program;
        &program.functions[frame.function]
    }

    /// The function and the statement that a thread is at.
    pub(super) fn place(&self, thread: usize) -> (usize, usize) {
        self.threads[thread].frames.last().map_or((usize::MAX, 0), |frame| (frame.function, frame.at))
    }

    pub(super) fn statement(&self, thread: usize) -> Option<&'p Statement> {
        self.function_of(thread).code.get(self.place(thread).1)
    }

    pub(super) fn is_ready(&self, thread: usize) -> bool {
        self.threads[thread].state == State::Ready
    }

    pub(super) fn warps(&self) -> usize {
        self.threads.len().div_ceil(32)
    }

    /// The lanes of a warp that have not exited.
    pub(super) fn alive(&self, warp: usize) -> u32 {
        self.lanes(warp, |state| state != State::Exited)
    }

    pub(super) fn lanes(&self, warp: usize, wanted: impl Fn(State) -> bool) -> u32 {
        let first = warp * 32;
        let last = self.threads.len().min(first + 32);
        (first..last)
            .filter(|thread| wanted(self.threads[*thread].state))
            .fold(0, |lanes, thread| lanes | 1 << (thread - first))
    }

    pub(super) fn report(&mut self, kind: FaultKind, place: (usize, usize), origins: Origins) {
        self.faults.insert((kind, place.0, place.1, origins.0, self.strayed));
    }

    /// A fault after which nothing can be said any more.
    pub(super) fn stop(&mut self, kind: FaultKind, place: (usize, usize)) {
        self.report(kind, place, Origins::NONE);
        self.end = Some(End::Stopped);
    }

    pub(super) fn origin(&mut self, place: (usize, usize), cause: Cause) -> Origins {
        let source = fault::Source { function: place.0, statement: place.1, cause };
        if let Some(index) = self.known_origins.get(&source) {
            return Origins(1 << index);
        }
        if self.origins.len() == 63 {
            self.origins.push(fault::Source { function: place.0, statement: place.1, cause: Cause::Other });
        }
        if self.origins.len() > 63 {
            return Origins(1 << 63);
        }
        self.known_origins.insert(source.clone(), self.origins.len());
        self.origins.push(source);
        Origins(1 << (self.origins.len() - 1))
    }

    /// Says where undefined bits are observed.
    fn observe(&mut self, thread: usize, value: Value, how: Observed) {
        if value.is_known() {
            return;
        }
        self.report(FaultKind::Undefined(how), self.place(thread), value.origins);
        if matches!(how, Observed::Guard | Observed::Branch) {
            self.strayed = true;
        }
    }

    pub(super) fn read(&mut self, thread: usize, source: Source) -> Value {
        let value = match source.kind {
            SourceKind::Number(value) => Value::known(value),
            SourceKind::Special(special) => Value::known(self.special(thread, special)),
            SourceKind::Register(register) => self.register(thread, register),
        };
        if source.negated { value.inverted(1) } else { value }
    }

    fn register(&mut self, thread: usize, register: RegisterIndex) -> Value {
        let frame = self.threads[thread].frames.last().expect("a thread that runs has a frame");
        let mut value = frame.registers[register];
        if value.undefined != 0 && value.origins == Origins::NONE {
            let name = self.function_of(thread).registers[register].name.clone();
            value.origins = self.origin(self.place(thread), Cause::Register(name));
        }
        value
    }

    /// What an instruction needs to be defined.
    pub(super) fn needed(&mut self, thread: usize, source: Source, width: u32, how: Observed) -> u64 {
        let value = self.read(thread, source).cut(width);
        self.observe(thread, value, how);
        value.bits
    }

    pub(super) fn write(&mut self, thread: usize, register: Option<RegisterIndex>, mut value: Value) {
        let Some(register) = register else { return };
        let function = self.function_of(thread);
        let place = self.place(thread);
        let about = &function.registers[register];
        value = value.cut(about.width);
        if value.undefined != 0 && value.origins == Origins::NONE {
            value.origins = self.origin(place, Cause::Result);
        }
        self.threads[thread].frames.last_mut().expect("a frame").registers[register] = value;
        if let Some(observer) = &mut self.observer {
            observer(&Write {
                function: place.0,
                statement: place.1,
                thread: thread as u32,
                register: &about.name,
                width: about.width,
                bits: value.bits,
                undefined: value.undefined,
            });
        }
    }

    fn special(&mut self, thread: usize, special: Special) -> u64 {
        let lane = thread as u32 & 31;
        let bit = 1_u64 << lane;
        match special {
            Special::Thread => thread as u64,
            Special::Threads => u64::from(self.launch.threads),
            Special::Block => u64::from(self.launch.block),
            Special::Blocks => u64::from(self.launch.blocks),
            Special::Lane => u64::from(lane),
            Special::Warp => thread as u64 / 32,
            Special::Warps => 64,
            Special::LanesEqual => bit,
            Special::LanesBelow => bit - 1,
            Special::LanesUpTo => bit * 2 - 1,
            Special::LanesAbove => 0xffff_ffff & !(bit * 2 - 1),
            Special::LanesFrom => 0xffff_ffff & !(bit - 1),
            Special::Clock => {
                self.threads[thread].clock += 8;
                self.threads[thread].clock
            }
            Special::Zero => 0,
            Special::One => 1,
        }
    }

    /// Whether the guard of the statement holds.
    pub(super) fn guarded(&mut self, thread: usize, statement: &Statement) -> bool {
        let Some((register, wanted)) = statement.guard else { return true };
        let value = self.register(thread, register);
        let how = match statement.operation {
            Operation::Branch(_) | Operation::BranchIndexed { .. } | Operation::Return | Operation::Exit => {
                Observed::Branch
            }
            _ => Observed::Guard,
        };
        self.observe(thread, value, how);
        (value.bits == 1) == wanted
    }

    pub(super) fn advance(&mut self, thread: usize) {
        self.threads[thread].frames.last_mut().expect("a frame").at += 1;
    }

    pub(super) fn exit(&mut self, thread: usize) {
        self.threads[thread].state = State::Exited;
        self.after_exit(thread / 32);
    }

    /// One step of a thread that is ready.
    pub(super) fn step(&mut self, thread: usize) {
        let Some(statement) = self.statement(thread) else { return self.leave(thread) };
        let (function, at) = self.place(thread);
        if !self.guarded(thread, statement) {
            self.reached[function][at] |= SKIPPED;
            return self.advance(thread);
        }
        self.reached[function][at] |= RAN;
        match &statement.operation {
            Operation::Compute { what, ty, results, sources, same } => {
                let mut values = [Value::known(0); 4];
                let Some(values) = values.get_mut(..sources.len()) else { return self.unknown(statement) };
                for (value, source) in values.iter_mut().zip(sources) {
                    *value = self.read(thread, *source);
                }
                let carry = self.carry(thread, what.carry().reads);
                let Some(Computed { result, second, carry }) = compute(*what, *ty, values, *same, carry)
                else {
                    return self.unknown(statement);
                };
                if carry.is_some() {
                    self.threads[thread].carry = carry;
                }
                let wide = self.extended(thread, results[0], result, *ty, what);
                self.write(thread, results[0], wide);
                if let Some(second) = second {
                    self.write(thread, results[1], second);
                }
            }
            Operation::Move { width, results, sources } => self.moved(thread, *width, results, sources),
            Operation::ToGeneric { space, back, result, source } => {
                let value = self.read(thread, *source);
                let bits = if *back {
                    value.bits.wrapping_sub(window(*space))
                } else {
                    value.bits.wrapping_add(window(*space))
                };
                self.write(thread, *result, Value::new(64, bits, value.undefined, value.origins));
            }
            Operation::IsSpace { space, result, source } => {
                let address = self.needed(thread, *source, 64, Observed::Address);
                let inside = resolve(Space::Generic, address).0 == *space;
                self.write(thread, *result, Value::flag(inside));
            }
            Operation::Load { ty, results, address } => {
                let bytes = u64::from(ty.width / 8);
                let Some(start) = self.address(thread, *address, bytes * results.len() as u64) else {
                    // Hardware ends here; what comes after it is no fault of the registers.
                    results.iter().for_each(|result| self.write(thread, *result, Value::known(0)));
                    return self.advance_unless_ended(thread);
                };
                for (index, result) in results.iter().enumerate() {
                    let Some(register) = *result else { continue };
                    let mut value = self.load(thread, start, bytes * index as u64, ty.width);
                    let to = self.function_of(thread).registers[register].width;
                    value = value.extended(ty.width, to.max(ty.width), ty.signed);
                    self.write(thread, *result, value);
                }
            }
            Operation::Store { width, sources, address } => {
                let bytes = u64::from(width / 8);
                let start = self.address(thread, *address, bytes * sources.len() as u64);
                for (index, source) in sources.iter().enumerate() {
                    let value = self.read(thread, *source).cut(*width);
                    self.observe(thread, value, Observed::Store);
                    if let Some(start) = start {
                        self.store(thread, start, bytes * index as u64, *width, value);
                    }
                }
            }
            Operation::Atomic { what, ty, result, address, sources } => {
                let start = self.address(thread, *address, u64::from(ty.width / 8));
                let values: Vec<u64> = sources
                    .iter()
                    .map(|source| self.needed(thread, *source, ty.width, Observed::Store))
                    .collect();
                if let Some(start) = start {
                    let old = self.load(thread, start, 0, ty.width);
                    let new = atomic(*what, old.bits, &values, ty.width, ty.signed);
                    let undefined = if *what == Atomic::Exchange { 0 } else { old.undefined };
                    let new =
                        Value::new(ty.width, new, if undefined == 0 { 0 } else { u64::MAX }, old.origins);
                    self.store(thread, start, 0, ty.width, new);
                    self.write(thread, *result, old);
                } else {
                    self.write(thread, *result, Value::known(0));
                }
            }
            Operation::Branch(target) => {
                self.threads[thread].frames.last_mut().expect("a frame").at = *target;
                return;
            }
            Operation::BranchIndexed { index, targets } => {
                let index = self.needed(thread, *index, 32, Observed::Branch) as usize;
                match targets.get(index) {
                    Some(target) => self.threads[thread].frames.last_mut().expect("a frame").at = *target,
                    None => {
                        let place = self.place(thread);
                        self.stop(FaultKind::OutOfBounds, place);
                    }
                }
                return;
            }
            Operation::Call { function, arguments, .. } => return self.call(thread, *function, arguments),
            Operation::Return => return self.leave(thread),
            Operation::Exit => return self.exit(thread),
            Operation::Trap => {
                self.end = Some(End::Trapped);
                return;
            }
            Operation::ActiveMask(result) => {
                let lanes = 1 << (thread & 31);
                self.write(thread, *result, Value::known(lanes));
            }
            Operation::Collective(collective) => return self.arrive_at_collective(thread, collective),
            Operation::Barrier(barrier) => return self.arrive_at_barrier(thread, barrier),
            Operation::Together => return self.arrive_together(thread),
            Operation::Nothing => {}
            Operation::Unknown => return self.unknown(statement),
        }
        self.advance_unless_ended(thread);
    }

    fn advance_unless_ended(&mut self, thread: usize) {
        if self.end.is_none() {
            self.advance(thread);
        }
    }

    fn unknown(&mut self, statement: &Statement) {
        self.end = Some(End::Unknown(statement.opcode.clone()));
    }

    /// `cvt` fills a destination that is wider than its type.
    fn extended(
        &self,
        thread: usize,
        result: Option<RegisterIndex>,
        value: Value,
        ty: super::arithmetic::Type,
        what: &super::arithmetic::Compute,
    ) -> Value {
        let (Some(register), super::arithmetic::Compute::Convert { .. }) = (result, what) else {
            return value;
        };
        let to = self.function_of(thread).registers[register].width;
        value.extended(ty.width, to.max(ty.width), ty.signed)
    }

    fn carry(&mut self, thread: usize, reads: bool) -> Value {
        match (reads, self.threads[thread].carry) {
            (false, _) => Value::known(0),
            (true, Some(carry)) => carry,
            (true, None) => {
                let place = self.place(thread);
                self.report(FaultKind::CarryUnset, place, Origins::NONE);
                let origins = self.origin(place, Cause::Register("CC.CF".to_owned()));
                Value::new(1, self.random() >> 40, 1, origins)
            }
        }
    }

    fn moved(&mut self, thread: usize, width: u32, results: &[Option<RegisterIndex>], sources: &[Source]) {
        let part = width / sources.len() as u32;
        let mut whole = Value::known(0);
        for (index, source) in sources.iter().enumerate() {
            let value = self.read(thread, *source).cut(part);
            whole = whole.or_disjoint(value.shifted_left(part * index as u32));
        }
        let part = width / results.len() as u32;
        for (index, result) in results.iter().enumerate() {
            self.write(thread, *result, whole.shifted_right(part * index as u32).cut(part));
        }
    }

    /// The space and the place of an access; none where it fails.
    fn address(&mut self, thread: usize, address: Address, size: u64) -> Option<(Space, usize, usize)> {
        let width = if matches!(address.space, Space::Shared | Space::Local) { 32 } else { 64 };
        let base = self.read(thread, address.base).cut(width);
        if !base.is_known() {
            self.observe(thread, base, Observed::Address);
            return None;
        }
        let (space, at) = resolve(address.space, base.bits.wrapping_add_signed(address.offset));
        let place = self.place(thread);
        let aligned = at.is_multiple_of(size.next_power_of_two());
        if !aligned {
            self.report(FaultKind::Misaligned, place, Origins::NONE);
        }
        let mut found = find(self.buffers(thread, space), at, size).map(|(buffer, at)| (space, buffer, at));
        if found.is_none() && space == Space::Parameter {
            found = find(&self.parameters, at, size).map(|(buffer, at)| (Space::Generic, buffer, at));
        }
        if found.is_none() {
            self.report(FaultKind::OutOfBounds, place, Origins::NONE);
        }
        found.filter(|_| aligned)
    }

    /// The memory of a space; the parameters of the kernel go by the space that no address has any more.
    fn buffers(&mut self, thread: usize, space: Space) -> &mut Vec<Buffer> {
        match space {
            Space::Global => &mut self.global,
            Space::Shared => &mut self.shared,
            Space::Generic => &mut self.parameters,
            Space::Local => &mut self.threads[thread].memory[0].1,
            Space::Parameter => &mut self.threads[thread].memory[1].1,
        }
    }

    fn load(&mut self, thread: usize, start: (Space, usize, usize), offset: u64, width: u32) -> Value {
        let (space, buffer, at) = start;
        let mut value = self.buffers(thread, space)[buffer].load(at + offset as usize, width);
        if !value.is_known() {
            value.origins = self.origin(self.place(thread), Cause::Memory);
        }
        value
    }

    fn store(&mut self, thread: usize, start: (Space, usize, usize), offset: u64, width: u32, value: Value) {
        let (space, buffer, at) = start;
        self.buffers(thread, space)[buffer].store(at + offset as usize, width, value);
    }

    fn call(&mut self, thread: usize, function: usize, arguments: &[Passed]) {
        let values: Vec<Vec<(Value, u32)>> =
            arguments.iter().map(|argument| self.passed(thread, *argument)).collect();
        self.threads[thread].carry = None;
        let frame = self.frame(function);
        self.threads[thread].frames.push(frame);
        let program = self.program;
        for (passed, values) in program.functions[function].parameters.iter().zip(values) {
            self.receive(thread, *passed, &values);
        }
    }

    /// What is passed, in pieces of at most 64 bits.
    fn passed(&mut self, thread: usize, passed: Passed) -> Vec<(Value, u32)> {
        match passed {
            Passed::Nothing => Vec::new(),
            Passed::Register(register) => {
                let value = self.register(thread, register);
                self.observe(thread, value, Observed::Passed);
                vec![(value, 64)]
            }
            Passed::Value(source) => {
                let value = self.read(thread, source);
                self.observe(thread, value, Observed::Passed);
                vec![(value, 64)]
            }
            Passed::Memory { address, size } => {
                let buffers = self.buffers(thread, Space::Parameter);
                let Some((buffer, at)) = find(buffers, address, size) else { return Vec::new() };
                let mut bytes: Vec<(Value, u32)> =
                    (0..size as usize).map(|index| (buffers[buffer].load(at + index, 8), 8)).collect();
                for (byte, _) in bytes.iter_mut().filter(|(byte, _)| !byte.is_known()) {
                    byte.origins = self.origin(self.place(thread), Cause::Memory);
                    self.observe(thread, *byte, Observed::Passed);
                }
                bytes
            }
        }
    }

    fn receive(&mut self, thread: usize, passed: Passed, values: &[(Value, u32)]) {
        match passed {
            Passed::Nothing | Passed::Value(_) => {}
            Passed::Register(register) => {
                let whole = values.iter().rev().fold(Value::known(0), |whole, (value, width)| {
                    whole.shifted_left(*width % 64).or_disjoint(*value)
                });
                self.write(thread, Some(register), whole);
            }
            Passed::Memory { address, size } => {
                let buffers = self.buffers(thread, Space::Parameter);
                let Some((buffer, at)) = find(buffers, address, size) else { return };
                let mut next = at;
                for (value, width) in values {
                    let width = (*width).min((at + size as usize).saturating_sub(next) as u32 * 8);
                    buffers[buffer].store(next, width, *value);
                    next += width as usize / 8;
                }
            }
        }
    }

    /// `ret`, and the end of a function.
    fn leave(&mut self, thread: usize) {
        if self.threads[thread].frames.len() == 1 {
            return self.exit(thread);
        }
        let function = self.function_of(thread);
        let values: Vec<Vec<(Value, u32)>> =
            function.returns.iter().map(|passed| self.passed(thread, *passed)).collect();
        self.threads[thread].frames.pop();
        self.threads[thread].carry = None;
        if let Some(Operation::Call { returns, .. }) = self.statement(thread).map(|call| &call.operation) {
            for (passed, values) in returns.iter().zip(values) {
                self.receive(thread, *passed, &values);
            }
        }
        self.advance(thread);
    }
}

fn atomic(what: Atomic, old: u64, values: &[u64], width: u32, sign: bool) -> u64 {
    let value = values[0];
    let number = |bits: u64| if sign { signed(bits, width) } else { i128::from(bits & mask(width)) };
    match what {
        Atomic::Add => old.wrapping_add(value),
        Atomic::And => old & value,
        Atomic::Or => old | value,
        Atomic::Xor => old ^ value,
        Atomic::Minimum => number(old).min(number(value)) as u64,
        Atomic::Maximum => number(old).max(number(value)) as u64,
        Atomic::Exchange => value,
        Atomic::CompareAndSwap if old == value => values[1],
        Atomic::CompareAndSwap => old,
        Atomic::Increment if old >= value => 0,
        Atomic::Increment => old + 1,
        Atomic::Decrement if old == 0 || old > value => value,
        Atomic::Decrement => old - 1,
    }
}
