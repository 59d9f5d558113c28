//! The text of PTX, line by line: as much as it takes to plant a fault.

use std::fmt::Write;

use super::{Fault, Kind};

/// A statement on a line of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statement<'t> {
    pub(super) line: usize,
    pub(super) guarded: bool,
    pub(super) opcode: &'t str,
    pub(super) operands: &'t str,
}

impl<'t> Statement<'t> {
    pub(super) fn read(line: usize, text: &'t str) -> Option<Self> {
        let code = text.split("//").next().unwrap_or("").trim();
        let code = code.strip_suffix(';')?.trim_end();
        if code.contains([';', '{', '}']) && !code.contains('[') && code.contains(';') {
            return None;
        }
        let (guarded, code) = match code.strip_prefix('@') {
            Some(rest) => (true, rest.split_once(char::is_whitespace)?.1.trim_start()),
            None => (false, code),
        };
        let (opcode, operands) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        let letters = opcode.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        letters.then_some(Self { line, guarded, opcode, operands: operands.trim() })
    }

    /// The register that it writes, where that is its first operand alone.
    pub(super) fn result(&self) -> Option<&'t str> {
        let first = self.operands.split(',').next()?.trim();
        let stores = ["st", "red", "bra", "bar", "barrier", "call", "ret", "exit", "prefetch"];
        let root = self.opcode.split('.').next()?;
        (first.starts_with('%') && !first.contains('|') && !stores.contains(&root)).then_some(first)
    }

    pub(super) fn root(&self) -> &'t str {
        self.opcode.split('.').next().unwrap_or("")
    }

    pub(super) fn has(&self, modifier: &str) -> bool {
        self.opcode.split('.').skip(1).any(|each| each == modifier)
    }
}

/// A function of a clean text.
pub(super) struct Function<'t> {
    pub(super) lines: &'t [&'t str],
    /// The line of `{` and of `}`.
    pub(super) open: usize,
    pub(super) close: usize,
    pub(super) statements: Vec<Statement<'t>>,
}

/// What the planted guards are: uniform, and dependent on the thread.
const PRELUDE: &str = ".reg .pred %planted, %planted_lane; .reg .b32 %planted_id; \
    mov.u32 %planted_id, %ctaid.x; setp.eq.u32 %planted, %planted_id, 3; \
    mov.u32 %planted_id, %tid.x; setp.eq.u32 %planted_lane, %planted_id, 3;";

impl<'t> Function<'t> {
    pub(super) fn mentions(&self, name: &str) -> Vec<usize> {
        (self.open..self.close).filter(|&line| mentions(self.lines[line], name)).collect()
    }

    /// Writes of a register: statements with it as their first operand.
    pub(super) fn writes(&self, name: &str) -> usize {
        let vectors = |statement: &&Statement<'_>| {
            statement.result() == Some(name)
                || (statement.operands.starts_with(['{', '(']) || statement.operands.contains('|'))
                    && mentions(statement.operands, name)
        };
        self.statements.iter().filter(vectors).count()
    }

    /// Whether anything may enter or leave between two lines.
    pub(super) fn straight(&self, from: usize, to: usize) -> bool {
        (from..=to).all(|line| {
            let text = self.lines[line].split("//").next().unwrap_or("").trim();
            let control = Statement::read(line, text)
                .is_some_and(|each| matches!(each.root(), "bra" | "brx" | "ret" | "exit" | "call" | "trap"));
            !text.ends_with(':') && !text.contains(": ") && !control && !text.starts_with(['{', '}', '('])
        })
    }

    /// The text with some lines replaced and the planted guards declared at its start; the fault shows on one of
    /// the lines `at`.
    pub(super) fn with(
        &self,
        kind: Kind,
        at: &[usize],
        changes: &[(usize, String)],
        harmless: bool,
    ) -> Fault {
        let mut text = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            match changes.iter().find(|(changed, _)| *changed == index) {
                Some((_, new)) => writeln!(text, "{new}"),
                None => writeln!(text, "{line}"),
            }
            .unwrap_or_default();
            if index == self.open {
                // On the line of the brace, so that all lines keep their numbers.
                text.pop();
                writeln!(text, " {PRELUDE}").unwrap_or_default();
            }
        }
        Fault { kind, text, lines: at.iter().map(|line| *line as u32 + 1).collect(), harmless }
    }
}

pub(super) fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let rest = &text[at + name.len()..];
        !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$')
    })
}

pub(super) fn functions<'t>(lines: &'t [&'t str]) -> Vec<Function<'t>> {
    let mut found = Vec::new();
    let mut open = None;
    for (index, line) in lines.iter().enumerate() {
        match line.trim_end() {
            "{" => open = Some(index),
            "}" => {
                if let Some(open) = open.take() {
                    let statements =
                        (open + 1..index).filter_map(|line| Statement::read(line, lines[line])).collect();
                    found.push(Function { lines, open, close: index, statements });
                }
            }
            _ => {}
        }
    }
    found
}

/// Only plain loads and stores exist in both spaces.
pub(super) fn is_plain(opcode: &str) -> bool {
    opcode.split('.').skip(1).all(|word| matches!(word, "global" | "v2" | "v4") || word.len() <= 3)
}

/// Whether a name stands for one register, declared once and read by nothing that this does not see.
pub(super) fn is_single(function: &Function<'_>, name: &str) -> bool {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let declared = |text: &str| text.trim_start().starts_with(".reg") && text.contains(stem);
    let declarations =
        function.lines[function.open..function.close].iter().filter(|text| declared(text)).count();
    declarations == 1
        && !function.lines[function.open..function.close].iter().any(|line| line.contains("%planted"))
}

pub(super) fn is_read(function: &Function<'_>, definition: usize, name: &str) -> bool {
    !reads(function, definition, name).is_empty()
}

/// The lines that read a register which one line defines.
pub(super) fn reads(function: &Function<'_>, definition: usize, name: &str) -> Vec<usize> {
    let is_read = |line: &usize| {
        let text = function.lines[*line].trim_start();
        *line != definition && !text.starts_with('.') && !text.starts_with("//")
    };
    function.mentions(name).into_iter().filter(is_read).collect()
}

/// Whether a variable has a size that is known here.
pub(super) fn is_sized(function: &Function<'_>, address: &str) -> bool {
    let name = address.split('+').next().unwrap_or("").trim();
    let declaration = function.lines.iter().find(|line| mentions(line, name) && line.contains('.'));
    declaration.is_some_and(|line| !line.contains(".extern") && !line.contains("[]"))
}
