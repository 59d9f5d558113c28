//! Which instance of a spelling the operands of an instruction fit.

use crate::arena::Handle;
use crate::ir::{Body, Module, Operand, Spelling};
use crate::isa::{Class, Control, Instance, Resolved, Shape};
use crate::platform::Platform;

/// Selects instances. Compilers write an instruction with operands of the same kinds over and over, so the last
/// answer for each spelling is kept.
#[derive(Default)]
pub(crate) struct Selection {
    platform: Option<Platform>,
    kept: Vec<Kept>,
    shapes: Vec<Shape>,
    children: Vec<Shape>,
}

/// What is kept for a spelling.
#[derive(Clone, Copy)]
struct Kept {
    /// The last answers, the last one first: many instructions have a register here and a number there.
    answers: [Answer; ANSWERS],
    /// Whether the value of an immediate decides nothing.
    any_value: bool,
    is_call: bool,
    /// Whether the manual has the form and the modifiers of all instances.
    spelled_in_manual: bool,
}

/// So many answers are kept for a spelling.
const ANSWERS: usize = 4;

/// Which instance operands fit.
#[derive(Clone, Copy, Default)]
struct Answer {
    /// Their kinds; 0 where nothing is kept.
    keys: u128,
    /// The values of those that are immediates.
    values: [u64; MAX_VALUES],
    selected: Selected,
}

/// What the operands of an instruction decide.
#[derive(Clone, Copy, Default)]
pub(crate) struct Selected {
    /// See [`Instruction::instance`](crate::ir::Instruction::instance).
    pub instance: Option<u16>,
    /// See [`Instruction::in_manual`](crate::ir::Instruction::in_manual).
    pub in_manual: bool,
}

/// The answer for instructions with more operands than this is not kept.
const MAX_KEPT: usize = 8;

impl Selection {
    /// For which version, target and texture mode the instances are. Answers for others are forgotten.
    pub fn set_platform(&mut self, platform: Platform) {
        if self.platform != Some(platform) {
            self.platform = Some(platform);
            for kept in &mut self.kept {
                kept.answers = [Answer::default(); ANSWERS];
            }
        }
    }

    /// Whether the spelling is that of a call.
    #[inline]
    pub fn is_call(&mut self, module: &Module, spelling: Handle<Spelling>) -> bool {
        self.kept(module, spelling).is_call
    }

    /// The instance that the operands fit.
    pub fn select(
        &mut self,
        module: &Module,
        body: &Body,
        spelling: Handle<Spelling>,
        operands: &[Operand],
    ) -> Selected {
        let (mut keys, mut kinds) = (Keys::default(), Kinds::default());
        for &operand in operands {
            keys.add(kinds.key_of(module, body, operand));
        }
        self.select_by_kinds(module, body, spelling, operands, (keys, &kinds))
    }

    /// The instance that operands of these kinds fit.
    #[inline]
    pub fn select_by_kinds(
        &mut self,
        module: &Module,
        body: &Body,
        spelling: Handle<Spelling>,
        operands: &[Operand],
        (Keys(keys), kinds): (Keys, &Kinds),
    ) -> Selected {
        let kept = self.kept(module, spelling);
        let any_value = kept.any_value;
        let is_known = keys != 0 && operands.len() <= MAX_KEPT && kinds.are_known(any_value);
        let is_same =
            |answer: &Answer| answer.keys == keys && (any_value || answer.values == kinds.values) && is_known;
        let [last, others @ ..] = &kept.answers;
        if is_same(last) {
            return last.selected;
        }
        if let Some(index) = others.iter().position(is_same) {
            kept.answers[..=index + 1].rotate_right(1);
            return kept.answers[0].selected;
        }
        let spelled_in_manual = kept.spelled_in_manual;
        let mut selected = self.find(module, body, &module.spellings[spelling].resolved, operands);
        selected.in_manual &= spelled_in_manual;
        if is_known {
            let answers = &mut self.kept[spelling.index()].answers;
            answers.rotate_right(1);
            answers[0] = Answer { keys, values: kinds.values, selected };
        }
        selected
    }

    /// The instance that the operands fit, and whether the manual has such operands of it.
    fn find(&mut self, module: &Module, body: &Body, resolved: &Resolved, operands: &[Operand]) -> Selected {
        if resolved.instances.is_empty() {
            return Selected::default();
        }
        self.shapes.clear();
        self.children.clear();
        for &operand in operands {
            module.push_shape(body, operand, &mut self.shapes, &mut self.children);
        }
        let Some(platform) = self.platform else { return Selected::default() };
        match resolved.select_available(&self.shapes, &self.children, platform) {
            Ok(index) => {
                let beyond = resolved.instances[index].operand_beyond_manual(&self.shapes, &self.children);
                Selected { instance: Some(index as u16), in_manual: beyond.is_none() }
            }
            Err(_) => Selected::default(),
        }
    }

    #[inline]
    fn kept(&mut self, module: &Module, spelling: Handle<Spelling>) -> &mut Kept {
        if spelling.index() >= self.kept.len() {
            self.add(module);
        }
        &mut self.kept[spelling.index()]
    }

    #[cold]
    fn add(&mut self, module: &Module) {
        let new = self.kept.len()..module.spellings.len();
        self.kept.extend(new.map(|index| {
            let spelling = &module.spellings[Handle::new(index as u32)];
            let instances = &spelling.resolved.instances;
            let any_value = |instance: &Instance| instance.operands.iter().all(|spec| spec.ranges.is_empty());
            Kept {
                answers: [Answer::default(); ANSWERS],
                any_value: instances.iter().all(any_value),
                is_call: instances.first().is_some_and(|first| first.effects.control == Control::Call),
                spelled_in_manual: instances.iter().all(|each| each.spelled_beyond_manual().is_none()),
            }
        }));
    }
}

/// The answer for instructions with more immediates whose values matter is not kept.
const MAX_VALUES: usize = 2;

/// The kinds of the operands of an instruction, but for what is at hand of each.
#[derive(Clone, Copy, Default)]
pub(crate) struct Kinds {
    /// Whether one has a kind without a number.
    has_unknown: bool,
    /// The first that are immediates.
    values: [u64; MAX_VALUES],
    /// How many are immediates.
    value_count: usize,
}

/// The kinds of operands, 16 bits for each, which are not 0. They are apart from the rest so that they stay in registers
/// of the processor.
#[derive(Clone, Copy, Default)]
pub(crate) struct Keys(u128);

impl Keys {
    /// Adds the kind of an operand that is a register.
    #[inline(always)]
    pub fn add_register(&mut self, class: Class) {
        self.add(Module::register_key(class));
    }

    /// Adds what [`Kinds::key_of`] gives for an operand.
    #[inline(always)]
    pub fn add(&mut self, key: u16) {
        self.0 = self.0 << 16 | u128::from(key);
    }
}

impl Kinds {
    /// The number for the kind of an integer without a sign.
    #[inline]
    pub fn key_of_integer(&mut self, bits: u64) -> u16 {
        self.add_value(bits);
        Module::INTEGER_KEY
    }

    #[inline]
    fn add_value(&mut self, value: u64) {
        if let Some(place) = self.values.get_mut(self.value_count) {
            *place = value;
        }
        self.value_count += 1;
    }

    /// The number for the kind of an operand.
    pub fn key_of(&mut self, module: &Module, body: &Body, operand: Operand) -> u16 {
        let value = match operand {
            Operand::Integer { bits, .. } | Operand::DoubleBits(bits) => Some(bits),
            Operand::Decimal(value) => Some(value.to_bits()),
            Operand::SingleBits(bits) => Some(bits.into()),
            _ => None,
        };
        if let Some(value) = value {
            self.add_value(value);
        }
        let key = module.shape_key(body, operand);
        self.has_unknown |= key.is_none();
        key.unwrap_or_default()
    }

    /// Whether the kinds are all that decides about the instance, with the values of immediates unless these decide
    /// nothing.
    #[inline]
    fn are_known(&self, any_value: bool) -> bool {
        !self.has_unknown && (any_value || self.value_count <= MAX_VALUES)
    }
}
