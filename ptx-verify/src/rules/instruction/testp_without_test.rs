use ptx_syntax::Diagnostic;

use crate::subject::function::FunctionContext;
use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports `testp` without `.finite`, `.infinite`, `.number`, `.notanumber`, `.normal` or `.subnormal`.
    ///
    /// ## Why is this bad
    /// The manual requires the test. NVIDIA's assembler accepts the instruction without it and picks one.
    ///
    /// ## Example
    /// ```ptx
    /// testp.f32 %p1, %f1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// testp.finite.f32 %p1, %f1;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "testp-without-test",
    code: "P0221",
    former: ["H0204"],
    class: Hazard,
    level: Warn,
    summary: "a `testp` that does not say what it tests",
    check: Function(check),
}

fn check(context: &FunctionContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let (module, body) = (context.module.module, context.body);
    // The table takes the test for optional, as the assembler does; that it should be there is known here.
    if !context.module.features().bare_tests {
        return;
    }
    let is_bare = |text: &str| matches!(text, "testp.f32" | "testp.f64");
    for (handle, instruction) in body.instructions.iter() {
        if instruction.instance.is_some() && is_bare(&module.spellings[instruction.spelling].text) {
            let finding = RULE.at(body.span(handle), "this `testp` does not say what it tests");
            diagnostics.push(finding.with_help("add the test, such as `.finite`"));
        }
    }
}
