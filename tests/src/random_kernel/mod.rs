//! Kernels made at random, in which threads part and meet again, registers are set on some paths only, and whoever
//! wrote them may have been careless.
//!
//! A kernel is made with care for the most part: a barrier is where all threads come, a register is read where it
//! is set, and its guards are correlated. Some kernels take risks. Whether one is right, its execution says
//! ([`crate::emulate`]). All of them end, and NVIDIA's assembler takes all of them.
//!
//! Each instruction has a line of its own.

mod statement;
mod value;

use std::fmt::Write;

pub use value::NUMBERS;

use crate::planted::Random;

/// What comes before the kernels of a module.
pub const HEADER: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n";

/// What kernels of [`kernel_that_calls`] call.
pub const FUNCTIONS: &str = "\
.func (.reg .b32 sum) warp_sum(.reg .b32 value)
{
.reg .b32 %r<5>;
shfl.sync.bfly.b32 %r0, value, 16, 31, -1;
add.u32 value, value, %r0;
shfl.sync.bfly.b32 %r1, value, 8, 31, -1;
add.u32 value, value, %r1;
shfl.sync.bfly.b32 %r2, value, 4, 31, -1;
add.u32 value, value, %r2;
shfl.sync.bfly.b32 %r3, value, 2, 31, -1;
add.u32 value, value, %r3;
shfl.sync.bfly.b32 %r4, value, 1, 31, -1;
add.u32 sum, value, %r4;
ret;
}
.func (.param .b32 warp) number_of_warp(.param .b32 thread)
{
.reg .b32 %r<2>;
ld.param.u32 %r0, [thread];
shr.u32 %r1, %r0, 5;
st.param.b32 [warp], %r1;
ret;
}
.func wait_for_all()
{
bar.sync 0;
ret;
}
";

/// How many words the buffer `in` has.
pub const INPUT_WORDS: usize = 64;
/// How many words the buffer `out` has.
pub const OUTPUT_WORDS: usize = 256;
/// The number of 32-bit parameters, after the addresses of `in` and `out`.
pub const PARAMETERS: usize = 3;

/// Which threads surely have the same value, or come to the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// All of the block.
    Block,
    /// All of a warp.
    Warp,
    /// None.
    Lane,
}

/// A register that has a value wherever it is visible.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    class: Class,
}

/// A register that is set where a predicate holds.
#[derive(Clone, Debug)]
struct Partial {
    name: String,
    predicate: String,
    holds: bool,
    class: Class,
}

/// A pair of braces of the program: what control leaves together.
#[derive(Clone, Debug)]
struct Level {
    /// Who comes to what follows in it.
    context: Class,
    /// The label at its end, if something jumps there.
    end: String,
    used: bool,
    /// A loop: where it goes on after it, and whom a `break` may part.
    after: Option<(String, Class)>,
    values: usize,
    predicates: usize,
}

struct Maker {
    random: Random,
    lines: String,
    registers: usize,
    wide: usize,
    predicate: usize,
    labels: usize,
    variables: usize,
    calls: bool,
    values: Vec<Named>,
    predicates: Vec<Named>,
    partials: Vec<Partial>,
    levels: Vec<Level>,
    /// In a thousand, how often care is not taken.
    risk: usize,
    /// In a thousand, how often a barrier is where not all threads come.
    parting: usize,
    /// The block's size, if the kernel says it.
    threads: Option<u32>,
    /// Whether some lanes may have left.
    left: bool,
    budget: usize,
}

/// A kernel of a name; the same seed gives the same text. It has no header.
#[must_use]
pub fn kernel(name: &str, seed: u64) -> String {
    make(name, seed, false)
}

/// A kernel that may call [`FUNCTIONS`].
#[must_use]
pub fn kernel_that_calls(name: &str, seed: u64) -> String {
    make(name, seed, true)
}

/// A module of one kernel `k`; one of four has functions that it may call.
#[must_use]
pub fn text(seed: u64) -> String {
    match seed % 4 {
        3 => [HEADER, FUNCTIONS, &kernel_that_calls("k", seed)].concat(),
        _ => HEADER.to_owned() + &kernel("k", seed),
    }
}

fn make(name: &str, seed: u64, calls: bool) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    for _ in 0..4 {
        random.below(2);
    }
    let risk = *random.one_of(&[0, 50, 100, 200]);
    let parting = *random.one_of(&[0, 0, 200, 500, 800]);
    let threads = if random.below(3) == 0 { Some(*random.one_of(&[32, 64, 96, 128])) } else { None };
    let budget = 4 + random.below(22);
    let mut maker = Maker {
        random,
        lines: String::new(),
        registers: 10,
        wide: 10,
        predicate: 0,
        labels: 0,
        variables: 0,
        calls,
        values: Vec::new(),
        predicates: Vec::new(),
        partials: Vec::new(),
        levels: Vec::new(),
        risk,
        parting,
        threads,
        left: false,
        budget,
    };
    maker.body();
    let mut text = String::new();
    let parameters = ".param .u64 in, .param .u64 out, .param .u32 a, .param .u32 b, .param .u32 c";
    let _ = writeln!(text, ".visible .entry {name}({parameters})");
    if let Some(threads) = threads {
        let _ = writeln!(text, ".reqntid {threads}, 1, 1");
    }
    let _ = writeln!(text, "{{\n.reg .b32 %r<{}>;\n.reg .b64 %rd<{}>;", maker.registers, maker.wide);
    let _ = writeln!(text, ".reg .pred %p<{}>;\n.reg .b16 %h<4>;", maker.predicate.max(1));
    text + &maker.lines + "}\n"
}

/// Kernels `k0`, `k1`, … of a module.
#[must_use]
pub fn module(seeds: impl Iterator<Item = u64>) -> String {
    let start = HEADER.to_owned() + FUNCTIONS;
    seeds.enumerate().fold(start, |text, (index, seed)| text + &kernel_that_calls(&format!("k{index}"), seed))
}

impl Maker {
    fn chance(&mut self, thousandths: usize) -> bool {
        self.random.below(1000) < thousandths
    }

    /// Whether care is not taken here.
    fn risks(&mut self) -> bool {
        let risk = self.risk;
        self.chance(risk)
    }

    /// Whether threads may be missing here.
    fn parts(&mut self) -> bool {
        let parting = self.parting;
        self.chance(parting)
    }

    fn line(&mut self, text: &str) {
        self.lines.push_str(text);
        self.lines.push('\n');
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        format!("%r{}", self.registers - 1)
    }

    fn wide_register(&mut self) -> String {
        self.wide += 1;
        format!("%rd{}", self.wide - 1)
    }

    fn predicate_register(&mut self) -> String {
        self.predicate += 1;
        format!("%p{}", self.predicate - 1)
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels - 1)
    }

    fn context(&self) -> Class {
        self.levels.last().map_or(Class::Block, |level| level.context)
    }

    fn body(&mut self) {
        for line in [
            "ld.param.u64 %rd1, [in];",
            "ld.param.u64 %rd2, [out];",
            "ld.param.u32 %r1, [a];",
            "ld.param.u32 %r2, [b];",
            "ld.param.u32 %r3, [c];",
            "mov.u32 %r4, %tid.x;",
            "mov.u32 %r5, %laneid;",
            "mul.wide.u32 %rd3, %r4, 4;",
            "add.u64 %rd4, %rd2, %rd3;",
        ] {
            self.line(line);
        }
        let known =
            [("%r1", Class::Block), ("%r2", Class::Block), ("%r3", Class::Block), ("%r4", Class::Lane)];
        self.values = known.map(|(name, class)| Named { name: name.to_owned(), class }).into();
        self.values.push(Named { name: "%r5".to_owned(), class: Class::Lane });
        let end = self.label();
        self.level(Class::Block, end, None);
        while self.budget > 0 {
            self.statement();
        }
        self.leave_level();
        self.store();
        self.line("ret;");
    }

    fn level(&mut self, context: Class, end: String, after: Option<(String, Class)>) {
        let (values, predicates) = (self.values.len(), self.predicates.len());
        self.levels.push(Level { context, end, used: false, after, values, predicates });
    }

    /// Ends a level: what is set in it is not set outside.
    fn leave_level(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        if level.used {
            self.line(&format!("{}:", level.end));
        }
        self.values.truncate(level.values);
        self.predicates.truncate(level.predicates);
    }
}
