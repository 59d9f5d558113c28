//! Control flow of a body: basic blocks, edges with the condition under which they are taken, reverse
//! postorder and dominators.
//!
//! A guard on an instruction that does not branch makes no edge: the instruction stays inside its block and
//! analyses treat it as conditional. A guarded branch, return or exit ends its block, and its edges carry the
//! guard.

use crate::arena::Handle;
use crate::ir::{Body, Guard, Instruction, Label, Module, Operand, Register};
use crate::isa::Control;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeRef};
use std::ops::Range;

/// A basic block: instructions that run one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Indices of its instructions.
    pub instructions: Range<u32>,
}

/// A condition on a predicate register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The predicate.
    pub register: Register,
    /// The value it must have.
    pub value: bool,
}

impl Condition {
    /// The condition under which a guarded instruction runs; none where there is no guard or it names nothing.
    #[must_use]
    pub fn of_guard(guard: Option<Guard>) -> Option<Self> {
        let guard = guard?;
        Some(Self { register: guard.register?, value: !guard.negated })
    }

    /// The opposite condition.
    #[must_use]
    pub const fn negated(self) -> Self {
        Self { register: self.register, value: !self.value }
    }
}

/// Why control takes an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// What must hold; none where it is taken always, or by an index.
    pub condition: Option<Condition>,
}

/// The control-flow graph of a body. Block 0 is the entry; a body without instructions has one empty block.
#[derive(Clone, Debug)]
pub struct Cfg {
    graph: DiGraph<Block, Edge>,
    /// The block of each instruction.
    block_of: Vec<u32>,
    /// Reachable blocks in reverse postorder.
    order: Vec<NodeIndex>,
    /// The place of each block in `order`; `u32::MAX` where it cannot be reached.
    place: Vec<u32>,
    /// First and last number of each block in a walk over the dominator tree.
    intervals: Vec<(u32, u32)>,
    /// The instruction after which control runs past the end of the body, where that can happen.
    falls_off: Option<u32>,
}

impl Cfg {
    /// Builds the graph of a body of `module`.
    #[must_use]
    pub fn new(module: &Module, body: &Body) -> Self {
        let mut builder = Builder::new(module, body);
        builder.find_leaders();
        builder.add_blocks();
        builder.add_edges();
        let Builder { graph, block_of, falls_off, .. } = builder;
        let entry = NodeIndex::new(0);
        let mut order = Vec::with_capacity(graph.node_count());
        let mut walk = DfsPostOrder::new(&graph, entry);
        while let Some(node) = walk.next(&graph) {
            order.push(node);
        }
        order.reverse();
        let mut place = vec![u32::MAX; graph.node_count()];
        for (index, node) in order.iter().enumerate() {
            place[node.index()] = index as u32;
        }
        let intervals = intervals(&immediate_dominators(&graph, &order, &place), &order);
        Self { graph, block_of, order, place, intervals, falls_off }
    }

    /// The graph, for algorithms of petgraph.
    #[must_use]
    pub const fn graph(&self) -> &DiGraph<Block, Edge> {
        &self.graph
    }

    /// How many blocks there are, unreachable ones included.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.graph.node_count()
    }

    /// The instructions of a block.
    #[must_use]
    pub fn instructions(&self, block: NodeIndex) -> Range<u32> {
        self.graph[block].instructions.clone()
    }

    /// The block that an instruction is in.
    #[must_use]
    pub fn block_of(&self, instruction: Handle<Instruction>) -> NodeIndex {
        NodeIndex::new(self.block_of[instruction.index()] as usize)
    }

    /// Reachable blocks in reverse postorder: apart from loops, a block comes after those it follows.
    #[must_use]
    pub fn reverse_postorder(&self) -> &[NodeIndex] {
        &self.order
    }

    /// Whether control can come to a block.
    #[must_use]
    pub fn is_reachable(&self, block: NodeIndex) -> bool {
        self.place[block.index()] != u32::MAX
    }

    /// The place of a reachable block in reverse postorder.
    #[must_use]
    pub fn place(&self, block: NodeIndex) -> usize {
        self.place[block.index()] as usize
    }

    /// Whether every way to `block` leads through `dominator`. Both must be reachable.
    #[must_use]
    pub fn dominates(&self, dominator: NodeIndex, block: NodeIndex) -> bool {
        let (first, last) = self.intervals[dominator.index()];
        let (at, _) = self.intervals[block.index()];
        first <= at && at <= last
    }

    /// The blocks control can come from, with the edges.
    pub fn predecessors(&self, block: NodeIndex) -> impl Iterator<Item = (NodeIndex, Edge)> {
        self.graph
            .edges_directed(block, petgraph::Direction::Incoming)
            .map(|edge| (edge.source(), *edge.weight()))
    }

    /// The blocks control can go to, with the edges.
    pub fn successors(&self, block: NodeIndex) -> impl Iterator<Item = (NodeIndex, Edge)> {
        self.graph.edges(block).map(|edge| (edge.target(), *edge.weight()))
    }

    /// The last instruction of a body that does not end in a return, exit or branch, where it can be reached.
    #[must_use]
    pub fn falls_off(&self) -> Option<Handle<Instruction>> {
        let instruction = Handle::new(self.falls_off?);
        self.is_reachable(self.block_of(instruction)).then_some(instruction)
    }
}

/// For each reachable block the nearest other one that every way to it leads through, as an index of the graph: itself
/// for the entry, `u32::MAX` for a block that cannot be reached.
///
/// The method of Cooper, Harvey and Kennedy, which petgraph has too. On the numbers of a reverse postorder that is
/// there already it takes a tenth of the instructions, which matters in functions of many blocks; a test compares both.
fn immediate_dominators(graph: &DiGraph<Block, Edge>, order: &[NodeIndex], place: &[u32]) -> Vec<u32> {
    // By place in the order, so that what dominates has the smaller number.
    let mut dominators = vec![u32::MAX; order.len()];
    if let Some(entry) = dominators.first_mut() {
        *entry = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (at, &block) in order.iter().enumerate().skip(1) {
            let mut nearest = u32::MAX;
            for before in graph.neighbors_directed(block, petgraph::Direction::Incoming) {
                let before = place[before.index()];
                if before == u32::MAX || dominators[before as usize] == u32::MAX {
                    continue;
                }
                nearest = if nearest == u32::MAX { before } else { common(&dominators, nearest, before) };
            }
            changed |= dominators[at] != nearest;
            dominators[at] = nearest;
        }
    }
    let mut by_block = vec![u32::MAX; graph.node_count()];
    for (at, &block) in order.iter().enumerate() {
        if let Some(dominator) = order.get(dominators[at] as usize) {
            by_block[block.index()] = dominator.index() as u32;
        }
    }
    by_block
}

/// The nearest block that dominates both.
fn common(dominators: &[u32], mut one: u32, mut other: u32) -> u32 {
    while one != other {
        if one > other {
            one = dominators[one as usize];
        } else {
            other = dominators[other as usize];
        }
    }
    one
}

/// Numbers the dominator tree so that dominance is a comparison.
fn intervals(dominators: &[u32], order: &[NodeIndex]) -> Vec<(u32, u32)> {
    let count = dominators.len();
    // Children of each block as linked lists; a block comes after its dominator in reverse postorder.
    let (mut first_child, mut next_sibling) = (vec![u32::MAX; count], vec![u32::MAX; count]);
    for &node in order.iter().skip(1).rev() {
        let parent = dominators[node.index()] as usize;
        next_sibling[node.index()] = first_child[parent];
        first_child[parent] = node.index() as u32;
    }
    let mut intervals = vec![(u32::MAX, 0); count];
    let mut number = 0;
    let mut stack = vec![0_u32];
    while let Some(&top) = stack.last() {
        let node = top as usize;
        if intervals[node].0 == u32::MAX {
            intervals[node].0 = number;
            number += 1;
        }
        let child = first_child[node];
        if child == u32::MAX {
            intervals[node].1 = number - 1;
            stack.pop();
        } else {
            first_child[node] = next_sibling[child as usize];
            stack.push(child);
        }
    }
    intervals
}

/// Where an instruction leads.
struct Flow {
    control: Control,
    condition: Option<Condition>,
    guarded: bool,
}

struct Builder<'m> {
    module: &'m Module,
    body: &'m Body,
    graph: DiGraph<Block, Edge>,
    leaders: Vec<bool>,
    block_of: Vec<u32>,
    falls_off: Option<u32>,
}

impl<'m> Builder<'m> {
    fn new(module: &'m Module, body: &'m Body) -> Self {
        let count = body.instructions.len();
        Self {
            module,
            body,
            graph: DiGraph::new(),
            leaders: vec![false; count + 1],
            block_of: vec![0; count],
            falls_off: None,
        }
    }

    fn flow(&self, index: usize) -> Flow {
        let handle = Handle::new(index as u32);
        let instruction = &self.body.instructions[handle];
        let resolved = &self.module.spellings[instruction.spelling].resolved;
        // Control does not depend on the operands, so any instance will do where none fits.
        let which = instruction.instance.map_or(0, usize::from);
        let mut control =
            resolved.instances.get(which).map_or(Control::Next, |instance| instance.effects.control);
        if control == Control::Call && self.module.call_never_returns(self.body, handle) {
            control = Control::Exit;
        }
        Flow {
            control,
            condition: Condition::of_guard(instruction.guard),
            guarded: instruction.guard.is_some(),
        }
    }

    fn find_leaders(&mut self) {
        self.leaders[0] = true;
        for (_, label) in self.body.labels.iter() {
            self.leaders[(label.target as usize).min(self.body.instructions.len())] = true;
        }
        for index in 0..self.body.instructions.len() {
            if !matches!(self.flow(index).control, Control::Next | Control::Call) {
                self.leaders[index + 1] = true;
            }
        }
    }

    fn add_blocks(&mut self) {
        let count = self.body.instructions.len();
        let mut start = 0;
        for end in 1..=count {
            if end == count || self.leaders[end] {
                let block = self.graph.add_node(Block { instructions: start as u32..end as u32 });
                self.block_of[start..end].fill(block.index() as u32);
                start = end;
            }
        }
        // A label at the end of the body is a place that control can go to.
        if count == 0
            || (self.leaders[count]
                && self.body.labels.iter().any(|(_, label)| label.target as usize >= count))
        {
            self.graph.add_node(Block { instructions: count as u32..count as u32 });
        }
    }

    fn block_at(&self, instruction: u32) -> NodeIndex {
        match self.block_of.get(instruction as usize) {
            Some(&block) => NodeIndex::new(block as usize),
            None => NodeIndex::new(self.graph.node_count() - 1),
        }
    }

    fn add_edges(&mut self) {
        for block in self.graph.node_indices() {
            let range = self.graph[block].instructions.clone();
            let Some(last) = range.end.checked_sub(1).filter(|_| !range.is_empty()) else { continue };
            let flow = self.flow(last as usize);
            match flow.control {
                Control::Branch | Control::IndexedBranch => self.add_targets(block, last, &flow),
                Control::Next | Control::Call | Control::Return | Control::Exit | Control::Trap => {}
            }
            if flow.control.falls_through() || flow.guarded {
                let taken = if flow.control.falls_through() { None } else { flow.condition };
                self.add_fall_through(block, range.end, taken.map(Condition::negated));
            }
        }
    }

    fn add_fall_through(&mut self, block: NodeIndex, next: u32, condition: Option<Condition>) {
        let has_next = (next as usize) < self.body.instructions.len();
        let last_is_empty = self.graph[NodeIndex::new(self.graph.node_count() - 1)].instructions.is_empty();
        if has_next || last_is_empty {
            let target = self.block_at(next);
            self.graph.add_edge(block, target, Edge { condition });
        }
        if !has_next {
            self.falls_off = Some(next - 1);
        }
    }

    fn add_targets(&mut self, block: NodeIndex, instruction: u32, flow: &Flow) {
        let operands = self.body.operands(Handle::new(instruction));
        for &operand in operands {
            match operand {
                Operand::Label(label) => self.add_label(block, label, flow.condition),
                Operand::Targets(list) => {
                    for &target in &self.body.targets[list].targets {
                        if let Operand::Label(label) = target {
                            self.add_label(block, label, flow.condition);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add_label(&mut self, block: NodeIndex, label: Handle<Label>, condition: Option<Condition>) {
        let target = self.block_at(self.body.labels[label].target);
        self.graph.add_edge(block, target, Edge { condition });
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Edge, immediate_dominators};
    use petgraph::algo::dominators::simple_fast;
    use petgraph::graph::{DiGraph, NodeIndex};
    use petgraph::visit::DfsPostOrder;

    /// Graphs of a generator of random numbers, loops with several entries and unreachable blocks included.
    #[test]
    fn dominators_are_those_of_petgraph() {
        let mut state = 1_u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        for _ in 0..2000 {
            let (blocks, edges) = (1 + below(24), below(60));
            let mut graph = DiGraph::new();
            for _ in 0..blocks {
                graph.add_node(Block { instructions: 0..0 });
            }
            for _ in 0..edges {
                let (from, to) = (NodeIndex::new(below(blocks)), NodeIndex::new(below(blocks)));
                graph.add_edge(from, to, Edge { condition: None });
            }
            let entry = NodeIndex::new(0);
            let mut order = Vec::new();
            let mut walk = DfsPostOrder::new(&graph, entry);
            while let Some(node) = walk.next(&graph) {
                order.push(node);
            }
            order.reverse();
            let mut place = vec![u32::MAX; blocks];
            for (index, node) in order.iter().enumerate() {
                place[node.index()] = index as u32;
            }
            let ours = immediate_dominators(&graph, &order, &place);
            let theirs = simple_fast(&graph, entry);
            for block in graph.node_indices().skip(1) {
                let expected = theirs.immediate_dominator(block).map_or(u32::MAX, |each| each.index() as u32);
                assert_eq!(ours[block.index()], expected, "{block:?} of {graph:?}");
            }
        }
    }
}
