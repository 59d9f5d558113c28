use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::producer::Printed;

declare_rule! {
    /// ## What it does
    /// Reports a `.reg` declaration of which no register is read or written. Of a range such as `%r<10>` one
    /// register in use is enough.
    ///
    /// ## Why is this bad
    /// It distracts, and is often what a misspelt name leaves over.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .u32 %a, %b;
    /// mov.u32 %a, 1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .u32 %a;
    /// mov.u32 %a, 1;
    /// ```
    ///
    /// ## What it may miss
    /// Single registers of a range.
    /// What compilers print whatever the program, where the comment at the head of the file names
    /// the compiler.
    name: "unused-register",
    code: "P0504",
    former: ["S0403"],
    class: Style,
    level: Info,
    summary: "a declared register that nothing uses",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let module = context.module.module;
    // Debugging data may name registers that no instruction does.
    if module.header.debug {
        return;
    }
    let parameters = facts.entry_registers();
    let groups = context.body.registers.iter().map(|(_, group)| group);
    let declared = groups.filter(|group| group.first.0 >= parameters);
    for group in facts.unnamed(declared) {
        let name = module.name(group.name);
        if context.module.is_printed(Printed::Unused(name)) {
            continue;
        }
        let message = match group.range {
            Some(range) => format!("none of the registers `{name}<{range}>` is used"),
            None => format!("register `{name}` is not used"),
        };
        diagnostics.push(RULE.at(group.span, message));
    }
}
