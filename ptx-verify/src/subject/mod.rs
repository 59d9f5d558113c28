//! What rules look at: a module, a function, an instruction that something is wrong with, an asm statement; and how they
//! speak of it.

pub(crate) mod declarations;
pub(crate) mod describe;
pub(crate) mod fragment;
pub(crate) mod function;
pub(crate) mod inlined;
pub(crate) mod module;
pub(crate) mod objects;
pub(crate) mod occurrence;
pub(crate) mod outline;
pub(crate) mod place;
pub(crate) mod producer;
pub(crate) mod protocol;
pub(crate) mod shapes;
pub(crate) mod summary;
pub(crate) mod wanted;
