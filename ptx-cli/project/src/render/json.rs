//! `json`: JSON Lines with the fields that `ARCHITECTURE.md` fixes.
//!
//! The fields have no place of their own for the text beside the primary underline and for the help:
//! the first is a label at the primary place, the second a note that begins with "help: ".

use std::borrow::Cow;

use ptx_syntax::{Applicability, Diagnostic, Fix, Span};
use serde::Serialize;

use super::position::{Place, Positions};
use crate::foreign;

/// A finding as other programs read it.
#[derive(Debug, Serialize)]
pub struct Finding<'a> {
    /// The name of the source.
    pub file: Cow<'a, str>,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// `invalid`, `hazard` or `style`.
    pub class: &'static str,
    /// `error`, `warning` or `info`.
    pub severity: &'static str,
    /// As in `P0205`.
    pub code: &'static str,
    /// As in `operand-type`.
    pub rule: &'static str,
    /// What it is.
    pub message: &'a str,
    /// Further places, the text beside the primary underline among them.
    pub labels: Vec<LabelObject<'a>>,
    /// Facts, and the help.
    pub notes: Vec<String>,
    /// The fix, where one is known.
    pub fix: Option<FixObject<'a>>,
}

/// A further place.
#[derive(Debug, Serialize)]
pub struct LabelObject<'a> {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What it is.
    pub message: &'a str,
}

/// A change that removes the finding.
#[derive(Debug, Serialize)]
pub struct FixObject<'a> {
    /// What it is.
    pub message: &'a str,
    /// `certain` or `likely`.
    pub applicability: &'static str,
    /// What to replace.
    pub edits: Vec<EditObject<'a>>,
}

/// One replacement.
#[derive(Debug, Serialize)]
pub struct EditObject<'a> {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The new text.
    pub replacement: &'a str,
}

/// Renders one object a finding.
pub fn render(out: &mut Vec<u8>, positions: &Positions<'_>, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        // Strings and numbers always have a JSON form, and writing to a vector cannot fail.
        let _ = foreign::write_json(out, &finding(positions, diagnostic));
        out.push(b'\n');
    }
}

/// The name of an applicability in machine-readable output.
#[must_use]
pub fn applicability(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Certain => "certain",
        Applicability::Likely => "likely",
    }
}

/// A diagnostic as other programs read it.
#[must_use]
pub fn finding<'a>(positions: &Positions<'a>, diagnostic: &'a Diagnostic) -> Finding<'a> {
    let primary = (!diagnostic.label.is_empty()).then_some((diagnostic.span, diagnostic.label.as_str()));
    let others = diagnostic.labels.iter().map(|label| (label.span, label.message.as_str()));
    let label = |(span, message): (Span, &'a str)| LabelObject { place: positions.place(span), message };
    let help = diagnostic.help.iter().map(|help| format!("help: {help}"));
    Finding {
        file: positions.source.name.exact(),
        place: positions.place(diagnostic.span),
        class: diagnostic.class.as_str(),
        severity: diagnostic.severity.as_str(),
        code: diagnostic.code,
        rule: diagnostic.rule,
        message: &diagnostic.message,
        labels: primary.into_iter().chain(others).map(label).collect(),
        notes: diagnostic.notes.iter().cloned().chain(help).collect(),
        fix: diagnostic.fix.as_ref().map(|fix| fix_object(positions, fix)),
    }
}

fn fix_object<'a>(positions: &Positions<'_>, fix: &'a Fix) -> FixObject<'a> {
    let edits = fix.edits.iter();
    FixObject {
        message: &fix.message,
        applicability: applicability(fix.applicability),
        edits: edits
            .map(|edit| EditObject { place: positions.place(edit.span), replacement: &edit.replacement })
            .collect(),
    }
}
