//! Unified differences between a file and what it would become.

use std::time::Duration;

use crate::foreign::Name;
use crate::terminal::Terminal;
use similar::{ChangeTag, TextDiff};

/// After this time a difference need no longer be the smallest.
const PATIENCE: Duration = Duration::from_secs(2);

/// The unified difference from `old` to `new`, in the form that `patch` and `git apply` read; empty
/// where there is none.
pub fn unified(name: &Name, old: &[u8], new: &[u8], terminal: &Terminal) -> Vec<u8> {
    if old == new {
        return Vec::new();
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut unified = diff.unified_diff();
    unified.context_radius(3);
    let paint = |out: &mut Vec<u8>, code: &str, line: &dyn Fn(&mut Vec<u8>)| {
        if terminal.stdout.color {
            out.extend_from_slice(code.as_bytes());
        }
        line(out);
        if terminal.stdout.color {
            out.extend_from_slice(b"\x1b[0m");
        }
    };
    let mut out = Vec::new();
    let header = format!("--- {0}\n+++ {0}\n", name.in_difference());
    paint(&mut out, "\x1b[1m", &|out| out.extend_from_slice(header.as_bytes()));
    for hunk in unified.iter_hunks() {
        paint(&mut out, "\x1b[36m", &|out| out.extend(format!("{}\n", hunk.header()).bytes()));
        for change in hunk.iter_changes() {
            let (sign, code) = match change.tag() {
                ChangeTag::Equal => (b' ', ""),
                ChangeTag::Delete => (b'-', "\x1b[31m"),
                ChangeTag::Insert => (b'+', "\x1b[32m"),
            };
            let line = terminal.document(change.value());
            paint(&mut out, code, &|out| {
                out.push(sign);
                out.extend_from_slice(&line);
            });
            if change.missing_newline() {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unified;
    use crate::terminal::Terminal;

    #[test]
    fn the_difference_is_one_that_patch_reads() {
        let diff = unified(&"a.ptx".into(), b"a\nb\nc\n", b"a\nB\nc", &Terminal::default());
        let expected =
            "--- a.ptx\n+++ a.ptx\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n";
        assert_eq!(String::from_utf8(diff).unwrap(), expected);
        assert!(unified(&"a.ptx".into(), b"a", b"a", &Terminal::default()).is_empty());
    }
}
