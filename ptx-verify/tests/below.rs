//! The crates below this one know no rule: neither a code nor a name is in their source.

use std::fs;
use std::path::{Path, PathBuf};

const BELOW: [&str; 5] =
    ["ptx-syntax/src", "ptx-ir/src", "ptx-ir/table", "ptx-verify/facts/src", "ptx-emit/src"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "lalrpop") {
            found.push(path);
        }
    }
}

/// The words of a text that look like codes of rules.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| {
        let mut letters = word.chars();
        matches!(letters.next(), Some('P' | 'E' | 'H'))
            && word.len() == 5
            && letters.all(|letter| letter.is_ascii_digit())
    })
}

#[test]
fn crates_below_know_no_rule() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    BELOW.iter().for_each(|folder| sources(&root.join(folder), &mut files));
    assert!(files.len() > 100, "{} files", files.len());
    let mut known = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        known.extend(codes(&text).map(|code| (file.clone(), code.to_owned())));
        // Names of one word are words of the language too.
        let names = ptx_verify::rules().map(|rule| rule.name).filter(|name| name.contains('-'));
        known.extend(
            names
                .filter(|name| text.contains(&format!("\"{name}\"")))
                .map(|name| (file.clone(), name.into())),
        );
    }
    assert_eq!(known, [], "the crate that has the rules makes findings");
}
