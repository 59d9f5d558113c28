//! From a name to where it is declared and where else it stands.

use lsp_types::{DocumentHighlight, DocumentHighlightKind};
use ptx_syntax::Span;
use ptx_syntax::names::{Declared, NameKind, ScopeKind};

use super::access::Accesses;
use super::convert::ranges;
use super::document::Document;
use super::part::{Part, Target};
use ptx_ir::isa::Role;

/// No more places of a name are shown than this.
const MAX_PLACES: usize = 50_000;

/// A name in a document.
#[derive(Clone, Copy)]
pub struct Found<'d> {
    /// The text that it is in.
    pub part: Part<'d>,
    /// What it stands for.
    pub target: Target,
    /// Its place in the document.
    pub place: Span,
}

/// The name at a byte of a document: in PTX, in an asm template, or the operand of an asm statement.
pub fn find(document: &Document, offset: u32) -> Option<Found<'_>> {
    if let Some((part, at)) = document.part_at(offset)
        && let Some(occurrence) = part.names.occurrence_at(at)
    {
        let target = part.target(occurrence)?;
        return Some(Found { part, target, place: part.place(occurrence.span)? });
    }
    document.parts_around(offset).find_map(|part| {
        let mut operands = part.statement?.operands().enumerate();
        let holds = |span: Span| span.start <= offset && offset <= span.end;
        let (number, operand) = operands.find(|(_, operand)| holds(operand.span))?;
        let place = operand
            .name
            .filter(|name| holds(*name))
            .or(Some(operand.constraint.span).filter(|span| holds(*span)))?;
        Some(Found { part, target: Target::Operand(number), place })
    })
}

/// Where a name is declared. A function that has a body is declared there.
pub fn definition(found: &Found<'_>) -> Vec<Span> {
    let Found { part, target, .. } = found;
    match *target {
        Target::Operand(number) => {
            let operand = part.statement.and_then(|statement| statement.operands().nth(number));
            operand.map(|operand| operand.span).into_iter().collect()
        }
        Target::Name(symbol) => {
            let all: Vec<&Declared> = part.names.declarations(part.text, symbol).collect();
            let with_body = |each: &&&Declared| {
                let scope = each.own_scope.map(|scope| part.names.scopes()[scope as usize]);
                scope.is_some_and(|scope| scope.kind == ScopeKind::Function && scope.brace.is_some())
            };
            let bodies: Vec<&&Declared> = all.iter().filter(with_body).collect();
            let chosen = if bodies.is_empty() { all.iter().collect() } else { bodies };
            chosen.into_iter().filter_map(|each| part.place(each.name)).collect()
        }
    }
}

/// A place of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Where in the document.
    pub span: Span,
    /// Whether it is declared here.
    pub declares: bool,
}

/// Every place of a name in the document, in order: in all templates that the statement has.
pub fn places(document: &Document, found: &Found<'_>) -> Vec<Place> {
    let mut all = places_in(&found.part, found.target);
    for part in document.parts_around(found.place.start) {
        let same = part.names.occurrences().iter().find(|each| part.place(each.span) == Some(found.place));
        if let Some(target) = same.and_then(|each| part.target(*each)) {
            all.extend(places_in(&part, target));
        }
    }
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_PLACES);
    all
}

fn places_in(part: &Part<'_>, target: Target) -> Vec<Place> {
    let found = part.references(target);
    let places = found
        .iter()
        .filter_map(|each| Some(Place { span: part.place(each.span)?, declares: each.declares.is_some() }));
    let mut places: Vec<Place> = places.collect();
    if let Target::Operand(number) = target
        && let Some(operand) = part.statement.and_then(|statement| statement.operands().nth(number))
    {
        let span = operand.name.unwrap_or(operand.constraint.span);
        places.push(Place { span, declares: true });
    }
    places
}

/// The places of a name, and whether it is read or written there.
pub fn highlights(document: &Document, found: &Found<'_>) -> Vec<DocumentHighlight> {
    let Found { part, target, .. } = found;
    let mut accesses = Accesses::new(*part);
    let is_data = match target {
        Target::Operand(_) => true,
        Target::Name(symbol) => part.names.declared()[symbol.declared as usize].kind == NameKind::Register,
    };
    let kind = |place: &Place| {
        if place.declares || !is_data {
            return DocumentHighlightKind::TEXT;
        }
        let local = match part.statement {
            None => Some(place.span.start),
            Some(statement) => statement.template.map.decoded(place.span.start),
        };
        match local.map(|at| accesses.role(at)) {
            Some(Role::Destination | Role::Both) => DocumentHighlightKind::WRITE,
            Some(Role::Source) => DocumentHighlightKind::READ,
            None => DocumentHighlightKind::TEXT,
        }
    };
    let all = places(document, found);
    let kinds: Vec<DocumentHighlightKind> = all.iter().map(kind).collect();
    let ranges = ranges(document, all.iter().map(|place| place.span));
    let both = ranges.into_iter().zip(kinds);
    both.map(|(range, kind)| DocumentHighlight { range, kind: Some(kind) }).collect()
}
