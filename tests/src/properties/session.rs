//! What an editor may send to the language server.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// An editor that sends any bytes. They are read in two ways: as the stream itself, and as lines, each of which is the
/// text of a message, so that a fuzzer need not count lengths.
///
/// # Panics
/// Where the server panics, writes no well-formed stream, leaves a request without an answer or answers it twice.
pub fn session(bytes: &[u8]) {
    let answers = replies(&ptx_cli::fuzz::session(bytes.to_vec()));
    assert!(answers.iter().all(Value::is_object), "every message is an object");
    framed(bytes);
}

/// Lines as messages. The first that is sent opens the session.
fn framed(bytes: &[u8]) {
    let opening =
        json!({"jsonrpc": "2.0", "id": "opening", "method": "initialize", "params": {"capabilities": {}}});
    let mut stream = Vec::new();
    let mut asked = BTreeMap::from([(json!("opening").to_string(), 1_usize)]);
    let mut shut = false;
    let mut say = |text: &[u8]| {
        stream.extend(format!("Content-Length: {}\r\n\r\n", text.len()).as_bytes());
        stream.extend(text);
    };
    say(opening.to_string().as_bytes());
    for line in bytes.split(|&byte| byte == b'\n') {
        say(line);
        let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
        let (id, method) = (&message["id"], &message["method"]);
        // The protocol's numbers are integers; others come back rounded.
        let is_named = id.is_i64() || id.is_u64() || id.is_string();
        // Nothing is read after the last word.
        if method == "exit" && !id.is_number() && !id.is_string() {
            shut = true;
            break;
        }
        if method.is_string() && is_named {
            *asked.entry(id.to_string()).or_default() += 1;
        }
    }
    let mut answered = BTreeMap::<String, usize>::new();
    for reply in replies(&ptx_cli::fuzz::session(stream)) {
        if reply.get("method").is_none() && !reply["id"].is_null() {
            assert!(reply.get("result").is_some() != reply.get("error").is_some(), "{reply}");
            *answered.entry(reply["id"].to_string()).or_default() += 1;
        }
    }
    // What has an id and is no message is answered with its id, too.
    for (id, count) in &asked {
        let given = answered.get(id).copied().unwrap_or_default();
        assert!(given >= *count, "{id} was asked {count} times and answered {given} times, shut: {shut}");
    }
}

/// The messages of a stream.
fn replies(mut stream: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    while !stream.is_empty() {
        let end = stream.windows(4).position(|window| window == b"\r\n\r\n").expect("a header ends");
        let header = std::str::from_utf8(&stream[..end]).expect("a header is text");
        let length = header.strip_prefix("Content-Length: ").expect("a header tells the length");
        let length: usize = length.parse().expect("a length is a number");
        let body = &stream[end + 4..][..length];
        found.push(serde_json::from_slice(body).expect("a message is JSON"));
        stream = &stream[end + 4 + length..];
    }
    found
}
