//! Tokens with macros expanded and branches of `#if` decided.

use std::cell::RefCell;
use std::collections::HashMap;

use memchr::memmem;

use crate::Span;
use crate::cuda::condition::{ConditionKind, Truth, Truths};
use crate::cuda::model::{CudaFile, Macro};
use crate::cuda::preprocess;
use crate::cuda::scan;

pub(super) use scan::Kind;

/// So many tokens are read of a file, those of macros among them.
pub(super) const MAX_TOKENS: usize = 2_000_000;
/// Macros in macros, so deep.
const MAX_NESTED: usize = 12;
/// So many names `##` makes of what stands nowhere in a file, and so long.
const MAX_MADE: usize = 1000;
const MAX_NAME: usize = 200;
/// So many tokens one use of a macro may stand for.
const MAX_OF_USE: usize = 20_000;
/// Tokens after a use that may be the arguments of what it stands for.
const MAX_GONE_ON: usize = 500;

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'s> {
    pub kind: Kind,
    pub text: &'s str,
    /// Where its text stands.
    pub span: Span,
    /// The name of the macro where it is used, if it came from one.
    pub used_at: Option<Span>,
}

impl Token<'_> {
    pub const fn is_plain(&self) -> bool {
        matches!(self.kind, Kind::Identifier | Kind::Punctuator)
    }

    /// Where a reader of the file looks for it.
    pub fn place(&self) -> Span {
        self.used_at.unwrap_or(self.span)
    }
}

/// The tokens of a file, and the names that `##` makes and that stand neither there nor in `made`.
pub(super) fn tokens<'s>(
    source: &'s str,
    made: &'s str,
    file: &CudaFile,
    truths: &Truths,
) -> (Vec<Token<'s>>, Vec<String>) {
    let prepared = preprocess::prepare(source);
    let holds = decided(&prepared.file, truths);
    let is_compiled = |condition: u32| holds.get(condition as usize).copied().unwrap_or(true);
    // What a name stands for from a place on; nothing, where it is taken back.
    let mut macros: HashMap<&str, Vec<(u32, Option<&Macro>)>> = HashMap::new();
    for found in file.macros.iter().filter(|found| is_compiled(found.condition.index() as u32)) {
        let meaning = (found.name.start, Some(found));
        macros.entry(found.name.text(source)).or_default().push(meaning);
    }
    for (name, condition) in &prepared.file.undefined {
        if let Some(meanings) = macros.get_mut(name.text(source))
            && is_compiled(condition.index() as u32)
        {
            meanings.push((name.start, None));
        }
    }
    macros.values_mut().for_each(|meanings| meanings.sort_by_key(|(at, _)| *at));
    let own: Vec<Token<'s>> = prepared
        .tokens
        .iter()
        .filter(|token| is_compiled(token.condition))
        .map(|token| Token {
            kind: token.kind,
            text: token.span.text(source),
            span: token.span,
            used_at: None,
        })
        .collect();
    let out = Vec::with_capacity(own.len());
    let missing = RefCell::default();
    let mut expander = Expander { source, made, missing, macros, out, left: MAX_TOKENS };
    expander.all(&own);
    // What may close two templates is one token each; where it shifts, the operator is put together again.
    let mut all = Vec::with_capacity(expander.out.len());
    for token in std::mem::take(&mut expander.out) {
        match token.text {
            ">>" if token.is_plain() => all.extend(halves(token)),
            _ => all.push(token),
        }
    }
    (all, expander.missing.into_inner())
}

/// For each bracket the one that closes it, and for other tokens themselves.
pub(super) fn closing(tokens: &[Token<'_>]) -> Vec<u32> {
    let mut closing: Vec<u32> = (0..tokens.len() as u32).collect();
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_plain()) {
        match token.text {
            "(" | "[" | "{" => open.push(index),
            ")" | "]" | "}" => {
                if let Some(first) = open.pop() {
                    closing[first] = index as u32;
                }
            }
            _ => {}
        }
    }
    for first in open {
        closing[first] = tokens.len() as u32;
    }
    closing
}

/// The two characters of `>>`.
fn halves(token: Token<'_>) -> [Token<'_>; 2] {
    let Span { start, end } = token.span;
    let middle = (start + 1).min(end);
    let half = |text, span| Token { text, span, ..token };
    [half(&token.text[..1], Span::new(start, middle)), half(&token.text[1..], Span::new(middle, end))]
}

/// Which conditions hold where names that nothing defines are not defined.
fn decided(file: &CudaFile, truths: &Truths) -> Vec<bool> {
    let mut holds: Vec<bool> = Vec::with_capacity(file.conditions.len());
    // Whether no branch before holds, and what each says by itself.
    let mut reached: Vec<(bool, bool)> = Vec::with_capacity(file.conditions.len());
    for (index, condition) in file.conditions.iter().enumerate() {
        let at = |list: &[bool], id: usize| list.get(id).copied().unwrap_or(true);
        let around = condition.parent.is_none_or(|parent| at(&holds, parent.index()));
        let free =
            condition.previous.and_then(|id| reached.get(id.index())).is_none_or(|(free, own)| *free && !own);
        // What is around it may not be known, as the guard of an included file.
        let own = match truths.told_nothing_of_index(index) {
            Truth::True => true,
            Truth::False => false,
            Truth::Unknown => {
                matches!(condition.kind, ConditionKind::File | ConditionKind::Undefined | ConditionKind::Else)
            }
        };
        reached.push((free, own));
        holds.push(around && free && own);
    }
    holds
}

struct Expander<'m, 's> {
    source: &'s str,
    /// Names that stand nowhere in it, and that `##` makes.
    made: &'s str,
    missing: RefCell<Vec<String>>,
    macros: HashMap<&'m str, Vec<(u32, Option<&'m Macro>)>>,
    out: Vec<Token<'s>>,
    left: usize,
}

impl<'m, 's: 'm> Expander<'m, 's> {
    fn all(&mut self, tokens: &[Token<'s>]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if self.left == 0 {
                return;
            }
            let used = self.is_use(tokens, at, &[]);
            let Some((found, end)) = used else {
                self.push(*token);
                at += 1;
                continue;
            };
            let mut result = Vec::new();
            let mut hidden = Vec::new();
            let done = self.expand(found, &tokens[at..end], token.span, &mut hidden, &mut result);
            let done = done.and_then(|()| self.gone_on(tokens, end, 0, token.span, &mut hidden, &mut result));
            let end = done.unwrap_or(end);
            match done {
                Some(_) => result.into_iter().for_each(|token| self.push(token)),
                // What is not known hides nothing: the name stays, and nobody knows it.
                None => tokens[at..end].iter().for_each(|token| self.push(*token)),
            }
            at = end;
        }
    }

    fn push(&mut self, token: Token<'s>) {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            self.out.push(token);
        }
    }

    /// The macro that is used at `at`, and where the use ends.
    fn is_use(&self, tokens: &[Token<'s>], at: usize, hidden: &[&str]) -> Option<(&'m Macro, usize)> {
        let token = tokens.get(at).filter(|token| token.kind == Kind::Identifier)?;
        let meanings = self.macros.get(token.text)?;
        let before = meanings.partition_point(|(from, _)| *from < token.place().start);
        let (_, found) = meanings.get(before.checked_sub(1)?)?;
        let found = (*found)?;
        if hidden.contains(&token.text) {
            return None;
        }
        if found.parameters.is_none() {
            return Some((found, at + 1));
        }
        let open = tokens.get(at + 1).filter(|token| token.is_plain() && token.text == "(");
        open?;
        let mut depth = 0_usize;
        for (index, token) in tokens.iter().enumerate().skip(at + 1) {
            match token.text {
                _ if !token.is_plain() => {}
                "(" => depth += 1,
                ")" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some((found, index + 1));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Appends what a use stands for; none where that is not known or too much.
    fn expand(
        &self,
        found: &'m Macro,
        used: &[Token<'s>],
        call: Span,
        hidden: &mut Vec<&'m str>,
        out: &mut Vec<Token<'s>>,
    ) -> Option<()> {
        if hidden.len() >= MAX_NESTED || out.len() > MAX_OF_USE {
            return None;
        }
        let arguments = found.parameters.as_ref().map(|_| arguments(&used[1..])).unwrap_or_default();
        let names: Vec<&str> = found.parameters.iter().flatten().map(|name| name.text(self.source)).collect();
        // `...` takes what is left, with its commas.
        let mut named = names.iter().take_while(|name| **name != "...").count();
        let is_variadic = named < names.len();
        // In `args...` what is left has a name of its own.
        let mut rest = "__VA_ARGS__";
        if let Some([.., name, dots]) = found.parameters.as_deref().filter(|_| is_variadic)
            && name.end == dots.start
        {
            rest = name.text(self.source);
            named -= 1;
        }
        let is_fitting = match is_variadic {
            true => arguments.len() >= named.max(1),
            false => names.len() == arguments.len() || names.is_empty() && arguments.len() <= 1,
        };
        if !is_fitting || named + 2 < names.len() {
            return None;
        }
        let others = || arguments.iter().skip(named).enumerate();
        // What an argument stands for does not depend on the macro: it may use the same one.
        let mut whole: Vec<Vec<Token<'s>>> = Vec::new();
        for argument in &arguments {
            let mut out = Vec::new();
            self.expand_all(argument, call, hidden, &mut out)?;
            whole.push(out);
        }
        let mut body: Vec<Token<'s>> = Vec::new();
        let mut scanned: Vec<scan::Token> = scan::Scanner::line(self.source, found.body).collect();
        if is_variadic {
            let has_others = others().any(|argument| !argument.1.is_empty());
            self.without_options(&mut scanned, has_others);
        }
        let mut scanned = scanned.into_iter().peekable();
        // What `##` joins with what comes next.
        let mut joined: Option<String> = None;
        while let Some(token) = scanned.next() {
            let text = token.span.text(self.source);
            let next = || scanned.clone().map(|next| next.span.text(self.source));
            // The comma in `, ##__VA_ARGS__` is left out where nothing follows it.
            if is_variadic && text == "," && next().take(2).eq(["##", rest]) {
                scanned.next();
                if others().next().is_some() {
                    body.push(Token { kind: token.kind, text, span: token.span, used_at: Some(call) });
                }
                continue;
            }
            let is_joined = scanned.peek().is_some_and(|next| next.span.text(self.source) == "##");
            if is_joined || joined.is_some() {
                let argument = names.iter().position(|name| token.kind == Kind::Identifier && *name == text);
                let before = joined.take().unwrap_or_default();
                let tokens = match argument {
                    Some(index) => arguments.get(index).copied().unwrap_or_default(),
                    None => &[],
                };
                let own = match (argument, tokens) {
                    (None, _) => text,
                    (Some(_), []) => "",
                    (Some(_), [only]) => only.text,
                    (Some(_), _) => return None,
                };
                let whole = format!("{before}{own}");
                if is_joined {
                    scanned.next();
                    joined = Some(whole);
                } else {
                    body.extend(self.joined(&whole, token.span, call)?);
                }
                continue;
            }
            if token.kind == Kind::Punctuator && text.starts_with('#') {
                // `#name` is a string, which only asm statements look into.
                let name = scanned.next().filter(|_| text == "#")?;
                names.iter().position(|known| *known == name.span.text(self.source))?;
                body.push(Token { kind: Kind::Text, text: "", span: token.span, used_at: Some(call) });
                continue;
            }
            if is_variadic && text == rest {
                for (index, argument) in whole.iter().skip(named).enumerate() {
                    if index > 0 {
                        let comma = Kind::Punctuator;
                        body.push(Token { kind: comma, text: ",", span: token.span, used_at: Some(call) });
                    }
                    body.extend(argument.iter());
                }
                continue;
            }
            match names.iter().position(|name| token.kind == Kind::Identifier && *name == text) {
                Some(index) => body.extend(whole.get(index).into_iter().flat_map(|tokens| tokens.iter())),
                None => body.push(Token { kind: token.kind, text, span: token.span, used_at: Some(call) }),
            }
            if body.len() > MAX_OF_USE {
                return None;
            }
        }
        if joined.is_some() {
            return None;
        }
        hidden.push(found.name.text(self.source));
        let done = self.expand_all(&body, call, hidden, out);
        hidden.pop();
        done
    }

    /// Where a macro stands for the name of another one, whose arguments follow it, appends what that stands for: `CHOOSE(F)(a)`.
    /// Gives where the use ends.
    fn gone_on(
        &self,
        tokens: &[Token<'s>],
        at: usize,
        from: usize,
        call: Span,
        hidden: &mut Vec<&'m str>,
        out: &mut Vec<Token<'s>>,
    ) -> Option<usize> {
        let is_open = tokens.get(at).is_some_and(|next| next.is_plain() && next.text == "(");
        let last = out.get(from..).and_then(<[_]>::last).copied().filter(|_| is_open);
        let Some(last) = last.filter(|last| self.macros.contains_key(last.text)) else { return Some(at) };
        let whole: Vec<Token<'s>> =
            std::iter::once(last).chain(tokens[at..].iter().copied().take(MAX_GONE_ON)).collect();
        match self.is_use(&whole, 0, hidden) {
            Some((found, end)) if end > 1 => {
                out.pop();
                self.expand(found, &whole[..end], call, hidden, out)?;
                Some(at + end - 1)
            }
            _ => Some(at),
        }
    }

    /// Appends tokens with what the uses of macros among them stand for.
    fn expand_all(
        &self,
        tokens: &[Token<'s>],
        call: Span,
        hidden: &mut Vec<&'m str>,
        out: &mut Vec<Token<'s>>,
    ) -> Option<()> {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match self.is_use(tokens, at, hidden) {
                Some((inner, end)) => {
                    let from = out.len();
                    self.expand(inner, &tokens[at..end], call, hidden, out)?;
                    at = self.gone_on(tokens, end, from, call, hidden, out)?;
                }
                None => {
                    out.push(Token { used_at: Some(call), ..*token });
                    at += 1;
                }
            }
        }
        (out.len() <= MAX_OF_USE).then_some(())
    }
}

impl<'s> Expander<'_, 's> {
    /// Takes `__VA_OPT__` away: the text in its parentheses is kept where `...` has arguments.
    fn without_options(&self, body: &mut Vec<scan::Token>, has_others: bool) {
        while let Some(at) = body.iter().position(|token| token.span.text(self.source) == "__VA_OPT__") {
            let (mut depth, mut end) = (0_usize, at + 1);
            while let Some(token) = body.get(end) {
                match token.span.text(self.source) {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                end += 1;
                if depth == 0 {
                    break;
                }
            }
            match has_others {
                true => {
                    body.drain(end - 1..end);
                    body.drain(at..(at + 2).min(body.len()));
                }
                false => {
                    body.drain(at..end);
                }
            }
        }
    }

    /// The token that `##` makes, none where it makes nothing. One that stands nowhere in the file is not known.
    fn joined(&self, text: &str, span: Span, call: Span) -> Option<Option<Token<'s>>> {
        if text.is_empty() {
            return Some(None);
        }
        let found = [self.source, self.made].into_iter().find_map(|within| {
            let at = memmem::find(within.as_bytes(), text.as_bytes())?;
            Some((within, at))
        });
        let Some((within, at)) = found else {
            let mut missing = self.missing.borrow_mut();
            if missing.len() < MAX_MADE && text.len() < MAX_NAME && missing.iter().all(|known| known != text)
            {
                missing.push(text.to_owned());
            }
            return None;
        };
        let whole = Span::new(at as u32, (at + text.len()) as u32);
        let mut scanned = scan::Scanner::line(within, whole);
        let (first, None) = (scanned.next()?, scanned.next()) else { return None };
        let text = within.get(at..at + text.len())?;
        Some(Some(Token { kind: first.kind, text, span, used_at: Some(call) }))
    }
}

/// The arguments between parentheses.
fn arguments<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let inner = tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or_default();
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (index, token) in inner.iter().enumerate().filter(|(_, token)| token.is_plain()) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(&inner[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    parts
}
