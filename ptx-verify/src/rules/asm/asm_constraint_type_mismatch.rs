use ptx_facts::registers::aligned;
use std::cell::OnceCell;
use std::collections::HashSet;

use ptx_ir::ir::{Handle, Operand as Argument};
use ptx_ir::space::StateSpace;
use ptx_syntax::cuda::{CType, Host, Instance, Operand, Truth};
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::{Unit, register_type};

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
    /// Expressions whose type the declarations in sight do not tell: types and functions of other files, and templates but
    /// where the file itself names their arguments. `long` is taken to have 64 bits. Enumerations whose values are other
    /// than plain numbers of 32 bits, and names of halves without underscores in namespaces.
    name: "asm-constraint-type-mismatch",
    code: "P1009",
    former: ["E0610"],
    class: Invalid,
    level: Error,
    summary: "a constraint letter that fits neither the expression nor the instruction",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    out.extend(narrow_address(unit));
    let parameters = OnceCell::new();
    for (pseudo, operand) in unit.operands.iter().zip(unit.statement.operands()) {
        let Some(letter) = pseudo.letter else { continue };
        let problem = match letter {
            _ if !unit.statement.host.is_cuda() => too_wide(letter, &operand.ctype),
            'C' => not_characters(unit, operand),
            _ => problem(unit, letter, &operand.ctype),
        };
        out.extend(of_instances(unit, letter, operand).filter(|_| problem.is_none()));
        if let Some(problem) = problem.or_else(|| changes(unit, letter, operand, &parameters)) {
            out.push(finding(unit, operand, letter, &problem));
        }
    }
}

/// A 32-bit register as the address of what lies in 64 bits: the first such access.
fn narrow_address(unit: &Unit<'_>) -> Option<Diagnostic> {
    // Sources for hosts of 32 bits too choose the letter by a condition.
    let certain = !unit.broken && unit.aim.compiled == Truth::True;
    let (_, body) = unit.function().filter(|_| certain)?;
    let module = &unit.lowered().module;
    unit.instructions().find_map(|instruction| {
        let handle = Handle::new(instruction);
        let instance = module.instance(&body.instructions[handle])?;
        if instance.effects.asynchronous.is_some() {
            return None;
        }
        let operands = body.operands(handle);
        let specs = aligned(module, body, instance, operands);
        operands.iter().zip(specs).find_map(|(operand, spec)| {
            let (Argument::RegisterAddress { base, .. }, Some(access)) = (operand, spec?.access) else {
                return None;
            };
            let index = unit.operand_of(*base).filter(|index| unit.operands[*index].letter == Some('r'))?;
            let wide =
                matches!(access.space, None | Some(StateSpace::Global)) && (access.reads || access.writes);
            let found = wide.then(|| {
                let place = unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
                RULE.at(
                    place,
                    format!(
                        "`{} has 32 bits, and is used as an address of 64 bits",
                        unit.operand_name(index)
                    ),
                )
            })?;
            // Of another type that does not fit it is said already.
            let operand = unit.statement.operands().nth(index)?;
            if !matches!(operand.ctype, CType::Unknown | CType::Integer { bytes: 4, .. }) {
                return None;
            }
            let found = found.with_secondary(operand.constraint.span, "a 32-bit register");
            Some(
                found.with_help("pass the pointer with the constraint `l`; in shared memory write `.shared`"),
            )
        })
    })
}

/// LLVM fills a register up with a value that is narrower, and takes the bits of one of the other kind. A wider value is
/// cut into several registers, of which the template has one.
fn too_wide(letter: char, ctype: &CType) -> Option<String> {
    let bits: u32 = match letter {
        'h' | 'c' => 16,
        'r' | 'f' => 32,
        'l' | 'd' | 'N' => 64,
        _ => return None,
    };
    let value = u32::from(ctype.size()?) * 8;
    (value > bits).then(|| format!("`{letter}` is a register of {bits} bits, and the value has {value}"))
}

/// For an expression of the type of a template's parameter: that it fits in none of the uses of the template in sight.
fn of_instances(unit: &Unit<'_>, letter: char, operand: &Operand) -> Option<Diagnostic> {
    let refused =
        |instance: &Instance| problem(unit, letter, &instance.ctype).map(|problem| (problem, instance.span));
    let refused: Option<Vec<_>> = operand.instances.iter().map(refused).collect();
    let (problem, used) = refused?.into_iter().next()?;
    let found = finding(unit, operand, letter, &problem);
    Some(found.with_secondary(used, "the template is used with this type here"))
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
        'C' => "an array of constant characters that exists when compiling",
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
        CType::Unknown | CType::Parameter(_) | CType::Void => true,
        CType::Enum { .. } if letter == 'n' => !unit.compiler.is_nvcc(),
        CType::Enum { bytes: None } => !matches!(letter, 'f' | 'd' | 'q'),
        // Whether a predicate may be one of a byte was not asked.
        CType::Enum { bytes: Some(size) } => *size == bytes || letter == 'b',
        CType::Float { bytes: 4 } => letter == 'f',
        CType::Float { .. } => letter == 'd',
        // On Windows `long` has 32 bits; code for both chooses by a condition.
        CType::Integer { long: true, .. } if letter == 'r' => {
            unit.aim.compiled != Truth::True || letter == 'n'
        }
        CType::Bool | CType::Integer { .. } => letter == 'n' || ctype.size() == Some(bytes),
        CType::Pointer(_) | CType::Array(_) => letter == 'l',
        // clang takes a structure for the integer of its size.
        CType::Record(name) => {
            !unit.compiler.is_nvcc() || !ctype.is_structure_of_cuda() || defines(unit.source, name)
        }
    };
    if fits {
        return None;
    }
    Some(match ctype {
        CType::Record(name) => format!("`{name}` is no scalar type"),
        CType::Enum { .. } if letter == 'n' => "nvcc takes an enumerator only with a cast".into(),
        _ => match ctype.size() {
            Some(size) => format!("`{}` has {} bits", ctype.name(), u32::from(size) * 8),
            None => format!("it is of type `{}`", ctype.name()),
        },
    })
}

/// Whether a source defines a structure itself: then it is none of CUDA's, whose headers the source replaces.
fn defines(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let before = source[..at].trim_end();
        let after = source[at + name.len()..].trim_start();
        before.len() < at && before.ends_with("struct") && after.starts_with('{')
    })
}

/// For a constant, the variable or the parameter of the function that its expression names: its value is not known when
/// compiling.
fn changes<'u>(
    unit: &'u Unit<'_>,
    letter: char,
    operand: &Operand,
    parameters: &OnceCell<HashSet<&'u str>>,
) -> Option<String> {
    let function = unit.file.function(unit.statement.function.filter(|_| letter == 'n')?);
    let expression = operand.expression.text(unit.source);
    if operand.changes {
        return Some(format!("the value of the variable `{expression}` is not known when compiling"));
    }
    // What is in other operators may use the type of a parameter only, and a literal none.
    if expression.contains(['{', '"', '\'', ':', '.'])
        || expression.contains("sizeof")
        || expression.contains("type")
    {
        return None;
    }
    let mut words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let parameters = parameters.get_or_init(|| {
        let known = function.parameters.iter().filter(|parameter| parameter.ctype != CType::Unknown);
        known.map(|parameter| parameter.name.text(unit.source)).collect()
    });
    words
        .find(|word| !word.is_empty() && parameters.contains(word))
        .map(|name| format!("the value of the parameter `{name}` is not known when compiling"))
}

/// Why an expression is no array of characters that `C` takes.
fn not_characters(unit: &Unit<'_>, operand: &Operand) -> Option<String> {
    let literal = operand.expression.text(unit.source).trim_start_matches('(').starts_with('"');
    match &operand.ctype {
        CType::Bool | CType::Integer { .. } | CType::Float { .. } | CType::Enum { .. } => {
            Some("it is a number".into())
        }
        _ => literal.then(|| "a literal is not the address of a variable".into()),
    }
}

fn finding(unit: &Unit<'_>, operand: &Operand, letter: char, problem: &str) -> Diagnostic {
    let (span, value) = match operand.expression.is_empty() {
        true => (operand.span, "the result".to_owned()),
        false => (operand.expression, format!("`{}`", operand.expression.text(unit.source))),
    };
    let found = RULE
        .at(span, format!("{value} does not fit the constraint `{letter}`: {problem}"))
        .with_label(format!("of type `{}`", operand.ctype.name()))
        .with_secondary(operand.constraint.span, format!("`{letter}` takes {}", wants(letter)));
    match advice(letter, &operand.ctype).filter(|_| letter != 'C') {
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
        CType::Record(name) if name.contains("half") || name.contains("bfloat") => {
            return Some("pass its bits: `reinterpret_cast<unsigned short &>(x)`, or of two `reinterpret_cast<unsigned &>(x)`".into());
        }
        CType::Record(_) => return Some("pass its members one by one".into()),
        CType::Enum { .. } if letter == 'n' => return Some("write `(int)` before it".into()),
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
    let cause = match (unit.statement.host, letter) {
        (Host::Rust, 'h') => "the class `reg16`".to_owned(),
        (Host::Rust, 'r') => "the class `reg32`".to_owned(),
        (Host::Rust, 'l') => "the class `reg64`".to_owned(),
        (Host::InlinePtx, _) => "its type".to_owned(),
        _ => format!("the constraint `{letter}`"),
    };
    found.with_note(format!("{cause} makes `%{index}` {class} on `{}`", unit.aim.target))
}
