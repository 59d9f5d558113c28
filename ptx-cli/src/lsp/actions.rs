//! What the editor offers to do about findings: their fixes, suppressing them, and fixing all at once.

use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, Command, NumberOrString, Range, TextEdit, WorkspaceEdit,
};
use ptx_syntax::{Applicability, Edit, Span};
use ptx_verify::fix::{self, Language};
use serde_json::json;

use super::checker::Checked;
use super::convert::{Shown, ranges, workspace_edit};
use super::document::Document;
use super::{edits, reports};
use crate::source::{Kind, Source};

/// Fixes all that is certain, in one edit.
pub const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.ptx-cli");

/// Asks an assembler for registers and spills.
pub const REPORT: CodeActionKind = CodeActionKind::new("source.report.ptx-cli");

/// All fixes of larger texts are not tried at once: each round verifies the text, and the answer is to be there soon.
const MAX_FIXED: usize = 256 << 10;

/// Of no more findings is each offered to be suppressed.
const MAX_SUPPRESSED: usize = 64;

/// The actions for the findings that the editor names. `versioned` editors refuse edits of a text that has changed since.
pub fn actions(
    document: &Document,
    checked: &Checked,
    context: CodeActionContext,
    versioned: bool,
) -> Vec<CodeAction> {
    // A kind stands for itself and for those below it; the empty one for all.
    let only = context.only;
    let wanted = |kind: &CodeActionKind| {
        only.as_ref().is_none_or(|only| {
            only.iter().any(|only| {
                let rest = kind.as_str().strip_prefix(only.as_str());
                only.as_str().is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    let mut actions = Vec::new();
    if wanted(&CodeActionKind::QUICKFIX) {
        let named = found_again(&checked.shown, context.diagnostics);
        actions.extend(fixes(document, &named, versioned));
        actions.extend(suppressions(document, &named, versioned));
    }
    // What belongs to the whole source is offered where the editor asks for it, as when it saves.
    let asks_for_source = only.is_some();
    if asks_for_source && wanted(&FIX_ALL) {
        actions.extend(fix_all(document, checked, versioned));
    }
    if asks_for_source && wanted(&REPORT) && document.source.kind == Kind::Ptx && !document.is_configuration {
        let command = Command::new(
            "Report registers and spills".to_owned(),
            reports::COMMAND.to_owned(),
            Some(vec![json!(document.uri)]),
        );
        let (title, kind) = (command.title.clone(), Some(REPORT));
        actions.push(CodeAction { title, kind, command: Some(command), ..CodeAction::default() });
    }
    actions
}

/// The findings that the editor names, as far as they are known.
fn found_again(shown: &[Shown], named: Vec<lsp_types::Diagnostic>) -> Vec<(&Shown, lsp_types::Diagnostic)> {
    let of_rule = |named: &lsp_types::Diagnostic| match &named.code {
        Some(NumberOrString::String(rule)) => Some(rule.clone()),
        _ => None,
    };
    let find = |named: lsp_types::Diagnostic| {
        let rule = of_rule(&named)?;
        let same = |shown: &&Shown| {
            shown.range == named.range && shown.found.rule == rule && shown.message == named.message
        };
        // They are in the order of their places in the text, and thus of their lines.
        let first = shown.partition_point(|shown| shown.range.start < named.range.start);
        let at_place = shown[first..].iter().take_while(|shown| shown.range.start == named.range.start);
        let mut all = at_place.filter(same);
        let found = all.clone().find(|shown| shown.found.fix.is_some()).or_else(|| all.next());
        found.map(|shown| (shown, named))
    };
    named.into_iter().filter_map(find).collect()
}

/// The fix of each finding that has one.
fn fixes(document: &Document, found: &[(&Shown, lsp_types::Diagnostic)], versioned: bool) -> Vec<CodeAction> {
    let with_fix = || found.iter().filter_map(|(shown, named)| Some((shown.found.fix.as_ref()?, named)));
    let spans = with_fix().flat_map(|(fix, _)| fix.edits.iter().map(|edit| edit.span));
    let mut ranges = ranges(document, spans).into_iter();
    let mut actions = Vec::new();
    for (fix, named) in with_fix() {
        let edits = text_edits(&fix.edits, &mut ranges);
        let Some(edit) = edit_of(document, edits, versioned) else { continue };
        actions.push(CodeAction {
            title: fix.message.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![named.clone()]),
            edit: Some(edit),
            is_preferred: Some(fix.applicability == Applicability::Certain),
            ..CodeAction::default()
        });
    }
    actions
}

fn text_edits(edits: &[Edit], ranges: &mut impl Iterator<Item = Range>) -> Vec<TextEdit> {
    let edit = |edit: &Edit| TextEdit {
        range: ranges.next().unwrap_or_default(),
        new_text: edit.replacement.clone(),
    };
    edits.iter().map(edit).collect()
}

fn edit_of(document: &Document, edits: Vec<TextEdit>, versioned: bool) -> Option<WorkspaceEdit> {
    Some(workspace_edit(document, document.address()?, edits, versioned))
}

/// For each rule that findings name: a comment that suppresses it.
fn suppressions(
    document: &Document,
    found: &[(&Shown, lsp_types::Diagnostic)],
    versioned: bool,
) -> Vec<CodeAction> {
    let mut actions: Vec<CodeAction> = Vec::new();
    for (shown, named) in found.iter().take(MAX_SUPPRESSED) {
        let rule = shown.found.rule;
        let title = format!("Suppress {rule} here");
        let Some((at, text)) = suppression(document, shown.found.span, rule) else { continue };
        let range = Range::new(document.position(at), document.position(at));
        let Some(edit) = edit_of(document, vec![TextEdit { range, new_text: text }], versioned) else {
            continue;
        };
        actions.push(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![named.clone()]),
            edit: Some(edit),
            is_preferred: Some(false),
            ..CodeAction::default()
        });
    }
    actions
}

/// Where a comment goes that suppresses a rule for the line of a finding, and the text. What would be no comment there
/// has a line of its own before.
fn suppression(document: &Document, span: Span, rule: &str) -> Option<(u32, String)> {
    let text = &*document.source.text;
    if ptx_verify::find_rule(rule).is_none() || document.is_configuration {
        return None;
    }
    let line = document.lines.line(span.start);
    let start = document.lines.start(line) as usize;
    let rest = &text[start..];
    let content = rest.split(['\n', '\r']).next().unwrap_or(rest);
    if let Some(at) = content.find("// ptx-allow: ") {
        // Behind the rules that are there, and before the reason.
        let list = at + "// ptx-allow: ".len();
        let end = content[list..].find(" --").map_or(content.trim_end().len(), |reason| list + reason);
        return Some(((start + end) as u32, format!(", {rule}")));
    }
    let indent: String = content.chars().take_while(|each| matches!(each, ' ' | '\t')).collect();
    // A statement that a macro holds, and a line that a string or a comment goes beyond, have no room at their end.
    let is_plain = document.source.kind == Kind::Ptx && !content.contains("//") && !content.contains("/*");
    if is_plain && content.trim_end().ends_with([';', '{', '}', ':', ')']) {
        return Some(((start + content.trim_end().len()) as u32, format!("  // ptx-allow: {rule}")));
    }
    let before = text[..start].trim_end_matches(['\n', '\r']);
    if before.ends_with('\\') {
        return None;
    }
    Some((start as u32, format!("{indent}// ptx-allow: {rule}\n")))
}

/// All fixes that are certain, in one edit: as `verify --fix` applies them, each only where it does no harm.
fn fix_all(document: &Document, checked: &Checked, versioned: bool) -> Option<CodeAction> {
    let is_certain = |fix: &ptx_syntax::Fix| fix.applicability == Applicability::Certain;
    let text = &*document.source.text;
    let options = checked.options.as_ref()?;
    let has_fixes = checked.shown.iter().any(|shown| shown.found.fix.as_ref().is_some_and(is_certain));
    if !has_fixes || text.len() > MAX_FIXED {
        return None;
    }
    let language = match document.source.kind {
        Kind::Ptx => Language::Ptx,
        Kind::Cuda | Kind::Host(_) => Language::Cuda,
    };
    let verify = |text: &str| {
        let source = &document.source;
        let changed = Source::new(source.name.clone(), source.kind, text.as_bytes().to_vec());
        ptx_project::verify(&changed, options, 1)
    };
    let fixed = fix::fix(text, language, false, verify);
    if fixed.count == 0 {
        return None;
    }
    let edits = edits::of_lines(document, &fixed.text);
    Some(CodeAction {
        title: "Apply all certain fixes".to_owned(),
        kind: Some(FIX_ALL),
        edit: edit_of(document, edits, versioned),
        ..CodeAction::default()
    })
}
