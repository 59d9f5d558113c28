//! The types of PTX: fundamental types, types that only instructions name, and opaque handles.
//!
//! Manual: "State Spaces, Types, and Variables", sections "Fundamental Types", "Packed Data Types",
//! "Alternate Floating-Point Data Formats" and "Texture Sampler and Surface Types".

use std::fmt;

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `.b32`: bits without a meaning.
    Bits,
    /// `.u32`.
    Unsigned,
    /// `.s32`.
    Signed,
    /// `.f32`, `.bf16`, `.e4m3`: one floating-point number.
    Float,
    /// `.f16x2`, `.u8x4`: several numbers in one register.
    Packed,
    /// `.pred`.
    Predicate,
    /// `.texref`, `.samplerref`, `.surfref`: handles that only texture and surface instructions look into.
    Opaque,
}

/// Declares [`Type`] and its table of spelling, width in bits and kind, one type a line.
macro_rules! types {
    ($($name:ident, $spelling:literal, $bits:literal, $kind:ident;)*) => {
        /// A type as instructions and declarations spell it. The first 18 are those that registers may have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Type {
            $(
                #[doc = concat!("`", $spelling, "`")]
                $name,
            )*
        }

        impl Type {
            /// Every type, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Reads a type with its dot, `.u32`.
            #[must_use]
            pub fn parse(spelling: &str) -> Option<Self> {
                match spelling {
                    $($spelling => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// The spelling with its dot, `.u32`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $spelling,)*
                }
            }

            /// The width of a value in bits; 1 for a predicate, 64 for a handle.
            #[must_use]
            pub const fn bits(self) -> u32 {
                match self {
                    $(Self::$name => $bits,)*
                }
            }

            /// What the bits mean.
            #[must_use]
            pub const fn kind(self) -> TypeKind {
                match self {
                    $(Self::$name => TypeKind::$kind,)*
                }
            }
        }
    };
}

types! {
    B8, ".b8", 8, Bits;
    B16, ".b16", 16, Bits;
    B32, ".b32", 32, Bits;
    B64, ".b64", 64, Bits;
    B128, ".b128", 128, Bits;
    U8, ".u8", 8, Unsigned;
    U16, ".u16", 16, Unsigned;
    U32, ".u32", 32, Unsigned;
    U64, ".u64", 64, Unsigned;
    S8, ".s8", 8, Signed;
    S16, ".s16", 16, Signed;
    S32, ".s32", 32, Signed;
    S64, ".s64", 64, Signed;
    F16, ".f16", 16, Float;
    F16x2, ".f16x2", 32, Packed;
    F32, ".f32", 32, Float;
    F64, ".f64", 64, Float;
    Pred, ".pred", 1, Predicate;
    Bf16, ".bf16", 16, Float;
    Bf16x2, ".bf16x2", 32, Packed;
    Tf32, ".tf32", 32, Float;
    F32x2, ".f32x2", 64, Packed;
    U16x2, ".u16x2", 32, Packed;
    S16x2, ".s16x2", 32, Packed;
    U8x4, ".u8x4", 32, Packed;
    S8x4, ".s8x4", 32, Packed;
    E4m3, ".e4m3", 8, Float;
    E5m2, ".e5m2", 8, Float;
    E4m3x2, ".e4m3x2", 16, Packed;
    E5m2x2, ".e5m2x2", 16, Packed;
    E4m3x4, ".e4m3x4", 32, Packed;
    E5m2x4, ".e5m2x4", 32, Packed;
    E2m3, ".e2m3", 8, Float;
    E3m2, ".e3m2", 8, Float;
    E2m3x2, ".e2m3x2", 16, Packed;
    E3m2x2, ".e3m2x2", 16, Packed;
    E2m3x4, ".e2m3x4", 32, Packed;
    E3m2x4, ".e3m2x4", 32, Packed;
    E2m1, ".e2m1", 4, Float;
    E2m1x2, ".e2m1x2", 8, Packed;
    E2m1x4, ".e2m1x4", 16, Packed;
    E2m1p4x4, ".e2m1p4x4", 32, Packed;
    Ue8m0, ".ue8m0", 8, Float;
    Ue8m0x2, ".ue8m0x2", 16, Packed;
    Ue4m3, ".ue4m3", 8, Float;
    Ue5m3x2, ".ue5m3x2", 16, Packed;
    S2f6x2, ".s2f6x2", 16, Packed;
    B1, ".b1", 1, Bits;
    U4, ".u4", 4, Unsigned;
    S4, ".s4", 4, Signed;
    U2, ".u2", 2, Unsigned;
    S2, ".s2", 2, Signed;
    Texref, ".texref", 64, Opaque;
    Samplerref, ".samplerref", 64, Opaque;
    Surfref, ".surfref", 64, Opaque;
}

impl Type {
    /// How many types a register may have. They are the first of [`Type::ALL`].
    pub const REGISTER_TYPES: usize = 18;

    /// Whether a register or variable may be declared with this type.
    #[must_use]
    pub const fn is_register_type(self) -> bool {
        (self as usize) < Self::REGISTER_TYPES
    }

    /// Whether a value is an integer: `.uN` or `.sN`.
    #[must_use]
    #[inline]
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), TypeKind::Unsigned | TypeKind::Signed)
    }

    /// Whether a value is one floating-point number.
    #[must_use]
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), TypeKind::Float)
    }

    /// The size of a value in memory in bytes, rounded up. Predicates and handles have none.
    #[must_use]
    pub const fn bytes(self) -> Option<u32> {
        match self.kind() {
            TypeKind::Predicate | TypeKind::Opaque => None,
            TypeKind::Bits | TypeKind::Unsigned | TypeKind::Signed | TypeKind::Float | TypeKind::Packed => {
                Some(self.bits().div_ceil(8))
            }
        }
    }

    /// The type of twice the width and the same kind, as `mul.wide` produces it.
    #[must_use]
    pub const fn widened(self) -> Option<Self> {
        match self {
            Self::U8 => Some(Self::U16),
            Self::U16 => Some(Self::U32),
            Self::U32 => Some(Self::U64),
            Self::S8 => Some(Self::S16),
            Self::S16 => Some(Self::S32),
            Self::S32 => Some(Self::S64),
            Self::B8 => Some(Self::B16),
            Self::B16 => Some(Self::B32),
            Self::B32 => Some(Self::B64),
            Self::B64 => Some(Self::B128),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Type;

    #[test]
    fn spellings_round_trip() {
        for &each in Type::ALL {
            assert_eq!(Type::parse(each.as_str()), Some(each));
        }
        assert_eq!(Type::parse("u32"), None);
    }

    #[test]
    fn the_register_types_come_first() {
        let registers: Vec<_> = Type::ALL.iter().filter(|each| each.is_register_type()).collect();
        assert_eq!(registers.len(), Type::REGISTER_TYPES);
        assert!(Type::F16x2.is_register_type() && !Type::Bf16.is_register_type());
    }
}
