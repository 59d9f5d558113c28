//! A block, or the blocks of a cluster, executed warp by warp.
//!
//! What runs on its own completes as late as it can: when no thread can go on. So whoever does not wait for it comes too
//! early. Orders are not tried one after the other: vector clocks tell what is ordered in every execution that agrees with
//! this one on who waits for whom.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::WARP;
use super::assumed::{Assumed, Lists, Loaded};
use super::beyond::Tiles;
use super::bytes::Memory;
use super::clock::{AtCluster, Clock, Groups, ROWS, Row};
use super::device::Device;
use super::fault::{Fault, FaultKind};
use super::kept::Local;
use super::leap::Turns;
use super::object::{Object, Want};
use super::program::{Action, Program, Source, Step};
use super::scenario::{Scenario, chosen_warps};
use super::shadow::{Anywhere, Flight, Landing, Shadow, Touch, Who};
use super::sizes::Log;
use super::skim::{self, Skim};
use super::tensor_order::TensorOrder;
use super::value::{ALL, Value};

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads have ended.
    Complete,
    /// Threads wait for each other.
    Deadlock,
    /// There were too many steps.
    Budget,
    /// What this instruction does is not known.
    Unknown(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// At a barrier of the block.
    Barrier(u32),
    /// At the barrier of the cluster, for this phase.
    Cluster(u32),
    /// Until each of its threads can have this number of registers.
    Registers(u32),
    /// For these lanes of the warp.
    Lanes(u32),
    /// For the other warps of its group, until they come to this matrix operation of theirs.
    Comes(u32),
    /// Until they have started it.
    Starts(u32),
    /// For phases of objects: which ones it asked for, and the number of the phase that ends the wait.
    Test(Vec<(usize, Want, u32)>),
    /// Until global memory changes after this version of it.
    Memory(u64),
    /// At the barrier of the grid, for this phase.
    Grid(u32),
    /// At what is not known: as if these threads were slower than all others.
    Frozen(u32),
}

/// Threads of a warp that are at one place.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) state: State,
    /// When it was told last that a phase is not complete.
    pub(super) told: Option<u64>,
    /// Whether it goes on without the lanes that it should meet.
    pub(super) goes_alone: bool,
}

impl Fragment {
    pub(super) const fn new(pc: u32, mask: u32, told: Option<u64>) -> Self {
        Self { pc, mask, state: State::Ready, told, goes_alone: false }
    }
}

#[derive(Debug)]
pub(super) struct Warp {
    pub(super) block: usize,
    pub(super) index: u32,
    pub(super) alive: u32,
    pub(super) registers: Vec<Value>,
    /// What of each of them depends on what memory is assumed to have.
    pub(super) assumed: Vec<Assumed>,
    /// The lanes that act now.
    pub(super) acting: u32,
    /// The lists in memory that have decided for it.
    pub(super) decisive: Lists,
    /// The last event before memory decided about anything here, for the first time.
    pub(super) guessed_after: Option<u32>,
    /// Which turns of loops it has executed.
    pub(super) turns: Turns,
    /// What its threads keep in their own memory.
    pub(super) local: Local,
    pub(super) fragments: Vec<Fragment>,
    pub(super) clock: Clock,
    pub(super) event: u32,
    pub(super) groups: [Groups; ROWS],
    /// The last test of each object that passed: instruction and event.
    pub(super) tests: FxHashMap<usize, (u32, u32)>,
    /// The last object that was tested.
    pub(super) tested: Option<usize>,
    /// The last arrival at each object: instruction and event.
    pub(super) arrivals: FxHashMap<usize, (u32, u32)>,
    /// The lanes that have arrived at each object since they did so before, and the event of the last that did.
    pub(super) arrived: FxHashMap<usize, (u32, u32)>,
    pub(super) at_cluster: AtCluster,
    /// How many registers each of its threads has.
    pub(super) registers_held: u32,
    pub(super) has_fenced_objects: bool,
    /// Loads from tensor memory that it has not waited for: where they begin, and their instructions.
    pub(super) tensor_loads: Vec<(u64, u32)>,
    pub(super) tensor_order: TensorOrder,
    /// Lanes that have written shared memory since they fenced the asynchronous proxy.
    pub(super) unfenced: u32,
    /// The events of each warp that were known when all of its lanes fenced last, if it has not come to a barrier since.
    pub(super) spoken: Vec<u32>,
    /// The event at which all of its lanes met last.
    pub(super) lanes_met: u32,
    /// Where it met others or waited last, and before that.
    pub(super) met: [Option<u32>; 2],
    /// Its events when it met others or waited.
    pub(super) meetings: Vec<u32>,
    /// The last instruction that used memory, or that waited for an operation which does.
    pub(super) last_use: Option<u32>,
    /// The first that used memory since it met others or waited.
    pub(super) first_use: Option<u32>,
    /// The last instruction that told others something, or that started what runs on its own.
    pub(super) last_act: Option<u32>,
}

impl Warp {
    /// The threads for which the guard of a step holds; none where that is not known.
    pub(super) fn guarded(&self, step: &Step, mask: u32) -> Option<u32> {
        let Some((register, wanted)) = step.guard else { return Some(mask) };
        let holds = self.registers.get(register as usize)?.holds(mask)?;
        Some(if wanted { holds } else { mask & !holds })
    }
}

/// What comes after a stretch of steps that only compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another step of the same threads.
    Step,
    /// Threads of the warp may be at one place.
    Merge,
    /// There are no more steps.
    Budget,
}

/// A warp at a barrier of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) warp: u32,
    /// Which event of the warp it is.
    pub(super) event: u32,
    pub(super) instruction: u32,
    /// Whether it waits for the others.
    pub(super) waits: bool,
}

#[derive(Debug, Default)]
pub(super) struct BlockBarrier {
    /// The numbers of threads for which it has opened before.
    pub(super) opened: Vec<u32>,
    pub(super) arrived: u32,
    pub(super) expected: Option<(u32, u32)>,
    pub(super) clock: Clock,
    /// Those who have arrived, and those who had when it opened last.
    pub(super) arrivals: Vec<Arrival>,
    pub(super) before: Vec<Arrival>,
    /// Where warps ever arrived.
    pub(super) places: Vec<u32>,
    /// Warps that such a number counts twice: they arrived with the others, and then waited.
    pub(super) counted_twice: Vec<(u32, u32)>,
}

#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) shadow: Shadow,
    pub(super) barriers: FxHashMap<u32, BlockBarrier>,
    /// Registers that nobody has, and the instructions that gave them back.
    pub(super) free_registers: u32,
    pub(super) givers: Vec<u32>,
    /// Columns of tensor memory that were given back: warp, event, instruction, and where they are.
    pub(super) freed: Vec<(u32, u32, u32, (u64, u64))>,
    /// How many columns of tensor memory were handed out.
    pub(super) columns: u32,
    /// The last instruction that handed some out, if it is known of all how many they do.
    pub(super) allocator: Option<u32>,
    /// Whether some were given back, or may have been.
    pub(super) gives_columns_back: bool,
    /// Accesses of its shared memory by other blocks: warp, event, instruction.
    pub(super) remote: Vec<(u32, u32, u32)>,
    /// What others have passed, as its warps know.
    pub(super) lifetime: Clock,
    /// What is known at the end of its warps, and the instruction that ended the last.
    pub(super) end: Clock,
    pub(super) ended: Option<u32>,
}

/// What completes later.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) object: usize,
    /// The operation, with its bytes where they are known.
    pub(super) flight: Option<(u32, Option<i64>)>,
    /// An arrival, with what it tells.
    pub(super) arrival: Option<Clock>,
    /// What those have known who have started an operation that brings something to another block: it is over when they are seen to
    /// have started it.
    pub(super) begun: Option<Clock>,
}

pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) scenario: Scenario,
    pub(super) warps: Vec<Warp>,
    pub(super) blocks: Vec<Block>,
    pub(super) objects: Vec<Object>,
    pub(super) places: FxHashMap<(usize, u64), usize>,
    pub(super) flights: Vec<Flight>,
    /// What is learned of copies of unknown size, and what is known of them.
    pub(super) log: Log,
    pub(super) sizes: FxHashMap<u32, u64>,
    pub(super) tiles: Tiles,
    /// The lanes that came to what whole warps execute, and those that lived then, by instruction and warp.
    pub(super) together: FxHashMap<(u32, usize), (u32, u32)>,
    pub(super) deliveries: VecDeque<Delivery>,
    pub(super) cluster_arrived: u32,
    pub(super) cluster_phase: u32,
    pub(super) cluster_clock: Clock,
    pub(super) cluster_done: Clock,
    /// What all have passed who came to the barrier of the cluster, and those who did before it opened.
    pub(super) cluster_passed: Clock,
    pub(super) cluster_over: Clock,
    /// Goes up with whatever another thread could wait for.
    pub(super) progress: u64,
    pub(super) faults: Vec<Fault>,
    told: FxHashSet<(FaultKind, u32)>,
    /// The first accesses of two warps that nothing orders.
    pub(super) race: Option<Fault>,
    /// Whether memory had decided about something before.
    pub(super) is_race_guessed: bool,
    /// Atomic accesses of which only the variable is known.
    pub(super) anywhere: Vec<Anywhere>,
    /// What warps have done to cells before atomic operations of their own there, by block and cell.
    pub(super) before_atomics: FxHashMap<(usize, u64), Vec<Touch>>,
    /// What the counters have come to that are drawn from, by the instructions that do.
    pub(super) drawn: FxHashMap<u32, u64>,
    /// The global memory of a grid.
    pub(super) device: Device,
    /// Numbers in shared memory.
    pub(super) memory: Memory,
    /// The first instruction for which an assumption about memory decided, and how many faults came before.
    pub(super) guessed: Option<(u32, usize)>,
    /// Parts of which memory has decided whether threads come there.
    pub(super) doubtful: Vec<Range<u32>>,
    /// Whether lists have decided if threads come to such parts.
    pub(super) asks_lists: bool,
    /// The last load of what is assumed.
    pub(super) loaded: Loaded,
    /// The first wait that passed long after its phase was over, and the object.
    pub(super) overrun: Option<(u32, usize)>,
    /// The loads of a parameter that is another number than the rest, and the number.
    pub(super) chosen: Option<(&'p [u32], u64)>,
    /// Tests that were told once that their phase is not complete: warp, instruction, object, phase.
    pub(super) refused: FxHashSet<(usize, u32, usize, u32)>,
    /// Where copies write.
    pub(super) landings: Vec<Landing>,
    /// The loops that are left early, where there are any.
    pub(super) skims: Vec<Skim>,
    /// Where the variable begins that a store came to first.
    pub(super) stored_to: FxHashMap<u32, u64>,
    /// The steps that somebody has come to, but for those that only compute.
    pub(super) visited: Vec<bool>,
    /// Something was left out that others may wait for.
    pub(super) is_partial: bool,
    pub(super) stop: Option<End>,
    pub(super) steps: u32,
}

/// Waits of a warp for groups that are remembered: a ring has no more stages.
pub(super) const MAX_WAITS: usize = 8;
/// Phases that somebody may be ahead of those who wait, as the blocks of a cluster may be for each other.
pub(super) const RUN_AHEAD: u32 = 4;
/// Faults of one execution; what follows from the first ones is not told.
const MAX_FAULTS: usize = 16;

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, scenario: Scenario) -> Self {
        let threads = scenario.threads.iter().product::<u32>().max(1);
        let per_block = threads.div_ceil(32);
        let chosen = chosen_warps(per_block, program);
        let total = chosen.len() * scenario.blocks as usize;
        let mut machine = Self {
            program,
            scenario,
            warps: Vec::with_capacity(total),
            blocks: Vec::new(),
            objects: Vec::new(),
            places: FxHashMap::default(),
            flights: Vec::new(),
            log: Log::default(),
            sizes: FxHashMap::default(),
            tiles: Tiles::default(),
            together: FxHashMap::default(),
            deliveries: VecDeque::new(),
            cluster_arrived: 0,
            cluster_phase: 0,
            cluster_clock: Clock::new(total),
            cluster_done: Clock::new(total),
            cluster_passed: Clock::new(total),
            cluster_over: Clock::new(total),
            progress: 1,
            faults: Vec::new(),
            told: FxHashSet::default(),
            race: None,
            is_race_guessed: false,
            anywhere: Vec::new(),
            before_atomics: FxHashMap::default(),
            drawn: FxHashMap::default(),
            device: if scenario.of_grid {
                Device::new(total, scenario.blocks as usize)
            } else {
                Device::default()
            },
            memory: Memory::default(),
            guessed: None,
            doubtful: Vec::new(),
            asks_lists: false,
            loaded: Loaded::default(),
            overrun: None,
            chosen: None,
            refused: FxHashSet::default(),
            landings: Vec::new(),
            skims: if scenario.skims { skim::of(program) } else { Vec::new() },
            stored_to: FxHashMap::default(),
            visited: vec![false; program.steps.len()],
            is_partial: false,
            stop: None,
            steps: scenario.budget,
        };
        for block in 0..scenario.blocks as usize {
            machine.blocks.push(Block {
                end: Clock::new(total),
                lifetime: Clock::new(total),
                ..Block::default()
            });
            for &index in &chosen {
                let here = (threads - index * 32).min(32);
                let alive = if here == 32 { ALL } else { (1 << here) - 1 };
                let start = Fragment::new(0, alive, None);
                let mut clock = Clock::new(total);
                clock.raise(total, Row::Events, machine.warps.len(), 1);
                machine.warps.push(Warp {
                    block,
                    index,
                    alive,
                    registers: vec![Value::Unknown; program.registers],
                    assumed: vec![Assumed::default(); program.registers],
                    acting: 0,
                    decisive: Lists::default(),
                    guessed_after: None,
                    turns: Turns::default(),
                    local: Local::default(),
                    fragments: vec![start],
                    clock,
                    event: 1,
                    groups: Default::default(),
                    tests: FxHashMap::default(),
                    tested: None,
                    arrivals: FxHashMap::default(),
                    arrived: FxHashMap::default(),
                    at_cluster: AtCluster::default(),
                    registers_held: program.first_registers.unwrap_or(0),
                    has_fenced_objects: false,
                    last_use: None,
                    first_use: None,
                    last_act: None,
                    met: [None; 2],
                    meetings: Vec::new(),
                    tensor_loads: Vec::new(),
                    tensor_order: TensorOrder::default(),
                    unfenced: 0,
                    spoken: Vec::new(),
                    lanes_met: 0,
                });
            }
        }
        machine
    }

    /// Executes until nothing more happens.
    pub(super) fn run(&mut self) -> End {
        let mut order: Vec<usize> = (0..self.warps.len()).collect();
        if self.scenario.reversed {
            order.reverse();
        }
        let mut is_first = self.scenario.holds;
        let mut leads = self.scenario.leads;
        loop {
            let mut went_on = false;
            let mut has_led = false;
            for &warp in &order {
                // The first block goes on where no other one can, or before all others.
                let is_slow = self.scenario.holds || self.scenario.leads && !leads;
                let is_of_first = self.warps[warp].block == 0;
                let waits = if leads { !is_of_first } else { is_of_first && is_slow && !is_first };
                if waits && went_on {
                    continue;
                }
                let (has_run, has_told) = self.run_warp(warp, is_first || self.scenario.leads && is_of_first);
                went_on |= has_run;
                has_led |= leads && has_told && is_of_first;
                if let Some(end) = self.stop {
                    return end;
                }
            }
            if has_led {
                leads = false;
                order.reverse();
            }
            if std::mem::take(&mut is_first) {
                // Those of the first block come last.
                order.reverse();
            }
            if went_on || self.deliver() {
                continue;
            }
            if self.warps.iter().all(|warp| warp.fragments.is_empty()) {
                self.at_end();
                return End::Complete;
            }
            if self.tell_waiting() || self.go_alone() || self.scenario.of_grid && self.set_by_others() {
                continue;
            }
            let frozen =
                self.warps.iter().flat_map(|warp| &warp.fragments).find_map(|fragment| {
                    match fragment.state {
                        State::Frozen(instruction) => Some(instruction),
                        _ => None,
                    }
                });
            if let Some(instruction) = frozen {
                return End::Unknown(instruction);
            }
            let decides = |this: &Self| !this.scenario.of_grid && !this.lacks_arrivals() && !this.agree();
            if let Some((instruction, _)) = self.guessed.filter(|_| decides(self)) {
                return End::Unknown(instruction);
            }
            if self.scenario.of_grid {
                if self.is_partial {
                    return End::Unknown(0);
                }
                self.explain_waiting();
            } else if !self.is_partial {
                self.explain_deadlock();
            } else {
                self.explain_unmade();
            }
            return End::Deadlock;
        }
    }

    /// Runs the threads of a warp until none can go on; whether any did, and whether it has stopped since they told others something.
    fn run_warp(&mut self, warp: usize, until_it_tells: bool) -> (bool, bool) {
        let mut went_on = false;
        while self.stop.is_none() {
            self.wake(warp);
            let ready = self.warps[warp].fragments.iter().enumerate();
            let ready = ready.filter(|(_, fragment)| fragment.state == State::Ready);
            let Some((index, _)) = ready.min_by_key(|(_, fragment)| fragment.pc) else { break };
            went_on = true;
            match (self.run_plain(warp, index), self.steps.checked_sub(1)) {
                (Next::Merge, _) => {}
                (Next::Step, Some(rest)) => {
                    self.steps = rest;
                    self.warps[warp].turns.count();
                    self.step(warp, index);
                }
                (Next::Budget, _) | (Next::Step, None) => self.stop = Some(End::Budget),
            }
            self.merge(warp);
            if std::mem::take(&mut self.device.has_told) && until_it_tells {
                return (went_on, true);
            }
        }
        (went_on, false)
    }

    /// Threads at the same place go on together.
    fn merge(&mut self, warp: usize) {
        let fragments = &mut self.warps[warp].fragments;
        if fragments.len() < 2 {
            return;
        }
        let mut index = 0;
        while index < fragments.len() {
            let (before, after) = fragments.split_at(index + 1);
            let own = &before[index];
            let goes_on = matches!(own.state, State::Ready | State::Lanes(_));
            let same = |other: &Fragment| other.pc == own.pc && other.state == own.state;
            match after.iter().position(same).filter(|_| goes_on) {
                Some(other) => {
                    let other = fragments.swap_remove(index + 1 + other);
                    fragments[index].mask |= other.mask;
                }
                None => index += 1,
            }
        }
    }

    fn wake(&mut self, warp: usize) {
        self.meet(warp);
        for index in 0..self.warps[warp].fragments.len() {
            if let State::Registers(count) = self.warps[warp].fragments[index].state
                && self.take_registers(warp, count)
            {
                self.warps[warp].fragments[index].state = State::Ready;
            }
            if let State::Memory(version) = self.warps[warp].fragments[index].state
                && version != self.device.version
            {
                self.warps[warp].fragments[index].state = State::Ready;
            }
            if let State::Test(wants) = &self.warps[warp].fragments[index].state
                && wants.iter().all(|(object, want, _)| self.objects[*object].has(*want))
            {
                self.pass_test(warp, index, true);
            }
        }
    }

    fn step(&mut self, warp: usize, index: usize) {
        let program = self.program;
        let fragment = &mut self.warps[warp].fragments[index];
        let (pc, mask) = (fragment.pc, fragment.mask);
        let Some(step) = program.steps.get(pc as usize) else {
            let last = program.steps.last().map_or(0, |step| step.instruction);
            self.exit(warp, index, mask, last);
            return;
        };
        fragment.pc = pc + 1;
        self.visited[pc as usize] = true;
        if self.waits_for_lanes(warp, index, step) || self.waits_for_group(warp, index, step) {
            self.warps[warp].fragments[index].pc = pc;
            return;
        }
        if let Some((register, _)) = step.guard
            && self.warps[warp]
                .assumed
                .get(register as usize)
                .is_some_and(|assumed| assumed.lanes & mask != 0)
            && !step.action.is_computation()
        {
            let lists = self.warps[warp].lists_of(&[Source::Register(register, 0)], mask);
            if !self.doubts(pc, lists) {
                self.guess(warp, step.instruction, lists);
            }
        }
        let Some(runs) = self.warps[warp].guarded(step, mask) else {
            self.unknown_guard(warp, index, step);
            return;
        };
        if runs == 0 {
            return;
        }
        self.warps[warp].acting = runs;
        self.warps[warp].leaves_loops(&step.action);
        match &step.action {
            Action::Jump(target) => {
                self.warps[warp].clock.has_asked |= self.program.asked.contains(&step.instruction);
                let fragment = &mut self.warps[warp].fragments[index];
                if runs == mask {
                    fragment.pc = *target;
                    return;
                }
                fragment.mask = mask & !runs;
                let taken = Fragment::new(*target, runs, fragment.told);
                self.warps[warp].fragments.push(taken);
            }
            Action::Exit => self.exit(warp, index, runs, step.instruction),
            Action::Table { index: chosen, targets } => {
                if self.turn(warp, index, runs, (step.instruction, *chosen), targets).is_none() {
                    self.freeze(warp, index, step.instruction);
                }
            }
            Action::Opaque => self.freeze(warp, index, step.instruction),
            _ => self.act(warp, index, runs, step),
        }
    }

    pub(super) fn freeze(&mut self, warp: usize, fragment: usize, instruction: u32) {
        self.warps[warp].fragments[fragment].state = State::Frozen(instruction);
        self.is_partial = true;
    }

    pub(super) fn unknown_guard(&mut self, warp: usize, index: usize, step: &Step) {
        match &step.action {
            Action::Compute { to, .. } => self.forget(warp, to.iter().flatten().copied()),
            Action::Pack { to, .. } | Action::Convert { to, .. } | Action::MapRank { to, .. } => {
                self.forget(warp, [*to]);
            }
            Action::Draw { to, .. } => self.forget(warp, [*to]),
            Action::Unpack { to, .. } => self.forget(warp, to.iter().flatten().copied()),
            Action::Forget { to, .. } | Action::Load { to, .. } => {
                self.forget(warp, to.iter().map(|(register, _)| *register));
            }
            Action::Pointers { to, .. } => {
                self.forget(warp, to.iter().flatten().map(|(register, ..)| *register));
            }
            // What may or may not be stored or seen is left alone.
            Action::Global(access) if !access.strength.is_strong => {
                self.forget(warp, access.to.iter().flatten().copied());
            }
            // What may or may not be read or written is left alone.
            Action::Access { address, to, writes, .. } => {
                self.forget(warp, to.iter().flatten().copied());
                if *writes {
                    self.forget_memory(warp, *address);
                }
            }
            Action::Local { to, from, .. } => {
                self.forget(warp, to.iter().flatten().copied());
                if !from.is_empty() {
                    self.warps[warp].local.clear();
                }
            }
            Action::Multiply { .. }
            | Action::Tensor { .. }
            | Action::WaitLoads
            | Action::TensorFence { .. } => {}
            Action::Deallocate { .. } => self.gives_columns_back(warp),
            _ => self.freeze(warp, index, step.instruction),
        }
    }

    fn exit(&mut self, warp: usize, index: usize, runs: u32, instruction: u32) {
        let own = &mut self.warps[warp];
        own.alive &= !runs;
        let fragment = &mut own.fragments[index];
        fragment.mask &= !runs;
        if fragment.mask == 0 {
            own.fragments.swap_remove(index);
        }
        if self.warps[warp].alive != 0 {
            self.complete_arrival(warp);
            return;
        }
        self.progress += 1;
        // Its registers stay with it: devices do not hand them to warps that wait for some.
        let block = self.warps[warp].block;
        let clock = std::mem::take(&mut self.warps[warp].clock);
        self.blocks[block].end.join(&clock);
        self.warps[warp].clock = clock;
        let numbers: Vec<u32> = self.blocks[block].barriers.keys().copied().collect();
        for number in numbers {
            self.release(block, number);
        }
        self.release_cluster();
        self.release_grid();
        if self.warps.iter().filter(|other| other.block == block).all(|other| other.alive == 0) {
            self.blocks[block].ended = Some(instruction);
        }
    }

    /// Where all lanes of a warp that are left wait at one barrier, the others are not waited for any more.
    fn complete_arrival(&mut self, warp: usize) {
        let own = &self.warps[warp];
        let Some(State::Barrier(number)) = own.fragments.first().map(|fragment| fragment.state.clone())
        else {
            return;
        };
        let waits = |fragment: &&Fragment| fragment.state == State::Barrier(number);
        let there: u32 = own.fragments.iter().filter(waits).fold(0, |all, fragment| all | fragment.mask);
        let (alive, block) = (own.alive, own.block);
        if there != alive {
            return;
        }
        if let Some(barrier) = self.blocks[block].barriers.get_mut(&number) {
            barrier.arrived += WARP - there.count_ones();
        }
        self.release(block, number);
    }

    /// The same without a copy, where it is a register as it stands.
    pub(super) fn seen(&self, warp: usize, source: Source) -> Cow<'_, Value> {
        match source {
            Source::Register(number, 0) => match self.warps[warp].registers.get(number as usize) {
                Some(value) => Cow::Borrowed(value),
                None => Cow::Owned(Value::Unknown),
            },
            _ => Cow::Owned(self.value(warp, source)),
        }
    }

    /// What a warp has in a source, in all lanes.
    pub(super) fn value(&self, warp: usize, source: Source) -> Value {
        let own = &self.warps[warp];
        let register =
            |register: u32| own.registers.get(register as usize).cloned().unwrap_or(Value::Unknown);
        match source {
            Source::Register(number, 0) => register(number),
            Source::Register(number, offset) => {
                Value::of([&register(number)], ALL, |[number]| Some(number.wrapping_add_signed(offset)))
            }
            Source::Negated(number) => Value::of([&register(number)], ALL, |[number]| Some(number ^ 1)),
            Source::Number(number) => Value::Uniform(number),
            Source::Special(special, offset) => Value::of([&self.special(own, special)], ALL, |[number]| {
                Some(number.wrapping_add_signed(offset))
            }),
            Source::Unknown => Value::Unknown,
        }
    }

    /// Who a warp is, for a look at shared memory. Its event is a new one.
    pub(super) fn next_event(&mut self, warp: usize) -> u32 {
        let warps = self.warps.len();
        let own = &mut self.warps[warp];
        own.event += 1;
        own.clock.raise(warps, Row::Events, warp, own.event);
        own.event
    }

    pub(super) fn who(&self, warp: usize) -> Who<'_> {
        Who { warp: warp as u32, lanes: 0, clock: &self.warps[warp].clock, warps: self.warps.len() }
    }

    /// Of what may follow from each other only the first is a fault.
    pub(super) fn tell(&mut self, fault: Fault) {
        if fault.kind == FaultKind::Unpublished
            && let Some(known) = self.faults.iter_mut().find(|known| known.kind == fault.kind)
        {
            // The objects of a ring are made in a row, and the last tells where to publish them.
            if known.instruction < fault.instruction {
                *known = fault;
            }
            return;
        }
        let follows = fault.kind.may_follow() && self.faults.iter().any(|known| known.kind.may_follow());
        if !follows && self.faults.len() < MAX_FAULTS && self.told.insert((fault.kind, fault.instruction)) {
            self.faults.push(fault);
        }
    }
}
