//! The language server: findings while typing, fixes, formatting, and the manual's forms on hover.
//!
//! One thread reads messages and answers them in order. A document is verified when no message waits,
//! so that a burst of key strokes costs one verification.

mod convert;
mod document;
mod hover;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::Context;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{CodeActionRequest, Formatting, HoverRequest, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, HoverProviderCapability,
    InitializeParams, OneOf, PositionEncodingKind, PublishDiagnosticsParams, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use serde::de::DeserializeOwned;

use crate::config::{ConfigArgs, Configs, is_excluded};
use crate::foreign;
use crate::options::{OptionArgs, Options};
use crate::source::{Input, Origin};
use crate::work::guarded;
use convert::Encoding;
use document::Document;

/// How long the server waits for another message before it verifies what has changed.
const QUIET: Duration = Duration::from_millis(80);

/// Serves one editor over standard input and output until it says `exit`.
pub fn serve() -> anyhow::Result<()> {
    let (connection, threads) = Connection::stdio();
    let (id, params) =
        connection.initialize_start().context("the editor did not begin as the protocol says")?;
    let params: InitializeParams = serde_json::from_value(params).context("the editor's capabilities")?;
    let encoding = encoding(&params);
    let answer = serde_json::json!({
        "capabilities": capabilities(encoding),
        "serverInfo": {"name": "ptx-cli", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, answer)?;
    let mut server = Server { connection, encoding, documents: BTreeMap::new() };
    server.run()?;
    drop(server);
    threads.join().context("the streams of the editor")?;
    Ok(())
}

/// Bytes where the editor can count them, else the protocol's default.
fn encoding(params: &InitializeParams) -> Encoding {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_deref()).unwrap_or_default();
    if offered.contains(&PositionEncodingKind::UTF8) { Encoding::Utf8 } else { Encoding::Utf16 }
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

struct Server {
    connection: Connection,
    encoding: Encoding,
    documents: BTreeMap<String, Document>,
}

impl Server {
    fn run(&mut self) -> anyhow::Result<()> {
        loop {
            let message = if self.documents.values().any(|document| document.is_stale) {
                match self.connection.receiver.recv_timeout(QUIET) {
                    Ok(message) => message,
                    Err(error) if error.is_timeout() => {
                        self.verify_stale()?;
                        continue;
                    }
                    Err(_) => return Ok(()),
                }
            } else {
                let Ok(message) = self.connection.receiver.recv() else { return Ok(()) };
                message
            };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    let response = self.answer(request);
                    self.connection.sender.send(Message::Response(response))?;
                }
                Message::Notification(notification) => self.notice(notification)?,
                Message::Response(_) => {}
            }
        }
    }

    /// Verifies what has changed and tells the editor.
    fn verify_stale(&mut self) -> anyhow::Result<()> {
        for document in self.documents.values_mut().filter(|document| document.is_stale) {
            let options = options_of(document);
            document.is_stale = false;
            // After a panic, which was told on standard error, the document has no findings.
            let found = guarded(|| options.map(|options| document.verify(&options)).unwrap_or_default());
            document.diagnostics = found.unwrap_or_default();
            let encoding = self.encoding;
            let diagnostics = document.diagnostics.iter();
            let params = PublishDiagnosticsParams {
                uri: document.uri.clone(),
                diagnostics: diagnostics.map(|each| convert::diagnostic(document, encoding, each)).collect(),
                version: Some(document.version),
            };
            publish(&self.connection, params)?;
        }
        Ok(())
    }

    fn notice(&mut self, notification: Notification) -> anyhow::Result<()> {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(params) = read::<lsp_types::DidOpenTextDocumentParams>(notification.params) else {
                    return Ok(());
                };
                let item = params.text_document;
                let document = Document::new(item.uri, &item.language_id, item.version, item.text);
                self.documents.insert(document.uri.as_str().to_owned(), document);
            }
            DidChangeTextDocument::METHOD => {
                let params: Option<lsp_types::DidChangeTextDocumentParams> = read(notification.params);
                let Some(mut params) = params else { return Ok(()) };
                let document = self.documents.get_mut(params.text_document.uri.as_str());
                // The whole text is sent with every change, as the capabilities ask.
                if let (Some(document), Some(change)) = (document, params.content_changes.pop()) {
                    document.change(params.text_document.version, change.text);
                }
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = read::<lsp_types::DidCloseTextDocumentParams>(notification.params) else {
                    return Ok(());
                };
                let uri = params.text_document.uri;
                self.documents.remove(uri.as_str());
                publish(&self.connection, PublishDiagnosticsParams::new(uri, Vec::new(), None))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        let result = guarded(|| match request.method.as_str() {
            HoverRequest::METHOD => Some(self.hover(request.params)),
            Formatting::METHOD => Some(self.format(request.params)),
            CodeActionRequest::METHOD => Some(self.code_actions(request.params)),
            _ => None,
        });
        match result {
            Ok(Some(Ok(value))) => Response::new_ok(id, value),
            Ok(Some(Err(reason))) => Response::new_err(id, ErrorCode::RequestFailed as i32, reason),
            Ok(None) => {
                let reason = format!("the method `{}` is not known", request.method);
                Response::new_err(id, ErrorCode::MethodNotFound as i32, reason)
            }
            Err(_) => Response::new_err(id, ErrorCode::InternalError as i32, "internal error".to_owned()),
        }
    }

    fn document(&self, uri: &Uri) -> Result<&Document, String> {
        self.documents.get(uri.as_str()).ok_or_else(|| format!("`{}` is not open", uri.as_str()))
    }

    fn hover(&self, params: serde_json::Value) -> Result<serde_json::Value, String> {
        let params: lsp_types::HoverParams = parse(params)?;
        let at = params.text_document_position_params;
        let document = self.document(&at.text_document.uri)?;
        let offset = convert::offset(document, self.encoding, at.position);
        Ok(to_value(hover::hover(document, self.encoding, offset)))
    }

    fn format(&self, params: serde_json::Value) -> Result<serde_json::Value, String> {
        let params: lsp_types::DocumentFormattingParams = parse(params)?;
        let document = self.document(&params.text_document.uri)?;
        Ok(to_value(document.format(self.encoding)?))
    }

    fn code_actions(&self, params: serde_json::Value) -> Result<serde_json::Value, String> {
        let params: lsp_types::CodeActionParams = parse(params)?;
        let document = self.document(&params.text_document.uri)?;
        let start = convert::offset(document, self.encoding, params.range.start);
        let end = convert::offset(document, self.encoding, params.range.end);
        let touched =
            document.diagnostics.iter().filter(|found| found.span.start <= end && found.span.end >= start);
        let actions = touched.filter_map(|found| convert::code_action(document, self.encoding, found));
        Ok(to_value(actions.collect::<Vec<_>>()))
    }
}

/// What a document is verified for: the nearest `ptx.toml`. A wrong one is told on standard error.
fn options_of(document: &Document) -> Option<Options> {
    let input = Input {
        origin: document.path.clone().map_or(Origin::Stdin, Origin::File),
        name: document.source.name.clone(),
        kind: document.source.kind,
    };
    let config = Configs::new(&ConfigArgs::default()).and_then(|mut configs| configs.of(&input));
    let options = config.and_then(|config| {
        let excluded = is_excluded(config.as_deref(), &input);
        let options = Options::new(&OptionArgs::default(), config.as_deref())?;
        Ok((!excluded).then_some(options))
    });
    options.unwrap_or_else(|error| {
        tell(&format!("{error:#}"));
        Some(Options::default())
    })
}

fn publish(connection: &Connection, params: PublishDiagnosticsParams) -> anyhow::Result<()> {
    let notification = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
    connection.sender.send(Message::Notification(notification)).context("the editor is gone")
}

/// Tells the log of the editor what is wrong.
fn tell(error: &str) {
    // An editor that reads no log is no reason to stop.
    let _ = writeln!(io::stderr(), "error: {}", foreign::text(error));
}

/// The parameters of a notification; wrong ones are told and passed over, as there is nobody to answer.
fn read<T: DeserializeOwned>(params: serde_json::Value) -> Option<T> {
    parse(params).map_err(|error| tell(&error)).ok()
}

fn parse<T: DeserializeOwned>(params: serde_json::Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| format!("wrong parameters: {error}"))
}

fn to_value(value: impl serde::Serialize) -> serde_json::Value {
    // The protocol's types always have a JSON form.
    serde_json::to_value(value).unwrap_or_default()
}
