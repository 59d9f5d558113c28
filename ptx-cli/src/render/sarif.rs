//! `sarif`: one log of the Static Analysis Results Interchange Format, version 2.1.0.
//!
//! The results are written as they come; JSON objects have no order, so the description of the tool
//! may follow them. SARIF counts columns in code points here, and says so in `columnKind`; the offset
//! in bytes is given beside them.

use std::io::{self, Write};

use ptx_syntax::{Diagnostic, Fix, Severity, Span};
use ptx_verify::RuleInfo;
use serde_json::{Value, json};

use super::json::applicability;
use super::position::Positions;
use crate::foreign;
use crate::levels;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Begins the log with its one run.
pub fn begin(out: &mut impl Write) -> io::Result<()> {
    let head = format!(r#"{{"$schema":"{SCHEMA}","version":"2.1.0","runs":[{{"#);
    writeln!(out, r#"{head}"columnKind":"unicodeCodePoints","results":["#)
}

/// Ends the log.
pub fn end(out: &mut impl Write) -> io::Result<()> {
    write!(out, "\n],\"tool\":")?;
    foreign::write_json(out, &tool())?;
    writeln!(out, "}}]}}")
}

fn tool() -> Value {
    let rules: Vec<Value> = ptx_verify::rules().map(rule).collect();
    json!({"driver": {
        "name": "ptx-cli",
        "version": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules,
    }})
}

fn rule(rule: &RuleInfo) -> Value {
    let mut object = json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": levels::page(rule.doc), "markdown": levels::page(rule.doc)},
        "properties": {"class": rule.class.as_str()},
    });
    let configuration = match rule.default_level.severity() {
        Some(severity) => json!({"level": level(severity)}),
        None => json!({"enabled": false}),
    };
    object["defaultConfiguration"] = configuration;
    object
}

/// Renders the result objects of one file, with commas between them.
pub fn render(out: &mut Vec<u8>, positions: &Positions<'_>, diagnostics: &[Diagnostic]) {
    let uri = uri(&positions.source.name.exact());
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b",\n");
        }
        // A value always has a JSON form, and writing to a vector cannot fail.
        let _ = foreign::write_json(out, &result(positions, &uri, diagnostic));
    }
}

fn result(positions: &Positions<'_>, uri: &str, diagnostic: &Diagnostic) -> Value {
    let labels = diagnostic.labels.iter().enumerate().map(|(index, label)| {
        let mut location = location(positions, uri, label.span);
        location["id"] = json!(index + 1);
        location["message"] = json!({"text": label.message});
        location
    });
    let mut object = json!({
        "ruleId": diagnostic.code,
        "level": level(diagnostic.severity),
        "message": {"text": message(diagnostic)},
        "locations": [location(positions, uri, diagnostic.span)],
        "relatedLocations": labels.collect::<Vec<_>>(),
        "properties": {"class": diagnostic.class.as_str(), "rule": diagnostic.rule},
    });
    if let Some(index) = ptx_verify::rules().position(|rule| rule.code == diagnostic.code) {
        object["ruleIndex"] = json!(index);
    }
    if let Some(found) = &diagnostic.fix {
        object["fixes"] = json!([fix(positions, uri, found)]);
    }
    object
}

fn message(diagnostic: &Diagnostic) -> String {
    let notes = diagnostic.notes.iter().map(|note| format!("\nnote: {note}"));
    let help = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    std::iter::once(diagnostic.message.clone()).chain(notes).chain(help).collect()
}

fn location(positions: &Positions<'_>, uri: &str, span: Span) -> Value {
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri},
        "region": region(positions, span),
    }})
}

fn region(positions: &Positions<'_>, span: Span) -> Value {
    let place = positions.code_points(positions.place(span));
    json!({
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
        "byteOffset": span.start,
        "byteLength": span.end.saturating_sub(span.start),
    })
}

fn fix(positions: &Positions<'_>, uri: &str, fix: &Fix) -> Value {
    let replacements = fix.edits.iter().map(|edit| {
        json!({
            "deletedRegion": region(positions, edit.span),
            "insertedContent": {"text": edit.replacement},
        })
    });
    json!({
        "description": {"text": fix.message},
        "artifactChanges": [{
            "artifactLocation": {"uri": uri},
            "replacements": replacements.collect::<Vec<_>>(),
        }],
        "properties": {"applicability": applicability(fix.applicability)},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// `path` as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.trim_start_matches("./").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
