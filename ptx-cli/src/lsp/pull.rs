//! Findings that the editor asks for, instead of being sent them.
//!
//! Such a question waits at the thread that verifies, until the version that it is about, or a later one, is verified.

use std::sync::Arc;

use serde_json::{Value, json};

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
        Outgoing::answer(&self.id, Err(failure))
    }
}

/// What is known of a document: the findings, and a name for them.
#[derive(Clone, Debug)]
pub struct Known {
    pub name: String,
    pub diagnostics: Arc<Value>,
}

impl Known {
    /// The answer to a question.
    pub fn answer(&self, question: &Question) -> Outgoing {
        let unchanged = question.previous.as_ref() == Some(&self.name);
        let result = match unchanged {
            true => json!({"kind": "unchanged", "resultId": self.name}),
            false => json!({"kind": "full", "resultId": self.name, "items": *self.diagnostics}),
        };
        Outgoing::answer(&question.id, Ok(result))
    }
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
            return Some(Outgoing::answer(&question.id, Err(failure)));
        }
        self.waiting.push(question);
        None
    }

    /// Takes a question back; its answer, if it waits.
    pub fn cancel(&mut self, id: &Value) -> Option<Outgoing> {
        let at = self.waiting.iter().position(|question| question.id == *id)?;
        let question = self.waiting.remove(at);
        Some(Outgoing::answer(&question.id, Err(Failure::cancelled())))
    }

    /// The questions about a document, which wait no longer.
    pub fn take(&mut self, uri: &str) -> Vec<Question> {
        let (about, others) = std::mem::take(&mut self.waiting).into_iter().partition(|each| each.uri == uri);
        self.waiting = others;
        about
    }
}
