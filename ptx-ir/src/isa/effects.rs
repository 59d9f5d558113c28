//! What an instruction does besides computing its results.

/// Which chain of extended-precision arithmetic an instruction belongs to. The hardware keeps a carry after
/// an addition and a borrow after a subtraction, so a chain of one kind must not be continued by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chain {
    /// `add.cc`, `addc`, `mad.cc`, `madc`.
    Add,
    /// `sub.cc`, `subc`.
    Sub,
}

/// How an instruction uses the carry flag `CC.CF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carry {
    /// Whether the flag is an input.
    pub reads: bool,
    /// Whether the flag is an output.
    pub writes: bool,
    /// Carry or borrow.
    pub chain: Chain,
    /// The width of the operation in bits: 16, 32 or 64.
    pub bits: u8,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Control {
    /// To the next instruction.
    #[default]
    Next,
    /// To the label that is its operand.
    Branch,
    /// To one label of a `.branchtargets` list.
    IndexedBranch,
    /// Into a function and back to the next instruction.
    Call,
    /// Out of the function.
    Return,
    /// To the end of the thread.
    Exit,
    /// To the end of the grid, with an error.
    Trap,
}

impl Control {
    /// Whether the next instruction is reached where the guard holds.
    #[must_use]
    pub const fn falls_through(self) -> bool {
        match self {
            Self::Next | Self::Call => true,
            Self::Branch | Self::IndexedBranch | Self::Return | Self::Exit | Self::Trap => false,
        }
    }
}

/// Which threads have to come to an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Convergence {
    /// None.
    #[default]
    None,
    /// Those of a mask or a count that is an operand: `shfl.sync`, `barrier.sync` without `.aligned`.
    Participants,
    /// All threads of the warp, executing this same instruction: `.aligned`, `bar.sync`, `mma`.
    Aligned,
}

/// A mechanism of asynchronous execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AsyncGroup {
    /// `cp.async` groups of a thread.
    CpAsync,
    /// Bulk groups of a thread.
    Bulk,
    /// `wgmma` groups of a warpgroup.
    Wgmma,
    /// `tcgen05.ld`.
    Tcgen05Load,
    /// `tcgen05.st`.
    Tcgen05Store,
    /// `tcgen05.mma`, `tcgen05.cp`, `tcgen05.shift`, completed through an mbarrier.
    Tcgen05,
    /// Tensor memory that is allocated.
    Tcgen05Allocation,
    /// Completion through an mbarrier object.
    Mbarrier,
    /// Fabric operations of a thread.
    Fabric,
}

/// What an instruction does to the operations of an [`AsyncGroup`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AsyncAction {
    /// Starts an operation that runs on its own.
    Start,
    /// Closes a group of the operations started before it.
    Commit,
    /// Waits until at most as many groups run as its operand says.
    Wait,
    /// Waits until nothing runs.
    WaitAll,
    /// Orders what comes before it with the operations after it.
    Fence,
    /// Orders the operations before it with what a synchronization of threads tells others.
    FenceBefore,
    /// Orders what a synchronization of threads has told with the operations after it.
    FenceAfter,
    /// Makes the object ready: `mbarrier.init`, `tcgen05.alloc`.
    Init,
    /// Ends the object's life: `mbarrier.inval`, `tcgen05.dealloc`.
    Release,
    /// Gives up the right to make objects: `tcgen05.relinquish_alloc_permit`.
    Relinquish,
    /// Signals arrival at the object.
    Arrive,
    /// Tests once whether a phase is complete.
    Test,
}

/// The function of its operands that an instruction computes, for those whose values are followed. Numbers are
/// integers, or plain bits; a `mov` moves whatever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Computation {
    /// `d = a`
    Move,
    /// `d = !a`, bit by bit
    Not,
    /// `d = a & b`
    And,
    /// `d = a | b`
    Or,
    /// `d = a ^ b`
    Xor,
    /// `d = a + b`, wrapping
    Add,
    /// `d = a - b`, wrapping
    Subtract,
    /// `d = -a`, wrapping
    Negate,
    /// `d = a * b`, its lower half
    Multiply,
    /// `d = a * b`, twice as wide
    MultiplyWide,
    /// `d = a * b + c`, of the lower half
    MultiplyAdd,
    /// `d = a * b + c`, twice as wide
    MultiplyAddWide,
    /// `d = a / b`
    Divide,
    /// `d = a % b`
    Remainder,
    /// `d = a << b`
    ShiftLeft,
    /// `d = a >> b`
    ShiftRight,
    /// Four bytes of `a` and `b`, each chosen by four bits of `c`.
    Permute,
    /// `p = a ? b`; where there is `p|q`, `q` is the opposite; combined with a predicate `c` where there is one.
    /// [`Effects::compares`] says how.
    Compare,
    /// `d = c ? a : b`
    Select,
    /// `d = a`, fitted into another type
    Convert,
    /// The generic address of an address of a state space.
    ToGeneric,
    /// The address in a state space of a generic one.
    FromGeneric,
    /// The address of the same variable in another block of the cluster.
    MapRank,
    /// The value that `a` has in another thread of the warp, or in this one.
    Exchange,
    /// What is in memory.
    Load,
    /// Bit by bit, the function of `a`, `b` and `c` whose truth table is the fourth operand.
    Logic3,
    /// The word that `c` chooses of the 64 bits `b:a`.
    FunnelShift,
    /// `d = a * b`, its upper half
    MultiplyHigh,
    /// `c` and the products of the halves of `a` with the two lower bytes of `b`.
    DotProductLow,
    /// The same with the two upper bytes of `b`.
    DotProductHigh,
    /// The smaller of `a` and `b`.
    Minimum,
    /// The larger of `a` and `b`.
    Maximum,
    /// `d = |a|`
    Absolute,
    /// How many bits of `a` are set.
    CountOnes,
    /// How many bits of `a` above the highest that is set.
    LeadingZeros,
    /// The place of the highest bit of `a` that is not its sign; all ones where there is none.
    HighestBit,
    /// `a` with its bits in reverse order.
    ReverseBits,
    /// The field of `a` at bit `b`, `c` bits long.
    ExtractField,
    /// `b` with the field at bit `c`, `d` bits long, replaced by the low bits of `a`.
    InsertField,
    /// A floating-point number of `a` and `b` that is the same if they change places.
    Combine,
    /// What the lanes of a warp, or the threads at a barrier, say together of a predicate: a predicate, or the mask of
    /// lanes where it holds.
    Vote,
    /// The mask of lanes that have the same value.
    Match,
    /// One number of the values of all lanes.
    Reduce,
    /// The mask of lanes that execute this together.
    ActiveMask,
    /// `d|p`: one lane of the mask, and whether it is this one.
    Elect,
}

impl Computation {
    /// Whether the third operand is the number that is shifted by, or that is divided by.
    #[must_use]
    pub const fn has_amount(self) -> bool {
        matches!(self, Self::ShiftLeft | Self::ShiftRight | Self::Divide | Self::Remainder)
    }
}

/// What an instruction does to the order of threads, of proxies and of the phases of an `mbarrier` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Arrives at a barrier of the block and waits for the others: `bar.sync`, `bar.red`.
    BarrierSync,
    /// Arrives at a barrier of the block and goes on: `bar.arrive`.
    BarrierArrive,
    /// Arrives at the barrier of the cluster and goes on.
    ClusterArrive,
    /// Waits at the barrier of the cluster.
    ClusterWait,
    /// Orders accesses of memory: `fence`, `membar`.
    Fence,
    /// Orders the generic proxy and the asynchronous one: `fence.proxy.async`.
    ProxyFence,
    /// The same of global memory alone: `fence.proxy.async.global`.
    GlobalProxyFence,
    /// Publishes objects that were made: `fence.mbarrier_init`.
    ObjectFence,
    /// Changes a tensor map: `tensormap.replace`.
    MapChange,
    /// Copies a tensor map to global memory and releases it to those who copy by it: `tensormap.cp_fenceproxy`.
    MapPublish,
    /// Releases changes of tensor maps to those who copy by them: `fence.proxy.tensormap::generic.release`.
    MapRelease,
    /// Acquires a tensor map, so that copies after it go by what was released: `fence.proxy.tensormap::generic.acquire`.
    MapAcquire,
    /// Stops for a debugger, without which the grid ends with an error: `brkpt`.
    Break,
    /// Waits for the grids that the launch depends on: `griddepcontrol.wait`.
    GridWait,
    /// The grids that depend on this one may start once all of its blocks have come here or ended: `griddepcontrol.launch_dependents`.
    GridBegin,
    /// Arrives at an object.
    Arrive,
    /// Expects bytes, and arrives at the object.
    ArriveExpect,
    /// Arrives at an object, and does not take part in later phases.
    Drop,
    /// Expects bytes, arrives at the object, and does not take part in later phases.
    DropExpect,
    /// Expects bytes in this phase: `mbarrier.expect_tx`.
    Expect,
    /// Says that bytes have come: `mbarrier.complete_tx`.
    Complete,
    /// Gives registers of the warp back to the block: `setmaxnreg.dec`.
    GiveRegisters,
    /// Takes registers of the block, and waits until there are as many: `setmaxnreg.inc`.
    TakeRegisters,
}

impl Event {
    /// Whether it is about tensor maps.
    #[must_use]
    pub const fn concerns_maps(self) -> bool {
        matches!(self, Self::MapChange | Self::MapPublish | Self::MapRelease | Self::MapAcquire)
    }
}

/// The relation that a comparison asks for. Integers are compared by the sign of the type and are never NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `a = b`
    Equal,
    /// `a ≠ b`, and neither is NaN
    NotEqual,
    /// `a < b`
    Less,
    /// `a ≤ b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a ≥ b`
    GreaterOrEqual,
    /// `a = b`, or one is NaN
    EqualOrUnordered,
    /// `a ≠ b`, or one is NaN
    NotEqualOrUnordered,
    /// `a < b`, or one is NaN
    LessOrUnordered,
    /// `a ≤ b`, or one is NaN
    LessOrEqualOrUnordered,
    /// `a > b`, or one is NaN
    GreaterOrUnordered,
    /// `a ≥ b`, or one is NaN
    GreaterOrEqualOrUnordered,
    /// Neither is NaN.
    Ordered,
    /// One is NaN.
    Unordered,
}

/// What an atomic operation puts in the place of a number `n`, of its operands `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Update {
    /// `n + a`
    Add,
    /// `n & a`
    And,
    /// `b` where `n = a`, else `n`
    CompareExchange,
    /// `a` where `n = 0` or `n > a`, else `n − 1`
    Decrement,
    /// `a`
    Exchange,
    /// `0` where `n ≥ a`, else `n + 1`
    Increment,
    /// The larger of `n` and `a`.
    Maximum,
    /// The smaller of them.
    Minimum,
    /// `n | a`
    Or,
    /// `n ^ a`
    Xor,
}

/// What a modifier means, where that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Mode {
    /// `.acquire`: what others have released is visible after it.
    Acquire,
    /// `.all`: every lane; `.and` of a barrier: every thread.
    All,
    /// `.and`: combined with a third predicate.
    And,
    /// `.any`: at least one lane; `.or` of a barrier: at least one thread.
    Any,
    /// `.cta`: of threads of the block only.
    BlockScope,
    /// `.bfly`: the lane whose number differs in some bits.
    Butterfly,
    /// `.cluster`: of threads of the cluster only.
    ClusterScope,
    /// `.cg`, `.cv`: not from the cache of the multiprocessor, which what others store does not come to.
    Coherent,
    /// `.gpu`, `.gl`: of threads of the device only.
    DeviceScope,
    /// `.shiftamt`: how far a bit is from the highest place.
    Distance,
    /// `.x1`: only the first eight lanes give addresses.
    EightAddresses,
    /// `.multicast::cluster::all`: in each block of the cluster.
    Everywhere,
    /// `.down`: a lane with a higher number.
    HigherLane,
    /// `.idx`: the lane of a number.
    Indexed,
    /// `.up`: a lane with a lower number.
    LowerLane,
    /// `multimem`: of the memory of several devices at once.
    Multicast,
    /// `.or`: combined with a third predicate.
    Or,
    /// `.cta_group::2`: for two blocks together, one of which is told.
    Paired,
    /// `.kind::f16`, `.kind::tf32`, `.kind::i8`: of elements that take all of their bytes in memory.
    PlainElements,
    /// `.nc`: loads what nobody writes while the kernel runs.
    ReadOnly,
    /// `.read`: only that sources have been read.
    Reads,
    /// `.relaxed`: a strong access that orders nothing else.
    Relaxed,
    /// `.release`: what comes before is visible to those who acquire it.
    Release,
    /// `.r`: to the right.
    Right,
    /// `.sat`: to the limits of the type.
    Saturate,
    /// `.shared::cta`, `.shared::cluster` of a fence of the proxy: of accesses of shared memory only.
    SharedOnly,
    /// `.x2`: only the first sixteen lanes give addresses.
    SixteenAddresses,
    /// `.sys`: of all threads, those of the host and of other devices among them.
    SystemScope,
    /// `.noinc`: an arrival that the count of the object has already.
    Uncounted,
    /// An instruction that should say what it tests and does not.
    Untested,
    /// `.uni`: all lanes say the same.
    Uniform,
    /// `.volatile`: others see it, and the compiler leaves it alone.
    Volatile,
    /// `.wrap`: a distance by its lower bits.
    Wrap,
    /// `.xor`: combined with a third predicate.
    Xor,
}

/// The meanings of the modifiers of a spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Modes(u64);

impl Modes {
    /// Whether a modifier means this.
    #[must_use]
    #[inline]
    pub const fn contains(self, mode: Mode) -> bool {
        self.0 >> mode as u8 & 1 != 0
    }

    pub(super) const fn insert(&mut self, mode: Mode) {
        self.0 |= 1 << mode as u8;
    }
}

/// What an instruction does, apart from the types of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Effects {
    /// Use of the carry flag.
    pub carry: Option<Carry>,
    /// Where control goes.
    pub control: Control,
    /// Whether it reads memory.
    pub reads_memory: bool,
    /// Whether it writes memory.
    pub writes_memory: bool,
    /// Whether the read and the write are one atomic step.
    pub atomic: bool,
    /// Which threads have to come together.
    pub convergence: Convergence,
    /// Whether threads wait here for each other: `bar.sync`, `barrier.cluster.wait`, `bar.warp.sync`.
    pub barrier: bool,
    /// What it does to asynchronous operations.
    pub asynchronous: Option<(AsyncGroup, AsyncAction)>,
    /// Whether it accesses memory through the asynchronous proxy, which does not see what the generic one wrote without a
    /// `fence.proxy.async` between the two.
    pub async_proxy: bool,
    /// Whether two executions with equal operands may give different results, or the execution itself
    /// matters: must be neither removed, repeated nor merged.
    pub volatile: bool,
    /// Whether the result may differ between the threads of a warp though the operands do not.
    pub thread_dependent: bool,
    /// What its first result is of its operands, where that is followed.
    pub computes: Option<Computation>,
    /// The relation that it asks for, where it compares.
    pub compares: Option<Comparison>,
    /// What it puts in the place of what was there, where it changes memory in one step.
    pub updates: Option<Update>,
    /// What its modifiers mean.
    pub modes: Modes,
    /// What it does to the order of threads, of proxies and of phases.
    pub event: Option<Event>,
}

impl Effects {
    /// Whether the instruction does more than compute registers and choose where control goes: it accesses memory, starts
    /// or orders something, meets other threads or calls.
    #[must_use]
    pub fn reach_out(&self) -> bool {
        self.reads_memory
            || self.writes_memory
            || self.atomic
            || self.volatile
            || self.barrier
            || self.convergence != Convergence::None
            || self.asynchronous.is_some()
            || self.event.is_some()
            || self.control == Control::Call
    }

    /// Whether the instruction only computes its results from its operands, so that it may be removed where
    /// they are unused.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        self.carry.is_none_or(|carry| !carry.writes)
            && matches!(self.control, Control::Next)
            && !self.writes_memory
            && !self.volatile
            && !self.barrier
            && self.asynchronous.is_none()
    }
}
