//! Syntax tree to typed IR. Under construction.

use crate::ir::Module;
use ptx_syntax::Diagnostic;

/// The result of lowering: a module in every case, and what was wrong.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module; what could not be understood is left out or marked unknown.
    pub module: Module,
    /// Findings about names, scopes and declarations.
    pub diagnostics: Vec<Diagnostic>,
}
