//! What an execution shows to be wrong.

use super::program::Program;

/// Where an undefined bit is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Observed {
    /// It is stored.
    Store,
    /// It is part of an address.
    Address,
    /// It decides whether an instruction runs.
    Guard,
    /// It decides where control goes.
    Branch,
    /// It is an operand of an instruction that threads execute together.
    Collective,
    /// It is what a function returns, or gets.
    Passed,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// An undefined bit is observed.
    Undefined(Observed),
    /// The carry flag is read, and nothing has set it.
    CarryUnset,
    /// A lane executes a collective and is not in its mask.
    NotInMask,
    /// A collective waits for lanes that never come to one like it.
    LanesMissing,
    /// Only a part of a warp comes to an instruction that is `.aligned`.
    PartOfWarp,
    /// Threads that execute one barrier give it different operands.
    OperandsDiffer,
    /// Nobody comes any more, and a barrier waits.
    Deadlock,
    /// A warp comes to a barrier again before it is complete.
    BarrierReused,
    /// An access is not wholly within one object.
    OutOfBounds,
    /// An address is no multiple of the size of the access.
    Misaligned,
    /// A collective names a lane that has exited. Hardware goes on, and for most collectives the manual says so; who
    /// wrote the kernel may not have meant it.
    ExitedLane,
    /// A barrier of the whole block completes without a warp that has exited. The manual allows it; who wrote the
    /// kernel may not have meant it.
    ExitedWarp,
}

impl FaultKind {
    /// Whether the manual leaves no doubt.
    #[must_use]
    pub const fn is_certain(self) -> bool {
        !matches!(self, Self::ExitedLane | Self::ExitedWarp)
    }

    /// Whether threads that should have come together did not.
    #[must_use]
    pub const fn is_divergence(self) -> bool {
        matches!(
            self,
            Self::NotInMask
                | Self::LanesMissing
                | Self::PartOfWarp
                | Self::OperandsDiffer
                | Self::Deadlock
                | Self::BarrierReused
                | Self::ExitedLane
                | Self::ExitedWarp
        )
    }
}

/// What left a bit undefined.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The read of a register that nothing has set.
    Register(String),
    /// A shuffle from a lane that did not take part.
    Lane,
    /// A load of bytes that nothing has stored.
    Memory,
    /// An instruction whose result the manual leaves open.
    Result,
    /// More than can be told apart.
    Other,
}

/// Where bits first were undefined.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// An index of the program's functions.
    pub function: usize,
    /// An index of the function's statements.
    pub statement: usize,
    /// What it was.
    pub cause: Cause,
}

/// Something wrong that an execution shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    /// What it is.
    pub kind: FaultKind,
    /// An index of the program's functions.
    pub function: usize,
    /// An index of the function's statements.
    pub statement: usize,
    /// Where undefined bits came from.
    pub sources: Vec<Source>,
    /// Whether a guard or a branch before it was undefined, so that this may be its consequence.
    pub follows: bool,
}

impl Fault {
    /// One line for people.
    #[must_use]
    pub fn describe(&self, program: &Program) -> String {
        let (line, column) = program.position(self.function, self.statement);
        let mut text = format!("{line}:{column}: {:?}", self.kind);
        for source in &self.sources {
            let (line, column) = program.position(source.function, source.statement);
            text += &format!(", from {:?} at {line}:{column}", source.cause);
        }
        if self.follows {
            text += ", after an undefined branch";
        }
        text
    }
}
