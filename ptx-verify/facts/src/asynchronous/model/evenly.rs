//! Which loops can be taken at once: how the numbers that they compute go on from round to round.

use ptx_ir::isa::Computation;
use rustc_hash::{FxHashMap, FxHashSet};

use super::leap::Leap;
use super::program::{Action, Source, Step};
use crate::evaluate::Shape;

/// How a number goes on from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// It stays.
    Fixed,
    /// It is what a register has when the round begins, and something that stays.
    From(u32),
    /// It goes on by the same.
    Even,
    /// It is the answer to a question about such numbers, which changes once.
    Asked,
    Other,
}

impl Course {
    const fn is_even(self) -> bool {
        matches!(self, Self::Fixed | Self::From(_) | Self::Even)
    }

    /// That of a sum.
    const fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fixed, each) | (each, Self::Fixed) if each.is_even() => each,
            _ if self.is_even() && other.is_even() => Self::Even,
            _ => Self::Other,
        }
    }

    /// That of a product.
    const fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fixed, Self::Fixed) => Self::Fixed,
            (Self::Fixed, each) | (each, Self::Fixed) if each.is_even() => Self::Even,
            _ => Self::Other,
        }
    }
}

/// The loops of a program whose rounds can be taken at once, by the steps that go back. `remembers` tells whether anybody reads
/// numbers that are in shared memory.
pub(super) fn of(steps: &[Step], remembers: bool) -> Vec<Leap> {
    let backs = (0..).zip(steps).filter_map(|(back, step)| match step.action {
        Action::Jump(head) if head < back => Some((head, back)),
        _ => None,
    });
    let within = |(head, back): (u32, u32)| Some((steps.get(head as usize..=back as usize)?, head, back));
    backs.filter_map(within).filter_map(|(steps, head, back)| leap(steps, head, back, remembers)).collect()
}

fn leap(steps: &[Step], head: u32, back: u32, remembers: bool) -> Option<Leap> {
    let mut written: Vec<u32> = Vec::new();
    for (step, at) in steps.iter().zip(head..) {
        match &step.action {
            Action::Jump(_) if at == back => {}
            Action::Jump(target) if step.guard.is_some() && !(head..=back).contains(target) => {}
            Action::Compute { to, .. } if step.action.computes_alone() => written.extend(to.iter().flatten()),
            Action::Pack { to, .. } | Action::Convert { to, .. } | Action::MapRank { to, .. } => {
                written.push(*to);
            }
            Action::Unpack { to, .. } => written.extend(to.iter().flatten()),
            Action::Forget { to, .. } | Action::Load { to, .. } => {
                written.extend(to.iter().map(|(register, _)| *register));
            }
            Action::Access { is_plain: true, reads, writes, to, from, .. }
                if reads != writes && to.iter().all(Option::is_none) =>
            {
                if *writes && remembers && from.iter().any(|source| !matches!(source, Source::Unknown)) {
                    return None;
                }
            }
            _ => return None,
        }
    }
    written.sort_unstable();
    written.dedup();
    let mut courses = Courses {
        written: &written,
        now: FxHashMap::default(),
        bits: FxHashMap::default(),
        whole: FxHashSet::default(),
        handed_on: FxHashSet::default(),
    };
    let mut asked = Vec::new();
    for (step, at) in steps.iter().zip(head..) {
        courses.follow(step);
        if let Action::Compute { to: [Some(to), _], .. } = step.action
            && courses.now.get(&to) == Some(&Course::Asked)
        {
            asked.push(at);
        }
        let guard =
            step.guard.map_or(Course::Fixed, |(register, _)| courses.of(Source::Register(register, 0)));
        let decides = matches!(step.action, Action::Jump(_) | Action::Access { .. });
        if decides && !matches!(guard, Course::Fixed | Course::Asked) {
            return None;
        }
        if let Action::Access { address, .. } = &step.action
            && !courses.of(address.base).plus(courses.of(address.index)).is_even()
        {
            return None;
        }
    }
    let mut handed_on: Vec<u32> = courses.handed_on.iter().copied().collect();
    handed_on.sort_unstable();
    let is_even = |register: &u32| match courses.now.get(register) {
        Some(Course::Fixed) => true,
        Some(Course::From(of)) => of == register,
        _ => false,
    };
    let (even, uneven): (Vec<u32>, Vec<u32>) = handed_on.into_iter().partition(is_even);
    let bits = |register: &u32| courses.bits.get(register).copied().unwrap_or(u64::BITS);
    let even = even.iter().map(|register| (*register, bits(register))).collect();
    (!asked.is_empty()).then_some(Leap { head, back, even, uneven, written, asked })
}

/// How the numbers of a loop go on.
struct Courses<'w> {
    written: &'w [u32],
    now: FxHashMap<u32, Course>,
    /// The bits of what was last written to registers.
    bits: FxHashMap<u32, u32>,
    /// The registers that the round has written, whatever guards tell.
    whole: FxHashSet<u32>,
    /// Those that it has read before, or need not have written.
    handed_on: FxHashSet<u32>,
}

impl Courses<'_> {
    fn of(&mut self, source: Source) -> Course {
        match source {
            Source::Register(register, _) | Source::Negated(register) => {
                if self.written.binary_search(&register).is_err() {
                    return Course::Fixed;
                }
                if !self.whole.contains(&register) {
                    self.handed_on.insert(register);
                }
                let course = self.now.get(&register).copied().unwrap_or(Course::From(register));
                match source {
                    Source::Negated(_) if !matches!(course, Course::Fixed | Course::Asked) => Course::Other,
                    _ => course,
                }
            }
            Source::Number(_) | Source::Special(..) => Course::Fixed,
            Source::Unknown => Course::Other,
        }
    }

    fn all_stay(&mut self, sources: &[Source]) -> Course {
        let stay = sources.iter().all(|source| self.of(*source) == Course::Fixed);
        if stay { Course::Fixed } else { Course::Other }
    }

    /// Goes on after a step.
    fn follow(&mut self, step: &Step) {
        match &step.action {
            Action::Compute { shape, to, from } => {
                let course = self.computed(shape, from);
                self.write(step, to[0], course, shape.result);
                let opposite =
                    if matches!(course, Course::Fixed | Course::Asked) { course } else { Course::Other };
                self.write(step, to[1], opposite, shape.result);
            }
            Action::Pack { to, parts, .. } => {
                let course = self.all_stay(parts);
                self.write(step, Some(*to), course, u64::BITS);
            }
            Action::Unpack { to, from, .. } => {
                let course = self.all_stay(&[*from]);
                to.iter().for_each(|to| self.write(step, *to, course, u64::BITS));
            }
            Action::Convert { to, from, .. } => {
                let course = self.of(*from).plus(Course::Fixed);
                let course = if course == Course::Fixed { course } else { course.plus(Course::Even) };
                self.write(step, Some(*to), course, u64::BITS);
            }
            Action::MapRank { to, from, rank } => {
                let (from, rank) = (self.of(*from), self.of(*rank));
                let course = if rank == Course::Fixed { rank.times(from) } else { Course::Other };
                self.write(step, Some(*to), course, u64::BITS);
            }
            Action::Load { to, parameters, .. } => {
                let course = if *parameters { Course::Fixed } else { Course::Other };
                to.iter().for_each(|(to, _)| self.write(step, Some(*to), course, u64::BITS));
            }
            Action::Forget { to, .. } => {
                to.iter().for_each(|(to, _)| self.write(step, Some(*to), Course::Other, u64::BITS));
            }
            _ => {}
        }
    }

    fn computed(&mut self, shape: &Shape, from: &[Source; 4]) -> Course {
        type C = Computation;
        let [a, b, c, d] = from.map(|source| self.of(source));
        if [a, b, c, d].iter().all(|each| *each == Course::Fixed) {
            return Course::Fixed;
        }
        let course = match shape.computation {
            C::Move => a,
            C::Add => a.plus(b),
            C::Subtract if b == Course::Fixed => a.plus(b),
            C::Subtract => a.plus(b).plus(Course::Even),
            C::Multiply | C::MultiplyWide => a.times(b),
            C::ShiftLeft if b == Course::Fixed => a.times(b),
            C::MultiplyAdd | C::MultiplyAddWide => a.times(b).plus(c),
            C::Convert if a.is_even() => Course::Even,
            C::Select if c == Course::Fixed && a.is_even() && b.is_even() => {
                if a == b {
                    a
                } else {
                    Course::Even
                }
            }
            C::Compare if shape.compares().is_some() && a.is_even() && b.is_even() => Course::Asked,
            _ => Course::Other,
        };
        // What is extended with its sign is no sum any more.
        match course {
            Course::From(_) if !shape.is_whole() => Course::Even,
            course => course,
        }
    }

    fn write(&mut self, step: &Step, to: Option<u32>, course: Course, bits: u32) {
        let Some(to) = to else { return };
        self.bits.insert(to, bits);
        let Some((guard, _)) = step.guard else {
            self.whole.insert(to);
            self.now.insert(to, course);
            return;
        };
        // It may be what it was before.
        let before = self.of(Source::Register(to, 0));
        let joined = match self.of(Source::Register(guard, 0)) {
            Course::Fixed if before == course => course,
            _ => Course::Other,
        };
        self.now.insert(to, joined);
    }
}

#[cfg(test)]
mod tests {
    use ptx_ir::isa::Comparison;

    use super::*;

    #[test]
    fn registers_that_turn_are_not_even() {
        let step = |action: Action| Step { instruction: 0, guard: None, action };
        let computed = |shape: Shape, to: u32, from: [Source; 2]| {
            step(Action::Compute {
                shape,
                to: [Some(to), None],
                from: [from[0], from[1], Source::Number(0), Source::Number(0)],
            })
        };
        let add = |to: u32, by: u64| {
            computed(
                Shape::computing(Computation::Add, 32),
                to,
                [Source::Register(to, 0), Source::Number(by)],
            )
        };
        let toggle =
            computed(Shape::computing(Computation::Xor, 32), 1, [Source::Register(1, 0), Source::Number(1)]);
        let asks = computed(
            Shape::comparing(32, false, Comparison::Less),
            2,
            [Source::Register(0, 0), Source::Number(64)],
        );
        let back = Step { instruction: 0, guard: Some((2, true)), action: Action::Jump(0) };
        let [leap] = &of(&[add(0, 1), asks.clone(), back.clone()], false)[..] else { panic!("no loop") };
        assert_eq!((&leap.even[..], leap.uneven.len()), (&[(0, 32)][..], 0));
        let [leap] = &of(&[add(0, 1), toggle, asks, back], false)[..] else { panic!("no loop") };
        assert_eq!(leap.uneven, [1]);
    }
}
