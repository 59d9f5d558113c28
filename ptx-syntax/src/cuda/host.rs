//! Statements of other hosts than CUDA C++ in the form of its asm statements, so that one verifier reads all.
//!
//! A front end finds a statement, decodes its template with a [`TemplateBuilder`], and writes operands as `%0`, as CUDA C++
//! does; [`Host`] remembers whose rules hold. [`Hosted`] is what it finds in a file: statements, and whole texts in strings.

use super::condition::{Condition, ConditionKind};
use super::ctype::CType;
use super::model::{AsmStatement, Clobber, ConditionId, Constraint, CudaFile, Operand};
use super::template::{Piece, PieceKind, Template, WILDCARD};
use crate::Span;

/// Whose rules hold for a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Host {
    /// CUDA C++.
    #[default]
    Cuda,
    /// Triton's `inline_asm_elementwise`.
    Triton,
    /// MLIR's `llvm.inline_asm` and what calls it, such as CuTe's DSL.
    Mlir,
    /// `nvvm.inline_ptx` of MLIR, which has no constraints.
    InlinePtx,
    /// LLVM IR.
    LlvmIr,
    /// Rust's `asm!`.
    Rust,
}

impl Host {
    /// Whether it is CUDA C++.
    #[must_use]
    pub const fn is_cuda(self) -> bool {
        matches!(self, Self::Cuda)
    }

    /// How an operand is written in a template.
    #[must_use]
    pub fn operand(self, index: &str) -> String {
        match self {
            Self::Cuda => format!("%{index}"),
            Self::Triton | Self::Mlir | Self::LlvmIr | Self::InlinePtx => format!("${index}"),
            Self::Rust => format!("{{{index}}}"),
        }
    }

    /// What makes a statement one that is neither deleted nor merged nor moved.
    #[must_use]
    pub const fn volatile(self) -> &'static str {
        match self {
            Self::Cuda => "`volatile`",
            Self::Triton => "`is_pure=False`",
            Self::Mlir | Self::InlinePtx => "`has_side_effects`",
            Self::LlvmIr => "`sideeffect`",
            Self::Rust => "without `pure`",
        }
    }

    /// What marks an output whose old value is not passed in.
    #[must_use]
    pub const fn write_only(self) -> &'static str {
        match self {
            Self::Cuda | Self::Triton | Self::Mlir | Self::LlvmIr => "`=`",
            Self::InlinePtx => "write-only",
            Self::Rust => "`out`",
        }
    }

    /// How the old value of an output is passed in.
    #[must_use]
    pub const fn read_write(self) -> &'static str {
        match self {
            Self::Cuda => "write `+` instead of `=`",
            Self::Triton | Self::Mlir | Self::LlvmIr => {
                "pass the old value in, as an input whose constraint is the output's number"
            }
            Self::InlinePtx => "pass it among the operands that are read and written",
            Self::Rust => "write `inout` instead of `out`",
        }
    }

    /// What gives a number of its own to each copy of a statement, where there is such a thing.
    #[must_use]
    pub const fn unique(self) -> Option<&'static str> {
        match self {
            Self::Cuda => Some("%="),
            Self::Triton | Self::Mlir | Self::LlvmIr => Some("${:uid}"),
            Self::InlinePtx | Self::Rust => None,
        }
    }

    /// Whether outputs are new values, and no variables that have one already.
    #[must_use]
    pub const fn has_results(self) -> bool {
        !matches!(self, Self::Cuda | Self::Rust)
    }
}

/// What a front end finds in a file.
#[derive(Clone, Debug, Default)]
pub struct Hosted {
    /// The statements.
    pub file: CudaFile,
    /// Texts in strings.
    pub documents: Vec<Document>,
    /// The comments of the file, in order.
    pub comments: Vec<Span>,
}

/// A whole text in a string of a file.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it is.
    pub kind: DocumentKind,
    /// The text and the way back.
    pub template: Template,
}

/// The kinds of [`Document`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// A PTX module.
    Ptx,
    /// CUDA C++.
    Cuda,
}

/// A statement as a front end finds it.
#[derive(Clone, Debug)]
pub struct HostStatement {
    /// Whose rules hold.
    pub host: Host,
    /// The whole statement.
    pub span: Span,
    /// The word that makes it one.
    pub keyword: Span,
    /// Whether it may be neither deleted nor merged nor moved.
    pub volatile: bool,
    /// The template, with operands as CUDA C++ has them.
    pub template: Template,
    /// The outputs.
    pub outputs: Vec<HostOperand>,
    /// The inputs.
    pub inputs: Vec<HostOperand>,
    /// Whether it clobbers memory.
    pub memory: bool,
    /// Whether all operands are known.
    pub complete: bool,
    /// What is wrong with it as a statement of its host.
    pub problems: Vec<HostProblem>,
}

/// An operand as a front end finds it.
#[derive(Clone, Debug)]
pub struct HostOperand {
    /// The constraint as CUDA C++ has it: `=&r`; `=` alone, or nothing, where only its place is known.
    pub constraint: String,
    /// Where it is written.
    pub span: Span,
    /// The value; empty where it has no place of its own.
    pub expression: Span,
    /// The type of the value.
    pub ctype: CType,
    /// Whether the value is certainly the same in every execution.
    pub constant: bool,
    /// Whether it is a result that nobody uses.
    pub unused: bool,
}

/// What can be wrong with a statement as one of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostProblem {
    /// What.
    pub kind: HostProblemKind,
    /// Where.
    pub span: Span,
}

/// The kinds of [`HostProblem`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostProblemKind {
    /// There are constraints for so many inputs, and so many values.
    Inputs {
        /// Constraints.
        constraints: usize,
        /// Values.
        values: usize,
    },
    /// There are constraints for so many outputs, and so many results.
    Outputs {
        /// Constraints.
        constraints: usize,
        /// Results.
        results: usize,
        /// Why there are so many results, as in "one for each 32 bits of 4 elements of `int8`".
        why: String,
    },
    /// So many elements do not fill registers of 32 bits.
    Pack {
        /// The elements.
        elements: usize,
        /// Their size in bits.
        bits: u32,
    },
    /// The dialect is Intel's.
    IntelDialect,
    /// A dialect is named, and the template has braces.
    DialectWithBraces,
    /// A constraint that the host does not know.
    Constraint(String),
}

/// An integer of so many bits, for values whose size alone counts; not known where no register holds it.
#[must_use]
pub const fn ctype_of_bits(bits: u32) -> CType {
    match bits {
        1 => CType::Bool,
        2..=8 => CType::integer(1, false),
        9..=16 => CType::integer(2, false),
        17..=32 => CType::integer(4, false),
        33..=64 => CType::integer(8, false),
        65..=128 => CType::integer(16, false),
        _ => CType::Unknown,
    }
}

impl CudaFile {
    /// A file of these statements. They are in no function, and no conditions are around them.
    #[must_use]
    pub fn of_host(statements: Vec<HostStatement>) -> Self {
        let whole = Condition {
            kind: ConditionKind::File,
            expression: Span::at(0),
            parent: None,
            previous: None,
            choices: 1,
        };
        let statements = statements.into_iter().map(AsmStatement::of_host).collect();
        Self { statements, conditions: vec![whole], ..Self::default() }
    }
}

impl AsmStatement {
    fn of_host(of: HostStatement) -> Self {
        let clobber = Clobber { text: "memory".to_owned(), span: of.keyword };
        Self {
            host: of.host,
            host_problems: of.problems,
            span: of.span,
            keyword: of.keyword,
            volatile: of.volatile,
            goto: false,
            after_qualifiers: of.keyword.end,
            template: of.template,
            outputs: of.outputs.into_iter().map(|output| Operand::of_host(output, of.host)).collect(),
            inputs: of.inputs.into_iter().map(|input| Operand::of_host(input, of.host)).collect(),
            clobbers: if of.memory { vec![clobber] } else { Vec::new() },
            labels: Vec::new(),
            // So that a template without operands is read as one with operands is.
            colons: 3,
            complete: of.complete,
            oddities: Vec::new(),
            condition: ConditionId(0),
            branches: Vec::new(),
            variant: 0,
            choices: 1,
            function: None,
            region: None,
            macro_definition: None,
            used_at: None,
            other_macro: None,
            ordinal: 0,
        }
    }
}

impl Operand {
    fn of_host(of: HostOperand, host: Host) -> Self {
        let known = !matches!(of.constraint.as_str(), "" | "=" | "+");
        Self {
            span: if of.expression.is_empty() { of.span } else { of.expression },
            name: None,
            constraint: Constraint { text: of.constraint, span: of.span, from_macro: true, known },
            expression: of.expression,
            tokens: Vec::new(),
            ctype: of.ctype,
            changes: false,
            constant: of.constant,
            instances: Vec::new(),
            is_no_output: false,
            unset: host.has_results(),
            unused: of.unused,
        }
    }
}

/// Makes a [`Template`] piece by piece.
#[derive(Clone, Debug, Default)]
pub struct TemplateBuilder {
    template: Template,
}

impl TemplateBuilder {
    /// Appends text that is in the source from `source` on, byte for byte.
    pub fn copy(&mut self, text: &str, source: u32) {
        self.template.map.push_verbatim(text.len() as u32, source);
        self.push(PieceKind::Literal, text, Span::new(source, source + text.len() as u32));
    }

    /// Appends text that all comes from `source`: an escape, for instance.
    pub fn replace(&mut self, text: &str, source: Span) {
        self.template.map.push_opaque(text.len() as u32, source);
        self.push(PieceKind::Literal, text, source);
    }

    /// Appends a part that is not known.
    pub fn wildcard(&mut self, source: Span) {
        self.template.map.push_opaque(WILDCARD.len_utf8() as u32, source);
        self.push(PieceKind::Wildcard, WILDCARD.encode_utf8(&mut [0; 4]), source);
    }

    /// Appends a part of another template.
    pub fn take(&mut self, from: &Template, part: Span) {
        let text = part.text(&from.text);
        let mut at = part.start;
        for character in text.chars() {
            let next = at + character.len_utf8() as u32;
            let whole = Span::new(at, next);
            let source = from.map.span(whole);
            match character {
                WILDCARD => self.wildcard(source),
                _ if from.map.is_verbatim(whole) => {
                    self.copy(character.encode_utf8(&mut [0; 4]), source.start);
                }
                _ => self.replace(character.encode_utf8(&mut [0; 4]), source),
            }
            at = next;
        }
    }

    /// The template.
    #[must_use]
    pub fn finish(mut self) -> Template {
        self.template.shrink();
        self.template
    }

    fn push(&mut self, kind: PieceKind, text: &str, source: Span) {
        let start = self.template.text.len() as u32;
        self.template.text.push_str(text);
        let end = self.template.text.len() as u32;
        let is_first = self.template.pieces.is_empty();
        self.template.span = if is_first { source } else { self.template.span.to(source) };
        match self.template.pieces.last_mut() {
            Some(last) if last.kind == kind && kind == PieceKind::Literal => {
                last.decoded.end = end;
                last.source = last.source.to(source);
            }
            _ => self.template.pieces.push(Piece { kind, decoded: Span::new(start, end), source }),
        }
    }
}
