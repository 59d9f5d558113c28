//! Finds out whether the superuser builds, so that a test that needs files of others is shown as *ignored* for anybody
//! else.

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
}
