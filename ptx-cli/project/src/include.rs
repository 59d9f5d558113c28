//! The files of the same project that a CUDA source includes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::time::SystemTime;

use ptx_syntax::cuda::{self, Declarations, Header};
use ptx_verify::{Include, Surroundings, includes};

use crate::compile_commands::Flags;
use crate::source::{Kind, Source, read_file};

/// How many files are read for one source, and how many bytes of them.
const MAX_FILES: usize = 300;
const MAX_BYTES: usize = 32 << 20;

/// What the files that `source` includes declare. They are looked for beside the file that includes them, then in the
/// folders around it and their `include`, up to the root of the repository.
pub fn surroundings(source: &Source, flags: &Flags) -> Surroundings {
    let mut found = Surroundings::default();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut waiting: VecDeque<PathBuf> = VecDeque::new();
    let mut bytes = 0;
    follow(&source.text, source.name.path(), flags, &mut found, &mut seen, &mut waiting);
    for _ in 0..MAX_FILES {
        let Some(path) = waiting.pop_front() else { return found };
        let header = read_file(&path).map(|bytes| Source::new(path.clone().into(), Kind::Cuda, bytes));
        match header {
            Ok(header) if bytes + header.text.len() <= MAX_BYTES => {
                bytes += header.text.len();
                found.add(&header.text);
                follow(&header.text, &path, flags, &mut found, &mut seen, &mut waiting);
            }
            Ok(_) | Err(_) => found.note_missing(),
        }
    }
    if !waiting.is_empty() {
        found.note_missing();
    }
    found
}

/// How many files in quotes are read for the wrappers in them, and how many bytes of them.
const MAX_HEADERS: usize = 60;
const MAX_HEADER_BYTES: usize = 2 << 20;

/// The files in quotes that `source` includes, each after those that it includes itself; none where they are too many.
pub fn headers(source: &Source, flags: &Flags) -> Vec<String> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut found: Vec<String> = Vec::new();
    let mut waiting: VecDeque<PathBuf> = VecDeque::new();
    let mut bytes = 0;
    let quoted = |text: &str, path: &Path| -> Vec<PathBuf> {
        includes(text)
            .filter(|include| include.quoted)
            .filter_map(|include| find(include, path, flags))
            .collect()
    };
    waiting.extend(quoted(&source.text, source.name.path()));
    while let Some(path) = waiting.pop_front() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let Ok(header) = read_file(&path).map(|bytes| Source::new(path.clone().into(), Kind::Cuda, bytes))
        else {
            continue;
        };
        bytes += header.text.len();
        if seen.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
            return Vec::new();
        }
        waiting.extend(quoted(&header.text, &path));
        found.push(header.text);
    }
    // What is included comes later in this order.
    found.reverse();
    found
}

/// How many files are read for the macros and types in them, and how many bytes of them. What the others declare stays
/// unknown.
const MAX_DECLARING: usize = 300;
const MAX_DECLARING_BYTES: usize = 16 << 20;

/// The macros and types of the files that `source` includes, and those that the build gives it.
pub fn declarations(source: &Source, flags: &Flags) -> Declarations {
    let given = Header::of(&flags.macros);
    let found = included(source, flags);
    let headers: Vec<Arc<Header>> = found.iter().rev().map(|known| known.header()).collect();
    // What is included comes later in this order.
    let headers = headers.iter().map(|header| &**header);
    Declarations::of(&source.text, std::iter::once(&given).chain(headers))
}

/// Whether `source` names a macro with an asm statement that one of the files which it includes, or the build, defines.
pub fn names_macro_with_asm(source: &Source, flags: &Flags) -> bool {
    let is_named = |name: &str| source.text.contains(name);
    cuda::macros_with_asm(&flags.macros).into_iter().any(is_named)
        || included(source, flags).iter().flat_map(|known| &known.macros_with_asm).any(|name| is_named(name))
}

/// The files that `source` includes, each before those that it includes itself.
fn included(source: &Source, flags: &Flags) -> Vec<Arc<Known>> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut found: Vec<Arc<Known>> = Vec::new();
    let mut bytes = 0;
    let includes_of = |text: &str, path: &Path| -> Vec<PathBuf> {
        includes(text).filter_map(|include| find(include, path, flags)).collect()
    };
    let mut waiting: VecDeque<PathBuf> = flags
        .forced
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| path.is_file())
        .collect();
    waiting.extend(includes_of(&source.text, source.name.path()));
    while let Some(path) = waiting.pop_front() {
        if found.len() == MAX_DECLARING || bytes > MAX_DECLARING_BYTES {
            break;
        }
        if !seen.insert(path.clone()) {
            continue;
        }
        let Some(known) = known(&path) else { continue };
        bytes += known.bytes;
        let includes = known.includes.iter().map(|(path, quoted)| Include { path, quoted: *quoted });
        waiting.extend(includes.filter_map(|include| find(include, &path, flags)));
        found.push(known);
    }
    found
}

/// A file that others include.
struct Known {
    path: PathBuf,
    written: Option<SystemTime>,
    bytes: usize,
    /// What it includes, and whether in quotes.
    includes: Vec<(String, bool)>,
    macros_with_asm: Vec<String>,
    /// What it declares, once somebody has asked.
    header: OnceLock<Arc<Header>>,
}

impl Known {
    fn header(&self) -> Arc<Header> {
        let read = || {
            let name = self.path.file_name().unwrap_or_default().to_string_lossy();
            let text = read_file(&self.path)
                .map(|bytes| Source::new(self.path.clone().into(), Kind::Cuda, bytes).text);
            Arc::new(text.map_or_else(|_| Header::default(), |text| Header::named(&name, &text)))
        };
        Arc::clone(self.header.get_or_init(read))
    }
}

/// Files that were read: most sources of a project include the same ones.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Arc<Known>>>> = LazyLock::new(Mutex::default);

/// How many bytes of them are kept, about.
const MAX_KEPT: usize = 256 << 20;

fn known(path: &Path) -> Option<Arc<Known>> {
    let written = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let lock = || KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = lock().get(path).filter(|known| known.written == written) {
        return Some(Arc::clone(known));
    }
    let text = Source::new(path.to_owned().into(), Kind::Cuda, read_file(path).ok()?).text;
    let known = Arc::new(Known {
        path: path.to_owned(),
        written,
        bytes: text.len(),
        includes: includes(&text).map(|include| (include.path.to_owned(), include.quoted)).collect(),
        macros_with_asm: cuda::macros_with_asm(&text).into_iter().map(str::to_owned).collect(),
        header: OnceLock::new(),
    });
    let mut all = lock();
    let size = |known: &Arc<Known>| known.header.get().map_or(0, |header| header.size());
    if all.values().map(size).sum::<usize>() > MAX_KEPT {
        all.clear();
    }
    all.insert(path.to_owned(), Arc::clone(&known));
    Some(known)
}

/// Puts the files that a text includes onto the list.
fn follow(
    text: &str,
    path: &Path,
    flags: &Flags,
    found: &mut Surroundings,
    seen: &mut HashSet<PathBuf>,
    waiting: &mut VecDeque<PathBuf>,
) {
    for include in includes(text) {
        match find(include, path, flags) {
            Some(path) if seen.insert(path.clone()) => waiting.push_back(path),
            Some(_) => {}
            // A file in angle brackets that the project does not have is a library's.
            None if include.quoted => found.note_missing(),
            None => {}
        }
    }
}

/// The file that an `#include` means: beside the file that has it if in quotes, then in the folders that the build names,
/// then in the folders around.
fn find(include: Include<'_>, from: &Path, flags: &Flags) -> Option<PathBuf> {
    // Absolute, so that there are folders around it.
    let from = std::path::absolute(from).ok()?;
    let beside = from.parent()?;
    if !STAY.load(Ordering::Relaxed) {
        return look_for(include, beside, flags);
    }
    let mut hasher = DefaultHasher::new();
    (beside, include.path, include.quoted, &flags.quoted, &flags.folders).hash(&mut hasher);
    let key = hasher.finish();
    let lock = || FOUND.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = lock().get(&key) {
        return known.clone();
    }
    let found = look_for(include, beside, flags);
    lock().insert(key, found.clone());
    found
}

/// Whether files are where they are until the process ends.
static STAY: AtomicBool = AtomicBool::new(false);

/// Where includes lead: by the folder of the file, what is included, and the folders of the build.
static FOUND: LazyLock<Mutex<HashMap<u64, Option<PathBuf>>>> = LazyLock::new(Mutex::default);

/// Looks for each included file once: for a process that ends before anybody adds or removes files. Sources of a project
/// include the same files, and most of the time goes into paths otherwise.
pub fn files_stay() {
    STAY.store(true, Ordering::Relaxed);
}

fn look_for(include: Include<'_>, beside: &Path, flags: &Flags) -> Option<PathBuf> {
    let root = beside.ancestors().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    let around = beside.ancestors().take(root + 1);
    let own =
        [beside].into_iter().chain(flags.quoted.iter().map(PathBuf::as_path)).filter(|_| include.quoted);
    let of_build = flags.folders.iter().map(PathBuf::as_path);
    own.chain(of_build)
        .map(|folder| folder.join(include.path))
        .chain(
            around.flat_map(|folder| [folder.join(include.path), folder.join("include").join(include.path)]),
        )
        .find_map(|path| path.is_file().then(|| path.canonicalize().ok()).flatten())
}
