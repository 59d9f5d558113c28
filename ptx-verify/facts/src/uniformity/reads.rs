//! What each value was seen to depend on, so that only what may have changed is looked at again.

use std::cell::RefCell;

use petgraph::graph::NodeIndex;

use crate::values::ValueId;

/// When what is known changed last, and what each value was computed of. Times go up with each look at a value.
#[derive(Debug, Default)]
pub(super) struct Reads {
    values: usize,
    now: u32,
    /// When each value, what is known of the control of each block, and what holds by branches only changed last.
    changed: Vec<u32>,
    /// When each value was looked at last; 0 for never.
    looked: Vec<u32>,
    /// Where what it was computed of begins, and how much that is.
    ranges: Vec<(u32, u32)>,
    all: Vec<u32>,
    /// What is read now.
    open: RefCell<Vec<u32>>,
}

impl Reads {
    pub(super) fn new(values: usize, blocks: usize) -> Self {
        Self {
            values,
            now: 1,
            changed: vec![0; values + blocks + 1],
            looked: vec![0; values],
            ranges: vec![(0, 0); values],
            ..Self::default()
        }
    }

    /// Whether nothing has changed of what a value was computed of.
    pub(super) fn is_settled(&self, value: ValueId) -> bool {
        let looked = self.looked[value.index()];
        let (start, count) = self.ranges[value.index()];
        looked != 0
            && self.all[start as usize..][..count as usize]
                .iter()
                .all(|read| self.changed[*read as usize] <= looked)
    }

    /// Begins a look at a value.
    pub(super) fn begin(&mut self, value: ValueId) {
        self.now += 2;
        self.looked[value.index()] = self.now;
        self.open.get_mut().clear();
    }

    /// Ends a look at a value: what was read since it began is what it is computed of.
    pub(super) fn end(&mut self, value: ValueId) {
        let open = self.open.get_mut();
        self.ranges[value.index()] = (self.all.len() as u32, open.len() as u32);
        self.all.append(open);
    }

    /// What was read since the look began.
    pub(super) fn so_far(&self) -> Vec<u32> {
        self.open.borrow().clone()
    }

    /// The same was read again.
    pub(super) fn again(&self, reads: &[u32]) {
        self.open.borrow_mut().extend_from_slice(reads);
    }

    pub(super) fn value(&self, value: ValueId) {
        self.read(value.index());
    }

    pub(super) fn block(&self, block: NodeIndex) {
        self.read(self.values + block.index());
    }

    pub(super) fn branches(&self) {
        self.read(self.changed.len() - 1);
    }

    fn read(&self, what: usize) {
        let mut open = self.open.borrow_mut();
        if open.last() != Some(&(what as u32)) {
            open.push(what as u32);
        }
    }

    pub(super) fn value_changed(&mut self, value: ValueId) {
        self.changed[value.index()] = self.now + 1;
    }

    pub(super) fn block_changed(&mut self, block: usize) {
        self.changed[self.values + block] = self.now + 1;
    }

    pub(super) fn branches_changed(&mut self) {
        if let Some(last) = self.changed.last_mut() {
            *last = self.now + 1;
        }
    }
}
