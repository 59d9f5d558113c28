//! Whether a driver, or the assembler of a CUDA release, takes a module for a device.
//!
//! A driver loads PTX of its own version and of all older ones, for the targets that it knows. What a module is made of
//! counts besides what its header says: a lower `.version` helps where nothing in it needs the higher one.

use std::fmt;

use ptx_ir::ir::Module;
use ptx_ir::lower::lower;
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::{Applicability, Class, Diagnostic, Edit, Severity, Span};

use crate::engine::requirements::{Requirement, Requirements, requirements};
use crate::rules::text::target_mismatch;

/// Who is to load a module, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loader {
    /// The newest PTX version that it takes.
    pub version: Version,
    /// The device; what the module itself is for where none is given.
    pub device: Option<Target>,
}

/// Why a module is not loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Something in the module needs a newer version than there is.
    Needs(Requirement),
    /// The header names a newer version than there is, and nothing in the module needs more than `enough`.
    Version {
        /// What the header says.
        written: Version,
        /// What would do.
        enough: Version,
        /// Where the version is.
        span: Span,
    },
    /// The loader does not know the device, which came with a later version.
    UnknownDevice(Target),
    /// The module is for another device.
    Target {
        /// What the header says.
        written: Target,
        /// What it is to be loaded on.
        device: Target,
        /// Where the target is.
        span: Span,
    },
    /// The module is not valid.
    Invalid(Diagnostic),
}

impl Refusal {
    /// Where the reason is; none where it is not in the module.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Needs(requirement) => Some(requirement.span),
            Self::Version { span, .. } | Self::Target { span, .. } => Some(*span),
            Self::UnknownDevice(_) => None,
            Self::Invalid(diagnostic) => Some(diagnostic.span),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Needs(Requirement { what, version, .. }) => write!(f, "{what} needs PTX {version}"),
            Self::Version { written, enough, .. } => {
                write!(f, "`.version {written}` is newer, though nothing needs more than PTX {enough}")
            }
            Self::UnknownDevice(device) => write!(f, "`{device}` came with PTX {}", device.min_version()),
            Self::Target { written, device, .. } => {
                write!(f, "a module for `{written}` cannot be loaded on `{device}`")
            }
            Self::Invalid(diagnostic) => {
                write!(f, "{} {}: {}", diagnostic.code, diagnostic.rule, diagnostic.message)
            }
        }
    }
}

/// The first reason why a module is not loaded. `found` are its findings, of which those count that NVIDIA's assembler
/// has too.
#[must_use]
pub fn refusal(module: &Module, found: &[Diagnostic], loader: Loader) -> Option<Refusal> {
    let header = &module.header;
    let is_invalid = |found: &&Diagnostic| found.class == Class::Invalid && found.severity == Severity::Error;
    if let Some(invalid) = found.iter().find(is_invalid) {
        return Some(Refusal::Invalid(invalid.clone()));
    }
    let device = loader.device.unwrap_or(header.target);
    if device.min_version() > loader.version {
        return Some(Refusal::UnknownDevice(device));
    }
    // Whatever the version, this would be left.
    if !header.target.runs_on(device) {
        return Some(Refusal::Target {
            written: header.target,
            device,
            span: header.target_span.unwrap_or_default(),
        });
    }
    if header.version > loader.version {
        let needed = requirements(module);
        return Some(match beyond(&needed, loader.version) {
            Some(cause) => Refusal::Needs(cause.clone()),
            None => Refusal::Version {
                written: header.version,
                enough: needed.version.max(header.target.min_version()),
                span: header.version_span.unwrap_or_default(),
            },
        });
    }
    None
}

/// The first that needs a newer version.
fn beyond(needed: &Requirements, newest: Version) -> Option<&Requirement> {
    needed.causes.iter().find(|cause| cause.version > newest)
}

/// Adds to the finding that a version is too new what needs it, or, where nothing does, the fix.
pub(super) fn explain(source: &str, newest: Option<Version>, found: &mut [Diagnostic]) {
    let Some(newest) = newest else { return };
    let parse = ptx_syntax::parse(source);
    let Some(finding) = found.iter_mut().find(|found| found.rule == target_mismatch::RULE.info.name) else {
        return;
    };
    let module = lower(&parse.tree, source).module;
    let Some(span) = module.header.version_span.filter(|span| *span == finding.span) else { return };
    let needed = requirements(&module);
    let own = finding.clone();
    *finding = match beyond(&needed, newest) {
        Some(cause) => own.with_secondary(cause.span, format!("{} needs PTX {}", cause.what, cause.version)),
        None if module.header.target.min_version() > newest => {
            let target = module.header.target;
            own.with_note(format!("`{target}` came with PTX {}", target.min_version()))
        }
        None => {
            let edit = Edit { span, replacement: newest.to_string() };
            let enough = needed.version.max(module.header.target.min_version());
            own.with_help(format!("nothing in it needs more than PTX {enough}")).with_fix(
                format!("write `.version {newest}`"),
                Applicability::Certain,
                vec![edit],
            )
        }
    };
}

#[cfg(test)]
mod tests {
    use super::{Loader, Refusal, refusal};
    use crate::{Config, check};
    use ptx_ir::target::Target;
    use ptx_ir::version::Version;

    fn asked(text: &str, version: &str, device: Option<&str>) -> Option<Refusal> {
        let parse = ptx_syntax::parse(text);
        let module = ptx_ir::lower::lower(&parse.tree, text).module;
        let device = device.map(|device| Target::parse(device).unwrap());
        let loader = Loader { version: Version::parse(version).unwrap(), device };
        refusal(&module, &check(text, &Config::default()), loader)
    }

    fn text(version: &str, target: &str, body: &str) -> String {
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n.entry k() {{ .reg .b32 %r<4>;\n{body}\nret; }}\n"
        )
    }

    #[test]
    fn a_driver_loads_its_version_and_older_ones() {
        let plain = text("9.0", "sm_90a", "");
        assert_eq!(asked(&plain, "9.0", None), None);
        assert_eq!(asked(&plain, "9.5", Some("sm_90a")), None);
        let Some(Refusal::Version { enough, .. }) = asked(&plain, "8.7", None) else { panic!() };
        assert_eq!(enough, Version::new(8, 0), "what `sm_90a` needs");
        let needs = text("9.1", "sm_90", ".reg .pred %p; elect.sync %r1|%p, -1;");
        let Some(Refusal::Needs(cause)) = asked(&needs, "7.8", None) else { panic!() };
        assert_eq!(cause.what, "`elect.sync`");
    }

    #[test]
    fn a_module_for_one_architecture_loads_on_that_one() {
        let plain = text("8.0", "sm_90a", "");
        assert!(matches!(asked(&plain, "9.0", Some("sm_100a")), Some(Refusal::Target { .. })));
        let newer = text("9.1", "sm_90a", "");
        assert!(matches!(asked(&newer, "9.0", Some("sm_100a")), Some(Refusal::Target { .. })));
        assert!(matches!(asked(&plain, "8.5", Some("sm_100")), Some(Refusal::UnknownDevice(_))));
        let broken = text("8.0", "sm_90", "add.u32 %r1, %r2;");
        assert!(matches!(asked(&broken, "9.0", None), Some(Refusal::Invalid(_))));
    }

    #[test]
    fn a_version_that_nothing_needs_is_lowered() {
        let of = |text: &str| {
            let config = Config { version: Some(Version::new(8, 7)), ..Config::default() };
            check(text, &config).remove(0)
        };
        let fix = of(&text("9.0", "sm_90a", "")).fix.expect("there is a fix");
        assert_eq!(fix.edits[0].replacement, "8.7");
        let needed = of(&text("9.0", "sm_107", ""));
        assert!(needed.fix.is_none() && needed.notes.len() == 1, "{needed:?}");
    }
}
