//! The data of a finding: what is wrong, where, why, and what to write instead.
//!
//! Messages are lowercase, without a final period, with code in backticks. The cure is only in
//! [`Diagnostic::help`] and [`Diagnostic::fix`]. Nothing here prints.

use crate::Span;

/// How the finding relates to the ISA; see `ARCHITECTURE.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Class {
    /// NVIDIA's tools refuse the program for this target and version.
    Invalid,
    /// It assembles, yet reads something undefined or breaks a rule of the ISA on some path.
    Hazard,
    /// Canonical form, unused things.
    Style,
}

impl Class {
    /// The name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Hazard => "hazard",
            Self::Style => "style",
        }
    }
}

/// How loudly a finding is reported. The order is from quiet to loud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably wrong.
    Warning,
    /// Certainly wrong.
    Error,
}

impl Severity {
    /// The name used in JSON and in rendered output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A second place that explains the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there, as in "declared here".
    pub message: String,
}

/// How sure a fix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Applicability {
    /// Right in every case: applied by `--fix`.
    Certain,
    /// Probably what was meant: shown, and applied only on request.
    Likely,
}

/// One replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Edit {
    /// The bytes to replace; empty for an insertion.
    pub span: Span,
    /// The new text; empty for a deletion.
    pub replacement: String,
}

/// A change of the source that removes the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fix {
    /// What the fix does, as in "write `.rn`".
    pub message: String,
    /// How sure it is.
    pub applicability: Applicability,
    /// The edits, in order of their spans, which do not overlap.
    pub edits: Vec<Edit>,
}

/// A name that the program has. `serde` would borrow a reference that it sees from what is read.
type RuleName = &'static str;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Diagnostic {
    /// The class, which says who the judge is.
    pub class: Class,
    /// How loud.
    pub severity: Severity,
    /// The short code of the rule, which never changes.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serial::name"))]
    pub code: RuleName,
    /// The name of the rule.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serial::name"))]
    pub rule: RuleName,
    /// What is wrong.
    pub message: String,
    /// The primary place.
    pub span: Span,
    /// What the primary place is, shown beside its underline; may be empty.
    pub label: String,
    /// Further places.
    pub labels: Vec<Label>,
    /// Facts: the section of the manual, why it matters.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// The change that removes the finding, where one is known.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding of class [`Class::Invalid`] and severity error, without labels, notes or help.
    #[must_use]
    pub fn invalid(code: &'static str, rule: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Class::Invalid, Severity::Error, code, rule, span, message)
    }

    /// A finding without labels, notes or help.
    #[must_use]
    pub fn new(
        class: Class,
        severity: Severity,
        code: &'static str,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self {
            class,
            severity,
            code,
            rule,
            message: message.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Sets the text beside the primary underline.
    #[must_use]
    pub fn with_label(mut self, message: impl Into<String>) -> Self {
        self.label = message.into();
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn with_secondary(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the change that removes the finding.
    #[must_use]
    pub fn with_fix(
        mut self,
        message: impl Into<String>,
        applicability: Applicability,
        edits: Vec<Edit>,
    ) -> Self {
        self.fix = Some(Fix { message: message.into(), applicability, edits });
        self
    }
}
