//! PTX text as functions, variables and statements, with the scopes of its names.

use std::collections::HashMap;

/// A word, a number, a string or a single character, and where it begins.
#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    text: &'t str,
    offset: usize,
}

/// An operand as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Word(String),
    Number(u64),
    /// `!%p1`
    Negated(Box<Self>),
    /// `{…}`
    List(Vec<Self>),
    /// `[a+8]`, and `a+8` without brackets.
    Sum(Box<Self>, i64),
    /// `[…]`
    Address(Box<Self>),
    /// `%r1|%p1`
    Pair(Box<Self>, Box<Self>),
    /// `(…)` of a call.
    Arguments(Vec<Self>),
}

/// An instruction, split at its dots and commas.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub scope: usize,
    /// Where it begins in the text.
    pub offset: usize,
    /// The predicate, and the value with which it runs.
    pub guard: Option<(String, bool)>,
    /// `add`, `cc`, `u32`.
    pub opcode: Vec<String>,
    pub operands: Vec<Operand>,
}

/// The memory of a variable or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub space: String,
    pub name: String,
    pub scope: usize,
    pub align: u64,
    pub size: u64,
    /// The first bytes of it.
    pub initial: Vec<u8>,
}

/// A register, or a parameter in one.
#[derive(Clone, Debug)]
pub(super) struct Register {
    pub name: String,
    pub width: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    parent: Option<usize>,
    pub registers: HashMap<String, usize>,
    labels: HashMap<String, usize>,
    /// Labels of `.branchtargets`.
    targets: HashMap<String, Vec<String>>,
    pub variables: HashMap<String, usize>,
}

/// A function as it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct RawFunction {
    pub name: String,
    pub entry: bool,
    pub body: bool,
    pub registers: Vec<Register>,
    pub variables: Vec<Variable>,
    /// The names of the return values and of the parameters; in scope 0.
    pub returns: Vec<String>,
    pub parameters: Vec<String>,
    pub code: Vec<Raw>,
    pub scopes: Vec<Scope>,
    /// Registers and labels that one pair of braces declares twice.
    pub duplicates: Vec<String>,
}

/// A file as it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub functions: Vec<RawFunction>,
    pub variables: Vec<Variable>,
}

/// Reads a text. What is not understood is left out, or is an instruction that cannot be executed.
pub(super) fn read(text: &str) -> File {
    let mut reader = Reader { text, tokens: tokens(text), at: 0 };
    let mut file = File::default();
    while let Some(token) = reader.next() {
        match token.text {
            ".entry" | ".func" => {
                if let Some(function) = reader.function(token.text == ".entry") {
                    file.functions.push(function);
                }
            }
            ".global" | ".const" | ".shared" => file.variables.extend(reader.variables(token.text, 0)),
            ".visible" | ".extern" | ".weak" | ".common" => {}
            _ => reader.skip_line(token),
        }
    }
    file
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// The length of a word; `shared::cta` is one.
fn word(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    loop {
        end += bytes[end..].iter().position(|byte| !is_word(*byte)).unwrap_or(bytes.len() - end);
        let inside = bytes[end..].starts_with(b"::") && bytes.get(end + 2).is_some_and(|byte| is_word(*byte));
        if !inside {
            return end - start;
        }
        end += 2;
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            continue;
        } else if bytes[at] == b'"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else if is_word(bytes[at]) {
            word(bytes, at)
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        found.push(Token { text: &rest[..length], offset: at });
        at += length;
    }
    found
}

struct Reader<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    at: usize,
}

/// The bits of a type such as `.u32`.
pub(super) fn width(ty: &str) -> Option<u32> {
    let ty = ty.strip_prefix('.').unwrap_or(ty);
    match ty {
        "pred" => Some(1),
        "f16x2" | "bf16x2" => Some(32),
        _ => {
            let digits = ty.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
            let width = digits.parse().ok()?;
            matches!(width, 8 | 16 | 32 | 64 | 128).then_some(width)
        }
    }
}

pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches('U');
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<Token<'t>> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    fn peek(&self) -> &'t str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    /// Passes the other tokens of a line.
    fn skip_line(&mut self, first: Token<'t>) {
        let end = self.text[first.offset..].find('\n').map_or(self.text.len(), |end| first.offset + end);
        while self.tokens.get(self.at).is_some_and(|token| token.offset < end) {
            self.at += 1;
        }
    }

    fn skip_statement(&mut self) {
        while let Some(token) = self.next() {
            if token.text == ";" {
                return;
            }
        }
    }

    /// What follows `.entry` or `.func`; none for a declaration.
    fn function(&mut self, entry: bool) -> Option<RawFunction> {
        let mut function = RawFunction { entry, scopes: vec![Scope::default()], ..RawFunction::default() };
        if self.peek() == "(" {
            function.returns = self.parameters(&mut function);
        }
        function.name = self.next()?.text.to_owned();
        if self.peek() == "(" {
            function.parameters = self.parameters(&mut function);
        }
        // Directives such as `.maxntid 128`.
        while !matches!(self.peek(), "{" | ";" | "") {
            self.at += 1;
        }
        if !self.take("{") {
            self.at += 1;
            return Some(function);
        }
        function.body = true;
        self.body(&mut function);
        Some(function)
    }

    /// Formal parameters in parentheses; their names.
    fn parameters(&mut self, function: &mut RawFunction) -> Vec<String> {
        let mut names = Vec::new();
        self.at += 1;
        while !matches!(self.peek(), ")" | "") {
            let space = self.next().map_or("", |token| token.text);
            if space == "," {
                continue;
            }
            if let Some(variable) = self.variable(space, 0) {
                names.push(variable.name.clone());
                declare(function, variable);
            }
        }
        self.at += 1;
        names
    }

    /// The names of a declaration, with its semicolon.
    fn variables(&mut self, space: &str, scope: usize) -> Vec<Variable> {
        let mut found: Vec<Variable> = self.variable(space, scope).into_iter().collect();
        while self.take(",") {
            let (Some(first), Some(name)) = (found.first().cloned(), self.next()) else { break };
            found.push(Variable { name: name.text.to_owned(), ..first });
        }
        if !self.take(";") {
            self.skip_statement();
        }
        found
    }

    /// `.align 4 .b8 name[16] = {…}`, without what ends it.
    fn variable(&mut self, space: &str, scope: usize) -> Option<Variable> {
        let (mut align, mut element, mut pointer) = (None, 4, false);
        let name = loop {
            let token = self.next()?.text;
            match token {
                // After `.ptr` it is the alignment of what is pointed at.
                ".align" if pointer => self.at += 1,
                ".align" => align = number(self.next()?.text),
                ".ptr" => pointer = true,
                ".global" | ".const" | ".shared" | ".local" | ".param" => {}
                _ if token.starts_with('.') => element = u64::from(width(token)?).div_ceil(8),
                _ => break token,
            }
        };
        let mut variable = Variable {
            space: space.to_owned(),
            name: name.to_owned(),
            scope,
            align: align.unwrap_or(element),
            size: element,
            initial: Vec::new(),
        };
        while self.take("[") {
            let count = number(self.peek());
            self.at += if count.is_some() { 2 } else { 1 };
            // An array without a size is memory that the launch provides.
            variable.size *= count.unwrap_or(1024 / element);
        }
        if self.take("=") {
            self.take("{");
            while !matches!(self.peek(), ";" | "") {
                if let Some(value) = number(self.peek()) {
                    variable.initial.extend(&value.to_le_bytes()[..element.min(8) as usize]);
                }
                self.at += 1;
            }
        }
        Some(variable)
    }

    fn body(&mut self, function: &mut RawFunction) {
        let mut scope = 0;
        while let Some(token) = self.next() {
            match token.text {
                "{" => {
                    function.scopes.push(Scope { parent: Some(scope), ..Scope::default() });
                    scope = function.scopes.len() - 1;
                }
                "}" => match function.scopes[scope].parent {
                    Some(parent) => scope = parent,
                    None => return,
                },
                ";" => {}
                ".reg" => self.registers(function, scope),
                ".shared" | ".local" | ".param" | ".global" | ".const" => {
                    for variable in self.variables(token.text, scope) {
                        declare(function, variable);
                    }
                }
                ".loc" | ".file" => self.skip_line(token),
                text if text.starts_with('.') => self.skip_statement(),
                label if self.peek() == ":" => {
                    self.at += 1;
                    self.label(function, scope, label);
                }
                _ => {
                    let instruction = self.instruction(scope, token);
                    function.code.push(instruction);
                }
            }
        }
    }

    fn label(&mut self, function: &mut RawFunction, scope: usize, name: &str) {
        match self.peek() {
            ".branchtargets" => {
                self.at += 1;
                let mut labels = Vec::new();
                while let Some(token) = self.next().filter(|token| token.text != ";") {
                    if token.text != "," {
                        labels.push(token.text.to_owned());
                    }
                }
                function.scopes[scope].targets.insert(name.to_owned(), labels);
            }
            ".calltargets" | ".callprototype" => self.skip_statement(),
            _ => {
                let next = function.code.len();
                if function.scopes[scope].labels.insert(name.to_owned(), next).is_some() {
                    function.duplicates.push(name.to_owned());
                }
            }
        }
    }

    fn registers(&mut self, function: &mut RawFunction, scope: usize) {
        let Some(bits) = self.next().and_then(|token| width(token.text)) else {
            return self.skip_statement();
        };
        while let Some(name) = self.next().filter(|token| token.text != ";") {
            if name.text == "," {
                continue;
            }
            if self.take("<") {
                let count = self.next().and_then(|token| number(token.text)).unwrap_or(0);
                self.at += 1;
                for index in 0..count {
                    declare_register(function, scope, format!("{}{index}", name.text), bits);
                }
            } else {
                declare_register(function, scope, name.text.to_owned(), bits);
            }
        }
    }

    fn instruction(&mut self, scope: usize, first: Token<'t>) -> Raw {
        let mut opcode = first;
        let mut guard = None;
        if first.text == "@" {
            let wanted = !self.take("!");
            guard = self.next().map(|token| (token.text.to_owned(), wanted));
            opcode = self.next().unwrap_or(first);
        }
        let mut operands = Vec::new();
        while !matches!(self.peek(), ";" | "" | "}") {
            if self.take(",") {
                continue;
            }
            let before = self.at;
            operands.extend(self.operand());
            // What is no operand is passed over, so that this ends.
            self.at = self.at.max(before + 1);
        }
        self.take(";");
        let opcode = opcode.text.split('.').map(str::to_owned).collect();
        Raw { scope, offset: first.offset, guard, opcode, operands }
    }

    fn operand(&mut self) -> Option<Operand> {
        let first = self.primary()?;
        let first =
            if self.take("|") { Operand::Pair(Box::new(first), Box::new(self.primary()?)) } else { first };
        let sign = match self.peek() {
            "+" => 1,
            "-" => -1,
            _ => return Some(first),
        };
        self.at += 1;
        let negative = self.take("-");
        let offset = number(self.next()?.text)? as i64 * sign;
        Some(Operand::Sum(Box::new(first), if negative { -offset } else { offset }))
    }

    fn listed(&mut self, end: &str) -> Vec<Operand> {
        let mut elements = Vec::new();
        while !self.take(end) && !self.peek().is_empty() {
            if self.take(",") {
                continue;
            }
            let before = self.at;
            elements.extend(self.operand());
            self.at = self.at.max(before + 1);
        }
        elements
    }

    fn primary(&mut self) -> Option<Operand> {
        let token = self.next()?;
        Some(match token.text {
            "!" => Operand::Negated(Box::new(self.primary()?)),
            "-" => Operand::Number(number(self.next()?.text)?.wrapping_neg()),
            "~" => Operand::Number(!number(self.next()?.text)?),
            "{" => Operand::List(self.listed("}")),
            "(" => Operand::Arguments(self.listed(")")),
            "[" => Operand::Address(Box::new(self.listed("]").into_iter().next()?)),
            text => number(text).map_or_else(|| Operand::Word(text.to_owned()), Operand::Number),
        })
    }
}

fn declare_register(function: &mut RawFunction, scope: usize, name: String, width: u32) {
    let index = function.registers.len();
    if function.scopes[scope].registers.insert(name.clone(), index).is_some() {
        function.duplicates.push(name.clone());
    }
    function.registers.push(Register { name, width });
}

fn declare(function: &mut RawFunction, variable: Variable) {
    if variable.space == ".reg" {
        let width = if variable.size == 0 { 1 } else { variable.size as u32 * 8 };
        declare_register(function, variable.scope, variable.name, width);
        return;
    }
    let index = function.variables.len();
    function.scopes[variable.scope].variables.insert(variable.name.clone(), index);
    function.variables.push(variable);
}

impl RawFunction {
    /// From a scope outwards, the first thing that is found.
    fn outwards<T>(&self, scope: usize, mut look: impl FnMut(&Scope) -> Option<T>) -> Option<T> {
        let mut around = Some(scope);
        while let Some(scope) = around {
            let scope = &self.scopes[scope];
            if let Some(found) = look(scope) {
                return Some(found);
            }
            around = scope.parent;
        }
        None
    }

    pub(super) fn register(&self, scope: usize, name: &str) -> Option<usize> {
        self.outwards(scope, |scope| scope.registers.get(name).copied())
    }

    pub(super) fn variable(&self, scope: usize, name: &str) -> Option<usize> {
        self.outwards(scope, |scope| scope.variables.get(name).copied())
    }

    /// The statement after a label.
    pub(super) fn label(&self, scope: usize, name: &str) -> Option<usize> {
        self.outwards(scope, |scope| scope.labels.get(name).copied())
    }

    pub(super) fn targets(&self, scope: usize, name: &str) -> Option<Vec<String>> {
        self.outwards(scope, |scope| scope.targets.get(name).cloned())
    }
}
