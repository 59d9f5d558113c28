//! Which variables of parametrised declarations `name<N>` a text names. Only these become variables: `N` may be as large
//! as 32 bits count, and memory is in proportion to the text. The variables of a function are named in the function only,
//! so that it can be lowered by itself.

use ptx_syntax::lexer::{Lexer, TokenKind};
use rustc_hash::FxHashMap;

/// Numbers have no more digits than this.
const MAX_DIGITS: usize = 9;

/// So many variables a module may have of its own parametrised declarations, whatever its size,
const MIN_VARIABLES: usize = 1 << 16;
/// and a function of its,
const MIN_LOCAL_VARIABLES: usize = 1 << 6;
/// and this many more for each name of the text that ends in digits.
const VARIABLES_PER_NAME: usize = 4;

/// The names of a text that end in digits.
#[derive(Debug)]
pub(super) struct Members<'s> {
    /// For what is before the digits the numbers, ascending.
    by_prefix: FxHashMap<&'s str, Vec<u32>>,
    /// How many variables may still be made.
    left: usize,
}

impl<'s> Members<'s> {
    /// The names of a module.
    pub fn of(source: &'s str) -> Self {
        Self::of_text(source, MIN_VARIABLES)
    }

    /// The names of a function.
    pub fn of_function(text: &'s str) -> Self {
        Self::of_text(text, MIN_LOCAL_VARIABLES)
    }

    fn of_text(source: &'s str, minimum: usize) -> Self {
        let mut by_prefix: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut names = 0;
        for token in Lexer::new(source) {
            if !matches!(token.kind, TokenKind::Name | TokenKind::Dotted) {
                continue;
            }
            // What follows a dot is an element of a vector.
            let name = token.text(source).split('.').next().unwrap_or_default();
            let prefix = name.trim_end_matches(|last: char| last.is_ascii_digit());
            let digits = &name[prefix.len()..];
            if let Ok(number) = digits.parse()
                && digits.len() <= MAX_DIGITS
            {
                by_prefix.entry(prefix).or_default().push(number);
                names += 1;
            }
        }
        for numbers in by_prefix.values_mut() {
            numbers.sort_unstable();
            numbers.dedup();
        }
        Self { by_prefix, left: minimum + VARIABLES_PER_NAME * names }
    }

    /// The numbers of the variables that a declaration `prefix<count>` makes: the first, which stands for the declaration,
    /// and those that the text names. None where the declarations of the module make too many.
    pub fn take(&mut self, prefix: &str, count: u32) -> Option<Vec<u32>> {
        let named = self.by_prefix.get(prefix).map_or(&[][..], Vec::as_slice);
        let named = &named[..named.partition_point(|number| *number < count)];
        let first = (count > 0 && named.first() != Some(&0)).then_some(0);
        self.left = self.left.checked_sub(named.len() + 1)?;
        Some(first.into_iter().chain(named.iter().copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_the_text_names_are_made() {
        let mut members = Members::of("mov.u64 %rd1, v12; ld.u32 %r1, [v3+4]; v12.x w99999999999 v007 v");
        assert_eq!(members.take("v", 10), Some(vec![0, 3, 7]));
        assert_eq!(members.take("v", u32::MAX), Some(vec![0, 3, 7, 12]));
        assert_eq!(members.take("%rd", 1), Some(vec![0]));
        assert_eq!(members.take("w", u32::MAX), Some(vec![0]));
        assert_eq!(members.take("v", 0), Some(Vec::new()));
    }

    #[test]
    fn declarations_that_make_too_many_are_refused() {
        let text: String = (0..1000).map(|number| format!("v{number} ")).collect();
        let mut members = Members::of(&text);
        assert_eq!((0..1000).take_while(|_| members.take("v", 2000).is_some()).count(), 69);
    }
}
