//! The formatter: layouts as data (`tests/format`), the corpus, and machine code.
//!
//! `BLESS=1 cargo test -p ptx-tests format::` writes the expected layouts anew; read what it wrote.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ptx_emit::assemble::{Options, Ptxas, Source};
use ptx_emit::format::{Layout, Options as FormatOptions, format_with};
use ptx_tests::case::files;
use ptx_tests::machine_code;
use ptx_tests::properties::tokens_cover;
use ptx_tests::tools::{corpus, needed_ptxas, root};

const ALIGNED: FormatOptions = FormatOptions { layout: Layout::Aligned, indent: None, width: 100 };

#[test]
fn layouts() {
    let blessing = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let inputs = files(&root().join("tests/format"), "ptx");
    assert!(!inputs.is_empty(), "there are no texts in tests/format");
    let mut report = String::new();
    let layouts = [("formatted", Layout::Compiler), ("aligned", Layout::Aligned)];
    for (input, (extension, layout)) in inputs.iter().flat_map(|input| layouts.map(|each| (input, each))) {
        let source = std::fs::read_to_string(input).unwrap();
        let formatted = format_with(&source, &FormatOptions { layout, ..FormatOptions::default() })
            .unwrap_or_else(|reason| panic!("{}: {reason}", input.display()));
        let output = input.with_extension(extension);
        if blessing {
            std::fs::write(&output, &formatted.text).unwrap();
        } else if std::fs::read_to_string(&output).ok().as_deref() != Some(&formatted.text) {
            writeln!(report, "{} becomes\n{}", output.display(), formatted.text).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// The kernels of this repository are written as the formatter writes them.
#[test]
fn kernels_are_formatted() {
    for path in files(&root().join("tests/kernels"), "ptx") {
        let source = std::fs::read_to_string(&path).unwrap();
        let formatted = ptx_emit::format(&source).unwrap();
        assert!(!formatted.changed, "{} is not formatted:\n{}", path.display(), formatted.text);
    }
}

/// A file of the corpus, and what ptxas said of it.
struct Real {
    path: PathBuf,
    text: String,
    /// The target it was judged for, where it was accepted.
    accepted: Option<String>,
}

fn real_files(corpus: &Path) -> impl Iterator<Item = Real> {
    let manifest = std::fs::read_to_string(corpus.join("manifest.jsonl")).expect("the corpus has a manifest");
    let corpus = corpus.to_owned();
    let lines: Vec<serde_json::Value> =
        manifest.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    lines.into_iter().map(move |line| {
        let path = corpus.join(line["path"].as_str().expect("a path"));
        let bytes = std::fs::read(&path).expect("the file is there");
        let target = line["arch"].as_str().expect("a target").replace("compute", "sm");
        let accepted = line["accepted"].as_bool().expect("a verdict").then_some(target);
        Real { path, text: String::from_utf8_lossy(&bytes).into_owned(), accepted }
    })
}

/// Every file lexes without gaps; every file that ptxas takes parses without an error and is formatted.
#[test]
fn compilers_output_is_formatted() {
    let (mut count, mut accepted) = (0, 0);
    for file in real_files(corpus()) {
        tokens_cover(&file.text, &ptx_syntax::lexer::tokenize(&file.text));
        count += 1;
        // The contract is checked by `format` itself, so its answer is enough here.
        match ptx_emit::format(&file.text).and_then(|_| format_with(&file.text, &ALIGNED)) {
            Ok(_) => accepted += usize::from(file.accepted.is_some()),
            Err(reason) => assert!(file.accepted.is_none(), "{}: {reason}", file.path.display()),
        }
    }
    assert!(count > 800 && accepted > 800, "{count} files, {accepted} accepted");
}

/// White space means nothing: the machine code of a formatted text is that of the text.
#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn machine_code_stays_the_same() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    let mut programs: Vec<(PathBuf, String, String)> = Vec::new();
    let own = files(&root().join("tests/format"), "ptx")
        .into_iter()
        .chain(files(&root().join("tests/kernels"), "ptx"));
    programs.extend(own.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text, "sm_80".to_owned())
    }));
    let small = real_files(corpus()).filter(|file| file.text.len() < 40_000);
    let sample = small.filter_map(|file| Some((file.path, file.text, file.accepted?)));
    programs.extend(sample.step_by(24));
    let mut compared = 0;
    for (path, text, target) in &programs {
        let before = code(&ptxas, text, target);
        for options in [FormatOptions::default(), ALIGNED] {
            let formatted = format_with(text, &options).unwrap().text;
            let after = code(&ptxas, &formatted, target);
            assert_eq!(before.is_some(), after.is_some(), "{}", path.display());
            let (Some(before), Some(after)) = (&before, after) else { continue };
            let difference = machine_code::difference(before, &after);
            assert_eq!(difference, None, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 8, "only {compared} programs were compared");
}

fn code(ptxas: &Ptxas, text: &str, target: &str) -> Option<Vec<u8>> {
    let source = Source { file: "input.ptx", text: text.as_bytes() };
    let options = Options { target: Some(target.to_owned()), ..Options::default() };
    ptxas.assemble(&source, &options).expect("ptxas starts").cubin
}
