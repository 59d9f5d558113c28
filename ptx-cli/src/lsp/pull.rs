//! Findings that the editor asks for, instead of being sent them.
//!
//! Such a question waits at the thread that verifies, until the version that it is about, or a later one, is verified.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::requests::parse;
use super::wire::{ErrorCode, Failure, Outgoing};

/// No more questions wait.
const MAX_WAITING: usize = 256;

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The id of the request.
    pub id: Value,
    /// The address of the document.
    pub uri: String,
    /// The answer that the editor has.
    pub previous: Option<String>,
}

/// Reads a question.
pub fn read(id: Value, params: Value) -> Result<Question, Failure> {
    let params: lsp_types::DocumentDiagnosticParams = parse(params)?;
    let uri = params.text_document.uri.as_str().to_owned();
    Ok(Question { id, uri, previous: params.previous_result_id })
}

impl Question {
    /// The answer about a document that is not open.
    pub fn refused(&self) -> Outgoing {
        let failure = Failure::new(ErrorCode::Failed, format!("`{}` is not open", self.uri));
        Outgoing::refusal(&self.id, failure)
    }
}

/// What is known of a document: the findings, and a name for them.
#[derive(Clone, Debug)]
pub struct Known {
    pub name: String,
    pub diagnostics: Arc<RawValue>,
}

impl Known {
    /// The answer to a question.
    pub fn answer(&self, question: &Question) -> Outgoing {
        let is_known = question.previous.as_ref() == Some(&self.name);
        let (kind, items) = if is_known { ("unchanged", None) } else { ("full", Some(&*self.diagnostics)) };
        Outgoing::answer(&question.id, Ok(Report { kind, result_id: &self.name, items }))
    }
}

/// An answer, as the protocol has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    kind: &'static str,
    result_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<&'a RawValue>,
}

/// The questions that wait.
#[derive(Default)]
pub struct Questions {
    waiting: Vec<Question>,
}

impl Questions {
    /// Has a question wait; the answer to one that cannot.
    pub fn add(&mut self, question: Question) -> Option<Outgoing> {
        if self.waiting.len() >= MAX_WAITING {
            let failure = Failure::new(ErrorCode::Failed, "too many questions wait for findings");
            return Some(Outgoing::refusal(&question.id, failure));
        }
        self.waiting.push(question);
        None
    }

    /// Takes a question back; its answer, if it waits.
    pub fn cancel(&mut self, id: &Value) -> Option<Outgoing> {
        let at = self.waiting.iter().position(|question| question.id == *id)?;
        let question = self.waiting.remove(at);
        Some(Outgoing::refusal(&question.id, Failure::cancelled()))
    }

    /// The questions about a document, which wait no longer.
    pub fn take(&mut self, uri: &str) -> Vec<Question> {
        let (about, others) = std::mem::take(&mut self.waiting).into_iter().partition(|each| each.uri == uri);
        self.waiting = others;
        about
    }
}
