//! The pages of asm rules: their examples have the fault, and what they say to use instead has not. And what holds
//! for every CUDA source.

use std::fmt::Write;

use ptx_syntax::Diagnostic;
use ptx_tests::case::{Case, files};
use ptx_tests::tools::root;
use ptx_verify::{Compiler, Config, CudaConfig, Level, check_cuda};

/// The code block of CUDA C++ or Python after a heading, and whether it is Python.
fn block<'d>(doc: &'d str, heading: &str) -> Option<(&'d str, bool)> {
    let section = doc.split(heading).nth(1)?.split("\n ## ").next()?;
    let (begin, is_python) =
        if section.contains("```python") { ("```python", true) } else { ("```cuda", false) };
    Some((section.split(begin).nth(1)?.split("```").next()?, is_python))
}

fn found_in((text, is_python): (&str, bool), config: &CudaConfig) -> Vec<Diagnostic> {
    if !is_python {
        return check_cuda(text, config);
    }
    // A line of a page begins with a blank, and one of Python does not.
    let text = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let hosted = ptx_hosts::find(ptx_hosts::Language::Python, &text);
    ptx_verify::verify_hosted(&text, &hosted, config, &Config::default()).diagnostics
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
            let block = block(rule.doc, heading).unwrap_or_default();
            found_in(block, &config).iter().any(|found| found.rule == rule.name)
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

/// Whatever is in a source: no panic, places inside it, fixes that can be applied.
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
