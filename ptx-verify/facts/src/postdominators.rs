//! Where paths come together: dominators of the reversed graph of control flow.

use petgraph::graph::{DiGraph, NodeIndex};
use ptx_ir::cfg::Cfg;
use ptx_ir::dominators::immediate_dominators;

/// For each block the nearest other one that all paths from it lead through; the number of blocks where that is the end of
/// the function, `u32::MAX` where no path leads to that. Of the edges from one block to another only those count that
/// `keeps` says, and a block at whose end the function is left is no end where `ends` says so.
pub(crate) fn common_successors(
    cfg: &Cfg,
    keeps: impl Fn(NodeIndex, NodeIndex) -> bool,
    ends: impl Fn(NodeIndex) -> bool,
) -> Vec<u32> {
    let count = cfg.block_count();
    let mut reversed: DiGraph<(), ()> = DiGraph::with_capacity(count + 1, 2 * count);
    for _ in 0..=count {
        reversed.add_node(());
    }
    let exit = NodeIndex::new(count);
    for block in cfg.graph().node_indices() {
        let (mut leaves, mut edges) = (true, 0);
        for (next, edge) in cfg.successors(block) {
            if keeps(block, next) {
                reversed.add_edge(next, block, ());
            }
            leaves &= edge.condition.is_some();
            edges += 1;
        }
        if leaves && edges < 2 && ends(block) {
            reversed.add_edge(exit, block, ());
        }
    }
    immediate_dominators(&reversed, exit)
}
