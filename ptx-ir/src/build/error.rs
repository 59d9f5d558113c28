//! What can be wrong with a call of the builder.

use std::fmt;

use crate::isa::SpellingProblem;
use crate::target::TargetSet;
use crate::types::Type;
use crate::version::Version;

/// Why the builder refused something. It has not changed what was built before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The version was never published, or it does not know the target.
    Header {
        /// What is wrong, as a sentence.
        message: String,
    },
    /// A name that PTX does not take, or that means something already.
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// A register, label, variable or function of another module or function, or of a block that is closed.
    OutOfScope {
        /// What it is: `register`, `label` …
        what: &'static str,
    },
    /// A declaration that PTX does not allow.
    Declaration {
        /// The name.
        name: String,
        /// What is wrong, as a sentence.
        message: String,
    },
    /// No register may have this type, or none of this version and target.
    RegisterType {
        /// The type.
        ty: Type,
    },
    /// The spelling of an instruction has no meaning.
    Spelling {
        /// The spelling.
        spelling: String,
        /// Why it has none.
        problem: SpellingProblem,
    },
    /// The operands of an instruction do not fit.
    Operands {
        /// The spelling.
        spelling: String,
        /// Which operand, from 0; none where their number is wrong.
        operand: Option<usize>,
        /// What is wrong, as a sentence.
        message: String,
    },
    /// NVIDIA's assembler takes this, but the PTX manual does not have it.
    NotInManual {
        /// The spelling.
        spelling: String,
        /// Which operand, from 0; none where it is the form or a modifier.
        operand: Option<usize>,
        /// What it is that the manual does not have, and why the assembler takes it.
        message: String,
    },
    /// The module's version or target does not have the instruction or special register.
    Unavailable {
        /// What is not available.
        what: String,
        /// The first version that has it.
        min_version: Version,
        /// The targets that have it.
        targets: TargetSet,
    },
    /// There is no special register of this name.
    SpecialRegister {
        /// The name.
        name: String,
    },
    /// A call that does not agree with the function that it calls.
    Call {
        /// The function.
        function: String,
        /// What is wrong, as a sentence.
        message: String,
    },
    /// A directive that does not go with the function or with an earlier one.
    Directive {
        /// The directive.
        word: &'static str,
        /// What is wrong, as a sentence.
        message: String,
    },
    /// A label that no [`place`](super::FunctionBuilder::place) gave a place, or that two did.
    Label {
        /// The label.
        name: String,
        /// Whether it has a place already; else it has none.
        placed: bool,
    },
    /// Control reaches the end of the function.
    MissingEnd {
        /// The function.
        function: String,
    },
    /// A function that was begun and not finished, and is used.
    Unfinished {
        /// The function.
        function: String,
    },
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameProblem {
    /// It is no identifier.
    NotAnIdentifier,
    /// PTX gives it a meaning of its own.
    Reserved,
    /// Something visible has it already.
    Taken,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { message } => f.write_str(message),
            Self::Name { name, problem } => match problem {
                NameProblem::NotAnIdentifier => write!(f, "`{name}` is no identifier"),
                NameProblem::Reserved => write!(f, "`{name}` has a meaning of its own"),
                NameProblem::Taken => write!(f, "the name `{name}` is taken"),
            },
            Self::OutOfScope { what } => {
                write!(f, "this {what} belongs to another function or module, or to a block that is closed")
            }
            Self::Declaration { name, message } => write!(f, "`{name}`: {message}"),
            Self::RegisterType { ty } => write!(f, "no register of this module can have the type `{ty}`"),
            Self::Spelling { spelling, problem } => spelling_message(f, spelling, problem),
            Self::Operands { spelling, operand: Some(index), message } => {
                write!(f, "operand {} of `{spelling}`: {message}", index + 1)
            }
            Self::Operands { spelling, operand: None, message } => write!(f, "`{spelling}` {message}"),
            Self::NotInManual { spelling, operand: Some(index), message } => {
                write!(f, "operand {} of `{spelling}` is not in the manual: {message}", index + 1)
            }
            Self::NotInManual { spelling, operand: None, message } => {
                write!(f, "`{spelling}` is not in the manual: {message}")
            }
            Self::Unavailable { what, min_version, targets } => {
                write!(f, "`{what}` needs PTX {min_version}")?;
                targets.lowest().map_or(Ok(()), |lowest| write!(f, " and a target such as {lowest}"))
            }
            Self::SpecialRegister { name } => write!(f, "no special register is called `{name}`"),
            Self::Call { function, message } => write!(f, "call of `{function}`: {message}"),
            Self::Directive { word, message } => write!(f, "`{word}`: {message}"),
            Self::Label { name, placed: true } => write!(f, "the label `{name}` has a place already"),
            Self::Label { name, placed: false } => write!(f, "the label `{name}` has no place"),
            Self::MissingEnd { function } => {
                write!(f, "control reaches the end of `{function}`; it should end with `ret` or `exit`")
            }
            Self::Unfinished { function } => write!(f, "the function `{function}` was not finished"),
        }
    }
}

impl std::error::Error for BuildError {}

fn spelling_message(f: &mut fmt::Formatter<'_>, spelling: &str, problem: &SpellingProblem) -> fmt::Result {
    let part = |range: &std::ops::Range<usize>| spelling.get(range.clone()).unwrap_or(spelling).to_owned();
    match problem {
        SpellingProblem::UnknownOpcode { range, nearest } => {
            write!(f, "no instruction is called `{}`", part(range))?;
            nearest.map_or(Ok(()), |nearest| write!(f, "; there is `{nearest}`"))
        }
        SpellingProblem::UnknownModifier { range, nearest, .. } => {
            write!(f, "`{}` in `{spelling}` is no modifier of the instruction", part(range))?;
            nearest.map_or(Ok(()), |nearest| write!(f, "; there is `{nearest}`"))
        }
        SpellingProblem::MissingModifier { slot, allowed, .. } => {
            let allowed: Vec<String> = allowed.iter().map(|value| format!("`{value}`")).collect();
            write!(f, "`{spelling}` lacks its {slot}: {}", allowed.join(", "))
        }
        SpellingProblem::Exclusive { range, other, .. } if !other.is_empty() => {
            write!(f, "`{}` does not go with `{}` in `{spelling}`", part(range), part(other))
        }
        SpellingProblem::Exclusive { range, .. } => {
            write!(f, "`{}` does not go with the rest of `{spelling}`", part(range))
        }
        SpellingProblem::Duplicate { range, .. } => {
            write!(f, "`{}` is a second value for one place in `{spelling}`", part(range))
        }
        SpellingProblem::WrongOrder { canonical, .. } => {
            write!(f, "the modifiers of `{spelling}` are out of order: `{canonical}`")
        }
    }
}
