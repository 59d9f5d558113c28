//! What the loops of a function that wait for others wait for, and which instructions set that.

use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::{
    FewThreads, Poll, Readers, address_moves_on, address_root, chooses_who_waits, counts_in_multicast,
    distance_from_root, is_flag, is_kept_by_readers, is_weak, may_be_global, moved_from, polled_root,
    takes_a_number,
};
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Instance, Mode};
use rustc_hash::FxHashMap;

/// Bytes between a flag and the next ones of a row, for which others wait.
const NEXT: u64 = 16;

/// The loops of a function that wait for others.
pub(super) struct Waits<'a> {
    pub(super) polls: &'a [Poll],
    pub(super) locks: &'a [Poll],
    polled: Roots,
    locked: Roots,
    /// Stores of the very number that a loop after them waits for: each tells another one as that one tells this.
    exchanged: FxHashMap<u32, u32>,
}

/// The registers that the addresses of some accesses come of.
struct Roots(FxHashMap<Register, Places>);

/// Where one kind of loops looks, of all that comes of one register.
#[derive(Default)]
struct Places {
    /// The accesses, each with its distance from the register.
    asked: Vec<(u32, Option<i64>)>,
    /// Whether something is written at one of these distances: then what lies at others is no flag.
    is_exact: bool,
}

impl Roots {
    fn of(facts: &FunctionFacts<'_>, loops: &[Poll]) -> Self {
        let mut roots: FxHashMap<Register, Places> = FxHashMap::default();
        for poll in loops {
            if let Some(root) = polled_root(facts, poll.load) {
                let asked = (poll.load, distance_from_root(facts, poll.load));
                roots.entry(root).or_default().asked.push(asked);
            }
        }
        if roots.is_empty() {
            return Self(roots);
        }
        let writes = |each: &u32| {
            facts.instance(*each).is_some_and(|instance| instance.effects.writes_memory)
                && may_be_global(facts, *each)
        };
        for write in facts.reaching_out().filter(writes) {
            let Some(places) = address_root(facts, write).and_then(|root| roots.get_mut(&root)) else {
                continue;
            };
            let distance = distance_from_root(facts, write);
            places.is_exact |= places.asked.iter().any(|&(poll, at)| poll != write && at == distance);
        }
        Self(roots)
    }

    /// Whether a loop looks where an access is, which is none of its own.
    fn have(&self, facts: &FunctionFacts<'_>, root: Register, access: u32) -> bool {
        let Some(places) = self.0.get(&root) else { return false };
        let mut others = places.asked.iter().filter(|(asked, _)| *asked != access);
        // A counter lies beside the flag that who counts last sets.
        if facts.instance(access).is_some_and(|instance| instance.effects.atomic) {
            return others.next().is_some();
        }
        let distance = distance_from_root(facts, access);
        let is_near = |at: Option<i64>| match (at, distance) {
            (Some(at), Some(distance)) => at.abs_diff(distance) <= NEXT,
            _ => at == distance,
        };
        others.any(|(_, at)| if places.is_exact { *at == distance } else { is_near(*at) })
    }
}

impl<'a> Waits<'a> {
    pub(super) fn new(facts: &FunctionFacts<'_>, polls: &'a [Poll], locks: &'a [Poll]) -> Self {
        let exchanged = exchanged(facts, polls);
        Self { polls, locks, polled: Roots::of(facts, polls), locked: Roots::of(facts, locks), exchanged }
    }

    /// Whether a loop waits for what an instruction accesses; if so, whether that is a lock.
    pub(super) fn flag(&self, facts: &FunctionFacts<'_>, instruction: u32) -> Option<bool> {
        let root = address_root(facts, instruction)?;
        match self.locked.have(facts, root, instruction) {
            true => Some(true),
            false => self.polled.have(facts, root, instruction).then_some(false),
        }
    }

    /// Whether an instruction stores the very number that a loop after it waits for.
    pub(super) fn is_exchanged(&self, store: u32) -> bool {
        self.exchanged.contains_key(&store)
    }

    /// The load of the loop that waits for the very number that an instruction stores.
    pub(super) fn exchanged_with(&self, store: u32) -> Option<u32> {
        self.exchanged.get(&store).copied()
    }

    /// A store of the number that a loop waits for, and the load there, of which one is in the scope of the device and the other in that
    /// of the system, and whether the store is the wider one.
    pub(super) fn in_other_scopes(&self, facts: &FunctionFacts<'_>) -> Option<(u32, u32, bool)> {
        let has = |each: u32, mode: Mode| facts.instance(each).is_some_and(|instance| instance.is(mode));
        let mut all: Vec<(u32, u32)> = self.exchanged.iter().map(|(set, asked)| (*set, *asked)).collect();
        all.sort_unstable();
        all.into_iter().find_map(|(set, asked)| {
            let is_wide = has(set, Mode::SystemScope) && has(asked, Mode::DeviceScope);
            let is_narrow = has(set, Mode::DeviceScope) && has(asked, Mode::SystemScope);
            (is_wide || is_narrow).then_some((set, asked, is_wide))
        })
    }

    /// The accesses of loops that wait for the very place of an instruction, which is none of them.
    pub(super) fn at(&self, facts: &FunctionFacts<'_>, instruction: u32) -> Vec<u32> {
        let Some(root) = address_root(facts, instruction) else { return Vec::new() };
        let places = [&self.polled, &self.locked].into_iter().filter_map(|each| each.0.get(&root));
        let asked: Vec<(u32, Option<i64>)> = places.flat_map(|each| each.asked.iter().copied()).collect();
        if asked.is_empty() || asked.iter().any(|(load, _)| *load == instruction) {
            return Vec::new();
        }
        let distance = distance_from_root(facts, instruction);
        asked.into_iter().filter(|(_, at)| *at == distance).map(|(load, _)| load).collect()
    }

    /// Whether what a loop waits for has data in it.
    pub(super) fn has_data(&self, facts: &FunctionFacts<'_>, poll: &Poll) -> bool {
        !is_flag(facts, &Readers::of(facts, std::slice::from_ref(poll)), poll)
    }

    /// Whether an instruction sets a flag, and no release is part of it.
    pub(super) fn is_set_by(
        &self,
        facts: &FunctionFacts<'_>,
        few: &mut FewThreads<'_, '_>,
        instruction: u32,
    ) -> bool {
        let Some(instance) = facts.instance(instruction) else { return false };
        let effects = &instance.effects;
        let orders = instance.is(Mode::Release) || instance.is(Mode::Acquire);
        if effects.atomic {
            let is_block_wide = orders && is_narrow(instance) && may_be_global(facts, instruction);
            let polls = self.polls;
            let mut is_flag = |is_lock: bool| {
                let mut counts = || {
                    is_kept_by_readers(facts, instruction, polls)
                        || takes_a_number(facts, instruction, polls)
                            && !(few.come_to(instruction) && chooses_who_waits(facts, instruction, polls))
                };
                is_lock || !counts()
            };
            if orders && !is_block_wide {
                return false;
            }
            // Whoever waits looks at the own device's part of what all are told through another pointer.
            return self.flag(facts, instruction).is_some_and(&mut is_flag)
                || !polls.is_empty() && counts_in_multicast(facts, instruction) && few.come_to(instruction);
        }
        if !effects.writes_memory || effects.reads_memory || effects.asynchronous.is_some() {
            return false;
        }
        // A vector is a flag with its data, and tells of nothing else.
        let has_data = matches!(facts.body.operands(Handle::new(instruction)), [_, Operand::Vector(_), ..]);
        let is_wide = instance.is(Mode::Relaxed) && !instance.is(Mode::BlockScope) && !has_data;
        // The last of those who count makes the counter nought for the next launch.
        let is_reset = || {
            is_wide
                && stores_nought(facts, instruction)
                && self.flag(facts, instruction).is_none()
                && !self.is_exchanged(instruction)
        };
        if (is_wide || is_narrow(instance)) && may_be_global(facts, instruction) {
            return !is_reset();
        }
        // What is made nought before it is waited for the next time tells nothing; a lock is given back so.
        // Data may lie beside the flag, and is stored by many.
        let is_plain = is_weak(facts, instruction, true) || instance.is(Mode::Volatile);
        let is_waited_for = || match self.flag(facts, instruction) {
            Some(is_lock) => is_lock || !stores_nought(facts, instruction),
            None => self.is_exchanged(instruction) && instance.is(Mode::Volatile),
        };
        is_plain && is_waited_for() && !address_moves_on(facts, instruction) && few.come_to(instruction)
    }
}

/// Whether a store stores the number 0.
pub(super) fn stores_nought(facts: &FunctionFacts<'_>, store: u32) -> bool {
    let is_nought = |operand: &Operand| matches!(operand, Operand::Integer { bits: 0, .. });
    match facts.body.operands(Handle::new(store)).get(1) {
        Some(Operand::Register { register, .. }) => match facts.definitions(*register) {
            [only] => facts.body.operands(Handle::new(*only)).get(1).is_some_and(is_nought),
            _ => false,
        },
        Some(operand) => is_nought(operand),
        None => false,
    }
}

/// Whether the number that a flag is set to is loaded from where a store stores: that is the counter of the one who sets it, and tells
/// nobody.
pub(super) fn keeps_number_of(facts: &FunctionFacts<'_>, store: u32, flag: u32) -> bool {
    let number = match facts.body.operands(Handle::new(flag)).get(1) {
        Some(Operand::Register { register, .. }) => moved_from(facts, *register),
        _ => return false,
    };
    match facts.definitions(number) {
        [load] => {
            let computes = facts.instance(*load).and_then(|instance| instance.effects.computes);
            computes == Some(Computation::Load)
                && address_root(facts, *load) == address_root(facts, store)
                && distance_from_root(facts, *load) == distance_from_root(facts, store)
        }
        _ => false,
    }
}

/// Whether an instruction sets a flag in the scope of the block.
pub(super) fn is_narrow(instance: &Instance) -> bool {
    (instance.is(Mode::Relaxed) || instance.is(Mode::Release)) && instance.is(Mode::BlockScope)
}

/// The stores before some loops of the number that these wait for, each with the load of the loop.
fn exchanged(facts: &FunctionFacts<'_>, polls: &[Poll]) -> FxHashMap<u32, u32> {
    let waited_for = |poll: &Poll| {
        let compares = |each: &u32| {
            let computes = facts.instance(*each).and_then(|instance| instance.effects.computes);
            computes == Some(Computation::Compare)
        };
        let compared = (poll.first..=poll.end).filter(compares);
        let given = compared.flat_map(|each| facts.body.operands(Handle::new(each)).iter().skip(1));
        let registers = given.filter_map(|operand| match operand {
            Operand::Register { register, .. } => Some(moved_from(facts, *register)),
            _ => None,
        });
        registers.collect::<Vec<Register>>()
    };
    let waits: Vec<(&Poll, Vec<Register>)> = polls.iter().map(|poll| (poll, waited_for(poll))).collect();
    let told = |each: u32| {
        let stores = facts.instance(each).is_some_and(|instance| {
            let effects = &instance.effects;
            let is_strong =
                [Mode::Volatile, Mode::Relaxed, Mode::Release].into_iter().any(|mode| instance.is(mode));
            is_strong && effects.writes_memory && !effects.reads_memory && effects.asynchronous.is_none()
        });
        let number = match facts.body.operands(Handle::new(each)).get(1) {
            Some(Operand::Register { register, .. }) if stores => moved_from(facts, *register),
            _ => return None,
        };
        // A constant is no number that two have agreed on.
        let is_constant = matches!(facts.definitions(number), [only]
            if matches!(facts.body.operands(Handle::new(*only)).get(1), Some(Operand::Integer { .. })));
        let (poll, _) = waits.iter().find(|(poll, wanted)| each < poll.first && wanted.contains(&number))?;
        (!is_constant).then_some((each, poll.load))
    };
    match waits.is_empty() {
        true => FxHashMap::default(),
        false => facts.reaching_out().filter_map(told).collect(),
    }
}
