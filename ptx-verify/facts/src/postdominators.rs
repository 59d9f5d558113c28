//! Where paths come together: dominators of the reversed graph of control flow.

use petgraph::graph::{DiGraph, NodeIndex};
use ptx_ir::cfg::Cfg;
use ptx_ir::dominators::{immediate_dominators, in_few_turns};

/// For each block the nearest other one that all paths from it lead through; the number of blocks where that is the end of
/// the function, `u32::MAX` where no path leads to that. Of the edges from one block to another only those count that
/// `keeps` says, and a block at whose end the function is left is no end where `ends` says so.
pub(crate) fn common_successors(
    cfg: &Cfg,
    keeps: impl Fn(NodeIndex, NodeIndex) -> bool,
    ends: impl Fn(NodeIndex) -> bool,
) -> Vec<u32> {
    let count = cfg.block_count();
    let leaves = |block: NodeIndex| {
        let (mut leaves, mut edges) = (true, 0);
        for (_, edge) in cfg.successors(block) {
            leaves &= edge.condition.is_some();
            edges += 1;
        }
        leaves && edges < 2 && ends(block)
    };
    let ends: Vec<NodeIndex> = cfg.graph().node_indices().filter(|&block| leaves(block)).collect();
    in_few_turns_from(cfg, &ends, &keeps).unwrap_or_else(|| {
        let mut reversed: DiGraph<(), ()> = DiGraph::with_capacity(count + 1, 2 * count);
        for _ in 0..=count {
            reversed.add_node(());
        }
        for block in cfg.graph().node_indices() {
            for (next, _) in cfg.successors(block).filter(|(next, _)| keeps(block, *next)) {
                reversed.add_edge(next, block, ());
            }
        }
        let exit = NodeIndex::new(count);
        for &block in &ends {
            reversed.add_edge(exit, block, ());
        }
        immediate_dominators(&reversed, exit)
    })
}

/// The same where few turns over the blocks are enough, as they are in most functions. `ends` are the blocks that the function
/// is left at.
fn in_few_turns_from(
    cfg: &Cfg,
    ends: &[NodeIndex],
    keeps: &impl Fn(NodeIndex, NodeIndex) -> bool,
) -> Option<Vec<u32>> {
    let exit = cfg.block_count();
    let mut is_end = vec![false; exit + 1];
    ends.iter().for_each(|block| is_end[block.index()] = true);
    // In postorder of a walk from the end.
    let mut order: Vec<usize> = Vec::with_capacity(exit + 1);
    let mut seen = vec![false; exit];
    let before = |block: NodeIndex| {
        let all = cfg.predecessors(block).map(|(before, _)| before);
        all.filter(move |&before| keeps(before, block))
    };
    let mut open = Vec::new();
    for &end in ends {
        if std::mem::replace(&mut seen[end.index()], true) {
            continue;
        }
        open.push((end, before(end)));
        while let Some((block, rest)) = open.last_mut() {
            match rest.next() {
                Some(next) if !std::mem::replace(&mut seen[next.index()], true) => {
                    open.push((next, before(next)));
                }
                Some(_) => {}
                None => {
                    order.push(block.index());
                    open.pop();
                }
            }
        }
    }
    order.push(exit);
    in_few_turns(exit + 1, order.into_iter().rev(), |block| {
        let node = NodeIndex::new(block);
        let is_block = block < exit;
        let after = is_block.then(|| cfg.successors(node)).into_iter().flatten();
        let kept = after.map(|(next, _)| next).filter(move |&next| keeps(node, next));
        kept.map(NodeIndex::index).chain(is_end[block].then_some(exit))
    })
}
