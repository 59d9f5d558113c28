//! Macros of the file itself, put in place of their names where asm statements depend on them.
//!
//! This is not a preprocessor: only two things are expanded, and everything else is left as it is written.
//! * A macro that holds an asm statement, itself or through another macro, where it is used: the statement is then
//!   read with the arguments of that use, in the function where the use is ([`Use`]). That of the `#define` is
//!   read as well, with its parameters unknown.
//! * A macro among the strings, operands and clobbers of an asm statement.
//!
//! The macros of other files are expanded in the same way. What they give stands where the file names them.
//!
//! A macro is known where the file defines it before its use and has not taken it back, and where all definitions
//! that may hold are the same. What `#` and `##` make is in no file: it is appended to the source, and
//! [`Origins`] tells for each made text where it came from.
//!
//! # Limits
//! A few lines of macros can stand for more text than any machine holds. Expansion ends at a depth and at a size, and
//! the uses that it then leaves as they are come as [`Unexpanded`].

mod origins;
mod substitute;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

pub(super) use origins::Origins;

use super::by_name::Lists;
use super::condition::{Truth, Truths};
use super::model::{ExpansionLimit, Macro, MacroId, Unexpanded};
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

/// Tokens of the arguments of a use among which it is looked for the name of another macro.
const MAX_PASSED: usize = 64;
/// How many bytes macros may stand for in any file, and how many more for each byte of the file.
const MAX_EXPANDED: u64 = 8 << 20;
const MAX_EXPANDED_PER_BYTE: u64 = 8;

/// How many definitions of one macro are looked at where it is used.
const MAX_DEFINITIONS: usize = 4;

/// How deep uses of macros are followed into their arguments and into the macros they name.
pub const MAX_EXPANSION_DEPTH: u32 = 128;

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
    let Expander { made, origins, uses, keywords_of_others, unexpanded, .. } = this;
    prepared.file.unexpanded = unexpanded;
    prepared.keywords_of_others = keywords_of_others;
    (prepared.tokens, prepared.uses, prepared.bodies) = (out, uses, bodies);
    (!made.is_empty()).then(|| (format!("{source}{made}"), origins))
}

struct Expander<'p, 's> {
    source: &'s str,
    prepared: &'p Prepared<'s>,
    /// For each number of a name whether its macros hold asm statements.
    with_asm: Vec<bool>,
    /// Uses of them.
    uses: Vec<Use>,
    /// Where keywords stand that macros of other files have made, and the macros.
    keywords_of_others: Vec<(u32, MacroId)>,
    /// What was made.
    made: String,
    origins: Origins,
    /// Macros that are being expanded, and names that are parameters.
    hidden: Vec<MacroId>,
    shadowed: HashSet<&'s str>,
    /// Where the outermost use is.
    position: u32,
    /// Definitions and `#undef` lines, in order; those before `position` have been heeded.
    changes: Vec<Change>,
    next_change: usize,
    /// For each number of a name its definitions that may hold at `position`, each text once.
    live: Lists<MacroId>,
    /// The bodies of macros that have been used.
    read: HashMap<MacroId, Rc<Body>>,
    /// How many bytes may still be made.
    left: u64,
    depth: u32,
    /// What has ended the expansion of the outermost use.
    stopped: Option<ExpansionLimit>,
    unexpanded: Vec<Unexpanded>,
    /// Where in `unexpanded` a macro is.
    told: HashMap<(&'s str, ExpansionLimit), usize>,
}

/// A definition of a name, or that it is taken back.
struct Change {
    /// Where; none for what holds from the beginning.
    at: Option<u32>,
    /// The number of the name.
    name: u32,
    definition: Option<MacroId>,
}

/// The body of a macro, with the number of the parameter that a token is.
struct Body {
    tokens: Vec<(Token, Option<usize>)>,
}

/// Tokens with the partner of each parenthesis, so that the end of a use is known without a search.
struct Tokens<'t> {
    all: &'t [Token],
    /// For `(` the index of its `)`; 0 where it has none, and elsewhere.
    closing: Vec<u32>,
}

impl Tokens<'_> {
    fn closing(&self, open: usize) -> Option<usize> {
        self.closing.get(open).filter(|close| **close > 0).map(|close| *close as usize)
    }
}

impl<'p, 's> Expander<'p, 's> {
    fn new(source: &'s str, prepared: &'p Prepared<'s>) -> Self {
        let length = prepared.end;
        let mut origins = Origins::new(length);
        if prepared.others_end > length {
            origins.add(length, Span::at(0));
        }
        let mut this = Self {
            source,
            prepared,
            with_asm: vec![false; prepared.by_name.len()],
            uses: Vec::new(),
            keywords_of_others: Vec::new(),
            made: String::new(),
            origins,
            hidden: Vec::new(),
            shadowed: HashSet::new(),
            position: 0,
            // Definitions below `#if 0` are no definitions.
            changes: changes(source, prepared, prepared.truths(source)),
            next_change: 0,
            live: Lists::default(),
            read: HashMap::new(),
            left: MAX_EXPANDED + MAX_EXPANDED_PER_BYTE * u64::from(length),
            depth: 0,
            stopped: None,
            unexpanded: Vec::new(),
            told: HashMap::new(),
        };
        this.find_macros_with_asm();
        this
    }

    /// Notes the macros that hold a keyword, and those that name such a macro.
    fn find_macros_with_asm(&mut self) {
        let prepared = self.prepared;
        let mut named_by = Lists::default();
        let mut found: Vec<u32> = Vec::new();
        for (definition, &name) in prepared.file.macros.iter().zip(&prepared.numbers) {
            let tokens: Vec<Token> = Scanner::line(self.source, definition.body).collect();
            let keyword = |token: &Token| prepared.keyword(self.source, *token).is_some();
            if tokens.iter().any(keyword) && !tokens.iter().all(|token| token.kind == Kind::Identifier) {
                found.push(name);
            } else {
                let words = tokens.iter().filter(|token| token.kind == Kind::Identifier);
                for named in words.filter_map(|word| prepared.by_name.number(word.span.text(self.source))) {
                    named_by.push(named, name);
                }
            }
        }
        while let Some(name) = found.pop() {
            if !std::mem::replace(&mut self.with_asm[name as usize], true) {
                found.extend(named_by.of(name));
            }
        }
    }

    /// Whether a name is that of a macro that holds asm statements.
    fn holds_asm(&self, name: Token) -> bool {
        let number = self.prepared.by_name.number(self.text(name));
        number.is_some_and(|number| self.with_asm[number as usize])
    }

    /// Whether the use of a macro at `at` is given the name of one that holds asm statements: `FOR_EACH(ISSUE)`.
    fn passes_asm(&self, tokens: &Tokens<'_>, at: usize) -> bool {
        let is_macro = self.prepared.by_name.number(self.text(tokens.all[at])).is_some();
        let Some(close) = tokens.closing(at + 1).filter(|_| is_macro) else { return false };
        // Where arguments are nested each use would look at all of them.
        (at + 2..close).take(MAX_PASSED).any(|index| {
            let token = tokens.all[index];
            token.kind == Kind::Identifier
                && self.is(tokens.all.get(index + 1), if index + 1 == close { ")" } else { "," })
                && self.holds_asm(token)
        })
    }

    /// The use of a macro that begins with the last token of another one's, and goes on after it.
    fn goes_on(&self, tokens: &Tokens<'_>, next: usize, made: &[Token]) -> Option<Vec<Token>> {
        let last = made.last().filter(|last| last.kind == Kind::Identifier && self.holds_asm(**last))?;
        let close = tokens.closing(next)?;
        Some(std::iter::once(*last).chain(tokens.all[next..=close].iter().copied()).collect())
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
        token.kind == Kind::Identifier
            && self.prepared.keyword_text(self.text(token), token.span.start).is_some()
    }

    /// Pairs the parentheses of tokens.
    fn paired<'t>(&self, all: &'t [Token]) -> Tokens<'t> {
        let mut closing = vec![0; all.len()];
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in all.iter().enumerate() {
            if token.kind != Kind::Punctuator || token.span.len() != 1 {
                continue;
            }
            match self.text(*token) {
                "(" => open.push(index),
                ")" => {
                    if let Some(open) = open.pop() {
                        closing[open] = index as u32;
                    }
                }
                _ => {}
            }
        }
        Tokens { all, closing }
    }

    /// Begins an expansion inside another one, unless that is too deep.
    fn enter(&mut self) -> Option<()> {
        if self.depth >= MAX_EXPANSION_DEPTH {
            self.stopped = self.stopped.or(Some(ExpansionLimit::Depth));
        }
        if self.stopped.is_some() {
            return None;
        }
        self.depth += 1;
        Some(())
    }

    /// Takes so many bytes of what is left.
    fn charge(&mut self, bytes: u64) -> Option<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => {
                self.left = 0;
                self.stopped = self.stopped.or(Some(ExpansionLimit::Size));
            }
        }
        self.stopped.is_none().then_some(())
    }

    /// Ends the outermost use, whose name is `call`; says whether a limit has been met, and notes that.
    fn was_stopped(&mut self, call: Token) -> bool {
        let Some(reason) = self.stopped.take_if(|_| self.hidden.is_empty()) else { return false };
        self.depth = 0;
        let name = call.span.text(self.source);
        match self.told.get(&(name, reason)) {
            Some(index) => self.unexpanded[*index].others += 1,
            None => {
                self.told.insert((name, reason), self.unexpanded.len());
                self.unexpanded.push(Unexpanded { reason, call: call.span, others: 0 });
            }
        }
        true
    }

    /// The index after the use of a macro at `at`: after its parentheses, if it has some.
    fn after_use(&self, tokens: &Tokens<'_>, at: usize) -> usize {
        tokens.closing(at + 1).map_or(at + 1, |close| close + 1)
    }

    /// Appends the tokens to `out`, expanded; uses of macros with statements only where `uses` says so.
    fn rewrite(&mut self, tokens: &[Token], out: &mut Vec<Token>, uses: bool) {
        let tokens = self.paired(tokens);
        let blocked = if uses { self.blocked(tokens.all) } else { Vec::new() };
        let mut at = 0;
        while let Some(&token) = tokens.all.get(at) {
            let outermost = self.hidden.is_empty();
            if outermost && uses {
                self.position = token.span.start;
            }
            if token.kind == Kind::Identifier && !token.ignored && (outermost || self.stopped.is_none()) {
                if self.is_keyword(token) {
                    at = self.statement(&tokens, at, out);
                    continue;
                }
                let is_own = !outermost || token.span.start < self.prepared.end;
                if uses && is_own && (self.holds_asm(token) || self.passes_asm(&tokens, at)) {
                    let start = out.len();
                    let found = self.use_of_macro(&tokens, at, &blocked, out);
                    if outermost && self.was_stopped(token) {
                        out.truncate(start);
                        let next = self.after_use(&tokens, at);
                        out.extend(&tokens.all[at..next]);
                        at = next;
                        continue;
                    }
                    if let Some((mut next, definition)) = found {
                        // `CHOOSE(a, F2, F1)(a)` uses the macro that the first one names.
                        if let Some(used) = self.goes_on(&tokens, next, &out[start..]) {
                            out.pop();
                            next += used.len() - 1;
                            self.hidden.push(definition);
                            self.rewrite(&used, out, true);
                            self.hidden.pop();
                        }
                        if outermost {
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

    /// For each token how many before it must not be in the arguments of a macro: keywords, and ignored ones.
    fn blocked(&self, tokens: &[Token]) -> Vec<u32> {
        let mut count = 0;
        let mut counts = Vec::with_capacity(tokens.len() + 1);
        counts.push(0);
        for token in tokens {
            count += u32::from(token.ignored || self.is_keyword(*token));
            counts.push(count);
        }
        counts
    }

    /// Copies an asm statement up to its closing parenthesis and expands the macros in its sections.
    fn statement(&mut self, tokens: &Tokens<'_>, keyword: usize, out: &mut Vec<Token>) -> usize {
        let mut at = keyword;
        let mut depth = 0i32;
        let mut in_template = true;
        while let Some(&token) = tokens.all.get(at) {
            match self.text(token) {
                "(" if token.kind == Kind::Punctuator => depth += 1,
                ")" if token.kind == Kind::Punctuator => depth -= 1,
                ";" | "{" | "}" if token.kind == Kind::Punctuator && depth < 2 => return at,
                ":" | "::" if depth == 1 && token.kind == Kind::Punctuator => in_template = false,
                _ if depth == 0 && token.kind != Kind::Identifier => return at,
                _ => {}
            }
            if depth == 1 && token.kind == Kind::Identifier && !self.is(out.last(), "[") {
                let piece = self.piece(tokens, at, in_template);
                if self.was_stopped(token) {
                    let next = self.after_use(tokens, at);
                    out.extend(&tokens.all[at..next]);
                    at = next;
                    continue;
                }
                if let Some((next, piece)) = piece {
                    out.extend(piece);
                    at = next;
                    continue;
                }
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

    /// What a macro in a section of an asm statement stands for, and the index after its use. Where each branch of an `#if`
    /// defines it, a template is read with what each says, under the condition of that branch. A constraint is left alone:
    /// branches for other platforms give that of a pointer another letter.
    fn piece(&mut self, tokens: &Tokens<'_>, at: usize, in_template: bool) -> Option<(usize, Vec<Token>)> {
        let definitions = self.definitions(tokens.all[at]);
        let condition_of = |id: MacroId| self.prepared.file.macros[id.index()].condition.index() as u32;
        let conditions: Vec<u32> = match definitions[..] {
            [_] => vec![tokens.all[at].condition],
            _ => definitions.iter().map(|id| condition_of(*id)).collect(),
        };
        let branches =
            || in_template && self.prepared.branches.are_all(&conditions, &self.prepared.file.conditions);
        let is_of_others = || definitions.iter().any(|id| self.is_of_others(*id));
        if definitions.is_empty() || (definitions.len() > 1 && (is_of_others() || !branches())) {
            return None;
        }
        let fits = |this: &Self, token: &Token| match token.kind {
            Kind::Text | Kind::RawText | Kind::Identifier | Kind::Number | Kind::Character => true,
            Kind::Punctuator => !matches!(this.text(*token), ";" | "{" | "}" | "#"),
            Kind::Directive => false,
        };
        let mut pieces = Vec::new();
        let mut after = None;
        for (definition, condition) in definitions.into_iter().zip(conditions) {
            let (next, found) = self.called(definition, tokens, at)?;
            let has_text = found.iter().any(|token| matches!(token.kind, Kind::Text | Kind::RawText));
            if !(has_text || found.is_empty()) || !found.iter().all(|token| fits(self, token)) {
                return None;
            }
            if after.is_some_and(|after| after != next) {
                return None;
            }
            after = Some(next);
            pieces.extend(found.into_iter().map(|token| Token { condition, ..token }));
        }
        Some((after?, pieces))
    }

    /// Appends what the use of a macro at `at` stands for, in each of its definitions.
    fn use_of_macro(
        &mut self,
        tokens: &Tokens<'_>,
        at: usize,
        blocked: &[u32],
        out: &mut Vec<Token>,
    ) -> Option<(usize, MacroId)> {
        let definitions = self.definitions(tokens.all[at]);
        let several = definitions.len() > 1;
        // Which of them holds is not known, and an `#if` of another file is no condition of this one.
        if several && definitions.iter().any(|id| self.is_of_others(*id)) {
            return None;
        }
        if let Some(close) = tokens.closing(at + 1)
            && blocked[close] > blocked[at + 1]
            && definitions.iter().any(|id| self.definition(*id).parameters.is_some())
        {
            return None;
        }
        let mut next = None;
        for &definition in definitions.iter().take(MAX_DEFINITIONS) {
            let (end, arguments) = self.arguments(definition, tokens, at)?;
            self.enter()?;
            let mut body = self.substituted(definition, &arguments);
            if self.is_of_others(definition) {
                let name = tokens.all[at].span;
                body = body.and_then(|body| self.brought_here(&body, name, Some(definition)));
            }
            if let Some(body) = body {
                let condition = match several {
                    true => self.definition(definition).condition.index() as u32,
                    false => tokens.all[at].condition,
                };
                self.hidden.push(definition);
                let start = out.len();
                self.rewrite(&body, out, true);
                self.hidden.pop();
                // What an `#if` chooses within it keeps the condition of its branch.
                let unconditional = |token: &&mut Token| token.condition == 0;
                out[start..].iter_mut().filter(unconditional).for_each(|token| token.condition = condition);
                next = Some((end, definition));
            }
            self.depth -= 1;
            next.filter(|(_, found)| *found == definition)?;
        }
        next
    }

    /// Whether another file defines the macro.
    const fn is_of_others(&self, id: MacroId) -> bool {
        id.index() >= self.prepared.own_macros
    }

    fn definition(&self, id: MacroId) -> &'p Macro {
        &self.prepared.file.macros[id.index()]
    }

    /// The definitions that may hold where the outermost use is, each text once.
    fn definitions(&mut self, name: Token) -> Vec<MacroId> {
        while let Some(change) =
            self.changes.get(self.next_change).filter(|change| change.at < Some(self.position))
        {
            let body = |id: MacroId| self.prepared.file.macros[id.index()].body.text(self.source).trim();
            match change.definition {
                Some(id) => {
                    let is_other =
                        |(index, other): (usize, MacroId)| index < MAX_DEFINITIONS && body(other) != body(id);
                    if self.live.of(change.name).enumerate().all(is_other) {
                        self.live.push(change.name, id);
                    }
                }
                None => self.live.clear(change.name),
            }
            self.next_change += 1;
        }
        let text = self.text(name);
        let Some(number) = self.prepared.by_name.number(text).filter(|_| !self.shadowed.contains(text))
        else {
            return Vec::new();
        };
        self.live.of(number).filter(|id| !self.hidden.contains(id)).collect()
    }

    /// The body of a macro.
    fn body(&mut self, id: MacroId) -> Rc<Body> {
        if let Some(body) = self.read.get(&id) {
            return Rc::clone(body);
        }
        let definition = self.definition(id);
        let mut parameters: HashMap<&str, usize> = HashMap::new();
        for (index, name) in definition.parameters.iter().flatten().enumerate() {
            let name = name.text(self.source);
            parameters.entry(if name == "..." { "__VA_ARGS__" } else { name }).or_insert(index);
        }
        let named = |token: Token| {
            let name = Some(token).filter(|token| token.kind == Kind::Identifier);
            let parameter = name.and_then(|token| parameters.get(token.span.text(self.source)).copied());
            (token, parameter)
        };
        let tokens = Scanner::line(self.source, definition.body).map(named).collect();
        let body = Rc::new(Body { tokens });
        self.read.insert(id, Rc::clone(&body));
        body
    }

    /// The bodies of the macros with statements, with the macros in the statements' sections expanded.
    fn bodies(&mut self) -> Vec<(MacroId, Vec<Token>)> {
        let mut bodies = Vec::new();
        self.position = u32::MAX;
        let prepared = self.prepared;
        for ((id, definition), name) in
            (0u32..).map(MacroId).zip(&prepared.file.macros).zip(&prepared.numbers).take(prepared.own_macros)
        {
            if !self.with_asm[*name as usize] {
                continue;
            }
            let tokens: Vec<Token> = Scanner::line(self.source, definition.body).collect();
            let names = definition.parameters.iter().flatten();
            self.shadowed = names.map(|name| name.text(self.source)).collect();
            let mut out = Vec::with_capacity(tokens.len());
            self.rewrite(&tokens, &mut out, false);
            bodies.push((id, out));
        }
        bodies
    }
}

/// The definitions and `#undef` lines of a file, in order, without those that are never compiled.
fn changes(source: &str, prepared: &Prepared<'_>, truths: &Truths) -> Vec<Change> {
    let file = &prepared.file;
    let mut changes: Vec<Change> = Vec::with_capacity(file.macros.len() + file.undefined.len());
    for ((id, found), &name) in (0u32..).map(MacroId).zip(&file.macros).zip(&prepared.numbers) {
        if truths.of(found.condition) != Truth::False {
            let at = (id.index() < prepared.own_macros).then_some(found.name.start);
            changes.push(Change { at, name, definition: Some(id) });
        }
    }
    changes.extend(file.undefined.iter().filter_map(|(span, _)| {
        let name = prepared.by_name.number(span.text(source))?;
        Some(Change { at: Some(span.start), name, definition: None })
    }));
    changes.sort_by_key(|change| change.at);
    changes
}

#[cfg(test)]
mod tests;
