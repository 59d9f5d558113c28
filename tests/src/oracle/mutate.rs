//! Small changes to an instruction, most of which make it wrong.

use ptx_ir::isa::{Instance, Pattern, forms};
use ptx_ir::types::Type;

use super::generate::Statement;
use super::judge::Pair;
use super::prelude::{has_type, prefix};
use super::random::Random;

/// Changes a statement in one place and says how; `None` where the change that was drawn does not apply.
pub fn mutate(
    random: &mut Random,
    statement: &mut Statement,
    instance: &Instance,
    pair: &Pair,
) -> Option<&'static str> {
    let modifiers = statement.modifiers.len();
    let operands = statement.operands.len();
    match random.below(17) {
        0 if modifiers > 0 => {
            statement.modifiers.remove(random.below(modifiers));
            Some("modifier removed")
        }
        1 if modifiers > 0 => {
            let place = random.below(modifiers);
            statement.modifiers[place] = another_modifier(random, instance)?;
            Some("modifier replaced")
        }
        2 => {
            let modifier = another_modifier(random, instance)?;
            statement.modifiers.insert(random.below(modifiers + 1), modifier);
            Some("modifier inserted")
        }
        3 if modifiers > 0 => {
            let place = random.below(modifiers);
            statement.modifiers.insert(place, statement.modifiers[place].clone());
            Some("modifier repeated")
        }
        4 if modifiers > 1 => {
            let place = random.below(modifiers - 1);
            statement.modifiers.swap(place, place + 1);
            Some("modifiers swapped")
        }
        5 | 6 if operands > 0 => {
            let place = random.below(operands);
            statement.operands[place] = register(random, pair)?;
            Some("register of another type")
        }
        7 if operands > 0 => {
            let place = random.below(operands);
            statement.operands[place] = (*random.pick(&IMMEDIATES)?).to_owned();
            Some("immediate")
        }
        8 if operands > 0 => {
            let place = random.below(operands);
            let others = ["[%d1]", "[gvar]", "gvar", "%laneid", "%tid.x", "[svar+4]", "efun0", "LBL0"];
            statement.operands[place] = (*random.pick(&others)?).to_owned();
            Some("address, symbol or special register")
        }
        9 if operands > 0 => {
            let place = random.below(operands);
            let count = [1, 2, 3, 4, 8][random.below(5)];
            let one = register(random, pair)?;
            statement.operands[place] = format!("{{{}}}", vec![one; count].join(","));
            Some("brace list")
        }
        10 if operands > 0 => {
            statement.operands.remove(random.below(operands));
            Some("operand missing")
        }
        11 if instance.operands.last().is_none_or(|spec| spec.pattern != Pattern::List) => {
            let one = register(random, pair)?;
            statement.operands.insert(random.below(operands + 1), one);
            Some("operand extra")
        }
        12 | 13 => {
            let lists: Vec<usize> =
                (0..operands).filter(|&operand| statement.operands[operand].contains('{')).collect();
            let place = *random.pick(&lists)?;
            statement.operands[place] = other_elements(random, &statement.operands[place], pair)?;
            Some("elements replaced")
        }
        14 => {
            let modifier = modifier_of_another(random)?;
            statement.modifiers.insert(random.below(modifiers + 1), modifier);
            Some("modifier of another instruction inserted")
        }
        15 if modifiers > 0 => {
            statement.modifiers[random.below(modifiers)] = modifier_of_another(random)?;
            Some("modifier replaced by one of another instruction")
        }
        16 if operands > 0 => {
            let place = if random.once_in(4) { random.below(operands) } else { 0 };
            let first = &statement.operands[place];
            statement.operands[place] = match random.below(4) {
                0 => format!("{first}|%p1"),
                1 => format!("_|{first}"),
                _ => format!("{first}|_"),
            };
            Some("second result")
        }
        _ => None,
    }
}

const IMMEDIATES: [&str; 8] = ["1", "-1", "0", "255", "1.5", "0f3f800000", "0d3ff0000000000000", "WARP_SZ"];

/// An operand with other elements in its brace list: the first, the last or all of them are numbers or registers of
/// another type.
fn other_elements(random: &mut Random, operand: &str, pair: &Pair) -> Option<String> {
    let (before, rest) = operand.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let mut elements: Vec<String> = inside.split(',').map(|element| element.trim().to_owned()).collect();
    let count = elements.len();
    let changed = match random.below(4) {
        0 => 0..1,
        1 => count - 1..count,
        2 => 0..count,
        _ => random.below(count)..count,
    };
    let one = element(random, pair)?;
    let alike = random.once_in(2);
    for place in changed {
        elements[place] = if alike { one.clone() } else { element(random, pair)? };
    }
    Some(format!("{before}{{{}}}{after}", elements.join(",")))
}

fn element(random: &mut Random, pair: &Pair) -> Option<String> {
    if random.once_in(3) {
        register(random, pair)
    } else {
        random.pick(&IMMEDIATES).map(|&text| text.to_owned())
    }
}

/// A modifier of any instruction.
fn modifier_of_another(random: &mut Random) -> Option<String> {
    let all: Vec<_> = forms().collect();
    let slots: Vec<_> = random.pick(&all)?.slots().collect();
    let slot = random.pick(&slots)?;
    random.pick(&slot.values).map(|value| (*value).to_owned())
}

/// A modifier of the same opcode.
fn another_modifier(random: &mut Random, instance: &Instance) -> Option<String> {
    let forms: Vec<_> = instance.form.opcode().forms().collect();
    let slots: Vec<_> = random.pick(&forms)?.slots().collect();
    let slot = random.pick(&slots)?;
    random.pick(&slot.values).map(|value| (*value).to_owned())
}

fn register(random: &mut Random, pair: &Pair) -> Option<String> {
    let types: Vec<Type> =
        Type::ALL.iter().copied().filter(|ty| ty.is_register_type() && has_type(pair, *ty)).collect();
    let ty = *random.pick(&types)?;
    Some(format!("{}{}", prefix(ty), random.below(40)))
}
