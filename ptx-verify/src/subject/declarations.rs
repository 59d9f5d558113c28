//! What the rules about declarations share: which there are, and what their types amount to.

use ptx_ir::ir::{Function, Handle, Item, Module, Variable};
use ptx_ir::space::StateSpace;
use ptx_ir::types::{Type, TypeKind};
use ptx_syntax::Span;

/// Every variable and parameter, in order; `name<N>` counts once.
pub(crate) fn variables(module: &Module) -> impl Iterator<Item = (Handle<Variable>, &Variable)> {
    module.variables.iter().filter(|(_, variable)| variable.member.is_none_or(|member| member.number == 0))
}

/// The function that a variable is a parameter or local of.
pub(crate) fn owner<'a>(module: &'a Module, variable: &Variable) -> Option<&'a Function> {
    module.functions.get(variable.function?)
}

/// Whether a variable is a parameter of a function or kernel without a body: the assembler looks at the types of
/// parameters where there is one.
pub(crate) fn is_of_declaration(module: &Module, variable: &Variable) -> bool {
    variable.is_parameter && owner(module, variable).is_some_and(|function| function.body.is_none())
}

/// Whether a variable lives in a register.
pub(crate) fn is_register(variable: &Variable) -> bool {
    variable.space == StateSpace::Reg
}

/// Whether the first dimension has no size, or none of the size 0 that means the same.
pub(crate) fn is_unsized(variable: &Variable) -> bool {
    variable.dimensions.first().is_some_and(|dimension| dimension.is_none_or(|size| size == 0))
}

/// The alignment that counts where parameters are compared: what was written, and at least that of the type.
pub(crate) fn effective_alignment(variable: &Variable) -> u32 {
    let natural = variable.ty.bytes().unwrap_or(8).saturating_mul(u32::from(variable.elements));
    variable.align.unwrap_or(1).max(natural)
}

/// The size in bytes without the unsized dimension.
pub(crate) fn sized_bytes(variable: &Variable) -> u64 {
    let element = u64::from(variable.ty.bytes().unwrap_or(8)) * u64::from(variable.elements);
    let product = |size: u64, dimension: &Option<u64>| size.saturating_mul(dimension.unwrap_or(0));
    variable.dimensions.iter().fold(element, product)
}

/// The type as it is declared: `.v2 .f32`, `.b8[4]`.
pub(crate) fn type_of(variable: &Variable) -> String {
    let vector = if variable.elements > 1 { format!(".v{} ", variable.elements) } else { String::new() };
    let dimensions: String = variable
        .dimensions
        .iter()
        .map(|size| size.map_or_else(|| "[]".to_owned(), |size| format!("[{size}]")))
        .collect();
    format!("{vector}{}{dimensions}", variable.ty)
}

/// Whether a value of one type can stand for one of the other in a call: the same width, and the same kind
/// unless one of them is bits.
pub(crate) fn corresponds(formal: Type, given: Type) -> bool {
    if formal == Type::F16x2 || given == Type::F16x2 {
        let word = |ty: Type| ty.bits() == 32 || ty == Type::Pred;
        return word(formal) && word(given);
    }
    let bits = |ty: Type| ty.kind() == TypeKind::Bits;
    formal.bits() == given.bits()
        && (formal == given
            || (bits(formal) && given != Type::Pred)
            || (bits(given) && formal != Type::Pred)
            || (formal.is_integer() && given.is_integer()))
}

/// The place of an item.
pub(crate) fn place_of(module: &Module, item: &Item) -> Span {
    match item {
        Item::Variable(variable) => module.variables[*variable].declaration,
        Item::Function(function) => module.functions[*function].header,
        Item::Directive(directive) => directive.span,
        Item::Alias { span, .. } => *span,
        Item::Section(section) => section.span,
    }
}

#[cfg(test)]
mod tests {
    use super::corresponds;
    use ptx_ir::types::Type;

    #[test]
    fn bits_stand_for_anything_of_their_width() {
        assert!(corresponds(Type::F32, Type::B32) && corresponds(Type::B32, Type::S32));
        assert!(corresponds(Type::U32, Type::S32) && corresponds(Type::F32, Type::F32));
        assert!(!corresponds(Type::F32, Type::U32) && !corresponds(Type::B32, Type::B64));
        assert!(!corresponds(Type::B32, Type::Pred) && corresponds(Type::Pred, Type::Pred));
        assert!(corresponds(Type::F16x2, Type::F32) && !corresponds(Type::F16x2, Type::U64));
    }
}
