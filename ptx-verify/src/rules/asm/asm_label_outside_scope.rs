use std::cell::OnceCell;

use ptx_ir::ir::Statement;
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::fragment::scope::{braces, is_unique, is_used_elsewhere};
use crate::subject::fragment::unit::{Unit, inside};

declare_rule! {
    /// ## What it does
    /// Reports a label that a template declares outside braces.
    ///
    /// ## Why is this bad
    /// The label lands in the function around it: where the statement is inlined twice, or is in a loop that is
    /// unrolled, the assembler refuses the second label.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void wait(int n) {
    ///   asm volatile("again: bar.warp.sync 0xffffffff; { .reg .pred p; setp.ne.s32 p, %0, 0; @p bra again; }" :: "r"(n));
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void wait(int n) {
    ///   asm volatile("{ again: bar.warp.sync 0xffffffff; { .reg .pred p; setp.ne.s32 p, %0, 0; @p bra again; } }" :: "r"(n));
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// A label that another statement of the function uses is taken to be there for it, and is not reported.
    name: "asm-label-outside-scope",
    code: "P1017",
    former: ["H0621"],
    class: Hazard,
    level: Warn,
    summary: "a label that is declared outside braces",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let Some((_, body)) = unit.function() else { return };
    if unit.broken || unit.open_braces != 0 {
        return;
    }
    let mut depth = 0;
    let edits = OnceCell::new();
    let mut fixed = false;
    for statement in &body.statements {
        match statement {
            Statement::Open => depth += 1,
            Statement::Close => depth -= 1,
            Statement::Label(label) if depth == 0 => {
                let label = &body.labels[*label];
                let name = unit.lowered().module.symbols.name(label.name);
                let Some(place) = unit.place(label.span) else { continue };
                if !inside(unit.template, label.span)
                    || is_unique(unit, label.span)
                    || is_used_elsewhere(unit, name)
                {
                    continue;
                }
                let found = RULE
                    .at(place, format!("label `{name}` is declared outside braces"))
                    .with_label("a second copy of this statement declares it again")
                    .with_help(match unit.statement.host.unique() {
                        Some(unique) => {
                            format!("put the template into `{{ }}`, or write `{unique}` into the name")
                        }
                        None => "put the template into `{ }`".into(),
                    });
                // One pair of braces is enough for all labels.
                let edits = edits.get_or_init(|| braces(unit)).as_ref();
                out.push(match edits.filter(|_| !std::mem::replace(&mut fixed, true)) {
                    Some(edits) => {
                        found.with_fix("put the template into `{ }`", Applicability::Certain, edits.clone())
                    }
                    None => found,
                });
            }
            _ => {}
        }
    }
}
