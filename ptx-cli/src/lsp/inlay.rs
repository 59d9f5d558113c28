//! What the editor shows between the words: the values of hexadecimal floats, where carries come from, and the registers
//! of kernels as they were last reported.

use std::collections::HashMap;

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip, Position, Range};
use ptx_ir::isa::resolve;
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, Token, TokenKind};
use ptx_syntax::names::{Instruction, NameKind};

use super::constants;
use super::document::Document;
use super::lines::Sweep;
use super::part::Part;
use super::reports::Reported;

/// No more hints are told at once.
const MAX_HINTS: usize = 5000;

/// The instruction that sets a carry is looked for among so many before the one that reads it.
const MAX_BACK: usize = 200;

/// A hint behind a byte of the document.
struct Hint {
    at: u32,
    text: String,
    tooltip: String,
}

/// The hints in a range of a document.
pub fn hints(document: &Document, range: Range, reported: Option<&Reported>) -> Vec<InlayHint> {
    let wanted = Span::new(document.offset(range.start), document.offset(range.end));
    let mut found = Vec::new();
    for part in document.parts() {
        if let Some(statement) = part.statement
            && (statement.span.end < wanted.start || wanted.end < statement.span.start)
        {
            continue;
        }
        floats(document, &part, wanted, &mut found);
        carries(document, &part, wanted, &mut found);
        if part.statement.is_none() {
            registers(&part, wanted, reported, &mut found);
        }
        if found.len() >= MAX_HINTS {
            break;
        }
    }
    found.sort_by_key(|hint| hint.at);
    found.dedup_by(|a, b| a.at == b.at && a.text == b.text);
    found.truncate(MAX_HINTS);
    let offsets: Vec<u32> = found.iter().map(|hint| hint.at).collect();
    let places = Sweep::new(&document.lines, &document.source.text, document.encoding).positions(&offsets);
    found.into_iter().zip(places).map(|(hint, place)| shown(hint, place)).collect()
}

fn shown(hint: Hint, position: Position) -> InlayHint {
    InlayHint {
        position,
        label: InlayHintLabel::String(hint.text),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(hint.tooltip)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

/// The place in the document behind a span of a text, if it is wanted.
fn behind(part: &Part<'_>, span: Span, wanted: Span) -> Option<u32> {
    let place = part.place(span)?;
    (wanted.start <= place.end && place.end <= wanted.end).then_some(place.end)
}

fn floats(document: &Document, part: &Part<'_>, wanted: Span, found: &mut Vec<Hint>) {
    let mut add = |token: Token| {
        if token.kind == TokenKind::Float
            && found.len() < MAX_HINTS
            && let Some(value) = constants::float(token.text(part.text))
            && let Some(at) = behind(part, token.span, wanted)
        {
            let tooltip = format!("{} is {value}", token.text(part.text));
            found.push(Hint { at, text: format!("= {value}"), tooltip });
        }
    };
    match part.statement {
        None => document
            .tokens_from(wanted.start)
            .take_while(|token| token.span.start < wanted.end)
            .for_each(&mut add),
        Some(_) => Lexer::new(part.text).for_each(&mut add),
    }
}

/// Whether spellings read or write the carry flag; each is asked once.
#[derive(Default)]
struct Carries<'t>(HashMap<&'t str, (bool, bool)>);

impl<'t> Carries<'t> {
    fn of(&mut self, text: &'t str, instruction: Instruction) -> (bool, bool) {
        let spelling = instruction.opcode.text(text);
        *self.0.entry(spelling).or_insert_with(|| {
            let carry = resolve(spelling).instances.first().and_then(|instance| instance.effects.carry);
            carry.map_or((false, false), |carry| (carry.reads, carry.writes))
        })
    }
}

fn carries(document: &Document, part: &Part<'_>, wanted: Span, found: &mut Vec<Hint>) {
    let local = match part.statement {
        None => wanted,
        Some(_) => Span::new(0, part.text.len() as u32),
    };
    let all = part.names.instructions();
    let from = all.partition_point(|each| each.opcode.start < local.start);
    let mut carries = Carries::default();
    for (index, &instruction) in all.iter().enumerate().skip(from) {
        if instruction.opcode.start >= local.end || found.len() >= MAX_HINTS {
            return;
        }
        let (reads, writes) = carries.of(part.text, instruction);
        if !reads && !writes {
            continue;
        }
        let whole = Span::new(instruction.opcode.start, instruction.end);
        let Some(at) = behind(part, whole, wanted).or_else(|| behind(part, instruction.opcode, wanted))
        else {
            continue;
        };
        let (mut text, mut tooltip) = (String::new(), String::new());
        if reads {
            let scope = part.names.scope_at(instruction.opcode.start);
            let function = part.names.enclosing(scope).filter(|scope| *scope != 0).last().unwrap_or(0);
            let start = part.names.scopes()[function as usize].span.start;
            let before = all[index.saturating_sub(MAX_BACK)..index].iter().rev();
            let mut before = before.take_while(|each| each.opcode.start >= start);
            let source = before.find(|each| carries.of(part.text, **each).1);
            let source = source.and_then(|source| part.place(source.opcode));
            let line = source.map(|span| document.lines.line(span.start) + 1);
            text = line.map_or_else(|| "← carry of ?".to_owned(), |line| format!("← carry of line {line}"));
            tooltip.push_str("reads the carry flag, which the instruction before sets that has `.cc`");
        }
        if writes {
            text.push_str(if reads { " → carry" } else { "→ carry" });
            tooltip.push_str(if reads { "; sets it anew" } else { "sets the carry flag" });
        }
        found.push(Hint { at, text, tooltip });
    }
}

/// Behind the header of each function, what the last report said of it.
fn registers(part: &Part<'_>, wanted: Span, reported: Option<&Reported>, found: &mut Vec<Hint>) {
    let Some(reported) = reported else { return };
    for each in part.names.declared() {
        if found.len() >= MAX_HINTS {
            return;
        }
        if matches!(each.kind, NameKind::Kernel | NameKind::Function)
            && let Some(text) = reported.of(each.name.text(part.text))
            && let Some(at) = behind(part, each.name, wanted)
        {
            found.push(Hint { at, text: text.to_owned(), tooltip: reported.tooltip().to_owned() });
        }
    }
}
