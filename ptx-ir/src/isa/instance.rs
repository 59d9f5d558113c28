//! What a spelling means: its operands, effects and requirements.

use super::class::ClassSet;
use super::effects::{Effects, Mode};
use crate::platform::{Platform, TextureMode};
use crate::space::StateSpace;
use crate::target::{Target, TargetSet};
use crate::types::Type;
use crate::version::Version;

/// A form of the table: one syntax line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormId(pub(crate) u16);

/// A root opcode of the table, such as `add` or `tcgen05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpcodeId(pub(crate) u16);

/// Whether an operand is an input or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It is read. The base register of an address is read whatever the role of the operand.
    Source,
    /// It is written.
    Destination,
    /// It is read and written, as the accumulator of `wgmma`.
    Both,
}

/// What an operand is for, where that is more than its role and type tell: the table says it after `as`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// Whether the old value of the accumulator counts: `scale-d` of `wgmma`.
    Accumulate,
    /// How many arrivals: of a phase for `mbarrier.init`, at once for `mbarrier.arrive`.
    Arrivals,
    /// The mbarrier object that the completion of an asynchronous operation is signalled to.
    Barrier,
    /// The number of a barrier of the block.
    BarrierNumber,
    /// The blocks of the cluster that an operation reaches, as a mask.
    Blocks,
    /// How many bytes are expected, or copied.
    Bytes,
    /// Where an asynchronous copy or reduction writes.
    CopyDestination,
    /// Where a matrix in shared memory is: a descriptor.
    Descriptor,
    /// How many groups may still be pending.
    Groups,
    /// The parity of the phase that is waited for.
    Parity,
    /// The phase of an object, as `mbarrier.arrive` returns it.
    Phase,
    /// How many registers each thread of a warp has from here on: `setmaxnreg`.
    Registers,
    /// A tensor map, which tells how a tensor lies in memory.
    TensorMap,
    /// The lanes that execute a `.sync` instruction together.
    ThreadMask,
    /// How many threads take part in a barrier.
    Threads,
    /// The eight results of a function of three bits: `immLut` of `lop3`.
    TruthTable,
}

/// The outer form that an operand must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// One register, immediate, name, label or `_` of the accepted classes.
    Value,
    /// A predicate that may be negated: `%p` or `!%p`.
    NegatableValue,
    /// `a|b`, the children say of what.
    Pair,
    /// A brace list, or a vector register, of exactly `count` elements of the accepted classes.
    Vector {
        /// How many elements.
        count: u16,
    },
    /// `[base]` or `[base + offset]`; the accepted classes are those of the base.
    Address,
    /// `[part, part, …]`, the children say of what.
    Bracket,
    /// `(a, b, …)` of any length: arguments or results of a call.
    List,
    /// A register of the accepted classes, with or without a selector.
    Selectable {
        /// Which selectors are allowed.
        selectors: Selectors,
    },
}

/// The selectors that a video operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Selectors {
    /// `.b0` to `.b3`, `.h0`, `.h1`: one part of a word.
    Part,
    /// `.h00` to `.h33`: a half word from each of two, from the four half words of two registers.
    HalfPair,
    /// `.b0000` to `.b7777`: a byte for each of four.
    ByteQuad,
    /// `.h0`, `.h1`, `.h10`: which half words of the result are written.
    HalfMask,
    /// `.b0` to `.b3210`: which bytes of the result are written.
    ByteMask,
}

/// What memory an address operand names, and what happens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Access {
    /// The state space; `None` for a generic address.
    pub space: Option<StateSpace>,
    /// Whether it is read.
    pub reads: bool,
    /// Whether it is written.
    pub writes: bool,
    /// How many bytes; 0 where it does not follow from the spelling.
    pub bytes: u32,
    /// The operand that says how many bytes, where that does not follow from the spelling.
    pub sized: Option<&'static str>,
    /// The alignment that the address needs in bytes; 0 where it is that of the size.
    pub aligned: u32,
}

/// The values that an immediate may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImmediateRange {
    /// The smallest.
    pub low: i64,
    /// The largest.
    pub high: i64,
    /// The distance between values: 8 for 24, 32, 40 …
    pub step: i64,
}

impl ImmediateRange {
    /// Whether `value` is allowed.
    #[must_use]
    pub const fn contains(self, value: i64) -> bool {
        // The distance of two 64-bit integers has 65 bits.
        let distance = value as i128 - self.low as i128;
        self.low <= value && value <= self.high && distance % self.step as i128 == 0
    }

    /// Whether a floating-point immediate is allowed: it is above the smallest, as a fraction of nothing makes
    /// no sense, and at most the largest.
    #[must_use]
    pub fn contains_fraction(self, value: f64) -> bool {
        self.low as f64 <= value && value <= self.high as f64 && value != self.low as f64
    }
}

/// What an instruction wants at one operand position, with types filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperandSpec {
    /// The name that the manual gives the operand: `d`, `a`, `cache-policy`.
    pub name: &'static str,
    /// Input or output.
    pub role: Role,
    /// What it is for.
    pub purpose: Option<Purpose>,
    /// The outer form.
    pub pattern: Pattern,
    /// The classes that are taken, of the value, the elements or the base.
    pub accepts: ClassSet,
    /// For a brace list without a register of plain bits, the classes of its elements; where there is one,
    /// NVIDIA's assembler looks at the width only, and `accepts` holds.
    pub exact: ClassSet,
    /// The classes that the manual has; the assembler may refuse some of them.
    pub manual: ClassSet,
    /// The type of the value or of one element; `None` where it has none, as for labels.
    pub ty: Option<Type>,
    /// Whether the operand may be left out.
    pub optional: bool,
    /// The values that an integer immediate may have; empty: any.
    pub ranges: &'static [ImmediateRange],
    /// For an address, what happens to the memory.
    pub access: Option<Access>,
    /// The parts of a pair or a bracket.
    pub children: Box<[Self]>,
    /// The modifier that the number of elements, or the presence of the operand, follows from.
    pub because: Option<&'static str>,
}

impl OperandSpec {
    /// Whether it is the address of an access, in shared memory or in a state space that it does not name.
    #[must_use]
    pub fn may_access_shared(&self) -> bool {
        self.access.is_some_and(|access| access.space.is_none_or(|space| space.base() == StateSpace::Shared))
    }
}

/// A requirement on PTX version and target, and what brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gate {
    /// The modifiers that bring it, as they are spelled; empty where the form itself does.
    pub modifiers: Box<[&'static str]>,
    /// The first version that has it.
    pub min_version: Version,
    /// The last version that has it: older forms were withdrawn.
    pub max_version: Version,
    /// The targets that have it.
    pub targets: TargetSet,
    /// The operands that bring it; none where the modifiers or the form do.
    pub operands: Box<[&'static str]>,
    /// What these operands must be to bring it; empty where they only have to be there.
    pub classes: ClassSet,
}

/// One meaning of a spelling: a form of the table with a value for each of its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instance {
    /// The form.
    pub form: FormId,
    /// The modifiers that are present, in canonical order, each with its dot.
    pub modifiers: Box<[&'static str]>,
    /// What each operand must be, in order.
    pub operands: Box<[OperandSpec]>,
    /// The first version that has all of it.
    pub min_version: Version,
    /// The last version that has all of it.
    pub max_version: Version,
    /// The targets that have all of it.
    pub targets: TargetSet,
    /// The texturing mode that has it; `None` where it is in both.
    pub texture_mode: Option<TextureMode>,
    /// The single requirements, so that a message can say which modifier needs what.
    pub gates: Box<[Gate]>,
    /// What it does besides computing results.
    pub effects: Effects,
    /// The spelling as the manual has it, opcode included.
    pub canonical: Box<str>,
    /// The type that the instruction works on: the last modifier that is a type of its operands.
    pub ty: Option<Type>,
    /// Whether some operand is the address of an access.
    pub accesses: bool,
    /// Whether it does more than compute registers and choose where control goes: [`Effects::reach_out`].
    pub reaches_out: bool,
    /// Whether some operand may be the address of an access of shared memory.
    pub may_access_shared: bool,
    /// The roles of the operands once more, for who asks for nothing else of them.
    pub(crate) roles: Roles,
}

/// The roles of the first operands of an instance, two bits for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Roles(u64);

impl Roles {
    /// Of so many operands.
    pub(crate) const COUNT: usize = u64::BITS as usize / 2;

    pub(crate) fn of(operands: &[OperandSpec]) -> Self {
        let of_one = |(index, operand): (usize, &OperandSpec)| (operand.role as u64) << (2 * index);
        Self(operands.iter().take(Self::COUNT).enumerate().map(of_one).sum())
    }

    /// The role of one of them.
    #[inline]
    pub(crate) const fn get(self, index: usize) -> Role {
        match self.0 >> (2 * index) & 3 {
            0 => Role::Source,
            1 => Role::Destination,
            _ => Role::Both,
        }
    }
}

impl Instance {
    /// Whether a modifier is present, written with its dot.
    #[must_use]
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// Whether a modifier means this.
    #[must_use]
    #[inline]
    pub const fn is(&self, mode: Mode) -> bool {
        self.effects.modes.contains(mode)
    }

    /// The operand that names the lanes which execute this together.
    #[must_use]
    #[inline]
    pub fn lane_mask(&self) -> Option<usize> {
        self.operand_for(Purpose::ThreadMask)
    }

    /// The operand that is for something.
    #[must_use]
    #[inline]
    pub fn operand_for(&self, purpose: Purpose) -> Option<usize> {
        self.operands.iter().position(|spec| spec.purpose == Some(purpose))
    }

    /// Whether this loads what nobody writes while the kernel runs.
    #[must_use]
    #[inline]
    pub const fn is_read_only_load(&self) -> bool {
        self.is(Mode::ReadOnly)
    }

    /// Whether a module for this platform may use it.
    #[must_use]
    #[inline]
    pub fn is_available(&self, platform: Platform) -> bool {
        let Platform { version, target, texture_mode } = platform;
        version >= self.min_version
            && version <= self.max_version
            && self.targets.contains(target)
            && self.texture_mode.is_none_or(|mode| mode == texture_mode)
    }

    /// The requirements that a module of this version and target does not meet.
    pub fn unmet(&self, version: Version, target: Target) -> impl Iterator<Item = &Gate> {
        self.gates.iter().filter(move |gate| {
            version < gate.min_version || version > gate.max_version || !gate.targets.contains(target)
        })
    }
}
