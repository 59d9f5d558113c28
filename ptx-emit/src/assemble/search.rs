//! Where NVIDIA's programs are looked for.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::Error;

/// What a program is looked for by.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// Its name, without the suffix of Windows.
    pub program: &'static str,
    /// The variable that names it.
    pub variable: &'static str,
    /// The value of this variable: the program itself, or its name on `$PATH`.
    pub named: Option<OsString>,
    /// `$CUDA_HOME`: a toolkit, whose `bin` holds the program.
    pub cuda_home: Option<OsString>,
    /// `$PATH`.
    pub path: Option<OsString>,
}

/// A variable of the environment; an empty one counts as unset.
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

impl Search {
    pub(super) fn from_environment(program: &'static str, name: &'static str) -> Self {
        let (named, cuda_home, path) = (variable(name), variable("CUDA_HOME"), variable("PATH"));
        Self { program, variable: name, named, cuda_home, path }
    }

    /// The first program found, as an absolute path; or every place that was looked at. A variable that names no program
    /// ends the search: silently taking another compiler would falsify the figures.
    ///
    /// # Errors
    /// There is no working folder.
    pub(super) fn find(&self) -> Result<Result<PathBuf, Vec<String>>, Error> {
        let absolute = |program: PathBuf| {
            std::path::absolute(program).map(Ok).map_err(|error| Error::io("read the working folder", error))
        };
        let (name, variable) = (self.program, self.variable);
        if let Some(named) = &self.named {
            let found = if Path::new(named).components().count() > 1 {
                Some(PathBuf::from(named)).filter(|program| is_program(program))
            } else {
                self.on_path(named)
            };
            let place = Path::new(named).display();
            let nothing = || Ok(Err(vec![format!("`${variable}` names `{place}`, which is no program")]));
            return found.map_or_else(nothing, absolute);
        }
        let mut looked_for = vec![format!("`${variable}` is not set")];
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        match &self.cuda_home {
            Some(home) => {
                let program = Path::new(home).join("bin").join(&file);
                if is_program(&program) {
                    return absolute(program);
                }
                looked_for.push(format!("`$CUDA_HOME/bin` has no `{name}` (`{}`)", program.display()));
            }
            None => looked_for.push("`$CUDA_HOME` is not set".to_owned()),
        }
        if let Some(program) = self.on_path(OsStr::new(&file)) {
            return absolute(program);
        }
        let article = if name.starts_with('n') { "an" } else { "a" };
        looked_for.push(format!("no folder of `$PATH` has {article} `{name}`"));
        Ok(Err(looked_for))
    }

    fn on_path(&self, name: &OsStr) -> Option<PathBuf> {
        let folders = self.path.as_deref().map(env::split_paths)?;
        folders.map(|folder| folder.join(name)).find(|program| is_program(program))
    }
}

/// Whether `path` is a file that may be run.
fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}
