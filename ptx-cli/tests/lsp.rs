//! The language server as an editor talks to it.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use common::{GOOD, Scratch, bad};
use serde_json::{Value, json};

/// An editor with a running server.
struct Editor {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Editor {
    fn start(scratch: &Scratch, encodings: &[&str]) -> (Self, Value) {
        let mut command = scratch.command(&["lsp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut editor = Self { child, stdin, stdout, next: 0 };
        let capabilities = json!({"general": {"positionEncodings": encodings}});
        let answer = editor.request("initialize", json!({"capabilities": capabilities}));
        editor.notify("initialized", json!({}));
        (editor, answer["result"]["capabilities"].clone())
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.stdin.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "the server ended");
            if let Some(number) = line.strip_prefix("Content-Length: ") {
                length = number.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut text = vec![0; length];
        self.stdout.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == self.next {
                return message;
            }
        }
    }

    /// Opens a document and returns what was found in it.
    fn open(&mut self, uri: &str, text: &str) -> Value {
        let item = json!({"uri": uri, "languageId": "ptx", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
        self.diagnostics()
    }

    fn diagnostics(&mut self) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == "textDocument/publishDiagnostics" {
                return message["params"].clone();
            }
        }
    }

    fn end(mut self) {
        let answer = self.request("shutdown", Value::Null);
        assert!(answer["error"].is_null(), "{answer}");
        self.notify("exit", Value::Null);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn findings_come_on_open_and_on_change_and_go_on_close() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start(&scratch, &["utf-16", "utf-8"]);
    assert_eq!(capabilities["positionEncoding"], "utf-8");
    let found = editor.open("file:///scratch/k.ptx", &bad());
    assert_eq!(found["version"], 1);
    let first = &found["diagnostics"][0];
    assert_eq!((&first["range"]["start"]["line"], &first["code"]), (&json!(11), &json!("syntax")));
    assert_eq!(first["severity"], 1);
    let document = json!({"uri": "file:///scratch/k.ptx", "version": 2});
    let change = json!({"textDocument": document, "contentChanges": [{"text": GOOD}]});
    editor.notify("textDocument/didChange", change);
    let found = editor.diagnostics();
    assert_eq!((&found["version"], &found["diagnostics"]), (&json!(2), &json!([])));
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": "file:///scratch/k.ptx"}}));
    assert_eq!(editor.diagnostics()["diagnostics"], json!([]));
    editor.end();
}

#[test]
fn columns_are_units_of_utf16_unless_the_editor_counts_bytes() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start(&scratch, &[]);
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    let text = bad().replace("\tmov.u32 %r1 7", "/* \u{1d11e} */ mov.u32 %r1 7");
    let found = editor.open("file:///scratch/k.ptx", &text);
    // Eight bytes of comment are six units; then the operand ends 12 behind the blank.
    assert_eq!(found["diagnostics"][0]["range"]["start"]["character"], 20);
    editor.end();
}

#[test]
fn hover_tells_what_a_word_needs_and_unknown_requests_are_refused() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let uri = "file:///scratch/k.ptx";
    editor.open(uri, &GOOD.replace("%r1, 7", "%r1, %tid.x"));
    let hover = |line: u32, character: u32| json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
    let register = editor.request("textDocument/hover", hover(11, 15));
    let text = register["result"]["contents"]["value"].as_str().unwrap();
    assert!(text.contains("%tid") && text.contains("since PTX 1.0"), "{text}");
    let opcode = editor.request("textDocument/hover", hover(11, 2));
    let text = opcode["result"]["contents"]["value"].as_str().unwrap();
    assert!(text.contains("mov"), "{text}");
    assert_eq!(editor.request("textDocument/hover", hover(6, 0))["result"], Value::Null);
    let unknown = editor.request("textDocument/rename", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    let closed = json!({"textDocument": {"uri": "file:///other"}, "position": {"line": 0, "character": 0}});
    assert!(editor.request("textDocument/hover", closed)["error"]["message"].is_string());
    editor.end();
}

#[test]
fn formatting_is_one_edit_of_the_whole_document() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let uri = "file:///scratch/k.ptx";
    editor.open(uri, &GOOD.replace("\tmov.u32 %r1, 7", "  mov.u32    %r1,7"));
    let options = json!({"tabSize": 8, "insertSpaces": false});
    let params = json!({"textDocument": {"uri": uri}, "options": options});
    let edits = editor.request("textDocument/formatting", params)["result"].clone();
    assert_eq!(edits.as_array().unwrap().len(), 1, "{edits}");
    assert!(edits[0]["newText"].as_str().unwrap().contains("%r1, 7;"), "{edits}");
    editor.end();
}
