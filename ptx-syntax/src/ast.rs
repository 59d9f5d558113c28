//! The syntax tree, in flat arrays.
//!
//! A tree does not own names: it holds [`Span`]s of the source text. Operands of a node lie next to
//! each other in [`Tree::operands`], and a composite operand lies *after* its children, so a pass in
//! index order sees children first and nothing here needs recursion, however deep the text nests.
//!
//! The tree knows no opcode. `call (r), f, (a);` and `add.u32 d, a, b;` are both an opcode and operands.

use crate::Span;

/// An operator of constant expressions, PTX ISA manual, section "Constant Expressions".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BinaryOperator {
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `|`; also joins two destinations, as in `p|q`
    Or,
    /// `&&`
    LogicalAnd,
    /// `||`
    LogicalOr,
}

impl BinaryOperator {
    /// How tightly it binds; a larger number binds tighter.
    #[must_use]
    pub const fn precedence(self) -> u8 {
        match self {
            Self::Multiply | Self::Divide | Self::Remainder => 10,
            Self::Add | Self::Subtract => 9,
            Self::ShiftLeft | Self::ShiftRight => 8,
            Self::Less | Self::Greater | Self::LessEqual | Self::GreaterEqual => 7,
            Self::Equal | Self::NotEqual => 6,
            Self::And => 5,
            Self::Xor => 4,
            Self::Or => 3,
            Self::LogicalAnd => 2,
            Self::LogicalOr => 1,
        }
    }

    /// As written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Less => "<",
            Self::Greater => ">",
            Self::LessEqual => "<=",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::And => "&",
            Self::Xor => "^",
            Self::Or => "|",
            Self::LogicalAnd => "&&",
            Self::LogicalOr => "||",
        }
    }
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// An identifier without a dot; `_` too.
    Name,
    /// An identifier with dots: `%tid.x`, `%v.y`, `%r1.b0`.
    Dotted,
    /// An integer literal.
    Integer,
    /// A floating-point literal.
    Float,
    /// A string, in directives only.
    String,
    /// A word with a dot: a section name in DWARF data, a type in a cast.
    DotWord,
    /// `!a`
    Not,
    /// `-a`
    Negate,
    /// `~a`
    Complement,
    /// `+a`
    Plus,
    /// `(.s64) a`: children are the word and the operand.
    Cast,
    /// `a op b`
    Binary(BinaryOperator),
    /// `a ? b : c`
    Conditional,
    /// `( … )`: an expression in parentheses, or the list of a call.
    Parens,
    /// `{ … }`
    Vector,
    /// `[ … ]`
    Bracket,
    /// `[ … ].unified`: children are the bracket and the word.
    BracketSuffix,
    /// `name = value` within braces: children are the name and the value.
    Field,
    /// `name[index]`, the address of an element of an array: children are the name and the index.
    Index,
    /// `generic(x)`, `0xff(x)`: the first child is the function.
    Apply,
}

/// A node of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The whole of it.
    pub span: Span,
    /// Index of the first child in [`Tree::operands`].
    pub first: u32,
    /// Number of children.
    pub count: u32,
    /// What it is.
    pub kind: OperandKind,
}

/// A run of elements of one of the tree's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Run {
    /// Index of the first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl Run {
    /// The indices as a range.
    #[must_use]
    pub const fn range(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Whether an instruction has a guard `@p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// Runs always.
    None,
    /// `@p`: the first operand is the guard.
    If,
    /// `@!p`: the first operand is the guard.
    Unless,
}

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// `@p opcode operands;`, `word` is the opcode.
    Instruction(Guard),
    /// `name:`, `word` is the name.
    Label,
    /// `{`
    OpenBlock,
    /// `}`
    CloseBlock,
    /// A declaration: `operands.first` is an index into [`Tree::declarations`].
    Declaration,
    /// A directive such as `.pragma`, `.loc`, `.maxntid`: `word` is the directive.
    Directive,
    /// `.callprototype`: `operands.first` is an index into [`Tree::functions`].
    CallPrototype,
    /// One line of DWARF data, `word` is its type.
    Data,
}

/// A statement of a function body, of a module, or of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The whole of it, the `;` included.
    pub span: Span,
    /// The word that says what it is about; its white space is not removed (`ld.global .u32`).
    pub word: Span,
    /// Operands in [`Tree::operands`]; the guard, where there is one, comes first.
    pub operands: Run,
    /// What it is.
    pub kind: StatementKind,
}

/// What a part of a declaration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecifierKind {
    /// `.visible`, `.extern`, `.weak`, `.common`
    Linkage,
    /// `.reg`, `.global` … and, after `.ptr`, the space it points to.
    StateSpace,
    /// `.align N`: the operand is `N`.
    Align,
    /// `.attribute(…)`: the operand is a [`OperandKind::Parens`].
    Attribute,
    /// Any other word: a type, a vector size, `.ptr`.
    Word,
}

/// A part of a declaration before the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specifier {
    /// The whole of it.
    pub span: Span,
    /// What it is.
    pub kind: SpecifierKind,
    /// Index of its operand in [`Tree::operands`].
    pub operand: Option<u32>,
}

/// A declared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declarator {
    /// The name.
    pub name: Span,
    /// The whole of it, the initialiser included.
    pub span: Span,
    /// `N` of `%r<N>`: index in [`Tree::operands`].
    pub range: Option<u32>,
    /// The dimensions of an array, an unsized one as an empty [`OperandKind::Bracket`].
    pub dimensions: Run,
    /// The initialiser: index in [`Tree::operands`].
    pub initializer: Option<u32>,
}

/// `.global .align 4 .u32 a, b[2] = {1, 2};`, or a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The whole of it, the `;` included.
    pub span: Span,
    /// In [`Tree::specifiers`].
    pub specifiers: Run,
    /// In [`Tree::declarators`].
    pub declarators: Run,
}

/// What a function header begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Function,
    /// `.callprototype`
    Prototype,
}

/// The statements of a function between its braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// From `{` to `}`.
    pub span: Span,
    /// In [`Tree::statements`].
    pub statements: Run,
}

/// A function, kernel or prototype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The whole of it.
    pub span: Span,
    /// From the first word to the end of the parameters.
    pub header: Span,
    /// What it is.
    pub kind: FunctionKind,
    /// Linkage and attributes, in [`Tree::specifiers`].
    pub specifiers: Run,
    /// The name; `_` for a prototype.
    pub name: Span,
    /// Return parameters, in [`Tree::declarations`]; none where no parentheses were written.
    pub returns: Option<Run>,
    /// Parameters, in [`Tree::declarations`]; none where no parentheses were written.
    pub parameters: Option<Run>,
    /// Directives between header and body, in [`Tree::statements`].
    pub directives: Run,
    /// The body; none for a declaration.
    pub body: Option<Body>,
}

/// What is at module level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Index into [`Tree::statements`]: `.version`, `.target`, `.file`, `.pragma`, `.alias` …
    Directive(u32),
    /// Index into [`Tree::declarations`].
    Declaration(u32),
    /// Index into [`Tree::functions`].
    Function(u32),
    /// Index into [`Tree::sections`].
    Section(u32),
}

/// `.section .debug_info { … }`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The whole of it.
    pub span: Span,
    /// The name, with its dot.
    pub name: Span,
    /// Its lines, in [`Tree::statements`].
    pub statements: Run,
}

/// The syntax tree of a text.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// What is at module level, in order.
    pub items: Vec<Item>,
    /// All functions.
    pub functions: Vec<Function>,
    /// All sections.
    pub sections: Vec<Section>,
    /// All declarations, those of parameters included.
    pub declarations: Vec<Declaration>,
    /// All declared names.
    pub declarators: Vec<Declarator>,
    /// The parts of declarations.
    pub specifiers: Vec<Specifier>,
    /// All statements.
    pub statements: Vec<Statement>,
    /// All operands.
    pub operands: Vec<Operand>,
}

impl Tree {
    /// The operands of `run`.
    #[must_use]
    #[inline]
    pub fn operands(&self, run: Run) -> &[Operand] {
        &self.operands[run.range()]
    }

    /// The children of `operand`.
    #[must_use]
    #[inline]
    pub fn children(&self, operand: Operand) -> &[Operand] {
        &self.operands[operand.first as usize..(operand.first + operand.count) as usize]
    }

    /// The statements of `run`.
    #[must_use]
    #[inline]
    pub fn statements(&self, run: Run) -> &[Statement] {
        &self.statements[run.range()]
    }
}
