//! The modifiers of instructions, none of which a fix may take away while it means something.
//!
//! A modifier may go where another one of it stays, where the table says that the assembler ignores it there, or where
//! it only asks for a carry. One may take the place of another that the table has at the same place of a form: a
//! rounding for a rounding. Semantics and scopes of the memory model may not even that.

use std::collections::HashMap;

use indexmap::IndexMap;
use ptx_ir::isa::{Effects, LeniencyReason, forms, resolve};
use ptx_syntax::Edit;
use ptx_syntax::lexer::Lexer;

/// No spelling of an instruction is longer, in bytes. What is longer is none, and may be as long as the text.
const MAX_SPELLING: usize = 1024;

/// The modifiers that edits take away. The same is wrong with an instruction wherever a compiler prints it, so that answers
/// are kept.
#[derive(Default)]
pub(super) struct Losses(HashMap<Vec<(String, String)>, Option<String>>);

impl Losses {
    /// The modifier that the edits take away, if they take one.
    pub(super) fn of(&mut self, text: &str, edits: &[Edit]) -> Option<String> {
        let changes = edits.iter().map(|edit| spellings(text, edit)).collect();
        self.0.entry(changes).or_insert_with_key(|changes| lost(changes)).clone()
    }
}

/// The modifier that is lost with spellings before and after some edits.
fn lost(changes: &[(String, String)]) -> Option<String> {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for (before, after) in changes {
        let mut before_words = words(before);
        let after_words = words(after);
        let is_gone = |word: &String| !after_words.contains(word) && Places::of(word).is_some();
        if before_words.iter().any(is_gone) && is_idle(before, after) {
            before_words.retain(|word| Places::of(word).is_some_and(|places| places.is_order));
        }
        gone.extend(before_words);
        come.extend(after_words);
    }
    let mut come = counted(come);
    for word in &gone {
        if let Some(count) = come.get_mut(word) {
            *count = count.saturating_sub(1);
        }
    }
    gone.retain(|word| !come.contains_key(word) && Places::of(word).is_some());
    gone.iter().find(|word| !replaced(word, &mut come)).cloned()
}

/// How often each word is there, in the order in which they come first.
fn counted(words: Vec<String>) -> IndexMap<String, usize> {
    let mut counts = IndexMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Whether one of the words that came stands where `word` could; it can do so for one only.
fn replaced(word: &str, come: &mut IndexMap<String, usize>) -> bool {
    let Some(places) = Places::of(word) else { return true };
    if places.is_order {
        return false;
    }
    let fits = |other: &str| {
        let others = Places::of(other);
        others.is_some_and(|others| others.places.iter().any(|place| places.places.contains(place)))
    };
    let found = come.iter_mut().find(|(other, count)| **count > 0 && fits(other));
    found.map(|(_, count)| *count -= 1).is_some()
}

/// The words that an edit changes, whole: before and after it.
fn spellings(text: &str, edit: &Edit) -> (String, String) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$%.:".contains(byte);
    let (start, end) = (edit.span.start as usize, edit.span.end as usize);
    let bytes = text.as_bytes();
    let before = bytes[..start].iter().rev().take(MAX_SPELLING);
    let first = start - before.take_while(|byte| is_part(byte)).count();
    let last = end + bytes[end..].iter().take(MAX_SPELLING).take_while(|byte| is_part(byte)).count();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    (part(first, last).to_owned(), part(first, start).to_owned() + &edit.replacement + part(end, last))
}

/// The words that begin with a dot, in lower case.
fn words(text: &str) -> Vec<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_$%:".contains(character);
    let after_dots = text.split('.').skip(1);
    let words = after_dots.map(|rest| rest.split(|each| !is_part(each)).next().unwrap_or_default());
    words.filter(|word| !word.is_empty()).map(|word| format!(".{}", word.to_ascii_lowercase())).collect()
}

/// Whether what the second spelling lacks does nothing in the first.
fn is_idle(before: &str, after: &str) -> bool {
    let (before, after) = (&joined(before), &joined(after));
    let resolved = resolve(before);
    let canonical = |leniency: &ptx_ir::isa::Leniency| {
        leniency.reason == LeniencyReason::Ineffective && leniency.canonical == *after
    };
    if resolved.leniency.as_ref().is_some_and(canonical) {
        return true;
    }
    // Whether somebody needs the carry is seen when the text is verified again.
    let without_carry = |effects: &Effects| Effects { carry: None, ..*effects };
    let (one, other) = (resolved.instances.first(), resolve(after).instances.first().cloned());
    one.zip(other).is_some_and(|(one, other)| {
        let writes = |effects: &Effects| effects.carry.is_some_and(|carry| carry.writes);
        let drops = writes(&one.effects) && !writes(&other.effects);
        drops
            && without_carry(&one.effects) == without_carry(&other.effects)
            && words(before).len() == words(after).len() + 1
    })
}

/// A spelling without the blanks and comments that PTX takes before a modifier.
fn joined(text: &str) -> String {
    Lexer::new(text).filter(|token| !token.kind.is_trivia()).map(|token| token.text(text)).collect()
}

/// Where the instruction table has a modifier.
struct Places {
    /// The forms, and the places in them.
    places: Vec<(usize, usize)>,
    /// Whether it is one of the semantics or scopes.
    is_order: bool,
}

impl Places {
    /// None where it is nowhere. Few modifiers are asked about, so that all forms are looked at each time.
    fn of(modifier: &str) -> Option<Self> {
        let mut found = Self { places: Vec::new(), is_order: false };
        for form in forms() {
            for (place, name, value) in form.slot_values() {
                if value.contains(modifier) && parts(value).any(|part| part == modifier) {
                    found.places.push((form.index(), place));
                    // The table calls these places so in every form.
                    found.is_order |= ["sem", "scope"].iter().any(|order| name.starts_with(order));
                }
            }
        }
        (!found.places.is_empty()).then_some(found)
    }
}

/// The words of a value such as `.relaxed.cta`, each with its dot.
fn parts(value: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = value.find('.').map_or("", |at| &value[at..]);
    std::iter::from_fn(move || {
        let end = rest.bytes().skip(1).position(|byte| byte == b'.').map_or(rest.len(), |at| at + 1);
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}
