//! What does not differ between threads.

use std::collections::HashMap;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_tests::emulate::{End, Program};
use ptx_tests::judge::{Inputs, executed};
use ptx_verify::facts::uniformity::{Level, Uniformity};
use ptx_verify::facts::values::Values;

use super::known::{Known, lowered};

/// What a thread has written: the bits, and those that are undefined.
type Bits = (u64, u64);

/// In executions in which all threads come where they have to, those that a value is said not to differ between have
/// written the same. How often that was compared.
pub fn hold(text: &str) -> Result<usize, String> {
    let module = lowered(text);
    let known = Known::new(text, &module);
    let (facts, graph) = (&known.facts, &known.graph);
    let uniformity = Uniformity::new(facts, graph, Values::of_whole_warps(facts, graph));
    // Which lanes `activemask` finds together is up to the hardware.
    if !uniformity.is_known() || text.contains("activemask") {
        return Ok(0);
    }
    let program = Program::read(text);
    let loops = in_loops(&known);
    let mut looked = 0;
    for (turn, input) in Inputs::new(text).take(6).enumerate() {
        if input.launch("", 0).threads % 32 != 0 {
            continue;
        }
        // For each use the writes of each thread, one after the other.
        let mut writes: HashMap<usize, HashMap<u32, Vec<Bits>>> = HashMap::new();
        let outcome = executed(&program, &input, turn, |write| {
            if let Some(written) = known.written(&program, write) {
                let of_use = writes.entry(written.at).or_default();
                of_use.entry(write.thread).or_default().push((write.bits, write.undefined));
            }
            Ok(())
        })?;
        if outcome.end != End::Finished || !outcome.faults.is_empty() {
            continue;
        }
        for (&at, threads) in &writes {
            let value = graph.written(at).unwrap();
            let vary = uniformity.of(value);
            let ptx_verify::facts::values::Kind::Computed { instruction, .. } = graph.kind(value) else {
                continue;
            };
            let block = facts.cfg.block_of(Handle::new(instruction));
            let is_in_loop = loops[block.index()];
            // Turns can be told apart only where all threads make them.
            let together =
                |level| !is_in_loop || uniformity.cause(facts, graph, instruction, level).is_none();
            let mut compare = |differs: u64, level: Level| {
                let mut first: HashMap<(u32, usize), (u32, Bits)> = HashMap::new();
                for (&thread, bits) in threads {
                    for (index, &(bits, undefined)) in bits.iter().enumerate() {
                        let group = if level == Level::Lanes { thread / 32 } else { 0 };
                        let (other, known) =
                            *first.entry((group, index)).or_insert((thread, (bits, undefined)));
                        let wrong = (bits ^ known.0) & !(differs | undefined | known.1);
                        looked += usize::from(other != thread);
                        if wrong != 0 {
                            let span = facts.body.span(Handle::new(instruction));
                            return Err(format!(
                                "{input}: {}, time {index}: {bits:#x} in thread {thread}, {:#x} in thread {other}: {vary:?}",
                                span.text(text),
                                known.0
                            ));
                        }
                    }
                }
                Ok(())
            };
            let all = u64::MAX;
            if vary.lanes != all && together(Level::Lanes) {
                compare(vary.lanes, Level::Lanes)?;
            }
            if vary.lanes | vary.warps != all && together(Level::Warps) {
                compare(vary.lanes | vary.warps, Level::Warps)?;
            }
        }
    }
    Ok(looked)
}

/// The blocks that control can come back to.
fn in_loops(known: &Known<'_>) -> Vec<bool> {
    let graph = known.facts.cfg.graph();
    let mut loops = vec![false; known.facts.cfg.block_count()];
    for blocks in kosaraju_scc(graph) {
        let is_loop = blocks.len() > 1 || graph.contains_edge(blocks[0], blocks[0]);
        blocks.into_iter().for_each(|block: NodeIndex| loops[block.index()] = is_loop);
    }
    loops
}
