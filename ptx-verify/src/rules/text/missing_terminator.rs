use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::producer::Printed;

declare_rule! {
    /// ## What it does
    /// Reports a function whose last instruction lets control run past the closing brace: neither `ret`,
    /// `exit`, `trap` nor a branch.
    ///
    /// ## Why is this bad
    /// The manual does not say what happens; NVIDIA's assembler returns. What is missing is more often a branch
    /// than a `ret`.
    ///
    /// ## Example
    /// ```ptx
    /// .entry f() {
    ///     mov.u32 %r1, 0;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .entry f() {
    ///     mov.u32 %r1, 0;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// A function that ends in a call is taken to end in one that does not return. GCC writes nothing where a program
    /// says that control never comes to the end of a function, so its output has no such findings.
    name: "missing-terminator",
    code: "P0106",
    former: ["H0331"],
    class: Hazard,
    level: Warn,
    summary: "a function whose control runs past its end",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let Some(last) = facts.cfg.falls_off() else { return };
    let index = last.index() as u32;
    if facts.is_call(index)
        || facts.instance(index).is_none()
        || context.module.is_printed(Printed::UnreachableEnd)
    {
        return;
    }
    let name = context.module.module.name(facts.function.name);
    let finding = RULE.at(
        context.instruction_span(index),
        format!("control runs past the end of `{name}` after this instruction"),
    );
    diagnostics.push(finding.with_help("end the function with `ret`"));
}
