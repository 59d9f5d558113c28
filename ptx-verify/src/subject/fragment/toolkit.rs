//! Releases of the CUDA toolkit and the PTX versions that they brought.

use std::fmt;

use ptx_ir::version::Version;

/// The macros that tell the toolkit.
pub(crate) const MACROS: [&str; 4] =
    ["__CUDACC_VER_MAJOR__", "__CUDACC_VER_MINOR__", "CUDART_VERSION", "CUDA_VERSION"];

/// A toolkit's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Toolkit {
    /// The first number.
    pub(crate) major: u32,
    /// The second one.
    pub(crate) minor: u32,
}

impl fmt::Display for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A PTX version, and the toolkit that is taken to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Release {
    /// The PTX version.
    pub(crate) version: Version,
    /// The toolkit, where it is known.
    pub(crate) toolkit: Option<Toolkit>,
}

impl Release {
    /// The release for a PTX version, and the toolkit that was asked for. Without one the newest is told, and who asks for
    /// an older version may have any toolkit.
    pub(crate) fn of(version: Option<Version>, toolkit: Option<(u32, u32)>) -> Self {
        let version = version.unwrap_or(Version::LATEST);
        let asked = toolkit.map(|(major, minor)| Toolkit { major, minor });
        Self { version, toolkit: asked.or((version == Version::LATEST).then_some(NEWEST)) }
    }
}

/// The toolkit of [`Version::LATEST`].
const NEWEST: Toolkit = Toolkit { major: 13, minor: 5 };

/// Older toolkits with their PTX versions, the newest first. (The release history in the manual of PTX.)
const OLDER: [(u32, u32, &str); 31] = [
    (13, 4, "9.4"),
    (13, 3, "9.3"),
    (13, 2, "9.2"),
    (13, 1, "9.1"),
    (13, 0, "9.0"),
    (12, 9, "8.8"),
    (12, 8, "8.7"),
    (12, 6, "8.5"),
    (12, 5, "8.5"),
    (12, 4, "8.4"),
    (12, 3, "8.3"),
    (12, 2, "8.2"),
    (12, 1, "8.1"),
    (12, 0, "8.0"),
    (11, 8, "7.8"),
    (11, 7, "7.7"),
    (11, 6, "7.6"),
    (11, 5, "7.5"),
    (11, 4, "7.4"),
    (11, 3, "7.3"),
    (11, 2, "7.2"),
    (11, 1, "7.1"),
    (11, 0, "7.0"),
    (10, 2, "6.5"),
    (10, 1, "6.4"),
    (10, 0, "6.3"),
    (9, 2, "6.2"),
    (9, 0, "6.0"),
    (8, 0, "5.0"),
    (7, 5, "4.3"),
    (6, 5, "4.1"),
];

/// Older toolkits, the newest first.
pub(crate) fn older() -> impl Iterator<Item = Release> {
    OLDER.into_iter().filter_map(|(major, minor, version)| {
        Some(Release { version: Version::parse(version)?, toolkit: Some(Toolkit { major, minor }) })
    })
}
