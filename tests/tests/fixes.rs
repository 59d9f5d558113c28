//! What holds for every fix of every rule, shown on all data files: with comments planted beside all that a fix
//! changes, each fix by itself, and all together.
//!
//! * The comments are there afterwards, in their order.
//! * No modifier of the memory model is gone from a line.
//! * A text that was not refused has no finding more, of any rule.
//! * What NVIDIA's assembler or compiler took before, it takes after.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptx_ir::target::Target;
use ptx_syntax::{Class, Diagnostic, Severity};
use ptx_tests::case::{Case, files};
use ptx_tests::tools::{assemble, needed_nvcc, needed_ptxas, on_all_cores, root, stopped};
use ptx_verify::fix::{self, Fixed, Language};
use ptx_verify::{Compiler, check, check_cuda};

/// A text in which something is to be fixed.
struct Subject {
    case: Case,
    /// Where it is from.
    name: String,
    text: String,
}

impl Subject {
    fn language(&self) -> Language {
        if self.case.cuda.is_some() { Language::Cuda } else { Language::Ptx }
    }

    fn found(&self, text: &str) -> Vec<Diagnostic> {
        match &self.case.cuda {
            Some(cuda) => check_cuda(text, cuda),
            None => check(text, &self.case.config),
        }
    }

    fn fixed(&self, text: &str) -> Fixed {
        fix::fix(text, self.language(), true, |text| self.found(text))
    }

    /// The text with one of its fixes, as the fixer applies it.
    fn fixed_once(&self, text: &str, found: &[Diagnostic], index: usize) -> Fixed {
        let mut first = true;
        fix::fix(text, self.language(), true, |text| {
            let mut all = if first { found.to_vec() } else { self.found(text) };
            for (at, found) in all.iter_mut().enumerate() {
                if !first || at != index {
                    found.fix = None;
                }
            }
            first = false;
            all
        })
    }
}

/// The data files, CUDA sources cut into their parts, in which something can be fixed.
fn subjects() -> Vec<Subject> {
    let folder = root().join("tests/cases");
    let mut subjects = Vec::new();
    for path in files(&folder, "ptx").into_iter().chain(files(&folder, "cu")) {
        let case = Case::read(&path).unwrap();
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        let parts: Vec<String> = match case.cuda {
            Some(_) => case.source.split("// ---\n").map(str::to_owned).collect(),
            None => vec![case.source.clone()],
        };
        for (number, text) in parts.into_iter().enumerate() {
            let subject = Subject { case: case.clone(), name: format!("{name} ({number})"), text };
            if subject.found(&subject.text).iter().any(|found| found.fix.is_some()) {
                subjects.push(subject);
            }
        }
    }
    assert!(subjects.len() > 60, "only {} texts can be fixed", subjects.len());
    subjects
}

/// Whether a text is refused.
fn is_refused(found: &[Diagnostic]) -> bool {
    found.iter().any(|found| found.class == Class::Invalid && found.severity == Severity::Error)
}

/// The places around and in what a fix changes where a comment could be, as offsets.
fn boundaries(text: &str, found: &Diagnostic) -> Vec<usize> {
    let edits = found.fix.iter().flat_map(|fix| &fix.edits);
    let mut places = BTreeSet::new();
    for span in edits.map(|edit| edit.span).chain([found.span]) {
        let bytes = text.as_bytes();
        let from = (span.start as usize).saturating_sub(12);
        let to = (span.end as usize + 12).min(bytes.len().saturating_sub(1));
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.$%:\\".contains(&byte) || byte >= 0x80;
        for at in from.max(1)..=to {
            let (before, after) = (bytes[at - 1], bytes[at]);
            let apart = !is_word(before) || !is_word(after);
            // Not into a comment's delimiter, nor after what escapes.
            let cuts = b"/*".contains(&before) || b"/*".contains(&after) || before == b'\\';
            if apart && !cuts && text.is_char_boundary(at) && !is_in_constraint(text, at) {
                places.insert(at);
            }
        }
    }
    places.into_iter().collect()
}

/// Whether a place is within a short string, as constraints are: a comment would be part of it.
fn is_in_constraint(text: &str, at: usize) -> bool {
    let quote = |part: &str| part.len() < 8 && !part.contains(char::is_whitespace);
    let before = text[..at].rfind('"').map(|quote| &text[quote + 1..at]);
    let after = text[at..].find('"').map(|quote| &text[at..at + quote]);
    before.zip(after).is_some_and(|(before, after)| quote(before) && quote(after))
}

/// The text with a comment at each place, each of them another one.
fn planted(text: &str, places: &BTreeSet<usize>) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (number, &place) in places.iter().enumerate() {
        out.push_str(&text[at..place]);
        write!(out, "/*kept{number}.*/").unwrap();
        at = place;
    }
    out + &text[at..]
}

/// The numbers of the planted comments, in their order.
fn kept(text: &str) -> Vec<&str> {
    let starts = text.match_indices("/*kept").map(|(at, marker)| at + marker.len());
    starts.map(|start| text[start..].split("*/").next().unwrap_or_default()).collect()
}

/// The text with comments at the first, the second, … place of each fix, and at all of them.
fn plantings(text: &str, found: &[Diagnostic]) -> Vec<String> {
    let fixable = found.iter().filter(|found| found.fix.is_some());
    let places: Vec<Vec<usize>> = fixable.map(|found| boundaries(text, found)).collect();
    let most = places.iter().map(Vec::len).max().unwrap_or_default();
    let mut sets: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
    for number in 0..most {
        sets.insert(places.iter().filter_map(|places| places.get(number).copied()).collect());
    }
    sets.insert(places.into_iter().flatten().collect());
    sets.iter().map(|places| planted(text, places)).collect()
}

/// The words of the memory model; a fix may take none of them from a text.
const MEMORY_MODEL: [&str; 12] = [
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".acq_rel",
    ".sc",
    ".weak",
    ".mmio",
    ".cta",
    ".cluster",
    ".gpu",
    ".sys",
];

/// For each line, the words of the memory model, without repetition.
fn orders(text: &str) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let words: BTreeSet<&str> = line
            .split(|each: char| !each.is_ascii_alphanumeric() && !"._:".contains(each))
            .flat_map(|word| word.match_indices('.').map(|(at, _)| &word[at..]))
            .map(|rest| &rest[..rest[1..].find('.').map_or(rest.len(), |at| at + 1)])
            .collect();
        for word in MEMORY_MODEL.iter().filter(|word| words.contains(**word)) {
            *counts.entry(*word).or_default() += 1;
        }
    }
    counts
}

/// What is wrong with `after`, made of `before` by fixes.
fn damage(before: &str, after: &str) -> Option<String> {
    if kept(before) != kept(after) {
        return Some(format!("comments {:?} became {:?}", kept(before), kept(after)));
    }
    let (old, new) = (orders(before), orders(after));
    let lost = old.iter().find(|(word, count)| new.get(*word).unwrap_or(&0) < count);
    lost.map(|(word, _)| format!("`{word}` is gone"))
}

/// The findings of each rule that there are more of.
fn more(before: &[Diagnostic], after: &[Diagnostic]) -> Vec<String> {
    let mut room: HashMap<&str, i64> = HashMap::new();
    before.iter().for_each(|found| *room.entry(found.code).or_default() += 1);
    after.iter().for_each(|found| *room.entry(found.code).or_default() -= 1);
    let new = after.iter().filter(|found| room[found.code] < 0);
    new.map(|found| format!("{}: {}", found.rule, found.message)).collect()
}

/// Calls `work` on every subject, on all cores, and gives what it has to complain of.
fn complaints(subjects: &[Subject], work: impl Fn(&Subject) -> Vec<String> + Sync) -> String {
    let said = on_all_cores(subjects, work);
    let lines = subjects.iter().zip(said).flat_map(|(subject, said)| {
        said.into_iter().map(|complaint| format!("{}: {complaint}\n", subject.name))
    });
    lines.collect()
}

#[test]
fn no_fix_takes_a_comment_or_an_order_away() {
    let subjects = subjects();
    let fixes = AtomicUsize::new(0);
    let said = complaints(&subjects, |subject| {
        let mut said = Vec::new();
        for text in plantings(&subject.text, &subject.found(&subject.text)) {
            for found in subject.found(&text) {
                let Some(fix) = &found.fix else { continue };
                fixes.fetch_add(1, Ordering::Relaxed);
                if let Some(damage) = damage(&text, &fix::apply(&text, &fix.edits)) {
                    said.push(format!("{}: {damage}: {}", found.rule, found.message));
                }
            }
            if let Some(damage) = damage(&text, &subject.fixed(&text).text) {
                said.push(format!("all fixes: {damage}"));
            }
        }
        said
    });
    assert!(said.is_empty(), "\n{said}");
    let fixes = fixes.into_inner();
    assert!(fixes > 2000, "{fixes}");
}

#[test]
fn a_fixed_text_has_no_new_finding() {
    let subjects = subjects();
    let applied = AtomicUsize::new(0);
    let said = complaints(&subjects, |subject| {
        let before = subject.found(&subject.text);
        let mut said = Vec::new();
        let judge = |what: &str, fixed: &Fixed, said: &mut Vec<String>| {
            applied.fetch_add(fixed.count, Ordering::Relaxed);
            if !is_refused(&before) {
                said.extend(more(&before, &fixed.diagnostics).iter().map(|new| format!("{what}: {new}")));
            } else if fixed
                .diagnostics
                .iter()
                .filter(|found| is_refused(std::slice::from_ref(*found)))
                .count()
                > before.iter().filter(|found| is_refused(std::slice::from_ref(*found))).count()
            {
                said.push(format!("{what}: more errors"));
            }
        };
        let all = subject.fixed(&subject.text);
        judge("all fixes", &all, &mut said);
        let left = all.diagnostics.iter().filter(|found| found.fix.is_some()).count();
        if left > all.refused.len() {
            said.push("all fixes: not all were tried".to_owned());
        }
        for index in (0..before.len()).filter(|&index| before[index].fix.is_some()) {
            judge(before[index].rule, &subject.fixed_once(&subject.text, &before, index), &mut said);
        }
        said
    });
    assert!(said.is_empty(), "\n{said}");
    let applied = applied.into_inner();
    assert!(applied > 300, "{applied}");
}

/// Fixes that are refused, for what the rules offer should be good: of modifiers that are out of order one does nothing,
/// which is told, and fixed, when the order is right.
const REFUSED: [(&str, &str); 1] = [("ineffective-modifier/ftz.ptx (0)", "noncanonical-order")];

#[test]
fn every_fix_is_good_enough_to_be_applied() {
    let subjects = subjects();
    let said = complaints(&subjects, |subject| {
        let before = subject.found(&subject.text);
        let mut said = Vec::new();
        for index in (0..before.len()).filter(|&index| before[index].fix.is_some()) {
            let fixed = subject.fixed_once(&subject.text, &before, index);
            let known = REFUSED.contains(&(&subject.name, before[index].rule));
            for (_, refusal) in fixed.refused.iter().filter(|_| !known) {
                said.push(format!("{}: {}: {refusal}", before[index].rule, before[index].message));
            }
        }
        said
    });
    assert!(said.is_empty(), "\n{said}");
}

/// The distinct texts that fixes make of a subject: each fix alone, all together, and together among comments.
fn fixed_texts(subject: &Subject) -> Vec<(String, String)> {
    let found = subject.found(&subject.text);
    let mut texts = BTreeMap::new();
    for index in (0..found.len()).filter(|&index| found[index].fix.is_some()) {
        let fixed = subject.fixed_once(&subject.text, &found, index);
        texts.entry(fixed.text).or_insert_with(|| found[index].rule.to_owned());
    }
    texts.entry(subject.fixed(&subject.text).text).or_insert_with(|| "all fixes".to_owned());
    texts.remove(&subject.text);
    texts.into_iter().map(|(text, what)| (what, text)).collect()
}

/// What is assembled for: the target asked for, else that of the text where the assembler still makes code for it.
fn architecture(subject: &Subject) -> String {
    let parse = ptx_syntax::parse(&subject.text);
    let module = ptx_ir::lower::lower(&parse.tree, &subject.text).module;
    let target = subject.case.config.target.unwrap_or(module.header.target);
    let oldest = Target::parse("sm_75").unwrap_or(target);
    if target.number() < oldest.number() { oldest.to_string() } else { target.to_string() }
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_takes_after_fixes_what_it_took_before() {
    let ptxas = needed_ptxas();
    let subjects: Vec<Subject> =
        subjects().into_iter().filter(|subject| subject.case.cuda.is_none()).collect();
    let folder = tempfile::tempdir().unwrap();
    let number = AtomicUsize::new(0);
    let runs = AtomicUsize::new(0);
    // Whether a text is taken, the lines that are complained of, and whether there could be more of them.
    let lines = |text: &str, target: &str| -> (bool, BTreeSet<u32>, bool) {
        let file = folder.path().join(format!("{}.ptx", number.fetch_add(1, Ordering::Relaxed)));
        std::fs::write(&file, text).unwrap();
        let said = assemble(ptxas, &file, target).unwrap();
        runs.fetch_add(1, Ordering::Relaxed);
        let lines = said.iter().filter_map(|complaint| complaint.line).collect();
        (said.is_empty(), lines, stopped(&said))
    };
    let said = complaints(&subjects, |subject| {
        let target = architecture(subject);
        let original = lines(&subject.text, &target);
        let mut said = Vec::new();
        let mut judge = |what: &str, text: &str, (taken, before, more): &(bool, BTreeSet<u32>, bool)| {
            let (takes, after, _) = lines(text, &target);
            let moved = text.lines().count() != subject.text.lines().count();
            if *taken && !takes {
                said.push(format!("{what}: refused after the fix, on lines {after:?}"));
            } else if !moved && !more && !after.is_subset(before) {
                said.push(format!("{what}: complaints {before:?} became {after:?}"));
            }
        };
        for (what, text) in fixed_texts(subject) {
            judge(&what, &text, &original);
        }
        if let Some(text) = plantings(&subject.text, &subject.found(&subject.text)).pop() {
            let before = lines(&text, &target);
            judge("all fixes among comments", &subject.fixed(&text).text, &before);
        }
        said
    });
    assert!(said.is_empty(), "\n{said}");
    let runs = runs.into_inner();
    assert!(runs > 200, "{runs}");
}

/// One translation unit of many texts: each in a namespace of its own, with what the preprocessor was told taken back.
fn joined(texts: &[&(String, String)]) -> String {
    let mut includes = BTreeSet::new();
    let mut body = String::new();
    for (number, (_, text)) in texts.iter().enumerate() {
        writeln!(body, "namespace part{number} {{").unwrap();
        let mut macros = BTreeSet::new();
        for line in text.lines() {
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
            match directive.and_then(|directive| directive.split_once(char::is_whitespace)) {
                Some(("include", _)) => {
                    includes.insert(line.to_owned());
                    continue;
                }
                Some(("define", rest)) => {
                    let is_part = |each: char| each.is_alphanumeric() || each == '_';
                    macros.insert(
                        rest.trim_start().split(|each| !is_part(each)).next().unwrap_or_default().to_owned(),
                    );
                }
                _ => {}
            }
            body.push_str(line);
            body.push('\n');
        }
        body.push_str("}\n");
        for name in macros {
            writeln!(body, "#undef {name}").unwrap();
        }
    }
    includes.into_iter().collect::<Vec<_>>().join("\n") + "\n" + &body
}

/// The rules for asm that have fixes.
const FIXABLE: [&str; 11] = [
    "asm-carry-across-statements",
    "asm-constraint",
    "asm-label-outside-scope",
    "asm-missing-comma",
    "asm-missing-early-clobber",
    "asm-missing-separator",
    "asm-output-conditionally-written",
    "asm-output-read-before-write",
    "asm-percent-escape",
    "asm-register-outside-scope",
    "asm-side-effect-not-volatile",
];

struct Nvcc {
    program: PathBuf,
    folder: tempfile::TempDir,
    number: AtomicUsize,
}

impl Nvcc {
    /// What it has to say of a text that it refuses.
    fn refusal(&self, text: &str, target: &str) -> Option<String> {
        let stem = format!("k{}", self.number.fetch_add(1, Ordering::Relaxed));
        let file = |extension: &str| self.folder.path().join(&stem).with_extension(extension);
        std::fs::write(file("cu"), text).unwrap();
        let mut command = Command::new(&self.program);
        command.args(["-cubin", "-rdc=true", "-w", "-o"]).arg(file("cubin"));
        let output = command.arg(format!("-arch={target}")).arg(file("cu")).output().unwrap();
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Those of some texts that are refused. Nearly always it takes them all, in one run; else it is asked about halves.
    fn refused<'t>(&self, texts: &[&'t (String, String)], target: &str) -> Vec<(&'t str, &'t str, String)> {
        let mut groups = vec![texts.to_vec()];
        let mut refused = Vec::new();
        while let Some(group) = groups.pop().filter(|group| !group.is_empty()) {
            // One text is shown as it is.
            let single = (group.len() == 1).then(|| group[0].1.clone());
            let Some(said) = self.refusal(&single.unwrap_or_else(|| joined(&group)), target) else {
                continue;
            };
            match group.as_slice() {
                [(what, text)] => refused.push((what.as_str(), text.as_str(), said)),
                _ => {
                    let (first, second) = group.split_at(group.len() / 2);
                    groups.extend([second.to_vec(), first.to_vec()]);
                }
            }
        }
        refused
    }
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn nvcc_takes_fixed_texts() {
    let nvcc =
        Nvcc { program: needed_nvcc(), folder: tempfile::tempdir().unwrap(), number: AtomicUsize::new(0) };
    let mut by_target: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut originals: HashMap<String, String> = HashMap::new();
    let (mut is_mended, mut rules) = (BTreeSet::new(), BTreeSet::new());
    for subject in subjects() {
        let Some(cuda) = &subject.case.cuda else { continue };
        let ordinary = cuda.compiler == Compiler::Nvcc && cuda.targets.len() < 2;
        if !ordinary || subject.case.disagreement.is_some() {
            continue;
        }
        let refused = is_refused(&subject.found(&subject.text));
        let target = cuda.targets.first().map_or("sm_90a".to_owned(), ToString::to_string);
        for (what, text) in fixed_texts(&subject) {
            // What was refused is to be taken where all that was wrong with it is fixed.
            if refused && is_refused(&subject.found(&text)) {
                continue;
            }
            rules.extend(
                subject
                    .found(&subject.text)
                    .iter()
                    .filter(|found| found.fix.is_some())
                    .map(|found| found.rule),
            );
            let what = format!("{}: {what}", subject.name);
            originals.insert(what.clone(), subject.text.clone());
            if refused {
                is_mended.insert(what.clone());
            }
            by_target.entry(target.clone()).or_default().push((what, text));
        }
    }
    let count: usize = by_target.values().map(Vec::len).sum();
    assert!(count > 50, "only {count} texts were fixed");
    let missing: Vec<&str> = FIXABLE.into_iter().filter(|rule| !rules.contains(rule)).collect();
    assert!(missing.is_empty(), "no text in which {missing:?} can be fixed");
    let mut report = String::new();
    for (target, texts) in &by_target {
        for (what, text, said) in nvcc.refused(&texts.iter().collect::<Vec<_>>(), target) {
            let mended = is_mended.contains(what);
            if mended || nvcc.refusal(&originals[what], target).is_none() {
                writeln!(report, "{what}: {said}\n{text}").unwrap();
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}
