//! Python: calls that take inline PTX, and texts of PTX and CUDA C++ in strings.

mod calls;
mod lex;
mod strings;
mod tokens;

use ptx_syntax::cuda::CudaFile;
use ptx_syntax::cuda::host::{Document, DocumentKind, Hosted};

use crate::FrontEnd;
use crate::constraints::LlvmStatement;
use crate::header::{TARGET, VERSION};
use calls::Call;
use tokens::{Kind, Tokens};

/// The front end.
pub(crate) struct Python;

/// What a file has to have one of.
const WORDS: [&[u8]; 9] = [
    b"inline_asm",
    b"inline_ptx",
    b"InlineAsm",
    b".version",
    b"RawKernel",
    b"RawModule",
    b"SourceModule",
    b"load_inline",
    b"compile_kernel",
];

/// Calls that take CUDA C++, with the keyword of its parameter and whether it is the first.
const CUDA: [(&str, &str, bool); 5] = [
    ("RawKernel", "code", true),
    ("RawModule", "code", true),
    ("SourceModule", "source", true),
    ("load_inline", "cuda_sources", false),
    ("_compile_kernel", "kernel_source", true),
];

impl FrontEnd for Python {
    fn may_hold(&self, source: &str) -> bool {
        WORDS.iter().any(|word| memchr::memmem::find(source.as_bytes(), word).is_some())
    }

    fn find(&self, source: &str) -> Hosted {
        let tokens = Tokens::of(source);
        let (mut statements, mut documents) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < tokens.all.len() {
            if tokens.all[at].kind == Kind::Text {
                let end = tokens.end_of_texts(at);
                documents.extend(module(&tokens, at, end));
                at = end;
                continue;
            }
            if let Some(call) = Call::at(&tokens, at) {
                match call.name {
                    "inline_asm_elementwise" => statements.extend(call.triton()),
                    "inline_asm" => statements.extend(call.mlir().map(LlvmStatement::into_host)),
                    "InlineAsm" => statements.extend(call.llvmlite().map(LlvmStatement::into_host)),
                    name if name.contains("inline_ptx") => statements.extend(call.inline_ptx()),
                    name => {
                        let known = CUDA.iter().find(|(known, ..)| *known == name);
                        documents
                            .extend(known.and_then(|(_, keyword, is_first)| cuda(&call, keyword, *is_first)));
                    }
                }
            }
            at += 1;
        }
        Hosted { file: CudaFile::of_host(statements), documents, comments: tokens.comments }
    }
}

/// A PTX module in strings that follow each other.
fn module(tokens: &Tokens<'_>, at: usize, end: usize) -> Option<Document> {
    let texts = &tokens.all[at..end];
    let has = |word: &str| {
        let mut texts = texts.iter().map(|text| text.span.text(tokens.source).as_bytes());
        texts.any(|text| memchr::memmem::find(text, word.as_bytes()).is_some())
    };
    // What a method or `%` makes of a text is another one.
    if !has(VERSION) || !has(TARGET) || is_pattern(tokens, end) {
        return None;
    }
    crate::module(strings::joined(tokens.source, texts))
}

/// Whether something is put into the texts before `end`.
fn is_pattern(tokens: &Tokens<'_>, end: usize) -> bool {
    let method = tokens.text(end + 1);
    tokens.is(end, "%")
        || tokens.is(end, ".")
            && matches!(method, "format" | "format_map" | "replace" | "substitute" | "join")
}

/// CUDA C++ that a call gets.
fn cuda(call: &Call<'_>, keyword: &str, is_first: bool) -> Option<Document> {
    let value = call.argument(is_first.then_some(0), keyword)?;
    let template = call.text(value)?;
    (!template.has_wildcards()).then_some(Document { kind: DocumentKind::Cuda, template })
}
