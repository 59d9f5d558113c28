//! Operands in the words of messages.

use ptx_ir::ir::{Body, Module, Operand, Register};
use ptx_ir::isa::Class;

/// The name of a register as the source has it: `%r17`, `%v2.x`.
pub(crate) fn register_name(module: &Module, body: &Body, register: Register) -> String {
    let Some(group) = body.group(register) else { return "?".into() };
    let elements = u32::from(group.elements.max(1));
    let (number, element) =
        ((register.0 - group.first.0) / elements, (register.0 - group.first.0) % elements);
    let name = module.name(group.name);
    let number = group.range.map(|_| number.to_string()).unwrap_or_default();
    let element = if elements > 1 { [".x", ".y", ".z", ".w"][element as usize & 3] } else { "" };
    format!("{name}{number}{element}")
}

/// The name of an operand for messages, without backticks; none where it has no short one.
pub(crate) fn name_of(module: &Module, body: &Body, operand: Operand) -> Option<String> {
    let register = |register| register_name(module, body, register);
    Some(match operand {
        Operand::Register { register: each, .. } => register(each),
        Operand::Negated { register: each, .. } => format!("!{}", register(each)),
        Operand::Selected { register: each, .. } => register(each),
        Operand::Minus { register: each, .. } => format!("-{}", register(each)),
        Operand::VectorRegister { first, .. } => {
            let name = register(first);
            name.strip_suffix(".x").unwrap_or(&name).to_owned()
        }
        Operand::Sum { register: each, offset, .. } => format!("{}{offset:+}", register(each)),
        Operand::Special(special) => special.name().to_owned(),
        Operand::SpecialSum { register: special, offset } => format!("{}{offset:+}", special.name()),
        Operand::Element { variable, index, .. } => {
            format!("{}[{}]", module.name(module.variables[variable].name), register(index))
        }
        Operand::Integer { bits, negative } => integer(bits, negative),
        Operand::Decimal(value) => format!("{value:?}"),
        Operand::SingleBits(bits) => format!("0f{bits:08X}"),
        Operand::DoubleBits(bits) => format!("0d{bits:016X}"),
        Operand::WarpSize => "WARP_SZ".into(),
        Operand::Sink => "_".into(),
        Operand::Variable { variable, offset: 0, .. } => {
            module.name(module.variables[variable].name).to_owned()
        }
        Operand::Variable { variable, offset, .. } => {
            format!("{}{offset:+}", module.name(module.variables[variable].name))
        }
        Operand::Function(function) | Operand::Prototype(function) => {
            module.name(module.functions[function].name).to_owned()
        }
        Operand::Label(label) => module.name(body.labels[label].name).to_owned(),
        Operand::Targets(list) => module.name(body.targets[list].name?).to_owned(),
        Operand::Unknown(name) => module.name(name?).to_owned(),
        Operand::RegisterAddress { .. }
        | Operand::VariableAddress { .. }
        | Operand::ConstantAddress { .. }
        | Operand::Vector(_)
        | Operand::Pair(_)
        | Operand::Bracket(_)
        | Operand::List(_) => return None,
    })
}

fn integer(bits: u64, negative: bool) -> String {
    if negative { (bits as i64).to_string() } else { bits.to_string() }
}

/// What an operand is, as the end of a sentence: "`%f3` is `.f32`", "`7` is an integer immediate".
pub(crate) fn describe(module: &Module, body: &Body, operand: Operand, class: Class) -> String {
    let name = match operand {
        // Of an address the base is what does not fit.
        Operand::RegisterAddress { base, .. } => Some(register_name(module, body, base)),
        Operand::VariableAddress { variable, .. } => {
            Some(module.name(module.variables[variable].name).to_owned())
        }
        _ => name_of(module, body, operand),
    };
    let Some(name) = name else { return format!("this is {}", form_of(operand)) };
    match (operand, class.register_type()) {
        (Operand::Negated { .. }, _) => format!("`{name}` is negated"),
        (Operand::VectorRegister { count, .. }, Some(ty)) => format!("`{name}` is `.v{count} {ty}`"),
        (_, Some(ty)) => format!("`{name}` is `{ty}`"),
        (Operand::Sink | Operand::WarpSize, None) => format!("this is `{name}`"),
        (_, None) => format!("`{name}` is {}", class.phrase()),
    }
}

/// What the outer form of an operand is called.
pub(crate) fn form_of(operand: Operand) -> &'static str {
    match operand {
        Operand::Register { .. } => "a register",
        Operand::VectorRegister { .. } => "a vector register",
        Operand::Negated { .. } => "a negated predicate",
        Operand::Selected { .. } => "a register with a selector",
        Operand::Minus { .. } => "a register with a minus",
        Operand::Sum { .. } | Operand::SpecialSum { .. } => "a sum",
        Operand::Element { is_value: true, .. } => "the address of an element",
        Operand::Element { .. } => "an element of an array",
        Operand::Special(_) => "a special register",
        Operand::Integer { .. } => "an integer immediate",
        Operand::Decimal(_) | Operand::SingleBits(_) | Operand::DoubleBits(_) => "a floating-point immediate",
        Operand::WarpSize => "`WARP_SZ`",
        Operand::Sink => "`_`",
        Operand::Variable { .. } => "the address of a variable",
        Operand::Function(_) => "a function",
        Operand::Prototype(_) => "a `.callprototype`",
        Operand::Label(_) => "a label",
        Operand::Targets(_) => "a list of targets",
        Operand::RegisterAddress { unified: true, .. } => "an address with `.unified`",
        Operand::RegisterAddress { .. } | Operand::VariableAddress { .. } => "an address in brackets",
        Operand::ConstantAddress { .. } => {
            "a constant in brackets, which is an address in `.local` memory only"
        }
        Operand::Vector(_) => "a brace list",
        Operand::Pair(_) => "a pair joined by `|`",
        Operand::Bracket(_) => "an address with several parts",
        Operand::List(_) => "a list in parentheses",
        Operand::Unknown(_) => "an unknown name",
    }
}

/// How many letters have to be changed, added or removed to get from `a` to `b`.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, letter) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, &other) in b.iter().enumerate() {
            let above = row[column + 1];
            let change = diagonal + usize::from(letter != other);
            row[column + 1] = change.min(above + 1).min(row[column] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}
