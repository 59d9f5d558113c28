//! What is wrong with a text, in words that name no rule.

use crate::{Applicability, Edit, Fix, Label, Span};

/// Something at a place of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The place.
    pub span: Span,
    /// What is there.
    pub what: T,
}

/// A text that does not follow the grammar.
pub type SyntaxError = Located<Explanation>;

/// What is wrong, why, and what to write instead. The style is that of a [`Diagnostic`](crate::Diagnostic).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// What is wrong.
    pub message: String,
    /// What the primary place is; may be empty.
    pub label: String,
    /// Further places.
    pub labels: Vec<Label>,
    /// Facts.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// The change that removes the fault, where one is known.
    pub fix: Option<Fix>,
}

impl<T> Located<T> {
    /// The place with something made of what is there.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located { span: self.span, what: change(self.what) }
    }
}

impl Located<Explanation> {
    /// A message without labels, notes or help.
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, what: Explanation { message: message.into(), ..Explanation::default() } }
    }

    /// Sets the text beside the primary underline.
    #[must_use]
    pub fn with_label(mut self, message: impl Into<String>) -> Self {
        self.what.label = message.into();
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn with_secondary(mut self, span: Span, message: impl Into<String>) -> Self {
        self.what.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.what.notes.push(note.into());
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.what.help = Some(help.into());
        self
    }

    /// Adds the change that removes the fault.
    #[must_use]
    pub fn with_fix(
        mut self,
        message: impl Into<String>,
        applicability: Applicability,
        edits: Vec<Edit>,
    ) -> Self {
        self.what.fix = Some(Fix { message: message.into(), applicability, edits });
        self
    }
}
