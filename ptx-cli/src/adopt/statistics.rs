//! How many findings each rule has.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ptx_syntax::{Applicability, Class, Diagnostic, Severity};
use serde_json::json;

/// The findings of a rule.
#[derive(Clone, Copy, Debug)]
struct Count {
    class: Class,
    /// The loudest.
    severity: Severity,
    findings: usize,
    files: usize,
    fixable: usize,
}

/// The findings of all rules, by code and name.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    counts: BTreeMap<(&'static str, &'static str), Count>,
}

impl Statistics {
    /// Counts the findings of a file.
    pub fn of_file(diagnostics: &[Diagnostic]) -> Self {
        let mut statistics = Self::default();
        for found in diagnostics {
            let certain = |found: &Diagnostic| {
                found.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Certain)
            };
            let one = Count {
                class: found.class,
                severity: found.severity,
                findings: 1,
                files: 0,
                fixable: usize::from(certain(found)),
            };
            statistics.add_one((found.code, found.rule), one);
        }
        statistics.counts.values_mut().for_each(|count| count.files = 1);
        statistics
    }

    /// Adds those of another file.
    pub fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(rule, count)| self.add_one(*rule, *count));
    }

    fn add_one(&mut self, rule: (&'static str, &'static str), more: Count) {
        let Some(count) = self.counts.get_mut(&rule) else {
            self.counts.insert(rule, more);
            return;
        };
        count.severity = count.severity.max(more.severity);
        count.findings += more.findings;
        count.files += more.files;
        count.fixable += more.fixable;
    }

    /// The most frequent rule first.
    fn sorted(&self) -> Vec<(&(&'static str, &'static str), &Count)> {
        let mut rows: Vec<_> = self.counts.iter().collect();
        rows.sort_by_key(|(rule, count)| (std::cmp::Reverse(count.findings), **rule));
        rows
    }

    /// Writes a table for people: how many, how loud, which rule, and how many of them `--fix` would fix.
    pub fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let digits = |value: Option<usize>| value.unwrap_or(0).to_string().len();
        let findings = digits(self.counts.values().map(|count| count.findings).max());
        let name = self.counts.keys().map(|(_, name)| name.len()).max().unwrap_or(0);
        for ((code, rule), count) in self.sorted() {
            let fixable =
                if count.fixable > 0 { format!(", {} fixable", count.fixable) } else { String::new() };
            let files = ptx_project::counted(count.files, "file");
            writeln!(
                out,
                "{:>findings$}  {:7}  {code}  {rule:name$}  in {files}{fixable}",
                count.findings,
                count.severity.as_str(),
            )?;
        }
        out.flush()
    }

    /// Writes one JSON object a rule.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        for ((code, rule), count) in self.sorted() {
            let object = json!({
                "rule": rule,
                "code": code,
                "class": count.class.as_str(),
                "severity": count.severity.as_str(),
                "findings": count.findings,
                "files": count.files,
                "fixable": count.fixable,
            });
            writeln!(out, "{object}")?;
        }
        out.flush()
    }
}
