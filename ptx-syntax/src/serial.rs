//! What has to hold of spans and diagnostics that are read.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use serde::de::{Deserialize, Deserializer, Error};

use crate::Span;

/// A span whose end may be before its start.
#[derive(serde::Deserialize)]
pub(crate) struct Bounds {
    start: u32,
    end: u32,
}

impl TryFrom<Bounds> for Span {
    type Error = String;

    fn try_from(Bounds { start, end }: Bounds) -> Result<Self, String> {
        if start <= end { Ok(Self::new(start, end)) } else { Err(format!("{start} to {end} is no span")) }
    }
}

/// Rules have shorter names, and there are fewer of them, of the programs that use this library together.
const MAX_LENGTH: usize = 64;
const MAX_NAMES: usize = 4096;

/// The names of rules and their codes that were read. What has a name of its own in the program lives as long as that.
static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The name of a rule or its code, which lives as long as the program. A rule's own name would do; but which rules there are
/// is not known here.
pub(crate) fn name<'d, D: Deserializer<'d>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = <Cow<'d, str>>::deserialize(deserializer)?;
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(&*name) {
        return Ok(known);
    }
    if name.len() > MAX_LENGTH || names.len() == MAX_NAMES {
        return Err(D::Error::custom("this is no name of a rule"));
    }
    let name: &'static str = Box::leak(name.into_owned().into_boxed_str());
    names.insert(name);
    Ok(name)
}

#[cfg(test)]
mod tests {
    use crate::{Applicability, Diagnostic, Edit, Span};

    #[test]
    fn diagnostics_are_read_as_they_were_written() {
        let found = Diagnostic::invalid("X0001", "some-rule", Span::new(3, 9), "a\n\"b\"")
            .with_label("here")
            .with_secondary(Span::new(0, 1), "there")
            .with_note("a note")
            .with_help("help")
            .with_fix(
                "fix",
                Applicability::Likely,
                vec![Edit { span: Span::at(3), replacement: "x".into() }],
            );
        let text = serde_json::to_string(&found).unwrap();
        assert!(
            text.contains(r#""code":"X0001""#) && text.contains(r#""span":{"start":3,"end":9}"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Diagnostic>(&text).unwrap(), found);
    }

    #[test]
    fn what_is_no_diagnostic_is_refused() {
        let text = serde_json::to_string(&Diagnostic::invalid("X0001", "rule", Span::new(3, 9), "")).unwrap();
        let refused = |text: String| serde_json::from_str::<Diagnostic>(&text).unwrap_err().to_string();
        assert!(refused(text.replace("9", "2")).contains("3 to 2 is no span"));
        assert!(refused(text.replace("X0001", &"P".repeat(100))).contains("no name of a rule"));
    }
}
