//! What can be written at a place.

use std::collections::HashSet;

use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, Range, TextEdit};
use ptx_ir::directive::DirectiveKind;
use ptx_ir::isa::{followers, opcodes, words};
use ptx_ir::special::SpecialRegister;
use ptx_ir::types::Type;
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, Token, TokenKind};
use ptx_syntax::names::{NameKind, ScopeKind};

use super::document::Document;
use super::part::Part;
use super::toml;

/// No more names are offered.
const MAX_NAMES: usize = 1000;

/// Names that stand so many bytes before the place are offered first.
const NEARBY: u32 = 2000;

/// Words are not longer.
const MAX_WORD: usize = 200;

/// So much of a template before the place is looked at.
const MAX_BEFORE: usize = 8 << 10;

/// What can be written at a byte.
pub fn at(document: &Document, offset: u32) -> Vec<CompletionItem> {
    if document.is_configuration {
        return toml::completion(document, offset);
    }
    let text = &*document.source.text;
    let line = &text[document.lines.start(document.lines.line(offset)) as usize..offset as usize];
    if let Some(items) = in_comment(document, line, offset) {
        return items;
    }
    let Some((part, at)) = document.part_at(offset) else { return Vec::new() };
    let Some(place) = Place::new(&part, at) else { return Vec::new() };
    place.items(document, &part, offset)
}

/// Makes items that replace what is written of a word.
pub struct Items {
    range: Range,
    all: Vec<CompletionItem>,
}

impl Items {
    /// Replaces the `written` bytes before `offset`.
    pub fn new(document: &Document, offset: u32, written: usize) -> Self {
        let start = offset - written as u32;
        let range = Range::new(document.position(start), document.position(offset));
        Self { range, all: Vec::new() }
    }

    pub fn add(&mut self, text: &str, kind: CompletionItemKind, detail: String) -> &mut CompletionItem {
        let rank = self.all.len();
        self.all.push(CompletionItem {
            label: text.to_owned(),
            kind: Some(kind),
            detail: Some(detail).filter(|detail| !detail.is_empty()),
            sort_text: Some(format!("{rank:05}")),
            filter_text: Some(text.to_owned()),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(self.range, text.to_owned()))),
            ..CompletionItem::default()
        });
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    pub fn all(self) -> Vec<CompletionItem> {
        self.all
    }
}

/// The rules of a `ptx-allow` comment, and the word itself.
fn in_comment(document: &Document, line: &str, offset: u32) -> Option<Vec<CompletionItem>> {
    let comment = [line.rfind("//"), line.rfind("/*")].into_iter().flatten().max()?;
    let comment = &line[comment..];
    if comment.starts_with("/*") && comment.contains("*/") {
        return None;
    }
    let word =
        comment.rfind(|each: char| !(each.is_ascii_alphanumeric() || each == '-')).map_or(0, |at| at + 1);
    let written = comment.get(word..)?;
    let mut items = Items::new(document, offset, written.len());
    let is_list = comment.contains("ptx-allow:") || comment.contains("ptx-allow-file:");
    if is_list && !comment.contains(" --") {
        for rule in ptx_verify::rules() {
            items.add(rule.name, CompletionItemKind::ENUM_MEMBER, rule.summary.to_owned());
        }
    } else if !is_list {
        items.add("ptx-allow:", CompletionItemKind::KEYWORD, "rules that this line may break".to_owned());
        items.add(
            "ptx-allow-file:",
            CompletionItemKind::KEYWORD,
            "rules that this file may break".to_owned(),
        );
    }
    Some(items.all())
}

/// What a word is among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The first of a statement, or behind a guard.
    Opcode { guarded: bool },
    /// In a declaration.
    Declaration,
    /// Among the operands of an instruction.
    Operand,
    /// Behind `@`.
    Guard,
}

struct Place<'t> {
    /// What is written of the word.
    word: &'t str,
    role: Role,
    /// Where it begins.
    at: u32,
}

impl<'t> Place<'t> {
    /// The place at a byte of a text; none in a comment or a string.
    fn new(part: &Part<'t>, at: u32) -> Option<Self> {
        let before = part.text.get(..at as usize)?;
        let bytes = before.as_bytes();
        let is_word = |index: usize| match bytes[index] {
            b'_' | b'$' | b'%' | b'.' => true,
            b':' => bytes.get(index + 1) == Some(&b':') || index > 0 && bytes[index - 1] == b':',
            byte => byte.is_ascii_alphanumeric(),
        };
        let first = bytes.len().saturating_sub(MAX_WORD);
        let start =
            (first..bytes.len()).rev().take_while(|&index| is_word(index)).last().unwrap_or(bytes.len());
        let word = before.get(start..)?;
        let role = role(part, before.get(..start)?)?;
        Some(Self { word, role, at: start as u32 })
    }

    fn items(&self, document: &Document, part: &Part<'_>, offset: u32) -> Vec<CompletionItem> {
        let word = self.word;
        let mut items = Items::new(document, offset, word.len());
        match self.role {
            Role::Opcode { .. } if word.contains('.') && !word.starts_with(['.', '%']) => {
                return modifiers(document, word, offset);
            }
            Role::Opcode { guarded } => {
                if !word.starts_with('.') {
                    for opcode in opcodes() {
                        let section = opcode.forms().next().map_or("", |form| form.section());
                        items.add(opcode.name(), CompletionItemKind::FUNCTION, section.to_owned());
                    }
                }
                if !guarded {
                    directives(&mut items, part, self.at);
                }
            }
            Role::Declaration => {
                for ty in Type::ALL {
                    items.add(&ty.to_string(), CompletionItemKind::TYPE_PARAMETER, String::new());
                }
                let words = [DirectiveKind::Align, DirectiveKind::Ptr, DirectiveKind::Attribute];
                for word in words.map(DirectiveKind::word).into_iter().chain(words::VECTORS) {
                    items.add(word, CompletionItemKind::KEYWORD, String::new());
                }
            }
            Role::Operand => {
                if !word.contains('.') {
                    names(&mut items, part, self.at, |_| true);
                }
                special_registers(&mut items);
                operands(&mut items, part);
            }
            Role::Guard => {
                names(&mut items, part, self.at, |ty| ty.contains(Type::Pred.as_str()));
            }
        }
        items.all()
    }
}

/// What a word behind this text is; none in a comment or a string.
fn role(part: &Part<'_>, before: &str) -> Option<Role> {
    // From the last statement that is known on, or a bit before: what is there is not all of the text.
    let start = before.len() as u32;
    let known = part.names.instructions().partition_point(|each| each.end < start);
    let known =
        known.checked_sub(2).map_or(0, |index| part.names.instructions()[index].opcode.start as usize);
    let mut from = known.max(before.len().saturating_sub(MAX_BEFORE));
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let text = &before[from..];
    let mut last: Vec<Token> = Vec::new();
    let mut on_new_line = false;
    for token in Lexer::new(text) {
        match token.kind {
            TokenKind::LineComment if token.span.end as usize == text.len() => return None,
            TokenKind::UnterminatedComment | TokenKind::UnterminatedString => return None,
            TokenKind::Whitespace => on_new_line |= token.text(text).contains('\n'),
            kind if kind.is_comment() => {}
            _ => {
                on_new_line = false;
                last.push(token);
            }
        }
    }
    let nth = |back: usize| last.len().checked_sub(back).map(|index| last[index]);
    let kind = |back: usize| nth(back).map(|token| token.kind);
    let opcode = Role::Opcode { guarded: false };
    Some(match kind(1) {
        None | Some(TokenKind::Semicolon | TokenKind::Colon | TokenKind::CloseBrace) => opcode,
        Some(TokenKind::At) => Role::Guard,
        Some(TokenKind::Not) if kind(2) == Some(TokenKind::At) => Role::Guard,
        Some(TokenKind::Name) if matches!(kind(2), Some(TokenKind::At)) => Role::Opcode { guarded: true },
        Some(TokenKind::Name) if kind(2) == Some(TokenKind::Not) && kind(3) == Some(TokenKind::At) => {
            Role::Opcode { guarded: true }
        }
        // A list of operands follows an opcode or a comma.
        Some(TokenKind::OpenBrace) => match kind(2) {
            Some(TokenKind::Comma | TokenKind::Dotted | TokenKind::Name | TokenKind::Equals) => Role::Operand,
            _ => opcode,
        },
        Some(kind) if kind.is_dot_word() => Role::Declaration,
        Some(TokenKind::Integer) if kind(2) == Some(TokenKind::Align) => Role::Declaration,
        Some(
            TokenKind::Integer
            | TokenKind::Name
            | TokenKind::CloseParen
            | TokenKind::Float
            | TokenKind::CloseBracket,
        ) if on_new_line => opcode,
        Some(_) => Role::Operand,
    })
}

/// The modifiers that can follow those which are written.
fn modifiers(document: &Document, word: &str, offset: u32) -> Vec<CompletionItem> {
    let dot = word.rfind('.').unwrap_or(word.len());
    let mut items = Items::new(document, offset, word.len() - dot);
    for next in followers(&word[..dot]) {
        let needs = format!("{}, since PTX {}, {}", next.slot, next.min_version, next.targets);
        items.add(next.modifier, CompletionItemKind::ENUM_MEMBER, needs);
    }
    items.all()
}

fn directives(items: &mut Items, part: &Part<'_>, at: u32) {
    let scope = part.names.scopes()[part.names.scope_at(at) as usize];
    let in_body = scope.kind != ScopeKind::Module && scope.brace.is_some_and(|brace| brace < at)
        || part.statement.is_some();
    let fits = |kind: &DirectiveKind| {
        let places = kind.places();
        if in_body { places.body } else { places.module || places.kernel || places.function }
    };
    for kind in DirectiveKind::all().filter(fits) {
        items.add(kind.word(), CompletionItemKind::KEYWORD, kind.purpose().to_owned());
    }
}

/// The names that can be used here, those that were used last first.
fn names(items: &mut Items, part: &Part<'_>, at: u32, wanted: impl Fn(&str) -> bool) {
    let mut told = HashSet::new();
    let names = part.names;
    let scope = names.scope_at(at);
    let near = Span::new(at.saturating_sub(NEARBY), at);
    let visible: Vec<u32> = names.enclosing(scope).collect();
    for each in names.occurrences_in(near).iter().rev().filter(|each| visible.contains(&each.scope)) {
        let text = each.span.text(part.text);
        if told.contains(text) {
            continue;
        }
        let Some(symbol) = names.resolve(part.text, *each) else { continue };
        let declared = names.declared()[symbol.declared as usize];
        let detail = declared.specifiers.text(part.text);
        if declared.count.is_some() && symbol.member.is_none() || !wanted(detail) {
            continue;
        }
        told.insert(text);
        items.add(text, kind(declared.kind), one_line(declared.kind, detail));
    }
    for declared in names.visible(at).take(MAX_NAMES) {
        let (text, detail) = (declared.name.text(part.text), declared.specifiers.text(part.text));
        if wanted(detail) && told.insert(text) {
            let count = declared.count.map_or_else(String::new, |count| format!(" <{count}>"));
            items.add(text, kind(declared.kind), one_line(declared.kind, detail) + &count);
        }
    }
}

fn one_line(kind: NameKind, specifiers: &str) -> String {
    match kind {
        NameKind::Kernel => "kernel".to_owned(),
        NameKind::Function => "function".to_owned(),
        NameKind::Label => "label".to_owned(),
        _ => specifiers.split_whitespace().take(8).collect::<Vec<&str>>().join(" "),
    }
}

fn kind(kind: NameKind) -> CompletionItemKind {
    match kind {
        NameKind::Kernel | NameKind::Function => CompletionItemKind::FUNCTION,
        NameKind::Label | NameKind::Targets => CompletionItemKind::REFERENCE,
        NameKind::Prototype => CompletionItemKind::INTERFACE,
        NameKind::Register | NameKind::Variable | NameKind::Parameter => CompletionItemKind::VARIABLE,
    }
}

fn special_registers(items: &mut Items) {
    for register in SpecialRegister::all() {
        let detail = format!("{}, since PTX {}", register.ty(), register.min_version());
        items.add(register.name(), CompletionItemKind::CONSTANT, detail);
    }
}

/// The operands of an asm statement.
fn operands(items: &mut Items, part: &Part<'_>) {
    let Some(statement) = part.statement else { return };
    for (number, operand) in statement.operands().take(MAX_NAMES).enumerate() {
        let expression = operand.expression.text(part.source);
        let detail = format!("\"{}\" ({expression})", operand.constraint.text);
        items.add(&format!("%{number}"), CompletionItemKind::VARIABLE, detail);
    }
}
