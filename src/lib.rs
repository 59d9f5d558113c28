//! The PTX toolkit as one library: read, check, look at, change, link and print NVIDIA PTX.
//!
//! [`Module`] is the way in. Everything that it does is in the crates that are exported here whole, each of which can be
//! used alone:
//!
//! | crate | has |
//! |---|---|
//! | [`syntax`] | tokens, syntax tree, spans, diagnostics, [changes of the text](syntax::edits) |
//! | [`ir`] | the instruction table, the typed module, [building](ir::build), [visiting](ir::visit), [editing](ir::edit), [linking](ir::link) |
//! | [`verify`] | rules, facts, fixes |
//! | [`emit`] | formatter, printer, assembler back ends |
//! | [`project`] | files whatever their bytes, `ptx.toml`, applying fixes, findings as text, JSON Lines, SARIF and annotations |
//!
//! ```
//! use ptx_toolkit::Module;
//!
//! let parsed = Module::parse(".version 8.6\n.target sm_90\n.visible .entry k() { .reg .b32 %r<2>; ret; }\n");
//! assert!(parsed.diagnostics.is_empty());
//! let kernels = parsed.module.functions.iter().map(|(_, function)| parsed.module.name(function.name));
//! assert_eq!(kernels.collect::<Vec<_>>(), ["k"]);
//! println!("{}", parsed.module);
//! ```
//!
//! # Features
//!
//! * `program`, on by default: the program of the same name, which `pre-commit` builds. A library wants
//!   `default-features = false`, which leaves out the command line and everything that only it needs.
//! * `project`, on with `program`: the module [`project`].
//! * `serde`: `Serialize` and `Deserialize` of [`Module`] and everything in it, of [`Diagnostic`], [`Config`], [`Level`] and
//!   what else is told. A module that is read is checked: its handles are good, or it is refused. What is written is of the
//!   same version of this library. Reports of assemblers and baselines have both without it.
//! * `cuda`: the CUDA driver, on Linux, and NVIDIA's compiler library as back ends of [`Module::report`]. It needs `cust`, whose build
//!   script wants a CUDA toolkit on the machine that builds, or the `[patch]` that the toolkit's own `Cargo.toml` has.

use std::fmt;
use std::ops::Deref;

pub use ptx_emit as emit;
pub use ptx_emit::assemble::{Choice, Options, Report};
pub use ptx_emit::format;
pub use ptx_ir as ir;
pub use ptx_ir::build::{
    BuildError, Declaration, Func, FunctionBuilder, Label, ModuleBuilder, Reg, Value, Var,
};
pub use ptx_ir::edit::{FunctionEditor, InlineError, OutlineError};
pub use ptx_ir::ir::{Definition, Function, FunctionKind, Handle, Instruction, Operand, Register, Variable};
pub use ptx_ir::isa::{Control, Instance};
pub use ptx_ir::link::{LinkError, Linked, Removed};
pub use ptx_ir::space::StateSpace;
pub use ptx_ir::target::Target;
pub use ptx_ir::types::Type;
pub use ptx_ir::version::Version;
pub use ptx_ir::visit::{At, RegisterUse, Visitor};
#[cfg(feature = "project")]
pub use ptx_project as project;
pub use ptx_syntax as syntax;
pub use ptx_syntax::{Class, Diagnostic, LineColumn, LineIndex, Severity, Span};
pub use ptx_verify as verify;
pub use ptx_verify::{Config, Level, Levels, check};

/// A PTX module: [`ptx_ir::ir::Module`], to which it derefs, with what the other crates do with one.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Module(ptx_ir::ir::Module);

/// What [`Module::parse`] gives, whatever the text.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parsed {
    /// The module. What could not be understood is left out, or marked unknown.
    pub module: Module,
    /// What is wrong with syntax, names, declarations and constants. Nothing is said of instructions and of what happens
    /// at run time; that is [`check`].
    pub diagnostics: Vec<Diagnostic>,
    /// Where the first error is.
    pub first_error: Option<LineColumn>,
}

/// A text that has a fault, and what was expected to have none.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ParseError {
    /// What is wrong, in the order of the places; there is one error at least.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the first error is.
    pub at: LineColumn,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut errors = self.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let message = errors.next().map_or("", |first| &first.message);
        write!(f, "line {}, column {}: {message}", self.at.line, self.at.column)?;
        match errors.count() {
            0 => Ok(()),
            others => write!(f, ", and {others} more"),
        }
    }
}

impl std::error::Error for ParseError {}

impl Parsed {
    /// The module of a text without a fault.
    ///
    /// # Errors
    /// The text has one.
    pub fn ok(self) -> Result<Module, ParseError> {
        let Self { module, diagnostics, first_error } = self;
        match first_error {
            Some(at) => Err(ParseError { diagnostics, at }),
            None => Ok(module),
        }
    }
}

impl Module {
    /// Reads a text. It never fails: the module has what could be understood.
    ///
    /// ```
    /// let parsed = ptx_toolkit::Module::parse(".version 8.6\n.target sm_90\n.entry k() { bra NOWHERE; }");
    /// assert_eq!(parsed.diagnostics.len(), 1);
    /// let error = parsed.ok().unwrap_err();
    /// assert_eq!(error.to_string(), "line 3, column 18: `NOWHERE` is not declared");
    /// ```
    #[must_use]
    pub fn parse(source: &str) -> Parsed {
        let parse = ptx_syntax::parse(source);
        let lowered = ptx_ir::lower::lower(&parse.tree, source);
        let mut diagnostics = ptx_verify::syntax_findings(&parse);
        diagnostics.extend(ptx_verify::lowering_findings(&lowered));
        diagnostics.sort_by_key(|found| found.span);
        let mut errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let first_error = errors.next().map(|first| LineIndex::new(source).position(first.span.start));
        Parsed { module: Self(lowered.module), diagnostics, first_error }
    }

    /// The text of the module in its one canonical form, without comments.
    ///
    /// Parsing it gives the same module again, and NVIDIA's assembler makes the same machine code of it as of the text
    /// that the module was read from.
    #[must_use]
    pub fn print(&self) -> String {
        ptx_emit::canonical(&self.0)
    }

    /// Asks every rule about the module as it [prints](Self::print); the spans of the findings are in that text, which
    /// comes with them. [`check`] asks them about a text that is there already.
    #[must_use]
    pub fn check(&self, config: &Config) -> (String, Vec<Diagnostic>) {
        let text = self.print();
        let found = check(&text, config);
        (text, found)
    }

    /// What NVIDIA's assembler says of the module: whether it is accepted, registers, spills and memory of each function.
    /// It is found as `ptx-cli report` finds it.
    ///
    /// # Errors
    /// There is none, or it gave no verdict. A module that it refuses is a report.
    pub fn report(&self, choice: Choice, options: &Options) -> Result<Report, ptx_emit::assemble::Error> {
        let text = self.print();
        let source = ptx_emit::assemble::Source { file: "module.ptx", text: text.as_bytes() };
        let assembler = ptx_emit::assemble::Assembler::open(choice, options)?;
        Ok(assembler.assemble(&source, options)?.report)
    }

    /// Changes the module. Nothing has changed where that fails.
    ///
    /// ```
    /// # use ptx_toolkit::{Module, Target, Version};
    /// let mut module = Module::parse(".version 7.0\n.target sm_80\n.entry k() { ret; }").ok()?;
    /// module.edit(|builder| {
    ///     let kernel = builder.find_function("k").expect("it is there");
    ///     let mut editor = builder.edit(kernel)?;
    ///     editor.at_start().push("bar.sync", [0.into()])?;
    ///     editor.finish()
    /// })?;
    /// assert!(module.print().contains("bar.sync"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `change`.
    pub fn edit<T, E>(&mut self, change: impl FnOnce(&mut ModuleBuilder) -> Result<T, E>) -> Result<T, E> {
        let mut builder = ModuleBuilder::extend(self.0.clone());
        let result = change(&mut builder)?;
        self.0 = builder.finish();
        Ok(result)
    }

    /// Adds what another module has, by the rules of `nvlink`.
    ///
    /// ```
    /// # use ptx_toolkit::Module;
    /// # let header = ".version 7.0\n.target sm_80\n.address_size 64\n";
    /// let mut module = Module::parse(&format!("{header}.extern .func f();\n.visible .entry k() {{ call f; ret; }}")).ok()?;
    /// let linked = module.link(Module::parse(&format!("{header}.visible .func f() {{ ret; }}")).ok()?)?;
    /// assert!(linked.undefined.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The modules do not go together. Nothing has changed then.
    pub fn link(&mut self, other: Self) -> Result<Linked, LinkError> {
        ptx_ir::link::link(&mut self.0, other.0)
    }

    /// Removes the functions and variables that neither the host nor another module may need: what
    /// [`exported`](ir::link::exported) things do not use. [`ir::link::remove_unused`] starts from others.
    pub fn remove_unused(&mut self) -> Removed {
        ptx_ir::link::remove_unused(&mut self.0, ptx_ir::link::exported)
    }

    /// Walks over everything in the module, in the order of the text.
    pub fn visit(&self, visitor: &mut impl Visitor) {
        ptx_ir::visit::walk_module(&self.0, visitor);
    }

    /// The module for what changes one in place, [`ir::link`] for one.
    pub const fn ir_mut(&mut self) -> &mut ptx_ir::ir::Module {
        &mut self.0
    }

    /// The module without what this crate adds.
    #[must_use]
    pub fn into_ir(self) -> ptx_ir::ir::Module {
        self.0
    }
}

impl Deref for Module {
    type Target = ptx_ir::ir::Module;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<ptx_ir::ir::Module> for Module {
    fn from(module: ptx_ir::ir::Module) -> Self {
        Self(module)
    }
}

impl fmt::Display for Module {
    /// The module as [`Module::print`] has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print())
    }
}
