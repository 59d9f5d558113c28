//! Builds a kernel with the builder API and prints it as canonical PTX:
//! `y[i] = a * x[i] + y[i]` for all `i` below `n`, with as many threads as there happen to be.
//!
//! ```text
//! cargo run -p ptx-emit --example build_kernel > saxpy.ptx
//! ```

use ptx_ir::build::{BuildError, Declaration, FunctionBuilder, ModuleBuilder, Reg, Value};
use ptx_ir::ir::Module;
use ptx_ir::space::StateSpace;
use ptx_ir::target::Target;
use ptx_ir::types::Type;
use ptx_ir::version::Version;

fn main() -> Result<(), BuildError> {
    print!("{}", ptx_emit::canonical(&saxpy()?));
    Ok(())
}

/// The module with the kernel.
pub fn saxpy() -> Result<Module, BuildError> {
    let target = Target::parse("sm_80").unwrap_or(Target::OLDEST);
    let mut module = ModuleBuilder::new(Version::new(8, 0), target)?;
    let mut f = module.entry("saxpy")?;
    let n = f.param("n", Type::U32)?;
    let a = f.param("a", Type::F32)?;
    let pointer =
        |name| Declaration::new(name, StateSpace::Param, Type::U64).pointer_to(StateSpace::Global, 4);
    let x = f.param_with(pointer("x"))?;
    let y = f.param_with(pointer("y"))?;
    f.max_threads([256, 1, 1])?;

    let (count, step, index) = (f.reg(Type::B32), f.reg(Type::B32), f.reg(Type::B32));
    f.push("ld.param.u32", [count.into(), n.at(0)])?;
    first_index_and_step(&mut f, index, step)?;
    let factor = f.reg(Type::F32);
    f.push("ld.param.f32", [factor.into(), a.at(0)])?;
    let (x_base, y_base) = (f.reg(Type::B64), f.reg(Type::B64));
    for (base, parameter) in [(x_base, x), (y_base, y)] {
        f.push("ld.param.u64", [base.into(), parameter.at(0)])?;
        f.push("cvta.to.global.u64", [base.into(), base.into()])?;
    }

    let (next, done) = (f.label("NEXT")?, f.label("DONE")?);
    let outside = f.reg(Type::Pred);
    f.push("setp.ge.u32", [outside.into(), index.into(), count.into()])?;
    f.guard(outside).push("bra", [done.into()])?;
    f.place(next)?;
    let (x_at, y_at) = (f.reg(Type::B64), f.reg(Type::B64));
    let (left, right) = (f.reg(Type::F32), f.reg(Type::F32));
    for (at, base, value) in [(x_at, x_base, left), (y_at, y_base, right)] {
        f.push("mad.wide.u32", [at.into(), index.into(), 4.into(), base.into()])?;
        f.push("ld.global.f32", [value.into(), at.at(0)])?;
    }
    f.push("fma.rn.f32", [right.into(), factor.into(), left.into(), right.into()])?;
    f.push("st.global.f32", [y_at.at(0), right.into()])?;
    f.push("add.u32", [index.into(), index.into(), step.into()])?;
    f.push("setp.lt.u32", [outside.into(), index.into(), count.into()])?;
    f.guard(outside).push("bra", [next.into()])?;
    f.place(done)?;
    f.push("ret", [])?;
    f.finish()?;
    Ok(module.finish())
}

/// The index of the first element of this thread, and the number of threads of the grid.
fn first_index_and_step(f: &mut FunctionBuilder<'_>, index: Reg, step: Reg) -> Result<(), BuildError> {
    f.scope(|f| {
        let (thread, block, threads) = (f.reg(Type::B32), f.reg(Type::B32), f.reg(Type::B32));
        for (register, name) in
            [(thread, "%tid.x"), (block, "%ctaid.x"), (threads, "%ntid.x"), (step, "%nctaid.x")]
        {
            f.push("mov.u32", [register.into(), Value::special(name)?])?;
        }
        f.push("mad.lo.u32", [index.into(), block.into(), threads.into(), thread.into()])?;
        f.push("mul.lo.u32", [step.into(), step.into(), threads.into()])
    })
}
