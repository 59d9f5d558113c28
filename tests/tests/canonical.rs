//! Canonical texts are the same programs as their originals: the same IR, and the same machine code from NVIDIA's
//! assembler. `same_code` asks the same of whole folders.

use std::path::PathBuf;

use arbtest::arbitrary::Unstructured;
use arbtest::{arbitrary, arbtest};
use ptx_emit::assemble::Ptxas;
use ptx_tests::case::files;
use ptx_tests::same_code::{canonical, machine_code, on_all_cores};
use ptx_tests::tools::{corpus, ptxas, root, skipped};

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
fn kernels_are_formatted_and_their_canonical_texts_are_the_same_programs() {
    let kernels = kernels();
    assert_all(&kernels, |source| {
        let formatted = ptx_emit::format(source).map_err(|error| error.to_string())?;
        if formatted.changed {
            return Err("it is not formatted".to_owned());
        }
        canonical(source).map(drop)
    });
    let Some(ptxas) = ptxas().and_then(|program| Ptxas::at(program).ok()) else {
        return skipped("the machine code of the kernels; tests/install-toolkit.sh installs ptxas");
    };
    assert_all(&kernels, |source| match machine_code(&ptxas, source, &canonical(source)?) {
        Ok(true) => Ok(()),
        Ok(false) => Err("ptxas refuses it".to_owned()),
        Err(what) => Err(what),
    });
}

/// Every `step`th file of the corpus that is not larger than `most` bytes.
fn sample(step: usize, most: u64) -> Option<Vec<PathBuf>> {
    let small = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() <= most);
    Some(files(&corpus()?, "ptx").into_iter().filter(small).step_by(step).collect())
}

#[test]
fn canonical_texts_of_compilers_output_give_the_same_ir() {
    let Some(files) = sample(4, 100_000) else { return skipped("the canonical texts of the corpus") };
    assert_all(&files, |source| match canonical(source) {
        Err(what) if what.starts_with("syntax error:") => Ok(()),
        result => result.map(drop),
    });
}

#[test]
fn canonical_texts_of_compilers_output_give_the_same_machine_code() {
    let Some(files) = sample(20, 40_000) else { return skipped("the machine code of the corpus") };
    let Some(ptxas) = ptxas().and_then(|program| Ptxas::at(program).ok()) else {
        return skipped("the machine code of the corpus; tests/install-toolkit.sh installs ptxas");
    };
    assert_all(&files, |source| match canonical(source) {
        Err(what) if what.starts_with("syntax error:") => Ok(()),
        Ok(text) => machine_code(&ptxas, source, &text).map(drop),
        Err(what) => Err(what),
    });
}

/// A kernel with tokens taken out, doubled, exchanged and moved.
fn damaged(u: &mut Unstructured<'_>, sources: &[String]) -> arbitrary::Result<String> {
    let source = u.choose(sources)?;
    let mut tokens: Vec<&str> =
        ptx_syntax::lexer::tokenize(source).iter().map(|token| token.text(source)).collect();
    for _ in 0..u.int_in_range(0..=6)? {
        let (at, other) = (u.choose_index(tokens.len())?, u.choose_index(tokens.len())?);
        match u.int_in_range(0..=3)? {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(other, tokens[at]),
            2 => tokens.swap(at, other),
            _ => tokens[at] = tokens[other],
        }
    }
    Ok(tokens.concat())
}

/// Whatever the text: no panic; and where nothing is wrong with it, its canonical text is the same program.
#[test]
fn damaged_texts_print_without_panic_and_sound_ones_print_the_same() {
    let sources: Vec<String> = kernels().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    arbtest(|u| {
        let text = damaged(u, &sources)?;
        let parse = ptx_syntax::parse(&text);
        let lowered = ptx_ir::lower::lower(&parse.tree, &text);
        let printed = ptx_emit::canonical(&lowered.module);
        assert!(printed.starts_with(".version"));
        let found = ptx_verify::check(&text, &ptx_verify::Config::default());
        if found.iter().all(|diagnostic| diagnostic.class != ptx_syntax::Class::Invalid) {
            assert_eq!(canonical(&text).map_err(|what| format!("{what}\n{text}")), Ok(printed));
        }
        Ok(())
    })
    .budget_ms(2000);
}
