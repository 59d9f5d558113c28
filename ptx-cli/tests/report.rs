//! `report` and `assemble` as users call them, with a `ptxas` and a driver of the tests' own. The real
//! ones are asked in the tests of `ptx-emit`.
#![cfg(unix)]

#[path = "common/executable.rs"]
mod executable;
#[path = "common/signals.rs"]
mod signals;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A kernel, a device function and a second kernel, in this order.
const TEXT: &str = "\
.version 8.0
.target sm_90
.entry first() { ret; }
.func helper() { ret; }
.entry second() { ret; }
";

/// Answers like `ptxas`: refuses text with the word `refuse`, else reports on three functions, of
/// which `second` takes as many registers as `$REGISTERS` says.
const FAKE_PTXAS: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "release 1.2, V1.2.3"; exit 0; fi
if grep -q refuse input.ptx; then
  echo "ptxas input.ptx, line 3; error   : Arguments mismatch for instruction 'add'" >&2
  echo "ptxas fatal   : Ptx assembly aborted due to errors" >&2
  exit 255
fi
cat >&2 <<END
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 12 bytes spill stores, 0 bytes spill loads
ptxas info    : Used ${REGISTERS:-40} registers, used 0 barriers, 400 bytes smem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
END
cp "${0%/*}/code" output.cubin
"#;

/// The smallest cubin: the header of an ELF file for CUDA without sections.
fn code() -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01".to_vec();
    bytes.resize(64, 0);
    bytes[18] = 190;
    bytes
}

/// A folder with a `ptxas` and two texts, of which `bad.ptx` is refused.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ptxas");
        executable::write(&program, FAKE_PTXAS.as_bytes());
        fs::write(folder.path().join("code"), code()).unwrap();
        fs::write(folder.path().join("a.ptx"), TEXT).unwrap();
        fs::write(folder.path().join("bad.ptx"), TEXT.replace("{ ret; }\n.func", "{  refuse; }\n.func"))
            .unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptx-cli"));
        command.current_dir(self.path()).args(arguments).env("PTXAS", self.path().join("ptxas"));
        command.env_remove("CUDA_HOME").env("NO_COLOR", "1");
        command
    }

    /// Exit status, standard output and standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        texts(&self.command(arguments).output().unwrap())
    }
}

fn texts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The text with its times replaced: `in 0.021 s` becomes `in T s`.
fn without_times(text: &str) -> String {
    let mut parts = text.split(" in 0.");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + " in T" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[test]
fn full_shows_a_table_a_file() {
    let (status, out, err) = Place::new().run(&["report", "--backend", "ptxas", "a.ptx"]);
    assert_eq!(status, 0, "{err}");
    let expected = "\
a.ptx: accepted for sm_90 by ptxas 1.2.3 in T s
  function                  registers  spill stores  spill loads  stack  shared  barriers
  first                             4             0            0      0       0         0
  helper (device function)          -             0            0      8       -         -
  second                           40            12            0      0     400         0

";
    assert_eq!(without_times(&out), expected);
    assert_eq!(err, "1 file, 3 functions; 0 refused\n");
}

#[test]
fn room_for_blocks_is_told_for_the_kernels_own_block_or_a_given_one() {
    let place = Place::new();
    let text = TEXT.replace(".entry second()", ".entry second() .reqntid 16, 16");
    fs::write(place.path().join("a.ptx"), text).unwrap();
    let functions = |arguments: &[&str]| {
        let all =
            [&["report", "--backend", "ptxas", "--message-format", "json", "a.ptx"], arguments].concat();
        let (status, out, err) = place.run(&all);
        assert_eq!(status, 0, "{err}");
        serde_json::from_str::<Value>(&out).unwrap()["functions"].clone()
    };
    let room = |function: &Value| {
        [&function["blocks_per_sm"], &function["warps"], &function["limit"], &function["saving"]]
            .map(Clone::clone)
    };
    // 40 registers for each of 256 threads: 8 warps of 1280 registers.
    let own = functions(&[]);
    assert_eq!(room(&own[0]), [json!(null), json!(null), json!(null), json!(null)], "no directive tells");
    assert_eq!(room(&own[2]), [json!(6), json!(48), json!("registers"), json!(8)]);
    let given = functions(&["--block", "1024", "--dynamic-shared", "200000"]);
    assert_eq!(room(&given[0]), [json!(1), json!(32), json!("shared"), json!(84_288)]);
    let (_, out, _) = place.run(&["report", "--backend", "ptxas", "--quiet", "a.ptx"]);
    assert!(out.contains("  second: 8 registers fewer would let one more block in\n"), "{out}");
    assert_eq!(place.run(&["report", "--backend", "ptxas", "--block", "2000", "a.ptx"]).0, 2);
}

#[test]
fn a_refusal_is_drawn_at_its_line_and_is_status_1() {
    let (status, out, err) = Place::new().run(&["report", "--backend", "ptxas", "bad.ptx", "a.ptx"]);
    assert_eq!(status, 1, "{err}");
    let expected = "\
error[P0203 unknown-opcode]: PTX has no instruction `refuse`
 --> bad.ptx:3:19
  |
3 | .entry first() {  refuse; }
  |                   ^^^^^^
  |
  = note: ptxas: Arguments mismatch for instruction 'add'

bad.ptx: refused for sm_90 by ptxas 1.2.3 in T s

a.ptx: accepted";
    let drawn = without_times(&out).replace("\n  |\n\n", "\n\n");
    assert!(drawn.starts_with(&expected.replace("\n  |\n\n", "\n\n")), "{out}");
    assert_eq!(err, "2 files, 3 functions; 1 refused\n");
}

#[test]
fn json_is_one_object_a_file_and_nothing_else() {
    let place = Place::new();
    let (status, out, err) =
        place.run(&["report", "--backend=ptxas", "--message-format", "json", "--target", "sm_90a", "."]);
    assert_eq!((status, err.as_str()), (1, ""));
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 2);
    let good = &objects[0];
    let keys: Vec<&str> = good.as_object().unwrap().keys().map(String::as_str).collect();
    let expected =
        ["file", "backend", "backend_version", "target", "accepted", "seconds", "log", "functions"];
    assert_eq!(keys, [&expected[..], &["verdict", "over_budget"]].concat());
    assert_eq!(
        (&good["file"], &good["target"], &good["accepted"]),
        (&json!("a.ptx"), &json!("sm_90a"), &json!(true))
    );
    let second = json!({
        "name": "second", "demangled": null, "kind": "entry", "registers": 40, "barriers": 0, "stack_bytes": 0,
        "spill_store_bytes": 12, "spill_load_bytes": 0, "shared_bytes": 400, "const_bytes": null,
        "local_bytes": null, "max_threads": null, "code_bytes": null, "instructions": null, "blocks_per_sm": null, "warps": null, "limit": null,
        "saving": null,
    });
    assert_eq!(good["functions"][2], second);
    assert_eq!(good["functions"][1]["kind"], "func");
    let refused =
        json!({"severity": "error", "line": 3, "message": "Arguments mismatch for instruction 'add'"});
    assert_eq!((&objects[1]["log"][0], &objects[1]["functions"]), (&refused, &json!([])));
}

#[test]
fn a_baseline_finds_what_got_worse() {
    let place = Place::new();
    let (status, _, err) = place.run(&["report", "--backend", "ptxas", "--save", "figures.json", "a.ptx"]);
    assert_eq!(status, 0, "{err}");
    let compare = ["report", "--backend", "ptxas", "--baseline", "figures.json", "a.ptx"];
    assert_eq!(place.run(&compare).0, 0);
    let with_registers =
        |count: &str| texts(&place.command(&compare).env("REGISTERS", count).output().unwrap());
    let (status, out, _) = with_registers("48");
    assert_eq!(status, 1);
    assert!(out.ends_with("worse: `second` of `a.ptx` for sm_90: 48 registers, were 40 (+8)\n"), "{out}");
    let (status, out, _) = with_registers("32");
    assert_eq!(status, 0);
    assert!(out.ends_with("better: `second` of `a.ptx` for sm_90: 32 registers, were 40 (-8)\n"), "{out}");
    let older = fs::read_to_string(place.path().join("figures.json")).unwrap().replace("1.2.3", "1.0.0");
    fs::write(place.path().join("figures.json"), older).unwrap();
    let (status, _, err) = place.run(&compare);
    assert_eq!(status, 0);
    assert!(
        err.contains("note: the baseline was made by ptxas 1.0.0, these figures by ptxas 1.2.3"),
        "{err}"
    );
}

#[test]
fn limits_are_findings() {
    let place = Place::new();
    let run = |limit: &[&str]| place.run(&[&["report", "--backend", "ptxas", "a.ptx"], limit].concat());
    assert_eq!(run(&["--max-registers", "40", "--max-spill", "12"]).0, 0);
    let (status, out, _) = run(&["--max-registers", "39"]);
    assert_eq!(status, 1);
    assert!(
        out.ends_with("too many: `second` of `a.ptx` for sm_90: 40 registers, allowed are 39\n"),
        "{out}"
    );
    assert_eq!(run(&["--max-spill", "0"]).0, 1);
}

/// A `ptxas` that compiles and says nothing about it.
const SILENT_PTXAS: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "release 1.2, V1.2.3"; exit 0; fi
cp "${0%/*}/code" output.cubin
"#;

#[test]
fn what_cannot_be_judged_is_status_2() {
    let place = Place::new();
    // One kernel, and only its name: as in a cubin whose attributes nobody knows.
    let symbols = [vec![0; 24], vec![1, 0, 0, 0, 0x12, 0x10, 1, 0], vec![0; 16]].concat();
    let names = b"\0k\0".to_vec();
    let mut cubin = code();
    let mut headers = vec![0; 64];
    for (kind, link, content) in [(2_u8, 2_u8, &symbols), (3, 0, &names)] {
        let mut header = [0; 64];
        (header[4], header[0x28]) = (kind, link);
        header[0x18..0x20].copy_from_slice(&(cubin.len() as u64).to_le_bytes());
        header[0x20..0x28].copy_from_slice(&(content.len() as u64).to_le_bytes());
        headers.extend(header);
        cubin.extend(content);
    }
    let table = cubin.len() as u64;
    cubin[0x28..0x30].copy_from_slice(&table.to_le_bytes());
    (cubin[0x3a], cubin[0x3c]) = (64, 3);
    cubin.extend(headers);
    fs::write(place.path().join("code"), &cubin).unwrap();
    let report = ["report", "--backend", "ptxas", "a.ptx"];
    assert_eq!(place.run(&[&report[..], &["--save", "figures.json"]].concat()).0, 0);
    fs::write(place.path().join("ptxas"), SILENT_PTXAS).unwrap();
    for limit in ["--max-registers", "--max-spill", "--max-stack", "--max-shared"] {
        let (status, _, err) = place.run(&[&report[..], &[limit, "1000"]].concat());
        assert_eq!(status, 2, "{limit}: {err}");
        assert!(err.contains("error: cannot judge the limits: ptxas 1.2.3 told no "), "{err}");
        assert!(err.contains(" of `k` of `a.ptx` for sm_90"), "{err}");
    }
    assert_eq!(place.run(&report).0, 0, "nothing was to be judged");
}

#[test]
fn a_baseline_that_shares_nothing_is_status_2_and_a_vanished_file_is_told() {
    let place = Place::new();
    fs::copy(place.path().join("a.ptx"), place.path().join("b.ptx")).unwrap();
    let save = ["report", "--backend", "ptxas", "--save", "figures.json", "a.ptx", "b.ptx"];
    assert_eq!(place.run(&save).0, 0);
    let compare = ["report", "--backend", "ptxas", "--baseline", "figures.json"];
    let (status, _, err) = place.run(&[&compare[..], &["--target", "sm_100", "a.ptx"]].concat());
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("note: `a.ptx` is in the baseline for `sm_90`, not for `sm_100`"), "{err}");
    assert!(err.contains("error: cannot judge the baseline: it has no file of this run"), "{err}");
    fs::remove_file(place.path().join("b.ptx")).unwrap();
    fs::remove_file(place.path().join("bad.ptx")).unwrap();
    let (status, _, err) = place.run(&[&compare[..], &["."]].concat());
    assert_eq!(status, 0, "{err}");
    let note = "note: in the baseline, but not compiled now: `b.ptx` for `sm_90`, which is gone\n";
    assert!(err.contains(note), "{err}");
}

/// A signal ends the compiler, what that has started, and its folder.
#[test]
fn a_signal_ends_the_compiler_and_removes_its_folder() {
    let place = Place::new();
    let slow = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo V1.2.3; exit 0; fi\n\
                sleep 600 & echo $! $$ >\"$PIDS.new\"; mv \"$PIDS.new\" \"$PIDS\"; sleep 600\n";
    fs::write(place.path().join("ptxas"), slow).unwrap();
    let temporary = place.path().join("temporary");
    let wait_until = |done: &dyn Fn() -> bool| {
        (0..600).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            done()
        })
    };
    for signal in ["INT", "TERM", "HUP"] {
        for arguments in
            [&["report", "--backend", "ptxas", "a.ptx"][..], &["assemble", "a.ptx", "-o", "a.cubin"]]
        {
            fs::create_dir_all(&temporary).unwrap();
            let pids = place.path().join(format!("{signal}-{}", arguments[0]));
            let mut command = place.command(arguments);
            command.env("TMPDIR", &temporary).env("PIDS", &pids);
            let mut program = signals::heeded(&mut command).spawn().unwrap();
            assert!(wait_until(&|| pids.exists()), "the compiler has started");
            assert_eq!(fs::read_dir(&temporary).unwrap().count(), 1);
            let id = program.id().to_string();
            assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
            let status = program.wait().unwrap();
            assert!(!status.success() && status.code().is_none(), "{signal}: {status}");
            assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "{signal}");
            for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
                let lives = || {
                    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
                    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
                    !state.is_empty() && !state.starts_with('Z')
                };
                assert!(wait_until(&|| !lives()), "{signal}: {pid} lives on");
            }
        }
    }
}

#[test]
fn several_targets_give_a_report_each() {
    let place = Place::new();
    let targets = ["report", "--backend", "ptxas", "--target", "sm_90,sm_100a,sm_90", "a.ptx"];
    let (status, out, err) = place.run(&targets);
    assert_eq!((status, err.as_str()), (0, "1 file for 2 targets, 6 functions; 0 of 2 refused\n"));
    let first = out.find("a.ptx: accepted for sm_90 by").unwrap();
    assert!(first < out.find("a.ptx: accepted for sm_100a by").unwrap(), "{out}");
    let (_, out, _) = place.run(&[&targets[..], &["--message-format", "json"]].concat());
    assert_eq!(out.lines().count(), 2);
    assert_eq!(place.run(&["report", "--target", "sm_90,", "a.ptx"]).0, 2);
    let (status, _, err) = place.run(&["assemble", "--target", "sm_90,sm_100", "a.ptx", "-o", "a.cubin"]);
    assert_eq!(status, 2);
    assert!(err.contains("a cubin is for one target"), "{err}");
}

#[test]
fn what_cannot_be_done_is_status_2() {
    let place = Place::new();
    fs::write(place.path().join("x.py"), "").unwrap();
    fs::write(place.path().join("broken.json"), "{").unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["report", "--backend", "ptxas", "absent.ptx"], "cannot read `absent.ptx`"),
        (&["report", "--backend", "ptxas", "x.py"], "it is Python, not PTX"),
        (&["report", "--backend", "ptxas", "--baseline", "absent.json", "a.ptx"], "cannot read the baseline"),
        (&["report", "--backend", "ptxas", "--baseline", "broken.json", "a.ptx"], "not a baseline"),
        (&["assemble", "--backend", "driver", "a.ptx", "-o", "out"], "cannot write a cubin"),
    ];
    for (arguments, reason) in cases {
        let (status, out, err) = place.run(arguments);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(reason), "{err}");
    }
    let missing =
        place.command(&["report", "--backend", "ptxas", "a.ptx"]).env("PTXAS", "/absent/ptxas").output();
    let (status, _, err) = texts(&missing.unwrap());
    assert_eq!(status, 2);
    assert!(
        err.contains("`$PTXAS` names `/absent/ptxas`, which is no program") && err.contains("\nhelp: "),
        "{err}"
    );
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let (status, out, err) =
        Place::new().run(&["report", "--backend", "ptxas", "absent.ptx", "a.ptx", "--save", "s"]);
    assert_eq!(status, 2);
    assert!(out.starts_with("a.ptx: accepted") && err.contains("absent.ptx"), "{out}{err}");
}

#[test]
fn assemble_writes_machine_code_or_nothing() {
    let place = Place::new();
    let (status, out, err) = place.run(&["assemble", "a.ptx", "-o", "a.cubin"]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "", ""));
    assert_eq!(fs::read(place.path().join("a.cubin")).unwrap(), code());
    let (status, out, err) = place.run(&["assemble", "bad.ptx", "-o", "bad.cubin"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("--> bad.ptx:3:1") && !place.path().join("bad.cubin").exists(), "{err}");
    let (status, _, err) = place.run(&["assemble", "a.ptx", "-o", "absent/a.cubin"]);
    assert_eq!(status, 2);
    assert!(err.contains("cannot write `absent/a.cubin`"), "{err}");
}

#[test]
fn machine_code_goes_where_a_link_leads() {
    let place = Place::new();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("made")).unwrap();
    std::os::unix::fs::symlink("made/there.cubin", at("a.cubin")).unwrap();
    // The link leads nowhere yet, and then to a file.
    for _ in 0..2 {
        let (status, _, err) = place.run(&["assemble", "a.ptx", "-o", "a.cubin"]);
        assert_eq!((status, err.as_str()), (0, ""));
        assert!(fs::symlink_metadata(at("a.cubin")).unwrap().is_symlink());
        assert_eq!(fs::read(at("made/there.cubin")).unwrap(), code());
    }
    assert_eq!(fs::read_dir(at("made")).unwrap().count(), 1, "nothing else is beside it");
}

/// With a driver of the tests' own, compiled here. The real one is for machines with a GPU.
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod driver {
    use super::*;

    /// A place whose folder `driver` holds a `libcuda.so.1`.
    fn place() -> Place {
        let place = Place::new();
        let folder = place.path().join("driver");
        fs::create_dir(&folder).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fake_libcuda.rs");
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let compiled = Command::new(compiler)
            .args(["--edition", "2024", "--crate-type", "cdylib", "-Cpanic=abort", "-o"])
            .arg(folder.join("libcuda.so.1"))
            .arg(source)
            // The compiler needs more than the small stacks that the tests run with.
            .env_remove("RUST_MIN_STACK")
            .status();
        assert!(compiled.unwrap().success());
        place
    }

    fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
        texts(&place.command(arguments).env("LD_LIBRARY_PATH", place.path().join("driver")).output().unwrap())
    }

    fn object(place: &Place, text: &str, arguments: &[&str]) -> Value {
        fs::write(place.path().join("d.ptx"), text).unwrap();
        let all =
            [&["report", "--backend", "driver", "--message-format", "json", "d.ptx"], arguments].concat();
        let (_, out, err) = run(place, &all);
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"))
    }

    #[test]
    fn figures_come_from_the_loaded_code_and_the_log() {
        let place = place();
        let report = object(&place, TEXT, &[]);
        assert_eq!((&report["backend"], &report["backend_version"]), (&json!("driver"), &json!("13.0")));
        assert_eq!((&report["accepted"], &report["target"]), (&json!(true), &json!("sm_90")));
        assert_eq!(report["seconds"], json!(0.0125));
        let first = json!({
            "name": "first", "demangled": null, "kind": "entry", "registers": 12, "barriers": 1, "stack_bytes": 16,
            "spill_store_bytes": 4, "spill_load_bytes": 8, "shared_bytes": 400, "const_bytes": 0,
            "local_bytes": 24, "max_threads": 1024, "code_bytes": null, "instructions": null, "blocks_per_sm": null, "warps": null, "limit": null,
            "saving": null,
        });
        assert_eq!(report["functions"][0], first);
        let second = &report["functions"][1];
        assert_eq!(
            (&second["name"], &second["registers"], &second["barriers"]),
            (&json!("second"), &json!(12), &json!(null))
        );
        // The fake driver aborts the program where a context or module is mishandled.
        assert_eq!(run(&place, &["report", "--backend", "driver", "d.ptx"]).0, 0);
    }

    #[test]
    fn refusals_are_verdicts_and_breakdowns_are_not() {
        let place = place();
        let report = object(&place, &format!("{TEXT}// ask for an error"), &[]);
        assert_eq!((&report["accepted"], &report["log"][0]["line"]), (&json!(false), &json!(5)));
        let report = object(&place, &format!("{TEXT}// ask for a newer version"), &[]);
        assert_eq!((&report["accepted"], &report["log"][0]["severity"]), (&json!(false), &json!("fatal")));
        assert!(report["log"][1]["message"].as_str().unwrap().contains("older than the `.version`"));
        let report = object(&place, &format!("{TEXT}// ask for silence"), &[]);
        assert_eq!((&report["accepted"], &report["log"][0]["severity"]), (&json!(false), &json!("fatal")));
        let report = object(&place, "\0", &[]);
        assert!(report["log"][0]["message"].as_str().unwrap().contains("NUL byte"));
        fs::write(place.path().join("d.ptx"), format!("{TEXT}// ask for a code of the future")).unwrap();
        let (status, _, err) = run(&place, &["report", "--backend", "driver", "d.ptx"]);
        assert_eq!(status, 2);
        assert!(err.contains("CUDA_ERROR_OF_THE_FUTURE (912): something new is wrong"), "{err}");
    }

    /// A driver whose compiler crashes or hangs on one file is no verdict on it, and the next file has one.
    #[test]
    fn a_driver_that_crashes_or_hangs_costs_one_file() {
        let place = place();
        fs::write(place.path().join("b.ptx"), format!("{TEXT}// ask for a crash")).unwrap();
        fs::write(place.path().join("c.ptx"), format!("{TEXT}// ask for a hang")).unwrap();
        let report = ["report", "--backend", "driver", "--timeout", "2"];
        let (status, out, err) = run(&place, &[&report[..], &["b.ptx", "c.ptx", "a.ptx"]].concat());
        assert_eq!(status, 2, "{err}");
        assert!(out.starts_with("a.ptx: accepted for sm_90 by driver 13.0"), "{out}");
        assert!(
            err.contains(
                "cannot report on `b.ptx`: the `driver` back end gave no verdict: it was killed by signal 6"
            ),
            "{err}"
        );
        assert!(err.contains("the compiler of the fake driver is about to crash"), "{err}");
        assert!(
            err.contains("cannot report on `c.ptx`: the `driver` back end did not finish within 2 s"),
            "{err}"
        );
    }

    /// The process of a driver that hangs ends with the program that asked it.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_of_the_driver_does_not_outlive_its_parent() {
        let place = place();
        fs::write(place.path().join("c.ptx"), format!("{TEXT}// ask for a hang")).unwrap();
        let mut command = place.command(&["report", "--backend", "driver", "c.ptx"]);
        command.env("LD_LIBRARY_PATH", place.path().join("driver"));
        let mut parent = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        let own = parent.id();
        let children = || -> Vec<u32> {
            let mut found = Vec::new();
            for entry in fs::read_dir("/proc").unwrap().flatten() {
                let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
                let folder = fs::read_link(entry.path().join("cwd"));
                if id != own && folder.is_ok_and(|folder| folder == place.path()) {
                    found.push(id);
                }
            }
            found
        };
        let wait_until = |done: &dyn Fn() -> bool| {
            (0..300).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                done()
            })
        };
        assert!(wait_until(&|| !children().is_empty()), "the driver has a process of its own");
        parent.kill().unwrap();
        parent.wait().unwrap();
        assert!(wait_until(&|| children().is_empty()), "{:?} live on", children());
    }

    #[test]
    fn the_driver_compiles_for_its_own_gpu_only() {
        let place = place();
        assert_eq!(object(&place, TEXT, &["--target", "sm_90a"])["target"], "sm_90a");
        let (status, _, err) = run(&place, &["report", "--backend", "driver", "--target", "sm_100", "a.ptx"]);
        assert_eq!(status, 2);
        assert!(err.contains("for its own GPU only, which is `sm_90`") && err.contains("help: "), "{err}");
    }

    #[test]
    fn auto_takes_the_driver_where_it_fits() {
        let place = place();
        let backend = |arguments: &[&str]| {
            let (_, out, _) =
                run(&place, &[&["report", "--message-format=json", "a.ptx"], arguments].concat());
            serde_json::from_str::<Value>(&out).unwrap()["backend"].clone()
        };
        assert_eq!(backend(&[]), "driver");
        assert_eq!(backend(&["--target", "sm_100"]), "ptxas");
        let mut command = place.command(&["report", "--message-format=json", "a.ptx"]);
        command.env("LD_LIBRARY_PATH", place.path().join("driver")).env("FAKE_NO_GPU", "1");
        assert!(texts(&command.output().unwrap()).1.contains(r#""backend":"ptxas""#));
    }
}

#[test]
fn a_budget_beside_a_kernel_is_a_gate() {
    let place = Place::new();
    let with = |budget: &str| {
        let text = TEXT.replace(".entry second()", &format!("// ptx-budget: {budget}\n.entry second()"));
        fs::write(place.path().join("a.ptx"), text).unwrap();
    };
    let run =
        |format: &str| place.run(&["report", "--backend", "ptxas", "--message-format", format, "a.ptx"]);
    with("registers <= 40, spill = 12");
    assert_eq!(run("full").0, 0);
    with("registers <= 39, spill = 12");
    let (status, out, _) = run("full");
    assert_eq!(status, 1);
    assert!(
        out.ends_with("too many: `second` of `a.ptx` for sm_90: 40 registers, allowed are 39\n"),
        "{out}"
    );
    let (_, out, _) = run("json");
    let object: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(object["verdict"], "over budget");
    let over = json!([{"function": "second", "figure": "registers", "value": 40, "limit": 39}]);
    assert_eq!(object["over_budget"], over);
    let (status, out, _) = run("github");
    assert_eq!(status, 1);
    assert!(out.starts_with("::error file=a.ptx,line=5,") && out.lines().count() == 1, "{out}");
    assert!(out.ends_with("::`second` needs 40 registers for sm_90, allowed are 39\n"), "{out}");
    let (_, out, _) = run("sarif");
    let log: Value = serde_json::from_str(&out).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["ruleId"]), (1, &json!("budget")));
    with("registers < 3");
    let (status, _, err) = run("full");
    assert_eq!(status, 2);
    assert!(err.contains("cannot judge the budget in `a.ptx`, line 5: `registers < 3` is no limit"), "{err}");
}

#[test]
fn a_budget_of_the_project_holds_where_neither_a_comment_nor_a_flag_does() {
    let place = Place::new();
    let run = |arguments: &[&str]| {
        let all = ["report", "--backend", "ptxas", "--message-format", "json", "a.ptx"];
        let (status, out, err) = place.run(&[&all[..], arguments].concat());
        let object: Value = serde_json::from_str(&out).unwrap_or_default();
        (status, object["over_budget"].as_array().map_or(0, Vec::len), err)
    };
    let config = |text: &str| fs::write(place.path().join("ptx.toml"), text).unwrap();
    config("[budget]\nregisters = 39\nspill = 0\n");
    let (status, over, err) = run(&[]);
    assert_eq!((status, over), (1, 2), "{err}");
    assert!(err.contains("`second` of `a.ptx` for sm_90: 12 bytes of spill stores, allowed are 0"), "{err}");
    assert_eq!(run(&["--no-config"]).0, 0);
    assert_eq!(run(&["--max-registers", "40", "--max-spill", "12"]).0, 0, "flags count before the file");
    config("[budget]\nregisters = 39\n[[overrides]]\nfiles = [\"a.ptx\"]\nbudget.registers = 40\n");
    assert_eq!(run(&[]).0, 0, "the more particular entry counts");
    config("[budget]\nregisters = 39\nspill = 0\n");
    let text = TEXT.replace(".entry second()", "// ptx-budget: registers = 40\n.entry second()");
    fs::write(place.path().join("a.ptx"), text).unwrap();
    let (status, over, err) = run(&[]);
    assert_eq!((status, over), (1, 1), "the comment speaks of registers only: {err}");
    config("[budget]\nregisters = -1\n");
    let (status, _, err) = run(&[]);
    assert!(status == 2 && err.contains("ptx.toml` is not right") && err.contains("registers = -1"), "{err}");
    config("exclude = [\"a.ptx\"]\n");
    let (status, _, err) = run(&[]);
    assert_eq!((status, err.as_str()), (0, "1 file left out by the configuration\n"));
}

#[test]
fn messages_name_the_line_that_the_text_was_made_of() {
    let place = Place::new();
    let text = TEXT.replace(".entry first() { ret; }", ".entry first() { .loc 1 12 5 refuse; }");
    fs::write(place.path().join("a.ptx"), format!("{text}.file 1 \"dir/k.cu\"\n")).unwrap();
    let (status, out, _) = place.run(&["report", "--backend", "ptxas", "a.ptx"]);
    assert_eq!(status, 1);
    assert!(out.contains("note: this comes from `dir/k.cu`, line 12\n"), "{out}");
    let (_, out, _) = place.run(&["report", "--backend", "ptxas", "bad.ptx"]);
    assert!(!out.contains("comes from"), "{out}");
}

/// Prints PTX with the line of the word `refuse`, or says what is wrong with `broken`.
const FAKE_NVCC: &str = r#"#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in -o) output=$2; shift;; -arch=*) target=${1#-arch=};; -DKERNEL=*) name=${1#-DKERNEL=};; esac
  shift
done
if grep -q broken "$1"; then echo "$1(2): error: expected an expression" >&2; exit 2; fi
if grep -q warned "$1"; then
  printf '%s(1): warning #177-D: variable "y" was declared\n  int y;\n\n./k.cuh(7): warning #68-D: elsewhere\n' "$1" >&2
fi
line=$(grep -n refuse "$1" | cut -d: -f1)
{
  printf '.version 8.0\n.target %s\n.entry %s() {\n' "$target" "${name:-first}"
  [ -z "$line" ] || printf '.loc 1 %s 1\n  refuse;\n' "$line"
  printf 'ret; }\n.file 1 "%s"\n' "$PWD/$1"
} > "$output"
"#;

#[test]
fn cuda_sources_go_through_nvcc() {
    let place = Place::new();
    // The word is in line 5 of the PTX; the message of the fake is about line 3 otherwise.
    let ptxas = FAKE_PTXAS.replace("line 3", "line 5");
    executable::write(&place.path().join("ptxas"), ptxas.as_bytes());
    executable::write(&place.path().join("nvcc"), FAKE_NVCC.as_bytes());
    fs::write(place.path().join("good.cu"), "__global__ void first() {}\n").unwrap();
    fs::write(place.path().join("bad.cu"), "__global__ void first() {\n  refuse;\n}\n").unwrap();
    fs::write(place.path().join("broken.cu"), "\nbroken\n").unwrap();
    fs::write(place.path().join("warned.cu"), "// warned\n__global__ void first() {}\n").unwrap();
    let run = |arguments: &[&str]| {
        let all = [&["report", "--backend", "ptxas"], arguments].concat();
        texts(&place.command(&all).env("NVCC", place.path().join("nvcc")).output().unwrap())
    };
    let (status, out, err) = run(&["good.cu"]);
    assert_eq!(status, 0, "{err}");
    assert!(without_times(&out).starts_with("good.cu: accepted for sm_90a by ptxas 1.2.3 in T s\n"), "{out}");
    let (status, out, _) = run(&["--target", "sm_80,sm_100a", "bad.cu"]);
    assert_eq!(status, 1);
    assert_eq!(out.matches(" --> bad.cu:2:3\n").count(), 2, "{out}");
    assert!(out.contains("note: in the PTX it is `refuse;`\n"), "{out}");
    let (status, out, err) = run(&["broken.cu", "good.cu"]);
    assert_eq!(status, 1, "a source that is refused is a finding");
    let shown = "error[nvcc error]: expected an expression\n --> broken.cu:2:1\n";
    assert!(out.contains(shown) && out.contains("broken.cu: refused for sm_90a by nvcc\n"), "{out}");
    assert!(err.contains("; 1 refused"), "{err}");
    let (status, out, _) = run(&["--message-format", "json", "broken.cu", "warned.cu"]);
    assert_eq!(status, 1);
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [broken, warned] = objects.as_slice() else { panic!("{out}") };
    assert_eq!((&broken["verdict"], &broken["backend"]), (&json!("refused"), &json!("nvcc")));
    let log = json!([{ "severity": "error", "line": 2, "message": "expected an expression" }]);
    assert_eq!((&broken["log"], broken.get("source_log")), (&log, None));
    assert_eq!(warned["verdict"], json!("accepted"));
    assert_eq!(warned["source_log"][0]["message"], json!("#177-D: variable \"y\" was declared"));
    assert_eq!(warned["source_log"][1]["message"], json!("./k.cuh(7): #68-D: elsewhere"));
    let (status, out, _) = run(&["--target", "sm_80,sm_90", "warned.cu"]);
    assert_eq!(status, 0, "{out}");
    assert_eq!(out.matches("warning[nvcc warning]").count(), 2, "each of them once: {out}");
    assert!(out.contains(" --> warned.cu:1:1\n") && out.contains("comes from `./k.cuh`, line 7"), "{out}");
    fs::write(place.path().join("ptx.toml"), "[cuda]\ntargets = [\"sm_80\", \"sm_90\"]\n").unwrap();
    let (_, out, _) = run(&["--message-format", "json", "--nvcc-option=-DKERNEL=second", "good.cu"]);
    let targets: Vec<_> =
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["target"].clone()).collect();
    assert_eq!(targets, [json!("sm_80"), json!("sm_90")]);
    let kernel = "// ptx-budget: registers <= 99\nvoid __global__ first() {}\n__global__ void second() {\n\
                  \x20 // ptx-budget: registers <= 39, spill <= 99\n}\n";
    fs::write(place.path().join("costly.cu"), kernel).unwrap();
    let (status, out, err) = run(&[
        "--target",
        "sm_90",
        "--message-format",
        "github",
        "--nvcc-option=-DKERNEL=second",
        "costly.cu",
    ]);
    assert_eq!(status, 1, "{err}");
    assert!(out.starts_with("::error file=costly.cu,line=4,endLine=4,col=3,"), "{out}");
    assert!(out.contains("`second` needs 40 registers for sm_90, allowed are 39"), "{out}");
    let missing = place.path().join("missing");
    let output = place.command(&["report", "--backend", "ptxas", "good.cu"]).env("NVCC", missing).output();
    let (status, _, err) = texts(&output.unwrap());
    assert!(status == 2 && err.contains("`nvcc` is missing: `$NVCC` names"), "{err}");
}

#[test]
fn tables_have_all_targets() {
    let place = Place::new();
    let all = ["report", "--backend", "ptxas", "--target", "sm_90,sm_100a", "a.ptx", "bad.ptx"];
    let (status, out, _) = place.run(&all);
    assert_eq!(status, 1);
    assert_eq!(out.matches("\n  function  ").count(), 1, "{out}");
    assert!(out.contains("\n  second                    sm_100a         40 "), "{out}");
    let (status, out, _) =
        place.run(&[&all[..], &["--message-format", "markdown", "--max-registers", "39"]].concat());
    assert_eq!(status, 1);
    assert!(out.starts_with("### `a.ptx`\n\n| function | target | registers |"), "{out}");
    assert!(
        out.contains("\n| `second` | sm_100a | 40 | 12 |") && out.contains("\n| **refused** | sm_90 |"),
        "{out}"
    );
    assert!(out.contains("\n* too many: `second` of `a.ptx` for sm_100a: 40 registers"), "{out}");
}

#[test]
fn our_own_finding_is_shown_where_a_line_is_refused() {
    let (status, out, _) = Place::new().run(&["report", "--backend", "ptxas", "bad.ptx"]);
    assert_eq!(status, 1);
    assert!(out.contains("PTX has no instruction `refuse`"), "{out}");
    assert!(out.contains("note: ptxas: Arguments mismatch for instruction 'add'"), "{out}");
}

#[test]
fn json_has_our_own_finding_where_a_line_is_refused() {
    let (_, out, _) =
        Place::new().run(&["report", "--backend", "ptxas", "--message-format", "json", "bad.ptx"]);
    let object: Value = serde_json::from_str(&out).unwrap();
    let findings = object["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{out}");
    assert_eq!((&findings[0]["rule"], &findings[0]["line"]), (&json!("unknown-opcode"), &json!(3)));
    assert_eq!(findings[0]["notes"][0], "ptxas: Arguments mismatch for instruction 'add'");
}

#[test]
fn our_own_findings_say_where_the_assembler_names_no_line() {
    let place = Place::new();
    let fatal = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 1.2, V1.2.3'; exit 0; fi\n\
        echo 'ptxas fatal   : Function call sequence invalid' >&2\nexit 255\n";
    executable::write(&place.path().join("ptxas"), fatal.as_bytes());
    let (status, out, _) = place.run(&["report", "--backend", "ptxas", "bad.ptx"]);
    assert_eq!(status, 1);
    assert!(out.contains("PTX has no instruction `refuse`") && out.contains(":3:"), "{out}");
    assert!(out.contains("note: ptxas: Function call sequence invalid"), "{out}");
}
