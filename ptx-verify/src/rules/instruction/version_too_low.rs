use ptx_facts::mentions::each_special_register;
use ptx_facts::registers::aligned;
use ptx_ir::ir::Operand;
use ptx_ir::isa::{self, Gate, Instance};
use ptx_ir::types::Type;
use ptx_ir::version::Version;
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;
use crate::subject::function::FunctionContext;
use crate::subject::module::ModuleContext;
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::shapes::class_of;

declare_rule! {
    /// ## What it does
    /// Reports instructions, modifiers, special registers and directives that came with a later PTX version than
    /// the module's `.version`.
    ///
    /// ## Why is this bad
    /// The module does not assemble, whatever the version of the assembler: `.version` promises that nothing newer
    /// is used.
    ///
    /// ## Example
    /// ```ptx
    /// .version 7.8
    /// .target sm_90
    /// .address_size 64
    /// .entry k()
    /// {
    ///     .reg .pred %p<2>;
    ///     elect.sync _|%p1, 0xffffffff;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .version 8.0
    /// .target sm_90
    /// .address_size 64
    /// .entry k()
    /// {
    ///     .reg .pred %p<2>;
    ///     elect.sync _|%p1, 0xffffffff;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// For about 2 % of the instances of instructions the first version was not measured one by one.
    name: "version-too-low",
    code: "P0213",
    former: ["E0212"],
    class: Invalid,
    level: Error,
    summary: "something that came with a later PTX version",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Unavailable(instance) = occurrence.problem else { return None };
    let module = &occurrence.context.module;
    let version = module.version();
    if version >= instance.min_version {
        return None;
    }
    let gate = instance.gates.iter().max_by_key(|gate| gate.min_version);
    let (what, span) = subject(occurrence, gate.filter(|gate| gate.min_version > version));
    let finding = finding(module, span, &what, gate.map_or(instance.min_version, |gate| gate.min_version));
    Some(lowest(finding, instance))
}

fn lowest(finding: Diagnostic, instance: &Instance) -> Diagnostic {
    let needed = instance.gates.iter().map(|gate| gate.min_version).max().unwrap_or(instance.min_version);
    if needed < instance.min_version {
        return finding.with_note(format!("the whole instruction needs `.version {}`", instance.min_version));
    }
    finding
}

/// What brings a requirement, and where it is: a modifier, or the instruction.
pub(crate) fn subject(occurrence: &Occurrence<'_>, gate: Option<&Gate>) -> (String, Span) {
    let name = occurrence.name();
    if let Some(of_operand) = gate.and_then(|gate| operand(occurrence, gate)) {
        return of_operand;
    }
    let modifiers = gate.map(|gate| &*gate.modifiers).unwrap_or_default();
    let places: Vec<_> = modifiers.iter().filter_map(|each| Some((*each, name.find(each)?))).collect();
    match places.as_slice() {
        // A type says nothing on its own.
        [(modifier, at)] if Type::parse(modifier).is_some() => {
            (format!("`{name}`"), occurrence.place(&(*at..at + modifier.len())))
        }
        [(modifier, at)] => {
            let place = occurrence.place(&(*at..at + modifier.len()));
            (format!("`{modifier}` of `{}`", occurrence.opcode()), place)
        }
        [(first, at), rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|(each, _)| format!("`{each}`")).collect();
            let place = occurrence.place(&(*at..at + first.len()));
            (format!("`{first}` with {} of `{}`", rest.join(" and "), occurrence.opcode()), place)
        }
        [] => (format!("`{name}`"), occurrence.spelling_span()),
    }
}

/// Whether a requirement is about operands that none of the statement brings.
pub(crate) fn is_of_others(occurrence: &Occurrence<'_>, gate: &Gate) -> bool {
    !gate.operands.is_empty() && operand(occurrence, gate).is_none()
}

/// The operand that brings a requirement, or the part of it that does.
fn operand(occurrence: &Occurrence<'_>, gate: &Gate) -> Option<(String, Span)> {
    let Problem::Unavailable(instance) = occurrence.problem else { return None };
    let (module, body) = (occurrence.context.module.module, occurrence.context.body);
    let specs = aligned(module, body, instance, occurrence.operands());
    let brings = |operand: Operand| gate.classes.contains(class_of(module, body, operand));
    let found = occurrence.operands().iter().zip(specs).enumerate().find_map(|(index, (&operand, spec))| {
        let spec = spec?;
        let whole = (operand, occurrence.operand_span(index));
        let parts = occurrence.children(operand);
        let of_part = parts.iter().zip(&spec.children).find(|(_, spec)| gate.operands.contains(&spec.name));
        let (name, named) = match of_part {
            Some((part, spec)) => (spec.name, *part),
            None if gate.operands.contains(&spec.name) => (spec.name, whole),
            None => return None,
        };
        let elements = occurrence.children(named.0);
        let mut bringing = std::iter::once(named).chain(elements).filter(|each| brings(each.0));
        let (_, span) = if gate.classes.is_empty() { named } else { bringing.next()? };
        Some((name, span))
    });
    let (name, span) = found?;
    let opcode = isa::name(occurrence.name());
    let text = span.text(occurrence.context.module.source);
    Some(match text.len() <= MAX_SHOWN {
        true => (format!("`{text}` as the operand `{name}` of `{opcode}`"), span),
        false => (format!("this operand `{name}` of `{opcode}`"), span),
    })
}

/// A longer operand is not repeated in a message.
const MAX_SHOWN: usize = 40;

/// Says that `what` needs a later version.
pub(crate) fn finding(module: &ModuleContext<'_>, span: Span, what: &str, needed: Version) -> Diagnostic {
    let version = module.version();
    let mut finding = RULE.at(span, format!("{what} needs PTX {needed}, this module is PTX {version}"));
    let Some(declared) = module.module.header.version_span else { return finding };
    finding = finding.with_secondary(declared, "declared here");
    let edit = Edit { span: declared, replacement: needed.to_string() };
    finding.with_fix(format!("write `.version {needed}`"), Applicability::Likely, vec![edit])
}

/// Reports the special registers of a function that came later than the module's version.
pub(crate) fn special(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let version = context.module.version();
    each_special_register(context.body, context.mentions, |register, span| {
        if register.min_version() > version {
            out.push(finding(
                &context.module,
                span,
                &format!("`{}`", register.name()),
                register.min_version(),
            ));
        }
    });
}
