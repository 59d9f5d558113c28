//! Calls that take inline PTX.

use std::ops::Range;

use ptx_syntax::Span;
use ptx_syntax::cuda::host::{
    Host, HostProblem, HostProblemKind, HostStatement, TemplateBuilder, ctype_of_bits,
};
use ptx_syntax::cuda::{CType, Template};

use super::strings;
use super::tokens::{Kind, Tokens};
use crate::constraints::{Constraints, LlvmStatement, Value};
use crate::mlir::PtxOperands;

/// How many names are followed one after the other, and how many parts an expression of strings has.
const MAX_STEPS: usize = 256;

/// A call: `a.name(…)`.
pub(crate) struct Call<'t> {
    tokens: &'t Tokens<'t>,
    /// The last part of what is called.
    pub name: &'t str,
    at: usize,
    close: usize,
    arguments: Vec<Argument<'t>>,
}

struct Argument<'t> {
    keyword: Option<&'t str>,
    value: Range<usize>,
}

impl<'t> Call<'t> {
    /// The call of the name at `at`; a definition of the name is none.
    pub fn at(tokens: &'t Tokens<'t>, at: usize) -> Option<Self> {
        let is_name = tokens.all[at].kind == Kind::Word && tokens.is(at + 1, "(");
        if !is_name || at.checked_sub(1).is_some_and(|before| tokens.is(before, "def")) {
            return None;
        }
        let close = tokens.closing(at + 1)?;
        let argument = |part: Range<usize>| {
            let is_keyword = tokens.all[part.start].kind == Kind::Word && tokens.is(part.start + 1, "=");
            match is_keyword {
                true => Argument { keyword: Some(tokens.text(part.start)), value: part.start + 2..part.end },
                false => Argument { keyword: None, value: part },
            }
        };
        let name = tokens.text(at);
        // Other calls need not be read.
        if !matches!(name, "inline_asm" | "inline_asm_elementwise" | "InlineAsm")
            && !is_inline_ptx(name)
            && !super::CUDA.iter().any(|(known, ..)| *known == name)
        {
            return None;
        }
        let arguments = tokens.parts(at + 2..close).into_iter().filter(|part| !part.is_empty()).map(argument);
        Some(Self { tokens, name, at, close, arguments: arguments.collect() })
    }

    /// The value of a parameter by its place or keyword.
    pub fn argument(&self, place: Option<usize>, keyword: &str) -> Option<Range<usize>> {
        let by_place = place.and_then(|place| {
            let first = self.arguments.get(..=place)?;
            let is_plain = |argument: &Argument<'_>| {
                argument.keyword.is_none() && !self.tokens.is(argument.value.start, "*")
            };
            first.iter().all(is_plain).then(|| first[place].value.clone())
        });
        by_place.or_else(|| {
            let named = self.arguments.iter().find(|argument| argument.keyword == Some(keyword))?;
            Some(named.value.clone())
        })
    }

    /// The text that an expression of strings gives.
    pub fn text(&self, value: Range<usize>) -> Option<Template> {
        text(self.tokens, value)
    }

    fn keyword(&self) -> Span {
        self.tokens.all[self.at].span
    }

    fn span(&self) -> Span {
        self.keyword().to(self.tokens.all[self.close].span)
    }

    /// Whether the call is a statement, so that nobody uses what it gives.
    fn is_statement(&self) -> bool {
        let mut first = self.at;
        while first >= 2 && self.tokens.is(first - 1, ".") {
            first -= 2;
        }
        let ends = match self.tokens.all.get(self.close + 1) {
            Some(next) => next.kind == Kind::Newline || self.tokens.is(self.close + 1, ";"),
            None => true,
        };
        ends && (self.tokens.begins_line(first) || self.tokens.is(first - 1, ";"))
    }

    /// The elements of a list or tuple that is written there.
    fn elements(&self, value: &Range<usize>) -> Option<Vec<Range<usize>>> {
        let open = value.start;
        let is_list = self.tokens.is(open, "[") || self.tokens.is(open, "(");
        let inner = self.tokens.closing(open).filter(|close| is_list && close + 1 == value.end)?;
        let elements = self.tokens.parts(open + 1..inner);
        // Neither `*values` nor `x for x in values` tells how many there are.
        let is_plain = |element: &Range<usize>| {
            !self.tokens.is(element.start, "*")
                && !element.clone().take(MAX_STEPS).any(|at| self.tokens.is(at, "for"))
        };
        elements.iter().all(is_plain).then_some(elements)
    }

    fn boolean(&self, value: &Range<usize>) -> Option<bool> {
        match (value.len(), self.tokens.text(value.start)) {
            (1, "True") => Some(true),
            (1, "False") => Some(false),
            _ => None,
        }
    }

    /// CuTe's, and that of MLIR's own bindings: `llvm.inline_asm(result, [values], template, constraints, …)`.
    pub fn mlir(&self) -> Option<LlvmStatement> {
        let template = self.text(self.argument(Some(2), "asm_string")?)?;
        let constraints = self.argument(Some(3), "constraints").and_then(|value| self.text(value));
        let results = self.argument(Some(0), "res").and_then(|value| self.results(&value));
        let values = self.argument(Some(1), "operands_").and_then(|value| self.elements(&value));
        let values = values.map(|values| values.iter().map(|value| self.value(value)).collect());
        // Who computes the flag may mean either.
        let volatile =
            self.argument(None, "has_side_effects").is_some_and(|value| self.boolean(&value).unwrap_or(true));
        let problems = self.argument(None, "asm_dialect").and_then(|value| self.dialect(&value, &template));
        Some(LlvmStatement {
            host: Host::Mlir,
            span: self.span(),
            keyword: self.keyword(),
            volatile,
            template,
            constraints,
            results,
            values,
            is_unused: self.is_statement(),
            problems: problems.into_iter().collect(),
        })
    }

    /// That of llvmlite, which Numba uses: `ir.InlineAsm(type, template, constraints, side_effect)`.
    pub fn llvmlite(&self) -> Option<LlvmStatement> {
        let template = self.text(self.argument(Some(1), "asm")?)?;
        let constraints = self.argument(Some(2), "constraint").and_then(|value| self.text(value));
        let volatile =
            self.argument(Some(3), "side_effect").is_some_and(|value| self.boolean(&value).unwrap_or(true));
        Some(LlvmStatement {
            host: Host::LlvmIr,
            span: self.span(),
            keyword: self.keyword(),
            volatile,
            template,
            constraints,
            results: None,
            values: None,
            is_unused: false,
            problems: Vec::new(),
        })
    }

    /// CuTe's `inline_ptx(template, write_only_types=[…], read_only_args=[…], read_write_args=[…])`, and that of MLIR's
    /// bindings, which has the template last.
    pub fn inline_ptx(&self) -> Option<HostStatement> {
        let of_bindings = self.argument(Some(3), "ptx_code").and_then(|value| self.text(value));
        let is_of_bindings = of_bindings.is_some();
        let template =
            of_bindings.or_else(|| self.argument(Some(0), "code").and_then(|value| self.text(value)))?;
        let group = |place: usize, keywords: &[&str]| {
            let place = is_of_bindings.then_some(place);
            let value = keywords.iter().find_map(|keyword| self.argument(place, keyword));
            match value {
                None => Some(Vec::new()),
                Some(value) => self.elements(&value),
            }
        };
        let typed = |value: Range<usize>, ctype: CType| (self.tokens.span(&value), ctype);
        let written = group(0, &["write_only_types", "write_only_args"]);
        let read = group(1, &["read_only_args"]);
        let both = group(2, &["read_write_args"]);
        let values = |values: Vec<Range<usize>>| {
            values.into_iter().map(|value| typed(value.clone(), self.value(&value).ctype)).collect()
        };
        let types = |types: Vec<Range<usize>>| {
            types.into_iter().map(|ty| typed(ty.clone(), self.named_type(&ty))).collect()
        };
        let groups =
            PtxOperands { written: written.map(types), both: both.map(values), read: read.map(values) };
        Some(groups.statement(self.span(), self.keyword(), &template))
    }

    /// The type of `T.i32()`, `Int32` and `cutlass.Int32`.
    fn named_type(&self, value: &Range<usize>) -> CType {
        let last = value.end.checked_sub(1).map_or("", |last| self.tokens.text(last));
        self.type_of(value).unwrap_or_else(|| ctype_of_bits(bits_of(last)))
    }

    fn dialect(&self, value: &Range<usize>, template: &Template) -> Option<HostProblem> {
        let last = self.tokens.text(value.end.checked_sub(1)?);
        let kind = match last {
            "AD_Intel" | "AD_INTEL" | "1" => HostProblemKind::IntelDialect,
            "AD_ATT" | "0" if template.text.contains('{') => HostProblemKind::DialectWithBraces,
            _ => return None,
        };
        Some(HostProblem { kind, span: self.tokens.span(value) })
    }

    /// `None`, `T.i32()`, `llvm.StructType.get_literal([T.i32(), T.i32()])`.
    fn results(&self, value: &Range<usize>) -> Option<Vec<CType>> {
        if value.len() == 1 && self.tokens.is(value.start, "None") {
            return Some(Vec::new());
        }
        if let Some(ctype) = self.type_of(value) {
            return Some(vec![ctype]);
        }
        let at = value.clone().take(16).find(|at| self.tokens.is(*at, "get_literal"))?;
        let inner = at + 2..self.tokens.closing(at + 1).filter(|close| close + 1 == value.end)?;
        let elements = self.elements(&inner)?;
        Some(elements.iter().map(|element| self.type_of(element).unwrap_or_default()).collect())
    }

    /// The type of `T.i32()` and `ir.IntegerType.get_signless(32)`, where it has a size that is known.
    fn type_of(&self, value: &Range<usize>) -> Option<CType> {
        let texts: Vec<&str> = value.clone().take(16).map(|at| self.tokens.text(at)).collect();
        match texts.as_slice() {
            [.., ".", name, "(", ")"] => {
                Some(crate::constraints::ctype(name)).filter(|ctype| *ctype != CType::Unknown)
            }
            [.., "get_signless", "(", bits, ")"] => bits.parse().ok().map(ctype_of_bits),
            _ => None,
        }
    }

    /// A value such as `cutlass.Int32(x).ir_value(loc=loc, ip=ip)`.
    fn value(&self, value: &Range<usize>) -> Value {
        let name = if self.tokens.is(value.start + 1, ".") { value.start + 2 } else { value.start };
        let converted = self.tokens.is(name + 1, "(");
        let is_value = value.clone().take(MAX_STEPS).any(|at| self.tokens.is(at, "ir_value"));
        let bits = bits_of(self.tokens.text(name));
        let ctype = if converted && is_value { ctype_of_bits(bits) } else { CType::Unknown };
        Value { span: self.tokens.span(value), ctype, constant: false }
    }

    /// Triton's: `inline_asm_elementwise(asm, constraints, [values], dtype, is_pure, pack)`, and PyTorch's, which has the
    /// values first.
    pub fn triton(&self) -> Option<HostStatement> {
        let is_pytorch = self.arguments.iter().any(|argument| argument.keyword == Some("asm_str"));
        let place = |place: usize| (!is_pytorch).then_some(place);
        let template = self.text(self.argument(place(0), if is_pytorch { "asm_str" } else { "asm" })?)?;
        let constraints = self.argument(place(1), "constraints").and_then(|value| self.text(value));
        let values = match is_pytorch {
            true => {
                let values = self.arguments.iter().filter(|argument| argument.keyword.is_none());
                let values: Vec<_> = values.map(|argument| argument.value.clone()).collect();
                values.iter().all(|value| !self.tokens.is(value.start, "*")).then_some(values)
            }
            false => self.argument(Some(2), "args").and_then(|value| self.elements(&value)),
        };
        let number = |value: Range<usize>| match value.len() {
            1 => self.tokens.text(value.start).parse::<usize>().ok().filter(|pack| (1..=64).contains(pack)),
            _ => None,
        };
        let pack = match self.argument(place(5), "pack") {
            Some(value) => number(value),
            None => Some(1),
        };
        let dtype = self.argument(place(3), "dtype");
        let types = dtype.as_ref().and_then(|value| self.dtypes(value));
        let is_pure = self.argument(place(4), "is_pure").map(|value| self.boolean(&value) == Some(true));
        let mut statement = LlvmStatement {
            host: Host::Triton,
            span: self.span(),
            keyword: self.keyword(),
            volatile: !is_pure.unwrap_or(is_pytorch),
            template,
            constraints,
            results: None,
            values: None,
            is_unused: self.is_statement(),
            problems: Vec::new(),
        };
        if let (Some(1), Some(count), Some(values)) =
            (pack, dtype.and_then(|value| self.count_of_types(&value)), &values)
        {
            // So many operands there are, whatever the program puts into the constraints.
            statement.results = Some(vec![CType::Unknown; count]);
            statement.values = Some(values.iter().map(|value| self.plain(value)).collect());
        }
        self.packed(&mut statement, pack, types.as_deref(), values.as_deref());
        Some(statement.into_host())
    }

    /// Fills in what the number of elements says about results and values.
    fn packed(
        &self,
        statement: &mut LlvmStatement,
        pack: Option<usize>,
        types: Option<&[(u32, &str)]>,
        values: Option<&[Range<usize>]>,
    ) {
        let (Some(pack), Some(constraints)) = (pack, statement.constraints.as_ref()) else { return };
        let known = Constraints::of(constraints);
        if known.uncertain {
            return;
        }
        // What is told here is not told again.
        (statement.results, statement.values) = (None, None);
        let place = constraints.span;
        if let Some(values) = values {
            let (given, count) = (known.inputs.len(), values.len());
            // With elements of 8 bits four of them share a register.
            if pack == 1 {
                statement.values = Some(values.iter().map(|value| self.plain(value)).collect());
            } else if given < count * pack.div_ceil(4) || given > count * pack {
                let values = if given > count * pack { count * pack } else { count * pack.div_ceil(4) };
                let kind = HostProblemKind::Inputs { constraints: given, values };
                statement.problems.push(HostProblem { kind, span: place });
            }
        }
        let Some(types) = types else { return };
        let mut results = Vec::new();
        let mut why = String::new();
        for &(bits, name) in types {
            let each = (32 / bits as usize).clamp(1, pack);
            if pack % each != 0 {
                let kind = HostProblemKind::Pack { elements: pack, bits };
                statement.problems.push(HostProblem { kind, span: place });
                return;
            }
            if each > 1 {
                why = format!(": {each} elements of `{name}` share one");
            }
            let size = if each > 1 { bits * each as u32 } else { bits };
            results.extend(std::iter::repeat_n(ctype_of_bits(size), pack / each));
        }
        if results.len() == known.outputs.len() {
            statement.results = Some(results);
        } else {
            let (constraints, results) = (known.outputs.len(), results.len());
            let kind = HostProblemKind::Outputs { constraints, results, why };
            statement.problems.push(HostProblem { kind, span: place });
        }
    }

    /// A value of which only the place is known.
    fn plain(&self, value: &Range<usize>) -> Value {
        Value { span: self.tokens.span(value), ctype: CType::Unknown, constant: false }
    }

    /// How many results there are; a name alone may be a list.
    fn count_of_types(&self, value: &Range<usize>) -> Option<usize> {
        let is_attribute = value.len() == 3 && self.tokens.is(value.start + 1, ".");
        match self.elements(value) {
            Some(elements) => Some(elements.len()),
            None => is_attribute.then_some(1),
        }
    }

    /// The sizes in bits of the types of results: `tl.float16`, `(tl.float16, tl.int32)`.
    fn dtypes(&self, value: &Range<usize>) -> Option<Vec<(u32, &'t str)>> {
        let of = |part: &Range<usize>| {
            let is_name =
                part.clone().all(|at| self.tokens.all[at].kind == Kind::Word || self.tokens.is(at, "."));
            let name = self.tokens.text(part.end.checked_sub(1)?);
            let bits = match name {
                "int8" | "uint8" | "float8e5" | "float8e4nv" | "float8e4b8" | "float8e5b16" => 8,
                "int16" | "uint16" | "float16" | "bfloat16" => 16,
                "int32" | "uint32" | "float32" => 32,
                "int64" | "uint64" | "float64" => 64,
                _ => return None,
            };
            is_name.then_some((bits, name))
        };
        match self.elements(value) {
            Some(elements) if !elements.is_empty() => elements.iter().map(of).collect(),
            _ => of(value).map(|one| vec![one]),
        }
    }
}

/// Whether a function takes PTX with operands such as `{$r0}`; some files give it a longer name.
fn is_inline_ptx(name: &str) -> bool {
    name.ends_with("inline_ptx") || name.ends_with("inline_ptx_hl")
}

/// The size of CuTe's types; 0 for other names.
fn bits_of(name: &str) -> u32 {
    match name {
        "Int8" | "Uint8" => 8,
        "Int16" | "Uint16" | "Float16" | "BFloat16" => 16,
        "Int32" | "Uint32" | "Float32" => 32,
        "Int64" | "Uint64" | "Float64" => 64,
        _ => 0,
    }
}

/// The text that an expression of strings gives: literals, names that have one value, `+`, parentheses and
/// `textwrap.dedent`. `None` where nothing of it is known.
fn text(tokens: &Tokens<'_>, value: Range<usize>) -> Option<Template> {
    let mut out = TemplateBuilder::default();
    let (mut steps, mut knows) = (0, false);
    // What is still to be read, the next part last.
    let mut waiting = vec![value];
    while let Some(part) = waiting.pop() {
        steps += 1;
        if steps > MAX_STEPS || part.is_empty() {
            return None;
        }
        let first = part.start;
        let (end, inner) = match tokens.all[first].kind {
            Kind::Text => (tokens.end_of_texts(first), None),
            Kind::Word if tokens.text(first) == "textwrap" && tokens.is(first + 2, "dedent") => {
                let close = tokens.closing(first + 3)?;
                (close + 1, Some(first + 4..close))
            }
            Kind::Word if tokens.text(first) == "dedent" => {
                let close = tokens.closing(first + 1)?;
                (close + 1, Some(first + 2..close))
            }
            Kind::Word => (first + 1, Some(tokens.value(tokens.text(first), first)?)),
            _ if tokens.is(first, "(") => {
                let close = tokens.closing(first)?;
                // A tuple is no text.
                if tokens.parts(first + 1..close).len() != 1 {
                    return None;
                }
                (close + 1, Some(first + 1..close))
            }
            _ => return None,
        };
        let end_of_method = stripped(tokens, end);
        if end_of_method < part.end {
            if !tokens.is(end_of_method, "+") {
                return None;
            }
            waiting.push(end_of_method + 1..part.end);
        } else if end_of_method > part.end {
            return None;
        }
        match inner {
            Some(inner) => waiting.push(inner),
            None => {
                knows = true;
                tokens.all[first..end]
                    .iter()
                    .for_each(|text| strings::append(tokens.source, text.span, &mut out));
            }
        }
    }
    knows.then(|| out.finish())
}

/// The token after `.strip()` and its like, which take nothing away that counts.
fn stripped(tokens: &Tokens<'_>, at: usize) -> usize {
    let is_strip = matches!(tokens.text(at + 1), "strip" | "lstrip" | "rstrip");
    if tokens.is(at, ".") && is_strip && tokens.is(at + 2, "(") && tokens.is(at + 3, ")") {
        at + 4
    } else {
        at
    }
}
