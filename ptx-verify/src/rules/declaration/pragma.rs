use ptx_ir::ir::{Directive, DirectiveArgument, Function, FunctionKind, Item, Module};
use ptx_syntax::{Diagnostic, Span};

use crate::subject::function::FunctionContext;
use crate::subject::module::ModuleContext;
use crate::rule::declare_rule;

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

/// The pragma that belongs into a kernel.
pub(crate) const KERNEL_ONLY: &str = "enable_smem_spilling";

/// Pragmas that belong into a body.
pub(crate) const BODY_ONLY: &[&str] =
    &["used_bytes_mask", "enable_smem_spilling", "frequency", "mma_throughput"];

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    let of_headers = context.functions().flat_map(|(_, function)| &function.directives);
    for (text, span) in of_module(context).chain(of_headers).flat_map(|directive| strings(module, directive)) {
        if BODY_ONLY.contains(&word_of(text)) {
            out.push(
                RULE.at(span, format!("pragma `{}` belongs into the body of a function", word_of(text))),
            );
        }
    }
    for (text, span) in of_module(context).flat_map(|directive| strings(module, directive)) {
        if !BODY_ONLY.contains(&word_of(text)) && text != "nounroll" {
            out.push(RULE.at(span, format!("there is no pragma `{text}` for a module")));
        }
    }
}

fn body(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    let directives = context.body.directives.iter();
    for (text, span) in directives.flat_map(|(_, directive)| strings(module, directive)) {
        out.extend(frequency(text, span));
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
    let is_pragma = module.name(directive.word) == ".pragma";
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
    (word_of(text) == KERNEL_ONLY && function.kind == FunctionKind::Function).then(|| {
        RULE.at(span, "pragma `enable_smem_spilling` belongs into a kernel, this is a function")
            .with_help("write it into the kernels that call the function")
    })
}

fn frequency(text: &str, span: Span) -> Option<Diagnostic> {
    let mut words = text.split_whitespace();
    if words.next() != Some("frequency") {
        return None;
    }
    let number = words.next().unwrap_or_default();
    let positive = number.parse::<i128>().is_ok_and(|number| number > 0);
    (!positive).then(|| RULE.at(span, "pragma `frequency` takes a number above 0"))
}
