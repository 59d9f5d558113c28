//! Canonical PTX from the typed IR.
//!
//! Two modules whose IR is equal print alike, whatever their texts looked like:
//!
//! * every instruction has the spelling of the instruction table, modifiers in the table's order; what
//!   the table does not know keeps its spelling;
//! * integers are decimal, constant expressions are folded, floating-point numbers are their bits (`0f…`,
//!   `0d…`) wherever the instruction or declaration fixes the type, so that no digit can be lost;
//! * a declaration has one name a line, specifiers in one order;
//! * comments are gone, and white space is that of [`crate::format`].
//!
//! Parsing and lowering the printed text gives the same IR again, spans aside, and NVIDIA's assembler makes
//! the same machine code of it, as long as the module has no `invalid` diagnostic. What lowering could not
//! understand is printed as `_`, so the text of a module with such diagnostics is for reading only.

mod body;
mod module;
mod number;
mod operand;
mod printer;
mod show;
mod variable;

use printer::Printer;
use ptx_ir::ir::Module;
pub use show::{Shown, Thing, show};

/// Prints a module as canonical PTX: [`format`](crate::format()) leaves the text as it is.
///
/// ```
/// let source = ".version 8.0 .target sm_90\n.const.f32 half=.5; .func f() { .reg .b32 %r<4>; {} ret ; }";
/// let tree = ptx_syntax::parse(source).tree;
/// let module = ptx_ir::lower::lower(&tree, source).module;
/// let text = ".version 8.0
/// .target sm_90
///
/// .const .f32 half = 0f3F000000;
///
/// .func f()
/// {
/// \t.reg .b32\t%r<4>;
///
/// \t{
/// \t}
/// \tret;
/// }
/// ";
/// assert_eq!(ptx_emit::canonical(&module), text);
/// ```
#[must_use]
pub fn canonical(module: &Module) -> String {
    let mut printer = Printer::new(module);
    printer.print_module();
    let text = printer.finish();
    // Where lowering lost something, the text may be no PTX; it is then shown without layout.
    crate::format(&text).map_or(text, |formatted| formatted.text)
}
