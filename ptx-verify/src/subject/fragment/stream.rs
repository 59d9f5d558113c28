//! The asm statements of a function as one stream, with helpers and macros of the same file inlined.
//!
//! What is followed is the carry flag: which statement leaves one, which reads one that it did not make, and what
//! lies between the two.

use ptx_facts::paths::Origin;
use std::collections::{HashMap, HashSet};

use ptx_ir::isa::Chain;
use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmId, CudaFile, EventKind, Function, FunctionId, Region, RegionKind, Truth};

use super::scope;
use super::unit::Unit;

/// A file with what is kept of the statements that are verified.
pub(crate) struct FileUnits<'a> {
    /// The source.
    pub(crate) source: &'a str,
    /// What was extracted from it.
    pub(crate) file: &'a CudaFile,
    /// What each statement that is verified does with the carry flag.
    pub(crate) summaries: HashMap<AsmId, Summary>,
}

/// A statement that reads a carry which it did not make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// The statement that reads.
    pub(crate) reader: AsmId,
    /// The statement that made the carry; none where nothing did.
    pub(crate) writer: Option<AsmId>,
    /// What is wrong with it.
    pub(crate) trouble: Trouble,
    /// The carry that nothing had read when the writer replaced it.
    lost: Option<AsmId>,
}

/// What can be wrong with a carry that goes from one statement to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nothing.
    None,
    /// A carry is read as a borrow, or the reverse.
    Polarity,
    /// One of the statements is not volatile.
    NotVolatile,
    /// There is a way to the reader on which no statement makes a carry: around this, or from this label.
    Around(Span),
    /// Control flow lies between, and every way comes through a statement that makes a carry.
    ControlFlow(Span),
    /// A call of a function that need not be inlined lies between.
    Call(Span),
    /// The carry is read more than once, and replaced that of another statement, which nothing had read.
    Lost(AsmId),
}

/// What is kept of a statement: what it does with the carry flag, and what it declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// The instruction that reads a carry from outside.
    pub(crate) needs: Option<Point>,
    /// The last instruction that leaves one.
    pub(crate) leaves: Option<Point>,
    /// Whether what it declares is hidden: by a scope that one statement opens and another closes, or because not all
    /// of it is known.
    pub(crate) hides: bool,
    /// Whether it is compiled with certainty.
    pub(crate) compiled: bool,
    /// The names that it declares outside braces, with their places.
    pub(crate) declared: Vec<(String, Span)>,
}

/// An instruction at the edge of a statement.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The kind of carry.
    chain: Chain,
    /// Where it stands; of a macro's statement, the use: the same macro may stand in a good chain.
    pub(crate) place: Span,
    /// Its text.
    pub(crate) text: String,
}

/// The carry that is there at a point of the stream.
#[derive(Clone, Copy)]
struct Producer {
    statement: AsmId,
    chain: Chain,
    volatile: bool,
    /// What some way passes by, so that it has no carry.
    around: Option<Span>,
    /// Whether some statement has read it.
    read: bool,
    /// The carry that nothing had read when this one replaced it.
    lost: Option<AsmId>,
}

/// A branch that is being read: the carry before it, and the one behind the branch that it is the `else` of.
#[derive(Clone, Copy)]
struct Branch {
    before: Option<Producer>,
    other: Option<Option<Producer>>,
}

#[derive(Default)]
struct State {
    producer: Option<Producer>,
    branches: Vec<Branch>,
    /// The `if` that was left last: the carry before it, and the one behind its branch.
    left: Option<(Option<Producer>, Option<Producer>)>,
    control_flow: Option<Span>,
    call: Option<Span>,
    links: Vec<Link>,
    /// Reads before which nothing makes a carry, in functions that may be helpers, by statements that are not
    /// volatile.
    orphans: Vec<Link>,
    /// Whether the stream is that of a kernel, before which there is nothing.
    kernel: bool,
}

impl Producer {
    /// The carry, which some way has not.
    fn unless(self, around: Span) -> Self {
        Self { around: self.around.or(Some(around)), ..self }
    }
}

/// Whether the region may be passed by. A loop is taken to run at least once: its bounds are those of the numbers.
const fn is_branch(kind: RegionKind) -> bool {
    matches!(
        kind,
        RegionKind::Then | RegionKind::Else | RegionKind::Switch | RegionKind::Try | RegionKind::Lambda
    )
}

impl State {
    fn note(&mut self, region: &Region) {
        // A loop that is unrolled is a straight line.
        let straight = matches!(region.kind, RegionKind::For { unrolled: true });
        if region.kind.is_control_flow() && !straight {
            self.control_flow = Some(Span::at(region.span.start));
        }
    }

    fn enter(&mut self, kind: RegionKind) {
        if !is_branch(kind) {
            return;
        }
        let left = self.left.take().filter(|_| kind == RegionKind::Else);
        if let Some((before, _)) = left {
            self.producer = before;
        }
        self.branches.push(Branch { before: self.producer, other: left.map(|(_, behind)| behind) });
    }

    fn leave(&mut self, region: &Region) {
        if !is_branch(region.kind) {
            return;
        }
        let Some(Branch { before, other }) = self.branches.pop() else { return };
        let here = self.producer;
        if region.kind == RegionKind::Then {
            self.left = Some((before, here));
        }
        self.producer = match (here, other.unwrap_or(before)) {
            (Some(here), Some(other)) => Some(Producer { around: here.around.or(other.around), ..here }),
            (Some(one), None) | (None, Some(one)) => Some(one.unless(region.span)),
            (None, None) => None,
        };
    }
}

/// How deep calls are inlined.
const DEEPEST: u32 = 6;

/// How many events of other functions are looked at for a function that they are inlined into.
const MAX_INLINED_EVENTS: usize = 20_000;

/// How many such events are looked at in a file: so many, and so many for each event of the file.
pub(crate) fn max_inlined_events(file: &CudaFile) -> usize {
    let events: usize = file.functions.iter().map(|function| function.events.len()).sum();
    MAX_INLINED_EVENTS + 64 * events
}

impl FileUnits<'_> {
    /// Every read of a carry of another statement, in order of the functions.
    pub(crate) fn links(&self) -> Vec<Link> {
        if self.summaries.values().all(|summary| summary.needs.is_none()) {
            return Vec::new();
        }
        let by_name = self.functions_by_name();
        let mut macros: HashMap<&str, &[AsmId]> = HashMap::new();
        for found in self.file.macros.iter().filter(|found| !found.statements.is_empty()) {
            macros.entry(found.name.text(self.source)).or_insert(&found.statements);
        }
        let mut left = max_inlined_events(self.file);
        let mut links: Vec<Link> = Vec::new();
        let mut orphans = Vec::new();
        for function in &self.file.functions {
            let mut state = State { kernel: function.qualifiers.global, ..State::default() };
            let budget = left.min(MAX_INLINED_EVENTS);
            let mut walk = Walk { units: self, by_name: &by_name, macros: &macros, budget };
            // What follows more than is looked at is not judged.
            let _ = walk.function(function, &mut state, 0);
            left -= budget - walk.budget;
            tell_lost(&mut state.links);
            links.append(&mut state.links);
            orphans.append(&mut state.orphans);
        }
        let linked: HashSet<AsmId> = links.iter().map(|link| link.reader).collect();
        orphans.retain(|orphan| !linked.contains(&orphan.reader));
        links.append(&mut orphans);
        links
    }

    /// Functions with asm statements, by name; a name that several have is none.
    fn functions_by_name(&self) -> HashMap<&str, Option<FunctionId>> {
        let mut by_name: HashMap<&str, Option<FunctionId>> = HashMap::new();
        for (id, function) in self.file.function_ids().zip(&self.file.functions) {
            let name = function.name.text(self.source);
            by_name.entry(name).and_modify(|known| *known = None).or_insert(Some(id));
        }
        by_name
    }
}

/// What a statement does with the carry flag.
pub(crate) fn summary(unit: &Unit<'_>) -> Summary {
    let unknown = unit.broken || unit.expanded.has_wildcards || !unit.statement.complete;
    let mut summary = Summary {
        hides: unknown || unit.open_braces != 0,
        compiled: unit.aim.compiled == Truth::True,
        declared: scope::declared(unit),
        ..Summary::default()
    };
    if unit.broken || !unit.statement.complete || !unit.may_carry() {
        return summary;
    }
    let point = |instruction: u32, chain: Chain| {
        let own = || unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
        let place = unit.statement.used_at.unwrap_or_else(own);
        Point { chain, place, text: unit.instruction_text(instruction) }
    };
    for reader in &unit.carry().readers {
        let from_outside =
            reader.reaching.undefined.as_ref().is_some_and(|undefined| undefined.origin == Origin::Entry);
        if from_outside && reader.reaching.writers.is_empty() && summary.needs.is_none() {
            summary.needs = Some(point(reader.instruction, reader.carry.chain));
        }
    }
    if let Some(facts) = unit.facts() {
        let last = unit
            .instructions()
            .filter_map(|instruction| {
                let carry = facts.carry(instruction)?;
                carry.writes.then_some((instruction, carry.chain))
            })
            .last();
        summary.leaves = last.map(|(instruction, chain)| point(instruction, chain));
    }
    summary
}

struct Walk<'w, 'a> {
    units: &'w FileUnits<'a>,
    by_name: &'w HashMap<&'w str, Option<FunctionId>>,
    /// The statements of macros.
    macros: &'w HashMap<&'w str, &'w [AsmId]>,
    /// How many more events of inlined functions are looked at.
    budget: usize,
}

impl Walk<'_, '_> {
    /// Follows a function; none where that takes more than is looked at.
    fn function(&mut self, function: &Function, state: &mut State, depth: u32) -> Option<()> {
        for event in &function.events {
            if depth > 0 {
                self.budget = self.budget.checked_sub(1)?;
            }
            match event.kind {
                EventKind::Asm(id) => self.statement(id, state),
                EventKind::Call => self.call(event.span, state, depth)?,
                EventKind::Label => {
                    state.control_flow = Some(event.span);
                    state.producer = state.producer.map(|producer| producer.unless(event.span));
                }
                EventKind::Jump => {
                    // What follows a `return` at the end of the body is nothing.
                    let last =
                        event.region == function.events.first().map_or(event.region, |first| first.region);
                    if !last || event.span.text(self.units.source) != "return" {
                        state.control_flow = Some(event.span);
                    }
                }
                EventKind::Enter(region) => {
                    let region = self.units.file.region(region);
                    state.note(region);
                    state.enter(region.kind);
                }
                EventKind::Leave(region) => {
                    let region = self.units.file.region(region);
                    state.note(region);
                    state.leave(region);
                }
            }
        }
        Some(())
    }

    fn call(&mut self, name: Span, state: &mut State, depth: u32) -> Option<()> {
        let text = name.text(self.units.source);
        if let Some(Some(id)) = self.by_name.get(text) {
            let function = self.units.file.function(*id);
            let outside = !(function.body.start <= name.start && name.end <= function.body.end);
            if !function.qualifiers.force_inline && outside {
                state.call = Some(name);
            }
            if depth < DEEPEST && outside {
                self.function(function, state, depth + 1)?;
            }
            if !function.qualifiers.force_inline && outside {
                state.call = Some(name);
            }
            return Some(());
        }
        for &id in self.macros.get(text).into_iter().copied().flatten() {
            self.statement(id, state);
        }
        Some(())
    }

    fn statement(&self, id: AsmId, state: &mut State) {
        let Some(summary) = self.units.summaries.get(&id) else { return };
        let statement = self.units.file.statement(id);
        // The variants of one statement exclude each other.
        if statement.variant > 0 {
            return;
        }
        let volatile = statement.volatile || statement.outputs.is_empty() || statement.clobbers_memory();
        if let Some(point) = &summary.needs {
            let link = Link { reader: id, writer: None, trouble: Trouble::None, lost: None };
            match state.producer {
                None if state.kernel => state.links.push(link),
                // Taken for a helper: its callers have made the carry.
                None if volatile => {}
                None => state.orphans.push(Link { trouble: Trouble::NotVolatile, ..link }),
                Some(producer) => {
                    let writer = Some(producer.statement);
                    let trouble = trouble(state, producer, point.chain, volatile);
                    state.links.push(Link { writer, trouble, lost: producer.lost, ..link });
                    state.producer = Some(Producer { read: true, ..producer });
                }
            }
        }
        if let Some(point) = &summary.leaves {
            let before = state.producer.filter(|before| !before.read && before.statement != id);
            let lost = before.map(|before| before.statement);
            let (chain, around) = (point.chain, None);
            state.producer = Some(Producer { statement: id, chain, volatile, around, read: false, lost });
            (state.control_flow, state.call) = (None, None);
        }
    }
}

/// A chain works as far as each carry is read once. One that is read twice was meant to be two, if it replaced another
/// that nothing had read.
fn tell_lost(links: &mut [Link]) {
    let mut readers: HashMap<AsmId, u32> = HashMap::new();
    for link in links.iter() {
        if let Some(writer) = link.writer {
            *readers.entry(writer).or_default() += 1;
        }
    }
    for link in links {
        let twice = link.writer.is_some_and(|writer| readers[&writer] > 1);
        if let (true, Some(statement), Trouble::None) = (twice, link.lost, link.trouble) {
            link.trouble = Trouble::Lost(statement);
        }
    }
}

fn trouble(state: &State, producer: Producer, chain: Chain, volatile: bool) -> Trouble {
    if producer.chain != chain {
        return Trouble::Polarity;
    }
    if !(producer.volatile && volatile) {
        return Trouble::NotVolatile;
    }
    match (producer.around, state.call, state.control_flow) {
        (Some(span), _, _) => Trouble::Around(span),
        (None, Some(span), _) => Trouble::Call(span),
        (None, None, Some(span)) => Trouble::ControlFlow(span),
        (None, None, None) => Trouble::None,
    }
}
