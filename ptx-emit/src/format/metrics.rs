//! What may be chosen of the layout, and the widths that follow from it.

use super::plan::Separator;
use ptx_syntax::ast::{StatementKind, Tree};

/// How the columns of a text are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// As compilers print: tabs, and no columns but those.
    #[default]
    Compiler,
    /// As people write: spaces, and columns of guards, operands and comments in neighbouring lines.
    Aligned,
}

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The layout.
    pub layout: Layout,
    /// Columns of a level of indentation in the aligned layout, within [`Options::INDENTS`]; `None` for
    /// the author's, and 8 where that is none.
    pub indent: Option<u8>,
    /// Columns that a line should not exceed.
    pub width: u16,
}

impl Options {
    /// The indentations that are sensible. Others are taken for the nearest.
    pub const INDENTS: std::ops::RangeInclusive<u8> = 1..=16;
    /// The widths that are sensible. Others are taken for the nearest.
    pub const WIDTHS: std::ops::RangeInclusive<u16> = 40..=400;
}

impl Default for Options {
    fn default() -> Self {
        Self { layout: Layout::Compiler, indent: None, width: 100 }
    }
}

/// Columns of a tab, and of a level of indentation where nothing else was chosen.
pub(super) const TAB: usize = 8;

/// The column after a tab that is at `column`.
pub(super) const fn after_tab(column: usize) -> usize {
    column / TAB * TAB + TAB
}

/// The widths of a layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metrics {
    /// Columns of a level of indentation.
    pub tab: usize,
    /// Columns that a line should not exceed.
    pub width: usize,
    /// Whether there are columns, and no tabs.
    pub aligned: bool,
}

impl Metrics {
    /// The widths for a text, whose own indentation counts where none was chosen.
    pub fn new(options: &Options, source: &str, tree: &Tree) -> Self {
        let aligned = options.layout == Layout::Aligned;
        let chosen = options
            .indent
            .map(|indent| usize::from(indent.clamp(*Options::INDENTS.start(), *Options::INDENTS.end())));
        let tab = match aligned {
            true => chosen.or_else(|| indentation(source, tree)).unwrap_or(TAB),
            false => TAB,
        };
        Self {
            tab,
            width: usize::from(options.width.clamp(*Options::WIDTHS.start(), *Options::WIDTHS.end())),
            aligned,
        }
    }

    /// The column after a separator that does not end the line.
    pub fn after(self, column: usize, separator: Separator) -> usize {
        match separator {
            Separator::Tab if !self.aligned => after_tab(column),
            Separator::Space | Separator::Tab | Separator::Row => column + 1,
            Separator::Guard | Separator::Operand | Separator::Name | Separator::Element => column + 1,
            _ => column,
        }
    }
}

/// So many statements tell the indentation.
const MAX_LOOKED_AT: usize = 64;

/// The columns that most statements of bodies have before them, of those that begin their line and have no guard.
fn indentation(source: &str, tree: &Tree) -> Option<usize> {
    let mut counts = [0_usize; TAB + 1];
    let bodies = tree.functions.iter().filter_map(|function| function.body);
    let starts = bodies.flat_map(|body| outermost(tree, body.statements));
    let columns = starts.filter_map(|start| columns_before(source, start as usize));
    columns.take(MAX_LOOKED_AT).for_each(|columns| counts[columns] += 1);
    let (columns, count) = counts.iter().enumerate().max_by_key(|(_, count)| **count)?;
    (*count > 0).then_some(columns)
}

/// The columns before a statement that begins its line and has no guard, if they can be an indentation.
fn columns_before(source: &str, start: usize) -> Option<usize> {
    let (before, guarded) = (&source.as_bytes()[..start], source.as_bytes().get(start) == Some(&b'@'));
    let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let (line, blank) = before.split_at(before.len() - blank);
    let advance = |column, byte: &u8| if *byte == b'\t' { after_tab(column) } else { column + 1 };
    let columns = blank.iter().fold(0, advance);
    (!guarded && line.last() == Some(&b'\n') && (2..=TAB).contains(&columns)).then_some(columns)
}

/// Where the statements of a body begin that are in no block of it.
fn outermost(tree: &Tree, statements: ptx_syntax::ast::Run) -> impl Iterator<Item = u32> {
    let mut depth = 0_u32;
    tree.statements(statements).iter().filter_map(move |statement| {
        match statement.kind {
            StatementKind::OpenBlock => depth += 1,
            StatementKind::CloseBlock => depth = depth.saturating_sub(1),
            StatementKind::Label => {}
            _ if depth == 0 => return Some(statement.span.start),
            _ => {}
        }
        None
    })
}
