//! MLIR: `llvm.inline_asm has_side_effects "…", "=r,r" %x : (i32) -> i32`, the same in the generic form, and
//! `nvvm.inline_ptx "…" ro(%x : i32) rw(%y : i32) -> i32`.

use ptx_syntax::Span;
use ptx_syntax::cuda::host::{
    Host, HostOperand, HostProblem, HostProblemKind, HostStatement, Hosted, TemplateBuilder,
};
use ptx_syntax::cuda::{CType, CudaFile, Template};

use crate::FrontEnd;
use crate::constraints::{LlvmStatement, Value, ctype};
use crate::scan::{Brackets, Kind, Token, decoded, parts, tokens};

/// The front end.
pub(crate) struct Mlir;

impl FrontEnd for Mlir {
    fn may_hold(&self, source: &str) -> bool {
        let has = |word: &[u8]| memchr::memmem::find(source.as_bytes(), word).is_some();
        has(b"llvm.inline_asm") || has(b"nvvm.inline_ptx")
    }

    fn find(&self, source: &str) -> Hosted {
        let (tokens, comments) = tokens(source, "//");
        let brackets = Brackets::of(source, &tokens);
        let mut statements = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            statements.extend(match token.span.text(source) {
                "llvm.inline_asm" => custom(source, &tokens, &brackets, at).map(LlvmStatement::into_host),
                "\"llvm.inline_asm\"" => {
                    generic(source, &tokens, &brackets, at).map(LlvmStatement::into_host)
                }
                "nvvm.inline_ptx" => inline_ptx(source, &tokens, &brackets, at),
                _ => None,
            });
        }
        Hosted { file: CudaFile::of_host(statements), documents: Vec::new(), comments }
    }
}

/// What attributes say of a statement.
#[derive(Default)]
struct Attributes {
    volatile: bool,
    problems: Vec<HostProblem>,
    named_dialect: Option<Span>,
}

impl Attributes {
    /// Takes the attribute at `at`.
    fn take(&mut self, source: &str, tokens: &[Token], at: usize) {
        let token = tokens[at];
        if token.is(source, "has_side_effects") {
            let value =
                tokens.get(at + 2).filter(|_| tokens.get(at + 1).is_some_and(|next| next.is(source, "=")));
            self.volatile = value.is_none_or(|value| !value.is(source, "false"));
        } else if token.is(source, "asm_dialect") {
            match tokens.get(at + 2).map_or("", |value| value.span.text(source)) {
                "intel" | "1" => {
                    self.problems.push(HostProblem { kind: HostProblemKind::IntelDialect, span: token.span });
                }
                _ => self.named_dialect = Some(token.span),
            }
        }
    }
}

fn custom(source: &str, tokens: &[Token], brackets: &Brackets, at: usize) -> Option<LlvmStatement> {
    let mut attributes = Attributes::default();
    let mut next = at + 1;
    // Attributes are words with values in marks.
    while let Some(token) = tokens.get(next).filter(|token| token.kind != Kind::Text) {
        if token.span.text(source).starts_with(['%', '(']) || next > at + 40 {
            return None;
        }
        attributes.take(source, tokens, next);
        next += 1;
    }
    let template = *tokens.get(next)?;
    tokens.get(next + 1).filter(|comma| comma.is(source, ","))?;
    let constraints = *tokens.get(next + 2).filter(|token| token.kind == Kind::Text)?;
    let colon = next + 3 + tokens[next + 3..].iter().take(512).position(|token| token.is(source, ":"))?;
    let values = parts(source, &tokens[next + 3..colon]);
    finish(source, tokens, brackets, at, attributes, template, constraints, &values, colon)
}

fn generic(source: &str, tokens: &[Token], brackets: &Brackets, at: usize) -> Option<LlvmStatement> {
    let open = tokens.get(at + 1).filter(|open| open.is(source, "(")).map(|_| at + 1)?;
    let close = brackets.closing(open)?;
    let values = parts(source, &tokens[open + 1..close]);
    let brace = close + 1 + tokens[close + 1..].iter().take(2).position(|token| token.is(source, "{"))?;
    let end = brackets.closing(brace)?;
    let (mut template, mut constraints) = (None, None);
    let mut attributes = Attributes::default();
    for index in brace + 1..end {
        attributes.take(source, tokens, index);
        let text = tokens.get(index + 2).copied().filter(|token| token.kind == Kind::Text);
        if tokens[index].is(source, "asm_string") {
            template = text;
        } else if tokens[index].is(source, "constraints") {
            constraints = text;
        }
    }
    let colon = end + 1 + tokens[end + 1..].iter().take(3).position(|token| token.is(source, ":"))?;
    finish(source, tokens, brackets, at, attributes, template?, constraints?, &values, colon)
}

#[expect(clippy::too_many_arguments, reason = "what two forms of one statement have in common")]
fn finish(
    source: &str,
    tokens: &[Token],
    brackets: &Brackets,
    at: usize,
    mut attributes: Attributes,
    template: Token,
    constraints: Token,
    values: &[Span],
    colon: usize,
) -> Option<LlvmStatement> {
    let (types, results, end) = signature(source, tokens, brackets, colon)?;
    let template = decoded(source, template);
    if let Some(span) = attributes.named_dialect.filter(|_| template.text.contains('{')) {
        attributes.problems.push(HostProblem { kind: HostProblemKind::DialectWithBraces, span });
    }
    let value = |(index, span): (usize, &Span)| Value {
        span: *span,
        ctype: types.get(index).cloned().unwrap_or_default(),
        constant: false,
    };
    Some(LlvmStatement {
        host: Host::Mlir,
        span: tokens[at].span.to(tokens[end].span),
        keyword: tokens[at].span,
        volatile: attributes.volatile,
        template,
        constraints: Some(decoded(source, constraints)),
        results,
        values: Some(values.iter().enumerate().map(value).collect()),
        is_unused: false,
        problems: attributes.problems,
    })
}

/// The types of a signature, `: (i32, f32) -> i32`, with the results where they are known, and where it ends.
fn signature(
    source: &str,
    tokens: &[Token],
    brackets: &Brackets,
    colon: usize,
) -> Option<(Vec<CType>, Option<Vec<CType>>, usize)> {
    let open = tokens.get(colon + 1).filter(|open| open.is(source, "(")).map(|_| colon + 1)?;
    let close = brackets.closing(open)?;
    let types = parts(source, &tokens[open + 1..close]).iter().map(|part| ctype(part.text(source))).collect();
    let is_arrow = |at: usize| {
        tokens.get(at).is_some_and(|dash| dash.span.text(source) == "-")
            && tokens.get(at + 1).is_some_and(|mark| mark.is(source, ">"))
    };
    if !is_arrow(close + 1) {
        return Some((types, Some(Vec::new()), close));
    }
    let first = close + 3;
    let name = tokens.get(first)?.span.text(source);
    let results = match name {
        "(" => brackets.closing(first).filter(|end| *end == first + 1).map(|_| Vec::new()),
        "!llvm.struct" => {
            // `!llvm.struct<(i32, i32)>`
            let open = first + 2;
            let close = brackets.closing(open);
            close.map(|close| {
                parts(source, &tokens[open + 1..close]).iter().map(|part| ctype(part.text(source))).collect()
            })
        }
        "!llvm.void" => Some(Vec::new()),
        name => Some(ctype(name)).filter(|known| *known != CType::Unknown).map(|known| vec![known]),
    };
    Some((types, results, first))
}

/// `nvvm.inline_ptx`: the compiler makes the constraints from the types.
fn inline_ptx(source: &str, tokens: &[Token], brackets: &Brackets, at: usize) -> Option<HostStatement> {
    let template = tokens.get(at + 1).copied().filter(|token| token.kind == Kind::Text)?;
    let (mut read, mut both, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let mut next = at + 2;
    let mut end = at + 1;
    while let Some(token) = tokens.get(next) {
        let group = match token.span.text(source) {
            "ro" => &mut read,
            "rw" => &mut both,
            "-" => {
                let rest = &tokens[(next + 2).min(tokens.len())..];
                let count = rest
                    .iter()
                    .enumerate()
                    .take_while(|(index, token)| (index % 2 == 1) == token.is(source, ","))
                    .filter(|(index, token)| {
                        *index % 2 == 0 && ctype(token.span.text(source)) != CType::Unknown
                    })
                    .count();
                written.extend(
                    rest.iter()
                        .step_by(2)
                        .take(count)
                        .map(|token| (token.span, ctype(token.span.text(source)))),
                );
                end = (next + 1 + count * 2).min(tokens.len() - 1);
                break;
            }
            _ => break,
        };
        let open = tokens.get(next + 1).filter(|open| open.is(source, "(")).map(|_| next + 1)?;
        let close = brackets.closing(open)?;
        let colon = open + tokens[open..close].iter().position(|token| token.is(source, ":"))?;
        let values = parts(source, &tokens[open + 1..colon]);
        let types = parts(source, &tokens[colon + 1..close]);
        group.extend(values.into_iter().zip(types).map(|(value, ty)| (value, ctype(ty.text(source)))));
        end = close;
        next = close + 1;
    }
    let groups = PtxOperands { written: Some(written), both: Some(both), read: Some(read) };
    let span = tokens[at].span.to(tokens[end].span);
    Some(groups.statement(span, tokens[at].span, &decoded(source, template)))
}

/// The operands of `nvvm.inline_ptx`, which have types and no constraints; a group of which nothing is known is `None`.
pub(crate) struct PtxOperands {
    pub written: Option<Vec<(Span, CType)>>,
    pub both: Option<Vec<(Span, CType)>>,
    pub read: Option<Vec<(Span, CType)>>,
}

impl PtxOperands {
    /// The statement, with the constraints that the compiler makes of the types.
    pub fn statement(self, span: Span, keyword: Span, template: &Template) -> HostStatement {
        let Self { written, both, read } = self;
        // Of what is not known the template says where it is, which is all that a wildcard needs.
        let complete = written.is_some() && both.is_some() && read.is_some();
        let (written, both, read) =
            (written.unwrap_or_default(), both.unwrap_or_default(), read.unwrap_or_default());
        let operand = |mode: &'static str| {
            move |(span, ctype): &(Span, CType)| {
                let letter = match ctype.size() {
                    Some(2) => "h",
                    Some(4) if matches!(ctype, CType::Float { .. }) => "f",
                    Some(4) => "r",
                    Some(8) => "l",
                    _ => "",
                };
                HostOperand {
                    constraint: format!("{mode}{letter}"),
                    span: *span,
                    // The type of a result is no variable that it is stored to.
                    expression: if mode == "=" { Span::at(span.start) } else { *span },
                    ctype: ctype.clone(),
                    constant: false,
                    unused: false,
                }
            }
        };
        let counts = (written.len(), both.len(), read.len());
        let outputs: Vec<_> = written.iter().map(operand("=")).chain(both.iter().map(operand("+"))).collect();
        let inputs: Vec<_> = read.iter().map(operand("")).collect();
        HostStatement {
            host: Host::InlinePtx,
            span,
            keyword,
            volatile: true,
            template: with_names(template, complete.then_some(counts)),
            outputs: if complete { outputs } else { Vec::new() },
            inputs: if complete { inputs } else { Vec::new() },
            memory: true,
            complete: true,
            problems: Vec::new(),
        }
    }
}

/// `{$w0}`, `{$rw0}` and `{$r0}` as `%0`, in this order; without counts nobody knows which. A number alone has the order of
/// its time, which is not known.
fn with_names(from: &Template, counts: Option<(usize, usize, usize)>) -> Template {
    let text = &from.text;
    let mut out = TemplateBuilder::default();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let plain = memchr::memmem::find(rest.as_bytes(), b"{$").into_iter();
        let plain = plain.chain(memchr::memchr2(b'%', b'$', rest.as_bytes())).min().unwrap_or(rest.len());
        if plain > 0 {
            out.take(from, Span::new(at as u32, (at + plain) as u32));
            at += plain;
            continue;
        }
        let place = |length: usize| from.map.span(Span::new(at as u32, (at + length) as u32));
        let Some(length) = rest.strip_prefix("{$").and_then(|_| rest.find('}')).map(|end| end + 1) else {
            match rest.as_bytes()[0] {
                b'%' if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => out.replace("%%", place(1)),
                _ => out.wildcard(place(1)),
            }
            at += 1;
            continue;
        };
        let name = &rest[2..length - 1];
        let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let index: Option<usize> = name[kind.len()..].parse().ok();
        let first = counts.and_then(|(written, both, read)| match kind {
            "w" => Some((0, written)),
            "rw" => Some((written, both)),
            "r" => Some((written + both, read)),
            _ => None,
        });
        match first.zip(index) {
            // One past the last has no operand, which is told.
            Some(((first, count), index)) if index < count => {
                out.replace(&format!("%{}", first + index), place(length));
            }
            Some(_) => {
                let (written, both, read) = counts.unwrap_or_default();
                out.replace(&format!("%{}", written + both + read), place(length));
            }
            None => out.wildcard(place(length)),
        }
        at += length;
    }
    out.finish()
}
