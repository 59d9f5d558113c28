use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Body, Directive, DirectiveArgument, Item, Module, Section};
use ptx_ir::types::Type;
use ptx_ir::version::Version;
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rule::declare_rule;
use crate::subject::function::FunctionContext;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports contradictory debugging information.
    ///
    /// | what | rule |
    /// |---|---|
    /// | `.file N` | each index once |
    /// | `.loc … inlined_at F L C` | a `.loc F L C` is before it in the same function |
    /// | data of a `.section` | `.b8`, `.b16`, `.b32`, `.b64` |
    /// | `.b8`, `.b16` | values that fit, signed or unsigned |
    /// | values below zero, differences of labels | from PTX 7.5 on |
    /// | names as data | alone on their line, in `.b32` and `.b64` |
    /// | labels of a `.section` | each once, from PTX 7.0 on |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .file 1 "a.cu"
    /// .file 1 "b.cu"
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .file 1 "a.cu"
    /// .file 2 "b.cu"
    /// ```
    ///
    /// ## What it may miss
    /// What the DWARF data mean.
    name: "debug-information",
    code: "P0316",
    former: ["E0318"],
    class: Invalid,
    level: Error,
    summary: "contradictory debugging information",
    check: DeclarationsAndBodies(check, body),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let mut files: FxHashMap<i64, Span> = FxHashMap::default();
    let mut labels = FxHashSet::default();
    for item in context.items() {
        match item {
            Item::Directive(directive) if directive.kind == Some(DirectiveKind::File) => {
                file(directive, &mut files, out);
            }
            Item::Section(section) => data(context, section, &mut labels, out),
            Item::Directive(_) | Item::Variable(_) | Item::Function(_) | Item::Alias { .. } => {}
        }
    }
}

fn body(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    inlined(context.module.module, context.body, out);
}

fn file(directive: &Directive, files: &mut FxHashMap<i64, Span>, out: &mut Vec<Diagnostic>) {
    let Some(&(DirectiveArgument::Integer(index), span)) = directive.arguments.first() else { return };
    if index > i64::from(u32::MAX) {
        out.push(RULE.at(span, format!("the number of a file has 32 bits, {index} is larger")));
        return;
    }
    if let Some(&earlier) = files.get(&index) {
        out.push(
            RULE.at(span, format!("file {index} is given twice")).with_secondary(earlier, "the first one"),
        );
    } else {
        files.insert(index, span);
    }
}

/// `.loc` places that functions are inlined at must have been named before.
fn inlined(module: &Module, body: &Body, out: &mut Vec<Diagnostic>) {
    const PLAIN: usize = 3;
    let any = body.directives.iter().any(|(_, directive)| directive.arguments.len() > PLAIN);
    let mut seen: FxHashSet<[i64; 3]> = FxHashSet::default();
    for (_, directive) in body.directives.iter() {
        if directive.kind != Some(DirectiveKind::Loc) {
            continue;
        }
        if !is_complete(module, directive) {
            out.push(
                RULE.at(directive.span, "this `.loc` is not complete")
                    .with_help("an inlined place is `.loc F L C, function_name LABEL, inlined_at F L C`"),
            );
            continue;
        }
        let large = directive.arguments.iter().find_map(|(argument, span)| match argument {
            DirectiveArgument::Integer(number) if *number > i64::from(u32::MAX) => Some((number, *span)),
            _ => None,
        });
        if let Some((number, span)) = large {
            out.push(RULE.at(span, format!("a number of `.loc` has 32 bits, {number} is larger")));
            continue;
        }
        let arguments = directive.arguments.as_slice();
        if arguments.len() > 3
            && let Some([file, line, column]) = place(&arguments[arguments.len() - 3..])
            && !seen.contains(&[file, line, column])
        {
            let span = arguments[arguments.len() - 3].1.to(arguments[arguments.len() - 1].1);
            let what = format!("no `.loc {file} {line} {column}` is before this, which is inlined there");
            out.push(RULE.at(span, what));
        }
        if any {
            seen.extend(place(arguments));
        }
    }
}

/// The file, the line and the column that come first.
fn place(arguments: &[(DirectiveArgument, Span)]) -> Option<[i64; 3]> {
    match arguments {
        [
            (DirectiveArgument::Integer(file), _),
            (DirectiveArgument::Integer(line), _),
            (DirectiveArgument::Integer(column), _),
            ..,
        ] => Some([*file, *line, *column]),
        _ => None,
    }
}

/// Three integers, and perhaps `function_name LABEL` and `inlined_at` with three more.
fn is_complete(module: &Module, directive: &Directive) -> bool {
    let word = |wanted: &str, (argument, _): &(DirectiveArgument, Span)| matches!(argument, DirectiveArgument::Name(name) if module.name(*name) == wanted);
    let integer =
        |(argument, _): &(DirectiveArgument, Span)| matches!(argument, DirectiveArgument::Integer(_));
    let label = |(argument, _): &(DirectiveArgument, Span)| {
        matches!(argument, DirectiveArgument::Name(_) | DirectiveArgument::LabelOffset(..))
    };
    match directive.arguments.as_slice() {
        [a, b, c] => [a, b, c].into_iter().all(integer),
        [a, b, c, function, name, inlined, d, e, f] => {
            [a, b, c, d, e, f].into_iter().all(integer)
                && word("function_name", function)
                && label(name)
                && word("inlined_at", inlined)
        }
        _ => false,
    }
}

/// The first version with labels in sections.
const LABELS_SINCE: Version = Version::new(7, 0);

/// The first version with values below zero in sections.
const NEGATIVE_SINCE: Version = Version::new(7, 5);

/// The lines of a section: `.b8 1, 2`, `label:`.
fn data(
    context: &ModuleContext<'_>,
    section: &Section,
    labels: &mut FxHashSet<String>,
    out: &mut Vec<Diagnostic>,
) {
    if context.module.name(section.word) != DirectiveKind::Section.word() {
        return;
    }
    // The text of the section in the IR is laid out anew, so that places are looked for in the source. Only a
    // section with a fault is looked at twice.
    let mut known = FxHashSet::default();
    let with_labels = context.version() >= LABELS_SINCE;
    let with_negative = context.version() >= NEGATIVE_SINCE;
    let is_right = |line: &str| {
        fault(line, with_negative).is_none()
            && line.split_once(':').is_none_or(|(label, _)| {
                let label = label.trim();
                with_labels && !labels.contains(label) && known.insert(label.to_owned())
            })
    };
    if unplain_lines(&section.text).all(is_right) {
        labels.extend(known);
        return;
    }
    let source = context.text(section.span);
    let Some(open) = source.find('{') else { return };
    let mut at = section.span.start + open as u32 + 1;
    for line in source[open + 1..].split_inclusive('\n') {
        let text = line.split("//").next().unwrap_or_default().trim().trim_end_matches('}').trim();
        let label = text.split_once(':').map(|(label, _)| label.trim());
        let wrong_label = label.and_then(|label| {
            if !labels.insert(label.to_owned()) {
                Some(format!("label `{label}` is declared twice"))
            } else {
                (!with_labels).then(|| format!("labels in a section need PTX {LABELS_SINCE}"))
            }
        });
        if let Some(what) = wrong_label.or_else(|| fault(text, with_negative)) {
            let lead = (line.len() - line.trim_start().len()) as u32;
            out.push(RULE.at(Span::new(at + lead, at + lead + text.len() as u32), what));
        }
        at += line.len() as u32;
    }
}

/// The lines that are not plain.
fn unplain_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at = after_plain_lines(text.as_bytes(), at);
        let line = text.get(at..)?.lines().next()?;
        at += line.len();
        Some(line)
    })
}

/// Where the first line begins, from `at` on, that may hold something else than decimal numbers that fit their type.
/// Nearly all lines hold nothing else, and debugging data may be most of a file: hence one loop over the bytes.
fn after_plain_lines(text: &[u8], mut at: usize) -> usize {
    loop {
        while let Some(b'\n' | b' ' | b'\t') = text.get(at) {
            at += 1;
        }
        let start = at;
        let (high, length) = match text[start..] {
            [b'.', b'b', b'8', ..] => (u64::from(u8::MAX), 3),
            [b'.', b'b', b'1', b'6', ..] => (u64::from(u16::MAX), 4),
            [b'.', b'b', b'3', b'2', ..] | [b'.', b'b', b'6', b'4', ..] => (u64::from(u32::MAX), 4),
            _ => return start,
        };
        at += length;
        let mut value = 0;
        while let Some(&byte) = text.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                value = value * 10 + u64::from(digit);
                if value > high {
                    return start;
                }
            } else if matches!(byte, b',' | b' ' | b'\t') {
                value = 0;
            } else if byte == b'\n' {
                break;
            } else {
                return start;
            }
            at += 1;
        }
    }
}

/// What is wrong with a line of data.
fn fault(line: &str, with_negative: bool) -> Option<String> {
    let line = line.rsplit(':').next().unwrap_or(line).trim();
    let (ty, values) = line.split_once(char::is_whitespace)?;
    let (low, high) = match Type::parse(ty) {
        Some(Type::B8) => (-128, 255),
        Some(Type::B16) => (-32768, 65535),
        Some(Type::B32 | Type::B64) => (i128::MIN, i128::MAX),
        _ if ty.starts_with('.') => return Some(format!("debugging data have no type `{ty}`")),
        _ => return None,
    };
    let several = values.contains(',');
    values.split(',').find_map(|value| {
        let value = value.trim();
        if several && value.starts_with(|first: char| !first.is_ascii_digit() && first != '-') {
            return Some(format!("`{value}` cannot be in a list: a name is given alone"));
        }
        value_fault(value, ty, (low, high), with_negative)
    })
}

/// What is wrong with one value.
fn value_fault(value: &str, ty: &str, (low, high): (i128, i128), with_negative: bool) -> Option<String> {
    if value.starts_with('"') || matches!(value, "WARP_SZ" | "_" | "$") || is_float(value) {
        return Some(format!("{value} is no integer and no name"));
    }
    if !value.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        let is_name = value.starts_with(|first: char| first.is_ascii_alphabetic() || "._$%".contains(first));
        if is_name && high < 65536 {
            return Some(format!("an address does not fit `{ty}`"));
        }
        let is_difference = value
            .split_once('-')
            .is_some_and(|(_, rest)| !rest.trim().starts_with(|first: char| first.is_ascii_digit()));
        return (is_name && is_difference && !with_negative)
            .then(|| format!("the difference of two labels needs PTX {NEGATIVE_SINCE}"));
    }
    if value.starts_with('-') {
        if !with_negative {
            return Some(format!("values below zero in a section need PTX {NEGATIVE_SINCE}"));
        }
        if value.ends_with('U') {
            return Some(format!("{value} has the suffix of unsigned numbers and a minus"));
        }
    }
    match integer(value)? {
        Some(number) if number >= low && number <= high => None,
        Some(_) | None => Some(format!("{value} does not fit `{ty}`")),
    }
}

fn is_float(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value).trim_start();
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
        || digits
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let lower = digits.to_ascii_lowercase();
    is_number && !lower.starts_with("0x") && lower.contains(['.', 'e', 'f', 'd'])
}

/// The value of an integer literal; the inner none where it has more than 64 bits, as the assembler counts them: it
/// looks at the highest bit before each further digit.
fn integer(text: &str) -> Option<Option<i128>> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    let lower = digits.trim_end_matches('U').to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    let mut value = 0_u64;
    for digit in digits.chars() {
        let digit = digit.to_digit(radix)?;
        if value > i64::MAX as u64 {
            return Some(None);
        }
        value = value.wrapping_mul(radix.into()).wrapping_add(digit.into());
    }
    if negative {
        return Some((value <= 1 << 63).then(|| -i128::from(value)));
    }
    Some(Some(value.into()))
}

#[cfg(test)]
mod tests {
    use super::{after_plain_lines, fault};

    #[test]
    fn data_must_fit_their_type() {
        for line in
            [".b8 1, 255, -128", ".b16 65535", ".b32 .debug_info+4", "L:", "L: .b8 1", ".b64 4294967296", ""]
        {
            assert_eq!(fault(line, true), None, "{line}");
            // Long numbers and names take the long way.
        }
        for line in [
            ".b8 256",
            ".b8 1, -129",
            ".b16 0x10000",
            ".u8 1",
            ".b8 .debug_info",
            ".b8 L",
            ".b64 1e3",
            ".b8 -1U",
        ] {
            assert!(fault(line, true).is_some(), "{line}");
            assert_eq!(after_plain_lines(line.as_bytes(), 0), 0, "{line}");
        }
        for line in [".b8 0,1, 255", "\t.b16 65535 ", ".b64 4294967295"] {
            assert_eq!(after_plain_lines(line.as_bytes(), 0), line.len(), "{line}");
        }
    }
}
