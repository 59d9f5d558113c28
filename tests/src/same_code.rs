//! Whether a text and what the toolkit makes of it are the same program.

use std::path::Path;
use std::process::Command;

use ptx_emit::assemble::{Error, Options, Ptxas, Source};

use crate::{machine_code, same_ir};

/// The canonical text of a source without syntax errors: it gives the same IR, the same canonical text again, and
/// the formatter leaves it as it is.
///
/// # Errors
/// A sentence that says which of these does not hold.
pub fn canonical(source: &str) -> Result<String, String> {
    let parse = ptx_syntax::parse(source);
    if let Some(first) = parse.errors.first() {
        return Err(format!("syntax error: {}", first.what.message));
    }
    let module = ptx_ir::lower::lower(&parse.tree, source).module;
    let canonical = ptx_emit::canonical(&module);
    let again = ptx_syntax::parse(&canonical);
    if let Some(first) = again.errors.first() {
        let near = canonical.get(first.span.start as usize..).unwrap_or_default();
        let line = near.lines().next().unwrap_or_default();
        return Err(format!("syntax error in the canonical text: {} at `{line}`", first.what.message));
    }
    let again = ptx_ir::lower::lower(&again.tree, &canonical).module;
    if let Some(difference) = same_ir::difference(&module, &again) {
        return Err(format!("the canonical text gives other IR:\n{difference}"));
    }
    if ptx_emit::canonical(&again) != canonical {
        return Err("the canonical text of the canonical text is another".to_owned());
    }
    match ptx_emit::format(&canonical) {
        Ok(formatted) if !formatted.changed => Ok(canonical),
        Ok(_) => Err("the formatter changes the canonical text".to_owned()),
        Err(error) => Err(format!("the formatter refuses the canonical text: {error}")),
    }
}

/// Compares the machine code of the formatted and the canonical text with that of the source; `false` where
/// `ptxas` refuses the source.
///
/// # Errors
/// A sentence that says what is different.
pub fn machine_code(ptxas: &Ptxas, source: &str, canonical: &str) -> Result<bool, String> {
    let Some(original) = assemble(ptxas, source)? else { return Ok(false) };
    let formatted = ptx_emit::format(source).map_err(|error| error.to_string())?;
    for (what, text) in [("formatted", formatted.text.as_str()), ("canonical", canonical)] {
        let Some(code) = assemble(ptxas, text)? else { return Err(format!("ptxas refuses the {what} text")) };
        if let Some(difference) = machine_code::difference(&original, &code) {
            return Err(format!("the {what} text gives other machine code: {difference}"));
        }
    }
    Ok(true)
}

/// The machine code; none where the text is refused. What refers to functions of other modules is compiled for
/// the linker.
///
/// # Errors
/// Whatever keeps `ptxas` from giving a verdict.
pub fn assemble(ptxas: &Ptxas, text: &str) -> Result<Option<Vec<u8>>, String> {
    let source = Source { file: "input.ptx", text: text.as_bytes() };
    let assembly = match ptxas.assemble(&source, &Options::default()) {
        Ok(assembly) => assembly,
        Err(Error::TargetUnsupported { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if assembly.cubin.is_some() {
        return Ok(assembly.cubin);
    }
    relocatable(ptxas.program(), &assembly.report.target, text).map_err(|error| error.to_string())
}

fn relocatable(ptxas: &Path, target: &str, text: &str) -> std::io::Result<Option<Vec<u8>>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("input.ptx"), text)?;
    let mut command = Command::new(ptxas);
    command.current_dir(folder.path()).args(["-c", "-arch", target, "input.ptx", "-o", "output.cubin"]);
    let output = command.output()?;
    if !output.status.success() {
        return Ok(None);
    }
    std::fs::read(folder.path().join("output.cubin")).map(Some)
}
