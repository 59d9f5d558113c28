//! What the compiler makes of small tables, and which mistakes it reports.

use crate::format::WIDTH;
use crate::writer::write_in_place;
use crate::{Fault, Source, all_sources, format, resolved};

const TYPES: &str = "classes default {\n    .u32 = u32 | int;\n    .u64 = u64 | int;\n    .f32 = f32;\n    .pred = pred;\n}\n\
                     classes element {\n    .u32 = u32 | int;\n}\n\
                     classes address {\n    generic = u64;\n    .global = u64;\n}\noperand label = label;\n";

fn compile(sources: &[Source]) -> Result<String, Vec<Fault>> {
    resolved(sources).map(|table| write_in_place(&table))
}

fn compiled(text: &str) -> Result<String, Vec<Fault>> {
    let source = |name: &str, text: &str| Source { name: name.to_owned(), text: text.to_owned() };
    compile(&[source("a.isa", text), source("types.isa", TYPES)])
}

/// The mistakes of a table, as `line: sentence`.
#[track_caller]
fn faults(text: &str) -> Vec<String> {
    let faults = compiled(text).expect_err("the table has a mistake");
    faults.iter().map(|fault| fault.to_string().trim_start_matches("a.isa:").to_owned()).collect()
}

#[track_caller]
fn fault(text: &str, expected: &str) {
    assert_eq!(faults(text), [expected], "{text}");
}

#[track_caller]
fn good(text: &str) -> String {
    compiled(text).unwrap_or_else(|faults| panic!("{text}\n{faults:?}"))
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = "foo.type  d, a;\n    .type = { .u32, .f32 };\n    d : out .typo;\n    a : quux;\n    .u31 since 2.0;\n    \
                since 1.0;\n\nbar  d;\n    d : ;\n    on sm_7;\n    since 1.0;\n";
    assert_eq!(
        faults(text),
        [
            "3: the syntax line has no `.typo`",
            "4: `quux` is neither a type nor a kind of operand",
            "5: the form has no `.u31`",
            "8: no clause says what the operand `d` is",
            "9: expected a name, found `;`",
            "10: `sm_7` is not a target",
        ]
    );
}

#[test]
fn a_mistake_in_a_definition_leaves_the_forms_after_it() {
    let text = ".rnd = .rn .rz;\n\nfoo  d;\n    d : out u32;\n    since 1.0;\n\nfoo  d;\n    d : out u31;\n    since 1.0;\n";
    assert_eq!(
        faults(text),
        ["1: expected `{`, found `.rz`", "8: `u31` is neither a type nor a kind of operand"]
    );
}

#[test]
fn a_form_written_twice() {
    fault(
        "foo.a  d;\n    d : out u32;\n    since 1.0;\n\nfoo.a  d;\n    d : out u32;\n    since 1.0;\n    on sm_80+;\n",
        "5: the form of a.isa:1 is the same and comes before it",
    );
    good(
        "foo.a  d;\n    d : out u32;\n    since 1.0 on sm_80+;\n\nfoo.a  d;\n    d : out u32;\n    since 1.0;\n",
    );
}

#[test]
fn a_form_that_nothing_reaches() {
    let form = |values: &str, more: &str| {
        format!("foo.type  d;\n    .type = {{ {values} }};\n    d : out .type;\n    since 1.0{more};\n\n")
    };
    let two = |first: &str, second: &str| first.to_owned() + second;
    let all = form(".u32, .u64", "");
    fault(
        &two(&all, &form(".u64", "")),
        "6: the form of a.isa:1 takes all that this one does and comes before it",
    );
    fault(
        &two(&all, &form(".u64", " on sm_80+")),
        "6: the form of a.isa:1 takes all that this one does and comes before it",
    );
    // The first lacks something that the second has: a value, a version, a choice.
    good(&two(&form(".u64", ""), &all));
    good(&two(&form(".u32, .u64", " on sm_80+"), &form(".u64", "")));
    let choosy = "foo{.a}.type  d;\n    .type = { .u32, .u64 };\n    d : out .type;\n    .a not with .u64;\n    since 1.0;\n\n";
    let plain = "foo{.a}.type  d;\n    .type = { .u64 };\n    d : out .type;\n    since 1.0;\n";
    good(&two(choosy, plain));
}

#[test]
fn faults_of_several_files_are_told_at_once() {
    let source = |name: &str, text: &str| Source { name: name.to_owned(), text: text.to_owned() };
    let one = "foo  d;\n    d : out u32 as fun;\n    since 1.0;\n\nfoo.a  d;\n    d : out u32;\n";
    let other = "bar  d;\n    d : out u32;\n    since 1.0;\n    effect dance;\n";
    let faults = compile(&[source("b.isa", other), source("a.isa", one), source("types.isa", TYPES)]);
    let faults: Vec<String> = faults.unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "a.isa:2: no operand is for `fun`",
            "a.isa:5: no clause says `since` which version",
            "b.isa:4: `dance` is no effect",
        ]
    );
}

/// The texts of product code that rules and analyses are made of.
fn product_code() -> String {
    fn read(folder: &std::path::Path, text: &mut String) {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            // These define the words and carry them from the table to those who read them.
            let carries = ["table.rs", "effects.rs", "dump.rs"].iter().any(|name| path.ends_with(name));
            if path.is_dir() {
                read(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !carries {
                let file = std::fs::read_to_string(&path).expect("it can be read");
                text.push_str(file.split("#[cfg(test)]").next().unwrap_or_default());
            }
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = String::new();
    for folder in ["ptx-ir/src", "ptx-verify/facts/src", "ptx-verify/src", "ptx-cli/src"] {
        read(&root.join(folder), &mut text);
    }
    text
}

#[test]
fn somebody_reads_each_role_and_meaning() {
    let code = product_code();
    let is_read = |name: &str| {
        let mut places = code.match_indices(name).map(|(at, _)| &code[at + name.len()..]);
        places.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    };
    // What starts is asynchronous whatever its group, and no rule is about this one alone.
    let all: Vec<_> = crate::words::meanings().into_iter().filter(|(word, ..)| *word != "fabric").collect();
    let unread: Vec<String> = all
        .iter()
        .filter(|(_, kind, name)| !is_read(&format!("{kind}::{name}")) && !is_read(&format!("C::{name}")))
        .map(|(word, kind, _)| format!("{kind} {word}"))
        .collect();
    assert_eq!(unread, Vec::<String>::new(), "nobody reads these");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa");
    let (_, sources) = all_sources(&folder, "").unwrap();
    let text: String = sources.iter().map(|source| source.text.as_str()).collect();
    let words: std::collections::HashSet<&str> =
        text.split(|each: char| !each.is_ascii_alphanumeric() && each != '-').collect();
    let unused: Vec<&str> =
        all.iter().map(|(word, _, _)| *word).filter(|word| !words.contains(word)).collect();
    assert_eq!(unused, Vec::<&str>::new(), "no form says these");
}

#[test]
fn what_a_form_does() {
    let form = |clauses: &str| format!("foo  d;\n    d : out u32;\n    since 1.0;\n{clauses}");
    let table = good(&form("    does \"a test\";\n"));
    assert!(forms(&table, "foo  d;").contains("does: Some(\"a test\")"), "{table}");
    fault(&form("    does \"a\";\n    does \"b\";\n"), "5: what the form does is there twice");
}

#[test]
fn what_several_forms_do() {
    let rows = "does foo \"one\" as \"foo.u32 %r1;\";\ndoes foo.bar \"two\"\n    \"and more\";\n";
    let table = good(&format!(
        "{rows}foo.u32  d;\n    d : out u32;\n    since 1.0;\n\nfoo{{.ftz}}.bar.u32  d;\n    d : out u32;\n    since 1.0;\n\n\
         foo{{.bar}}.f32  d;\n    d : out f32;\n    since 1.0;\n    does \"three\";\n"
    ));
    let has = |form: &str, does: &str| assert!(forms(&table, form).contains(does), "{form}: {table}");
    has("foo.u32  d;", "does: Some(\"one\"), example: Some(\"foo.u32 %r1;\")");
    has("foo{.ftz}.bar.u32  d;", "does: Some(\"two and more\"), example: None");
    has("foo{.bar}.f32  d;", "does: Some(\"three\"), example: None");
    fault(
        "does foo.baz \"one\";\nfoo.u32  d;\n    d : out u32;\n    since 1.0;\n",
        "1: no form needs what this says of `foo.baz`",
    );
}

#[test]
fn the_layout_of_what_forms_do() {
    let word = "wordy ";
    let text = format!(
        "foo  d;\n    since 1.0;\n\ndoes   bar.baz \"{}end\"\n as \"bar  d;\";\n\nbar.baz;\n",
        word.repeat(40)
    );
    let formatted = format(&text);
    assert!(formatted.lines().all(|line| line.chars().count() <= WIDTH), "{formatted}");
    assert_eq!(formatted.lines().filter(|line| line.is_empty()).count(), 1, "{formatted}");
    assert!(formatted.contains("\n\ndoes bar.baz \"wordy wordy"), "{formatted}");
    assert!(formatted.ends_with("end\"\n    as \"bar  d;\";\nbar.baz;\n"), "{formatted}");
    assert_eq!(format(&formatted), formatted);
}

#[test]
fn the_layout_of_what_is_no_instruction() {
    let text = "# why\nversion 1.0 = cuda 1.0;\nversion 1.1 =\n  cuda 1.1;\n\n%tid :  u32\n since 1.0 means \"a b\";\n\n\
                directive .a as A in kernel;\n  takes nothing;\n  written '.a \";\"';\n  means \"x\";\npragma \"y\"   in body;\n";
    let expected = "# why\nversion 1.0 = cuda 1.0;  version 1.1 = cuda 1.1;\n\n%tid : u32 since 1.0 means \"a b\";\n\n\
                    directive .a as A in kernel;\n    takes nothing;  written '.a \";\"';  means \"x\";\n\npragma \"y\" in body;\n";
    assert_eq!(format(text), expected);
}

#[test]
fn a_clause_that_never_counts() {
    let form =
        |clauses: &str| format!("foo.type  d;\n    .type = {{ .u32, .u64 }};\n{clauses}    since 1.0;\n");
    fault(
        &form("    d : out .type;\n    d : out u32 if .u32;\n"),
        "1: a clause for `d` never counts: one before it holds first (.u32)",
    );
    fault(
        &form("    d : out u32 if .u32|.u64;\n    d : out u64 if .u64;\n"),
        "1: a clause for `d` never counts: one before it holds first (.u64)",
    );
    good(&form("    d : out u32 if .u32;\n    d : out .type;\n"));
}

#[test]
fn requirements() {
    fault("foo  d;\n    d : out u32;\n", "1: no clause says `since` which version");
    fault("foo{.x}  d;\n    d : out u32;\n    .x since 2.0;\n", "1: no clause says `since` which version");
    fault(
        "foo  d;\n    d : out u32;\n    since 7.0 until 6.0;\n",
        "1: no version and target meets the requirement of `` and those of the form",
    );
    fault(
        "foo{.x}  d;\n    d : out u32;\n    since 7.0 on sm_80+;\n    .x on sm_50..sm_62;\n",
        "1: no version and target meets the requirement of `.x` and those of the form",
    );
    fault(
        "foo.x  d;\n    .x = { .a, .b };\n    d : out u32;\n    since 1.0;\n    .a since 8.0;\n    .a|.b until 7.0;\n",
        "1: no version and target meets all requirements of `.a`",
    );
    good(
        "foo.x  d;\n    .x = { .a, .b };\n    d : out u32;\n    since 1.0;\n    .a since 8.0;\n    .b until 7.0;\n",
    );
    fault(
        "foo{.x}  d;\n    d : out u32;\n    since 7.0;\n    .x since 8.0;\n    .x since 8.0;\n",
        "1: the requirement of `.x` is there twice",
    );
    fault("foo  d;\n    d : out u32;\n    since 7.9;\n", "3: this version was never published");
}

#[test]
fn requirements_of_classes_are_lacked_one_by_one() {
    let form = |clauses: &str| {
        format!("foo  d, a, b;\n    d : out u32;\n    a, b : u32;\n    since 1.0;\n{clauses}")
    };
    let count = |clauses: &str| good(&form(clauses)).matches("syntax: \"foo").count();
    assert_eq!(count(""), 1);
    assert_eq!(count("    with a +int on sm_90+;\n"), 2);
    assert_eq!(count("    with a, b +int on sm_90+;\n"), 2);
    // What asks for the same is lacked together, and each other requirement by itself.
    assert_eq!(count("    with a +int on sm_90+;\n    with b +int on sm_90+;\n"), 2);
    assert_eq!(count("    with a +int since 6.0;\n    with b +int on sm_90+;\n"), 4);
    // Nothing meets both, or what meets one meets the other.
    assert_eq!(count("    with a +int on sm_50..sm_62;\n    with b +int on sm_90+;\n"), 3);
    assert_eq!(count("    with a +int since 6.0;\n    with b +int since 7.0;\n"), 3);
    // A condition that all values meet is none; one that some meet leaves the others.
    let of_values = |values: &str, clauses: &str| {
        let shared = "    d : out u32;\n    a, b : u32;\n    since 1.0;\n    .x = { .y, .z };\n";
        good(&format!("foo.x  d, a, b;\n{shared}    with a +int {values} on sm_50..sm_62;\n{clauses}"))
    };
    let other = "    with b +int .y|.z on sm_90+;\n";
    let count = |values: &str| of_values(values, other).matches("syntax: \"foo").count();
    assert_eq!((count(".y|.z"), count(".y")), (3, 4));
    // The first line that is left is the one to be shown.
    assert_eq!(of_values(".y|.z", other).matches("narrowed: false").count(), 1);
    // A mark is in the narrowed form alone.
    let marked = good(&form("    with a -strict on sm_90+;\n"));
    let plain = good(&form("    with a +strict on sm_90+;\n"));
    assert_eq!(marked.matches("syntax: \"foo").count(), 2);
    assert!(marked != plain);
    fault(
        &form("    with a, b on sm_90+;\n"),
        "5: several operands bring a requirement only together with classes",
    );
    fault(&form("    with a +int on sm_7;\n"), "5: `sm_7` is not a target");
}

#[test]
fn an_effect_written_twice() {
    fault(
        "foo  d;\n    d : out u32;\n    since 1.0;\n    effect aligned;\n    effect aligned;\n",
        "1: the effect `aligned` is there twice",
    );
}

#[test]
fn conditions_that_leave_nothing() {
    let form = |clause: &str| {
        format!(
            "foo.a{{.b}}  d;\n    .a = {{ .u32, .u64 }};\n    .b = {{ .x, .y }};\n    d : out u32;\n{clause}    since 1.0;\n"
        )
    };
    fault(
        &form("    .u32 .u64 since 2.0;\n"),
        "5: this holds for no value: two tests of one modifier exclude each other",
    );
    fault(&form("    .x not with .y;\n"), "5: the two sides are about different values of one modifier");
    fault(&form("    .x not with .a;\n"), "1: the rules allow `.x` with nothing");
    fault(&form("    .x not with .u32;\n    .x not with .u32;\n"), "1: the rule about `.x` is there twice");
    good(&form("    .x not with .u32;\n    .b since 2.0;\n"));
}

#[test]
fn a_word_that_names_a_slot_stands_for_its_values() {
    let form = |clause: &str| {
        format!(
            "foo.a{{.b}}  d;\n    .a = {{ .u32, .u64 }};\n    .b = {{ .x, .y }};\n    d : out u32;\n{clause}    since 1.0;\n"
        )
    };
    assert_eq!(good(&form("    .b since 2.0;\n")), good(&form("    .x|.y since 2.0;\n")));
    assert_eq!(good(&form("    !.x since 2.0;\n")), good(&form("    .y since 2.0;\n")));
    let set = format!(".w = {{ .y, .z }};\n{}", form("    .w since 2.0;\n"));
    assert_eq!(good(&set).replace("a.isa:2", "a.isa:1"), good(&form("    .y since 2.0;\n")));
}

#[test]
fn names_that_nothing_uses() {
    let form = "foo  d;\n    d : out u32;\n    since 1.0;\n";
    fault(&format!(".x = {{ .a }};\n{form}"), "1: nothing uses `x`");
    fault(&format!("e : out u32;\n{form}"), "1: nothing uses `e`");
    fault(&format!("words odd {{ .a }}\n{form}"), "1: `odd` is no list of words that anything asks for");
    fault(
        &format!("words nearest {{ .a }}\nwords nearest {{ .b }}\n{form}"),
        "2: `nearest` is defined twice",
    );
    fault(&format!("clauses x {{\n    since 2.0;\n}}\n{form}"), "1: nothing uses `x`");
    fault(
        &format!("clauses x {{\n    since 2.0;\n    .a since 3.0;\n}}\n{form}    use x;\n"),
        "3: no form that uses `x` has what this clause is about",
    );
    fault(&format!("{form}    use y;\n"), "4: no clauses are called `y`");
}

#[test]
fn shared_clauses_and_operands() {
    let shared = "d : out u32;\nclauses x {\n    .a since 3.0;\n    since 1.0;\n}\nfoo{.a}  d;\n    use x;\nbar{.b}  d;\n    use x;\n";
    let written = "\n\n\n\n\nfoo{.a}  d;\n    d : out u32; .a since 3.0; since 1.0;\nbar{.b}  d;\n    d : out u32; since 1.0;\n";
    assert_eq!(good(shared), good(written));
}

#[test]
fn lengths_by_formula() {
    let form = |shape: &str, count: &str| {
        format!(
            "foo.shape.t  d;\n    .shape = {shape};\n    .t = {{ .f32, .u32 }};\n    {count}\n    since 1.0;\n"
        )
    };
    let counts = "counts n { .m8n2k = 1; .m8n4k = 2; .m8n6k = 3; }\n    d : out vec(n) u32;";
    let written = good(&form("{ .m8n2k, .m8n4k, .m8n6k }", counts));
    assert_eq!(good(&form(".m8n{N}k for N in 2..6 step 2", "d : out vec(N / 2) u32;")), written);
    assert_eq!(good(&form(".m8n{N}k for N in 2, 4..6 step 2", "d : out vec(N * 2 / 4) u32;")), written);
    fault(
        &form(".m8n{N}k for N in 2..3", "d : out vec(N / 2) u32;"),
        "4: the length for `.m8n3k` is no number",
    );
    fault(&form(".m8n{N}k for N in 2..3", "d : out vec(M) u32;"), "4: no modifier of the form has `{M}`");
    let slot = good(&form("{ .x1, .x2 }", "counts n { .x1 = 2; .x2 = 4; }\n    d : out vec(n) u32;"));
    assert_eq!(good(&form("{ .x1, .x2 }", "d : out vec(.shape * 2) u32;")), slot);
}

#[test]
fn lengths_of_a_table_by_formula() {
    let form = |lines: &str| {
        format!(
            "foo.t.num  d;\n    .t = {{ .f32, .u32 }};\n    .num = {{ .x2, .x8 }};\n    counts n {{ {lines} }}\n    \
             d : out vec(n) u32;\n    since 1.0;\n"
        )
    };
    let written = good(&form(".f32 .x2 = 1; .f32 .x8 = 2; .u32 .x2 = 2; .u32 .x8 = 8;"));
    assert_eq!(good(&form(".f32 = .num / 4 at least 1; .u32 = .num;")), written);
    assert_eq!(good(&form(".f32 .x2 = .num / 2; .f32 .x8 = 2; .u32 = .num;")), written);
    fault(&form(".f32 = .num / 4; .u32 = .num;"), "5: the length for `.x2` is no number");
    fault(&form(".f32 = .size;"), "5: the syntax line has no `.size`");
    let found = faults(&form(".f32 = size;"));
    assert_eq!(found[0], "4: expected a number or a formula, found `size`");
}

#[test]
fn alternatives_are_forms() {
    let of = |clauses: &str| {
        let table = good(&format!("foo  d, a;\n    d : out u32;  a : u32;\n{clauses}"));
        table.replace("a.isa:5", "a.isa:1")
    };
    let either = of("    since 1.0 on sm_50..sm_62 or since 6.0 on sm_70+ until 6.3;\n");
    let form = "\nfoo  d, a;\n    d : out u32;  a : u32;\n    since 6.0 on sm_70+ until 6.3;\n";
    assert_eq!(either, of(&format!("    since 1.0 on sm_50..sm_62;\n{form}")));
    // Alternatives of several clauses go together.
    let form = |d: &str, a: &str| format!("foo  d, a;\n    d : out {d};  a : {a};\n    since 1.0;\n");
    let two = good(&form("u32 or out u64", "u64 or u32"));
    let apart =
        good(&format!("{}\n{}", form("u32", "u64"), form("u64", "u32"))).replace("a.isa:5", "a.isa:1");
    assert_eq!(two, apart);
    fault(
        &form("u32 or out u64", "u64 or u32 or f32"),
        "2: this has another number of alternatives than what is before it",
    );
    fault(
        "clauses x {\n    since 1.0 or since 2.0;\n}\nfoo  d;\n    d : out u32;  use x;\n    since 1.0;\n",
        "2: only a form has alternatives",
    );
    fault("d : out u32 or out u64;\nfoo;\n    since 1.0;\n", "1: only a form has alternatives");
}

#[test]
fn alternatives_of_the_opcode_have_effects_of_their_own() {
    let form = |roots: &str, effect: &str| {
        format!("{roots}.u32  d;\n    d : out u32;\n    since 1.0;\n    effect {effect};\n")
    };
    let both = good(&form("max|min", "computes maximum|minimum"));
    let apart = format!("{}\n{}", form("max", "computes maximum"), form("min", "computes minimum"));
    assert_eq!(both, good(&apart).replace("a.isa:6", "a.isa:1"));
    fault(
        &form("max|min", "computes maximum|minimum|absolute"),
        "4: `maximum|minimum|absolute` has 3 words for 2 opcodes",
    );
}

#[test]
fn an_operand_in_brackets_may_be_another() {
    let lines = "foo  d, a;\nfoo  d, [a];\n    since 1.0;\n";
    let shared = good(&format!("d : out u32;\na : u32;\n[a] : addr;\n{lines}"));
    let said = good(&format!("d : out u32;\n\n\n{lines}    a : u32;  [a] : addr;\n"));
    assert_eq!(shared, said);
    let own = format!("d : out u32;\n[a] : addr;\n\n{lines}    a : u32;  [a] : addr(.global);\n");
    fault(&own, "2: nothing uses `[a]`");
    fault("foo  d;\n    d : out u32;  [a] : addr;\n    since 1.0;\n", "2: no syntax line has an operand `a`");
}

#[test]
fn a_set_for_several_modifiers() {
    let form = |sets: &str| format!("foo.a.b  d;\n    {sets}\n    d : out .a;\n    since 1.0;\n");
    let one = good(&form(".a, .b = { .u32, .u64 };"));
    assert_eq!(one, good(&form(".a = { .u32, .u64 };  .b = { .u32, .u64 };")));
    fault(&form(".a, .b = { .u32, .u64 };  .b = { .f32 };"), "2: `.b` is defined twice");
}

#[test]
fn rules_that_allow_nothing() {
    fault(
        "foo.a{.b}  d;\n    .a = { .u32, .u64 };\n    .b = { .x, .y };\n    d : out u32;\n    .a not with .b;\n    \
         .a not with no .b;\n    since 1.0;\n",
        "1: the rules allow no choice of modifiers",
    );
}

#[test]
fn unknown_words() {
    let form = |clause: &str| format!("foo{{.x}}  d;\n    d : out u32;\n    since 1.0;\n    {clause}\n");
    fault(&form("effect dance;"), "4: `dance` is no effect");
    fault(&form("effect computes nonsense;"), "4: `nonsense` is nothing that is computed");
    fault(&form("e : u32;"), "4: no syntax line has an operand `e`");
    fault(&form(".y = { .a };"), "4: no syntax line has `.y`");
    fault(&form("in texmode;"), "4: expected `texmode_unified` or `texmode_independent`");
    fault("foo  d;\n    d : out u32 as fun;\n    since 1.0;\n", "2: no operand is for `fun`");
    fault("foo  d;\n    d : out u32 +purple;\n    since 1.0;\n", "2: `purple` is not a class");
    fault("foo  d;\n    d : out u32/purple;\n    since 1.0;\n", "2: no class table is called `purple`");
}

/// The Rust source of the forms with a syntax line.
fn forms(table: &str, syntax: &str) -> String {
    let of_syntax = table.lines().filter(|line| line.starts_with("Form ") && line.contains(syntax));
    let text = of_syntax.collect::<Vec<_>>().join("\n");
    assert!(!text.is_empty(), "no form is `{syntax}`");
    text
}

/// The sources of the real table, with more text at the end of one file.
fn with_paragraph(file: &str, paragraph: &str) -> Vec<Source> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa");
    let (_, mut sources) = all_sources(&folder, "").unwrap();
    let source = sources.iter_mut().find(|source| source.name == format!("manual/{file}")).unwrap();
    source.text.push_str(paragraph);
    sources
}

#[test]
fn an_instruction_is_one_paragraph() {
    let paragraph = "\nwarpgroup.outer{.wide}·.sync.shape{.scope}.f32  d, a, on, [bar];\n    \
                     .shape = .m64n{N}k4 for N in 8..32 step 8;\n    .scope = { .cta, .cluster };\n    \
                     d : inout vec(N / 2) f32;  a : b64/plain;  on : !pred as accumulate;\n    \
                     bar : addr(.shared) update as barrier;\n    .cluster not with .m64n8k4;\n    since 9.0 on sm_90a;\n    \
                     .cluster since 9.1;\n    effect aligned async wgmma start;\n";
    let table = compile(&with_paragraph("wgmma.isa", paragraph)).unwrap();
    let form = forms(&table, "warpgroup.outer{.wide}.sync");
    assert!(
        form.contains("purpose: Some(Purpose::Accumulate)") && form.contains("Purpose::Barrier"),
        "{form}"
    );
    assert!(form.contains("Count::Table([([(3, 0x1)], 4), ([(3, 0x2)], 8), "), "{form}");
    assert!(table.contains("\"warpgroup.outer\", \"warpgroup.outer.wide\""), "the opcodes of several words");
    assert!(table.contains("Opcode { name: \"warpgroup\""));
    let broken = paragraph.replace("vec(N / 2)", "vec(M)").replace("as barrier", "as banana");
    let faults = compile(&with_paragraph("wgmma.isa", &broken)).unwrap_err();
    assert_eq!(faults.len(), 2, "{faults:?}");
}

/// `BLESS=1 cargo test -p ptx-isa-table` lays the files out.
#[test]
fn the_files_of_the_table_are_laid_out() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa");
    let (platform, instructions) = all_sources(&folder, "").unwrap();
    for Source { name, text } in platform.into_iter().chain(instructions) {
        let formatted = format(&text);
        assert_eq!(format(&formatted), formatted, "{name} is laid out otherwise the second time");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(folder.join(&name), &formatted).unwrap();
        } else {
            assert!(formatted == text, "{name} is not laid out; BLESS=1 does it");
        }
        let too_long = formatted.lines().position(|line| line.chars().count() > WIDTH);
        assert_eq!(too_long.map(|line| line + 1), None, "{name} has a line of more than {WIDTH} columns");
    }
}

#[test]
fn layout() {
    let text = "section   \"A  B\";\nfoo.type d, a;\n  .type = { .u32 };\n    d : out .type;\n  # why\n  a : .type;  \
                effect volatile;\n effect atomic if .u32; since 1.0;\n\n\n\nbar;\n  since 1.0;\n";
    let expected = "section \"A  B\";\n\nfoo.type  d, a;\n    .type = { .u32 };\n    d : out .type;\n    # why\n    a : .type;\n    \
                    effect volatile;  effect atomic if .u32;\n    since 1.0;\n\nbar;\n    since 1.0;\n";
    assert_eq!(format(text), expected);
}

#[test]
fn clauses_of_one_kind_are_side_by_side() {
    let text = "foo.a.b{.c}  d;\n    .a = { .u32 };\n    .b = { .x };\n    use x;\n    use y;\n    d : out u32;\n    \
                .x not with .c;\n    .y not with .c;\n    since 1.0;\n    .c since 2.0 on sm_80+;\n    with d +int since 3.0;\n";
    let expected = "foo.a.b{.c}  d;\n    .a = { .u32 };  .b = { .x };\n    use x;  use y;\n    d : out u32;\n    \
                    .x not with .c;  .y not with .c;\n    since 1.0;  .c since 2.0 on sm_80+;\n    with d +int since 3.0;\n";
    assert_eq!(format(text), expected);
}

#[test]
fn long_lines_are_broken_where_they_may_be() {
    let values: Vec<String> = (0..30).map(|index| format!(".value{index}")).collect();
    let text = format!(
        "foo.t{}  d, a;\n    .t = {{ {} }};\n    {} since 2.0;\n    d, a : u32;\n    since 1.0;\n",
        "{.modifier}".repeat(12),
        values.join(", "),
        values[1..].join("|"),
    );
    let formatted = format(&text);
    assert!(formatted.lines().all(|line| line.chars().count() <= WIDTH), "{formatted}");
    assert_eq!(format(&formatted), formatted);
    assert_eq!(good(&formatted).lines().count(), good(&text).lines().count());
    let places = |table: String| table.replace("a.isa:1", "");
    assert_eq!(places(good(&formatted)), places(good(&text)));
}

/// A table of two layers.
fn layered(manual: &str, assembler: &str) -> Result<String, Vec<Fault>> {
    let source = |name: &str, text: &str| Source { name: name.to_owned(), text: text.to_owned() };
    let reasons = "reasons {\n    +f32 \"a float passes\";\n    -int \"no constant\";\n    /exact \"as it is\";\n}\n\
                   classes default {\n    .u32 = f32;\n}\n";
    let exact = "classes exact {\n    .u32 = u32;\n}\n";
    compile(&[
        source("manual/a.isa", manual),
        source("manual/types.isa", &format!("{TYPES}{exact}")),
        source("assembler/a.isa", assembler),
        source("assembler/types.isa", reasons),
    ])
}

const MANUAL: &str = "foo.type  d, a;\n    .type = { .u32, .u64 };\n    d : out .type;  a : .type;\n    since 1.0;\n\n\
                      foo.type  d, [p];\n    .type = { .u32, .u64 };\n    d : out .type;  p : addr;\n    since 2.0;\n";

#[track_caller]
fn of_layers(assembler: &str, expected: &str) {
    let faults = layered(MANUAL, assembler).expect_err("there is a mistake");
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults, [expected], "{assembler}");
}

#[test]
fn amendments_are_what_the_assembler_takes_and_the_manual_stays() {
    let plain = layered(MANUAL, "").unwrap();
    let form = |table: &str| forms(table, "foo.type  d, a;");
    let (before, manual) = (
        form(&plain),
        "manual: [Manual { when: [], role: Role::Source, ty: TypeRef::Slot(0), table: 0, plus: 0x0, minus: 0x0",
    );
    assert!(before.contains(manual), "{before}");
    let amended =
        form(&layered(MANUAL, "amend foo.type#1:\n    a : -int if .u32;\n    .u32 since 3.0;\n").unwrap());
    assert!(amended.contains(manual), "{amended}");
    assert!(amended.contains("Variant { when: [(0, 0x1)], role: Role::Source"), "{amended}");
    assert!(amended.contains("version: Version::new(3, 0)"), "{amended}");
    // With a kind only the clause of that kind is meant, so the second form stays.
    let both = layered(MANUAL, "amend foo.type:\n    a : -int;\n    d : out .type +f32;\n").unwrap();
    let both = forms(&both, "foo.type");
    assert_eq!(
        both.matches("ty: TypeRef::Slot(0), table: 0, plus: 0x0, minus: 0x0, ranges").count(),
        0,
        "{both}"
    );
    let more = layered(MANUAL, "amend foo.type#1:\n    .type takes .f32 \"floats pass\";\n").unwrap();
    assert!(form(&more).contains("beyond: [([(0, 0x4)], \"floats pass\")]"), "{more}");
}

#[test]
fn forms_of_the_assembler_come_after_the_manuals_form_that_they_extend() {
    let beyond = "foo.type  d, a, b;\n    beyond foo.type \"a second operand is ignored\";\n    .type = { .u32 };\n    \
                  d : out .type;  a, b : .type;\n    since 1.0;\n";
    let table = layered(MANUAL, beyond).unwrap();
    let at = |text: &str| table.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("foo.type  d, [p];") < at("foo.type  d, a, b;"));
    let of_form = forms(&table, "foo.type  d, a, b;");
    assert!(of_form.contains("beyond: [([], \"a second operand is ignored\")]"), "{of_form}");
    assert!(!of_form.contains("Manual {"), "{of_form}");
}

#[test]
fn tolerances_without_a_reason_or_a_form_are_refused() {
    of_layers(
        "amend foo.type:\n    a : +u64;\n",
        "assembler/a.isa:2: `+u64` needs a reason, here or among `reasons`",
    );
    layered(MANUAL, "amend foo.type:\n    a : +u64 \"it is wide enough\";\n").unwrap();
    of_layers(
        "amend foo.type:\n    a : takes u64;\n",
        "assembler/a.isa:2: what the assembler takes in place of the manual's operand needs a reason",
    );
    of_layers("amend bar.type:\n    .u32 since 3.0;\n", "assembler/a.isa:1: the manual has no `bar.type`");
    of_layers(
        "amend foo.type#3:\n    .u32 since 3.0;\n",
        "assembler/a.isa:1: the manual has no `foo.type#3`",
    );
    of_layers(
        "amend foo.type:\n    b : -int;\n",
        "assembler/a.isa:2: none of these forms has such a clause about `b`",
    );
    let form = |beyond: &str| {
        format!(
            "foo.type  d, a, b;\n{beyond}    .type = {{ .u32 }};\n    d : out .type;  a, b : .type;\n    since 1.0;\n"
        )
    };
    of_layers(
        &form(""),
        "assembler/a.isa:1: no clause says `beyond` which form of the manual this is, and why",
    );
    of_layers(&form("    beyond foo.type;\n"), "assembler/a.isa:1: `beyond` needs a reason");
    of_layers(&form("    beyond bar \"so\";\n"), "assembler/a.isa:1: the manual has no form `bar`");
    layered(MANUAL, &form("    beyond foo.type;\n    misread \"it is ignored\";\n")).unwrap();
}
