//! How an operand looks in the source: what the caller hands to [`Resolved::select`](super::Resolved::select).

use std::fmt;

use super::class::{Class, ClassSet};

/// The outer form of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ShapeKind {
    /// One thing: a register, an immediate, a name, a label, `_`.
    Value,
    /// `!%p`.
    Negated,
    /// `%p|%q`: two children.
    Pair,
    /// `{a, b}`, or a register declared `.v2` or `.v4`, which has its element type in `classes`.
    Vector,
    /// `[base + offset]`; `classes` is the class of the base.
    Address,
    /// `[base, element, …]`: textures, tensor maps, fabric addresses. One child for each part.
    Bracket,
    /// `(a, b)`: arguments or results of a call.
    List,
    /// `%r1.h10`: a register and a selector of its bytes or half words, which `immediate` holds as
    /// [`Selector::bits`].
    Selected,
}

/// Small facts about an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ShapeFlags(u8);

impl ShapeFlags {
    /// No fact.
    pub const NONE: Self = Self(0);
    /// The address, or the symbol that is a value, has an offset: `[%rd1+4]`, `gvar+4`.
    pub const OFFSET: Self = Self(1);
    /// The address ends in `.unified`: `[%rd1].unified`.
    pub const UNIFIED: Self = Self(2);
    /// The vector is a register declared with `.v2` or `.v4`, not a brace list.
    pub const VECTOR_REGISTER: Self = Self(4);
    /// The value is a variable with an index: `g[%r1]`, which no constant is.
    pub const ELEMENT: Self = Self(8);
    /// The register has a minus sign: `-%r1`, which only `vmad` takes.
    pub const MINUS: Self = Self(16);

    /// The operand is the sum of a register and a constant: `%r1+4`.
    pub const SUM: Self = Self(32);

    /// Two neighbours in the brace list are of different kinds, and neither is plain bits.
    pub const CLASH: Self = Self(64);

    /// The same of the elements after the first.
    pub const REST_CLASH: Self = Self(128);

    /// Both facts.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a fact of `other` holds.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every fact of `other` holds.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One operand as it is in the source. Children of an operand are one after the other in a second slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What the operand is; for vectors the union over the elements, for addresses the base.
    pub classes: ClassSet,
    /// The value of an integer immediate, the bits of a floating-point immediate as a double, the bits of a
    /// [`Selector`], or of a vector what [`Shape::rest`] says; 0 for anything else.
    pub immediate: i64,
    /// The index of the first child in the slice of children; of a vector what [`Shape::first`] and
    /// [`Shape::measure`] say.
    pub children: u32,
    /// How many elements or children; 1 for a single value.
    pub count: u16,
    /// The outer form.
    pub kind: ShapeKind,
    /// Small facts.
    pub flags: ShapeFlags,
}

impl Shape {
    /// A single value of one class.
    #[must_use]
    pub const fn value(class: Class) -> Self {
        Self::of(ShapeKind::Value, ClassSet::of(&[class]), 1)
    }

    /// An integer immediate; its class follows from the sign.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        let class = if value < 0 { Class::NegativeInteger } else { Class::Integer };
        Self { immediate: value, ..Self::value(class) }
    }

    /// `!%p`.
    #[must_use]
    pub const fn negated(class: Class) -> Self {
        Self::of(ShapeKind::Negated, ClassSet::of(&[class]), 1)
    }

    /// A brace list of `count` elements whose classes are `classes`.
    #[must_use]
    pub const fn vector(classes: ClassSet, count: u16) -> Self {
        Self::of(ShapeKind::Vector, classes, count)
    }

    /// The vector with the class of its first element, the classes of all after it, and the class of the element that says
    /// how wide the others are.
    #[must_use]
    pub fn with_elements(self, first: ClassSet, rest: ClassSet, measure: ClassSet) -> Self {
        let number = |class: ClassSet| class.iter().next().map_or(0, |class| class as u32 + 1);
        let children = number(measure) << Self::MEASURE | number(first);
        Self { immediate: rest.word().cast_signed(), children, ..self }
    }

    /// The vector with which of its first eight elements are numbers, and which are predicates: a bit for each.
    #[must_use]
    pub fn with_bits(self, numbers: u8, predicates: u8) -> Self {
        let bits = u32::from(predicates) << Self::PREDICATES | u32::from(numbers) << Self::NUMBERS;
        Self { children: self.children | bits, ..self }
    }

    /// How far the class of the element that says the width is shifted in `children`.
    const MEASURE: u32 = 16;

    /// How far the bits of the elements that are numbers are shifted in `children`.
    const NUMBERS: u32 = 8;

    /// How far the bits of the elements that are predicates are shifted in `children`.
    const PREDICATES: u32 = 24;

    /// The class of the first element of a vector; `None` where the vector is one register.
    #[must_use]
    pub fn first(&self) -> Option<Class> {
        Self::element(self.children)
    }

    /// Which of the first eight elements of a vector are numbers: a bit for each, that of the first element lowest.
    #[must_use]
    pub const fn numbers(&self) -> u8 {
        (self.children >> Self::NUMBERS) as u8
    }

    /// Which of the first eight elements of a vector are predicates: a bit for each, that of the first element lowest.
    #[must_use]
    pub const fn predicates(&self) -> u8 {
        (self.children >> Self::PREDICATES) as u8
    }

    /// Of a vector that begins with a number, the class of the element that says how wide all are to the assembler: the
    /// last one that is not as wide as the first, else the first. `None` where the vector begins with no number.
    #[must_use]
    pub fn measure(&self) -> Option<Class> {
        Self::element(self.children >> Self::MEASURE)
    }

    /// The class of a number in the lowest byte.
    fn element(number: u32) -> Option<Class> {
        Class::ALL.get(usize::from(number as u8).checked_sub(1)?).copied()
    }

    /// The classes of the elements of a vector after the first.
    #[must_use]
    pub const fn rest(&self) -> ClassSet {
        ClassSet::from_word(self.immediate.cast_unsigned())
    }

    /// An address whose base is of one class.
    #[must_use]
    pub const fn address(base: Class) -> Self {
        Self::of(ShapeKind::Address, ClassSet::of(&[base]), 1)
    }

    /// A shape of `count` parts, without children, immediate or flags.
    #[must_use]
    pub const fn of(kind: ShapeKind, classes: ClassSet, count: u16) -> Self {
        Self { classes, immediate: 0, children: 0, count, kind, flags: ShapeFlags::NONE }
    }

    /// The same shape with its children at `first` of the slice of children.
    #[must_use]
    pub const fn with_children(self, first: u32) -> Self {
        Self { children: first, ..self }
    }

    /// The same shape with more facts.
    #[must_use]
    pub const fn with_flags(self, flags: ShapeFlags) -> Self {
        Self { flags: self.flags.with(flags), ..self }
    }
}

/// A selector of the video instructions: `.b0` to `.b3`, `.h0`, `.h1`, `.h10`, `.b3210` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// Whether it selects half words (`.h`) rather than bytes (`.b`).
    pub halves: bool,
    /// How many digits there are: 1 to 4.
    pub count: u8,
    /// The digits, first digit first; those beyond `count` are 0.
    pub digits: [u8; 4],
}

impl Selector {
    /// Reads a selector with or without its dot: `.h10`, `b3210`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('.').unwrap_or(text).as_bytes();
        let (&letter, rest) = text.split_first()?;
        let halves = match letter {
            b'h' => true,
            b'b' => false,
            _ => return None,
        };
        if rest.is_empty() || rest.len() > 4 || !rest.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut digits = [0; 4];
        for (digit, byte) in digits.iter_mut().zip(rest) {
            *digit = byte - b'0';
        }
        Some(Self { halves, count: rest.len() as u8, digits })
    }

    /// The selector as one number, for [`Shape::immediate`].
    #[must_use]
    pub fn bits(self) -> i64 {
        let digits = self.digits.iter().fold(0, |bits, &digit| bits << 4 | i64::from(digit));
        i64::from(self.halves) << 24 | i64::from(self.count) << 16 | digits
    }

    /// The selector that [`Selector::bits`] gave.
    #[must_use]
    pub const fn from_bits(bits: i64) -> Self {
        Self {
            halves: bits >> 24 & 1 != 0,
            count: (bits >> 16 & 255) as u8,
            digits: [
                (bits >> 12 & 15) as u8,
                (bits >> 8 & 15) as u8,
                (bits >> 4 & 15) as u8,
                (bits & 15) as u8,
            ],
        }
    }
}

/// As it is written after a register, with its dot.
impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, ".{}", if self.halves { 'h' } else { 'b' })?;
        self.digits.iter().take(usize::from(self.count)).try_for_each(|digit| write!(formatter, "{digit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Selector, Shape, ShapeKind};

    #[test]
    fn a_shape_is_four_words() {
        assert_eq!(size_of::<Shape>(), 32);
        assert_eq!(Shape::integer(-1).kind, ShapeKind::Value);
    }

    #[test]
    fn selectors_round_trip() {
        for text in [".b0", ".h1", "h10", ".b3210", ".b7654"] {
            let selector = Selector::parse(text).unwrap();
            assert_eq!(Selector::from_bits(selector.bits()), selector);
            assert_eq!(selector.to_string().trim_start_matches('.'), text.trim_start_matches('.'));
        }
        for text in ["", ".", ".x", ".b", ".b43210", ".hx"] {
            assert_eq!(Selector::parse(text), None);
        }
    }
}
