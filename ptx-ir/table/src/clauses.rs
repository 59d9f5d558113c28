//! Reads the clauses of a form: `.cc .u64 since 4.3 on sm_20+;`

use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::lexer::Token;
use crate::model::Does;
use crate::operands::{self, OperandClause};
use crate::parser::{CountsDefinition, SlotDefinition, counts, slot};
use crate::target::{Target, TargetSet};
use crate::version::Version;

/// One test of a condition: a slot has one of some values.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The slot; where it is not named, it follows from the values.
    pub slot: Option<String>,
    /// The values with their dots, or names of definitions that stand for theirs; empty where the slot must be left out.
    pub values: Vec<String>,
    /// `!.a|.b`: any value but these.
    pub others: bool,
    /// Where.
    pub line: usize,
}

/// A clause of a form.
#[derive(Clone)]
pub enum Clause {
    /// `use name;`
    Use {
        /// The name of shared clauses.
        name: String,
        /// Where.
        line: usize,
    },
    /// `.rnd = { … };`
    Slot(SlotDefinition),
    /// `counts name { … }`
    Counts(CountsDefinition),
    /// `d, a : …;`
    Operand(Box<OperandClause>),
    /// `… only with …;`, `… not with …;`
    Rule {
        /// The left side.
        when: Vec<Atom>,
        /// The right side.
        then: Vec<Atom>,
        /// `only with`.
        needs: bool,
        /// Where.
        line: usize,
    },
    /// `… since 7.0 on sm_80+;`
    Gate {
        /// The operands that bring it: `with e since 4.3;`
        operands: Vec<String>,
        /// The classes that the operands must be of to bring it: `with a +b64 since 3.1;`
        classes: Vec<String>,
        /// The marks that the operands have where it is not met: `with a -each on sm_90+;`
        marks: Vec<String>,
        /// Where.
        line: usize,
        /// The values that bring it.
        when: Vec<Atom>,
        /// Whether the clause says a first version.
        since: bool,
        /// The first version.
        version: Version,
        /// The last version.
        until: Version,
        /// The targets.
        targets: TargetSet,
        /// Whether the assembler has it beside what the manual says.
        amended: bool,
    },
    /// `effect … if …;`
    Effect {
        /// The effects; `minimum|maximum` is one for each alternative of the opcode.
        words: Vec<String>,
        /// When.
        when: Vec<Atom>,
        /// Where.
        line: usize,
    },
    /// `deviation +f16x2 "…" if …;`
    Deviation {
        /// The classes of which an operand must be.
        classes: Vec<String>,
        /// Why.
        reason: String,
        /// When.
        when: Vec<Atom>,
        /// Where.
        line: usize,
    },
    /// `… without effect;`
    Idle {
        /// The values.
        when: Vec<Atom>,
        /// Where.
        line: usize,
    },
    /// `ignores .b1|.b4 ahead of 1 if … since 7.0 on sm_80+;`
    Ignores {
        /// The words, with their dots.
        words: Vec<String>,
        /// How many types may be after one that is a type.
        ahead: u8,
        /// Whether the number in a word must be the length of all brace lists.
        length: bool,
        /// When.
        when: Vec<Atom>,
        /// The first version.
        version: Version,
        /// The targets.
        targets: TargetSet,
        /// Where.
        line: usize,
    },
    /// `fixed order;`
    FixedOrder {
        /// Where.
        line: usize,
    },
    /// `in texmode_unified;`, `with b in …;`, `without b in …;`
    Mode {
        /// The mode's name in Rust.
        mode: &'static str,
        /// The operand that a line must have or lack for it.
        operand: Option<(String, bool)>,
        /// Where.
        line: usize,
    },
    /// `beyond OPCODE "…";` of a form that only the assembler has, `.rz beyond "…";` of modifiers.
    Beyond {
        /// The opcode of the manual's form that the assembler extends; empty for modifiers.
        of: String,
        /// Why.
        reason: String,
        /// The values.
        when: Vec<Atom>,
        /// Where.
        line: usize,
    },
    /// `misread "…" [a];`
    Misread {
        /// What the assembler makes of it.
        how: String,
        /// The operand that was meant to be in brackets.
        bracket: Option<String>,
        /// Where.
        line: usize,
    },
    /// `does "…" as "…";`
    Does {
        /// What the form does.
        does: Does,
        /// Where.
        line: usize,
    },
    /// `… or …`: a form for each.
    Either {
        /// The alternatives.
        clauses: Vec<Vec<Self>>,
        /// Where.
        line: usize,
    },
}

impl Clause {
    /// Where it is.
    pub fn line(&self) -> usize {
        match self {
            Self::Slot(slot) => slot.line,
            Self::Counts(table) => table.line,
            Self::Operand(clause) => clause.line,
            Self::Use { line, .. }
            | Self::Rule { line, .. }
            | Self::Gate { line, .. }
            | Self::Effect { line, .. }
            | Self::Deviation { line, .. }
            | Self::Idle { line, .. }
            | Self::Ignores { line, .. }
            | Self::FixedOrder { line }
            | Self::Mode { line, .. }
            | Self::Beyond { line, .. }
            | Self::Misread { line, .. }
            | Self::Does { line, .. }
            | Self::Either { line, .. } => *line,
        }
    }
}

/// Reads what is after `does`: what a form does, and an example of it.
pub fn does(cursor: &mut Cursor<'_>) -> Result<Does, Fault> {
    let what = text(cursor)?;
    let example = if cursor.eat_word("as") { Some(text(cursor)?) } else { None };
    cursor.mark(';')?;
    Ok(Does { what, example })
}

/// Reads a text that may go on in further quotes, where it is longer than a line.
fn text(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let mut whole = cursor.text()?;
    while let Some(Token::Text(_)) = cursor.peek() {
        whole.push(' ');
        whole.push_str(&cursor.text()?);
    }
    Ok(whole)
}

/// Reads a clause; one about several operands gives one for each.
pub fn clause(cursor: &mut Cursor<'_>) -> Result<Vec<Clause>, Fault> {
    let line = cursor.line();
    if cursor.eat_word("use") {
        let name = cursor.name()?;
        cursor.mark(';')?;
        return Ok(vec![Clause::Use { name, line }]);
    }
    if cursor.eat_word("counts") {
        return Ok(vec![Clause::Counts(counts(cursor)?)]);
    }
    if cursor.eat_word("effect") {
        let mut words = Vec::new();
        while let Some(Token::Word(word)) = cursor.peek() {
            if word == "if" {
                break;
            }
            let mut word = cursor.name()?;
            while cursor.eat('|') {
                word = format!("{word}|{}", cursor.name()?);
            }
            words.push(word);
        }
        let when = if cursor.eat_word("if") { condition(cursor)? } else { Vec::new() };
        cursor.mark(';')?;
        return Ok(vec![Clause::Effect { words, when, line }]);
    }
    if cursor.eat_word("deviation") {
        let mut classes = Vec::new();
        while cursor.eat('+') {
            classes.push(cursor.name()?);
        }
        let reason = cursor.text()?;
        let when = if cursor.eat_word("if") { condition(cursor)? } else { Vec::new() };
        cursor.mark(';')?;
        return Ok(vec![Clause::Deviation { classes, reason, when, line }]);
    }
    if cursor.eat_word("ignores") {
        return Ok(vec![ignores(cursor)?]);
    }
    if cursor.eat_word("fixed") {
        cursor.word("order")?;
        cursor.mark(';')?;
        return Ok(vec![Clause::FixedOrder { line }]);
    }
    if cursor.eat_word("beyond") {
        let mut of = String::new();
        while let Some(token @ (Token::Word(_) | Token::Dotted(_) | Token::Number(_) | Token::Mark(_))) =
            cursor.peek()
        {
            if *token == Token::Mark(';') {
                break;
            }
            match token {
                Token::Word(text) | Token::Dotted(text) => of.push_str(text),
                Token::Number(value) => of.push_str(&value.to_string()),
                Token::Mark(mark) => of.push(*mark),
                Token::Text(_) => {}
            }
            cursor.next();
        }
        let reason = if let Some(Token::Text(_)) = cursor.peek() { cursor.text()? } else { String::new() };
        cursor.mark(';')?;
        return Ok(vec![Clause::Beyond { of, reason, when: Vec::new(), line }]);
    }
    if cursor.eat_word("does") {
        return Ok(vec![Clause::Does { does: does(cursor)?, line }]);
    }
    if cursor.eat_word("misread") {
        let how = cursor.text()?;
        let bracket = if cursor.eat('[') {
            let name = cursor.name()?;
            cursor.mark(']')?;
            Some(name)
        } else {
            None
        };
        cursor.mark(';')?;
        return Ok(vec![Clause::Misread { how, bracket, line }]);
    }
    if cursor.eat_word("in") {
        return Ok(vec![Clause::Mode { mode: mode(cursor)?, operand: None, line }]);
    }
    if cursor.eat_word("without") {
        let operand = Some((cursor.name()?, false));
        cursor.word("in")?;
        return Ok(vec![Clause::Mode { mode: mode(cursor)?, operand, line }]);
    }
    if cursor.defines_slot() {
        return Ok(slot(cursor)?.into_iter().map(Clause::Slot).collect());
    }
    if cursor.defines_operand() {
        let operand = |clause| Clause::Operand(Box::new(clause));
        let alternatives = operands::alternatives(cursor)?.into_iter();
        let clauses = alternatives.map(|clauses| clauses.into_iter().map(operand).collect()).collect();
        return Ok(either(clauses, line));
    }
    rule_or_gate(cursor)
}

fn rule_or_gate(cursor: &mut Cursor<'_>) -> Result<Vec<Clause>, Fault> {
    let line = cursor.line();
    let mut operands = Vec::new();
    let (mut classes, mut marks) = (Vec::new(), Vec::new());
    if cursor.eat_word("with") {
        operands.push(cursor.name()?);
        while cursor.eat(',') {
            operands.push(cursor.name()?);
        }
        while cursor.eat('+') {
            classes.push(cursor.name()?);
        }
        while cursor.eat('-') {
            marks.push(cursor.name()?);
        }
        if operands.len() > 1 && classes.is_empty() && marks.is_empty() {
            return Err(cursor.fault("several operands bring a requirement only together with classes"));
        }
        if cursor.eat_word("in") {
            let operand = operands.pop().map(|name| (name, true));
            return Ok(vec![Clause::Mode { mode: mode(cursor)?, operand, line }]);
        }
    }
    let when = condition(cursor)?;
    if operands.is_empty() && (cursor.eat_word("only") || cursor.eat_word("not")) {
        let needs = cursor.previous_is("only");
        cursor.word("with")?;
        let then = condition(cursor)?;
        cursor.mark(';')?;
        if when.is_empty() || then.is_empty() {
            return Err(cursor.fault("a rule needs values on both sides"));
        }
        return Ok(vec![Clause::Rule { when, then, needs, line }]);
    }
    if cursor.eat_word("beyond") {
        let reason = cursor.text()?;
        cursor.mark(';')?;
        return Ok(vec![Clause::Beyond { of: String::new(), reason, when, line }]);
    }
    if cursor.eat_word("without") {
        cursor.word("effect")?;
        cursor.mark(';')?;
        return Ok(vec![Clause::Idle { when, line }]);
    }
    let mut gates = Vec::new();
    loop {
        let version = if cursor.eat_word("since") { Some(published(cursor)?) } else { None };
        let targets = if cursor.eat_word("on") { Some(targets(cursor)?) } else { None };
        let until = if cursor.eat_word("until") { Some(published(cursor)?) } else { None };
        if version.is_none() && targets.is_none() && until.is_none() {
            return Err(cursor.fault(
                "expected a clause: `.slot = {…}`, `operand : …`, `… only with …`, `… not with …`, `… since … on … until …`, \
                 `… without effect`, `ignores …`, `effect …`, `counts …`, `deviation …`, `in texmode_…`, `misread …` or `fixed order`",
            ));
        }
        gates.push(vec![Clause::Gate {
            operands: operands.clone(),
            classes: classes.clone(),
            marks: marks.clone(),
            line,
            when: when.clone(),
            since: version.is_some(),
            version: version.unwrap_or(Version::OLDEST),
            until: until.unwrap_or(Version::LATEST),
            targets: targets.unwrap_or(TargetSet::ALL),
            amended: false,
        }]);
        if !cursor.eat_word("or") {
            break;
        }
    }
    cursor.mark(';')?;
    Ok(either(gates, line))
}

/// What is said where there is one alternative, else a choice.
fn either(mut clauses: Vec<Vec<Clause>>, line: usize) -> Vec<Clause> {
    match clauses.len() {
        1 => clauses.swap_remove(0),
        _ => vec![Clause::Either { clauses, line }],
    }
}

/// `.b1|.b4 ahead of 1 as length if … since … on …;`
fn ignores(cursor: &mut Cursor<'_>) -> Result<Clause, Fault> {
    let line = cursor.line();
    let words = values(cursor)?;
    let mut ahead = 0;
    if cursor.eat_word("ahead") {
        cursor.word("of")?;
        let count = cursor.number()?;
        ahead = u8::try_from(count).map_err(|_| cursor.fault("a number of types is out of range"))?;
    }
    let length = cursor.eat_word("as");
    if length {
        cursor.word("length")?;
    }
    let when = if cursor.eat_word("if") { condition(cursor)? } else { Vec::new() };
    let version = if cursor.eat_word("since") { published(cursor)? } else { Version::OLDEST };
    let targets = if cursor.eat_word("on") { targets(cursor)? } else { TargetSet::ALL };
    cursor.mark(';')?;
    Ok(Clause::Ignores { words, ahead, length, when, version, targets, line })
}

/// `texmode_unified;`
fn mode(cursor: &mut Cursor<'_>) -> Result<&'static str, Fault> {
    let mode = match cursor.name()?.as_str() {
        "texmode_unified" => "Unified",
        "texmode_independent" => "Independent",
        _ => return Err(cursor.fault("expected `texmode_unified` or `texmode_independent`")),
    };
    cursor.mark(';')?;
    Ok(mode)
}

/// `.a|.b slot=.c no slot`: tests that must all hold.
pub fn condition(cursor: &mut Cursor<'_>) -> Result<Vec<Atom>, Fault> {
    let mut atoms = Vec::new();
    loop {
        let line = cursor.line();
        match cursor.peek() {
            Some(Token::Dotted(_)) => {
                atoms.push(Atom { slot: None, values: values(cursor)?, others: false, line });
            }
            Some(Token::Mark('!')) => {
                cursor.next();
                atoms.push(Atom { slot: None, values: values(cursor)?, others: true, line });
            }
            Some(Token::Word(word)) if word == "no" => {
                cursor.next();
                let slot = cursor.name()?;
                atoms.push(Atom { slot: Some(slot), values: Vec::new(), others: false, line });
            }
            Some(Token::Word(word)) if cursor.next_is('=') => {
                let slot = word.clone();
                cursor.next();
                cursor.mark('=')?;
                let others = cursor.eat('!');
                atoms.push(Atom { slot: Some(slot), values: values(cursor)?, others, line });
            }
            _ => return Ok(atoms),
        }
    }
}

fn values(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Fault> {
    let mut values = vec![cursor.dotted()?];
    while cursor.eat('|') {
        values.push(cursor.dotted()?);
    }
    Ok(values)
}

/// `sm_80+ sm_100f sm_100a sm_30..sm_62`: a union.
fn targets(cursor: &mut Cursor<'_>) -> Result<TargetSet, Fault> {
    let mut set = TargetSet::NONE;
    while let Some(Token::Word(word)) = cursor.peek() {
        if word == "until" || word == "or" {
            break;
        }
        let low = target(cursor)?;
        let range: TargetSet = if cursor.eat('+') {
            TargetSet::at_least(low.number())
        } else if cursor.eat('…') {
            let high = target(cursor)?;
            Target::all().filter(|&each| low <= each && each.number() <= high.number()).collect()
        } else {
            family(low)
        };
        set = set.union(range);
    }
    if set.is_empty() { Err(cursor.fault("expected a target")) } else { Ok(set) }
}

/// An `f` target in the table stands for itself and all targets that accept the features of its family.
fn family(target: Target) -> TargetSet {
    Target::all()
        .filter(|&each| {
            let shares = target.as_str().ends_with('f') && accepts_family(each);
            each == target || shares && target.runs_on(each)
        })
        .collect()
}

/// Whether modules for a target may use what only its family has: those for the plain target `sm_100` may not.
fn accepts_family(target: Target) -> bool {
    target.as_str().ends_with(['f', 'a'])
}

fn target(cursor: &mut Cursor<'_>) -> Result<Target, Fault> {
    let name = cursor.name()?;
    Target::parse(&name).ok_or_else(|| cursor.fault(format!("`{name}` is not a target")))
}

/// Requires a version that was published.
fn published(cursor: &mut Cursor<'_>) -> Result<Version, Fault> {
    let (major, minor) = cursor.version_numbers()?;
    let version = Version::new(major, minor);
    if version.is_published() { Ok(version) } else { Err(cursor.fault("this version was never published")) }
}
