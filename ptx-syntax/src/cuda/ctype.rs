//! C++ types, as far as constraints of asm operands depend on them.

/// The type of an expression. Sizes are those of the platforms that CUDA has: 64-bit pointers, and `long` of 64
/// bits, which is 32 on Windows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum CType {
    /// Not known: an undeclared name, `auto`, something that depends on a template, anything unusual.
    #[default]
    Unknown,
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// An integer.
    Integer {
        /// Size: 1, 2, 4, 8 or 16.
        bytes: u8,
        /// Whether it has a sign.
        signed: bool,
        /// Whether it is `long` or `unsigned long`, whose size depends on the platform.
        long: bool,
    },
    /// `float` or `double`.
    Float {
        /// Size: 4 or 8.
        bytes: u8,
    },
    /// An enumeration.
    Enum {
        /// Its size, where its underlying type is certain.
        bytes: Option<u8>,
    },
    /// A pointer or a function's name.
    Pointer(Box<CType>),
    /// An array.
    Array(Box<CType>),
    /// A structure, class or union with its name: one of CUDA's vector types or one that the file defines.
    Record(String),
    /// The type that a template's parameter stands for; where its name is declared. Only while a file is read: in what was
    /// read it is unknown.
    Parameter(u32),
}

/// How deep pointers and arrays are followed.
const MAX_DEPTH: usize = 64;

impl CType {
    /// `int`.
    pub const INT: Self = Self::integer(4, true);
    /// `unsigned int`.
    pub const UNSIGNED: Self = Self::integer(4, false);

    /// An integer that is not `long`.
    #[must_use]
    pub const fn integer(bytes: u8, signed: bool) -> Self {
        Self::Integer { bytes, signed, long: false }
    }

    /// A pointer to `self`.
    #[must_use]
    pub fn pointer(self) -> Self {
        Self::Pointer(self.target())
    }

    /// An array of `self`.
    #[must_use]
    pub fn array(self) -> Self {
        Self::Array(self.target())
    }

    /// What a pointer leads to, or an element. A type that nests deeper than any that somebody means is not followed
    /// further: its name and its end take a step of recursion each.
    fn target(self) -> Box<Self> {
        let mut depth = 0;
        let mut inner = &self;
        while let Self::Pointer(to) | Self::Array(to) = inner {
            (depth, inner) = (depth + 1, to.as_ref());
        }
        Box::new(if depth < MAX_DEPTH { self } else { Self::Unknown })
    }

    /// The size in bytes, where it is certain.
    #[must_use]
    pub const fn size(&self) -> Option<u8> {
        match self {
            Self::Bool => Some(1),
            Self::Integer { bytes, .. } | Self::Float { bytes } => Some(*bytes),
            Self::Pointer(_) => Some(8),
            Self::Enum { bytes } => *bytes,
            Self::Unknown | Self::Void | Self::Array(_) | Self::Record(_) | Self::Parameter(_) => None,
        }
    }

    /// The name as C++ writes it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Unknown | Self::Parameter(_) => "unknown".into(),
            Self::Void => "void".into(),
            Self::Bool => "bool".into(),
            Self::Integer { bytes, signed, long } => integer_name(*bytes, *signed, *long).into(),
            Self::Float { bytes: 4 } => "float".into(),
            Self::Float { .. } => "double".into(),
            Self::Enum { .. } => "enum".into(),
            Self::Pointer(to) if **to == Self::Unknown => "pointer".into(),
            Self::Pointer(to) => format!("{} *", to.name()),
            Self::Array(of) => format!("{}[]", of.name()),
            Self::Record(name) => name.clone(),
        }
    }

    /// What integer promotion makes of it.
    #[must_use]
    pub fn promoted(&self) -> Self {
        match self {
            Self::Bool | Self::Integer { bytes: 1 | 2, .. } => Self::INT,
            Self::Parameter(_) => Self::Unknown,
            other => other.clone(),
        }
    }

    /// The common type of two arithmetic operands; unknown if either is no arithmetic type.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        match (self.promoted(), other.promoted()) {
            (Self::Float { bytes: a }, Self::Float { bytes: b }) => Self::Float { bytes: a.max(b) },
            (Self::Float { bytes }, Self::Integer { .. }) | (Self::Integer { .. }, Self::Float { bytes }) => {
                Self::Float { bytes }
            }
            (
                Self::Integer { bytes: a, signed: sa, long: la },
                Self::Integer { bytes: b, signed: sb, long: lb },
            ) => match a.cmp(&b) {
                std::cmp::Ordering::Greater => Self::Integer { bytes: a, signed: sa, long: la },
                std::cmp::Ordering::Less => Self::Integer { bytes: b, signed: sb, long: lb },
                std::cmp::Ordering::Equal => Self::Integer { bytes: a, signed: sa && sb, long: la && lb },
            },
            _ => Self::Unknown,
        }
    }

    /// Makes parameters of templates unknown.
    pub(super) fn forget_parameters(&mut self) {
        let mut inner = self;
        while let Self::Pointer(to) | Self::Array(to) = inner {
            inner = to;
        }
        if let Self::Parameter(_) = inner {
            *inner = Self::Unknown;
        }
    }

    /// What an array or function becomes when its value is used.
    #[must_use]
    pub fn decayed(self) -> Self {
        match self {
            Self::Array(of) => Self::Pointer(of),
            other => other,
        }
    }

    /// Whether it is one of CUDA's structures: a vector such as `uint4`, or one of the halves of `cuda_fp16.h` and
    /// `cuda_bf16.h`, which have more than one conversion to a scalar, or none.
    #[must_use]
    pub fn is_structure_of_cuda(&self) -> bool {
        matches!(self, Self::Record(name) if vector(name).is_some() || HALVES.contains(&name.as_str()))
    }

    /// The type of a member, for CUDA's vector types.
    #[must_use]
    pub fn vector_member(&self, member: &str) -> Self {
        let Self::Record(name) = self else { return Self::Unknown };
        match vector(name) {
            Some((element, lanes)) if "xyzw"[..lanes].contains(member) && member.len() == 1 => element,
            _ => Self::Unknown,
        }
    }
}

const fn integer_name(bytes: u8, signed: bool, long: bool) -> &'static str {
    match (bytes, signed, long) {
        (_, true, true) => "long",
        (_, false, true) => "unsigned long",
        (1, true, _) => "signed char",
        (1, false, _) => "unsigned char",
        (2, true, _) => "short",
        (2, false, _) => "unsigned short",
        (4, true, _) => "int",
        (4, false, _) => "unsigned int",
        (8, true, _) => "long long",
        (8, false, _) => "unsigned long long",
        (_, true, _) => "__int128",
        (_, false, _) => "unsigned __int128",
    }
}

/// The element and the number of lanes of a vector type such as `uint4`.
fn vector(name: &str) -> Option<(CType, usize)> {
    if name == "dim3" {
        return Some((CType::UNSIGNED, 3));
    }
    let name = name.strip_suffix("_16a").or_else(|| name.strip_suffix("_32a")).unwrap_or(name);
    let lanes = name.chars().last()?.to_digit(10).filter(|lanes| (1..=4).contains(lanes))? as usize;
    let element = match &name[..name.len() - 1] {
        "char" => CType::integer(1, true),
        "uchar" => CType::integer(1, false),
        "short" => CType::integer(2, true),
        "ushort" => CType::integer(2, false),
        "int" => CType::INT,
        "uint" => CType::UNSIGNED,
        "long" => CType::Integer { bytes: 8, signed: true, long: true },
        "ulong" => CType::Integer { bytes: 8, signed: false, long: true },
        "longlong" => CType::integer(8, true),
        "ulonglong" => CType::integer(8, false),
        "float" => CType::Float { bytes: 4 },
        "double" => CType::Float { bytes: 8 },
        _ => return None,
    };
    Some((element, lanes))
}

/// The structures of `cuda_fp16.h` and `cuda_bf16.h`. Their names without underscores are those of other libraries too:
/// `headers` tells what these mean.
const HALVES: [&str; 8] = [
    "__half",
    "__half2",
    "__half_raw",
    "__half2_raw",
    "__nv_bfloat16",
    "__nv_bfloat162",
    "__nv_bfloat16_raw",
    "__nv_bfloat162_raw",
];

/// A type that needs no declaration in sight: the standard widths and CUDA's vector types.
pub(super) fn standard(name: &str) -> Option<CType> {
    Some(match name {
        "int8_t" | "__int8_t" => CType::integer(1, true),
        "uint8_t" | "__uint8_t" | "uchar" | "char8_t" => CType::integer(1, false),
        "int16_t" | "__int16_t" => CType::integer(2, true),
        "uint16_t" | "__uint16_t" | "ushort" | "char16_t" => CType::integer(2, false),
        "int32_t" | "__int32_t" => CType::INT,
        "uint32_t" | "__uint32_t" | "uint" | "char32_t" => CType::UNSIGNED,
        "int64_t" | "__int64_t" => CType::integer(8, true),
        "uint64_t" | "__uint64_t" => CType::integer(8, false),
        "size_t" | "uintptr_t" => CType::integer(8, false),
        "ptrdiff_t" | "intptr_t" | "ssize_t" => CType::integer(8, true),
        "__int128_t" => CType::integer(16, true),
        "__uint128_t" => CType::integer(16, false),
        _ if vector(name).is_some() || HALVES.contains(&name) => CType::Record(name.into()),
        _ => return None,
    })
}
