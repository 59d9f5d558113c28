//! Applying the fixes of findings to a source, whose bytes may be no UTF-8.

use ptx_syntax::Diagnostic;
use ptx_verify::fix::{self, Language};

use crate::error::Error;
use crate::options::Options;
use crate::pipeline;
use crate::source::{Kind, Source};

/// A source with its fixes applied.
#[derive(Debug)]
pub struct Fixed {
    /// The source as it would be.
    pub source: Source,
    /// What is still found in it. A finding whose fix is refused says so in a note.
    pub diagnostics: Vec<Diagnostic>,
    /// How many fixes were applied.
    pub count: usize,
    /// The findings whose fixes were refused, as indices of `diagnostics`, and what is to be told about each.
    pub refused: Vec<(usize, String)>,
}

/// Verifies a source and applies all fixes that are certain, and with `likely` those too.
///
/// ```
/// use ptx_project::{Kind, Options, Source};
///
/// let text = ".version 8.6\n.target sm_90\n.func f()\n{\n\t.reg .f32 %f<3>;\n\tadd.ftz.rn.f32 %f1, %f1, %f2;\n\tret;\n}\n";
/// let source = Source::new("f.ptx".into(), Kind::Ptx, text.into());
/// let fixed = ptx_project::fix(source, &Options::default(), false)?;
/// assert!(fixed.source.text.contains("add.rn.ftz.f32"));
/// # Ok::<(), ptx_project::Error>(())
/// ```
///
/// # Errors
/// A byte that is no UTF-8 would be lost. The finding of a fix that is refused is a note and no error.
pub fn fix(source: Source, options: &Options, likely: bool) -> Result<Fixed, Error> {
    let language = match source.kind {
        Kind::Ptx => Language::Ptx,
        // There are no fixes for other languages.
        Kind::Cuda | Kind::Host(_) => Language::Cuda,
    };
    let again = |text: &str| Source::new(source.name.clone(), source.kind, text.as_bytes().to_vec());
    let verify = |text: &str| match text == source.text {
        true => pipeline::verify(&source, options, 1),
        false => pipeline::verify(&again(text), options, 1),
    };
    let fixed = fix::fix(&source.text, language, likely, verify);
    let mut diagnostics = fixed.diagnostics;
    let mut refused = Vec::new();
    for (index, refusal) in fixed.refused {
        let text = format!("the fix of {} is not applied: {refusal}", diagnostics[index].rule);
        diagnostics[index].notes.push(format!("its fix is not applied: {refusal}"));
        diagnostics[index].fix = None;
        refused.push((index, text));
    }
    let source = match fixed.count {
        0 => source,
        _ => {
            let bytes = source.restore(fixed.text).ok_or_else(|| Error::Lost(source.name.clone()))?;
            Source::new(source.name, source.kind, bytes)
        }
    };
    Ok(Fixed { source, diagnostics, count: fixed.count, refused })
}
