//! The special registers: read-only values that the hardware provides.
//!
//! Manual: chapter "Special Registers". Which instructions may read a register depends only on its
//! [`Reads`] group; only `mov` and `cvt` read any. `WARP_SZ` is a constant, not a register.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::target::{Target, TargetSet};
use crate::types::Type;
use crate::version::Version;

/// Which reads a special register allows, as NVIDIA's assembler does. Each group is one operand class of the
/// instruction table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reads {
    /// `%tid`: four elements of 32 bits, or of 16 bits as in PTX 1.x.
    NarrowVector,
    /// `%clusterid`: four elements of 32 bits.
    Vector,
    /// `%tid.x`: 32 bits, or 16 bits as in PTX 1.x.
    Narrow,
    /// `%laneid`: 32 bits.
    Word,
    /// `%clock64`: 64 bits.
    Double,
    /// `%gridid`: 16, 32 or 64 bits, as it grew over the versions.
    Any,
    /// `%is_explicit_cluster`: a predicate.
    Predicate,
}

/// A special register, as an index into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpecialRegister(u8);

/// Who reads the same value of a special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Varies {
    /// Nobody needs to: threads of one warp read different values.
    Thread,
    /// Threads that have the same place in their warps.
    Lane,
    /// The threads of a warp.
    Warp,
    /// Those of a block.
    Block,
    /// Those of a cluster.
    Cluster,
    /// All threads of a launch.
    Launch,
    /// Nobody, as the value changes by itself: clocks, timers and performance counters.
    Time,
}

struct Row {
    name: &'static str,
    ty: Type,
    reads: Reads,
    min_version: Version,
    min_target: u16,
    varies: Varies,
    range: Option<(u64, u64)>,
    means: &'static str,
}

// The registers of `isa/manual/special_registers.isa`, and a constant for each.
include!(concat!(env!("OUT_DIR"), "/special_registers.rs"));

static BY_NAME: LazyLock<FxHashMap<&'static str, SpecialRegister>> =
    LazyLock::new(|| SpecialRegister::all().map(|register| (register.name(), register)).collect());

impl SpecialRegister {
    /// Every special register, in the order of the manual.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..ROWS.len() as u8).map(Self)
    }

    /// Looks a name up with its percent sign and component, such as `%tid.x`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        BY_NAME.get(name).copied()
    }

    /// The name with its percent sign and component.
    #[must_use]
    pub fn name(self) -> &'static str {
        ROWS[self.0 as usize].name
    }

    /// The type of the value; of one element where the register is a vector.
    #[must_use]
    pub fn ty(self) -> Type {
        ROWS[self.0 as usize].ty
    }

    /// How many elements the register has: 4 for `%tid`, else 1.
    #[must_use]
    pub fn elements(self) -> u8 {
        match self.reads() {
            Reads::NarrowVector | Reads::Vector => 4,
            Reads::Narrow | Reads::Word | Reads::Double | Reads::Any | Reads::Predicate => 1,
        }
    }

    /// An instruction that reads it, the first element where there are several.
    #[must_use]
    pub fn read(self) -> String {
        let element = if self.elements() == 1 { "" } else { ".x" };
        format!("mov{} %r, {}{element};", self.ty(), self.name())
    }

    /// Which reads it allows.
    #[must_use]
    pub fn reads(self) -> Reads {
        ROWS[self.0 as usize].reads
    }

    /// The first PTX version that has it.
    #[must_use]
    pub fn min_version(self) -> Version {
        ROWS[self.0 as usize].min_version
    }

    /// The targets that have it.
    #[must_use]
    pub fn targets(self) -> TargetSet {
        TargetSet::at_least(ROWS[self.0 as usize].min_target)
    }

    /// The lowest target that has it.
    #[must_use]
    pub fn min_target(self) -> Target {
        self.targets().lowest().unwrap_or(Target::OLDEST)
    }

    /// Who reads the same value.
    #[must_use]
    pub fn varies(self) -> Varies {
        ROWS[self.0 as usize].varies
    }

    /// The smallest and the largest value that it has on any target, where the manual tells.
    #[must_use]
    pub fn range(self) -> Option<(u64, u64)> {
        ROWS[self.0 as usize].range
    }

    /// What it is, in half a sentence.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        ROWS[self.0 as usize].means
    }

    /// Whether two reads may give different values: clocks, timers and performance counters.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        self.varies() == Varies::Time
    }

    /// Whether the threads of one warp may read different values.
    #[must_use]
    pub fn is_thread_dependent(self) -> bool {
        matches!(self.varies(), Varies::Thread | Varies::Lane)
    }
}

#[cfg(test)]
mod tests {
    use super::{Reads, SpecialRegister};

    #[test]
    fn names_round_trip() {
        for register in SpecialRegister::all() {
            assert_eq!(SpecialRegister::parse(register.name()), Some(register));
        }
        assert_eq!(SpecialRegister::parse("%tid.q"), None);
        assert_eq!(SpecialRegister::parse("tid.x"), None);
    }

    #[test]
    fn vectors_have_four_elements() {
        let tid = SpecialRegister::parse("%tid").unwrap();
        assert_eq!((tid.reads(), tid.elements()), (Reads::NarrowVector, 4));
        assert!(tid.is_thread_dependent());
        assert_eq!(SpecialRegister::parse("%tid.x"), Some(SpecialRegister::TID_X));
        assert_eq!(SpecialRegister::CTAID_Y.range(), Some((0, 65_534)));
        assert!(SpecialRegister::PM3_64.is_volatile() && !SpecialRegister::SMID.is_volatile());
    }
}
