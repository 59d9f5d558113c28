//! How memory goes back to the system.

/// Larger pieces of memory come from the system each for itself: they grow without a copy, and go back when they are freed.
/// The C library would set the limit to the largest piece that was freed so far. Then tables of a large text lie in its
/// heap with holes between them, and whether twice the text takes twice the memory depends on the order of their sizes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_apart() {
    const LARGE: i32 = 1 << 20;
    const SPARE: i32 = 4 << 20;
    // SAFETY: both are numbers that the allocator takes at any time; it says so where it does not know them.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE);
    }
}

/// Other allocators have no such limits.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_apart() {}
