//! Canonical texts are the same programs as their originals: the same IR, and the same machine code from NVIDIA's
//! assembler. `same_code` asks the same of whole folders.

use std::path::PathBuf;

use ptx_emit::assemble::Ptxas;
use ptx_tests::case::files;
use ptx_tests::same_code::{canonical, machine_code};
use ptx_tests::tools::{corpus, needed_ptxas, on_all_cores, root};

fn kernels() -> Vec<PathBuf> {
    let kernels = files(&root().join("tests/kernels"), "ptx");
    assert!(kernels.len() >= 7, "{kernels:?}");
    kernels
}

/// Says for each file what is wrong with it.
fn assert_all(files: &[PathBuf], check: impl Fn(&str) -> Result<(), String> + Sync) {
    let results = on_all_cores(files, |path| {
        let source = std::fs::read(path).map_err(|error| error.to_string())?;
        check(&String::from_utf8_lossy(&source))
    });
    let failures: Vec<String> = files
        .iter()
        .zip(results)
        .filter_map(|(path, result)| Some(format!("{}: {}", path.display(), result.err()?)))
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn kernels_are_formatted_and_their_canonical_texts_give_the_same_ir() {
    let kernels = kernels();
    assert_all(&kernels, |source| {
        let formatted = ptx_emit::format(source).map_err(|error| error.to_string())?;
        if formatted.changed {
            return Err("it is not formatted".to_owned());
        }
        canonical(source).map(drop)
    });
}

#[test]
fn declarations_of_names_that_nobody_can_write_stay() {
    for declared in [".global .b32 x1<3>;", ".global .b32 x1<3>;\n.global .b32 x10;", ".global .b32 x<2>;"] {
        let text = format!(".version 8.6\n.target sm_90\n.address_size 64\n\n{declared}\n");
        assert_eq!(canonical(&text), Ok(text.clone()));
    }
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn canonical_texts_of_kernels_give_the_same_machine_code() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    assert_all(&kernels(), |source| match machine_code(&ptxas, source, &canonical(source)?) {
        Ok(true) => Ok(()),
        Ok(false) => Err("ptxas refuses it".to_owned()),
        Err(what) => Err(what),
    });
}

/// Every `step`th file of the corpus that is not larger than `most` bytes.
fn sample(step: usize, most: u64) -> Vec<PathBuf> {
    let small = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() <= most);
    files(corpus(), "ptx").into_iter().filter(small).step_by(step).collect()
}

#[test]
fn canonical_texts_of_compilers_output_give_the_same_ir() {
    assert_all(&sample(4, 100_000), |source| match canonical(source) {
        Err(what) if what.starts_with("syntax error:") => Ok(()),
        result => result.map(drop),
    });
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn canonical_texts_of_compilers_output_give_the_same_machine_code() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    assert_all(&sample(20, 40_000), |source| match canonical(source) {
        Err(what) if what.starts_with("syntax error:") => Ok(()),
        Ok(text) => machine_code(&ptxas, source, &text).map(drop),
        Err(what) => Err(what),
    });
}
