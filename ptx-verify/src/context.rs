//! What rules are given to look at.

use ptx_ir::ir::{Body, Function, Handle, Module};
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::Span;

use crate::config::Config;

/// A module and what it is verified for.
#[derive(Clone, Copy)]
pub(crate) struct ModuleContext<'a> {
    /// The module.
    pub(crate) module: &'a Module,
    /// The text that its spans refer to; empty for a module made by the builder.
    pub(crate) source: &'a str,
    /// What the user asked for.
    pub(crate) config: &'a Config,
}

impl<'a> ModuleContext<'a> {
    /// The PTX version whose features may be used: that of the module.
    pub(crate) fn version(&self) -> Version {
        self.module.header.version
    }

    /// The target whose features may be used: that of the module.
    pub(crate) fn target(&self) -> Target {
        self.module.header.target
    }

    /// The text of a place.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        span.text(self.source)
    }
}

/// A function with a body, and the module that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct FunctionContext<'a> {
    /// The module.
    pub(crate) module: ModuleContext<'a>,
    /// The function.
    pub(crate) handle: Handle<Function>,
    /// The function.
    pub(crate) function: &'a Function,
    /// Its body.
    pub(crate) body: &'a Body,
}
