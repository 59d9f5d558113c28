//! Large PTX texts in the manner of real compilers, made from a seed, for the benchmarks.
//!
//! They are right: ptxas takes them, the verifier finds nothing, each register is set
//! before it is read, and what is computed is read.

use std::fmt::Write;

/// Which compiler's manner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Integer and floating-point kernels with loops and branches, as nvcc prints them.
    Kernels,
    /// Many functions that call each other, with comments, as LLVM prints them.
    Functions,
    /// Kernels with a `.loc` in front of each instruction, and sections of DWARF data.
    Debug,
}

impl Manner {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Kernels, Self::Functions, Self::Debug];

    /// A short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Functions => "functions",
            Self::Debug => "debug",
        }
    }
}

/// A text of about `bytes` bytes; the same seed gives the same text.
#[must_use]
pub fn text(manner: Manner, bytes: usize, seed: u64) -> String {
    let mut random = Random(seed | 1);
    let mut text = String::with_capacity(bytes + 16_384);
    text.push_str(
        "//\n// Generated for a benchmark\n//\n\n.version 8.0\n.target sm_80\n.address_size 64\n\n",
    );
    if manner == Manner::Debug {
        text.push_str("\t.file\t1 \"/src/kernel.cu\"\n\t.file\t2 \"/src/include/helper.cuh\"\n");
    }
    // DWARF data is about half of what compilers print for a debugger.
    let code = if manner == Manner::Debug { bytes / 2 } else { bytes };
    let mut count = 0;
    while text.len() < code {
        Function::write(&mut text, manner, count, &mut random);
        count += 1;
    }
    if manner == Manner::Debug {
        sections(&mut text, bytes, count, &mut random);
    }
    text
}

/// A small generator, so that texts stay the same when crates change.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as usize) % limit.max(1)
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// The kinds of registers.
#[derive(Clone, Copy)]
enum Kind {
    Word,
    Long,
    Float,
    Predicate,
}

impl Kind {
    const fn prefix(self) -> &'static str {
        ["%r", "%rd", "%f", "%p"][self as usize]
    }
}

/// A function that is being written. Each value gets a new register, as compilers do it.
struct Function<'a> {
    body: String,
    manner: Manner,
    index: usize,
    random: &'a mut Random,
    /// Numbers of the registers that are set on every way here, for each kind.
    set: [Vec<usize>; 4],
    /// Those that nothing reads yet, for each kind.
    unread: [Vec<usize>; 4],
    /// How many registers were given out, for each kind.
    used: [usize; 4],
    label: usize,
    call: usize,
    line: usize,
}

impl Function<'_> {
    fn write(text: &mut String, manner: Manner, index: usize, random: &mut Random) {
        let mut function = Function {
            body: String::new(),
            manner,
            index,
            random,
            set: Default::default(),
            unread: Default::default(),
            used: [0; 4],
            label: 0,
            call: 0,
            line: 10 + index % 900,
        };
        function.prologue();
        for _ in 0..4 + function.random.below(12) {
            function.region(2);
        }
        function.epilogue();
        function.finish(text);
    }

    fn name(&self) -> String {
        format!("_Z{}function{}PfPKfi", 8 + self.index.to_string().len(), self.index)
    }

    fn is_function(&self) -> bool {
        self.manner == Manner::Functions
    }

    fn finish(self, text: &mut String) {
        let name = self.name();
        let result = if self.is_function() {
            let _ = writeln!(text, "\t// .globl\t{name} // -- Begin function {name}");
            let _ = writeln!(text, ".visible .func  (.param .b32 func_retval0) {name}( // @{name}");
            let _ = writeln!(text, "\t.param .b64 {name}_param_0,\n\t.param .b64 {name}_param_1,");
            writeln!(text, "\t.param .b32 {name}_param_2\n)\n{{")
        } else {
            let _ = writeln!(text, "\t// .globl\t{name}\n.visible .entry {name}(");
            let _ = writeln!(text, "\t.param .u64 {name}_param_0,\n\t.param .u64 {name}_param_1,");
            writeln!(text, "\t.param .u32 {name}_param_2\n)\n.maxntid 256, 1, 1\n{{")
        };
        // Writing to a string does not fail.
        debug_assert!(result.is_ok());
        for (kind, class) in
            [(Kind::Predicate, "pred"), (Kind::Float, "f32"), (Kind::Word, "b32"), (Kind::Long, "b64")]
        {
            if self.used[kind as usize] > 0 {
                let _ =
                    writeln!(text, "\t.reg .{class} \t{}<{}>;", kind.prefix(), self.used[kind as usize] + 1);
            }
        }
        text.push('\n');
        text.push_str(&self.body);
        text.push_str(if self.is_function() {
            "                                        // -- End function\n}\n"
        } else {
            "\n}\n"
        });
    }

    /// One line of the body.
    fn line(&mut self, line: &str) {
        if self.manner == Manner::Debug {
            self.line += self.random.below(3);
            let column = 1 + self.random.below(60);
            let line = self.line;
            let _ = writeln!(self.body, "\t.loc\t1 {line} {column}");
            if self.random.one_in(8) {
                let (inner, string) = (line % 400, self.index % 16);
                let place = format!("function_name $L__info_string{string}, inlined_at 1 {line} {column}");
                let _ = writeln!(self.body, "\t.loc\t2 {inner} 5, {place}");
            }
        }
        self.body.push('\t');
        self.body.push_str(line);
        self.body.push('\n');
    }

    /// A register that nothing sets yet. It may be read from the next instruction on.
    fn fresh(&mut self, kind: Kind) -> String {
        self.used[kind as usize] += 1;
        let number = self.used[kind as usize];
        self.set[kind as usize].push(number);
        self.unread[kind as usize].push(number);
        format!("{}{number}", kind.prefix())
    }

    fn new_word(&mut self) -> String {
        self.fresh(Kind::Word)
    }

    fn new_long(&mut self) -> String {
        self.fresh(Kind::Long)
    }

    fn new_float(&mut self) -> String {
        self.fresh(Kind::Float)
    }

    fn new_predicate(&mut self) -> String {
        self.fresh(Kind::Predicate)
    }

    /// A register that is set: mostly one that nothing reads yet, else one of the last.
    fn old(&mut self, kind: Kind) -> String {
        let unread = self.unread[kind as usize].len();
        let number = if unread > 0 && !self.random.one_in(3) {
            self.unread[kind as usize].remove(self.random.below(unread))
        } else {
            let set = &self.set[kind as usize];
            let back = 1 + self.random.below(set.len().min(12));
            let number = set[set.len() - back];
            self.unread[kind as usize].retain(|&unread| unread != number);
            number
        };
        format!("{}{number}", kind.prefix())
    }

    fn word(&mut self) -> String {
        self.old(Kind::Word)
    }

    fn float(&mut self) -> String {
        self.old(Kind::Float)
    }

    fn address(&mut self) -> String {
        self.old(Kind::Long)
    }

    /// How many registers of each kind are set.
    fn lengths(&self) -> [usize; 4] {
        [0, 1, 2, 3].map(|kind| self.set[kind].len())
    }

    /// Forgets the registers that were set since, when what they hold is stored: they are not set on every way here.
    fn forget(&mut self, lengths: [usize; 4]) {
        self.store_unread(lengths);
        for (set, length) in self.set.iter_mut().zip(lengths) {
            set.truncate(length);
        }
    }

    /// Stores the registers set since that nothing reads yet.
    fn store_unread(&mut self, lengths: [usize; 4]) {
        for (kind, ty) in [(Kind::Word, "u32"), (Kind::Long, "u64"), (Kind::Float, "f32")] {
            let oldest = self.set[kind as usize].get(lengths[kind as usize]).copied().unwrap_or(usize::MAX);
            let unread = &mut self.unread[kind as usize];
            let stored = unread.split_off(unread.partition_point(|&number| number < oldest));
            for number in stored {
                self.line(&format!("st.global.{ty} \t[%rd2], {}{number};", kind.prefix()));
            }
        }
    }

    fn prologue(&mut self) {
        let name = self.name();
        if self.is_function() {
            self.body.push_str("// %bb.0:                               // %entry\n");
        }
        let space = if self.is_function() { "b64" } else { "u64" };
        for parameter in 0..2 {
            let raw = self.new_long();
            self.line(&format!("ld.param.{space} \t{raw}, [{name}_param_{parameter}];"));
            let global = self.new_long();
            self.line(&format!("cvta.to.global.u64 \t{global}, {raw};"));
        }
        let count = self.new_word();
        self.line(&format!("ld.param.u32 \t{count}, [{name}_param_2];"));
        for special in ["%ctaid.x", "%ntid.x", "%tid.x"] {
            let word = self.new_word();
            self.line(&format!("mov.u32 \t{word}, {special};"));
        }
        let index = self.new_word();
        self.line(&format!("mad.lo.s32 \t{index}, %r2, %r3, %r4;"));
        let offset = self.new_long();
        self.line(&format!("mul.wide.s32 \t{offset}, {index}, 4;"));
        let at = self.new_long();
        self.line(&format!("add.s64 \t{at}, %rd2, {offset};"));
        let float = self.new_float();
        self.line(&format!("ld.global.f32 \t{float}, [{at}];"));
    }

    fn epilogue(&mut self) {
        let (float, address) = (self.float(), self.address());
        self.line(&format!("st.global.f32 \t[{address}+16], {float};"));
        if self.is_function() {
            let word = self.word();
            self.line(&format!("st.param.b32 \t[func_retval0+0], {word};"));
        }
        self.store_unread([0; 4]);
        self.line("ret;");
    }

    /// Straight code, a branch, a loop or a call.
    fn region(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 2 } else { 6 }) {
            0..=1 => self.block(),
            2..=3 => self.branch(depth),
            4 => self.repeat(depth),
            _ if self.is_function() && self.index > 0 => self.call(),
            _ => self.block(),
        }
    }

    fn block(&mut self) {
        for _ in 0..3 + self.random.below(14) {
            self.instruction();
        }
    }

    fn new_label(&mut self) -> String {
        self.label += 1;
        format!("$L__BB{}_{}", self.index, self.label)
    }

    fn label(&mut self, label: &str) {
        let _ = match self.is_function() {
            true => writeln!(self.body, "{label}:                              // %block"),
            false => writeln!(self.body, "\n{label}:"),
        };
    }

    fn branch(&mut self, depth: usize) {
        let (other, join) = (self.new_label(), self.new_label());
        let predicate = self.compare();
        let before = self.lengths();
        self.line(&format!("@{predicate} bra \t{other};"));
        self.region(depth - 1);
        // What one way sets, the other does not.
        self.forget(before);
        self.line(&format!("bra.uni \t{join};"));
        self.label(&other);
        self.region(depth - 1);
        self.forget(before);
        self.label(&join);
    }

    fn repeat(&mut self, depth: usize) {
        let (limit, counter) = (self.word(), self.new_word());
        self.line(&format!("mov.u32 \t{counter}, 0;"));
        let start = self.new_label();
        self.label(&start);
        let before = self.lengths();
        self.region(depth - 1);
        self.forget(before);
        self.line(&format!("add.s32 \t{counter}, {counter}, 1;"));
        let predicate = self.new_predicate();
        self.unread[Kind::Predicate as usize].clear();
        self.line(&format!("setp.lt.s32 \t{predicate}, {counter}, {limit};"));
        self.line(&format!("@{predicate} bra \t{start};"));
    }

    fn compare(&mut self) -> String {
        let (left, right) = (self.word(), self.word());
        let predicate = self.new_predicate();
        self.unread[Kind::Predicate as usize].clear();
        let relation = ["eq", "ne", "lt", "ge", "gt"][self.random.below(5)];
        self.line(&format!("setp.{relation}.s32 \t{predicate}, {left}, {right};"));
        predicate
    }

    /// A call of a function that was written before.
    fn call(&mut self) {
        let index = self.random.below(self.index);
        let name = format!("_Z{}function{index}PfPKfi", 8 + index.to_string().len());
        let (address, word) = (self.address(), self.word());
        let number = self.call;
        self.call += 1;
        self.line(&format!("{{ // callseq {number}, 0"));
        self.line(".param .b64 param0;");
        self.line(&format!("st.param.b64 \t[param0+0], {address};"));
        self.line(".param .b64 param1;");
        self.line(&format!("st.param.b64 \t[param1+0], {address};"));
        self.line(".param .b32 param2;");
        self.line(&format!("st.param.b32 \t[param2+0], {word};"));
        self.line(".param .b32 retval0;");
        self.line(&format!("call.uni (retval0), \n\t{name}, \n\t(\n\tparam0, \n\tparam1, \n\tparam2\n\t);"));
        let result = self.new_word();
        self.line(&format!("ld.param.b32 \t{result}, [retval0+0];"));
        self.line(&format!("}} // callseq {number}"));
    }

    fn instruction(&mut self) {
        match self.random.below(12) {
            0..=3 => self.integer(),
            4..=7 => self.floating(),
            8..=10 => self.memory(),
            _ => self.mixed(),
        }
    }

    fn integer(&mut self) {
        let which = self.random.below(8);
        let a = self.word();
        let b = if matches!(which, 3 | 4 | 6) { String::new() } else { self.word() };
        let c = if which == 2 { self.word() } else { String::new() };
        let number = self.random.below(1 << 12);
        let shift = 1 + self.random.below(31);
        let result = self.new_word();
        let line = match which {
            0 => format!("add.s32 \t{result}, {a}, {b};"),
            1 => format!("sub.s32 \t{result}, {a}, {b};"),
            2 => format!("mad.lo.s32 \t{result}, {a}, {b}, {c};"),
            3 => format!("shl.b32 \t{result}, {a}, {shift};"),
            4 => format!("and.b32  \t{result}, {a}, {number};"),
            5 => format!("xor.b32  \t{result}, {a}, {b};"),
            6 => format!("add.s32 \t{result}, {a}, -{number};"),
            _ => format!("max.s32 \t{result}, {a}, {b};"),
        };
        self.line(&line);
    }

    fn floating(&mut self) {
        let which = self.random.below(7);
        let a = if which == 3 { String::new() } else { self.float() };
        let b = if matches!(which, 3 | 5 | 6) { String::new() } else { self.float() };
        let c = if which == 2 { self.float() } else { String::new() };
        let number = 0x3F00_0000 + self.random.below(0x80_0000);
        let result = self.new_float();
        let line = match which {
            0 => format!("add.f32 \t{result}, {a}, {b};"),
            1 => format!("mul.f32 \t{result}, {a}, {b};"),
            2 => format!("fma.rn.f32 \t{result}, {a}, {b}, {c};"),
            3 => format!("mov.f32 \t{result}, 0f{number:08X};"),
            4 => format!("max.f32 \t{result}, {a}, {b};"),
            5 => format!("rsqrt.approx.ftz.f32 \t{result}, {a};"),
            _ => format!("ex2.approx.ftz.f32 \t{result}, {a};"),
        };
        self.line(&line);
    }

    fn memory(&mut self) {
        let offset = 4 * self.random.below(64);
        let which = self.random.below(5);
        let address = if which == 1 { String::new() } else { self.address() };
        match which {
            0 => {
                let float = self.float();
                self.line(&format!("st.global.f32 \t[{address}+{offset}], {float};"));
            }
            1 => {
                let (word, long) = (self.word(), self.new_long());
                self.line(&format!("mul.wide.s32 \t{long}, {word}, 4;"));
            }
            2 => {
                let long = self.new_long();
                self.line(&format!("add.s64 \t{long}, {address}, {offset};"));
            }
            3 => {
                let word = self.new_word();
                self.line(&format!("ld.global.nc.u32 \t{word}, [{address}+{offset}];"));
            }
            _ => {
                let float = self.new_float();
                self.line(&format!("ld.global.f32 \t{float}, [{address}+{offset}];"));
            }
        }
    }

    fn mixed(&mut self) {
        match self.random.below(4) {
            0 => {
                let (word, float) = (self.word(), self.new_float());
                self.line(&format!("cvt.rn.f32.s32 \t{float}, {word};"));
            }
            1 => {
                let (float, word) = (self.float(), self.new_word());
                self.line(&format!("cvt.rzi.s32.f32 \t{word}, {float};"));
            }
            2 => {
                let predicate = self.compare();
                let (a, b, result) = (self.float(), self.float(), self.new_float());
                self.line(&format!("selp.f32 \t{result}, {a}, {b}, {predicate};"));
            }
            _ => {
                let (a, b, result) = (self.word(), self.word(), self.new_word());
                self.line("// begin inline asm");
                self.line(&format!("prmt.b32 {result}, {a}, {b}, 0x5410;"));
                self.line("// end inline asm");
            }
        }
    }
}

/// DWARF data up to `bytes` bytes of text.
fn sections(text: &mut String, bytes: usize, functions: usize, random: &mut Random) {
    text.push_str("\t.section\t.debug_str\n\t{\n");
    for string in 0..16 {
        let _ = writeln!(
            text,
            "$L__info_string{string}:\n.b8 95,90,49,48,104,101,108,112,101,114,{},0",
            65 + string
        );
    }
    text.push_str("\n\t}\n\t.section\t.debug_abbrev\n\t{\n");
    for code in 1..40 {
        let _ = writeln!(text, ".b8 {code}\n.b8 17\n.b8 1\n.b8 37\n.b8 8\n.b8 0\n.b8 0");
    }
    text.push_str(
        ".b8 0\n\n\t}\n\t.section\t.debug_info\n\t{\n.b32 100000\n.b8 2\n.b8 0\n.b32 .debug_abbrev\n.b8 8\n",
    );
    while text.len() < bytes {
        let _ = match random.below(8) {
            0 => writeln!(text, ".b32 {}", random.below(1 << 20)),
            1 => writeln!(text, ".b64 _Z{}function{}PfPKfi", 8 + digits(functions - 1), functions - 1),
            2 => {
                let letters: Vec<String> =
                    (0..4 + random.below(24)).map(|_| (97 + random.below(26)).to_string()).collect();
                writeln!(text, ".b8 {}\n.b8 0", letters.join(","))
            }
            _ => writeln!(text, ".b8 {}", random.below(256)),
        };
    }
    text.push_str("\n\t}\n");
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{assemble, needed_ptxas};

    #[test]
    fn texts_are_right() {
        for manner in Manner::ALL {
            let text = text(manner, 200_000, 7);
            let found = ptx_verify::check(&text, &ptx_verify::Config::default());
            let shown: Vec<String> = found.iter().take(3).map(|found| format!("{found:?}")).collect();
            assert!(found.is_empty(), "{}: {shown:#?}", manner.name());
            assert!(ptx_emit::format(&text).is_ok(), "{}", manner.name());
        }
    }

    #[test]
    #[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
    fn ptxas_takes_them() {
        let ptxas = needed_ptxas();
        let folder = tempfile::tempdir().unwrap();
        for manner in Manner::ALL {
            let file = folder.path().join("text.ptx");
            std::fs::write(&file, text(manner, 200_000, 7)).unwrap();
            assert_eq!(assemble(ptxas, &file, "compute_80").unwrap(), [], "{}", manner.name());
        }
    }
}
