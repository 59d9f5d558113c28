//! Small modules that vary one thing, judged by NVIDIA's assembler: `tests/modules/*.txt`.
//!
//! A file holds templates. A line `=== 8.6 sm_90 64` begins one and gives its header (the width of addresses may be left
//! out, and `=== raw` has no header); the lines below are its text, in which `«a¦b¦c»` stands for each of the three.
//! All combinations are probes. A line that begins with `##` is a comment. Behind the header may stand how the
//! assembler is known to disagree with every probe of the template, and why: `lines: it names the line behind`.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use ptx_ir::target::{Suffix, Target};
use ptx_syntax::{Class, LineIndex, Severity};
use ptx_verify::Config;

use crate::case::files;
use crate::tools::{Complaint, assemble, root, stopped};

/// A module, and how the assembler is known to disagree about it.
#[derive(Clone, Debug)]
pub struct Probe {
    /// File and line of the template.
    pub origin: String,
    /// The text.
    pub text: String,
    /// `accepts`, `refuses`, `lines`, or `fails` where it crashes or does not end.
    pub known: Option<String>,
}

/// All probes of `tests/modules`, each text once.
#[must_use]
pub fn all() -> Vec<Probe> {
    let mut seen = BTreeSet::new();
    let mut probes = Vec::new();
    for path in files(&root().join("tests/modules"), "txt") {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        probes.extend(read(&name, &text).into_iter().filter(|probe| seen.insert(probe.text.clone())));
    }
    probes
}

/// The probes of one file.
#[must_use]
pub fn read(name: &str, text: &str) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut template: Option<(usize, &str, String)> = None;
    let mut finish = |template: Option<(usize, &str, String)>| {
        let Some((line, head, body)) = template else { return };
        let (head, known) = match head.split_once(':') {
            Some((head, _)) => head.rsplit_once(' ').map_or((head, None), |(head, kind)| (head, Some(kind))),
            None => (head, None),
        };
        for text in expand(&format!("{}{body}", header(head))) {
            let origin = format!("{name}:{line}");
            probes.push(Probe { origin, text, known: known.map(str::to_owned) });
        }
    };
    for (number, line) in text.lines().enumerate() {
        if let Some(head) = line.strip_prefix("===") {
            finish(template.replace((number + 1, head.trim(), String::new())));
        } else if let Some((_, _, body)) = template.as_mut().filter(|_| !line.starts_with("##")) {
            body.push_str(line);
            body.push('\n');
        }
    }
    finish(template);
    probes
}

fn header(head: &str) -> String {
    let mut words = head.split_whitespace();
    match (words.next(), words.next()) {
        (Some(version), Some(target)) => {
            let bits = words.next().unwrap_or("64");
            format!(".version {version}\n.target {target}\n.address_size {bits}\n")
        }
        _ => String::new(),
    }
}

/// All texts that a template stands for.
fn expand(template: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut rest = template;
    while let Some((plain, behind)) = rest.split_once('«') {
        let (choices, after) = behind.split_once('»').unwrap_or((behind, ""));
        texts = texts
            .iter()
            .flat_map(|text| choices.split('¦').map(move |choice| format!("{text}{plain}{choice}")))
            .collect();
        rest = after;
    }
    texts.iter_mut().for_each(|text| text.push_str(rest));
    texts
}

/// How the verdicts on a probe differ; none where they agree.
///
/// # Errors
/// `ptxas` cannot be started.
pub fn disagreement(ptxas: &Path, probe: &Probe) -> io::Result<Option<(&'static str, String)>> {
    let index = LineIndex::new(&probe.text);
    let found = ptx_verify::check(&probe.text, &Config::default());
    let invalid: Vec<_> = found
        .iter()
        .filter(|found| found.class == Class::Invalid && found.severity == Severity::Error)
        .map(|found| (index.position(found.span.start).line, found))
        .collect();
    let ours: BTreeSet<u32> = invalid.iter().map(|(line, _)| *line).collect();
    let mut file = tempfile::Builder::new().suffix(".ptx").tempfile()?;
    file.write_all(probe.text.as_bytes())?;
    let complaints = assemble(ptxas, file.path(), &architecture(&probe.text))?;
    // What it crashes on, or does not end with, tells nothing.
    if complaints.iter().any(|complaint| complaint.failure) {
        return Ok(Some(("fails", complaints.iter().map(told).collect())));
    }
    // Instructions that it has as macros shift its count of lines, so that it names some that there are not.
    let last = probe.text.lines().count() as u32;
    let named = complaints.iter().filter_map(|complaint| complaint.line);
    let theirs: BTreeSet<u32> = named.filter(|line| *line <= last).collect();
    let kind = match (ours.is_empty(), complaints.is_empty()) {
        (true, true) => return Ok(None),
        (false, true) => "accepts",
        (true, false) => "refuses",
        (false, false) if theirs.is_empty() || ours == theirs => return Ok(None),
        (false, false) if stopped(&complaints) && theirs.is_subset(&ours) => return Ok(None),
        (false, false) => "lines",
    };
    let said = invalid.iter().map(|(line, found)| format!("    ours {line}: {}\n", found.message));
    Ok(Some((kind, said.chain(complaints.iter().map(told)).collect())))
}

fn told(complaint: &Complaint) -> String {
    let line = complaint.line.map_or_else(String::new, |line| format!("{line}: "));
    format!("    ptxas {line}{}\n", complaint.message)
}

/// The virtual architecture of the target, for which the assembler only reads.
fn architecture(text: &str) -> String {
    let name = text.split(".target").nth(1).and_then(|rest| rest.split([' ', '\n', ',', ';']).nth(1));
    let target = name.and_then(Target::parse).filter(|target| target.number() >= 75);
    target.map_or_else(
        || "compute_75".to_owned(),
        |target| {
            let suffix = match target.suffix() {
                Suffix::Plain => "",
                Suffix::Family => "f",
                Suffix::Architecture => "a",
            };
            format!("compute_{}{suffix}", target.number())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn templates_stand_for_all_combinations() {
        let text = "prose\n=== 8.6 sm_90\n.«global¦const» .u32 «a¦b»;\n=== raw lines: a reason\n## no\nx\n";
        let probes = read("f.txt", text);
        assert_eq!(probes.len(), 5);
        assert_eq!(probes[1].text, ".version 8.6\n.target sm_90\n.address_size 64\n.global .u32 b;\n");
        assert_eq!((probes[4].text.as_str(), probes[4].known.as_deref()), ("x\n", Some("lines")));
        assert_eq!(probes[4].origin, "f.txt:4");
    }
}
