//! Sums: what a value is said to be of others is computed from what the thread has written before.

use std::collections::HashMap;

use ptx_ir::ir::Register;
use ptx_ir::isa::Computation;
use ptx_tests::emulate::{Program, Write};
use ptx_tests::judge::{Inputs, executed};
use ptx_verify::facts::values::linear::{Base, BaseId, Form, Sum};
use ptx_verify::facts::values::{Kind, ValueId, Values, Variable};

use super::known::{Known, Written, lowered};

/// Whatever a thread writes is the sum that the value is said to be. How often that was computed.
pub fn hold(text: &str) -> Result<usize, String> {
    let module = lowered(text);
    let known = Known::new(text, &module);
    let program = Program::read(text);
    let told = told(&known);
    let mut looked = 0;
    for whole_warps in [false, true] {
        let values = match whole_warps {
            true => Values::of_whole_warps(&known.facts, &known.graph),
            false => Values::new(&known.facts, &known.graph),
        };
        for (turn, input) in Inputs::new(text).take(4).enumerate() {
            let launch = input.launch("", 0);
            if whole_warps && launch.threads % 32 != 0 {
                continue;
            }
            let specials =
                [("%ntid.x", launch.threads), ("%ctaid.x", launch.block), ("%nctaid.x", launch.blocks)];
            let mut run = Run {
                known: &known,
                values: &values,
                specials,
                told: &told,
                same: HashMap::new(),
                operations: HashMap::new(),
                threads: HashMap::new(),
                looked: 0,
                defined: true,
            };
            executed(&program, &input, turn, |write| run.write(&program, write))?;
            looked += run.looked;
        }
    }
    Ok(looked)
}

/// The blocks that no thread passes without writing a register.
fn told(known: &Known<'_>) -> Vec<bool> {
    let facts = &known.facts;
    let writes = |instruction: u32| {
        !facts.is_guarded(instruction)
            && facts.uses().of(instruction).iter().any(|each| each.access().writes())
    };
    facts.cfg.graph().node_indices().map(|block| facts.cfg.instructions(block).any(writes)).collect()
}

/// What an operation computes, and the numbers of its operands.
type Operation = (Computation, u64, [Option<u64>; 3]);

/// An execution.
struct Run<'k, 'm> {
    known: &'k Known<'m>,
    values: &'k Values,
    specials: [(&'static str, u32); 3],
    /// The blocks that a thread does not pass without a write. Of others it is not told when a thread comes there.
    told: &'k [bool],
    /// What is the same for all threads: addresses and parameters, as they were seen first.
    same: HashMap<BaseId, u64>,
    /// Results of operations, as they were seen first.
    operations: HashMap<Operation, u64>,
    threads: HashMap<u32, Thread>,
    looked: usize,
    defined: bool,
}

/// A thread.
#[derive(Default)]
struct Thread {
    registers: HashMap<Register, u64>,
    values: HashMap<ValueId, u64>,
    /// What the turns of a loop have added to what its head joins.
    steps: HashMap<ValueId, u64>,
    /// The last write.
    last: Option<Written>,
}

/// What a base is in an execution, or why it is not known.
enum Found {
    Number(u64),
    /// It is the same for all threads, and was not met yet.
    Same(BaseId),
    /// It is an operation on numbers that was not met yet.
    Operation(Operation),
    Nothing,
}

const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

impl Run<'_, '_> {
    fn write(&mut self, program: &Program, write: &Write<'_>) -> Result<(), String> {
        let Some(written) = self.known.written(program, write) else { return Ok(()) };
        // What a branch on an undefined predicate leads to is not looked at.
        self.defined &= write.width != 1 || write.undefined == 0;
        if !self.defined {
            return Ok(());
        }
        let mut thread = self.threads.remove(&write.thread).unwrap_or_default();
        let held = self.step(&mut thread, write, written);
        self.threads.insert(write.thread, thread);
        held
    }

    fn step(&mut self, thread: &mut Thread, write: &Write<'_>, written: Written) -> Result<(), String> {
        let (cfg, graph) = (&self.known.facts.cfg, &self.known.graph);
        let block = |written: Written| cfg.block_of(ptx_ir::ir::Handle::new(written.instruction));
        let here = block(written);
        let is_on = thread.last.is_some_and(|last| block(last) == here && last.at < written.at);
        thread.last = Some(written);
        if !is_on {
            for &join in graph.joins(here) {
                self.join(thread, write.thread, join)?;
            }
        }
        let bits = (write.undefined == 0).then_some(write.bits);
        set(&mut thread.registers, written.register, bits);
        set(&mut thread.values, written.value, bits);
        for value in [written.value, graph.after(written.value)] {
            self.check(thread, write.thread, value, bits)?;
        }
        Ok(())
    }

    /// The thread has come to the block that joins values: they are what is in the registers.
    fn join(&mut self, thread: &mut Thread, number: u32, join: ValueId) -> Result<(), String> {
        let Variable::Register(register) = self.known.graph.variable(join) else { return Ok(()) };
        let bits = thread.registers.get(&register).copied();
        self.turn(thread, number, join, bits)?;
        set(&mut thread.values, join, bits);
        self.check(thread, number, join, bits).map_err(|wrong| format!("joined before: {wrong}"))
    }

    /// The head of a loop joins what it is entered with, or what a turn has added to that.
    fn turn(&self, thread: &mut Thread, number: u32, join: ValueId, bits: Option<u64>) -> Result<(), String> {
        let forms = self.values.forms();
        let Some(fact) = self.values.of(join) else { return Ok(()) };
        let sum = forms.sum(fact.form);
        let Some(steps) =
            sum.terms().map(|(base, _)| base).find(|&base| forms.what(base) == Base::Steps(join))
        else {
            return Ok(());
        };
        let before = thread.steps.remove(&join);
        let entry = sum
            .plus(&Sum::of(sum.width(), steps), u64::MAX)
            .and_then(|entry| self.sum(thread, number, &entry));
        let (Some(bits), Some(entry)) = (bits, entry) else { return Ok(()) };
        let after = bits.wrapping_sub(entry) & mask(sum.width());
        if let Some(before) = before.filter(|_| after != 0) {
            let added: Option<Vec<u64>> = self
                .values
                .steps(join)
                .iter()
                .map(|step| self.sum(thread, number, forms.sum(*step)))
                .collect();
            let is_one = |added: &u64| before.wrapping_add(*added) & mask(sum.width()) == after;
            if added.as_ref().is_some_and(|added| !added.iter().any(is_one)) {
                return Err(format!("turns have added {after:#x} after {before:#x}: {added:x?}"));
            }
        }
        thread.steps.insert(join, after);
        Ok(())
    }

    fn check(
        &mut self,
        thread: &Thread,
        number: u32,
        value: ValueId,
        bits: Option<u64>,
    ) -> Result<(), String> {
        let (Some(bits), Some(fact)) = (bits, self.values.of(value)) else { return Ok(()) };
        let forms = self.values.forms();
        let sum = *forms.sum(fact.form);
        let all = mask(sum.width());
        if let Some(expected) = self.sum(thread, number, &sum) {
            let is_itself = sum.terms().all(|(base, _)| forms.what(base) == Base::Value(value));
            self.looked += usize::from(!is_itself || sum.count() == 0);
            return match expected == bits & all {
                true => Ok(()),
                false => Err(format!("{expected:#x} by {}", self.described(&sum))),
            };
        }
        // What is not known yet is what makes this one right; the next have to agree.
        let mut rest = bits.wrapping_sub(sum.offset());
        let mut open = None;
        for (base, factor) in sum.terms() {
            match self.base(thread, number, base) {
                Found::Number(number) => rest = rest.wrapping_sub(number.wrapping_mul(factor)),
                found if open.is_none() && factor == 1 && forms.number(base).width <= sum.width() as u8 => {
                    open = Some((found, mask(forms.number(base).width.into())));
                }
                _ => return Ok(()),
            }
        }
        match open {
            Some((Found::Same(base), width)) => _ = self.same.insert(base, rest & all & width),
            Some((Found::Operation(operation), width)) => {
                self.operations.insert(operation, rest & all & width);
            }
            _ => {}
        }
        Ok(())
    }

    fn sum(&self, thread: &Thread, number: u32, sum: &Sum) -> Option<u64> {
        let mut total = sum.offset();
        for (base, factor) in sum.terms() {
            let Found::Number(number) = self.base(thread, number, base) else { return None };
            total = total.wrapping_add(number.wrapping_mul(factor));
        }
        Some(total & mask(sum.width()))
    }

    fn base(&self, thread: &Thread, number: u32, base: BaseId) -> Found {
        let forms = self.values.forms();
        let known = |number: Option<u64>| number.map_or(Found::Nothing, Found::Number);
        match forms.what(base) {
            Base::Value(value) | Base::Steps(value) if !self.is_told(value) => Found::Nothing,
            Base::Value(value) => known(thread.values.get(&value).copied()),
            Base::Steps(value) => known(thread.steps.get(&value).copied()),
            Base::Special(special) => known(match special.name() {
                "%tid.x" => Some(number.into()),
                "%laneid" => Some((number % 32).into()),
                name => {
                    self.specials.iter().find(|(other, _)| *other == name).map(|(_, known)| (*known).into())
                }
            }),
            Base::Lane => Found::Number((number % 32).into()),
            Base::Warp | Base::Rows(..) => Found::Number((number - number % 32).into()),
            Base::Symbol { .. } | Base::Code(_) | Base::Loaded { .. } => {
                self.same.get(&base).map_or(Found::Same(base), |number| Found::Number(*number))
            }
            Base::Unknown(_) => Found::Nothing,
            Base::Operation { computes, detail, operands } => {
                let mut numbers = [None; 3];
                for (number_of, operand) in numbers.iter_mut().zip(operands) {
                    if operand != Form::NONE {
                        let Some(found) = self.sum(thread, number, forms.sum(operand)) else {
                            return Found::Nothing;
                        };
                        *number_of = Some(found);
                    }
                }
                let operation = (computes, detail, numbers);
                self.operations
                    .get(&operation)
                    .map_or(Found::Operation(operation), |number| Found::Number(*number))
            }
        }
    }

    /// Whether the executor tells when a thread gets a value: not where a guard keeps it from writing.
    fn is_told(&self, value: ValueId) -> bool {
        match self.known.graph.kind(value) {
            Kind::Guarded { .. } => false,
            Kind::Joined { block } => self.told[block.index()],
            _ => true,
        }
    }

    fn described(&self, sum: &Sum) -> String {
        let forms = self.values.forms();
        let terms: Vec<String> =
            sum.terms().map(|(base, factor)| format!("{factor} × {:?}", forms.what(base))).collect();
        format!("{} + {}", terms.join(" + "), sum.offset())
    }
}

fn set<K: std::hash::Hash + Eq>(map: &mut HashMap<K, u64>, key: K, bits: Option<u64>) {
    match bits {
        Some(bits) => _ = map.insert(key, bits),
        None => _ = map.remove(&key),
    }
}
