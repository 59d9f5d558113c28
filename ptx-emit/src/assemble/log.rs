//! Reads what NVIDIA's assembler prints: its messages, and with `-v` (or the driver's verbose log)
//! the resource usage of each function.
//!
//! One reader serves `ptxas`, the driver and the compiler library, because they are one program.
//! What it relies on was seen with CUDA 13.0 and 13.5:
//!
//! * a message is `ptxas [FILE, line N; ]SEVERITY : TEXT`; its severity is padded to seven columns;
//! * other lines continue the message before them, indented by spaces (`ptxas`) or by
//!   `ptxas         .` (driver);
//! * figures follow `Compiling entry function 'k' for 'sm_90'` and `Function properties for k`;
//!   device functions of a whole program have properties but no line `Used … registers`;
//! * the function that is last in the text comes first.
//!
//! Nothing here fails: a line of another shape becomes a message of severity `info`.

use std::collections::HashMap;

use super::outline::Outline;
use super::report::{FunctionKind, FunctionUsage, LogLine, LogSeverity};

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    pub lines: Vec<LogLine>,
    /// In the order of the log.
    pub functions: Vec<FunctionUsage>,
    /// The target that the log itself names.
    pub target: Option<String>,
}

impl Log {
    /// Reads the text of a log.
    pub(crate) fn parse(text: &str) -> Self {
        let mut log = Self::default();
        let mut usage = UsageReader::default();
        for raw in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = parse_line(raw);
            usage.read(&line.message, &mut log.target);
            log.lines.push(line);
        }
        log.functions = usage.functions;
        log
    }

    /// The functions in the order of the text; those that it does not name come last, in the
    /// reverse order of the log.
    pub(crate) fn functions_in_source_order(self, outline: &Outline) -> (Vec<LogLine>, Vec<FunctionUsage>) {
        let mut functions = self.functions;
        functions.reverse();
        sort_by_source(&mut functions, outline);
        (self.lines, functions)
    }

    /// Whether a message refuses the program.
    pub(crate) fn refuses(&self) -> bool {
        self.lines.iter().any(|line| line.severity.is_refusal())
    }
}

/// Reads a log that `ptxas -v` printed: its messages and, in the log's order, what it says of functions.
#[must_use]
pub fn parse_log(text: &str) -> (Vec<LogLine>, Vec<FunctionUsage>) {
    let log = Log::parse(text);
    (log.lines, log.functions)
}

/// Sorts `functions` by where the text first names them.
pub(crate) fn sort_by_source(functions: &mut [FunctionUsage], outline: &Outline) {
    let mut ranks: HashMap<&str, usize> = HashMap::new();
    for (rank, function) in outline.functions.iter().enumerate() {
        ranks.entry(&function.name).or_insert(rank);
    }
    functions.sort_by_key(|function| ranks.get(function.name.as_str()).copied().unwrap_or(usize::MAX));
}

/// Splits one line of a log into place, severity and message.
fn parse_line(raw: &str) -> LogLine {
    let raw = raw.trim_end();
    let message_of = |severity, line, message: &str| LogLine { severity, line, message: message.to_owned() };
    let Some(rest) = raw.strip_prefix("ptxas ") else {
        return message_of(LogSeverity::Info, None, raw.trim_start());
    };
    if let Some((severity, message)) = split_severity(rest) {
        return message_of(severity, trailing_line_number(message), message);
    }
    // The file's name may hold anything, so every `, line ` is tried until one fits.
    for (at, separator) in rest.match_indices(", line ") {
        if let Some((line, after)) = split_number(&rest[at + separator.len()..])
            && let Some((severity, message)) = after.strip_prefix("; ").and_then(split_severity)
        {
            return message_of(severity, u32::try_from(line).ok(), message);
        }
    }
    message_of(LogSeverity::Info, None, rest.trim_start_matches([' ', '.']))
}

/// Splits `error   : text` into its severity and its text.
fn split_severity(text: &str) -> Option<(LogSeverity, &str)> {
    let severities = [LogSeverity::Info, LogSeverity::Warning, LogSeverity::Error, LogSeverity::Fatal];
    severities.into_iter().find_map(|severity| {
        let message = text.strip_prefix(severity.as_str())?.trim_start().strip_prefix(':')?;
        Some((severity, message.trim_start()))
    })
}

/// The line in `Unexpected non-ASCII character encountered on line 4`, the one message that tells
/// its line at its end.
fn trailing_line_number(message: &str) -> Option<u32> {
    message.rsplit_once(" on line ")?.1.parse().ok()
}

/// Splits a number from the front.
fn split_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Collects the figures of the functions while the log passes by.
#[derive(Default)]
struct UsageReader {
    functions: Vec<FunctionUsage>,
    /// Index into `functions` by name, because a large module names thousands of them.
    indices: HashMap<String, usize>,
    /// The function that the next figures belong to.
    current: Option<usize>,
}

impl UsageReader {
    fn read(&mut self, message: &str, target: &mut Option<String>) {
        if let Some(rest) = message.strip_prefix("Compiling entry function '") {
            // Names of PTX hold no quotes.
            if let Some((name, rest)) = rest.split_once('\'') {
                self.select(name, FunctionKind::Entry);
                if let Some(named) = rest.strip_prefix(" for '").and_then(|rest| rest.strip_suffix('\'')) {
                    target.get_or_insert_with(|| named.to_owned());
                }
            }
        } else if let Some(name) = message.strip_prefix("Function properties for ") {
            self.select(name.trim().trim_matches('\''), FunctionKind::Func);
        } else if let Some(function) = self.current.and_then(|current| self.functions.get_mut(current)) {
            if let Some(figures) = message.strip_prefix("Used ") {
                read_used(function, figures);
            } else if message.contains(" bytes stack frame") {
                read_frame(function, message);
            }
        }
    }

    /// Makes `name` the current function; `kind` counts only when it is seen first.
    fn select(&mut self, name: &str, kind: FunctionKind) {
        let index = *self.indices.entry(name.to_owned()).or_insert_with(|| {
            self.functions.push(FunctionUsage::unknown(name, kind));
            self.functions.len() - 1
        });
        self.current = Some(index);
    }
}

/// Splits `4 registers, used 0 barriers, 352 bytes cmem[0]` into numbers and what they count.
fn figures(text: &str) -> impl Iterator<Item = (u64, &str)> {
    text.split(',').filter_map(|part| {
        let part = part.trim_start();
        let (number, unit) = split_number(part.strip_prefix("used ").unwrap_or(part))?;
        Some((number, unit.trim()))
    })
}

/// Reads the figures after `Used `.
fn read_used(function: &mut FunctionUsage, text: &str) {
    // Shared memory is left out of the line where there is none.
    function.shared_bytes = Some(0);
    for (number, unit) in figures(text) {
        match unit {
            "registers" => function.registers = u32::try_from(number).ok(),
            "barriers" => function.barriers = u32::try_from(number).ok(),
            "bytes smem" => function.shared_bytes = Some(number),
            "bytes lmem" => function.local_bytes = Some(number),
            _ if unit.starts_with("bytes cmem[") => {
                function.const_bytes = Some(function.const_bytes.unwrap_or(0).saturating_add(number));
            }
            // Cumulative stack size, textures, surfaces, samplers: no field of the report.
            _ => {}
        }
    }
}

/// Reads `0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`.
fn read_frame(function: &mut FunctionUsage, text: &str) {
    for (number, unit) in figures(text) {
        match unit {
            "bytes stack frame" => function.stack_bytes = Some(number),
            "bytes spill stores" => function.spill_store_bytes = Some(number),
            "bytes spill loads" => function.spill_load_bytes = Some(number),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
