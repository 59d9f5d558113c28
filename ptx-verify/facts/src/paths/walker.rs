//! Paths to the writes of things that no value of the graph is.

use ptx_ir::ir::Handle;

use super::{Origin, Reaching, Search, ToWriters, Tracked, Undefined};
use crate::FunctionFacts;
use crate::values::{Engine, Graph, Values};

/// Asks what places may see of things that no value of the graph is: parameters, and registers where a function returns.
pub struct Walker<'f, 'm> {
    search: Search<'f, 'm>,
    /// The question in which each block was looked at last.
    looked: Vec<u32>,
    questions: u32,
    /// How many more blocks are looked at.
    looks: usize,
    /// How many more questions may take as many steps as a function.
    searches: usize,
    steps: usize,
}

/// Questions of which the conditions on the paths are looked at.
const MAX_SEARCHES: usize = 64;
/// Blocks that are looked at in any function,
const MIN_LOOKS: usize = 100_000;
/// and for each block.
const LOOKS_PER_BLOCK: usize = 64;

impl<'f, 'm> Walker<'f, 'm> {
    /// Walks through this function.
    #[must_use]
    pub fn new(facts: &'f FunctionFacts<'m>, graph: &'f Graph, values: Values) -> Self {
        let search = Search::of(Engine::again(facts, graph, values));
        let blocks = facts.cfg.reverse_postorder().len();
        Self {
            steps: search.budget,
            search,
            looked: Vec::new(),
            questions: 0,
            looks: MIN_LOOKS + LOOKS_PER_BLOCK * blocks,
            searches: MAX_SEARCHES,
        }
    }

    /// What is known of the values.
    #[must_use]
    pub fn into_values(self) -> Values {
        self.search.engine.into_values()
    }

    /// Which of some writes, ascending, an instruction may see.
    #[must_use]
    pub fn reaching(&mut self, writes: &[u32], instruction: u32) -> Reaching {
        let Some((writers, undefined)) = self.whatever_holds(writes, instruction) else {
            return Reaching { unknown: true, ..Reaching::default() };
        };
        if !undefined {
            return Reaching { writers, ..Reaching::default() };
        }
        if writers.is_empty() {
            let undefined = Undefined { origin: Origin::Entry, path: Vec::new() };
            return Reaching { undefined: Some(undefined), ..Reaching::default() };
        }
        let unknown = || Reaching { unknown: true, ..Reaching::default() };
        self.followed(writes, instruction).unwrap_or_else(unknown)
    }

    /// Whether control may come from one instruction to another and pass none of `stops`, ascending, on the way.
    #[must_use]
    pub fn may_come(&mut self, from: u32, to: u32, stops: &[u32]) -> bool {
        let mut ends = stops.to_vec();
        if let Err(place) = ends.binary_search(&from) {
            ends.insert(place, from);
        }
        let found = self.followed(&ends, to);
        found.is_none_or(|found| found.unknown || found.writers.contains(&from))
    }

    /// What paths whose conditions can hold show; none where too many were asked for.
    fn followed(&mut self, writes: &[u32], instruction: u32) -> Option<Reaching> {
        self.searches = self.searches.checked_sub(1)?;
        (self.search.budget, self.search.exhausted) = (self.steps, false);
        self.search.begin();
        self.search.walk((instruction, None), Tracked::Writes, 1, writes, &mut ToWriters);
        Some(self.search.reaching())
    }

    /// What may be seen whatever the conditions: the writes, and whether there is a path without one. None where too much was
    /// looked at.
    fn whatever_holds(&mut self, writes: &[u32], instruction: u32) -> Option<(Vec<u32>, bool)> {
        let facts = self.search.facts();
        let cfg = &facts.cfg;
        self.questions += 1;
        let (mut writers, mut undefined) = (Vec::new(), false);
        let mut open = vec![(cfg.block_of(Handle::new(instruction)), instruction)];
        while let Some((block, before)) = open.pop() {
            self.looks = self.looks.checked_sub(1)?;
            let start = cfg.instructions(block).start;
            let seen = &writes[..writes.partition_point(|&write| write < before)];
            let here = seen.iter().rev().take_while(|&&write| write >= start);
            let mut is_set = false;
            for &write in here {
                writers.push(write);
                is_set = !facts.is_guarded(write);
                if is_set {
                    break;
                }
            }
            if is_set {
                continue;
            }
            undefined |= block.index() == 0;
            for (from, _) in self.search.graph().predecessors(block) {
                if self.looked.len() <= from.index() {
                    self.looked.resize(from.index() + 1, 0);
                }
                if std::mem::replace(&mut self.looked[from.index()], self.questions) != self.questions {
                    open.push((from, cfg.instructions(from).end));
                }
            }
        }
        writers.sort_unstable();
        writers.dedup();
        Some((writers, undefined))
    }
}
