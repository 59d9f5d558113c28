//! What the graph of values knows of a register at a place.

use ptx_ir::ir::{Handle, Instruction};
use ptx_ir::lower::{BodyLowering, declarations};
use ptx_syntax::{BodyParser, Span, outline};
use ptx_verify::facts::FunctionFacts;
use ptx_verify::facts::registers::Access;
use ptx_verify::facts::values::{Graph, Values};
use ptx_verify::{CudaConfig, asm_facts};

use super::document::Document;
use super::navigate::Found;
use crate::dump;

/// Functions with larger bodies are not analysed for a hover: the answer is to be there at once.
const MAX_BODY: u32 = 256 << 10;

/// Texts of more bytes are not read for a hover.
const MAX_TEXT: usize = 16 << 20;

/// What is known of the value of the register at a place of a document: of what the instruction there reads or writes.
/// None where nothing is, and where the text does not parse.
pub fn known(document: &Document, found: &Found<'_>) -> Option<String> {
    match found.part.statement {
        None => of_ptx(document, found.place),
        Some(_) => of_asm(document, found.place),
    }
}

/// In an asm statement: as the statement is verified where nothing else is asked for.
fn of_asm(document: &Document, place: Span) -> Option<String> {
    let source = &*document.source.text;
    if source.len() > MAX_TEXT {
        return None;
    }
    let told = |facts: &FunctionFacts<'_>, name: &str, place: Span| of_register(facts, name, place);
    asm_facts(source, &document.cuda().file, place, &CudaConfig::default(), told)?
}

fn of_ptx(document: &Document, place: Span) -> Option<String> {
    let source = &*document.source.text;
    let around = document.names().scope_at(place.start);
    let function = document.names().enclosing(around).filter(|scope| *scope != 0).last()?;
    let size = document.names().scopes()[function as usize].span.len();
    if size > MAX_BODY || source.len() > MAX_TEXT {
        return None;
    }
    let declared = declarations(&outline(source)?, source)?;
    let (index, function, span) = declared.functions().enumerate().find_map(|(index, function)| {
        let span = declared.module().functions[function].body.as_ref()?.span;
        (span.start <= place.start && place.end <= span.end).then_some((index, function, span))
    })?;
    let mut parser = BodyParser::default();
    let mut lowering = BodyLowering::new(&declared, source);
    lowering.lower(index, parser.parse(source, span)?);
    let facts = FunctionFacts::of_body(lowering.module(), function, lowering.body());
    of_register(&facts, place.text(source), place)
}

/// Of the register of this name at a place of the text that the facts are of.
fn of_register(facts: &FunctionFacts<'_>, name: &str, place: Span) -> Option<String> {
    let FunctionFacts { module, body, .. } = *facts;
    let at = body.spans.partition_point(|span| span.start <= place.start).checked_sub(1)?;
    let instruction: Handle<Instruction> = Handle::new(at as u32);
    if place.end > body.span(instruction).end {
        return None;
    }
    let graph = Graph::new(facts);
    let values = Values::new(facts, &graph);
    let pointers = values.pointers(facts, &graph);
    let uses = facts.uses();
    let mut lines: Vec<String> = Vec::new();
    for number in uses.range(at as u32) {
        let each = uses.all()[number];
        let span = body.operand_span(instruction, each.operand());
        let is_it = span.start <= place.start && place.end <= span.end;
        if !is_it || dump::register(module, body, each.register) != name {
            continue;
        }
        let read = graph.read(number).filter(|_| matches!(each.access(), Access::Read | Access::ReadWrite));
        let written = graph.written(number).map(|written| graph.after(written));
        for (value, when) in [(read, "here"), (written, "after this")] {
            let Some(value) = value else { continue };
            let pointer = pointers.get(value.index()).copied().flatten();
            if let Some(text) = dump::value_text(facts, &values, pointer, value) {
                lines.push(format!("{when}: {text}"));
            }
        }
    }
    lines.dedup();
    (!lines.is_empty()).then(|| lines.join("\n\n"))
}
