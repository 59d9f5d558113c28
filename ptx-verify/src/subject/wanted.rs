//! What the instruction table wants, in the words of messages.

use ptx_ir::isa::{Class, ClassSet, OperandSpec, Pattern};
use ptx_ir::types::{Type, TypeKind};

/// What may stand at an operand, with its article: "a 32-bit integer", "a predicate", "a `.b32` or `.f32`
/// register or an immediate".
pub(crate) fn wanted_phrase(accepts: ClassSet) -> String {
    let mut parts = Vec::new();
    parts.extend(registers(accepts));
    parts.extend(immediates(accepts));
    let rest = accepts.without(ClassSet::REGISTERS).without(ClassSet::IMMEDIATES);
    let special = rest.iter().filter(|class| class.phrase().ends_with("special register")).count();
    if special > 1 {
        parts.push("a special register".into());
    }
    let spaces: Vec<_> = rest.iter().filter_map(variable_space).collect();
    match spaces.as_slice() {
        [] | [_] => {}
        _ => parts.push("the address of a variable".into()),
    }
    for class in rest.iter() {
        let folded = (special > 1 && class.phrase().ends_with("special register"))
            || (spaces.len() > 1 && variable_space(class).is_some());
        // What stands for a constant is no better way to say it.
        let odd = matches!(class, Class::Unknown | Class::Sink | Class::AddressExpression);
        if !folded && !odd {
            parts.push(class.phrase().into());
        }
    }
    list_of(&parts, "or")
}

/// What may stand at an operand, told to somebody who wrote something of class `found`: a register is compared
/// with registers, and what stands for a constant now and then is left out.
pub(crate) fn wanted_instead_of(found: Class, accepts: ClassSet) -> String {
    let registers = accepts.intersect(ClassSet::REGISTERS);
    if registers.is_empty() {
        return wanted_phrase(accepts);
    }
    let registers = registers.union(accepts.intersect(OPAQUE));
    let immediates = accepts.intersect(ClassSet::IMMEDIATES);
    if found.register_type().is_some() || found.phrase().ends_with("special register") {
        return wanted_phrase(registers);
    }
    let variables: ClassSet = accepts.iter().filter_map(variable_space).collect();
    if variable_space(found).is_some() && !variables.is_empty() {
        return wanted_phrase(registers.union(variables));
    }
    wanted_phrase(registers.union(immediates))
}

/// What a texture, sampler or surface is named by besides registers.
const OPAQUE: ClassSet = ClassSet::of(&[Class::Texref, Class::Samplerref, Class::Surfref]);

fn variable_space(class: Class) -> Option<Class> {
    matches!(
        class,
        Class::Global
            | Class::Const
            | Class::Shared
            | Class::Local
            | Class::Param
            | Class::ParamEntry
            | Class::ParamFunc
    )
    .then_some(class)
}

fn registers(accepts: ClassSet) -> Option<String> {
    let types: Vec<Type> = accepts.iter().filter_map(Class::register_type).collect();
    let first = *types.first()?;
    if accepts.intersect(ClassSet::REGISTERS) == ClassSet::REGISTERS.without(Class::RegPred.into()) {
        return Some("a register other than a predicate".into());
    }
    // A packed register passes where an integer of its width does, and here and there a predicate in a brace
    // list; nobody means them.
    let meant = |ty: &Type| !matches!(ty.kind(), TypeKind::Packed | TypeKind::Predicate);
    let mut plain: Vec<Type> = types.iter().copied().filter(meant).collect();
    if plain.is_empty() {
        plain.clone_from(&types);
    }
    let bits = plain.first().map_or(first.bits(), |ty| ty.bits());
    let integer = |ty: &Type| ty.is_integer() || ty.kind() == TypeKind::Bits;
    let integers = plain.iter().filter(|ty| integer(ty)).count();
    if types == [Type::Pred] {
        return Some("a predicate".into());
    }
    if plain.iter().all(|ty| ty.bits() == bits) {
        let article = if bits == 8 { "an" } else { "a" };
        if integers == 3 && plain.len() == 3 {
            return Some(format!("{article} {bits}-bit integer"));
        }
        if integers == 3 && plain.len() > 3 {
            return Some(format!("any {bits}-bit register"));
        }
    } else if let Some(widths) = integer_widths(&plain) {
        return Some(widths);
    } else if let Some(least) = at_least(&plain) {
        return Some(format!("a register of {least} bits or more"));
    }
    let names: Vec<String> = plain.iter().map(|ty| format!("`{ty}`")).collect();
    let article = if matches!(plain[0].as_str().as_bytes()[1], b's' | b'f') { "an" } else { "a" };
    Some(format!("{article} {} register", list_of(&names, "or")))
}

/// 32 of "a register of 32 bits or more", where every integer type from that width on is taken.
fn at_least(types: &[Type]) -> Option<u32> {
    let least = types.iter().map(|ty| ty.bits()).min()?;
    let wide = |ty: &&Type| {
        ty.is_register_type() && ty.bits() >= least && (ty.is_integer() || ty.kind() == TypeKind::Bits)
    };
    Type::ALL.iter().filter(wide).all(|ty| types.contains(ty)).then_some(least)
}

/// "an integer of 32 or 64 bits", where every integer type of each width is taken and no other type.
fn integer_widths(types: &[Type]) -> Option<String> {
    let mut widths: Vec<u32> = types.iter().map(|ty| ty.bits()).collect();
    widths.sort_unstable();
    widths.dedup();
    let all_integers = types.iter().all(|ty| ty.is_integer() || ty.kind() == TypeKind::Bits);
    let whole =
        |bits: u32| types.iter().filter(|ty| ty.bits() == bits).count() == if bits == 128 { 1 } else { 3 };
    if !all_integers || !widths.iter().all(|&bits| whole(bits)) {
        return None;
    }
    let names: Vec<String> = widths.iter().map(u32::to_string).collect();
    match (widths.first(), widths.last()) {
        (Some(&low), Some(&high)) if widths.len() > 2 && high >= 64 => {
            Some(format!("an integer of {low} to {high} bits"))
        }
        _ => Some(format!("an integer of {} bits", list_of(&names, "or"))),
    }
}

fn immediates(accepts: ClassSet) -> Option<String> {
    let has = |class| accepts.contains(class);
    let float = has(Class::Decimal) || has(Class::SingleBits) || has(Class::DoubleBits);
    match (has(Class::Integer), float) {
        (true, true) => Some("an immediate".into()),
        (true, false) => Some("an integer immediate".into()),
        (false, true) => Some("a floating-point immediate".into()),
        (false, false) => None,
    }
}

/// What the outer form of an operand must be: "an address in brackets", "a brace list of 4 registers".
pub(crate) fn form_wanted(spec: &OperandSpec) -> String {
    match spec.pattern {
        Pattern::Value if !spec.accepts.intersect(ClassSet::REGISTERS).is_empty() => {
            "a single register".into()
        }
        Pattern::Value => wanted_phrase(spec.accepts),
        Pattern::NegatableValue => "a predicate, negated or not,".into(),
        Pattern::Pair => "two destinations joined by `|`".into(),
        Pattern::Vector { count } => format!("a brace list of {count}"),
        Pattern::Address => "an address in brackets".into(),
        Pattern::Bracket => format!("an address of {} parts in brackets", spec.children.len()),
        Pattern::List => "a list in parentheses".into(),
        Pattern::Selectable { .. } => "a register that may have a selector".into(),
    }
}

/// "a", "a or b", "a, b or c".
pub(crate) fn list_of(parts: &[String], conjunction: &str) -> String {
    match parts {
        [] => "nothing".into(),
        [only] => only.clone(),
        [head @ .., last] => format!("{} {conjunction} {last}", head.join(", ")),
    }
}

/// "1 operand", "3 operands".
pub(crate) fn count_of(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::wanted_phrase;
    use ptx_ir::isa::{Class, ClassSet};

    #[test]
    fn sets_read_as_a_person_would_say_them() {
        let words = ClassSet::of(&[Class::RegB32, Class::RegU32, Class::RegS32]);
        assert_eq!(wanted_phrase(words), "a 32-bit integer");
        let packed = words.union(Class::RegF16x2.into());
        assert_eq!(wanted_phrase(packed), "a 32-bit integer");
        assert_eq!(
            wanted_phrase(packed.union(Class::Integer.into())),
            "a 32-bit integer or an integer immediate"
        );
        assert_eq!(wanted_phrase(packed.union(Class::RegF32.into())), "any 32-bit register");
        assert_eq!(wanted_phrase(Class::RegPred.into()), "a predicate");
        let float = ClassSet::of(&[Class::RegB32, Class::RegF32, Class::Decimal]);
        assert_eq!(wanted_phrase(float), "a `.b32` or `.f32` register or a floating-point immediate");
        assert_eq!(wanted_phrase(Class::Label.into()), "a label");
    }

    #[test]
    fn integers_of_several_widths_are_named_by_width() {
        let half = ClassSet::of(&[Class::RegB16, Class::RegU16, Class::RegS16]);
        let word = ClassSet::of(&[Class::RegB32, Class::RegU32, Class::RegS32]);
        assert_eq!(wanted_phrase(half.union(word)), "an integer of 16 or 32 bits");
    }
}
