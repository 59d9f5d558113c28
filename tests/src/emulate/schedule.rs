//! Which thread goes next.

use super::block::{Block, State};
use super::program::{Function, Operation, Program};

/// In which order threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The threads of a warp that are at one place go together; those that part at a branch meet again at its
    /// immediate postdominator.
    Lockstep,
    /// Any thread that can go, for any number of steps, as the seed has it.
    Random(u64),
}

/// Lanes that parted at a branch, and where they meet again.
#[derive(Clone, Copy, Debug)]
struct Part {
    lanes: u32,
    /// How deep in calls the branch was.
    depth: usize,
    function: usize,
    /// None for the end of the function.
    meet: Option<usize>,
}

pub(super) struct Scheduler {
    schedule: Schedule,
    state: u64,
    /// The most steps in a row of a random schedule.
    quantum: u64,
    /// For each function and statement, its immediate postdominator.
    postdominators: Vec<Vec<Option<usize>>>,
    parts: Vec<Vec<Part>>,
    next_warp: usize,
}

impl Scheduler {
    pub(super) fn new(program: &Program, schedule: Schedule, threads: u32) -> Self {
        let (postdominators, seed) = match schedule {
            Schedule::Lockstep => (program.functions.iter().map(postdominators).collect(), 1),
            Schedule::Random(seed) => (Vec::new(), seed),
        };
        Self {
            schedule,
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            quantum: 1 << (seed % 4 * 3),
            postdominators,
            parts: vec![Vec::new(); threads.div_ceil(32) as usize],
            next_warp: 0,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 16) % limit.max(1)
    }

    /// Lets somebody go; how many steps that took.
    pub(super) fn run(&mut self, block: &mut Block<'_, '_>) -> usize {
        let ready = (0..block.threads.len()).filter(|thread| block.is_ready(*thread)).count();
        if ready == 0 {
            if block.threads.iter().all(|thread| thread.state == State::Exited) {
                block.end = Some(super::block::End::Finished);
            } else {
                block.deadlock();
            }
            return 1;
        }
        match self.schedule {
            Schedule::Lockstep => self.lockstep(block),
            Schedule::Random(_) => self.random(block, ready),
        }
    }

    fn random(&mut self, block: &mut Block<'_, '_>, ready: usize) -> usize {
        let chosen = self.below(ready as u64) as usize;
        let threads = 0..block.threads.len();
        let Some(thread) = threads.filter(|thread| block.is_ready(*thread)).nth(chosen) else { return 1 };
        let steps = 1 + self.below(self.quantum) as usize;
        for done in 0..steps {
            if !block.is_ready(thread) || block.end.is_some() {
                return done.max(1);
            }
            if is_active_mask(block, thread) {
                let random = self.below(u64::from(u32::MAX)) as u32;
                together(block, thread, random);
            } else {
                block.step(thread);
            }
        }
        steps
    }

    fn lockstep(&mut self, block: &mut Block<'_, '_>) -> usize {
        let warps = block.warps();
        let runs = |block: &Block<'_, '_>, warp: usize| block.lanes(warp, |state| state == State::Ready) != 0;
        let Some(warp) =
            (0..warps).map(|step| (self.next_warp + step) % warps).find(|warp| runs(block, *warp))
        else {
            return 1;
        };
        self.next_warp = warp + 1;
        let lanes = self.group(block, warp);
        let threads: Vec<usize> =
            (0..32).filter(|lane| lanes >> lane & 1 == 1).map(|lane| warp * 32 + lane).collect();
        let (function, at) = block.place(threads[0]);
        let depth = block.threads[threads[0]].frames.len();
        if is_active_mask(block, threads[0]) {
            together(block, threads[0], lanes);
            return threads.len();
        }
        for thread in &threads {
            if block.end.is_none() && block.is_ready(*thread) && block.place(*thread) == (function, at) {
                block.step(*thread);
            }
        }
        self.part(block, warp, lanes, (function, at, depth));
        threads.len()
    }

    /// The lanes that go next: those of the last part that is not where it meets the others.
    fn group(&mut self, block: &Block<'_, '_>, warp: usize) -> u32 {
        let ready = block.lanes(warp, |state| state == State::Ready);
        let arrived = |part: &Part, lane: u32| {
            let thread = &block.threads[warp * 32 + lane as usize];
            thread.state == State::Exited
                || thread.frames.len() < part.depth
                || (thread.frames.len() == part.depth
                    && part
                        .meet
                        .is_some_and(|meet| block.place(warp * 32 + lane as usize) == (part.function, meet)))
        };
        let parts = &mut self.parts[warp];
        parts.retain(|part| (0..32).any(|lane| part.lanes >> lane & 1 == 1 && !arrived(part, lane)));
        let runs = parts.iter().rev().find_map(|part| {
            let lanes = (0..32).filter(|lane| part.lanes & ready & 1 << lane != 0 && !arrived(part, *lane));
            let lanes = lanes.fold(0, |lanes, lane| lanes | 1 << lane);
            (lanes != 0).then_some(lanes)
        });
        let lanes = runs.unwrap_or(ready);
        let first = lanes.trailing_zeros() as usize;
        let key = |lane: usize| (block.threads[warp * 32 + lane].frames.len(), block.place(warp * 32 + lane));
        (0..32)
            .filter(|lane| lanes >> lane & 1 == 1 && key(*lane) == key(first))
            .fold(0, |all, lane| all | 1 << lane)
    }

    /// Remembers lanes that a branch parted.
    fn part(&mut self, block: &Block<'_, '_>, warp: usize, lanes: u32, from: (usize, usize, usize)) {
        let (function, at, depth) = from;
        let operation = block.program.functions[function].code.get(at).map(|statement| &statement.operation);
        if !matches!(operation, Some(Operation::Branch(_) | Operation::BranchIndexed { .. })) {
            return;
        }
        let meet = self.postdominators[function][at];
        let mut left = lanes & block.lanes(warp, |state| state == State::Ready);
        let mut parts = Vec::new();
        while left != 0 {
            let first = warp * 32 + left.trailing_zeros() as usize;
            let place = block.place(first);
            let same = (0..32).filter(|lane| left >> lane & 1 == 1 && block.place(warp * 32 + lane) == place);
            let same = same.fold(0, |all, lane| all | 1 << lane);
            left &= !same;
            parts.push(Part { lanes: same, depth, function, meet });
        }
        if parts.len() > 1 {
            self.parts[warp].extend(parts);
        }
    }
}

fn is_active_mask(block: &Block<'_, '_>, thread: usize) -> bool {
    matches!(block.statement(thread).map(|statement| &statement.operation), Some(Operation::ActiveMask(_)))
}

/// Some of the threads at one `activemask` execute it together.
fn together(block: &mut Block<'_, '_>, thread: usize, lanes: u32) {
    let Some(statement) = block.statement(thread) else { return };
    let Operation::ActiveMask(result) = statement.operation else { return };
    let (warp, place, depth) = (thread / 32, block.place(thread), block.threads[thread].frames.len());
    let lanes = lanes | 1 << (thread & 31);
    let threads = (0..32).map(|lane| warp * 32 + lane).filter(|other| {
        lanes >> (other & 31) & 1 == 1
            && block.threads.get(*other).is_some_and(|thread| thread.state == State::Ready)
            && block.place(*other) == place
            && block.threads[*other].frames.len() == depth
    });
    let mut active = Vec::new();
    for thread in threads.collect::<Vec<_>>() {
        if block.guarded(thread, statement) {
            active.push(thread);
        } else {
            block.advance(thread);
        }
    }
    let mask = active.iter().fold(0_u64, |mask, thread| mask | 1 << (thread & 31));
    for thread in active {
        block.write(thread, result, super::value::Value::known(mask));
        block.advance(thread);
    }
}

/// For each statement, the first that all paths from it to the end of the function lead through; none where that is
/// the end itself.
fn postdominators(function: &Function) -> Vec<Option<usize>> {
    let count = function.code.len();
    let end = count;
    let successors: Vec<Vec<usize>> = function
        .code
        .iter()
        .enumerate()
        .map(|(at, statement)| {
            let mut next = match &statement.operation {
                Operation::Branch(target) => vec![*target],
                Operation::BranchIndexed { targets, .. } => targets.clone(),
                Operation::Return | Operation::Exit | Operation::Trap => vec![end],
                _ => vec![at + 1],
            };
            if statement.guard.is_some() {
                next.push(at + 1);
            }
            next
        })
        .collect();
    let mut predecessors = vec![Vec::new(); count + 1];
    for (at, next) in successors.iter().enumerate() {
        next.iter().for_each(|next| predecessors[*next].push(at));
    }
    // Postorder of the reversed graph, from the end.
    let mut order = Vec::new();
    let mut number = vec![usize::MAX; count + 1];
    let mut seen = vec![false; count + 1];
    let mut stack = vec![(end, 0)];
    seen[end] = true;
    while let Some((at, next)) = stack.pop() {
        if let Some(&before) = predecessors[at].get(next) {
            stack.push((at, next + 1));
            if !std::mem::replace(&mut seen[before], true) {
                stack.push((before, 0));
            }
        } else {
            number[at] = order.len();
            order.push(at);
        }
    }
    let mut found = vec![usize::MAX; count + 1];
    found[end] = end;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev().filter(|at| **at != end) {
            let mut nearest = usize::MAX;
            for &next in &successors[at] {
                if found[next] == usize::MAX {
                    continue;
                }
                let (mut a, mut b) = (next, if nearest == usize::MAX { next } else { nearest });
                while a != b {
                    while number[a] < number[b] {
                        a = found[a];
                    }
                    while number[b] < number[a] {
                        b = found[b];
                    }
                }
                nearest = a;
            }
            if found[at] != nearest {
                found[at] = nearest;
                changed = true;
            }
        }
    }
    found.truncate(count);
    found.into_iter().map(|at| (at < count).then_some(at)).collect()
}
