use ptx_ir::ir::{Handle, Label, Operand};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::producer::Printed;

declare_rule! {
    /// ## What it does
    /// Reports a label that no branch, no table and no debugging data refers to.
    ///
    /// ## Why is this bad
    /// The reader looks for the branch.
    ///
    /// ## Example
    /// ```ptx
    /// AGAIN:
    /// add.u32 %r1, %r1, 1;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.u32 %r1, %r1, 1;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Labels of modules with debugging sections, which may refer to any of them.
    /// What compilers print whatever the program, where the comment at the head of the file names
    /// the compiler.
    name: "unused-label",
    code: "P0803",
    former: ["S0404"],
    class: Style,
    level: Info,
    summary: "a label that nothing goes to",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    if context.body.labels.is_empty() || context.module.has_sections() {
        return;
    }
    let mut used = vec![false; context.body.labels.len()];
    let mut mark = |label: Handle<Label>| {
        if let Some(slot) = used.get_mut(label.index()) {
            *slot = true;
        }
    };
    let listed = context.body.targets.iter().flat_map(|(_, list)| list.targets.iter().copied());
    for operand in context.mentions.all(context.body).chain(listed) {
        if let Operand::Label(label) = operand {
            mark(label);
        }
    }
    for (handle, label) in context.body.labels.iter() {
        if !used[handle.index()] {
            let name = module.name(label.name);
            if !context.module.is_printed(Printed::Unused(name)) {
                diagnostics.push(RULE.at(label.span, format!("nothing goes to the label `{name}`")));
            }
        }
    }
}
