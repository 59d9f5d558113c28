//! What Python gives.

use std::path::PathBuf;

use clap::ValueEnum;
use ptx_cli::service::{Backend, Compiler, Document, Kind, Layout};
use ptx_verify::Level;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};

/// A text: `str`, `bytes` or `bytearray`.
pub enum Text {
    /// From a `str`.
    Characters(String),
    /// From bytes, which need not be UTF-8.
    Bytes(Vec<u8>),
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self::Characters(text.to_cow()?.into_owned()));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        if let Ok(bytes) = object.cast::<PyByteArray>() {
            return Ok(Self::Bytes(bytes.to_vec()));
        }
        let found = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("the text is to be `str` or `bytes`, not `{found}`")))
    }
}

impl Text {
    /// Its bytes.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Characters(text) => text.into_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Whether it came as bytes.
    pub fn is_bytes(&self) -> bool {
        matches!(self, Self::Bytes(_))
    }
}

/// One target or several.
#[derive(FromPyObject)]
pub enum Targets {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Targets {
    /// Their names.
    pub fn names(self) -> Vec<String> {
        match self {
            Self::One(name) => vec![name],
            Self::Several(names) => names,
        }
    }
}

/// The text under its name.
pub fn document(text: Text, file: Option<PathBuf>, language: Option<&str>) -> Result<Document, String> {
    let kind = match language {
        None => None,
        Some("ptx") => Some(Kind::Ptx),
        Some("cuda") => Some(Kind::Cuda),
        Some(other) => return Err(format!("there is no language `{other}`; there are `ptx` and `cuda`")),
    };
    let name = file.unwrap_or_else(|| "<text>".into());
    Ok(Document::new(&name, kind, text.bytes()))
}

/// The levels of these rules.
pub fn levels(named: Vec<(String, String)>) -> Result<Vec<(String, Level)>, String> {
    let level = |name: &str| match name {
        "allow" => Ok(Level::Allow),
        "info" => Ok(Level::Info),
        "warn" => Ok(Level::Warn),
        "error" => Ok(Level::Error),
        other => Err(format!("there is no level `{other}`; there are `allow`, `info`, `warn` and `error`")),
    };
    named.into_iter().map(|(rule, name)| Ok((rule, level(&name)?))).collect()
}

/// The front end of this name.
pub fn compiler(name: &str) -> Result<Compiler, String> {
    choice(name, "compiler")
}

/// The layout of this name.
pub fn layout(name: &str) -> Result<Layout, String> {
    choice(name, "layout")
}

/// The back end of this name.
pub fn backend(name: &str) -> Result<Backend, String> {
    choice(name, "back end")
}

fn choice<T: ValueEnum>(name: &str, what: &str) -> Result<T, String> {
    let names = || T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    T::from_str(name, false).map_err(|_| {
        let known: Vec<String> = names().map(|value| format!("`{}`", value.get_name())).collect();
        format!("there is no {what} `{name}`; there are {}", known.join(", "))
    })
}
