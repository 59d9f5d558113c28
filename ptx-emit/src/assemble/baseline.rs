//! Remembers what the functions of a set of files cost, and says what changed.
//!
//! A baseline is a JSON file for version control: sorted by nothing but the order of the run, one
//! field a line, no times. Figures are only comparable between equal compilers: one kernel takes 8
//! registers with CUDA 13.0 and 10 with 13.5. So the compiler's version is kept beside the figures,
//! and a comparison across versions carries a note.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::report::{Backend, FunctionUsage, Report};

/// The version of the file format that this code reads and writes.
const FORMAT: u32 = 1;

/// What a set of files cost at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Version of the format.
    format: u32,
    /// One record per file and target.
    pub records: Vec<Record>,
}

/// What one file cost when compiled for one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The file as the user named it.
    pub file: String,
    /// The target it was compiled for.
    pub target: String,
    /// Who compiled.
    pub backend: Backend,
    /// The compiler's version.
    pub backend_version: Option<String>,
    /// The functions in the order of the text.
    pub functions: Vec<FunctionUsage>,
}

/// A file that is no baseline.
#[derive(Debug)]
#[non_exhaustive]
pub enum BaselineError {
    /// Not JSON, or JSON of another shape.
    Malformed(serde_json::Error),
    /// Written by a newer version of this program.
    UnknownFormat(u32),
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(_) => f.write_str("not a baseline"),
            Self::UnknownFormat(format) => {
                write!(f, "the baseline has format {format}, this program reads format {FORMAT}")
            }
        }
    }
}

impl std::error::Error for BaselineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Malformed(error) => Some(error),
            Self::UnknownFormat(_) => None,
        }
    }
}

/// A figure that is watched: less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Figure {
    /// Registers per thread.
    Registers,
    /// Bytes of spill stores.
    SpillStores,
    /// Bytes of spill loads.
    SpillLoads,
    /// Bytes of the stack frame.
    Stack,
    /// Bytes of static shared memory.
    Shared,
}

impl Figure {
    /// All figures, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::Registers, Self::SpillStores, Self::SpillLoads, Self::Stack, Self::Shared];

    /// What the number counts, as in "12 registers".
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::SpillStores => "bytes of spill stores",
            Self::SpillLoads => "bytes of spill loads",
            Self::Stack => "bytes of stack",
            Self::Shared => "bytes of shared memory",
        }
    }

    /// The figure of `function`, where it is known.
    #[must_use]
    pub fn of(self, function: &FunctionUsage) -> Option<u64> {
        match self {
            Self::Registers => function.registers.map(u64::from),
            Self::SpillStores => function.spill_store_bytes,
            Self::SpillLoads => function.spill_load_bytes,
            Self::Stack => function.stack_bytes,
            Self::Shared => function.shared_bytes,
        }
    }
}

/// A figure that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file: String,
    /// The target.
    pub target: String,
    /// The function.
    pub function: String,
    /// What changed.
    pub figure: Figure,
    /// What it was.
    pub before: u64,
    /// What it is.
    pub after: u64,
}

/// A figure that somebody wants judged and that the back end did not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFigure {
    /// The file.
    pub file: String,
    /// The target.
    pub target: String,
    /// Who compiled, such as `ptxas 13.0.88`.
    pub compiler: String,
    /// The function.
    pub function: String,
    /// What is not known.
    pub figure: Figure,
}

impl UnknownFigure {
    pub(super) fn new(report: &Report, function: &FunctionUsage, figure: Figure) -> Self {
        Self {
            file: report.file.clone(),
            target: report.target.clone(),
            compiler: compiler(report.backend, report.backend_version.as_deref()),
            function: function.name.clone(),
            figure,
        }
    }
}

/// Why a comparison says less than it seems to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The figures come from different compilers.
    CompilerDiffers {
        /// Compiler of the baseline, such as `ptxas 13.0.88`.
        before: String,
        /// Compiler of this run.
        after: String,
    },
    /// The baseline has no record of this file.
    NewFile {
        /// The file.
        file: String,
        /// The target.
        target: String,
    },
    /// The baseline has this file, but for other targets.
    OtherTarget {
        /// The file.
        file: String,
        /// The target of this run.
        target: String,
        /// The targets of the baseline.
        known: Vec<String>,
    },
    /// The baseline knows the file but not this function.
    NewFunction {
        /// The file.
        file: String,
        /// The function.
        function: String,
    },
    /// The function is in the baseline and no longer in the file.
    MissingFunction {
        /// The file.
        file: String,
        /// The function.
        function: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CompilerDiffers { before, after } => {
                write!(
                    f,
                    "the baseline was made by {before}, these figures by {after}: a change may be the compiler's"
                )
            }
            Self::NewFile { file, target } => write!(f, "`{file}` for `{target}` is not in the baseline"),
            Self::OtherTarget { file, target, known } => {
                let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
                let known = known.join(", ");
                write!(f, "`{file}` is in the baseline for {known}, not for `{target}`")
            }
            Self::NewFunction { file, function } => {
                write!(f, "`{function}` of `{file}` is not in the baseline")
            }
            Self::MissingFunction { file, function } => {
                write!(f, "`{function}` of `{file}` is in the baseline but not in the file")
            }
        }
    }
}

/// What changed since a baseline, in the order of the reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Figures that grew.
    pub regressions: Vec<Change>,
    /// Figures that shrank.
    pub improvements: Vec<Change>,
    /// Figures that the baseline has and this run does not.
    pub unjudged: Vec<UnknownFigure>,
    /// What to keep in mind.
    pub notes: Vec<Note>,
    /// How many reports were compared with a record.
    pub compared: usize,
    /// File and target of each record that no report belongs to, in the order of the baseline.
    pub unused: Vec<(String, String)>,
}

impl Baseline {
    /// The baseline that these reports make. Refused files have no figures and are left out.
    #[must_use]
    pub fn from_reports<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let accepted = reports.into_iter().filter(|report| report.accepted);
        let records = accepted.map(|report| Record {
            file: report.file.clone(),
            target: report.target.clone(),
            backend: report.backend,
            backend_version: report.backend_version.clone(),
            functions: report.functions.clone(),
        });
        Self { format: FORMAT, records: records.collect() }
    }

    /// Reads the text of a baseline file.
    ///
    /// # Errors
    /// [`BaselineError`] where the text is no baseline, or one of a newer format.
    pub fn from_json(text: &str) -> Result<Self, BaselineError> {
        /// The format is read first, because the rest may have another shape in it.
        #[derive(Deserialize)]
        struct Header {
            format: u32,
        }
        let header: Header = serde_json::from_str(text).map_err(BaselineError::Malformed)?;
        if header.format != FORMAT {
            return Err(BaselineError::UnknownFormat(header.format));
        }
        serde_json::from_str(text).map_err(BaselineError::Malformed)
    }

    /// The text of a baseline file, with a newline at its end.
    ///
    /// # Errors
    /// Whatever [`serde_json`] says; nothing in a baseline is known to make it fail.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// What changed from this baseline to `reports`. Refused files are passed over: that they are
    /// refused is a finding of its own.
    #[must_use]
    pub fn compare<'a>(&self, reports: impl IntoIterator<Item = &'a Report>) -> Comparison {
        let mut comparison = Comparison::default();
        let mut records: HashMap<&str, Vec<&Record>> = HashMap::new();
        for record in &self.records {
            records.entry(&record.file).or_default().push(record);
        }
        let mut seen = HashSet::new();
        for report in reports {
            seen.insert((&*report.file, &*report.target));
            if report.accepted {
                comparison.add_report(records.get(&*report.file).map_or(&[], Vec::as_slice), report);
            }
        }
        let unused = self.records.iter().filter(|record| !seen.contains(&(&*record.file, &*record.target)));
        comparison.unused = unused.map(|record| (record.file.clone(), record.target.clone())).collect();
        comparison
    }
}

impl Comparison {
    /// Compares one report with the record of its target, which is one of those of its file.
    fn add_report(&mut self, records: &[&Record], report: &Report) {
        let (file, target) = (report.file.clone(), report.target.clone());
        // Where there are several of one target, the last counts.
        match records.iter().rev().find(|record| record.target == report.target) {
            Some(record) => self.add(record, report),
            None if records.is_empty() => self.notes.push(Note::NewFile { file, target }),
            None => {
                let known = records.iter().map(|record| record.target.clone()).collect();
                self.notes.push(Note::OtherTarget { file, target, known });
            }
        }
    }

    /// Compares one file with its record.
    fn add(&mut self, record: &Record, report: &Report) {
        self.compared += 1;
        let before = compiler(record.backend, record.backend_version.as_deref());
        let after = compiler(report.backend, report.backend_version.as_deref());
        if before != after {
            let note = Note::CompilerDiffers { before, after };
            // Once is enough for a directory of files.
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let known: HashMap<&str, &FunctionUsage> =
            record.functions.iter().map(|function| (&*function.name, function)).collect();
        for function in &report.functions {
            match known.get(&*function.name) {
                Some(before) => self.add_function(before, function, report),
                None => self
                    .notes
                    .push(Note::NewFunction { file: report.file.clone(), function: function.name.clone() }),
            }
        }
        let present: HashSet<&str> = report.functions.iter().map(|function| &*function.name).collect();
        let missing = |function: &&FunctionUsage| !present.contains(&*function.name);
        self.notes.extend(record.functions.iter().filter(missing).map(|function| Note::MissingFunction {
            file: report.file.clone(),
            function: function.name.clone(),
        }));
    }

    /// Compares the figures of one function; one that the baseline does not know is no change.
    fn add_function(&mut self, before: &FunctionUsage, after: &FunctionUsage, report: &Report) {
        for figure in Figure::ALL {
            let Some(old) = figure.of(before) else { continue };
            let Some(new) = figure.of(after) else {
                self.unjudged.push(UnknownFigure::new(report, after, figure));
                continue;
            };
            let list = match new.cmp(&old) {
                std::cmp::Ordering::Greater => &mut self.regressions,
                std::cmp::Ordering::Less => &mut self.improvements,
                std::cmp::Ordering::Equal => continue,
            };
            list.push(Change {
                file: report.file.clone(),
                target: report.target.clone(),
                function: after.name.clone(),
                figure,
                before: old,
                after: new,
            });
        }
    }
}

/// The compiler as users know it.
fn compiler(backend: Backend, version: Option<&str>) -> String {
    version.map_or_else(|| backend.to_string(), |version| format!("{backend} {version}"))
}
