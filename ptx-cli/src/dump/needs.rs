//! `dump --needs`: the lowest PTX version and the targets that a module needs.

use std::io::{self, Write};

use ptx_ir::ir::Module;
use ptx_ir::target::TargetSet;
use ptx_ir::version::Version;
use ptx_syntax::LineIndex;
use ptx_verify::requirements;

/// Writes what the module needs on the first line, and below it what asks for that, with line and column. Each cause
/// asks for more than all in front of it.
pub fn needs(out: &mut dyn Write, source: &str, module: &Module) -> io::Result<()> {
    let needed = requirements(module);
    let index = LineIndex::new(source);
    writeln!(out, "needs {}", both(needed.version, needed.targets))?;
    for cause in &needed.causes {
        let at = index.position(cause.span.start);
        let asked = both(cause.version, cause.targets);
        writeln!(out, "  {}:{}: {} needs {asked}", at.line, at.column, cause.what)?;
    }
    Ok(())
}

fn both(version: Version, targets: TargetSet) -> String {
    if targets.is_empty() {
        return format!("PTX {version} and what no single target has");
    }
    format!("PTX {version} and {targets}")
}
