//! Other languages that have inline PTX.

use ptx_hosts::Language;

use super::points_into;

/// A file of the language that its first byte chooses: findings are in it.
///
/// # Panics
/// Where that does not hold.
pub fn hosts(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let language = Language::ALL[usize::from(*first) % Language::ALL.len()];
    let text = String::from_utf8_lossy(rest);
    points_into(&text, &ptx_cli::fuzz::found_in(language, &text));
}
