//! Finds out whether the superuser builds, so that a test that needs files of others is shown as *ignored* for anybody
//! else; and of which commit the sources are, for `--version`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(no_superuser)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=USER");
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if !std::fs::metadata("/proc/self").is_ok_and(|of| of.uid() == 0) {
            println!("cargo::rustc-cfg=no_superuser");
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let version = commit().map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=PTX_CLI_VERSION={version}");
}

/// The commit and its day, where this is a clone: an archive of the sources may lie in a clone of something else.
fn commit() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    if Path::new(&git(root, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()?
        != root.canonicalize().ok()?
    {
        return None;
    }
    // It has a line for every commit, merge and checkout.
    let log = git(root, &["rev-parse", "--git-path", "logs/HEAD"])?;
    if let Some(log) = root.join(log).to_str().filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    git(root, &["log", "-1", "--format=%h %cs", "--abbrev=9"])
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}
