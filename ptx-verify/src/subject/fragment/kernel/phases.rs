//! Phases that are asked for with a parity of which nothing is known: floats, bits of unions and tables that are not followed.
//!
//! What is not known is read as if memory had it, which may decide where control goes. As a parity it would say that the phases
//! never turn: who asks so is not understood.

use std::collections::{HashMap, HashSet};

use super::value::REGISTER;
use super::{ANYTHING, Lowering, Unclear};

/// What asks for the parity of a phase has this word.
const PARITY: &str = "wait.parity";

impl Lowering<'_, '_> {
    /// Whether all parities that are asked for may be known.
    pub(super) fn all_parities_may_be_known(&mut self) -> Result<(), Unclear> {
        let unknown = format!("[{ANYTHING}]");
        if !self.text.contains(PARITY) || !self.text.contains(&unknown) {
            return Ok(());
        }
        // For each register those that are made of it.
        let mut makes: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut open: Vec<&str> = Vec::new();
        let mut asked: Vec<(usize, &str)> = Vec::new();
        let mut at = 0;
        for instruction in self.text.split_inclusive([';', '\n']) {
            let begin = at;
            at += instruction.len();
            let words = instruction.trim();
            if words.contains(PARITY) {
                let after = words.rsplit_once(']').map_or("", |(_, after)| after);
                // A limit of time may follow it.
                asked.extend(registers(after).next().map(|parity| (begin, parity)));
                continue;
            }
            let is_store = words.starts_with("st") || words.starts_with('@');
            let mut all = registers(words);
            let Some(to) = all.next().filter(|_| !is_store) else { continue };
            if words.starts_with("ld") {
                // What memory has elsewhere is assumed, and known as that.
                open.extend(words.contains(&unknown).then_some(to));
                continue;
            }
            for from in all {
                makes.entry(from).or_default().push(to);
            }
        }
        let mut of_nothing: HashSet<&str> = HashSet::new();
        while let Some(register) = open.pop() {
            if of_nothing.insert(register) {
                open.extend(makes.get(register).into_iter().flatten());
            }
        }
        let Some((place, _)) = asked.iter().find(|(_, parity)| of_nothing.contains(parity)) else {
            return Ok(());
        };
        let shown = self.places.partition_point(|(from, ..)| *from as usize <= *place);
        self.trouble =
            shown.checked_sub(1).and_then(|index| self.places.get(index)).map(|(_, shown, _)| *shown);
        Err(Unclear)
    }
}

/// The registers of the source, and predicates made of them, that an instruction names.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|each: char| !(each.is_alphanumeric() || matches!(each, '%' | '_')))
        .filter(|word| word.starts_with(REGISTER) && *word != ANYTHING)
}
