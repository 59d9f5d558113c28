use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Operand, TargetListKind};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::describe::name_of;
use crate::subject::function::FunctionContext;

declare_rule! {
    /// ## What it does
    /// Reports `.branchtargets` with something else than labels, and `.calltargets` with something else than
    /// functions.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .func f()
    /// {
    ///     ret;
    /// }
    /// .entry k()
    /// {
    /// targets: .branchtargets f;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func f()
    /// {
    ///     ret;
    /// }
    /// .entry k()
    /// {
    /// targets: .calltargets f;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// The assembler takes kernels in `.calltargets`; only the call of one is refused.
    name: "target-list",
    code: "P0105",
    former: ["E0320"],
    class: Invalid,
    level: Error,
    summary: "a list of targets that cannot be reached so",
    check: Function(check),
}

fn check(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let (module, body) = (context.module.module, context.body);
    for (_, list) in body.targets.iter() {
        let (word, wanted) = match list.kind {
            TargetListKind::Branch => (DirectiveKind::BranchTargets.word(), "labels"),
            TargetListKind::Call => (DirectiveKind::CallTargets.word(), "functions"),
        };
        let fits = |operand: &Operand| match (list.kind, operand) {
            (_, Operand::Unknown(_)) => true,
            (TargetListKind::Branch, operand) => matches!(operand, Operand::Label(_)),
            (TargetListKind::Call, operand) => matches!(operand, Operand::Function(_)),
        };
        if let Some(&target) = list.targets.iter().find(|target| !fits(target)) {
            let name = name_of(module, body, target).unwrap_or_default();
            out.push(RULE.at(list.span, format!("`{word}` lists {wanted}, `{name}` is none")));
        }
    }
}
