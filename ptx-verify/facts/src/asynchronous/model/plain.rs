//! Steps that only compute: most of what is executed. Nobody waits for them and they let nobody go on, so that one follows
//! the other without a look at who else might act.

use ptx_ir::isa::Computation;

use super::assumed::Dependence;
use super::machine::{Machine, Next, State, Warp};
use super::program::{Action, RANK, Source};
use super::value::{LANES, Value};

/// Turns that are executed of a loop which is left early.
const TURNS: u32 = 4;

/// Low bits that compilers leave out of a mask since an aligned address has none of them.
const ALIGNMENT: u32 = 0xff;

/// Whether a mask clears the bit of an address that tells apart the two blocks of a pair.
pub(super) const fn names_pair(mask: u64) -> bool {
    mask as u32 | ALIGNMENT == !(1 << RANK)
}

impl Machine<'_> {
    /// Runs threads of a warp through what only computes, until they come to something else or to other threads of it.
    pub(super) fn run_plain(&mut self, warp: usize, index: usize) -> Next {
        let program = self.program;
        let fragments = &self.warps[warp].fragments;
        let (first, mask) = (fragments[index].pc, fragments[index].mask);
        // Those that wait go on with the others when they have been woken.
        let others = fragments.iter().enumerate();
        let others = others.filter(|(other, each)| *other != index && each.state == State::Ready);
        let limit = others.map(|(_, fragment)| fragment.pc).min().unwrap_or(u32::MAX);
        if first >= limit {
            return Next::Step;
        }
        loop {
            let pc = self.warps[warp].fragments[index].pc;
            if pc >= limit {
                return Next::Merge;
            }
            let Some(step) = program.steps.get(pc as usize).filter(|step| step.action.computes_alone())
            else {
                return Next::Step;
            };
            let own = &mut self.warps[warp];
            let Some(runs) = own.guarded(step, mask) else { return Next::Step };
            let mut next = pc + 1;
            if let Action::Jump(target) = step.action {
                let is_assumed =
                    |(register, _): (u32, bool)| own.assumed[register as usize].lanes & mask != 0;
                if step.guard.is_some_and(is_assumed) || runs != 0 && runs != mask {
                    return Next::Step;
                }
                if runs == mask {
                    next = target;
                }
            }
            let Some(rest) = self.steps.checked_sub(1) else { return Next::Budget };
            self.steps = rest;
            self.warps[warp].turns.count();
            if next <= pc {
                match self.skims(warp, pc) {
                    Some(exit) => next = exit,
                    // Where loops are left early, they are in any case.
                    None if self.skims.is_empty() => self.leap(warp, index, mask, pc),
                    None => {}
                }
            }
            let own = &mut self.warps[warp];
            own.fragments[index].pc = next;
            if runs == 0 || matches!(step.action, Action::Jump(_)) {
                continue;
            }
            own.acting = runs;
            if !compute_one(own, runs, &step.action) && !compute_lanes(own, runs, &step.action) {
                self.act(warp, index, runs, step);
            }
        }
    }
}

impl Machine<'_> {
    /// Counts a turn of a loop that threads have come to the end of; where they go on if enough turns were seen. What the others
    /// would have computed is not known.
    pub(super) fn skims(&mut self, warp: usize, back: u32) -> Option<u32> {
        let index = self.skims.binary_search_by_key(&back, |skim| skim.back).ok()?;
        let own = &mut self.warps[warp];
        own.turns.skimmed.resize(self.skims.len(), 0);
        own.turns.skimmed[index] += 1;
        if own.turns.skimmed[index] < TURNS {
            return None;
        }
        own.turns.skimmed[index] = 0;
        let Self { skims, .. } = self;
        let (written, exit) = (std::mem::take(&mut skims[index].written), skims[index].exit);
        self.forget(warp, written.iter().copied());
        self.skims[index].written = written;
        Some(exit)
    }
}

impl Warp {
    /// Forgets the turns so far at an action that is in no such loop.
    pub(super) fn leaves_loops(&mut self, action: &Action) {
        let is_read = matches!(action, Action::Global(access) if !access.strength.is_strong);
        if !action.is_computation() && !is_read && !matches!(action, Action::Jump(_) | Action::Access { .. })
        {
            self.turns.skimmed.clear();
        }
    }
}

/// Computes what is one number for all lanes of numbers that are, or what a thread computes alone; whether it is that.
pub(super) fn compute_one(warp: &mut Warp, mask: u32, action: &Action) -> bool {
    let Action::Compute { shape, to, from } = action else { return false };
    let alone = mask.is_power_of_two().then(|| mask.trailing_zeros());
    let mut numbers = [0; 4];
    let mut assumed = 0;
    for (number, source) in numbers.iter_mut().zip(from) {
        let mut of = |register: u32| {
            assumed |= warp.assumed.get(register as usize)?.lanes;
            match (warp.registers.get(register as usize)?, alone) {
                (Value::Uniform(number), _) => Some(*number),
                (value, Some(lane)) => value.lane(lane),
                _ => None,
            }
        };
        let known = match *source {
            Source::Number(number) => Some(number),
            Source::Register(register, offset) => of(register).map(|own| own.wrapping_add_signed(offset)),
            Source::Negated(register) => of(register).map(|own| own ^ 1),
            Source::Special(..) | Source::Unknown => None,
        };
        match known {
            Some(known) => *number = known,
            None => return false,
        }
    }
    let [_, second, ..] = numbers;
    let is_usual = match shape.computation {
        Computation::ShiftLeft | Computation::ShiftRight => second < u64::from(shape.bits),
        Computation::And => !names_pair(second),
        _ => true,
    };
    let Some(result) = shape.evaluate(numbers).filter(|_| is_usual) else { return false };
    let dependence = match assumed & mask {
        0 => Dependence::NONE,
        _ => warp.dependence(shape.computation, from, mask),
    };
    let alive = warp.alive;
    let mut put = |register: Option<u32>, value: Value, dependence: Dependence| {
        let Some(register) = register.map(|register| register as usize) else { return };
        if let (Some(old), Some(known)) = (warp.registers.get_mut(register), warp.assumed.get_mut(register)) {
            old.set(value, mask, alive);
            known.write(mask, alive, dependence);
        }
    };
    if to[1].is_some() {
        put(
            to[1],
            match shape.computation {
                Computation::Compare => Value::Uniform(result ^ 1),
                _ => Value::Unknown,
            },
            dependence.in_any_way(),
        );
    }
    put(to[0], Value::Uniform(result), dependence);
    true
}

/// Computes what lanes have numbers of their own for, all at once; whether it is of those that are easily done so.
pub(super) fn compute_lanes(warp: &mut Warp, mask: u32, action: &Action) -> bool {
    let Action::Compute { shape, to: [Some(to), None], from } = action else { return false };
    let mut numbers = [[0; LANES]; 3];
    let mut assumed = 0;
    for (number, source) in numbers.iter_mut().zip(from) {
        match *source {
            Source::Number(own) => *number = [own; LANES],
            Source::Register(register, offset) => {
                let Some(value) = warp.registers.get(register as usize) else { return false };
                let Some(own) = value.numbers(mask) else { return false };
                assumed |= warp.assumed[register as usize].lanes;
                *number = own;
                if offset != 0 {
                    number.iter_mut().for_each(|each| *each = each.wrapping_add_signed(offset));
                }
            }
            Source::Negated(_) | Source::Special(..) | Source::Unknown => return false,
        }
    }
    let [a, b, c] = &numbers;
    if shape.computation == Computation::And && b.iter().any(|mask| names_pair(*mask)) {
        return false;
    }
    let Some(results) = shape.evaluate_lanes([a, b, c]) else { return false };
    let dependence = match assumed & mask {
        0 => Dependence::NONE,
        _ => warp.dependence(shape.computation, from, mask),
    };
    let alive = warp.alive;
    let (Some(old), Some(known)) = (warp.registers.get_mut(*to as usize), warp.assumed.get_mut(*to as usize))
    else {
        return false;
    };
    old.set_lanes(results, mask, alive);
    known.write(mask, alive, dependence);
    true
}
