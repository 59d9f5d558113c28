//! Where the kernels of a source are, by the shape of their heads.

use super::Kernel;
use super::scan::{Kind, Scanner, Token};
use crate::Span;

const MARK: &str = "__global__";

/// How many tokens the head of a kernel may have before its parameters.
const MAX_HEAD: usize = 200;

/// The kernels that a source defines.
pub(super) fn find(source: &str) -> Vec<Kernel> {
    if memchr::memmem::find(source.as_bytes(), MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    let tokens: Vec<Token> = Scanner::file(source).filter(|token| token.kind != Kind::Directive).collect();
    let closing = partners(source, &tokens);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.is(source, MARK)
            && let Some((kernel, next)) = kernel(source, &tokens, &closing, at - 1)
        {
            found.push(kernel);
            at = next;
        }
    }
    found
}

/// The kernel whose `__global__` is at `start`, and the index after it; none for a declaration.
fn kernel(source: &str, tokens: &[Token], closing: &[usize], start: usize) -> Option<(Kernel, usize)> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.is(source, text));
    let after = |open: usize| closing.get(open).filter(|close| **close > open).map(|close| close + 1);
    let mut at = start + 1;
    let name = loop {
        if at > start + MAX_HEAD || is(at, ";") || is(at, "{") {
            return None;
        }
        let token = tokens.get(at)?;
        if token.kind == Kind::Identifier && is(at + 1, "(") {
            // `__launch_bounds__(128)` and its kin.
            if !token.span.text(source).starts_with("__") {
                break token.span;
            }
            at = after(at + 1)?;
            continue;
        }
        at += 1;
    };
    at = after(at + 1)?;
    if !is(at, "{") {
        return None;
    }
    let end = after(at)?;
    let span = Span::new(tokens[start].span.start, tokens[end - 1].span.end);
    Some((Kernel { name, span }, end))
}

/// For each opening bracket the index of its partner; 0 for those without, and for all other tokens.
fn partners(source: &str, tokens: &[Token]) -> Vec<usize> {
    let mut closing = vec![0; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Punctuator) {
        match token.span.text(source) {
            "(" | "{" => open.push(at),
            ")" | "}" => {
                if let Some(open) = open.pop() {
                    closing[open] = at;
                }
            }
            _ => {}
        }
    }
    closing
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn heads_of_kernels() {
        let source = "// __global__ void no() {}\n\
            extern \"C\" __global__ void __launch_bounds__(128, 2) a(int *p) { if (p) { *p = 1; } }\n\
            template <int N> static __global__ void b(float (&x)[N]) {}\n\
            __global__ void c(int);\n\
            #define K __global__\n\
            void __global__ d() { __global__; }\n\
            __global__ void e() {";
        let found: Vec<&str> = find(source).iter().map(|kernel| kernel.name.text(source)).collect();
        assert_eq!(found, ["a", "b", "d"]);
        assert!(find(source)[0].span.text(source).ends_with("*p = 1; } }"));
    }

    #[test]
    fn many_marks_without_kernels() {
        assert!(find(&"__global__ ".repeat(100_000)).is_empty());
        assert!(find(&"__global__ void k(".repeat(20_000)).is_empty());
    }
}
