//! PTX text as statements, with the scopes of its names.

use std::collections::{HashMap, HashSet};

/// An instruction, split at its dots and commas.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    /// The predicate, and the value with which it runs.
    pub guard: Option<(String, bool)>,
    /// `add`, `cc`, `u32`.
    pub opcode: Vec<String>,
    /// Brackets and brace lists are one operand.
    pub operands: Vec<String>,
}

/// An instruction and the braces around it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// An index of the kernel's scopes.
    pub scope: usize,
    /// The instruction.
    pub instruction: Instruction,
}

#[derive(Clone, Debug, Default)]
struct Scope {
    parent: Option<usize>,
    names: HashSet<String>,
    labels: HashMap<String, usize>,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    pub(super) items: Vec<Item>,
    scopes: Vec<Scope>,
    /// Registers and labels that one pair of braces declares twice.
    pub duplicates: Vec<String>,
}

/// The kernels of a PTX file, by name.
#[must_use]
pub fn kernels(ptx: &str) -> HashMap<String, Kernel> {
    let text = without_comments(ptx);
    let mut found = HashMap::new();
    for part in text.split(".visible .entry ").skip(1) {
        let Some((name, rest)) = part.split_once('(') else { continue };
        let Some((_, body)) = rest.split_once('{') else { continue };
        found.insert(name.trim().to_owned(), Kernel::read(body));
    }
    found
}

fn without_comments(ptx: &str) -> String {
    let lines = ptx.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.flat_map(|line| [line, "\n"]).collect()
}

impl Kernel {
    /// Reads what follows the opening brace.
    fn read(body: &str) -> Self {
        let mut kernel = Self { scopes: vec![Scope::default()], ..Self::default() };
        let mut scope = 0;
        let mut rest = body.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '{' => {
                    kernel.scopes.push(Scope { parent: Some(scope), ..Scope::default() });
                    scope = kernel.scopes.len() - 1;
                    1
                }
                '}' => match kernel.scopes[scope].parent {
                    Some(parent) => {
                        scope = parent;
                        1
                    }
                    None => break,
                },
                ';' => 1,
                _ => match label(rest) {
                    Some((name, length)) => {
                        let next = kernel.items.len();
                        if kernel.scopes[scope].labels.insert(name.to_owned(), next).is_some() {
                            kernel.duplicates.push(name.to_owned());
                        }
                        length
                    }
                    None => {
                        let end = rest.find(';').unwrap_or(rest.len());
                        kernel.statement(scope, rest[..end].trim());
                        end
                    }
                },
            };
            rest = rest[length..].trim_start();
        }
        kernel
    }

    fn statement(&mut self, scope: usize, text: &str) {
        if let Some(declaration) = text.strip_prefix(".reg") {
            let names = declaration.trim().split_once(char::is_whitespace).map_or("", |(_, names)| names);
            for name in names.split(',').map(str::trim) {
                self.declare(scope, name);
            }
        } else if !text.starts_with('.') {
            self.items.push(Item { scope, instruction: instruction(text) });
        }
    }

    fn declare(&mut self, scope: usize, name: &str) {
        let row = name
            .split_once('<')
            .and_then(|(stem, count)| Some((stem, count.trim_end_matches('>').parse::<u32>().ok()?)));
        let names = match row {
            Some((stem, count)) => (0..count).map(|index| format!("{stem}{index}")).collect(),
            None => vec![name.to_owned()],
        };
        for name in names {
            if !self.scopes[scope].names.insert(name.clone()) {
                self.duplicates.push(name);
            }
        }
    }

    /// The scope that declares a register.
    pub(super) fn scope_of(&self, scope: usize, register: &str) -> usize {
        let mut around = Some(scope);
        while let Some(scope) = around {
            if self.scopes[scope].names.contains(register) {
                return scope;
            }
            around = self.scopes[scope].parent;
        }
        0
    }

    /// The item behind a label.
    pub(super) fn label(&self, scope: usize, name: &str) -> Option<usize> {
        let mut around = Some(scope);
        while let Some(scope) = around {
            if let Some(&item) = self.scopes[scope].labels.get(name) {
                return Some(item);
            }
            around = self.scopes[scope].parent;
        }
        None
    }
}

/// The label at the start of a text, and its length with the colon.
fn label(text: &str) -> Option<(&str, usize)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')))?;
    let behind = text[end..].trim_start();
    let colon = text.len() - behind.len();
    (end > 0 && behind.starts_with(':') && !behind.starts_with("::")).then(|| (&text[..end], colon + 1))
}

fn instruction(text: &str) -> Instruction {
    let (guard, text) = match text.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((predicate, rest)) => {
            let name = predicate.trim_start_matches('!');
            (Some((name.to_owned(), name.len() == predicate.len())), rest.trim_start())
        }
        None => (None, text),
    };
    let (opcode, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut operands = vec![String::new()];
    let mut depth = 0;
    for character in rest.chars() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        match operands.last_mut() {
            Some(last) if character != ',' || depth > 0 => last.push(character),
            _ => operands.push(String::new()),
        }
    }
    let operands = operands.into_iter().map(|operand| operand.trim().to_owned());
    Instruction {
        guard,
        opcode: opcode.split('.').map(str::to_owned).collect(),
        operands: operands.filter(|operand| !operand.is_empty()).collect(),
    }
}
