//! From a form and a value for each of its modifiers to an instance.

use super::class::{Class, ClassSet};
use super::effects::{Carry, Chain, Effects};
use super::instance::{Access, FormId, Gate, Instance, OperandSpec, Pattern, Role, Roles};
use super::table::{
    ABSENT, ADDRESSES, AccessTemplate, CLASSES, Condition, Count, ELEMENT_TABLE, EXACT_TABLE, Effect, FORMS,
    Form, List, MANUAL_ADDRESSES, MANUAL_CLASSES, OPCODES, Operand, PatternTemplate, SpaceRef, Text, TypeRef,
    Variant, allows, holds, texts,
};
use crate::space::StateSpace;
use crate::target::TargetSet;
use crate::types::Type;
use crate::version::Version;

/// The instance of a form for a choice of values, [`ABSENT`] for a modifier that is left out. `None` where the
/// rules of the form exclude the choice, or no variant of an operand is made for it.
pub(super) fn instance(id: u16, values: &[u8]) -> Option<Instance> {
    let form = &FORMS[id as usize];
    if !allows(form, values) {
        return None;
    }
    let expander = Expander { form, values };
    let operands = expander.operands(form.operands)?;
    let gates: Box<[Gate]> = form
        .gates
        .iter()
        .filter(|gate| holds(gate.when, values))
        .map(|gate| Gate {
            modifiers: gate.when.iter().filter_map(|&(slot, _)| expander.value(slot)).collect(),
            min_version: gate.version,
            max_version: gate.until,
            targets: TargetSet::from_bits(gate.targets),
            operands: texts(if gate.classes.is_empty() { gate.present } else { gate.operands }).collect(),
            classes: gate.classes,
        })
        .collect();
    let modifiers: Box<[&'static str]> =
        (0..form.slots.len()).filter_map(|slot| expander.value(slot as u8)).collect();
    let canonical = format!("{}{}", OPCODES[form.opcode.0 as usize].name, modifiers.concat());
    let ty = expander.main_type();
    let effects = expander.effects(&operands, ty);
    Some(Instance {
        form: FormId(id),
        accesses: operands.iter().any(|operand| operand.access.is_some()),
        reaches_out: effects.reach_out() || operands.iter().any(|operand| operand.access.is_some()),
        may_access_shared: operands.iter().any(OperandSpec::may_access_shared),
        roles: Roles::of(&operands),
        operands,
        min_version: gates.iter().fold(Version::OLDEST, |version, gate| version.max(gate.min_version)),
        max_version: gates.iter().fold(Version::LATEST, |version, gate| version.min(gate.max_version)),
        targets: gates.iter().fold(TargetSet::ALL, |targets, gate| targets.intersect(gate.targets)),
        texture_mode: form.texture_mode,
        gates,
        effects,
        canonical: canonical.into(),
        modifiers,
        ty,
    })
}

struct Expander<'a> {
    form: &'static Form,
    values: &'a [u8],
}

impl Expander<'_> {
    fn value(&self, slot: u8) -> Option<&'static str> {
        let value = self.values[slot as usize];
        (value != ABSENT).then(|| self.form.slots[slot as usize].values[value as usize].as_str())
    }

    /// The value of the slot called `type`, else of the last slot that is a type.
    fn main_type(&self) -> Option<Type> {
        let named = self.form.slots.iter().position(|slot| slot.name == "type");
        let slots = 0..self.form.slots.len();
        named.into_iter().chain(slots.rev()).find_map(|slot| self.value(slot as u8).and_then(Type::parse))
    }

    fn operands(&self, operands: List<Operand>) -> Option<Box<[OperandSpec]>> {
        let present = operands.into_iter().filter(|operand| holds(operand.when, self.values));
        present.map(|operand| self.operand(operand)).collect()
    }

    fn operand(&self, operand: &'static Operand) -> Option<OperandSpec> {
        let variant = operand.variants.iter().find(|variant| holds(variant.when, self.values))?;
        let (pattern, because) = self.pattern(variant)?;
        let ty = self.type_of(variant.ty);
        // `_` stands for elements that are thrown away; a single result would be all there is.
        let no_element = matches!(variant.pattern, PatternTemplate::Vector(Count::Slot(_)))
            && pattern == Pattern::Value
            && variant.role == Role::Destination;
        let sink = if no_element { Class::Sink.into() } else { ClassSet::NONE };
        Some(OperandSpec {
            name: operand.name.as_str(),
            role: variant.role,
            purpose: operand.purpose,
            pattern,
            accepts: self.accepts(variant, ty, variant.table).without(sink),
            exact: self.accepts(variant, ty, exact_table(variant)).without(sink),
            manual: self.manual(operand).without(sink),
            ty,
            optional: operand.optional,
            ranges: variant.ranges.slice(),
            access: variant.access.as_ref().map(|access| self.access(access)),
            children: self.operands(variant.parts)?,
            because: because.or_else(|| operand.when.first().and_then(|&(slot, _)| self.value(slot))),
        })
    }

    fn type_of(&self, ty: TypeRef) -> Option<Type> {
        match ty {
            TypeRef::None => None,
            TypeRef::Fixed(ty) => Some(ty),
            TypeRef::Slot(slot) => self.value(slot).and_then(Type::parse),
            TypeRef::Widened(slot) => self.value(slot).and_then(Type::parse).and_then(Type::widened),
        }
    }

    fn accepts(&self, variant: &Variant, ty: Option<Type>, table: u8) -> ClassSet {
        let mut bits = 0;
        if let Some(ty) = ty {
            let (places, sources) = CLASSES[table as usize][ty as usize];
            bits = if variant.role == Role::Source { sources } else { places };
        }
        if let Some(AccessTemplate { space: SpaceRef::Slot(slot), .. }) = variant.access {
            let space = self.value(slot).unwrap_or("generic");
            bits |= ADDRESSES.iter().find(|(name, _)| *name == space).map_or(0, |(_, bits)| *bits);
        }
        let predicates = ClassSet::from(Class::RegPred);
        let marks =
            if variant.minus & predicates.bits() == 0 { ClassSet::NONE } else { Class::NoPredicate.into() };
        ClassSet::from_bits((bits | variant.plus) & !variant.minus).union(marks)
    }

    /// What the manual says of an operand.
    fn manual(&self, operand: &Operand) -> ClassSet {
        let Some(clause) = operand.manual.iter().find(|clause| holds(clause.when, self.values)) else {
            return ClassSet::NONE;
        };
        let mut bits = clause.plus;
        if let Some(ty) = self.type_of(clause.ty) {
            let (places, sources) = MANUAL_CLASSES[clause.table as usize][ty as usize];
            bits |= if clause.role == Role::Source { sources } else { places };
        }
        if let SpaceRef::Slot(slot) = clause.space {
            let space = self.value(slot).unwrap_or("generic");
            bits |= MANUAL_ADDRESSES.iter().find(|(name, _)| *name == space).map_or(0, |(_, bits)| *bits);
        }
        ClassSet::from_bits(bits & !clause.minus)
    }

    fn pattern(&self, variant: &Variant) -> Option<(Pattern, Option<&'static str>)> {
        let plain = match variant.pattern {
            PatternTemplate::Value => Pattern::Value,
            PatternTemplate::Negatable => Pattern::NegatableValue,
            PatternTemplate::Address => Pattern::Address,
            PatternTemplate::Pair => Pattern::Pair,
            PatternTemplate::Bracket => Pattern::Bracket,
            PatternTemplate::List => Pattern::List,
            PatternTemplate::Selectable(selectors) => Pattern::Selectable { selectors },
            PatternTemplate::Vector(count) => return self.vector(count),
        };
        Some((plain, None))
    }

    fn vector(&self, count: Count) -> Option<(Pattern, Option<&'static str>)> {
        let (count, because) = match count {
            Count::Fixed(count) => (count, None),
            Count::Slot(slot) => match self.value(slot) {
                None => (0, None),
                Some(value) => (first_number(value)?, Some(value)),
            },
            Count::Table(lines) => {
                let (when, count) = lines.iter().find(|(when, _)| holds(*when, self.values))?;
                (*count, self.deciding(*when, *count, &lines))
            }
        };
        Some((if count == 0 { Pattern::Value } else { Pattern::Vector { count } }, because))
    }

    /// The modifier that a length follows from: the last of the condition of which another value gives another length,
    /// else the first.
    fn deciding(&self, when: Condition, count: u16, lines: &[(Condition, u16)]) -> Option<&'static str> {
        let decides = |&&(slot, _): &&(u8, u64)| {
            let rest = |condition: Condition| condition.into_iter().filter(move |each| each.0 != slot);
            let differs = |&(other, length): &(Condition, u16)| {
                length != count && other.len() == when.len() && rest(other).eq(rest(when))
            };
            lines.iter().any(differs)
        };
        let last = when.iter().rev().find(decides).and_then(|&(slot, _)| self.value(slot));
        last.or_else(|| when.iter().find_map(|&(slot, _)| self.value(slot)))
    }

    fn access(&self, access: &AccessTemplate) -> Access {
        let space = match access.space {
            SpaceRef::None => None,
            SpaceRef::Fixed(name) => StateSpace::parse(&name),
            SpaceRef::Slot(slot) => self.value(slot).and_then(StateSpace::parse),
        };
        let bytes = access.size.and_then(|(vector, ty)| {
            let elements = vector.and_then(|slot| self.value(slot)).and_then(first_number).unwrap_or(1);
            Some(u32::from(elements) * self.type_of(ty)?.bytes()?)
        });
        let AccessTemplate { reads, writes, aligned, .. } = *access;
        let sized = access.sized.map(Text::as_str);
        Access { space, reads, writes, bytes: bytes.unwrap_or(0), sized, aligned }
    }

    fn effects(&self, operands: &[OperandSpec], ty: Option<Type>) -> Effects {
        let mut effects = Effects::default();
        for access in operands.iter().filter_map(|operand| operand.access) {
            effects.reads_memory |= access.reads;
            effects.writes_memory |= access.writes;
        }
        let mut carry =
            Carry { reads: false, writes: false, chain: Chain::Add, bits: ty.map_or(32, Type::bits) as u8 };
        for (when, list) in self.form.effects {
            if holds(*when, self.values) {
                for &effect in *list {
                    apply(effect, &mut effects, &mut carry);
                }
            }
        }
        effects.carry = (carry.reads || carry.writes).then_some(carry);
        effects
    }
}

/// The class table for a brace list without plain bits.
fn exact_table(variant: &Variant) -> u8 {
    if variant.table == ELEMENT_TABLE { EXACT_TABLE } else { variant.table }
}

fn apply(effect: Effect, effects: &mut Effects, carry: &mut Carry) {
    match effect {
        Effect::CarryIn => carry.reads = true,
        Effect::CarryOut => carry.writes = true,
        Effect::Chain(chain) => carry.chain = chain,
        Effect::Control(control) => effects.control = control,
        Effect::Atomic => effects.atomic = true,
        Effect::Volatile => effects.volatile = true,
        Effect::Barrier => effects.barrier = true,
        Effect::Convergence(convergence) => effects.convergence = convergence,
        Effect::ThreadDependent => effects.thread_dependent = true,
        Effect::AsyncProxy => effects.async_proxy = true,
        Effect::ReadsMemory => effects.reads_memory = true,
        Effect::WritesMemory => effects.writes_memory = true,
        Effect::Async(group, action) => effects.asynchronous = Some((group, action)),
        Effect::Computes(computation) => effects.computes = Some(computation),
        Effect::Compares(comparison) => effects.compares = Some(comparison),
        Effect::Updates(update) => effects.updates = Some(update),
        Effect::Means(mode) => effects.modes.insert(mode),
        Effect::Event(event) => effects.event = Some(event),
    }
}

/// The first number in a modifier: 4 of `.v4`, 2 of `.2d`, 16 of `.x16`.
pub(super) fn first_number(value: &str) -> Option<u16> {
    let start = value.find(|character: char| character.is_ascii_digit())?;
    let rest = &value[start..];
    let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
