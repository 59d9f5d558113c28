//! All braces of a text, found by several threads.
//!
//! A thread looks at some lines of the text, as if it began with them. That is right where no comment and no string
//! goes on from one line to the next, which is seen on the way; other texts are looked at by one thread.

use std::ops::Range;
use std::thread::Builder;

use memchr::memmem;

use super::Remarkable;
use crate::lexer::Lexer;

/// Braces that are in no comment and no string, in their order.
#[derive(Clone, Debug)]
pub(super) struct Braces(Vec<u32>);

/// The braces of a text; none where its lines do not stand alone, or threads cannot be had.
pub(super) fn of_text(source: &str, threads: usize) -> Option<Braces> {
    let parts = parts(source, threads);
    std::thread::scope(|scope| {
        let begin = |part: Range<usize>| Builder::new().spawn_scoped(scope, || of_lines(source, part)).ok();
        // This thread works too.
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        let others: Vec<_> = parts.map(begin).collect();
        let first = of_lines(source, first);
        let mut braces = first?;
        for other in others {
            braces.extend(other?.join().ok()??);
        }
        Some(Braces(braces))
    })
}

/// Parts of about the same length which begin where a line does.
fn parts(source: &str, count: usize) -> Vec<Range<usize>> {
    let bytes = source.as_bytes();
    let mut parts = Vec::with_capacity(count);
    let mut start = 0;
    for part in 1..=count {
        let even = bytes.len() / count * part;
        let end = if part == count { bytes.len() } else { line_from(bytes, even.max(start)) };
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Where the first line begins that begins at a place or after it.
fn line_from(bytes: &[u8], at: usize) -> usize {
    let Some(before) = at.checked_sub(1) else { return 0 };
    memchr::memchr(b'\n', &bytes[before..]).map_or(bytes.len(), |length| before + length + 1)
}

/// What text of another language begins with, in one token.
const OTHER_LANGUAGE: &[u8] = b".source_begin";

/// The braces in some lines; none where something goes on after a line, or where they are more than is worth keeping.
fn of_lines(source: &str, lines: Range<usize>) -> Option<Vec<u32>> {
    /// Compilers print a brace in some hundreds of bytes.
    const MIN_BYTES_A_BRACE: usize = 16;
    let max = lines.len() / MIN_BYTES_A_BRACE + 64;
    let bytes = &source.as_bytes()[..lines.end];
    // A text of another language has braces and quotes of its own.
    memmem::find(&bytes[lines.start..], OTHER_LANGUAGE).is_none().then_some(())?;
    let mut braces = Vec::new();
    let mut remarkable = Remarkable::new(bytes, lines.start);
    while let Some(found) = remarkable.next() {
        let at = found + 1;
        match bytes[found] {
            b'{' | b'}' if braces.len() == max => return None,
            b'{' | b'}' => braces.push(u32::try_from(found).ok()?),
            b'/' if bytes.get(at) == Some(&b'/') => {
                let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                remarkable = Remarkable::new(bytes, end);
            }
            _ => {
                let mut lexer = Lexer::new(source);
                lexer.move_to(found);
                let token = lexer.next()?.span;
                if memchr::memchr(b'\n', &source.as_bytes()[token.range()]).is_some() {
                    return None;
                }
                remarkable = Remarkable::new(bytes, token.end as usize);
            }
        }
    }
    Some(braces)
}

impl Braces {
    /// The place of the brace that closes one which was opened before `at`.
    pub(super) fn closing(&self, source: &str, at: usize) -> Option<usize> {
        let first = self.0.partition_point(|&brace| (brace as usize) < at);
        let mut depth = 1_u32;
        let closes = |&&brace: &&u32| {
            let opens = source.as_bytes()[brace as usize] == b'{';
            depth = if opens { depth + 1 } else { depth - 1 };
            depth == 0
        };
        self.0[first..].iter().find(closes).map(|&brace| brace as usize)
    }
}
