//! Rounds of loops that are taken at once.

use ptx_ir::isa::Comparison;

use super::assumed::Assumed;
use super::leap::{Leap, Round};
use super::machine::Machine;
use super::plain::{compute_lanes, compute_one};
use super::program::{Action, Address, GENERIC};
use super::shadow::Range;
use super::value::{Value, lanes};
use crate::evaluate::Shape;
use crate::values::number::mask as low_bits;

/// Rounds that are executed before others are taken at once.
const ROUNDS: u32 = 4;
/// The next try comes when the loop has turned this many times as often.
const AGAIN: u32 = 4;
/// Fewer are executed one by one.
const FEWEST: i128 = 4;
/// Places of one access that lie apart.
const MAX_PLACES: usize = 1 << 13;

/// What registers that go on evenly have after some rounds, and what these access: the place of the step, the lanes and the memory.
type Taken = (Vec<Value>, Vec<(u32, u32, Vec<Range>)>);

/// What a round that nobody has executed would do.
struct Seen {
    /// What steps compare: the place, the lanes and the numbers.
    asked: Vec<(u32, u32, [Value; 2])>,
    /// Accesses of shared memory: the place, the lanes and the addresses.
    accesses: Vec<(u32, u32, Value)>,
}

impl Machine<'_> {
    /// Takes rounds at once of a loop whose end threads have come to, if they can be: all but the last one that goes on.
    pub(super) fn leap(&mut self, warp: usize, index: usize, mask: u32, back: u32) {
        let program = self.program;
        let Ok(at) = program.leaps.binary_search_by_key(&back, |leap| leap.back) else { return };
        let leap = &program.leaps[at];
        let turns = &mut self.warps[warp].turns;
        turns.rounds.resize(program.leaps.len(), Round::default());
        let (executed, length) = (turns.executed, back - leap.head + 1);
        let round = &mut turns.rounds[at];
        let goes_on = executed.wrapping_sub(round.end) == length && round.mask == mask;
        *round = Round { end: executed, mask, count: if goes_on { round.count + 1 } else { 1 } };
        if !is_time(round.count) {
            return;
        }
        let own = &self.warps[warp];
        let all = |register: &u32| {
            let register = *register as usize;
            (own.registers[register].clone(), own.assumed[register])
        };
        let before: Vec<(Value, Assumed)> = leap.written.iter().map(all).collect();
        let taken = self.rounds_at_once(warp, index, mask, leap, &before);
        let own = &mut self.warps[warp];
        for (register, (value, assumed)) in leap.written.iter().zip(before) {
            own.registers[*register as usize] = value;
            own.assumed[*register as usize] = assumed;
        }
        let Some((later, accesses)) = taken else { return };
        self.steps = self.steps.saturating_sub(2 * length);
        for ((register, _), value) in leap.even.iter().zip(later) {
            let own = &mut self.warps[warp];
            let alive = own.alive;
            own.registers[*register as usize].set(value, mask, alive);
        }
        for (at, runs, ranges) in accesses {
            let step = &program.steps[at as usize];
            let Action::Access { address, reads, writes, together, .. } = &step.action else { continue };
            if program.remembers && *writes {
                ranges.iter().for_each(|&(block, place, bytes)| self.memory.erase(block, (place, bytes)));
            }
            let alone = if *together { 0 } else { runs };
            let may_race = !self.doubtful.iter().any(|part| part.contains(&at));
            self.warps[warp].acting = runs;
            let does = (*reads, *writes, may_race);
            self.access_in(warp, (runs, alone), (step.instruction, *address), does, Some(ranges), true);
        }
    }

    /// What threads hand on after the rounds that can be taken at once, and what they access in these. What registers have is of another
    /// round then.
    fn rounds_at_once(
        &mut self,
        warp: usize,
        index: usize,
        mask: u32,
        leap: &Leap,
        before: &[(Value, Assumed)],
    ) -> Option<Taken> {
        let first = self.foresee(warp, index, mask, leap)?;
        let known = |value: &Value| lanes(mask).any(|lane| value.lane(lane).is_some());
        let was = |register: u32| leap.written.binary_search(&register).ok().map(|at| &before[at].0);
        let registers = &self.warps[warp].registers;
        if leap.uneven.iter().any(|&each| was(each).is_none_or(known) || known(&registers[each as usize])) {
            return None;
        }
        let after: Vec<Value> =
            leap.even.iter().map(|(register, _)| registers[*register as usize].clone()).collect();
        let second = self.foresee(warp, index, mask, leap)?;
        let rounds = self.rounds_to_change(&first, &second)? - 1;
        if rounds < FEWEST {
            return None;
        }
        let rounds = u64::try_from(rounds).ok()?;
        if first.accesses.len() != second.accesses.len() {
            return None;
        }
        let mut accesses = Vec::new();
        for ((at, runs, from), (other, others, next)) in first.accesses.iter().zip(&second.accesses) {
            let Action::Access { address, .. } = &self.program.steps[*at as usize].action else {
                return None;
            };
            if (at, runs) != (other, others) {
                return None;
            }
            self.warps[warp].acting = *runs;
            if self.are_assumed(warp, &[address.base, address.index]) || !known(from) {
                continue;
            }
            accesses.push((*at, *runs, self.ranges_of_rounds(warp, *address, *runs, (from, next), rounds)?));
        }
        let later = leap.even.iter().zip(&after).map(|((register, bits), after)| {
            let Some(before) = was(*register) else { return Value::Unknown };
            Value::of([before, after], mask, |[before, after]| {
                let step = after.wrapping_sub(before);
                Some(before.wrapping_add(step.wrapping_mul(rounds)) & low_bits(*bits))
            })
        });
        Some((later.collect(), accesses))
    }

    /// What threads do in the next round, as far as registers go; none where they leave the loop, or it is not known.
    fn foresee(&mut self, warp: usize, index: usize, mask: u32, leap: &Leap) -> Option<Seen> {
        let mut seen = Seen { asked: Vec::new(), accesses: Vec::new() };
        let program = self.program;
        for at in leap.head..=leap.back {
            let step = program.steps.get(at as usize)?;
            if let (Some((register, _)), false) = (step.guard, step.action.is_computation())
                && self.warps[warp].assumed.get(register as usize)?.lanes & mask != 0
            {
                return None;
            }
            let runs = self.warps[warp].guarded(step, mask);
            match (&step.action, runs) {
                (Action::Jump(_), runs) => {
                    let wanted = if at == leap.back { mask } else { 0 };
                    if runs? != wanted {
                        return None;
                    }
                }
                (Action::Access { address, lanes, .. }, runs) => {
                    let runs = runs? & lanes;
                    if runs != 0 {
                        seen.accesses.push((at, runs, self.address_in(warp, *address, runs)));
                    }
                }
                (_, Some(0)) => {}
                (action, Some(runs)) => {
                    if let Action::Compute { from: [a, b, ..], .. } = action
                        && leap.asked.contains(&at)
                    {
                        seen.asked.push((at, runs, [self.value(warp, *a), self.value(warp, *b)]));
                    }
                    let own = &mut self.warps[warp];
                    own.acting = runs;
                    if !compute_one(own, runs, action) && !compute_lanes(own, runs, action) {
                        self.act(warp, index, runs, step);
                    }
                }
                (_, None) => {
                    self.unknown_guard(warp, index, step);
                }
            }
        }
        Some(seen)
    }

    /// How many rounds give the same answers as the first of two that follow each other.
    fn rounds_to_change(&self, first: &Seen, second: &Seen) -> Option<i128> {
        let mut least = None;
        if first.asked.len() != second.asked.len() {
            return None;
        }
        for ((at, runs, [a, b]), (other, others, [next_a, next_b])) in first.asked.iter().zip(&second.asked) {
            let Action::Compute { shape, .. } = &self.program.steps[*at as usize].action else { return None };
            if (at, runs) != (other, others) {
                return None;
            }
            for lane in lanes(*runs) {
                let number = |value: &Value| value.lane(lane);
                let (Some(a), Some(b)) = (number(a), number(b)) else { continue };
                let change = until_change(shape, [(a, number(next_a)?), (b, number(next_b)?)]);
                least = [least, change].into_iter().flatten().min();
            }
        }
        least
    }

    /// The places that lanes access in `rounds` rounds, by their addresses in the first two; none where that is more than `MAX_PLACES`.
    fn ranges_of_rounds(
        &self,
        warp: usize,
        address: Address,
        mask: u32,
        (first, second): (&Value, &Value),
        rounds: u64,
    ) -> Option<Vec<Range>> {
        let bytes = u64::from(address.bytes).max(1);
        let mut ranges: Vec<Range> = Vec::new();
        let one = if matches!((first, second), (Value::Uniform(_), Value::Uniform(_))) { 1 } else { 32 };
        for lane in lanes(mask).take(one) {
            let (from, next) = (first.lane(lane)?, second.lane(lane)?);
            if address.space.is_none() && from & GENERIC == 0 {
                return None;
            }
            let step = next.wrapping_sub(from) as i64;
            let (block, place) = self.resolve(warp, from)?;
            let way = i128::from(step) * i128::from(rounds - 1);
            let last = from.wrapping_add_signed(i64::try_from(way).ok()?);
            let (other, last) = self.resolve(warp, last)?;
            if other != block || i128::from(last) - i128::from(place) != way {
                return None;
            }
            if ranges.len() >= MAX_PLACES {
                return None;
            }
            if step.unsigned_abs() <= bytes {
                ranges.push((block, place.min(last), place.abs_diff(last) + bytes));
                continue;
            }
            if rounds > (MAX_PLACES - ranges.len()) as u64 {
                return None;
            }
            let places = (0..rounds).map(|round| place.wrapping_add((step as u64).wrapping_mul(round)));
            ranges.extend(places.map(|place| (block, place, bytes)));
        }
        ranges.sort_unstable();
        let mut merged: Vec<Range> = Vec::new();
        for (block, place, bytes) in ranges {
            match merged.last_mut() {
                Some(last) if last.0 == block && last.1 + last.2 >= place => {
                    last.2 = last.2.max(place + bytes - last.1);
                }
                _ => merged.push((block, place, bytes)),
            }
        }
        Some(merged)
    }
}

/// In which round from the first one on the answer differs from its, where both numbers go on evenly; none where it never does. What
/// goes beyond the bits that numbers have counts as another answer.
fn until_change(shape: &Shape, numbers: [(u64, u64); 2]) -> Option<i128> {
    let bits = shape.bits.clamp(1, u64::BITS);
    let signed = |number: u64| {
        let above = u64::BITS - bits;
        i128::from((number << above) as i64 >> above)
    };
    let number =
        |number: u64| if shape.signed { signed(number) } else { i128::from(number & low_bits(bits)) };
    let (least, most) = match shape.signed {
        true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        false => (0, i128::from(low_bits(bits))),
    };
    let [a, b] = numbers.map(|(first, second)| (number(first), signed(second.wrapping_sub(first))));
    let beyond = [a, b].into_iter().filter_map(|(from, step)| match step {
        0 => None,
        1.. => Some((most - from) / step + 1),
        _ => Some((from - least) / -step + 1),
    });
    let (apart, step) = (a.0 - b.0, a.1 - b.1);
    // Below that difference the answer is one, from there on the other.
    let border = match shape.compares()? {
        Comparison::Less | Comparison::GreaterOrEqual => Some(0),
        Comparison::LessOrEqual | Comparison::Greater => Some(1),
        _ => None,
    };
    let up = |way: i128, step: i128| (way + step - 1) / step;
    let change = match border {
        _ if step == 0 => None,
        Some(border) if apart < border => (step > 0).then(|| up(border - apart, step)),
        Some(border) => (step < 0).then(|| up(apart - border + 1, -step)),
        None if apart == 0 => Some(1),
        None => (apart % step == 0 && -apart / step > 0).then(|| -apart / step),
    };
    beyond.chain(change).min()
}

/// Whether rounds are taken at once after this number of them.
fn is_time(count: u32) -> bool {
    std::iter::successors(Some(ROUNDS), |next| next.checked_mul(AGAIN)).any(|next| next == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(signed: bool, comparison: Comparison) -> Shape {
        Shape::comparing(32, signed, comparison)
    }

    #[test]
    fn answers_change_where_numbers_meet_or_leave_their_bits() {
        let less = compare(false, Comparison::Less);
        assert_eq!(until_change(&less, [(3, 4), (10, 10)]), Some(7));
        assert_eq!(until_change(&less, [(3, 6), (10, 10)]), Some(3));
        assert_eq!(until_change(&less, [(3, 2), (10, 10)]), Some(4), "below nought");
        let more = compare(true, Comparison::Greater);
        assert_eq!(until_change(&more, [(7, 6), (0, 0)]), Some(7));
        let other = compare(false, Comparison::NotEqual);
        assert_eq!(until_change(&other, [(0, 4), (16, 16)]), Some(4));
        assert_eq!(until_change(&other, [(0, 3), (16, 16)]), Some(0x5555_5556), "it goes past");
        assert_eq!(until_change(&less, [(1, 1), (10, 10)]), None, "an endless loop");
    }
}
