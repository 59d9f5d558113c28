use ptx_ir::directive::{DirectiveKind, Pragma};
use ptx_ir::ir::{Directive, DirectiveArgument, Function, FunctionKind, Item, Module};
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::function::FunctionContext;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports `.pragma` strings where they cannot be, and numbers that they cannot have.
    ///
    /// | string | where | needs |
    /// |---|---|---|
    /// | `nounroll` | module, kernel header, body | PTX 2.0 |
    /// | `used_bytes_mask N` | body | PTX 8.3, `sm_50` |
    /// | `enable_smem_spilling` | body of a kernel | PTX 8.7, `sm_75` |
    /// | `frequency N` | body, N above 0 | PTX 9.0 |
    /// | `mma_throughput N` | body | PTX 9.3 |
    /// | anything else | kernel header, body: ignored by the assembler | PTX 2.0 |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .entry k()
    /// {
    ///     .pragma "frequency 0";
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .entry k()
    /// {
    ///     .pragma "frequency 10";
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Masks of `used_bytes_mask`: the assembler takes any text.
    name: "pragma",
    code: "P0315",
    former: ["E0317"],
    class: Invalid,
    level: Error,
    summary: "a pragma that cannot be there",
    check: DeclarationsAndBodies(check, body),
}

/// Whether a pragma belongs into a body and nowhere else.
fn is_of_bodies(text: &str) -> bool {
    Pragma::parse(word_of(text)).is_some_and(|pragma| !pragma.places.module && !pragma.places.kernel)
}

/// Whether functions cannot have a pragma.
pub(crate) fn is_of_kernels(text: &str) -> bool {
    Pragma::parse(word_of(text)).is_some_and(|pragma| pragma.kernels_only)
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    let of_headers = context.functions().flat_map(|(_, function)| &function.directives);
    for (text, span) in of_module(context).chain(of_headers).flat_map(|directive| strings(module, directive))
    {
        if is_of_bodies(text) {
            out.push(
                RULE.at(span, format!("pragma `{}` belongs into the body of a function", word_of(text))),
            );
        }
    }
    for (text, span) in of_module(context).flat_map(|directive| strings(module, directive)) {
        let is_known = Pragma::parse(text).is_some_and(|pragma| pragma.places.module);
        if !is_of_bodies(text) && !is_known {
            out.push(RULE.at(span, format!("there is no pragma `{text}` for a module")));
        }
    }
}

fn body(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    let directives = context.body.directives.iter();
    for (text, span) in directives.flat_map(|(_, directive)| strings(module, directive)) {
        out.extend(number(text, span));
        out.extend(of_kernels(&module.functions[context.handle], text, span));
    }
}

fn of_module<'a>(context: &ModuleContext<'a>) -> impl Iterator<Item = &'a Directive> {
    context.items().filter_map(|item| match item {
        Item::Directive(directive) => Some(directive),
        Item::Variable(_) | Item::Function(_) | Item::Alias { .. } | Item::Section(_) => None,
    })
}

/// The strings of a `.pragma`, without quotes; none of any other directive.
pub(crate) fn strings<'a>(
    module: &'a Module,
    directive: &'a Directive,
) -> impl Iterator<Item = (&'a str, Span)> {
    let is_pragma = directive.kind == Some(DirectiveKind::Pragma);
    directive.arguments.iter().filter(move |_| is_pragma).filter_map(|(argument, span)| match argument {
        DirectiveArgument::String(text) => Some((module.name(*text).trim_matches('"'), *span)),
        _ => None,
    })
}

/// The first word of a pragma.
pub(crate) fn word_of(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn of_kernels(function: &Function, text: &str, span: Span) -> Option<Diagnostic> {
    (is_of_kernels(text) && function.kind == FunctionKind::Function).then(|| {
        RULE.at(span, format!("pragma `{}` belongs into a kernel, this is a function", word_of(text)))
            .with_help("write it into the kernels that call the function")
    })
}

/// What is wrong with the number of a pragma that takes one.
fn number(text: &str, span: Span) -> Option<Diagnostic> {
    let mut words = text.split_whitespace();
    let pragma = Pragma::parse(words.next()?).filter(|pragma| pragma.takes_number)?;
    let number = words.next().unwrap_or_default();
    let positive = number.parse::<i128>().is_ok_and(|number| number > 0);
    (!positive).then(|| RULE.at(span, format!("{} takes a number above 0", pragma.described)))
}
