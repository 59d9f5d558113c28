//! Dominators of a graph.
//!
//! The method of Lengauer and Tarjan, on numbers of a walk in depth, with path compression: n log n in the worst case.
//! The iteration of Cooper, Harvey and Kennedy, which petgraph has, is quadratic where loops nest deeply. Few turns of it are
//! what most graphs need, and far less work: so these are tried first.

use petgraph::graph::{DiGraph, NodeIndex};

const NONE: u32 = u32::MAX;

/// Steps up the tree that all turns may take: in any graph, and for each node.
const MIN_STEPS: usize = 1024;
const STEPS_PER_NODE: usize = 16;

/// What [`immediate_dominators`] finds for the nodes below `count`, where few turns over these are enough: one where all
/// loops have one entry, and some more where few have several. `order` are the nodes that can be reached, in reverse
/// postorder, of which the first is the root; `before` are the predecessors of a node.
#[must_use]
pub fn in_few_turns<I: Iterator<Item = usize>>(
    count: usize,
    order: impl ExactSizeIterator<Item = usize> + Clone,
    before: impl Fn(usize) -> I,
) -> Option<Vec<u32>> {
    let mut places = vec![NONE; count];
    order.clone().enumerate().for_each(|(place, node)| places[node] = place as u32);
    let mut left = MIN_STEPS + STEPS_PER_NODE * order.len();
    // By the place of each node, the place of the one above it in the tree.
    let mut above: Vec<u32> = Vec::with_capacity(order.len());
    // The places of what leads to each, one list after the other.
    let (mut edges, mut starts) = (Vec::with_capacity(2 * order.len()), Vec::with_capacity(order.len() + 1));
    // The edges back, in order of the places that they lead to.
    let mut back: Vec<(u32, u32)> = Vec::new();
    for (place, node) in (0..).zip(order.clone()) {
        let mut nearest = NONE;
        starts.push(edges.len() as u32);
        for other in before(node).map(|before| places[before]).filter(|&other| other != NONE) {
            edges.push(other);
            if other >= place {
                back.push((other, place));
            } else if nearest == NONE {
                nearest = other;
            } else {
                nearest = meeting(&above, nearest, other, &mut left)?;
            }
        }
        above.push(if nearest == NONE { 0 } else { nearest });
    }
    starts.push(edges.len() as u32);
    // What leads back to a node above changes nothing.
    let mut changes = false;
    for &(from, to) in &back {
        changes |= meeting(&above, from, to, &mut left)? != to;
    }
    // What comes before all edges back stays as it is.
    if let Some(first) = back.iter().map(|(_, to)| *to as usize).min().filter(|_| changes) {
        turn_again(&mut above, (&edges, &starts), first.max(1), &mut left)?;
    }
    let nodes: Vec<u32> = order.map(|node| node as u32).collect();
    for (&node, above) in nodes.iter().zip(above) {
        places[node as usize] = nodes[above as usize];
    }
    Some(places)
}

/// The lowest place above two, or one of them.
#[inline]
fn meeting(above: &[u32], mut one: u32, mut other: u32, left: &mut usize) -> Option<u32> {
    while one != other {
        *left = left.checked_sub(1)?;
        let farther = if one > other { &mut one } else { &mut other };
        *farther = above[*farther as usize];
    }
    Some(one)
}

/// Goes over the nodes from one on until the edges back change nothing any more.
fn turn_again(
    above: &mut [u32],
    (edges, starts): (&[u32], &[u32]),
    first: usize,
    left: &mut usize,
) -> Option<()> {
    loop {
        let mut changed = false;
        for place in first..above.len() {
            let mut all = edges[starts[place] as usize..starts[place + 1] as usize].iter().copied();
            let mut nearest = all.next()?;
            for other in all {
                nearest = meeting(above, nearest, other, left)?;
            }
            changed |= std::mem::replace(&mut above[place], nearest) != nearest;
        }
        *left = left.checked_sub(above.len() - first)?;
        if !changed {
            return Some(());
        }
    }
}

/// For each node the nearest other one that every path from `root` to it leads through, as an index of the graph:
/// itself for the root, `u32::MAX` for a node that cannot be reached.
#[must_use]
pub fn immediate_dominators<N, E>(graph: &DiGraph<N, E>, root: NodeIndex) -> Vec<u32> {
    let Walk { nodes, numbers, parents } = Walk::new(graph, root);
    let count = nodes.len();
    let mut forest = Forest {
        ancestors: vec![NONE; count],
        best: (0..count as u32).collect(),
        semidominators: (0..count as u32).collect(),
        path: Vec::new(),
    };
    let mut dominators = vec![0_u32; count];
    // The nodes of each semidominator, as linked lists.
    let (mut first, mut next) = (vec![NONE; count], vec![NONE; count]);
    for node in (1..count).rev() {
        for before in graph.neighbors_directed(nodes[node], petgraph::Incoming) {
            let before = numbers[before.index()];
            if before != NONE {
                let best = forest.best_above(before);
                let semidominator = forest.semidominators[best as usize];
                forest.semidominators[node] = forest.semidominators[node].min(semidominator);
            }
        }
        let semidominator = forest.semidominators[node] as usize;
        next[node] = std::mem::replace(&mut first[semidominator], node as u32);
        let parent = parents[node];
        forest.ancestors[node] = parent;
        let mut open = std::mem::replace(&mut first[parent as usize], NONE);
        while open != NONE {
            let best = forest.best_above(open);
            let is_less = forest.semidominators[best as usize] < forest.semidominators[open as usize];
            dominators[open as usize] = if is_less { best } else { parent };
            open = next[open as usize];
        }
    }
    for node in 1..count {
        if dominators[node] != forest.semidominators[node] {
            dominators[node] = dominators[dominators[node] as usize];
        }
    }
    let mut by_node = vec![NONE; graph.node_count()];
    for (number, node) in nodes.iter().enumerate() {
        by_node[node.index()] = nodes[dominators[number] as usize].index() as u32;
    }
    by_node
}

/// A walk in depth; numbers are given out when it comes to a node first.
struct Walk {
    nodes: Vec<NodeIndex>,
    /// The number of each node of the graph.
    numbers: Vec<u32>,
    /// The number of the node that the walk came from.
    parents: Vec<u32>,
}

impl Walk {
    fn new<N, E>(graph: &DiGraph<N, E>, root: NodeIndex) -> Self {
        let count = graph.node_count();
        let mut walk = Self {
            nodes: Vec::with_capacity(count),
            numbers: vec![NONE; count],
            parents: Vec::with_capacity(count),
        };
        walk.enter(root, 0);
        let mut open = vec![(0, graph.neighbors(root).detach())];
        while let Some((from, edges)) = open.last_mut() {
            match edges.next_node(graph) {
                Some(node) if walk.numbers[node.index()] == NONE => {
                    let number = walk.enter(node, *from);
                    open.push((number, graph.neighbors(node).detach()));
                }
                Some(_) => {}
                None => drop(open.pop()),
            }
        }
        walk
    }

    fn enter(&mut self, node: NodeIndex, parent: u32) -> u32 {
        let number = self.nodes.len() as u32;
        self.numbers[node.index()] = number;
        self.nodes.push(node);
        self.parents.push(parent);
        number
    }
}

/// The part of the walk's tree that is linked so far.
struct Forest {
    ancestors: Vec<u32>,
    /// For each node the one of least semidominator between it and its ancestor, the ancestor excluded.
    best: Vec<u32>,
    semidominators: Vec<u32>,
    /// Kept between calls for its memory.
    path: Vec<u32>,
}

impl Forest {
    /// The node of least semidominator on the path from `node` up to the root of its tree, the root excluded.
    fn best_above(&mut self, node: u32) -> u32 {
        let ancestor = |forest: &Self, node: u32| forest.ancestors[node as usize];
        let mut at = node;
        while ancestor(self, at) != NONE && ancestor(self, ancestor(self, at)) != NONE {
            self.path.push(at);
            at = ancestor(self, at);
        }
        while let Some(below) = self.path.pop() {
            let above = ancestor(self, below) as usize;
            let semidominator = |node: u32| self.semidominators[node as usize];
            if semidominator(self.best[above]) < semidominator(self.best[below as usize]) {
                self.best[below as usize] = self.best[above];
            }
            self.ancestors[below as usize] = self.ancestors[above];
        }
        self.best[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{immediate_dominators, in_few_turns};
    use petgraph::algo::dominators::simple_fast;
    use petgraph::graph::{DiGraph, NodeIndex};
    use petgraph::visit::DfsPostOrder;

    /// What few turns find, if these are enough.
    fn fast(graph: &DiGraph<(), ()>, root: NodeIndex) -> Option<Vec<u32>> {
        let mut order = Vec::new();
        let mut walk = DfsPostOrder::new(graph, root);
        while let Some(node) = walk.next(graph) {
            order.push(node.index());
        }
        order.reverse();
        let before = |node| graph.neighbors_directed(NodeIndex::new(node), petgraph::Incoming);
        in_few_turns(graph.node_count(), order.iter().copied(), |node| before(node).map(NodeIndex::index))
    }

    /// Graphs of a generator of random numbers, loops with several entries and unreachable nodes included.
    #[test]
    fn dominators_are_those_of_petgraph() {
        let mut state = 1_u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let mut enough = 0;
        for _ in 0..2000 {
            let (nodes, edges) = (1 + below(24), below(60));
            let mut graph = DiGraph::new();
            for _ in 0..nodes {
                graph.add_node(());
            }
            for _ in 0..edges {
                let (from, to) = (NodeIndex::new(below(nodes)), NodeIndex::new(below(nodes)));
                graph.add_edge(from, to, ());
            }
            let root = NodeIndex::new(below(nodes));
            let ours = immediate_dominators(&graph, root);
            if let Some(fast) = fast(&graph, root) {
                enough += 1;
                assert_eq!(fast, ours, "{graph:?}");
            }
            let theirs = simple_fast(&graph, root);
            assert_eq!(ours[root.index()], root.index() as u32);
            for node in graph.node_indices().filter(|&node| node != root) {
                let expected = theirs.immediate_dominator(node).map_or(u32::MAX, |each| each.index() as u32);
                assert_eq!(ours[node.index()], expected, "{node:?} of {graph:?}");
            }
        }
        assert!(enough > 1900, "{enough}");
    }
}
