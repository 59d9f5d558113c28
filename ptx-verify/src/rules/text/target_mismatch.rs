use ptx_ir::target::Suffix;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Where a device or a version was asked for (`--target`, `--ptx-version`): reports a module that cannot be
    /// compiled for that device, or that is newer than that version.
    ///
    /// | `.target` of the module | runs on |
    /// |---|---|
    /// | `sm_80` | every device from 8.0 on |
    /// | `sm_100f` | the devices of its family from 10.0 on |
    /// | `sm_90a` | devices of 9.0 only |
    ///
    /// ## Why is this bad
    /// Loading the module fails there, at run time.
    ///
    /// ## Example
    /// ```text
    /// ptx-cli verify --target sm_100 kernel.ptx      # its .target is sm_90a
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// ptx-cli verify --target sm_90a kernel.ptx
    /// ```
    ///
    /// ## What it may miss
    /// Resources that the device lacks, such as shared memory.
    name: "target-mismatch",
    code: "P0104",
    former: ["E0302"],
    class: Invalid,
    level: Error,
    summary: "a module that cannot be loaded on the device asked for",
    check: Module(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let header = &context.module.header;
    let target = header.target;
    if let Some(device) = context.wanted.target
        && !target.runs_on(device)
    {
        let span = header.target_span.unwrap_or_default();
        let finding = RULE.at(span, format!("a module for `{target}` cannot be loaded on `{device}`"));
        out.push(match target.suffix() {
            Suffix::Plain => finding.with_help(format!("write `.target {device}` or a lower one")),
            Suffix::Architecture => finding
                .with_note(format!("`{target}` has features of one architecture and runs on that one only")),
            Suffix::Family => finding
                .with_note(format!("`{target}` has features of a family and runs on its later members only")),
        });
    }
    if let Some(newest) = context.wanted.version
        && header.version > newest
    {
        let span = header.version_span.unwrap_or_default();
        let version = header.version;
        out.push(RULE.at(
            span,
            format!("a module of PTX {version} cannot be loaded where PTX {newest} is the newest"),
        ));
    }
}
