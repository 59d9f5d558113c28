//! Which waits cover which operations, by the number of groups that were closed between the two.

use super::groups::Row;
use crate::FunctionFacts;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;

/// Groups are counted so far; beyond that a wait may cover anything.
const MAX_GROUPS: u32 = 8;
/// As many groups as are counted, and whatever is below.
const ALL: u16 = (1 << (MAX_GROUPS + 1)) - 1;

/// Something on a path that counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Commit,
    /// How many groups it leaves.
    Wait(u32),
    /// A wait for everything.
    Stop,
}

/// The marks of a row, in order of the text.
fn marks(row: &Row) -> Vec<(u32, Mark)> {
    let commits = row.commits.iter().map(|&commit| (commit, Mark::Commit));
    let waits = row.waits.iter().map(|&(wait, left)| (wait, Mark::Wait(left)));
    let stops = row.calls.iter().map(|&stop| (stop, Mark::Stop));
    let mut all: Vec<(u32, Mark)> = commits.chain(waits).chain(stops).collect();
    all.sort_unstable_by_key(|&(instruction, _)| instruction);
    all
}

/// The marks of a row by the blocks that they are in.
struct Blocks {
    marks: Vec<(u32, Mark)>,
    /// Where those of each block begin, and where those of the last one end.
    starts: Vec<u32>,
}

impl Blocks {
    fn new(facts: &FunctionFacts<'_>, row: &Row) -> Self {
        let mut marks = marks(row);
        let block_of = |instruction: u32| facts.cfg.block_of(Handle::new(instruction)).index();
        marks.sort_by_key(|&(instruction, _)| block_of(instruction));
        let mut starts = Vec::with_capacity(facts.cfg.block_count() + 1);
        let mut place = 0;
        for block in 0..=facts.cfg.block_count() {
            while marks.get(place).is_some_and(|&(instruction, _)| block_of(instruction) < block) {
                place += 1;
            }
            starts.push(place as u32);
        }
        Self { marks, starts }
    }

    /// Those of a block, in order of the text.
    fn of(&self, block: NodeIndex) -> &[(u32, Mark)] {
        &self.marks[self.starts[block.index()] as usize..self.starts[block.index() + 1] as usize]
    }
}

/// The first start of a row that no wait can cover, whatever path is taken: because nothing closes its group before, or
/// because all waits leave it pending.
#[must_use]
pub fn never_covered(facts: &FunctionFacts<'_>, row: &Row) -> Option<u32> {
    let marks = Blocks::new(facts, row);
    // For each block and number of groups closed since a start, whether a path from there leads to a wait for it.
    let mut covered = vec![0_u16; facts.cfg.block_count()];
    let behind = |covered: &[u16], block: NodeIndex| {
        facts.cfg.successors(block).fold(0, |all, (next, _)| all | covered[next.index()])
    };
    let mut changed = true;
    while changed {
        changed = false;
        for &block in facts.cfg.reverse_postorder().iter().rev() {
            let here = marks.of(block);
            let new = here.iter().rev().fold(behind(&covered, block), |out, &(_, mark)| before(mark, out));
            changed |= std::mem::replace(&mut covered[block.index()], new) != new;
        }
    }
    let block_of = |start: &u32| facts.cfg.block_of(Handle::new(*start));
    row.starts.chunk_by(|one, other| block_of(one) == block_of(other)).find_map(|starts| {
        let block = block_of(starts.first()?);
        let mut marks = marks.of(block).iter().rev().peekable();
        let mut out = behind(&covered, block);
        let mut first = None;
        for &start in starts.iter().rev() {
            while let Some(&(_, mark)) = marks.next_if(|(instruction, _)| *instruction > start) {
                out = before(mark, out);
            }
            if out & 1 == 0 {
                first = Some(start);
            }
        }
        first
    })
}

/// What holds before a mark where `out` holds behind it.
fn before(mark: Mark, out: u16) -> u16 {
    match mark {
        Mark::Commit => out >> 1 | out & 1 << MAX_GROUPS,
        Mark::Wait(left) => {
            let more_than = if left >= MAX_GROUPS { 1 << MAX_GROUPS } else { ALL & !0 << (left + 1) };
            out | more_than
        }
        Mark::Stop => ALL,
    }
}

/// The waits of a row that wait for something: on some path from the entry more groups were closed before them than they
/// leave. All instructions that wait for everything are among them.
#[must_use]
pub fn effective_waits(facts: &FunctionFacts<'_>, row: &Row) -> Vec<u32> {
    let marks = Blocks::new(facts, row);
    let mut most = vec![None::<u32>; facts.cfg.block_count()];
    if let Some(first) = most.first_mut() {
        *first = Some(0);
    }
    let after = |count: u32, mark: Mark| match mark {
        Mark::Commit => (count + 1).min(MAX_GROUPS),
        // A function that is called may close any number of groups.
        Mark::Stop => MAX_GROUPS,
        Mark::Wait(_) => count,
    };
    let mut changed = true;
    while changed {
        changed = false;
        for &block in facts.cfg.reverse_postorder() {
            let Some(count) = most[block.index()] else { continue };
            let here = marks.of(block);
            let end = here.iter().fold(count, |count, &(_, mark)| after(count, mark));
            for (next, _) in facts.cfg.successors(block) {
                if most[next.index()].is_none_or(|known| known < end) {
                    most[next.index()] = Some(end);
                    changed = true;
                }
            }
        }
    }
    let mut found = Vec::new();
    for &block in facts.cfg.reverse_postorder() {
        let mut count = most[block.index()].unwrap_or(MAX_GROUPS);
        for &(instruction, mark) in marks.of(block) {
            let waits = match mark {
                Mark::Wait(left) => count > left || count == MAX_GROUPS,
                Mark::Stop => true,
                Mark::Commit => false,
            };
            if waits {
                found.push(instruction);
            }
            count = after(count, mark);
        }
    }
    found.sort_unstable();
    found
}
