use ptx_ir::platform::TextureMode;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports texture instructions whose operands belong to the other texturing mode: a sampler missing where
    /// `.target` says `texmode_independent`, or one too many where it does not.
    ///
    /// ## Why is this bad
    /// The module does not assemble. With `texmode_unified`, the default, a texture brings its sampler; with
    /// `texmode_independent` every access names both.
    ///
    /// ## Example
    /// ```ptx
    /// .version 8.0
    /// .target sm_90, texmode_independent
    /// .address_size 64
    /// .global .texref image;
    /// .entry k()
    /// {
    ///     .reg .f32 %f<6>;
    ///     mov.f32 %f4, 0f00000000;
    ///     tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [image, {%f4}];
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .version 8.0
    /// .target sm_90, texmode_independent
    /// .address_size 64
    /// .global .texref image;
    /// .global .samplerref sampler;
    /// .entry k()
    /// {
    ///     .reg .f32 %f<6>;
    ///     mov.f32 %f4, 0f00000000;
    ///     tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [image, sampler, {%f4}];
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "texture-mode",
    code: "P0216",
    former: ["E0216"],
    class: Invalid,
    level: Error,
    summary: "operands for the other texturing mode",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Unavailable(instance) = occurrence.problem else { return None };
    let header = &occurrence.context.module.module.header;
    let wanted = instance.texture_mode.filter(|mode| *mode != header.texture_mode)?;
    let why = match header.texture_mode {
        TextureMode::Unified => "a texture brings its sampler",
        TextureMode::Independent => "a sampler is an operand of its own",
    };
    let message = format!(
        "`{}` with these operands is for `{}`; this module is `{}`, where {why}",
        occurrence.name(),
        wanted.name(),
        header.texture_mode.name()
    );
    let finding = RULE.at(occurrence.spelling_span(), message);
    Some(match header.target_span {
        Some(declared) => finding.with_secondary(declared, "declared here"),
        None => finding,
    })
}
