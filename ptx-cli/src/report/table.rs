//! The figures of one file as an aligned table.

use crate::foreign::{Name, line};
use ptx_emit::assemble::{FunctionKind, FunctionUsage, Report};

/// A column: its title and how to read its value.
type Column = (&'static str, fn(&FunctionUsage) -> Option<u64>);

const COLUMNS: [Column; 11] = [
    ("registers", |function| function.registers.map(u64::from)),
    ("spill stores", |function| function.spill_store_bytes),
    ("spill loads", |function| function.spill_load_bytes),
    ("stack", |function| function.stack_bytes),
    ("local", |function| function.local_bytes),
    ("shared", |function| function.shared_bytes),
    ("constant", |function| function.const_bytes),
    ("barriers", |function| function.barriers.map(u64::from)),
    ("max threads", |function| function.max_threads.map(u64::from)),
    ("blocks per SM", |function| function.blocks_per_sm.map(u64::from)),
    ("warps per SM", |function| function.warps.map(u64::from)),
];

/// What stands for a figure that is not known.
const UNKNOWN: &str = "-";

/// One line about the file and its compiler, then the table of its functions, then a blank line.
/// Columns of which nothing is known are left out.
pub fn table(report: &Report, color: bool) -> String {
    let (on, off) = if color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let mut text = format!("{on}{}{off}: {}\n", Name::from(&report.file), line(&summary(report)));
    let columns: Vec<Column> = COLUMNS
        .into_iter()
        .filter(|(_, value)| report.functions.iter().any(|function| value(function).is_some()))
        .collect();
    let mut rows = vec![
        std::iter::once("function")
            .chain(columns.iter().map(|(title, _)| *title))
            .map(String::from)
            .collect(),
    ];
    rows.extend(report.functions.iter().map(|function| row(function, &columns)));
    if report.functions.is_empty() {
        rows.clear();
    }
    push_aligned(&mut text, &rows);
    report.functions.iter().filter_map(occupancy).for_each(|line| text.push_str(&line));
    text.push('\n');
    text
}

/// What keeps a multiprocessor from having room for more blocks, where less of it would do.
fn occupancy(function: &FunctionUsage) -> Option<String> {
    let (blocks, limit) = (function.blocks_per_sm?, function.limit.as_deref()?);
    let name = line(&function.name);
    let fewer = match (limit, function.saving) {
        ("registers", Some(1)) => "1 register fewer".to_owned(),
        ("registers", Some(fewer)) => format!("{fewer} registers fewer"),
        ("shared", Some(fewer)) => format!("{fewer} bytes of shared memory fewer"),
        _ => return None,
    };
    let would = if blocks == 0 { "let a block in" } else { "let one more block in" };
    Some(format!("  {name}: {fewer} would {would}\n"))
}

/// The verdict, the target, the compiler and the time.
fn summary(report: &Report) -> String {
    let verdict = match (report.accepted, report.functions.is_empty()) {
        (false, _) => "refused",
        (true, true) => "accepted, no functions",
        (true, false) => "accepted",
    };
    let version = report.backend_version.as_deref().unwrap_or("of unknown version");
    format!("{verdict} for {} by {} {version} in {:.3} s", report.target, report.backend, report.seconds)
}

fn row(function: &FunctionUsage, columns: &[Column]) -> Vec<String> {
    let name = match function.kind {
        FunctionKind::Entry => line(&function.name).into_owned(),
        FunctionKind::Func => format!("{} (device function)", line(&function.name)),
    };
    let cell =
        |(_, value): &Column| value(function).map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string());
    std::iter::once(name).chain(columns.iter().map(cell)).collect()
}

/// Appends the rows, names to the left and figures to the right, two spaces apart.
fn push_aligned(text: &mut String, rows: &[Vec<String>]) {
    let Some(first) = rows.first() else { return };
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..first.len()).map(width).collect();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column == 0 {
                text.push_str(&format!("  {cell:width$}"));
            } else {
                text.push_str(&format!("  {cell:>width$}"));
            }
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emit::assemble::Backend;

    fn report(functions: Vec<FunctionUsage>) -> Report {
        Report {
            file: "a.ptx".to_owned(),
            backend: Backend::Ptxas,
            backend_version: Some("13.5.37".to_owned()),
            target: "sm_90a".to_owned(),
            accepted: true,
            seconds: 0.0214,
            log: Vec::new(),
            functions,
        }
    }

    #[test]
    fn figures_stand_under_their_titles_and_unknown_columns_are_left_out() {
        let kernel = FunctionUsage {
            registers: Some(128),
            stack_bytes: Some(0),
            ..FunctionUsage::unknown("kernel", FunctionKind::Entry)
        };
        let helper = FunctionUsage {
            stack_bytes: Some(1_048_576),
            ..FunctionUsage::unknown("helper", FunctionKind::Func)
        };
        let expected = "\
a.ptx: accepted for sm_90a by ptxas 13.5.37 in 0.021 s
  function                  registers    stack
  kernel                          128        0
  helper (device function)          -  1048576

";
        assert_eq!(table(&report(vec![kernel, helper]), false), expected);
    }

    #[test]
    fn a_file_without_functions_is_one_line() {
        let accepted = report(Vec::new());
        assert!(table(&accepted, false).ends_with("13.5.37 in 0.021 s\n\n"));
        assert!(table(&accepted, false).starts_with("a.ptx: accepted, no functions for"));
        let refused = Report { accepted: false, backend_version: None, ..accepted };
        assert!(table(&refused, true).contains("refused for sm_90a by ptxas of unknown version"));
    }
}
