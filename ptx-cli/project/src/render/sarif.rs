//! `sarif`: one log of the Static Analysis Results Interchange Format, version 2.1.0.
//!
//! The results are written as they come; JSON objects have no order, so the description of the tool
//! may follow them. SARIF counts columns in code points here, and says so in `columnKind`; the offset
//! in bytes is given beside them.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use ptx_syntax::{Diagnostic, Fix, Severity, Span};
use ptx_verify::RuleInfo;
use serde_json::{Value, json};

use super::json::applicability;
use super::position::Positions;
use crate::foreign;
use crate::options::{page, page_address};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// What relative addresses are relative to: the name that code scanning services know for the folder
/// that was analysed.
const BASE: &str = "%SRCROOT%";

/// Begins the log with its one run.
pub fn begin(out: &mut impl Write) -> io::Result<()> {
    write!(out, r#"{{"$schema":"{SCHEMA}","version":"2.1.0","runs":[{{"#)?;
    if let Ok(folder) = std::env::current_dir() {
        let mut folder = file_uri(&folder);
        if !folder.ends_with('/') {
            folder.push('/');
        }
        write!(out, r#""originalUriBaseIds":{{"{BASE}":{{"uri":"{folder}"}}}},"#)?;
    }
    writeln!(out, r#""columnKind":"unicodeCodePoints","results":["#)
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
        "helpUri": page_address(rule.name),
        "help": {"text": page(rule.doc), "markdown": page(rule.doc)},
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
    let file = artifact_location(positions.source.name.path());
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b",\n");
        }
        // A value always has a JSON form, and writing to a vector cannot fail.
        let _ = foreign::write_json(out, &result(positions, &file, diagnostic));
    }
}

fn result(positions: &Positions<'_>, file: &Value, diagnostic: &Diagnostic) -> Value {
    let labels = diagnostic.labels.iter().enumerate().map(|(index, label)| {
        let mut location = location(positions, file, label.span);
        location["id"] = json!(index + 1);
        location["message"] = json!({"text": label.message});
        location
    });
    let mut object = json!({
        "ruleId": diagnostic.code,
        "level": level(diagnostic.severity),
        "message": {"text": message(diagnostic)},
        "locations": [location(positions, file, diagnostic.span)],
        "relatedLocations": labels.collect::<Vec<_>>(),
        "properties": {"class": diagnostic.class.as_str(), "rule": diagnostic.rule},
    });
    if let Some(index) = ptx_verify::rules().position(|rule| rule.code == diagnostic.code) {
        object["ruleIndex"] = json!(index);
    }
    if let Some(found) = &diagnostic.fix {
        object["fixes"] = json!([fix(positions, file, found)]);
    }
    object
}

fn message(diagnostic: &Diagnostic) -> String {
    let notes = diagnostic.notes.iter().map(|note| format!("\nnote: {note}"));
    let help = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    std::iter::once(diagnostic.message.clone()).chain(notes).chain(help).collect()
}

fn location(positions: &Positions<'_>, file: &Value, span: Span) -> Value {
    json!({"physicalLocation": {
        "artifactLocation": file,
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

fn fix(positions: &Positions<'_>, file: &Value, fix: &Fix) -> Value {
    let replacements = fix.edits.iter().map(|edit| {
        json!({
            "deletedRegion": region(positions, edit.span),
            "insertedContent": {"text": edit.replacement},
        })
    });
    json!({
        "description": {"text": fix.message},
        "artifactChanges": [{
            "artifactLocation": file,
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

/// Where a file is: relative to [`BASE`], or an address with a scheme where its path is absolute or leads
/// out of that folder, which a relative address must not.
fn artifact_location(path: &Path) -> Value {
    let leads_out = path.components().any(|part| part == Component::ParentDir);
    if path.is_absolute() || leads_out {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        return json!({"uri": file_uri(&absolute)});
    }
    let parts: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    json!({"uri": percent_encoded(&parts), "uriBaseId": BASE})
}

/// The address of an absolute path, without parts that lead upwards.
fn file_uri(path: &Path) -> String {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let path = percent_encoded(&parts);
    // A path of Windows begins with a drive.
    let root = if path.starts_with('/') { "" } else { "/" };
    format!("file://{root}{path}")
}

/// The bytes of a path as RFC 3986 lets them stand in an address.
fn percent_encoded(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut uri = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(*byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn addresses_are_absolute_with_a_scheme_or_relative_to_the_base() {
        let location = |path: &[u8]| artifact_location(Path::new(std::ffi::OsStr::from_bytes(path)));
        assert_eq!(
            location(b"./a b/%c\xff:d.ptx"),
            json!({"uri": "a%20b/%25c%FF%3Ad.ptx", "uriBaseId": BASE})
        );
        assert_eq!(location(b"/x/../y\n.ptx"), json!({"uri": "file:///y%0A.ptx"}));
        let out = location(b"../../../../../../../../../../../../../../a.ptx");
        assert_eq!(out, json!({"uri": "file:///a.ptx"}));
    }
}
