//! Reading one asm statement from its tokens.

use super::condition::Condition;
use super::ctype::CType;
use super::literal;
use super::model::{
    AsmStatement, Clobber, ConditionId, Constraint, NonStatementKind, Oddity, OddityKind, Operand,
};
use super::preprocess::Prepared;
use super::scan::{Kind, Token};
use super::spelling;
use super::template::{Piece, PieceKind, Template, WILDCARD};
use crate::Span;

/// What stands at a keyword.
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

/// The most variants of one statement that are looked at.
const MOST_VARIANTS: u32 = 8;

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
    let base = Choice::new(prepared, tokens[at].condition);
    let choices = reader.choices(tokens, &head, &base);
    let mut variants = Vec::new();
    let mut next = head.open + 1;
    let mut inner = Vec::new();
    for variant in 0..choices {
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
        variants.push(reader.statement(tokens[at], &head, &taken.inside, taken.close, variant));
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

/// Which branches of `#if` groups a statement is read with.
#[derive(Clone, Copy)]
struct Choice<'p> {
    conditions: &'p [Condition],
    /// The condition at the keyword.
    base: u32,
    variant: u32,
}

impl<'p> Choice<'p> {
    fn new(prepared: &'p Prepared<'_>, base: u32) -> Self {
        Self { conditions: &prepared.file.conditions, base, variant: 0 }
    }

    /// The first branch of the group of `condition`, and the position of `condition` in the group.
    fn place(&self, condition: u32) -> (u32, u32) {
        let (mut first, mut branch) = (condition, 0);
        while let Some(previous) = self.conditions[first as usize].previous {
            first = previous.0;
            branch += 1;
        }
        (first, branch)
    }

    /// The branch that the keyword's own conditions take in the group that begins with `first`.
    fn of_base(&self, first: u32) -> Option<u32> {
        let mut around = Some(self.base);
        while let Some(condition) = around {
            let (group, branch) = self.place(condition);
            if group == first {
                return Some(branch);
            }
            around = self.conditions[condition as usize].parent.map(|parent| parent.0);
        }
        None
    }

    /// Whether a token under `condition` belongs to this variant.
    fn takes(&self, condition: u32) -> bool {
        let mut around = Some(condition);
        while let Some(condition) = around {
            if condition == self.base {
                return true;
            }
            let (first, branch) = self.place(condition);
            let choices = self.conditions[condition as usize].choices;
            let wanted = self.of_base(first).unwrap_or_else(|| self.variant.min(choices.saturating_sub(1)));
            if branch != wanted {
                return false;
            }
            around = self.conditions[condition as usize].parent.map(|parent| parent.0);
        }
        true
    }
}

/// The tokens of one variant of a statement.
struct Taken {
    /// Those between the parentheses.
    inside: Vec<Token>,
    /// The closing parenthesis; none if there is none.
    close: Option<Token>,
    /// The token after the statement.
    next: usize,
    /// Tokens in its range that belong to other branches.
    left_out: Vec<usize>,
}

struct Reader<'r, 's> {
    source: &'s str,
    prepared: &'r Prepared<'s>,
    /// From the keyword to the closing parenthesis; what stands elsewhere came from a macro.
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

    /// From one token to another, if no macro stands between; else the one that stands in the statement.
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

    /// The place behind a word: line continuations that broke it stand there now.
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
        let Some(definitions) = self.prepared.by_name.get(name) else { return true };
        definitions.iter().any(|id| {
            let body = self.prepared.file.macros[id.index()].body.text(self.source);
            body.contains("volatile") || body.contains('(')
        })
    }

    fn other(&self, tokens: &[Token], at: usize) -> NonStatementKind {
        let microsoft =
            tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Identifier || next.is(self.source, "{"));
        let spelled = self.text(tokens[at]).starts_with("__asm");
        if spelled && microsoft { NonStatementKind::Microsoft } else { NonStatementKind::Name }
    }

    /// How many variants the conditions inside the statement make.
    fn choices(&self, tokens: &[Token], head: &Head, base: &Choice<'_>) -> u32 {
        let taken = self.take(tokens, head.open, base);
        let mut most = 1;
        for token in &tokens[head.open..taken.next.min(tokens.len())] {
            let mut around = Some(token.condition);
            while let Some(condition) = around.filter(|condition| *condition != base.base) {
                let (first, _) = base.place(condition);
                if base.of_base(first).is_none() {
                    most = most.max(base.conditions[condition as usize].choices);
                }
                around = base.conditions[condition as usize].parent.map(|parent| parent.0);
            }
        }
        most.min(MOST_VARIANTS)
    }

    fn take(&self, tokens: &[Token], open: usize, choice: &Choice<'_>) -> Taken {
        let mut taken = Taken { inside: Vec::new(), close: None, next: open + 1, left_out: Vec::new() };
        let (mut parentheses, mut braces) = (0i32, 0i32);
        let mut index = open;
        while index < tokens.len() {
            let token = tokens[index];
            if token.condition != choice.base && !choice.takes(token.condition) {
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
            if braces < 0 {
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
            variant,
            function: None,
            region: None,
            macro_definition: None,
            used_at: None,
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
        statement
    }

    /// Splits at the colons outside parentheses; `::` is two of them.
    fn sections(&self, inside: &[Token], statement: &mut AsmStatement) {
        let mut depth = 0i32;
        let mut start = 0;
        for (index, token) in inside.iter().enumerate() {
            if token.kind != Kind::Punctuator {
                continue;
            }
            let colons = match self.text(*token) {
                "(" | "[" | "{" => {
                    depth += 1;
                    0
                }
                ")" | "]" | "}" => {
                    depth -= 1;
                    0
                }
                ":" if depth == 0 => 1,
                "::" if depth == 0 => 2,
                _ => 0,
            };
            for _ in 0..colons {
                self.section(&inside[start..index.max(start)], statement);
                start = index + 1;
                statement.colons += 1;
                if statement.colons > 4 {
                    statement.oddities.push(Oddity { kind: OddityKind::ExtraColon, span: token.span });
                }
            }
        }
        self.section(&inside[start..], statement);
    }

    fn section(&self, tokens: &[Token], statement: &mut AsmStatement) {
        match statement.colons {
            0 => self.template(tokens, statement),
            1 => statement.outputs = self.operands(tokens, statement),
            2 => statement.inputs = self.operands(tokens, statement),
            3 => self.clobbers(tokens, statement),
            4 => {
                let labels = tokens.iter().filter(|token| token.kind == Kind::Identifier);
                statement.labels = labels.map(|token| token.span).collect();
            }
            _ => {}
        }
    }

    fn template(&self, tokens: &[Token], statement: &mut AsmStatement) {
        let mut template = Template::default();
        if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
            template.span = self.cover(first.span, last.span);
        }
        let mut at = 0;
        while let Some(token) = tokens.get(at).copied() {
            let name = self.text(token);
            match token.kind {
                Kind::Text | Kind::RawText => {
                    self.literal(&mut template, token);
                    at += 1;
                }
                Kind::Identifier => {
                    if let Some(parts) = self.prepared.pointer_macro(self.source, name) {
                        parts.into_iter().for_each(|part| self.literal(&mut template, part));
                        at += 1;
                        continue;
                    }
                    let next = self.after_group(tokens, at + 1);
                    let span = self.cover(token.span, tokens[next - 1].span);
                    push_wildcard(&mut template, PieceKind::Wildcard, span);
                    // What a macro stands for may hold colons and operands too.
                    if name == "__VA_ARGS__" || (tokens.len() == next - at && statement.colons == 0) {
                        statement.complete = false;
                    }
                    at = next;
                }
                Kind::Punctuator if name == "#" && tokens.get(at + 1).is_some() => {
                    let span = self.cover(token.span, tokens[at + 1].span);
                    push_wildcard(&mut template, PieceKind::Stringified, span);
                    at += 2;
                }
                Kind::Punctuator if name == "(" => {
                    let next = self.after_group(tokens, at);
                    let span = self.cover(token.span, tokens[next - 1].span);
                    push_wildcard(&mut template, PieceKind::Wildcard, span);
                    at = next;
                }
                Kind::Punctuator | Kind::Number | Kind::Character | Kind::Directive => {
                    statement.oddities.push(Oddity { kind: OddityKind::Unexpected, span: token.span });
                    at += 1;
                }
            }
        }
        template.map.set_home(statement.span);
        statement.template = template;
    }

    fn literal(&self, template: &mut Template, token: Token) {
        let start = template.text.len() as u32;
        literal::decode(self.source, token, &mut template.text, &mut template.map);
        let decoded = Span::new(start, template.text.len() as u32);
        template.pieces.push(Piece { kind: PieceKind::Literal, decoded, source: token.span });
    }

    /// The index after the parenthesised group at `at`; `at` itself where none begins.
    fn after_group(&self, tokens: &[Token], at: usize) -> usize {
        let mut depth = 0;
        for (index, token) in tokens.iter().enumerate().skip(at) {
            match self.text(*token) {
                "(" if token.kind == Kind::Punctuator => depth += 1,
                ")" if token.kind == Kind::Punctuator => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return if index == at { at } else { index + 1 };
            }
        }
        if depth > 0 { tokens.len() } else { at }
    }

    fn operands(&self, tokens: &[Token], statement: &mut AsmStatement) -> Vec<Operand> {
        let mut operands: Vec<Operand> = Vec::new();
        let mut at = 0;
        // Where the last operand ended, unless a comma came since.
        let mut since_operand: Option<u32> = None;
        let mut comma = None;
        while let Some(token) = tokens.get(at).copied() {
            if token.is(self.source, ",") {
                if since_operand.is_none() {
                    statement.oddities.push(Oddity { kind: OddityKind::Unexpected, span: token.span });
                }
                since_operand = None;
                comma = Some(token.span);
                at += 1;
                continue;
            }
            if let Some(end) = since_operand {
                let span = Span::new(end, token.span.start.max(end));
                statement.oddities.push(Oddity { kind: OddityKind::MissingComma, span });
            }
            comma = None;
            let odd = statement.oddities.len();
            let next = self.operand(tokens, at, statement, &mut operands).max(at + 1);
            // Behind what is no operand, a comma is not what lacks.
            let stray = statement.oddities.get(odd).is_some_and(|found| found.kind == OddityKind::Unexpected);
            since_operand = (!stray).then_some(tokens[next - 1].span.end);
            at = next;
        }
        if let Some(span) = comma {
            statement.oddities.push(Oddity { kind: OddityKind::TrailingComma, span });
        }
        operands
    }

    /// Reads one operand at `at` and returns the index after it.
    fn operand(
        &self,
        tokens: &[Token],
        start: usize,
        statement: &mut AsmStatement,
        operands: &mut Vec<Operand>,
    ) -> usize {
        let mut at = start;
        let mut name = None;
        if tokens[at].is(self.source, "[") {
            let close = (at..tokens.len()).find(|index| tokens[*index].is(self.source, "]"));
            let Some(close) = close else { return tokens.len() };
            name = tokens.get(at + 1).filter(|_| close > at + 1).map(|token| token.span);
            at = close + 1;
        }
        let constraint_start = at;
        let Some(constraint) = self.constraint(tokens, &mut at) else {
            let token = tokens.get(at).or(tokens.last()).copied();
            let kind = match token {
                Some(token) if token.is(self.source, "(") => OddityKind::MissingConstraint,
                Some(_) | None => OddityKind::Unexpected,
            };
            let span = token.map_or(statement.span, |token| token.span);
            statement.oddities.push(Oddity { kind, span });
            return self.after_group(tokens, at).max(at + 1).min(tokens.len().max(1));
        };
        if !tokens.get(at).is_some_and(|token| token.is(self.source, "(")) {
            if constraint.known {
                statement
                    .oddities
                    .push(Oddity { kind: OddityKind::MissingExpression, span: constraint.span });
            } else {
                // A macro that stands for operands.
                statement.complete = false;
            }
            return at;
        }
        let open = tokens[at];
        let next = self.after_group(tokens, at);
        let is_list = !constraint.known && at == constraint_start + 1 && {
            let called = self.text(tokens[constraint_start]);
            let definitions = self.prepared.by_name.get(called).into_iter().flatten();
            definitions.into_iter().any(|id| self.prepared.file.macros[id.index()].parameters.is_some())
        };
        if is_list {
            statement.complete = false;
            return next;
        }
        let close = tokens[next - 1];
        let inner = self.expression(&tokens[at + 1..next.max(at + 2) - 1], open.span, close.span);
        if next == at + 2 {
            statement
                .oddities
                .push(Oddity { kind: OddityKind::EmptyExpression, span: open.span.to(close.span) });
        }
        operands.push(Operand {
            span: self.cover(tokens[start].span, close.span),
            name,
            constraint,
            expression: trimmed(self.source, inner),
            tokens: tokens[at + 1..next.max(at + 2) - 1].to_vec(),
            ctype: CType::Unknown,
            changes: false,
        });
        next
    }

    /// The place of an expression: between its parentheses, or where a macro's argument stands.
    fn expression(&self, tokens: &[Token], open: Span, close: Span) -> Span {
        let between = Span::new(open.end, close.start.max(open.end));
        let whole = match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) if first.span.start <= last.span.start => first.span.to(last.span),
            (Some(_), Some(_)) | (None, _) | (_, None) => return between,
        };
        let inside = open.end <= whole.start && whole.end <= close.start;
        let together = tokens.windows(2).all(|pair| pair[1].span.start >= pair[0].span.end);
        let outside = tokens.iter().all(|token| !self.is_home(token.span));
        if inside || !(together && outside) { between } else { whole }
    }

    /// Reads strings, and macros that stand for strings, up to the parenthesis of the expression.
    fn constraint(&self, tokens: &[Token], at: &mut usize) -> Option<Constraint> {
        let mut constraint: Option<Constraint> = None;
        while let Some(token) = tokens.get(*at).copied() {
            let mut part = Constraint {
                text: String::new(),
                span: token.span,
                from_macro: !self.is_home(token.span),
                known: true,
            };
            match token.kind {
                Kind::Text | Kind::RawText => part.text = literal::decoded(self.source, token),
                Kind::Identifier => {
                    part.from_macro = true;
                    match self.prepared.pointer_macro(self.source, self.text(token)) {
                        Some(parts) => {
                            part.text =
                                parts.into_iter().map(|part| literal::decoded(self.source, part)).collect();
                        }
                        None => part.known = false,
                    }
                }
                Kind::Punctuator if matches!(self.text(token), "#" | "##") => part.known = false,
                Kind::Punctuator | Kind::Number | Kind::Character | Kind::Directive => break,
            }
            *at += 1;
            constraint = Some(match constraint {
                None => part,
                Some(before) => Constraint {
                    text: before.text + &part.text,
                    span: self.cover(before.span, part.span),
                    from_macro: true,
                    known: before.known && part.known,
                },
            });
        }
        let mut constraint = constraint?;
        if !constraint.known {
            constraint.text.clear();
        }
        Some(constraint)
    }

    /// Clobbers stand between commas; strings side by side are one.
    fn clobbers(&self, tokens: &[Token], statement: &mut AsmStatement) {
        let mut continues = false;
        for token in tokens {
            let text = match token.kind {
                Kind::Text | Kind::RawText => literal::decoded(self.source, *token),
                Kind::Identifier => {
                    let parts =
                        self.prepared.pointer_macro(self.source, self.text(*token)).unwrap_or_default();
                    parts.into_iter().map(|part| literal::decoded(self.source, part)).collect()
                }
                Kind::Punctuator if self.text(*token) == "," => {
                    continues = false;
                    continue;
                }
                Kind::Punctuator | Kind::Number | Kind::Character | Kind::Directive => {
                    statement.oddities.push(Oddity { kind: OddityKind::Unexpected, span: token.span });
                    continue;
                }
            };
            match statement.clobbers.last_mut().filter(|_| continues) {
                Some(clobber) => {
                    clobber.text.push_str(&text);
                    clobber.span = self.cover(clobber.span, token.span);
                }
                None => statement.clobbers.push(Clobber { text, span: token.span }),
            }
            continues = true;
        }
    }
}

fn push_wildcard(template: &mut Template, kind: PieceKind, source: Span) {
    let start = template.text.len() as u32;
    template.text.push(WILDCARD);
    template.map.push_opaque(WILDCARD.len_utf8() as u32, source);
    template.pieces.push(Piece { kind, decoded: Span::new(start, template.text.len() as u32), source });
}

fn trimmed(source: &str, span: Span) -> Span {
    let text = span.text(source);
    let start = span.start + (text.len() - text.trim_start().len()) as u32;
    Span::new(start, (start + text.trim().len() as u32).min(span.end.max(start)))
}
