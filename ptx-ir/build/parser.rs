//! Reads one table file: sections, shared definitions, and forms with their clauses, names still unresolved.

use crate::lexer::{Fault, Spanned, Token, tokens};
use crate::model::Ignored;
use crate::operands::{self, OperandClause};
use crate::syntax::{self, Syntax};
use crate::target::{Target, TargetSet};
use crate::version::Version;

/// A file.
pub struct File {
    /// Its path, for messages.
    pub name: String,
    /// What it defines, in order.
    pub items: Vec<Item>,
}

/// One thing that a file defines.
pub enum Item {
    /// `.rnd = { … };` for all forms after it in the file.
    Slot(SlotDefinition),
    /// `counts name { … }` for all forms after it in the file.
    Counts(CountsDefinition),
    /// `classes name { … }` for all files.
    Classes(ClassesDefinition),
    /// `operand name : .type = …;` for all files.
    Operand(ClassLine),
    /// `names { … }`: opcodes of several words, which the assembler reads in one piece.
    Names(Vec<String>),
    /// `repeatable { … }`: modifiers that may be there several times.
    Repeatable(Vec<String>),
    /// `together { … }`: modifiers that keep their order among each other.
    Together(Vec<String>),
    /// `ignored any but name … { … }`: modifiers that the assembler takes and does not look at.
    Ignored(Ignored),
    /// A form.
    Form(FormDefinition),
}

/// Values of a slot.
#[derive(Clone)]
pub struct SlotDefinition {
    /// The name without its dot.
    pub name: String,
    /// The values with their dots.
    pub values: Vec<String>,
    /// Where.
    pub line: usize,
}

/// Lengths of brace lists.
#[derive(Clone)]
pub struct CountsDefinition {
    /// The name.
    pub name: String,
    /// Conditions and lengths.
    pub lines: Vec<(Vec<Atom>, u16)>,
    /// Where.
    pub line: usize,
}

/// A class table.
pub struct ClassesDefinition {
    /// The name of the variant.
    pub name: String,
    /// Its lines.
    pub lines: Vec<ClassLine>,
}

/// The classes of one type, or of one named kind of operand.
pub struct ClassLine {
    /// The type or space with its dot, or the name.
    pub name: String,
    /// The type of a named kind.
    pub ty: Option<String>,
    /// The classes that may be written to.
    pub places: Vec<String>,
    /// The classes that may only be read.
    pub sources: Vec<String>,
    /// Where.
    pub line: usize,
}

/// One test of a condition: a slot has one of some values.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The slot; where it is not named, it follows from the values.
    pub slot: Option<String>,
    /// The values with their dots; empty where the slot must be left out.
    pub values: Vec<String>,
    /// Where.
    pub line: usize,
}

/// A group of syntax lines with the clauses that they share.
pub struct FormDefinition {
    /// The section it is in.
    pub section: String,
    /// The syntax lines.
    pub syntaxes: Vec<Syntax>,
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// A clause of a form.
pub enum Clause {
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
    },
    /// `… since 7.0 on sm_80+;`
    Gate {
        /// The operands that bring it: `with e since 4.3;`
        operands: Vec<String>,
        /// The classes that the operands must be of to bring it: `with a +b64 since 3.1;`
        classes: Vec<String>,
        /// Where.
        line: usize,
        /// The values that bring it.
        when: Vec<Atom>,
        /// The first version.
        version: Version,
        /// The last version.
        until: Version,
        /// The targets.
        targets: TargetSet,
    },
    /// `effect … if …;`
    Effect {
        /// The effects.
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
    Idle(Vec<Atom>),
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
    },
    /// `fixed order;`
    FixedOrder,
    /// `in texmode_unified;`, `with b in …;`, `without b in …;`
    Mode {
        /// The mode's name in Rust.
        mode: &'static str,
        /// The operand that a line must have or lack for it.
        operand: Option<(String, bool)>,
    },
    /// `misread "…" [a];`
    Misread {
        /// What the assembler makes of it.
        how: String,
        /// The operand that was meant to be in brackets.
        bracket: Option<String>,
    },
}

/// Reads a file.
pub fn parse(name: &str, text: &str) -> Result<File, Fault> {
    let mut reader = FileReader { name, section: String::new(), items: Vec::new() };
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        at = reader.item(&lines, at)?;
    }
    Ok(File { name: name.to_owned(), items: reader.items })
}

struct FileReader<'a> {
    name: &'a str,
    section: String,
    items: Vec<Item>,
}

impl FileReader<'_> {
    /// Reads what begins at a line and gives the line after it.
    fn item(&mut self, lines: &[&str], at: usize) -> Result<usize, Fault> {
        let line = lines[at].trim_end();
        if line.is_empty() || line.starts_with('#') {
            return Ok(at + 1);
        }
        if line.starts_with(char::is_whitespace) {
            return Err(Fault::new(self.name, at + 1, "a clause stands outside a form"));
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_list = matches!(first, "names" | "repeatable" | "together" | "ignored");
        if !is_list
            && !matches!(first, "section" | "counts" | "classes" | "operand")
            && !line.starts_with('.')
        {
            return self.form(lines, at);
        }
        // A definition goes on to its `;` or closing brace at the end of a line.
        let mut end = at;
        let closes = |line: &str| line.starts_with('}') || line.ends_with(';') || line.ends_with('}');
        let braces = is_list || matches!(first, "counts" | "classes");
        while !closes(lines[end].trim_end()) || braces && !lines[end].trim_end().ends_with('}') {
            end += 1;
            if end == lines.len() {
                return Err(Fault::new(self.name, at + 1, "a definition that begins here does not end"));
            }
        }
        self.definition(&lines[at..=end].join("\n"), at + 1)?;
        Ok(end + 1)
    }

    fn definition(&mut self, text: &str, line: usize) -> Result<(), Fault> {
        if let Some((names, words)) = text.strip_prefix("ignored").and_then(|rest| rest.split_once('{')) {
            let words = words.trim_end().trim_end_matches('}').split_whitespace().map(str::to_owned);
            let mut names = names.split_whitespace().map(str::to_owned).peekable();
            let any = names.next_if_eq("any").is_some();
            let but = names.next_if_eq("but").is_some();
            let (names, modifiers) = (names.collect(), words.collect());
            self.items.push(Item::Ignored(Ignored { line, any, but, names, modifiers }));
            return Ok(());
        }
        let list = word_list(text, "names").map(Item::Names);
        let list = list.or_else(|| word_list(text, "repeatable").map(Item::Repeatable));
        if let Some(list) = list.or_else(|| word_list(text, "together").map(Item::Together)) {
            self.items.push(list);
            return Ok(());
        }
        let tokens = tokens(self.name, text, line)?;
        let mut cursor = Cursor::new(self.name, &tokens);
        if cursor.eat_word("section") {
            self.section = cursor.text()?;
            cursor.mark(';')?;
        } else if cursor.eat_word("counts") {
            self.items.push(Item::Counts(counts(&mut cursor)?));
        } else if cursor.eat_word("classes") {
            self.items.push(Item::Classes(classes(&mut cursor)?));
        } else if cursor.eat_word("operand") {
            self.items.push(Item::Operand(class_line(&mut cursor)?));
        } else {
            self.items.push(Item::Slot(slot(&mut cursor)?));
        }
        cursor.end()
    }

    fn form(&mut self, lines: &[&str], at: usize) -> Result<usize, Fault> {
        let mut syntaxes = Vec::new();
        let mut end = at;
        while end < lines.len() && lines[end].starts_with(|first: char| first.is_ascii_lowercase()) {
            let start = end;
            while !lines[end].trim_end().ends_with(';') {
                end += 1;
                if end == lines.len() {
                    return Err(Fault::new(self.name, start + 1, "a syntax line does not end with `;`"));
                }
            }
            let text = lines[start..=end].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            end += 1;
            syntaxes.extend(syntax::parse(self.name, &text, start + 1)?);
        }
        let first = end;
        while end < lines.len()
            && (lines[end].trim().is_empty() || lines[end].starts_with(char::is_whitespace))
        {
            end += 1;
        }
        let text = lines[first..end].join("\n");
        let tokens = tokens(self.name, &text, first + 1)?;
        let mut cursor = Cursor::new(self.name, &tokens);
        let mut clauses = Vec::new();
        while !cursor.is_at_end() {
            clauses.extend(clause(&mut cursor)?);
        }
        let section = self.section.clone();
        self.items.push(Item::Form(FormDefinition { section, syntaxes, clauses }));
        Ok(end)
    }
}

/// The words of `keyword { word word … }`.
fn word_list(text: &str, keyword: &str) -> Option<Vec<String>> {
    let list = text.strip_prefix(keyword)?.trim().strip_prefix('{')?.strip_suffix('}')?;
    Some(list.split_whitespace().map(str::to_owned).collect())
}

fn clause(cursor: &mut Cursor<'_>) -> Result<Vec<Clause>, Fault> {
    let line = cursor.line();
    if cursor.eat_word("counts") {
        return Ok(vec![Clause::Counts(counts(cursor)?)]);
    }
    if cursor.eat_word("effect") {
        let mut words = Vec::new();
        while let Some(Token::Word(word)) = cursor.peek() {
            if word == "if" {
                break;
            }
            words.push(word.clone());
            cursor.next();
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
        return Ok(vec![Clause::FixedOrder]);
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
        return Ok(vec![Clause::Misread { how, bracket }]);
    }
    if cursor.eat_word("in") {
        return Ok(vec![Clause::Mode { mode: mode(cursor)?, operand: None }]);
    }
    if cursor.eat_word("without") {
        let operand = Some((cursor.name()?, false));
        cursor.word("in")?;
        return Ok(vec![Clause::Mode { mode: mode(cursor)?, operand }]);
    }
    if cursor.defines_slot() {
        return Ok(vec![Clause::Slot(slot(cursor)?)]);
    }
    if cursor.defines_operand() {
        return Ok(operands::clause(cursor)?
            .into_iter()
            .map(|clause| Clause::Operand(Box::new(clause)))
            .collect());
    }
    rule_or_gate(cursor)
}

fn rule_or_gate(cursor: &mut Cursor<'_>) -> Result<Vec<Clause>, Fault> {
    let line = cursor.line();
    let mut operands = Vec::new();
    let mut classes = Vec::new();
    if cursor.eat_word("with") {
        operands.push(cursor.name()?);
        while cursor.eat(',') {
            operands.push(cursor.name()?);
        }
        while cursor.eat('+') {
            classes.push(cursor.name()?);
        }
        if operands.len() > 1 && classes.is_empty() {
            return Err(cursor.fault("several operands bring a requirement only together with classes"));
        }
        if cursor.eat_word("in") {
            let operand = operands.pop().map(|name| (name, true));
            return Ok(vec![Clause::Mode { mode: mode(cursor)?, operand }]);
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
        return Ok(vec![Clause::Rule { when, then, needs }]);
    }
    if cursor.eat_word("without") {
        cursor.word("effect")?;
        cursor.mark(';')?;
        return Ok(vec![Clause::Idle(when)]);
    }
    let version = if cursor.eat_word("since") { Some(cursor.version()?) } else { None };
    let targets = if cursor.eat_word("on") { Some(targets(cursor)?) } else { None };
    let until = if cursor.eat_word("until") { Some(cursor.version()?) } else { None };
    if version.is_none() && targets.is_none() && until.is_none() {
        return Err(cursor.fault(
            "expected a clause: `.slot = {…}`, `operand : …`, `… only with …`, `… not with …`, `… since … on … until …`, \
             `… without effect`, `ignores …`, `effect …`, `counts …`, `deviation …`, `in texmode_…`, `misread …` or `fixed order`",
        ));
    }
    cursor.mark(';')?;
    let version = version.unwrap_or(Version::OLDEST);
    let until = until.unwrap_or(Version::LATEST);
    let targets = targets.unwrap_or(TargetSet::ALL);
    Ok(vec![Clause::Gate { operands, classes, line, when, version, until, targets }])
}

/// `.b1|.b4 ahead of 1 as length if … since … on …;`
fn ignores(cursor: &mut Cursor<'_>) -> Result<Clause, Fault> {
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
    let version = if cursor.eat_word("since") { cursor.version()? } else { Version::OLDEST };
    let targets = if cursor.eat_word("on") { targets(cursor)? } else { TargetSet::ALL };
    cursor.mark(';')?;
    Ok(Clause::Ignores { words, ahead, length, when, version, targets })
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
            Some(Token::Dotted(_)) => atoms.push(Atom { slot: None, values: values(cursor)?, line }),
            Some(Token::Word(word)) if word == "no" => {
                cursor.next();
                let slot = cursor.name()?;
                atoms.push(Atom { slot: Some(slot), values: Vec::new(), line });
            }
            Some(Token::Word(word)) if cursor.next_is('=') => {
                let slot = word.clone();
                cursor.next();
                cursor.mark('=')?;
                atoms.push(Atom { slot: Some(slot), values: values(cursor)?, line });
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

fn slot(cursor: &mut Cursor<'_>) -> Result<SlotDefinition, Fault> {
    let line = cursor.line();
    let name = cursor.name()?;
    cursor.mark('=')?;
    cursor.mark('{')?;
    let mut values = vec![cursor.dotted()?];
    while cursor.eat(',') {
        values.push(cursor.dotted()?);
    }
    cursor.mark('}')?;
    cursor.mark(';')?;
    Ok(SlotDefinition { name, values, line })
}

fn counts(cursor: &mut Cursor<'_>) -> Result<CountsDefinition, Fault> {
    let line = cursor.line();
    let name = cursor.name()?;
    cursor.mark('{')?;
    let mut lines = Vec::new();
    while !cursor.eat('}') {
        let when = condition(cursor)?;
        cursor.mark('=')?;
        let count = cursor.number()?;
        cursor.mark(';')?;
        let count = u16::try_from(count).map_err(|_| cursor.fault("a count is out of range"))?;
        lines.push((when, count));
    }
    Ok(CountsDefinition { name, lines, line })
}

fn classes(cursor: &mut Cursor<'_>) -> Result<ClassesDefinition, Fault> {
    let name = cursor.name()?;
    cursor.mark('{')?;
    let mut lines = Vec::new();
    while !cursor.eat('}') {
        lines.push(class_line(cursor)?);
    }
    Ok(ClassesDefinition { name, lines })
}

/// `name : .type = places | sources;`
fn class_line(cursor: &mut Cursor<'_>) -> Result<ClassLine, Fault> {
    let line = cursor.line();
    let name = match cursor.peek() {
        Some(Token::Dotted(_)) => cursor.dotted()?,
        _ => cursor.name()?,
    };
    let ty = if cursor.eat(':') { Some(cursor.dotted()?) } else { None };
    cursor.mark('=')?;
    let places = cursor.words();
    let sources = if cursor.eat('|') { cursor.words() } else { Vec::new() };
    cursor.mark(';')?;
    Ok(ClassLine { name, ty, places, sources, line })
}

/// `sm_80+ sm_100f sm_100a sm_30..sm_62`: a union.
fn targets(cursor: &mut Cursor<'_>) -> Result<TargetSet, Fault> {
    let mut set = TargetSet::NONE;
    while let Some(Token::Word(word)) = cursor.peek() {
        if word == "until" {
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

/// A place in a list of tokens.
pub struct Cursor<'a> {
    file: &'a str,
    tokens: &'a [Spanned],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of a list.
    pub const fn new(file: &'a str, tokens: &'a [Spanned]) -> Self {
        Self { file, tokens, at: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at).map(|spanned| &spanned.token)
    }

    /// Steps over a token.
    pub fn next(&mut self) -> Option<&'a Token> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Whether all tokens were read.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The line of the next token.
    pub fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |spanned| spanned.line)
    }

    /// A mistake at the next token.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.file, self.line(), message)
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        match self.peek() {
            Some(token) => self.fault(format!("expected {wanted}, found {token}")),
            None => self.fault(format!("expected {wanted}, found the end")),
        }
    }

    /// Steps over a mark if it is next.
    pub fn eat(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    /// Steps over a word if it is next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(text)) if text == word);
        self.at += usize::from(found);
        found
    }

    fn previous_is(&self, word: &str) -> bool {
        matches!(self.tokens.get(self.at.wrapping_sub(1)), Some(Spanned { token: Token::Word(text), .. }) if text == word)
    }

    fn next_is(&self, mark: char) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|spanned| spanned.token == Token::Mark(mark))
    }

    fn defines_slot(&self) -> bool {
        let token = |offset: usize| self.tokens.get(self.at + offset).map(|spanned| &spanned.token);
        matches!(token(0), Some(Token::Dotted(_)))
            && token(1) == Some(&Token::Mark('='))
            && token(2) == Some(&Token::Mark('{'))
    }

    /// Whether names and commas lead to a colon.
    fn defines_operand(&self) -> bool {
        let mut rest = self.tokens[self.at..].iter().map(|spanned| &spanned.token);
        loop {
            match rest.next() {
                Some(Token::Word(_) | Token::Mark(',')) => {}
                Some(Token::Mark(':')) => return true,
                _ => return false,
            }
        }
    }

    /// Requires a mark.
    pub fn mark(&mut self, mark: char) -> Result<(), Fault> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    /// Requires a word.
    pub fn word(&mut self, word: &str) -> Result<(), Fault> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    /// Requires a name, with or without a dot.
    pub fn name(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Word(text) | Token::Dotted(text)) => {
                self.at += 1;
                Ok(text.trim_start_matches('.').to_owned())
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Requires a dotted word and keeps its dots.
    pub fn dotted(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Dotted(text)) => {
                self.at += 1;
                Ok(text.clone())
            }
            _ => Err(self.unexpected("a modifier with its dot")),
        }
    }

    /// Requires an integer.
    pub fn number(&mut self) -> Result<i64, Fault> {
        match self.peek() {
            Some(&Token::Number(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// Requires a quoted text.
    fn text(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(text.clone())
            }
            _ => Err(self.unexpected("a quoted text")),
        }
    }

    /// Reads words up to something else; numbers count as words, for `0f` and `0d`.
    pub fn words(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(Token::Word(word)) = self.peek() {
            words.push(word.clone());
            self.at += 1;
        }
        words
    }

    /// Requires a version. The lexer cuts `8.6` into a number and a dotted word.
    fn version(&mut self) -> Result<Version, Fault> {
        let major = self.number()?;
        let minor = self.dotted()?;
        Version::parse(&format!("{major}{minor}"))
            .filter(|version| version.is_published())
            .ok_or_else(|| self.fault("this version was never published"))
    }

    fn end(&self) -> Result<(), Fault> {
        if self.is_at_end() { Ok(()) } else { Err(self.unexpected("the end of the definition")) }
    }
}
