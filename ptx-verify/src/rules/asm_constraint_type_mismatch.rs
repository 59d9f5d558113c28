use ptx_syntax::cuda::{CType, Operand, Truth};
use ptx_syntax::{Diagnostic, Severity};

use crate::asm::unit::{Unit, register_type};
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a constraint letter that does not fit the type of its C++ expression, or the register of which the
    /// instruction does not take, for each target asked for.
    ///
    /// ## Why is this bad
    /// The compiler refuses the first, the assembler the second. PTX converts nothing: `r` is a 32-bit register and
    /// takes `int` and `unsigned`, not `char`, not `float`, not a pointer. `f` and `d` are registers of floating-point
    /// type up to sm_90 and untyped from sm_100 on: an integer instruction on `f` compiles for one and not for the
    /// other.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int next(char c) { int r; asm("add.s32 %0, %1, 1;" : "=r"(r) : "r"(c)); return r; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int next(char c) { int r; asm("add.s32 %0, %1, 1;" : "=r"(r) : "r"((int)c)); return r; }
    /// ```
    ///
    /// ## What it may miss
    /// Expressions whose type the declarations in sight do not tell: templates, `auto`, types and functions of other
    /// files. `long` is taken to have 64 bits. Enumerators, which nvcc does not take for `n`, and the sizes of their
    /// types.
    name: "asm-constraint-type-mismatch",
    code: "E0610",
    class: Invalid,
    level: Error,
    summary: "a constraint letter that fits neither the expression nor the instruction",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    for (pseudo, operand) in unit.operands.iter().zip(unit.statement.operands()) {
        let Some(letter) = pseudo.letter else { continue };
        let problem = problem(unit, letter, &operand.ctype);
        if let Some(problem) = problem.or_else(|| changes(unit, letter, operand)) {
            out.push(finding(unit, operand, letter, &problem));
        }
    }
}

/// What a letter takes.
pub(crate) const fn wants(letter: char) -> &'static str {
    match letter {
        'h' => "a 16-bit integer",
        'r' => "a 32-bit integer",
        'l' => "a 64-bit integer or a pointer",
        'q' => "a 128-bit integer",
        'b' => "a `bool` or a `char`, as a predicate",
        'f' => "a `float`",
        'd' => "a `double`",
        'n' => "an integer constant expression",
        _ => "something else",
    }
}

/// Why a type does not fit a letter; none where it does, or is not known.
fn problem(unit: &Unit<'_>, letter: char, ctype: &CType) -> Option<String> {
    let bytes = match letter {
        'b' => 1,
        'h' => 2,
        'r' => 4,
        'l' => 8,
        'q' => 16,
        'f' | 'd' | 'n' => 0,
        _ => return None,
    };
    let fits = match ctype {
        CType::Unknown | CType::Void => true,
        CType::Enum => !matches!(letter, 'f' | 'd' | 'q'),
        CType::Float { bytes: 4 } => letter == 'f',
        CType::Float { .. } => letter == 'd',
        // On Windows `long` has 32 bits; code for both chooses by a condition.
        CType::Integer { long: true, .. } if letter == 'r' => {
            unit.aim.compiled != Truth::True || letter == 'n'
        }
        CType::Bool | CType::Integer { .. } => letter == 'n' || ctype.size() == Some(bytes),
        CType::Pointer(_) | CType::Array(_) => letter == 'l',
        CType::Record(_) => !is_vector(ctype),
    };
    if fits {
        return None;
    }
    Some(match ctype {
        CType::Record(name) => format!("`{name}` is no scalar type"),
        _ => match ctype.size() {
            Some(size) => format!("`{}` has {} bits", ctype.name(), u32::from(size) * 8),
            None => format!("it is of type `{}`", ctype.name()),
        },
    })
}

/// For a constant, the variable or the parameter of the function that its expression names: its value is not known when
/// compiling.
fn changes(unit: &Unit<'_>, letter: char, operand: &Operand) -> Option<String> {
    let function = unit.file.function(unit.statement.function.filter(|_| letter == 'n')?);
    let expression = operand.expression.text(unit.source);
    if operand.changes {
        return Some(format!("the value of the variable `{expression}` is not known when compiling"));
    }
    // What stands in other operators may use the type of a parameter only, and a literal none.
    if expression.contains(['{', '"', '\'', ':', '.'])
        || expression.contains("sizeof")
        || expression.contains("type")
    {
        return None;
    }
    let mut words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let named = |word: &&str| {
        !word.is_empty()
            && function.parameters.iter().any(|parameter| {
                parameter.name.text(unit.source) == *word && parameter.ctype != CType::Unknown
            })
    };
    words.find(named).map(|name| format!("the value of the parameter `{name}` is not known when compiling"))
}

/// Whether it is one of CUDA's vector types; a class of the program may convert itself.
fn is_vector(ctype: &CType) -> bool {
    ctype.vector_member("x") != CType::Unknown
}

fn finding(unit: &Unit<'_>, operand: &Operand, letter: char, problem: &str) -> Diagnostic {
    let expression = operand.expression.text(unit.source);
    let span = if operand.expression.is_empty() { operand.span } else { operand.expression };
    let found = RULE
        .at(span, format!("`{expression}` does not fit the constraint `{letter}`: {problem}"))
        .with_label(format!("of type `{}`", operand.ctype.name()))
        .with_secondary(operand.constraint.span, format!("`{letter}` takes {}", wants(letter)));
    match advice(letter, &operand.ctype) {
        Some(advice) => found.with_help(advice),
        None => found,
    }
}

fn advice(letter: char, ctype: &CType) -> Option<String> {
    let own = match ctype {
        CType::Bool | CType::Integer { bytes: 1, .. } if letter == 'r' => {
            return Some("pass a wider copy: `(int)x` for an input, a temporary `int` for an output".into());
        }
        CType::Integer { bytes: 2, .. } => 'h',
        CType::Integer { bytes: 4, .. } => 'r',
        CType::Integer { bytes: 8, .. } | CType::Pointer(_) | CType::Array(_) => 'l',
        CType::Integer { bytes: 16, .. } => 'q',
        CType::Float { bytes: 4 } => 'f',
        CType::Float { .. } => 'd',
        CType::Record(_) => return Some("pass its members one by one".into()),
        _ => return None,
    };
    Some(format!("the letter for `{}` is `{own}`", ctype.name()))
}

/// What the rule `operand-type` says of an operand, said of its constraint.
pub(crate) fn from(unit: &Unit<'_>, found: Diagnostic, index: usize) -> Diagnostic {
    let letter = unit.operands[index].letter.unwrap_or('?');
    let class =
        register_type(letter, unit.aim.target).map_or_else(String::new, |ty| format!("a `{ty}` register"));
    let mut found = Diagnostic { code: RULE.info.code, rule: RULE.info.name, fix: None, ..found };
    found.labels.clear();
    found.help = None;
    if unit.aim.compiled == Truth::Unknown && matches!(letter, 'f' | 'd') && unit.aim.target.number() < 100 {
        // The statement may be for newer targets only, where the register has no type.
        found.severity = Severity::Warning;
    }
    found.with_note(format!("the constraint `{letter}` makes `%{index}` {class} on `{}`", unit.aim.target))
}
