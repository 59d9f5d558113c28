//! Operands, registers and instructions of the typed representation in words.

use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Body, Guard, Handle, Instruction, Module, Operand, Register, Run};
use ptx_ir::isa::Class;

/// What an operand of `body` is, with the names it had in the source.
pub fn operand(module: &Module, body: &Body, operand: Operand) -> String {
    match operand {
        Operand::Register { register, class } => typed(module, body, register, class),
        Operand::VectorRegister { first, class, count } => {
            format!("vector of {count} from {}", typed(module, body, first, class))
        }
        Operand::Negated { register, class } => format!("!{}", typed(module, body, register, class)),
        Operand::Selected { register, class, selector } => {
            format!("{} {selector:?}", typed(module, body, register, class))
        }
        Operand::Minus { register, class, selector } => {
            format!("-{} {selector:?}", typed(module, body, register, class))
        }
        Operand::Sum { register, class, offset } => {
            format!("{}{offset:+}", typed(module, body, register, class))
        }
        Operand::Special(special) => format!("special {}", special.name()),
        Operand::SpecialSum { register, offset } => format!("special {}{offset:+}", register.name()),
        Operand::Element { variable, index, class, offset, is_value } => {
            let name = module.name(module.variables[variable].name);
            let what = if is_value { "address of " } else { "" };
            format!("{what}{name}[{}{offset:+}]", typed(module, body, index, class))
        }
        Operand::Integer { bits, negative: false } => format!("integer {bits}"),
        Operand::Integer { bits, negative: true } => format!("integer {}", bits as i64),
        Operand::Decimal(value) => format!("decimal {value:?}"),
        Operand::SingleBits(bits) => format!("single 0f{bits:08X}"),
        Operand::DoubleBits(bits) => format!("double 0d{bits:016X}"),
        Operand::WarpSize => "WARP_SZ".to_owned(),
        Operand::Sink => "sink".to_owned(),
        Operand::Variable { variable, offset, zero: _ } => {
            format!("address of {}{offset:+}", module.name(module.variables[variable].name))
        }
        Operand::Function(function) => format!("function {}", module.name(module.functions[function].name)),
        Operand::Prototype(function) => {
            format!("prototype {}", module.name(module.functions[function].name))
        }
        Operand::Label(label) => format!("label {}", module.name(body.labels[label].name)),
        Operand::Targets(list) => {
            let name = body.targets[list].name.map_or("?", |name| module.name(name));
            format!("targets {name}")
        }
        Operand::RegisterAddress { base, class, offset, zero: _, unified } => {
            let unified = if unified { DirectiveKind::Unified.word() } else { "" };
            format!("[{}{offset:+}]{unified}", typed(module, body, base, class))
        }
        Operand::VariableAddress { variable, offset } => {
            format!("[{}{offset:+}]", module.name(module.variables[variable].name))
        }
        Operand::ConstantAddress { address } => format!("[{address}]"),
        Operand::Vector(run) => format!("{{{}}}", operands(module, body, run)),
        Operand::Pair(run) => format!("pair({})", operands(module, body, run)),
        Operand::Bracket(run) => format!("[{}]", operands(module, body, run)),
        Operand::List(run) => format!("({})", operands(module, body, run)),
        Operand::Unknown(name) => format!("unknown {}", name.map_or("", |name| module.name(name))),
    }
}

fn operands(module: &Module, body: &Body, run: Run) -> String {
    let each = body.children(run).iter().map(|child| operand(module, body, *child));
    each.collect::<Vec<_>>().join(", ")
}

fn typed(module: &Module, body: &Body, number: Register, class: Class) -> String {
    format!("{}:{}", register(module, body, number), class.name())
}

/// The name of a register.
pub fn register(module: &Module, body: &Body, register: Register) -> String {
    const ELEMENTS: [char; 4] = ['x', 'y', 'z', 'w'];
    let Some(group) = body.group(register) else { return format!("#{}", register.0) };
    let name = module.name(group.name);
    let (offset, elements) = (register.0 - group.first.0, u32::from(group.elements.max(1)));
    let index = group.range.map_or_else(String::new, |_| (offset / elements).to_string());
    match ELEMENTS.get((offset % elements) as usize) {
        Some(element) if elements > 1 => format!("{name}{index}.{element}"),
        _ => format!("{name}{index}"),
    }
}

/// The guard of an instruction, with a blank behind it.
pub fn guard(module: &Module, body: &Body, guard: Option<Guard>) -> String {
    let Some(guard) = guard else { return String::new() };
    let name = guard.register.map_or_else(|| "?".to_owned(), |number| register(module, body, number));
    format!("@{}{name} ", if guard.negated { "!" } else { "" })
}

/// An instruction with its guard and operands on one line.
pub fn instruction(module: &Module, body: &Body, handle: Handle<Instruction>) -> String {
    let instruction = &body.instructions[handle];
    let guard = guard(module, body, instruction.guard);
    let operands = body.operands(handle).iter().map(|each| operand(module, body, *each));
    let operands = operands.collect::<Vec<_>>().join(", ");
    format!("{guard}{} {operands}", module.spellings[instruction.spelling].text)
}
