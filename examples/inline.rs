//! Inlines all calls that can be, and removes the functions that nothing calls any more: `cargo run --example inline FILE`.

use ptx_toolkit::{BuildError, Control, InlineError, Module};

/// How many calls were inlined, and why the others were not.
pub fn inline_all(module: &mut Module) -> Result<(usize, Vec<InlineError>), BuildError> {
    let defined = module.functions.iter().filter(|(_, function)| function.body.is_some());
    let functions: Vec<_> = defined.map(|(handle, _)| handle).collect();
    let (mut inlined, mut left) = (0, Vec::new());
    module.edit(|builder| {
        for function in functions {
            let function = builder.function_at(function)?;
            let mut editor = builder.edit(function)?;
            for at in editor.instructions() {
                let control = editor.instance(at).map(|instance| instance.effects.control);
                if control == Some(Control::Call) {
                    match editor.inline(at) {
                        Ok(()) => inlined += 1,
                        Err(InlineError::Build(error)) => return Err(error),
                        Err(reason) => left.push(reason),
                    }
                }
            }
            editor.finish()?;
        }
        Ok(())
    })?;
    module.remove_unused();
    Ok((inlined, left))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let mut module = Module::parse(&std::fs::read_to_string(&file)?).ok()?;
        let (inlined, left) = inline_all(&mut module)?;
        eprintln!("{file}: {inlined} calls inlined");
        left.iter().for_each(|reason| eprintln!("{file}: {reason}"));
        print!("{module}");
    }
    Ok(())
}
