//! Programs that call themselves `ptxas` and misbehave: shell scripts in a temporary folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ptx_emit::assemble::ptxas::SearchPath;
use ptx_emit::assemble::{Error, LogSeverity, Options, Ptxas, Report, Source};
use tempfile::TempDir;

/// Writes an executable script at `path`. A child writes it: what is open for writing in this process is open in
/// every program that another test starts at that moment too, and the kernel executes no file that anybody writes.
fn script(path: &Path, body: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!("#!/bin/sh\n{body}\n");
    let write = ["-c", "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", &text];
    assert!(Command::new("sh").args(write).arg(path).status().unwrap().success());
    path.to_owned()
}

/// Makes the shell function `code`, which prints the smallest cubin: the header of an ELF file for CUDA
/// without sections.
const CODE: &str = r"code() {
  printf '\177ELF\002\001'; head -c 12 /dev/zero; printf '\276\000'; head -c 44 /dev/zero
}";

/// A program that tells a version and otherwise does `body`, in a folder of its own.
fn fake(body: &str) -> (TempDir, Ptxas) {
    let folder = tempfile::tempdir().unwrap();
    let version = "[ \"$1\" = --version ] && { echo 'release 1.2, V1.2.3'; exit 0; }";
    let body = format!("{version}\n{CODE}\n{body}");
    let ptxas = Ptxas::at(script(&folder.path().join("ptxas"), &body)).unwrap();
    (folder, ptxas)
}

fn assemble(ptxas: &Ptxas, options: &Options) -> Result<Report, Error> {
    let text = b".version 8.0\n.target sm_80\n.entry k() { ret; }\n";
    ptxas.assemble(&Source { file: "a.ptx", text }, options).map(|assembly| assembly.report)
}

fn run(body: &str) -> Result<Report, Error> {
    let (_folder, ptxas) = fake(body);
    assemble(&ptxas, &Options::default())
}

/// How a run without a verdict ended, and what it printed.
fn crash(body: &str) -> (String, String) {
    match run(body) {
        Err(Error::Crashed { how, output, .. }) => (how, output),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_well_behaved_program_is_believed() {
    let body = "echo 'ptxas warning : odd' >&2\ncode > output.cubin";
    let report = run(body).unwrap();
    assert!(report.accepted);
    assert_eq!(report.backend_version.as_deref(), Some("1.2.3"));
    assert_eq!((report.log[0].severity, report.log[0].message.as_str()), (LogSeverity::Warning, "odd"));
}

#[test]
fn the_folder_of_a_run_is_private_and_does_not_stay() {
    let body = "umask 0; echo \"ptxas warning : $(ls -ld . | cut -c 1-10) $PWD\" >&2\ncode > output.cubin";
    let report = run(body).unwrap();
    let (mode, folder) = report.log[0].message.split_once(' ').unwrap();
    assert_eq!(mode, "drwx------", "{folder}");
    assert!(Path::new(folder).is_absolute() && !Path::new(folder).exists(), "{folder}");
}

#[test]
fn crashes_are_no_verdict() {
    assert_eq!(crash("kill -SEGV $$").0, "was killed by signal 11");
    assert_eq!(crash("echo 'ptxas a, line 1; error   : x' >&2; kill -ABRT $$").0, "was killed by signal 6");
    assert_eq!(
        crash("echo out of luck >&2; exit 3"),
        ("ended with status 3".to_owned(), "out of luck".to_owned())
    );
    assert_eq!(crash("exit 0").0, "ended with status 0 but wrote no cubin");
    assert_eq!(crash(": > output.cubin").0, "ended with status 0 but wrote no cubin");
    let (how, output) = crash("echo 'ptxas fatal   : (C7600) Internal compiler error' >&2; exit 255");
    assert!(how.ends_with("255") && output.contains("Internal compiler error"));
}

#[test]
fn only_a_cubin_is_taken_for_one() {
    for file in ["printf xx", "printf ''; printf '\\177ELF\\002\\001'", "code | head -c 60"] {
        assert_eq!(
            crash(&format!("{{ {file}; }} > output.cubin")).0,
            "wrote a file that is no cubin",
            "{file}"
        );
    }
}

#[test]
fn nobody_else_can_look_into_the_folder() {
    let report = run("echo \"mode $(stat -c %a . 2>/dev/null || stat -f %Lp .)\" >&2; code > output.cubin");
    assert_eq!(report.unwrap().log[0].message, "mode 700");
}

#[test]
fn contradictions_are_no_verdict() {
    // Errors, yet status 0 and code.
    crash("echo 'ptxas input.ptx, line 1; error   : x' >&2; code > output.cubin");
    // Code, yet a status of failure and no error.
    crash("code > output.cubin; exit 1");
}

#[test]
fn a_program_that_hangs_is_stopped() {
    let start = Instant::now();
    for body in ["exec sleep 60", "exec 1>&- 2>&-; exec sleep 60", "while :; do echo x; done"] {
        let (_folder, ptxas) = fake(body);
        let options = Options { timeout: Duration::from_millis(300), ..Options::default() };
        let error = assemble(&ptxas, &options).unwrap_err();
        assert!(matches!(error, Error::TimedOut { .. }), "{body}: {error}");
        assert_eq!(error.to_string(), "the `ptxas` back end did not finish within 0.3 s and was stopped");
    }
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_grandchild_that_holds_the_output_open_is_not_waited_for() {
    let start = Instant::now();
    let report = run("sleep 30 & code > output.cubin").unwrap();
    assert!(report.accepted && start.elapsed() < Duration::from_secs(15));
}

#[test]
fn output_that_is_not_text_is_kept_apart() {
    let (how, output) = crash("printf '\\377\\376\\000\\033[31mred\\n' >&2; exit 1");
    assert_eq!(how, "ended with status 1");
    assert!(output.ends_with("[31mred") && !output.contains('\u{1b}'), "{output:?}");
    let report = run("printf 'ptxas input.ptx, line 2; error   : bad \\377\\n' >&2; exit 255").unwrap();
    assert_eq!((report.log[0].line, report.log[0].message.as_str()), (Some(2), "bad \u{fffd}"));
}

#[test]
fn huge_logs_are_cut_with_a_word() {
    let line = "ptxas input.ptx, line 7; error   : something is wrong here with an operand";
    let report = run(&format!("yes '{line}' | head -c 40000000 >&2; exit 255")).unwrap();
    assert!(!report.accepted && report.log.len() > 400_000);
    assert!(report.log.last().unwrap().message.ends_with("more bytes of the log were not kept"));
}

#[test]
fn the_file_is_named_as_the_user_named_it() {
    let report = run("echo \"ptxas fatal   : cannot like 'input.ptx'\" >&2; exit 255").unwrap();
    assert_eq!(report.log[0].message, "cannot like 'a.ptx'");
}

#[test]
fn programs_that_tell_no_version() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, body: &str| Ptxas::at(script(&folder.path().join(name), body));
    assert_eq!(at("silent", "exit 0").unwrap().version(), None);
    assert_eq!(at("garbage", "printf '\\377V\\n'").unwrap().version(), None);
    assert!(matches!(at("failing", "exit 1"), Err(Error::Crashed { .. })));
    assert!(matches!(Ptxas::at(folder.path().join("absent")), Err(Error::Io { .. })));
    let not_a_program = folder.path().join("text");
    fs::write(&not_a_program, "\x01\x02").unwrap();
    fs::set_permissions(&not_a_program, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Ptxas::at(not_a_program).unwrap_err();
    assert!(matches!(&error, Error::Io { .. }) && error.to_string().contains("could not run"), "{error}");
}

#[test]
fn search_order_is_ptxas_then_cuda_home_then_path() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let named = script(&root.join("named"), "");
    let home = script(&root.join("home/bin/ptxas"), "");
    let on_path = script(&root.join("path/ptxas"), "");
    fs::create_dir_all(root.join("empty/ptxas")).unwrap();
    fs::create_dir_all(root.join("plain")).unwrap();
    fs::write(root.join("plain/ptxas"), "not executable").unwrap();
    let folders = ["empty", "plain", "path"].map(|name| root.join(name));
    let path = Some(std::env::join_paths(&folders).unwrap());
    let mut search =
        SearchPath { ptxas: Some(named.clone().into()), cuda_home: Some(root.join("home").into()), path };
    assert_eq!(search.find().unwrap(), named);
    search.ptxas = Some("ptxas".into());
    assert_eq!(search.find().unwrap(), on_path, "a bare name is looked up on the path");
    search.ptxas = None;
    assert_eq!(search.find().unwrap(), home);
    search.cuda_home = Some(root.join("empty").into());
    assert_eq!(search.find().unwrap(), on_path);
    search.path = None;
    let error = search.find().unwrap_err().to_string();
    for word in ["`$PTXAS` is not set", "`$CUDA_HOME/bin` has no `ptxas`", "`$PATH`"] {
        assert!(error.contains(word), "{error}");
    }
    search.ptxas = Some(root.join("absent").into());
    let error = search.find().unwrap_err();
    assert!(error.to_string().contains("which is no program") && error.help().is_some(), "{error}");
}
