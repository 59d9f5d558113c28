//! Reading one asm statement from its tokens.

mod choice;
mod sections;

use std::collections::{HashMap, HashSet};

pub(super) use choice::Branches;
use choice::{Choice, Possible};

use super::host::Host;
use super::literal;
use super::model::{AsmStatement, ConditionId, NonStatementKind, Oddity, OddityKind};
use super::preprocess::Prepared;
use super::scan::{Kind, Token};
use super::spelling;
use super::template::Template;
use crate::Span;

/// What is at a keyword.
pub(super) enum Outcome {
    /// A statement, in each of its variants.
    Statement {
        /// One statement for each choice of `#if` branches inside it.
        variants: Vec<AsmStatement>,
        /// The token after it.
        next: usize,
        /// Keywords of other statements in branches that this one does not take.
        inner: Vec<usize>,
    },
    /// Something else.
    Other(NonStatementKind),
}

/// The most choices of the branches of `#if` lines inside a statement that are read.
pub const MAX_VARIANTS: u32 = 8;

/// Reads the statement whose keyword is the token at `at`. `starts` says that a statement may begin here.
pub(super) fn read(
    source: &str,
    prepared: &Prepared<'_>,
    tokens: &[Token],
    at: usize,
    starts: bool,
) -> Outcome {
    let mut reader = Reader { source, prepared, home: tokens[at].span };
    let before = at.checked_sub(1).map_or("", |before| tokens[before].span.text(source));
    if matches!(before, "." | "->" | "::") {
        return Outcome::Other(NonStatementKind::Name);
    }
    let Some(head) = reader.head(tokens, at) else {
        return Outcome::Other(reader.other(tokens, at));
    };
    let possible = Possible::default();
    let base = Choice { source, prepared, possible: &possible, base: tokens[at].condition, variant: 0 };
    let choices = reader.choices(tokens, &head, &base);
    let mut variants = Vec::new();
    let mut next = head.open + 1;
    let mut inner = Vec::new();
    for variant in 0..choices.min(MAX_VARIANTS) {
        let choice = Choice { variant, ..base };
        let taken = reader.take(tokens, head.open, &choice);
        reader.set_home(tokens[at], &taken);
        if variant == 0 {
            inner = taken
                .left_out
                .into_iter()
                .filter(|i| prepared.keyword(source, tokens[*i]).is_some())
                .collect();
        }
        if !starts && !head.qualified && reader.is_symbol_name(&taken.inside) {
            return Outcome::Other(NonStatementKind::SymbolName);
        }
        next = next.max(taken.next);
        let statement = reader.statement(tokens[at], &head, &taken.inside, taken.close, variant);
        variants.push(AsmStatement { choices, branches: taken.branches, ..statement });
    }
    Outcome::Statement { variants, next, inner }
}

/// The keyword with its qualifiers.
struct Head {
    volatile: bool,
    goto: bool,
    repeated: Option<Span>,
    qualified: bool,
    after_qualifiers: u32,
    /// The opening parenthesis.
    open: usize,
}

/// The tokens of one variant of a statement.
#[derive(Default)]
struct Taken {
    /// Those between the parentheses.
    inside: Vec<Token>,
    /// The closing parenthesis; none if there is none.
    close: Option<Token>,
    /// The token after the statement.
    next: usize,
    /// Tokens in its range that belong to other branches.
    left_out: Vec<usize>,
    /// The conditions in its range, and whether it takes them.
    branches: Vec<(ConditionId, bool)>,
}

struct Reader<'r, 's> {
    source: &'s str,
    prepared: &'r Prepared<'s>,
    /// From the keyword to the closing parenthesis; what is elsewhere came from a macro.
    home: Span,
}

impl Reader<'_, '_> {
    fn set_home(&mut self, keyword: Token, taken: &Taken) {
        let last = taken.close.or(taken.inside.last().copied()).map_or(keyword.span, |token| token.span);
        self.home = if keyword.span.start <= last.start { keyword.span.to(last) } else { keyword.span };
    }

    fn is_home(&self, span: Span) -> bool {
        self.home.start <= span.start && span.end <= self.home.end
    }

    /// From one token to another, if no macro is between; else the one that is in the statement.
    fn cover(&self, first: Span, last: Span) -> Span {
        match (self.is_home(first), self.is_home(last)) {
            (true, true) => first.to(last),
            (false, true) => last,
            (true, false) => first,
            (false, false) if first.start <= last.start && last.start - first.end.min(last.start) < 400 => {
                first.to(last)
            }
            (false, false) => first,
        }
    }

    fn text(&self, token: Token) -> &str {
        token.span.text(self.source)
    }

    fn head(&self, tokens: &[Token], at: usize) -> Option<Head> {
        let keyword = tokens[at];
        let mut head = Head {
            volatile: self.prepared.keyword(self.source, keyword)?,
            goto: false,
            repeated: None,
            qualified: false,
            after_qualifiers: self.behind(keyword.span.end),
            open: at + 1,
        };
        let mut seen_volatile = false;
        loop {
            let token = *tokens.get(head.open)?;
            match self.text(token) {
                "volatile" | "__volatile__" | "__volatile" => {
                    if seen_volatile {
                        head.repeated = Some(token.span);
                    }
                    seen_volatile = true;
                    head.volatile = true;
                }
                "goto" => head.goto = true,
                "inline" | "__inline__" | "__inline" => {}
                "(" => return Some(head),
                word if token.kind == Kind::Identifier && self.is_qualifier(tokens, head.open) => {
                    // A macro; where it is not known, that the statement is volatile cannot be excluded.
                    head.volatile |= self.qualifies(word);
                }
                _ => return None,
            }
            head.qualified = true;
            head.after_qualifiers = self.behind(token.span.end);
            head.open += 1;
        }
    }

    /// The place after a word: line continuations that broke it are there now.
    fn behind(&self, end: u32) -> u32 {
        let rest = self.source.as_bytes().get(end as usize..).unwrap_or(&[]);
        end + spelling::continuations(rest) as u32
    }

    /// Whether the name at `at` stands for a qualifier: a string follows its parenthesis.
    fn is_qualifier(&self, tokens: &[Token], at: usize) -> bool {
        let is_text = |token: &Token| matches!(token.kind, Kind::Text | Kind::RawText);
        tokens.get(at + 1).is_some_and(|next| next.is(self.source, "("))
            && tokens.get(at + 2).is_some_and(is_text)
    }

    /// Whether a macro may stand for `volatile`.
    fn qualifies(&self, name: &str) -> bool {
        self.prepared.by_name.number(name).is_none() || self.prepared.qualifiers.contains(name)
    }

    fn other(&self, tokens: &[Token], at: usize) -> NonStatementKind {
        let microsoft =
            tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Identifier || next.is(self.source, "{"));
        let spelled = self.text(tokens[at]).starts_with("__asm");
        if spelled && microsoft { NonStatementKind::Microsoft } else { NonStatementKind::Name }
    }

    /// How many variants the conditions inside the statement make.
    fn choices(&self, tokens: &[Token], head: &Head, base: &Choice<'_, '_>) -> u32 {
        let taken = self.take(tokens, head.open, base);
        let mut known = HashSet::new();
        let mut most = 1;
        for token in &tokens[head.open..taken.next.min(tokens.len())] {
            if token.condition != base.base {
                most = most.max(base.choices(token.condition, &mut known));
            }
        }
        most
    }

    fn take(&self, tokens: &[Token], open: usize, choice: &Choice<'_, '_>) -> Taken {
        let mut known = HashMap::new();
        let mut taken = self.between(tokens, open, choice, &mut known);
        taken.branches =
            known.into_iter().map(|(condition, taken)| (ConditionId(condition), taken)).collect();
        taken.branches.sort_unstable();
        taken
    }

    /// The tokens of a statement from its parenthesis on; `known` gets the conditions that are met.
    fn between(
        &self,
        tokens: &[Token],
        open: usize,
        choice: &Choice<'_, '_>,
        known: &mut HashMap<u32, bool>,
    ) -> Taken {
        let mut taken = Taken { next: open + 1, ..Taken::default() };
        let (mut parentheses, mut braces) = (0i32, 0i32);
        let mut index = open;
        while index < tokens.len() {
            let token = tokens[index];
            if token.condition != choice.base && !choice.takes(token.condition, known) {
                taken.left_out.push(index);
                index += 1;
                continue;
            }
            if token.kind == Kind::Punctuator {
                match self.text(token) {
                    "(" => parentheses += 1,
                    ")" => parentheses -= 1,
                    "{" => braces += 1,
                    "}" => braces -= 1,
                    _ => {}
                }
            }
            if parentheses == 0 {
                taken.close = Some(token);
                taken.next = index + 1;
                return taken;
            }
            // Another statement begins: this one has no end.
            if braces < 0 || (braces == 0 && index > open && self.begins(tokens, index)) {
                break;
            }
            if index > open {
                taken.inside.push(token);
            }
            index += 1;
        }
        let end = taken.inside.iter().position(|token| token.is(self.source, ";"));
        taken.inside.truncate(end.unwrap_or(taken.inside.len()));
        taken
    }

    /// Whether the token at `at` is a keyword with what must follow it.
    fn begins(&self, tokens: &[Token], at: usize) -> bool {
        self.prepared.keyword(self.source, tokens[at]).is_some()
            && tokens.get(at + 1).is_some_and(|next| {
                let word = self.text(*next);
                next.is(self.source, "(") || matches!(word, "volatile" | "__volatile__" | "goto")
            })
    }

    /// Whether the parentheses hold a name for the assembler, as in `int f() asm("name");`.
    fn is_symbol_name(&self, inside: &[Token]) -> bool {
        let is_string = |token: &Token| matches!(token.kind, Kind::Text | Kind::RawText);
        let text: String = inside.iter().map(|token| literal::decoded(self.source, *token)).collect();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@' | '?');
        !inside.is_empty() && inside.iter().all(is_string) && !text.is_empty() && text.chars().all(is_part)
    }

    fn statement(
        &self,
        keyword: Token,
        head: &Head,
        inside: &[Token],
        close: Option<Token>,
        variant: u32,
    ) -> AsmStatement {
        let mut statement = AsmStatement {
            host: Host::Cuda,
            host_problems: Vec::new(),
            span: Span::new(keyword.span.start, self.home.end.max(head.after_qualifiers)),
            keyword: keyword.span,
            volatile: head.volatile,
            goto: head.goto,
            after_qualifiers: head.after_qualifiers,
            template: Template::default(),
            outputs: Vec::new(),
            inputs: Vec::new(),
            clobbers: Vec::new(),
            labels: Vec::new(),
            colons: 0,
            complete: true,
            oddities: Vec::new(),
            condition: ConditionId(keyword.condition),
            branches: Vec::new(),
            variant,
            choices: 1,
            function: None,
            region: None,
            macro_definition: None,
            used_at: None,
            other_macro: None,
            ordinal: 0,
        };
        if let Some(span) = head.repeated {
            statement.oddities.push(Oddity { kind: OddityKind::RepeatedQualifier, span });
        }
        if close.is_none() {
            statement.oddities.push(Oddity { kind: OddityKind::Unterminated, span: keyword.span });
        }
        self.sections(inside, &mut statement);
        if statement.template.pieces.is_empty() {
            statement.oddities.push(Oddity { kind: OddityKind::MissingTemplate, span: statement.span });
        }
        // A file may hold millions of statements, most of them with an operand or two.
        statement.template.shrink();
        statement.outputs.shrink_to_fit();
        statement.inputs.shrink_to_fit();
        statement
    }
}
