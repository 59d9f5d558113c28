//! What `nvcc` says of a CUDA source: its messages as findings at their lines, and as a report where it refuses the source.

use ptx_emit::assemble::nvcc::messages;
use ptx_emit::assemble::{Backend, LogLine, LogSeverity, NvccMessage, Report};
use ptx_syntax::{Diagnostic, LineIndex, Span};

use super::messages::{content_of_line, diagnostic};
use crate::foreign::line;
use crate::source::Source;

/// Why a source is refused, by what `nvcc` printed.
pub fn why_refused(output: &str) -> Vec<NvccMessage> {
    let mut said = messages(output);
    if !said.iter().any(|each| each.severity.is_refusal()) {
        let text = output.trim().to_owned();
        said.push(NvccMessage { file: None, line: None, severity: LogSeverity::Error, text });
    }
    said
}

/// The messages as lines of a log; what is about another file names it.
pub fn source_log(source: &Source, said: &[NvccMessage]) -> Vec<LogLine> {
    let lines = said.iter().map(|each| {
        let (severity, own) = (each.severity, own_line(source, each));
        let message = match (own, &each.file, each.line) {
            (None, Some(file), Some(number)) => format!("{file}({number}): {}", each.text),
            _ => each.text.clone(),
        };
        LogLine { severity, line: own, message }
    });
    lines.collect()
}

/// The report on a source that `nvcc` refuses.
pub fn refused(source: &Source, target: String, log: Vec<LogLine>) -> Report {
    Report {
        file: source.name.exact().into_owned(),
        backend: Backend::Nvcc,
        backend_version: None,
        target,
        accepted: false,
        seconds: 0.0,
        log,
        functions: Vec::new(),
    }
}

/// The messages as findings, each once. What is about an included file stands at the beginning.
pub fn of_nvcc(source: &Source, said: &[NvccMessage]) -> Vec<Diagnostic> {
    let index = LineIndex::new(&source.text);
    let mut told: Vec<&NvccMessage> = Vec::new();
    for each in said.iter().filter(|each| each.severity >= LogSeverity::Warning) {
        if !told.contains(&each) {
            told.push(each);
        }
    }
    let finding = |each: &NvccMessage| {
        let own = own_line(source, each);
        let span = own.map_or(Span::at(0), |number| content_of_line(source, &index, number));
        let log = LogLine { severity: each.severity, line: own, message: each.text.clone() };
        let found = diagnostic(Backend::Nvcc, &log, span);
        match (own, &each.file, each.line) {
            (None, Some(file), Some(number)) => {
                found.with_note(format!("this comes from `{}`, line {number}", line(file)))
            }
            _ => found,
        }
    };
    told.into_iter().map(finding).collect()
}

/// The line of a message about the source itself.
fn own_line(source: &Source, message: &NvccMessage) -> Option<u32> {
    let absolute = |path: &std::path::Path| std::path::absolute(path).ok();
    let file = absolute(message.file.as_deref()?.as_ref())?;
    message.line.filter(|_| absolute(source.name.path()).is_some_and(|own| own == file))
}
