//! What templates declare, in braces of their own or not.

use ptx_ir::ir::Statement;
use ptx_syntax::cuda::PieceKind;
use ptx_syntax::{Edit, Span};

use super::unit::{Unit, inside};

/// The names that a statement declares outside braces, with their places.
pub(crate) fn declared(unit: &Unit<'_>) -> Vec<(String, Span)> {
    let fresh = outside_braces(unit).into_iter().filter(|(_, span, _)| !is_unique(unit, *span));
    fresh.map(|(name, span, _)| (name, unit.place(span).unwrap_or(unit.statement.template.span))).collect()
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
    if !plain(first) || !plain(last) || !own || statement.is_of_macro() || statement.variant > 0 {
        return None;
    }
    let last_line = template.text.rsplit('\n').next().unwrap_or("");
    let end = if last_line.contains("//") { "\\n}" } else { " }" };
    Some(vec![
        Edit { span: Span::at(first.source.start + 1), replacement: "{ ".into() },
        Edit { span: Span::at(last.source.end - 1), replacement: end.into() },
    ])
}
