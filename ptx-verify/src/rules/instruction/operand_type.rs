use ptx_ir::ir::{Handle, Operand, Variable};
use ptx_ir::isa::{Access, Class, ClassSet, Mismatch, OperandSpec, Role, Wanted};
use ptx_ir::types::{Type, TypeKind};
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;
use crate::subject::describe::describe;
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::shapes::class_of;
use crate::subject::wanted::wanted_instead_of;

declare_rule! {
    /// ## What it does
    /// Reports an operand whose type the instruction does not take: a register of another width or kind, an
    /// integer where a floating-point number belongs, a variable of another state space.
    ///
    /// ## Why is this bad
    /// The module does not assemble. PTX converts nothing implicitly: integer instructions take integer registers
    /// of exactly their width, whatever the sign; `.b` instructions take any register of their width. `ld`, `st`
    /// and `cvt` also take wider integer registers.
    ///
    /// ## Example
    /// ```ptx
    /// add.u32 %r1, %r2, %f3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// cvt.rzi.u32.f32 %r3, %f3;
    /// add.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "operand-type",
    code: "P0205",
    former: ["E0203"],
    class: Invalid,
    level: Error,
    summary: "an operand whose type the instruction does not take",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Mismatch(Mismatch::Operand {
        operand,
        part,
        spec,
        instance,
        wanted: Wanted::Class(accepts),
    }) = occurrence.problem
    else {
        return None;
    };
    let whole = occurrence.operand(*operand, *part)?;
    let (found, span) = culprit(occurrence, whole, *accepts);
    let spec = occurrence.spec(*instance, *spec, *part)?;
    let context = occurrence.context;
    if let Operand::VariableAddress { variable, .. } = found
        && let Some(access) = spec.access
        && access.space != Some(context.module.module.variables[variable].space)
    {
        return Some(elsewhere(occurrence, variable, access, span));
    }
    let class = class_of(context.module.module, context.body, found);
    let wanted = match found {
        // Narrower registers pass; nobody means them.
        Operand::RegisterAddress { .. } | Operand::ConstantAddress { .. } => {
            "an address in an integer register of 32 or 64 bits".to_owned()
        }
        _ => wanted_instead_of(class, *accepts),
    };
    let is = describe(context.module.module, context.body, found, class);
    let finding = RULE
        .at(span, format!("`{}` takes {wanted} here, {is}", occurrence.name()))
        .with_label(format!("operand `{}`", spec.name));
    let finding = occurrence.with_declaration(finding, found);
    Some(advise(finding, Found { operand: found, class, span }, spec, *accepts))
}

/// An access of a variable in another state space than that of the instruction.
fn elsewhere(
    occurrence: &Occurrence<'_>,
    variable: Handle<Variable>,
    access: Access,
    span: Span,
) -> Diagnostic {
    let module = occurrence.context.module.module;
    let variable = &module.variables[variable];
    let (name, space, spelling) = (module.name(variable.name), variable.space, occurrence.name());
    let finding = match access.space {
        Some(other) => RULE.at(span, format!("`{spelling}` accesses `{other}`, `{name}` is in `{space}`")),
        None => RULE.at(span, format!("`{spelling}` takes a generic address, `{name}` is in `{space}`")),
    };
    let finding = finding.with_secondary(variable.span, format!("declared in `{space}` here"));
    match access.space {
        Some(other) => finding.with_help(format!("write `{space}` in place of `{other}`")),
        None => finding
            .with_help(format!("write `{space}` after the opcode, or make the address generic with `cvta`")),
    }
}

struct Found {
    operand: Operand,
    class: Class,
    span: Span,
}

/// The first element of a brace list that is not accepted, or the operand itself.
fn culprit(occurrence: &Occurrence<'_>, whole: (Operand, Span), accepts: ClassSet) -> (Operand, Span) {
    let (module, body) = (occurrence.context.module.module, occurrence.context.body);
    let refused = |&(each, _): &(Operand, Span)| {
        let class = class_of(module, body, each);
        class != Class::Unknown && !accepts.contains(class)
    };
    occurrence.children(whole.0).into_iter().find(refused).unwrap_or(whole)
}

/// Adds what to write instead, where that can be told.
fn advise(finding: Diagnostic, found: Found, spec: &OperandSpec, accepts: ClassSet) -> Diagnostic {
    if spec.role == Role::Destination {
        if found.class.is_immediate() {
            return finding.with_help("a result needs a register");
        }
        return finding;
    }
    if let (Operand::Special(special), Class::SpecialNarrowVector | Class::SpecialVector) =
        (found.operand, found.class)
    {
        return finding.with_help(format!("name one of its elements, such as `{}.x`", special.name()));
    }
    if let Operand::Special(special) = found.operand {
        return finding.with_help(format!(
            "read it into a register first: `mov{} …, {};`",
            special.ty(),
            special.name()
        ));
    }
    if let (Operand::Integer { bits, negative }, true) = (found.operand, accepts.contains(Class::Decimal)) {
        let text = if negative { format!("{}.0", bits as i64) } else { format!("{bits}.0") };
        let edit = Edit { span: found.span, replacement: text.clone() };
        return finding.with_fix(format!("write `{text}`"), Applicability::Likely, vec![edit]);
    }
    let wanted = spec.ty.or_else(|| accepts.iter().find_map(Class::register_type));
    match (found.class.register_type(), wanted) {
        (Some(have), Some(want)) => match conversion(have, want) {
            Some(help) => finding.with_help(help),
            None => finding,
        },
        _ => finding,
    }
}

/// How a value of one type becomes one of another.
fn conversion(have: Type, want: Type) -> Option<String> {
    if have == Type::Pred {
        return Some("`selp` turns a predicate into a number".into());
    }
    if want == Type::Pred {
        return Some("`setp.ne` turns a number into a predicate".into());
    }
    if have.bits() == want.bits() {
        let bits = have.bits();
        let float = |ty: Type| ty.kind() == TypeKind::Float;
        if float(have) != float(want) {
            return Some(format!("`mov.b{bits}` moves the bits, `cvt` converts the value"));
        }
        return Some(format!("`mov.b{bits}` moves the bits"));
    }
    let integer = |ty: Type| ty.is_integer() || ty.kind() == TypeKind::Bits;
    if integer(have) && integer(want) && want.bits() <= 64 {
        let (to, from) = (unsigned(want)?, unsigned(have)?);
        return Some(format!("`cvt{to}{from}` changes the width"));
    }
    Some("`cvt` converts the value".into())
}

/// The unsigned integer type of the same width.
fn unsigned(ty: Type) -> Option<Type> {
    match ty.bits() {
        8 => Some(Type::U8),
        16 => Some(Type::U16),
        32 => Some(Type::U32),
        64 => Some(Type::U64),
        _ => None,
    }
}
