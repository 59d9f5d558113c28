//! Counts the asm statements below folders twice: by extraction, and by a second, much simpler method that shares no
//! code with it; prints every file where the two disagree.
//!
//! The second method blanks comments, strings and characters byte by byte and then counts keywords that qualifiers
//! and an opening parenthesis follow. It knows no preprocessor, so it counts statements of `#define` bodies and of
//! inactive branches too.
//!
//! ```text
//! asm_census [--list] FOLDER…
//! ```
//!
//! `--list` prints the place of each statement, and the names of macros whose bodies hold one, to be compared with
//! what a compiler's preprocessor leaves.
//!
//! Exit status: 0 the counts agree in every file, 1 they do not, 2 no folder given or nothing to read.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ptx_syntax::cuda::{self, CType, NonStatementKind};

const EXTENSIONS: [&str; 10] = ["cu", "cuh", "h", "hpp", "cpp", "cc", "inl", "inc", "hxx", "cxx"];

#[derive(Default)]
struct Tally {
    files: usize,
    bytes: usize,
    with_asm: usize,
    statements: usize,
    variants: usize,
    in_macros: usize,
    used: usize,
    in_functions: usize,
    at_file_scope: usize,
    with_wildcards: usize,
    incomplete: usize,
    conditional: usize,
    symbol_names: usize,
    aliases: usize,
    other: usize,
    operands: usize,
    typed_operands: usize,
    oddities: Vec<String>,
    disagreements: Vec<String>,
    extraction: Duration,
    list: bool,
}

fn main() -> ExitCode {
    let mut folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let count = folders.len();
    folders.retain(|argument| argument != Path::new("--list"));
    let mut tally = Tally { list: folders.len() < count, ..Tally::default() };
    for folder in &folders {
        walk(folder, &mut tally);
    }
    if tally.files == 0 {
        eprintln!("usage: asm_census FOLDER…");
        return ExitCode::from(2);
    }
    print(&tally);
    ExitCode::from(u8::from(!tally.disagreements.is_empty()))
}

fn walk(folder: &Path, tally: &mut Tally) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        file(folder, tally);
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            walk(&path, tally);
        } else if is_source(&path) {
            file(&path, tally);
        }
    }
}

/// Whether the name says C++; a header of the C++ library has no extension at all.
fn is_source(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) => EXTENSIONS.contains(&extension),
        None => true,
    }
}

fn file(path: &Path, tally: &mut Tally) {
    let Ok(bytes) = std::fs::read(path) else { return };
    tally.files += 1;
    tally.bytes += bytes.len();
    let start = Instant::now();
    let found = if cuda::may_contain_asm(&bytes) {
        cuda::extract(&cuda::decode(&bytes))
    } else {
        cuda::CudaFile::default()
    };
    tally.extraction += start.elapsed();
    let counted = second_count(&bytes);
    let statements =
        found.statements.iter().filter(|found| found.variant == 0 && found.used_at.is_none()).count();
    let kind = |kind| found.non_statements.iter().filter(|other| other.kind == kind).count();
    // The second method takes `int f() asm("name");` for a statement.
    if statements + kind(NonStatementKind::SymbolName) != counted {
        let line = format!("{}: extracted {statements}, counted {counted}", path.display());
        tally.disagreements.push(line);
    }
    tally.symbol_names += kind(NonStatementKind::SymbolName);
    tally.aliases += kind(NonStatementKind::Alias);
    tally.other += kind(NonStatementKind::Name) + kind(NonStatementKind::Microsoft);
    details(path, &bytes, &found, tally);
}

fn details(path: &Path, bytes: &[u8], found: &cuda::CudaFile, tally: &mut Tally) {
    tally.with_asm += usize::from(!found.statements.is_empty());
    let source = cuda::decode(bytes);
    let index = ptx_syntax::LineIndex::new(&source);
    if tally.list {
        for definition in found.macros.iter().filter(|definition| !definition.statements.is_empty()) {
            println!("macro: {}", definition.name.text(&source));
        }
    }
    for statement in &found.statements {
        if statement.used_at.is_some() {
            tally.used += 1;
            continue;
        }
        let first = usize::from(statement.variant == 0);
        tally.statements += first;
        tally.variants += 1 - first;
        tally.in_macros += first * usize::from(statement.macro_definition.is_some());
        tally.in_functions += first * usize::from(statement.function.is_some());
        let alone = statement.function.is_none() && statement.macro_definition.is_none();
        tally.at_file_scope += first * usize::from(alone);
        tally.with_wildcards += first * usize::from(statement.template.has_wildcards());
        tally.incomplete += first * usize::from(!statement.complete);
        tally.conditional += first * usize::from(statement.condition.index() != 0);
        tally.operands += statement.operands().count();
        tally.typed_operands +=
            statement.operands().filter(|operand| operand.ctype != CType::Unknown).count();
        let position = index.position(statement.keyword.start);
        if tally.list {
            println!("statement: {}:{}", path.display(), position.line);
        }
        if alone {
            tally.oddities.push(format!("{}:{}: at file scope", path.display(), position.line));
        }
        for oddity in &statement.oddities {
            tally.oddities.push(format!("{}:{}: {:?}", path.display(), position.line, oddity.kind));
        }
    }
}

fn print(tally: &Tally) {
    for line in &tally.oddities {
        println!("odd: {line}");
    }
    for line in &tally.disagreements {
        println!("differs: {line}");
    }
    println!("files                {:>8}  ({:.1} MB)", tally.files, tally.bytes as f64 / 1e6);
    println!("files with asm       {:>8}", tally.with_asm);
    println!("asm statements       {:>8}", tally.statements);
    println!("  further variants   {:>8}", tally.variants);
    println!("  in functions       {:>8}", tally.in_functions);
    println!("  in #define bodies  {:>8}", tally.in_macros);
    println!("  of macros, used    {:>8}  (not counted above)", tally.used);
    println!("  at file scope      {:>8}", tally.at_file_scope);
    println!("  under a condition  {:>8}", tally.conditional);
    println!("  with wildcards     {:>8}", tally.with_wildcards);
    println!("  incomplete         {:>8}", tally.incomplete);
    println!("operands             {:>8}  ({} with known type)", tally.operands, tally.typed_operands);
    println!("symbol names         {:>8}", tally.symbol_names);
    println!("keyword macros       {:>8}", tally.aliases);
    println!("other uses           {:>8}", tally.other);
    println!("extraction           {:>8.2} s", tally.extraction.as_secs_f64());
    println!("files that differ    {:>8}", tally.disagreements.len());
}

/// Counts `asm (`, with qualifiers in between, in the bytes without comments and literals.
fn second_count(bytes: &[u8]) -> usize {
    let blank = blanked(&unbroken(bytes));
    let words: Vec<&[u8]> = words(&blank);
    let mut count = 0;
    for (index, word) in words.iter().enumerate() {
        if !matches!(*word, b"asm" | b"__asm__" | b"__asm") {
            continue;
        }
        let mut rest = words[index + 1..].iter();
        let is_qualifier = |word: &[u8]| {
            matches!(
                word,
                b"volatile" | b"__volatile__" | b"__volatile" | b"inline" | b"__inline__" | b"goto"
            )
        };
        count += usize::from(rest.find(|word| !is_qualifier(word)).is_some_and(|word| *word == b"("));
    }
    count
}

/// The bytes without line continuations, as the preprocessor has them.
fn unbroken(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        at += match bytes[at..] {
            [b'\\', b'\n', ..] => 2,
            [b'\\', b'\r', b'\n', ..] => 3,
            _ => {
                out.push(bytes[at]);
                1
            }
        };
    }
    out
}

/// Words and single other bytes.
fn words(bytes: &[u8]) -> Vec<&[u8]> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + 1;
        while is_word(bytes[at]) && end < bytes.len() && is_word(bytes[end]) {
            end += 1;
        }
        if !bytes[at].is_ascii_whitespace() {
            words.push(&bytes[at..end]);
        }
        at = end;
    }
    words
}

/// The bytes with comments, strings and characters made spaces. Raw strings are told by the `R` before the quote.
fn blanked(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest.starts_with(b"//") {
            let mut end = at;
            while end < bytes.len() && bytes[end] != b'\n' {
                end += 1;
            }
            end
        } else if rest.starts_with(b"/*") {
            rest.windows(2).skip(2).position(|two| two == b"*/").map_or(bytes.len(), |found| at + found + 4)
        } else if rest.starts_with(b"R\"") && !(at > 0 && bytes[at - 1].is_ascii_alphanumeric()) {
            let open = rest.iter().position(|byte| *byte == b'(').unwrap_or(1);
            let mut close = vec![b')'];
            close.extend(&rest[2.min(open)..open]);
            close.push(b'"');
            let end = rest.windows(close.len()).position(|part| part == close);
            end.map_or(bytes.len(), |found| at + found + close.len())
        } else if rest[0] == b'"' || (rest[0] == b'\'' && !(at > 0 && bytes[at - 1].is_ascii_alphanumeric()))
        {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != rest[0] && bytes[end] != b'\n' {
                let continued = bytes[end] == b'\\';
                end += 1 + usize::from(continued);
            }
            end + 1
        } else {
            at += 1;
            continue;
        };
        let end = end.clamp(at + 1, bytes.len());
        out[at..end].fill(b' ');
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::second_count;

    #[test]
    fn the_second_method_counts_keywords_outside_literals() {
        let source = b"asm(\"asm(\"); // asm(\n/* asm( */ __asm__ __volatile__ (R\"x(asm())x\"); asm.x; 'a' asm('\"');";
        assert_eq!(second_count(source), 3);
        assert_eq!(
            second_count(b"as\\\nm(\"x\"); __asm__ vol\\\r\natile (R\"(y)\"); b_asm(1); // asm\\\n(\nasm();"),
            3
        );
    }
}
