//! What extraction returns: plain data, tied together by typed handles.

use super::condition::{Condition, Conditions};
use super::ctype::CType;
use super::host::{Host, HostProblem};
use super::scan::Token;
use super::template::Template;
use crate::Span;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(super) u32);

        impl $name {
            /// The position in its list of [`CudaFile`].
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

handle!(
    /// A statement of [`CudaFile::statements`].
    AsmId
);
handle!(
    /// A function of [`CudaFile::functions`].
    FunctionId
);
handle!(
    /// A macro of [`CudaFile::macros`].
    MacroId
);
handle!(
    /// A macro of [`CudaFile::other_macros`].
    OtherMacroId
);
handle!(
    /// A region of [`CudaFile::regions`].
    RegionId
);
handle!(
    /// A preprocessor condition of [`CudaFile::conditions`].
    ConditionId
);

/// Everything that extraction finds in one source file.
#[derive(Clone, Debug, Default)]
pub struct CudaFile {
    /// Every asm statement, in the order of their keywords; those of `#define` bodies among them. After them all,
    /// the statements of macros where these are used.
    pub statements: Vec<AsmStatement>,
    /// Every function whose body is in the file, lambdas not counted.
    pub functions: Vec<Function>,
    /// Every `#define`.
    pub macros: Vec<Macro>,
    /// The macros of other files whose asm statements are read where this file uses them.
    pub other_macros: Vec<OtherMacro>,
    /// Blocks, branches and loops of function bodies.
    pub regions: Vec<Region>,
    /// Preprocessor conditions. The first is that of the file and always holds.
    pub conditions: Vec<Condition>,
    /// Uses of `asm` that are no statements.
    pub non_statements: Vec<NonStatement>,
    /// Uses of macros that are not expanded, in order.
    pub unexpanded: Vec<Unexpanded>,
    /// Names that `#undef` takes back, with the condition around it, in order.
    pub(super) undefined: Vec<(Span, ConditionId)>,
}

impl CudaFile {
    /// The handles of all statements, in order.
    pub fn ids(&self) -> impl Iterator<Item = AsmId> + use<> {
        (0..self.statements.len() as u32).map(AsmId)
    }

    /// The handles of all functions, in order.
    pub fn function_ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len() as u32).map(FunctionId)
    }

    /// Whether other files may tell more: some text of a template is not known, a type, or what stands among operands.
    #[must_use]
    pub fn depends_on_others(&self) -> bool {
        let of_type = |operand: &Operand| operand.ctype == CType::Unknown || !operand.constraint.known;
        self.statements.iter().any(|statement| {
            statement.template.has_wildcards()
                || !statement.oddities.is_empty()
                || statement.outputs.iter().chain(&statement.inputs).any(of_type)
        })
    }

    /// The statement of a handle.
    #[must_use]
    pub fn statement(&self, id: AsmId) -> &AsmStatement {
        &self.statements[id.index()]
    }

    /// The function of a handle.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// The macro of a handle.
    #[must_use]
    pub fn macro_definition(&self, id: MacroId) -> &Macro {
        &self.macros[id.index()]
    }

    /// The macro of a handle.
    #[must_use]
    pub fn other_macro(&self, id: OtherMacroId) -> &OtherMacro {
        &self.other_macros[id.index()]
    }

    /// The region of a handle.
    #[must_use]
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// Prepares the conditions of this file to be asked. Macros that the file defines are taken to be defined here
    /// alone; what neither the file nor the asked values say is unknown.
    #[must_use]
    pub fn conditions_of<'f>(&'f self, source: &'f str) -> Conditions<'f> {
        Conditions::new(self, source)
    }
}

/// A use of a macro that is not expanded: the asm statements it stands for are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unexpanded {
    /// Why.
    pub reason: ExpansionLimit,
    /// The name of the macro where it is used.
    pub call: Span,
    /// How many further uses of macros in the file have the same fate.
    pub others: u32,
}

/// What ends the expansion of macros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpansionLimit {
    /// Macros are nested deeper than [`MAX_EXPANSION_DEPTH`](super::MAX_EXPANSION_DEPTH).
    Depth,
    /// The macros of the file stand for more text than is read.
    Size,
}

/// One asm statement.
#[derive(Clone, Debug)]
pub struct AsmStatement {
    /// Whose rules hold.
    pub host: Host,
    /// What is wrong with it as a statement of another host than CUDA C++.
    pub host_problems: Vec<HostProblem>,
    /// From the keyword to the closing parenthesis.
    pub span: Span,
    /// The keyword, or the name of the macro that stands for it.
    pub keyword: Span,
    /// Whether it is `volatile`, by itself or through the macro that stands for the keyword.
    pub volatile: bool,
    /// Whether it has the qualifier `goto`.
    pub goto: bool,
    /// Where `volatile` could be inserted: after the keyword and its qualifiers.
    pub after_qualifiers: u32,
    /// The template.
    pub template: Template,
    /// Operands between the first and the second colon.
    pub outputs: Vec<Operand>,
    /// Operands between the second and the third colon.
    pub inputs: Vec<Operand>,
    /// Strings after the third colon.
    pub clobbers: Vec<Clobber>,
    /// Names after the fourth colon.
    pub labels: Vec<Span>,
    /// How many colons separate the sections, 0 to 4.
    pub colons: u32,
    /// Whether the lists of operands are all there; not so where a macro stands for several operands.
    pub complete: bool,
    /// What is odd about the way it is written.
    pub oddities: Vec<Oddity>,
    /// The preprocessor condition at the keyword.
    pub condition: ConditionId,
    /// The branches of `#if` lines inside the statement, and whether this variant takes them.
    pub branches: Vec<(ConditionId, bool)>,
    /// 0, or which choice of the branches of `#if` lines inside the statement this is.
    pub variant: u32,
    /// How many such choices there are; no more than [`MAX_VARIANTS`](super::MAX_VARIANTS) are read.
    pub choices: u32,
    /// The function whose body holds it; none at file scope and in a `#define`.
    pub function: Option<FunctionId>,
    /// The innermost block, branch or loop that holds it, where there is a function.
    pub region: Option<RegionId>,
    /// The `#define` whose body holds it.
    pub macro_definition: Option<MacroId>,
    /// For a statement that is read where its macro is used, with the arguments there: the macro's name there.
    pub used_at: Option<Span>,
    /// The macro of another file that holds it. What it says stands at a name in this file then, and so does its keyword.
    pub other_macro: Option<OtherMacroId>,
    /// How many statements of other files came before it where it stands: one macro may hold several.
    pub ordinal: u32,
}

impl AsmStatement {
    /// Whether a macro gives its text, which no edit can change for this statement alone.
    #[must_use]
    pub const fn is_of_macro(&self) -> bool {
        self.macro_definition.is_some() || self.other_macro.is_some()
    }

    /// Outputs and inputs in the order in which the template numbers them.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.outputs.iter().chain(&self.inputs)
    }

    /// Whether the clobber list names `memory`.
    #[must_use]
    pub fn clobbers_memory(&self) -> bool {
        self.clobbers.iter().any(|clobber| clobber.text == "memory")
    }
}

/// An operand of an asm statement.
#[derive(Clone, Debug)]
pub struct Operand {
    /// From the name or the constraint to the closing parenthesis.
    pub span: Span,
    /// The symbolic name, without its brackets.
    pub name: Option<Span>,
    /// The constraint string.
    pub constraint: Constraint,
    /// The C++ expression, without its parentheses.
    pub expression: Span,
    /// The tokens of the expression, until its type is known.
    pub(super) tokens: Vec<Token>,
    /// The type of the expression as far as the declarations in sight tell it.
    pub ctype: CType,
    /// Where it is of the type of a parameter of the function's template: the types that uses of the template in sight give
    /// to it, each of them once.
    pub instances: Vec<Instance>,
    /// Whether the expression is the name of a variable of the function that is not constant.
    pub changes: bool,
    /// Whether the value is certainly the same in every execution.
    pub constant: bool,
    /// Whether nothing can be stored to the expression, so that it can be no output.
    pub is_no_output: bool,
    /// Whether the expression is a variable, or a part of one, that certainly has no value before the statement.
    pub unset: bool,
    /// Whether it is a result that nobody uses, in a host that wants one.
    pub unused: bool,
}

/// A type that a use of a template gives to a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The type.
    pub ctype: CType,
    /// The name in the first such use.
    pub span: Span,
}

/// The constraint of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The decoded string: `=&r`; empty where it is not known.
    pub text: String,
    /// The string literal, or the macro's name, in the source.
    pub span: Span,
    /// Whether a macro of the file gives the string; then an edit at `span` would be wrong.
    pub from_macro: bool,
    /// Whether the string is known.
    pub known: bool,
}

impl Constraint {
    /// Whether the modifier `=` is there: the operand is written.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.text.contains('=')
    }

    /// Whether the modifier `+` is there: the operand is read and written.
    #[must_use]
    pub fn is_read_write(&self) -> bool {
        self.text.contains('+')
    }

    /// Whether the modifier `&` is there: the operand is written before the inputs are read.
    #[must_use]
    pub fn is_early_clobber(&self) -> bool {
        self.text.contains('&')
    }

    /// The letter, where there is one.
    #[must_use]
    pub fn letter(&self) -> Option<char> {
        let mut letters = self.text.chars().filter(|&letter| !is_modifier(letter));
        letters.next().filter(|_| letters.next().is_none())
    }

    /// What is left without the modifiers `=`, `+`, `&`, `%` and white space: normally one letter.
    #[must_use]
    pub fn letters(&self) -> String {
        self.text.chars().filter(|&letter| !is_modifier(letter)).collect()
    }
}

/// Whether what stands in a constraint is no letter.
fn is_modifier(character: char) -> bool {
    matches!(character, '=' | '+' | '&' | '%') || character.is_whitespace()
}

/// An entry of the clobber list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clobber {
    /// The decoded string.
    pub text: String,
    /// The literal or macro in the source.
    pub span: Span,
}

/// Something odd about the way a statement is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// What.
    pub kind: OddityKind,
    /// Where.
    pub span: Span,
}

/// The kinds of [`Oddity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OddityKind {
    /// Two operands are beside each other without a comma; the place is between them.
    MissingComma,
    /// A comma with nothing after it.
    TrailingComma,
    /// A part of the statement that is neither string, operand, comma nor colon.
    Unexpected,
    /// A constraint without its parenthesised expression.
    MissingExpression,
    /// A parenthesised expression without its constraint.
    MissingConstraint,
    /// An operand's parentheses hold nothing.
    EmptyExpression,
    /// No closing parenthesis.
    Unterminated,
    /// More than four colons.
    ExtraColon,
    /// No template at all.
    MissingTemplate,
    /// A qualifier such as `volatile` is there twice.
    RepeatedQualifier,
}

/// A use of the keyword that is no statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonStatement {
    /// What it is instead.
    pub kind: NonStatementKind,
    /// The keyword.
    pub span: Span,
}

/// What a use of `asm` that is no statement can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NonStatementKind {
    /// The assembler name of a declaration: `int f() asm("name");`.
    SymbolName,
    /// A block of Microsoft's compiler: `__asm { … }` or `__asm int 3`.
    Microsoft,
    /// The definition of a macro that stands for the keyword: `#define ASM asm volatile`.
    Alias,
    /// Anything else: the name is not followed by a parenthesis.
    Name,
}

/// Function specifiers that decide how its asm statements behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Qualifiers {
    /// `__device__`.
    pub device: bool,
    /// `__global__`.
    pub global: bool,
    /// `__host__`.
    pub host: bool,
    /// `inline`, `__inline__` or a constexpr function.
    pub inline: bool,
    /// `__forceinline__`, or a macro whose name says so.
    pub force_inline: bool,
    /// `__noinline__`.
    pub no_inline: bool,
    /// Below a `template`, its own or that of its class.
    pub template: bool,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name: for `operator+`, the word `operator`.
    pub name: Span,
    /// From the first token of the declaration to the opening brace.
    pub header: Span,
    /// The body, braces included.
    pub body: Span,
    /// Specifiers as written, or as names of macros suggest.
    pub qualifiers: Qualifiers,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The type that it returns.
    pub returns: CType,
    /// The preprocessor condition at its name.
    pub condition: ConditionId,
    /// What happens in its body, in order of the text.
    pub events: Vec<Event>,
}

impl Function {
    /// The asm statements of the body, in order of the text.
    pub fn statements(&self) -> impl Iterator<Item = AsmId> {
        self.events.iter().filter_map(|event| match event.kind {
            EventKind::Asm(id) => Some(id),
            EventKind::Call | EventKind::Label | EventKind::Jump => None,
            EventKind::Enter(_) | EventKind::Leave(_) => None,
        })
    }
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name; empty where it has none.
    pub name: Span,
    /// The type.
    pub ctype: CType,
}

/// A `#define`.
#[derive(Clone, Debug)]
pub struct Macro {
    /// The name.
    pub name: Span,
    /// The names of its parameters; none for a macro without parentheses.
    pub parameters: Option<Vec<Span>>,
    /// What it stands for.
    pub body: Span,
    /// The condition under which it is defined.
    pub condition: ConditionId,
    /// The asm statements of its body.
    pub statements: Vec<AsmId>,
}

/// A macro of a file that the source includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherMacro {
    /// Its name.
    pub name: String,
    /// The file, as whoever read it calls it.
    pub file: String,
    /// The line of its `#define`, from 1.
    pub line: u32,
}

/// One thing that happens in a function body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// Where: the keyword, the name that is called, the label, the word that jumps.
    pub span: Span,
    /// The innermost region.
    pub region: RegionId,
}

/// What can happen in a function body, as far as asm statements care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An asm statement.
    Asm(AsmId),
    /// A name followed by a parenthesis: a call, a macro or a cast; the event's span is the name.
    Call,
    /// A label or a `case`: control may come from elsewhere.
    Label,
    /// `goto`, `return`, `break`, `continue`: control may go elsewhere.
    Jump,
    /// A region begins.
    Enter(RegionId),
    /// A region ends.
    Leave(RegionId),
}

/// A part of a function body that is entered as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// What it is.
    pub kind: RegionKind,
    /// The region around it; none for a function's body.
    pub parent: Option<RegionId>,
    /// From its first to its last token.
    pub span: Span,
}

/// The kinds of [`Region`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// The body of a function.
    Body,
    /// A plain block.
    Block,
    /// The branch of an `if` that holds.
    Then,
    /// The branch of an `if` that does not hold.
    Else,
    /// A branch of `if constexpr`: chosen when compiling.
    Constexpr,
    /// `for`, its header included.
    For {
        /// Whether `#pragma unroll` is before it.
        unrolled: bool,
    },
    /// `while`.
    While,
    /// `do`.
    DoWhile,
    /// `switch`.
    Switch,
    /// `try` or `catch`.
    Try,
    /// The body of a lambda.
    Lambda,
    /// Statements given to a macro as an argument.
    MacroArgument,
}

impl RegionKind {
    /// Whether entering it, or how often, is decided when the program runs.
    #[must_use]
    pub const fn is_control_flow(self) -> bool {
        match self {
            Self::Then | Self::Else | Self::For { .. } | Self::While | Self::DoWhile => true,
            Self::Switch | Self::Try | Self::Lambda => true,
            Self::Body | Self::Block | Self::Constexpr | Self::MacroArgument => false,
        }
    }
}
