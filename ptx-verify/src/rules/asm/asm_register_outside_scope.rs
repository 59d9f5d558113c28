use ptx_ir::ir::Statement;
use ptx_syntax::cuda::PieceKind;
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::subject::fragment::unit::{Unit, inside};
use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a register that a template declares outside braces.
    ///
    /// ## Why is this bad
    /// The declaration lands in the function around it: where the statement is inlined twice, or is in a loop that
    /// is unrolled, the assembler refuses the second declaration. A name with `%=` is another one in each copy, with
    /// nvcc and with clang, and is not reported.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int square(int x) { int y; asm(".reg .u32 t; mov.u32 t, %1; mul.lo.u32 %0, t, t;" : "=r"(y) : "r"(x)); return y; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int square(int x) { int y; asm("{ .reg .u32 t; mov.u32 t, %1; mul.lo.u32 %0, t, t; }" : "=r"(y) : "r"(x)); return y; }
    /// ```
    ///
    /// ## What it may miss
    /// A register that another statement of the file uses is taken to be declared for it, and is not reported.
    name: "asm-register-outside-scope",
    code: "P1016",
    former: ["H0620"],
    class: Hazard,
    level: Warn,
    summary: "a register that is declared outside braces",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.statement.function.is_none() && unit.statement.macro_definition.is_none() {
        return;
    }
    let Some(group) = top_level(unit).into_iter().next() else { return };
    let Some((name, span)) = group else { return };
    let place = unit.place(span).unwrap_or(unit.statement.template.span);
    let mut found = RULE
        .at(place, format!("register `{name}` is declared outside braces"))
        .with_label("a second copy of this statement declares it again")
        .with_help("put the template into `{ }`");
    if let Some(edits) = braces(unit) {
        found = found.with_fix("put the template into `{ }`", Applicability::Certain, edits);
    }
    out.push(found);
}

/// The registers declared outside braces that no other statement uses.
fn top_level(unit: &Unit<'_>) -> Vec<Option<(String, Span)>> {
    if unit.broken || unit.open_braces != 0 {
        return Vec::new();
    }
    let registers = outside_braces(unit).into_iter().filter(|(_, _, label)| !label);
    registers
        .filter(|(name, span, _)| !is_unique(unit, *span) && !is_used_elsewhere(unit, name))
        .map(|(name, span, _)| Some((name, span)))
        .collect()
}

/// Whether a declaration has `%=` in its name, which makes the name of each copy different.
pub(crate) fn is_unique(unit: &Unit<'_>, declaration: Span) -> bool {
    unit.relative(declaration).is_some_and(|relative| unit.expanded.is_numbered(relative))
}

/// What the template declares outside braces, and whether it is a label.
pub(crate) fn outside_braces(unit: &Unit<'_>) -> Vec<(String, Span, bool)> {
    let Some((_, body)) = unit.function() else { return Vec::new() };
    let symbols = &unit.lowered().module.symbols;
    let mut depth = 0;
    let mut found = Vec::new();
    for statement in &body.statements {
        let (name, span, label) = match statement {
            Statement::Open => {
                depth += 1;
                continue;
            }
            Statement::Close => {
                depth -= 1;
                continue;
            }
            Statement::Registers(group) => (body.registers[*group].name, body.registers[*group].span, false),
            Statement::Label(label) => (body.labels[*label].name, body.labels[*label].span, true),
            _ => continue,
        };
        if depth == 0 && inside(unit.template, span) {
            found.push((symbols.name(name).to_owned(), span, label));
        }
    }
    found
}

/// Whether the template of another statement of the function has the name.
pub(crate) fn is_used_elsewhere(unit: &Unit<'_>, name: &str) -> bool {
    unit.siblings.use_elsewhere(unit.statement, name)
}

/// Insertions of braces at both ends of the template; none where another statement uses what they would hide.
pub(crate) fn braces(unit: &Unit<'_>) -> Option<Vec<Edit>> {
    if outside_braces(unit).iter().any(|(name, _, _)| is_used_elsewhere(unit, name)) {
        return None;
    }
    let statement = unit.statement;
    let template = &statement.template;
    let (first, last) = (template.pieces.first()?, template.pieces.last()?);
    let plain = |piece: &ptx_syntax::cuda::Piece| {
        let text = piece.source.text(unit.source);
        piece.kind == PieceKind::Literal && text.starts_with('"') && text.ends_with('"')
    };
    let own = inside(statement.span, first.source) && inside(statement.span, last.source);
    if !plain(first) || !plain(last) || !own || statement.macro_definition.is_some() || statement.variant > 0
    {
        return None;
    }
    let last_line = template.text.rsplit('\n').next().unwrap_or("");
    let end = if last_line.contains("//") { "\\n}" } else { " }" };
    Some(vec![
        Edit { span: Span::at(first.source.start + 1), replacement: "{ ".into() },
        Edit { span: Span::at(last.source.end - 1), replacement: end.into() },
    ])
}
