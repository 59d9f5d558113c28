//! Preprocessor lines: conditions, macros, and braces that branches of an `#if` share.
//!
//! Nothing is expanded and no branch is left out. Each token learns the condition under which it is compiled.
//! Where branches of a group open or close braces differently (two heads for one function body), only the first
//! such branch counts for the structure; the braces and parentheses of the others are marked as ignored.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use super::asm::Branches;
use super::by_name::ByName;
use super::condition::{Condition, ConditionKind, MacroValues, Truths};
use super::expand::Use;
use super::function::{self, Specifiers};
use super::headers::Headers;
use super::literal;
use super::model::{ConditionId, CudaFile, Macro, MacroId};
use super::scan::{Kind, Scanner, Token};
use crate::Span;

/// The words that begin an asm statement.
pub(super) const KEYWORDS: [&str; 3] = ["asm", "__asm__", "__asm"];

/// A macro that stands for the keyword, as in `#define ASM asm volatile`.
#[derive(Clone, Copy, Debug)]
struct Alias {
    volatile: bool,
    from: u32,
    to: u32,
}

/// A source file after its preprocessor lines are read.
pub(super) struct Prepared<'s> {
    /// All tokens except preprocessor lines; those of declarations of other files come first.
    pub tokens: Vec<Token>,
    /// Where the file ends: after it are declarations of other files.
    pub end: u32,
    /// Where these end.
    pub others_end: u32,
    /// How many macros are of the file itself; those of other files come after them.
    pub own_macros: usize,
    /// The file, with conditions and macros filled in.
    pub file: CudaFile,
    /// Macros by name.
    pub by_name: ByName<'s, MacroId>,
    /// For each macro the number that its name has in `by_name`.
    pub numbers: Vec<u32>,
    /// Which headers of CUDA are included where.
    pub headers: Headers,
    /// Where `#pragma unroll` lines end.
    pub unrolls: Vec<u32>,
    /// Uses of macros with asm statements among the tokens, in order.
    pub uses: Vec<Use>,
    /// Where keywords that macros of other files have made stand, in order, and the macros.
    pub keywords_of_others: Vec<(u32, MacroId)>,
    /// The bodies of such macros.
    pub bodies: Vec<(MacroId, Vec<Token>)>,
    /// Names of macros with parameters.
    pub called: HashSet<&'s str>,
    /// The groups of conditions.
    pub branches: Branches,
    /// What [`Prepared::truths`] has answered.
    truths: OnceCell<Truths>,
    /// Names of macros whose body may hold `volatile`.
    pub qualifiers: HashSet<&'s str>,
    /// Macros without parameters that stand for specifiers of functions alone, with all that their definitions say.
    pub specifiers: HashMap<&'s str, Specifiers>,
    /// In order of their definitions.
    aliases: HashMap<&'s str, Vec<Alias>>,
    /// What [`Prepared::pointer_macro`] has answered.
    pointers: RefCell<HashMap<String, Option<Vec<Token>>>>,
}

impl Prepared<'_> {
    /// What is known of the conditions whatever the target.
    pub fn truths(&self, source: &str) -> &Truths {
        self.truths.get_or_init(|| self.file.conditions_of(source).truths(&MacroValues::default()))
    }

    /// Whether `token` begins an asm statement, and whether its spelling makes it volatile.
    pub fn keyword(&self, source: &str, token: Token) -> Option<bool> {
        if token.kind != Kind::Identifier {
            return None;
        }
        self.keyword_text(token.span.text(source), token.span.start)
    }

    /// The same of a word at a place.
    pub fn keyword_text(&self, text: &str, at: u32) -> Option<bool> {
        // Whatever ends an alias ends those before it too.
        let before = |aliases: &Vec<Alias>| aliases.partition_point(|alias| alias.from <= at).checked_sub(1);
        let alias = self.aliases.get(text).and_then(|aliases| aliases.get(before(aliases)?));
        let alias = alias.filter(|alias| at < alias.to);
        alias.map(|alias| alias.volatile).or_else(|| KEYWORDS.contains(&text).then_some(false))
    }

    /// The string of a macro that branches of an `#if` define as `"l"` and as `"r"`, the constraints of a pointer: the
    /// one of 64-bit platforms, for PTX has no others any more. Macros with one definition are expanded before.
    pub fn pointer_macro(&self, source: &str, name: &str) -> Option<Vec<Token>> {
        let definitions = self.by_name.of(name)?;
        let known = self.pointers.borrow().get(name).cloned();
        known.unwrap_or_else(|| {
            let string = self.pointer_string(source, definitions);
            self.pointers.borrow_mut().insert(name.to_owned(), string.clone());
            string
        })
    }

    fn pointer_string(&self, source: &str, definitions: impl Iterator<Item = MacroId>) -> Option<Vec<Token>> {
        let mut pointer = None;
        let mut other = false;
        for id in definitions {
            let definition = &self.file.macros[id.index()];
            let tokens: Vec<Token> = Scanner::line(source, definition.body).collect();
            let is_string = |token: &Token| matches!(token.kind, Kind::Text | Kind::RawText);
            if definition.parameters.is_some() || !tokens.iter().all(is_string) {
                return None;
            }
            let text: String = tokens.iter().map(|token| literal::decoded(source, *token)).collect();
            match text.as_str() {
                "l" => pointer = pointer.or(Some(tokens)),
                "r" => other = true,
                _ => return None,
            }
        }
        pointer.filter(|_| other)
    }
}

/// Braces, brackets and parentheses of a stretch of tokens that have found no partner in it.
#[derive(Default)]
struct Unmatched {
    open: Vec<(usize, u8)>,
    stray: Vec<usize>,
}

/// How many tokens without partner are remembered for one branch: each nesting of `#if` passes them on.
const MAX_UNMATCHED: usize = 1000;

impl Unmatched {
    /// Takes the token at `index`, which is `byte`.
    fn take(&mut self, index: usize, byte: u8) {
        let partner = match byte {
            b'(' | b'[' | b'{' => {
                if self.open.len() < MAX_UNMATCHED {
                    self.open.push((index, byte));
                }
                return;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => return,
        };
        match self.open.last() {
            Some((_, last)) if *last == partner => {
                self.open.pop();
            }
            _ if self.stray.len() < MAX_UNMATCHED => self.stray.push(index),
            _ => {}
        }
    }

    /// The positions of the tokens, in order.
    fn positions(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.open.iter().map(|(index, _)| *index).collect();
        all.extend(&self.stray);
        all.sort_unstable();
        all
    }
}

/// An open `#if` group.
struct Group {
    parent: u32,
    branches: Vec<u32>,
    /// What each branch has opened or closed for others.
    unmatched: Vec<Unmatched>,
}

struct Preprocessor<'s> {
    source: &'s str,
    out: Prepared<'s>,
    groups: Vec<Group>,
    current: u32,
}

/// Reads the tokens and the preprocessor lines of a file.
pub(super) fn prepare(source: &str) -> Prepared<'_> {
    prepare_among(source, source.len() as u32)
}

/// The same of a file that ends at byte `end`, after which there are declarations of other files without conditions.
pub(super) fn prepare_among(source: &str, end: u32) -> Prepared<'_> {
    let whole = Condition {
        kind: ConditionKind::File,
        expression: Span::at(0),
        parent: None,
        previous: None,
        choices: 1,
    };
    let out = Prepared {
        tokens: Vec::with_capacity(source.len() / 5),
        end,
        others_end: source.len() as u32,
        own_macros: 0,
        file: CudaFile { conditions: vec![whole], ..CudaFile::default() },
        by_name: ByName::default(),
        numbers: Vec::new(),
        headers: Headers::default(),
        unrolls: Vec::new(),
        uses: Vec::new(),
        keywords_of_others: Vec::new(),
        bodies: Vec::new(),
        called: HashSet::new(),
        branches: Branches::default(),
        truths: OnceCell::new(),
        qualifiers: HashSet::new(),
        specifiers: HashMap::new(),
        aliases: HashMap::new(),
        pointers: RefCell::default(),
    };
    let mut this = Preprocessor { source, out, groups: Vec::new(), current: 0 };
    this.read(Span::new(0, end));
    while let Some(group) = this.groups.pop() {
        this.repair(&group);
    }
    this.out.own_macros = this.out.file.macros.len();
    if (end as usize) < source.len() {
        this.current = 0;
        let own = std::mem::take(&mut this.out.tokens);
        this.read(Span::new(end, source.len() as u32));
        this.out.tokens.extend(own);
    }
    let by_name = &this.out.by_name;
    this.out.headers.finish(|name| by_name.of(name).is_some());
    this.out.branches = Branches::new(&this.out.file.conditions);
    this.out
}

impl<'s> Preprocessor<'s> {
    /// Reads a part of the text.
    fn read(&mut self, part: Span) {
        for mut token in Scanner::part(self.source, part) {
            if token.kind == Kind::Directive {
                self.directive(token.span);
            } else {
                token.condition = self.current;
                self.match_token(self.out.tokens.len(), token);
                self.out.tokens.push(token);
            }
        }
    }

    /// From where on what stands at a byte holds: what other files declare is known in all of the file.
    const fn since(&self, at: u32) -> u32 {
        if at >= self.out.end { 0 } else { at }
    }

    fn directive(&mut self, span: Span) {
        let line = Span::new(span.start + 1, span.end);
        let mut tokens = Scanner::line(self.source, line);
        let Some(word) = tokens.next() else { return };
        let rest = Span::new(word.span.end, span.end);
        match word.span.text(self.source) {
            "if" => self.open(ConditionKind::If, rest),
            "ifdef" => self.open(ConditionKind::Defined, rest),
            "ifndef" => self.open(ConditionKind::Undefined, rest),
            "include" => {
                let at = self.since(span.start);
                self.out.headers.include(rest.text(self.source), at, self.groups.len());
            }
            "elif" => self.next_branch(ConditionKind::If, rest),
            "elifdef" => self.next_branch(ConditionKind::Defined, rest),
            "elifndef" => self.next_branch(ConditionKind::Undefined, rest),
            "else" => self.next_branch(ConditionKind::Else, Span::at(rest.start)),
            "endif" => self.close(span.start),
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
            group.unmatched.push(Unmatched::default());
        }
    }

    fn open(&mut self, kind: ConditionKind, expression: Span) {
        let parent = self.current;
        self.groups.push(Group { parent, branches: Vec::new(), unmatched: Vec::new() });
        self.condition(kind, expression, parent, None);
    }

    fn next_branch(&mut self, kind: ConditionKind, expression: Span) {
        let Some(group) = self.groups.last() else { return };
        self.out.headers.end_branch(expression.start, self.groups.len());
        let (parent, previous) = (group.parent, group.branches.last().copied());
        self.condition(kind, expression, parent, previous);
    }

    fn close(&mut self, at: u32) {
        self.out.headers.end_branch(at, self.groups.len());
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

    /// Notes a brace, bracket or parenthesis for the branch that is open.
    fn match_token(&mut self, index: usize, token: Token) {
        if let Some(branch) = self.groups.last_mut().and_then(|group| group.unmatched.last_mut())
            && token.kind == Kind::Punctuator
            && token.span.len() == 1
        {
            branch.take(index, self.source.as_bytes()[token.span.start as usize]);
        }
    }

    /// Lets only the first unbalanced branch of a group open or close braces.
    fn repair(&mut self, group: &Group) {
        let mut unbalanced =
            group.unmatched.iter().map(Unmatched::positions).filter(|positions| !positions.is_empty());
        let primary = unbalanced.next().unwrap_or_default();
        for index in unbalanced.flatten() {
            self.out.tokens[index].ignored = true;
        }
        // For the branch around, the group opens and closes what this branch does.
        for index in primary {
            self.match_token(index, self.out.tokens[index]);
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
        if called {
            self.out.called.insert(name.span.text(self.source));
        }
        let text = body.text(self.source);
        if text.contains("volatile") || text.contains('(') {
            self.out.qualifiers.insert(name.span.text(self.source));
        }
        if parameters.is_none()
            && let Some(specifiers) = function::specifiers_alone(self.source, body)
        {
            let name = name.span.text(self.source);
            let known = self.out.specifiers.entry(name).or_default();
            *known = known.or(specifiers);
        }
        let id = MacroId(self.out.file.macros.len() as u32);
        let number = self.out.by_name.push(name.span.text(self.source), id);
        self.out.numbers.push(number);
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
            let is_own = body.start < self.out.end;
            let alias = Alias { volatile, from: if is_own { body.end } else { 0 }, to: u32::MAX };
            let aliases = self.out.aliases.entry(name).or_default();
            let at = if is_own { aliases.len() } else { 0 };
            aliases.insert(at, alias);
        }
    }

    fn undefine(&mut self, name: Option<Token>) {
        let Some(name) = name else { return };
        let text = name.span.text(self.source);
        self.out.file.undefined.push((name.span, ConditionId(self.current)));
        let aliases = self.out.aliases.get_mut(text).into_iter().flatten();
        aliases.rev().take_while(|alias| alias.to == u32::MAX).for_each(|alias| alias.to = name.span.start);
    }
}
