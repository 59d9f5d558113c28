//! The lowest PTX version and the targets that a module needs, whatever its own header says.

use ptx_facts::mentions::Mentions;
use ptx_facts::mentions::each_special_register;
use ptx_ir::ir::Module;
use ptx_ir::isa::Instance;
use ptx_ir::target::{Target, TargetSet};
use ptx_ir::version::Version;
use ptx_syntax::Span;
use rustc_hash::FxHashSet;

use crate::engine::gates;

/// Something that not every PTX version or target has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Requirement {
    /// What it is, for people: an instruction as it is spelled, a special register, a directive.
    pub what: String,
    /// The first version that has it.
    pub version: Version,
    /// The targets that have it.
    pub targets: TargetSet,
    /// Where it stands first.
    pub span: Span,
}

/// What a module needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Requirements {
    /// The lowest PTX version that has all that the module uses and one of the targets that it can be for.
    pub version: Version,
    /// The targets that have all that the module uses; empty where no target has everything.
    pub targets: TargetSet,
    /// What asks for it: each one asks for more, in version or targets, than all that stand before it in the text.
    pub causes: Vec<Requirement>,
}

/// The lowest version and the targets that a module needs. Instructions that are not valid, and names that are not
/// declared, ask for nothing.
#[must_use]
pub fn requirements(module: &Module) -> Requirements {
    let mut all = Vec::new();
    gates::requirements(module, |what, version, targets, span| {
        all.push(Requirement { what: what.to_owned(), version, targets, span });
    });
    instructions(module, &mut all);
    special_registers(module, &mut all);
    all.sort_by_key(|each| each.span);
    let mut needed = Requirements { version: Version::ALL[0], targets: TargetSet::ALL, causes: Vec::new() };
    for each in all {
        let targets = needed.targets.intersect(each.targets);
        if each.version > needed.version || targets != needed.targets {
            needed.version = needed.version.max(each.version);
            needed.targets = targets;
            needed.causes.push(each);
        }
    }
    let oldest = needed.targets.iter().map(Target::min_version).min();
    needed.version = oldest.map_or(needed.version, |oldest| oldest.max(needed.version));
    needed
}

/// The first of each kind of instruction.
fn instructions(module: &Module, all: &mut Vec<Requirement>) {
    let mut seen = FxHashSet::default();
    for (_, function) in module.functions.iter() {
        let Some(body) = &function.body else { continue };
        for (handle, instruction) in body.instructions.iter() {
            let Some(instance) = module.instance(instruction) else { continue };
            if seen.insert((instruction.spelling, instruction.instance)) {
                all.push(of_instance(instance, body.span(handle)));
            }
        }
    }
}

fn of_instance(instance: &Instance, span: Span) -> Requirement {
    Requirement {
        what: format!("`{}`", instance.canonical),
        version: instance.min_version,
        targets: instance.targets,
        span,
    }
}

fn special_registers(module: &Module, all: &mut Vec<Requirement>) {
    let mut seen = FxHashSet::default();
    for body in module.functions.iter().filter_map(|(_, function)| function.body.as_ref()) {
        each_special_register(body, &Mentions::of(body), |register, span| {
            if seen.insert(register.name()) {
                all.push(Requirement {
                    what: format!("`{}`", register.name()),
                    version: register.min_version(),
                    targets: register.targets(),
                    span,
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::requirements;

    fn needed(text: &str) -> (String, String, Vec<String>) {
        let source = format!(".version 9.0\n.target sm_100a\n.address_size 64\n{text}");
        let parse = ptx_syntax::parse(&source);
        let lowered = ptx_ir::lower::lower(&parse.tree, &source);
        assert!(lowered.problems.is_empty(), "{:?}", lowered.problems);
        let needed = requirements(&lowered.module);
        let causes = needed.causes.into_iter().map(|cause| cause.what).collect();
        (needed.version.to_string(), needed.targets.to_string(), causes)
    }

    #[test]
    fn the_header_of_a_module_does_not_count() {
        let (version, targets, causes) = needed(".entry k() { ret; }");
        assert_eq!((version.as_str(), targets.as_str()), ("2.3", "sm_10 or higher"));
        assert_eq!(causes, ["`.address_size`"]);
    }

    #[test]
    fn instructions_registers_and_directives_count() {
        let text = ".entry k() .maxclusterrank 4 { .reg .b32 %r; mov.u32 %r, %clusterid.x; ret; }";
        let (version, targets, causes) = needed(text);
        assert_eq!((version.as_str(), targets.as_str()), ("7.8", "sm_90 or higher"));
        assert_eq!(causes, ["`.address_size`", "`.maxclusterrank`"]);
    }

    #[test]
    fn the_version_is_one_that_has_a_target() {
        let text = ".entry k() { .reg .b32 %r; mov.u32 %r, %tid.x; wgmma.fence.sync.aligned; ret; }";
        let (version, targets, _) = needed(text);
        assert_eq!((version.as_str(), targets.as_str()), ("8.0", "sm_90a"));
    }
}
