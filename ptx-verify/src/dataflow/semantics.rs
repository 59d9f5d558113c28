//! What the instructions compute that analyses of values follow.
//!
//! The instruction table says what an instruction reads and writes, not which function of its operands the
//! result is, and for all but these few nobody asks. They are named here, once, and looked up once for each
//! distinct spelling of a module.

use ptx_ir::ir::Module;
use ptx_ir::isa::Instance;
use ptx_ir::types::Type;

/// The function that an instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `mov d, a`
    Move,
    /// `add d, a, b`
    Add,
    /// `sub d, a, b`
    Subtract,
    /// `mul.lo d, a, b`
    Multiply,
    /// `mul.wide d, a, b`
    MultiplyWide,
    /// `mad.lo d, a, b, c`
    MultiplyAdd,
    /// `mad.wide d, a, b, c`
    MultiplyAddWide,
    /// `shl d, a, b`
    ShiftLeft,
    /// `shr d, a, b`
    ShiftRight,
    /// `and d, a, b`
    And,
    /// `or d, a, b`
    Or,
    /// `cvt d, a` between integers
    Convert,
    /// `cvta.space d, a`
    ToGeneric,
    /// `cvta.to.space d, a`
    FromGeneric,
    /// `mapa d, a, b`
    MapRank,
    /// `selp d, a, b, p`
    Select,
    /// `ld d, [a]`
    Load,
    /// Anything else.
    Other,
}

impl Operation {
    /// The function of an instance.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        let opcode = instance.canonical.split('.').next().unwrap_or("");
        let integer = instance.ty.is_none_or(|ty| !ty.is_float());
        match opcode {
            "mov" => Self::Move,
            "add" if integer => Self::Add,
            "sub" if integer => Self::Subtract,
            "mul" if instance.has(".wide") => Self::MultiplyWide,
            "mul" if instance.has(".lo") => Self::Multiply,
            "mad" if instance.has(".wide") => Self::MultiplyAddWide,
            "mad" if instance.has(".lo") => Self::MultiplyAdd,
            "shl" => Self::ShiftLeft,
            "shr" => Self::ShiftRight,
            "and" => Self::And,
            "or" => Self::Or,
            "cvt"
                if integer
                    && !instance
                        .modifiers
                        .iter()
                        .any(|word| Type::parse(word).is_some_and(Type::is_float)) =>
            {
                Self::Convert
            }
            "cvta" if instance.canonical.starts_with("cvta.to") => Self::FromGeneric,
            "cvta" => Self::ToGeneric,
            "mapa" => Self::MapRank,
            "selp" if integer => Self::Select,
            "ld" => Self::Load,
            _ => Self::Other,
        }
    }

    /// The functions of all instances of all spellings of a module, by spelling and instance.
    #[must_use]
    pub fn table(module: &Module) -> Vec<Box<[Self]>> {
        module
            .spellings
            .iter()
            .map(|(_, spelling)| spelling.resolved.instances.iter().map(Self::of).collect())
            .collect()
    }
}
