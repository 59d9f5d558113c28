//! The body of a function.

use super::module::{Directive, Function, Spelling, Variable};
use super::operand::{Operand, Run};
use crate::arena::{Arena, Handle, Symbol};
use crate::isa::Class;
use crate::types::Type;
use ptx_syntax::Span;

/// A virtual register of a function, or one element of a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Register(pub u32);

impl Register {
    /// The number, for tables with an entry per register.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One declared name of registers: `%p`, or all of `%r<100>`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RegisterGroup {
    /// The name, or its part before the number.
    pub name: Symbol,
    /// `N` of `%r<N>`; none for a single register.
    pub range: Option<u32>,
    /// The type of a register, or of an element.
    pub ty: Type,
    /// Elements of each register: 1, 2 or 4.
    pub elements: u8,
    /// The first register.
    pub first: Register,
    /// Where the name was declared.
    pub span: Span,
}

impl RegisterGroup {
    /// How many register numbers the group has.
    #[must_use]
    pub const fn len(&self) -> u32 {
        let count = match self.range {
            Some(range) => range,
            None => 1,
        };
        count.saturating_mul(self.elements as u32)
    }

    /// Whether the group is `%r<0>`.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operand class of a register of this group.
    #[must_use]
    pub fn class(&self) -> Class {
        Class::register(self.ty).unwrap_or(Class::Unknown)
    }
}

/// A place that branches can go to.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Label {
    /// The name.
    pub name: Symbol,
    /// Where it is declared.
    pub span: Span,
    /// The instruction it is before; one past the last where it ends the body.
    pub target: u32,
}

/// What a list of targets is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TargetListKind {
    /// `.branchtargets`
    Branch,
    /// `.calltargets`
    Call,
}

/// `T: .branchtargets A, B;`
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TargetList {
    /// The label in front; none where it is missing.
    pub name: Option<Symbol>,
    /// What it lists.
    pub kind: TargetListKind,
    /// The labels or functions, as operands.
    pub targets: Vec<Operand>,
    /// The whole of it.
    pub span: Span,
}

/// The guard of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Guard {
    /// The predicate; none where its name was not declared.
    pub register: Option<Register>,
    /// The class of its type.
    #[cfg_attr(feature = "serde", serde(skip, default = "crate::serial::unknown"))]
    pub class: Class,
    /// Whether it is `@!p`.
    pub negated: bool,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instruction {
    /// Its spelling.
    pub spelling: Handle<Spelling>,
    /// Its operands, in [`Body::operands`].
    pub operands: Run,
    /// The guard.
    pub guard: Option<Guard>,
    /// Which instance of the spelling its operands fit; none where they fit none.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub instance: Option<u16>,
    /// Whether the manual has the instance as its modifiers and operands are written here.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub in_manual: bool,
}

/// What is in a body, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Statement {
    /// An instruction.
    Instruction(Handle<Instruction>),
    /// `L:`
    Label(Handle<Label>),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `.reg …`
    Registers(Handle<RegisterGroup>),
    /// `.local …`, `.shared …`, `.param …`
    Variable(Handle<Variable>),
    /// `.pragma`, `.loc`
    Directive(Handle<Directive>),
    /// `T: .branchtargets …;`
    Targets(Handle<TargetList>),
    /// `P: .callprototype …;`
    Prototype(Handle<Function>),
}

/// What a function does.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Body {
    /// Everything, in order of the text.
    pub statements: Vec<Statement>,
    /// The instructions, in order of the text. After one was put in elsewhere, [`Module::renumbered`](super::Module::renumbered)
    /// gives it its number.
    pub instructions: Arena<Instruction>,
    /// The span of each instruction.
    pub spans: Vec<Span>,
    /// The operands of all instructions.
    pub operands: Vec<Operand>,
    /// The span of each operand.
    pub operand_spans: Vec<Span>,
    /// Elements of vectors, pairs, brackets and lists.
    pub children: Vec<Operand>,
    /// The span of each child.
    pub child_spans: Vec<Span>,
    /// Declared registers, by their numbers.
    pub registers: Arena<RegisterGroup>,
    /// How many register numbers there are.
    pub register_count: u32,
    /// Labels in order of the text.
    pub labels: Arena<Label>,
    /// Lists of targets.
    pub targets: Arena<TargetList>,
    /// Directives between the statements.
    pub directives: Arena<Directive>,
    /// From `{` to `}`.
    pub span: Span,
}

impl Body {
    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let Self {
            statements,
            instructions,
            spans,
            operands,
            operand_spans,
            children,
            child_spans,
            registers,
            register_count,
            labels,
            targets,
            directives,
            span,
        } = self;
        statements.clear();
        instructions.clear();
        spans.clear();
        operands.clear();
        operand_spans.clear();
        children.clear();
        child_spans.clear();
        registers.clear();
        labels.clear();
        targets.clear();
        directives.clear();
        (*register_count, *span) = (0, Span::default());
    }

    /// The operands of an instruction.
    #[must_use]
    #[inline]
    pub fn operands(&self, instruction: Handle<Instruction>) -> &[Operand] {
        &self.operands[self.instructions[instruction].operands.range()]
    }

    /// The span of an instruction, its guard and `;` included.
    #[must_use]
    #[inline]
    pub fn span(&self, instruction: Handle<Instruction>) -> Span {
        self.spans.get(instruction.index()).copied().unwrap_or_default()
    }

    /// The last instruction that begins at or before a place in the text; none before the first, or where there is no text.
    #[must_use]
    pub fn instruction_before(&self, place: u32) -> Option<Handle<Instruction>> {
        let behind = self.spans.partition_point(|span| span.start <= place);
        Some(Handle::new(behind.checked_sub(1)? as u32))
    }

    /// The span of the operand at `index` of an instruction.
    #[must_use]
    #[inline]
    pub fn operand_span(&self, instruction: Handle<Instruction>, index: usize) -> Span {
        let first = self.instructions[instruction].operands.first as usize;
        self.operand_spans.get(first + index).copied().unwrap_or_default()
    }

    /// The parts of a vector, pair, bracket or list.
    #[must_use]
    #[inline]
    pub fn children(&self, run: Run) -> &[Operand] {
        &self.children[run.range()]
    }

    /// The group that a register belongs to.
    #[must_use]
    #[inline]
    pub fn group(&self, register: Register) -> Option<&RegisterGroup> {
        self.group_handle(register).map(|group| &self.registers[group])
    }

    /// The handle of the group that a register belongs to.
    #[must_use]
    pub fn group_handle(&self, register: Register) -> Option<Handle<RegisterGroup>> {
        // Groups are in the order of their numbers; empty ones share theirs with the next.
        let (mut low, mut high) = (0, self.registers.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.registers[Handle::new(middle as u32)].first <= register {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let handle = Handle::new(low.checked_sub(1)? as u32);
        let group = self.registers.get(handle)?;
        (register.0 - group.first.0 < group.len()).then_some(handle)
    }

    /// The type of a register, or of the element that it is.
    #[must_use]
    #[inline]
    pub fn register_type(&self, register: Register) -> Option<Type> {
        self.group(register).map(|group| group.ty)
    }
}
