//! One header out of two.

use super::{LinkError, Linked};
use crate::arena::Symbol;
use crate::directive::DirectiveKind;
use crate::ir::{Header, Module};
use crate::platform::Platform;
use ptx_syntax::Span;

/// The header of both modules together.
pub(super) fn merge(first: &Module, second: &Module, linked: &mut Linked) -> Result<Header, LinkError> {
    let (one, other) = (&first.header, &second.header);
    for (what, same) in [
        (DirectiveKind::AddressSize.word(), one.address_bits() == other.address_bits()),
        ("texmode_independent", one.texture_mode == other.texture_mode),
        ("map_f64_to_f32", one.map_f64_to_f32 == other.map_f64_to_f32),
    ] {
        if !same {
            return Err(LinkError::Header { what });
        }
    }
    let mut header = one.clone();
    linked.version_from_second = other.version > one.version;
    header.version = one.version.max(other.version);
    linked.target_from_second = !other.target.runs_on(one.target);
    if linked.target_from_second {
        if !one.target.runs_on(other.target) {
            return Err(LinkError::Targets { first: one.target, second: other.target });
        }
        header.target = other.target;
    }
    header.address_size = one.address_size.or(other.address_size);
    header.debug = one.debug || other.debug;
    for module in [first, second] {
        check(module, header.platform())?;
    }
    Ok(header)
}

/// Adds the options of the second header, whose names are in `module` by now.
pub(super) fn add_options(module: &mut Module, options: impl Iterator<Item = Symbol>) {
    for name in options {
        if !module.header.options.iter().any(|(option, _)| *option == name) {
            module.header.options.push((name, Span::default()));
        }
    }
}

/// Fails where an instruction that a module may use is none for a platform.
fn check(module: &Module, platform: Platform) -> Result<(), LinkError> {
    let own = module.header.platform();
    if own == platform {
        return Ok(());
    }
    let bodies = module.functions.iter().filter_map(|(_, function)| function.body.as_ref());
    let instances =
        bodies.flat_map(|body| body.instructions.iter()).filter_map(|(_, each)| module.instance(each));
    for instance in instances {
        if instance.is_available(own) && !instance.is_available(platform) {
            return Err(LinkError::Withdrawn { instruction: instance.canonical.to_string() });
        }
    }
    Ok(())
}
