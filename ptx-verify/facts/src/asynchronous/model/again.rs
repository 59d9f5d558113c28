//! What executions of programs have shown, for kernels with the same program.
//!
//! Libraries have a kernel for each type of their data. What takes part in its protocol is the same then, to the places of the
//! instructions, and so is what an execution shows.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::program::Program;

/// Programs that are remembered: kernels that are alike lie next to each other.
const MAX_PROGRAMS: usize = 8;

/// A program, and the answers to what was asked of its executions.
#[derive(Debug)]
pub(super) struct Known<Q, A> {
    program: Program,
    answers: Mutex<Vec<(Q, A)>>,
}

impl<Q, A> Deref for Known<Q, A> {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl<Q: PartialEq, A: Clone> Known<Q, A> {
    /// The answer to a question, which the program alone decides.
    pub(super) fn ask(&self, question: Q, find: impl FnOnce() -> A) -> A {
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = answers().iter().find(|(other, _)| *other == question).map(|(_, answer)| answer.clone());
        known.unwrap_or_else(|| {
            let found = find();
            answers().push((question, found.clone()));
            found
        })
    }
}

/// The programs that were executed last.
#[derive(Debug)]
pub(super) struct Recent<Q, A>(Mutex<VecDeque<Arc<Known<Q, A>>>>);

impl<Q, A> Default for Recent<Q, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Q, A> Recent<Q, A> {
    /// What is known of a program.
    pub(super) fn of(&self, program: Program) -> Arc<Known<Q, A>> {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = programs.iter().find(|known| known.program == program) {
            return Arc::clone(known);
        }
        if programs.len() == MAX_PROGRAMS {
            programs.pop_front();
        }
        let known = Arc::new(Known { program, answers: Mutex::default() });
        programs.push_back(Arc::clone(&known));
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_programs_are_asked_once() {
        let recent: Recent<u32, u32> = Recent::default();
        let program = |registers| Program { registers, ..Program::default() };
        assert_eq!(recent.of(program(1)).ask(7, || 1), 1);
        assert_eq!(recent.of(program(1)).ask(7, || 2), 1, "the answer is known");
        assert_eq!(recent.of(program(1)).ask(8, || 3), 3, "another question");
        assert_eq!(recent.of(program(2)).ask(7, || 4), 4, "another program");
    }

    #[test]
    fn only_the_last_programs_are_remembered() {
        let recent: Recent<u32, u32> = Recent::default();
        for registers in 0..=MAX_PROGRAMS {
            recent.of(Program { registers, ..Program::default() }).ask(0, || 1);
        }
        assert_eq!(recent.of(Program::default()).ask(0, || 2), 2);
    }
}
