use ptx_ir::ir::{Function, FunctionKind};
use ptx_ir::target::TargetSet;
use ptx_ir::types::TypeKind;
use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::rules::instruction::{target_too_low, version_too_low};
use crate::subject::declarations::{effective_alignment, sized_bytes};
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports kernels whose parameters take more space than there is. Each parameter begins at a multiple of its
    /// alignment.
    ///
    /// | PTX | target | bytes |
    /// |---|---|---|
    /// | 1.4 | all | 256 |
    /// | 1.5 | all | 4352 |
    /// | 8.1 | `sm_70` and higher | 32764 |
    ///
    /// ## Why is this bad
    /// The module does not assemble. Functions have no such limit.
    ///
    /// ## Example
    /// ```ptx
    /// .entry k(.param .align 4 .b8 a[40000])
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .entry k(.param .u64 a)
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "parameter-size",
    code: "P0404",
    former: ["E0315"],
    class: Invalid,
    level: Error,
    summary: "a kernel whose parameters take more space than there is",
    check: Declarations(check),
    also: [version_too_low::RULE, target_too_low::RULE],
}

const OLDEST: u64 = 256;
const SMALL: u64 = 4352;
const LARGE: u64 = 32764;

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, function) in context.functions() {
        if function.kind == FunctionKind::Entry && function.body.is_some() {
            out.extend(kernel(context, function));
        }
    }
}

fn kernel(context: &ModuleContext<'_>, function: &Function) -> Option<Diagnostic> {
    let bytes = size(context, function);
    let most = if context.version() < Version::new(1, 5) { OLDEST } else { LARGE };
    if bytes > most {
        let name = context.module.name(function.name);
        let message = format!("the parameters of `{name}` take {bytes} bytes, there are {most}");
        return Some(RULE.at(function.span, message).with_help("pass a pointer to the data"));
    }
    if bytes <= SMALL {
        return None;
    }
    let what = format!("a kernel with {bytes} bytes of parameters, more than {SMALL},");
    if context.version() < Version::new(8, 1) {
        return Some(version_too_low::finding(context, function.span, &what, Version::new(8, 1)));
    }
    let targets = TargetSet::at_least(70);
    (!targets.contains(context.target()))
        .then(|| target_too_low::finding(context, function.span, &what, targets))
}

fn size(context: &ModuleContext<'_>, function: &Function) -> u64 {
    function.parameters.iter().fold(0_u64, |offset, &handle| {
        let variable = &context.module.variables[handle];
        // Handles of textures are no data.
        if variable.ty.kind() == TypeKind::Opaque {
            return offset;
        }
        let alignment = u64::from(effective_alignment(variable).max(1));
        offset.div_ceil(alignment).saturating_mul(alignment).saturating_add(sized_bytes(variable))
    })
}
