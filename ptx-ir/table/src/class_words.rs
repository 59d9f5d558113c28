//! The words of class tables and operand clauses, and the classes that they stand for.

use crate::class::{Class, ClassSet};
use crate::fault::Fault;
use crate::types::Type;

/// The bits of classes by their names: a register type, or a word of [`CLASS_WORDS`].
pub fn classes(file: &str, line: usize, names: &[String]) -> Result<u128, Fault> {
    let mut set = ClassSet::NONE;
    for name in names {
        let more = class(name).ok_or_else(|| Fault::new(file, line, format!("`{name}` is not a class")))?;
        set = set.union(more);
    }
    Ok(set.bits())
}

fn class(name: &str) -> Option<ClassSet> {
    if let Some(register) = Type::parse(&format!(".{name}")).and_then(Class::register) {
        return Some(register.into());
    }
    CLASS_WORDS.iter().find(|(word, _)| *word == name).map(|(_, classes)| ClassSet::of(classes))
}

const CLASS_WORDS: [(&str, &[Class]); 65] = [
    ("int", &[Class::Integer, Class::NegativeInteger, Class::WarpSize]),
    ("positive", &[Class::Integer]),
    ("negative", &[Class::NegativeInteger]),
    ("warp-size", &[Class::WarpSize]),
    ("float", &[Class::Decimal, Class::SingleBits, Class::DoubleBits]),
    ("decimal", &[Class::Decimal]),
    ("0f", &[Class::SingleBits]),
    ("0d", &[Class::DoubleBits]),
    ("%tid", &[Class::SpecialNarrowVector]),
    ("%clusterid", &[Class::SpecialVector]),
    ("%tid_x", &[Class::SpecialNarrow]),
    ("%laneid", &[Class::SpecialWord]),
    ("%clock64", &[Class::SpecialDouble]),
    ("%gridid", &[Class::SpecialAny]),
    ("%is_explicit_cluster", &[Class::SpecialPredicate]),
    ("global", &[Class::Global]),
    ("const", &[Class::Const]),
    ("shared", &[Class::Shared]),
    ("local", &[Class::Local]),
    ("param", &[Class::Param]),
    ("param-entry", &[Class::ParamEntry]),
    ("param-func", &[Class::ParamFunc]),
    ("texref", &[Class::Texref]),
    ("samplerref", &[Class::Samplerref]),
    ("surfref", &[Class::Surfref]),
    ("tex", &[Class::Tex]),
    ("function", &[Class::Function]),
    ("kernel", &[Class::Kernel]),
    ("label", &[Class::Label]),
    ("branchtargets", &[Class::BranchTargets]),
    ("calltargets", &[Class::CallTargets]),
    ("callprototype", &[Class::CallPrototype]),
    ("sink", &[Class::Sink]),
    ("code", &[Class::Function, Class::Kernel]),
    ("expr", &[Class::AddressExpression]),
    ("braces", &[Class::Braces]),
    ("lists", &[Class::Lists]),
    ("ordinary", &[Class::Ordinary]),
    ("anything", &[Class::Anything]),
    ("naked", &[Class::NoBraces]),
    ("discard", &[Class::Discard]),
    ("longer", &[Class::Longer]),
    ("minus", &[Class::Minus]),
    ("unified", &[Class::Unified]),
    ("layer", &[Class::Layer]),
    ("packed", &[Class::Packed]),
    ("shorter", &[Class::Shorter]),
    ("strict", &[Class::Strict]),
    ("typed", &[Class::Typed]),
    ("whole", &[Class::Whole]),
    ("mixed", &[Class::Mixed]),
    ("sized", &[Class::SizedFractions, Class::SizedIntegers]),
    ("sized-fractions", &[Class::SizedFractions]),
    ("sized-integers", &[Class::SizedIntegers]),
    ("led", &[Class::Led]),
    ("each", &[Class::Each]),
    ("pairs", &[Class::Pairs]),
    ("quads", &[Class::Quads]),
    ("integers", &[Class::Integers]),
    ("negated", &[Class::Negated]),
    ("narrow", &[Class::RegB8, Class::RegU8, Class::RegS8, Class::RegB16, Class::RegU16, Class::RegS16]),
    ("special32", &[Class::SpecialNarrow, Class::SpecialWord, Class::SpecialAny]),
    ("special64", &[Class::SpecialDouble, Class::SpecialAny]),
    ("variable", &[Class::Global, Class::Const, Class::Shared, Class::Local, Class::ParamEntry]),
    ("opaque", &[Class::Texref, Class::Samplerref, Class::Surfref]),
];
