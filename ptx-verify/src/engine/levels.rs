//! What the user asks of a verification: levels of rules, another target, another version.

use std::fmt;
use std::sync::LazyLock;

use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::{Class, Diagnostic};

use crate::rule::{Level, Rule};
use crate::rules::{self, find_rule, nearest_rule};

/// Everything that a verification can be asked for. The default asks for what the file itself says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Config {
    /// Levels that differ from the rules' own.
    pub levels: Levels,
    /// The device that the module is to be loaded on: "would this load there?". The features that the module
    /// may use are still those of its own `.target`, as NVIDIA's assembler has it.
    pub target: Option<Target>,
    /// The PTX version of the assembler or driver: a module of a newer one is refused there.
    pub version: Option<Version>,
    /// How many threads may work on the functions of one module; 0 and 1 mean the calling one.
    pub threads: usize,
}

/// Levels by rule, by class, and for all. The more particular request wins, whatever the order in which they
/// came; of two equally particular ones the later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    rules: Vec<(&'static str, Level)>,
    classes: [Option<Level>; 3],
    all: Option<Level>,
}

/// A name that no rule has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRule {
    /// The name.
    pub name: String,
    /// The rule whose name is spelled most alike.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "there is no rule `{}`", self.name)?;
        match self.nearest {
            Some(nearest) => write!(formatter, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownRule {}

/// The names of the rules that are off by default: every finding is compared with them.
static OFF: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let off = rules::rules().filter(|rule| rule.default_level == Level::Allow);
    off.map(|rule| rule.name).collect()
});

impl Levels {
    /// Asks for a level. `selector` is the name or code of a rule, a class (`invalid`, `hazard`, `style`), or
    /// `all`.
    ///
    /// # Errors
    /// There is no such rule.
    pub fn set(&mut self, selector: &str, level: Level) -> Result<(), UnknownRule> {
        match selector {
            "all" => self.all = Some(level),
            "invalid" => self.classes[Class::Invalid as usize] = Some(level),
            "hazard" => self.classes[Class::Hazard as usize] = Some(level),
            "style" => self.classes[Class::Style as usize] = Some(level),
            name => match find_rule(name) {
                Some(rule) => self.rules.push((rule.name, level)),
                None => return Err(UnknownRule { name: name.into(), nearest: nearest_rule(name) }),
            },
        }
        Ok(())
    }

    /// The level that was asked for, if any.
    #[must_use]
    pub fn of(&self, rule: &str, class: Class) -> Option<Level> {
        let by_rule = self.rules.iter().rev().find(|(name, _)| *name == rule).map(|&(_, level)| level);
        by_rule.or(self.classes[class as usize]).or(self.all)
    }

    /// Whether anything that the check finds is reported. A rule that is off costs nothing.
    pub(crate) fn asks(&self, rule: &Rule) -> bool {
        let is_on = |rule: &Rule| {
            self.of(rule.info.name, rule.info.class).unwrap_or(rule.info.default_level) != Level::Allow
        };
        is_on(rule) || rule.also.iter().any(|rule| is_on(rule))
    }

    /// The rules that are not off, in the order of their codes.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &'static Rule> {
        rules::all().iter().copied().filter(|rule| self.asks(rule))
    }

    /// Whether nothing was asked for.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Drops what is not to be reported and gives the rest the severity asked for. A rule that is off by
    /// default is reported only where it was asked for by its name or class.
    pub fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|diagnostic| {
            let off = || OFF.contains(&diagnostic.rule);
            match self.of(diagnostic.rule, diagnostic.class) {
                Some(level) => match level.severity() {
                    Some(severity) => {
                        diagnostic.severity = severity;
                        true
                    }
                    None => false,
                },
                None => !off(),
            }
        });
    }
}

/// Levels and compilers as `ptx.toml` has them: names of rules and classes, or `all`, with their levels.
#[cfg(feature = "serde")]
mod serial {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    use super::{Class, Level, Levels};
    use crate::subject::fragment::Compiler;

    const COMPILERS: [(Compiler, &str); 3] =
        [(Compiler::Nvcc, "nvcc"), (Compiler::Clang, "clang"), (Compiler::Both, "both")];

    impl Serialize for Compiler {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let name = COMPILERS.iter().find(|(each, _)| each == self).map_or("", |(_, name)| name);
            serializer.serialize_str(name)
        }
    }

    impl<'d> Deserialize<'d> for Compiler {
        fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
            let name = <Cow<'d, str>>::deserialize(deserializer)?;
            let known = COMPILERS.iter().find(|(_, each)| *each == name);
            known
                .map(|(compiler, _)| *compiler)
                .ok_or_else(|| D::Error::custom(format_args!("`{name}` is none of nvcc, clang and both")))
        }
    }

    impl Serialize for Levels {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let of_class = |class: Class| Some((class.as_str(), self.classes[class as usize]?));
            let classes = [Class::Invalid, Class::Hazard, Class::Style].into_iter().filter_map(of_class);
            let all = self.all.map(|level| ("all", level));
            let entries: BTreeMap<_, _> =
                all.into_iter().chain(classes).chain(self.rules.iter().copied()).collect();
            serializer.collect_map(entries)
        }
    }

    impl<'d> Deserialize<'d> for Levels {
        fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
            let mut levels = Self::default();
            for (name, level) in BTreeMap::<String, Level>::deserialize(deserializer)? {
                levels.set(&name, level).map_err(D::Error::custom)?;
            }
            Ok(levels)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Levels};
    use ptx_syntax::{Class, Diagnostic, Severity, Span};

    #[test]
    fn the_more_particular_request_wins() {
        let mut levels = Levels::default();
        levels.set("operand-type", Level::Info).unwrap();
        levels.set("invalid", Level::Warn).unwrap();
        levels.set("all", Level::Allow).unwrap();
        assert_eq!(levels.of("operand-type", Class::Invalid), Some(Level::Info));
        assert_eq!(levels.of("operand-count", Class::Invalid), Some(Level::Warn));
        assert_eq!(levels.of("modifier-order", Class::Style), Some(Level::Allow));
        levels.set("P0205", Level::Error).unwrap();
        assert_eq!(levels.of("operand-type", Class::Invalid), Some(Level::Error));
    }

    #[test]
    fn unknown_names_come_back_with_the_nearest() {
        let error = Levels::default().set("operand-tipe", Level::Warn).unwrap_err();
        assert_eq!(error.to_string(), "there is no rule `operand-tipe`; did you mean `operand-type`?");
    }

    #[test]
    fn levels_change_severities_and_drop_findings() {
        let finding = |rule| Diagnostic::invalid("P0101", rule, Span::default(), "");
        let mut found = vec![finding("operand-type"), finding("operand-count")];
        let mut levels = Levels::default();
        levels.set("operand-type", Level::Warn).unwrap();
        levels.set("operand-count", Level::Allow).unwrap();
        levels.apply(&mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Warning);
    }
}
