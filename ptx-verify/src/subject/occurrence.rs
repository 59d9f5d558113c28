//! An instruction that something is wrong with, as rules see it.

use std::ops::Range;

use ptx_ir::ir::{Handle, Instruction, Operand, RegisterGroup, Spelling};
use ptx_ir::isa::{self, Beyond, FormId, Instance, Leniency, Mismatch, OperandSpec, SpellingProblem};
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use super::place;
use crate::subject::function::FunctionContext;

/// One thing that is wrong with an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Problem<'a> {
    /// The spelling has no meaning.
    Spelling(&'a SpellingProblem),
    /// The operands fit no meaning of the spelling.
    Mismatch(&'a Mismatch),
    /// The module's version, target or texturing mode does not have this instance.
    Unavailable(&'a Instance),
    /// The assembler takes this form and does something else, which the form says.
    Misread(FormId),
    /// The spelling is taken though the manual has it differently.
    Lenient(&'a Leniency),
    /// The assembler takes something that the manual does not have.
    BeyondManual(&'a Beyond),
    /// The guard is no predicate.
    Guard,
}

/// An instruction and one thing that is wrong with it.
pub(crate) struct Occurrence<'a> {
    pub(crate) context: &'a FunctionContext<'a>,
    pub(crate) handle: Handle<Instruction>,
    pub(crate) instruction: &'a Instruction,
    pub(crate) spelling: &'a Spelling,
    pub(crate) problem: Problem<'a>,
}

impl<'a> Occurrence<'a> {
    /// The spelling, as in `add.u32`.
    pub(crate) fn name(&self) -> &'a str {
        &self.spelling.text
    }

    /// The root opcode, as in `add`.
    pub(crate) fn opcode(&self) -> &'a str {
        self.name().split('.').next().unwrap_or_default()
    }

    /// The opcode with the words that belong to it, as in `cp.async.bulk`, if a modifier is none of them.
    pub(crate) fn opcode_beside(&self, modifier: &Range<usize>) -> &'a str {
        Some(isa::name(self.name())).filter(|name| name.len() <= modifier.start).unwrap_or(self.opcode())
    }

    /// A part of the spelling, as in `.u32`.
    pub(crate) fn part(&self, range: &Range<usize>) -> &'a str {
        self.name().get(range.clone()).unwrap_or_default()
    }

    /// The whole instruction.
    pub(crate) fn span(&self) -> Span {
        self.context.body.span(self.handle)
    }

    /// Where the spelling stands.
    pub(crate) fn spelling_span(&self) -> Span {
        self.place(&(0..self.name().len()))
    }

    /// Where a part of the spelling stands.
    pub(crate) fn place(&self, range: &Range<usize>) -> Span {
        place::of_spelling(self.context.module.source, self.span(), range)
    }

    /// The operands.
    pub(crate) fn operands(&self) -> &'a [Operand] {
        self.context.body.operands(self.handle)
    }

    /// Where the operand at `index` stands; the whole instruction where there is no such operand.
    pub(crate) fn operand_span(&self, index: usize) -> Span {
        if index < self.operands().len() {
            self.context.body.operand_span(self.handle, index)
        } else {
            self.spelling_span()
        }
    }

    /// An operand, or a part of a pair or bracket, and where it stands.
    pub(crate) fn operand(&self, index: usize, part: Option<usize>) -> Option<(Operand, Span)> {
        let operand = *self.operands().get(index)?;
        let Some(part) = part else { return Some((operand, self.operand_span(index))) };
        self.children(operand).get(part).copied()
    }

    /// The parts of a vector, pair, bracket or list with their places; none for anything else.
    pub(crate) fn children(&self, operand: Operand) -> Vec<(Operand, Span)> {
        let Some(run) = operand.parts() else { return Vec::new() };
        let spans = self.context.body.child_spans.get(run.range()).unwrap_or_default();
        self.context.body.children(run).iter().copied().zip(spans.iter().copied()).collect()
    }

    /// The instance at `index` of the spelling's.
    pub(crate) fn instance(&self, index: usize) -> Option<&'a Instance> {
        self.spelling.resolved.instances.get(index)
    }

    /// What an instance wants at an operand, or at a part of it.
    pub(crate) fn spec(&self, instance: usize, spec: usize, part: Option<usize>) -> Option<&'a OperandSpec> {
        let spec = self.instance(instance)?.operands.get(spec)?;
        match part {
            Some(part) => spec.children.get(part),
            None => Some(spec),
        }
    }

    /// The declaration of the register that an operand is or is based on.
    pub(crate) fn declaration(&self, operand: Operand) -> Option<&'a RegisterGroup> {
        self.context.body.group(operand.base()?)
    }

    /// Adds the place where the register of `operand` was declared.
    pub(crate) fn with_declaration(&self, diagnostic: Diagnostic, operand: Operand) -> Diagnostic {
        let Some(group) = self.declaration(operand) else { return diagnostic };
        if group.span.is_empty() {
            return diagnostic;
        }
        let ty = group.ty;
        diagnostic.with_secondary(group.span, format!("declared `{ty}` here"))
    }

    /// Whether a spelling has the same modifiers as the one that is there, in whatever order.
    pub(crate) fn has_modifiers_of(&self, spelling: &str) -> bool {
        let sorted = |text: &'_ str| {
            let mut words: Vec<String> = text.split('.').map(str::to_owned).collect();
            words.sort_unstable();
            words
        };
        sorted(self.name()) == sorted(spelling)
    }

    /// Adds the fix that writes `spelling` instead of the one that is there.
    pub(crate) fn with_spelling(
        &self,
        diagnostic: Diagnostic,
        spelling: &str,
        applicability: Applicability,
    ) -> Diagnostic {
        if self.spelling_span().is_empty() {
            return diagnostic;
        }
        // Comments between the parts of the spelling stay.
        let pieces = place::pieces(self.context.module.source, self.span());
        let mut edits: Vec<Edit> = Vec::new();
        for span in pieces {
            match edits.last_mut() {
                None => edits.push(Edit { span, replacement: spelling.into() }),
                Some(last)
                    if self.context.module.text(Span::new(last.span.end, span.start)).trim().is_empty() =>
                {
                    last.span.end = span.end;
                }
                Some(_) => edits.push(Edit { span, replacement: String::new() }),
            }
        }
        diagnostic.with_fix(format!("write `{spelling}`"), applicability, edits)
    }
}
