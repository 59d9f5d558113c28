//! The program of `tests/one-paragraph.sh`: `build` and `generate` make modules with what was added to the table, and
//! everything else is `ptx-cli`.

use std::process::ExitCode;

use arbtest::arbitrary::Unstructured;
use ptx_ir::build::{BuildError, Declaration, ModuleBuilder, Value};
use ptx_ir::ir::Module;
use ptx_ir::isa::OpcodeId;
use ptx_ir::space::StateSpace;
use ptx_ir::target::Target;
use ptx_ir::types::Type;
use ptx_ir::version::Version;
use ptx_tests::every_form;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("build") => {
            let module = build().expect("the builder takes the new instruction");
            print!("{}", ptx_emit::canonical(&module));
        }
        Some("generate") => generate(),
        _ => return ptx_cli::main(),
    }
    ExitCode::SUCCESS
}

fn target() -> Target {
    Target::parse("sm_90a").expect("there is such a target")
}

fn build() -> Result<Module, BuildError> {
    let mut module = ModuleBuilder::new(Version::LATEST, target())?;
    let mut f = module.entry("k")?;
    let barrier = f.variable(Declaration::new("barrier", StateSpace::Shared, Type::B64))?;
    let (d, a) = ([f.reg(Type::F32), f.reg(Type::F32)], [f.reg(Type::B32), f.reg(Type::B32)]);
    for register in d {
        f.push("mov.f32", [register.into(), 0.0_f32.into()])?;
    }
    for register in a {
        f.push("mov.u32", [register.into(), Value::special("%foldid.x")?])?;
    }
    let operands = [Value::vector(d), Value::vector(a), 3.into(), barrier.at(0)];
    f.push("fold.tensor.sync.aligned.m16n8k8.f32.f16", operands)?;
    let three = [Value::vector(d), Value::vector([a[0], a[1], a[0]]), 3.into(), barrier.at(0)];
    let refused = f.push("fold.tensor.sync.aligned.m16n8k8.f32.f16", three);
    assert!(refused.is_err(), "a list of three is too long");
    f.push("ret", [])?;
    f.finish()?;
    Ok(module.finish())
}

/// Random instances of the form, as the comparison with the assembler makes them.
fn generate() {
    let form = OpcodeId::parse("fold").and_then(|opcode| opcode.forms().next()).expect("the opcode is there");
    let bytes: Vec<u8> =
        (0..20_000_u64).map(|index| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect();
    let mut u = Unstructured::new(&bytes);
    let instances: Vec<_> =
        (0..8).filter_map(|_| every_form::instance(form, &mut u).expect("there are bytes left")).collect();
    let built = every_form::module(&instances, target(), false, &mut u).expect("there are bytes left");
    assert!(built.refused.is_empty(), "{:?}", built.refused);
    print!("{}", ptx_emit::canonical(&built.module));
}
