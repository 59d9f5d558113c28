//! The way of a source through the library crates.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use ptx_emit::canonical as print;
use ptx_emit::format::{self, FormattedAsm};
use ptx_hosts::Language;
use ptx_ir::target::Target;
use ptx_syntax::{Class, Diagnostic, LineIndex, Severity, Span, SyntaxError};
use ptx_verify::{Config, CudaConfig, CudaVerification, Included, Session};

use crate::error::Unformatted;
use crate::options::Options;
use crate::source::{Kind, Source};
use crate::{compile_commands, include};

/// All findings of a source, in the order of their places. So many threads may work on it.
#[must_use]
pub fn verify(source: &Source, options: &Options, threads: usize) -> Vec<Diagnostic> {
    verify_and_cover(source, options, threads).diagnostics
}

/// All findings of a source, and what became of the asm statements of a CUDA source.
#[must_use]
pub fn verify_and_cover(source: &Source, options: &Options, threads: usize) -> CudaVerification {
    let of_ptx = |diagnostics| CudaVerification { diagnostics, ..CudaVerification::default() };
    if let Some(found) = source.not_text() {
        let mut found = vec![found];
        options.levels.apply(&mut found);
        return of_ptx(found);
    }
    let mut verified = match source.kind {
        Kind::Ptx => of_ptx(ptx(options, threads, |config| ptx_verify::check(&source.text, config))),
        Kind::Cuda => cuda(source, options),
        Kind::Host(language) => hosted(source, language, options),
    };
    source.name_bytes(&mut verified.diagnostics);
    verified
}

/// What is kept of a PTX document between its versions, for each target that it is verified for.
#[derive(Default)]
pub struct Sessions {
    by_target: HashMap<Option<Target>, Session>,
}

/// The findings of [`verify`] in the next version of a document, by one thread.
pub fn verify_again(source: &Source, options: &Options, sessions: &mut Sessions) -> Vec<Diagnostic> {
    if source.kind != Kind::Ptx || source.not_text().is_some() {
        return verify(source, options, 1);
    }
    let targets = &options.ptx_targets;
    let is_wanted = |target: &Option<Target>| target.map_or(targets.is_empty(), |one| targets.contains(&one));
    sessions.by_target.retain(|target, _| is_wanted(target));
    let check =
        |config: &Config| sessions.by_target.entry(config.target).or_default().check(&source.text, config);
    let mut found = ptx(options, 1, check);
    source.name_bytes(&mut found);
    found
}

/// Verifies the asm statements of a CUDA source.
fn cuda(source: &Source, options: &Options) -> CudaVerification {
    let flags = OnceCell::new();
    let flags = || flags.get_or_init(|| compile_commands::flags(source.name.path()));
    let names = || include::surroundings(source, flags());
    let headers = || include::headers(source, flags());
    let declarations = || include::declarations(source, flags());
    let names_macro_with_asm = || include::names_macro_with_asm(source, flags());
    let included = Included {
        names: &names,
        headers: &headers,
        declarations: &declarations,
        names_macro_with_asm: &names_macro_with_asm,
    };
    ptx_verify::verify_cuda_with(&source.text, &cuda_config(options), included)
}

/// Verifies the inline PTX of another language, and the texts in its strings.
fn hosted(source: &Source, language: Language, options: &Options) -> CudaVerification {
    let hosted = ptx_hosts::find(language, &source.text);
    let of_ptx = Config {
        levels: options.levels.clone(),
        target: options.ptx_targets.first().copied(),
        version: options.ptx_version,
        threads: 1,
    };
    ptx_verify::verify_hosted(&source.text, &hosted, &cuda_config(options), &of_ptx)
}

fn cuda_config(options: &Options) -> CudaConfig {
    CudaConfig {
        levels: options.levels.clone(),
        targets: options.cuda_targets.clone(),
        version: options.cuda_version,
        toolkit: options.cuda_toolkit,
        compiler: options.compiler,
    }
}

/// Verifies PTX for each target that was asked for. What several targets have in common is told once.
fn ptx(
    options: &Options,
    threads: usize,
    mut check: impl FnMut(&Config) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut check = |target: Option<Target>| {
        let levels = options.levels.clone();
        check(&Config { levels, target, version: options.ptx_version, threads })
    };
    match options.ptx_targets.as_slice() {
        [] => check(None),
        [target] => check(Some(*target)),
        several => {
            let found = several.iter().flat_map(|target| check(Some(*target)));
            without_repetition(found.collect())
        }
    }
}

fn without_repetition(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen: HashSet<(Span, &str, String)> = HashSet::new();
    diagnostics.retain(|found| seen.insert((found.span, found.code, found.message.clone())));
    // Stable, so that findings at one place stay in the order of the targets.
    diagnostics.sort_by_key(|found| found.span);
    diagnostics
}

/// The source laid out anew. Bytes that are no UTF-8 are placeholders in it, which [`Source::restore`] takes away.
///
/// # Errors
/// The formatter left it alone, for this reason.
pub fn format(source: &Source, options: &format::Options) -> Result<String, Unformatted> {
    if let Some(found) = source.not_text() {
        return Err(Unformatted::NotText(found.message));
    }
    match format::format_with(&source.text, options) {
        Ok(formatted) => Ok(formatted.text),
        Err(format::Unformatted::Syntax(errors)) => Err(syntax_errors(source, &errors)),
        Err(reason) => Err(Unformatted::Other(reason.to_string())),
    }
}

/// A CUDA source whose asm templates are laid out anew, and a sentence for each statement that was left alone.
///
/// # Errors
/// The file is no text.
pub fn format_asm(source: &Source) -> Result<(FormattedAsm, Vec<String>), Unformatted> {
    if let Some(found) = source.not_text() {
        return Err(Unformatted::NotText(found.message));
    }
    let formatted = format::format_asm(&source.text);
    let index = LineIndex::new(&source.text);
    let told = formatted.left_alone.iter().map(|each| {
        let line = index.position(each.at.start).line;
        format!("{}:{line}: the asm statement is left as it is: {}", source.name, each.reason)
    });
    let told = told.collect();
    Ok((formatted, told))
}

/// How many syntax errors there are, and the first of them.
fn syntax_errors(source: &Source, errors: &[SyntaxError]) -> Unformatted {
    let Some(first) = errors.first() else { return Unformatted::Other(String::new()) };
    let at = LineIndex::new(&source.text).position(first.span.start);
    let message = first.what.message.to_string();
    Unformatted::Syntax { count: errors.len(), line: at.line, column: at.column, message }
}

/// The canonical PTX of a source.
///
/// # Errors
/// What is invalid in it.
pub fn canonical(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let mut errors = verify(source, &Options::default(), 1);
    errors.retain(|found| found.severity == Severity::Error && found.class == Class::Invalid);
    if !errors.is_empty() {
        return Err(errors);
    }
    let parse = ptx_syntax::parse(&source.text);
    Ok(print(&ptx_ir::lower::lower(&parse.tree, &source.text).module))
}
