use ptx_ir::ir::Handle;
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Diagnostic, Span};

use crate::asm::unit::Unit;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an operand of an asm statement that the template does not name.
    ///
    /// ## Why is this bad
    /// Usually the numbers of the operands are wrong: each operand in front counts; or a `%` is missing. Where the
    /// operand is there for a dependence only, say so with an empty template.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %1;" : "=r"(r) : "r"(a), "r"(b)); return r; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
    /// ```
    ///
    /// ## What it may miss
    /// Templates without instructions, and those with parts that only the preprocessor knows, are passed over. An operand
    /// that another `#if` branch of the template names is there for that branch.
    name: "asm-unused-operand",
    code: "H0626",
    class: Hazard,
    level: Warn,
    summary: "an operand that the template does not name",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let unclear = unit.expanded.has_wildcards || !unit.statement.complete;
    if unclear || unit.instructions().next().is_none() {
        return;
    }
    for (index, operand) in unit.statement.operands().enumerate() {
        let never_written =
            unit.statement.outputs.get(index).is_some_and(|output| !output.constraint.is_read_write());
        // An output that is not named is never written, which says more.
        if never_written || unit.expanded.uses.iter().any(|used| used.operand == index) {
            continue;
        }
        if is_named_by_variant(unit, operand.span) {
            continue;
        }
        let name = unit.operand_name(index);
        let found = RULE.at(operand.span, format!("the template does not name `{name}"));
        out.push(match number_like(unit, index) {
            Some(place) => found
                .with_secondary(place, "this is a number")
                .with_help(format!("if the operand is meant, write `%{index}` for `{index}`")),
            None => found,
        });
    }
}

/// Whether the template of another choice of `#if` branches names the operand that is written at `span`.
fn is_named_by_variant(unit: &Unit<'_>, span: Span) -> bool {
    let variants = unit.file.statements.iter().filter(|other| {
        other.keyword == unit.statement.keyword
            && other.used_at == unit.statement.used_at
            && other.variant != unit.statement.variant
    });
    variants.into_iter().any(|other| {
        let index = other.operands().position(|operand| operand.span == span);
        index.is_some_and(|index| other.template.has_wildcards() || names(&other.template.text, index))
    })
}

/// Whether a template names an operand: `%` and its number.
fn names(template: &str, index: usize) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    template.match_indices('%').any(|(at, _)| {
        let rest = &template[at + 1..];
        rest[..digits(rest)].parse() == Ok(index)
    })
}

/// The first number among the operands of the instructions that is the number of an operand without its `%`.
fn number_like(unit: &Unit<'_>, index: usize) -> Option<Span> {
    let (_, body) = unit.function()?;
    let decimal = index.to_string();
    unit.instructions().find_map(|instruction| {
        let whole = body.span(Handle::new(instruction));
        let mut tokens = Lexer::new(whole.text(&unit.text));
        let token = tokens.find(|token| {
            token.kind == TokenKind::Integer && token.span.text(whole.text(&unit.text)) == decimal
        })?;
        let span = Span::new(whole.start + token.span.start, whole.start + token.span.end);
        unit.place(span)
    })
}

/// Whether a range of the PTX text is the number of an operand that the template never names: its `%` is missing.
pub(crate) fn is_operand_without_percent(unit: &Unit<'_>, span: Span) -> Option<usize> {
    let index: usize = span.text(&unit.text).parse().ok()?;
    let there = index < unit.operands.len() && !unit.expanded.has_wildcards && unit.statement.complete;
    (there && !unit.expanded.uses.iter().any(|used| used.operand == index)).then_some(index)
}
