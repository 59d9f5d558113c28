//! What Python gets: the tuples and errors of `ptx_toolkit._types`.
//!
//! Fields are given in their order there; `tests/python/test_module.py` looks at each.

use ptx_cli::service::{Finding, Function, LabelObject, Needs, Parameter, Place, Report, Verified};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTuple};

/// The Python module with the classes.
pub struct Objects<'py> {
    py: Python<'py>,
    types: Bound<'py, PyModule>,
}

impl<'py> Objects<'py> {
    /// Imports it.
    pub fn new(py: Python<'py>) -> PyResult<Self> {
        Ok(Self { py, types: PyModule::import(py, "ptx_toolkit._types")? })
    }

    fn make(
        &self,
        class: &str,
        fields: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.types.getattr(class)?.call1(fields.into_pyobject(self.py)?)
    }

    fn error(&self, class: &str, message: String) -> PyErr {
        match self.types.getattr(class).and_then(|class| class.call1((message,))) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    }

    /// A text or an argument is not right.
    pub fn ptx_error(&self, message: String) -> PyErr {
        self.error("PtxError", message)
    }

    /// Nobody compiled.
    pub fn assembler_error(&self, message: String) -> PyErr {
        self.error("AssemblerError", message)
    }

    /// A text has errors.
    pub fn invalid_ptx(&self, errors: &Verified) -> PyResult<PyErr> {
        let findings = self.findings(errors)?;
        Ok(PyErr::from_value(self.types.getattr("InvalidPtxError")?.call1((findings,))?))
    }

    fn tuple<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        object: impl Fn(T) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(self.py, items.into_iter().map(object).collect::<PyResult<Vec<_>>>()?)
    }

    /// The findings.
    pub fn findings(&self, verified: &Verified) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut findings = Vec::new();
        verified.each(|finding| {
            findings.push(self.finding(finding)?);
            Ok::<_, PyErr>(())
        })?;
        Ok(findings)
    }

    fn finding(&self, finding: Finding<'_>) -> PyResult<Bound<'py, PyAny>> {
        let Finding { file, place, class, severity, code, rule, message, labels, notes, fix } = finding;
        let Place { line, column, end_line, end_column } = place;
        let labels = self.tuple(labels, |LabelObject { place, message }| {
            let Place { line, column, end_line, end_column } = place;
            self.make("Label", (line, column, end_line, end_column, message))
        })?;
        let fix = fix.map(|fix| {
            let edits = self.tuple(fix.edits, |edit| {
                let Place { line, column, end_line, end_column } = edit.place;
                self.make("Edit", (line, column, end_line, end_column, edit.replacement))
            })?;
            self.make("Fix", (fix.message, fix.applicability, edits))
        });
        let notes = PyTuple::new(self.py, notes)?;
        // More fields than the tuples of Rust can be given as.
        let fields: [Bound<'py, PyAny>; 13] = [
            self.object(file)?,
            self.object(line)?,
            self.object(column)?,
            self.object(end_line)?,
            self.object(end_column)?,
            self.object(class)?,
            self.object(severity)?,
            self.object(code)?,
            self.object(rule)?,
            self.object(message)?,
            labels.into_any(),
            notes.into_any(),
            self.object(fix.transpose()?)?,
        ];
        self.types.getattr("Finding")?.call1(PyTuple::new(self.py, fields)?)
    }

    fn object<T: IntoPyObject<'py>>(&self, value: T) -> PyResult<Bound<'py, PyAny>> {
        value.into_bound_py_any(self.py)
    }

    /// What a module needs.
    pub fn needs(&self, needs: Needs) -> PyResult<Bound<'py, PyAny>> {
        let causes = self.tuple(needs.causes, |cause| {
            let targets = PyTuple::new(self.py, cause.targets)?;
            self.make("Cause", (cause.what, cause.version, targets, cause.line, cause.column))
        })?;
        self.make("Needs", (needs.version, PyTuple::new(self.py, needs.targets)?, causes))
    }

    /// A function of a module.
    pub fn function(&self, function: Function) -> PyResult<Bound<'py, PyAny>> {
        let parameters = |all: Vec<Parameter>| {
            self.tuple(all, |Parameter { name, ty, bytes, align }| {
                self.make("Parameter", (name, ty, bytes, align))
            })
        };
        let kind = if function.is_entry { "entry" } else { "func" };
        let fields = (
            function.name,
            kind,
            function.linkage,
            function.is_defined,
            function.line,
            parameters(function.parameters)?,
            parameters(function.returns)?,
            function.instructions,
            PyTuple::new(self.py, function.directives)?,
        );
        self.make("Function", fields)
    }

    /// What a compiler told.
    pub fn report(&self, report: Report) -> PyResult<Bound<'py, PyAny>> {
        let functions = self.tuple(report.functions, |usage| {
            let fields = (
                usage.name,
                usage.kind.as_str(),
                usage.registers,
                usage.barriers,
                usage.stack_bytes,
                usage.spill_store_bytes,
                usage.spill_load_bytes,
                usage.shared_bytes,
                usage.const_bytes,
                usage.local_bytes,
                usage.max_threads,
            );
            self.make("Usage", fields)
        })?;
        let log = self.tuple(report.log, |line| {
            self.make("LogLine", (line.severity.as_str(), line.line, line.message))
        })?;
        let fields = (
            report.file,
            report.backend.as_str(),
            report.backend_version,
            report.target,
            report.accepted,
            report.seconds,
            log,
            functions,
        );
        self.make("Report", fields)
    }
}
