//! The part of a kernel that decides about its protocol: what threads do to barriers, groups, proxies and shared memory,
//! and what that is computed of (Weiser's slice).
//!
//! Branches between which nothing of that happens are left out, so that loops over data cost nothing.

use std::ops::{Range, RangeInclusive};

use ptx_ir::isa::{Event, Update};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;

use super::answers::Unheard;
use super::clock::Row;
use super::leap::Leap;
use crate::evaluate::Shape;
use rustc_hash::{FxHashMap, FxHashSet};

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A register, by its number in the program, and what is added to it.
    Register(u32, i64),
    /// The opposite of a predicate.
    Negated(u32),
    /// A constant.
    Number(u64),
    /// A special register, and what is added to it.
    Special(SpecialRegister, i64),
    /// Nothing is known of it.
    Unknown,
}

/// Where memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) base: Source,
    /// What is added to the base: a number, or for an element of an array its index.
    pub(super) index: Source,
    pub(super) offset: i64,
    /// The state space; none for a generic address.
    pub(super) space: Option<StateSpace>,
    /// How many bytes; 0 where that is not known.
    pub(super) bytes: u32,
    /// The address in the own block that was mapped to another one.
    pub(super) mapped: Option<Source>,
    /// Where the variable begins and ends that an atomic operation is in, wherever in it.
    pub(super) within: Option<(u64, u64)>,
}

/// What is known of the rows of an operation's matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// Nothing.
    Unknown,
    /// How many each has, in the order of their descriptors; none is what lies along the other dimension.
    Known(Vec<Option<u64>>),
    /// A descriptor of the operation tells, for one block or for two that share the rows.
    Described(Source, bool),
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Computes a register, and its opposite.
    Compute {
        shape: Shape,
        to: [Option<u32>; 2],
        from: [Source; 4],
    },
    /// Puts parts together, the lowest first.
    Pack {
        to: u32,
        parts: Vec<Source>,
        bits: u32,
    },
    /// Takes a number apart.
    Unpack {
        to: Vec<Option<u32>>,
        from: Source,
        bits: u32,
    },
    /// `cvta` of shared memory.
    Convert {
        to: u32,
        from: Source,
        to_generic: bool,
    },
    /// `mapa`
    MapRank {
        to: u32,
        from: Source,
        rank: Source,
    },
    /// Sets registers, each with its bits, to what is not known; to what is assumed where a source is.
    Forget {
        to: Vec<(u32, u32)>,
        from: Vec<Source>,
    },
    /// Sets registers, each with its bits, to what parameters are, or to what is assumed of other memory.
    Load {
        to: Vec<(u32, u32)>,
        parameters: bool,
        /// Whether it reads the element after the one that another load reads.
        is_next: bool,
        /// The list that it reads an element of, where that is one for all threads.
        list: Option<u8>,
        /// Where the element is, if one of the list tells where a part of something begins and the next one where it ends.
        from: Option<Box<Address>>,
    },
    /// Sets registers to parameters, part by part: each with its bits, and whether it is a pointer.
    Pointers {
        address: Address,
        to: Vec<Option<(u32, u32, bool)>>,
    },
    /// Accesses global memory, where blocks tell each other something there.
    Global(Box<GlobalAccess>),
    /// Orders what threads see of global memory: those of the block, or of all blocks.
    GlobalFence {
        in_block: bool,
    },
    /// Waits for all blocks of the grid.
    GridBarrier,
    /// Gets the next numbers of a counter in memory: each lane what was there before it added its own.
    Draw {
        to: u32,
        by: Source,
        bits: u32,
    },
    /// Goes on at another step.
    Jump(u32),
    /// Goes on at one of several steps.
    Table {
        index: Source,
        targets: Vec<u32>,
    },
    /// Ends the thread.
    Exit,
    /// Does what cannot be followed.
    Opaque,
    /// Reads or writes memory through the generic proxy.
    Access {
        address: Address,
        reads: bool,
        writes: bool,
        /// Whether others need not be thought of: it is no atomic and no volatile access.
        is_plain: bool,
        /// The lanes that give addresses.
        lanes: u32,
        /// Whether the lanes of a warp do it together.
        together: bool,
        /// What is loaded and stored, part by part, where anybody asks for it.
        to: Vec<Option<u32>>,
        from: Vec<Source>,
        /// The bytes of a part.
        part: u32,
        /// The bits of the registers that it loads, where the sign of a part fills them.
        extends: Option<u32>,
        /// What an atomic operation on integers puts in the place of what is there, with the bits of its type and whether that has
        /// a sign.
        update: Option<(Update, u32, bool)>,
    },
    /// Loads or stores numbers in the memory of a thread, part by part.
    Local {
        address: Address,
        to: Vec<Option<u32>>,
        from: Vec<Source>,
        /// The bytes of a part.
        part: u32,
    },
    Init {
        object: Address,
        count: Source,
    },
    Invalidate {
        object: Address,
    },
    /// Arrives at an object, or expects bytes there, or both.
    Signal {
        object: Address,
        event: Event,
        count: Source,
        bytes: Source,
        blocks: Source,
        token: Option<u32>,
        relaxed: bool,
    },
    /// Arrives at an object when all `cp.async` so far are complete.
    SignalCopies {
        object: Address,
        counted: bool,
    },
    /// Asks whether a phase is complete.
    Test {
        object: Address,
        to: [Option<u32>; 2],
        parity: Option<Source>,
        phase: Source,
        relaxed: bool,
    },
    /// Starts what runs on its own.
    Start {
        group: Row,
        /// Whether it accesses memory through the asynchronous proxy.
        proxy: bool,
        writes: Option<Address>,
        reads: Vec<Address>,
        /// The global memory that it reads, or writes.
        from: Option<Box<GlobalAccess>>,
        object: Option<Address>,
        bytes: Source,
        blocks: Source,
        /// Whether the object of one block of each pair is told, of which its address tells.
        paired: bool,
    },
    /// Starts what reads matrices in shared memory, and writes to tensor memory if it is told where.
    Multiply {
        /// How many rows each matrix has.
        rows: Rows,
        group: Row,
        /// As of [`Action::Start`].
        proxy: bool,
        matrices: Vec<Source>,
        accumulators: Option<Source>,
    },
    /// Allocates columns of tensor memory and stores where they begin.
    Allocate {
        address: Address,
        columns: Source,
    },
    /// Gives columns of tensor memory back.
    Deallocate {
        first: Source,
        columns: Source,
    },
    /// Waits until all loads from tensor memory are complete.
    WaitLoads,
    /// Orders tensor operations with those of other threads.
    TensorFence {
        after: bool,
    },
    /// Loads from tensor memory, or stores there.
    Tensor {
        address: Source,
        writes: bool,
    },
    Commit(Row),
    /// Waits until so many groups are pending, or have not read their sources.
    Wait {
        group: Row,
        pending: u32,
        only_reads: bool,
    },
    WaitAll(Row),
    /// Arrives at an object when all `tcgen05` operations so far are complete.
    CommitTo {
        object: Address,
        blocks: Source,
    },
    Barrier {
        number: Source,
        threads: Option<Source>,
        waits: bool,
    },
    /// Waits for these lanes of the warp.
    WarpBarrier {
        members: u32,
    },
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    /// Orders what threads did through the generic proxy with what is done through the asynchronous one: in shared memory, and in
    /// global memory.
    ProxyFence {
        shared: bool,
        global: bool,
    },
    ObjectFence,
    /// Gives registers of the warp back to the block, or takes some: how many each thread has then.
    Registers {
        count: u32,
        takes: bool,
    },
}

/// An access of global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GlobalAccess {
    pub(super) address: Address,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// What it puts in the place of what is there, in one step.
    pub(super) update: Option<Update>,
    /// The bits of its type, and whether that has a sign.
    pub(super) bits: u32,
    pub(super) signed: bool,
    pub(super) strength: Strength,
    /// Whether an operation that runs on its own reads it.
    pub(super) is_copied: bool,
    /// Whether what it loads are pointers.
    pub(super) points: bool,
    /// What is loaded and stored, part by part.
    pub(super) to: Vec<Option<u32>>,
    pub(super) from: Vec<Source>,
    /// The bytes of a part.
    pub(super) part: u32,
}

impl GlobalAccess {
    /// What an operation that runs on its own reads there, from an address on.
    pub(super) const fn read_by_copy(address: Address) -> Self {
        let strength = Strength {
            is_strong: false,
            acquires: false,
            releases: false,
            is_volatile: false,
            in_block: false,
        };
        Self {
            address,
            reads: true,
            writes: false,
            update: None,
            bits: 8,
            signed: false,
            strength,
            is_copied: true,
            points: false,
            to: Vec::new(),
            from: Vec::new(),
            part: 1,
        }
    }

    /// Whether it reads strongly what tells its threads nothing: data, which people load past the caches so.
    pub(super) fn reads_data(&self) -> bool {
        let Strength { is_strong, acquires, .. } = self.strength;
        is_strong && !acquires && self.reads && !self.writes && self.to.iter().all(Option::is_none)
    }

    /// Whether it writes data so.
    pub(super) fn writes_data(&self) -> bool {
        let is_unknown = |source: &Source| matches!(source, Source::Unknown);
        self.strength.is_volatile && self.writes && !self.reads && self.from.iter().all(is_unknown)
    }
}

/// What others see of an access, and what it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strength {
    /// Whether others may access the place at the same time.
    pub(super) is_strong: bool,
    pub(super) acquires: bool,
    pub(super) releases: bool,
    /// Whether it is a `.volatile` one, or one that does not come from the cache of the multiprocessor.
    pub(super) is_volatile: bool,
    /// Whether it is for threads of the block alone.
    pub(super) in_block: bool,
}

/// A step of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) instruction: u32,
    /// The predicate under which it runs, and the value that it must have.
    pub(super) guard: Option<(u32, bool)>,
    pub(super) action: Action,
}

/// The part of a kernel that is executed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// How many registers it has.
    pub(super) registers: usize,
    /// Whether blocks of a cluster deal with each other.
    pub(super) clustered: bool,
    /// Whether the number of threads of a block counts, and in several dimensions.
    pub(super) counts_threads: bool,
    pub(super) counts_rows: bool,
    /// Whether accesses of global memory are among it, and some of them tell other blocks or other devices something.
    pub(super) has_global: bool,
    pub(super) tells_blocks: bool,
    pub(super) tells_devices: bool,
    /// Whether the number of the block decides about anything.
    pub(super) asks_block: bool,
    /// Whether it asks how many blocks there are.
    pub(super) asks_grid: bool,
    /// Whether blocks may lie in rows.
    pub(super) asks_row: bool,
    /// Whether threads take locks in global memory.
    pub(super) has_locks: bool,
    /// Whether the kernel says how many threads a block has.
    pub(super) knows_threads: bool,
    /// Stores with which each warp stores the same to a place.
    pub(super) alike: FxHashSet<u32>,
    /// Whether it says how many blocks a cluster has.
    pub(super) knows_cluster: bool,
    /// How many registers a thread begins with, at most; none where nothing tells.
    pub(super) first_registers: Option<u32>,
    /// Whether a parameter tells how many arrive somewhere.
    pub(super) takes_counts: bool,
    /// Whether who waits for whom may depend on who comes first: it has more than barriers for all threads of a block, and
    /// operations that a thread waits for itself.
    pub(super) has_order: bool,
    /// Whether threads tell each other something with atomic or volatile accesses of shared memory.
    pub(super) has_flags: bool,
    /// Whether threads look at such flags, and may wait for others so.
    pub(super) has_polls: bool,
    /// Branches that end loops which wait for flags in global memory, which nobody executes.
    pub(super) asked: FxHashSet<u32>,
    /// Parts that branches choose between and that only have data, by the place of the branch.
    pub(super) parts: FxHashMap<u32, Range<u32>>,
    /// The loads of loops that wait for flags in global memory, the steps at which threads go on after these, and the instructions of
    /// the loops.
    pub(super) exits: Vec<(u32, u32, RangeInclusive<u32>)>,
    /// Loops whose rounds can be taken at once, by the steps that go back.
    pub(super) leaps: Vec<Leap>,
    /// Whether accesses are left out that are like others.
    pub(super) is_thinned: bool,
    /// Whether threads read numbers in shared memory that decide about something.
    pub(super) remembers: bool,
    /// Whether it needs numbers that calls give.
    pub(super) asks_calls: bool,
    /// Releases of tensor memory that both blocks of a pair take part in.
    pub(super) of_pairs: Vec<u32>,
    /// Arrivals and tests that name their scope, and whether that is the cluster.
    pub(super) scopes: FxHashMap<u32, bool>,
    /// Whether it orders tensor operations after meetings.
    pub(super) fences_tensor: bool,
    /// Tests whose answers nobody asks for.
    pub(super) unheard: Vec<Unheard>,
    /// Loads from places in a variable that are computed: where it begins and ends.
    pub(super) gathers: FxHashMap<u32, (u64, u64)>,
    /// Where shared variables are, and how large.
    pub(super) variables: Vec<(u64, u64)>,
    /// Where the last of them ends, if the launch adds nothing to them.
    pub(super) shared_end: Option<u64>,
}

impl Program {
    /// Whether threads get numbers of atomic operations on global memory, by which they may tell who they are.
    pub(super) fn draws(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(&step.action, Action::Global(access)
                if access.update.is_some() && access.to.iter().any(Option::is_some))
        })
    }

    /// Whether threads load elements of a list that lie next to each other.
    pub(super) fn reads_lists(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Load { is_next: true, .. }))
    }

    /// Whether threads take addresses in other blocks' shared memory.
    pub(super) fn maps_ranks(&self) -> bool {
        self.steps.iter().any(|step| match &step.action {
            Action::MapRank { .. } => true,
            Action::Access { address, .. } => address.space == Some(StateSpace::SharedCluster),
            _ => false,
        })
    }
}

/// The bit of generic addresses of shared memory.
pub(super) const GENERIC: u64 = 1 << 44;
/// Bits of an address within the shared memory of a block; above them is the block's rank in its cluster, with a bit that
/// tells it from a number that is too large for an address.
pub(super) const RANK: u32 = 24;
pub(super) const MAPPED: u64 = 0x80;
/// No block has more shared memory.
pub(super) const MAX_SHARED: u64 = 1 << 18;
