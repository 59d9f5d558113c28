//! Sentences about figures that changed or are too high.

use crate::foreign::{Name, line};
use ptx_emit::assemble::{Change, Excess};

/// As in "worse: `k` of `a.ptx` for sm_90a: 40 registers, were 32 (+8)".
pub fn change(change: &Change) -> String {
    let Change { file, target, function, figure, before, after } = change;
    let (file, function) = (Name::from(file), line(function));
    let (verdict, sign, difference) =
        if after > before { ("worse", '+', after - before) } else { ("better", '-', before - after) };
    format!(
        "{verdict}: `{function}` of `{file}` for {target}: {after} {}, were {before} ({sign}{difference})",
        figure.unit()
    )
}

/// As in "too many: `k` of `a.ptx`: 40 registers, allowed are 32".
pub fn excess(excess: &Excess) -> String {
    let Excess { file, function, figure, value, limit } = excess;
    let (file, function) = (Name::from(file), line(function));
    format!("too many: `{function}` of `{file}`: {value} {}, allowed are {limit}", figure.unit())
}
