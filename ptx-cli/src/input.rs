//! From the paths of the command line to the files to work on.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;
use clap::Args;
use ignore::{Walk, WalkBuilder};

use crate::container;
use ptx_project::config::is_shared;

use crate::foreign::{self, Name};
use crate::source::{Input, Kind, Origin, check_regular, plain};

/// The files that say what a walk leaves out.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".git/info/exclude"];

/// No ignore file that people write is larger.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

/// Which files to work on.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Files and directories; `-` is standard input, and without any the current directory is taken
    ///
    /// A directory is walked, respecting ignore files, for .ptx (PTX), by `verify` and `format --asm` also for .cu .cuh .h
    /// .hpp .cpp .cc .inl .inc (CUDA C++), and by `verify` for .py .rs .ll .mlir (inline PTX of Python, Rust, LLVM IR and
    /// MLIR). A file that is named is taken whatever its extension: in the language of that, else as PTX. Of an ELF file, a fat binary,
    /// a cubin, an archive, a listing of cuobjdump, a package of such files (wheel, zip, tar, conda, deb) and what gzip,
    /// bzip2, xz or zstd made of one, the modules in it are taken; they are called PATH!MEMBER, and can be named so.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Name to show for standard input; its extension says what language it is
    #[arg(long, value_name = "FILE")]
    pub stdin_filename: Option<PathBuf>,

    /// Number of files to work on at the same time [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// Which kinds of files a directory is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// PTX, CUDA C++ and other languages with inline PTX.
    All,
    /// PTX only.
    PtxOnly,
}

/// The files found, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of the command line, directories in the order of their paths; each file once.
    pub inputs: Vec<Input>,
    /// One message for each path that could not be used.
    pub failures: Vec<String>,
}

impl InputArgs {
    /// How many threads may work.
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(cores, usize::from)
    }

    /// How many threads the work on `files` files may use.
    pub fn jobs(&self, files: usize) -> usize {
        // It takes a look into several files of the system how many there may be.
        if files <= 1 { 1 } else { self.threads().min(files) }
    }

    /// Finds the files. Fails only where the arguments contradict each other.
    pub fn find(&self, wanted: Wanted) -> anyhow::Result<Found> {
        let mut found = Found::default();
        if self.paths.is_empty() {
            walk(Path::new("."), wanted, &mut found);
        }
        for path in &self.paths {
            if path.as_os_str() == "-" {
                if found.inputs.iter().any(|input| input.origin == Origin::Stdin) {
                    bail!("`-` stands for standard input and can be given only once");
                }
                found.inputs.push(stdin_input(self.stdin_filename.as_deref()));
            } else if path.is_dir() {
                walk(path, wanted, &mut found);
            } else {
                found.inputs.push(named(path));
            }
        }
        let mut seen = HashSet::new();
        found.inputs.retain(|input| seen.insert(identity(input)));
        found.open_containers();
        Ok(found)
    }
}

impl Found {
    /// Puts the modules of containers in their place.
    fn open_containers(&mut self) {
        let mut inputs = Vec::new();
        for input in std::mem::take(&mut self.inputs) {
            match container::modules(&input) {
                None => inputs.push(input),
                Some((modules, mut failures)) => {
                    inputs.extend(modules);
                    self.failures.append(&mut failures);
                }
            }
        }
        self.inputs = inputs;
    }
}

/// What makes two inputs the same: the bytes of the path, and nothing that is made of them for showing.
fn identity(input: &Input) -> Option<PathBuf> {
    let path = match &input.origin {
        Origin::File(path) => path,
        Origin::Member(_) => input.name.path(),
        Origin::Stdin => return None,
    };
    Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// What a path of the command line stands for: a file, or a module of a container.
fn named(path: &Path) -> Input {
    let as_file = |path: &Path| file_input(path, Kind::of(path));
    container::named(path, as_file).unwrap_or_else(|| as_file(path))
}

/// Standard input under the name that the user gave it.
pub fn stdin_input(name: Option<&Path>) -> Input {
    Input {
        origin: Origin::Stdin,
        name: Name::from(name.unwrap_or(Path::new("<stdin>"))),
        kind: name.map_or(Kind::Ptx, Kind::of),
    }
}

/// What a path or `-` stands for, be it a container or a text.
pub fn any_input(path: &Path) -> Input {
    if path.as_os_str() == "-" { stdin_input(None) } else { named(path) }
}

/// The one input of a command that takes `FILE|-`. Fails where it is a container of several modules, or of none.
pub fn single_input(path: &Path) -> anyhow::Result<Input> {
    container::single(any_input(path))
}

fn file_input(path: &Path, kind: Kind) -> Input {
    Input { origin: Origin::File(path.to_owned()), name: Name::from(path), kind }
}

/// Adds the files below `root`. The current directory, taken where no path is given, is not shown in
/// their names.
///
/// Ignore files above `root` count up to the root of its repository. Without a repository only those below
/// do: what a stranger wrote into a folder above must not decide what is verified.
fn walk(root: &Path, wanted: Wanted, found: &mut Found) {
    let before = (found.inputs.len(), found.failures.len());
    let skipped = Arc::new(Mutex::new(Vec::new()));
    let walker = match walker(root, &skipped) {
        Ok(walker) => walker,
        Err(failure) => {
            found.failures.push(failure);
            return;
        }
    };
    for entry in walker {
        match entry {
            Ok(entry) => add_entry(entry.path(), wanted, found),
            Err(error) => found.failures.push(walk_failure(root, &error)),
        }
    }
    found.failures.append(&mut skipped.lock().unwrap_or_else(PoisonError::into_inner));
    if (found.inputs.len(), found.failures.len()) == before {
        let kinds = match wanted {
            Wanted::All => "PTX or CUDA file",
            Wanted::PtxOnly => "PTX file",
        };
        found.failures.push(format!("there is no {kinds} in `{}`", foreign::path(root)));
    }
}

/// The entries below `root`, in the order of their paths. Folders whose ignore files cannot be used are left out, and told
/// to `skipped`.
///
/// # Errors
/// The ignore files of `root` itself cannot be used, or those above it that count.
fn walker(root: &Path, skipped: &Arc<Mutex<Vec<String>>>) -> Result<Walk, String> {
    let above = folders_above(root);
    let unusable =
        std::iter::once(root).chain(above.iter().map(PathBuf::as_path)).find_map(unusable_ignore_file);
    if let Some(failure) = unusable {
        return Err(failure);
    }
    let failures = Arc::clone(skipped);
    let mut walker = WalkBuilder::new(root);
    walker.require_git(false).parents(!above.is_empty()).sort_by_file_path(Path::cmp);
    walker.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|of| of.is_dir());
        let failure = is_folder.then(|| unusable_ignore_file(entry.path())).flatten();
        let usable = failure.is_none();
        failures.lock().unwrap_or_else(PoisonError::into_inner).extend(failure);
        usable
    });
    Ok(walker.build())
}

/// The paths of PTX files below a folder, as far as they can be read.
pub fn ptx_files(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = walker(root, &Arc::default()).into_iter().flatten().flatten();
    entries.map(ignore::DirEntry::into_path).filter(|path| Kind::by_extension(path) == Some(Kind::Ptx))
}

/// The folders above `root` where `root` is in a repository; none where it is in none, or is its root.
fn folders_above(root: &Path) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let in_repository =
        root.ancestors().take_while(|folder| !is_shared(folder)).any(|folder| folder.join(".git").exists());
    if !in_repository || root.join(".git").exists() {
        return Vec::new();
    }
    root.ancestors().skip(1).map(Path::to_owned).collect()
}

/// Why the ignore files of a folder cannot be used: they are read as a whole, and their patterns take many
/// times their size.
fn unusable_ignore_file(folder: &Path) -> Option<String> {
    IGNORE_FILES.iter().find_map(|name| {
        let path = folder.join(name);
        let of = path.metadata().ok().filter(|of| !of.is_dir())?;
        let problem = check_regular(&of, MAX_IGNORE_BYTES).err()?;
        let (folder, path) = (foreign::path(folder), foreign::path(&path));
        Some(format!("cannot read below `{folder}`: the ignore file `{path}` cannot be used: {problem}"))
    })
}

fn add_entry(path: &Path, wanted: Wanted, found: &mut Found) {
    let Some(kind) = Kind::by_extension(path) else { return };
    if wanted == Wanted::PtxOnly && kind != Kind::Ptx {
        return;
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    let failure = |reason: &str| format!("cannot read `{}`: {reason}", foreign::path(path));
    // Symbolic links to files are followed, as they are where the user names one. What has the name of a
    // source and cannot be read as one is told: without a verdict it must not count as good.
    match path.metadata() {
        Ok(of) if of.is_file() => found.inputs.push(file_input(path, kind)),
        Ok(of) if of.is_dir() => {}
        Ok(_) => found.failures.push(failure("it is no regular file")),
        Err(error) => found.failures.push(failure(&plain(&error))),
    }
}

fn walk_failure(root: &Path, error: &ignore::Error) -> String {
    match error.io_error() {
        Some(io) => format!("cannot read below `{}`: {}", foreign::path(root), plain(io)),
        None => format!("cannot read below `{}`: {error}", foreign::path(root)),
    }
}
