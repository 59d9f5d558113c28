//! Lists the kernels of a PTX file with their parameters: `cargo run --example inspect FILE`.

use ptx_toolkit::{FunctionKind, Module};

/// A line for each kernel: its name, and each parameter with its type and its size in bytes.
pub fn inspect(module: &Module) -> String {
    let mut text = String::new();
    for (_, function) in module.functions.iter().filter(|(_, function)| function.kind == FunctionKind::Entry)
    {
        let parameters = function.parameters.iter().map(|&parameter| {
            let parameter = &module.variables[parameter];
            let size = parameter.size().map_or(String::new(), |bytes| format!(", {bytes} bytes"));
            format!("{}: {}{size}", module.name(parameter.name), parameter.ty)
        });
        let parameters: Vec<String> = parameters.collect();
        text += &format!("{}({})\n", module.name(function.name), parameters.join("; "));
    }
    text
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        print!("{}", inspect(&Module::parse(&std::fs::read_to_string(&file)?).ok()?));
    }
    Ok(())
}
