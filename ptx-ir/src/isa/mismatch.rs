//! Why operands do not fit an instruction.

use super::class::ClassSet;
use super::instance::ImmediateRange;

/// Why [`Resolved::select`](super::Resolved::select) found no instance. Indices of instances are those of
/// [`Resolved::instances`](super::Resolved::instances), of operands those of the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The spelling itself has no meaning, so nothing was compared.
    NoInstance,
    /// Too many or too few operands.
    Count {
        /// How many there are.
        given: usize,
        /// The numbers of operands that would do, ascending.
        expected: Vec<usize>,
        /// The instance that comes nearest.
        instance: usize,
    },
    /// An operand does not fit.
    Operand {
        /// Which operand of the statement.
        operand: usize,
        /// Which part of it, where it is a pair or a bracket.
        part: Option<usize>,
        /// Which operand of the instance it was compared with: another number where optional operands are
        /// left out.
        spec: usize,
        /// The instance that comes nearest.
        instance: usize,
        /// What was wanted.
        wanted: Wanted,
    },
}

/// What an operand would have to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Another outer form: a brace list, an address, a single value.
    Kind,
    /// Something of these classes.
    Class(ClassSet),
    /// A brace list of another length.
    Length {
        /// How many elements.
        expected: u16,
    },
    /// Another number of parts between the brackets.
    Parts {
        /// How many parts.
        expected: u16,
    },
    /// An integer of another value.
    Range(&'static [ImmediateRange]),
    /// An address without an offset.
    NoOffset,
    /// Another selector.
    Selector,
    /// Neighbours of one kind in a brace list, or plain bits beside each.
    Neighbours,
}
