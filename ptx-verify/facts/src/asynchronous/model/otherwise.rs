//! Executions in which a parameter is another number than the rest.

use rustc_hash::FxHashMap;

use super::choices;
use super::fault::{Fault, FaultKind};
use super::machine::End;
use super::scenario::Scenario;
use super::{Executed, ODD, OTHER_MEMORY, PARAMETER_APART, Shown, of_scenario};
use crate::FunctionFacts;

/// The number of a parameter that rounds begin with.
const FIRST: u64 = 1;
/// Another odd number of rounds, and an even one that is no power of two.
const OTHER_ODD: u64 = 11;
const EVEN: u64 = 28;
/// That of one that something is divided by.
const DIVISOR: u64 = 2;

/// What goes wrong in the blocks that have another role than the first ones, where a parameter says how many these are: as if there
/// were none. How many arrive may depend on it as well.
pub(super) fn of_other_role(
    facts: &FunctionFacts<'_>,
    program: &Executed,
    scenario: Scenario,
    spent: &mut u32,
) -> Vec<Fault> {
    for loads in choices::of_blocks(facts, program) {
        let mut execute = |scenario: Scenario, number: u64| {
            let other = of_scenario(program, scenario, None, Some((&loads, number)));
            *spent += other.steps;
            other
        };
        let Shown { mut faults, guesses, end, .. } = execute(scenario, 0);
        // Of bytes that are no multiples of a parameter another number shows the same.
        let bytes: Vec<Fault> =
            faults.iter().filter(|fault| fault.kind == FaultKind::Bytes).cloned().collect();
        // How many arrive may go with the parameter: another number that leaves the same role to other blocks shows the same.
        let counts: Vec<Fault> = faults.iter().filter(|fault| fault.kind.is_of_counts()).cloned().collect();
        faults.retain(|fault| !fault.kind.is_of_counts() && !fault.kind.is_of_end());
        if !counts.is_empty() && !guesses && end != End::Budget && !program.takes_counts {
            let other = execute(Scenario { place: 1, ..scenario }, 1);
            faults.extend(
                counts.into_iter().filter(|fault| other.shows(fault) && fault.kind != FaultKind::Bytes),
            );
        }
        if !bytes.is_empty() && !guesses && end != End::Budget {
            let parameter = scenario.parameter - PARAMETER_APART;
            let other = of_scenario(program, Scenario { parameter, ..scenario }, None, Some((&loads, 0)));
            faults.extend(bytes.into_iter().filter(|fault| other.faults.iter().any(|each| each.is(fault))));
        }
        if faults.is_empty() || end == End::Budget {
            continue;
        }
        if guesses {
            let other = execute(Scenario { memory: OTHER_MEMORY, ..scenario }, 0);
            faults.retain(|fault| other.shows(fault));
        }
        if !faults.is_empty() {
            return faults;
        }
    }
    Vec::new()
}

/// What goes wrong where roles have odd numbers of rounds, and of those within: what is right with powers of two may be so by luck. That a
/// kernel is made for even numbers alone another number has to show, which is no power of two either.
pub(super) fn of_odd_rounds(program: &Executed, scenario: Scenario, spent: &mut u32) -> Vec<Fault> {
    // Such a number may be one of bits, of which a launch has others.
    if program.shifts_by_parameters() {
        return Vec::new();
    }
    let mut first = None;
    for parameter in [ODD, OTHER_ODD, EVEN] {
        let other = of_scenario(program, Scenario { parameter, memory: parameter, ..scenario }, None, None);
        *spent += other.steps;
        let mut faults = other.faults;
        faults.retain(|fault| !fault.kind.is_of_end() && !fault.kind.is_of_bytes());
        if other.guesses || faults.is_empty() {
            return Vec::new();
        }
        first.get_or_insert(faults);
    }
    first.unwrap_or_default()
}

/// What goes wrong where a parameter that only chooses between ways is another number than the rest. That it is so where
/// somebody waits for ever, or does not wait at the end, says nothing: others may say the same in other words.
pub(super) fn chosen_otherwise(
    facts: &FunctionFacts<'_>,
    program: &Executed,
    scenario: Scenario,
    sizes: &FxHashMap<u32, u64>,
    spent: &mut u32,
) -> Vec<Fault> {
    for choice in choices::of(facts, program) {
        for &number in &choice.numbers {
            let other = of_scenario(program, scenario, Some(sizes), Some((&choice.loads, number)));
            *spent += other.steps;
            let mut faults = other.faults;
            faults.retain(|fault| !fault.kind.is_of_counts() && !fault.kind.is_of_end());
            // Memory need not be what it is assumed to be for both ways.
            if !other.guesses && !faults.is_empty() {
                return faults;
            }
        }
    }
    Vec::new()
}

/// What goes wrong where a parameter that rounds begin with is smaller than the one that they end with, or one that their number is
/// divided by.
pub(super) fn begun_earlier(
    facts: &FunctionFacts<'_>,
    program: &Executed,
    scenario: Scenario,
    spent: &mut u32,
) -> Vec<Fault> {
    let beginnings = choices::beginnings(facts, program).into_iter().map(|loads| (loads, FIRST));
    let divisors = choices::divisors(facts, program).into_iter().map(|loads| (loads, DIVISOR));
    for (loads, number) in beginnings.chain(divisors) {
        let mut execute = |scenario: Scenario, number: u64| {
            let other = of_scenario(program, scenario, None, Some((&loads, number)));
            *spent += other.steps;
            other
        };
        let (mut other, mut scenario) = (execute(scenario, number), scenario);
        if other.end == End::Budget && other.faults.is_empty() && program.has_skims() {
            scenario.skims = true;
            other = execute(scenario, number);
        }
        let (mut faults, of_counts): (Vec<Fault>, Vec<Fault>) =
            other.faults.into_iter().partition(|fault| !fault.kind.is_of_counts() && !fault.kind.is_of_end());
        if !other.guesses && faults.is_empty() && !of_counts.is_empty() && number == DIVISOR {
            // How many come may go with the parameter: another number shows the same.
            let again = execute(scenario, 2 * DIVISOR);
            if !again.guesses {
                faults.extend(of_counts.into_iter().filter(|fault| again.shows(fault)));
            }
        }
        if !other.guesses && !faults.is_empty() {
            return faults;
        }
    }
    Vec::new()
}
