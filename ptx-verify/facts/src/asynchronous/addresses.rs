//! The registers that an address is computed of, one after the other.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register, Variable};
use ptx_ir::isa::{Computation, Mode};
use ptx_ir::space::StateSpace;

use crate::FunctionFacts;

/// The registers that an address is computed of one after the other, through moves, conversions and sums, with the register
/// itself first and the one that it comes of last.
#[must_use]
pub fn address_steps(facts: &FunctionFacts<'_>, instruction: u32, base: Register) -> Vec<Register> {
    let mut steps = vec![base];
    walk_address(facts, instruction, base, false, |register, _| steps.push(register));
    steps
}

/// Shows the registers that an address of an instruction is computed of one after the other, without the first, and whether the one
/// before was the result of one instruction here.
pub(super) fn walk_address(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    base: Register,
    mut from_before: bool,
    mut show: impl FnMut(Register, bool),
) {
    const MAX_STEPS: usize = 24;
    let (mut register, mut at) = (base, instruction);
    for _ in 0..MAX_STEPS {
        let moved_on =
            |write: u32| facts.uses().of(write).iter().any(|each| each.register == register && each.reads());
        let is_before = std::mem::take(&mut from_before);
        let (write, is_only) = match facts.definitions(register) {
            [write] => (*write, true),
            definitions => match (near_definition(facts, at, register, is_before), definitions) {
                // People use one register for many addresses, and for what they add to one.
                (Some(near), _) if !moved_on(near) || !follows(facts, near, register) => (near, true),
                // It goes on in each turn of a loop.
                (_, [one, other]) if moved_on(*other) && !moved_on(*one) => (*one, false),
                (_, [one, other]) if moved_on(*one) && !moved_on(*other) => (*other, false),
                (_, several) => match begins_with(facts, at, register, several) {
                    Some(begins) => begins,
                    None => return,
                },
            },
        };
        let Some(from) = source(facts, write) else { return };
        register = from;
        at = write;
        show(register, is_only);
    }
}

/// What a register begins with that several instructions write, each after the other but for those that move it on from itself, and
/// whether none does.
fn begins_with(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    register: Register,
    definitions: &[u32],
) -> Option<(u32, bool)> {
    const MAX_DEFINITIONS: usize = 6;
    if definitions.len() > MAX_DEFINITIONS {
        return None;
    }
    let moves_on = |write: u32| follows(facts, write, register);
    let mut begins = definitions.iter().copied().filter(|&write| !moves_on(write)).rev();
    let last = begins.next()?;
    let block = |at: u32| facts.cfg.block_of(Handle::new(at));
    let comes_before = |first: u32, then: u32| {
        !facts.is_guarded(first) && first < then && facts.cfg.dominates(block(first), block(then))
    };
    let is_last = comes_before(last, instruction) && begins.all(|before| comes_before(before, last));
    is_last.then(|| (last, !definitions.iter().any(|&write| moves_on(write))))
}

/// The register that an instruction computes an address of.
pub(super) fn source(facts: &FunctionFacts<'_>, write: u32) -> Option<Register> {
    let index = match facts.instance(write)?.effects.computes? {
        Computation::Add if adds_to_pointer(facts, write) => 2,
        Computation::Move
        | Computation::Add
        | Computation::Subtract
        | Computation::ToGeneric
        | Computation::FromGeneric => 1,
        Computation::MultiplyAdd | Computation::MultiplyAddWide => 3,
        _ => return None,
    };
    match facts.body.operands(Handle::new(write)).get(index)? {
        Operand::Register { register, .. } => Some(*register),
        _ => None,
    }
}

/// Whether a sum has the pointer last: people write it so, where the first part is a product.
fn adds_to_pointer(facts: &FunctionFacts<'_>, sum: u32) -> bool {
    let is_product = |operand: Option<&Operand>| match operand {
        Some(Operand::Register { register, .. }) => match facts.definitions(*register) {
            [write] => {
                facts.instance(*write).and_then(|instance| instance.effects.computes).is_some_and(|each| {
                    matches!(each, Computation::Multiply | Computation::MultiplyWide | Computation::ShiftLeft)
                })
            }
            _ => false,
        },
        // A number is no pointer.
        _ => true,
    };
    let operands = facts.body.operands(Handle::new(sum));
    is_product(operands.get(1)) && !is_product(operands.get(2))
}

/// Whether an address that an instruction computes goes on from a register.
fn follows(facts: &FunctionFacts<'_>, write: u32, register: Register) -> bool {
    source(facts, write) == Some(register)
}

/// What writes a register last before an instruction, if that is one instruction whatever the way to it.
fn near_definition(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    register: Register,
    from_before: bool,
) -> Option<u32> {
    let cfg = &facts.cfg;
    let all = facts.definitions(register);
    let last_in = |block: NodeIndex, end: u32| {
        let before = all.partition_point(|&write| write < end);
        let write = *all.get(before.checked_sub(1)?)?;
        (write >= cfg.instructions(block).start).then_some(write)
    };
    let is_sure = |write: u32| facts.body.instructions[Handle::new(write)].guard.is_none();
    let own = cfg.block_of(Handle::new(instruction));
    if let Some(write) = last_in(own, instruction) {
        return is_sure(write).then_some(write);
    }
    if !from_before {
        return None;
    }
    let mut before = cfg.predecessors(own).map(|(before, _)| before).filter(|&before| before != own);
    let (Some(before), None) = (before.next(), before.next()) else { return None };
    last_in(before, cfg.instructions(before).end).filter(|&write| is_sure(write))
}

/// What an address is the sum of, as far as that is in sight.
#[derive(Default)]
struct Sum {
    /// The shared variables in it, each once.
    variables: Vec<Handle<Variable>>,
    /// Whether it is mapped to another block of the cluster.
    is_mapped: bool,
    /// Whether all of it was looked at.
    is_whole: bool,
}

fn sum_of(facts: &FunctionFacts<'_>, instruction: u32, base: Register) -> Sum {
    const MAX_TERMS: usize = 24;
    let (mut terms, mut sum) = (vec![(base, instruction)], Sum::default());
    for _ in 0..MAX_TERMS {
        let Some((register, at)) = terms.pop() else {
            sum.is_whole = true;
            break;
        };
        let write = match facts.definitions(register) {
            [write] => *write,
            _ => match near_definition(facts, at, register, false) {
                Some(write) => write,
                None => continue,
            },
        };
        let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
        sum.is_mapped |= computes == Some(Computation::MapRank);
        let is_sum = matches!(
            computes,
            Some(
                Computation::Move
                    | Computation::Add
                    | Computation::MultiplyAdd
                    | Computation::MultiplyAddWide
                    | Computation::ToGeneric
                    | Computation::FromGeneric
                    | Computation::MapRank
            )
        );
        for operand in facts.body.operands(Handle::new(write)).iter().skip(1).filter(|_| is_sum) {
            match *operand {
                Operand::Register { register, .. } => terms.push((register, write)),
                Operand::Variable { variable, .. }
                    if facts.module.variables[variable].space.base() == StateSpace::Shared
                        && !sum.variables.contains(&variable) =>
                {
                    sum.variables.push(variable);
                }
                _ => {}
            }
        }
    }
    sum
}

/// The variable in shared memory that is a part of an address, where there is one alone.
pub(super) fn summed_variable(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    base: Register,
) -> Option<Handle<Variable>> {
    let sum = sum_of(facts, instruction, base);
    match sum.variables[..] {
        [only] if sum.is_whole => Some(only),
        _ => None,
    }
}

/// Atomic operations on memory of other blocks of the cluster whose scope is the own block.
pub fn narrow_in_other_blocks(facts: &FunctionFacts<'_>) -> impl Iterator<Item = u32> {
    facts.reaching_out().filter(|&at| {
        let is_narrow = facts
            .instance(at)
            .is_some_and(|instance| instance.effects.atomic && instance.is(Mode::BlockScope));
        let mut operands = facts.body.operands(Handle::new(at)).iter();
        is_narrow
            && operands.any(|operand| match operand {
                Operand::RegisterAddress { base, .. } => sum_of(facts, at, *base).is_mapped,
                _ => false,
            })
    })
}

/// What is added on some steps of an address and after them, but for what is computed, and whether there is such.
pub(super) fn distance_of(facts: &FunctionFacts<'_>, steps: &[Register], offset: i32) -> (i64, bool) {
    let mut is_computed = false;
    let mut added = |register: Register| match facts.definitions(register) {
        [write] => {
            let computes = facts.instance(*write)?.effects.computes;
            let is_sum = matches!(
                computes,
                Some(
                    Computation::Add
                        | Computation::Subtract
                        | Computation::MultiplyAdd
                        | Computation::MultiplyAddWide
                )
            );
            let added = match facts.body.operands(Handle::new(*write)).get(2) {
                Some(Operand::Integer { bits, .. }) => *bits as i64,
                _ => {
                    is_computed |= is_sum;
                    return None;
                }
            };
            match computes {
                Some(Computation::Add) => Some(added),
                Some(Computation::Subtract) => Some(added.wrapping_neg()),
                _ => {
                    is_computed |= is_sum;
                    None
                }
            }
        }
        _ => None,
    };
    let distance = steps.iter().filter_map(|&each| added(each)).fold(i64::from(offset), i64::wrapping_add);
    (distance, is_computed)
}
