//! The driver's functions that the back end calls, looked up in the driver's library at run time: a program
//! that was linked against it would not start where there is no driver.
//!
//! The types are those of `cust::sys`; the results are plain numbers, because drivers have more codes than
//! the bindings know. Nothing here is exported: a shared object with this crate in it defines no `cu…` symbol.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use cust::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUfunction, CUfunction_attribute, CUjit_option, CUmodule,
};
use libloading::Library;

use crate::assemble::library::loader_says;

/// Names of the driver's library, in the order they are tried.
const LIBRARIES: &[&str] = &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"];

/// `cuGetErrorName` and `cuGetErrorString`.
type Describe = unsafe extern "C" fn(c_uint, *mut *const c_char) -> c_uint;

/// The functions of `cuda.h`, under their names without `cu`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Api {
    pub init: unsafe extern "C" fn(c_uint) -> c_uint,
    pub driver_get_version: unsafe extern "C" fn(*mut c_int) -> c_uint,
    pub device_get: unsafe extern "C" fn(*mut CUdevice, c_int) -> c_uint,
    pub device_get_attribute: unsafe extern "C" fn(*mut c_int, CUdevice_attribute, CUdevice) -> c_uint,
    pub primary_context_retain: unsafe extern "C" fn(*mut CUcontext, CUdevice) -> c_uint,
    pub primary_context_release: unsafe extern "C" fn(CUdevice) -> c_uint,
    pub context_push_current: unsafe extern "C" fn(CUcontext) -> c_uint,
    pub context_pop_current: unsafe extern "C" fn(*mut CUcontext) -> c_uint,
    pub module_load_data_ex: unsafe extern "C" fn(
        *mut CUmodule,
        *const c_void,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> c_uint,
    pub module_unload: unsafe extern "C" fn(CUmodule) -> c_uint,
    pub module_get_function: unsafe extern "C" fn(*mut CUfunction, CUmodule, *const c_char) -> c_uint,
    pub function_get_attribute: unsafe extern "C" fn(*mut c_int, CUfunction_attribute, CUfunction) -> c_uint,
    get_error_name: Describe,
    get_error_string: Describe,
    /// What lists kernels; `None` in drivers before CUDA 12.4.
    pub listing: Option<Listing>,
}

/// Three functions that are newer than the bindings; signatures from `cuda.h` of CUDA 12.4.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    pub module_get_function_count: unsafe extern "C" fn(*mut c_uint, CUmodule) -> c_uint,
    pub module_enumerate_functions: unsafe extern "C" fn(*mut CUfunction, c_uint, CUmodule) -> c_uint,
    pub function_get_name: unsafe extern "C" fn(*mut *const c_char, CUfunction) -> c_uint,
}

/// The driver, loaded at the first call and never unloaded.
///
/// # Errors
/// What the loader said about the first of the names, which all systems but WSL use, or about a function
/// that the driver lacks.
pub(super) fn api() -> Result<&'static Api, &'static str> {
    /// The library stays loaded as long as its functions can be called.
    static DRIVER: OnceLock<Result<(Library, Api), String>> = OnceLock::new();
    match DRIVER.get_or_init(load) {
        Ok((_, api)) => Ok(api),
        Err(reason) => Err(reason),
    }
}

fn load() -> Result<(Library, Api), String> {
    let mut reason = None;
    for name in LIBRARIES {
        // SAFETY: loading the driver runs its initialisers, which NVIDIA makes safe at any time.
        match unsafe { Library::new(*name) } {
            Ok(library) => {
                let api = Api::of(&library).map_err(|error| loader_says(&error))?;
                return Ok((library, api));
            }
            Err(error) => {
                reason.get_or_insert_with(|| loader_says(&error));
            }
        }
    }
    Err(reason.unwrap_or_default())
}

impl Api {
    fn of(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: the driver's functions of these names have these signatures (`cust::sys`), but for their
        // results, which are any 32-bit numbers.
        unsafe {
            Ok(Self {
                init: *library.get(c"cuInit")?,
                driver_get_version: *library.get(c"cuDriverGetVersion")?,
                device_get: *library.get(c"cuDeviceGet")?,
                device_get_attribute: *library.get(c"cuDeviceGetAttribute")?,
                primary_context_retain: *library.get(c"cuDevicePrimaryCtxRetain")?,
                primary_context_release: *library.get(c"cuDevicePrimaryCtxRelease_v2")?,
                context_push_current: *library.get(c"cuCtxPushCurrent_v2")?,
                context_pop_current: *library.get(c"cuCtxPopCurrent_v2")?,
                module_load_data_ex: *library.get(c"cuModuleLoadDataEx")?,
                module_unload: *library.get(c"cuModuleUnload")?,
                module_get_function: *library.get(c"cuModuleGetFunction")?,
                function_get_attribute: *library.get(c"cuFuncGetAttribute")?,
                get_error_name: *library.get(c"cuGetErrorName")?,
                get_error_string: *library.get(c"cuGetErrorString")?,
                listing: Listing::of(library).ok(),
            })
        }
    }

    /// What a code means, as in `CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed`.
    pub(super) fn describe(&self, code: u32) -> String {
        let ask = |function: Describe| {
            let mut text = ptr::null();
            // SAFETY: `text` is a place for a pointer; an unknown code gives an error and a null pointer.
            if unsafe { function(code, &raw mut text) } != 0 || text.is_null() {
                return None;
            }
            // SAFETY: the driver's texts are constants that end with a NUL.
            Some(unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        let text = ask(self.get_error_string).unwrap_or_else(|| fallback(code).into());
        match ask(self.get_error_name) {
            Some(name) => format!("{name} ({code}): {text}"),
            None => format!("CUDA error {code}: {text}"),
        }
    }
}

impl Listing {
    fn of(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: as in `Api::of`.
        unsafe {
            Ok(Self {
                module_get_function_count: *library.get(c"cuModuleGetFunctionCount")?,
                module_enumerate_functions: *library.get(c"cuModuleEnumerateFunctions")?,
                function_get_name: *library.get(c"cuFuncGetName")?,
            })
        }
    }
}

/// What a code means where the driver does not say.
const fn fallback(code: u32) -> &'static str {
    match code {
        1 => "invalid argument",
        2 => "out of memory",
        3 => "initialization error",
        34 => "CUDA driver is a stub library",
        100 => "no CUDA-capable device is detected",
        218 => "a PTX JIT compilation failed",
        221 => "PTX JIT compiler library not found",
        222 => "the provided PTX was compiled with an unsupported toolchain",
        _ => "unknown CUDA error",
    }
}
