//! What documents are verified for: the nearest `ptx.toml` of each, read again for every verification.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lsp_types::MessageType;
use lsp_types::notification::{Notification as _, PublishDiagnostics, ShowMessage};
use ptx_project::Options;
use ptx_project::config::{BudgetContents, Configs, nearest};
use serde_json::json;

use super::convert;
use super::document::Document;
use super::lines::Encoding;
use super::toml;
use super::wire::Outgoing;
use crate::config::{config_of, is_excluded};
use crate::foreign;
use crate::formatting::{self, FormattingArgs};
use crate::source::{Input, Origin};

/// Configuration files that are this large are not shown at their place.
const MAX_SHOWN: u64 = 1 << 20;

/// When a file was changed, and how large it is.
type Stamp = (Option<SystemTime>, u64);

/// What was said of configuration files.
#[derive(Default)]
pub struct Configuration {
    /// The wrong ones, with what was told about each.
    told: BTreeMap<PathBuf, String>,
    /// For each folder with an open document: the file that counts, and its stamp.
    seen: HashMap<PathBuf, Option<(PathBuf, Stamp)>>,
    /// The addresses of open documents: what is wrong with these is found in their text.
    open: HashSet<String>,
}

impl Configuration {
    /// A document was opened.
    pub fn opened(&mut self, uri: &str) {
        if !self.open.contains(uri) {
            self.open.insert(uri.to_owned());
        }
    }

    /// A document was closed. What was told of a file in the document's place is told anew.
    pub fn closed(&mut self, uri: &str) {
        self.open.remove(uri);
        self.told.retain(|file, _| convert::address(file) != uri);
    }

    /// What a document is verified for; none where the configuration excludes it. A wrong configuration is told to the
    /// editor in `messages`, and the defaults hold.
    pub fn of(&mut self, document: &Document, messages: &mut Vec<Outgoing>) -> Option<Options> {
        let input = input(document);
        let folder = document.path.as_deref().and_then(Path::parent);
        let file = folder.and_then(nearest);
        if let Some(folder) = folder {
            self.seen.insert(folder.to_owned(), file.clone().map(|file| (file.clone(), stamp(&file))));
        }
        let config = config_of(&mut Configs::default(), &input);
        let options = config.map_err(anyhow::Error::from).and_then(|config| {
            let excluded = is_excluded(config.as_deref(), &input);
            let options = toml::options(config.as_deref())?;
            Ok((!excluded).then_some(options))
        });
        match options {
            Ok(options) => {
                if let Some(file) = file.filter(|file| self.told.remove(file).is_some()) {
                    messages.extend(self.findings_of(&file, Vec::new()));
                }
                options
            }
            Err(error) => {
                if let Some(file) = file {
                    self.tell(file, &error, document.encoding, messages);
                }
                Some(Options::default())
            }
        }
    }

    /// Shows what is wrong with a file: as a finding in it, and once as a message, for many editors show the findings
    /// of open files only.
    fn tell(
        &mut self,
        file: PathBuf,
        error: &anyhow::Error,
        encoding: Encoding,
        messages: &mut Vec<Outgoing>,
    ) {
        let text = format!("{error:#}");
        if self.told.get(&file) == Some(&text) {
            return;
        }
        let found = toml::found(error, contents(&file).as_deref(), encoding);
        let (range, message) = (found.range, found.message.clone());
        messages.extend(self.findings_of(&file, vec![found]));
        let line = range.start.line + 1;
        let message =
            format!("{}, line {line}: {}; the defaults hold", foreign::path(&file), message.trim_end());
        let params = json!({"type": MessageType::ERROR, "message": message});
        messages.push(Outgoing::notification(ShowMessage::METHOD, params));
        self.told.insert(file, text);
    }

    /// The message of what was found in a file; none for one that the editor has open.
    fn findings_of(&self, file: &Path, findings: Vec<lsp_types::Diagnostic>) -> Option<Outgoing> {
        let uri = convert::address(file);
        let params = json!({"uri": uri, "diagnostics": findings});
        (!self.open.contains(&uri)).then(|| Outgoing::notification(PublishDiagnostics::METHOD, params))
    }

    /// Whether a file that counts has changed, has come or has gone since it was read.
    pub fn has_changed(&self) -> bool {
        self.seen
            .iter()
            .any(|(folder, seen)| nearest(folder).map(|file| (file.clone(), stamp(&file))) != *seen)
    }
}

/// How a document is laid out.
pub struct Formatting {
    pub options: ptx_emit::format::Options,
    /// Whether asm templates are.
    pub asm: bool,
}

/// How a document is laid out; none where the configuration excludes it. A wrong configuration is told by
/// [`Configuration::of`], and the defaults hold.
pub fn formatting(document: &Document) -> Option<Formatting> {
    let (input, args) = (input(document), FormattingArgs::default());
    let config = config_of(&mut Configs::default(), &input).unwrap_or_default();
    if is_excluded(config.as_deref(), &input) {
        return None;
    }
    // Who has a document formatted means this one, so templates are formatted unless the project says otherwise.
    let asm = formatting::asm(&args, config.as_deref()).unwrap_or(true);
    Some(Formatting { options: formatting::options(&args, config.as_deref()).unwrap_or_default(), asm })
}

/// What kernels of a document may cost by its configuration.
pub fn budget(document: &Document) -> BudgetContents {
    let config = config_of(&mut Configs::default(), &input(document)).unwrap_or_default();
    config.map(|config| config.budget).unwrap_or_default()
}

fn input(document: &Document) -> Input {
    Input {
        origin: document.path.clone().map_or(Origin::Stdin, Origin::File),
        name: document.source.name.clone(),
        kind: document.source.kind,
    }
}

fn stamp(file: &Path) -> Stamp {
    let metadata = std::fs::metadata(file);
    metadata.map_or((None, 0), |metadata| (metadata.modified().ok(), metadata.len()))
}

fn contents(file: &Path) -> Option<String> {
    let small = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() <= MAX_SHOWN);
    small.then(|| std::fs::read_to_string(file).ok())?
}
