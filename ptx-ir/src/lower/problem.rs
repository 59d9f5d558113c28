//! What lowering finds wrong.

use crate::special::SpecialRegister;
use ptx_syntax::{Explanation, Span};

/// What is wrong with a name, a scope, a declaration, a constant or the form of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A name is not declared where it is used.
    UndeclaredName {
        /// The name.
        name: String,
        /// The group of registers whose prefix the name begins with.
        group: Option<RegisterGroup>,
        /// A visible name that is spelled alike.
        nearest: Option<String>,
    },
    /// A label is declared in a block that does not enclose its use.
    InvisibleLabel {
        /// The name.
        name: String,
        /// Where it is declared.
        declaration: Span,
    },
    /// A name is declared twice in one block. The place is that of the second declaration.
    DuplicateName {
        /// What the second declaration declares, as in "function".
        entity: &'static str,
        /// The name.
        name: String,
        /// The first declaration.
        first: Span,
    },
    /// An expression has no value.
    BadConstant(ConstantError),
    /// An operand has a form that no instruction takes.
    BadOperand(Explanation),
    /// An instruction with one result has a second one that is dropped, which the assembler takes: `%r1|_`. The module has
    /// the first alone.
    NoSecondResult {
        /// What follows the first.
        rest: Span,
    },
    /// The base of an address is a special register.
    SpecialRegisterBase(SpecialRegister),
    /// A declaration declares nothing.
    BadDeclaration(Explanation),
    /// An alignment is no power of two.
    BadAlignment(u32),
    /// A directive of which a module has one is here again.
    RepeatedDirective {
        /// The directive, with its dot.
        directive: &'static str,
        /// Where it was before.
        first: Span,
    },
    /// There are more problems than are listed.
    TooMany,
}

/// A declaration of registers such as `%r<4>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterGroup {
    /// What the names begin with.
    pub prefix: String,
    /// How many it declares.
    pub count: u32,
    /// The declaration.
    pub declaration: Span,
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantError {
    /// A part is no constant.
    NotConstant,
    /// It divides by zero.
    DivisionByZero,
    /// A fraction is where an integer has to be.
    NotInteger,
    /// It nests too deeply.
    TooDeep,
    /// It casts to another type than `.s64` and `.u64`.
    Cast,
    /// An operator is applied to a `0f` number.
    ExactFloat,
    /// A number does not fit into 64 bits.
    Overflow,
}
