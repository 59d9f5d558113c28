//! What a document declares: all as a tree, and by name what stands at module level.

use lsp_types::{DocumentSymbol, Location, Range, SymbolInformation, SymbolKind, Uri};
use ptx_ir::directive::DirectiveKind;
use ptx_syntax::Span;
use ptx_syntax::names::{Declared, NameKind, ScopeKind};

use super::convert::ranges;
use super::document::Document;
use crate::source::Kind;

/// No more symbols are shown than this. What functions declare is left out first.
pub const MAX_SYMBOLS: usize = 10_000;

/// No more symbols of a workspace are shown than this.
pub const MAX_FOUND: usize = 500;

/// What a PTX document declares.
pub fn of_document(document: &Document) -> Option<Vec<DocumentSymbol>> {
    if document.source.kind != Kind::Ptx {
        return None;
    }
    let (names, text) = (document.names(), &*document.source.text);
    let outer: Vec<&Declared> = module_level(document).take(MAX_SYMBOLS).collect();
    let owner = |each: &Declared| {
        let inner = names.enclosing(each.scope);
        inner.filter(|scope| names.scopes()[*scope as usize].kind == ScopeKind::Function).last()
    };
    let inner = names.declared().iter().filter(|each| each.scope != 0);
    let inner: Vec<&Declared> = inner.take(MAX_SYMBOLS - outer.len()).collect();
    let mut children = inner.into_iter().peekable();
    let mut groups = Vec::new();
    for each in &outer {
        let mut own = Vec::new();
        if let Some(scope) = each.own_scope {
            while let Some(child) = children.next_if(|child| child.name.start < each.span.end) {
                if owner(child) == Some(scope) {
                    own.push(child);
                }
            }
        }
        groups.push(own);
    }
    let all = outer.iter().zip(&groups).flat_map(|(each, own)| std::iter::once(each).chain(own));
    let spans: Vec<Span> = all.flat_map(|each| [each.span.to(each.name), each.name]).collect();
    let mut ranges = ranges(document, spans).into_iter();
    let mut symbol = |each: &Declared| {
        let (range, selection_range) = (ranges.next().unwrap_or_default(), ranges.next().unwrap_or_default());
        #[expect(deprecated, reason = "the protocol's type has the field still")]
        DocumentSymbol {
            name: name(each, text),
            detail: Some(detail(each, text)),
            kind: kind(each.kind),
            tags: None,
            deprecated: None,
            range,
            selection_range,
            children: None,
        }
    };
    let mut found = Vec::with_capacity(outer.len());
    for (each, own) in outer.into_iter().zip(groups) {
        let mut parent = symbol(each);
        let children: Vec<DocumentSymbol> = own.into_iter().map(&mut symbol).collect();
        parent.children = (!children.is_empty()).then_some(children);
        found.push(parent);
    }
    Some(found)
}

/// The tree without its branches, for editors that know no trees.
pub fn flat(document: &Document, tree: Vec<DocumentSymbol>) -> Vec<SymbolInformation> {
    let Some(uri) = document.address() else { return Vec::new() };
    let mut found = Vec::new();
    for mut symbol in tree {
        let children = symbol.children.take().unwrap_or_default();
        let container = symbol.name.clone();
        found.push(information(symbol.name, symbol.kind, Location::new(uri.clone(), symbol.range), None));
        found.extend(children.into_iter().map(|child| {
            let location = Location::new(uri.clone(), child.range);
            information(child.name, child.kind, location, Some(container.clone()))
        }));
    }
    found
}

fn information(
    name: String,
    kind: SymbolKind,
    location: Location,
    container_name: Option<String>,
) -> SymbolInformation {
    #[expect(deprecated, reason = "the protocol's type has the field still")]
    SymbolInformation { name, kind, tags: None, deprecated: None, location, container_name }
}

/// What a document declares at module level.
pub struct Symbol {
    pub name: String,
    kind: SymbolKind,
    range: Range,
}

impl Symbol {
    /// The symbol as one of a document with this address.
    pub fn at(&self, uri: &Uri) -> SymbolInformation {
        information(self.name.clone(), self.kind, Location::new(uri.clone(), self.range), None)
    }
}

/// What a PTX document declares at module level under names that are wanted, `most` of them.
pub fn of_module(document: &Document, wanted: impl Fn(&str) -> bool, most: usize) -> Vec<Symbol> {
    if document.source.kind != Kind::Ptx || document.is_configuration {
        return Vec::new();
    }
    let text = &*document.source.text;
    let fits: Vec<&Declared> =
        module_level(document).filter(|each| wanted(each.name.text(text))).take(most).collect();
    let ranges = ranges(document, fits.iter().map(|each| each.name));
    let symbol = |(each, range): (&&Declared, Range)| {
        let name = each.name.text(text).to_owned();
        Symbol { name, kind: kind(each.kind), range }
    };
    fits.iter().zip(ranges).map(symbol).collect()
}

fn module_level(document: &Document) -> impl Iterator<Item = &Declared> {
    // Labels of debugging sections are nobody's business.
    document.names().declared().iter().filter(|each| each.scope == 0 && each.kind != NameKind::Label)
}

/// Whether a name has the letters of a query in their order, whatever their case.
pub fn has_letters(name: &str, query: &str) -> bool {
    let mut letters = name.chars();
    query.chars().all(|wanted| letters.any(|letter| letter.eq_ignore_ascii_case(&wanted)))
}

fn name(declared: &Declared, text: &str) -> String {
    let name = declared.name.text(text);
    declared.count.map_or_else(|| name.to_owned(), |count| format!("{name}<{count}>"))
}

fn detail(declared: &Declared, text: &str) -> String {
    match declared.kind {
        NameKind::Kernel => DirectiveKind::Entry.word().to_owned(),
        NameKind::Function => DirectiveKind::Func.word().to_owned(),
        NameKind::Label | NameKind::Prototype | NameKind::Targets => String::new(),
        NameKind::Register | NameKind::Variable | NameKind::Parameter => {
            let words: Vec<&str> = declared.specifiers.text(text).split_whitespace().take(12).collect();
            words.join(" ")
        }
    }
}

fn kind(kind: NameKind) -> SymbolKind {
    match kind {
        NameKind::Kernel => SymbolKind::METHOD,
        NameKind::Function => SymbolKind::FUNCTION,
        NameKind::Register | NameKind::Parameter => SymbolKind::VARIABLE,
        NameKind::Variable => SymbolKind::CONSTANT,
        NameKind::Label | NameKind::Targets => SymbolKind::KEY,
        NameKind::Prototype => SymbolKind::INTERFACE,
    }
}
