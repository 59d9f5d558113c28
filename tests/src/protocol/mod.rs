//! Kernels that run, whose threads, copies and matrix operations keep a protocol, and the same kernels with one fault.
//!
//! Each family is a function that writes a kernel line by line. Where something may be wrong it asks `Writer::plant`,
//! and writes the faulty lines if that is the fault that is wanted. So the clean twin of each kernel is the one without a
//! fault, and the line of the fault is known.

mod blocks;
mod flags;
mod rings;
mod stores;

use std::fmt::Write as _;

/// A kernel.
#[derive(Clone, Debug)]
pub struct Planted {
    /// Its family with its parameters: `ring 3 stages, 2 consumers`.
    pub family: String,
    /// What is wrong; none in a clean twin.
    pub fault: Option<&'static str>,
    /// The module.
    pub text: String,
    /// The line of the fault, from 1.
    pub line: u32,
    /// The threads of a block.
    pub threads: u32,
    /// The blocks of a cluster, and of the grid.
    pub blocks: u32,
}

/// Writes a kernel.
pub(crate) struct Writer {
    wanted: Option<&'static str>,
    names: Vec<&'static str>,
    lines: Vec<String>,
    line: u32,
    threads: u32,
    blocks: u32,
    target: &'static str,
}

impl Writer {
    fn new(wanted: Option<&'static str>, threads: u32, blocks: u32) -> Self {
        Self { wanted, names: Vec::new(), lines: Vec::new(), line: 0, threads, blocks, target: "sm_90a" }
    }

    /// Whether to write the faulty lines that come now.
    pub(crate) fn plant(&mut self, name: &'static str) -> bool {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
        let is_wanted = self.wanted == Some(name);
        if is_wanted {
            self.line = self.lines.len() as u32 + 1;
        }
        is_wanted
    }

    /// Writes for another target.
    pub(crate) fn target(&mut self, target: &'static str) {
        self.target = target;
    }

    /// Writes lines.
    pub(crate) fn put(&mut self, text: &str) {
        self.lines.extend(text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_owned));
    }

    /// Writes the start of a kernel of three parameters: an input, an output and a number of tiles. `%rd1` and `%rd2` are
    /// the pointers, `%r1` the number, `%r2` the thread, `%r3` its warp, `%r4` its lane.
    pub(crate) fn begin(&mut self, variables: &str) {
        let cluster =
            if self.blocks > 1 { format!(".reqnctapercluster {}\n", self.blocks) } else { String::new() };
        let (threads, target) = (self.threads, self.target);
        self.put(&format!(
            ".version 8.6\n.target {target}\n.address_size 64\n.visible .entry kernel(\n    .param .u64 input,\n    \
             .param .u64 output,\n    .param .u32 count\n)\n.reqntid {threads}\n{cluster}{{\n    .reg .pred %p<16>;\n    \
             .reg .b32 %r<64>;\n    .reg .b64 %rd<32>;\n    .reg .f32 %f<128>;\n{variables}\n    ld.param.u64 %rd1, [input];\n    \
             cvta.to.global.u64 %rd1, %rd1;\n    ld.param.u64 %rd2, [output];\n    cvta.to.global.u64 %rd2, %rd2;\n    \
             ld.param.u32 %r1, [count];\n    mov.u32 %r2, %tid.x;\n    shr.u32 %r3, %r2, 5;\n    and.b32 %r4, %r2, 31;"
        ));
    }

    fn end(mut self, family: &str) -> (Planted, Vec<&'static str>) {
        self.put("    ret;\n}");
        let mut text = String::new();
        for line in &self.lines {
            writeln!(text, "{line}").unwrap();
        }
        let planted = Planted {
            family: family.to_owned(),
            fault: self.wanted,
            text,
            line: self.line,
            threads: self.threads,
            blocks: self.blocks,
        };
        (planted, self.names)
    }
}

/// A family: its name, the threads of a block, the blocks of a cluster, and what writes it.
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) threads: u32,
    pub(crate) blocks: u32,
    pub(crate) write: Box<dyn Fn(&mut Writer)>,
}

/// The clean kernels and those with one fault each.
#[must_use]
pub fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    for family in rings::families()
        .into_iter()
        .chain(stores::families())
        .chain(blocks::families())
        .chain(flags::families())
    {
        let write = |fault| {
            let mut writer = Writer::new(fault, family.threads, family.blocks);
            (family.write)(&mut writer);
            writer.end(&family.name)
        };
        let (clean, names) = write(None);
        all.push(clean);
        all.extend(names.into_iter().map(|name| write(Some(name)).0));
    }
    all
}

/// What the rules say of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Silent,
    /// A finding that names a place within three lines of the fault.
    Found,
    /// Findings at other lines only, as rule and line.
    Elsewhere(Vec<(String, u32)>),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Silent => write!(f, "silent"),
            Self::Found => write!(f, "found"),
            Self::Elsewhere(findings) => {
                let findings: Vec<String> =
                    findings.iter().map(|(rule, line)| format!("{rule} at {line}")).collect();
                write!(f, "{}", findings.join(", "))
            }
        }
    }
}

impl Planted {
    /// Its family and what is wrong.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}: {}", self.family, self.fault.unwrap_or("clean"))
    }
}

/// How far a finding may be from its fault, in lines.
const NEAR: u32 = 3;

/// What the rules say of a kernel. Findings of style count as nothing.
#[must_use]
pub fn verdict(kernel: &Planted) -> Verdict {
    let config = ptx_verify::Config::default();
    let findings = ptx_verify::check(&kernel.text, &config);
    let line_of = |offset: u32| 1 + kernel.text[..offset as usize].matches('\n').count() as u32;
    let counted = findings.iter().filter(|finding| finding.class != ptx_syntax::Class::Style);
    let all: Vec<(String, u32)> =
        counted.clone().map(|finding| (finding.rule.to_owned(), line_of(finding.span.start))).collect();
    let places = counted.flat_map(|finding| {
        std::iter::once(finding.span).chain(finding.labels.iter().map(|label| label.span))
    });
    let is_near = places.into_iter().any(|span| line_of(span.start).abs_diff(kernel.line) <= NEAR);
    match () {
        () if all.is_empty() => Verdict::Silent,
        () if kernel.fault.is_some() && is_near => Verdict::Found,
        () => Verdict::Elsewhere(all),
    }
}
