use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Header, Item};
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;
use crate::rules::instruction::{target_too_low, version_too_low};
use crate::subject::declarations::place_of;
use crate::subject::describe::edit_distance;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports a module whose first directives are not `.version`, `.target` and, where it has one,
    /// `.address_size`, in this order, each once; a version or target that does not exist; options of `.target`
    /// that exclude each other.
    ///
    /// | what | rule |
    /// |---|---|
    /// | `.version` | a published version: 7.9, 8.9 and whatever is newer than 9.5 are refused |
    /// | `.target` | one of the 44 targets, or `sm_101`, the name of `sm_110` before PTX 9.0 |
    /// | `debug` | PTX 3.0, and a `.section` in the module |
    /// | `texmode_unified`, `texmode_independent` | PTX 1.5, one of them |
    /// | `map_f64_to_f32` | targets below `sm_13` |
    /// | `.address_size` | 32 or 64, PTX 2.3 |
    ///
    /// ## Why is this bad
    /// The module does not assemble: what any other line means depends on them.
    ///
    /// ## Example
    /// ```ptx
    /// .target sm_90
    /// .version 8.6
    /// .address_size 64
    /// .entry k()
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .version 8.6
    /// .target sm_90
    /// .address_size 64
    /// .entry k()
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// The assembler also takes `.target compute_90` and anything after the number of a target (`sm_90x`); here
    /// these are reported.
    name: "module-header",
    code: "P0103",
    former: ["E0301"],
    class: Invalid,
    level: Error,
    summary: "a module that does not begin with `.version` and `.target`, or names one that does not exist",
    check: Module(check),
    also: [version_too_low::RULE],
}

/// Whether version and target of a module are known, so that it can be told what they have.
pub(crate) fn is_known(context: &ModuleContext<'_>) -> bool {
    let header = &context.module.header;
    // A module of the builder has no text.
    context.source.is_empty()
        || (header.version_span.is_some_and(|span| version(context, span).is_some())
            && header.target_span.is_some_and(|span| Target::parse(context.text(span)).is_some()))
}

fn version(context: &ModuleContext<'_>, span: Span) -> Option<Version> {
    Version::parse(context.text(span)).filter(|version| version.is_published())
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    if context.source.is_empty() {
        return;
    }
    let header = &context.module.header;
    order(context, header, out);
    if let Some(span) = header.version_span {
        check_version(context, span, out);
    }
    if let Some(span) = header.target_span {
        check_target(context, span, out);
    }
    options(context, header, out);
    if let (Some(span), None) = (header.address_size_span, header.address_size) {
        out.push(RULE.at(span, format!("an address has 32 or 64 bits, not {}", context.text(span))));
    }
}

/// The finding about a text without a byte.
pub(crate) fn empty() -> Diagnostic {
    RULE.at(Span::at(0), "the module has no `.version`")
        .with_help("every module begins with `.version` and `.target`")
}

/// `.version`, `.target`, `.address_size`, and only then anything else.
fn order(context: &ModuleContext<'_>, header: &Header, out: &mut Vec<Diagnostic>) {
    let first = context.module.items.iter().map(|item| place_of(context.module, item)).min();
    let end = Span::at(context.source.len() as u32);
    let after = |span: Option<Span>| span.map_or(u32::MAX, |span| span.start);
    let mut reached = 0;
    let (version, target) = (DirectiveKind::Version, DirectiveKind::Target);
    for (word, span) in [(version, header.version_span), (target, header.target_span)] {
        // What is where the directive should be.
        let others = [header.version_span, header.target_span, header.address_size_span, first];
        let instead = others.into_iter().flatten().filter(|other| other.start >= reached).min();
        match (span, instead) {
            (Some(span), Some(instead)) if span == instead => reached = span.end,
            (span, instead) => {
                out.push(misplaced(word, span, instead.map_or(end, head_of)));
                return;
            }
        }
    }
    let size = after(header.address_size_span);
    if let Some(span) = header.address_size_span
        && (size < reached || first.is_some_and(|first| first.start < size))
    {
        out.push(
            RULE.at(span, "`.address_size` is too late or too early")
                .with_help("a module begins with `.version`, `.target` and `.address_size`, in this order"),
        );
    }
}

/// The finding that `place` is where `word` should be, which is missing or comes at `span`.
fn misplaced(kind: DirectiveKind, span: Option<Span>, place: Span) -> Diagnostic {
    let word = kind.word();
    match span {
        None => RULE.at(place, format!("the module has no `{word}`")).with_help(format!(
            "every module begins with `.version` and `.target`, as in `{word} {}`",
            if kind == DirectiveKind::Version { "8.6" } else { "sm_90" }
        )),
        Some(span) => RULE
            .at(place, format!("`{word}` is not before this"))
            .with_secondary(span, "it is here")
            .with_help("a module begins with `.version`, `.target` and `.address_size`, in this order"),
    }
}

/// The beginning of a place, for a finding that is about what is missing before it.
fn head_of(span: Span) -> Span {
    Span::at(span.start)
}

fn check_version(context: &ModuleContext<'_>, span: Span, out: &mut Vec<Diagnostic>) {
    if version(context, span).is_some() {
        return;
    }
    let text = context.text(span);
    let finding = RULE.at(span, format!("there is no PTX version {text}"));
    out.push(match Version::parse(text) {
        Some(version) if version > Version::LATEST => {
            finding.with_help(format!("the newest version known here is {}", Version::LATEST))
        }
        Some(version) => match Version::ALL.into_iter().find(|each| *each > version) {
            Some(next) => finding.with_help(format!("the next version that was published is {next}")),
            None => finding,
        },
        None => finding.with_help("a version is two numbers around a dot, as in `8.6`"),
    });
}

fn check_target(context: &ModuleContext<'_>, span: Span, out: &mut Vec<Diagnostic>) {
    let text = context.text(span);
    if let Some(target) = Target::parse(text) {
        let first = Target::min_version_of(text).unwrap_or(target.min_version());
        if first > context.version() {
            out.push(version_too_low::finding(context, span, &format!("target `{text}`"), first));
        }
        return;
    }
    let nearest = Target::all().map(Target::as_str).min_by_key(|name| edit_distance(name, text));
    let finding = RULE.at(span, format!("there is no target `{text}`"));
    out.push(match nearest {
        Some(nearest) if edit_distance(nearest, text) <= 2 => with_replacement(finding, span, nearest),
        _ => finding,
    });
}

fn with_replacement(finding: Diagnostic, span: Span, text: &str) -> Diagnostic {
    let edit = Edit { span, replacement: text.to_owned() };
    finding.with_fix(format!("write `{text}`"), Applicability::Likely, vec![edit])
}

fn options(context: &ModuleContext<'_>, header: &Header, out: &mut Vec<Diagnostic>) {
    let mut texture_mode: Option<(&str, Span)> = None;
    for &(symbol, span) in &header.options {
        let option = context.module.name(symbol);
        match option {
            "debug" => debug(context, span, out),
            "texmode_unified" | "texmode_independent" => {
                needs(context, option, span, Version::new(1, 5), out);
                match texture_mode {
                    Some((earlier, place)) if earlier != option => out.push(
                        RULE.at(span, format!("`{option}` excludes `{earlier}`"))
                            .with_secondary(place, "the first one"),
                    ),
                    _ => texture_mode = Some((option, span)),
                }
            }
            "map_f64_to_f32" if context.target().number() >= 13 => out.push(RULE.at(
                span,
                format!("`map_f64_to_f32` is for targets without `.f64`, `{}` has it", context.target()),
            )),
            "map_f64_to_f32" => {}
            _ if Target::parse(option).is_some() => {}
            _ => out.push(RULE.at(span, format!("`.target` has no option `{option}`"))),
        }
    }
}

fn debug(context: &ModuleContext<'_>, span: Span, out: &mut Vec<Diagnostic>) {
    needs(context, "debug", span, Version::new(3, 0), out);
    if !context.module.items.iter().any(|item| matches!(item, Item::Section(_))) {
        out.push(
            RULE.at(span, "the module says `debug` and has no debugging section")
                .with_help("remove `debug`, or add the `.section`s with the DWARF information"),
        );
    }
}

fn needs(context: &ModuleContext<'_>, option: &str, span: Span, version: Version, out: &mut Vec<Diagnostic>) {
    if context.version() < version {
        out.push(version_too_low::finding(context, span, &format!("option `{option}`"), version));
    }
}

/// Drops what was said about versions and targets where those of the module are not known.
pub(crate) fn forget_gates(diagnostics: &mut Vec<Diagnostic>) {
    let gates = [version_too_low::RULE.info.name, target_too_low::RULE.info.name];
    diagnostics.retain(|diagnostic| !gates.contains(&diagnostic.rule));
}
