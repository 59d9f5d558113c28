//! An editor that a test is.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::Scratch;

/// Longer than any answer takes, also on a machine with much else to do.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The document of most tests.
pub const URI: &str = "file:///scratch/k.ptx";

/// An editor with a running server.
pub struct Editor {
    pub child: Child,
    pub stdin: ChildStdin,
    pub messages: Receiver<Value>,
    next: u64,
}

impl Editor {
    /// An editor that has not said anything.
    pub fn silent(scratch: &Scratch) -> Self {
        Self::of(scratch.command(&["lsp"]))
    }

    fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || receive(stdout, &sender));
        Self { child, stdin, messages, next: 0 }
    }

    /// An editor whose server has these variables in its environment.
    #[cfg(unix)]
    pub fn start_in(scratch: &Scratch, capabilities: Value, variables: &[(&str, &str)]) -> (Self, Value) {
        let mut command = scratch.command(&["lsp"]);
        command.envs(variables.iter().copied());
        Self::of(command).begin(capabilities)
    }

    pub fn start(scratch: &Scratch, encodings: &[&str]) -> (Self, Value) {
        Self::start_with(scratch, json!({"general": {"positionEncodings": encodings}}))
    }

    pub fn start_with(scratch: &Scratch, capabilities: Value) -> (Self, Value) {
        Self::silent(scratch).begin(capabilities)
    }

    fn begin(self, capabilities: Value) -> (Self, Value) {
        let mut editor = self;
        let answer = editor.request("initialize", json!({"capabilities": capabilities}));
        editor.notify("initialized", json!({}));
        (editor, answer["result"]["capabilities"].clone())
    }

    pub fn send(&mut self, message: &Value) {
        self.send_bytes(message.to_string().as_bytes());
    }

    pub fn send_bytes(&mut self, text: &[u8]) {
        write!(self.stdin, "Content-Length: {}\r\n\r\n", text.len()).unwrap();
        self.stdin.write_all(text).unwrap();
        self.stdin.flush().unwrap();
    }

    pub fn receive(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server ended, or says nothing")
    }

    /// The next message that is a notification or request of this name.
    pub fn next(&mut self, method: &str) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.answer_to(&json!(self.next))
    }

    pub fn answer_to(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == *id && message["method"].is_null() {
                return message;
            }
        }
    }

    /// Opens a document and returns what was found in it.
    pub fn open(&mut self, uri: &str, text: &str) -> Value {
        let item = json!({"uri": uri, "languageId": "ptx", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
        self.diagnostics()
    }

    pub fn change(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({"uri": uri, "version": version});
        let changes = json!([{"text": text}]);
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    pub fn diagnostics(&mut self) -> Value {
        self.next("textDocument/publishDiagnostics")
    }

    pub fn hover(&mut self, uri: &str, line: u32, character: u32) -> Value {
        let position = json!({"line": line, "character": character});
        self.request("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": position}))
    }

    pub fn actions(&mut self, uri: &str, context: Value) -> Value {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
        self.request("textDocument/codeAction", params)["result"].clone()
    }

    /// Asks about the place of a text in a document: `plus` bytes behind where it begins. The text is ASCII.
    pub fn ask(&mut self, method: &str, uri: &str, text: &str, at: &str, plus: usize) -> Value {
        self.ask_with(method, uri, text, at, plus, json!({}))
    }

    /// The same with more parameters.
    pub fn ask_with(
        &mut self,
        method: &str,
        uri: &str,
        text: &str,
        at: &str,
        plus: usize,
        more: Value,
    ) -> Value {
        let offset = text.find(at).unwrap_or_else(|| panic!("no `{at}`")) + plus;
        let mut params = json!({"textDocument": {"uri": uri}, "position": place(text, offset)});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.request(method, params);
        assert!(answer["error"].is_null() || method.ends_with("ename"), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Opens a document of another language; what is found in it is passed over.
    pub fn open_as(&mut self, uri: &str, language: &str, text: &str) {
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
    }

    pub fn end(mut self) {
        let answer = self.request("shutdown", Value::Null);
        assert!(answer["error"].is_null(), "{answer}");
        assert_eq!(answer["result"], Value::Null);
        self.notify("exit", Value::Null);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// Hands on what the server says until it ends.
fn receive(mut stdout: BufReader<ChildStdout>, sender: &mpsc::Sender<Value>) {
    let mut length = 0;
    let mut line = String::new();
    while stdout.read_line(&mut line).is_ok_and(|read| read > 0) {
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.trim().parse().unwrap();
        }
        if line == "\r\n" {
            let mut text = vec![0; length];
            stdout.read_exact(&mut text).unwrap();
            if sender.send(serde_json::from_slice(&text).unwrap()).is_err() {
                return;
            }
        }
        line.clear();
    }
}

/// The place of a byte of an ASCII text.
pub fn place(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    json!({"line": line, "character": offset - before.rfind('\n').map_or(0, |at| at + 1)})
}

/// The texts of ranges of a document, each with its line from 1.
pub fn texts(text: &str, ranges: impl IntoIterator<Item = Value>) -> Vec<(u64, &str)> {
    let lines: Vec<&str> = text.split('\n').collect();
    let text_of = |range: Value| {
        let number = |place: &str, part: &str| range[place][part].as_u64().unwrap() as usize;
        let line = number("start", "line");
        assert_eq!(line, number("end", "line"), "{range}");
        (line as u64 + 1, &lines[line][number("start", "character")..number("end", "character")])
    };
    ranges.into_iter().map(text_of).collect()
}

/// A text with the edits of a workspace edit in it.
pub fn edited(text: &str, edits: &Value) -> String {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let at = |place: &Value| {
        starts[place["line"].as_u64().unwrap() as usize] + place["character"].as_u64().unwrap() as usize
    };
    let edits = edits.as_array().unwrap_or_else(|| panic!("{edits}"));
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            (at(&edit["range"]["start"]), at(&edit["range"]["end"]), edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort_unstable();
    assert!(edits.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{edits:?}");
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}
