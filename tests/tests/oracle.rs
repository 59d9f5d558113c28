//! NVIDIA's assembler as the judge of class `invalid`: it refuses a data file exactly when there is an
//! `invalid` finding in it, on the same lines.
//!
//! `ptxas` is found as `ptx_tests::tools` says; without it the test is ignored.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use ptx_ir::target::Target;
use ptx_syntax::{Class, LineIndex};
use ptx_tests::case::{Case, Disagreement, files};
use ptx_tests::tools::{assemble, needed_ptxas, on_all_cores, root, stopped};

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_agrees_about_every_data_file() {
    let ptxas = needed_ptxas();
    let folders = ["tests/cases", "tests/kernels"];
    let all: Vec<PathBuf> = folders.iter().flat_map(|folder| files(&root().join(folder), "ptx")).collect();
    let mut report = String::new();
    // Each run of ptxas takes some 30 ms, so they are spread over the cores.
    let judged = on_all_cores(&all, |path| judge(ptxas, path));
    for (path, failure) in all.iter().zip(judged).filter_map(|(path, judged)| Some((path, judged.err()?))) {
        let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
        writeln!(report, "{name}\n{failure}").unwrap();
    }
    assert!(report.is_empty(), "\n{report}");
}

fn judge(ptxas: &Path, path: &Path) -> Result<(), String> {
    let case = Case::read(path)?;
    if case.disagreement == Some(Disagreement::Unasked) {
        return Ok(());
    }
    let index = LineIndex::new(&case.source);
    let diagnostics = case.diagnostics();
    let invalid = diagnostics.iter().filter(|found| found.class == Class::Invalid);
    let invalid: Vec<_> = invalid.map(|found| (index.position(found.span.start).line, found.rule)).collect();
    let ours: BTreeSet<u32> = invalid.iter().map(|(line, _)| *line).collect();
    // Names that are not declared are looked for only where a function has no other error.
    let certain = invalid.iter().filter(|(_, rule)| !rule.starts_with("undeclared-")).map(|(line, _)| *line);
    let certain: BTreeSet<u32> = certain.collect();
    let complaints = assemble(ptxas, path, &architecture(&case)).map_err(|error| error.to_string())?;
    let theirs: BTreeSet<u32> = complaints.iter().filter_map(|complaint| complaint.line).collect();
    let actual = match (ours.is_empty(), complaints.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Disagreement::Accepts),
        (true, false) => Some(Disagreement::Refuses),
        // Some complaints name no line.
        (false, false) if theirs.is_empty() || ours == theirs || certain == theirs => None,
        // After an error of syntax ptxas reads no further, so it may know fewer lines than we do.
        (false, false) if stopped(&complaints) && theirs.is_subset(&ours) => None,
        (false, false) => Some(Disagreement::Lines),
    };
    if actual == case.disagreement {
        return Ok(());
    }
    let declared = case.disagreement.map_or("nothing".to_owned(), |kind| format!("{kind:?}"));
    let actual = actual.map_or("nothing".to_owned(), |kind| format!("{kind:?}"));
    let mut text =
        format!("  disagreement declared: {declared}, actual: {actual}\n  invalid lines: {ours:?}\n");
    for complaint in complaints {
        let line = complaint.line.map_or_else(String::new, |line| format!("{line}: "));
        writeln!(text, "  ptxas: {line}{}", complaint.message).map_err(|error| error.to_string())?;
    }
    Err(text)
}

/// What to assemble for: the target asked for, else that of the file where the assembler still makes
/// code for it, else the oldest that it does.
fn architecture(case: &Case) -> String {
    let parse = ptx_syntax::parse(&case.source);
    let module = ptx_ir::lower::lower(&parse.tree, &case.source).module;
    let target = case.config.target.unwrap_or(module.header.target);
    let oldest = Target::parse("sm_75").unwrap_or(target);
    if target.number() < oldest.number() { oldest.to_string() } else { target.to_string() }
}
