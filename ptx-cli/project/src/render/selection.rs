//! Which findings are shown. Those for programs are shown in full; a terminal gets what a person can read.

use std::collections::BTreeMap;

use ptx_syntax::{Diagnostic, Severity};

use super::Format;
use crate::words::counted;

/// The findings of one rule and file that a terminal shows.
const MAX_SHOWN: usize = 10;

/// The least severity that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Least {
    /// Errors
    Error,
    /// Errors and warnings
    Warn,
    /// All findings
    Info,
}

impl Least {
    const fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warn => Severity::Warning,
            Self::Info => Severity::Info,
        }
    }
}

/// Which findings are shown.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    least: Severity,
    /// Of one rule in one file.
    max: usize,
}

impl Selection {
    /// Everything.
    pub const ALL: Self = Self { least: Severity::Info, max: usize::MAX };

    /// What a format shows unless more or less is asked for.
    #[must_use]
    pub fn new(format: Format, least: Option<Least>, all: bool) -> Self {
        let for_people = matches!(format, Format::Full | Format::Concise);
        let usual = if for_people { Least::Warn } else { Least::Info };
        Self {
            least: least.unwrap_or(usual).severity(),
            max: if for_people && !all { MAX_SHOWN } else { usize::MAX },
        }
    }

    /// Whether a finding is loud enough to be shown.
    #[must_use]
    pub fn shows(self, found: &Diagnostic) -> bool {
        found.severity >= self.least
    }

    /// Whether infos are left out.
    #[must_use]
    pub fn hides_infos(self) -> bool {
        self.least > Severity::Info
    }

    /// The findings that are shown, and a line for each rule of which more were found.
    #[must_use]
    pub fn of(self, diagnostics: &[Diagnostic]) -> (Vec<Diagnostic>, Vec<String>) {
        let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let loud = diagnostics.iter().filter(|found| found.severity >= self.least);
        let mut shown = Vec::new();
        for diagnostic in loud {
            let count = found.entry((diagnostic.code, diagnostic.rule)).or_default();
            *count += 1;
            if *count <= self.max {
                shown.push(diagnostic.clone());
            }
        }
        let rest = found.iter().filter(|(_, count)| **count > self.max).map(|((code, rule), count)| {
            let more = counted(count - self.max, "more finding");
            format!("{more} of {code} {rule} in this file; `--all-findings` shows all")
        });
        (shown, rest.collect())
    }
}

#[cfg(test)]
mod tests {
    use ptx_syntax::Span;

    use super::*;

    fn findings(severity: Severity, count: usize) -> Vec<Diagnostic> {
        let mut finding = Diagnostic::invalid("P0205", "operand-type", Span::default(), "");
        finding.severity = severity;
        vec![finding; count]
    }

    #[test]
    fn people_get_ten_findings_of_a_rule_and_the_count_of_the_rest() {
        let (shown, rest) = Selection::new(Format::Full, None, false).of(&findings(Severity::Error, 13));
        assert_eq!(shown.len(), 10);
        assert_eq!(rest, ["3 more findings of P0205 operand-type in this file; `--all-findings` shows all"]);
        let (shown, rest) = Selection::new(Format::Concise, None, false).of(&findings(Severity::Error, 10));
        assert_eq!((shown.len(), rest.len()), (10, 0));
        let (shown, rest) = Selection::new(Format::Full, None, true).of(&findings(Severity::Error, 13));
        assert_eq!((shown.len(), rest.len()), (13, 0));
    }

    #[test]
    fn programs_get_everything() {
        for format in [Format::Json, Format::Github, Format::Sarif] {
            let (shown, rest) = Selection::new(format, None, false).of(&findings(Severity::Info, 50));
            assert_eq!((shown.len(), rest.len()), (50, 0));
        }
    }

    #[test]
    fn infos_are_shown_on_demand() {
        let infos = findings(Severity::Info, 3);
        assert_eq!(Selection::new(Format::Full, None, false).of(&infos).0.len(), 0);
        assert_eq!(Selection::new(Format::Full, Some(Least::Info), false).of(&infos).0.len(), 3);
        let warnings = findings(Severity::Warning, 3);
        assert_eq!(Selection::new(Format::Json, Some(Least::Error), false).of(&warnings).0.len(), 0);
    }
}
