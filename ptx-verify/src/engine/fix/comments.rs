//! The comments of a text, which no fix may change.

use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Diagnostic, Edit, Span, cuda};

use super::Language;

/// The comments of a text.
pub(super) struct Comments {
    /// Where they are: of the language itself, in order.
    spans: Vec<Span>,
    /// Where the comments within asm templates are in the source, sorted.
    inner: Vec<Span>,
    /// What each comment of `spans` says.
    texts: Vec<String>,
    /// What each comment in an asm template says, statement by statement.
    inner_texts: Vec<String>,
}

impl Comments {
    pub fn of(text: &str, language: Language) -> Self {
        match language {
            Language::Ptx => {
                let spans: Vec<Span> = comments_of(text, text.len() as u32).collect();
                let texts = spans.iter().map(|span| span.text(text).to_owned()).collect();
                Self { spans, inner: Vec::new(), texts, inner_texts: Vec::new() }
            }
            Language::Cuda => Self::of_cuda(text, &cuda::extract(text)),
        }
    }

    /// The places of the comments of a PTX text that begin in a part of it. The part begins with a token.
    pub fn around(text: &str, part: Span) -> Self {
        let moved = |span: Span| Span::new(part.start + span.start, part.start + span.end);
        let behind = text.get(part.start as usize..).unwrap_or_default();
        let spans = comments_of(behind, part.len()).map(moved).collect();
        Self { spans, inner: Vec::new(), texts: Vec::new(), inner_texts: Vec::new() }
    }

    /// The comments of a CUDA source whose asm statements are known.
    pub fn of_cuda(text: &str, file: &cuda::CudaFile) -> Self {
        let spans = cuda::all_comments(text);
        let texts = spans.iter().map(|span| span.text(text).to_owned()).collect();
        let (mut inner, mut inner_texts) = (Vec::new(), Vec::new());
        for statement in &file.statements {
            let template = &statement.template;
            for span in comments_of(&template.text, template.text.len() as u32) {
                inner_texts.push(span.text(&template.text).to_owned());
                inner.push(template.map.span(span));
            }
        }
        inner.sort_unstable();
        inner.dedup();
        Self { spans, inner, texts, inner_texts }
    }

    /// Whether the comments are the same as those of another text, but for the ones that `subjects`, indices in their
    /// order, are about.
    pub fn are_those_of(&self, before: &Self, subjects: &[usize]) -> bool {
        let same = |(index, (one, other)): (usize, (&String, &String))| {
            one == other || subjects.binary_search(&index).is_ok()
        };
        self.texts.len() == before.texts.len()
            && self.texts.iter().zip(&before.texts).enumerate().all(same)
            && self.inner_texts == before.inner_texts
    }

    /// The comment that a finding is about, where it is about one.
    pub fn subject(&self, found: &Diagnostic) -> Option<usize> {
        let after = self.spans.partition_point(|comment| comment.start <= found.span.start);
        let index = after.checked_sub(1)?;
        (found.span.end <= self.spans[index].end).then_some(index)
    }

    /// Whether each comment that the edits of a finding's fix touch is still there after them.
    pub fn survive(&self, text: &str, found: &Diagnostic, edits: &[Edit]) -> bool {
        let subject = self.subject(found).map(|index| self.spans[index]);
        let survives = |edit: &Edit, comment: Span, last: &mut usize| {
            if subject == Some(comment) {
                return edit_within(edit, comment, text);
            }
            let whole = edit.span.start <= comment.start && comment.end <= edit.span.end;
            let kept = edit.replacement[*last..].find(comment.text(text)).filter(|_| whole);
            *last += kept.map_or(0, |at| at + comment.text(text).len());
            kept.is_some()
        };
        edits.iter().all(|edit| {
            let mut last = 0;
            [&self.spans, &self.inner].into_iter().all(|comments| {
                touched(comments, edit.span).all(|comment| survives(edit, *comment, &mut last))
                    && !prolongs(edit, comments, text)
            })
        })
    }
}

/// The comments that an edit at `span` would change.
fn touched(comments: &[Span], span: Span) -> impl Iterator<Item = &Span> {
    let first = comments.partition_point(|comment| comment.end <= span.start);
    comments[first..].iter().take_while(move |comment| comment.start < span.end)
}

/// Whether what an edit writes would be read as part of the line comment before it.
fn prolongs(edit: &Edit, comments: &[Span], text: &str) -> bool {
    let index = comments.partition_point(|comment| comment.end < edit.span.start);
    let before = comments.get(index).filter(|comment| comment.end == edit.span.start);
    let line = before.is_some_and(|comment| !comment.text(text).starts_with("/*"));
    // In a literal the end of a line is an escape.
    line && !["\n", "\\n"].iter().any(|end| edit.replacement.starts_with(end))
}

/// Whether an edit changes only the words of a comment.
fn edit_within(edit: &Edit, comment: Span, text: &str) -> bool {
    let block = comment.text(text).starts_with("/*");
    let end = if block { comment.end.saturating_sub(2) } else { comment.end };
    let ends = edit.replacement.contains('\n') || edit.replacement.contains("*/");
    comment.start + 2 <= edit.span.start && edit.span.end <= end && !ends
}

/// The comments that begin in the first bytes of a text.
fn comments_of(text: &str, length: u32) -> impl Iterator<Item = Span> + '_ {
    let is_comment = |kind: TokenKind| kind.is_comment() || kind == TokenKind::UnterminatedComment;
    let tokens = Lexer::new(text).take_while(move |token| token.span.start < length);
    tokens.filter(move |token| is_comment(token.kind)).map(|token| token.span)
}
