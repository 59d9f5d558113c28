//! The registers that instructions read and write.

mod definitions;
mod table;
mod uses;

pub(super) use definitions::Definitions;
pub use definitions::Touched;
pub use ptx_ir::visit::{Access, aligned, for_each_register, for_each_register_with_operand};
pub(super) use table::Occurring;
pub use table::RegisterTable;
pub use uses::{Use, Uses};
