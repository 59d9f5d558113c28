//! A program that can be executed: functions whose statements are operations on numbered registers.

use super::arithmetic::{Compute, Type};
use super::text;

/// An index of the registers of a function.
pub(super) type RegisterIndex = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    Thread,
    Threads,
    Block,
    Blocks,
    Lane,
    Warp,
    Warps,
    LanesEqual,
    LanesBelow,
    LanesUpTo,
    LanesAbove,
    LanesFrom,
    /// A clock: it goes up.
    Clock,
    Zero,
    One,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
    Register(RegisterIndex),
    Number(u64),
    Special(Special),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub kind: SourceKind,
    /// `!%p`
    pub negated: bool,
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Known by its address.
    Generic,
    /// Of the device, and constant memory.
    Global,
    /// Of the block.
    Shared,
    /// Of the thread.
    Local,
    /// Parameters.
    Parameter,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub space: Space,
    pub base: Source,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atomic {
    Add,
    And,
    Or,
    Xor,
    Minimum,
    Maximum,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Add,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollectiveKind {
    Shuffle(Shuffle),
    Vote(Vote),
    Match { all: bool },
    Elect,
    Reduce(Reduction),
    WarpSync,
}

/// An instruction that the lanes of a mask execute together.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    pub kind: CollectiveKind,
    /// The spelling: only lanes with the same one meet.
    pub spelling: String,
    pub ty: Type,
    pub results: [Option<RegisterIndex>; 2],
    pub sources: Vec<Source>,
    pub mask: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierKind {
    Sync,
    Arrive,
    Count,
    All,
    Any,
}

#[derive(Clone, Debug)]
pub(super) struct Barrier {
    pub kind: BarrierKind,
    pub aligned: bool,
    pub id: Source,
    pub count: Option<Source>,
    pub predicate: Option<Source>,
    pub result: Option<RegisterIndex>,
}

/// A place where a call or a return copies a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passed {
    Register(RegisterIndex),
    Value(Source),
    Memory { address: u64, size: u64 },
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Compute {
        what: Compute,
        ty: Type,
        results: [Option<RegisterIndex>; 2],
        sources: Vec<Source>,
        same: bool,
    },
    /// The sources beside each other, cut into the results.
    Move {
        width: u32,
        results: Vec<Option<RegisterIndex>>,
        sources: Vec<Source>,
    },
    ToGeneric {
        space: Space,
        back: bool,
        result: Option<RegisterIndex>,
        source: Source,
    },
    IsSpace {
        space: Space,
        result: Option<RegisterIndex>,
        source: Source,
    },
    Load {
        ty: Type,
        results: Vec<Option<RegisterIndex>>,
        address: Address,
    },
    Store {
        width: u32,
        sources: Vec<Source>,
        address: Address,
    },
    Atomic {
        what: Atomic,
        ty: Type,
        result: Option<RegisterIndex>,
        address: Address,
        sources: Vec<Source>,
    },
    Branch(usize),
    BranchIndexed {
        index: Source,
        targets: Vec<usize>,
    },
    Call {
        function: usize,
        returns: Vec<Passed>,
        arguments: Vec<Passed>,
    },
    Return,
    Exit,
    Trap,
    ActiveMask(Option<RegisterIndex>),
    Collective(Collective),
    Barrier(Barrier),
    /// All lanes of the warp execute it together, and nothing else happens.
    Together,
    Nothing,
    Unknown,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Where the statement begins, in bytes.
    pub offset: usize,
    /// The spelling.
    pub opcode: String,
    /// The predicate, and the value with which it runs.
    pub guard: Option<(RegisterIndex, bool)>,
    pub operation: Operation,
}

/// A function that can be executed.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    pub(super) registers: Vec<text::Register>,
    pub(super) code: Vec<Statement>,
    /// Where parameters and return values are, as the caller fills and reads them.
    pub(super) parameters: Vec<Passed>,
    pub(super) returns: Vec<Passed>,
    /// Registers and labels that one pair of braces declares twice.
    pub duplicates: Vec<String>,
}

/// A piece of memory with a name.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub space: Space,
    pub address: u64,
    pub size: u64,
    pub initial: Vec<u8>,
    /// Whether each thread has one of its own.
    pub of_thread: bool,
}

/// A PTX file that can be executed.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) text: String,
    pub(super) functions: Vec<Function>,
    pub(super) objects: Vec<Object>,
}

impl Program {
    /// The function with a name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|function| function.name == name)
    }

    /// All functions with a body.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The line, from 1, and the column, from 1 and in bytes, where a statement begins.
    #[must_use]
    pub fn position(&self, function: usize, statement: usize) -> (u32, u32) {
        let Some(statement) = self.functions[function].code.get(statement) else { return (0, 0) };
        let before = &self.text[..statement.offset];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
        (line, column as u32 + 1)
    }
}
