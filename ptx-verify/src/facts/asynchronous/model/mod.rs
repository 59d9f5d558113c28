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

mod act;
mod attribution;
mod blame;
mod clock;

mod copies;
mod decode;
mod fault;
mod machine;
mod object;
mod phases;
mod program;
mod registers;
mod shadow;
mod sizes;
mod slice;
mod value;

use crate::facts::FunctionFacts;
pub use fault::{Fault, FaultKind, Part};
pub use machine::End;
use machine::{Machine, Scenario};
use program::Program;

/// What executions of a kernel's protocol show.
#[derive(Clone, Debug, Default)]
pub struct Protocol {
    /// What goes wrong, in order of the text.
    pub faults: Vec<Fault>,
    /// How the executions ended; none where the kernel has no protocol.
    pub end: Option<End>,
    /// The threads of a block, the blocks of a cluster, and the number that parameters are, in the execution that shows it.
    pub launch: ([u32; 3], u32, u64),
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
const PARAMETERS: [u64; 2] = [1024, 64];
/// Steps of warps for one execution: as many for each step of the program, and as many in any case.
const STEPS_PER_STEP: u32 = 100;
const MIN_STEPS: u32 = 16_000;
const MAX_STEPS: u32 = 24_000;
/// Blocks of a cluster that are looked at.
const MAX_BLOCKS: u32 = 4;

/// Executes the protocol of a kernel. `calls` are the calls of functions that may take part in it, ascending.
#[must_use]
pub fn protocol(facts: &FunctionFacts<'_>, calls: &[u32]) -> Protocol {
    let Some(program) = slice::program(facts, calls) else { return Protocol::default() };
    let said = facts.function.required_threads().or_else(|| facts.function.max_threads());
    let sizes: Vec<[u32; 3]> = match said {
        Some(extents) => vec![extents],
        None if program.counts_rows => ROWS.to_vec(),
        None if program.counts_threads => SIZES.to_vec(),
        None => vec![[WARP, 1, 1]],
    };
    let clusters = match facts.function.required_cluster().map(|extents| extents.iter().product::<u32>()) {
        Some(blocks) => vec![blocks.clamp(1, MAX_BLOCKS)],
        None if program.clustered => vec![2, 1],
        None => vec![1],
    };
    let launches = clusters.iter().flat_map(|&blocks| sizes.iter().map(move |&threads| (threads, blocks)));
    let mut all: Option<Protocol> = None;
    for (threads, blocks) in launches {
        if threads.iter().product::<u32>() > MAX_THREADS {
            continue;
        }
        let found = of_launch(&program, threads, blocks);
        match &mut all {
            None => all = Some(found),
            Some(known) => {
                let same = |fault: &Fault| {
                    found
                        .faults
                        .iter()
                        .any(|other| other.kind == fault.kind && other.instruction == fault.instruction)
                };
                known.faults.retain(same);
            }
        }
        if all.as_ref().is_some_and(|known| known.faults.is_empty()) {
            break;
        }
    }
    let mut found = all.unwrap_or_default();
    found.faults = found.faults.into_iter().map(|fault| attribution::attribute(facts, fault)).collect();
    found
}

/// What executions of one launch show.
fn of_launch(program: &Program, threads: [u32; 3], blocks: u32) -> Protocol {
    let steps = u32::try_from(program.steps.len()).unwrap_or(u32::MAX);
    let budget = steps.saturating_mul(STEPS_PER_STEP).clamp(MIN_STEPS, MAX_STEPS);
    let mut protocol = Protocol::default();
    let parameters = if program.takes_counts { &PARAMETERS[..1] } else { &PARAMETERS[..] };
    for &parameter in parameters {
        let scenario = Scenario { threads, blocks, parameter, reversed: false, budget };
        let mut machine = Machine::new(program, scenario);
        let mut end = machine.run();
        // Where all of it goes well as far as copies are known, more is known of them now.
        let sizes = machine.log.sizes(&program.variables);
        if machine.faults.is_empty() && !sizes.is_empty() {
            machine = Machine::new(program, scenario);
            machine.sizes.clone_from(&sizes);
            end = machine.run();
        }
        protocol.end = Some(end);
        protocol.launch = (threads, blocks, parameter);
        let mut faults = std::mem::take(&mut machine.faults);
        // Clocks tell what is not ordered, whoever came first; the other order shows who waits for whom else.
        if faults.is_empty() && end == End::Complete && program.has_order {
            let mut machine = Machine::new(program, Scenario { reversed: true, ..scenario });
            machine.sizes = sizes;
            machine.run();
            faults = std::mem::take(&mut machine.faults);
        }
        faults.retain(|fault| !(program.takes_counts && fault.kind.is_of_counts()));
        protocol.faults = faults;
        if !protocol.faults.is_empty() || end != End::Budget {
            break;
        }
    }
    protocol.faults.sort_by_key(|fault| (fault.instruction, fault.kind));
    protocol
}
