//! What can be wrong with the spelling of an instruction.

use std::ops::Range;

/// Why a spelling has no meaning. Ranges are bytes within the spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpellingProblem {
    /// No instruction has this root opcode.
    UnknownOpcode {
        /// The opcode.
        range: Range<usize>,
        /// The known opcode that is spelled most alike.
        nearest: Option<&'static str>,
    },
    /// The instruction has no such modifier in any form.
    UnknownModifier {
        /// The modifier with its dot.
        range: Range<usize>,
        /// The modifier of this instruction that is spelled most alike.
        nearest: Option<&'static str>,
        /// The whole spelling with the nearest modifier in place, where that has a meaning.
        fixed: Option<String>,
    },
    /// A modifier of the instruction is missing.
    MissingModifier {
        /// Where it belongs: an empty range.
        range: Range<usize>,
        /// What the table calls the place: `type`, `rnd`.
        slot: &'static str,
        /// The values that are possible there, given the others.
        allowed: Vec<&'static str>,
        /// The whole spelling with the missing modifier, where only one is possible.
        fixed: Option<String>,
    },
    /// Modifiers that each exist and do not go together. There is no fix: each of them means something, and which one
    /// its author can do without is not known.
    Exclusive {
        /// The one that is in the way.
        range: Range<usize>,
        /// The one it does not go with; empty where it goes with none of them.
        other: Range<usize>,
        /// The values that could be there instead of the first.
        allowed: Vec<&'static str>,
    },
    /// A modifier that is there twice, or two values for one place.
    Duplicate {
        /// The later one.
        range: Range<usize>,
        /// The earlier one.
        other: Range<usize>,
        /// The spelling without the later one, where that has a meaning.
        fixed: Option<String>,
    },
    /// The modifiers go together, in another order only.
    WrongOrder {
        /// The first modifier that is out of place.
        range: Range<usize>,
        /// The spelling in the right order.
        canonical: String,
        /// Whether types or state spaces change places among each other. Their order tells what goes where, and
        /// so may be what was meant.
        exchanges: bool,
    },
}

/// A spelling that NVIDIA's assembler takes though the manual has it differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leniency {
    /// The bytes of the spelling that are odd.
    pub range: Range<usize>,
    /// What is odd about it.
    pub reason: LeniencyReason,
    /// The spelling as the manual has it.
    pub canonical: String,
}

/// What is odd about a spelling that is taken nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeniencyReason {
    /// The modifiers are in another order.
    Order,
    /// A modifier is repeated.
    Repeated,
    /// A modifier has no effect here.
    Ineffective,
}
