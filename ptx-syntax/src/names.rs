//! Which names a text declares, and where each is used: for editors.
//!
//! [`Names::new`] reads tokens, not the tree, so that it knows the names of a text that is being written: what is
//! between two statements that it understands does not disturb it. It takes time and memory in proportion to the text.
//! What a name stands for is as the toolkit lowers it: the innermost block that declares it, from its declaration on;
//! labels in all of their block; `%r17` of the group `%r<100>`.

mod scan;

use std::ops::Range;

use crate::Span;

/// Blocks nested deeper than this see no names of the blocks further out.
const MAX_DEPTH: usize = 64;

/// The number of a register has no more digits than this.
const MAX_DIGITS: usize = 9;

/// Of declarations of one name in one block, no more are looked at to find what a name stands for.
const MAX_SAME: usize = 64;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// A register, or a group of them.
    Register,
    /// A variable of another state space.
    Variable,
    /// A parameter or a result in the header of a function.
    Parameter,
    /// A `.func`.
    Function,
    /// An `.entry`.
    Kernel,
    /// A label.
    Label,
    /// What `.callprototype` declares.
    Prototype,
    /// What `.branchtargets` and `.calltargets` declare.
    Targets,
}

impl NameKind {
    /// Whether the name is known in all of its block, and not only from its declaration on.
    const fn is_known_before(self) -> bool {
        matches!(self, Self::Label | Self::Prototype | Self::Targets)
    }
}

/// A declared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name; of a group, what is before the numbers.
    pub name: Span,
    /// What it stands for.
    pub kind: NameKind,
    /// The statement, the parameter, or the function with its body.
    pub span: Span,
    /// State space, type and the like, before the name; the header of a function.
    pub specifiers: Span,
    /// How many names `%r<100>` declares; none for a single one.
    pub count: Option<u32>,
    /// The block that declares it, as an index of [`Names::scopes`].
    pub scope: u32,
    /// For a function, its own scope.
    pub own_scope: Option<u32>,
}

/// What opens a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScopeKind {
    /// The whole text.
    Module,
    /// A function: header and body.
    Function,
    /// A block in a body.
    Block,
    /// A section of debugging information; its labels are those of the module.
    Section,
}

/// A part of the text in which names are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// From its first byte to its closing brace.
    pub span: Span,
    /// Where its opening brace is; none where it has none.
    pub brace: Option<u32>,
    /// The scope around it; that of the module is its own.
    pub parent: u32,
}

/// An instruction: its opcode with modifiers, and where the statement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The dotted spelling.
    pub opcode: Span,
    /// The byte after its last token.
    pub end: u32,
}

/// A place where a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The name, without an element such as `.x`.
    pub span: Span,
    /// The innermost scope.
    pub scope: u32,
    /// For a declaration, the index of what it declares in [`Names::declared`].
    pub declares: Option<u32>,
}

/// What a name at a place stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// Index of its first declaration in [`Names::declared`].
    pub declared: u32,
    /// One register of a group; none for the whole group, and for what is no group.
    pub member: Option<u32>,
}

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    declared: Vec<Declared>,
    scopes: Vec<Scope>,
    occurrences: Vec<Occurrence>,
    instructions: Vec<Instruction>,
    /// Where the innermost scope becomes another one, in order.
    changes: Vec<(u32, u32)>,
    /// Declarations by the hash of their name and by scope.
    order: Vec<(u32, u32, u32)>,
}

impl Names {
    /// Reads the names of `source`.
    #[must_use]
    pub fn new(source: &str) -> Self {
        let mut names = scan::scan(source);
        let keys = names.declared.iter().enumerate();
        names.order =
            keys.map(|(index, each)| (hash(each.name.text(source)), each.scope, index as u32)).collect();
        names.order.sort_unstable();
        names
    }

    /// All declared names, in order of the text.
    #[must_use]
    pub fn declared(&self) -> &[Declared] {
        &self.declared
    }

    /// All scopes; the first is that of the module.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// All instructions, in order of the text.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// All places where names are, in order of the text.
    #[must_use]
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// The occurrences that begin in a range of bytes.
    #[must_use]
    pub fn occurrences_in(&self, span: Span) -> &[Occurrence] {
        let from = self.occurrences.partition_point(|each| each.span.start < span.start);
        let rest = &self.occurrences[from..];
        &rest[..rest.partition_point(|each| each.span.start < span.end)]
    }

    /// The instructions that begin in a range of bytes.
    #[must_use]
    pub fn instructions_in(&self, span: Span) -> &[Instruction] {
        let from = self.instructions.partition_point(|each| each.opcode.start < span.start);
        let rest = &self.instructions[from..];
        &rest[..rest.partition_point(|each| each.opcode.start < span.end)]
    }

    /// The name that holds a byte or ends at it.
    #[must_use]
    pub fn occurrence_at(&self, offset: u32) -> Option<Occurrence> {
        let after = self.occurrences.partition_point(|each| each.span.start <= offset);
        let found = *self.occurrences.get(after.checked_sub(1)?)?;
        (offset <= found.span.end).then_some(found)
    }

    /// The instruction that a byte is in: after its opcode's first byte, and not after its end.
    #[must_use]
    pub fn instruction_at(&self, offset: u32) -> Option<Instruction> {
        let after = self.instructions.partition_point(|each| each.opcode.start <= offset);
        let found = *self.instructions.get(after.checked_sub(1)?)?;
        (offset <= found.end).then_some(found)
    }

    /// The innermost scope at a byte.
    #[must_use]
    pub fn scope_at(&self, offset: u32) -> u32 {
        let after = self.changes.partition_point(|&(at, _)| at <= offset);
        after.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }

    /// The scope and those around it, the innermost first.
    pub fn enclosing(&self, scope: u32) -> impl Iterator<Item = u32> {
        let mut next = Some(scope);
        let chain = std::iter::from_fn(move || {
            let current = next?;
            let parent = self.scopes.get(current as usize)?.parent;
            next = (parent != current).then_some(parent);
            Some(current)
        });
        chain.take(MAX_DEPTH)
    }

    /// What an occurrence stands for.
    #[must_use]
    pub fn resolve(&self, source: &str, occurrence: Occurrence) -> Option<Symbol> {
        if let Some(index) = occurrence.declares {
            let each = self.declared[index as usize];
            let first = self.declared_in(source, each.name.text(source), each.scope).next();
            return Some(Symbol { declared: first.unwrap_or(index), member: None });
        }
        self.find(source, occurrence.span.text(source), occurrence.scope, occurrence.span.start)
    }

    /// What a name stands for at a place.
    #[must_use]
    pub fn find(&self, source: &str, name: &str, scope: u32, offset: u32) -> Option<Symbol> {
        let known = |symbol: &Symbol| {
            let each = self.declared[symbol.declared as usize];
            each.kind.is_known_before() || each.name.start <= offset
        };
        let mut later = None;
        for scope in self.enclosing(scope) {
            let Some(found) = self.find_in(source, name, scope) else { continue };
            if known(&found) {
                return Some(found);
            }
            later = later.or(Some(found));
        }
        later
    }

    /// What a scope itself declares of this name.
    #[must_use]
    pub fn find_in(&self, source: &str, name: &str, scope: u32) -> Option<Symbol> {
        let single = |index: &u32| self.declared[*index as usize].count.is_none();
        if let Some(declared) = self.declared_in(source, name, scope).take(MAX_SAME).find(single) {
            return Some(Symbol { declared, member: None });
        }
        let digits = name.bytes().rev().take(MAX_DIGITS).take_while(u8::is_ascii_digit).count();
        (1..=digits).find_map(|digits| {
            let (prefix, number) = name.split_at(name.len() - digits);
            let has_one_spelling = digits == 1 || !number.starts_with('0');
            let number: u32 = number.parse().ok().filter(|_| has_one_spelling)?;
            let mut groups = self.declared_in(source, prefix, scope).take(MAX_SAME);
            let is_in =
                |index: &u32| self.declared[*index as usize].count.is_some_and(|count| number < count);
            groups.find(is_in).map(|declared| Symbol { declared, member: Some(number) })
        })
    }

    fn declared_in(&self, source: &str, name: &str, scope: u32) -> impl Iterator<Item = u32> {
        let key = (hash(name), scope);
        let from = self.order.partition_point(|&(hash, scope, _)| (hash, scope) < key);
        let same = self.order[from..].iter().take_while(move |&&(hash, scope, _)| (hash, scope) == key);
        let is_it = move |index: &u32| self.declared[*index as usize].name.text(source) == name;
        same.map(|&(.., index)| index).filter(is_it)
    }

    /// All declarations of a symbol: a function may have several.
    pub fn declarations(&self, source: &str, symbol: Symbol) -> impl Iterator<Item = &Declared> {
        let first = &self.declared[symbol.declared as usize];
        self.declared_in(source, first.name.text(source), first.scope)
            .map(|index| &self.declared[index as usize])
    }

    /// Every place where a symbol is, declarations among them; of a whole group, those of its registers too.
    #[must_use]
    pub fn references(&self, source: &str, symbol: Symbol) -> Vec<Occurrence> {
        let declared = &self.declared[symbol.declared as usize];
        let name = declared.name.text(source);
        let is_group = declared.count.is_some();
        let may_be = |text: &str| match symbol.member {
            _ if !is_group => text == name,
            Some(number) => text.strip_prefix(name).is_some_and(|rest| rest.parse() == Ok(number)),
            None => text.starts_with(name),
        };
        let is_it = |each: &&Occurrence| {
            let text = each.span.text(source);
            let of_group = || is_group && symbol.member.is_none();
            match each.declares {
                Some(_) => {
                    self.resolve(source, **each).is_some_and(|found| found.declared == symbol.declared)
                }
                None if may_be(text) => self
                    .resolve(source, **each)
                    .is_some_and(|found| found == symbol || of_group() && found.declared == symbol.declared),
                None => false,
            }
        };
        let span = self.scopes[declared.scope as usize].span;
        self.occurrences_in(span)
            .iter()
            .filter(|each| self.could_declare(source, each, name))
            .filter(is_it)
            .copied()
            .collect()
    }

    /// Whether an occurrence is a use, or declares this name.
    fn could_declare(&self, source: &str, occurrence: &Occurrence, name: &str) -> bool {
        occurrence.declares.is_none() || occurrence.span.text(source) == name
    }

    /// The names that can be used at a place, the nearest first; what a nearer block hides is left out only as far as it
    /// has the same declaration's name.
    pub fn visible(&self, offset: u32) -> impl Iterator<Item = &Declared> {
        let scopes: Vec<u32> = self.enclosing(self.scope_at(offset)).collect();
        scopes.into_iter().flat_map(move |scope| {
            let of_scope = self.declared_of(scope);
            of_scope.filter(move |each| each.kind.is_known_before() || each.span.start <= offset)
        })
    }

    /// What a scope itself declares.
    pub fn declared_of(&self, scope: u32) -> impl Iterator<Item = &Declared> {
        let Range { start, end } = match self.scopes[scope as usize].kind {
            ScopeKind::Module => 0..self.declared.len(),
            _ => {
                let span = self.scopes[scope as usize].span;
                let at = |offset: u32| self.declared.partition_point(|each| each.name.start < offset);
                at(span.start)..at(span.end)
            }
        };
        self.declared[start..end].iter().filter(move |each| each.scope == scope)
    }
}

/// FNV-1a.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests;
