//! Which rules there are, and how loudly the user wants each.
//!
//! A rule is named by its name (`operand-type`) or its code (`E0203`); `all`, and the class names
//! `invalid`, `hazard` and `style`, stand for many. The more particular name wins over the less
//! particular one, whatever the order of the flags: `--allow all --error carry-undefined` does what it
//! says. Among equals the louder level wins. Flags count before the entries of a configuration file.

use std::sync::OnceLock;

use anyhow::bail;
use clap::Args;
use ptx_syntax::{Class, Diagnostic, Severity};
use serde::Deserialize;

use crate::config::{Config, wrong_entry};

/// The flags that set levels.
#[derive(Args, Clone, Debug, Default)]
pub struct LevelArgs {
    /// Report these rules as errors
    ///
    /// RULE is a name (`carry-undefined`), a code (`E0203`), a class (`invalid`, `hazard`, `style`) or
    /// `all`; several are separated by commas. The more particular name wins.
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub error: Vec<String>,

    /// Report these rules as warnings
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub warn: Vec<String>,

    /// Do not report these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub allow: Vec<String>,
}

/// What is known of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, such as `operand-type`.
    pub name: &'static str,
    /// Its code, such as `E0203`.
    pub code: &'static str,
    /// Its class.
    pub class: Class,
    /// How loud it is unless the user says otherwise; `None` where it is off.
    pub severity: Option<Severity>,
    /// What it finds, in half a sentence.
    pub summary: &'static str,
    /// Its manual page, in Markdown.
    pub doc: &'static str,
}

/// All rules, those of this crate first.
pub fn rules() -> &'static [Rule] {
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    RULES.get_or_init(|| vec![NOT_TEXT])
}

/// The rule with this name or code.
pub fn find(name: &str) -> Option<&'static Rule> {
    rules().iter().find(|rule| rule.name == name || rule.code.eq_ignore_ascii_case(name))
}

/// The rule of [`crate::source::Source::not_text`].
pub const NOT_TEXT: Rule = Rule {
    name: "not-text",
    code: "E0000",
    class: Class::Invalid,
    severity: Some(Severity::Error),
    summary: "the file is binary data, not PTX text",
    doc: include_str!("not_text.md"),
};

/// The names of rules that are most like `name`, for a message about a name that is unknown.
pub fn nearest(name: &str) -> Option<&'static str> {
    let distance = |rule: &&Rule| (similarity(rule.name, name) * 1000.0) as u32;
    let best = rules().iter().max_by_key(distance)?;
    (similarity(best.name, name) > 0.6).then_some(best.name)
}

fn similarity(a: &str, b: &str) -> f32 {
    similar::TextDiff::from_chars(a, b).ratio()
}

/// An error that names the unknown rule and the nearest known one.
pub fn unknown(name: &str) -> anyhow::Error {
    match nearest(name) {
        Some(near) => anyhow::anyhow!("there is no rule `{name}`; did you mean `{near}`?"),
        None => anyhow::anyhow!("there is no rule `{name}`; `ptx-cli rules` lists them"),
    }
}

/// A level that the user asked for. The order is from quiet to loud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Not reported.
    Allow,
    /// Worth knowing.
    Info,
    /// A warning.
    Warn,
    /// An error.
    Error,
}

/// The levels that the user asked for, those that count first.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    requests: Vec<(Selector, Level)>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selector {
    Rule(&'static str),
    Class(Class),
    All,
}

impl Selector {
    fn parse(name: &str) -> anyhow::Result<Self> {
        match name {
            "all" => Ok(Self::All),
            "invalid" => Ok(Self::Class(Class::Invalid)),
            "hazard" => Ok(Self::Class(Class::Hazard)),
            "style" => Ok(Self::Class(Class::Style)),
            "" => bail!("a rule name is empty"),
            _ => find(name).map(|rule| Self::Rule(rule.name)).ok_or_else(|| unknown(name)),
        }
    }

    fn matches(self, name: &str, class: Class) -> bool {
        match self {
            Self::Rule(wanted) => wanted == name,
            Self::Class(wanted) => wanted == class,
            Self::All => true,
        }
    }

    /// Rules before classes before everything.
    fn breadth(self) -> u8 {
        match self {
            Self::Rule(_) => 0,
            Self::Class(_) => 1,
            Self::All => 2,
        }
    }
}

impl Levels {
    /// The levels that the flags and then the configuration ask for. Fails on a name that no rule has.
    pub fn new(args: &LevelArgs, config: Option<&Config>) -> anyhow::Result<Self> {
        let mut requests = Vec::new();
        for (names, level) in
            [(&args.error, Level::Error), (&args.warn, Level::Warn), (&args.allow, Level::Allow)]
        {
            for name in names {
                requests.push((Selector::parse(name.trim())?, level));
            }
        }
        // Stable: among equals the louder level, which was pushed first, stays first.
        requests.sort_by_key(|(selector, _)| selector.breadth());
        if let Some(config) = config {
            let parse = |(name, level): (&String, &Level)| anyhow::Ok((Selector::parse(name)?, *level));
            let entries: anyhow::Result<Vec<_>> = config.rules.iter().map(parse).collect();
            let mut entries = entries.or_else(|error| wrong_entry(config, &error))?;
            entries.sort_by_key(|(selector, _)| selector.breadth());
            requests.extend(entries);
        }
        Ok(Self { requests })
    }

    /// The level that the user asked for, if any.
    pub fn of(&self, rule: &str, class: Class) -> Option<Level> {
        self.requests.iter().find(|(selector, _)| selector.matches(rule, class)).map(|(_, level)| *level)
    }

    /// Drops what is allowed and changes the severity of the rest.
    pub fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|diagnostic| match self.of(diagnostic.rule, diagnostic.class) {
            Some(Level::Allow) => false,
            Some(Level::Info) => set(diagnostic, Severity::Info),
            Some(Level::Warn) => set(diagnostic, Severity::Warning),
            Some(Level::Error) => set(diagnostic, Severity::Error),
            None => true,
        });
    }
}

fn set(diagnostic: &mut Diagnostic, severity: Severity) -> bool {
    diagnostic.severity = severity;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(error: &[&str], warn: &[&str], allow: &[&str]) -> anyhow::Result<Levels> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Levels::new(&LevelArgs { error: owned(error), warn: owned(warn), allow: owned(allow) }, None)
    }

    #[test]
    fn the_more_particular_name_wins_and_then_the_louder_level() {
        let chosen = levels(&["not-text"], &["invalid"], &["all"]).unwrap();
        assert_eq!(chosen.of("not-text", Class::Invalid), Some(Level::Error));
        assert_eq!(chosen.of("other", Class::Invalid), Some(Level::Warn));
        assert_eq!(chosen.of("other", Class::Style), Some(Level::Allow));
        let equal = levels(&["E0000"], &[], &["not-text"]).unwrap();
        assert_eq!(equal.of("not-text", Class::Invalid), Some(Level::Error));
        assert_eq!(levels(&[], &[], &[]).unwrap().of("not-text", Class::Invalid), None);
    }

    #[test]
    fn unknown_names_are_told_with_the_nearest() {
        let error = levels(&[], &[], &["not-txt"]).unwrap_err().to_string();
        assert_eq!(error, "there is no rule `not-txt`; did you mean `not-text`?");
    }
}
