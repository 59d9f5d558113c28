//! Names in sight: scopes with what they declare.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use super::ctype::CType;
use super::headers::Headers;

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A variable, parameter, member or enumerator.
    Value(CType),
    /// A type.
    Type(CType),
    /// A function and what it returns.
    Function(CType),
}

#[derive(Clone, Debug)]
struct Declaration {
    /// Where it is declared; in a class, order does not matter.
    at: u32,
    meaning: Meaning,
    /// What is known of the value.
    value: Value,
}

/// What is known of the value of a name that is no type and no function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing.
    #[default]
    Unknown,
    /// The same in every execution.
    Constant,
    /// A variable of a function that is not constant.
    Changes,
    /// Such a variable, declared without a value.
    Unset,
    /// An array, a pointer or a structure of CUDA of a function, declared without a value.
    UnsetAggregate,
}

#[derive(Clone, Debug, Default)]
struct Scope<'s> {
    parent: Option<u32>,
    unordered: bool,
    /// Whether other files may declare names in it, or in what it inherits from.
    shared: bool,
    names: HashMap<&'s str, Vec<Declaration>>,
}

/// How many tokens of a file may be looked at in vain, and how many more for each of its tokens.
const PATIENCE: usize = 1_000_000;
const PATIENCE_PER_TOKEN: usize = 16;

/// All scopes of a file. The first is the file itself.
#[derive(Clone, Debug)]
pub(super) struct Scopes<'s> {
    scopes: Vec<Scope<'s>>,
    records: HashMap<&'s str, u32>,
    /// The scopes of namespaces by what they are in.
    namespaces: HashMap<(u32, &'s str), u32>,
    /// How many tokens may still be looked at for the end of what looks like template arguments and is none.
    patience: Cell<usize>,
    headers: Headers,
    /// The bytes with declarations of other files, which are known in all of the file.
    others: Range<u32>,
}

impl<'s> Scopes<'s> {
    /// The scope of a file of so many tokens, without names but those of headers.
    pub fn new(tokens: usize, headers: Headers, others: Range<u32>) -> Self {
        let patience = Cell::new(PATIENCE + PATIENCE_PER_TOKEN * tokens);
        Self {
            scopes: vec![Scope::default()],
            records: HashMap::new(),
            namespaces: HashMap::new(),
            patience,
            headers,
            others,
        }
    }

    /// Whether the end of template arguments may still be looked for.
    pub fn is_patient(&self) -> bool {
        self.patience.get() > 0
    }

    /// Notes that so many tokens were looked at in vain.
    pub fn in_vain(&self, tokens: usize) {
        self.patience.set(self.patience.get().saturating_sub(tokens));
    }

    /// A new scope inside another; `unordered` for a class, whose members see each other.
    pub fn open(&mut self, parent: Option<u32>, unordered: bool) -> u32 {
        self.scopes.push(Scope { parent, unordered, shared: false, names: HashMap::new() });
        self.scopes.len() as u32 - 1
    }

    /// The scope of the namespace of that name in another scope.
    pub fn namespace(&mut self, parent: u32, name: &'s str) -> u32 {
        let next = self.scopes.len() as u32;
        let scope = *self.namespaces.entry((parent, name)).or_insert(next);
        if scope == next {
            self.open(Some(parent), false);
            self.share(scope);
        }
        scope
    }

    /// Notes that other files may declare names in a scope: that of a namespace, of a member function that is defined
    /// outside its class, of a class that inherits.
    pub fn share(&mut self, scope: u32) {
        self.scopes[scope as usize].shared = true;
    }

    /// Declares a name.
    pub fn declare(&mut self, scope: u32, name: &'s str, at: u32, meaning: Meaning) {
        self.declare_value(scope, name, at, meaning, Value::Unknown);
    }

    /// Declares a name, and what is known of its value. A name may be declared any number of times: what says no more
    /// than those before it is not kept.
    pub fn declare_value(&mut self, scope: u32, name: &'s str, at: u32, meaning: Meaning, value: Value) {
        let at = if self.others.contains(&at) { 0 } else { at };
        let known = self.scopes[scope as usize].names.entry(name).or_default();
        let early = known.last().is_none_or(|last| last.at > at);
        let says_more = known.first().is_some_and(|first| {
            let other_meaning = |found: &Declaration| found.meaning != first.meaning;
            (meaning != first.meaning && !known.iter().any(other_meaning))
                || known.iter().all(|found| found.value != value)
        });
        if early || known.len() < 2 || says_more {
            known.push(Declaration { at, meaning, value });
        }
    }

    /// Notes the scope that holds the members of a class. Two classes of one name hide both.
    pub fn declare_record(&mut self, name: &'s str, scope: u32) {
        self.records.entry(name).and_modify(|known| *known = u32::MAX).or_insert(scope);
    }

    /// What `name` means at byte `at` of `scope`. Declarations of one scope that disagree, as branches of an `#if`
    /// and overloads do, make it unknown.
    pub fn look_up(&self, scope: u32, name: &str, at: u32) -> Option<Meaning> {
        let mut seen = self.declarations(scope, name, at)?;
        let first = seen.next()?;
        let agreed = seen.all(|other| other.meaning == first.meaning);
        Some(if agreed { first.meaning.clone() } else { unknown(&first.meaning) })
    }

    /// The type that a header of CUDA gives to a name that [`Scopes::look_up`] does not know. Between the name and the file
    /// no other file may have declared it.
    pub fn of_header(&self, scope: u32, name: &str, at: u32) -> Option<CType> {
        let ctype = self.headers.type_of(name, at)?;
        let mut around = scope;
        while let Some(scope) = self.scopes.get(around as usize).filter(|scope| !scope.shared) {
            match scope.parent {
                Some(parent) => around = parent,
                // The body of a macro has a scope of its own, whose names are those of where it is used.
                None => return (around == 0).then_some(ctype),
            }
        }
        None
    }

    /// Whether `name` is, by every declaration of it in sight, a variable that is not constant.
    pub fn changes(&self, scope: u32, name: &str, at: u32) -> bool {
        let changes = |found: &Declaration| matches!(found.value, Value::Changes | Value::Unset);
        self.declarations(scope, name, at).is_some_and(|mut seen| seen.all(changes))
    }

    /// Whether `name` is, by every declaration of it in sight, the same in every execution.
    pub fn is_constant(&self, scope: u32, name: &str, at: u32) -> bool {
        let constant = |found: &Declaration| found.value == Value::Constant;
        self.declarations(scope, name, at).is_some_and(|mut seen| seen.all(constant))
    }

    /// Where `name` is declared as a variable of a function without a value, by the only declaration of it in sight.
    pub fn unset_since(&self, scope: u32, name: &str, at: u32) -> Option<u32> {
        let mut seen = self.declarations(scope, name, at)?;
        let first = seen.next()?;
        (matches!(first.value, Value::Unset | Value::UnsetAggregate) && seen.next().is_none())
            .then_some(first.at)
    }

    /// The declarations of the innermost scope that has any of a name; at least one.
    fn declarations<'f>(
        &'f self,
        scope: u32,
        name: &str,
        at: u32,
    ) -> Option<impl Iterator<Item = &'f Declaration> + use<'f, 's>> {
        let mut around = Some(scope);
        while let Some(scope) = around.and_then(|scope| self.scopes.get(scope as usize)) {
            let declared = scope.names.get(name).map_or(&[][..], Vec::as_slice);
            let seen = declared.iter().filter(move |found| scope.unordered || found.at <= at);
            if seen.clone().next().is_some() {
                return Some(seen);
            }
            around = scope.parent;
        }
        None
    }

    /// The type of a member of a class of this file.
    pub fn member(&self, record: &str, member: &str) -> CType {
        let scope = self.records.get(record).and_then(|scope| self.scopes.get(*scope as usize));
        let mut found = scope.and_then(|scope| scope.names.get(member)).into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(Declaration { meaning: Meaning::Value(ctype), .. }), None) => ctype.clone(),
            _ => CType::Unknown,
        }
    }
}

const fn unknown(meaning: &Meaning) -> Meaning {
    match meaning {
        Meaning::Value(_) => Meaning::Value(CType::Unknown),
        Meaning::Type(_) => Meaning::Type(CType::Unknown),
        Meaning::Function(_) => Meaning::Function(CType::Unknown),
    }
}
