//! A driver for the tests: a shared object with the functions of `libcuda.so.1` that the driver back
//! end calls, in the driver's own types. It compiles nothing: words in the text say what to answer.
//!
//! The functions check what they are given and abort on nonsense, so that a test sees it.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// The context and the module are addresses of these.
static CONTEXT: u8 = 0;
static MODULE: u8 = 0;
static KERNELS: [u8; 2] = [0; 2];
/// Which kernels have been asked for by name; the others were only listed.
static ASKED_FOR: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static NAMES: [&CStr; 2] = [c"second", c"first"];
static CURRENT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static LOADED: AtomicUsize = AtomicUsize::new(0);

fn address(of: &'static u8) -> *mut c_void {
    std::ptr::from_ref(of).cast_mut().cast()
}

fn has_gpu() -> bool {
    std::env::var_os("FAKE_NO_GPU").is_none()
}

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: c_uint) -> c_uint {
    assert_eq!(flags, 0);
    // SAFETY: the name ends with a NUL. Read as C reads it.
    let cache = unsafe { getenv(c"CUDA_CACHE_DISABLE".as_ptr()) };
    assert!(!cache.is_null(), "the cache must be off before the driver starts");
    if has_gpu() { 0 } else { 100 }
}

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_uint {
    unsafe { *version = 13000 };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_uint {
    assert_eq!(ordinal, 0);
    unsafe { *device = 7 };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> c_uint {
    assert_eq!(device, 7);
    unsafe {
        *value = match attribute {
            75 => 9,
            76 => 0,
            _ => return 1,
        }
    };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> c_uint {
    assert_eq!(device, 7);
    unsafe { *context = address(&CONTEXT) };
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_uint {
    assert_eq!((device, LOADED.load(Ordering::SeqCst)), (7, 0), "modules go before their context");
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPushCurrent_v2(context: *mut c_void) -> c_uint {
    assert_eq!(context, address(&CONTEXT));
    CURRENT.store(context, Ordering::SeqCst);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut *mut c_void) -> c_uint {
    unsafe { *context = CURRENT.swap(std::ptr::null_mut(), Ordering::SeqCst) };
    0
}

/// Writes `text` and a NUL into a log buffer of the options.
unsafe fn write_log(buffer: *mut c_void, size: *mut c_void, text: &str) {
    assert!(text.len() < size.addr());
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), text.len());
        *buffer.cast::<u8>().add(text.len()) = 0;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut *mut c_void,
    image: *const c_void,
    count: c_uint,
    keys: *const c_uint,
    values: *mut *mut c_void,
) -> c_uint {
    assert_eq!(CURRENT.load(Ordering::SeqCst), address(&CONTEXT));
    let text = unsafe { CStr::from_ptr(image.cast()) }.to_string_lossy();
    let keys = unsafe { std::slice::from_raw_parts(keys, count as usize) };
    let values = unsafe { std::slice::from_raw_parts_mut(values, count as usize) };
    let place = |key: c_uint| keys.iter().position(|&found| found == key);
    let value = |key: c_uint| values[place(key).unwrap()];
    let (info, info_size, errors, errors_size) = (value(3), value(4), value(5), value(6));
    assert_eq!(value(12).addr(), 1, "the log must be verbose");
    let target = place(9).map_or(90, |at| values[at].addr());
    let name = if target == 65626 || text.contains("sm_90a") { "sm_90a" } else { "sm_90" };
    let wall_time = place(2).unwrap();
    values[wall_time] = std::ptr::without_provenance_mut(12.5_f32.to_bits() as usize);
    let (code, log) = answer(&text);
    unsafe { write_log(errors, errors_size, log) };
    if code == 0 {
        let log = format!(
            "ptxas info    : Compiling entry function 'first' for '{name}'\n\
             ptxas info    : Function properties for first\n\
             ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
             ptxas info    : Used 99 registers, used 1 barriers\n"
        );
        unsafe { write_log(info, info_size, &log) };
        unsafe { *module = address(&MODULE) };
        LOADED.fetch_add(1, Ordering::SeqCst);
    }
    code
}

/// The code and the error log for a text.
fn answer(text: &str) -> (c_uint, &'static str) {
    if text.contains("ask for an error") {
        return (
            218,
            "ptxas application ptx input, line 5; error   : Arguments mismatch for instruction 'add'\n",
        );
    }
    if text.contains("ask for a newer version") {
        return (
            222,
            "ptxas application ptx input, line 1; fatal   : Unsupported .version 9.5; current version is '9.0'",
        );
    }
    if text.contains("ask for a crash") {
        eprintln!("the compiler of the fake driver is about to crash");
        std::process::abort();
    }
    if text.contains("ask for a hang") {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    if text.contains("ask for silence") {
        return (300, "");
    }
    if text.contains("ask for a code of the future") {
        return (912, "");
    }
    (0, "")
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: *mut c_void) -> c_uint {
    assert_eq!((module, CURRENT.load(Ordering::SeqCst)), (address(&MODULE), address(&CONTEXT)));
    LOADED.fetch_sub(1, Ordering::SeqCst);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunctionCount(count: *mut c_uint, module: *mut c_void) -> c_uint {
    assert_eq!(module, address(&MODULE));
    unsafe { *count = 2 };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleEnumerateFunctions(
    functions: *mut *mut c_void,
    count: c_uint,
    module: *mut c_void,
) -> c_uint {
    assert_eq!((count, module), (2, address(&MODULE)));
    for (index, kernel) in KERNELS.iter().enumerate() {
        unsafe { *functions.add(index) = address(kernel) };
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_uint {
    assert_eq!(module, address(&MODULE));
    let name = unsafe { CStr::from_ptr(name) };
    let Some(index) = NAMES.iter().position(|known| *known == name) else { return 500 };
    ASKED_FOR[index].store(true, Ordering::SeqCst);
    unsafe { *function = address(&KERNELS[index]) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncGetName(name: *mut *const c_char, function: *mut c_void) -> c_uint {
    let index = KERNELS.iter().position(|kernel| address(kernel) == function).unwrap();
    unsafe { *name = NAMES[index].as_ptr() };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    function: *mut c_void,
) -> c_uint {
    let index = KERNELS.iter().position(|kernel| address(kernel) == function).unwrap();
    // As the driver does for a kernel that is not loaded yet.
    if !ASKED_FOR[index].load(Ordering::SeqCst) && matches!(attribute, 2 | 3) {
        return 913;
    }
    unsafe {
        *value = match attribute {
            0 => 1024,
            1 => 400,
            2 => 0,
            3 => 24,
            4 => 12,
            _ => return 1,
        }
    };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(code: c_uint, text: *mut *const c_char) -> c_uint {
    unsafe { constant(code, text, c"CUDA_ERROR_OF_THE_FUTURE") }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(code: c_uint, text: *mut *const c_char) -> c_uint {
    unsafe { constant(code, text, c"something new is wrong") }
}

/// Knows one code, and fails on the others as the driver does.
unsafe fn constant(code: c_uint, text: *mut *const c_char, answer: &'static CStr) -> c_uint {
    unsafe { *text = if code == 912 { answer.as_ptr() } else { std::ptr::null() } };
    if code == 912 { 0 } else { 1 }
}
