//! A model of what threads, copy engines and tensor cores do together: the protocol of a kernel is executed, and what
//! goes wrong on the way is a fault with an execution that shows it.
//!
//! PTX ISA manual, sections "Asynchronous Operations", "mbarrier", "Proxies" and "Memory Consistency Model". Only what
//! decides about the protocol is executed (`program.rs`): what barriers, groups, copies and accesses of shared memory are
//! computed of. Numbers that come from elsewhere are not known, and where control or a barrier depends on one the
//! execution ends there. What happened up to that place is still an execution of the kernel.
//!
//! A launch is assumed: blocks as the kernel says, or of several sizes, and parameters that are all one number, so that
//! loops over them have enough turns. A fault that only some sizes of blocks show is not told.

mod accesses;
mod act;
mod again;
mod alike;
mod answers;
mod anywhere;
mod assumed;
mod at_once;
mod attribution;
mod beyond;
mod blame;
mod bytes;
mod choices;
mod clock;
mod converge;
mod copies;
mod decides;
mod decode;
mod dependence;
mod device;
mod doubt;
mod drawn;
mod effort;
mod ending;
mod evenly;
mod extents;
mod fault;
mod gathers;
mod global;
mod grid;
mod kept;
mod known;
mod leap;
mod listed;
mod local;
mod machine;
mod meeting;
mod memory;
mod object;
mod origin;
mod otherwise;
mod passed;
mod phases;
mod places;
mod plain;
mod pointer;
mod program;
mod ranks;
mod registers;
mod room;
mod rooms;
mod rounds;
mod scenario;
mod shadow;
mod sizes;
mod skim;
mod slice;
mod specials;
mod spread;
mod stored;
mod table;
mod tensor;
mod tensor_fences;
mod tensor_order;
mod thin;
mod together;
mod value;

use self::slice::Unfit;
use crate::FunctionFacts;
use again::{Known, Recent};
use effort::{Effort, SHARE};
pub use fault::{Fault, FaultKind, ONE_OF_PAIR, Part, TOO_MANY_AT_ONCE};
pub use machine::End;
use machine::Machine;
use program::Program;
use rustc_hash::FxHashMap;
use scenario::{RISING, RISING_SLOWLY, Scenario};
use sizes::Log;

/// What is known of the kernels of a module that were executed.
#[derive(Debug, Default)]
pub struct Executions {
    of_blocks: Recent<Question, Shown>,
    of_grids: grid::Recently,
    /// Whether they may take as long as they do, however long the text is.
    are_unlimited: bool,
}

impl Executions {
    /// Those of a text that is long for how it was made: what it was made of is short.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { are_unlimited: true, ..Self::default() }
    }
}

/// What goes wrong between the blocks of a grid. `calls` are the calls of functions that may take part in it, ascending.
#[must_use]
pub fn between_blocks(facts: &FunctionFacts<'_>, calls: &[u32], executions: &Executions) -> Vec<Fault> {
    grid::between_blocks(facts, calls, executions)
}

/// What executions of a kernel's protocol show.
#[derive(Clone, Debug, Default)]
pub struct Protocol {
    /// What goes wrong, in order of the text.
    pub faults: Vec<Fault>,
    /// How the executions ended; none where the kernel has no protocol.
    pub end: Option<End>,
    /// The threads of a block, the blocks of a cluster, and the number that parameters are, in the execution that shows it.
    pub launch: ([u32; 3], u32, u64),
    /// Whether numbers that decide about it come from calls.
    pub asks_calls: bool,
}

impl Protocol {
    /// Whether all of the protocol was executed.
    #[must_use]
    pub const fn is_conclusive(&self) -> bool {
        matches!(self.end, Some(End::Complete | End::Deadlock))
    }
}

/// No block has more threads.
const MAX_THREADS: u32 = 1024;
/// Threads of a block where nothing tells them apart.
const WARP: u32 = 32;
/// Sizes of blocks where the kernel says none.
const SIZES: [[u32; 3]; 4] = [[128, 1, 1], [256, 1, 1], [384, 1, 1], [64, 1, 1]];
/// The same for kernels that ask for several dimensions.
const ROWS: [[u32; 3]; 4] = [[16, 16, 1], [32, 4, 1], [32, 32, 1], [8, 8, 1]];
/// Numbers that parameters are.
const PARAMETERS: [u64; 5] = [1024, MIDDLE_PARAMETER, 16, LAST_PARAMETER, FEWEST];
const MIDDLE_PARAMETER: u64 = 64;
/// The last of them, with which kernels are executed that have many rounds whatever they are given: they may take longer.
const LAST_PARAMETER: u64 = 8;
/// One for kernels with rounds in rounds where some threads wait for others.
const FEWEST: u64 = 4;
const LAST_FACTOR: u32 = 2;
/// What comes to no end with that either has many rounds by constants.
const FEWEST_FACTOR: u32 = 5;
/// A number that is no multiple of what loops are unrolled by, and has rounds before and after.
const ODD: u64 = 7;
/// The number for kernels that take less than this part of the steps that they may.
const LARGE_PARAMETER: u64 = 1 << 20;
const SHORT: u32 = 8;
/// Another block is looked at in kernels that take less than this part of them.
const SHORT_OF_BLOCK: u32 = 2;
/// Numbers that memory is assumed to have, after that of the parameters.
const MEMORY: [u64; 2] = [1, 0];
/// The number with which a fault has to show again where memory decides.
const OTHER_MEMORY: u64 = 3;
/// Numbers of memory from which on another one that is less by this part asks for many rounds as well.
const MANY_IN_MEMORY: u64 = 64;
const SHORT_OF_MEMORY: u64 = 8;
/// Another one is larger by so much, so that its lowest byte is the same.
const OTHER_BYTES: u64 = 1 << 8;
/// Another number is smaller by so much, where one is to show nothing new: it takes no more steps.
const PARAMETER_APART: u64 = 4;
/// Steps of warps for one execution: as many for each step of the program, and as many in any case.
const STEPS_PER_STEP: u32 = 100;
const MIN_STEPS: u32 = 16_000;
const MAX_STEPS: u32 = 24_000;
/// The number, and the steps, for kernels of which a part is left out: whole libraries are made of them, and more steps
/// would cost as much as all else that is done with them.
const PARAMETER_OF_THINNED: u64 = 256;
const STEPS_OF_THINNED: u32 = 3_000;
/// The number for a small grid whose blocks have long rounds.
const PARAMETER_OF_LONG: u64 = 256;
/// Steps after which no other launch is tried.
const MAX_SPENT: u32 = 90_000;
/// Blocks of a cluster that are looked at.
const MAX_BLOCKS: u32 = 16;
/// The blocks of a cluster, and the rows of them, where the kernel does not say.
const CLUSTERS: [(u32, u32); 8] = [(2, 1), (1, 1), (2, 2), (1, 2), (4, 1), (4, 2), (4, 4), (2, 4)];

/// Executes the protocol of a kernel. `calls` are the calls of functions that may take part in it, ascending.
#[must_use]
pub fn protocol(facts: &FunctionFacts<'_>, calls: &[u32], executions: &Executions) -> Protocol {
    let program = match thin::program(facts, calls) {
        Err(Unfit::Nothing) => return Protocol::default(),
        Err(Unfit::Long) => return Protocol { end: Some(End::Budget), ..Protocol::default() },
        Ok(program) => executions.of_blocks.of(program),
    };
    let said = facts.function.required_threads().or_else(|| facts.function.max_threads());
    let is_guessed = said.is_none() && (program.counts_rows || program.counts_threads);
    let sizes: Vec<[u32; 3]> = match said {
        Some(extents) => vec![extents],
        // What goes wrong in several dimensions alone is what a kernel for one is not made for.
        None if program.counts_rows && program.numbers_threads() => [&SIZES[..1], &ROWS[..]].concat(),
        None if program.counts_rows => ROWS.to_vec(),
        None if program.counts_threads => SIZES.to_vec(),
        None => vec![[WARP, 1, 1]],
    };
    let said = facts.function.required_cluster();
    let is_known = said.is_none_or(|extents| extents.iter().product::<u32>() <= MAX_BLOCKS);
    let clusters = match said {
        Some([x, y, z]) if is_known => vec![(x.max(1), y.max(1) * z.max(1))],
        None if !program.clustered => vec![(1, 1)],
        // Who takes the addresses of other blocks has some.
        None if program.maps_ranks() => CLUSTERS.into_iter().filter(|&cluster| cluster != (1, 1)).collect(),
        _ => CLUSTERS.to_vec(),
    };
    // Where neither is known, each of one kind is tried with the first of the other.
    let launches = clusters.iter().enumerate().flat_map(|(index, &cluster)| {
        let tried = if index == 0 { sizes.len() } else { 1 };
        sizes[..tried].iter().map(move |&threads| (threads, cluster))
    });
    let effort = Effort::of(facts, executions.are_unlimited);
    let (mut all, mut spent): (Option<Protocol>, u32) = (None, 0);
    for (threads, cluster) in launches {
        if threads.iter().product::<u32>() > MAX_THREADS {
            continue;
        }
        let found = of_launch(facts, &program, (threads, cluster), (effort, is_guessed), &mut spent);
        match &mut all {
            // Shared memory has no room for so many threads.
            _ if found.end.is_none() && is_guessed => continue,
            None => all = Some(found),
            Some(known) => {
                // Data that nobody has waited for is used at one place or another, as the threads share it out.
                let same = |fault: &Fault| {
                    found.faults.iter().any(|other| {
                        let is_there =
                            other.instruction == fault.instruction || fault.kind == FaultKind::EarlyAccess;
                        other.kind == fault.kind && is_there
                    })
                };
                known.faults.retain(same);
                if found.end == Some(End::Complete) {
                    (known.end, known.launch) = (found.end, found.launch);
                }
            }
        }
        // Where nothing tells the blocks of a cluster, others may come further.
        let is_done =
            clusters.len() == 1 || all.as_ref().is_some_and(|known| known.end == Some(End::Complete));
        // Copies that the end of a plain kernel leaves need no other launch to be believed.
        let is_settled = |fault: &Fault| !program.has_order && fault.kind == FaultKind::LeftRunning;
        if is_done && all.as_ref().is_some_and(|known| known.faults.iter().all(is_settled)) {
            break;
        }
        if spent > MAX_SPENT / SHARE * effort.share || !effort.goes_on(spent) {
            // Blocks that were not looked at may show that nothing is wrong.
            if let Some(known) = all.as_mut().filter(|_| clusters.len() > 1) {
                known.faults.clear();
            }
            break;
        }
    }
    let mut found = all.unwrap_or_else(|| {
        let launch = ([WARP, 1, 1], clusters.first().copied().unwrap_or((1, 1)));
        of_launch(facts, &program, launch, (effort, false), &mut spent)
    });
    found.asks_calls = program.asks_calls;
    found.faults = found
        .faults
        .into_iter()
        .map(|fault| attribution::attribute(facts, &program.unheard, fault))
        .collect();
    found
}

/// What executions of one launch show, with threads and blocks of a cluster as given.
fn of_launch(
    facts: &FunctionFacts<'_>,
    program: &Executed,
    (threads, cluster): ([u32; 3], (u32, u32)),
    (effort, is_guessed): (Effort, bool),
    spent: &mut u32,
) -> Protocol {
    let steps = u32::try_from(program.steps.len()).unwrap_or(u32::MAX);
    let budget = steps.saturating_mul(STEPS_PER_STEP).clamp(MIN_STEPS, MAX_STEPS);
    // Libraries have many long kernels, and a module of few has time for all numbers.
    let is_many = program.is_thinned && effort.share <= SHARE;
    let budget = if is_many { STEPS_OF_THINNED } else { budget / SHARE * effort.share };
    let mut protocol = Protocol::default();
    let parameters = match () {
        () if is_many => &[PARAMETER_OF_THINNED][..],
        () if program.takes_counts => &PARAMETERS[..1],
        () if program.has_order => &PARAMETERS[..],
        () => &PARAMETERS[..PARAMETERS.len() - 1],
    };
    let mut was_skimmed = false;
    // A kernel with tables in shared memory is made for as many as they have room for.
    let are_many = parameters.len() > 1;
    // Where many rounds take too long few of them have to tell.
    let few_rounds = |parameter: &&u64| !effort.weighs() || **parameter != MIDDLE_PARAMETER;
    // Where all goes well, and the first number gives loops over large parts few rounds, another one comes after it.
    let of_parts = program.parameter_of_parts(PARAMETERS[0]).filter(|_| are_many && !effort.weighs());
    let numbers = parameters[..1].iter().chain(&of_parts).chain(parameters[1..].iter().filter(few_rounds));
    let fitting = numbers.map(|parameter| (*parameter, are_many));
    let any = (are_many && !is_guessed).then_some((parameters[0], false));
    let mut was_fit = false;
    // Whether the last execution left no time for what else is tried: a smaller number may.
    let mut is_long = false;
    for (parameter, fits) in fitting.chain(any) {
        if are_many && was_fit && !fits || !effort.goes_on(*spent) {
            protocol.end.get_or_insert(End::Budget);
            break;
        }
        let is_of_parts = of_parts == Some(parameter);
        if is_of_parts != (protocol.is_conclusive() && !is_long) {
            if is_of_parts {
                continue;
            } else {
                break;
            };
        }
        let mut memory = MEMORY.into_iter();
        let (row, blocks) = (cluster.0, cluster.0 * cluster.1);
        let budget = match parameter {
            FEWEST if !program.is_thinned => budget * FEWEST_FACTOR,
            ..=LAST_PARAMETER => budget * LAST_FACTOR,
            _ => budget,
        };
        let budget = effort.budget(budget, parameter == PARAMETERS[0]);
        let reversed = false;
        let (number, place) = (parameter, 0);
        let mut scenario = Scenario {
            threads,
            blocks,
            row,
            place,
            of_grid: false,
            parameter,
            memory: number,
            run: 0,
            reversed,
            holds: false,
            leads: false,
            skims: false,
            fits,
            few: false,
            weighs: effort.weighs(),
            budget,
        };
        let mut shown = of_scenario(program, scenario, None, None);
        *spent += shown.steps;
        if shown.misfits && shown.faults.iter().all(|fault| fault.kind.shares_places()) {
            continue;
        }
        was_fit = true;
        let is_endless = shown.end == End::Budget && shown.faults.is_empty() && !program.is_thinned;
        let may_skim = !effort.weighs() && !std::mem::replace(&mut was_skimmed, true) || parameter == FEWEST;
        if is_endless && may_skim && program.has_skims() {
            // Some turns of loops over data may be all that is needed to come to what follows them, and to the end of few rounds.
            let skimmed = of_scenario(program, Scenario { skims: true, ..scenario }, None, None);
            *spent += skimmed.steps;
            if !skimmed.faults.is_empty() {
                scenario.skims = true;
                shown = skimmed;
            }
        }
        while shown.guesses && shown.faults.is_empty() && shown.end != End::Complete && effort.goes_on(*spent)
        {
            // Other numbers in memory may lead further.
            let Some(number) = memory.next() else { break };
            scenario.memory = number;
            let other = of_scenario(program, scenario, None, None);
            *spent += other.steps;
            if other.end == End::Complete || shown.end == End::Budget && other.end != End::Budget {
                shown = other;
            }
        }
        let goes_on = |shown: &Shown, spent: u32| shown.faults.is_empty() && effort.goes_on(spent);
        if shown.guesses && goes_on(&shown, *spent) && shown.steps < budget / SHORT {
            // Rounds that memory decides about may not have come: another number may ask for them.
            if let Some(number) = memory.next() {
                let other = of_scenario(program, Scenario { memory: number, ..scenario }, None, None);
                *spent += other.steps;
                if !other.faults.is_empty() {
                    scenario.memory = number;
                    (shown.faults, shown.guesses) = (other.faults, other.guesses);
                }
            }
        }
        let are_of_end = shown.faults.iter().all(|fault| fault.kind.is_of_end()) && effort.goes_on(*spent);
        if shown.guesses && are_of_end && !program.is_thinned && program.reads_lists() {
            let left = std::mem::take(&mut shown.faults);
            // Parts of a list have no length where all its elements are the same.
            let fewer = PARAMETERS[2].min(parameter);
            let mut ends = true;
            for (rising, parameter) in
                [(RISING, parameter), (RISING_SLOWLY, parameter), (RISING_SLOWLY, fewer), (RISING, fewer)]
            {
                if parameter == fewer && ends {
                    break;
                }
                let [first, other] = rising.map(|memory| Scenario { memory, parameter, ..scenario });
                let rising = of_scenario(program, first, None, None);
                *spent += rising.steps;
                ends = rising.end == End::Complete;
                if !rising.faults.is_empty() {
                    let again = of_scenario(program, other, None, None);
                    *spent += again.steps;
                    shown.faults = rising.faults;
                    shown.faults.retain(|fault| again.shows(fault));
                    shown.guesses = false;
                    scenario.parameter = parameter;
                }
                if !goes_on(&shown, *spent) {
                    break;
                }
            }
            if shown.faults.is_empty() {
                shown.faults = left;
            }
        }
        let is_short = shown.end == End::Complete && goes_on(&shown, *spent) && shown.steps < budget / SHORT;
        if is_short && !program.takes_counts && !protocol.is_conclusive() {
            // Loops over bytes may hardly have turned.
            let parameter = LARGE_PARAMETER;
            let mut other =
                of_scenario(program, Scenario { parameter, ..scenario }, Some(&shown.sizes), None);
            *spent += other.steps;
            // Bytes that are products of such numbers are more than an object counts.
            other.faults.retain(|fault| fault.kind != FaultKind::Bytes && !fault.is_of_rooms());
            if !other.faults.is_empty() {
                scenario.parameter = parameter;
                (shown.faults, shown.guesses) = (other.faults, other.guesses);
            }
        }
        let is_right = shown.end == End::Complete && goes_on(&shown, *spent);
        let is_half = shown.steps < budget / SHORT_OF_BLOCK;
        if is_right && program.asks_grid && !program.is_thinned && (is_half || parameter > PARAMETER_OF_LONG)
        {
            // Blocks of a small grid have several rounds of what many blocks share, also where memory tells how much that is.
            let memory = if shown.guesses { number } else { scenario.memory };
            // Where one round is long, fewer have to tell.
            let parameter = if is_half { scenario.parameter } else { PARAMETER_OF_LONG };
            let few = Scenario { few: true, memory, parameter, ..scenario };
            let other = of_scenario(program, few, Some(&shown.sizes), None);
            *spent += other.steps;
            if !other.faults.is_empty() {
                scenario = few;
                (shown.faults, shown.guesses) = (other.faults, other.guesses);
            }
        }
        let is_right = shown.end == End::Complete && goes_on(&shown, *spent) && !shown.guesses;
        if is_right && shown.lacks_copies && !program.has_order && !program.is_thinned {
            // Rounds that an unrolled loop leaves come for numbers that are no multiples.
            let odd = Scenario { parameter: ODD, memory: ODD, ..scenario };
            let mut other = of_scenario(program, odd, None, None);
            *spent += other.steps;
            other.faults.retain(|fault| {
                let kinds = [FaultKind::EarlyAccess, FaultKind::GroupPending, FaultKind::MissingBarrier];
                kinds.contains(&fault.kind)
            });
            if !other.faults.is_empty() && !other.guesses {
                scenario.parameter = ODD;
                shown.faults = other.faults;
            }
        }
        let is_right = shown.end == End::Complete && goes_on(&shown, *spent);
        if is_right && program.asks_block && shown.steps < budget / SHORT_OF_BLOCK {
            // Other blocks may do something else.
            let mut other_scenario = Scenario { place: 1, ..scenario };
            let mut other = of_scenario(program, other_scenario, Some(&shown.sizes), None);
            *spent += other.steps;
            let mut memory = MEMORY.into_iter();
            while other.guesses && other.faults.is_empty() && other.end != End::Complete {
                let Some(number) = memory.next() else { break };
                other_scenario.memory = number;
                other = of_scenario(program, other_scenario, Some(&shown.sizes), None);
                *spent += other.steps;
            }
            if !other.faults.is_empty() {
                scenario = other_scenario;
                (shown.faults, shown.guesses) = (other.faults, other.guesses);
            }
        }
        let is_right = shown.end == End::Complete && goes_on(&shown, *spent);
        if is_right && program.asks_block && !program.is_thinned && shown.steps < budget / SHORT_OF_BLOCK {
            // Blocks may have another role, where a parameter says how many have the first.
            shown.faults = otherwise::of_other_role(facts, program, scenario, spent);
        }
        let is_right = shown.end == End::Complete && goes_on(&shown, *spent);
        if is_right && !program.is_thinned && shown.steps < budget / SHORT_OF_BLOCK {
            // Parameters that are no numbers of rounds may choose another way.
            shown.faults = otherwise::chosen_otherwise(facts, program, scenario, &shown.sizes, spent);
        }
        let is_right = shown.end == End::Complete && shown.faults.iter().all(|fault| fault.kind.is_of_end());
        is_long = shown.steps >= budget / SHORT_OF_BLOCK;
        if is_right && effort.goes_on(*spent) && !program.is_thinned && (!is_long || program.has_skims()) {
            // Rounds from one parameter to another are none where both are one number.
            scenario.skims |= is_long;
            let faults = otherwise::begun_earlier(facts, program, scenario, spent);
            if !faults.is_empty() {
                shown.faults = faults;
            }
        }
        let is_right = shown.end == End::Complete && goes_on(&shown, *spent) && !shown.guesses;
        if is_right && program.has_order && !program.is_thinned && program.counts_rounds() {
            let faults = otherwise::of_odd_rounds(program, scenario, spent);
            if !faults.is_empty() {
                scenario.parameter = ODD;
                shown.faults = faults;
            }
        }
        if shown.guesses && !shown.faults.is_empty() {
            // What only one number in memory shows may be what the kernel relies on.
            let again = Scenario { memory: OTHER_MEMORY, ..scenario };
            let mut other = of_scenario(program, again, None, None);
            *spent += other.steps;
            let fewer = PARAMETERS[2].min(scenario.parameter);
            if other.end == End::Budget && other.faults.is_empty() && fewer < scenario.parameter {
                // More rounds in each may leave no time for what comes after many of them.
                other = of_scenario(program, Scenario { parameter: fewer, ..again }, None, None);
                *spent += other.steps;
            }
            let shows = shown.faults.iter().any(|fault| other.shows(fault));
            // So few rounds may show nothing: another number that asks for many has to. What is left out for numbers that are smaller than
            // some parameter comes for larger ones, and what one list decides can happen.
            let apart = scenario.memory / SHORT_OF_MEMORY;
            let near = [
                (scenario.memory - apart, other.end == End::Complete),
                (scenario.memory + apart, shown.of_same_lists),
                // Lists of bytes have the same again.
                (scenario.memory + OTHER_BYTES, shown.of_same_lists),
            ];
            let may_ask = !shows && scenario.memory >= MANY_IN_MEMORY;
            for (memory, _) in near.into_iter().filter(|(_, may_show)| *may_show && may_ask) {
                if other.faults.is_empty() {
                    other = of_scenario(program, Scenario { memory, ..scenario }, None, None);
                    *spent += other.steps;
                }
            }
            shown.faults.retain(|fault| other.shows(fault));
            if shown.faults.iter().any(Fault::expects_nothing) {
                // Between two places in a list is nothing where all of it is one number.
                let rising = of_scenario(program, Scenario { memory: RISING[0], ..scenario }, None, None);
                *spent += rising.steps;
                shown.faults.retain(|fault| !fault.expects_nothing() || rising.shows(fault));
            }
            if program.reads_lists() && shown.faults.iter().any(|fault| fault.kind.is_of_end()) {
                // Nor are there rounds in some loops then, while others that begin with the list have some.
                let slowly = Scenario { memory: RISING_SLOWLY[0], ..scenario };
                let mut rising = of_scenario(program, slowly, None, None);
                *spent += rising.steps;
                if rising.end == End::Budget {
                    rising = of_scenario(program, Scenario { parameter: fewer, ..slowly }, None, None);
                    *spent += rising.steps;
                }
                shown.faults.retain(|fault| !fault.kind.is_of_end() || rising.shows(fault));
            }
        }
        if !shown.faults.is_empty() {
            // What goes wrong where a loop has no rounds has to show where it has one.
            let parameter = program.with_rounds(scenario.parameter);
            if parameter != scenario.parameter {
                let other = of_scenario(program, Scenario { parameter, ..scenario }, None, None);
                *spent += other.steps;
                shown.faults.retain(|fault| other.shows(fault));
            }
        }
        if program.is_thinned {
            // What threads store where a copy writes may be beyond a table that a parameter is too large for.
            shown.faults.retain(|fault| !is_of_store(facts, fault));
        }
        if shown.faults.iter().any(Fault::is_of_rooms) {
            // What a parameter says how many bytes are expected tells nothing of the room for them.
            let parameter = scenario.parameter - PARAMETER_APART;
            let other = of_scenario(program, Scenario { parameter, ..scenario }, None, None);
            *spent += other.steps;
            shown
                .faults
                .retain(|fault| !fault.is_of_rooms() || other.faults.iter().any(|each| each.is(fault)));
        }
        is_long &= is_right && !program.is_thinned && !effort.weighs();
        if shown.faults.is_empty() && protocol.is_conclusive() {
            continue;
        }
        protocol.end = Some(shown.end);
        protocol.launch = (threads, blocks, scenario.parameter);
        shown.faults.retain(|fault| !(program.takes_counts && fault.kind.is_of_counts()));
        protocol.faults = shown.faults;
        if !protocol.faults.is_empty() || !matches!(shown.end, End::Budget | End::Complete) {
            break;
        }
    }
    protocol.faults.sort_by_key(|fault| (fault.instruction, fault.kind));
    protocol
}

/// Whether a fault is of a plain store where a copy writes.
fn is_of_store(facts: &FunctionFacts<'_>, fault: &Fault) -> bool {
    let kinds = [FaultKind::EarlyAccess, FaultKind::GroupPending, FaultKind::MissingBarrier];
    let stores = |at: u32| {
        facts
            .instance(at)
            .is_some_and(|instance| instance.effects.writes_memory && instance.effects.asynchronous.is_none())
    };
    let accesses = fault.others.iter().filter(|(_, part)| *part == Part::Access).map(|(at, _)| *at);
    kinds.contains(&fault.kind) && accesses.chain([fault.instruction]).any(stores)
}

/// What is asked of an execution: the scenario, the sizes of copies that are agreed, and the loads of parameters that are another
/// number.
type Question = (Scenario, Option<FxHashMap<u32, u64>>, Option<(Vec<u32>, u64)>);
type Executed = Known<Question, Shown>;

/// What an execution shows.
#[derive(Clone, Debug)]
struct Shown {
    end: End,
    faults: Vec<Fault>,
    /// Whether an assumption about memory decided about anything.
    guesses: bool,
    /// Whether it was the same lists for all, of which they read the same elements.
    of_same_lists: bool,
    /// How much copies of unknown size bring, as far as that is known.
    sizes: FxHashMap<u32, u64>,
    /// How many steps it took.
    steps: u32,
    /// Whether the kernel is not made for such a launch.
    misfits: bool,
    /// Whether there are copies, or waits for them, that no thread has come to.
    lacks_copies: bool,
}

impl Shown {
    /// Whether it shows a fault, too.
    fn shows(&self, fault: &Fault) -> bool {
        self.faults.iter().any(|own| {
            // Which of several objects is seen first to count too few depends on how many rounds there are.
            let is_there = own.instruction == fault.instruction || own.kind == FaultKind::TooFewArrivals;
            own.kind == fault.kind && is_there
        })
    }
}

/// Executes a kernel. `agreed` are sizes of copies that another number for the parameters has shown: those that come from
/// parameters differ.
/// `chosen` are loads of a parameter, and the number that it is.
fn of_scenario(
    program: &Executed,
    scenario: Scenario,
    agreed: Option<&FxHashMap<u32, u64>>,
    chosen: Option<(&[u32], u64)>,
) -> Shown {
    let question = (scenario, agreed.cloned(), chosen.map(|(loads, number)| (loads.to_vec(), number)));
    program.ask(question, || executed(program, scenario, agreed, chosen))
}

fn executed<'p>(
    program: &'p Program,
    scenario: Scenario,
    agreed: Option<&FxHashMap<u32, u64>>,
    chosen: Option<(&'p [u32], u64)>,
) -> Shown {
    let mut before = Log::default();
    let first = |scenario: Scenario| {
        let mut machine = Machine::new(program, scenario);
        machine.chosen = chosen;
        machine
    };
    let mut spent = 0;
    let mut run = |machine: &mut Machine<'_>| {
        let end = machine.run();
        spent += scenario.budget - machine.steps;
        end
    };
    let mut machine = first(scenario);
    let mut end = run(&mut machine);
    let is_divided = !machine.faults.is_empty() && machine.log.is_divided();
    if is_divided || machine.faults.is_empty() && machine.log.has_rows {
        // What one operation was taken to read is of two: the second began later.
        before = std::mem::take(&mut machine.log);
        before.knows_places = true;
        machine = first(scenario);
        machine.log.knows_places_of(&before);
        end = run(&mut machine);
    }
    let late = std::mem::take(&mut machine.log.late);
    let of = |scenario: Scenario| {
        let mut machine = first(scenario);
        machine.log.knows_places_of(&before);
        machine
    };
    if end == End::Budget && machine.faults.is_empty() {
        // As many phases as there were tell of their bytes.
        machine.tell_of_phases();
        machine.tell_of_groups(true);
    }
    // Where all of it goes well as far as copies are known, more is known of them now.
    let mut sizes = machine.log.sizes(&program.variables);
    if let Some(agreed) = agreed {
        sizes.retain(|copy, size| agreed.get(copy) == Some(size));
    }
    let mut has_many_sources = machine.has_many_sources();
    let of_cluster =
        machine.of_cluster().filter(|_| has_many_sources && matches!(end, End::Complete | End::Budget));
    let was_right = machine.faults.is_empty();
    let exact = if has_many_sources { machine.sizes_in_cluster() } else { FxHashMap::default() };
    let is_exact = !exact.is_empty();
    sizes.extend(exact);
    if (machine.faults.is_empty() || has_many_sources) && !sizes.is_empty() {
        machine = of(scenario);
        machine.sizes.clone_from(&sizes);
        end = run(&mut machine);
        // Then phases end when all bytes are there, whoever copies them.
        has_many_sources &= !is_exact || machine.has_many_sources();
    }
    machine.tell_of_tensor_fences();
    let lacks_copies = machine.lacks_copies();
    let misfits = matches!(machine.stop, Some(End::Unknown(_)));
    let guesses = machine.guessed.is_some() || machine.asks_lists || !machine.doubtful.is_empty();
    let steps = scenario.budget - machine.steps;
    let mut faults = machine.certain_faults();
    // Phases end too early for those who do not know how much other blocks copy.
    if machine.has_many_sources() {
        faults.retain(|fault| !fault.kind.may_follow());
    } else if has_many_sources {
        faults.retain(|fault| !fault.kind.is_of_counts() || machine.is_of_threads(fault));
    }
    if has_many_sources && end == End::Deadlock {
        end = End::Unknown(program.steps.first().map_or(0, |step| step.instruction));
    }
    // Threads that run ahead of others may miss each other; those who come later show what they should have waited for.
    let is_stuck = end == End::Deadlock && faults.iter().all(|fault| fault.kind == FaultKind::Phase);
    if is_stuck && !faults.is_empty() && program.has_order {
        let mut machine = of(Scenario { reversed: true, ..scenario });
        machine.sizes.clone_from(&sizes);
        run(&mut machine);
        let others = machine.certain_faults();
        faults.extend(others.into_iter().filter(|fault| !fault.kind.is_of_counts()));
    }
    // Clocks tell what is not ordered, whoever came first; the other order shows who waits for whom else.
    if faults.is_empty() && end == End::Complete && program.has_order {
        let mut machine = of(Scenario { reversed: true, ..scenario });
        machine.sizes.clone_from(&sizes);
        run(&mut machine);
        faults = machine.certain_faults();
        faults.retain(|fault| !has_many_sources || !fault.kind.is_of_counts());
    }
    if faults.iter().any(|fault| fault.kind == FaultKind::WrongPhase) && !late.is_empty() {
        // What comes to an object where nothing is expected may belong to the phase before, whose bytes are not known.
        let mut machine = of(scenario);
        machine.log.joined = late;
        let end = run(&mut machine);
        if machine.faults.is_empty() && end != End::Deadlock {
            faults.clear();
        }
    }
    // A wrong number of bytes makes copies overlap that do not: the number itself is the fault.
    if was_right || faults.is_empty() {
        faults = of_cluster.map_or(faults, |bytes| vec![bytes]);
    }
    // Where steps are counted by what they do, all executions count.
    let steps = if scenario.weighs { spent } else { steps };
    let of_same_lists = machine.agree();
    Shown { end, faults, guesses, of_same_lists, sizes, steps, misfits, lacks_copies }
}
