//! Rust: `asm!("add.u32 {0}, {1}, {1};", out(reg32) y, in(reg32) x)` for nvptx64, and PTX modules in strings.
//!
//! `out` is written early, `lateout` is not (the Rust reference, "Inline assembly"). Register classes are those of nvptx64,
//! which no other target has; a statement with another class is one of another target.

use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};
use ptx_syntax::Span;
use ptx_syntax::cuda::host::{Document, Host, HostOperand, HostStatement, Hosted, TemplateBuilder};
use ptx_syntax::cuda::{CType, CudaFile, Template, WILDCARD};

use crate::FrontEnd;
use crate::header::{TARGET, VERSION};

/// The front end.
pub(crate) struct Rust;

impl FrontEnd for Rust {
    fn may_hold(&self, source: &str) -> bool {
        let has = |word: &str| memchr::memmem::find(source.as_bytes(), word.as_bytes()).is_some();
        has("asm!") || (has(VERSION) && has(TARGET))
    }

    fn find(&self, source: &str) -> Hosted {
        let mut statements = Vec::new();
        let mut documents = Vec::new();
        if let Ok(stream) = TokenStream::from_str(source) {
            let shift = if source.starts_with('\u{feff}') { 3 } else { 0 };
            look(source, stream, shift, &mut statements, &mut documents);
        }
        // Each file that was read is remembered for the places of its tokens.
        proc_macro2::extra::invalidate_current_thread_spans();
        statements.sort_by_key(|statement| statement.span);
        documents.sort_by_key(|document| document.template.span);
        Hosted { file: CudaFile::of_host(statements), documents, comments: comments(source) }
    }
}

/// The comments that are a line or end one; `//` in a string on the same line may be taken for one.
fn comments(source: &str) -> Vec<Span> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in source.split_inclusive('\n') {
        if let Some(at) = line.find("// ptx-allow").or_else(|| line.find("//ptx-allow")) {
            let end = start + line.trim_end().len();
            found.push(Span::new((start + at) as u32, end as u32));
        }
        start += line.len();
    }
    found
}

/// Goes through all groups, without recursion.
fn look(
    source: &str,
    stream: TokenStream,
    shift: u32,
    out: &mut Vec<HostStatement>,
    documents: &mut Vec<Document>,
) {
    let mut waiting = vec![(stream, true)];
    while let Some((stream, is_literal)) = waiting.pop() {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            let group = match token {
                TokenTree::Group(group) => group,
                // What a method makes of a text is another one.
                TokenTree::Literal(_) if is_literal && !is_replaced(&tokens, index) => {
                    documents.extend(module(source, std::slice::from_ref(token), shift));
                    continue;
                }
                _ => continue,
            };
            let is_mark = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
            let called = match index.checked_sub(2).map(|name| &tokens[name]) {
                Some(TokenTree::Ident(name)) if is_mark(tokens.get(index - 1)) => name.to_string(),
                _ => String::new(),
            };
            match called.as_str() {
                "asm" => {
                    let keyword = place(&tokens[index - 2], shift);
                    let span = keyword.to(place(token, shift));
                    let arguments: Vec<TokenTree> = group.stream().into_iter().collect();
                    let reader = Reader { source, shift };
                    out.extend(reader.statement(keyword, span, &arguments));
                }
                "concat" => {
                    let parts: Vec<TokenTree> = group.stream().into_iter().collect();
                    documents.extend(module(source, &parts, shift));
                }
                // What a macro makes of a text is its own affair: `format!` has a meaning of its own for braces.
                name => waiting.push((group.stream(), is_literal && matches!(name, "" | "vec"))),
            }
        }
    }
}

/// Whether `.replace(…)` or its like follows the token at `at`.
fn is_replaced(tokens: &[TokenTree], at: usize) -> bool {
    match tokens.get(at + 1..at + 3) {
        Some([TokenTree::Punct(mark), TokenTree::Ident(name)]) => {
            mark.as_char() == '.' && name.to_string().starts_with("replace")
        }
        _ => false,
    }
}

/// A PTX module in a string, or in strings with commas between them.
fn module(source: &str, parts: &[TokenTree], shift: u32) -> Option<Document> {
    let has = |word: &str| {
        let in_part = |part: &TokenTree| {
            memchr::memmem::find(place(part, shift).text(source).as_bytes(), word.as_bytes()).is_some()
        };
        parts.iter().any(in_part)
    };
    if !has(VERSION) || !has(TARGET) {
        return None;
    }
    let mut out = TemplateBuilder::default();
    for part in parts {
        match part {
            TokenTree::Literal(literal) => {
                let text = string(&literal.to_string(), place(part, shift), source)?;
                out.take(&text, Span::new(0, text.text.len() as u32));
            }
            TokenTree::Punct(mark) if mark.as_char() == ',' => {}
            _ => return None,
        }
    }
    crate::module(out.finish())
}

fn place(token: &TokenTree, shift: u32) -> Span {
    let range = token.span().byte_range();
    Span::new(range.start as u32 + shift, range.end as u32 + shift)
}

struct Reader<'s> {
    source: &'s str,
    shift: u32,
}

/// An operand as it is written.
struct Written {
    name: Option<String>,
    output: Option<String>,
    input: Option<String>,
    span: Span,
    expression: Span,
    constant: bool,
}

impl Reader<'_> {
    fn statement(&self, keyword: Span, span: Span, arguments: &[TokenTree]) -> Option<HostStatement> {
        let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
        let mut templates = Vec::new();
        let mut operands = Vec::new();
        let mut is_pure = false;
        for argument in arguments.split(is_comma).filter(|argument| !argument.is_empty()) {
            match argument {
                [TokenTree::Literal(literal)] => {
                    let place = place(&argument[0], self.shift);
                    templates.push(string(&literal.to_string(), place, self.source)?);
                }
                [TokenTree::Ident(word), TokenTree::Group(options)] if word == "options" => {
                    is_pure |= options.stream().into_iter().any(|option| option.to_string() == "pure");
                }
                [TokenTree::Ident(word), TokenTree::Group(_)] if word == "clobber_abi" => {}
                _ => operands.push(self.operand(argument)?),
            }
        }
        if templates.is_empty() {
            return None;
        }
        Some(assembled(keyword, span, &templates, operands, is_pure))
    }

    /// `name = inout(reg32) a => b`; `None` where it is none of nvptx64.
    fn operand(&self, argument: &[TokenTree]) -> Option<Written> {
        let whole = place(argument.first()?, self.shift).to(place(argument.last()?, self.shift));
        let (name, rest) = match argument {
            [TokenTree::Ident(name), TokenTree::Punct(mark), rest @ ..] if mark.as_char() == '=' => {
                (Some(name.to_string()), rest)
            }
            _ => (None, argument),
        };
        let TokenTree::Ident(kind) = rest.first()? else { return None };
        let kind = kind.to_string();
        let expression = |tokens: &[TokenTree]| match tokens {
            [] => Span::at(whole.end),
            [first, .., last] => place(first, self.shift).to(place(last, self.shift)),
            [one] => place(one, self.shift),
        };
        if matches!(kind.as_str(), "const" | "sym" | "label") {
            let input = Some("n".to_owned());
            let expression = expression(&rest[1..]);
            return Some(Written { name, output: None, input, span: whole, expression, constant: true });
        }
        let TokenTree::Group(class) = rest.get(1)? else { return None };
        let letter = match class.stream().to_string().as_str() {
            "reg16" => "h",
            "reg32" => "r",
            "reg64" => "l",
            _ => return None,
        };
        // An output that is dropped has no expression.
        let value = &rest[2..];
        let value = if matches!(value, [TokenTree::Ident(word)] if word == "_") { &[] } else { value };
        let (output, input) = match kind.as_str() {
            "in" => (None, Some(letter.to_owned())),
            "out" => (Some(format!("=&{letter}")), None),
            "lateout" => (Some(format!("={letter}")), None),
            "inout" => (Some(format!("+&{letter}")), None),
            "inlateout" => (Some(format!("+{letter}")), None),
            _ => return None,
        };
        Some(Written { name, output, input, span: whole, expression: expression(value), constant: false })
    }
}

fn assembled(
    keyword: Span,
    span: Span,
    templates: &[Template],
    operands: Vec<Written>,
    is_pure: bool,
) -> HostStatement {
    // Outputs have the first numbers.
    let outputs = operands.iter().filter(|operand| operand.output.is_some()).count();
    let (mut output, mut input) = (0, outputs);
    let mut numbers = Vec::new();
    for operand in &operands {
        let next = if operand.output.is_some() { &mut output } else { &mut input };
        numbers.push((operand.name.clone(), *next));
        *next += 1;
    }
    let mut builder = TemplateBuilder::default();
    let mut positional = 0;
    for (index, template) in templates.iter().enumerate() {
        if index > 0 {
            builder.replace("\n", Span::at(template.span.start));
        }
        converted(template, &numbers, &mut positional, &mut builder);
    }
    let made = |constraint: String, of: &Written| HostOperand {
        constraint,
        span: of.span,
        expression: of.expression,
        ctype: CType::Unknown,
        constant: of.constant,
        unused: false,
    };
    HostStatement {
        host: Host::Rust,
        span,
        keyword,
        volatile: !is_pure,
        template: builder.finish(),
        outputs: operands.iter().filter_map(|each| Some(made(each.output.clone()?, each))).collect(),
        inputs: operands.iter().filter_map(|each| Some(made(each.input.clone()?, each))).collect(),
        memory: !is_pure,
        complete: true,
        problems: Vec::new(),
    }
}

/// Writes a template of Rust's as one of CUDA C++: `{}`, `{1}` and `{name}` as `%0`, `{{` as `{`.
fn converted(
    from: &Template,
    numbers: &[(Option<String>, usize)],
    next: &mut usize,
    out: &mut TemplateBuilder,
) {
    let text = &from.text;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let plain = memchr::memchr3(b'{', b'}', b'%', rest.as_bytes()).unwrap_or(rest.len());
        if plain > 0 {
            out.take(from, Span::new(at as u32, (at + plain) as u32));
            at += plain;
            continue;
        }
        let place = |length: usize| from.map.span(Span::new(at as u32, (at + length) as u32));
        at += match rest.as_bytes() {
            [b'%', ..] => {
                out.replace("%%", place(1));
                1
            }
            [b'{', b'{', ..] => {
                out.replace("{", place(2));
                2
            }
            [b'}', b'}', ..] => {
                out.replace("}", place(2));
                2
            }
            [b'{', ..] => {
                let length = rest.find('}').map_or(rest.len(), |end| end + 1);
                let name = rest[1..length].trim_end_matches('}').split(':').next().unwrap_or("").trim();
                let number = match name.parse::<usize>() {
                    Ok(index) => numbers.get(index).map(|(_, number)| *number),
                    Err(_) if name.is_empty() => {
                        *next += 1;
                        numbers.get(*next - 1).map(|(_, number)| *number)
                    }
                    Err(_) => numbers
                        .iter()
                        .find(|(known, _)| known.as_deref() == Some(name))
                        .map(|(_, number)| *number),
                };
                match number {
                    Some(number) => out.replace(&format!("%{number}"), place(length)),
                    // rustc says what is wrong.
                    None => out.wildcard(place(length)),
                }
                length
            }
            _ => {
                out.wildcard(place(1));
                1
            }
        };
    }
}

/// The characters of a string literal; `None` where it is another literal.
fn string(literal: &str, place: Span, source: &str) -> Option<Template> {
    let text = place.text(source);
    // Where the places do not fit, nothing is said.
    if text != literal {
        return None;
    }
    let mut out = TemplateBuilder::default();
    // Bytes, and what C reads.
    let prefix = text.bytes().take_while(|byte| matches!(byte, b'b' | b'c')).count();
    let text = &text[prefix..];
    let place = Span::new(place.start + prefix as u32, place.end);
    if let Some(rest) = text.strip_prefix('r') {
        let marks = rest.bytes().take_while(|byte| *byte == b'#').count();
        let inner = rest.get(marks + 1..rest.len().checked_sub(marks + 1)?)?;
        out.copy(inner, place.start + 2 + marks as u32);
        return Some(out.finish());
    }
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let start = place.start + 1;
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if plain > 0 {
            out.copy(&rest[..plain], start + at as u32);
            at += plain;
            continue;
        }
        let (character, length) = escape(&rest[1..]);
        let span = Span::new(start + at as u32, start + (at + 1 + length) as u32);
        if let Some(character) = character {
            out.replace(character.encode_utf8(&mut [0; 4]), span);
        }
        at += 1 + length;
    }
    Some(out.finish())
}

/// The character of an escape, if it stands for one, and how many bytes follow the `\`.
fn escape(rest: &str) -> (Option<char>, usize) {
    let number = |digits: Option<&str>| u32::from_str_radix(digits?, 16).ok().and_then(char::from_u32);
    match rest.chars().next() {
        Some('n') => (Some('\n'), 1),
        Some('t') => (Some('\t'), 1),
        Some('r') => (Some('\r'), 1),
        Some('0') => (Some('\0'), 1),
        Some('x') => (number(rest.get(1..3)).or(Some(WILDCARD)), 3.min(rest.len())),
        Some('u') => {
            let end = rest.find('}').unwrap_or(rest.len() - 1);
            (number(rest.get(2..end)).or(Some(WILDCARD)), end + 1)
        }
        Some('\n' | '\r') => (None, rest.len() - rest.trim_start().len()),
        Some(other) => (Some(other), other.len_utf8()),
        None => (None, 0),
    }
}
