//! Definition, references, highlight, rename, symbols, folding and formatting.

use serde_json::{Value, json};

use crate::common::{GOOD, Scratch, address};
use crate::editor::{Editor, URI, edited, texts};

const PTX: &str = "\
.version 8.6
.target sm_90
.address_size 64
.global .align 4 .b32 table[4];

.func (.param .b32 out) twice(.param .b32 in)
{
\t.reg .b32 %r<3>;
\tld.param.b32 %r1, [in];
\tadd.s32 %r2, %r1, %r1;
\tst.param.b32 [out], %r2;
\tret;
}

// What the host
// starts.
.visible .entry k(.param .u64 p)
{
\t.reg .pred %p<2>;
\t.reg .b32 %r<5>;
\t.reg .b64 %rd<3>;
\tld.param.u64 %rd1, [p];
\tmov.u32 %r1, %tid.x;
\tsetp.eq.s32 %p1, %r1, 0;
\t@%p1 bra DONE;
\t{
\t.reg .b32 %r1;
\tmov.b32 %r1, 3;
\tst.global.b32 [%rd1], %r1;
\t}
DONE:
\tst.global.b32 [table], %r1;
\tret;
}
";

const CUDA: &str = r#"__device__ int f(int a, int b) {
    int r;
    asm volatile("{ .reg .b32 %%t<2>;\n\t"
        "add.s32 %%t1, %1, %2;\n\t"
        "add.s32 %0, %%t1, %1; }"
        : "=r"(r) : "r"(a), "r"(b));
    return r;
}
"#;

fn locations<'t>(text: &'t str, answer: &Value) -> Vec<(u64, &'t str)> {
    let all = answer.as_array().unwrap_or_else(|| panic!("{answer}"));
    texts(text, all.iter().map(|each| each["range"].clone()))
}

fn references(editor: &mut Editor, text: &'static str, at: &str, plus: usize) -> Vec<(u64, &'static str)> {
    let context = json!({"context": {"includeDeclaration": true}});
    let uri = if text == CUDA { "file:///k.cu" } else { URI };
    locations(text, &editor.ask_with("textDocument/references", uri, text, at, plus, context))
}

#[test]
fn a_name_leads_to_its_declaration_and_its_uses() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    editor.open(URI, PTX);
    let definition = |editor: &mut Editor, at: &str, plus| {
        locations(PTX, &editor.ask("textDocument/definition", URI, PTX, at, plus))
    };
    assert_eq!(definition(&mut editor, "[in]", 1), [(6, "in")]);
    assert_eq!(definition(&mut editor, "%r1, %tid", 3), [(20, "%r")]);
    assert_eq!(definition(&mut editor, "%r1, 3", 0), [(27, "%r1")]);
    assert_eq!(definition(&mut editor, "bra DONE", 4), [(31, "DONE")]);
    assert_eq!(definition(&mut editor, "[table]", 1), [(4, "table")]);
    assert_eq!(editor.ask("textDocument/definition", URI, PTX, "%tid", 1), Value::Null);
    assert_eq!(references(&mut editor, PTX, "%r1, 3", 1), [(27, "%r1"), (28, "%r1"), (29, "%r1")]);
    let outer = [(20, "%r"), (23, "%r1"), (24, "%r1"), (32, "%r1")];
    assert_eq!(references(&mut editor, PTX, "%r1, 0", 1), outer);
    assert_eq!(references(&mut editor, PTX, "twice", 1), [(6, "twice")]);
    let kinds = editor.ask("textDocument/documentHighlight", URI, PTX, "%r1, 0", 0);
    let kinds: Vec<&Value> = kinds.as_array().unwrap().iter().map(|each| &each["kind"]).collect();
    assert_eq!(kinds, [&json!(1), &json!(3), &json!(2), &json!(2)]);
    let address = editor.ask("textDocument/documentHighlight", URI, PTX, "%rd1], %r1", 0);
    assert_eq!(address[2]["kind"], 2, "the register of an address is read: {address}");
    editor.end();
}

#[test]
fn names_and_operands_of_asm_statements_are_followed() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let uri = "file:///k.cu";
    editor.open_as(uri, "cuda-cpp", CUDA);
    assert_eq!(references(&mut editor, CUDA, "%t1, %1, %2", 1), [(3, "%t"), (4, "%t1"), (5, "%t1")]);
    assert_eq!(references(&mut editor, CUDA, "%1, %2", 1), [(4, "%1"), (5, "%1"), (6, "\"r\"")]);
    assert_eq!(references(&mut editor, CUDA, "\"=r\"", 1), [(5, "%0"), (6, "\"=r\"")]);
    let found = editor.ask("textDocument/definition", uri, CUDA, "%2", 0);
    assert_eq!(locations(CUDA, &found), [(6, "\"r\"(b)")]);
    let renamed = |editor: &mut Editor, at: &str, name: &str| {
        let edit = editor.ask_with("textDocument/rename", uri, CUDA, at, 0, json!({"newName": name}));
        edited(CUDA, &edit["changes"][uri])
    };
    let sum = renamed(&mut editor, "%t1, %1, %2", "%sum");
    assert!(sum.contains("%%t<2>; .reg .b32 %%sum;") && sum.contains("add.s32 %%sum, %1, %2"), "{sum}");
    let plain = renamed(&mut editor, "%t<2>", "temp_");
    assert!(plain.contains(".reg .b32 temp_<2>") && plain.contains("%0, temp_1, %1"), "{plain}");
    // nvcc takes no such names, so that no statement gets its first one.
    let refused = editor.ask_with("textDocument/rename", uri, CUDA, "%1, %2", 0, json!({"newName": "left"}));
    assert!(refused["changes"].is_null(), "{refused}");
    let clang = CUDA.replace("\"=r\"(r)", "[sum] \"=r\"(r)");
    let other = "file:///clang.cu";
    editor.open_as(other, "cuda-cpp", &clang);
    let edit = editor.ask_with("textDocument/rename", other, &clang, "%1, %2", 0, json!({"newName": "left"}));
    let named = edited(&clang, &edit["changes"][other]);
    assert!(named.contains("%%t1, %[left], %2") && named.contains("[left] \"r\"(a)"), "{named}");
    editor.end();
}

#[test]
fn a_rename_keeps_what_the_program_means() {
    let scratch = Scratch::new();
    let versioned = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}, "general": {"positionEncodings": ["utf-8"]}});
    let (mut editor, capabilities) = Editor::start_with(&scratch, versioned);
    assert_eq!(capabilities["renameProvider"]["prepareProvider"], true);
    editor.open(URI, PTX);
    let prepared = editor.ask("textDocument/prepareRename", URI, PTX, "[in]", 2);
    assert_eq!(prepared["placeholder"], "in");
    for no_name in ["%tid", "mov.u32", ".reg", "ret;"] {
        assert_eq!(editor.ask("textDocument/prepareRename", URI, PTX, no_name, 1), Value::Null, "{no_name}");
    }
    let rename = |editor: &mut Editor, at: &str, plus, name: &str| {
        let edit = editor.ask_with("textDocument/rename", URI, PTX, at, plus, json!({"newName": name}));
        let change = &edit["documentChanges"][0];
        (!edit.is_null()).then(|| {
            assert_eq!(change["textDocument"], json!({"uri": URI, "version": 1}));
            edited(PTX, &change["edits"])
        })
    };
    let index = rename(&mut editor, "%r1, %tid", 0, "%index").unwrap();
    assert!(index.contains("\t.reg .b32 %r<5>;\n\t.reg .b32 %index;\n"), "{index}");
    assert!(index.contains("mov.u32 %index, %tid.x") && index.contains("[table], %index"), "{index}");
    assert!(index.contains("mov.b32 %r1, 3") && index.contains("add.s32 %r2, %r1, %r1"), "{index}");
    let group = rename(&mut editor, "%r<5>", 0, "%word").unwrap();
    assert!(group.contains("%word<5>") && group.contains("%word1, %tid.x"), "{group}");
    let label = rename(&mut editor, "DONE:", 0, "END").unwrap();
    assert!(label.contains("bra END;") && label.contains("END:\n"), "{label}");
    for text in [&index, &group, &label] {
        scratch.file("renamed.ptx", text);
        let answer = scratch.run(&["verify", "renamed.ptx"]);
        assert_eq!(answer.status, 0, "{text}\n{answer:?}");
    }
    for (at, plus, name) in [
        ("%r1, %tid", 0, "%p1"),
        ("%r1, %tid", 0, "%tid"),
        ("%r1, %tid", 0, "1x"),
        ("%r1, %tid", 0, "a b"),
        ("%r1, %tid", 0, ""),
        ("%r<5>", 0, "%p"),
        ("%r<5>", 0, "%x1"),
        ("twice", 0, "k"),
        ("table", 0, "DONE"),
        ("%tid.x", 1, "%index"),
    ] {
        assert_eq!(rename(&mut editor, at, plus, name), None, "{at} to {name}");
    }
    editor.end();
}

#[test]
fn symbols_are_a_tree_where_the_editor_shows_trees() {
    let scratch = Scratch::new();
    let tree = json!({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}}});
    for (capabilities, is_tree) in [(tree, true), (json!({}), false)] {
        let (mut editor, _) = Editor::start_with(&scratch, capabilities);
        editor.open(URI, PTX);
        let params = json!({"textDocument": {"uri": URI}});
        let symbols = editor.request("textDocument/documentSymbol", params)["result"].clone();
        let names = |all: &Value| -> Vec<String> {
            all.as_array().unwrap().iter().map(|each| each["name"].as_str().unwrap().to_owned()).collect()
        };
        if is_tree {
            assert_eq!(names(&symbols), ["table", "twice", "k"]);
            assert_eq!(names(&symbols[2]["children"]), ["p", "%p<2>", "%r<5>", "%rd<3>", "%r1", "DONE"]);
            assert_eq!(symbols[2]["range"]["start"]["line"], 16);
            assert_eq!(symbols[2]["range"]["end"]["line"], 33);
        } else {
            assert!(names(&symbols).contains(&"%rd<3>".to_owned()), "{symbols}");
            assert_eq!(symbols[1]["containerName"], Value::Null);
        }
        let found = editor.request("workspace/symbol", json!({"query": "TWC"}))["result"].clone();
        assert_eq!(names(&found), ["twice"]);
        assert_eq!(found[0]["location"]["uri"], URI);
        assert_eq!(editor.request("workspace/symbol", json!({"query": "zz"}))["result"], json!([]));
        editor.end();
    }
}

#[test]
fn symbols_are_found_in_files_that_are_not_open() {
    let scratch = Scratch::new();
    for (file, name) in
        [("a.ptx", "first"), ("inner/b.ptx", "second"), ("other.txt", "third"), ("c.ptx", "before")]
    {
        scratch
            .file(file, format!(".version 8.6\n.target sm_90\n.visible .entry {name}_kernel() {{ ret; }}\n"));
    }
    scratch.file(".gitignore", "c.ptx\n");
    let folder = scratch.path().canonicalize().unwrap();
    let address = |file: &str| address(&folder.join(file));
    let mut editor = Editor::silent(&scratch);
    let folders = json!([{"uri": address(""), "name": "scratch"}]);
    editor.request("initialize", json!({"capabilities": {}, "workspaceFolders": folders}));
    editor.notify("initialized", json!({}));
    let search = |editor: &mut Editor, query: &str| {
        let found = editor.request("workspace/symbol", json!({"query": query}))["result"].clone();
        let all = found.as_array().unwrap().iter();
        let told = all.map(|each| (each["name"].as_str().unwrap().to_owned(), each["location"].clone()));
        told.collect::<Vec<_>>()
    };
    let names = |editor: &mut Editor, query: &str| -> Vec<String> {
        search(editor, query).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&mut editor, "kernel"), ["first_kernel", "second_kernel"]);
    let (_, place) = search(&mut editor, "second").remove(0);
    assert_eq!(place["uri"], address("inner/b.ptx"));
    assert_eq!(place["range"]["start"], json!({"line": 2, "character": 16}));
    // What is open counts as the editor has it, once; other files as they are now.
    editor.open(&address("a.ptx"), ".version 8.6\n.target sm_90\n.visible .entry typed_kernel() { ret; }\n");
    scratch.file("inner/b.ptx", ".version 8.6\n.target sm_90\n.visible .entry another_kernel() { ret; }\n");
    assert_eq!(names(&mut editor, "kernel"), ["typed_kernel", "another_kernel"]);
    let event = json!({"event": {"added": [], "removed": folders}});
    editor.notify("workspace/didChangeWorkspaceFolders", event);
    assert_eq!(names(&mut editor, "kernel"), ["typed_kernel"]);
    editor.end();
}

#[test]
fn bodies_blocks_and_comments_are_folded() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    editor.open(URI, PTX);
    let params = json!({"textDocument": {"uri": URI}});
    let folds = editor.request("textDocument/foldingRange", params)["result"].clone();
    let lines: Vec<(u64, u64)> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|each| (each["startLine"].as_u64().unwrap() + 1, each["endLine"].as_u64().unwrap() + 1))
        .collect();
    assert_eq!(lines, [(7, 12), (15, 16), (18, 33), (19, 21), (26, 29)]);
    assert_eq!(folds[1]["kind"], "comment");
    editor.open_as("file:///k.cu", "cuda-cpp", CUDA);
    let params = json!({"textDocument": {"uri": "file:///k.cu"}});
    let folds = editor.request("textDocument/foldingRange", params)["result"].clone();
    assert_eq!((&folds[0]["startLine"], &folds[0]["endLine"]), (&json!(2), &json!(5)));
    editor.end();
}

#[test]
fn formatting_changes_only_what_has_to_change() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    scratch.file("good.ptx", GOOD);
    assert_eq!(scratch.run(&["format", "good.ptx"]).status, 0);
    let good = scratch.read("good.ptx");
    let text = good.replace("\tmov.u32\t%r1, 7;", "  mov.u32    %r1,7  ;").replace("\tret;", "ret ;");
    assert_ne!(good, text);
    editor.open(URI, &text);
    let options = json!({"tabSize": 8, "insertSpaces": false});
    let params = json!({"textDocument": {"uri": URI}, "options": options});
    let edits = editor.request("textDocument/formatting", params)["result"].clone();
    assert_eq!(edited(&text, &edits), good);
    let changed = |edits: &Value| -> Vec<Value> {
        edits.as_array().unwrap().iter().map(|edit| edit["range"]["end"]["line"].clone()).collect()
    };
    let line_of = |word: &str| text[..text.find(word).unwrap()].matches('\n').count();
    let (mov, ret) = (line_of("mov"), line_of("ret"));
    assert!(changed(&edits).iter().all(|line| *line == mov || *line == ret), "{edits}");
    let lines = json!({"start": {"line": mov, "character": 0}, "end": {"line": mov, "character": 9}});
    let params = json!({"textDocument": {"uri": URI}, "options": options, "range": lines});
    let edits = editor.request("textDocument/rangeFormatting", params)["result"].clone();
    assert!(!changed(&edits).is_empty() && changed(&edits).iter().all(|line| *line == mov), "{edits}");
    editor.end();
}

#[test]
fn asm_templates_are_formatted_and_nothing_else_of_a_source() {
    let scratch = Scratch::new();
    let untidy = "__device__ void f(unsigned &a,unsigned b) {  // \u{e9}\u{1d11e}\n\
        \x20 asm(\"add.cc.u32   %0,%0 , %1;\\n\\t\"\n\
        \x20     \"addc.u32 %0,%0,0;\" : \"+r\"( a ) : \"r\"(b)); /* \u{1d11e} */ asm(\"mov.u32  %0,%1;\" : \"=r\"(a) : \"r\"(b));\n\
        }\n";
    let first = untidy
        .replace("add.cc.u32   %0,%0 , %1", "add.cc.u32 %0, %0, %1")
        .replace("addc.u32 %0,%0,0", "addc.u32   %0, %0, 0");
    let both = first.replace("mov.u32  %0,%1", "mov.u32 %0, %1");
    scratch.file("asked.cuh", untidy);
    assert_eq!(scratch.run(&["format", "--asm", "asked.cuh"]).status, 0);
    assert_eq!(scratch.read("asked.cuh"), both);
    let folder = scratch.path().canonicalize().unwrap();
    let uri = address(&folder.join("k.h"));
    let options = json!({"tabSize": 8, "insertSpaces": false});
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    editor.open_as(&uri, "cpp", untidy);
    let params = json!({"textDocument": {"uri": uri}, "options": options});
    let edits = editor.request("textDocument/formatting", params.clone())["result"].clone();
    assert_eq!(edited(untidy, &edits), both);
    assert!(edits.as_array().unwrap().iter().all(|edit| edit["newText"].as_str().unwrap().trim().is_empty()));
    // A range has whole statements, whose lines are in columns together.
    for (line, column, expected) in [(2, 12, &*first), (1, 2, &*first), (0, 0, untidy), (3, 0, untidy)] {
        let at = json!({"line": line, "character": column});
        let range = json!({"start": at, "end": at});
        let params = json!({"textDocument": {"uri": uri}, "options": options, "range": range});
        let edits = editor.request("textDocument/rangeFormatting", params)["result"].clone();
        assert_eq!(edited(untidy, &edits), expected, "{line}:{column}");
    }
    // A project may say otherwise, and leave files out.
    for configuration in ["[format]\nasm = false\n", "exclude = [\"*.h\"]\n"] {
        scratch.file("ptx.toml", configuration);
        let answer = editor.request("textDocument/formatting", params.clone());
        assert_eq!((&answer["result"], &answer["error"]), (&Value::Null, &Value::Null), "{configuration}");
    }
    editor.end();
}
