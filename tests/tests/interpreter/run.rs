//! Runs programs in all ways.

use std::collections::BTreeSet;

use super::program::{Guard, Logic, Node, PREDICATES, REGISTERS, Tested};

/// Rounds of a loop that are tried.
const MAX_ROUNDS: usize = 3;
/// Runs of a program; one that has more is not judged.
const MAX_RUNS: usize = 20_000;

/// What is undefined where it is read: registers, and lines that read the carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undefined {
    pub registers: BTreeSet<u8>,
    pub carries: BTreeSet<u32>,
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
                for _ in 0..=self.choose(MAX_ROUNDS) {
                    self.run(body);
                }
            }
        }
    }
}

/// Runs a program in all ways; none where there are too many.
pub fn truth(nodes: &[Node]) -> Option<Undefined> {
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
            if runs > MAX_RUNS {
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
