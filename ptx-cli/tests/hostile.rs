//! What strangers write never reaches a terminal or a log as they wrote it: neither control characters nor
//! commands to the runner of a CI job, in any output format of any command.
#![cfg(unix)]

mod common;
#[path = "common/executable.rs"]
mod executable;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{GOOD, Scratch, bad};

/// Names of files as only an attacker chooses them.
const NAMES: [&[u8]; 9] = [
    b"x\n::warning file=a,line=1::injected\n.ptx",
    b"::error::injected.ptx",
    b" ::error::injected.ptx",
    b"##[error]injected.ptx",
    b"##vso[task.complete]injected.ptx",
    b"e\x1b]0;title\x07\x1b[2J\r.ptx",
    "c\u{9b}2J\u{85}.ptx".as_bytes(),
    "b\u{202e}\u{2066}\u{200f}.ptx".as_bytes(),
    b"n\xff\xfe\x9b2J\x7f.ptx",
];

/// A piece of text that must never be printed as it is.
const HOSTILE: &str = "\x1b[2J\x07\u{9b}1A\u{202e}\x7f\u{2028}##[error]injected";

/// Whether a terminal or a runner would act on `line`.
fn acts(line: &str, github: bool) -> bool {
    let unsafe_character = |each: char| {
        each.is_control() && each != '\t'
            || matches!(each, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let command = line.trim_start().starts_with("::") && !(github && own_command(line));
    line.contains(unsafe_character) || command || line.contains("##[") || line.contains("##vso[")
}

/// Whether the line is an annotation that the program itself makes.
fn own_command(line: &str) -> bool {
    let rest = ["::error ", "::warning ", "::notice "].iter().find_map(|head| line.strip_prefix(head));
    rest.and_then(|rest| rest.split_once("::")).is_some_and(|(properties, _)| {
        properties.starts_with("file=") && properties.contains(",line=") && properties.contains(",title=")
    })
}

/// Runs the program and checks both of its streams.
fn assert_harmless(scratch: &Scratch, arguments: &[&OsStr], stdin: &[u8], ptxas: Option<&Path>) {
    let mut command = scratch.command(&[]);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(ptxas) = ptxas {
        command.env("PTXAS", ptxas);
    }
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // The program may end without reading its input.
    let _ = std::io::Write::write_all(&mut input, stdin);
    drop(input);
    let output = child.wait_with_output().unwrap();
    let status = output.status.code();
    assert!(status.is_some_and(|status| (0..=2).contains(&status)), "{arguments:?}: {output:?}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("internal error"), "{arguments:?}: {errors}");
    let github = arguments.contains(&OsStr::new("github"));
    for stream in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(stream).unwrap_or_else(|_| panic!("{arguments:?}: no UTF-8"));
        for line in text.split('\n') {
            assert!(!acts(line, github), "{arguments:?}: {line:?}");
        }
    }
}

fn os(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// Runs the program with `words` and then `path`.
fn assert_harmless_on(scratch: &Scratch, words: &[&str], path: &OsStr, ptxas: Option<&Path>) {
    let mut arguments = os(words);
    arguments.push(path.to_owned());
    let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    assert_harmless(scratch, &arguments, b"", ptxas);
}

/// Every command that reads a file, in every format, and prints something other than a document.
const READERS: [&[&str]; 15] = [
    &["verify", "--message-format", "full"],
    &["verify", "--message-format", "concise"],
    &["verify", "--message-format", "json"],
    &["verify", "--message-format", "github"],
    &["verify", "--message-format", "sarif"],
    &["verify", "--target", "sm_20,sm_90", "--message-format", "full"],
    &["format", "--check"],
    &["dump", "--tokens"],
    &["dump", "--ast"],
    &["dump", "--ir"],
    &["dump", "--cfg"],
    &["dump", "--cfg", "--dot"],
    &["dump", "--facts"],
    &["dump", "--needs"],
    &["canonicalize", "-o", "/dev/null"],
];

/// An assembler that says hostile things about the file and refuses it.
fn hostile_ptxas(scratch: &Scratch) -> PathBuf {
    let said = format!("ptxas /tmp/x.ptx, line 3; error   : {HOSTILE}\\n::warning::injected\\n");
    let path = scratch.path().join("ptxas");
    let script = format!("#!/bin/sh\nprintf '%b' '{said}' >&2\nprintf '%b' '{said}'\nexit 255\n");
    executable::write(&path, script.as_bytes());
    path
}

#[test]
fn names_of_files_are_shown_harmlessly() {
    let scratch = Scratch::new();
    let ptxas = hostile_ptxas(&scratch);
    for contents in [
        bad().into_bytes(),
        b"\x7fELF".to_vec(),
        GOOD.replace("\tmov.u32 %r1, 7;", "mov.u32 %r1,7;").into_bytes(),
    ] {
        for name in NAMES {
            let name = OsStr::from_bytes(name);
            std::fs::write(scratch.path().join(name), &contents).unwrap();
            for reader in READERS {
                assert_harmless_on(&scratch, reader, name, None);
            }
            for command in
                [&["report"][..], &["report", "--message-format", "json"], &["assemble", "-o", "out"]]
            {
                assert_harmless_on(&scratch, command, name, Some(&ptxas));
            }
            assert_harmless_on(&scratch, &["verify", "-", "--stdin-filename"], name, None);
        }
        for reader in [&READERS[..5], &[&["format"][..]]].concat() {
            assert_harmless_on(&scratch, reader, OsStr::new("."), None);
        }
    }
}

#[test]
fn names_that_do_not_exist_are_shown_harmlessly() {
    let scratch = Scratch::new();
    for name in NAMES {
        let name = OsStr::from_bytes(name);
        for reader in READERS {
            assert_harmless_on(&scratch, reader, name, None);
        }
        for words in [
            &["explain"][..],
            &["isa"],
            &["nonsense"],
            &[],
            &["verify", "--config"],
            &["verify", "--jobs"],
            &["verify", "--target"],
            &["verify", "--ptx-version"],
            &["verify", "--error"],
            &["verify", "--allow"],
            &["verify", "--compiler"],
            &["verify", "--message-format"],
            &["verify", "--color"],
            &["report", "--backend"],
            &["report", "--baseline"],
            &["report", "--max-registers"],
            &["rules", "--message-format"],
            &["canonicalize", "--output"],
            &["help"],
            &["lsp"],
        ] {
            assert_harmless_on(&scratch, words, name, None);
        }
        let option = OsString::from_vec([b"--", name.as_bytes()].concat());
        assert_harmless_on(&scratch, &["verify"], &option, None);
        assert_harmless_on(&scratch, &["report"], OsStr::new("."), Some(Path::new(name)));
    }
}

/// Sources in which every kind of token, and what is quoted of it, is hostile.
fn hostile_sources() -> Vec<(&'static str, String)> {
    let mut sources = Vec::new();
    for template in [
        "@",
        "// @\n::warning::injected\n",
        ".version 8.6 @\n",
        ".version 8.6\n.target sm_90@\n",
        ".version 8.6\n.target sm_90, \"@\"\n.entry k@(.param .u32 @) { @: ret@; bra @; }\n",
        ".version 8.6\n.target sm_90\n.pragma \"@\";\n.entry k() { .pragma \"@\"; ret; }\n",
        ".version 8.6\n.target sm_90\n.file 1 \"@\"\n.section .debug_@ { .b8 @ }\n",
        ".version 8.6\n.target sm_90\n.entry k() {\n\tadd.u32 %r1, @%r2, 3; // @\n\tadd.@ %r1, 1@;\n\t\"@\n\" ret; }\n",
        ".version 8.6\n.target sm_90\n.entry k() {\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, %r2;\t// @\n/* @\n::error::injected */ ret; }\n",
    ] {
        sources.push(("k.ptx", template.replace('@', HOSTILE)));
    }
    for template in [
        "__device__ void f(int& x) { asm(\"@ %0, %1;\" : \"=r\"(x) : \"@\"(x)); }\n",
        "__device__ void f(int& x) { asm(\"add.u32 %0, %0, %0; // @\" : \"=r\"(x@) @); }\n",
        "#define M(x) asm(\"@\" x)\nvoid f() { M(\"add.@;\"); }\n",
        "#if @\n#include \"@\"\nvoid f() { asm volatile(\"mov.u32 %r1, %0; /* @\n */\" :: \"r\"(a@)); }\n#endif\n",
    ] {
        sources.push(("k.cu", template.replace('@', HOSTILE)));
    }
    sources
}

#[test]
fn contents_of_files_are_shown_harmlessly() {
    let scratch = Scratch::new();
    let ptxas = hostile_ptxas(&scratch);
    for (name, source) in hostile_sources() {
        scratch.file(name, source);
        let name = OsStr::new(name);
        for reader in READERS {
            assert_harmless_on(&scratch, reader, name, None);
        }
        assert_harmless_on(&scratch, &["verify", "--fix", "--unsafe-fixes"], name, None);
        assert_harmless_on(&scratch, &["report"], name, Some(&ptxas));
    }
}

#[test]
fn contents_of_configurations_are_shown_harmlessly() {
    let scratch = Scratch::new();
    scratch.file("k.ptx", bad());
    let escaped = r"\u001b[2J\u009b\u202e\n::warning::injected\n##[error]injected";
    for template in [
        "@",
        "\"@\" = 1",
        "exclude = [\"@\", \"[z-a]@\"]",
        "exclude = \"@\"",
        "[rules]\n\"@\" = \"warn\"",
        "[rules]\nsyntax = \"@\"",
        "[ptx]\ntarget = \"@\"",
        "[ptx]\nversion = \"@\"",
        "[cuda]\ntargets = [\"@\"]",
        "[cuda]\ncompiler = \"@\"",
        "# @\n[cuda\n",
    ] {
        for hostile in [escaped, HOSTILE, "\n::warning::injected\n"] {
            scratch.file("ptx.toml", template.replace('@', hostile));
            for reader in &READERS[..5] {
                assert_harmless_on(&scratch, reader, OsStr::new("k.ptx"), None);
            }
        }
    }
    std::fs::remove_file(scratch.path().join("ptx.toml")).unwrap();
    scratch.file("figures.json", format!("{{\"{HOSTILE}\": \"{escaped}\"}}"));
    assert_harmless_on(&scratch, &["report", "--baseline", "figures.json"], OsStr::new("k.ptx"), None);
}

#[test]
fn differences_name_every_file_on_one_line_that_patch_reads() {
    let scratch = Scratch::new();
    let untidy = GOOD.replace("\tmov.u32 %r1, 7;", "mov.u32 %r1,7;");
    for name in NAMES {
        std::fs::write(scratch.path().join(OsStr::from_bytes(name)), &untidy).unwrap();
    }
    let answer = scratch.run(&["format", "--diff", "."]);
    assert_eq!(answer.status, 1);
    let headers = answer.stdout.lines().filter(|line| line.starts_with("--- ")).count();
    assert_eq!(headers, NAMES.len(), "{}", answer.stdout);
    for line in answer.stdout.lines() {
        assert!(!acts(line, false) || line.contains("##"), "{line:?}");
    }
}
