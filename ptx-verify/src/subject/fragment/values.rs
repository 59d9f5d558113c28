//! The values that a constant operand of unknown value can have where it is a part of an opcode.
//!
//! In `tcgen05.alloc.cta_group::%1.sync.aligned…` a template parameter can be 1 or 2: with any other number the word is
//! none of the instruction table. So the statement is verified with each of these, and a finding has to hold for all.

use ptx_ir::isa::{FormId, OpcodeId};
use ptx_syntax::lexer::{Lexer, TokenKind};

use super::expand::{Expanded, Hole, PLACEHOLDER};

/// More choices than this are not tried: the parts are left unknown.
const MAX_CHOICES: usize = 16;

/// The names of all operands for each choice of values; empty where nothing is known of any.
pub(crate) fn choices(expanded: &Expanded, names: &[String]) -> Vec<Vec<String>> {
    let mut operands: Vec<usize> = expanded.holes.iter().map(|hole| hole.operand).collect();
    operands.sort_unstable();
    operands.dedup();
    if operands.is_empty() {
        return Vec::new();
    }
    let spellings = spellings(expanded);
    let mut choices = vec![names.to_vec()];
    let mut known = false;
    for operand in operands {
        let Some(values) = values(&spellings, operand).filter(|values| !values.is_empty()) else { continue };
        if choices.len() * values.len() > MAX_CHOICES {
            continue;
        }
        known = true;
        let with = |choice: Vec<String>| {
            values.iter().map(move |value| {
                let mut names = choice.clone();
                names[operand].clone_from(value);
                names
            })
        };
        choices = choices.into_iter().flat_map(with).collect();
    }
    if known { choices } else { Vec::new() }
}

/// A modifier of an opcode, of which one hole is a part.
struct Word<'e> {
    opcode: OpcodeId,
    operand: usize,
    before: &'e str,
    after: &'e str,
}

/// The modifiers with one hole in them.
fn spellings(expanded: &Expanded) -> Vec<Word<'_>> {
    let text = expanded.text.as_str();
    let mut words = Vec::new();
    for token in Lexer::new(text).filter(|token| token.kind == TokenKind::Dotted) {
        let (start, spelling) = (token.span.start as usize, token.span.text(text));
        // They come in the order of the text.
        let first = expanded.holes.partition_point(|hole| hole.expanded.start <= token.span.start);
        let inside = |hole: &&Hole| hole.expanded.end <= token.span.end;
        let root = spelling.split('.').next().unwrap_or_default();
        let Some(opcode) = OpcodeId::parse(root) else { continue };
        for hole in expanded.holes[first..].iter().take_while(inside) {
            let (from, to) = (hole.expanded.start as usize - start, hole.expanded.end as usize - start);
            let Some(dot) = spelling[..from].rfind('.') else { continue };
            let end = spelling[to..].find('.').map_or(spelling.len(), |end| to + end);
            let (before, after) = (&spelling[dot..from], &spelling[to..end]);
            if !before.contains(PLACEHOLDER) && !after.contains(PLACEHOLDER) {
                words.push(Word { opcode, operand: hole.operand, before, after });
            }
        }
    }
    words
}

/// The numbers that make a modifier of every word which an operand is a part of; none where it is part of no word.
fn values(words: &[Word<'_>], operand: usize) -> Option<Vec<String>> {
    let of_word = |word: &Word<'_>| {
        let values = word.opcode.forms().flat_map(FormId::slots).flat_map(|slot| slot.values);
        // A value may be several modifiers: `.relaxed.cta`.
        let modifiers = values.flat_map(|value| value.split('.').skip(1));
        let mut numbers: Vec<String> = modifiers
            .filter_map(|found| found.strip_prefix(&word.before[1..])?.strip_suffix(word.after))
            .filter(|number| is_number(number))
            .map(str::to_owned)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    let mut of_words = words.iter().filter(|word| word.operand == operand).map(of_word);
    let first = of_words.next()?;
    Some(
        of_words.fold(first, |common, other| {
            common.into_iter().filter(|number| other.contains(number)).collect()
        }),
    )
}

/// Whether a compiler prints a number so.
fn is_number(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
}
