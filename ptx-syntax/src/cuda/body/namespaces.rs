//! Names that several namespaces declare: each gets a name of its own, `a::load`, where the file says which one it means.
//!
//! Who reads a file knows functions, structures and constants by their names alone. That is enough where no two namespaces
//! have the same. Of a name that a use says nothing certain about, all uses stay what they are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use memchr::memmem;

use super::tokens::{Kind, Token};

/// Names that are told apart, and namespaces that are in each other.
const MAX_NAMES: usize = 500;
const MAX_DEPTH: usize = 12;
/// Tokens of the arguments of a template.
const MAX_ANGLES: usize = 200;

/// A namespace by the names of those around it and its own; those without a name and inline ones are what is around them.
type Path<'s> = Vec<&'s str>;

/// Whether a file has more than one namespace.
pub(super) fn may_differ(source: &str) -> bool {
    memmem::find_iter(source.as_bytes(), "namespace").nth(1).is_some()
}

/// The names that the tokens of a file need, with blanks between them.
pub(super) fn names<'s>(tokens: &[Token<'s>]) -> String {
    let mut all: Vec<String> = meant(tokens).into_values().map(|(path, name)| joined(&path, name)).collect();
    all.sort_unstable();
    all.dedup();
    all.join(" ")
}

/// Gives each name of several namespaces its own; `made` has these.
pub(super) fn tell_apart<'s>(tokens: &mut [Token<'s>], made: &'s str) {
    if !made.contains("::") {
        return;
    }
    let known: HashSet<&'s str> = made.split(' ').collect();
    for (at, (path, name)) in meant(tokens) {
        if let Some(whole) = known.get(joined(&path, name).as_str()) {
            tokens[at].text = whole;
        }
    }
}

fn joined(path: &[&str], name: &str) -> String {
    format!("{}::{name}", path.join("::"))
}

/// The declarations of a file, and the namespace around each token.
struct Scopes<'s> {
    /// For each token the number of its namespace.
    within: Vec<u32>,
    paths: Vec<Path<'s>>,
    declared: HashMap<&'s str, BTreeSet<u32>>,
    /// What `using namespace a;` names, and what `namespace b = a;` calls so.
    used: Vec<Path<'s>>,
    aliases: HashMap<&'s str, Path<'s>>,
    /// The names of methods whose bodies stand outside their types.
    outside: HashSet<usize>,
}

/// For each token that is such a name the namespace and the name that it means.
fn meant<'s>(tokens: &[Token<'s>]) -> BTreeMap<usize, (Path<'s>, &'s str)> {
    let mut scopes = scopes(tokens);
    other_names(tokens, &mut scopes);
    let namespaces: HashSet<&str> =
        scopes.paths.iter().flatten().copied().chain(scopes.aliases.keys().copied()).collect();
    let several = scopes.declared.iter().filter(|(_, all)| all.len() > 1).map(|(name, _)| *name);
    let mut several: HashSet<&str> = several.take(MAX_NAMES).collect();
    // A name that a type also has may be its member where it stands alone: in the type's own body, and in methods whose bodies
    // stand elsewhere, of which nobody knows.
    let bodies = bodies_of_types(tokens);
    let mut of_types = HashSet::new();
    let mut members = HashSet::new();
    for (at, token) in tokens.iter().enumerate().skip(1).filter(|(_, token)| several.contains(token.text)) {
        let before = &tokens[at - 1];
        let is_member = before.is_plain()
            && match before.text {
                "." | "->" | "~" => true,
                "::" if at > 1 => {
                    tokens[at - 2].text == ">"
                        || (tokens[at - 2].kind == Kind::Identifier
                            && !namespaces.contains(tokens[at - 2].text))
                }
                _ => false,
            };
        if is_member && scopes.outside.contains(&at) {
            members.insert(token.text);
        }
        if is_member {
            of_types.insert(at);
        }
    }
    several.retain(|name| !members.contains(name));
    let mut found = BTreeMap::new();
    if several.is_empty() {
        return found;
    }
    let mut unclear: HashSet<&str> = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Identifier || !several.contains(token.text) {
            continue;
        }
        let is_written = || {
            let written = qualifier(tokens, at);
            written.is_some_and(|written| written.first().is_none_or(|first| namespaces.contains(first)))
        };
        if of_types.contains(&at) || (bodies[at] && !is_written()) {
            continue;
        }
        match scopes.of(tokens, at) {
            Some(number) => {
                found.insert(at, (scopes.paths[number as usize].clone(), token.text));
            }
            None => {
                unclear.insert(token.text);
            }
        }
    }
    found.retain(|_, (path, name)| !unclear.contains(name) && !path.is_empty());
    found
}

impl<'s> Scopes<'s> {
    /// The namespace whose name a token means; none where that is not certain.
    fn of(&self, tokens: &[Token<'s>], at: usize) -> Option<u32> {
        let all = self.declared.get(tokens[at].text)?;
        let own = &self.paths[self.within[at] as usize];
        let written = qualifier(tokens, at);
        let number = |path: &[&str]| {
            let found = self.paths.iter().position(|each| each == path)?;
            Some(found as u32).filter(|found| all.contains(found))
        };
        if let Some(written) = written {
            let mut written = written;
            if let Some(aliased) = written.first().and_then(|first| self.aliases.get(first)) {
                written.splice(..1, aliased.iter().copied());
            }
            // From the innermost on, `a` may be one of each namespace around.
            for length in (0..=own.len()).rev() {
                let whole: Path<'s> = own[..length].iter().chain(&written).copied().collect();
                if let Some(found) = number(&whole) {
                    return Some(found);
                }
            }
            let mut ends = all.iter().filter(|each| self.paths[**each as usize].ends_with(&written));
            return ends.next().copied().filter(|_| ends.next().is_none());
        }
        for length in (0..=own.len()).rev() {
            if let Some(found) = number(&own[..length]) {
                return Some(found);
            }
        }
        let is_used = |each: &&u32| {
            let path = &self.paths[**each as usize];
            self.used.iter().any(|used| path.ends_with(used))
        };
        let mut used = all.iter().filter(is_used);
        used.next().copied().filter(|_| used.next().is_none())
    }
}

/// The names before a token, `a::b::` of `a::b::c`; none where nothing stands there.
fn qualifier<'s>(tokens: &[Token<'s>], at: usize) -> Option<Path<'s>> {
    let mut path = Vec::new();
    let mut at = at;
    while at > 0 && tokens[at - 1].is_plain() && tokens[at - 1].text == "::" {
        at -= 1;
        if at == 0 || tokens[at - 1].kind != Kind::Identifier || is_word(tokens[at - 1].text) {
            // That of the file.
            return Some(path.into_iter().rev().collect());
        }
        at -= 1;
        path.push(tokens[at].text);
    }
    (!path.is_empty()).then(|| path.into_iter().rev().collect())
}

/// Whether a word ends where `::` begins a name.
fn is_word(text: &str) -> bool {
    matches!(text, "return" | "const" | "constexpr" | "typename" | "case" | "else" | "static" | "inline")
}

/// What is around each token, and what namespaces declare.
fn scopes<'s>(tokens: &[Token<'s>]) -> Scopes<'s> {
    let mut found = Scopes {
        within: vec![0; tokens.len()],
        paths: vec![Vec::new()],
        declared: HashMap::new(),
        used: Vec::new(),
        aliases: HashMap::new(),
        outside: HashSet::new(),
    };
    // The namespaces that are open, and how many names each adds to the path.
    let mut open: Vec<usize> = Vec::new();
    let mut path: Path<'s> = Vec::new();
    let (mut own, mut at, mut is_start) = (0_u32, 0, true);
    let text = |at: usize| tokens.get(at).filter(|token| token.is_plain()).map_or("", |token| token.text);
    while at < tokens.len() {
        found.within[at] = own;
        match text(at) {
            "namespace" => {
                let (mut near, mut added) = (at + 1, Vec::new());
                while tokens.get(near).is_some_and(|token| token.kind == Kind::Identifier)
                    || text(near) == "::"
                {
                    if !matches!(text(near), "::" | "inline") {
                        added.push(text(near));
                    }
                    near += 1;
                }
                if text(near) == "=" {
                    near = after_statement(tokens, near) - 1;
                } else if text(near) == "{" && open.len() < MAX_DEPTH {
                    if at > 0 && text(at - 1) == "inline" {
                        added.clear();
                    }
                    open.push(added.len());
                    path.extend(added);
                    own = found.number(&path);
                } else {
                    found.declared.clear();
                    return found;
                }
                (at, is_start) = (near + 1, true);
                continue;
            }
            "}" => {
                // Where brackets are not paired, nobody knows what is in which namespace.
                let Some(added) = open.pop() else {
                    found.declared.clear();
                    return found;
                };
                path.truncate(path.len() - added);
                own = found.number(&path);
                is_start = true;
            }
            ";" => is_start = true,
            "inline" if text(at + 1) == "namespace" => {}
            "template" if text(at + 1) == "<" => {
                let end = after_angles(tokens, at + 1);
                found.within[at..end].fill(own);
                (at, is_start) = (end, true);
                continue;
            }
            "extern"
                if tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Text) && text(at + 2) == "{" =>
            {
                open.push(0);
                at += 3;
                continue;
            }
            _ if is_start => {
                let end = declaration(tokens, at, own, &mut found);
                found.within[at..end].fill(own);
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Adds what functions call namespaces, `namespace b = a;`, and those they use.
fn other_names<'s>(tokens: &[Token<'s>], found: &mut Scopes<'s>) {
    let text = |at: usize| tokens.get(at).filter(|token| token.is_plain()).map_or("", |token| token.text);
    let path = |from: usize| {
        let names = (from..).map(text).take_while(|text| !matches!(*text, ";" | ""));
        names.filter(|text| *text != "::").collect::<Path<'s>>()
    };
    for at in (0..tokens.len()).filter(|at| text(*at) == "namespace") {
        if at > 0 && text(at - 1) == "using" {
            found.used.push(path(at + 1));
        } else if text(at + 2) == "=" {
            found.aliases.insert(text(at + 1), path(at + 3));
        }
    }
}

impl<'s> Scopes<'s> {
    fn number(&mut self, path: &[&'s str]) -> u32 {
        let known = self.paths.iter().position(|each| each == path);
        known.unwrap_or_else(|| {
            self.paths.push(path.to_vec());
            self.paths.len() - 1
        }) as u32
    }

    fn declare(&mut self, name: &'s str, own: u32) {
        self.declared.entry(name).or_default().insert(own);
    }
}

/// Notes what a declaration declares, and gives where it ends: after its `;` or its body.
fn declaration<'s>(tokens: &[Token<'s>], start: usize, own: u32, found: &mut Scopes<'s>) -> usize {
    let text = |at: usize| tokens.get(at).filter(|token| token.is_plain()).map_or("", |token| token.text);
    let is_name = |at: usize| tokens.get(at).is_some_and(|token| token.kind == Kind::Identifier);
    if text(start) == "using" {
        let at = start + 1;
        if is_name(at) && text(at + 1) == "=" {
            found.declare(text(at), own);
        }
        return after_statement(tokens, at);
    }
    let (mut at, mut is_told) = (start, false);
    while at < tokens.len() {
        match text(at) {
            "struct" | "class" | "union" | "enum" if !is_told => {
                let mut near = at + 1;
                while matches!(text(near), "class" | "struct" | "alignas" | "__align__" | "[") {
                    near = match text(near) {
                        "class" | "struct" => near + 1,
                        "[" => after_brackets(tokens, near),
                        _ => after_brackets(tokens, near + 1),
                    };
                }
                if is_name(near) && matches!(text(near + 1), "{" | ":" | ";" | "final" | "<") {
                    found.declare(text(near), own);
                    is_told = true;
                }
                at = near;
            }
            "concept" if is_name(at + 1) => {
                found.declare(text(at + 1), own);
                return after_statement(tokens, at);
            }
            "(" if !is_told => {
                let is_attribute = at > start && is_attribute(text(at - 1));
                // A function: of `operator()` and of methods that are defined here nothing is declared.
                if at > start + 1 && is_name(at - 1) && !is_attribute && text(at - 2) != "::" {
                    found.declare(text(at - 1), own);
                    is_told = true;
                }
                if at > start + 1 && is_name(at - 1) && text(at - 2) == "::" {
                    found.outside.insert(at - 1);
                }
                is_told |= at > start && is_name(at - 1) && !is_attribute;
                at = after_brackets(tokens, at);
                continue;
            }
            "=" | "[" if !is_told && at > start && is_name(at - 1) => {
                found.declare(text(at - 1), own);
                is_told = true;
                if text(at) == "=" {
                    return after_statement(tokens, at);
                }
                at = after_brackets(tokens, at);
                continue;
            }
            "{" => {
                // `constexpr int n{4};`
                if !is_told && at > start + 1 && is_name(at - 1) {
                    found.declare(text(at - 1), own);
                }
                let end = after_brackets(tokens, at);
                return if text(end) == ";" { end + 1 } else { end };
            }
            ";" => {
                if !is_told && at > start + 1 && is_name(at - 1) && text(at - 2) != "::" {
                    found.declare(text(at - 1), own);
                }
                return at + 1;
            }
            "}" => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// For each token whether it stands in the body of a type.
fn bodies_of_types(tokens: &[Token<'_>]) -> Vec<bool> {
    let mut within = vec![false; tokens.len()];
    let text = |at: usize| tokens.get(at).filter(|token| token.is_plain()).map_or("", |token| token.text);
    let mut at = 0;
    while at < tokens.len() {
        let is_type = matches!(text(at), "struct" | "class" | "union") && (at == 0 || text(at - 1) != "enum");
        at += 1;
        if !is_type {
            continue;
        }
        let mut open = at;
        while open < tokens.len() && !matches!(text(open), "{" | ";" | ")" | "=" | "}") {
            open = if matches!(text(open), "(" | "[") { after_brackets(tokens, open) } else { open + 1 };
        }
        if text(open) != "{" {
            continue;
        }
        let end = after_brackets(tokens, open);
        within[open..end].fill(true);
        at = end;
    }
    within
}

/// The token after the next `;` outside brackets.
fn after_statement(tokens: &[Token<'_>], from: usize) -> usize {
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        match token.text {
            _ if !token.is_plain() => at += 1,
            ";" => return at + 1,
            "}" => return at,
            "(" | "[" | "{" => at = after_brackets(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// The token after the bracket that closes the one at `from`.
fn after_brackets(tokens: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from).filter(|(_, token)| token.is_plain()) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The token after the `>` that closes the parameters of a template.
fn after_angles(tokens: &[Token<'_>], from: usize) -> usize {
    let (mut depth, mut at) = (0_usize, from);
    while at < tokens.len().min(from + MAX_ANGLES) {
        let token = &tokens[at];
        match token.text {
            _ if !token.is_plain() => {}
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            "(" | "[" | "{" => {
                at = after_brackets(tokens, at);
                continue;
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "__launch_bounds__"
            | "__cluster_dims__"
            | "__maxnreg__"
            | "__attribute__"
            | "__declspec"
            | "alignas"
            | "__align__"
            | "decltype"
            | "noexcept"
            | "explicit"
            | "requires"
    )
}
