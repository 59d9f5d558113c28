//! Fixes of asm rules: what is applied removes its finding, and what nvcc took before it takes after.
//! And the pages of these rules: their examples have the fault, and what they say to use instead has not.

use std::collections::HashSet;
use std::fmt::Write;
use std::process::Command;

use ptx_syntax::{Applicability, Class, Diagnostic, Edit, Severity};
use ptx_tests::case::{Case, files};
use ptx_tests::tools::{needed_nvcc, root};
use ptx_verify::{Compiler, Config, CudaConfig, Level, check_cuda};

/// The certain fixes that do not overlap, in order.
fn certain_edits(found: &[Diagnostic]) -> Vec<Edit> {
    edits(found, |applicability| applicability == Applicability::Certain)
}

/// The wanted fixes that do not overlap, in order.
fn edits(found: &[Diagnostic], wanted: impl Fn(Applicability) -> bool) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for fix in found.iter().filter_map(|found| found.fix.as_ref()) {
        let overlaps = |edit: &Edit| {
            edits.iter().any(|other| {
                edit == other || (edit.span.start < other.span.end && other.span.start < edit.span.end)
            })
        };
        if wanted(fix.applicability) && !fix.edits.iter().any(overlaps) {
            edits.extend(fix.edits.iter().cloned());
        }
    }
    edits.sort_by_key(|edit| edit.span);
    edits
}

fn applied(source: &str, edits: &[Edit]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        out.push_str(&source[at..edit.span.start as usize]);
        out.push_str(&edit.replacement);
        at = edit.span.end as usize;
    }
    out + &source[at..]
}

/// The text after all certain fixes, also those that the first round leaves for the next.
fn fixed(source: &str, config: &CudaConfig) -> String {
    let mut text = source.to_owned();
    for _ in 0..10 {
        let edits = certain_edits(&check_cuda(&text, config));
        if edits.is_empty() {
            break;
        }
        text = applied(&text, &edits);
    }
    text
}

#[test]
fn a_fixed_file_has_no_finding_left_that_could_be_fixed() {
    let mut fixes = 0;
    for path in files(&root().join("tests/cases"), "cu") {
        let case = Case::read(&path).unwrap();
        let config = case.cuda.clone().unwrap_or_default();
        let before = case.diagnostics();
        let text = fixed(&case.source, &config);
        let after = check_cuda(&text, &config);
        let count = |found: &[Diagnostic]| {
            found.iter().filter(|found| !certain_edits(std::slice::from_ref(found)).is_empty()).count()
        };
        assert_eq!(count(&after), 0, "{}:\n{text}", path.display());
        // A chain of statements that became volatile is worth knowing, and nothing else is new.
        let new = after.iter().filter(|found| {
            found.severity > Severity::Info && !before.iter().any(|old| old.rule == found.rule)
        });
        assert_eq!(new.count(), 0, "{}: {after:#?}", path.display());
        fixes += count(&before);
    }
    assert!(fixes > 20, "only {fixes} findings have a certain fix");
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

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn nvcc_takes_fixed_files() {
    let nvcc = needed_nvcc();
    let mut fixed = Vec::new();
    let mut rules: HashSet<&str> = HashSet::new();
    for path in files(&root().join("tests/cases"), "cu") {
        let case = Case::read(&path).unwrap();
        let config = case.cuda.clone().unwrap_or_default();
        if config.compiler != Compiler::Nvcc || config.targets.len() > 1 || case.disagreement.is_some() {
            continue;
        }
        let parts = case.source.split("// ---\n").filter_map(|part| {
            let text = healed(part, &config)?;
            let before = check_cuda(part, &config);
            rules.extend(before.iter().filter(|found| found.fix.is_some()).map(|found| found.rule));
            Some((path.clone(), text))
        });
        let target = config.targets.first().map_or("sm_90a".to_owned(), ToString::to_string);
        fixed.extend(parts.map(|(path, text)| (path, text, target.clone())));
    }
    assert!(fixed.len() > 30, "only {} parts can be fixed", fixed.len());
    // Each of them is mended in a file that nvcc takes then.
    for rule in FIXABLE {
        assert!(rules.contains(rule), "no part in which {rule} can be fixed");
    }
    let folder = tempfile::tempdir().unwrap();
    for (path, text, target) in fixed {
        let file = folder.path().join("fixed.cu");
        std::fs::write(&file, &text).unwrap();
        let output = Command::new(&nvcc)
            .args(["-cubin", "-rdc=true", "-w", "-o"])
            .arg(folder.path().join("fixed.cubin"))
            .arg(format!("-arch={target}"))
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}\n{text}", path.display());
    }
}

/// A part after all its fixes, the likely ones too; none where nothing is to be fixed, or where something that nvcc
/// refuses has no fix.
fn healed(part: &str, config: &CudaConfig) -> Option<String> {
    let mut text = part.to_owned();
    for _ in 0..10 {
        let found = check_cuda(&text, config);
        let edits = edits(&found, |_| true);
        if edits.is_empty() {
            let refused =
                found.iter().any(|found| found.class == Class::Invalid && found.severity == Severity::Error);
            return (text != part && !refused).then_some(text);
        }
        text = applied(&text, &edits);
    }
    None
}

/// The code block of language `cuda` behind a heading.
fn block<'d>(doc: &'d str, heading: &str) -> Option<&'d str> {
    let section = doc.split(heading).nth(1)?.split("\n ## ").next()?;
    section.split("```cuda").nth(1)?.split("```").next()
}

#[test]
fn pages_show_what_they_say() {
    let mut report = String::new();
    let mut seen = 0;
    for rule in ptx_verify::rules().filter(|rule| rule.name.starts_with("asm-")) {
        let mut config = Config::default();
        config.levels.set(rule.name, Level::Warn).unwrap();
        let mut config = CudaConfig { levels: config.levels, ..CudaConfig::default() };
        if rule.name == "asm-target-feature" {
            config.targets = vec![ptx_ir::target::Target::parse("sm_80").unwrap()];
        }
        let has = |heading: &str| {
            let text = block(rule.doc, heading).unwrap_or_default();
            check_cuda(text, &config).iter().any(|found| found.rule == rule.name)
        };
        if !has("## Example") {
            writeln!(report, "{}: the example does not have the fault", rule.name).unwrap();
        }
        if block(rule.doc, "## Use instead").is_none() || has("## Use instead") {
            writeln!(report, "{}: what is to be used instead has the fault", rule.name).unwrap();
        }
        seen += 1;
    }
    assert!(report.is_empty() && seen > 20, "{seen} rules\n{report}");
}

/// Whatever stands in a source: no panic, places inside it, fixes that can be applied.
#[test]
fn no_source_makes_it_panic() {
    let seeds: Vec<String> = files(&root().join("tests/cases"), "cu")
        .iter()
        .map(|path| Case::read(path).unwrap().source)
        .collect();
    let property = |u: &mut arbtest::arbitrary::Unstructured<'_>| {
        let mut text = String::new();
        for _ in 0..u.int_in_range(1..=5)? {
            let seed = u.choose(&seeds)?;
            let lines: Vec<&str> = seed.lines().collect();
            let first = u.int_in_range(0..=lines.len() - 1)?;
            for line in lines.iter().skip(first).take(4) {
                let cut = u.int_in_range(0..=line.len())?;
                let odd = u.choose(&[
                    "", "", "", "é", "%", "\u{FFFC}", "{", "}", "\"", "\\", ";", ":", "(", "%%", "asm(",
                ])?;
                match line.get(..cut).zip(line.get(cut..)) {
                    Some((start, end)) => text.extend([start, odd, end, "\n"]),
                    None => text.push_str(line),
                }
            }
        }
        let config =
            CudaConfig { compiler: *u.choose(&[Compiler::Nvcc, Compiler::Both])?, ..CudaConfig::default() };
        for found in check_cuda(&text, &config) {
            assert!(found.span.end as usize <= text.len() && found.span.start <= found.span.end);
            for edit in found.fix.iter().flat_map(|fix| &fix.edits) {
                assert!(text.get(edit.span.range()).is_some(), "{edit:?} in {text:?}");
            }
        }
        Ok(())
    };
    arbtest::arbtest(property).budget_ms(1000);
}
