//! The spellings of a text. Each distinct one is resolved once.

use crate::arena::{Arena, Handle};
use crate::ir::Spelling;
use crate::isa::resolve;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(super) struct Spellings<'s> {
    /// Spellings as they stand in the source, blanks included.
    written: FxHashMap<&'s str, Handle<Spelling>>,
    /// Spellings without their blanks, for those that have any.
    clean: FxHashMap<String, Handle<Spelling>>,
}

impl<'s> Spellings<'s> {
    /// The handle of a spelling among those that are known, which it is added to where it is new.
    #[inline]
    pub fn find(&mut self, text: &'s str, known: &mut Arena<Spelling>) -> Handle<Spelling> {
        match self.written.get(text) {
            Some(&handle) => handle,
            None => self.add(text, known),
        }
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
                let spelling = Spelling { text: clean.as_str().into(), resolved: resolve(&clean) };
                let handle = known.push(spelling);
                self.clean.insert(clean, handle);
                handle
            }
        };
        self.written.insert(text, handle);
        handle
    }
}
