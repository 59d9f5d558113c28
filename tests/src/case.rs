//! Data files: a text, and what it is verified for.
//!
//! The first lines may hold directives in comments:
//!
//! ```text
//! // args: --target sm_90a --ptx-version 8.6 --warn carry-unused
//! // oracle: accepts: the manual forbids it, the assembler of CUDA 13.5 takes it
//! ```
//!
//! `args` are those of `ptx-cli verify`; rules that are off by default are switched on by `--warn RULE`.
//! `oracle` says in which way `ptxas` or nvcc is known to disagree, and why: `accepts`, `refuses`, `lines` where it
//! refuses the file but names other lines, or `unasked` where its answer would take too
//! much time or memory.
//!
//! A file of another language with inline PTX (`.py`, `.rs`, `.ll`, `.mlir`) has expectations in the comments of its
//! language, after which the `//` is: `# // error[…]: …`.
//!
//! A `.cu` file is verified for its asm statements. Its arguments may be `--target`, several separated by commas,
//! `--ptx-version`, `--compiler` and levels; lines `// ---` divide it into parts that NVIDIA's compiler is shown one
//! by one, for it says nothing of a second mistake.

use std::path::{Path, PathBuf};

use ptx_hosts::Language;
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;
use ptx_verify::{Compiler, Config, CudaConfig, Level};

/// A data file.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub source: String,
    /// What it is verified for.
    pub config: Config,
    /// What its asm statements are verified for, if it is CUDA C++.
    pub cuda: Option<CudaConfig>,
    /// The language, if it is another one with inline PTX.
    pub host: Option<Language>,
    /// How `ptxas` is known to disagree.
    pub disagreement: Option<Disagreement>,
}

/// A known disagreement with `ptxas`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// It accepts what is reported here.
    Accepts,
    /// It refuses what is not reported here.
    Refuses,
    /// It refuses too, on other lines.
    Lines,
    /// It is not asked, since its answer would take too much time or memory.
    Unasked,
}

impl Case {
    /// Reads a data file.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file or with its directives.
    pub fn read(path: &Path) -> Result<Self, String> {
        let source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let mut case = Self {
            path: path.to_owned(),
            source: String::new(),
            config: Config::default(),
            cuda: path.extension().is_some_and(|extension| extension == "cu").then(CudaConfig::default),
            host: path.extension().and_then(|extension| Language::by_extension(extension.to_str()?)),
            disagreement: None,
        };
        for comment in source.lines().map_while(|line| line.strip_prefix("//")) {
            if let Some(args) = comment.trim().strip_prefix("args:") {
                match &mut case.cuda {
                    Some(cuda) => cuda_arguments(args, cuda)?,
                    None => arguments(args, &mut case.config)?,
                }
            } else if let Some(text) = comment.trim().strip_prefix("oracle:") {
                case.disagreement = Some(disagreement(text)?);
            }
        }
        case.source = source;
        Ok(case)
    }

    /// What is found in it.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match (&self.cuda, self.host) {
            (Some(cuda), _) => ptx_verify::check_cuda(&self.source, cuda),
            (None, Some(language)) => {
                let hosted = ptx_hosts::find(language, &self.source);
                let cuda = CudaConfig { levels: self.config.levels.clone(), ..CudaConfig::default() };
                ptx_verify::verify_hosted(&self.source, &hosted, &cuda, &self.config).diagnostics
            }
            (None, None) => ptx_verify::check(&self.source, &self.config),
        }
    }
}

/// All files with this extension below a folder, in the order of their paths.
#[must_use]
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn arguments(text: &str, config: &mut Config) -> Result<(), String> {
    let mut words = text.split_whitespace();
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{flag}` has no value"))?;
        match flag {
            "--target" => {
                config.target = Some(Target::parse(value).ok_or_else(|| format!("no target `{value}`"))?);
            }
            "--ptx-version" => {
                config.version = Some(Version::parse(value).ok_or_else(|| format!("no version `{value}`"))?);
            }
            "--error" => level(config, value, Level::Error)?,
            "--warn" => level(config, value, Level::Warn)?,
            "--info" => level(config, value, Level::Info)?,
            "--allow" => level(config, value, Level::Allow)?,
            _ => return Err(format!("`{flag}` is not understood")),
        }
    }
    Ok(())
}

fn cuda_arguments(text: &str, cuda: &mut CudaConfig) -> Result<(), String> {
    let mut words = text.split_whitespace();
    let mut config = Config { levels: cuda.levels.clone(), ..Config::default() };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{flag}` has no value"))?;
        match (flag, value) {
            ("--target", names) => {
                let target = |name: &str| Target::parse(name).ok_or_else(|| format!("no target `{name}`"));
                cuda.targets = names.split(',').map(target).collect::<Result<_, _>>()?;
            }
            ("--ptx-version", _) => {
                cuda.version = Some(Version::parse(value).ok_or_else(|| format!("no version `{value}`"))?);
            }
            ("--compiler", "nvcc") => cuda.compiler = Compiler::Nvcc,
            ("--compiler", "clang") => cuda.compiler = Compiler::Clang,
            ("--compiler", "both") => cuda.compiler = Compiler::Both,
            _ => arguments(&format!("{flag} {value}"), &mut config)?,
        }
    }
    cuda.levels = config.levels;
    Ok(())
}

fn level(config: &mut Config, rules: &str, level: Level) -> Result<(), String> {
    rules.split(',').try_for_each(|rule| config.levels.set(rule, level).map_err(|error| error.to_string()))
}

/// Reads `accepts: REASON`; a disagreement without a reason is refused.
fn disagreement(text: &str) -> Result<Disagreement, String> {
    let (kind, reason) = text.split_once(':').unwrap_or((text, ""));
    if reason.trim().is_empty() {
        return Err(format!("`oracle:{text}` gives no reason after a colon"));
    }
    match kind.trim() {
        "accepts" => Ok(Disagreement::Accepts),
        "refuses" => Ok(Disagreement::Refuses),
        "lines" => Ok(Disagreement::Lines),
        "unasked" => Ok(Disagreement::Unasked),
        other => Err(format!("`{other}` is none of `accepts`, `refuses`, `lines` and `unasked`")),
    }
}
