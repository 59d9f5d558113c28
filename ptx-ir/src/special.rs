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

struct Row {
    name: &'static str,
    ty: Type,
    reads: Reads,
    min_version: Version,
    min_target: u16,
}

const fn row(name: &'static str, ty: Type, reads: Reads, major: u8, minor: u8, min_target: u16) -> Row {
    Row { name, ty, reads, min_version: Version::new(major, minor), min_target }
}

static ROWS: [Row; 119] = [
    row("%tid", Type::U32, Reads::NarrowVector, 1, 0, 10),
    row("%clock64", Type::U64, Reads::Double, 2, 0, 20),
    row("%tid.x", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%tid.y", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%tid.z", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%tid.w", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ntid", Type::U32, Reads::NarrowVector, 1, 0, 10),
    row("%ntid.x", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ntid.y", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ntid.z", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ntid.w", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ctaid", Type::U32, Reads::NarrowVector, 1, 0, 10),
    row("%ctaid.x", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ctaid.y", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ctaid.z", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%ctaid.w", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%nctaid", Type::U32, Reads::NarrowVector, 1, 0, 10),
    row("%nctaid.x", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%nctaid.y", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%nctaid.z", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%nctaid.w", Type::U32, Reads::Narrow, 1, 0, 10),
    row("%clusterid", Type::U32, Reads::Vector, 7, 8, 90),
    row("%clusterid.x", Type::U32, Reads::Word, 7, 8, 90),
    row("%clusterid.y", Type::U32, Reads::Word, 7, 8, 90),
    row("%clusterid.z", Type::U32, Reads::Word, 7, 8, 90),
    row("%clusterid.w", Type::U32, Reads::Word, 7, 8, 90),
    row("%nclusterid", Type::U32, Reads::Vector, 7, 8, 90),
    row("%nclusterid.x", Type::U32, Reads::Word, 7, 8, 90),
    row("%nclusterid.y", Type::U32, Reads::Word, 7, 8, 90),
    row("%nclusterid.z", Type::U32, Reads::Word, 7, 8, 90),
    row("%nclusterid.w", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_ctaid", Type::U32, Reads::Vector, 7, 8, 90),
    row("%cluster_ctaid.x", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_ctaid.y", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_ctaid.z", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_ctaid.w", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_nctaid", Type::U32, Reads::Vector, 7, 8, 90),
    row("%cluster_nctaid.x", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_nctaid.y", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_nctaid.z", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_nctaid.w", Type::U32, Reads::Word, 7, 8, 90),
    row("%laneid", Type::U32, Reads::Word, 1, 3, 10),
    row("%warpid", Type::U32, Reads::Word, 1, 3, 10),
    row("%nwarpid", Type::U32, Reads::Word, 2, 0, 20),
    row("%smid", Type::U32, Reads::Word, 1, 3, 10),
    row("%nsmid", Type::U32, Reads::Word, 2, 0, 20),
    row("%gridid", Type::U64, Reads::Any, 1, 0, 10),
    row("%is_explicit_cluster", Type::Pred, Reads::Predicate, 7, 8, 90),
    row("%cluster_ctarank", Type::U32, Reads::Word, 7, 8, 90),
    row("%cluster_nctarank", Type::U32, Reads::Word, 7, 8, 90),
    row("%lanemask_eq", Type::U32, Reads::Word, 2, 0, 20),
    row("%lanemask_le", Type::U32, Reads::Word, 2, 0, 20),
    row("%lanemask_lt", Type::U32, Reads::Word, 2, 0, 20),
    row("%lanemask_ge", Type::U32, Reads::Word, 2, 0, 20),
    row("%lanemask_gt", Type::U32, Reads::Word, 2, 0, 20),
    row("%clock", Type::U32, Reads::Word, 1, 0, 10),
    row("%clock_hi", Type::U32, Reads::Word, 5, 0, 20),
    row("%pm0", Type::U32, Reads::Word, 1, 3, 10),
    row("%pm1", Type::U32, Reads::Word, 1, 3, 10),
    row("%pm2", Type::U32, Reads::Word, 1, 3, 10),
    row("%pm3", Type::U32, Reads::Word, 1, 3, 10),
    row("%pm4", Type::U32, Reads::Word, 3, 0, 20),
    row("%pm5", Type::U32, Reads::Word, 3, 0, 20),
    row("%pm6", Type::U32, Reads::Word, 3, 0, 20),
    row("%pm7", Type::U32, Reads::Word, 3, 0, 20),
    row("%pm0_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%pm1_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%pm2_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%pm3_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%pm4_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%pm5_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%pm6_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%pm7_64", Type::U64, Reads::Double, 4, 0, 50),
    row("%envreg0", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg1", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg2", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg3", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg4", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg5", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg6", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg7", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg8", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg9", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg10", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg11", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg12", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg13", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg14", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg15", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg16", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg17", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg18", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg19", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg20", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg21", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg22", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg23", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg24", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg25", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg26", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg27", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg28", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg29", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg30", Type::B32, Reads::Word, 1, 0, 10),
    row("%envreg31", Type::B32, Reads::Word, 1, 0, 10),
    row("%globaltimer", Type::U64, Reads::Double, 3, 1, 30),
    row("%globaltimer_lo", Type::U32, Reads::Word, 3, 1, 30),
    row("%globaltimer_hi", Type::U32, Reads::Word, 3, 1, 30),
    row("%reserved_smem_offset_begin", Type::B32, Reads::Word, 7, 6, 80),
    row("%reserved_smem_offset_end", Type::B32, Reads::Word, 7, 6, 80),
    row("%reserved_smem_offset_cap", Type::B32, Reads::Word, 7, 6, 80),
    row("%reserved_smem_offset_0", Type::B32, Reads::Word, 7, 6, 80),
    row("%reserved_smem_offset_1", Type::B32, Reads::Word, 7, 6, 80),
    row("%total_smem_size", Type::U32, Reads::Word, 4, 1, 20),
    row("%aggr_smem_size", Type::U32, Reads::Word, 8, 1, 90),
    row("%dynamic_smem_size", Type::U32, Reads::Word, 4, 1, 20),
    row("%current_graph_exec", Type::U64, Reads::Double, 8, 0, 50),
    row("%perctamemoryoffset", Type::U64, Reads::Double, 9, 4, 80),
    row("%perctamemorysize", Type::U32, Reads::Word, 9, 4, 80),
];

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

    /// Whether two reads may give different values: clocks, timers and performance counters.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        let name = self.name();
        name.starts_with("%clock") || name.starts_with("%globaltimer") || name.starts_with("%pm")
    }

    /// Whether the threads of one warp may read different values.
    #[must_use]
    pub fn is_thread_dependent(self) -> bool {
        let name = self.name();
        name.starts_with("%tid") || name.starts_with("%lane")
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
    }
}
