//! What the blocks of a grid tell each other in global memory: several of them are executed together.

use std::cell::Cell;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::again::{Known, Recent};
use super::attribution::attribute;
use super::drawn::counters;
use super::effort::Effort;
use super::fault::{Fault, FaultKind, Part};
use super::machine::{End, Machine};
use super::scenario::Scenario;
use super::{Executions, MAX_THREADS, ROWS, SIZES, WARP, thin};
use ptx_ir::isa::Control;

use crate::FunctionFacts;
use crate::asynchronous::flags::has_same_distance;
use crate::asynchronous::parting::chooses;

/// Blocks of the grid.
const BLOCKS: u32 = 4;
/// Blocks of a cluster that are executed together.
const MAX_CLUSTER: u32 = 4;
/// Steps of warps.
const STEPS: u32 = 80_000;
/// How many times as many those may take that confirm a fault.
const PATIENCE: u32 = 5;
/// Steps of all executions.
const MAX_SPENT: u32 = 80_000;
/// Numbers for the parameters of kernels with long loops.
const FEWER: u64 = 256;
const FEW: u64 = 64;
/// Another number for the parameters is larger by so much: tiles of that many are whole.
const APART: u64 = 64;
/// Numbers in memory, where a kernel looks for what to do there.
const MEMORY: [Content; 4] = [
    Content { number: 1, run: 0 },
    Content { number: 3, run: 0 },
    Content { number: 1, run: 2 },
    Content { number: 1, run: 3 },
];
/// Numbers that are even: what is asked of fractions is answered with the lowest bit.
const EVEN: [Content; 2] = [Content { number: 2, run: 0 }, Content { number: 6, run: 0 }];

/// What the grids of a module's kernels have shown.
pub(super) type Recently = Recent<Question, Shown>;

/// What goes wrong between the blocks of a grid.
pub(super) fn between_blocks(facts: &FunctionFacts<'_>, calls: &[u32], known: &Executions) -> Vec<Fault> {
    let Ok(program) = thin::program_of_grid(facts, calls) else { return Vec::new() };
    let program = known.of_grids.of(program);
    if !(program.asks_block || program.draws() || program.clustered) {
        return Vec::new();
    }
    // A grid of one cluster, where blocks deal with each other in clusters.
    let cluster = facts.function.required_cluster().map(|[x, y, z]| [x.max(1), y.max(1) * z.max(1)]);
    let [width, height] = match cluster {
        _ if !program.clustered => [BLOCKS, 1],
        Some([x, y]) if (2..=MAX_CLUSTER).contains(&(x * y)) => [x, y],
        _ => return Vec::new(),
    };
    let blocks = width * height;
    let said = facts.function.required_threads().or_else(|| facts.function.max_threads());
    let threads = match said {
        Some(extents) => extents,
        None if program.counts_rows && !program.numbers_threads() => ROWS[0],
        None if program.counts_threads => SIZES[0],
        None => [WARP, 1, 1],
    };
    let count = threads.iter().product::<u32>();
    if count > MAX_THREADS {
        return Vec::new();
    }
    let effort = Effort::of(facts, known.are_unlimited);
    let trials = Trials { facts, program: &program, threads, blocks, effort, spent: Cell::new(0) };
    // As many as there are blocks, as many as there are threads, and some between.
    let large = u64::from(blocks * count);
    let mut parameters = vec![u64::from(blocks), FEW, FEWER, large];
    parameters.dedup();
    let rows: &[u32] = match program.asks_row && !program.clustered {
        true => &[BLOCKS / 2, BLOCKS],
        false => &[width],
    };
    for &row in rows {
        let mut stuck: Option<Vec<Fault>> = None;
        let mut complete = 0;
        for &parameter in &parameters {
            let first = Trial { row, parameter, memory: MEMORY[0], order: Order::Forward, confirms: false };
            let shown = trials.execute(first);
            let is_over = shown.end == End::Budget;
            if !is_over {
                let mut waits = shown.waits(facts);
                if shown.guesses && !waits.is_empty() {
                    for memory in [MEMORY[1], EVEN[0]] {
                        let others = trials.execute(Trial { memory, ..first }).waits(facts);
                        waits.retain(|fault| others.iter().any(|other| other.is(fault)));
                    }
                }
                stuck = Some(match stuck {
                    None => waits,
                    Some(known) => known
                        .into_iter()
                        .filter(|fault| waits.iter().any(|other| waits_as_well(other, fault)))
                        .collect(),
                });
                complete += 1;
            }
            let memories: &[Content] =
                if shown.guesses { &[MEMORY[0], MEMORY[2], EVEN[0]] } else { &MEMORY[..1] };
            for &memory in memories {
                let mut meets = true;
                let orders: &[Order] = match program.has_locks {
                    _ if is_over => &ORDERS[..1],
                    true => &ORDERS_OF_LOCKS,
                    false => &ORDERS,
                };
                for &order in orders {
                    let trial = Trial { memory, order, ..first };
                    let is_first = memory == MEMORY[0] && matches!(order, Order::Forward);
                    // What has been executed already may show something.
                    if trials.is_over() && !is_first || !meets {
                        break;
                    }
                    let found = if is_first { shown.clone() } else { trials.execute(trial) };
                    let races = trials.confirmed(trial, &found);
                    if !races.is_empty() {
                        let is_own = |fault: &Fault| fault.kind == FaultKind::Race;
                        let attributed = races.into_iter().map(|fault| match is_own(&fault) {
                            true => attribute(facts, &program.unheard, fault),
                            false => fault,
                        });
                        return attributed.collect();
                    }
                    // Blocks that share nothing do the same in any order.
                    meets = found.meets;
                }
            }
            if is_over || trials.is_over() {
                break;
            }
        }
        // Where the kernel ends with one number of rounds it is meant for that.
        let stuck = stuck.filter(|stuck| complete > 1 && !stuck.is_empty() && !program.tells_devices);
        if let Some(stuck) = stuck {
            return stuck;
        }
    }
    Vec::new()
}

/// What memory has that the kernel does not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    number: u64,
    /// How fast the numbers rise with their places; 0 where all are one.
    run: u64,
}

/// In which order threads act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The first block as far as it can, then the next one.
    Forward,
    Reversed,
    /// Each until it has told others something or asked for it, and then the first block where no other one can go on.
    Held,
    /// The first block until it has told others something or asked for it, and then as before: who gets a lock first may be the last to
    /// come to a counter.
    Led,
}

const ORDERS: [Order; 3] = [Order::Forward, Order::Reversed, Order::Held];
/// The orders of kernels with locks.
const ORDERS_OF_LOCKS: [Order; 4] = [Order::Forward, Order::Reversed, Order::Held, Order::Led];

/// What is asked of an execution: the threads of a block, and how it is executed.
pub(super) type Question = ([u32; 3], Trial);

/// How a kernel is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    row: u32,
    parameter: u64,
    memory: Content,
    order: Order,
    /// Whether it confirms a fault.
    confirms: bool,
}

/// What an execution shows.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    steps: u32,
    end: End,
    /// Whether blocks may have come to one place, or not all have come to their ends.
    meets: bool,
    guesses: bool,
    faults: Vec<Fault>,
    /// Plain accesses whose address something in memory decides about.
    led: FxHashSet<u32>,
    /// Where something in memory decides what happens.
    decided: FxHashSet<u32>,
}

impl Shown {
    /// Accesses that nothing orders, where the same counters lead to both: nobody knows what a counter begins with.
    fn of_races(&self, facts: &FunctionFacts<'_>) -> Vec<Fault> {
        let is_sure = |fault: &Fault| {
            let own = counters(facts, fault.instruction);
            let mut others = fault.others.iter().filter(|(_, part)| *part == Part::Access);
            // What memory leads to may be anywhere.
            let is_anywhere =
                |at: u32, counters: &BTreeSet<u32>| counters.is_empty() && self.led.contains(&at);
            fault.kind != FaultKind::GlobalRace
                || others.all(|&(at, _)| {
                    let other = counters(facts, at);
                    other == own || is_anywhere(at, &other) || is_anywhere(fault.instruction, &own)
                })
        };
        let races = self.faults.iter().filter(|fault| fault.kind != FaultKind::NeverSet && is_sure(fault));
        races.cloned().collect()
    }

    /// The same where numbers in memory rise. How far a loop goes in a row that parameters lead to is then not known to be as far as
    /// the row.
    fn of_races_in(&self, facts: &FunctionFacts<'_>, memory: Content) -> Vec<Fault> {
        let mut races = self.of_races(facts);
        if memory.run > 0 {
            races.retain(|fault| {
                let others = fault.others.iter().filter(|(_, part)| *part == Part::Access).map(|(at, _)| *at);
                let mut both = std::iter::once(fault.instruction).chain(others);
                !both.any(|at| !self.led.contains(&at) && self.is_chosen(facts, at))
            });
        }
        races
    }

    /// Whether something in memory decides whether control comes to an instruction, or how many times.
    fn is_chosen(&self, facts: &FunctionFacts<'_>, instruction: u32) -> bool {
        let branches = self.decided.iter().copied().filter(|at| facts.control(*at) == Control::Branch);
        branches.into_iter().any(|branch| chooses(facts, branch, instruction))
    }

    /// Threads that wait for ever, for what others store at the same part of an object.
    fn waits(&self, facts: &FunctionFacts<'_>) -> Vec<Fault> {
        if self.end != End::Deadlock {
            return Vec::new();
        }
        let is_set_elsewhere = |fault: &&Fault| {
            let mut others = fault.others.iter();
            others.any(|(other, part)| {
                *part == Part::Last || has_same_distance(facts, *other, fault.instruction)
            })
        };
        let waits = self.faults.iter().filter(|fault| fault.kind == FaultKind::NeverSet);
        waits.filter(is_set_elsewhere).cloned().collect()
    }
}

/// Whether threads wait for ever at the same place in another execution, where others may do so before.
fn waits_as_well(other: &Fault, fault: &Fault) -> bool {
    other.is(fault)
        || other.kind == fault.kind && other.others.contains(&(fault.instruction, Part::OtherWait))
}

struct Trials<'p> {
    facts: &'p FunctionFacts<'p>,
    program: &'p Known<Question, Shown>,
    threads: [u32; 3],
    blocks: u32,
    effort: Effort,
    spent: Cell<u32>,
}

impl Trials<'_> {
    /// Whether no more are made.
    fn is_over(&self) -> bool {
        let spent = self.spent.get();
        spent > MAX_SPENT || !self.effort.goes_on(spent)
    }

    fn execute(&self, trial: Trial) -> Shown {
        let shown = self.program.ask((self.threads, trial), || self.executed(trial));
        self.spent.set(self.spent.get() + shown.steps);
        shown
    }

    fn executed(&self, trial: Trial) -> Shown {
        let Trial { row, parameter, memory, order, confirms } = trial;
        let budget = self.effort.budget(STEPS * if confirms { PATIENCE } else { 1 }, false);
        let scenario = Scenario {
            threads: self.threads,
            blocks: self.blocks,
            row,
            place: 0,
            of_grid: true,
            parameter,
            memory: memory.number,
            run: memory.run,
            reversed: matches!(order, Order::Reversed),
            holds: matches!(order, Order::Held),
            leads: matches!(order, Order::Led),
            skims: true,
            fits: false,
            few: false,
            weighs: self.effort.weighs(),
            budget,
        };
        let mut machine = Machine::new(self.program, scenario);
        let end = machine.run();
        let steps = budget - machine.steps;
        let meets = end != End::Complete || machine.has_met_blocks();
        let guesses = machine.guessed.is_some();
        let race = machine.race.take().filter(|_| !machine.device.is_misled);
        let mut faults: Vec<Fault> = race.into_iter().collect();
        let kinds = [FaultKind::NeverSet, FaultKind::GlobalUnfenced];
        faults.extend(machine.faults.drain(..).filter(|fault| kinds.contains(&fault.kind)));
        let device = &mut machine.device;
        let (led, decided) = (std::mem::take(&mut device.led), std::mem::take(&mut device.guesses));
        Shown { steps, end, meets, guesses, faults, led, decided }
    }

    /// The races that an execution shows, and others with other numbers as well: what only one shows may be what the kernel is not meant
    /// for, and what lies in rows of a few elements may be in one place.
    fn confirmed(&self, trial: Trial, shown: &Shown) -> Vec<Fault> {
        let mut races = shown.of_races_in(self.facts, trial.memory);
        let memory = match trial.memory {
            Content { run: 1.., .. } => MEMORY[3],
            memory if memory == EVEN[0] => EVEN[1],
            _ => MEMORY[1],
        };
        let trial = Trial { confirms: true, ..trial };
        let other = Trial { parameter: trial.parameter.max(FEW) + APART, ..trial };
        for trial in [other].into_iter().chain(shown.guesses.then_some(Trial { memory, ..trial })) {
            if races.is_empty() {
                break;
            }
            let others = self.execute(trial).of_races_in(self.facts, trial.memory);
            races.retain(|fault| others.iter().any(|other| other.is(fault)));
        }
        races
    }
}
