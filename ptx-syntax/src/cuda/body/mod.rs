//! Functions of CUDA C++ as trees: what hand-written kernels are made of, for those who follow what a kernel computes.
//!
//! [`program`] reads the functions, constants and structures of one file. It is no compiler: what it does not know
//! (virtual methods, exceptions) becomes [`StatementKind::Unknown`],
//! [`ExpressionKind::Unknown`] or [`TypeName::Unknown`], and who reads a function that has one of these knows that
//! the function is not known.
//!
//! # Invariants
//! * Nothing fails and nothing panics, whatever the bytes; time and memory are in proportion to the text, and what macros
//!   stand for has a bound.
//! * No tree is deeper than [`DEEPEST`]: what is deeper is unknown.
//! * Macros are expanded, and conditions decided as a compiler does that was told no macros: a name that nothing defines
//!   is not defined.

mod arrays;
mod builtin;
mod conditions;
mod expression;
mod launches;
mod lists;
mod namespaces;
mod parameters;
mod statement;
mod structure;
mod tokens;
mod top;
mod types;

use std::collections::HashMap;
pub use types::vector;

use super::condition::Truths;
use super::model::{AsmId, CudaFile};
use crate::Span;

/// No tree is deeper.
pub const DEEPEST: u32 = 72;

/// The operator that takes the member of an object which a pointer names.
pub const MEMBER_POINTER: &str = ".*";

/// What a file declares.
#[derive(Clone, Debug, Default)]
pub struct Program<'s> {
    /// Functions with bodies, in order.
    pub functions: Vec<Function<'s>>,
    /// Lambdas, as functions without names.
    pub lambdas: Vec<Function<'s>>,
    /// Constants outside functions; those that are declared twice have no value.
    pub constants: HashMap<&'s str, Option<Expression<'s>>>,
    /// Those that are templates, with their parameters.
    pub templates_of_constants: HashMap<&'s str, (Vec<TemplateParameter<'s>>, Expression<'s>)>,
    /// Constants in functions, where no two have the same name.
    pub constants_of_functions: HashMap<&'s str, Option<Expression<'s>>>,
    /// Structures, by their [`StructureId`].
    structures: Vec<Structure<'s>>,
    /// Which of them a name means in a structure, or outside all; none where several have it, or others for some arguments of
    /// its template.
    named: HashMap<(Option<StructureId>, &'s str), Option<StructureId>>,
    /// Which of those in others a name means, wherever it stands.
    nested: HashMap<&'s str, Option<StructureId>>,
    /// Specialisations of templates of structures, by where those are and their names.
    specialized: HashMap<(Option<StructureId>, &'s str), Vec<StructureId>>,
    /// Other names of types.
    pub aliases: HashMap<&'s str, TypeName<'s>>,
    /// The parameters of those that are templates.
    pub templates_of_aliases: HashMap<&'s str, Vec<TemplateParameter<'s>>>,
    /// Whether a function is an operator.
    pub has_operators: bool,
    /// Shared and device variables outside functions.
    pub variables: Vec<Variable<'s>>,
    /// Whether kernels are launched that may begin before those that are launched before them have ended.
    pub has_early_launches: bool,
    /// Where kernels are launched, `name<…><<<…>>>`, and where a function's template is used, `name<…>`.
    pub launches: Vec<Launch<'s>>,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct Function<'s> {
    /// Its name.
    pub name: &'s str,
    /// The structure that it is a method of; its constructor has the same name.
    pub owner: Option<StructureId>,
    /// Where that stands.
    pub span: Span,
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Whether it is one for the device.
    pub is_device: bool,
    /// The parameters of its template, none where it is none.
    pub template: Vec<TemplateParameter<'s>>,
    /// The arguments of the template that it is a specialisation of.
    pub specialized: Option<Vec<TemplateArgument<'s>>>,
    /// What has to hold so that the template is meant.
    pub conditions: Vec<Expression<'s>>,
    /// What a lambda keeps of where it stands, besides the names around it.
    pub captures: Vec<Capture<'s>>,
    /// Whether a lambda may change the copies that it keeps.
    pub is_mutable: bool,
    /// The names in a lambda that keeps a copy of all that it names.
    pub copies: Vec<&'s str>,
    /// All names in a lambda.
    pub mentions: Vec<&'s str>,
    /// What it returns.
    pub returns: TypeName<'s>,
    /// Its parameters.
    pub parameters: Vec<Parameter<'s>>,
    /// The arguments of `__launch_bounds__`.
    pub launch_bounds: Vec<Expression<'s>>,
    /// The argument of `__maxnreg__`.
    pub max_registers: Option<Expression<'s>>,
    /// The arguments of `__cluster_dims__`.
    pub cluster: Vec<Expression<'s>>,
    /// Where its body stands.
    pub extent: Span,
    /// Its body.
    pub body: Vec<Statement<'s>>,
}

/// A copy that a lambda keeps.
#[derive(Clone, Debug)]
pub struct Capture<'s> {
    /// Its name in the lambda.
    pub name: &'s str,
    /// What it is a copy of; that of `&name = …` is the place itself.
    pub value: Expression<'s>,
    /// Whether it is a reference.
    pub is_reference: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter<'s> {
    /// Its name; empty where it has none.
    pub name: &'s str,
    /// Its type.
    pub ty: TypeName<'s>,
    /// What it is where no argument is given.
    pub default: Option<Expression<'s>>,
    /// Whether it takes all arguments that are left.
    pub is_pack: bool,
    /// Whether it points to what nobody writes meanwhile: `const T* __restrict__`.
    pub is_read_only: bool,
    /// Whether the function does not write what it points to: `const T*`.
    pub is_constant: bool,
}

/// A parameter of a template.
#[derive(Clone, Debug)]
pub struct TemplateParameter<'s> {
    /// Its name; empty where it has none.
    pub name: &'s str,
    /// Whether it stands for a type.
    pub is_type: bool,
    /// Whether it stands for all arguments that are left.
    pub is_pack: bool,
    /// What it is where no argument is given.
    pub default: Option<TemplateArgument<'s>>,
    /// What has to hold so that the template is meant: `std::enable_if_t<a, int> = 0`.
    pub conditions: Vec<Expression<'s>>,
}

/// An argument of a template: a type or a value.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateArgument<'s> {
    /// What can only be a type.
    Type(TypeName<'s>),
    /// A value, or the name of a type.
    Value(Expression<'s>),
}

/// A launch of a kernel, or another use of a function's template.
#[derive(Clone, Debug)]
pub struct Launch<'s> {
    /// The kernel.
    pub name: &'s str,
    /// Where that stands.
    pub span: Span,
    /// The arguments of its template.
    pub template: Vec<TemplateArgument<'s>>,
    /// How many threads a block has.
    pub threads: Option<Expression<'s>>,
    /// How many blocks a cluster has, in each extent that is told.
    pub cluster: Vec<Expression<'s>>,
    /// What it is called with, as far as that is understood.
    pub arguments: Vec<Expression<'s>>,
    /// Whether a configuration says how it is launched, which may let it begin early.
    pub is_configured: bool,
    /// Whether the function that makes this configuration names the attribute that lets it begin early.
    pub begins_early: bool,
}

/// A member of a structure that is a variable.
#[derive(Clone, Debug)]
pub struct Member<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its type.
    pub ty: TypeName<'s>,
    /// The alignment that is asked for.
    pub align: Option<Expression<'s>>,
    /// What it begins with.
    pub value: Option<Expression<'s>>,
}

/// Which structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StructureId(u32);

impl StructureId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

impl<'s> Program<'s> {
    /// A structure of this file.
    #[must_use]
    pub fn structure(&self, id: StructureId) -> &Structure<'s> {
        &self.structures[id.index()]
    }

    /// The structure that a name means in another one or outside all.
    #[must_use]
    pub fn structure_in(&self, outer: Option<StructureId>, name: &str) -> Option<StructureId> {
        self.named.get(&(outer, name)).copied().flatten()
    }

    /// Whether nobody knows which structure a name means there.
    #[must_use]
    pub fn is_ambiguous(&self, outer: Option<StructureId>, name: &str) -> bool {
        self.named.get(&(outer, name)) == Some(&None)
    }

    /// The specialisations of the template that a name means in a structure or outside all.
    #[must_use]
    pub fn specializations(&self, outer: Option<StructureId>, name: &'s str) -> &[StructureId] {
        self.specialized.get(&(outer, name)).map_or(&[], Vec::as_slice)
    }

    /// The only structure in others that has a name.
    #[must_use]
    pub fn nested(&self, name: &str) -> Option<StructureId> {
        self.nested.get(name).copied().flatten()
    }
}

/// A structure. Its methods are among the functions.
#[derive(Clone, Debug, Default)]
pub struct Structure<'s> {
    /// Its name.
    pub name: &'s str,
    /// The structure that it is in.
    pub outer: Option<StructureId>,
    /// What it is derived of, in order.
    pub bases: Vec<TypeName<'s>>,
    /// Those of them whose constructors are its own: `using Base::Base;`
    pub inherited: Vec<&'s str>,
    /// Its constants: what is `static constexpr` in it.
    pub constants: Vec<(&'s str, Expression<'s>)>,
    /// Other names of types in it.
    pub aliases: Vec<(&'s str, TypeName<'s>)>,
    /// Those that are templates, with their parameters.
    pub templates_of_aliases: Vec<(&'s str, Vec<TemplateParameter<'s>>, TypeName<'s>)>,
    /// The parameters of its template.
    pub template: Vec<TemplateParameter<'s>>,
    /// What the arguments of the template look like that it is a specialisation of.
    pub specialized: Option<Vec<TemplateArgument<'s>>>,
    /// Whether it has a body that is understood.
    pub is_known: bool,
    /// Whether it has a destructor that does something.
    pub has_destructor: bool,
    /// Its members in order.
    pub members: Vec<Member<'s>>,
    /// The alignment that is asked for.
    pub align: Option<Expression<'s>>,
    /// Whether its members share their memory.
    pub is_union: bool,
}

/// What numbers with a fraction of one size are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatKind {
    /// `float` and `double`.
    Plain,
    /// `__half`, and two of them.
    Half,
    /// `__nv_bfloat16`, and two of them.
    BFloat,
    /// `__nv_fp8_e4m3`, and two or four of them.
    E4M3,
    /// `__nv_fp8_e5m2`, and two or four of them.
    E5M2,
    /// `__nv_fp8_e8m0`.
    E8M0,
    /// `__nv_fp4_e2m1`, and four of them.
    E2M1,
    /// Two of these, which are as large as one.
    PairOfE2M1,
    /// `tf32`.
    Tf32,
}

/// A type as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeName<'s> {
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// An integer.
    Integer {
        /// 8, 16, 32 or 64.
        bits: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A number of another kind, of so many bits.
    Float(u32, FloatKind),
    /// A vector of CUDA, such as `float4`: its element and how many.
    Vector(Box<Self>, u32),
    /// `auto`.
    Auto,
    /// A type that is known by its name alone, with the arguments of its template.
    Named(&'s str, Vec<TemplateArgument<'s>>),
    /// A type in a structure, or in what a parameter of a template stands for, with the arguments of its template.
    Scoped(Box<Self>, &'s str, Vec<TemplateArgument<'s>>),
    /// `decltype(a)`: the type of an expression.
    Of(Box<Expression<'s>>),
    /// A structure whose body stands where it is used.
    Structure(StructureId),
    /// A type of CUDA's library, such as `cuda::barrier`.
    Library(&'s str),
    /// A pointer to a function or to a member: its value tells to which one.
    Function,
    /// A pointer.
    Pointer(Box<Self>),
    /// A reference.
    Reference(Box<Self>),
    /// `volatile T`.
    Volatile(Box<Self>),
    /// `T...`, one for each of what it stands for.
    Expand(Box<Self>),
    /// A member with a number of bits: `T name : 3`.
    Bits(Box<Self>, u32),
    /// An array; none is the length of `[]`.
    Array(Box<Self>, ArrayLength<'s>),
    /// Any other.
    Unknown,
}

impl TypeName<'_> {
    /// Whether a variable has the type of what it begins with: `auto`, `auto*`.
    #[must_use]
    pub fn is_told_by_value(&self) -> bool {
        match self {
            Self::Auto => true,
            Self::Pointer(of) => of.is_told_by_value(),
            _ => false,
        }
    }
}

/// How long an array is.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayLength<'s>(pub Option<Box<Expression<'s>>>);

/// An expression. Two are equal where they stand at the same place.
#[derive(Clone, Debug)]
pub struct Expression<'s> {
    /// What.
    pub kind: ExpressionKind<'s>,
    /// Where.
    pub span: Span,
    /// How deep it is.
    depth: u32,
}

impl<'s> Expression<'s> {
    /// A name by itself.
    #[must_use]
    pub const fn named(name: &'s str, span: Span) -> Self {
        Self { kind: ExpressionKind::Name(name, Vec::new()), span, depth: 1 }
    }

    /// `T::name`, which was read as a type.
    #[must_use]
    pub const fn scoped(
        owner: TypeName<'s>,
        name: &'s str,
        template: Vec<TemplateArgument<'s>>,
        span: Span,
    ) -> Self {
        Self { kind: ExpressionKind::Scoped { owner, name, template }, span, depth: 1 }
    }

    /// Another one of the same depth that stands here.
    #[must_use]
    pub const fn with(&self, kind: ExpressionKind<'s>) -> Self {
        Self { kind, span: self.span, depth: self.depth }
    }
}

impl<'s> Expression<'s> {
    /// A member of it.
    #[must_use]
    pub fn member(&self, name: &'s str) -> Self {
        let kind = ExpressionKind::Member {
            object: Box::new(self.clone()),
            name,
            arrow: false,
            template: Vec::new(),
        };
        Self { kind, span: self.span, depth: self.depth + 1 }
    }
}

impl Expression<'_> {
    /// An element of it.
    #[must_use]
    pub fn element(&self, index: u64) -> Self {
        let kind = ExpressionKind::Number { value: index, bits: 64, signed: false };
        let index = Self { kind, span: self.span, depth: 1 };
        let kind = ExpressionKind::Index(Box::new(self.clone()), Box::new(index));
        Self { kind, span: self.span, depth: self.depth + 1 }
    }
}

impl PartialEq for Expression<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.span == other.span
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind<'s> {
    /// An integer.
    Number {
        /// Its value.
        value: u64,
        /// 32 or 64.
        bits: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A number of another kind.
    Float(u32),
    /// `true` or `false`.
    Bool(bool),
    /// A string or a character.
    Text,
    /// A name, the last part of a qualified one, with arguments of a template.
    Name(&'s str, Vec<TemplateArgument<'s>>),
    /// `T::name`, of a structure or of what a parameter of a template stands for.
    Scoped {
        /// The structure, as a type.
        owner: TypeName<'s>,
        /// The name in it.
        name: &'s str,
        /// The arguments of its template.
        template: Vec<TemplateArgument<'s>>,
    },
    /// `a.b` and `a->b`.
    Member {
        /// The object, or the pointer to it.
        object: Box<Expression<'s>>,
        /// The name of the member.
        name: &'s str,
        /// Whether it is `->`.
        arrow: bool,
        /// The arguments of its template, where it is a method.
        template: Vec<TemplateArgument<'s>>,
    },
    /// `a[b]`.
    Index(Box<Expression<'s>>, Box<Expression<'s>>),
    /// `a(…)`.
    Call(Box<Expression<'s>>, Vec<Expression<'s>>),
    /// `-a`, `*a`, `&a`, `++a` and so on.
    Unary(&'s str, Box<Expression<'s>>),
    /// `a++` and `a--`.
    Postfix(&'s str, Box<Expression<'s>>),
    /// `a + b` and so on, `a, b` among them.
    Binary(&'s str, Box<Expression<'s>>, Box<Expression<'s>>),
    /// `a = b`, `a += b` and so on, without the `=`; `()` where a constructor says what a member begins with, and `.` where a list
    /// does.
    Assign(&'s str, Box<Expression<'s>>, Box<Expression<'s>>),
    /// `a ? b : c`.
    Choice(Box<Expression<'s>>, Box<Expression<'s>>, Box<Expression<'s>>),
    /// `(T)a`, `T(a)`, `static_cast<T>(a)` and so on.
    Cast(TypeName<'s>, Box<Expression<'s>>),
    /// `sizeof(T)`.
    SizeOfType(TypeName<'s>),
    /// `sizeof a`.
    SizeOf(Box<Expression<'s>>),
    /// `sizeof...(a)`.
    SizeOfPack(&'s str),
    /// `alignof(T)`.
    AlignOfType(TypeName<'s>),
    /// `a...`, one for each of what it stands for.
    Expand(Box<Expression<'s>>),
    /// `(a + ... + b)`: the operator, what stands for several, what comes before or after those, and whether it comes before.
    Fold(&'s str, Box<Expression<'s>>, Option<Box<Expression<'s>>>, bool),
    /// `new (a) T(…)`: where it is made, its type, and the list that it begins with.
    New(Box<Expression<'s>>, TypeName<'s>, Box<Expression<'s>>),
    /// A lambda: its number in [`Program::lambdas`].
    Lambda(usize),
    /// `{a, b}`, with the type before it.
    List(Option<TypeName<'s>>, Vec<Expression<'s>>),
    /// What is not known.
    Unknown,
}

/// A variable that is declared.
#[derive(Clone, Debug)]
pub struct Variable<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its type.
    pub ty: TypeName<'s>,
    /// Whether it is in shared memory.
    pub is_shared: bool,
    /// Whether it is in global memory.
    pub is_device: bool,
    /// Whether it is in constant memory.
    pub is_in_constant_memory: bool,
    /// Whether it is a constant.
    pub is_constant: bool,
    /// Whether it is `static`.
    pub is_static: bool,
    /// The alignment that is asked for.
    pub align: Option<Expression<'s>>,
    /// Its value.
    pub value: Option<Expression<'s>>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement<'s> {
    /// What.
    pub kind: StatementKind<'s>,
    /// Where.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StatementKind<'s> {
    /// Declarations.
    Declare(Vec<Variable<'s>>),
    /// `using A = B;`
    Alias(&'s str, TypeName<'s>),
    /// `auto [a, b] = c;`: names for the members of an object, or of a copy of it.
    Bind(Vec<&'s str>, Expression<'s>),
    /// An expression.
    Expression(Expression<'s>),
    /// A block.
    Block(Vec<Statement<'s>>),
    /// `if`.
    If {
        /// The condition.
        condition: Expression<'s>,
        /// What follows if it holds.
        then: Box<Statement<'s>>,
        /// What follows if not.
        otherwise: Option<Box<Statement<'s>>>,
    },
    /// `for` and `while`.
    Loop {
        /// What comes first.
        first: Option<Box<Statement<'s>>>,
        /// The condition.
        condition: Option<Expression<'s>>,
        /// What follows each turn.
        step: Option<Expression<'s>>,
        /// The body.
        body: Box<Statement<'s>>,
    },
    /// `for (T a : b)`: the variable, what it is each element of, and the body.
    Each(Variable<'s>, Expression<'s>, Box<Statement<'s>>),
    /// `switch`: its value, and its parts in order, each with the values of its labels, none for `default`. A part goes on
    /// with the next one where nothing ends it.
    Switch(Expression<'s>, Vec<(Vec<Option<Expression<'s>>>, Vec<Statement<'s>>)>),
    /// `do … while`.
    DoWhile(Box<Statement<'s>>, Expression<'s>),
    /// A label that `goto` names.
    Label(&'s str),
    /// `goto`.
    Goto(&'s str),
    /// `return`.
    Return(Option<Expression<'s>>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// An asm statement, with the expressions of its operands in order, outputs first.
    Asm(AsmId, Vec<Expression<'s>>),
    /// Nothing.
    Nothing,
    /// What is not known.
    Unknown,
}

/// Reads the functions of a file. `file` is what [`extract`](super::extract) has made of it, and `truths` tells which
/// conditions hold. `made` has the [`names_made`] of the file.
#[must_use]
pub fn program<'s>(source: &'s str, made: &'s str, file: &CudaFile, truths: &Truths) -> Program<'s> {
    let (mut tokens, _) = tokens::tokens(source, made, file, truths);
    namespaces::tell_apart(&mut tokens, made);
    let mut asm = HashMap::new();
    for (id, statement) in file.ids().zip(&file.statements) {
        // Macros of other files are not expanded here.
        if statement.choices == 1 && statement.complete && statement.other_macro.is_none() {
            asm.insert((statement.keyword.start, statement.used_at.map(|call| call.start)), id);
        }
    }
    let closing = tokens::closing(&tokens);
    let work = MAX_READ * tokens.len();
    let mut parser = Parser {
        tokens,
        closing,
        asm,
        at: 0,
        depth: 0,
        angles: 0,
        names_template: false,
        ends: usize::MAX,
        work,
        types: OF_HEADERS.to_vec(),
        declared: Vec::new(),
        owner: None,
        headers: 0,
        outer_template: Vec::new(),
        concepts: conditions::OF_STANDARD.to_vec(),
        program: Program::default(),
    };
    parser.file();
    parser.program
}

/// The names that `##` makes and that stand nowhere in a file, and those that tell the same name of several namespaces
/// apart, with blanks between them.
#[must_use]
pub fn names_made(source: &str, file: &CudaFile, truths: &Truths) -> String {
    let mut made = String::new();
    // What one makes another may need.
    for _ in 0..if source.contains("##") { MAX_ROUNDS } else { 0 } {
        let (_, missing) = tokens::tokens(source, &made, file, truths);
        if missing.is_empty() {
            break;
        }
        for name in missing {
            made.push_str(&name);
            made.push(' ');
        }
    }
    if namespaces::may_differ(source) {
        let (tokens, _) = tokens::tokens(source, &made, file, truths);
        made.push_str(&namespaces::names(&tokens));
    }
    made
}

/// Reads tokens.
struct Parser<'s> {
    tokens: Vec<tokens::Token<'s>>,
    /// For each bracket the one that closes it; the last token for one that nothing closes.
    closing: Vec<u32>,
    /// Asm statements by their keyword and the macro's use.
    asm: HashMap<(u32, Option<u32>), AsmId>,
    at: usize,
    depth: u32,
    /// How many lists of arguments of templates are being read.
    angles: u32,
    /// Whether what is read next is the use of a template, so that conditions may be among its arguments.
    names_template: bool,
    /// The token at which the argument of a template ends that is being read: `>` is no operator there.
    ends: usize,
    /// How many more operands are read: what looks like a template's use is read a second time.
    work: usize,
    /// Names of types: of structures, aliases and parameters of templates.
    types: Vec<&'s str>,
    /// Those that the declaration which is being read declares.
    declared: Vec<&'s str>,
    /// The structure whose members are being read.
    owner: Option<StructureId>,
    /// How many `template <…>` stand before the declaration which is being read, and the parameters of the one before the last.
    headers: usize,
    outer_template: Vec<TemplateParameter<'s>>,
    /// The names of concepts.
    concepts: Vec<&'s str>,
    program: Program<'s>,
}

/// Types of CUDA's headers with names in them that count.
const OF_HEADERS: [&str; 1] = ["pipeline_role"];
/// The name of the operator that calls an object.
const CALL: &str = "()";

impl<'s> Parser<'s> {
    fn text(&self) -> &'s str {
        self.ahead(0)
    }

    /// The text of a token that is no literal.
    fn ahead(&self, by: usize) -> &'s str {
        match self.tokens.get(self.at + by) {
            Some(token) if token.is_plain() && self.at + by < self.ends => token.text,
            _ => "",
        }
    }

    fn kind(&self) -> Option<tokens::Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn is_name(&self, by: usize) -> bool {
        self.tokens.get(self.at + by).is_some_and(|token| token.kind == tokens::Kind::Identifier)
    }

    fn span(&self) -> Span {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        token.map_or(Span::at(0), tokens::Token::place)
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = !text.is_empty() && self.text() == text;
        self.at += usize::from(found);
        found
    }

    /// The token after the bracket that closes the one at `at`.
    fn after_group(&self, at: usize) -> usize {
        self.closing.get(at).map_or(self.tokens.len(), |close| (*close as usize + 1).min(self.tokens.len()))
    }

    /// The token after the `>` that closes the `<` at `at`; none where it is no bracket.
    fn after_angles(&self, at: usize) -> Option<usize> {
        self.after_closing_angle(at, false)
    }

    /// The same for the parameters of a template, which may have defaults.
    fn after_parameters(&self, at: usize) -> Option<usize> {
        self.after_closing_angle(at, true)
    }

    fn after_closing_angle(&self, at: usize, has_defaults: bool) -> Option<usize> {
        let (mut depth, mut index) = (0_usize, at);
        let end = (at + MAX_ANGLES).min(self.tokens.len());
        while index < end {
            let token = &self.tokens[index];
            match token.text {
                _ if !token.is_plain() => {}
                "<" => depth += 1,
                ">" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(index + 1);
                    }
                }
                "(" | "[" => {
                    index = self.after_group(index);
                    continue;
                }
                // `<Shape{4, 64}>`
                "{" if index > at && self.tokens[index - 1].kind == tokens::Kind::Identifier => {
                    index = self.after_group(index);
                    continue;
                }
                "=" if has_defaults => {}
                // A reference ends a type.
                "&&" if self.tokens.get(index + 1).is_some_and(|next| next.text == ">") => {}
                // What launches a kernel of a template chooses it by conditions: `name<a && !b>`.
                "&&" | "||" if self.names_template => {}
                ";" | "{" | "}" | ")" | "]" | "&&" | "||" | "=" | "<<" => return None,
                _ => {}
            }
            index += 1;
        }
        None
    }
}

/// How often names are looked for that others make.
const MAX_ROUNDS: usize = 4;

/// How often a token is read.
const MAX_READ: usize = 8;

/// How many tokens the arguments of a template may be.
const MAX_ANGLES: usize = 200;
