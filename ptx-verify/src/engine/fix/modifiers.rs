//! The modifiers of instructions, none of which a fix may take away while it means something.
//!
//! A modifier may go where another one of it stays, where the table says that the assembler ignores it there, or where
//! it only asks for a carry. One may take the place of another that the table has at the same place of a form: a
//! rounding for a rounding. Semantics and scopes of the memory model may not even that.

use std::collections::HashMap;
use std::sync::OnceLock;

use indexmap::IndexMap;
use ptx_ir::isa::{Effects, LeniencyReason, forms, resolve};
use ptx_syntax::Edit;
use ptx_syntax::lexer::Lexer;
use rustc_hash::{FxHashMap, FxHashSet};

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
        if before_words.iter().any(|word| is_known(word)) && is_idle(before, after) {
            before_words.retain(|word| table().order.contains(word.as_str()));
        }
        gone.extend(before_words);
        come.extend(words(after));
    }
    let mut come = counted(come);
    for word in &gone {
        if let Some(count) = come.get_mut(word) {
            *count = count.saturating_sub(1);
        }
    }
    gone.retain(|word| is_known(word) && !come.contains_key(word));
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

fn is_known(word: &str) -> bool {
    table().places.contains_key(word)
}

/// Whether one of the words that came stands where `word` could; it can do so for one only.
fn replaced(word: &str, come: &mut IndexMap<String, usize>) -> bool {
    let table = table();
    if table.order.contains(word) {
        return false;
    }
    let Some(places) = table.places.get(word) else { return true };
    let fits = |other: &str| {
        let others = table.places.get(other);
        others.is_some_and(|others| others.iter().any(|place| places.contains(place)))
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

/// What the instruction table says of modifiers.
struct Table {
    /// For each modifier, the places that may hold it: numbers that mean nothing by themselves.
    places: FxHashMap<&'static str, Vec<u32>>,
    /// Semantics and scopes.
    order: FxHashSet<&'static str>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { places: FxHashMap::default(), order: FxHashSet::default() };
        let slots = forms().flat_map(ptx_ir::isa::FormId::slots);
        for (slot, place) in slots.zip(0..) {
            // The table calls these places so in every form.
            let order = ["sem", "scope"].iter().any(|name| slot.name.starts_with(name));
            for part in slot.values.iter().flat_map(|value| parts(value)) {
                table.places.entry(part).or_default().push(place);
                if order {
                    table.order.insert(part);
                }
            }
        }
        table
    })
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
