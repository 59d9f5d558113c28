//! `compile_commands.json`: the folders and macros that a build gives to the compiler for each of its sources.
//!
//! The file is looked for where clangd looks: in the folder of a source and the folders above it up to the root of the
//! repository, and in a folder `build` of each. A source that it does not name, as headers are, has the flags of the
//! nearest one that it names. Nothing in it is run.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::SystemTime;

use serde::Deserialize;

use crate::config::looked_in;
use crate::source::{plain, read_text};

const FILE: &str = "compile_commands.json";

/// Those of the largest projects have a hundred.
const MAX_BYTES: u64 = 256 << 20;

/// How long the files with further arguments may be, and how many may name one another.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;
const MAX_RESPONSES: usize = 16;

/// What a build gives to the compiler for one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// Where files in quotes are looked for before those of `folders`.
    pub quoted: Vec<PathBuf>,
    /// Where all are.
    pub folders: Vec<PathBuf>,
    /// The macros, as lines of C++.
    pub macros: String,
    /// Files that are included before the source.
    pub forced: Vec<PathBuf>,
}

/// The entries of a file by the sources that they are for.
#[derive(Debug, Default)]
struct Commands {
    entries: HashMap<PathBuf, Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// A file that was read: when it was written, and its entries, or why there are none.
type Read = (Option<SystemTime>, Result<Arc<Commands>, String>);

/// What was read, for all sources of a run.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Read>>> = LazyLock::new(Mutex::default);

/// The flags for a source; none where there is no such file, or where it cannot be read.
pub(crate) fn flags(source: &Path) -> Flags {
    let Some(source) = normal(source) else { return Flags::default() };
    let Some(file) = source.parent().and_then(find) else { return Flags::default() };
    let commands = read(&file);
    commands.ok().and_then(|commands| commands.of(&source).map(Entry::flags)).unwrap_or_default()
}

/// The files that were asked so far, and for those that could not be used the reason.
#[must_use]
pub fn asked() -> Vec<(PathBuf, Option<String>)> {
    let Ok(known) = KNOWN.lock() else { return Vec::new() };
    let reason = |(path, (_, commands)): (&PathBuf, &Read)| (path.clone(), commands.as_ref().err().cloned());
    let mut found: Vec<(PathBuf, Option<String>)> = known.iter().map(reason).collect();
    found.sort();
    found
}

fn find(folder: &Path) -> Option<PathBuf> {
    let places = looked_in(folder).flat_map(|folder| [folder.join(FILE), folder.join("build").join(FILE)]);
    places.into_iter().find(|file| file.is_file())
}

fn read(file: &Path) -> Result<Arc<Commands>, String> {
    let written = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let Ok(mut known) = KNOWN.lock() else { return Ok(Arc::default()) };
    match known.get(file) {
        Some((then, commands)) if *then == written => commands.clone(),
        _ => {
            let commands = Commands::of_file(file).map(Arc::new);
            known.insert(file.to_owned(), (written, commands.clone()));
            commands
        }
    }
}

impl Commands {
    fn of_file(file: &Path) -> Result<Self, String> {
        let text = read_text(file, MAX_BYTES).map_err(|error| plain(&error))?;
        let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let named = entries.into_iter().filter_map(|mut entry| {
            // A relative folder is one beside the file.
            if let Some(beside) = file.parent() {
                entry.directory = beside.join(&entry.directory);
            }
            Some((normal(&entry.directory.join(&entry.file))?, entry))
        });
        Ok(Self { entries: named.collect() })
    }

    /// The entry for a source, or for the one that lies nearest to it: the most folders in common, then the same
    /// name but for the extension, then the fewest folders below.
    fn of(&self, source: &Path) -> Option<&Entry> {
        let near = |other: &Path| {
            let common = source.components().zip(other.components()).take_while(|(one, two)| one == two);
            (common.count(), other.file_stem() == source.file_stem(), Reverse(other.components().count()))
        };
        // Of two that are equally near the first by name, so that every run says the same.
        let nearest =
            || self.entries.iter().max_by(|(one, _), (two, _)| near(one).cmp(&near(two)).then(two.cmp(one)));
        self.entries.get(source).or_else(|| Some(nearest()?.1))
    }
}

/// What the value of an option says.
#[derive(Clone, Copy)]
enum Heeded {
    Quoted,
    Folder,
    /// A folder of a library that the project does not check.
    System,
    Define,
    Undefine,
    Forced,
}

/// The options of nvcc, gcc and clang that are heeded; none begins like one after it.
const OPTIONS: [(&str, Heeded); 14] = [
    ("--include-path", Heeded::Folder),
    ("--system-include", Heeded::System),
    ("--define-macro", Heeded::Define),
    ("--undefine-macro", Heeded::Undefine),
    ("--pre-include", Heeded::Forced),
    ("-iquote", Heeded::Quoted),
    ("-isystem", Heeded::System),
    ("-idirafter", Heeded::System),
    ("-isysroot", Heeded::System),
    ("-imacros", Heeded::Forced),
    ("-include", Heeded::Forced),
    ("-I", Heeded::Folder),
    ("-D", Heeded::Define),
    ("-U", Heeded::Undefine),
];

/// Options that name a file with further arguments.
const RESPONSES: [&str; 2] = ["--options-file", "-optf"];

impl Entry {
    fn flags(&self) -> Flags {
        let split = || self.command.as_deref().and_then(shlex::split);
        let mut words = self.arguments.clone().or_else(split).unwrap_or_default().into_iter();
        let is_nvcc = words.next().is_some_and(|program| program.contains("nvcc"));
        let words = self.with_responses(words);
        let mut flags = Flags::default();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let Some((name, option)) = OPTIONS.iter().find(|(name, _)| word.starts_with(name)) else {
                continue;
            };
            let value = match &word[name.len()..] {
                "" => words.next().unwrap_or_default(),
                value => value.strip_prefix('=').unwrap_or(value),
            };
            // nvcc takes lists.
            let values: Vec<&str> = if is_nvcc { value.split(',').collect() } else { vec![value] };
            for value in values.into_iter().filter(|value| !value.is_empty()) {
                flags.heed(*option, value, &self.directory);
            }
        }
        flags
    }

    /// The arguments with those of the files that they name.
    fn with_responses(&self, words: impl Iterator<Item = String>) -> Vec<String> {
        let mut waiting: Vec<String> = words.collect();
        waiting.reverse();
        let mut left = MAX_RESPONSES;
        let mut all = Vec::new();
        while let Some(word) = waiting.pop() {
            let of_option = RESPONSES.iter().find_map(|name| word.strip_prefix(name));
            let file = match of_option {
                Some("") => waiting.pop(),
                Some(joined) => joined.strip_prefix('=').map(str::to_owned),
                None => word.strip_prefix('@').map(str::to_owned),
            };
            let Some(file) = file else {
                all.push(word);
                continue;
            };
            if let Some(next) = left.checked_sub(1) {
                left = next;
                let text = read_text(&self.directory.join(file), MAX_RESPONSE_BYTES).unwrap_or_default();
                waiting.extend(shlex::split(&text).unwrap_or_default().into_iter().rev());
            }
        }
        all
    }
}

impl Flags {
    fn heed(&mut self, option: Heeded, value: &str, directory: &Path) {
        let path = || directory.join(value);
        match option {
            Heeded::Quoted => self.quoted.push(path()),
            Heeded::Folder => self.folders.extend(Some(path()).filter(|folder| !is_toolkit(folder))),
            Heeded::System => {}
            Heeded::Define => {
                let (name, body) = value.split_once('=').unwrap_or((value, "1"));
                self.macros.push_str(&format!("#define {name} {body}\n").replace("\\\n", ""));
            }
            Heeded::Undefine => self.macros.push_str(&format!("#undef {value}\n")),
            Heeded::Forced => self.forced.push(path()),
        }
    }
}

/// Whether a folder has the headers of the CUDA toolkit, which are known without being read.
fn is_toolkit(folder: &Path) -> bool {
    folder.join("cuda_runtime.h").is_file()
}

/// An absolute path without `.` and `..`.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in std::path::absolute(path).ok()?.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with some files.
    fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn flags_of_all_compilers_are_read() {
        let commands = r##"[
            {"directory": "b", "file": "../src/a.cu",
             "command": "/usr/bin/nvcc -I../x,../y --include-path=z -DA -D 'B(x)=x \"q\"' -UC --options-file more.rsp -c ../src/a.cu"},
            {"directory": "/abs", "file": "c.cpp", "arguments": ["clang++", "-iquote", "q", "-isystem", "s", "-I", "i", "-include", "f.h"]}
        ]"##;
        let files = [
            ("build/compile_commands.json", commands),
            ("build/b/more.rsp", "-Iw -DD=2\n"),
            ("src/a.cu", ""),
        ];
        let folder = repository(&files);
        let root = normal(folder.path()).unwrap();
        let flags = flags(&root.join("src/a.cu"));
        let places: Vec<PathBuf> = flags.folders.iter().filter_map(|path| normal(path)).collect();
        let build = root.join("build/b");
        let wanted = [root.join("build/x"), root.join("build/y"), build.join("z"), build.join("w")];
        assert_eq!(places, wanted);
        assert_eq!(flags.macros, "#define A 1\n#define B(x) x \"q\"\n#undef C\n#define D 2\n");
        let commands = read(&root.join("build").join(FILE)).unwrap();
        let other = commands.of(Path::new("/abs/c.cpp")).unwrap().flags();
        assert_eq!(other.quoted, [Path::new("/abs/q")]);
        assert_eq!(other.folders, [Path::new("/abs/i")]);
        assert_eq!(other.forced, [Path::new("/abs/f.h")]);
    }

    #[test]
    fn a_header_has_the_flags_of_its_nearest_source() {
        let commands = r#"[{"directory": ".", "file": "a/x.cu", "command": "nvcc -DX"},
                           {"directory": ".", "file": "a/b/y.cu", "command": "nvcc -DY"},
                           {"directory": ".", "file": "a/b/z.cu", "command": "nvcc -DZ"}]"#;
        let folder = repository(&[(FILE, commands)]);
        let macros = |name: &str| flags(&folder.path().join(name)).macros;
        assert_eq!(macros("a/b/z.h"), "#define Z 1\n");
        assert_eq!(macros("a/b/other.h"), "#define Y 1\n");
        assert_eq!(macros("a/w.h"), "#define X 1\n");
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let folder = repository(&[(FILE, "[{\"directory\": 1}]"), ("a.cu", "")]);
        assert_eq!(flags(&folder.path().join("a.cu")), Flags::default());
        let found = asked();
        let file = normal(folder.path()).unwrap().join(FILE);
        let (_, reason) = found.iter().find(|(path, _)| *path == file).unwrap();
        let reason = reason.as_deref().unwrap_or_default();
        assert!(reason.contains("invalid type"), "{reason}");
        let none = repository(&[("a.cu", "")]);
        assert_eq!(flags(&none.path().join("a.cu")), Flags::default());
    }

    #[test]
    fn files_of_arguments_may_name_themselves() {
        let commands = r#"[{"directory": ".", "file": "a.cu", "arguments": ["gcc", "@r", "-DE"]}]"#;
        let folder = repository(&[(FILE, commands), ("r", "-DR @r")]);
        let macros = flags(&folder.path().join("a.cu")).macros;
        assert_eq!(macros.lines().count(), MAX_RESPONSES + 1, "{macros}");
    }
}
