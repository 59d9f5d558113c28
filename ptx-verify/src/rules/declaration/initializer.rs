use ptx_ir::ir::{FunctionKind, Initializer, Linkage, Module, Variable};
use ptx_ir::space::StateSpace;
use ptx_ir::target::TargetSet;
use ptx_ir::types::{Type, TypeKind};
use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::rules::instruction::{target_too_low, version_too_low};
use crate::subject::declarations::type_of;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports initial values that a variable cannot have.
    ///
    /// | variable | initial value |
    /// |---|---|
    /// | `.global` or `.const`, not `.extern` | may have one |
    /// | `.f32`, `.f64` | floating-point numbers; `0f` and `0d` for both |
    /// | `.uN`, `.sN` | integers of any size: too wide ones are cut off |
    /// | `.bN` | numbers of either kind |
    /// | `.f16`, `.f16x2` | none: declare `.b16` or `.b32` |
    /// | `.u32`, `.u64` | also addresses: `x`, `x+4`, `generic(x)`, functions without an offset |
    /// | `.u8` and the like | also one byte of an address: `0xff00(x)`, a mask of one whole byte |
    /// | array of N | a list of at most N, one level of braces a dimension |
    /// | `.vN` vector | a list of exactly N |
    /// | texture, sampler, surface | `{field = value, …}` |
    ///
    /// Addresses are those of variables in `.global` and `.const` that are declared before, and of functions.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .global .f32 x[2] = {1, 2};
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .global .f32 x[2] = {1.0, 2.0};
    /// ```
    ///
    /// ## What it may miss
    /// Numbers that a field of a texture cannot have.
    name: "initializer",
    code: "P0310",
    former: ["E0308"],
    class: Invalid,
    level: Error,
    summary: "an initial value that the variable cannot have",
    check: Declarations(check),
    also: [version_too_low::RULE, target_too_low::RULE],
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, variable) in context.variables() {
        let Some(initializer) = &variable.initializer else { continue };
        if names_a_kernel(context.module, initializer) {
            out.extend(kernel_address(context, variable));
        }
        let name = context.module.name(variable.name);
        let fault = place(variable).or_else(|| value(context.module, variable, initializer));
        if let Some(fault) = fault {
            let finding = RULE.at(variable.span, format!("`{name}` {fault}"));
            out.push(match variable.ty {
                Type::F16 | Type::F16x2 => {
                    finding.with_help(format!("declare it `.b{}` and write the bits", variable.ty.bits()))
                }
                _ => finding,
            });
        }
    }
}

/// Whether the address of a kernel is among the values.
fn names_a_kernel(module: &Module, initializer: &Initializer) -> bool {
    match initializer {
        Initializer::List(values) => values.iter().any(|value| names_a_kernel(module, value)),
        Initializer::Function { function, .. } => module.functions[*function].kind == FunctionKind::Entry,
        Initializer::Variable { .. }
        | Initializer::Integer { .. }
        | Initializer::Decimal(_)
        | Initializer::SingleBits(_)
        | Initializer::DoubleBits(_)
        | Initializer::Field(..)
        | Initializer::NumberField(..)
        | Initializer::Unknown => false,
    }
}

/// Addresses of kernels came with dynamic parallelism.
fn kernel_address(context: &ModuleContext<'_>, variable: &Variable) -> Option<Diagnostic> {
    const SINCE: Version = Version::new(3, 1);
    let what = "the address of a kernel as an initial value";
    if context.version() < SINCE {
        return Some(version_too_low::finding(context, variable.span, what, SINCE));
    }
    let targets = TargetSet::at_least(35);
    (!targets.contains(context.target()))
        .then(|| target_too_low::finding(context, variable.span, what, targets))
}

/// Why a variable can have no initial value at all.
fn place(variable: &Variable) -> Option<String> {
    let space = variable.space;
    if !matches!(space, StateSpace::Global | StateSpace::Const) {
        return Some(format!("is in `{space}`: only `.global` and `.const` variables have an initial value"));
    }
    if variable.linkage == Some(Linkage::Extern) {
        return Some("is `.extern`: its initial value belongs to its definition".into());
    }
    None
}

fn value(module: &Module, variable: &Variable, initializer: &Initializer) -> Option<String> {
    if variable.ty.kind() == TypeKind::Opaque {
        let Some(size) = variable.dimensions.first() else {
            return opaque(module, variable, initializer);
        };
        let most = size.unwrap_or(u64::MAX);
        // Of an array the assembler counts the elements, and looks into those in braces.
        let of_element = |field: &Initializer| match field {
            Initializer::List(_) if variable.dimensions.len() == 1 => opaque(module, variable, field),
            _ => symbol(module, field),
        };
        return match initializer {
            Initializer::List(fields) if fields.len() as u64 > most => {
                Some(format!("has {most} elements here, {} are given", fields.len()))
            }
            Initializer::List(fields) if fields.iter().all(is_field) => fields.iter().find_map(of_element),
            _ => opaque(module, variable, initializer),
        };
    }
    level(module, variable, &variable.dimensions, initializer)
}

/// One level of braces, with the dimensions that are left.
fn level(
    module: &Module,
    variable: &Variable,
    dimensions: &[Option<u64>],
    initializer: &Initializer,
) -> Option<String> {
    let Some((size, rest)) = dimensions.split_first() else { return element(module, variable, initializer) };
    let values = match initializer {
        Initializer::List(values) => values,
        Initializer::Unknown => return None,
        _ => return Some(format!("is `{}`: its initial value is a list in braces", type_of(variable))),
    };
    if let Some(size) = size.filter(|&size| size > 0 && values.len() as u64 > size) {
        return Some(format!("has {size} elements here, {} are given", values.len()));
    }
    // Nearly all are integers for variables that hold these.
    let holds_integers = rest.is_empty()
        && variable.elements == 1
        && matches!(variable.ty.kind(), TypeKind::Bits | TypeKind::Unsigned | TypeKind::Signed);
    let is_good = |each: &&Initializer| holds_integers && matches!(each, Initializer::Integer { .. });
    // What is nested too little has too many elements for the assembler.
    values.iter().filter(|each| !is_good(each)).find_map(|each| level(module, variable, rest, each))
}

fn element(module: &Module, variable: &Variable, initializer: &Initializer) -> Option<String> {
    if variable.elements == 1 {
        return scalar(module, variable.ty, initializer);
    }
    match initializer {
        Initializer::List(values) if values.len() == usize::from(variable.elements) => {
            values.iter().find_map(|each| scalar(module, variable.ty, each))
        }
        Initializer::List(values) => {
            Some(format!("has vectors of {} elements, {} are given", variable.elements, values.len()))
        }
        Initializer::Unknown => None,
        _ => Some(format!("has vectors of {} elements: each is a list in braces", variable.elements)),
    }
}

fn scalar(module: &Module, ty: Type, initializer: &Initializer) -> Option<String> {
    if matches!(ty, Type::F16 | Type::F16x2) {
        return Some(format!("is `{ty}`, which takes no initial value"));
    }
    let float = ty.kind() == TypeKind::Float;
    match initializer {
        Initializer::Integer { .. } if float => Some(format!("is `{ty}` and gets an integer")),
        Initializer::Decimal(_) | Initializer::SingleBits(_) | Initializer::DoubleBits(_)
            if ty.is_integer() =>
        {
            Some(format!("is `{ty}` and gets a floating-point number"))
        }
        Initializer::Variable { variable, mask, .. } => {
            let other = &module.variables[*variable];
            if !matches!(other.space, StateSpace::Global | StateSpace::Const) {
                let (name, space) = (module.name(other.name), other.space);
                return Some(format!(
                    "gets the address of `{name}` in `{space}`: it is not known before the kernel runs"
                ));
            }
            address(ty, *mask)
        }
        Initializer::Function { generic: true, .. } => {
            Some("gets `generic( )` of a function, which has no space".into())
        }
        Initializer::Function { mask, .. } => address(ty, *mask),
        Initializer::List(_) => Some("has braces around a single value".into()),
        Initializer::Field(..) | Initializer::NumberField(..) => {
            Some(format!("is `{ty}` and gets a named field"))
        }
        Initializer::Integer { .. }
        | Initializer::Decimal(_)
        | Initializer::SingleBits(_)
        | Initializer::DoubleBits(_)
        | Initializer::Unknown => None,
    }
}

/// What is wrong with an address, or a byte of one, as the value of a variable of type `ty`.
fn address(ty: Type, mask: Option<u64>) -> Option<String> {
    let whole = matches!(ty, Type::U32 | Type::U64);
    let Some(mask) = mask else {
        return (!whole).then(|| format!("is `{ty}` and gets an address, which only `.u32` and `.u64` hold"));
    };
    if !(0..8).any(|byte| mask == 0xff << (8 * byte)) {
        return Some(format!("gets the mask `{mask:#x}` of an address, which is not one whole byte"));
    }
    (!whole && ty != Type::U8).then(|| format!("is `{ty}` and gets a byte of an address, which `.u8` holds"))
}

/// What is wrong with the word that a field gets.
fn symbol(module: &Module, field: &Initializer) -> Option<String> {
    const VALUES: &[&str] =
        &["wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border", "nearest", "linear"];
    match field {
        Initializer::Field(_, value) if !VALUES.contains(&module.name(*value)) => {
            Some(format!("gets `{}`, which is no value of a field", module.name(*value)))
        }
        _ => None,
    }
}

fn is_field(initializer: &Initializer) -> bool {
    matches!(initializer, Initializer::Field(..) | Initializer::NumberField(..) | Initializer::List(_))
}

/// The fields of the manual's table "Opaque Type Fields", which are the same for all its modes of texturing.
fn opaque(module: &Module, variable: &Variable, initializer: &Initializer) -> Option<String> {
    const SHAPE: &[&str] = &["width", "height", "depth", "channel_data_type", "channel_order", "array_size"];
    const TEXTURE: &[&str] = &["num_mipmap_levels", "num_samples"];
    const SAMPLING: &[&str] = &["filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2"];
    let known = |name: &str| match variable.ty {
        Type::Texref => {
            SHAPE.contains(&name)
                || TEXTURE.contains(&name)
                || SAMPLING.contains(&name)
                || name == "normalized_coords"
        }
        Type::Samplerref => SAMPLING.contains(&name) || name == "force_unnormalized_coords",
        _ => SHAPE.contains(&name) || name == "memory_layout",
    };
    let Initializer::List(fields) = initializer else {
        return Some(format!("is a `{}`: its initial value is a list of named fields", variable.ty));
    };
    fields.iter().find_map(|field| match field {
        Initializer::Field(..) if symbol(module, field).is_some() => symbol(module, field),
        Initializer::Field(name, _) | Initializer::NumberField(name, _) => {
            let name = module.name(*name);
            (!known(name)).then(|| format!("is a `{}`, which has no field `{name}`", variable.ty))
        }
        Initializer::List(_) if !variable.dimensions.is_empty() => opaque(module, variable, field),
        Initializer::Unknown => None,
        _ => Some(format!("is a `{}`: its initial value is a list of named fields", variable.ty)),
    })
}
