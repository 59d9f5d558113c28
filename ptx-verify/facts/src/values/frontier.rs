//! Dominance frontiers: the blocks at which what a block sets meets what other paths set.
//!
//! Cytron, Ferrante, Rosen, Wegman, Zadeck: *Efficiently computing static single assignment form and the control
//! dependence graph*, 1991; found from the edges into joins, as Cooper, Harvey and Kennedy do.

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Cfg;

/// The dominance frontiers of all blocks.
pub(super) struct Frontiers {
    starts: Vec<u32>,
    blocks: Vec<u32>,
}

/// Loops that are nested deeply have frontiers as long as they are deep. This many entries a block are kept.
const MAX_PER_BLOCK: usize = 32;
/// As many entries any function may have.
const MIN_ENTRIES: usize = 4096;

impl Frontiers {
    /// The frontiers; none where they are too long in all.
    pub(super) fn new(cfg: &Cfg) -> Option<Self> {
        let limit = MIN_ENTRIES + MAX_PER_BLOCK * cfg.block_count();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        // Where each block was last told of.
        let mut told = vec![u32::MAX; cfg.block_count()];
        for &join in cfg.reverse_postorder() {
            let is_entry = cfg.immediate_dominator(join).is_none();
            let before = || cfg.predecessors(join).filter(|(before, _)| cfg.is_reachable(*before));
            // The start of the function comes before the entry, too.
            if before().count() + usize::from(is_entry) < 2 {
                continue;
            }
            for (source, _) in before() {
                let mut runner = Some(source);
                while runner != cfg.immediate_dominator(join)
                    && let Some(block) = runner
                    && told[block.index()] != join.index() as u32
                {
                    told[block.index()] = join.index() as u32;
                    pairs.push((block.index() as u32, join.index() as u32));
                    runner = cfg.immediate_dominator(block);
                }
                if pairs.len() > limit {
                    return None;
                }
            }
        }
        let mut starts = vec![0_u32; cfg.block_count() + 2];
        pairs.iter().for_each(|(block, _)| starts[*block as usize + 2] += 1);
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut blocks = vec![0; pairs.len()];
        for (block, join) in pairs {
            let next = &mut starts[block as usize + 1];
            blocks[*next as usize] = join;
            *next += 1;
        }
        Some(Self { starts, blocks })
    }

    pub(super) fn of(&self, block: NodeIndex) -> &[u32] {
        let index = block.index();
        &self.blocks[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}
