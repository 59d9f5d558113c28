//! What a clause says of an operand, for a syntax line.

use std::rc::Rc;

use super::{Group, Located};
use crate::class_words::classes;
use crate::clauses::Clause;
use crate::fault::Fault;
use crate::model::{Access, Condition, Count, Operand, Pattern, Slot, SpaceRef, TypeRef, Variant};
use crate::operands::{CountName, Formula, Kind, Layer, OperandClause, TypeName};
use crate::syntax::{Drawing, Place, Syntax};
use crate::types::Type;

impl<'a> Group<'a> {
    pub(super) fn operand(&self, slots: &[Slot], syntax: &Syntax, place: &Place) -> Result<Operand, Fault> {
        let mut operand = Operand {
            name: place.name.clone(),
            optional: place.optional,
            purpose: None,
            when: Vec::new(),
            variants: Vec::new(),
            manual: Vec::new(),
            reasons: Vec::new(),
        };
        if !place.parts.is_empty() {
            let parts = place.parts.iter().map(|part| self.operand(slots, syntax, part));
            let parts = Rc::new(parts.collect::<Result<Vec<_>, _>>()?);
            let pattern = if place.drawing == Drawing::Pair { Pattern::Pair } else { Pattern::Bracket };
            let role = if place.drawing == Drawing::Pair { "Destination" } else { "Source" };
            operand.variants.push(Variant { parts, ..Variant::plain(role, pattern) });
            let conditional = place.parts.iter().all(|part| {
                let clauses = self.operand_clauses(part, Layer::Assembler);
                clauses.iter().any(|located| !located.clause.with.is_empty())
            });
            if conditional {
                operand.when = operand.variants[0].parts[0].when.clone();
            }
            return Ok(operand);
        }
        let manual = match self.definition.is_assembler() {
            true => Vec::new(),
            false => self.operand_clauses(place, Layer::Manual),
        };
        for located in manual {
            self.enter(located.file, located.shared);
            let variant = self.variant(slots, place, located.clause, Layer::Manual)?;
            operand.manual.extend(variant);
        }
        for located in self.operand_clauses(place, Layer::Assembler) {
            let clause = located.clause;
            self.enter(located.file, located.shared);
            operand.reasons.extend(clause.reason.clone());
            if let Some(word) = &clause.purpose {
                let found = crate::words::purpose(word);
                let fault = || self.fault(clause.line, format!("no operand is for `{word}`"));
                operand.purpose = Some(found.ok_or_else(fault)?);
            }
            if !clause.with.is_empty() {
                // An operand that comes with a modifier is there or it is not, unless the clause says otherwise.
                operand.optional &= clause.optional;
                let never = vec![(0, 0)];
                operand.when = self.condition(slots, &clause.with)?.unwrap_or(never);
            }
            let Some(variant) = self.variant(slots, place, clause, Layer::Assembler)? else { continue };
            let (minus, plus) =
                self.narrowed_classes(syntax, &place.name, &variant.when, &operand.variants)?;
            let (minus, plus) = (variant.minus | minus, variant.plus | plus);
            operand.variants.push(Variant { minus, plus, ..variant });
        }
        if operand.variants.is_empty() {
            let message = format!("no clause says what the operand `{}` is", place.name);
            return Err(Fault::new(&syntax.file, syntax.line, message));
        }
        Ok(operand)
    }

    /// What is said of an operand: in the group, else in clauses that it uses, else by those in scope; of one in brackets what is
    /// said of it so comes first.
    fn operand_clauses(&self, place: &Place, layer: Layer) -> Vec<Located<'a, OperandClause>> {
        let bracketed = format!("[{}]", place.name);
        let names = match place.drawing {
            Drawing::Address => &[bracketed.as_str(), place.name.as_str()][..],
            _ => &[place.name.as_str()],
        };
        let in_group = names.iter().map(|name| self.said(name, layer)).find(|said| !said.is_empty());
        let in_scope =
            || names.iter().map(|name| self.said_in_scope(name, layer)).find(|said| !said.is_empty());
        in_group.or_else(in_scope).unwrap_or_default()
    }

    fn said(&self, name: &str, layer: Layer) -> Vec<Located<'a, OperandClause>> {
        let said = self.clauses.iter().filter_map(|located| match located.clause {
            Clause::Operand(clause) if clause.name == name && clause.is_of(layer) => {
                Some(Located { clause: &**clause, file: located.file, shared: located.shared })
            }
            _ => None,
        });
        let (shared, own): (Vec<_>, Vec<_>) = said.partition(|located| located.shared);
        if own.is_empty() { shared } else { own }
    }

    fn said_in_scope(&self, name: &str, layer: Layer) -> Vec<Located<'a, OperandClause>> {
        let Some(definition) = self.scope.operands.get(name) else { return Vec::new() };
        let located = |&clause| Located { clause, file: definition.file, shared: true };
        definition.get().iter().filter(|clause| clause.is_of(layer)).map(located).collect()
    }

    fn variant(
        &self,
        slots: &[Slot],
        place: &Place,
        clause: &OperandClause,
        layer: Layer,
    ) -> Result<Option<Variant>, Fault> {
        let Some(when) = self.condition(slots, &clause.when)? else { return Ok(None) };
        let plus = classes(self.file.get(), clause.line, &clause.plus)?;
        let minus = classes(self.file.get(), clause.line, &clause.minus)?;
        let mut variant = Variant {
            when,
            plus,
            minus,
            ranges: clause.ranges.clone(),
            ..Variant::plain(clause.role, Pattern::Value)
        };
        variant.pattern = self.pattern(slots, place, clause)?;
        if let Kind::Address { space, reads, writes, size, sized, aligned } = &clause.kind {
            let space = self.space(slots, clause, space.as_deref())?;
            variant.plus |= self.base_classes(&space, layer);
            let size = match size {
                None => None,
                Some((vector, ty)) => {
                    let vector = vector
                        .as_deref()
                        .map(|name| self.slot_index(slots, clause.line, name))
                        .transpose()?;
                    Some((vector, self.type_ref(slots, clause, ty, layer)?.0))
                }
            };
            let (reads, writes, sized, aligned) = (*reads, *writes, sized.clone(), *aligned);
            variant.access = Some(Access { space, reads, writes, size, sized, aligned });
            variant.table = self.shared.empty_table(layer);
            return Ok(Some(variant));
        }
        let (ty, named) = self.type_ref(slots, clause, &clause.ty, layer)?;
        variant.ty = ty;
        variant.table = match named {
            Some(bits) => {
                variant.plus |= bits;
                if clause.variant.is_some() || clause.table.is_some() {
                    return Err(self.fault(clause.line, "a named kind of operand has no variants"));
                }
                self.shared.empty_table(layer)
            }
            None => {
                let name = match layer {
                    Layer::Manual => clause.variant.as_deref().unwrap_or("default"),
                    Layer::Both | Layer::Assembler => clause.assembler_table(),
                };
                let fault = || self.fault(clause.line, format!("no class table is called `{name}`"));
                self.shared.table(name, layer).ok_or_else(fault)?
            }
        };
        Ok(Some(variant))
    }

    fn pattern(&self, slots: &[Slot], place: &Place, clause: &OperandClause) -> Result<Pattern, Fault> {
        let pattern = match &clause.kind {
            Kind::Value => Pattern::Value,
            Kind::Negatable => Pattern::Negatable,
            Kind::Vector(count) => Pattern::Vector(self.count(slots, clause, count)?),
            Kind::Address { .. } => Pattern::Address,
            Kind::Selectable(selectors) => Pattern::Selectable(selectors),
        };
        match (place.drawing, pattern) {
            (Drawing::Address, pattern @ Pattern::Address) => Ok(pattern),
            (Drawing::List, Pattern::Value) => Ok(Pattern::List),
            (Drawing::Plain, Pattern::Address) => {
                Err(self
                    .fault(clause.line, format!("`{}` is drawn without `[]` in the syntax line", place.name)))
            }
            (Drawing::Plain, pattern) => Ok(pattern),
            (Drawing::Address, Pattern::Value) => Ok(Pattern::Address),
            _ => {
                Err(self
                    .fault(clause.line, format!("`{}` is drawn otherwise in the syntax line", place.name)))
            }
        }
    }

    fn count(&self, slots: &[Slot], clause: &OperandClause, count: &CountName) -> Result<Count, Fault> {
        let name = match count {
            CountName::Fixed(count) => return Ok(Count::Fixed(*count)),
            CountName::Formula(formula) => {
                let about = self.condition(slots, &clause.when)?.unwrap_or_default();
                let lines = self.computed(slots, clause.line, formula, &about, &Vec::new())?;
                return Ok(Count::Table(lines));
            }
            CountName::Name(name) => name,
        };
        if name.starts_with('.') {
            return Ok(Count::Slot(self.slot_index(slots, clause.line, name)?));
        }
        let table = match (self.counts.get(name), self.scope.counts.get(name)) {
            (Some(table), _) => table,
            (None, Some(definition)) => definition.get(),
            (None, None) => return Err(self.fault(clause.line, format!("no `counts {name}` is defined"))),
        };
        let mut lines = Vec::new();
        let about = self.condition(slots, &clause.when)?.unwrap_or_default();
        for (when, count) in &table.lines {
            let Some(when) = self.known_condition(slots, when) else { continue };
            match count {
                CountName::Formula(formula) => {
                    lines.extend(self.computed(slots, clause.line, formula, &about, &when)?);
                }
                CountName::Fixed(count) => lines.push((when, *count)),
                CountName::Name(_) => {}
            }
        }
        if lines.is_empty() {
            return Err(self.fault(table.line, format!("no line of `counts {name}` is about this form")));
        }
        Ok(Count::Table(lines))
    }

    /// The lengths that a formula gives for the values of its slot that a clause is about, each with a condition.
    fn computed(
        &self,
        slots: &[Slot],
        line: usize,
        formula: &Formula,
        about: &Condition,
        condition: &Condition,
    ) -> Result<Vec<(Condition, u16)>, Fault> {
        let source = &formula.source;
        let has_variable = |slot: &&Slot| {
            self.slot(&slot.name)
                .and_then(|each| each.variable.as_ref())
                .is_some_and(|(name, _)| name == source)
        };
        let index = match source.strip_prefix('.') {
            Some(_) => self.slot_index(slots, line, source)?,
            None => slots
                .iter()
                .position(|slot| has_variable(&slot))
                .ok_or_else(|| self.fault(line, format!("no modifier of the form has `{{{source}}}`")))?,
        };
        let numbers: Vec<i64> = match self.slot(&slots[index].name).and_then(|slot| slot.variable.as_ref()) {
            Some((_, numbers)) => numbers.clone(),
            None => slots[index].values.iter().map(|value| first_number(value)).collect(),
        };
        // Values for which the clause does not hold need no length.
        let tests = about.iter().chain(condition).filter(|(slot, _)| *slot == index);
        let wanted = tests.fold(u64::MAX, |mask, (_, each)| mask & each);
        let others = condition.iter().filter(|(slot, _)| *slot != index);
        let mut lines = Vec::new();
        for (value, number) in numbers.iter().enumerate().filter(|(value, _)| wanted >> value & 1 != 0) {
            let count = formula.of(*number).ok_or_else(|| {
                self.fault(line, format!("the length for `{}` is no number", slots[index].values[value]))
            })?;
            lines.push((others.clone().copied().chain([(index, 1 << value)]).collect(), count));
        }
        Ok(lines)
    }

    fn slot_index(&self, slots: &[Slot], line: usize, name: &str) -> Result<usize, Fault> {
        let bare = name.trim_start_matches('.');
        let index = slots.iter().position(|slot| slot.name == bare);
        index.ok_or_else(|| self.fault(line, format!("the syntax line has no `.{bare}`")))
    }

    /// The type, and for a named kind of operand its classes.
    fn type_ref(
        &self,
        slots: &[Slot],
        clause: &OperandClause,
        name: &TypeName,
        layer: Layer,
    ) -> Result<(TypeRef, Option<u128>), Fault> {
        match name {
            TypeName::None => Ok((TypeRef::None, None)),
            TypeName::Slot(slot) => Ok((TypeRef::Slot(self.type_slot(slots, clause, slot)?), None)),
            TypeName::Widened(slot) => Ok((TypeRef::Widened(self.type_slot(slots, clause, slot)?), None)),
            TypeName::Word(word) => {
                if let Some(ty) = Type::parse(&format!(".{word}")) {
                    return Ok((TypeRef::Fixed(ty), None));
                }
                let kind = self.shared.kinds.get(word);
                let kind = kind.ok_or_else(|| {
                    self.fault(clause.line, format!("`{word}` is neither a type nor a kind of operand"))
                })?;
                let ty = kind.ty.map_or(TypeRef::None, TypeRef::Fixed);
                let (places, sources) = kind.classes(layer);
                Ok((ty, Some(if clause.role == "Source" { sources } else { places })))
            }
        }
    }

    fn type_slot(&self, slots: &[Slot], clause: &OperandClause, name: &str) -> Result<usize, Fault> {
        let index = self.slot_index(slots, clause.line, name)?;
        match slots[index].values.iter().find(|value| Type::parse(value).is_none()) {
            None => Ok(index),
            Some(value) => {
                Err(self.fault(clause.line, format!("`{name}` is used as a type, but `{value}` is none")))
            }
        }
    }

    fn space(&self, slots: &[Slot], clause: &OperandClause, name: Option<&str>) -> Result<SpaceRef, Fault> {
        let Some(name) = name else { return Ok(SpaceRef::None) };
        match slots.iter().position(|slot| slot.name == name[1..] && (slot.values.len() > 1 || slot.optional))
        {
            Some(index) => Ok(SpaceRef::Slot(index)),
            None if self.shared.addresses(Layer::Assembler).iter().any(|(space, _)| space == name) => {
                Ok(SpaceRef::Fixed(name.to_owned()))
            }
            None => Err(self
                .fault(clause.line, format!("`{name}` is neither a slot nor a space of `classes address`"))),
        }
    }

    /// The classes of the base where they do not depend on a slot.
    fn base_classes(&self, space: &SpaceRef, layer: Layer) -> u128 {
        let name = match space {
            SpaceRef::None => "generic",
            SpaceRef::Fixed(name) => name,
            SpaceRef::Slot(_) => return 0,
        };
        self.shared.addresses(layer).iter().find(|(each, _)| each == name).map_or(0, |(_, bits)| *bits)
    }
}

/// The first number in a modifier: 4 of `.v4`.
fn first_number(value: &str) -> i64 {
    let digits = value.trim_start_matches(|character: char| !character.is_ascii_digit());
    let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or_default()
}

impl Variant {
    fn plain(role: &'static str, pattern: Pattern) -> Self {
        Self {
            when: Vec::new(),
            role,
            pattern,
            ty: TypeRef::None,
            table: 0,
            plus: 0,
            minus: 0,
            ranges: Vec::new(),
            access: None,
            parts: Rc::new(Vec::new()),
        }
    }
}
