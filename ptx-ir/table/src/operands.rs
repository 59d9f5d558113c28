//! Reads operand clauses: `d, a : out vec(.vec) .type/wider +sink -int in 0..15 if .sat;`.

use crate::clauses::{Atom, condition};
use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::lexer::Token;

/// Whose word a clause is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// The manual's, and the assembler takes what it says.
    #[default]
    Both,
    /// The manual's, and the assembler has clauses of its own.
    Manual,
    /// The assembler's.
    Assembler,
}

/// What a clause says of one operand, names still unresolved.
#[derive(Clone)]
pub struct OperandClause {
    /// Whose word it is.
    pub layer: Layer,
    /// The class table of the assembler, where it does not follow from that of the manual.
    pub table: Option<String>,
    /// Why the assembler differs, where its classes do not say it.
    pub reason: Option<String>,
    /// The operand; in its brackets where the clause is about it only where it is drawn in them.
    pub name: String,
    /// Where.
    pub line: usize,
    /// `Source`, `Destination` or `Both`.
    pub role: &'static str,
    /// The outer form.
    pub kind: Kind,
    /// The name of the type, slot or kind of operand.
    pub ty: TypeName,
    /// The class table, where it is not `default`.
    pub variant: Option<String>,
    /// Classes taken besides.
    pub plus: Vec<String>,
    /// Classes not taken.
    pub minus: Vec<String>,
    /// Allowed values of an immediate: low, high, step.
    pub ranges: Vec<(i64, i64, i64)>,
    /// The modifiers with which the operand is there.
    pub with: Vec<Atom>,
    /// Whether it may be left out even then.
    pub optional: bool,
    /// What the operand is for, where rules need to know: a word after `as`.
    pub purpose: Option<String>,
    /// The modifiers for which the clause holds.
    pub when: Vec<Atom>,
}

/// The outer form of an operand.
#[derive(Clone, PartialEq, Eq)]
pub enum Kind {
    /// A single value.
    Value,
    /// A predicate, negated or not: `!pred`.
    Negatable,
    /// `vec(…)`
    Vector(CountName),
    /// `addr(…)`, with the space, what happens there, and the size: vector slot and type.
    Address {
        /// Generic where it is missing; a slot or literal with its dot.
        space: Option<String>,
        /// `read`, `write`, `update`.
        reads: bool,
        /// Likewise.
        writes: bool,
        /// `of vec(.vec) .type`
        size: Option<(Option<String>, TypeName)>,
        /// `sized OPERAND`: the operand that says how many bytes.
        sized: Option<String>,
        /// `aligned N`, in bytes; 0 where it is that of the size.
        aligned: i64,
    },
    /// `part`, `halves`, … `of` a type.
    Selectable(&'static str),
}

/// How many elements.
#[derive(Clone, PartialEq, Eq)]
pub enum CountName {
    /// `4`
    Fixed(u16),
    /// `.vec`, or the name of a `counts` table.
    Name(String),
    /// `N / 2`, `.dim - 1`
    Formula(Formula),
}

/// A number in the spelling of a modifier, and what is done to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Formula {
    /// The variable of a slot, or with its dot a slot whose values have one number each.
    pub source: String,
    /// Operators and operands, from left to right.
    pub steps: Vec<(char, i64)>,
    /// The least result: what is less, or no whole number, counts as this.
    pub least: Option<u16>,
}

impl Formula {
    /// The result for a number, where it is one.
    pub fn of(&self, number: i64) -> Option<u16> {
        let step = |value: i64, &(operator, operand): &(char, i64)| match operator {
            '/' if value % operand != 0 => None,
            '/' => Some(value / operand),
            '*' => value.checked_mul(operand),
            _ => value.checked_add(operand),
        };
        let result = self.steps.iter().try_fold(number, step).and_then(|result| u16::try_from(result).ok());
        match self.least {
            Some(least) => Some(result.unwrap_or(least).max(least)),
            None => result,
        }
    }
}

/// A type by name.
#[derive(Clone, PartialEq, Eq)]
pub enum TypeName {
    /// `u32`, or a kind of operand.
    Word(String),
    /// `.type`
    Slot(String),
    /// `wide(.type)`
    Widened(String),
    /// An address has none.
    None,
}

const SELECTORS: [(&str, &str); 5] = [
    ("part", "Part"),
    ("half-pair", "HalfPair"),
    ("byte-quad", "ByteQuad"),
    ("half-mask", "HalfMask"),
    ("byte-mask", "ByteMask"),
];

/// Reads a clause without alternatives, which gives one result for each operand it names.
pub fn clause(cursor: &mut Cursor<'_>) -> Result<Vec<OperandClause>, Fault> {
    let mut alternatives = alternatives(cursor)?;
    match alternatives.len() {
        1 => Ok(alternatives.swap_remove(0)),
        _ => Err(cursor.fault("only a form has alternatives")),
    }
}

/// Reads a clause: for each of its alternatives, `a : u64/plain or b16/plain;`, one result for each operand it names.
pub fn alternatives(cursor: &mut Cursor<'_>) -> Result<Vec<Vec<OperandClause>>, Fault> {
    let line = cursor.line();
    let names = names(cursor)?;
    let mut found = Vec::new();
    loop {
        let mut clause = OperandClause::empty(line);
        body(cursor, &mut clause)?;
        attributes(cursor, &mut clause)?;
        found.push(names.iter().map(|name| OperandClause { name: name.clone(), ..clause.clone() }).collect());
        if !cursor.eat_word("or") {
            break;
        }
    }
    cursor.mark(';')?;
    Ok(found)
}

/// `d, a :`, `[a] :`
fn names(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    loop {
        names.push(match cursor.eat('[') {
            true => {
                let name = cursor.name()?;
                cursor.mark(']')?;
                format!("[{name}]")
            }
            false => cursor.name()?,
        });
        if !cursor.eat(',') {
            break;
        }
    }
    cursor.mark(':')?;
    Ok(names)
}

/// `out vec(.vec) .type/wider`
fn body(cursor: &mut Cursor<'_>, clause: &mut OperandClause) -> Result<(), Fault> {
    clause.role = role(cursor);
    (clause.kind, clause.ty) = kind(cursor)?;
    clause.variant = if cursor.eat('/') { Some(cursor.name()?) } else { None };
    Ok(())
}

/// How the assembler's word on an operand differs from the manual's.
#[derive(Clone)]
pub struct Amendment {
    /// Whether the manual's clause is meant that has the role, kind and type of this one.
    pub names_kind: bool,
    /// Whether this takes the place of the manual's clauses.
    pub replaces: bool,
    /// What is said.
    pub clause: OperandClause,
}

/// Reads an amendment, which gives one result for each operand it names: `a : vec(2) b8 /element +sink if .x;`,
/// `a : takes b64/plain -u64 "why";`.
pub fn amendment(cursor: &mut Cursor<'_>) -> Result<Vec<Amendment>, Fault> {
    let line = cursor.line();
    let names = names(cursor)?;
    let mut clause = OperandClause { layer: Layer::Assembler, ..OperandClause::empty(line) };
    let replaces = cursor.eat_word("takes");
    let is_mark = matches!(cursor.peek(), Some(Token::Mark('/' | '+' | '-')) | Some(Token::Text(_)));
    let names_kind = !replaces && !is_mark && !cursor.is_word("in") && !cursor.is_word("if");
    if replaces {
        body(cursor, &mut clause)?;
        clause.table = clause.variant.take();
    } else if names_kind {
        clause.role = role(cursor);
        (clause.kind, clause.ty) = kind(cursor)?;
    }
    if !replaces && cursor.eat('/') {
        clause.table = Some(cursor.name()?);
    }
    attributes(cursor, &mut clause)?;
    if let Some(Token::Text(_)) = cursor.peek() {
        clause.reason = Some(cursor.text()?);
    }
    if replaces && clause.reason.is_none() {
        return Err(cursor.fault("what the assembler takes in place of the manual's operand needs a reason"));
    }
    cursor.mark(';')?;
    let one = |name| Amendment { names_kind, replaces, clause: OperandClause { name, ..clause.clone() } };
    Ok(names.into_iter().map(one).collect())
}

impl OperandClause {
    fn empty(line: usize) -> Self {
        Self {
            layer: Layer::Both,
            table: None,
            reason: None,
            name: String::new(),
            line,
            role: "Source",
            kind: Kind::Value,
            ty: TypeName::None,
            variant: None,
            plus: Vec::new(),
            minus: Vec::new(),
            ranges: Vec::new(),
            with: Vec::new(),
            optional: false,
            purpose: None,
            when: Vec::new(),
        }
    }

    /// Whether it says something in a layer.
    pub fn is_of(&self, layer: Layer) -> bool {
        self.layer == Layer::Both || self.layer == layer
    }

    /// The operand without brackets.
    pub fn bare_name(&self) -> &str {
        self.name.trim_matches(['[', ']'])
    }

    /// The class table by which the assembler judges: it takes more for the elements of a brace list.
    pub fn assembler_table(&self) -> &str {
        let is_list = matches!(self.kind, Kind::Vector(_));
        match (self.table.as_deref(), self.variant.as_deref()) {
            (Some(table), _) => table,
            (None, None | Some("register")) if is_list => "element",
            (None, Some("wider")) if is_list => "memory",
            (None, None | Some("register")) => "default",
            (None, Some(table)) => table,
        }
    }
}

fn role(cursor: &mut Cursor<'_>) -> &'static str {
    if cursor.eat_word("out") {
        "Destination"
    } else if cursor.eat_word("inout") {
        "Both"
    } else {
        "Source"
    }
}

fn kind(cursor: &mut Cursor<'_>) -> Result<(Kind, TypeName), Fault> {
    if cursor.eat('!') {
        return Ok((Kind::Negatable, type_name(cursor)?));
    }
    if cursor.eat_word("vec") {
        cursor.mark('(')?;
        let count = count(cursor)?;
        cursor.mark(')')?;
        return Ok((Kind::Vector(count), type_name(cursor)?));
    }
    if cursor.eat_word("addr") {
        return Ok((address(cursor)?, TypeName::None));
    }
    for (word, selectors) in SELECTORS {
        if cursor.eat_word(word) {
            cursor.word("of")?;
            return Ok((Kind::Selectable(selectors), type_name(cursor)?));
        }
    }
    Ok((Kind::Value, type_name(cursor)?))
}

/// `4`, `.vec`, `coordinates`, `N / 2`, `.num / 8 at least 1`
pub fn count(cursor: &mut Cursor<'_>) -> Result<CountName, Fault> {
    let source = match cursor.peek() {
        Some(&Token::Number(count)) => {
            cursor.next();
            let count = u16::try_from(count).map_err(|_| cursor.fault("a count is out of range"))?;
            return Ok(CountName::Fixed(count));
        }
        Some(Token::Dotted(_)) => cursor.dotted()?,
        _ => cursor.name()?,
    };
    let is_variable = source.len() == 1 && source.starts_with(|letter: char| letter.is_ascii_uppercase());
    let mut steps = Vec::new();
    while let Some(&Token::Mark(operator @ ('*' | '/' | '+' | '-'))) = cursor.peek() {
        cursor.next();
        let operand = cursor.number()?;
        if operator == '/' && operand <= 0 {
            return Err(cursor.fault("a count is divided by a positive number"));
        }
        steps.push(if operator == '-' { ('+', -operand) } else { (operator, operand) });
    }
    let mut least = None;
    if cursor.eat_word("at") {
        cursor.word("least")?;
        let number = cursor.number()?;
        least = Some(u16::try_from(number).map_err(|_| cursor.fault("a count is out of range"))?);
    }
    Ok(if is_variable || !steps.is_empty() || least.is_some() {
        CountName::Formula(Formula { source, steps, least })
    } else {
        CountName::Name(source)
    })
}

fn address(cursor: &mut Cursor<'_>) -> Result<Kind, Fault> {
    let mut space = None;
    if cursor.eat('(') {
        space = Some(cursor.dotted()?);
        cursor.mark(')')?;
    }
    let (mut reads, mut writes) = (cursor.eat_word("read"), cursor.eat_word("write"));
    if cursor.eat_word("update") {
        (reads, writes) = (true, true);
    }
    let mut size = None;
    if cursor.eat_word("of") {
        let mut vector = None;
        if cursor.eat_word("vec") {
            cursor.mark('(')?;
            vector = Some(cursor.dotted()?);
            cursor.mark(')')?;
        }
        size = Some((vector, type_name(cursor)?));
    }
    let sized = if cursor.eat_word("sized") { Some(cursor.name()?) } else { None };
    let aligned = if cursor.eat_word("aligned") { cursor.number()? } else { 0 };
    Ok(Kind::Address { space, reads, writes, size, sized, aligned })
}

fn type_name(cursor: &mut Cursor<'_>) -> Result<TypeName, Fault> {
    if cursor.eat_word("wide") {
        cursor.mark('(')?;
        let slot = cursor.dotted()?;
        cursor.mark(')')?;
        return Ok(TypeName::Widened(slot));
    }
    match cursor.peek() {
        Some(Token::Dotted(_)) => Ok(TypeName::Slot(cursor.dotted()?)),
        _ => Ok(TypeName::Word(cursor.name()?)),
    }
}

fn attributes(cursor: &mut Cursor<'_>, clause: &mut OperandClause) -> Result<(), Fault> {
    loop {
        if cursor.eat('+') {
            clause.plus.push(cursor.name()?);
        } else if cursor.eat('-') {
            clause.minus.push(cursor.name()?);
        } else if cursor.eat_word("in") {
            clause.ranges.push(range(cursor)?);
            while cursor.eat(',') {
                clause.ranges.push(range(cursor)?);
            }
        } else if cursor.eat_word("optional") {
            clause.optional = true;
        } else if cursor.eat_word("as") {
            clause.purpose = Some(cursor.name()?);
        } else if cursor.eat_word("with") {
            clause.with = condition(cursor)?;
        } else if cursor.eat_word("if") {
            clause.when = condition(cursor)?;
        } else {
            return Ok(());
        }
    }
}

/// `4`, `0..15`, `24..256 step 8`, `0..max`, `min..-1`
pub fn range(cursor: &mut Cursor<'_>) -> Result<(i64, i64, i64), Fault> {
    let low = bound(cursor)?;
    let high = if cursor.eat('…') { bound(cursor)? } else { low };
    let step = if cursor.eat_word("step") { cursor.number()? } else { 1 };
    if low > high || step < 1 {
        return Err(cursor.fault("this range has no values"));
    }
    Ok((low, high, step))
}

fn bound(cursor: &mut Cursor<'_>) -> Result<i64, Fault> {
    if cursor.eat_word("max") {
        Ok(i64::MAX)
    } else if cursor.eat_word("min") {
        Ok(i64::MIN)
    } else {
        cursor.number()
    }
}
