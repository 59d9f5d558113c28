//! The back end that asks the CUDA driver: its compiler, on the GPU of this machine.
//!
//! Goes through `cust` and its bindings; [`forward`](self) explains how that works on a machine
//! without a driver. What `cust`'s safe layer lacks (logs, times, new targets, an error for every
//! code) is done here over `cust::sys`.
//!
//! * The driver compiles for the GPU it has: another `--target` is an error, not a guess.
//! * `cuLink…` and nvJitLink would compile for other targets, yet as relocatable code, which takes
//!   other register counts in 63 of 380 kernels; no figure comes from them, and no cubin.
//! * A module is only compiled and loaded here, never run; [`Module`] is for callers that launch.
//! * The driver's compiler runs in this process: it cannot be stopped, and if it crashed it would
//!   take the process with it. `ptxas` is the back end for text from strangers.

use std::env;
use std::ffi::{CString, c_int};
use std::fs;
use std::ptr;
use std::sync::Once;

use cust::sys::{self, CUcontext, CUdevice, CUfunction, CUmodule, CUresult};

use super::log::Log;
use super::outline::Outline;
use super::report::{Backend, Report};
use super::target::{Feature, Gpu};
use super::{Assembly, Error, Options, Source};

mod forward;
mod functions;
mod jit;
mod verdict;

#[cfg(test)]
mod tests;

pub use forward::last_raw_code;

/// The driver with the primary context of its first GPU. `$CUDA_VISIBLE_DEVICES` chooses another.
#[derive(Debug)]
pub struct Driver {
    device: CUdevice,
    context: CUcontext,
    /// What this GPU executes, without feature letter.
    gpu: Gpu,
    version: Option<String>,
}

// SAFETY: the driver's functions may be called from any thread, and the context is only ever made
// current for the length of a call.
unsafe impl Send for Driver {}
// SAFETY: as above; nothing in the value changes after `open`.
unsafe impl Sync for Driver {}

impl Driver {
    /// Loads the driver and takes its first GPU.
    ///
    /// Sets `CUDA_CACHE_DISABLE=1` in the environment of this process first, because the log of a
    /// compilation that comes out of the driver's cache is empty.
    ///
    /// # Errors
    /// [`Error::Missing`] where there is no driver or no GPU.
    pub fn open() -> Result<Self, Error> {
        let missing = |looked_for| Error::Missing { backend: Some(Backend::Driver), looked_for };
        forward::library().map_err(|reason| missing(vec![reason.to_owned()]))?;
        disable_cache();
        let failed = |doing: &str| {
            let reason = forward::describe(last_raw_code());
            missing(vec![format!("the driver could not {doing}: {reason}")])
        };
        // SAFETY: `cuInit` may be called at any time and any number of times.
        check(unsafe { sys::cuInit(0) }).map_err(|()| failed("start"))?;
        let mut device = 0;
        // SAFETY: the place for the device is valid.
        check(unsafe { sys::cuDeviceGet(&raw mut device, 0) }).map_err(|()| failed("find a GPU"))?;
        let gpu = compute_capability(device).ok_or_else(|| failed("tell what the GPU executes"))?;
        let mut context = ptr::null_mut();
        // SAFETY: the place for the context is valid; `drop` releases it.
        check(unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut context, device) })
            .map_err(|()| failed("use the GPU"))?;
        Ok(Self { device, context, gpu, version: version() })
    }

    /// Version of the driver's compiler, such as `13.0 (driver 580.159.04)`.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// What the GPU executes, such as `sm_90`. Text for its architecture-specific target, `sm_90a`,
    /// compiles too.
    #[must_use]
    pub fn target(&self) -> String {
        self.gpu.to_string()
    }

    /// Whether the driver compiles for `target`, that is, for the GPU it has.
    ///
    /// # Errors
    /// [`Error::TargetUnsupported`] for every other target.
    pub fn require_target(&self, target: Option<&str>) -> Result<(), Error> {
        match target {
            Some(target) => self.parse_target(target).map(|_| ()),
            None => Ok(()),
        }
    }

    fn parse_target(&self, target: &str) -> Result<Gpu, Error> {
        Gpu::parse(target).filter(|wanted| wanted.number == self.gpu.number).ok_or_else(|| {
            let reason = format!("the driver compiles for its own GPU only, which is `{}`", self.gpu);
            Error::TargetUnsupported {
                backend: Backend::Driver,
                version: self.version.clone(),
                target: target.to_owned(),
                reason,
            }
        })
    }

    /// Compiles `source`; there is never a cubin. A refused program is a report with
    /// `accepted: false`.
    ///
    /// # Errors
    /// As [`Driver::load`].
    pub fn assemble(&self, source: &Source<'_>, options: &Options) -> Result<Assembly, Error> {
        let (report, _module) = self.load(source, options)?;
        Ok(Assembly { report, cubin: None })
    }

    /// Compiles `source` and keeps it loaded for launching; `None` where the driver refuses it.
    /// `options.timeout` has no effect.
    ///
    /// # Errors
    /// [`Error::TargetUnsupported`] for a target that is not this GPU's, [`Error::Missing`] where
    /// the driver's compiler is not installed, [`Error::Crashed`] where the driver failed without a
    /// verdict, as for want of memory.
    pub fn load(
        &self,
        source: &Source<'_>,
        options: &Options,
    ) -> Result<(Report, Option<Module<'_>>), Error> {
        let target = options.target.as_deref().map(|target| self.parse_target(target)).transpose()?;
        let mut report = Report {
            file: source.file.to_owned(),
            backend: Backend::Driver,
            backend_version: self.version.clone(),
            target: target.unwrap_or(self.gpu).to_string(),
            accepted: false,
            seconds: 0.0,
            log: Vec::new(),
            functions: Vec::new(),
        };
        if let Some(refusal) = verdict::unfit(source.text) {
            report.log.push(refusal);
            return Ok((report, None));
        }
        let _current = self.enter()?;
        let outcome = jit::compile(source.text, target, options);
        let log = Log::parse(&outcome.log);
        report.seconds = outcome.seconds;
        if let Some(told) = &log.target {
            report.target.clone_from(told);
        }
        if outcome.code != 0 {
            report.log = verdict::of_refusal(outcome.code, log)?;
            return Ok((report, None));
        }
        let module = Module { driver: self, raw: outcome.module };
        let outline = Outline::of(source.text);
        (report.log, report.functions) = log.functions_in_source_order(&outline);
        functions::complete(&mut report.functions, module.raw, &outline);
        report.accepted = true;
        Ok((report, Some(module)))
    }

    /// Makes the context current on this thread until the value is dropped.
    fn enter(&self) -> Result<Current, Error> {
        // SAFETY: the context lives as long as `self`.
        check(unsafe { sys::cuCtxPushCurrent_v2(self.context) })
            .map(|()| Current)
            .map_err(|()| verdict::crashed(last_raw_code(), ""))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // SAFETY: taken once in `open`. A failure at the end has nobody to tell.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// A context that is current on this thread.
struct Current;

impl Drop for Current {
    fn drop(&mut self) {
        let mut context = ptr::null_mut();
        // SAFETY: the place for the context is valid; `enter` has pushed one.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut context) };
    }
}

/// A loaded program. Its functions can be launched while it lives.
#[derive(Debug)]
pub struct Module<'driver> {
    driver: &'driver Driver,
    raw: CUmodule,
}

impl Module<'_> {
    /// The kernel called `name`, for `cuLaunchKernel`; `None` where there is none of that name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<CUfunction> {
        let name = CString::new(name).ok()?;
        let _current = self.driver.enter().ok()?;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with a NUL, the place is valid.
        check(unsafe { sys::cuModuleGetFunction(&raw mut function, self.raw, name.as_ptr()) }).ok()?;
        Some(function)
    }

    /// The context that the program is loaded in; to be current when it is launched.
    #[must_use]
    pub fn context(&self) -> CUcontext {
        self.driver.context
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        if let Ok(_current) = self.driver.enter() {
            // SAFETY: loaded once and unloaded once. A failure at the end has nobody to tell.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// Turns a driver's code into a result; the code itself is in [`last_raw_code`].
fn check(code: CUresult) -> Result<(), ()> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(()) }
}

/// Asks the driver not to take compilations out of its cache, once for the process.
fn disable_cache() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: Rust's own readers of the environment are locked out while it changes. Foreign
        // code that reads it in another thread at this very moment is not; the driver does not,
        // because it has not been started yet.
        unsafe { env::set_var("CUDA_CACHE_DISABLE", "1") };
    });
}

/// The compute capability of a GPU.
fn compute_capability(device: CUdevice) -> Option<Gpu> {
    use sys::CUdevice_attribute as Attribute;
    let read = |attribute| {
        let mut value: c_int = 0;
        // SAFETY: the place is valid and the device was given by the driver.
        check(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) }).ok()?;
        u32::try_from(value).ok()
    };
    let major = read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Some(Gpu { number: major.checked_mul(10)?.checked_add(minor)?, feature: Feature::Portable })
}

/// The CUDA version that the driver was made for, and the version of its library.
fn version() -> Option<String> {
    let mut number: c_int = 0;
    // SAFETY: the place is valid.
    check(unsafe { sys::cuDriverGetVersion(&raw mut number) }).ok()?;
    let cuda = format!("{}.{}", number / 1000, number % 1000 / 10);
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    Some(match library_version(&String::from_utf8_lossy(&maps)) {
        Some(driver) => format!("{cuda} (driver {driver})"),
        None => cuda,
    })
}

/// The version in the name of the loaded library, as in `/usr/lib/libcuda.so.580.159.04`.
fn library_version(maps: &str) -> Option<&str> {
    let mut names =
        maps.lines().filter_map(|line| line.rsplit_once("/libcuda.so.")).map(|(_, version)| version);
    names.find(|version| {
        version.contains('.') && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}
