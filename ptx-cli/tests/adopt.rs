//! Beginning with a project that has findings: statistics, suppressions, a baseline, overrides, a configuration that
//! extends another; and what installs with the program: completions, manual pages, the schema.

mod common;

use common::{GOOD, Scratch, bad};
use serde_json::Value;

/// A kernel with a register of the wrong type on two equal lines.
fn old() -> String {
    let wrong = "\tadd.u32 %r1, %r1, %f1;\n";
    let body = format!("\t.reg .f32 %f<2>;\n\tmov.u32 %r1, 7;\n\tmov.f32 %f1, 0f00000000;\n{wrong}{wrong}");
    GOOD.replace("\tmov.u32 %r1, 7;\n", &body)
}

fn findings(scratch: &Scratch, arguments: &[&str]) -> Vec<String> {
    let all = [&["verify", "--message-format", "json"], arguments].concat();
    let rule = |line: &str| serde_json::from_str::<Value>(line).unwrap()["rule"].as_str().unwrap().to_owned();
    scratch.run(&all).stdout.lines().map(rule).collect()
}

#[test]
fn statistics_count_the_findings_of_each_rule() {
    let scratch = Scratch::new();
    scratch.file("a.ptx", old());
    scratch.file("b.ptx", old());
    scratch.file("c.ptx", bad());
    let table = scratch.run(&["verify", "--statistics", "."]);
    assert_eq!(table.status, 1);
    assert_eq!(
        table.stdout,
        "4  error    P0205  operand-type  in 2 files\n1  error    P0102  syntax        in 1 file\n"
    );
    assert!(table.stderr.contains("5 errors"), "{table:?}");
    let json = scratch.run(&["verify", "--statistics", "--message-format", "json", "a.ptx"]);
    let first: Value = serde_json::from_str(json.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((first["rule"].as_str(), first["findings"].as_u64()), (Some("operand-type"), Some(2)));
    let wrong = scratch.run(&["verify", "--statistics", "--message-format", "sarif", "."]);
    assert_eq!(wrong.status, 2);
}

#[test]
fn suppressions_are_added_where_they_can_be() {
    let scratch = Scratch::new();
    scratch.file("a.ptx", old());
    let answer = scratch.run(&["verify", "--add-suppressions", "a.ptx"]);
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(answer.stderr.contains("2 findings suppressed; then no findings"), "{answer:?}");
    let text = scratch.read("a.ptx");
    assert_eq!(text.matches("add.u32 %r1, %r1, %f1;  // ptx-allow: operand-type\n").count(), 2, "{text}");
    assert_eq!(scratch.run(&["verify", "a.ptx"]).status, 0);
    // A second time there is nothing to do.
    scratch.run(&["verify", "--add-suppressions", "a.ptx"]);
    assert_eq!(scratch.read("a.ptx"), text);
    // A finding in a string of C++ has no place for a comment: it is still told, and the file is as it was.
    let raw = "__device__ int f(int a) {\n  int b;\n  asm(R\"(\n    add.s32 %0, %1;\n  )\" : \"=r\"(b) : \"r\"(a));\n  return b;\n}\n";
    scratch.file("raw.cu", raw);
    let answer = scratch.run(&["verify", "--add-suppressions", "raw.cu"]);
    assert_eq!((answer.status, scratch.read("raw.cu").as_str()), (1, raw), "{answer:?}");
    assert!(answer.stdout.contains("raw.cu:4"), "{answer:?}");
    // From standard input to standard output, with the findings elsewhere.
    let piped = scratch.run_with(&["verify", "--add-suppressions", "-"], old().as_bytes());
    assert_eq!(piped.stdout, text);
}

#[test]
fn a_baseline_has_what_is_known() {
    let scratch = Scratch::new();
    scratch.file("src/a.ptx", old());
    let written = scratch.run(&["verify", "--write-baseline", "known.json", "src"]);
    assert_eq!((written.status, written.stdout.as_str()), (0, ""), "{written:?}");
    let known = scratch.read("known.json");
    assert_eq!(known.lines().count(), 3, "{known}");
    assert!(
        known.contains(
            r#""file":"src/a.ptx","rule":"operand-type","line":"add.u32 %r1, %r1, %f1;","count":2"#
        )
    );
    let answer = scratch.run(&["verify", "--baseline", "known.json", "src"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, ""), "{answer:?}");
    assert!(
        answer.stderr.contains("no findings in 1 file, besides 2 findings of the baseline"),
        "{answer:?}"
    );
    // From another folder and by another name it is the same file; lines may move.
    scratch.file("src/a.ptx", format!("// a comment\n{}", old()));
    let absolute = scratch.path().join("src/a.ptx");
    let answer = scratch.run(&["verify", "--baseline", "known.json", absolute.to_str().unwrap()]);
    assert_eq!(answer.status, 0, "{answer:?}");
    // What is new is told: a third equal line, and another rule.
    let more = old().replacen("\tadd.u32", "\tadd.u32 %r1, %r1, %f1;\n\tadd.u32", 1);
    scratch.file("src/a.ptx", more.replace("ret;", "ret"));
    assert_eq!(findings(&scratch, &["--baseline", "known.json", "src"]).len(), 2);
    // What is gone is told too.
    scratch.file("src/a.ptx", GOOD);
    let answer = scratch.run(&["verify", "--baseline", "known.json", "src"]);
    assert!(answer.stderr.contains("2 findings of the baseline are gone"), "{answer:?}");
    for (text, told) in [("{}", "missing field"), ("{\"version\": 9, \"findings\": []}", "its version is 9")]
    {
        scratch.file("wrong.json", text);
        let answer = scratch.run(&["verify", "--baseline", "wrong.json", "src"]);
        assert_eq!(answer.status, 2);
        assert!(answer.stderr.contains("wrong.json") && answer.stderr.contains(told), "{answer:?}");
    }
}

#[test]
fn overrides_and_extended_files_are_heeded() {
    let scratch = Scratch::new();
    scratch.file("ptx.toml", "[[overrides]]\nfiles = [\"gen/\"]\nrules = { operand-type = \"allow\" }\n");
    scratch.file("gen/a.ptx", old());
    scratch.file("hand/a.ptx", old());
    assert!(findings(&scratch, &["gen"]).is_empty());
    assert_eq!(findings(&scratch, &["hand"]).len(), 2);
    assert_eq!(findings(&scratch, &["--error", "operand-type", "gen"]).len(), 2);
    scratch.file("hand/ptx.toml", "extend = \"../ptx.toml\"\nrules.invalid = \"allow\"\n");
    assert!(findings(&scratch, &["hand", "gen"]).is_empty());
    scratch.file("ptx.toml", "\n[[overrides]]\nfiles = [\"gen/\"]\nrules.operand-typ = \"allow\"\n");
    let answer = scratch.run(&["verify", "gen"]);
    assert_eq!(answer.status, 2);
    assert!(answer.stderr.contains("in line 4: there is no rule `operand-typ`"), "{answer:?}");
}

#[test]
fn the_schema_is_that_of_the_repository() {
    let printed = Scratch::new().run(&["schema"]).stdout;
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/ptx.schema.json");
    assert_eq!(printed, std::fs::read_to_string(kept).unwrap());
}

#[test]
fn shells_and_man_get_what_they_read() {
    let scratch = Scratch::new();
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef ptx-cli"),
        ("fish", "complete -c ptx-cli"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = scratch.run(&["completions", shell]).stdout;
        assert!(script.contains(word) && script.contains("add-suppressions"), "{shell}");
        assert!(!script.contains("driver-process"), "{shell} is told of a command that users do not see");
    }
    let page = scratch.run(&["man"]).stdout;
    assert!(page.contains(".TH ptx-cli 1") && page.contains("ptx\\-cli\\-verify(1)"), "{page}");
    let page = scratch.run(&["man", "verify"]).stdout;
    assert!(page.contains(".TH ptx-cli-verify 1") && page.contains("\\-\\-add\\-suppressions"), "{page}");
    assert_eq!(scratch.run(&["man", "nothing"]).status, 2);
    assert_eq!(scratch.run(&["man", "--out", "pages"]).status, 0);
    let pages = std::fs::read_dir(scratch.path().join("pages")).unwrap().count();
    assert!(pages > 10 && scratch.read("pages/ptx-cli-report.1").contains("max\\-registers"));
}

#[test]
fn the_version_has_the_commit_of_a_clone() {
    let version = Scratch::new().run(&["--version"]).stdout;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = std::process::Command::new("git")
        .args(["log", "-1", "--format=%h", "--abbrev=9"])
        .current_dir(folder)
        .output();
    let clone = output
        .ok()
        .filter(|output| output.status.success() && std::path::Path::new(folder).join(".git").exists());
    let expected = match &clone {
        Some(output) => format!(
            "ptx-cli {} ({} ",
            env!("CARGO_PKG_VERSION"),
            String::from_utf8_lossy(&output.stdout).trim()
        ),
        None => format!("ptx-cli {}\n", env!("CARGO_PKG_VERSION")),
    };
    assert!(version.starts_with(&expected), "{version} is not {expected}");
}
