//! The back end that calls NVIDIA's PTX compiler library in this process.
//!
//! NVIDIA delivers the library for Linux as an archive only, `libnvptxcompiler_static.a`. Linking it
//! would make a program of 50 MB that nobody could build without a toolkit, and its figures are
//! those of `ptxas` (380 of 380 kernels), so it is loaded at run time *where somebody has made a
//! shared object of it*, and is missing everywhere else:
//!
//! ```text
//! gcc -shared -o libnvptxcompiler.so \
//!     -Wl,--whole-archive libnvptxcompiler_static.a -Wl,--no-whole-archive -lstdc++ -lpthread -ldl
//! ```
//!
//! Tried with the library of CUDA 13.5 made so: on 866 files with 4,189 functions it gave the verdicts
//! and figures of `ptxas` 13.5, but for 24 modules of 32 bits, which only the library still takes.
//!
//! nvJitLink is a shared object, but compiles relocatable code, which takes other register counts in
//! 63 of 380 kernels: it is deliberately not used.
//!
//! The library cannot be stopped: `Options::timeout` has no effect. Its interface is that of
//! `nvPTXCompiler.h` (CUDA 11.1 and later).

use std::env;
use std::error::Error as _;
use std::ffi::{CString, OsString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr;
use std::time::Instant;

use super::log::Log;
use super::outline::Outline;
use super::report::{Backend, Report};
use super::{Assembly, Error, Options, Source, cubin, ptxas, target};

/// Results of the interface that are decided on here.
const SUCCESS: c_int = 0;
const INVALID_INPUT: c_int = 2;
const COMPILATION_FAILURE: c_int = 3;
const UNSUPPORTED_PTX_VERSION: c_int = 7;
const UNSUPPORTED_DEVICE_SIDE_SYNC: c_int = 8;

/// An unfinished or finished compilation.
type Handle = *mut c_void;

/// The functions of the interface that are used here.
#[derive(Clone, Copy, Debug)]
struct Functions {
    version: unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> c_int,
    create: unsafe extern "C" fn(*mut Handle, usize, *const c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int,
    program_size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    program: unsafe extern "C" fn(Handle, *mut c_void) -> c_int,
    error_log_size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    error_log: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    info_log_size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    info_log: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
}

/// The library, loaded.
#[derive(Debug)]
pub struct Library {
    /// Keeps the functions valid.
    _library: libloading::Library,
    functions: Functions,
    version: Option<String>,
}

impl Library {
    /// Loads the library: `libnvptxcompiler.so` by the loader's own search (`$LD_LIBRARY_PATH`), or
    /// from `$CUDA_HOME/lib64` and `$CUDA_HOME/lib`.
    ///
    /// # Errors
    /// [`Error::Missing`] names what was tried.
    pub fn open() -> Result<Self, Error> {
        let mut looked_for = Vec::new();
        for name in candidates(env::var_os("CUDA_HOME")) {
            match Self::load(&name) {
                Ok(library) => return Ok(library),
                Err(error) => looked_for.push(loader_says(&error)),
            }
        }
        looked_for.push("NVIDIA delivers this library as an archive, not as a shared object".to_owned());
        Err(Error::Missing { backend: Some(Backend::Library), looked_for })
    }

    /// Loads the library from this file.
    ///
    /// # Errors
    /// [`Error::Missing`] says what the loader has against it.
    pub fn at(file: &std::path::Path) -> Result<Self, Error> {
        let missing =
            |error| Error::Missing { backend: Some(Backend::Library), looked_for: vec![loader_says(&error)] };
        Self::load(file).map_err(missing)
    }

    fn load(name: &std::path::Path) -> Result<Self, libloading::Error> {
        // SAFETY: the library has no initialisers that depend on anything of this process.
        let library = unsafe { libloading::Library::new(name) }?;
        // SAFETY: the types are those of `nvPTXCompiler.h`.
        let functions = unsafe {
            Functions {
                version: *library.get(b"nvPTXCompilerGetVersion\0")?,
                create: *library.get(b"nvPTXCompilerCreate\0")?,
                destroy: *library.get(b"nvPTXCompilerDestroy\0")?,
                compile: *library.get(b"nvPTXCompilerCompile\0")?,
                program_size: *library.get(b"nvPTXCompilerGetCompiledProgramSize\0")?,
                program: *library.get(b"nvPTXCompilerGetCompiledProgram\0")?,
                error_log_size: *library.get(b"nvPTXCompilerGetErrorLogSize\0")?,
                error_log: *library.get(b"nvPTXCompilerGetErrorLog\0")?,
                info_log_size: *library.get(b"nvPTXCompilerGetInfoLogSize\0")?,
                info_log: *library.get(b"nvPTXCompilerGetInfoLog\0")?,
            }
        };
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both places are valid.
        let result = unsafe { (functions.version)(&raw mut major, &raw mut minor) };
        let version = (result == SUCCESS).then(|| format!("{major}.{minor}"));
        Ok(Self { _library: library, functions, version })
    }

    /// The version of the library, such as `13.5`.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Compiles `source`. A refused program is a report with `accepted: false`.
    ///
    /// # Errors
    /// [`Error::TargetUnsupported`] for a target that the library does not know,
    /// [`Error::Crashed`] where it failed without a verdict.
    pub fn assemble(&self, source: &Source<'_>, options: &Options) -> Result<Assembly, Error> {
        let outline = Outline::of(source.text);
        let target = options.target.clone().unwrap_or_else(|| target::default_target(&outline));
        let start = Instant::now();
        let (result, log, cubin) = self.compile(source.text, &target, options)?;
        let seconds = start.elapsed().as_secs_f64();
        if let Some(reason) = ptxas::unknown_target(&log) {
            let version = self.version.clone();
            return Err(Error::TargetUnsupported { backend: Backend::Library, version, target, reason });
        }
        if cubin.as_deref().is_some_and(|bytes| !cubin::is_cubin(bytes)) {
            return Err(crashed("wrote code that is no cubin".to_owned()));
        }
        let accepted = result == SUCCESS && cubin.is_some();
        let refused = log.refuses()
            || matches!(result, COMPILATION_FAILURE | UNSUPPORTED_PTX_VERSION | UNSUPPORTED_DEVICE_SIDE_SYNC);
        if !accepted && !refused {
            return Err(crashed(format!("returned {result}")));
        }
        let (lines, mut functions) = log.functions_in_source_order(&outline);
        match &cubin {
            Some(bytes) if accepted => cubin::complete(&mut functions, bytes, &outline),
            _ => functions.clear(),
        }
        let report = Report {
            file: source.file.to_owned(),
            backend: Backend::Library,
            backend_version: self.version.clone(),
            target,
            accepted,
            seconds,
            log: lines,
            functions,
        };
        Ok(Assembly { report, cubin: cubin.filter(|_| accepted) })
    }

    /// One compilation: result, logs and code.
    fn compile(
        &self,
        text: &[u8],
        target: &str,
        options: &Options,
    ) -> Result<(c_int, Log, Option<Vec<u8>>), Error> {
        let arguments = ptxas::arguments(target, options);
        let arguments: Result<Vec<CString>, _> = arguments.into_iter().map(CString::new).collect();
        let arguments = arguments.map_err(|_| crashed("cannot take a NUL in `--target`".to_owned()))?;
        let pointers: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        // The library wants a NUL after the text beside its length.
        let text = [text, b"\0"].concat();
        let mut handle: Handle = ptr::null_mut();
        // SAFETY: the place is valid; the text has the length given, its NUL not counted.
        let created =
            unsafe { (self.functions.create)(&raw mut handle, text.len() - 1, text.as_ptr().cast()) };
        if created == INVALID_INPUT {
            return Ok((created, Log::parse("ptxas fatal : The library takes no such text"), None));
        }
        if created != SUCCESS {
            return Err(crashed(format!("returned {created} when given the text")));
        }
        // SAFETY: the handle was just made; there are as many pointers as the call is told, and the
        // strings after them live to the end of this function.
        let result = unsafe { (self.functions.compile)(handle, pointers.len() as c_int, pointers.as_ptr()) };
        let errors = self.read(handle, self.functions.error_log_size, self.functions.error_log);
        let info = self.read(handle, self.functions.info_log_size, self.functions.info_log);
        let log = Log::parse(&(errors + "\n" + &info));
        let cubin = if result == SUCCESS { self.code(handle) } else { None };
        // SAFETY: the handle is destroyed once and not used again.
        unsafe { (self.functions.destroy)(&raw mut handle) };
        Ok((result, log, cubin))
    }

    /// Reads one of the two logs.
    fn read(
        &self,
        handle: Handle,
        size_of: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
        read: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    ) -> String {
        let mut size = 0;
        // SAFETY: the handle is alive and the place is valid.
        if unsafe { size_of(handle, &raw mut size) } != SUCCESS || size == 0 {
            return String::new();
        }
        // One byte more than told, so that a NUL always fits.
        let mut buffer = vec![0_u8; size.saturating_add(1)];
        // SAFETY: the buffer has room for what the library said.
        if unsafe { read(handle, buffer.as_mut_ptr().cast()) } != SUCCESS {
            return String::new();
        }
        let text = buffer.split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }

    /// Reads the machine code.
    fn code(&self, handle: Handle) -> Option<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the handle is alive and the place is valid.
        if unsafe { (self.functions.program_size)(handle, &raw mut size) } != SUCCESS || size == 0 {
            return None;
        }
        let mut code = vec![0_u8; size];
        // SAFETY: the buffer has room for what the library said.
        (unsafe { (self.functions.program)(handle, code.as_mut_ptr().cast()) } == SUCCESS).then_some(code)
    }
}

/// Where the library may be.
fn candidates(cuda_home: Option<OsString>) -> Vec<PathBuf> {
    let name = if cfg!(windows) { "nvptxcompiler.dll" } else { "libnvptxcompiler.so" };
    let mut candidates = vec![PathBuf::from(name)];
    if let Some(home) = cuda_home.filter(|home| !home.is_empty()).map(PathBuf::from) {
        candidates.extend(["lib64", "lib"].map(|folder| home.join(folder).join(name)));
    }
    candidates
}

/// The loader's own sentence, which names the library; it is the cause of the error that
/// [`libloading`] gives.
pub(super) fn loader_says(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

fn crashed(how: String) -> Error {
    Error::Crashed { backend: Backend::Library, how, output: String::new() }
}
