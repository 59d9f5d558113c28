//! A text in pieces: what it declares is lowered first, then its bodies are parsed, lowered, judged and dropped.

use ptx_facts::mentions::Used;
use std::sync::{Mutex, PoisonError};

use ptx_ir::ir::{Body, Function, Handle, Module};
use ptx_ir::lower::{BodyLowering, Declarations, declarations};
use ptx_syntax::{BodyParser, Diagnostic, Span, outline_by};

use crate::engine::fix;
use crate::engine::instruction::SpellingFacts;
use crate::engine::judge::{Findings, Judge, Judged};
use crate::engine::levels::Config;
use crate::engine::suppress::Suppressions;
use crate::engine::{parallel, problems};
use crate::subject::module::{Features, Shared};
use crate::subject::summary::Bodies;

/// Texts of fewer bytes are not worth a second thread.
pub(super) const PARALLEL_FROM: usize = 200_000;

/// What is known of a text whose pieces were looked at.
pub(super) struct Found {
    /// The findings of lowering and of the rules.
    pub(super) findings: Vec<Diagnostic>,
    /// Where the bodies are that parse.
    pub(super) bodies: Vec<Span>,
    /// Whether there may be suppressions in it.
    pub(super) suppresses: bool,
}

/// How many threads are worth their making.
pub(super) fn threads(source: &str, config: &Config) -> usize {
    if source.len() < PARALLEL_FROM { 1 } else { config.threads }
}

/// What is found in a text; none where it does not parse, or has no pieces.
pub(super) fn found(threads: usize, source: &str, config: &Config) -> Option<Found> {
    let tree = outline_by(threads, source)?;
    let declared = declarations(&tree, source)?;
    drop(tree);
    let module = declared.module();
    let pieces = Pieces::new(source, &declared);
    let shared = Shared::new(module, &pieces);
    let judge = Judge::of_pieces(source, config, &shared);
    let functions: Vec<_> = declared.functions().enumerate().collect();
    let own = || Worker::new(source, &declared);
    let order = large_first(&declared, &functions, threads);
    let work = |worker: &mut Worker<'_>, step: usize| {
        let index = order[step];
        Some((index, worker.judge(&judge, functions[index])?))
    };
    let mut pieces = parallel::map(functions.len(), threads, own, work)?;
    pieces.sort_unstable_by_key(|(index, _)| *index);
    let pieces: Vec<Piece> = pieces.into_iter().map(|(_, piece)| piece).collect();
    let bodies: Vec<Span> =
        functions.iter().filter_map(|(_, function)| place(&declared, *function)).collect();
    let suppresses = may_suppress(source, bodies.iter().zip(pieces.iter().map(Some)));
    Some(Found { findings: together(&declared, &judge, &pieces), bodies, suppresses })
}

/// Whether there may be suppressions in a text with these bodies, of which some are known. A thread that has a body at
/// hand looks at it faster than one that looks at the whole text.
pub(super) fn may_suppress<'p>(
    source: &str,
    bodies: impl IntoIterator<Item = (&'p Span, Option<&'p Piece>)>,
) -> bool {
    let mut from = 0;
    let mut is_in = |to: usize, next: usize| {
        let before = source.get(std::mem::replace(&mut from, next)..to);
        before.is_none_or(Suppressions::may_be_in)
    };
    let in_body = |(body, piece): (&Span, Option<&Piece>)| {
        is_in(body.start as usize, body.end as usize)
            || piece.map_or_else(|| Suppressions::may_be_in(body.text(source)), |piece| piece.suppresses)
    };
    bodies.into_iter().any(in_body) || is_in(source.len(), source.len())
}

/// In which order threads take the functions: those first whose bodies would keep one thread busy when the others have
/// ended. The others stay in the order of the text, in which most callees come before their callers.
fn large_first(
    declared: &Declarations,
    functions: &[(usize, Handle<Function>)],
    threads: usize,
) -> Vec<usize> {
    /// A body is large that is more than this part of what a thread has to do.
    const PART: usize = 4;
    let length = |index: usize| place(declared, functions[index].1).map_or(0, |body| body.len() as usize);
    let total: usize = (0..functions.len()).map(length).sum();
    let is_large = |index: &usize| threads > 1 && length(*index) > total / (PART * threads);
    let (mut order, rest): (Vec<usize>, Vec<usize>) = (0..functions.len()).partition(is_large);
    order.sort_by_key(|&index| std::cmp::Reverse(length(index)));
    order.extend(rest);
    order
}

/// What is found in all pieces of a text and in its declarations.
pub(super) fn together<'p>(
    declared: &Declarations,
    judge: &Judge<'_>,
    pieces: impl IntoIterator<Item = &'p Piece>,
) -> Vec<Diagnostic> {
    let module = declared.module();
    let variables = module.variables.len();
    let mut findings = Findings::default();
    let (mut features, mut used) = (Features::default(), Used::default());
    let mut lowering = Vec::new();
    for Piece { lowering: of_lowering, judged, .. } in pieces {
        lowering.push(of_lowering.clone());
        features |= judged.features;
        used.add(&judged.used, variables);
        findings.extend(judged.findings.clone());
    }
    findings.extend(judge.module(module, features, used));
    let mut all = declared.problems(lowering, problems::of_lowering, |found| found.span);
    all.extend(judge.in_order(module, findings));
    all
}

/// Where the body of a function is.
pub(super) fn place(declared: &Declarations, function: Handle<Function>) -> Option<Span> {
    declared.module().functions[function].body.as_ref().map(|body| body.span)
}

/// What is known of a body.
pub(super) struct Piece {
    /// The findings of lowering.
    pub(super) lowering: Vec<Diagnostic>,
    /// Whether there may be suppressions in it.
    suppresses: bool,
    pub(super) judged: Judged,
}

impl Piece {
    pub(super) fn findings(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        self.lowering.iter_mut().chain(self.judged.findings.all_mut())
    }
}

/// The pieces of a text.
pub(super) struct Pieces<'s> {
    source: &'s str,
    declared: &'s Declarations,
    /// Workers that have lowered a body for a summary.
    idle: Mutex<Vec<Worker<'s>>>,
}

impl<'s> Pieces<'s> {
    pub(super) fn new(source: &'s str, declared: &'s Declarations) -> Self {
        Self { source, declared, idle: Mutex::default() }
    }
}

impl Bodies for Pieces<'_> {
    fn show(&self, function: Handle<Function>, look: &mut dyn FnMut(&Module, &Body)) {
        let Some(index) = self.declared.index_of(function) else { return };
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let mut worker = known.unwrap_or_else(|| Worker::new(self.source, self.declared));
        if worker.lower(index, function).is_some() {
            look(worker.lowering.module(), worker.lowering.body());
        }
        idle().push(worker);
    }

    fn show_text(
        &self,
        function: Handle<Function>,
        _: &str,
        text: &str,
        look: &mut dyn FnMut(&Module, &Body, u32),
    ) {
        let Some(index) = self.declared.index_of(function) else { return };
        let mut parser = BodyParser::default();
        let Some(parsed) = parser.parse(text, Span::new(0, text.len() as u32)) else { return };
        let mut lowering = BodyLowering::of_text(self.declared, self.source, text);
        if lowering.lower(index, parsed).is_empty() {
            look(lowering.module(), lowering.body(), 0);
        }
    }
}

/// What a thread has to lower bodies with.
pub(super) struct Worker<'s> {
    source: &'s str,
    parser: BodyParser,
    lowering: BodyLowering<'s, 's>,
    facts: SpellingFacts,
}

impl<'s> Worker<'s> {
    pub(super) fn new(source: &'s str, declared: &'s Declarations) -> Self {
        let lowering = BodyLowering::new(declared, source);
        Self { source, parser: BodyParser::default(), lowering, facts: SpellingFacts::default() }
    }

    /// Lowers the body at an index and gives the findings; none where it does not parse.
    fn lower(&mut self, index: usize, function: Handle<Function>) -> Option<Vec<Diagnostic>> {
        let place = self.lowering.module().functions[function].body.as_ref()?.span;
        let parsed = self.parser.parse(self.source, place)?;
        let found = self.lowering.lower(index, parsed);
        // The analyses of a large body need the memory.
        self.parser.shrink();
        Some(found.iter().map(problems::of_lowering).collect())
    }

    /// The findings of lowering in a body, and what the rules say of it; none where it does not parse.
    pub(super) fn judge(
        &mut self,
        judge: &Judge<'_>,
        (index, function): (usize, Handle<Function>),
    ) -> Option<Piece> {
        let lowering = self.lower(index, function)?;
        self.facts.extend(self.lowering.module());
        let (module, body) = (self.lowering.module(), self.lowering.body());
        let suppresses = Suppressions::may_be_in(body.span.text(self.source));
        let mut piece =
            Piece { lowering, suppresses, judged: judge.body(module, function, body, &self.facts) };
        let token_before = |place: u32| {
            let instruction = body.instruction_before(place);
            instruction.map_or(body.span.start, |instruction| body.span(instruction).start)
        };
        fix::drop_flawed_in(self.source, body.span, token_before, piece.findings());
        Some(piece)
    }
}

#[cfg(test)]
mod tests;
