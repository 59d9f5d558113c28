//! `dump --facts`: what the analyses know at each instruction.

use std::io::{self, Write};

use ptx_ir::ir::{Function, Handle, Module, Register};
use ptx_verify::facts::FunctionFacts;
use ptx_verify::facts::carry::{self, CarryFacts};
use ptx_verify::facts::initialization::{Surroundings, Unset, entry_registers, unset_reads};
use ptx_verify::facts::paths::{Origin, Reaching};
use ptx_verify::facts::registers::for_each_register;
use ptx_verify::facts::uniformity::{Divergent, Level, Uniformity};
use ptx_verify::facts::values::number::Number;
use ptx_verify::facts::values::pointer::{Notation, Object, Pointer};
use ptx_verify::facts::values::{Graph, ValueId, Values, Variable};

use super::operand::{instruction, register};
use super::sum::sum_text;

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
    pointers: Vec<Option<Pointer>>,
    graph: Graph,
    uniformity: Uniformity,
}

fn write_function(out: &mut dyn Write, facts: &FunctionFacts<'_>) -> io::Result<()> {
    let Function { name, .. } = facts.function;
    writeln!(out, "{}", facts.module.name(*name))?;
    let graph = Graph::new(facts);
    let mut values = None;
    let mut carry = carry::analyze(facts, &graph, &mut values);
    carry.readers.sort_by_key(|reader| reader.instruction);
    carry.unread.sort_unstable();
    let is_set = entry_registers(facts);
    let around = Surroundings { is_set: &is_set, last: u32::MAX, optimized: false };
    let unset = unset_reads(facts, &graph, &mut values, around);
    let values = values.unwrap_or_else(|| Values::new(facts, &graph));
    let pointers = values.pointers(facts, &graph);
    let uniformity = Uniformity::new(facts, &graph, Values::of_whole_warps(facts, &graph));
    let known = Known { facts, carry, unset, values, pointers, graph, uniformity };
    if !known.uniformity.is_known() {
        writeln!(out, "  what differs between threads was not followed to the end")?;
    }
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
        let block = self.facts.cfg.block_of(Handle::new(index));
        if self.facts.cfg.instructions(block).start == index {
            lines.extend(self.graph.joins(block).iter().filter_map(|&join| self.joined(join)));
        }
        for written in self.written(index) {
            lines.extend(self.register(index, written));
        }
        lines
    }

    /// What is known of a value that joins those of several paths.
    fn joined(&self, join: ValueId) -> Option<String> {
        let Variable::Register(number) = self.graph.variable(join) else { return None };
        let known = self.known(join);
        (!known.is_empty()).then(|| format!("{} before this: {}", self.name(number), known.join(", ")))
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

    /// What is known of what an instruction writes to a register, where it is anything.
    fn register(&self, index: u32, number: Register) -> Option<String> {
        let uses = self.facts.uses();
        let written = uses
            .range(index)
            .find_map(|at| self.graph.written(at).filter(|_| uses.all()[at].register == number))?;
        let known = self.known(self.graph.after(written));
        (!known.is_empty()).then(|| format!("{}: {}", self.name(number), known.join(", ")))
    }

    fn known(&self, value: ValueId) -> Vec<String> {
        let vary = self.uniformity.of(value).level().map(|level| match level {
            Level::Warps => "differs between warps".to_owned(),
            Level::Lanes => "differs between lanes".to_owned(),
        });
        let sum = sum_text(self.facts, &self.graph, &self.values, value).map(|sum| format!("= {sum}"));
        self.value(value).into_iter().chain(sum).chain(vary).collect()
    }

    fn value(&self, value: ValueId) -> Option<String> {
        value_text(self.facts, &self.values, self.pointers[value.index()], value)
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

/// What is known of a value, as text: where it points to, or its bits and limits. None where nothing is.
pub fn value_text(
    facts: &FunctionFacts<'_>,
    values: &Values,
    pointer: Option<Pointer>,
    value: ValueId,
) -> Option<String> {
    let fact = values.of(value)?;
    let sum = values.forms().sum(fact.form);
    let Some(pointer) = pointer else { return number_text(fact.number) };
    let variable = |handle| {
        let variable: &ptx_ir::ir::Variable = &facts.module.variables[handle];
        facts.module.name(variable.name).to_owned()
    };
    let object = match pointer.object {
        Object::Variable(handle) => variable(handle),
        Object::Mapped(handle) => format!("{} of a block of the cluster", variable(handle)),
        Object::Pointee(handle) => format!("what {} points to", variable(handle)),
        Object::Unknown => "something".to_owned(),
    };
    let notation = match pointer.notation {
        Notation::Space => "",
        Notation::Generic => "generic ",
        Notation::Unknown => "generic or plain ",
    };
    let distance = match (sum.terms().count(), sum.offset()) {
        (1, offset) => format!(" + {offset}"),
        _ => number_text(fact.number).map_or_else(String::new, |text| format!(", {text}")),
    };
    Some(format!("{notation}address in {} of {object}{distance}", pointer.space))
}

/// A number as far as its bits and limits are known.
fn number_text(number: Number) -> Option<String> {
    let unknown = Number::unknown(u32::from(number.width));
    let low = number.known_low();
    let bits = (low > 0).then(|| {
        let modulus = 1_u64.checked_shl(low).unwrap_or(0);
        format!("{} modulo 2^{low}", number.ones & modulus.wrapping_sub(1))
    });
    let is_limited = number.low > unknown.low || number.high < unknown.high;
    let limits = is_limited.then(|| format!("{} to {}", number.low, number.high));
    match number.value() {
        Some(value) => Some(value.to_string()),
        None => bits.into_iter().chain(limits).reduce(|bits, limits| format!("{bits}, {limits}")),
    }
}
