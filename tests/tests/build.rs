//! The builder: what it accepts is a sound module, what it refuses it explains.

use std::collections::BTreeSet;

use arbtest::arbitrary::Unstructured;
use ptx_emit::assemble::Ptxas;
use ptx_ir::build::{BuildError, Declaration, ModuleBuilder, Reg, Value};
use ptx_ir::ir::{Linkage, Module};
use ptx_ir::isa::{FormId, Instance, forms};
use ptx_ir::space::StateSpace;
use ptx_ir::target::Target;
use ptx_ir::types::Type;
use ptx_ir::version::Version;
use ptx_syntax::Class;
use ptx_tests::every_form;
use ptx_tests::same_code::{assemble, canonical};
use ptx_tests::tools::{needed_ptxas, on_all_cores};
use ptx_verify::Config;

#[path = "../../ptx-emit/examples/build_kernel.rs"]
#[expect(dead_code, reason = "the example's `main` prints what is tested here")]
mod build_kernel;

fn builder() -> ModuleBuilder {
    ModuleBuilder::new(Version::new(8, 0), Target::parse("sm_80").unwrap()).unwrap()
}

/// A built module prints as text in which nothing is wrong, and which is canonical already.
fn sound(module: &Module) -> Result<String, String> {
    let text = ptx_emit::canonical(module);
    let found = ptx_verify::check(&text, &Config::default());
    if let Some(first) = found.iter().find(|found| found.class == Class::Invalid) {
        let line = ptx_syntax::LineIndex::new(&text).position(first.span.start).line;
        let line = text.lines().nth(line as usize - 1).unwrap_or_default();
        return Err(format!("{}: {}: {line}", first.rule, first.message));
    }
    if canonical(&text)? != text {
        return Err(format!("not canonical:\n{text}"));
    }
    Ok(text)
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_accepts_built_modules() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    for module in [build_kernel::saxpy().unwrap(), large().unwrap()] {
        let text = sound(&module).unwrap();
        assert!(assemble(&ptxas, &text).unwrap().is_some(), "{text}");
    }
}

#[test]
fn the_example_program_builds_a_kernel_without_findings() {
    let text = sound(&build_kernel::saxpy().unwrap()).unwrap();
    assert_eq!(ptx_verify::check(&text, &Config::default()), []);
}

/// Functions, calls of two kinds, recursion, blocks, shared memory, vectors, tables, loops.
fn large() -> Result<Module, BuildError> {
    let mut module = builder();
    let table = Declaration::new("table", StateSpace::Const, Type::U32).array([2, 2]);
    let table = module.variable(table.initial([1.into(), 2.into(), 3.into(), 4.into()]))?;
    let pointer = Declaration::new("pointer", StateSpace::Global, Type::U64).initial([table.plus(4)]);
    module.variable(pointer.linkage(Linkage::Visible))?;

    let mut f = module.function("print")?;
    f.set_linkage(Some(Linkage::Extern));
    f.param("number", Type::U32)?;
    let print = f.finish_declaration()?;

    let mut f = module.function("factorial")?;
    let result = f.result("factorial_result", Type::U32)?;
    let n = f.param("factorial_n", Type::U32)?;
    let (value, less, product, is_small) =
        (f.reg(Type::U32), f.reg(Type::U32), f.reg(Type::U32), f.reg(Type::Pred));
    let recur = f.label("RECUR")?;
    f.push("ld.param.u32", [value.into(), n.at(0)])?;
    f.push("setp.le.u32", [is_small.into(), value.into(), 1.into()])?;
    f.guard_not(is_small).push("bra", [recur.into()])?;
    f.push("st.param.u32", [result.at(0), 1.into()])?;
    f.push("ret", [])?;
    f.place(recur)?;
    f.push("sub.u32", [less.into(), value.into(), 1.into()])?;
    let this = f.this();
    f.call(this, &[product], &[less.into()])?;
    f.push("mul.lo.u32", [product.into(), product.into(), value.into()])?;
    f.push("st.param.u32", [result.at(0), product.into()])?;
    f.push("ret", [])?;
    let factorial = f.finish()?;

    let mut f = module.entry("kernel")?;
    let data = f.param("data", Type::U64)?;
    f.required_threads([32, 1, 1])?;
    let tile = f.variable(Declaration::new("tile", StateSpace::Shared, Type::F32).array([32]).vector(4))?;
    let lane = f.named_reg("lane", Type::U32)?;
    let (base, code, sum) = (f.reg(Type::U64), f.reg(Type::U64), f.reg(Type::U32));
    let (vector, predicate) = (f.vector_reg(Type::F32, 4), f.reg(Type::Pred));
    f.push("mov.u32", [lane.into(), Value::special("%laneid")?])?;
    f.push("ld.param.u64", [base.into(), data.at(0)])?;
    f.push("cvta.to.global.u64", [base.into(), base.into()])?;
    f.push("ld.global.v4.f32", [vector.into(), base.at(0)])?;
    f.scope(|f| {
        let address = f.reg(Type::U32);
        f.push("mov.u32", [address.into(), tile.into()])?;
        f.push("mad.lo.u32", [address.into(), lane.into(), 16.into(), address.into()])?;
        let turned = [3, 2, 1, 0].map(|element| vector.element(element));
        f.push("st.shared.v4.f32", [address.at(0), Value::vector(turned)])
    })?;
    f.push("bar.sync", [0.into()])?;
    f.push("ld.const.u32", [sum.into(), table.at(12)])?;
    let selected = f.reg(Type::U32);
    f.push(
        "shfl.sync.idx.b32",
        [Value::pair(selected, predicate), sum.into(), 0.into(), 31.into(), (-1).into()],
    )?;
    f.call(factorial, &[sum], &[selected.into()])?;
    f.call(print, &[], &[sum.into()])?;
    f.push("mov.u64", [code.into(), factorial.into()])?;
    let scalar = || Declaration::new("_", StateSpace::Param, Type::U32);
    let prototype = f.prototype("takes_one", [scalar()], [scalar()])?;
    f.scope(|f| {
        let argument = f.variable(Declaration::new("argument", StateSpace::Param, Type::U32))?;
        let result = f.variable(Declaration::new("result", StateSpace::Param, Type::U32))?;
        f.push("st.param.u32", [argument.at(0), sum.into()])?;
        let (results, arguments) = (Value::list([result]), Value::list([argument]));
        f.push("call", [results, code.into(), arguments, prototype.into()])?;
        f.push("ld.param.u32", [sum.into(), result.at(0)])
    })?;
    f.guard(predicate).push("st.global.u32", [base.at(16), sum.into()])?;
    let (first, second) = (f.label("FIRST")?, f.label("SECOND")?);
    let either = f.branch_targets("EITHER", [first, second])?;
    f.push("and.b32", [sum.into(), sum.into(), 1.into()])?;
    f.push("brx.idx", [sum.into(), either.into()])?;
    f.place(second)?;
    f.pragma("nounroll")?;
    f.push("trap", [])?;
    f.place(first)?;
    f.push("exit", [])?;
    f.finish()?;
    Ok(module.finish())
}

#[test]
fn functions_calls_blocks_and_vectors_are_built() {
    sound(&large().unwrap()).unwrap();
}

/// What the builder says of a mistake in a kernel with a register of each of four types.
fn refusal(
    mistake: impl FnOnce(&mut ptx_ir::build::FunctionBuilder<'_>, [Reg; 4]) -> Result<(), BuildError>,
) -> String {
    let mut module = builder();
    let mut f = module.entry("kernel").unwrap();
    let registers = [f.reg(Type::U32), f.reg(Type::U64), f.reg(Type::F32), f.reg(Type::Pred)];
    mistake(&mut f, registers).unwrap_err().to_string()
}

#[test]
fn instructions_that_do_not_fit_are_refused_with_a_reason() {
    let said = refusal(|f, [r, _, x, _]| f.push("add.u32", [r.into(), r.into(), x.into()]));
    assert!(said.starts_with("operand 3 of `add.u32`: expected a register of type `.b32`"), "{said}");
    assert!(said.ends_with("not a register of type `.f32`"), "{said}");
    let said = refusal(|f, [r, ..]| f.push("add.u32", [r.into(), r.into()]));
    assert_eq!(said, "`add.u32` takes 3 operands, not 2");
    let said = refusal(|f, [r, ..]| f.push("ad.u32", [r.into(), r.into()]));
    assert!(said.starts_with("no instruction is called `ad`; there is `add`"), "{said}");
    let said = refusal(|f, [r, ..]| f.push("add.u23", [r.into(), r.into(), r.into()]));
    assert!(said.starts_with("`.u23` in `add.u23` is no modifier"), "{said}");
    let said = refusal(|f, [r, d, ..]| f.push("ld.global.u32", [r.into(), d.into()]));
    assert_eq!(said, "operand 2 of `ld.global.u32`: expected an address in brackets");
    let said = refusal(|f, [r, d, ..]| f.push("ld.global.v2.u32", [Value::vector([r, r, r]), d.at(0)]));
    assert!(said.contains("expected a vector of 2 elements"), "{said}");
    let said = refusal(|f, [r, ..]| f.push("add.u32", [Value::pair(r, Value::sink()), r.into(), r.into()]));
    assert_eq!(said, "operand 1 of `add.u32`: expected a single value");
    let said = refusal(|f, [r, ..]| f.guard(r).push("ret", []));
    assert_eq!(said, "`ret` a guard is a predicate, not a register of type `.u32`");
    let said = refusal(|f, [_, d, ..]| f.push("wgmma.fence.sync.aligned", []).and(f.push("ret", [d.into()])));
    assert!(said.contains("`wgmma.fence.sync.aligned` needs PTX 8.0 and a target such as sm_90a"), "{said}");
}

#[test]
fn what_belongs_elsewhere_is_refused() {
    let mut other = builder();
    let mut g = other.entry("other").unwrap();
    let (foreign, label) = (g.reg(Type::U32), g.label("L").unwrap());
    let said = refusal(|f, [r, ..]| f.push("add.u32", [r.into(), foreign.into(), 1.into()]));
    assert!(said.starts_with("this register belongs to another function"), "{said}");
    let said = refusal(|f, _| f.push("bra", [label.into()]));
    assert!(said.starts_with("this label belongs to another function"), "{said}");
    let said = refusal(|f, [r, ..]| {
        let inner = f.scope(|f| Ok(f.reg(Type::U32)))?;
        f.push("add.u32", [r.into(), inner.into(), 1.into()])
    });
    assert!(said.contains("or to a block that is closed"), "{said}");
    let unfinished = g.this();
    drop(g);
    let mut h = other.entry("third").unwrap();
    let error = h.call(unfinished, &[], &[]).unwrap_err();
    assert_eq!(error.to_string(), "the function `other` was not finished");
}

#[test]
fn names_have_one_meaning() {
    for (name, said) in [
        ("%tid", "`%tid` has a meaning of its own"),
        ("1a", "`1a` is no identifier"),
        ("kernel", "the name `kernel` is taken"),
    ] {
        assert_eq!(refusal(|f, _| f.param(name, Type::U32).map(drop)), said);
        assert_eq!(refusal(|f, _| f.named_reg(name, Type::U32).map(drop)), said);
        assert_eq!(refusal(|f, _| f.label(name).map(drop)), said);
    }
    let said = refusal(|f, _| {
        f.label("here")?;
        f.scope(|f| f.named_reg("here", Type::U32).map(drop))
    });
    assert_eq!(said, "the name `here` is taken");
}

#[test]
fn declarations_that_ptx_does_not_allow_are_refused() {
    let declare = |declaration: Declaration| builder().variable(declaration).unwrap_err().to_string();
    let global = |ty| Declaration::new("v", StateSpace::Global, ty);
    assert_eq!(declare(global(Type::Pred)), "`v`: no variable can have the type `.pred`");
    assert_eq!(declare(global(Type::U32).align(3)), "`v`: an alignment is a power of two");
    assert_eq!(declare(global(Type::U32).array([0])), "`v`: a dimension of an array is not 0");
    assert_eq!(
        declare(global(Type::U8).initial([256.into()])),
        "`v`: an initial value does not fit the type `.u8`"
    );
    assert_eq!(
        declare(global(Type::U8).array([1]).initial([1.into(), 2.into()])),
        "`v`: 2 initial values for 1 elements"
    );
    assert_eq!(
        declare(global(Type::F64).vector(4)),
        "`v`: a vector has 2 or 4 elements and at most 128 bits"
    );
    assert_eq!(
        declare(global(Type::U8).unsized_array()),
        "`v`: only an `.extern` `.shared` array has no size"
    );
    let local = Declaration::new("v", StateSpace::Local, Type::U8);
    assert_eq!(declare(local), "`v`: a variable of a module is `.global`, `.const` or `.shared`");
}

#[test]
fn functions_end_and_labels_have_places() {
    let mut module = builder();
    let f = module.entry("empty").unwrap();
    let said = f.finish().unwrap_err().to_string();
    assert_eq!(said, "control reaches the end of `empty`; it should end with `ret` or `exit`");
    let mut f = module.entry("guarded").unwrap();
    let p = f.reg(Type::Pred);
    f.guard(p).push("ret", []).unwrap();
    assert!(matches!(f.finish(), Err(BuildError::MissingEnd { .. })));
    let mut f = module.entry("unplaced").unwrap();
    let label = f.label("L").unwrap();
    f.push("bra", [label.into()]).unwrap();
    assert_eq!(f.finish().unwrap_err().to_string(), "the label `L` has no place");
    let mut f = module.entry("wrong_type").unwrap();
    f.reg(Type::Bf16);
    f.push("ret", []).unwrap_err();
    assert!(matches!(f.finish(), Err(BuildError::RegisterType { ty: Type::Bf16 })));
    assert!(module.finish().items.is_empty());
}

#[test]
fn what_only_the_assembler_takes_is_not_built() {
    let mut module = builder();
    let mut callee = module.function("callee").unwrap();
    callee.push("ret", []).unwrap();
    let callee = callee.finish().unwrap();
    let mut f = module.entry("k").unwrap();
    let (word, bits) = (f.reg(Type::U32), f.reg(Type::B32));
    let (double, half) = (f.reg(Type::F64), f.reg(Type::F16x2));
    let said = |result: Result<(), BuildError>| {
        let error = result.unwrap_err();
        assert!(matches!(error, BuildError::NotInManual { .. }), "{error}");
        error.to_string()
    };
    assert_eq!(
        said(f.push("add.u32", [word.into(), word.into(), callee.into()])),
        "operand 3 of `add.u32` is not in the manual: the address of a function passes as a number"
    );
    assert_eq!(
        said(f.push("add.u32", [word.into(), word.into(), half.into()])),
        "operand 3 of `add.u32` is not in the manual: a register of `.f16x2` passes as 32 bits"
    );
    assert_eq!(
        said(f.push("mov.b32", [word.into(), Value::vector([word])])),
        "operand 2 of `mov.b32` is not in the manual: a single value may be in braces"
    );
    assert_eq!(
        said(f.push("fma.rz.bf16x2", [bits.into(), bits.into(), bits.into(), bits.into()])),
        "`fma.rz.bf16x2` is not in the manual: `.rz`: the assembler rounds as they say, though the manual has `.rn` only"
    );
    assert_eq!(
        said(f.push("rcp.rn.ftz.f64", [double.into(), double.into()])),
        "`rcp.rn.ftz.f64` is not in the manual: it has `rcp.rn.f64`"
    );
    assert_eq!(said(f.push("add.u32.sat", [])), "`add.u32.sat` is not in the manual: it has `add.sat.u32`");
    // What is in a function that was read from text is copied as it is.
    f.push("ret", []).unwrap();
    f.finish().unwrap();
}

#[test]
fn calls_agree_with_signatures() {
    let mut module = builder();
    let mut f = module.function("callee").unwrap();
    f.result("r", Type::F64).unwrap();
    f.param("a", Type::U32).unwrap();
    f.push("ret", []).unwrap();
    let callee = f.finish().unwrap();
    let mut f = module.entry("caller").unwrap();
    let (word, double) = (f.reg(Type::U32), f.reg(Type::F64));
    let said = |result: Result<(), BuildError>| result.unwrap_err().to_string();
    assert_eq!(said(f.call(callee, &[], &[word.into()])), "call of `callee`: 1 results, not 0");
    assert_eq!(said(f.call(callee, &[double], &[])), "call of `callee`: 1 arguments, not 0");
    let wrong = said(f.call(callee, &[word], &[word.into()]));
    assert!(wrong.starts_with("operand 1 of `ld.param.f64`"), "{wrong}");
}

/// Random legal instances of every form, in modules for targets that have them: the builder takes them, their text
/// is canonical, and the verifier finds nothing wrong.
#[test]
fn every_form_of_the_table_is_built_and_printed() {
    const EACH: usize = 8;
    let mut instances: Vec<Instance> = Vec::new();
    for form in forms() {
        let bytes = random_bytes(form.index() as u64, 4000);
        let mut u = Unstructured::new(&bytes);
        let made = std::iter::repeat_with(|| every_form::instance(form, &mut u).ok().flatten());
        instances.extend(made.take(EACH * 20).flatten().take(EACH));
    }
    let targets = ["sm_20", "sm_60", "sm_75", "sm_89", "sm_90a", "sm_100a", "sm_107a", "sm_120a"];
    // Textures have samplers of their own in every other module.
    let parsed =
        targets.iter().enumerate().map(|(index, name)| (Target::parse(name).unwrap(), index % 2 == 0));
    let targets: Vec<(Target, bool)> = parsed.collect();
    let built = on_all_cores(&targets, |&(target, samplers)| {
        let bytes = random_bytes(target.number().into(), 1 << 20);
        let built = every_form::module(&instances, target, samplers, &mut Unstructured::new(&bytes)).unwrap();
        let mut failures = built.refused.clone();
        failures.extend(sound(&built.module).err());
        (built, failures.into_iter().map(move |failure| format!("{target}: {failure}")).collect::<Vec<_>>())
    });
    let covered: BTreeSet<FormId> = built.iter().flat_map(|(built, _)| built.forms.clone()).collect();
    let failures: Vec<String> = built.into_iter().flat_map(|(_, failures)| failures).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    // Calls have tests of their own; the table does not tell what a function takes.
    // Spellings of old versions alone are not among those that are built here.
    let withdrawn = [
        "wmma.mma.sync{.aligned}.alayout.blayout.shape.dtype.ctype",
        "mad{.ftz}{.sat}.f32",
        "shfl.mode.b32",
        "vote.mode.pred",
        "vote.ballot.b32",
    ];
    let missed = forms().filter(|form| {
        !covered.contains(form)
            && form.beyond_manual().is_none()
            && form.opcode().name() != "call"
            && !withdrawn.iter().any(|syntax| form.syntax().starts_with(syntax))
    });
    let missed: Vec<&str> = missed.map(FormId::syntax).collect();
    assert!(missed.is_empty(), "never built:\n{}", missed.join("\n"));
}

fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}
