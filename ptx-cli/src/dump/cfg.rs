//! `dump --cfg`: the control flow graph of each function, as text or for Graphviz.

use std::io::{self, Write};

use ptx_ir::cfg::{Cfg, Edge};
use ptx_ir::ir::{Body, Function, Handle, Module};

use super::operand::{instruction, register};

/// Writes the blocks of every function in the order of the text, with their edges.
pub fn cfg(out: &mut dyn Write, module: &Module) -> io::Result<()> {
    for (name, body) in bodies(module) {
        let cfg = Cfg::new(module, body);
        writeln!(out, "{name}")?;
        for block in cfg.graph().node_indices() {
            let place = if cfg.is_reachable(block) { "" } else { " unreachable" };
            writeln!(out, "  block {}{place}", block.index())?;
            for index in cfg.instructions(block) {
                writeln!(out, "    {index:>5}: {}", instruction(module, body, Handle::new(index)))?;
            }
            for (target, edge) in cfg.successors(block) {
                writeln!(out, "    -> block {}{}", target.index(), condition(module, body, edge))?;
            }
        }
    }
    Ok(())
}

/// Writes the graphs of all functions as one graph in Graphviz's language.
pub fn dot(out: &mut dyn Write, module: &Module) -> io::Result<()> {
    writeln!(out, "digraph ptx {{\n  node [shape=box, fontname=monospace, fontsize=10];")?;
    for (number, (name, body)) in bodies(module).enumerate() {
        let cfg = Cfg::new(module, body);
        writeln!(out, "  subgraph cluster_{number} {{\n    label=\"{}\";", escape(name))?;
        for block in cfg.graph().node_indices() {
            let lines = cfg.instructions(block).map(|index| instruction(module, body, Handle::new(index)));
            // `\l` ends a line that is set to the left.
            let text: String = lines.map(|line| escape(&line) + "\\l").collect();
            let style = if cfg.is_reachable(block) { "" } else { ", style=dashed" };
            writeln!(out, "    f{number}b{} [label=\"{text}\"{style}];", block.index())?;
            for (target, edge) in cfg.successors(block) {
                let label = escape(condition(module, body, edge).trim_start());
                let (from, to) = (block.index(), target.index());
                writeln!(out, "    f{number}b{from} -> f{number}b{to} [label=\"{label}\"];")?;
            }
        }
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")
}

fn bodies<'m>(module: &'m Module) -> impl Iterator<Item = (&'m str, &'m Body)> {
    let with_body = |function: &'m Function| Some((module.name(function.name), function.body.as_ref()?));
    module.functions.iter().filter_map(move |(_, function)| with_body(function))
}

fn condition(module: &Module, body: &Body, edge: Edge) -> String {
    let Some(condition) = edge.condition else { return String::new() };
    let negation = if condition.value { "" } else { "!" };
    format!(" if {negation}{}", register(module, body, condition.register))
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
