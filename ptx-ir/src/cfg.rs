//! Control flow of a body: basic blocks, edges with the condition under which they are taken, reverse
//! postorder and dominators.
//!
//! A guard on an instruction that does not branch makes no edge: the instruction stays inside its block and
//! analyses treat it as conditional. A guarded branch, return or exit ends its block, and its edges carry the
//! guard.

use crate::arena::Handle;
use crate::dominators::{immediate_dominators, in_few_turns};
use crate::ir::{Body, Guard, Instruction, Label, Module, Operand, Register, TargetList};
use crate::isa::{Control, Instance};
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeRef};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A basic block: instructions that run one after the other.
///
/// A block without instructions is the end of the body, or a list of targets that many branches share: each branch
/// leads to the list and the list to each target, since an edge from each branch to each target would be too many.
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
    #[inline]
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
    /// What must hold; none where it is taken always.
    pub condition: Option<Condition>,
    /// Of an indexed branch, the index that takes it: the place of the target in its list, from 0.
    pub index: Option<u32>,
}

/// The control-flow graph of a body. Block 0 is the entry; a body without instructions has one empty block.
#[derive(Clone, Debug)]
pub struct Cfg {
    graph: DiGraph<Block, Edge>,
    /// The edges of the graph once more: analyses go over them again and again.
    after: Edges,
    before: Edges,
    /// The block of each instruction.
    block_of: Vec<u32>,
    /// Reachable blocks in reverse postorder.
    order: Vec<NodeIndex>,
    /// The place of each block in `order`; `u32::MAX` where it cannot be reached.
    place: Vec<u32>,
    /// The block that immediately dominates each block: itself for the entry, `u32::MAX` where it cannot be reached.
    dominators: Vec<u32>,
    /// First and last number of each block in a walk over the dominator tree.
    intervals: Vec<(u32, u32)>,
    /// The instruction after which control runs past the end of the body, where that can happen.
    falls_off: Option<u32>,
}

/// The edges at each block, one list after the other, with the blocks at their other ends.
#[derive(Clone, Debug)]
struct Edges {
    starts: Vec<u32>,
    all: Vec<(NodeIndex, Edge)>,
}

impl Edges {
    fn new(graph: &DiGraph<Block, Edge>, direction: Direction) -> Self {
        let mut edges = Self {
            starts: Vec::with_capacity(graph.node_count() + 1),
            all: Vec::with_capacity(graph.edge_count()),
        };
        for block in graph.node_indices() {
            edges.starts.push(edges.all.len() as u32);
            edges.all.extend(graph.edges_directed(block, direction).map(|edge| {
                let other = if direction == Direction::Outgoing { edge.target() } else { edge.source() };
                (other, *edge.weight())
            }));
        }
        edges.starts.push(edges.all.len() as u32);
        edges
    }

    #[inline]
    fn of(&self, block: NodeIndex) -> &[(NodeIndex, Edge)] {
        &self.all[self.starts[block.index()] as usize..self.starts[block.index() + 1] as usize]
    }
}

impl Cfg {
    /// Builds the graph of a body of `module`.
    #[must_use]
    pub fn new(module: &Module, body: &Body) -> Self {
        Self::of_instances(module, body, body.instructions.iter().map(|(_, each)| module.instance(each)))
    }

    /// The same where it is known what each instruction of the body means.
    #[must_use]
    pub fn of_instances<'m>(
        module: &'m Module,
        body: &'m Body,
        instances: impl Iterator<Item = Option<&'m Instance>>,
    ) -> Self {
        let mut builder = Builder::new(module, body);
        builder.find_leaders(instances);
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
        let (after, before) =
            (Edges::new(&graph, Direction::Outgoing), Edges::new(&graph, Direction::Incoming));
        let of_node = |node| before.of(NodeIndex::new(node)).iter().map(|(block, _)| block.index());
        let nodes = order.iter().map(|node| node.index());
        let dominators = in_few_turns(graph.node_count(), nodes, of_node)
            .unwrap_or_else(|| immediate_dominators(&graph, entry));
        let intervals = intervals(&dominators, &order);
        Self { graph, after, before, block_of, order, place, dominators, intervals, falls_off }
    }

    /// The graph, for algorithms of petgraph.
    #[must_use]
    #[inline]
    pub const fn graph(&self) -> &DiGraph<Block, Edge> {
        &self.graph
    }

    /// How many blocks there are, unreachable ones included.
    #[must_use]
    #[inline]
    pub fn block_count(&self) -> usize {
        self.graph.node_count()
    }

    /// The instructions of a block.
    #[must_use]
    #[inline]
    pub fn instructions(&self, block: NodeIndex) -> Range<u32> {
        self.graph[block].instructions.clone()
    }

    /// The block that an instruction is in.
    #[must_use]
    #[inline]
    pub fn block_of(&self, instruction: Handle<Instruction>) -> NodeIndex {
        NodeIndex::new(self.block_of[instruction.index()] as usize)
    }

    /// Reachable blocks in reverse postorder: apart from loops, a block comes after those it follows.
    #[must_use]
    #[inline]
    pub fn reverse_postorder(&self) -> &[NodeIndex] {
        &self.order
    }

    /// Whether control can come to a block.
    #[must_use]
    #[inline]
    pub fn is_reachable(&self, block: NodeIndex) -> bool {
        self.place[block.index()] != u32::MAX
    }

    /// The place of a reachable block in reverse postorder.
    #[must_use]
    #[inline]
    pub fn place(&self, block: NodeIndex) -> usize {
        self.place[block.index()] as usize
    }

    /// Whether every way to `block` leads through `dominator`. Both must be reachable.
    #[must_use]
    #[inline]
    pub fn dominates(&self, dominator: NodeIndex, block: NodeIndex) -> bool {
        let (first, last) = self.intervals[dominator.index()];
        let (at, _) = self.intervals[block.index()];
        first <= at && at <= last
    }

    /// The nearest other block that every path to a block leads through; none for the entry, and for what no path leads to.
    #[must_use]
    #[inline]
    pub fn immediate_dominator(&self, block: NodeIndex) -> Option<NodeIndex> {
        let dominator = self.dominators[block.index()];
        let is_other = dominator as usize != block.index() && dominator != u32::MAX;
        is_other.then(|| NodeIndex::new(dominator as usize))
    }

    /// The blocks of the loop that leads back from a block to its head; none where there are more than `most`.
    #[must_use]
    pub fn natural_loop(
        &self,
        head: NodeIndex,
        latch: NodeIndex,
        most: usize,
    ) -> Option<FxHashSet<NodeIndex>> {
        let mut blocks = FxHashSet::from_iter([head]);
        let mut pending = vec![latch];
        while let Some(block) = pending.pop() {
            if blocks.insert(block) {
                if blocks.len() > most {
                    return None;
                }
                pending.extend(self.predecessors(block).map(|(before, _)| before));
            }
        }
        Some(blocks)
    }

    /// The reachable blocks in preorder of the dominator tree: a block comes directly before those that it dominates.
    #[must_use]
    pub fn dominator_preorder(&self) -> Vec<NodeIndex> {
        let mut preorder = self.order.clone();
        for &block in &self.order {
            preorder[self.intervals[block.index()].0 as usize] = block;
        }
        preorder
    }

    /// Whether control can go on at several places after a block.
    #[must_use]
    pub fn is_fork(&self, block: NodeIndex) -> bool {
        match self.after.of(block) {
            [] => false,
            // A shared list of targets.
            [(only, _)] => self.graph[*only].instructions.is_empty() && self.after.of(*only).len() > 1,
            _ => true,
        }
    }

    /// The blocks control can come from, with the edges.
    #[inline]
    pub fn predecessors(&self, block: NodeIndex) -> impl Iterator<Item = (NodeIndex, Edge)> {
        self.before.of(block).iter().copied()
    }

    /// The blocks control can go to, with the edges.
    #[inline]
    pub fn successors(&self, block: NodeIndex) -> impl Iterator<Item = (NodeIndex, Edge)> {
        self.after.of(block).iter().copied()
    }

    /// The last instruction of a body that does not end in a return, exit or branch, where it can be reached.
    #[must_use]
    pub fn falls_off(&self) -> Option<Handle<Instruction>> {
        let instruction = Handle::new(self.falls_off?);
        self.is_reachable(self.block_of(instruction)).then_some(instruction)
    }
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
    /// The block of the end of the body, where control can come to that.
    end: Option<NodeIndex>,
    /// The blocks of lists that many branches share.
    lists: FxHashMap<Handle<TargetList>, NodeIndex>,
    /// How many branches go over each list.
    branches: FxHashMap<Handle<TargetList>, usize>,
}

/// More edges than this are not made for one list of targets; the list gets a block of its own.
const MAX_LIST_EDGES: usize = 1024;

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
            end: None,
            lists: FxHashMap::default(),
            branches: FxHashMap::default(),
        }
    }

    fn flow(&self, index: usize) -> Flow {
        let handle = Handle::new(index as u32);
        let guard = self.body.instructions[handle].guard;
        Flow {
            control: self.module.control(self.body, handle),
            condition: Condition::of_guard(guard),
            guarded: guard.is_some(),
        }
    }

    fn find_leaders<'i>(&mut self, instances: impl Iterator<Item = Option<&'i Instance>>) {
        self.leaders[0] = true;
        for (_, label) in self.body.labels.iter() {
            self.leaders[(label.target as usize).min(self.body.instructions.len())] = true;
        }
        for (index, instance) in instances.enumerate() {
            let control = match instance {
                Some(instance) if instance.effects.control == Control::Next => continue,
                _ => self.module.control(self.body, Handle::new(index as u32)),
            };
            if !matches!(control, Control::Next | Control::Call) {
                self.leaders[index + 1] = true;
            }
        }
    }

    fn add_blocks(&mut self) {
        let count = self.body.instructions.len();
        let blocks = self.leaders.iter().filter(|&&is_leader| is_leader).count() + 1;
        // Most blocks end in a branch under a guard, or run into the next one.
        self.graph.reserve_nodes(blocks);
        self.graph.reserve_edges(2 * blocks);
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
            self.end = Some(self.graph.add_node(Block { instructions: count as u32..count as u32 }));
        }
    }

    /// The block at an instruction; none past the last where no label is there.
    fn block_at(&self, instruction: u32) -> Option<NodeIndex> {
        let block = self.block_of.get(instruction as usize);
        block.map(|&block| NodeIndex::new(block as usize)).or(self.end)
    }

    fn count_branches(&mut self) {
        for operand in &self.body.operands {
            if let Operand::Targets(list) = *operand {
                *self.branches.entry(list).or_default() += 1;
            }
        }
    }

    fn add_edges(&mut self) {
        self.count_branches();
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
        if let Some(target) = self.block_at(next) {
            self.graph.add_edge(block, target, Edge { condition, index: None });
        }
        if !has_next {
            self.falls_off = Some(next - 1);
        }
    }

    fn add_targets(&mut self, block: NodeIndex, instruction: u32, flow: &Flow) {
        let operands = self.body.operands(Handle::new(instruction));
        for &operand in operands {
            match operand {
                Operand::Label(label) => self.add_label(block, label, flow.condition, None),
                Operand::Targets(list) => self.add_list(block, list, flow.condition),
                _ => {}
            }
        }
    }

    /// Leads a branch over a list to the targets.
    fn add_list(&mut self, block: NodeIndex, list: Handle<TargetList>, condition: Option<Condition>) {
        let body = self.body;
        let targets = &body.targets[list].targets;
        let labels = (0..).zip(targets).filter_map(|(index, target)| match *target {
            Operand::Label(label) => Some((Some(index), label)),
            _ => None,
        });
        let branches = self.branches.get(&list).copied().unwrap_or(0);
        if branches < 2 || branches.saturating_mul(targets.len()) <= MAX_LIST_EDGES {
            labels.for_each(|(index, label)| self.add_label(block, label, condition, index));
            return;
        }
        let node = match self.lists.get(&list) {
            Some(&node) => node,
            None => {
                let count = body.instructions.len() as u32;
                let node = self.graph.add_node(Block { instructions: count..count });
                self.lists.insert(list, node);
                labels.for_each(|(index, label)| self.add_label(node, label, None, index));
                node
            }
        };
        self.graph.add_edge(block, node, Edge { condition, index: None });
    }

    fn add_label(
        &mut self,
        block: NodeIndex,
        label: Handle<Label>,
        condition: Option<Condition>,
        index: Option<u32>,
    ) {
        if let Some(target) = self.block_at(self.body.labels[label].target) {
            self.graph.add_edge(block, target, Edge { condition, index });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cfg;
    use crate::lower::lower;

    /// A kernel with `branches` branches over one list of `labels` labels, and its graph.
    fn over_one_list(branches: usize, labels: usize) -> Cfg {
        let list: Vec<String> = (0..labels).map(|label| format!("L{label}")).collect();
        let mut text =
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 %r<2>;\n".to_owned();
        text.push_str(&format!("T: .branchtargets {};\n", list.join(", ")));
        text.push_str(&"brx.idx %r1, T;\n".repeat(branches));
        text.extend(list.iter().map(|label| format!("{label}: mov.u32 %r1, 1;\n")));
        text.push_str("ret;\n}\n");
        let parse = ptx_syntax::parse(&text);
        let lowered = lower(&parse.tree, &text);
        assert!(parse.errors.is_empty() && lowered.problems.is_empty());
        let body = lowered.module.functions.iter().find_map(|(_, function)| function.body.as_ref()).unwrap();
        Cfg::new(&lowered.module, body)
    }

    #[test]
    fn many_branches_share_a_list_of_targets() {
        let cfg = over_one_list(300, 500);
        assert!(cfg.graph().edge_count() < 2 * (300 + 500), "{}", cfg.graph().edge_count());
        let first = cfg.reverse_postorder()[0];
        assert!(cfg.is_fork(first));
        let (list, _) = cfg.successors(first).next().unwrap();
        assert!(cfg.instructions(list).is_empty());
        assert_eq!(cfg.successors(list).count(), 500);
    }

    #[test]
    fn few_branches_lead_to_the_targets_themselves() {
        let cfg = over_one_list(1, 500);
        assert_eq!(cfg.successors(cfg.reverse_postorder()[0]).count(), 500);
    }
}
