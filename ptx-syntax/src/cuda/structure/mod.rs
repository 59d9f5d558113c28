//! Walks over the tokens of a file: functions, blocks, branches and loops, declarations, asm statements.
//!
//! The walk follows braces and parentheses and a dozen of keywords. Every token is passed exactly once, and at
//! every token the keyword is looked for, whatever the walk believes the surroundings to be: a wrong belief costs
//! a type or a region, never a statement.

mod declare;
mod groups;
mod instances;
mod outside;
mod statements;
mod targets;

use std::collections::{HashMap, HashSet};

use crate::Span;
use crate::cuda::asm::{self, Outcome};
use crate::cuda::ctype::CType;
use crate::cuda::declare::Reader;
use crate::cuda::expression;
use crate::cuda::model::{
    AsmId, AsmStatement, ConditionId, CudaFile, Event, EventKind, FunctionId, Macro, MacroId, NonStatement,
    NonStatementKind, OtherMacro, OtherMacroId, Region, RegionId, RegionKind,
};
use crate::cuda::preprocess::Prepared;
use crate::cuda::scan::{Kind, Scanner, Token};
use crate::cuda::scope::{Meaning, Scopes};
use instances::FunctionTemplate;

/// How many tokens before a statement are looked at for the declaration of an output.
const MAX_LOOK_BACK: usize = 2000;

/// Deeper nesting than this is passed over token by token.
const MAX_DEPTH: u32 = 150;

/// Builds the file from its tokens.
pub(super) fn build<'s>(source: &'s str, mut prepared: Prepared<'s>) -> CudaFile {
    let tokens = std::mem::take(&mut prepared.tokens);
    let file = CudaFile {
        conditions: prepared.file.conditions.clone(),
        undefined: std::mem::take(&mut prepared.file.undefined),
        unexpanded: std::mem::take(&mut prepared.file.unexpanded),
        ..CudaFile::default()
    };
    let includes_project = prepared.headers.of_project;
    let others = prepared.end..prepared.others_end;
    let scopes = Scopes::new(tokens.len(), std::mem::take(&mut prepared.headers), others);
    let mut this = Builder {
        source,
        prepared,
        scopes,
        tokens,
        at: 0,
        file,
        scope: 0,
        function: None,
        region: None,
        in_macro: None,
        target: None,
        template: false,
        template_parameters: None,
        templates: Vec::new(),
        includes_project,
        others: HashMap::new(),
        depth: 0,
        next_unroll: 0,
        pending: Vec::new(),
    };
    this.items(Until::End);
    this.find_instances();
    this.macros();
    this.finish()
}

/// What ends a list of statements or declarations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Brace,
    Parenthesis,
}

struct Builder<'s> {
    source: &'s str,
    prepared: Prepared<'s>,
    tokens: Vec<Token>,
    at: usize,
    file: CudaFile,
    scopes: Scopes<'s>,
    scope: u32,
    function: Option<FunctionId>,
    region: Option<RegionId>,
    in_macro: Option<MacroId>,
    /// The condition that a macro such as `NV_IF_TARGET` puts on its arguments.
    target: Option<ConditionId>,
    /// Whether a class around is a template.
    template: bool,
    /// The parameters of the template that is being declared, where they are plain.
    template_parameters: Option<Vec<u32>>,
    /// Functions that are such templates.
    templates: Vec<FunctionTemplate>,
    /// Whether other files of the project are included.
    includes_project: bool,
    /// Where the macros of other files are in the file.
    others: HashMap<MacroId, OtherMacroId>,
    depth: u32,
    next_unroll: usize,
    /// Statements whose operands still need types, with their scope.
    pending: Vec<(AsmId, u32)>,
}

impl<'s> Builder<'s> {
    fn skip_ignored(&mut self) {
        while self.tokens.get(self.at).is_some_and(|token| token.ignored) {
            self.at += 1;
        }
    }

    fn token(&mut self) -> Option<Token> {
        self.skip_ignored();
        self.tokens.get(self.at).copied()
    }

    fn text(&mut self) -> &'s str {
        let source = self.source;
        match self.token() {
            Some(token) if matches!(token.kind, Kind::Identifier | Kind::Punctuator) => {
                token.span.text(source)
            }
            Some(_) | None => "",
        }
    }

    /// The text of the next token but `ahead`.
    fn text_ahead(&self, ahead: usize) -> &'s str {
        let mut rest = self.tokens.get(self.at..).unwrap_or(&[]).iter().filter(|token| !token.ignored);
        rest.nth(ahead).map_or("", |token| token.span.text(self.source))
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.text() == text;
        self.at += usize::from(found);
        found
    }

    fn offset(&self) -> u32 {
        self.tokens.get(self.at).map_or(self.source.len() as u32, |token| token.span.start)
    }

    fn last_end(&self) -> u32 {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.span.end)
    }

    /// Whether statements, not declarations, are here.
    const fn in_code(&self) -> bool {
        self.function.is_some() || self.in_macro.is_some()
    }

    fn reader<'r>(&'r self, tokens: &'r [Token]) -> Reader<'r, 's> {
        Reader { source: self.source, tokens, scopes: &self.scopes, scope: self.scope }
    }

    fn event(&mut self, kind: EventKind, span: Span) {
        if let (Some(function), Some(region)) = (self.function, self.region) {
            self.file.functions[function.index()].events.push(Event { kind, span, region });
        }
    }

    fn open_region(&mut self, kind: RegionKind) -> (Option<RegionId>, u32) {
        let before = (self.region, self.scope);
        self.scope = self.scopes.open(Some(self.scope), false);
        if self.function.is_some() {
            let start = self.offset();
            let id = RegionId(self.file.regions.len() as u32);
            self.file.regions.push(Region { kind, parent: self.region, span: Span::at(start) });
            self.event(EventKind::Enter(id), Span::at(start));
            self.region = Some(id);
        }
        before
    }

    fn close_region(&mut self, before: (Option<RegionId>, u32)) {
        if let Some(id) = self.region.filter(|_| self.function.is_some()) {
            let end = self.last_end();
            let region = &mut self.file.regions[id.index()];
            region.span.end = end.max(region.span.start);
            self.region = before.0;
            self.event(EventKind::Leave(id), Span::at(end));
        }
        (self.region, self.scope) = before;
    }

    /// Statements or declarations up to, and without, what ends them.
    fn items(&mut self, until: Until) {
        loop {
            let text = self.text();
            if self.at >= self.tokens.len() {
                return;
            }
            match (text, until) {
                ("}", Until::Brace | Until::Parenthesis) | (")", Until::Parenthesis) => return,
                ("}", Until::End) | (")", Until::End | Until::Brace) => self.at += 1,
                _ => self.item(),
            }
        }
    }

    fn item(&mut self) {
        let before = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.single();
        } else if self.in_code() {
            self.statement();
        } else {
            self.declaration();
        }
        self.depth -= 1;
        if self.at == before {
            self.at += 1;
        }
    }

    /// Passes one token, or an asm statement.
    fn single(&mut self) {
        if !self.asm(true) {
            self.at += 1;
        }
    }

    /// Reads the asm statement at the current token, if one begins there.
    fn asm(&mut self, starts: bool) -> bool {
        let Some(token) = self.token() else { return false };
        if self.prepared.keyword(self.source, token).is_none() {
            return false;
        }
        let keyword = self.at;
        let (next, mut inner) = self.asm_at(keyword, starts);
        self.at = next.max(keyword + 1);
        // A branch that one statement leaves out may hold another, and that one leaves out others. What is behind the
        // statement is come to later.
        let mut seen: HashSet<usize> = HashSet::from([keyword]);
        while let Some(other) = inner.pop() {
            if other < self.at && seen.insert(other) {
                inner.append(&mut self.asm_at(other, starts).1);
            }
        }
        true
    }

    /// Reads the statement at a keyword: the index after it, and the keywords in branches that it leaves out.
    fn asm_at(&mut self, keyword: usize, starts: bool) -> (usize, Vec<usize>) {
        let span = self.tokens[keyword].span;
        let (variants, next, inner) =
            match asm::read(self.source, &self.prepared, &self.tokens, keyword, starts) {
                Outcome::Statement { variants, next, inner } => (variants, next, inner),
                Outcome::Other(kind) => {
                    self.file.non_statements.push(NonStatement { kind, span });
                    return (keyword + 1, Vec::new());
                }
            };
        let used = self.use_at(keyword);
        let other = self.other_macro_at(span.start);
        for mut statement in variants {
            let id = AsmId(self.file.statements.len() as u32);
            statement.function = self.function;
            statement.region = self.region.filter(|_| self.function.is_some());
            statement.macro_definition = self.in_macro;
            if let Some(target) = self.target {
                statement.condition = target;
            }
            if let Some(definition) = self.in_macro {
                statement.condition = self.prepared.file.macros[definition.index()].condition;
                self.prepared.file.macros[definition.index()].statements.push(id);
            }
            if let Some((call, definition)) = used {
                let is_own = definition.index() < self.prepared.own_macros;
                (statement.used_at, statement.macro_definition) = (Some(call), is_own.then_some(definition));
            }
            statement.other_macro = other;
            self.note_unset(&mut statement, keyword);
            self.file.statements.push(statement);
            self.pending.push((id, self.scope));
            self.event(EventKind::Asm(id), span);
        }
        (next, inner)
    }

    /// The macro of another file that has made the keyword at a place.
    fn other_macro_at(&mut self, keyword: u32) -> Option<OtherMacroId> {
        let made = &self.prepared.keywords_of_others;
        let index = made.binary_search_by_key(&keyword, |(at, _)| *at).ok()?;
        let (_, definition) = made[index];
        let (source, next) = (self.source, OtherMacroId(self.file.other_macros.len() as u32));
        let id = *self.others.entry(definition).or_insert(next);
        if id == next {
            let name = self.prepared.file.macros[definition.index()].name.text(source).to_owned();
            self.file.other_macros.push(OtherMacro { name, file: String::new(), line: 0 });
        }
        Some(id)
    }

    /// Notes which outputs are variables that have no value yet: declared without one, and not named since. In a loop
    /// that the declaration is not in, an earlier turn may have given one.
    fn note_unset(&self, statement: &mut AsmStatement, keyword: usize) {
        if self.in_macro.is_some() || self.function.is_none() {
            return;
        }
        let at = self.tokens[keyword].span.start;
        for operand in &mut statement.outputs {
            let name = match operand.tokens.as_slice() {
                [name] => name,
                [name, after, ..] if after.is(self.source, "[") || after.is(self.source, ".") => name,
                _ => continue,
            };
            let text = name.span.text(self.source);
            let Some(since) = self.scopes.unset_since(self.scope, text, at) else { continue };
            let before = self.tokens[..keyword].iter().rev().take(MAX_LOOK_BACK);
            let mut named = before.filter(|token| token.span.text(self.source) == text);
            let only_declared = named.next().is_some_and(|token| token.span.start == since);
            operand.unset = only_declared && !self.is_in_loop_since(since);
        }
    }

    /// Whether a loop that began after `since` is around.
    fn is_in_loop_since(&self, since: u32) -> bool {
        let mut around = self.region;
        while let Some(region) = around.map(|id| self.file.regions[id.index()]) {
            let repeats = matches!(
                region.kind,
                RegionKind::For { .. } | RegionKind::While | RegionKind::DoWhile | RegionKind::Lambda
            );
            if repeats && region.span.start > since {
                return true;
            }
            around = region.parent;
        }
        false
    }

    /// The use of a macro that the token at `at` came from: the name there, and the macro.
    fn use_at(&self, at: usize) -> Option<(Span, MacroId)> {
        if self.in_macro.is_some() {
            return None;
        }
        let uses = &self.prepared.uses;
        let after = uses.partition_point(|found| found.tokens.start <= at);
        let found = uses.get(after.checked_sub(1)?).filter(|found| found.tokens.contains(&at))?;
        Some((found.call, found.definition))
    }

    /// Reads the bodies of all macros that hold a keyword.
    fn macros(&mut self) {
        let mut bodies = std::mem::take(&mut self.prepared.bodies).into_iter().peekable();
        for index in 0..self.prepared.own_macros {
            let body = self.prepared.file.macros[index].body;
            let tokens: Vec<Token> = match bodies.next_if(|(id, _)| id.index() == index) {
                Some((_, tokens)) => tokens,
                None => Scanner::line(self.source, body).collect(),
            };
            let keywords =
                tokens.iter().filter(|token| self.prepared.keyword(self.source, **token).is_some()).count();
            if keywords == 0 {
                continue;
            }
            if keywords == 1 && self.is_alias(&tokens) {
                let span = tokens[0].span;
                self.file.non_statements.push(NonStatement { kind: NonStatementKind::Alias, span });
                continue;
            }
            self.tokens = tokens;
            self.at = 0;
            self.scope = self.scopes.open(None, false);
            self.in_macro = Some(MacroId(index as u32));
            (self.function, self.region, self.target) = (None, None, None);
            self.declare_macro_parameters(index);
            self.items(Until::End);
        }
        self.in_macro = None;
    }

    fn declare_macro_parameters(&mut self, index: usize) {
        let names = self.prepared.file.macros[index].parameters.clone().unwrap_or_default();
        for name in names {
            let meaning = Meaning::Type(CType::Unknown);
            self.scopes.declare(self.scope, name.text(self.source), 0, meaning);
        }
    }

    fn is_alias(&self, tokens: &[Token]) -> bool {
        tokens.iter().all(|token| token.kind == Kind::Identifier)
    }

    /// Whether a macro stands for a number, or for a term of numbers.
    fn is_number(&self, definition: &Macro) -> bool {
        // More than a few dozen bytes are no term that is worth reading.
        let short = definition.parameters.is_none() && (1..=64).contains(&definition.body.len());
        let term = |token: Token| matches!(token.kind, Kind::Number | Kind::Punctuator);
        short && Scanner::line(self.source, definition.body).all(term)
    }

    /// Orders statements by their place and gives operands their types.
    fn finish(mut self) -> CudaFile {
        self.file.macros = std::mem::take(&mut self.prepared.file.macros);
        let numbers: Vec<bool> = self.file.macros.iter().map(|found| self.is_number(found)).collect();
        let (discarded, templates) = (self.discarded(), std::mem::take(&mut self.templates));
        for (id, scope) in std::mem::take(&mut self.pending) {
            let statement = &mut self.file.statements[id.index()];
            let function = statement.function.filter(|_| {
                statement.macro_definition.is_none() && !discarded.contains(statement.keyword.start)
            });
            for operand in statement.outputs.iter_mut().chain(&mut statement.inputs) {
                let tokens = std::mem::take(&mut operand.tokens);
                let (source, scopes) = (self.source, &self.scopes);
                operand.ctype = expression::type_of(source, scopes, scope, &tokens);
                if let (CType::Parameter(at), Some(function)) = (&operand.ctype, function) {
                    operand.instances = instances::of(&templates, function, *at);
                }
                operand.ctype.forget_parameters();
                let is_number = |name: &str| {
                    let definitions = self.prepared.by_name.of(name);
                    definitions.is_some_and(|mut ids| ids.all(|id| numbers[id.index()]))
                };
                operand.constant = expression::is_constant(source, scopes, scope, &tokens, is_number);
                operand.is_no_output =
                    expression::is_no_output(source, scopes, scope, &tokens, &operand.ctype);
                if let [name] = *tokens {
                    let (text, at) = (name.span.text(self.source), name.span.start);
                    operand.changes = self.scopes.changes(scope, text, at);
                }
            }
        }
        let mut sorted: Vec<_> = std::mem::take(&mut self.file.statements).into_iter().zip(0u32..).collect();
        sorted.sort_by_key(|(found, _)| (found.used_at, found.keyword.start, found.variant));
        let mut renamed = vec![0; sorted.len()];
        for (new, (_, old)) in (0u32..).zip(&sorted) {
            renamed[*old as usize] = new;
        }
        let rename = |id: &mut AsmId| id.0 = renamed[id.index()];
        self.file.statements = sorted.into_iter().map(|(statement, _)| statement).collect();
        number_those_of_others(&mut self.file.statements);
        for function in &mut self.file.functions {
            function.returns.forget_parameters();
            function.parameters.iter_mut().for_each(|parameter| parameter.ctype.forget_parameters());
            for event in &mut function.events {
                if let EventKind::Asm(id) = &mut event.kind {
                    rename(id);
                }
            }
        }
        self.file.macros.iter_mut().flat_map(|found| &mut found.statements).for_each(rename);
        self.file.macros.truncate(self.prepared.own_macros);
        self.file.non_statements.sort_by_key(|found| found.span);
        self.file
    }
}

/// Numbers the statements that macros of other files hold, for each use.
fn number_those_of_others(statements: &mut [AsmStatement]) {
    let mut before: Option<(Option<Span>, u32)> = None;
    let mut ordinal = 0;
    for statement in statements.iter_mut().filter(|statement| statement.other_macro.is_some()) {
        let (used_at, keyword) = (statement.used_at, statement.keyword.start);
        ordinal = match before {
            Some((use_before, keyword_before)) if use_before == used_at => {
                ordinal + u32::from(keyword_before != keyword)
            }
            _ => 0,
        };
        before = Some((used_at, keyword));
        statement.ordinal = ordinal;
    }
}
