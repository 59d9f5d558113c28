//! Links PTX files into one: `cargo run --example link FILE FILE …`. With `--program`, what no kernel needs goes.

use ptx_toolkit::Module;
use ptx_toolkit::ir::ir::Definition;
use ptx_toolkit::ir::link::{LinkError, exported, link, remove_unused};
use ptx_toolkit::{FunctionKind, ir};

/// One module out of several; a line for each thing that was decided.
pub fn link_all(modules: Vec<Module>, is_program: bool) -> Result<(Module, Vec<String>), LinkError> {
    let mut modules = modules.into_iter().map(Module::into_ir);
    let mut told = Vec::new();
    let Some(mut whole) = modules.next() else { return Ok((Module::parse("").module, told)) };
    for next in modules {
        let linked = link(&mut whole, next)?;
        let renamed = linked.renamed_in_first.iter().chain(&linked.renamed_in_second);
        told.extend(renamed.map(|(old, new)| format!("{old} is called {new}")));
        if linked.version_from_second {
            told.push(format!("PTX {} is needed", whole.header.version));
        }
        if linked.target_from_second {
            told.push(format!("{} is needed", whole.header.target));
        }
    }
    let is_kernel = |module: &ir::ir::Module, definition| match definition {
        Definition::Function(function) => module.functions[function].kind == FunctionKind::Entry,
        Definition::Variable(_) => false,
    };
    let removed = remove_unused(&mut whole, |module, definition| match is_program {
        true => is_kernel(module, definition),
        false => exported(module, definition),
    });
    told.extend(removed.functions.iter().chain(&removed.variables).map(|name| format!("{name} is not used")));
    Ok((whole.into(), told))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut modules, mut is_program) = (Vec::new(), false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--program" => is_program = true,
            file => modules.push(Module::parse(&std::fs::read_to_string(file)?).ok()?),
        }
    }
    let (module, told) = link_all(modules, is_program)?;
    told.iter().for_each(|line| eprintln!("{line}"));
    print!("{module}");
    Ok(())
}
