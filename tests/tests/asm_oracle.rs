//! NVIDIA's compiler as the judge of asm statements: it refuses a part of a `.cu` data file exactly when there is an
//! error of class `invalid` in it.
//!
//! nvcc is looked for beside `ptxas`; without it, or without a host compiler, the test says that it is skipped. Parts
//! are divided by lines `// ---`.

use std::path::{Path, PathBuf};
use std::process::Command;

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
    let failures: Vec<String> =
        on_all_cores(&parts, |part| judge(&nvcc, part)).into_iter().flatten().collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
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
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("part.cu");
    std::fs::write(&file, &part.text).unwrap();
    let output = Command::new(nvcc)
        .args(["-cubin", "-rdc=true", "-w", "-o"])
        .arg(file.with_extension("cubin"))
        .arg(format!("-arch={}", part.target))
        .arg(&file)
        .output()
        .unwrap();
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
