use std::borrow::Cow;

use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports two outputs of an asm statement that are the same C++ expression.
    ///
    /// ## Why is this bad
    /// Each output is a register of its own, and both are stored to the same variable: only one of the results
    /// remains, and which one the compiler chooses.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void split(unsigned &a, unsigned &b, unsigned long long x) {
    ///   asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(a) : "l"(x));
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void split(unsigned &a, unsigned &b, unsigned long long x) {
    ///   asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(b) : "l"(x));
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Different expressions for one variable, and operands that a macro stands for.
    name: "asm-duplicate-output-lvalue",
    code: "P1021",
    former: ["H0625"],
    class: Hazard,
    level: Warn,
    summary: "two outputs that are the same variable",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let outputs = &unit.statement.outputs;
    if outputs.len() < 2 {
        return;
    }
    let mut first: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
    // What a macro stands for is another expression with other arguments.
    let own = unit.statement.span;
    let is_own = |expression: Span| own.start <= expression.start && expression.end <= own.end;
    for (later, output) in outputs.iter().enumerate().filter(|(_, output)| is_own(output.expression)) {
        let text = output.expression.text(unit.source);
        let written: Cow<'_, str> = match text.contains(char::is_whitespace) {
            true => text.split_whitespace().collect(),
            false => text.into(),
        };
        let effects = written.contains("++") || written.contains("--") || written.contains('(');
        if effects || written.is_empty() {
            continue;
        }
        let Some(&earlier) = first.get(&written) else {
            first.insert(written, later);
            continue;
        };
        out.push(
            RULE.at(
                outputs[later].expression,
                format!("`%{earlier}` and `%{later}` are both stored to `{written}`"),
            )
            .with_secondary(outputs[earlier].expression, "stored here too"),
        );
    }
}
