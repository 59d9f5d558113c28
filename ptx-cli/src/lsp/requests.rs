//! The answers to requests: parameters are read, the feature is asked, and what it says is written as the protocol has
//! it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentSymbolRequest, ExecuteCommand,
    FoldingRangeRequest, Formatting, GotoDefinition, HoverRequest, Initialize, InlayHintRefreshRequest,
    InlayHintRequest, PrepareRenameRequest, RangeFormatting, References, Rename, Request as _,
    SemanticTokensFullDeltaRequest, SemanticTokensFullRequest, SemanticTokensRangeRequest, Shutdown,
    SignatureHelpRequest,
};
use lsp_types::{
    DocumentSymbolResponse, Location, MessageType, PrepareRenameResponse, SemanticTokens,
    TextDocumentIdentifier, TextDocumentPositionParams, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Server;
use super::checker::locked;
use super::document::Document;
use super::navigate::{self, Found};
use super::semantic::Told;
use super::session::{Phase, Session};
use super::wire::{ErrorCode, Failure, Outgoing};
use super::{
    actions, completion, convert, edits, folding, hover, inlay, rename, reports, semantic, signature,
    symbols, workspace,
};
use crate::work::guarded;

/// The document that a request is about, if that was known when it was read.
type About = Option<Arc<Document>>;

type Answer = Result<Value, Failure>;

/// Reads the parameters of a request.
pub fn parse<T: DeserializeOwned>(params: Value) -> Result<T, Failure> {
    serde_json::from_value(params)
        .map_err(|error| Failure::new(ErrorCode::InvalidParams, format!("wrong parameters: {error}")))
}

/// What a feature says, as JSON.
fn told(value: impl Serialize) -> Answer {
    serde_json::to_value(value).map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))
}

impl Server {
    /// The answer to a request.
    pub(super) fn answer(&mut self, method: &str, params: Value, about: About) -> Answer {
        let refuse = |code, message: &str| Err(Failure::new(code, message));
        match (self.session.phase, method) {
            (Phase::Before, Initialize::METHOD) => return self.initialize(params),
            (Phase::Before, _) => return refuse(ErrorCode::NotInitialized, "`initialize` has to come first"),
            (Phase::Shut, _) => return refuse(ErrorCode::InvalidRequest, "the server was shut down"),
            (Phase::Open, Initialize::METHOD) => {
                return refuse(ErrorCode::InvalidRequest, "the server is initialized");
            }
            (Phase::Open, Shutdown::METHOD) => {
                self.session.phase = Phase::Shut;
                return Ok(Value::Null);
            }
            (Phase::Open, _) => {}
        }
        let answered = guarded(|| self.ask(method, params, about));
        answered.unwrap_or_else(|_| refuse(ErrorCode::Internal, "internal error"))
    }

    fn ask(&self, method: &str, params: Value, about: About) -> Answer {
        match method {
            HoverRequest::METHOD => self.at(params, about, hover::hover),
            Completion::METHOD => self.at(params, about, |document, at| Some(completion::at(document, at))),
            SignatureHelpRequest::METHOD => self.at(params, about, signature::help),
            GotoDefinition::METHOD => self.definition(params, about),
            References::METHOD => self.references(params, about),
            DocumentHighlightRequest::METHOD => self.at(params, about, |document, at| {
                Some(navigate::highlights(document, &navigate::find(document, at)?))
            }),
            PrepareRenameRequest::METHOD => self.at(params, about, |document, at| {
                let found = navigate::find(document, at)?;
                let (place, name) = rename::prepare(document, &found);
                let range = convert::ranges(document, [place]).pop()?;
                Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: name.to_owned() })
            }),
            Rename::METHOD => self.rename(params, about),
            DocumentSymbolRequest::METHOD => self.document_symbols(params, about),
            FoldingRangeRequest::METHOD => {
                let params: lsp_types::FoldingRangeParams = parse(params)?;
                let document = self.about(&params.text_document, about)?;
                told(folding::ranges(&document, None))
            }
            Formatting::METHOD => {
                let params: lsp_types::DocumentFormattingParams = parse(params)?;
                let document = self.about(&params.text_document, about)?;
                told(edits::format(&document, None).map_err(failed)?)
            }
            RangeFormatting::METHOD => {
                let params: lsp_types::DocumentRangeFormattingParams = parse(params)?;
                let document = self.about(&params.text_document, about)?;
                told(edits::format(&document, Some(params.range)).map_err(failed)?)
            }
            CodeActionRequest::METHOD => self.code_actions(params, about),
            SemanticTokensFullRequest::METHOD => self.semantic_tokens(params, about),
            SemanticTokensFullDeltaRequest::METHOD => self.semantic_tokens_delta(params, about),
            SemanticTokensRangeRequest::METHOD => {
                let params: lsp_types::SemanticTokensRangeParams = parse(params)?;
                let document = self.about(&params.text_document, about)?;
                let data = semantic::tokens(&document, Some(params.range));
                told(SemanticTokens { result_id: None, data })
            }
            InlayHintRequest::METHOD => {
                let params: lsp_types::InlayHintParams = parse(params)?;
                let document = self.about(&params.text_document, about)?;
                let reported = locked(&self.reports).get(&document.uri).cloned();
                told(inlay::hints(&document, params.range, reported.as_ref()))
            }
            ExecuteCommand::METHOD => self.execute(params),
            _ => Err(Failure::new(ErrorCode::MethodNotFound, format!("the method `{method}` is not known"))),
        }
    }

    fn initialize(&mut self, params: Value) -> Answer {
        let params = parse(params)?;
        self.session = Session::of(&params);
        let (folders, encoding) = (workspace::folders(&params), self.session.encoding);
        self.give_workspace(workspace::Task::Open { folders, encoding });
        Ok(json!({
            "capabilities": self.session.capabilities(),
            "serverInfo": {"name": convert::SOURCE, "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    pub(super) fn document(&self, uri: &Uri) -> Result<Arc<Document>, Failure> {
        let failure = || Failure::new(ErrorCode::Failed, format!("`{}` is not open", uri.as_str()));
        locked(&self.documents).get(uri.as_str()).cloned().ok_or_else(failure)
    }

    fn about(&self, id: &TextDocumentIdentifier, about: About) -> Result<Arc<Document>, Failure> {
        about.map_or_else(|| self.document(&id.uri), Ok)
    }

    /// The answer to a request about a place, which has nothing else in its parameters that matters.
    fn at<T: Serialize>(
        &self,
        params: Value,
        about: About,
        ask: impl FnOnce(&Document, u32) -> Option<T>,
    ) -> Answer {
        let params: TextDocumentPositionParams = parse(params)?;
        let document = self.about(&params.text_document, about)?;
        told(ask(&document, document.offset(params.position)))
    }

    fn definition(&self, params: Value, about: About) -> Answer {
        self.at(params, about, |document, at| {
            let found = navigate::find(document, at)?;
            locations(document, navigate::definition(&found))
        })
    }

    fn references(&self, params: Value, about: About) -> Answer {
        let params: lsp_types::ReferenceParams = parse(params)?;
        let at = params.text_document_position;
        let document = self.about(&at.text_document, about)?;
        let Some(found) = navigate::find(&document, document.offset(at.position)) else {
            return Ok(Value::Null);
        };
        let all = navigate::places(&document, &found).into_iter();
        let wanted = all.filter(|place| !place.declares || params.context.include_declaration);
        told(locations(&document, wanted.map(|place| place.span)))
    }

    fn rename(&self, params: Value, about: About) -> Answer {
        let params: lsp_types::RenameParams = parse(params)?;
        let at = params.text_document_position;
        let document = self.about(&at.text_document, about)?;
        let nothing = || Failure::new(ErrorCode::Failed, "there is no name that could be another here");
        let found: Found<'_> = navigate::find(&document, document.offset(at.position)).ok_or_else(nothing)?;
        let edits = rename::rename(&document, &found, &params.new_name).map_err(failed)?;
        let uri = document.address().ok_or_else(nothing)?;
        told(convert::workspace_edit(&document, uri, edits, self.session.versioned))
    }

    fn document_symbols(&self, params: Value, about: About) -> Answer {
        let params: lsp_types::DocumentSymbolParams = parse(params)?;
        let document = self.about(&params.text_document, about)?;
        let Some(tree) = symbols::of_document(&document) else { return Ok(Value::Null) };
        told(match self.session.shows_trees {
            true => DocumentSymbolResponse::Nested(tree),
            false => DocumentSymbolResponse::Flat(symbols::flat(&document, tree)),
        })
    }

    /// What can be done about findings. Those of an older version have no fixes: their edits would be at the wrong
    /// places.
    fn code_actions(&self, params: Value, about: About) -> Answer {
        let params: lsp_types::CodeActionParams = parse(params)?;
        let document = self.about(&params.text_document, about)?;
        let findings = locked(&self.findings);
        let checked = findings.get(&document.uri).filter(|checked| checked.version == document.version);
        let Some(checked) = checked.cloned() else { return Ok(json!([])) };
        drop(findings);
        told(actions::actions(&document, &checked, params.context, self.session.versioned))
    }

    fn semantic_tokens(&self, params: Value, about: About) -> Answer {
        let params: lsp_types::SemanticTokensParams = parse(params)?;
        let document = self.about(&params.text_document, about)?;
        told(self.tell_tokens(&document).1.full())
    }

    fn semantic_tokens_delta(&self, params: Value, about: About) -> Answer {
        let params: lsp_types::SemanticTokensDeltaParams = parse(params)?;
        let document = self.about(&params.text_document, about)?;
        let (before, now) = self.tell_tokens(&document);
        told(now.since(before.as_ref(), &params.previous_result_id))
    }

    /// The tokens that were told last, and those of now.
    fn tell_tokens(&self, document: &Document) -> (Option<Told>, Told) {
        let id = self.serial.fetch_add(1, Ordering::Relaxed);
        let now = Told::new(id, semantic::tokens(document, None));
        let before = locked(&self.told).insert(document.uri.clone(), now.clone());
        (before, now)
    }

    /// Does what the editor was offered as a command. Nobody waits for what takes long.
    fn execute(&self, params: Value) -> Answer {
        let params: lsp_types::ExecuteCommandParams = parse(params)?;
        if params.command != reports::COMMAND {
            let message = format!("there is no command `{}`", params.command);
            return Err(Failure::new(ErrorCode::InvalidParams, message));
        }
        let uri = params.arguments.first().and_then(Value::as_str);
        let document = uri.and_then(|uri| locked(&self.documents).get(uri).cloned());
        let Some(document) = document else { return Err(failed("the document is not open".to_owned())) };
        if self.is_reporting.swap(true, Ordering::AcqRel) {
            return Err(failed("a report is being made".to_owned()));
        }
        let (output, reports) = (self.output.clone(), Arc::clone(&self.reports));
        let (is_reporting, refreshes) = (Arc::clone(&self.is_reporting), self.session.refreshes_hints);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        std::thread::spawn(move || {
            let made =
                guarded(|| reports::of(&document)).unwrap_or_else(|_| Err("internal error".to_owned()));
            is_reporting.store(false, Ordering::Release);
            // Without an editor there is nobody to tell.
            let _ = match made {
                Ok(report) => {
                    locked(&reports).insert(document.uri.clone(), report);
                    let request = || {
                        Outgoing::request(
                            &format!("hints-{serial}"),
                            InlayHintRefreshRequest::METHOD,
                            Value::Null,
                        )
                    };
                    if refreshes { output.send(request()) } else { Ok(()) }
                }
                Err(message) => {
                    let params = json!({"type": MessageType::ERROR, "message": message});
                    output.send(Outgoing::notification(ShowMessage::METHOD, params))
                }
            };
        });
        Ok(Value::Null)
    }
}

fn failed(reason: String) -> Failure {
    Failure::new(ErrorCode::Failed, reason)
}

/// Places of a document, as the protocol tells them.
fn locations(
    document: &Document,
    spans: impl IntoIterator<Item = ptx_syntax::Span>,
) -> Option<Vec<Location>> {
    let uri = document.address()?;
    let ranges = convert::ranges(document, spans);
    Some(ranges.into_iter().map(|range| Location::new(uri.clone(), range)).collect())
}
