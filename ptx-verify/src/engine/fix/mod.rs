//! Applying the fixes of findings to a text.
//!
//! A fix is applied as a whole or not at all, and only where this is certain of the fixed text:
//!
//! * its comments are those of the text before; a finding about a comment may have that one changed;
//! * no modifier that means something is gone ([`flaw`]);
//! * the finding is gone, and no other has come. Only a fix of what the assembler refuses may bring findings to light:
//!   behind an error they were hidden. It must not lead to more errors.
//!
//! Fixes are tried together, since nearly all of them are good. Where a trial fails its fixes are divided, until the
//! fix that is not good is alone: it is refused, and takes no other with it. The number of trials is bounded.
//!
//! Where two fixes change the same bytes the first one is tried; the text is then verified again, and what is still to
//! be fixed is fixed in the next round. What the assembler refuses is fixed first.

mod comments;
mod modifiers;
mod splice;
mod trial;

use std::fmt;

use ptx_syntax::cuda::CudaFile;
use ptx_syntax::{Applicability, Class, Diagnostic, Edit, Severity, Span};

use comments::Comments;
use modifiers::Losses;
use trial::Trials;

/// A fix may make room for another one; more rounds than this would be two rules in a quarrel.
const MAX_ROUNDS: usize = 10;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// PTX.
    Ptx,
    /// CUDA C++ with asm statements.
    Cuda,
}

/// Why a fix is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Its edits are not inside the text, or overlap.
    Malformed,
    /// A comment would change.
    Comment,
    /// A modifier that means something would be gone: this one, with its dot.
    Modifier(String),
    /// The finding would remain.
    Remains,
    /// There would be another finding.
    Finding {
        /// Its rule.
        rule: &'static str,
        /// Its message.
        message: String,
    },
    /// So many fixes of the text failed that this one was not tried by itself.
    Untried,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => formatter.write_str("its edits do not fit the text"),
            Self::Comment => formatter.write_str("it would change a comment"),
            Self::Modifier(modifier) => write!(formatter, "it would take away `{modifier}`"),
            Self::Remains => formatter.write_str("the finding would remain"),
            Self::Finding { rule, message } => write!(formatter, "it would lead to {rule}: {message}"),
            Self::Untried => {
                formatter.write_str("too many other fixes of this file failed to try it by itself")
            }
        }
    }
}

/// A text with its fixes applied.
#[derive(Debug)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// What is found in it.
    pub diagnostics: Vec<Diagnostic>,
    /// How many fixes were applied.
    pub count: usize,
    /// The findings whose fix is not applied, as indices of [`Fixed::diagnostics`] in their order, and why.
    pub refused: Vec<(usize, Refusal)>,
}

/// Applies the fixes of what `verify` finds in `text`: those that are certain, and where `likely` also those that are
/// probably what was meant. `verify` has to give the same findings for the same text.
#[must_use]
pub fn fix(
    text: &str,
    language: Language,
    likely: bool,
    mut verify: impl FnMut(&str) -> Vec<Diagnostic>,
) -> Fixed {
    let mut fixed = Fixed { text: text.to_owned(), diagnostics: verify(text), count: 0, refused: Vec::new() };
    let mut trials = Trials::new(text.len());
    let wanted = |found: &Diagnostic| {
        found.fix.as_ref().is_some_and(|fix| likely || fix.applicability == Applicability::Certain)
    };
    for _ in 0..MAX_ROUNDS {
        let all: Vec<usize> =
            (0..fixed.diagnostics.len()).filter(|&index| wanted(&fixed.diagnostics[index])).collect();
        let (errors, others): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|&index| is_error(&fixed.diagnostics[index]));
        fixed.refused.clear();
        let mut progress = false;
        for (group, reveals) in [(errors, true), (others, false)] {
            if progress || group.is_empty() {
                continue;
            }
            progress = round(&mut fixed, language, &group, reveals, &mut trials, &mut verify);
        }
        if !progress {
            break;
        }
    }
    fixed.refused.sort_by_key(|(index, _)| *index);
    fixed
}

/// Whether the assembler refuses the text for it.
fn is_error(found: &Diagnostic) -> bool {
    found.class == Class::Invalid && found.severity == Severity::Error
}

/// Applies what is good of the fixes of the findings at `wanted`; whether there was any.
fn round(
    fixed: &mut Fixed,
    language: Language,
    wanted: &[usize],
    reveals: bool,
    trials: &mut Trials,
    verify: &mut impl FnMut(&str) -> Vec<Diagnostic>,
) -> bool {
    let comments = Comments::of(&fixed.text, language);
    let mut losses = Losses::default();
    let mut tried = Vec::new();
    for index in splice::apart(&fixed.text, &fixed.diagnostics, wanted) {
        match flaw_among(&fixed.text, &comments, &mut losses, &fixed.diagnostics[index]) {
            Some(refusal) => fixed.refused.push((index, refusal)),
            None => tried.push(index),
        }
    }
    let base = trial::Base { text: &fixed.text, language, found: &fixed.diagnostics, comments, reveals };
    let result = trials.run(&base, tried, verify);
    fixed.refused.extend(result.refused);
    let Some((text, diagnostics)) = result.accepted else { return false };
    fixed.count += result.count;
    fixed.text = text;
    fixed.diagnostics = diagnostics;
    true
}

/// What is wrong with the fix of a finding, as far as the text alone tells: edits that do not fit the text, that
/// change a comment, or that take away a modifier with a meaning. Nothing for a finding without a fix.
#[must_use]
pub fn flaw(text: &str, language: Language, found: &Diagnostic) -> Option<Refusal> {
    found.fix.as_ref()?;
    flaw_among(text, &Comments::of(text, language), &mut Losses::default(), found)
}

/// Takes away the fixes of findings in PTX that have a [`flaw`]; what such a fix was to do stays as help. Of findings
/// that lie in one of `parts`, which are in order, this was done before.
pub(crate) fn drop_flawed(text: &str, parts: &[Span], diagnostics: &mut [Diagnostic]) {
    let is_new = |found: &&mut Diagnostic| {
        let part = parts.partition_point(|part| part.end <= found.span.start);
        parts.get(part).is_none_or(|part| !lies_in(found, *part))
    };
    let comments = || Comments::around(text, Span::new(0, text.len() as u32));
    drop_flawed_among(text, comments, diagnostics.iter_mut().filter(is_new));
}

/// The same for those findings that lie in a part of the text with all their edits. `token_before` gives a place in the part
/// at which a token begins, at or before another place: the nearer, the less is read.
pub(crate) fn drop_flawed_in<'d>(
    text: &str,
    part: Span,
    token_before: impl Fn(u32) -> u32,
    diagnostics: impl Iterator<Item = &'d mut Diagnostic>,
) {
    let mut losses = Losses::default();
    for found in diagnostics.filter(|found| found.fix.is_some() && lies_in(found, part)) {
        let touched = found.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
        let touched = touched.fold(found.span, Span::to);
        let around = Span::new(token_before(touched.start), touched.end);
        drop_flaw(text, &Comments::around(text, around), &mut losses, found);
    }
}

fn lies_in(found: &Diagnostic, part: Span) -> bool {
    let lies_in = |span: Span| part.start <= span.start && span.end <= part.end;
    lies_in(found.span) && found.fix.iter().flat_map(|fix| &fix.edits).all(|edit| lies_in(edit.span))
}

/// The same for findings in a CUDA source.
pub(crate) fn drop_flawed_in_cuda(text: &str, file: &CudaFile, diagnostics: &mut [Diagnostic]) {
    drop_flawed_among(text, || Comments::of_cuda(text, file), diagnostics.iter_mut());
}

fn drop_flawed_among<'d>(
    text: &str,
    comments: impl FnOnce() -> Comments,
    diagnostics: impl Iterator<Item = &'d mut Diagnostic>,
) {
    let mut with_fix = diagnostics.filter(|found| found.fix.is_some()).peekable();
    if with_fix.peek().is_none() {
        return;
    }
    let (comments, mut losses) = (comments(), Losses::default());
    with_fix.for_each(|found| drop_flaw(text, &comments, &mut losses, found));
}

fn drop_flaw(text: &str, comments: &Comments, losses: &mut Losses, found: &mut Diagnostic) {
    match flaw_among(text, comments, losses, found) {
        None => {}
        Some(Refusal::Modifier(_)) => found.fix = None,
        Some(_) => {
            let fix = found.fix.take();
            found.help = found.help.take().or(fix.map(|fix| fix.message));
        }
    }
}

fn flaw_among(text: &str, comments: &Comments, losses: &mut Losses, found: &Diagnostic) -> Option<Refusal> {
    let edits = &found.fix.as_ref()?.edits;
    if edits.is_empty() || !splice::fits(text, edits) {
        return Some(Refusal::Malformed);
    }
    if !comments.survive(text, found, edits) {
        return Some(Refusal::Comment);
    }
    losses.of(text, edits).map(Refusal::Modifier)
}

/// A text with edits applied, which are in order, do not overlap and fit the text.
#[must_use]
pub fn apply(text: &str, edits: &[Edit]) -> String {
    splice::splice(text, edits.iter()).0
}

#[cfg(test)]
mod tests {

    use super::*;

    fn edit(start: u32, end: u32, text: &str) -> Edit {
        Edit { span: Span::new(start, end), replacement: text.to_owned() }
    }

    fn finding(class: Class, at: u32, message: &str, edits: Vec<Edit>) -> Diagnostic {
        let code = if class == Class::Invalid { "E1" } else { "H1" };
        let severity = if class == Class::Invalid { Severity::Error } else { Severity::Warning };
        Diagnostic::new(class, severity, code, "r", Span::new(at, at + 1), message).with_fix(
            "m",
            Applicability::Certain,
            edits,
        )
    }

    /// A verifier that finds the letter `x` wrong and would write `y`; what it makes of an `X` is refused for `why`.
    fn verifier(bad: &'static str, class: Class) -> impl FnMut(&str) -> Vec<Diagnostic> {
        move |text| {
            let mut found = Vec::new();
            for (at, letter) in text.char_indices() {
                let at = at as u32;
                match letter {
                    'x' => found.push(finding(class, at, "x", vec![edit(at, at + 1, "y")])),
                    'X' => found.push(finding(class, at, "X", vec![edit(at, at + 1, bad)])),
                    '!' => found.push(Diagnostic::invalid("E9", "other", Span::new(at, at + 1), "bang")),
                    _ => {}
                }
            }
            found
        }
    }

    #[test]
    fn fixes_are_applied_and_what_is_left_is_told() {
        let fixed = fix("a x b x", Language::Ptx, false, verifier("y", Class::Hazard));
        assert_eq!((fixed.text.as_str(), fixed.count, fixed.diagnostics.len()), ("a y b y", 2, 0));
    }

    #[test]
    fn a_bad_fix_takes_back_only_itself() {
        for class in [Class::Hazard, Class::Invalid] {
            let text = "x x\nX\nx X x\nx";
            // It leaves the finding, it brings one more, it brings another.
            // Where there was an error, another one may come to light.
            let other = if class == Class::Invalid { "y !!" } else { "y !" };
            for bad in ["X", "X X", other, "//"] {
                let fixed = fix(text, Language::Ptx, false, verifier(bad, class));
                assert_eq!((fixed.text.as_str(), fixed.count), ("y y\nX\ny X y\ny", 5), "{bad}");
                let refused: Vec<u32> =
                    fixed.refused.iter().map(|(index, _)| fixed.diagnostics[*index].span.start).collect();
                assert_eq!(refused, [4, 8], "{bad}: {:?}", fixed.refused);
            }
        }
        let refusal = fix("X", Language::Ptx, false, verifier("y !", Class::Hazard)).refused.remove(0).1;
        assert_eq!(refusal.to_string(), "it would lead to other: bang");
    }

    #[test]
    fn trials_are_bounded_and_what_is_not_tried_is_refused() {
        let text = "X\n".repeat(1000);
        let mut calls = 0;
        let mut verify = verifier("y !", Class::Hazard);
        let fixed = fix(&text, Language::Ptx, false, |text| {
            calls += 1;
            verify(text)
        });
        assert!(calls < 600, "{calls}");
        assert_eq!((fixed.text.as_str(), fixed.count, fixed.refused.len()), (text.as_str(), 0, 1000));
        assert!(fixed.refused.iter().any(|(_, refusal)| *refusal == Refusal::Untried));
    }

    #[test]
    fn of_two_that_touch_the_first_is_tried_as_a_whole() {
        let found = [
            finding(Class::Hazard, 0, "1", vec![edit(0, 2, "x")]),
            finding(Class::Hazard, 1, "2", vec![edit(1, 3, "y"), edit(5, 6, "z")]),
            finding(Class::Hazard, 2, "3", vec![edit(2, 2, "w")]),
            finding(Class::Hazard, 5, "4", vec![edit(6, 7, "v")]),
        ];
        assert_eq!(splice::apart("abcdefgh", &found, &[0, 1, 2, 3]), [0, 3]);
        let same = [
            finding(Class::Hazard, 4, "1", vec![edit(4, 4, ";")]),
            finding(Class::Hazard, 4, "2", vec![edit(4, 4, ";")]),
        ];
        assert_eq!(splice::apart("abcdefgh", &same, &[0, 1]), [0]);
    }

    fn flaw_of(language: Language, text: &str, old: &str, new: &str) -> Option<Refusal> {
        let at = text.find(old).unwrap() as u32;
        let span = Span::new(at, at + old.len() as u32);
        let found = Diagnostic::invalid("E1", "r", Span::at(0), "m").with_fix(
            "m",
            Applicability::Certain,
            vec![Edit { span, replacement: new.to_owned() }],
        );
        flaw(text, language, &found)
    }

    #[test]
    fn comments_may_not_change() {
        let ptx = |old: &str, new: &str| flaw_of(Language::Ptx, "a /* b */ c // d\ne", old, new);
        assert_eq!(ptx("a /* b */ c", "a c"), Some(Refusal::Comment));
        assert_eq!(ptx("a /* b */ c", "f /* b */ g"), None);
        assert_eq!(ptx("b", "f"), Some(Refusal::Comment));
        assert_eq!(ptx("d\n", "d\n"), Some(Refusal::Comment));
        assert_eq!(ptx("\ne", " ;\ne"), Some(Refusal::Comment));
        assert_eq!(ptx("\ne", "\n;e"), None);
        let text = "asm(\"add /* b */ c; // d\" /* e */ : \"=r\"(x));\n#define A(x) /* f */ g";
        let cuda = |old: &str, new: &str| flaw_of(Language::Cuda, text, old, new);
        assert_eq!(cuda("add /* b */", "sub"), Some(Refusal::Comment));
        assert_eq!(cuda("d\" /* e */ :", "d\" :"), Some(Refusal::Comment));
        assert_eq!(cuda("/* f */ g", "g"), Some(Refusal::Comment));
        assert_eq!(cuda("\" /* e */", " }\" /* e */"), Some(Refusal::Comment));
        assert_eq!(cuda("\" /* e */", "\\n}\" /* e */"), None);
        assert_eq!(cuda("=r", "+r"), None);
    }

    #[test]
    fn a_finding_about_a_comment_may_change_its_words() {
        let found = |start: u32, edit: Edit| {
            let found = Diagnostic::invalid("E1", "r", Span::new(start, start + 1), "m");
            flaw("a // bc\n/* d */", Language::Ptx, &found.with_fix("m", Applicability::Likely, vec![edit]))
        };
        assert_eq!(found(5, edit(5, 6, "x")), None);
        assert_eq!(found(5, edit(5, 6, "x\n")), Some(Refusal::Comment));
        assert_eq!(found(5, edit(3, 6, "x")), Some(Refusal::Comment));
        assert_eq!(found(11, edit(11, 12, "x")), None);
        assert_eq!(found(11, edit(11, 12, "*/")), Some(Refusal::Comment));
        assert_eq!(found(11, edit(5, 6, "x")), Some(Refusal::Comment));
    }

    #[test]
    fn modifiers_with_a_meaning_may_not_go() {
        let lost = |old: &str, new: &str| {
            let text = format!("{old} %r1, [%rd1];");
            match flaw_of(Language::Ptx, &text, old, new) {
                Some(Refusal::Modifier(modifier)) => modifier,
                None => String::new(),
                Some(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(lost("ld.global.cg.volatile.u32", "ld.global.cg.u32"), ".volatile");
        assert_eq!(lost("ld.volatile.global.u32", "ld.relaxed.sys.global.u32"), ".volatile");
        assert_eq!(lost("ld.acquire.gpu.u32", "ld.relaxed.gpu.u32"), ".acquire");
        assert_eq!(lost("ld.acquire.gpu.u32", "ld.acquire.cta.u32"), ".gpu");
        assert_eq!(lost("add.sat.s32", "add.s32"), ".sat");
        assert_eq!(lost("fence.sc.cta.proxy.alias", "fence.proxy.alias"), ".sc");
        // What it had is there once more, elsewhere, or was no modifier.
        assert_eq!(lost("ld.global.gpu.acquire.gpu.u32", "ld.acquire.gpu.global.u32"), "");
        assert_eq!(lost("ld.GLOBAL.u32", "ld.global.u32"), "");
        assert_eq!(lost("ld.volatil.u32", "ld.volatile.u32"), "");
        // One rounding for another; nothing for something that does nothing.
        assert_eq!(lost("cvt.rn.s32.f32", "cvt.rni.s32.f32"), "");
        assert_eq!(lost("rcp.rn.ftz.f64", "rcp.rn.f64"), "");
        assert_eq!(lost("rcp.rn /* a */ .ftz.f64", "rcp.rn.f64 /* a */"), "");
        assert_eq!(lost("add.cc.u32", "add.u32"), "");
        assert_eq!(lost("addc.cc.sat.s32", "addc.s32"), ".cc");
    }
}
