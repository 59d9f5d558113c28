//! The thread that verifies documents and publishes what it finds.
//!
//! It takes documents from the thread that answers requests and never waits for it, so that no request can hold findings
//! up. A document is verified when it has not changed for a while; the while is a part of what its last verification took,
//! within limits, so that a burst of changes costs few verifications and nobody is kept waiting. An
//! editor that never pauses gets findings too: they are there [`WITHIN`] a change, as far as a verification is that
//! fast.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::request::{Request as _, WorkspaceDiagnosticRefresh};
use lsp_types::{DiagnosticSeverity, Range};
use ptx_project::{Options, Sessions};
use ptx_syntax::Diagnostic;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::configuration::Configuration;
use super::convert::{self, Shown};
use super::document::{Document, MAX_BYTES};
use super::pull::{Known, Question, Questions};
use super::toml;
use super::wire::{Failure, Outgoing};
use crate::work::guarded;

/// A pause in typing is at least so long,
const MIN_QUIET: Duration = Duration::from_millis(2);
/// and longer ones are not waited for.
const MAX_QUIET: Duration = Duration::from_millis(60);
/// and in between such a part of the last verification.
const QUIET_PART: u32 = 5;
/// So long after the first change that was not verified, findings are to be there, whatever else the editor does.
const WITHIN: Duration = Duration::from_millis(200);
/// How often configuration files are looked at, where the editor does not watch them.
const POLL: Duration = Duration::from_secs(2);

/// What the checker is told.
pub enum Task {
    /// A document was opened or changed: its address. The latest version is verified.
    Document(String),
    /// A document was closed: its address.
    Close(String),
    /// A configuration file may have changed.
    Configuration,
    /// The editor watches configuration files.
    Watched,
    /// The editor asks for findings, and can be told to ask again.
    Pulled { refreshes: bool },
    /// It asks.
    Pull(Question),
    /// A request was taken back that may be such a question.
    Cancel(Value),
}

/// The open documents by address.
pub type Documents = Arc<Mutex<BTreeMap<String, Arc<Document>>>>;

/// What was found last in each open document, by address.
pub type Findings = Arc<Mutex<BTreeMap<String, Checked>>>;

/// What was found in a version of a document.
#[derive(Clone)]
pub struct Checked {
    pub version: i32,
    pub shown: Arc<Vec<Shown>>,
    /// What it was verified for; none where it was not.
    pub options: Option<Arc<Options>>,
}

/// When an open document is to be verified.
#[derive(Default)]
struct Open {
    /// The first and the latest change that was not verified.
    changed: Option<(Instant, Instant)>,
    /// How long the last verification took.
    took: Duration,
    /// What is known of the version that was verified last.
    sessions: Sessions,
    /// What is answered to questions about the version that was verified last.
    known: Option<Known>,
}

impl Open {
    fn due(&self) -> Option<Instant> {
        let (first, latest) = self.changed?;
        let most = WITHIN.saturating_sub(self.took).max(MIN_QUIET);
        Some((latest + (self.took / QUIET_PART).clamp(MIN_QUIET, MAX_QUIET)).min(first + most))
    }
}

/// The state of the thread.
pub struct Checker {
    tasks: Receiver<Task>,
    output: SyncSender<Outgoing>,
    documents: Documents,
    findings: Findings,
    open: BTreeMap<String, Open>,
    configuration: Configuration,
    watched: bool,
    /// Whether the editor asks for findings, and whether it can be told to ask again.
    pulled: Option<bool>,
    questions: Questions,
    /// The number of the next answer to questions.
    serial: u64,
}

impl Checker {
    pub fn new(
        tasks: Receiver<Task>,
        output: SyncSender<Outgoing>,
        documents: Documents,
        findings: Findings,
    ) -> Self {
        let (open, configuration) = (BTreeMap::new(), Configuration::default());
        let (watched, pulled, questions, serial) = (false, None, Questions::default(), 1);
        Self { tasks, output, documents, findings, open, configuration, watched, pulled, questions, serial }
    }

    /// Works until nobody gives tasks any more.
    pub fn run(mut self) {
        let mut looked = Instant::now();
        loop {
            match self.tasks.recv_timeout(self.patience()) {
                Ok(task) => self.take(task),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(task) = self.tasks.try_recv() {
                self.take(task);
            }
            if !self.watched && looked.elapsed() >= POLL {
                looked = Instant::now();
                if self.configuration.has_changed() {
                    self.take(Task::Configuration);
                }
            }
            // One document, then the tasks that came meanwhile.
            let now = Instant::now();
            let due = self.open.iter().filter_map(|(uri, open)| Some((open.due()?, uri)));
            let due = due.min().filter(|(due, _)| *due <= now);
            if let Some(uri) = due.map(|(_, uri)| uri.clone()) {
                self.check(&uri);
            }
        }
    }

    /// How long to wait for a task.
    fn patience(&self) -> Duration {
        let next = self.open.values().filter_map(Open::due).min();
        match next {
            Some(next) => next.saturating_duration_since(Instant::now()).min(POLL),
            None => POLL,
        }
    }

    fn take(&mut self, task: Task) {
        let now = Instant::now();
        match task {
            Task::Document(uri) => {
                self.configuration.opened(&uri);
                let open = self.open.entry(uri).or_default();
                open.changed = Some((open.changed.map_or(now, |(first, _)| first), now));
            }
            Task::Close(uri) => {
                self.open.remove(&uri);
                locked(&self.findings).remove(&uri);
                self.configuration.closed(&uri);
                for question in self.questions.take(&uri) {
                    self.send(Outgoing::refusal(&question.id, Failure::cancelled()));
                }
                if self.pulled.is_none() {
                    let params = json!({"uri": uri, "diagnostics": []});
                    self.send(Outgoing::notification(PublishDiagnostics::METHOD, params));
                }
            }
            Task::Configuration => {
                for open in self.open.values_mut() {
                    open.changed.get_or_insert((now, now));
                }
                if self.pulled == Some(true) {
                    self.serial += 1;
                    let id = format!("findings-{}", self.serial);
                    self.send(Outgoing::request(&id, WorkspaceDiagnosticRefresh::METHOD, Value::Null));
                }
            }
            Task::Watched => self.watched = true,
            Task::Pulled { refreshes } => self.pulled = Some(refreshes),
            Task::Pull(question) => {
                let answer = match self.open.get(&question.uri) {
                    None => Some(question.refused()),
                    Some(Open { changed: None, known: Some(known), .. }) => Some(known.answer(&question)),
                    Some(_) => self.questions.add(question),
                };
                answer.into_iter().for_each(|answer| self.send(answer));
            }
            Task::Cancel(id) => {
                let answer = self.questions.cancel(&id);
                answer.into_iter().for_each(|answer| self.send(answer));
            }
        }
    }

    /// Verifies the latest version of a document and tells the editor.
    fn check(&mut self, uri: &str) {
        let started = Instant::now();
        let mut sessions = Sessions::default();
        if let Some(open) = self.open.get_mut(uri) {
            open.changed = None;
            sessions = std::mem::take(&mut open.sessions);
        }
        // One that was closed meanwhile is forgotten with the next task.
        let Some(document) = locked(&self.documents).get(uri).cloned() else { return };
        let document = &*document;
        let mut messages = Vec::new();
        let options = match document.is_configuration {
            true => None,
            false => self.configuration.of(document, &mut messages).map(Arc::new),
        };
        messages.into_iter().for_each(|message| self.send(message));
        let found = match (document.too_large, &options) {
            (None, None) => Ok(Vec::new()),
            (Some(bytes), _) => Err(too_large(bytes)),
            (None, Some(options)) => {
                let known = std::mem::take(&mut sessions);
                let work = move || {
                    let mut known = known;
                    (ptx_project::verify_again(&document.source, options, &mut known), known)
                };
                // After a panic nothing is known.
                guarded(work)
                    .map(|(found, known)| {
                        sessions = known;
                        found
                    })
                    .map_err(|_| "internal error: this version of the document is not verified".to_owned())
            }
        };
        let (mut diagnostics, shown) = found_in(document, found);
        if document.is_configuration {
            diagnostics = toml::findings(document);
        }
        // Lists of what has strings as keys have a text.
        let diagnostics: Arc<RawValue> = to_raw_value(&diagnostics).unwrap_or_default().into();
        let checked = Checked { version: document.version, shown: Arc::new(shown), options };
        locked(&self.findings).insert(document.uri.clone(), checked);
        let known = self.known(uri, &diagnostics);
        for question in self.questions.take(uri) {
            self.send(known.answer(&question));
        }
        if self.pulled.is_none() {
            let params =
                Published { uri: &document.uri, version: document.version, diagnostics: &diagnostics };
            self.send(Outgoing::notification(PublishDiagnostics::METHOD, params));
        }
        if let Some(open) = self.open.get_mut(uri) {
            open.took = started.elapsed();
            open.sessions = sessions;
            open.known = Some(known);
        }
    }

    /// What is answered to questions: under the name of before, where nothing else was found.
    fn known(&mut self, uri: &str, diagnostics: &Arc<RawValue>) -> Known {
        let before = self.open.get_mut(uri).and_then(|open| open.known.take());
        before.filter(|before| before.diagnostics.get() == diagnostics.get()).unwrap_or_else(|| {
            self.serial += 1;
            Known { name: self.serial.to_string(), diagnostics: Arc::clone(diagnostics) }
        })
    }

    fn send(&self, message: Outgoing) {
        // Without an editor there is nobody to tell; the thread that reads notices it too.
        let _ = self.output.send(message);
    }
}

/// The findings of a document, as the protocol has them.
#[derive(Serialize)]
struct Published<'a> {
    uri: &'a str,
    version: i32,
    diagnostics: &'a RawValue,
}

/// What a lock guards is whole also after a panic: it is only put in and taken out.
pub fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn found_in(
    document: &Document,
    found: Result<Vec<Diagnostic>, String>,
) -> (Vec<lsp_types::Diagnostic>, Vec<Shown>) {
    match found {
        Ok(found) => convert::diagnostics(document, found),
        Err(message) => {
            (vec![convert::plain(Range::default(), DiagnosticSeverity::ERROR, message)], Vec::new())
        }
    }
}

fn too_large(bytes: usize) -> String {
    let (has, most) = (bytes >> 20, MAX_BYTES >> 20);
    format!("the document has {has} MiB and is not verified; in an editor the limit is {most} MiB")
}
