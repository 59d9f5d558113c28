//! Blocks that control may come to again: strongly connected components.

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Cfg;

const NONE: u32 = u32::MAX;

/// By block the number of the component that it is in, of those that have a cycle; none elsewhere. Of the blocks only those
/// count that `keeps` says.
///
/// Tarjan: *Depth-first search and linear graph algorithms*, 1972.
pub(crate) fn cycles(cfg: &Cfg, keeps: impl Fn(NodeIndex) -> bool) -> Vec<Option<u32>> {
    let count = cfg.block_count();
    let mut found = vec![None; count];
    // In which order the walk comes to blocks, and the first of those that are still open and that each leads to.
    let (mut numbers, mut lowest) = (vec![NONE; count], vec![NONE; count]);
    let mut leads_to_itself = vec![false; count];
    let mut open: Vec<NodeIndex> = Vec::new();
    let mut walk = Vec::new();
    let mut next_number = 0;
    for root in cfg.graph().node_indices().filter(|&root| keeps(root)) {
        if numbers[root.index()] != NONE {
            continue;
        }
        let mut entered = Some(root);
        loop {
            if let Some(block) = entered.take() {
                (numbers[block.index()], lowest[block.index()]) = (next_number, next_number);
                next_number += 1;
                open.push(block);
                walk.push((block, cfg.successors(block)));
            }
            let Some((block, rest)) = walk.last_mut() else { break };
            let at = block.index();
            match rest.next().map(|(next, _)| next) {
                Some(next) if !keeps(next) => {}
                Some(next) if numbers[next.index()] == NONE => entered = Some(next),
                // What is no longer open is of another component, and has the highest number.
                Some(next) => {
                    leads_to_itself[at] |= next.index() == at;
                    lowest[at] = lowest[at].min(lowest[next.index()]);
                }
                None => {
                    let block = *block;
                    walk.pop();
                    if let Some((before, _)) = walk.last() {
                        lowest[before.index()] = lowest[before.index()].min(lowest[at]);
                    }
                    if lowest[at] == numbers[at] {
                        close(&mut open, block, &mut lowest, (&leads_to_itself, &mut found));
                    }
                }
            }
        }
    }
    found
}

/// Takes the blocks of the component that was entered at a block from those that are open.
fn close(
    open: &mut Vec<NodeIndex>,
    first: NodeIndex,
    lowest: &mut [u32],
    (leads_to_itself, found): (&[bool], &mut [Option<u32>]),
) {
    let start = open.iter().rposition(|&block| block == first).unwrap_or(0);
    let has_cycle = open.len() - start > 1 || leads_to_itself[first.index()];
    for block in open.drain(start..) {
        lowest[block.index()] = NONE;
        found[block.index()] = has_cycle.then_some(first.index() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::cycles;
    use petgraph::algo::kosaraju_scc;
    use petgraph::graph::NodeIndex;
    use petgraph::visit::NodeFiltered;
    use ptx_ir::cfg::Cfg;
    use std::fmt::Write as _;

    /// Control flow of a generator of random numbers: most blocks end in a branch to some block.
    fn random(state: &mut u64, blocks: usize) -> Cfg {
        let mut below = |limit: usize| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) as usize % limit
        };
        let mut text =
            String::from(".version 8.0\n.target sm_80\n.address_size 64\n.func f() {\n.reg .pred %p<1>;\n");
        for block in 0..blocks {
            let (guard, to) = (["", "@%p0 "][below(2)], below(blocks));
            let _ = writeln!(text, "B{block}:");
            let _ = if below(4) == 0 { Ok(()) } else { writeln!(text, "{guard}bra B{to};") };
        }
        text.push_str("ret;\n}\n");
        let module = ptx_ir::lower::lower(&ptx_syntax::parse(&text).tree, &text).module;
        let (_, function) = module.functions.iter().next().unwrap();
        Cfg::new(&module, function.body.as_ref().unwrap())
    }

    #[test]
    fn components_are_those_of_petgraph() {
        let mut state = 1;
        for round in 0..300 {
            let cfg = random(&mut state, 1 + round % 17);
            let keeps = |block: NodeIndex| block.index() % 5 != round % 7;
            let ours = cycles(&cfg, keeps);
            let filtered = NodeFiltered::from_fn(cfg.graph(), keeps);
            for component in kosaraju_scc(&filtered) {
                let has_cycle =
                    component.len() > 1 || cfg.successors(component[0]).any(|(next, _)| next == component[0]);
                let number = ours[component[0].index()];
                assert_eq!(number.is_some(), has_cycle);
                for block in cfg.graph().node_indices() {
                    let is_inside = component.contains(&block);
                    assert_eq!(has_cycle && is_inside, has_cycle && ours[block.index()] == number);
                }
            }
        }
    }
}
