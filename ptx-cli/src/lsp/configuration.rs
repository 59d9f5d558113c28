//! What documents are verified for: the nearest `ptx.toml` of each, read again for every verification.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lsp_types::notification::{Notification as _, PublishDiagnostics, ShowMessage};
use lsp_types::{DiagnosticSeverity, MessageType, Range};
use serde_json::json;

use super::convert;
use super::document::Document;
use super::lines::Encoding;
use super::wire::Outgoing;
use crate::config::{ConfigArgs, Configs, is_excluded, nearest};
use crate::foreign;
use crate::options::{OptionArgs, Options};
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
}

impl Configuration {
    /// What a document is verified for; none where the configuration excludes it. A wrong configuration is told to the
    /// editor in `messages`, and the defaults hold.
    pub fn of(&mut self, document: &Document, messages: &mut Vec<Outgoing>) -> Option<Options> {
        let input = Input {
            origin: document.path.clone().map_or(Origin::Stdin, Origin::File),
            name: document.source.name.clone(),
            kind: document.source.kind,
        };
        let folder = document.path.as_deref().and_then(Path::parent);
        let file = folder.and_then(nearest);
        if let Some(folder) = folder {
            self.seen.insert(folder.to_owned(), file.clone().map(|file| (file.clone(), stamp(&file))));
        }
        let config = Configs::new(&ConfigArgs::default()).and_then(|mut configs| configs.of(&input));
        let options = config.and_then(|config| {
            let excluded = is_excluded(config.as_deref(), &input);
            let options = Options::new(&OptionArgs::default(), config.as_deref())?;
            Ok((!excluded).then_some(options))
        });
        match options {
            Ok(options) => {
                if let Some(file) = file.filter(|file| self.told.remove(file).is_some()) {
                    messages.push(findings_of(&file, Vec::new()));
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
        let syntax = error.chain().find_map(|cause| cause.downcast_ref::<toml::de::Error>());
        let message = syntax.map_or_else(|| text.clone(), |error| error.message().to_owned());
        let range = syntax.and_then(toml::de::Error::span).zip(contents(&file));
        let range = range.map_or(Range::default(), |(span, text)| convert::place(&text, span, encoding));
        let finding = convert::plain(range, DiagnosticSeverity::ERROR, message.clone());
        messages.push(findings_of(&file, vec![finding]));
        let line = range.start.line + 1;
        let message =
            format!("{}, line {line}: {}; the defaults hold", foreign::path(&file), message.trim_end());
        let params = json!({"type": MessageType::ERROR, "message": message});
        messages.push(Outgoing::notification(ShowMessage::METHOD, params));
        self.told.insert(file, text);
    }

    /// Whether a file that counts has changed, has come or has gone since it was read.
    pub fn has_changed(&self) -> bool {
        self.seen
            .iter()
            .any(|(folder, seen)| nearest(folder).map(|file| (file.clone(), stamp(&file))) != *seen)
    }
}

fn findings_of(file: &Path, findings: Vec<lsp_types::Diagnostic>) -> Outgoing {
    let params = json!({"uri": convert::address(file), "diagnostics": findings});
    Outgoing::notification(PublishDiagnostics::METHOD, params)
}

fn stamp(file: &Path) -> Stamp {
    let metadata = std::fs::metadata(file);
    metadata.map_or((None, 0), |metadata| (metadata.modified().ok(), metadata.len()))
}

fn contents(file: &Path) -> Option<String> {
    let small = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() <= MAX_SHOWN);
    small.then(|| std::fs::read_to_string(file).ok())?
}
