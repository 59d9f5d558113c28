//! The assembler's messages as findings at their lines.

use std::collections::HashSet;

use ptx_emit::assemble::{Backend, Locator, LogLine, LogSeverity, Report};
use ptx_ir::target::Target;
use ptx_project::Options;
use ptx_syntax::{Class, Diagnostic, LineIndex, Severity, Span};

use super::places::Places;
use crate::foreign::line;
use crate::source::Source;

/// The messages of `report` that are about the text: all that refuse it, all warnings, and advice
/// that has a line. What is left are statistics, which the table shows.
pub fn diagnostics(source: &Source, report: &Report) -> Vec<Diagnostic> {
    let mut lines = report.log.iter().filter(|line| is_about_the_text(line)).peekable();
    if lines.peek().is_none() {
        return Vec::new();
    }
    let index = LineIndex::new(&source.text);
    let locator = Locator::new(source.bytes());
    lines
        .map(|line| {
            // The assembler tells no columns, so all of the line is underlined. A message about the
            // file as a whole stands at its beginning.
            let place = locator.line_of(line);
            let span = place.map_or(Span::at(0), |line| content_of_line(source, &index, line));
            diagnostic(report.backend, line, span)
        })
        .collect()
}

/// The findings with our own in place of the assembler's where there are any on the same line: "Arguments mismatch" does not
/// say of which argument. Where the assembler names no line at all, ours say where.
pub fn with_own(source: &Source, report: &Report, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if report.accepted || found.is_empty() {
        return found;
    }
    let Some(target) = Target::parse(&report.target) else { return found };
    let options = Options { ptx_targets: vec![target], ..Options::default() };
    let mut own = ptx_project::verify(source, &options, 1);
    own.retain(|each| each.severity == Severity::Error && each.class == Class::Invalid);
    let index = LineIndex::new(&source.text);
    let line = |each: &Diagnostic| index.position(each.span.start).line;
    let note = |each: &Diagnostic| format!("{}: {}", report.backend, each.message);
    if let Some(first) = found.first()
        && found.iter().all(|each| each.span == Span::at(0))
        && !own.is_empty()
    {
        return own.into_iter().map(|own| Diagnostic { fix: None, ..own }.with_note(note(first))).collect();
    }
    let mut told = HashSet::new();
    let mut all = Vec::new();
    for each in found {
        let at = line(&each);
        let mut same =
            own.iter().filter(|other| each.severity == Severity::Error && line(other) == at).peekable();
        if same.peek().is_none() {
            all.push(each);
        } else if told.insert(at) {
            all.extend(same.map(|own| Diagnostic { fix: None, ..own.clone() }.with_note(note(&each))));
        }
    }
    all
}

/// The findings with a note about the line of the source that the place was made of, where the text tells it.
pub fn with_places(source: &Source, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if found.is_empty() {
        return found;
    }
    let places = Places::of(&source.text);
    let placed = |found: Diagnostic| match places.at(found.span.start) {
        Some((file, number)) => found.with_note(format!("this comes from `{}`, line {number}", line(file))),
        None => found,
    };
    found.into_iter().map(placed).collect()
}

/// The findings about PTX that was made of `source`, at its lines. What was made of an included file stands at the
/// beginning.
pub fn in_source(source: &Source, made: &Source, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if found.is_empty() {
        return found;
    }
    let (places, index) = (Places::of(&made.text), LineIndex::new(&source.text));
    let made_index = LineIndex::new(&made.text);
    let own = std::path::absolute(source.name.path()).ok();
    let moved = |found: Diagnostic| {
        let whole = made_index.line_span(made_index.position(found.span.start).line).text(&made.text);
        let statement = line(whole.trim()).into_owned();
        let place = places.at(found.span.start);
        let number = place.filter(|(file, _)| own.is_some() && std::path::absolute(file).ok() == own);
        let number = number.and_then(|(_, number)| number.parse().ok());
        let span = number.map_or(Span::at(0), |number| content_of_line(source, &index, number));
        let note = match place {
            Some((file, number)) if span == Span::at(0) => {
                Some(format!("this comes from `{}`, line {number}", line(file)))
            }
            // What is about the whole text is about no statement.
            _ if found.span == Span::at(0) => None,
            _ => Some(format!("in the PTX it is `{statement}`")),
        };
        // Labels and fixes are about the PTX.
        let found = Diagnostic { span, labels: Vec::new(), fix: None, ..found };
        match note {
            Some(note) => found.with_note(note),
            None => found,
        }
    };
    found.into_iter().map(moved).collect()
}

fn is_about_the_text(line: &LogLine) -> bool {
    (line.severity >= LogSeverity::Warning && !line.is_closing_line()) || line.line.is_some()
}

pub(super) fn diagnostic(backend: Backend, line: &LogLine, span: Span) -> Diagnostic {
    let (severity, rule) = match line.severity {
        LogSeverity::Info => (Severity::Info, "advice"),
        LogSeverity::Warning => (Severity::Warning, "warning"),
        LogSeverity::Error => (Severity::Error, "error"),
        LogSeverity::Fatal => (Severity::Error, "fatal"),
    };
    let found = Diagnostic::new(Class::Invalid, severity, backend.as_str(), rule, span, line.message.clone());
    if line.message.starts_with("Unresolved extern ") {
        return found.with_note(
            "another module defines it, and what a kernel costs is known only where all is linked",
        );
    }
    found
}

/// The line without the white space around it.
pub(super) fn content_of_line(source: &Source, index: &LineIndex, line: u32) -> Span {
    let whole = index.line_span(line);
    let text = whole.text(&source.text);
    let start = whole.start + (text.len() - text.trim_start().len()) as u32;
    Span::new(start, start + text.trim().len() as u32)
}
