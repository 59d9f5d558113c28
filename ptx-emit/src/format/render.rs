//! From tokens and a plan to text: line ends, blank lines, comments, lists.

mod beside;
mod kept;
mod lists;

use super::align::Cells;
use super::comment;
use super::metrics::{Metrics, after_tab};
use super::plan::{Mark, Plan, Separator};
use super::region::{self, Kept};
use super::sink::{Sink, Stop};
use beside::StatementRow;
use lists::Lists;
use ptx_syntax::Span;
use ptx_syntax::lexer::{Token, TokenKind};

/// Where comments after statements begin, as a column from 0.
const COMMENT_COLUMN: usize = 40;

const SPACES: &str = "                                        ";
const LF: &str = "\n\n\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
const CRLF: &str = "\r\n\r\n\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";

/// Lays a text out.
pub(super) fn to_string(source: &str, tokens: &[Token], plan: &Plan) -> String {
    if plan.metrics.aligned {
        let mut cells = Cells::new(plan.metrics.tab, source.len() + source.len() / 8 + 64);
        render(source, tokens, plan, &mut cells);
        return cells.aligned(source, line_end(source));
    }
    let mut text = String::with_capacity(source.len() + source.len() / 16 + 64);
    render(source, tokens, plan, &mut text);
    text
}

/// How the lines of the text laid out end.
fn line_end(source: &str) -> &'static str {
    if ends_with_crlf(source) { "\r\n" } else { "\n" }
}

/// Lays a text out into a sink. `tokens` are those of the text but for white space; `plan` is the plan of a text with
/// the same tokens.
pub(super) fn render<S: Sink>(source: &str, tokens: &[Token], plan: &Plan, sink: &mut S) {
    let mut renderer = Renderer {
        source,
        tokens,
        marks: &plan.marks,
        metrics: plan.metrics,
        kept: region::kept(source, tokens, plan),
        next_kept: 0,
        sink,
        at: 0,
        end: 0,
        mark: 0,
        gap: Gap::default(),
        previous: None,
        written: false,
        crlf: ends_with_crlf(source),
        lists: Lists::default(),
        row: StatementRow::default(),
    };
    renderer.run();
}

/// Whether each line of the text ends with `\r\n`, and there is a line end.
///
/// That is also true of the text made from it, and false of one made from another text, so the
/// decision is stable.
fn ends_with_crlf(source: &str) -> bool {
    let mut lines = source.split_inclusive('\n').filter(|line| line.ends_with('\n')).peekable();
    source.contains('\r') && lines.peek().is_some() && lines.all(|line| line.ends_with("\r\n"))
}

/// What was met since the last token.
#[derive(Default)]
struct Gap {
    /// What the mark of the coming token means here, once it was asked for.
    resolved: Option<Mark>,
    /// Whether a line end was written.
    broken: bool,
    /// Whether a comment was written.
    commented: bool,
    /// Whether the line at hand began with a comment.
    own_line: bool,
    /// Whether the last comment was a `//`, after which nothing fits on the line.
    open_comment: bool,
    /// Whether the gap is divided by a kept part, so that it is no longer between two items.
    divided: bool,
}

struct Renderer<'a, S> {
    source: &'a str,
    tokens: &'a [Token],
    marks: &'a [Mark],
    metrics: Metrics,
    kept: Vec<Kept>,
    next_kept: usize,
    sink: &'a mut S,
    /// Index of the token at hand, comments included.
    at: usize,
    /// Where the last token or comment ended, in the source.
    end: u32,
    /// Index of the mark of the next token that is not trivia.
    mark: usize,
    gap: Gap,
    previous: Option<TokenKind>,
    /// Whether anything was written.
    written: bool,
    crlf: bool,
    lists: Lists,
    row: StatementRow,
}

/// Whether a token with this mark may be after a comment on one line.
fn may_share_line(mark: Mark) -> bool {
    let begins =
        matches!(mark.separator, Separator::Line | Separator::Beside | Separator::First | Separator::Apart);
    begins && mark.depth == mark.comments
}

const END: Mark = Mark { separator: Separator::Line, depth: 0, comments: 0 };

impl<S: Sink> Renderer<'_, S> {
    fn run(&mut self) {
        while let Some(&token) = self.tokens.get(self.at) {
            match token.kind {
                TokenKind::LineComment | TokenKind::BlockComment => {
                    if self.comment(token) {
                        return;
                    }
                }
                _ => self.token(token),
            }
            self.at += 1;
            if self.sink.is_done() {
                return;
            }
        }
        if self.written {
            let line_end = self.line_end();
            self.sink.end(line_end);
        }
    }

    fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// Ends the line, with a blank line after it where wanted, and begins the next one.
    #[inline]
    fn new_line(&mut self, blank: bool, depth: u8) {
        let depth = usize::from(depth);
        let text = match (self.crlf, blank) {
            (false, false) => &LF[1..2 + depth],
            (false, true) => &LF[..2 + depth],
            (true, false) => &CRLF[2..4 + depth],
            (true, true) => &CRLF[..4 + depth],
        };
        self.sink.line(text, blank, depth);
        self.lists.column = depth * self.metrics.tab;
    }

    /// How many lines end in the white space before the token at hand, 2 standing for more.
    fn line_ends(&self) -> usize {
        self.line_ends_between(self.end, self.tokens.get(self.at))
    }

    /// How many lines end from `end` to a token, or to the end of the text, 2 standing for more.
    fn line_ends_between(&self, end: u32, next: Option<&Token>) -> usize {
        let start = next.map_or(self.source.len() as u32, |token| token.span.start);
        let white = Span::new(end, start).text(self.source);
        white.bytes().filter(|&byte| byte == b'\n').take(2).count()
    }

    /// How many lines end after the token at `index`, 2 standing for more.
    fn line_ends_behind(&self, index: usize) -> usize {
        self.tokens
            .get(index)
            .map_or(0, |token| self.line_ends_between(token.span.end, self.tokens.get(index + 1)))
    }

    #[inline(always)]
    fn token(&mut self, token: Token) {
        if let Some(&Kept::Node { first, end }) = self.kept.get(self.next_kept)
            && first == self.at
        {
            self.next_kept += 1;
            self.keep_node(token, end);
            return;
        }
        let mark = self.resolve();
        if self.gap.commented {
            self.behind_comment(token, mark);
        } else {
            self.separate(mark, token.span.start);
        }
        self.sink.copy(self.source, token.span);
        self.end = token.span.end;
        if self.lists.broken > 0 {
            self.lists.column += token.span.len() as usize;
        }
        self.mark += 1;
        self.previous = Some(token.kind);
        self.gap = Gap::default();
        self.written = true;
    }

    /// What separates two tokens that have no comment between them.
    #[inline(always)]
    fn separate(&mut self, mark: Mark, next: u32) {
        match mark.separator {
            Separator::Glue => {}
            Separator::Space => {
                self.sink.push(" ");
                self.lists.column += 1;
            }
            Separator::Tab => self.sink.stop(Stop::Operands, next),
            Separator::Guard => self.sink.stop(Stop::Mnemonic, next),
            Separator::Operand => self.sink.stop(Stop::Operand, next),
            Separator::Name => self.sink.stop(Stop::Name, next),
            Separator::Element => {
                self.sink.stop(Stop::Element, next);
                self.lists.column += 1;
            }
            Separator::Line => {
                let blank = self.line_ends() > 1;
                self.break_line(blank, mark.depth);
            }
            Separator::Beside => self.beside(mark.depth, next),
            Separator::Apart => self.break_line(true, mark.depth),
            _ => self.break_line(false, mark.depth),
        }
    }

    /// Ends the line, unless nothing was written yet.
    #[inline]
    fn break_line(&mut self, blank: bool, depth: u8) {
        if self.written {
            self.new_line(blank, depth);
            self.begin_row(depth);
        }
    }

    /// What separates a comment from the token after it.
    fn behind_comment(&mut self, token: Token, mark: Mark) {
        let closes = matches!(
            token.kind,
            TokenKind::Comma
                | TokenKind::Semicolon
                | TokenKind::Colon
                | TokenKind::CloseParen
                | TokenKind::CloseBracket
                | TokenKind::CloseBrace
        );
        match mark.separator {
            separator if separator.is_inline() => {
                if self.gap.open_comment {
                    self.new_line(false, mark.depth);
                } else if mark.separator != Separator::Glue || !closes {
                    self.sink.push(" ");
                    self.lists.column += 1;
                }
            }
            _ if self.gap.own_line
                && !self.gap.open_comment
                && self.line_ends() == 0
                && may_share_line(mark) =>
            {
                self.sink.push(" ");
                self.lists.column += 1;
            }
            _ => {
                let blank = self.blank_before(mark.separator);
                self.break_line(blank && mark.separator != Separator::Last, mark.depth);
            }
        }
    }

    /// Whether a blank line is at this line end.
    fn blank_before(&self, separator: Separator) -> bool {
        let first = !self.gap.broken;
        match separator {
            Separator::Tight => false,
            Separator::First if first => false,
            Separator::Apart if first && !self.gap.divided => {
                self.line_ends() > 1 || !self.blank_line_ahead()
            }
            _ => self.line_ends() > 1,
        }
    }

    /// Whether the author left a blank line further on in this gap.
    fn blank_line_ahead(&self) -> bool {
        let comments = self.tokens.iter().skip(self.at).take_while(|token| token.kind.is_comment()).count();
        (self.at..self.at + comments).any(|index| self.line_ends_behind(index) > 1)
    }

    /// Writes a comment. Gives true where the rest of the text was copied.
    fn comment(&mut self, token: Token) -> bool {
        let mark = self.resolve();
        let depth = self.before_comment(token, mark);
        let line_end = self.line_end();
        let off = matches!(self.kept.get(self.next_kept), Some(&Kept::Between { off, .. }) if off == self.at);
        if off {
            self.sink.copy(self.source, token.span);
        } else {
            comment::write(self.sink, token.text(self.source), depth, line_end);
        }
        self.written = true;
        self.end = token.span.end;
        self.gap.commented = true;
        self.gap.open_comment = token.kind == TokenKind::LineComment;
        if self.lists.broken > 0 {
            self.lists.column = self.column();
        }
        off && self.keep_between(token)
    }

    /// What separates a comment from what is before it. Gives the indentation of a comment that has
    /// its own lines.
    fn before_comment(&mut self, token: Token, mark: Mark) -> Option<u8> {
        let lines = !mark.separator.is_inline();
        let own_line = !self.written || self.line_ends() > 0 || self.leads(token, mark);
        if own_line && (lines || token.kind == TokenKind::LineComment || self.gap.open_comment) {
            let depth = if lines && self.stays_left(token) { 0 } else { mark.comments };
            let blank = lines && self.blank_before(mark.separator);
            self.break_line(blank, depth);
            self.gap.broken = true;
            self.gap.own_line = true;
            return Some(depth);
        }
        let opened = matches!(
            self.previous,
            Some(TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace)
        );
        if lines && !self.gap.commented {
            self.pad(token.span.start);
        } else if self.gap.commented || !opened {
            self.sink.push(" ");
        }
        None
    }

    /// Whether a comment that shares a line with what is before it belongs to what is after it.
    fn leads(&self, token: Token, mark: Mark) -> bool {
        token.kind == TokenKind::BlockComment
            && !self.gap.commented
            && may_share_line(mark)
            && !self.line_end_ahead()
    }

    /// Whether a comment begins its line and nothing but comments is on it.
    fn stays_left(&self, token: Token) -> bool {
        let before = self.source.as_bytes().get((token.span.start as usize).wrapping_sub(1));
        let left = matches!(before, None | Some(b'\n'));
        let alone = self.at + 1 == self.tokens.len() || self.line_ends_behind(self.at) > 0;
        left && (token.kind == TokenKind::LineComment || alone)
    }

    /// Goes to the column of comments.
    fn pad(&mut self, next: u32) {
        let brace = matches!(
            self.previous,
            Some(TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::OpenParen)
        );
        if self.metrics.aligned && !brace {
            self.sink.stop(Stop::Comment, next);
            return;
        }
        let column = if brace { COMMENT_COLUMN } else { self.column() };
        let spaces = COMMENT_COLUMN.saturating_sub(column).max(1);
        self.sink.push(&SPACES[..spaces]);
    }

    /// The column at the end of what was written.
    fn column(&self) -> usize {
        let taken = self.sink.taken(self.source);
        let line = taken.rfind('\n').map_or(taken, |at| &taken[at + 1..]);
        line.chars()
            .fold(0, |column, character| if character == '\t' { after_tab(column) } else { column + 1 })
    }

    /// Whether a line ends before the next token that is not trivia.
    fn line_end_ahead(&self) -> bool {
        if self.line_ends() > 0 {
            return true;
        }
        for (index, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.kind {
                TokenKind::LineComment => return true,
                TokenKind::BlockComment if self.line_ends_behind(index) > 0 => return true,
                TokenKind::BlockComment => {}
                _ => return false,
            }
        }
        true
    }
}
