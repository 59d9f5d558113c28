//! Replacing a file in one step, so that no reader and no crash ever sees half of it, and nothing that
//! others wrote in the meantime is lost.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::interrupt;

/// The names of temporary files begin so.
const PREFIX: &str = ".ptx-cli-";

/// As many symbolic links are followed from one path as Linux follows.
const MAX_LINKS: usize = 40;

/// Replaces the contents of the file at `path`, which were `read`. Refuses where the file has changed since.
///
/// A symbolic link stays one: the file it points to is replaced. Owner, group, mode and extended attributes,
/// access control lists among them, stay as they are, or nothing is written.
pub fn replace(path: &Path, read: &[u8], bytes: &[u8]) -> io::Result<()> {
    swap(&fs::canonicalize(path)?, Some(read), bytes)
}

/// Writes a new file, or replaces an existing one, at `path`.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if !path.exists() {
        return write_new(&end_of_links(path)?, bytes);
    }
    // A device such as /dev/stdout cannot be replaced, only written to.
    if !path.is_file() {
        return fs::write(path, bytes);
    }
    swap(&fs::canonicalize(path)?, None, bytes)
}

/// Where a file comes to be that is written to `path`: the end of its symbolic links, which is not there yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Narrowed by the umask, as for any other new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let (pending, file) = temporary(&mut builder, folder_of(path), bytes)?;
    pending.finish(|| file.persist(path)).map_err(|error| error.error)?;
    Ok(())
}

/// Replaces the file `target`, which is no link.
fn swap(target: &Path, read: Option<&[u8]>, bytes: &[u8]) -> io::Result<()> {
    let old = fs::metadata(target)?;
    if old.permissions().readonly() {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    attributes::check(&old)?;
    // Others must not read in it what they cannot read in the file.
    let (pending, file) = temporary(&mut tempfile::Builder::new(), folder_of(target), bytes)?;
    let current = File::open(target)?;
    attributes::copy(&current, file.as_file())?;
    if is_replaced_already(&current, read, bytes)? {
        return pending.finish(|| file.close());
    }
    pending.finish(|| {
        // The bytes were compared a moment ago; that they are still the same is a matter of a look.
        if !attributes::is_unchanged(&current.metadata()?, &old) || !is_still(target, &old)? {
            // Another thread may have written the same under another name of the file.
            let is_done = is_replaced_already(&File::open(target)?, read, bytes)?;
            return if is_done { file.close() } else { Err(changed()) };
        }
        // Windows replaces no file that is open.
        drop(current);
        file.persist(target).map(drop).map_err(|error| error.error)
    })
}

/// A file with these bytes in `folder`, which a signal removes. The file comes last, so that it is dropped, and
/// thus removed, while a signal would still remove it.
fn temporary(
    builder: &mut tempfile::Builder<'_, '_>,
    folder: &Path,
    bytes: &[u8],
) -> io::Result<(interrupt::Pending, NamedTempFile)> {
    let (mut file, pending) = interrupt::begin(|| {
        let file = builder.prefix(PREFIX).tempfile_in(folder)?;
        let path = file.path().to_owned();
        // It is gone where the program was just about to remove it.
        Ok((file, Box::new(move || drop(fs::remove_file(path)))))
    })?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok((pending, file))
}

/// Whether `current` has the new bytes; fails where it has neither those nor the ones that were read.
fn is_replaced_already(current: &File, read: Option<&[u8]>, bytes: &[u8]) -> io::Result<bool> {
    let Some(read) = read else { return Ok(false) };
    let most = read.len().max(bytes.len()) as u64 + 1;
    let mut found = Vec::new();
    current.take(most).read_to_end(&mut found)?;
    if found == bytes {
        return Ok(true);
    }
    if found == read { Ok(false) } else { Err(changed()) }
}

fn changed() -> io::Error {
    io::Error::other("it was changed in the meantime, so nothing is written")
}

/// Whether `target` is still the file of these metadata.
fn is_still(target: &Path, old: &fs::Metadata) -> io::Result<bool> {
    Ok(attributes::is_unchanged(&fs::symlink_metadata(target)?, old))
}

#[cfg(unix)]
mod attributes {
    use std::ffi::OsStr;
    use std::fs::{File, Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    use xattr::FileExt;

    use crate::source::plain;

    /// Attributes that the system computes for each file anew, and that no program sets.
    const OF_THE_SYSTEM: [&str; 3] = ["security.ima", "security.evm", "com.apple.provenance"];

    /// Refuses a file that a new one cannot stand for.
    pub fn check(old: &Metadata) -> io::Result<()> {
        match old.nlink() {
            0 | 1 => Ok(()),
            links => Err(io::Error::other(format!(
                "it has {links} hard links, and a new file would have only one of these names"
            ))),
        }
    }

    /// Gives `new` the owner, group, extended attributes and mode of `old`.
    pub fn copy(old: &File, new: &File) -> io::Result<()> {
        let (is, wanted) = (new.metadata()?, old.metadata()?);
        if (is.uid(), is.gid()) != (wanted.uid(), wanted.gid()) {
            let (user, group) = (wanted.uid(), wanted.gid());
            let kept = fchown(new, Some(user), Some(group));
            kept.map_err(|error| lost(&format!("owner {user} and group {group}"), &error))?;
        }
        copy_extended(old, new)?;
        // After the others: a new owner takes away the set-user-ID bit, and an access control list changes
        // what the bits of the group mean.
        new.set_permissions(Permissions::from_mode(wanted.mode() & 0o7777))
    }

    fn copy_extended(old: &File, new: &File) -> io::Result<()> {
        // A file system without extended attributes has none to keep.
        let Ok(names) = old.list_xattr() else { return Ok(()) };
        for name in names.filter(|name| !OF_THE_SYSTEM.iter().any(|system| OsStr::new(system) == name)) {
            let failed = |error: &io::Error| lost(&format!("attribute `{}`", name.to_string_lossy()), error);
            let Some(value) = old.get_xattr(&name).map_err(|error| failed(&error))? else { continue };
            // Some are there from the beginning, and may not be set.
            if new.get_xattr(&name).ok().flatten().as_ref() != Some(&value) {
                new.set_xattr(&name, &value).map_err(|error| failed(&error))?;
            }
        }
        Ok(())
    }

    fn lost(what: &str, error: &io::Error) -> io::Error {
        io::Error::other(format!("its {what} would be lost: {}", plain(error)))
    }

    /// Whether both are of one file that nobody wrote to in between.
    pub fn is_unchanged(new: &Metadata, old: &Metadata) -> bool {
        let stamp = |of: &Metadata| (of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec());
        stamp(new) == stamp(old)
    }
}

#[cfg(not(unix))]
mod attributes {
    use std::fs::{File, Metadata};
    use std::io;

    pub fn check(_: &Metadata) -> io::Result<()> {
        Ok(())
    }

    pub fn copy(old: &File, new: &File) -> io::Result<()> {
        new.set_permissions(old.metadata()?.permissions())
    }

    pub fn is_unchanged(new: &Metadata, old: &Metadata) -> bool {
        new.len() == old.len() && new.modified().ok() == old.modified().ok()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    /// How many files a folder has; a temporary one would be too many.
    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn links_and_permissions_stay() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a.ptx"), directory.path().join("link.ptx"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a.ptx", &link).unwrap();
        replace(&link, b"old", b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(files(directory.path()), 2);
    }

    #[test]
    fn a_new_file_is_readable_by_others() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("new.ptx");
        create(&file, b"x").unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_ne!(mode & 0o044, 0, "{mode:o}");
    }

    #[test]
    fn what_was_written_in_the_meantime_is_not_lost() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.ptx");
        fs::write(&file, "saved by an editor").unwrap();
        let error = replace(&file, b"old", b"new").unwrap_err();
        assert!(error.to_string().contains("changed in the meantime"), "{error}");
        assert_eq!(fs::read(&file).unwrap(), b"saved by an editor");
        // Where it has become what is to be written, nothing is left to do.
        let before = fs::metadata(&file).unwrap().ino();
        replace(&file, b"old", b"saved by an editor").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().ino(), before);
        assert_eq!(files(directory.path()), 1);
    }

    #[test]
    fn a_file_with_several_names_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (file, other) = (directory.path().join("a.ptx"), directory.path().join("b.ptx"));
        fs::write(&file, "old").unwrap();
        fs::hard_link(&file, &other).unwrap();
        let error = replace(&file, b"old", b"new").unwrap_err();
        assert!(error.to_string().contains("it has 2 hard links"), "{error}");
        assert_eq!((fs::read(&file).unwrap(), files(directory.path())), (b"old".to_vec(), 2));
    }

    #[test]
    fn extended_attributes_stay() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.ptx");
        fs::write(&file, "old").unwrap();
        // Not every file system has them.
        if xattr::set(&file, "user.origin", b"nvcc").is_ok() {
            replace(&file, b"old", b"new").unwrap();
            assert_eq!(xattr::get(&file, "user.origin").unwrap().as_deref(), Some(&b"nvcc"[..]));
        }
    }

    #[test]
    fn a_link_to_nowhere_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        symlink("b", at("a")).unwrap();
        symlink(at("out/c"), at("b")).unwrap();
        fs::create_dir(at("out")).unwrap();
        create(&at("a"), b"x").unwrap();
        assert_eq!(fs::read(at("out/c")).unwrap(), b"x");
        assert!(fs::symlink_metadata(at("a")).unwrap().is_symlink());
        symlink("loop", at("loop")).unwrap();
        assert!(create(&at("loop"), b"x").is_err());
    }
}
