//! `full`: source lines with underlines, notes, help and fixes, drawn as rustc draws them.
//!
//! The only file that knows the drawing library.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use ptx_syntax::{Diagnostic, Fix, Severity, Span};

use super::Style;
use super::position::Positions;
use super::window::Window;
use crate::options::page_address;
use crate::source::NOT_TEXT;

/// Renders the findings, with a blank line after each.
pub fn render(out: &mut Vec<u8>, positions: &Positions<'_>, diagnostics: &[Diagnostic], style: Style) {
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(style.width).decor_style(DecorStyle::Ascii);
    for diagnostic in diagnostics {
        let mut groups = vec![finding(positions, diagnostic, style.links)];
        groups.extend(diagnostic.fix.as_ref().and_then(|fix| suggestion(positions, diagnostic, fix)));
        push_tidied(out, &renderer.render(&groups));
        out.push(b'\n');
    }
}

/// Appends what the library drew. It announces each window without a path of its own by an empty
/// `:::`, which is needless after the header and better an ellipsis between two windows.
fn push_tidied(out: &mut Vec<u8>, drawn: &str) {
    let mut first = true;
    for line in drawn.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', ' ']).trim_end_matches("\x1b[0m").trim_end();
        if !bare.ends_with(":::") || line.contains('|') {
            out.extend_from_slice(line.as_bytes());
        } else if !std::mem::take(&mut first) {
            out.extend_from_slice(line.replace(":::", "...").replace(" \n", "\n").as_bytes());
        }
    }
    out.push(b'\n');
}

/// The finding itself: title, place, source lines, notes and help.
fn finding<'a>(positions: &Positions<'a>, diagnostic: &'a Diagnostic, links: bool) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let id = format!("{} {}", diagnostic.code, diagnostic.rule);
    let place = positions.place(diagnostic.span);
    let origin = Origin::path(positions.source.name.to_string())
        .line(place.line as usize)
        .char_column(place.column as usize);
    let mut title = level.primary_title(diagnostic.message.as_str()).id(id);
    if let Some(address) = page_address(diagnostic.rule).filter(|_| links) {
        title = title.id_url(address);
    }
    let mut group = title.element(origin);
    // The bytes of a file that is no text are not worth showing.
    if diagnostic.rule != NOT_TEXT {
        group = group.elements(snippets(positions, diagnostic));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    // The title of a fix says the same as the help; one of them is enough.
    if let Some(help) = diagnostic.help.as_ref().filter(|_| diagnostic.fix.is_none()) {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

/// The source lines of the primary place and of the labels.
fn snippets<'a>(positions: &Positions<'_>, diagnostic: &'a Diagnostic) -> Vec<Snippet<'a, Annotation<'a>>> {
    let spans: Vec<Span> =
        std::iter::once(diagnostic.span).chain(diagnostic.labels.iter().map(|label| label.span)).collect();
    let clusters = Window::clusters(positions, &spans);
    clusters.iter().map(|cluster| snippet(positions, diagnostic, cluster)).collect()
}

fn snippet<'a>(
    positions: &Positions<'_>,
    diagnostic: &'a Diagnostic,
    cluster: &[Span],
) -> Snippet<'a, Annotation<'a>> {
    let window = Window::new(positions, cluster);
    let mut annotations = Vec::new();
    if cluster.contains(&diagnostic.span) {
        let label = Some(diagnostic.label.as_str()).filter(|label| !label.is_empty());
        annotations.push(AnnotationKind::Primary.span(window.map(diagnostic.span)).label(label));
    }
    for label in diagnostic.labels.iter().filter(|label| cluster.contains(&label.span)) {
        annotations.push(AnnotationKind::Context.span(window.map(label.span)).label(label.message.as_str()));
    }
    let line = window.line as usize;
    Snippet::source(window.text).line_start(line).fold(true).annotations(annotations)
}

/// The fix as a difference below its title.
fn suggestion<'a>(positions: &Positions<'_>, diagnostic: &'a Diagnostic, fix: &'a Fix) -> Option<Group<'a>> {
    let spans: Vec<Span> = fix.edits.iter().map(|edit| edit.span).collect();
    let clusters = Window::clusters(positions, &spans);
    let (first, rest) = clusters.split_first()?;
    let title = diagnostic.help.as_ref().unwrap_or(&fix.message);
    let mut group = Level::HELP.secondary_title(title.as_str()).element(patches(positions, fix, first));
    for cluster in rest {
        group = group.element(patches(positions, fix, cluster));
    }
    Some(group)
}

fn patches<'a>(positions: &Positions<'_>, fix: &'a Fix, cluster: &[Span]) -> Snippet<'a, Patch<'a>> {
    let window = Window::new(positions, cluster);
    let edits = fix.edits.iter().filter(|edit| cluster.contains(&edit.span));
    let patches: Vec<Patch<'a>> =
        edits.map(|edit| Patch::new(window.map(edit.span), edit.replacement.as_str())).collect();
    let line = window.line as usize;
    Snippet::source(window.text).line_start(line).fold(true).patches(patches)
}
