//! The translation of a kernel, with the place in the source that each part was made of.

use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmId, CudaFile};

use super::super::expand::Expanded;

/// A kernel as PTX, with the way back.
pub(crate) struct Kernel {
    /// The PTX text.
    pub(crate) text: String,
    /// Where the source of what begins there stands, in order.
    pub(super) places: Vec<(u32, Span, Span)>,
    /// The templates in the text, in order.
    pub(super) templates: Vec<Template>,
    /// The calls whose functions are in the text, each after those in it.
    pub(super) calls: Vec<Call>,
}

/// A call of a function that is in the text.
pub(super) struct Call {
    /// The part of the text that it is.
    pub(super) from: u32,
    pub(super) to: u32,
    /// The place in the source that it was made of.
    pub(super) span: Span,
    /// Where the function ends.
    pub(super) end: Span,
    /// Whether the function does one thing.
    pub(super) is_small: bool,
}

/// A template in the text.
pub(super) struct Template {
    pub(super) start: u32,
    pub(super) id: AsmId,
    pub(super) expanded: Expanded,
    /// The call of the wrapper that it is in; of wrappers in wrappers the outermost.
    pub(super) call: Option<Span>,
    /// The call of the innermost, where that is another one.
    pub(super) inner: Option<Span>,
}

impl Kernel {
    /// The place in the source of a part of the text: where a wrapper is called, and the instruction in it.
    pub(crate) fn place(&self, file: &CudaFile, part: Span) -> Option<(Span, Option<Span>)> {
        if let Some(Template { start, id, expanded, call, .. }) = self.template(part) {
            let text = expanded.text.get((part.start - start) as usize..(part.end - start) as usize)?;
            let length = text.trim_end().trim_end_matches(';').trim_end().len() as u32;
            let relative = Span::new(part.start - start, part.start - start + length);
            let own = expanded.source(&file.statement(*id).template.map, relative)?;
            return Some(call.map_or((own, None), |call| (call, Some(own))));
        }
        let before = self.places.partition_point(|(start, ..)| *start <= part.start);
        let (_, shown, own) = *self.places.get(before.checked_sub(1)?)?;
        Some((shown, (own != shown).then_some(own)))
    }

    /// The call of the innermost wrapper that a part of the text is from, where wrappers call each other.
    pub(crate) fn inner_call(&self, part: Span) -> Option<Span> {
        self.template(part)?.inner
    }

    /// The calls that a part of the text is from, the innermost first, without those in functions that do one thing.
    pub(crate) fn calls(&self, part: Span) -> Vec<Span> {
        let is_around = |call: &&Call| call.from <= part.start && part.start < call.to;
        let around: Vec<&Call> = self.calls.iter().filter(is_around).collect();
        let is_shown =
            |(index, _): &(usize, &&Call)| around.get(index + 1).is_none_or(|outer| !outer.is_small);
        around.iter().enumerate().filter(is_shown).map(|(_, call)| call.span).collect()
    }

    /// Where the functions end, each with its last `}`, that end just before a part of the text.
    pub(crate) fn ended_before(&self, part: Span) -> Vec<Span> {
        let is_ended = |call: &&Call| {
            let between = self.text.get(call.to as usize..part.start as usize);
            !call.is_small && between.is_some_and(|between| between.trim().is_empty())
        };
        self.calls.iter().filter(is_ended).map(|call| call.end).collect()
    }

    /// Whether a part of the text stands in an asm statement, and is no translation.
    pub(crate) fn is_of_asm(&self, part: Span) -> bool {
        self.template(part).is_some()
    }

    fn template(&self, part: Span) -> Option<&Template> {
        let before = self.templates.partition_point(|template| template.start <= part.start);
        let template = self.templates.get(before.checked_sub(1)?)?;
        (part.end <= template.start + template.expanded.text.len() as u32).then_some(template)
    }
}
