//! PTX in containers: each module of one is an input like a file of its own, called `PATH!MEMBER`.
//!
//! A container is read and looked at where the inputs are found, and again where its modules are: of several gigabytes of
//! libraries only the one that is worked on is in memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::bail;
use ptx_container::{Contents, Format};

use crate::foreign::{self, Name};
use crate::source::{Input, Kind, Origin, plain, read_file, read_stdin};

/// How much of a file is looked at for what it is.
const HEAD: u64 = 4096;

/// So many modules are named where one of them has to be.
const MAX_NAMED: usize = 5;

/// A file with modules in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Container {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

/// A module in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The container.
    pub container: Container,
    /// Its place among the modules there.
    index: usize,
    /// Its name there.
    name: String,
}

impl Container {
    /// What an input is read from, where that may be a container: no pipe is, for it could not be read again.
    fn of(input: &Input) -> Option<Self> {
        match &input.origin {
            Origin::Stdin => Some(Self::Stdin),
            Origin::File(path) => path.metadata().ok()?.is_file().then(|| Self::File(path.clone())),
            Origin::Member(_) => None,
        }
    }

    /// The path, where it is a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Stdin => None,
        }
    }

    /// Whether it begins like a container.
    fn is_one(&self) -> bool {
        let head = match self {
            Self::Stdin => stdin().map(|bytes| Format::of(&bytes)),
            Self::File(path) => File::open(path).and_then(|file| {
                let mut head = Vec::new();
                file.take(HEAD).read_to_end(&mut head)?;
                Ok(Format::of(&head))
            }),
        };
        // What cannot be read is told where it is read as a text.
        matches!(head, Ok(Some(_)))
    }

    /// What is in it. The last one is remembered, for its modules are asked for one after the other.
    fn open(&self) -> io::Result<Option<Arc<Contents>>> {
        static LAST: Mutex<Option<(Container, Arc<Contents>)>> = Mutex::new(None);
        let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, contents)) = last().as_ref().filter(|(container, _)| container == self) {
            return Ok(Some(Arc::clone(contents)));
        }
        let (name, bytes) = match self {
            Self::File(path) => (path.to_string_lossy(), Arc::new(read_file(path)?)),
            Self::Stdin => ("stdin".into(), stdin()?),
        };
        let contents = ptx_container::open(&name, bytes).map(Arc::new);
        *last() = contents.clone().map(|contents| (self.clone(), contents));
        Ok(contents)
    }
}

impl Member {
    /// Its name in the container.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the module.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let contents = self.container.open()?;
        let module = contents.as_ref().and_then(|contents| contents.modules.get(self.index));
        match module.filter(|module| module.name == self.name) {
            Some(module) => module.text().map_err(|problem| io::Error::other(problem.message)),
            None => Err(io::Error::other("its container changed while it was read")),
        }
    }
}

/// The bytes of standard input, which are read once.
pub fn stdin() -> io::Result<Arc<Vec<u8>>> {
    static BYTES: OnceLock<Result<Arc<Vec<u8>>, String>> = OnceLock::new();
    let read = || read_stdin().map(Arc::new).map_err(|error| plain(&error));
    BYTES.get_or_init(read).clone().map_err(io::Error::other)
}

/// The modules of an input that is a container, and a sentence for each part that cannot be read; `None` where it is none.
pub fn modules(input: &Input) -> Option<(Vec<Input>, Vec<String>)> {
    let container = Container::of(input).filter(|_| input.kind == Kind::Ptx).filter(Container::is_one)?;
    let failure = |reason: &str| format!("cannot read `{}`: {}", input.name, foreign::line(reason));
    let contents = match container.open() {
        Ok(contents) => contents?,
        Err(error) => return Some((Vec::new(), vec![failure(&plain(&error))])),
    };
    let mut failures: Vec<String> = contents.problems.iter().map(|each| failure(&each.to_string())).collect();
    if contents.modules.is_empty() && failures.is_empty() {
        failures.push(failure(&nothing(&contents)));
    }
    let members = contents.modules.iter().enumerate().map(|(index, module)| {
        let mut path = input.name.path().as_os_str().to_owned();
        path.push("!");
        path.push(&module.name);
        let name = module.name.clone();
        Input {
            name: Name::from(PathBuf::from(path)),
            kind: if module.is_ptx { Kind::Ptx } else { Kind::of(Path::new(&name)) },
            origin: Origin::Member(Member { container: container.clone(), index, name }),
        }
    });
    Some((members.collect(), failures))
}

/// Why a container has no module.
fn nothing(contents: &Contents) -> String {
    let format = contents.format;
    match contents.machine_code {
        0 => format!("it is {format} without PTX"),
        _ => format!("it is {format} with machine code, and without PTX"),
    }
}

/// The input that a path names which is no file: `PATH!MEMBER`, as findings have it.
pub fn named(path: &Path, as_file: impl Fn(&Path) -> Input) -> Option<Input> {
    if path.exists() {
        return None;
    }
    let text = path.to_str()?;
    let (container, _) = text.rsplit_once('!').filter(|(container, _)| Path::new(container).is_file())?;
    let (members, _) = modules(&as_file(Path::new(container)))?;
    members.into_iter().find(|member| member.name.path() == path)
}

/// The one module of an input; the input itself where it is no container.
pub fn single(input: Input) -> anyhow::Result<Input> {
    let Some((mut members, mut failures)) = modules(&input) else { return Ok(input) };
    match (members.len(), failures.is_empty()) {
        (1, true) => Ok(members.remove(0)),
        (_, false) => bail!(failures.remove(0)),
        (count, true) => {
            let names = members.iter().take(MAX_NAMED).map(|member| format!("`{}`", member.name));
            let names = names.collect::<Vec<_>>().join(", ");
            let more = if count > MAX_NAMED { " …" } else { "" };
            bail!("`{}` has {count} modules; name one of them: {names}{more}", input.name)
        }
    }
}

/// Why a module is not replaced.
pub fn in_container(name: &Name) -> String {
    format!("cannot write `{name}`: it is in a container; `ptx-cli extract FILE -o FOLDER` takes it out")
}
