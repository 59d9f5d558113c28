//! `dump --tokens`: one token a line.

use std::io::{self, Write};

use ptx_syntax::LineIndex;
use ptx_syntax::lexer::Lexer;

/// Writes place, kind and text of every token, trivia included.
pub fn tokens(out: &mut dyn Write, source: &str) -> io::Result<()> {
    let index = LineIndex::new(source);
    for token in Lexer::new(source) {
        let at = index.position(token.span.start);
        let place = format!("{}:{}", at.line, at.column);
        let kind = format!("{:?}", token.kind);
        writeln!(out, "{place:<9} {kind:<13} {:?}", token.text(source))?;
    }
    Ok(())
}
