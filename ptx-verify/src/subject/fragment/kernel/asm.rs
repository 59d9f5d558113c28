//! Asm statements with their operands.

use ptx_ir::isa::{AsyncAction, AsyncGroup, Instance};
use ptx_syntax::cuda::body::Expression;
use ptx_syntax::cuda::{AsmId, Operand};

use super::types::Ty;
use super::value::{Held, Place, REGISTER, Register, Value};
use super::{Lowering, Template, Unclear, has_instruction};
use crate::subject::fragment::Compiler;
use crate::subject::fragment::expand::{Problem, ProblemKind, expand};

/// What follows a statement: the places that get what it has put into registers.
struct After {
    register: Register,
    half: Option<u32>,
    place: Place,
}

impl<'s> Lowering<'_, 's> {
    /// An asm statement. Its text stands in braces, so that what it declares is its own.
    pub(super) fn asm(&mut self, id: AsmId, operands: &[Expression<'s>]) -> Result<(), Unclear> {
        let file = self.aim.file;
        let statement = file.statement(id);
        let declared: Vec<&Operand> = statement.operands().collect();
        if declared.len() != operands.len() || !statement.labels.is_empty() {
            return Err(Unclear);
        }
        let (mut names, mut after) = (Vec::new(), Vec::new());
        for (index, (operand, expression)) in declared.iter().zip(operands).enumerate() {
            let letter = operand.constraint.letter().filter(|_| operand.constraint.known).ok_or(Unclear)?;
            let name = match (index < statement.outputs.len(), letter) {
                (false, 'n' | 'i') => {
                    let number = self.constant(expression)?;
                    (number as i64).to_string()
                }
                (false, _) => self.input(letter, expression)?,
                (true, _) => {
                    self.output(letter, operand.constraint.is_read_write(), expression, &mut after)?
                }
            };
            names.push(name);
        }
        let expanded = expand(statement, self.aim.source, Compiler::Nvcc, &names);
        let is_understood = |problem: &Problem| {
            matches!(problem.kind, ProblemKind::NotDoubled | ProblemKind::DoubledWithoutOperands)
        };
        let is_odd = !expanded.problems.iter().all(is_understood);
        if expanded.has_wildcards || is_odd || !is_balanced(&expanded.text) {
            return Err(Unclear);
        }
        if has_instruction(&expanded.text, writes_later) {
            let outputs = names.iter().take(statement.outputs.len());
            let numbers = outputs.filter_map(|name| name.strip_prefix(REGISTER)?.parse().ok());
            self.begun.extend(numbers.collect::<Vec<u32>>());
        }
        self.emit("{");
        let start = self.text.len() as u32;
        self.text.push_str(&expanded.text);
        let call = self.call().or(statement.used_at);
        let inner = self.frames.last().and_then(|frame| frame.call).filter(|inner| Some(*inner) != call);
        self.templates.push(Template { start, id, expanded, call, inner });
        self.text.push('\n');
        self.note_place();
        self.emit("}");
        for After { register, half, place } in after {
            if let Some(half) = half {
                self.emit(&format!("cvt.u32.u16 {}, %c_h{half};", register.name()));
            }
            let ty = match place.ty() {
                Ty::Integer { bits: 64, .. } | Ty::Pointer(..) if register.bits == 64 => place.ty().clone(),
                Ty::Integer { .. } if register.bits == 32 => Ty::UINT,
                Ty::Integer { .. } => Ty::SIZE,
                other => other.clone(),
            };
            self.write(&place, Value { ty, held: Held::Register(register) })?;
        }
        Ok(())
    }

    fn input(&mut self, letter: char, expression: &Expression<'s>) -> Result<String, Unclear> {
        let value = self.value(expression)?;
        let value = Self::decayed(value);
        let value = if matches!(value.ty, Ty::Pointer(..)) { self.generic(value)? } else { value };
        if letter == 'h' {
            let whole = self.operand(&value, 32)?;
            let half = self.half()?;
            self.emit(&format!("cvt.u16.u32 %c_h{half}, {whole};"));
            return Ok(format!("%c_h{half}"));
        }
        let bits = bits_of(letter)?;
        Ok(self.in_register(&value, bits)?.name())
    }

    fn output(
        &mut self,
        letter: char,
        is_read: bool,
        expression: &Expression<'s>,
        after: &mut Vec<After>,
    ) -> Result<String, Unclear> {
        let place = self.place(expression)?;
        if letter == 'h' {
            let (register, half) = (self.fresh(32)?, self.half()?);
            if is_read {
                let value = self.read(&place)?;
                let whole = self.operand(&value, 32)?;
                self.emit(&format!("cvt.u16.u32 %c_h{half}, {whole};"));
            }
            after.push(After { register, half: Some(half), place });
            return Ok(format!("%c_h{half}"));
        }
        let bits = bits_of(letter)?;
        // A variable is the operand itself, as the compiler has it: what runs on its own may still write it later.
        let is_whole = match place.ty() {
            Ty::Integer { bits: own, is_bool, .. } => *own == bits && !is_bool,
            Ty::Float(own, _) => *own == bits,
            _ => false,
        };
        if let (Place::Register(register, _), true) = (&place, is_whole) {
            return Ok(register.name());
        }
        let register = self.fresh(bits)?;
        if is_read {
            // Statements without instructions name what they do not touch.
            let value = match &place {
                Place::Alias(_, ty) => Value::unknown(ty.clone()),
                place => self.read(place)?,
            };
            let operand = self.operand(&value, bits)?;
            self.emit(&format!("mov.b{bits} {}, {operand};", register.name()));
        }
        after.push(After { register, half: None, place });
        Ok(register.name())
    }

    pub(super) fn half(&mut self) -> Result<u32, Unclear> {
        self.halves += 1;
        if self.halves > super::MAX_REGISTERS { Err(Unclear) } else { Ok(self.halves) }
    }
}

/// Whether what an instruction begins writes registers when it has ended.
fn writes_later(instance: &Instance) -> bool {
    matches!(
        instance.effects.asynchronous,
        Some((AsyncGroup::Wgmma | AsyncGroup::Tcgen05Load, AsyncAction::Start))
    )
}

const fn bits_of(letter: char) -> Result<u32, Unclear> {
    match letter {
        'r' | 'f' => Ok(32),
        'l' | 'd' => Ok(64),
        _ => Err(Unclear),
    }
}

/// Whether what a template opens, it closes.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for byte in text.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
