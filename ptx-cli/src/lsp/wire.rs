//! Messages on the streams: frames of a header and JSON, as the base protocol has them.
//!
//! Nothing that an editor sends ends the reading: what is no message is told, and the next frame is read. The parts of
//! a frame that were announced are always read, so that the streams stay in step.

use std::io::{self, BufRead, Read, Write};

use serde::Serialize;
use serde_json::{Value, json};

/// Frames that announce more bytes than this are passed over.
const MAX_BYTES: u64 = 256 << 20;

/// Header lines longer than this are none.
const MAX_HEADER: u64 = 8 << 10;

/// Why a request is not answered, as the protocol numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// It is no JSON.
    Parse = -32700,
    /// It is JSON and no request, or comes at the wrong time.
    InvalidRequest = -32600,
    /// No such method.
    MethodNotFound = -32601,
    /// The method takes other parameters.
    InvalidParams = -32602,
    /// The server has a fault.
    Internal = -32603,
    /// `initialize` has to come first.
    NotInitialized = -32002,
    /// The editor no longer wants it.
    Cancelled = -32800,
    /// It is right and cannot be done.
    Failed = -32803,
}

/// An answer that is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: ErrorCode,
    pub message: String,
}

impl Failure {
    /// The answer to a request that was taken back.
    pub fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "the request was cancelled")
    }

    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What the editor sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// It wants an answer. The id is a number or a string, and is sent back as it is.
    Request { id: Value, method: String, params: Value },
    /// It tells something.
    Notification { method: String, params: Value },
    /// It answers.
    Response,
    /// It is none of these. The id is null where none can be read.
    Broken { id: Value, failure: Failure },
}

/// Reads the next message; none at the end of the stream.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let broken = |code, message: String| {
        Ok(Some(Message::Broken { id: Value::Null, failure: Failure::new(code, message) }))
    };
    let length = match header(input)? {
        Header::End => return Ok(None),
        Header::Wrong(why) => return broken(ErrorCode::Parse, why),
        Header::Length(length) => length,
    };
    if length > MAX_BYTES {
        io::copy(&mut input.take(length), &mut io::sink())?;
        let most = MAX_BYTES >> 20;
        return broken(
            ErrorCode::Parse,
            format!("a message of {length} bytes; more than {most} MiB are not read"),
        );
    }
    // What is announced need not come: memory is taken for what is there.
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Ok(None);
    }
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(message(value))),
        Err(error) => broken(ErrorCode::Parse, format!("the message is no JSON: {error}")),
    }
}

enum Header {
    End,
    Length(u64),
    Wrong(String),
}

/// Reads header lines up to the empty one.
fn header(input: &mut impl BufRead) -> io::Result<Header> {
    let mut length = None;
    let mut wrong = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(Header::End);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return Ok(match (length, wrong) {
                (_, Some(wrong)) => Header::Wrong(wrong),
                (Some(length), None) => Header::Length(length),
                (None, None) => Header::Wrong("the header of a message has no `Content-Length`".to_owned()),
            });
        }
        let Some((name, value)) = line.split_once(':') else {
            wrong = Some("a line of the header of a message has no `:`".to_owned());
            continue;
        };
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            match value.trim().parse() {
                Ok(number) => length = Some(number),
                Err(_) => wrong = Some("`Content-Length` is no number of bytes".to_owned()),
            }
        }
    }
}

/// Sorts a message by what it has: a request has an id and a method, a notification only a method.
fn message(value: Value) -> Message {
    let Value::Object(mut fields) = value else {
        let failure = Failure::new(ErrorCode::InvalidRequest, "a message is an object");
        return Message::Broken { id: Value::Null, failure };
    };
    let id = fields.remove("id").filter(|id| id.is_number() || id.is_string());
    let params = fields.remove("params").unwrap_or_default();
    match (id, fields.remove("method")) {
        (Some(id), Some(Value::String(method))) => Message::Request { id, method, params },
        (None, Some(Value::String(method))) => Message::Notification { method, params },
        (_, None) if fields.contains_key("result") || fields.contains_key("error") => Message::Response,
        (id, _) => {
            let failure = Failure::new(ErrorCode::InvalidRequest, "the message has no method");
            Message::Broken { id: id.unwrap_or_default(), failure }
        }
    }
}

/// Writes one message.
pub fn write(output: &mut impl Write, message: &Outgoing) -> io::Result<()> {
    let text = &message.text;
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// What the server sends.
///
/// It is text from the start: findings in a large document are many, and a tree of them costs more than they do.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The message; nothing for the end.
    text: String,
}

impl Outgoing {
    /// Behind this, nothing is written.
    pub fn end() -> Self {
        Self { text: String::new() }
    }

    pub fn is_end(&self) -> bool {
        self.text.is_empty()
    }

    pub fn answer(id: &Value, result: Result<impl Serialize, Failure>) -> Self {
        match result {
            Ok(result) => Self::of(Content { id: Some(id), result: Some(result), ..Content::default() }),
            Err(failure) => Self::refusal(id, failure),
        }
    }

    pub fn refusal(id: &Value, Failure { code, message }: Failure) -> Self {
        let error = json!({"code": code as i32, "message": message});
        Self::of(Content::<Value> { id: Some(id), error: Some(error), ..Content::default() })
    }

    pub fn notification(method: &str, params: impl Serialize) -> Self {
        Self::of(Content { method: Some(method), params: Some(params), ..Content::default() })
    }

    pub fn request(id: &str, method: &str, params: impl Serialize) -> Self {
        let id = Value::from(id);
        Self::of(Content { id: Some(&id), method: Some(method), params: Some(params), ..Content::default() })
    }

    fn of(content: Content<'_, impl Serialize>) -> Self {
        let text = serde_json::to_string(&content);
        // All that is sent has keys that are strings, and then JSON has a text for it.
        Self { text: text.unwrap_or_else(|_| "null".to_owned()) }
    }
}

/// A message, as the protocol has it.
#[derive(Serialize)]
struct Content<'a, T> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

impl<T> Default for Content<'_, T> {
    fn default() -> Self {
        Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(stream: &[u8]) -> Vec<Message> {
        let mut input = stream;
        std::iter::from_fn(|| read(&mut input).unwrap()).collect()
    }

    fn frame(text: &[u8]) -> Vec<u8> {
        [format!("Content-Length: {}\r\n\r\n", text.len()).as_bytes(), text].concat()
    }

    #[test]
    fn what_is_no_message_does_not_end_the_reading() {
        let mut stream = Vec::new();
        let bad: [&[u8]; 4] = [b"{", b"\xff\xfe", b"[1]", b"{\"id\": 7}"];
        bad.iter().for_each(|text| stream.extend(frame(text)));
        stream.extend(b"Content-Length: x\r\n\r\nnonsense\r\n\r\n");
        stream.extend(frame(b"{\"method\": \"m\", \"id\": 9000000000}"));
        let read = all(&stream);
        let codes: Vec<ErrorCode> = read
            .iter()
            .filter_map(|message| match message {
                Message::Broken { failure, .. } => Some(failure.code),
                _ => None,
            })
            .collect();
        let (parse, invalid) = (ErrorCode::Parse, ErrorCode::InvalidRequest);
        assert_eq!(codes, [parse, parse, invalid, invalid, parse, parse]);
        let last = Message::Request { id: json!(9_000_000_000u64), method: "m".into(), params: Value::Null };
        assert_eq!(read.last(), Some(&last));
    }

    #[test]
    fn no_memory_is_taken_for_what_does_not_come() {
        assert_eq!(all(b"Content-Length: 200000000\r\n\r\n{}"), []);
        let huge = all(b"Content-Length: 9000000000\r\n\r\n{}");
        assert!(matches!(&huge[..], [Message::Broken { .. }]), "{huge:?}");
        assert_eq!(all(b"Content-Length: 99"), []);
    }
}
