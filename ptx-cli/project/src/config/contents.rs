//! What stands in a configuration file.

use std::collections::BTreeMap;

use ptx_emit::format::Layout;
use ptx_verify::{Compiler, Level};
use serde::Deserialize;

/// The contents of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Contents {
    /// Another file, which this one changes.
    pub extend: Option<String>,
    /// What is left out.
    pub exclude: Vec<String>,
    /// Levels.
    pub rules: BTreeMap<String, LevelName>,
    /// What PTX files are verified for.
    pub ptx: PtxContents,
    /// What CUDA sources are verified for.
    pub cuda: CudaContents,
    /// How PTX is laid out.
    pub format: FormatContents,
    /// What kernels may cost.
    pub budget: BudgetContents,
    /// What holds for some files only.
    pub overrides: Vec<OverrideContents>,
}

/// An element of `[[overrides]]`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OverrideContents {
    /// Patterns of the files that it holds for.
    pub files: Vec<String>,
    /// Levels there.
    #[serde(default)]
    pub rules: BTreeMap<String, LevelName>,
    /// What PTX files are verified for there.
    #[serde(default)]
    pub ptx: PtxContents,
    /// What CUDA sources are verified for there.
    #[serde(default)]
    pub cuda: CudaContents,
    /// How PTX is laid out there.
    #[serde(default)]
    pub format: FormatContents,
    /// What kernels may cost there.
    #[serde(default)]
    pub budget: BudgetContents,
}

/// A level as it is written in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelName {
    /// Not reported.
    Allow,
    /// Worth knowing.
    Info,
    /// A warning.
    Warn,
    /// An error.
    Error,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Allow => Self::Allow,
            LevelName::Info => Self::Info,
            LevelName::Warn => Self::Warn,
            LevelName::Error => Self::Error,
        }
    }
}

/// A CUDA front end as it is written in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum CompilerName {
    /// NVIDIA's
    #[default]
    Nvcc,
    /// LLVM's
    Clang,
    /// What both accept
    Both,
}

impl From<CompilerName> for Compiler {
    fn from(name: CompilerName) -> Self {
        match name {
            CompilerName::Nvcc => Self::Nvcc,
            CompilerName::Clang => Self::Clang,
            CompilerName::Both => Self::Both,
        }
    }
}

/// How the columns of PTX are made, as it is written in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum LayoutName {
    /// As compilers print, with tabs
    #[default]
    Compiler,
    /// As people write, with spaces, and with operands and comments in columns
    Aligned,
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Compiler => Self::Compiler,
            LayoutName::Aligned => Self::Aligned,
        }
    }
}

/// The table `[ptx]`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PtxContents {
    /// The GPU that everything is to load on.
    pub target: Option<String>,
    /// The newest PTX version that is taken.
    pub version: Option<String>,
}

impl PtxContents {
    /// Puts what `above` says on top.
    pub(super) fn put(&mut self, above: &Self) {
        let Self { target, version } = above;
        self.target = target.clone().or_else(|| self.target.take());
        self.version = version.clone().or_else(|| self.version.take());
    }
}

/// The table `[cuda]`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CudaContents {
    /// The targets that asm statements are verified for.
    pub targets: Vec<String>,
    /// The PTX version that asm statements are verified for.
    pub version: Option<String>,
    /// The front end.
    pub compiler: Option<CompilerName>,
}

impl CudaContents {
    /// Puts what `above` says on top.
    pub(super) fn put(&mut self, above: &Self) {
        let Self { targets, version, compiler } = above;
        if !targets.is_empty() {
            self.targets.clone_from(targets);
        }
        self.version = version.clone().or_else(|| self.version.take());
        self.compiler = compiler.or(self.compiler);
    }
}

/// The table `[format]`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FormatContents {
    /// The layout.
    pub layout: Option<LayoutName>,
    /// Columns of a level of indentation.
    pub indent: Option<u8>,
    /// Columns that a line should not exceed.
    pub width: Option<u16>,
    /// Whether asm templates of CUDA sources are formatted, too.
    pub asm: Option<bool>,
}

impl FormatContents {
    /// Puts what `above` says on top.
    pub(super) fn put(&mut self, above: &Self) {
        let Self { layout, indent, width, asm } = above;
        self.layout = layout.or(self.layout);
        self.indent = indent.or(self.indent);
        self.width = width.or(self.width);
        self.asm = asm.or(self.asm);
    }
}

/// The table `[budget]`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BudgetContents {
    /// Registers of a thread.
    pub registers: Option<u64>,
    /// Bytes of spill stores, and of spill loads.
    pub spill: Option<u64>,
    /// Bytes of stack.
    pub stack: Option<u64>,
    /// Bytes of static shared memory.
    pub shared: Option<u64>,
}

impl BudgetContents {
    /// Puts what `above` says on top.
    pub(super) fn put(&mut self, above: Self) {
        let Self { registers, spill, stack, shared } = above;
        self.registers = registers.or(self.registers);
        self.spill = spill.or(self.spill);
        self.stack = stack.or(self.stack);
        self.shared = shared.or(self.shared);
    }
}
