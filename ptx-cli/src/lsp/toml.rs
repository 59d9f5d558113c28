//! `ptx.toml` in the editor: what is wrong with it, its keys and values.

use std::path::Path;

use lsp_types::{CompletionItem, CompletionItemKind, Diagnostic, DiagnosticSeverity, Position, Range};
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_project::config::{self, Config, Kind};
use ptx_project::{ConfigError, Error, Options};

use super::completion::Items;
use super::convert;
use super::document::Document;
use super::lines::{Encoding, Lines};
use crate::formatting::{self, FormattingArgs};
use crate::options::{OptionArgs, options as verifying};

/// What is wrong with a configuration file that is open, as it is written now.
pub fn findings(document: &Document) -> Vec<Diagnostic> {
    let path = document.path.as_deref().unwrap_or(Path::new(config::FILE));
    let text = &document.source.text;
    let read = Config::of_text(path, text)
        .map_err(anyhow::Error::from)
        .and_then(|(config, _)| options(Some(&config)));
    read.err().map(|error| found(&error, Some(text), document.encoding)).into_iter().collect()
}

/// What documents are verified for by a configuration, all of which is looked at.
pub fn options(config: Option<&Config>) -> anyhow::Result<Options> {
    formatting::options(&FormattingArgs::default(), config)?;
    verifying(&OptionArgs::default(), config)
}

/// What is wrong with a configuration, at its place: of a syntax error the bytes, else the line of the entry.
pub fn found(error: &anyhow::Error, text: Option<&str>, encoding: Encoding) -> Diagnostic {
    let wrong = error.downcast_ref::<ConfigError>().or_else(|| match error.downcast_ref::<Error>()? {
        Error::Config(wrong) => Some(wrong),
        _ => None,
    });
    let (line, message) = match wrong {
        Some(ConfigError::Syntax { span, message, .. }) => {
            let range = span.clone().zip(text).map(|(span, text)| convert::place(text, span, encoding));
            let message = message.trim_end().to_owned();
            return convert::plain(range.unwrap_or_default(), DiagnosticSeverity::ERROR, message);
        }
        Some(ConfigError::Entry { line: Some(line), message, .. }) => (line.saturating_sub(1), message),
        _ => return convert::plain(Range::default(), DiagnosticSeverity::ERROR, format!("{error:#}")),
    };
    let end = text.map_or(0, |text| Lines::new(text).offset_of_end(text, encoding, line));
    let range = Range::new(Position::new(line, 0), Position::new(line, end));
    convert::plain(range, DiagnosticSeverity::ERROR, message.clone())
}

const LEVELS: [&str; 4] = ["allow", "info", "warn", "error"];

/// The keys of the table at a byte, or the values of the key before it.
pub fn completion(document: &Document, offset: u32) -> Vec<CompletionItem> {
    let text = &document.source.text[..offset as usize];
    let start = text.rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    if line.trim_start().starts_with('#') {
        return Vec::new();
    }
    let table = table(&text[..start]);
    let is_word = |each: char| each.is_ascii_alphanumeric() || matches!(each, '-' | '_' | '.');
    let written = line.len() - line.trim_end_matches(is_word).len();
    let mut items = Items::new(document, offset, written);
    if let Some(begun) = line.trim_start().strip_prefix('[') {
        if !begun.contains(']') {
            for name in config::tables() {
                items.add(name, CompletionItemKind::MODULE, String::new());
            }
        }
        return items.all();
    }
    match line.split_once('=') {
        Some((key, value)) => values(&mut items, table, key.trim(), value.contains(['"', '\''])),
        None if table.ends_with("rules") => {
            for rule in ptx_verify::rules() {
                items.add(rule.name, CompletionItemKind::PROPERTY, rule.summary.to_owned());
            }
            for class in ["invalid", "hazard", "style"] {
                items.add(class, CompletionItemKind::PROPERTY, "all rules of the class".to_owned());
            }
        }
        None => {
            for key in config::keys_of(table) {
                items.add(key.name, CompletionItemKind::PROPERTY, key.description.to_owned());
            }
        }
    }
    items.all()
}

/// The name of the last table before the end of a text.
fn table(before: &str) -> &str {
    let headers = before.lines().rev().map(str::trim).filter(|line| line.starts_with('['));
    let header = headers.map(|line| line.trim_start_matches('[').split(']').next().unwrap_or_default());
    header.map(str::trim).next().unwrap_or_default()
}

fn values(items: &mut Items, table: &str, key: &str, quoted: bool) {
    let mut add = |value: &str| {
        let text = if quoted { value.to_owned() } else { format!("\"{value}\"") };
        items.add(&text, CompletionItemKind::VALUE, String::new());
    };
    if table.ends_with("rules") {
        return LEVELS.iter().for_each(|level| add(level));
    }
    let Some(key) = config::keys_of(table).find(|each| each.name == key) else { return };
    match key.kind {
        Kind::Target | Kind::Targets => Target::all().for_each(|target| add(target.as_str())),
        Kind::Version => Version::ALL.iter().for_each(|version| add(&version.to_string())),
        Kind::Compiler => ["nvcc", "clang", "both"].iter().for_each(|name| add(name)),
        Kind::Layout => ["compiler", "aligned"].iter().for_each(|name| add(name)),
        Kind::Switch if !quoted => {
            for word in ["true", "false"] {
                items.add(word, CompletionItemKind::VALUE, String::new());
            }
        }
        _ => {}
    }
}
