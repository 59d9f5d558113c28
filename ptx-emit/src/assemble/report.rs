//! What a back end says about one file. The JSON of `ptx-cli report --message-format json` is this
//! type, field for field; a figure that the back end does not tell is `null`.

use std::fmt;

use ptx_ir::occupancy::{BlockUsage, occupancy, saving};
use ptx_ir::target::Target;
use serde::{Deserialize, Serialize};

/// Who assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The CUDA driver's just-in-time compiler, on the GPU of this machine.
    Driver,
    /// NVIDIA's `ptxas` program.
    Ptxas,
    /// NVIDIA's PTX compiler library.
    Library,
    /// NVIDIA's compiler of CUDA C++, where it refuses a source, so that there is no PTX to assemble.
    Nvcc,
}

impl Backend {
    /// The name used on the command line and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Ptxas => "ptxas",
            Self::Library => "library",
            Self::Nvcc => "nvcc",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How loud a line of the back end's log is. The order is from quiet to loud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogSeverity {
    /// Statistics and advice; also every line that has no severity of its own.
    Info,
    /// The program assembles, with a doubt.
    Warning,
    /// The program is refused.
    Error,
    /// The program is refused and the assembler stopped here.
    Fatal,
}

impl LogSeverity {
    /// The name used in JSON and in the log itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// Whether a line of this severity means that the program is refused.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::Error | Self::Fatal)
    }
}

/// One message of the log. The assemblers tell lines, never columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// How loud.
    pub severity: LogSeverity,
    /// Line of the PTX text, or of the source that nvcc refuses, from 1; `None` where the message is about the whole file.
    pub line: Option<u32>,
    /// The message in the assembler's words.
    pub message: String,
}

impl LogLine {
    /// Whether the message only says that there were others.
    #[must_use]
    pub fn is_closing_line(&self) -> bool {
        self.message == "Ptx assembly aborted due to errors"
    }
}

/// Whether the host or other device code starts a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FunctionKind {
    /// A kernel: `.entry`.
    Entry,
    /// A device function: `.func`.
    Func,
}

impl FunctionKind {
    /// The name used in JSON and, with a dot before it, in PTX.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Func => "func",
        }
    }
}

/// What one function costs. All sizes are bytes per thread, except `shared_bytes` (per block) and
/// `const_bytes` (per module bank).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionUsage {
    /// Name as in the PTX text.
    pub name: String,
    /// Name as C++ or Rust writes it, where it is mangled. No back end tells it: who shows the report adds it.
    #[serde(default)]
    pub demangled: Option<String>,
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// 32-bit registers per thread. A device function of a whole program has none of its own: it is
    /// compiled into its kernels.
    pub registers: Option<u32>,
    /// Hardware barriers.
    pub barriers: Option<u32>,
    /// Stack frame of the function itself, without its callees.
    pub stack_bytes: Option<u64>,
    /// Bytes stored because registers ran out.
    pub spill_store_bytes: Option<u64>,
    /// Bytes loaded back.
    pub spill_load_bytes: Option<u64>,
    /// Statically allocated shared memory.
    pub shared_bytes: Option<u64>,
    /// Constant memory. `ptxas` counts all banks, the parameters among them, and tells nothing from
    /// `sm_90` up; the driver counts user-allocated constants only.
    pub const_bytes: Option<u64>,
    /// Local memory, which holds the stack and the spilled registers.
    pub local_bytes: Option<u64>,
    /// The largest block that the function can be launched with.
    pub max_threads: Option<u32>,
    /// Bytes of machine code, with what fills up its end.
    #[serde(default)]
    pub code_bytes: Option<u64>,
    /// Machine instructions, without those that do nothing and fill up the end of the code.
    #[serde(default)]
    pub instructions: Option<u64>,
    /// How many blocks a multiprocessor has room for. This and what follows is computed by [`Report::add_occupancy`].
    #[serde(default)]
    pub blocks_per_sm: Option<u32>,
    /// The warps of these blocks.
    #[serde(default)]
    pub warps: Option<u32>,
    /// What there is not more of: `warps`, `blocks`, `registers` or `shared`.
    #[serde(default)]
    pub limit: Option<String>,
    /// How much less of the limit would let one more block in: registers of each thread, or bytes of shared memory of each
    /// block.
    #[serde(default)]
    pub saving: Option<u32>,
}

impl FunctionUsage {
    /// A function about which nothing is known yet.
    #[must_use]
    pub fn unknown(name: impl Into<String>, kind: FunctionKind) -> Self {
        Self {
            name: name.into(),
            demangled: None,
            kind,
            registers: None,
            barriers: None,
            stack_bytes: None,
            spill_store_bytes: None,
            spill_load_bytes: None,
            shared_bytes: None,
            const_bytes: None,
            local_bytes: None,
            max_threads: None,
            code_bytes: None,
            instructions: None,
            blocks_per_sm: None,
            warps: None,
            limit: None,
            saving: None,
        }
    }
}

/// What a back end says about one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The file as the user named it.
    pub file: String,
    /// Who assembled.
    pub backend: Backend,
    /// The compiler's version. Figures of different versions differ for the same program, so it
    /// belongs beside every count.
    pub backend_version: Option<String>,
    /// The target that was compiled for, such as `sm_90a`.
    pub target: String,
    /// Whether the program assembles.
    pub accepted: bool,
    /// Wall time of the compilation: the only part of a report that differs between equal runs,
    /// together with the compile times that the log itself may state.
    pub seconds: f64,
    /// The whole log, in the assembler's order.
    pub log: Vec<LogLine>,
    /// The functions in the order of the PTX text. Empty where the program is refused.
    pub functions: Vec<FunctionUsage>,
}

impl Report {
    /// Computes how many blocks of its kernels a multiprocessor has room for: of blocks of `threads` threads, which are
    /// asked for by the kernel's name, with `dynamic` bytes of shared memory besides their own.
    pub fn add_occupancy(&mut self, threads: impl Fn(&str) -> Option<u32>, dynamic: u32) {
        let Some(target) = Target::parse(&self.target) else { return };
        for function in self.functions.iter_mut().filter(|function| function.kind == FunctionKind::Entry) {
            let (Some(threads), Some(registers), Some(shared)) =
                (threads(&function.name), function.registers, function.shared_bytes)
            else {
                continue;
            };
            let fixed = u32::try_from(shared).unwrap_or(u32::MAX);
            let block = BlockUsage { threads, registers, shared_memory: fixed.saturating_add(dynamic) };
            let Some(found) = occupancy(target, block) else { continue };
            function.blocks_per_sm = Some(found.blocks);
            function.warps = Some(found.warps);
            function.limit = Some(found.limit.as_str().to_owned());
            function.saving = saving(target, block).map(|(_, fewer)| fewer);
        }
    }

    /// The messages that say why the program is refused, without the assembler's closing line.
    pub fn refusals(&self) -> impl Iterator<Item = &LogLine> {
        self.log.iter().filter(|line| line.severity.is_refusal() && !line.is_closing_line())
    }
}
