//! Carry and initialisation findings against the truth: small programs are run with all values of their
//! predicates and all ways that their open branches and loops can take, and what reads something undefined on
//! one of them is exactly what is reported.

use std::collections::BTreeSet;
use std::fmt::Write;

use arbtest::arbitrary::{self, Unstructured};
use ptx_verify::Config;

const PREDICATES: u8 = 3;
const REGISTERS: u8 = 3;
/// Rounds of a loop that are tried.
const MOST_ROUNDS: usize = 3;
/// Runs of a program; one that has more is not judged.
const MOST_RUNS: usize = 20_000;

/// `@%p1` or `@!%p1`.
type Guard = Option<(u8, bool)>;

#[derive(Clone, Copy, Debug)]
enum Logic {
    Copy,
    Not,
    And,
    Or,
    Xor,
}

/// What is compared with 0.
#[derive(Clone, Copy, Debug)]
enum Tested {
    /// A parameter of the kernel, which its predicate was computed of.
    Parameter(u8),
    /// A number that `selp` made.
    Number(u8),
}

#[derive(Clone, Debug)]
enum Statement {
    Set(u8, Guard),
    Read(u8, Guard),
    /// `add.cc`
    Produce(Guard),
    /// `addc`, or `addc.cc` which produces as well.
    Consume(bool, Guard),
    Predicate(u8, Logic, u8, u8, Guard),
    /// `selp` of 1 and 0 into a number: `%xN` is whether the predicate holds.
    Select(u8, u8, Guard),
    /// `setp.…|q` of a number with 0: a predicate and its complement.
    Compare(u8, u8, Tested, bool, Guard),
    /// A call, which leaves the carry undefined, and may give a register its value.
    Call(Option<u8>, Guard),
    /// `brx.idx` on a value that nothing is known of.
    Switch(Vec<Vec<Statement>>),
    /// On a predicate, or on a value that nothing is known of.
    If(Option<(u8, bool)>, Vec<Statement>, Vec<Statement>),
    /// Runs at least once and any number of times.
    Loop(Vec<Statement>),
}

fn guard(u: &mut Unstructured<'_>) -> arbitrary::Result<Guard> {
    Ok(if u.ratio(1, 2)? { Some((u.int_in_range(0..=PREDICATES - 1)?, u.arbitrary()?)) } else { None })
}

fn statements(u: &mut Unstructured<'_>, depth: u32) -> arbitrary::Result<Vec<Statement>> {
    let count = u.int_in_range(0..=if depth == 0 { 7 } else { 3 })?;
    (0..count).map(|_| statement(u, depth)).collect()
}

fn statement(u: &mut Unstructured<'_>, depth: u32) -> arbitrary::Result<Statement> {
    let register = u.int_in_range(0..=REGISTERS - 1)?;
    let predicate = |u: &mut Unstructured<'_>| u.int_in_range(0..=PREDICATES - 1);
    Ok(match u.int_in_range(0..=if depth < 2 { 15 } else { 11 })? {
        0 | 1 => Statement::Set(register, guard(u)?),
        2 | 3 => Statement::Read(register, guard(u)?),
        4 | 5 => Statement::Produce(guard(u)?),
        6 | 7 => Statement::Consume(u.arbitrary()?, guard(u)?),
        8 => {
            let logic = [Logic::Copy, Logic::Not, Logic::And, Logic::Or, Logic::Xor];
            Statement::Predicate(predicate(u)?, *u.choose(&logic)?, predicate(u)?, predicate(u)?, guard(u)?)
        }
        9 => Statement::Select(predicate(u)?, predicate(u)?, guard(u)?),
        10 => {
            let (first, second, tested) = (predicate(u)?, predicate(u)?, predicate(u)?);
            let tested = if u.arbitrary()? { Tested::Parameter(tested) } else { Tested::Number(tested) };
            // Two results must not be the same register.
            let second = if second == first { (first + 1) % PREDICATES } else { second };
            Statement::Compare(first, second, tested, u.arbitrary()?, guard(u)?)
        }
        11 => Statement::Call(if u.arbitrary()? { Some(register) } else { None }, guard(u)?),
        12 | 13 => Statement::If(guard(u)?, statements(u, depth + 1)?, statements(u, depth + 1)?),
        14 => {
            let count = u.int_in_range(2..=3)?;
            let targets = (0..count).map(|_| statements(u, depth + 1)).collect::<arbitrary::Result<_>>()?;
            Statement::Switch(targets)
        }
        _ => Statement::Loop(statements(u, depth + 1)?),
    })
}

/// The text of a program, and the line of each statement that reads.
struct Text {
    out: String,
    lines: u32,
    labels: u32,
}

impl Text {
    fn line(&mut self, guard: Guard, text: &str) -> u32 {
        if let Some((predicate, value)) = guard {
            write!(self.out, "@{}%p{predicate} ", if value { "" } else { "!" }).unwrap();
        }
        writeln!(self.out, "{text}").unwrap();
        self.lines += 1;
        self.lines
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn unknown(&mut self) {
        self.line(None, "ld.global.u32 %c, [%a];");
        self.line(None, "setp.ne.u32 %q, %c, 0;");
    }
}

/// A program with the lines of its reads.
#[derive(Clone, Debug)]
enum Node {
    Set(u8, Guard),
    Read(u8, Guard),
    Produce(Guard),
    Consume(bool, Guard, u32),
    Predicate(u8, Logic, u8, u8, Guard),
    Select(u8, u8, Guard),
    Compare(u8, u8, Tested, bool, Guard),
    Call(Option<u8>, Guard),
    Switch(Vec<Vec<Node>>),
    If(Option<(u8, bool)>, Vec<Node>, Vec<Node>),
    Loop(Vec<Node>),
}

fn print(text: &mut Text, statements: &[Statement]) -> Vec<Node> {
    statements.iter().map(|statement| print_one(text, statement)).collect()
}

fn print_one(text: &mut Text, statement: &Statement) -> Node {
    match statement {
        Statement::Set(register, guard) => {
            text.line(*guard, &format!("mov.u32 %r{register}, 1;"));
            Node::Set(*register, *guard)
        }
        Statement::Read(register, guard) => {
            text.line(*guard, &format!("st.global.u32 [%a], %r{register};"));
            Node::Read(*register, *guard)
        }
        Statement::Produce(guard) => {
            text.line(*guard, "add.cc.u32 %s, 1, 2;");
            Node::Produce(*guard)
        }
        Statement::Consume(also, guard) => {
            let line = text.line(*guard, if *also { "addc.cc.u32 %s, 1, 2;" } else { "addc.u32 %s, 1, 2;" });
            Node::Consume(*also, *guard, line)
        }
        Statement::Predicate(to, logic, a, b, guard) => {
            let code = match logic {
                Logic::Copy => format!("mov.pred %p{to}, %p{a};"),
                Logic::Not => format!("not.pred %p{to}, %p{a};"),
                Logic::And => format!("and.pred %p{to}, %p{a}, %p{b};"),
                Logic::Or => format!("or.pred %p{to}, %p{a}, %p{b};"),
                Logic::Xor => format!("xor.pred %p{to}, %p{a}, %p{b};"),
            };
            text.line(*guard, &code);
            Node::Predicate(*to, *logic, *a, *b, *guard)
        }
        Statement::Select(to, predicate, guard) => {
            text.line(*guard, &format!("selp.u32 %x{to}, 1, 0, %p{predicate};"));
            Node::Select(*to, *predicate, *guard)
        }
        Statement::Compare(first, second, tested, equal, guard) => {
            let operand = match tested {
                Tested::Parameter(number) => format!("%n{number}"),
                Tested::Number(number) => format!("%x{number}"),
            };
            let relation = if *equal { "eq" } else { "ne" };
            text.line(*guard, &format!("setp.{relation}.u32 %p{first}|%p{second}, {operand}, 0;"));
            Node::Compare(*first, *second, *tested, *equal, *guard)
        }
        Statement::Call(result, guard) => {
            match result {
                Some(register) => text.line(*guard, &format!("call (%r{register}), value;")),
                None => text.line(*guard, "call nothing;"),
            };
            Node::Call(*result, *guard)
        }
        Statement::Switch(targets) => {
            let (list, end) = (text.label(), text.label());
            let labels: Vec<String> = targets.iter().map(|_| text.label()).collect();
            text.unknown();
            text.line(None, &format!("rem.u32 %c, %c, {};", targets.len()));
            text.line(None, &format!("{list}: .branchtargets {};", labels.join(", ")));
            text.line(None, &format!("brx.idx %c, {list};"));
            let mut nodes = Vec::new();
            for (label, target) in labels.iter().zip(targets) {
                text.line(None, &format!("{label}:"));
                nodes.push(print(text, target));
                text.line(None, &format!("bra {end};"));
            }
            text.line(None, &format!("{end}:"));
            Node::Switch(nodes)
        }
        Statement::If(condition, then, otherwise) => {
            let (not, end) = (text.label(), text.label());
            if condition.is_none() {
                text.unknown();
            }
            match condition {
                Some((predicate, value)) => {
                    text.line(Some((*predicate, !value)), &format!("bra {not};"));
                }
                None => {
                    text.line(None, &format!("@!%q bra {not};"));
                }
            }
            let then = print(text, then);
            text.line(None, &format!("bra {end};"));
            text.line(None, &format!("{not}:"));
            let otherwise = print(text, otherwise);
            text.line(None, &format!("{end}:"));
            Node::If(*condition, then, otherwise)
        }
        Statement::Loop(body) => {
            let again = text.label();
            text.line(None, &format!("{again}:"));
            let body = print(text, body);
            text.unknown();
            text.line(None, &format!("@%q bra {again};"));
            Node::Loop(body)
        }
    }
}

fn program(statements: &[Statement]) -> (String, Vec<Node>) {
    let mut text = Text { out: String::new(), lines: 0, labels: 0 };
    for line in [
        ".version 8.0",
        ".target sm_80",
        ".address_size 64",
        ".func (.reg .u32 result) value() { mov.u32 result, 1; ret; }",
        ".func nothing() { ret; }",
        ".visible .entry kernel(.param .u64 out, .param .u32 n0, .param .u32 n1, .param .u32 n2) {",
        ".reg .u64 %a;",
        ".reg .u32 %c, %s;",
        ".reg .u32 %n<3>;",
        ".reg .u32 %x0, %x1, %x2;",
        ".reg .pred %q;",
        ".reg .pred %p<3>;",
        ".reg .u32 %ra, %rb;",
    ] {
        text.line(None, line);
    }
    for number in 0..PREDICATES {
        text.line(None, &format!("mov.u32 %x{number}, 0;"));
    }
    for register in 0..REGISTERS {
        text.line(None, &format!(".reg .u32 %r{register};"));
    }
    text.line(None, "ld.param.u64 %a, [out];");
    for predicate in 0..PREDICATES {
        text.line(None, &format!("ld.param.u32 %n{predicate}, [n{predicate}];"));
        text.line(None, &format!("setp.eq.u32 %p{predicate}, %n{predicate}, 0;"));
    }
    let nodes = print(&mut text, statements);
    text.line(None, "ret;");
    text.line(None, "}");
    (text.out, nodes)
}

/// What is undefined where it is read: registers, and lines that read the carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Undefined {
    registers: BTreeSet<u8>,
    carries: BTreeSet<u32>,
}

/// One run.
struct Run<'t> {
    predicates: [bool; PREDICATES as usize],
    /// Whether each parameter is 0.
    parameters: [bool; PREDICATES as usize],
    numbers: [bool; PREDICATES as usize],
    set: [bool; REGISTERS as usize],
    carry: bool,
    /// The choices of this run; those beyond the end are 0 and are added.
    tape: &'t mut Vec<(usize, usize)>,
    at: usize,
    found: &'t mut Undefined,
}

impl Run<'_> {
    fn choose(&mut self, count: usize) -> usize {
        if self.at == self.tape.len() {
            self.tape.push((0, count));
        }
        self.at += 1;
        self.tape[self.at - 1].0
    }

    fn holds(&self, guard: Guard) -> bool {
        guard.is_none_or(|(predicate, value)| self.predicates[usize::from(predicate)] == value)
    }

    fn run(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.step(node);
        }
    }

    fn step(&mut self, node: &Node) {
        match *node {
            Node::Set(register, guard) => self.set[usize::from(register)] |= self.holds(guard),
            Node::Read(register, guard) => {
                if self.holds(guard) && !self.set[usize::from(register)] {
                    self.found.registers.insert(register);
                }
            }
            Node::Produce(guard) => self.carry |= self.holds(guard),
            Node::Consume(also, guard, line) => {
                if self.holds(guard) {
                    if !self.carry {
                        self.found.carries.insert(line);
                    }
                    self.carry |= also;
                }
            }
            Node::Predicate(to, logic, a, b, guard) => {
                let (a, b) = (self.predicates[usize::from(a)], self.predicates[usize::from(b)]);
                if self.holds(guard) {
                    self.predicates[usize::from(to)] = match logic {
                        Logic::Copy => a,
                        Logic::Not => !a,
                        Logic::And => a && b,
                        Logic::Or => a || b,
                        Logic::Xor => a != b,
                    };
                }
            }
            Node::Select(to, predicate, guard) => {
                if self.holds(guard) {
                    self.numbers[usize::from(to)] = self.predicates[usize::from(predicate)];
                }
            }
            Node::Compare(first, second, tested, equal, guard) => {
                let is_zero = match tested {
                    Tested::Parameter(number) => self.parameters[usize::from(number)],
                    Tested::Number(number) => !self.numbers[usize::from(number)],
                };
                if self.holds(guard) {
                    self.predicates[usize::from(first)] = is_zero == equal;
                    self.predicates[usize::from(second)] = is_zero != equal;
                }
            }
            Node::Call(result, guard) => {
                if self.holds(guard) {
                    self.carry = false;
                    if let Some(register) = result {
                        self.set[usize::from(register)] = true;
                    }
                }
            }
            Node::Switch(ref targets) => {
                let chosen = self.choose(targets.len());
                self.run(&targets[chosen]);
            }
            Node::If(condition, ref then, ref otherwise) => {
                let taken = match condition {
                    Some(_) => self.holds(condition),
                    None => self.choose(2) == 0,
                };
                self.run(if taken { then } else { otherwise });
            }
            Node::Loop(ref body) => {
                for _ in 0..=self.choose(MOST_ROUNDS) {
                    self.run(body);
                }
            }
        }
    }
}

/// Runs a program in all ways; none where there are too many.
fn truth(nodes: &[Node]) -> Option<Undefined> {
    let mut found = Undefined::default();
    let mut runs = 0;
    for values in 0..1_u32 << PREDICATES {
        let mut predicates = [false; PREDICATES as usize];
        for (index, predicate) in predicates.iter_mut().enumerate() {
            *predicate = values >> index & 1 != 0;
        }
        let mut tape = Vec::new();
        loop {
            runs += 1;
            if runs > MOST_RUNS {
                return None;
            }
            let set = [false; REGISTERS as usize];
            let (parameters, numbers) = (predicates, [false; PREDICATES as usize]);
            let carry = false;
            Run { predicates, parameters, numbers, set, carry, tape: &mut tape, at: 0, found: &mut found }
                .run(nodes);
            // The next choices, counted up from the last.
            while tape.last().is_some_and(|&(chosen, count)| chosen + 1 == count) {
                tape.pop();
            }
            match tape.last_mut() {
                Some((chosen, _)) => *chosen += 1,
                None => break,
            }
        }
    }
    Some(found)
}

fn reported(source: &str) -> Undefined {
    let mut found = Undefined::default();
    let config = Config::default();
    for diagnostic in ptx_verify::check(source, &config) {
        match diagnostic.rule {
            "carry-undefined" | "carry-across-call" => {
                let line = source[..diagnostic.span.start as usize].matches('\n').count() as u32 + 1;
                found.carries.insert(line);
            }
            "uninitialized-register" | "maybe-uninitialized-register" => {
                let register = diagnostic.message.split("%r").nth(1).and_then(|rest| rest.chars().next());
                found.registers.insert(register.and_then(|digit| digit.to_digit(10)).unwrap() as u8);
            }
            "uninitialized-predicate" => panic!("{source}\n{diagnostic:?}"),
            rule => {
                assert!(diagnostic.class != ptx_syntax::Class::Invalid, "{rule}\n{source}\n{diagnostic:?}");
            }
        }
    }
    found
}

fn judge(u: &mut Unstructured<'_>) -> arbitrary::Result<bool> {
    let statements = statements(u, 0)?;
    let (source, nodes) = program(&statements);
    let Some(truth) = truth(&nodes) else { return Ok(false) };
    let reported = reported(&source);
    assert_eq!(reported, truth, "left: reported, right: true\n{source}");
    Ok(truth != Undefined::default())
}

/// The same programs every time.
#[test]
fn what_reads_something_undefined_is_reported_and_nothing_else() {
    let mut faulty = 0;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    const PROGRAMS: usize = 3000;
    for _ in 0..PROGRAMS {
        let bytes: Vec<u8> = (0..400)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        faulty += usize::from(judge(&mut Unstructured::new(&bytes)).unwrap_or(false));
    }
    // Both kinds of programs have to be there in numbers.
    assert!(
        (PROGRAMS / 10..PROGRAMS).contains(&faulty),
        "{faulty} of {PROGRAMS} programs read something undefined"
    );
}

/// Other programs every time; a failure prints the seed that repeats it.
#[test]
fn random_programs_agree_with_the_interpreter() {
    arbtest::arbtest(|u| judge(u).map(|_| ())).budget_ms(2000);
}
