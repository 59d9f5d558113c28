//! From a dotted spelling to its meanings.

use std::ops::Range;
use std::sync::Arc;

use super::diagnose;
use super::expand;
use super::instance::{Instance, OpcodeId};
use super::problem::{Leniency, LeniencyReason, SpellingProblem};
use super::spare::{self, Leftover};
use super::table::{
    ABSENT, FEW_BITS, Form, IGNORED, Ignored, NAMES, OPCODES, REPEATABLE, Spare, TOGETHER, allows, forms_of,
    holds, texts,
};
use crate::space::StateSpace;
use crate::types::Type;

/// What a spelling means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The root opcode; `None` where no instruction has it.
    pub opcode: Option<OpcodeId>,
    /// Every form that has this spelling; [`Resolved::select`] picks one by the operands.
    pub instances: Arc<[Instance]>,
    /// Why there is no instance.
    pub problem: Option<SpellingProblem>,
    /// What is odd about a spelling that has instances.
    pub leniency: Option<Leniency>,
}

/// Reads a whole dotted spelling such as `ld.global.L1::no_allocate.v4.f32`. Meant to be called once for each
/// distinct spelling of a module: it allocates.
#[must_use]
pub fn resolve(spelling: &str) -> Resolved {
    let spelling = Spelling::new(spelling);
    let Some(opcode) = opcode(spelling.root) else {
        return Resolved { problem: Some(diagnose::unknown_opcode(&spelling)), ..Resolved::default() };
    };
    let mut leniency = None;
    let instances = exact(opcode, &spelling, &mut leniency);
    if !instances.is_empty() {
        return Resolved { opcode: Some(opcode), instances: instances.into(), problem: None, leniency };
    }
    // Nobody writes so many; the searches below are for those who misplaced one.
    if spelling.modifiers.len() > MAX_MODIFIERS {
        let problem = Some(diagnose::too_many(opcode, &spelling));
        return Resolved { opcode: Some(opcode), problem, ..Resolved::default() };
    }
    let mut steps = MAX_STEPS;
    let (instances, leniency) = lenient(opcode, &spelling, &mut steps);
    if !instances.is_empty() {
        return Resolved { opcode: Some(opcode), instances: instances.into(), problem: None, leniency };
    }
    if let Some(resolved) = without_ignored(opcode, &spelling) {
        return resolved;
    }
    let problem = Some(diagnose::problem(opcode, &spelling));
    Resolved { opcode: Some(opcode), problem, ..Resolved::default() }
}

/// The meanings of a spelling that is as its forms write it; for any other there is none, and no reason is looked for.
#[must_use]
pub fn resolve_exactly(spelling: &str) -> Vec<Instance> {
    let spelling = Spelling::new(spelling);
    let Some(opcode) = opcode(spelling.root) else { return Vec::new() };
    let mut leniency = None;
    let instances = exact(opcode, &spelling, &mut leniency);
    if leniency.is_none() { instances } else { Vec::new() }
}

/// Spellings of more modifiers are searched for in canonical order only. The longest that
/// the assembler takes have about 16.
const MAX_MODIFIERS: usize = 40;

/// So many steps a search without regard to the order takes over all forms of an opcode; the most that a mutant of a
/// real spelling was seen to need is 552. What has many modifiers twice would need more than there is time.
const MAX_STEPS: u32 = 5_000;

/// Of so many ignored modifiers it is tried which may be left out.
const MAX_IGNORED: usize = 6;

/// A spelling, cut at its dots.
pub(super) struct Spelling<'a> {
    pub text: &'a str,
    pub root: &'a str,
    /// The bytes of each modifier with its dot.
    pub modifiers: Vec<Range<usize>>,
}

impl<'a> Spelling<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut starts: Vec<usize> = text.match_indices('.').map(|(at, _)| at).collect();
        let root = &text[..starts.first().copied().unwrap_or(text.len())];
        starts.push(text.len());
        let modifiers = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        Self { text, root, modifiers }
    }

    /// A modifier with its dot.
    pub fn modifier(&self, index: usize) -> &'a str {
        &self.text[self.modifiers[index].clone()]
    }

    /// The text of the modifiers from `first` on.
    pub fn rest(&self, first: usize) -> &'a str {
        self.modifiers.get(first).map_or("", |range| &self.text[range.start..])
    }

    /// How many modifiers, from `first` on, make up `value`; values may have several dots.
    pub fn matches(&self, first: usize, value: &str) -> Option<usize> {
        let start = self.modifiers.get(first)?.start;
        let rest = self.text[start..].strip_prefix(value)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| value.bytes().filter(|&byte| byte == b'.').count())
    }
}

/// The opcode of this name.
pub(super) fn opcode(name: &str) -> Option<OpcodeId> {
    OPCODES.binary_search_by(|opcode| opcode.name.cmp(name)).ok().map(|index| OpcodeId(index as u16))
}

/// The instances of a spelling whose modifiers are complete and in canonical order. Where the first of them has a
/// modifier that does nothing, `leniency` says so.
fn exact(opcode: OpcodeId, spelling: &Spelling<'_>, leniency: &mut Option<Leniency>) -> Vec<Instance> {
    let mut instances = Vec::new();
    for (id, form) in forms_of(opcode) {
        let mut values = vec![ABSENT; form.slots.len()];
        exact_from(form, spelling, 0, 0, &mut values, &mut |values| {
            let instance = expand::instance(id, values);
            let found = instance.is_some();
            if found && instances.is_empty() {
                *leniency = ineffective(form, spelling, values);
            }
            instances.extend(instance);
            found
        });
    }
    instances
}

/// Says which modifier of a choice does nothing.
fn ineffective(form: &Form, spelling: &Spelling<'_>, values: &[u8]) -> Option<Leniency> {
    let when = form.idle.iter().find(|when| holds(**when, values))?;
    let &(slot, _) = when.first()?;
    let value = form.slots[slot as usize].values.get(values[slot as usize] as usize)?;
    let start = spelling.text.find(value.as_str())?;
    let range = start..start + value.len();
    let canonical = format!("{}{}", &spelling.text[..range.start], &spelling.text[range.end..]);
    Some(Leniency { range, reason: LeniencyReason::Ineffective, canonical })
}

/// Whether some form has this spelling in canonical order.
pub(super) fn is_exact(opcode: OpcodeId, text: &str) -> bool {
    let spelling = Spelling::new(text);
    forms_of(opcode).any(|(id, form)| {
        let mut values = vec![ABSENT; form.slots.len()];
        exact_from(form, &spelling, 0, 0, &mut values, &mut |values| expand::instance(id, values).is_some())
    })
}

/// A place in a spelling that any modifier may fill: the one with this index.
#[derive(Clone, Copy)]
pub(super) struct Hole(pub usize);

/// Every value that fills the hole so that a form has the spelling: pairs of slot and value.
pub(super) fn fillers(id: u16, form: &'static Form, spelling: &Spelling<'_>, hole: Hole) -> Vec<(usize, u8)> {
    let mut filler =
        Filler { id, form, spelling, hole, values: vec![ABSENT; form.slots.len()], found: Vec::new() };
    filler.fill(0, 0, None);
    filler.found
}

struct Filler<'a> {
    id: u16,
    form: &'static Form,
    spelling: &'a Spelling<'a>,
    hole: Hole,
    values: Vec<u8>,
    found: Vec<(usize, u8)>,
}

impl Filler<'_> {
    fn fill(&mut self, slot: usize, next: usize, filled: Option<(usize, u8)>) {
        let Some(place) = self.form.slots.get(slot) else {
            let complete = next == self.spelling.modifiers.len() && allows(self.form, &self.values);
            if complete && expand::instance(self.id, &self.values).is_some() {
                self.found.extend(filled);
            }
            return;
        };
        for (index, value) in place.values.iter().enumerate() {
            self.values[slot] = index as u8;
            if next == self.hole.0 {
                self.fill(slot + 1, next + 1, Some((slot, index as u8)));
            } else if let Some(taken) = self.spelling.matches(next, value) {
                self.fill(slot + 1, next + taken, filled);
            }
        }
        self.values[slot] = ABSENT;
        if place.optional {
            self.fill(slot + 1, next, filled);
        }
    }
}

/// Gives the slots from `slot` on the modifiers from `next` on, in order; `accept` judges a full choice.
fn exact_from(
    form: &Form,
    spelling: &Spelling<'_>,
    slot: usize,
    next: usize,
    values: &mut [u8],
    accept: &mut dyn FnMut(&[u8]) -> bool,
) -> bool {
    let Some(place) = form.slots.get(slot) else {
        return next == spelling.modifiers.len() && allows(form, values) && accept(values);
    };
    for (index, value) in place.values.iter().enumerate() {
        if let Some(taken) = spelling.matches(next, value) {
            values[slot] = index as u8;
            if exact_from(form, spelling, slot + 1, next + taken, values, accept) {
                return true;
            }
        }
    }
    values[slot] = ABSENT;
    place.optional && exact_from(form, spelling, slot + 1, next, values, accept)
}

/// How much of a spelling is the opcode as NVIDIA's assembler reads it: `cp.async.bulk` of
/// `cp.async.bulk.global.…`. It takes the longest name that it knows; what is in there is no modifier, so it
/// neither moves nor repeats.
#[must_use]
pub fn name(spelling: &str) -> &str {
    let mut end = spelling.find('.').unwrap_or(spelling.len());
    for next in spelling.match_indices('.').map(|(at, _)| at).skip(1).chain([spelling.len()]) {
        if NAMES.binary_search(&&spelling[..next]).is_ok() {
            end = next;
        }
    }
    &spelling[..end]
}

/// The instances of a spelling whose modifiers are in another order or are repeated, as NVIDIA's assembler
/// takes them. Those that need every modifier go before those that ignore one.
fn lenient(opcode: OpcodeId, spelling: &Spelling<'_>, steps: &mut u32) -> (Vec<Instance>, Option<Leniency>) {
    let mut found = Vec::new();
    for (id, form) in forms_of(opcode) {
        if form.strict_order {
            continue;
        }
        let mut search = Unordered::new(id, form, spelling, Strictness::Assembler);
        if !search.find(steps) {
            continue;
        }
        if let Some(mut instance) = expand::instance(id, &search.values) {
            search.require_for_spare(&mut instance);
            found.push((search.leniency(&instance), instance));
        }
    }
    let ignores = |leniency: &Leniency| leniency.reason == LeniencyReason::Ineffective;
    if found.iter().any(|(leniency, _)| !ignores(leniency)) {
        found.retain(|(leniency, _)| !ignores(leniency));
    }
    let leniency = found.first().map(|(leniency, _)| leniency.clone());
    (found.into_iter().map(|(_, instance)| instance).collect(), leniency)
}

/// What a spelling means without modifiers that NVIDIA's assembler takes and ignores: of most lists at most one, and
/// none within the opcode.
fn without_ignored(opcode: OpcodeId, spelling: &Spelling<'_>) -> Option<Resolved> {
    let name_here = name(spelling.text);
    // An instruction that has one of a list is asked about them.
    let is_asked = |list: &[&str]| {
        let forms = forms_of(opcode).filter(|(_, form)| name(&form.syntax.replace('{', "")) == name_here);
        let mut forms = forms.map(|(_, form)| form);
        forms.any(|form| {
            let values = form.slots.iter().flat_map(|slot| slot.values);
            let spare = form.spare.iter().flat_map(|spare| spare.words);
            values.chain(spare).any(|value| words(value).any(|word| list.contains(&word)))
        })
    };
    let list_of = |at: usize| {
        IGNORED.iter().position(|Ignored { but, names, modifiers, .. }| {
            modifiers.contains(&spelling.modifier(at))
                && if names.is_empty() { !is_asked(modifiers) } else { names.contains(&name_here) != *but }
        })
    };
    let is_never_read = |at: usize| list_of(at).is_some_and(|list| IGNORED[list].any);
    let mut ignorable = Vec::new();
    let mut lists = Vec::new();
    for at in 0..spelling.modifiers.len() {
        let Some(list) = list_of(at).filter(|&list| !IGNORED[list].any) else { continue };
        if lists.contains(&list) || lists.len() == MAX_IGNORED {
            return None;
        }
        lists.push(list);
        ignorable.push(at);
    }
    // The smallest choice of what to leave out that helps is meant.
    let mut choices: Vec<u32> = (0..1_u32 << ignorable.len()).collect();
    choices.sort_by_key(|choice| choice.count_ones());
    // All choices together take no longer than one search.
    let mut steps = MAX_STEPS;
    choices.into_iter().find_map(|choice| {
        let left_out = |at: usize| {
            is_never_read(at)
                || ignorable.iter().position(|&each| each == at).is_some_and(|bit| choice >> bit & 1 != 0)
        };
        let first = (0..spelling.modifiers.len()).find(|&at| left_out(at))?;
        let kept = (0..spelling.modifiers.len()).filter(|&at| !left_out(at));
        let text = kept.fold(spelling.root.to_owned(), |text, at| text + spelling.modifier(at));
        let shorter = Spelling::new(&text);
        let mut instances = exact(opcode, &shorter, &mut None);
        if instances.is_empty() {
            instances = lenient(opcode, &shorter, &mut steps).0;
        }
        instances.retain(|instance| name(&instance.canonical) == name_here);
        let canonical = instances.first()?.canonical.to_string();
        let leniency = Leniency {
            range: spelling.modifiers[first].clone(),
            reason: LeniencyReason::Ineffective,
            canonical,
        };
        Some(Resolved {
            opcode: Some(opcode),
            instances: instances.into(),
            problem: None,
            leniency: Some(leniency),
        })
    })
}

/// What a search without regard to the order of modifiers insists on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// What NVIDIA's assembler insists on: the opcode, the order of types and of state spaces, few repetitions.
    Assembler,
    /// Nothing: to find out what was meant.
    Meaning,
}

/// A search that gives modifiers to slots without regard to their order, but keeps the order among slots that
/// share values, and where the assembler does, that among types and that among state spaces.
struct Unordered<'a> {
    id: u16,
    form: &'static Form,
    spelling: &'a Spelling<'a>,
    strictness: Strictness,
    /// The slot that each modifier went to.
    used: Vec<Option<usize>>,
    /// The values found.
    values: Vec<u8>,
    /// The modifier that each slot got.
    first: Vec<usize>,
}

impl<'a> Unordered<'a> {
    fn new(id: u16, form: &'static Form, spelling: &'a Spelling<'a>, strictness: Strictness) -> Self {
        let slots = form.slots.len();
        let used = vec![None; spelling.modifiers.len()];
        Self {
            id,
            form,
            spelling,
            strictness,
            used,
            values: vec![ABSENT; slots],
            first: vec![usize::MAX; slots],
        }
    }

    /// Searches for values that make an instance of the form, in no more than `steps`.
    fn find(&mut self, steps: &mut u32) -> bool {
        if !self.knows_all() {
            return false;
        }
        let id = self.id;
        let wanted = (self.strictness == Strictness::Assembler).then(|| name(self.spelling.text));
        self.run(0, steps, &mut |values| {
            let instance = expand::instance(id, values);
            instance.is_some_and(|instance| wanted.is_none_or(|wanted| name(&instance.canonical) == wanted))
        })
    }

    /// Whether every modifier is one that the form has: most forms of an opcode fail here.
    fn knows_all(&self) -> bool {
        let values = || self.form.slots.iter().flat_map(|slot| slot.values);
        (0..self.used.len()).all(|index| {
            let modifier = self.spelling.modifier(index);
            values().any(|value| words(value).any(|word| word == modifier))
                || self.strictness == Strictness::Assembler
                    && self.form.spare.iter().any(|spare| texts(spare.words).any(|each| each == modifier))
        })
    }

    fn run(&mut self, slot: usize, steps: &mut u32, accept: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        let Some(place) = self.form.slots.get(slot) else {
            return self.rest_is_odd() && allows(self.form, &self.values) && accept(&self.values);
        };
        for from in self.earliest(slot)..self.spelling.modifiers.len() {
            for (index, value) in place.values.iter().enumerate() {
                let Some(taken) = self.take(slot, from, value) else { continue };
                (self.values[slot], self.first[slot]) = (index as u8, from);
                if self.run(slot + 1, steps, accept) {
                    return true;
                }
                for modifier in taken {
                    self.used[modifier] = None;
                }
            }
        }
        (self.values[slot], self.first[slot]) = (ABSENT, usize::MAX);
        place.optional && self.run(slot + 1, steps, accept)
    }

    /// Gives a slot the modifiers of a value, the first of which is at `from`. The words of a value of
    /// several words, such as `.xorsign.abs`, need not be together.
    fn take(&mut self, slot: usize, from: usize, value: &str) -> Option<Vec<usize>> {
        let mut taken: Vec<usize> = Vec::new();
        for word in words(value) {
            let free = |&at: &usize| {
                self.used[at].is_none() && !taken.contains(&at) && self.spelling.modifier(at) == word
            };
            let found =
                if taken.is_empty() { Some(from).filter(free) } else { (0..self.used.len()).find(free) };
            taken.push(found?);
        }
        for &modifier in &taken {
            self.used[modifier] = Some(slot);
        }
        Some(taken)
    }

    /// After the modifier of the nearest earlier slot of which this one must keep its distance.
    fn earliest(&self, slot: usize) -> usize {
        let values = self.form.slots[slot].values;
        let shares = |other: &usize| {
            let others = self.form.slots[*other].values;
            values.iter().any(|value| others.contains(value))
                || self.strictness == Strictness::Assembler && one_kind(texts(values).chain(texts(others)))
        };
        let earlier = (0..slot).rev().filter(shares).find(|&other| self.first[other] != usize::MAX);
        earlier.map_or(0, |other| self.first[other] + 1)
    }

    /// Whether every modifier that went to no slot repeats one that did, and may, or does nothing.
    fn rest_is_odd(&self) -> bool {
        (0..self.used.len())
            .all(|index| self.used[index].is_some() || self.repeats(index) || self.spare(index).is_some())
    }

    /// Whether a modifier may be there again, and is.
    fn repeats(&self, index: usize) -> bool {
        let text = self.spelling.modifier(index);
        // A type too many is a type for which there is no place.
        let may = match self.strictness {
            Strictness::Assembler => REPEATABLE.contains(&text),
            Strictness::Meaning => Type::parse(text).is_none(),
        };
        may && (0..self.used.len())
            .any(|other| self.used[other].is_some() && self.spelling.modifier(other) == text)
    }

    /// The clause by which a modifier that went to no slot does nothing.
    fn spare(&self, index: usize) -> Option<&'static Spare> {
        if self.form.spare.is_empty() || self.strictness == Strictness::Meaning {
            return None;
        }
        let modifier = |at: usize| (self.spelling.modifier(at), self.used[at].is_some());
        let modifiers: Vec<_> = (0..self.used.len()).map(modifier).collect();
        let (id, form, values) = (self.id, self.form, &self.values);
        Leftover { id, form, values, modifiers: &modifiers, is_type }.clause(index)
    }

    /// Adds what the modifiers that do nothing ask of version and target.
    fn require_for_spare(&self, instance: &mut Instance) {
        for index in (0..self.used.len()).filter(|&index| self.used[index].is_none()) {
            if let Some(spare) = self.spare(index) {
                spare::require(instance, self.spelling.modifier(index), spare);
            }
        }
    }

    fn leniency(&self, instance: &Instance) -> Leniency {
        let canonical = instance.canonical.to_string();
        if let Some(index) = self.used.iter().position(Option::is_none) {
            let range = self.spelling.modifiers[index].clone();
            let repeats = self.repeats(index);
            let reason = if repeats { LeniencyReason::Repeated } else { LeniencyReason::Ineffective };
            return Leniency { range, reason, canonical };
        }
        let misplaced = self.used.windows(2).position(|pair| pair[0] > pair[1]).map_or(0, |index| index + 1);
        let range = self.spelling.modifiers.get(misplaced).cloned().unwrap_or(0..self.spelling.text.len());
        Leniency { range, reason: LeniencyReason::Order, canonical }
    }
}

/// The words of a value, each with its dot: `.xorsign` and `.abs` of `.xorsign.abs`.
pub(super) fn words(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let end = rest.get(1..)?.find('.').map_or(rest.len(), |end| end + 1);
        let (word, tail) = rest.split_at(end);
        rest = tail;
        Some(word)
    })
}

/// Whether modifiers of two slots keep their order: types, state spaces, and what the table lists as standing together.
fn one_kind<'a>(both: impl Iterator<Item = &'a str> + Clone) -> bool {
    both.clone().all(is_type)
        || both.clone().all(|value| StateSpace::parse(value).is_some())
        || TOGETHER.iter().any(|words| both.clone().all(|value| words.contains(&value)))
}

/// Whether modifiers of one kind come in another order in the other one of two spellings.
fn exchanges(one: &str, other: &str) -> bool {
    let modifiers = |spelling| Spelling::new(spelling).modifiers.into_iter();
    modifiers(one).enumerate().any(|(index, first)| {
        let after = modifiers(one).skip(index + 1).map(|range| &one[range]);
        let first = &one[first];
        let place = |wanted: &str| modifiers(other).position(|range| &other[range] == wanted);
        after
            .filter(|second| one_kind([first, second].into_iter()))
            .any(|second| place(second) < place(first))
    })
}

/// Whether a modifier is a type: one of those that a register or an element may have, or of a few bits.
fn is_type(modifier: &str) -> bool {
    Type::parse(modifier).is_some() || FEW_BITS.contains(&modifier)
}

/// The problem of a spelling whose modifiers are right, but are in an order that the assembler does not take,
/// or too often.
pub(super) fn wrong_order(opcode: OpcodeId, spelling: &Spelling<'_>) -> Option<SpellingProblem> {
    let mut steps = MAX_STEPS;
    forms_of(opcode).find_map(|(id, form)| {
        let mut search = Unordered::new(id, form, spelling, Strictness::Meaning);
        if !search.find(&mut steps) {
            return None;
        }
        let leniency = search.leniency(&expand::instance(id, &search.values)?);
        Some(match leniency.reason {
            LeniencyReason::Repeated => SpellingProblem::Duplicate {
                other: first_equal(spelling, &leniency.range),
                range: leniency.range,
                fixed: Some(leniency.canonical),
            },
            LeniencyReason::Order | LeniencyReason::Ineffective => {
                let exchanges = exchanges(spelling.text, &leniency.canonical);
                SpellingProblem::WrongOrder {
                    range: leniency.range,
                    canonical: leniency.canonical,
                    exchanges,
                }
            }
        })
    })
}

/// The first modifier that is spelled like the one at `range`.
fn first_equal(spelling: &Spelling<'_>, range: &Range<usize>) -> Range<usize> {
    let text = &spelling.text[range.clone()];
    spelling.modifiers.iter().find(|other| &spelling.text[(*other).clone()] == text).unwrap_or(range).clone()
}

#[cfg(test)]
mod tests {
    use super::{SpellingProblem, resolve};
    use crate::isa::{LeniencyReason, forms};

    fn canonical(spelling: &str) -> Vec<String> {
        resolve(spelling).instances.iter().map(|instance| instance.canonical.to_string()).collect()
    }

    #[test]
    fn canonical_spellings_mean_themselves() {
        for spelling in ["add.u32", "addc.cc.u64", "ld.global.L2::cache_hint.v2.f32", "bra.uni", "ret"] {
            assert!(canonical(spelling).iter().all(|each| each == spelling), "{spelling}");
            assert!(!canonical(spelling).is_empty(), "{spelling}");
        }
    }

    #[test]
    fn other_orders_and_repetitions_are_taken_with_a_remark() {
        let resolved = resolve("addc.u64.cc");
        let leniency = resolved.leniency.unwrap();
        assert_eq!((leniency.reason, leniency.canonical.as_str()), (LeniencyReason::Order, "addc.cc.u64"));
        let resolved = resolve("addc.cc.cc.u64");
        let leniency = resolved.leniency.unwrap();
        assert_eq!((leniency.reason, leniency.range), (LeniencyReason::Repeated, 7..10));
    }

    #[test]
    fn what_the_assembler_tells_apart_by_order_stays_in_order() {
        let order =
            |spelling: &str| matches!(resolve(spelling).problem, Some(SpellingProblem::WrongOrder { .. }));
        for spelling in ["mul.u32.lo", "cp.async.ca.global.shared", "cvt.rna.f32.tf32", "pmevent.mask"] {
            assert_eq!(order(spelling), spelling != "pmevent.mask", "{spelling}");
        }
        for (spelling, expected) in [
            ("cp.async.ca.global.shared", true),
            ("cvt.rna.f32.tf32", true),
            ("mul24.u32.lo", false),
            ("cp.ca.async.shared.global", false),
        ] {
            let problem = resolve(spelling).problem;
            let Some(SpellingProblem::WrongOrder { exchanges, .. }) = problem else {
                panic!("{spelling}: {problem:?}")
            };
            assert_eq!(exchanges, expected, "{spelling}");
        }
        for spelling in ["min.abs.xorsign.f32", "min.xorsign.NaN.abs.f32", "madc.hi.u32.cc", "ld.u32.global"]
        {
            assert!(resolve(spelling).leniency.is_some(), "{spelling}");
        }
        let twice =
            |spelling: &str| matches!(resolve(spelling).problem, Some(SpellingProblem::Duplicate { .. }));
        for spelling in ["add.ftz.ftz.f32", "mbarrier.arrive.arrive.b64", "st.global.global.u32"] {
            assert!(twice(spelling), "{spelling}");
        }
    }

    #[test]
    fn problems_name_place_and_cure() {
        assert_eq!(
            resolve("ad.u32").problem,
            Some(SpellingProblem::UnknownOpcode { range: 0..2, nearest: Some("add") })
        );
        assert_eq!(
            resolve("add.u33").problem,
            Some(SpellingProblem::UnknownModifier {
                range: 3..7,
                nearest: Some(".u32"),
                fixed: Some("add.u32".to_owned())
            })
        );
        let Some(SpellingProblem::MissingModifier { range, allowed, .. }) = resolve("mul.u32").problem else {
            panic!("a missing modifier");
        };
        assert_eq!(range, 3..3);
        assert!(allowed.contains(&".lo"));
    }

    #[test]
    fn spellings_of_many_modifiers_end() {
        let cases = [
            ("ld", ".global.volatile.relaxed.gpu.sys.acquire.shared.L1::evict_first.v2.v4.b32.u32", 3),
            ("cp.async.bulk.tensor", ".1d.2d.shared::cluster.global.tile.im2col.cta_group::1", 5),
            ("tex", ".1d.v4.u32.s32.level.grad.2d", 20),
            ("sust", ".b.p.1d.2d.v4.b32.trap.clamp.zero.ca.cg", 3),
            ("add", ".s32", 20_000),
            ("add", ".texref", 39),
            ("testp", ".rank.acc::f16.b8x16.b6x16_p32.finite", 1),
            ("tcgen05.cp", ".b2.rank.acc::f16.number.row.b8x16.b6x16_p32.finite", 4),
        ];
        for (root, modifiers, times) in cases {
            let resolved = resolve(&format!("{root}{}", modifiers.repeat(times)));
            assert!(resolved.instances.is_empty() && resolved.problem.is_some(), "{root}");
        }
    }

    #[test]
    fn every_form_has_operands_that_say_what_they_take() {
        for form in forms() {
            assert!(!form.syntax().is_empty() && form.to_string().contains(form.syntax()));
            assert!(!form.requirement().1.is_empty(), "{}", form.place());
        }
    }
}
