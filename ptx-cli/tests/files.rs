//! Files that are written: signals, owners, links, and others who write at the same time.
#![cfg(unix)]

mod common;
#[path = "common/executable.rs"]
mod executable;
#[path = "common/signals.rs"]
mod signals;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{GOOD, Scratch};

/// A kernel that `format` changes.
fn untidy() -> String {
    GOOD.replace("\tmov.u32 %r1, 7;", "mov.u32 %r1,7;")
}

/// What `format` makes of [`untidy`].
fn tidy(scratch: &Scratch) -> String {
    scratch.run_with(&["format", "-"], untidy().as_bytes()).stdout
}

/// An untidy module of about so many bytes.
fn large(bytes: usize) -> String {
    let (head, tail) =
        untidy().split_once("mov.u32 %r1,7;").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    head + &"mov.u32 %r1,7;\n".repeat(bytes / 15) + &tail
}

fn start(scratch: &Scratch, arguments: &[&str]) -> Child {
    let mut command = scratch.command(arguments);
    signals::heeded(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(name: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.is_ok());
}

fn temporary_files(folder: &Path) -> Vec<std::ffi::OsString> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".ptx-cli-")).collect()
}

/// Sends signals to a program that changes 60 files, `rounds` times; says how often it came in time. Each file is as it
/// was or as it is to be, and nothing is beside them.
fn interrupted(arguments: &[&str], extension: &str, before: &str, after: &str, rounds: u64) -> usize {
    assert_ne!(before, after);
    let scratch = Scratch::new();
    let folder = scratch.path().join("d");
    let mut interrupted = 0;
    for round in 0..rounds {
        for file in 0..60 {
            scratch.file(&format!("d/{file}.{extension}"), before);
        }
        let (name, number) = [("TERM", 15), ("INT", 2), ("HUP", 1)][round as usize % 3];
        let mut child = start(&scratch, arguments);
        // Some rounds are interrupted as soon as the first temporary file is seen, others at any time.
        let started = Instant::now();
        while round % 2 == 0 && temporary_files(&folder).is_empty() && started.elapsed().as_secs() < 5 {
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
        sleep(Duration::from_millis(round % 2 * round));
        signal(name, &child);
        let status = child.wait().unwrap();
        assert_eq!(temporary_files(&folder), Vec::<std::ffi::OsString>::new(), "round {round}");
        assert!(status.signal() == Some(number) || status.success(), "{status:?}");
        interrupted += usize::from(status.signal().is_some());
        for file in 0..60 {
            let text = scratch.read(&format!("d/{file}.{extension}"));
            assert!(text == after || text == before, "{text}");
        }
    }
    interrupted
}

#[test]
fn a_signal_leaves_whole_files_and_nothing_beside_them() {
    let tidy = tidy(&Scratch::new());
    let count = interrupted(&["format", "-j2", "d"], "ptx", &untidy(), &tidy, 24);
    assert!(count > 4, "{count} of 24 rounds were interrupted");
}

#[test]
fn a_signal_leaves_whole_files_where_they_are_fixed() {
    let source = fixable(10);
    let by_filter = ["verify", "--fix", "--stdin-filename", "k.cu", "-"];
    let fixed = Scratch::new().run_with(&by_filter, source.as_bytes()).stdout;
    let count = interrupted(&["verify", "--fix", "-j2", "d"], "cu", &source, &fixed, 12);
    assert!(count > 2, "{count} of 12 rounds were interrupted");
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let scratch = Scratch::new();
    let program = env!("CARGO_BIN_EXE_ptx-cli");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT; exec \"$0\" verify -", program]).current_dir(scratch.path());
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The handlers are installed long before the input has ended.
    sleep(Duration::from_millis(300));
    signal("HUP", &child);
    signal("INT", &child);
    sleep(Duration::from_millis(100));
    child.stdin.take().unwrap().write_all(GOOD.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// How somebody else writes a text to a file.
type Save<'a> = &'a dyn Fn(&Path, &str);

/// Starts the program on a file and saves that file as `save` does until the program has ended. Returns
/// how it ended, what it said, and what was saved last.
fn saved_meanwhile(
    scratch: &Scratch,
    arguments: &[&str],
    source: &str,
    save: Save<'_>,
) -> (ExitStatus, String, String) {
    let name = arguments.last().unwrap();
    let path = scratch.file(name, source);
    let mut child = start(scratch, arguments);
    // It has read the file by then, and works on it for much longer.
    sleep(Duration::from_millis(30));
    let mut last = source.to_owned();
    let mut count = 0;
    while child.try_wait().unwrap().is_none() {
        count += 1;
        last = format!("{source}// saved {count}\n");
        save(&path, &last);
        sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().unwrap();
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned(), last)
}

/// CUDA C++ with many fixes that are certain.
fn fixable(functions: usize) -> String {
    let function = |number: usize| {
        format!(
            "__device__ void f{number}(unsigned& lo, unsigned& hi, unsigned a, unsigned b) {{\n    \
             asm(\"mul.lo.u32 %0, %2, %3;\\n\\t\"\n        \
             \"mul.hi.u32 %1, %2, %3;\" : \"=r\"(lo), \"=r\"(hi) : \"r\"(a), \"r\"(b));\n}}\n"
        )
    };
    (0..functions).map(function).collect()
}

#[test]
fn what_an_editor_saves_meanwhile_is_not_overwritten() {
    let by_renaming = |path: &Path, text: &str| {
        let new = path.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, path).unwrap();
    };
    // The text only grows, so the file is whole at any time.
    let in_place = |path: &Path, text: &str| {
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, text.as_bytes(), 0).unwrap();
    };
    let saves: [Save<'_>; 2] = [&by_renaming, &in_place];
    let format = (&["format", "k.ptx"][..], large(1_500_000));
    let fix = (&["verify", "--message-format", "concise", "--fix", "k.cu"][..], fixable(800));
    for (arguments, source) in [format, fix] {
        let name = arguments.last().unwrap();
        for save in saves {
            let scratch = Scratch::new();
            let (status, said, last) = saved_meanwhile(&scratch, arguments, &source, save);
            assert!(scratch.read(name) == last, "{arguments:?}: what was saved is lost; {said}");
            assert_eq!(status.code(), Some(2), "{said}");
            let expected = "it was changed in the meantime, so nothing is written\n";
            assert!(said.starts_with(&format!("error: cannot write `{name}`: {expected}")), "{said}");
            assert!(temporary_files(scratch.path()).is_empty());
        }
    }
}

#[test]
fn owner_group_and_mode_stay() {
    let scratch = Scratch::new();
    let path = scratch.file("k.ptx", untidy());
    let is_root = fs::metadata("/proc/self").is_ok_and(|of| of.uid() == 0);
    if is_root {
        chown(&path, Some(65534), Some(65533)).unwrap();
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    let stamp = |of: fs::Metadata| (of.uid(), of.gid(), of.mode());
    let before = stamp(fs::metadata(&path).unwrap());
    assert_eq!(scratch.run(&["format", "k.ptx"]).status, 0);
    assert_eq!(scratch.read("k.ptx"), tidy(&scratch));
    assert_eq!(stamp(fs::metadata(&path).unwrap()), before);
}

#[test]
#[cfg_attr(no_superuser, ignore = "needs the superuser, who alone can start a program as somebody else")]
fn an_owner_that_cannot_be_kept_is_told() {
    let scratch = Scratch::new();
    // Everybody may write here, and what is here belongs to the superuser.
    let path = scratch.file("d/k.ptx", untidy());
    for (path, mode) in [(scratch.path(), 0o755), (path.parent().unwrap(), 0o777), (&path, 0o666)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    // A copy, since the program itself may lie where others cannot reach it.
    let program = scratch.path().join("ptx-cli");
    executable::write(&program, &fs::read(env!("CARGO_BIN_EXE_ptx-cli")).unwrap());
    let mut command = Command::new(&program);
    let output =
        command.args(["format", "d/k.ptx"]).current_dir(scratch.path()).uid(65534).gid(65534).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("its owner 0 and group 0 would be lost: operation not permitted"), "{said}");
    assert_eq!(scratch.read("d/k.ptx"), untidy());
    assert!(temporary_files(path.parent().unwrap()).is_empty());
}

#[test]
fn a_file_with_a_second_name_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.file("k.ptx", untidy());
    fs::hard_link(&path, scratch.path().join("second.ptx")).unwrap();
    for command in [&["format", "k.ptx"][..], &["format", "."]] {
        let answer = scratch.run(command);
        assert_eq!(answer.status, 2);
        assert!(answer.stderr.contains("cannot write `k.ptx`: it has 2 hard links"), "{}", answer.stderr);
        assert_eq!(scratch.read("second.ptx"), untidy());
        assert_eq!(fs::metadata(&path).unwrap().nlink(), 2);
    }
    // Looking does no harm.
    assert_eq!(scratch.run(&["format", "--check", "k.ptx"]).status, 1);
}

#[test]
fn two_names_of_one_file_are_no_quarrel() {
    let scratch = Scratch::new();
    scratch.file("k.ptx", untidy());
    std::os::unix::fs::symlink("k.ptx", scratch.path().join("l.ptx")).unwrap();
    let absolute = scratch.path().join("k.ptx");
    let absolute = absolute.to_str().unwrap();
    let answer = scratch.run(&["format", "k.ptx", "./k.ptx", absolute, "l.ptx", "-j4"]);
    assert_eq!(answer.status, 0, "{answer:?}");
    assert_eq!(scratch.read("k.ptx"), tidy(&scratch));
    let verified = scratch.run(&["verify", "k.ptx", "./k.ptx", absolute]);
    assert!(verified.stderr.ends_with("in 1 file\n"), "{}", verified.stderr);
}

#[test]
fn every_file_that_is_walked_has_a_verdict_or_a_sentence() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let name = |bytes: &[u8]| scratch.path().join(std::ffi::OsStr::from_bytes(bytes));
    fs::write(name(b"a\xfe.ptx"), GOOD).unwrap();
    fs::write(name(b"a\xff.ptx"), "garbage").unwrap();
    let answer = scratch.run(&["verify", "--message-format", "concise", "."]);
    assert_eq!(answer.status, 1, "{answer:?}");
    assert!(answer.stdout.starts_with("a\\xff.ptx:1:1: "), "{}", answer.stdout);
    fs::remove_file(name(b"a\xff.ptx")).unwrap();
    std::os::unix::fs::symlink("nowhere", name(b"link.ptx")).unwrap();
    let pipe = Command::new("mkfifo").arg(name(b"pipe.ptx")).status().unwrap();
    assert!(pipe.success());
    let answer = scratch.run(&["verify", "."]);
    assert_eq!(answer.status, 2, "{answer:?}");
    assert!(answer.stderr.contains("cannot read `link.ptx`: no such file or directory"), "{}", answer.stderr);
    assert!(answer.stderr.contains("cannot read `pipe.ptx`: it is no regular file"), "{}", answer.stderr);
    assert!(answer.stderr.contains("no findings in 1 file"), "{}", answer.stderr);
}

#[test]
fn the_work_goes_on_with_the_threads_that_there_are() {
    let scratch = Scratch::new();
    for file in 0..20 {
        scratch.file(&format!("d/{file}.ptx"), GOOD);
    }
    let program = env!("CARGO_BIN_EXE_ptx-cli");
    // As much address space as the program takes with one thread, and a little more.
    for limit in ["600000", "1000000"] {
        let script = format!("ulimit -v {limit}; exec \"$0\" verify -j 200 d");
        let output =
            Command::new("sh").args(["-c", &script, program]).current_dir(scratch.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said, "no findings in 20 files\n");
    }
}

#[test]
fn files_that_never_end_or_never_begin_are_refused() {
    let scratch = Scratch::new();
    scratch.file("d/k.ptx", GOOD);
    let huge = |name: &str| {
        let path = scratch.file(name, "");
        // Sparse: it takes no disk.
        fs::File::options().write(true).open(path).unwrap().set_len(3 << 30).unwrap();
    };
    huge("huge");
    let pipe = |name: &str| {
        assert!(Command::new("mkfifo").arg(scratch.path().join(name)).status().unwrap().success());
    };
    pipe("pipe");
    let refused = |arguments: &[&str], sentence: &str| {
        let script = "ulimit -v 2000000; exec timeout 20 \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command
            .args(["-c", script, env!("CARGO_BIN_EXE_ptx-cli")])
            .args(arguments)
            .current_dir(scratch.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(sentence), "{arguments:?}: {said}");
    };
    for (name, reason) in [
        ("/dev/zero", "it is no regular file"),
        ("pipe", "it is no regular file"),
        ("d", "it is a directory"),
        ("huge", "its 3072 MiB are more than the "),
    ] {
        refused(&["verify", "--config", name, "d/k.ptx"], &format!("cannot read `{name}`: {reason}"));
        refused(
            &["report", "--baseline", name, "d/k.ptx"],
            &format!("cannot read the baseline `{name}`: {reason}"),
        );
    }
    refused(&["verify", "/dev/zero"], "more than the 256 MiB that are read of a pipe or a device");
    huge("d/.gitignore");
    refused(
        &["verify", "."],
        "cannot read below `./d`: the ignore file `./d/.gitignore` cannot be used: its 3072 MiB",
    );
    fs::remove_file(scratch.path().join("d/.gitignore")).unwrap();
    pipe("d/.ignore");
    refused(
        &["verify", "d"],
        "cannot read below `d`: the ignore file `d/.ignore` cannot be used: it is no regular file",
    );
    fs::remove_file(scratch.path().join("d/.ignore")).unwrap();
    pipe("d/ptx.toml");
    refused(&["verify", "d"], "it is no regular file");
    fs::remove_file(scratch.path().join("d/ptx.toml")).unwrap();
    assert_eq!(scratch.run(&["verify", "d"]).status, 0);
}

#[test]
fn what_strangers_put_above_a_project_does_not_count() {
    let scratch = Scratch::new();
    scratch.file("shared/project/k.ptx", common::bad());
    scratch.file("shared/ptx.toml", "exclude = [\"*.ptx\"]\n");
    scratch.file("shared/.gitignore", "*.ptx\n");
    let verify = || scratch.run(&["verify", "--verbose", "shared/project"]);
    fs::set_permissions(scratch.path().join("shared"), fs::Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(verify().status, 1);
    // A repository that a stranger made there is none of ours.
    fs::create_dir(scratch.path().join("shared/.git")).unwrap();
    assert_eq!(verify().status, 1);
    // Where only its owner writes, the folder is part of the project.
    fs::set_permissions(scratch.path().join("shared"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(scratch.path().join("shared/.gitignore")).unwrap();
    let excluded = verify();
    assert_eq!((excluded.status, excluded.stdout.as_str()), (0, ""));
    let told = "1 file left out by the configuration `shared/ptx.toml`\n";
    assert_eq!(excluded.stderr, told);
    // Its own repository ends the search.
    fs::create_dir(scratch.path().join("shared/project/.git")).unwrap();
    assert_eq!(verify().status, 1);
}
