//! Small changes to an instruction, most of which make it wrong.

use ptx_ir::isa::{Instance, Pattern};
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
    match random.below(12) {
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
            let immediates = ["1", "-1", "0", "255", "1.5", "0f3f800000", "0d3ff0000000000000", "WARP_SZ"];
            statement.operands[place] = (*random.pick(&immediates)?).to_owned();
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
        _ => None,
    }
}

/// A modifier of the same opcode.
fn another_modifier(random: &mut Random, instance: &Instance) -> Option<String> {
    let forms: Vec<_> = instance.form.opcode().forms().collect();
    let slots: Vec<_> = random.pick(&forms)?.slots().collect();
    let slot = random.pick(&slots)?;
    random.pick(slot.values).map(|value| (*value).to_owned())
}

fn register(random: &mut Random, pair: &Pair) -> Option<String> {
    let types: Vec<Type> =
        Type::ALL.iter().copied().filter(|ty| ty.is_register_type() && has_type(pair, *ty)).collect();
    let ty = *random.pick(&types)?;
    Some(format!("{}{}", prefix(ty), random.below(40)))
}
