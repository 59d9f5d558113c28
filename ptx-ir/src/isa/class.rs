//! What can be at an operand position, in classes fine enough to decide whether an instruction takes it.

use std::fmt;

use crate::special::Reads;
use crate::types::Type;

/// Declares [`Class`] with the phrase that messages use, one class a line. The register classes come first and
/// are in the order of [`Type::ALL`].
macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident, $phrase:literal;)*) => {
        /// What one operand, or one element of a brace list, is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Class {
            $($(#[$doc])* $name,)*
        }

        impl Class {
            /// Every class, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// What messages call a thing of this class, with its article.
            #[must_use]
            pub const fn phrase(self) -> &'static str {
                match self {
                    $(Self::$name => $phrase,)*
                }
            }

            /// The name that the table's files use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}

classes! {
    /// A register of type `.b8`.
    RegB8, "a `.b8` register";
    /// A register of type `.b16`.
    RegB16, "a `.b16` register";
    /// A register of type `.b32`.
    RegB32, "a `.b32` register";
    /// A register of type `.b64`.
    RegB64, "a `.b64` register";
    /// A register of type `.b128`.
    RegB128, "a `.b128` register";
    /// A register of type `.u8`.
    RegU8, "a `.u8` register";
    /// A register of type `.u16`.
    RegU16, "a `.u16` register";
    /// A register of type `.u32`.
    RegU32, "a `.u32` register";
    /// A register of type `.u64`.
    RegU64, "a `.u64` register";
    /// A register of type `.s8`.
    RegS8, "an `.s8` register";
    /// A register of type `.s16`.
    RegS16, "an `.s16` register";
    /// A register of type `.s32`.
    RegS32, "an `.s32` register";
    /// A register of type `.s64`.
    RegS64, "an `.s64` register";
    /// A register of type `.f16`.
    RegF16, "an `.f16` register";
    /// A register of type `.f16x2`.
    RegF16x2, "an `.f16x2` register";
    /// A register of type `.f32`.
    RegF32, "an `.f32` register";
    /// A register of type `.f64`.
    RegF64, "an `.f64` register";
    /// A register of type `.pred`.
    RegPred, "a predicate register";
    /// An integer constant of value 0 or more.
    Integer, "an integer immediate";
    /// A negative integer constant.
    NegativeInteger, "a negative integer immediate";
    /// A floating-point constant in decimal, `1.5`.
    Decimal, "a decimal floating-point immediate";
    /// A floating-point constant as the bits of a single, `0f3F800000`.
    SingleBits, "a `0f` immediate";
    /// A floating-point constant as the bits of a double, `0d3FF0000000000000`.
    DoubleBits, "a `0d` immediate";
    /// The constant `WARP_SZ`.
    WarpSize, "`WARP_SZ`";
    /// A special register of group [`Reads::NarrowVector`].
    SpecialNarrowVector, "a vector special register";
    /// A special register of group [`Reads::Vector`].
    SpecialVector, "a vector special register";
    /// A special register of group [`Reads::Narrow`].
    SpecialNarrow, "a 32-bit special register";
    /// A special register of group [`Reads::Word`].
    SpecialWord, "a 32-bit special register";
    /// A special register of group [`Reads::Double`].
    SpecialDouble, "a 64-bit special register";
    /// A special register of group [`Reads::Any`].
    SpecialAny, "a 64-bit special register";
    /// A special register of group [`Reads::Predicate`].
    SpecialPredicate, "a predicate special register";
    /// A variable in `.global` space.
    Global, "a `.global` variable";
    /// A variable in `.const` space.
    Const, "a `.const` variable";
    /// A variable in `.shared` space.
    Shared, "a `.shared` variable";
    /// A variable in `.local` space.
    Local, "a `.local` variable";
    /// A `.param` variable declared in a function body, as calls use them.
    Param, "a `.param` variable";
    /// A parameter of a kernel.
    ParamEntry, "a kernel parameter";
    /// A parameter or return value of a function, in `.param` space.
    ParamFunc, "a function parameter";
    /// A `.texref` variable.
    Texref, "a `.texref` variable";
    /// A `.samplerref` variable.
    Samplerref, "a `.samplerref` variable";
    /// A `.surfref` variable.
    Surfref, "a `.surfref` variable";
    /// A `.tex` variable of PTX 1.x.
    Tex, "a `.tex` variable";
    /// The name of a function.
    Function, "a function";
    /// The name of a kernel.
    Kernel, "a kernel";
    /// A label in the function body.
    Label, "a label";
    /// The label of a `.branchtargets` list.
    BranchTargets, "a `.branchtargets` list";
    /// The label of a `.calltargets` list.
    CallTargets, "a `.calltargets` list";
    /// The label of a `.callprototype`.
    CallPrototype, "a `.callprototype`";
    /// `_`: a result that is thrown away.
    Sink, "`_`";
    /// The address of a variable with an offset, `gvar+4`, where a constant is.
    AddressExpression, "a variable with an offset";
    /// In what an operand accepts: a single value may be in braces.
    Braces, "a brace list of one element";
    /// In what an operand accepts: a brace list of one, two or four may stand for a single value; of eight where
    /// longer ones may.
    Lists, "a brace list";
    /// In what an operand accepts: its brace list holds no predicate and no special register, even where only the
    /// width counts.
    Ordinary, "an ordinary register";
    /// In what an address accepts: any register or floating-point number may be there without brackets.
    Anything, "any register";
    /// In what an operand accepts: a brace list of one element, or an address, may be without its brackets.
    NoBraces, "a single value";
    /// In what an operand accepts: a brace list may be longer than needed, up to four elements.
    Longer, "a longer brace list";
    /// In what an operand accepts: the register may have a minus sign.
    Minus, "a register with a minus sign";
    /// In what an operand accepts: `_` may stand for the whole brace list.
    Discard, "`_`";
    /// In what an address accepts: it may end in `.unified`.
    Unified, "an address with `.unified`";
    /// In what an operand accepts: the first element of the brace list is an index, thus no floating-point number.
    Layer, "an index";
    /// In what an operand accepts: a brace list that is wide enough may stand for a single value.
    Packed, "a brace list";
    /// In what an operand accepts: a brace list may be shorter than needed.
    Shorter, "a shorter brace list";
    /// In what an operand accepts: plain bits in a brace list do not make other types pass.
    Strict, "a brace list of one type";
    /// Something whose kind is not known, such as an undeclared name: fits everywhere, so that one mistake
    /// gives one message. What follows are marks, of which no operand is.
    Unknown, "an unknown name";
    /// In what an operand accepts: a value without its braces is no register of plain bits.
    Typed, "a register with a type";
    /// In what an operand accepts: a predicate may be negated.
    Negated, "a negated predicate";
    /// In what an operand accepts: no element of a brace list is a predicate, even where only the width counts.
    NoPredicate, "no predicate";
    /// In what an operand accepts: floating-point numbers in a brace list of several types, or of plain bits.
    Mixed, "a floating-point immediate beside others";
    /// In what an operand accepts: a brace list that begins with a floating-point number is as wide as its other
    /// elements.
    SizedFractions, "a list of a width";
    /// In what an operand accepts: the same of lists that begin with an integer only.
    SizedIntegers, "a list of a width";
    /// In what an operand accepts: each element of a brace list is judged by itself too.
    Each, "elements of the type";
    /// In what an operand accepts: of two neighbours in a brace list, from an even place on, one is no number.
    Pairs, "a register in each two elements";
    /// In what an operand accepts: the same of four elements.
    Quads, "a register in each four elements";
    /// In what an operand accepts: integers may be all of two or four elements.
    Integers, "integers";
    /// In what an operand accepts: a brace list begins with no number.
    Led, "a list that begins with a register";
    /// In what an operand accepts: a name or a handle, to which nothing is added.
    Whole, "no offset";
}

impl Class {
    /// The class of a register of type `ty`; `None` where no register may have that type.
    #[must_use]
    pub const fn register(ty: Type) -> Option<Self> {
        if ty.is_register_type() { Some(Self::ALL[ty as usize]) } else { None }
    }

    /// The type of a register of this class; `None` for what is no register.
    #[must_use]
    pub const fn register_type(self) -> Option<Type> {
        if (self as usize) < Type::REGISTER_TYPES { Some(Type::ALL[self as usize]) } else { None }
    }

    /// The class of a special register.
    #[must_use]
    pub const fn special(reads: Reads) -> Self {
        match reads {
            Reads::NarrowVector => Self::SpecialNarrowVector,
            Reads::Vector => Self::SpecialVector,
            Reads::Narrow => Self::SpecialNarrow,
            Reads::Word => Self::SpecialWord,
            Reads::Double => Self::SpecialDouble,
            Reads::Any => Self::SpecialAny,
            Reads::Predicate => Self::SpecialPredicate,
        }
    }

    /// Whether the operand is a constant number.
    #[must_use]
    pub const fn is_immediate(self) -> bool {
        ClassSet::IMMEDIATES.contains(self)
    }
}

/// A set of classes: two words, of which the first has everything that an operand can be, and the second only marks of
/// what an operand accepts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ClassSet([u64; 2]);

impl ClassSet {
    /// No class.
    pub const NONE: Self = Self([0; 2]);
    /// Every register class.
    pub const REGISTERS: Self = Self([(1 << Type::REGISTER_TYPES) - 1, 0]);
    /// Every constant number.
    pub const IMMEDIATES: Self = Self::of(&[
        Class::Integer,
        Class::NegativeInteger,
        Class::Decimal,
        Class::SingleBits,
        Class::DoubleBits,
        Class::WarpSize,
    ]);

    /// The registers of plain bits.
    pub const BITS: Self =
        Self::of(&[Class::RegB8, Class::RegB16, Class::RegB32, Class::RegB64, Class::RegB128]);

    /// What counts as plain bits in a brace list: registers without another type, and special registers.
    pub const PLAIN: Self = Self::BITS.union(Self::SPECIAL_32).union(Self::SPECIAL_64);

    /// The special registers of 32 bits.
    pub const SPECIAL_32: Self = Self::of(&[Class::SpecialNarrow, Class::SpecialWord]);

    /// The special registers of 64 bits.
    pub const SPECIAL_64: Self = Self::of(&[Class::SpecialDouble, Class::SpecialAny]);

    /// The registers of 32-bit integers.
    pub const WORDS: Self = Self::of(&[Class::RegB32, Class::RegU32, Class::RegS32]);

    /// What may be together in a brace list besides plain bits: integers, floating-point numbers, packed
    /// halves, predicates, addresses.
    pub const KINDS: [Self; 5] = [
        Self::of(&[
            Class::RegU8,
            Class::RegU16,
            Class::RegU32,
            Class::RegU64,
            Class::RegS8,
            Class::RegS16,
            Class::RegS32,
            Class::RegS64,
            Class::Integer,
            Class::NegativeInteger,
            Class::WarpSize,
        ]),
        Self::of(&[
            Class::RegF16,
            Class::RegF32,
            Class::RegF64,
            Class::Decimal,
            Class::SingleBits,
            Class::DoubleBits,
        ]),
        Self::of(&[Class::RegF16x2]),
        Self::of(&[Class::RegPred]),
        Self::of(&[Class::Global, Class::Const, Class::Shared, Class::Local]),
    ];

    /// Classes of one type each: a brace list of them has that type. One that mixes types of a kind counts as
    /// plain bits.
    pub const ONE_TYPE: [Self; 3] = [
        Self::of(&[Class::RegS64, Class::Integer, Class::NegativeInteger, Class::WarpSize]),
        Self::of(&[Class::RegF32, Class::SingleBits]),
        Self::of(&[Class::RegF64, Class::Decimal, Class::DoubleBits]),
    ];

    /// Variables and functions, of which the address is meant.
    pub const NAMES: Self = Self::of(&[
        Class::Global,
        Class::Const,
        Class::Shared,
        Class::Local,
        Class::Param,
        Class::ParamEntry,
        Class::ParamFunc,
        Class::Texref,
        Class::Samplerref,
        Class::Surfref,
        Class::Tex,
        Class::Function,
        Class::Kernel,
    ]);

    /// The registers of each width, in which a brace list may mix types. A predicate counts as 32 bits there,
    /// as NVIDIA's assembler has it.
    pub const WIDTHS: [Self; 5] = [
        Self::of(&[Class::RegB8, Class::RegU8, Class::RegS8]),
        Self::of(&[Class::RegB16, Class::RegU16, Class::RegS16, Class::RegF16]),
        Self::of(&[
            Class::RegB32,
            Class::RegU32,
            Class::RegS32,
            Class::RegF32,
            Class::RegF16x2,
            Class::RegPred,
        ]),
        Self::of(&[Class::RegB64, Class::RegU64, Class::RegS64, Class::RegF64]),
        Self::of(&[Class::RegB128]),
    ];

    /// What has each width in a brace list, numbers and special registers included.
    pub const ELEMENT_WIDTHS: [Self; 5] = [
        Self::WIDTHS[0],
        Self::WIDTHS[1],
        Self::WIDTHS[2].union(Self::SPECIAL_32).union(Self::of(&[Class::SingleBits])),
        Self::WIDTHS[3].union(Self::SPECIAL_64).union(Self::of(&[
            Class::Integer,
            Class::NegativeInteger,
            Class::WarpSize,
            Class::Decimal,
            Class::DoubleBits,
        ])),
        Self::WIDTHS[4],
    ];

    /// The set of some classes.
    #[must_use]
    pub const fn of(classes: &[Class]) -> Self {
        let mut set = Self::NONE;
        let mut index = 0;
        while index < classes.len() {
            set = set.union(Self::one(classes[index]));
            index += 1;
        }
        set
    }

    const fn one(class: Class) -> Self {
        Self::from_bits(1 << class as u8)
    }

    /// The set whose members are the one bits, bit 0 for the first class.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self([bits as u64, (bits >> 64) as u64])
    }

    /// The members as bits, bit 0 for the first class.
    #[must_use]
    pub const fn bits(self) -> u128 {
        self.0[0] as u128 | (self.0[1] as u128) << 64
    }

    /// The set of what an operand can be whose members are the one bits, bit 0 for the first class.
    #[must_use]
    pub const fn from_word(word: u64) -> Self {
        Self([word, 0])
    }

    /// The members that an operand can be, as bits: all but some marks.
    #[must_use]
    pub const fn word(self) -> u64 {
        self.0[0]
    }

    /// Whether `class` is a member.
    #[must_use]
    pub const fn contains(self, class: Class) -> bool {
        let bit = class as u8;
        self.0[(bit >> 6) as usize] >> (bit & 63) & 1 != 0
    }

    /// Whether every member is also one of `other`.
    #[must_use]
    pub const fn is_subset(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    /// The classes in one of the sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    /// The classes in both sets.
    #[must_use]
    pub const fn intersect(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    /// The members that `other` lacks.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
    }

    /// Whether there are two members or more.
    #[must_use]
    pub const fn has_several(self) -> bool {
        self.0[0].count_ones() + self.0[1].count_ones() > 1
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    /// The members, in the order of declaration.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.iter().copied().filter(move |&class| self.contains(class))
    }
}

impl From<Class> for ClassSet {
    fn from(class: Class) -> Self {
        Self::one(class)
    }
}

impl FromIterator<Class> for ClassSet {
    fn from_iter<I: IntoIterator<Item = Class>>(classes: I) -> Self {
        classes.into_iter().fold(Self::NONE, |set, class| set.union(class.into()))
    }
}

impl fmt::Debug for ClassSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, ClassSet};
    use crate::types::Type;

    #[test]
    fn register_classes_follow_the_register_types() {
        for &ty in Type::ALL {
            let class = Class::register(ty);
            assert_eq!(class.is_some(), ty.is_register_type());
            if let Some(class) = class {
                assert_eq!(class.register_type(), Some(ty));
                assert!(class.phrase().contains(ty.as_str()) || ty == Type::Pred);
            }
        }
        assert!(Class::ALL.len() <= 128 && (Class::Unknown as u8) < 64);
    }

    #[test]
    fn sets_behave_as_sets() {
        let set: ClassSet = [Class::Sink, Class::RegB8].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Class::RegB8, Class::Sink]);
        assert!(set.intersect(ClassSet::REGISTERS).is_subset(set));
        assert!(!set.is_subset(ClassSet::REGISTERS));
        assert!(set.without(set).is_empty());
    }
}
