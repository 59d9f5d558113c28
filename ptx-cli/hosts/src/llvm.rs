//! LLVM IR: `call i32 asm sideeffect "…", "=r,r"(i32 %x)`.

use std::collections::HashSet;

use ptx_syntax::Span;
use ptx_syntax::cuda::host::{Host, HostProblem, HostProblemKind, Hosted};
use ptx_syntax::cuda::{CType, CudaFile};

use crate::FrontEnd;
use crate::constraints::{LlvmStatement, Value, ctype};
use crate::scan::{Brackets, Kind, Token, decoded, parts, tokens};

/// The front end.
pub(crate) struct LlvmIr;

impl FrontEnd for LlvmIr {
    fn may_hold(&self, source: &str) -> bool {
        let triple = memchr::memmem::find(source.as_bytes(), b"target triple = \"");
        // What is for another machine is no PTX, whatever it looks like.
        let is_ours = triple.is_none_or(|at| source[at + 17..].starts_with("nvptx"));
        is_ours && memchr::memmem::find(source.as_bytes(), b" asm ").is_some()
    }

    fn find(&self, source: &str) -> Hosted {
        let (tokens, comments) = tokens(source, ";");
        let brackets = Brackets::of(source, &tokens);
        let pure = pure_groups(source, &tokens, &brackets);
        let begin = |(index, token): (usize, &Token)| token.is(source, "asm").then_some(index);
        let statements = tokens.iter().enumerate().filter_map(begin);
        let statements = statements.filter_map(|at| statement(source, &tokens, &brackets, at, &pure));
        let file = CudaFile::of_host(statements.map(LlvmStatement::into_host).collect());
        Hosted { file, documents: Vec::new(), comments }
    }
}

/// The attribute groups that say that a call does nothing to memory.
fn pure_groups<'s>(source: &'s str, tokens: &[Token], brackets: &Brackets) -> HashSet<&'s str> {
    let mut groups = HashSet::new();
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.is(source, "attributes")) {
        let name = tokens.get(index + 1).map_or("", |name| name.span.text(source));
        let Some(close) = brackets.closing(index + 3) else { continue };
        if is_pure(token.span.to(tokens[close].span).text(source)) {
            groups.insert(name);
        }
    }
    groups
}

fn is_pure(attributes: &str) -> bool {
    attributes.contains("memory(none)") || attributes.contains("readnone")
}

fn statement(
    source: &str,
    tokens: &[Token],
    brackets: &Brackets,
    at: usize,
    pure: &HashSet<&str>,
) -> Option<LlvmStatement> {
    let keyword = tokens[at].span;
    let mut next = at + 1;
    let (mut sideeffect, mut problems) = (false, Vec::new());
    while let Some(token) = tokens.get(next).filter(|token| token.kind == Kind::Word) {
        sideeffect |= token.is(source, "sideeffect");
        if token.is(source, "inteldialect") {
            problems.push(HostProblem { kind: HostProblemKind::IntelDialect, span: token.span });
        }
        next += 1;
    }
    let is_text = |token: &&Token| token.kind == Kind::Text;
    let template = *tokens.get(next).filter(is_text)?;
    let comma = tokens.get(next + 1)?.is(source, ",");
    let constraints = *tokens.get(next + 2).filter(|_| comma).filter(is_text)?;
    let open = next + 3;
    tokens.get(open).filter(|token| token.is(source, "("))?;
    let close = brackets.closing(open)?;
    let values = parts(source, &tokens[open + 1..close]);
    // Attributes and metadata follow on the line.
    let line = line_from(source, tokens[close].span.end);
    let is_in_group = || line.split(|c: char| c.is_whitespace() || c == ',').any(|word| pure.contains(word));
    Some(LlvmStatement {
        host: Host::LlvmIr,
        span: keyword.to(tokens[close].span),
        keyword,
        // A call may do anything to memory unless an attribute says that it does not.
        volatile: sideeffect || !(is_pure(line) || is_in_group()),
        template: decoded(source, template),
        constraints: Some(decoded(source, constraints)),
        results: results(source, tokens, brackets, at),
        values: Some(values.into_iter().map(|span| value(source, span)).collect()),
        is_unused: false,
        problems,
    })
}

fn line_from(source: &str, at: u32) -> &str {
    source[at as usize..].lines().next().unwrap_or("")
}

/// A value with its type: `i32 noundef %x`.
fn value(source: &str, span: Span) -> Value {
    let text = span.text(source);
    let mut words = text.split_whitespace();
    let ctype = if text.starts_with('<') { CType::Unknown } else { ctype(words.next().unwrap_or("")) };
    let last = text.split_whitespace().last().unwrap_or("");
    let start = span.end - last.len() as u32;
    Value { span: Span::new(start, span.end), ctype, constant: !last.starts_with(['%', '@']) }
}

/// The results by the type before `asm`: `void`, `i32`, `{ i32, i32 }`.
fn results(source: &str, tokens: &[Token], brackets: &Brackets, at: usize) -> Option<Vec<CType>> {
    let last = *tokens.get(at.checked_sub(1)?)?;
    match last.span.text(source) {
        "void" => Some(Vec::new()),
        "}" => {
            let open = brackets.opening(at - 1)?;
            let inner = parts(source, &tokens[open + 1..at - 1]);
            Some(inner.into_iter().map(|part| ctype(part.text(source))).collect())
        }
        // The end of a vector, which is one result.
        ">" => Some(vec![CType::Unknown]),
        // Of a type of its own it is not known how many values it has.
        name => Some(ctype(name)).filter(|ctype| *ctype != CType::Unknown).map(|ctype| vec![ctype]),
    }
}
