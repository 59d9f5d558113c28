//! Sentences about figures that changed or are too high.

use super::names;
use crate::foreign::{Name, line};
use ptx_emit::assemble::{Change, Excess, UnknownFigure};

/// The name of a function as the source has it.
fn shown(function: &str) -> String {
    line(&names::shown(function)).into_owned()
}

/// As in "worse: `k` of `a.ptx` for sm_90a: 40 registers, were 32 (+8)".
pub fn change(change: &Change) -> String {
    let Change { file, target, function, figure, before, after } = change;
    let (file, function) = (Name::from(file), shown(function));
    let (verdict, sign, difference) =
        if after > before { ("worse", '+', after - before) } else { ("better", '-', before - after) };
    format!(
        "{verdict}: `{function}` of `{file}` for {target}: {after} {}, were {before} ({sign}{difference})",
        figure.unit()
    )
}

/// As in "too many: `k` of `a.ptx` for sm_90: 40 registers, allowed are 32".
pub fn excess(excess: &Excess) -> String {
    let Excess { file, target, function, figure, value, limit } = excess;
    let (file, function, unit) = (Name::from(file), shown(function), figure.unit());
    format!("too many: `{function}` of `{file}` for {target}: {value} {unit}, allowed are {limit}")
}

/// What keeps `option` from being judged, as in "cannot judge the limits: ptxas 1.2.3 told no registers of
/// `k` of `a.ptx` for sm_90 (and 3 other figures are missing)".
pub fn unjudged(option: &str, missing: &[UnknownFigure]) -> Option<String> {
    let (UnknownFigure { file, target, compiler, function, figure }, others) = missing.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => " (and 1 other figure is missing)".to_owned(),
        count => format!(" (and {count} other figures are missing)"),
    };
    let (file, function, unit) = (Name::from(file), shown(function), figure.unit());
    Some(format!(
        "cannot judge {option}: {compiler} told no {unit} of `{function}` of `{file}` for {target}{others}"
    ))
}

/// Names the records of a baseline that no file of this run belongs to.
pub fn unused(records: &[(String, String)], is_gone: impl Fn(&str) -> bool) -> Option<String> {
    /// How many are named; the rest is counted.
    const NAMED: usize = 5;
    if records.is_empty() {
        return None;
    }
    let name = |(file, target): &(String, String)| {
        let gone = if is_gone(file) { ", which is gone" } else { "" };
        format!("`{}` for `{}`{gone}", Name::from(file), line(target))
    };
    let mut names: Vec<String> = records.iter().take(NAMED).map(name).collect();
    if records.len() > NAMED {
        names.push(format!("and {} more", records.len() - NAMED));
    }
    Some(format!("in the baseline, but not compiled now: {}", names.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_a_file_are_named_and_counted() {
        let record = |number: usize| (format!("{number}.ptx"), "sm_90".to_owned());
        assert_eq!(unused(&[], |_| true), None);
        let told = unused(&[record(0), record(1)], |file| file == "1.ptx").unwrap();
        assert!(told.ends_with(": `0.ptx` for `sm_90`; `1.ptx` for `sm_90`, which is gone"), "{told}");
        let many: Vec<_> = (0..8).map(record).collect();
        assert!(unused(&many, |_| false).unwrap().ends_with("`4.ptx` for `sm_90`; and 3 more"));
    }
}
