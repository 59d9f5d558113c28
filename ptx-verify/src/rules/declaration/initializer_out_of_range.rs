use ptx_ir::ir::Initializer;
use ptx_ir::types::{Type, TypeKind};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports an integer among the initial values of a variable that does not fit into its type and loses bits.
    ///
    /// ## Why is this bad
    /// The assembler takes it without a word, and the variable begins with another number than the one that is
    /// there.
    ///
    /// ## Example
    /// ```ptx
    /// .global .u8 limit = 300;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .global .u16 limit = 300;
    /// ```
    ///
    /// ## What it may miss
    /// Numbers whose upper bits are all ones pass for negative ones.
    name: "initializer-out-of-range",
    code: "P0319",
    former: ["H0351"],
    class: Hazard,
    level: Warn,
    summary: "an initial value that is cut off",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (_, variable) in context.all_variables() {
        let ty = variable.ty;
        if !matches!(ty.kind(), TypeKind::Bits | TypeKind::Unsigned | TypeKind::Signed) {
            continue;
        }
        let Some(initializer) = &variable.initializer else { continue };
        if let Some((bits, negative)) = too_wide(initializer, ty) {
            let kept = bits & (u64::MAX >> (64 - ty.bits()));
            let written = if negative { (bits as i64).to_string() } else { bits.to_string() };
            let message = format!("an initial value does not fit into `{ty}`: {kept} is left of {written}");
            diagnostics.push(RULE.at(variable.span, message));
        }
    }
}

/// The first integer that does not fit, and whether it was written with a minus sign. Lists may be nested; how deep, the dimensions of the variable limit.
fn too_wide(initializer: &Initializer, ty: Type) -> Option<(u64, bool)> {
    let is_good =
        |each: &&Initializer| matches!(each, Initializer::Integer { bits, .. } if fits(*bits, ty.bits()));
    let mut open = vec![initializer];
    while let Some(next) = open.pop() {
        match next {
            Initializer::List(values) => open.extend(values.iter().rev().filter(|each| !is_good(each))),
            Initializer::Integer { bits, negative } if !fits(*bits, ty.bits()) => {
                return Some((*bits, *negative));
            }
            Initializer::Integer { .. }
            | Initializer::Decimal(_)
            | Initializer::SingleBits(_)
            | Initializer::DoubleBits(_)
            | Initializer::Variable { .. }
            | Initializer::Function { .. }
            | Initializer::Field(..)
            | Initializer::NumberField(..)
            | Initializer::Unknown => {}
        }
    }
    None
}

fn fits(bits: u64, width: u32) -> bool {
    width >= 64 || bits < 1 << width || bits as i64 >> (width - 1) == -1
}
