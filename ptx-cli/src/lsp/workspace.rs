//! What is declared in the PTX files of the workspace, open or not. A thread of its own searches: reading many files takes a
//! while, and neither findings nor other answers wait for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant, SystemTime};

use lsp_types::{InitializeParams, SymbolInformation, Uri, WorkspaceFolder};
use serde_json::{Value, json};

use super::checker::{Documents, locked};
use super::convert;
use super::document::Document;
use super::lines::Encoding;
use super::symbols::{self, MAX_FOUND, Symbol};
use super::wire::{ErrorCode, Failure, Outgoing};
use crate::foreign::Name;
use crate::input;
use crate::source::{Input, Kind, Origin};
use crate::work::guarded;

/// No more files are looked at.
const MAX_FILES: usize = 10_000;

/// Larger files are not read.
const MAX_BYTES: u64 = 16 << 20;

/// So long files are read for a question. Those that are left are read for the next one, which editors ask with each
/// letter.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What the thread is told.
pub enum Task {
    /// The folders that are open now, and how columns are counted.
    Open { folders: Vec<PathBuf>, encoding: Encoding },
    /// Folders were opened and closed.
    Change { opened: Vec<PathBuf>, closed: Vec<PathBuf> },
    /// The editor asks.
    Search { id: Value, query: String },
}

/// The folders that an editor begins with.
pub fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    if let Some(folders) = &params.workspace_folders {
        return paths(folders);
    }
    #[expect(deprecated, reason = "older editors know one folder only")]
    let root = params.root_uri.as_ref();
    root.and_then(convert::path).into_iter().collect()
}

/// Where folders are.
pub fn paths(folders: &[WorkspaceFolder]) -> Vec<PathBuf> {
    folders.iter().filter_map(|folder| convert::path(&folder.uri)).collect()
}

/// Answers until nobody asks any more.
pub fn serve(tasks: &Receiver<Task>, output: &SyncSender<Outgoing>, documents: &Documents) {
    let mut workspace = Workspace::default();
    for task in tasks {
        match task {
            Task::Open { folders, encoding } => {
                workspace = Workspace { folders, encoding, ..Workspace::default() }
            }
            Task::Change { opened, closed } => {
                workspace.folders.retain(|folder| !closed.contains(folder));
                workspace.folders.extend(opened);
            }
            Task::Search { id, query } => {
                let open: Vec<Arc<Document>> = locked(documents).values().cloned().collect();
                // After a panic nothing is known of the files.
                let (folders, encoding) = (workspace.folders.clone(), workspace.encoding);
                let mut known = std::mem::replace(
                    &mut workspace,
                    Workspace { folders, encoding, ..Workspace::default() },
                );
                let searched = guarded(move || (known.search(&open, &query), known));
                let answer = searched.map(|(found, known)| {
                    workspace = known;
                    json!(found)
                });
                let answer = answer.map_err(|_| Failure::new(ErrorCode::Internal, "internal error"));
                // Without an editor there is nobody to tell.
                let _ = output.send(Outgoing::answer(&id, answer));
            }
        }
    }
}

/// The folders, and what was read of their files.
#[derive(Default)]
struct Workspace {
    folders: Vec<PathBuf>,
    encoding: Encoding,
    files: BTreeMap<PathBuf, Declarations>,
}

/// What a file declares at module level.
struct Declarations {
    /// Of which state of the file.
    state: (u64, Option<SystemTime>),
    symbols: Vec<Symbol>,
}

impl Workspace {
    /// What open documents declare, and then what other files do.
    fn search(&mut self, open: &[Arc<Document>], query: &str) -> Vec<SymbolInformation> {
        let mut found = Vec::new();
        for document in open {
            let Some(uri) = document.address() else { continue };
            let fits = symbols::of_module(document, |name| symbols::has_letters(name, query), MAX_FOUND);
            found.extend(fits.into_iter().map(|symbol| symbol.at(&uri)));
        }
        let deadline = Instant::now() + PATIENCE;
        let open: BTreeSet<&Path> = open.iter().filter_map(|document| document.path.as_deref()).collect();
        let files = self.folders.iter().flat_map(|folder| input::ptx_files(folder));
        let files: BTreeSet<PathBuf> = files.take(MAX_FILES).collect();
        self.files.retain(|path, _| files.contains(path));
        for path in files.iter().filter(|path| !open.contains(path.as_path())) {
            if found.len() >= MAX_FOUND {
                break;
            }
            let Some(uri) = Uri::from_str(&convert::address(path)).ok() else { continue };
            let Some(declared) = self.declarations(path, &uri, deadline) else { continue };
            let fits = declared.iter().filter(|symbol| symbols::has_letters(&symbol.name, query));
            found.extend(fits.map(|symbol| symbol.at(&uri)));
        }
        found.truncate(MAX_FOUND);
        found
    }

    /// What a file declares: as it is known, or read anew where the file has changed and there is time left.
    fn declarations(&mut self, path: &Path, uri: &Uri, deadline: Instant) -> Option<&[Symbol]> {
        let of = path.metadata().ok().filter(Metadata::is_file)?;
        let state = (of.len(), of.modified().ok());
        if self.files.get(path).is_none_or(|known| known.state != state) {
            if of.len() > MAX_BYTES || Instant::now() >= deadline {
                return None;
            }
            let input =
                Input { origin: Origin::File(path.to_owned()), name: Name::from(path), kind: Kind::Ptx };
            let document = Document::new(uri, "ptx", 0, input.read().ok()?.text, self.encoding);
            let symbols = symbols::of_module(&document, |_| true, symbols::MAX_SYMBOLS);
            self.files.insert(path.to_owned(), Declarations { state, symbols });
        }
        self.files.get(path).map(|known| known.symbols.as_slice())
    }
}
