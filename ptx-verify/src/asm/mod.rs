//! Inline assembly in CUDA C++: every asm statement of a source is verified by the pipeline of PTX files.
//!
//! The way of a statement, for each target:
//! 1. [`ptx_syntax::cuda::extract`] finds it, with its operands, their types and the `#if` lines around it.
//! 2. [`expand`] makes PTX of the template as the compiler does, and [`unit`] a PTX function of that: operands are
//!    registers of the types that the constraints and the target give them.
//! 3. [`translate`] lets the rules for PTX look at the function and brings their findings back into the source,
//!    through every escape and concatenation. What a PTX rule says about an operand becomes what it means for the
//!    constraint.
//! 4. The rules of kind `Check::Asm` look at the statement as a whole, and those of kind `Check::AsmFile` at the
//!    asm statements of a function as one stream.
//!
//! # For which target
//! A statement is verified for each target that was asked for and that the conditions around it do not exclude.
//! Without a request it is verified for `sm_90a`, or, where the conditions exclude that or the template needs more,
//! for the first target that is neither excluded nor too low: so the inactive branches are verified too.
//!
//! # What is not verified
//! Statements of other assemblers: see [`origin`].

pub(crate) mod expand;
mod origin;
pub(crate) mod stream;
pub(crate) mod translate;
pub(crate) mod unit;
mod values;

use std::collections::{HashMap, HashSet};

use ptx_ir::target::{Suffix, Target};
use ptx_ir::version::Version;
use ptx_syntax::cuda::{self, AsmId, AsmStatement, CudaFile, Feature, MacroValues, Truth};
use ptx_syntax::{Class, Diagnostic, Span};

use crate::config::{Config, Levels};
use crate::driver;
use crate::fix;
use crate::registry::Check;
use crate::rules;
use crate::suppress::Suppressions;
use stream::FileUnits;
use unit::{Aim, Unit};

/// Whose front end decides what may stand around a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compiler {
    /// NVIDIA's.
    #[default]
    Nvcc,
    /// LLVM's.
    Clang,
    /// What both take.
    Both,
}

impl Compiler {
    /// Whether nvcc's rules hold.
    #[must_use]
    pub const fn is_nvcc(self) -> bool {
        matches!(self, Self::Nvcc | Self::Both)
    }

    /// Whether clang's rules hold.
    #[must_use]
    pub const fn is_clang(self) -> bool {
        matches!(self, Self::Clang | Self::Both)
    }
}

/// What a verification of CUDA sources can be asked for.
#[derive(Clone, Debug, Default)]
pub struct CudaConfig {
    /// Levels that differ from the rules' own.
    pub levels: Levels,
    /// The targets; none for the default, see the module's documentation.
    pub targets: Vec<Target>,
    /// The PTX version; none for the newest.
    pub version: Option<Version>,
    /// The front end.
    pub compiler: Compiler,
}

/// Verifies the asm statements of a CUDA C++ source. Suppression comments are heeded and levels applied; the
/// findings come in the order of their places. A source without `asm` costs one search.
#[must_use]
pub fn check_cuda(source: &str, config: &CudaConfig) -> Vec<Diagnostic> {
    if !cuda::may_contain_asm(source.as_bytes()) {
        return Vec::new();
    }
    let file = cuda::extract(source);
    let mut diagnostics = Vec::new();
    let targets = if config.targets.is_empty() {
        vec![None]
    } else {
        config.targets.iter().copied().map(Some).collect()
    };
    for target in targets {
        diagnostics.extend(for_target(source, &file, config, target));
    }
    let mut diagnostics = merged(diagnostics);
    fix::drop_flawed_in_cuda(source, &file, &mut diagnostics);
    let mut suppressions = Suppressions::of_comments(source, cuda::comments(source));
    let settings = Config { levels: config.levels.clone(), ..Config::default() };
    driver::finish(&mut suppressions, &settings, &mut diagnostics);
    diagnostics
}

/// The findings for one target that was asked for, or for the default.
fn for_target(source: &str, file: &CudaFile, config: &CudaConfig, target: Option<Target>) -> Vec<Diagnostic> {
    let mut units: Vec<(AsmId, Unit<'_>)> = Vec::new();
    let mut diagnostics = Vec::new();
    for (id, statement) in file.ids().zip(&file.statements) {
        let chosen = match target {
            Some(target) => requested(source, file, statement, config, target),
            None => by_default(source, file, statement, config),
        };
        if let Some(unit) = chosen {
            units.push((id, unit));
        }
    }
    let shared = translate::shared_names(file, units.iter().map(|(_, unit)| unit));
    let mut seen: HashSet<(Span, &'static str)> = HashSet::new();
    for (_, unit) in &units {
        let mut found = of_unit(unit, &shared, target.is_some(), &config.levels);
        for other in &unit.alternatives {
            if found.is_empty() {
                break;
            }
            let said: HashSet<(Span, &'static str)> =
                of_unit(other, &shared, target.is_some(), &config.levels)
                    .iter()
                    .map(|found| (found.span, found.code))
                    .collect();
            found.retain(|found| said.contains(&(found.span, found.code)));
            for found in &mut found {
                found.fix = None;
            }
        }
        found.retain(|found| is_wanted(found, config));
        match unit.statement.used_at {
            // Another use, or the macro by itself, has said the same.
            Some(call) => {
                found.retain(|found| !seen.contains(&(found.span, found.code)));
                diagnostics.extend(found.into_iter().map(|found| at_use(found, call)));
            }
            None => {
                seen.extend(found.iter().map(|found| (found.span, found.code)));
                diagnostics.append(&mut found);
            }
        }
    }
    let by_id: HashMap<AsmId, &Unit<'_>> = units.iter().map(|(id, unit)| (*id, unit)).collect();
    let units = FileUnits { source, file, units: by_id };
    for rule in rules::ALL.iter().filter(|rule| rule.is_asked(&config.levels)) {
        if let Check::AsmFile(check) = rule.check {
            check(&units, &mut diagnostics);
        }
    }
    diagnostics
}

/// What is found in a statement, for one choice of values for its constants.
fn of_unit(unit: &Unit<'_>, shared: &translate::Shared, requested: bool, levels: &Levels) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    translate::findings(unit, shared, requested, &mut found);
    for rule in rules::ALL.iter().filter(|rule| rule.is_asked(levels)) {
        if let Check::Asm(check) = rule.check {
            check(unit, &mut found);
        }
    }
    found
}

/// Whether a finding is for the user: style is a matter of taste in an asm statement, and much of it stands in
/// headers of others, so it is told only where it was asked for.
fn is_wanted(found: &Diagnostic, config: &CudaConfig) -> bool {
    let own = found.rule.starts_with("asm-");
    found.class != Class::Style || own || config.levels.of(found.rule, found.class).is_some()
}

/// A finding in a macro, with the use that brought it out.
fn at_use(found: Diagnostic, call: Span) -> Diagnostic {
    if found.span.start <= call.start && call.end <= found.span.end {
        return found;
    }
    found.with_secondary(call, "where the macro is used here")
}

/// The same finding for several targets, or for several variants of a statement, is told once, and the loudest.
fn merged(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|found| (found.span, found.code));
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut seen: HashMap<(Span, &'static str, String), usize> = HashMap::new();
    for found in diagnostics {
        let key = (found.span, found.code, found.message.clone());
        match seen.get(&key) {
            Some(&index) => kept[index].severity = kept[index].severity.max(found.severity),
            None => {
                seen.insert(key, kept.len());
                kept.push(found);
            }
        }
    }
    kept
}

fn values(target: Target, version: Version) -> MacroValues {
    let feature = match target.suffix() {
        Suffix::Plain => Feature::Base,
        Suffix::Family => Feature::Family,
        Suffix::Architecture => Feature::Architecture,
    };
    MacroValues {
        sm: Some(u32::from(target.number())),
        feature,
        toolkit: toolkit(version),
        ptx_version: Some(u32::from(version.major()) * 100 + u32::from(version.minor()) * 10),
    }
}

/// The toolkit whose assembler was the first with a PTX version: the newest is told, older ones are not known.
fn toolkit(version: Version) -> Option<(u32, u32)> {
    (version == Version::LATEST).then_some((13, 5))
}

fn aim(source: &str, file: &CudaFile, statement: &AsmStatement, config: &CudaConfig, target: Target) -> Aim {
    let version = config.version.unwrap_or(Version::LATEST);
    let compiled = file.is_compiled(source, statement.condition, &values(target, version));
    Aim { target, version, compiled }
}

/// The unit of a statement for a target that was asked for; none where it is not compiled for it, or is no PTX.
fn requested<'a>(
    source: &'a str,
    file: &'a CudaFile,
    statement: &'a AsmStatement,
    config: &CudaConfig,
    target: Target,
) -> Option<Unit<'a>> {
    let aim = aim(source, file, statement, config, target);
    if aim.compiled == Truth::False {
        return None;
    }
    let unit = Unit::new(source, file, statement, aim, config.compiler);
    origin::is_ptx(&unit).then_some(unit)
}

/// The targets that are tried without a request, the first before all others: `sm_90a`, then newer ones, which
/// newer branches are for, then older ones.
fn default_targets() -> impl Iterator<Item = Target> {
    let newer = ["sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a", "sm_121a", "sm_90"];
    let older = Target::all().rev().filter(|target| target.number() < 90);
    newer.into_iter().filter_map(Target::parse).chain(older)
}

fn by_default<'a>(
    source: &'a str,
    file: &'a CudaFile,
    statement: &'a AsmStatement,
    config: &CudaConfig,
) -> Option<Unit<'a>> {
    let mut first: Option<Unit<'a>> = None;
    for target in default_targets() {
        let aim = aim(source, file, statement, config, target);
        if aim.compiled == Truth::False {
            continue;
        }
        let unit = Unit::new(source, file, statement, aim, config.compiler);
        if first.is_none() && !origin::is_ptx(&unit) {
            return None;
        }
        let needs_another = translate::needs_another_target;
        if !needs_another(&unit) || unit.alternatives.iter().any(|other| !needs_another(other)) {
            return Some(unit);
        }
        first = first.or(Some(unit));
    }
    first
}
