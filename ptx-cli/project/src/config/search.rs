//! Where configuration files are looked for.

use std::path::{Path, PathBuf};

use super::FILE;

/// The configuration file that counts for what lies in `folder`.
#[must_use]
pub fn nearest(folder: &Path) -> Option<PathBuf> {
    looked_in(folder).find_map(in_folder)
}

pub(super) fn in_folder(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(FILE)).filter(|file| file.exists())
}

/// The folders in which a configuration file counts for what lies in `folder`, the nearest first.
pub(crate) fn looked_in(folder: &Path) -> impl Iterator<Item = &Path> {
    let mut ended = false;
    folder.ancestors().take_while(move |folder| {
        let counts = !ended && !is_shared(folder);
        ended = counts && is_top(folder);
        counts
    })
}

/// Whether what lies above `folder` is another project's business: it is the root of a repository, or the
/// home folder.
fn is_top(folder: &Path) -> bool {
    folder.join(".git").exists() || std::env::home_dir().is_some_and(|home| home == folder)
}

/// Whether everybody may put files into `folder` and nobody may take away those of others, as in `/tmp`.
#[cfg(unix)]
#[must_use]
pub fn is_shared(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const STICKY_AND_WRITABLE: u32 = 0o1002;
    folder.metadata().is_ok_and(|of| of.permissions().mode() & STICKY_AND_WRITABLE == STICKY_AND_WRITABLE)
}

/// Folders have no such mode here.
#[cfg(not(unix))]
#[must_use]
pub fn is_shared(_: &Path) -> bool {
    false
}
