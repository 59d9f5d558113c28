//! LLVM's templates and constraint strings.
//!
//! (LLVM's language reference, "Inline Assembler Expressions".)

use ptx_syntax::Span;

use ptx_syntax::cuda::host::{
    Host, HostOperand, HostProblem, HostProblemKind, HostStatement, TemplateBuilder, ctype_of_bits,
};
use ptx_syntax::cuda::{CType, Template, WILDCARD};

/// A statement in LLVM's terms.
pub(crate) struct LlvmStatement {
    pub host: Host,
    pub span: Span,
    pub keyword: Span,
    pub volatile: bool,
    /// The template as LLVM gets it, with operands such as `$0`.
    pub template: Template,
    /// The constraint string, where it is known.
    pub constraints: Option<Template>,
    /// The results, where they are known.
    pub results: Option<Vec<CType>>,
    /// The values, where they are known.
    pub values: Option<Vec<Value>>,
    /// Whether nobody uses the results.
    pub is_unused: bool,
    pub problems: Vec<HostProblem>,
}

/// A value that is handed in.
pub(crate) struct Value {
    /// Where it is written.
    pub span: Span,
    pub ctype: CType,
    pub constant: bool,
}

/// A constraint string in its parts.
#[derive(Default)]
pub(crate) struct Constraints {
    pub outputs: Vec<(String, Span)>,
    pub inputs: Vec<(String, Span)>,
    pub memory: bool,
    /// Whether a part is not known.
    pub uncertain: bool,
}

impl Constraints {
    /// Reads a constraint string.
    pub fn of(template: &Template) -> Self {
        let mut found = Self::default();
        let mut start = 0;
        for part in template.text.split(',') {
            let end = start + part.len() as u32;
            let lead = (part.len() - part.trim_start().len()) as u32;
            let text = part.trim();
            let decoded = Span::new(start + lead, start + lead + text.len() as u32);
            start = end + 1;
            found.add(text, template.map.span(decoded));
        }
        found
    }

    fn add(&mut self, text: &str, span: Span) {
        if text.contains(WILDCARD) {
            self.uncertain = true;
        } else if let Some(clobber) = text.strip_prefix('~') {
            self.memory |= clobber == "{memory}";
        } else if text.starts_with('=') || text.starts_with('+') {
            self.outputs.push((text.to_owned(), span));
        } else if !text.is_empty() {
            self.inputs.push((text.to_owned(), span));
        }
    }
}

impl LlvmStatement {
    /// The statement in the form of CUDA C++'s.
    pub fn into_host(self) -> HostStatement {
        let Self { host, span, keyword, volatile, mut problems, results, values, .. } = self;
        let known = self.constraints.as_ref().map(Constraints::of);
        let complete = known.as_ref().is_some_and(|known| !known.uncertain);
        let Constraints { outputs, inputs, memory, .. } = known.unwrap_or_default();
        if complete {
            let place = self.constraints.as_ref().map_or(keyword, |constraints| constraints.span);
            let mut problem = |kind| problems.push(HostProblem { kind, span: place });
            if let Some(values) = values.as_ref().filter(|values| values.len() != inputs.len()) {
                problem(HostProblemKind::Inputs { constraints: inputs.len(), values: values.len() });
            }
            if let Some(results) = results.as_ref().filter(|results| results.len() != outputs.len()) {
                let (constraints, results) = (outputs.len(), results.len());
                problem(HostProblemKind::Outputs { constraints, results, why: String::new() });
            }
        }
        let results = results.filter(|results| results.len() == outputs.len());
        let values = values.filter(|values| values.len() == inputs.len());
        let outputs = outputs.into_iter().enumerate().map(|(index, (constraint, span))| HostOperand {
            constraint,
            span,
            expression: Span::at(span.start),
            ctype: results.as_ref().map_or(CType::Unknown, |results| results[index].clone()),
            constant: false,
            unused: self.is_unused,
        });
        let inputs = inputs.into_iter().enumerate().map(|(index, (constraint, span))| {
            let value = values.as_ref().map(|values| &values[index]);
            HostOperand {
                constraint,
                span,
                expression: value.map_or(Span::at(span.start), |value| value.span),
                ctype: value.map_or(CType::Unknown, |value| value.ctype.clone()),
                constant: value.is_some_and(|value| value.constant),
                unused: false,
            }
        });
        let outputs: Vec<_> = outputs.collect();
        let inputs: Vec<_> = inputs.collect();
        let tied: Vec<Option<usize>> = std::iter::repeat_n(None, outputs.len())
            .chain(inputs.iter().map(|input| input.constraint.parse().ok()))
            .collect();
        HostStatement {
            host,
            span,
            keyword,
            volatile,
            template: converted(&self.template, &tied),
            outputs,
            inputs,
            memory,
            complete,
            problems,
        }
    }
}

/// A template of LLVM as one of CUDA C++: `$0` is `%0`, `$$` is `$`, `%` is `%%`, and of `$(a$|b$)` the first part is taken.
/// An operand that is tied to an output is in the output's register.
fn converted(from: &Template, tied: &[Option<usize>]) -> Template {
    let text = from.text.as_bytes();
    let mut out = TemplateBuilder::default();
    let mut at = 0;
    while at < text.len() {
        let plain = memchr::memchr2(b'$', b'%', &text[at..]).unwrap_or(text.len() - at);
        if plain > 0 {
            out.take(from, Span::new(at as u32, (at + plain) as u32));
            at += plain;
            continue;
        }
        let place = |length: usize| from.map.span(Span::new(at as u32, (at + length) as u32));
        if text[at] == b'%' {
            out.replace("%%", place(1));
            at += 1;
            continue;
        }
        let rest = &from.text[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        at += match rest.as_bytes().first() {
            _ if digits > 0 => {
                out.replace(&operand(&rest[..digits], tied), place(1 + digits));
                1 + digits
            }
            Some(b'{') => {
                let inner = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                let length = rest.find('}').map_or(rest.len(), |end| end + 1) + 1;
                match inner {
                    0 => out.wildcard(place(length)),
                    _ => out.replace(&operand(&rest[1..1 + inner], tied), place(length)),
                }
                length
            }
            Some(b'$') => {
                out.replace("$", place(2));
                2
            }
            Some(b'(' | b')') => 2,
            Some(b'|') => rest.find("$)").map_or(rest.len() + 1, |end| end + 3),
            _ => {
                out.take(from, Span::new(at as u32, at as u32 + 1));
                1
            }
        };
    }
    out.finish()
}

fn operand(digits: &str, tied: &[Option<usize>]) -> String {
    let index = digits.parse().ok().and_then(|index: usize| *tied.get(index)?);
    index.map_or_else(|| format!("%{digits}"), |index| format!("%{index}"))
}

/// The type that LLVM's and MLIR's names give: `i32`, `half`, `<2 x half>`, `ptr`, `!llvm.ptr<3>`, `vector<2xf16>`.
pub(crate) fn ctype(name: &str) -> CType {
    let name = name.trim();
    let bits = |digits: &str| digits.parse::<u32>().ok();
    let bits = match name {
        "half" | "bfloat" | "f16" | "bf16" => Some(16),
        "float" | "f32" | "tf32" => Some(32),
        "double" | "f64" => Some(64),
        _ => name.strip_prefix('i').and_then(bits),
    };
    bits.map_or(CType::Unknown, ctype_of_bits)
}
