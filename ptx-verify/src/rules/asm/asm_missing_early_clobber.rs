use ptx_facts::FunctionFacts;
use ptx_facts::reach::{Ends, Reach};
use ptx_facts::registers::{Access, for_each_register};
use std::cell::{Cell, OnceCell};
use std::collections::{HashMap, HashSet};

use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;
use ptx_syntax::cuda::{CType, Host};
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::fragment::fixes::{constraint_fix, with_certain};
use crate::subject::fragment::unit::{Mode, Unit};

declare_rule! {
    /// ## What it does
    /// Reports an output of an asm statement that is written before the last read of an input of the same kind,
    /// and whose constraint does not say so with `&`.
    ///
    /// ## Why is this bad
    /// Without `&` the compiler may give the output the register of an input that is not used afterwards: the write
    /// then destroys the input. nvcc 13.5 and clang 19 both do it where a variable is updated in a loop or under
    /// an `if`, so the statement works in one place and computes wrong values in another, without any message.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void multiply(unsigned &low, unsigned &high, unsigned a, unsigned b) {
    ///   asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=r"(low), "=r"(high) : "r"(a), "r"(b));
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void multiply(unsigned &low, unsigned &high, unsigned a, unsigned b) {
    ///   asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=&r"(low), "=r"(high) : "r"(a), "r"(b));
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Outputs and inputs of different letters are taken to be kept apart. A write that copies the very input is no
    /// fault, nor is an input that is a constant. An output with `+` is reported only where an input is the same
    /// expression: with different ones it depends on what the caller passes. Where the write copies a variable to
    /// itself, only a loop that hands one variable to the next breaks it: that is a warning, and in a kernel without
    /// control flow around the statement nothing. So is an input whose name looks like a macro of another file. In a
    /// template of thousands of instructions whose guards and branches exclude nearly all conflicts, not every pair of
    /// a write and a read is compared.
    name: "asm-missing-early-clobber",
    code: "P1001",
    former: ["H0601"],
    class: Hazard,
    level: Error,
    summary: "an output that is written while an input in the same register is still needed",
    check: Asm(check),
}

/// Of a statement with more operands than this the first conflict is told, whichever it is.
const MAX_COMPARED: usize = 64;

/// So many pairs of a write and a read are compared in any statement,
const MIN_PAIRS: usize = 1 << 16;
/// and so many more for each operand and each use of one.
const PAIRS_PER_USE: usize = 64;

/// A write of an output and a later read of an input.
#[derive(Clone, Copy)]
struct Conflict {
    write: u32,
    read: u32,
    input: usize,
    /// Whether output and input are the same expression.
    same: bool,
    /// Whether what is written is the old value of the same variable.
    copy: bool,
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.broken || !unit.statement.complete {
        return;
    }
    let candidates: Vec<usize> =
        (0..unit.operands.len()).filter(|&output| may_clobber(unit, output)).collect();
    // A single instruction reads all that it needs before it writes.
    if candidates.is_empty() || unit.instructions().nth(1).is_none() {
        return;
    }
    let letters: HashSet<Option<char>> = (0..unit.operands.len())
        .filter(|&input| may_be_clobbered(unit, input))
        .map(|input| unit.operands[input].letter)
        .collect();
    if !candidates.iter().any(|&output| letters.contains(&unit.operands[output].letter)) {
        return;
    }
    let Some(facts) = unit.facts() else { return };
    let comparison = Comparison::new(unit, &facts);
    for output in candidates {
        let Some(conflict) = comparison.conflict(output) else { continue };
        if conflict.copy && !is_under_control_flow(unit) {
            continue;
        }
        let certain = !conflict.copy && !may_be_macro(unit, conflict.input);
        let found = finding(unit, output, &conflict);
        // In SSA it takes a loop or a branch that joins the two.
        let certain = certain && unit.statement.host.is_cuda();
        let severity = if certain { found.severity } else { Severity::Warning };
        out.push(Diagnostic { severity, ..found });
    }
}

/// The expression of an operand.
fn expression<'a>(unit: &Unit<'a>, index: usize) -> &'a str {
    unit.statement.operands().nth(index).map_or("", |operand| operand.expression.text(unit.source))
}

/// Whether the statement may be in a loop or under a condition, in its own function or in one that this is inlined into.
fn is_under_control_flow(unit: &Unit<'_>) -> bool {
    let Some(function) = unit.statement.function else { return true };
    !unit.file.function(function).qualifiers.global
        || unit.siblings.has_labels(function)
        || unit.statement.region.is_some_and(|region| unit.siblings.is_under_control_flow(region))
}

/// Whether an input is a name that nothing in sight declares and that is spelled as macros are: perhaps a constant.
fn may_be_macro(unit: &Unit<'_>, input: usize) -> bool {
    let text = expression(unit, input);
    let unknown = unit.statement.operands().nth(input).is_some_and(|operand| operand.ctype == CType::Unknown);
    unknown && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether an operand is an output without `&`.
fn may_clobber(unit: &Unit<'_>, index: usize) -> bool {
    let operand = &unit.operands[index];
    let early = unit.statement.outputs.get(index).is_some_and(|output| output.constraint.is_early_clobber());
    operand.mode != Mode::Input && operand.register.is_some() && !early
}

/// Whether the compiler may put an input into the register of an output of its letter.
fn may_be_clobbered(unit: &Unit<'_>, index: usize) -> bool {
    let operand = &unit.operands[index];
    let constant = unit.statement.operands().nth(index).is_some_and(|operand| operand.constant);
    operand.mode == Mode::Input && operand.register.is_some() && !constant
}

/// A write of an output.
#[derive(Clone, Copy)]
struct Write {
    instruction: u32,
    condition: Option<Condition>,
    /// The register that it copies.
    copied: Option<Register>,
    /// Whether that is an operand of the same expression: a variable may share its register with itself, which changes
    /// nothing.
    itself: bool,
}

/// Finds which writes of outputs destroy which inputs. Work is in proportion to the statement: inputs are looked up by
/// letter or expression, of the writes of a block the first one says what the others do, and an output whose writes
/// are before no read of its letter is passed over.
struct Comparison<'c, 'u> {
    unit: &'c Unit<'u>,
    facts: &'c FunctionFacts<'c>,
    /// For each operand the instructions that read it, ascending.
    reads: Vec<Vec<u32>>,
    /// For each operand the writes that matter, ascending.
    writes: Vec<Vec<Write>>,
    /// The inputs that an output with `=` may share a register with.
    by_letter: HashMap<char, Letter<'c>>,
    /// Those that an output with `+` may share one with.
    by_expression: HashMap<(char, &'u str), Vec<usize>>,
    /// How many more pairs are compared.
    left: Cell<usize>,
}

/// The inputs of a letter.
struct Letter<'c> {
    inputs: Vec<usize>,
    /// The inputs that an instruction reads.
    read_by: HashMap<u32, Vec<usize>>,
    /// Whether a read of any of them is reached.
    to_read: Reach<'c, 'c>,
}

impl<'c, 'u> Comparison<'c, 'u> {
    fn new(unit: &'c Unit<'u>, facts: &'c FunctionFacts<'c>) -> Self {
        let count = unit.operands.len();
        let (mut reads, mut writes) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut uses = count;
        let mut known = HashSet::new();
        for instruction in unit.instructions() {
            let handle = Handle::new(instruction);
            let mut note = |register: Register, access: Access| {
                let Some(operand) = unit.operand_of(register) else { return };
                uses += 1;
                if access.reads() && reads[operand].last() != Some(&instruction) {
                    reads[operand].push(instruction);
                }
                if matches!(access, Access::Write | Access::ReadWrite) {
                    let copied = copied(facts, instruction, register);
                    let condition = facts.condition(instruction);
                    let same = |from: usize| expression(unit, operand) == expression(unit, from);
                    let itself = copied.and_then(|from| unit.operand_of(from)).is_some_and(same);
                    // What follows a later write of the block follows the first one too.
                    if known.insert((operand, facts.cfg.block_of(handle), condition, copied)) {
                        writes[operand].push(Write { instruction, condition, copied, itself });
                    }
                }
            };
            let guard = facts.body.instructions[handle].guard.and_then(|guard| guard.register);
            guard.into_iter().for_each(|register| note(register, Access::Read));
            for_each_register(facts.module, facts.body, handle, note);
        }
        let mut inputs: HashMap<char, Vec<usize>> = HashMap::new();
        let mut by_expression: HashMap<(char, &str), Vec<usize>> = HashMap::new();
        for (input, operand) in unit.operands.iter().enumerate() {
            if let Some(letter) = operand.letter.filter(|_| may_be_clobbered(unit, input)) {
                inputs.entry(letter).or_default().push(input);
                by_expression.entry((letter, expression(unit, input))).or_default().push(input);
            }
        }
        let by_letter = inputs.into_iter().map(|(letter, inputs)| {
            let mut read_by: HashMap<u32, Vec<usize>> = HashMap::new();
            for &input in &inputs {
                reads[input].iter().for_each(|read| read_by.entry(*read).or_default().push(input));
            }
            let mut all: Vec<u32> = read_by.keys().copied().collect();
            all.sort_unstable();
            let to_read = Reach::to(facts, Ends::Instructions(&all), &[]);
            (letter, Letter { inputs, read_by, to_read })
        });
        let by_letter = by_letter.collect();
        let left = Cell::new(MIN_PAIRS + PAIRS_PER_USE * uses);
        Self { unit, facts, reads, writes, by_letter, by_expression, left }
    }

    /// The conflict of an output that is told: first one that is no copy, then a variable that is updated, then no macro.
    fn conflict(&self, output: usize) -> Option<Conflict> {
        let operand = &self.unit.operands[output];
        let letter = self.by_letter.get(&operand.letter?)?;
        let first = self.writes[output].iter().find_map(|write| letter.to_read.at(write.instruction))?;
        let inputs = match operand.mode {
            Mode::Output => &letter.inputs,
            // Which value goes in is not known.
            _ if expression(self.unit, output).is_empty() => return None,
            _ => self.by_expression.get(&(operand.letter?, expression(self.unit, output)))?,
        };
        let large = self.unit.operands.len() > MAX_COMPARED;
        let rank =
            |conflict: &Conflict| (!conflict.copy, conflict.same, !may_be_macro(self.unit, conflict.input));
        let mut found: Option<Conflict> = None;
        // Where any conflict will do, the next read is most likely to be one.
        let next = letter.read_by.get(&first).into_iter().flatten();
        let next = next.filter(|input| large && inputs.binary_search(input).is_ok());
        for &input in next.chain(inputs) {
            let same = expression(self.unit, output) == expression(self.unit, input)
                && !expression(self.unit, output).is_empty();
            let settled = |found: Conflict| !found.copy && (found.same || !same && rank(&found).2);
            if (large && found.is_some()) || self.left.get() == 0 {
                break;
            }
            if found.is_some_and(settled) {
                continue;
            }
            for (write, read) in self.pairs(output, input) {
                let other = Conflict { write: write.instruction, read, input, same, copy: write.itself };
                if found.is_none_or(|found| rank(&found) < rank(&other)) {
                    found = Some(other);
                }
                if !write.itself {
                    // No other pair of the two says more.
                    break;
                }
            }
        }
        found
    }

    /// The writes of an output after which an input that it destroys is read, and the reads.
    fn pairs(&self, output: usize, input: usize) -> impl Iterator<Item = (Write, u32)> {
        let register = self.unit.operands[input].register;
        let pairs = self.reads[input].iter().flat_map(move |&read| {
            let to_read = OnceCell::new();
            let reached = move |write: &Write| {
                let block = |instruction: u32| self.facts.cfg.block_of(Handle::new(instruction));
                if block(write.instruction) == block(read) && write.instruction < read {
                    return true;
                }
                if self.facts.cfg.successors(block(write.instruction)).next().is_none() {
                    return false;
                }
                self.charge(if to_read.get().is_none() { self.facts.cfg.block_count() } else { 0 });
                let to_read: &Reach<'_, '_> =
                    to_read.get_or_init(|| Reach::to(self.facts, Ends::Instructions(&[read]), &[]));
                to_read.at(write.instruction).is_some()
            };
            let conflicts = move |write: &&Write| {
                self.charge(1);
                // Copying the input to the output that has its register does nothing.
                let copies = write.copied.is_some() && write.copied == register;
                !copies && reached(write) && !exclude_each_other(self.facts, write, read)
            };
            self.writes[output].iter().filter(conflicts).map(move |write| (*write, read))
        });
        pairs.take_while(|_| self.left.get() > 0)
    }

    fn charge(&self, pairs: usize) {
        self.left.set(self.left.get().saturating_sub(pairs));
    }
}

/// Whether the guards of a write and a read are opposite, and the predicate is not written in between.
fn exclude_each_other(facts: &FunctionFacts<'_>, write: &Write, read: u32) -> bool {
    let (Some(a), Some(b)) = (write.condition, facts.condition(read)) else { return false };
    a == b.negated() && {
        let definitions = facts.definitions(a.register);
        let next = definitions.partition_point(|definition| *definition < write.instruction);
        definitions.get(next).is_none_or(|definition| *definition >= read)
    }
}

/// The register that an instruction copies to another one.
fn copied(facts: &FunctionFacts<'_>, instruction: u32, to: Register) -> Option<Register> {
    let operands = facts.body.operands(Handle::new(instruction));
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    match operands {
        [Operand::Register { register: written, .. }, Operand::Register { register: read, .. }]
            if computes == Some(Computation::Move) && *written == to =>
        {
            Some(*read)
        }
        _ => None,
    }
}

/// Which use of the statement gives the two one register.
fn use_that_breaks(unit: &Unit<'_>, output: usize, conflict: &Conflict) -> String {
    let short = |index: usize| expression(unit, index).split_whitespace().collect::<Vec<_>>().join(" ");
    if conflict.same {
        let name = short(output);
        return format!("it breaks where a loop or an `if` updates `{name}`: both are its register then");
    }
    let (to, from) = (short(output), short(conflict.input));
    if to.is_empty() || from.is_empty() {
        return "it breaks where a loop or an `if` hands the output on as the next input".to_owned();
    }
    format!("it breaks where a loop or an `if` stores `{to}` to the variable that `{from}` came from")
}

fn finding(unit: &Unit<'_>, output: usize, conflict: &Conflict) -> Diagnostic {
    let constraint =
        unit.statement.outputs.get(output).map_or(unit.statement.keyword, |found| found.constraint.span);
    let message = format!(
        "`{} is written before the last read of `{}, which may be in the same register",
        unit.operand_name(output),
        unit.operand_name(conflict.input),
    );
    let place =
        |instruction: u32| unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
    let letter = unit.operands[output].letter.unwrap_or('r');
    let fix = constraint_fix(unit, output, |text| match text.find(['=', '+']) {
        Some(at) => format!("{}&{}", &text[..=at], &text[at + 1..]),
        None => text.to_owned(),
    });
    let (label, note, help) = match unit.statement.host {
        Host::Rust => (
            "needs `out`".to_owned(),
            "with `lateout` the compiler assumes that all inputs are read before any output is written",
            "write `out` instead of `lateout`, or `inout` instead of `inlateout`",
        ),
        _ => (
            format!("needs `&`: `\"=&{letter}\"`"),
            "without `&` the compiler assumes that all inputs are read before any output is written",
            "mark the output as written early: `&` after the `=`",
        ),
    };
    let found = RULE
        .at(constraint, message)
        .with_label(label)
        .with_secondary(place(conflict.write), "written here")
        .with_secondary(place(conflict.read), format!("`%{}` is still read here", conflict.input))
        .with_note(note)
        .with_note(use_that_breaks(unit, output, conflict))
        .with_help(help);
    with_certain(found, fix)
}
