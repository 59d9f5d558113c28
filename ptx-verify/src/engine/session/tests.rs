//! What a session finds after each edit is what is found in the text by itself.

use std::fs;
use std::path::Path;

use super::Session;
use crate::engine::check::check;
use crate::engine::levels::Config;
use crate::rule::Level;

/// All rules, those that are off by default among them.
fn all_rules() -> Config {
    let mut config = Config::default();
    for rule in crate::rules() {
        config.levels.set(rule.name, Level::Warn).unwrap();
    }
    config
}

/// Numbers that look random: the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// What an editor may do to a text.
const INSERTED: [&str; 16] = [
    "\n",
    " ",
    ";",
    "ret;",
    "add.u32 %r1, %r1, 1;",
    "}",
    "{",
    "// word\n",
    "bar.sync 0;",
    "/*",
    "%r7",
    "\"",
    "é",
    ".reg .b32 %new;",
    "@%p1 ",
    "call f, (%r1);",
];

fn edited(text: &str, numbers: &mut Numbers) -> String {
    let floor = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let at = floor(numbers.below(text.len() + 1));
    let end = match numbers.below(3) {
        0 => floor((at + numbers.below(12)).min(text.len())).max(at),
        _ => at,
    };
    let inserted =
        if end > at && numbers.below(2) == 0 { "" } else { INSERTED[numbers.below(INSERTED.len())] };
    [&text[..at], inserted, &text[end..]].concat()
}

/// Data files that belong together: several functions, calls, variables, faults.
fn programs() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let read = |rule: &str| {
        let mut files: Vec<_> =
            fs::read_dir(folder.join(rule)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
    };
    let rules =
        ["divergent-barrier", "unset-call-argument", "unused-variable", "operand-type", "carry-undefined"];
    rules.into_iter().flat_map(read).map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn edits_change_what_is_found_in_the_text_by_itself() {
    let config = all_rules();
    for (index, program) in programs().into_iter().enumerate() {
        let mut numbers = Numbers(index as u64);
        let mut session = Session::default();
        let mut text = program.clone();
        for step in 0..25 {
            assert_eq!(
                session.check(&text, &config),
                check(&text, &config),
                "program {index}, step {step}:\n{text}"
            );
            // Most edits break a text; some time after that the author undoes them.
            text = if step % 8 == 7 { program.clone() } else { edited(&text, &mut numbers) };
        }
    }
}

const TEXT: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .func f() { bar.sync 0; ret; }\n\
    .entry a() { .reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 0; @%p call f; ret; }\n\
    .entry b() { .reg .b32 %unused; ret; }\n";

#[test]
fn a_change_of_a_callee_is_seen_in_its_callers() {
    let mut session = Session::default();
    let mut rules = |text: &str| -> Vec<&str> {
        session.check(text, &Config::default()).iter().map(|found| found.rule).collect()
    };
    assert!(rules(TEXT).contains(&"divergent-barrier"));
    assert!(!rules(&TEXT.replace("bar.sync 0; ", "")).contains(&"divergent-barrier"));
    assert!(rules(TEXT).contains(&"divergent-barrier"));
}

#[test]
fn findings_move_with_their_bodies() {
    let config = all_rules();
    let mut session = Session::default();
    let before = session.check(TEXT, &config);
    let longer = TEXT.replace("bar.sync 0;", "bar.sync 0; // one\n\n bar.sync 1;");
    let after = session.check(&longer, &config);
    let unused = |found: &[ptx_syntax::Diagnostic], text: &str| {
        let found = found.iter().find(|found| found.rule == "unused-register").unwrap();
        found.span.text(text).to_owned()
    };
    assert_eq!(unused(&before, TEXT), "%unused");
    assert_eq!(unused(&after, &longer), "%unused");
}

#[test]
fn another_configuration_is_another_verification() {
    let mut session = Session::default();
    assert!(!session.check(TEXT, &all_rules()).is_empty());
    let mut off = Config::default();
    off.levels.set("all", Level::Allow).unwrap();
    assert!(session.check(TEXT, &off).is_empty());
}
