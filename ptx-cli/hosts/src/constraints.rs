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
    pub outputs: Vec<Part>,
    pub inputs: Vec<Part>,
    pub memory: bool,
    /// Whether a part is not known. It may be a list of several.
    pub uncertain: bool,
}

/// A constraint as it is written. Of what is not known the mode is left.
pub(crate) struct Part {
    pub text: String,
    pub span: Span,
}

impl Part {
    /// Whether the value is an address, and the operand what lies there.
    fn is_indirect(&self) -> bool {
        self.text.contains('*')
    }

    /// Whether the template has the address, in brackets.
    fn is_memory(&self) -> bool {
        self.is_indirect() && self.text.ends_with('m')
    }
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
        let unknown = text.contains(WILDCARD);
        self.uncertain |= unknown;
        let part = |known: &str| Part { text: if unknown { known } else { text }.to_owned(), span };
        if let Some(clobber) = text.strip_prefix('~') {
            self.memory |= clobber == "{memory}";
        } else if text.starts_with('=') {
            self.outputs.push(part("="));
        } else if text.starts_with('+') {
            self.outputs.push(part("+"));
        } else if !text.is_empty() {
            self.inputs.push(part(""));
        }
    }

    /// How many results there are: the others are stored to an address that is a value.
    pub fn results(&self) -> usize {
        self.outputs.iter().filter(|output| !output.is_indirect()).count()
    }

    /// How many values there are.
    pub fn values(&self) -> usize {
        self.outputs.len() - self.results() + self.inputs.len()
    }

    /// How the template names each operand in the form of CUDA C++, where what lies at an address is an input.
    fn names(&self) -> Vec<String> {
        let count = self.outputs.iter().filter(|output| !output.is_memory()).count();
        let (mut first, mut rest) = (0..count, count..);
        let mut names = Vec::new();
        for operand in self.outputs.iter().chain(&self.inputs) {
            let is_output = names.len() < self.outputs.len() && !operand.is_memory();
            let next = if is_output { first.next() } else { rest.next() }.unwrap_or_default();
            let tied = operand.text.parse().ok().and_then(|index: usize| names.get(index).cloned());
            names.push(match operand.is_memory() {
                true => format!("[%{next}]"),
                false => tied.unwrap_or_else(|| format!("%{next}")),
            });
        }
        names
    }
}

impl LlvmStatement {
    /// The statement in the form of CUDA C++'s.
    pub fn into_host(self) -> HostStatement {
        let Self { host, span, keyword, volatile, mut problems, results, values, .. } = self;
        let known = self.constraints.as_ref().map(Constraints::of);
        let is_certain = known.as_ref().is_some_and(|known| !known.uncertain);
        let is_known = known.is_some();
        let known = known.unwrap_or_default();
        let names = known.names();
        let (count_of_results, count_of_values) = (known.results(), known.values());
        if is_certain {
            let place = self.constraints.as_ref().map_or(keyword, |constraints| constraints.span);
            let mut problem = |kind| problems.push(HostProblem { kind, span: place });
            if let Some(values) = values.as_ref().filter(|values| values.len() != count_of_values) {
                problem(HostProblemKind::Inputs { constraints: count_of_values, values: values.len() });
            }
            if let Some(results) = results.as_ref().filter(|results| results.len() != count_of_results) {
                let (constraints, results) = (count_of_results, results.len());
                problem(HostProblemKind::Outputs { constraints, results, why: String::new() });
            }
        }
        let results = results.filter(|results| results.len() == count_of_results);
        let values = values.filter(|values| values.len() == count_of_values);
        // Where there are as many results and values as parts, each part is one constraint.
        let complete = is_certain || (is_known && results.is_some() && values.is_some());
        let mut results = results.unwrap_or_default().into_iter();
        let mut values = values.unwrap_or_default().into_iter();
        let Constraints { outputs, inputs, memory, .. } = known;
        let (mut written, mut read) = (Vec::new(), Vec::new());
        let outputs_end = outputs.len();
        for (index, part) in outputs.into_iter().chain(inputs).enumerate() {
            let (is_output, is_indirect) = (index < outputs_end, part.is_indirect());
            let value = if is_output && !is_indirect { None } else { values.next() };
            let ctype = match &value {
                // The type is that of the address.
                _ if is_indirect => CType::Unknown,
                Some(value) => value.ctype.clone(),
                None if is_output => results.next().unwrap_or_default(),
                None => CType::Unknown,
            };
            let operand = HostOperand {
                constraint: match (part.is_memory(), is_output) {
                    (true, _) => "l".to_owned(),
                    (false, true) => part.text.replace('*', ""),
                    // The number of an output as the template has it now.
                    (false, false) => match part.text.parse().ok().and_then(|tied: usize| names.get(tied)) {
                        Some(name) => name.trim_start_matches('%').to_owned(),
                        None => part.text.replace('*', ""),
                    },
                },
                span: part.span,
                expression: value.as_ref().map_or(Span::at(part.span.start), |value| value.span),
                ctype,
                constant: value.as_ref().is_some_and(|value| value.constant),
                unused: is_output && !is_indirect && self.is_unused,
            };
            match is_output && !part.is_memory() {
                true => written.push(operand),
                false => read.push(operand),
            }
        }
        HostStatement {
            host,
            span,
            keyword,
            volatile,
            template: converted(&self.template, &names),
            outputs: written,
            inputs: read,
            memory,
            complete,
            problems,
        }
    }
}

/// A template of LLVM as one of CUDA C++: `$0` is `%0`, `$$` is `$`, `%` is `%%`, and of `$(a$|b$)` the first part is taken,
/// and `${:uid}` is `%=`. An operand that is tied to an output is in the output's register.
fn converted(from: &Template, names: &[String]) -> Template {
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
                out.replace(&operand(&rest[..digits], names), place(1 + digits));
                1 + digits
            }
            Some(b'{') => {
                let inner = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                let length = rest.find('}').map_or(rest.len(), |end| end + 1) + 1;
                match inner {
                    // A number of its own for each copy.
                    0 if rest[..length - 1] == *"{:uid}" => out.replace("%=", place(length)),
                    0 => out.wildcard(place(length)),
                    _ => out.replace(&operand(&rest[1..1 + inner], names), place(length)),
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

fn operand(digits: &str, names: &[String]) -> String {
    let name = digits.parse().ok().and_then(|index: usize| names.get(index));
    name.cloned().unwrap_or_else(|| format!("%{digits}"))
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
