//! Random legal instances of every form of the instruction table, made with the builder.

use arbtest::arbitrary::{Result, Unstructured};
use ptx_ir::build::{
    BuildError, Declaration, Func, FunctionBuilder, Label, ModuleBuilder, Reg, Targets, Value, Var,
};
use ptx_ir::ir::{Linkage, Module};
use ptx_ir::isa::{Class, ClassSet, Control, FormId, Instance, OperandSpec, Pattern, Selector, Selectors};
use ptx_ir::platform::{Platform, TextureMode};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use ptx_ir::target::Target;
use ptx_ir::types::Type;
use ptx_ir::version::Version;

/// An instance of a form, with a random value for each modifier; none where that choice is not allowed.
pub fn instance(form: FormId, u: &mut Unstructured<'_>) -> Result<Option<Instance>> {
    let mut choice = Vec::new();
    for slot in form.slots() {
        let left_out = slot.optional && u.ratio(1, 2)?;
        choice.push(if left_out { None } else { Some(u.choose_index(slot.values.len())?) });
    }
    // The builder takes what the manual has.
    Ok(form.instance(&choice).filter(|instance| instance.spelled_beyond_manual().is_none()).map(in_manual))
}

/// The instance with operands as the manual has them.
fn in_manual(instance: Instance) -> Instance {
    fn restrict(spec: &mut OperandSpec) {
        spec.accepts = spec.accepts.intersect(spec.manual);
        spec.exact = spec.exact.intersect(spec.manual);
        spec.children.iter_mut().for_each(restrict);
    }
    let mut instance = instance;
    instance.operands.iter_mut().for_each(restrict);
    instance
}

/// What became of some instances.
#[derive(Clone, Debug)]
pub struct Built {
    /// A module with one kernel that has them.
    pub module: Module,
    /// Those that are in it.
    pub forms: Vec<FormId>,
    /// What the builder refused, with the reason.
    pub refused: Vec<String>,
}

/// A module with one kernel that has each of the instances that `target` has; with or without
/// `texmode_independent`.
///
/// # Errors
/// The random bytes are used up.
///
/// # Panics
/// Where the surroundings of the instructions cannot be built.
pub fn module(
    instances: &[Instance],
    target: Target,
    with_samplers: bool,
    u: &mut Unstructured<'_>,
) -> Result<Built> {
    let mut builder =
        ModuleBuilder::new(Version::LATEST, target).expect("the newest version has every target");
    let world = World::of_module(&mut builder, with_samplers).expect("the surroundings are sound");
    let mut f = builder.entry("every_form").expect("the name is free");
    let mut world = world.of_function(&mut f, target).expect("the surroundings are sound");
    let texture_mode = if with_samplers { TextureMode::Independent } else { TextureMode::Unified };
    let platform = Platform { version: Version::LATEST, target, texture_mode };
    let other_group = if with_samplers { ".cta_group::1" } else { ".cta_group::2" };
    let (mut forms, mut refused) = (Vec::new(), Vec::new());
    for instance in instances {
        // Arguments have to agree with a signature, which the table does not tell.
        if instance.effects.control == Control::Call || !instance.is_available(platform) {
            continue;
        }
        // A kernel works with tensor memory as one block or as one of a pair, and every other module as the same.
        if instance.has(other_group) && instance.canonical.starts_with("tcgen05.") {
            continue;
        }
        let Some(operands) = world.operands(&mut f, &instance.operands, u)? else { continue };
        let shown = format!("{} {operands:?}", instance.canonical);
        match f.push(&instance.canonical, operands) {
            Ok(()) => forms.push(instance.form),
            Err(error) => refused.push(format!("{error}: {shown}")),
        }
    }
    f.place(world.label).expect("the label has no place yet");
    f.push("ret", []).expect("`ret` always fits");
    f.finish().expect("the kernel ends");
    Ok(Built { module: builder.finish(), forms, refused })
}

/// What operands are made of.
struct World {
    global: Var,
    constant: Var,
    shared: Var,
    texture: Var,
    sampler: Option<Var>,
    surface: Var,
    function: Func,
    kernel: Func,
}

struct Local {
    world: World,
    /// Whether the address of a kernel is a value.
    kernel_has_address: bool,
    local: Var,
    param: Var,
    entry_param: Var,
    label: Label,
    branch: Option<Targets>,
    calls: Option<Targets>,
    prototype: Func,
    registers: Vec<(Type, Reg)>,
    vectors: Vec<(Type, u8, Reg)>,
    /// Whether the value to be made is a part of a bracket.
    among_parts: bool,
}

impl World {
    fn of_module(m: &mut ModuleBuilder, with_samplers: bool) -> std::result::Result<Self, BuildError> {
        let bytes = |name: &str, space| Declaration::new(name, space, Type::B8).array([4096]).align(128);
        let handle = |name: &str, ty| Declaration::new(name, StateSpace::Global, ty);
        if with_samplers {
            m.independent_textures();
        }
        let mut callee = m.function("callee")?;
        callee.push("ret", [])?;
        let function = callee.finish()?;
        let mut other = m.entry("other")?;
        other.push("ret", [])?;
        let kernel = other.finish()?;
        Ok(Self {
            global: m.variable(bytes("global_bytes", StateSpace::Global).linkage(Linkage::Visible))?,
            constant: m.variable(bytes("const_bytes", StateSpace::Const))?,
            shared: m.variable(bytes("shared_bytes", StateSpace::Shared))?,
            texture: m.variable(handle("texture", Type::Texref))?,
            sampler: match with_samplers {
                true => Some(m.variable(handle("sampler", Type::Samplerref))?),
                false => None,
            },
            surface: m.variable(handle("surface", Type::Surfref))?,
            function,
            kernel,
        })
    }

    fn of_function(
        self,
        f: &mut FunctionBuilder<'_>,
        target: Target,
    ) -> std::result::Result<Local, BuildError> {
        let bytes = |name: &str, space| Declaration::new(name, space, Type::B8).array([256]).align(16);
        let entry_param = f.param_with(bytes("entry_param", StateSpace::Param))?;
        let label = f.label("AHEAD")?;
        // Lists of targets came with `sm_30`.
        let is_new = target.number() >= 30;
        Ok(Local {
            kernel_has_address: target.number() >= 35,
            local: f.variable(bytes("local_bytes", StateSpace::Local))?,
            param: f.variable(bytes("call_param", StateSpace::Param))?,
            entry_param,
            label,
            branch: if is_new { Some(f.branch_targets("BRANCHES", [label])?) } else { None },
            calls: if is_new { Some(f.call_targets("CALLS", [self.function])?) } else { None },
            prototype: f.prototype("PROTOTYPE", [], [])?,
            world: self,
            registers: Vec::new(),
            among_parts: false,
            vectors: Vec::new(),
        })
    }
}

type Made = Result<Option<Value>>;

impl Local {
    /// Operands that the specifications accept; none where there are no such things here.
    fn operands(
        &mut self,
        f: &mut FunctionBuilder<'_>,
        specs: &[OperandSpec],
        u: &mut Unstructured<'_>,
    ) -> Result<Option<Vec<Value>>> {
        let mut operands = Vec::new();
        let present = specs.iter().filter(|spec| !spec.optional).count();
        // Operands are left out from the end, so that it is clear which.
        let optional = u.int_in_range(0..=specs.len() - present)?;
        let mut left = optional;
        for spec in specs {
            if spec.optional && left == 0 {
                continue;
            }
            left -= usize::from(spec.optional);
            let Some(value) = self.operand(f, spec, u)? else { return Ok(None) };
            operands.push(value);
        }
        Ok(Some(operands))
    }

    fn operand(&mut self, f: &mut FunctionBuilder<'_>, spec: &OperandSpec, u: &mut Unstructured<'_>) -> Made {
        match spec.pattern {
            Pattern::Value => self.value(f, spec, u),
            Pattern::NegatableValue => self.negatable(f, spec, u),
            Pattern::Vector { count } => self.vector(f, spec, count, u),
            Pattern::Address => {
                let may = [Class::Unified, Class::Global].iter().all(|class| spec.accepts.contains(*class));
                let unified = may && u.ratio(1, 6)?;
                self.address(f, spec, unified, u)
            }
            Pattern::Pair | Pattern::Bracket => {
                let mut parts = Vec::new();
                // A base that stands among other parts has no offset.
                self.among_parts = spec.pattern == Pattern::Bracket;
                for (index, child) in spec.children.iter().enumerate() {
                    let mut child = child.clone();
                    if spec.pattern == Pattern::Pair && index == 1 {
                        // `_|_` is no pair.
                        child.accepts = child.accepts.without(Class::Sink.into());
                    }
                    if spec.pattern == Pattern::Bracket && index > 0 {
                        // The assembler cannot read a number there.
                        child.accepts = child.accepts.without(ClassSet::IMMEDIATES);
                    }
                    let Some(part) = self.operand(f, &child, u)? else { return Ok(None) };
                    parts.push(part);
                }
                self.among_parts = false;
                Ok(match (spec.pattern, parts.as_slice()) {
                    (Pattern::Pair, [first, second]) => Some(Value::pair(first.clone(), second.clone())),
                    (Pattern::Bracket, _) => Some(Value::bracket(parts)),
                    _ => None,
                })
            }
            Pattern::List => Ok(None),
            Pattern::Selectable { selectors } => self.selectable(f, spec, selectors, u),
        }
    }

    fn register(&mut self, f: &mut FunctionBuilder<'_>, ty: Type) -> Reg {
        if let Some((_, register)) = self.registers.iter().find(|(other, _)| *other == ty) {
            return *register;
        }
        let register = f.reg(ty);
        self.registers.push((ty, register));
        register
    }

    /// A class of the accepted ones that something here has.
    fn class(
        &self,
        f: &FunctionBuilder<'_>,
        spec: &OperandSpec,
        u: &mut Unstructured<'_>,
    ) -> Result<Option<Class>> {
        // Where only some integers will do, `WARP_SZ` may be none of them.
        let exists = |class: &Class| match (class, class.register_type()) {
            (_, Some(ty)) => f.may_declare(ty),
            (Class::WarpSize | Class::NegativeInteger, None) => spec.ranges.is_empty(),
            (Class::Integer | Class::SingleBits | Class::DoubleBits | Class::Sink, None) => true,
            (Class::Label | Class::BranchTargets | Class::CallTargets | Class::CallPrototype, None) => true,
            (Class::Function, None) => true,
            (Class::Kernel, None) => self.kernel_has_address,
            // What is passed to a call is written and read, and has no address.
            (Class::Param, None) => {
                let space = spec
                    .access
                    .filter(|access| access.reads || access.writes)
                    .and_then(|access| access.space);
                space == Some(StateSpace::Param) && self.variable(Class::Param).is_some()
            }
            // What a kernel is called with can only be read.
            (Class::ParamEntry, None) => spec.access.is_none_or(|access| !access.writes),
            (class, None) => special(*class).is_some() || self.variable(*class).is_some(),
        };
        let classes: Vec<Class> = spec.accepts.iter().filter(exists).collect();
        if classes.is_empty() { Ok(None) } else { Ok(Some(*u.choose(&classes)?)) }
    }

    fn value(&mut self, f: &mut FunctionBuilder<'_>, spec: &OperandSpec, u: &mut Unstructured<'_>) -> Made {
        let Some(class) = self.class(f, spec, u)? else { return Ok(None) };
        if let Some(ty) = class.register_type() {
            return Ok(Some(self.register(f, ty).into()));
        }
        Ok(Some(match class {
            Class::Integer => integer(spec, u)?.into(),
            Class::NegativeInteger => (-i64::from(u.int_in_range(1..=100_u8)?)).into(),
            // Where only some numbers will do, they are fractions of something.
            Class::SingleBits if !spec.ranges.is_empty() => 0.5_f32.into(),
            Class::DoubleBits if !spec.ranges.is_empty() => 0.5_f64.into(),
            Class::SingleBits => f32::from(u.arbitrary::<i8>()?).into(),
            Class::DoubleBits => f64::from(u.arbitrary::<i8>()?).into(),
            Class::WarpSize => Value::warp_size(),
            Class::Sink => Value::sink(),
            Class::Label => self.label.into(),
            Class::BranchTargets | Class::CallTargets => {
                let list = if class == Class::BranchTargets { self.branch } else { self.calls };
                return Ok(list.map(Value::from));
            }
            Class::CallPrototype => self.prototype.into(),
            Class::Function => self.world.function.into(),
            Class::Kernel => self.world.kernel.into(),
            _ => match (special(class), self.variable(class)) {
                (Some(register), _) => register.into(),
                (None, Some(variable)) => variable.plus(i64::from(!self.among_parts && u.ratio(1, 4)?) * 8),
                (None, None) => return Ok(None),
            },
        }))
    }

    fn variable(&self, class: Class) -> Option<Var> {
        Some(match class {
            Class::Global => self.world.global,
            Class::Const => self.world.constant,
            Class::Shared => self.world.shared,
            Class::Local => self.local,
            Class::Param => self.param,
            Class::ParamEntry => self.entry_param,
            Class::Texref => self.world.texture,
            Class::Samplerref => self.world.sampler?,
            Class::Surfref => self.world.surface,
            _ => return None,
        })
    }

    fn negatable(
        &mut self,
        f: &mut FunctionBuilder<'_>,
        spec: &OperandSpec,
        u: &mut Unstructured<'_>,
    ) -> Made {
        if spec.accepts.contains(Class::RegPred) && u.ratio(1, 2)? {
            return Ok(Some(!self.register(f, Type::Pred)));
        }
        self.value(f, spec, u)
    }

    fn vector(
        &mut self,
        f: &mut FunctionBuilder<'_>,
        spec: &OperandSpec,
        count: u16,
        u: &mut Unstructured<'_>,
    ) -> Made {
        // The first element decides which instruction it is; the others are like it here.
        let exact = spec.accepts.intersect(spec.exact);
        let accepts = if exact.is_empty() { spec.accepts } else { exact };
        let types: Vec<Type> =
            accepts.iter().filter_map(Class::register_type).filter(|ty| f.may_declare(*ty)).collect();
        if matches!(count, 2 | 4) && u.ratio(1, 4)? && !types.is_empty() {
            let (ty, count) = (*u.choose(&types)?, count as u8);
            if ty != Type::Pred && ty.bits() * u32::from(count) <= 128 {
                let known = self.vectors.iter().find(|known| (known.0, known.1) == (ty, count));
                let register = known.map(|known| known.2).unwrap_or_else(|| f.vector_reg(ty, count));
                self.vectors.push((ty, count, register));
                return Ok(Some(register.into()));
            }
        }
        // Elements are of one width, and not all of them `_`.
        let first = match types.is_empty() {
            true => {
                let mut narrow = spec.clone();
                narrow.accepts = accepts;
                self.value(f, &narrow, u)?
            }
            false => Some(self.register(f, *u.choose(&types)?).into()),
        };
        let Some(first) = first else { return Ok(None) };
        let mut elements = vec![first; count.into()];
        if spec.accepts.contains(Class::Layer) {
            elements[0] = self.register(f, Type::U32).into();
        }
        if spec.accepts.contains(Class::Sink) && count > 1 && u.ratio(1, 4)? {
            elements[1] = Value::sink();
        }
        Ok(Some(Value::vector(elements)))
    }

    fn address(
        &mut self,
        f: &mut FunctionBuilder<'_>,
        spec: &OperandSpec,
        unified: bool,
        u: &mut Unstructured<'_>,
    ) -> Made {
        let mut spec = spec.clone();
        if spec.access.is_some_and(|access| access.space == Some(StateSpace::ParamFunc)) {
            // In a kernel no register points there.
            spec.accepts = spec.accepts.without(ClassSet::REGISTERS);
        }
        let Some(class) = self.class(f, &spec, u)? else { return Ok(None) };
        let is_handle = matches!(class, Class::Texref | Class::Samplerref | Class::Surfref);
        let is_whole = is_handle || spec.accepts.contains(Class::Whole);
        let offset = if is_whole { 0 } else { *u.choose(&[0, 16, 64, -16])? };
        if let Some(ty) = class.register_type() {
            let base = self.register(f, ty);
            return Ok(Some(if unified { base.unified_at(offset) } else { base.at(offset) }));
        }
        if class == Class::Integer && !unified {
            return Ok(Some(Value::constant_address(i64::from(offset.unsigned_abs()))));
        }
        Ok(self
            .variable(class)
            .filter(|_| !unified)
            .map(|variable| variable.at(offset.unsigned_abs().into())))
    }

    fn selectable(
        &mut self,
        f: &mut FunctionBuilder<'_>,
        spec: &OperandSpec,
        selectors: Selectors,
        u: &mut Unstructured<'_>,
    ) -> Made {
        let texts: &[&str] = match selectors {
            Selectors::Part => &[".b0", ".b1", ".b2", ".b3", ".h0", ".h1"],
            Selectors::HalfPair => &[".h00", ".h12", ".h33", ".h20"],
            Selectors::ByteQuad => &[".b0000", ".b7654", ".b3210"],
            Selectors::HalfMask => &[".h0", ".h1", ".h10"],
            Selectors::ByteMask => &[".b0", ".b10", ".b210", ".b3210"],
        };
        let Some(class) = self.class(f, spec, u)? else { return Ok(None) };
        let Some(ty) = class.register_type() else { return self.value(f, spec, u) };
        let register = self.register(f, ty);
        match Selector::parse(u.choose(texts)?).filter(|_| ty.bits() == 32) {
            Some(selector) if u.ratio(1, 2)? => Ok(Some(register.selected(selector))),
            _ => Ok(Some(register.into())),
        }
    }
}

fn integer(spec: &OperandSpec, u: &mut Unstructured<'_>) -> Result<i64> {
    if spec.ranges.is_empty() {
        return u.int_in_range(0..=15);
    }
    let range = u.choose(spec.ranges)?;
    let steps = (range.high.saturating_sub(range.low)) / range.step.max(1);
    Ok(range.low + u.int_in_range(0..=steps.min(1000))? * range.step)
}

fn special(class: Class) -> Option<SpecialRegister> {
    let name = match class {
        Class::SpecialNarrowVector => "%tid",
        Class::SpecialNarrow => "%tid.x",
        Class::SpecialWord => "%laneid",
        Class::SpecialDouble => "%clock64",
        Class::SpecialAny => "%gridid",
        _ => return None,
    };
    SpecialRegister::parse(name).filter(|register| Class::special(register.reads()) == class)
}
