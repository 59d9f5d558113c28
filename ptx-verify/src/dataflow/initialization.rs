//! Reads of registers that nothing may have set.
//!
//! Three sieves, each for what the one before left: a write earlier in the block or in a dominating block;
//! definite assignment over all paths as bit vectors; and, for what is set under guards, [`paths`].
//!
//! [`paths`]: super::paths

use super::consequence::{Readers, consumers};
use super::facts::FunctionFacts;
use super::paths::{Budget, Origin, Reaching, Target, Undefined, Walker};
use super::registers::RegisterTable;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;
use rustc_hash::{FxHashMap, FxHashSet};

/// A read that may see a register that was never set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unset {
    /// The register.
    pub register: Register,
    /// The instruction that reads it.
    pub instruction: u32,
    /// The operand that reads it; none for the guard.
    pub operand: Option<usize>,
    /// Whether no write can reach the read, whatever way is taken.
    pub certain: bool,
    /// What the read may see.
    pub reaching: Reaching,
}

/// Steps of the walks that every function may have.
const LEAST_STEPS: usize = 3000;
/// So many instructions add a step.
const INSTRUCTIONS_PER_STEP: usize = 16;

/// Whether a read of the same register was judged that every way to this one leads through: what holds there
/// holds here.
fn follows_a_read(facts: &FunctionFacts<'_>, judged: &FxHashMap<Register, Vec<u32>>, read: Read) -> bool {
    let Some(earlier) = judged.get(&read.register) else { return false };
    let block = facts.cfg.block_of(Handle::new(read.instruction));
    earlier.iter().any(|&instruction| {
        let other = facts.cfg.block_of(Handle::new(instruction));
        if other == block { instruction <= read.instruction } else { facts.cfg.dominates(other, block) }
    })
}

/// A read that is not settled yet.
#[derive(Clone, Copy)]
struct Read {
    register: Register,
    instruction: u32,
    operand: Option<usize>,
}

/// Finds reads of unset registers, in order of the text: for each register the first that is certain, or else
/// the first. `is_set` tells which registers are set when the function is entered.
#[must_use]
pub fn unset_reads(facts: &FunctionFacts<'_>, is_set: impl Fn(Register) -> bool) -> Vec<Unset> {
    let open = undominated(facts, is_set);
    if open.is_empty() {
        return Vec::new();
    }
    let mut open = not_definitely_assigned(facts, open);
    open.retain(|read| !takes_no_byte(facts, *read));
    let mut found: FxHashMap<Register, Unset> = FxHashMap::default();
    let mut given_up: FxHashSet<Register> = FxHashSet::default();
    // All walks together cost no more than a few looks at each instruction.
    let mut budget = Budget::new(LEAST_STEPS + facts.body.instructions.len() / INSTRUCTIONS_PER_STEP);
    let mut walker = Walker::new(facts);
    let mut judged: FxHashMap<Register, Vec<u32>> = FxHashMap::default();
    let mut readers = None;
    for read in open {
        let settled = found.get(&read.register).is_some_and(|earlier| earlier.certain);
        if settled || given_up.contains(&read.register) || follows_a_read(facts, &judged, read) {
            continue;
        }
        let mut reaching = walker.reaching(Target::Register(read.register), read.instruction, &mut budget);
        if reaching.unknown && facts.definitions(read.register).is_empty() {
            reaching = never_written();
        }
        if reaching.unknown {
            given_up.insert(read.register);
        }
        let certain = reaching.writers.is_empty();
        let may_be_unset = !reaching.unknown && reaching.undefined.is_some();
        if may_be_unset && !certain {
            let readers = readers.get_or_insert_with(|| Readers::new(facts));
            if has_no_consequence(facts, readers, &mut walker, read, &mut budget) {
                continue;
            }
        }
        if !facts.is_guarded(read.instruction) && !reaching.masked {
            judged.entry(read.register).or_default().push(read.instruction);
        }
        if !may_be_unset {
            continue;
        }
        let Read { register, instruction, operand } = read;
        if certain || !found.contains_key(&register) {
            found.insert(register, Unset { register, instruction, operand, certain, reaching });
        }
    }
    let mut found: Vec<Unset> = found.into_values().collect();
    found.sort_by_key(|unset| (unset.instruction, unset.operand, unset.register));
    found
}

/// Whether nothing comes of a read where the register is unset: its value goes into shuffles, or comes to guarded
/// instructions that only run where it is set.
fn has_no_consequence(
    facts: &FunctionFacts<'_>,
    readers: &Readers,
    walker: &mut Walker<'_, '_>,
    read: Read,
    budget: &mut Budget,
) -> bool {
    let Some(consumers) = consumers(facts, readers, read.register, read.instruction) else { return false };
    if consumers.is_empty() {
        return true;
    }
    // A single write in front of the read: a consumer finds in the register what the read found.
    let [write] = *facts.definitions(read.register) else { return false };
    let (written, here) =
        (facts.cfg.block_of(Handle::new(write)), facts.cfg.block_of(Handle::new(read.instruction)));
    let in_front =
        if written == here { write < read.instruction } else { facts.cfg.dominates(written, here) };
    in_front
        && consumers.iter().all(|&consumer| {
            let reaching = walker.reaching(Target::Register(read.register), consumer, budget);
            !reaching.unknown && reaching.undefined.is_none()
        })
}

/// Whether the selector of a `prmt` takes no byte of the operand: code that reverses bytes has no use for its second
/// source, and leaves it unset. The table says of an operand that it is read, not on which value that depends.
fn takes_no_byte(facts: &FunctionFacts<'_>, read: Read) -> bool {
    let operands = facts.body.operands(Handle::new(read.instruction));
    let (Some(source @ 1..=2), [_, _, _, selector]) = (read.operand, operands) else { return false };
    let computes = facts.instance(read.instruction).and_then(|instance| instance.effects.computes);
    if computes != Some(Computation::Permute) {
        return false;
    }
    let Some(bits) = constant(facts, *selector) else { return false };
    // Four bits choose a byte; the upper half of the eight bytes is the second source.
    let chosen = |byte: u32| if (bits >> (4 * byte)) & 4 == 0 { 1 } else { 2 };
    (0..4).all(|byte| chosen(byte) != source)
}

/// The value of an integer, or of a register that is only ever set to one.
fn constant(facts: &FunctionFacts<'_>, operand: Operand) -> Option<u64> {
    let register = match operand {
        Operand::Integer { bits, .. } => return Some(bits),
        Operand::Register { register, .. } => register,
        _ => return None,
    };
    let [write] = *facts.definitions(register) else { return None };
    let copies = facts.instance(write)?.effects.computes == Some(Computation::Move);
    match facts.body.operands(Handle::new(write)) {
        [_, Operand::Integer { bits, .. }] if copies && !facts.is_guarded(write) => Some(*bits),
        _ => None,
    }
}

/// What a read of a register sees that nothing writes, where the walk was given up.
fn never_written() -> Reaching {
    let undefined = Undefined { origin: Origin::Entry, way: Vec::new() };
    Reaching { undefined: Some(undefined), ..Reaching::default() }
}

/// The registers that a function finds set at its entry.
pub fn entry_registers(facts: &FunctionFacts<'_>) -> impl Fn(Register) -> bool + use<> {
    let (returns, all) = (facts.return_registers(), facts.entry_registers());
    move |register| register.0 >= returns && register.0 < all
}

/// Reads without an unconditional write before them in their block or in a block that dominates it.
fn undominated(facts: &FunctionFacts<'_>, is_set: impl Fn(Register) -> bool) -> Vec<Read> {
    const NOWHERE: u32 = u32::MAX;
    let mut first_write = facts.table(NOWHERE);
    let mut last_write = first_write.clone();
    let mut open = Vec::new();
    for &block in facts.cfg.reverse_postorder() {
        let here = block.index() as u32;
        for instruction in facts.cfg.instructions(block) {
            let handle = Handle::new(instruction);
            type Writes = RegisterTable<u32>;
            let mut check = |register: Register, operand: Option<usize>, last: &Writes, first: &Writes| {
                if last.get(register).is_none_or(|&block| block == here) {
                    return;
                }
                let writer = first[register];
                let dominated = writer != NOWHERE
                    && facts.cfg.dominates(petgraph::graph::NodeIndex::new(writer as usize), block);
                if !dominated && !is_set(register) {
                    open.push(Read { register, instruction, operand });
                }
            };
            let guard = facts.body.instructions[handle].guard;
            if let Some(register) = guard.and_then(|guard| guard.register) {
                check(register, None, &last_write, &first_write);
            }
            let uses = facts.uses().of(instruction);
            for each in uses.iter().filter(|each| each.access().reads()) {
                check(each.register, Some(each.operand()), &last_write, &first_write);
            }
            if guard.is_none() {
                for each in uses.iter().filter(|each| each.access().writes()) {
                    last_write[each.register] = here;
                    let first = &mut first_write[each.register];
                    if *first == NOWHERE {
                        *first = here;
                    }
                }
            }
        }
    }
    open
}

/// Of the reads, those that some path reaches without an unconditional write, guards and branch conditions not
/// considered. Registers are taken 64 at a time.
fn not_definitely_assigned(facts: &FunctionFacts<'_>, open: Vec<Read>) -> Vec<Read> {
    let mut registers: Vec<Register> = open.iter().map(|read| read.register).collect();
    registers.sort_unstable();
    registers.dedup();
    // For all groups together.
    let mut visits = MAX_VISITS;
    let mut rest = Vec::new();
    let mut by_register: FxHashMap<Register, Vec<Read>> = FxHashMap::default();
    for read in open {
        by_register.entry(read.register).or_default().push(read);
    }
    for group in registers.chunks(64) {
        let Some(assigned) = assigned_at_entry(facts, group, &mut visits) else { return Vec::new() };
        for (bit, register) in group.iter().enumerate() {
            let reads = by_register.remove(register).unwrap_or_default();
            rest.extend(reads.into_iter().filter(|read| {
                let block = facts.cfg.block_of(Handle::new(read.instruction));
                assigned[block.index()] >> bit & 1 == 0
            }));
        }
    }
    rest.sort_by_key(|read| (read.instruction, read.operand, read.register));
    rest
}

/// Edges that [`not_definitely_assigned`] goes over. Beyond that nothing is said.
const MAX_VISITS: usize = 50_000_000;

/// For each block the registers of the group that are assigned on every path to it, as bits; none where that takes more
/// than the visits that are left.
fn assigned_at_entry(facts: &FunctionFacts<'_>, group: &[Register], visits: &mut usize) -> Option<Vec<u64>> {
    let count = facts.cfg.block_count();
    let mut written = vec![0_u64; count];
    for (bit, &register) in group.iter().enumerate() {
        for &instruction in facts.definitions(register) {
            if !facts.is_guarded(instruction) {
                written[facts.cfg.block_of(Handle::new(instruction)).index()] |= 1 << bit;
            }
        }
    }
    let mut entry = vec![u64::MAX; count];
    entry[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        *visits = visits.checked_sub(facts.cfg.graph().edge_count())?;
        for &block in facts.cfg.reverse_postorder() {
            let mut known = if block.index() == 0 { 0 } else { u64::MAX };
            for (before, _) in facts.cfg.predecessors(block) {
                if facts.cfg.is_reachable(before) {
                    known &= entry[before.index()] | written[before.index()];
                }
            }
            if known != entry[block.index()] {
                entry[block.index()] = known;
                changed = true;
            }
        }
    }
    Some(entry)
}
