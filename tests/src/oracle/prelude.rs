//! What surrounds the probes: a kernel that declares registers of every type and variables of every space.

use ptx_ir::isa::{Class, ClassSet};
use ptx_ir::platform::TextureMode;
use ptx_ir::special::SpecialRegister;
use ptx_ir::types::Type;
use std::fmt::Write as _;

use super::judge::Pair;

/// The prefix of the registers of a type: `%r` for `.b32`.
#[must_use]
pub const fn prefix(ty: Type) -> &'static str {
    match ty {
        Type::Pred => "%p",
        Type::B8 => "%c",
        Type::U8 => "%uc",
        Type::S8 => "%sc",
        Type::B16 => "%h",
        Type::U16 => "%uh",
        Type::S16 => "%sh",
        Type::F16 => "%hf",
        Type::U32 => "%ur",
        Type::S32 => "%sr",
        Type::F32 => "%f",
        Type::F16x2 => "%hx",
        Type::B64 => "%d",
        Type::U64 => "%ud",
        Type::S64 => "%sd",
        Type::F64 => "%fd",
        Type::B128 => "%q",
        _ => "%r",
    }
}

/// The classes of the operands of a line, as far as its words tell them.
#[must_use]
pub fn classes(line: &str) -> ClassSet {
    let operands = line.split_once(' ').map_or("", |(_, operands)| operands);
    let part = |character: char| !character.is_ascii_alphanumeric() && !"_%.-".contains(character);
    operands.split(part).filter_map(class).collect()
}

fn class(word: &str) -> Option<Class> {
    let name = word.trim_end_matches(|character: char| character.is_ascii_digit());
    if let Some(ty) = Type::ALL.iter().find(|ty| ty.is_register_type() && prefix(**ty) == name) {
        return Class::register(*ty);
    }
    match word {
        "efun0" | "efun" | "kern" => Some(Class::Function),
        "WARP_SZ" => Some(Class::WarpSize),
        "_" => Some(Class::Sink),
        _ if word.starts_with('%') => {
            SpecialRegister::parse(word).map(|register| Class::special(register.reads()))
        }
        _ if word.parse::<i64>().is_ok_and(|value| value < 0) => Some(Class::NegativeInteger),
        _ if word.parse::<u64>().is_ok() => Some(Class::Integer),
        _ if word.starts_with("0f") => Some(Class::SingleBits),
        _ if word.starts_with("0d") => Some(Class::DoubleBits),
        _ if word.parse::<f64>().is_ok() => Some(Class::Decimal),
        _ => None,
    }
}

/// How many registers of each type there are.
pub const REGISTERS: usize = 300;

/// Whether the pair knows registers of this type.
#[must_use]
pub fn has_type(pair: &Pair, ty: Type) -> bool {
    let (number, version) = (pair.target.number(), (pair.version.major(), pair.version.minor()));
    match ty {
        Type::B128 => number >= 70 && version >= (8, 3),
        Type::F16x2 => number >= 53 && version >= (6, 0),
        Type::F16 => number >= 53,
        _ => true,
    }
}

/// Everything before the first probe.
#[must_use]
pub fn head(pair: &Pair) -> String {
    let independent = pair.texture_mode == TextureMode::Independent;
    let mode = if independent { ", texmode_independent" } else { "" };
    let mut text = format!(".version {}\n.target {}{mode}\n.address_size 64\n", pair.version, pair.target);
    if independent {
        text.push_str(".global .samplerref smp0;\n");
    }
    text.push_str(
        ".global .align 128 .b8 gvar[4096];\n.const .align 128 .b8 cvar[1024];\n.global .texref tex0;\n\
         .global .surfref surf0;\n.extern .func (.param .b32 rv) efun (.param .b32 a0);\n.extern .func efun0 ();\n\
         .entry kern (.param .align 8 .b8 kp[256])\n{\n",
    );
    for &ty in Type::ALL.iter().filter(|ty| ty.is_register_type()) {
        if has_type(pair, ty) {
            let _ = write!(text, ".reg {ty} {}<{REGISTERS}>; ", prefix(ty));
        }
    }
    text.push_str(
        "\n.shared .align 128 .b8 svar[4096]; .local .align 128 .b8 lvar[256]; .param .b32 prv; .param .b32 pa0;\n",
    );
    if pair.target.number() >= 30 && pair.version.major() >= 6 {
        text.push_str("TLIST: .branchtargets LBL0;\n");
    }
    text
}

/// Everything after the last probe.
pub const TAIL: &str = "LBL0:\nret;\n}\n";
