//! Where variables that several blocks set need joins: in the dominance frontiers of these blocks, as far as the variables
//! are live there.
//!
//! Variables are looked at in groups, as the bits of a word: neighbours, which often live in the same blocks.

use super::frontier::Frontiers;

/// Variables of a group.
pub(super) const GROUP: usize = u64::BITS as usize;

/// The numbers of the variables that are looked at.
pub(super) struct Numbers {
    of_all: Vec<u32>,
    count: usize,
}

impl Numbers {
    const NO: u32 = u32::MAX;

    /// Of so many variables some get numbers, by their order.
    pub(super) fn new(count: usize, variables: &[u32]) -> Self {
        let mut of_all = vec![Self::NO; count];
        variables.iter().enumerate().for_each(|(number, each)| of_all[*each as usize] = number as u32);
        Self { of_all, count: variables.len() }
    }

    fn of(&self, variable: u32) -> Option<usize> {
        let number = self.of_all[variable as usize];
        (number != Self::NO).then_some(number as usize)
    }
}

/// Pairs of a variable and a block, by group: blocks with the bits of variables.
pub(super) struct Groups {
    starts: Vec<u32>,
    blocks: Vec<(u32, u8)>,
}

impl Groups {
    /// Of pairs of a variable and a block those of the variables that have a number.
    pub(super) fn new(numbers: &Numbers, pairs: &[(u32, u32)]) -> Self {
        let number = |variable| numbers.of(variable);
        let mut starts = vec![0_u32; numbers.count.div_ceil(GROUP) + 2];
        for number in pairs.iter().filter_map(|(variable, _)| number(*variable)) {
            starts[number / GROUP + 2] += 1;
        }
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut blocks = vec![(0, 0); *starts.last().unwrap_or(&0) as usize];
        for &(variable, block) in pairs {
            let Some(number) = number(variable) else { continue };
            let next = &mut starts[number / GROUP + 1];
            blocks[*next as usize] = (block, (number % GROUP) as u8);
            *next += 1;
        }
        Self { starts, blocks }
    }

    pub(super) fn of(&self, group: usize) -> &[(u32, u8)] {
        &self.blocks[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}

/// What is known of the variables of one group at the start of a block, as bits.
#[derive(Clone, Copy, Default)]
struct Bits {
    /// Those that the block sets whatever its guards.
    killed: u64,
    live: u64,
    joined: u64,
    /// Those for which other blocks were not told yet.
    open: u64,
}

/// Places joins.
pub(super) struct Placement<'g, E> {
    predecessors: (&'g [u32], &'g [(u32, E)]),
    frontiers: &'g Frontiers,
    blocks: Vec<Bits>,
    /// The blocks of which something is known, each at least once.
    touched: Vec<u32>,
    open: Vec<u32>,
    /// How many more blocks are looked at for where variables are live.
    left: usize,
}

impl<'g, E> Placement<'g, E> {
    /// For a function of so many blocks. `predecessors`: where those of each block begin, and all.
    pub(super) fn new(
        count: usize,
        predecessors: (&'g [u32], &'g [(u32, E)]),
        frontiers: &'g Frontiers,
        left: usize,
    ) -> Self {
        let blocks = vec![Bits::default(); count];
        Self { predecessors, frontiers, blocks, touched: Vec::new(), open: Vec::new(), left }
    }

    /// Finds the joins of the variables of a group, of which it is known where they are set, read before they are set, and
    /// set whatever the guards.
    pub(super) fn of_group(&mut self, set: &[(u32, u8)], exposed: &[(u32, u8)], killed: &[(u32, u8)]) {
        for &(block, bit) in killed {
            self.blocks[block as usize].killed |= 1 << bit;
            self.touched.push(block);
        }
        let known = self.find_live(exposed);
        for &(block, bit) in set {
            self.push(block, 1 << bit);
        }
        while let Some(block) = self.open.pop() {
            let bits = std::mem::take(&mut self.blocks[block as usize].open);
            for &join in self.frontiers.of(petgraph::graph::NodeIndex::new(block as usize)) {
                let at = &mut self.blocks[join as usize];
                let live = if known { at.live } else { u64::MAX };
                let new = bits & live & !at.joined;
                at.joined |= new;
                self.push(join, new);
            }
        }
    }

    /// Finds where the variables are live; no where that takes too long.
    fn find_live(&mut self, exposed: &[(u32, u8)]) -> bool {
        for &(block, bit) in exposed {
            self.blocks[block as usize].live |= 1 << bit;
            self.push(block, 1 << bit);
        }
        let (starts, all) = self.predecessors;
        while let Some(block) = self.open.pop() {
            let bits = std::mem::take(&mut self.blocks[block as usize].open);
            let before = &all[starts[block as usize] as usize..starts[block as usize + 1] as usize];
            for &(before, _) in before {
                let Some(left) = self.left.checked_sub(1) else {
                    self.forget_open(block);
                    return false;
                };
                self.left = left;
                let at = &mut self.blocks[before as usize];
                let new = bits & !at.killed & !at.live;
                at.live |= new;
                self.push(before, new);
            }
        }
        true
    }

    fn forget_open(&mut self, block: u32) {
        self.blocks[block as usize].open = 0;
        while let Some(block) = self.open.pop() {
            self.blocks[block as usize].open = 0;
        }
    }

    fn push(&mut self, block: u32, bits: u64) {
        let open = &mut self.blocks[block as usize].open;
        if *open == 0 && bits != 0 {
            self.open.push(block);
            self.touched.push(block);
        }
        *open |= bits;
    }

    /// Tells the joins that were found, as blocks and numbers within the group, and forgets the group.
    pub(super) fn take(&mut self, mut tell: impl FnMut(u32, u32)) {
        for block in self.touched.drain(..) {
            let mut joined = std::mem::take(&mut self.blocks[block as usize]).joined;
            while joined != 0 {
                tell(block, joined.trailing_zeros());
                joined &= joined - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Groups, Numbers};

    #[test]
    fn groups_hold_the_pairs_of_their_variables() {
        let variables: Vec<u32> = (0..100).map(|each| 3 * each).collect();
        let pairs: Vec<(u32, u32)> = (0..300).rev().map(|variable| (variable, variable + 1000)).collect();
        let groups = Groups::new(&Numbers::new(300, &variables), &pairs);
        for group in 0..2 {
            let mut found = groups.of(group).to_vec();
            found.sort_unstable();
            let expected = (64 * group as u32..100.min(64 * (group as u32 + 1)))
                .map(|number| (3 * number + 1000, (number % 64) as u8));
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
