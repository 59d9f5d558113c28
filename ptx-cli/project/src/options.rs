//! What to verify for.

use ptx_emit::format;
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_verify::{Compiler, Level, Levels, UnknownRule, find_rule};

use crate::config::Config;
use crate::error::Error;

/// What to verify for. The default is what the sources themselves say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The levels that were asked for.
    pub levels: Levels,
    /// What PTX is to load on; empty for what the file itself says.
    pub ptx_targets: Vec<Target>,
    /// The newest PTX version that is taken; `None` for what the file itself says.
    pub ptx_version: Option<Version>,
    /// The targets of asm statements; empty for the default.
    pub cuda_targets: Vec<Target>,
    /// The PTX version of asm statements; `None` for the newest.
    pub cuda_version: Option<Version>,
    /// The CUDA release that compiles asm statements; `None` for that of the newest version.
    pub cuda_toolkit: Option<(u32, u32)>,
    /// The front end of asm statements.
    pub compiler: Compiler,
}

impl Options {
    /// What a configuration asks for.
    ///
    /// # Errors
    /// It names a target, a version or a rule that does not exist.
    pub fn of(config: &Config) -> Result<Self, Error> {
        let targets_of =
            |key: &str, names: &[String]| targets(names).map_err(|error| config.wrong_entry(key, &error));
        let version_of = |key: &str, text: Option<&str>| {
            text.map(version).transpose().map_err(|error| config.wrong_entry(key, &error))
        };
        Ok(Self {
            levels: levels(&[], Some(config))?,
            ptx_targets: targets_of("ptx.target", config.ptx.target.as_slice())?,
            ptx_version: version_of("ptx.version", config.ptx.version.as_deref())?,
            cuda_targets: targets_of("cuda.targets", &config.cuda.targets)?,
            cuda_version: version_of("cuda.version", config.cuda.version.as_deref())?,
            cuda_toolkit: None,
            compiler: config.cuda.compiler.map(Compiler::from).unwrap_or_default(),
        })
    }
}

/// The levels that a configuration asks for, and then `requests`: names with their levels. A name is that of a rule
/// (`operand-type`), its code (`P0205`), a class (`invalid`, `hazard`, `style`) or `all`. The more particular one counts,
/// whatever the order, and of two equal names the later. A request that stands for many overrules the entries of the
/// configuration for all of them.
///
/// # Errors
/// A name that no rule has.
pub fn levels(requests: &[(&str, Level)], config: Option<&Config>) -> Result<Levels, Error> {
    let mut levels = Levels::default();
    if let Some(config) = config {
        for (name, level) in &config.rules {
            levels_of_entry(requests, name, (*level).into(), &mut levels)
                .map_err(|error| config.wrong_entry(&format!("rules.{name}"), &Error::Rule(error)))?;
        }
    }
    for (name, level) in requests {
        levels.set(name, *level).map_err(Error::Rule)?;
    }
    Ok(levels)
}

/// Takes an entry of the configuration, unless a request that stands for many speaks of its rule.
fn levels_of_entry(
    requests: &[(&str, Level)],
    name: &str,
    level: Level,
    levels: &mut Levels,
) -> Result<(), UnknownRule> {
    let class = match name {
        "invalid" | "hazard" | "style" => Some(name),
        name => find_rule(name).map(|rule| rule.class.as_str()),
    };
    if requests.iter().any(|(request, _)| *request == "all" || Some(*request) == class) {
        // The name has to be right even where it does not count.
        return Levels::default().set(name, level);
    }
    levels.set(name, level)
}

/// The targets of these names.
///
/// # Errors
/// There is no such target. The error names those that are like it.
pub fn targets(names: &[String]) -> Result<Vec<Target>, Error> {
    names.iter().map(|name| target(name.trim())).collect()
}

/// The target of this name.
///
/// # Errors
/// There is no such target. The error names those that are like it.
pub fn target(name: &str) -> Result<Target, Error> {
    Target::parse(name).ok_or_else(|| Error::Target(name.to_owned()))
}

/// The published PTX version that `text` is, as in `8.6`.
///
/// # Errors
/// There is none.
pub fn version(text: &str) -> Result<Version, Error> {
    let known = Version::parse(text.trim()).filter(|version| version.is_published());
    known.ok_or_else(|| Error::Version(text.to_owned()))
}

/// How PTX is laid out, of these parts.
///
/// # Errors
/// Widths that are not sensible.
pub fn layout(layout: format::Layout, indent: Option<u8>, width: u16) -> Result<format::Options, Error> {
    if let Some(indent) = indent.filter(|indent| !format::Options::INDENTS.contains(indent)) {
        return Err(Error::Indent(indent));
    }
    if !format::Options::WIDTHS.contains(&width) {
        return Err(Error::Width(width));
    }
    Ok(format::Options { layout, indent, width })
}

/// Where the book is, which has a page for each rule, and the schema of `ptx.toml`.
pub const BOOK: &str = "https://ptx-toolkit.github.io/ptx-toolkit/";

/// The address of a rule's page; `None` for what is found without a rule.
#[must_use]
pub fn page_address(rule: &str) -> Option<String> {
    find_rule(rule).map(|rule| format!("{BOOK}rules/{}/", rule.name))
}

/// A doc comment as a page: without the blank that follows `///` on every line.
#[must_use]
pub fn page(doc: &str) -> String {
    let lines: Vec<&str> =
        doc.trim_end().lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_names_are_told_with_right_ones() {
        assert_eq!(target("sm_90").unwrap().as_str(), "sm_90");
        let error = target("sm90").unwrap_err().to_string();
        assert_eq!(error, "there is no target `sm90`; there is `sm_90`, `sm_90a`");
        assert!(target("hopper").unwrap_err().to_string().contains("sm_20, "));
        assert!(version("12.3").unwrap_err().to_string().contains("9.5"));
    }

    #[test]
    fn a_configuration_says_what_to_verify_for() {
        let config =
            Config::parse("rules.syntax = \"warn\"\nptx.target = \"sm_90\"\ncuda.compiler = \"both\"\n");
        let options = Options::of(&config).unwrap();
        assert_eq!(options.levels.of("syntax", ptx_syntax::Class::Invalid), Some(Level::Warn));
        assert_eq!((options.ptx_targets[0].as_str(), options.compiler), ("sm_90", Compiler::Both));
        let wrong = Config::parse("\nptx.target = \"sm_9\"\n");
        let error = Options::of(&wrong).unwrap_err().to_string();
        assert!(
            error.starts_with("the configuration file `ptx.toml` is not right in line 2: there is no target")
        );
    }
}
