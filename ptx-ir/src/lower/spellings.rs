//! The spellings of a text. Each distinct one is resolved once.

use crate::arena::{Arena, Handle};
use crate::ir::Spelling;
use crate::isa::{Resolved, resolve};
use ptx_syntax::Span;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// So many spellings are found without a hash of all of their bytes.
const RECENT: usize = 256;

#[derive(Default)]
pub(super) struct Spellings<'s> {
    /// The last spelling of those that end alike; empty before the first.
    recent: Vec<(&'s str, Handle<Spelling>)>,
    /// Spellings as they are in the source, blanks included.
    written: FxHashMap<&'s str, Handle<Spelling>>,
    /// Spellings without their blanks, for those that have any.
    clean: FxHashMap<String, Handle<Spelling>>,
}

impl<'s> Spellings<'s> {
    /// The handle of the spelling at `word` among those that are known, which it is added to where it is new.
    #[inline]
    pub fn find(&mut self, source: &'s str, word: Span, known: &mut Arena<Spelling>) -> Handle<Spelling> {
        let bytes = source.as_bytes().get(word.range()).unwrap_or_default();
        let place = place_of(bytes);
        if let Some(&(recent, handle)) = self.recent.get(place)
            && is_same(recent.as_bytes(), bytes)
        {
            return handle;
        }
        self.find_by_hash(word.text(source), place, known)
    }

    fn find_by_hash(&mut self, text: &'s str, place: usize, known: &mut Arena<Spelling>) -> Handle<Spelling> {
        let handle = match self.written.get(text) {
            Some(&handle) => handle,
            None => self.add(text, known),
        };
        self.recent.resize(RECENT, (text, handle));
        self.recent[place] = (text, handle);
        handle
    }

    #[cold]
    fn add(&mut self, text: &'s str, known: &mut Arena<Spelling>) -> Handle<Spelling> {
        let clean = if text.bytes().any(|byte| byte <= b' ' || byte == b'/') {
            ptx_syntax::lexer::tokenize(text)
                .iter()
                .filter(|token| !token.kind.is_trivia())
                .map(|token| token.text(text))
                .collect()
        } else {
            text.to_owned()
        };
        let handle = match self.clean.get(&clean) {
            Some(&handle) => handle,
            None => {
                let spelling = Spelling { text: clean.as_str().into(), resolved: recall(&clean) };
                let handle = known.push(spelling);
                self.clean.insert(clean, handle);
                handle
            }
        };
        self.written.insert(text, handle);
        handle
    }
}

/// Of so many spellings each thread keeps what they mean, from one module to the next: asm statements are many small
/// modules with few different spellings.
const MAX_KEPT: usize = 2048;

/// Longer spellings are not kept.
const MAX_LENGTH: usize = 96;

/// What a spelling means.
fn recall(spelling: &str) -> Resolved {
    thread_local! {
        static KNOWN: RefCell<FxHashMap<Box<str>, Resolved>> = RefCell::default();
    }
    if spelling.len() > MAX_LENGTH {
        return resolve(spelling);
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(resolved) = known.get(spelling) {
            return resolved.clone();
        }
        let resolved = resolve(spelling);
        if known.len() >= MAX_KEPT {
            known.clear();
        }
        known.insert(spelling.into(), resolved.clone());
        resolved
    })
}

/// Whether two short texts are the same. A call takes longer than to compare the few pieces that they have.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let (pieces, _) = one.as_chunks::<8>();
    let (other_pieces, _) = other.as_chunks::<8>();
    match (one.last_chunk::<8>(), other.last_chunk::<8>()) {
        (Some(end), Some(other_end)) => {
            one.len() == other.len()
                && end == other_end
                && pieces.iter().zip(other_pieces).all(|(piece, other)| piece == other)
        }
        _ => one == other,
    }
}

/// Where a spelling is among the recent ones. What instructions differ in is mostly at the end.
#[inline]
fn place_of(text: &[u8]) -> usize {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let end = match text.last_chunk() {
        Some(end) => u64::from_le_bytes(*end),
        None => text.last_chunk().map_or(0, |end| u32::from_le_bytes(*end).into()),
    };
    (end.wrapping_add(text.len() as u64).wrapping_mul(MIX) >> (64 - RECENT.ilog2())) as usize
}
