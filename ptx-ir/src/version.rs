//! Versions of the PTX ISA, as `.version` names them.

use std::fmt;

// The versions and releases of `isa/manual/versions.isa`.
include!(concat!(env!("OUT_DIR"), "/versions.rs"));

/// A PTX ISA version, such as 8.6. Versions order as numbers do; not every pair was ever published
/// (see [`Version::ALL`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    major: u8,
    minor: u8,
}

impl Version {
    /// The first version, which every device supports.
    pub const OLDEST: Self = Self::new(1, 0);

    /// The newest version that the instruction table describes.
    pub const LATEST: Self = VERSIONS[VERSIONS.len() - 1];

    /// Every version that was published, oldest first. 7.9 and 8.9 do not exist.
    pub const ALL: [Self; VERSIONS.len()] = VERSIONS;

    /// The version `major.minor`, published or not.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// The number before the dot.
    #[must_use]
    pub const fn major(self) -> u8 {
        self.major
    }

    /// The number after the dot.
    #[must_use]
    pub const fn minor(self) -> u8 {
        self.minor
    }

    /// Reads `8.6`. Gives `None` for anything but two decimal numbers below 256 around one dot; whether
    /// the version was published is asked with [`Version::is_published`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(major) || !digits(minor) {
            return None;
        }
        Some(Self::new(major.parse().ok()?, minor.parse().ok()?))
    }

    /// Whether NVIDIA published this version.
    #[must_use]
    pub fn is_published(self) -> bool {
        Self::ALL.binary_search(&self).is_ok()
    }

    /// The larger of two versions, in constant expressions.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        if (self.major as u16) << 8 | self.minor as u16 >= (other.major as u16) << 8 | other.minor as u16 {
            self
        } else {
            other
        }
    }
}

/// A CUDA release, or a driver that came without one, and the version of the PTX ISA that it brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The version of the PTX ISA, which the release and all later ones have.
    pub version: Version,
    /// The CUDA release, major and minor.
    pub cuda: Option<(u8, u8)>,
    /// The branch of the driver that came with it, 535 of 535.104.05. A driver loads PTX of its own version and of all
    /// older ones.
    pub driver: Option<u16>,
}

impl Release {
    /// Every release that brought a version, oldest first; several where a CUDA release brought none of its own.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        RELEASES.iter().copied()
    }

    /// The newest version that a CUDA release has; of a release that is not known, that of the one before it.
    #[must_use]
    pub fn of_cuda(major: u8, minor: u8) -> Option<Version> {
        let newest = |release: &Self| release.cuda.is_some_and(|cuda| cuda <= (major, minor));
        Self::all().rev().find(newest).map(|release| release.version)
    }

    /// The newest version that drivers of a branch load; of a branch that is not known, that of the one before it.
    #[must_use]
    pub fn of_driver(branch: u16) -> Option<Version> {
        let newest = |release: &Self| release.driver.is_some_and(|driver| driver <= branch);
        Self::all().rev().find(newest).map(|release| release.version)
    }
}

impl Version {
    /// The first release that has the version; none of a version that is newer than all of them.
    #[must_use]
    pub fn first_release(self) -> Option<Release> {
        Release::all().find(|release| release.version >= self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::{Release, Version};

    #[test]
    fn releases_bring_versions() {
        assert_eq!(Release::of_cuda(12, 8), Some(Version::new(8, 7)));
        assert_eq!(Release::of_cuda(12, 6), Some(Version::new(8, 5)));
        assert_eq!(Release::of_driver(580), Some(Version::new(9, 0)));
        assert_eq!(Release::of_driver(536), Some(Version::new(8, 2)), "535 is the branch before");
        assert_eq!(Release::of_cuda(0, 9), None);
        let release = Version::new(8, 6).first_release().unwrap();
        assert_eq!((release.cuda, release.driver), (None, Some(565)));
    }

    #[test]
    fn versions_are_sorted_and_round_trip() {
        assert!(Version::ALL.is_sorted());
        for version in Version::ALL {
            assert_eq!(Version::parse(&version.to_string()), Some(version));
            assert!(version.is_published());
        }
        assert_eq!(Version::ALL.last(), Some(&Version::LATEST));
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "8", "8.", ".6", "8.6.1", "+8.6", "8.x", "300.0", "8. 6"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        assert!(!Version::new(7, 9).is_published());
    }
}
