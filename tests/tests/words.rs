//! What is known of the ISA is in the table: no other source knows a modifier, an opcode, an operand, a directive or a
//! special register by its spelling.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ptx_ir::directive::{DirectiveKind, Pragma};
use ptx_ir::isa::{self, OpcodeId};
use ptx_ir::special::SpecialRegister;
use ptx_tests::tools::root;

const CRATES: [&str; 6] =
    ["ptx-ir", "ptx-verify", "ptx-verify/facts", "ptx-emit", "ptx-cli/project", "ptx-cli"];

/// Where types and state spaces get their spelling.
const DEFINITIONS: [&str; 2] = ["ptx-ir/src/types.rs", "ptx-ir/src/space.rs"];

/// Names of operands that are words of other things too.
const ENGLISH: [&str; 15] = [
    "address",
    "arguments",
    "barrier",
    "counter",
    "endpoint",
    "mode",
    "prototype",
    "results",
    "sink",
    "size",
    "state",
    "stride",
    "target",
    "targets",
    "type",
];

/// The spellings that only the table may know.
struct Vocabulary {
    modifiers: BTreeSet<&'static str>,
    operands: BTreeSet<&'static str>,
    /// Directives, pragmas and special registers, with dot and percent sign.
    others: BTreeSet<&'static str>,
}

impl Vocabulary {
    fn new() -> Self {
        let (mut modifiers, mut operands) = (BTreeSet::new(), BTreeSet::new());
        for form in isa::forms() {
            modifiers.extend(form.slots().flat_map(|slot| slot.values));
            operands.extend(form.operand_names());
        }
        operands.retain(|name| name.len() > 3 && !ENGLISH.contains(name));
        let registers = SpecialRegister::all().map(SpecialRegister::name);
        let pragmas = Pragma::all().map(|pragma| pragma.word);
        let others = DirectiveKind::all().map(DirectiveKind::word).chain(registers).chain(pragmas);
        Self { modifiers, operands, others: others.collect() }
    }

    fn has(&self, literal: &str) -> bool {
        // An opcode alone may be any word: `add`, `all`. With a modifier it is none.
        let is_spelling = literal.split_once('.').is_some_and(|(root, rest)| {
            OpcodeId::parse(root).is_some()
                && rest.chars().all(|each| each.is_ascii_alphanumeric() || "_.:".contains(each))
        });
        self.modifiers.contains(literal)
            || self.operands.contains(literal)
            || self.others.contains(literal)
            || is_spelling
    }
}

/// The string literals of a source file, without its comments and its tests.
fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let line = line.replace("\\\\", "").replace("\\\"", "").replace("'\"'", "");
        found.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
    }
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The words of each file, by its path in the repository.
fn words() -> BTreeMap<String, BTreeSet<String>> {
    let vocabulary = Vocabulary::new();
    let mut files = Vec::new();
    for name in CRATES {
        sources(&root().join(name).join("src"), &mut files);
    }
    let mut all = BTreeMap::new();
    for file in files {
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        if DEFINITIONS.contains(&name.as_str()) || name.ends_with("tests.rs") || name.contains("/tests/") {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        let words: BTreeSet<String> =
            literals(&source).into_iter().filter(|each| vocabulary.has(each)).collect();
        if !words.is_empty() {
            all.insert(name, words);
        }
    }
    all
}

#[test]
fn only_the_table_knows_how_instructions_are_spelled() {
    let known = words();
    assert!(known.is_empty(), "these belong into ptx-ir/isa: {known:?}");
}

/// The variants of an enumeration in a source file.
fn variants(source: &str, name: &str) -> Vec<String> {
    let body = source.split_once(&format!("pub enum {name} {{")).unwrap().1.split_once("\n}").unwrap().0;
    let lines = body.lines().map(str::trim).filter(|line| line.starts_with(char::is_uppercase));
    lines.map(|line| line.trim_end_matches(',').to_owned()).collect()
}

/// What the table says of instructions besides their operands is for somebody.
#[test]
fn each_role_and_meaning_is_read() {
    let isa = root().join("ptx-ir/src/isa");
    let read = |name: &str| std::fs::read_to_string(isa.join(name)).unwrap();
    let (instance, effects) = (read("instance.rs"), read("effects.rs"));
    let mut files = Vec::new();
    for name in CRATES {
        sources(&root().join(name).join("src"), &mut files);
    }
    let code: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let table: String = ["manual", "assembler"]
        .iter()
        .flat_map(|layer| std::fs::read_dir(root().join("ptx-ir/isa").join(layer)).unwrap())
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let kinds = [("Purpose", &instance), ("Mode", &effects), ("Computation", &effects), ("Event", &effects)];
    for (kind, source) in kinds {
        let all = variants(source, kind);
        assert!(all.len() > 10, "{kind}: {all:?}");
        for variant in all {
            // The enumeration may have a shorter name there.
            let path = format!("::{variant}");
            assert!(code.iter().any(|text| text.contains(&path)), "nobody reads `{kind}{path}`");
            let word = variant.chars().flat_map(|each| {
                let dash = each.is_uppercase().then_some('-');
                dash.into_iter().chain(each.to_lowercase())
            });
            let word: String = word.skip(1).collect();
            let is_said = |text: &str| {
                let before = match kind {
                    "Purpose" => "as ",
                    "Mode" => "means ",
                    "Computation" => "computes ",
                    _ => "event ",
                };
                // Alternatives of an opcode each say something: `computes minimum|maximum`.
                text.split(before).skip(1).any(|rest| {
                    let said = rest.split([' ', ';', '\n']).next().unwrap_or_default();
                    said.split('|').any(|each| each == word)
                })
            };
            assert!(is_said(&table), "no form of the table says `{word}`");
        }
    }
}

#[test]
fn a_literal_is_found_and_a_comment_is_not() {
    let source =
        "let a = f(\".lt\", \"x\\\"y\"); // \".gt\"\n/// \".eq\"\n#[cfg(test)]\nmod tests { \".ne\" }\n";
    assert_eq!(literals(source), [".lt", "xy", ".gt"]);
    let vocabulary = Vocabulary::new();
    assert!(vocabulary.has(".lt") && vocabulary.has("membermask") && vocabulary.has("cvta.to"));
    assert!(!vocabulary.has("size") && !vocabulary.has("add") && !vocabulary.has("ptx.toml"));
}
