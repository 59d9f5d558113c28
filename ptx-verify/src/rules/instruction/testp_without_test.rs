use ptx_ir::isa::Mode;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FunctionContext;
use crate::subject::module::Features;

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
    if !context.module.features().has(Features::BARE_TESTS) {
        return;
    }
    for (handle, instruction) in body.instructions.iter() {
        if module.instance(instruction).is_some_and(|instance| instance.is(Mode::Untested)) {
            let finding = RULE.at(body.span(handle), "this `testp` does not say what it tests");
            diagnostics.push(finding.with_help("add the test, such as `.finite`"));
        }
    }
}
