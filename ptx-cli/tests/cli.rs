//! What scripts and people rely on: exit status, streams, names, formats.

mod common;

use std::process::Stdio;

use common::{GOOD, Scratch, bad, slashes};
use serde_json::Value;

#[test]
fn exit_status_is_0_for_clean_1_for_findings_and_2_for_what_could_not_be_done() {
    let scratch = Scratch::new();
    scratch.file("good.ptx", GOOD);
    scratch.file("bad.ptx", bad());
    assert_eq!(scratch.run(&["verify", "good.ptx"]).status, 0);
    assert_eq!(scratch.run(&["verify", "bad.ptx"]).status, 1);
    assert_eq!(scratch.run(&["verify", "bad.ptx", "missing.ptx"]).status, 2);
    for usage in
        [&["verify", "--nonsense"][..], &["nonsense"], &[], &["verify", "--message-format", "xml", "."]]
    {
        let answer = scratch.run(usage);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{usage:?}");
        assert!(answer.stderr.contains("Usage") || answer.stderr.contains("error:"), "{answer:?}");
    }
}

#[test]
fn wrong_usage_is_coloured_where_the_environment_asks() {
    let scratch = Scratch::new();
    let told = |variable: Option<(&str, &str)>| {
        let mut command = scratch.command(&["verify", "--no-such-option"]);
        let output = command.envs(variable).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(told(Some(("FORCE_COLOR", "1"))).contains("\x1b["));
    assert!(!told(Some(("FORCE_COLOR", "0"))).contains('\x1b') && !told(None).contains('\x1b'));
}

#[test]
fn help_and_version_go_to_standard_output() {
    let scratch = Scratch::new();
    let commands = [
        "verify",
        "format",
        "canonicalize",
        "report",
        "assemble",
        "explain",
        "rules",
        "isa",
        "loads",
        "dump",
        "lsp",
        "schema",
        "completions",
        "man",
        "help",
    ];
    for command in commands {
        let help = scratch.run(&[command, "--help"]);
        assert_eq!((help.status, help.stderr.as_str()), (0, ""), "{command}");
        assert!(help.stdout.contains("Usage: ptx-cli"), "{help:?}");
        assert!(help.stdout.contains("Exit status:"), "{command} --help tells no exit status");
        assert!(help.stdout.contains("Examples:"), "{command} --help has no example");
        assert_eq!(scratch.run(&["help", command]).stdout, help.stdout);
    }
    let version = scratch.run(&["--version"]);
    // A clone's commit may follow.
    assert!(version.stdout.starts_with(concat!("ptx-cli ", env!("CARGO_PKG_VERSION"))), "{version:?}");
}

#[test]
fn full_output_draws_the_line_and_the_summary_goes_to_standard_error() {
    let scratch = Scratch::new();
    scratch.file("bad.ptx", bad());
    let answer = scratch.run(&["verify", "bad.ptx"]);
    assert!(answer.stdout.starts_with("error[P0102 syntax]: "), "{}", answer.stdout);
    assert!(answer.stdout.contains("--> bad.ptx:12:"), "{}", answer.stdout);
    assert!(answer.stdout.contains("12 |     mov.u32 %r1 7;"), "{}", answer.stdout);
    assert_eq!(answer.stderr, "1 error in 1 file\n");
    assert_eq!(scratch.run(&["verify", "-q", "bad.ptx"]).stderr, "");
}

#[test]
fn concise_output_is_what_editors_parse() {
    let scratch = Scratch::new();
    scratch.file("bad.ptx", bad());
    let answer = scratch.run(&["verify", "--message-format", "concise", "bad.ptx"]);
    let line = answer.stdout.strip_suffix('\n').unwrap();
    assert!(line.starts_with("bad.ptx:12:") && line.contains(": error[P0102] "), "{line}");
    assert_eq!(answer.stderr, "");
}

/// Checks that `object` has exactly these fields, in this order.
fn assert_fields(object: &Value, fields: &[&str]) {
    let found: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, fields, "{object}");
}

#[test]
fn json_output_is_one_object_a_finding_with_the_fixed_fields() {
    const PLACE: [&str; 4] = ["line", "column", "end_line", "end_column"];
    let scratch = Scratch::new();
    scratch.file("bad.ptx", bad());
    let answer = scratch.run(&["verify", "--message-format", "json", "bad.ptx"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (1, ""));
    assert!(!answer.stdout.is_empty());
    for line in answer.stdout.lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        let fields = [
            &["file"][..],
            &PLACE,
            &["class", "severity", "code", "rule", "message", "labels", "notes", "fix"],
        ];
        assert_fields(&finding, &fields.concat());
        assert_eq!(finding["file"], "bad.ptx");
        assert_eq!(finding["line"], 12);
        for label in finding["labels"].as_array().unwrap() {
            assert_fields(label, &[&PLACE[..], &["message"]].concat());
        }
        assert!(finding["notes"].is_array());
        assert!(finding["fix"].is_null() || finding["fix"]["edits"].is_array());
    }
}

#[test]
fn github_output_is_workflow_commands() {
    let scratch = Scratch::new();
    scratch.file("bad.ptx", bad());
    let answer = scratch.run(&["verify", "--message-format", "github", "bad.ptx"]);
    assert!(answer.stdout.starts_with("::error file=bad.ptx,line=12,"), "{}", answer.stdout);
}

#[test]
fn sarif_output_is_one_log_even_without_findings() {
    let scratch = Scratch::new();
    scratch.file("a/bad.ptx", bad());
    scratch.file("a/good.ptx", GOOD);
    scratch.file("b/bad.ptx", bad());
    let log = |paths: &[&str]| -> Value {
        let answer = scratch.run(&[&["verify", "--message-format", "sarif"], paths].concat());
        serde_json::from_str(&answer.stdout).unwrap()
    };
    let found = log(&["a", "b"]);
    assert_eq!(found["version"], "2.1.0");
    let uri = |index: usize| {
        found["runs"][0]["results"][index]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            .clone()
    };
    assert_eq!((uri(0), uri(1)), ("a/bad.ptx".into(), "b/bad.ptx".into()));
    assert_eq!(log(&["a/good.ptx"])["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn standard_input_is_ptx_under_the_name_that_it_is_given() {
    let scratch = Scratch::new();
    let concise = ["verify", "--message-format", "concise", "-"];
    let plain = scratch.run_with(&concise, bad().as_bytes());
    assert!(plain.stdout.starts_with("<stdin>:12:"), "{}", plain.stdout);
    let named =
        scratch.run_with(&[&concise[..], &["--stdin-filename", "src/k.ptx"]].concat(), bad().as_bytes());
    assert!(named.stdout.starts_with("src/k.ptx:12:"), "{}", named.stdout);
    // The same bytes as C++ hold no asm statement.
    let cuda = scratch.run_with(&[&concise[..], &["--stdin-filename", "k.cu"]].concat(), bad().as_bytes());
    assert_eq!((cuda.status, cuda.stdout.as_str()), (0, ""));
    // CUDA C++ without a name is told how to be named.
    let unnamed = scratch.run_with(&concise, CUDA.as_bytes());
    assert_eq!(unnamed.status, 1);
    assert!(
        unnamed.stderr.contains("looks like CUDA C++; `--stdin-filename NAME.cu` says"),
        "{}",
        unnamed.stderr
    );
    assert_eq!(plain.stderr, "");
}

#[test]
fn directories_are_walked_in_order_and_ignore_files_are_respected() {
    let scratch = Scratch::new();
    for name in ["d/z.ptx", "d/a/b.ptx", "d/b.ptx", "d/skipped/x.ptx", "d/note.txt"] {
        scratch.file(name, bad());
    }
    scratch.file("d/.gitignore", "skipped/\n");
    for jobs in ["1", "4"] {
        let answer = scratch.run(&["verify", "--message-format", "concise", "--jobs", jobs, "d"]);
        let told = slashes(&answer.stdout);
        let files: Vec<&str> = told.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(files, ["d/a/b.ptx", "d/b.ptx", "d/z.ptx"]);
    }
    // A file that is named is taken, whatever it is called.
    assert_eq!(scratch.run(&["verify", "d/note.txt"]).status, 1);
    // Without a path it is the current directory, which is not shown in the names.
    let here = scratch.run(&["verify", "--message-format", "concise"]);
    assert!(slashes(&here.stdout).starts_with("d/a/b.ptx:12:"), "{}", here.stdout);
}

#[test]
fn levels_change_severity_and_exit_status() {
    let scratch = Scratch::new();
    scratch.file("bad.ptx", bad());
    let warned = scratch.run(&["verify", "--warn", "syntax", "--message-format", "concise", "bad.ptx"]);
    assert_eq!(warned.status, 0);
    assert!(warned.stdout.contains(": warning[P0102] "), "{}", warned.stdout);
    let allowed = scratch.run(&["verify", "--allow", "all", "bad.ptx"]);
    assert_eq!((allowed.status, allowed.stdout.as_str()), (0, ""));
    let unknown = scratch.run(&["verify", "--allow", "sintax", "bad.ptx"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.stderr.contains("did you mean `syntax`?"), "{}", unknown.stderr);
}

#[test]
fn colour_is_used_when_asked_for_and_never_in_a_pipe() {
    let scratch = Scratch::new();
    scratch.file("bad.ptx", bad());
    for format in ["full", "concise"] {
        let plain = scratch.run(&["verify", "--message-format", format, "bad.ptx"]);
        assert!(!plain.stdout.contains('\x1b') && !plain.stderr.contains('\x1b'));
        let colored = scratch.run(&["verify", "--color", "always", "--message-format", format, "bad.ptx"]);
        assert!(colored.stdout.contains("\x1b["));
        let mut command = scratch.command(&["verify", "--message-format", format, "bad.ptx"]);
        let forced = command.env("FORCE_COLOR", "1").output().unwrap();
        assert!(forced.stdout.contains(&b'\x1b'));
    }
}

#[test]
fn a_closed_pipe_is_silent() {
    let scratch = Scratch::new();
    let lines = "\tadd.u32 %r1 %r2;\n".repeat(20_000);
    scratch.file("many.ptx", format!(".version 8.6\n.target sm_90\n.entry k()\n{{\n{lines}}}\n"));
    let mut command = scratch.command(&["verify", "many.ptx"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
}

#[test]
fn rules_are_listed_and_each_is_explained_by_name_and_code() {
    let scratch = Scratch::new();
    let list = scratch.run(&["rules", "--message-format", "json"]);
    assert_eq!(list.status, 0);
    let table = scratch.run(&["rules"]).stdout;
    assert!(list.stdout.lines().count() > 1);
    for line in list.stdout.lines() {
        let rule: Value = serde_json::from_str(line).unwrap();
        assert_fields(&rule, &["rule", "code", "class", "level", "summary", "doc"]);
        let (name, code) = (rule["rule"].as_str().unwrap(), rule["code"].as_str().unwrap());
        assert!(table.contains(name) && table.contains(code));
        let by_name = scratch.run(&["explain", name]);
        assert_eq!(by_name.status, 0);
        assert!(by_name.stdout.contains(name), "{}", by_name.stdout);
        assert_eq!(by_name.stdout, scratch.run(&["explain", code]).stdout);
    }
    let unknown = scratch.run(&["explain", "no-such-rule"]);
    assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""));
}

#[test]
fn dumps_show_what_is_there_and_tell_errors_on_standard_error() {
    let scratch = Scratch::new();
    scratch.file("bad.ptx", bad());
    let tokens = scratch.run(&["dump", "--tokens", "bad.ptx"]);
    assert_eq!(tokens.status, 0);
    let texts = tokens.stdout.lines().map(|line| line.split_once('"').unwrap().1.strip_suffix('"').unwrap());
    let joined: String = texts.collect::<Vec<_>>().concat().replace("\\t", "\t").replace("\\n", "\n");
    assert_eq!(joined, bad(), "every byte is a token");
    let ast = scratch.run(&["dump", "--ast", "bad.ptx"]);
    assert_eq!(ast.status, 1);
    assert!(ast.stdout.contains("Instruction(None) `st.global.u32` @13:2"), "{}", ast.stdout);
    assert!(ast.stderr.contains("bad.ptx:12:"), "{}", ast.stderr);
    assert_eq!(scratch.run(&["dump", "bad.ptx"]).status, 2);
    assert_eq!(scratch.run(&["dump", "--ast", "--tokens", "bad.ptx"]).status, 2);
}

/// [`GOOD`] in another layout.
fn untidy() -> String {
    GOOD.replace("\n\tmov.u32 %r1, 7;", "\n      mov.u32    %r1,7; // seven")
}

#[test]
fn format_changes_files_in_place_and_is_idempotent() {
    let scratch = Scratch::new();
    scratch.file("d/untidy.ptx", untidy());
    scratch.file("d/k.cu", "int   x ;\n");
    let check = scratch.run(&["format", "--check", "d"]);
    assert_eq!((check.status, slashes(&check.stdout)), (1, "d/untidy.ptx\n".to_owned()));
    assert_eq!(scratch.read("d/untidy.ptx"), untidy(), "--check changes nothing");
    let diff = scratch.run(&["format", "--diff", "d"]);
    assert_eq!(diff.status, 1);
    assert!(diff.stdout.contains("-      mov.u32    %r1,7; // seven"), "{}", diff.stdout);
    assert_eq!(scratch.read("d/untidy.ptx"), untidy(), "--diff changes nothing");
    assert_eq!(scratch.run(&["format", "d"]).status, 0);
    let formatted = scratch.read("d/untidy.ptx");
    assert!(formatted.contains("%r1, 7;") && formatted.contains("// seven"), "{formatted}");
    assert_eq!(scratch.run(&["format", "--check", "d"]).status, 0);
    assert_eq!(scratch.read("d/k.cu"), "int   x ;\n", "C++ is left alone");
    // Both together show the difference, as other formatters do.
    let both = scratch.run(&["format", "--check", "--diff", "d"]);
    let diff = scratch.run(&["format", "--diff", "d"]);
    assert_eq!((both.status, both.stdout), (diff.status, diff.stdout));
}

#[test]
fn format_is_a_filter_that_never_loses_its_input() {
    let scratch = Scratch::new();
    let formatted = scratch.run_with(&["format", "-"], untidy().as_bytes());
    assert_eq!((formatted.status, formatted.stderr.as_str()), (0, ""));
    assert!(formatted.stdout.contains("%r1, 7;"));
    let broken = scratch.run_with(&["format", "-"], bad().as_bytes());
    assert_eq!((broken.status, broken.stdout), (1, bad()));
    assert!(broken.stderr.contains("left as it is: it has a syntax error in line 12,"), "{}", broken.stderr);
    let check = scratch.run_with(&["format", "--check", "-"], untidy().as_bytes());
    assert_eq!((check.status, check.stdout.as_str()), (1, "<stdin>\n"));
}

#[test]
fn format_keeps_bytes_outside_utf8() {
    let scratch = Scratch::new();
    let latin = untidy().replace("seven", "sept \u{e9}").into_bytes();
    let at = latin.windows(2).position(|pair| pair == "\u{e9}".as_bytes()).unwrap();
    let mut latin = latin;
    latin.splice(at..at + 2, *b"\xe9");
    scratch.file("latin.ptx", &latin);
    assert_eq!(scratch.run(&["format", "latin.ptx"]).status, 0);
    let after = std::fs::read(scratch.path().join("latin.ptx")).unwrap();
    assert!(after.windows(7).any(|bytes| bytes == b"sept \xe9\n"), "{}", String::from_utf8_lossy(&after));
}

#[test]
fn the_configuration_counts_for_the_files_below_it() {
    let scratch = Scratch::new();
    scratch.file("p/ptx.toml", "exclude = [\"gen/\"]\n[rules]\nsyntax = \"warn\"\n");
    scratch.file("p/a/bad.ptx", bad());
    scratch.file("p/gen/bad.ptx", bad());
    scratch.file("bad.ptx", bad());
    let inside = scratch.run(&["verify", "p"]);
    assert_eq!(inside.status, 0, "{inside:?}");
    assert!(inside.stderr.contains("1 warning in 1 file"), "{}", inside.stderr);
    assert!(inside.stderr.contains("1 file left out by the configuration"), "{}", inside.stderr);
    assert_eq!(scratch.run(&["verify", "bad.ptx"]).status, 1);
    assert_eq!(scratch.run(&["verify", "--no-config", "p"]).status, 1);
    assert_eq!(scratch.run(&["verify", "--config", "p/ptx.toml", "bad.ptx"]).status, 0);
    // A flag overrules the file.
    assert_eq!(scratch.run(&["verify", "--error", "syntax", "p"]).status, 1);
    let piped = ["verify", "--stdin-filename", "p/x.ptx", "-"];
    assert_eq!(scratch.run_with(&piped, bad().as_bytes()).status, 0);
    for (wrong, message) in [
        ("rulez = 1\n", "in line 1: there is no key `rulez`; did you mean `rules`?"),
        ("[rules]\nsintax = \"warn\"\n", "in line 2: there is no rule `sintax`; did you mean `syntax`?"),
        ("[rules]\nsyntax = \"loud\"\n", "loud"),
        ("[ptx]\ntarget = \"sm_91\"\n", "in line 2: there is no target `sm_91`"),
    ] {
        scratch.file("p/ptx.toml", wrong);
        let answer = scratch.run(&["verify", "p/a/bad.ptx"]);
        assert_eq!(answer.status, 2, "{answer:?}");
        assert!(
            slashes(&answer.stderr).contains("p/ptx.toml") && answer.stderr.contains(message),
            "{}",
            answer.stderr
        );
    }
}

#[test]
fn the_instruction_table_tells_what_a_target_has_and_programs_read_it() {
    let scratch = Scratch::new();
    let (old, new) =
        (scratch.run(&["isa", "--target", "sm_80"]), scratch.run(&["isa", "--target", "sm_90a"]));
    assert!(!old.stdout.contains("wgmma") && old.stdout.contains("mma") && new.stdout.contains("wgmma"));
    let missing = scratch.run(&["isa", "--target", "sm_80", "wgmma.fence"]);
    assert_eq!((missing.status, missing.stdout.as_str()), (1, ""));
    assert!(missing.stderr.contains("is not on sm_80: it needs sm_90a"), "{}", missing.stderr);
    assert!(scratch.run(&["isa", "--target", "sm_80", "add"]).stdout.contains("add.cc.type"));
    assert_eq!(scratch.run(&["isa", "--target", "hopper"]).status, 2);
    let objects = |arguments: &[&str]| -> Vec<Value> {
        let answer = scratch.run(arguments);
        answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let add = objects(&["isa", "--json", "add.cc.u32"]);
    assert_eq!((add.len(), add[0]["opcode"].as_str()), (1, Some("add")));
    assert_eq!(add[0]["operands"], serde_json::json!(["d: .u32, a: .u32, b: .u32"]));
    assert_eq!(add[0]["example"], "add.cc.u32 %r3, %r1, %r2;");
    assert!(add[0]["modifiers"].as_array().unwrap().iter().any(|slot| slot["name"] == "type"), "{}", add[0]);
    assert_eq!(objects(&["isa", "--message-format", "json", "%tid"])[0]["elements"], 4);
    let object = &objects(&["isa", "--json", "--tolerance", "fma.rn.bf16"])[0];
    assert_eq!(object["manual"], true);
    assert!(object["tolerances"].as_array().is_some_and(|said| !said.is_empty()), "{object}");
    for (arguments, status, said) in [
        (
            &["isa", "--json", "nothings"][..],
            2,
            "there is no instruction `nothings`; `ptx-cli isa` lists them",
        ),
        (&["isa", "--json", "add.u33"], 1, "there is no instruction `add.u33`: `add` has no modifier `.u33`"),
        (
            &["isa", "--json", "--target", "sm_80", "wgmma.fence"],
            1,
            "`wgmma.fence` is not on sm_80: it needs sm_90a",
        ),
    ] {
        let answer = scratch.run(arguments);
        let object: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!((answer.status, answer.stderr.as_str()), (status, ""), "{arguments:?}");
        assert_eq!(object["error"], said);
        assert!(object["help"].is_array() && object["alike"].is_array(), "{object}");
    }
    assert_eq!(objects(&["isa", "--json", "ad"])[0]["alike"][0], "add");
    let (all, some) = (objects(&["isa", "--json"]), objects(&["isa", "--json", "--target", "sm_80"]));
    assert!(all.len() > 500 && some.len() < all.len(), "{} {}", all.len(), some.len());
}

#[test]
fn the_instruction_table_can_be_read() {
    let scratch = Scratch::new();
    let list = scratch.run(&["isa"]);
    assert_eq!(list.status, 0);
    for name in ["add", "tcgen05", "wgmma", "vadd"] {
        assert!(list.stdout.contains(name), "{}", list.stdout);
    }
    let add = scratch.run(&["isa", "add"]).stdout;
    assert!(add.contains("add.cc.type") && add.contains("since PTX"), "{add}");
    let carry = scratch.run(&["isa", "add.cc.u32"]).stdout;
    assert!(carry.contains("Extended-Precision") && !carry.contains(".f64"), "{carry}");
    let does = "add.cc.type  d, a, b;\n    the sum; the carry out goes into the carry flag, for `addc`\n    for example add.cc.u32";
    assert!(carry.contains(does), "{carry}");
    assert_eq!(add.matches("    the sum\n").count(), 4, "once in each section: {add}");
    for example in ["add.s32 %r3, %r1, %r2;", "add.f32 %f1, %f2, %f3;", "add.f16 %h1, %h2, %h3;"] {
        assert!(add.contains(&format!("    for example {example}\n")), "{add}");
    }
    let shuffles = scratch.run(&["isa", "shfl"]).stdout;
    assert!(shuffles.contains("since PTX 6.0 until PTX 6.3, sm_70 or higher"), "{shuffles}");
    let loads = scratch.run(&["isa", "ld"]).stdout;
    assert!(loads.contains("    without .ss since PTX 2.0, sm_20 or higher\n"), "{loads}");
    assert!(scratch.run(&["isa", "%clusterid"]).stdout.contains("sm_90"));
    for beginning in ["ld.global", "mma.sync"] {
        assert_eq!(scratch.run(&["isa", beginning]).status, 0, "{beginning}");
    }
    for (spelling, wrong, meant) in [
        ("ld.glob.b32", "no modifier `.glob`", "`ptx-cli isa ld` shows all forms"),
        ("add.cc.f32", "`add` does not take `.cc`", "`ptx-cli isa add` shows all forms"),
        ("add.u33", "no modifier `.u33`", "`.u32`"),
    ] {
        let wrong_spelling = scratch.run(&["isa", spelling]);
        assert_eq!((wrong_spelling.status, wrong_spelling.stdout.as_str()), (1, ""), "{spelling}");
        let said = wrong_spelling.stderr;
        assert!(said.contains(&format!("there is no instruction `{spelling}`")), "{said}");
        assert!(said.contains(wrong) && said.contains(meant), "{said}");
    }
    for (word, what, list) in [
        (".nothing", "directive", "isa ."),
        ("%nothing", "special register", "isa %"),
        ("nothings", "instruction", "isa"),
    ] {
        let unknown = scratch.run(&["isa", word]);
        assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""), "{word}");
        let said = unknown.stderr;
        assert!(
            said.contains(&format!("there is no {what} `{word}`; `ptx-cli {list}` lists them")),
            "{said}"
        );
    }
    // The manual, and on request what the assembler makes of it.
    let (manual, both) =
        (scratch.run(&["isa", "fma.rn.bf16"]), scratch.run(&["isa", "--tolerance", "fma.rn.bf16"]));
    assert!(!manual.stdout.contains(".rz") && !manual.stdout.contains("ptxas"), "{}", manual.stdout);
    assert!(
        both.stdout.contains("    ptxas: `.rz`, `.rm`, `.rp`: the assembler rounds as they say"),
        "{}",
        both.stdout
    );
    let misread = scratch.run(&["isa", "tex"]).stdout;
    assert!(!misread.contains("[a, b, x]"), "{misread}");
    assert!(scratch.run(&["isa", "--tolerance", "tex"]).stdout.contains("[a, b, x]"));
    let forms = |arguments: &[&str]| scratch.run(arguments).stdout.lines().count();
    assert!(forms(&["isa", "--json", "tex"]) < forms(&["isa", "--json", "--tolerance", "tex"]));
    // Which modifiers go together.
    assert!(scratch.run(&["isa", "ld.volatile.global.u32"]).stdout.contains("    .b128 not with "));
    let typed = scratch.run(&["isa", "mad.wide.s32"]).stdout;
    assert!(typed.contains("    operands d: .s64, a: .s32, b: .s32, c: .s64\n"), "{typed}");
    assert!(scratch.run(&["isa", ".maxnreg"]).stdout.starts_with(".maxnreg n\n    no more registers"));
    assert!(scratch.run(&["isa", "%"]).stdout.contains(".sreg .v4 .u32 %tid;"));
    assert!(scratch.run(&["isa", "."]).stdout.contains(".address_size 64"));
    let unknown = scratch.run(&["isa", "wgmna"]);
    assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""));
    assert!(unknown.stderr.contains("did you mean `wgmma`?"), "{}", unknown.stderr);
    for (word, said) in [
        (
            "ad.s32",
            "`ad.s32`: no opcode is called `ad`; did you mean `add.s32`, `ld.s32`, `sad.s32`, `and` or `mad`?",
        ),
        (".maxntd", "no directive `.maxntd`; did you mean `.maxntid`?"),
        ("%tidx", "no special register `%tidx`; did you mean `%tid`"),
        ("nothing.at.all", "no opcode is called `nothing`; `ptx-cli isa` lists them"),
    ] {
        let unknown = scratch.run(&["isa", word]);
        assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""), "{word}");
        assert!(unknown.stderr.contains(said), "{}", unknown.stderr);
    }
    // The example is one of what was asked about, with operands as the form has them.
    for (spelling, example) in [
        ("setp.lt.and.s32", "    for example setp.lt.and.s32 %p1, %r1, %r2, %p2;"),
        ("mov.b64", "    for example mov.b64 %rd1, %rd2;"),
        ("mov.b64", "    for example mov.b64 {%r1, %r2}, %rd1;"),
    ] {
        let shown = scratch.run(&["isa", spelling]).stdout;
        assert!(shown.contains(example), "{shown}");
    }
    // What operands are, which values are meant, and many values in short.
    let matrices = scratch.run(&["isa", "mma"]).stdout;
    assert!(matrices.contains("    .dtype=.f16 only with .ctype=.f16\n"), "{matrices}");
    assert!(add.contains("    operands d, a, b: .type\n"), "{add}");
    let many = scratch.run(&["isa", "wgmma.mma_async"]).stdout;
    assert!(many.contains("{ .m64n8k16, .m64n16k16, …, .m64n256k16 }"), "{many}");
    let element = scratch.run(&["isa", "%tid.x"]).stdout;
    assert!(element.starts_with(".sreg .u32 %tid.x;\n    where the thread is in its block\n"), "{element}");
}

#[test]
fn dumps_of_the_later_steps_show_what_is_known() {
    let scratch = Scratch::new();
    let guarded = GOOD
        .replace("\tmov.u32 %r1, 7;", "\tmov.u32 %r1, %tid.x;\n\tsetp.eq.u32 %p, %r1, 0;\n\t@%p bra END;")
        .replace("\tret;", "\tadd.cc.u32 %r1, %r1, %r1;\n\taddc.u32 %r1, %r1, 0;\nEND:\n\tret;")
        .replace("\t.reg .b32", "\t.reg .pred %p;\n\t.reg .b32");
    scratch.file("k.ptx", guarded);
    let dump = |step: &[&str]| {
        let answer = scratch.run(&[&["dump", "k.ptx"], step].concat());
        assert_eq!(answer.status, 0, "{answer:?}");
        answer.stdout
    };
    let ir = dump(&["--ir"]);
    assert!(ir.contains("special %tid.x"), "{ir}");
    assert!(ir.starts_with("version 8.6 target sm_90 address 64\nEntry k .visible\n"), "{ir}");
    assert!(ir.contains("@%p bra label END"), "{ir}");
    let cfg = dump(&["--cfg"]);
    assert!(cfg.contains("-> block 1 if !%p") && cfg.contains("-> block 2 if %p"), "{cfg}");
    let dot = dump(&["--cfg", "--dot"]);
    assert!(dot.starts_with("digraph ptx {") && dot.trim_end().ends_with('}'), "{dot}");
    let facts = dump(&["--facts"]);
    assert!(facts.contains("carry from 6") && facts.contains("%r1: differs between lanes"), "{facts}");
    assert!(facts.contains("%rd2: address in .global"), "{facts}");
    let needs = dump(&["--needs"]);
    assert!(needs.starts_with("needs PTX 2.3 and sm_20 or higher\n"), "{needs}");
    assert!(needs.contains("  3:15: `.address_size` needs PTX 2.3"), "{needs}");
}

/// A function whose output may share a register with an input that is still read.
const CUDA: &str = r#"__device__ void mul(unsigned& lo, unsigned& hi, unsigned a, unsigned b) {
    asm("mul.lo.u32 %0, %2, %3;\n\t"
        "mul.hi.u32 %1, %2, %3;" : "=r"(lo), "=r"(hi) : "r"(a), "r"(b));
}
"#;

#[test]
fn asm_statements_are_verified_and_fixed_in_their_source() {
    let scratch = Scratch::new();
    scratch.file("src/k.cu", CUDA);
    let found = scratch.run(&["verify", "--message-format", "json", "src"]);
    assert_eq!(found.status, 1);
    let finding: Value = serde_json::from_str(found.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(slashes(finding["file"].as_str().unwrap()), "src/k.cu");
    assert_eq!(finding["line"], 3);
    assert_eq!(finding["rule"], "asm-missing-early-clobber");
    assert_eq!(finding["fix"]["applicability"], "certain");
    let diff = scratch.run(&["verify", "--diff", "src"]);
    assert_eq!(diff.status, 1);
    assert!(diff.stdout.contains("+        \"mul.hi.u32 %1, %2, %3;\" : \"=&r\"(lo)"), "{}", diff.stdout);
    assert_eq!(scratch.read("src/k.cu"), CUDA, "--diff changes nothing");
    let piped = scratch.run_with(&["verify", "--fix", "--stdin-filename", "k.cu", "-"], CUDA.as_bytes());
    assert_eq!(piped.status, 0);
    let fixed = scratch.run(&["verify", "--fix", "src"]);
    assert_eq!((fixed.status, fixed.stdout.as_str()), (0, ""));
    assert_eq!(fixed.stderr, "1 fix applied; no findings in 1 file\n");
    assert_eq!(scratch.read("src/k.cu"), piped.stdout);
    assert_eq!(scratch.run(&["verify", "src"]).status, 0);
}

/// Of modifiers that are out of order one does nothing, which another rule would say of the right order.
#[test]
fn a_refused_fix_says_so_and_stops_no_other() {
    let scratch = Scratch::new();
    let text = GOOD.replace("\tmov.u32 %r1, 7;", "\tld.global.u32 %r1, [%rd2 /* b */ - 4];");
    let text = text.replace("\tret;", "\trcp.ftz.rn.f64 %fd1, 0d4000000000000000;\n\tret;");
    let text = text.replace("\t.reg .b32 %r<2>;", "\t.reg .b32 %r<2>;\n\t.reg .f64 %fd<2>;");
    scratch.file("k.ptx", &text);
    let answer = scratch.run(&["verify", "--diff", "--unsafe-fixes", "k.ptx"]);
    assert!(
        answer.stderr.contains(
            "the fix of noncanonical-order is not applied: it would lead to ineffective-modifier: "
        ),
        "{answer:?}"
    );
    assert!(answer.stderr.contains("1 fix to apply, 1 refused"), "{answer:?}");
    let answer = scratch.run(&["verify", "--fix", "--unsafe-fixes", "--level", "info", "k.ptx"]);
    assert!(answer.stderr.contains("1 fix applied, 1 refused"), "{answer:?}");
    assert!(answer.stdout.contains("its fix is not applied: it would lead to"), "{answer:?}");
    let fixed = scratch.read("k.ptx");
    assert!(fixed.contains("[%rd2 /* b */ +- 4]") && fixed.contains("rcp.ftz.rn"), "{fixed}");
}

/// A copy from shared to global memory may be what `.global.shared` means, and no order of words makes it one.
#[test]
fn an_order_that_tells_a_direction_is_changed_on_request_only() {
    let scratch = Scratch::new();
    let copy = "cp.async.ca.global.shared [%rd2], [%rd2], 16;\n\tcp.async.wait_all;";
    let text = GOOD.replace("\tret;", &format!("\tmul24.u32.lo %r1, %r1, %r1;\n\t{copy}\n\tret;"));
    scratch.file("k.ptx", text);
    scratch.run(&["verify", "--fix", "k.ptx"]);
    let fixed = scratch.read("k.ptx");
    assert!(fixed.contains("mul24.lo.u32") && fixed.contains("cp.async.ca.global.shared"), "{fixed}");
    scratch.run(&["verify", "--fix", "--unsafe-fixes", "k.ptx"]);
    assert!(scratch.read("k.ptx").contains("cp.async.ca.shared.global"));
}

/// A byte that is no UTF-8 is what it was, wherever fixes are.
#[test]
fn fixes_keep_bytes_that_are_no_utf8() {
    let scratch = Scratch::new();
    let text = GOOD.replace("\tmov.u32 %r1, 7;", "\tld.global.u32 %r1, [%rd2 /* @ */ - 4]; // @");
    let latin: Vec<u8> = text.bytes().map(|byte| if byte == b'@' { 0xe9 } else { byte }).collect();
    scratch.file("k.ptx", &latin);
    scratch.run(&["verify", "--fix", "k.ptx"]);
    let fixed = std::fs::read(scratch.path().join("k.ptx")).unwrap();
    assert_eq!(fixed.len(), latin.len() + 1);
    assert_eq!(fixed.iter().filter(|byte| **byte == 0xe9).count(), 2);
}
