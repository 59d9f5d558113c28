//! `dump --facts`: what the analyses know at each instruction.

use std::io::{self, Write};

use ptx_ir::ir::{Function, Handle, Module, Register};
use ptx_verify::dataflow::carry::{self, CarryFacts};
use ptx_verify::dataflow::initialization::{Unset, entry_registers, unset_reads};
use ptx_verify::dataflow::paths::{Origin, Reaching};
use ptx_verify::dataflow::values::{Address, Bits, Form, Object, Value, Values};
use ptx_verify::dataflow::{FunctionFacts, for_each_register};
use ptx_verify::facts::uniformity::{Divergent, Level, Uniformity};
use ptx_verify::facts::values::{self as graph, Graph};

use super::operand::{instruction, register};

/// Writes every function that has a body.
pub fn facts(out: &mut dyn Write, module: &Module) -> io::Result<()> {
    for handle in module.functions.handles() {
        if let Some(facts) = FunctionFacts::new(module, handle) {
            write_function(out, &facts)?;
        }
    }
    Ok(())
}

/// What the analyses found in a function.
struct Known<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    carry: CarryFacts,
    unset: Vec<Unset>,
    values: Values,
    graph: Graph,
    uniformity: Uniformity,
}

fn write_function(out: &mut dyn Write, facts: &FunctionFacts<'_>) -> io::Result<()> {
    let Function { name, .. } = facts.function;
    writeln!(out, "{}", facts.module.name(*name))?;
    let values = Values::new(facts);
    let graph = Graph::new(facts);
    let uniformity = Uniformity::new(facts, &graph, graph::Values::of_whole_warps(facts, &graph));
    let mut carry = carry::analyze(facts);
    carry.readers.sort_by_key(|reader| reader.instruction);
    carry.unread.sort_unstable();
    let known =
        Known { facts, carry, unset: unset_reads(facts, entry_registers(facts)), values, graph, uniformity };
    if known.carry.unknown {
        writeln!(out, "  the carry flag was not followed everywhere")?;
    }
    for index in 0..facts.body.instructions.len() as u32 {
        let handle = Handle::new(index);
        let unreachable =
            if facts.cfg.is_reachable(facts.cfg.block_of(handle)) { "" } else { "  ; unreachable" };
        writeln!(out, "  {index:>5}: {}{unreachable}", instruction(facts.module, facts.body, handle))?;
        for line in known.lines(index) {
            writeln!(out, "           {line}")?;
        }
    }
    Ok(())
}

/// Those of an instruction in a list that is sorted by instruction.
fn of<T>(all: &[T], index: u32, instruction: impl Fn(&T) -> u32) -> &[T] {
    let first = all.partition_point(|each| instruction(each) < index);
    let rest = &all[first..];
    &rest[..rest.partition_point(|each| instruction(each) == index)]
}

impl Known<'_, '_> {
    /// What is known at an instruction, a fact a line.
    fn lines(&self, index: u32) -> Vec<String> {
        let mut lines = Vec::new();
        for reader in of(&self.carry.readers, index, |reader| reader.instruction) {
            lines.push(format!("carry {}", self.reaching(&reader.reaching)));
        }
        if !of(&self.carry.unread, index, |&instruction| instruction).is_empty() {
            lines.push("carry is read by nothing".to_owned());
        }
        for unset in of(&self.unset, index, |unset| unset.instruction) {
            let certainty = if unset.certain { "is" } else { "may be" };
            let name = self.name(unset.register);
            lines.push(format!("{name} {certainty} unset: {}", self.reaching(&unset.reaching)));
        }
        for divergent in of(self.uniformity.divergent(), index, |divergent: &Divergent| divergent.instruction)
        {
            lines.push(format!("not all threads come here: {:?}", divergent.cause));
        }
        for written in self.written(index) {
            lines.extend(self.register(index, written));
        }
        lines
    }

    fn written(&self, index: u32) -> Vec<Register> {
        let mut written = Vec::new();
        for_each_register(self.facts.module, self.facts.body, Handle::new(index), |register, access| {
            if access.writes() && !written.contains(&register) {
                written.push(register);
            }
        });
        written
    }

    /// What is known of a register, over all of the function, where it is anything.
    fn register(&self, index: u32, number: Register) -> Option<String> {
        let value = match self.values.of(number) {
            Value::Unset | Value::Any => None,
            Value::Number(bits) => number_text(bits),
            Value::Address(address) => Some(self.address(address)),
        };
        let uses = self.facts.uses();
        let written = uses
            .range(index)
            .find_map(|at| self.graph.written(at).filter(|_| uses.all()[at].register == number));
        let level = written.and_then(|value| self.uniformity.of(self.graph.after(value)).level());
        let variance = level.map(|level| match level {
            Level::Warps => "differs between warps".to_owned(),
            Level::Lanes => "differs between lanes".to_owned(),
        });
        let known: Vec<String> = value.into_iter().chain(variance).collect();
        (!known.is_empty()).then(|| format!("{}: {}", self.name(number), known.join(", ")))
    }

    fn address(&self, address: Address) -> String {
        let variable = |handle| {
            let variable: &ptx_ir::ir::Variable = &self.facts.module.variables[handle];
            self.facts.module.name(variable.name).to_owned()
        };
        let object = match address.object {
            Object::Variable(handle) => variable(handle),
            Object::Mapped(handle) => format!("{} of a block of the cluster", variable(handle)),
            Object::Pointee(handle) => format!("what {} points to", variable(handle)),
            Object::Unknown => "something".to_owned(),
            Object::Number => "a number".to_owned(),
        };
        let form = match address.form {
            Form::Space => "",
            Form::Generic => "generic ",
            Form::Unknown => "generic or plain ",
        };
        let offset = number_text(address.offset).map_or_else(String::new, |text| format!(" + {text}"));
        format!("{form}address in {} of {object}{offset}", address.space)
    }

    fn reaching(&self, reaching: &Reaching) -> String {
        let mut parts = Vec::new();
        if !reaching.writers.is_empty() {
            let writers: Vec<String> = reaching.writers.iter().map(ToString::to_string).collect();
            parts.push(format!("from {}", writers.join(", ")));
        }
        match reaching.undefined.as_ref().map(|undefined| undefined.origin) {
            Some(Origin::Entry) => parts.push("undefined since the entry".to_owned()),
            Some(Origin::Call(call)) => parts.push(format!("undefined since the call at {call}")),
            None => {}
        }
        if reaching.unknown {
            parts.push("not followed to the end".to_owned());
        }
        parts.join(", ")
    }

    fn name(&self, number: Register) -> String {
        register(self.facts.module, self.facts.body, number)
    }
}

/// A number as far as its bits are known.
fn number_text(bits: Bits) -> Option<String> {
    match (bits.value(), bits.known) {
        (Some(value), _) => Some(value.to_string()),
        (None, 0) => None,
        (None, known) => Some(format!("{} modulo 2^{known}", bits.low)),
    }
}
