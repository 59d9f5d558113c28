//! The files of the same project that a CUDA source includes.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use ptx_verify::{Include, Surroundings, includes};

use crate::source::{Kind, Source, read_file};

/// How many files are read for one source, and how many bytes of them.
const MAX_FILES: usize = 300;
const MAX_BYTES: usize = 32 << 20;

/// What the files that `source` includes declare. They are looked for beside the file that includes them, then in the
/// folders around it and their `include`, up to the root of the repository.
pub fn surroundings(source: &Source) -> Surroundings {
    let mut found = Surroundings::default();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut waiting: VecDeque<PathBuf> = VecDeque::new();
    let mut bytes = 0;
    follow(&source.text, source.name.path(), &mut found, &mut seen, &mut waiting);
    for _ in 0..MAX_FILES {
        let Some(path) = waiting.pop_front() else { return found };
        let header = read_file(&path).map(|bytes| Source::new(path.clone().into(), Kind::Cuda, bytes));
        match header {
            Ok(header) if bytes + header.text.len() <= MAX_BYTES => {
                bytes += header.text.len();
                found.add(&header.text);
                follow(&header.text, &path, &mut found, &mut seen, &mut waiting);
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
pub fn headers(source: &Source) -> Vec<String> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut found: Vec<String> = Vec::new();
    let mut waiting: VecDeque<PathBuf> = VecDeque::new();
    let mut bytes = 0;
    let quoted = |text: &str, path: &Path| -> Vec<PathBuf> {
        includes(text).filter(|include| include.quoted).filter_map(|include| find(include, path)).collect()
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

/// Puts the files that a text includes onto the list.
fn follow(
    text: &str,
    path: &Path,
    found: &mut Surroundings,
    seen: &mut HashSet<PathBuf>,
    waiting: &mut VecDeque<PathBuf>,
) {
    for include in includes(text) {
        match find(include, path) {
            Some(path) if seen.insert(path.clone()) => waiting.push_back(path),
            Some(_) => {}
            // A file in angle brackets that the project does not have is a library's.
            None if include.quoted => found.note_missing(),
            None => {}
        }
    }
}

fn find(include: Include<'_>, from: &Path) -> Option<PathBuf> {
    // Absolute, so that there are folders around it.
    let from = std::path::absolute(from).ok()?;
    let beside = from.parent()?;
    let root = beside.ancestors().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    let folders = beside.ancestors().take(root + 1);
    folders
        .flat_map(|folder| [folder.join(include.path), folder.join("include").join(include.path)])
        .find_map(|path| path.canonicalize().ok().filter(|path| path.is_file()))
}
