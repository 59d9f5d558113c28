//! Executes the PTX that nvcc makes of a small kernel, for one thread: the judge of generated asm statements.
//!
//! It reads text and shares nothing with the toolkit: no lexer, no table, no analysis. It has integers, memory, the
//! carry flag and branches, as far as generated kernels need them; anything else is [`Trouble::Unknown`], which
//! fails the test. A register, a cell of memory or a carry that was never set has no value, and what is computed
//! from it has none either.

mod arithmetic;
mod text;

use std::collections::HashMap;

use arithmetic::{Types, compute};
use text::{Instruction, Item};
pub use text::{Kernel, kernels};

/// Words of 32 bits by address; one without a value was never set, or set to something undefined.
pub type Memory = HashMap<u64, Option<u32>>;

/// Why a kernel has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A branch or a guard depends on something undefined.
    UndefinedGuard,
    /// An address is undefined.
    UndefinedAddress,
    /// It does not end.
    Endless,
    /// An instruction that is not known here.
    Unknown(String),
}

/// A value, or none where it is undefined.
pub(crate) type Value = Option<u64>;

/// Steps after which a kernel is endless.
const MOST_STEPS: usize = 10_000;

struct Machine<'k> {
    kernel: &'k Kernel,
    parameters: &'k [u64],
    registers: HashMap<(usize, &'k str), Value>,
    memory: Memory,
    carry: Option<bool>,
    clock: u64,
}

/// Runs a kernel with parameters of 64 bits; the memory afterwards.
///
/// # Errors
/// The kernel has no result.
pub fn run(kernel: &Kernel, parameters: &[u64], memory: Memory) -> Result<Memory, Trouble> {
    let registers = HashMap::new();
    let mut machine = Machine { kernel, parameters, registers, memory, carry: None, clock: 0 };
    let mut at = 0;
    for _ in 0..MOST_STEPS {
        let Some(item) = kernel.items.get(at) else { return Ok(machine.memory) };
        match machine.step(item)? {
            Some(next) => at = next,
            None => at += 1,
        }
    }
    Err(Trouble::Endless)
}

impl<'k> Machine<'k> {
    /// The next item, if it is not the one behind.
    fn step(&mut self, item: &'k Item) -> Result<Option<usize>, Trouble> {
        let instruction = &item.instruction;
        if let Some((predicate, wanted)) = &instruction.guard {
            let value = self.read(item, predicate).ok_or(Trouble::UndefinedGuard)?;
            if (value != 0) != *wanted {
                return Ok(None);
            }
        }
        let unknown = || Trouble::Unknown(instruction.opcode.join("."));
        let operands = &instruction.operands;
        match (instruction.opcode[0].as_str(), operands.as_slice()) {
            ("ret" | "exit", _) => return Ok(Some(self.kernel.items.len())),
            ("bra", [label]) => return self.kernel.label(item.scope, label).map(Some).ok_or_else(unknown),
            ("ld", [target, address]) => self.load(item, target, address)?,
            ("st", [address, source]) => self.store(item, address, source)?,
            ("atom", [target, address, source]) => {
                let old = self.exchange(item, address, source)?;
                self.write(item, target, old);
            }
            ("red", [address, source]) => {
                self.exchange(item, address, source)?;
            }
            (_, [target, sources @ ..]) => {
                let types = Types::of(&instruction.opcode).ok_or_else(unknown)?;
                let values: Vec<Value> = sources.iter().map(|source| self.read(item, source)).collect();
                let (result, carry) =
                    compute(&instruction.opcode, types, &values, self.carry).ok_or_else(unknown)?;
                if instruction.opcode[1..].iter().any(|part| part == "cc") {
                    self.carry = carry;
                }
                self.write(item, target, result);
            }
            _ => return Err(unknown()),
        }
        Ok(None)
    }

    fn read(&mut self, item: &Item, operand: &str) -> Value {
        let digits = operand.strip_prefix('-').unwrap_or(operand);
        if digits.starts_with(|first: char| first.is_ascii_digit()) {
            let value = match digits.strip_prefix("0x") {
                Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
                None => digits.parse().ok()?,
            };
            return Some(if operand == digits { value } else { value.wrapping_neg() });
        }
        match operand {
            "%clock" | "%clock64" | "%globaltimer" => {
                self.clock += 8;
                Some(self.clock)
            }
            _ if operand.starts_with("%tid") || operand.starts_with("%ctaid") => Some(0),
            _ => self.registers.get(&(self.kernel.scope_of(item.scope, operand), operand)).copied().flatten(),
        }
    }

    fn write(&mut self, item: &Item, register: &'k str, value: Value) {
        self.registers.insert((self.kernel.scope_of(item.scope, register), register), value);
    }

    /// The address in brackets.
    fn address(&mut self, item: &Item, operand: &str) -> Result<u64, Trouble> {
        let inside = operand.trim_start_matches('[').trim_end_matches(']').trim();
        let (base, offset) = inside.split_once('+').unwrap_or((inside, "0"));
        let base = self.read(item, base.trim()).ok_or(Trouble::UndefinedAddress)?;
        let offset: i64 = offset.trim().parse().map_err(|_| Trouble::Unknown(operand.to_owned()))?;
        Ok(base.wrapping_add_signed(offset))
    }

    fn load(&mut self, item: &'k Item, target: &'k str, address: &str) -> Result<(), Trouble> {
        let Instruction { opcode, .. } = &item.instruction;
        if opcode[1] == "param" {
            let digits = address.trim_end_matches(']').rsplit("_param_").next().unwrap_or("");
            let value = digits.parse().ok().and_then(|index: usize| self.parameters.get(index)).copied();
            self.write(item, target, value);
            return Ok(());
        }
        let wide = opcode.last().is_some_and(|last| last.ends_with("64"));
        let mut address = self.address(item, address)?;
        for register in target.trim_start_matches('{').trim_end_matches('}').split(',') {
            let word = |memory: &Memory, at: u64| memory.get(&at).copied().flatten().map(u64::from);
            let low = word(&self.memory, address);
            let value = match wide {
                true => low.zip(word(&self.memory, address + 4)).map(|(low, high)| low | high << 32),
                false => low,
            };
            self.write(item, register.trim(), value);
            address += if wide { 8 } else { 4 };
        }
        Ok(())
    }

    fn store(&mut self, item: &Item, address: &str, source: &str) -> Result<(), Trouble> {
        let wide = item.instruction.opcode.last().is_some_and(|last| last.ends_with("64"));
        let mut address = self.address(item, address)?;
        for source in source.trim_start_matches('{').trim_end_matches('}').split(',') {
            let value = self.read(item, source.trim());
            self.memory.insert(address, value.map(|value| value as u32));
            if wide {
                self.memory.insert(address + 4, value.map(|value| (value >> 32) as u32));
            }
            address += if wide { 8 } else { 4 };
        }
        Ok(())
    }

    /// An atomic operation: `add` or `exch`; the old value.
    fn exchange(&mut self, item: &Item, address: &str, source: &str) -> Result<Value, Trouble> {
        let opcode = &item.instruction.opcode;
        let address = self.address(item, address)?;
        let source = self.read(item, source).map(|value| value as u32);
        let old = self.memory.get(&address).copied().flatten();
        let new = match opcode.iter().find(|part| matches!(part.as_str(), "add" | "exch")).map(String::as_str)
        {
            Some("add") => old.zip(source).map(|(old, source)| old.wrapping_add(source)),
            Some(_) => source,
            None => return Err(Trouble::Unknown(opcode.join("."))),
        };
        self.memory.insert(address, new);
        Ok(old.map(u64::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\n\
                        ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n";

    fn result(body: &str) -> Result<Option<u32>, Trouble> {
        let text = format!("{HEAD}{body}\nret;\n}}\n");
        let kernels = kernels(&text);
        let memory = Memory::from([(0x100, Some(7)), (0x104, Some(u32::MAX))]);
        Ok(run(&kernels["k"], &[0x100], memory)?.get(&0x108).copied().flatten())
    }

    #[test]
    fn straight_lines_and_carries() {
        let sum = "ld.global.v2.u32 {%r1, %r2}, [%rd2]; add.cc.u32 %r3, %r1, %r2; addc.u32 %r4, %r3, 0;";
        assert_eq!(result(&format!("{sum} st.global.u32 [%rd2+8], %r4;")), Ok(Some(7)));
        assert_eq!(
            result("ld.global.u32 %r1, [%rd2]; mad.lo.s32 %r1, %r1, -3, 1; st.global.b32 [%rd2+8], %r1;"),
            Ok(Some(-20_i32 as u32))
        );
        assert_eq!(result("addc.u32 %r1, 0, 0; st.global.u32 [%rd2+8], %r1;"), Ok(None));
        assert_eq!(result("add.u32 %r1, %r2, 0; st.global.u32 [%rd2+8], %r1;"), Ok(None));
    }

    #[test]
    fn loops_guards_and_scopes() {
        let text = "mov.u32 %r1, 0; $L1: add.s32 %r1, %r1, 1; { .reg .u32 t; .reg .pred %p1; mov.u32 t, %r1; \
                    setp.lt.u32 %p1, t, 5; @%p1 bra $L1; } @!%p2 bra L2; L2: st.global.u32 [%rd2+8], %r1;";
        assert_eq!(result(text), Err(Trouble::UndefinedGuard));
        assert_eq!(result(&text.replace("@!%p2 ", "")), Ok(Some(5)));
        assert_eq!(result("L: bra L;"), Err(Trouble::Endless));
        assert!(matches!(result("sin.approx.f32 %r1, %r2;"), Err(Trouble::Unknown(_))));
    }

    #[test]
    fn names_declared_twice_are_seen() {
        let text = format!("{HEAD} .reg .u32 t; {{ .reg .u32 t; L: }} .reg .u32 u, t; L: M: M: ret; }}");
        assert_eq!(kernels(&text)["k"].duplicates, ["t", "M"]);
    }
}
