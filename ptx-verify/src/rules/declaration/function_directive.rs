use ptx_ir::ir::{Directive, DirectiveArgument, Function, FunctionKind, Module};
use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;

use crate::subject::module::ModuleContext;
use crate::rule::declare_rule;

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

/// What is after a directive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    None,
    /// So many integers.
    Integers {
        most: usize,
    },
    /// So many integers, each above 0.
    Positive {
        most: usize,
    },
    /// Anything.
    Any,
}

/// A directive of functions.
struct Row {
    word: &'static str,
    on_kernels: bool,
    on_functions: bool,
    values: Values,
    /// A directive that cannot be beside it.
    excludes: Option<&'static str>,
}

const fn kernel(word: &'static str, values: Values, excludes: Option<&'static str>) -> Row {
    Row { word, on_kernels: true, on_functions: false, values, excludes }
}

const fn function(word: &'static str, values: Values) -> Row {
    Row { word, on_kernels: false, on_functions: true, values, excludes: None }
}

const ROWS: &[Row] = &[
    kernel(".maxnreg", Values::Positive { most: 1 }, None),
    kernel(".maxntid", Values::Positive { most: 3 }, Some(".reqntid")),
    kernel(".reqntid", Values::Positive { most: 3 }, Some(".maxntid")),
    kernel(".minnctapersm", Values::Positive { most: 1 }, None),
    kernel(".maxnctapersm", Values::Positive { most: 1 }, None),
    kernel(".reqnctapercluster", Values::Integers { most: 3 }, Some(".maxclusterrank")),
    kernel(".maxclusterrank", Values::Integers { most: 1 }, Some(".reqnctapercluster")),
    kernel(".explicitcluster", Values::None, None),
    kernel(".blocksareclusters", Values::None, None),
    kernel(".minperctamemory", Values::Integers { most: 1 }, None),
    kernel(".pragma", Values::Any, None),
    Row { word: ".language", on_kernels: true, on_functions: true, values: Values::Any, excludes: None },
    function(".noreturn", Values::None),
    function(".abi_preserve", Values::Integers { most: 1 }),
    function(".abi_preserve_control", Values::Integers { most: 1 }),
];

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    for (_, function) in context.functions() {
        let first = First::new(module, function);
        for (index, directive) in function.directives.iter().enumerate() {
            out.extend(one(context, function, &first, index, directive));
        }
    }
}

/// Where each directive of a function is first; those that functions do not have are left out.
struct First<'a>(Vec<(&'a str, usize)>);

impl<'a> First<'a> {
    fn new(module: &'a Module, function: &Function) -> Self {
        let mut first = Self(Vec::new());
        for (index, directive) in function.directives.iter().enumerate() {
            let word = module.name(directive.word);
            if first.of(word).is_none() && ROWS.iter().any(|row| row.word == word) {
                first.0.push((word, index));
            }
        }
        first
    }

    fn of(&self, word: &str) -> Option<usize> {
        self.0.iter().find(|(each, _)| *each == word).map(|&(_, index)| index)
    }
}

fn one(
    context: &ModuleContext<'_>,
    function: &Function,
    first: &First<'_>,
    index: usize,
    directive: &Directive,
) -> Option<Diagnostic> {
    let module = context.module;
    let word = module.name(directive.word);
    let span = directive.span;
    let Some(row) = ROWS.iter().find(|row| row.word == word) else {
        return Some(RULE.at(span, format!("functions have no directive `{word}`")));
    };
    if let Some(what) = misplaced(function, row) {
        return Some(RULE.at(span, format!("`{word}` {what}")));
    }
    let others = |wanted: &str| function.directives.get(first.of(wanted)?);
    if let Some(other) = row.excludes.and_then(others)
        && other.span < span
    {
        let excluded = row.excludes.unwrap_or_default();
        return Some(
            RULE.at(span, format!("`{word}` excludes `{excluded}`"))
                .with_secondary(other.span, "the other one"),
        );
    }
    if word == ".maxnctapersm" && context.version() >= Version::new(2, 1) {
        return Some(
            RULE.at(span, "`.maxnctapersm` is not supported since PTX 2.1")
                .with_help("write `.minnctapersm`"),
        );
    }
    values(row, directive).or_else(|| special(module, function, first, index))
}

/// Why a directive cannot be on this kind of function.
fn misplaced(function: &Function, row: &Row) -> Option<&'static str> {
    let kernel = function.kind == FunctionKind::Entry;
    if kernel && !row.on_kernels {
        return Some("is for functions, this is a kernel");
    }
    if !kernel && !row.on_functions {
        return Some("is for kernels, this is a function");
    }
    (kernel && function.body.is_none())
        .then_some("belongs to the definition of a kernel, this is a declaration")
}

fn values(row: &Row, directive: &Directive) -> Option<Diagnostic> {
    let (word, given) = (row.word, directive.arguments.len());
    let (least, most) = match row.values {
        Values::Any => return None,
        Values::None => (0, 0),
        Values::Integers { most } | Values::Positive { most } => (1, most),
    };
    if given < least || given > most {
        let wanted = match (least, most) {
            (0, _) => "no number".to_owned(),
            (_, 1) => "1 number".to_owned(),
            _ => format!("1 to {most} numbers"),
        };
        return Some(RULE.at(directive.span, format!("`{word}` takes {wanted}, there are {given}")));
    }
    directive.arguments.iter().find_map(|(argument, span)| match argument {
        DirectiveArgument::Integer(number) if *number > i64::from(u32::MAX) => {
            Some(RULE.at(*span, format!("`{word}` takes a number of 32 bits, {number} is larger")))
        }
        DirectiveArgument::Integer(0) if matches!(row.values, Values::Positive { .. }) => {
            Some(RULE.at(*span, format!("`{word}` takes a number above 0")))
        }
        DirectiveArgument::Integer(_) => None,
        _ => Some(RULE.at(*span, format!("`{word}` takes integers"))),
    })
}

/// What the table does not say.
fn special(module: &Module, function: &Function, first: &First<'_>, index: usize) -> Option<Diagnostic> {
    let (word, span) = (module.name(function.directives[index].word), function.directives[index].span);
    let has = |wanted: &str| first.of(wanted).is_some();
    match word {
        ".blocksareclusters" if !has(".reqntid") || !has(".reqnctapercluster") => {
            Some(RULE.at(span, "`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`"))
        }
        ".noreturn" if !function.returns.is_empty() => {
            Some(RULE.at(span, "a function that returns a value cannot be `.noreturn`"))
        }
        ".noreturn" if index > 0 => {
            Some(RULE.at(span, "`.noreturn` is the first directive of a function, and is given once"))
        }
        ".abi_preserve" | ".abi_preserve_control" if first.of(word) < Some(index) => {
            Some(RULE.at(span, format!("`{word}` is repeated")))
        }
        ".abi_preserve_control" => too_many_predicates(&function.directives[index]),
        ".language" => language(module, &function.directives[index]),
        _ => None,
    }
}

/// Calls can keep 11 predicates at most.
fn too_many_predicates(directive: &Directive) -> Option<Diagnostic> {
    const MOST: i64 = 11;
    directive.arguments.iter().find_map(|(argument, span)| match argument {
        DirectiveArgument::Integer(number) if !(0..=MOST).contains(number) => {
            Some(RULE.at(*span, format!("`.abi_preserve_control` takes {MOST} at most, not {number}")))
        }
        _ => None,
    })
}

/// The manual's table of languages.
const LANGUAGES: &[&str] =
    &["unknown", "ptx", "nvvm", "cuda c++", "cuda c++ tile", "tile ir", "python-cutile", "fortran", "optix"];

fn language(module: &Module, directive: &Directive) -> Option<Diagnostic> {
    if directive.arguments.is_empty() {
        return Some(RULE.at(directive.span, "`.language` takes names or numbers"));
    }
    directive.arguments.iter().find_map(|(argument, span)| match argument {
        DirectiveArgument::Integer(number) if !(0..=10).contains(number) => {
            Some(RULE.at(*span, format!("`.language` takes numbers from 0 to 10, not {number}")))
        }
        DirectiveArgument::String(text) => {
            let name = module.name(*text).trim_matches('"');
            let known = LANGUAGES.contains(&name.to_ascii_lowercase().as_str());
            (!known).then(|| RULE.at(*span, format!("there is no language \"{name}\"")))
        }
        _ => None,
    })
}
