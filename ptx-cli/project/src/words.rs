//! Words that several messages have.

/// A count with its noun, as in "1 file", "3 files" or "2 fixes".
///
/// ```
/// assert_eq!(ptx_project::counted(2, "fix"), "2 fixes");
/// ```
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if noun.ends_with('x') { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { plural })
}
