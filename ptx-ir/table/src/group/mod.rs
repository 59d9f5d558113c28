//! Resolves a group of syntax lines with the clauses that they share.

mod condition;
mod narrowing;
mod operand;

use std::cell::Cell;
use std::collections::BTreeMap;

use condition::can_hold;

use crate::class_words::classes;
use crate::clauses::Clause;
use crate::fault::{Fault, Faults};
use crate::model::{Condition, Deviation, Form, Gate, Rule, Slot, Spare};
use crate::operands::{Kind, OperandClause};
use crate::parser::{CountsDefinition, FormDefinition, SlotDefinition};
use crate::resolver::Shared;
use crate::scope::Scope;
use crate::syntax::{Place, Syntax};

/// Whether all of some operands are among those of a line.
fn has_all(names: &[&str], operands: &[String]) -> bool {
    operands.iter().all(|operand| names.contains(&operand.as_str()))
}

/// Of `minimum|maximum` the word that belongs to the alternative of the opcode.
fn chosen(word: &str, syntax: &Syntax) -> Result<String, String> {
    let (index, count) = syntax.alternative;
    let mut words = word.split('|');
    match word.split('|').count() {
        1 => Ok(word.to_owned()),
        found if found == count => Ok(words.nth(index).unwrap_or_default().to_owned()),
        found => Err(format!("`{word}` has {found} words for {count} opcodes")),
    }
}

/// The names of operands and of their parts.
fn operand_names<'a>(places: &'a [Place], names: &mut Vec<&'a str>) {
    for place in places {
        names.push(&place.name);
        operand_names(&place.parts, names);
    }
}

/// A clause with its file, and whether it is one of shared clauses, which may be about values that this group lacks.
struct Located<'a, T> {
    clause: &'a T,
    file: &'a str,
    shared: bool,
}

impl<T> Clone for Located<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Located<'_, T> {}

/// Syntax lines and the clauses they share.
pub struct Group<'a> {
    shared: &'a Shared,
    scope: &'a Scope<'a>,
    definition: &'a FormDefinition,
    /// The clauses, those of `use` among them.
    clauses: Vec<Located<'a, Clause>>,
    /// What the group defines beside what is in scope.
    slots: BTreeMap<String, SlotDefinition>,
    counts: BTreeMap<String, CountsDefinition>,
    /// The slots of every syntax line, to tell a name of another line from a mistake.
    all_slots: Vec<Slot>,
    /// The file of the clause that is resolved, and whether it is shared.
    file: Cell<&'a str>,
    lenient: Cell<bool>,
}

impl<'a> Group<'a> {
    /// Takes in the clauses and reports those that no syntax line can have.
    pub fn new(
        shared: &'a Shared,
        scope: &'a Scope<'a>,
        file: &'a str,
        definition: &'a FormDefinition,
        faults: &mut Faults,
    ) -> Self {
        let mut group = Self {
            shared,
            scope,
            definition,
            clauses: Vec::new(),
            slots: BTreeMap::new(),
            counts: BTreeMap::new(),
            all_slots: Vec::new(),
            file: Cell::new(file),
            lenient: Cell::new(false),
        };
        for clause in &definition.clauses {
            let Clause::Use { name, line } = clause else {
                group.clauses.push(Located { clause, file, shared: false });
                continue;
            };
            match scope.clauses.get(name) {
                Some(table) => {
                    let file = table.file;
                    let located =
                        table.get().clauses.iter().map(|clause| Located { clause, file, shared: true });
                    group.clauses.extend(located);
                }
                None => faults.push(Fault::new(file, *line, format!("no clauses are called `{name}`"))),
            }
        }
        // What the group says itself comes before what clauses say that it uses.
        let (shared, own): (Vec<_>, Vec<_>) = group.clauses.iter().partition(|located| located.shared);
        for located in own.into_iter().chain(shared) {
            let taken = group.take_in(located);
            faults.keep(taken);
        }
        group.all_slots = definition.syntaxes.iter().flat_map(|syntax| group.form_slots(syntax)).collect();
        group
    }

    fn take_in(&mut self, Located { clause, file, shared }: Located<'a, Clause>) -> Result<(), Fault> {
        self.enter(file, shared);
        match clause {
            Clause::Slot(slot) => {
                let mut pieces = self.definition.syntaxes.iter().flat_map(|syntax| &syntax.pieces);
                if pieces.any(|(piece, _)| piece[1..] == slot.name) {
                    self.applied(clause);
                } else if !shared {
                    return Err(self.fault(slot.line, format!("no syntax line has `.{}`", slot.name)));
                }
                if !self.slots.contains_key(&slot.name) {
                    self.slots.insert(slot.name.clone(), self.scope.expanded(slot));
                } else if !shared {
                    return Err(self.fault(slot.line, format!("`.{}` is defined twice", slot.name)));
                }
            }
            Clause::Counts(table) => {
                self.applied(clause);
                if !self.counts.contains_key(&table.name) {
                    self.counts.insert(table.name.clone(), table.clone());
                } else if !shared {
                    return Err(self.fault(table.line, format!("`{}` is defined twice", table.name)));
                }
            }
            Clause::Operand(operand) => self.check_operand_name(operand)?,
            Clause::Use { line, .. } => return Err(self.fault(*line, "shared clauses use no others")),
            Clause::Either { line, .. } => return Err(self.fault(*line, "only a form has alternatives")),
            Clause::Rule { .. }
            | Clause::Gate { .. }
            | Clause::Effect { .. }
            | Clause::Deviation { .. }
            | Clause::Idle { .. }
            | Clause::Ignores { .. }
            | Clause::FixedOrder { .. }
            | Clause::Mode { .. }
            | Clause::Beyond { .. }
            | Clause::Misread { .. }
            | Clause::Does { .. } => {}
        }
        Ok(())
    }

    fn enter(&self, file: &'a str, shared: bool) {
        self.file.set(file);
        self.lenient.set(shared);
    }

    /// Notes that a clause holds for a form.
    fn applied(&self, clause: &Clause) {
        self.shared.applied.borrow_mut().insert(std::ptr::from_ref(clause).addr());
    }

    fn fault(&self, line: usize, message: impl Into<String>) -> Fault {
        Fault::new(self.file.get(), line, message)
    }

    fn check_operand_name(&self, clause: &OperandClause) -> Result<(), Fault> {
        fn has(places: &[Place], name: &str) -> bool {
            places.iter().any(|place| place.name == name || has(&place.parts, name))
        }
        let sized = match &clause.kind {
            Kind::Address { sized, .. } => sized.as_deref(),
            _ => None,
        };
        for name in std::iter::once(clause.bare_name()).chain(sized) {
            let is_there = self.definition.syntaxes.iter().any(|syntax| has(&syntax.operands, name));
            if !is_there && !self.lenient.get() {
                return Err(self.fault(clause.line, format!("no syntax line has an operand `{name}`")));
            }
        }
        Ok(())
    }

    /// The set of values of a name.
    fn slot(&self, name: &str) -> Option<&SlotDefinition> {
        self.slots.get(name).or_else(|| self.scope.slots.get(name).map(|definition| definition.get()))
    }

    /// The values of the slot that a word names, else the word.
    fn named_values(&self, word: &str) -> Vec<String> {
        self.slot(&word[1..]).map_or_else(|| vec![word.to_owned()], |slot| slot.values.clone())
    }

    fn form_slots(&self, syntax: &Syntax) -> Vec<Slot> {
        let slot = |(piece, optional): &(String, bool)| Slot {
            name: piece[1..].to_owned(),
            values: self.named_values(piece),
            optional: *optional,
        };
        syntax.pieces.iter().map(slot).collect()
    }

    /// The forms of the syntax lines that have no mistake.
    pub fn forms(&self, faults: &mut Faults) -> Vec<Form> {
        let file = self.file.get();
        let mut forms = Vec::new();
        let has_since = |located: &Located<'_, Clause>| matches!(located.clause, Clause::Gate { since: true, when, operands, .. } if when.is_empty() && operands.is_empty());
        if self.definition.complete
            && !self.clauses.iter().any(has_since)
            && let Some(syntax) = self.definition.syntaxes.first()
        {
            faults.push(Fault::new(&syntax.file, syntax.line, "no clause says `since` which version"));
        }
        for syntax in self.definition.syntaxes.iter().flat_map(|syntax| self.split(syntax)) {
            let before = faults.len();
            let form = self.form(&syntax, faults);
            if faults.len() == before {
                forms.push(form);
            }
        }
        for located in self.clauses.iter().filter(|located| !located.shared) {
            let unused = !self.shared.applied.borrow().contains(&std::ptr::from_ref(located.clause).addr());
            if unused && faults.len() == 0 {
                faults.push(Fault::new(
                    file,
                    located.clause.line(),
                    "no syntax line has what this clause is about",
                ));
            }
        }
        forms
    }

    fn form(&self, syntax: &Syntax, faults: &mut Faults) -> Form {
        let mut form = Form {
            section: self.definition.section.clone(),
            root: syntax.root.clone(),
            syntax: syntax.text.clone(),
            file: syntax.file.clone(),
            line: syntax.line,
            slots: self.form_slots(syntax),
            opcode_words: syntax.opcode_words,
            rules: Vec::new(),
            gates: Vec::new(),
            operands: Vec::new(),
            effects: Vec::new(),
            deviations: Vec::new(),
            idle: Vec::new(),
            spare: Vec::new(),
            strict_order: false,
            texture_mode: None,
            narrowed: syntax.repeated,
            misread: None,
            does: None,
            bracket: None,
            beyond: Vec::new(),
        };
        if let Some(slot) = form.slots.iter().find(|slot| slot.values.len() > 60) {
            let message = format!("`.{}` has more than 60 values", slot.name);
            faults.push(Fault::new(&syntax.file, syntax.line, message));
        }
        let mut names = Vec::new();
        operand_names(&syntax.operands, &mut names);
        for located in &self.clauses {
            self.enter(located.file, located.shared);
            match self.clause(&mut form, syntax, &names, located.clause) {
                Ok(true) => self.applied(located.clause),
                Ok(false) => {}
                Err(fault) => faults.push(fault),
            }
        }
        // What is misread, or disagreed with on purpose, says why it is beyond the manual.
        let known = form.misread.clone().or_else(|| form.deviations.first().map(|each| each.reason.clone()));
        for (_, reason) in form.beyond.iter_mut().filter(|(_, reason)| reason.is_empty()) {
            match &known {
                Some(known) => reason.clone_from(known),
                None => faults.push(Fault::new(&syntax.file, syntax.line, "`beyond` needs a reason")),
            }
        }
        for place in &syntax.operands {
            let operand = self.operand(&form.slots, syntax, place);
            form.operands.extend(faults.keep(operand));
        }
        // An operand that was split off is there, so its modifiers are.
        for place in syntax.operands.iter().filter(|place| place.required) {
            let then = form.operands.iter().find(|operand| operand.name == place.name);
            let then = then.map(|operand| operand.when.clone()).unwrap_or_default();
            form.rules.push(Rule { when: Vec::new(), then, needs: true });
        }
        form
    }

    /// Adds what a clause says, and tells whether it says anything of this syntax line, whose operands are `names`.
    fn clause(
        &self,
        form: &mut Form,
        syntax: &Syntax,
        names: &[&str],
        clause: &Clause,
    ) -> Result<bool, Fault> {
        match clause {
            Clause::Rule { when, then, needs, line } => {
                let (when, then) = (self.condition(&form.slots, when)?, self.condition(&form.slots, then)?);
                let Some(when) = when else { return Ok(false) };
                let both: Condition = when.iter().chain(then.iter().flatten()).copied().collect();
                if !can_hold(&both) {
                    return Err(self.fault(*line, "the two sides are about different values of one modifier"));
                }
                match then {
                    Some(then) => form.rules.push(Rule { when, then, needs: *needs }),
                    None if *needs => form.rules.push(Rule { when, then: vec![(0, 0)], needs: true }),
                    None => return Ok(false),
                }
            }
            Clause::Gate { operands, .. } if !has_all(names, operands) => return Ok(false),
            Clause::Gate { .. } if self.lacks(syntax, clause) => return Ok(false),
            Clause::Gate {
                operands,
                classes: words,
                marks,
                line,
                when,
                since: _,
                version,
                until,
                targets,
                amended,
            } => {
                let Some(when) = self.condition(&form.slots, when)? else { return Ok(false) };
                let of_operand = !operands.is_empty();
                let of_classes = of_operand && (!words.is_empty() || !marks.is_empty());
                form.gates.push(Gate {
                    present: if of_classes { Vec::new() } else { operands.clone() },
                    when,
                    version: *version,
                    until: *until,
                    targets: targets.bits(),
                    of_operand,
                    operands: if of_classes { operands.clone() } else { Vec::new() },
                    classes: classes(self.file.get(), *line, words)?,
                    amended: *amended,
                });
            }
            Clause::Effect { words, when, line } => {
                let Some(when) = self.condition(&form.slots, when)? else { return Ok(false) };
                let chosen = words.iter().map(|word| chosen(word, syntax));
                let words =
                    chosen.collect::<Result<Vec<_>, _>>().map_err(|message| self.fault(*line, message))?;
                crate::words::effects(&words).map_err(|message| self.fault(*line, message))?;
                form.effects.push((when, words));
            }
            Clause::Deviation { classes: names, reason, when, line } => {
                let classes = classes(self.file.get(), *line, names)?;
                let Some(when) = self.condition(&form.slots, when)? else { return Ok(false) };
                form.deviations.push(Deviation { when, classes, reason: reason.clone() });
            }
            Clause::Idle { when, .. } => {
                let Some(when) = self.condition(&form.slots, when)? else { return Ok(false) };
                form.idle.push(when);
            }
            Clause::Ignores { words, ahead, length, when, version, targets, .. } => {
                let Some(when) = self.condition(&form.slots, when)? else { return Ok(false) };
                let words = words.iter().flat_map(|word| self.named_values(word)).collect();
                let (ahead, length, version, targets) = (*ahead, *length, *version, targets.bits());
                form.spare.push(Spare { words, ahead, length, when, version, targets });
            }
            Clause::Beyond { when, reason, .. } => {
                let Some(when) = self.condition(&form.slots, when)? else { return Ok(false) };
                form.beyond.push((when, reason.clone()));
            }
            Clause::FixedOrder { .. } => form.strict_order = true,
            Clause::Does { line, .. } if form.does.is_some() => {
                return Err(self.fault(*line, "what the form does is there twice"));
            }
            Clause::Does { does, .. } => form.does = Some(does.clone()),
            Clause::Mode { mode, operand, .. } => {
                if operand.as_ref().is_some_and(|(name, there)| names.contains(&name.as_str()) != *there) {
                    return Ok(false);
                }
                form.texture_mode = Some(mode);
            }
            Clause::Misread { how, bracket, .. } => {
                form.misread = Some(how.clone());
                form.bracket = bracket
                    .as_ref()
                    .and_then(|name| syntax.operands.iter().position(|place| place.name == *name));
            }
            Clause::Operand(operand) => {
                return Ok(names.contains(&operand.bare_name())
                    && self.condition(&form.slots, &operand.when)?.is_some());
            }
            Clause::Slot(_) | Clause::Counts(_) | Clause::Use { .. } | Clause::Either { .. } => {}
        }
        Ok(true)
    }
}
