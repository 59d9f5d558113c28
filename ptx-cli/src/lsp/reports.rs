//! What an assembler makes of open documents: asked for with a command, kept until the document closes.
//!
//! It runs on a thread of its own, as long as that takes; nobody waits for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ptx_emit::assemble::{FunctionUsage, Options, Report, Source as Text};

use super::configuration;
use super::document::Document;
use crate::report::{self, Backend, Budgets};
use crate::source::Kind;

/// The command that asks for a report of a document: its one argument is the address.
pub const COMMAND: &str = "ptx-cli.report";

/// The last reports, by address.
pub type Reports = Arc<Mutex<BTreeMap<String, Reported>>>;

/// What was reported of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    by_function: BTreeMap<String, String>,
    tooltip: String,
}

impl Reported {
    fn new(report: &Report, budgets: &Budgets, version: i32) -> Self {
        let mut by_function: BTreeMap<String, String> =
            report.functions.iter().map(|each| (each.name.clone(), figures(each))).collect();
        for excess in budgets.judge(report).0 {
            if let Some(text) = by_function.get_mut(&excess.function) {
                text.push_str(&format!("; too many {}, allowed are {}", excess.figure.unit(), excess.limit));
            }
        }
        let tooltip = format!("{} for {}, of version {version} of the text", report.backend, report.target);
        Self { by_function, tooltip }
    }

    /// The figures of a function.
    pub fn of(&self, function: &str) -> Option<&str> {
        self.by_function.get(function).map(|text| &**text)
    }

    /// Who reported, and of what.
    pub fn tooltip(&self) -> &str {
        &self.tooltip
    }
}

/// `32 registers, 8 bytes spilled, 1024 bytes shared`.
fn figures(usage: &FunctionUsage) -> String {
    let mut parts = Vec::new();
    parts.extend(usage.registers.map(|count| format!("{count} registers")));
    let spilled = usage.spill_store_bytes.unwrap_or(0).max(usage.spill_load_bytes.unwrap_or(0));
    if spilled > 0 {
        parts.push(format!("{spilled} bytes spilled"));
    }
    for (bytes, what) in [(usage.stack_bytes, "of stack"), (usage.shared_bytes, "shared")] {
        parts.extend(bytes.filter(|bytes| *bytes > 0).map(|bytes| format!("{bytes} bytes {what}")));
    }
    parts.join(", ")
}

/// Has a document assembled.
pub fn of(document: &Document) -> Result<Reported, String> {
    if document.source.kind != Kind::Ptx || document.is_configuration {
        return Err("only PTX is assembled".to_owned());
    }
    let assembler = report::open(Backend::Auto, &[None]).map_err(|error| format!("{error:#}"))?;
    let text = Text { file: &document.source.name.exact(), text: document.source.bytes() };
    let assembly = assembler.assemble(&text, &Options::default()).map_err(|error| report::failure(&error))?;
    if !assembly.report.accepted {
        return Err(format!("{} refuses it for {}", assembly.report.backend, assembly.report.target));
    }
    let budgets = Budgets::of(&document.source, Budgets::limits(configuration::budget(document)));
    Ok(Reported::new(&assembly.report, &budgets, document.version))
}
