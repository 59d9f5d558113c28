//! Texts for the properties: soups of tokens, and damaged programs.

use arbtest::arbitrary::{Result, Unstructured};
use ptx_syntax::lexer::tokenize;

/// Pieces that PTX is made of, and some that it is not.
const PIECES: &[&str] = &[
    ".version 8.0\n",
    ".target sm_90\n",
    ".address_size 64\n",
    ".entry",
    ".func",
    ".visible",
    ".extern",
    ".weak",
    ".reg",
    ".param",
    ".global",
    ".shared",
    ".local",
    ".const",
    ".align",
    ".attribute",
    ".alias",
    ".pragma",
    ".file",
    ".loc",
    ".section",
    ".callprototype",
    ".branchtargets",
    ".calltargets",
    ".b32",
    ".u64",
    ".f32",
    ".pred",
    ".v4",
    ".maxntid",
    ".noreturn",
    ".debug_info",
    ".managed",
    "add.u32",
    "ld.global.u32",
    "ret",
    "call",
    "bra",
    "mov",
    "%r1",
    "%tid.x",
    "%p",
    "x",
    "_",
    "$L",
    "a.b",
    "0",
    "1",
    "08",
    "0x1F",
    "5U",
    "0f3F800000",
    "1.5",
    "5.",
    ".5",
    "1e",
    "\"a\"",
    "\"",
    "\"a\nb\"",
    ",",
    ";",
    ":",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "@",
    "=",
    "?",
    "!",
    "~",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "<",
    ">",
    "<<",
    ">>",
    "<=",
    "==",
    "&&",
    " ",
    " ",
    "\n",
    "\n",
    "\n\n\n",
    "\t",
    "\r\n",
    "\x0c",
    "\x1a",
    "// c\n",
    "// c",
    "  // c\n",
    "/* c */",
    "/* c\n * d */",
    "/*",
    "*/",
    "// ptx-format off\n",
    "// ptx-format on\n",
    "// ptx-format skip\n",
    ".source_begin",
    ".source_end",
    "#",
    "'",
    "\\",
    "\0",
    "\u{feff}",
    "\u{e9}",
    ".nv_intermediate_source_section",
    "_ ();",
    "x: ",
    "@%p ",
    "@!%p ",
    ".entry k () {",
    "ret; }\n",
    "{1, 2}",
    " = {",
    "[a+4]",
    "x<4>",
    "generic(",
    "mov.u32 %r1, ",
];

/// The pieces that [`soup`] is made of.
pub fn pieces() -> impl Iterator<Item = &'static str> {
    PIECES.iter().copied()
}

/// Pieces in any order.
///
/// # Errors
/// The source of randomness is exhausted.
pub fn soup(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=200)? {
        text.push_str(u.choose(PIECES)?);
        if u.ratio(1, 3)? {
            text.push(' ');
        }
    }
    Ok(text)
}

/// Some lines of a program, with a few tokens removed, doubled, exchanged or put in.
///
/// # Errors
/// The source of randomness is exhausted.
pub fn damaged(program: &str, u: &mut Unstructured<'_>) -> Result<String> {
    let lines: Vec<&str> = program.split_inclusive('\n').collect();
    if lines.is_empty() {
        return Ok(String::new());
    }
    let from = u.int_in_range(0..=lines.len() - 1)?;
    let count = u.int_in_range(1..=80)?;
    let whole = lines.len() <= 80 && u.ratio(1, 2)?;
    let part: String =
        if whole { program.to_owned() } else { lines[from..].iter().take(count).copied().collect() };
    let mut tokens: Vec<&str> = tokenize(&part).into_iter().map(|token| token.text(&part)).collect();
    for _ in 0..u.int_in_range(0..=4)? {
        if tokens.is_empty() {
            break;
        }
        let at = u.int_in_range(0..=tokens.len() - 1)?;
        match u.int_in_range(0..=4)? {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            2 => {
                let other = u.int_in_range(0..=tokens.len() - 1)?;
                tokens.swap(at, other);
            }
            3 => tokens.truncate(at),
            _ => tokens.insert(at, u.choose(PIECES)?),
        }
    }
    Ok(tokens.concat())
}
