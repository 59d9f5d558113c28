//! PTX in containers: every command takes its modules.

mod common;

use common::{Answer, GOOD, Scratch, bad};

/// A fat binary with these texts, as they are.
fn fatbin(modules: &[(u32, &str)]) -> Vec<u8> {
    let mut entries = Vec::new();
    for (target, text) in modules {
        let length = (text.len() + 1).next_multiple_of(8);
        let begin = entries.len();
        entries.extend([1, 0, 1, 1]);
        entries.extend(64_u32.to_le_bytes());
        entries.extend((length as u64).to_le_bytes());
        entries.extend([0; 12]);
        entries.extend(target.to_le_bytes());
        entries.resize(begin + 64, 0);
        entries.extend(text.as_bytes());
        entries.resize(begin + 64 + length, 0);
    }
    let mut bytes = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries);
    bytes
}

/// An archive whose members are these texts.
fn archive(members: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, text) in members {
        let name = format!("{name}/");
        bytes.extend(format!("{name:16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, text.len()).bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
    }
    bytes
}

fn two() -> Vec<u8> {
    fatbin(&[(90, GOOD), (80, &bad())])
}

fn files(answer: &Answer) -> Vec<String> {
    let value = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let file = |line| value(line)["file"].as_str().unwrap().to_owned();
    answer.stdout.lines().map(file).collect()
}

#[test]
fn findings_are_named_by_container_and_module() {
    let scratch = Scratch::new();
    scratch.file("lib/k.fatbin", two());
    scratch.file("good.ptx", GOOD);
    scratch.file("broken.ptx.gz", b"\x1f\x8b\x08\0");
    let answer =
        scratch.run(&["verify", "--message-format", "json", "broken.ptx.gz", "lib/k.fatbin", "good.ptx"]);
    // What is broken does not stop the others.
    assert_eq!(answer.status, 2);
    assert_eq!(answer.stderr, "error: cannot read `broken.ptx.gz`: its gzip data are broken or cut off\n");
    assert_eq!(files(&answer), ["lib/k.fatbin!2.sm_80.ptx"]);
    assert!(answer.stdout.contains("\"line\":12,"), "{}", answer.stdout);
    let concise = scratch.run(&["verify", "--message-format", "concise", "lib/k.fatbin"]);
    assert_eq!(concise.status, 1);
    assert!(concise.stdout.starts_with("lib/k.fatbin!2.sm_80.ptx:12:"), "{}", concise.stdout);
    // The name can be given back.
    assert_eq!(scratch.run(&["verify", "lib/k.fatbin!1.sm_90.ptx"]).status, 0);
    assert_eq!(scratch.run(&["verify", "lib/k.fatbin!2.sm_80.ptx"]).status, 1);
    assert_eq!(scratch.run(&["verify", "lib/k.fatbin!3.sm_80.ptx"]).status, 2);
}

#[test]
fn standard_input_may_be_a_container() {
    let scratch = Scratch::new();
    let answer = scratch.run_with(&["verify", "--message-format", "json", "-"], &two());
    assert_eq!(files(&answer), ["<stdin>!2.sm_80.ptx"]);
    assert_eq!(scratch.run_with(&["canonicalize", "-"], &fatbin(&[(90, GOOD)])).status, 0);
}

#[test]
fn commands_of_one_file_take_its_only_module() {
    let scratch = Scratch::new();
    scratch.file("one.fatbin", fatbin(&[(90, GOOD)]));
    scratch.file("two.fatbin", two());
    for command in [&["canonicalize"][..], &["dump", "--needs"], &["loads"]] {
        let answer = scratch.run(&[command, &["one.fatbin"]].concat());
        assert_eq!(answer.status, 0, "{command:?}: {answer:?}");
    }
    let answer = scratch.run(&["canonicalize", "two.fatbin"]);
    assert_eq!(answer.status, 2);
    assert!(
        answer.stderr.contains("has 2 modules; name one of them: `two.fatbin!1.sm_90.ptx`"),
        "{answer:?}"
    );
    assert_eq!(scratch.run(&["canonicalize", "two.fatbin!1.sm_90.ptx"]).status, 0);
}

#[test]
fn members_of_archives_may_be_texts() {
    let scratch = Scratch::new();
    let bad = bad();
    // What it is called does not make it CUDA C++.
    let whole =
        archive(&[("a.o", GOOD), ("read.me", "no PTX"), ("k.cu", &bad), ("a.o", &format!("// x\n{bad}\0"))]);
    scratch.file("whole.a", &whole);
    scratch.file("cut.a", &whole[..whole.len() - 40]);
    scratch.file("thin.a", [b"!<thin>\n", &whole[8..]].concat());
    let concise = |files: &[&str]| {
        let answer = scratch.run(&[&["verify", "--message-format", "concise"], files].concat());
        let places: Vec<String> = answer
            .stdout
            .lines()
            .filter_map(|line| Some(line.split_once(" error")?.0.rsplit_once(':')?.0.to_owned()))
            .map(|place| place.rsplit_once(':').unwrap().0.to_owned())
            .collect();
        (answer.status, places, answer.stderr)
    };
    let (status, places, stderr) = concise(&["whole.a"]);
    assert_eq!((status, stderr.as_str()), (1, ""));
    assert_eq!(places, ["whole.a!k.cu:12", "whole.a!a.o.2:13"]);
    // What is damaged, and what has its members elsewhere, does not stop the others.
    let (status, places, stderr) = concise(&["cut.a", "thin.a", "whole.a!a.o.2"]);
    assert_eq!(status, 2);
    assert_eq!(places, ["cut.a!k.cu:12", "whole.a!a.o.2:13"]);
    assert!(stderr.contains("cannot read `cut.a`: `a.o`: the archive is cut off"), "{stderr}");
    assert!(stderr.contains("cannot read `thin.a`: it is a thin archive"), "{stderr}");
    for command in [&["canonicalize"][..], &["dump", "--needs"], &["loads"]] {
        let answer = scratch.run(&[command, &["whole.a!a.o"]].concat());
        assert_eq!(answer.status, 0, "{command:?}: {answer:?}");
    }
    let told = scratch.run(&["extract", "whole.a", "-o", "out"]);
    assert_eq!(told.status, 0);
    assert_eq!((scratch.read("out/a.o"), scratch.read("out/k.cu")), (GOOD.to_owned(), bad.clone()));
    assert_eq!(scratch.read("out/a.o.2"), format!("// x\n{bad}"));
}

#[test]
fn nothing_is_written_into_a_container() {
    let scratch = Scratch::new();
    let text = GOOD.replace("\t", "");
    let bytes = fatbin(&[(90, &format!("{text}\n"))]);
    scratch.file("k.fatbin", &bytes);
    let format = scratch.run(&["format", "k.fatbin"]);
    assert_eq!(format.status, 2);
    assert!(format.stderr.contains("it is in a container"), "{format:?}");
    assert_eq!(scratch.run(&["format", "--check", "k.fatbin"]).status, 1);
    assert_eq!(std::fs::read(scratch.path().join("k.fatbin")).unwrap(), bytes);
}

#[test]
fn extract_tells_and_writes_modules() {
    let scratch = Scratch::new();
    scratch.file("k.fatbin", two());
    let told = scratch.run(&["extract", "k.fatbin"]);
    assert_eq!(told.status, 0);
    assert_eq!(told.stdout.lines().count(), 2);
    assert!(told.stdout.starts_with("1.sm_90.ptx  sm_90  PTX 8.6  1 kernel, "), "{}", told.stdout);
    let written = scratch.run(&["extract", "k.fatbin", "-o", "a/b"]);
    assert_eq!((written.status, written.stdout.as_str()), (0, ""));
    assert_eq!((scratch.read("a/b/1.sm_90.ptx"), scratch.read("a/b/2.sm_80.ptx")), (GOOD.to_owned(), bad()));
    assert_eq!(std::fs::read_dir(scratch.path().join("a/b")).unwrap().count(), 2);
    scratch.file("k.ptx", GOOD);
    for nothing in ["k.ptx", "missing.so"] {
        let answer = scratch.run(&["extract", nothing, "-o", "none"]);
        assert_eq!(answer.status, 2, "{answer:?}");
        assert!(answer.stderr.contains(nothing) && !scratch.path().join("none").exists(), "{answer:?}");
    }
}

#[test]
fn a_nul_at_the_end_is_removed() {
    let scratch = Scratch::new();
    scratch.file("k.ptx", format!("{GOOD}\0\0\n"));
    assert_eq!(scratch.run(&["verify", "k.ptx"]).status, 1);
    assert_eq!(scratch.run(&["verify", "--fix", "k.ptx"]).status, 0);
    assert_eq!(scratch.read("k.ptx"), GOOD);
    scratch.file("k.ptx", GOOD.replace("ret;", "ret;\0"));
    assert_eq!(scratch.run(&["verify", "--fix", "k.ptx"]).status, 1);
}
