//! What an execution of the model shows.

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// A write that the asynchronous proxy reads without a fence between them.
    MissingFence,
    /// An access of what a copy may still write: nothing has waited for it.
    EarlyAccess,
    /// The same; the thread has waited, for another phase.
    WrongPhase,
    /// The same; a wait leaves the group of the copy pending.
    GroupPending,
    /// The same; the thread that copied has waited, and the others have not met it since.
    MissingBarrier,
    /// An access of tensor memory that a matrix operation may still write.
    EarlyTensor,
    /// Tensor memory that is used after a wait without the fence that other waits have.
    TensorUnfenced,
    /// An arrival that tells of loads or stores of tensor memory without the fence that others have.
    TensorUntold,
    /// An access of tensor memory beyond what the block has allocated.
    BeyondAllocation,
    /// Tensor memory that is given back while another warp may load from it.
    EarlyRelinquish,
    /// A copy into what other threads may still read.
    Overwrite,
    /// The same; these threads have said before their reads that they are done.
    EarlyRelease,
    /// The same; a phase was complete before all had arrived.
    TooFewArrivals,
    /// An operation reads what other threads may still write.
    Unordered,
    /// A write into what an operation may still read.
    SourceReused,
    /// Two operations that may write the same place at a time.
    TwoCopies,
    /// A copy reads what other lanes of its warp may still be writing.
    LanesApart,
    /// A copy writes what other lanes of its warp may still be reading.
    LanesRead,
    /// An object that another thread uses though nothing tells that it was made.
    Unpublished,
    /// An object that nobody makes.
    NeverMade,
    /// An object that is made again, or taken away, while another thread may use it.
    Remade,
    /// An object that several threads make, none after the other.
    MadeByMany,
    /// An access of shared memory that is not ordered with one of another warp.
    Race,
    /// An access of global memory that is not ordered with one of another warp, which may be of another block.
    GlobalRace,
    /// A copy through the asynchronous proxy of what another block has stored in global memory, without a fence of the proxy.
    GlobalUnfenced,
    /// A loop that waits for what nobody stores in global memory.
    NeverSet,
    /// An object that is made for no arrivals.
    NoArrivals,
    /// A phase expects another number of bytes than the copies bring.
    Bytes,
    /// A tile of which more is read than its phase expects.
    TooFewBytes,
    /// A phase of several copies that expects the bytes of some of them, or more than all can bring.
    OtherBytes,
    /// A wait for a phase that nobody completes.
    Phase,
    /// A barrier of the block at which not all arrive.
    Barrier,
    /// Threads that disagree about how many come to a barrier.
    BarrierCounts,
    /// Threads that arrive at a barrier again before it has opened.
    ArrivesTwice,
    /// A barrier at which threads arrive that nothing orders after those who opened it before: each may take the place of the
    /// other.
    BarrierShared,
    /// A barrier of the cluster at which not all arrive.
    Cluster,
    /// An instruction that whole warps execute together, or groups of them, and that only some threads come to.
    Apart,
    /// Registers that nobody gives back.
    Registers,
    /// Tensor memory that a kernel does not give back.
    NeverFreed,
    /// A kernel ends before an operation has read its source, or written its result.
    LeftRunning,
    /// A block ends while another one may still access its memory.
    EarlyExit,
    /// An access of another block that may not have begun.
    EarlyRemote,
    /// An access of a block that the cluster does not have.
    NoBlock,
    /// An arrival or a wait in the scope of the block where another block takes part.
    NarrowScope,
    /// An access of another block's memory by an instruction that knows the own block's alone.
    OwnWindow,
}

/// What an instruction has to do with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A copy, or another operation that runs on its own.
    Operation,
    /// A read or a write.
    Access,
    /// The wait.
    Wait,
    /// An arrival.
    Arrival,
    /// Where the object is made.
    Made,
    /// Where bytes are expected.
    Expectation,
    /// Another wait that does not end.
    OtherWait,
    /// The last wait before a read.
    WaitOfReader,
    /// Where the parity that a wait asks for is computed.
    Parity,
    /// The same of another wait.
    OtherParity,
    /// A copy whose bytes nobody expects.
    Unexpected,
    /// What the parity that a wait asks for begins with.
    Begin,
    /// A test whose answer nobody asks for.
    Unheard,
    /// The last that its answer comes to.
    Answer,
    /// An operation that belongs to no group yet, when a wait for groups comes.
    Uncommitted,
    /// Where a commit for it should have come.
    Commits,
    /// What threads do next, after the last thing that they should tell others of.
    Next,
    /// What threads have done before, since when they have not waited.
    Before,
    /// Where the number of arrivals is computed.
    Count,
    /// Where the number of bytes is computed.
    Sum,
    /// Where the rank of a block is computed.
    Rank,
    /// Where the mask of the blocks is computed that an operation reaches.
    Blocks,
    /// Where it is said which barrier of the block is meant.
    Number,
    /// Where the round of the wait ends.
    Round,
    /// Where the rounds begin that an access is in, and what it meets is not.
    Rounds,
    /// Where the stage of the ring turns.
    Stage,
    /// Where a thread has met others or waited, the last time before.
    Met,
    /// Where the kernel ends.
    End,
    /// Where registers are given back.
    Given,
    /// Where threads come to another barrier of the block.
    OtherBarrier,
    /// An arrival at another object than the one that is waited for.
    Elsewhere,
    /// An arrival of threads that never wait.
    NeverWaits,
    /// What a thread did last, before it came to a wait that does not end.
    Last,
    /// Where the group of an operation ends that nobody waits for.
    Committed,
    /// What comes after the rounds of what a thread did last.
    After,
    /// Where the threads of a block meet, and no others.
    OwnBlock,
    /// Where all threads come before what some of them do.
    Common,
    /// Where threads go on together, of which some have done what the others do not know of.
    Joins,
    /// The branch that only some threads go on from to what the others do not know of.
    Parts,
    /// A fence that orders something else than what is missing.
    OtherFence,
    /// Where it is chosen which of several places is accessed.
    Slot,
    /// A branch at which those go on by themselves, once more, who start an operation.
    SameWay,
    /// Where only the lanes of a warp meet.
    Lanes,
    /// An arrival or a wait that orders nothing.
    Relaxed,
    /// What threads have used first since they waited last.
    First,
    /// Where it is decided who waits before, in which rounds.
    LeftOut,
}

/// What is found in place of a number of arrivals where more than are counted arrive at once.
pub const TOO_MANY_AT_ONCE: i64 = -2;
/// What is counted where one block of a pair comes to what both execute.
pub const ONE_OF_PAIR: (i64, i64) = (2, 1);

impl FaultKind {
    /// Whether it is that two operations, or two threads, have one place.
    pub(super) const fn shares_places(self) -> bool {
        matches!(self, Self::TwoCopies | Self::Overwrite | Self::Race | Self::LanesApart | Self::LanesRead)
    }

    /// Whether it is about how many arrive, or about threads that wait for others who never come.
    pub(super) const fn is_of_counts(self) -> bool {
        matches!(
            self,
            Self::Phase
                | Self::Bytes
                | Self::Barrier
                | Self::BarrierCounts
                | Self::ArrivesTwice
                | Self::BarrierShared
                | Self::Cluster
                | Self::Registers
                | Self::TooFewArrivals
                | Self::NoArrivals
                | Self::OtherBytes
        )
    }

    /// Whether it is about who comes to which barrier of the block.
    pub(super) const fn is_of_barriers(self) -> bool {
        matches!(self, Self::ArrivesTwice | Self::Barrier | Self::BarrierShared | Self::BarrierCounts)
    }

    /// Whether two meet at a place, which may be the wrong one.
    pub(super) const fn is_of_places(self) -> bool {
        matches!(
            self,
            Self::EarlyAccess
                | Self::WrongPhase
                | Self::GroupPending
                | Self::MissingBarrier
                | Self::Overwrite
                | Self::EarlyRelease
                | Self::TooFewArrivals
                | Self::SourceReused
                | Self::TwoCopies
                | Self::Race
        )
    }

    /// Whether it is about the bytes of a phase.
    pub(super) const fn is_of_bytes(self) -> bool {
        matches!(self, Self::Bytes | Self::OtherBytes | Self::TooFewBytes)
    }

    /// Whether it is about what is left when a kernel ends.
    pub(super) const fn is_of_end(self) -> bool {
        matches!(self, Self::LeftRunning | Self::NeverFreed)
    }

    /// Whether a meeting or a wait is missing, after those that there are.
    pub(super) const fn lacks_order(self) -> bool {
        matches!(
            self,
            Self::EarlyAccess
                | Self::EarlyRelinquish
                | Self::Overwrite
                | Self::Unordered
                | Self::SourceReused
                | Self::TwoCopies
                | Self::Unpublished
                | Self::Remade
                | Self::Race
                | Self::EarlyRemote
        )
    }

    /// Whether it may follow from another fault that happened before.
    pub(super) const fn may_follow(self) -> bool {
        !matches!(
            self,
            Self::MissingFence
                | Self::LanesApart
                | Self::LanesRead
                | Self::Unpublished
                | Self::Remade
                | Self::NeverMade
                | Self::NoArrivals
                | Self::LeftRunning
                | Self::NeverFreed
                | Self::EarlyExit
                | Self::EarlyRemote
                | Self::NoBlock
                | Self::OwnWindow
                | Self::BeyondAllocation
                | Self::NarrowScope
                | Self::TensorUnfenced
                | Self::TensorUntold
        )
    }
}

/// A fault, with the instructions that have to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where.
    pub instruction: u32,
    /// The other instructions.
    pub others: Vec<(u32, Part)>,
    /// What is expected or needed, and what there is, where that is counted.
    pub counts: Option<(i64, i64)>,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, instruction: u32) -> Self {
        Self { kind, instruction, others: Vec::new(), counts: None }
    }

    pub(super) fn with(mut self, instruction: u32, part: Part) -> Self {
        if instruction != self.instruction && !self.others.iter().any(|(other, _)| *other == instruction) {
            self.others.push((instruction, part));
        }
        self
    }

    pub(super) fn with_some(self, instruction: Option<u32>, part: Part) -> Self {
        match instruction {
            Some(instruction) => self.with(instruction, part),
            None => self,
        }
    }

    /// Whether it is that no bytes are expected.
    pub(super) fn expects_nothing(&self) -> bool {
        self.kind == FaultKind::Bytes && self.counts.is_some_and(|(wanted, _)| wanted == 0)
    }

    /// Whether it is about the bytes of copies that the room for them tells, or those that are read.
    pub(super) fn is_of_rooms(&self) -> bool {
        match self.kind {
            FaultKind::OtherBytes => true,
            FaultKind::TooFewBytes => self.counts.is_some_and(|(_, needed)| needed > 0),
            _ => false,
        }
    }

    /// Whether another execution shows the same, with the same numbers.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.kind, self.instruction, self.counts) == (other.kind, other.instruction, other.counts)
    }

    pub(super) fn counted(mut self, wanted: i64, found: i64) -> Self {
        self.counts = Some((wanted, found));
        self
    }
}
