//! The driver functions that `cust` names, defined here and passed on to `libcuda.so.1` at run time.
//!
//! `cust` wants these symbols from the linker. A program linked against `libcuda.so.1` does not start where
//! there is no driver, and cannot be linked where there is no toolkit; so this program defines them itself
//! and looks up the real ones at their first call. A library must not do that: a shared object would export
//! them, before the driver's own. Invariants:
//!
//! * Without a driver every call returns `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED` and touches none of its
//!   arguments; a driver that lacks the function gives `CUDA_ERROR_NOT_FOUND`.
//! * `CUresult` is a Rust enum of the codes of CUDA 11.4. A newer code in it would be undefined behaviour, so
//!   [`known`] turns it into 999 (`CUDA_ERROR_UNKNOWN`); [`last_raw_code`] keeps it.
//! * `cuGetErrorString` never fails, because `Display` of `cust`'s error panics when it does.
//!
//! Enums that the driver *writes* (the kind of a graph node, a cache configuration) are passed on as they are.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_uint};
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use cust::sys::CUresult;
use libloading::Library;

#[path = "forward_table.rs"]
mod table;

#[cfg(test)]
pub(crate) use table::FORWARDED;

/// Names of the driver's library, in the order they are tried.
const LIBRARIES: &[&str] = &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"];

thread_local! {
    /// The code that the driver returned last on this thread, before [`known`].
    static LAST_RAW_CODE: Cell<u32> = const { Cell::new(0) };
}

/// The driver's library, loaded at the first call and never unloaded.
fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: loading the driver runs its initialisers, which NVIDIA makes safe at any time.
    let load = || LIBRARIES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
    LIBRARY.get_or_init(load).as_ref()
}

/// Whether there is a driver.
#[cfg(test)]
pub(crate) fn is_there() -> bool {
    library().is_some()
}

/// The driver function `name`, where there is one.
///
/// # Safety
/// `F` is the type of that function.
unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: the caller knows the type; the library is never unloaded.
    unsafe { library()?.get::<F>(name) }.ok().map(|symbol| *symbol)
}

/// The answer of a function that cannot be called.
fn absent() -> CUresult {
    let code = if library().is_some() {
        CUresult::CUDA_ERROR_NOT_FOUND
    } else {
        CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
    };
    LAST_RAW_CODE.set(code as u32);
    code
}

/// Keeps the driver's answer and makes it a code that `CUresult` has.
pub(crate) fn known(raw: u32) -> CUresult {
    LAST_RAW_CODE.set(raw);
    if is_known(raw) {
        // SAFETY: `CUresult` is `repr(u32)` and has a variant for every number that `is_known`
        // accepts; a test compares the two.
        unsafe { mem::transmute::<u32, CUresult>(raw) }
    } else {
        CUresult::CUDA_ERROR_UNKNOWN
    }
}

/// Whether `CUresult` of the bindings has this code.
pub(crate) const fn is_known(raw: u32) -> bool {
    matches!(raw, 0..=8 | 34 | 100..=102 | 200..=202 | 205..=224 | 300..=304 | 400 | 401 | 500 | 600
        | 700..=705 | 708..=720 | 800..=809 | 900..=911 | 999)
}

/// The code of the last driver call of this thread, also where `CUresult` cannot hold it.
#[must_use]
pub(crate) fn last_raw_code() -> u32 {
    LAST_RAW_CODE.get()
}

/// Defines functions of the driver's interface that pass their arguments on.
macro_rules! forward {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $kind),*) -> CUresult {
                type Function = unsafe extern "C" fn($($kind),*) -> c_uint;
                static FUNCTION: OnceLock<Option<Function>> = OnceLock::new();
                const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                };
                // SAFETY: the driver's function of this name has this signature, but for its result, which
                // is any 32-bit number.
                match *FUNCTION.get_or_init(|| unsafe { function(NAME) }) {
                    // SAFETY: the caller owes the driver's function what it owes this one.
                    Some(function) => known(unsafe { function($($argument),*) }),
                    None => absent(),
                }
            }
        )*

        /// Name and address of every function that is passed on.
        #[cfg(test)]
        pub(crate) const FORWARDED: &[(&str, *const ())] =
            &[$((stringify!($name), $name as *const ())),*];
    };
}
use forward;

/// `cuGetErrorString`, which answers with or without a driver.
type Describe = unsafe extern "C" fn(c_uint, *mut *const c_char) -> c_uint;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult {
    static FUNCTION: OnceLock<Option<Describe>> = OnceLock::new();
    // SAFETY: the driver's function has this signature.
    let ask = *FUNCTION.get_or_init(|| unsafe { function(c"cuGetErrorString") });
    let mut answer = ptr::null();
    // SAFETY: `answer` is a place for a pointer; an unknown code gives an error and a null pointer.
    let failed = ask.is_none_or(|ask| unsafe { ask(error as u32, &raw mut answer) } != 0);
    if failed || answer.is_null() {
        answer = fallback(error as u32).as_ptr();
    }
    if !text.is_null() {
        // SAFETY: the caller passes a place for a pointer.
        unsafe { *text = answer };
    }
    CUresult::CUDA_SUCCESS
}

/// What a code means where no driver can be asked.
const fn fallback(code: u32) -> &'static CStr {
    match code {
        0 => c"no error",
        1 => c"invalid argument",
        2 => c"out of memory",
        3 => c"initialization error",
        34 => c"CUDA driver is a stub library",
        100 => c"no CUDA-capable device is detected",
        218 => c"a PTX JIT compilation failed",
        221 => c"PTX JIT compiler library not found",
        222 => c"the provided PTX was compiled with an unsupported toolchain",
        303 => c"no CUDA driver: `libcuda.so.1` cannot be loaded",
        500 => c"the CUDA driver is too old: it lacks a function",
        _ => c"unknown CUDA error",
    }
}
