//! Changes of a text that keep every byte around them: comments, blanks, the spelling of numbers.
//!
//! [`Edits`] gathers replacements of a text by their places, and [`Edits::apply`] makes them all at once. What is changed is
//! found in the [tree](crate::ast) or among the [names](crate::names) of the text; the places stay those of the text as it is,
//! however much is inserted before them.
//!
//! ```
//! use ptx_syntax::edits::Edits;
//!
//! let source = "\
//! .version 8.0
//! .target sm_80
//! .visible .entry old(.param .u64 p)   // launched as `old`
//! {
//!     .reg .b64 %rd<2>;
//!     ld.param.u64    %rd1, [p]; // 0x10 bytes
//!     ret;
//! }
//! ";
//! let mut edits = Edits::new(source);
//! assert_eq!(edits.rename("old", "new").unwrap(), 1);
//! let ret = source.find("ret;").unwrap() as u32;
//! edits.insert_statement(ret, "st.global.u64 [%rd1], %rd1;").unwrap();
//! let text = edits.apply();
//! assert!(text.contains(".entry new(.param .u64 p)   // launched as `old`"));
//! assert!(text.contains("    ld.param.u64    %rd1, [p]; // 0x10 bytes\n    st.global.u64 [%rd1], %rd1;\n    ret;\n"));
//! ```

use std::fmt;

use crate::lexer::{TokenKind, tokenize};
use crate::names::{NameKind, Names, Symbol};
use crate::{Edit, Span};

/// Why a change cannot be made. The others stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The place is not in the text, or within a character of several bytes.
    OutOfText,
    /// A change before this one is at the same bytes.
    Overlap {
        /// Where the other one is.
        other: Span,
    },
    /// The module declares no such name, or it is one of several that a declaration makes by number.
    NoSuchName {
        /// The name.
        name: String,
    },
    /// The new name is no identifier, or means something already.
    Taken {
        /// The name.
        name: String,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfText => f.write_str("the place is not in the text"),
            Self::Overlap { other } => write!(f, "the bytes from {} on are changed already", other.start),
            Self::NoSuchName { name } => write!(f, "the module declares no `{name}`"),
            Self::Taken { name } => write!(f, "`{name}` is no name that is free"),
        }
    }
}

impl std::error::Error for EditError {}

/// Changes of a text; see the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Edits<'s> {
    source: &'s str,
    names: Names,
    /// In the order of their places; of several insertions at one place, in the order in which they came.
    edits: Vec<Edit>,
}

impl<'s> Edits<'s> {
    /// No change of a text yet.
    #[must_use]
    pub fn new(source: &'s str) -> Self {
        Self { source, names: Names::new(source), edits: Vec::new() }
    }

    /// The text as it is.
    #[must_use]
    pub const fn source(&self) -> &'s str {
        self.source
    }

    /// What the text declares, and where it names that.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// The changes so far, in the order of their places.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Puts a text in the place of a part of this one.
    ///
    /// # Errors
    /// The part is not in the text, or is changed already.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) -> Result<(), EditError> {
        let range = span.start as usize..span.end as usize;
        if self.source.get(range).is_none() {
            return Err(EditError::OutOfText);
        }
        // After all that end before it or begin where it does.
        let at =
            self.edits.partition_point(|edit| (edit.span.start, edit.span.end) <= (span.start, span.end));
        let before = at.checked_sub(1).map(|index| self.edits[index].span);
        let touches = |other: &Span| other.start < span.end && span.start < other.end;
        let within = |other: &Span| other.start < span.start && span.start < other.end;
        let after = self.edits.get(at).map(|edit| edit.span);
        let same = |other: &Span| *other == span && !span.is_empty();
        let clash =
            before.filter(|other| touches(other) || within(other) || same(other)).or(after.filter(touches));
        if let Some(other) = clash {
            return Err(EditError::Overlap { other });
        }
        self.edits.insert(at, Edit { span, replacement: text.into() });
        Ok(())
    }

    /// Inserts a text at a place, after what was inserted there before.
    ///
    /// # Errors
    /// The place is not in the text, or within a part that is replaced.
    pub fn insert(&mut self, at: u32, text: impl Into<String>) -> Result<(), EditError> {
        self.replace(Span::new(at, at), text)
    }

    /// Inserts a statement before the one that begins at a place: on a line of its own, indented as that, where that is the
    /// first one of its line, and beside it else.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    pub fn insert_statement(&mut self, before: u32, statement: &str) -> Result<(), EditError> {
        let head = self.source.get(..before as usize).ok_or(EditError::OutOfText)?;
        let line = head.rfind('\n').map_or(0, |end| end + 1);
        let indent = &head[line..];
        if indent.chars().all(|each| matches!(each, ' ' | '\t')) {
            let end = if self.source.contains("\r\n") { "\r\n" } else { "\n" };
            self.insert(before, format!("{statement}{end}{indent}"))
        } else {
            self.insert(before, format!("{statement} "))
        }
    }

    /// Removes a statement, with its line where nothing else is on that.
    ///
    /// # Errors
    /// As for [`replace`](Self::replace).
    pub fn remove_statement(&mut self, span: Span) -> Result<(), EditError> {
        let range = span.start as usize..span.end as usize;
        let (Some(head), Some(tail)) = (self.source.get(..range.start), self.source.get(range.end..)) else {
            return Err(EditError::OutOfText);
        };
        let line = head.rfind('\n').map_or(0, |end| end + 1);
        let rest = tail.find('\n').map_or(tail, |end| &tail[..=end]);
        let is_alone = head[line..].trim().is_empty() && rest.trim().is_empty();
        let whole = Span::new(line as u32, span.end + rest.len() as u32);
        if is_alone && self.replace(whole, "").is_ok() {
            return Ok(());
        }
        // Beside it is something, or was inserted.
        self.replace(span, "")
    }

    /// Gives a function, kernel or variable of the module another name everywhere, and tells how often it was there.
    /// What has the same name in a body, and means something else, keeps it.
    ///
    /// # Errors
    /// The module has no such name, or the new one means something already.
    pub fn rename(&mut self, old: &str, new: &str) -> Result<usize, EditError> {
        let missing = || EditError::NoSuchName { name: old.to_owned() };
        let symbol = self.names.find_in(self.source, old, 0).ok_or_else(missing)?;
        let declared = self.names.declared().get(symbol.declared as usize).ok_or_else(missing)?;
        let renameable = matches!(declared.kind, NameKind::Function | NameKind::Kernel | NameKind::Variable);
        if !renameable || declared.count.is_some() {
            return Err(missing());
        }
        if !is_name(new) || self.is_known(new) {
            return Err(EditError::Taken { name: new.to_owned() });
        }
        let places = self.places(symbol, old);
        let before = self.edits.clone();
        for &span in &places {
            if let Err(error) = self.replace(span, new) {
                self.edits = before;
                return Err(error);
            }
        }
        Ok(places.len())
    }

    /// Whether anything in the text has a name.
    fn is_known(&self, name: &str) -> bool {
        let digits = name.trim_end_matches(|each: char| each.is_ascii_digit()).len();
        self.names.declared().iter().any(|declared| {
            let known = declared.name.text(self.source);
            known == name || (declared.count.is_some() && known.len() >= digits && name.starts_with(known))
        })
    }

    /// Where a name is declared and used, each place once.
    fn places(&self, symbol: Symbol, name: &str) -> Vec<Span> {
        let declarations = self.names.declarations(self.source, symbol).map(|declared| declared.name);
        let references = self.names.references(self.source, symbol).into_iter().map(|found| found.span);
        let mut places: Vec<Span> =
            declarations.chain(references).filter(|span| span.text(self.source) == name).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The text with all changes; every byte outside of them is as it was.
    #[must_use]
    pub fn apply(&self) -> String {
        let mut text = String::with_capacity(self.source.len());
        let mut copied = 0;
        for Edit { span, replacement } in &self.edits {
            text.push_str(self.source.get(copied..span.start as usize).unwrap_or_default());
            text.push_str(replacement);
            copied = span.end as usize;
        }
        text.push_str(self.source.get(copied..).unwrap_or_default());
        text
    }
}

/// Whether a text is one token that something at module level can be called. Words with a percent sign are registers'.
fn is_name(text: &str) -> bool {
    if text.starts_with('%') || matches!(text, "_" | "WARP_SZ") {
        return false;
    }
    let tokens = tokenize(text);
    let [token] = tokens.as_slice() else { return false };
    token.kind == TokenKind::Name && token.text(text).len() == text.len()
}
