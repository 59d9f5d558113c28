//! The PTX text that a statement is verified as, with what is found out about it. Statements of one text share that:
//! macros and helpers are used often, and nothing of it depends on where a text stands. Verifications for several targets
//! share it as well, but for what the rules say.

use ptx_facts::carry::CarryFacts;
use ptx_facts::initialization::Unset;
use std::cell::{OnceCell, RefCell};
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

use ptx_ir::lower::Lowered;
use ptx_ir::platform::Platform;
use ptx_ir::target::Target;
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

/// Where a text names its target: the name, and blanks so that all targets take the same room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    start: u32,
    target: Target,
}

impl Heading {
    /// No name of a target is longer.
    const ROOM: usize = 12;

    /// Adds the name to a text.
    pub(super) fn new(text: &mut String, target: Target) -> Self {
        let start = text.len();
        text.push_str(target.as_str());
        let rest = Self::ROOM.saturating_sub(text.len() - start);
        text.extend(std::iter::repeat_n(' ', rest));
        Self { start: start as u32, target }
    }

    /// The text before and after it.
    fn around(self, text: &str) -> (&str, &str) {
        let start = self.start as usize;
        let (before, rest) = text.split_at_checked(start).unwrap_or((text, ""));
        (before, rest.get(Self::ROOM..).unwrap_or(""))
    }
}

impl Text {
    /// Becomes the text for another target; whether what was lowered is the same for both.
    fn become_of(&mut self, target: Heading, text: &str) -> bool {
        let module = &mut self.lowered.module;
        let before = module.header.platform();
        let platform = Platform { target: target.target, ..before };
        // Where several instances fit the operands, the first one that the target has was taken, or the first of all where it
        // has none.
        let is_same = module.spellings.iter().all(|(_, spelling)| {
            let on =
                |platform| spelling.resolved.instances.iter().map(move |each| each.is_available(platform));
            let is_one = |platform| on(platform).is_sorted() && on(platform).rev().is_sorted();
            on(before).eq(on(platform)) || is_one(before) && is_one(platform)
        });
        if !is_same {
            return false;
        }
        module.header.target = target.target;
        let length = target.target.as_str().len() as u32;
        module.header.target_span = Some(Span::new(target.start, target.start + length));
        text.clone_into(&mut self.text);
        self.findings = OnceCell::new();
        true
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
    pub(crate) fn of(&self, text: String, template: Span, target: Heading) -> Rc<Text> {
        if text.len() > MAX_LENGTH {
            return Rc::new(Text::new(text, template));
        }
        let mut hasher = FxHasher::default();
        (target.around(&text), template.start, template.end).hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(known) = self.by_hash.borrow_mut().get_mut(&hash)
            && known.template == template
        {
            if known.text == text {
                return Rc::clone(known);
            }
            // Who looks at it for the other target does no longer.
            if target.around(&known.text) == target.around(&text)
                && Rc::get_mut(known).is_some_and(|known| known.become_of(target, &text))
            {
                return Rc::clone(known);
            }
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

    /// A text for a target, with `rest` behind the header.
    fn text(target: &str, rest: &str) -> (String, Heading) {
        let mut text = ".version 8.6\n.target ".to_owned();
        let heading = Heading::new(&mut text, Target::parse(target).unwrap());
        text.push_str("\n.address_size 64\n");
        text.push_str(rest);
        (text, heading)
    }

    #[test]
    fn a_text_is_read_once() {
        let texts = Texts::default();
        let of = |rest, span| {
            let (text, heading) = text("sm_80", rest);
            texts.of(text, span, heading)
        };
        let span = Span::new(0, 1);
        let one = of("a", span);
        assert!(Rc::ptr_eq(&one, &of("a", span)));
        assert!(!Rc::ptr_eq(&one, &of("a", Span::new(0, 0))));
        assert!(!Rc::ptr_eq(&one, &of("b", span)));
    }

    #[test]
    fn other_targets_share_what_is_the_same_for_them() {
        let texts = Texts::default();
        let of = |target, rest| {
            let (text, heading) = text(target, rest);
            let made = texts.of(text.clone(), Span::default(), heading);
            let fresh = Text::new(text, Span::default());
            assert_eq!(made.text, fresh.text);
            assert_eq!(made.lowered.module, fresh.lowered.module);
            Rc::as_ptr(&made)
        };
        let plain = ".func f() { .reg .b32 %r<2>; add.u32 %r0, %r1, 1; ret; }";
        let first = of("sm_80", plain);
        assert!(Target::all().all(|target| of(target.as_str(), plain) == first));
        // Somebody still looks at it.
        let (held, heading) = text("sm_90a", plain);
        let held = texts.of(held, Span::default(), heading);
        assert_ne!(of("sm_80", plain), Rc::as_ptr(&held));
        assert!(held.text.contains("sm_90a"));
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let texts = Texts::default();
        for number in 0..2 * MAX_KEPT {
            let (text, heading) = text("sm_80", &number.to_string());
            texts.of(text, Span::default(), heading);
            assert!(texts.by_hash.borrow().len() <= MAX_KEPT);
        }
        let (long, heading) = text("sm_80", &" ".repeat(MAX_LENGTH + 1));
        let before = texts.by_hash.borrow().len();
        texts.of(long, Span::default(), heading);
        assert_eq!(texts.by_hash.borrow().len(), before);
    }

    #[test]
    fn all_targets_have_room() {
        assert!(Target::all().all(|target| target.as_str().len() <= Heading::ROOM));
    }
}
