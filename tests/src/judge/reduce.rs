//! Smaller kernels with the same disagreement.

/// Leaves out lines of a text as long as something holds: first many at once, then one by one.
pub fn reduced(text: &str, holds: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut size = lines.len() / 2;
    while size > 0 {
        let (mut at, mut changed) = (0, false);
        while at < lines.len() {
            let mut fewer = lines.clone();
            fewer.drain(at..(at + size).min(lines.len()));
            if holds(&join(&fewer)) {
                lines = fewer;
                changed = true;
            } else {
                at += size;
            }
        }
        if !changed || size > 1 {
            size /= 2;
        }
    }
    join(&lines)
}

fn join(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}
