//! An asm statement for one target, as a PTX function: operands as registers, the template as its body.
//!
//! The function is text that goes the way of every PTX text: lexer, parser, lowering, rules. Around the template it
//! has declarations of the operands, in front, and behind it one `mov` from each operand that is only written, so
//! that "is this output set on every path?" is the question whether that `mov` reads something unset. An output
//! of modifier `=` is not set at entry; everything else is.

use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::takes_part;
use ptx_facts::carry::{self, CarryFacts};
use ptx_facts::initialization::{self, Surroundings, Unset};
use ptx_facts::values::Graph;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Deref;
use std::rc::Rc;

use ptx_ir::ir::{Body, Function, Handle, Register};
use ptx_ir::lower::Lowered;
use ptx_ir::target::Target;
use ptx_ir::types::Type;
use ptx_ir::version::Version;
use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmStatement, CudaFile, Truth};

use super::Compiler;
use super::expand::{Expanded, PLACEHOLDER, expand};
use super::siblings::Siblings;
use super::text::{Heading, Text};
use super::toolkit::Toolkit;
use super::values;

/// What an operand is for the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `=`: only written.
    Output,
    /// `+`: read and written.
    InOut,
    /// Only read.
    Input,
}

/// An operand of the statement, as the PTX function has it.
#[derive(Clone, Debug)]
pub(crate) struct Pseudo {
    /// What it is for.
    pub(crate) mode: Mode,
    /// The register that stands for it; none for constants and where the constraint is not known.
    pub(crate) register: Option<Register>,
    /// Its constraint letter.
    pub(crate) letter: Option<char>,
    /// Whether it is `n`, a constant.
    pub(crate) constant: bool,
}

/// What a statement is verified for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    /// The target.
    pub(crate) target: Target,
    /// The PTX version.
    pub(crate) version: Version,
    /// Whether the statement is compiled for the target.
    pub(crate) compiled: Truth,
    /// Whether it is compiled on Windows only.
    pub(crate) windows: bool,
    /// The toolkit, where newer ones do not compile the statement.
    pub(crate) older_toolkit: Option<Toolkit>,
}

/// A file and a statement of it, with everything known.
pub(crate) struct Unit<'a> {
    /// The CUDA source.
    pub(crate) source: &'a str,
    /// What was extracted from it.
    pub(crate) file: &'a CudaFile,
    /// The other statements of the file.
    pub(crate) siblings: Rc<Siblings<'a>>,
    /// The statement.
    pub(crate) statement: &'a AsmStatement,
    /// Target and version.
    pub(crate) aim: Aim,
    /// Which compiler's rules hold.
    pub(crate) compiler: Compiler,
    /// The template as PTX.
    pub(crate) expanded: Expanded,
    /// Operands, in the order of their numbers.
    pub(crate) operands: Vec<Pseudo>,
    /// Braces that the template opens, or closes if negative, for other statements.
    pub(crate) open_braces: i32,
    /// The same statement with the other values that its constants of unknown value can have: what is said of the
    /// statement has to be true of each.
    pub(crate) alternatives: Vec<Self>,
    ptx: Rc<Text>,
    /// The operand that each of the first registers stands for.
    by_register: Vec<usize>,
    /// Whether anything of the function writes the operand.
    written: OnceCell<Vec<bool>>,
}

impl Deref for Unit<'_> {
    type Target = Text;

    fn deref(&self) -> &Text {
        &self.ptx
    }
}

/// The register type for a constraint letter. `f` and `d` lost their kinds with sm_100.
pub(crate) fn register_type(letter: char, target: Target) -> Option<Type> {
    let untyped = target.number() >= 100;
    Some(match letter {
        'h' => Type::B16,
        'r' => Type::B32,
        'l' => Type::B64,
        'q' => Type::B128,
        'b' => Type::Pred,
        'f' if untyped => Type::B32,
        'f' => Type::F32,
        'd' if untyped => Type::B64,
        'd' => Type::F64,
        _ => return None,
    })
}

impl<'a> Unit<'a> {
    /// Builds the PTX function of a statement and lowers it.
    pub(crate) fn new(
        source: &'a str,
        file: &'a CudaFile,
        siblings: &Rc<Siblings<'a>>,
        statement: &'a AsmStatement,
        aim: Aim,
        compiler: Compiler,
    ) -> Self {
        let (operands, names) = pseudo(statement, source, aim.target);
        let with = |names: &[String], expanded: Expanded| {
            Self::of_text(
                source,
                file,
                Rc::clone(siblings),
                statement,
                aim,
                compiler,
                operands.clone(),
                names,
                expanded,
            )
        };
        let expanded = expand(statement, source, compiler, &names);
        let choices = values::choices(&expanded, &names);
        let mut units: Vec<Self> =
            choices.iter().map(|names| with(names, expand(statement, source, compiler, names))).collect();
        // With another number than those that make an instruction it is refused anyway.
        if units.iter().any(Self::spells_instructions) {
            units.retain(Self::spells_instructions);
        }
        if units.is_empty() {
            return with(&names, expanded);
        }
        let first = units.remove(0);
        Self { alternatives: units, ..first }
    }

    /// Whether every spelling is one of an instruction.
    fn spells_instructions(&self) -> bool {
        self.ptx.lowered.module.spellings.iter().all(|(_, spelling)| spelling.resolved.problem.is_none())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a unit, put together at one place")]
    fn of_text(
        source: &'a str,
        file: &'a CudaFile,
        siblings: Rc<Siblings<'a>>,
        statement: &'a AsmStatement,
        aim: Aim,
        compiler: Compiler,
        operands: Vec<Pseudo>,
        names: &[String],
        expanded: Expanded,
    ) -> Self {
        let (text, template, target, open_braces) = module(&operands, names, &expanded, aim);
        let ptx = siblings.texts.of(text, template, target);
        let registers = operands.iter().enumerate().filter(|(_, operand)| operand.register.is_some());
        let by_register = registers.map(|(index, _)| index).collect();
        Self {
            source,
            file,
            siblings,
            statement,
            aim,
            compiler,
            expanded,
            operands,
            open_braces,
            alternatives: Vec::new(),
            ptx,
            by_register,
            written: OnceCell::new(),
        }
    }

    /// The text with inputs that are set, to values of which nothing is known, and how far that moves the template.
    pub(crate) fn text_with_inputs(&self) -> (String, u32) {
        let mut loads = String::new();
        for (index, operand) in self.operands.iter().enumerate().filter(|(_, each)| each.mode != Mode::Output)
        {
            let letter = operand.letter.filter(|_| operand.register.is_some());
            if let Some(ty) = letter.and_then(|letter| register_type(letter, self.aim.target)) {
                // Writing to a string cannot fail.
                let _ = write!(loads, "ld.global{ty} %{index}, [0]; ");
            }
        }
        let mut text = self.text.clone();
        text.insert_str(self.template.start as usize, &loads);
        (text, loads.len() as u32)
    }

    /// What lowering made of it.
    pub(crate) fn lowered(&self) -> &Lowered {
        &self.ptx.lowered
    }

    /// The function, if the text has kept its shape.
    pub(crate) fn function(&self) -> Option<(Handle<Function>, &Body)> {
        self.ptx
            .lowered
            .module
            .functions
            .iter()
            .find_map(|(handle, function)| Some((handle, function.body.as_ref()?)))
    }

    /// Control flow and writes of the body.
    pub(crate) fn facts(&self) -> Option<FunctionFacts<'_>> {
        let (handle, _) = self.function()?;
        FunctionFacts::new(&self.ptx.lowered.module, handle)
    }

    /// Reads of operands that nothing may have set; `=` operands are not set at entry. The text tells which these are.
    pub(crate) fn unset(&self) -> &[Unset] {
        self.ptx.unset.get_or_init(|| {
            let is_unset = |operand: &Pseudo| operand.mode == Mode::Output && operand.register.is_some();
            if !self.operands.iter().any(is_unset) {
                return Vec::new();
            }
            let set = |register: Register| {
                self.operand_of(register).is_some_and(|index| self.operands[index].mode != Mode::Output)
            };
            let Some(facts) = self.facts().map(|facts| facts.with_given(set)) else { return Vec::new() };
            // What was put behind the template stands for the uses of the outputs.
            let is_behind =
                |&instruction: &u32| facts.body.span(Handle::new(instruction)).start >= self.template.end;
            let count = facts.body.instructions.len() as u32;
            let last = (0..count).find(is_behind).unwrap_or(count);
            let around = Surroundings { is_set: &set, last, optimized: false };
            initialization::unset_reads(&facts, &Graph::new(&facts), &mut None, around)
        })
    }

    /// Whether an instruction may read or write the carry flag.
    pub(crate) fn may_carry(&self) -> bool {
        self.ptx.has_carry
    }

    /// Whether an instruction takes part in an asynchronous protocol, or may set a flag or look at one.
    pub(crate) fn has_protocol(&self) -> bool {
        let Some(facts) = self.facts() else { return false };
        self.instructions().filter_map(|instruction| facts.instance(instruction)).any(takes_part)
    }

    /// Who reads the carry flag of whom.
    pub(crate) fn carry(&self) -> &CarryFacts {
        self.ptx.carry.get_or_init(|| {
            let facts = self.facts().filter(|_| self.may_carry());
            facts.map(|facts| carry::analyze(&facts, &Graph::new(&facts), &mut None)).unwrap_or_default()
        })
    }

    /// The operand that a register stands for.
    pub(crate) fn operand_of(&self, register: Register) -> Option<usize> {
        // They are numbered in the order of the operands.
        self.by_register.get(register.0 as usize).copied()
    }

    /// Whether the template names an operand and never writes it.
    pub(crate) fn is_only_read(&self, operand: usize) -> bool {
        if !self.expanded.names(operand) || self.expanded.has_wildcards {
            return false;
        }
        let written = self.written.get_or_init(|| {
            let facts = self.facts();
            let is_written = |operand: &Pseudo| match (&facts, operand.register) {
                (Some(facts), Some(register)) => !facts.definitions(register).is_empty(),
                _ => true,
            };
            self.operands.iter().map(is_written).collect()
        });
        written.get(operand) == Some(&false)
    }

    /// Whether an instruction is of the template, and not one that was put behind it.
    pub(crate) fn is_of_template(&self, instruction: u32) -> bool {
        let span = self.function().map(|(_, body)| body.span(Handle::new(instruction))).unwrap_or_default();
        inside(self.template, span)
    }

    /// The instructions of the template.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = u32> {
        let count = self.function().map_or(0, |(_, body)| body.instructions.len() as u32);
        (0..count).filter(|instruction| self.is_of_template(*instruction))
    }

    /// The place in the CUDA source of a range of the PTX text; none outside the template.
    pub(crate) fn place(&self, span: Span) -> Option<Span> {
        let relative = self.relative(span)?;
        self.expanded.source(&self.statement.template.map, relative)
    }

    /// The range of the PTX text within the template's.
    pub(crate) fn relative(&self, span: Span) -> Option<Span> {
        let within = self.template.start <= span.start && span.end <= self.template.end;
        within.then(|| Span::new(span.start - self.template.start, span.end - self.template.start))
    }

    /// The end of a range of the PTX text, counted from the template's start.
    pub(crate) fn relative_end(&self, span: Span) -> u32 {
        span.end.saturating_sub(self.template.start)
    }

    /// The place of an instruction in the CUDA source, without its `;`.
    pub(crate) fn instruction_place(&self, instruction: u32) -> Option<Span> {
        let (_, body) = self.function()?;
        let span = body.span(Handle::new(instruction));
        let text = span.text(&self.text).trim_end_matches(';').trim_end();
        self.place(Span::new(span.start, span.start + text.len() as u32))
    }

    /// The text of an instruction with its operands as the template has them.
    pub(crate) fn instruction_text(&self, instruction: u32) -> String {
        let Some((_, body)) = self.function() else { return String::new() };
        let text = body.span(Handle::new(instruction)).text(&self.text).trim_end_matches(';').trim_end();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether an edit of the statement's own text is possible: not where a macro gives it.
    pub(crate) fn can_edit_constraint(&self, operand: usize) -> Option<Span> {
        let operand = self.statement.operands().nth(operand)?;
        let constraint = &operand.constraint;
        let literal = constraint.span.text(self.source);
        (!constraint.from_macro && literal.starts_with('"') && literal.ends_with('"'))
            .then_some(constraint.span)
    }

    /// What the source calls an operand: its number and its expression.
    pub(crate) fn operand_name(&self, index: usize) -> String {
        // A macro of another file may give the expression.
        let is_elsewhere =
            |expression| self.statement.other_macro.is_some() && inside(self.statement.keyword, expression);
        match self.statement.operands().nth(index) {
            Some(operand) if operand.expression.is_empty() || is_elsewhere(operand.expression) => {
                format!("%{index}`")
            }
            Some(operand) => {
                let expression = operand.expression.text(self.source);
                let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("%{index}` (`{expression}`)")
            }
            None => format!("%{index}`"),
        }
    }
}

/// Whether `inner` lies in `outer`.
pub(crate) fn inside(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The operands, and what the text calls each.
fn pseudo(statement: &AsmStatement, source: &str, target: Target) -> (Vec<Pseudo>, Vec<String>) {
    let mut next = 0;
    let mut operands = Vec::new();
    let mut names = Vec::new();
    let outputs = statement.outputs.len();
    for (index, operand) in statement.operands().enumerate() {
        let constraint = &operand.constraint;
        let mode = match (index < outputs, constraint.is_read_write()) {
            (false, _) => Mode::Input,
            (true, true) => Mode::InOut,
            (true, false) => Mode::Output,
        };
        let letter = constraint.letter().filter(|_| constraint.known);
        let constant = matches!(letter, Some('n' | 'i'));
        let register = letter.and_then(|letter| register_type(letter, target)).map(|_| {
            next += 1;
            Register(next - 1)
        });
        let value = match letter {
            // The text of an array of characters, put into the template as it is.
            Some('C') => Some(PLACEHOLDER.to_owned()),
            _ => constant.then(|| constant_value(operand.expression.text(source))).flatten(),
        };
        names.push(value.unwrap_or_else(|| format!("%{index}")));
        operands.push(Pseudo { mode, register, letter, constant });
    }
    // A matching constraint, `"0"`, passes the old value of that output in.
    let is_digit = |byte: u8| byte.is_ascii_digit();
    for operand in statement.inputs.iter().filter(|input| input.constraint.text.bytes().any(is_digit)) {
        if let Some(output) =
            operand.constraint.letters().parse().ok().and_then(|index: usize| operands.get_mut(index))
        {
            output.mode = Mode::InOut;
        }
    }
    (operands, names)
}

/// The value of a literal, as the compiler prints it.
fn constant_value(expression: &str) -> Option<String> {
    let digits = expression.trim_end_matches(['u', 'U', 'l', 'L']);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest.trim_start()));
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok()?,
        None => digits.parse().ok()?,
    };
    Some(format!("{sign}{value}"))
}

/// The PTX text, the place of the template in it, and how many braces the template leaves open.
fn module(
    operands: &[Pseudo],
    names: &[String],
    expanded: &Expanded,
    aim: Aim,
) -> (String, Span, Heading, i32) {
    let mut text = format!(".version {}\n.target ", aim.version);
    let target = Heading::new(&mut text, aim.target);
    text.push_str("\n.address_size 64\n.func asm_statement()\n{\n");
    let ty_of = |operand: &Pseudo| {
        let letter = operand.letter.filter(|_| operand.register.is_some());
        letter.and_then(|letter| register_type(letter, aim.target))
    };
    let mut before = None;
    for (operand, name) in operands.iter().zip(names) {
        let Some(ty) = ty_of(operand) else { continue };
        match before {
            Some(same) if same == ty => text.push_str(", "),
            Some(_) => text.push_str(";\n"),
            None => {}
        }
        if before != Some(ty) {
            text.push_str(".reg ");
            text.push_str(ty.as_str());
            text.push(' ');
        }
        text.push_str(name);
        before = Some(ty);
    }
    if before.is_some() {
        text.push_str(";\n");
    }
    let (lowest, end) = brace_depth(&expanded.text);
    text.extend(std::iter::repeat_n('{', lowest.unsigned_abs() as usize));
    text.push('\n');
    let start = text.len() as u32;
    text.push_str(&expanded.text);
    let template = Span::new(start, text.len() as u32);
    text.push('\n');
    text.extend(std::iter::repeat_n('}', (end - lowest) as usize));
    text.push('\n');
    // In a scope of their own, the names hide those of the template.
    text.push('{');
    let mut declared = Vec::new();
    for (operand, name) in operands.iter().zip(names).filter(|(operand, _)| operand.mode == Mode::Output) {
        let Some(ty) = ty_of(operand) else { continue };
        let suffix = move_suffix(ty);
        if !declared.contains(&ty) {
            declared.push(ty);
            let _ = write!(text, " .reg {ty} %asm_end_{};", &suffix[1..]);
        }
        for part in [" mov", suffix, " %asm_end_", &suffix[1..], ", ", name, ";"] {
            text.push_str(part);
        }
    }
    text.push_str(" }\n}\n");
    (text, template, target, end)
}

fn move_suffix(ty: Type) -> &'static str {
    match ty {
        Type::B16 | Type::B64 | Type::B128 | Type::F32 | Type::F64 | Type::Pred => ty.as_str(),
        _ => Type::B32.as_str(),
    }
}

/// The lowest depth of braces in a text, at most 0, and the depth at its end. Braces of vector operands are
/// balanced, so they do not matter.
fn brace_depth(text: &str) -> (i32, i32) {
    if !text.contains(['{', '}']) {
        return (0, 0);
    }
    let (mut lowest, mut depth) = (0, 0);
    for token in ptx_syntax::lexer::Lexer::new(text) {
        match token.kind {
            ptx_syntax::lexer::TokenKind::OpenBrace => depth += 1,
            ptx_syntax::lexer::TokenKind::CloseBrace => depth -= 1,
            _ => {}
        }
        lowest = lowest.min(depth);
    }
    (lowest, depth)
}

/// The words of a file's own text, outside asm templates and comments; a name that no template declares may then be a
/// variable or function of the program.
pub(crate) fn words_of_file<'a>(source: &'a str, file: &CudaFile) -> HashSet<&'a str> {
    let comments = ptx_syntax::cuda::comments(source);
    let templates = file.statements.iter().map(|statement| statement.template.span);
    let mut hidden: Vec<Span> = comments.into_iter().chain(templates).collect();
    hidden.sort_unstable_by_key(|span| (span.start, span.end));
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let mut words = HashSet::new();
    let mut add = |text: &'a str| words.extend(text.split(|c| !is_part(c)).filter(|word| !word.is_empty()));
    let mut at = 0;
    for span in hidden {
        add(source.get(at..span.start as usize).unwrap_or(""));
        at = at.max(span.end as usize);
    }
    add(source.get(at..).unwrap_or(""));
    words
}
