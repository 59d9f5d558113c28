use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use ptx_ir::ir::Handle;
use ptx_syntax::cuda::Host;
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an operand of an asm statement that the template does not name.
    ///
    /// ## Why is this bad
    /// Usually the numbers of the operands are wrong: each operand before counts; or a `%` is missing. Where the
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
    /// Templates without instructions and those with parts that only the preprocessor knows are passed over, and operands
    /// that are read and written where the template names none of these: a wait holds the registers of what it waits for
    /// so. An operand that another `#if` branch of the template names is there for that branch.
    name: "asm-unused-operand",
    code: "P1022",
    former: ["H0626"],
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
    let (named_by_variants, numbers) = (OnceCell::new(), OnceCell::new());
    // Who waits for what other instructions write has registers as outputs that none of these may cross.
    let outputs = &unit.statement.outputs;
    let hold_only = outputs
        .iter()
        .enumerate()
        .all(|(index, output)| output.constraint.is_read_write() && !unit.expanded.names(index));
    for (index, operand) in unit.statement.operands().enumerate() {
        let never_written =
            unit.statement.outputs.get(index).is_some_and(|output| !output.constraint.is_read_write());
        // An output that is not named is never written, which says more.
        // The value of an operand that is tied to an output is named by the output.
        let is_tied = !unit.statement.host.is_cuda()
            && operand.constraint.text.bytes().any(|byte| byte.is_ascii_digit());
        // With several elements Triton hands in registers that nobody asked for.
        let is_packed = unit.statement.host == Host::Triton && operand.expression.is_empty();
        let is_held = hold_only && index < outputs.len();
        if never_written || is_tied || is_packed || is_held || unit.expanded.names(index) {
            continue;
        }
        if named_by_variants.get_or_init(|| operands_of_variants(unit)).contains(&operand.span) {
            continue;
        }
        let name = unit.operand_name(index);
        let found = RULE.at(operand.span, format!("the template does not name `{name}"));
        let number = numbers.get_or_init(|| numbers_of(unit)).get(index.to_string().as_str());
        out.push(match number {
            Some(place) => found
                .with_secondary(*place, "this is a number")
                .with_help(format!("if the operand is meant, write `%{index}` for `{index}`")),
            None => found,
        });
    }
}

/// Where the operands are written that the templates of other choices of `#if` branches name, or may name.
fn operands_of_variants(unit: &Unit<'_>) -> HashSet<Span> {
    let mut named = HashSet::new();
    for other in unit.siblings.variants(unit.statement) {
        let operands: Vec<Span> = other.operands().map(|operand| operand.span).collect();
        if other.template.has_wildcards() {
            named.extend(operands);
        } else {
            named.extend(indices(&other.template.text).filter_map(|index| operands.get(index)));
        }
    }
    named
}

/// The operands that a template names: `%` and a number.
fn indices(template: &str) -> impl Iterator<Item = usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    template.match_indices('%').filter_map(move |(at, _)| {
        let rest = &template[at + 1..];
        rest[..digits(rest)].parse().ok()
    })
}

/// The numbers among the operands of the instructions, and where each of them is first.
fn numbers_of<'u>(unit: &'u Unit<'_>) -> HashMap<&'u str, Span> {
    let mut numbers = HashMap::new();
    let Some((_, body)) = unit.function() else { return numbers };
    for instruction in unit.instructions() {
        let whole = body.span(Handle::new(instruction));
        for token in Lexer::new(whole.text(&unit.text)).filter(|token| token.kind == TokenKind::Integer) {
            let span = Span::new(whole.start + token.span.start, whole.start + token.span.end);
            if let Some(place) = unit.place(span) {
                numbers.entry(span.text(&unit.text)).or_insert(place);
            }
        }
    }
    numbers
}

/// Whether a range of the PTX text is the number of an operand that the template never names: its `%` is missing.
pub(crate) fn is_operand_without_percent(unit: &Unit<'_>, span: Span) -> Option<usize> {
    let index: usize = span.text(&unit.text).parse().ok()?;
    let there = index < unit.operands.len() && !unit.expanded.has_wildcards && unit.statement.complete;
    (there && !unit.expanded.names(index)).then_some(index)
}
