use ptx_ir::directive::{Arguments, DirectiveKind};
use ptx_ir::ir::{Directive, DirectiveArgument, Function, FunctionKind, Module};
use ptx_ir::version::Version;
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports directives between the header and the body of a function that do not exist, cannot be there,
    /// exclude each other or lack each other, or have a value that they cannot have.
    ///
    /// | directive | on | values | needs |
    /// |---|---|---|---|
    /// | `.maxnreg` | kernels | 1, above 0 | PTX 1.3 |
    /// | `.maxntid` | kernels, without `.reqntid` | 1 to 3, above 0 | PTX 1.3 |
    /// | `.reqntid` | kernels, without `.maxntid` | 1 to 3, above 0 | PTX 2.1 |
    /// | `.minnctapersm` | kernels | 1, above 0 | PTX 2.0 |
    /// | `.maxnctapersm` | kernels, up to PTX 2.0 | 1 | PTX 1.3 |
    /// | `.reqnctapercluster` | kernels, without `.maxclusterrank` | 1 to 3 | PTX 7.8, `sm_90` |
    /// | `.maxclusterrank` | kernels, without `.reqnctapercluster` | 1 | PTX 7.8, `sm_90` |
    /// | `.explicitcluster` | kernels | none | PTX 7.8, `sm_90` |
    /// | `.blocksareclusters` | kernels with `.reqntid` and `.reqnctapercluster` | none | PTX 9.0, `sm_90` |
    /// | `.minperctamemory` | kernels | 1 | PTX 9.4, `sm_80` |
    /// | `.pragma` | kernels | strings | PTX 2.0 |
    /// | `.language` | kernels, functions | strings, integers from 0 to 10 | PTX 9.2 |
    /// | `.noreturn` | functions without return values, first | none | PTX 6.4, `sm_30` |
    /// | `.abi_preserve` | functions, once | 1 | PTX 9.0, `sm_80` |
    /// | `.abi_preserve_control` | functions, once | 1, at most 11 | PTX 9.0, `sm_80` |
    ///
    /// All but those of functions need a body: a declaration of a kernel has none of them.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .entry k() .maxntid 256 .reqntid 256
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .entry k() .reqntid 256
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "function-directive",
    code: "P0314",
    former: ["E0316"],
    class: Invalid,
    level: Error,
    summary: "a directive that a function cannot have",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, function) in context.functions().filter(|(_, function)| !function.directives.is_empty()) {
        let header = Header::of(function);
        let directives = function.directives.iter().enumerate();
        out.extend(directives.filter_map(|(index, directive)| one(context, &header, index, directive)));
    }
}

/// A function with the first directive of each kind.
struct Header<'f> {
    function: &'f Function,
    first: FxHashMap<DirectiveKind, usize>,
}

impl<'f> Header<'f> {
    fn of(function: &'f Function) -> Self {
        let mut first = FxHashMap::default();
        for (index, directive) in function.directives.iter().enumerate() {
            if let Some(kind) = directive.kind {
                first.entry(kind).or_insert(index);
            }
        }
        Self { function, first }
    }

    /// The first directive of a kind.
    fn first(&self, kind: DirectiveKind) -> Option<&'f Directive> {
        self.first.get(&kind).map(|&index| &self.function.directives[index])
    }
}

/// The directive of a header that this one is; none where functions have no such directive.
fn of_functions(directive: &Directive) -> Option<DirectiveKind> {
    directive.kind.filter(|kind| kind.places().kernel || kind.places().function)
}

fn one(
    context: &ModuleContext<'_>,
    header: &Header<'_>,
    index: usize,
    directive: &Directive,
) -> Option<Diagnostic> {
    let (module, span) = (context.module, directive.span);
    let Some(kind) = of_functions(directive) else {
        let word = module.name(directive.word);
        return Some(RULE.at(span, format!("functions have no directive `{word}`")));
    };
    let word = kind.quoted();
    if let Some(what) = misplaced(header.function, kind) {
        return Some(RULE.at(span, format!("{word} {what}")));
    }
    let excluded = kind.excludes().iter().find_map(|&other| Some((other, header.first(other)?)));
    if let Some((other, there)) = excluded.filter(|(_, there)| there.span < span) {
        return Some(
            RULE.at(span, format!("{word} excludes {}", other.quoted()))
                .with_secondary(there.span, "the other one"),
        );
    }
    if let Some((last, now)) = kind.until()
        && let Some(next) = Version::ALL.into_iter().find(|version| *version > last)
        && context.version() >= next
    {
        return Some(
            RULE.at(span, format!("{word} is not supported since PTX {next}"))
                .with_help(format!("write {}", now.quoted())),
        );
    }
    arguments(module, kind, directive).or_else(|| company(header, kind, index, directive))
}

/// Why a directive cannot be on this kind of function.
fn misplaced(function: &Function, kind: DirectiveKind) -> Option<&'static str> {
    let kernel = function.kind == FunctionKind::Entry;
    if kernel && !kind.places().kernel {
        return Some("is for functions, this is a kernel");
    }
    if !kernel && !kind.places().function {
        return Some("is for kernels, this is a function");
    }
    (kernel && function.body.is_none())
        .then_some("belongs to the definition of a kernel, this is a declaration")
}

fn arguments(module: &Module, kind: DirectiveKind, directive: &Directive) -> Option<Diagnostic> {
    match kind.arguments() {
        Arguments::Anything => None,
        Arguments::Nothing => counted(kind, directive, 0, 0),
        Arguments::Integers { least, most, low, high } => counted(kind, directive, least.into(), most.into())
            .or_else(|| directive.arguments.iter().find_map(|each| integer(kind, each, low, high))),
        Arguments::Names { low, high, names } => {
            if directive.arguments.is_empty() {
                return Some(RULE.at(directive.span, format!("{} takes names or numbers", kind.quoted())));
            }
            directive.arguments.iter().find_map(|each| named(module, kind, each, (low, high), names))
        }
    }
}

fn counted(kind: DirectiveKind, directive: &Directive, least: usize, most: usize) -> Option<Diagnostic> {
    let (word, given) = (kind.quoted(), directive.arguments.len());
    if (least..=most).contains(&given) {
        return None;
    }
    let wanted = match (least, most) {
        (_, 0) => "no number".to_owned(),
        (1, 1) => "1 number".to_owned(),
        _ if least == most => format!("{most} numbers"),
        _ => format!("{least} to {most} numbers"),
    };
    Some(RULE.at(directive.span, format!("{word} takes {wanted}, there are {given}")))
}

fn integer(
    kind: DirectiveKind,
    (argument, span): &(DirectiveArgument, Span),
    low: u32,
    high: u32,
) -> Option<Diagnostic> {
    let word = kind.quoted();
    match *argument {
        DirectiveArgument::Integer(number) if number > i64::from(u32::MAX) => {
            Some(RULE.at(*span, format!("{word} takes a number of 32 bits, {number} is larger")))
        }
        DirectiveArgument::Integer(number) if high < u32::MAX && !(0..=i64::from(high)).contains(&number) => {
            Some(RULE.at(*span, format!("{word} takes {high} at most, not {number}")))
        }
        DirectiveArgument::Integer(0) if low > 0 => {
            Some(RULE.at(*span, format!("{word} takes a number above 0")))
        }
        DirectiveArgument::Integer(_) => None,
        _ => Some(RULE.at(*span, format!("{word} takes integers"))),
    }
}

fn named(
    module: &Module,
    kind: DirectiveKind,
    (argument, span): &(DirectiveArgument, Span),
    (low, high): (u32, u32),
    names: &[&str],
) -> Option<Diagnostic> {
    match argument {
        DirectiveArgument::Integer(number) if !(i64::from(low)..=i64::from(high)).contains(number) => {
            let word = kind.quoted();
            Some(RULE.at(*span, format!("{word} takes numbers from {low} to {high}, not {number}")))
        }
        DirectiveArgument::String(text) => {
            let name = module.name(*text).trim_matches('"');
            let known = names.iter().any(|each| each.eq_ignore_ascii_case(name));
            let what = kind.word().trim_start_matches('.');
            (!known).then(|| RULE.at(*span, format!("there is no {what} \"{name}\"")))
        }
        _ => None,
    }
}

/// What is wrong with a directive beside others.
fn company(
    header: &Header<'_>,
    kind: DirectiveKind,
    index: usize,
    directive: &Directive,
) -> Option<Diagnostic> {
    let (word, span) = (kind.quoted(), directive.span);
    if kind.needs().iter().any(|needed| !header.first.contains_key(needed)) {
        let needed: Vec<&str> = kind.needs().iter().map(|needed| needed.quoted()).collect();
        return Some(RULE.at(span, format!("{word} needs {}", needed.join(" and "))));
    }
    if kind.is_without_results() && !header.function.returns.is_empty() {
        return Some(RULE.at(span, format!("a function that returns a value cannot be {word}")));
    }
    if kind.is_first() && index > 0 {
        return Some(
            RULE.at(span, format!("{word} is the first directive of a function, and is given once")),
        );
    }
    let is_repeated = header.first.get(&kind).is_some_and(|first| *first < index);
    (kind.is_once() && is_repeated).then(|| RULE.at(span, format!("{word} is repeated")))
}
