//! What is made of small files of `isa/manual/`, and which mistakes are reported.

use super::compile;
use crate::format::WIDTH;

const VERSIONS: &str = "version 1.0 = cuda 1.0;\nversion 2.0 = cuda 3.0 driver 195;\n";
const TARGETS: &str = "target sm_10 since 1.0;\ntarget sm_20 since 2.0, a since 2.0;\nfamily 20;\n";
const REGISTERS: &str = "%tid{.x .y} : u32 narrow since 1.0 varies thread means \"a test\";\n";
const DIRECTIVES: &str = "directive .quux as Quux in kernel;\n    takes 1 integers in 1..max;\n    written \".quux n\";\n    means \"a test\";\n";

/// The files with one of them replaced.
fn files(name: &str, text: &str) -> Vec<(String, String)> {
    let all = [
        ("versions.isa", VERSIONS),
        ("targets.isa", TARGETS),
        ("special_registers.isa", REGISTERS),
        ("directives.isa", DIRECTIVES),
    ];
    all.map(|(each, own)| (each.to_owned(), if each == name { text } else { own }.to_owned())).into()
}

#[track_caller]
fn faults(name: &str, text: &str) -> Vec<String> {
    let faults = compile(&files(name, text)).expect_err("there is a mistake");
    faults
        .iter()
        .map(|fault| fault.to_string().trim_start_matches(name).trim_start_matches(':').to_owned())
        .collect()
}

fn generated(name: &str, text: &str, wanted: &str) -> String {
    let all = compile(&files(name, text)).unwrap_or_else(|faults| panic!("{faults:?}"));
    all.into_iter().find(|each| each.name == wanted).expect("it is made").text
}

#[test]
fn one_paragraph_makes_a_special_register() {
    let text = generated(
        "special_registers.isa",
        "%new{1..2} : u64 since 2.0 on sm_20 in 0..7 means \"a test\";\n",
        "special_registers.rs",
    );
    for wanted in [
        "name: \"%new2\", ty: Type::U64, reads: Reads::Double, min_version: Version::new(2, 0), min_target: 20",
        "range: Some((0, 7)), means: \"a test\"",
        "pub const NEW1: Self = Self(0);",
    ] {
        assert!(text.contains(wanted), "{text}");
    }
    let text = generated("special_registers.isa", REGISTERS, "special_registers.rs");
    let reads: Vec<&str> =
        text.lines().filter_map(|line| line.split("Reads::").nth(1)?.split(',').next()).collect();
    assert_eq!(reads, ["NarrowVector", "Narrow", "Narrow"]);
}

#[test]
fn one_paragraph_makes_a_directive() {
    let text = generated("directives.isa", DIRECTIVES, "directives.rs");
    assert!(text.contains("/// `.quux`: a test.\n    Quux,"), "{text}");
    assert!(
        text.contains("arguments: Arguments::Integers { least: 1, most: 1, low: 1, high: 4294967295 }"),
        "{text}"
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    assert_eq!(
        faults(
            "special_registers.isa",
            "%a : u32 since 1.1;\n%b : u31 since 1.0;\n%c : u32 since 1.0 varies moon;\n%d : u32 since 1.0 .x in 0..1;\n\
             %e : u32 since 1.0;\n%f : u32 since 1.0 means \"it\";\n%f : u32 since 1.0 means \"it\";\n"
        ),
        [
            "1: this version was never published",
            "2: no special register is a `u31`",
            "3: nothing varies by `moon`",
            "4: there is no element `.x`",
            "5: expected `means`, found the end",
            "7: `%f` is there already",
        ]
    );
    assert_eq!(
        faults(
            "directives.isa",
            "directive .a as A in kernel;\n    excludes .b;\n    written \".a\";\n    means \"x\";\ndirective .c as C in moon;\n"
        ),
        ["1: there is no directive `.b`", "5: no directive is in a `moon`"]
    );
    let order = faults("versions.isa", "version 2.0 = cuda 3.0;\nversion 1.0 = cuda 1.0;\n");
    assert!(order.contains(&"2: the version before this one is not older".to_owned()), "{order:?}");
    assert_eq!(
        faults("targets.isa", "target sm_10 since 1.0;\ntarget sm_20 since 2.0\n"),
        ["2: a definition that begins here has no `;`"]
    );
    let unknown = compile(&[("quux.isa".to_owned(), String::new())]).expect_err("there is no such file");
    assert!(
        unknown.iter().any(|fault| fault.to_string() == "quux.isa:0: nothing reads this file"),
        "{unknown:?}"
    );
}

#[test]
fn the_files_have_short_lines() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa/manual");
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let long = text.lines().position(|line| line.chars().count() > WIDTH);
        assert_eq!(long, None, "{path:?}");
    }
}
