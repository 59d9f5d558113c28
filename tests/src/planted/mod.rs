//! Small CUDA functions with asm statements, made at random, with a fault and without: what they mean, and their
//! text.
//!
//! A function has five variables that it loads from memory, changes in a few steps and stores again. What its author
//! meant, [`Function::meaning`] says: an operand keeps its value where it is not written, a written input is
//! nobody else's, every statement is executed once and in its place. The fault is in what the statement tells the
//! compiler, so the function with the fault and its twin mean the same.

mod kinds;
pub mod refused;

use std::fmt::Write;

pub use kinds::{Kind, Planted};

/// A sequence of numbers that is the same in every run.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// One of several.
    pub fn one_of<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[self.below(choices.len())]
    }

    /// The five variables in some order.
    pub fn variables(&mut self) -> [usize; VARIABLES] {
        let mut variables: [usize; VARIABLES] = std::array::from_fn(|index| index);
        for last in (1..VARIABLES).rev() {
            variables.swap(last, self.below(last + 1));
        }
        variables
    }

    /// An odd number above 1: a product with it loses nothing.
    pub fn factor(&mut self) -> u32 {
        *self.one_of(&[3, 5, 7, 9])
    }
}

/// How many variables a function has; they come from the first words of its memory.
pub const VARIABLES: usize = 5;
/// Where they are stored in the end: elsewhere, so that no store writes what is there already.
const RESULTS: usize = 16;
/// How many words the memory has.
pub const WORDS: usize = 24;

/// Where an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// An operand of the statement.
    Operand(usize),
    /// A register of the template.
    Temporary(usize),
    /// A number.
    Constant(u32),
}

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
pub enum Code {
    /// `mov.b32`
    Move,
    /// `mad.lo.u32` with this factor.
    MultiplyAdd(u32),
    /// `add.cc.u32`
    AddCarryOut,
    /// `addc.u32`
    AddCarryIn,
    /// `setp.lt.u32` into the template's predicate.
    Less,
    /// `ld.global.u32`
    Load,
    /// `atom.global.add.u32`
    AtomicAdd,
    /// `atom.global.exch.b32`
    Exchange,
    /// `mov.u32` of the clock.
    Clock,
}

/// How an instruction depends on the template's predicate.
#[derive(Clone, Copy, Debug)]
pub enum Guard {
    /// `@p` or `@!p`.
    Predicate(bool),
    /// A branch around it, when the predicate is not so.
    Branch(bool),
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub code: Code,
    /// When.
    pub guard: Option<Guard>,
    /// Where its result goes.
    pub target: Place,
    /// What it reads.
    pub sources: Vec<Place>,
}

/// How an operand is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `=`
    Output,
    /// `=&`
    Early,
    /// `+`
    InOut,
    /// None of them.
    Input,
    /// A pointer to a word of the memory.
    Address,
}

/// An asm statement.
#[derive(Clone, Debug)]
pub struct Asm {
    /// Whether it is `volatile`.
    pub volatile: bool,
    /// Whether it clobbers memory.
    pub memory: bool,
    /// Whether braces are around the template.
    pub braces: bool,
    /// Operands: the outputs first; of each the variable, or the word that is pointed to.
    pub operands: Vec<(Mode, usize)>,
    /// The template.
    pub body: Vec<Operation>,
    /// Registers of the template.
    pub temporaries: usize,
}

impl Asm {
    /// A statement without side effects.
    #[must_use]
    pub const fn new(operands: Vec<(Mode, usize)>, body: Vec<Operation>, temporaries: usize) -> Self {
        Self { volatile: false, memory: false, braces: true, operands, body, temporaries }
    }
}

/// A step of a function.
#[derive(Clone, Debug)]
pub enum Step {
    /// An asm statement.
    Asm(Asm),
    /// An asm statement in an unrolled loop of two rounds.
    Twice(Asm),
    /// `x0 = x1 * factor + x2`
    Set(usize, usize, u32, usize),
    /// A variable is stored to a word.
    Store(usize, usize),
    /// A variable is loaded from a word.
    Load(usize, usize),
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Function {
    /// What it does.
    pub steps: Vec<Step>,
}

/// What a statement sees while it is executed as meant.
struct State<'w> {
    words: &'w mut [u32; WORDS],
    carry: u32,
    clock: u32,
}

impl Function {
    /// The memory afterwards.
    #[must_use]
    pub fn meaning(&self, before: &[u32; WORDS]) -> [u32; WORDS] {
        let mut words = *before;
        let mut x: [u32; VARIABLES] = std::array::from_fn(|index| words[index]);
        let mut state = State { words: &mut words, carry: 0, clock: 0 };
        for step in &self.steps {
            match step {
                Step::Asm(asm) => asm.meaning(&mut x, &mut state),
                Step::Twice(asm) => (0..2).for_each(|_| asm.meaning(&mut x, &mut state)),
                Step::Set(target, a, factor, b) => {
                    x[*target] = x[*a].wrapping_mul(*factor).wrapping_add(x[*b]);
                }
                Step::Store(word, variable) => state.words[*word] = x[*variable],
                Step::Load(variable, word) => x[*variable] = state.words[*word],
            }
        }
        words[RESULTS..RESULTS + VARIABLES].copy_from_slice(&x);
        words
    }

    /// The text of the kernel.
    #[must_use]
    pub fn source(&self, name: &str) -> String {
        let mut out = format!("extern \"C\" __global__ void {name}(unsigned *p) {{\n");
        let variables: Vec<String> = (0..VARIABLES).map(|index| format!("x{index} = p[{index}]")).collect();
        writeln!(out, "  unsigned {};", variables.join(", ")).unwrap();
        for step in &self.steps {
            let line = match step {
                Step::Asm(asm) => asm.source(),
                Step::Twice(asm) => format!("#pragma unroll\n  for (int i = 0; i < 2; i++) {}", asm.source()),
                Step::Set(target, a, factor, b) => format!("x{target} = x{a} * {factor}u + x{b};"),
                Step::Store(word, variable) => format!("p[{word}] = x{variable};"),
                Step::Load(variable, word) => format!("x{variable} = p[{word}];"),
            };
            writeln!(out, "  {line}").unwrap();
        }
        (0..VARIABLES).for_each(|index| write!(out, "  p[{}] = x{index};", RESULTS + index).unwrap());
        out.push_str("\n}\n");
        out
    }

    /// The variables that its asm statements use.
    #[must_use]
    pub fn variables(&self) -> Vec<usize> {
        let operands = self.steps.iter().flat_map(|step| match step {
            Step::Asm(asm) | Step::Twice(asm) => asm.operands.as_slice(),
            Step::Set(..) | Step::Store(..) | Step::Load(..) => &[],
        });
        operands.filter(|(mode, _)| *mode != Mode::Address).map(|(_, variable)| *variable).collect()
    }

    /// The function after a change of each of its asm statements.
    #[must_use]
    pub fn with(&self, mut change: impl FnMut(&mut Asm)) -> Self {
        let mut changed = self.clone();
        for step in &mut changed.steps {
            if let Step::Asm(asm) | Step::Twice(asm) = step {
                change(asm);
            }
        }
        changed
    }
}

impl Asm {
    fn meaning(&self, x: &mut [u32; VARIABLES], state: &mut State<'_>) {
        let value =
            |(mode, index): &(Mode, usize)| if *mode == Mode::Address { *index as u32 } else { x[*index] };
        let mut operands: Vec<u32> = self.operands.iter().map(value).collect();
        let mut temporaries = vec![0; self.temporaries];
        let mut predicate = false;
        for Operation { code, guard, target, sources } in &self.body {
            if guard.is_some_and(|(Guard::Predicate(wanted) | Guard::Branch(wanted))| wanted != predicate) {
                continue;
            }
            let read = |place: &Place| match *place {
                Place::Operand(index) => operands[index],
                Place::Temporary(index) => temporaries[index],
                Place::Constant(value) => value,
            };
            let v: Vec<u32> = sources.iter().map(read).collect();
            let result = match code {
                Code::Move => v[0],
                Code::MultiplyAdd(factor) => v[0].wrapping_mul(*factor).wrapping_add(v[1]),
                Code::AddCarryOut => {
                    let (sum, carry) = v[0].overflowing_add(v[1]);
                    state.carry = u32::from(carry);
                    sum
                }
                Code::AddCarryIn => v[0].wrapping_add(v[1]).wrapping_add(state.carry),
                Code::Less => {
                    predicate = v[0] < v[1];
                    continue;
                }
                Code::Load => state.words[v[0] as usize],
                Code::AtomicAdd => {
                    let old = state.words[v[0] as usize];
                    state.words[v[0] as usize] = old.wrapping_add(v[1]);
                    old
                }
                Code::Exchange => std::mem::replace(&mut state.words[v[0] as usize], v[1]),
                Code::Clock => {
                    state.clock += 8;
                    state.clock
                }
            };
            match *target {
                Place::Operand(index) => operands[index] = result,
                Place::Temporary(index) => temporaries[index] = result,
                Place::Constant(_) => {}
            }
        }
        for ((mode, variable), value) in self.operands.iter().zip(operands) {
            if matches!(mode, Mode::Output | Mode::Early | Mode::InOut) {
                x[*variable] = value;
            }
        }
    }

    /// The statement on one line.
    #[must_use]
    pub fn source(&self) -> String {
        let mut template = String::new();
        for index in 0..self.temporaries {
            write!(template, ".reg .u32 t{index}; ").unwrap();
        }
        if self.body.iter().any(|operation| matches!(operation.code, Code::Less)) {
            template.push_str(".reg .pred q; ");
        }
        for (index, operation) in self.body.iter().enumerate() {
            template.push_str(&operation.source(index));
        }
        if self.braces {
            template = format!("{{ {template}}}");
        }
        let list = |outputs: bool| {
            let chosen = self
                .operands
                .iter()
                .filter(|(mode, _)| outputs != matches!(mode, Mode::Input | Mode::Address));
            let operands: Vec<String> = chosen.map(|(mode, index)| operand(*mode, *index)).collect();
            operands.join(", ")
        };
        let volatile = if self.volatile { " volatile" } else { "" };
        let memory = if self.memory { " : \"memory\"" } else { "" };
        format!("asm{volatile}(\"{template}\" : {} : {}{memory});", list(true), list(false))
    }
}

fn operand(mode: Mode, index: usize) -> String {
    match mode {
        Mode::Output => format!("\"=r\"(x{index})"),
        Mode::Early => format!("\"=&r\"(x{index})"),
        Mode::InOut => format!("\"+r\"(x{index})"),
        Mode::Input => format!("\"r\"(x{index})"),
        Mode::Address => format!("\"l\"(p + {index})"),
    }
}

impl Operation {
    /// An instruction without a guard.
    #[must_use]
    pub const fn new(code: Code, target: Place, sources: Vec<Place>) -> Self {
        Self { code, guard: None, target, sources }
    }

    fn source(&self, index: usize) -> String {
        let name = |place: Place| match place {
            Place::Operand(index) => format!("%{index}"),
            Place::Temporary(index) => format!("t{index}"),
            Place::Constant(value) => value.to_string(),
        };
        let target = name(self.target);
        let sources: Vec<String> = self.sources.iter().map(|source| name(*source)).collect();
        let code = match self.code {
            Code::Move => format!("mov.b32 {target}, {}; ", sources[0]),
            Code::MultiplyAdd(factor) => {
                format!("mad.lo.u32 {target}, {}, {factor}, {}; ", sources[0], sources[1])
            }
            Code::AddCarryOut => format!("add.cc.u32 {target}, {}, {}; ", sources[0], sources[1]),
            Code::AddCarryIn => format!("addc.u32 {target}, {}, {}; ", sources[0], sources[1]),
            Code::Less => format!("setp.lt.u32 q, {}, {}; ", sources[0], sources[1]),
            Code::Load => format!("ld.global.u32 {target}, [{}]; ", sources[0]),
            Code::AtomicAdd => format!("atom.global.add.u32 {target}, [{}], {}; ", sources[0], sources[1]),
            Code::Exchange => format!("atom.global.exch.b32 {target}, [{}], {}; ", sources[0], sources[1]),
            Code::Clock => format!("mov.u32 {target}, %%clock; "),
        };
        let not = |wanted: bool| if wanted { "" } else { "!" };
        match self.guard {
            None => code,
            Some(Guard::Predicate(wanted)) => format!("@{}q {code}", not(wanted)),
            Some(Guard::Branch(wanted)) => {
                format!("@{}q bra after{index}; {code}after{index}: ", not(!wanted))
            }
        }
    }
}
