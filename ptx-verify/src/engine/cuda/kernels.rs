//! Kernels as a whole: what their asm statements and the C++ around them do together.

use ptx_facts::asynchronous::takes_part;
use std::collections::HashMap;

use memchr::memmem;
use ptx_ir::target::Target;
use ptx_syntax::cuda::body::{self, Function};
use ptx_syntax::cuda::{self, CudaFile};
use ptx_syntax::{Class, Diagnostic, Label, Span};

use super::{prelude, values};
use crate::engine::check;
use crate::engine::levels::{Config, Levels};
use crate::rule::{Level, Rule};
use crate::rules;
use crate::rules::asynchronous::unordered_flag::{NARROW_LOCK, NARROW_POLL};
use crate::rules::asynchronous::{
    barrier_deadlock, early_grid_read, mbarrier_bytes, mbarrier_count, mbarrier_phase, protocol_not_analysed,
    tcgen05_beyond_allocation, wgmma_missing_wait,
};
use crate::rules::memory::read_only_load_of_written;
use crate::subject::fragment::kernel::{self, Aim, Kernel, has_instruction};
use crate::subject::fragment::surroundings::includes;
use crate::subject::fragment::toolkit::Release;
use crate::subject::protocol::{
    AFTER_ROUNDS, ALLOCATED, COUNTED, EXPECTED, MADE, OTHER_FENCE, OTHER_MAP_FENCE, RELAXED, SLOT,
    SUM_OF_BYTES,
};

/// What is said of an instruction that should be another one, wherever its asm statement is called.
const OF_INSTRUCTIONS: [&str; 3] = [OTHER_FENCE, OTHER_MAP_FENCE, RELAXED];
/// What is said where it is known how many arrive.
const OF_COUNTS: [&str; 2] = [MADE, COUNTED];
/// What is said of the instruction that a wrapper consists of, whose call is told.
const BY_THIS: &str = "by this instruction";
/// Places of a finding above which it is not told what the wrappers consist of that are called there.
const MAX_EXPLAINED: usize = 8;
/// So many instructions of wrappers are shown in any case.
const MIN_EXPLAINED: usize = 2;
/// Constants of which a finding tells where they are given.
const MAX_CONSTANTS: usize = 3;
/// The name of the scope of the block in C++.
const SCOPE_OF_BLOCK: &str = "thread_scope_block";

/// What makes a function a kernel; a macro may stand for it.
const KERNEL: &[u8] = b"__global__";

/// Kernels of a file that are looked at.
const MAX_KERNELS: usize = 200;
/// Expressions and statements that are read for them.
const MAX_WORK: usize = 2_000_000;

/// Whether a source without asm statements may have kernels that call wrappers of included files: two searches.
pub(super) fn may_call_wrappers(source: &str) -> bool {
    let has_kernel = memmem::find(source.as_bytes(), KERNEL).is_some();
    has_kernel
        && (includes(source).any(|include| include.quoted || is_of_protocols(include.path))
            || counts_blocks(source))
}

/// Whether a source may have kernels in which the last block does something else than the others: they count themselves with
/// atomic operations, and know how many they are; or those in which one block waits for a flag or a lock of another.
fn counts_blocks(source: &str) -> bool {
    let has = |word: &[u8]| memmem::find(source.as_bytes(), word).is_some();
    let is_fenced = has(b"__threadfence");
    (has(b"atomic") && (is_fenced || has(b"gridDim"))) || (is_fenced && has(b"volatile"))
}

/// Whether a source without asm statements may have a protocol.
pub(super) fn has_plain_protocol(source: &str) -> bool {
    uses_library(source) || counts_blocks(source)
}

/// Whether a source includes headers of CUDA that offer asynchronous copies and barriers without asm statements.
fn uses_library(source: &str) -> bool {
    includes(source).any(|include| !include.quoted && is_of_protocols(include.path))
}

/// Whether a header of CUDA offers asynchronous copies and barriers.
fn is_of_protocols(path: &str) -> bool {
    const HEADERS: [&str; 7] = [
        "cuda/atomic",
        "cuda/barrier",
        "cuda/pipeline",
        "cuda/ptx",
        "cuda_pipeline",
        "cuda_awbarrier",
        "cooperative_groups",
    ];
    HEADERS.iter().any(|header| path.starts_with(header))
}

/// The findings about the protocols of the kernels of a source. `headers` are the files that it includes, each after those
/// that it includes itself; `aims` are targets with PTX versions, of which the first counts that takes all of a kernel.
pub(super) fn findings(
    source: &str,
    file: &CudaFile,
    headers: &[String],
    aims: &[(Target, Release)],
    levels: &Levels,
) -> Vec<Diagnostic> {
    // Most headers have no kernel.
    let has_kernel = |text: &str| memmem::find(text.as_bytes(), KERNEL).is_some();
    if !has_kernel(source) && !headers.iter().any(|header| has_kernel(header)) {
        return Vec::new();
    }
    let prelude = prelude::of(source);
    if headers.is_empty() && prelude.is_none() {
        return of_text(source, file, 0, aims, levels);
    }
    // What is included stands before what includes it, so that macros and constants are known there.
    let mut text = prelude.unwrap_or_default();
    for header in headers {
        text.push_str(header);
        text.push('\n');
    }
    let base = text.len() as u32;
    text.push_str(source);
    of_text(&text, &cuda::extract(&text), base, aims, levels)
}

/// The findings in the kernels of a text from `base` on, with places that count from there.
fn of_text(
    text: &str,
    file: &CudaFile,
    base: u32,
    aims: &[(Target, Release)],
    levels: &Levels,
) -> Vec<Diagnostic> {
    let uses_library = uses_library(&text[base as usize..]);
    let may_take_part = has_plain_protocol(&text[base as usize..]);
    if !may_take_part && !file.statements.iter().any(|statement| has_protocol(&statement.template.text)) {
        return Vec::new();
    }
    // Kernels that use the library alone have macros as well.
    let is_unread = file.statements.is_empty() && file.macros.is_empty() && text.contains('#');
    let read = is_unread.then(|| cuda::extract_without_asm(text));
    let file = read.as_ref().unwrap_or(file);
    let wanted = levels_of_protocols(levels);
    let conditions = file.conditions_of(text);
    let mut left = MAX_WORK;
    // What each kernel gave for the first target that takes it.
    let mut judged: HashMap<u32, Vec<Diagnostic>> = HashMap::new();
    // Why the targets so far take others of them not.
    let mut refused: HashMap<u32, Diagnostic> = HashMap::new();
    let mut is_done = false;
    for &(target, release) in aims {
        if std::mem::replace(&mut is_done, true) {
            break;
        }
        let truths = conditions.truths(&values(target, release));
        let made = body::names_made(text, file, &truths);
        let program = body::program(text, &made, file, &truths);
        let aim = Aim { source: text, file, program: &program, target, version: release.version, base };
        let is_own = |function: &&Function<'_>| function.is_kernel && function.span.start >= base;
        for function in program.functions.iter().filter(is_own).take(MAX_KERNELS) {
            let at = function.span.start;
            if judged.contains_key(&at) {
                continue;
            }
            match of_kernel(aim, function, &wanted, &mut left) {
                Ok(found) => {
                    judged.insert(at, found);
                }
                Err(why) => {
                    refused.entry(at).or_insert(*why);
                    is_done = false;
                }
            }
        }
    }
    refused.retain(|at, _| !judged.contains_key(at));
    let mut found: Vec<Diagnostic> = judged.into_values().flatten().chain(refused.into_values()).collect();
    found.sort_by_key(|each| each.span);
    found.dedup_by(|one, other| {
        one.span == other.span
            && one.rule == other.rule
            && one.message == other.message
            && one.labels == other.labels
    });
    // Not every kernel of a file that includes wrappers calls one.
    let own_statements = file.statements.iter().filter(|statement| statement.keyword.start >= base);
    if !uses_library && !own_statements.into_iter().any(|statement| is_asynchronous(&statement.template.text))
    {
        found.retain(|each| each.rule != protocol_not_analysed::RULE.info.name);
    }
    for each in &mut found {
        each.span = own(each.span, base);
        for label in &mut each.labels {
            label.span = own(label.span, base);
        }
    }
    found
}

const fn own(span: Span, base: u32) -> Span {
    Span::new(span.start.saturating_sub(base), span.end.saturating_sub(base))
}

/// Whether a template has an instruction that takes part in an asynchronous protocol.
fn is_asynchronous(template: &str) -> bool {
    has_instruction(template, |each| each.effects.asynchronous.is_some() || each.effects.event.is_some())
}

/// The same, or one that may set a flag or look at one.
fn has_protocol(template: &str) -> bool {
    has_instruction(template, takes_part)
}

/// What the rules say of a kernel, or that the target does not take it.
fn of_kernel(
    aim: Aim<'_, '_>,
    function: &Function<'_>,
    wanted: &Levels,
    left: &mut usize,
) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
    let rule = &protocol_not_analysed::RULE;
    let missing = || rule.at(function.span, "the protocol of this kernel is not followed");
    let kernel = match kernel::kernel(aim, function, left) {
        Ok(kernel) => kernel,
        Err(place) => {
            if place == function.span {
                let why = "what its parameters are, or the arguments of its template, is not known";
                return Ok(vec![missing().with_note(why)]);
            }
            let is_own = place.start >= aim.base;
            let label = "what happens here is not known";
            return Ok(vec![if is_own { missing().with_secondary(place, label) } else { missing() }]);
        }
    };
    let config = Config { levels: wanted.clone(), ..Config::default() };
    let (all, broken) = check::findings_of_translation(&kernel.text, &config);
    // The asm statement says that itself, or the translation is at fault.
    if let Some(invalid) = all.iter().find(|each| each.class == Class::Invalid) {
        let place = kernel.place(aim.file, invalid.span).map(|(place, _)| place);
        let missing = missing().with_note("no target that was tried takes all that it does");
        return Err(Box::new(match place.filter(|place| place.start >= aim.base) {
            Some(place) => missing.with_secondary(place, "this is of another target, or not understood"),
            None => missing,
        }));
    }
    if broken {
        return Err(Box::new(missing().with_note("what it is translated to is not understood")));
    }
    let mut told: Vec<Diagnostic> = all.into_iter().filter_map(|each| moved(aim, &kernel, each)).collect();
    // Of a loop that is taken apart the first turn tells of the others.
    let of_columns = tcgen05_beyond_allocation::RULE.info.name;
    let mut places: Vec<Span> = Vec::new();
    told.retain(|each| {
        let is_new = each.rule != of_columns || !places.contains(&each.span);
        places.push(each.span);
        is_new
    });
    Ok(told)
}

/// The levels at which only the rules about protocols, and what is wrong with the translation, are asked.
fn levels_of_protocols(levels: &Levels) -> Levels {
    let mut wanted = Levels::default();
    for class in ["hazard", "style"] {
        // The classes have these names.
        let _ = wanted.set(class, Level::Allow);
    }
    for rule in of_protocols() {
        let level = levels.of(rule.info.name, rule.info.class).unwrap_or(rule.info.default_level);
        let _ = wanted.set(rule.info.name, level);
    }
    wanted
}

fn of_protocols() -> impl Iterator<Item = &'static Rule> {
    rules::all().iter().copied().filter(|rule| {
        let is_of_protocols = rule.info.code.starts_with("P09") && rule.info.class == Class::Hazard;
        is_of_protocols || rule.info.name == read_only_load_of_written::RULE.info.name
    })
}

/// Whether two places begin in one line of a source.
fn is_one_line(source: &str, one: Span, other: Span) -> bool {
    let between = one.start.min(other.start)..one.start.max(other.start);
    source.get(between.start as usize..between.end as usize).is_some_and(|between| !between.contains('\n'))
}

/// A finding with its places in the source.
fn moved(aim: Aim<'_, '_>, kernel: &Kernel, found: Diagnostic) -> Option<Diagnostic> {
    // Where what is read lies is not always known.
    if found.rule == early_grid_read::RULE.info.name
        && found.span.text(&kernel.text).contains(kernel::ANYTHING)
    {
        return None;
    }
    let is_own = |span: &Span| span.start >= aim.base;
    let (span, instruction) = kernel.place(aim.file, found.span).filter(|(span, _)| is_own(span))?;
    let mut labels: Vec<Label> = Vec::new();
    let mut inside: Vec<Span> = Vec::new();
    if let Some(instruction) = instruction.filter(is_own) {
        labels.push(Label { span: instruction, message: BY_THIS.to_owned() });
    }
    let within = instruction.and_then(|instruction| named_in_macro(aim, instruction, span));
    labels.extend(within.map(|span| Label { span, message: "called here".to_owned() }));
    if let Some(inner) = kernel.inner_call(found.span).filter(is_own) {
        labels.push(Label { span: inner, message: "called here".to_owned() });
    }
    for label in &found.labels {
        let Some((shown, within)) = kernel.place(aim.file, label.span) else { continue };
        // Where a method turns the stage, the statement that does tells more than the call. So does an instruction that should
        // be another one. What a wrapper consists of is told of few places only.
        let is_told = |_: &Span| !kernel.is_of_asm(label.span) || OF_INSTRUCTIONS.contains(&&*label.message);
        inside.extend(within.filter(|span| is_own(span) && !is_told(span)));
        let within = within.filter(is_told);
        let inner = kernel.inner_call(label.span).filter(|inner| *inner != shown);
        for span in std::iter::once(shown).chain(within).chain(inner).filter(is_own) {
            let label = Label { span, message: label.message.clone() };
            // Several instructions of one line are one place of the source.
            let says_the_same = |other: &Label| {
                other.message == label.message && is_one_line(aim.source, other.span, label.span)
            };
            if !labels.iter().any(says_the_same) {
                labels.push(label);
            }
        }
    }
    // What comes after the rounds may be the end of the function that they are in.
    for label in found.labels.iter().filter(|label| label.message == AFTER_ROUNDS) {
        for end in kernel.ended_before(label.span).into_iter().filter(is_own) {
            labels.push(Label { span: end, message: label.message.clone() });
        }
    }
    // A function of several statements may lack one where it is called, and in itself.
    for part in std::iter::once(found.span).chain(found.labels.iter().map(|label| label.span)) {
        for call in kernel.calls(part) {
            let is_shown = call == span || labels.iter().any(|label| label.span == call);
            if is_own(&call) && !is_shown {
                labels.push(Label { span: call, message: "called here".to_owned() });
            }
        }
    }
    let mut explained = 0;
    for span in inside {
        let is_shown = labels.iter().any(|label| is_one_line(aim.source, label.span, span));
        if (labels.len() < MAX_EXPLAINED || explained < MIN_EXPLAINED) && !is_shown {
            labels.push(Label { span, message: BY_THIS.to_owned() });
            explained += 1;
        }
    }
    labels.extend(constants_of(aim, &found, span, &labels));
    let is_of_matrices = found.rule == wgmma_missing_wait::RULE.info.name;
    let message =
        without_registers(&found.message, if is_of_matrices { "an accumulator" } else { "what was loaded" });
    Some(Diagnostic { span, labels, message, fix: None, ..found })
}

/// Where the constants are given that decide about a finding: those that its line names, and those of which the place of a ring is
/// chosen.
fn constants_of(aim: Aim<'_, '_>, found: &Diagnostic, span: Span, labels: &[Label]) -> Vec<Label> {
    if [NARROW_LOCK, NARROW_POLL].contains(&&*found.message) {
        return scopes_of_block(aim, span);
    }
    let counts =
        [&mbarrier_bytes::RULE, &mbarrier_count::RULE, &barrier_deadlock::RULE].map(|rule| rule.info.name);
    let own = Some(span).filter(|_| counts.contains(&found.rule));
    let is_of_columns = tcgen05_beyond_allocation::RULE.info.name == found.rule;
    let is_counted =
        [&mbarrier_phase::RULE, &mbarrier_count::RULE].iter().any(|rule| rule.info.name == found.rule);
    let is_of_bytes = mbarrier_bytes::RULE.info.name == found.rule;
    let decides = |label: &&Label| {
        // An operand of an asm statement of a wrapper may be the constant itself.
        let is_inside = is_of_bytes && label.message == BY_THIS;
        let is_given = is_counted && OF_COUNTS.contains(&&*label.message);
        label.message == SLOT
            || is_inside
            || is_given
            || is_of_columns && label.message == ALLOCATED
            || is_of_bytes && [EXPECTED, SUM_OF_BYTES].contains(&&*label.message)
    };
    let chosen = labels.iter().filter(decides).map(|label| label.span);
    let mut given: Vec<Label> = Vec::new();
    // What names the number itself comes before the call of a function in which that is.
    let chosen: Vec<Span> = chosen.collect();
    for place in chosen.into_iter().chain(own) {
        for name in words_of(statement_around(aim.source, place)) {
            let all = [&aim.program.constants, &aim.program.constants_of_functions];
            let constant = all.into_iter().find_map(|all| all.get(name)?.as_ref());
            let Some(value) = constant.map(|constant| constant.span).or_else(|| macro_of(aim, name)) else {
                continue;
            };
            let is_own = value.start >= aim.base && !is_one_line(aim.source, value, place);
            let is_new = given.iter().all(|label| label.span != value);
            if is_own && is_new && given.len() < MAX_CONSTANTS {
                given.push(Label { span: value, message: "this number is given here".to_owned() });
            }
        }
    }
    given
}

/// Where a source names the scope of the block for atomic objects, if it does so at few places.
fn scopes_of_block(aim: Aim<'_, '_>, span: Span) -> Vec<Label> {
    let own = &aim.source[aim.base as usize..];
    let places = memmem::find_iter(own.as_bytes(), SCOPE_OF_BLOCK.as_bytes());
    let spans =
        places.map(|at| Span::new(aim.base + at as u32, aim.base + (at + SCOPE_OF_BLOCK.len()) as u32));
    let given: Vec<Span> = spans.filter(|given| !is_one_line(aim.source, *given, span)).collect();
    if given.len() > MAX_CONSTANTS {
        return Vec::new();
    }
    given.into_iter().map(|span| Label { span, message: "this scope is given here".to_owned() }).collect()
}

/// Where a macro names the one that an instruction is of, if a line names the first and not the second.
fn named_in_macro(aim: Aim<'_, '_>, instruction: Span, line: Span) -> Option<Span> {
    let line = line_around(aim.source, line);
    let is_named = |name: Span| words_of(line).any(|word| word == name.text(aim.source));
    let mut macros = aim.file.macros.iter();
    let own = macros.find(|each| each.body.start <= instruction.start && instruction.end <= each.body.end)?;
    if is_named(own.name) {
        return None;
    }
    let inner = own.name.text(aim.source);
    let mut outer = aim.file.macros.iter().filter(|each| is_named(each.name));
    outer.find_map(|outer| {
        let body = outer.body.text(aim.source);
        let word = words_of(body).find(|word| *word == inner)?;
        let at = outer.body.start + (word.as_ptr() as usize - body.as_ptr() as usize) as u32;
        Some(Span::new(at, at + word.len() as u32))
    })
}

/// What a macro without parameters stands for, if one macro has the name.
fn macro_of(aim: Aim<'_, '_>, name: &str) -> Option<Span> {
    let mut all = aim.file.macros.iter().filter(|each| each.name.text(aim.source) == name);
    let (only, None) = (all.next()?, all.next()) else { return None };
    let text = only.body.text(aim.source);
    let end = cuda::comments(text).first().map_or(text.len(), |comment| comment.start as usize);
    let length = text.get(..end)?.trim_end().len() as u32;
    (only.parameters.is_none() && length > 0).then(|| Span::new(only.body.start, only.body.start + length))
}

/// The words of a line that no comment has.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    let comments = cuda::comments(line);
    let starts = std::iter::once(0).chain(comments.iter().map(|comment| comment.end as usize));
    let ends = comments.iter().map(|comment| comment.start as usize).chain([line.len()]);
    let parts: Vec<&str> = starts.zip(ends).filter_map(|(start, end)| line.get(start..end)).collect();
    let is_between = |letter: char| !letter.is_alphanumeric() && letter != '_';
    parts.into_iter().flat_map(move |part| part.split(is_between))
}

/// The line of a source in which a place begins.
fn line_around(source: &str, place: Span) -> &str {
    let at = (place.start as usize).min(source.len());
    let (Some(before), Some(after)) = (source.get(..at), source.get(at..)) else { return "" };
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(source.len(), |end| at + end);
    &source[start..end]
}

/// The line of a place, and the next ones until a statement ends.
fn statement_around(source: &str, place: Span) -> &str {
    const MAX_LINES: usize = 4;
    let line = line_around(source, place);
    let start = line.as_ptr() as usize - source.as_ptr() as usize;
    let rest = &source[start..];
    let mut length = line.len();
    for next in rest.get(length..).unwrap_or_default().lines().skip(1).take(MAX_LINES) {
        if rest[..length].trim_end().ends_with([';', '{', '}']) {
            break;
        }
        length += next.len() + 1;
    }
    rest.get(..length).unwrap_or(line)
}

/// A message with what a register is in place of the name that it has in the translation.
fn without_registers(message: &str, register: &str) -> String {
    let Some((before, rest)) = message.split_once("`%c_") else { return message.to_owned() };
    let after = rest.split_once('`').map_or("", |(_, after)| after);
    format!("{before}{register}{after}")
}
