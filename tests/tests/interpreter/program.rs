//! Small programs, made at random, and their text.

use std::fmt::Write;

use arbtest::arbitrary::{self, Unstructured};

pub const PREDICATES: u8 = 3;
pub const REGISTERS: u8 = 3;

/// `@%p1` or `@!%p1`.
pub type Guard = Option<(u8, bool)>;

#[derive(Clone, Copy, Debug)]
pub enum Logic {
    Copy,
    Not,
    And,
    Or,
    Xor,
}

/// What is compared with 0.
#[derive(Clone, Copy, Debug)]
pub enum Tested {
    /// A parameter of the kernel, which its predicate was computed of.
    Parameter(u8),
    /// A number that `selp` made.
    Number(u8),
}

#[derive(Clone, Debug)]
pub enum Statement {
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

pub fn statements(u: &mut Unstructured<'_>, depth: u32) -> arbitrary::Result<Vec<Statement>> {
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
        // One in another makes more ways than a walk goes.
        14 if depth == 0 => {
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
pub enum Node {
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

pub fn program(statements: &[Statement]) -> (String, Vec<Node>) {
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
