//! `dump --needs`: the lowest PTX version and the targets that a module needs.

use std::io::{self, Write};

use ptx_ir::ir::Module;
use ptx_ir::target::{Target, TargetSet};
use ptx_ir::version::Version;
use ptx_syntax::LineIndex;
use ptx_verify::requirements;

/// Writes what the module needs on the first line, and below it what asks for that, with line and column. Each cause
/// asks for more than all in front of it.
pub fn needs(out: &mut dyn Write, source: &str, module: &Module) -> io::Result<()> {
    let needed = requirements(module);
    let index = LineIndex::new(source);
    writeln!(out, "needs {}", both(needed.version, needed.targets))?;
    for cause in &needed.causes {
        let at = index.position(cause.span.start);
        let asked = both(cause.version, cause.targets);
        writeln!(out, "  {}:{}: {} needs {asked}", at.line, at.column, cause.what)?;
    }
    Ok(())
}

/// The version and the targets in pairs that a module can be written for: a target that came with a later version
/// stands with that one. `or higher` has the later ones in it.
fn both(version: Version, targets: TargetSet) -> String {
    if targets.is_empty() {
        return format!("PTX {version} and what no single target has");
    }
    let since = |target: Target| target.min_version().max(version);
    let oldest = targets.iter().map(since).min().unwrap_or(version);
    let upwards = |first: Target| {
        let rest: TargetSet = targets.iter().filter(|&target| target >= first).collect();
        (rest == TargetSet::at_least(first.number())).then_some(rest)
    };
    let mut shown = targets.iter().find(|&target| since(target) == oldest).and_then(upwards);
    let mut pairs = String::new();
    if let Some(rest) = shown {
        pairs = format!("PTX {oldest} and {rest}");
    }
    for version in Version::ALL {
        let done = shown.unwrap_or(TargetSet::NONE);
        let new: TargetSet =
            targets.iter().filter(|&target| since(target) == version && !done.contains(target)).collect();
        if new.is_empty() {
            continue;
        }
        let or = if pairs.is_empty() { "" } else { ", or " };
        pairs.push_str(&format!("{or}PTX {version} and {new}"));
        shown = Some(done.union(new));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::both;
    use ptx_ir::target::{Target, TargetSet};
    use ptx_ir::version::Version;

    #[test]
    fn every_pair_can_be_written() {
        let version = |text: &str| Version::parse(text).unwrap();
        let set =
            |names: &[&str]| names.iter().map(|name| Target::parse(name).unwrap()).collect::<TargetSet>();
        let from = TargetSet::at_least;
        assert_eq!(both(version("2.3"), from(20)), "PTX 2.3 and sm_20 or higher");
        assert_eq!(both(version("3.1"), from(32)), "PTX 3.1 and sm_35 or higher, or PTX 4.0 and sm_32");
        assert_eq!(both(version("4.0"), from(32)), "PTX 4.0 and sm_32 or higher");
        assert_eq!(both(version("1.0"), from(90)), "PTX 7.8 and sm_90 or higher");
        let some = set(&["sm_100a", "sm_103a", "sm_107a"]);
        assert_eq!(
            both(version("8.0"), some),
            "PTX 8.6 and sm_100a, or PTX 8.8 and sm_103a, or PTX 9.4 and sm_107a"
        );
        assert_eq!(both(version("9.4"), some), "PTX 9.4 and sm_100a, sm_103a, sm_107a");
        assert_eq!(both(version("9.4"), set(&[])), "PTX 9.4 and what no single target has");
    }
}
