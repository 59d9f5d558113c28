//! The driver functions that `cust` names, defined here and passed on to `libcuda.so.1` at run time.
//!
//! `cust` wants these symbols from the linker. A program linked against `libcuda.so.1` does not
//! start where there is no driver, and cannot be linked where there is no toolkit; so they are
//! ordinary functions of this crate that look up the real one at their first call. Invariants:
//!
//! * Without a driver every call returns `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED` and touches none of
//!   its arguments; a driver that lacks the function gives `CUDA_ERROR_NOT_FOUND`.
//! * `CUresult` is a Rust enum of the codes of CUDA 11.4. A newer code in it would be undefined
//!   behaviour, so [`known`] turns it into 999 (`CUDA_ERROR_UNKNOWN`); [`last_raw_code`] keeps it.
//! * `cuGetErrorString` never fails, because `Display` of `cust`'s error panics when it does.
//!
//! Not covered: functions of `cust::sys` that neither `cust` nor this crate calls have no
//! definition, and a program that names one does not link. Enums that the driver *writes* (the kind of a graph
//! node, a cache configuration) are passed on as they are.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use cust::sys::CUresult;
use libloading::Library;

use crate::assemble::library::loader_says;

#[path = "forward_table.rs"]
mod table;

#[cfg(test)]
pub(super) use table::FORWARDED;

/// Names of the driver's library, in the order they are tried.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else {
    &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"]
};

thread_local! {
    /// The code that the driver returned last on this thread, before [`known`].
    static LAST_RAW_CODE: Cell<u32> = const { Cell::new(0) };
}

/// The driver's library, loaded at the first call and never unloaded.
///
/// # Errors
/// What the loader said about the first of the names, which all systems but WSL use.
pub(super) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(String::as_str)
}

fn load() -> Result<Library, String> {
    let mut reason = None;
    for name in LIBRARIES {
        // SAFETY: loading the driver runs its initialisers, which NVIDIA makes safe at any time.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(library),
            Err(error) => {
                reason.get_or_insert_with(|| loader_says(&error));
            }
        }
    }
    Err(reason.unwrap_or_default())
}

/// The address of the driver function `name`, which ends with a NUL, or `None` where the driver or
/// the function is missing.
pub(super) fn address(name: &CStr) -> Option<usize> {
    let library = library().ok()?;
    // SAFETY: only the address is taken here; who calls it owes the right type.
    let symbol = unsafe { library.get::<*const c_void>(name) }.ok()?;
    // SAFETY: the library is never unloaded, so the address outlives the symbol.
    Some(unsafe { symbol.try_as_raw_ptr() }? as usize)
}

/// A driver function that is looked up once.
struct Slot {
    name: &'static CStr,
    found: OnceLock<Option<usize>>,
}

impl Slot {
    const fn new(name: &'static CStr) -> Self {
        Self { name, found: OnceLock::new() }
    }

    fn address(&self) -> Option<usize> {
        *self.found.get_or_init(|| address(self.name))
    }
}

/// The answer of a function that cannot be called.
fn absent() -> CUresult {
    let code = if library().is_ok() {
        CUresult::CUDA_ERROR_NOT_FOUND
    } else {
        CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
    };
    LAST_RAW_CODE.set(code as u32);
    code
}

/// Keeps the driver's answer and makes it a code that `CUresult` has.
pub(super) fn known(raw: u32) -> CUresult {
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
pub(super) const fn is_known(raw: u32) -> bool {
    matches!(raw, 0..=8 | 34 | 100..=102 | 200..=202 | 205..=224 | 300..=304 | 400 | 401 | 500 | 600
        | 700..=705 | 708..=720 | 800..=809 | 900..=911 | 999)
}

/// The code of the last driver call of this thread, also where `CUresult` cannot hold it.
#[must_use]
pub fn last_raw_code() -> u32 {
    LAST_RAW_CODE.get()
}

/// Defines functions of the driver's interface that pass their arguments on.
macro_rules! forward {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $kind),*) -> CUresult {
                static SLOT: Slot = Slot::new(
                    match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => c"",
                    },
                );
                match SLOT.address() {
                    Some(address) => {
                        // SAFETY: the driver's function of this name has this signature, but for
                        // its result, which is any 32-bit number.
                        let function: unsafe extern "C" fn($($kind),*) -> c_uint =
                            unsafe { mem::transmute(address) };
                        // SAFETY: the caller owes the driver's function what it owes this one.
                        known(unsafe { function($($argument),*) })
                    }
                    None => absent(),
                }
            }
        )*

        /// Name and address of every function that is passed on.
        #[cfg(test)]
        pub(in super::super) const FORWARDED: &[(&str, *const ())] =
            &[$((stringify!($name), $name as *const ())),*];
    };
}
use forward;

/// `cuGetErrorString` and `cuGetErrorName`, which answer with or without a driver.
type Describe = unsafe extern "C" fn(c_uint, *mut *const c_char) -> c_uint;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult {
    static SLOT: Slot = Slot::new(c"cuGetErrorString");
    let answer = ask(&SLOT, error as u32).unwrap_or_else(|| fallback(error as u32));
    if !text.is_null() {
        // SAFETY: the caller passes a place for a pointer.
        unsafe { *text = answer.as_ptr() };
    }
    CUresult::CUDA_SUCCESS
}

/// The driver's text for `code`, through its own `cuGetErrorString` or `cuGetErrorName`.
fn ask(slot: &Slot, code: u32) -> Option<&'static CStr> {
    let address = slot.address()?;
    // SAFETY: both functions have this signature; their first argument is any 32-bit number.
    let function: Describe = unsafe { mem::transmute(address) };
    let mut text = ptr::null();
    // SAFETY: `text` is a place for a pointer; an unknown code gives an error and a null pointer.
    let result = unsafe { function(code, &raw mut text) };
    if result != 0 || text.is_null() {
        return None;
    }
    // SAFETY: the driver's texts are constants that end with a NUL.
    Some(unsafe { CStr::from_ptr(text) })
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

/// What a code means, as in `CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed`, also for
/// codes that are newer than the bindings.
pub(super) fn describe(code: u32) -> String {
    static NAME: Slot = Slot::new(c"cuGetErrorName");
    static TEXT: Slot = Slot::new(c"cuGetErrorString");
    let text = ask(&TEXT, code).unwrap_or_else(|| fallback(code)).to_string_lossy();
    match ask(&NAME, code) {
        Some(name) => format!("{} ({code}): {text}", name.to_string_lossy()),
        None => format!("CUDA error {code}: {text}"),
    }
}
