//! Versions of the PTX ISA, as `.version` names them.

use std::fmt;

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
    pub const LATEST: Self = Self::new(9, 5);

    /// Every version that was published, oldest first. 7.9 and 8.9 do not exist.
    pub const ALL: [Self; 48] = [
        Version::new(1, 0),
        Version::new(1, 1),
        Version::new(1, 2),
        Version::new(1, 3),
        Version::new(1, 4),
        Version::new(1, 5),
        Version::new(2, 0),
        Version::new(2, 1),
        Version::new(2, 2),
        Version::new(2, 3),
        Version::new(3, 0),
        Version::new(3, 1),
        Version::new(3, 2),
        Version::new(4, 0),
        Version::new(4, 1),
        Version::new(4, 2),
        Version::new(4, 3),
        Version::new(5, 0),
        Version::new(6, 0),
        Version::new(6, 1),
        Version::new(6, 2),
        Version::new(6, 3),
        Version::new(6, 4),
        Version::new(6, 5),
        Version::new(7, 0),
        Version::new(7, 1),
        Version::new(7, 2),
        Version::new(7, 3),
        Version::new(7, 4),
        Version::new(7, 5),
        Version::new(7, 6),
        Version::new(7, 7),
        Version::new(7, 8),
        Version::new(8, 0),
        Version::new(8, 1),
        Version::new(8, 2),
        Version::new(8, 3),
        Version::new(8, 4),
        Version::new(8, 5),
        Version::new(8, 6),
        Version::new(8, 7),
        Version::new(8, 8),
        Version::new(9, 0),
        Version::new(9, 1),
        Version::new(9, 2),
        Version::new(9, 3),
        Version::new(9, 4),
        Version::new(9, 5),
    ];

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

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

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
