//! Parameters that only choose between ways: all of them are one number, so that only one of these ways is seen.
//!
//! Such a parameter is compared with constants, and what that tells guards steps and branches that lead forward. Nothing else
//! is computed of it.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;
use ptx_ir::special::SpecialRegister;

use super::program::{Action, Program, Source, Step};
use crate::FunctionFacts;
use crate::asynchronous::elements::read_one_parameter;

/// Parameters that are looked at, and numbers for each.
const MAX_CHOICES: usize = 3;
const MAX_NUMBERS: usize = 2;
/// Moves between a number and where it is compared.
const MAX_MOVES: usize = 4;
/// Registers that are computed of one.
const MAX_REGISTERS: usize = 24;

/// A parameter that chooses: the instructions that load it, and numbers that may choose otherwise.
pub(super) struct Choice {
    pub(super) loads: Vec<u32>,
    pub(super) numbers: Vec<u64>,
}

/// The parameters of a program that only choose between ways.
pub(super) fn of(facts: &FunctionFacts<'_>, program: &Program) -> Vec<Choice> {
    let is_load = |step: &&Step| {
        matches!(&step.action, Action::Load { to, parameters: true, .. } if to.len() == 1)
            && facts.body.operands(Handle::new(step.instruction)).len() == 2
    };
    let loads: Vec<u32> = program.steps.iter().filter(is_load).map(|step| step.instruction).collect();
    let mut found = Vec::new();
    for (index, &load) in loads.iter().enumerate() {
        if loads[..index].iter().any(|&before| read_one_parameter(facts, before, load)) {
            continue;
        }
        let same = same_as(facts, &loads[index..], load);
        found.extend(numbers(facts, program, &same).map(|numbers| Choice { loads: same, numbers }));
        if found.len() == MAX_CHOICES {
            break;
        }
    }
    found
}

/// The loads of parameters with which the number of the block is compared to choose a way forward.
pub(super) fn of_blocks(facts: &FunctionFacts<'_>, program: &Program) -> Vec<Vec<u32>> {
    let only = |register: Register| match facts.definitions(register) {
        [only] => Some(*only),
        _ => None,
    };
    // Through moves.
    let origin = |mut operand: Operand| {
        for _ in 0..MAX_MOVES {
            let Operand::Register { register, .. } = operand else { return (operand, None) };
            let Some(write) = only(register) else { return (operand, None) };
            let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
            match facts.body.operands(Handle::new(write)) {
                [_, from] if computes == Some(Computation::Move) => operand = *from,
                _ => return (operand, Some(write)),
            }
        }
        (operand, None)
    };
    let is_block = |operand: Operand| {
        matches!(operand, Operand::Special(SpecialRegister::CTAID | SpecialRegister::CTAID_X))
    };
    let loads = loads_of_one(program);
    let mut found: Vec<Vec<u32>> = Vec::new();
    for (place, step) in program.steps.iter().enumerate() {
        let Action::Jump(target) = step.action else { continue };
        let compare = facts.condition(step.instruction).and_then(|guard| only(guard.register));
        let Some(compare) = compare.filter(|_| target as usize > place) else { continue };
        let is_order = facts.instance(compare).and_then(|instance| instance.effects.compares).is_some();
        let given = facts.body.operands(Handle::new(compare)).iter().skip(1).copied();
        let origins: Vec<(Operand, Option<u32>)> = given.map(origin).collect();
        let load = origins.iter().find_map(|(_, write)| write.filter(|write| loads.contains(write)));
        let Some(load) = load.filter(|_| is_order && origins.iter().any(|(operand, _)| is_block(*operand)))
        else {
            continue;
        };
        let same = same_as(facts, &loads, load);
        if !found.contains(&same) {
            found.push(same);
        }
        if found.len() == MAX_CHOICES {
            break;
        }
    }
    found
}

/// The loads of parameters that rounds begin with, where they end with another parameter: all parameters are one number, so that there are
/// no rounds.
pub(super) fn beginnings(facts: &FunctionFacts<'_>, program: &Program) -> Vec<Vec<u32>> {
    let loads = loads_of_one(program);
    let mut found: Vec<Vec<u32>> = Vec::new();
    for step in &program.steps {
        let Action::Compute { shape, .. } = &step.action else { continue };
        if shape.computation != Computation::Compare {
            continue;
        }
        let given = facts.body.operands(Handle::new(step.instruction)).iter().skip(1);
        let origins: Vec<(u32, bool)> = given
            .filter_map(|operand| match operand {
                Operand::Register { register, .. } => origin(facts, *register, &loads, MAX_MOVES),
                _ => None,
            })
            .collect();
        let [(one, moves), (other, other_moves)] = origins[..] else { continue };
        if moves == other_moves || read_one_parameter(facts, one, other) {
            continue;
        }
        let begin = if moves { one } else { other };
        let same = same_as(facts, &loads, begin);
        if !found.contains(&same) {
            found.push(same);
        }
        if found.len() == MAX_CHOICES {
            break;
        }
    }
    found
}

/// The loads of parameters that something else is divided by, or that the number of blocks is multiplied by: all parameters are one number, so
/// that nothing is left of a quotient, as of the rounds that several blocks share, and the first step of blocks over parts is the last.
pub(super) fn divisors(facts: &FunctionFacts<'_>, program: &Program) -> Vec<Vec<u32>> {
    let loads = loads_of_one(program);
    let mut found: Vec<Vec<u32>> = Vec::new();
    for step in &program.steps {
        let Action::Compute { shape, .. } = &step.action else { continue };
        let given = match (shape.computation, facts.body.operands(Handle::new(step.instruction))) {
            (Computation::Divide, [_, _, divisor, ..]) => *divisor,
            (Computation::Multiply, [_, one, other]) if is_grid(facts, *one) => *other,
            (Computation::Multiply, [_, one, other]) if is_grid(facts, *other) => *one,
            _ => continue,
        };
        let Operand::Register { register, .. } = given else { continue };
        let Some((divisor, false)) = origin(facts, register, &loads, MAX_MOVES) else { continue };
        let same = same_as(facts, &loads, divisor);
        if !found.contains(&same) {
            found.push(same);
        }
        if found.len() == MAX_CHOICES {
            break;
        }
    }
    found
}

/// Whether an operand is how many blocks there are.
fn is_grid(facts: &FunctionFacts<'_>, mut operand: Operand) -> bool {
    for _ in 0..MAX_MOVES {
        let Operand::Register { register, .. } = operand else { break };
        let [write] = facts.definitions(register) else { return false };
        let computes = facts.instance(*write).and_then(|instance| instance.effects.computes);
        match facts.body.operands(Handle::new(*write)) {
            [_, from] if computes == Some(Computation::Move) => operand = *from,
            _ => return false,
        }
    }
    matches!(operand, Operand::Special(SpecialRegister::NCTAID | SpecialRegister::NCTAID_X))
}

/// Those of some loads that read the same parameter as one does.
fn same_as(facts: &FunctionFacts<'_>, loads: &[u32], one: u32) -> Vec<u32> {
    loads.iter().copied().filter(|&load| read_one_parameter(facts, load, one)).collect()
}

/// The loads of one parameter each.
fn loads_of_one(program: &Program) -> Vec<u32> {
    let loads = program
        .steps
        .iter()
        .filter(|step| matches!(&step.action, Action::Load { to, parameters: true, .. } if to.len() == 1));
    loads.map(|step| step.instruction).collect()
}

/// The load of a parameter that a number comes of through moves and sums with constants, and whether it goes on from there in rounds.
fn origin(facts: &FunctionFacts<'_>, register: Register, loads: &[u32], left: usize) -> Option<(u32, bool)> {
    let left = left.checked_sub(1)?;
    let (mut first, mut moves) = (None, false);
    for &write in facts.definitions(register) {
        if goes_on(facts, write, register) {
            moves = true;
            continue;
        }
        if first.replace(write).is_some() {
            return None;
        }
    }
    let write = first?;
    if loads.contains(&write) {
        return Some((write, moves));
    }
    let (load, before) = origin(facts, summed(facts, write)?, loads, left)?;
    Some((load, moves || before))
}

/// Whether an instruction adds something to a register itself, or moves such a sum there.
fn goes_on(facts: &FunctionFacts<'_>, write: u32, register: Register) -> bool {
    // Itself, or a copy that was made of it before.
    let is_own = |of: Register| {
        of == register
            || matches!(facts.definitions(of), [only]
                if facts.instance(*only).and_then(|each| each.effects.computes) == Some(Computation::Move)
                    && facts.uses().of(*only).iter().any(|each| each.register == register && each.access().reads()))
    };
    let reads =
        |at: u32| facts.uses().of(at).iter().any(|each| each.access().reads() && is_own(each.register));
    let sum = |at: u32| facts.instance(at).and_then(|each| each.effects.computes) == Some(Computation::Add);
    if sum(write) {
        return reads(write);
    }
    match facts.body.operands(Handle::new(write)) {
        [_, Operand::Register { register: from, .. }] => {
            matches!(facts.definitions(*from), [only] if sum(*only) && reads(*only))
        }
        _ => false,
    }
}

/// The register that an instruction moves, or adds a constant to.
fn summed(facts: &FunctionFacts<'_>, write: u32) -> Option<Register> {
    let computes = facts.instance(write)?.effects.computes;
    match (computes?, facts.body.operands(Handle::new(write))) {
        (Computation::Move | Computation::Convert, [_, Operand::Register { register, .. }])
        | (
            Computation::Add | Computation::Subtract,
            [_, Operand::Register { register, .. }, Operand::Integer { .. }],
        ) => Some(*register),
        _ => None,
    }
}

/// The numbers that may choose otherwise; none where more depends on the parameter than ways.
fn numbers(facts: &FunctionFacts<'_>, program: &Program, loads: &[u32]) -> Option<Vec<u64>> {
    let written = |instruction: u32| {
        let uses = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
        uses.map(|each| each.register).collect::<Vec<Register>>()
    };
    let mut values: Vec<Register> = loads.iter().flat_map(|&load| written(load)).collect();
    let mut answers: Vec<Register> = Vec::new();
    if values.iter().any(|&register| facts.definitions(register).len() != 1) {
        return None;
    }
    let (mut numbers, mut decides) = (vec![0], false);
    for (place, step) in program.steps.iter().enumerate() {
        let guard = facts.condition(step.instruction).map(|guard| guard.register);
        if guard.is_some_and(|register| answers.contains(&register)) {
            // Who goes back as it says has rounds.
            if matches!(step.action, Action::Jump(target) if target as usize <= place) {
                return None;
            }
            decides = true;
        }
        if loads.contains(&step.instruction) {
            continue;
        }
        let uses = facts.uses().of(step.instruction).iter().filter(|each| each.access().reads());
        let reads: Vec<Register> =
            uses.map(|each| each.register).filter(|register| Some(*register) != guard).collect();
        let of_value = reads.iter().any(|register| values.contains(register));
        if !of_value && !reads.iter().any(|register| answers.contains(register)) {
            continue;
        }
        let Action::Compute { shape, from, .. } = &step.action else { return None };
        let to = written(step.instruction);
        if to.iter().any(|&register| facts.definitions(register).len() != 1) {
            return None;
        }
        if !of_value {
            answers.extend(to);
        } else {
            // Of constants and of this alone.
            if !reads.iter().all(|register| values.contains(register)) {
                return None;
            }
            let is_compared = shape.computation == Computation::Compare;
            if is_compared {
                numbers.extend(from.iter().filter_map(|source| match source {
                    Source::Number(number) if *number != 0 => Some(*number),
                    _ => None,
                }));
                answers.extend(to);
            } else {
                values.extend(to);
            }
        }
        if values.len() + answers.len() > MAX_REGISTERS {
            return None;
        }
    }
    numbers.dedup();
    numbers.truncate(MAX_NUMBERS);
    decides.then_some(numbers)
}
