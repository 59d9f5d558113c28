use ptx_facts::mentions::each_special_register;
use ptx_ir::isa::{FormId, Gate, OpcodeId, resolve_exactly};
use ptx_ir::target::{Suffix, Target, TargetSet};
use ptx_syntax::{Diagnostic, Span};

use super::operand_count;
use super::version_too_low::{is_of_others, subject};
use crate::rule::declare_rule;
use crate::subject::function::FunctionContext;
use crate::subject::module::ModuleContext;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports instructions, modifiers, special registers and directives that the module's `.target` does not
    /// have.
    ///
    /// ## Why is this bad
    /// The module does not assemble, not even for a newer device: `.target` promises that nothing newer is used.
    /// Features of an architecture (`sm_90a`) or a family (`sm_100f`) are not inherited by later targets.
    ///
    /// ## Example
    /// ```ptx
    /// .version 8.0
    /// .target sm_80
    /// .address_size 64
    /// .entry k()
    /// {
    ///     barrier.cluster.arrive;
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
    ///     barrier.cluster.arrive;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "target-too-low",
    code: "P0215",
    former: ["E0213"],
    class: Invalid,
    level: Error,
    summary: "something that the target does not have",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Unavailable(instance) = occurrence.problem else { return None };
    let module = &occurrence.context.module;
    let target = module.target();
    if instance.targets.contains(target) {
        return None;
    }
    // The requirement that the fewest targets meet says the most.
    let unmet = |gate: &&Gate| !gate.targets.contains(target);
    let gates = instance.gates.iter().filter(unmet);
    let gate = gates.min_by_key(|gate| (gate.targets.len(), is_of_others(occurrence, gate)));
    let (what, span) = subject(occurrence, gate);
    let finding = finding(module, span, &what, gate.map_or(instance.targets, |gate| gate.targets));
    let finding = match successor(occurrence, instance.targets) {
        Some(form) => finding.with_help(format!("the form for this target is `{form}`")),
        None => finding,
    };
    Some(match gate {
        Some(gate) if gate.targets != instance.targets => {
            finding.with_note(format!("the whole instruction needs {}", requirement(instance.targets)))
        }
        _ => finding,
    })
}

/// The form with one more modifier after its opcode that the target has, where it no longer has the one without: `shfl.sync`.
fn successor(occurrence: &Occurrence<'_>, had: TargetSet) -> Option<String> {
    let module = &occurrence.context.module;
    let (target, platform) = (module.target(), module.module.header.platform());
    if had.iter().any(|each| each.number() >= target.number()) {
        return None;
    }
    let (root, rest) = occurrence.name().split_at(occurrence.opcode().len());
    let forms = OpcodeId::parse(root)?.forms().filter(|form| form.may_be_for(target));
    let mut words: Vec<&str> = forms.flat_map(FormId::slots).flat_map(|slot| slot.values).collect();
    words.sort_unstable();
    words.dedup();
    words.into_iter().find_map(|word| {
        let mut exact = resolve_exactly(&format!("{root}{word}{rest}")).into_iter();
        let available = exact.find(|instance| instance.is_available(platform))?;
        Some(operand_count::form(&available))
    })
}

/// "sm_80 or higher", "sm_90a", "sm_100a, sm_100f or a later target of that family".
fn requirement(targets: TargetSet) -> String {
    targets.to_string()
}

/// Says that `what` needs another target.
pub(crate) fn finding(module: &ModuleContext<'_>, span: Span, what: &str, needed: TargetSet) -> Diagnostic {
    let target = module.target();
    let mut finding =
        RULE.at(span, format!("{what} needs {}, this module is for {target}", requirement(needed)));
    if let Some(declared) = module.module.header.target_span {
        finding = finding.with_secondary(declared, "declared here");
    }
    if let Some(help) = variant(target, needed) {
        finding = finding.with_help(help);
    }
    finding
}

/// The target of the same number that has it.
fn variant(target: Target, needed: TargetSet) -> Option<String> {
    let same = needed.iter().find(|each| each.number() == target.number() && *each != target)?;
    let what = match same.suffix() {
        Suffix::Plain => "plain target",
        Suffix::Family => "family's target",
        Suffix::Architecture => "architecture's own target",
    };
    Some(format!("the {what} `{same}` has it"))
}

/// Reports the special registers of a function that the module's target does not have.
pub(crate) fn special(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let target = context.module.target();
    each_special_register(context.body, context.mentions, |register, span| {
        if !register.targets().contains(target) {
            out.push(finding(&context.module, span, &format!("`{}`", register.name()), register.targets()));
        }
    });
}
