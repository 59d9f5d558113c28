//! Which instance of a spelling the operands of an instruction fit.

use crate::arena::Handle;
use crate::ir::{Body, Module, Operand, Spelling};
use crate::isa::{Control, Instance, Resolved, Shape};
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
    /// The last two answers, the last one first: many instructions have a register here and a number there.
    answers: [Answer; 2],
    /// Whether the value of an immediate decides nothing.
    any_value: bool,
    is_call: bool,
    /// Whether the manual has the form and the modifiers of all instances.
    spelled_in_manual: bool,
}

/// Which instance operands fit.
#[derive(Clone, Copy, Default)]
struct Answer {
    /// The kinds of the operands, 16 bits for each; 0 where nothing is kept.
    kinds: u128,
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
                kept.answers = [Answer::default(); 2];
            }
        }
    }

    /// Whether the spelling is that of a call.
    #[inline]
    pub fn is_call(&mut self, module: &Module, spelling: Handle<Spelling>) -> bool {
        self.kept(module, spelling).is_call
    }

    /// The instance that the operands fit.
    #[inline]
    pub fn select(
        &mut self,
        module: &Module,
        body: &Body,
        spelling: Handle<Spelling>,
        operands: &[Operand],
    ) -> Selected {
        let kept = self.kept(module, spelling);
        let kinds = kinds(module, body, operands, kept.any_value);
        let [last, other] = kept.answers;
        if kinds != 0 && kinds == last.kinds {
            return last.selected;
        }
        if kinds != 0 && kinds == other.kinds {
            kept.answers = [other, last];
            return other.selected;
        }
        let spelled_in_manual = kept.spelled_in_manual;
        let mut selected = self.find(module, body, &module.spellings[spelling].resolved, operands);
        selected.in_manual &= spelled_in_manual;
        if kinds != 0 {
            self.kept[spelling.index()].answers = [Answer { kinds, selected }, last];
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
                answers: [Answer::default(); 2],
                any_value: instances.iter().all(any_value),
                is_call: instances.first().is_some_and(|first| first.effects.control == Control::Call),
                spelled_in_manual: instances.iter().all(|each| each.spelled_beyond_manual().is_none()),
            }
        }));
    }
}

/// The kinds of all operands as one number; 0 where there is none, or no number for them.
#[inline]
fn kinds(module: &Module, body: &Body, operands: &[Operand], any_value: bool) -> u128 {
    if operands.len() > MAX_KEPT {
        return 0;
    }
    let mut kinds = 0;
    for &operand in operands {
        let is_value = matches!(
            operand,
            Operand::Integer { .. } | Operand::Decimal(_) | Operand::SingleBits(_) | Operand::DoubleBits(_)
        );
        match module.shape_key(body, operand) {
            Some(key) if any_value || !is_value => kinds = kinds << 16 | u128::from(key),
            _ => return 0,
        }
    }
    kinds
}
