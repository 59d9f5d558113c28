//! What uses of a function's template in sight, `f<double>(x)`, make of the types of its parameters.
//!
//! Only what is certain counts: the function has no other declaration in the file, its head has nothing that chooses among
//! overloads, and no file of the same project is included that may have one. Uses in templates and in branches that may be
//! discarded do not count.

use std::collections::HashMap;

use super::Builder;
use crate::Span;
use crate::cuda::ctype::{self, CType};
use crate::cuda::declare::{self, Reader};
use crate::cuda::model::{ConditionId, FunctionId, Instance, RegionKind};
use crate::cuda::scan::{Kind, Scanner, Token};

/// How many types of one parameter are kept.
const MAX_TYPES: usize = 16;

/// How far before a use the beginning of its statement is looked for, in tokens.
const MAX_BEFORE: usize = 64;

/// How many conditions around a function are looked at.
const MAX_CONDITIONS: usize = 64;

/// A function's template that has no overloads in sight.
pub(super) struct FunctionTemplate {
    function: FunctionId,
    /// Where the names of its parameters are declared.
    parameters: Vec<u32>,
    /// The types that uses give to each of them; none where one is not known.
    instances: Vec<Option<Vec<Instance>>>,
}

/// Disjoint ranges of bytes.
pub(super) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn new(ranges: impl Iterator<Item = Span>) -> Self {
        let mut ranges: Vec<_> = ranges.map(|span| (span.start, span.end)).collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, before| {
            let overlap = next.0 < before.1;
            before.1 = if overlap { before.1.max(next.1) } else { before.1 };
            overlap
        });
        Self(ranges)
    }

    pub fn contains(&self, at: u32) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= at);
        after.checked_sub(1).is_some_and(|last| at < self.0[last].1)
    }
}

impl<'s> Builder<'s> {
    /// Notes a function that is a template with the parameters that were read last, if nothing else decides whether it is
    /// called than its name.
    pub(super) fn note_template(&mut self, function: FunctionId, head: &[Token], name: usize) {
        let Some(parameters) = self.template_parameters.take().filter(|found| !found.is_empty()) else {
            return;
        };
        let reader = self.reader(head);
        let own = &self.file.functions[function.index()].parameters;
        let is_plain = |at: usize| match reader.kind(at) {
            Some(Kind::Identifier) => {
                let (word, span) = (reader.text(at), head[at].span);
                at == name
                    || declare::is_specifier(word)
                    || own.iter().any(|parameter| parameter.name == span)
                    || reader.named_type(word, false, false, at).is_some()
            }
            Some(Kind::Number) => true,
            _ => matches!(reader.text(at), "(" | ")" | "," | "*" | "&" | "[" | "]"),
        };
        if (0..head.len()).all(is_plain) {
            let instances = parameters.iter().map(|_| Some(Vec::new())).collect();
            self.templates.push(FunctionTemplate { function, parameters, instances });
        }
    }

    /// Finds the uses of the templates.
    pub(super) fn find_instances(&mut self) {
        let mut templates = std::mem::take(&mut self.templates);
        if templates.is_empty() || self.includes_project {
            return;
        }
        let mut by_name = self.unique(&templates);
        let bodies = Ranges::new(self.file.functions.iter().map(|function| function.body));
        let dependent = self.file.functions.iter().filter(|function| function.qualifiers.template);
        let dependent = Ranges::new(dependent.map(|function| function.body));
        let discarded = self.discarded();
        let mut uses = Vec::new();
        for (at, token) in self.tokens.iter().enumerate() {
            let text = token.span.text(self.source);
            let Some(index) = by_name.get(text).copied().filter(|_| token.kind == Kind::Identifier) else {
                continue;
            };
            let start = token.span.start;
            let function = &self.file.functions[templates[index].function.index()];
            if token.span == function.name {
                continue;
            }
            if !bodies.contains(start) {
                // Another declaration, or something that makes one.
                by_name.remove(text);
            } else if !dependent.contains(start)
                && !discarded.contains(start)
                && self.is_around(ConditionId(token.condition), function.condition)
                && let Some(types) = self.arguments(at)
            {
                uses.push((text, token.span, types));
            }
        }
        for (name, span, types) in uses {
            let Some(index) = by_name.get(name) else { continue };
            templates[*index].note(span, &types);
        }
        self.templates = templates;
    }

    /// Templates by their names, without those that the file or its macros name elsewhere.
    fn unique(&self, templates: &[FunctionTemplate]) -> HashMap<&'s str, usize> {
        let source = self.source;
        let name = |function: FunctionId| self.file.functions[function.index()].name.text(source);
        let mut by_name: HashMap<&str, usize> =
            templates.iter().enumerate().map(|(index, template)| (name(template.function), index)).collect();
        let mut seen: HashMap<&str, u32> = HashMap::new();
        for function in &self.file.functions {
            *seen.entry(function.name.text(source)).or_default() += 1;
        }
        by_name.retain(|name, _| seen.get(name) == Some(&1));
        for definition in &self.prepared.file.macros {
            by_name.remove(definition.name.text(source));
            for token in Scanner::line(source, definition.body) {
                by_name.remove(token.span.text(source));
            }
        }
        by_name
    }

    /// What need not be instantiated: branches of `if constexpr` and of macros, and lambdas, which may be templates
    /// themselves.
    pub(super) fn discarded(&self) -> Ranges {
        let is_discarded = |kind: RegionKind| {
            matches!(kind, RegionKind::Constexpr | RegionKind::Lambda | RegionKind::MacroArgument)
        };
        let regions = self.file.regions.iter().filter(|region| is_discarded(region.kind));
        Ranges::new(regions.map(|region| region.span))
    }

    /// Whether what is compiled under `inner` is compiled under `outer` too.
    fn is_around(&self, outer: ConditionId, inner: ConditionId) -> bool {
        let mut around = Some(inner);
        for _ in 0..MAX_CONDITIONS {
            let Some(condition) = around else { return false };
            if condition == outer {
                return true;
            }
            around = self.file.conditions[condition.index()].parent;
        }
        false
    }

    /// The arguments of a template's use at a token: what is known of the type of each. None where it is no use for
    /// certain.
    fn arguments(&self, at: usize) -> Option<Vec<Option<CType>>> {
        let text = |at: usize| self.tokens.get(at).map_or("", |token| token.span.text(self.source));
        let before = (0..at).rev().take(MAX_BEFORE + 1).map(text);
        if matches!(text(at.checked_sub(1)?), "." | "->" | "::" | "template") {
            return None;
        }
        let mut begins = false;
        for word in before {
            match word {
                ";" | "{" | "}" => {
                    begins = true;
                    break;
                }
                "decltype" | "sizeof" | "alignof" | "noexcept" | "requires" | "typeid" => return None,
                _ => {}
            }
        }
        let rest = self.tokens.get(at + 1..)?;
        let reader = Reader { source: self.source, tokens: rest, scopes: &self.scopes, scope: 0 };
        if !begins || reader.text(0) != "<" {
            return None;
        }
        let end = reader.after_angles(0)?;
        if !matches!(reader.text(end), "(" | "<<" | "<") {
            return None;
        }
        let list = Reader { tokens: &rest[1..end - 1], ..reader };
        Some(list.split().into_iter().map(|part| plain_type(list, part)).collect())
    }
}

/// The types of the parameter of the template of `function` that is declared at byte `at`.
pub(super) fn of(templates: &[FunctionTemplate], function: FunctionId, at: u32) -> Vec<Instance> {
    // Functions are numbered in the order in which they were noted.
    let index = templates.binary_search_by_key(&function, |template| template.function).ok();
    let found = index.and_then(|index| {
        let parameter = templates[index].parameters.iter().position(|parameter| *parameter == at)?;
        templates[index].instances[parameter].clone()
    });
    found.unwrap_or_default()
}

impl FunctionTemplate {
    /// Notes what a use gives to the parameters.
    fn note(&mut self, span: Span, types: &[Option<CType>]) {
        for (index, known) in self.instances.iter_mut().enumerate() {
            match (types.get(index), known.as_mut()) {
                (Some(Some(ctype)), Some(known)) => {
                    if known.len() < MAX_TYPES && known.iter().all(|one| one.ctype != *ctype) {
                        known.push(Instance { ctype: ctype.clone(), span });
                    }
                }
                _ => *known = None,
            }
        }
    }
}

/// A type of words that mean the same everywhere.
fn plain_type(reader: Reader<'_, '_>, part: &[Token]) -> Option<CType> {
    let part_reader = Reader { tokens: part, ..reader };
    let is_plain = |at: usize| {
        let word = part_reader.text(at);
        declare::is_specifier(word) || ctype::standard(word).is_some() || word == "*"
    };
    (0..part.len()).all(is_plain).then(|| part_reader.whole_type()).flatten()
}
