//! A text that is verified after each edit: what an edit leaves alone keeps its findings.

use ptx_ir::ir::FunctionKind;
use ptx_ir::lower::{Declarations, declarations};
use ptx_syntax::{Diagnostic, Span, outline_around, outline_by};

use crate::engine::check::{all_findings, check_whole, complete};
use crate::engine::judge::{Findings, Judge};
use crate::engine::levels::Config;
use crate::engine::parallel;
use crate::engine::pieces::{self, Found, Piece, Pieces, Worker};
use crate::subject::module::{Features, Shared};

/// Verifies the versions of a text, as an editor has them, one after the other.
///
/// A body whose text did not change, nor that of the declarations, is not looked at again. Memory holds the last version
/// and its findings.
#[derive(Default)]
pub struct Session {
    known: Option<Known>,
}

/// What is kept of a version.
struct Known {
    source: String,
    config: Config,
    /// Where its bodies are, in order.
    places: Vec<Span>,
    /// What is known of each; none where it does not parse.
    pieces: Vec<Option<Piece>>,
}

impl Session {
    /// The same as [`check`](crate::check), sooner.
    #[must_use]
    pub fn check(&mut self, source: &str, config: &Config) -> Vec<Diagnostic> {
        if self.known.as_ref().is_some_and(|known| known.config != *config) {
            self.known = None;
        }
        let Some((findings, broken)) = self.found_again(source, config) else {
            return check_whole(source, config);
        };
        let known: Vec<_> =
            self.known.iter().flat_map(|known| known.places.iter().zip(&known.pieces)).collect();
        let suppresses =
            pieces::may_suppress(source, known.iter().map(|(place, piece)| (*place, piece.as_ref())));
        let whole = known.iter().filter(|(_, piece)| piece.is_some());
        let bodies = whole.map(|(place, _)| **place).collect();
        complete(source, config, broken, Found { findings, bodies, suppresses })
    }

    /// What is found before suppressions and levels, and whether the text does not parse; none where the text has no
    /// pieces.
    fn found_again(&mut self, source: &str, config: &Config) -> Option<(Vec<Diagnostic>, bool)> {
        let change = self.known.as_ref().map(|known| Change::between(&known.source, source));
        let tree = match (&self.known, &change) {
            (Some(known), Some(change)) => outline_around(source, &change.left_alone(&known.places)),
            _ => outline_by(pieces::threads(source, config), source),
        };
        let declared = declarations(&tree?, source)?;
        let places: Vec<Span> =
            declared.functions().map(|function| pieces::place(&declared, function)).collect::<Option<_>>()?;
        let none = || places.iter().map(|_| None).collect();
        let (text, kept) = match (self.known.take(), change) {
            (Some(mut known), Some(change)) => {
                let kept = known.kept(source, &places, &declared, &change);
                change.make(&mut known.source, source);
                (known.source, kept.unwrap_or_else(none))
            }
            _ => (source.to_owned(), none()),
        };
        let module = declared.module();
        let all = Pieces::new(source, &declared);
        let shared = Shared::new(module, &all);
        let judge = Judge::of_pieces(source, config, &shared);
        let pieces = looked_at(kept, source, config, &declared, &judge);
        let whole = pieces.iter().all(Option::is_some);
        let found = if whole {
            pieces::together(&declared, &judge, pieces.iter().flatten())
        } else {
            in_parts(source, config, &declared, &judge, &places, &pieces)?
        };
        self.known = Some(Known { source: text, config: config.clone(), places, pieces });
        Some((found, !whole))
    }
}

fn length(span: Span) -> usize {
    (span.end - span.start) as usize
}

/// All pieces, of which some are known.
fn looked_at(
    mut kept: Vec<Option<Piece>>,
    source: &str,
    config: &Config,
    declared: &Declarations,
    judge: &Judge<'_>,
) -> Vec<Option<Piece>> {
    let functions: Vec<_> = declared.functions().enumerate().collect();
    let missing: Vec<_> = functions.into_iter().filter(|(index, _)| kept[*index].is_none()).collect();
    let bytes: usize =
        missing.iter().filter_map(|(_, function)| pieces::place(declared, *function)).map(length).sum();
    let threads = if bytes < pieces::PARALLEL_FROM { 1 } else { config.threads };
    let own = || Worker::new(source, declared);
    let work = |worker: &mut Worker<'_>, index: usize| Some(worker.judge(judge, missing[index]));
    let found = parallel::map(missing.len(), threads, own, work).unwrap_or_default();
    for ((index, _), piece) in missing.iter().zip(found) {
        kept[*index] = piece;
    }
    kept
}

/// What is found in a text of which some bodies do not parse: these and the declarations are looked at as a text of
/// their own, with nothing in the other bodies.
fn in_parts(
    source: &str,
    config: &Config,
    declared: &Declarations,
    judge: &Judge<'_>,
    places: &[Span],
    pieces: &[Option<Piece>],
) -> Option<Vec<Diagnostic>> {
    let mut rest = String::new();
    let mut in_rest = Vec::with_capacity(places.len());
    let mut at = 0;
    for (place, piece) in places.iter().zip(pieces) {
        rest.push_str(source.get(at..place.start as usize)?);
        let start = rest.len() as u32;
        rest.push_str(if piece.is_some() { "{}" } else { place.text(source) });
        in_rest.push(Span::new(start, rest.len() as u32));
        at = place.end as usize;
    }
    rest.push_str(source.get(at..)?);
    let emptied: Vec<bool> = pieces.iter().map(Option::is_some).collect();
    let moved = Moves { from: &in_rest, to: places, changed: &emptied };
    let mut all = Vec::new();
    for mut found in all_findings(&rest, config).0 {
        let body = in_rest.partition_point(|body| body.end <= found.span.start);
        let within = in_rest.get(body).is_some_and(|body| body.start <= found.span.start);
        if !within || !emptied[body] {
            moved.diagnostic(&mut found)?;
            all.push(found);
        }
    }
    let mut findings = Findings::default();
    for piece in pieces.iter().flatten() {
        all.extend(piece.lowering.iter().cloned());
        findings.extend(piece.judged.findings.clone());
    }
    all.extend(judge.in_order(declared.module(), findings));
    Some(all)
}

impl Known {
    /// What is known of the bodies of the next version, at their new places; none where the declarations changed.
    fn kept(
        &mut self,
        source: &str,
        places: &[Span],
        declared: &Declarations,
        change: &Change,
    ) -> Option<Vec<Option<Piece>>> {
        let (before, old, mut pieces) = (&self.source, &self.places, std::mem::take(&mut self.pieces));
        if old.len() != places.len() {
            return None;
        }
        let is_same = |from: Span, to: Span| {
            change.moved(from) == Some(to) || from.len() == to.len() && from.text(before) == to.text(source)
        };
        let (mut left, mut right) = (0, 0);
        for (old, new) in old.iter().zip(places) {
            if !is_same(Span::new(left, old.start), Span::new(right, new.start)) {
                return None;
            }
            (left, right) = (old.end, new.end);
        }
        if !is_same(Span::new(left, before.len() as u32), Span::new(right, source.len() as u32)) {
            return None;
        }
        let both = old.iter().zip(places);
        let changed: Vec<bool> = both.map(|(old, new)| !is_same(*old, *new)).collect();
        // What is said of a call depends on the function that is called.
        let is_called = |function| declared.module().functions[function].kind != FunctionKind::Entry;
        let mut functions = declared.functions().zip(&changed);
        let callee_changed = functions.any(|(function, changed)| *changed && is_called(function));
        let moved = Moves { from: old, to: places, changed: &changed };
        for (kept, changed) in pieces.iter_mut().zip(&changed) {
            let stays = kept.as_mut().is_some_and(|piece| {
                let is_stale = *changed || callee_changed && piece.judged.features.has(Features::CALLS);
                !is_stale && moved.piece(piece).is_some()
            });
            if !stays {
                *kept = None;
            }
        }
        Some(pieces)
    }
}

/// What makes one text of another: a part in the middle becomes another part. An editor does not tell where, and bytes are
/// compared faster than braces are searched.
struct Change {
    from: Span,
    to: Span,
}

impl Change {
    fn between(before: &str, after: &str) -> Self {
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let mut start = alike(old.chunks(BLOCK), new.chunks(BLOCK), |old, new| {
            old.iter().zip(new).take_while(|(old, new)| old == new).count()
        });
        while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
            start -= 1;
        }
        let (old, new) = (&old[start..], &new[start..]);
        let mut rest = alike(old.rchunks(BLOCK), new.rchunks(BLOCK), |old, new| {
            old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count()
        });
        while !before.is_char_boundary(before.len() - rest) || !after.is_char_boundary(after.len() - rest) {
            rest -= 1;
        }
        let until = |text: &str| Span::new(start as u32, (text.len() - rest) as u32);
        Self { from: until(before), to: until(after) }
    }

    /// Where a part is that the change leaves alone.
    fn moved(&self, part: Span) -> Option<Span> {
        if part.end <= self.from.start {
            return Some(part);
        }
        let moved = |at: u32| Some(at.checked_sub(self.from.end)? + self.to.end);
        Some(Span::new(moved(part.start)?, moved(part.end)?))
    }

    /// Where those of some parts are that the change leaves alone.
    fn left_alone(&self, parts: &[Span]) -> Vec<Span> {
        parts.iter().filter_map(|part| self.moved(*part)).collect()
    }

    /// Makes the text before the change that after it.
    fn make(&self, before: &mut String, after: &str) {
        before.replace_range(self.from.range(), self.to.text(after));
    }
}

/// So many bytes are compared at once.
const BLOCK: usize = 4096;

/// How many bytes of two texts in blocks are alike, before the first that differ.
fn alike<'t>(
    one: impl Iterator<Item = &'t [u8]>,
    other: impl Iterator<Item = &'t [u8]>,
    in_block: impl Fn(&[u8], &[u8]) -> usize,
) -> usize {
    let mut count = 0;
    for (one, other) in one.zip(other) {
        if one != other {
            return count + in_block(one, other);
        }
        count += one.len();
    }
    count
}

/// How the places of one text are found in another that has the same declarations and other bodies.
struct Moves<'a> {
    /// The bodies in the first text and in the second.
    from: &'a [Span],
    to: &'a [Span],
    /// Those of which nothing but the ends is known.
    changed: &'a [bool],
}

impl Moves<'_> {
    fn offset(&self, at: u32) -> Option<u32> {
        let body = self.from.partition_point(|body| body.start <= at);
        let Some(body) = body.checked_sub(1) else { return Some(at) };
        let (from, to) = (self.from[body], self.to[body]);
        match at.checked_sub(from.end) {
            Some(beyond) => Some(to.end + beyond),
            None if self.changed[body] && at > from.start => None,
            None => Some(to.start + (at - from.start)),
        }
    }

    fn span(&self, span: &mut Span) -> Option<()> {
        let start = self.offset(span.start)?;
        let end = if span.end > span.start { self.offset(span.end - 1)? + 1 } else { start };
        *span = Span::new(start, end);
        Some(())
    }

    fn diagnostic(&self, found: &mut Diagnostic) -> Option<()> {
        self.span(&mut found.span)?;
        found.labels.iter_mut().try_for_each(|label| self.span(&mut label.span))?;
        found.fix.iter_mut().flat_map(|fix| &mut fix.edits).try_for_each(|edit| self.span(&mut edit.span))
    }

    fn piece(&self, piece: &mut Piece) -> Option<()> {
        piece.findings().try_for_each(|found| self.diagnostic(found))
    }
}

#[cfg(test)]
mod tests;
