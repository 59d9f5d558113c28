use ptx_syntax::cuda::{Constraint, Host, Operand};
use ptx_syntax::{Applicability, Diagnostic, Edit};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports constraint strings that the compiler refuses: no letter, several letters, a letter that device code
    /// does not have, a matching constraint such as `"0"`, `=` or `+` missing on an output, present on an input, or not
    /// before, `&` on an input. Several of `=` and `+`, as in `"=+r"`, are clang's to refuse: nvcc takes them.
    ///
    /// ## Why is this bad
    /// The source does not compile. A constraint of device code is one letter (`h`, `r`, `l`, `q`, `f`, `d`, `b`, `n` or
    /// `C`), for an output with `=` or `+` before it, and perhaps `&` in between.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void add(int &i, int j) { asm("add.s32 %0, %0, %1;" : "+r"(i) : "rf"(j)); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void add(int &i, int j) { asm("add.s32 %0, %0, %1;" : "+r"(i) : "r"(j)); }
    /// ```
    ///
    /// ## What it may miss
    /// Constraints that a macro of another file gives.
    name: "asm-constraint",
    code: "P1010",
    former: ["E0611"],
    class: Invalid,
    level: Error,
    summary: "a constraint string that the compiler refuses",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let outputs = unit.statement.outputs.len();
    for (index, operand) in unit.statement.operands().enumerate() {
        if !operand.constraint.known {
            continue;
        }
        if let Some((message, better)) = problem(unit, &operand.constraint, index, index < outputs) {
            out.push(finding(unit, index, operand, message, better));
        }
    }
}

/// What is wrong with a constraint, and the string that was probably meant.
fn problem(
    unit: &Unit<'_>,
    constraint: &Constraint,
    index: usize,
    output: bool,
) -> Option<(String, Option<String>)> {
    let text = constraint.text.as_str();
    // The front end made the constraints of Rust and of `inline_ptx`, and the number of an output may have several digits.
    let is_made = matches!(unit.statement.host, Host::Rust | Host::InlinePtx)
        || (!unit.statement.host.is_cuda() && !output && text.bytes().all(|byte| byte.is_ascii_digit()));
    if (is_usual(text, output) && (unit.statement.host.is_cuda() || !text.contains('+'))) || is_made {
        return None;
    }
    let letters = constraint.letters();
    let has_mode = text.contains(['=', '+']);
    if output && !has_mode {
        let only_read = unit.is_only_read(index);
        let better = (letters.chars().count() == 1 && !only_read).then(|| format!("={text}"));
        let where_to = if only_read { "; what is only read belongs after the second colon" } else { "" };
        return Some((format!("an output needs `=` or `+` in its constraint{where_to}"), better));
    }
    if !output && has_mode {
        let better = text.replace(['=', '+'], "");
        return Some(("an input has no `=` or `+` in its constraint".into(), Some(better)));
    }
    let mode: String = text.chars().filter(|c| matches!(c, '=' | '+')).collect();
    let early = if text.contains('&') { "&" } else { "" };
    let canonical = format!("{mode}{early}{letters}");
    match letters.chars().count() {
        0 => return Some(("a constraint needs a letter".into(), None)),
        1 => {}
        _ => return Some((format!("a constraint has one letter, this one has {}", letters.len()), None)),
    }
    // nvcc takes several, and a single `+` among them makes it `+`.
    if mode.len() > 1 && unit.compiler.is_clang() {
        let better = if mode.contains('+') { "+" } else { "=" };
        let better = format!("{better}{early}{letters}");
        return Some(("a constraint has one of `=` and `+`".into(), Some(better)));
    }
    if !output && !early.is_empty() {
        return Some(("an input has no `&` in its constraint".into(), Some(letters)));
    }
    if text != canonical {
        return Some((
            format!("the parts of a constraint are in the order `{canonical}`, without anything else"),
            Some(canonical),
        ));
    }
    let letter = letters.chars().next()?;
    if !unit.statement.host.is_cuda() {
        return of_llvm(text, letter, output);
    }
    if unit.compiler.is_nvcc() && letter.is_ascii_digit() {
        return Some(("nvcc has no matching constraints: use `+` on the output".into(), None));
    }
    let known = matches!(letter, 'h' | 'r' | 'l' | 'q' | 'f' | 'd' | 'b' | 'n' | 'C');
    let of_clang = matches!(letter, 'c' | 'i') || letter.is_ascii_digit();
    if (known && !(output && matches!(letter, 'n' | 'C'))) || (of_clang && !unit.compiler.is_nvcc()) {
        return None;
    }
    let better = (letter == 'i').then(|| "n".to_owned());
    Some((
        format!("device code has no constraint `{letter}` for {}", if output { "outputs" } else { "inputs" }),
        better,
    ))
}

/// What LLVM refuses.
fn of_llvm(text: &str, letter: char, output: bool) -> Option<(String, Option<String>)> {
    if text.contains('+') {
        let message = "LLVM has no `+`: an input whose constraint is the output's number is the old value";
        return Some((message.into(), None));
    }
    let known = matches!(letter, 'b' | 'c' | 'h' | 'r' | 'l' | 'N' | 'q' | 'f' | 'd');
    let of_inputs = matches!(letter, 'n' | 'i' | 's' | 'X') || letter.is_ascii_digit();
    let sides = if output { "outputs" } else { "inputs" };
    let message = format!("LLVM has no constraint `{letter}` for {sides} in device code");
    (!known && (output || !of_inputs)).then_some((message, None))
}

/// Whether a constraint is one that nobody refuses, as nearly all are.
fn is_usual(text: &str, output: bool) -> bool {
    let letter = match output {
        true => text.strip_prefix(['=', '+']).map(|rest| rest.strip_prefix('&').unwrap_or(rest)),
        false => Some(text),
    };
    matches!(letter, Some("h" | "r" | "l" | "q" | "f" | "d" | "b")) || (!output && matches!(text, "n" | "C"))
}

fn finding(
    unit: &Unit<'_>,
    index: usize,
    operand: &Operand,
    message: String,
    better: Option<String>,
) -> Diagnostic {
    let found = RULE
        .at(operand.constraint.span, message)
        .with_label(format!("constraint of `%{index}`"))
        .with_note("the letters are `h`, `r`, `l`, `q` for integers of 16 to 128 bits, `f`, `d` for floating point, `b` for \
                    predicates, `n` for constants and `C` for constant strings");
    match (better, unit.can_edit_constraint(index)) {
        (Some(better), Some(span)) => {
            let edit = Edit { span, replacement: format!("\"{better}\"") };
            found.with_help(format!("write `\"{better}\"`")).with_fix(
                format!("write `\"{better}\"`"),
                Applicability::Likely,
                vec![edit],
            )
        }
        (Some(better), None) => found.with_help(format!("write `\"{better}\"`")),
        (None, _) => found,
    }
}
