//! How memory comes from the system, and goes back.
//!
//! The system gives each page when it is first written to. With small pages that takes a quarter of the time in which a
//! function of 1 MB is verified.

use std::alloc::{GlobalAlloc, Layout, System};

/// Pieces from here on come from the system each for itself: they grow without a copy, and go back when they are freed.
const LARGE: usize = 4 << 20;

/// The allocator of the system, which asks for large pages where a large piece is to lie.
#[derive(Debug)]
pub struct LargePages;

// SAFETY: what is given and taken is the system's allocator's.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.realloc(piece, layout, size) }, size)
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(piece, layout) };
    }
}

/// A piece of memory of some bytes, or null.
fn advised(piece: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !piece.is_null() {
        be_large(piece, size);
    }
    piece
}

/// Asks the system for large pages in memory that is ours.
#[cfg(target_os = "linux")]
#[cold]
fn be_large(piece: *mut u8, size: usize) {
    /// Advice is about whole pages, which no system has larger than this.
    const PAGE: usize = 64 << 10;
    let before = piece.align_offset(PAGE).min(size);
    // SAFETY: the advice changes no byte. A system without such pages says so, which is no matter.
    unsafe { libc::madvise(piece.add(before).cast(), size - before, libc::MADV_HUGEPAGE) };
}

/// Other systems have no such advice.
#[cfg(not(target_os = "linux"))]
fn be_large(_piece: *mut u8, _size: usize) {}

/// Sets from what size on pieces come from the system each for itself. The C library would set that to the largest piece
/// that was freed so far. Then tables of a large text lie in its heap with holes between them, and whether twice the text
/// takes twice the memory depends on the order of their sizes.
///
/// Smaller pieces come from the heap. `ends` tells that the program ends when its work is done: until then it keeps its heap,
/// which has large pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_apart(ends: bool) {
    /// The library takes no higher limit.
    const MOST: usize = 32 << 20;
    const HEAP: usize = MOST - LARGE;
    const SPARE: usize = 4 << 20;
    let set = |what, value: usize| {
        // SAFETY: the allocator takes such numbers at any time; it says so where it does not know them.
        unsafe { libc::mallopt(what, value as i32) };
    };
    set(libc::M_TRIM_THRESHOLD, if ends { 2 * MOST } else { SPARE });
    if ends {
        set(libc::M_MMAP_THRESHOLD, MOST);
        // Nothing is written to it: it costs nothing as long as the heap does not grow into it.
        drop(std::hint::black_box(Vec::<u8>::with_capacity(HEAP)));
    }
    set(libc::M_MMAP_THRESHOLD, LARGE);
}

/// Other allocators have no such limits.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_apart(_ends: bool) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pieces_keep_what_is_in_them() {
        let layout = Layout::from_size_align(LARGE, 16).unwrap();
        // SAFETY: the layouts are those of the pieces, and what is read was written.
        unsafe {
            let piece = LargePages.alloc(layout);
            (0..LARGE).for_each(|at| piece.add(at).write(at as u8));
            let piece = LargePages.realloc(piece, layout, 3 * LARGE);
            assert!((0..LARGE).all(|at| piece.add(at).read() == at as u8));
            LargePages.dealloc(piece, Layout::from_size_align(3 * LARGE, 16).unwrap());
            let zeros = LargePages.alloc_zeroed(layout);
            assert!((0..LARGE).all(|at| zeros.add(at).read() == 0));
            LargePages.dealloc(zeros, layout);
        }
    }
}
