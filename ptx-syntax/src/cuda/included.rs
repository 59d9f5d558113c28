//! What the files that a source includes declare: macros and types.
//!
//! Of these files only that is kept, as a text of its own: one definition of each macro that they define in one way, and
//! declarations without the bodies of functions; and of both only what the source may depend on.
//! [`extract_among`](super::extract_among) reads that text before the source.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use memchr::memmem;

use super::condition::{ConditionKind, Truth, Truths};
use super::model::{ConditionId, CudaFile, Macro, OtherMacro};
use super::preprocess::{self, KEYWORDS, Prepared};
use super::scan::{Kind, Scanner, Token};
use super::spelling;
use crate::Span;

/// How long the declarations for a source may be.
const MAX_BYTES: usize = 1 << 20;

/// Words that nearly every declaration has: that a source has them, too, says nothing.
const COMMON: [&str; 47] = [
    "__constant__",
    "__device__",
    "__forceinline__",
    "__global__",
    "__host__",
    "__inline__",
    "__restrict__",
    "auto",
    "bool",
    "char",
    "class",
    "const",
    "constexpr",
    "double",
    "else",
    "enum",
    "explicit",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "if",
    "inline",
    "int",
    "long",
    "namespace",
    "noexcept",
    "nullptr",
    "operator",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "std",
    "struct",
    "template",
    "this",
    "true",
    "typename",
    "unsigned",
    "void",
    "volatile",
];

/// What one file declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    declarations: Vec<Declaration>,
    /// What is defined and what is taken back, in order.
    macros: Vec<(String, Option<Defined>)>,
    /// The headers of CUDA that it includes.
    of_cuda: Vec<&'static str>,
}

/// A declaration outside functions, without their bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declaration {
    /// The heads of the namespaces around it.
    around: Vec<String>,
    text: String,
    /// Where in the text are the names that it may declare, and some of those that it uses.
    names: Vec<Span>,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Defined {
    /// With their parentheses; empty for a macro without.
    parameters: String,
    body: String,
    place: Place,
}

/// Where a macro is defined. Definitions that differ in it alone are the same.
#[derive(Clone, Debug)]
struct Place {
    file: Arc<str>,
    /// From 1.
    line: u32,
    /// Whether it holds wherever the file is included, for every target.
    always: bool,
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl Declaration {
    fn new(around: Vec<String>, text: String) -> Self {
        let names = names(&text);
        Self { around, text, names }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.text(&self.text))
    }
}

/// The names outside the parentheses and braces of a declaration.
fn names(text: &str) -> Vec<Span> {
    let mut tokens = Scanner::file(text).peekable();
    if tokens.next_if(|token| token.is(text, "template")).is_some() {
        let mut depth = 0u32;
        for token in tokens.by_ref() {
            depth += u32::from(token.is(text, "<"));
            let closed = if token.is(text, ">>") { 2 } else { u32::from(token.is(text, ">")) };
            depth = depth.saturating_sub(closed);
            if depth == 0 {
                break;
            }
        }
    }
    let mut depth = 0u32;
    let mut names = Vec::new();
    for token in tokens {
        match token.span.text(text) {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            name if depth == 0 && token.kind == Kind::Identifier && !COMMON.contains(&name) => {
                names.push(token.span);
            }
            _ => {}
        }
    }
    names
}

impl Header {
    /// Reads a file. Where its braces have no partners it declares macros only.
    #[must_use]
    pub fn of(file: &str) -> Self {
        Self::named("", file)
    }

    /// The same of a file with a name, which is told where a macro of the file is.
    #[must_use]
    pub fn named(name: &str, file: &str) -> Self {
        if u32::try_from(file.len()).is_err() {
            return Self::default();
        }
        let source = spelling::usual(file);
        let prepared = preprocess::prepare(&source);
        Self {
            declarations: declarations(&source, &prepared).unwrap_or_default(),
            macros: macros(&source, &prepared, &name.into()),
            of_cuda: prepared.headers.included().collect(),
        }
    }

    /// How many bytes it takes, about.
    #[must_use]
    pub fn size(&self) -> usize {
        let declared: usize =
            self.declarations.iter().map(|found| found.text.len() + 8 * found.names.len() + 64).sum();
        let defined = |(name, found): &(String, Option<Defined>)| {
            name.len() + found.as_ref().map_or(0, |found| found.parameters.len() + found.body.len()) + 64
        };
        declared + self.macros.iter().map(defined).sum::<usize>()
    }
}

/// The macros and types that a source finds in the files that it includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    text: String,
    /// The macros that hold asm statements.
    with_asm: HashMap<String, Place>,
}

impl Declarations {
    /// Those for a source, of some files, each after the files that it includes itself.
    #[must_use]
    pub fn of<'h>(source: &str, headers: impl IntoIterator<Item = &'h Header>) -> Self {
        let headers: Vec<&Header> = headers.into_iter().collect();
        let mut defined: HashMap<&str, Option<&Defined>> = HashMap::new();
        for (name, found) in headers.iter().flat_map(|header| &header.macros) {
            match found {
                None => {
                    defined.remove(name.as_str());
                }
                Some(found) => {
                    let known = defined.entry(name).or_insert(Some(found));
                    // In several ways: which of them holds is not known.
                    *known = known.filter(|known| *known == found);
                }
            }
        }
        let declared: Vec<&Declaration> = headers.iter().flat_map(|header| &header.declarations).collect();
        if defined.is_empty() && declared.is_empty() && headers.iter().all(|header| header.of_cuda.is_empty())
        {
            return Self::default();
        }
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, declaration) in declared.iter().enumerate() {
            for name in declaration.names() {
                by_name.entry(name).or_default().push(index);
            }
        }
        let mut wanted = Wanted::of(source);
        let mut is_kept = vec![false; declared.len()];
        let mut names = Vec::new();
        while let Some(name) = wanted.waiting.pop() {
            if let Some(Some(found)) = defined.get(name) {
                names.push(name);
                wanted.extend(identifiers(&found.body));
            }
            for index in by_name.remove(name).into_iter().flatten() {
                if !std::mem::replace(&mut is_kept[index], true) {
                    wanted.extend(identifiers(&declared[index].text));
                }
            }
        }
        let mut text = String::new();
        for (Declaration { around, text: found, .. }, _) in
            declared.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept)
        {
            let _ = writeln!(text, "{}{found}{}", around.concat(), " }".repeat(around.len()));
        }
        for header in headers.iter().flat_map(|header| &header.of_cuda) {
            let _ = writeln!(text, "#include <{header}>");
        }
        names.sort_unstable();
        let defined = names.into_iter().filter_map(|name| Some((name, (*defined.get(name)?)?)));
        let defined: Vec<(&str, &Defined)> = defined.collect();
        let with_asm = with_asm(&defined);
        let mut places = HashMap::new();
        for (name, Defined { parameters, body, place }) in defined {
            if with_asm.contains(name) {
                // A condition around the `#define` would be one of its uses as well.
                if !place.always {
                    continue;
                }
                places.insert(name.to_owned(), place.clone());
            }
            let _ = writeln!(text, "#define {name}{parameters} {body}");
        }
        // More is no source that people write.
        if text.len() > MAX_BYTES { Self::default() } else { Self { text, with_asm: places } }
    }

    /// Whether macros that hold asm statements are among them.
    #[must_use]
    pub fn have_asm(&self) -> bool {
        !self.with_asm.is_empty()
    }

    /// Tells of a macro with asm statements where it is.
    pub(super) fn locate(&self, found: &mut OtherMacro) {
        if let Some(place) = self.with_asm.get(&found.name) {
            found.file = String::from(&*place.file);
            found.line = place.line;
        }
    }

    /// Whether nothing is declared.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The declarations as C++.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The names of macros that hold asm statements, by themselves or through others.
fn with_asm<'d>(defined: &[(&'d str, &Defined)]) -> HashSet<&'d str> {
    let mut found: HashSet<&str> = HashSet::new();
    let mut named_by: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, Defined { body, .. }) in defined {
        let line = Span::new(0, body.len() as u32);
        let is_alias = Scanner::line(body, line).all(|token| token.kind == Kind::Identifier);
        let words = Scanner::line(body, line).filter(|token| token.kind == Kind::Identifier);
        let words: Vec<&str> = words.map(|token| token.span.text(body)).collect();
        if words.iter().any(|word| KEYWORDS.contains(word)) && !is_alias {
            found.insert(name);
        }
        words.into_iter().for_each(|word| named_by.entry(word).or_default().push(name));
    }
    let aliases = defined.iter().filter(|(_, found)| is_alias_of_keyword(&found.body)).map(|(name, _)| *name);
    let mut waiting: Vec<&str> = found.iter().copied().chain(aliases).collect();
    while let Some(word) = waiting.pop() {
        for name in named_by.remove(word).into_iter().flatten() {
            if found.insert(name) {
                waiting.push(name);
            }
        }
    }
    found
}

/// Whether a macro stands for the keyword and its qualifiers alone.
fn is_alias_of_keyword(body: &str) -> bool {
    let mut words = Scanner::line(body, Span::new(0, body.len() as u32));
    words.next().is_some_and(|word| KEYWORDS.contains(&word.span.text(body)))
        && words.all(|word| word.kind == Kind::Identifier)
}

/// The names of the macros of a file that may hold an asm statement, themselves or through others of the file. A file
/// without such a macro costs a search.
#[must_use]
pub fn macros_with_asm(file: &str) -> Vec<&str> {
    let has_one = memmem::find_iter(file.as_bytes(), b"asm").any(|at| {
        let line = memchr::memrchr(b'\n', &file.as_bytes()[..at]).map_or(0, |newline| newline + 1);
        // A line that is continued may be one of a `#define`.
        is_define(&file[line..at]) || file[..line].trim_end().ends_with('\\')
    });
    if !has_one {
        return Vec::new();
    }
    let directives = Scanner::file(file).filter(|token| token.kind == Kind::Directive);
    let mut defined: Vec<(&str, Vec<&str>)> = Vec::new();
    for directive in directives {
        let line = Span::new(directive.span.start + 1, directive.span.end);
        let words = Scanner::line(file, line).filter(|token| token.kind == Kind::Identifier);
        let mut words = words.map(|token| token.span.text(file));
        if words.next() == Some("define")
            && let Some(name) = words.next()
        {
            defined.push((name, words.collect()));
        }
    }
    let mut found: Vec<&str> = Vec::new();
    let mut known: HashSet<&str> = KEYWORDS.into();
    // A macro is mostly defined before those that name it.
    for _ in 0..MAX_ROUNDS {
        let before = found.len();
        for (name, words) in &defined {
            if words.iter().any(|word| known.contains(word)) && known.insert(name) {
                found.push(name);
            }
        }
        if found.len() == before {
            break;
        }
    }
    found
}

/// So often the macros of a file are looked through for those that name others which are defined later.
const MAX_ROUNDS: usize = 8;

fn is_define(line: &str) -> bool {
    let word = line.trim_start().strip_prefix('#').map(str::trim_start);
    word.is_some_and(|rest| rest.starts_with("define"))
}

/// The names on which a source may depend.
struct Wanted<'t> {
    known: HashSet<&'t str>,
    waiting: Vec<&'t str>,
}

impl<'t> Wanted<'t> {
    fn of(source: &'t str) -> Self {
        let mut wanted = Self { known: HashSet::new(), waiting: Vec::new() };
        wanted.extend(identifiers(source));
        wanted
    }

    fn extend(&mut self, names: impl IntoIterator<Item = &'t str>) {
        for name in names {
            if self.known.insert(name) {
                self.waiting.push(name);
            }
        }
    }
}

/// The identifiers of a text that not nearly every text has.
fn identifiers(text: &str) -> HashSet<&str> {
    let of = |token: Token| match token.kind {
        Kind::Directive => Scanner::line(text, Span::new(token.span.start + 1, token.span.end)).collect(),
        _ => vec![token],
    };
    let words = Scanner::file(text).flat_map(of).filter(|token| token.kind == Kind::Identifier);
    words.map(|token| token.span.text(text)).filter(|word| !COMMON.contains(word)).collect()
}

/// What a file defines, and what it takes back, in order.
fn macros(source: &str, prepared: &Prepared<'_>, name: &Arc<str>) -> Vec<(String, Option<Defined>)> {
    let (file, truths) = (&prepared.file, prepared.truths(source));
    let compiled = |condition| truths.of(condition) != Truth::False;
    let defined = file.macros.iter().filter(|found| compiled(found.condition));
    let undefined = file.undefined.iter().filter(|(_, condition)| compiled(*condition));
    let definition = |found: &Macro| {
        let parameters = found.parameters.as_ref().map_or(String::new(), |names| {
            let names: Vec<&str> = names.iter().map(|name| name.text(source)).collect();
            format!("({})", names.join(", "))
        });
        let always = always(source, file, truths, found.condition);
        let place = Place { file: Arc::clone(name), line: found.name.start, always };
        Defined { parameters, body: found.body.text(source).trim().to_owned(), place }
    };
    let mut changes: Vec<(Span, Option<Defined>)> = defined
        .map(|found| (found.name, Some(definition(found))))
        .chain(undefined.map(|(name, _)| (*name, None)))
        .collect();
    changes.sort_by_key(|(name, _)| name.start);
    let (mut line, mut counted) = (1, 0);
    for place in changes.iter_mut().filter_map(|(_, found)| Some(&mut found.as_mut()?.place)) {
        let at = std::mem::replace(&mut place.line, 0) as usize;
        line += memchr::memchr_iter(b'\n', &source.as_bytes()[counted..at]).count() as u32;
        (place.line, counted) = (line, at);
    }
    changes.into_iter().map(|(name, found)| (name.text(source).to_owned(), found)).collect()
}

/// Whether what is below a condition is compiled wherever the file is included for a device.
fn always(source: &str, file: &CudaFile, truths: &Truths, condition: ConditionId) -> bool {
    let mut around = Some(condition);
    while let Some(id) = around.filter(|id| truths.of(*id) != Truth::True) {
        let condition = &file.conditions[id.index()];
        let is_first = condition.previous.is_none();
        let words = Scanner::line(source, condition.expression).map(|token| token.span.text(source));
        let words: Vec<&str> = words.collect();
        let guard = match (condition.kind, &*words) {
            (ConditionKind::Undefined, [name]) => Some(name),
            (ConditionKind::If, ["!", "defined", "(", name, ")"] | ["!", "defined", name]) => Some(name),
            (ConditionKind::Defined, ["__CUDACC__" | "__CUDA_ARCH__"]) => None,
            _ => return false,
        };
        // What a file defines once, however often it is included.
        let defines = |name: &&str| {
            let is_it = |found: &Macro| found.condition == id && found.name.text(source) == *name;
            file.macros.iter().any(is_it)
        };
        if !is_first || !guard.is_none_or(defines) {
            return false;
        }
        around = condition.parent;
    }
    true
}

/// The declarations of a file without bodies of functions and initializers in braces; none where its braces have no
/// partners.
fn declarations(source: &str, prepared: &Prepared<'_>) -> Option<Vec<Declaration>> {
    let truths = prepared.truths(source);
    let compiled =
        |token: &&Token| !token.ignored && truths.of_index(token.condition as usize) != Truth::False;
    let tokens: Vec<Token> = prepared.tokens.iter().filter(compiled).copied().collect();
    let mut found = Vec::new();
    let mut around: Vec<String> = Vec::new();
    let mut text = String::new();
    // How many braces of classes are open.
    let mut open = 0u32;
    // Where what may be the head of a class or a function begins.
    let mut first = 0;
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        at += 1;
        let word = match token.kind {
            Kind::Identifier | Kind::Punctuator => token.span.text(source),
            _ => "",
        };
        let head = &tokens[first..at - 1];
        let ends = match word {
            "{" => match Group::after(source, head) {
                Group::Namespace if open == 0 => {
                    around.push(std::mem::take(&mut text) + " {");
                    first = at;
                    false
                }
                Group::Namespace | Group::Class => {
                    open += 1;
                    text.push_str(" {");
                    first = at;
                    false
                }
                Group::Other => {
                    at = after_group(source, &tokens, at)?;
                    text.push(';');
                    first = at;
                    open == 0
                }
            },
            "}" if open > 0 => {
                open -= 1;
                text.push_str(" }");
                false
            }
            "}" => {
                around.pop()?;
                text.clear();
                first = at;
                false
            }
            ";" => {
                text.push(';');
                first = at;
                open == 0
            }
            _ if prepared.keyword(source, token).is_some() => {
                at += 1 + tokens[at..].iter().position(|token| token.is(source, ";"))?;
                text.clear();
                first = at;
                false
            }
            _ => {
                text.push(' ');
                text.push_str(token.span.text(source));
                false
            }
        };
        if ends {
            let text = std::mem::take(&mut text);
            if text != ";" {
                found.push(Declaration::new(around.clone(), text));
            }
        }
    }
    (open == 0 && around.is_empty()).then_some(found)
}

/// What a brace opens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Namespace,
    /// A class or an enumeration.
    Class,
    /// The body of a function, or an initializer.
    Other,
}

impl Group {
    /// The group after these tokens.
    fn after(source: &str, head: &[Token]) -> Self {
        let is = |token: &Token, words: &[&str]| words.iter().any(|word| token.is(source, word));
        let has = |words: &[&str]| head.iter().any(|token| is(token, words));
        let is_linkage = matches!(head, [word, name] if word.is(source, "extern") && name.kind == Kind::Text);
        if is_linkage
            || head.first().is_some_and(|first| is(first, &["namespace"]))
            || matches!(head, [first, second, ..] if first.is(source, "inline") && second.is(source, "namespace"))
        {
            return Self::Namespace;
        }
        let is_called =
            head.last().is_some_and(|last| is(last, &[")", "const", "noexcept", "override", "="]));
        if !is_called && has(&["struct", "class", "union", "enum"]) { Self::Class } else { Self::Other }
    }
}

/// The index after the brace that closes the group in which `at` is.
fn after_group(source: &str, tokens: &[Token], mut at: usize) -> Option<usize> {
    let mut depth = 1u32;
    while depth > 0 {
        let token = tokens.get(at)?;
        match token.kind {
            Kind::Punctuator if token.is(source, "{") => depth += 1,
            Kind::Punctuator if token.is(source, "}") => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::{self, CType, CudaFile, PieceKind};

    fn among(header: &str, source: &str) -> CudaFile {
        cuda::extract_among(source, &Declarations::of(source, [&Header::of(header)]))
    }

    fn template(header: &str, source: &str) -> String {
        among(header, source).statements.first().map_or(String::new(), |found| found.template.text.clone())
    }

    #[test]
    fn macros_of_headers_are_parts_of_templates() {
        let source = "void f() { asm(OP \" a;\" TWICE(\"b;\")); }";
        let header = "#ifndef H\n#define H\n#define OP \"add\"\n#define TWICE(x) x \\\n  x\n#endif\n";
        assert_eq!(template(header, source), "add a;b;b;");
        let file = among(header, source);
        let pieces = &file.statements[0].template.pieces;
        let call = |text: &str| source.find(text).unwrap() as u32;
        assert_eq!(pieces[0].kind, PieceKind::Made);
        assert_eq!((pieces[0].source.start, pieces[0].source.end), (call("OP"), call("OP") + 2));
        assert!(pieces.iter().all(|piece| piece.source.end as usize <= source.len()), "{pieces:?}");
    }

    #[test]
    fn statements_of_macros_stand_where_these_are_used() {
        let header = "#ifndef H\n#define H\n#define ASM asm volatile\n\n#define TWO(x) ASM(\"a %0;\" :: \"r\"(x)); ASM(\"b;\")\n\
                      #define USE(x) TWO(x)\nvoid g() { USE(1); }\n#if A\n#define SOME asm(\"c;\")\n#endif\n#endif\n";
        let source = "#define OWN(x) USE(x)\nvoid f(int y) { USE(y); SOME; OWN(y + 1); }";
        let header = Header::named("h.h", header);
        let file = cuda::extract_among(source, &Declarations::of(source, [&header]));
        let found: Vec<_> = file
            .statements
            .iter()
            .map(|found| {
                let call = found.used_at.map_or("", |call| call.text(source));
                let operand = found.inputs.first().map_or("", |input| input.expression.text(source));
                let text = found.template.text.as_str();
                (text, call, found.keyword.text(source), operand, found.ordinal, found.volatile)
            })
            .collect();
        let expected = [
            ("a %0;", "USE", "USE", "y", 0, true),
            ("b;", "USE", "USE", "", 1, true),
            ("a %0;", "OWN", "USE", "y + 1", 0, true),
            ("b;", "OWN", "USE", "", 1, true),
        ];
        assert_eq!(found, expected);
        let [macro_of_all] = &*file.other_macros else { panic!("{:?}", file.other_macros) };
        assert_eq!((&*macro_of_all.name, &*macro_of_all.file, macro_of_all.line), ("TWO", "h.h", 5));
        assert!(file.statements.iter().all(|found| found.is_of_macro() && found.function.is_some()));
    }

    #[test]
    fn macros_that_may_hold_statements_are_named() {
        let file =
            "#define A(x) \\\n  asm(x)\n#define C B\n#define B A(1)\n#define D 1\nvoid f() { asm(\"\"); }\n";
        assert_eq!(macros_with_asm(file), ["A", "B", "C"]);
        assert!(macros_with_asm("#define D 1\nvoid f() { asm(\"\"); }\n").is_empty());
    }

    #[test]
    fn what_is_defined_in_several_ways_stays_unknown() {
        let source = "void f() { asm(OP \" a;\"); }";
        let wild = |header: &str| among(header, source).statements[0].template.has_wildcards();
        assert!(wild(""));
        assert!(wild("#ifdef A\n#define OP \"add\"\n#else\n#define OP \"sub\"\n#endif\n"));
        assert!(wild("#define OP \"add\"\n#undef OP\n"));
        assert!(!wild("#if 0\n#define OP \"add\"\n#else\n#define OP \"sub\"\n#endif\n"));
        assert!(!wild("#define OP \"add\"\n#undef OP\n#define OP \"sub\"\n"));
        let own = format!("#define OP \"mul\"\n{source}");
        assert!(among("#define OP \"add\"\n", &own).statements[0].template.has_wildcards());
    }

    #[test]
    fn types_of_headers_are_those_of_operands() {
        let header = "#pragma once\ntypedef double real;\nnamespace n { inline int f() { real real; return 1; } }\n\
                      struct Pair { unsigned short a; int sum() const { return a; } };\nusing word = unsigned short;\n\
                      inline float g(int x) { asm(\"x;\"); return 1; }\nasm(\".global .u32 g;\");\n";
        let source =
            "void f(real a, Pair p, word w) { asm(\"x;\" :: \"d\"(a), \"h\"(p.a), \"h\"(w), \"f\"(g(1))); }";
        let file = among(header, source);
        let types: Vec<&CType> = file.statements[0].inputs.iter().map(|input| &input.ctype).collect();
        assert_eq!(file.statements.len(), 1);
        assert_eq!(file.functions.len(), 1);
        assert!(types.iter().all(|ctype| **ctype != CType::Unknown), "{types:?}");
        assert!(matches!(types[0], CType::Float { .. }), "{types:?}");
        let plain = cuda::extract(source);
        assert!(plain.statements[0].inputs.iter().all(|input| input.ctype == CType::Unknown));
    }

    #[test]
    fn the_source_is_what_it_was() {
        let sources = [
            "#define A(x) asm(\"a\" x \";\")\nvoid f() { A(\"b\"); asm(\"c;\"); }\n#if B\nvoid g() { A(\"d\"); }\n#endif",
            "void f() { asm(\"x\" M \";\"); } /* open",
            "void f() { asm(\"x;\" : \"=r\"(a) : \"r\"(b), \"l\"(c)); }\\",
        ];
        for source in sources {
            let header =
                Header::of("struct Q { int f; };\nint f(Q q);\n#define b(x) asm(x)\n#define UNUSED f\n");
            let known = Declarations::of(source, [&header]);
            assert!(!known.is_empty());
            let (among, plain) = (cuda::extract_among(source, &known), cuda::extract(source));
            assert_eq!(format!("{among:?}"), format!("{plain:?}"), "{source}");
        }
    }

    #[test]
    fn names_of_namespaces_are_seen_in_them() {
        let header =
            "namespace a { namespace b { typedef float real; } }\nextern \"C\" { typedef double wide; }";
        let source = "namespace a::b { void f(real x, wide y) { asm(\"x;\" :: \"f\"(x), \"d\"(y)); } }\n\
                      void g(real x) { asm(\"x;\" :: \"f\"(x)); }";
        let file = among(header, source);
        let unknown =
            |statement: usize, at: usize| file.statements[statement].inputs[at].ctype == CType::Unknown;
        assert!(!unknown(0, 0) && !unknown(0, 1) && unknown(1, 0), "{:?}", file.statements);
    }

    #[test]
    fn broken_headers_declare_no_types() {
        for header in ["struct A {", "}", "void f() {", "namespace {", "asm(", "#if X\n{\n", "enum { A, }; }"]
        {
            let file = among(header, "void f(int a) { asm(\"x;\" :: \"r\"(a)); }");
            assert_eq!(file.statements.len(), 1, "{header}");
            assert_eq!(file.functions.len(), 1, "{header}");
        }
    }

    #[test]
    fn nothing_of_a_damaged_header_gets_into_the_source() {
        const HEADER: &str = "#ifndef H\n#define H\n#include <cuda_fp16.h>\n#define OP \"add\" \\\n \".u32\"\n#define ASM asm volatile\n\
            #define USE(x) asm(\"x;\" :: \"r\"(x))\nnamespace n { template <class T> struct P { T a; half b; }; \
            inline int f(int x) { asm(\"y;\"); return x; } }\nextern \"C\" { typedef P<int> Q; }\nusing w = unsigned short;\n#endif\n";
        const SOURCE: &str = "#include \"h.h\"\n#define TWICE(x) x x\nnamespace n { void g(Q q, w h, half b) {\n  ASM(OP \" %0;\" \
            TWICE(\"z;\") : \"=r\"(q.a) : \"h\"(h), \"h\"(b)); asm(\"\" OP); USE(q.a);\n}}\n";
        let mut state = 1_u64;
        let mut below = |count: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % count
        };
        let pieces = [
            "{", "}", "(", ")", "\"", "#define ", "\n", "#if 0\n", "#endif\n", "asm", "R\"(", "/*", "\\\n",
            "",
        ];
        let mut damaged = |text: &str| {
            let mut text = text.to_owned();
            for _ in 0..below(4) {
                let at = below(text.len());
                let end = (at + below(6)).min(text.len());
                text.replace_range(at..end, pieces[below(pieces.len())]);
            }
            text
        };
        let mut known = 0;
        for _ in 0..3000 {
            let (header, source) = (damaged(HEADER), damaged(SOURCE));
            let file = among(&header, &source);
            let end = source.len() as u32;
            for statement in &file.statements {
                let operands = statement.outputs.iter().chain(&statement.inputs);
                let spans =
                    operands.flat_map(|operand| [operand.span, operand.expression, operand.constraint.span]);
                let pieces = statement.template.pieces.iter().map(|piece| piece.source);
                let all = [statement.span, statement.keyword].into_iter().chain(spans).chain(pieces);
                assert!(all.clone().all(|span| span.end <= end), "{header}\n----\n{source}");
                known += usize::from(statement.template.text.contains("add.u32"));
            }
            assert!(file.functions.iter().all(|found| found.body.end <= end), "{header}\n----\n{source}");
        }
        assert!(known > 1000, "{known}");
    }
}
