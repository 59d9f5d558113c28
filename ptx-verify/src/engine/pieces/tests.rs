//! The findings in a text in pieces are those in the whole text, for any number of threads.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::found as found_by;
use crate::engine::check::{check_whole, complete};
use crate::engine::levels::Config;
use crate::rule::Level;
use ptx_syntax::Diagnostic;

/// A configuration in which all rules are asked.
fn all_rules() -> Config {
    let mut config = Config::default();
    for rule in crate::rules() {
        config.levels.set(rule.name, Level::Warn).unwrap();
    }
    config
}

/// The findings; none where the text has no pieces.
fn same_findings(text: &str) -> Option<Vec<Diagnostic>> {
    let config = all_rules();
    let whole = check_whole(text, &config);
    for threads in [1, 2, 7] {
        let found = complete(text, &config, false, found_by(threads, text, &config)?);
        assert_eq!(found, whole, "with {threads} threads");
    }
    Some(whole)
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            out.push(path);
        }
    }
}

#[test]
fn the_data_files_have_the_same_findings() {
    let mut paths = Vec::new();
    for folder in ["cases", "kernels"] {
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(folder), &mut paths);
    }
    let mut in_pieces = 0;
    for path in &paths {
        let text = fs::read(path).unwrap();
        in_pieces += usize::from(same_findings(&String::from_utf8_lossy(&text)).is_some());
    }
    assert!(in_pieces > paths.len() * 4 / 5, "{in_pieces} of {}", paths.len());
}

/// A number below `limit`, and the next state.
fn below(state: &mut u64, limit: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % limit.max(1)
}

#[test]
fn data_files_with_lines_moved_have_the_same_findings() {
    const VARIANTS: usize = 2;
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases"), &mut paths);
    paths.sort();
    let (mut state, mut in_pieces) = (1, 0);
    for path in &paths {
        let text = fs::read(path).unwrap();
        let text = String::from_utf8_lossy(&text);
        for _ in 0..VARIANTS {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            for _ in 0..=below(&mut state, 3) {
                let (from, to) = (below(&mut state, lines.len()), below(&mut state, lines.len()));
                match below(&mut state, 3) {
                    0 => lines.swap(from, to),
                    1 => lines.insert(to, lines[from]),
                    _ => {
                        lines.remove(from);
                    }
                }
                if lines.is_empty() {
                    break;
                }
            }
            in_pieces += usize::from(same_findings(&lines.concat()).is_some());
        }
    }
    // Nearly half of the texts still parse.
    let texts = paths.len() * VARIANTS;
    assert!(in_pieces > texts * 2 / 5, "{in_pieces} of {texts} in pieces");
}

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn found(text: &str) -> Vec<&'static str> {
    let found = same_findings(&format!("{HEADER}{text}")).unwrap();
    found.into_iter().map(|found| found.rule).collect()
}

#[test]
fn what_a_body_names_is_used_for_the_module() {
    let text = |body: &str| {
        format!(
            ".global .b32 a;\n.shared .b32 s<4>;\n.func f() {{ .local .b32 unused; .local .b32 v<3>; ret; }}\n\
             .entry k() {{ .reg .b32 %r; {body} ret; }}\n"
        )
    };
    let unused = |text: &str| found(text).into_iter().filter(|rule| rule.starts_with("unused-")).count();
    assert_eq!(unused(&text("")), 6);
    assert_eq!(unused(&text("ld.global.b32 %r, [a]; ld.shared.b32 %r, [s3]; call f;")), 2);
}

#[test]
fn what_a_callee_does_is_known_before_and_after_its_definition() {
    let callee =
        ".func f(.param .b32 p, .param .b32 q) { .reg .b32 %a; ld.param.b32 %a, [q]; bar.sync 0; ret; }\n";
    let caller = ".entry k(.param .b32 n) {\n\
                  .reg .pred %p; .reg .b32 %r<3>; .param .b32 x; .param .b32 y;\n\
                  mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 0;\n\
                  @%p call f, (x, y);\n ret; }\n";
    let declared = ".func f(.param .b32 p, .param .b32 q);\n";
    let expected = ["unset-call-argument", "divergent-barrier"];
    for text in [format!("{callee}{caller}"), format!("{declared}{caller}{callee}")] {
        let found = found(&text);
        assert!(expected.iter().all(|rule| found.contains(rule)), "{found:?}");
    }
}

#[test]
fn functions_that_call_each_other_need_the_same_whoever_asks_first() {
    let mut text = String::new();
    for index in 0..40 {
        writeln!(text, ".func f{index}(.reg .b32 %n);").unwrap();
    }
    for index in 0..40 {
        let (next, other) = ((index * 7 + 1) % 40, (index * 3 + 2) % 40);
        let barrier = if index % 5 == 0 { "bar.sync 0;" } else { "" };
        writeln!(
            text,
            ".func f{index}(.reg .b32 %n) {{ .reg .pred %p; setp.eq.u32 %p, %n, 0; {barrier}\n\
             call f{next}, (%n); @%p call f{other}, (%n); ret; }}"
        )
        .unwrap();
        writeln!(
            text,
            ".entry k{index}() {{ .reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 0;\n\
             @%p call f{index}, (%r); ret; }}"
        )
        .unwrap();
    }
    assert!(found(&text).contains(&"divergent-barrier"));
}

#[test]
fn oddities_between_items_are_seen() {
    let found = found(
        "// ptx-allow: unused-register\n.func f() { .reg .b32 %r; } /* } */ // ptx-allow-file: unused-function\n\
         .func g (.reg .u32 %x)\n.func h() { .pragma \"nonsense }\"; ret; }\n\
         .section .debug_info { .b8 1, 2\nL: .b32 L }\n.alias g, h;\n.file 1 \"a.cu\"\n",
    );
    assert!(!found.contains(&"unused-register"), "{found:?}");
}

#[test]
fn broken_texts_have_no_pieces() {
    for text in [".entry k() { add.u32 ; ", ".entry k() { add.u32 %r,, 1; }", ".entry k() { } }", "\u{0}"] {
        assert_eq!(same_findings(&format!("{HEADER}{text}")), None, "{text}");
    }
    assert!(same_findings("").is_some());
}
