//! What is between two neighbouring tokens of one statement: nothing, or a space.
//!
//! The state is a few flags, moved from token to token; nothing here looks at the text. Where two tokens
//! would grow together without a space (`%` and a name, two words), there is one.

use super::plan::Separator;
use ptx_syntax::lexer::TokenKind;

/// What kind of statement the tokens belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// An instruction.
    Instruction,
    /// A declaration; `a<4>` is a range of registers there.
    Declaration,
    /// A signature of a `.callprototype`, where names are apart from their parentheses.
    Prototype,
    /// A directive with expressions.
    Directive,
    /// `.loc`, section data: no spaces around operators.
    Dense,
}

/// The state between two tokens.
pub(super) struct Spacing {
    context: Context,
    previous: TokenKind,
    /// The token before `previous`.
    before: TokenKind,
    /// Whether `previous` is an operator that has no left operand.
    prefix: bool,
    /// Whether `previous` ends an operand, so that an operator after it has a left operand.
    operand: bool,
    square: u32,
    questions: u32,
    /// Whether the `=` of a declaration was seen.
    initializer: bool,
    range: bool,
}

impl Spacing {
    /// Begins with the token `first`.
    pub fn new(context: Context, first: TokenKind) -> Self {
        let mut spacing = Self {
            context,
            previous: TokenKind::Whitespace,
            before: TokenKind::Whitespace,
            prefix: false,
            operand: false,
            square: 0,
            questions: 0,
            initializer: false,
            range: false,
        };
        spacing.accept(first);
        spacing
    }

    /// Moves on to `next` and says what is before it.
    #[inline]
    pub fn step(&mut self, next: TokenKind) -> Separator {
        let separator = if self.before_next(next) { Separator::Space } else { Separator::Glue };
        self.accept(next);
        separator
    }

    /// Whether operators are written without spaces.
    fn dense(&self) -> bool {
        self.square > 0 || self.range || self.context == Context::Dense
    }

    #[inline]
    fn before_next(&mut self, next: TokenKind) -> bool {
        use TokenKind as T;
        match next {
            T::Comma | T::Semicolon | T::CloseParen | T::CloseBracket | T::CloseBrace => false,
            T::Colon => self.questions > 0,
            T::Question | T::Equals => true,
            T::OpenParen if is_word(self.previous) => self.space_before_paren(),
            T::OpenBracket if is_word(self.previous) => false,
            T::OpenBracket if self.previous == T::CloseBracket => false,
            T::Less | T::Greater if self.is_range_bracket(next) => false,
            _ if is_operator(next) && self.operand => self.space_around(next),
            _ => self.after_previous(next),
        }
    }

    fn space_before_paren(&self) -> bool {
        matches!(self.previous, TokenKind::Func | TokenKind::CallPrototype)
            || self.context == Context::Prototype
    }

    fn is_range_bracket(&self, next: TokenKind) -> bool {
        self.context == Context::Declaration
            && !self.initializer
            && self.square == 0
            && (next == TokenKind::Less) != self.range
    }

    /// Whether the operator with two operands has spaces around it.
    fn space_around(&self, operator: TokenKind) -> bool {
        let pair = operator == TokenKind::Or && self.context == Context::Instruction;
        // A name right after `%` would become a register.
        operator == TokenKind::Percent || !(pair || self.dense())
    }

    fn after_previous(&self, next: TokenKind) -> bool {
        use TokenKind as T;
        match self.previous {
            T::OpenParen | T::OpenBracket | T::OpenBrace | T::At => false,
            T::CloseBracket => !next.is_dot_word(),
            T::Less if self.range => false,
            operator if is_operator(operator) && !self.operand => !self.prefix && self.space_around(operator),
            _ => true,
        }
    }

    #[inline]
    fn accept(&mut self, token: TokenKind) {
        use TokenKind as T;
        let mut operand = is_word(token);
        self.prefix = false;
        match token {
            T::OpenBracket => self.square += 1,
            T::CloseBracket => {
                self.square = self.square.saturating_sub(1);
                operand = true;
            }
            // What follows `(.s64)` is an operand, and a sign there has nothing to its left.
            T::CloseParen => operand = !(self.previous.is_dot_word() && self.before == T::OpenParen),
            T::CloseBrace => operand = true,
            T::Equals => self.initializer = true,
            T::Question => self.questions += 1,
            T::Colon => self.questions = self.questions.saturating_sub(1),
            T::Less if self.is_range_bracket(token) => self.range = true,
            T::Greater if self.range => (self.range, operand) = (false, true),
            _ if is_operator(token) => self.prefix = !self.operand,
            _ => {}
        }
        self.operand = operand;
        self.before = self.previous;
        self.previous = token;
    }
}

/// Whether two such tokens in a row need white space between them.
#[inline]
fn is_word(kind: TokenKind) -> bool {
    use TokenKind as T;
    kind.is_dot_word() || matches!(kind, T::Name | T::Dotted | T::Integer | T::Float | T::String)
}

#[inline]
fn is_operator(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::Not
            | T::Tilde
            | T::Plus
            | T::Minus
            | T::Star
            | T::Slash
            | T::Percent
            | T::And
            | T::Or
            | T::Caret
            | T::Less
            | T::Greater
            | T::ShiftLeft
            | T::ShiftRight
            | T::LessEqual
            | T::GreaterEqual
            | T::EqualEqual
            | T::NotEqual
            | T::AndAnd
            | T::OrOr
    )
}
