//! Which names PTX takes.
//!
//! PTX ISA manual, "Syntax: Identifiers". Opcodes and types are no keywords, so a variable may be called `add`.

use super::error::{BuildError, NameProblem};
use crate::special::SpecialRegister;

/// Words that NVIDIA's assembler reads as something else wherever they are.
const RESERVED: [&str; 3] = ["WARP_SZ", "function_name", "inlined_at"];

/// Whether `name` can be declared.
pub(super) fn check(name: &str) -> Result<(), BuildError> {
    let error = |problem| Err(BuildError::Name { name: name.to_owned(), problem });
    if !is_identifier(name) {
        return error(NameProblem::NotAnIdentifier);
    }
    if RESERVED.contains(&name) || SpecialRegister::parse(name).is_some() {
        return error(NameProblem::Reserved);
    }
    Ok(())
}

/// A letter and letters, digits, `_`, `$`; or `_`, `$`, `%` and at least one of those.
fn is_identifier(name: &str) -> bool {
    let Some((first, rest)) = name.as_bytes().split_first() else { return false };
    let follows = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let starts = match first {
        b'_' | b'$' | b'%' => !rest.is_empty(),
        _ => first.is_ascii_alphabetic(),
    };
    starts && rest.iter().all(follows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_of_the_manual() {
        for name in ["a", "add", "_x", "$L__BB0_1", "%r1", "%1", "x$y", "__"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "_", "$", "%", "1a", "a.b", "a%b", "ä", "a b", "%tid"] {
            assert!(check(name).is_err(), "{name}");
        }
        assert!(check("WARP_SZ").is_err() && check("%tid.x").is_err());
    }
}
