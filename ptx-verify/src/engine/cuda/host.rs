//! Statements and texts in files of other hosts than CUDA C++.

use ptx_syntax::cuda::host::{Document, DocumentKind, Hosted};
use ptx_syntax::cuda::{AsmStatement, Host, Operand};
use ptx_syntax::{Diagnostic, Span};

use super::around::Around;
use super::{CudaConfig, CudaVerification, Included, of_file, verify_cuda};
use crate::engine::check;
use crate::engine::levels::Config;
use crate::engine::suppress::Suppressions;
use crate::rules::asm::{asm_dialect, asm_target_feature};

/// Verifies what a front end found in a file: its statements, with `cuda`, and its texts, PTX with `ptx` and CUDA C++ with
/// `cuda`. Places are those of the file. Suppression comments are heeded and levels applied. A finding has no fix: how the
/// host would write it is not known.
#[must_use]
pub fn verify_hosted(source: &str, hosted: &Hosted, cuda: &CudaConfig, ptx: &Config) -> CudaVerification {
    let included = Included::default();
    let (mut diagnostics, coverage) = of_file(source, &hosted.file, cuda, included);
    // Statements do not overlap.
    let mut statements: Vec<&AsmStatement> = hosted.file.statements.iter().collect();
    statements.sort_unstable_by_key(|statement| statement.span.start);
    for found in &mut diagnostics {
        let after = statements.partition_point(|statement| statement.span.start <= found.span.start);
        if let Some(before) = after.checked_sub(1) {
            respell(found, source, statements[before]);
        }
        found.fix = None;
    }
    for document in &hosted.documents {
        diagnostics.extend(of_document(document, cuda, ptx));
    }
    let mut suppressions = Suppressions::of_comments(source, hosted.comments.iter().copied());
    let settings = Config { levels: cuda.levels.clone(), ..Config::default() };
    check::finish(&mut suppressions, &settings, &mut diagnostics);
    for (rule, noun) in [(&asm_target_feature::RULE, "instruction"), (&asm_dialect::RULE, "statement")] {
        asm_target_feature::once_a_file(&mut diagnostics, rule.info.name, noun);
    }
    CudaVerification { diagnostics, coverage }
}

/// The findings in a text, at their places in the file.
fn of_document(document: &Document, cuda: &CudaConfig, ptx: &Config) -> Vec<Diagnostic> {
    let text = &document.template.text;
    let mut found = match document.kind {
        DocumentKind::Ptx if document.template.has_wildcards() => {
            let around = Around::new(text);
            let mut found = check::check(&around.text, ptx);
            found.retain(|found| around.holds(found));
            found
        }
        DocumentKind::Ptx => check::check(text, ptx),
        DocumentKind::Cuda => verify_cuda(text, cuda).diagnostics,
    };
    let end = text.len() as u32;
    let place = |span: Span| {
        let span = Span::new(span.start.min(end), span.end.min(end));
        document.template.map.span(span)
    };
    for found in &mut found {
        found.span = place(found.span);
        found.labels.iter_mut().for_each(|label| label.span = place(label.span));
        found.fix = None;
    }
    found
}

/// Writes operands as the host does.
fn respell(found: &mut Diagnostic, source: &str, statement: &AsmStatement) {
    if statement.host.is_cuda() {
        return;
    }
    let written = found.span.text(source);
    let operand = |index: &str| match statement.host {
        Host::InlinePtx => placeholder(statement, index).unwrap_or_else(|| written.to_owned()),
        host => host.operand(index),
    };
    let texts = [&mut found.message, &mut found.label]
        .into_iter()
        .chain(&mut found.notes)
        .chain(found.help.as_mut())
        .chain(found.labels.iter_mut().map(|label| &mut label.message));
    for text in texts.filter(|text| text.contains('%')) {
        *text = respelled(text, operand);
    }
}

/// What `inline_ptx` writes for an operand: `{$w0}` and so on for those that are written, then `{$rw0}`, then `{$r0}`.
fn placeholder(statement: &AsmStatement, index: &str) -> Option<String> {
    let index: usize = index.parse().ok()?;
    let is_read = |operand: &&Operand| operand.constraint.text.starts_with('+');
    let outputs = statement.outputs.len();
    let both = statement.outputs.iter().filter(is_read).count();
    let groups = [("w", outputs - both), ("rw", both), ("r", statement.inputs.len())];
    let mut first = 0;
    groups.into_iter().find_map(|(kind, count)| {
        let place = index.checked_sub(first).filter(|place| *place < count);
        first += count;
        place.map(|place| format!("{{${kind}{place}}}"))
    })
}

/// A text with `$1`, or what the host writes, for `%1`.
fn respelled(text: &str, operand: impl Fn(&str) -> String) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            out.push('%');
        } else {
            out.push_str(&operand(&part[..digits]));
        }
        out.push_str(&part[digits..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_written_as_the_host_does() {
        let text = "`%1` and `%laneid`, `%20` 5%";
        let of = |host: Host| respelled(text, |index| host.operand(index));
        assert_eq!(of(Host::Mlir), "`$1` and `%laneid`, `$20` 5%");
        assert_eq!(of(Host::Rust), "`{1}` and `%laneid`, `{20}` 5%");
    }
}
