//! An example of each form of the table: a statement that NVIDIA's assembler accepts, made from what the table says.

use std::collections::BTreeMap;
use std::fmt::Write;

use ptx_ir::isa::{Class, ClassSet, Control, FormId, Instance, OperandSpec, Pattern, Role};
use ptx_ir::platform::{Platform, TextureMode};
use ptx_ir::space::StateSpace;
use ptx_ir::target::{Suffix, Target};
use ptx_ir::types::{Type, TypeKind};
use ptx_ir::version::Version;

/// How many choices of modifiers are tried before a form goes without an example.
const MAX_CHOICES: usize = 20_000;

/// The prefixes of registers, which have the types of their names.
const PREFIXES: [(Type, &str); 8] = [
    (Type::Pred, "p"),
    (Type::B8, "c"),
    (Type::B16, "h"),
    (Type::B32, "r"),
    (Type::B64, "rd"),
    (Type::B128, "rq"),
    (Type::F32, "f"),
    (Type::F64, "fd"),
];

/// How many registers of each type the surroundings have: the longest brace list has 256 elements.
const REGISTERS: usize = 300;

/// A statement, and a platform that has it.
#[derive(Clone, Debug)]
pub struct Example {
    /// The statement with its semicolon.
    pub statement: String,
    /// The newest version, and the newest target, that have it.
    pub platform: Platform,
}

/// An example of a form: without what may be left out, with registers where it takes them. `None` where the table does not
/// tell what its operands are.
#[must_use]
pub fn of(form: FormId) -> Option<Example> {
    let candidates: Vec<Vec<Option<usize>>> = form
        .slots()
        .map(|slot| {
            slot.optional.then_some(None).into_iter().chain((0..slot.values.len()).map(Some)).collect()
        })
        .collect();
    let is_beyond = form.beyond_manual().is_some();
    let mut at = vec![0; candidates.len()];
    for _ in 0..MAX_CHOICES {
        let choice: Vec<Option<usize>> = candidates.iter().zip(&at).map(|(values, &at)| values[at]).collect();
        let instance = form.instance(&choice);
        let meant = instance.filter(|each| is_beyond || each.spelled_beyond_manual().is_none());
        if let Some(example) = meant.and_then(|instance| example(form, &instance, is_beyond)) {
            return Some(example);
        }
        // The next choice: the first modifier changes fastest.
        let next = at.iter_mut().zip(&candidates).find_map(|(at, values)| {
            *at = (*at + 1) % values.len();
            (*at != 0).then_some(())
        });
        next?;
    }
    None
}

/// An example of one spelling of a form.
#[must_use]
pub fn of_instance(instance: &Instance) -> Option<Example> {
    example(instance.form, instance, instance.form.beyond_manual().is_some())
}

fn example(form: FormId, instance: &Instance, is_beyond: bool) -> Option<Example> {
    let platform = platform(form, instance)?;
    let has_list = |wanted: bool| {
        let there = instance.operands.iter().filter(|spec| !spec.optional);
        let lists = there.filter(|spec| spec.pattern == Pattern::List);
        lists.into_iter().any(|spec| (spec.role == Role::Source) == wanted)
    };
    let callee = match (has_list(false), has_list(true)) {
        (true, true) => "both",
        (true, false) => "gives",
        (false, true) => "takes",
        (false, false) => "plain",
    };
    let calls = instance.effects.control == Control::Call;
    let mut writer = Writer { numbers: BTreeMap::new(), is_beyond, calls, callee };
    let there = instance.operands.iter().filter(|spec| !spec.optional);
    let operands: Option<Vec<String>> = there.map(|spec| writer.operand(spec)).collect();
    let operands = operands?;
    let gap = if operands.is_empty() { "" } else { " " };
    let statement = format!("{}{gap}{};", instance.canonical, operands.join(", "));
    Some(Example { statement, platform })
}

/// The newest platform that has an instance; a target without suffix where there is one.
fn platform(form: FormId, instance: &Instance) -> Option<Platform> {
    let texture_mode = form.texture_mode().unwrap_or(TextureMode::Unified);
    let last = instance.gates.iter().map(|gate| gate.max_version).min().unwrap_or(Version::LATEST);
    let version = last.min(Version::LATEST);
    let platforms = || Target::all().rev().map(|target| Platform { version, target, texture_mode });
    let has =
        |platform: &Platform| platform.target.min_version() <= version && instance.is_available(*platform);
    let plain = |platform: &Platform| platform.target.suffix() == Suffix::Plain;
    platforms().filter(plain).find(has).or_else(|| platforms().find(has))
}

/// Writes operands, each register with a number of its own.
struct Writer {
    numbers: BTreeMap<&'static str, usize>,
    is_beyond: bool,
    /// Whether a function is called.
    calls: bool,
    /// The name of the function whose signature fits a call.
    callee: &'static str,
}

impl Writer {
    fn operand(&mut self, spec: &OperandSpec) -> Option<String> {
        match spec.pattern {
            Pattern::Value | Pattern::NegatableValue | Pattern::Selectable { .. } => {
                self.value(spec, self.classes(spec, spec.accepts))
            }
            Pattern::Vector { count } => self.vector(spec, count),
            Pattern::Address => Some(format!("[{}]", self.base(spec)?)),
            Pattern::Pair => Some(self.parts(spec)?.join("|")),
            Pattern::Bracket => Some(format!("[{}]", self.parts(spec)?.join(", "))),
            Pattern::List if spec.role == Role::Source => Some("(argument)".to_owned()),
            Pattern::List => Some("(result)".to_owned()),
        }
    }

    fn parts(&mut self, spec: &OperandSpec) -> Option<Vec<String>> {
        spec.children.iter().map(|child| self.operand(child)).collect()
    }

    /// What the manual has of some classes; all of them for what only the assembler has.
    fn classes(&self, spec: &OperandSpec, classes: ClassSet) -> ClassSet {
        if self.is_beyond { classes } else { classes.intersect(spec.manual) }
    }

    fn value(&mut self, spec: &OperandSpec, classes: ClassSet) -> Option<String> {
        let callee = self.callee;
        // A call by a register wants a prototype, too.
        if self.calls && classes.contains(Class::Function) {
            return Some(callee.to_owned());
        }
        if let Some(ty) = register_type(spec, classes) {
            return self.register(ty);
        }
        let known = [
            (Class::Integer, integer(spec)?),
            (Class::Label, "label".to_owned()),
            (Class::BranchTargets, "targets".to_owned()),
            (Class::CallPrototype, format!("{callee}_prototype")),
            (Class::CallTargets, format!("{callee}_targets")),
            (Class::Function, callee.to_owned()),
            (Class::Texref, "texture".to_owned()),
            (Class::Samplerref, "sampler".to_owned()),
            (Class::Surfref, "surface".to_owned()),
            (Class::Global, "global_bytes".to_owned()),
            (Class::Shared, "shared_bytes".to_owned()),
            (Class::Sink, "_".to_owned()),
        ];
        known.into_iter().find(|(class, _)| classes.contains(*class)).map(|(_, text)| text)
    }

    fn register(&mut self, ty: Type) -> Option<String> {
        let (_, prefix) = PREFIXES.iter().find(|(each, _)| *each == ty)?;
        let number = self.numbers.entry(prefix).or_default();
        *number += 1;
        Some(format!("%{prefix}{number}"))
    }

    fn vector(&mut self, spec: &OperandSpec, count: u16) -> Option<String> {
        let exact = self.classes(spec, spec.exact);
        let mut elements = Vec::new();
        for index in 0..count {
            // The first element may be an index.
            elements.push(match index == 0 && spec.accepts.contains(Class::Layer) {
                true => self.register(Type::B32)?,
                false => self.value(spec, exact)?,
            });
        }
        Some(format!("{{{}}}", elements.join(", ")))
    }

    /// The base of an address: a parameter has a name, everything else is in a register where one may be.
    fn base(&mut self, spec: &OperandSpec) -> Option<String> {
        let classes = self.classes(spec, spec.accepts);
        let access = spec.access;
        match access.and_then(|access| access.space) {
            Some(StateSpace::Param | StateSpace::ParamEntry)
                if !access.is_some_and(|access| access.writes) =>
            {
                return Some("parameter".to_owned());
            }
            Some(StateSpace::Param | StateSpace::ParamFunc) => return Some("argument".to_owned()),
            _ => {}
        }
        if classes.contains(Class::RegB64) {
            return self.register(Type::B64);
        }
        self.value(spec, classes)
    }
}

/// The type of the register that stands for a value: its own, else plain bits.
fn register_type(spec: &OperandSpec, classes: ClassSet) -> Option<Type> {
    let has = |ty: &Type| Class::register(*ty).is_some_and(|class| classes.contains(class));
    let own = spec.ty.filter(|ty| matches!(ty, Type::F32 | Type::F64));
    let width = spec.ty.and_then(Type::bytes);
    let bits = PREFIXES.iter().map(|(ty, _)| *ty);
    let wide = bits.clone().find(|ty| has(ty) && ty.kind() == TypeKind::Bits && ty.bytes() == width);
    own.filter(has).or(wide).or_else(|| bits.clone().find(has))
}

/// The smallest integer that an operand may be; 0 where it may be any.
fn integer(spec: &OperandSpec) -> Option<String> {
    let low = spec.ranges.iter().map(|range| range.low).min().unwrap_or(0);
    Some(low.to_string())
}

/// A module for a platform in which each of some statements is alone on its line, and the number of the first line.
#[must_use]
pub fn module<'a>(platform: Platform, statements: impl IntoIterator<Item = &'a str>) -> (String, usize) {
    let Platform { version, target, texture_mode } = platform;
    let independent = texture_mode == TextureMode::Independent;
    let mode = if independent { format!(", {}", texture_mode.name()) } else { String::new() };
    let name = target.name_in(version);
    let mut text = format!(".version {version}\n.target {name}{mode}\n.address_size 64\n");
    if independent {
        text.push_str(".global .samplerref sampler;\n");
    }
    text.push_str(
        ".global .texref texture;\n.global .surfref surface;\n.global .align 128 .b8 global_bytes[4096];\n",
    );
    // Functions have no parameters in memory before that.
    let calls = target.number() >= 20;
    if calls {
        text.push_str(
            ".extern .func (.param .b32 r) both (.param .b32 a);\n.extern .func (.param .b32 r) gives ();\n\
             .extern .func takes (.param .b32 a);\n.extern .func plain ();\n",
        );
    }
    text.push_str(".entry example (.param .align 16 .b8 parameter[256])\n{\n");
    let exists = |ty: Type| ty != Type::B128 || target.number() >= 70 && version >= Version::new(8, 3);
    for (ty, prefix) in PREFIXES.iter().filter(|(ty, _)| exists(*ty)) {
        // Writing to a string cannot fail.
        let _ = write!(text, ".reg {ty} %{prefix}<{REGISTERS}>; ");
    }
    text.push_str("\n.shared .align 128 .b8 shared_bytes[4096];\n");
    if calls {
        text.push_str(".param .b32 result; .param .align 16 .b8 argument[4];\n");
    }
    if target.number() >= 30 && version >= Version::new(6, 0) {
        text.push_str("targets: .branchtargets label;\n");
    }
    if target.number() >= 30 {
        for callee in ["both", "gives", "takes", "plain"] {
            let result = if matches!(callee, "both" | "gives") { "(.param .b32 _) " } else { "" };
            let argument = if matches!(callee, "both" | "takes") { "(.param .b32 _)" } else { "()" };
            let _ = writeln!(text, "{callee}_targets: .calltargets {callee};");
            let _ = writeln!(text, "{callee}_prototype: .callprototype {result}_ {argument};");
        }
    }
    let first = text.matches('\n').count() + 1;
    for statement in statements {
        let _ = writeln!(text, "{{ {statement} }}");
    }
    text.push_str("label:\nret;\n}\n");
    (text, first)
}
