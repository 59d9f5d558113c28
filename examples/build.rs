//! Builds a kernel without a text, checks it and prints it: `cargo run --example build`.

use ptx_toolkit::{BuildError, Config, Module, ModuleBuilder, Target, Type, Value, Version};

/// `data[thread] *= factor`, as often as there is data.
pub fn scale() -> Result<Module, BuildError> {
    let target = Target::parse("sm_80").unwrap_or(Target::OLDEST);
    let mut module = ModuleBuilder::new(Version::new(8, 0), target)?;
    let mut f = module.entry("scale")?;
    let (data, factor, count) =
        (f.param("data", Type::U64)?, f.param("factor", Type::F32)?, f.param("count", Type::U32)?);
    let (base, address) = (f.reg(Type::B64), f.reg(Type::B64));
    let (thread, block, size, index, limit) =
        (f.reg(Type::B32), f.reg(Type::B32), f.reg(Type::B32), f.reg(Type::B32), f.reg(Type::B32));
    let (value, by) = (f.reg(Type::F32), f.reg(Type::F32));
    let outside = f.reg(Type::Pred);
    let done = f.label("DONE")?;

    f.push("mov.u32", [thread.into(), Value::special("%tid.x")?])?;
    f.push("mov.u32", [block.into(), Value::special("%ctaid.x")?])?;
    f.push("mov.u32", [size.into(), Value::special("%ntid.x")?])?;
    f.push("mad.lo.u32", [index.into(), block.into(), size.into(), thread.into()])?;
    f.push("ld.param.u32", [limit.into(), count.at(0)])?;
    f.push("setp.ge.u32", [outside.into(), index.into(), limit.into()])?;
    f.guard(outside).push("bra", [done.into()])?;
    f.push("ld.param.u64", [base.into(), data.at(0)])?;
    f.push("cvta.to.global.u64", [base.into(), base.into()])?;
    f.push("mad.wide.u32", [address.into(), index.into(), 4.into(), base.into()])?;
    f.push("ld.global.f32", [value.into(), address.at(0)])?;
    f.push("ld.param.f32", [by.into(), factor.at(0)])?;
    f.push("mul.f32", [value.into(), value.into(), by.into()])?;
    f.push("st.global.f32", [address.at(0), value.into()])?;
    f.place(done)?;
    f.push("ret", [])?;
    f.finish()?;
    Ok(module.finish().into())
}

fn main() -> Result<(), BuildError> {
    let (text, found) = scale()?.check(&Config::default());
    found.iter().for_each(|found| eprintln!("{}", found.message));
    print!("{text}");
    Ok(())
}
