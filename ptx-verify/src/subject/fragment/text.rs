//! The PTX text that a statement is verified as, with what is found out about it. Statements of one text share that:
//! macros and helpers are used often, and nothing of it depends on where a text stands.

use ptx_facts::carry::CarryFacts;
use ptx_facts::initialization::Unset;
use std::cell::{OnceCell, RefCell};
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

use ptx_ir::lower::Lowered;
use ptx_syntax::{Diagnostic, Span, SyntaxError};
use rustc_hash::{FxHashMap, FxHasher};

/// A text that was parsed and lowered.
pub(crate) struct Text {
    /// The PTX text.
    pub(crate) text: String,
    /// Where the template stands in the text.
    pub(crate) template: Span,
    /// Where the text did not parse.
    pub(crate) errors: Vec<SyntaxError>,
    /// Whether it did not.
    pub(crate) broken: bool,
    pub(super) lowered: Lowered,
    /// Whether an instruction may read or write the carry flag.
    pub(super) has_carry: bool,
    pub(super) unset: OnceCell<Vec<Unset>>,
    pub(super) carry: OnceCell<CarryFacts>,
    /// What the rules for PTX say, at places of the text.
    pub(crate) findings: OnceCell<Vec<Diagnostic>>,
}

impl Text {
    fn new(text: String, template: Span) -> Self {
        let parse = ptx_syntax::parse(&text);
        let lowered = ptx_ir::lower::lower(&parse.tree, &text);
        let has_carry = lowered.module.spellings.iter().any(|(_, spelling)| {
            spelling.resolved.instances.iter().any(|instance| instance.effects.carry.is_some())
        });
        Self {
            text,
            template,
            broken: !parse.errors.is_empty(),
            errors: parse.errors,
            lowered,
            has_carry,
            unset: OnceCell::new(),
            carry: OnceCell::new(),
            findings: OnceCell::new(),
        }
    }
}

/// The texts that were met last.
#[derive(Default)]
pub(crate) struct Texts {
    by_hash: RefCell<FxHashMap<u64, Rc<Text>>>,
}

/// Longer texts are not kept: they are rarely met again.
const MAX_LENGTH: usize = 2048;

/// When so many are kept, all are dropped.
const MAX_KEPT: usize = 256;

impl Texts {
    /// What there is of a text with its template at a place.
    pub(crate) fn of(&self, text: String, template: Span) -> Rc<Text> {
        if text.len() > MAX_LENGTH {
            return Rc::new(Text::new(text, template));
        }
        let mut hasher = FxHasher::default();
        (&text, template.start, template.end).hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(known) = self.by_hash.borrow().get(&hash)
            && known.text == text
            && known.template == template
        {
            return Rc::clone(known);
        }
        let made = Rc::new(Text::new(text, template));
        let mut by_hash = self.by_hash.borrow_mut();
        if by_hash.len() >= MAX_KEPT {
            by_hash.clear();
        }
        by_hash.insert(hash, Rc::clone(&made));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_once() {
        let texts = Texts::default();
        let span = Span::new(0, 1);
        let one = texts.of("a".into(), span);
        assert!(Rc::ptr_eq(&one, &texts.of("a".into(), span)));
        assert!(!Rc::ptr_eq(&one, &texts.of("a".into(), Span::new(0, 0))));
        assert!(!Rc::ptr_eq(&one, &texts.of("b".into(), span)));
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let texts = Texts::default();
        for number in 0..2 * MAX_KEPT {
            texts.of(number.to_string(), Span::default());
            assert!(texts.by_hash.borrow().len() <= MAX_KEPT);
        }
        let long = " ".repeat(MAX_LENGTH + 1);
        let before = texts.by_hash.borrow().len();
        texts.of(long, Span::default());
        assert_eq!(texts.by_hash.borrow().len(), before);
    }
}
