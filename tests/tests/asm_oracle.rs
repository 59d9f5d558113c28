//! NVIDIA's compiler as the judge of asm statements: it refuses a part of a `.cu` data file exactly when there is an
//! error of class `invalid` in it.
//!
//! nvcc is looked for beside `ptxas`; without it, or without a host compiler, the test says that it is skipped. Parts
//! are divided by lines `// ---`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ptx_syntax::{Class, LineIndex, Severity};
use ptx_tests::case::{Case, Disagreement, files};
use ptx_tests::tools::{needed_nvcc, on_all_cores, root};
use ptx_verify::Compiler;

/// A part of a data file.
struct Part {
    path: PathBuf,
    /// The line, from 1, before its first.
    line: u32,
    text: String,
    refused: bool,
    target: String,
    disagreement: Option<Disagreement>,
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn nvcc_agrees_about_every_part() {
    let nvcc = needed_nvcc();
    let parts: Vec<Part> =
        files(&root().join("tests/cases"), "cu").iter().flat_map(|path| parts(path)).collect();
    assert!(parts.len() > 60, "{} parts", parts.len());
    let asked = parts.len();
    let (together, mut alone): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(goes_with_others);
    alone.extend(refused_together(&nvcc, together));
    assert!(alone.len() < asked, "nothing was asked together");
    let failures: Vec<String> =
        on_all_cores(&alone, |part| judge(&nvcc, part)).into_iter().flatten().collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Whether a part can stand in a namespace of a larger text that nvcc should take. It spends most of its time on
/// headers of its own.
fn goes_with_others(part: &Part) -> bool {
    let code = part.text.lines().filter(|line| !line.trim_start().starts_with("//"));
    !part.refused
        && part.disagreement.is_none()
        && code.clone().all(|line| !line.contains(['#', '\\']) && !line.contains("extern"))
}

/// The parts of those texts that nvcc refuses: one by one they tell which of them it does not like.
fn refused_together(nvcc: &Path, parts: Vec<Part>) -> Vec<Part> {
    let mut texts: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for part in parts {
        texts.entry(part.target.clone()).or_default().push(part);
    }
    let mut refused = Vec::new();
    for (target, parts) in texts {
        let text: String = parts
            .iter()
            .enumerate()
            .map(|(number, part)| format!("namespace part_{number} {{\n{}\n}}\n", part.text))
            .collect();
        if !compile(nvcc, &text, &target).status.success() {
            refused.extend(parts);
        }
    }
    refused
}

/// What nvcc makes of a text.
fn compile(nvcc: &Path, text: &str, target: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("part.cu");
    std::fs::write(&file, text).unwrap();
    Command::new(nvcc)
        .args(["-cubin", "-rdc=true", "-w", "-o"])
        .arg(file.with_extension("cubin"))
        .arg(format!("-arch={target}"))
        .arg(&file)
        .output()
        .unwrap()
}

fn parts(path: &Path) -> Vec<Part> {
    let case = Case::read(path).unwrap();
    let config = case.cuda.clone().unwrap_or_default();
    if config.compiler == Compiler::Clang || config.compiler == Compiler::Both {
        return Vec::new();
    }
    let index = LineIndex::new(&case.source);
    let refused: Vec<u32> = case
        .diagnostics()
        .iter()
        .filter(|found| found.class == Class::Invalid && found.severity == Severity::Error)
        .map(|found| index.position(found.span.start).line)
        .collect();
    let target = config.targets.first().map_or("sm_90a".to_owned(), ToString::to_string);
    let mut found = Vec::new();
    let mut line = 0;
    for text in case.source.split_inclusive("// ---\n") {
        let lines = text.lines().count() as u32;
        found.push(Part {
            path: path.to_owned(),
            line,
            text: text.to_owned(),
            refused: refused.iter().any(|at| (line + 1..=line + lines).contains(at)),
            target: target.clone(),
            disagreement: case.disagreement,
        });
        line += lines;
    }
    found
}

/// What is wrong with our verdict on a part, if anything.
fn judge(nvcc: &Path, part: &Part) -> Option<String> {
    if part.disagreement == Some(Disagreement::Unasked) {
        return None;
    }
    let output = compile(nvcc, &part.text, &part.target);
    let refused = !output.status.success();
    let agreed = refused == part.refused;
    let known = match part.disagreement {
        Some(Disagreement::Accepts) => !refused,
        Some(Disagreement::Refuses) => refused,
        Some(Disagreement::Lines | Disagreement::Unasked) | None => false,
    };
    if agreed || known {
        return None;
    }
    let name = part.path.strip_prefix(root()).unwrap_or(&part.path).display();
    let verdict = if refused { "refuses" } else { "accepts" };
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> =
        said.lines().filter(|line| line.contains("error") || line.contains("fatal")).take(3).collect();
    Some(format!("{name}, lines {} and on: nvcc {verdict} it\n  {}", part.line + 1, said.join("\n  ")))
}
