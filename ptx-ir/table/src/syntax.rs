//! Reads the syntax line of a form: `ld{.weak}{.ss}.type d, [a]{, cache-policy};`.

use crate::fault::Fault;

/// A syntax line, names still unresolved.
#[derive(Clone)]
pub struct Syntax {
    /// The file, for messages.
    pub file: String,
    /// The line, for messages.
    pub line: usize,
    /// The opcode up to its first dot.
    pub root: String,
    /// Which of the alternatives of the opcode this is, and how many there are: 1 and 2 for `max` of `min|max`.
    pub alternative: (usize, usize),
    /// The modifiers: the name or the literal with its dot, and whether it is optional.
    pub pieces: Vec<(String, bool)>,
    /// How many of the modifiers are words of the opcode, which the assembler reads in one piece.
    pub opcode_words: usize,
    /// The operands.
    pub operands: Vec<Place>,
    /// Without which of the operands that ask for more of version and target it is: a bit for each such requirement.
    pub narrowed: u32,
    /// Whether another line with the same text comes before it.
    pub repeated: bool,
    /// The opcode and modifiers as they are in the file.
    pub opcode: String,
    /// The line as it is in the file.
    pub text: String,
}

/// An operand in a syntax line.
#[derive(Clone, Debug)]
pub struct Place {
    /// The name; that of the whole where there are parts.
    pub name: String,
    /// Whether it is in braces.
    pub optional: bool,
    /// Whether it was in braces and was split off into a form of its own.
    pub required: bool,
    /// What is drawn around the name.
    pub drawing: Drawing,
    /// The parts of a pair or bracket.
    pub parts: Vec<Self>,
}

/// What is drawn around an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// `a`
    Plain,
    /// `[a]`
    Address,
    /// `[a, b]`
    Bracket,
    /// `a|b`
    Pair,
    /// `(a)`
    List,
}

/// A syntax line that goes on over several lines as one: modifiers are joined to the opcode, operands are parted from it
/// by two spaces.
pub fn join(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines.iter().map(|line| line.trim()) {
        text.push_str(if text.is_empty() || line.starts_with('.') || line.starts_with("{.") {
            ""
        } else {
            " "
        });
        text.push_str(line);
    }
    match text.split_once(char::is_whitespace) {
        Some((opcode, operands)) => format!("{opcode}  {}", operands.trim_start()),
        None => text,
    }
}

/// Lines with opcodes as one: modifiers at the beginning of a line are joined to the opcode before them.
pub fn glued(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines.iter().map(|line| line.trim()) {
        let space = if text.is_empty() || line.starts_with(['.', '{']) { "" } else { " " };
        text.push_str(space);
        text.push_str(line);
    }
    text
}

/// What ends an opcode of several words: `mul.hi·.u32`.
const OPCODE_END: char = '·';

/// Reads a line; it gives several where the opcode has alternatives, `vadd|vsub.dtype …`, and two where the second of a
/// pair may be left out, `d{|p}`.
pub fn parse(file: &str, text: &str, line: usize) -> Result<Vec<Syntax>, Fault> {
    if let Some((before, rest)) = text.split_once("{|")
        && let Some((second, after)) = rest.split_once('}')
    {
        let mut lines = parse(file, &format!("{before}{after}"), line)?;
        lines.extend(parse(file, &format!("{before}|{second}{after}"), line)?);
        return Ok(lines);
    }
    let fault = |message: String| Fault::new(file, line, message);
    let body = text.trim_end_matches(';').trim();
    let (spelling, operands) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    let (opcode, rest) = spelling.split_once(OPCODE_END).unwrap_or((spelling, ""));
    let has_end = opcode.len() < spelling.len();
    let end = opcode.find(['.', '{']).unwrap_or(opcode.len());
    let (roots, words) = opcode.split_at(end);
    let mut pieces = pieces(words).map_err(fault)?;
    let opcode_words = if has_end { pieces.len() } else { 0 };
    pieces.extend(self::pieces(rest).map_err(fault)?);
    let mut reader = PlaceReader { characters: operands.chars().collect(), at: 0 };
    let operands = reader.places().map_err(fault)?;
    let count = roots.split('|').count();
    let one = |(index, root): (usize, &str)| Syntax {
        file: file.to_owned(),
        line,
        root: root.to_owned(),
        alternative: (index, count),
        pieces: pieces.clone(),
        opcode_words,
        operands: operands.clone(),
        narrowed: 0,
        repeated: false,
        opcode: spelling.to_owned(),
        text: format!("{root}{};", body[end..].replacen(OPCODE_END, "", 1)),
    };
    Ok(roots.split('|').enumerate().map(one).collect())
}

fn pieces(mut text: &str) -> Result<Vec<(String, bool)>, String> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let optional = text.starts_with('{');
        let (piece, rest) = if optional {
            text[1..].split_once('}').ok_or("a brace of the syntax line is not closed")?
        } else {
            text.split_at(piece_end(text))
        };
        if !piece.starts_with('.') {
            return Err(format!("expected a modifier with its dot, found `{piece}`"));
        }
        pieces.push((piece.to_owned(), optional));
        text = rest;
    }
    Ok(pieces)
}

/// A piece ends before the next dot or brace.
fn piece_end(text: &str) -> usize {
    text[1..].find(['.', '{', '}']).map_or(text.len(), |end| end + 1)
}

struct PlaceReader {
    characters: Vec<char>,
    at: usize,
}

impl PlaceReader {
    fn places(&mut self) -> Result<Vec<Place>, String> {
        let mut places = Vec::new();
        let mut optional = 0;
        loop {
            match self.next() {
                None if optional == 0 => return Ok(places),
                None => return Err("a brace around an operand is not closed".to_owned()),
                Some('{') => optional += 1,
                Some('}') if optional > 0 => optional -= 1,
                Some(',') => {}
                Some(first) => {
                    let mut place = self.place(first)?;
                    place.optional = optional > 0;
                    places.push(place);
                }
            }
        }
    }

    /// The next character that is not white space.
    fn next(&mut self) -> Option<char> {
        while self.characters.get(self.at).is_some_and(|character| character.is_whitespace()) {
            self.at += 1;
        }
        let character = self.characters.get(self.at).copied();
        self.at += 1;
        character
    }

    fn place(&mut self, first: char) -> Result<Place, String> {
        match first {
            '[' => {
                let parts = self.list(']')?;
                let drawing = if parts.len() == 1 { Drawing::Address } else { Drawing::Bracket };
                Ok(wrap(drawing, parts))
            }
            '(' => Ok(wrap(Drawing::List, self.list(')')?)),
            _ => {
                self.at -= 1;
                let low = self.name()?;
                if !self.eat("|") {
                    return Ok(low);
                }
                let high = self.name()?;
                Ok(wrap(Drawing::Pair, vec![low, high]))
            }
        }
    }

    fn list(&mut self, close: char) -> Result<Vec<Place>, String> {
        let mut parts = Vec::new();
        let mut optional = false;
        loop {
            match self.next() {
                Some(character) if character == close => return Ok(parts),
                Some(',') => {}
                Some('{') => optional = true,
                Some('}') if optional => optional = false,
                Some(_) => {
                    self.at -= 1;
                    let mut part = self.name()?;
                    part.optional = optional;
                    parts.push(part);
                }
                None => return Err(format!("`{close}` is missing among the operands")),
            }
        }
    }

    fn name(&mut self) -> Result<Place, String> {
        let start = self.at;
        while self
            .characters
            .get(self.at)
            .is_some_and(|&each| each.is_ascii_alphanumeric() || "_-".contains(each))
        {
            self.at += 1;
        }
        let name: String = self.characters[start..self.at].iter().collect();
        if name.is_empty() {
            return Err(format!("expected an operand, found `{}`", self.characters[start]));
        }
        Ok(Place { name, optional: false, required: false, drawing: Drawing::Plain, parts: Vec::new() })
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.characters[self.at.min(self.characters.len())..]
            .iter()
            .copied()
            .take(text.len())
            .eq(text.chars());
        if found {
            self.at += text.len();
        }
        found
    }
}

fn wrap(drawing: Drawing, parts: Vec<Place>) -> Place {
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let separator = if drawing == Drawing::Pair { "|" } else { ", " };
    let name = names.join(separator);
    let parts = if matches!(drawing, Drawing::Pair | Drawing::Bracket) { parts } else { Vec::new() };
    Place { name, optional: false, required: false, drawing, parts }
}
