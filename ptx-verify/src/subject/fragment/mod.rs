//! Asm statements of CUDA C++ as functions of PTX: what an operand is for the template, what the compiler makes of the
//! text, and what the statements of a function do one after the other.

pub(crate) mod expand;
pub(crate) mod fixes;
pub(crate) mod kernel;
pub(crate) mod origin;
pub(crate) mod scope;
pub(crate) mod siblings;
pub(crate) mod stream;
pub(crate) mod surroundings;
pub(crate) mod targets;
pub(crate) mod text;
pub(crate) mod toolkit;
pub(crate) mod unit;
mod values;

/// Whose front end decides what may stand around a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compiler {
    /// NVIDIA's.
    #[default]
    Nvcc,
    /// LLVM's.
    Clang,
    /// What both take.
    Both,
}

impl Compiler {
    /// Whether nvcc's rules hold.
    #[must_use]
    pub const fn is_nvcc(self) -> bool {
        matches!(self, Self::Nvcc | Self::Both)
    }

    /// Whether clang's rules hold.
    #[must_use]
    pub const fn is_clang(self) -> bool {
        matches!(self, Self::Clang | Self::Both)
    }
}
