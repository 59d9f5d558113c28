//! The PTX in a document: all of a PTX file, and each asm template of CUDA C++.

use std::borrow::Cow;

use ptx_syntax::Span;
use ptx_syntax::cuda::{self, AsmStatement, CudaFile};
use ptx_syntax::names::{Names, Occurrence, Symbol};

use super::document::Document;
use crate::source::Kind;

/// A CUDA source, and the templates of its statements as PTX.
#[derive(Default)]
pub struct Cuda {
    pub file: CudaFile,
    templates: Vec<Template>,
}

/// The template of a statement, of the same length as its decoded text.
struct Template {
    text: String,
    names: Names,
}

impl Cuda {
    pub fn new(source: &str) -> Self {
        let file = cuda::extract(source);
        let templates = file.statements.iter().map(|statement| {
            // What macros stand for is read where it is written.
            let text =
                if statement.used_at.is_some() { String::new() } else { as_ptx(statement).into_owned() };
            let names = Names::new(&text);
            Template { text, names }
        });
        let templates = templates.collect();
        Self { file, templates }
    }
}

/// A template without the compiler's escapes: ` %r` for `%%r`, `%_name_` for `%[name]`, `00` for `%=`. A statement without
/// colons has none.
fn as_ptx(statement: &AsmStatement) -> Cow<'_, str> {
    let text = &*statement.template.text;
    if statement.colons == 0 || !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'%', &bytes[at..]) {
        at += found;
        match bytes.get(at + 1) {
            Some(b'%') => {
                bytes[at] = b' ';
                at += 1;
            }
            Some(b'=') => bytes[at..at + 2].fill(b'0'),
            Some(b'[') => {
                let name =
                    bytes[at + 2..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
                let end = at + 2 + name.count();
                if bytes.get(end) == Some(&b']') {
                    (bytes[at + 1], bytes[end]) = (b'_', b'_');
                }
            }
            _ => {}
        }
        at += 1;
    }
    // Only ASCII was replaced, by ASCII.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// A text of PTX within a document.
#[derive(Clone, Copy)]
pub struct Part<'d> {
    /// The text.
    pub text: &'d str,
    /// Its names.
    pub names: &'d Names,
    /// The statement whose template it is; none for a PTX file.
    pub statement: Option<&'d AsmStatement>,
    /// The document's text.
    pub source: &'d str,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// What the text declares.
    Name(Symbol),
    /// An operand of the asm statement, by its number.
    Operand(usize),
}

impl<'d> Part<'d> {
    /// The place in the document of a span that is there byte for byte.
    pub fn place(&self, span: Span) -> Option<Span> {
        match self.statement {
            None => Some(span),
            Some(statement) => {
                let map = &statement.template.map;
                map.is_verbatim(span).then(|| map.span(span))
            }
        }
    }

    /// What stands at an occurrence.
    pub fn target(&self, occurrence: Occurrence) -> Option<Target> {
        if let Some(symbol) = self.names.resolve(self.text, occurrence) {
            return Some(Target::Name(symbol));
        }
        self.operand(occurrence.span.text(self.text)).map(Target::Operand)
    }

    /// The operand that `%0` or `%_name_` names.
    pub fn operand(&self, name: &str) -> Option<usize> {
        let statement = self.statement?;
        let name = name.strip_prefix('%')?;
        let count = statement.outputs.len() + statement.inputs.len();
        if let Ok(number) = name.parse::<usize>() {
            return (number < count).then_some(number);
        }
        let name = name.strip_prefix('_')?.strip_suffix('_')?;
        // Names of operands are in the source, of which the statement knows places only; so the names are compared there.
        let in_template = format!("%[{name}]");
        let known = statement.template.text.contains(&in_template);
        known.then(|| self.operand_names().position(|each| each == Some(name)))?
    }

    fn operand_names(&self) -> impl Iterator<Item = Option<&'d str>> {
        let source = self.source;
        self.statement.into_iter().flat_map(move |statement| {
            statement.operands().map(move |operand| operand.name.map(|name| name.text(source)))
        })
    }

    /// Every place of a target in the text.
    pub fn references(&self, target: Target) -> Vec<Occurrence> {
        match target {
            Target::Name(symbol) => self.names.references(self.text, symbol),
            Target::Operand(_) => {
                let all = self.names.occurrences().iter().copied();
                all.filter(|each| self.target(*each) == Some(target)).collect()
            }
        }
    }
}

impl Document {
    /// All PTX of the document.
    pub fn parts(&self) -> Vec<Part<'_>> {
        match self.source.kind {
            Kind::Ptx => vec![self.whole()],
            Kind::Host(_) => Vec::new(),
            Kind::Cuda => {
                let Cuda { file, templates } = self.cuda();
                let both = file.statements.iter().zip(templates);
                let own = both.filter(|(statement, _)| statement.used_at.is_none());
                own.map(|(statement, template)| self.part(statement, template)).collect()
            }
        }
    }

    fn whole(&self) -> Part<'_> {
        let source = &*self.source.text;
        Part { text: source, names: self.names(), statement: None, source }
    }

    fn part<'d>(&'d self, statement: &'d AsmStatement, template: &'d Template) -> Part<'d> {
        let (text, names, source) = (&*template.text, &template.names, &*self.source.text);
        Part { text, names, statement: Some(statement), source }
    }

    /// The PTX at a byte, and which byte of it that is.
    pub fn part_at(&self, offset: u32) -> Option<(Part<'_>, u32)> {
        if self.source.kind == Kind::Ptx {
            return Some((self.whole(), offset));
        }
        self.parts_around(offset).find_map(|part| {
            let map = &part.statement?.template.map;
            Some((part, map.decoded(offset)?))
        })
    }

    /// The templates of the statement at a byte: several where branches of `#if` give it several.
    pub fn parts_around(&self, offset: u32) -> impl Iterator<Item = Part<'_>> {
        let cuda = (self.source.kind == Kind::Cuda).then(|| self.cuda());
        let all = cuda.into_iter().flat_map(|Cuda { file, templates }| file.statements.iter().zip(templates));
        let holds =
            move |statement: &AsmStatement| statement.span.start <= offset && offset <= statement.span.end;
        all.filter(move |(statement, _)| statement.used_at.is_none() && holds(statement))
            .map(|(statement, template)| self.part(statement, template))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_the_compiler_are_read_as_ptx() {
        let source = r#"void f(int a) { asm("{ .reg .b32 %%t<2>; mov.b32 %%t1, %1; L%=: mov.b32 %0, %[in]; %q }" : "=r"(a) : [in] "r"(a)); }"#;
        let cuda = Cuda::new(source);
        assert_eq!(
            cuda.templates[0].text,
            "{ .reg .b32  %t<2>; mov.b32  %t1, %1; L00: mov.b32 %0, %_in_; %q }"
        );
        let plain = Cuda::new(r#"void f() { asm("mov.b32 %%a, %b;"); }"#);
        assert_eq!(plain.templates[0].text, "mov.b32 %%a, %b;");
    }
}
