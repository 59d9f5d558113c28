//! The text of a section as values and labels.

use ptx_syntax::lexer::Lexer;
use rustc_hash::FxHashMap;

use crate::types::Type;

/// The section that the assembler makes of all `.loc` directives, whose beginning is that of every module's lines.
const LINES: &str = ".debug_line";

/// The words of a section, with a line of text each.
pub(super) struct SectionText {
    lines: Vec<Vec<String>>,
}

/// A value of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// Bytes before it.
    pub offset: u64,
    /// Its bytes: 1, 2, 4 or 8.
    pub width: u8,
    /// Its line and its first word there.
    place: (usize, usize),
}

impl SectionText {
    pub fn new(text: &str) -> Self {
        let words = |line: &str| {
            let tokens = Lexer::new(line).filter(|token| !token.kind.is_trivia());
            tokens.map(|token| token.text(line).to_owned()).collect()
        };
        Self { lines: text.lines().map(words).collect() }
    }

    /// With other names.
    pub fn renamed(mut self, names: &FxHashMap<String, String>) -> Self {
        for word in self.lines.iter_mut().flatten() {
            if let Some(new) = names.get(word) {
                word.clone_from(new);
            }
        }
        self
    }

    /// Everything that is no number, no directive and no mark.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let is_name =
            |word: &&str| word.starts_with(|each: char| each.is_ascii_alphabetic() || "_$%".contains(each));
        self.lines.iter().flatten().map(String::as_str).filter(is_name)
    }

    /// The labels.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.lines
            .iter()
            .flat_map(|line| line.windows(2).filter(|pair| pair[1] == ":").map(|pair| pair[0].as_str()))
    }

    /// All values in order. None where a word is neither a value nor a label.
    pub fn values(&self) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        let (mut offset, mut width) = (0, None);
        // Whether the next word begins a value.
        let mut begins = false;
        for (number, line) in self.lines.iter().enumerate() {
            for (index, word) in line.iter().enumerate() {
                let next = line.get(index + 1).map(String::as_str);
                match word.as_str() {
                    word if bytes(word).is_some() => {
                        width = bytes(word);
                        begins = true;
                    }
                    "," => begins = true,
                    ":" => {}
                    _ if next == Some(":") => width = None,
                    _ if begins => {
                        let width = width?;
                        values.push(Value { offset, width, place: (number, index) });
                        offset += u64::from(width);
                        begins = false;
                    }
                    // The rest of a sum.
                    _ => {
                        width?;
                    }
                }
            }
        }
        Some(values)
    }

    /// The bytes of the values.
    pub fn size(&self) -> Option<u64> {
        Some(self.values()?.last().map_or(0, |last| last.offset + u64::from(last.width)))
    }

    /// The number that a value is.
    pub fn number(&self, value: Value) -> Option<u64> {
        let (line, word) = value.place;
        let words = &self.lines[line];
        let is_alone = words.get(word + 1).is_none_or(|next| next == "," || bytes(next).is_some());
        let text = words.get(word).filter(|_| is_alone)?;
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// Writes another number instead of a value.
    pub fn set_number(&mut self, value: Value, number: u64) {
        let (line, word) = value.place;
        self.lines[line][word] = number.to_string();
    }

    /// The section into which a value refers, and the bytes before that place.
    pub fn reference(&self, value: Value) -> Option<(&str, u64)> {
        let (line, word) = value.place;
        let words = &self.lines[line];
        let section = words.get(word).filter(|word| word.starts_with('.'))?;
        let offset = match (words.get(word + 1).map(String::as_str), words.get(word + 2)) {
            (Some("+"), Some(offset)) => offset.parse().ok()?,
            _ => 0,
        };
        Some((section, offset))
    }

    /// Moves references into sections by the bytes that these have already.
    pub fn move_references(&mut self, sizes: &FxHashMap<String, u64>) {
        let values = self.values().unwrap_or_default();
        // From the last one on, for words are added.
        for value in values.into_iter().rev() {
            let Some((section, offset)) = self.reference(value) else { continue };
            let Some(size) = sizes.get(section).filter(|size| **size > 0 && section != LINES) else {
                continue;
            };
            let sum = (offset + size).to_string();
            let (line, word) = value.place;
            let words = &mut self.lines[line];
            if words.get(word + 1).is_some_and(|next| next == "+") {
                words[word + 2] = sum;
            } else {
                words.splice(word + 1..word + 1, ["+".to_owned(), sum]);
            }
        }
    }

    pub fn print(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            let mut before = "";
            for word in line {
                // As lowering lays them out.
                if !before.is_empty() && before != "-" && word != "," && word != ":" {
                    text.push(' ');
                }
                text.push_str(word);
                before = word;
            }
            text.push('\n');
        }
        text
    }
}

/// The bytes of each value after a type; none where no value has it.
fn bytes(word: &str) -> Option<u8> {
    let is_one = |ty: &Type| matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64);
    let ty = Type::parse(word).filter(is_one)?;
    u8::try_from(ty.bytes()?).ok()
}
