//! Counts the instructions of a PTX file by what they are: `cargo run --example count FILE`.

use std::collections::BTreeMap;

use ptx_toolkit::ir::isa;
use ptx_toolkit::{At, Handle, Instruction, Module, RegisterUse, Visitor};

/// What a walk counts.
#[derive(Default)]
pub struct Count {
    /// The number of instructions of each opcode.
    pub opcodes: BTreeMap<String, usize>,
    /// The number of registers that are written, each element of a vector counted.
    pub writes: usize,
}

impl Visitor for Count {
    fn instruction(&mut self, at: At<'_>, instruction: Handle<Instruction>) {
        let spelling = &at.module.spellings[at.body.instructions[instruction].spelling].text;
        *self.opcodes.entry(isa::name(spelling).to_owned()).or_default() += 1;
    }

    fn register(&mut self, _: At<'_>, register: RegisterUse<'_>) {
        self.writes += usize::from(register.access.writes());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let mut count = Count::default();
        Module::parse(&std::fs::read_to_string(&file)?).ok()?.visit(&mut count);
        for (opcode, number) in &count.opcodes {
            println!("{number:8} {opcode}");
        }
        println!("{:8} registers are written", count.writes);
    }
    Ok(())
}
