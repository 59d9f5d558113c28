//! The kinds of faults whose wrong results show when the emitted PTX is executed.

use super::{Asm, Code, Function, Guard, Mode, Operation, Place, Random, Step};
use Place::{Constant, Operand, Temporary};

/// What is wrong with the asm statements of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An operand `=` is read before it is written.
    OutputRead,
    /// An operand `=` is written under a guard or after a branch only.
    OutputConditional,
    /// An input is written, and its variable used again.
    InputWritten,
    /// A load, an atomic operation or a clock without `volatile`.
    NotVolatile,
    /// A carry goes to another statement, and they are not `volatile`.
    CarrySplit,
    /// A register is declared without braces, in an unrolled loop.
    RegisterScope,
    /// A label without braces, in an unrolled loop.
    LabelScope,
}

/// A function with a fault, and the same without.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The fault.
    pub kind: Kind,
    /// With it.
    pub faulty: Function,
    /// Without.
    pub twin: Function,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::OutputRead,
        Self::OutputConditional,
        Self::InputWritten,
        Self::NotVolatile,
        Self::CarrySplit,
        Self::RegisterScope,
        Self::LabelScope,
    ];

    /// The rule that has to report it.
    #[must_use]
    pub const fn rule(self) -> &'static str {
        match self {
            Self::OutputRead => "asm-output-read-before-write",
            Self::OutputConditional => "asm-output-conditionally-written",
            Self::InputWritten => "asm-input-written",
            Self::NotVolatile => "asm-side-effect-not-volatile",
            Self::CarrySplit => "asm-carry-across-statements",
            Self::RegisterScope => "asm-register-outside-scope",
            Self::LabelScope => "asm-label-outside-scope",
        }
    }

    /// Whether the compiler has no way to get it right; otherwise it depends on what it does with the statement.
    #[must_use]
    pub const fn always_shows(self) -> bool {
        !matches!(self, Self::NotVolatile | Self::CarrySplit)
    }

    /// A function with this fault.
    pub fn plant(self, random: &mut Random) -> Planted {
        let (mut faulty, mut twin) = match self {
            Self::OutputRead => output_read(random),
            Self::OutputConditional => output_conditional(random),
            Self::InputWritten => input_written(random),
            Self::NotVolatile => not_volatile(random),
            Self::CarrySplit => carry_split(random),
            Self::RegisterScope => scope(random, false),
            Self::LabelScope => scope(random, true),
        };
        // Harmless steps around it, the same in both. They leave its variables alone: after it, so that a wrong result
        // stays, and before it, so that both outcomes of a comparison stay possible.
        let used = faulty.variables();
        for first in [true, false] {
            for _ in 0..random.below(3) {
                let (step, target) = harmless(random);
                if used.contains(&target) {
                    continue;
                }
                for function in [&mut faulty, &mut twin] {
                    let at = if first { 0 } else { function.steps.len() };
                    function.steps.insert(at, step.clone());
                }
            }
        }
        Planted { kind: self, faulty, twin }
    }
}

fn one(asm: Asm) -> Function {
    Function { steps: vec![Step::Asm(asm)] }
}

/// A step in which nothing is wrong, though some look like it, and the variable that it changes.
fn harmless(random: &mut Random) -> (Step, usize) {
    let [a, b, c, ..] = random.variables();
    let factor = random.factor();
    let multiply =
        |target, first, second| Operation::new(Code::MultiplyAdd(factor), target, vec![first, second]);
    let step = match random.below(4) {
        0 => Step::Set(a, b, factor, c),
        // The output is written first and read then.
        1 => Step::Asm(Asm::new(
            vec![(Mode::Early, a), (Mode::Input, b), (Mode::Input, c)],
            vec![multiply(Operand(0), Operand(1), Operand(2)), multiply(Operand(0), Operand(0), Operand(2))],
            0,
        )),
        // Written under both conditions.
        2 => {
            let guarded = |wanted, source| Operation {
                guard: Some(Guard::Predicate(wanted)),
                ..Operation::new(Code::Move, Operand(0), vec![Operand(source)])
            };
            let less = Operation::new(Code::Less, Constant(0), vec![Operand(1), Operand(2)]);
            let operands = vec![(Mode::Early, a), (Mode::Input, b), (Mode::Input, c)];
            Step::Asm(Asm::new(operands, vec![less, guarded(true, 1), guarded(false, 2)], 0))
        }
        // Volatile, though nothing of it needs that.
        _ => {
            let operands = vec![(Mode::InOut, a), (Mode::Input, b)];
            let asm = Asm::new(operands, vec![multiply(Operand(0), Operand(0), Operand(1))], 0);
            Step::Asm(Asm { volatile: true, ..asm })
        }
    };
    (step, a)
}

/// Inputs go to a temporary, so that outputs are written last.
fn collected(random: &mut Random) -> (Vec<Operation>, usize) {
    let mut body =
        vec![Operation::new(Code::MultiplyAdd(random.factor()), Temporary(0), vec![Operand(1), Operand(2)])];
    let more = random.below(3);
    for index in 0..more {
        let source = Operand(1 + random.below(2));
        let sources = vec![Temporary(index), source];
        body.push(Operation::new(Code::MultiplyAdd(random.factor()), Temporary(index + 1), sources));
    }
    (body, more + 1)
}

fn with_mode(function: &Function, from: Mode, to: Mode) -> Function {
    function.with(|asm| {
        asm.operands.iter_mut().filter(|(mode, _)| *mode == from).for_each(|(mode, _)| *mode = to);
    })
}

fn output_read(random: &mut Random) -> (Function, Function) {
    let [a, b, c, ..] = random.variables();
    let (mut body, temporaries) = collected(random);
    let sources = vec![Operand(0), Temporary(temporaries - 1)];
    body.push(Operation::new(Code::MultiplyAdd(random.factor()), Operand(0), sources));
    let operands = vec![(Mode::InOut, a), (Mode::Input, b), (Mode::Input, c)];
    let twin = one(Asm::new(operands, body, temporaries));
    (with_mode(&twin, Mode::InOut, Mode::Output), twin)
}

fn output_conditional(random: &mut Random) -> (Function, Function) {
    let [a, b, c, ..] = random.variables();
    let (mut body, temporaries) = collected(random);
    body.insert(0, Operation::new(Code::Less, Constant(0), vec![Operand(1), Operand(2)]));
    let wanted = random.below(2) == 0;
    let guard = if random.below(2) == 0 { Guard::Predicate(wanted) } else { Guard::Branch(wanted) };
    let write = Operation::new(Code::Move, Operand(0), vec![Temporary(temporaries - 1)]);
    body.push(Operation { guard: Some(guard), ..write });
    let operands = vec![(Mode::InOut, a), (Mode::Input, b), (Mode::Input, c)];
    let twin = one(Asm::new(operands, body, temporaries));
    (with_mode(&twin, Mode::InOut, Mode::Output), twin)
}

fn input_written(random: &mut Random) -> (Function, Function) {
    let [a, b, c, d, _] = random.variables();
    let (first, second) = (random.factor(), random.factor());
    let statement = |scratch: Place| {
        let body = vec![
            Operation::new(Code::MultiplyAdd(first), scratch, vec![Operand(1), Operand(2)]),
            Operation::new(Code::MultiplyAdd(second), Operand(0), vec![scratch, Operand(2)]),
        ];
        let operands = vec![(Mode::Output, a), (Mode::Input, b), (Mode::Input, c)];
        // The variable of the input is used with the output: after the statement.
        Function { steps: vec![Step::Asm(Asm::new(operands, body, 1)), Step::Set(d, b, 3, a)] }
    };
    (statement(Operand(1)), statement(Temporary(0)))
}

fn not_volatile(random: &mut Random) -> (Function, Function) {
    let [a, b, c, d, _] = random.variables();
    let word = 8 + random.below(4);
    let statement = |code: Code, result: usize| {
        let operands = match code {
            Code::Clock => vec![(Mode::Output, result)],
            Code::Load => vec![(Mode::Output, result), (Mode::Address, word)],
            _ => vec![(Mode::Output, result), (Mode::Address, word), (Mode::Input, d)],
        };
        let sources = (1..operands.len()).map(Operand).collect();
        Step::Asm(Asm::new(operands, vec![Operation::new(code, Operand(0), sources)], 0))
    };
    let steps = match random.below(4) {
        // What is stored in between has to be seen by the second load.
        0 => vec![statement(Code::Load, a), Step::Store(word, b), statement(Code::Load, c)],
        // Nobody uses the result.
        1 => vec![statement(Code::AtomicAdd, a), Step::Set(a, b, 3, c), Step::Load(b, word)],
        2 => vec![statement(Code::Exchange, a), statement(Code::Exchange, b)],
        _ => vec![statement(Code::Clock, a), Step::Set(c, b, 5, c), statement(Code::Clock, b)],
    };
    let faulty = Function { steps };
    // A statement that clobbers memory is volatile.
    let volatile = random.below(3) > 0;
    let twin = faulty.with(|asm| if volatile { asm.volatile = true } else { asm.memory = true });
    (faulty, twin)
}

fn carry_split(random: &mut Random) -> (Function, Function) {
    let [a, b, c, d, e] = random.variables();
    let carry = |target: usize| {
        let body = vec![Operation::new(Code::AddCarryIn, Operand(0), vec![Constant(0), Constant(0)])];
        Step::Asm(Asm::new(vec![(Mode::Output, target)], body, 0))
    };
    let sum = |target: usize, first: usize, second: usize| {
        let operands = vec![(Mode::Output, target), (Mode::Input, first), (Mode::Input, second)];
        let body = vec![Operation::new(Code::AddCarryOut, Operand(0), vec![Operand(1), Operand(2)])];
        Step::Asm(Asm::new(operands, body, 0))
    };
    let steps = match random.below(3) {
        // The sum is not used, only its carry.
        0 => vec![sum(a, b, c), carry(d), Step::Set(a, b, 3, c)],
        // Two carries that look the same.
        1 => vec![sum(a, b, c), carry(d), sum(b, a, c), carry(e)],
        // The same sum twice.
        _ => vec![sum(a, b, c), carry(d), sum(e, d, c), sum(a, b, c), carry(c)],
    };
    let faulty = Function { steps };
    let twin = faulty.with(|asm| asm.volatile = true);
    (faulty, twin)
}

fn scope(random: &mut Random, label: bool) -> (Function, Function) {
    let [a, b, c, ..] = random.variables();
    let (mut body, temporaries) = collected(random);
    if label {
        body.insert(0, Operation::new(Code::Less, Constant(0), vec![Operand(1), Operand(2)]));
    }
    let sources = vec![Operand(0), Temporary(temporaries - 1)];
    let write = Operation::new(Code::MultiplyAdd(random.factor()), Operand(0), sources);
    body.push(Operation { guard: label.then_some(Guard::Branch(random.below(2) == 0)), ..write });
    let operands = vec![(Mode::InOut, a), (Mode::Input, b), (Mode::Input, c)];
    let twin = Function { steps: vec![Step::Twice(Asm::new(operands, body, temporaries))] };
    (twin.with(|asm| asm.braces = false), twin)
}
