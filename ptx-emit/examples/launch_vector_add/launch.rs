//! Compiling with the driver, launching through `cust`, and checking the sums.

use std::error::Error;
use std::ffi::c_void;
use std::process::ExitCode;
use std::ptr;

use cust::memory::{CopyDestination, DeviceBuffer};
use cust::sys;
use ptx_emit::assemble::driver::{Driver, Module};
use ptx_emit::assemble::{Options, Report, Source};

use crate::forward::last_raw_code;

const LENGTH: usize = 16;

/// Says what it does, and what is missing.
pub fn run() -> ExitCode {
    let driver = match Driver::open() {
        Ok(driver) => driver,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match compile_and_add(&driver) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compile_and_add(driver: &Driver) -> Result<(), Box<dyn Error>> {
    let source = Source { file: "vector_add.ptx", text: include_bytes!("vector_add.ptx") };
    let (report, module) = driver.load(&source, &Options::default())?;
    print_report(&report);
    let module = module.ok_or("the driver refused the kernel")?;
    let a: Vec<f32> = (0..LENGTH).map(|index| index as f32).collect();
    let b: Vec<f32> = (0..LENGTH).map(|index| (2 * index) as f32).collect();
    let sums = add(&module, &a, &b)?;
    for ((a, b), sum) in a.iter().zip(&b).zip(&sums) {
        println!("{a} + {b} = {sum}");
        if a + b != *sum {
            return Err(format!("wrong sum: {a} + {b} is not {sum}").into());
        }
    }
    println!("all {LENGTH} sums are right");
    Ok(())
}

/// The verdict, the log and the figures.
fn print_report(report: &Report) {
    let version = report.backend_version.as_deref().unwrap_or("of unknown version");
    println!("{} {version}, {}: {:.1} ms", report.backend, report.target, report.seconds * 1000.0);
    for line in &report.log {
        println!("  {}: {}", line.severity.as_str(), line.message);
    }
    for function in &report.functions {
        println!("  {function:?}");
    }
}

/// Adds `a` and `b`, of the same length, on the GPU.
fn add(module: &Module<'_>, a: &[f32], b: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let kernel = module.function("vector_add").ok_or("the module has no `vector_add`")?;
    // SAFETY: the context lives as long as the module.
    check(unsafe { sys::cuCtxSetCurrent(module.context()) })?;
    let (a_on_gpu, b_on_gpu) = (DeviceBuffer::from_slice(a)?, DeviceBuffer::from_slice(b)?);
    let sums_on_gpu = DeviceBuffer::from_slice(&vec![0_f32; a.len()])?;
    let mut pointers = [&a_on_gpu, &b_on_gpu, &sums_on_gpu].map(|buffer| buffer.as_device_ptr().as_raw());
    let mut length = u32::try_from(a.len())?;
    let [first, second, third] = &mut pointers;
    let mut arguments: [*mut c_void; 4] = [
        ptr::from_mut(first).cast(),
        ptr::from_mut(second).cast(),
        ptr::from_mut(third).cast(),
        ptr::from_mut(&mut length).cast(),
    ];
    // SAFETY: the arguments are those of the kernel: three addresses of `length` floats each and the
    // length. The kernel writes nothing but the sums.
    check(unsafe {
        sys::cuLaunchKernel(
            kernel,
            length.div_ceil(256),
            1,
            1,
            256,
            1,
            1,
            0,
            ptr::null_mut(),
            arguments.as_mut_ptr(),
            ptr::null_mut(),
        )
    })?;
    // SAFETY: waits for the context that was made current above.
    check(unsafe { sys::cuCtxSynchronize() })?;
    let mut sums = vec![0_f32; a.len()];
    sums_on_gpu.copy_to(&mut sums)?;
    Ok(sums)
}

/// Turns a code of the driver into an error that names it.
fn check(code: sys::CUresult) -> Result<(), String> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        _ => Err(format!("the driver answered {code:?} ({})", last_raw_code())),
    }
}
