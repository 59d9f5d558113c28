//! The figures of a file as a table of Markdown, for comments on pull requests.

use ptx_emit::assemble::{FunctionKind, FunctionUsage, Report};

use super::table::{UNKNOWN, columns, shown};
use crate::foreign::{Name, line};

/// A heading and a table with a row for each function and target. What refuses a file is a row, too.
pub fn markdown(reports: &[Report]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let functions = || reports.iter().flat_map(|report| &report.functions);
    let columns = columns(functions());
    let mut text = format!("### {}\n\n| function | target |", code(&Name::from(&first.file).to_string()));
    columns.iter().for_each(|(title, _)| text.push_str(&format!(" {title} |")));
    text.push_str("\n|---|---|");
    text.push_str(&"--:|".repeat(columns.len()));
    text.push('\n');
    for report in reports {
        let target = line(&report.target);
        for function in &report.functions {
            text.push_str(&format!("| {} | {target} |", name(function)));
            for (_, value) in &columns {
                let cell = value(function).map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string());
                text.push_str(&format!(" {cell} |"));
            }
            text.push('\n');
        }
        if report.functions.is_empty() {
            let verdict = if report.accepted { "no functions" } else { "**refused**" };
            text.push_str(&format!("| {verdict} | {target} |{}\n", " |".repeat(columns.len())));
        }
    }
    text.push('\n');
    text
}

fn name(function: &FunctionUsage) -> String {
    let name = code(&line(shown(function)));
    match function.kind {
        FunctionKind::Entry => name,
        FunctionKind::Func => format!("{name} (device function)"),
    }
}

/// A text between backticks, in a cell: without what would end either.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace('|', "\\|"))
}
