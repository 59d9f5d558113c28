//! Resolves a group of syntax lines with the clauses that they share.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::check::{all_values, covers};
use crate::class_words::classes;
use crate::clauses::{Atom, Clause};
use crate::fault::{Fault, Faults};
use crate::model::{
    ABSENT, Access, Condition, Count, Deviation, Form, Gate, Operand, Pattern, Rule, Slot, SpaceRef, Spare,
    TypeRef, Variant,
};
use crate::operands::{CountName, Formula, Kind, Layer, OperandClause, TypeName};
use crate::parser::{CountsDefinition, FormDefinition, SlotDefinition};
use crate::resolver::Shared;
use crate::scope::Scope;
use crate::syntax::{Drawing, Place, Syntax};
use crate::target::TargetSet;
use crate::types::Type;
use crate::version::Version;

/// A syntax line without and with an optional operand; the line itself where it has no such operand.
fn split_at(syntax: &Syntax, name: &str) -> Vec<Syntax> {
    let Some(index) = syntax.operands.iter().position(|place| place.optional && place.name == name) else {
        return vec![syntax.clone()];
    };
    let (mut without, mut with) = (syntax.clone(), syntax.clone());
    without.operands.remove(index);
    with.operands[index].optional = false;
    with.operands[index].required = true;
    let drawn = format!("{{, {name}}}");
    without.text = syntax.text.replace(&drawn, "");
    with.text = syntax.text.replace(&drawn, &format!(", {name}"));
    vec![without, with]
}

/// Whether all of some operands are among those of a line.
fn has_all(names: &[&str], operands: &[String]) -> bool {
    operands.iter().all(|operand| names.contains(&operand.as_str()))
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

/// A first version, a last version and targets.
type Requirement = (Version, Version, TargetSet);

/// What meets both requirements; none where nothing does.
fn meet(one: Requirement, other: &&Narrowing<'_>) -> Option<Requirement> {
    let (version, until, targets) = other.requirement;
    let both = (one.0.max(version), one.1.min(until), one.2.intersect(targets));
    (both.0 <= both.1 && !both.2.is_empty()).then_some(both)
}

/// A requirement that only some classes of operands bring.
struct Narrowing<'a> {
    requirement: Requirement,
    clauses: Vec<Located<'a, Clause>>,
}

impl Narrowing<'_> {
    /// Whether what meets this requirement meets the other one too.
    fn asks_for_all_of(&self, other: &Self) -> bool {
        let ((version, until, targets), least) = (self.requirement, other.requirement);
        version >= least.0 && until <= least.1 && targets.intersect(least.2) == targets
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
            Clause::Rule { .. }
            | Clause::Gate { .. }
            | Clause::Effect { .. }
            | Clause::Deviation { .. }
            | Clause::Idle { .. }
            | Clause::Ignores { .. }
            | Clause::FixedOrder { .. }
            | Clause::Mode { .. }
            | Clause::Beyond { .. }
            | Clause::Misread { .. } => {}
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
            Kind::Address { sized, .. } => sized.as_ref(),
            _ => None,
        };
        for name in std::iter::once(&clause.name).chain(sized) {
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

    /// The syntax line without and with each optional operand that has requirements of its own: what an
    /// instruction needs then follows from its form.
    fn split(&self, syntax: &Syntax) -> Vec<Syntax> {
        let mut lines = vec![syntax.clone()];
        for located in &self.clauses {
            let Clause::Gate { operands, classes, marks, .. } = located.clause else { continue };
            let is_whole = classes.is_empty() && marks.is_empty();
            let (Some(name), true) = (operands.first(), is_whole) else { continue };
            lines = lines.iter().flat_map(|line| split_at(line, name)).collect();
        }
        lines.into_iter().flat_map(|line| self.narrow(line)).collect()
    }

    /// The requirements that some classes of a line's operands bring, each once, with the clauses that say it.
    fn narrowings(&self, syntax: &Syntax) -> Vec<Narrowing<'a>> {
        let mut names = Vec::new();
        operand_names(&syntax.operands, &mut names);
        let mut found: Vec<Narrowing<'a>> = Vec::new();
        for located in &self.clauses {
            let Clause::Gate { operands, classes, marks, when, version, until, targets, .. } = located.clause
            else {
                continue;
            };
            if classes.is_empty() && marks.is_empty()
                || !has_all(&names, operands)
                || self.known_condition(&self.form_slots(syntax), when).is_none()
            {
                continue;
            }
            let requirement = (*version, *until, *targets);
            match found.iter_mut().find(|each| each.requirement == requirement) {
                Some(same) => same.clauses.push(*located),
                None => found.push(Narrowing { requirement, clauses: vec![*located] }),
            }
        }
        found
    }

    /// The syntax line, and where some classes of its operands ask for more than the others, after it the lines without
    /// what asks for it. A line that meets one requirement only where it meets another is left out, and so is one of
    /// which nothing meets all requirements.
    fn narrow(&self, line: Syntax) -> Vec<Syntax> {
        let all = self.narrowings(&line);
        let slots = self.form_slots(&line);
        let always = |located: &Located<'_, Clause>| match located.clause {
            Clause::Gate { when, .. } => {
                self.known_condition(&slots, when).is_some_and(|when| holds_always(&slots, &when))
            }
            _ => false,
        };
        let is_there = |narrowed: &u32| {
            let is_without = |index: usize| narrowed >> index & 1 != 0;
            let constant = all.iter().enumerate().filter(|(_, each)| each.clauses.iter().all(always));
            let (without, with): (Vec<_>, Vec<_>) = constant.partition(|(index, _)| is_without(*index));
            let with: Vec<&Narrowing<'_>> = with.into_iter().map(|(_, each)| each).collect();
            let can_be =
                with.iter().try_fold((Version::OLDEST, Version::LATEST, TargetSet::ALL), meet).is_some();
            can_be && !without.iter().any(|(_, each)| with.iter().any(|other| other.asks_for_all_of(each)))
        };
        let lines = (0..1_u32 << all.len()).filter(is_there);
        let lines = lines.enumerate();
        lines.map(|(index, narrowed)| Syntax { narrowed, repeated: index > 0, ..line.clone() }).collect()
    }

    /// The classes that an operand of a narrowed line does not have under a condition, and the marks that it has. A
    /// requirement of values for which a clause before it counts (`earlier`) says nothing of it.
    fn narrowed_classes(
        &self,
        syntax: &Syntax,
        name: &str,
        condition: &Condition,
        earlier: &[Variant],
    ) -> Result<(u128, u128), Fault> {
        let slots = self.form_slots(syntax);
        let is_about = |when: &[Atom]| {
            let Some(when) = self.known_condition(&slots, when) else { return false };
            let both: Condition = condition.iter().chain(&when).copied().collect();
            can_hold(&both) && !earlier.iter().any(|each| covers(&each.when, &when))
        };
        let (mut minus, mut plus) = (0, 0);
        for (index, narrowing) in self.narrowings(syntax).iter().enumerate() {
            for located in narrowing.clauses.iter().filter(|_| syntax.narrowed >> index & 1 != 0) {
                let Clause::Gate { operands, classes: words, marks, line, when, .. } = located.clause else {
                    continue;
                };
                if operands.iter().any(|each| each == name) && is_about(when) {
                    minus |= classes(located.file, *line, words)?;
                    plus |= classes(located.file, *line, marks)?;
                }
            }
        }
        Ok((minus, plus))
    }

    /// Whether a line is one without what brings a requirement.
    fn lacks(&self, syntax: &Syntax, clause: &Clause) -> bool {
        syntax.narrowed != 0
            && self.narrowings(syntax).iter().enumerate().any(|(index, narrowing)| {
                syntax.narrowed >> index & 1 != 0
                    && narrowing.clauses.iter().any(|located| std::ptr::eq(located.clause, clause))
            })
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
                crate::words::effects(words).map_err(|message| self.fault(*line, message))?;
                form.effects.push((when, words.clone()));
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
                return Ok(names.contains(&operand.name.as_str())
                    && self.condition(&form.slots, &operand.when)?.is_some());
            }
            Clause::Slot(_) | Clause::Counts(_) | Clause::Use { .. } => {}
        }
        Ok(true)
    }

    /// The masks of a condition; `None` where it can never hold for this syntax line, because it is about
    /// modifiers of another line of the group.
    fn condition(&self, slots: &[Slot], atoms: &[Atom]) -> Result<Option<Condition>, Fault> {
        let mut masks = Vec::new();
        for atom in atoms {
            match self.atom(slots, atom)? {
                Some(mask) => masks.push(mask),
                None if atom.values.is_empty() => {}
                None => return Ok(None),
            }
        }
        match atoms.first() {
            Some(atom) if !can_hold(&masks) => Err(self
                .fault(atom.line, "this holds for no value: two tests of one modifier exclude each other")),
            _ => Ok(Some(masks)),
        }
    }

    /// The masks of a condition without the values that this form does not have; `None` where nothing is left.
    fn known_condition(&self, slots: &[Slot], atoms: &[Atom]) -> Option<Condition> {
        let mut masks = Vec::new();
        for atom in atoms {
            let mut rest = atom.clone();
            let known = |slot: &Slot, value: &String| {
                atom.slot.as_ref().is_none_or(|name| *name == slot.name) && slot.values.contains(value)
            };
            rest.values.retain(|value| slots.iter().any(|slot| known(slot, value)));
            if rest.values.is_empty() && !atom.values.is_empty() {
                return None;
            }
            masks.push(self.atom(slots, &rest).ok()??);
        }
        Some(masks)
    }

    /// The slot that a test is about and the values that pass, as a mask; `None` where this form has none of them.
    fn atom(&self, slots: &[Slot], atom: &Atom) -> Result<Option<(usize, u64)>, Fault> {
        let mut found = slots.iter().enumerate().filter(|(_, slot)| self.is_about(slot, atom));
        let Some((index, slot)) = found.next() else {
            let is_known = self.lenient.get() || self.all_slots.iter().any(|slot| self.is_about(slot, atom));
            let is_known =
                is_known || atom.slot.is_none() && atom.values.iter().all(|value| self.known_value(value));
            let what = atom.slot.as_deref().map_or_else(|| atom.values.join("|"), |name| format!(".{name}"));
            return if is_known {
                Ok(None)
            } else {
                Err(self.fault(atom.line, format!("the form has no `{what}`")))
            };
        };
        if let (None, Some((_, other))) = (&atom.slot, found.next()) {
            let message =
                format!("`{}` may be `{}` or `{}`: say which", atom.values.join("|"), slot.name, other.name);
            return Err(self.fault(atom.line, message));
        }
        if atom.values.is_empty() {
            return Ok(Some((index, ABSENT)));
        }
        let mut mask = 0;
        for word in &atom.values {
            let values = self.values_in(slot, word);
            if values == 0 && !self.lenient.get() {
                return Err(self.fault(atom.line, format!("`.{}` has no `{word}`", slot.name)));
            }
            mask |= values;
        }
        if atom.others {
            mask = !mask & ((1 << slot.values.len()) - 1);
        }
        if mask == 0 {
            return Ok(None);
        }
        Ok(Some((index, mask)))
    }

    /// Whether a slot is the one of a test: the one that is named, else one that has all values, of each set some. The
    /// name of a slot stands for its own values.
    fn is_about(&self, slot: &Slot, atom: &Atom) -> bool {
        let named = |word: &String| word[1..] == slot.name || self.slot(&word[1..]).is_none();
        match &atom.slot {
            Some(name) => slot.name == *name,
            None => atom.values.iter().all(|word| {
                let literal = slot.values.contains(word);
                let is_slot = self.all_slots.iter().any(|each| each.name == word[1..]);
                literal || (named(word) || !is_slot) && self.values_in(slot, word) != 0
            }),
        }
    }

    /// The values of a slot that a word stands for: itself, or those of the set that it names.
    fn values_in(&self, slot: &Slot, word: &String) -> u64 {
        let mask = |wanted: &dyn Fn(&String) -> bool| {
            let indices = slot.values.iter().enumerate().filter(|(_, value)| wanted(value));
            indices.fold(0_u64, |mask, (index, _)| mask | 1 << index)
        };
        match mask(&|value| value == word) {
            0 if word[1..] == slot.name => mask(&|_| true),
            0 => self.slot(&word[1..]).map_or(0, |set| mask(&|value| set.values.contains(value))),
            literal => literal,
        }
    }

    fn known_value(&self, word: &String) -> bool {
        self.all_slots.iter().any(|slot| self.values_in(slot, word) != 0)
    }

    fn operand(&self, slots: &[Slot], syntax: &Syntax, place: &Place) -> Result<Operand, Fault> {
        let mut operand = Operand {
            name: place.name.clone(),
            optional: place.optional,
            purpose: None,
            when: Vec::new(),
            variants: Vec::new(),
            manual: Vec::new(),
            reasons: Vec::new(),
        };
        if !place.parts.is_empty() {
            let parts = place.parts.iter().map(|part| self.operand(slots, syntax, part));
            let parts = Rc::new(parts.collect::<Result<Vec<_>, _>>()?);
            let pattern = if place.drawing == Drawing::Pair { Pattern::Pair } else { Pattern::Bracket };
            let role = if place.drawing == Drawing::Pair { "Destination" } else { "Source" };
            operand.variants.push(Variant { parts, ..Variant::plain(role, pattern) });
            let conditional = place.parts.iter().all(|part| {
                let clauses = self.operand_clauses(&part.name, Layer::Assembler);
                clauses.iter().any(|located| !located.clause.with.is_empty())
            });
            if conditional {
                operand.when = operand.variants[0].parts[0].when.clone();
            }
            return Ok(operand);
        }
        let manual = match self.definition.is_assembler() {
            true => Vec::new(),
            false => self.operand_clauses(&place.name, Layer::Manual),
        };
        for located in manual {
            self.enter(located.file, located.shared);
            let variant = self.variant(slots, place, located.clause, Layer::Manual)?;
            operand.manual.extend(variant);
        }
        for located in self.operand_clauses(&place.name, Layer::Assembler) {
            let clause = located.clause;
            self.enter(located.file, located.shared);
            operand.reasons.extend(clause.reason.clone());
            if let Some(word) = &clause.purpose {
                let found = crate::words::purpose(word);
                let fault = || self.fault(clause.line, format!("no operand is for `{word}`"));
                operand.purpose = Some(found.ok_or_else(fault)?);
            }
            if !clause.with.is_empty() {
                // An operand that comes with a modifier is there or it is not, unless the clause says otherwise.
                operand.optional &= clause.optional;
                let never = vec![(0, 0)];
                operand.when = self.condition(slots, &clause.with)?.unwrap_or(never);
            }
            let Some(variant) = self.variant(slots, place, clause, Layer::Assembler)? else { continue };
            let (minus, plus) =
                self.narrowed_classes(syntax, &place.name, &variant.when, &operand.variants)?;
            let (minus, plus) = (variant.minus | minus, variant.plus | plus);
            operand.variants.push(Variant { minus, plus, ..variant });
        }
        if operand.variants.is_empty() {
            let message = format!("no clause says what the operand `{}` is", place.name);
            return Err(Fault::new(&syntax.file, syntax.line, message));
        }
        Ok(operand)
    }

    /// What is said of an operand: in the group, else in clauses that it uses, else by those in scope.
    fn operand_clauses(&self, name: &str, layer: Layer) -> Vec<Located<'a, OperandClause>> {
        let is_of_layer = |clause: &OperandClause| clause.layer == Layer::Both || clause.layer == layer;
        let said = self.clauses.iter().filter_map(|located| match located.clause {
            Clause::Operand(clause) if clause.name == name && is_of_layer(clause) => {
                Some(Located { clause: &**clause, file: located.file, shared: located.shared })
            }
            _ => None,
        });
        let (shared, own): (Vec<_>, Vec<_>) = said.partition(|located| located.shared);
        let said = if own.is_empty() { shared } else { own };
        match self.scope.operands.get(name).filter(|_| said.is_empty()) {
            Some(definition) => {
                let located = |&clause| Located { clause, file: definition.file, shared: true };
                definition.get().iter().filter(|clause| is_of_layer(clause)).map(located).collect()
            }
            None => said,
        }
    }

    fn variant(
        &self,
        slots: &[Slot],
        place: &Place,
        clause: &OperandClause,
        layer: Layer,
    ) -> Result<Option<Variant>, Fault> {
        let Some(when) = self.condition(slots, &clause.when)? else { return Ok(None) };
        let plus = classes(self.file.get(), clause.line, &clause.plus)?;
        let minus = classes(self.file.get(), clause.line, &clause.minus)?;
        let mut variant = Variant {
            when,
            plus,
            minus,
            ranges: clause.ranges.clone(),
            ..Variant::plain(clause.role, Pattern::Value)
        };
        variant.pattern = self.pattern(slots, place, clause)?;
        if let Kind::Address { space, reads, writes, size, sized, aligned } = &clause.kind {
            let space = self.space(slots, clause, space.as_deref())?;
            variant.plus |= self.base_classes(&space, layer);
            let size = match size {
                None => None,
                Some((vector, ty)) => {
                    let vector =
                        vector.as_deref().map(|name| self.slot_index(slots, clause, name)).transpose()?;
                    Some((vector, self.type_ref(slots, clause, ty, layer)?.0))
                }
            };
            let (reads, writes, sized, aligned) = (*reads, *writes, sized.clone(), *aligned);
            variant.access = Some(Access { space, reads, writes, size, sized, aligned });
            variant.table = self.shared.empty_table(layer);
            return Ok(Some(variant));
        }
        let (ty, named) = self.type_ref(slots, clause, &clause.ty, layer)?;
        variant.ty = ty;
        variant.table = match named {
            Some(bits) => {
                variant.plus |= bits;
                if clause.variant.is_some() || clause.table.is_some() {
                    return Err(self.fault(clause.line, "a named kind of operand has no variants"));
                }
                self.shared.empty_table(layer)
            }
            None => {
                let name = match layer {
                    Layer::Manual => clause.variant.as_deref().unwrap_or("default"),
                    Layer::Both | Layer::Assembler => clause.assembler_table(),
                };
                let fault = || self.fault(clause.line, format!("no class table is called `{name}`"));
                self.shared.table(name, layer).ok_or_else(fault)?
            }
        };
        Ok(Some(variant))
    }

    fn pattern(&self, slots: &[Slot], place: &Place, clause: &OperandClause) -> Result<Pattern, Fault> {
        let pattern = match &clause.kind {
            Kind::Value => Pattern::Value,
            Kind::Negatable => Pattern::Negatable,
            Kind::Vector(count) => Pattern::Vector(self.count(slots, clause, count)?),
            Kind::Address { .. } => Pattern::Address,
            Kind::Selectable(selectors) => Pattern::Selectable(selectors),
        };
        match (place.drawing, pattern) {
            (Drawing::Address, pattern @ Pattern::Address) => Ok(pattern),
            (Drawing::List, Pattern::Value) => Ok(Pattern::List),
            (Drawing::Plain, Pattern::Address) => {
                Err(self
                    .fault(clause.line, format!("`{}` is drawn without `[]` in the syntax line", place.name)))
            }
            (Drawing::Plain, pattern) => Ok(pattern),
            (Drawing::Address, Pattern::Value) => Ok(Pattern::Address),
            _ => {
                Err(self
                    .fault(clause.line, format!("`{}` is drawn otherwise in the syntax line", place.name)))
            }
        }
    }

    fn count(&self, slots: &[Slot], clause: &OperandClause, count: &CountName) -> Result<Count, Fault> {
        let name = match count {
            CountName::Fixed(count) => return Ok(Count::Fixed(*count)),
            CountName::Formula(formula) => return self.computed(slots, clause, formula),
            CountName::Name(name) => name,
        };
        if name.starts_with('.') {
            return Ok(Count::Slot(self.slot_index(slots, clause, name)?));
        }
        let table = match (self.counts.get(name), self.scope.counts.get(name)) {
            (Some(table), _) => table,
            (None, Some(definition)) => definition.get(),
            (None, None) => return Err(self.fault(clause.line, format!("no `counts {name}` is defined"))),
        };
        let mut lines = Vec::new();
        for (when, count) in &table.lines {
            if let Some(when) = self.known_condition(slots, when) {
                lines.push((when, *count));
            }
        }
        if lines.is_empty() {
            return Err(self.fault(table.line, format!("no line of `counts {name}` is about this form")));
        }
        Ok(Count::Table(lines))
    }

    /// The lengths that a formula gives for the values of its slot.
    fn computed(&self, slots: &[Slot], clause: &OperandClause, formula: &Formula) -> Result<Count, Fault> {
        let source = &formula.source;
        let has_variable = |slot: &&Slot| {
            self.slot(&slot.name)
                .and_then(|each| each.variable.as_ref())
                .is_some_and(|(name, _)| name == source)
        };
        let index = match source.strip_prefix('.') {
            Some(_) => self.slot_index(slots, clause, source)?,
            None => slots.iter().position(|slot| has_variable(&slot)).ok_or_else(|| {
                self.fault(clause.line, format!("no modifier of the form has `{{{source}}}`"))
            })?,
        };
        let numbers: Vec<i64> = match self.slot(&slots[index].name).and_then(|slot| slot.variable.as_ref()) {
            Some((_, numbers)) => numbers.clone(),
            None => slots[index].values.iter().map(|value| first_number(value)).collect(),
        };
        // Values for which the clause does not hold need no length.
        let when = self.condition(slots, &clause.when)?.unwrap_or_default();
        let wanted =
            when.iter().filter(|(slot, _)| *slot == index).fold(u64::MAX, |mask, (_, each)| mask & each);
        let mut lines = Vec::new();
        for (value, number) in numbers.iter().enumerate().filter(|(value, _)| wanted >> value & 1 != 0) {
            let count = formula.of(*number).ok_or_else(|| {
                self.fault(
                    clause.line,
                    format!("the length for `{}` is no number", slots[index].values[value]),
                )
            })?;
            lines.push((vec![(index, 1 << value)], count));
        }
        Ok(Count::Table(lines))
    }

    fn slot_index(&self, slots: &[Slot], clause: &OperandClause, name: &str) -> Result<usize, Fault> {
        let bare = name.trim_start_matches('.');
        let index = slots.iter().position(|slot| slot.name == bare);
        index.ok_or_else(|| self.fault(clause.line, format!("the syntax line has no `.{bare}`")))
    }

    /// The type, and for a named kind of operand its classes.
    fn type_ref(
        &self,
        slots: &[Slot],
        clause: &OperandClause,
        name: &TypeName,
        layer: Layer,
    ) -> Result<(TypeRef, Option<u128>), Fault> {
        match name {
            TypeName::None => Ok((TypeRef::None, None)),
            TypeName::Slot(slot) => Ok((TypeRef::Slot(self.type_slot(slots, clause, slot)?), None)),
            TypeName::Widened(slot) => Ok((TypeRef::Widened(self.type_slot(slots, clause, slot)?), None)),
            TypeName::Word(word) => {
                if let Some(ty) = Type::parse(&format!(".{word}")) {
                    return Ok((TypeRef::Fixed(ty), None));
                }
                let kind = self.shared.kinds.get(word);
                let kind = kind.ok_or_else(|| {
                    self.fault(clause.line, format!("`{word}` is neither a type nor a kind of operand"))
                })?;
                let ty = kind.ty.map_or(TypeRef::None, TypeRef::Fixed);
                let (places, sources) = kind.classes(layer);
                Ok((ty, Some(if clause.role == "Source" { sources } else { places })))
            }
        }
    }

    fn type_slot(&self, slots: &[Slot], clause: &OperandClause, name: &str) -> Result<usize, Fault> {
        let index = self.slot_index(slots, clause, name)?;
        match slots[index].values.iter().find(|value| Type::parse(value).is_none()) {
            None => Ok(index),
            Some(value) => {
                Err(self.fault(clause.line, format!("`{name}` is used as a type, but `{value}` is none")))
            }
        }
    }

    fn space(&self, slots: &[Slot], clause: &OperandClause, name: Option<&str>) -> Result<SpaceRef, Fault> {
        let Some(name) = name else { return Ok(SpaceRef::None) };
        match slots.iter().position(|slot| slot.name == name[1..] && (slot.values.len() > 1 || slot.optional))
        {
            Some(index) => Ok(SpaceRef::Slot(index)),
            None if self.shared.addresses(Layer::Assembler).iter().any(|(space, _)| space == name) => {
                Ok(SpaceRef::Fixed(name.to_owned()))
            }
            None => Err(self
                .fault(clause.line, format!("`{name}` is neither a slot nor a space of `classes address`"))),
        }
    }

    /// The classes of the base where they do not depend on a slot.
    fn base_classes(&self, space: &SpaceRef, layer: Layer) -> u128 {
        let name = match space {
            SpaceRef::None => "generic",
            SpaceRef::Fixed(name) => name,
            SpaceRef::Slot(_) => return 0,
        };
        self.shared.addresses(layer).iter().find(|(each, _)| each == name).map_or(0, |(_, bits)| *bits)
    }
}

/// Whether a condition holds for all values of the slots.
fn holds_always(slots: &[Slot], condition: &Condition) -> bool {
    condition.iter().all(|(slot, mask)| slots.get(*slot).is_some_and(|slot| all_values(slot) & !mask == 0))
}

/// Whether each slot has a value that passes all tests of it.
fn can_hold(condition: &Condition) -> bool {
    condition.iter().all(|(slot, _)| {
        let tests = condition.iter().filter(|(each, _)| each == slot);
        tests.fold(u64::MAX, |mask, (_, each)| mask & each) != 0
    })
}

/// The first number in a modifier: 4 of `.v4`.
fn first_number(value: &str) -> i64 {
    let digits = value.trim_start_matches(|character: char| !character.is_ascii_digit());
    let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or_default()
}

impl Variant {
    fn plain(role: &'static str, pattern: Pattern) -> Self {
        Self {
            when: Vec::new(),
            role,
            pattern,
            ty: TypeRef::None,
            table: 0,
            plus: 0,
            minus: 0,
            ranges: Vec::new(),
            access: None,
            parts: Rc::new(Vec::new()),
        }
    }
}
