//! The edits of one template.

use super::super::align::{Begin, Role, Row, align};
use super::super::metrics::Metrics;
use super::super::plan::{Plan, Separator};
use super::super::sink::Stop;
use super::edits::Edit;
use super::line_ends::{self, LineEnd};
use super::{Reason, mask};
use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmStatement, Piece, PieceKind};
use ptx_syntax::lexer::{TokenKind, tokenize};

/// A template is read as the body of this function, in blocks that other statements begin or end.
const FUNCTION: &str = ".entry k() {";

/// No line of a template is broken, however wide it is.
const METRICS: Metrics = Metrics { tab: 1, width: 1 << 30, aligned: true };

/// The edits that lay a template out.
pub(super) fn edits(source: &str, statement: &AsmStatement) -> Result<Vec<Edit>, Reason> {
    if !statement.template.pieces.iter().all(|piece| is_literal(source, statement, piece)) {
        return Err(Reason::Macro);
    }
    let atoms = atoms(statement).ok_or(Reason::Syntax)?;
    let lines = lines(source, &atoms);
    let mut parts: Vec<Part<'_>> = lines.iter().map(|line| Part::new(source, line)).collect();
    for index in 1..parts.len() {
        let (before, after) = parts.split_at_mut(index);
        let (Some(before), Some(after)) = (before.last_mut(), after.first_mut()) else { continue };
        after.follow(source, before);
    }
    let mut rows: Vec<Row<'_>> = parts.iter().map(|part| part.row(source)).collect();
    align(&mut rows);
    let mut edits = Vec::new();
    let mut ends = Vec::new();
    for (part, row) in parts.iter().zip(&rows) {
        let shift = part.edits(source, row, &mut edits);
        ends.extend(LineEnd::of(source, part, shift));
    }
    edits.extend(line_ends::edits(ends));
    Ok(edits)
}

/// Whether a part of a template is a literal of the statement itself.
fn is_literal(source: &str, statement: &AsmStatement, piece: &Piece) -> bool {
    let text = piece.source.text(source);
    let home = statement.span.start <= piece.source.start && piece.source.end <= statement.span.end;
    piece.kind == PieceKind::Literal && home && text.contains('"') && text.ends_with('"')
}

/// A token of a template.
#[derive(Clone, Copy)]
struct Atom {
    source: Span,
    /// Whether it is in the source byte for byte.
    verbatim: bool,
    separator: Separator,
    is_comment: bool,
    after_comma: bool,
}

/// The tokens of a template. None where it has syntax errors.
fn atoms(statement: &AsmStatement) -> Option<Vec<Atom>> {
    let template = mask::as_ptx(statement);
    let (before, after) = open_blocks(&template);
    let (before, after) =
        (FUNCTION.to_owned() + &"{".repeat(before), "\n".to_owned() + &"}".repeat(after + 1));
    let text = format!("{before}{template}{after}");
    let tokens = super::super::tokens(&text);
    let parse = ptx_syntax::parse(&text);
    if !parse.errors.is_empty() {
        return None;
    }
    let plan = Plan::new(&text, &tokens, &parse.tree, METRICS);
    let (start, end) = (before.len() as u32, (text.len() - after.len()) as u32);
    let mut marks = plan.marks.iter();
    let mut after_comma = false;
    let mut atoms = Vec::new();
    for token in tokens {
        let is_comment = token.kind.is_comment();
        let mark = if is_comment { None } else { marks.next() };
        if token.span.start >= start && token.span.end <= end {
            let decoded = Span::new(token.span.start - start, token.span.end - start);
            atoms.push(Atom {
                source: statement.template.map.span(decoded),
                verbatim: statement.template.map.is_verbatim(decoded),
                separator: mark.map_or(Separator::Space, |mark| mark.separator),
                is_comment,
                after_comma,
            });
        }
        after_comma = token.kind == TokenKind::Comma;
    }
    Some(atoms)
}

/// How many blocks are open before a template and after it, at least.
fn open_blocks(template: &str) -> (usize, usize) {
    let (mut before, mut after) = (0, 0);
    for token in tokenize(template) {
        match token.kind {
            TokenKind::OpenBrace => after += 1,
            TokenKind::CloseBrace if after == 0 => before += 1,
            TokenKind::CloseBrace => after -= 1,
            _ => {}
        }
    }
    (before, after)
}

/// Whether these bytes are blanks of a literal.
fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// The text between two atoms; none where they are not in this order.
fn gap<'s>(source: &'s str, before: &Atom, after: &Atom) -> Option<&'s str> {
    source.get(before.source.end as usize..after.source.start as usize)
}

/// The atoms in runs that have nothing but blanks within.
fn lines<'a>(source: &str, atoms: &'a [Atom]) -> Vec<&'a [Atom]> {
    atoms.chunk_by(|before, after| gap(source, before, after).is_some_and(is_blank)).collect()
}

/// What is wanted between two atoms.
#[derive(Clone, Copy)]
enum Wanted {
    Spaces(usize),
    /// What the row has at the place of this index.
    Place(usize),
}

/// Part of a template that is one stretch of a literal.
pub(super) struct Part<'a> {
    atoms: &'a [Atom],
    /// Where it begins, blanks included.
    begin: u32,
    text: String,
    places: Vec<(Stop, usize, u32)>,
    wanted: Vec<Wanted>,
    /// Whether it has the line of the source for itself.
    alone: bool,
    /// Whether it is set off from the part before it.
    apart: bool,
}

impl<'a> Part<'a> {
    fn new(source: &str, atoms: &'a [Atom]) -> Self {
        let first = atoms[0].source.start;
        let blanks = source.as_bytes()[..first as usize].iter().rev();
        let begin = first - blanks.take_while(|byte| matches!(byte, b' ' | b'\t')).count() as u32;
        let text = source[begin as usize..first as usize].to_owned();
        let mut part =
            Self { atoms, begin, text, places: Vec::new(), wanted: Vec::new(), alone: true, apart: false };
        part.fill(source);
        part
    }

    /// Whether a statement begins it.
    fn begins_statement(&self) -> bool {
        self.atoms[0].begins_statement()
    }

    fn fill(&mut self, source: &str) {
        let begins = self.begins_statement();
        self.text.push_str(self.atoms[0].source.text(source));
        for pair in self.atoms.windows(2) {
            let [before, after] = pair else { continue };
            let blanks = gap(source, before, after).unwrap_or("");
            let wanted = match after.stop(begins) {
                _ if before.is_comment || after.is_comment => Wanted::Spaces(blanks.len()),
                // Lines that go on with a statement have the author's columns.
                None if !begins && after.after_comma => Wanted::Spaces(blanks.len().max(1)),
                Some(stop) => {
                    self.places.push((stop, self.text.len(), after.source.start));
                    Wanted::Place(self.places.len() - 1)
                }
                None if matches!(
                    after.separator,
                    Separator::Glue | Separator::ListFirst | Separator::ListClose
                ) =>
                {
                    Wanted::Spaces(0)
                }
                None => Wanted::Spaces(1),
            };
            let spaces = if let Wanted::Spaces(spaces) = wanted { spaces } else { 1 };
            self.text.extend(std::iter::repeat_n(' ', spaces));
            self.text.push_str(after.source.text(source));
            self.wanted.push(wanted);
        }
    }

    /// Finds out how it stands to the part before it.
    fn follow(&mut self, source: &str, before: &mut Self) {
        let between = source.get(before.end() as usize..self.begin as usize).unwrap_or("");
        let lines = between.bytes().filter(|byte| *byte == b'\n').count();
        if lines == 0 {
            (before.alone, self.alone) = (false, false);
        }
        let comments = between.contains("//") || between.contains("/*");
        self.apart = lines > 1 || comments || between.matches("\\n").count() > 1;
    }

    pub fn end(&self) -> u32 {
        self.atoms.last().map_or(self.begin, |atom| atom.source.end)
    }

    fn row<'r>(&'r self, source: &'r str) -> Row<'r> {
        let column = column(source, self.begin);
        let begin = Begin { first: Some(self.begin), blank: self.apart, fixed: false };
        let mut row = Row::new(source, &self.text, self.places.iter().copied(), column, begin);
        // What shares its line has no columns, and neither has what is not there byte for byte.
        if !self.alone || self.atoms.iter().any(|atom| !atom.verbatim) {
            row.role = Role::Boundary;
        } else if !self.begins_statement() {
            row.role = Role::Part;
        } else if row.role == Role::Statement && !self.begins_instruction() {
            row.role = Role::Boundary;
        }
        row
    }

    /// Whether what begins it is no label and no block, if another statement follows that.
    fn begins_instruction(&self) -> bool {
        let another = self.places.iter().position(|(stop, ..)| *stop == Stop::Statement);
        another.is_none_or(|at| self.places[..at].iter().any(|(stop, ..)| *stop == Stop::Operands))
    }

    /// Adds what changes between the atoms, and gives the columns by which the line gets longer.
    fn edits(&self, source: &str, row: &Row<'_>, edits: &mut Vec<Edit>) -> isize {
        let mut shift = 0_isize;
        for (pair, wanted) in self.atoms.windows(2).zip(&self.wanted) {
            let span = Span::new(pair[0].source.end, pair[1].source.start);
            let spaces = match wanted {
                Wanted::Spaces(spaces) => *spaces,
                Wanted::Place(index) => row.spaces(*index),
            };
            let old = span.text(source);
            shift += spaces as isize - old.len() as isize;
            if spaces != old.len() || old.contains('\t') {
                edits.push(Edit { span, spaces });
            }
        }
        shift
    }
}

/// Columns further to the right are one.
const MAX_COLUMN: usize = 256;

/// The bytes of a line before a place.
pub(super) fn column(source: &str, at: u32) -> usize {
    let before = source.as_bytes()[..at as usize].iter().rev();
    before.take(MAX_COLUMN).take_while(|byte| **byte != b'\n').count()
}

impl Atom {
    /// Whether a list begins, goes on or ends before it.
    fn is_list(&self) -> bool {
        matches!(self.separator, Separator::ListFirst | Separator::Row | Separator::ListClose)
    }

    fn begins_statement(&self) -> bool {
        !self.separator.is_inline() && !self.is_list()
    }

    /// The column that begins with it, in a line that a statement begins or in one that goes on with one.
    fn stop(&self, in_statement: bool) -> Option<Stop> {
        if self.begins_statement() {
            return Some(Stop::Statement);
        }
        if !in_statement {
            return None;
        }
        match self.separator {
            Separator::Guard => Some(Stop::Mnemonic),
            Separator::Tab => Some(Stop::Operands),
            Separator::Operand => Some(Stop::Operand),
            Separator::Name => Some(Stop::Name),
            _ => None,
        }
    }
}
