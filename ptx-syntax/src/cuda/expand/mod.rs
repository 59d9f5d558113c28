//! Macros of the file itself, put in place of their names where asm statements depend on them.
//!
//! This is not a preprocessor: only two things are expanded, and everything else is left as it is written.
//! * A macro that holds an asm statement, itself or through another macro, where it is used: the statement is then
//!   read with the arguments of that use, in the function where the use stands ([`Use`]). That of the `#define` is
//!   read as well, with its parameters unknown.
//! * A macro among the strings, operands and clobbers of an asm statement.
//!
//! A macro is known where the file defines it before its use and has not taken it back, and where all definitions
//! that may hold are the same. What `#` and `##` make stands in no file: it is appended to the source, and
//! [`Origins`] tells for each made text where it came from.

mod origins;
mod substitute;

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

pub(super) use origins::Origins;

use super::condition::{self, MacroValues, Truth};
use super::model::{ConditionId, Macro, MacroId};
use super::preprocess::Prepared;
use super::scan::{Kind, Scanner, Token};
use crate::Span;

/// A use of a macro that holds asm statements.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The tokens that stand for it in the expanded file.
    pub tokens: Range<usize>,
    /// The name where it is used.
    pub call: Span,
    /// The macro.
    pub definition: MacroId,
}

/// How many tokens expansion may add to a file.
const MOST_TOKENS: u32 = 1_000_000;

/// How many definitions of one macro are looked at where it is used.
const MOST_DEFINITIONS: usize = 4;

/// How deep macros are followed into each other.
const DEEPEST: usize = 24;

/// Expands the tokens of `prepared` and returns the source with what was made, if anything was.
pub(super) fn expand(source: &str, prepared: &mut Prepared<'_>) -> Option<(String, Origins)> {
    if prepared.file.macros.is_empty() {
        return None;
    }
    let tokens = std::mem::take(&mut prepared.tokens);
    let mut this = Expander::new(source, prepared);
    let mut out = Vec::with_capacity(tokens.len());
    this.rewrite(&tokens, &mut out, true);
    let bodies = this.bodies();
    let Expander { made, origins, uses, .. } = this;
    (prepared.tokens, prepared.uses, prepared.bodies) = (out, uses, bodies);
    (!made.is_empty()).then(|| (format!("{source}{made}"), origins))
}

struct Expander<'p, 's> {
    source: &'s str,
    prepared: &'p Prepared<'s>,
    /// Names of macros that hold asm statements.
    with_asm: HashSet<&'s str>,
    /// Uses of them.
    uses: Vec<Use>,
    /// What was made.
    made: String,
    origins: Origins,
    /// Macros that are being expanded, and names that are parameters.
    hidden: Vec<MacroId>,
    shadowed: Vec<&'s str>,
    /// Where the outermost use stands.
    position: u32,
    left: u32,
    /// For each condition, whether it is known never to hold.
    never: Vec<Cell<Option<bool>>>,
}

impl<'p, 's> Expander<'p, 's> {
    fn new(source: &'s str, prepared: &'p Prepared<'s>) -> Self {
        let length = source.len() as u32;
        let mut this = Self {
            source,
            prepared,
            with_asm: HashSet::new(),
            uses: Vec::new(),
            made: String::new(),
            origins: Origins::new(length),
            hidden: Vec::new(),
            shadowed: Vec::new(),
            position: 0,
            left: MOST_TOKENS,
            never: vec![Cell::new(None); prepared.file.conditions.len()],
        };
        this.find_macros_with_asm();
        this
    }

    /// Notes the macros that hold a keyword, and those that name such a macro.
    fn find_macros_with_asm(&mut self) {
        let mut named: Vec<(&'s str, Vec<&'s str>)> = Vec::new();
        for definition in &self.prepared.file.macros {
            let tokens: Vec<Token> = Scanner::line(self.source, definition.body).collect();
            let name = definition.name.text(self.source);
            let keyword = |token: &Token| self.prepared.keyword(self.source, *token).is_some();
            if tokens.iter().any(keyword) && !tokens.iter().all(|token| token.kind == Kind::Identifier) {
                self.with_asm.insert(name);
            } else {
                let words = tokens.iter().filter(|token| token.kind == Kind::Identifier);
                named.push((name, words.map(|token| token.span.text(self.source)).collect()));
            }
        }
        loop {
            let before = named.len();
            named.retain(|(name, words)| {
                let holds = words.iter().any(|word| self.with_asm.contains(word));
                if holds {
                    self.with_asm.insert(name);
                }
                !holds
            });
            if named.len() == before || self.with_asm.is_empty() {
                return;
            }
        }
    }

    fn text(&self, token: Token) -> &str {
        match token.span.start.checked_sub(self.source.len() as u32) {
            Some(start) => self.made.get(start as usize..(start + token.span.len()) as usize).unwrap_or(""),
            None => token.span.text(self.source),
        }
    }

    fn is(&self, token: Option<&Token>, text: &str) -> bool {
        let worded = |token: &&Token| matches!(token.kind, Kind::Punctuator | Kind::Identifier);
        token.filter(worded).is_some_and(|token| self.text(*token) == text)
    }

    fn is_keyword(&self, token: Token) -> bool {
        // What was made has no place before which an alias could have been defined, and no statement needs one.
        token.span.end as usize <= self.source.len() && self.prepared.keyword(self.source, token).is_some()
    }

    /// Appends the tokens to `out`, expanded; uses of macros with statements only where `uses` says so.
    fn rewrite(&mut self, tokens: &[Token], out: &mut Vec<Token>, uses: bool) {
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            if self.hidden.is_empty() && uses {
                self.position = token.span.start;
            }
            if token.kind == Kind::Identifier && !token.ignored {
                if self.is_keyword(token) {
                    at = self.statement(tokens, at, out);
                    continue;
                }
                let start = out.len();
                if uses && self.with_asm.contains(self.text(token)) {
                    if let Some((next, definition)) = self.use_of_macro(tokens, at, out) {
                        if self.hidden.is_empty() {
                            self.uses.push(Use { tokens: start..out.len(), call: token.span, definition });
                        }
                        at = next;
                        continue;
                    }
                    out.truncate(start);
                }
            }
            out.push(token);
            at += 1;
        }
    }

    /// Copies an asm statement up to its closing parenthesis and expands the macros in its sections.
    fn statement(&mut self, tokens: &[Token], keyword: usize, out: &mut Vec<Token>) -> usize {
        let mut at = keyword;
        let mut depth = 0i32;
        while let Some(&token) = tokens.get(at) {
            match self.text(token) {
                "(" if token.kind == Kind::Punctuator => depth += 1,
                ")" if token.kind == Kind::Punctuator => depth -= 1,
                ";" | "{" | "}" if token.kind == Kind::Punctuator && depth < 2 => return at,
                _ if depth == 0 && token.kind != Kind::Identifier => return at,
                _ => {}
            }
            if depth == 1
                && token.kind == Kind::Identifier
                && !self.is(out.last(), "[")
                && let Some((next, piece)) = self.piece(tokens, at)
            {
                out.extend(piece.into_iter().map(|piece| Token { condition: token.condition, ..piece }));
                at = next;
                continue;
            }
            out.push(token);
            at += 1;
            if depth == 0 && at > keyword + 1 && self.is(Some(&token), ")") {
                return at;
            }
            if depth == 0 && at > keyword + 5 {
                return at;
            }
        }
        at
    }

    /// What a macro in a section of an asm statement stands for, and the index after its use.
    fn piece(&mut self, tokens: &[Token], at: usize) -> Option<(usize, Vec<Token>)> {
        let [definition] = self.definitions(tokens[at])[..] else { return None };
        let (next, found) = self.called(definition, tokens, at)?;
        let fits = |token: &Token| match token.kind {
            Kind::Text | Kind::RawText | Kind::Identifier | Kind::Number | Kind::Character => true,
            Kind::Punctuator => !matches!(self.text(*token), ";" | "{" | "}" | "#"),
            Kind::Directive => false,
        };
        let has_text = found.iter().any(|token| matches!(token.kind, Kind::Text | Kind::RawText));
        ((has_text || found.is_empty()) && found.iter().all(fits)).then_some((next, found))
    }

    /// Appends what the use of a macro at `at` stands for, in each of its definitions.
    fn use_of_macro(
        &mut self,
        tokens: &[Token],
        at: usize,
        out: &mut Vec<Token>,
    ) -> Option<(usize, MacroId)> {
        let definitions = self.definitions(tokens[at]);
        let several = definitions.len() > 1;
        let mut next = None;
        for &definition in definitions.iter().take(MOST_DEFINITIONS) {
            let (end, arguments) = self.arguments(definition, tokens, at)?;
            if arguments.iter().flatten().any(|token| self.is_keyword(*token) || token.ignored) {
                return None;
            }
            let body = self.substituted(definition, &arguments)?;
            let condition = match several {
                true => self.definition(definition).condition.index() as u32,
                false => tokens[at].condition,
            };
            self.hidden.push(definition);
            let start = out.len();
            self.rewrite(&body, out, true);
            self.hidden.pop();
            out[start..].iter_mut().for_each(|token| token.condition = condition);
            next = Some((end, definition));
        }
        next
    }

    fn definition(&self, id: MacroId) -> &'p Macro {
        &self.prepared.file.macros[id.index()]
    }

    /// The definitions that may hold where the outermost use stands, each text once.
    fn definitions(&self, name: Token) -> Vec<MacroId> {
        let text = self.text(name);
        if self.hidden.len() >= DEEPEST || self.shadowed.contains(&text) {
            return Vec::new();
        }
        let file = &self.prepared.file;
        let ended = |found: &Macro| {
            let between = |span: &&Span| found.name.start < span.start && span.start < self.position;
            file.undefined.iter().filter(between).any(|span| span.text(self.source) == text)
        };
        let mut known: Vec<MacroId> = Vec::new();
        for &id in self.prepared.by_name.get(text).into_iter().flatten() {
            let found = self.definition(id);
            let body = |id: MacroId| self.definition(id).body.text(self.source).trim();
            let hidden = found.name.start > self.position || self.hidden.contains(&id);
            if hidden || ended(found) || self.is_never(found.condition) {
                continue;
            }
            if known.iter().all(|other| body(*other) != body(id)) {
                known.push(id);
            }
        }
        known
    }

    /// Whether code under a condition is never compiled, whatever the target: below `#if 0`.
    fn is_never(&self, condition: ConditionId) -> bool {
        let cell = &self.never[condition.index()];
        cell.get().unwrap_or_else(|| {
            let values = MacroValues::default();
            let truth = condition::holds(&self.prepared.file, self.source, condition, &values);
            cell.set(Some(truth == Truth::False));
            truth == Truth::False
        })
    }

    /// The bodies of the macros with statements, with the macros in the statements' sections expanded.
    fn bodies(&mut self) -> Vec<(MacroId, Vec<Token>)> {
        let mut bodies = Vec::new();
        self.position = u32::MAX;
        for (index, definition) in self.prepared.file.macros.iter().enumerate() {
            if !self.with_asm.contains(definition.name.text(self.source)) {
                continue;
            }
            let tokens: Vec<Token> = Scanner::line(self.source, definition.body).collect();
            let names = definition.parameters.iter().flatten();
            self.shadowed = names.map(|name| name.text(self.source)).collect();
            let mut out = Vec::with_capacity(tokens.len());
            self.rewrite(&tokens, &mut out, false);
            bodies.push((MacroId(index as u32), out));
        }
        bodies
    }
}

#[cfg(test)]
mod tests;
