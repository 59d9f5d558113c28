//! From an asm template to the PTX that a compiler makes of it, with operands as registers.
//!
//! What nvcc 13.5 does, measured (`nvcc -ptx`, sm_90 and sm_100 alike):
//! * Without operands the template is passed on as it is, whatever colons and clobbers there are.
//! * With operands, `%` and digits is an operand, by decimal number; `%%` is `%`; `%=` is a number that is different
//!   in each copy, also in those that inlining and unrolling make; `%` and a letter that is not followed by a digit is
//!   passed on as it is (`%laneid`, `%rd1`); `%`, a letter and a digit is refused; `%` and anything else vanishes
//!   together with it, also `%{`; `%` at the end is refused, and so is `%[name]`.
//!
//! clang follows GCC: a template with any colon is processed, `%` before a letter must be a modifier, and `%{` is `{`.
//! LLVM counts up for `%=` wherever it prints a statement, so each copy has a number of its own there too.
//!
//! # Constants whose value is not known
//! nvcc pastes the number of an `"n"` operand wherever it is named. Where the expression does not tell it, as a template
//! parameter does not, what is pasted is a [`Hole`] in a word (`.v%2`, `.cta_group::%1`, a name), and
//! [`UNKNOWN_NUMBER`] in an expression (`[%1+%2]`); a finding about such a place says nothing. As an operand of its own
//! it is a name that nothing declares, of which no value is assumed.

use std::cell::OnceCell;
use std::collections::HashMap;

use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmStatement, SourceMap, WILDCARD};

use super::Compiler;

/// Stands for a wildcard: an identifier that no instruction has.
pub(crate) const PLACEHOLDER: &str = "__wildcard__";

/// Stands for a constant of unknown value in an expression. As the number of registers it declares enough.
const UNKNOWN_NUMBER: &str = "64";

/// The template as PTX text, and the way back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expanded {
    /// The PTX text.
    pub(crate) text: String,
    /// Where operands are used, in the order of the text.
    uses: Vec<Use>,
    /// The operands that are used.
    named: Vec<bool>,
    /// What a compiler refuses or what is odd.
    pub(crate) problems: Vec<Problem>,
    /// Whether parts of the text are not known.
    pub(crate) has_wildcards: bool,
    /// Where constants of unknown value are parts of words.
    pub(crate) holes: Vec<Hole>,
    /// Where constants of unknown value are parts of expressions.
    unknown_numbers: Vec<Span>,
    /// Where `%=` gives the number of the copy.
    copy_numbers: Vec<Span>,
    runs: Vec<Run>,
}

/// One use of an operand in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Use {
    /// Which operand.
    operand: usize,
    /// Where in the PTX text.
    expanded: Span,
}

/// A constant of unknown value as a part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Which operand.
    pub(crate) operand: usize,
    /// Where its [`PLACEHOLDER`] stands in the PTX text.
    pub(crate) expanded: Span,
}

/// Something about a `%`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What.
    pub(crate) kind: ProblemKind,
    /// Where, in the decoded template.
    pub(crate) decoded: Span,
}

/// What can be odd about a `%`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// `%7` with fewer operands: the digits.
    OutOfRange(String),
    /// `%n1`.
    Modifier(char),
    /// `%[name]`.
    Named(String),
    /// `%` at the end.
    AtEnd,
    /// `%-`: for nvcc both characters vanish; clang refuses it.
    Vanishes(char),
    /// `%%` without operands, which the compiler passes on.
    DoubledWithoutOperands,
    /// `%laneid` with operands, which clang refuses.
    NotDoubled,
}

/// A stretch of PTX text and what it came from.
#[derive(Clone, Copy, Debug)]
struct Run {
    expanded: u32,
    decoded: Span,
    verbatim: bool,
}

impl Expanded {
    /// The decoded template's range behind a range of the PTX text.
    fn decoded(&self, expanded: Span) -> Option<Span> {
        let first = self.decoded_byte(expanded.start)?;
        if expanded.is_empty() {
            return Some(Span::at(first.start));
        }
        Some(first.to(self.decoded_byte(expanded.end - 1)?))
    }

    fn decoded_byte(&self, at: u32) -> Option<Span> {
        let after = self.runs.partition_point(|run| run.expanded <= at);
        let run = self.runs.get(after.checked_sub(1)?)?;
        if !run.verbatim {
            return Some(run.decoded);
        }
        let start = (run.decoded.start + (at - run.expanded)).min(run.decoded.end);
        Some(Span::new(start, (start + 1).min(run.decoded.end)))
    }

    /// The place in the source file of a range of the PTX text.
    pub(crate) fn source(&self, map: &SourceMap, expanded: Span) -> Option<Span> {
        self.decoded(expanded).map(|decoded| map.span(decoded))
    }

    /// The place of an edit in the source file: only where the text stands there byte for byte.
    pub(crate) fn editable(&self, map: &SourceMap, expanded: Span) -> Option<Span> {
        let decoded = self.decoded(expanded)?;
        let inside = !expanded.is_empty() && overlaps(&self.uses, |used| used.expanded, expanded);
        let whole = decoded.len() == expanded.len();
        (whole && !inside && (decoded.is_empty() || map.is_verbatim(decoded))).then(|| map.span(decoded))
    }

    /// The point in the source file behind a range of the PTX text, if the range stands there as it is, be it as the
    /// use of an operand.
    pub(crate) fn behind(&self, map: &SourceMap, expanded: Span) -> Option<Span> {
        let decoded = self.decoded(expanded).filter(|decoded| !decoded.is_empty())?;
        let last = Span::new(decoded.end - 1, decoded.end);
        map.is_verbatim(last).then(|| Span::at(map.span(last).end))
    }

    /// The operand whose use is exactly, or contains, a range of the PTX text.
    pub(crate) fn operand_at(&self, expanded: Span) -> Option<usize> {
        let covers = |used: &&Use| used.expanded.start <= expanded.start && expanded.end <= used.expanded.end;
        let after = self.uses.partition_point(|used| used.expanded.start <= expanded.start);
        // Where two uses touch, an empty range is in both.
        self.uses[after.saturating_sub(2)..after].iter().find(covers).map(|used| used.operand)
    }

    /// Whether the text names an operand.
    pub(crate) fn names(&self, operand: usize) -> bool {
        self.named.get(operand).copied().unwrap_or(false)
    }

    /// Whether a range of the PTX text holds the number that `%=` gives each copy.
    pub(crate) fn is_numbered(&self, expanded: Span) -> bool {
        let first = self.copy_numbers.partition_point(|number| number.start < expanded.start);
        self.copy_numbers.get(first).is_some_and(|number| number.end <= expanded.end)
    }

    /// Whether a range of the PTX text holds a part that is not known.
    pub(crate) fn is_uncertain(&self, expanded: Span) -> bool {
        (self.has_wildcards && expanded.text(&self.text).contains(PLACEHOLDER))
            || overlaps(&self.unknown_numbers, |number| *number, expanded)
    }

    fn copy(&mut self, text: &str, decoded: u32) {
        let end = self.text.len() as u32;
        let source = Span::new(decoded, decoded + text.len() as u32);
        match self.runs.last_mut() {
            Some(run) if run.verbatim && run.decoded.end == decoded => run.decoded.end = source.end,
            _ => self.runs.push(Run { expanded: end, decoded: source, verbatim: true }),
        }
        self.text.push_str(text);
    }

    fn replace(&mut self, text: &str, decoded: Span) {
        self.runs.push(Run { expanded: self.text.len() as u32, decoded, verbatim: false });
        self.text.push_str(text);
    }

    fn used(&mut self, operand: usize, expanded: Span) {
        if self.named.len() <= operand {
            self.named.resize(operand + 1, false);
        }
        self.named[operand] = true;
        self.uses.push(Use { operand, expanded });
    }

    fn problem(&mut self, kind: ProblemKind, decoded: Span) {
        self.problems.push(Problem { kind, decoded });
    }
}

/// Whether one of the ranges of `list`, which follow each other, has a byte in common with `span`.
fn overlaps<T>(list: &[T], place: impl Fn(&T) -> Span, span: Span) -> bool {
    let after = list.partition_point(|each| place(each).start < span.end);
    after.checked_sub(1).is_some_and(|last| span.start < place(&list[last]).end)
}

/// A template with its operands.
struct Subject<'s> {
    statement: &'s AsmStatement,
    source: &'s str,
    compiler: Compiler,
    /// What stands in the PTX text for each operand: a register, or the value of a constant.
    names: &'s [String],
    /// Where the last `]` of the template is.
    last_bracket: usize,
    /// The operands that have a name in the source.
    by_name: OnceCell<HashMap<&'s str, usize>>,
}

/// Makes PTX of a template. `names` has what stands in it for each operand: a register, or the value of a constant.
pub(crate) fn expand(
    statement: &AsmStatement,
    source: &str,
    compiler: Compiler,
    names: &[String],
) -> Expanded {
    let template = &statement.template.text;
    let mut out = Expanded { has_wildcards: statement.template.has_wildcards(), ..Expanded::default() };
    let count = names.len();
    let processed = count > 0 || !statement.complete || (compiler == Compiler::Clang && statement.colons > 0);
    let last_bracket = template.rfind(']').unwrap_or(0);
    let subject = Subject { statement, source, compiler, names, last_bracket, by_name: OnceCell::new() };
    let mut start = [0; 4];
    let wildcard = WILDCARD.encode_utf8(&mut start).as_bytes()[0];
    let mut at = 0;
    while at < template.len() {
        let rest = &template[at..];
        let plain = memchr::memchr2(b'%', wildcard, rest.as_bytes()).unwrap_or(rest.len());
        if plain > 0 {
            out.copy(&rest[..plain], at as u32);
            at += plain;
            continue;
        }
        let first = rest.chars().next().unwrap_or_default();
        if first != '%' && first != WILDCARD {
            out.copy(&rest[..first.len_utf8()], at as u32);
            at += first.len_utf8();
            continue;
        }
        at += if first == WILDCARD {
            let length = WILDCARD.len_utf8();
            out.replace(PLACEHOLDER, Span::new(at as u32, (at + length) as u32));
            length
        } else if processed {
            subject.percent(&mut out, rest, at as u32)
        } else {
            if rest.starts_with("%%") {
                out.problem(ProblemKind::DoubledWithoutOperands, Span::new(at as u32, at as u32 + 2));
                out.copy("%%", at as u32);
                2
            } else {
                out.copy("%", at as u32);
                1
            }
        };
    }
    out
}

impl<'s> Subject<'s> {
    /// The operand that has a name.
    fn named(&self, name: &str) -> Option<usize> {
        let by_name = self.by_name.get_or_init(|| {
            let mut by_name = HashMap::new();
            for (index, operand) in self.statement.operands().enumerate() {
                if let Some(name) = operand.name {
                    by_name.entry(name.text(self.source)).or_insert(index);
                }
            }
            by_name
        });
        by_name.get(name).copied()
    }

    /// Handles a `%` at the start of `rest` and says how many bytes it took.
    fn percent(&self, out: &mut Expanded, rest: &str, at: u32) -> usize {
        let span = |length: usize| Span::new(at, at + length as u32);
        let mut characters = rest[1..].chars();
        let Some(first) = characters.next() else {
            out.problem(ProblemKind::AtEnd, span(1));
            out.replace("", span(1));
            return 1;
        };
        if first.is_ascii_digit() {
            let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
            let length = 1 + digits;
            let index = Some(operand_number(&rest[1..length])).filter(|index| *index < self.names.len());
            if index.is_none() {
                out.problem(ProblemKind::OutOfRange(rest[1..length].to_owned()), span(length));
            }
            self.operand(out, index, span(length), &rest[length..]);
            return length;
        }
        match first {
            '%' => {
                out.replace("%", span(2));
                2
            }
            '=' => {
                let start = out.text.len() as u32;
                out.replace("0", span(2));
                out.copy_numbers.push(Span::new(start, out.text.len() as u32));
                2
            }
            '[' => {
                let closes = (at as usize) < self.last_bracket;
                let length = closes.then(|| rest.find(']')).flatten().map_or(2, |end| end + 1);
                let name = rest[2..length].trim_end_matches(']').trim();
                out.problem(ProblemKind::Named(name.into()), span(length));
                self.operand(out, self.named(name), span(length), &rest[length..]);
                length
            }
            letter if letter.is_ascii_alphabetic() => {
                let next = characters.next();
                if next.is_some_and(|next| next.is_ascii_digit()) {
                    let digits = rest[2..].bytes().take_while(u8::is_ascii_digit).count();
                    let length = 2 + digits;
                    out.problem(ProblemKind::Modifier(letter), span(length));
                    // What stands there is no register, and what is wrong has been said.
                    out.replace(PLACEHOLDER, span(length));
                    out.has_wildcards = true;
                    length
                } else {
                    out.problem(ProblemKind::NotDoubled, span(2));
                    out.copy(&rest[..2], at);
                    2
                }
            }
            WILDCARD => {
                out.replace("%", span(1));
                1
            }
            '{' | '}' if self.compiler == Compiler::Clang => {
                out.replace(&rest[1..2], span(2));
                2
            }
            other => {
                let length = 1 + other.len_utf8();
                out.problem(ProblemKind::Vanishes(other), span(length));
                length
            }
        }
    }

    /// Puts an operand into the text.
    fn operand(&self, out: &mut Expanded, index: Option<usize>, decoded: Span, after: &str) {
        let unknown = |index: usize, name: &str| {
            let operand = self.statement.operands().nth(index);
            name.starts_with('%')
                && operand.is_some_and(|operand| matches!(operand.constraint.letter(), Some('n' | 'i')))
        };
        let start = out.text.len() as u32;
        match index.and_then(|index| self.names.get(index).map(|name| (index, name))) {
            Some((index, name)) if unknown(index, name) && is_part_of_word(&out.text, after) => {
                out.replace(PLACEHOLDER, decoded);
                out.has_wildcards = true;
                let expanded = Span::new(start, out.text.len() as u32);
                out.holes.push(Hole { operand: index, expanded });
            }
            Some((index, name)) if unknown(index, name) && is_part_of_expression(&out.text, after) => {
                // How many registers `r<%1>` declares is not known.
                out.has_wildcards |= out.text.trim_end().ends_with('<');
                out.replace(UNKNOWN_NUMBER, decoded);
                let expanded = Span::new(start, out.text.len() as u32);
                out.unknown_numbers.push(expanded);
                out.used(index, expanded);
            }
            Some((index, name)) => {
                out.has_wildcards |= name == PLACEHOLDER;
                out.replace(name, decoded);
                out.used(index, Span::new(start, out.text.len() as u32));
            }
            None => {
                out.replace(PLACEHOLDER, decoded);
                out.has_wildcards = true;
            }
        }
    }
}

/// The number that digits give: nvcc counts in 32 bits, and takes `%4294967296` for `%0`.
fn operand_number(digits: &str) -> usize {
    let shifted = |number: u32, digit: u8| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
    digits.bytes().fold(0, shifted) as usize
}

/// Whether what stands between two texts makes one word, or one dotted spelling, with one of them: `m16n8k%14`,
/// `.cta_group::%0.sync`.
fn is_part_of_word(before: &str, after: &str) -> bool {
    let in_word = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '$');
    before.ends_with(in_word)
        || before.ends_with('.')
        || before.ends_with("::")
        || after.starts_with(in_word)
        || (after.starts_with('.') && after[1..].starts_with(in_word))
}

/// Whether what stands between two texts is a part of an expression, an address or a length.
fn is_part_of_expression(before: &str, after: &str) -> bool {
    let operator = |character: char| matches!(character, '+' | '-' | '*' | '/' | '<' | '&' | '^' | '~');
    let (before, after) = (before.trim_end(), after.trim_start());
    let comment_before = before.ends_with("*/") || before.ends_with("//");
    let comment_after = after.starts_with("/*") || after.starts_with("//");
    (before.ends_with(operator) && !comment_before)
        || before.ends_with(['[', '('])
        || (after.starts_with(operator) && !comment_after)
        || after.starts_with([']', ')', '>'])
}
