//! The work of some commands as functions: no file is named on a command line, and nothing is printed.
//!
//! The Python module `ptx_toolkit` is made of these.

use std::path::Path;
use std::time::Duration;

use ptx_emit::assemble::{Options as Assembling, Source as Text};
use ptx_ir::ir::{FunctionKind, Module, Statement};
use ptx_ir::lower::lower;
use ptx_ir::target::{Target, TargetSet};
use ptx_syntax::{Diagnostic, LineIndex};
use ptx_verify::{Level, Levels, requirements};

pub use ptx_emit::assemble::Report;
pub use ptx_emit::format::Options as Formatting;

pub use ptx_project::Kind;
pub use ptx_project::config::{CompilerName as Compiler, LayoutName as Layout};
pub use ptx_project::layout as formatting;

pub use crate::report::{Backend, set_program};

use ptx_project::{Error, Options, Source, targets, version};

use crate::render::json;
pub use crate::render::json::{EditObject, Finding, FixObject, LabelObject};
pub use crate::render::position::Place;
use crate::render::position::Positions;
use crate::report;

/// A text and what it is called.
#[derive(Debug)]
pub struct Document(Source);

impl Document {
    /// A text of this name, in the language that is given or else that the name's extension tells; PTX where it
    /// tells none.
    #[must_use]
    pub fn new(name: &Path, kind: Option<Kind>, bytes: Vec<u8>) -> Self {
        Self(Source::new(name.into(), kind.unwrap_or_else(|| Kind::of(name)), bytes))
    }

    fn line_of(&self, index: &LineIndex, span: ptx_syntax::Span) -> u32 {
        index.position(span.start.min(self.0.text.len() as u32)).line
    }
}

/// What to verify for. The default is what the text itself says.
#[derive(Debug, Default)]
pub struct Request {
    /// Targets, such as `sm_90a`.
    pub targets: Vec<String>,
    /// The PTX version, such as `8.6`.
    pub version: Option<String>,
    /// Levels by name or code of a rule, by class, or for `all`.
    pub levels: Vec<(String, Level)>,
    /// Which front end's rules hold for asm statements.
    pub compiler: Compiler,
}

/// The findings of a document.
#[derive(Debug)]
pub struct Verified {
    document: Document,
    diagnostics: Vec<Diagnostic>,
}

impl Verified {
    /// Calls `each` with the findings in the order of their places. Fails where `each` does.
    pub fn each<E>(&self, mut each: impl FnMut(Finding<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.diagnostics.is_empty() {
            return Ok(());
        }
        let positions = Positions::new(&self.document.0);
        self.diagnostics.iter().try_for_each(|found| each(json::finding(&positions, found)))
    }
}

/// Verifies a document.
///
/// # Errors
/// A target, version or rule does not exist.
pub fn verify(document: Document, request: &Request) -> anyhow::Result<Verified> {
    let targets = targets(&request.targets)?;
    let version = request.version.as_deref().map(version).transpose()?;
    let mut levels = Levels::default();
    for (name, level) in &request.levels {
        levels.set(name, *level).map_err(Error::Rule)?;
    }
    let options = Options {
        levels,
        ptx_targets: targets.clone(),
        ptx_version: version,
        cuda_targets: targets,
        cuda_version: version,
        cuda_toolkit: None,
        compiler: request.compiler.into(),
    };
    let diagnostics = ptx_project::verify(&document.0, &options, 1);
    Ok(Verified { document, diagnostics })
}

/// The document laid out anew: PTX, or the asm templates of CUDA C++, which the options do not concern.
///
/// # Errors
/// It is PTX with syntax errors, or is no text; the sentence says so.
pub fn format(document: &Document, options: &Formatting) -> Result<Vec<u8>, String> {
    let formatted = match document.0.kind {
        Kind::Ptx => ptx_project::format(&document.0, options).map_err(|error| error.to_string())?,
        Kind::Cuda => ptx_project::format_asm(&document.0).map_err(|error| error.to_string())?.0.text,
        Kind::Host(_) => return Err("only PTX and CUDA C++ are formatted".to_owned()),
    };
    document.0.restore(formatted).ok_or_else(|| "its bytes that are no UTF-8 cannot be kept".to_owned())
}

/// The canonical PTX of a document.
///
/// # Errors
/// The document has errors, which are returned.
pub fn canonicalize(document: Document) -> Result<String, Verified> {
    ptx_project::canonical(&document.0).map_err(|diagnostics| Verified { document, diagnostics })
}

/// Something that not every PTX version or target has.
#[derive(Debug)]
pub struct Cause {
    /// What it is.
    pub what: String,
    /// The first version that has it.
    pub version: String,
    /// The targets that have it.
    pub targets: Vec<&'static str>,
    /// Its first line, from 1.
    pub line: u32,
    /// Its column in bytes, from 1.
    pub column: u32,
}

/// What a module needs.
#[derive(Debug)]
pub struct Needs {
    /// The lowest PTX version.
    pub version: String,
    /// The targets that have everything.
    pub targets: Vec<&'static str>,
    /// What asks for it.
    pub causes: Vec<Cause>,
}

/// The lowest PTX version and the targets that a document needs.
///
/// # Errors
/// It is no text; the sentence says so.
pub fn needs(document: &Document) -> Result<Needs, String> {
    let module = module(document)?;
    let needed = requirements(&module);
    let index = LineIndex::new(&document.0.text);
    let names = |targets: TargetSet| targets.iter().map(Target::as_str).collect();
    let causes = needed.causes.into_iter().map(|cause| {
        let at = index.position(cause.span.start);
        let (version, targets) = (cause.version.to_string(), names(cause.targets));
        Cause { what: cause.what, version, targets, line: at.line, column: at.column }
    });
    Ok(Needs {
        version: needed.version.to_string(),
        causes: causes.collect(),
        targets: names(needed.targets),
    })
}

/// A parameter of a function.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type with the dot, such as `.u64`.
    pub ty: &'static str,
    /// Its size in bytes; `None` where the array has no length.
    pub bytes: Option<u64>,
    /// Its alignment in bytes.
    pub align: u32,
}

/// A function of a module.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether the host starts it.
    pub is_entry: bool,
    /// `.visible`, `.extern` and the like, without the dot.
    pub linkage: Option<&'static str>,
    /// Whether it has a body.
    pub is_defined: bool,
    /// The line of its name, from 1.
    pub line: u32,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub returns: Vec<Parameter>,
    /// How many instructions its body has.
    pub instructions: usize,
    /// Its performance directives as they are written, such as `.maxntid 128`.
    pub directives: Vec<String>,
}

/// The functions that a document declares or defines, in the order of the text.
///
/// # Errors
/// It is no text; the sentence says so.
pub fn functions(document: &Document) -> Result<Vec<Function>, String> {
    let module = module(document)?;
    let index = LineIndex::new(&document.0.text);
    let wanted = module.functions.iter().filter(|(_, function)| function.kind != FunctionKind::Prototype);
    Ok(wanted.map(|(_, function)| describe(document, &module, &index, function)).collect())
}

fn describe(
    document: &Document,
    module: &Module,
    index: &LineIndex,
    function: &ptx_ir::ir::Function,
) -> Function {
    let parameters = |handles: &[ptx_ir::arena::Handle<ptx_ir::ir::Variable>]| {
        let describe = |handle: &_| {
            let variable = &module.variables[*handle];
            Parameter {
                name: module.name(variable.name).to_owned(),
                ty: variable.ty.as_str(),
                bytes: variable.size(),
                align: variable.alignment(),
            }
        };
        handles.iter().map(describe).collect()
    };
    let is_instruction = |statement: &&Statement| matches!(statement, Statement::Instruction(_));
    let statements = function.body.iter().flat_map(|body| &body.statements);
    Function {
        name: module.name(function.name).to_owned(),
        is_entry: function.kind == FunctionKind::Entry,
        linkage: function.linkage.map(|linkage| linkage.as_str().trim_start_matches('.')),
        is_defined: function.body.is_some(),
        line: document.line_of(index, function.span),
        parameters: parameters(&function.parameters),
        returns: parameters(&function.returns),
        instructions: statements.filter(is_instruction).count(),
        directives: function
            .directives
            .iter()
            .map(|each| each.span.text(&document.0.text).to_owned())
            .collect(),
    }
}

fn module(document: &Document) -> Result<Module, String> {
    if let Some(found) = document.0.not_text() {
        return Err(found.message);
    }
    let parse = ptx_syntax::parse(&document.0.text);
    Ok(lower(&parse.tree, &document.0.text).module)
}

/// How to compile.
#[derive(Debug)]
pub struct Compilation {
    /// What compiles.
    pub backend: Backend,
    /// The target; `None` for the text's own.
    pub target: Option<String>,
    /// The most registers a thread may have.
    pub max_registers: Option<u32>,
    /// How long the compiler may run.
    pub timeout: Duration,
}

/// Compiles a document.
///
/// # Errors
/// There is no such back end here, or it gave no verdict. A text that is refused is a report.
pub fn report(document: &Document, how: Compilation) -> anyhow::Result<Report> {
    let Compilation { backend, target, max_registers, timeout } = how;
    let assembler = report::open(backend, std::slice::from_ref(&target))?;
    let options = Assembling { target, max_registers, timeout, ..Assembling::default() };
    let text = Text { file: &document.0.name.exact(), text: document.0.bytes() };
    let assembly = assembler.assemble(&text, &options);
    Ok(assembly.map_err(|error| anyhow::anyhow!(report::failure(&error)))?.report)
}
