//! The back end that asks the CUDA driver: its compiler, on the GPU of this machine.
//!
//! The types are `cust`'s; the functions are looked up at run time, so that a program with this back end
//! starts where there is no driver. What `cust`'s safe layer lacks (logs, times, new targets, an error for
//! every code) is done here.
//!
//! * The driver compiles for the GPU it has: another `--target` is an error, not a guess.
//! * `cuLink…` and nvJitLink would compile for other targets, yet as relocatable code, which takes
//!   other register counts in 63 of 380 kernels; no figure comes from them, and no cubin.
//! * A module is only compiled and loaded here, never run; [`Module`] is for callers that launch.
//! * The driver's compiler runs in the process of its [`Driver`]: it cannot be stopped, and a crash takes the
//!   process with it. [`DriverProcess`] keeps a process of its own for it, which may hang and die. That is
//!   what text from strangers is for.

use std::ffi::c_int;
use std::fs;
use std::ptr;

use cust::sys::{CUcontext, CUdevice, CUdevice_attribute, CUfunction, CUmodule};

use super::log::Log;
use super::outline::Outline;
use super::report::{Backend, Report};
use super::target::{Feature, Gpu};
use super::{Assembly, Error, Options, Source};

mod api;
mod functions;
mod jit;
mod process;
mod verdict;

#[cfg(test)]
mod tests;

use api::Api;
pub use process::{DriverProcess, serve};

/// The driver with the primary context of its first GPU. `$CUDA_VISIBLE_DEVICES` chooses another.
#[derive(Debug)]
pub struct Driver {
    api: &'static Api,
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
    /// The log of a compilation that comes out of the driver's cache is empty, and with it the figures that
    /// only the log has. So let the environment of the process have `CUDA_CACHE_DISABLE=1` before the driver
    /// starts; [`DriverProcess`] does.
    ///
    /// # Errors
    /// [`Error::Missing`] where there is no driver or no GPU.
    pub fn open() -> Result<Self, Error> {
        let missing = |looked_for| Error::Missing { backend: Some(Backend::Driver), looked_for };
        let api = api::api().map_err(|reason| missing(vec![reason.to_owned()]))?;
        let check = |code, doing: &str| match code {
            0 => Ok(()),
            _ => Err(missing(vec![format!("the driver could not {doing}: {}", api.describe(code))])),
        };
        // SAFETY: `cuInit` may be called at any time and any number of times.
        check(unsafe { (api.init)(0) }, "start")?;
        let mut device = 0;
        // SAFETY: the place for the device is valid.
        check(unsafe { (api.device_get)(&raw mut device, 0) }, "find a GPU")?;
        let gpu = compute_capability(api, device).map_err(|code| {
            missing(vec![format!("the driver could not tell what the GPU executes: {}", api.describe(code))])
        })?;
        let mut context = ptr::null_mut();
        // SAFETY: the place for the context is valid; `drop` releases it.
        check(unsafe { (api.primary_context_retain)(&raw mut context, device) }, "use the GPU")?;
        Ok(Self { api, device, context, gpu, version: version(api) })
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
        own_target(self.gpu, self.version.as_deref(), target)
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
        let outcome = jit::compile(self.api, source.text, target, options);
        let log = Log::parse(&outcome.log);
        report.seconds = outcome.seconds;
        if let Some(told) = &log.target {
            report.target.clone_from(told);
        }
        if outcome.code != 0 {
            report.log = verdict::of_refusal(|code| self.api.describe(code), outcome.code, log)?;
            return Ok((report, None));
        }
        let module = Module { driver: self, raw: outcome.module };
        let outline = Outline::of(source.text);
        (report.log, report.functions) = log.functions_in_source_order(&outline);
        functions::complete(self.api, &mut report.functions, module.raw, &outline);
        report.accepted = true;
        Ok((report, Some(module)))
    }

    /// Makes the context current on this thread until the value is dropped.
    fn enter(&self) -> Result<Current, Error> {
        // SAFETY: the context lives as long as `self`.
        match unsafe { (self.api.context_push_current)(self.context) } {
            0 => Ok(Current(self.api)),
            code => Err(verdict::crashed(|code| self.api.describe(code), code, "")),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // SAFETY: taken once in `open`. A failure at the end has nobody to tell.
        let _ = unsafe { (self.api.primary_context_release)(self.device) };
    }
}

/// `target`, where it is one of `gpu`'s own.
fn own_target(gpu: Gpu, version: Option<&str>, target: &str) -> Result<Gpu, Error> {
    Gpu::parse(target).filter(|wanted| wanted.number == gpu.number).ok_or_else(|| Error::TargetUnsupported {
        backend: Backend::Driver,
        version: version.map(str::to_owned),
        target: target.to_owned(),
        reason: format!("the driver compiles for its own GPU only, which is `{gpu}`"),
    })
}

/// A context that is current on this thread.
struct Current(&'static Api);

impl Drop for Current {
    fn drop(&mut self) {
        let mut context = ptr::null_mut();
        // SAFETY: the place for the context is valid; `enter` has pushed one.
        let _ = unsafe { (self.0.context_pop_current)(&raw mut context) };
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
        let _current = self.driver.enter().ok()?;
        functions::function(self.driver.api, self.raw, name)
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
            let _ = unsafe { (self.driver.api.module_unload)(self.raw) };
        }
    }
}

/// The compute capability of a GPU, or the driver's code where it does not tell.
fn compute_capability(api: &Api, device: CUdevice) -> Result<Gpu, u32> {
    use CUdevice_attribute as Attribute;
    /// "Invalid value": the driver's own code for nonsense.
    const INVALID_VALUE: u32 = 1;
    let read = |attribute| {
        let mut value: c_int = 0;
        // SAFETY: the place is valid and the device was given by the driver.
        match unsafe { (api.device_get_attribute)(&raw mut value, attribute, device) } {
            0 => u32::try_from(value).map_err(|_| INVALID_VALUE),
            code => Err(code),
        }
    };
    let major = read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let number = major.checked_mul(10).and_then(|tens| tens.checked_add(minor)).ok_or(INVALID_VALUE)?;
    Ok(Gpu { number, feature: Feature::Portable })
}

/// The CUDA version that the driver was made for, and the version of its library.
fn version(api: &Api) -> Option<String> {
    let mut number: c_int = 0;
    // SAFETY: the place is valid.
    if unsafe { (api.driver_get_version)(&raw mut number) } != 0 {
        return None;
    }
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
