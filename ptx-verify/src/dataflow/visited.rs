//! With which facts a walk has come to each block.

use super::conditions::{Facts, Literal, is_subset};
use super::walk::Constraints;
use petgraph::graph::NodeIndex;

/// What came of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// The walk was here with facts that allow all that these allow.
    Known,
    /// It was here with too many different facts already.
    TooMany,
    /// It was not.
    New,
}

/// One visit of a block, in a list of the visits of the block.
struct Entry {
    first: u32,
    count: u32,
    next: u32,
    constraints: Constraints,
}

/// The visits of a block.
#[derive(Clone, Copy)]
struct List {
    walk: u32,
    first: u32,
    count: u32,
}

/// The visits of all blocks, kept from walk to walk so that a walk pays for the blocks it comes to only.
#[derive(Default)]
pub(super) struct Visited {
    walk: u32,
    lists: Vec<List>,
    entries: Vec<Entry>,
    literals: Vec<Literal>,
}

const NONE: u32 = u32::MAX;

impl Visited {
    /// Begins another walk.
    pub(super) fn clear(&mut self, blocks: usize) {
        self.walk += 1;
        self.lists.resize(blocks, List { walk: 0, first: NONE, count: 0 });
        self.entries.clear();
        self.literals.clear();
    }

    /// Notes that the walk comes to the start of a block, at most `most` times.
    pub(super) fn visit(
        &mut self,
        block: NodeIndex,
        facts: &Facts,
        constraints: &Constraints,
        most: usize,
    ) -> Visit {
        let mut list = self.lists[block.index()];
        if list.walk != self.walk {
            list = List { walk: self.walk, first: NONE, count: 0 };
        }
        let mut next = list.first;
        while let Some(entry) = self.entries.get(next as usize) {
            let literals = &self.literals[entry.first as usize..(entry.first + entry.count) as usize];
            if is_subset(literals, facts.literals()) && are_among(&entry.constraints, constraints) {
                return Visit::Known;
            }
            next = entry.next;
        }
        if list.count as usize >= most {
            return Visit::TooMany;
        }
        let entry = Entry {
            first: self.literals.len() as u32,
            count: facts.literals().len() as u32,
            next: list.first,
            constraints: constraints.clone(),
        };
        self.literals.extend_from_slice(facts.literals());
        self.lists[block.index()] = List { first: self.entries.len() as u32, count: list.count + 1, ..list };
        self.entries.push(entry);
        Visit::New
    }
}

fn are_among(few: &Constraints, many: &Constraints) -> bool {
    match (few, many) {
        (None, _) => true,
        (Some(few), None) => few.is_empty(),
        (Some(few), Some(many)) => few.iter().all(|each| many.contains(each)),
    }
}
