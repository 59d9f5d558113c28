//! The figures of one file as an aligned table.

use super::names::shortened;
use crate::foreign::{Name, line};
use ptx_emit::assemble::{Backend, FunctionKind, FunctionUsage, Report};

/// A column: its title and how to read its value.
pub type Column = (&'static str, fn(&FunctionUsage) -> Option<u64>);

const COLUMNS: [Column; 12] = [
    ("registers", |function| function.registers.map(u64::from)),
    ("spill stores", |function| function.spill_store_bytes),
    ("spill loads", |function| function.spill_load_bytes),
    ("stack", |function| function.stack_bytes),
    ("local", |function| function.local_bytes),
    ("shared", |function| function.shared_bytes),
    ("constant", |function| function.const_bytes),
    ("barriers", |function| function.barriers.map(u64::from)),
    ("max threads", |function| function.max_threads.map(u64::from)),
    ("instructions", |function| function.instructions),
    ("blocks per SM", |function| function.blocks_per_sm.map(u64::from)),
    ("warps per SM", |function| function.warps.map(u64::from)),
];

/// What stands for a figure that is not known.
pub const UNKNOWN: &str = "-";

/// The columns of which anything is known.
pub fn columns<'r>(functions: impl Iterator<Item = &'r FunctionUsage>) -> Vec<Column> {
    let functions: Vec<_> = functions.collect();
    let is_known = |(_, value): &Column| functions.iter().any(|function| value(function).is_some());
    COLUMNS.into_iter().filter(is_known).collect()
}

/// A line about the file and its compiler for each target, then the table of its functions, then a blank line.
/// Columns of which nothing is known are left out, and so are targets where there is one.
pub fn table(reports: &[Report], color: bool) -> String {
    let (on, off) = if color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let mut text = String::new();
    for report in reports {
        text.push_str(&format!("{on}{}{off}: {}\n", Name::from(&report.file), line(&summary(report))));
    }
    let functions = || reports.iter().filter(|report| !report.functions.is_empty());
    let columns = columns(functions().flat_map(|report| &report.functions));
    let has_targets = reports.len() > 1;
    let titles = std::iter::once("function").chain(has_targets.then_some("target"));
    let titles = titles.chain(columns.iter().map(|(title, _)| *title)).map(String::from);
    let mut rows: Vec<Vec<String>> = vec![titles.collect()];
    for report in functions() {
        let target = has_targets.then(|| line(&report.target).into_owned());
        rows.extend(report.functions.iter().map(|function| row(function, target.as_ref(), &columns)));
    }
    shorten(&mut rows);
    if rows.len() == 1 {
        rows.clear();
    }
    push_aligned(&mut text, &rows);
    for report in reports {
        let target = has_targets.then(|| line(&report.target));
        let lines = report.functions.iter().filter_map(|function| occupancy(function, target.as_deref()));
        lines.for_each(|line| text.push_str(&line));
    }
    text.push('\n');
    text
}

/// What keeps a multiprocessor from having room for more blocks, where less of it would do.
fn occupancy(function: &FunctionUsage, target: Option<&str>) -> Option<String> {
    let (blocks, limit) = (function.blocks_per_sm?, function.limit.as_deref()?);
    let name = line(shown(function));
    let fewer = match (limit, function.saving) {
        ("registers", Some(1)) => "1 register fewer".to_owned(),
        ("registers", Some(fewer)) => format!("{fewer} registers fewer"),
        ("shared", Some(fewer)) => format!("{fewer} bytes of shared memory fewer"),
        _ => return None,
    };
    let would = if blocks == 0 { "let a block in" } else { "let one more block in" };
    let target = target.map_or_else(String::new, |target| format!(" for {target}"));
    Some(format!("  {name}{target}: {fewer} would {would}\n"))
}

/// The verdict, the target, the compiler and the time.
fn summary(report: &Report) -> String {
    let verdict = match (report.accepted, report.functions.is_empty()) {
        (false, _) => "refused",
        (true, true) => "accepted, no functions",
        (true, false) => "accepted",
    };
    if report.backend == Backend::Nvcc {
        return format!("{verdict} for {} by {}", report.target, report.backend);
    }
    let version = report.backend_version.as_deref().unwrap_or("of unknown version");
    format!("{verdict} for {} by {} {version} in {:.3} s", report.target, report.backend, report.seconds)
}

fn row(function: &FunctionUsage, target: Option<&String>, columns: &[Column]) -> Vec<String> {
    let name = match function.kind {
        FunctionKind::Entry => line(shown(function)).into_owned(),
        FunctionKind::Func => format!("{} (device function)", line(shown(function))),
    };
    let cell =
        |(_, value): &Column| value(function).map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string());
    std::iter::once(name).chain(target.cloned()).chain(columns.iter().map(cell)).collect()
}

/// The name for people.
pub fn shown(function: &FunctionUsage) -> &str {
    function.demangled.as_deref().unwrap_or(&function.name)
}

/// Cuts names that no terminal has room for, but for those that are then the same.
fn shorten(rows: &mut [Vec<String>]) {
    let names: Vec<String> = rows.iter().map(|row| row[0].clone()).collect();
    for (row, name) in rows.iter_mut().zip(shortened(&names)) {
        row[0] = name;
    }
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
        assert_eq!(table(&[report(vec![kernel.clone(), helper])], false), expected);
        let other = Report { target: "sm_100a".to_owned(), ..report(vec![kernel.clone()]) };
        let several = "\
a.ptx: accepted for sm_90a by ptxas 13.5.37 in 0.021 s
a.ptx: accepted for sm_100a by ptxas 13.5.37 in 0.021 s
  function   target  registers  stack
  kernel     sm_90a        128      0
  kernel    sm_100a        128      0

";
        assert_eq!(table(&[report(vec![kernel]), other], false), several);
    }

    #[test]
    fn a_file_without_functions_is_one_line() {
        let accepted = report(Vec::new());
        assert!(table(std::slice::from_ref(&accepted), false).ends_with("13.5.37 in 0.021 s\n\n"));
        assert!(
            table(std::slice::from_ref(&accepted), false).starts_with("a.ptx: accepted, no functions for")
        );
        let refused = Report { accepted: false, backend_version: None, ..accepted };
        assert!(table(&[refused], true).contains("refused for sm_90a by ptxas of unknown version"));
    }
}
