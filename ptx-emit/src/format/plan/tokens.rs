//! The tokens of one statement.

use super::super::fill;
use super::super::spacing::{Context, Spacing};
use super::{Mark, Planner, Separator, capped};
use ptx_syntax::lexer::{Token, TokenKind};

/// How the tokens of a statement are laid out.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub context: Context,
    pub depth: u32,
    /// End of the opcode or directive whose operands a tab follows; 0 for none.
    pub word: u32,
    /// Start of the opcode, which a guard may precede.
    pub guarded: u32,
    /// End of the type of a declaration whose names are in a column; 0 for none.
    pub types: u32,
    pub breakable: bool,
}

impl Style {
    pub fn new(context: Context, depth: u32) -> Self {
        Self { context, depth, word: 0, guarded: 0, types: 0, breakable: true }
    }
}

impl Planner<'_> {
    /// Marks the tokens up to `end`: the first with `mark`, the others by their neighbours.
    pub(super) fn tokens_of(&mut self, end: u32, mark: Mark, style: Style) {
        let (from, at) = (self.marks.len(), self.at);
        let Some(first) = self.take(end) else { return };
        self.marks.push(mark);
        let depth = capped(style.depth + 1);
        let mut spacing = Spacing::new(style.context, first.kind);
        let mut previous = first;
        let mut column = usize::from(mark.depth) * self.metrics.tab + first.span.len() as usize;
        let (mut commas, mut lists, mut brackets) = (false, 0_u32, 0_u32);
        let (mut initializer, mut listed) = (false, false);
        while let Some(token) = self.take(end) {
            let spaced = spacing.step(token.kind);
            let separator = self.separator(style, previous, token, brackets).unwrap_or(spaced);
            let mut mark = Mark { separator, depth, comments: depth };
            // A vector is a list from its brace on, and no longer when it is closed.
            let vector = brackets == 0 && self.is_long_vector(style, token);
            listed |= vector;
            if initializer || vector || listed && lists > 0 {
                mark = list_mark(mark, previous.kind, token.kind, &mut lists, style.depth);
            }
            initializer |= style.context == Context::Declaration && token.kind == TokenKind::Equals;
            commas |= token.kind == TokenKind::Comma;
            brackets = nested(brackets, token.kind);
            column = self.metrics.after(column, separator) + token.span.len() as usize;
            self.marks.push(mark);
            previous = token;
        }
        if column > self.metrics.width && commas && style.breakable && !initializer && !listed {
            fill::fill(&self.tokens[at..self.at], &mut self.marks[from..], self.metrics);
        }
    }

    /// What is before `token`, where its place in the statement decides that.
    fn separator(&self, style: Style, previous: Token, token: Token, brackets: u32) -> Option<Separator> {
        let aligned = self.metrics.aligned;
        let instruction = style.context == Context::Instruction;
        if previous.span.end == style.word && token.kind != TokenKind::Semicolon {
            return Some(if aligned && !instruction { Separator::Space } else { Separator::Tab });
        }
        if previous.span.end == style.types {
            return Some(if aligned { Separator::Name } else { Separator::Tab });
        }
        if token.span.start < style.word && token.span.start >= style.guarded {
            let opcode = token.span.start == style.guarded;
            return Some(if aligned && opcode { Separator::Guard } else { Separator::Space });
        }
        let operand = aligned && instruction && brackets == 0 && previous.kind == TokenKind::Comma;
        operand.then_some(Separator::Operand)
    }

    /// Whether a vector begins at `token`, which is the last one taken, that fits on no line. It gets lines of its own,
    /// with the author's rows. Its tokens are looked at once, since it is outside of all brackets.
    fn is_long_vector(&self, style: Style, token: Token) -> bool {
        if !self.metrics.aligned
            || style.context != Context::Instruction
            || token.kind != TokenKind::OpenBrace
        {
            return false;
        }
        let room = self.metrics.width.saturating_sub((style.depth as usize + 1) * self.metrics.tab);
        let mut width = 0;
        let mut depth = 1_u32;
        for token in self.tokens[self.at..].iter().filter(|token| !token.kind.is_trivia()) {
            depth = nested(depth, token.kind);
            width += token.span.len() as usize + usize::from(token.kind == TokenKind::Comma);
            if depth == 0 || width > room {
                return depth > 0;
            }
        }
        false
    }
}

/// The depth of brackets after a token.
fn nested(depth: u32, token: TokenKind) -> u32 {
    match token {
        TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => depth + 1,
        TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => depth.saturating_sub(1),
        _ => depth,
    }
}

/// The mark of a token within an initialiser, where braces make lists.
fn list_mark(mark: Mark, previous: TokenKind, token: TokenKind, lists: &mut u32, depth: u32) -> Mark {
    let separator = match (previous, token) {
        (TokenKind::OpenBrace, TokenKind::CloseBrace) => {
            *lists = lists.saturating_sub(1);
            Separator::Glue
        }
        (TokenKind::OpenBrace, _) => Separator::ListFirst,
        (_, TokenKind::CloseBrace) => {
            *lists = lists.saturating_sub(1);
            Separator::ListClose
        }
        (TokenKind::Comma, _) if *lists > 0 => Separator::Row,
        _ => mark.separator,
    };
    let inner = capped(depth + *lists);
    if token == TokenKind::OpenBrace {
        *lists += 1;
    }
    match separator {
        Separator::ListClose => Mark { separator, depth: inner, comments: capped(depth + *lists + 1) },
        Separator::ListFirst | Separator::Row => Mark { separator, depth: inner, comments: inner },
        _ => Mark { separator, ..mark },
    }
}
