//! State spaces and their sub-qualifiers.
//!
//! Manual: "State Spaces, Types, and Variables: State Spaces".

use std::fmt;

use crate::version::Version;

/// Where a variable lives or an address points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum StateSpace {
    /// `.reg`
    Reg,
    /// `.sreg`: the special registers.
    Sreg,
    /// `.const`
    Const,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`: of a kernel or of a function, as the place says.
    Param,
    /// `.param::entry`: a parameter of a kernel.
    ParamEntry,
    /// `.param::func`: a parameter of a function.
    ParamFunc,
    /// `.shared`
    Shared,
    /// `.shared::cta`: shared memory of the executing block.
    SharedCta,
    /// `.shared::cluster`: shared memory of any block of the cluster.
    SharedCluster,
    /// `.tex`: texture memory of PTX 1.x.
    Tex,
}

impl StateSpace {
    /// Every state space.
    pub const ALL: [Self; 12] = [
        Self::Reg,
        Self::Sreg,
        Self::Const,
        Self::Global,
        Self::Local,
        Self::Param,
        Self::ParamEntry,
        Self::ParamFunc,
        Self::Shared,
        Self::SharedCta,
        Self::SharedCluster,
        Self::Tex,
    ];

    /// Reads a spelling with its dot, `.shared::cta`.
    #[must_use]
    pub fn parse(spelling: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|space| space.as_str() == spelling)
    }

    /// The spelling with its dot.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reg => ".reg",
            Self::Sreg => ".sreg",
            Self::Const => ".const",
            Self::Global => ".global",
            Self::Local => ".local",
            Self::Param => ".param",
            Self::ParamEntry => ".param::entry",
            Self::ParamFunc => ".param::func",
            Self::Shared => ".shared",
            Self::SharedCta => ".shared::cta",
            Self::SharedCluster => ".shared::cluster",
            Self::Tex => ".tex",
        }
    }

    /// The space without its sub-qualifier.
    #[must_use]
    pub const fn base(self) -> Self {
        match self {
            Self::ParamEntry | Self::ParamFunc => Self::Param,
            Self::SharedCta | Self::SharedCluster => Self::Shared,
            Self::Reg
            | Self::Sreg
            | Self::Const
            | Self::Global
            | Self::Local
            | Self::Param
            | Self::Shared
            | Self::Tex => self,
        }
    }

    /// The first PTX version that has the spelling.
    #[must_use]
    pub const fn min_version(self) -> Version {
        match self {
            Self::ParamEntry | Self::ParamFunc => Version::new(8, 3),
            Self::SharedCta | Self::SharedCluster => Version::new(7, 8),
            Self::Reg
            | Self::Sreg
            | Self::Const
            | Self::Global
            | Self::Local
            | Self::Param
            | Self::Shared
            | Self::Tex => Version::new(1, 0),
        }
    }
}

impl fmt::Display for StateSpace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::StateSpace;

    #[test]
    fn spellings_round_trip() {
        for space in StateSpace::ALL {
            assert_eq!(StateSpace::parse(space.as_str()), Some(space));
            assert_eq!(space.base().base(), space.base());
        }
        assert_eq!(StateSpace::parse("shared"), None);
    }
}
