//! Why modules do not go together.

use std::fmt;

use crate::target::Target;

/// Why two modules cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// Neither target is one that the other module can be compiled for.
    Targets {
        /// That of the first module.
        first: Target,
        /// That of the second module.
        second: Target,
    },
    /// A part of the header has to be the same in both, and is not.
    Header {
        /// Which part: `.address_size`, `texmode_independent`, `map_f64_to_f32`.
        what: &'static str,
    },
    /// The version or target of one module does not have an instruction of the other any more.
    Withdrawn {
        /// The instruction, as it is spelled in the manual.
        instruction: String,
    },
    /// Both modules define a name.
    Defined {
        /// The name.
        name: String,
    },
    /// A name is a function in one module and a variable in the other, or a kernel and a function, or a variable in
    /// two state spaces.
    Kind {
        /// The name.
        name: String,
    },
    /// A function has other parameters or results in one module than in the other.
    Signature {
        /// The name of the function.
        name: String,
    },
    /// A variable has another size in one module than in the other.
    Size {
        /// The name of the variable.
        name: String,
    },
    /// Both modules have a section of a name, and they cannot be one.
    Section {
        /// The name, with its dot.
        name: String,
        /// Why.
        reason: &'static str,
    },
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Targets { first, second } => {
                write!(f, "no module can be for `{first}` and for `{second}`")
            }
            Self::Header { what } => write!(f, "the modules do not agree about `{what}`"),
            Self::Withdrawn { instruction } => {
                write!(f, "the version or target of one module does not have `{instruction}` of the other")
            }
            Self::Defined { name } => write!(f, "both modules define `{name}`"),
            Self::Kind { name } => write!(f, "`{name}` is something else in the other module"),
            Self::Signature { name } => {
                write!(f, "`{name}` has other parameters or results in the other module")
            }
            Self::Size { name } => write!(f, "`{name}` has another size in the other module"),
            Self::Section { name, reason } => write!(f, "the sections `{name}` cannot be one: {reason}"),
        }
    }
}

impl std::error::Error for LinkError {}
