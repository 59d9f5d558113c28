//! How loudly the user wants each rule: the flags on top of the configuration file.
//!
//! A rule is named by its name (`operand-type`) or its code (`P0205`); `all`, and the class names
//! `invalid`, `hazard` and `style`, stand for many. The more particular name wins over the less
//! particular one, whatever the order of the flags: `--allow all --error carry-undefined` does what it
//! says. A flag that stands for many overrules the entries of the configuration file for all of them.

use clap::Args;
use ptx_project::Error;
use ptx_project::config::Config;
use ptx_verify::{Level, Levels};

/// The flags that set levels.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Rules")]
pub struct LevelArgs {
    /// Report these rules as errors
    ///
    /// RULE is a name (`carry-undefined`), a code (`P0205`), a class (`invalid`, `hazard`, `style`) or
    /// `all`; several are separated by commas. The more particular name wins.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub error: Vec<String>,

    /// Report these rules as warnings
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub warn: Vec<String>,

    /// Do not report these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub allow: Vec<String>,
}

impl LevelArgs {
    /// The names with their levels; of two equal names the louder level comes later, and thus counts.
    fn requests(&self) -> impl Iterator<Item = (&str, Level)> {
        let lists = [(&self.allow, Level::Allow), (&self.warn, Level::Warn), (&self.error, Level::Error)];
        lists.into_iter().flat_map(|(names, level)| names.iter().map(move |name| (name.trim(), level)))
    }
}

/// The levels that the configuration and then the flags ask for. Fails on a name that no rule has.
pub fn levels(args: &LevelArgs, config: Option<&Config>) -> Result<Levels, Error> {
    ptx_project::levels(&args.requests().collect::<Vec<_>>(), config)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ptx_syntax::Class;

    use super::*;

    fn args(error: &[&str], warn: &[&str], allow: &[&str]) -> LevelArgs {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        LevelArgs { error: owned(error), warn: owned(warn), allow: owned(allow) }
    }

    fn parsed(text: &str) -> Config {
        Config::of_text(Path::new("ptx.toml"), text).unwrap().0
    }

    #[test]
    fn the_more_particular_name_wins_and_then_the_louder_level() {
        let chosen = levels(&args(&["syntax"], &["invalid"], &["all"]), None).unwrap();
        assert_eq!(chosen.of("syntax", Class::Invalid), Some(Level::Error));
        assert_eq!(chosen.of("operand-type", Class::Invalid), Some(Level::Warn));
        assert_eq!(chosen.of("dead-store", Class::Style), Some(Level::Allow));
        let equal = levels(&args(&["P0102"], &[], &["syntax"]), None).unwrap();
        assert_eq!(equal.of("syntax", Class::Invalid), Some(Level::Error));
    }

    #[test]
    fn flags_overrule_the_configuration() {
        let config = parsed("[rules]\nsyntax = \"warn\"\noperand-type = \"info\"\nstyle = \"allow\"\n");
        let plain = levels(&args(&[], &[], &[]), Some(&config)).unwrap();
        assert_eq!(plain.of("syntax", Class::Invalid), Some(Level::Warn));
        assert_eq!(plain.of("anything", Class::Style), Some(Level::Allow));
        let flags = levels(&args(&["invalid"], &[], &[]), Some(&config)).unwrap();
        assert_eq!(flags.of("operand-type", Class::Invalid), Some(Level::Error));
        assert_eq!(flags.of("anything", Class::Style), Some(Level::Allow));
        let rule = levels(&args(&[], &[], &["syntax"]), Some(&config)).unwrap();
        assert_eq!(rule.of("syntax", Class::Invalid), Some(Level::Allow));
    }

    #[test]
    fn unknown_names_are_told_with_the_nearest() {
        let error = levels(&args(&[], &[], &["sintax"]), None).unwrap_err().to_string();
        assert_eq!(error, "there is no rule `sintax`; did you mean `syntax`?");
        let config = parsed("[rules]\nsintax = \"warn\"\n");
        let error = levels(&args(&["all"], &[], &[]), Some(&config)).unwrap_err().to_string();
        assert!(error.contains("ptx.toml") && error.contains("did you mean `syntax`?"), "{error}");
    }
}
