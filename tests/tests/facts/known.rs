//! A kernel with the graph of its values, and which of them a thread writes.

use std::collections::HashMap;

use ptx_ir::ir::{Module, Register};
use ptx_tests::emulate::{Program, Write};
use ptx_verify::facts::FunctionFacts;
use ptx_verify::facts::values::{Graph, ValueId};

/// A use that writes a register, and the value that it writes.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    pub instruction: u32,
    pub at: usize,
    pub register: Register,
    pub value: ValueId,
}

pub struct Known<'m> {
    pub facts: FunctionFacts<'m>,
    pub graph: Graph,
    /// The instructions of each line.
    instructions: HashMap<u32, Vec<u32>>,
}

/// The module of a text.
pub fn lowered(text: &str) -> Module {
    let parse = ptx_syntax::parse(text);
    ptx_ir::lower::lower(&parse.tree, text).module
}

impl<'m> Known<'m> {
    /// The only kernel of a module.
    pub fn new(text: &str, module: &'m Module) -> Self {
        let kernel = module.functions.iter().find(|(_, function)| function.body.is_some());
        let facts = FunctionFacts::new(module, kernel.unwrap().0).unwrap();
        let graph = Graph::new(&facts);
        let mut instructions: HashMap<u32, Vec<u32>> = HashMap::new();
        for handle in facts.body.instructions.handles() {
            let before = &text[..facts.body.span(handle).start as usize];
            let line = before.matches('\n').count() as u32 + 1;
            instructions.entry(line).or_default().push(handle.index() as u32);
        }
        Self { facts, graph, instructions }
    }

    fn name(&self, register: Register) -> String {
        let (module, body) = (self.facts.module, self.facts.body);
        let group = body.group(register).unwrap();
        let name = module.name(group.name);
        match group.range {
            Some(_) => format!("{name}{}", register.0 - group.first.0),
            None => name.to_owned(),
        }
    }

    /// The use that a write is of; none where several statements of a line write the register.
    pub fn written(&self, program: &Program, write: &Write<'_>) -> Option<Written> {
        let (line, _) = program.position(write.function, write.statement);
        let uses = self.facts.uses();
        let mut found = self.instructions.get(&line)?.iter().flat_map(|&instruction| {
            let writes = uses.range(instruction).filter(|&at| {
                let each = uses.all()[at];
                each.access().writes() && self.name(each.register) == write.register
            });
            writes.map(move |at| (instruction, at))
        });
        let (instruction, at) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        let value = self.graph.written(at)?;
        Some(Written { instruction, at, register: uses.all()[at].register, value })
    }
}
