//! The language server: findings while typing, fixes, formatting, and the manual's forms on hover.
//!
//! Five threads: one reads messages, one writes them, one answers requests in order, one searches the workspace
//! ([`workspace`]), and one verifies documents ([`checker`]). The last takes what is open from the one before, and publishes by itself: however long an answer takes
//! and however many are asked for, the findings come.

mod access;
mod actions;
mod checker;
mod completion;
mod configuration;
mod constants;
mod convert;
mod document;
mod edits;
mod folding;
mod hover;
mod inlay;
mod lines;
mod navigate;
mod part;
mod pull;
mod rename;
mod reports;
mod requests;
mod semantic;
mod session;
mod signature;
mod symbols;
mod toml;
mod values;
mod wire;
mod workspace;

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use lsp_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidOpenTextDocument, Exit, Initialized, Notification as _,
};
use lsp_types::request::{
    DocumentDiagnosticRequest, Initialize, RegisterCapability, Request as _, Shutdown, WorkspaceSymbolRequest,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::foreign;
use checker::{Checker, Documents, Findings, Task, locked};
use document::Document;
use reports::Reports;
use requests::parse;
use semantic::Told;
use session::{Phase, Session};
use wire::{Failure, Message, Outgoing};

/// So many messages are read ahead of their answers.
const MAX_AHEAD: usize = 64;
/// So many messages wait for their turn.
const MAX_WAITING: usize = 256;
/// So many messages wait until the editor reads them.
const MAX_UNREAD: usize = 64;
/// So long an editor that left may take to read what was said last.
const FAREWELL: Duration = Duration::from_secs(2);

/// How an editor left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goodbye {
    /// With `shutdown`.
    Said,
    /// Without.
    Missing,
}

/// Serves one editor until it says `exit`, or is gone: how it left, and the thread that verifies. That thread ends by
/// itself, and only a test waits for it: a long verification would hold the process up.
///
/// # Errors
/// The editor reads no more.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> anyhow::Result<(Goodbye, JoinHandle<()>)> {
    let (sender, outgoing) = mpsc::sync_channel(MAX_UNREAD);
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(write(output, &outgoing)));
    let (ahead, incoming) = mpsc::sync_channel(MAX_AHEAD);
    // It ends with the stream, or with the process: nothing can wake it while the editor is silent.
    thread::spawn(move || {
        let mut input = input;
        while let Ok(Some(message)) = wire::read(&mut input) {
            if ahead.send(message).is_err() {
                break;
            }
        }
    });
    let (documents, findings) = (Documents::default(), Findings::default());
    let (tasks, given) = mpsc::channel();
    let checker = Checker::new(given, sender.clone(), Arc::clone(&documents), Arc::clone(&findings));
    let checking = thread::Builder::new().spawn(move || checker.run())?;
    let (searches, asked) = mpsc::channel();
    let (found, open) = (sender.clone(), Arc::clone(&documents));
    thread::spawn(move || workspace::serve(&asked, &found, &open));
    let (session, waiting) = (Session::default(), VecDeque::new());
    let server = Server {
        output: sender.clone(),
        tasks,
        searches,
        documents,
        findings,
        session,
        waiting,
        barriers: 0,
        told: Mutex::default(),
        reports: Reports::default(),
        is_reporting: Arc::default(),
        serial: AtomicU64::new(1),
    };
    let goodbye = server.run(&incoming)?;
    if sender.try_send(Outgoing::end()).is_ok()
        && let Ok(written) = end.recv_timeout(FAREWELL)
    {
        written.context("the editor is gone")?;
    }
    Ok((goodbye, checking))
}

/// Writes until nobody has anything to say, or the editor reads no more.
fn write(mut output: impl Write, outgoing: &Receiver<Outgoing>) -> io::Result<()> {
    outgoing
        .iter()
        .take_while(|message| !message.is_end())
        .try_for_each(|message| wire::write(&mut output, &message))
}

struct Server {
    output: SyncSender<Outgoing>,
    tasks: Sender<Task>,
    searches: Sender<workspace::Task>,
    documents: Documents,
    findings: Findings,
    session: Session,
    /// Messages that were read and not yet worked on.
    waiting: VecDeque<Waiting>,
    /// How many of them have to be worked on before whatever follows.
    barriers: usize,
    /// The semantic tokens that were told last, by address.
    told: Mutex<BTreeMap<String, Told>>,
    /// What was reported of documents.
    reports: Reports,
    /// Whether a report is being made.
    is_reporting: Arc<AtomicBool>,
    /// The number of the next result that has one.
    serial: AtomicU64,
}

/// A message that waits for its turn.
struct Waiting {
    message: Message,
    /// For a request about a document, the version that it is about.
    document: Option<Arc<Document>>,
}

impl Waiting {
    /// Whether what follows may depend on it: only answers to most requests change nothing.
    fn is_barrier(&self) -> bool {
        match &self.message {
            Message::Request { method, .. } => {
                matches!(method.as_str(), Initialize::METHOD | Shutdown::METHOD)
            }
            Message::Broken { .. } | Message::Response => false,
            Message::Notification { .. } => true,
        }
    }
}

impl Server {
    fn run(mut self, incoming: &Receiver<Message>) -> anyhow::Result<Goodbye> {
        let mut goodbye = Goodbye::Missing;
        loop {
            if self.waiting.is_empty() {
                let Ok(message) = incoming.recv() else { break };
                self.arrived(message)?;
            }
            while self.waiting.len() < MAX_WAITING
                && let Ok(message) = incoming.try_recv()
            {
                self.arrived(message)?;
            }
            let Some(next) = self.waiting.pop_front() else { continue };
            self.barriers -= usize::from(next.is_barrier());
            let document = next.document;
            match next.message {
                Message::Notification { method, .. } if method == Exit::METHOD => {
                    if self.session.phase == Phase::Shut {
                        goodbye = Goodbye::Said;
                    }
                    break;
                }
                Message::Notification { method, params } => self.notice(&method, params)?,
                Message::Request { id, method, params }
                    if method == DocumentDiagnosticRequest::METHOD && self.session.phase == Phase::Open =>
                {
                    // The thread that verifies answers it, as soon as it knows.
                    match pull::read(id.clone(), params) {
                        Ok(question) => self.give(Task::Pull(question))?,
                        Err(failure) => self.send(Outgoing::refusal(&id, failure))?,
                    }
                }
                Message::Request { id, method, params }
                    if method == WorkspaceSymbolRequest::METHOD && self.session.phase == Phase::Open =>
                {
                    match parse::<lsp_types::WorkspaceSymbolParams>(params) {
                        Ok(asked) => self.give_workspace(workspace::Task::Search { id, query: asked.query }),
                        Err(failure) => self.send(Outgoing::refusal(&id, failure))?,
                    }
                }
                Message::Request { id, method, params } => {
                    let result = self.answer(&method, params, document);
                    self.send(Outgoing::answer(&id, result))?;
                }
                Message::Broken { id, failure } => {
                    tell(&failure.message);
                    self.send(Outgoing::refusal(&id, failure))?;
                }
                Message::Response => {}
            }
        }
        Ok(goodbye)
    }

    /// A message was read: it waits for its turn, or takes back a request that does. A document that changes does not wait
    /// for answers: its findings are late enough. The requests before keep the version that they are about.
    fn arrived(&mut self, message: Message) -> anyhow::Result<()> {
        let params = match message {
            Message::Notification { method, params } if method == Cancel::METHOD => params,
            Message::Notification { method, params }
                if self.barriers == 0
                    && matches!(
                        method.as_str(),
                        DidOpenTextDocument::METHOD
                            | DidChangeTextDocument::METHOD
                            | DidCloseTextDocument::METHOD
                    ) =>
            {
                return self.notice(&method, params);
            }
            message => {
                let document = match &message {
                    Message::Request { params, .. } => {
                        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
                        uri.and_then(|uri| locked(&self.documents).get(uri).cloned())
                    }
                    _ => None,
                };
                let waiting = Waiting { message, document };
                self.barriers += usize::from(waiting.is_barrier());
                self.waiting.push_back(waiting);
                return Ok(());
            }
        };
        let taken_back = |waiting: &Waiting| match &waiting.message {
            Message::Request { id, .. } => params.get("id") == Some(id),
            _ => false,
        };
        if let Some(at) = self.waiting.iter().position(taken_back)
            && let Some(waiting) = self.waiting.remove(at)
            && let Message::Request { id, .. } = &waiting.message
        {
            self.barriers -= usize::from(waiting.is_barrier());
            return self.send(Outgoing::refusal(id, Failure::cancelled()));
        }
        // It may be with the thread that verifies.
        self.give(Task::Cancel(params.get("id").cloned().unwrap_or_default()))
    }

    fn send(&self, message: Outgoing) -> anyhow::Result<()> {
        self.output.send(message).context("the editor is gone")
    }

    fn give(&self, task: Task) -> anyhow::Result<()> {
        self.tasks.send(task).context("the thread that verifies has ended")
    }

    fn give_workspace(&self, task: workspace::Task) {
        // The thread lives as long as this one.
        let _ = self.searches.send(task);
    }

    fn notice(&self, method: &str, params: Value) -> anyhow::Result<()> {
        if self.session.phase != Phase::Open {
            return Ok(());
        }
        match method {
            Initialized::METHOD => self.watch(),
            DidOpenTextDocument::METHOD => {
                let Some(params) = read::<lsp_types::DidOpenTextDocumentParams>(params) else {
                    return Ok(());
                };
                let item = params.text_document;
                let encoding = self.session.encoding;
                let document = Document::new(&item.uri, &item.language_id, item.version, item.text, encoding);
                self.put(document)
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = read::<lsp_types::DidChangeTextDocumentParams>(params) else {
                    return Ok(());
                };
                let (id, changes) = (params.text_document, params.content_changes);
                match self.document(&id.uri).ok() {
                    Some(document) => self.put(document.changed(id.version, changes)),
                    None => {
                        tell(&format!("`{}` was changed and is not open", id.uri.as_str()));
                        Ok(())
                    }
                }
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = read::<lsp_types::DidCloseTextDocumentParams>(params) else {
                    return Ok(());
                };
                let uri = params.text_document.uri.as_str().to_owned();
                locked(&self.told).remove(&uri);
                locked(&self.reports).remove(&uri);
                let closed = locked(&self.documents).remove(&uri);
                closed.map_or(Ok(()), |_| self.give(Task::Close(uri)))
            }
            DidChangeWorkspaceFolders::METHOD => {
                let Some(params) = read::<lsp_types::DidChangeWorkspaceFoldersParams>(params) else {
                    return Ok(());
                };
                let (opened, closed) =
                    (workspace::paths(&params.event.added), workspace::paths(&params.event.removed));
                self.give_workspace(workspace::Task::Change { opened, closed });
                Ok(())
            }
            DidChangeWatchedFiles::METHOD => self.give(Task::Configuration),
            _ => Ok(()),
        }
    }

    fn put(&self, document: Document) -> anyhow::Result<()> {
        let uri = document.uri.clone();
        locked(&self.documents).insert(uri.clone(), Arc::new(document));
        self.give(Task::Document(uri))
    }

    /// Asks the editor to tell when a configuration file changes.
    fn watch(&self) -> anyhow::Result<()> {
        let Session { pulls, refreshes_findings, .. } = self.session;
        if pulls {
            self.give(Task::Pulled { refreshes: refreshes_findings })?;
        }
        if !self.session.watches {
            return Ok(());
        }
        let watchers = json!([{"globPattern": format!("**/{}", ptx_project::config::FILE)}]);
        let registration = json!({
            "id": "configuration",
            "method": DidChangeWatchedFiles::METHOD,
            "registerOptions": {"watchers": watchers},
        });
        let params = json!({"registrations": [registration]});
        self.send(Outgoing::request("watch-configuration", RegisterCapability::METHOD, params))?;
        self.give(Task::Watched)
    }
}

/// Tells the log of the editor what is wrong.
fn tell(error: &str) {
    // An editor that reads no log is no reason to stop.
    let _ = writeln!(io::stderr(), "error: {}", foreign::text(error));
}

/// The parameters of a notification; wrong ones are told and passed over, as there is nobody to answer.
fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    parse(params).map_err(|failure| tell(&failure.message)).ok()
}
