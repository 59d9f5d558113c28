//! The target architectures that `.target` names, their families, and sets of them.
//!
//! Manual: "PTX Module Directives: .target". A plain target runs on every device of at least its number; an
//! `f` target on the later members of its family; an `a` target on that architecture only.

use std::fmt;

use crate::version::Version;

/// What follows the number of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suffix {
    /// `sm_90`: runs on it and on everything newer.
    Plain,
    /// `sm_100f`: the features of a family.
    Family,
    /// `sm_90a`: the features of one architecture.
    Architecture,
}

/// One of the 44 targets, as an index into the table of targets. The order is that of the numbers, and for
/// one number plain, family, architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target(u8);

struct Row {
    name: &'static str,
    number: u16,
    suffix: Suffix,
    min_version: Version,
}

/// A name that a target had before a version.
struct Former {
    name: &'static str,
    now: &'static str,
    min_version: Version,
    until: Version,
}

/// The room that a multiprocessor has for blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Multiprocessor {
    /// The most warps at a time.
    pub warps: u16,
    /// The most blocks at a time.
    pub blocks: u16,
    /// Shared memory for all of them, in bytes.
    pub shared_memory: u32,
    /// What the system takes of it for each block, in bytes.
    pub reserved_shared_memory: u32,
    /// Blocks get shared memory in multiples of so many bytes.
    pub shared_memory_granularity: u32,
}

// The targets, their families, former names and multiprocessors, of `isa/manual/targets.isa`. A family target accepts the
// features of its family on every member whose number is not below its own.
include!(concat!(env!("OUT_DIR"), "/targets.rs"));

impl Target {
    /// The oldest target.
    pub const OLDEST: Self = Self(0);

    /// How many targets there are.
    pub const COUNT: usize = COUNT;

    /// Every target, in the order of the table.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..COUNT as u8).map(Self)
    }

    /// Reads `sm_90a`. Gives `None` where NVIDIA's assembler knows no such target. A former name, `sm_101` of `sm_110`,
    /// gives the same target.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // The assembler reads a number there.
        if let Some(number) = text.strip_prefix("sm_0") {
            return Self::parse(&format!("sm_{}", number.trim_start_matches('0')));
        }
        let text = FORMER.iter().find(|former| former.name == text).map_or(text, |former| former.now);
        ROWS.iter().position(|row| row.name == text).map(|index| Self(index as u8))
    }

    /// The target at an index of the table, below [`Target::COUNT`].
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        (index < COUNT).then_some(Self(index as u8))
    }

    /// The index into the table of targets.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The name, `sm_90a`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        ROWS[self.index()].name
    }

    /// The name in modules of a version: before PTX 9.0, `sm_110` was called `sm_101`.
    #[must_use]
    pub fn name_in(self, version: Version) -> &'static str {
        let former = FORMER.iter().find(|former| former.now == self.as_str() && version < former.until);
        former.map_or(self.as_str(), |former| former.name)
    }

    /// The first PTX version that knows the target by a name, which may be its old one.
    #[must_use]
    pub fn min_version_of(text: &str) -> Option<Version> {
        let former = FORMER.iter().find(|former| former.name == text).map(|former| former.min_version);
        former.or_else(|| Self::parse(text).map(Self::min_version))
    }

    /// What a multiprocessor has room for; none of targets before `sm_75`.
    #[must_use]
    pub fn multiprocessor(self) -> Option<Multiprocessor> {
        OCCUPANCY.iter().find(|(number, _)| *number == self.number()).map(|(_, found)| *found)
    }

    /// The number, 90 of `sm_90a`.
    #[must_use]
    pub fn number(self) -> u16 {
        ROWS[self.index()].number
    }

    /// What follows the number.
    #[must_use]
    pub fn suffix(self) -> Suffix {
        ROWS[self.index()].suffix
    }

    /// The first PTX version that knows the target.
    #[must_use]
    pub fn min_version(self) -> Version {
        ROWS[self.index()].min_version
    }

    /// Whether a module that asks for `self` can be compiled for, and loaded on, `device`.
    #[must_use]
    pub fn runs_on(self, device: Self) -> bool {
        match self.suffix() {
            Suffix::Plain => device.number() >= self.number(),
            Suffix::Architecture => device == self,
            Suffix::Family => {
                device.number() >= self.number() && family_of(self.number()).contains(&device.number())
            }
        }
    }
}

fn family_of(number: u16) -> &'static [u16] {
    FAMILIES.into_iter().find(|members| members.contains(&number)).unwrap_or(&[])
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A set of targets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TargetSet(u64);

impl TargetSet {
    /// Every target.
    pub const ALL: Self = Self((1 << COUNT) - 1);
    /// No target.
    pub const NONE: Self = Self(0);

    /// The set whose members are the one bits, bit 0 for the first target of the table.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The members as bits, bit 0 for the first target of the table.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Every target, with any suffix, whose number is at least `number`.
    #[must_use]
    pub fn at_least(number: u16) -> Self {
        Target::all().filter(|target| target.number() >= number).collect()
    }

    /// Whether `target` is a member.
    #[must_use]
    pub const fn contains(self, target: Target) -> bool {
        self.0 >> target.0 & 1 != 0
    }

    /// The targets in both sets.
    #[must_use]
    pub const fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The targets in one of the sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many members there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The members, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Target> {
        Target::all().filter(move |&target| self.contains(target))
    }

    /// The families of which all later members are in the set from one target of the family on: that, and they.
    fn families(self) -> Vec<(Target, Self)> {
        let family = |numbers: &[u16]| {
            let is_member = |target: &Target| numbers.contains(&target.number());
            let lowest = self.iter().find(|target| is_member(target) && target.suffix() == Suffix::Family)?;
            let later = |target: &Target| {
                is_member(target) && target.number() >= lowest.number() && target.suffix() != Suffix::Plain
            };
            let members: Self = Target::all().filter(later).collect();
            let plain: Self = Target::all().filter(|target| target.suffix() == Suffix::Plain).collect();
            let present: Self = self.iter().filter(|target| is_member(target)).collect();
            (present == members && self.intersect(plain).is_empty()).then_some((lowest, members))
        };
        FAMILIES.into_iter().filter_map(family).collect()
    }

    /// The first member in the order of the table: the lowest target that works.
    #[must_use]
    pub fn lowest(self) -> Option<Target> {
        Target::from_index(self.0.trailing_zeros() as usize)
    }
}

impl FromIterator<Target> for TargetSet {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Self {
        Self(targets.into_iter().fold(0, |bits, target| bits | 1 << target.0))
    }
}

impl fmt::Debug for TargetSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter().map(Target::as_str)).finish()
    }
}

/// Prints `sm_80 or higher`, a range, `sm_100f, sm_120f or higher in the same family`, or a list, as a message would;
/// with `{:#}`, every target of a family.
impl fmt::Display for TargetSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(lowest) = self.lowest() else { return formatter.write_str("no target") };
        if *self == Self::at_least(lowest.number()) {
            return write!(formatter, "{lowest} or higher");
        }
        let last = self.iter().last().unwrap_or(lowest);
        if *self == Target::all().filter(|&target| lowest <= target && target <= last).collect()
            && self.len() > 2
        {
            return write!(formatter, "{lowest} to {last}");
        }
        let families = if formatter.alternate() { Vec::new() } else { self.families() };
        let others =
            self.iter().filter(|target| !families.iter().any(|(_, members)| members.contains(*target)));
        let lowest = families.iter().map(|(lowest, _)| *lowest);
        for (index, target) in others.chain(lowest).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(formatter, "{separator}{target}")?;
        }
        formatter.write_str(if families.is_empty() { "" } else { " or higher in the same family" })
    }
}

#[cfg(test)]
mod tests {
    use super::{Target, TargetSet};
    use crate::version::Version;

    fn target(name: &str) -> Target {
        Target::parse(name).unwrap()
    }

    #[test]
    fn names_round_trip() {
        for each in Target::all() {
            assert_eq!(Target::parse(each.as_str()), Some(each));
        }
        assert_eq!(Target::parse("sm_99"), None);
        assert_eq!(Target::parse("sm_0090a"), Target::parse("sm_90a"));
        assert_eq!(Target::parse("sm_00"), None);
        assert_eq!(Target::parse("sm_101a"), Target::parse("sm_110a"));
        assert_eq!(target("sm_110f").name_in(Version::new(8, 8)), "sm_101f");
        assert_eq!(target("sm_110f").name_in(Version::LATEST), "sm_110f");
        assert_eq!(Target::min_version_of("sm_101f"), Some(Version::new(8, 8)));
        assert_eq!(Target::all().len(), Target::COUNT);
    }

    #[test]
    fn multiprocessors_of_targets() {
        let room = target("sm_90a").multiprocessor().unwrap();
        assert_eq!((room.warps, room.blocks, room.shared_memory), (64, 32, 228 * 1024));
        assert_eq!(target("sm_75").multiprocessor().unwrap().reserved_shared_memory, 0);
        assert_eq!(target("sm_60").multiprocessor(), None);
    }

    #[test]
    fn families_and_architectures_bound_where_a_module_runs() {
        assert!(target("sm_20").runs_on(target("sm_90a")));
        assert!(!target("sm_90").runs_on(target("sm_89")));
        assert!(target("sm_90a").runs_on(target("sm_90a")));
        assert!(!target("sm_90a").runs_on(target("sm_100a")));
        assert!(target("sm_100f").runs_on(target("sm_103a")));
        assert!(target("sm_100f").runs_on(target("sm_107f")));
        assert!(!target("sm_100f").runs_on(target("sm_110a")));
        assert!(!target("sm_103f").runs_on(target("sm_100a")));
        assert!(target("sm_100f").runs_on(target("sm_103")));
        assert!(!target("sm_100a").runs_on(target("sm_100")));
    }

    #[test]
    fn sets_print_as_a_person_would_say_them() {
        assert_eq!(TargetSet::at_least(80).to_string(), "sm_80 or higher");
        let few: TargetSet = [target("sm_100a"), target("sm_103a")].into_iter().collect();
        assert_eq!(few.to_string(), "sm_100a, sm_103a");
        let middle = TargetSet::at_least(30).iter().filter(|each| each.number() <= 62).collect::<TargetSet>();
        assert_eq!(middle.to_string(), "sm_30 to sm_62");
        assert_eq!(TargetSet::NONE.to_string(), "no target");
    }
}
