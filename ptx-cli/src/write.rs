//! Replacing a file in one step, so that no reader and no crash ever sees half of it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces the contents of the file at `path`. A symbolic link stays one: the file it points to is
/// replaced. The permissions stay as they are.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path)?;
    let directory = target.parent().ok_or_else(|| io::Error::other("it has no parent directory"))?;
    let permissions = fs::metadata(&target)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    write_new(directory, &target, bytes, Some(permissions))
}

/// Writes a new file, or replaces an existing one, at `path`.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.exists() {
        // A device such as /dev/stdout cannot be replaced, only written to.
        if !path.is_file() {
            return fs::write(path, bytes);
        }
        return replace(path, bytes);
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    write_new(directory.unwrap_or(Path::new(".")), path, bytes, None)
}

/// Writes beside the target, then renames: the rename is the only visible step.
fn write_new(
    directory: &Path,
    target: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ptx-cli-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Narrowed by the umask, as for any other new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn links_and_permissions_stay() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a.ptx"), directory.path().join("link.ptx"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a.ptx", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_new_file_is_readable_by_others() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("new.ptx");
        create(&file, b"x").unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_ne!(mode & 0o044, 0, "{mode:o}");
    }
}
