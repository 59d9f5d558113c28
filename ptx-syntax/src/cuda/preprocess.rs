//! Preprocessor lines: conditions, macros, and braces that branches of an `#if` share.
//!
//! Nothing is expanded and no branch is left out. Each token learns the condition under which it is compiled.
//! Where branches of a group open or close braces differently (two heads for one function body), only the first
//! such branch counts for the structure; the braces and parentheses of the others are marked as ignored.

use std::collections::HashMap;

use super::condition::{Condition, ConditionKind};
use super::expand::Use;
use super::literal;
use super::model::{ConditionId, CudaFile, Macro, MacroId};
use super::scan::{Kind, Scanner, Token};
use crate::Span;

/// The words that begin an asm statement.
const KEYWORDS: [&str; 3] = ["asm", "__asm__", "__asm"];

/// A macro that stands for the keyword, as in `#define ASM asm volatile`.
#[derive(Clone, Copy, Debug)]
struct Alias<'s> {
    name: &'s str,
    volatile: bool,
    from: u32,
    to: u32,
}

/// A source file after its preprocessor lines are read.
pub(super) struct Prepared<'s> {
    /// All tokens except preprocessor lines.
    pub tokens: Vec<Token>,
    /// The file, with conditions and macros filled in.
    pub file: CudaFile,
    /// Macros by name.
    pub by_name: HashMap<&'s str, Vec<MacroId>>,
    /// Where `#pragma unroll` lines end.
    pub unrolls: Vec<u32>,
    /// Uses of macros with asm statements among the tokens, in order.
    pub uses: Vec<Use>,
    /// The bodies of such macros.
    pub bodies: Vec<(MacroId, Vec<Token>)>,
    aliases: Vec<Alias<'s>>,
}

impl Prepared<'_> {
    /// Whether `token` begins an asm statement, and whether its spelling makes it volatile.
    pub fn keyword(&self, source: &str, token: Token) -> Option<bool> {
        if token.kind != Kind::Identifier {
            return None;
        }
        let text = token.span.text(source);
        let at = token.span.start;
        let alias = self.aliases.iter().rev().find(|a| a.name == text && (a.from..a.to).contains(&at));
        alias.map(|alias| alias.volatile).or_else(|| KEYWORDS.contains(&text).then_some(false))
    }

    /// The string of a macro that branches of an `#if` define as `"l"` and as `"r"`, the constraints of a pointer: the
    /// one of 64-bit platforms, for PTX has no others any more. Macros with one definition are expanded before.
    pub fn pointer_macro(&self, source: &str, name: &str) -> Option<Vec<Token>> {
        let definitions = self.by_name.get(name)?;
        let mut texts: Vec<(String, Vec<Token>)> = Vec::new();
        for id in definitions {
            let definition = &self.file.macros[id.index()];
            let tokens: Vec<Token> = Scanner::line(source, definition.body).collect();
            let is_string = |token: &Token| matches!(token.kind, Kind::Text | Kind::RawText);
            if definition.parameters.is_some() || tokens.is_empty() || !tokens.iter().all(is_string) {
                return None;
            }
            let text: String = tokens.iter().map(|token| literal::decoded(source, *token)).collect();
            if texts.iter().all(|(known, _)| *known != text) {
                texts.push((text, tokens));
            }
        }
        let pointer = texts.len() == 2 && texts.iter().all(|(text, _)| matches!(text.as_str(), "l" | "r"));
        let index = texts.iter().position(|(text, _)| text == "l").filter(|_| pointer)?;
        Some(texts.swap_remove(index).1)
    }
}

/// An open `#if` group.
struct Group {
    parent: u32,
    branches: Vec<u32>,
    /// Where the tokens of each branch begin.
    starts: Vec<usize>,
}

struct Preprocessor<'s> {
    source: &'s str,
    out: Prepared<'s>,
    groups: Vec<Group>,
    current: u32,
}

/// Reads the tokens and the preprocessor lines of a file.
pub(super) fn prepare(source: &str) -> Prepared<'_> {
    let whole = Condition {
        kind: ConditionKind::File,
        expression: Span::at(0),
        parent: None,
        previous: None,
        choices: 1,
    };
    let out = Prepared {
        tokens: Vec::with_capacity(source.len() / 5),
        file: CudaFile { conditions: vec![whole], ..CudaFile::default() },
        by_name: HashMap::new(),
        unrolls: Vec::new(),
        uses: Vec::new(),
        bodies: Vec::new(),
        aliases: Vec::new(),
    };
    let mut this = Preprocessor { source, out, groups: Vec::new(), current: 0 };
    for mut token in Scanner::file(source) {
        if token.kind == Kind::Directive {
            this.directive(token.span);
        } else {
            token.condition = this.current;
            this.out.tokens.push(token);
        }
    }
    while let Some(group) = this.groups.pop() {
        this.repair(&group);
    }
    this.out
}

impl<'s> Preprocessor<'s> {
    fn directive(&mut self, span: Span) {
        let line = Span::new(span.start + 1, span.end);
        let mut tokens = Scanner::line(self.source, line);
        let Some(word) = tokens.next() else { return };
        let rest = Span::new(word.span.end, span.end);
        match word.span.text(self.source) {
            "if" => self.open(ConditionKind::If, rest),
            "ifdef" => self.open(ConditionKind::Defined, rest),
            "ifndef" => self.open(ConditionKind::Undefined, rest),
            "elif" => self.next_branch(ConditionKind::If, rest),
            "elifdef" => self.next_branch(ConditionKind::Defined, rest),
            "elifndef" => self.next_branch(ConditionKind::Undefined, rest),
            "else" => self.next_branch(ConditionKind::Else, Span::at(rest.start)),
            "endif" => self.close(),
            "define" => self.define(tokens, span.end),
            "undef" => self.undefine(tokens.next()),
            "pragma" => {
                let what = tokens.next().map_or("", |token| token.span.text(self.source));
                if what.contains("unroll") && !what.starts_with("no") {
                    self.out.unrolls.push(span.end);
                }
            }
            _ => {}
        }
    }

    fn condition(&mut self, kind: ConditionKind, expression: Span, parent: u32, previous: Option<u32>) {
        let id = self.out.file.conditions.len() as u32;
        self.out.file.conditions.push(Condition {
            kind,
            expression,
            parent: Some(ConditionId(parent)),
            previous: previous.map(ConditionId),
            choices: 1,
        });
        self.current = id;
        if let Some(group) = self.groups.last_mut() {
            group.branches.push(id);
            group.starts.push(self.out.tokens.len());
        }
    }

    fn open(&mut self, kind: ConditionKind, expression: Span) {
        let parent = self.current;
        self.groups.push(Group { parent, branches: Vec::new(), starts: Vec::new() });
        self.condition(kind, expression, parent, None);
    }

    fn next_branch(&mut self, kind: ConditionKind, expression: Span) {
        let Some(group) = self.groups.last() else { return };
        let (parent, previous) = (group.parent, group.branches.last().copied());
        self.condition(kind, expression, parent, previous);
    }

    fn close(&mut self) {
        let Some(group) = self.groups.pop() else { return };
        self.current = group.parent;
        self.repair(&group);
        let conditions = &mut self.out.file.conditions;
        let last = group.branches.last().map(|last| conditions[*last as usize].kind);
        let choices = group.branches.len() as u32 + u32::from(last != Some(ConditionKind::Else));
        for branch in group.branches {
            conditions[branch as usize].choices = choices;
        }
    }

    /// Lets only the first unbalanced branch of a group open or close braces.
    fn repair(&mut self, group: &Group) {
        let mut primary_seen = false;
        for (index, start) in group.starts.iter().enumerate() {
            let end = group.starts.get(index + 1).copied().unwrap_or(self.out.tokens.len());
            let unmatched = unmatched(self.source, &self.out.tokens[*start..end]);
            if unmatched.is_empty() {
                continue;
            }
            if primary_seen {
                for offset in unmatched {
                    self.out.tokens[start + offset].ignored = true;
                }
            }
            primary_seen = true;
        }
    }

    fn define(&mut self, mut tokens: Scanner<'s>, end: u32) {
        let Some(name) = tokens.next().filter(|token| token.kind == Kind::Identifier) else { return };
        let mut body_start = name.span.end;
        let mut parameters = None;
        let called = self.source.as_bytes().get(name.span.end as usize) == Some(&b'(');
        if called {
            let mut names = Vec::new();
            for token in tokens.by_ref() {
                body_start = token.span.end;
                match token.kind {
                    Kind::Identifier => names.push(token.span),
                    Kind::Punctuator if token.is(self.source, ")") => break,
                    // An ellipsis is named in the body.
                    Kind::Punctuator if token.is(self.source, "...") => names.push(token.span),
                    _ => {}
                }
            }
            parameters = Some(names);
        }
        let body = Span::new(body_start, end);
        self.alias(name, parameters.is_some(), body);
        let id = MacroId(self.out.file.macros.len() as u32);
        self.out.by_name.entry(name.span.text(self.source)).or_default().push(id);
        self.out.file.macros.push(Macro {
            name: name.span,
            parameters,
            body,
            condition: ConditionId(self.current),
            statements: Vec::new(),
        });
    }

    /// Notes a macro that stands for the keyword and perhaps its qualifiers.
    fn alias(&mut self, name: Token, called: bool, body: Span) {
        let mut tokens = Scanner::line(self.source, body);
        let Some(keyword) = tokens.next() else { return };
        let Some(mut volatile) = self.out.keyword(self.source, keyword) else { return };
        for token in tokens {
            match token.span.text(self.source) {
                "volatile" | "__volatile__" | "__volatile" => volatile = true,
                "inline" | "__inline__" | "__inline" | "goto" => {}
                _ => return,
            }
        }
        if !called {
            let name = name.span.text(self.source);
            self.out.aliases.push(Alias { name, volatile, from: body.end, to: u32::MAX });
        }
    }

    fn undefine(&mut self, name: Option<Token>) {
        let Some(name) = name else { return };
        let text = name.span.text(self.source);
        self.out.file.undefined.push(name.span);
        for alias in self.out.aliases.iter_mut().filter(|alias| alias.name == text) {
            alias.to = alias.to.min(name.span.start);
        }
    }
}

/// The positions of braces, brackets and parentheses without partner.
fn unmatched(source: &str, tokens: &[Token]) -> Vec<usize> {
    let mut open: Vec<(usize, u8)> = Vec::new();
    let mut stray = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Punctuator || token.ignored || token.span.len() != 1 {
            continue;
        }
        let byte = source.as_bytes()[token.span.start as usize];
        let partner = match byte {
            b'(' | b'[' | b'{' => {
                open.push((index, byte));
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        match open.last() {
            Some((_, last)) if *last == partner => {
                open.pop();
            }
            _ => stray.push(index),
        }
    }
    stray.extend(open.iter().map(|(index, _)| *index));
    stray.sort_unstable();
    stray
}
