//! One thread of a kernel: the judge of generated asm statements.

use std::collections::HashMap;
use std::sync::Arc;

use super::block::{End, Launch, execute};
use super::fault::{FaultKind, Observed};
use super::memory::Buffer;
use super::program::Program;
use super::schedule::Schedule;

/// Words of 32 bits by address; one without a value was never set, or set to something undefined.
pub type Memory = HashMap<u64, Option<u32>>;

/// Why a kernel has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A branch or a guard depends on something undefined.
    UndefinedGuard,
    /// An address is undefined, or nothing is there.
    UndefinedAddress,
    /// It does not end.
    Endless,
    /// An instruction that is not known here.
    Unknown(String),
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    program: Arc<Program>,
    name: String,
    /// Registers and labels that one pair of braces declares twice.
    pub duplicates: Vec<String>,
}

/// The kernels of a PTX file, by name.
#[must_use]
pub fn kernels(ptx: &str) -> HashMap<String, Kernel> {
    let program = Arc::new(Program::read(ptx));
    let kernels = program.functions().iter().filter(|function| function.entry);
    let kernels = kernels.map(|function| {
        let (name, duplicates) = (function.name.clone(), function.duplicates.clone());
        (name.clone(), Kernel { program: Arc::clone(&program), name, duplicates })
    });
    kernels.collect()
}

/// Steps after which a kernel is endless.
const MAX_STEPS: usize = 10_000;
/// Words beyond the last one that is given.
const WORDS_AFTER: u64 = 16;

/// Runs a kernel with parameters of 64 bits; the memory afterwards.
///
/// # Errors
/// The kernel has no result.
pub fn run(kernel: &Kernel, parameters: &[u64], memory: Memory) -> Result<Memory, Trouble> {
    let first = memory.keys().copied().min().unwrap_or(0);
    let words = memory.keys().copied().max().map_or(0, |last| (last - first) / 4 + 1) + WORDS_AFTER;
    let size = words as usize * 4;
    let mut buffer = Buffer { address: first, bytes: vec![0; size], undefined: vec![0xff; size] };
    for (address, word) in memory {
        let Some(word) = word else { continue };
        let at = (address - first) as usize;
        buffer.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        buffer.undefined[at..at + 4].fill(0);
    }
    let launch = Launch {
        kernel: &kernel.name,
        threads: 1,
        block: 0,
        blocks: 1,
        parameters,
        memory: &[buffer],
        memory_is_set: false,
        seed: 1,
        steps: MAX_STEPS,
    };
    let outcome = execute(&kernel.program, &launch, Schedule::Lockstep, None);
    match outcome.end {
        End::Finished | End::Trapped | End::Stopped => {}
        End::Endless => return Err(Trouble::Endless),
        End::Unknown(what) => return Err(Trouble::Unknown(what)),
    }
    for fault in &outcome.faults {
        match fault.kind {
            FaultKind::Undefined(Observed::Guard | Observed::Branch) => return Err(Trouble::UndefinedGuard),
            FaultKind::Undefined(Observed::Address) | FaultKind::OutOfBounds | FaultKind::Misaligned => {
                return Err(Trouble::UndefinedAddress);
            }
            _ => {}
        }
    }
    let after = &outcome.memory[0];
    let words = (0..words as usize).map(|index| {
        let at = index * 4;
        let word: [u8; 4] = std::array::from_fn(|byte| after.bytes[at + byte]);
        let known = after.undefined[at..at + 4] == [0; 4];
        (first + at as u64, known.then(|| u32::from_le_bytes(word)))
    });
    Ok(words.collect())
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
