//! Reads one table file: sections, shared definitions, and forms with their clauses, names still unresolved.

use crate::clauses::{self, Atom, Clause, condition};
use crate::cursor::Cursor;
use crate::fault::{Fault, Faults};
use crate::lexer::{Token, tokens};
use crate::model::{Does, Ignored};
use crate::operands::{self, Amendment, CountName, Formula, OperandClause};
use crate::syntax::{self, Syntax};

/// A file.
pub struct File {
    /// Its path, for messages.
    pub name: String,
    /// What it defines, in order.
    pub items: Vec<Item>,
}

impl File {
    /// Whether it tells what the assembler makes of what the manual says.
    pub fn is_assembler(&self) -> bool {
        self.name.contains("assembler/")
    }

    /// Whether its definitions hold in all files.
    pub fn is_shared(&self) -> bool {
        self.name.ends_with("shared.isa")
    }
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
    /// `repeatable { … }`: modifiers that may be there several times.
    Repeatable(Vec<String>),
    /// `together { … }`: modifiers that keep their order among each other.
    Together(Vec<String>),
    /// `words name { … }`: modifiers that are asked for by what they are.
    Words(WordsDefinition),
    /// `ignored any but name … { … }`: modifiers that the assembler takes and does not look at.
    Ignored(Ignored),
    /// `cache-policy : …;` for all forms after it that have such an operand and do not say what it is.
    Shared(Box<OperandClause>),
    /// `clauses name { … }`, which forms after it take with `use name;`.
    Clauses(ClausesDefinition),
    /// `does add.cc "…" as "…";`: what the forms with these words do, in all files.
    Does(DoesDefinition),
    /// A form.
    Form(FormDefinition),
    /// `amend …`
    Amend(Amend),
    /// `reasons { +code "…"; … }`: why the assembler takes or refuses what the manual does not: sign, class, text.
    Reasons(Vec<(char, String, String)>),
}

/// Modifiers that are asked for by what they are.
pub struct WordsDefinition {
    /// Where the list begins.
    pub line: usize,
    /// What they are.
    pub name: String,
    /// The modifiers.
    pub words: Vec<String>,
}

/// What forms do.
#[derive(Clone)]
pub struct DoesDefinition {
    /// The words that their spelling has, in this order, outside of braces.
    pub words: Vec<String>,
    /// What they do.
    pub does: Does,
    /// Where.
    pub line: usize,
}

/// What the assembler makes of forms, clauses or operands of the manual.
#[derive(Default)]
pub struct Amend {
    /// The opcodes of forms as their syntax lines have them, or `clauses` and `operands` with names.
    pub targets: Vec<String>,
    /// What it says of operands.
    pub operands: Vec<Amendment>,
    /// The values that modifiers may have besides.
    pub values: Vec<MoreValues>,
    /// The other clauses.
    pub clauses: Vec<Clause>,
    /// Where.
    pub line: usize,
}

/// `.rnd takes .rz .rm "why";`
pub struct MoreValues {
    /// The modifier.
    pub slot: String,
    /// What it may be besides.
    pub values: Vec<String>,
    /// Why.
    pub reason: String,
    /// Where.
    pub line: usize,
}

/// Values of a slot.
#[derive(Clone)]
pub struct SlotDefinition {
    /// The name without its dot.
    pub name: String,
    /// The values with their dots; the name of another definition stands for the values of that.
    pub values: Vec<String>,
    /// The variable of `.m64n{N}k16 for N in …`, and its value in each of the values.
    pub variable: Option<(String, Vec<i64>)>,
    /// Where.
    pub line: usize,
}

/// Clauses that forms share by name.
pub struct ClausesDefinition {
    /// The name.
    pub name: String,
    /// The clauses.
    pub clauses: Vec<Clause>,
    /// Where.
    pub line: usize,
}

/// Lengths of brace lists.
#[derive(Clone)]
pub struct CountsDefinition {
    /// The name.
    pub name: String,
    /// Conditions and lengths, which are numbers or formulas.
    pub lines: Vec<(Vec<Atom>, CountName)>,
    /// Where.
    pub line: usize,
}

/// A class table.
pub struct ClassesDefinition {
    /// The name of the variant.
    pub name: String,
    /// Whether it tells what the assembler takes besides.
    pub besides: bool,
    /// Its lines.
    pub lines: Vec<ClassLine>,
}

/// The classes of one type, or of one named kind of operand.
#[derive(Clone)]
pub struct ClassLine {
    /// The type or space with its dot, or the name.
    pub name: String,
    /// The type of a named kind.
    pub ty: Option<String>,
    /// The classes that may be written to.
    pub places: Vec<String>,
    /// The classes that may only be read.
    pub sources: Vec<String>,
    /// Whether the assembler takes them besides.
    pub besides: bool,
    /// Where.
    pub line: usize,
}

/// A group of syntax lines with the clauses that they share.
#[derive(Clone)]
pub struct FormDefinition {
    /// The file, for messages.
    pub file: String,
    /// The section it is in.
    pub section: String,
    /// The syntax lines.
    pub syntaxes: Vec<Syntax>,
    /// The clauses.
    pub clauses: Vec<Clause>,
    /// Whether none was left out because of a mistake.
    pub complete: bool,
}

impl FormDefinition {
    /// Whether only the assembler has it.
    pub fn is_assembler(&self) -> bool {
        self.file.contains("assembler/")
    }

    /// One group for each of the alternatives that its clauses have; those of several clauses go together.
    fn alternatives(self) -> Result<Vec<Self>, Fault> {
        let mut count = None;
        for clause in &self.clauses {
            let Clause::Either { clauses, line } = clause else { continue };
            if *count.get_or_insert(clauses.len()) != clauses.len() {
                let message = "this has another number of alternatives than what is before it";
                return Err(Fault::new(&self.file, *line, message));
            }
        }
        let Some(count) = count else { return Ok(vec![self]) };
        let one = |index: usize| {
            let chosen = |clause: &Clause| match clause {
                Clause::Either { clauses, .. } => clauses[index].clone(),
                other => vec![other.clone()],
            };
            Self { clauses: self.clauses.iter().flat_map(chosen).collect(), ..self.clone() }
        };
        Ok((0..count).map(one).collect())
    }
}

/// Reads a file; what holds a mistake is left out.
pub fn parse(name: &str, text: &str, faults: &mut Faults) -> File {
    let mut reader = FileReader { name, section: String::new(), items: Vec::new(), faults };
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut at = 0;
    while at < lines.len() {
        at = reader.item(&lines, at);
    }
    File { name: name.to_owned(), items: reader.items }
}

struct FileReader<'a> {
    name: &'a str,
    section: String,
    items: Vec<Item>,
    faults: &'a mut Faults,
}

impl FileReader<'_> {
    fn fault(&mut self, at: usize, message: &str) {
        self.faults.push(Fault::new(self.name, at + 1, message));
    }

    /// Reads what begins at a line and gives the line after it.
    fn item(&mut self, lines: &[&str], at: usize) -> usize {
        let line = lines[at];
        if line.is_empty() || line.starts_with('#') {
            return at + 1;
        }
        if line.starts_with(char::is_whitespace) {
            self.fault(at, "a clause stands outside a form");
            return (at + 1..lines.len()).find(|&next| !is_indented(lines[next])).unwrap_or(lines.len());
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        let ends: fn(&str) -> bool = match first {
            "clauses" => |line| line.starts_with('}'),
            "amend" => return self.amend(lines, at),
            "reasons" => |line| line.starts_with('}'),
            "counts" | "classes" | "repeatable" | "together" | "ignored" | "words" => {
                |line| line.ends_with('}')
            }
            _ if first == "section"
                || first == "operand"
                || first == "does"
                || line.starts_with('.')
                || defines_operand(line) =>
            {
                |line| line.ends_with(';')
            }
            _ => return self.form(lines, at),
        };
        let Some(length) = lines[at..].iter().position(|line| ends(line)) else {
            self.fault(at, "a definition that begins here does not end");
            return lines.len();
        };
        let end = at + length;
        let read = self.definition(first, &lines[at..=end].join("\n"), at + 1);
        self.faults.keep(read);
        end + 1
    }

    fn definition(&mut self, first: &str, text: &str, line: usize) -> Result<(), Fault> {
        let list = match first {
            "ignored" => ignored(text, line).map(Item::Ignored),
            "repeatable" => word_list(text, first).map(Item::Repeatable),
            "together" => word_list(text, first).map(Item::Together),
            "words" => words(text, line).map(Item::Words),
            _ => None,
        };
        if let Some(list) = list {
            self.items.push(list);
            return Ok(());
        }
        let tokens = tokens(self.name, text, line)?;
        let mut cursor = Cursor::new(self.name, &tokens);
        match first {
            "section" => {
                cursor.word("section")?;
                self.section = cursor.text()?;
                cursor.mark(';')?;
            }
            "counts" => {
                cursor.word("counts")?;
                self.items.push(Item::Counts(counts(&mut cursor)?));
            }
            "classes" => {
                cursor.word("classes")?;
                let besides = self.name.contains("assembler/");
                self.items.push(Item::Classes(ClassesDefinition { besides, ..classes(&mut cursor)? }));
            }
            "reasons" => {
                cursor.word("reasons")?;
                self.items.push(Item::Reasons(reasons(&mut cursor)?));
            }
            "operand" => {
                cursor.word("operand")?;
                let besides = self.name.contains("assembler/");
                self.items.push(Item::Operand(ClassLine { besides, ..class_line(&mut cursor)? }));
            }
            "clauses" => {
                cursor.word("clauses")?;
                let (line, name) = (cursor.line(), cursor.name()?);
                cursor.mark('{')?;
                let clauses = self.clauses(&mut cursor);
                cursor.mark('}')?;
                self.items.push(Item::Clauses(ClausesDefinition { name, clauses, line }));
            }
            "does" => {
                cursor.word("does")?;
                let (line, spelling) = (cursor.line(), opcode(&mut cursor));
                let does = clauses::does(&mut cursor)?;
                let words = spelling.split('.').map(str::to_owned).collect();
                self.items.push(Item::Does(DoesDefinition { words, does, line }));
            }
            _ if text.starts_with('.') => self.items.extend(slot(&mut cursor)?.into_iter().map(Item::Slot)),
            _ => {
                let clauses = operands::clause(&mut cursor)?.into_iter().map(Box::new);
                self.items.extend(clauses.map(Item::Shared));
            }
        }
        cursor.end()
    }

    fn form(&mut self, lines: &[&str], at: usize) -> usize {
        let before = self.faults.len();
        let mut syntaxes = Vec::new();
        let mut end = at;
        while end < lines.len() && lines[end].starts_with(|first: char| first.is_ascii_lowercase()) {
            let start = end;
            let Some(length) = lines[start..].iter().position(|line| line.ends_with(';')) else {
                self.fault(start, "a syntax line does not end with `;`");
                return lines.len();
            };
            end += length;
            let text = syntax::join(&lines[start..=end]);
            end += 1;
            let read = syntax::parse(self.name, &text, start + 1);
            syntaxes.extend(self.faults.keep(read).unwrap_or_default());
        }
        if end == at {
            self.fault(at, "expected a syntax line or a definition");
            end += 1;
        }
        let first = end;
        while end < lines.len() && is_indented(lines[end]) {
            end += 1;
        }
        let tokens = tokens(self.name, &lines[first..end].join("\n"), first + 1);
        let Some(tokens) = self.faults.keep(tokens) else { return end };
        let mut cursor = Cursor::new(self.name, &tokens);
        let clauses = self.clauses(&mut cursor);
        if let Err(fault) = cursor.end() {
            self.faults.push(fault);
        }
        let section = self.section.clone();
        let complete = self.faults.len() == before;
        let file = self.name.to_owned();
        let form = FormDefinition { file, section, syntaxes, clauses, complete };
        let forms = self.faults.keep(form.alternatives()).unwrap_or_default();
        self.items.extend(forms.into_iter().map(Item::Form));
        end
    }

    /// `amend OPCODE OPCODE…:` and the clauses below it.
    fn amend(&mut self, lines: &[&str], at: usize) -> usize {
        let Some(length) = lines[at..].iter().position(|line| line.ends_with(':')) else {
            self.fault(at, "what `amend` names does not end with `:`");
            return lines.len();
        };
        let first = at + length + 1;
        let end = (first..lines.len()).find(|&next| !is_indented(lines[next])).unwrap_or(lines.len());
        let header = syntax::glued(&lines[at..first]);
        let targets = header.trim_end_matches(':').split_whitespace().skip(1).map(str::to_owned).collect();
        let tokens = tokens(self.name, &lines[first..end].join("\n"), first + 1);
        let Some(tokens) = self.faults.keep(tokens) else { return end };
        let mut cursor = Cursor::new(self.name, &tokens);
        let mut amend = Amend { line: at + 1, targets, ..Amend::default() };
        while !cursor.is_at_end() {
            let start = cursor.column();
            if let Err(fault) = amendment(&mut cursor, &mut amend) {
                self.faults.push(fault);
                cursor.skip_to_line(start);
            }
        }
        self.items.push(Item::Amend(amend));
        end
    }

    /// Reads clauses up to a brace or the end; after a mistake it goes on with the next clause.
    fn clauses(&mut self, cursor: &mut Cursor<'_>) -> Vec<Clause> {
        let mut found = Vec::new();
        while !cursor.is_at_end() && cursor.peek() != Some(&Token::Mark('}')) {
            let start = cursor.column();
            match clauses::clause(cursor) {
                Ok(clauses) => found.extend(clauses),
                Err(fault) => {
                    self.faults.push(fault);
                    cursor.skip_to_line(start);
                }
            }
        }
        found
    }
}

/// `cp.async.bulk.prefetch.L2`, up to what is no part of a spelling.
fn opcode(cursor: &mut Cursor<'_>) -> String {
    let mut spelling = String::new();
    while let Some(Token::Word(text) | Token::Dotted(text)) = cursor.peek() {
        spelling.push_str(text);
        cursor.next();
    }
    spelling
}

/// Reads a clause of `amend`.
fn amendment(cursor: &mut Cursor<'_>, amend: &mut Amend) -> Result<(), Fault> {
    if cursor.defines_operand() {
        amend.operands.extend(operands::amendment(cursor)?);
    } else if cursor.ahead(1) == Some(&Token::Word("takes".to_owned())) {
        let (line, slot) = (cursor.line(), cursor.name()?);
        cursor.word("takes")?;
        let values = cursor.dotted_words();
        let reason = cursor.text()?;
        cursor.mark(';')?;
        amend.values.push(MoreValues { slot, values, reason, line });
    } else {
        amend.clauses.extend(clauses::clause(cursor)?);
    }
    Ok(())
}

/// Whether a line belongs to what is above it.
pub fn is_indented(line: &str) -> bool {
    line.is_empty() || line.starts_with(char::is_whitespace)
}

/// Whether names and commas lead to a colon: `cache-policy : …`, `[a] : …`, which no syntax line has.
pub fn defines_operand(line: &str) -> bool {
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_, []".contains(character);
    line.split_once(" : ").is_some_and(|(names, _)| names.chars().all(is_name))
}

/// `ignored any but name … { .modifier … }`
fn ignored(text: &str, line: usize) -> Option<Ignored> {
    let (names, words) = text.strip_prefix("ignored")?.split_once('{')?;
    let words = words.trim_end_matches('}').split_whitespace().map(str::to_owned);
    let mut names = names.split_whitespace().map(str::to_owned).peekable();
    let any = names.next_if_eq("any").is_some();
    let but = names.next_if_eq("but").is_some();
    Some(Ignored { line, any, but, names: names.collect(), modifiers: words.collect() })
}

/// The words of `keyword { word word … }`.
fn words(text: &str, line: usize) -> Option<WordsDefinition> {
    let (name, rest) = text.strip_prefix("words")?.trim_start().split_once(' ')?;
    Some(WordsDefinition { line, name: name.to_owned(), words: word_list(rest, "")? })
}

fn word_list(text: &str, keyword: &str) -> Option<Vec<String>> {
    let list = text.strip_prefix(keyword)?.trim().strip_prefix('{')?.strip_suffix('}')?;
    Some(list.split_whitespace().map(str::to_owned).collect())
}

/// `.name = { .a, .b };`, `.name = .m64n{N}k16 for N in 8..256 step 8;`; `.one, .other = …` is about two.
pub fn slot(cursor: &mut Cursor<'_>) -> Result<Vec<SlotDefinition>, Fault> {
    let mut names = vec![cursor.name()?];
    while cursor.eat(',') {
        names.push(cursor.name()?);
    }
    let definition = slot_values(cursor)?;
    Ok(names.into_iter().map(|name| SlotDefinition { name, ..definition.clone() }).collect())
}

fn slot_values(cursor: &mut Cursor<'_>) -> Result<SlotDefinition, Fault> {
    let line = cursor.line();
    let name = String::new();
    cursor.mark('=')?;
    if !cursor.eat('{') {
        let definition = numbered(cursor, name, line)?;
        cursor.mark(';')?;
        return Ok(definition);
    }
    let mut values = vec![cursor.dotted()?];
    while cursor.eat(',') {
        values.push(cursor.dotted()?);
    }
    cursor.mark('}')?;
    cursor.mark(';')?;
    Ok(SlotDefinition { name, values, variable: None, line })
}

/// `.m64n{N}k16 for N in 8..32 step 8, 48..256 step 16`
fn numbered(cursor: &mut Cursor<'_>, name: String, line: usize) -> Result<SlotDefinition, Fault> {
    let before = cursor.dotted()?;
    cursor.mark('{')?;
    let variable = cursor.name()?;
    cursor.mark('}')?;
    let after = if cursor.eat_word("for") { String::new() } else { cursor.name()? };
    if !after.is_empty() {
        cursor.word("for")?;
    }
    cursor.word(&variable)?;
    cursor.word("in")?;
    let mut numbers = Vec::new();
    loop {
        let (low, high, step) = operands::range(cursor)?;
        if high - low > 60 * step {
            return Err(cursor.fault("a slot has at most 60 values"));
        }
        numbers.extend((0..=(high - low) / step).map(|index| low + index * step));
        if !cursor.eat(',') {
            break;
        }
    }
    let values = numbers.iter().map(|number| format!("{before}{number}{after}")).collect();
    Ok(SlotDefinition { name, values, variable: Some((variable, numbers)), line })
}

/// `name { .a = 4; .b|.c = .num / 2 at least 1; }`
pub fn counts(cursor: &mut Cursor<'_>) -> Result<CountsDefinition, Fault> {
    let line = cursor.line();
    let name = cursor.name()?;
    cursor.mark('{')?;
    let mut lines = Vec::new();
    while !cursor.eat('}') {
        let when = condition(cursor)?;
        cursor.mark('=')?;
        let count = match operands::count(cursor)? {
            CountName::Name(source) if source.starts_with('.') => {
                CountName::Formula(Formula { source, steps: Vec::new(), least: None })
            }
            CountName::Name(name) => {
                return Err(cursor.fault(format!("expected a number or a formula, found `{name}`")));
            }
            count => count,
        };
        cursor.mark(';')?;
        lines.push((when, count));
    }
    Ok(CountsDefinition { name, lines, line })
}

fn classes(cursor: &mut Cursor<'_>) -> Result<ClassesDefinition, Fault> {
    let name = cursor.name()?;
    cursor.mark('{')?;
    let mut lines = Vec::new();
    while !cursor.eat('}') {
        lines.extend(class_lines(cursor)?);
    }
    Ok(ClassesDefinition { name, lines, besides: false })
}

/// `{ +code +expr "why"; /element "why"; }`
fn reasons(cursor: &mut Cursor<'_>) -> Result<Vec<(char, String, String)>, Fault> {
    let mut found = Vec::new();
    cursor.mark('{')?;
    while !cursor.eat('}') {
        let mut words = Vec::new();
        while let Some(&Token::Mark(sign @ ('+' | '-' | '/'))) = cursor.peek() {
            cursor.next();
            words.push((sign, cursor.name()?));
        }
        if words.is_empty() {
            return Err(cursor.unexpected("`+`, `-` or `/`"));
        }
        let text = cursor.text()?;
        cursor.mark(';')?;
        found.extend(words.into_iter().map(|(sign, name)| (sign, name, text.clone())));
    }
    Ok(found)
}

/// `.b8, .u8 = places | sources;`: a line for each type.
fn class_lines(cursor: &mut Cursor<'_>) -> Result<Vec<ClassLine>, Fault> {
    let mut names = Vec::new();
    while cursor.ahead(1) == Some(&Token::Mark(',')) {
        names.push(match cursor.peek() {
            Some(Token::Dotted(_)) => cursor.dotted()?,
            _ => cursor.name()?,
        });
        cursor.mark(',')?;
    }
    let last = class_line(cursor)?;
    let mut lines: Vec<_> = names.into_iter().map(|name| ClassLine { name, ..last.clone() }).collect();
    lines.push(last);
    Ok(lines)
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
    Ok(ClassLine { name, ty, places, sources, besides: false, line })
}
