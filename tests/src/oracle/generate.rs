//! Random instructions from the table, and mutants of them.

use ptx_ir::isa::{Class, ClassSet, FormId, Instance, OperandSpec, Pattern, Selectors, forms};

use ptx_ir::platform::TextureMode;

use super::judge::Pair;
use super::mutate;
use super::prelude::{has_type, prefix};
use super::random::Random;

/// A line to be judged.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The statement.
    pub line: String,
    /// What was done to it: `legal`, or the name of a mutation.
    pub kind: &'static str,
    /// Where it came from, for the summary: the place of a form in the table, or a place of another source.
    pub place: String,
    /// The form it was made from, where it came from the table.
    pub form: Option<FormId>,
}

/// A statement in parts.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The opcode.
    pub root: &'static str,
    /// The modifiers.
    pub modifiers: Vec<String>,
    /// The operands.
    pub operands: Vec<String>,
}

impl Statement {
    /// The text with its semicolon.
    #[must_use]
    pub fn text(&self) -> String {
        let gap = if self.operands.is_empty() { "" } else { " " };
        format!("{}{}{gap}{};", self.root, self.modifiers.concat(), self.operands.join(", "))
    }
}

/// Random probes, a third of them legal as the table has it, the rest mutants.
///
/// Of the forms, `only` those whose place or opcode contains a text.
pub fn probes(random: &mut Random, count: usize, pair: &Pair, only: Option<&str>) -> Vec<Probe> {
    let wanted = |form: &FormId| {
        only.is_none_or(|text| form.place().contains(text) || form.opcode().name().contains(text))
    };
    let all: Vec<FormId> = forms().filter(|form| !is_branching(*form)).filter(wanted).collect();
    let mut probes = Vec::with_capacity(count);
    // Forms that the pair lacks give few probes; without this limit `only` such forms would never end.
    for _ in 0..20 * count {
        if probes.len() >= count {
            break;
        }
        let Some(&form) = random.pick(&all) else { break };
        let Some(instance) = instance(random, form) else { continue };
        // Mostly what the pair has: an instruction that it lacks tells only about versions and targets.
        let available = instance.is_available(pair.platform());
        if !available && !random.once_in(4) {
            continue;
        }
        let Some(statement) = statement(random, &instance, pair) else { continue };
        let place = form.place().to_owned();
        let kind = if available { "legal" } else { "unavailable" };
        probes.push(Probe { line: statement.text(), kind, place: place.clone(), form: Some(form) });
        for _ in 0..2 {
            let mut mutant = statement.clone();
            if let Some(kind) = mutate::mutate(random, &mut mutant, &instance, pair) {
                let (place, form) = (place.clone(), Some(form));
                probes.push(Probe { line: mutant.text(), kind, place, form });
            }
        }
    }
    probes
}

/// Whether forms that `only` admits depend on how textures are bound.
#[must_use]
pub fn have_texture_mode(only: Option<&str>) -> bool {
    let wanted = |form: &FormId| {
        only.is_none_or(|text| form.place().contains(text) || form.opcode().name().contains(text))
    };
    forms().filter(wanted).any(|form| form.texture_mode().is_some())
}

/// Calls need prototypes and lists that belong to them; they are tested with modules.
fn is_branching(form: FormId) -> bool {
    form.opcode().name() == "call"
}

/// A random choice of modifiers that the form allows.
pub fn instance(random: &mut Random, form: FormId) -> Option<Instance> {
    for _ in 0..60 {
        let choice: Vec<Option<usize>> = form
            .slots()
            .map(|slot| (!slot.optional || random.once_in(3)).then(|| random.below(slot.values.len())))
            .collect();
        if let Some(instance) = form.instance(&choice) {
            return Some(instance);
        }
    }
    None
}

/// Operands for an instance, optional ones now and then left out.
fn statement(random: &mut Random, instance: &Instance, pair: &Pair) -> Option<Statement> {
    let mut operands = Vec::new();
    for spec in &instance.operands {
        if spec.optional && random.once_in(2) {
            // The following optional operands would otherwise take its place.
            break;
        }
        operands.push(operand(random, spec, pair)?);
    }
    let modifiers = instance.modifiers.iter().map(|modifier| (*modifier).to_owned()).collect();
    Some(Statement { root: instance.form.opcode().name(), modifiers, operands })
}

fn operand(random: &mut Random, spec: &OperandSpec, pair: &Pair) -> Option<String> {
    match spec.pattern {
        Pattern::Value => value(random, spec, spec.accepts, pair),
        Pattern::NegatableValue => {
            let text = value(random, spec, spec.accepts, pair)?;
            Some(if text.starts_with('%') && random.once_in(3) { format!("!{text}") } else { text })
        }
        Pattern::Vector { count } => vector(random, spec, count, pair),
        Pattern::Address => {
            let text = value(random, spec, spec.accepts, pair)?;
            let unified = [Class::Unified, Class::Global].iter().all(|class| spec.accepts.contains(*class))
                && text.starts_with('%')
                && random.once_in(6);
            Some(format!("[{text}]{}", if unified { ".unified" } else { "" }))
        }
        Pattern::Pair => Some(parts(random, spec, pair)?.join("|")),
        Pattern::Bracket => Some(format!("[{}]", parts(random, spec, pair)?.join(", "))),
        Pattern::List => Some("()".to_owned()),
        Pattern::Selectable { selectors } => {
            let text = value(random, spec, spec.accepts, pair)?;
            let selector = match selectors {
                Selectors::Part => [".b0", ".h1", ".b3"][random.below(3)],
                Selectors::HalfPair => [".h10", ".h32", ".h00"][random.below(3)],
                Selectors::ByteQuad => [".b3210", ".b7654", ".b0000"][random.below(3)],
                Selectors::HalfMask => [".h0", ".h1", ".h10"][random.below(3)],
                Selectors::ByteMask => [".b0", ".b20", ".b3210"][random.below(3)],
            };
            Some(if text.starts_with('%') && random.once_in(2) { format!("{text}{selector}") } else { text })
        }
    }
}

fn parts(random: &mut Random, spec: &OperandSpec, pair: &Pair) -> Option<Vec<String>> {
    spec.children.iter().map(|child| operand(random, child, pair)).collect()
}

/// A brace list: registers of one type that fits, now and then with plain bits of the same width among them.
fn vector(random: &mut Random, spec: &OperandSpec, count: u16, pair: &Pair) -> Option<String> {
    let fitting: Vec<Class> =
        spec.exact.intersect(spec.accepts).intersect(ClassSet::REGISTERS).iter().collect();
    let class = *random.pick(&fitting)?;
    let width = ClassSet::WIDTHS.into_iter().find(|width| width.contains(class))?;
    let bits = width.intersect(ClassSet::BITS).intersect(spec.accepts);
    let mut elements = Vec::new();
    for _ in 0..count {
        let classes = if random.once_in(4) && !bits.is_empty() { bits } else { class.into() };
        elements.push(value(random, spec, classes, pair)?);
    }
    Some(format!("{{{}}}", elements.join(",")))
}

/// Something of one of the classes; registers twice as often as anything else.
fn value(random: &mut Random, spec: &OperandSpec, classes: ClassSet, pair: &Pair) -> Option<String> {
    let registers = classes.intersect(ClassSet::REGISTERS);
    for _ in 0..40 {
        let from = if registers.is_empty() || random.once_in(3) { classes } else { registers };
        let all: Vec<Class> = from.iter().collect();
        let class = *random.pick(&all)?;
        if let Some(text) = token(random, class, spec, pair) {
            return Some(text);
        }
    }
    None
}

/// A text of a class; `None` where the prelude has none, or the pair lacks it.
pub fn token(random: &mut Random, class: Class, spec: &OperandSpec, pair: &Pair) -> Option<String> {
    if let Some(ty) = class.register_type() {
        return has_type(pair, ty).then(|| format!("{}{}", prefix(ty), random.below(40)));
    }
    let text = match class {
        Class::Integer => return Some(integer(random, spec, false)?.to_string()),
        Class::NegativeInteger => return Some(integer(random, spec, true)?.to_string()),
        Class::Decimal => "1.5",
        Class::SingleBits => "0f3f800000",
        Class::DoubleBits => "0d3ff0000000000000",
        Class::WarpSize if spec.ranges.is_empty() => "WARP_SZ",
        Class::SpecialNarrowVector => "%tid",
        Class::SpecialNarrow => "%ctaid.y",
        Class::SpecialWord => "%laneid",
        Class::SpecialDouble if pair.version.major() >= 4 && pair.target.number() >= 35 => "%clock64",
        Class::SpecialAny => "%gridid",
        Class::Global => "gvar",
        Class::Const => "cvar",
        Class::Shared => "svar",
        Class::Local => "lvar",
        Class::Texref => "tex0",
        Class::Samplerref if pair.texture_mode == TextureMode::Independent => "smp0",
        Class::Surfref => "surf0",
        Class::Label => "LBL0",
        Class::BranchTargets => "TLIST",
        Class::Sink => "_",
        Class::Function => "efun0",
        Class::Param if spec.pattern != Pattern::Address => return None,
        Class::Param => "pa0",
        Class::ParamEntry => "kp",
        _ => return None,
    };
    Some(text.to_owned())
}

fn integer(random: &mut Random, spec: &OperandSpec, negative: bool) -> Option<i64> {
    if spec.ranges.is_empty() {
        return Some(if negative { -1 } else { [0, 1, 2, 7, 31][random.below(5)] });
    }
    let range = random.pick(spec.ranges)?;
    let steps = ((range.high.min(1 << 20) - range.low.max(-64)) / range.step).clamp(0, 40) as usize + 1;
    let value = range.low.max(-64) + random.below(steps) as i64 * range.step;
    (range.contains(value) && (value < 0) == negative).then_some(value)
}
