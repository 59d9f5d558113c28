//! Puts what the assembler makes of the manual's forms into the files of the manual: `assembler/x.isa` amends
//! `manual/x.isa`.

use std::collections::BTreeMap;

use crate::clauses::{Atom, Clause};
use crate::fault::{Fault, Faults};
use crate::operands::{Amendment, Layer, OperandClause};
use crate::parser::{Amend, File, FormDefinition, Item, MoreValues, SlotDefinition};

/// Why the assembler takes or refuses classes, and reads class tables of its own: by sign and word.
pub type Reasons = BTreeMap<(char, String), String>;

/// The files with each of the assembler put into that of the manual whose name it has.
pub fn merge(files: Vec<File>, faults: &mut Faults) -> (Vec<File>, Reasons) {
    let (assembler, mut manual): (Vec<File>, Vec<File>) = files.into_iter().partition(File::is_assembler);
    let reasons = reasons(&assembler);
    for file in assembler {
        let name = base(&file.name).to_owned();
        let Some(chapter) = manual.iter_mut().find(|each| base(&each.name) == name) else {
            faults.push(Fault::new(&file.name, 0, "the manual has no chapter of this name"));
            continue;
        };
        let rest = put(chapter, file, &reasons, faults);
        manual.push(rest);
    }
    (manual, reasons)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn reasons(files: &[File]) -> Reasons {
    let mut found = Reasons::new();
    for item in files.iter().flat_map(|file| &file.items) {
        if let Item::Reasons(lines) = item {
            found.extend(lines.iter().map(|(sign, name, text)| ((*sign, name.clone()), text.clone())));
        }
    }
    found
}

/// Puts what is about a chapter into it, and gives the rest: class tables and lists of modifiers.
fn put(chapter: &mut File, file: File, reasons: &Reasons, faults: &mut Faults) -> File {
    let name = file.name;
    let mut rest = Vec::new();
    // Shared clauses of the assembler come right before the first form that follows them.
    let mut shared = Vec::new();
    for item in file.items {
        match item {
            Item::Amend(amend) => amend_chapter(chapter, &name, &amend, reasons, faults),
            Item::Form(form) => {
                let Some(of) = extended(&form) else {
                    let line = form.syntaxes.first().map_or(0, |syntax| syntax.line);
                    let message = "no clause says `beyond` which form of the manual this is, and why";
                    faults.push(Fault::new(&name, line, message));
                    continue;
                };
                let is_of = |item: &Item| match item {
                    Item::Form(other) => {
                        is_of_manual(other, &of) || extended(other).is_some_and(|each| each == of)
                    }
                    _ => false,
                };
                let Some(last) = chapter.items.iter().rposition(is_of) else {
                    let line = form.syntaxes.first().map_or(0, |syntax| syntax.line);
                    faults.push(Fault::new(&name, line, format!("the manual has no form `{of}`")));
                    continue;
                };
                let at = last + 1;
                chapter.items.insert(at, Item::Form(form));
                chapter.items.splice(at..at, shared.drain(..));
            }
            Item::Clauses(_) | Item::Counts(_) => shared.push(item),
            Item::Slot(_) => chapter.items.insert(0, item),
            other => rest.push(other),
        }
    }
    if !shared.is_empty() {
        faults.push(Fault::new(&name, 0, "no form follows the clauses at the end"));
    }
    File { name, items: rest }
}

/// The opcode of the manual's form that a form of the assembler extends.
fn extended(form: &FormDefinition) -> Option<String> {
    form.clauses.iter().find_map(|clause| match clause {
        Clause::Beyond { of, .. } if !of.is_empty() => Some(of.clone()),
        _ => None,
    })
}

/// Whether a form is one of the manual and has a syntax line with this opcode.
fn is_of_manual(form: &FormDefinition, opcode: &str) -> bool {
    !form.is_assembler() && form.syntaxes.iter().any(|syntax| syntax.opcode == opcode)
}

fn amend_chapter(chapter: &mut File, file: &str, amend: &Amend, reasons: &Reasons, faults: &mut Faults) {
    let fault = |line: usize, message: String| Fault::new(file, line, message);
    for Amendment { clause, .. } in &amend.operands {
        let marks = clause.plus.iter().map(|word| ('+', word));
        let marks = marks.chain(clause.minus.iter().map(|word| ('-', word)));
        let marks = marks.chain(clause.table.iter().map(|word| ('/', word)));
        for (sign, word) in marks {
            if clause.reason.is_none() && !reasons.contains_key(&(sign, word.clone())) {
                faults.push(fault(
                    clause.line,
                    format!("`{sign}{word}` needs a reason, here or among `reasons`"),
                ));
            }
        }
    }
    let mut applied = vec![false; amend.operands.len()];
    let mut targets = amend.targets.iter().peekable();
    let kind = targets.next_if(|word| ["clauses", "operands"].contains(&word.as_str()));
    for target in targets {
        let found = match kind.map(String::as_str) {
            Some("operands") => amend_operand(chapter, target, amend, &mut applied),
            kind => {
                let named = named(chapter, target, kind.is_some());
                let found = !named.is_empty();
                for clauses in named {
                    amend_clauses(clauses, amend, &mut applied);
                    for more in amend.values.iter().filter(|more| !add_values(clauses, more)) {
                        let message = format!("the form says nothing of `.{}` itself", more.slot);
                        faults.push(fault(more.line, message));
                    }
                    clauses.extend(amend.clauses.iter().cloned().map(of_assembler));
                }
                found
            }
        };
        if !found {
            faults.push(fault(amend.line, format!("the manual has no `{target}`")));
        }
    }
    for (Amendment { clause, .. }, applied) in amend.operands.iter().zip(applied) {
        if !applied {
            let message = format!("none of these forms has such a clause about `{}`", clause.name);
            faults.push(fault(clause.line, message));
        }
    }
}

/// A requirement that is not the manual's; any other clause as it is.
fn of_assembler(mut clause: Clause) -> Clause {
    if let Clause::Gate { amended, .. } = &mut clause {
        *amended = true;
    }
    clause
}

/// The clauses of the manual's forms with an opcode, or shared clauses. `add.f32#2` is the second form with the opcode.
fn named<'a>(chapter: &'a mut File, target: &str, shared: bool) -> Vec<&'a mut Vec<Clause>> {
    let (opcode, number) = match target.split_once('#') {
        Some((opcode, number)) => (opcode, number.parse::<usize>().ok()),
        None => (target, None),
    };
    let mut found = Vec::new();
    let mut forms = 0;
    for item in &mut chapter.items {
        match item {
            Item::Clauses(clauses) if shared && clauses.name == *target => found.push(&mut clauses.clauses),
            Item::Form(form) if !shared && is_of_manual(form, opcode) => {
                forms += 1;
                if number.is_none_or(|number| number == forms) {
                    found.push(&mut form.clauses);
                }
            }
            _ => {}
        }
    }
    found
}

/// Amends what the chapter says of an operand for all its forms.
fn amend_operand(chapter: &mut File, name: &str, amend: &Amend, applied: &mut [bool]) -> bool {
    let mut items = Vec::with_capacity(chapter.items.len());
    let mut found = false;
    for item in chapter.items.drain(..) {
        match item {
            Item::Shared(clause) if clause.name == name => {
                found = true;
                items.extend(amended(&[*clause], amend, applied).into_iter().map(Box::new).map(Item::Shared));
            }
            other => items.push(other),
        }
    }
    chapter.items = items;
    found
}

fn amend_clauses(clauses: &mut Vec<Clause>, amend: &Amend, applied: &mut [bool]) {
    let mut names: Vec<&str> = amend.operands.iter().map(|each| each.clause.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let is_about = |clause: &Clause| matches!(clause, Clause::Operand(each) if each.name == name);
        let Some(first) = clauses.iter().position(is_about) else { continue };
        let mut said = Vec::new();
        clauses.retain(|clause| match clause {
            Clause::Operand(each) if each.name == name => {
                said.push((**each).clone());
                false
            }
            _ => true,
        });
        let now = amended(&said, amend, applied).into_iter().map(|clause| Clause::Operand(Box::new(clause)));
        clauses.splice(first..first, now);
    }
}

/// The clauses about an operand after an amendment: the manual's, and after them the assembler's. They stay as they are
/// where no amendment is about them.
fn amended(said: &[OperandClause], amend: &Amend, applied: &mut [bool]) -> Vec<OperandClause> {
    let Some(name) = said.first().map(|clause| &clause.name) else { return Vec::new() };
    let manual = said.iter().filter(|clause| clause.layer != Layer::Assembler);
    // A second amendment adds to what the first made of the manual's clauses.
    let before = said.iter().filter(|clause| clause.layer == Layer::Assembler);
    let base: Vec<&OperandClause> =
        if before.clone().next().is_some() { before.collect() } else { manual.clone().collect() };
    let about = || amend.operands.iter().enumerate().filter(|(_, each)| each.clause.name == *name);
    let mut own: Vec<OperandClause> = Vec::new();
    let mut differs = false;
    let replaced = about().any(|(_, each)| each.replaces);
    for (index, each) in about().filter(|_| replaced) {
        let Some(like) = said.first() else { continue };
        applied[index] = true;
        differs = true;
        own.push(OperandClause {
            with: if each.clause.with.is_empty() { like.with.clone() } else { each.clause.with.clone() },
            optional: each.clause.optional || like.optional,
            purpose: each.clause.purpose.clone().or_else(|| like.purpose.clone()),
            ..each.clause.clone()
        });
    }
    for &clause in base.iter().filter(|_| !replaced) {
        let mut complete = false;
        for (index, each) in about() {
            let kind = each.clause.role == clause.role
                && each.clause.kind == clause.kind
                && each.clause.ty == clause.ty;
            // With the condition of one of the manual's clauses it is about that clause alone.
            let is_of_clause = |of: &OperandClause| same(&each.clause.when, &of.when);
            let of_one = !each.clause.when.is_empty() && base.iter().any(|of| is_of_clause(of));
            let fits = (!each.names_kind || kind) && (!of_one || is_of_clause(clause));
            if fits && !complete {
                applied[index] = true;
                differs = true;
                own.push(marked(clause, &each.clause, of_one));
                complete = of_one || each.clause.when.is_empty();
            }
        }
        if !complete {
            own.push(OperandClause { layer: Layer::Assembler, plus: particular(clause), ..clause.clone() });
        }
    }
    if !differs {
        return said.to_vec();
    }
    let manual = manual.map(|clause| OperandClause { layer: Layer::Manual, ..clause.clone() });
    manual.chain(own).collect()
}

fn same(one: &[Atom], other: &[Atom]) -> bool {
    let test = |atom: &Atom| (atom.slot.clone(), atom.values.clone(), atom.others);
    one.iter().map(test).eq(other.iter().map(test))
}

/// The classes that a clause adds, without those that the assembler takes wherever there is a number.
fn particular(clause: &OperandClause) -> Vec<String> {
    let everywhere = clause.assembler_table() == "default";
    clause.plus.iter().filter(|word| !everywhere || *word != "code").cloned().collect()
}

/// The manual's clause with the assembler's marks.
fn marked(clause: &OperandClause, marks: &OperandClause, same_condition: bool) -> OperandClause {
    let more: &[Atom] = if same_condition { &[] } else { &marks.when };
    let both = |one: &[String], other: &[String]| one.iter().chain(other).cloned().collect();
    let own = particular(clause);
    OperandClause {
        layer: Layer::Assembler,
        line: marks.line,
        table: marks.table.clone(),
        reason: marks.reason.clone(),
        plus: both(&own, &marks.plus),
        minus: both(&clause.minus, &marks.minus),
        ranges: if marks.ranges.is_empty() { clause.ranges.clone() } else { marks.ranges.clone() },
        when: clause.when.iter().chain(more).cloned().collect(),
        ..clause.clone()
    }
}

/// Gives a modifier more values, and says that these are beyond the manual.
fn add_values(clauses: &mut Vec<Clause>, more: &MoreValues) -> bool {
    let slot = clauses.iter_mut().find_map(|clause| match clause {
        Clause::Slot(slot) if slot.name == more.slot => Some(slot),
        _ => None,
    });
    let Some(SlotDefinition { values, .. }) = slot else { return false };
    values.extend(more.values.iter().cloned());
    let when =
        Atom { slot: Some(more.slot.clone()), values: more.values.clone(), others: false, line: more.line };
    let reason = more.reason.clone();
    clauses.push(Clause::Beyond { of: String::new(), reason, when: vec![when], line: more.line });
    true
}
