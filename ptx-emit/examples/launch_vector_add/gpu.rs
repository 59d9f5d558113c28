//! The few functions of the driver that a launch needs besides those of the back end.

use std::ffi::{c_uint, c_void};
use std::ptr;

use libloading::{Library, Symbol};
use ptx_emit::assemble::driver::{CUcontext, CUfunction, Module};

/// `cuLaunchKernel`: the kernel, blocks and threads in three dimensions, dynamic shared memory, stream, arguments, extras.
type Launch = unsafe extern "C" fn(
    CUfunction,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    *mut c_void,
    *mut *mut c_void,
    *mut *mut c_void,
) -> c_uint;

/// The driver with the context of a module, which is current as long as this lives on its thread.
pub struct Gpu {
    library: Library,
}

/// The answer of a function of the driver.
fn check(code: c_uint) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("the driver answered {code}")) }
}

impl Gpu {
    /// Makes the module's context current.
    pub fn new(module: &Module<'_>) -> Result<Self, String> {
        let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
        // SAFETY: the back end has loaded it already.
        let library = unsafe { Library::new(name) }.map_err(|error| error.to_string())?;
        let gpu = Self { library };
        // SAFETY: the signature of `cuda.h`; the context lives as long as the module.
        check(unsafe {
            gpu.function::<unsafe extern "C" fn(CUcontext) -> c_uint>("cuCtxSetCurrent")?(module.context())
        })?;
        Ok(gpu)
    }

    /// A function of the driver.
    ///
    /// # Safety
    /// `F` is its type.
    unsafe fn function<F>(&self, name: &str) -> Result<Symbol<'_, F>, String> {
        // SAFETY: as the caller promises.
        unsafe { self.library.get(name) }.map_err(|error| error.to_string())
    }

    /// Runs a kernel and waits for its end.
    ///
    /// # Safety
    /// The arguments are those that the kernel takes, and it stays within what they lead to.
    pub unsafe fn launch(
        &self,
        kernel: CUfunction,
        blocks: u32,
        threads: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<(), String> {
        let (arguments, none) = (arguments.as_mut_ptr(), ptr::null_mut());
        // SAFETY: the signatures of `cuda.h`, and as the caller promises.
        unsafe {
            let launch = self.function::<Launch>("cuLaunchKernel")?;
            check(launch(kernel, blocks, 1, 1, threads, 1, 1, 0, none, arguments, ptr::null_mut()))?;
            check(self.function::<unsafe extern "C" fn() -> c_uint>("cuCtxSynchronize")?())
        }
    }
}

/// Floats in the memory of the GPU.
pub struct Buffer<'gpu> {
    gpu: &'gpu Gpu,
    address: u64,
    length: usize,
}

impl<'gpu> Buffer<'gpu> {
    /// A copy of floats.
    pub fn of(gpu: &'gpu Gpu, floats: &[f32]) -> Result<Self, String> {
        let mut address = 0;
        // SAFETY: the signature of `cuda.h`; the place is valid.
        check(unsafe {
            let allocate =
                gpu.function::<unsafe extern "C" fn(*mut u64, usize) -> c_uint>("cuMemAlloc_v2")?;
            allocate(&raw mut address, size_of_val(floats))
        })?;
        let buffer = Self { gpu, address, length: floats.len() };
        // SAFETY: the signature of `cuda.h`; both places have so many bytes.
        check(unsafe {
            let copy =
                gpu.function::<unsafe extern "C" fn(u64, *const c_void, usize) -> c_uint>("cuMemcpyHtoD_v2")?;
            copy(address, floats.as_ptr().cast(), size_of_val(floats))
        })?;
        Ok(buffer)
    }

    /// Where they are.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Copies them back.
    pub fn read(&self) -> Result<Vec<f32>, String> {
        let mut floats = vec![0.0_f32; self.length];
        // SAFETY: the signature of `cuda.h`; both places have so many bytes.
        check(unsafe {
            let copy = self
                .gpu
                .function::<unsafe extern "C" fn(*mut c_void, u64, usize) -> c_uint>("cuMemcpyDtoH_v2")?;
            copy(floats.as_mut_ptr().cast(), self.address, size_of_val(&floats[..]))
        })?;
        Ok(floats)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the signature of `cuda.h`; allocated once and freed once. A failure at the end has nobody to tell.
        let _ = unsafe {
            self.gpu
                .function::<unsafe extern "C" fn(u64) -> c_uint>("cuMemFree_v2")
                .map(|free| free(self.address))
        };
    }
}
