//! Where a text that macros made came from, and the way of everything in a [`CudaFile`] back to the file.

use crate::Span;
use crate::cuda::model::{AsmStatement, CudaFile, Operand};
use crate::cuda::template::PieceKind;

/// The places in the file of texts after its end.
#[derive(Clone, Debug)]
pub(in crate::cuda) struct Origins {
    /// The length of the file.
    length: u32,
    /// Where a made text begins, and where it came from.
    made: Vec<(u32, Span)>,
}

impl Origins {
    pub fn new(length: u32) -> Self {
        Self { length, made: Vec::new() }
    }

    pub(super) fn add(&mut self, start: u32, origin: Span) {
        self.made.push((start, origin));
    }

    fn of(&self, at: u32) -> Span {
        let after = self.made.partition_point(|(start, _)| *start <= at);
        after.checked_sub(1).and_then(|index| self.made.get(index)).map_or(Span::at(0), |(_, origin)| *origin)
    }

    /// Whether a span begins after the end of the file.
    pub fn is_made(&self, span: Span) -> bool {
        span.start >= self.length && !self.made.is_empty()
    }

    /// The place in the file.
    pub fn place(&self, span: Span) -> Span {
        if span.end <= self.length {
            return span;
        }
        if span.start >= self.length {
            return self.of(span.start);
        }
        Span::new(span.start, self.of(span.end.saturating_sub(1)).end.max(span.start))
    }

    /// Brings everything back to the file.
    pub fn relocate(&self, file: &mut CudaFile) {
        for statement in &mut file.statements {
            self.statement(statement);
        }
        for function in &mut file.functions {
            let parameters = function.parameters.iter_mut().map(|parameter| &mut parameter.name);
            let events = function.events.iter_mut().map(|event| &mut event.span);
            let own = [&mut function.name, &mut function.header, &mut function.body];
            own.into_iter().chain(parameters).chain(events).for_each(|span| *span = self.place(*span));
        }
        let regions = file.regions.iter_mut().map(|region| &mut region.span);
        let conditions = file.conditions.iter_mut().map(|condition| &mut condition.expression);
        let others = file.non_statements.iter_mut().map(|other| &mut other.span);
        regions.chain(conditions).chain(others).for_each(|span| *span = self.place(*span));
    }

    fn statement(&self, statement: &mut AsmStatement) {
        statement.span = self.place(statement.span);
        statement.keyword = self.place(statement.keyword);
        statement.after_qualifiers = self.place(Span::at(statement.after_qualifiers)).end;
        let template = &mut statement.template;
        template.span = self.place(template.span);
        for piece in &mut template.pieces {
            if self.is_made(piece.source) && piece.kind == PieceKind::Literal {
                piece.kind = PieceKind::Made;
            }
            piece.source = self.place(piece.source);
        }
        template.map.relocate(|source| self.is_made(source).then(|| self.place(source)));
        for operand in statement.outputs.iter_mut().chain(&mut statement.inputs) {
            self.operand(operand);
        }
        let clobbers = statement.clobbers.iter_mut().map(|clobber| &mut clobber.span);
        let oddities = statement.oddities.iter_mut().map(|oddity| &mut oddity.span);
        clobbers.chain(oddities).chain(&mut statement.labels).for_each(|span| *span = self.place(*span));
    }

    fn operand(&self, operand: &mut Operand) {
        operand.span = self.place(operand.span);
        operand.name = operand.name.map(|name| self.place(name));
        operand.constraint.span = self.place(operand.constraint.span);
        operand.expression = self.place(operand.expression);
    }
}
