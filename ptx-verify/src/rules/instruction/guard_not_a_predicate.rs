use ptx_ir::ir::Guard;
use ptx_ir::isa::Class;
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::describe::register_name;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports a guard `@p` whose register is not of type `.pred`.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// @%r1 mov.u32 %r2, 1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// setp.ne.u32 %p1, %r1, 0;
    /// @%p1 mov.u32 %r2, 1;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "guard-not-a-predicate",
    code: "P0218",
    former: ["E0214"],
    class: Invalid,
    level: Error,
    summary: "a guard that is no predicate",
    check: Instruction(check),
}

/// Whether a guard can be there; one whose name is not declared has been reported already.
pub(crate) fn is_predicate(guard: Guard) -> bool {
    guard.class == Class::RegPred || guard.class == Class::Unknown || guard.register.is_none()
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Guard = occurrence.problem else { return None };
    let guard = occurrence.instruction.guard?;
    let (context, register) = (occurrence.context, guard.register?);
    let name = register_name(context.module.module, context.body, register);
    let ty = guard.class.register_type()?;
    // From the first byte of the instruction, which is the `@`, to the spelling.
    let span = Span::new(occurrence.span().start, occurrence.spelling_span().start);
    let text = context.module.text(span).trim_end();
    let span = Span::new(span.start, span.start + text.len() as u32);
    let mut finding = RULE.at(span, format!("a guard is a predicate, `{name}` is `{ty}`"));
    if let Some(group) = context.body.group(register) {
        finding = finding.with_secondary(group.span, format!("declared `{ty}` here"));
    }
    Some(finding.with_help("`setp.ne` turns a number into a predicate"))
}
