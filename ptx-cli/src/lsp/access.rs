//! What an instruction does with a name among its operands, as the instruction table has it.

use std::collections::HashMap;
use std::sync::Arc;

use ptx_ir::isa::{Instance, Role, resolve};
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::names::Instruction;

use super::part::Part;

/// Operands further behind their opcode than this are not counted.
const MAX_STATEMENT: u32 = 1 << 12;

/// So many places are looked at; what is asked about then counts as read.
const MAX_ASKED: u32 = 10_000;

/// Asks about many places of a text; each spelling is resolved once.
pub struct Accesses<'d> {
    part: Part<'d>,
    instances: HashMap<&'d str, Arc<[Instance]>>,
    asked: u32,
}

/// A place among the operands of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperandPlace {
    /// Which operand, from 0.
    pub index: usize,
    /// Whether the place is between brackets.
    pub in_brackets: bool,
}

impl<'d> Accesses<'d> {
    pub fn new(part: Part<'d>) -> Self {
        Self { part, instances: HashMap::new(), asked: 0 }
    }

    /// Whether the name at a byte of the text is read or written there.
    pub fn role(&mut self, at: u32) -> Role {
        self.asked += 1;
        if self.asked > MAX_ASKED {
            return Role::Source;
        }
        let Some(instruction) = self.part.names.instruction_at(at) else { return Role::Source };
        let place = operand_at(self.part.text, instruction, at);
        if place.in_brackets {
            return Role::Source;
        }
        let count = operand_at(self.part.text, instruction, instruction.end).index + 1;
        let spelling = instruction.opcode.text(self.part.text);
        let instances = self.instances.entry(spelling).or_insert_with(|| resolve(spelling).instances);
        let fits = |instance: &&Instance| instance.operands.len() == count;
        let instance = instances.iter().find(fits).or(instances.first());
        instance
            .and_then(|instance| instance.operands.get(place.index))
            .map_or(Role::Source, |spec| spec.role)
    }
}

/// Which operand of an instruction a byte of the text belongs to: as many as there are commas between them and the
/// opcode that stand in no brackets.
pub fn operand_at(text: &str, instruction: Instruction, at: u32) -> OperandPlace {
    let start = instruction.opcode.end;
    let end = at.min(start.saturating_add(MAX_STATEMENT)).max(start);
    let between = Span::new(start, end).text(text);
    let (mut place, mut depth, mut brackets) = (OperandPlace::default(), 0_u32, 0_u32);
    for token in Lexer::new(between) {
        match token.kind {
            TokenKind::OpenBracket => brackets += 1,
            TokenKind::CloseBracket => brackets = brackets.saturating_sub(1),
            TokenKind::OpenBrace | TokenKind::OpenParen => depth += 1,
            TokenKind::CloseBrace | TokenKind::CloseParen => depth = depth.saturating_sub(1),
            TokenKind::Comma if depth + brackets == 0 => place.index += 1,
            TokenKind::Semicolon => break,
            _ => {}
        }
    }
    place.in_brackets = brackets > 0;
    place
}
