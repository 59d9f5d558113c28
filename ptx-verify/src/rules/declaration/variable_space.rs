use ptx_ir::ir::TextureMode;
use ptx_ir::ir::{FunctionKind, Linkage, Variable};
use ptx_ir::space::StateSpace;
use ptx_ir::types::{Type, TypeKind};
use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::declarations::{is_of_declaration, owner};
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports a variable or parameter in a state space that cannot hold it.
    ///
    /// | what | where it may be |
    /// |---|---|
    /// | `.local`, `.reg` | in functions; at module level only up to PTX 2.3 |
    /// | `.param` | in functions |
    /// | `.tex` | at module level up to PTX 1.4, for `.u32` and `.u64` |
    /// | `.common` | in `.global` |
    /// | `.texref`, `.samplerref`, `.surfref` | in `.global` at module level, or parameter of a kernel |
    /// | `.samplerref` | with `texmode_independent` |
    /// | vectors and `.f16x2` | not in `.param`, except as arrays and in declarations |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .local .u32 x;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .global .u32 x;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "variable-space",
    code: "P0306",
    former: ["E0304"],
    class: Invalid,
    level: Error,
    summary: "a variable in a state space that cannot hold it",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, variable) in context.variables() {
        if let Some(what) = fault(context, variable) {
            let name = context.module.name(variable.name);
            let (what, help) = what;
            let finding = RULE.at(variable.span, what.replace("{}", &format!("`{name}`")));
            out.push(match help {
                Some(help) => finding.with_help(help),
                None => finding,
            });
        }
    }
}

/// What is wrong, `{}` for the name of the variable, and what to write instead.
type Fault = (&'static str, Option<&'static str>);

/// What is wrong with the place of a variable.
fn fault(context: &ModuleContext<'_>, variable: &Variable) -> Option<Fault> {
    let at_module_level = variable.function.is_none();
    if variable.ty.kind() == TypeKind::Opaque {
        return opaque(context, variable);
    }
    if variable.linkage == Some(Linkage::Common) && at_module_level && variable.space != StateSpace::Global {
        return Some(("{} is `.common` and not in `.global`", None));
    }
    match variable.space.base() {
        StateSpace::Local | StateSpace::Reg if at_module_level && context.version() >= Version::new(3, 0) => {
            Some(("{} is at module level: since PTX 3.0, `.local` and `.reg` belong to functions", None))
        }
        StateSpace::Reg if at_module_level && !variable.dimensions.is_empty() => Some((
            "{} is an array, which registers cannot hold",
            Some("declare `.global` or `.shared` memory"),
        )),
        StateSpace::Param if at_module_level => {
            Some(("{} is at module level: `.param` belongs to functions", None))
        }
        StateSpace::Sreg => Some(("{} is in `.sreg`, which nobody can declare", None)),
        StateSpace::Tex if !at_module_level => Some(("{} is in `.tex`, which belongs to the module", None)),
        StateSpace::Tex if context.version() >= Version::new(1, 5) => {
            Some(("{} is in `.tex`, which is not supported since PTX 1.5", Some("declare a `.texref`")))
        }
        StateSpace::Tex if !is_texture(variable) => {
            Some(("{} is in `.tex`, which holds single `.u32` and `.u64` values", None))
        }
        // Arrays pass.
        StateSpace::Param
            if is_of_declaration(context.module, variable) || !variable.dimensions.is_empty() =>
        {
            None
        }
        StateSpace::Param if variable.elements > 1 => {
            Some(("{} is a vector, which `.param` cannot hold", Some("declare an array")))
        }
        StateSpace::Param if variable.ty == Type::F16x2 => {
            Some(("{} is `.f16x2`, which `.param` cannot hold", Some("declare `.b32`")))
        }
        _ => None,
    }
}

/// Up to PTX 1.4 a texture was an address in `.tex`.
fn is_texture(variable: &Variable) -> bool {
    matches!(variable.ty, Type::U32 | Type::U64) && variable.elements == 1 && variable.dimensions.is_empty()
}

fn opaque(context: &ModuleContext<'_>, variable: &Variable) -> Option<Fault> {
    if variable.elements > 1 && variable.function.is_none() {
        return Some(("{} is a vector of textures, samplers or surfaces", Some("declare an array")));
    }
    if variable.linkage == Some(Linkage::Common) && variable.dimensions.is_empty() {
        return Some(("{} is a texture, sampler or surface, and those cannot be `.common`", None));
    }
    let free = matches!(variable.space.base(), StateSpace::Global | StateSpace::Shared | StateSpace::Const);
    if variable.function.is_none() && !variable.dimensions.is_empty() && free {
        // The assembler looks at no array of them.
        return None;
    }
    if is_of_declaration(context.module, variable) || variable.is_parameter && !variable.dimensions.is_empty()
    {
        return None;
    }
    let independent = context.module.header.texture_mode == TextureMode::Independent;
    if variable.ty == Type::Samplerref && !independent {
        return Some(("{} is a `.samplerref`: those exist only with `.target …, texmode_independent`", None));
    }
    match owner(context.module, variable) {
        None if variable.space == StateSpace::Global => None,
        None => Some(("{} is a texture, sampler or surface and not in `.global`", None)),
        Some(function) if function.kind == FunctionKind::Entry && variable.is_parameter => None,
        Some(function) if function.kind == FunctionKind::Prototype => None,
        Some(_) => Some((
            "{} is a texture, sampler or surface: those are module variables or kernel parameters",
            None,
        )),
    }
}
