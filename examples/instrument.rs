//! Counts at run time how many bytes each kernel loads from global memory: `cargo run --example instrument FILE`.
//!
//! A counter is added before each load, under the guard of the load. It is 64 bits wide and relaxed at the scope of the
//! GPU, which needs PTX 6.0: an older module is raised to that. The address of the counter is in a register of each kernel.

use ptx_toolkit::ir::isa::Access;
use ptx_toolkit::{BuildError, Declaration, Function, Handle, Module, ModuleBuilder, StateSpace, Type, Var};

/// The name of the variable that counts.
pub const COUNTER: &str = "bytes_loaded";

/// Adds the counter to all functions of a module, and tells how many loads there are.
pub fn instrument(module: &mut Module) -> Result<usize, BuildError> {
    let defined = module.functions.iter().filter(|(_, function)| function.body.is_some());
    let functions: Vec<_> = defined.map(|(handle, _)| handle).collect();
    module.edit(|builder| {
        let counter = builder.variable(Declaration::new(COUNTER, StateSpace::Global, Type::U64))?;
        let mut loads = 0;
        for handle in functions {
            loads += match instrument_function(builder, handle, counter) {
                Err(BuildError::Unavailable { min_version, .. }) => {
                    builder.raise_version(min_version)?;
                    instrument_function(builder, handle, counter)?
                }
                done => done?,
            };
        }
        Ok(loads)
    })
}

fn instrument_function(
    builder: &mut ModuleBuilder,
    function: Handle<Function>,
    counter: Var,
) -> Result<usize, BuildError> {
    let function = builder.function_at(function)?;
    let mut editor = builder.edit(function)?;
    let mut loads = Vec::new();
    for at in editor.instructions() {
        // What the instruction table says of it: an operand in global memory that is read, and how many bytes.
        let Some(instance) = editor.instance(at) else { continue };
        let accesses = instance.operands.iter().filter_map(|spec| spec.access);
        let is_global = |access: &Access| access.space == Some(StateSpace::Global);
        let read = accesses.filter(is_global).find(|access| access.reads && !access.writes);
        loads.extend(read.map(|access| (at, access.bytes)));
    }
    if loads.is_empty() {
        return Ok(0);
    }
    let start = editor.at_start();
    let address = start.reg(Type::B64);
    start.push("mov.u64", [address.into(), counter.into()])?;
    for &(load, bytes) in &loads {
        let guard = editor.guard_of(load);
        let cursor = editor.before(load)?;
        let operands = [address.at(0), u64::from(bytes).into()];
        let spelling = "red.relaxed.gpu.global.add.u64";
        cursor.guarded(guard).push(spelling, operands)?;
    }
    editor.finish()?;
    Ok(loads.len())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let mut module = Module::parse(&std::fs::read_to_string(&file)?).ok()?;
        let loads = instrument(&mut module)?;
        eprintln!("{file}: {loads} loads");
        print!("{module}");
    }
    Ok(())
}
