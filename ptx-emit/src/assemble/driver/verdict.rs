//! What a refusal of the driver means: a verdict on the program, or none.

use crate::assemble::error::Error;
use crate::assemble::log::Log;
use crate::assemble::report::{Backend, LogLine, LogSeverity};

// Codes of `cuda.h` that this file decides on; the bindings know only those up to CUDA 11.4.
const INVALID_IMAGE: u32 = 200;
const NO_BINARY_FOR_GPU: u32 = 209;
const INVALID_PTX: u32 = 218;
const JIT_COMPILER_NOT_FOUND: u32 = 221;
const UNSUPPORTED_PTX_VERSION: u32 = 222;
const JIT_COMPILATION_DISABLED: u32 = 223;
const INVALID_SOURCE: u32 = 300;
const SYMBOL_NOT_FOUND: u32 = 302;

/// Why `text` must not even be handed to the driver, which tells text from machine code by its
/// first bytes, trusts the sizes in machine code, and ends text at its first NUL.
pub(super) fn unfit(text: &[u8]) -> Option<LogLine> {
    let fatal = |line, message: &str| {
        Some(LogLine { severity: LogSeverity::Fatal, line, message: message.to_owned() })
    };
    if text.starts_with(b"\x7fELF") || text.starts_with(&0xBA55_ED50_u32.to_le_bytes()) {
        return fatal(None, "the file holds machine code, not PTX");
    }
    let at = text.iter().position(|&byte| byte == 0)?;
    let line = text[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
    fatal(u32::try_from(line).ok(), "the text has a NUL byte, at which the driver would stop reading")
}

/// The log of a program that the driver refused with `code`: at least one line says why.
///
/// # Errors
/// Where the code is about the driver, the machine or the GPU rather than about the program.
pub(super) fn of_refusal(
    describe: impl Fn(u32) -> String,
    code: u32,
    log: Log,
) -> Result<Vec<LogLine>, Error> {
    if matches!(code, JIT_COMPILER_NOT_FOUND | JIT_COMPILATION_DISABLED) {
        let reason = describe(code);
        return Err(Error::Missing { backend: Some(Backend::Driver), looked_for: vec![reason] });
    }
    let about_the_program = matches!(
        code,
        INVALID_IMAGE
            | NO_BINARY_FOR_GPU
            | INVALID_PTX
            | UNSUPPORTED_PTX_VERSION
            | INVALID_SOURCE
            | SYMBOL_NOT_FOUND
    );
    let explained = log.refuses();
    if !about_the_program && !explained {
        let text: Vec<&str> = log.lines.iter().map(|line| line.message.as_str()).collect();
        return Err(crashed(describe, code, &text.join("\n")));
    }
    let mut lines = log.lines;
    if code == UNSUPPORTED_PTX_VERSION {
        lines.push(LogLine {
            severity: LogSeverity::Info,
            line: None,
            message: "the driver's compiler is older than the `.version` of this text: \
                      a newer driver or a lower `.version` is needed"
                .to_owned(),
        });
    }
    if !explained {
        let message = describe(code);
        lines.push(LogLine { severity: LogSeverity::Fatal, line: None, message });
    }
    Ok(lines)
}

/// The error for a driver that failed without a verdict.
pub(super) fn crashed(describe: impl Fn(u32) -> String, code: u32, output: &str) -> Error {
    Error::Crashed {
        backend: Backend::Driver,
        how: format!("failed with {}", describe(code)),
        output: output.to_owned(),
    }
}
