//! Registers told apart by what they hold.
//!
//! People give one name to one number after the other, where compilers take a new one. The values of a variable that come
//! together somewhere, with all that read them, are a web (Briggs, Cooper and Torczon, 1994): each web may have a register of its
//! own, and what the function does is the same. Who looks for the instruction that sets a register then finds the one that counts.

use ptx_ir::ir::{Body, Handle, Operand, Register, RegisterGroup, Run};
use ptx_ir::visit::Rename;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::FunctionFacts;
use crate::values::{Graph, Kind, ValueId};

/// Webs of one register that get registers of their own; what comes after them stays together.
const MAX_WEBS: u32 = 255;
/// Registers that are added at most.
const MAX_ADDED: u32 = 1 << 16;

/// The body of a function with a register for each web; none where there is one for each already.
#[must_use]
pub fn told_apart(facts: &FunctionFacts<'_>, graph: &Graph) -> Option<Body> {
    let is_set_again = |register: Register| facts.definitions(register).len() > 1;
    if !facts.registers().any(is_set_again) {
        return None;
    }
    let mut webs = Webs::new(facts, graph);
    let numbers = webs.numbers();
    if numbers.values().all(|number| *number == 0) {
        return None;
    }
    let mut body = facts.body.clone();
    let added = Added::new(&mut body, numbers.iter().map(|(&(register, _), &number)| (register, number)));
    let mut renamed = |register: Register, value: Option<ValueId>| {
        let number = value.and_then(|value| numbers.get(&(register, webs.root(value))));
        number.and_then(|number| added.register(facts.body, register, *number)).unwrap_or(register)
    };
    for index in 0..facts.body.instructions.len() as u32 {
        let handle = Handle::new(index);
        let instruction = &mut body.instructions[handle];
        if let Some(register) = instruction.guard.as_mut().and_then(|guard| guard.register.as_mut()) {
            *register = renamed(*register, graph.guard(index));
        }
        let uses = facts.uses().of(index).iter().zip(facts.uses().range(index));
        let changed = uses.filter_map(|(each, at)| {
            let new = renamed(each.register, graph.read(at).or_else(|| graph.written(at)));
            (new != each.register).then_some(((each.operand(), each.register), new))
        });
        let changed: Vec<((usize, Register), Register)> = changed.collect();
        if changed.is_empty() {
            continue;
        }
        for (place, operand) in instruction.operands.range().zip(0..) {
            let mut names = Names { changed: &changed, operand, parts: Vec::new() };
            body.operands[place] = names.operand(body.operands[place]);
            while let Some(run) = names.parts.pop() {
                for part in run.range() {
                    body.children[part] = names.operand(body.children[part]);
                }
            }
        }
    }
    Some(body)
}

/// The names of one operand.
struct Names<'c> {
    /// The registers that change, each with its operand.
    changed: &'c [((usize, Register), Register)],
    operand: usize,
    /// Parts that were not looked at.
    parts: Vec<Run>,
}

impl Rename for Names<'_> {
    fn register(&mut self, register: Register) -> Register {
        let own = self.changed.iter().find(|(place, _)| *place == (self.operand, register));
        own.map_or(register, |(_, new)| *new)
    }

    fn parts(&mut self, run: Run) -> Run {
        self.parts.push(run);
        run
    }
}

/// The webs of a function, as sets of values.
struct Webs<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: &'f Graph,
    parents: Vec<u32>,
}

impl<'f, 'm> Webs<'f, 'm> {
    fn new(facts: &'f FunctionFacts<'m>, graph: &'f Graph) -> Self {
        let mut webs = Self { facts, graph, parents: (0..graph.len() as u32).collect() };
        for value in graph.values() {
            match graph.kind(value) {
                Kind::Guarded { new, old, .. } => {
                    [new, old].into_iter().for_each(|each| webs.join(value, each));
                }
                Kind::Joined { .. } => graph.inputs(value).iter().for_each(|input| webs.join(value, *input)),
                Kind::Undefined | Kind::Entry | Kind::Opaque | Kind::Computed { .. } => {}
            }
        }
        // What one operand reads and writes is one register.
        for at in 0..facts.uses().all().len() {
            if let Some((read, written)) = graph.read(at).zip(graph.written(at)) {
                webs.join(read, written);
            }
        }
        webs
    }

    /// The set of a value, as one of its values.
    fn root(&mut self, value: ValueId) -> u32 {
        let mut at = value.index();
        while self.parents[at] as usize != at {
            self.parents[at] = self.parents[self.parents[at] as usize];
            at = self.parents[at] as usize;
        }
        at as u32
    }

    /// Two values are of one web. What nothing has set is whatever is there.
    fn join(&mut self, one: ValueId, other: ValueId) {
        if [one, other].into_iter().all(|each| self.graph.kind(each) != Kind::Undefined) {
            let (one, other) = (self.root(one), self.root(other));
            self.parents[one as usize] = other;
        }
    }

    /// The number of each web among those of its register, in order of the text.
    fn numbers(&mut self) -> FxHashMap<(Register, u32), u32> {
        let (facts, graph) = (self.facts, self.graph);
        let together = together(facts, graph);
        let (mut numbers, mut counts) = (FxHashMap::default(), FxHashMap::<Register, u32>::default());
        let mut number = |register: Register, root: u32| {
            if !together.contains(&register) {
                numbers.entry((register, root)).or_insert_with(|| {
                    let count = counts.entry(register).or_default();
                    *count += 1;
                    (*count - 1) % (MAX_WEBS + 1)
                });
            }
        };
        for index in 0..facts.body.instructions.len() as u32 {
            let guard = facts.body.instructions[Handle::new(index)].guard.and_then(|guard| guard.register);
            if let Some((register, value)) = guard.zip(graph.guard(index)) {
                number(register, self.root(value));
            }
            for (each, at) in facts.uses().of(index).iter().zip(facts.uses().range(index)) {
                if let Some(value) = graph.read(at).or_else(|| graph.written(at)) {
                    number(each.register, self.root(value));
                }
            }
        }
        numbers
    }
}

/// Registers whose webs stay together: those that have a value when the function begins, elements of vector registers, what is not
/// followed, and what operations use that run on their own, during which it is the name that counts.
fn together(facts: &FunctionFacts<'_>, graph: &Graph) -> FxHashSet<Register> {
    let mut together = FxHashSet::default();
    let is_element = |group: &RegisterGroup| group.elements != 1;
    let has_elements = facts.body.registers.iter().any(|(_, group)| is_element(group));
    for index in 0..facts.body.instructions.len() as u32 {
        let Some(instance) = facts.instance(index) else { continue };
        let operands = facts.body.operands(Handle::new(index));
        let runs_on = instance.effects.asynchronous.is_some() || instance.effects.event.is_some();
        for each in facts.uses().of(index) {
            let is_vector = matches!(operands.get(each.operand()), Some(Operand::Vector(_)));
            if runs_on && is_vector {
                together.insert(each.register);
            }
        }
    }
    for (at, each) in facts.uses().all().iter().enumerate() {
        let values = [graph.read(at), graph.written(at)].into_iter().flatten();
        let mut kinds = values.map(|value| graph.kind(value));
        let is_element = || facts.body.group(each.register).is_none_or(is_element);
        if kinds.any(|kind| matches!(kind, Kind::Entry | Kind::Opaque)) || has_elements && is_element() {
            together.insert(each.register);
        }
    }
    together
}

/// Where the registers are that were added: of each group the first ones, by number of the web.
struct Added(FxHashMap<Register, Vec<Register>>);

impl Added {
    fn new(body: &mut Body, webs: impl Iterator<Item = (Register, u32)>) -> Self {
        let mut most: FxHashMap<Register, u32> = FxHashMap::default();
        for (register, number) in webs {
            if let Some(group) = body.group(register) {
                let known = most.entry(group.first).or_default();
                *known = number.max(*known);
            }
        }
        let mut groups: Vec<RegisterGroup> = body.registers.iter().map(|(_, group)| group.clone()).collect();
        groups.retain(|group| !group.is_empty() && most.contains_key(&group.first));
        let (mut added, start) = (FxHashMap::<Register, Vec<Register>>::default(), body.register_count);
        for group in groups {
            for _ in 0..most[&group.first] {
                let first = Register(body.register_count);
                let Some(next) = first.0.checked_add(group.len()) else { return Self(added) };
                if next - start > MAX_ADDED {
                    return Self(added);
                }
                added.entry(group.first).or_default().push(first);
                body.registers.push(RegisterGroup { first, ..group.clone() });
                body.register_count = next;
            }
        }
        Self(added)
    }

    /// The register of a web; none where it is the one that there was.
    fn register(&self, body: &Body, register: Register, number: u32) -> Option<Register> {
        let group = body.group(register)?;
        let first = self.0.get(&group.first)?.get(number.checked_sub(1)? as usize)?;
        Some(Register(first.0 + (register.0 - group.first.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The registers that instructions name, in order of the first that does, with how many instructions write each; nothing where each
    /// is one web.
    fn writers(body: &str) -> Vec<(String, usize)> {
        let text = format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u32 n) {{\n\
             .reg .pred %p; .reg .b32 %r<9>, %x; .reg .v2 .b32 %v; .reg .b64 %a;\n{body}\nret;\n}}\n"
        );
        let module = ptx_ir::lower::lower(&ptx_syntax::parse(&text).tree, &text).module;
        let facts = FunctionFacts::new(&module, Handle::new(0)).unwrap();
        let Some(apart) = told_apart(&facts, &Graph::new(&facts)) else { return Vec::new() };
        let facts = FunctionFacts::of_body(&module, Handle::new(0), &apart);
        let mut found: Vec<Register> = Vec::new();
        for each in facts.uses().all().iter().filter(|each| each.register.0 < apart.register_count) {
            if !found.contains(&each.register) {
                found.push(each.register);
            }
        }
        let name = |register: Register| {
            let group = apart.group(register).unwrap();
            let number = group.range.map(|_| (register.0 - group.first.0).to_string());
            format!("{}{}", module.name(group.name), number.unwrap_or_default())
        };
        found.into_iter().map(|register| (name(register), facts.definitions(register).len())).collect()
    }

    fn of(all: &[(&str, usize)]) -> Vec<(String, usize)> {
        all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn each_number_has_a_register_of_its_own() {
        let body = "mov.b32 %x, 1; add.u32 %r1, %x, 2; mov.b32 %x, 3; add.u32 %r1, %r1, %x;";
        assert_eq!(writers(body), of(&[("%x", 1), ("%r1", 1), ("%x", 1), ("%r1", 1)]));
    }

    #[test]
    fn what_comes_together_stays_together() {
        assert_eq!(writers("mov.b32 %x, 1; L: add.u32 %x, %x, 2; setp.lt.u32 %p, %x, 9; @%p bra L;"), []);
        let guarded = "mov.b32 %x, 1; setp.lt.u32 %p, %r1, 9; @%p mov.b32 %x, 2; add.u32 %r2, %x, 1;";
        assert_eq!(writers(guarded), []);
        let both = format!("{guarded} mov.b32 %x, 4; add.u32 %r3, %x, 1;");
        assert_eq!(
            writers(&both),
            of(&[("%x", 2), ("%p", 1), ("%r1", 0), ("%r2", 1), ("%x", 1), ("%r3", 1)])
        );
    }

    #[test]
    fn vectors_and_what_operations_use_on_their_own_stay() {
        assert_eq!(
            writers("mov.b32 %v.x, 1; add.u32 %r1, %v.x, 2; mov.b32 %v.x, 3; add.u32 %r2, %v.x, 2;"),
            []
        );
        let product = "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, %a, %a, 1, 1, 1, 0, 0;";
        let body = format!("mov.b32 %r1, 1; mov.b32 %r2, 1; {product} mov.b32 %r1, 3; mov.b32 %r2, %r1;");
        assert_eq!(writers(&body), []);
    }
}
