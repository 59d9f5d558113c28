//! What each word of a text is, for editors that colour by meaning.

use std::sync::Arc;

use lsp_types::{
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
    SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensLegend,
};
use ptx_ir::special::SpecialRegister;
use ptx_ir::types::Type;
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, Token, TokenKind};
use ptx_syntax::names::{NameKind, Names};

use super::document::Document;
use super::lines::Sweep;
use super::part::Part;

/// A text has no more tokens told at once than this, so that the answer comes soon and editors can take it; those of a
/// range are told wherever it is.
const MAX_TOKENS: usize = 60_000;

/// What words can be; the order is that of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Meaning {
    Mnemonic,
    Modifier,
    Type,
    Register,
    Parameter,
    Variable,
    Function,
    Label,
    SpecialRegister,
    Directive,
    Number,
    String,
    Comment,
}

const DECLARATION: u32 = 1;
const READ_ONLY: u32 = 2;

/// How the numbers in tokens are to be read.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: vec![
            SemanticTokenType::KEYWORD,
            SemanticTokenType::MODIFIER,
            SemanticTokenType::TYPE,
            SemanticTokenType::VARIABLE,
            SemanticTokenType::PARAMETER,
            SemanticTokenType::PROPERTY,
            SemanticTokenType::FUNCTION,
            SemanticTokenType::new("label"),
            SemanticTokenType::ENUM_MEMBER,
            SemanticTokenType::MACRO,
            SemanticTokenType::NUMBER,
            SemanticTokenType::STRING,
            SemanticTokenType::COMMENT,
        ],
        token_modifiers: vec![SemanticTokenModifier::DECLARATION, SemanticTokenModifier::READONLY],
    }
}

/// A word with its meaning.
struct Word {
    span: Span,
    meaning: Meaning,
    modifiers: u32,
}

/// The words of a document, or of a range of it, as the protocol has them.
pub fn tokens(document: &Document, range: Option<Range>) -> Vec<SemanticToken> {
    let all = Span::new(0, document.source.text.len() as u32);
    let wanted =
        range.map_or(all, |range| Span::new(document.offset(range.start), document.offset(range.end)));
    let mut words = Vec::new();
    for part in document.parts() {
        words_of(document, &part, wanted, &mut words);
        if words.len() >= MAX_TOKENS {
            break;
        }
    }
    words.sort_by_key(|word: &Word| word.span);
    words.truncate(MAX_TOKENS);
    encoded(document, &words)
}

fn words_of(document: &Document, part: &Part<'_>, wanted: Span, words: &mut Vec<Word>) {
    let Some(statement) = part.statement else {
        let tokens = document.tokens_from(wanted.start).skip_while(|token| token.span.end <= wanted.start);
        let tokens = tokens.take_while(|token| token.span.start < wanted.end);
        return Reader::new(part, wanted.start).read(tokens, words);
    };
    if statement.span.end <= wanted.start || wanted.end <= statement.span.start {
        return;
    }
    let mut local = Vec::new();
    Reader::new(part, 0).read(Lexer::new(part.text), &mut local);
    // What comes from a macro is coloured nowhere, and what two branches share once.
    let after = words.last().map_or(0, |word| word.span.end);
    words.extend(local.into_iter().filter_map(|word| {
        let span = part.place(word.span).filter(|span| span.start >= after)?;
        (wanted.start <= span.start && span.start < wanted.end).then_some(Word { span, ..word })
    }));
}

/// Reads tokens in order beside the names of the text.
struct Reader<'p> {
    text: &'p str,
    names: &'p Names,
    part: &'p Part<'p>,
    next_name: usize,
    next_instruction: usize,
}

impl<'p> Reader<'p> {
    fn new(part: &'p Part<'p>, from: u32) -> Self {
        let names = part.names;
        let next_name = names.occurrences().partition_point(|each| each.span.start < from.saturating_sub(1));
        let next_instruction = names.instructions().partition_point(|each| each.opcode.end < from);
        Self { text: part.text, names, part, next_name, next_instruction }
    }

    fn read(mut self, tokens: impl Iterator<Item = Token>, words: &mut Vec<Word>) {
        for token in tokens {
            if words.len() >= MAX_TOKENS {
                return;
            }
            let plain = |meaning| Word { span: token.span, meaning, modifiers: 0 };
            match token.kind {
                TokenKind::Name | TokenKind::Dotted => self.name(token.span, words),
                TokenKind::Integer | TokenKind::Float => words.push(plain(Meaning::Number)),
                TokenKind::String if self.is_on_one_line(token) => words.push(plain(Meaning::String)),
                TokenKind::LineComment => words.push(plain(Meaning::Comment)),
                TokenKind::BlockComment if self.is_on_one_line(token) => words.push(plain(Meaning::Comment)),
                kind if kind.is_dot_word() => {
                    let is_type = Type::parse(token.text(self.text)).is_some();
                    words.push(plain(if is_type { Meaning::Type } else { Meaning::Directive }));
                }
                _ => {}
            }
        }
    }

    fn is_on_one_line(&self, token: Token) -> bool {
        !token.text(self.text).contains(['\n', '\r'])
    }

    fn name(&mut self, span: Span, words: &mut Vec<Word>) {
        let instructions = self.names.instructions();
        while instructions.get(self.next_instruction).is_some_and(|each| each.opcode.start < span.start) {
            self.next_instruction += 1;
        }
        if instructions.get(self.next_instruction).is_some_and(|each| each.opcode == span) {
            return spelling(self.text, span, words);
        }
        let occurrences = self.names.occurrences();
        while occurrences.get(self.next_name).is_some_and(|each| each.span.start < span.start) {
            self.next_name += 1;
        }
        let Some(&occurrence) = occurrences.get(self.next_name).filter(|each| each.span.start == span.start)
        else {
            return;
        };
        let mut modifiers = if occurrence.declares.is_some() { DECLARATION } else { 0 };
        let meaning = match self.names.resolve(self.text, occurrence) {
            Some(symbol) => match self.names.declared()[symbol.declared as usize].kind {
                NameKind::Register => Meaning::Register,
                NameKind::Parameter => Meaning::Parameter,
                NameKind::Variable => Meaning::Variable,
                NameKind::Function | NameKind::Kernel => Meaning::Function,
                NameKind::Label | NameKind::Prototype | NameKind::Targets => Meaning::Label,
            },
            None if self.part.operand(occurrence.span.text(self.text)).is_some() => Meaning::Parameter,
            None if SpecialRegister::parse(span.text(self.text)).is_some() => {
                modifiers |= READ_ONLY;
                words.push(Word { span, meaning: Meaning::SpecialRegister, modifiers });
                return;
            }
            None => return,
        };
        words.push(Word { span: occurrence.span, meaning, modifiers });
    }
}

/// An opcode and its modifiers, of which types are told apart.
fn spelling(text: &str, span: Span, words: &mut Vec<Word>) {
    let spelled = span.text(text);
    let mut at = 0;
    while at < spelled.len() {
        let end = spelled[at + 1..].find('.').map_or(spelled.len(), |next| at + 1 + next);
        let meaning = match at {
            0 => Meaning::Mnemonic,
            _ if Type::parse(&spelled[at..end]).is_some() => Meaning::Type,
            _ => Meaning::Modifier,
        };
        let (start, end_byte) = (span.start + at as u32, span.start + end as u32);
        words.push(Word { span: Span::new(start, end_byte), meaning, modifiers: 0 });
        at = end;
    }
}

/// Words as distances from the one before, as the protocol has them.
fn encoded(document: &Document, words: &[Word]) -> Vec<SemanticToken> {
    let mut sweep = Sweep::new(&document.lines, &document.source.text, document.encoding);
    let mut tokens = Vec::with_capacity(words.len());
    let (mut line, mut column) = (0, 0);
    for word in words {
        let (start, end) = (sweep.position(word.span.start), sweep.position(word.span.end));
        if end.line != start.line || end.character <= start.character {
            continue;
        }
        let delta_line = start.line - line;
        let delta_start =
            if delta_line == 0 { start.character.saturating_sub(column) } else { start.character };
        (line, column) = (start.line, start.character);
        tokens.push(SemanticToken {
            delta_line,
            delta_start,
            length: end.character - start.character,
            token_type: word.meaning as u32,
            token_modifiers_bitset: word.modifiers,
        });
    }
    tokens
}

/// What was told last of a document, so that the next time only the difference is.
#[derive(Clone)]
pub struct Told {
    id: u64,
    tokens: Arc<Vec<SemanticToken>>,
}

impl Told {
    pub fn new(id: u64, tokens: Vec<SemanticToken>) -> Self {
        Self { id, tokens: Arc::new(tokens) }
    }

    pub fn full(&self) -> SemanticTokens {
        SemanticTokens { result_id: Some(self.id.to_string()), data: self.tokens.to_vec() }
    }

    /// What has changed since `before`, if that is what the editor has; else all.
    pub fn since(&self, before: Option<&Self>, editor_has: &str) -> SemanticTokensFullDeltaResult {
        let Some(before) = before.filter(|before| before.id.to_string() == editor_has) else {
            return SemanticTokensFullDeltaResult::Tokens(self.full());
        };
        let (old, new) = (&*before.tokens, &*self.tokens);
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let rest = old[same..].iter().rev().zip(new[same..].iter().rev());
        let same_end = rest.take_while(|(old, new)| old == new).count();
        let (deleted, data) = (old.len() - same - same_end, new[same..new.len() - same_end].to_vec());
        // The protocol counts numbers, of which each token has five.
        let edit = SemanticTokensEdit {
            start: 5 * same as u32,
            delete_count: 5 * deleted as u32,
            data: Some(data).filter(|data| !data.is_empty()),
        };
        let edits = if edit.delete_count == 0 && edit.data.is_none() { Vec::new() } else { vec![edit] };
        SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta {
            result_id: Some(self.id.to_string()),
            edits,
        })
    }
}
