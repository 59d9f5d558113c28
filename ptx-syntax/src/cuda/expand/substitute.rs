//! Putting the arguments of a macro into its body: parameters, `#`, `##` and `__VA_ARGS__`.

use super::{Expander, Tokens};
use crate::Span;
use crate::cuda::model::MacroId;
use crate::cuda::scan::{Kind, Scanner, Token};

impl<'s> Expander<'_, 's> {
    /// What the use of a macro at `at` stands for after all expansion, and the index after the use.
    pub(super) fn called(
        &mut self,
        definition: MacroId,
        tokens: &Tokens<'_>,
        at: usize,
    ) -> Option<(usize, Vec<Token>)> {
        self.enter()?;
        let found = self.called_here(definition, tokens, at);
        self.depth -= 1;
        found.filter(|_| self.stopped.is_none())
    }

    fn called_here(
        &mut self,
        definition: MacroId,
        tokens: &Tokens<'_>,
        at: usize,
    ) -> Option<(usize, Vec<Token>)> {
        let (next, arguments) = self.arguments(definition, tokens, at)?;
        let mut body = self.substituted(definition, &arguments)?;
        drop(arguments);
        if self.is_of_others(definition) {
            body = self.brought_here(&body, tokens.all[at].span, None)?;
        }
        self.hidden.push(definition);
        let expanded = self.expanded(&body);
        self.hidden.pop();
        Some((next, expanded))
    }

    /// The tokens of a macro of another file, as what its name in this one has made. The keywords among them are noted for
    /// a macro with statements.
    pub(super) fn brought_here(
        &mut self,
        body: &[Token],
        name: Span,
        with_statements: Option<MacroId>,
    ) -> Option<Vec<Token>> {
        let others = self.prepared.end..self.prepared.others_end;
        let mut out = Vec::with_capacity(body.len());
        for &token in body {
            if others.contains(&token.span.start) {
                self.charge(u64::from(token.span.len()))?;
                let text = token.span.text(self.source);
                let made = self.make(text, name);
                if let (Some(id), [made]) = (with_statements, &*made)
                    && self.is_keyword(*made)
                {
                    self.keywords_of_others.push((made.span.start, id));
                }
                out.extend(made);
            } else {
                out.push(token);
            }
        }
        Some(out)
    }

    /// Tokens with all known macros expanded.
    fn expanded(&mut self, tokens: &[Token]) -> Vec<Token> {
        let tokens = self.paired(tokens);
        let mut out = Vec::with_capacity(tokens.all.len());
        let mut at = 0;
        while let Some(&token) = tokens.all.get(at).filter(|_| self.stopped.is_none()) {
            if token.kind == Kind::Identifier
                && let [definition] = self.definitions(token)[..]
                && let Some((next, found)) = self.called(definition, &tokens, at)
            {
                out.extend(found);
                at = next;
                continue;
            }
            out.push(token);
            at += 1;
        }
        out
    }

    /// The arguments of the use at `at`, one for each parameter, and the index after the use; none where they do not
    /// fit the parameters. A macro without parentheses takes none.
    pub(super) fn arguments(
        &self,
        definition: MacroId,
        tokens: &Tokens<'_>,
        at: usize,
    ) -> Option<(usize, Vec<Vec<Token>>)> {
        let Some(parameters) = &self.definition(definition).parameters else {
            return Some((at + 1, Vec::new()));
        };
        let close = tokens.closing(at + 1)?;
        let variadic = parameters.last().is_some_and(|name| name.text(self.source) == "...");
        let mut arguments: Vec<Vec<Token>> = vec![Vec::new()];
        let mut index = at + 2;
        while index < close {
            let token = tokens.all[index];
            // What parentheses hold belongs to one argument.
            let end = tokens.closing(index).unwrap_or(index);
            let rest = variadic && arguments.len() == parameters.len();
            if token.kind == Kind::Punctuator && !rest && self.is(Some(&token), ",") {
                if arguments.len() == parameters.len() {
                    return None;
                }
                arguments.push(Vec::new());
            } else {
                arguments.last_mut()?.extend(&tokens.all[index..=end]);
            }
            index = end + 1;
        }
        if variadic && arguments.len() + 1 == parameters.len() {
            arguments.push(Vec::new());
        }
        let none = parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty();
        if none {
            arguments.clear();
        }
        (arguments.len() == parameters.len()).then_some((close + 1, arguments))
    }

    /// The body of a macro with its arguments; none where it is more than is understood.
    pub(super) fn substituted(
        &mut self,
        definition: MacroId,
        arguments: &[Vec<Token>],
    ) -> Option<Vec<Token>> {
        let body = self.body(definition);
        let body = &body.tokens;
        let parameter = |at: usize| body.get(at).and_then(|(_, parameter)| *parameter);
        let called = self.definition(definition).parameters.is_some();
        // The arguments as they replace parameters, each expanded once.
        let mut ready: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut out: Vec<Token> = Vec::with_capacity(body.len());
        // Whether the operand before a `##` gave no token.
        let mut empty = false;
        let mut at = 0;
        while let Some(&(token, named)) = body.get(at) {
            let joined = self.is(body.get(at + 1).map(|(next, _)| next), "##");
            let (before, made) = (out.len(), self.made.len());
            if self.is(Some(&token), "__VA_OPT__") {
                return None;
            } else if self.is(Some(&token), "##") && at > 0 {
                at += 1;
                match parameter(at) {
                    Some(index) => self.join(&mut out, &arguments[index], empty),
                    None => self.join(&mut out, body.get(at).map(|(right, _)| *right).as_slice(), empty),
                }
            } else if called && self.is(Some(&token), "#") {
                let index = parameter(at + 1)?;
                let made = self.stringified(&arguments[index], body[at + 1].0.span);
                out.push(made);
                at += 1;
            } else if let Some(index) = named {
                if joined {
                    out.extend(&arguments[index]);
                } else {
                    if ready[index].is_none() {
                        ready[index] = Some(self.argument(&arguments[index]));
                    }
                    out.extend(ready[index].iter().flatten());
                }
            } else {
                out.push(token);
            }
            empty = out.len() == before;
            let added = out.get(before..).unwrap_or(&[]);
            let copied: u64 = added.iter().map(|token| u64::from(token.span.len()) + 1).sum();
            self.charge(copied + (self.made.len() - made) as u64)?;
            at += 1;
        }
        self.charge(1)?;
        Some(out)
    }

    /// An argument as it replaces a parameter: expanded where that gives a text or a word. Longer expressions stay
    /// as they are written, so that what is said about them can be found in the file.
    fn argument(&mut self, argument: &[Token]) -> Vec<Token> {
        if argument.first().is_none_or(|first| first.kind != Kind::Identifier) {
            return argument.to_vec();
        }
        let expanded = self.expanded(argument);
        let simple = expanded.iter().all(|token| match token.kind {
            Kind::Text | Kind::RawText | Kind::Identifier | Kind::Number => true,
            Kind::Punctuator => matches!(self.text(*token), "." | "::"),
            Kind::Character | Kind::Directive => false,
        });
        if simple { expanded } else { argument.to_vec() }
    }

    /// `##`: makes one token of the last of `out` and the first of `right`.
    fn join(&mut self, out: &mut Vec<Token>, right: &[Token], left_is_empty: bool) {
        let Some((&first, rest)) = right.split_first() else {
            // `, ## __VA_ARGS__` without arguments.
            if self.is(out.last(), ",") {
                out.pop();
            }
            return;
        };
        match out.last().copied().filter(|_| !left_is_empty) {
            Some(left) if !self.is(Some(&left), ",") => {
                out.pop();
                let text = format!("{}{}", self.text(left), self.text(first));
                let made = self.make(&text, if rest.is_empty() { first.span } else { left.span });
                out.extend(made);
            }
            Some(_) | None => out.push(first),
        }
        out.extend(rest);
    }

    /// `#`: the text of an argument as a string.
    fn stringified(&mut self, argument: &[Token], parameter: Span) -> Token {
        let mut text = String::from("\"");
        let mut end = None;
        for &token in argument {
            if end.is_some_and(|end| end != token.span.start) {
                text.push(' ');
            }
            end = Some(token.span.end);
            let quoted = matches!(token.kind, Kind::Text | Kind::RawText | Kind::Character);
            for character in self.text(token).chars() {
                if quoted && matches!(character, '"' | '\\') {
                    text.push('\\');
                }
                text.push(character);
            }
        }
        text.push('"');
        let origin = match (argument.first(), argument.last()) {
            (Some(first), Some(last)) if first.span.start <= last.span.start => first.span.to(last.span),
            _ => parameter,
        };
        let start = self.append(&text, origin);
        let span = Span::new(start, start + text.len() as u32);
        Token { kind: Kind::Text, span, condition: 0, ignored: false }
    }

    fn append(&mut self, text: &str, origin: Span) -> u32 {
        let start = (self.source.len() + self.made.len()) as u32;
        let origin = self.origins.place(origin);
        self.origins.add(start, origin);
        self.made.push_str(text);
        // Keeps what follows a token of its own.
        self.made.push('\n');
        start
    }

    /// The tokens of a made text.
    fn make(&mut self, text: &str, origin: Span) -> Vec<Token> {
        if (self.source.len() + self.made.len() + text.len()) as u64 > u64::from(u32::MAX / 2) {
            return Vec::new();
        }
        let start = self.append(text, origin);
        let moved = |token: Token| {
            let span = Span::new(token.span.start + start, token.span.end + start);
            Token { span, ..token }
        };
        Scanner::line(text, Span::new(0, text.len() as u32)).map(moved).collect()
    }
}
