//! `ptx_toolkit._native`: the Python module's functions, and the program.
//!
//! Texts come as `str` or bytes, results go as the tuples of `ptx_toolkit._types`, which has their documentation.
//! While anything is computed the interpreter's lock is released, so other threads run.

// What a function of Python takes and raises is documented in `ptx_toolkit/_native.pyi`.
#![allow(missing_docs, reason = "the module has no Rust interface")]

mod arguments;
mod objects;

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use ptx_cli::service::{self, Compilation, Document, Request};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping};

use arguments::{Targets, Text, backend, compiler, document, layout, levels};
use objects::Objects;

#[global_allocator]
static ALLOCATOR: ptx_cli::memory::LargePages = ptx_cli::memory::LargePages;

/// Computes without the interpreter's lock. A panic becomes a `RuntimeError`.
fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|_| PyRuntimeError::new_err("internal error; please report it with the text"))
}

#[pyfunction]
#[pyo3(signature = (text, target=None, ptx_version=None, *, file=None, language=None, levels=None, compiler="nvcc"))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
fn verify<'py>(
    py: Python<'py>,
    text: Text,
    target: Option<Targets>,
    ptx_version: Option<String>,
    file: Option<PathBuf>,
    language: Option<&str>,
    levels: Option<&Bound<'py, PyMapping>>,
    compiler: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let objects = Objects::new(py)?;
    let wrong = |error: String| objects.ptx_error(error);
    let document = document(text, file, language).map_err(wrong)?;
    let rules = levels.map_or_else(|| Ok(Vec::new()), |levels| levels.items()?.extract())?;
    let request = Request {
        targets: target.map(Targets::names).unwrap_or_default(),
        version: ptx_version,
        levels: self::levels(rules).map_err(wrong)?,
        compiler: self::compiler(compiler).map_err(wrong)?,
    };
    let verified = compute(py, move || service::verify(document, &request))?;
    objects.findings(&verified.map_err(|error| wrong(format!("{error:#}")))?)
}

#[pyfunction]
#[pyo3(signature = (text, *, layout = "compiler", indent = None, width = 100, language = None))]
fn format<'py>(
    py: Python<'py>,
    text: Text,
    layout: &str,
    indent: Option<u8>,
    width: u16,
    language: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let objects = Objects::new(py)?;
    let layout = self::layout(layout).map_err(|error| objects.ptx_error(error))?.into();
    let options = service::formatting(layout, indent, width);
    let options = options.map_err(|error| objects.ptx_error(format!("{error:#}")))?;
    let is_bytes = text.is_bytes();
    let document = document(text, None, language).map_err(|error| objects.ptx_error(error))?;
    let formatted =
        compute(py, || service::format(&document, &options))?.map_err(|error| objects.ptx_error(error))?;
    if is_bytes {
        return Ok(PyBytes::new(py, &formatted).into_any());
    }
    let formatted = String::from_utf8(formatted).map_err(|error| objects.ptx_error(error.to_string()))?;
    Ok(formatted.into_pyobject(py)?.into_any())
}

#[pyfunction]
fn canonicalize(py: Python<'_>, text: Text) -> PyResult<String> {
    let document = Document::new("<text>".as_ref(), None, text.bytes());
    let canonical = compute(py, move || service::canonicalize(document))?;
    canonical.or_else(|errors| Err(Objects::new(py)?.invalid_ptx(&errors)?))
}

#[pyfunction]
fn needs<'py>(py: Python<'py>, text: Text) -> PyResult<Bound<'py, PyAny>> {
    let objects = Objects::new(py)?;
    let document = Document::new("<text>".as_ref(), None, text.bytes());
    let needs = compute(py, || service::needs(&document))?.map_err(|error| objects.ptx_error(error))?;
    objects.needs(needs)
}

#[pyfunction]
fn functions<'py>(py: Python<'py>, text: Text) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let objects = Objects::new(py)?;
    let document = Document::new("<text>".as_ref(), None, text.bytes());
    let found = compute(py, || service::functions(&document))?.map_err(|error| objects.ptx_error(error))?;
    found.into_iter().map(|function| objects.function(function)).collect()
}

#[pyfunction]
#[pyo3(signature = (text, target=None, *, file=None, backend="auto", max_registers=None, timeout=600.0))]
fn report<'py>(
    py: Python<'py>,
    text: Text,
    target: Option<String>,
    file: Option<PathBuf>,
    backend: &str,
    max_registers: Option<u32>,
    timeout: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let objects = Objects::new(py)?;
    let document = document(text, file, Some("ptx")).map_err(|error| objects.ptx_error(error))?;
    let timeout =
        Duration::try_from_secs_f64(timeout).map_err(|error| objects.ptx_error(error.to_string()))?;
    let backend = self::backend(backend).map_err(|error| objects.ptx_error(error))?;
    let how = Compilation { backend, target, max_registers, timeout };
    let report = compute(py, || service::report(&document, how))?;
    objects.report(report.map_err(|error| objects.assembler_error(format!("{error:#}")))?)
}

/// Runs the program with these arguments, of which the first is its name; its exit status.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let exit = ptx_cli::main_with(arguments.into_iter());
        // Rust flushes it at the end of its own programs only. Nobody is left to tell of a closed pipe.
        let _ = std::io::stdout().flush();
        exit as u8
    })
}

/// Says how the program that an interpreter runs is started, for processes of its own.
#[pyfunction]
fn started_by(program: PathBuf, arguments: Vec<OsString>) {
    service::set_program(program, arguments);
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(format, module)?)?;
    module.add_function(wrap_pyfunction!(canonicalize, module)?)?;
    module.add_function(wrap_pyfunction!(needs, module)?)?;
    module.add_function(wrap_pyfunction!(functions, module)?)?;
    module.add_function(wrap_pyfunction!(report, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(started_by, module)?)
}
